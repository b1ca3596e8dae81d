# SPDX-License-Identifier: Apache-2.0
"""The fault matrix: agents on three nodes behind two leaves and two spines, one fault after the other,
and what the agents say of each: the right verdict, and nothing beside it.

node0 and node1 are on leaf 0, node2 is on leaf 1; most faults are on the cable of node1's rail 0.
"""
import time

import frames
import lab
from agents import OTHER_SECRET, SECRET, Agents, Expected
from suite_probe import FROM_PORT, NODES, PORT, RAILS, TO_PORT, choose, show

LIMIT = 10800  # seconds of a VM
QUIET = 15  # seconds in which a false verdict would show
USUAL_MAX = 0.1  # seconds of a round trip; probes that take a second are lost
ACROSS = [(node, device, peer) for device in ("rxe0", "rxe1") for node in ("node0", "node1", "node2")
          for peer in ("node0", "node1", "node2") if node != peer and "node2" in (node, peer)]
OF_NODE1 = [(node, device, "node1") for device in ("rxe0", "rxe1") for node in ("node0", "node2")]
LOST = show({"loss", "silent"}, ACROSS)
BOTH = TO_PORT + FROM_PORT


def leaf_of(node, _):
    return f"leaf-{node // 2}"


# --- nothing wrong --------------------------------------------------------------------------------

def no_fault(agents, report):
    agents.expect_only(report, "no fault", 30)


def probed(agents, spines, limit):
    """Links between leaves and spines, each way on its own: those without a probe within limit
    seconds, the number of all, and the seconds until none was left or the limit was reached."""
    links = [f"leaf:{leaf}-spine:{spine}{way}" for leaf in (0, 1) for spine in range(spines) for way in "><"]
    agents.switches.layout("rack", spines)  # counts begin at 0
    begun = time.monotonic()
    while True:
        counts = agents.switches.counts("roce")
        missing = [link for link in links if counts.get(link, 0) == 0]
        took = time.monotonic() - begun
        if not missing or took > limit:
            return missing, len(links), took
        time.sleep(1)


def coverage(agents, report):
    """With eight source ports on Soft-RoCE, 32 flows go from leaf to leaf here: enough for four spines,
    and too few for each of 16."""
    for spines in (2, 4):
        missing, count, took = probed(agents, spines, 120)
        report.check(f"{count - len(missing)} of {count} links between leaves and {spines} spines are "
                     f"probed after {took:.0f} s", len(missing) <= count / 100, missing)
    missing, count, took = probed(agents, 16, 20)
    report.note(f"{count - len(missing)} of {count} links between leaves and 16 spines after {took:.0f} s")
    agents.switches.layout("rack", 2)


# --- links and switches ---------------------------------------------------------------------------

def nic(agents, report):
    """The agent sees that itself, and so do its peers, from what it says."""
    node = agents.nodes[1]
    node.must("ip link set rail0 down")
    agents.expect(report, "a NIC that is down", 10,
                  Expected(show("peer_down", TO_PORT), (),
                           {**show({"peer_down", "silent", "no_neighbour"}, BOTH), PORT: "unreachable"}))
    agents.expect_only(report, "a NIC that is down", QUIET, Expected(may=show("peer_down", TO_PORT)),
                       [agents.nodes[0], agents.nodes[2]])
    node.must("ip link set rail0 up")
    agents.expect_well(report, "a NIC that is down", 90)


def dead(agents, report, text, link):
    agents.switches.set(link, down=1)
    agents.expect(report, text, 5, Expected(show("silent", BOTH), {PORT: "unreachable"},
                                            show("no_neighbour", BOTH)))
    agents.expect_well(report, text)


def cable(agents, report):
    dead(agents, report, "a dead cable", "host:1:0")


def leaf_port(agents, report):
    dead(agents, report, "a leaf port that sends nothing", "host:1:0<")


def one_way(agents, report):
    dead(agents, report, "a NIC whose frames are lost", "host:1:0>")


