# SPDX-License-Identifier: Apache-2.0
"""The prober across the fabric: what it reports of each fault, and what ledgers and verdicts make of
it. drive_pairs.c drives it on each node; no agent runs. Each port probes the same rail of the other nodes."""
import json
import os
import time

import frames
import lab

NODES, RAILS = 3, 2
PERIOD_US, LARGE_EVERY = 250000, 4
TRAFFIC_CLASS = 106  # DSCP 26, and the sender can take marks
SILENT, LOSS, MTU_HOLE, SLOW, DSCP, DETOUR = (1 << bit for bit in range(6))
PATIENCE = 3  # times as long as a limit says, for busy machines


class Mesh:
    """A driver on each node, each target set. A target is known by (node, rail, peer)."""

    def __init__(self, one_lab, agent):
        self.lab, self.switches = one_lab, one_lab.switches
        self.program = f"{os.path.dirname(agent)}/../tests/unit/prober-pairs"
        self.life, self.lost_at_first = 0, {}
        self.targets = [(node, rail, peer) for node in range(NODES) for rail in range(RAILS)
                        for peer in range(NODES) if peer != node]

    def session(self, node):
        return 1000 * self.life + node + 1

    def start(self):
        """All anew: what was seen is forgotten."""
        self.stop()
        self.life += 1
        for node in self.lab.nodes:
            ports = " ".join(f"rxe{rail}:$(gid_index rxe{rail})" for rail in range(RAILS))
            node.must("rm -f /run/pairs.*; mkfifo /run/pairs.in; ip neigh flush all; "
                      f"setsid {self.program} /run/pairs.json {self.session(node.number)} 'a test' "
                      f"{TRAFFIC_CLASS} {ports} <>/run/pairs.in >/run/pairs.log 2>&1 & "
                      "echo $! >/run/pairs.pid")
        self.wait_until(lambda states: all(port["use"] == "open" for state in states
                                           for port in state["ports"]), 30, "ports to open")
        self.set_targets()
        self.wait_until(self.is_answered, 30, "answers")
        self.lost_at_first = {target: values["lost"] - values["late"]
                              for target, values in self.by_target().items()}
        self.switches.zero()

    def is_answered(self, states):
        """All targets; a driver that has not read its list yet has none. Until then the peers look for
        the way back, and what they do not answer is lost: in three seconds it is known."""
        answers = [target["answered"] for state in states for target in state["targets"]]
        return len(answers) == len(self.targets) and min(answers) >= 30

    def set_targets(self):
        states = self.read()
        for node in self.lab.nodes:
            lines = []
            for number, rail, peer in self.targets:
                if number == node.number:
                    port = states[peer]["ports"][rail]
                    qpns = ",".join(map(str, port["qpns"]))
                    lines.append(f"{rail} {self.session(peer)} {PERIOD_US} {LARGE_EVERY} "
                                 f"{port['gid']} {port['mtu']} {qpns}")
            node.must("printf '%s\\n' " + " ".join(f"'{line}'" for line in lines) + " >/run/pairs.in")

    def stop(self):
        self.lab.run_all("[ ! -e /run/pairs.pid ] || { kill $(</run/pairs.pid); "
                         "within 20 eval '! pgrep -x rna-prober'; }; true")

    def read(self):
        states = []
        for node, (status, output) in zip(self.lab.nodes, self.lab.run_all("cat /run/pairs.json")):
            if status:
                status, log = node.run("cat /run/pairs.log; pgrep -a prober-pairs")
                raise NotYet(f"{node.name}: {output} {log}")
            states.append(json.loads(output))
        return states

    def wait_until(self, good, limit, what):
        end = time.monotonic() + PATIENCE * limit
        why = ""
        while time.monotonic() < end:
            try:
                states = self.read()
                if good(states):
                    return states
                why = json.dumps(states)
            except NotYet as error:
                why = str(error)
            time.sleep(0.2)
        raise RuntimeError(f"waited {PATIENCE * limit} s for {what}: {why}")

    def by_target(self):
        """What is known of each target."""
        states = self.read()
        index = {node: iter(states[node]["targets"]) for node in range(NODES)}
        return {target: next(index[target[0]]) for target in self.targets}


