# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of a directory, a line for each."""
import time
import unittest


class Lines(unittest.TestResult):
    """One line for each test, details right behind it."""

    def startTest(self, test):
        super().startTest(test)
        self.started = time.monotonic()

    def line(self, word, test, details=""):
        name = test.id() if isinstance(test, unittest.TestCase) else str(test)
        seconds = time.monotonic() - getattr(self, "started", time.monotonic())
        print(f"{word:4} {name} {seconds:.1f} s\n{details}", end="", flush=True)

    def addSuccess(self, test):
        self.line("ok", test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.line("skip", test, f"     {reason}\n")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.line("FAIL", test, self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self.line("FAIL", test, self.errors[-1][1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.line("FAIL", subtest, (self.failures + self.errors)[-1][1])


def run(directory, names):
    """names: parts of the names of those to run; none means all. Returns an exit status."""
    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*{name}*" for name in names] or None
    result = Lines()
    loader.discover(directory, "test_*.py").run(result)
    skipped = f", {len(result.skipped)} skipped" if result.skipped else ""
    print(f"{result.testsRun} tests, {len(result.failures) + len(result.errors)} failed{skipped}")
    return 0 if result.wasSuccessful() and result.testsRun else 1
