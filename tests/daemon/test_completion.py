# SPDX-License-Identifier: Apache-2.0
"""The completion, in an interactive bash on a terminal: what is inserted becomes arguments."""
import os
import pty
import re
import select
import shutil
import tempfile
import time
import unittest

import agent as agent_module
from agent import PATIENCE

INSERT_ALL = "\x1b*"  # readline: insert-completions
END = "@end@"


def script():
    return os.path.join(os.path.dirname(agent_module.binary), "rdma-node-agent.bash")


class Bash:
    """bash, in which the program is a function that prints its arguments."""

    def __init__(self, sysfs):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="dumb", PS1="", RDMA_NODE_AGENT_SYSFS=sysfs, HISTFILE="")
            os.chdir(os.path.dirname(sysfs))
            os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
        self.type("bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; stty -echo; "
                  "rdma-node-agent() { printf '<%s>' \"$@\"; }; "
                  f"source {script()}\n")
        self.complete("version")

    def type(self, text):
        os.write(self.terminal, text.encode())

    def complete(self, line):
        """The arguments after all completions of the last word were inserted."""
        self.type(f"rdma-node-agent {line}{INSERT_ALL}\necho @en''d@\n")
        text, limit = "", time.monotonic() + PATIENCE
        while END not in text:
            if not select.select([self.terminal], [], [], max(0, limit - time.monotonic()))[0]:
                raise AssertionError(f"no answer: {text!r}")
            text += os.read(self.terminal, 65536).decode(errors="replace")
        return re.findall(r"<([^<>\r\n]*)>", text.replace("\r", "").replace("\n", ""))

    def close(self):
        self.type("exit\n")
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


@unittest.skipUnless(shutil.which("bash"), "no bash")
class Completion(unittest.TestCase):
    def setUp(self):
        if not os.path.exists(script()):
            self.skipTest("this build has no completion")
        self.directory = tempfile.mkdtemp(prefix="rna-completion-")
        self.addCleanup(shutil.rmtree, self.directory)
        for port in "mlx5_0/ports/1", "mlx5_bond_0/ports/1", "rocep1s0/ports/1", "rocep1s0/ports/2":
            os.makedirs(f"{self.directory}/sys/class/infiniband/{port}")
        os.mkdir(f"{self.directory}/recordings")
        with open(f"{self.directory}/web.yml", "w", encoding="utf-8"):
            pass
        self.bash = Bash(f"{self.directory}/sys")
        self.addCleanup(self.bash.close)

    def assert_inserted(self, line, *expected):
        before = line.split() if line.endswith(" ") else line.split()[:-1]
        self.assertEqual(self.bash.complete(line)[len(before):], list(expected), line)

    def test_devices(self):
        self.assert_inserted("selftest --device ", "mlx5_0", "mlx5_0/1", "mlx5_bond_0",
                             "mlx5_bond_0/1", "rocep1s0", "rocep1s0/1", "rocep1s0/2")
        self.assert_inserted("selftest --device roce", "rocep1s0", "rocep1s0/1", "rocep1s0/2")
        self.assert_inserted("expect accept mlx5_b", "mlx5_bond_0", "mlx5_bond_0/1")
        self.assert_inserted("expect accept mlx5_0 roce", "rocep1s0", "rocep1s0/1", "rocep1s0/2")
        self.assert_inserted("expect accept --json --root / mlx5_b", "mlx5_bond_0", "mlx5_bond_0/1")

    def test_values(self):
        self.assert_inserted("run --log.level ", "debug", "error", "info", "notice", "warn", "warning")
        self.assert_inserted("run --log.level de", "debug")
        self.assertEqual(self.bash.complete("run --log.level=de"), ["run", "--log.level=debug"])
        self.assert_inserted("collect --format o", "openmetrics")
        self.assert_inserted("check --format n", "nagios", "nhc", "npd")
        self.assert_inserted("status --color a", "always", "auto")
        self.assert_inserted("expect ", "accept", "list", "profile")
        self.assert_inserted("help se", "selftest")

    def test_files(self):
        self.assert_inserted("run --web.config.file w", "web.yml")
        self.assert_inserted("status --root rec", "recordings")

    def test_options_and_commands(self):
        self.assert_inserted("colle", "collect")
        self.assert_inserted("run --web", "--web.config.file", "--web.listen-address")
        self.assert_inserted("check --ur", "--url")
        self.assert_inserted("expect accept mlx5_0 --ro", "--root")

    def test_values_with_colons(self):
        """readline makes several words of them."""
        self.assert_inserted("--url https://node:10879 che", "check", "check-config")
        self.assert_inserted("run --web.listen-address=[::1]:9100 --log.level de", "debug")
        self.assert_inserted("--web.listen-address :9100 ru", "run", "runbook")


if __name__ == "__main__":
    unittest.main()