def leaf(agents, report):
    """Whether it is the node or its leaf, no agent can know: no port is blamed."""
    agents.switches.set("leaf:1", down=1)
    agents.expect(report, "a dead leaf", 5,
                  Expected(show("silent", ACROSS), (), show("no_neighbour", ACROSS)))
    agents.expect_well(report, "a dead leaf")


def lossy_paths(agents, report, text, link):
    """Some source ports take that spine; how many of the eight is theirs to choose."""
    agents.switches.set(link, down=1)
    ports = {("node2", device): "lossy" for device in ("rxe0", "rxe1")}
    agents.expect(report, text, 30, Expected((), ports, LOST))
    sight = agents.look()
    report.check(f"{text}: no pair on one leaf shows a sign",
                 not any(signs for pair, signs in sight.signs.items() if pair not in ACROSS), sight)
    agents.switches.clear()
    agents.restart_all()
    agents.expect_well(report, f"{text}, agents started again", 90)


def spine(agents, report):
    lossy_paths(agents, report, "a dead spine", "spine:0")


def spine_link(agents, report):
    lossy_paths(agents, report, "a dead link between leaf and spine", "leaf:1-spine:1")


# --- losses, delays, changes ----------------------------------------------------------------------

def lossy_cable(agents, report, text, limit, patience, **fault):
    agents.switches.set("host:1:0", **fault)
    agents.expect(report, text, limit, Expected((), {PORT: "lossy"}, show("loss", BOTH)), patience=patience)
    agents.switches.clear()
    agents.restart_all()
    agents.expect_well(report, f"{text}, agents started again", 90)


def loss(agents, report):
    lossy_cable(agents, report, "a loss of 1 % on a cable", 60, 3, loss=0.01)


def small_loss(agents, report):
    """With two peers a port sends five probes a second, with six twelve: of 0.24 % it loses as many
    a minute as a port with six peers of 0.1 %."""
    lossy_cable(agents, report, "a loss of 0.24 % on a cable", 600, 2, every=419)


def slower(agents, report, text, link, extra, pairs):
    """Round trips of these pairs take so many seconds more, and two usual ones, which are long on a
    busy machine: slow is what takes twice the usual time and 10 ms. Slow from the start is usual."""
    usual = agents.usual_round_trip(pairs, 120)
    if usual is None:
        return report.check(f"{text}: usual round trips are known within 120 s", False)
    if usual > USUAL_MAX:
        return report.skip(text, f"usual round trips of this machine: {usual:.2f} s")
    text = f"{text} beside a usual round trip of {usual * 1000:.0f} ms"
    ways = 1 if link[-1] in "<>" else 2
    agents.switches.set(link, delay=(extra + 2 * usual) / ways)
    agents.expect(report, text, 90, Expected(show("slow", pairs)))
    return agents.expect_well(report, text, 90)


def delay(agents, report):
    slower(agents, report, "50 ms more one way of a cable", "host:1:0>", 0.05, BOTH)


def mtu_hole(agents, report):
    agents.switches.set("host:1:0<", mtu=500)
    agents.expect(report, "an MTU hole", 30, Expected(show("mtu_hole", TO_PORT)))
    agents.expect_well(report, "an MTU hole")
    agents.expect_only(report, "after the MTU hole", QUIET)


def dscp(agents, report):
    agents.switches.set("host:1:0>", dscp=8)
    agents.expect(report, "a DSCP that is rewritten", 5, Expected(show("dscp", FROM_PORT)))
    agents.expect_well(report, "a DSCP that is rewritten")


def congestion(agents, report):
    """Marks of congestion are counted, and nothing is blamed for them."""
    def marked():
        pairs = agents.read([agents.nodes[0]])[0][0]["pairs"]
        return sum(pair["total"]["ecn_marked"] for pair in pairs
                   if (pair["device"], pair["peer"]) == ("rxe0", "node1"))

    before = marked()
    agents.switches.set("host:1:0<", ce=1)
    agents.expect_only(report, "marks of congestion", QUIET)
    after = marked()
    report.check(f"{after - before} packets of a pair are marked", after > before)


# --- peers ----------------------------------------------------------------------------------------

OTHERS = (0, 2)