class NotYet(Exception):
    """The driver has written nothing yet."""


def at_port(mesh, node, rail):
    """The targets whose probes or answers cross the cable of that port."""
    return [target for target in mesh.targets
            if target[1] == rail and node in (target[0], target[2])]


def expect_signs(mesh, report, text, signs, targets, limit):
    """These targets come to show these signs, and no other target any; prints how long it took."""
    begun = time.monotonic()
    while True:
        seen = mesh.by_target()
        took = time.monotonic() - begun
        found = {target: values["signs"] for target, values in seen.items() if values["signs"]}
        wrong = {target: value for target, value in found.items()
                 if target not in targets or value & ~signs}
        if wrong:
            return report.check(f"{text}: no other sign", False, (wrong, seen))
        if len(found) == len(targets):
            return report.check(f"{text}: {len(targets)} of {len(seen)} pairs show it after "
                                f"{took:.1f} s", True)
        if took > PATIENCE * limit:
            return report.check(f"{text} is seen within {PATIENCE * limit} s", False, seen)
        time.sleep(0.2)


def expect_clear(mesh, report, text, limit):
    begun = time.monotonic()
    while time.monotonic() - begun < PATIENCE * limit:
        if not any(target["signs"] for target in mesh.by_target().values()):
            return report.check(f"{text}: no sign {time.monotonic() - begun:.1f} s after it is mended", True)
        time.sleep(0.2)
    return report.check(f"{text}: its signs are gone once it is mended", False, mesh.by_target())


def total(seen, name):
    return sum(target[name] for target in seen.values())


def lost(mesh, seen):
    """Since the start, without those whose answers came late."""
    return total(seen, "lost") - total(seen, "late") - sum(mesh.lost_at_first[target] for target in seen)


# --- the cases ------------------------------------------------------------------------------------

def nothing_wrong(mesh, report):
    mesh.wait_until(lambda states: all(target["answered"] >= 60 for state in states
                                       for target in state["targets"]), 30, "60 answers of each pair")
    seen, states = mesh.by_target(), mesh.read()
    report.same("no probe is lost", 0, lost(mesh, seen))
    report.same("no pair shows a sign", 0, total(seen, "signs"))
    report.same("each pair uses eight source ports", {0xFF},
                {target["classes_seen"] for target in seen.values()})
    report.same("DSCP, ECN and hop limit arrive there as they were sent", {(26, 2, 64)},
                {tuple(target["there"]) for target in seen.values()})
    report.same("and back", {(26, 2, 64)}, {tuple(target["back"]) for target in seen.values()})
    report.same("the numbers of visitors have no gaps", 0,
                sum(port["missing"] for state in states for port in state["ports"]))
    report.same("no packet is a stranger's", 0, sum(sum(state["strangers"].values()) for state in states))
    counts = mesh.switches.counts("roce")
    spines = [counts.get(f"leaf:{leaf}-spine:{spine}{way}", 0)
              for leaf in (0, 1) for spine in (0, 1) for way in "><"]
    report.check("each link between leaves and spines was probed, both ways", min(spines) > 10, spines)
    report.check("small and large probes", all(target["large_answered"] > 10 for target in seen.values()))


def cable(mesh, report):
    mesh.switches.set("host:1:0", down=1)
    expect_signs(mesh, report, "a dead cable", SILENT, at_port(mesh, 1, 0), 5)
    mesh.switches.clear()
    expect_clear(mesh, report, "a dead cable", 15)


def one_way(mesh, report):
    mesh.switches.set("host:1:0<", down=1)
    expect_signs(mesh, report, "a cable that is dead one way", SILENT, at_port(mesh, 1, 0), 5)


