# SPDX-License-Identifier: Apache-2.0
"""A small fleet to which things happen, for dashboards: agents on recorded machines, and a Prometheus.

Each agent is real, and serves a machine of tests/machines whose files the stage changes as a driver
would: a port goes down and comes back, errors are counted, a job transfers data. What no recording can
have is made here, as the metrics of nodes that are doubles: probes and self-tests need devices, and what
Kubernetes has of a Node needs an API server. Their names and labels are those that the agent documents:
undocumented() tells where not.
"""
import contextlib
import http.server
import math
import os
import re
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{HERE}/../daemon")
import agent as daemon  # noqa: E402
from prometheus import Prometheus  # noqa: E402
sys.path.insert(0, f"{HERE}/../machines")
import dcb  # noqa: E402
import ethtool  # noqa: E402
from boards import FILES  # noqa: E402

PATIENCE = 3600  # seconds, for a Prometheus that scrapes nothing at all
POLL = {name: "1s" for name in daemon.BUSY} | {
    "kernel_log": "1s", "fabric": "2s", "qos": "2s", "gateways": "2s", "deadline": "60s", "handover": "1s"}
AT_ONCE = 'health: {hold_down: ["*=0s"], boot_grace: 0s}\n'
USERS = "metrics: {users: true}\n"
NFD = "kubernetes: {backend: nfd, nfd_directory: DIRECTORY/features.d}\n"
# Names of nodes: machine, and settings beyond those of all.
NODES = {"gpu-01": ("hgx-h100-ib", ""), "gpu-02": ("users", USERS), "gpu-03": ("roce-8rail-gpu", NFD),
         "gpu-04": ("kernel-log", ""), "gpu-05": ("pcie-troubles", NFD), "gpu-06": ("xdr-planes", ""),
         "vm-01": ("sriov", ""), "net-01": ("roce-network-troubles", ""), "sto-01": ("roce-ethernet", ""),
         "sto-02": ("optics", ""), "sto-03": ("mad", ""), "sto-04": ("roce-qos", NFD),
         "dev-01": (None, "")}  # this node, whose kernel sends events
KERNEL_MESSAGE = ("3,900,99000000000,-;mlx5_core 0000:16:00.0: temp_warn:170:(pid 0): High temperature on "
                  "sensors with bit set 0 1\n SUBSYSTEM=pci\n DEVICE=+pci:0000:16:00.0\n")
UP, DOWN = ("4: ACTIVE", "5: LinkUp"), ("1: DOWN", "2: Polling")
CLASS = "sys/class/infiniband"
IB_ERRORS = {"symbol_error": 7, "link_error_recovery": 1, "port_rcv_errors": 2, "port_xmit_discards": 3,
             "port_xmit_wait": 90000}
ROCE_ERRORS = {"packet_seq_err": 6, "local_ack_timeout_err": 2, "out_of_sequence": 9, "out_of_buffer": 4,
               "np_ecn_marked_roce_packets": 900, "np_cnp_sent": 450, "rp_cnp_handled": 300,
               "rp_cnp_ignored": 20}
MAD_ERRORS = {"fec_correctable_blocks": 50000, "fec_uncorrectable_blocks": 1,
              "port_rcv_local_physical_errors": 1, "port_inactive_discards": 2}
STATISTICS = {"rx_corrected_bits_phy": 800, "rx_crc_errors_phy": 2, "rx_discards_phy": 11,
              "tx_discards_phy": 5, "rx_out_of_buffer": 3, "rx_pcs_symbol_err_phy": 2,
              "rx_prio3_pause_duration": 90000, "tx_prio3_pause_duration": 20000, "module_unplug": 1,
              "module_bus_stuck": 1, "module_high_temp": 1, "module_bad_shorted": 1,
              "outbound_pci_stalled_rd": 1}


