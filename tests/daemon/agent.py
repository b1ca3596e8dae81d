# SPDX-License-Identifier: Apache-2.0
"""The agent in tests: a process, its root, its log and its HTTP server."""
import contextlib
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "golden"))
from formats import parse_openmetrics  # noqa: E402

os.environ["RNA_TEST_FIFOS"] = "1"  # a FIFO stands for a file that never answers
# Tests poll for what must happen; this is when they give up. Sanitizers and busy machines are slow.
PATIENCE = 120

# So long may the agent take to end: what its unit allows (TimeoutStopSec). Alone it takes 2 seconds.
STOP = 10

OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"

# Polls often, so that tests see changes soon. Nothing is stalled but what hangs: it would be told of.
BUSY = {"presence": "200ms", "state": "200ms", "counters": "200ms", "hw_counters": "200ms",
        "identity": "1s", "link": "500ms", "gids": "500ms", "pcie": "500ms", "ethernet": "500ms",
        "resources": "500ms", "module": "500ms", "virtual_functions": "500ms",
        "netdev": "200ms", "readiness": "1s", "process": "1s",
        "deadline": "10s", "handover": "100ms"}
# The same for devices that hang.
STALLING = {**BUSY, "deadline": "1s"}
# Polls once, at the start: the newest view stays the same.
QUIET = {name: "1h" for name in ("presence", "state", "counters", "hw_counters", "identity", "link",
                                 "gids", "fabric", "pcie", "ethernet", "resources", "qos", "module",
                                 "virtual_functions", "netdev", "gateways", "lldp", "topology",
                                 "readiness", "kernel_log", "process")}

binary = None  # set by run

EMULATED = "RNA_TEST_EMULATED" in os.environ  # see tests/cross/run

claims = []  # sockets, one for each port that this process was given


