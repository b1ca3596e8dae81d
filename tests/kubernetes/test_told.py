# SPDX-License-Identifier: Apache-2.0
"""The agent on a recorded machine, and the changes of its Node. Runs on any API server:
RNA_TEST_KUBECONFIG names a real one."""
import json
import os
import subprocess
import tempfile

import agent
from agent import Agent, wait
from test_node import AnyServer

ROCE = "network.nvidia.com/roce"
TAINT = "rdma-node-agent/down"
SOON = {"up_delay": "1s", "down_delay": "2s", "spread": "3s", "refresh": "1m"}


class NodeAgent(Agent):
    health = 'hold_down: ["*=0s"]'

    def __init__(self, kubeconfig, node, **kubernetes):
        super().__init__("roce-8rail")
        self.kubernetes = {"backend": "api", "kubeconfig": kubeconfig, "node_name": node,
                           "taint": TAINT, **SOON, **kubernetes}

    def write_config(self, poll=None, extra=""):
        super().write_config(poll, f"kubernetes: {json.dumps(self.kubernetes)}\n"
                                   f"state: {{directory: {self.directory}/state}}\n"
                                   f"health: {{{self.health}}}\n" + extra)

    def set_states(self, state):
        for rail in range(9):
            self.write(f"sys/class/infiniband/mlx5_{rail}/ports/1/state", state)

    def command(self, *words):
        return subprocess.run([agent.binary, *words, "--config", self.config], text=True,
                              capture_output=True, timeout=agent.PATIENCE, check=False)


