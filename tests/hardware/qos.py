# SPDX-License-Identifier: Apache-2.0
"""Quality of service of RoCE ports: dcb, and "ip link" for VLANs."""
import json

from ethernet import each_member
from facts import Fact
from tools import NotTried


def ask(tools, what, netdev):
    """Some versions of dcb print two objects one after the other."""
    text = tools.run("dcb", "-j", "-s", what, "show", "dev", netdev)
    ret, decoder, at = {}, json.JSONDecoder(), 0
    while at < len(text.rstrip()):
        part, end = decoder.raw_decode(text[at:])
        ret.update(part)
        at += end
        at += len(text[at:]) - len(text[at:].lstrip())
    return ret


def priorities(tools, netdev):
    pfc, ets = ask(tools, "pfc", netdev), ask(tools, "ets", netdev)
    app, buffers = ask(tools, "app", netdev), ask(tools, "buffer", netdev)
    table = {priority: [] for priority in range(8)}
    for number, priority in app.get("dscp_prio", []):
        table[priority].append(number)
    yield "pfc_priorities", [i for i, on in enumerate(pfc["prio_pfc"]) if on]
    yield "pfc_frames_sent", pfc["requests"]
    yield "pfc_frames_received", pfc["indications"]
    if app.get("dscp_prio"):
        yield "dscp_priority", [{"priority": i, "dscps": sorted(table[i])} for i in range(8)]
    if app.get("default_prio"):
        yield "default_priority", app["default_prio"][0]
    yield "ets", {"priority_traffic_class": ets["prio_tc"],
                  "traffic_class_bandwidth_percent": ets["tc_bw"],
                  "traffic_class_algorithm": ets["tc_tsa"]}
    yield "receive_buffers", {"priority_buffer": buffers["prio_buffer"],
                              "buffer_bytes": buffers["buffer_size"],
                              "total_bytes": buffers["total_size"]}
    yield "dcbx_by_host", "host" in ask(tools, "dcbx", netdev)


def vlan(link):
    data = link["linkinfo"]["info_data"]
    egress = {str(row["from"]): row["to"] for row in data.get("egress_qos", [])}
    return {"netdev": link["ifname"], "vlan": data["id"], "mtu_bytes": link["mtu"],
            "egress_priorities": egress}


def vlans(tools, netdev):
    links = json.loads(tools.run("ip", "-j", "-d", "link", "show", "type", "vlan") or "[]")
    return [vlan(link) for link in links if link.get("link") == netdev]


def of_member(device, port, netdev, key, absent=None):
    """Of the "qos" of the port, or of another member of its bond."""
    def ours(agent):
        first = agent.port(device, port).get("qos", {})
        members = [first] + first.get("other_members", [])
        found = next((each for each in members if each.get("netdev") == netdev), {})
        return found.get(key, absent)
    return ours


def dcb(tools, device, port):
    for netdev in each_member(tools, device, port):
        for name, theirs in priorities(tools, netdev):
            yield Fact("dcb", f"{device}/{port} {netdev}", name, theirs,
                       of_member(device, port, netdev, name))


def ip_vlans(tools, device, port):
    if tools.link_layer(device, port) == "Ethernet" and not each_member(tools, device, port):
        raise NotTried("no interface")
    for netdev in each_member(tools, device, port):
        yield Fact("ip", f"{device}/{port} {netdev}", "vlans", vlans(tools, netdev),
                   of_member(device, port, netdev, "vlans", []))


PARTS = (("port", "dcb", dcb), ("port", "ip", ip_vlans))
ON_NODES = ()
