# SPDX-License-Identifier: Apache-2.0
"""Agents on the nodes of a lab that probe each other, and what they say.

A pair is known by (node, device, peer), a port by (node, device), as names. A Sight is what all
agents say at a time: signs of pairs, verdicts of ports, findings.
"""
import json
import time

import lab

PATIENCE = 3  # times as long as a limit says, for busy machines
SPLIT = "-- findings --"
SECRET, OTHER_SECRET = "0123456789abcdef" * 4, "fedcba9876543210" * 4
CONFIGURATION = """
http: {listen: ["0.0.0.0:10879"]}
control: {socket: ""}
state: {directory: /run/state}
selftest: {enabled: false}
health: {boot_grace: 0s}
probe:
  enabled: true
  secret_file: /run/secret
  members_file: /run/members.json
  traffic_class: 106  # DSCP 26, and switches may mark congestion
  period: 400ms
"""

# The finding of each sign; the port whose pairs show it has it.
FINDINGS = {"silent": "probe-peer-unreachable", "loss": "probe-loss", "mtu_hole": "probe-mtu-hole",
            "slow": "probe-slow", "dscp": "probe-dscp-rewritten", "detour": "probe-detour"}
VERDICTS = {"unreachable": "probe-unreachable", "lossy": "probe-loss"}


class Sight:
    """What the agents say. No pair is left out: one that is not probed has its state as a sign."""

    def __init__(self, signs, verdicts, findings):
        self.signs, self.verdicts, self.findings = signs, verdicts, findings

    def bad(self):
        """Signs, bad verdicts and findings, empty if nothing is blamed."""
        return {**{pair: signs for pair, signs in self.signs.items() if signs},
                **{port: {verdict} for port, verdict in self.verdicts.items() if verdict in VERDICTS},
                **{finding: {"finding"} for finding in self.findings}}

    def __str__(self):
        return f"{self.bad()}; ports: {self.verdicts}"


class Expected:
    """What a fault is to show, and what else it may: pairs and ports with one sign or verdict, or a
    set of them. Findings follow from that."""

    def __init__(self, signs=(), verdicts=(), may=()):
        self.signs, self.verdicts = dict(signs), dict(verdicts)
        self.allowed = {}
        for given in (self.signs, self.verdicts, dict(may)):
            for key, shown in given.items():
                self.allowed.setdefault(key, set()).update([shown] if isinstance(shown, str) else shown)

    def allowed_findings(self):
        return {(*key[:2], {**FINDINGS, **VERDICTS}.get(sign))
                for key, shown in self.allowed.items() for sign in shown}

    def findings(self):
        """An unreachable port has that finding alone."""
        unreachable = {port for port, verdict in self.verdicts.items() if verdict == "unreachable"}
        return ({(*port, VERDICTS[verdict]) for port, verdict in self.verdicts.items() if verdict in VERDICTS} |
                {(*pair[:2], FINDINGS[sign]) for pair, sign in self.signs.items()
                 if sign in FINDINGS and pair[:2] not in unreachable})

    def beyond(self, sight):
        """What is shown that may not be."""
        wrong = {pair: signs for pair, signs in sight.signs.items() if signs - self.allowed.get(pair, set())}
        wrong.update({port: verdict for port, verdict in sight.verdicts.items()
                      if verdict in VERDICTS and verdict not in self.allowed.get(port, set())})
        wrong.update({finding: "finding" for finding in sight.findings - self.allowed_findings()})
        return wrong

    def is_shown(self, sight):
        """Signs and verdicts; findings come with the next view."""
        return (all(sign in sight.signs.get(pair, set()) for pair, sign in self.signs.items())
                and all(sight.verdicts.get(port) == verdict for port, verdict in self.verdicts.items()))


NOTHING = Expected()


