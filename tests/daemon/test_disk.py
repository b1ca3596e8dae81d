# SPDX-License-Identifier: Apache-2.0
"""The state directory with faults: the agent is killed at any system call, and the disk fails."""
import errno
import os
import re
import signal
import subprocess
import time
import unittest

import agent as agent_module
from agent import STOP, stretched, wait
from lines import long
from test_memory import EVENTS, Remembering

CALLS_MAX = 80  # that a start and a write make; more is a fault of this test
PORT = "sys/class/infiniband/rxe2/ports/1"
FILES = {"memory.json", "problems.json"} | EVENTS
REFUSALS = (("write", errno.ENOSPC), ("openat", errno.EROFS), ("openat", errno.ENOSPC),
            ("write", errno.EIO), ("fsync", errno.EIO), ("fsync", errno.ENOSPC),
            ("renameat", errno.EROFS), ("renameat", errno.EIO))
COMPLAINT = "state will be lost when the agent ends"
NEWS = "persisting state again"
HANGS, ANSWERS = "the file system does not respond; nothing is persisted", "the file system responds again"


def library():
    """faults.c, which counts the calls below a directory, and makes them fail."""
    build = os.path.dirname(os.path.dirname(agent_module.binary))
    return f"{build}/tests/faults/libfaults.so"


def needs_library(test):
    if not os.path.exists(library()):
        test.skipTest(f"{library()} is not built")
    with open(agent_module.binary, "rb") as file:
        if b"libtsan.so" in file.read():
            test.skipTest("TSan wants to be the first library")


class Refused(Remembering):
    """Of the port that changes, rxe2, the memory knows nothing at first."""

    def __init__(self):
        super().__init__("rxe")
        self.calls, self.refusal = f"{self.directory}/calls", f"{self.directory}/refusal"

    def environment(self, **variables):
        return {**os.environ, "LD_PRELOAD": library(), "RNA_FAULTS_UNDER": self.state,
                "RNA_FAULTS_LOG": self.calls,
                "ASAN_OPTIONS": f"verify_asan_link_order=0:{os.environ.get('ASAN_OPTIONS', '')}",
                **variables}

    def calls_made(self):
        """The words of each line that the library wrote."""
        if not os.path.exists(self.calls):
            return []
        with open(self.calls, encoding="utf-8") as file:
            return [line.split() for line in file.read().splitlines()]

    def knows(self):
        """Was the port ever up? What is read must be whole."""
        device = self.memory().get("rxe2", {"ports": [{}]})
        return "first_active" in device["ports"][0]

    def has_written(self):
        return os.path.exists(f"{self.state}/memory.json") and self.knows()

    def turn(self, up):
        self.write(f"{PORT}/phys_state", "5: LinkUp" if up else "3: Disabled")
        self.write(f"{PORT}/state", "4: ACTIVE" if up else "1: DOWN")


@long
class Killed(unittest.TestCase):
    """Between two calls nothing changes on the disk, so before each of them is at any time."""

    def setUp(self):
        needs_library(self)

    def start_over(self, agent, before):
        """The memory of before, and a change that is to be written."""
        for name in os.listdir(agent.state):
            os.unlink(f"{agent.state}/{name}")
        with open(f"{agent.state}/memory.json", "w", encoding="utf-8") as file:
            file.write(before)
        if os.path.exists(agent.calls):
            os.unlink(agent.calls)

    def survive(self, agent, number):
        """False: there is no such call before the change is on the disk."""
        agent.start(env=agent.environment(RNA_FAULTS_FAIL=f"{number}:before"))
        wait(f"death at call {number}, or the change", lambda: agent.process.poll() is not None or (
            agent.has_written() and ["place", str(number)] not in [c[:2] for c in agent.calls_made()]
            and agent.calls_made()[-1][2] == "fsync"))
        if agent.process.poll() is None:
            agent.stop()
            return False
        self.assertEqual(agent.process.returncode, -signal.SIGKILL, agent.log())
        self.assertIn("rxe0", agent.memory())  # before or after the change, and whole
        agent.start()
        wait("the change", agent.has_written)
        wait("readiness", agent.is_ready)
        self.assertEqual(agent.stop()[0], 0)
        # a history that was new then is written over with its next line
        self.assertLessEqual(set(os.listdir(agent.state)), FILES | {f"{name}.new" for name in EVENTS})
        self.assertTrue(agent.knows())
        return True

    def test_at_any_call(self):
        with Refused() as agent:
            wait("a file", agent.memory)
            agent.stop()
            self.assertFalse(agent.knows())
            with open(f"{agent.state}/memory.json", encoding="utf-8") as file:
                before = file.read()
            agent.turn(up=True)
            survived = []
            for number in range(1, CALLS_MAX):
                with self.subTest(number):
                    self.start_over(agent, before)
                    if not self.survive(agent, number):
                        break
                    survived.append(agent.calls_made()[-2][2])
            # what it was killed before: reading, and each step of writing
            for function in "openat", "write", "fsync", "renameat":
                self.assertIn(function, survived)
            self.assertNotIn("damaged", agent.log())


