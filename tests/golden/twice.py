# SPDX-License-Identifier: Apache-2.0
"""What the JSON of a machine says that other outputs say, too.

rest() compares each value of the JSON with the sample, the line of status or the member of
"topology --json" that states the same, and leaves what only the JSON says: expected.rest.json and
expected.rest.topology.json have that. It works both ways: a sample whose value the JSON lacks is an
error, too, unless its family is in IN_REST, which the JSON states in another shape.
"""
import collections
import decimal
import math
import os
import re

import scrape
from plain import CONTROLS
from tables import Contradiction, check_gids, check_matrix

STATES = {0: "NOP", 1: "DOWN", 2: "INIT", 3: "ARMED", 4: "ACTIVE", 5: "ACTIVE_DEFER"}
PHYSICAL_STATES = {1: "Sleep", 2: "Polling", 3: "Disabled", 4: "PortConfigurationTraining",
                   5: "LinkUp", 6: "Recovery", 7: "Test"}
SPEEDS = {1: "SDR", 2: "DDR", 4: "QDR", 8: "FDR10", 16: "FDR", 32: "EDR", 64: "HDR", 128: "NDR",
          256: "XDR"}
NAMES = {"state": ("state_id", STATES), "physical_state": ("physical_state_id", PHYSICAL_STATES),
         "speed": ("speed_code", SPEEDS)}
# Members of a device whose members are samples, and the label that names them.
BY_LABEL = {"unnamed_contexts": "reason", "resources": "resource", "idle_resources": "resource",
            "virtual_function_properties": "property"}
# Families of which rest() leaves the members in the JSON, or whose samples follow from others.
IN_REST = re.compile(
    r"rdma_port_(ethernet_\w+|module_\w+|pcie_\w+|pfc_\w+|priority_dscp_info|qos_info|ecn_enabled|"
    r"vlan_\w+|bond_member_\w+|gateway_\w+|peer_info|rail_info|sm_info|pkeys|gids|nccl_gid_info|roce_cm_tos|roce_traffic_class|"
    r"receive_error_causes_total|transmit_discard_causes_total|virtual_lane_transmit_wait_total|"
    r"cm_(messages_\w+|retries_total|duplicates_\w+)|plane_(data|packets)_\w+|"
    r"(lane_)?fec_\w+|sync_header_errors_total|unknown_blocks_total)|"
    r"rdma_devices_not_followed|rdma_gpu_nic_path|rdma_module_loaded|rdma_gpudirect_ready|rdma_agent_profile_info|"
    r"rdma_node_(info|virtual_machine|cpu_frequency_policies|gpu_iommu_info|neighbour\w+)|rdma_kernel_log_\w+")
ONLY_TOPOLOGY = {"time", "missing", "pairs", "tree"}  # members of topology --json, not of its part
COUNTERS = os.path.join(os.path.dirname(__file__), "counters.txt")


def read_counters():
    """{(device or port, member, name): (metric, factor)}"""
    with open(COUNTERS, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split(" ", 2) for line in file if line[0] != "#"]
    found = {}
    for metric, member, name in rows:
        member, _, factor = member.partition("*")
        found[metric.split("_")[1], member, name] = metric, int(factor or 1)
    return found


def unescape(text):
    return re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], text)


def same(value, text):
    """Does a sample say what a value of the JSON says?"""
    if isinstance(value, bool):
        value = int(value)
    if "~" in (value, text):
        return value == text
    if isinstance(value, float) and value >= 2 ** 63:  # more than integers of the JSON hold
        return math.isclose(value, int(text), rel_tol=1e-14)
    return (not isinstance(value, (str, list, dict)) and value is not None and
            decimal.Decimal(str(value)) == decimal.Decimal(text))