class Agents(AnyServer):
    def agent(self, **kubernetes):
        return NodeAgent(self.kubeconfig, self.node.name, **kubernetes)

    def status_of(self, kind):
        return self.node.conditions.get(kind, {}).get("status")

    @staticmethod
    def restart(a):
        a.stop()
        a.start()
        wait("readiness", a.is_ready)

    # Writes to a Node are few: five at once, and then one in twelve minutes. So each of these has
    # one thing happen to it.

    def test_a_switch_is_lost(self):
        with self.agent() as a:
            wait("labels", lambda: self.node.own_labels.get(ROCE) == "true")
            wait("conditions", lambda: self.status_of("RdmaPortDown") == "False")
            wait("the ports", lambda: self.node.own_labels.get("rdma-node-agent/ports-up") == "9")
            self.assertNotIn(TAINT, self.node.taints)
            a.set_states("1: DOWN")
            wait("the condition", lambda: self.status_of("RdmaPortDown") == "True")
            wait("the taint", lambda: TAINT in self.node.taints)
            wait("no RoCE", lambda: ROCE not in self.node.own_labels)
            wait("its health", lambda: self.node.own_labels.get("rdma-node-agent/health") == "critical")
            wait("in step", lambda: a.metric("rdma_kubernetes_in_sync", backend="api") == 1)
            self.assertGreater(a.metric("rdma_kubernetes_requests_total", backend="api",
                                        result="ok"), 0)

    def test_first_conditions(self):
        """With the hold-downs that rules have, and although labels may have been written before."""
        first = self.agent(spread="12s")
        first.health = ""
        kinds = ("PortDown", "DeviceMissing", "LinkDegraded", "PortUnreachable", "NotObserved",
                 "NotReady")
        with first:
            wait("labels", lambda: self.node.own_labels.get(ROCE) == "true")
            wait("conditions", lambda: all(self.status_of(f"Rdma{kind}") for kind in kinds))
            self.assertEqual(self.status_of("RdmaLinkDegraded"), "False")

    def test_a_restart_while_ports_are_down(self):
        """A rule that settles late (mtu-low) keeps no node down whose ports are up again."""
        with self.agent() as a:
            wait("labels", lambda: self.node.own_labels.get(ROCE) == "true")
            a.set_states("1: DOWN")
            wait("the taint", lambda: TAINT in self.node.taints)
            a.stop()
            a.health = 'hold_down: ["*=0s", "mtu-low=1h"]'
            a.write_config()
            a.start()
            wait("readiness", a.is_ready)
            a.set_states("4: ACTIVE")
            wait("no taint", lambda: TAINT not in self.node.taints)
            wait("its health", lambda: self.node.own_labels.get("rdma-node-agent/health") != "critical")
            wait("the condition", lambda: self.status_of("RdmaPortDown") == "False")

    def test_a_restart_with_ports_down_for_a_moment(self):
        """What a new agent meets may pass, as later: the Node is well all the time."""
        with self.agent(down_delay="1m", spread="0s") as a:
            wait("labels", lambda: self.node.own_labels.get(ROCE) == "true")
            wait("conditions", lambda: self.status_of("RdmaPortDown") == "False")
            a.stop()
            a.set_states("1: DOWN")
            a.start()
            wait("readiness", a.is_ready)
            wait("the finding", lambda: a.metric("rdma_findings", severity="critical"))
            a.wait_snapshots(20)
            self.assertEqual(self.status_of("RdmaPortDown"), "False")
            a.set_states("4: ACTIVE")
            wait("no finding", lambda: a.metric("rdma_findings", severity="critical") == 0)
            a.wait_snapshots(20)
            self.assertEqual(self.status_of("RdmaPortDown"), "False")
            self.assertEqual(self.node.own_labels["rdma-node-agent/health"], "ok")
            self.assertNotIn(TAINT, self.node.taints)

    def test_a_budget_that_is_spent(self):
        """The first write takes all of it: the next one waits, and that the node is down does not."""
        quiet = self.agent(changes=1, urgent_changes=1, spread="0s", conditions=False, events=False)
        # One port that is down leaves its health as it is.
        quiet.health = ('hold_down: ["*=0s"], '
                        'silence: ["2020-01-01T00:00Z/2100-01-01T00:00Z mlx5_8"]')
        with quiet as a:
            wait("labels", lambda: self.node.own_labels.get("rdma-node-agent/ports-up") == "9")
            a.write("sys/class/infiniband/mlx5_8/ports/1/state", "1: DOWN")
            wait("the problem", lambda: a.metric("rdma_kubernetes_problem", backend="api") == 1)
            self.assertEqual(self.node.own_labels["rdma-node-agent/ports-up"], "9")
            a.set_states("1: DOWN")
            wait("the taint", lambda: TAINT in self.node.taints)
            wait("its health", lambda: self.node.own_labels["rdma-node-agent/health"] == "critical")
            wait("no problem", lambda: a.metric("rdma_kubernetes_problem", backend="api") == 0)
            a.set_states("4: ACTIVE")
            wait("the problem", lambda: a.metric("rdma_kubernetes_problem", backend="api") == 1)
            self.assertIn(TAINT, self.node.taints)

    def port_events(self):
        return [e for e in self.admin.events(self.node.name) if e["reason"].startswith("RdmaPort")]

    def test_nine_ports_are_one_event(self):
        with self.agent(conditions=False, taint="") as a:
            wait("labels", lambda: self.node.own_labels.get(ROCE) == "true")
            a.set_states("1: DOWN")
            events = wait("the event", self.port_events)
            self.assertEqual([(e["reason"], e["type"]) for e in events],
                             [("RdmaPortDown", "Warning")])
            message = events[0]["message"]
            self.assertIn("; and 8 more: ", message)  # in the order in which the agent saw them
            for device in range(9):
                self.assertIn(f"mlx5_{device}", message)
            sent = len(self.admin.events(self.node.name))  # on a busy machine reads fail, too
            wait("the metric", lambda: a.metric("rdma_kubernetes_events_sent_total") >= sent)

    def test_cleanup(self):
        with self.agent() as a:
            wait("conditions", lambda: self.status_of("RdmaPortDown") == "False")
            a.set_states("1: DOWN")
            wait("the taint", lambda: TAINT in self.node.taints)
            a.stop()
            result = a.command("kube", "cleanup")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(self.node.own_labels, {})
            self.assertFalse([kind for kind in self.node.conditions if kind.startswith("Rdma")])
            self.assertNotIn(TAINT, self.node.taints)
            a.set_states("4: ACTIVE")
            result = a.command("kube", "apply", "--root", a.root)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(self.node.own_labels[ROCE], "true")
            a.start()
            wait("readiness", a.is_ready)

    def test_others_are_told_of_once(self):
        """The Node is looked at after half a minute to one and a half."""
        with self.agent(roce_label="own") as a:
            wait("labels", lambda: self.node.own_labels.get(ROCE) == "true")
            wait("in step", lambda: a.metric("rdma_kubernetes_in_sync", backend="api") == 1)
            self.node.label(**{ROCE: "no"})
            wait("the label", lambda: self.node.own_labels.get(ROCE) == "true")
            wait("the metric", lambda: a.metric("rdma_kubernetes_reverts_total") == 1)
            wait("the log", lambda: f'label {ROCE}: "no" instead of "true" (written by other-client)'
                 in a.log())
            self.assertEqual(a.log().count("another client changed the Node"), 1)

    def test_a_label_of_another_client_is_left(self):
        self.node.label(**{ROCE: "no"})
        with self.agent() as a:
            wait("labels", lambda: "rdma-node-agent/ports-up" in self.node.own_labels)
            wait("the metric", lambda: a.metric("rdma_kubernetes_label_held") == 1)
            wait("the finding", lambda: a.metric("rdma_finding", rule="label-held", severity="info") == 1)
            self.assertIn(f'{ROCE} is "no" instead of "true" (written by other-client)', a.log())
            self.assertEqual(a.metric("rdma_kubernetes_reverts_total"), 0)
        self.assertEqual(self.node.own_labels[ROCE], "no")

    def test_an_annotation_keeps_the_agent_away(self):
        def features():
            (name,) = os.listdir(directory)
            with open(f"{directory}/{name}", encoding="utf-8") as file:
                return [line for line in file.read().splitlines() if not line.startswith("#")]

        directory = self.enterContext(tempfile.TemporaryDirectory(prefix="rna-features-"))
        with self.agent(backend="both", nfd_directory=directory) as a:
            wait("the label", lambda: self.node.own_labels.get(ROCE) == "true")
            wait("the file", lambda: os.listdir(directory))
            self.assertTrue(features())
            self.node.patch({"metadata": {"annotations": {"rdma-node-agent/ignore": "true"}}})
            self.restart(a)
            wait("the metric", lambda: a.metric("rdma_kubernetes_ignored") == 1)
            wait("no label", lambda: self.node.own_labels == {})
            wait("no features", lambda: features() == [])
            wait("the log", lambda: 'the Node has the annotation rdma-node-agent/ignore: "true"'
                 in a.log())
            result = a.command("kube", "apply", "--root", a.root)
            self.assertIn(f"kubectl annotate node {self.node.name}", result.stderr)
            self.node.patch({"metadata": {"annotations": {"rdma-node-agent/ignore": None}}})
            self.restart(a)
            wait("the label", lambda: self.node.own_labels.get(ROCE) == "true")
            wait("the features", features)

    def test_a_file_in_the_way_keeps_no_label(self):
        """NFD's directory is missing; the data of the API server is removed nevertheless."""
        with self.agent(backend="off", taint="", nfd_directory="/dev/null") as a:
            self.node.label(**{"rdma-node-agent/ports-up": "9"})
            result = a.command("kube", "cleanup")
            self.assertNotEqual(result.returncode, 0)
            self.assertIn("/dev/null", result.stderr)
            self.assertEqual(self.node.own_labels, {})

    def test_device_plugins(self):
        self.node.patch({"status": {"capacity": {"rdma/hca": "8"},
                                    "allocatable": {"rdma/hca": "0"}}}, "/status")
        with self.agent() as a:
            wait("the resource",
                 lambda: a.metric("rdma_kubernetes_capacity", resource="rdma/hca") == 8)
            self.assertEqual(a.metric("rdma_kubernetes_allocatable", resource="rdma/hca"), 0)
            wait("the condition", lambda: self.status_of("RdmaResourcesMissing") == "True")
            findings = json.loads(a.get("/api/v1/findings").text)["findings"]
            self.assertIn("rdma/hca: none allocatable",
                          [f["text"] for f in findings if f["rule"] == "resources-missing"][0])
