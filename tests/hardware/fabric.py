# SPDX-License-Identifier: Apache-2.0
"""The fabric around InfiniBand ports: smpquery, sminfo and perfquery."""
import re

from facts import UNSAID, Fact, metric, of_port
from tools import NotTried

CAUSES_OPTIONS = ("--rcverr", "--xmtdisc", "--vlxmitcounters", "--extended_speeds")
CAUSES = {"PortLocalPhysicalErrors": "local_physical", "PortMalformedPktErrors": "malformed_packet",
          "PortBufferOverrunErrors": "buffer_overrun", "PortDLIDMappingErrors": "dlid_mapping",
          "PortVLMappingErrors": "vl_mapping", "PortLoopingErrors": "looping"}
DISCARDS = {"PortInactiveDiscards": "inactive", "PortNeighborMTUDiscards": "neighbor_mtu",
            "PortSwLifetimeLimitDiscards": "lifetime_limit",
            "PortSwHOQLifetimeLimitDiscards": "head_of_queue_limit"}
LANES = {"FECCorrectableBlockCtrLane": "lane_fec_corrected_blocks",
         "FECUncorrectableBlockCtrLane": "lane_fec_uncorrected_blocks",
         "FECCorrectableSymbolCtrLane": "lane_fec_corrected_symbols"}
PLAIN = {"SyncHeaderErrorCounter": "sync_header_errors", "UnknownBlockCounter": "unknown_blocks",
         "PortFECCorrectableBlockCtr": "fec_corrected_blocks",
         "PortFECUncorrectableBlockCtr": "fec_uncorrected_blocks",
         "PortFECCorrectedSymbolCtr": "fec_corrected_symbols"}
# Counters of 64 bits, with the names of their files.
EXTENDED = {"PortXmitData": "port_xmit_data", "PortRcvData": "port_rcv_data",
            "PortXmitPkts": "port_xmit_packets", "PortRcvPkts": "port_rcv_packets",
            "PortUnicastXmitPkts": "unicast_xmit_packets",
            "PortUnicastRcvPkts": "unicast_rcv_packets",
            "PortMulticastXmitPkts": "multicast_xmit_packets",
            "PortMulticastRcvPkts": "multicast_rcv_packets"}
# The fastest speed of a lane that smpquery names, and what verbs call it. Debian 12's knows none
# above NDR.
SPEEDS = {"212.5": 256, "106.25": 128, "53.125": 64, "25.78125": 32, "14.0625": 16, "10.0": 4,
          "5.0": 2, "2.5": 1}


def parse(text):
    """Lines like "Lid:......7"."""
    return dict(re.findall(r"^([\w ]+):\.*(.*)$", text, re.M))


def guid(text):
    return ":".join(re.findall("....", text.removeprefix("0x")))


def is_infiniband(tools, device, port):
    return tools.link_layer(device, port) == "InfiniBand"


def labels_of(name, device, port):
    """Those of an info metric, but for the labels of the port."""
    def ours(agent):
        found = agent.series(name, device=device, port=port)
        if len(found) != 1:
            return None
        return {key: value for key, value in found[0][0].items() if key not in ("device", "port")}
    return ours


def causes(tools, device, port):
    """(family, labels, number) of each that perfquery knows."""
    for option in CAUSES_OPTIONS:
        text = tools.run_or_nothing("perfquery", option, "-C", device, "-P", port)
        for name, number in parse(text).items():
            lane = re.fullmatch(r"(\D+Lane)(\d+)", name)
            if name in CAUSES:
                yield "receive_error_causes", {"cause": CAUSES[name]}, int(number)
            elif name in DISCARDS:
                yield "transmit_discard_causes", {"cause": DISCARDS[name]}, int(number)
            elif name in PLAIN:
                yield PLAIN[name], {}, int(number)
            elif re.fullmatch(r"PortVLXmitWait[0-7]", name):
                yield "virtual_lane_transmit_wait", {"vl": name[-1]}, int(number)
            elif lane and lane[1] in LANES and int(lane[2]) < 4:
                yield LANES[lane[1]], {"lane": lane[2]}, int(number)


def perfquery(tools, device, port):
    if not is_infiniband(tools, device, port):
        return
    count = 0
    for family, labels, number in causes(tools, device, port):
        count += 1
        yield Fact("perfquery", f"{device}/{port}", " ".join([family, *labels.values()]), number,
                   metric(f"rdma_port_{family}_total", device, port, **labels), moves=True)
    if count == 0:
        tools.run("perfquery", CAUSES_OPTIONS[0], "-C", device, "-P", port)  # raises the reason
        raise NotTried("perfquery has no counters of causes")


def perfquery_extended(tools, device, port):
    if not is_infiniband(tools, device, port):
        return
    for name, number in parse(tools.run("perfquery", "-x", "-C", device, "-P", port)).items():
        if name in EXTENDED:
            yield Fact("perfquery -x", f"{device}/{port}", name, int(number), of_port(
                device, port, "counters", EXTENDED[name], "value"), moves=True)


