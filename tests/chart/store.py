# SPDX-License-Identifier: Apache-2.0
"""An API server that only stores: what Helm writes to it, in which order.

It has the resources that a chart's manifests have, without any check of them, and no controllers but
one for Jobs and Pods, which are done at once: with success if all that they need existed when they
were made. It says nothing about what a real server refuses.
"""
import base64
import contextlib
import http.server
import json
import re
import threading
import time
import urllib.parse

import yaml

# Group and version, kind, plural, whether it is in a namespace.
RESOURCES = [
    ("v1", "Namespace", "namespaces", False), ("v1", "Node", "nodes", False),
    ("v1", "ConfigMap", "configmaps", True), ("v1", "Secret", "secrets", True),
    ("v1", "Service", "services", True), ("v1", "ServiceAccount", "serviceaccounts", True),
    ("v1", "ResourceQuota", "resourcequotas", True), ("v1", "Pod", "pods", True), ("v1", "Event", "events", True),
    ("apps/v1", "DaemonSet", "daemonsets", True), ("batch/v1", "Job", "jobs", True),
    ("coordination.k8s.io/v1", "Lease", "leases", True),
    ("monitoring.coreos.com/v1", "PodMonitor", "podmonitors", True),
    ("monitoring.coreos.com/v1", "PrometheusRule", "prometheusrules", True),
    ("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", True),
    ("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", False),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings", False),
    ("rbac.authorization.k8s.io/v1", "Role", "roles", True),
    ("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings", True),
    ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy",
     "validatingadmissionpolicies", False),
    ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding",
     "validatingadmissionpolicybindings", False),
]
KINDS = {(version.rpartition("/")[0], plural): (version, kind)
         for version, kind, plural, _ in RESOURCES}
VERBS = ["create", "delete", "get", "list", "patch", "update", "watch"]
PATH = re.compile(r"/(?:api|apis/([^/]+))/(v[^/]+)(?:/namespaces/([^/]+)(?=/))?/([^/]+)(?:/([^/]+))?")


def is_ready(pod, needs):
    """Has the server all that a pod, or the pod of a Job, names and needs?"""
    spec = pod["spec"].get("template", pod)["spec"]
    names = {("serviceaccounts", spec.get("serviceAccountName"))} | {
        ("configmaps", volume["configMap"]["name"]) for volume in spec.get("volumes", [])
        if "configMap" in volume}
    return names <= needs and is_allowed(spec.get("serviceAccountName"), needs)


def is_allowed(account, needs):
    """The one binding of the account, and the role that it names, exist."""
    return any(key[0] == "bound" and key[1] == account and (key[2], key[3]) in needs for key in needs)