class Node(daemon.Installed):
    """An agent on a machine whose counters count."""

    def __init__(self, name, machine, extra):
        super().__init__(machine, poll=POLL)
        self.name, self.extra = name, extra

    def write_config(self, poll=None, extra=""):
        os.makedirs(f"{self.directory}/features.d", exist_ok=True)
        settings = self.extra.replace("DIRECTORY", self.directory)
        state = "" if self.root == "/" else f"state: {{directory: {self.directory}/state}}\n"
        super().write_config(poll, f"{AT_ONCE}{state}{settings}{extra}")

    def write(self, name, text):
        """Changes a file in its place and at once: the kernel never shows half of one."""
        content = f"{text}\n".encode()
        with open(self.path(name), "r+b" if os.path.exists(self.path(name)) else "wb") as file:
            os.pwrite(file.fileno(), content, 0)
            file.truncate(len(content))

    def replace(self, path, pattern, change):
        """Changes what a pattern finds in a file, if it is there."""
        with contextlib.suppress(FileNotFoundError):
            with open(self.path(path), encoding="utf-8") as file:
                text = file.read()
            self.write(path, re.sub(pattern, change, text, flags=re.M).rstrip("\n"))

    def count(self, path, rise):
        """Adds to the number in a file, if it is there."""
        self.replace(path, r"^\d+$", lambda match: str(int(match[0]) + int(rise)))

    def append(self, path, text):
        with open(self.path(path), "a", encoding="utf-8") as file:
            file.write(text)

    def ports(self):
        with contextlib.suppress(OSError):
            return sorted(name for name in os.listdir(self.path(CLASS)) if name.startswith("mlx5"))
        return []

    def transfer(self, moment):
        """What a job moves on all ports: in waves, up to half of what the link can."""
        for rail, device in enumerate(self.ports()):
            port = f"{CLASS}/{device}/ports/1"
            with contextlib.suppress(OSError), open(self.path(f"{port}/rate"), encoding="utf-8") as file:
                words = float(file.read().split()[0]) * 1e9 / 8 / 4  # of four bytes, in a second
                for name in "port_xmit_data", "port_rcv_data":
                    self.count(f"{port}/counters/{name}",
                               words * (1.2 + math.sin(moment / 9 + rail / 5)) / 5)

    def fail(self, device, counters, folder):
        for name, rise in counters.items():
            self.count(f"{CLASS}/{device}/ports/1/{folder}/{name}", rise)

    def replay(self, device, rise):
        """Correctable errors of PCIe."""
        self.replace(f"{CLASS}/{device}/device/aer_dev_correctable", r"^(RxErr|TOTAL_ERR_COR) (\d+)$",
                     lambda match: f"{match[1]} {int(match[2]) + rise}")

    def lose(self, netdev):
        for name, rise in STATISTICS.items():
            self.replace(f"recorded/ethtool/{netdev}/statistics", rf"^{name}: (\d+)$",
                         lambda match, name=name, rise=rise: f"{name}: {int(match[1]) + rise}")

    def correct(self, netdev, moment):
        """FEC corrects a little, and more with time."""
        blocks, heavy = int(90000 + 900 * moment), int(moment / 2)
        self.write(f"recorded/ethtool/{netdev}/fec", ethtool.answer("stage", "fec", (
            f"modes=rs auto=1 active=rs corrected={blocks},{blocks // 2} uncorrectable={heavy},{heavy} "
            f"bins=0:9000000000,1:{blocks},2-6:{blocks // 3},7-15:{heavy}")))
        self.write(f"recorded/ethtool/{netdev}/stats", ethtool.answer(
            "stage", "stats", f"symbol_errors={heavy} fcs_errors={heavy}"))

    def pause(self, netdev, moment):
        """Frames of the lossless priority, in both directions."""
        frames = ",".join(str(int(3e5 + 40 * moment) * (priority == 3)) for priority in range(8))
        self.write(f"recorded/dcb/{netdev}/ieee", dcb.answer(netdev, {
            "place": "stage", "pfc": "3", "dscp": "26:3", "sent": frames, "received": frames}))

    def set_port(self, device, state, physical_state):
        self.write(f"{CLASS}/{device}/ports/1/state", state)
        self.write(f"{CLASS}/{device}/ports/1/phys_state", physical_state)


# -- Nodes that are doubles ------------------------------------------------------------------------------

DOUBLES, RAILS, RTT = 8, 4, [8e-6, 1.6e-5, 3.2e-5, 6.4e-5, 1.28e-4, 2.56e-4, 1e-3]
BAD_LEAF, BUSY_NODE = "leaf-2", 5


def sample(name, value, /, **labels):
    inner = ",".join(f'{key}="{text}"' for key, text in labels.items())
    return f"{name}{{{inner}}} {value:.10g}" if inner else f"{name} {value:.10g}"


