# SPDX-License-Identifier: Apache-2.0
"""Agents on three nodes that probe each other: four faults, and what the agents say of them."""
import time

import lab
from agents import Agents, Expected

NODES, RAILS = 3, 2
PORT = ("node1", "rxe0")
TO_PORT = [("node0", "rxe0", "node1"), ("node2", "rxe0", "node1")]
FROM_PORT = [("node1", "rxe0", "node0"), ("node1", "rxe0", "node2")]


def show(sign, pairs):
    return dict.fromkeys(pairs, sign)


def no_fault(agents, report):
    took = agents.wait_until_well(90)
    report.check("all pairs run, and all ports are well", took is not None,
                 agents.read() if took is None else "")
    if took is not None:
        report.note(f"that took {took:.1f} s")
    agents.expect_only(report, "no fault", 10)


def cable(agents, report):
    agents.switches.set("host:1:0", down=1)
    agents.expect(report, "a dead cable", 5,
                  Expected(show("silent", TO_PORT + FROM_PORT), {PORT: "unreachable"},
                           show("no_neighbour", TO_PORT + FROM_PORT)))
    agents.expect_well(report, "a dead cable")


def mtu_hole(agents, report):
    agents.switches.set("host:1:0<", mtu=500)
    agents.expect(report, "an MTU hole", 30, Expected(show("mtu_hole", TO_PORT)))
    agents.expect_well(report, "an MTU hole")
    agents.expect_only(report, "ten seconds after the MTU hole", 10)


def loss(agents, report):
    """On a busy machine an HTTP server answers late, and is called down for a moment: that is a state,
    and blames nothing."""
    agents.switches.set("host:1:0", loss=0.01)
    agents.expect(report, "a loss of 1 % on a cable", 60,
                  Expected((), {PORT: "lossy"}, {**show({"peer_down"}, agents.pairs),
                                                 **show({"loss", "peer_down"}, TO_PORT + FROM_PORT)}))


CASES = (no_fault, cable, mtu_hole, loss)  # losses are remembered for ten minutes


def choose(cases, names):
    known = {case.__name__: case for case in cases}
    unknown = set(names) - set(known)
    if unknown:
        raise SystemExit(f"no case {' '.join(unknown)}; there are: {' '.join(known)}")
    return [known[name] for name in names] or cases


def run(results, report, program, names):
    cases = choose(CASES, names)
    with lab.Lab(results, nodes=NODES, rails=RAILS, limit=1500) as one_lab:
        one_lab.switches.layout("rail")
        agents = Agents(one_lab, program, lambda node, rail: f"leaf-{rail}")
        for node in one_lab.nodes:
            agents.start(node)
        for case in cases:
            begun = time.monotonic()
            case(agents, report)
            report.note(f"case {case.__name__}: {time.monotonic() - begun:.0f} s")
