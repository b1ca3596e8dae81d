# SPDX-License-Identifier: Apache-2.0
"""The agent with faults.c preloaded: one run and its result."""
import collections
import os
import re
import subprocess
import tempfile

PATIENCE = 120  # seconds for one run; it is hung then
CONFIG = "poll: {deadline: 2s, handover: 200ms}\n"

SANITIZERS = {
    # the library is loaded first, and passes on what it replaces to the sanitizer's
    "ASAN_OPTIONS": "verify_asan_link_order=0:detect_stack_use_after_return=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
}

Place = collections.namedtuple("Place", "key function frames")


class Run:
    """status: None when it hung. left: how many descriptors of which kind were open at the end."""

    def __init__(self, status, output, errors, log):
        self.status, self.output, self.errors = status, output, errors
        self.sanitizer = bool(re.search("Sanitizer|runtime error:", errors))
        lines = [line.split() for line in log.splitlines()]
        self.failed = any(line[0] == "failed" for line in lines)
        self.left = collections.Counter(re.sub(r"\[\d+\]|.*/recorded\b", "", line[2])
                                        for line in lines if line[0] == "left")
        self.places = {line[1]: Place(line[1], line[2], line[3:])
                       for line in lines if line[0] == "place"}

    def same(self, other):
        return (self.status, self.output) == (other.status, other.output)


class Program:
    def __init__(self, build, directory):
        self.binary = f"{build}/agent/rdma-node-agent"
        self.library = f"{build}/tests/faults/libfaults.so"
        self.directory, self.config = directory, f"{directory}/agent.yaml"
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(CONFIG)

    def root(self, machine):
        return f"{self.directory}/{machine}" if machine else "/"

    def run(self, case, fail=None):
        with tempfile.TemporaryDirectory(dir=self.directory) as scratch:
            log = f"{scratch}/log"
            environment = {**os.environ, **SANITIZERS, "LD_PRELOAD": self.library,
                           "RNA_FAULTS_LOG": log, **({"RNA_FAULTS_FAIL": fail} if fail else {})}
            arguments = [word.replace("SCRATCH", scratch) for word in case.arguments]
            command = [self.binary, *arguments, "--root", self.root(case.machine),
                       "--config", self.config]
            status, output, errors = run_command(command, environment)
            return Run(status, output, errors, read(log))

    def describe(self, place):
        """Where that is: the innermost function first."""
        return " < ".join(self.describe_frame(frame) for frame in place.frames)

    def describe_frame(self, frame):
        module, offset = frame.rsplit("+", 1)
        if module:
            return frame
        before = hex(int(offset, 16) - 1)  # the call, not where it returns to
        words = subprocess.run(["addr2line", "-f", "-s", "-e", self.binary, before],
                               capture_output=True, text=True, check=False).stdout.split()
        return " ".join(words) or frame


def run_command(command, environment):
    with subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          errors="replace") as process:
        try:
            output, errors = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
            return None, output, errors
        return process.returncode, output, errors


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""