class Store:
    """In a with statement; kubeconfig leads Helm to it, made has (kind, name) as they came."""

    def __init__(self, directory, version="1.36.0"):
        self.directory, self.version = directory, version
        self.objects, self.made, self.gone, self.failed = {}, [], [], []
        self.count, self.lock = 0, threading.Condition()
        self.last_applied = {}

    def __enter__(self):
        handler = type("Handler", (Handler,), {"store": self})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        self.kubeconfig = f"{self.directory}/kubeconfig"
        with open(self.kubeconfig, "w", encoding="utf-8") as file:
            json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "it",
                       "contexts": [{"name": "it", "context": {"cluster": "here", "user": "me"}}],
                       "clusters": [{"name": "here", "cluster": {
                           "server": f"http://127.0.0.1:{self.server.server_address[1]}"}}],
                       "users": [{"name": "me", "user": {}}]}, file)
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    # -- Objects ----------------------------------------------------------------------------------

    def needs(self, namespace):
        """(resource, name) of all that a pod of a namespace can use, and the bindings of accounts."""
        found = set()
        for (_, resource, where, name), item in self.objects.items():
            if where in (namespace, ""):
                found.add((resource, name))
                role = item.get("roleRef", {})
                found |= {("bound", subject["name"], f"{role['kind'].lower()}s", role["name"])
                          for subject in item.get("subjects") or []}
        return found

    def finish(self, resource, item):
        """What controllers and kubelets make of a Job and of a Pod without a controller."""
        ready = is_ready(item, self.needs(item["metadata"]["namespace"]))
        if not ready:
            self.failed.append(item["metadata"]["name"])
        if resource == "jobs":
            item["status"] = {"succeeded" if ready else "failed": 1, "conditions": [
                {"type": kind, "status": "True", "reason": "Double"}
                for kind in (("SuccessCriteriaMet", "Complete") if ready else ("Failed",))]}
        else:
            item["status"] = {"phase": "Succeeded" if ready else "Failed"}

    def put(self, key, item):
        group, resource, namespace, name = key
        new = key not in self.objects
        self.count += 1
        metadata = item["metadata"]
        before = self.objects.get(key, item)["metadata"]
        metadata.update({name: before[name] for name in ("uid", "creationTimestamp") if name in before})
        metadata.update({"name": name, "resourceVersion": str(self.count)})
        metadata.setdefault("uid", f"00000000-0000-4000-8000-{self.count:012d}")
        metadata.setdefault("creationTimestamp", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
        if namespace:
            metadata["namespace"] = namespace
        if new and resource in ("jobs", "pods"):
            self.finish(resource, item)
        self.objects[key] = item
        if new and resource != "secrets":
            self.made.append((item["kind"], name))
        self.lock.notify_all()
        return (201 if new else 200), item

    def take(self, key):
        item = self.objects.pop(key)
        self.last_applied.pop(key, None)
        if key[1] != "secrets":
            self.gone.append((item["kind"], key[3]))
        self.lock.notify_all()
        return 200, item

    def applied(self, key, body):
        """Server-side apply of the one client that applies: what others wrote stays, and what it leaves
        out now goes."""
        before = without(self.objects.get(key, {}), self.last_applied.get(key, {}), body)
        self.last_applied[key] = body
        return patched(before, json.loads(json.dumps(body)))

    def selected(self, group, resource, namespace, query):
        """The objects of a list, sorted."""
        fields = dict(part.split("=", 1) for part in query.get("fieldSelector", "").split(",") if part)
        labels = dict(part.split("=", 1) for part in query.get("labelSelector", "").split(",") if part)
        return [item for key, item in sorted(self.objects.items())
                if key[:2] == (group, resource) and key[2] in (namespace or key[2],)
                and fields.get("metadata.name", key[3]) == key[3]
                and labels.items() <= item["metadata"].get("labels", {}).items()]


    def work(self, method, content, key, query, data):
        """What a request on an object, or a list, does and answers. Holds the lock."""
        body = object_of(data) if method != "DELETE" else {}
        if method == "POST":
            key = (*key[:3], body["metadata"]["name"])
            if key in self.objects:
                return status(409, "AlreadyExists", f"{key[1]} {key[3]} already exists")
            return self.put(key, body)
        if not key[3]:
            items = self.selected(*key[:3], query)
            group_version, kind = KINDS[key[:2]]
            return 200, {"kind": f"{kind}List", "apiVersion": group_version, "items": items,
                         "metadata": {"resourceVersion": str(self.count)}}
        is_apply = "apply" in content
        if method in ("PATCH", "PUT") and (key in self.objects or is_apply):
            return self.put(key, body if method == "PUT" else self.applied(key, body) if is_apply else
                            patched(self.objects[key], body))
        if key not in self.objects:
            return status(404, "NotFound", f'{key[1]} "{key[3]}" not found')
        return self.take(key) if method == "DELETE" else (200, self.objects[key])


# -- Patches --------------------------------------------------------------------------------------

def identity(element):
    """By what a patch finds an element of a list again; None where it replaces the list."""
    return (element.get("name") or element.get("mountPath")) if isinstance(element, dict) else None


def without(item, before, now):
    """The item without what was in it before and is not now."""
    if not isinstance(item, dict) or not isinstance(before, dict) or not isinstance(now, dict):
        return item
    return {key: without(value, before.get(key), now.get(key)) for key, value in item.items()
            if key not in before or key in now}


def patched(before, patch):
    """A merge patch (RFC 7396), or a strategic one as far as Helm makes them of this chart."""
    if isinstance(before, list) and isinstance(patch, list) and patch and all(map(identity, patch)):
        found = {identity(element): element for element in before}
        for element in patch:
            found[identity(element)] = patched(found.get(identity(element)), element)
        return [element for element in found.values() if "$patch" not in element]
    if not isinstance(before, dict) or not isinstance(patch, dict):
        return patch
    found = {**before, **{key: patched(before.get(key), value) for key, value in patch.items()
                          if not key.startswith("$setElementOrder/")}}
    return {key: value for key, value in found.items() if value is not None}


# -- What Helm's own Secrets are written as ---------------------------------------------------------

def fields_of(data):
    """Numbers and values of a message of Protocol Buffers: integers and bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            value |= (data[at] & 0x7f) << shift
            shift, at = shift + 7, at + 1
            if data[at - 1] < 0x80:
                return value

    while at < len(data):
        tag = varint()
        value = varint()
        if tag & 7 == 2:
            at += value
            value = data[at - value:at]
        yield tag >> 3, value


def pairs_of(data, number):
    """A map, which is repeated pairs."""
    return {pair[1].decode(): pair.get(2, b"")
            for pair in (dict(fields_of(value)) for key, value in fields_of(data) if key == number)}


def secret_of(body):
    """The Secret in an envelope (k8s.io/apimachinery runtime/serializer/protobuf, runtime.Unknown),
    by the numbers in k8s.io/api/core/v1/generated.proto and apimachinery/pkg/apis/meta/v1."""
    envelope = dict(fields_of(body[4:]))
    message = dict(fields_of(envelope[2]))
    metadata = dict(fields_of(message[1]))
    return {"apiVersion": "v1", "kind": "Secret", "type": message[3].decode(), "metadata": {
        "name": metadata[1].decode(), "labels": {
            key: value.decode() for key, value in pairs_of(message[1], 11).items()}},
        "data": {key: base64.b64encode(value).decode()
                 for key, value in pairs_of(envelope[2], 2).items()}}


def object_of(body):
    if body.startswith(b"k8s\0"):
        return secret_of(body)
    return yaml.safe_load(body) if body else {}


# -- HTTP -----------------------------------------------------------------------------------------

def status(code, reason, message):
    return code, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code,
                  "reason": reason, "message": message}


def discovery(path, version):
    """What there is; None where the path asks for something else."""
    major, minor, _ = version.split(".")
    groups = {}
    for group_version, kind, plural, namespaced in RESOURCES:
        groups.setdefault(group_version, []).append(
            {"name": plural, "singularName": kind.lower(), "namespaced": namespaced, "kind": kind,
             "verbs": VERBS})
    if path == "/version":
        return {"major": major, "minor": minor, "gitVersion": f"v{version}"}
    if path == "/api":
        return {"kind": "APIVersions", "versions": ["v1"]}
    if path == "/apis":
        versions = [{"groupVersion": name, "version": name.split("/")[1]}
                    for name in groups if "/" in name]
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [
            {"name": one["groupVersion"].split("/")[0], "versions": [one], "preferredVersion": one}
            for one in versions]}
    name = re.sub(r"^/apis?/", "", path)
    if name in groups:
        return {"kind": "APIResourceList", "groupVersion": name, "resources": groups[name]}
    return None


def key_of(path, query=None):
    """(group, resource, namespace, name) of a path, None where it has none; and its query."""
    url = urllib.parse.urlsplit(path)
    match = PATH.fullmatch(url.path)
    key = (match[1] or "", match[4], match[3] or "", match[5]) if match else None
    return key, dict(urllib.parse.parse_qsl(url.query)) if query is None else query


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    store = None

    def log_message(self, *_):
        pass

    def answer(self, code, body):
        data = json.dumps(body).encode() if body else b""
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def event(self, item, kind="MODIFIED"):
        data = json.dumps({"type": kind, "object": item}).encode() + b"\n"
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def watch(self, group, resource, namespace, query):
        """All that there is, then what comes or goes, until the client has seen enough."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        seen = {}
        with contextlib.suppress(OSError):
            for _ in range(600):
                with self.store.lock:
                    now = {item["metadata"]["uid"]: item for item in
                           self.store.selected(group, resource, namespace, query)}
                    now = {uid: json.loads(json.dumps(item)) for uid, item in now.items()}
                for uid, item in now.items():
                    if uid not in seen:
                        self.event(item, "ADDED")
                    elif item != seen[uid]:
                        self.event(item)
                for uid in set(seen) - set(now):
                    self.event(seen[uid], "DELETED")
                if not seen and query.get("sendInitialEvents"):
                    version, kind = KINDS[group, resource]
                    self.event({"kind": kind, "apiVersion": version, "metadata": {
                        "resourceVersion": str(self.store.count),
                        "annotations": {"k8s.io/initial-events-end": "true"}}}, "BOOKMARK")
                    query = {**query, "sendInitialEvents": ""}
                seen = now
                with self.store.lock:
                    self.store.lock.wait(0.2)
        self.close_connection = True

    def serve(self):
        key, query = key_of(self.path)
        path = self.path.partition("?")[0]
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        found = discovery(path, self.store.version) if self.command == "GET" else None
        if found:
            return self.answer(200, found)
        if path == "/openapi/v2":  # no schema: nothing is checked by one
            return self.answer(200, None)
        if not key:
            return self.answer(*status(404, "NotFound", "no such path"))
        if self.command == "GET" and not key[3] and query.get("watch") in ("true", "1"):
            return self.watch(*key[:3], query)
        with self.store.lock:
            answer = self.store.work(self.command, self.headers.get("Content-Type", ""), key, query, body)
        return self.answer(*answer)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = serve