class Samples:
    """The samples of a scrape, and which of them the JSON has stated."""

    def __init__(self, lines):
        self.families = collections.defaultdict(list)
        for line in lines:
            name, labels, value = scrape.split_sample(line)
            self.families[name].append(
                ({label: unescape(text) for label, text in labels}, value, set()))

    def find(self, name, labels):
        return next((found for found in self.families.get(name, ()) if found[0] == labels), None)

    def state(self, name, labels, value):
        """Is there that sample? Then it has to have that value."""
        found = self.find(name, labels)
        if not found:
            return False
        if not same(value, found[1]):
            raise Contradiction(f"JSON has {value} for {name} {labels}, which is {found[1]}")
        found[2].update([None, *labels])
        return True

    def state_label(self, name, scope, label, value):
        """Is there a sample in that scope with that label? Then it has to have that value."""
        for labels, number, stated in self.families.get(name, ()):
            if label in labels and scope.items() <= labels.items():
                if labels[label] != CONTROLS.sub("\ufffd", str(value)) or number != "1":
                    raise Contradiction(f"JSON has {value!r} as {label} of {name} {scope}, "
                                        f"the sample is {labels} {number}")
                stated.update([None, label, *scope])
                return True
        return False

    def unstated(self):
        """Yields the samples and labels that the JSON lacks."""
        for name, found in self.families.items():
            for labels, value, stated in found:
                if not IN_REST.fullmatch(name) and {None, *labels} - stated:
                    yield f"{name} {labels} {value}: {sorted({*labels} - stated) or 'value'}"


def take_members(found, prefix, scope, samples):
    """Takes out of found what samples with these labels state, by number or as a label."""
    for key, value in list(found.items()):
        if isinstance(value, (dict, list)) or key in scope:
            continue
        if (samples.state(prefix + key, scope, value) or
                samples.state(f"{prefix}{key}_total", scope, value) or
                samples.state_label(f"{prefix}info", scope, key, value)):
            del found[key]


def take_by_label(found, key, name, scope, label, samples):
    """Takes out of the member key of found what samples state that have such a label."""
    members = found.get(key, {})
    for member, value in list(members.items()):
        if samples.state(name, {**scope, label: member}, value):
            del members[member]
    if not members:
        found.pop(key, None)


def take_counters(found, kind, scope, samples, known):
    for member in "counters", "hw_counters", "counters_ext":
        counters = found.get(member, {})
        for name, counter in list(counters.items()):
            metric, factor = known.get((kind, member, name), (None, 1))
            labels = scope
            if not metric:
                metric = f"rdma_{kind}_{'hw_' if member == 'hw_counters' else ''}unknown_total"
                labels = {**scope, "counter": name}
            if "value" in counter and samples.state(metric, labels, counter["value"] * factor):
                del counter["value"]
                if counter == {"state": "ok"}:
                    del counters[name]
        if not counters:
            found.pop(member, None)


def take_names(port):
    """Takes out names that follow from the numbers beside them."""
    for key, (number, names) in NAMES.items():
        if key in port or number in port:
            if names.get(port.get(number), "?") != port.get(key):
                raise Contradiction(f"{number} {port.get(number)} is called {port.get(key)}")
            del port[key]


def take_expectation(port, scope, samples):
    reason = {**scope, "reason": port.pop("expectation_reason")}
    if not samples.state("rdma_port_expected_up", reason, port.get("expected") == "up"):
        raise Contradiction(f"no expectation {reason}")
    for key, direction in ("ups", "up"), ("downs", "down"):
        labels = {**scope, "direction": direction}
        if not samples.state("rdma_port_transitions_total", labels, port.pop(key)):
            raise Contradiction(f"no transitions {labels}")


def ipv4_of(gid):
    high, low = (int(group, 16) for group in gid.split(":")[-2:])
    return f"{high >> 8}.{high & 255}.{low >> 8}.{low & 255}"


def take_gids(port, scope, samples):
    """GIDs are those of rdma_port_gid_info; what else is said of them follows."""
    chosen = port.get("nccl_gid_index")
    for gid in port.get("gids", []):
        where = {**scope, "index": str(gid.pop("index"))}
        follows = {"link_local": gid["gid"].startswith("fe80:"),
                   "nccl": int(where["index"]) == chosen}
        if gid["family"] == "ipv4":
            follows["ipv4"] = ipv4_of(gid["gid"])
        for key in "gid", "type", "family", "netdev":
            if key in gid and not samples.state_label("rdma_port_gid_info", where, key, gid[key]):
                raise Contradiction(f"no GID {where} with {key}")
        if {key: value for key, value in gid.items()
                if key not in ("gid", "type", "family", "netdev")} != follows:
            raise Contradiction(f"GID {where}: {gid}, should be {follows}")
    port.pop("gids", None)


def take_users(device, scope, samples):
    """Each is a series; IDs and the number of contexts are in the JSON only."""
    for user in device.get("users", []):
        names = {key: str(user.pop(key))
                 for key in ("namespace", "pod", "container", "job", "uid", "unit") if key in user}
        if not samples.state("rdma_device_user_info", {**scope, **names}, 1):
            raise Contradiction(f"no user {names} of {scope}")


