# SPDX-License-Identifier: Apache-2.0
"""collect --output, for the textfile collector of node_exporter: a real one reads the file."""
import os
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import unittest
import urllib.request

import agent as agent_module
from agent import PATIENCE, TESTS, free_port, wait
from test_package import can_mount, run_apart

# tmpfs of one page, in which the old file fits and the new one does not.
FULL = """
mount -t tmpfs -o size=8k none "$3"
echo old >"$3/rdma.prom"
status=0
"$1" collect --root "$2" --output "$3/rdma.prom" || status=$?
ls -A "$3"
cat "$3/rdma.prom"
exit $status
"""


def collect(*arguments, **rest):
    return subprocess.run([agent_module.binary, "collect", *arguments], capture_output=True,
                          text=True, timeout=PATIENCE, check=False, **rest)


def samples(text):
    """{(name, labels): number}; node_exporter writes other spaces, orders and numbers."""
    found = {}
    for line in text.splitlines():
        match = re.match(r"([a-z]\w*)(?:\{(.*)\})? (\S+)$", line)
        if match:
            labels = re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', match[2] or "")
            found[(match[1], tuple(sorted(labels)))] = float(match[3])
    return found


class Textfile(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="rna-textfile-")
        self.addCleanup(shutil.rmtree, self.directory)
        self.root, self.place = f"{self.directory}/root", f"{self.directory}/textfile"
        self.file = f"{self.place}/rdma.prom"
        os.mkdir(self.place)
        subprocess.run([f"{TESTS}/machines/unpack", "roce-8rail", self.root], check=True)

    def write(self, *arguments):
        done = collect("--root", self.root, "--output", self.file, *arguments)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def read(self):
        with open(self.file, encoding="utf-8") as file:
            return file.read()

    def test_what_is_in_it(self):
        """All that standard output gets, but for the metrics of the process."""
        self.write()
        expected = [line for line in collect("--root", self.root).stdout.splitlines()
                    if "process_" not in line]
        ours = self.read().splitlines()
        self.assertEqual([line.split(" ")[:-1] for line in ours],
                         [line.split(" ")[:-1] for line in expected])
        self.assertTrue(any(line.startswith("rdma_port_up") or "rdma_port_" in line for line in ours))
        self.write("--format=openmetrics")
        self.assertTrue(self.read().endswith("# EOF\n"))
        self.assertNotIn("process_", self.read())

    def test_mode_and_leftovers(self):
        os.umask(0o077)  # that of the unit; only this worker's children get it
        try:
            self.write()
        finally:
            os.umask(0o022)
        self.assertEqual(stat.S_IMODE(os.stat(self.file).st_mode), 0o644)
        before = os.stat(self.file).st_ino
        self.write()
        self.assertNotEqual(os.stat(self.file).st_ino, before)  # another file was renamed to it
        self.assertEqual(os.listdir(self.place), ["rdma.prom"])

    def test_relative_path(self):
        done = collect("--root", self.root, "--output", "rdma.prom", cwd=self.place)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(os.path.exists(self.file))

    def test_no_directory(self):
        path = f"{self.directory}/nowhere/rdma.prom"
        done = collect("--root", self.root, "--output", path)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"{path}: cannot open the directory: No such file or directory", done.stderr)

    def test_a_directory_of_that_name(self):
        os.mkdir(self.file)
        done = collect("--root", self.root, "--output", self.file)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"{self.file}: cannot write the file: Is a directory", done.stderr)
        self.assertEqual(os.listdir(self.place), ["rdma.prom"])

    @unittest.skipUnless(can_mount(), "no mount namespace to be had")
    def test_a_full_disk(self):
        done = run_apart(FULL, agent_module.binary, self.root, self.place)
        self.assertEqual((done.returncode, done.stdout), (1, "rdma.prom\nold\n"), done.stderr)
        self.assertIn(f"{self.file}: cannot write the file: No space left on device", done.stderr)

    @unittest.skipUnless(shutil.which("prometheus-node-exporter"),
                         "prometheus-node-exporter is not there")
    def test_node_exporter(self):
        """It serves each sample, and complains about none."""
        self.write()
        port, log = free_port(), f"{self.directory}/log"
        with open(log, "w", encoding="utf-8") as file:
            exporter = subprocess.Popen(
                ["prometheus-node-exporter", f"--web.listen-address=127.0.0.1:{port}",
                 "--collector.disable-defaults", "--collector.textfile",
                 f"--collector.textfile.directory={self.place}"], stdout=file, stderr=file)
        try:
            served = wait("node_exporter", lambda: self.scrape(port))
        finally:
            exporter.send_signal(signal.SIGTERM)
            exporter.wait()
        ours, theirs = samples(self.read()), samples(served)
        self.assertGreater(len(ours), 500)
        self.assertEqual({name: theirs.get(name) for name in ours}, ours)
        self.assertEqual(theirs[("node_textfile_scrape_error", ())], 0)
        with open(log, encoding="utf-8") as file:
            self.assertNotIn("level=error", file.read())

    @staticmethod
    def scrape(port):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE) as reply:
                return reply.read().decode()
        except OSError:
            return None


if __name__ == "__main__":
    unittest.main()