def probes_of_port(number, rail, age, broken):
    """Those of one port: at a leaf that loses since broken seconds, if it does."""
    leaf, port = f"leaf-{rail}", {"device": f"mlx5_{rail}", "port": "1"}
    lossy = broken if leaf == BAD_LEAF and number < 6 else 0
    yield sample("rdma_probe_port_info", 1, **port, rail=rail, leaf=leaf, group="", member=f"m{number}")
    for scope, share in ("host", 0), ("leaf", 0.2), ("fabric", 0.12):
        sent = 120 * age if scope != "host" else 12 * age
        yield sample("rdma_probe_sent_total", sent, **port, scope=scope)
        yield sample("rdma_probe_lost_total", 120 * lossy * share, **port, scope=scope)
    yield sample("rdma_probe_void_total", age / 9, **port)
    yield sample("rdma_probe_missed_total", 150 * broken if number == BUSY_NODE else age / 20, **port)
    yield sample("rdma_probe_ecn_marked_total", (3 + number) * age / 4, **port)
    yield sample("rdma_probe_port_pairs", 6 if lossy else 0, **port, result="losing")
    yield sample("rdma_probe_port_pairs", 1 if lossy else 7, **port, result="answering")
    expected = 5e10
    for direction in "in", "out":
        yield sample("rdma_probe_bandwidth_bytes_per_second", expected * (0.97 - 0.09 * (number == 3)),
                     **port, peer=f"m{(number + 1) % DOUBLES}", direction=direction)
    yield sample("rdma_probe_bandwidth_expected_bytes_per_second", expected, **port)
    yield sample("rdma_probe_bandwidth_timestamp_seconds", time.time() - 3600 * number, **port)
    if number == 6:
        yield sample("rdma_probe_bandwidth_skipped", 1, **port, reason="busy")
    for peer in range(4) if lossy else []:
        yield sample("rdma_probe_pair_lost_ratio", 0.2 + 0.1 * peer, **port,
                     peer=f"m{(number + peer + 1) % 6}", peer_port=f"mlx5_{rail}/1", peer_leaf=leaf,
                     scope="leaf", sign="loss")


def selftests_of_port(number, rail):
    """All pass but one; one is skipped."""
    port, slow = {"device": f"mlx5_{rail}", "port": "1"}, number == 4 and rail == 1
    yield sample("rdma_selftest_ratio", 0.6 if slow else 0.97, **port, memory="local")
    yield sample("rdma_selftest_latency_median_seconds", 2.1e-6 + 4e-6 * slow, **port, memory="local")
    yield sample("rdma_selftest_latency_p99_seconds", 3.4e-6 + 2e-5 * slow, **port, memory="local")
    yield sample("rdma_selftest_last_success_timestamp_seconds",
                 time.time() - 7000 * (number + 1) * (1 + 30 * slow), **port)
    yield sample("rdma_selftest_runs_total", 3, **port, result="ok")
    yield sample("rdma_selftest_skips_total", number, **port, reason="busy")


def kubernetes_of_node(number, age, broken):
    """One Node cannot be written since then, and another client changes the labels of another one."""
    node = {"backend": "api"}
    failing = bool(broken) and number == 4
    yield sample("rdma_kubernetes_in_sync", 0 if failing else 1, **node)
    yield sample("rdma_kubernetes_problem", 1 if failing else 0, **node)
    yield sample("rdma_kubernetes_last_write_timestamp_seconds", time.time() - 400 * (number + 1), **node)
    yield sample("rdma_kubernetes_requests_total", age / 20, **node, result="ok")
    yield sample("rdma_kubernetes_requests_total", broken / 5 * failing, **node, result="error")
    yield sample("rdma_kubernetes_reverts_total", broken / 4 if number == 2 else 0)
    yield sample("rdma_kubernetes_events_sent_total", broken / 8)
    yield sample("rdma_kubernetes_events_dropped_total", broken / 12 if number == 2 else 0)
    for name in "ignored", "label_held", "taint_withheld", "device_taints":
        yield sample(f"rdma_kubernetes_{name}", 1 if number == len(name) % DOUBLES and broken else 0)
    for name in "capacity", "allocatable":
        yield sample(f"rdma_kubernetes_{name}", 8 - (number == 3 and name == "allocatable"),
                     resource="nvidia.com/hostdev")