def peer_gone(agents, report, text, stop, limit=10):
    others = [agents.nodes[number] for number in OTHERS]
    stop()
    agents.expect(report, text, limit, Expected(show("peer_down", OF_NODE1)), others)
    agents.expect_only(report, text, QUIET, Expected(may=show("peer_down", OF_NODE1)), others)
    agents.start(agents.nodes[1])
    agents.expect_well(report, f"{text} and starts again", 90)


def peer_stopped(agents, report):
    peer_gone(agents, report, "a peer that stops", lambda: agents.stop(agents.nodes[1]))


def peer_killed(agents, report):
    peer_gone(agents, report, "a peer whose agent is killed", lambda: agents.stop(agents.nodes[1], "KILL"))


def peer_rebooted(agents, report):
    peer_gone(agents, report, "a peer that reboots", agents.nodes[1].restart, 60)


def peer_frozen(agents, report):
    """The agent stands still, its prober does not."""
    node = agents.nodes[1]
    others = [agents.nodes[number] for number in OTHERS]
    node.must("kill -STOP $(</run/agent.pid)")
    agents.expect_only(report, "a peer whose agent stands still", QUIET,
                       Expected(may=show("peer_down", OF_NODE1)), others)
    node.must("kill -CONT $(</run/agent.pid)")
    agents.expect_well(report, "a peer whose agent stood still", 60)


def other_secret(agents, report):
    """Both ends say so."""
    agents.stop(agents.nodes[1])
    agents.start(agents.nodes[1], OTHER_SECRET)
    agents.nodes[1].must("within 90 fetch /api/v1/probes")
    refused = show("peer_refused", OF_NODE1 + [("node1", device, peer) for device in ("rxe0", "rxe1")
                                               for peer in ("node0", "node2")])
    agents.expect(report, "a peer with another secret", 60,
                  Expected(refused, (), show({"peer_down", "peer_refused", "waiting"}, refused)))
    agents.stop(agents.nodes[1])
    agents.start(agents.nodes[1], SECRET)
    agents.expect_well(report, "a peer with another secret", 90)


# --- hosts ----------------------------------------------------------------------------------------

def busy_cpu(agents, report):
    node = agents.nodes[1]
    node.must("for i in 1 2 3 4; do timeout 40 sh -c 'while :; do :; done' & done; true")
    agents.expect_only(report, "a busy CPU", 40)


def clock_step(agents, report):
    node = agents.nodes[1]
    for step in ("+1 hour", "-2 hours", "+1 hour"):
        node.must(f"date -s '{step}'")
        agents.expect_only(report, f"the clock is set {step}", 8)


def strangers(agents, report):
    """Packets that are wrong in one way each, which no count may show, and then replayed probes, for
    node1's rail 0."""
    def counted():
        return agents.read([agents.nodes[1]])[0][0]["strangers"]

    # Small probes, not answers: byte 5 of the payload is the kind.
    probes = [frame for frame in agents.switches.recorded(1, 0)
              if len(frames.payload(frame)) == 64 and frames.payload(frame)[5] == 1][:8]
    content = frames.payload(probes[0])
    before = counted()
    agents.switches.inject(1, 0, [
        *(frames.garbled(frame, seed, "random") for seed, frame in enumerate(probes)),
        frames.with_payload(probes[0], content[:4] + b"\x63" + content[5:]),  # another version
        *(frames.garbled(frame, 0, "flip") for frame in probes), *probes])
    wanted = {**before, "replay": before["replay"] + len(probes)}
    end = time.monotonic() + 30
    while counted() != wanted and time.monotonic() < end:
        time.sleep(0.3)
    report.same("of packets of strangers, those that were recorded are counted", wanted, counted())
    agents.expect_only(report, "packets of strangers", QUIET)


# --- faults that come and go, that hit some paths, or that come together ---------------------------

TO_NODE2 = [(node, device, "node2") for node in ("node0", "node1") for device in ("rxe0", "rxe1")]
RAIL1 = [(node, "rxe1", peer) for node, peer in (("node0", "node1"), ("node1", "node0"), ("node1", "node2"),
                                                 ("node2", "node1"))]


