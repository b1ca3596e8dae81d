# SPDX-License-Identifier: Apache-2.0
"""The two exporters as processes, their values in /proc, and a client that uses little CPU."""
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import time

HOST = "127.0.0.1"
PATIENCE = 30
REQUEST = (f"GET /metrics HTTP/1.1\r\nHost: {HOST}\r\nUser-Agent: bench\r\n"
           "Accept: text/plain;version=0.0.4\r\n")
COLLECTORS = ("presence", "state", "identity", "link", "counters", "hw_counters", "gids", "fabric",
              "pcie", "ethernet", "resources", "qos", "virtual_functions", "module", "netdev",
              "gateways", "lldp", "topology", "readiness", "kernel_log", "process")


def free_port():
    with socket.socket() as sock:
        sock.bind((HOST, 0))
        return sock.getsockname()[1]


class Connection:
    """One keep-alive connection. http.client takes longer than the agent, and would be measured."""

    def __init__(self, port, timeout=PATIENCE):
        self.socket = socket.create_connection((HOST, port), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb", 1 << 20)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()
        self.socket.close()

    def scrape(self, gzip=True):
        """Returns (status, body as it came)."""
        accept = "Accept-Encoding: gzip\r\n" if gzip else ""
        self.socket.sendall(f"{REQUEST}{accept}\r\n".encode())
        status = self.file.readline()
        if not status:
            raise ConnectionError("closed")
        headers = {}
        while (line := self.file.readline()) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            headers[name.lower()] = value.strip()
        if b"content-length" in headers:
            body = self.file.read(int(headers[b"content-length"]))
        else:
            body = b"".join(self.chunks())
        return int(status.split()[1]), body

    def chunks(self):
        while size := int(self.file.readline(), 16):
            yield self.file.read(size)
            self.file.readline()
        self.file.readline()


class Server:
    """with NodeExporter(root) as server: ...; it has answered a scrape with 200 by then."""

    name = None

    def __init__(self, root, directory):
        self.root, self.directory, self.port = root, directory, free_port()
        self.process = self.start_seconds = None

    def command(self):
        raise NotImplementedError

    def __enter__(self):
        command = self.command()
        start = time.monotonic()
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > start + PATIENCE:
                self.__exit__()
                raise SystemExit(f"{' '.join(command)}: does not serve")
            time.sleep(0.002)  # each try costs the agent a fifth of a millisecond
        self.start_seconds = time.monotonic() - start
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def answers(self):
        try:
            with self.connect() as connection:
                return connection.scrape(gzip=False)[0] == 200
        except OSError:
            return False

    def connect(self, timeout=PATIENCE):
        return Connection(self.port, timeout)

    def cpu_seconds(self):
        """User and system time of all threads, in nanoseconds' resolution: the process's clock."""
        return time.clock_gettime_ns(~self.process.pid << 3 | 2) / 1e9

    def threads(self):
        """{(name, TID): seconds of CPU}, as /proc/PID/task/TID/schedstat has them."""
        used = {}
        for thread in os.listdir(f"/proc/{self.process.pid}/task"):
            place = f"/proc/{self.process.pid}/task/{thread}"
            with open(f"{place}/comm", encoding="ascii") as comm, \
                    open(f"{place}/schedstat", encoding="ascii") as stat:
                used[comm.read().strip(), thread] = int(stat.read().split()[0]) / 1e9
        return used

    def memory(self, name):
        """Rss or Anonymous, in kB. What status says is inaccurate, see proc(5)."""
        with open(f"/proc/{self.process.pid}/smaps_rollup", encoding="ascii") as file:
            return int(re.search(rf"^{name}:\s*(\d+)", file.read(), re.M)[1])

    def wakeups(self):
        """How often its threads went to sleep, since each began."""
        total = 0
        for thread in os.listdir(f"/proc/{self.process.pid}/task"):
            with open(f"/proc/{self.process.pid}/task/{thread}/status", encoding="ascii") as file:
                total += int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", file.read(), re.M)[1])
        return total

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


class Agent(Server):
    """poll: periods that differ from 1 s, which the cold measure has for what it polls."""

    name = "agent"
    binary = None  # set by run

    def __init__(self, root, directory, **poll):
        super().__init__(root, directory)
        self.more = {}  # settings
        self.poll = {"state": "1s", "counters": "1s", "hw_counters": "1s", **poll}

    def command(self):
        config = os.path.join(self.directory, "agent.yaml")
        with open(config, "w", encoding="utf-8") as file:  # YAML, which JSON is a part of
            json.dump({"poll": self.poll, "http": {"listen": [f"{HOST}:{self.port}"]},
                       **self.more}, file)
        return [self.binary, "run", "--root", self.root, "--config", config]

    def metric(self, name):
        """A sample without labels."""
        with self.connect() as connection:
            text = connection.scrape(gzip=False)[1].decode()
        return float(re.search(rf"^{name} (\S+)$", text, re.M)[1])


class QuietAgent(Agent):
    """Polls once, at its start: what is measured is serving, or nothing at all."""

    def __init__(self, root, directory):
        super().__init__(root, directory, **dict.fromkeys(COLLECTORS, "1h"))


class DefaultAgent(Agent):
    """As it is without a configuration, but for places of its own."""

    def __init__(self, root, directory):
        super().__init__(root, directory)
        self.poll = {}
        self.more = {"state": {"directory": f"{directory}/state"}, "control": {"socket": ""}}


class NodeExporter(Server):
    name = "node_exporter"
    binary = "prometheus-node-exporter"

    def command(self):
        return [self.binary, "--collector.disable-defaults", "--collector.infiniband",
                f"--path.sysfs={self.root}/sys", f"--web.listen-address={HOST}:{self.port}"]

    @classmethod
    def version(cls, binary=None):
        result = subprocess.run([binary or cls.binary, "--version"], text=True, check=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return re.search(r"version (\S+?),? ", result.stdout)[1].rstrip(",")


class Floor(Server):
    """Reads the files that the agent polls for scrapes, once for each "scrape", see floor.c."""

    name = "floor"
    keep = 4096  # reader.descriptors
    few = 16     # a smaller share is of two directories, which the floor has no use for

    def command(self):
        devices = len(os.listdir(f"{self.root}/sys/class/infiniband"))
        return [self.binary, self.root, str(self.keep if self.keep // devices >= self.few else 0)]

    def __enter__(self):
        self.process = subprocess.Popen(self.command(), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.scrape()
        return self

    def connect(self, timeout=PATIENCE):
        return contextlib.nullcontext(self)

    def scrape(self, gzip=True):
        os.write(self.process.stdin.fileno(), b"\n")
        if os.read(self.process.stdout.fileno(), 1) != b"\n":
            raise ConnectionError("floor ended")
        return 200, b""
