# SPDX-License-Identifier: Apache-2.0
"""A switch with 64 nodes dies: one page. Two unrelated ports fail: two.

A real Prometheus scrapes 64 agents, which are one HTTP server: it has what "collect" prints of a
recorded machine, with other names. A real Alertmanager applies files/inhibit.yaml and, since it
groups nothing, sends each alert that is not inhibited on its own. Delays are those of the rules,
shortened; what has to come before what is the same.
"""
import contextlib
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = os.path.join(HERE, "../../helm/rdma-node-agent/files")
sys.path.insert(0, os.path.join(HERE, "../daemon"))
from agent import free_port, wait  # noqa: E402 pylint: disable=wrong-import-position
from prometheus import Prometheus  # noqa: E402 pylint: disable=wrong-import-position
from alertmanager import GROUP_WAIT, Alertmanager, paging  # noqa: E402 pylint: disable=wrong-import-position

NODES = [f"node{number:02}" for number in range(1, 65)]
SURVIVORS = {"node17", "node40", "node64"}  # whose ports at leaf-07 stay up
RAILS = range(8)
LEAF_DEVICE = "mlx5_7"
INTERVAL = 2
DELAYS = {"30s": "3s", "1m": "8s", "4m": "12s", "5m": "16s", "10m": "24s", "15m": "30s", "1h": "2m"}
PATIENCE = 240  # on a busy machine


# -- What the agents say --------------------------------------------------------------------------

