# SPDX-License-Identifier: Apache-2.0
"""A double of a whole API server: what Helm writes is kept (tests/chart/store.py), and what it means is
obeyed. Roles say who may do what, ValidatingAdmissionPolicies are evaluated, tokens are bound to
pods and their Nodes, and what belongs to a Node goes with it.

It has what servers.py has, so that life.py runs on both.
"""
import copy
import json
import os
import re
import subprocess
import sys
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(os.path.dirname(HERE), "chart"))
import api  # noqa: E402
import store  # noqa: E402
from agent import free_port  # noqa: E402
from api import ADMIN, ADMIN_TOKEN, Refusal  # noqa: E402
from cluster import Cluster  # noqa: E402

# Paths of the resources that the double of agents (api.py) knows itself.
KNOWN = re.compile(r"/api/v1/(nodes|namespaces/[^/]+/events)(/.*)?|/apis/(resource|discovery)\.k8s\.io/.*")
SLICES = "/apis/resource.k8s.io/v1/resourceslices"
RBAC = "rbac.authorization.k8s.io"
GROUPS = {"nodes": "", "events": "", "devicetaintrules": "resource.k8s.io", "leases": "coordination.k8s.io"}
NODE_OF_TOKEN = "authentication.kubernetes.io/node-name"


class Kept(store.Store):
    """Jobs and pods end when the test has run them (kubelet.py)."""

    def finish(self, resource, item):
        pass


class Handler(api.Handler):
    event = store.Handler.event

    @property
    def store(self):
        return self.server.api.store

    def handle_request(self):
        """A watch goes on; all else is answered at once."""
        key, query = store.key_of(self.path)
        if self.command == "GET" and key and not key[3] and query.get("watch") in ("true", "1"):
            return store.Handler.watch(self, *key[:3], query)
        return super().handle_request()

    do_GET = do_PATCH = do_POST = do_PUT = do_DELETE = handle_request


