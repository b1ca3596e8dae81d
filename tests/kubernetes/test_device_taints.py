# SPDX-License-Identifier: Apache-2.0
"""Taints of devices (DRA): DeviceTaintRules for the devices of NICs in ResourceSlices."""
import time

from agent import wait
from cluster import DoubleTest, once
from test_told import NodeAgent

KEY = "rdma-node-agent/unhealthy"
RIGHTS = {"list resourceslices", "list devicetaintrules", "create devicetaintrules",
          "patch devicetaintrules", "delete devicetaintrules"}
BAD = {"device": "mlx5_0", "pci": "0000:1a:00.0", "reason": "port-down",
       "functions": ["0000:1a:00.2"]}


def device(name, **attributes):
    return {"name": name, "attributes": {key: {"string": value} for key, value in attributes.items()}}


def slice_of(driver, node, *devices, pool=None):
    return {"metadata": {"name": f"{node}-{driver}-x7k2p"},
            "spec": {"driver": driver, "nodeName": node, "devices": list(devices),
                     "pool": {"name": pool or node, "generation": 1, "resourceSliceCount": 1}}}


def dranet(node, *devices):
    """As dranet 1.0 has them."""
    return slice_of("dra.net", node, *[
        device(f"pci-{pci.replace(':', '-').replace('.', '-')}",
               **{"dra.net/pciAddress": pci, "dra.net/rdmaDevice": name, "dra.net/type": "device"})
        for name, pci in devices])


def sriov(node, *functions):
    """A driver with the standard attribute."""
    return slice_of("sriovnetwork.k8snetworkplumbingwg.io", node, *[
        device(f"vf-{i}", **{"resource.kubernetes.io/pciBusID": pci})
        for i, pci in enumerate(functions)])