def leaf(mesh, report):
    mesh.switches.set("leaf:1", down=1)
    expect_signs(mesh, report, "a dead leaf", SILENT,
                 [target for target in mesh.targets if 2 in (target[0], target[2])], 5)


def spine(mesh, report):
    mesh.switches.set("spine:0", down=1)
    across = [target for target in mesh.targets if 2 in (target[0], target[2])]
    # Of eight flows there and eight back, all may have been on that spine.
    expect_signs(mesh, report, "a dead spine: losses between leaves", LOSS | SILENT, across, 30)
    seen = mesh.by_target()
    report.check("of some source ports only", any(seen[target]["signs"] == LOSS for target in across), seen)


def mtu_hole(mesh, report):
    mesh.switches.set("host:1:0<", mtu=500)
    expect_signs(mesh, report, "an MTU hole", MTU_HOLE,
                 [(0, 0, 1), (2, 0, 1)], 8)
    mesh.switches.clear()
    expect_clear(mesh, report, "an MTU hole", 15)


def loss(mesh, report, every=19):  # a prime: the same few pairs send in turn
    mesh.switches.set("host:1:0>", every=every)
    expect_signs(mesh, report, f"a loss of {100 / every:.0f} % one way", LOSS, at_port(mesh, 1, 0), 60)
    dropped = mesh.switches.counts("lost")["host:1:0>"]
    seen = {target: values for target, values in mesh.by_target().items() if target in at_port(mesh, 1, 0)}
    found = lost(mesh, seen)
    unclear = total(seen, "void") + 4  # under way now, on four pairs
    report.check(f"the link dropped {dropped} packets, and {found} probes are lost",
                 dropped - unclear <= found <= mesh.switches.counts("lost")["host:1:0>"], seen)
    missing = sum(state["ports"][0]["missing"] for state in mesh.read())
    report.check(f"peers miss {missing} probes of that port", 0 < missing <= dropped, missing)


def dscp(mesh, report):
    mesh.switches.set("host:1:0>", dscp=8)
    expect_signs(mesh, report, "a DSCP that is rewritten", DSCP, [(1, 0, 0), (1, 0, 2)], 5)
    report.same("the new one", [8, 2, 64], mesh.by_target()[1, 0, 0]["there"])


def congestion(mesh, report):
    before = mesh.by_target()[0, 0, 1]["ecn"]
    mesh.switches.set("host:1:0<", ce=1)
    mesh.wait_until(lambda _: mesh.by_target()[0, 0, 1]["ecn"] > before + 4, 10, "marks")
    seen = mesh.by_target()
    report.same("marked probes arrive with their DSCP", [26, 3, 64], seen[0, 0, 1]["there"])
    report.same("marked answers too", 3, seen[1, 0, 0]["back"][1])
    report.same("no others are marked", 0, seen[0, 1, 1]["ecn"] + seen[0, 0, 2]["ecn"])
    report.same("marks are no sign", 0, total(seen, "signs"))


def hops(mesh, report):
    mesh.switches.set("host:1:0>", hops=2)
    mesh.wait_until(lambda _: mesh.by_target()[1, 0, 2]["there"][2] == 62, 10, "another hop limit")
    report.same("two hops more one way", [[26, 2, 62], [26, 2, 64]],
                [mesh.by_target()[1, 0, 2][way] for way in ("there", "back")])


def reordering(mesh, report):
    mesh.switches.set("host:1:0", reorder=3)
    at_first = mesh.by_target()[1, 0, 0]["answered"]
    mesh.wait_until(lambda _: mesh.by_target()[1, 0, 0]["answered"] > at_first + 60, 30, "60 answers")
    seen, states = mesh.by_target(), mesh.read()
    report.same("packets that overtake others are not lost", 0, lost(mesh, seen))
    report.same("nor missing", 0, sum(port["missing"] for state in states for port in state["ports"]))
    report.same("nor a sign", 0, total(seen, "signs"))


