# SPDX-License-Identifier: Apache-2.0
"""The runner of these tests itself: the results of several processes are complete."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

import agent

RUN = f"""
import sys
sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})
import lines
sys.exit(lines.run({{directory!r}}, sys.argv[1:]))
"""
TESTS = """
import os, threading, unittest
from lines import alone

class Good(unittest.TestCase):
    def test_prints(self):
        print("     first\\n     second")

    def test_skips(self):
        self.skipTest("because")

    @alone
    def test_alone(self):
        print("     one at a time")

class Bad(unittest.TestCase):
    def test_fails(self):
        self.assertEqual(1, 2)

    def test_dies(self):
        os._exit(7)

class Shared(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pid = os.getpid()

    def test_one(self):
        self.assertEqual(self.pid, os.getpid())

    test_two = test_one
"""


class Runner(unittest.TestCase):
    def run_tests(self, *names):
        """(status, output, its last line)"""
        with tempfile.TemporaryDirectory() as directory:
            for name, text in (("test_it.py", TESTS), ("run", RUN.format(directory=directory))):
                with open(f"{directory}/{name}", "w", encoding="utf-8") as file:
                    file.write(text)
            done = subprocess.run([sys.executable, f"{directory}/run", *names], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                                  timeout=agent.PATIENCE)
            return done.returncode, done.stdout, done.stdout.splitlines()[-1]

    def test_good_and_bad(self):
        status, text, last = self.run_tests()
        self.assertEqual((status, last), (1, "7 tests, 2 failed, 1 skipped"), text)
        self.assertRegex(text, r"(?m)^ok   test_it.Good.test_prints .* s\n     first\n     second\n")
        self.assertRegex(text, r"(?m)^skip test_it.Good.test_skips .* s\n     because\n")
        self.assertRegex(text, r"(?m)^FAIL test_it.Bad.test_fails .* s\nTraceback")
        self.assertIn("FAIL test_it.Bad.test_dies\n     the worker died over it, status 7\n", text)
        self.assertEqual(len(re.findall(r"(?m)^ok ", text)), 4)

    def test_who_is_alone_comes_last(self):
        _, text, _ = self.run_tests()
        self.assertRegex(text.splitlines()[-3], "^ok   test_it.Good.test_alone ")

    def test_names(self):
        self.assertEqual(self.run_tests("Good", "two")[::2], (0, "4 tests, 0 failed, 1 skipped"))
        self.assertEqual(self.run_tests("nowhere")[::2], (1, "0 tests, 0 failed"))
