#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A double of the Kubernetes API server: nodes, their status, events, over real TLS.

    api.py DIRECTORY [NODE...]   serve until killed; DIRECTORY/kubeconfig leads an agent here,
                                 DIRECTORY/admin a user with more rights

It does what real ones were measured to do (1.20.2, 1.28.3 and 1.36.2), and where that was not
measured it says 501: better a test that stops here than one that passes only here. Fields are
owned as server-side apply has it: by manager, operation and subresource; in 1.20 without the
subresource, which is how labels get lost there.

As a library: Api(directory) in a with statement. Faults are put on with Api.fault(), what was
asked is in Api.log.
"""
import base64
import collections
import contextlib
import copy
import dataclasses
import gzip
import http.server
import json
import os
import re
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.parse
import uuid

USER = "system:serviceaccount:rdma:rdma-node-agent"
TOKEN = "sekrit-token"
ADMIN, ADMIN_TOKEN = "kubernetes-admin", "admin-token"  # who prepares nodes and looks at them
RULES = frozenset({"get nodes", "patch nodes", "patch nodes/status", "create events",
                   "patch events"})

APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
PARTIAL = "as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
PARTIAL_LIST = "as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
GZIP_FROM = 128 * 1024  # bytes; smaller answers to GET and LIST are not compressed

BODY_MAX = 3 * 1024 * 1024
CHUNKED_FROM = 2048
ANNOTATIONS_MAX = 256 * 1024
LEEWAY = 70  # seconds for which a token works beyond its end

LABEL_NAME = r"([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]"
LABEL_KEY = re.compile(rf"([a-z0-9]([-a-z0-9.]{{0,251}}[a-z0-9])?/)?{LABEL_NAME}")
LABEL_VALUE = re.compile(rf"({LABEL_NAME})?")


class Refusal(Exception):
    """An answer that is no success."""

    def __init__(self, code, reason, message, details=None, headers=None):
        super().__init__(message)
        self.code, self.reason, self.message = code, reason, message
        self.details, self.headers = details, headers or {}

    def body(self):
        status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                  "message": self.message, "reason": self.reason, "code": self.code}
        if self.details:
            status["details"] = self.details
        return status


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


# --- Certificates --------------------------------------------------------------------------------

def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def make_authority(directory, name):
    """NAME.crt and NAME.key of a CA. Clients in Python 3.13 want to see the usage of its key."""
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-days", "30", "-subj", f"/CN={name}", "-keyout", f"{directory}/{name}.key",
            "-out", f"{directory}/{name}.crt", "-addext", "keyUsage=critical,keyCertSign,cRLSign")


def make_certificate(directory, authority, name, subject, *extensions):
    request = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
               "-nodes", "-days", "30", "-subj", subject, "-CA", f"{directory}/{authority}.crt",
               "-CAkey", f"{directory}/{authority}.key", "-keyout", f"{directory}/{name}.key",
               "-out", f"{directory}/{name}.crt", "-addext", "basicConstraints=CA:FALSE"]
    for extension in extensions:
        request += ["-addext", extension]
    openssl(*request)


def make_certificates(directory):
    make_authority(directory, "ca")
    make_authority(directory, "other-ca")
    # verified by the address in it, as Kubernetes' own is
    make_certificate(directory, "ca", "server", "/CN=kube-apiserver",
                     "subjectAltName=IP:127.0.0.1,IP:::1")
    make_certificate(directory, "ca", "client", f"/CN={USER}", "extendedKeyUsage=clientAuth")


# --- Objects and who owns what is in them --------------------------------------------------------

def fields_of(body, subresource):
    """What a body says, as {path: value}; status is not looked at without the subresource."""
    metadata, spec = body.get("metadata") or {}, body.get("spec") or {}
    fields = {("label", k): v for k, v in (metadata.get("labels") or {}).items()}
    fields |= {("annotation", k): v for k, v in (metadata.get("annotations") or {}).items()}
    if subresource == "status":
        for condition in (body.get("status") or {}).get("conditions") or []:
            fields[("condition", condition["type"])] = condition
    else:
        fields |= {(name,): spec[name] for name in ("taints", "unschedulable") if name in spec}
    return fields


def fields_v1(paths):
    """Paths as managedFields has them (FieldsV1 of apimachinery)."""
    tree = {}
    for path in sorted(paths):
        if path[0] in ("taints", "unschedulable"):
            tree.setdefault("f:spec", {})[f"f:{path[0]}"] = {}
        elif path[0] == "condition":
            of_status = tree.setdefault("f:status", {}).setdefault("f:conditions", {})
            of_status[f'k:{{"type":"{path[1]}"}}'] = {".": {}, "f:status": {}, "f:type": {}}
        else:
            tree.setdefault("f:metadata", {}).setdefault(f"f:{path[0]}s", {})[f"f:{path[1]}"] = {}
    return tree


class Node:
    def __init__(self, name):
        self.name, self.uid = name, str(uuid.uuid4())
        self.version = 1000
        self.values = {("label", "kubernetes.io/hostname"): name,
                       ("condition", "Ready"): {"type": "Ready", "status": "True",
                                                "reason": "KubeletReady",
                                                "lastTransitionTime": now()},
                       ("taints",): []}
        self.owners = {("kubelet", "Update", ""): {("label", "kubernetes.io/hostname")},
                       ("kubelet", "Update", "status"): {("condition", "Ready")}}
        self.resources = {"cpu": "64", "memory": "263856284Ki"}
        self.allocatable = {}
        self.images = 300

    @property
    def labels(self):
        return {path[1]: value for path, value in self.values.items() if path[0] == "label"}

    @property
    def annotations(self):
        return {path[1]: value for path, value in self.values.items() if path[0] == "annotation"}

    @property
    def conditions(self):
        return {path[1]: value for path, value in self.values.items() if path[0] == "condition"}

    @property
    def taints(self):
        return self.values[("taints",)]

    def set(self, path, value):
        """A change by another client, an Update."""
        before = self.copy()
        self.update("other-client", "", {path: value})
        self.finish(before)

    def metadata(self):
        managed = [{"manager": manager, "operation": operation, "apiVersion": "v1",
                    **({"subresource": sub} if sub else {}),
                    "fieldsType": "FieldsV1", "fieldsV1": fields_v1(paths)}
                   for (manager, operation, sub), paths in sorted(self.owners.items()) if paths]
        return {"name": self.name, "uid": self.uid, "resourceVersion": str(self.version),
                "labels": self.labels, "annotations": self.annotations, "managedFields": managed}

    def whole(self):
        images = [{"names": [f"registry.example/project/image-{i}@sha256:{'0123456789abcdef' * 4}",
                             f"registry.example/project/image-{i}:v{i}.0.0-rc1-long-enough-{'x' * 90}"],
                   "sizeBytes": 100000000 + i} for i in range(self.images)]
        return {"kind": "Node", "apiVersion": "v1", "metadata": self.metadata(),
                "spec": {"podCIDR": "10.0.0.0/24",
                         **({"taints": self.taints} if self.taints else {}),
                         **({"unschedulable": True} if self.values.get(("unschedulable",)) else {})},
                "status": {"capacity": self.resources,
                           "allocatable": {**self.resources, **self.allocatable},
                           "conditions": list(self.conditions.values()), "images": images}}

    def all(self):
        return self.values, self.owners, self.resources, self.allocatable

    def copy(self):
        return copy.deepcopy(self.all())

    def restore(self, before):
        self.values, self.owners, self.resources, self.allocatable = before

    def finish(self, before):
        """An answer that changes nothing is no write."""
        self.owners = {owner: paths for owner, paths in self.owners.items() if paths}
        if self.all() != before:
            self.version += 1

    def apply(self, owner, fields, force):
        old = self.owners.get(owner, set())
        causes = []
        for path, value in fields.items():
            for other, paths in self.owners.items():
                if other != owner and path in paths and self.values.get(path) != value:
                    causes.append((other, path))
        if causes and not force:
            raise Refusal(409, "Conflict", f"Apply failed with {len(causes)} conflict",
                          {"causes": [{"reason": "FieldManagerConflict",
                                       "message": f'conflict with "{other[0]}"',
                                       "field": ".".join(path)} for other, path in causes]})
        for other, path in causes:
            self.owners[other].discard(path)
        self.owners[owner] = set(fields)
        for path, value in fields.items():
            if path[0] == "condition":
                value = {**self.values.get(path, {}), **value}  # merged by type
            self.values[path] = value
        for path in old - set(fields):
            if not any(path in paths for paths in self.owners.values()):
                self.remove(path)

    def remove(self, path):
        if path == ("taints",):
            self.values[path] = []
        else:
            self.values.pop(path, None)
        for paths in self.owners.values():
            paths.discard(path)

    def update(self, manager, sub, fields):
        """fields: None removes. The client that changes a value becomes its only owner."""
        for path, value in fields.items():
            if value is None:
                self.remove(path)
            elif self.values.get(path) != value:
                self.values[path] = value
                for paths in self.owners.values():
                    paths.discard(path)
                self.owners.setdefault((manager, "Update", sub), set()).add(path)


# --- Requests ------------------------------------------------------------------------------------

@dataclasses.dataclass
class Record:
    """A request, as the log has it."""
    method: str
    path: str
    query: dict
    type: str
    accept: str
    user: str
    body: object
    status: int = 0
    time: float = 0
    sent: int = 0  # bytes of the answer's body


def check_json(body, version):
    try:
        return json.loads(body)
    except ValueError:
        if version < (1, 22):
            raise Refusal(500, "InternalError", "invalid character in the body") from None
        raise Refusal(400, "BadRequest", "invalid character in the body") from None


def check_labels(name, labels):
    for key, value in (labels or {}).items():
        if value is None:
            continue
        if not isinstance(value, str):
            raise Refusal(422, "Invalid", f'Node "{name}" is invalid: metadata.labels: '
                                          "expected string")
        if not LABEL_KEY.fullmatch(key) or len(value) > 63 or not LABEL_VALUE.fullmatch(value):
            raise Refusal(422, "Invalid", f'Node "{name}" is invalid: metadata.labels: Invalid '
                                          f'value: "{value if LABEL_KEY.fullmatch(key) else key}"')


def event_fields(record):
    return [{"manager": record.query.get("fieldManager", "unknown"), "operation": "Update",
             "apiVersion": "v1", "time": now()}]


def check_annotations(name, annotations):
    if sum(len(k) + len(v or "") for k, v in (annotations or {}).items()) > ANNOTATIONS_MAX:
        raise Refusal(422, "Invalid", f'Node "{name}" is invalid: metadata.annotations: Too long')


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body at once
    disable_nagle_algorithm = True  # or an answer waits 40 ms for an ACK of what TLS has said
    record = None

    # -- connection ---------------------------------------------------------------------------

    def setup(self):
        """TLS in this thread: one that hangs delays no other."""
        api = self.server.api
        if api.take_fault("hang in TLS"):
            api.ended.wait()
            raise ConnectionAbortedError
        self.request = api.tls.wrap_socket(self.request, server_side=True)
        super().setup()

    def log_message(self, *_):
        pass

    def answer(self, code, body, headers=None):
        headers = dict(headers or {})
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        headers.setdefault("Content-Type", "application/json")
        if "gzip" in self.headers.get("Accept-Encoding", "") and len(data) > GZIP_FROM:
            data, headers["Content-Encoding"] = gzip.compress(data, 4), "gzip"
        self.record.status, self.record.sent = code, len(data)
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        if len(data) > CHUNKED_FROM:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.send_chunks(data)
        else:
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[:len(data) // 2] if self.half else data)
        if self.half:
            self.wfile.flush()
            self.close_connection = True

    def send_chunks(self, data):
        for start in range(0, len(data), 4096):
            chunk = data[start:start + 4096]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            if self.half:
                return
        self.wfile.write(b"0\r\n\r\n")

    # -- the request --------------------------------------------------------------------------

    def handle_request(self):
        api, url = self.server.api, urllib.parse.urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        data = self.rfile.read(length) if length <= BODY_MAX else b""
        self.half = False
        self.record = Record(self.command, url.path,
                             dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True)),
                             self.headers.get("Content-Type", ""), self.headers.get("Accept", ""),
                             "", data.decode(errors="replace"), time=api.clock())
        api.note(self.record)
        try:
            if length > BODY_MAX:
                self.close_connection = True
                raise Refusal(413, "RequestEntityTooLarge", "Request entity too large: limit is "
                                                            f"{BODY_MAX}")
            self.suffer(api)
            with api.lock:
                code, body = api.serve(self.record, data, self.user(api))
            self.answer(code, body)
        except Refusal as refusal:
            self.answer(refusal.code, refusal.body(), refusal.headers)
        except Silence:
            self.close_connection = True

    do_GET = do_PATCH = do_POST = do_PUT = do_DELETE = handle_request

    def suffer(self, api):
        """Faults of the server as a whole; what has to be said is said here."""
        if api.take_fault("hang in reply"):
            api.ended.wait()
            raise Silence
        if api.take_fault("429") or api.is_full():
            self.answer(429, "Too many requests, please try again later.",
                        {"Content-Type": "text/plain; charset=utf-8", "Retry-After": "1"})
            raise Silence
        if api.take_fault("504"):  # etcd has stopped: a write, 34 s; a test has less time
            api.ended.wait(api.delay)
            raise Refusal(504, "Timeout", "Timeout: request did not complete within requested "
                                          "timeout - context deadline exceeded")
        if api.take_fault("500"):
            raise Refusal(500, "InternalError", "etcdserver: leader changed")
        if api.take_fault("503"):
            raise Refusal(503, "ServiceUnavailable", "apiserver is shutting down")
        if api.take_fault("403"):  # the first 100 ms of 1.36.2, before RBAC is loaded
            raise Refusal(403, "Forbidden", f'nodes "x" is forbidden: User "{USER}" cannot '
                                            f'{self.command.lower()} resource "nodes" in API '
                                            'group "" at the cluster scope')
        self.half = api.take_fault("half a reply")

    def user(self, api):
        """(name, node the token is bound to). Anonymous without any credential: that is no 401."""
        header = self.headers.get("Authorization", "")
        peer = self.request.getpeercert() if isinstance(self.request, ssl.SSLSocket) else None
        if header.startswith("Bearer "):
            token = api.tokens.get(header[7:])
            if not token or time.time() > token["expires"] + LEEWAY:
                raise Refusal(401, "Unauthorized", "Unauthorized")
            return token["user"], token.get("node")
        if peer:
            subject = {key: value for part in peer["subject"] for key, value in part}
            return subject["commonName"], None
        return "system:anonymous", None


class Silence(Exception):
    """All has been said, or nothing will be."""


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass  # a client that leaves in the middle of TLS


def slice_of(namespace, service, family, pods, port):
    name = f"{service}-{uuid.uuid4().hex[:5]}"
    endpoints = [{"addresses": [pod["address"]],
                  "conditions": {"ready": True, "serving": True, "terminating": False,
                                 **pod.get("conditions", {})},
                  **({"nodeName": pod["node"]} if "node" in pod else {}),
                  "targetRef": {"kind": "Pod", "namespace": namespace,
                                "name": f"{service}-{uuid.uuid4().hex[:5]}",
                                "uid": str(uuid.uuid4())},
                  "zone": "zone-a"} for pod in pods]
    labels = {"endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
              "kubernetes.io/service-name": service}
    fields = {"f:addressType": {}, "f:endpoints": {}, "f:metadata": {"f:labels": {}}, "f:ports": {}}
    metadata = {"name": name, "generateName": f"{service}-", "namespace": namespace,
                "uid": str(uuid.uuid4()), "resourceVersion": "4000", "generation": 12,
                "creationTimestamp": now(), "labels": labels,
                "annotations": {"endpoints.kubernetes.io/last-change-trigger-time": now()},
                "ownerReferences": [{"apiVersion": "v1", "kind": "Service", "name": service,
                                     "uid": str(uuid.uuid4()), "controller": True,
                                     "blockOwnerDeletion": True}],
                "managedFields": [{"manager": "kube-controller-manager", "operation": "Update",
                                   "apiVersion": "discovery.k8s.io/v1", "time": now(),
                                   "fieldsType": "FieldsV1", "fieldsV1": fields}]}
    return {"metadata": metadata, "addressType": family, "endpoints": endpoints, "ports": [port]}


# --- The server ----------------------------------------------------------------------------------

class Api:
    handler = Handler
    admits = False  # see admit()

    def __init__(self, directory, version=(1, 36), family=socket.AF_INET, port=0):
        """port 0: any; where others could take it while this is stopped, one that is reserved."""
        self.directory, self.version, self.family, self.port = directory, version, family, port
        self.lock = threading.RLock()
        self.nodes, self.events, self.log = {}, {}, []
        self.slices = {}  # (namespace, service): [EndpointSlice]
        self.resource_slices = []
        self.taint_rules = {}  # name: DeviceTaintRule
        self.rules_served = True  # else the feature is off
        self.leases = {}  # (namespace, name): Lease
        self.lease_cache = None  # what is answered from the watch cache, if that lags
        self.tokens = {TOKEN: {"user": USER, "expires": time.time() + 3600},
                       ADMIN_TOKEN: {"user": ADMIN, "expires": time.time() + 3600}}
        self.rules = set(RULES)
        self.disliked = None  # a part of the messages of events that a webhook denies
        self.policy = None  # prefixes of keys that USER may change, on the node of its token
        self.faults, self.delay = {}, 1
        self.clock = time.monotonic
        self.capacity = None  # requests a second, above which the answer is 429
        self.taken = collections.Counter()  # of each second that had some
        self.server, self.ended = None, None
        make_certificates(directory)
        self.write_service_account()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    # -- life ---------------------------------------------------------------------------------

    def start(self):
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(f"{self.directory}/server.crt", f"{self.directory}/server.key")
        self.tls.load_verify_locations(f"{self.directory}/ca.crt")
        self.tls.verify_mode = ssl.CERT_OPTIONAL  # it asks, and takes no for an answer
        self.tls.set_alpn_protocols(["http/1.1"])
        self.ended = threading.Event()
        server_class = type("FamilyServer", (Server,), {"address_family": self.family})
        self.server = server_class((self.host, self.port), self.handler)
        self.port, self.server.api = self.server.server_address[1], self
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self):
        self.ended.set()
        self.server.shutdown()
        self.server.server_close()

    @contextlib.contextmanager
    def hang_in_connect(self):
        """No accept(), and the queue is full: the kernel drops further connections."""
        self.stop()
        with contextlib.ExitStack() as stack:
            listener = stack.enter_context(socket.socket(self.family))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((self.host, self.port))
            listener.listen(0)
            for _ in range(4):
                client = stack.enter_context(socket.socket(self.family))
                client.setblocking(False)
                client.connect_ex((self.host, self.port))
            time.sleep(0.05)
            yield
        self.start()

    @property
    def host(self):
        return "::1" if self.family == socket.AF_INET6 else "127.0.0.1"

    @property
    def url(self):
        return f"https://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    # -- credentials --------------------------------------------------------------------------

    def path(self, name):
        return os.path.join(self.directory, name)

    def write_file(self, name, text):
        """As kubelet does: the whole file at once."""
        with open(self.path(name + ".new"), "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(self.path(name + ".new"), self.path(name))

    def read_file(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def write_service_account(self, token=TOKEN, authority="ca"):
        os.makedirs(self.path("sa"), exist_ok=True)
        self.write_file("sa/token", token)
        self.write_file("sa/ca.crt", self.read_file(f"{authority}.crt"))

    def kubeconfig(self, name="kubeconfig", user=None, cluster=None):
        """Writes one and returns its path. user, cluster: instead of a token and a CA by name."""
        config = {
            "apiVersion": "v1", "kind": "Config", "current-context": "it",
            "contexts": [{"name": "it", "context": {"cluster": "here", "user": "me"}}],
            "clusters": [{"name": "here", "cluster": {
                "server": self.url, **(cluster or {"certificate-authority": "ca.crt"})}}],
            "users": [{"name": "me", "user": user or {"token": TOKEN}}],
        }
        self.write_file(name, json.dumps(config, indent=1))
        return self.path(name)

    def in_place(self, name):
        """A file as kubeconfigs have it in their *-data."""
        return base64.b64encode(self.read_file(name).encode()).decode()

    # -- faults and the log -------------------------------------------------------------------

    def fault(self, kind, times=None):
        """From now on, times times; None: until Api.heal()."""
        with self.lock:
            self.faults[kind] = times

    def heal(self):
        with self.lock:
            self.faults = {}

    def take_fault(self, kind):
        with self.lock:
            if kind not in self.faults:
                return False
            if self.faults[kind] is not None:
                self.faults[kind] -= 1
                if self.faults[kind] <= 0:
                    del self.faults[kind]
            return True

    def is_full(self):
        if self.capacity is None:
            return False
        with self.lock:
            second = int(self.clock())
            self.taken[second] += 1
            return self.taken[second] > self.capacity

    def note(self, record):
        with self.lock:
            self.log.append(record)

    def asked(self, method=None, suffix="", status=None, since=0):
        """The requests of the log from number since on that are such."""
        with self.lock:
            return [r for r in self.log[since:]
                    if (not method or r.method == method) and r.path.endswith(suffix)
                    and (not status or r.status == status)]

    # -- answers ------------------------------------------------------------------------------

    def serve(self, record, data, who):
        record.user = who[0]
        if record.path == "/api/v1/nodes" and record.method == "POST":
            self.allow(who, "create", "nodes", "")
            return self.create_node(check_json(data, self.version))
        if record.path == "/api/v1/nodes" and record.method == "GET":
            self.allow(who, "list", "nodes", "")
            return self.list_nodes(record)
        match = re.fullmatch(r"/api/v1/nodes/([^/]+)(/status)?", record.path)
        if match:
            return self.serve_node(record, data, who, match[1], (match[2] or "")[1:])
        match = re.fullmatch(r"/api/v1/namespaces/([^/]+)/events(?:/([^/]+))?", record.path)
        if match:
            return self.serve_event(record, data, who, match[1], match[2])
        match = re.fullmatch(r"/apis/discovery.k8s.io/v1/namespaces/([^/]+)/endpointslices",
                             record.path)
        if match and self.version >= (1, 21):
            return self.list_slices(record, who, match[1])
        match = re.fullmatch(r"/apis/resource.k8s.io/(v1|v1beta2)/(resourceslices|devicetaintrules)"
                             r"(?:/([^/]+))?", record.path)
        if match and match[2] == "resourceslices" and match[1] == "v1" and self.version >= (1, 34):
            return self.list_resource_slices(record, who)
        if match and match[2] == "devicetaintrules" and self.rules_served and \
                self.version >= ((1, 37) if match[1] == "v1" else (1, 36)):
            return self.serve_taint_rule(record, data, who, match[1], match[3])
        match = re.fullmatch(r"/apis/coordination.k8s.io/v1/namespaces/([^/]+)/leases(?:/([^/]+))?",
                             record.path)
        if match:
            return self.serve_lease(record, data, who, match[1], match[2])
        raise Refusal(404, "NotFound", "the server could not find the requested resource")

    # -- Leases -------------------------------------------------------------------------------

    def make_leases(self, namespace, name, count):
        """As the chart makes them: none of their specs has anything."""
        for i in range(count):
            self.leases[(namespace, f"{name}-{i}")] = {
                "metadata": {"name": f"{name}-{i}", "namespace": namespace, "uid": str(uuid.uuid4()),
                             "resourceVersion": "1", "creationTimestamp": now(),
                             "labels": {"rdma-node-agent/leases": name}}, "spec": {}}

    def serve_lease(self, record, data, who, namespace, name):
        verb = {"GET": "get" if name else "list", "PATCH": "patch"}.get(record.method, "?")
        self.allow(who, verb, "leases", name or "", "coordination.k8s.io", namespace)
        if verb == "list":
            return self.list_leases(record, namespace)
        if (namespace, name) not in self.leases:
            raise Refusal(404, "NotFound", f'leases.coordination.k8s.io "{name}" not found')
        if verb != "patch" or record.type != MERGE or not record.query.get("fieldManager"):
            raise Refusal(501, "NotImplemented", "the double does not know this of Leases")
        return 200, self.patch_lease(self.leases[(namespace, name)], check_json(data, self.version), record, who)

    def list_leases(self, record, namespace):
        """A namespace that does not exist has none."""
        query = dict(record.query)
        key, _, value = query.pop("labelSelector", "=").partition("=")
        if query not in ({}, {"resourceVersion": "0"}):
            raise Refusal(501, "NotImplemented", "the double does not know this of Leases")
        leases = self.lease_cache if query and self.lease_cache is not None else self.leases
        return 200, {"kind": "LeaseList", "apiVersion": "coordination.k8s.io/v1",
                     "metadata": {"resourceVersion": "4713"},
                     "items": [lease for (where, _), lease in leases.items() if where == namespace
                               and (not key or lease["metadata"]["labels"].get(key) == value)]}

    def patch_lease(self, lease, body, record, who):
        name = lease["metadata"]["name"]
        if body["metadata"].get("resourceVersion") not in (None, lease["metadata"]["resourceVersion"]):
            raise Refusal(409, "Conflict", f'Operation cannot be fulfilled on leases "{name}": the '
                          "object has been modified; please apply your changes to the latest "
                          "version and try again")
        spec = {key: value for key, value in {**lease["spec"], **body["spec"]}.items()
                if value is not None}
        for key in {"acquireTime", "renewTime"} & set(spec):
            if not re.fullmatch(r"\d{4}(-\d\d){2}T\d\d(:\d\d){2}\.\d{6}Z", spec[key]):
                raise Refusal(400, "BadRequest", f'Lease in version "v1" cannot be handled as a Lease: '
                              f'parsing time "{spec[key]}" as "2006-01-02T15:04:05.000000Z07:00"')
        if spec.get("leaseDurationSeconds", 1) <= 0:
            raise Refusal(422, "Invalid", f'Lease.coordination.k8s.io "{name}" is invalid: '
                          "spec.leaseDurationSeconds: Invalid value: must be greater than 0")
        managed = [{"manager": record.query["fieldManager"], "operation": "Update",
                    "apiVersion": "coordination.k8s.io/v1", "time": now()}]
        after = {**lease, "spec": spec, "metadata": {**lease["metadata"], "managedFields": managed}}
        self.admit(who, "UPDATE", "leases", after, lease, record)
        after["metadata"]["resourceVersion"] = str(int(lease["metadata"]["resourceVersion"]) + 1)
        lease.update(after)
        return lease

    # -- devices (DRA) ------------------------------------------------------------------------

    def list_resource_slices(self, record, who):
        self.allow(who, "list", "resourceslices", "", "resource.k8s.io")
        query = dict(record.query)
        match = re.fullmatch(r"spec\.nodeName=(.+)", query.pop("fieldSelector", ""))
        if record.method != "GET" or not match or query not in ({}, {"resourceVersion": "0"}):
            raise Refusal(501, "NotImplemented", "the double does not know this of ResourceSlices")
        return 200, {"kind": "ResourceSliceList", "apiVersion": "resource.k8s.io/v1",
                     "metadata": {"resourceVersion": "4711"},
                     "items": [s for s in self.resource_slices
                               if s["spec"].get("nodeName") == match[1]]}

    def serve_taint_rule(self, record, data, who, version, name):
        verb = {"GET": "get" if name else "list", "PATCH": "patch", "DELETE": "delete"}.get(
            record.method, "?")
        self.allow(who, verb, "devicetaintrules", name or "", "resource.k8s.io")
        if verb == "list":
            key, _, value = record.query.get("labelSelector", "=").partition("=")
            return 200, {"kind": "DeviceTaintRuleList", "apiVersion": f"resource.k8s.io/{version}",
                         "metadata": {"resourceVersion": "4712"},
                         "items": [r for r in self.taint_rules.values()
                                   if not key or r["metadata"].get("labels", {}).get(key) == value]}
        if verb == "delete":
            if name not in self.taint_rules:
                raise Refusal(404, "NotFound", f'devicetaintrules.resource.k8s.io "{name}" not found')
            self.admit(who, "DELETE", "devicetaintrules", None, self.taint_rules[name], record)
            del self.taint_rules[name]
            return 200, {"kind": "Status", "status": "Success"}
        if verb != "patch" or record.type != APPLY or not record.query.get("fieldManager"):
            raise Refusal(501, "NotImplemented", "the double does not know this of DeviceTaintRules")
        body = check_json(data, self.version)
        if name not in self.taint_rules:
            self.allow(who, "create", "devicetaintrules", name, "resource.k8s.io")
        before = self.taint_rules.get(name)
        self.check_taint_rule(body, name, version)
        self.admit(who, "UPDATE" if before else "CREATE", "devicetaintrules", body, before, record)
        self.taint_rules[name] = body
        return 200, body

    @staticmethod
    def check_taint_rule(body, name, version):
        taint = body["spec"]["taint"]
        if body.get("apiVersion") != f"resource.k8s.io/{version}" or body["metadata"]["name"] != name:
            raise Refusal(400, "BadRequest", "the version or the name is not that of the URL")
        check_labels(name, body["metadata"].get("labels"))
        if taint.get("effect") not in ("None", "NoSchedule", "NoExecute"):
            raise Refusal(422, "Invalid", f'DeviceTaintRule "{name}" is invalid: spec.taint.effect')
        if not LABEL_KEY.fullmatch(taint.get("key", "")) or \
                not LABEL_VALUE.fullmatch(taint.get("value", "")):
            raise Refusal(422, "Invalid", f'DeviceTaintRule "{name}" is invalid: spec.taint')
        for owner in body["metadata"].get("ownerReferences", []):
            if set(owner) != {"apiVersion", "kind", "name", "uid"}:  # one that blocks needs a right
                raise Refusal(403, "Forbidden", "cannot set blockOwnerDeletion in this case")
        if set(body["spec"]["deviceSelector"]) - {"driver", "pool", "device"}:
            raise Refusal(400, "BadRequest", "field not declared in schema")
        taint.setdefault("timeAdded", now())

    def collect_garbage(self):
        """What belongs to Nodes that are gone goes."""
        there = {node.uid for node in self.nodes.values()}
        for name, rule in list(self.taint_rules.items()):
            owners = rule["metadata"].get("ownerReferences", [])
            if owners and not {owner["uid"] for owner in owners} & there:
                del self.taint_rules[name]

    # -- EndpointSlices -----------------------------------------------------------------------

    def list_slices(self, record, who, namespace):
        """From the watch cache. A namespace that does not exist has none."""
        self.allow(who, "list", "endpointslices", "", "discovery.k8s.io", namespace)
        query = dict(record.query)
        match = re.fullmatch(r"kubernetes\.io/service-name=([a-z0-9-]+)",
                             query.pop("labelSelector", ""))
        if record.method != "GET" or not match or query != {"resourceVersion": "0"}:
            raise Refusal(501, "NotImplemented", "the double does not know this of EndpointSlices")
        kind, items = "EndpointSliceList", self.slices.get((namespace, match[1]), [])
        if PARTIAL_LIST in record.accept:
            kind, items = "PartialObjectMetadataList", [{"metadata": i["metadata"]} for i in items] or None
        return 200, {"kind": kind, "apiVersion": "discovery.k8s.io/v1",
                     "metadata": {"resourceVersion": "4711"}, "items": items}

    def set_pods(self, namespace, service, pods, size=100, port=None):
        """What the controller makes of pods, [{"address":, "node":, conditions}]: slices of one
        family of addresses each."""
        port = port or {"name": "metrics", "port": 10879, "protocol": "TCP"}
        families = [("IPv4", [p for p in pods if ":" not in p["address"]]),
                    ("IPv6", [p for p in pods if ":" in p["address"]])]
        self.slices[(namespace, service)] = [
            slice_of(namespace, service, family, members[start:start + size], port)
            for family, members in families for start in range(0, len(members), size)]

    # -- who may do what ----------------------------------------------------------------------

    def allow(self, who, verb, resource, name, group="", namespace=None):
        """As RBAC does. Rules of one namespace have it in them, but for Events, which are in one."""
        right = f"{verb} {resource}" + (f" in {namespace}" if namespace and group else "")
        if who[0] != ADMIN and not (right in self.rules and (group or who[0] == USER)):
            raise self.forbidden(who[0], verb, resource, name, group, namespace)

    @staticmethod
    def forbidden(user, verb, resource, name, group, namespace):
        kind = resource.split("/", maxsplit=1)[0] + (f".{group}" if group else "")
        where = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
        return Refusal(403, "Forbidden", f'{kind} "{name}" is forbidden: User "{user}" cannot {verb} '
                       f'resource "{resource}" in API group "{group}" {where}')

    def admit(self, who, operation, resource, after, before, record):
        """Admission policies, of which this double has but one (check_policy)."""

    # -- nodes --------------------------------------------------------------------------------

    def serve_node(self, record, data, who, name, sub):
        verb = {"GET": "get", "PATCH": "patch", "PUT": "update",
                "DELETE": "delete"}.get(record.method, record.method.lower())
        self.allow(who, verb, "nodes/status" if sub else "nodes", name)
        if record.method == "GET" and not sub:
            return 200, self.show(self.find(name), record)
        if record.method == "DELETE" and not sub:
            del self.nodes[self.find(name).name]
            return 200, {"kind": "Status", "status": "Success"}
        if record.method != "PATCH":
            raise Refusal(501, "NotImplemented", f"the double knows no {record.method}")
        if record.query.get("dryRun"):
            raise Refusal(501, "NotImplemented", "the double knows no dryRun")
        self.patch_node(record, data, who, name, sub)
        return 200, self.show(self.nodes[name], record)

    def create_node(self, body):
        """What comes new gets a taint by admission."""
        node = Node(body["metadata"]["name"])
        node.values[("taints",)] = [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]
        self.nodes[node.name] = node
        return 201, node.whole()

    def list_nodes(self, record):
        """By name, in pages; the selector has labels with a value, or without."""
        query = {"labelSelector": "", "continue": "", **record.query}
        if set(query) != {"labelSelector", "continue", "limit"} or PARTIAL_LIST not in record.accept:
            raise Refusal(501, "NotImplemented", "the double does not know this of lists of nodes")
        wanted = [part.partition("=") for part in query["labelSelector"].split(",") if part]
        names = sorted(name for name, node in self.nodes.items() if name > query["continue"] and all(
            key in node.labels and (not sign or node.labels[key] == value)
            for key, sign, value in wanted))
        page = names[:int(query["limit"])]
        metadata = {"continue": page[-1]} if len(names) > len(page) else {}
        return 200, {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1",
                     "metadata": {"resourceVersion": "4711", **metadata},
                     "items": [{"metadata": self.nodes[name].metadata()} for name in page] or None}

    def find(self, name):
        if name not in self.nodes:
            raise Refusal(404, "NotFound", f'nodes "{name}" not found',
                          {"name": name, "kind": "nodes"})
        return self.nodes[name]

    @staticmethod
    def show(node, record):
        if PARTIAL in record.accept:
            return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1",
                    "metadata": node.metadata()}
        return node.whole()

    def patch_node(self, record, data, who, name, sub):
        kind = record.type.split(";")[0]
        if kind == "application/json-patch+json":
            raise Refusal(501, "NotImplemented", "the double knows no JSON patch")
        if kind not in (APPLY, MERGE, STRATEGIC):
            raise Refusal(415, "UnsupportedMediaType", "the body of the request was in an unknown "
                          "format - accepted media types include: application/json-patch+json, "
                          "application/merge-patch+json, application/strategic-merge-patch+json")
        if kind == APPLY and not record.query.get("fieldManager"):
            raise Refusal(422, "Invalid", "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: "
                                          "Required value: is required for apply patch")
        body = check_json(data, self.version)
        if kind == APPLY:
            self.check_apply(body, who, name)
        node = self.find(name)
        if self.take_fault("changed meanwhile"):
            node.set(("label", "another-client"), "was-here")
        self.check_body(node, body)
        before, whole = node.copy(), node.whole() if self.admits else None
        try:
            if kind == APPLY:
                self.apply(node, record, body, sub)
            else:
                self.merge(node, record, body, sub, kind)
            self.check_policy(node, before, who)
            if self.admits:
                self.admit(who, "UPDATE", f"nodes/{sub}".rstrip("/"), node.whole(), whole, record)
        except Refusal:
            node.restore(before)
            raise
        node.finish(before)

    def check_apply(self, body, who, name):
        metadata = body.get("metadata") or {}
        if not body.get("apiVersion") or not body.get("kind"):
            raise Refusal(400, "BadRequest", "apiVersion and kind must be set")
        if metadata.get("name") != name:
            raise Refusal(400, "BadRequest", "the name of the object does not match the name on "
                                             "the URL")
        if metadata.get("managedFields"):
            raise Refusal(400, "BadRequest", "metadata.managedFields must be nil")
        if name not in self.nodes:  # applying creates
            try:
                self.allow(who, "create", "nodes", name)
            except Refusal as refusal:
                if self.version < (1, 22):
                    refusal.reason = ""
                raise
            raise Refusal(501, "NotImplemented", "no role may grant create on nodes")

    def check_body(self, node, body):
        metadata = body.get("metadata") or {}
        check_labels(node.name, metadata.get("labels"))
        check_annotations(node.name, metadata.get("annotations"))
        if metadata.get("resourceVersion") not in (None, str(node.version)):
            raise Refusal(409, "Conflict", f'Operation cannot be fulfilled on nodes "{node.name}": '
                          "the object has been modified; please apply your changes to the latest "
                          "version and try again")

    def apply(self, node, record, body, sub):
        owner_sub = sub if self.version >= (1, 22) else ""
        owner = (record.query["fieldManager"], "Apply", owner_sub)
        node.apply(owner, fields_of(body, sub), record.query.get("force") == "true")

    @staticmethod
    def merge(node, record, body, sub, kind):
        """Both merge patches; they differ in lists only."""
        fields = fields_of({**body, "status": None}, sub)
        status = body.get("status") or {}
        if (body.get("metadata") or {}).get("managedFields") == [{}]:
            node.owners = {}
        conditions = status.get("conditions")
        if sub == "status":
            node.resources |= status.get("capacity") or {}
            node.allocatable |= status.get("allocatable") or {}
        if sub == "status" and conditions is not None:
            new = {("condition", c["type"]): c for c in conditions if "$patch" not in c}
            if kind == STRATEGIC:
                for path, value in new.items():
                    fields[path] = {**node.values.get(path, {}), **value}
                fields |= {("condition", c["type"]): None for c in conditions
                           if c.get("$patch") == "delete"}
            else:  # replaces the whole list
                fields |= {p: None for p in node.values if p[0] == "condition"} | new
        if ("taints",) in fields and fields[("taints",)] is None:
            fields[("taints",)] = []
        node.update(record.query.get("fieldManager", "curl"), sub, fields)

    def check_policy(self, node, before, who):
        user, bound = who
        if self.policy is None or user != USER:
            return
        old, new = before[0], node.values
        changed = [path for path in {*old, *new} if old.get(path) != new.get(path)]
        wrong = [path for path in changed if path[0] in ("label", "annotation")
                 and not path[1].startswith(tuple(self.policy))]
        if bound != node.name or wrong:
            what = "not its own node" if bound != node.name else f"key {wrong[0][1]}"
            raise Refusal(422, "Invalid", f'nodes "{node.name}" is forbidden: '
                          "ValidatingAdmissionPolicy 'rdma-node-agent' with binding "
                          f"'rdma-node-agent' denied request: {what}")

    # -- events -------------------------------------------------------------------------------

    def serve_event(self, record, data, who, namespace, name):
        verb = {"POST": "create", "PATCH": "patch", "GET": "get", "DELETE": "delete"}.get(
            record.method, "?")
        self.allow(who, verb, "events", name or "", "", namespace)
        if record.method == "GET" and not name:
            return 200, {"kind": "EventList", "items": list(self.events.values())}
        if record.method == "DELETE" and name in self.events:
            del self.events[name]
            return 200, {"kind": "Status", "status": "Success"}
        body = check_json(data, self.version)
        if record.method == "POST" and not name:
            return 201, self.create_event(body, namespace, record, who)
        if record.method == "PATCH" and name and record.type == MERGE:
            if name not in self.events:
                raise Refusal(404, "NotFound", f'events "{name}" not found')
            after = {**self.events[name], **body, "metadata": {
                **self.events[name]["metadata"], **body.get("metadata", {}),
                "managedFields": event_fields(record)}}
            self.admit(who, "UPDATE", "events", after, self.events[name], record)
            self.events[name] = after
            return 200, after
        raise Refusal(501, "NotImplemented", "the double does not know this of events")

    def create_event(self, body, namespace, record, who):
        name = body["metadata"]["name"]
        involved = body.get("involvedObject") or {}
        expected = "default" if not involved.get("namespace") else involved["namespace"]
        if namespace != expected:
            raise Refusal(422, "Invalid", f'Event "{name}" is invalid: involvedObject.namespace: '
                                          "Invalid value: does not match event.namespace")
        if self.disliked and self.disliked in body.get("message", ""):
            raise Refusal(400, "BadRequest", 'admission webhook "events.example" denied the '
                                             "request: not this one")
        if name in self.events:
            raise Refusal(409, "AlreadyExists", f'events "{name}" already exists')
        body["metadata"] |= {"uid": str(uuid.uuid4()), "managedFields": event_fields(record)}
        self.admit(who, "CREATE", "events", body, None, record)
        self.events[name] = body
        return body


def main():
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    directory = sys.argv[1]
    os.makedirs(directory, exist_ok=True)
    with Api(directory) as api:
        api.nodes = {name: Node(name) for name in sys.argv[2:] or ["node"]}
        api.kubeconfig("admin", user={"token": ADMIN_TOKEN})
        print(api.kubeconfig(), flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