def forgetting(agents, report, text):
    """Losses are remembered for ten minutes."""
    agents.switches.clear()
    agents.restart_all()
    agents.expect_well(report, f"{text}, agents started again", 90)


def one_way_loss(agents, report):
    agents.switches.set("host:1:0<", loss=0.03)
    agents.expect(report, "3 % lost one way of a cable", 60, Expected((), {PORT: "lossy"}, show("loss", BOTH)))
    forgetting(agents, report, "3 % lost one way of a cable")


def black_hole(agents, report):
    """One in four flows of a link: the paths of others are well, so no port is unreachable."""
    agents.switches.set("leaf:0-spine:0>", flows=4)
    lossy = {("node2", device): "lossy" for device in ("rxe0", "rxe1")}
    agents.expect_some(report, "a black hole for some flows", 60, "loss", ACROSS, lossy)
    forgetting(agents, report, "a black hole for some flows")


def flapping(agents, report):
    agents.switches.set("host:1:0", flap=20)
    agents.expect(report, "a cable that flaps", 180, Expected((), {PORT: "lossy"}, show("loss", BOTH)), patience=1)
    forgetting(agents, report, "a cable that flaps")


def slow_rail(agents, report):
    slower(agents, report, "a rail that takes 20 ms more", "host:1:1", 0.02, RAIL1)


def copies(agents, report):
    agents.switches.set("host:1:0", twice=5, reorder=7)
    agents.expect_only(report, "packets twice and late", 60)


def leaf_reboots(agents, report):
    silent = {**show({"silent", "no_neighbour"}, agents.pairs), **{port: {"unreachable"} for port in agents.ports}}
    agents.switches.set("leaf:0", down=1)
    agents.expect_some(report, "a leaf that reboots", 10, "silent", agents.pairs, silent)
    agents.expect_only(report, "a leaf that reboots", QUIET, Expected(may=silent))
    agents.expect_well(report, "a leaf that has rebooted")


def members_change(agents, report):
    others, node = agents.nodes[:2], agents.nodes[2]
    agents.stop(node)
    for other in others:
        other.must("sed -i 's/, {[^{]*{.node.: .node2.}}//' /run/members.json; ! grep node2 /run/members.json")
    away = Expected(may=show({"peer_down"}, [pair for pair in agents.pairs if pair[2] == "node2"]))
    agents.expect_only(report, "a member that goes", QUIET, away, others)
    report.check("a member that went is probed no more",
                 not any(pair[2] == "node2" for pair in agents.look(others).signs))
    for other in others:
        other.must(f"echo '{agents.members}' >/run/members.json")
    agents.start(node)
    agents.expect_well(report, "a member that comes", 90)


def rotation(agents, report):
    refused = Expected(may=show({"peer_refused", "peer_down", "waiting"}, agents.pairs))
    for secret in (OTHER_SECRET, SECRET):
        for node in (agents.nodes[1], agents.nodes[0], agents.nodes[2]):
            node.must(f"umask 077; echo '{secret}' >/run/secret")
            agents.expect_only(report, f"the secret of {node.name} is replaced", QUIET, refused)
        agents.expect_well(report, "all secrets are replaced", 90)


def child_killed(agents, report):
    away = Expected(may=show({"peer_down", "waiting"}, agents.pairs))
    for _ in range(2):
        agents.nodes[1].must("pkill -9 -x rna-prober")
        agents.expect_only(report, "a prober that is killed", 10, away)
    agents.expect_well(report, "a prober that was killed", 60)


def quiesced(agents, report):
    others = [agents.nodes[number] for number in OTHERS]
    agents.nodes[1].must("kill -USR1 $(</run/agent.pid)")
    agents.expect(report, "a peer that is quiesced", 10, Expected(show("peer_down", OF_NODE1)), others)
    agents.expect_only(report, "a peer that is quiesced", QUIET, Expected(may=show("peer_down", OF_NODE1)), others)
    agents.nodes[1].must("kill -USR2 $(</run/agent.pid)")
    agents.expect_well(report, "a peer that was quiesced", 90)