def agent_of_node(number, age, broken):
    """What goes wrong with agents: one has a certificate and is asked with a wrong password."""
    yield sample("rdma_agent_build_info", 1, version="0.2.0")
    yield sample("rdma_agent_snapshots_total", age)
    yield sample("rdma_agent_quiesced", 1 if number == 6 else 0)
    for bound, share in (1e-3, 0.4), (1e-2, 0.97), (1e-1, 1), ("+Inf", 1):
        yield sample("rdma_agent_event_latency_seconds_bucket", share * age, le=bound)
    if number == 1:
        yield sample("rdma_agent_tls_certificate_not_after_timestamp_seconds", time.time() + 40 * 86400)
        yield sample("rdma_agent_http_logins_total", broken, result="refused")
        yield sample("rdma_agent_http_connections_dropped_total", broken / 3, reason="idle")
        yield sample("rdma_collector_stalled_seconds", broken, collector="counters", device="mlx5_2")
        yield sample("rdma_devices_missing", 1 if broken else 0)
        yield sample("rdma_agent_profile_info", 1, name="dgx-h100", source="shipped", use="findings")


def probes_of_node(number, age, broken):
    yield sample("rdma_probe_up", 1)
    yield sample("rdma_probe_members", DOUBLES - (number == 7))
    yield sample("rdma_probe_ports_without_leaf", 0)
    yield sample("rdma_probe_restarts_total", math.ceil(broken / 30) if number == 3 else 0)
    yield sample("rdma_probe_strangers_total", 4 * broken if number == 2 else 0, reason="duplicate")
    gone = 4 if broken and number == 1 else 0
    yield sample("rdma_probe_peers", 56 - gone, state="running")
    if gone:
        yield sample("rdma_probe_peers", gone, state="peer_down")
    for scope, shift in ("leaf", 0), ("fabric", 2):
        count = 0
        for i, bound in enumerate(RTT):
            count += age * 100 * math.exp(-abs(i - shift - 1)) * (1 + (number == BUSY_NODE) * i)
            yield sample("rdma_probe_rtt_seconds_bucket", count, scope=scope, le=bound)
        yield sample("rdma_probe_rtt_seconds_bucket", count, scope=scope, le="+Inf")
    if broken and number == BUSY_NODE:
        yield sample("rdma_finding", 1, rule="probe-host-busy", severity="warning")
        yield sample("rdma_findings", 1, severity="warning")
    for rail in range(RAILS):
        yield from probes_of_port(number, rail, age, broken)
        yield from selftests_of_port(number, rail)


def names_of(text):
    """{(family, label)} of an exposition, to hold against "describe metrics"."""
    return {(re.sub("_(bucket|count|sum)$", "", line.split("{")[0].split(" ")[0]), label)
            for line in text.splitlines()
            for label in re.findall(r'(\w+)="', line) or [""] if label != "le"}


