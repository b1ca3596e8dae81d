# SPDX-License-Identifier: Apache-2.0
"""The life of a release: install, ports down, taints, recovery, upgrade, rollback, clean-up, uninstall.

Real Helm, the real chart and real agents on recorded machines; the same on a real API server
(servers.py) and on a double of it (served.py). What has to be true is asserted.
"""
import json
import os
import subprocess
import tempfile
import time

import api
from agent import BUSY, PATIENCE, wait
from cluster import Cluster
from kubelet import Kubelet, PodAgent, now

CHART = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../helm/rdma-node-agent")
ROCE, TAINT, STRATEGIC = "network.nvidia.com/roce", "rdma-node-agent/down", api.STRATEGIC
DOWN, UP = "1: DOWN", "4: ACTIVE"
CONDITIONS = {f"Rdma{kind}" for kind in ("PortDown", "DeviceMissing", "LinkDegraded", "PortUnreachable",
                                         "NotObserved", "NotReady")}
RULES = "/apis/resource.k8s.io/v1beta2/devicetaintrules"
SLICES = "/apis/resource.k8s.io/v1/resourceslices"
POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
SOON = {"backend": "api", "taint": TAINT, "up_delay": "1s", "down_delay": "1s", "first_delay": "0s",
        "spread": "1s", "refresh": "1m", "changes": 100}  # so much happens in a day, not in a minute
# What a release consists of, or leaves: the paths of lists, with the namespace to fill in.
LISTS = ["/api/v1/namespaces/{0}/configmaps", "/api/v1/namespaces/{0}/serviceaccounts",
         "/api/v1/namespaces/{0}/pods", "/api/v1/namespaces/{0}/secrets",
         "/apis/apps/v1/namespaces/{0}/daemonsets", "/apis/batch/v1/namespaces/{0}/jobs",
         "/apis/coordination.k8s.io/v1/namespaces/{0}/leases",
         "/apis/rbac.authorization.k8s.io/v1/clusterroles",
         "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
         "/apis/rbac.authorization.k8s.io/v1/namespaces/{0}/roles",
         "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles",
         "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings", POLICIES,
         POLICIES[:-len("policies")] + "policybindings"]


def event(name, node, **more):
    return {"apiVersion": "v1", "kind": "Event", "metadata": {"name": name, "namespace": "default"},
            "involvedObject": {"kind": "Node", "name": node, "apiVersion": "v1"}, "reason": "RdmaTest",
            "message": "a test", "type": "Normal", "source": {"component": "rdma-node-agent", "host": node},
            "reportingComponent": "rdma-node-agent", "reportingInstance": node, "count": 1,
            "firstTimestamp": now(), "lastTimestamp": now(), **more}


def rule(driver, pool):
    return {"apiVersion": "resource.k8s.io/v1beta2", "kind": "DeviceTaintRule",
            "metadata": {"name": "rdma-node-agent-test", "labels": {"rdma-node-agent/node": pool}},
            "spec": {"deviceSelector": {"driver": driver, "pool": pool, "device": "x"},
                     "taint": {"key": "rdma-node-agent/unhealthy", "value": "x", "effect": "NoSchedule"}}}


