# SPDX-License-Identifier: Apache-2.0
"""Bandwidth between two nodes: consent, both directions, a busy port, strangers, a peer that stops.

What Soft-RoCE moves says nothing about a fabric; that it moves the data and that all refusals are
said in words does not depend on it.
"""
import datetime
import json
import time

import lab
from agents import CONFIGURATION, OTHER_SECRET, SECRET, Agents
from suite_probe import choose

NODES, RAILS = 2, 2
CONTROL = CONFIGURATION.replace('control: {socket: ""}', "control: {socket: /run/agent.socket}")
CONSENT = CONTROL + "  bandwidth: true\n"
NO_CHILD = "! pgrep -x rna-bandwidth"


class Pair:
    """Two agents; node0 asks node1."""

    def __init__(self, agents, report):
        self.agents, self.report = agents, report
        self.asking, self.answering = agents.nodes
        self.program = agents.program

    def start(self, node, configuration=CONSENT, secret=SECRET):
        self.agents.configuration = configuration
        self.agents.start(node, secret)

    def restart(self, node, configuration=CONSENT, secret=SECRET):
        self.agents.stop(node)
        self.start(node, configuration, secret)

    def probe(self, words="node1", limit=120):
        """Status and output of the command."""
        return self.asking.run(f"{self.program} probe bandwidth {words} --config /run/agent.yaml 2>&1", limit)

    def measure(self, words="node1", limit=120):
        """Its tests by device of node0, and its status."""
        status, output = self.probe(f"{words} --json", limit)
        try:
            return status, {test["device"]: test for test in json.loads(output)["tests"]}
        except (ValueError, KeyError):
            self.report.note(output)
            return status, {}

    def refused(self, text, part, words="node1", limit=120):
        status, output = self.probe(words, limit)
        self.report.note(output)
        return self.report.check(text, status == 3 and part in output, f"status {status}, no {part!r}")

    def ready(self, consent=1):
        """The pairs run, and node0 knows whether node1 consents."""
        end = time.monotonic() + 120
        while time.monotonic() < end:
            probes = self.asking.fetch_json("/api/v1/probes") or {"pairs": []}
            peer = self.answering.fetch_json("/api/v1/probe") or {}
            states = [pair["state"] for pair in probes["pairs"] if pair["scope"] != "host"]
            if len(states) == RAILS and set(states) == {"running"} and peer.get("bandwidth") == bool(consent):
                return True
            time.sleep(1)
        return self.report.check("both agents probe each other", False, probes)

    def told(self, words="node1"):
        """Until node0 has asked node1 again, it knows what was before."""
        end = time.monotonic() + 90
        while time.monotonic() < end:
            status, _ = self.measure(words)
            if status == 0:
                return True
            time.sleep(2)
        return False


def consent(pair, report):
    pair.start(pair.asking, CONTROL)
    pair.start(pair.answering, CONTROL)
    pair.ready(consent=0)
    pair.refused("without consent of its own a node does not ask", "this node does not measure bandwidth: set "
                 "probe.bandwidth: true")
    report.check("and it does not listen", pair.answering.run("ss -Hltn sport = 10880")[1].strip() == "")
    pair.restart(pair.asking)
    pair.ready(consent=0)
    pair.refused("nor one that does not consent", "node1 does not let bandwidth be measured: set probe.bandwidth: true")
    pair.restart(pair.answering)
    pair.ready()


def both_ways(pair, report):
    report.check("with consent of both, bandwidth is measured", pair.told())
    status, output = pair.probe()
    report.note(output)
    report.same("the table has both ports", 2, output.count(" measured"))
    status, tests = pair.measure()
    report.same("status of the command", 0, status)
    report.same("both rails", ["rxe0", "rxe1"], sorted(tests))
    for device, test in tests.items():
        # How large they are depends on what else runs on this machine.
        report.check(f"{device}: both directions have figures", test["end"] == "done" and
                     test.get("out_bytes_per_second", 0) > 0 and test.get("in_bytes_per_second", 0) > 0, test)
        report.same(f"{device}: the port there", ("node1", device), (test["peer"], test["peer_device"]))
    status, tests = pair.measure("node1:rxe1/1")
    report.same("one port of the other node", (0, ["rxe1"]), (status, sorted(tests)))
    for node, cause in ((pair.asking, "demand"), (pair.answering, "peer")):
        known = {test["device"]: test for test in node.fetch_json("/api/v1/probes")["bandwidth"]["tests"]}
        report.check(f"{node.name} remembers the results", set(known) == {"rxe0", "rxe1"} and
                     all(test["end"] == "done" and test["cause"] == cause for test in known.values()), known)
    there = {test["device"]: test for test in pair.answering.fetch_json("/api/v1/probes")["bandwidth"]["tests"]}
    report.same("what one node wrote is what the other one received", tests["rxe1"]["out_bytes_per_second"],
                there["rxe1"]["in_bytes_per_second"])
    metrics = pair.asking.fetch("/metrics")
    report.same("series of bandwidth", 4, metrics.count("\nrdma_probe_bandwidth_bytes_per_second{"))
    report.check("no process is left", pair.answering.run(NO_CHILD)[0] == 0 and pair.asking.run(NO_CHILD)[0] == 0)


def words(pair, report):
    pair.refused("an unknown node", "nodeX: this node does not probe that node; it probes node1", "nodeX")
    pair.refused("an unknown port", 'node1 has no port "mlx5_7" on a rail of this node', "node1:mlx5_7")


