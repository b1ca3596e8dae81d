# SPDX-License-Identifier: Apache-2.0
"""Recordings of other people's nodes, and conditions on our outputs for them.

They are not part of this repository; where a folder ../shared/machines stands beside it, they are
used. The expected values have two sources that are independent of our code: the files of the
recording, read directly, and facts about the machine (EXPECTED, and an ibstat of the same node).
"""
import glob
import json
import os
import re
import tarfile

from formats import parse_openmetrics

HERE = os.path.dirname(os.path.abspath(__file__))
STORE = os.path.join(HERE, "../../../shared/machines")
IBSTAT = "captures/gpud-ibstat.47.0.h100.all.active.2.txt"
DOWN = 1

# Recording -> devices, and facts of some of them as the JSON output names them.
EXPECTED = {
    "ghw-linux-amd64-accel-nvidia": (0, {}),
    "hwloc-2pa-pcidomain32bits": (0, {}),
    "gpud-h100-class-infiniband": (9, {}),
    "procfs-class-infiniband": (3, {}),
    "hwloc-32em64t-2n8c+dax+nvme+mic+dimms": (2, {
        "mlx4_0": {"pci_address": "0000:82:00.0", "numa_node": 1, "netdev": "ib0"},
        "scif0": {"pci_address": None, "numa_node": None},
    }),
    "gcm-learn_good": (8, {
        "mlx5_0": {"pci_address": "0000:0c:00.0", "firmware_version": "20.31.2354", "netdev": "ib0"},
        "mlx5_1": {"pci_address": "0000:12:00.0", "netdev": "ib1"},
        "mlx5_2": {"pci_address": "0000:4b:00.0", "netdev": "ib2"},
        "mlx5_3": {"pci_address": "0000:54:00.0", "netdev": "ib3"},
        "mlx5_6": {"pci_address": "0000:8d:00.0", "netdev": "ib4"},
        "mlx5_7": {"pci_address": "0000:94:00.0", "netdev": "ib5"},
        "mlx5_8": {"pci_address": "0000:ba:00.0", "netdev": "ib6"},
        "mlx5_9": {"pci_address": "0000:cc:00.0", "netdev": "ib7"},
    }),
    "gcm-learn_ib_intf_operstate_down": (8, {"mlx5_6": {"netdev": "ib4", "netdev_up": False}}),
}


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return None


def leading_number(text):
    match = re.match(r"\d+", text or "")
    return int(match[0]) if match else None


class Recording:
    def __init__(self, path):
        self.path = path
        self.name = re.sub(r"\.(tar\.\w+|json)$", "", os.path.basename(path))

    def unpack(self, directory):
        """Unpacks to directory and returns the root of the tree."""
        if self.path.endswith(".json"):
            unpack_json(self.path, directory)
            return directory
        with tarfile.open(self.path) as archive:
            archive.extractall(directory)
        root = next(path for path, names, _ in os.walk(directory) if "sys" in names)
        complete_links(root)
        return root

    def judge(self, root, texts):
        """Yields what is wrong."""
        metrics = parse_openmetrics(texts["om"])
        devices = {device["name"]: device for device in json.loads(texts["json"])["devices"]}
        yield from judge_expected(self.name, devices)
        yield from judge_ports(root, metrics, devices)
        yield from judge_counters(root, devices)
        yield from (f"status does not show {name}" for name, device in devices.items()
                    if device["ports"] and name not in texts["wide.txt"])
        if self.name == "gpud-h100-class-infiniband":
            yield from judge_ibstat(os.path.join(STORE, IBSTAT), metrics, devices)


def complete_links(root):
    """Where only the link of a device was recorded (scif0), an empty directory stands for it."""
    for link in glob.glob(f"{root}/sys/class/infiniband/*"):
        os.makedirs(os.path.realpath(link), exist_ok=True)


def unpack_json(path, directory):
    """Path -> content, below /sys/bus/pci; the links of the classes are ours."""
    with open(path, encoding="utf-8") as file:
        tree = json.load(file)
    for name, content in tree.items():
        target = directory + name
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as file:
            file.write(content)
    for kind in ("infiniband", "net"):
        os.makedirs(f"{directory}/sys/class/{kind}", exist_ok=True)
        for found in glob.glob(f"{directory}/sys/bus/pci/devices/*/{kind}/*"):
            link = f"{directory}/sys/class/{kind}/{os.path.basename(found)}"
            os.symlink(os.path.relpath(found, os.path.dirname(link)), link)
            if not os.path.lexists(f"{found}/device"):
                os.symlink("../..", f"{found}/device")