class Agents:
    def __init__(self, one_lab, program, leaf_of, configuration=CONFIGURATION):
        """leaf_of(node number, rail): the name of its leaf. configuration: ends in the section probe."""
        self.configuration = configuration
        self.lab, self.switches, self.program, self.leaf_of = one_lab, one_lab.switches, program, leaf_of
        self.nodes = one_lab.nodes
        self.ports = [(node.name, f"rxe{rail}") for node in self.nodes for rail in range(one_lab.rails)]
        self.pairs = [(*port, peer.name) for port in self.ports for peer in self.nodes if peer.name != port[0]]
        self.members = json.dumps([{"targets": [f"10.78.0.{node.number + 1}:10879"],
                                    "labels": {"node": node.name}} for node in self.nodes])

    def start(self, node, secret=SECRET, remembers=False):
        leaves = ", ".join(f'"rxe{rail}={self.leaf_of(node.number, rail)}"' for rail in range(self.lab.rails))
        node.must(f"{'' if remembers else 'rm -rf /run/state;'} umask 077; mkdir -p /run/state\n"
                  f"echo '{secret}' >/run/secret; echo '{self.members}' >/run/members.json\n"
                  f"cat >/run/agent.yaml <<'END'\n{self.configuration}  leaf: [{leaves}]\nEND\n"
                  f"NODE_NAME={node.name} setsid {self.program} run --config /run/agent.yaml "
                  ">>/vmshare/agent.log 2>&1 </dev/null &\necho $! >/run/agent.pid")

    @staticmethod
    def stop(node, signal="TERM"):
        node.must(f"kill -{signal} $(</run/agent.pid); "
                  "within 30 eval '! kill -0 $(</run/agent.pid) && ! pgrep -x rna-prober'")

    def restart_all(self):
        """They forget what they saw."""
        for node in self.nodes:
            self.stop(node)
        for node in self.nodes:
            self.start(node)

    def read(self, nodes=None):
        """The answers of each agent to /api/v1/probes and /api/v1/findings; None: it gave none."""
        command = f"fetch /api/v1/probes && echo '{SPLIT}' && fetch /api/v1/findings"
        nodes = self.nodes if nodes is None else nodes
        begun = [(node, node.begin(command)) for node in nodes]
        answers = []
        for status, output in [node.end(number) for node, number in begun]:
            answers.append([json.loads(part) for part in output.split(SPLIT)] if status == 0 else None)
        return answers

    def look(self, nodes=None):
        """A Sight of these nodes. An agent that does not answer is a fault of the suite."""
        signs, verdicts, findings = {}, {}, set()
        nodes = self.nodes if nodes is None else nodes
        for node, answer in zip(nodes, self.read(nodes)):
            if answer is None:
                raise lab.Lost(f"the agent of {node.name} does not answer; see {node.directory}/agent.log")
            probes, found = answer
            for pair in probes["pairs"]:
                if pair["scope"] != "host":
                    state = set() if pair["state"] == "running" else {pair["state"]}
                    signs[node.name, pair["device"], pair["peer"]] = set(pair["signs"]) | state
            for port in probes["ports"]:
                verdicts[node.name, port["device"]] = port["judgement"]["verdict"]
            findings |= {(node.name, finding["device"], finding["rule"]) for finding in found["findings"]
                         if finding["rule"].startswith("probe-")}
        return Sight(signs, verdicts, findings)

    def is_well(self):
        if None in self.read():
            return False
        sight = self.look()
        return (set(sight.signs) == set(self.pairs) and not sight.bad()
                and sight.verdicts == dict.fromkeys(self.ports, "well"))

    def wait_until_well(self, limit):
        """All pairs run without a sign, and all ports are well. The seconds that it took, or None."""
        begun = time.monotonic()
        while time.monotonic() - begun < PATIENCE * limit:
            if self.is_well():
                return time.monotonic() - begun
            time.sleep(0.5)
        return None

    def usual_round_trip(self, pairs, limit):
        """The longest of the usual round trips of these pairs, in seconds, once all are known; None:
        they were not within the limit."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            answers = zip(self.nodes, self.read())
            usual = {(node.name, pair["device"], pair["peer"]): pair["rtt_usual_seconds"]
                     for node, answer in answers if answer
                     for pair in answer[0]["pairs"] if pair.get("rtt_usual_seconds")}
            if set(pairs) <= set(usual):
                return max(usual[pair] for pair in pairs)
            time.sleep(0.5)
        return None

    # --- checks ---

    def expect(self, report, text, limit, expected, nodes=None, patience=PATIENCE):
        """That comes to be shown within the limit, and nothing beyond it meanwhile."""
        begun, shown = time.monotonic(), None
        while True:
            sight = self.look(nodes)
            took = time.monotonic() - begun
            if shown is None and expected.is_shown(sight):
                shown = took
            wrong = expected.beyond(sight)
            if wrong:
                return report.check(f"{text}: nothing else is blamed", False, f"{wrong}\n{sight}")
            if shown is not None and expected.findings() <= sight.findings:
                return report.check(f"{text}: shown after {shown:.1f} s, findings after {took:.1f} s, "
                                    "nothing else is blamed", True)
            if took > patience * limit:
                return report.check(f"{text}: known within {patience * limit} s", False,
                                    f"{sight}\nfindings: {sight.findings}, expected: {expected.findings()}")
            time.sleep(0.3)

    def expect_only(self, report, text, seconds, expected=NOTHING, nodes=None):
        """For so many seconds nothing is shown but that."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            sight = self.look(nodes)
            wrong = expected.beyond(sight)
            if wrong:
                return report.check(f"{text}: nothing is blamed for {seconds} s", False, f"{wrong}\n{sight}")
            time.sleep(0.3)
        return report.check(f"{text}: nothing is blamed for {seconds} s", True)

    def expect_some(self, report, text, limit, sign, pairs, may=()):
        """Some of these pairs come to show the sign, by chance of their paths, and nothing else does.
        The pairs that do."""
        expected, end = Expected(may={**dict.fromkeys(pairs, sign), **dict(may)}), PATIENCE * limit
        begun, shown, wrong = time.monotonic(), set(), {}
        while not shown and not wrong and time.monotonic() - begun < end:
            time.sleep(0.3)
            sight = self.look()
            shown, wrong = {pair for pair in pairs if sign in sight.signs.get(pair, set())}, expected.beyond(sight)
        report.check(f"{text}: {len(shown)} of {len(pairs)} pairs show {sign} after "
                     f"{time.monotonic() - begun:.1f} s, nothing else is blamed", shown and not wrong, wrong)
        return shown

    def expect_lasting(self, report, text, seconds, sign, pairs):
        """These pairs show the sign for that many seconds without a break."""
        end, ended = time.monotonic() + seconds, set()
        while not ended and time.monotonic() < end:
            signs = self.look().signs
            ended = {pair for pair in pairs if sign not in signs.get(pair, set())}
            time.sleep(0.3)
        report.check(f"{text}: {sign} stays for {seconds} s", not ended, ended)

    def expect_well(self, report, text, limit=60):
        """Once the fault is taken away."""
        self.switches.clear()
        took = self.wait_until_well(limit)
        within = f"after {took:.1f} s" if took is not None else f"within {PATIENCE * limit} s"
        return report.check(f"{text}: all is well again {within}", took is not None,
                            self.read() if took is None else "")