class Doubles(http.server.ThreadingHTTPServer):
    """Serves /NUMBER/metrics."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", daemon.free_port()), Handler)
        self.start, self.break_at = time.monotonic(), math.inf

    @staticmethod
    def story(number, age, broken):
        return "\n".join(line for part in (agent_of_node, probes_of_node, kubernetes_of_node)
                         for line in part(number, age, broken)) + "\n"

    def text(self, number):
        now = time.monotonic()
        return self.story(number, 600 + now - self.start, max(0, now - self.break_at))


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = self.server.text(int(self.path.split("/")[1])).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(OSError):  # Prometheus waits for as long as an interval
            self.wfile.write(body)

    def log_message(self, *_):
        pass


# -- The stage --------------------------------------------------------------------------------------

def target(address, name, path="/metrics"):
    return {"targets": [address], "labels": {"instance": f"{name}:10879", "__metrics_path__": path,
                                             "rack": f"rack-{name[-1]}"}}


class Stage:
    """with Stage(directory, seconds) as stage: stage.set(); stage.play(); stage.prometheus has it all."""

    def __init__(self, directory, seconds, interval=2):
        self.directory, self.seconds, self.interval = directory, seconds, interval
        self.steps = 0

    def __enter__(self):
        self.stack = contextlib.ExitStack()
        with self.stack:
            self.nodes = {name: self.stack.enter_context(Node(name, *rest))
                          for name, rest in NODES.items()}
            self.doubles = Doubles()
            self.stack.callback(self.doubles.shutdown)
            threading.Thread(target=self.doubles.serve_forever, daemon=True).start()
            self.prometheus = self.stack.enter_context(Prometheus(
                job={"static_configs": list(self.targets())}, interval=self.interval,
                rules=[self.soon(), f"{FILES}/records.yaml"]))
            self.stack = self.stack.pop_all()
        return self

    def __exit__(self, *error):
        return self.stack.__exit__(*error)

    def targets(self):
        for name, node in self.nodes.items():
            yield target(f"127.0.0.1:{node.port}", name)
        for number in range(DOUBLES):
            yield target(f"127.0.0.1:{self.doubles.server_port}", f"probe-{number}", f"/{number}/metrics")

    def soon(self):
        """The rules of alerts with shorter delays."""
        path = f"{self.directory}/alerts.yaml"
        with open(f"{FILES}/alerts.yaml", encoding="utf-8") as file:
            text = re.sub(r"^( +for:) .*", rf"\1 {2 * self.interval}s", file.read(), flags=re.M)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def step(self, moment):
        """What happens at a moment, as a part of the whole."""
        part, nodes = moment / self.seconds, self.nodes
        for name in "gpu-01", "gpu-02", "gpu-03", "gpu-05", "sto-01":
            nodes[name].transfer(moment)
        down = 0.35 < part < 0.6 or part > 1 and moment % 40 < 20  # for those who have missed it
        nodes["gpu-01"].set_port("mlx5_3", *(DOWN if down else UP))
        nodes["sto-03"].count("recorded/mad/mlx5_0/ports/1/details/fec_correctable_blocks", 40000)
        nodes["sto-01"].correct("enp24s0np0", moment)
        nodes["sto-04"].pause("enp24s0np0", moment)
        if part > 0.5:
            nodes["gpu-01"].fail("mlx5_5", IB_ERRORS, "counters")
            nodes["gpu-03"].fail("mlx5_2", ROCE_ERRORS, "hw_counters")
            nodes["gpu-05"].replay("mlx5_1", 3)
            nodes["gpu-01"].replay("mlx5_0", 1)
            nodes["sto-01"].lose("enp24s0np0")
            for name, rise in MAD_ERRORS.items():
                nodes["sto-03"].count(f"recorded/mad/mlx5_0/ports/1/details/{name}", rise)
        if part > 0.4 and self.doubles.break_at == math.inf:
            self.doubles.break_at = time.monotonic()
            self.happen()
        elif part > 1 and self.steps % 15 == 0:
            self.happen()
        self.steps += 1

    def happen(self):
        """What happens at one moment."""
        nodes = self.nodes
        nodes["gpu-04"].append("dev/kmsg", KERNEL_MESSAGE)
        nodes["gpu-03"].write(f"{CLASS}/mlx5_6/ports/1/counters/port_rcv_data", 5)  # was reset
        nodes["gpu-03"].count("sys/class/net/enp21s0np0/carrier_down_count", 1)
        nodes["gpu-03"].write(f"{CLASS}/mlx5_1/ports/1/gids/7", "fe80:0000:0000:0000:0000:0000:0000:0007")

    def scrapes(self):
        """Good ones of the node that has the fewest; 0 while one has none."""
        counts = self.prometheus.query("count_over_time(rdma_agent_build_info[1d])")
        return min(count for _, count in counts) if len(counts) == len(self.nodes) + DOUBLES else 0

    def set(self):
        daemon.wait("two scrapes of all", lambda: self.scrapes() >= 2, PATIENCE)

    def play(self, clock=time.time, end=None):
        """The whole story, a step each second of a clock; with an Event, on to that."""
        self.begin, end, past = clock(), end or threading.Event(), False
        while not past and not end.is_set():
            moment = clock() - self.begin
            past = moment > self.seconds and clock is time.time
            self.step(moment)
            end.wait(1)
        self.end = clock()


def undocumented(binary, text):
    """Names and labels of an exposition that the agent does not document."""
    table = subprocess.run([binary, "describe", "metrics"], check=True, text=True,
                           stdout=subprocess.PIPE).stdout
    known = set()
    for row in table.splitlines()[2:]:
        name, _kind, labels = (cell.strip(" `") for cell in row.split("|")[1:4])
        known |= {(name, label) for label in ["", *labels.split(", ")]}
    return sorted(names_of(text) - known)
