# SPDX-License-Identifier: Apache-2.0
"""Files of the kernel for PCI functions: config space, AER counters, VPD; and for processors.

Sources: PCI Express Base Specification 7.5.1 (headers), 7.5.3 (PCIe capability), 7.7.11 (ACS);
Linux drivers/pci/pcie/aer.c (names of the errors), portdrv.c (names of the port services).
"""
import re
import struct

ROOT_PORT, AER_SERVICE = 4, 2  # in the names of port services

CORRECTABLE = "RxErr BadTLP BadDLLP Rollover Timeout NonFatalErr CorrIntErr HeaderOF".split()
UNCORRECTABLE = ("Undefined DLP SDES TLP FCP CmpltTO CmpltAbrt UnxCmplt RxOF MalfTLP ECRC UnsupReq "
                 "ACSViol UncorrIntErr BlockedTLP AtomicOpBlocked TLPBlockedErr "
                 "PoisonTLPBlocked").split()
AER = {"correctable": (CORRECTABLE, "TOTAL_ERR_COR"),
       "nonfatal": (UNCORRECTABLE, "TOTAL_ERR_NONFATAL"),
       "fatal": (UNCORRECTABLE, "TOTAL_ERR_FATAL")}

CAPABILITY, ACS, SIZE = 0x40, 0x100, 0x200  # where they stand in our config space; its size
SPEEDS = {"2.5": 1, "5.0": 2, "8.0": 3, "16.0": 4, "32.0": 5, "64.0": 6}
CPUS_PER_NODE = 2


def parse(address):
    """(domain, bus, device and function in one number) of 0000:3b:00.1"""
    domain, bus, device, function = re.split("[:.]", address)
    return int(domain, 16), int(bus, 16), int(device, 16) << 3 | int(function)


def next_function(address, distance):
    """The address so many routing ids behind this one, across buses."""
    domain, bus, number = parse(address)
    number += (bus << 8) + distance
    return f"{domain:04x}:{number >> 8:02x}:{number >> 3 & 31:02x}.{number & 7}"


def link(speed, width):
    """Speed and width as the link registers have them; 0 for what is not known."""
    return SPEEDS.get(speed.partition(" ")[0], 0) | int(width or 0) << 4


def config(files, buses, settings):
    """Configuration space of a function whose files in /sys are given, up to the ACS capability.

    buses: primary, secondary and subordinate one of a bridge, or None.
    """
    kind = int(settings.get("port_type", "0"))  # of an endpoint
    space = bytearray(SIZE)
    struct.pack_into("<HH", space, 0x00, int(files["vendor"], 16), int(files["device"], 16))
    space[0x06] = 0x10  # there are capabilities
    space[0x09:0x0c] = int(files["class"], 16).to_bytes(3, "little")
    space[0x34] = CAPABILITY
    if buses:
        space[0x0e] = 1
        space[0x18:0x1b] = bytes(buses)
    read_request = int(settings.get("max_read_request", "4096")).bit_length() - 8
    maximum = link(files.get("max_link_speed", ""), files.get("max_link_width"))
    current = link(files.get("current_link_speed", ""), files.get("current_link_width"))
    struct.pack_into("<BxHxxxxHxxIxxH", space, CAPABILITY, 0x10, kind << 4 | 2,
                     read_request << 12, maximum, current)
    if "acs" in settings:
        struct.pack_into("<IHH", space, ACS, 0x1000d, 0x5f, int(settings["acs"], 16))
    return bytes(space[:int(settings.get("config_size", str(SIZE)))])


def aer(severity, said):
    """The file of one severity; said: "BadTLP 3 RxErr 120"."""
    names, total = AER[severity]
    words = said.split()
    counts = dict(zip(words[::2], map(int, words[1::2])))
    unknown = counts.keys() - set(names)
    if unknown:
        raise SystemExit(f"no {severity} error is called {' '.join(unknown)}")
    rows = [f"{name} {counts.get(name, 0)}\n" for name in names]
    return "".join(rows) + f"{total} {sum(counts.values())}\n"


def vpd(serial, uuid):
    """SN is the number of a board, V3 the UUID of a chip on it."""
    keywords = b"".join(name + bytes([len(value)]) + value.encode()
                        for name, value in ((b"SN", serial), (b"V3", uuid)))
    return b"\x90" + struct.pack("<H", len(keywords)) + keywords + b"\x78"


def service(address, kind):
    """Where the kernel's driver of ports keeps its AER service: the name tells the port's kind."""
    return f"{address}:pcie{(kind - ROOT_PORT) << 8 | AER_SERVICE:03x}"


def cpus(node):
    return range(node * CPUS_PER_NODE, (node + 1) * CPUS_PER_NODE)


def mask(numbers):
    return f"{sum(1 << number for number in numbers):x}"


def processors(packages, nodes):
    """Yields (path, text) of a node with so many sockets and NUMA nodes."""
    system, count = "sys/devices/system", nodes * CPUS_PER_NODE
    for file in ("online", "possible", "present"):
        yield f"{system}/cpu/{file}", f"0-{count - 1}"
    for file in ("online", "possible", "has_cpu"):
        yield f"{system}/node/{file}", f"0-{nodes - 1}" if nodes > 1 else "0"
    for node in range(nodes):
        first, *_, last = cpus(node)
        package = node * packages // nodes
        siblings = [cpu for other in range(nodes) if other * packages // nodes == package
                    for cpu in cpus(other)]
        yield f"{system}/node/node{node}/cpulist", f"{first}-{last}"
        yield f"{system}/node/node{node}/cpumap", mask(cpus(node))
        yield f"{system}/node/node{node}/meminfo", f"Node {node} MemTotal: 268435456 kB"
        for cpu in cpus(node):
            topology = f"{system}/cpu/cpu{cpu}/topology"
            yield f"{topology}/physical_package_id", str(package)
            yield f"{topology}/core_id", str(cpu)
            yield f"{topology}/core_siblings", mask(siblings)
            yield f"{topology}/thread_siblings", mask([cpu])
