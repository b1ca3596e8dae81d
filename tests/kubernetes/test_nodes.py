# SPDX-License-Identifier: Apache-2.0
"""kube cleanup --nodes: what the agents left on many Nodes goes, what others own stays."""
import json
import os
import subprocess
import tempfile

import agent
from cluster import DoubleTest, PATIENCE

import api

LABELS = {"network.nvidia.com/roce": "true", "rdma-node-agent/health": "ok", "former.test/roce": "1"}
TAINTS = [{"key": "rdma/down", "effect": "NoSchedule"}, {"key": "former.test/down", "effect": "NoExecute"}]
OTHERS = {"key": "gpu", "effect": "NoSchedule"}
RIGHTS = {"list nodes", "get nodes", "patch nodes", "patch nodes/status"}


class Cleanup(DoubleTest):
    def setUp(self):
        super().setUp()
        self.api.rules = set(RIGHTS)
        self.node.delete()
        self.settings = {"backend": "api", "kubeconfig": self.kubeconfig, "taint": "rdma/down",
                         "roce_label": "own",
                         "former_names": ["former.test/roce", "former.test/down"]}

    def make(self, name, labels=None, conditions=(), taints=()):
        node = self.admin.make_node(name)
        node.patch({"metadata": {"labels": labels or {}}, "spec": {"taints": list(taints)}})
        node.patch({"status": {"conditions": [
            {"type": kind, "status": "False", "reason": "x", "message": "y"} for kind in conditions]}},
                   "/status", kind="application/strategic-merge-patch+json")
        return node

    def make_told(self, name, **labels):
        return self.make(name, {**LABELS, **labels}, ["RdmaPortDown", "RdmaNotReady", "DiskFull"],
                         [OTHERS, *TAINTS])

    def command(self, *arguments):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            json.dump({"kubernetes": self.settings, "state": {"directory": ""}}, file)
            file.flush()
            return subprocess.run([agent.binary, "kube", "cleanup", "--config", file.name, *arguments],
                                  env={key: value for key, value in os.environ.items()
                                       if key != "NODE_NAME"}, check=False, capture_output=True,
                                  text=True, timeout=3 * PATIENCE)

    def check_clean(self, node):
        self.assertEqual([key for key in node.labels if "roce" in key or "rdma" in key], [])
        self.assertEqual([kind for kind in node.conditions if kind.startswith("Rdma")], [])
        self.assertEqual(node.taints, {"gpu"})
        self.assertIn("DiskFull", node.conditions)

    def test_a_label_of_another_client_stays(self):
        """By default; that of an agent goes."""
        del self.settings["roce_label"]
        ours, theirs = (self.make(f"gpu-{i}", {"pool": "gpu"}) for i in range(2))
        roce = {"metadata": {"labels": {"network.nvidia.com/roce": "true"}}}
        self.admin.ask("PATCH", f"{ours.path}?fieldManager=rdma-node-agent", roce, kind=api.MERGE)
        theirs.patch(roce)
        result = self.command("--nodes=all")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout, "gpu-0: 1 labels, 0 conditions, no taint\n")
        self.assertEqual((ours.own_labels, theirs.own_labels),
                         ({}, {"network.nvidia.com/roce": "true"}))

    def test_all_nodes(self):
        nodes = [self.make_told(f"gpu-{i}", pool="gpu") for i in range(3)]
        other = self.make("cpu-1", {"pool": "cpu"})
        version = other.version
        result = self.command("--nodes=all")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout, "".join(
            f"gpu-{i}: 3 labels, 2 conditions, the taint\n" for i in range(3)))
        for node in nodes:
            self.check_clean(node)
            self.assertEqual(node.labels["pool"], "gpu")
        self.assertEqual(other.version, version)
        asked = [(r.method, r.path) for r in self.asked(suffix="/cpu-1")]
        self.assertEqual(asked, [("GET", "/api/v1/nodes/cpu-1")])
        self.assertEqual(self.command("--nodes=all").stdout, "")

    def test_selector(self):
        gpu, cpu = self.make_told("gpu-1", pool="gpu"), self.make_told("cpu-1", pool="cpu")
        result = self.command("--nodes=pool=gpu,rdma-node-agent/health")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.check_clean(gpu)
        self.assertIn("rdma-node-agent/health", cpu.labels)

    def test_rules_of_devices(self):
        """Objects of the cluster: of the agents of all Nodes, and asked for only if there may be any."""
        labels = {"app.kubernetes.io/managed-by": "rdma-node-agent"}
        for name, pool in (("rdma-node-agent-1", "gone"), ("rdma-node-agent-2", "gpu-1"), ("by-hand", "x")):
            self.api.taint_rules[name] = {
                "metadata": {"name": name, "labels": labels},
                "spec": {"deviceSelector": {"driver": "dra.net", "pool": pool, "device": "d"},
                         "taint": {"key": "rdma-node-agent/unhealthy", "effect": "NoSchedule"}}}
        self.assertEqual(self.command("--nodes=all").stdout, "")
        self.api.rules |= {"list devicetaintrules", "delete devicetaintrules"}
        self.settings["device_taints"] = "report"
        self.assertEqual(self.command("--nodes=all", "--dry-run").stdout, "2 DeviceTaintRules\n")
        self.assertEqual(len(self.api.taint_rules), 3)
        result = self.command("--nodes=all")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(set(self.api.taint_rules), {"by-hand"})

    def test_rules_of_devices_of_some_nodes(self):
        """There may be agents of another release on the others."""
        for name in "a-1", "a-2", "b-1":
            self.make_told(name, pool=name[0])
            self.api.taint_rules[f"rdma-node-agent-{name}"] = {
                "metadata": {"name": f"rdma-node-agent-{name}",
                             "labels": {"app.kubernetes.io/managed-by": "rdma-node-agent"}},
                "spec": {"deviceSelector": {"driver": "dra.net", "pool": name, "device": "d"},
                         "taint": {"key": "rdma-node-agent/unhealthy", "effect": "NoSchedule"}}}
        self.api.rules |= {"list devicetaintrules", "delete devicetaintrules"}
        self.settings["device_taints"] = "taint"
        self.assertIn("2 DeviceTaintRules\n", self.command("--nodes=pool=a").stdout)
        self.assertEqual(set(self.api.taint_rules), {"rdma-node-agent-b-1"})
        self.assertIn("1 DeviceTaintRules\n", self.command("--nodes=all").stdout)

    def test_pages(self):
        for i in range(250):
            self.api.nodes[f"n-{i:03}"] = node = api.Node(f"n-{i:03}")
            node.images = 1
        last = self.make_told("z")
        result = self.command("--nodes=all")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(len(self.asked("GET", suffix="/api/v1/nodes")), 3)
        self.check_clean(last)

    def test_no_node(self):
        """An empty list of metadata is null on a real server."""
        result = self.command("--nodes=pool=none")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

    def test_dry_run(self):
        node = self.make_told("gpu-1")
        version = node.version
        result = self.command("--nodes=all", "--dry-run")
        self.assertEqual(result.stdout, "gpu-1: 3 labels, 2 conditions, the taint\n")
        self.assertEqual(node.version, version)
        self.assertEqual(self.asked("PATCH"), [])

    def test_trouble_passes(self):
        """Rights that the server has not heard of yet, and a busy server."""
        node = self.make_told("gpu-1")
        for fault in ("403", "429", "503"):
            self.api.fault(fault, 1)
            result = self.command("--nodes=all")
            self.assertEqual((result.returncode, result.stderr), (0, ""), fault)
        self.check_clean(node)

    def test_a_missing_right(self):
        """All that the rights are good for is done, and the first failure alone is waited for."""
        self.api.rules = RIGHTS - {"patch nodes/status"}
        nodes = [self.make_told(f"gpu-{i}") for i in range(5)]
        result = self.command("--nodes=all")
        self.assertEqual(result.returncode, 1)
        self.assertIn("5 Nodes are not cleaned up: PATCH /api/v1/nodes/gpu-0/status", result.stderr)
        self.assertEqual([node.taints for node in nodes], 3 * [{"gpu"}] + 2 * [
            {"gpu", "rdma/down", "former.test/down"}])
        self.api.rules = RIGHTS - {"list nodes"}
        result = self.command("--nodes=all")
        self.assertEqual(result.returncode, 1)
        self.assertIn("check that a ClusterRole allows to list nodes", result.stderr)

    def test_a_node_that_goes(self):
        """It was in the list, and is not there any more."""
        gone, node = self.make_told("gpu-1"), self.make_told("gpu-2")
        list_nodes = self.api.list_nodes
        self.api.list_nodes = lambda record: (list_nodes(record), self.api.nodes.pop("gpu-1"))[0]
        result = self.command("--nodes=all")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(len(self.asked(suffix=f"/{gone.name}", status=404)), 1)
        self.check_clean(node)

    def test_taints_change_meanwhile(self):
        """The list of taints is written with the version that was read: 409, and it is read again."""
        node = self.make_told("gpu-1")
        self.api.fault("changed meanwhile", 1)
        result = self.command("--nodes=all")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout.count("\n"), 1)
        self.assertEqual(len(self.asked("PATCH", status=409)), 1)
        self.check_clean(node)

    def test_other_actions(self):
        result = subprocess.run([agent.binary, "kube", "show", "--nodes=all"], check=False,
                                capture_output=True, text=True)
        self.assertEqual(result.returncode, 2)
        self.assertIn("--nodes is for cleanup only", result.stderr)