def job(pair, report):
    node = pair.answering
    node.must("ib_write_bw -d rxe0 -D 300 -p 18600 >/run/server 2>&1 & echo $! >/run/job; "
              "within 10 eval 'ss -Hltn sport = 18600 | grep -q .'; "
              "ib_write_bw -d rxe0 -D 300 -p 18600 127.0.0.1 >/run/client 2>&1 & echo $! >>/run/job; sleep 3")
    status, tests = pair.measure()
    report.check("a port with a job is not tested", tests.get("rxe0", {}).get("skip") == "busy", tests)
    report.check("and the node that is busy is named", tests.get("rxe0", {}).get("text", "").startswith("node1: "),
                 tests)
    report.check("the other one is", status == 0 and tests.get("rxe1", {}).get("end") == "done", tests)
    report.check("the job goes on", node.run("kill -0 $(</run/job)")[0] == 0)
    node.run("kill $(</run/job)")
    report.check("afterwards it is tested again", pair.told("node1:rxe0"))


def strangers(pair, report):
    node, address = pair.answering, "/dev/tcp/10.78.0.2/10880"
    before = node.fetch_json("/api/v1/probes")["bandwidth"]["strangers"]
    pair.asking.must(f"exec 9<>{address}; head -c 2048 /dev/urandom >&9; sleep 1; exec 9>&-")
    pair.asking.must(f"exec 9<>{address}; sleep 5; exec 9>&-")
    pair.asking.run(f"for i in $(seq 60); do exec {{fd}}<>{address}; done; sleep 2")
    status, tests = pair.measure("node1:rxe0")
    report.check("after garbage, silence and 60 connections at once, a node is answered", status == 0, tests)
    time.sleep(5)
    after = node.fetch_json("/api/v1/probes")["bandwidth"]["strangers"]
    report.check(f"they are counted ({before}, then {after})", after >= before + 50)
    lines = int(node.must("grep -c 'closed a connection to probe.bandwidth_port' /vmshare/agent.log").strip())
    report.check(f"and logged rarely ({lines} lines)", lines <= 4)


def stops(pair, report):
    node = pair.answering
    catch = "(until pgrep -x rna-bandwidth >/dev/null; do :; done; pkill -{} -x rna-bandwidth) >/dev/null 2>&1 &"
    node.must(catch.format("KILL"))
    begun = time.monotonic()
    pair.refused("a peer whose process is killed", "it closed the connection", "node1:rxe0")
    report.check(f"that is known at once ({time.monotonic() - begun:.1f} s)", time.monotonic() - begun < 15)
    node.must(catch.format("STOP"))
    begun = time.monotonic()
    pair.refused("a peer whose process stands still", "it does not answer any more", "node1:rxe0")
    report.check(f"that ends in time ({time.monotonic() - begun:.1f} s)", time.monotonic() - begun < 60)
    pair.refused("while it stands still, its node says so", "this node is busy: a bandwidth test", "node1:rxe1")
    report.check("its agent ends it", node.run(f"within 90 eval '{NO_CHILD}'", 120)[0] == 0)
    report.check("then ports are tested again", pair.told())


def quiesce(pair, report):
    node = pair.answering
    node.must(f"{pair.program} quiesce --config /run/agent.yaml")
    pair.refused("a quiesced node refuses", "The agent is quiesced.", "node1:rxe0")
    node.must(f"{pair.program} resume --config /run/agent.yaml")
    pair.ready()
    report.check("afterwards it answers", pair.told())


def secret(pair, report):
    pair.restart(pair.answering, secret=OTHER_SECRET)
    time.sleep(35)
    pair.refused("a node with another secret", "it has another secret", "node1:rxe0")
    pair.restart(pair.answering)
    pair.ready()


def window(pair, report):
    """Half of what is left of a window is the time over which nodes begin."""
    now = datetime.datetime.fromisoformat(pair.asking.must("date -u +%FT%T").strip())
    begin, end = now - datetime.timedelta(minutes=1), now + datetime.timedelta(minutes=3)
    entry = f"{begin:%Y-%m-%dT%H:%MZ}/{end:%Y-%m-%dT%H:%MZ}"
    pair.restart(pair.asking, CONSENT + f"  bandwidth_window: [\"{entry}\"]\n")
    pair.ready()
    limit = time.monotonic() + 240
    done = set()
    while time.monotonic() < limit and len(done) < RAILS:
        tests = pair.asking.fetch_json("/api/v1/probes")["bandwidth"]["tests"]
        done = {test["device"] for test in tests if test["end"] == "done" and test["cause"] == "window"}
        time.sleep(2)
    report.same("in the window each port is tested", ["rxe0", "rxe1"], sorted(done))
    times = pair.asking.fetch("/metrics").count("rdma_probe_bandwidth_timestamp_seconds{")
    report.same("with a time for each", RAILS, times)


CASES = (consent, both_ways, words, job, strangers, stops, quiesce, secret, window)


def run(results, report, program, names):
    cases = choose(CASES, names)
    if cases[0] is not consent:
        cases = (consent, *cases)  # it starts the agents
    with lab.Lab(results, nodes=NODES, rails=RAILS, limit=1500) as one_lab:
        one_lab.switches.layout("rail")
        pair = Pair(Agents(one_lab, program, lambda node, rail: f"leaf-{rail}"), report)
        for case in cases:
            begun = time.monotonic()
            case(pair, report)
            report.note(f"case {case.__name__}: {time.monotonic() - begun:.0f} s")