def take_traffic(port, within, user, samples):
    """Of the only user of the device, each number a sample with the names of that user."""
    traffic = port.get("user_traffic", {})
    names = {key: str(user[key])
             for key in ("namespace", "pod", "container", "job", "uid", "unit") if key in user}
    for key, number in list(traffic.items()):
        direction, what = key.split("_")
        if samples.state(f"rdma_user_{what}_total", {**within, "direction": direction, **names},
                         number):
            del traffic[key]
    if not traffic:
        port.pop("user_traffic", None)


def take_hops(device, scope, samples, tree):
    """Hops are nodes of the tree of topology --json; their errors add up to those of the device."""
    hops = device.get("pcie_hops", [])
    errors = collections.Counter()
    for hop in hops:
        take_node(hop, tree.get(hop["pci_address"], {}))
        errors.update(hop["errors"])
    stated = [samples.state("rdma_device_pcie_errors_total", {**scope, "severity": severity}, number)
              for severity, number in errors.items()]
    if all(stated) and not any(errors.values()) and all(len(hop["errors"]) == len(errors)
                                                         for hop in hops):
        for hop in hops:
            del hop["errors"]
    size = device.get("pcie_max_read_request_bytes")
    if size is not None and hops and hops[0].pop("max_read_request_bytes", None) != size:
        raise Contradiction(f"{scope} has another largest read request than its first hop")


def take_node(hop, node):
    """Takes out of a hop what its node says."""
    link = node.get("link", {})
    for key, value in (("role", node.get("role")), ("link_lanes", link.get("width")),
                       ("max_link_lanes", link.get("max_width")),
                       ("link_transfers_per_second", link.get("megatransfers_per_second")),
                       ("max_link_transfers_per_second", link.get("max_megatransfers_per_second"))):
        if value is not None:
            value = value * 10 ** 6 if "transfers" in key else value
            if hop.pop(key, None) != value:
                raise Contradiction(f"{hop['pci_address']}: the tree of topology --json has {value} "
                                    f"as {key}")


def take_device(device, samples, known, tree):
    scope = {"device": device["name"]}
    take_counters(device, "device", scope, samples, known)
    for key, label in BY_LABEL.items():
        take_by_label(device, key, f"rdma_device_{key}", scope, label, samples)
    if samples.state_label("rdma_device_pcie_bottleneck_info", scope, "pci_address",
                           device.get("pcie_bottleneck")):
        del device["pcie_bottleneck"]
    if samples.state_label("rdma_device_iommu_info", scope, "mode", device.get("iommu")):
        del device["iommu"]
    if samples.state_label("rdma_device_card_info", scope, "card", device.get("card")):
        del device["card"]
    take_hops(device, scope, samples, tree)
    users = [dict(user) for user in device.get("users", [])]
    take_users(device, scope, samples)
    for port in device["ports"]:
        within = {**scope, "port": str(port["port"])}
        take_traffic(port, within, users[0] if users else {}, samples)
        take_names(port)
        take_gids(port, within, samples)
        take_expectation(port, within, samples)
        if samples.state_label("rdma_port_rail_info", within, "rail", port.get("rail")):
            del port["rail"]
        take_counters(port, "port", within, samples, known)
        take_members(port, "rdma_port_", within, samples)
    take_members(device, "rdma_device_", scope, samples)


def check_cards(document, samples):
    """Each device of a card has its card and model as labels, and those of no card have none.

    A model without a name of its own has its type for one, if the PCI numbers of the card are known.
    """
    unidentified = {labels["device"] for labels, _, _ in samples.families.get("rdma_device_info", ())
                    if not {"vendor_id", "device_id"} <= labels.keys()}
    cards = {device: card for card in document["cards"] for device in card["devices"]}
    for device in document["devices"]:
        card = cards.get(device["name"], {})
        if device.get("card") != card.get("card"):
            raise Contradiction(f"{device['name']} has card {device.get('card')}, not {card}")
        model = card.get("model")
        if not model and unidentified.isdisjoint(card.get("devices", ())):
            model = card.get("hca_type")
        if model and not samples.state_label("rdma_device_card_info", {"device": device["name"]},
                                             "model", model):
            raise Contradiction(f"no card of {device['name']} with {model}")


