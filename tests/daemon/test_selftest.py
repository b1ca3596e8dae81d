# SPDX-License-Identifier: Apache-2.0
"""The self-test on nodes without a port to test: requests and messages. vm-selftest tests devices."""
import json
import os
import subprocess
import unittest

import agent as this
from agent import PATIENCE, QUIET, Agent

NOTHING = "this node has no RDMA port to test"


class Asked(Agent):
    """With a control socket of its own."""

    @property
    def socket(self):
        return f"{self.directory}/control"

    def write_config(self, poll=None, extra=""):
        if self.root != "/":
            extra += f'control: {{socket: "{self.socket}"}}\n'
        super().write_config(poll, extra)

    def selftest(self, *arguments):
        return self.ask("selftest", *arguments)

    def ask(self, command, *arguments):
        return subprocess.run([this.binary, command, "--config", self.config, *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=PATIENCE, check=False)


class SelfTest(unittest.TestCase):
    def assert_nothing_was_tested(self, agent):
        self.assertFalse([name for name, _ in agent.metrics() if name.startswith("rdma_selftest_")])
        self.assertEqual(json.loads(agent.get("/api/v1/selftest").text)["ports"], [])

    def assert_refused(self, done, message):
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn(message, done.stderr)

    @unittest.skipIf(os.path.isdir("/sys/class/infiniband"), "this node has RDMA")
    def test_a_node_without_devices(self):
        with Asked(poll=QUIET) as agent:
            self.assertTrue(os.path.exists(agent.socket))
            self.assert_refused(agent.selftest(), NOTHING)
            self.assert_refused(agent.selftest("--json", "--device", "mlx5_0"),
                                'no port matches "mlx5_0"')
            self.assert_nothing_was_tested(agent)
            agent.stop()
            self.assertFalse(os.path.exists(agent.socket))
            agent.write_config()
            self.assert_refused(agent.selftest(), NOTHING)  # by itself, then

    def test_a_recording(self):
        """Its agent is not whom commands of this node look for, and tests nothing."""
        with Asked("roce-8rail", poll=QUIET) as agent:
            self.assertFalse(os.path.exists(agent.socket))
            self.assert_refused(agent.selftest("--root", agent.root),
                                "--root: the self-test only works with devices of this node")
            self.assert_nothing_was_tested(agent)

    def test_wishes_without_sense(self):
        with Asked("roce-8rail", poll=QUIET) as agent:
            for wish, message in (("--size=1", "--size"), ("--qps=99", "--qps"),
                                  ("--numa=x", "--numa"), ("--duration=1h", "--duration")):
                self.assert_refused(agent.selftest(*wish.split("=")), message)