class Client(DoubleTest):
    def setUp(self):
        super().setUp()
        self.api.rules |= RIGHTS
        self.api.resource_slices = [
            dranet("node-1", ("mlx5_0", "0000:1a:00.0"), ("mlx5_1", "0000:3c:00.0")),
            dranet("node-2", ("mlx5_0", "0000:1a:00.0")),
            sriov("node-1", "0000:1a:00.2", "0000:3c:00.2"),
            slice_of("shared.example", "node-1", pool="another-pool",
                     *[device("x", **{"resource.kubernetes.io/pciBusID": "0000:1a:00.0"})]),
        ]

    def client(self, **options):
        return super().client(**{"device_taint_key": KEY, "device_taint_effect": "NoSchedule",
                                 **options})

    def tainted(self):
        """{(driver, pool, device): (value, effect)}"""
        found = {}
        for rule in self.api.taint_rules.values():
            selector, taint = rule["spec"]["deviceSelector"], rule["spec"]["taint"]
            self.assertEqual(taint["key"], KEY)
            found[(selector["driver"], selector["pool"], selector["device"])] = (
                taint["value"], taint["effect"])
        return found

    def owners(self):
        return {owner["uid"] for rule in self.api.taint_rules.values()
                for owner in rule["metadata"]["ownerReferences"]}

    ALL = {("dra.net", "node-1", "pci-0000-1a-00-0"): ("port-down", "NoSchedule"),
           ("sriovnetwork.k8snetworkplumbingwg.io", "node-1", "vf-0"): ("port-down", "NoSchedule")}

    def test_they_come_and_go(self):
        """The device, and its virtual function of another driver; no other node's, no other pool's."""
        with self.client() as client:
            client.make(devices=[BAD])
            self.assertEqual(self.tainted(), self.ALL)
            self.assertEqual(client.statuses[-1]["device_taints"], 2)
            client.make(devices=[{**BAD, "reason": "errors-rising"}])
            self.assertEqual(set(self.tainted().values()), {("errors-rising", "NoSchedule")})
            client.make()
            self.assertEqual(self.tainted(), {})
            self.assertEqual(client.statuses[-1]["device_taints"], 0)

    def test_they_go_with_the_node(self):
        """A Node that is made anew under the same name has other rules."""
        with self.client(look=100) as client:
            client.make(devices=[BAD])
            self.api.collect_garbage()
            self.assertEqual(self.tainted(), self.ALL)
            self.node.delete()
            self.api.collect_garbage()
            self.assertEqual(self.tainted(), {})
            uid = self.admin.make_node("node-1").get()["metadata"]["uid"]
            wait("rules of the new Node", lambda: self.owners() == {uid} and self.tainted() == self.ALL)
            self.api.collect_garbage()
            self.assertEqual(self.tainted(), self.ALL)

    def test_rules_without_owner_get_one(self):
        """As agents before wrote them."""
        with self.client() as client:
            client.make(devices=[BAD])
        for rule in self.api.taint_rules.values():
            del rule["metadata"]["ownerReferences"]
        with self.client() as client:
            client.make(devices=[BAD])
        self.assertTrue(all("ownerReferences" in rule["metadata"]
                            for rule in self.api.taint_rules.values()))

    def test_nothing_is_written_twice(self):
        with self.client(look=100) as client:
            client.make(devices=[BAD])
            seen = len(self.api.log)
            wait("more looks", lambda: len(self.api.asked("GET", "/devicetaintrules", since=seen)) > 3)
            self.assertEqual(self.api.asked("PATCH", since=seen), [])

    def test_by_name_where_the_address_is_unknown(self):
        with self.client() as client:
            client.make(devices=[{"device": "mlx5_1", "reason": "device-missing"}])
        self.assertEqual(set(self.tainted()), {("dra.net", "node-1", "pci-0000-3c-00-0")})

    def test_an_agent_that_does_not_know_all_removes_none(self):
        with self.client() as client:
            client.make(devices=[BAD])
        with self.client() as client:
            client.make(devices=[], all_devices=False)
            self.assertEqual(self.tainted(), self.ALL)
            client.make(devices=[])
        self.assertEqual(self.tainted(), {})

    def test_knowing_less_for_a_while_costs_nothing(self):
        """Each change of an urgent kind costs a token, and there are three for those."""
        with self.client() as client:
            client.make(devices=[BAD])
            seen = len(self.api.log)
            for _ in range(10):
                client.want(devices=[BAD], all_devices=False)
                time.sleep(0.05)  # wishes that come at once are one
                client.want(devices=[BAD])
                time.sleep(0.05)
            client.make(devices=[BAD], labels={"network.nvidia.com/roce": "true"})
        self.assertEqual(self.api.asked("GET", "/devicetaintrules", since=seen), [])
        self.assertEqual(self.tainted(), self.ALL)

    def test_slices_that_come_later(self):
        slices, self.api.resource_slices = self.api.resource_slices, []
        with self.client(look=200) as client:
            client.make(devices=[BAD])
            self.assertEqual(self.tainted(), {})
            self.api.resource_slices = slices
            wait("the taints", lambda: self.tainted() == self.ALL)

    def test_rules_of_others_stay(self):
        other = {"metadata": {"name": "by-hand", "labels": {"rdma-node-agent/node": "node-1"}},
                 "spec": {"deviceSelector": {"driver": "dra.net", "pool": "node-1"},
                          "taint": {"key": KEY, "value": "x", "effect": "NoSchedule"}}}
        copied = {"metadata": {"name": "rdma-node-agent-0123", "labels": other["metadata"]["labels"]},
                  "spec": {"deviceSelector": {"driver": "dra.net", "pool": "node-2"},
                           "taint": {"key": KEY, "value": "x", "effect": "NoSchedule"}}}
        self.api.taint_rules = {rule["metadata"]["name"]: rule for rule in (other, copied)}
        with self.client() as client:
            client.make()
        self.assertEqual(set(self.api.taint_rules), {"by-hand", "rdma-node-agent-0123"})

    def test_another_effect(self):
        with self.client() as client:
            client.make(devices=[BAD])
        with self.client(device_taint_effect="None") as client:
            client.make(devices=[BAD])
        self.assertEqual({effect for _, effect in self.tainted().values()}, {"None"})

    def test_the_annotation(self):
        with self.client(look=100) as client:
            client.make(devices=[BAD])
            self.node.patch({"metadata": {"annotations": {"rdma-node-agent/ignore": "true"}}})
            wait("no taints", lambda: self.tainted() == {})

    def test_cleanup(self):
        with self.client() as client:
            client.make(devices=[BAD])
        status, _, errors = once("cleanup", self.kubeconfig, "node-1")
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual(self.tainted(), {})
        self.api.rules -= RIGHTS
        self.assertEqual(once("cleanup", self.kubeconfig, "node-1")[0], 0)

    def test_a_missing_right(self):
        self.api.rules.discard("create devicetaintrules")
        with self.client() as client:
            client.want(labels={"rdma-node-agent/ports": "8"}, devices=[BAD])
            problem = client.wait_problem("devicetaintrules")
            self.assertIn("check that a ClusterRole allows the agent to", problem)
            self.assertEqual(self.node.own_labels, {"rdma-node-agent/ports": "8"})
            self.assertFalse(client.statuses[-1]["in_step"])

    def test_a_long_name_of_a_node(self):
        name = f"{'a' * 60}.{'b' * 60}.example"
        node = self.admin.make_node(name)
        self.addCleanup(node.delete)
        self.api.resource_slices = [dranet(name, ("mlx5_0", "0000:1a:00.0"))]
        for devices in ([BAD], []):
            status, _, errors = once("apply", self.kubeconfig, name, {"devices": devices},
                                     device_taint_key=KEY, device_taint_effect="NoSchedule")
            self.assertEqual((status, errors), (0, ""))
            self.assertEqual(len(self.tainted()), len(devices))


