# SPDX-License-Identifier: Apache-2.0
"""Access of tests to a cluster, the double or a real one, and the client as a process."""
import atexit
import base64
import contextlib
import functools
import http.client
import json
import os
import queue
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.parse
import uuid
from types import MappingProxyType

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "daemon"))
from agent import PATIENCE, free_port, wait  # noqa: E402

import api  # noqa: E402

REAL = os.environ.get("RNA_TEST_KUBECONFIG")  # of a user who may create and delete nodes

driver = fleet = None  # programs, set by run

TAINT = "rdma-node-agent/rdma-down"
CONDITIONS = ["RdmaPortDown", "RdmaDeviceMissing"]
# nothing is spread, nothing comes by itself
AT_ONCE = {"first_delay": 0, "spread": 0, "resync": 0, "look": 0, "heartbeat": 0,
           "taint_key": TAINT, "condition_types": ",".join(CONDITIONS), "resources": "rdma/*",
           "label_keys": "network.nvidia.com/roce,rdma-node-agent/*"}


class Cluster:
    """An API server that a kubeconfig leads to, asked as its administrator."""

    def __init__(self, kubeconfig, context=None):
        with open(kubeconfig, encoding="utf-8") as file:
            config = yaml.safe_load(file)
        here = self.entry(config, "context", context or config["current-context"])
        cluster = self.entry(config, "cluster", here["cluster"])
        user = self.entry(config, "user", here["user"])
        self.url = urllib.parse.urlsplit(cluster["server"])
        self.directory = os.path.dirname(kubeconfig)
        self.tls = ssl.create_default_context(
            cadata=self.pem(cluster, "certificate-authority"))
        self.headers = {"Accept": "application/json"}
        token = self.pem(user, "tokenFile") if "tokenFile" in user else user.get("token")
        if token:
            self.headers["Authorization"] = f"Bearer {token}"
        self.identify(user)

    @staticmethod
    def entry(config, kind, name):
        return next(entry[kind] for entry in config[f"{kind}s"] if entry["name"] == name)

    def pem(self, mapping, name):
        if f"{name}-data" in mapping:
            return base64.b64decode(mapping[f"{name}-data"]).decode()
        with open(os.path.join(self.directory, mapping[name]), encoding="utf-8") as file:
            return file.read()

    def identify(self, user):
        if not {"client-certificate", "client-certificate-data"} & set(user):
            return
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(self.pem(user, "client-certificate") + self.pem(user, "client-key"))
            file.flush()
            self.tls.load_cert_chain(file.name)

    def request(self, method, path, body=None, kind="application/json"):
        """(status, the answer's JSON); of another answer, its text as the message."""
        connection = http.client.HTTPSConnection(self.url.hostname, self.url.port or 443,
                                                 context=self.tls, timeout=PATIENCE)
        with contextlib.closing(connection):
            headers = {**self.headers, **({"Content-Type": kind} if body is not None else {})}
            connection.request(method, self.url.path + path,
                               None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            text = response.read().decode()
            is_json = "json" in response.getheader("Content-Type", "")
            return response.status, json.loads(text) if is_json else {"message": text}

    def ask(self, *arguments, **options):
        status, body = self.request(*arguments, **options)
        assert status in (200, 201), f"{arguments}: {status}: {body}"
        return body

    def events(self, name):
        """Of the node, oldest first."""
        items = self.ask("GET", "/api/v1/namespaces/default/events")["items"]
        return sorted((e for e in items if e["involvedObject"]["name"] == name),
                      key=lambda e: e["firstTimestamp"])

    def make_node(self, name=None):
        name = name or f"rna-test-{uuid.uuid4().hex[:8]}"
        self.ask("POST", "/api/v1/nodes?fieldManager=kubelet", {
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}})
        return Node(self, name)


class Node:
    def __init__(self, cluster, name):
        self.cluster, self.name, self.path = cluster, name, f"/api/v1/nodes/{name}"

    def get(self):
        return self.cluster.ask("GET", self.path)

    @property
    def labels(self):
        return self.get()["metadata"].get("labels") or {}

    @property
    def own_labels(self):
        return {key: value for key, value in self.labels.items()
                if key.startswith(("network.nvidia.com/", "rdma-node-agent/"))}

    @property
    def version(self):
        return self.get()["metadata"]["resourceVersion"]

    @property
    def conditions(self):
        return {c["type"]: c for c in self.get()["status"].get("conditions") or []}

    @property
    def taints(self):
        return {taint["key"] for taint in self.get()["spec"].get("taints") or []}

    def patch(self, body, sub="", kind=api.MERGE):
        return self.cluster.ask("PATCH", f"{self.path}{sub}?fieldManager=other-client", body, kind=kind)

    def label(self, **labels):
        self.patch({"metadata": {"labels": labels}})

    def delete(self):
        self.cluster.ask("DELETE", self.path)


