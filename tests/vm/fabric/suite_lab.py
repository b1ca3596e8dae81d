# SPDX-License-Identifier: Apache-2.0
"""The lab itself, without an agent: packets cross, and each fault does what it says."""
import json

import frames
import lab

NODES = 3
AFRESH = "ip neigh flush all"  # or a neighbour that a fault hid stays failed


class Pings:
    """Sends numbered packets from one node to another; see ping.py."""

    def __init__(self, one_lab):
        self.lab = one_lab
        self.program = f"/usr/bin/python3 -IS {lab.HERE}/ping.py"
        one_lab.run_all(f"setsid {self.program} serve >/dev/null 2>&1 &")

    def begin(self, source, target, rail, **options):
        words = " ".join(f"{name}={value}" for name, value in options.items())
        node = self.lab.nodes[source]
        number = node.begin(f"{self.program} 10.77.{rail}.{target + 1} {words}")
        return node, number, options.get("count", 20)

    @staticmethod
    def end(begun):
        node, number, count = begun
        status, output = node.end(number)
        if status:
            raise RuntimeError(f"{node.name}: ping.py: {output}")
        return Result(count, json.loads(output))

    def send(self, source, target, rail, **options):
        return self.end(self.begin(source, target, rail, **options))

    def wait_until_served(self):
        """Until all answer on all rails; what is waited for is Python's start."""
        for source, target in ((0, 1), (1, 2), (2, 0)):
            for rail in range(self.lab.rails):
                for _ in range(20):
                    if self.send(source, target, rail, count=2).order:
                        break


class Result:
    def __init__(self, count, found):
        self.order, self.fastest = found["order"], found["fastest"]
        self.missing = sorted(set(range(count)) - set(self.order))
        self.there = sorted(set(map(tuple, found["there"])))
        self.back = sorted(set(map(tuple, found["back"])))
        self.all = not self.missing
        self.none = not self.order


def roce(one_lab, report, text, pairs, options=""):
    """UD pings of RoCE by perftest on each (source, target, rail) at a time, the handshakes over the
    network for management."""
    begun = []
    for port, (source, target, rail) in enumerate(pairs, 18515):
        command = (f"timeout 40 ib_send_lat -d rxe{rail} -x $(gid_index rxe{rail}) -c UD -n 50 -F "
                   f"-p {port} {options}")
        setup = f"({command}) >/run/server.{port} 2>&1 </dev/null & sleep 0.1"
        one_lab.nodes[target].must(setup)
        client = (f"for try in 1 2 3 4 5 6; do {command} 10.78.0.{target + 1} && exit 0; sleep 1; "
                  "done; exit 1")
        begun.append((one_lab.nodes[source], client))
    for node, client in begun:
        status, output = node.run(client, limit=300)
        report.check(f"{text}, {node.name}", status == 0, output)


def check_crossing(one_lab, report, pings):
    switches = one_lab.switches
    switches.zero()
    roce(one_lab, report, "UD pings of RoCE cross on rail 0 and 1", [(1, 0, 0), (2, 0, 1)])
    counts = switches.counts("roce")
    report.check("their packets are counted on their links, as many at both ends",
                 counts["host:1:0>"] == counts["host:0:0<"] >= 50
                 and counts["host:2:1>"] == counts["host:0:1<"] >= 50, counts)
    report.same("and on no other", {0}, {counts.get(name, 0) for name in ("host:1:1>", "host:2:0>")})
    recorded = switches.recorded(0, 0)
    report.check("the ICRC of each recorded packet is as this lab computes it",
                 recorded and all(frames.has_right_icrc(frame) for frame in recorded))
    changed = frames.with_header(recorded[0], 0xFF, 3)
    report.check("it does not cover DSCP, ECN and hop limit", frames.has_right_icrc(changed))
    flipped = bytearray(recorded[0])
    flipped[-8] ^= 1
    report.check("it covers the payload", not frames.has_right_icrc(bytes(flipped)))
    report.check("a garbled packet has the right one",
                 frames.has_right_icrc(frames.garbled(recorded[0], 1, "random")))
    switches.zero()
    both = [pings.begin(0, 1, 0, count=50, tos=104), pings.begin(2, 1, 1, count=50)]
    first, second = (pings.end(one) for one in both)
    report.check("50 packets on each rail are all answered", first.all and second.all,
                 (first.missing, second.missing))
    report.same("DSCP, ECN and hop limit arrive as they were sent", [(26, 0, 64)], first.there)
    counts = switches.counts("packets")
    report.same("50 packets are counted on each link of the way", [50] * 8, [counts[name] for name in (
        "host:0:0>", "host:1:0<", "host:1:0>", "host:0:0<",
        "host:2:1>", "host:1:1<", "host:1:1>", "host:2:1<")])
    report.same("and none on others", {0}, {counts.get(name, 0) for name in ("host:0:1>", "host:2:0>")})


