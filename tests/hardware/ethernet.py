# SPDX-License-Identifier: Apache-2.0
"""The Ethernet side of ports: ethtool, and "ip link". Transceivers, which need root, are apart."""
import json
import os
import re

from facts import UNSAID, Fact, of_port

# The agent's names of statistics, by the driver's, as far as the drivers agree about their meaning.
STATISTICS = {
    "": {"rx_crc_errors": "fcs_errors", "rx_align_errors": "alignment_errors",
         "rx_length_errors": "length_errors", "rx_no_buffer_count": "receive_discards",
         "rx_flow_control_xoff": "pause_frames_received",
         "tx_flow_control_xoff": "pause_frames_transmitted"},
    "mlx5_core": {"link_down_events_phy": "link_downs", "rx_symbol_err_phy": "symbol_errors",
                  "rx_pcs_symbol_err_phy": "pcs_symbol_errors", "rx_crc_errors_phy": "fcs_errors",
                  "rx_corrected_bits_phy": "fec_corrected_bit_errors",
                  "rx_in_range_len_errors_phy": "length_errors",
                  "rx_undersize_pkts_phy": "undersize_frames",
                  "rx_oversize_pkts_phy": "oversize_frames", "rx_fragments_phy": "fragments",
                  "rx_jabbers_phy": "jabbers", "rx_discards_phy": "receive_discards",
                  "tx_discards_phy": "transmit_discards",
                  "rx_out_of_buffer": "out_of_buffer_drops",
                  "rx_pause_ctrl_phy": "pause_frames_received",
                  "tx_pause_ctrl_phy": "pause_frames_transmitted"},
}
NAMES_OF_ANY_DRIVER = ("e1000e", "virtio_net")  # Linux has named them so since 4.15
EXTRAS = "RNA_EXTRA_STATISTICS"  # in the environment: ethernet.statistics of the agent


def ethtool_json(tools, *arguments):
    text = tools.run_or_nothing("ethtool", "--json", "-I", *arguments)
    try:
        return json.loads(text)[0]
    except (ValueError, LookupError):
        return {}  # no answer, or an older ethtool that has no JSON for it


def entry(device, port, netdev, *path):
    """Of the interface in the "ethernet" of the port."""
    def ours(agent):
        entries = agent.port(device, port).get("ethernet", [])
        value = next((each for each in entries if each["netdev"] == netdev), {})
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        return value
    return ours


def each_member(tools, device, port):
    return [each for netdev in tools.netdevs(device, port) for each in tools.members(netdev)]


def settings(tools, netdev):
    """(member of the agent's JSON, what ethtool says); None: it says that there is none."""
    plain = dict(re.findall(r"^\s*([A-Z][^:\n]*): (.*)$",
                            tools.run("ethtool", netdev), re.M))
    if "Link detected" in plain:
        yield "link", plain["Link detected"].startswith("yes")
    speed = re.match(r"(\d+)Mb/s", plain.get("Speed", ""))
    yield "speed_bytes_per_second", int(speed[1]) * 125000 if speed else None
    if plain.get("Duplex") in ("Full", "Half"):
        yield "full_duplex", plain["Duplex"] == "Full"
    if "Auto-negotiation" in plain:
        yield "autoneg", plain["Auto-negotiation"] == "on"
    pause = ethtool_json(tools, "--show-pause", netdev)
    yield "pause_receive", pause.get("rx")
    yield "pause_transmit", pause.get("tx")
    fec = ethtool_json(tools, "--show-fec", netdev).get("active") or [None]
    yield "fec", fec[0].lower() if fec[0] else None


def statistics(tools, netdev):
    """{name: number} of its driver."""
    text = tools.run_or_nothing("ethtool", "-S", netdev)
    return {name: int(value) for name, value in re.findall(r"^\s*([^:\n]+): (\d+)$", text, re.M)}


def ethtool(tools, device, port):
    for netdev in each_member(tools, device, port):
        thing = f"{device}/{port} {netdev}"
        for name, theirs in settings(tools, netdev):
            yield Fact("ethtool", thing, name, theirs, entry(device, port, netdev, name))


def driver_statistics(tools, device, port):
    for netdev in each_member(tools, device, port):
        yield from statistics_of(tools, device, port, netdev)