DEAD = Expected(show("silent", FROM_PORT), {PORT: "unreachable"},
                {**show({"peer_down", "waiting"}, OF_NODE1 + RAIL1),
                 **show({"silent", "no_neighbour", "peer_down", "waiting"}, BOTH)})


def since(agents):
    found = agents.read([agents.nodes[1]])[0][1]["findings"]
    return {finding["since"] for finding in found if finding["rule"] == "probe-unreachable"}


def restarted(agents, report):
    """The finding outlives the agent."""
    node = agents.nodes[1]
    agents.switches.set("host:1:0", down=1)
    agents.expect(report, "a dead cable before a restart", 5, DEAD)
    before = since(agents)
    agents.stop(node)
    agents.start(node, remembers=True)
    node.must("within 90 fetch /api/v1/probes")
    agents.expect(report, "a dead cable after a restart", 15, DEAD)
    report.same("it is as old as before", before, since(agents))
    agents.expect_well(report, "a dead cable after a restart", 90)


def dead_since_boot(agents, report):
    node = agents.nodes[1]
    agents.stop(node)
    agents.switches.set("host:1:0", down=1)
    node.must("ip neigh flush all")
    agents.start(node)
    node.must("within 90 fetch /api/v1/probes")
    agents.expect(report, "a port that is dead since the boot", 30, DEAD)
    agents.expect_well(report, "a port that was dead since the boot", 90)


def two_faults(agents, report):
    """Where the dead cable leaves one pair that answers, no other one says that the port is well."""
    agents.switches.set("host:1:0", down=1)
    agents.switches.set("leaf:1-spine:1", loss=0.02)
    alone = {(node, "rxe0"): {"lossy"} for node in ("node0", "node2")}
    may = {pair: {"silent", "no_neighbour", "loss"} for pair in BOTH + ACROSS}
    agents.expect(report, "2 % on a spine beside a dead cable", 150,
                  Expected(show("silent", FROM_PORT), {PORT: "unreachable", ("node2", "rxe1"): "lossy"},
                           {**may, **alone}), patience=2)
    forgetting(agents, report, "2 % on a spine beside a dead cable")


def some_paths(agents, report, text, limit, sign, **fault):
    agents.switches.set("leaf:0-spine:1>", **fault)
    shown = agents.expect_some(report, text, limit, sign, TO_NODE2)
    agents.expect_lasting(report, text, 60, sign, shown)
    agents.expect_well(report, text, 300)


def dscp_of_spine(agents, report):
    some_paths(agents, report, "a DSCP that one of two spines rewrites", 30, "dscp", dscp=8)


def mtu_of_spine(agents, report):
    some_paths(agents, report, "an MTU hole of one of two spines", 120, "mtu_hole", mtu=500)


def busy_loss(agents, report):
    node = agents.nodes[1]
    node.must("for i in 1 2 3 4; do timeout 180 sh -c 'while :; do :; done' & done; true")
    lossy_cable(agents, report, "a loss of 1 % beside a busy CPU", 60, 3, loss=0.01)


CASES = (no_fault, coverage, strangers, clock_step, busy_cpu, nic, cable, leaf_port, one_way, leaf,
         mtu_hole, dscp, congestion, delay, peer_stopped, peer_killed, peer_frozen, peer_rebooted,
         other_secret, spine, spine_link, loss, small_loss, one_way_loss, black_hole, flapping, slow_rail,
         copies, leaf_reboots, members_change, rotation, child_killed, quiesced, restarted,
         dead_since_boot, two_faults, dscp_of_spine, mtu_of_spine, busy_loss)


def run(results, report, program, names):
    cases = choose(CASES, names)
    with lab.Lab(results, nodes=NODES, rails=RAILS, limit=LIMIT) as one_lab:
        one_lab.switches.layout("rack", 2)
        agents = Agents(one_lab, program, leaf_of)
        for node in one_lab.nodes:
            agents.start(node)
        agents.expect_well(report, "agents that start", 90)
        for case in cases:
            begun = time.monotonic()
            case(agents, report)
            one_lab.switches.clear()
            report.note(f"case {case.__name__}: {time.monotonic() - begun:.0f} s")
