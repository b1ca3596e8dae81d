# SPDX-License-Identifier: Apache-2.0
"""quiesce and resume: by command, by signal, and without a running agent. vm-systemd tests
that nothing stays open then."""
import os
import signal
import unittest

from agent import QUIET, Agent, wait
from test_selftest import Asked

QUIESCED = "rdma_agent_quiesced"
EXIT_FAILURE, EXIT_USAGE = 1, 2


class Quiesce(unittest.TestCase):
    def assert_says(self, done, status, text):
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(text, done.stdout if status == 0 else done.stderr)

    @unittest.skipIf(os.path.isdir("/sys/class/infiniband"), "this node has RDMA")
    def test_by_command(self):
        with Asked(poll=QUIET) as agent:
            self.assertEqual(agent.metric(QUIESCED), 0)
            self.assert_says(agent.ask("quiesce"), 0, "quiesced, nothing of the RDMA stack is open")
            self.assertEqual(agent.metric(QUIESCED), 1)
            self.assertIn("quiesced, requested until", agent.get("/").text)
            self.assertIn('"quiesced_because": "requested', agent.get("/api/v1/snapshot").text)
            self.assert_says(agent.selftest(), 3, "The agent is quiesced.")
            self.assert_says(agent.ask("resume"), 0, "resumed")
            self.assertEqual(agent.metric(QUIESCED), 0)
            self.assertNotIn("quiesced", agent.get("/").text)

    @unittest.skipIf(os.path.isdir("/sys/class/infiniband"), "this node has RDMA")
    def test_it_ends_by_itself(self):
        with Asked(poll=QUIET) as agent:
            self.assert_says(agent.ask("quiesce", "--timeout", "1s"), 0, "quiesced")
            wait("the end", lambda: agent.metric(QUIESCED) == 0)
            self.assertIn("quiesce has ended", agent.log())

    @unittest.skipIf(os.path.isdir("/sys/class/infiniband"), "this node has RDMA")
    def test_wrong_timeout(self):
        with Asked(poll=QUIET) as agent:
            for timeout, words in (("0s", "0s is not a duration from 1s to 7d"),
                                   ("8d", "8d is not a duration from 1s to 7d"),
                                   ("soon", '"soon" is not a duration')):
                self.assert_says(agent.ask("quiesce", "--timeout", timeout), EXIT_USAGE,
                                 f"--timeout: {words}")
            self.assertEqual(agent.metric(QUIESCED), 0)

    def test_by_signal(self):
        """Of any agent, where no command can reach it as well."""
        with Agent("roce-8rail", poll=QUIET) as agent:
            agent.process.send_signal(signal.SIGUSR1)
            wait("the quiesce", lambda: agent.metric(QUIESCED) == 1)
            agent.process.send_signal(signal.SIGUSR2)
            wait("its end", lambda: agent.metric(QUIESCED) == 0)

    def test_nobody_to_ask(self):
        agent = Asked("roce-8rail", poll=QUIET)
        try:
            agent.write_config()
            for command in ("quiesce", "resume"):
                self.assert_says(agent.ask(command), EXIT_FAILURE,
                                 f"{agent.socket}: no agent listens on this socket; is it running?")
            with open(agent.config, encoding="utf-8") as file:
                text = file.read().replace(agent.socket, "")
            with open(agent.config, "w", encoding="utf-8") as file:
                file.write(text)
            self.assert_says(agent.ask("quiesce"), EXIT_FAILURE, "control.socket is empty")
        finally:
            agent.kill()