def take_collectors(document, samples):
    order = [(row["collector"], row["device"]) for row in document["collectors"]]
    if order != [(labels["collector"], labels["device"])
                 for labels, _, _ in samples.families["rdma_collector_stalled_seconds"]]:
        raise Contradiction("collectors have another order")
    for row in document["collectors"]:
        scope = {"collector": row["collector"], "device": row["device"]}
        if "errors" not in row:
            raise Contradiction(f"no errors of {scope}")
        take_by_label(row, "errors", "rdma_collector_errors_total", scope, "reason", samples)
        take_members(row, "rdma_collector_", scope, samples)
    document["collectors"] = [row for row in document["collectors"]
                              if set(row) - {"collector", "device"}]


def take_findings(document, samples, status):
    lines = status.split("\n")
    numbers = collections.Counter()
    for finding in document["findings"]:
        scope = {key: str(finding[key]) for key in ("rule", "severity", "device", "port")
                 if key in finding}
        told = {**scope, "text": CONTROLS.sub("\ufffd", finding["text"])}
        if not (samples.state("rdma_finding", scope, 1) and
                samples.state("rdma_finding_info", told, 1)):
            raise Contradiction(f"no sample for {told}")
        samples.state("rdma_finding_since_seconds", scope, finding["since"])
        if f"{finding['severity']:<10}{finding['text']}" not in lines:
            raise Contradiction(f"status does not show {finding['text']!r}")
        numbers[finding["severity"]] += 1
        for key in "severity", "text":
            del finding[key]
    for severity in "info", "warning", "critical":
        samples.state("rdma_findings", {"severity": severity}, numbers[severity])


def take_topology(document, topology):
    if document.pop("topology") != {key: value for key, value in topology.items()
                                    if key not in ONLY_TOPOLOGY}:
        raise Contradiction("topology --json has another topology")


def shorten_link(node):
    """A link in one word: lanes of lanes, rate of rate; one of another shape stays as it is."""
    link = node.get("link", {})
    if sorted(link) == ["max_megatransfers_per_second", "max_width", "megatransfers_per_second",
                        "width"]:
        node["link"] = (f"x{link['width']} of {link['max_width']}, "
                        f"{link['megatransfers_per_second']} of "
                        f"{link['max_megatransfers_per_second']} MT/s")


def take_cards(topology, cards):
    """The card of a NIC is the one that has its function."""
    of_functions = {function["pci_address"]: card["card"] for card in cards
                    for function in card["functions"]}
    for nic in topology["nics"]:
        if nic.pop("card", None) != of_functions.get(nic["pci_address"]):
            raise Contradiction(f"topology --json has another card of {nic['pci_address']}")


def rest_of_topology(topology, cards, samples):
    """What neither the matrix, the cards nor the samples of the GPUs say, once the matrix was
    compared.
    """
    take_cards(topology, cards)
    del topology["pairs"]
    for gpu in topology["gpus"]:
        take_members(gpu, "rdma_gpu_", {"gpu": gpu["pci_address"]}, samples)
    for node in topology["gpus"] + topology["nics"]:
        node.pop("numa_node", None)
    for node in topology["tree"]:
        shorten_link(node)


def rest(document, topology, lines, texts):
    """Takes out of two documents, whose values are masked as those of the samples are, what others
    state.

    topology: the document of topology --json; lines: samples; texts: what commands print, by the
    suffix of their expectation.
    """
    samples, known = Samples(lines), read_counters()
    tree = {node["pci_address"]: node for node in topology["tree"]}
    check_gids(document, texts["gids.txt"], texts["wide.txt"])
    check_matrix(topology, texts["topology.txt"])
    take_topology(document, topology)
    take_findings(document, samples, texts["wide.txt"])
    take_collectors(document, samples)
    check_cards(document, samples)
    for device in document["devices"]:
        take_device(device, samples, known, tree)
    take_by_label(document["agent"], "jobs", "rdma_agent_jobs", {}, "state", samples)
    take_members(document["agent"], "rdma_agent_", {}, samples)
    samples.state_label("rdma_agent_build_info", {}, "version", document["agent"].pop("version"))
    take_members(document["process"], "process_", {}, samples)
    samples.state("rdma_devices", {}, len(document["devices"]))
    samples.state("rdma_devices_missing", {}, len(document["missing_devices"]))
    samples.state("rdma_devices_excluded", {}, 0)
    rest_of_topology(topology, document["cards"], samples)
    missing = list(samples.unstated())
    if missing:
        raise Contradiction("the JSON lacks these, or counters.txt does not say where they are:\n" +
                            "\n".join(missing[:20]))