class Driver:
    """with Driver(kubeconfig, node) as client: ...; statuses are read as they come."""

    def __init__(self, kubeconfig=None, node=None, environment=None, **options):
        if kubeconfig:
            options["kubeconfig"] = kubeconfig
        if node:
            options["node"] = node
        self.arguments = [f"{key}={value}" for key, value in {**AT_ONCE, **options}.items()]
        self.environment = {**os.environ, **(environment or {})}
        self.statuses, self.queue, self.problems = [], queue.Queue(), []

    def __enter__(self):
        self.process = subprocess.Popen([driver, *self.arguments], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=self.environment, text=True)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, kind, value, trace):
        self.process.stdin.close()
        try:
            status = self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self.process.wait()
            self.thread.join()
            self.process.stdout.close()
        assert kind or status == 0, f"exit status {status}"

    def read(self):
        for line in self.process.stdout:
            status = json.loads(line)
            problem = status.get("problem")
            if problem and (not self.problems or self.problems[-1] != problem):
                self.problems.append(problem)
            self.statuses.append(status)

    @staticmethod
    def wish(labels=MappingProxyType({}), conditions=(), taint=False, events=(), devices=(),
             all_devices=True):
        """None: it is not decided yet."""
        return json.dumps({"labels": labels if labels is None else dict(labels),
                           "conditions": conditions if conditions is None else list(conditions),
                           "taint": taint, "events": list(events), "devices": list(devices),
                           "all_devices": all_devices}) + "\n"

    def want(self, **wish):
        self.want_all(wish)

    def want_all(self, *wishes):
        """One right after the other."""
        self.process.stdin.write("".join(self.wish(**wish) for wish in wishes))
        self.process.stdin.flush()

    def wait(self, what, condition):
        """Until the newest status is such; returns it."""
        try:
            return wait(what, lambda: (self.statuses and condition(self.statuses[-1])
                                       and self.statuses[-1]))
        except AssertionError as error:
            raise AssertionError(f"{error}; statuses: {self.statuses[-3:]}") from error

    def wait_in_step(self, after=0):
        return self.wait("in step", lambda s: s["in_step"] and len(self.statuses) > after)

    def wait_problem(self, text):
        return self.wait(f"problem with {text}", lambda s: text in (s.get("problem") or ""))["problem"]

    def wait_result(self, result, count=1):
        return self.wait(f"{count} {result}", lambda s: s["requests"][result] >= count)

    def make(self, **wish):
        """Wants it and waits until the Node is so."""
        seen = len(self.statuses)
        self.want(**wish)
        return self.wait_in_step(seen)


def once(what, kubeconfig, node, wish=None, **options):
    """The client as a command. (exit status, output, errors)"""
    arguments = {**AT_ONCE, "kubeconfig": kubeconfig, "node": node, "once": what, **options}
    done = subprocess.run([driver, *[f"{k}={v}" for k, v in arguments.items()]], check=False,
                          input=json.dumps({"labels": {}, "conditions": [],
                                            "taint": False, **(wish or {})}) + "\n", capture_output=True, text=True,
                          timeout=PATIENCE)
    return done.returncode, done.stdout, done.stderr


def condition(kind, status="False", reason="AllPortsUp", message="all is well", since=1700000000):
    return {"type": kind, "status": status, "reason": reason, "message": message, "since": since}


def event(reason="RdmaPortDown", message="mlx5_0/1 is down", warning=True, age=0):
    return {"reason": reason, "message": message, "warning": warning, "age": age}


class DoubleTest(unittest.TestCase):
    """With a double of its own, a node in it, and an administrator to look."""

    version = (1, 36)

    def setUp(self):
        if REAL:
            self.skipTest("needs the double, and RNA_TEST_KUBECONFIG names a real API server")
        directory = self.enter(tempfile.TemporaryDirectory(prefix="rna-kubernetes-"))
        self.api = self.enter(api.Api(directory, self.version, port=free_port()))
        self.kubeconfig = self.api.kubeconfig()
        self.admin = Cluster(self.api.kubeconfig("admin", user={"token": api.ADMIN_TOKEN}))
        self.node = self.admin.make_node("node-1")
        self.seen = len(self.api.log)

    def enter(self, context):
        value = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return value

    def client(self, **options):
        return Driver(self.kubeconfig, "node-1", **options)

    def asked(self, *arguments, **options):
        """What the client asked; not what the test did."""
        return [r for r in self.api.asked(*arguments, since=self.seen, **options)
                if r.user != api.ADMIN]


@functools.cache
def shared_cluster():
    """For what runs on any API server: (administrator, kubeconfig of the client)."""
    if REAL:
        return Cluster(REAL), REAL
    directory = tempfile.TemporaryDirectory(prefix="rna-kubernetes-")
    atexit.register(directory.cleanup)
    double = api.Api(directory.name, port=free_port())
    double.start()
    return (Cluster(double.kubeconfig("admin", user={"token": api.ADMIN_TOKEN})),
            double.kubeconfig())
