# SPDX-License-Identifier: Apache-2.0
"""Converts the output of other programs about a machine into a tree for --root: NCCL's topology
XML, lspci -vvv and lspci -tv, and a page with the devices of a VM."""
import lzma
import os
import re
import xml.etree.ElementTree as ElementTree

BRIDGE, VGA, GPU_3D, ETHERNET, INFINIBAND = 0x0604, 0x0300, 0x0302, 0x0200, 0x0207

# What lspci calls a class, and who made it, as numbers; only what matters to a topology.
CLASSES = {"PCI bridge": BRIDGE, "3D controller": GPU_3D, "VGA compatible controller": VGA,
           "Ethernet controller": ETHERNET, "Infiniband controller": INFINIBAND}
VENDORS = {"NVIDIA": 0x10de, "Mellanox": 0x15b3, "Intel": 0x8086, "Broadcom": 0x14e4,
           "ASPEED": 0x1a03, "Matrox": 0x102b}

# In the order of nvidia-smi; the report does not say their addresses, but they are in PCI order.
ASUS_GPUS = ["0000:01:00.0", "0000:41:00.0", "0000:c1:00.0", "0000:e1:00.0"]
ASUS_NICS = ["0000:21:00.0", "0000:21:00.1", "0000:81:00.0", "0000:81:00.1"]


class Tree:
    def __init__(self, root):
        self.root = root
        self.write("sys/devices/system/node/online", "0-1")

    def write(self, path, text):
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"{text}\n")

    def link(self, path, target):
        path, target = os.path.join(self.root, path), os.path.join(self.root, target)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.symlink(os.path.relpath(target, os.path.dirname(path)), path)

    def function(self, way, numa, pci_class, vendor=0, device=0):
        """way: "pci0000:15/0000:15:01.0". Returns the function's directory."""
        directory = f"sys/devices/{way}"
        for name, text in (("class", f"0x{pci_class:04x}00"), ("vendor", f"0x{vendor:04x}"),
                           ("device", f"0x{device:04x}"), ("numa_node", str(numa))):
            self.write(f"{directory}/{name}", text)
        self.link(f"sys/bus/pci/devices/{os.path.basename(way)}", directory)
        return directory

    def rdma(self, name, directory):
        self.write(f"{directory}/infiniband/{name}/ports/1/state", "4: ACTIVE")
        self.link(f"{directory}/infiniband/{name}/device", directory)
        self.link(f"sys/class/infiniband/{name}", f"{directory}/infiniband/{name}")


# ---- NCCL ----------------------------------------------------------------------------------------


class Nccl:
    """NCCL leaves out host bridges, root ports and downstream ports: these are put back."""

    def __init__(self, path, root):
        self.tree, self.invented = Tree(root), 0
        for cpu in ElementTree.parse(path).getroot().iter("cpu"):
            for pci in cpu.findall("pci"):
                domain = f"{0xf000 + self.invented:04x}"
                self.add(pci, self.port(f"pci{domain}:00", cpu), cpu)

    def port(self, way, cpu):
        self.invented += 1
        way += f"/{0xf000 + self.invented:04x}:00:00.0"
        self.tree.function(way, cpu.get("numaid"), BRIDGE)
        return way

    def add(self, pci, above, cpu):
        pci_class = int(pci.get("class"), 16) >> 8
        default = {GPU_3D: "0x10de", INFINIBAND: "0x15b3"}.get(pci_class, "0")
        way = f"{above}/{pci.get('busid')}"
        directory = self.tree.function(way, cpu.get("numaid"), pci_class,
                                       int(pci.get("vendor", default), 16),
                                       int(pci.get("device", "0"), 16))
        for net in pci.findall("nic/net"):
            self.tree.rdma(net.get("name"), directory)
        for child in pci.findall("pci"):
            self.add(child, self.port(way, cpu), cpu)


def nccl(path, root):
    Nccl(path, root)


# ---- lspci ---------------------------------------------------------------------------------------