def attempts(own, other, lease, reads):
    """What a stolen token of an agent must not do: what, method, path, body, type, part of the answer."""
    node, label = f"/api/v1/nodes/{own}", {"metadata": {"labels": {"rdma-node-agent/health": "x"}}}
    events = "/api/v1/namespaces/default/events?fieldManager=rdma-node-agent"
    taint = {"spec": {"taints": [{"key": "x/y", "effect": "NoSchedule"}]}}
    evict = {"spec": {"taints": [{"key": TAINT, "effect": "NoExecute"}]}}
    yield "another node's label", "PATCH", f"/api/v1/nodes/{other}", label, api.MERGE, "its own pod only"
    yield "another node's label by its status", "PATCH", f"/api/v1/nodes/{other}/status", label, api.MERGE, \
        "its own pod only"
    yield "another's label", "PATCH", node, {"metadata": {"labels": {"pool": "x"}}}, api.MERGE, "own labels"
    yield "another's label by the status", "PATCH", f"{node}/status", \
        {"metadata": {"labels": {"pool": "x"}}}, api.MERGE, "own labels"
    yield "an annotation", "PATCH", node, {"metadata": {"annotations": {"x": "y"}}}, api.MERGE, \
        "else in metadata"
    yield "another taint", "PATCH", node, taint, api.MERGE, "own taint"
    yield "another effect", "PATCH", node, evict, api.MERGE, "own taint"
    yield "a cordon", "PATCH", node, {"spec": {"unschedulable": True}}, api.MERGE, "else in spec"
    yield "the kubelet's condition", "PATCH", f"{node}/status", {"status": {"conditions": [
        {"type": "Ready", "status": "False", "reason": "x", "message": "y"}]}}, STRATEGIC, "own conditions"
    yield "a capacity", "PATCH", f"{node}/status", {"status": {"capacity": {"rdma/x": "1"}}}, api.MERGE, \
        "else in status"
    yield "no managed fields", "PATCH", node, {"metadata": {"managedFields": [{}]}}, api.MERGE, \
        "managed fields of the kubelet"
    yield "an Event of another node", "POST", events, event(f"{other}.rdma-00", other), None, "its own pod"
    yield "an Event as the kubelet", "POST", events, event(
        f"{own}.rdma-00", own, reportingComponent="kubelet"), None, "in its own name"
    yield "an Event of any name", "POST", events, event(f"{own}.x", own), None, "64 different"
    yield "a rule for another pool", "PATCH", f"{RULES}/rdma-node-agent-test?fieldManager=x&force=true", \
        rule("dra.net", other), api.APPLY, "its own node"
    yield "a rule for GPUs", "PATCH", f"{RULES}/rdma-node-agent-test?fieldManager=x&force=true", \
        rule("gpu.nvidia.com", own), api.APPLY, "deviceTaintDrivers"
    yield "a Lease for another", "PATCH", f"{lease}?fieldManager=rdma-node-agent", \
        {"metadata": {}, "spec": {"holderIdentity": other}}, api.MERGE, "its own pod only"
    if reads:
        yield "a look at another node", "GET", f"/api/v1/nodes/{other}", None, None, "connection refused"
    yield "the list of nodes", "GET", "/api/v1/nodes", None, None, "cannot list"
    yield "a new node", "POST", "/api/v1/nodes", {"apiVersion": "v1", "kind": "Node",
                                                  "metadata": {"name": "x"}}, None, "cannot create"
    yield "no node", "DELETE", node, None, None, "cannot delete"
    yield "Secrets", "GET", "/api/v1/namespaces/kube-system/secrets", None, None, "cannot list"


