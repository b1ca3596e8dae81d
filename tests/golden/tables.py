# SPDX-License-Identifier: Apache-2.0
"""Compares tables that commands print with the JSON; and the normal form of the output of "kube
show"."""
import re


class Contradiction(ValueError):
    """A table and the JSON say different things."""


# --- topology ------------------------------------------------------------------------------------

def read_matrix(text):
    """(names of columns, {name of row: cells}) of the matrix that topology prints, if it does; without
    the processors, which JSON does not have."""
    lines = text.split("\n")
    head = next((i for i, line in enumerate(lines) if line.endswith("NUMA  CPU affinity")), None)
    if head is None:
        return [], {}
    rows = {}
    for line in lines[head + 1:]:
        if not line:
            break
        name, *cells, _processors = line.split()
        rows[name] = cells
    return lines[head].split()[:-2], rows


def expected_matrix(topology):
    """The same, from the document of topology --json."""
    nodes = {f"{kind}{i}": node for kind, key in (("GPU", "gpus"), ("NIC", "nics"))
             for i, node in enumerate(topology[key])}
    if not nodes:
        return [], {}
    classes = {}
    for pair in topology["pairs"]:
        name = "?" if pair["class"] == "unknown" else pair["class"]
        classes[pair["a"], pair["b"]] = classes[pair["b"], pair["a"]] = name
    rows = {name: ["X" if other is node else
                   classes[node["pci_address"], other["pci_address"]]
                   for other in nodes.values()] + [str(node.get("numa_node", "?"))]
            for name, node in nodes.items()}
    return [*nodes, "NUMA"], rows


def in_order(topology):
    """The ends of pairs as they have to come: each with those behind it."""
    addresses = [node["pci_address"] for key in ("gpus", "nics") for node in topology[key]]
    return [(a, b) for i, a in enumerate(addresses) for b in addresses[i + 1:]]


def check_matrix(topology, text):
    if [(pair["a"], pair["b"]) for pair in topology["pairs"]] != in_order(topology):
        raise Contradiction("pairs of topology --json are not each with each, in order")
    said, expected = read_matrix(text), expected_matrix(topology)
    if said != expected:
        raise Contradiction(f"topology prints {said}, its JSON makes {expected}")


# --- status --gids -------------------------------------------------------------------------------

GID_COLUMNS = (("DEV", "<"), ("PORT", ">"), ("INDEX", ">"), ("GID", "<"), ("IPv4", "<"),
               ("VER", "<"), ("NETDEV", "<"), ("NCCL", "<"))
VERSIONS = {"RoCE v1": "v1", "RoCE v2": "v2", "unknown": "-"}


def gid_rows(document):
    for device in document["devices"]:
        for port in device["ports"]:
            for gid in port.get("gids", ()):
                yield (device["name"], str(port["port"]), str(gid["index"]), gid["gid"],
                       gid.get("ipv4", "-"), VERSIONS.get(gid["type"], gid["type"]),
                       gid.get("netdev", "-"), "yes" if gid["nccl"] else "-")


def gid_table(document):
    """What status --gids has to print."""
    rows = [tuple(name for name, _ in GID_COLUMNS), *gid_rows(document)]
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["  ".join(f"{cell:{side}{width}}" for cell, (_, side), width
                       in zip(row, GID_COLUMNS, widths)).rstrip() for row in rows]
    return "\n".join(lines) + "\n"


def check_gids(document, gids, status):
    """Without devices, both tables are the reason for that; without tables of GIDs, there is none."""
    if not document["devices"]:
        expected = status.split("\n")[0] + "\n"
    elif not any("gids" in port for device in document["devices"] for port in device["ports"]):
        expected = "No GID: there is no port whose table could be read.\n"
    else:
        expected = gid_table(document)
    if gids != expected:
        raise Contradiction(f"status --gids prints\n{gids}, JSON and status make\n{expected}")


# --- kube show -----------------------------------------------------------------------------------

NODE_LABEL = re.compile(r'    (\S+): (".*")\n')
CONDITION = re.compile(r'  - type: (\w+)\n    status: "(\w+)"\n    reason: (\w+)\n'
                       r'    message: (".*")\n')
ABOVE_LABELS = "apiVersion: v1\nkind: Node\nmetadata:\n  labels:"
ABOVE_CONDITIONS = "status:\n  conditions:\n"


def normal_node(text):
    """One line for each label and condition of the node; node_text() makes the text of it again."""
    above = text.partition("\nstatus:")[0] + "\n"
    labels = [f"{name} {value}" for name, value in NODE_LABEL.findall(above)]
    conditions = [" ".join(found) for found in CONDITION.findall(text)]
    normal = "\n".join([*labels, "", *conditions]) + "\n"
    if node_text(normal) != text:
        raise Contradiction("kube show prints more than labels and conditions")
    return normal


def node_text(normal):
    labels, conditions = (part.strip("\n").split("\n") for part in f"\n{normal}".split("\n\n"))
    text = ABOVE_LABELS + ("\n" if labels[0] else " {}\n")
    for line in filter(None, labels):
        name, value = line.split(" ", 1)
        text += f"    {name}: {value}\n"
    text += ABOVE_CONDITIONS
    for line in conditions:
        kind, status, reason, message = line.split(" ", 3)
        text += (f'  - type: {kind}\n    status: "{status}"\n    reason: {reason}\n'
                 f"    message: {message}\n")
    return text
