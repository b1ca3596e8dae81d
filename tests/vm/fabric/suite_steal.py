# SPDX-License-Identifier: Apache-2.0
"""Agents that probe each other while the CPU is stolen from their nodes: nothing may be blamed.

VMs stand still for moments, alone or together, and programs in them take the CPU. That lasts for
RNA_STEAL_SECONDS, by default two minutes; issue figures are of 1800.
"""
import os
import random
import signal
import threading
import time

import lab
from agents import Agents, Expected
from suite_probe import NODES, RAILS

SECONDS = int(os.environ.get("RNA_STEAL_SECONDS", "120"))
SHORTEST, LONGEST = 0.02, 4  # of a stop; most are short
APART = 4  # seconds at most between two stops of one VM


# Of a node: packets that its prober did not answer, by reason.
UNANSWERED = "fetch /metrics | grep '^rdma_probe_strangers_total.* [1-9]'"


class Thief(threading.Thread):
    """Stops one VM again and again. Draws from a seed, so that a run can be repeated."""

    def __init__(self, node):
        super().__init__(daemon=True)
        self.node, self.done = node, threading.Event()
        self.random = random.Random(node.number)
        self.stolen, self.stops = 0.0, 0

    def run(self):
        group = self.node.process.pid
        while not self.done.wait(self.random.uniform(0, APART)):
            length = SHORTEST * (LONGEST / SHORTEST) ** self.random.random()
            os.killpg(group, signal.SIGSTOP)
            begun = time.monotonic()
            self.done.wait(length)
            os.killpg(group, signal.SIGCONT)
            self.stolen += time.monotonic() - begun
            self.stops += 1

    def stop(self):
        self.done.set()
        self.join()


def totals(agents):
    """Of all pairs: sent, answered, lost, void."""
    sums = dict.fromkeys(("sent", "answered", "lost", "void"), 0)
    for probes, _ in agents.read():
        for pair in probes["pairs"]:
            for name in sums:
                sums[name] += pair["total"][name]
    return sums


def steal(agents, report):
    # A peer that stands still for longer than its patience is away, and says so itself.
    away = Expected(may=dict.fromkeys(agents.pairs, {"peer_down"}))
    thieves = [Thief(node) for node in agents.nodes]
    for node in agents.nodes:
        node.must(f"timeout {SECONDS} sh -c 'while :; do :; done' & true")
    for thief in thieves:
        thief.start()
    try:
        agents.expect_only(report, "CPU stolen", SECONDS, away)
    finally:
        for thief in thieves:
            thief.stop()
    for thief in thieves:
        report.note(f"{thief.node.name} stood still {thief.stops} times, {thief.stolen:.0f} s of {SECONDS} s")
    report.note(totals(agents))
    for node in agents.nodes:
        report.note(f"{node.name}: {node.run(UNANSWERED)[1]}")


def run(results, report, program, names):
    if names:
        raise SystemExit("this suite has no cases")
    with lab.Lab(results, nodes=NODES, rails=RAILS, limit=SECONDS + 900) as one_lab:
        one_lab.switches.layout("rack", 2)
        agents = Agents(one_lab, program, lambda node, _: f"leaf-{node // 2}")
        for node in one_lab.nodes:
            agents.start(node)
        agents.expect_well(report, "agents that start", 90)
        steal(agents, report)
        agents.expect_well(report, "stealing ends", 60)
