# SPDX-License-Identifier: Apache-2.0
"""Test Anything Protocol."""


class Report:
    def __init__(self):
        self.checks = self.failures = 0

    def check(self, text, good, why=""):
        """One line; why says what was found where good is false."""
        self.checks += 1
        self.failures += not good
        print(f"{'ok' if good else 'not ok'} {self.checks} - {text}", flush=True)
        if not good and why != "":
            self.note(why)
        return bool(good)

    def same(self, text, expected, found):
        return self.check(f"{text}: {expected}", expected == found, f"found: {found}")

    def skip(self, text, why):
        """A check that this machine cannot make."""
        self.checks += 1
        print(f"ok {self.checks} - {text} # SKIP {why}", flush=True)

    @staticmethod
    def note(text):
        for line in str(text).rstrip().splitlines():
            print(f"# {line}", flush=True)

    def finish(self):
        """The status of the program."""
        print(f"1..{self.checks}")
        if self.failures:
            self.note(f"{self.failures} of {self.checks} failed")
        return self.failures > 0
