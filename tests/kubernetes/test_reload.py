# SPDX-License-Identifier: Apache-2.0
"""Settings that change under a running agent, and between two runs. On any API server:
RNA_TEST_KUBECONFIG names a real one."""
import json
import os

from agent import wait
from test_node import AnyServer
from test_told import ROCE, TAINT, NodeAgent


class Reload(AnyServer):
    # Writes are few, five at once; a backend that begins anew has all of them.

    def agent(self, **kubernetes):
        return NodeAgent(self.kubeconfig, self.node.name, **kubernetes)

    @staticmethod
    def reload(a, **kubernetes):
        a.kubernetes.update(kubernetes)
        a.write_config()
        a.hang_up()

    def keys(self, prefix):
        return {key for key in self.node.labels if key.startswith(prefix)}

    def names(self, a):
        with open(f"{a.directory}/state/memory.json", encoding="utf-8") as file:
            return {name["key"] for name in json.load(file)["names"]}

    def test_other_names(self):
        with self.agent() as a:
            wait("labels", lambda: self.node.own_labels.get(ROCE) == "true")
            a.set_states("1: DOWN")
            wait("the taint", lambda: TAINT in self.node.taints)
            self.reload(a, label_prefix="rdma.example", taint="rdma.example/down")
            wait("the other labels", lambda: self.keys("rdma.example/"))
            wait("the other taint", lambda: "rdma.example/down" in self.node.taints)
            self.assertEqual(self.keys("rdma-node-agent/"), set())
            self.assertNotIn(TAINT, self.node.taints)
            wait("nothing to remember", lambda: not [name for name in self.names(a)
                                                     if name.startswith("rdma-node-agent/")])
            self.reload(a, taint="")
            wait("no taint", lambda: "rdma.example/down" not in self.node.taints)
            wait("the label", lambda: self.node.labels.get("rdma.example/health") == "critical")

    def test_other_names_and_cleanup(self):
        """The agent has no time to do it itself."""
        with self.agent() as a:
            wait("labels", lambda: self.node.own_labels.get(ROCE) == "true")
            a.set_states("1: DOWN")
            wait("the taint", lambda: TAINT in self.node.taints)
            a.stop()
            a.kubernetes.update(label_prefix="rdma.example", taint="")
            a.write_config()
            result = a.command("kube", "cleanup", "--dry-run")
            self.assertIn(f"would be removed: taint {TAINT}\n", result.stdout)
            self.assertIn("would be removed: label rdma-node-agent/health\n", result.stdout)
            result = a.command("kube", "cleanup")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(self.node.own_labels, {})
            self.assertNotIn(TAINT, self.node.taints)
            a.start()
            wait("readiness", a.is_ready)

    def test_off_and_on(self):
        with self.agent(backend="off", taint="") as a:
            a.wait_snapshots(3)
            self.assertEqual(self.node.own_labels, {})
            self.reload(a, backend="api")
            wait("labels", lambda: self.node.own_labels.get(ROCE) == "true")
            self.reload(a, backend="off")
            wait("no metric", lambda: a.metric("rdma_kubernetes_in_sync", backend="api") is None)
            a.set_states("1: DOWN")
            a.wait_snapshots(3)
        self.assertEqual(self.node.own_labels[ROCE], "true")  # they stay where they are

    def test_another_node(self):
        other = self.admin.make_node()
        self.addCleanup(other.delete)
        with self.agent(taint="") as a:
            wait("labels", lambda: self.node.own_labels.get(ROCE) == "true")
            self.reload(a, node_name=other.name)
            wait("labels there", lambda: other.own_labels.get(ROCE) == "true")

    def test_a_hanging_server_holds_nobody_up(self):
        with self.agent(taint="", server="https://192.0.2.1:6443") as a:
            a.wait_snapshots(3)
            self.reload(a, server="")
            wait("labels", lambda: self.node.own_labels.get(ROCE) == "true")
            self.assertEqual(a.get("/metrics", timeout=10).status, 200)

    def test_names_that_cannot_be(self):
        with self.agent(taint="") as a:
            wait("labels", lambda: self.node.own_labels.get(ROCE) == "true")
            labels = self.node.own_labels
            self.reload(a, label_prefix="kubernetes.io/")
            line = wait("the refusal", lambda: [line for line in a.log().splitlines()
                                                if "keeping the old settings" in line])[0]
            self.assertIn(f"{a.config}:", line)
            self.assertRegex(line, rf"{os.path.basename(a.config)}:[1-9]\d*: "
                                   "kubernetes.label_prefix: .*is reserved for Kubernetes")
            self.assertEqual(a.metric("rdma_agent_config_last_reload_successful"), 0)
            a.wait_snapshots(3)
            self.assertEqual(self.node.own_labels, labels)
            self.reload(a, label_prefix="rdma-node-agent")
            wait("the next one", lambda:
                 a.metric("rdma_agent_config_last_reload_successful") == 1)
