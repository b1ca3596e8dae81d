# SPDX-License-Identifier: Apache-2.0
"""Which GPU is near which NIC: lstopo, nvidia-smi and rocm-smi; the PCIe links of NICs: lspci.

Distances are worked out anew from lstopo's tree, in another way than the agent's: by counting
bridges. Below a host bridge they alternate: root port, upstream port of a switch, downstream port,
upstream port of the next one.
"""
import json
import re
import xml.etree.ElementTree as ElementTree

from facts import UNSAID, Fact, of_device
from tools import NotTried

# PCI classes of GPUs, with the vendors whose devices of these classes compute.
CLASSES_OF_GPUS = ("0300", "0302", "0380", "1200")
VENDORS_OF_GPUS = ("10de", "1002")
CLASSES = ["PIX", "PXB", "PHB", "NODE", "SYS", "unknown"]
NETWORK, OPENFABRICS = "2", "3"  # hwloc's types of OS devices


class Node:
    """One object of lstopo's tree."""

    def __init__(self, element, parent):
        self.kind, self.parent = element.get("type"), parent
        self.address = element.get("pci_busid")
        self.ids = element.get("pci_type") or ""  # 0302 [10de:2330] [10de:16c1] a1
        self.name, self.os_type = element.get("name"), element.get("osdev_type")
        self.nodeset = element.get("nodeset")
        self.is_host_bridge = element.get("bridge_type") == "0-1"
        self.children = [Node(child, self) for child in element.findall("object")]

    def walk(self):
        yield self
        for child in self.children:
            yield from child.walk()

    def way_up(self):
        """This object and all above it up to its host bridge."""
        node = self
        while node.kind in ("Bridge", "PCIDev"):
            yield node
            node = node.parent

    def is_upstream(self):
        bridges = sum(node.kind == "Bridge" and not node.is_host_bridge for node in self.way_up())
        return self.kind == "Bridge" and not self.is_host_bridge and bridges % 2 == 0

    def is_gpu(self):
        return (self.kind == "PCIDev" and self.ids[:4] in CLASSES_OF_GPUS and
                self.ids[6:10] in VENDORS_OF_GPUS)

    def numa_node(self):
        """The one NUMA node that it is near to, or None."""
        node = self
        while node.nodeset is None:
            node = node.parent
        nodes = int(node.nodeset, 16)
        return nodes.bit_length() - 1 if nodes and nodes & (nodes - 1) == 0 else None

    def os_devices(self, os_type):
        return {child.name for child in self.children if child.os_type == os_type}


class Machine:
    """The machine as lstopo and rdma see it."""

    def __init__(self, tools):
        text = tools.run("lstopo-no-graphics", "--of", "xml", "--filter", "io:all")
        machine = ElementTree.fromstring(text).find("object")
        self.nodes = {node.address: node for node in Node(machine, None).walk() if node.address}
        try:
            self.links = json.loads(tools.run("rdma", "-j", "link") or "[]")
        except NotTried:
            self.links = []

    def gpus(self):
        return {address for address, node in self.nodes.items() if node.is_gpu()}

    def devices(self, node):
        """RDMA devices of a function: on itself, and virtual ones on its interfaces."""
        netdevs = node.os_devices(NETWORK)
        return node.os_devices(OPENFABRICS) | {link["ifname"] for link in self.links
                                               if link.get("netdev") in netdevs}

    def nics(self):
        return {address for address, node in self.nodes.items()
                if node.kind == "PCIDev" and self.devices(node)}

    def path(self, a, b):
        """Where the ways up from a and b meet, or None; and what is on them below."""
        ways = [list(self.nodes[address].way_up()) for address in (a, b)]
        common = next((node for node in ways[0] if node in ways[1]), None)
        return common, [node for way in ways
                        for node in way[:way.index(common) if common else None]]

    def path_class(self, a, b):
        common, below = self.path(a, b)
        if common is None:
            nodes = [self.nodes[address].numa_node() for address in (a, b)]
            return "unknown" if None in nodes else "NODE" if nodes[0] == nodes[1] else "SYS"
        if common.is_host_bridge:
            return "PHB"
        switches = [node for node in [common, *below] if node.is_upstream()]
        return "PIX" if len(switches) <= 1 else "PXB"

    def nearest(self, gpu):
        """The NICs of the best class, of these the ones with the fewest bridges between."""
        ranks = {nic: (CLASSES.index(self.path_class(gpu, nic)), len(self.path(gpu, nic)[1]))
                 for nic in self.nics()}
        return sorted(nic for nic, rank in ranks.items() if rank == min(ranks.values()))


def row(table, address, key="pci_address"):
    def ours(agent):
        return next((each for each in agent.topology()[table] if each[key] == address), {})
    return ours


def pair_class(a, b):
    return lambda agent: next((pair["class"] for pair in agent.topology()["pairs"]
                               if {pair["a"], pair["b"]} == {a, b}), None)