class NewerClient(Client):
    """With v1 of DeviceTaintRules."""
    version = (1, 37)


class WithoutIt(DoubleTest):
    version = (1, 35)

    def test_it_says_so(self):
        self.api.rules |= RIGHTS
        with self.client(device_taint_key=KEY, device_taint_effect="NoSchedule") as client:
            client.want(labels={"rdma-node-agent/ports": "8"}, devices=[BAD])
            self.assertIn("Kubernetes 1.36 and later", client.wait_problem("DeviceTaintRules"))
            self.assertEqual(self.node.own_labels, {"rdma-node-agent/ports": "8"})

    def test_cleanup_needs_it_not(self):
        self.assertEqual(once("cleanup", self.kubeconfig, "node-1")[0], 0)


class Agents(DoubleTest):
    """The agent on a recorded machine, whose port goes down and comes up."""

    def test_a_port_goes_down(self):
        self.api.rules |= RIGHTS
        with NodeAgent(self.kubeconfig, "node-1", taint="", events=False,
                       device_taints="report") as a:
            wait("labels", lambda: "rdma-node-agent/ports-up" in self.node.own_labels)
            self.api.resource_slices = [dranet("node-1", ("mlx5_3", "0000:ff:00.0"))]
            a.write("sys/class/infiniband/mlx5_3/ports/1/state", "1: DOWN")
            rules = wait("the rule", lambda: list(self.api.taint_rules.values()))
            self.assertEqual(rules[0]["spec"]["taint"]["effect"], "None")
            self.assertEqual(rules[0]["spec"]["taint"]["value"], "port-down")
            wait("the metric", lambda: a.metric("rdma_kubernetes_device_taints") == 1)
            since = time.monotonic()
            a.write("sys/class/infiniband/mlx5_3/ports/1/state", "4: ACTIVE")
            wait("no rule", lambda: not self.api.taint_rules)
            self.assertGreater(time.monotonic() - since, 1)  # up_delay
