# SPDX-License-Identifier: Apache-2.0
"""Members of probes from EndpointSlices: an agent of this node, and a double of the API server."""
import json
import os

from agent import Agent, wait
from cluster import DoubleTest

import api

RIGHT = "list endpointslices in rdma"
SLICES = "/endpointslices"


def pods(count, **more):
    return [{"address": f"10.{8 + i // 65000}.{i % 65000 // 250}.{i % 250 + 1}",
             "node": f"gpu-node-{i:05}", **more} for i in range(count)]


class SliceAgent(Agent):
    def __init__(self, **kubernetes):
        super().__init__()
        self.kubernetes = {"spread": "0s", **kubernetes}

    def write_config(self, poll=None, extra=""):
        secret = f"{self.directory}/secret"
        with open(os.open(secret, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
            file.write("0123456789abcdef" * 4)
        probe = {"enabled": True, "secret_file": secret, "members_kubernetes": "rdma/agents"}
        super().write_config(poll, f"probe: {json.dumps(probe)}\nselftest: {{enabled: false}}\n"
                                   f"kubernetes: {json.dumps(self.kubernetes)}\n{extra}")

    def probes(self):
        return json.loads(self.get("/api/v1/probes").text)

    def members(self):
        return self.probes()["members"]

    def wait_members(self, count):
        wait(f"{count} members", lambda: self.members()["members"] == count)


class Slices(DoubleTest):
    def setUp(self):
        super().setUp()
        self.api.rules.add(RIGHT)

    def agent(self, **kubernetes):
        return SliceAgent(kubeconfig=self.kubeconfig, **kubernetes)

    def test_a_fleet_that_is_read_at_once(self):
        """700 nodes: the slices are counted, then read. Each node is one member."""
        old = [{**pod, "address": f"fd00::{i:x}"} for i, pod in enumerate(pods(100))]
        ending = pods(50, conditions={"terminating": True, "serving": False})
        self.api.set_pods("rdma", "agents", pods(700) + old + ending)
        self.api.set_pods("rdma", "others", [{"address": "10.99.0.1", "node": "other"}])
        self.api.set_pods("other", "agents", [{"address": "10.99.0.2", "node": "other"}])
        with self.agent() as agent:
            agent.wait_members(700)
            members = agent.members()
            self.assertEqual((members["source"], members["name"]), ("kubernetes", "rdma/agents"))
            self.assertNotIn("error", members)
        asked = self.asked("GET", SLICES)
        self.assertEqual([api.PARTIAL_LIST in r.accept for r in asked], [True, False])
        for record in asked:
            self.assertEqual(record.query, {"labelSelector": "kubernetes.io/service-name=agents",
                                            "resourceVersion": "0"})
        whole = len(json.dumps(self.api.slices[("rdma", "agents")]))
        print(f"     {whole} bytes of slices, {asked[1].sent} sent")
        self.assertLess(asked[1].sent, whole / 3)  # it was compressed

    def test_a_large_fleet_is_spread(self):
        """10,000 nodes: only the slices are counted at first; the list follows within an hour.

        By chance that may be at once: one of two agents waits longer than this test."""
        self.api.set_pods("rdma", "agents", pods(10000))
        self.assertTrue(any(self.waits_for_the_list() for _ in range(2)))

    def waits_for_the_list(self):
        before = len(self.asked("GET", SLICES))
        with self.agent() as agent:
            wait("the count", lambda: self.asked("GET", SLICES)[before:])
            agent.wait_snapshots(20)
            waits = "read" not in agent.members()
        asked = self.asked("GET", SLICES)[before:]
        self.assertLess(asked[0].sent, 128 * 1024)
        return waits and len(asked) == 1

    def test_the_right_is_missing(self):
        self.api.rules.discard(RIGHT)
        with self.agent() as agent:
            error = wait("the error", lambda: agent.members().get("error"))
        self.assertIn("GET /apis/discovery.k8s.io/v1/namespaces/rdma/endpointslices: Kubernetes "
                      "answered 403", error)
        self.assertIn("check that a Role in that namespace allows the agent to list endpointslices",
                      error)

    def test_nothing_behind_the_service(self):
        with self.agent() as agent:
            error = wait("the error", lambda: agent.members().get("error"))
        self.assertEqual(error, "Service rdma/agents has no endpoints with a TCP port")

    def test_a_token_that_was_rotated(self):
        """The new one is in the file; the second request is made with it."""
        self.api.set_pods("rdma", "agents", pods(3))
        self.api.write_service_account("old")
        path = self.api.kubeconfig("rotating", user={"tokenFile": "sa/token"})
        note = self.api.note
        self.api.note = lambda record: (note(record), self.api.write_service_account())
        with SliceAgent(kubeconfig=path) as agent:
            agent.wait_members(3)
        self.assertEqual([r.status for r in self.asked("GET", SLICES)], [401, 200, 200])

    def test_the_server_hangs(self):
        """The agent ends at once, although its thread waits."""
        self.api.fault("hang in reply")
        with self.agent() as agent:
            wait("the request", lambda: self.asked("GET", SLICES))
            status, seconds = agent.stop()
            self.assertEqual(status, 0)
            self.assertLess(seconds, 8)


class OldSlices(DoubleTest):
    version = (1, 20)

    def test_a_server_without_them(self):
        with SliceAgent(kubeconfig=self.kubeconfig) as agent:
            error = wait("the error", lambda: agent.members().get("error"))
        self.assertIn("Kubernetes answered 404", error)
        self.assertIn("since Kubernetes 1.21", error)
