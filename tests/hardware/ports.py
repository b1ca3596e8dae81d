# SPDX-License-Identifier: Apache-2.0
"""Devices and ports: ibv_devinfo, ibstat, rdma, show_gids, ibdev2netdev, and the files of /sys.

Each reads the kernel in its own way, so that one mistake cannot hide in two of them.
"""
import ipaddress
import json
import re

from facts import UNSAID, Fact, label, metric, of_device, of_port

IDS_OF_STATES = {"DOWN": 1, "INIT": 2, "ARMED": 3, "ACTIVE": 4, "ACTIVE_DEFER": 5}
STATES_OF_IBSTAT = {"Down": "DOWN", "Initializing": "INIT", "Armed": "ARMED", "Active": "ACTIVE"}
ACTIVE = IDS_OF_STATES["ACTIVE"]
GID = re.compile(r"GID\[ *(\d+)\]:\s*([0-9a-f.:]+)(?:, (.*))?$", re.MULTILINE)
# Verbs say by this bit of the mask whether GIDs are made of IP addresses; the file has the bit of the
# InfiniBand specification: make_port_cap_flags() in drivers/infiniband/core/uverbs_cmd.c, Linux 6.1.
IP_BASED_GIDS = 1 << 26
RATE_SLACK = 0.5e9 / 8  # ibstat prints whole Gb/s


def fields(text):
    """The 'key: value' lines of ibstat and ibv_devinfo; of a repeated key the first counts."""
    found = {}
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if colon:
            found.setdefault(key.strip(), value.strip())
    return found


def sections(text, heading):
    """(the fields above all ports, {port: (its fields, its text)})."""
    head, *rest = re.split(rf"^\s*{heading}\s*(\d+):?\s*$", text, flags=re.MULTILINE)
    return fields(head), {port: (fields(body), body) for port, body in zip(rest[::2], rest[1::2])}


def matched(pattern, text, form):
    match = re.search(pattern, text or "")
    return form(match[1]) if match else UNSAID


def in_brackets(text):
    """'PORT_ACTIVE (4)' -> 4"""
    return matched(r"\((\d+)\)", text, int)


def first_number(text):
    return matched(r"^([\d.]+)", text, float)


def number(text):
    return UNSAID if text is None else int(text, 0)


def said(text):
    return UNSAID if text is None else text


def hex_digits(guid):
    """1070:fd03:0000:0001 and 0x1070fd0300000001 are one GUID."""
    return guid.lower().replace(":", "").removeprefix("0x")


def guid(text):
    return UNSAID if text is None else hex_digits(text)


def squeezed(name):
    """LINK_UP, LinkUp and Link Up are one state."""
    return UNSAID if name is None else name.replace("_", "").replace(" ", "").lower()


def lower(text):
    return UNSAID if text is None else text.lower()


def entry_of(text, kind):
    """fe80::1 and fe80:0000:...:0001 are one GID."""
    return str(ipaddress.IPv6Address(text)), kind


def rate(lanes, gbps):
    return UNSAID if UNSAID in (lanes, gbps) else lanes * gbps * 1e9 / 8


def or_zero(ours):
    """Ethernet has no LIDs; saying nothing is as right as saying 0."""
    return lambda agent: ours(agent) or 0


def transformed(function, ours):
    def apply(agent):
        value = ours(agent)
        return None if value is None else function(value)
    return apply


def ibv_devinfo(tools, device):
    head, ports = sections(tools.run("ibv_devinfo", "-v", "-d", device), "port:")
    firmware = head.get("fw_ver")

    def info(name, theirs, form=str):
        return Fact("ibv_devinfo", device, name, theirs,
                    label("rdma_device_info", name, device, form=form))

    yield info("node_guid", guid(head.get("node_guid")), hex_digits)
    yield info("system_image_guid", guid(head.get("sys_image_guid")), hex_digits)
    # libibverbs makes 0.0.0 up for a device without firmware.
    yield info("firmware_version", "" if firmware == "0.0.0" else said(firmware))
    yield info("board_id", head.get("board_id", ""))
    for port, (values, text) in ports.items():
        yield from devinfo_port(tools, device, port, values)
        yield from devinfo_gids(device, port, text)