class Functions:
    """Functions by address and the bus that each bridge leads to: the tree follows."""

    def __init__(self):
        self.functions, self.bridge_to = {}, {}

    def add(self, address, text, **more):
        pci_class = next((c for word, c in CLASSES.items() if text.startswith(word)), 0)
        vendor = next((v for word, v in VENDORS.items() if word in text), 0)
        self.functions[address] = {"class": pci_class, "vendor": vendor, "numa": -1, **more}

    def way(self, address):
        bus = address[:7]
        above = self.way(self.bridge_to[bus]) if bus in self.bridge_to else f"pci{bus}"
        return f"{above}/{address}"

    def write(self, root, rdma):
        tree, nics = Tree(root), 0
        for address, function in sorted(self.functions.items()):
            directory = tree.function(self.way(address), function["numa"], function["class"],
                                      function["vendor"])
            if function["class"] in (ETHERNET, INFINIBAND) and function["vendor"] == rdma:
                tree.rdma(f"mlx5_{nics}", directory)
                nics += 1


def lspci_verbose(path, root):
    found, address = Functions(), None
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            head = re.match(r"([0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) (.*)", line)
            if head:
                address = f"0000:{head[1]}"
                found.add(address, head[2])
            elif bus := re.search(r"Bus: primary=\w+, secondary=(\w\w)", line):
                found.bridge_to[f"0000:{bus[1]}"] = address
            elif node := re.search(r"NUMA node: (\d+)", line):
                found.functions[address]["numa"] = int(node[1])
    found.write(root, VENDORS["Mellanox"])


def lspci_tree(path, root):
    """A tree drawn with characters: the column of a function is that of its siblings."""
    found, bus_at = Functions(), {}
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    start = next(i for i, line in enumerate(lines) if "lspci -tv" in line) + 1
    end = lines.index("```", start)
    for line in lines[start:end]:
        bus = address = None
        text = ""
        for item in re.finditer(r"\[(?:0000:)?([0-9a-f]{2})(?:-[0-9a-f]{2})?\]"
                                r"|(?<=-)([0-9a-f]{2}\.[0-7])(?=[ -])", line[:80]):
            if item[1]:
                if address:
                    found.bridge_to[f"0000:{item[1]}"] = address
                bus = item[1]
                continue
            if bus:
                bus_at[item.start()] = bus
            address, bus = f"0000:{bus_at[item.start()]}:{item[2]}", None
            text = line[item.end():].strip()
            found.add(address, "", **describe(text))
    for line in lines[end:]:
        node = re.match(r"([0-9a-f]{2}:[0-9a-f]{2})\.\d .*NUMA node: (\d+)", line)
        for address in found.functions:
            if node and address.startswith(f"0000:{node[1]}."):
                found.functions[address]["numa"] = int(node[2])
    found.write(root, VENDORS["Mellanox"])


def describe(text):
    """lspci -tv prints no classes."""
    if text.startswith("NVIDIA") and "Audio" not in text:
        return {"class": VGA, "vendor": VENDORS["NVIDIA"]}
    if text.startswith("Mellanox"):
        return {"class": ETHERNET, "vendor": VENDORS["Mellanox"]}
    if text.startswith("ASPEED"):
        return {"class": VGA, "vendor": VENDORS["ASPEED"]}
    return {"class": BRIDGE if re.match(r"-+\[", text) else 0, "vendor": 0}


# ---- a page with tables --------------------------------------------------------------------------


def rows(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            yield [cell.strip() for cell in line.strip().strip("|").split("|")]


def markdown_devices(path):
    """(GPUs, NICs) by address, in their order."""
    table = list(rows(path))
    return ([row[1] for row in table if re.match(r"gpu-\d", row[0])],
            [row[1] for row in table if re.match(r"pci-\w", row[0])])


def markdown(path, root):
    tree = Tree(root)
    for row in rows(path):
        if re.match(r"gpu-\d", row[0]):
            tree.function(f"{row[3]}/{row[1]}", row[2], GPU_3D, VENDORS["NVIDIA"])
        elif re.match(r"pci-\w", row[0]):
            directory = tree.function(f"pci{row[1][:7]}/{row[1]}", row[3], INFINIBAND,
                                      VENDORS["Mellanox"])
            tree.rdma(row[2], directory)