def ports_of(root):
    """Yields (device, port, directory) of each port in the files."""
    for path in sorted(glob.glob(f"{root}/sys/class/infiniband/*/ports/*")):
        parts = path.split("/")
        yield parts[-3], parts[-1], path


def judge_expected(name, devices):
    count, facts = EXPECTED.get(name, (len(devices), {}))
    if len(devices) != count:
        yield f"{len(devices)} devices, there are {count}"
    for device, expected in facts.items():
        said = devices.get(device, {"ports": []})
        for key, value in expected.items():
            values = {said.get(key)} | {port.get(key) for port in said["ports"]}
            if value not in values:
                yield f"{device}: {key} is {sorted(map(str, values))}, should be {value}"


def judge_ports(root, metrics, devices):
    files = list(ports_of(root))
    shown = sum(len(device["ports"]) for device in devices.values())
    if shown != len(files):
        yield f"{shown} ports, there are {len(files)}"
    for device, port, path in files:
        labels = (("device", device), ("port", port))
        state = leading_number(read(f"{path}/state"))
        rate = re.match(r"[\d.]+", read(f"{path}/rate") or "")
        expected = {
            "rdma_port_state_id": state,
            "rdma_port_physical_state_id": leading_number(read(f"{path}/phys_state")),
            "rdma_port_up": None if state is None else int(state in (4, 5)),
            "rdma_port_rate_bytes_per_second":
                float(rate[0]) * 1e9 / 8 if rate and state != DOWN else None,
        }
        for metric, value in expected.items():
            said = metrics.get((metric, labels))
            if said != value:
                yield f"{device}/{port}: {metric} is {said}, should be {value}"


def judge_counters(root, devices):
    """Every file that holds a number is shown with that number; no other is."""
    for device, port, path in ports_of(root):
        shown = next((p for p in devices.get(device, {"ports": []})["ports"]
                      if str(p["port"]) == port), {})
        for group in ("counters", "hw_counters"):
            for name in os.listdir(f"{path}/{group}") if os.path.isdir(f"{path}/{group}") else ():
                text = read(f"{path}/{group}/{name}")
                value = int(text) if re.fullmatch(r"\d+", text or "") else None
                said = shown.get(group, {}).get(name, {}).get("value")
                if name != "lifespan" and said != value:
                    yield f"{device}/{port}: {group}/{name} is {said}, should be {value}"


def parse_ibstat(path):
    """{device: {field: text}} of adapters with one port."""
    adapters = {}
    for line in (read(path) or "").splitlines():
        if match := re.match(r"CA '(.*)'", line):
            fields = adapters.setdefault(match[1], {})
        elif match := re.match(r"\s+([^:]+): (.+)", line):
            fields[match[1]] = match[2].strip()
    return adapters


def judge_ibstat(path, metrics, devices):
    adapters = parse_ibstat(path)
    if set(adapters) - set(devices):
        yield f"ibstat has {sorted(set(adapters) - set(devices))}, we do not"
    for name, fields in adapters.items():
        device = devices.get(name, {"ports": [{}]})
        port, labels = device["ports"][0], (("device", name), ("port", "1"))
        rate = metrics.get(("rdma_port_rate_bytes_per_second", labels), 0) * 8 / 1e9
        pairs = (
            ("CA type", device.get("hca_type")),
            ("Firmware version", device.get("firmware_version")),
            ("State", port.get("state", "").capitalize()),
            ("Physical state", port.get("physical_state")),
            ("Link layer", port.get("link_layer")),
            ("Rate", f"{rate:.0f}"),
        )
        for field, said in pairs:
            if said != fields[field]:
                yield f"{name}: {field} is {said}, ibstat says {fields[field]}"


def find():
    """All recordings that are at hand; manifests and other JSON have no tree."""
    paths = glob.glob(f"{STORE}/sysfs/*.tar.*") + glob.glob(f"{STORE}/sysfs-json/*learn*.json")
    return [Recording(path) for path in sorted(paths)]
