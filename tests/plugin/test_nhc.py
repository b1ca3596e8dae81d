# SPDX-License-Identifier: Apache-2.0
"""The shipped check in LBNL NHC: in the real one (RNA_NHC, or nhc in the path), or in a double.

The double has what a check uses of the driver nhc 1.4.3: die(), which passes its text in single
quotes to eval and ends the program, log() and dbg(), and lines "MASK || CHECK" of the configuration.
"""
import glob
import os
import shlex
import shutil
import subprocess
import tempfile
import unittest

from nodes import SHIPPED, command, node

DOUBLE = r"""
function die() {
    local RET="$1"
    shift
    eval $OFFLINE_NODE "'$HOSTNAME'" "'$*'"
    echo "ERROR:  nhc:  Health check failed:  $*"
    exit $RET
}
function log() { echo "$@"; }
function dbg() { :; }
for FILE in "$INCDIR"/*.nhc; do . "$FILE"; done
while read -r LINE; do eval "${LINE#*|| }"; done <"$CONFFILE"
exit 0
"""


class Nhc(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="rna-plugin-")
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        os.mkdir(f"{self.directory}/scripts")
        self.nhc = os.environ.get("RNA_NHC") or shutil.which("nhc")
        for path in [f"{SHIPPED}/rdma.nhc", *self.own_scripts()]:
            os.symlink(path, f"{self.directory}/scripts/{os.path.basename(path)}")
        self.write("mark", f'#!/bin/sh\nprintf "%s\\n" "$@" >"{self.directory}/marked"\n')
        os.chmod(f"{self.directory}/mark", 0o755)

    def own_scripts(self):
        """Those of NHC itself, beside it in its sources or where it is installed."""
        if not self.nhc:
            return []
        sources = os.path.join(os.path.dirname(self.nhc), "scripts")
        return glob.glob(f"{sources if os.path.isdir(sources) else '/etc/nhc/scripts'}/*.nhc")

    def write(self, name, text):
        with open(f"{self.directory}/{name}", "w", encoding="utf-8") as file:
            file.write(text)

    def run_nhc(self, check, words):
        """(exit code, output, what the node was marked offline with, if it was)"""
        self.write("nhc.conf", f"* || {check}\n")
        variables = {"INCDIR": f"{self.directory}/scripts", "CONFFILE": f"{self.directory}/nhc.conf",
                     "OFFLINE_NODE": f"{self.directory}/mark", "ONLINE_NODE": ":"}
        arguments = [*(f"{name}={value}" for name, value in variables.items()), "NHC_RM=slurm",
                     "MARK_OFFLINE=1", "DETACHED_MODE=0", "LOGFILE=-", "TIMEOUT=100"]
        program = [self.nhc, *arguments] if self.nhc else ["bash", "-c", DOUBLE]
        done = subprocess.run(program, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, check=False, timeout=100,
                              env={**os.environ, **variables, "HOSTNAME": "node1",
                                   "RDMA_CHECK": " ".join(words)})
        marked = f"{self.directory}/marked"
        if not os.path.exists(marked):
            return done.returncode, done.stdout, None
        with open(marked, encoding="utf-8") as file:
            text = file.read()
        os.unlink(marked)
        return done.returncode, done.stdout, text.split("\n", 1)[1].rstrip("\n")

    def test_each_state(self):
        for state, call, expected in (
                ("ok", "check_rdma", None), ("warning", "check_rdma", None),
                ("critical", "check_rdma", "check_rdma:  CRITICAL: mlx5_3/1: "),
                ("unknown", "check_rdma", None),
                ("unknown", "check_rdma strict", "check_rdma:  UNKNOWN: the state of no port")):
            with self.subTest(state=state, call=call), node(state) as root:
                code, text, marked = self.run_nhc(call, command("nhc", "--root", root))
                self.assertEqual(code != 0, expected is not None, text)
                self.assertEqual((marked or "")[:len(expected or "")], expected or "")

    def test_no_agent_at_all(self):
        code, text, marked = self.run_nhc("check_rdma", ["/nowhere/rdma-node-agent"])
        self.assertEqual((code, marked), (0, None), text)
        code, _, marked = self.run_nhc("check_rdma strict", ["/nowhere/rdma-node-agent"])
        self.assertNotEqual(code, 0)
        self.assertIn("no answer from rdma-node-agent (exit code 127)", marked)

    def test_what_a_name_cannot_do(self):
        """A finding is passed to eval. Here its text is what the command makes of a hostile name."""
        with node("critical") as root:
            text = subprocess.run(command("nhc", "--root", root), stdout=subprocess.PIPE, text=True,
                                  check=False).stdout
        hostile = text.replace("mlx5_3", "$(touch /tmp/rna-plugin-owned);`id`")
        self.write("say", f"#!/bin/sh\nprintf %s {shlex.quote(hostile)}\nexit 1\n")
        os.chmod(f"{self.directory}/say", 0o755)
        code, _, marked = self.run_nhc("check_rdma", [f"{self.directory}/say"])
        self.assertEqual(code, 1)
        self.assertIn("$(touch /tmp/rna-plugin-owned);`id`/1", marked)
        self.assertFalse(os.path.exists("/tmp/rna-plugin-owned"))
