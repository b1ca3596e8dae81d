# SPDX-License-Identifier: Apache-2.0
"""The agent with the API: the Node gets its state, and faults of the API affect nothing else."""
import json
import os
import shutil

from agent import Agent, wait
from cluster import DoubleTest

ROCE = "network.nvidia.com/roce"
SOON = {"backend": "api", "up_delay": "1s", "down_delay": "1s", "spread": "3s", "refresh": "1m"}


class ApiAgent(Agent):
    """On the machine roce-8rail, with a kubeconfig."""

    def __init__(self, kubeconfig, node="node-1", **kubernetes):
        super().__init__("roce-8rail")
        self.kubernetes = {**SOON, "kubeconfig": kubeconfig, "node_name": node, **kubernetes}

    def write_config(self, poll=None, extra=""):
        super().write_config(poll, f"kubernetes: {json.dumps(self.kubernetes)}\n"
                                   f"state: {{directory: {self.directory}/state}}\n"
                                   f'health: {{hold_down: ["*=1s"]}}\n{extra}')

    def set_port(self, rail, state):
        self.write(f"sys/class/infiniband/mlx5_{rail}/ports/1/state", state)

    def lines(self, text):
        return [line for line in self.log().splitlines() if text in line]


class Flow(DoubleTest):
    def test_labels_follow_the_hardware(self):
        with ApiAgent(self.kubeconfig) as agent:
            wait("the label", lambda: self.node.own_labels.get(ROCE) == "true")
            wait("the ports", lambda: self.node.own_labels.get("rdma-node-agent/ports-up") == "9")
            wait("in step", lambda: agent.metric("rdma_kubernetes_in_sync", backend="api") == 1)
            for rail in range(9):
                agent.set_port(rail, "1: DOWN")
            wait("no label", lambda: ROCE not in self.node.own_labels)
            wait("the condition",
                 lambda: self.node.conditions.get("RdmaPortDown", {}).get("status") == "True")
            wait("an event", lambda: self.admin.events("node-1"))
            wait("no port", lambda: self.node.own_labels.get("rdma-node-agent/ports-up") == "0")

    def test_one_that_cannot_be_told_does_not_hold_up_the_others(self):
        typed = {"rdma-node-agent/ports-up": "7", "rdma-node-agent/ports-expected": "7"}
        self.node.label(**typed)
        with ApiAgent(self.kubeconfig) as agent:
            agent.stop()
            shutil.rmtree(f"{agent.directory}/state")  # nothing is known about published values
            agent.set_port(1, "garbage")
            agent.start()
            wait("the label", lambda: self.node.own_labels.get(ROCE) == "true")
            wait("what is known",
                 lambda: self.node.own_labels.get("rdma-node-agent/ports-expected") == "9")
        self.assertEqual(self.node.own_labels["rdma-node-agent/ports-up"], "7")
        self.assertNotIn("rdma-node-agent/rate-total-gbps", self.node.own_labels)

    def test_a_restart_changes_nothing(self):
        with ApiAgent(self.kubeconfig) as agent:
            wait("all labels", lambda: {ROCE, "rdma-node-agent/rails"} <= set(self.node.own_labels))
            wait("in step", lambda: agent.metric("rdma_kubernetes_in_sync", backend="api") == 1)
            labels = self.node.own_labels
            agent.stop()
            self.assertEqual(self.node.own_labels, labels)
            agent.start()
            wait("in step again",
                 lambda: agent.is_ready() and
                 agent.metric("rdma_kubernetes_in_sync", backend="api") == 1)
        self.assertEqual(self.node.own_labels, labels)