def delay(mesh, report):
    at_first = mesh.by_target()[1, 0, 0]["answered"]
    mesh.switches.set("host:1:0>", delay=0.05)
    mesh.wait_until(lambda _: mesh.by_target()[1, 0, 0]["answered"] > at_first + 70, 30, "70 answers")
    seen = mesh.by_target()
    delayed, other = seen[1, 0, 0]["rtt"], seen[1, 1, 0]["rtt"]
    if other >= 50e6:
        report.skip("50 ms more are measured", f"round trips take {other / 1e6:.0f} ms without a fault")
    else:
        report.check("50 ms more are measured", delayed >= 50e6, seen)
    report.same("and nothing is lost", 0, lost(mesh, seen))


def late_host(mesh, report):
    before = mesh.by_target()
    mesh.lab.nodes[1].must("pkill -STOP -x rna-prober; sleep 4; pkill -CONT -x rna-prober")
    mesh.wait_until(lambda _: mesh.by_target()[1, 0, 0]["answered"] > before[1, 0, 0]["answered"] + 40,
                    30, "answers")
    # Answers that were waiting for their turn come late, and take losses back.
    seen, end = mesh.by_target(), time.monotonic() + 30
    while lost(mesh, seen) > 0 and time.monotonic() < end:
        time.sleep(0.5)
        seen = mesh.by_target()
    own = {target: values for target, values in seen.items() if target[0] == 1}
    report.same("the probes of a host that stood still are not lost", 0,
                lost(mesh, own))
    others = {target: values for target, values in seen.items() if target[2] == 1}
    report.same("nor those that were sent to it", 0, lost(mesh, others))
    report.check("peers see no sign afterwards", total(seen, "signs") == 0, seen)


def strangers(mesh, report):
    def counted():
        return mesh.read()[1]["strangers"]

    # Small probes, not answers: byte 5 of the payload is the kind.
    probes = [frame for frame in mesh.switches.recorded(1, 0)
              if len(frames.payload(frame)) == 64 and frames.payload(frame)[5] == 1][:8]
    content = frames.payload(probes[0])
    before = counted()
    mesh.switches.inject(1, 0, [
        *(frames.garbled(frame, seed, "random") for seed, frame in enumerate(probes)),
        frames.with_payload(probes[0], content[:4] + b"\x63" + content[5:]),  # another version
        *(frames.garbled(frame, 0, "flip") for frame in probes), *probes])
    wanted = {**before, "replay": before["replay"] + len(probes)}
    mesh.wait_until(lambda _: counted()["replay"] >= wanted["replay"], 10, "replayed probes")
    report.same("of packets of strangers, those that were recorded are counted", wanted, counted())
    report.same("probes are not disturbed", 0, total(mesh.by_target(), "signs"))


CASES = (nothing_wrong, congestion, hops, strangers, reordering, delay, late_host,
         cable, one_way, leaf, spine, mtu_hole, loss, dscp)
HARMLESS = (nothing_wrong, congestion, hops, strangers, reordering)  # the next can go on from there


def run(results, report, agent, names):
    known = {case.__name__: case for case in CASES}
    unknown = set(names) - set(known)
    if unknown:
        raise SystemExit(f"no case {' '.join(unknown)}; there are: {' '.join(known)}")
    with lab.Lab(results, nodes=NODES, rails=RAILS, limit=1500) as one_lab:
        one_lab.switches.layout("rack", 2)
        mesh, previous = Mesh(one_lab, agent), None
        for case in [known[name] for name in names] or CASES:
            begun = time.monotonic()
            one_lab.switches.clear()
            if previous not in HARMLESS:
                mesh.start()
            case(mesh, report)
            previous = case
            report.note(f"case {case.__name__}: {time.monotonic() - begun:.0f} s")
        mesh.stop()
