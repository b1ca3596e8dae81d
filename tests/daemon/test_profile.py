# SPDX-License-Identifier: Apache-2.0
"""Profiles: what check-config says of a file, and what a running agent makes of it."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

import agent as agent_module
from agent import PATIENCE, TESTS, Agent, wait

MACHINE = "profile-differs"
PROFILE = f"{TESTS}/machines/{MACHINE}/profile.yaml"
INFO = "rdma_agent_profile_info"
HEAD = "version: 1\nprofiles:\n  - name: a\n"


def check_config(text, *arguments):
    """Exit code and all output of check-config for a file."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        done = subprocess.run([agent_module.binary, "check-config", file.name, *arguments],
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        return done.returncode, (done.stdout + done.stderr).replace(file.name, "FILE")


def rules(agent):
    return {finding["rule"] for finding in json.loads(agent.get("/api/v1/findings").text)["findings"]}


class CheckConfig(unittest.TestCase):
    def test_mistakes(self):
        for text, wanted in (
                (HEAD + "    macth: {gpus: 8}\n", "FILE:4: unknown key macth; did you mean match?"),
                (HEAD + "    match: {gpus: 8}\n    devices: [{model: MT4129, rate: 400}]\n",
                 "FILE:5: rate: \"400\" is not allowed; allowed: gigabits per second"),
                (HEAD + "    match: {product: \"*\"}\n", "that does not fit everything"),
                ("version: 2\nprofiles: [{a: b}]\n", "FILE:1: version: this agent reads version 1"),
                (HEAD + "    match: {gpus: 8}\n" + "# a comment of some length\n" * 12000,
                 "larger than 256 KiB"),
                (HEAD + "# a comment of some length\n" * 40000, "larger than 1024 KiB")):
            code, said = check_config(text)
            self.assertEqual(code, 2, said)
            self.assertIn(wanted, said)

    def test_a_configuration_with_a_bad_profile(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(HEAD)
            file.flush()
            code, said = check_config(f"expect: {{profile: {file.name}}}\n")
            self.assertEqual(code, 2, said)
            self.assertIn(f"{file.name}:3: match: missing or empty", said)
        code, said = check_config("expect: {profile: relative.yaml}\n")
        self.assertEqual(code, 2, said)
        self.assertIn("FILE:1: expect.profile: \"relative.yaml\" is not an absolute path", said)


class Recording(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.mkdtemp(prefix="rna-daemon-")
        cls.addClassCleanup(shutil.rmtree, cls.root)
        subprocess.run([f"{TESTS}/machines/unpack", MACHINE, f"{cls.root}/node"], check=True)

    def compare(self, text):
        return check_config(text, "--root", f"{self.root}/node")

    def test_differences(self):
        with open(PROFILE, encoding="utf-8") as file:
            code, said = self.compare(file.read())
        self.assertEqual(code, 1, said)
        for wanted in ("profile: dgx-h100, of FILE", "critical profile-count: ",
                       "warning profile-port: mlx5_4/1", "warning profile-device: mlx5_5"):
            self.assertIn(wanted, said)

    def test_two_fit_or_none(self):
        second = "  - {name: b, match: {vendor: NVIDIA}}\n"
        code, said = self.compare(HEAD + "    match: {gpus: 8}\n" + second)
        self.assertEqual(code, 1, said)
        self.assertIn("the profiles a (line 3) and b (line 5) both fit this node", said)
        code, said = self.compare(HEAD + "    match: {gpus: 4}\n")
        self.assertEqual(code, 1, said)
        self.assertIn("no profile fits this node: vendor \"NVIDIA\", product \"DGX H100\"", said)
        self.assertIn("what does not fit: a (gpus)", said)

    def test_names_that_match_nothing(self):
        code, said = self.compare("expect: {up: [mlx5_99, mlx5_0]}\n")
        self.assertEqual(code, 1, said)
        self.assertIn("warning expect-unmatched: no port of this node matches expect.up "
                      "\"mlx5_99\"", said)
        self.assertNotIn("mlx5_0", said)
        code, said = self.compare("devices: {exclude: [\"mlx*\"]}\n")
        self.assertEqual(code, 1, said)
        self.assertIn("warning nothing-watched: ", said)
        # a file for many nodes is no mistake on one that has no such port
        code, said = check_config("expect: {up: [mlx5_99]}\n")
        self.assertEqual(code, 0, said)


class Running(unittest.TestCase):
    def test_a_file_is_read_again(self):
        with Agent(MACHINE) as agent:
            path = f"{agent.directory}/profile.yaml"
            self.assertNotIn("profile-count", rules(agent))
            shutil.copy(PROFILE, path)
            agent.write_config(extra=f"expect: {{profile: {path}}}\n"
                                     "health: {hold_down: [\"profile-*=0s\"]}\n")
            agent.hang_up()
            labels = ("name", "dgx-h100"), ("source", path), ("use", "findings")
            wait("the profile", lambda: agent.metrics().get((INFO, labels)) == 1)
            wait("its findings", lambda: {"profile-count", "profile-port", "profile-device"}
                 <= rules(agent))
            self.assertIn("profile dgx-h100", agent.get("/").text)
            with open(path, "w", encoding="utf-8") as file:
                file.write("version: 2\n")
            agent.hang_up()
            wait("that it is of no use", lambda: "profile-unusable" in rules(agent))
            self.assertNotIn("profile-count", rules(agent))
            self.assertIn("continuing without a profile", agent.log())
            os.unlink(path)
            agent.hang_up()
            wait("that it is gone", lambda: "cannot open" in agent.get("/api/v1/findings").text)
            shutil.copy(PROFILE, path)
            agent.hang_up()
            wait("the profile again", lambda: "profile-count" in rules(agent))
            self.assertNotIn("profile-unusable", rules(agent))