def check_losses(one_lab, report, pings):
    switches = one_lab.switches
    switches.set("host:1:0", down=1)
    cut, other = pings.send(0, 1, 0, count=5), pings.send(0, 1, 1, count=5)
    report.check("a cut link carries nothing, the other rail all", cut.none and other.all,
                 (cut.order, other.missing))
    switches.clear()
    switches.zero()
    one_lab.run_all(AFRESH)
    pings.send(0, 1, 0, count=2)  # neighbours know each other
    switches.zero()
    switches.set("host:1:0>", down=1)
    one_way = pings.send(0, 1, 0, count=5)
    counts = switches.counts("packets")
    report.check("a link that is cut one way carries packets the other way",
                 one_way.none and counts["host:1:0<"] == 5 and counts.get("host:0:0<", 0) == 0, counts)
    switches.clear()
    switches.set("host:0:0>", every=10)
    tenth = pings.send(0, 1, 0, count=50)
    report.same("each tenth packet is lost", [9, 19, 29, 39, 49], tenth.missing)
    report.same("and counted as lost", 5, switches.counts("lost")["host:0:0>"])
    switches.clear()
    switches.set("host:0:0>", loss=0.2)
    some = pings.send(0, 1, 0, count=300, interval=0.002)
    report.check("of 300 packets, a loss of 20 % takes 30 to 95", 30 <= len(some.missing) <= 95,
                 len(some.missing))
    switches.clear()
    switches.set("host:0:0>", mtu=500)
    small, large = pings.send(0, 1, 0, size=400), pings.send(0, 1, 0, size=600, count=5)
    report.check("an MTU hole lets small packets pass and no large ones", small.all and large.none,
                 (small.missing, large.order))
    switches.clear()
    switches.set("host:0:0>", flows=2)
    flows = pings.send(0, 1, 0, count=96, sources=16)
    lost, passed = ({number % 16 for number in numbers} for numbers in (flows.missing, flows.order))
    report.check("a broken path loses all packets of some flows", lost and passed and not lost & passed,
                 (lost, passed))
    switches.clear()
    switches.set("host:0:0>", flap=1)
    report.check("a link that is down for each second carries nothing", pings.send(0, 1, 0, count=3).none)
    switches.clear()


def check_changes(one_lab, report, pings):
    switches = one_lab.switches
    switches.set("host:0:0>", dscp=8, hops=2, ce=1)
    marked, plain = pings.send(0, 1, 0, tos=106), pings.send(0, 1, 0, tos=104)
    report.same("DSCP rewritten, congestion marked, two hops more", [(8, 3, 62)], marked.there)
    report.same("the sender of other packets cannot take marks", [(8, 0, 62)], plain.there)
    report.same("the way back is as before", [(0, 0, 64)], marked.back)
    roce(one_lab, report, "RoCE crosses all the same", [(0, 1, 0)], "--tclass=106")
    switches.clear()
    switches.set("host:0:0>", hops=64)
    report.check("what has no hops left is lost", pings.send(0, 1, 0, count=3).none)
    switches.clear()
    switches.set("host:0:0>", delay=0.3)
    slow, other = pings.send(0, 1, 0), pings.send(0, 1, 1)
    report.check("0.3 s of delay on one way of one link", slow.all and slow.fastest >= 0.3
                 and other.fastest < 0.3, (slow.fastest, other.fastest))
    switches.clear()
    switches.set("host:0:0>", reorder=5)
    mixed = pings.send(0, 1, 0)
    report.check("packets are overtaken by others, and none is lost",
                 mixed.all and mixed.order != sorted(mixed.order), mixed.order)
    switches.clear()
    switches.set("host:0:0>", twice=5)
    doubled = pings.send(0, 1, 0)
    report.check("some packets arrive twice", len(doubled.order) > len(set(doubled.order)), doubled.order)
    switches.clear()


def check_switches(one_lab, report, pings):
    switches = one_lab.switches
    switches.set("leaf:0", down=1)
    rails = [pings.send(source, target, rail, count=3) for source, target in ((0, 1), (1, 2))
             for rail in (0, 1)]
    report.same("a leaf that is down takes its rail", [True, False, True, False],
                [one.none for one in rails])
    status, output = one_lab.nodes[2].run(f"{pings.program} 10.78.0.1 count=3")
    report.check("and not the network for management", status == 0 and json.loads(output)["order"], output)
    switches.layout("rack", 2)
    one_lab.run_all(AFRESH)
    pings.send(0, 2, 0, count=2)
    pings.send(0, 1, 0, count=2)
    switches.zero()
    pings.send(0, 1, 0, count=20)
    # A multicast frame of a kernel's own may go everywhere meanwhile.
    counts = switches.counts()
    strays = max(counts.get(f"leaf:0-spine:{spine}>", 0) for spine in (0, 1))
    report.check("layout rack: within a leaf, no spine", strays < 5, counts)
    spread = pings.send(0, 2, 0, count=128, sources=64, interval=0.005)
    counts = switches.counts("packets")
    up = [counts[f"leaf:0-spine:{spine}>"] for spine in (0, 1)]
    report.check("64 flows are spread over both spines, and none is lost",
                 spread.all and sum(up) == 128 and min(up) >= 30, (spread.missing, up))
    report.same("what goes up comes down", up, [counts[f"leaf:1-spine:{spine}<"] for spine in (0, 1)])
    switches.set("spine:0", down=1)
    half = pings.send(0, 2, 0, count=128, sources=64, interval=0.005)
    lost = {number % 64 for number in half.missing}
    passed = {number % 64 for number in half.order}
    report.check("with a spine down, flows are lost as a whole",
                 len(lost) >= 15 and len(passed) >= 5 and not lost & passed, (lost, passed))
    switches.clear()
    roce(one_lab, report, "RoCE crosses a spine", [(0, 2, 0)])


def run(results, report, _agent, _cases):
    with lab.Lab(results, nodes=NODES, limit=900) as one_lab:
        one_lab.switches.layout("rail")
        pings = Pings(one_lab)
        pings.wait_until_served()
        for part in (check_crossing, check_losses, check_changes, check_switches):
            part(one_lab, report, pings)
        for node, (_, output) in zip(one_lab.nodes, one_lab.run_all(
                "dmesg | grep -E 'BUG:|WARNING:|Oops|general protection|refcount_t|use-after-free' |"
                " grep -vE 'soft lockup|workqueue lockup'")):
            report.check(f"the kernel of {node.name} did not complain", not output, output)
