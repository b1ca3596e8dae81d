# SPDX-License-Identifier: Apache-2.0
"""Removal of the Debian package, in a mount namespace; vm-systemd tests the rest of the package."""
import os
import subprocess
import unittest

from agent import TESTS

POSTRM = os.path.join(os.path.dirname(TESTS), "debian", "rdma-node-agent.postrm")
STATE = "/var/lib/rdma-node-agent"
USER = 4242  # rdma-node-agent there

PURGE = f"""
mount -t tmpfs none /var/lib
{{ echo rdma-node-agent:x:{USER}:{USER}::/:/bin/false; cat /etc/passwd; }} >/var/lib/passwd
mount --bind /var/lib/passwd /etc/passwd
if [ "$2" ]; then
	mkdir {STATE}
	touch {STATE}/memory.json
	chown "$2" {STATE}
fi
sh "$1" purge
ls /var/lib
"""


def run_apart(script, *arguments):
    return subprocess.run(["unshare", "-m", "sh", "-ec", script, "sh", *arguments], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def can_mount():
    return run_apart("mount -t tmpfs none /var/lib").returncode == 0


@unittest.skipUnless(can_mount(), "no mount namespace to be had")
class Purge(unittest.TestCase):
    def left_by(self, owner):
        done = run_apart(PURGE, POSTRM, owner)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_the_state_goes(self):
        self.assertEqual(self.left_by(str(USER)), ["passwd"])
        self.assertEqual(self.left_by(""), ["passwd"])

    def test_that_of_a_daemonset_stays(self):
        for owner in ("10879", "0"):
            self.assertEqual(self.left_by(owner), ["passwd", "rdma-node-agent"])
