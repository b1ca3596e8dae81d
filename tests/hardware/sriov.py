# SPDX-License-Identifier: Apache-2.0
"""Virtual functions: what "ip link" says of the interface of their physical function, and sysfs of
each."""
import json
import os

from facts import Fact

RATE_UNIT = 1000000  # ip: Mbit/s


def first(tools, path):
    return next(iter(tools.names(path)), None)


def representors(tools, function):
    """Number of the virtual function: its representor."""
    ret = {}
    for netdev in tools.names(f"{function}/net"):
        name = tools.read(f"{function}/net/{netdev}/phys_port_name") or ""
        number = name.removeprefix("pf0vf")
        if number != name and number.isdigit():
            ret[int(number)] = netdev
    return ret


def rows(tools, netdev):
    text = tools.run("ip", "-j", "-d", "link", "show", "dev", netdev)
    physical = f"/sys/class/net/{netdev}/device"
    stand_for = representors(tools, physical)
    for told in json.loads(text)[0].get("vfinfo_list", []):
        number = told["vf"]
        directory, mac = f"{physical}/virtfn{number}", told["address"]
        vlans = told.get("vlan_list") or [told]
        yield {
            "vf": number,
            "pci_address": tools.link(directory),
            "driver": tools.link(f"{directory}/driver"),
            "device": first(tools, f"{directory}/infiniband"),
            "netdev": first(tools, f"{directory}/net"),
            "representor": stand_for.get(number),
            "mac": mac if mac != "00:00:00:00:00:00" else None,
            "assigned": mac != "00:00:00:00:00:00",
            "link": {"disable": "down", "enable": "up"}.get(told["link_state"], told["link_state"]),
            "spoof_check": told.get("spoofchk"),
            "trust": told.get("trust"),
            "vlan": vlans[0].get("vlan", 0),
            "vlan_priority": vlans[0].get("qos", 0),
            "max_rate_bits_per_second": told.get("rate", {}).get("max_tx", 0) * RATE_UNIT,
        }


def of_function(device, number, key):
    def ours(agent):
        functions = agent.device(device).get("virtual_function_list", [])
        return next((row.get(key) for row in functions if row["vf"] == number), None)
    return ours


def virtual_functions(tools, device):
    # An interface of the physical function that other drivers' devices of it share.
    for netdev in tools.netdevs(device):
        if not os.path.exists(tools.at(f"/sys/class/net/{netdev}/device/sriov_numvfs")):
            continue
        found = list(rows(tools, netdev))
        yield Fact("ip", device, "virtual functions", len(found), lambda agent: len(
            agent.device(device).get("virtual_function_list", [])))
        for row in found:
            for key, theirs in row.items():
                yield Fact("ip", f"{device} vf {row['vf']}", key, theirs,
                           of_function(device, row["vf"], key))


PARTS = (("device", "ip", virtual_functions),)
ON_NODES = ()
