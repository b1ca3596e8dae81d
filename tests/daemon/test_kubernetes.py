# SPDX-License-Identifier: Apache-2.0
"""Labels of the node through the file that node-feature-discovery reads."""
import datetime
import json
import os
import re
import stat
import subprocess
import unittest

import agent
from agent import Agent, wait

SOON = {"up_delay": "1s", "down_delay": "2s"}
ROCE = "network.nvidia.com/roce"
LABELS = 11  # of roce-8rail, which has no GPUs


class FileAgent(Agent):
    """An agent that writes node-feature-discovery's file."""

    def __init__(self, machine="roce-8rail", make_directory=True, **kubernetes):
        super().__init__(machine)
        self.features = f"{self.directory}/features.d"
        self.state = f"{self.directory}/state"
        self.kubernetes = {"backend": "nfd", "nfd_directory": self.features, **SOON, **kubernetes}
        if make_directory:
            os.mkdir(self.features)

    def write_config(self, poll=None, extra=""):
        super().write_config(poll, f"kubernetes: {json.dumps(self.kubernetes)}\n"
                                   f"state: {{directory: {self.state}}}\n{extra}")

    @property
    def file(self):
        return f"{self.features}/rdma-node-agent"

    def text(self):
        try:
            with open(self.file, encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def labels(self):
        return dict(line.split("=", 1) for line in self.text().splitlines()
                    if not line.startswith("#"))

    def wait_labels(self):
        """Each is published when it is decided; this machine has LABELS of them."""
        wait("all labels", lambda: len(self.labels()) == LABELS)
        return self.labels()

    def expiry(self):
        match = re.search(r"^# \+expiry-time=(\S+)$", self.text(), re.M)
        return match and datetime.datetime.fromisoformat(match[1].replace("Z", "+00:00"))

    def command(self, *words):
        return subprocess.run([agent.binary, *words, "--config", self.config], text=True,
                              capture_output=True, timeout=agent.PATIENCE, check=False)

    def set_states(self, state):
        for rail in range(8):
            self.write(f"sys/class/infiniband/mlx5_{rail}/ports/1/state", state)
        self.write("sys/class/infiniband/mlx5_8/ports/1/state", state)


class Labels(unittest.TestCase):
    def test_file(self):
        with FileAgent() as a:
            labels = a.wait_labels()
            self.assertEqual(labels[ROCE], "true")
            self.assertEqual(labels["rdma-node-agent/ports-up"], "9")
            self.assertEqual(labels["rdma-node-agent/nic-model"], "ConnectX-7")
            self.assertEqual(os.listdir(a.features), ["rdma-node-agent"])
            self.assertEqual(stat.S_IMODE(os.stat(a.file).st_mode) & 0o444, 0o444)
            now = datetime.datetime.now(datetime.timezone.utc)
            self.assertTrue(datetime.timedelta(minutes=50) < a.expiry() - now
                            < datetime.timedelta(minutes=61), a.expiry())
            wait("the metric",
                 lambda: a.metric("rdma_kubernetes_in_sync", backend="nfd") == 1)
            self.assertEqual(a.metric("rdma_kubernetes_problem", backend="nfd"), 0)
            self.assertIsNone(a.metric("rdma_kubernetes_in_sync", backend="api"))

    def test_ports_go_down_and_come_back(self):
        with FileAgent() as a:
            a.wait_labels()
            a.set_states("1: DOWN")
            wait("no RoCE", lambda: a.labels() and ROCE not in a.labels())
            self.assertEqual(a.labels()["rdma-node-agent/ports-up"], "0")
            self.assertEqual(a.labels()["rdma-node-agent/ports-expected"], "9")
            self.assertEqual(a.labels()["rdma-node-agent/health"], "critical")
            a.set_states("4: ACTIVE")
            wait("RoCE again", lambda: a.labels().get(ROCE) == "true")

    def test_nobody_ever_reads_half_a_file(self):
        with FileAgent(up_delay="0s", down_delay="0s") as a:
            a.wait_labels()
            for round_ in range(20):
                a.write("sys/class/infiniband/mlx5_0/ports/1/state",
                        "1: DOWN" if round_ % 2 == 0 else "4: ACTIVE")
                seen = set()

                def changed(seen=seen, wanted="8" if round_ % 2 == 0 else "9"):
                    text = a.text()
                    self.assertTrue(text.startswith("# Written"), text)
                    self.assertIn("rdma-node-agent/sr-iov=", text.splitlines()[-1], text)
                    seen.add(text)
                    return a.labels().get("rdma-node-agent/ports-up") == wanted

                wait("the other number", changed)
            self.assertEqual([n for n in os.listdir(a.features) if not n.startswith(".")],
                             ["rdma-node-agent"])

    def test_a_read_error_and_a_restart_change_nothing(self):
        with FileAgent() as a:
            labels = a.wait_labels()
            a.set_states("garbage")
            wait("failed reads", lambda: a.metric("rdma_collector_errors_total", collector="state",
                                                  device="mlx5_0", reason="format"))
            a.wait_snapshots(20)
            self.assertEqual(a.labels(), labels)
            a.stop()
            self.assertEqual(a.labels(), labels)
            a.start()
            wait("readiness", a.is_ready)
            a.wait_snapshots(20)
            self.assertEqual(a.labels(), labels)

    def test_directory_comes_later(self):
        with FileAgent(make_directory=False) as a:
            wait("the complaint", lambda: "node-feature-discovery gets no labels" in a.log())
            wait("the metric", lambda: a.metric("rdma_kubernetes_problem", backend="nfd") == 1)
            self.assertEqual(a.get("/readyz").status, 200)
            os.mkdir(a.features)
            self.assertEqual(a.wait_labels()[ROCE], "true")
            wait("the good news", lambda: "has recovered" in a.log())
            self.assertEqual(a.log().count("node-feature-discovery gets no labels"), 1)
            wait("the metric", lambda: a.metric("rdma_kubernetes_problem", backend="nfd") == 0)

    def test_directory_that_cannot_be_written(self):
        with FileAgent(make_directory=False) as a:
            with open(a.features, "w", encoding="utf-8"):
                pass  # root may write to any directory, but not to a file
            wait("the complaint", lambda: "Not a directory" in a.log())
            a.wait_snapshots(3)
            self.assertEqual(a.log().count("Not a directory"), 1)

    def test_names_that_cannot_be_labels(self):
        for setting, value in (("label_prefix", "kubernetes.io"), ("label_prefix", "No Prefix"),
                               ("roce_key", "roce"), ("roce_value", "yes it can")):
            with FileAgent(**{setting: value}) as a:
                wait("the complaint", lambda: f"kubernetes.{setting}" in a.log())
                self.assertEqual(a.log().count(f"kubernetes.{setting}"), 1)
                self.assertEqual(a.get("/readyz").status, 200)
                a.wait_snapshots(3)
                self.assertEqual(os.listdir(a.features), [])
                self.assertEqual(a.metric("rdma_kubernetes_problem", backend="nfd"), 1)

    def test_other_names(self):
        with FileAgent(roce_key="example.com/roce", roce_value="yes",
                       label_prefix="rdma.example.com") as a:
            labels = a.wait_labels()
            self.assertEqual(labels["example.com/roce"], "yes")
            self.assertEqual({key.split("/")[0] for key in labels},
                             {"example.com", "rdma.example.com"})

    def test_check_config_says_it_too(self):
        with FileAgent(label_prefix="kubernetes.io") as a:
            result = a.command("check-config")
            self.assertEqual(result.returncode, 2)
            self.assertIn("kubernetes.label_prefix", result.stderr)

    def test_check_config_says_what_a_taint_that_evicts_needs(self):
        taint = {"backend": "both", "taint": "example.org/down"}
        for effect, count in ("NoExecute", 1), ("NoSchedule", 0):
            with FileAgent(**taint, taint_effect=effect) as a:
                result = a.command("check-config")
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertEqual(result.stdout.count(
                    "{key: example.org/down, operator: Exists, effect: NoExecute}"), count)

    def test_no_node_name(self):
        """The API server needs to be told of some Node; the file does not."""
        with FileAgent(backend="both") as a:
            self.assertEqual(a.wait_labels()[ROCE], "true")
            self.assertEqual(a.log().count("NODE_NAME"), 1)
            self.assertEqual(a.metric("rdma_kubernetes_problem", backend="api"), 1)
            self.assertEqual(a.metric("rdma_kubernetes_problem", backend="nfd"), 0)

    def test_cleanup(self):
        with FileAgent() as a:
            a.wait_labels()
            a.stop()
            result = a.command("kube", "cleanup", "--dry-run")
            self.assertIn("would be removed", result.stdout)
            self.assertTrue(a.labels())
            self.assertEqual(a.command("kube", "cleanup").returncode, 0)
            self.assertEqual(os.listdir(a.features), [])
            self.assertEqual(a.command("kube", "cleanup").returncode, 0)  # nothing left to do
            a.start()
            wait("readiness", a.is_ready)
            self.assertEqual(a.wait_labels()[ROCE], "true")  # it is said anew

    def test_apply(self):
        with FileAgent() as a:
            a.wait_labels()
            a.stop()
            os.unlink(a.file)
            result = a.command("kube", "apply", "--dry-run", "--root", a.root)
            self.assertIn(f"{ROCE}=true\n", result.stdout)
            self.assertEqual(os.listdir(a.features), [])
            result = a.command("kube", "apply", "--root", a.root)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(a.labels()[ROCE], "true")
            a.start()
            wait("readiness", a.is_ready)

    def test_off(self):
        with FileAgent(backend="off") as a:
            a.wait_snapshots(10)
            self.assertEqual(os.listdir(a.features), [])
            self.assertFalse([n for n, _ in a.metrics() if n.startswith("rdma_kubernetes_")])
