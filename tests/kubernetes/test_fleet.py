# SPDX-License-Identifier: Apache-2.0
"""A fleet of agents and its API server: thousands of clients, each with its own rounds and pace
(fleet.c), whose requests really go to the double, over TLS. Time is virtual for both.

Each phase reports the load in a line; the bounds are those that helm/README.md promises.
"""
import collections
import math
import os
import subprocess
import tempfile
import unittest

import agent
import api
import cluster
from lines import long

AGENTS = int(os.environ.get("RNA_TEST_FLEET", "2000"))
FEW = max(AGENTS // 10, 40)  # whom a server refuses again and again
FIRST_DELAY, SPREAD = 30, 120  # seconds; the defaults
MINUTE = 60


def bound(window):
    """Writes a second when all write within window, at random: three each, and five deviations."""
    awake = AGENTS / window
    return 3 * (awake + 5 * math.sqrt(awake))


class Fleet:
    """In a with statement. Time stands still but in run()."""

    def __init__(self, double, agents, *leases):
        self.api, self.agents, self.now, self.second = double, agents, 0, 0
        self.leases = leases
        double.clock = lambda: self.second
        double.nodes = {f"node-{i}": api.Node(f"node-{i}") for i in range(agents)}
        for node in double.nodes.values():
            node.images = 0  # 90 kB for each look, which say nothing

    def __enter__(self):
        self.process = subprocess.Popen([cluster.fleet, str(self.agents), self.api.kubeconfig(),
                                         *self.leases],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        assert self.process.wait(cluster.PATIENCE) == 0

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def change(self):
        self.say("change")

    def run(self, seconds, what=None):
        """How many Nodes are not as their agents want; reports the load where it has a name."""
        first, since = self.now, len(self.api.log)
        self.now += seconds
        self.say(f"run {seconds}")
        for line in self.process.stdout:
            if line.startswith("done "):
                break
            self.second = int(line)
            self.say("go")
        self.load = Load(self.api.log[since:], first, self.now)
        if what:
            print(f"     {self.agents} agents, {what}: {self.load}", flush=True)
        return int(line.split()[1])


class Load:
    """Of what was asked from one second to another."""

    def __init__(self, records, first, end):
        self.length = end - first
        self.asked = collections.Counter(r.time for r in records)
        self.written = collections.Counter(r.time for r in records
                                           if r.method != "GET" and r.status in (200, 201))
        self.refused = sum(r.status == 429 for r in records)

    def mean(self, counter):
        return sum(counter.values()) / self.length

    def peak(self, counter):
        return max(counter.values(), default=0)

    def __str__(self):
        return (f"writes/s peak {self.peak(self.written)}, mean {self.mean(self.written):.1f}; "
                f"requests/s peak {self.peak(self.asked)}, mean {self.mean(self.asked):.1f}; "
                f"{self.refused} answered 429")


class WithDouble(unittest.TestCase):
    def setUp(self):
        if cluster.REAL:
            self.skipTest("needs the double, and RNA_TEST_KUBECONFIG names a real API server")
        directory = self.enter(tempfile.TemporaryDirectory(prefix="rna-fleet-"))
        self.api = self.enter(api.Api(directory, port=agent.free_port()))

    def enter(self, context):
        value = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return value


class Limit(WithDouble):
    AGENTS, LEASES = 120, 3

    def tainted(self):
        return sum(any(taint["key"] == cluster.TAINT for taint in node.taints)
                   for node in self.api.nodes.values())

    def test_all_are_sick_at_once(self):
        self.api.rules |= {"list leases in rdma", "patch leases in rdma"}
        self.api.make_leases("rdma", "taints", self.LEASES)
        fleet = self.enter(Fleet(self.api, self.AGENTS, "rdma/taints"))
        fleet.change()
        fleet.run(2 * FIRST_DELAY)
        fleet.change()
        for _ in range(SPREAD // 10):
            fleet.run(10)
            self.assertLessEqual(self.tainted(), self.LEASES)
        fleet.run(1)
        self.assertEqual(self.tainted(), self.LEASES)
        held = {lease["spec"]["holderIdentity"] for lease in self.api.leases.values()}
        self.assertEqual(len(held), self.LEASES)
        since = len(self.api.log)
        fleet.run(45 * MINUTE, "all are sick")
        asked = [r for r in self.api.log[since:] if "/leases" in r.path]
        self.assertLessEqual(len([r for r in asked if r.method == "GET"]), 2 * self.AGENTS)
        self.assertEqual({r.status for r in asked}, {200})
        self.assertEqual({lease["spec"]["holderIdentity"] for lease in self.api.leases.values()}, held)
        fleet.change()
        self.assertEqual(fleet.run(SPREAD + 1), 0)
        self.assertEqual((self.tainted(), [lease["spec"] for lease in self.api.leases.values()]),
                         (0, [{}] * self.LEASES))


@long
class Fleets(WithDouble):
    def assert_roce(self, value):
        """Of all Nodes, as the double has them."""
        wrong = [name for name, node in self.api.nodes.items()
                 if node.labels.get("network.nvidia.com/roce") != value]
        self.assertEqual(wrong, [])

    def assert_writes(self, most, mean=None):
        self.assertLessEqual(self.fleet.load.peak(self.fleet.load.written), most)
        if mean:
            self.assertLessEqual(self.fleet.load.mean(self.fleet.load.written), mean)

    def test_a_bad_day(self):
        fleet = self.fleet = self.enter(Fleet(self.api, AGENTS))
        fleet.change()
        self.assertEqual(fleet.run(FIRST_DELAY + 1, "all start within a second"), 0)
        self.assert_writes(bound(FIRST_DELAY), 3 * AGENTS / FIRST_DELAY)
        self.assert_roce("true")

        fleet.run(10 * MINUTE)
        fleet.change()
        self.assertEqual(fleet.run(SPREAD + 1, "a spine switch restarts"), 0)
        self.assert_writes(bound(SPREAD), 3 * AGENTS / SPREAD)
        self.assert_roce(None)

        self.api.stop()
        fleet.change()
        self.assertEqual(fleet.run(15 * MINUTE), AGENTS)
        self.api.start()
        self.assertEqual(fleet.run(6 * MINUTE, "the API server is back after a quarter"), 0)
        self.assert_writes(bound(SPREAD))
        self.assert_roce("true")

    def test_a_server_that_takes_little(self):
        """It answers 429 to most; nothing collapses, and all get through."""
        fleet = self.fleet = self.enter(Fleet(self.api, FEW))
        self.api.capacity = max(FEW // 100, 4)
        fleet.change()
        behind = fleet.run(20 * MINUTE, f"{self.api.capacity} requests a second, 429 to the rest")
        self.assertGreater(fleet.load.refused, 0)
        self.assertLessEqual(fleet.load.peak(fleet.load.written), self.api.capacity)
        self.assertLess(behind, FEW // 10)
        self.api.capacity = None
        self.assertEqual(fleet.run(11 * MINUTE), 0)
        self.assert_roce("true")
