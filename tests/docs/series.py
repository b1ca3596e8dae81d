# SPDX-License-Identifier: Apache-2.0
"""A table of the number of series of typical nodes, and of the series that settings add or remove.

The nodes are generated from models in tests/machines: each kind of node has eight rails with a GPU
each, alone or with 64 virtual functions. The agent counts the series. There are limits: each series
costs memory in every Prometheus that reads it, and most are of no use to anyone.
"""
import concurrent.futures
import pathlib
import subprocess
import tempfile

MACHINES = pathlib.Path(__file__).resolve().parents[1] / "machines"
RAILS = 8
FUNCTIONS_PER_RAIL = 8
# PCI address of each rail's NIC, without its function, and the ports above it; as in an HGX H100.
PLACES = (
    ("0000:18:00", "pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:00.0", 0),
    ("0000:40:00", "pci0000:37/0000:37:01.0/0000:38:00.0/0000:3f:00.0", 0),
    ("0000:4f:00", "pci0000:48/0000:48:01.0/0000:49:00.0/0000:4e:00.0", 0),
    ("0000:5e:00", "pci0000:59/0000:59:01.0/0000:5a:00.0/0000:5d:00.0", 0),
    ("0000:9a:00", "pci0000:97/0000:97:01.0/0000:98:00.0/0000:99:00.0", 1),
    ("0000:c0:00", "pci0000:b7/0000:b7:01.0/0000:b8:00.0/0000:bf:00.0", 1),
    ("0000:ce:00", "pci0000:c7/0000:c7:01.0/0000:c8:00.0/0000:cd:00.0", 1),
    ("0000:dc:00", "pci0000:d7/0000:d7:01.0/0000:d8:00.0/0000:db:00.0", 1),
)
DCB = ("pfc=3 dscp=0:0,26:3,48:6 dcbx=host traffic_class=0,1,2,3,4,5,6,7 bandwidth=10,0,0,90,0,0,0,0 "
       "algorithm=ets,strict,strict,ets,strict,strict,strict,strict buffer=0,0,0,1,0,0,0,0 "
       "buffer_bytes=156096,156096,0,0,0,0,0,0")

STATISTICS = [f"rx_prio{priority}_{name}" for priority in range(8)
              for name in ("discards", "buf_discard", "cong_discard", "marked")]

PATIENT = "poll: {deadline: 1m, handover: 10s}\n"  # a busy machine must not make series of stalls
SETTINGS = (
    ("`metrics.priorities: false`", "metrics: {priorities: false}"),
    ("`metrics.details: true`", "metrics: {details: true}"),
    ("`metrics.collectors: full`", "metrics: {collectors: full}"),
    ("`metrics.gid_info: true`", "metrics: {gid_info: true}"),
    ('`devices.exclude: ["*v[0-9]"]`', 'devices: {exclude: ["*v[0-9]"]}'),
    ("`metrics.qos_details: true`", "metrics: {qos_details: true}"),
    ("`metrics.gpu_nic_paths: SYS`", "metrics: {gpu_nic_paths: SYS}"),
    ("`metrics.virtual_functions: true`", "metrics: {virtual_functions: true}"),
    ("`metrics.node_exporter_names: true`", "metrics: {node_exporter_names: true}"),
)
OWN = ("rdma_collector_", "rdma_agent_", "process_")
# By node: series as installed, and those of them that are the agent's account of itself.
LIMITS = {"InfiniBand": (600, 60), "RoCE": (1500, 60),
          "InfiniBand, 64 VFs": (4500, 100), "RoCE, 64 VFs": (6000, 100)}


def rail(number, ethernet):
    """Lines of a machine: a NIC and the GPU beside it."""
    pci, path, numa = PLACES[number]
    name = f"rail{number}"
    model = "connectx7-ethtool" if ethernet else "connectx7-ib"
    yield (f"device mlx5_{number} model={model} pci={pci}.0 path={path} numa={numa} netdev={name} "
           f"totalvfs={FUNCTIONS_PER_RAIL}" + ("" if ethernet else f" lid={0x80 + number:#x}"))
    bus = int(pci.split(":")[1], 16) + 3
    yield f"function 0000:{bus:02x}:00.0 model=h100 path={path[:-4]}01.0 numa={numa}"
    if ethernet:
        yield f"dcb {name} {DCB}"
        yield from (f"statistic {name} {statistic} = 0" for statistic in STATISTICS)


def functions(number, ethernet):
    """Virtual functions of a rail that this node uses itself, or its containers."""
    pci, _, numa = PLACES[number]
    for i in range(FUNCTIONS_PER_RAIL):
        device = RAILS + number * FUNCTIONS_PER_RAIL + i
        address = f"{pci[:-2]}{(i + 1) // 8:02x}.{(i + 1) % 8}"
        line = f"pci={address} physfn={pci}.0 numa={numa} netdev=rail{number}v{i}"
        if ethernet:
            yield f"device mlx5_{device} model=vf {line}"
            continue
        yield f"device mlx5_{device} model=vf-ib {line} lid={0x100 + device:#x}"
        for file in "node", "port":
            yield (f"write sys/bus/pci/devices/{pci}.0/sriov/{i}/{file} = "
                   f"b8:3f:d2:03:00:11:{device:02x}:{ord(file[0]):02x}")


def machine(ethernet, virtual):
    lines = ["processors packages=2 nodes=2"]
    for number in range(RAILS):
        lines += rail(number, ethernet)
        lines += functions(number, ethernet) if virtual else ()
    return "\n".join(lines) + "\n"


NODES = {"InfiniBand": machine(False, False), "RoCE": machine(True, False),
         "InfiniBand, 64 VFs": machine(False, True), "RoCE, 64 VFs": machine(True, True)}


def series(binary, root, settings):
    """The names of all series of a node."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
        config.write(PATIENT + settings)
        config.flush()
        text = subprocess.run([binary, "collect", "--root", root, "--config", config.name],
                              check=True, text=True, stdout=subprocess.PIPE).stdout
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def check_limits(node, count, own):
    for what, number, limit in zip(("series", "of the agent itself"), (count, own), LIMITS[node]):
        if number > limit:
            raise SystemExit(f"series.py: {node}: {number} {what}, {limit} are allowed. Can the new "
                             f"ones be DETAIL() rows, or only in JSON?")


def column(binary, node, text):
    """Cells of one node: all, the agent's own, and what each setting changes."""
    with tempfile.TemporaryDirectory() as directory:
        pathlib.Path(directory, "machine").write_text(text, encoding="utf-8")
        root = f"{directory}/root"
        subprocess.run([MACHINES / "unpack", directory, root], check=True)
        all_series = series(binary, root, "")
        changes = [len(series(binary, root, text)) - len(all_series) for _, text in SETTINGS]
    own = sum(line.startswith(OWN) for line in all_series)
    check_limits(node, len(all_series), own)
    return [f"{len(all_series):,}", f"{own:,}", *(f"{n:+,}" if n else "" for n in changes)]


def table(binary):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        columns = list(pool.map(lambda node: column(binary, *node), NODES.items()))
    names = ["as it is installed", "of these, the agent's account of itself",
             *(name for name, _ in SETTINGS)]
    head = ["", *NODES]
    rows = [head, ["---"] + ["--:"] * len(NODES), *([name, *cells] for name, cells in
                                                    zip(names, zip(*columns)))]
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)
