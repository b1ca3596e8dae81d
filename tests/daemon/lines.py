# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of a directory and prints a line for each, two per core at a time.

Tests mostly wait, so several run at once, in worker processes of this program. Each worker has
ports, directories and memory of its own, and runs one test at a time, or a class whose tests share
a setup. Tests that measure are marked with @alone and run alone, after all others have ended.
"""
import collections
import io
import json
import os
import socket
import subprocess
import sys
import threading
import time
import unittest

WORKER = "RNA_TEST_WORKER"  # the descriptor on which a worker gets its tests


def alone(test):
    """Marks a test or a class: it measures time or CPU, and others beside it would be measured too."""
    test.alone = True
    return test


def long(test):
    """Marks a test or a class: it takes so long that it is begun first, lest all wait for it at the end."""
    test.long = True
    return test


class Lines(unittest.TestResult):
    """One line for each test, details right behind it: what was printed, what went wrong."""

    def __init__(self, tell):
        super().__init__()
        self.tell, self.failed, self.stdout = tell, 0, sys.stdout

    def startTest(self, test):
        super().startTest(test)
        self.started = time.monotonic()
        sys.stdout = io.StringIO()

    def stopTest(self, test):
        super().stopTest(test)
        sys.stdout = self.stdout

    def line(self, word, test, details=""):
        name = test.id() if isinstance(test, unittest.TestCase) else str(test)
        seconds = time.monotonic() - getattr(self, "started", time.monotonic())
        printed = sys.stdout.getvalue() if sys.stdout is not self.stdout else ""
        self.tell(line=f"{word:4} {name} {seconds:.1f} s\n{printed}{details}")

    def fail(self, test, details):
        self.failed += 1
        self.line("FAIL", test, details)

    def addSuccess(self, test):
        self.line("ok", test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.line("skip", test, f"     {reason}\n")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.fail(test, self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self.fail(test, self.errors[-1][1])

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.fail(test, "     it was expected to fail\n")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.fail(subtest, (self.failures + self.errors)[-1][1])

    @property
    def counts(self):
        return {"tests": self.testsRun, "failed": self.failed, "skipped": len(self.skipped)}


class Unit:
    """What a worker takes at a time: a test, or those of a class that have a set-up in common."""

    def __init__(self, tests):
        self.suite, self.name, self.tests = unittest.TestSuite(tests), tests[0].id(), len(tests)
        self.alone, self.long = self.is_marked(tests[0], "alone"), self.is_marked(tests[0], "long")

    @staticmethod
    def is_marked(test, mark):
        return hasattr(test, mark) or hasattr(getattr(test, test._testMethodName, None), mark)


def cases(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from cases(test)
        else:
            yield test


def load(directory, names):
    """The same in each process: [Unit]."""
    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*{name}*" for name in names] or None
    units, classes = [], collections.defaultdict(list)
    for test in cases(loader.discover(directory, "test_*.py")):
        kind = type(test)
        if kind.setUpClass.__func__ is unittest.TestCase.setUpClass.__func__:
            units.append([test])
            continue
        if kind not in classes:
            units.append(classes[kind])
        classes[kind].append(test)
    return [Unit(tests) for tests in units]


def work(units):
    """A worker: runs the units whose numbers come, tells lines and then the counts of each."""
    fd = int(os.environ.pop(WORKER))
    os.set_inheritable(fd, False)
    with socket.socket(fileno=fd) as sock, sock.makefile("rw", encoding="utf-8") as channel:

        def tell(**message):
            print(json.dumps(message), file=channel, flush=True)

        for number in channel:
            result = Lines(tell)
            units[int(number)].suite.run(result)
            tell(**result.counts)
    return 0


class Worker:
    """A worker as its employer sees it."""

    def __init__(self):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            self.process = subprocess.Popen(
                [sys.executable, *sys.argv], stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()],
                env={**os.environ, WORKER: str(theirs.fileno())})
            self.channel = ours.makefile("rw", encoding="utf-8")

    def run(self, number, tell):
        """The counts, None when it died over it."""
        try:
            print(number, file=self.channel, flush=True)
            for text in self.channel:
                message = json.loads(text)
                if "line" not in message:
                    return message
                tell(message["line"])
        except (OSError, ValueError):
            pass  # it died in the middle of a word
        return None

    def end(self):
        try:
            self.channel.close()
        except OSError:
            pass  # it died before
        return self.process.wait()


def share(units, tell):
    """A thread and its workers, until no unit is left. Returns the counts of what it has done."""
    counts, worker = collections.Counter(), None
    while units:
        try:
            number, unit = units.popleft()
        except IndexError:
            break  # another worker was faster
        worker = worker or Worker()
        done = worker.run(number, tell)
        if done is None:
            tell(f"FAIL {unit.name}\n     the worker died over it, status {worker.end()}\n")
            done, worker = {"tests": unit.tests, "failed": 1, "skipped": 0}, None
        counts.update(done)
    if worker and (status := worker.end()):
        tell(f"FAIL a worker ended with status {status}\n")
        counts["failed"] += 1
    return counts


def employ(units, workers):
    """Has so many workers run [(number, unit)], and prints what they tell. Returns the counts."""
    units, total, lock = collections.deque(units), collections.Counter(), threading.Lock()

    def tell(text):
        with lock:
            print(text, end="", flush=True)

    def thread():
        counts = share(units, tell)
        with lock:
            total.update(counts)

    threads = [threading.Thread(target=thread) for _ in range(min(workers, len(units)))]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return total


def run(directory, names):
    """names: parts of the names of those to run; none means all. Returns an exit status."""
    units = load(directory, names)
    if WORKER in os.environ:
        return work(units)
    numbered = sorted(enumerate(units), key=lambda entry: not entry[1].long)
    workers = 2 * max(2, len(os.sched_getaffinity(0)))
    total = employ([entry for entry in numbered if not entry[1].alone], workers)
    total += employ([entry for entry in numbered if entry[1].alone], 1)
    skipped = f", {total['skipped']} skipped" if total["skipped"] else ""
    print(f"{total['tests']} tests, {total['failed']} failed{skipped}")
    return 0 if total["tests"] and not total["failed"] else 1