class Policies:
    """The language of policies, in a process that answers line by line."""

    def __init__(self, package):
        self.process = subprocess.Popen(["node", f"{HERE}/../chart/evaluate.mjs", package], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def judge(self, policy, request):
        """The messages of what is not met; None: it is not about this request."""
        self.process.stdin.write(json.dumps({"policy": policy, "requests": [request]}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())[0]

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


class Served(api.Api):
    """In a with statement. language: the folder of the npm package that evaluates policies."""

    handler = Handler
    admits = True
    helm_flags = ["--disable-openapi-validation"]
    kubectl, collects_garbage, hides_nodes = None, True, False

    def __init__(self, directory, language):
        super().__init__(directory, port=free_port())
        self.store, self.policies = Kept(directory, "1.36.0"), Policies(language)
        self.kubeconfig_path = self.kubeconfig("admin", {"token": ADMIN_TOKEN})
        self.admin = Cluster(self.kubeconfig_path)

    def __exit__(self, *_):
        super().__exit__(*_)
        self.policies.close()

    # -- requests -----------------------------------------------------------------------------

    @property
    def leases(self):
        """Those that Helm has made, for agents."""
        return {key[2:]: {"spec": {}, **item} for key, item in self.store.objects.items()
                if key[1] == "leases"}

    @leases.setter
    def leases(self, value):
        pass  # there are none yet

    def patch_lease(self, lease, *arguments):
        after = super().patch_lease(lease, *arguments)
        metadata = after["metadata"]
        with self.store.lock:
            self.store.objects["coordination.k8s.io", "leases", metadata["namespace"], metadata["name"]] = after
        return after

    def serve(self, record, data, who):
        record.user = who[0]
        if who[0] == ADMIN and record.path.startswith(SLICES):
            return self.serve_slices(record, data)
        if KNOWN.fullmatch(record.path) or (who[0] != ADMIN and "/leases" in record.path):
            answer = super().serve(record, data, who)
            if record.method == "DELETE":
                self.collect_garbage()
            return answer
        found = store.discovery(record.path, self.store.version) if record.method == "GET" else None
        if found or record.path == "/openapi/v2":
            return 200, found or ""  # no schema
        path, _, sub = record.path.partition("/token")
        key, query = store.key_of(re.sub("/status$", "", path), record.query)
        if not key:
            raise Refusal(404, "NotFound", "the server could not find the requested resource")
        verb = {"GET": "get" if key[3] else "list", "POST": "create"}.get(record.method, record.method.lower())
        self.allow(who, verb, key[1], key[3] or "", key[0], key[2])
        if record.path.endswith("/token"):
            return 201, self.make_token(*key[2:], json.loads(data))
        with self.store.lock:
            return copy.deepcopy(self.store.work(record.method, record.type, key, query, data))

    def serve_slices(self, record, data):
        """For drivers."""
        if record.method == "POST":
            self.resource_slices.append(json.loads(data))
            return 201, self.resource_slices[-1]
        if record.method == "DELETE":
            name = record.path.rpartition("/")[2]
            self.resource_slices = [one for one in self.resource_slices if one["metadata"]["name"] != name]
        return 200, {"kind": "ResourceSliceList", "items": self.resource_slices}

    def make_token(self, namespace, account, request):
        """Bound to a pod, and so to a Node."""
        bound = request["spec"].get("boundObjectRef")
        pod = self.store.objects["", "pods", namespace, bound["name"]] if bound else None
        token = uuid.uuid4().hex
        self.tokens[token] = {"user": f"system:serviceaccount:{namespace}:{account}",
                              "expires": time.time() + request["spec"]["expirationSeconds"],
                              "node": pod["spec"]["nodeName"] if pod else None}
        return {**request, "status": {"token": token}}

    def create_node(self, body):
        code, _ = super().create_node(body)
        node = self.nodes[body["metadata"]["name"]]
        node.images = 0
        return code, node.whole()

    # -- who may do what ----------------------------------------------------------------------

    def roles(self, user, namespace):
        """All that the account is bound to: for the cluster, and in the namespace."""
        for (group, resource, where, _), item in self.store.objects.items():
            if group != RBAC or not resource.endswith("bindings") or where not in ("", namespace):
                continue
            if user in {f"system:serviceaccount:{one['namespace']}:{one['name']}" for one in item["subjects"]}:
                role = item["roleRef"]
                yield self.store.objects.get((RBAC, role["kind"].lower() + "s", where, role["name"]), {"rules": []})

    def allow(self, who, verb, resource, name, group="", namespace=None):
        if who[0] == ADMIN:
            return
        for role in self.roles(who[0], namespace or ""):
            for rule in role["rules"]:
                if group in rule["apiGroups"] and resource in rule["resources"] and verb in rule["verbs"] and \
                        name in rule.get("resourceNames", [name]):
                    return
        raise self.forbidden(who[0], verb, resource, name, group, namespace)

    def admit(self, who, operation, resource, after, before, record):
        user = {"username": who[0], **({"extra": {NODE_OF_TOKEN: [who[1]]}} if who[1] else {})}
        request = {"object": after, "oldObject": before, "request": {
            "operation": operation, "userInfo": user, "options": {
                key: value for key, value in record.query.items() if key == "fieldManager"}}}
        for policy in self.bound_policies():
            rules = policy["spec"]["matchConstraints"]["resourceRules"]
            if any(GROUPS[resource.split("/")[0]] in rule["apiGroups"] and resource in rule["resources"]
                   and operation in rule["operations"] for rule in rules):
                self.obey(policy, request, resource, (after or before)["metadata"]["name"])

    def obey(self, policy, request, resource, name):
        messages, its = self.policies.judge(policy, request), policy["metadata"]["name"]
        if messages:
            raise Refusal(422, "Invalid", f'{resource} "{name}" is forbidden: ValidatingAdmissionPolicy '
                          f"'{its}' with binding '{its}' denied request: {messages[0]}")

    def bound_policies(self):
        objects = self.store.objects
        bound = {item["spec"]["policyName"] for key, item in objects.items()
                 if key[1] == "validatingadmissionpolicybindings"}
        return [item for key, item in objects.items()
                if key[1] == "validatingadmissionpolicies" and key[3] in bound]