def devinfo_port(tools, device, port, info):
    thing, ethernet = f"{device}/{port}", tools.link_layer(device, port) == "Ethernet"
    state = in_brackets(info.get("state"))
    values = {
        "state_id": state,
        "physical_state_id": in_brackets(info.get("phys_state")),
        "up": UNSAID if state is UNSAID else int(state == ACTIVE),
        "lid": number(info.get("port_lid")),
        "sm_lid": number(info.get("sm_lid")),
        "active_mtu_bytes": first_number(info.get("active_mtu")),
        "max_mtu_bytes": first_number(info.get("max_mtu")),
    }
    # A port that is down has no rate, whatever the tool makes of the last one.
    if state != IDS_OF_STATES["DOWN"]:
        values["rate_bytes_per_second"] = rate(first_number(info.get("active_width")),
                                               first_number(info.get("active_speed")))
    for name, theirs in values.items():
        ours = metric(f"rdma_port_{name}", device, port)
        yield Fact("ibv_devinfo", thing, f"rdma_port_{name}", theirs,
                   or_zero(ours) if ethernet and name.endswith("lid") else ours)
    yield Fact("ibv_devinfo", thing, "link_layer", lower(info.get("link_layer")),
               label("rdma_port_info", "link_layer", device, port, str.lower))


def gid_at(device, port, index, of_entry):
    def ours(agent):
        gids = agent.port(device, port).get("gids", [])
        return next((of_entry(gid) for gid in gids if gid["index"] == index), None)
    return ours


def count_of_gids(device, port):
    return lambda agent: len(agent.port(device, port).get("gids", []))


def devinfo_gids(device, port, text):
    found = {int(index): entry_of(gid, kind or "IB") for index, gid, kind in GID.findall(text)}
    yield Fact("ibv_devinfo", f"{device}/{port}", "GIDs", len(found), count_of_gids(device, port))
    for index, entry in found.items():
        yield Fact("ibv_devinfo", f"{device}/{port}", f"GID {index}", entry,
                   gid_at(device, port, index, lambda gid: entry_of(gid["gid"], gid["type"])))


def ibstat(tools, device):
    head, ports = sections(tools.run("ibstat", device), "Port")
    texts = {"hca_type": head.get("CA type"), "pci_address": tools.pci_function(device)}
    for name, theirs in texts.items():
        yield Fact("ibstat" if name == "hca_type" else "sysfs", device, name, lower(theirs),
                   label("rdma_device_info", name, device, form=str.lower))
    yield Fact("sysfs", device, "pci_address in the snapshot", tools.pci_function(device),
               lambda agent: agent.device(device).get("pci_address") or "")
    for port, (info, _) in ports.items():
        yield from ibstat_port(device, port, info)


def ibstat_port(device, port, info):
    def fact(name, theirs, ours, slack=0):
        return Fact("ibstat", f"{device}/{port}", name, theirs, ours, slack=slack)

    state = said(info.get("State"))
    yield fact("state", STATES_OF_IBSTAT.get(state, state), of_port(device, port, "state"))
    yield fact("physical_state", squeezed(info.get("Physical state")),
               transformed(squeezed, of_port(device, port, "physical_state")))
    yield fact("port_guid", guid(info.get("Port GUID")),
               label("rdma_port_info", "port_guid", device, port, hex_digits))
    mask = number(info.get("Capability mask"))
    yield fact("capability_mask", mask if mask is UNSAID else mask & ~IP_BASED_GIDS,
               transformed(lambda ours: ours & ~IP_BASED_GIDS,
                           of_port(device, port, "capability_mask")))
    yield fact("sm_lid", number(info.get("SM lid")), or_zero(of_port(device, port, "sm_lid")))
    yield fact("lid", number(info.get("Base lid")), or_zero(of_port(device, port, "lid")))
    gbps = first_number(info.get("Rate"))
    if state != "Down" and gbps is not UNSAID:
        yield fact("rate", gbps * 1e9 / 8, metric("rdma_port_rate_bytes_per_second", device, port),
                   RATE_SLACK)


def rdma_link(tools, device, port):
    link = json.loads(tools.run("rdma", "-j", "link", "show", f"{device}/{port}"))[0]
    thing = f"{device}/{port}"
    yield Fact("rdma link", thing, "state", said(link.get("state")), of_port(device, port, "state"))
    yield Fact("rdma link", thing, "physical_state", squeezed(link.get("physical_state")),
               transformed(squeezed, of_port(device, port, "physical_state")))
    yield Fact("rdma link", thing, "lid", link.get("lid", 0), or_zero(of_port(device, port, "lid")))
    # It names no interface of an InfiniBand port, the agent that of IPoIB.
    if "netdev" in link or tools.link_layer(device, port) == "Ethernet":
        yield Fact("rdma link", thing, "netdev", link.get("netdev", ""),
                   label("rdma_port_info", "netdev", device, port))


def rdma_resource(tools, device):
    resources = json.loads(tools.run("rdma", "-j", "resource", "show", device))[0]
    found = {key: count for key, count in resources.items() if not key.startswith("if")}
    yield Fact("rdma resource", device, "kinds of objects", sorted(found),
               lambda agent: sorted(labels["resource"] for labels, _ in
                                    agent.series("rdma_device_resources", device=device)))
    for kind, count in found.items():
        yield Fact("rdma resource", device, kind, count,
                   metric("rdma_device_resources", device, resource=kind), moves=True)
    yield Fact("rdma resource", device, "in_use", int(found.get("ctx", 0) > 0),
               metric("rdma_device_in_use", device), moves=True)