def tree_facts(machine):
    on_ways = {node for address in machine.gpus() | machine.nics()
               for node in machine.nodes[address].way_up() if not node.is_host_bridge}
    for node in sorted(on_ways, key=lambda each: each.address):
        ours = row("tree", node.address)
        yield "NUMA node", node.address, node.numa_node(), lambda agent, ours=ours: ours(agent).get(
            "numa_node")
        parent = None if node.parent.is_host_bridge else node.parent.address
        yield "parent", node.address, parent or UNSAID, lambda agent, ours=ours: ours(agent).get(
            "parent")
        yield "in the tree", node.address, True, lambda agent, ours=ours: bool(ours(agent))


def function_facts(machine):
    for what, found in (("gpus", machine.gpus()), ("nics", machine.nics())):
        yield what, "node", sorted(found), lambda agent, what=what: [
            each["pci_address"] for each in agent.topology()[what]]
    for address in sorted(machine.nics()):
        node, ours = machine.nodes[address], row("nics", address)
        yield "interfaces", address, sorted(node.os_devices(NETWORK)), \
            lambda agent, ours=ours: ours(agent).get("netdevs")
        yield "devices", address, sorted(machine.devices(node)), \
            lambda agent, ours=ours: ours(agent).get("devices")


def distance_facts(machine):
    functions = sorted(machine.gpus() | machine.nics())
    for index, a in enumerate(functions):
        for b in functions[index + 1:]:
            yield "class", f"{a} - {b}", machine.path_class(a, b), pair_class(a, b)
    for gpu in sorted(machine.gpus()):
        ours = row("nearest", gpu, "gpu")
        yield "nearest", gpu, machine.nearest(gpu), lambda agent, ours=ours: ours(agent).get("nics")


def lstopo(tools):
    machine = Machine(tools)
    for facts in tree_facts, function_facts, distance_facts:
        for name, thing, theirs, ours in facts(machine):
            yield Fact("lstopo", thing, name, theirs, ours)


# --- vendors' tools -------------------------------------------------------------------------------

def address_of(text):
    """00000000:18:00.0 of nvidia-smi, or 0000:18:00.0 of rocm-smi, as the kernel writes it."""
    domain, bus, rest = text.strip().lower().split(":")
    return f"{int(domain, 16):04x}:{bus}:{rest}"


def matrix(text):
    """{(row, column): class} of "nvidia-smi topo -m"."""
    plain = re.sub(r"\x1b\[[\d;]*m", "", text)  # the heading is underlined
    lines = [line.rstrip() for line in plain.splitlines()]
    heading = next(line for line in lines if re.match(r"\s+GPU0", line))
    columns = re.findall(r"(?:GPU|NIC)\d+|mlx\d+_\w+", heading)
    found = {}
    for line in lines:
        words = line.split()
        if words and words[0] in columns and len(words) > len(columns):
            found.update({(words[0], column): word for column, word in zip(columns, words[1:])})
    return found


def nvidia_smi(tools):
    """NVLink (NV18) hides the PCIe path, and X is the same device."""
    text = tools.run("nvidia-smi", "topo", "-m")
    names = dict(re.findall(r"^\s*(NIC\d+): (\S+)$", text, re.M))
    query = tools.run("nvidia-smi", "--query-gpu=index,pci.bus_id", "--format=csv,noheader")
    gpus = {f"GPU{index.strip()}": address_of(address)
            for index, address in (line.split(",") for line in query.splitlines() if "," in line)}

    def address(name):
        return gpus.get(name) or tools.pci_function(names.get(name, name))

    for (a, b), theirs in matrix(text).items():
        if a < b and theirs in CLASSES and address(a) and address(b):
            yield Fact("nvidia-smi", f"{a} - {names.get(b, b)}", "class", theirs,
                       pair_class(address(a), address(b)))


def rocm_smi(tools):
    """It has no NICs: the NUMA node of each GPU is all that both say."""
    buses = dict(re.findall(r"GPU\[(\d+)\]\s*: PCI Bus: (\S+)", tools.run("rocm-smi", "--showbus")))
    nodes = dict(re.findall(r"GPU\[(\d+)\]\s*: \(Topology\) Numa Node: (-?\d+)",
                            tools.run("rocm-smi", "--showtopo")))
    for index, node in nodes.items():
        ours = row("gpus", address_of(buses[index]))
        yield Fact("rocm-smi", f"GPU{index}", "NUMA node", int(node),
                   lambda agent, ours=ours: ours(agent).get("numa_node"))


def lspci(tools, device):
    """Speed and width of the link of its function."""
    address = tools.pci_function(device)
    if address.count(":") != 2:
        return  # rxe, or a scalable function
    text = tools.run("lspci", "-D", "-vv", "-s", address)
    for name, prefix in (("LnkSta", "pcie_link"), ("LnkCap", "pcie_max_link")):
        found = re.search(rf"{name}:.*?Speed ([\d.]+)GT/s.*?Width x(\d+)", text)
        if not found:
            raise NotTried("lspci shows no link: the function has none, or the user is not root")
        yield Fact("lspci", device, f"{name} speed", float(found[1]) * 1e9,
                   of_device(device, f"{prefix}_transfers_per_second"))
        yield Fact("lspci", device, f"{name} width", int(found[2]),
                   of_device(device, f"{prefix}_lanes"))


PARTS = (("node", "lstopo", lstopo),)
ON_NODES = (("node", "nvidia-smi", nvidia_smi), ("node", "rocm-smi", rocm_smi),
            ("device", "lspci", lspci))