def free_port():
    """Is of this process alone until that ends: others that run tests here leave it to us because of
    a name, and what connects to somewhere never gets it, for it is below what the kernel gives."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="utf-8") as file:
        end = max(int(file.read().split()[0]), 20000)
    while True:
        port, claim = random.randrange(10000, end), socket.socket(socket.AF_UNIX)
        try:
            claim.bind(f"\0rna-test-port-{port}")
            with socket.socket() as sock:
                sock.bind(("127.0.0.1", port))
        except OSError:
            claim.close()
            continue
        claims.append(claim)
        return port


def wait(what, condition, patience=PATIENCE):
    """Waits until condition() is true and returns its value. A dear question is asked less often."""
    end = time.monotonic() + patience
    while True:
        asked = time.monotonic()
        value = condition()
        now = time.monotonic()
        if value:
            return value
        if now > end:
            raise AssertionError(f"waited {patience} s for: {what}")
        time.sleep(3 * (now - asked) if now - asked > 0.1 else 0.02)


def namespaces():
    if not shutil.which("ip") or not shutil.which("nsenter"):
        return False
    return subprocess.run(["unshare", "-n", "true"], check=False,
                          stderr=subprocess.DEVNULL).returncode == 0


def stretched(seconds):
    """A limit of time on a machine that is busy: with three processes for each core, all takes three
    times as long. On an idle machine it is what it says."""
    return seconds * max(1, os.getloadavg()[0] / len(os.sched_getaffinity(0)))


# All series; those of an agent as it is installed are Installed's.
METRICS = "metrics: {collectors: full, details: true, gid_info: true}\n"


class Reply:
    def __init__(self, response, body):
        self.status, self.body = response.status, body
        self.headers = {name.lower(): value for name, value in response.getheaders()}

    @property
    def text(self):
        return self.body.decode()


class Agent:
    """with Agent("roce-8rail") as agent: ...; the end is a SIGTERM that must succeed.

    Without a machine it is an agent of this node, which listens to the kernel and keeps no memory.
    """

    wrapper = ()  # of the command
    metrics_settings = METRICS

    def __init__(self, machine=None, poll=None, http_settings=None, ready=True):
        self.directory = tempfile.mkdtemp(prefix="rna-daemon-")
        self.root, self.config = f"{self.directory}/root", f"{self.directory}/agent.yaml"
        self.log_path = f"{self.directory}/log"
        self.port, self.poll, self.http_settings = free_port(), poll or BUSY, http_settings or {}
        self.ready, self.process = ready, None
        if machine:
            subprocess.run([f"{TESTS}/machines/unpack", machine, self.root], check=True)
        else:
            self.root = "/"

    def __enter__(self):
        self.write_config()
        try:
            self.start()
            if self.ready:
                wait(f"readiness; log: {self.log()}", self.is_ready)
            if self.ready and self.poll is QUIET:
                wait("what comes after the first view", self.has_read_gids)
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(self, kind, value, trace):
        try:
            if kind is None and self.process.poll() is None:
                status, _ = self.stop()
                assert status == 0, f"exit status {status}; log: {self.log()}"
        finally:
            self.kill()
        log = self.log()
        if re.search("Sanitizer|runtime error:", log):
            raise AssertionError(log)

    # -- process ------------------------------------------------------------------------------

    def write_config(self, poll=None, extra=""):
        """A configuration in YAML, which JSON is a part of."""
        if self.root == "/":  # nothing of the node's own agent, nor of the test beside this one
            extra += (f'state: {{directory: ""}}\n'
                      f'control: {{socket: "{self.directory}/control"}}\n')
        if "metrics:" not in extra:
            extra += self.metrics_settings
        http_settings = {"listen": [f"127.0.0.1:{self.port}"], **self.http_settings}
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(f"poll: {json.dumps(poll or self.poll)}\n"
                       f"http: {json.dumps(http_settings)}\n{extra}")

    def start(self, **popen):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [*self.wrapper, binary, "run", "--root", self.root, "--config", self.config],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, **popen)

    def stop(self):
        """SIGTERM. Returns the status and how long it took."""
        start = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(PATIENCE)
        return status, time.monotonic() - start

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if os.path.exists(self.log_path):
            self.last_log = self.log()
        shutil.rmtree(self.directory, ignore_errors=True)

    def hang_up(self):
        self.process.send_signal(signal.SIGHUP)

    def log(self):
        if not os.path.exists(self.log_path):
            return getattr(self, "last_log", "")
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def is_ready(self):
        if self.process.poll() is not None:
            raise AssertionError(f"ended with status {self.process.returncode}: {self.log()}")
        try:
            return self.get("/readyz").status == 200
        except OSError:
            return False

    def ip_batch(self, lines):
        """Where wrapper is unshare -n: in its network."""
        subprocess.run(["nsenter", "-t", str(self.process.pid), "-n", "ip", "-batch", "-"],
                       input="\n".join(lines) + "\n", text=True, check=True)

    def proc(self, path):
        return f"/proc/{self.process.pid}/{path}"

    @staticmethod
    def is_sanitized():
        with open(binary, "rb") as file:
            return re.search(rb"lib[at]san\.so", file.read()) is not None

    # -- HTTP ---------------------------------------------------------------------------------

    def open(self, timeout=PATIENCE):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def request(self, method, path, headers=None, body=None, timeout=PATIENCE):
        with contextlib.closing(self.open(timeout)) as connection:
            connection.request(method, path, headers=headers or {}, body=body)
            response = connection.getresponse()
            return Reply(response, response.read())

    def get(self, path, headers=None, timeout=PATIENCE):
        return self.request("GET", path, headers, timeout=timeout)

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE)

    def metrics(self):
        """{(name, labels): number}, by the strict OpenMetrics parser."""
        reply = self.get("/metrics", {"Accept": OPENMETRICS})
        assert reply.status == 200, f"{reply.status}: {reply.text}"
        return parse_openmetrics(reply.text)

    def metric(self, name, **labels):
        return self.metrics().get((name, tuple(sorted(labels.items()))))

    def metric_if_served(self, name):
        """None while the addresses are not served, as for a moment in a reload that changes them."""
        try:
            return self.metric(name)
        except OSError:
            return None

    def wait_snapshots(self, count):
        """Waits until count more snapshots have been published."""
        first = self.metric("rdma_agent_snapshots_total")
        wait(f"{count} snapshots",
             lambda: self.metric("rdma_agent_snapshots_total") >= first + count)

    def has_read_gids(self):
        metrics = self.metrics()
        runs = sum(name == "rdma_collector_success" and ("collector", "gids") in labels
                   for name, labels in metrics)
        return runs == metrics[("rdma_devices", ())]

    # -- root ---------------------------------------------------------------------------------

    def path(self, name):
        return os.path.join(self.root, name)

    def write(self, name, text):
        """Changes a file in its place, as the kernel does."""
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(f"{text}\n")


class Installed(Agent):
    """With the metrics of an agent without settings of them."""

    metrics_settings = ""