class Upgrade(DoubleTest):
    """The label that says that the driver is being changed; the Node is looked at once."""

    UPGRADE = {"nvidia.com/ofed-driver-upgrade-state": "upgrade-required"}

    def wait_quiesced(self, agent):
        wait("the quiesce", lambda: agent.metric("rdma_agent_quiesced") == 1)
        self.assertEqual(len(self.asked("GET")), 1)

    def test_is_known_before_there_is_anything_to_say(self):
        self.node.label(**self.UPGRADE)
        with ApiAgent(self.kubeconfig, refresh="24h", up_delay="1h", conditions=False) as agent:
            self.wait_quiesced(agent)

    def test_comes_with_the_answer_to_a_write(self):
        with ApiAgent(self.kubeconfig, refresh="24h") as agent:
            wait("in step", lambda: agent.metric("rdma_kubernetes_in_sync", backend="api") == 1)
            self.node.label(**self.UPGRADE)
            agent.set_port(1, "1: DOWN")
            self.wait_quiesced(agent)

    def test_is_recalled_only_while_somebody_asks_for_it(self):
        self.node.label(**self.UPGRADE)
        with ApiAgent(self.kubeconfig, refresh="24h") as agent:
            self.wait_quiesced(agent)
            agent.stop()
            self.api.rules.clear()
            agent.start()
            wait("what the Node said before",
                 lambda: agent.is_ready() and agent.metric("rdma_agent_quiesced") == 1)
            self.assertIn("when it was last read; until", agent.log())
            agent.stop()
            agent.kubernetes["taint"] = "not/a/key/"  # nothing is published to Kubernetes or read from it
            agent.write_config()
            agent.start()
            wait("the end",
                 lambda: agent.is_ready() and agent.metric("rdma_agent_quiesced") == 0)


class Trouble(DoubleTest):
    """Monitoring goes on; the log has one line."""

    def goes_on(self, agent):
        agent.wait_snapshots(3)
        for _ in range(20):  # requests to the API hang for longer
            self.assertEqual(agent.get("/metrics", timeout=10).status, 200)

    def test_hangs(self):
        self.api.fault("hang in reply")
        with ApiAgent(self.kubeconfig) as agent:
            wait("a request that hangs", self.asked)
            self.goes_on(agent)
            self.api.heal()
            self.api.ended.set()  # lets go of those that hang
            wait("the label", lambda: self.node.own_labels.get(ROCE) == "true")

    def test_rights_are_missing(self):
        self.api.rules.clear()
        with ApiAgent(self.kubeconfig) as agent:
            wait("the line", lambda: agent.lines("403"))
            wait("the metric", lambda: agent.metric("rdma_kubernetes_problem", backend="api") == 1)
            wait("more of the same", lambda: len(self.asked(status=403)) >= 8)
            self.goes_on(agent)
            self.assertEqual(len(agent.lines("403")), 1, agent.log())
            self.api.rules |= {"get nodes", "patch nodes", "patch nodes/status", "create events"}
            wait("the label", lambda: self.node.own_labels.get(ROCE) == "true")

    def test_no_conditions_and_no_right_to_them(self):
        self.api.rules.discard("patch nodes/status")
        with ApiAgent(self.kubeconfig, conditions=False) as agent:
            wait("the label", lambda: self.node.own_labels.get(ROCE) == "true")
            wait("in step", lambda: agent.metric("rdma_kubernetes_in_sync", backend="api") == 1)
        self.assertEqual(self.asked(status=403), [])

    def test_no_name(self):
        os.environ.pop("NODE_NAME", None)
        with ApiAgent(self.kubeconfig, node="") as agent:
            self.goes_on(agent)
            self.assertEqual(len(agent.lines("the name of this Node is unknown")), 1)

    def test_no_kubeconfig(self):
        with ApiAgent("/nowhere") as agent:
            wait("the line", lambda: agent.lines("/nowhere: cannot open"))
            self.goes_on(agent)
            self.assertEqual(len(agent.lines("/nowhere")), 1)

    def test_an_illegal_prefix(self):
        with ApiAgent(self.kubeconfig, label_prefix="kubernetes.io/") as agent:
            self.goes_on(agent)
            self.assertEqual(len(agent.lines("label_prefix")), 1, agent.log())
        self.assertEqual(self.asked(), [])