def gid_files(tools, device, port):
    """From where show_gids has them."""
    base = f"/sys/class/infiniband/{device}/ports/{port}"
    ethernet = tools.link_layer(device, port) == "Ethernet"
    found = {}
    for index in map(int, tools.names(f"{base}/gids")):
        text = tools.read(f"{base}/gids/{index}")
        if not text or not text.strip("0:"):
            continue
        kind = (tools.read(f"{base}/gid_attrs/types/{index}") or "") if ethernet else "IB"
        netdev = tools.read(f"{base}/gid_attrs/ndevs/{index}") if ethernet else ""
        found[index] = entry_of(text, kind.removeprefix("IB/") or "unknown"), netdev or ""
    yield Fact("sysfs", f"{device}/{port}", "GIDs", len(found), count_of_gids(device, port))
    for index, entry in found.items():
        yield Fact("sysfs", f"{device}/{port}", f"GID {index}", entry, gid_at(
            device, port, index,
            lambda gid: (entry_of(gid["gid"], gid["type"]), gid.get("netdev", ""))))


def show_gids(tools):
    """DEV PORT INDEX GID IPv4 VER DEV; the fifth column may be blank, and the last."""
    for line in tools.run("show_gids").splitlines():
        words = line.split()
        if len(words) < 4 or not words[1].isdigit() or not words[2].isdigit():
            continue
        device, port, index, gid, *rest = words
        rest = [word for word in rest if not re.fullmatch(r"\d+(\.\d+){3}", word)]
        version, *netdev = rest if rest and rest[0] in ("v1", "v2") else ["v1", *rest]
        yield Fact("show_gids", f"{device}/{port}", f"GID {index}",
                   (entry_of(gid, version), netdev[0] if netdev else ""),
                   gid_at(device, port, int(index), lambda entry: (
                       entry_of(entry["gid"], "v2" if entry["type"] == "RoCE v2" else "v1"),
                       entry.get("netdev", ""))))


def ibdev2netdev(tools):
    """mlx5_0 port 1 ==> ens1f0 (Up); the agent's "status --short" has the same form."""
    for line in tools.run("ibdev2netdev").splitlines():
        match = re.match(r"(\S+) port (\d+) ==> (\S+ \(\w+\))", line)
        if match:
            device, port, theirs = match.groups()
            yield Fact("ibdev2netdev", f"{device}/{port}", "interface", theirs,
                       lambda agent, start=f"{device} port {port} ==> ": next(
                           (line[len(start):] for line in agent.text("short").splitlines()
                            if line.startswith(start)), None))


# --- counters -------------------------------------------------------------------------------------

def counter(device, port, group, name):
    """The number, as the file or the tool has it: without units."""
    return of_port(device, port, group, name, "value")


def rdma_statistic(tools, device, port):
    found = json.loads(tools.run("rdma", "-j", "statistic", "show", "link", f"{device}/{port}"))[0]
    for name, value in found.items():
        if name not in ("ifname", "port"):
            yield Fact("rdma statistic", f"{device}/{port}", name, value,
                       counter(device, port, "hw_counters", name), moves=True)


def counter_files(tools, device, port):
    base = f"/sys/class/infiniband/{device}/ports/{port}"

    def read_all():
        return [(group, name, tools.read(f"{base}/{group}/{name}") or "")
                for group in ("counters", "hw_counters") for name in tools.names(f"{base}/{group}")]

    for group, name, text in tools.apart("counters", read_all):
        if text.isdigit() and name != "lifespan":
            yield Fact("sysfs", f"{device}/{port}", name, int(text),
                       counter(device, port, group, name), moves=True)


def rdma_dev(tools, device):
    """What a driver says by netlink, which may differ from its file."""
    found = json.loads(tools.run("rdma", "-j", "dev", "show", device))[0]
    yield Fact("rdma dev", device, "node_guid", guid(found.get("node_guid")),
               transformed(hex_digits, of_device(device, "node_guid")))
    yield Fact("rdma dev", device, "firmware_version", found.get("fw", ""),
               label("rdma_device_info", "firmware_version", device))


PARTS = (("device", "ibv_devinfo", ibv_devinfo), ("device", "ibstat", ibstat),
         ("port", "rdma link", rdma_link), ("device", "rdma resource", rdma_resource),
         ("port", "sysfs", gid_files))
ON_NODES = (("device", "rdma dev", rdma_dev), ("port", "rdma statistic", rdma_statistic),
            ("port", "sysfs", counter_files), ("node", "show_gids", show_gids),
            ("node", "ibdev2netdev", ibdev2netdev))