class Machine:
    """A recorded node in which something fails."""

    def __init__(self, binary, directory, names, recorded, config):
        self.binary, self.root, self.names = binary, f"{directory}/machine", names
        self.config = f"{directory}/config.yaml"
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(config)
        subprocess.run([f"{HERE}/../machines/unpack", recorded, self.root], check=True)

    def write(self, path, text):
        os.makedirs(os.path.dirname(f"{self.root}/{path}"), exist_ok=True)
        with open(f"{self.root}/{path}", "w", encoding="utf-8") as file:
            file.write(text + "\n")

    def set_port(self, device, state, physical_state):
        for name, text in ("state", state), ("phys_state", physical_state):
            self.write(f"sys/class/infiniband/{device}/ports/1/{name}", text)

    def samples(self):
        """Those that the rules ask for."""
        text = subprocess.run([self.binary, "collect", "--format=prometheus", "--root", self.root,
                               "--config", self.config], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
        return "".join(f"{line}\n" for line in text.splitlines()
                       if re.split("[{ ]", line)[0] in self.names)


class Rails(Machine):
    """Eight rails, each at a leaf switch of its own, which LLDP names."""

    def __init__(self, binary, directory, names):
        super().__init__(binary, directory, names, "roce-8rail-gpu", "expect: {up: ['*']}\n")
        for rail in RAILS:
            port = f"{self.root}/sys/class/infiniband/mlx5_{rail}/device/net"
            heard = f"recorded/lldp/{os.listdir(port)[0]}"
            os.makedirs(f"{self.root}/{heard}/bridge")
            for fact, text in {"guid": f"98:03:9b:aa:00:{rail:02}", "name": f"leaf-{rail:02}",
                               "port": "PORT"}.items():
                self.write(f"{heard}/{fact}", text)

    def collect(self, down=None):
        """With a port that is down."""
        if not down:
            return self.samples()
        self.set_port(down, "1: DOWN", "2: Polling")
        found = self.samples()
        self.set_port(down, "4: ACTIVE", "5: LinkUp")
        return found


class Fleet(http.server.ThreadingHTTPServer):
    """Serves /NODE/metrics, and takes what Alertmanager sends."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, machine):
        super().__init__(("127.0.0.1", free_port()), Handler)
        self.machine, self.texts = machine, {None: machine.collect()}
        self.down, self.sent, self.scrapes = {}, [], 0

    def fail(self, what, nodes):
        if what not in self.texts:
            self.texts[what] = self.machine.collect(what)
        self.down = {**self.down, **dict.fromkeys(nodes, what)}

    def repair(self):
        self.down = {}

    def text(self, node):
        self.scrapes += 1
        text = self.texts[self.down.get(node)]
        text = text.replace('peer_port="PORT"', f'peer_port="Ethernet{NODES.index(node)}"')
        # The loop of this one goes on.
        return re.sub(r"^(rdma_agent_snapshots_total) .*", rf"\1 {self.scrapes}", text, flags=re.M)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, body=b""):
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.reply(self.server.text(self.path.split("/")[1]).encode())

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.sent += [(time.time(), alert) for alert in body["alerts"]]
        self.reply()

    def log_message(self, *_):
        pass


# -- The story ------------------------------------------------------------------------------------

def shorten(path, directory):
    """The rules with shorter delays."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    short = f"{directory}/alerts.yaml"
    with open(short, "w", encoding="utf-8") as file:
        file.write(re.sub(r"^( +for:) (\w+)", lambda match: f"{match[1]} {DELAYS[match[2]]}", text,
                          flags=re.M))
    return short


def job(fleet):
    """Of Prometheus: 64 targets at one address."""
    return {"static_configs": [
        {"targets": [f"127.0.0.1:{fleet.server_port}"],
         "labels": {"instance": node, "__metrics_path__": f"/{node}/metrics"}} for node in NODES]}


def sent(fleet):
    """What arrived, as sorted texts."""
    return sorted(" ".join(alert["labels"].get(name, "-") for name in
                           ("alertname", "severity", "instance", "device", "peer"))
                  for _, alert in fleet.sent)


def tell(fleet, start):
    for arrived, alert in fleet.sent:
        print(f"{arrived - start:5.1f} s {alert['labels']['severity']}: "
              f"{alert['annotations']['summary']}\n        {alert['annotations']['description']}")


def all_inhibited(manager):
    """Did all ports of the switch become critical, and is each of them inhibited?"""
    dead = len(NODES) - len(SURVIVORS)
    return all(manager.count(alertname="RdmaPortDown", severity=severity) == {True: dead}
               for severity in ("warning", "critical"))


def settle():
    """What is still in a group would be sent within this time."""
    time.sleep(GROUP_WAIT + 2 * INTERVAL)


def check(what, got, expected):
    if got != expected:
        yield f"{what}: {json.dumps(got, indent=1)}, expected {json.dumps(expected, indent=1)}"


def dead_leaf(fleet, manager):
    start = time.time()
    fleet.fail(LEAF_DEVICE, set(NODES) - SURVIVORS)
    wait("a page", lambda: fleet.sent, PATIENCE)
    wait("all alerts of ports are inhibited", lambda: all_inhibited(manager), PATIENCE)
    settle()
    tell(fleet, start)
    yield from check("pages for a dead switch", sent(fleet), ["RdmaLeafDown critical - - leaf-07"])
    summary = fleet.sent[0][1]["annotations"]["summary"]
    yield from check("its summary", summary, "leaf-07: 61 of 64 ports are down")
    fleet.repair()
    wait("the switch is back", lambda: manager.alerts() == [], PATIENCE)


def two_ports(fleet, manager):
    fleet.sent.clear()
    start = time.time()
    fleet.fail("mlx5_0", ["node01"])
    fleet.fail("mlx5_3", ["node02"])
    expected = sorted(f"RdmaPortDown {severity} {where}" for severity in ("critical", "warning")
                      for where in ("node01 mlx5_0 leaf-00", "node02 mlx5_3 leaf-03"))
    wait("two critical alerts", lambda: manager.count(
        alertname="RdmaPortDown", severity="critical") == {False: 2}, PATIENCE)
    settle()
    tell(fleet, start)
    pages = [line for line in sent(fleet) if " critical " in line]
    yield from check("pages for two ports", pages,
                     [line for line in expected if " critical " in line])
    # A warning that was not sent before its port became critical is not sent any more.
    yield from check("other notifications", sorted(set(sent(fleet)) - set(expected)), [])


def healthy(prometheus):
    yield from check("alerts of a healthy fleet",
                     [labels["alertname"] for labels, _ in prometheus.query("ALERTS")], [])


@contextlib.contextmanager
def watched(machine, directory, ports):
    """64 such nodes with as many ports each, all of them known: (fleet, Alertmanager, Prometheus)."""
    fleet = Fleet(machine)
    threading.Thread(target=fleet.serve_forever, daemon=True).start()
    with Alertmanager(paging(fleet.server_port)) as manager, \
            Prometheus(rules=[shorten(f"{FILES}/alerts.yaml", directory)], job=job(fleet),
                       interval=INTERVAL, alertmanager=manager.port) as prometheus:
        wait("all ports are known", lambda: prometheus.value("count(rdma:port_place)")
             == ports * len(NODES), PATIENCE)
        wait("Alertmanager answers", lambda: manager.alerts() is not None, PATIENCE)
        yield fleet, manager, prometheus
    fleet.shutdown()


def asked(rules):
    """The names of the agent's metrics in the rules, and in the texts of alerts."""
    return {name for rule in rules for name in re.findall(r"\brdma_[a-z0-9_]+", str(rule))}


def complaints(binary, rules):
    with tempfile.TemporaryDirectory(prefix="rna-leaf-") as directory, \
            watched(Rails(binary, directory, asked(rules)), directory, 9) as (
                fleet, manager, prometheus):
        yield from healthy(prometheus)
        yield from dead_leaf(fleet, manager)
        yield from two_ports(fleet, manager)