def fastest(info, name):
    """Of a list like "14.0625 Gbps or 25.78125 Gbps", as a code."""
    text = info[f"LinkSpeedExt{name}"]
    if text in ("0", "No Extended Speed"):
        text = info[f"LinkSpeed{name}"]
    return max(SPEEDS[each] for each in re.findall(r"(\d+\.\d+) Gbps", text))


def link(prefix, info):
    for name in ("Supported", "Enabled"):
        lanes = [int(each) for each in re.findall(r"(\d+)X", info[f"LinkWidth{name}"])]
        yield f"{prefix}width_{name.lower()}_lanes", max(lanes)
        yield f"{prefix}speed_{name.lower()}_code", fastest(info, name)


def query(tools, device, port, *words, read=parse):
    command = "smpquery", "-C", device, "-P", port, "-D", *words
    return read(tools.run_partly(*command)) or read(tools.run(*command))  # or the reason


def own_link(tools, device, port):
    if is_infiniband(tools, device, port):
        for name, theirs in link("", query(tools, device, port, "portinfo", "0", port)):
            yield Fact("smpquery", f"{device}/{port}", name, theirs,
                       metric(f"rdma_port_{name}", device, port))


def peer(tools, device, port):
    """The other end of the cable."""
    if not is_infiniband(tools, device, port):
        return
    path = f"0,{port}"
    node = query(tools, device, port, "nodeinfo", path)
    far = query(tools, device, port, "portinfo", path, node["LocalPort"])
    # A switch has the LID of its port 0.
    is_switch = node["NodeType"] == "Switch"
    base = query(tools, device, port, "portinfo", path, "0") if is_switch else far
    theirs = {"peer_port": node["LocalPort"], "peer_type": node["NodeType"].lower(),
              "peer_guid": guid(node["Guid"]), "peer_lid": base["Lid"], "source": "mad"}
    text = tools.run_or_nothing("smpquery", "-C", device, "-P", port, "-D", "nodedesc", path)
    name = parse(text).get("Node Description")
    if name:
        theirs["peer"] = name
    yield Fact("smpquery", f"{device}/{port}", "peer", theirs,
               labels_of("rdma_port_peer_info", device, port))
    for what, value in link("peer_", far):
        yield Fact("smpquery", f"{device}/{port}", what, value,
                   metric(f"rdma_port_{what}", device, port))


def partitions(tools, device, port):
    if not is_infiniband(tools, device, port):
        return
    keys = query(tools, device, port, "pkeys", "0",
                 read=lambda text: [int(key, 16) for key in re.findall(r"0x[0-9a-f]{4}", text)])
    yield Fact("smpquery", f"{device}/{port}", "P_Keys", [key for key in keys if key & 0x7fff],
               lambda agent: [int(key["pkey"], 16) | (key["membership"] == "full") << 15
                              for key in agent.port(device, port).get("pkeys", [])])


def sminfo(tools, device, port):
    if not is_infiniband(tools, device, port):
        return
    text = tools.run_or_nothing("sminfo", "-C", device, "-P", port)
    found = re.search(r"sm lid (\d+) sm guid (\S+),.*priority (\d+) state (\d+)", text)
    if not found:
        return
    thing = f"{device}/{port}"
    yield Fact("sminfo", thing, "subnet manager", {"sm_lid": found[1], "sm_guid": guid(found[2])},
               labels_of("rdma_port_sm_info", device, port))
    for name, theirs in (("sm_priority", found[3]), ("sm_state_id", found[4])):
        yield Fact("sminfo", thing, name, int(theirs), metric(f"rdma_port_{name}", device, port))


# --- mlxlink of NVIDIA's firmware tools -----------------------------------------------------------

def mlxlink(tools, device, port):
    if len(tools.ports(device)) > 1:
        raise NotTried("mlxlink counts the cages of a card with several ports in its own way")
    text = tools.run("mlxlink", "-d", device)
    plain = re.sub(r"\x1b\[[\d;]*m", "", text)  # it colours also what is no terminal
    found = dict(re.findall(r"^\s*([A-Z][\w .()-]*?)\s*: (.*?)\s*$", plain, re.M))
    thing, width = f"{device}/{port}", re.match(r"(\d+)x", found.get("Width", ""))
    if found.get("State") == "Active" and width:
        yield Fact("mlxlink", thing, "Width", int(width[1]), of_port(device, port, "width_lanes"))
    yield Fact("mlxlink", thing, "State", {"Active": True, "Polling": False, "Disable": False}.get(
        found.get("State"), UNSAID), of_port(device, port, "up"))


PARTS = (("port", "perfquery", perfquery), ("port", "smpquery", own_link),
         ("port", "smpquery", peer), ("port", "smpquery", partitions), ("port", "sminfo", sminfo))
ON_NODES = (("port", "perfquery -x", perfquery_extended), ("port", "mlxlink", mlxlink))