def statistics_of(tools, device, port, netdev):
    thing, found = f"{device}/{port} {netdev}", statistics(tools, netdev)
    driver = tools.link(f"/sys/class/net/{netdev}/device/driver") or ""
    names = STATISTICS.get("" if driver in NAMES_OF_ANY_DRIVER else driver, {})
    for name, ours in names.items():
        if name in found:
            yield Fact("ethtool -S", thing, name, found[name], entry(
                device, port, netdev, "statistics", f"ethernet_{ours}"), moves=True)
    extras = os.environ.get(EXTRAS)
    if extras is not None:
        wanted = {name: found[name] for name in extras.split() if name in found}
        ours = entry(device, port, netdev, "unknown_statistics")
        yield Fact("ethtool -S", thing, "unknown_statistics", wanted,
                   lambda agent: ours(agent) or {})


def ip_link(tools, device, port):
    for netdev in tools.netdevs(device, port):
        text = tools.run("ip", "-s", "-s", "-d", "-j", "link", "show", "dev", netdev)
        link, thing = json.loads(text)[0], f"{device}/{port} {netdev}"
        up = {"UNKNOWN": None, "UP": True}.get(link["operstate"], False)
        carrier = "LOWER_UP" in link["flags"] if "UP" in link["flags"] else None
        yield Fact("ip", thing, "netdev_up", up, of_port(device, port, "netdev_up"))
        yield Fact("ip", thing, "netdev_carrier", carrier, of_port(device, port, "netdev_carrier"))
        yield Fact("ip", thing, "netdev_mtu_bytes", link["mtu"],
                   of_port(device, port, "netdev_mtu_bytes"))
        changes = link.get("stats64", {}).get("tx", {}).get("carrier_changes", UNSAID)
        yield Fact("ip", thing, "carrier changes", changes, carrier_changes(device, port),
                   moves=True)


def carrier_changes(device, port):
    def ours(agent):
        found = agent.port(device, port)
        return found.get("netdev_carrier_up_total", 0) + found.get("netdev_carrier_down_total", 0)
    return ours


def driver(tools, device, port):
    """ethtool -i. Other drivers than mlx5 and mlx4 give the version of the NIC, not of the HCA."""
    for netdev in tools.netdevs(device, port):
        found = dict(re.findall(r"^([a-z-]+): (.*)$", tools.run("ethtool", "-i", netdev), re.M))
        if found.get("driver") not in ("mlx5_core", "mlx4_en"):
            continue
        thing = f"{device}/{port} {netdev}"
        yield Fact("ethtool -i", thing, "firmware_version", found["firmware-version"].split()[0],
                   lambda agent: agent.device(device).get("firmware_version"))
        if tools.pci_function(device).count(":") == 2:
            yield Fact("ethtool -i", thing, "pci_address", found.get("bus-info", UNSAID),
                       of_port(device, port, "pci_address"))


# --- transceivers ---------------------------------------------------------------------------------

DEGREES, VOLTS = 2000, 50000  # they drift while tools are asked: millidegrees, microvolts


def of_module(device, port, netdev, key):
    def ours(agent):
        modules = agent.port(device, port).get("modules", [])
        return next((each.get(key) for each in modules if each["netdev"] == netdev), None)
    return ours


def transceiver(tools, device, port):
    for netdev in each_member(tools, device, port):
        text = tools.run("ethtool", "-m", netdev)
        found = dict(re.findall(r"^\s*([^:\n]+?)\s*: (.*?)\s*$", text, re.M))
        thing = f"{device}/{port} {netdev}"
        names = {"vendor": "Vendor name", "part_number": "Vendor PN", "revision": "Vendor rev"}
        for key, name in names.items():
            yield Fact("ethtool -m", thing, name, found.get(name, UNSAID),
                       of_module(device, port, netdev, key))
        for key, name, factor, slack in (
                ("temperature_millicelsius", "Module temperature", 1000, DEGREES),
                ("voltage_microvolts", "Module voltage", 1e6, VOLTS)):
            value = re.match(r"-?[\d.]+", found.get(name, ""))
            theirs = float(value[0]) * factor if value else 0
            # 0 is what a cable without a sensor has there.
            yield Fact("ethtool -m", thing, name, theirs or UNSAID,
                       of_module(device, port, netdev, key), moves=True, slack=slack)


PARTS = (("port", "ethtool", ethtool), ("port", "ethtool -S", driver_statistics),
         ("port", "ip", ip_link))
ON_NODES = (("port", "ethtool -i", driver), ("port", "ethtool -m", transceiver))
