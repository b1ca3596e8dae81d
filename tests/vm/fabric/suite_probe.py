# SPDX-License-Identifier: Apache-2.0
"""Agents on three nodes that probe each other: four faults, and what the agents say of them."""
import json
import time

import lab

NODES, RAILS = 3, 2
PATIENCE = 3  # times as long as a limit says, for busy machines
CONFIGURATION = """
http: {listen: ["0.0.0.0:10879"]}
control: {socket: ""}
state: {directory: ""}
selftest: {enabled: false}
probe:
  enabled: true
  secret_file: /run/secret
  members_file: /run/members.json
  traffic_class: 104
  leaf: ["rxe0=leaf-0", "rxe1=leaf-1"]
"""
MEMBERS = [{"targets": [f"10.78.0.{node + 1}:10879"], "labels": {"node": f"node{node}"}}
           for node in range(NODES)]


class Agents:
    def __init__(self, one_lab, agent):
        self.lab, self.switches = one_lab, one_lab.switches
        for node in one_lab.nodes:
            node.must(f"umask 077; echo 'a secret of sixteen bytes' >/run/secret\n"
                      f"echo '{json.dumps(MEMBERS)}' >/run/members.json\n"
                      f"cat >/run/agent.yaml <<'END'\n{CONFIGURATION}END\n"
                      f"NODE_NAME={node.name} setsid {agent} run --config /run/agent.yaml "
                      ">>/vmshare/agent.log 2>&1 </dev/null &")

    def read(self):
        """The answer of each agent to /api/v1/probes; None: it did not answer."""
        answers = self.lab.run_all("fetch /api/v1/probes")
        return [json.loads(output) if status == 0 else None for status, output in answers]

    def judged(self):
        """Signs of pairs, by (node, device, peer), and verdicts of ports, by (node, device). No pair
        is left out: one that is not probed has its state as a sign."""
        signs, verdicts = {}, {}
        for node, answer in zip(self.lab.nodes, self.read()):
            if answer is None:
                raise lab.Lost(f"the agent of {node.name} does not answer; see {node.directory}/agent.log")
            for pair in answer["pairs"]:
                if pair["scope"] != "host":
                    state = set() if pair["state"] == "running" else {pair["state"]}
                    signs[node.name, pair["device"], pair["peer"]] = set(pair["signs"]) | state
            for port in answer["ports"]:
                verdicts[node.name, port["device"]] = port["judgement"]["verdict"]
        return signs, verdicts

    def wait_until_well(self, limit):
        """All pairs run without a sign, and all ports are well. The seconds that it took, or None."""
        begun = time.monotonic()
        while time.monotonic() - begun < PATIENCE * limit:
            if None not in self.read():
                signs, verdicts = self.judged()
                if len(signs) == NODES * RAILS * (NODES - 1) and not any(signs.values()) \
                        and len(verdicts) == NODES * RAILS and set(verdicts.values()) == {"well"}:
                    return time.monotonic() - begun
            time.sleep(0.5)
        return None


def expect(agents, report, text, limit, pairs, allowed, verdict):
    """These pairs show their sign (a dict), the port (node, device) has its verdict; no pair shows
    anything else than it may (a set of pairs and what they may show), no other port is bad."""
    begun = time.monotonic()
    while True:
        signs, verdicts = agents.judged()
        took = time.monotonic() - begun
        wrong = {pair: shown for pair, shown in signs.items() if shown - allowed.get(pair, set())}
        wrong.update({port: shown for port, shown in verdicts.items()
                      if shown in ("unreachable", "lossy") and (port, shown) != verdict})
        if wrong:
            return report.check(f"{text}: nothing else is blamed", False, (wrong, signs, verdicts))
        if all(sign in signs[pair] for pair, sign in pairs.items()) and \
                (verdict is None or verdicts[verdict[0]] == verdict[1]):
            return report.check(f"{text}: known after {took:.1f} s, and nothing else is blamed", True)
        if took > PATIENCE * limit:
            return report.check(f"{text}: known within {PATIENCE * limit} s", False, (signs, verdicts))
        time.sleep(0.3)


PORT = ("node1", "rxe0")
TO_PORT = [("node0", "rxe0", "node1"), ("node2", "rxe0", "node1")]
FROM_PORT = [("node1", "rxe0", "node0"), ("node1", "rxe0", "node2")]


def may(pairs, *signs):
    return {pair: set(signs) for pair in pairs}


def well_again(agents, report, text):
    agents.switches.clear()
    took = agents.wait_until_well(60)
    report.check(f"{text}: all is well " + (f"{took:.1f} s after it is mended" if took is not None
                                            else "once it is mended"), took is not None, agents.judged())


def no_fault(agents, report):
    took = agents.wait_until_well(90)
    report.check("all pairs run, and all ports are well", took is not None, agents.read())
    if took is not None:
        report.note(f"that took {took:.1f} s")
    end = time.monotonic() + 15
    while time.monotonic() < end:
        signs, verdicts = agents.judged()
        if any(signs.values()) or set(verdicts.values()) != {"well"}:
            return report.check("nothing is blamed for 15 s", False, (signs, verdicts))
    return report.check("nothing is blamed for 15 s", True)


def cable(agents, report):
    agents.switches.set("host:1:0", down=1)
    expect(agents, report, "a dead cable", 10, dict.fromkeys(TO_PORT + FROM_PORT, "silent"),
           may(TO_PORT + FROM_PORT, "silent", "no_neighbour"), (PORT, "unreachable"))
    well_again(agents, report, "a dead cable")


def mtu_hole(agents, report):
    agents.switches.set("host:1:0<", mtu=500)
    expect(agents, report, "an MTU hole", 30, dict.fromkeys(TO_PORT, "mtu_hole"),
           may(TO_PORT, "mtu_hole"), None)
    well_again(agents, report, "an MTU hole")


def loss(agents, report):
    agents.switches.set("host:1:0", loss=0.01)
    expect(agents, report, "a loss of 1 % on a cable", 60, {},
           may(TO_PORT + FROM_PORT, "loss"), (PORT, "lossy"))


CASES = (no_fault, cable, mtu_hole, loss)


def run(results, report, agent, names):
    known = {case.__name__: case for case in CASES}
    unknown = set(names) - set(known)
    if unknown:
        raise SystemExit(f"no case {' '.join(unknown)}; there are: {' '.join(known)}")
    with lab.Lab(results, nodes=NODES, rails=RAILS, limit=1500) as one_lab:
        one_lab.switches.layout("rail")
        agents = Agents(one_lab, agent)
        for case in [known[name] for name in names] or CASES:
            begun = time.monotonic()
            case(agents, report)
            report.note(f"case {case.__name__}: {time.monotonic() - begun:.0f} s")