class Life:
    """run() does it all with one Helm, and tells of each step."""

    def __init__(self, servers, helm, namespace="rdma", release="rel", tell=print):
        self.servers, self.admin, self.tell = servers, servers.admin, tell
        self.helm_program, self.namespace, self.release = helm, namespace, release
        self.fullname = f"{release}-rdma-node-agent"
        self.kubelet = Kubelet(servers, namespace)
        self.agents = {}
        self.has_rules = self.serves(RULES) and self.serves(SLICES)
        self.has_policies = self.serves(POLICIES)
        self.values = {"config": {"poll": BUSY, "health": {"hold_down": ["*=0s"]},
                                  "kubernetes": {**SOON, "device_taints": "taint" if self.has_rules else "off"}},
                       "taintLimit": 1, **({} if self.has_policies else {"admissionPolicy": "never"})}

    def serves(self, path):
        return self.admin.request("GET", path)[0] == 200

    def ask(self, path):
        return self.admin.ask("GET", path)

    def with_settings(self, **settings):
        config = self.values["config"]
        return {**self.values, "config": {**config, "kubernetes": {**config["kubernetes"], **settings}}}

    # -- Helm ---------------------------------------------------------------------------------

    def helm(self, verb, *words, values=None):
        """Runs it, and the Jobs of its hooks meanwhile."""
        home = {f"HELM_{name}_HOME": self.servers.directory for name in ("CACHE", "CONFIG", "DATA")}
        command = [self.helm_program, verb, self.release, *words, "--namespace", self.namespace,
                   "--timeout", "100s"]
        if values is not None:
            path = f"{self.servers.directory}/values.json"
            with open(path, "w", encoding="utf-8") as file:
                json.dump(values, file)
            command += [CHART, "--values", path, *self.servers.helm_flags]
        # A file takes more than a pipe holds: it is not read while Helm renders the whole chart.
        with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
            with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output,
                                  stderr=subprocess.STDOUT,
                                  env={**os.environ, **home, "KUBECONFIG": self.servers.kubeconfig_path}) as process:
                while process.poll() is None:
                    self.kubelet.run_jobs()
                    time.sleep(0.1)  # between two looks at what Helm has made
            output.seek(0)
            text = output.read()
        assert process.returncode == 0, f"helm {verb}: status {process.returncode}: {text}; {self.kubelet.ran}"
        return text

    def described(self, name):
        """The node as kubectl describes it; None where there is no kubectl."""
        if not self.servers.kubectl:
            return None
        return subprocess.run([self.servers.kubectl, "--kubeconfig", self.servers.kubeconfig_path,
                               "describe", "node", name], check=True, text=True, stdout=subprocess.PIPE, timeout=PATIENCE).stdout

    def daemon_set(self):
        return self.ask(f"/apis/apps/v1/namespaces/{self.namespace}/daemonsets/{self.fullname}")

    def leases(self):
        found = self.ask(f"/apis/coordination.k8s.io/v1/namespaces/{self.namespace}/leases")["items"]
        return {item["metadata"]["name"]: item.get("spec", {}).get("holderIdentity") for item in found
                if item["metadata"]["name"].startswith(self.fullname)}

    def holders(self):
        return sorted(filter(None, self.leases().values()))

    # -- Nodes --------------------------------------------------------------------------------

    def make_nodes(self):
        self.nodes = {}
        for name in ("gpu-1", "gpu-2"):
            node = self.nodes[name] = self.admin.make_node(name)
            self.admin.ask("PATCH", f"{node.path}?fieldManager=kubelet",
                           {"metadata": {"labels": {"pool": "gpu", "kubernetes.io/os": "linux"}}}, kind=api.MERGE)
            self.admin.ask("PATCH", f"{node.path}/status?fieldManager=kubelet", {"status": {"conditions": [
                {"type": "Ready", "status": "True", "reason": "x", "message": "y"}]}}, kind=STRATEGIC)
            if self.has_rules:
                self.admin.ask("POST", SLICES, {
                    "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
                    "metadata": {"name": f"{name}-dra.net"},
                    "spec": {"driver": "dra.net", "nodeName": name, "pool": {
                        "name": name, "generation": 1, "resourceSliceCount": 1}, "devices": [
                            {"name": f"rail-{i}", "attributes": {"dra.net/rdmaDevice": {"string": f"mlx5_{i}"}}}
                            for i in range(9)]}})

    def remove_nodes(self):
        """And the Events of them, which live for an hour."""
        for one in self.ask("/api/v1/namespaces/default/events")["items"]:
            self.admin.ask("DELETE", f"/api/v1/namespaces/default/events/{one['metadata']['name']}")
        for name, node in self.nodes.items():
            node.delete()
            if self.has_rules:
                self.admin.ask("DELETE", f"{SLICES}/{name}-dra.net")

    def taints(self, name):
        """The effects of ours."""
        found = self.nodes[name].get()["spec"].get("taints") or []
        return [taint["effect"] for taint in found if taint["key"] == TAINT]

    def rules(self, name):
        """The devices of the node that have a taint, with its effect."""
        if not self.has_rules:
            return {}
        return {item["spec"]["deviceSelector"]["device"]: item["spec"]["taint"]["effect"]
                for item in self.ask(RULES)["items"] if item["spec"]["deviceSelector"]["pool"] == name}

    def status_of(self, name, kind):
        return self.nodes[name].conditions.get(kind, {}).get("status")

    def start_agents(self):
        for name in self.nodes:
            self.agents[name] = PodAgent(self.kubelet, self.daemon_set(), name).__enter__()

    def stop_agents(self):
        while self.agents:
            self.agents.popitem()[1].__exit__(None, None, None)

    def restart_agents(self):
        """As the DaemonSet does after an upgrade: other pods, with the configuration of now."""
        for one in self.agents.values():
            one.replace(self.daemon_set())

    # -- Steps --------------------------------------------------------------------------------

    def install(self):
        self.helm("install", values=self.values)
        assert list(self.leases().values()) == [None], self.leases()

    def agents_write(self):
        """Labels, conditions, in their own names."""
        self.start_agents()
        for name, node in self.nodes.items():
            wait(f"labels of {name}", lambda: node.own_labels.get(ROCE) == "true")
            wait(f"conditions of {name}", lambda: {
                kind for kind in CONDITIONS if self.status_of(name, kind) == "False"} == CONDITIONS)
            wait("in step", lambda: self.agents[name].metric("rdma_kubernetes_in_sync", backend="api") == 1)
            assert node.own_labels["rdma-node-agent/ports-up"] == "9", node.own_labels
            assert self.taints(name) == [] and self.rules(name) == {}
            managers = {(entry["manager"], entry.get("subresource"))
                        for entry in node.get()["metadata"]["managedFields"]}
            assert {("rdma-node-agent", None), ("rdma-node-agent-status", "status")} <= managers, managers
            assert self.status_of(name, "Ready") == "True" and node.labels["pool"] == "gpu"

    def stolen_token(self):
        """What it must not do is refused, and what agents do is not."""
        thief = Cluster(self.agents["gpu-1"].kubeconfig)
        lease = f"/apis/coordination.k8s.io/v1/namespaces/{self.namespace}/leases/{self.fullname}-taint-0"
        for what, method, path, body, kind, why in attempts("gpu-1", "gpu-2", lease, self.servers.hides_nodes):
            by_policy = not why.startswith(("cannot", "connection"))
            if (RULES in path and not self.has_rules) or (by_policy and not self.has_policies):
                continue

            last = []

            def refused():
                """Policies take effect a moment after they were made."""
                code, answer = thief.request(method, path, body, kind=kind or "application/json")
                assert code >= 400, f"{what}: {code}, {answer}"
                last[:] = [code, answer]
                return code in (403, 422, 500) and why in answer.get("message", "")

            try:
                wait(f"{what}: {why}", refused, 20)
            except AssertionError as error:
                raise AssertionError(f"{error}; it answers {last}") from error
        assert thief.request("GET", self.nodes["gpu-1"].path)[0] == 200
        if self.has_policies:
            self.same_event_again(thief)

    @staticmethod
    def same_event_again(thief):
        """Once, and not at once again."""
        path = "/api/v1/namespaces/default/events"
        made = thief.ask("POST", f"{path}?fieldManager=rdma-node-agent", event("gpu-1.rdma-63", "gpu-1"))
        assert made["metadata"]["name"] == "gpu-1.rdma-63"
        code, answer = thief.request("PATCH", f"{path}/gpu-1.rdma-63?fieldManager=rdma-node-agent",
                                     {"count": 2}, kind=api.MERGE)
        assert code in (403, 422) and "once in five minutes" in answer["message"], answer

    def port_down(self, name="gpu-1", effect="NoSchedule"):
        self.agents[name].set_states(DOWN)
        wait("the condition", lambda: self.status_of(name, "RdmaPortDown") == "True")
        wait("no RoCE", lambda: ROCE not in self.nodes[name].own_labels)
        wait("the taint", lambda: self.taints(name) == [effect])
        assert self.holders() == [name], self.leases()
        wait("the event", lambda: [e for e in self.admin.events(name) if e["reason"] == "RdmaPortDown"])
        assert "RdmaPortDown" in (self.described(name) or "RdmaPortDown")
        if self.has_rules:
            wait("rules", lambda: self.rules(name) == {f"rail-{i}": "NoSchedule" for i in range(9)})
            owners = {owner["uid"] for item in self.ask(RULES)["items"]
                      for owner in item["metadata"]["ownerReferences"]}
            assert owners == {self.nodes[name].get()["metadata"]["uid"]}, owners

    def limit(self):
        """A second node has to wait for the taint until the first is well."""
        self.agents["gpu-2"].set_states(DOWN)
        wait("the condition", lambda: self.status_of("gpu-2", "RdmaPortDown") == "True")
        wait("that it is withheld", lambda: self.status_of("gpu-2", "RdmaTaintWithheld") == "True")
        assert (self.taints("gpu-2"), self.holders()) == ([], ["gpu-1"])
        self.agents["gpu-2"].set_states(UP)
        wait("recovery", lambda: self.status_of("gpu-2", "RdmaPortDown") == "False")
        wait("no rules", lambda: self.rules("gpu-2") == {})

    def upgrade(self):
        """While a node has the taint, which gets another effect; a dry run changes nothing."""
        values = {**self.with_settings(taint_effect="NoExecute"), "taintLimit": 2}
        before = self.daemon_set()["metadata"]["resourceVersion"]
        assert "NoExecute" in self.helm("upgrade", "--dry-run=server", values=values)
        assert self.daemon_set()["metadata"]["resourceVersion"] == before
        self.helm("upgrade", values=values)
        assert len(self.leases()) == 2 and self.holders() == ["gpu-1"], self.leases()
        self.restart_agents()
        wait("the other effect", lambda: self.taints("gpu-1") == ["NoExecute"])

    def rollback(self):
        self.helm("rollback", "1")
        assert list(self.leases().values()) == ["gpu-1"], self.leases()
        self.restart_agents()
        wait("the effect", lambda: self.taints("gpu-1") == ["NoSchedule"])
        assert self.status_of("gpu-1", "RdmaPortDown") == "True"

    def recovery(self):
        self.agents["gpu-1"].set_states(UP)
        wait("no taint", lambda: self.taints("gpu-1") == [])
        wait("the label", lambda: self.nodes["gpu-1"].own_labels.get(ROCE) == "true")
        wait("the condition", lambda: self.status_of("gpu-1", "RdmaPortDown") == "False")
        wait("no rules", lambda: self.rules("gpu-1") == {})
        wait("no holder", lambda: self.holders() == [])

    def check_clean(self):
        ran = self.kubelet.ran.pop()
        assert ran[0] == f"{self.fullname}-clean-up" and ran[2] == 0 and not self.kubelet.ran, ran
        for name, node in self.nodes.items():
            assert node.own_labels == {} and not CONDITIONS & set(node.conditions), (ran, node.get())
            assert self.taints(name) == [] and self.rules(name) == {}, (ran, node.get())
            assert self.status_of(name, "Ready") == "True" and node.labels["pool"] == "gpu"

    def switch_off(self):
        """Of the API, with a port down: a Job cleans up."""
        self.port_down()
        self.stop_agents()
        self.helm("upgrade", values=self.with_settings(backend="off", device_taints="off", taint=""))
        self.check_clean()

    def switch_on(self):
        self.helm("rollback", "1")
        self.agents_write()

    def uninstall(self):
        self.port_down()
        self.stop_agents()
        self.helm("uninstall")
        self.check_clean()
        left = [f"{path}: {item['metadata']['name']}" for path in LISTS if self.serves(path.format(self.namespace))
                for item in self.ask(path.format(self.namespace))["items"]
                if self.release in item["metadata"]["name"]]
        assert left == [], left

    def node_deleted(self):
        """Rules for devices of a Node that is gone go with it, where something collects garbage."""
        if not (self.has_rules and self.servers.collects_garbage):
            return
        self.helm("install", values=self.values)
        self.agents_write()
        self.port_down("gpu-2")
        self.stop_agents()
        self.remove_nodes()
        wait("no rules", lambda: self.ask(RULES)["items"] == [])
        self.helm("uninstall")
        self.kubelet.ran.clear()

    STEPS = (install, agents_write, stolen_token, port_down, limit, upgrade, rollback, recovery, switch_off,
             switch_on, uninstall, node_deleted)

    def run(self):
        self.admin.request("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace",
                                                          "metadata": {"name": self.namespace}})
        if not self.has_rules:
            self.tell("     this server has no DeviceTaintRules")
        if not self.has_policies:
            self.tell("     this server has no ValidatingAdmissionPolicies")
        self.make_nodes()
        try:
            for step in self.STEPS:
                began = time.monotonic()
                step(self)
                self.tell(f"ok   {step.__name__} {time.monotonic() - began:.1f} s", flush=True)
        except BaseException:
            for one in self.agents.values():
                one.kill()
            raise