@long
class Refusing(unittest.TestCase):
    """A refusal is said once, costs nothing that was written, and ends."""

    def setUp(self):
        needs_library(self)

    def test_all(self):
        with Refused() as agent:
            agent.stop()
            agent.start(env=agent.environment(RNA_FAULTS_FILE=agent.refusal))
            wait("readiness", agent.is_ready)
            for number, (function, error) in enumerate(REFUSALS):
                with self.subTest(f"{function}: {errno.errorcode[error]}"):
                    wait("a file", lambda: "rxe0" in agent.memory())
                    self.refuse(agent, function, error)
                    agent.turn(up=number % 2 == 0)
                    self.check(agent, function, error, tries=3 if number == 0 else 1)

    def refuse(self, agent, function, error):
        agent.seen = {text: agent.log().count(text) for text in (COMPLAINT, NEWS)}
        agent.before, agent.tried = agent.memory(), self.count_tries(agent)
        agent.since = time.monotonic()
        with open(f"{agent.refusal}.new", "w", encoding="utf-8") as file:
            file.write(f"{function}:{error}")
        os.rename(f"{agent.refusal}.new", agent.refusal)

    def check(self, agent, function, error, tries):
        wait("the tries", lambda: self.count_tries(agent) >= agent.tried + tries)
        made, seconds = self.count_tries(agent) - agent.tried, time.monotonic() - agent.since
        self.assertLessEqual(2 ** made - 2, seconds + 1)  # the pauses between: 2, 4, 8 s and so on
        wait("a complaint", lambda: agent.log().count(COMPLAINT) == agent.seen[COMPLAINT] + 1)
        self.assertRegex(agent.log(), rf"cannot write [\w-]+\.jsonl?: {re.escape(os.strerror(error))}; "
                                      rf"{COMPLAINT}")
        if function != "fsync":  # which is called for the directory as well, after the change
            self.assertEqual(agent.memory(), agent.before)
        os.unlink(agent.refusal)
        wait("good news", lambda: agent.log().count(NEWS) == agent.seen[NEWS] + 1)
        self.assertEqual(agent.log().count(COMPLAINT), agent.seen[COMPLAINT] + 1)
        self.assertLessEqual(set(os.listdir(agent.state)), FILES)
        self.assertIn("rxe0", agent.memory())

    @staticmethod
    def count_tries(agent):
        return sum(words[0] == "failed" for words in agent.calls_made())


@long
class Hanging(unittest.TestCase):
    """A disk that does not answer, as NFS without its server: only one thread waits for it."""

    def setUp(self):
        needs_library(self)

    def start(self, agent):
        """Until a call hangs."""
        agent.start(env=agent.environment(RNA_FAULTS_FILE=agent.refusal))
        wait("readiness", agent.is_ready)
        with open(agent.refusal, "w", encoding="utf-8") as file:
            file.write("fsync:hang")
        agent.turn(up=True)
        wait("a call that hangs", lambda: ["failed", "fsync"] in agent.calls_made())

    def test_all(self):
        with Refused() as agent:
            agent.stop()
            self.start(agent)
            wait("a complaint", lambda: agent.log().count(HANGS) == 1)
            agent.wait_snapshots(3)
            agent.turn(up=False)
            wait("the port to be down", lambda: agent.metric(
                "rdma_port_up", device="rxe2", port="1") == 0)
            self.assertFalse(agent.knows())
            os.unlink(agent.refusal)
            wait("what it did not write", agent.knows)
            wait("good news", lambda: agent.log().count(ANSWERS) == 1)
            self.assertEqual(agent.log().count(HANGS), 1)

    def test_stop(self):
        with Refused() as agent:
            agent.stop()
            self.start(agent)
            status, seconds = agent.stop()
            self.assertEqual(status, 0)
            self.assertLess(seconds, stretched(STOP))
