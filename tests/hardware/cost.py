# SPDX-License-Identifier: Apache-2.0
"""What the agent costs in its default rhythm, beside node_exporter over the same time, and how many
commands the firmware of mlx5 devices gets."""
import glob
import socket
import time

from agent import get, parse_metrics
from background import RunningAgent, cpu_seconds, end, resident_bytes, wait_for
from facts import Fact, metric
from tools import NotTried

NODE_EXPORTERS = ("prometheus-node-exporter", "node_exporter")
SCRAPE = 15  # seconds between two scrapes, as by default
SETTLE = 3  # seconds of start-up that do not count
# Linux 6.1: mlx5_cmdif_debugfs_init() in drivers/net/ethernet/mellanox/mlx5/core/debugfs.c
COMMANDS = "/sys/kernel/debug/mlx5/*/commands/*/n"
# node_exporter's names, in bytes where the file has words of four: collector/infiniband_linux.go.
SAME = {"port_data_transmitted_bytes": "data_transmitted_bytes",
        "port_data_received_bytes": "data_received_bytes",
        "port_packets_transmitted": "packets_transmitted",
        "port_packets_received": "packets_received",
        "link_downed": "link_downed", "symbol_error": "symbol_errors",
        "port_errors_received": "receive_errors"}


def firmware_commands():
    """{PCI address: commands so far}; nothing without the right to read, or without mlx5."""
    found = {}
    for path in glob.glob(COMMANDS):
        try:
            with open(path, encoding="ascii") as file:
                address = path.split("/")[5]
                found[address] = found.get(address, 0) + int(file.read())
        except (OSError, ValueError):
            continue
    return found


def more(before, after):
    return {address: after[address] - before.get(address, 0) for address in after}


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class NodeExporter:
    """One of our own, on a port of the loopback interface; the node's own one may be anywhere."""

    def __init__(self, tools):
        self.tools, self.process = tools, None
        self.address = f"127.0.0.1:{free_port()}"
        self.url = f"http://{self.address}"

    def start(self):
        for name in NODE_EXPORTERS:
            try:
                return self.tools.background(name, f"--web.listen-address={self.address}")
            except NotTried:
                continue
        raise NotTried("no node_exporter")

    def __enter__(self):
        self.process = self.start()
        wait_for(self.process, f"{self.url}/metrics")
        return self

    def __exit__(self, *_):
        end(self.process)


def node_exporter(tools):
    """Its counters of ports."""
    with NodeExporter(tools) as server:
        samples = parse_metrics(get(f"{server.url}/metrics"))
    if (({"collector": "infiniband"}, 0.0)) in samples.get("node_scrape_collector_success", []):
        raise NotTried("the collector infiniband of node_exporter fails here")
    if not any(name.startswith("node_infiniband") for name in samples):
        raise NotTried("node_exporter has no samples of InfiniBand")
    for theirs, ours in SAME.items():
        for labels, value in samples.get(f"node_infiniband_{theirs}_total", []):
            device, port = labels["device"], labels["port"]
            yield Fact("node_exporter", f"{device}/{port}", theirs, value,
                       metric(f"rdma_port_{ours}_total", device, port), moves=True)


def scrape(urls, seconds):
    """Requests the metrics of each server, as Prometheus does, for this time."""
    start = time.monotonic()
    due = start
    while due < start + seconds:
        for url in urls:
            get(f"{url}/metrics")
        due = min(due + SCRAPE, start + seconds)
        time.sleep(max(0, due - time.monotonic()))


def measure(tools, binary, directory, seconds):
    """Lines of text."""
    try:
        other = NodeExporter(tools).__enter__()
    except NotTried as error:
        other = None
        yield f"node_exporter: not tried: {error}"
    try:
        with RunningAgent(binary, directory) as agent:
            servers = {"the agent": (agent.process.pid, agent.url)}
            if other:
                servers["node_exporter"] = other.process.pid, other.url
            yield from over_time(servers, seconds)
    finally:
        if other:
            other.__exit__()


def over_time(servers, seconds):
    time.sleep(SETTLE)
    before = {name: cpu_seconds(pid) for name, (pid, _) in servers.items()}
    commands = firmware_commands()
    scrape([url for _, url in servers.values()], seconds)
    for name, (pid, _) in servers.items():
        used = cpu_seconds(pid) - before[name]
        yield (f"{name}: {used:.2f} s of CPU in {seconds} s with a scrape every {SCRAPE} s, "
               f"{resident_bytes(pid) >> 10} KiB resident")
    caused = more(commands, firmware_commands())
    if not caused:
        yield "firmware commands: not tried: no counters of mlx5 in debugfs, or no right to read"
    for address, count in sorted(caused.items()):
        yield (f"firmware commands of {address}: {count} in {seconds} s, by "
               f"{' and '.join(servers)} and all others on this node")


ON_NODES = (("node", "node_exporter", node_exporter),)
