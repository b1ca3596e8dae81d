// SPDX-License-Identifier: Apache-2.0
/*
 * The rules: one table. To add a rule: a number in rules.h, a row here, and a check function in the
 * rules_*.c of its subject. Settings, documents and the journal's catalog follow from the row.
 *
 * Names are metric labels and message ids are for ever; neither changes.
 */
#include "rules.h"

#include <fnmatch.h>
#include <string.h>

#include "rna/base/duration.h"
#include "rna/base/words.h"

const char rna_rule_resolved_id[] = "98d3cd14b89c4eefab6f9f6dddd4285d";

/* clang-format off */
const struct rna_rule rna_rules[RNA_RULE_COUNT] = {
	[RNA_RULE_PORT_DOWN] = {
		.name = "port-down",
		.severity = RNA_SEVERITY_CRITICAL,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "0s",
		.help = "The port is down although the agent expects it to be up. Without an "
			"expectation the severity is info, or warning while the link is training "
			"or if most such ports on cards of its model are up. A port of EFA, whose driver always reports ACTIVE, counts as down if none of "
			"its counters can be read.",
		.check = rna_check_port_down,
		.remedy = "Check the cable, the transceivers and the peer port. If the port is "
			  "meant to be down, add {object} to expect.down.",
		.message_id = "5da5d81fe037426182921d5601598cf5",
		.condition = RNA_CONDITION_PORT_DOWN,
	},
	[RNA_RULE_PORT_INIT] = {
		.name = "port-init",
		.severity = RNA_SEVERITY_CRITICAL,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "30s",
		.help = "The link of an InfiniBand port is up, but no subnet manager has "
			"configured the port (state INIT). Severity warning if the agent does not "
			"expect the port to be up.",
		.check = rna_check_port_init,
		.remedy = "Check that a subnet manager runs in this fabric and admits {object}: "
			  "see sminfo and the log of opensm or UFM.",
		.message_id = "4e275faaf60345ad94dbd2956e5991ff",
		.condition = RNA_CONDITION_PORT_DOWN,
	},
	[RNA_RULE_PORT_ARMED] = {
		.name = "port-armed",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "30s",
		.help = "The port stays in state ARMED: the subnet manager started to activate it "
			"and did not finish.",
		.check = rna_check_port_armed,
		.remedy = "Read the log of the subnet manager; a sweep that fails midway leaves "
			  "ports in this state.",
		.message_id = "69864336afab477ca32eed7c5f368ddb",
		.condition = RNA_CONDITION_PORT_DOWN,
	},
	[RNA_RULE_PORT_DISABLED] = {
		.name = "port-disabled",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "0s",
		.help = "An InfiniBand port is disabled, and the agent does not expect it to be "
			"up.",
		.check = rna_check_port_disabled,
		.remedy = "No action required. To use {object}, enable it with ibportstate or in "
			  "the subnet manager, whichever disabled it.",
		.message_id = "05b18bd7d98945d4ac708d2cf8ba018b",
	},
	[RNA_RULE_DEVICE_MISSING] = {
		.name = "device-missing",
		.severity = RNA_SEVERITY_CRITICAL,
		.scope = RNA_RULE_OF_NODE,
		.settles = true,
		.hold = "1m",
		.help = "A device with a PCI function was present earlier and is now absent, or "
			"its driver is.",
		.check = rna_check_device_missing,
		.remedy = "Look for the PCI function with lspci -s {pci} and for the reason in "
			  "the kernel log. If {device} was removed on purpose, run: "
			  "rdma-node-agent expect accept.",
		.message_id = "490558271c264c56954eae201980b496",
		.condition = RNA_CONDITION_DEVICE_MISSING,
	},
	[RNA_RULE_DEVICE_OFF_BUS] = {
		.name = "device-off-bus",
		.severity = RNA_SEVERITY_CRITICAL,
		.scope = RNA_RULE_OF_DEVICE,
		.settles = true,
		.hold = "30s", /* a reset of the firmware takes some seconds */
		.help = "The PCI function of a device is listed but does not respond: its "
			"configuration space reads all ones. It fell off the bus, or lost its "
			"power.",
		.check = rna_check_device_off_bus,
		.remedy = "Search the kernel log and the log of the BMC for {pci}. Drain the node "
			  "and power-cycle it; a reboot may not suffice. If it happens again, "
			  "reseat or replace the card.",
		.message_id = "608330454b234e57b2c0676606dc310e",
		.condition = RNA_CONDITION_DEVICE_MISSING,
	},
	[RNA_RULE_DEVICE_MOVED] = {
		.name = "device-moved",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_NODE,
		.settles = true,
		.hold = "0s",
		.help = "A device has moved to another network namespace, usually into a "
			"container, or its card to another PCI address.",
		.check = rna_check_device_moved,
		.remedy = "No action required if a container uses {device}; rdma system and rdma "
			  "dev show the namespace mode and the devices that remain. With "
			  "follow.enabled the agent goes on reading {device} there.",
		.message_id = "3701623d8c1841798112077419adea93",
	},
	[RNA_RULE_NAMESPACES_HIDDEN] = {
		.name = "namespaces-hidden",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_NODE,
		.hold = "30s",
		.help = "follow.enabled is true, but the agent lacks a right that it needs to "
			"follow devices into other network namespaces.",
		.check = rna_check_namespaces_hidden,
		.remedy = "Give the agent CAP_SYS_PTRACE and the PID namespace of the node: by "
			  "follow.enabled of the chart, or the profile follow of the systemd unit. "
			  "AppArmor has to allow ptrace (read). Or set follow.enabled to false.",
		.message_id = "3700ebe65478413e9b722ff1bc322176",
	},
	[RNA_RULE_NAMESPACES_CROWDED] = {
		.name = "namespaces-crowded",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_NODE,
		.hold = "30s",
		.help = "A network namespace has more RDMA devices than follow.max_devices, or "
			"more ports than follow.max_ports. The agent does not read the others.",
		.check = rna_check_namespaces_crowded,
		.remedy = "If the pod is meant to have so many devices, set follow.max_devices and "
			  "follow.max_ports to more; each device takes memory of the agent.",
		.message_id = "0222c9bbbe2447059eff2905831dae50",
	},
	[RNA_RULE_DEVICE_CONTESTED] = {
		.name = "device-contested",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_NODE,
		.hold = "30s",
		.help = "Two network namespaces have the same RDMA device, although a device is in "
			"one at a time. The agent believes neither and does not read the device.",
		.check = rna_check_device_contested,
		.remedy = "Find the namespace that has {device}: nsenter --net --target PID rdma "
			  "dev, for both processes. Compare what they mount on /sys: "
			  "/proc/PID/mountinfo.",
		.message_id = "49753d9f67c0467682ee4fa321fe0a4a",
	},
	[RNA_RULE_DEVICE_NODE_POD] = {
		.name = "device-node-pod",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_DEVICE,
		.settles = true,
		.hold = "2m", /* containers of a pod start one after the other */
		.help = "A device is in the network namespace of a pod, but none of its containers "
			"has the file of verbs, so that they see the device and cannot use it. "
			"Checked with follow.enabled.",
		.check = rna_check_device_node_pod,
		.remedy = "Look into the container: ls -l /dev/infiniband, and rdma-node-agent "
			  "status --pid. The device plugin or the DRA driver has to pass the file, "
			  "with rdma_cm: enable RDMA in its configuration (isRdma of the SR-IOV "
			  "plugin), and request its resource in the container that needs it.",
		.message_id = "09f7a5c6f450456fb3bd40d1e5343c0f",
	},
	[RNA_RULE_USERS_HIDDEN] = {
		.name = "users-hidden",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_DEVICE,
		.hold = "30s",
		.help = "metrics.users is true, but processes that have a device open are in "
			"another PID namespace, so that the agent cannot name their users.",
		.check = rna_check_users_hidden,
		.remedy = "Give the agent the PID namespace of the node: by users.enabled of the "
			  "chart. Or set metrics.users to false.",
		.message_id = "2e835d99e79545e4904fb9b7faf90239",
	},
	[RNA_RULE_DEVICE_RENAMED] = {
		.name = "device-renamed",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "30s",
		.help = "Within the last 24 hours, the device or the network interface of a port "
			"took the name that another one of this node had, or lost its name to "
			"another one: what selects it by name now gets another card. Severity "
			"info if it has a new name and the old one is not in use.",
		.devices_too = true,
		.check = rna_check_device_renamed,
		.remedy = "Compare what selects devices by name: NCCL_IB_HCA, UCX_NET_DEVICES, "
			  "NCCL_SOCKET_IFNAME, resource names of device plugins, network "
			  "configuration. Persistent names (rdma_rename of rdma-core, systemd.link) "
			  "prevent this. If the new names are right, run: rdma-node-agent expect "
			  "accept. The finding resolves after 24 hours.",
		.message_id = "34bc81f6c9364837b9d41cafab25fefc",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_DEVICE_REPLACED] = {
		.name = "device-replaced",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_DEVICE,
		.settles = true,
		.hold = "30s",
		.help = "The node GUID at a PCI address changed within the last 24 hours: the "
			"address belongs to another card.",
		.check = rna_check_device_replaced,
		.remedy = "No action required if cards were replaced or swapped, or bus numbers "
			  "changed; partitions and inventories that list GUIDs need the new one. "
			  "To end the finding, run: rdma-node-agent expect accept {device}. It "
			  "resolves after 24 hours.",
		.message_id = "ac08723d7d7344158c3705fa87d9496a",
	},
	[RNA_RULE_FUNCTION_WITHOUT_DEVICE] = {
		.name = "function-without-device",
		.severity = RNA_SEVERITY_CRITICAL,
		.scope = RNA_RULE_OF_NODE,
		.settles = true,
		.hold = "1m",
		.help = "A PCI function of a NIC has no RDMA device, although the same functions of "
			"other cards of its model have one. Severity warning if fewer than two "
			"have one, or fewer than have none, or if only the loaded module mlx5_ib "
			"speaks for a device; info if RDMA is turned off for the function.",
		.check = rna_check_function_without_device,
		.remedy = "Search the kernel log for {pci}: the firmware of the card, or the probe "
			  "of its RDMA driver, may have failed. If the function is not meant to "
			  "have an RDMA device, add its PCI address to devices.exclude.",
		.message_id = "db940a0dfee942b686f2502017c6a048",
		.condition = RNA_CONDITION_DEVICE_MISSING,
	},
	[RNA_RULE_RDMA_ABSENT] = {
		.name = "rdma-absent",
		.severity = RNA_SEVERITY_CRITICAL,
		.scope = RNA_RULE_OF_NODE,
		.settles = true,
		.hold = "1m",
		.help = "A node with NICs that are meant for RDMA has no RDMA device at all: NICs "
			"of InfiniBand, Omni-Path or EFA, or, beside data centre GPUs, ConnectX "
			"that are near GPUs or at least four. Severity warning without data centre "
			"GPUs.",
		.check = rna_check_rdma_absent,
		.remedy = "Run: modprobe --all ib_uverbs mlx5_ib (or the RDMA driver of these "
			  "NICs), and search the kernel log for errors of the driver. If the node "
			  "is not meant to use RDMA, add rdma-absent to health.disable.",
		.message_id = "ce66a4b899e8435aa8b235f2d5609451",
		.condition = RNA_CONDITION_DEVICE_MISSING,
	},
	[RNA_RULE_NOTHING_WATCHED] = {
		.name = "nothing-watched",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_NODE,
		.settles = true,
		.hold = "1m",
		.help = "The node has RDMA devices, and the settings exclude all of them.",
		.check = rna_check_nothing_watched,
		.remedy = "Correct devices.include and devices.exclude. On nodes that need no "
			  "monitoring, do not run the agent.",
		.message_id = "0afe3761aef64247b4260fe7e8be3e94",
		.condition = RNA_CONDITION_NOT_OBSERVED,
	},
	[RNA_RULE_EXPECT_UNMATCHED] = {
		.name = "expect-unmatched",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_NODE,
		.settles = true,
		.hold = "1m",
		.help = "An entry of expect.up or expect.down matches no port of this node.",
		.check = rna_check_expect_unmatched,
		.remedy = "Correct the entry; rdma-node-agent status lists the devices, ports and "
			  "interfaces of this node. If the device should be there, look for it "
			  "with lspci and in the kernel log.",
		.message_id = "dbb07032892b465c90f91d32e849a981",
	},
	[RNA_RULE_LINK_DEGRADED] = {
		.name = "link-degraded",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "30s",
		.help = "The link is up, but slower than it was before or than most such ports, or "
			"with fewer lanes or a lower speed than it supports.",
		.check = rna_check_link_degraded,
		.remedy = "Reseat or replace the cable of {object}, and compare the speed "
			  "configured at both ends.",
		.message_id = "d7007c37fcf549da976ee3595e115aa1",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_PLANE_DOWN] = {
		.name = "plane-down",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "30s",
		.help = "The port of a multi-plane card is up, but not all of its planes are: the "
			"port has a part of its bandwidth.",
		.check = rna_check_plane_down,
		.remedy = "Check the cable and the transceivers of {object}, and its switch ports: "
			  "each plane has a link of its own.",
		.message_id = "cf4d77009bb04345b6317bfb12656c48",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_LINK_LIMITED] = {
		.name = "link-limited",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "30s",
		.help = "One end limits an InfiniBand link: the peer port supports less than this "
			"port, or one of the two is configured for less than both support.",
		.check = rna_check_link_limited,
		.remedy = "No action required if this is intended. Otherwise use another switch "
			  "port, or configure both ends alike (ibportstate, switch configuration).",
		.message_id = "8cba2abe2e2e42e88828fac405fa4e81",
	},
	[RNA_RULE_CABLE_MOVED] = {
		.name = "cable-moved",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.lately = 24 * 60 * 60 * RNA_USEC_PER_SEC,
		.hold = "0s",
		.help = "The cable of an InfiniBand port was moved to another port of the fabric "
			"within the last 24 hours.",
		.check = rna_check_cable_moved,
		.remedy = "Compare with the cabling plan; a rail in the wrong leaf switch sends "
			  "its traffic across the spine. The finding resolves after 24 hours.",
		.message_id = "83c23fbc7c2a42e2af34c674b2031106",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_SUBNET_MANAGER_CHANGED] = {
		.name = "subnet-manager-changed",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_PORT,
		.lately = 60 * 60 * RNA_USEC_PER_SEC,
		.hold = "0s",
		.help = "The master subnet manager of an InfiniBand port changed within the last "
			"hour.",
		.check = rna_check_subnet_manager_changed,
		.remedy = "No action required if the previous subnet manager was stopped. "
			  "Otherwise read the logs of both: two that take turns disturb the "
			  "fabric.",
		.message_id = "d7f5b901499b40da851a018c788d7ca2",
	},
	[RNA_RULE_SUBNET_MANAGER_UNHEALTHY] = {
		.name = "subnet-manager-unhealthy",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.slow = true, /* three queries without an answer */
		.hold = "30s",
		.help = "The subnet manager of an active InfiniBand port no longer answers, or "
			"reports that it is not master.",
		.check = rna_check_subnet_manager_unhealthy,
		.remedy = "Query it with sminfo -C {device} -P {port}, and check the host that it "
			  "runs on. Established traffic continues without it, but no port comes "
			  "up and no path is repaired.",
		.message_id = "54c330b3758a4a93aeec1cdbffdf0d6a",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_PKEY_DEFAULT_MISSING] = {
		.name = "pkey-default-missing",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "30s",
		.help = "An active InfiniBand port is not a member, full or limited, of the "
			"default partition (P_Key 0x7fff), which subnet administration uses.",
		.check = rna_check_pkey_default_missing,
		.remedy = "Check the partitions of the subnet manager (partitions.conf, UFM); "
			  "usually every port is at least a limited member.",
		.message_id = "66cd69b911434099bf6c2d22763cf594",
		.condition = RNA_CONDITION_PORT_UNREACHABLE,
	},
	[RNA_RULE_RAILS_PKEYS] = {
		.name = "rails-pkeys",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "30s",
		.help = "The P_Key table of an active InfiniBand port differs from that of most "
			"such ports on cards of its model, in partitions, membership or order. "
			"Applications select a P_Key by its index or take the first full one.",
		.check = rna_check_rails_pkeys,
		.remedy = "Compare the partitions of {object} in the subnet manager "
			  "(partitions.conf, UFM) with those of the other ports of this node, by "
			  "port GUID. If the difference is intended, add rails-pkeys to "
			  "health.disable.",
		.message_id = "f3346f4f2623479cb19c66ec18e766bc",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_PORT_FLAPPING] = {
		.name = "port-flapping",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s",
		.help = "The port went down more often than its threshold allows.",
		.devices_too = true,
		.check = rna_check_threshold,
		.remedy = "Replace the cable or a transceiver of {object}, and check the peer "
			  "port.",
		.message_id = "cd4f5a650edc42259f52521f0b7ea57b",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_ERRORS_RISING] = {
		.name = "errors-rising",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s",
		.help = "An error counter rises faster than its threshold allows.",
		.devices_too = true,
		.check = rna_check_threshold,
		.remedy = "If the counters of the link rise, start with the cable and the "
			  "transceivers; if packets are lost, with the fabric.",
		.message_id = "31e6b24379f8455e95101b7cd955b72e",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_ACKNOWLEDGEMENTS_MISSING] = {
		.name = "acknowledgements-missing",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s",
		.help = "Peers do not acknowledge in time, which alone is a fault at the far end. "
			"Severity warning if peers that answer report lost packets as well.",
		.devices_too = true,
		.check = rna_check_acknowledgements_missing,
		.remedy = "Look for a peer that is down or overloaded; other nodes that talk to it "
			  "have the same finding. {object} needs no repair.",
		.message_id = "5a0298e8c2c140a4b11ecb1824902fc3",
	},
	[RNA_RULE_PACKETS_LOST] = {
		.name = "packets-lost",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s",
		.help = "More packets of a port are lost than its threshold allows for the traffic: "
			"on their way to or from peers, or by the port itself, which drops what "
			"it receives.",
		.devices_too = true,
		.check = rna_check_threshold,
		.remedy = "Compare {object} with its siblings and with other nodes. If one port "
			  "loses packets, check its cable, and the discards and the buffers of "
			  "its switch port; if many do, the ECN thresholds and the PFC of the "
			  "fabric. If receive discards rise, see the findings pcie-* and "
			  "pause-transmitted of this host.",
		.message_id = "3a07d77cbd33463589f64060b684a9c0",
	},
	[RNA_RULE_COUNTER_SATURATED] = {
		.name = "counter-saturated",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s",
		.help = "A counter has reached its maximum and stopped; further errors are not "
			"counted. Severity warning if a threshold watches the counter.",
		.check = rna_check_counter_saturated,
		.remedy = "If UFM or another performance manager reads the counters of this "
			  "fabric, they are its own: leave them. Otherwise reset those of "
			  "{object}, for example with perfquery -R.",
		.message_id = "f8b39f00f8d14039bb8deece995d4219",
	},
	[RNA_RULE_CONGESTION_IGNORED] = {
		.name = "congestion-ignored",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s",
		.help = "The port receives congestion notifications and does not react to them.",
		.devices_too = true,
		.check = rna_check_threshold,
		.remedy = "Enable the DCQCN reaction point for the priority in use, at both ends.",
		.message_id = "999ac24655fc4fbd8cd5959fa236443e",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_PAUSE_STORM] = {
		.name = "pause-storm",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s",
		.help = "An Ethernet port sent pause frames for so long that its device raised an "
			"alarm; critical if the device turned flow control off.",
		.check = rna_check_threshold,
		.remedy = "Find out why the host does not accept packets: a process stuck with "
			  "its memory, PCIe errors, a GPU that fell off the bus. Until then keep "
			  "jobs off this node, because the pauses spread through the network.",
		.message_id = "8d7cb7cc8a254b8cbbd0e9aa1d5e64d2",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_PAUSE_TRANSMITTED] = {
		.name = "pause-transmitted",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s",
		.help = "An Ethernet port makes the network pause for more than a tenth of the "
			"time: this host is too slow.",
		.check = rna_check_threshold,
		.remedy = "Compare this host with its siblings: PCIe link of the NIC {pci}, NUMA "
			  "node of the memory in use, IOMMU and ACS settings, firmware of host "
			  "and NIC.",
		.message_id = "0e5f9f7b6f2b4f7caa24c9b6cf1e40f3",
	},
	[RNA_RULE_PAUSE_RECEIVED] = {
		.name = "pause-received",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s",
		.help = "The network makes an Ethernet port pause for more than a tenth of the "
			"time: the network is congested.",
		.check = rna_check_threshold,
		.remedy = "No action required on this host. Look for the port that causes it, "
			  "which sends pause frames and receives none, and check the ECN "
			  "thresholds of the switches.",
		.message_id = "7b1e4a3cf2d548d5a5c0a8e27a1f9b64",
	},
	[RNA_RULE_GID_MISSING] = {
		.name = "gid-missing",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "30s",
		.help = "The GID table of an active port is empty; no connection can use the port.",
		.check = rna_check_gid_missing,
		.remedy = "Check that the network interface {interface} is up and in this network "
			  "namespace.",
		.message_id = "3a59d7b02dbd44109daba40e783915ca",
		.condition = RNA_CONDITION_PORT_UNREACHABLE,
	},
	[RNA_RULE_GID_ROCE_V1_ONLY] = {
		.name = "gid-roce-v1-only",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "30s",
		.help = "All GIDs of an active port are RoCE v1, which cannot be routed.",
		.check = rna_check_gid_roce_v1_only,
		.remedy = "Enable RoCE v2 in the driver or the firmware (cma_roce_mode, mlxconfig "
			  "ROCE_MODE).",
		.message_id = "0bc8bac461a34f67b26407d55860649e",
		.condition = RNA_CONDITION_PORT_UNREACHABLE,
	},
	[RNA_RULE_GID_LINK_LOCAL_ONLY] = {
		.name = "gid-link-local-only",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "30s",
		.help = "All GIDs of an active RoCE port are link-local, although its interface "
			"has an address or its addresses are unknown.",
		.check = rna_check_gid_link_local_only,
		.remedy = "Assign an IP address to {interface}. If it has one, run: ip link set "
			  "dev {interface} down && ip link set dev {interface} up.",
		.message_id = "c178507e72ab4f93b5bf4c3c1baffebe",
		.condition = RNA_CONDITION_PORT_UNREACHABLE,
	},
	[RNA_RULE_GID_NCCL_INDEX_MOVED] = {
		.name = "gid-nccl-index-moved",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "30s",
		.help = "NCCL uses another GID index than before. The finding resolves after 24 "
			"hours, or when the previous index is back.",
		.check = rna_check_gid_nccl_index_moved,
		.remedy = "Jobs that set NCCL_IB_GID_INDEX need the new index, or must not set "
			  "it; rdma-node-agent status --gids shows the table.",
		.message_id = "9daa3e9b96d74aa9bd559158af883e92",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_GID_RAILS_DISAGREE] = {
		.name = "gid-rails-disagree",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "30s",
		.help = "NCCL uses another GID index on this port than on most ports of the same "
			"model.",
		.check = rna_check_gid_rails_disagree,
		.remedy = "Do not set NCCL_IB_GID_INDEX on this node, or configure the addresses "
			  "of all rails alike.",
		.message_id = "9ec37f617a694d44bf89cbad4c4d314e",
	},
	[RNA_RULE_NETDEV_DOWN] = {
		.name = "netdev-down",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "30s",
		.help = "The network interface of an active port is down.",
		.check = rna_check_netdev_down,
		.remedy = "Run: ip link set dev {interface} up.",
		.message_id = "5f52137f3b614cf29460416e13a57562",
		.condition = RNA_CONDITION_PORT_UNREACHABLE,
	},
	[RNA_RULE_NETDEV_NO_ADDRESS] = {
		.name = "netdev-no-address",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "30s",
		.help = "The network interface of an active RoCE port has no IP address, so its "
			"GIDs are link-local. Severity info if the device has virtual functions, "
			"which pods use instead.",
		.check = rna_check_netdev_no_address,
		.remedy = "Assign an IP address to {interface}. If RDMA is not used on {device}, "
			  "add it to devices.exclude.",
		.message_id = "3f11c264b7cd4c6bbe0df2d8d7b8c16d",
		.condition = RNA_CONDITION_PORT_UNREACHABLE,
	},
	[RNA_RULE_MTU_LOW] = {
		.name = "mtu-low",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "30s",
		.help = "The active RDMA MTU is smaller than the largest that the port supports.",
		.check = rna_check_mtu_low,
		.remedy = "No action required. For full performance raise the MTU of {interface}, "
			  "or of the partition of the subnet, along the whole path.",
		.message_id = "b25e74ddacb64925abb0f0590d963c7b",
	},
	[RNA_RULE_BOND_MEMBER_LOST] = {
		.name = "bond-member-lost",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "0s",
		.help = "A member of the bond of an RDMA port has no link; the port stays active.",
		.check = rna_check_bond_member_lost,
		.remedy = "Check the cable and the switch port of that member.",
		.message_id = "52aa1d09ddfd4c82be1121bf77354bf0",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_LACP_PARTNER_MISSING] = {
		.name = "lacp-partner-missing",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "1m", /* churn detection of IEEE 802.1AX */
		.help = "The bond of an RDMA port speaks LACP (mode 802.3ad) and no switch "
			"answers: the bond uses one of its members, whichever have a link.",
		.check = rna_check_lacp_partner_missing,
		.remedy = "Configure the switch ports of {interface} as one LACP port channel (on "
			  "two switches: an MLAG), or the bond for another mode.",
		.message_id = "b6e0a4cb6ac34955845bdf7ab83a8cbf",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_LACP_AGGREGATORS_DIFFER] = {
		.name = "lacp-aggregators-differ",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "1m", /* as above */
		.help = "Members of the bond of an RDMA port have a link and are in different LACP "
			"aggregators. The bond uses one aggregator; members in others carry no "
			"traffic.",
		.check = rna_check_lacp_aggregators_differ,
		.remedy = "Compare the switch ports of the members of {interface}: all belong to "
			  "one port channel, and two switches need an MLAG with one system MAC "
			  "address. /proc/net/bonding/{interface} has the partner of each member.",
		.message_id = "0dc7ad1c68a842c1ab0d93715282c62e",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_LACP_MEMBER_INACTIVE] = {
		.name = "lacp-member-inactive",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "1m", /* as above */
		.help = "A member of the bond of an RDMA port has a link and is in the bond's LACP "
			"aggregator, but one end does not collect or distribute: the member "
			"carries no traffic.",
		.check = rna_check_lacp_member_inactive,
		.remedy = "Look at the LACP state of the switch port: it may be suspended, in "
			  "standby (a limit of active links), or configured unlike its siblings.",
		.message_id = "c9dbe643f45a46c9a90d0d34264a56c3",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_BOND_UNMONITORED] = {
		.name = "bond-unmonitored",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "30s",
		.help = "The bond of an RDMA port monitors no links (miimon and arp_interval are "
			"0). If a member loses its link, the bond and RDMA keep using it.",
		.check = rna_check_bond_unmonitored,
		.remedy = "Run: ip link set dev {interface} type bond miimon 100, and set it in the "
			  "configuration of the network.",
		.message_id = "92d1b52fc89a4e8ab006eba68a51ec88",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_GATEWAY_UNREACHABLE] = {
		.name = "gateway-unreachable",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "90s", /* two readings */
		.help = "A gateway of an active RoCE port does not answer ARP or neighbour "
			"discovery, within the last quarter of an hour. Not known unless "
			"something uses the gateway, or gateways.probe is true; ports without "
			"gateways have no finding.",
		.check = rna_check_gateway_unreachable,
		.remedy = "Compare the route with ip route show table all dev {interface}, and the "
			  "VLAN and the gateway interface of the switch port with those of the "
			  "sibling rails. To try again, ping the gateway.",
		.message_id = "404bb6f4855c420a8e6e2f29af0a4bc3",
		.condition = RNA_CONDITION_PORT_UNREACHABLE,
	},
	[RNA_RULE_NEIGHBOUR_TABLE_FULL] = {
		.name = "neighbour-table-full",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_NODE,
		.hold = "0s",
		.help = "The kernel's table of neighbours (ARP, neighbour discovery) refused an "
			"entry within the last quarter of an hour, or refused entries since boot "
			"and is full now. Connections to new peers fail.",
		.check = rna_check_neighbour_table_full,
		.remedy = "Raise net.ipv4.neigh.default.gc_thresh2 and gc_thresh3 (of IPv6: "
			  "net.ipv6.neigh.default) beyond the number of peers and pods that the "
			  "node talks to, for example to 8192 and 16384, in the host's network "
			  "namespace (sysctl, /etc/sysctl.d).",
		.message_id = "60124e6ceb464aa8a33dc4ed0985d75c",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_PCIE_DEGRADED] = {
		.name = "pcie-degraded",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_DEVICE,
		.hold = "6m", /* so that two readings say it: links are trained anew now and then */
		.help = "A PCIe link between a device and its root port runs at a lower speed or "
			"with fewer lanes than both of its ends support. Severity info if only "
			"the speed is lower and the ports behind the link together need no more.",
		.check = rna_check_pcie_degraded,
		.remedy = "Reseat the card, its riser or its cable, and check the firmware setup "
			  "for a limit of the slot. lspci -vv -s {pci} shows LnkCap and LnkSta.",
		.message_id = "ad3299798a0648ef8356da94dffec3ec",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_PCIE_LIMITS_PORT] = {
		.name = "pcie-limits-port",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_PORT,
		.hold = "6m",
		.help = "The PCIe path of an active port carries less than the port, or one of its "
			"links carries less than all ports behind it need together, although every "
			"link of the path runs at its best.",
		.check = rna_check_pcie_limits_port,
		.remedy = "No action required if the node was planned like this. Otherwise move "
			  "the card to a slot with more lanes or a newer generation.",
		.message_id = "6c165daa4db6461c8236fe421bf2073a",
	},
	[RNA_RULE_PCIE_ERRORS] = {
		.name = "pcie-errors",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_DEVICE,
		.hold = "0s",
		.help = "PCIe errors (AER) between a device and its root port rise faster than "
			"their threshold allows.",
		.check = rna_check_pcie_errors,
		.remedy = "Search the kernel log for AER and the function it names. Reseat the "
			  "card or its riser, and update the firmware of card and host.",
		.message_id = "dff6f97996ad4881bb816d60f5916cf9",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_PCIE_STALLED] = {
		.name = "pcie-stalled",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s",
		.help = "A device repeatedly waits for host memory, or drops packets because of "
			"it.",
		.check = rna_check_threshold,
		.remedy = "Check the PCIe link of {device} (findings pcie-*), relaxed ordering "
			  "and the maximum read request (lspci -vv -s {pci}), and what else uses "
			  "the same root port or NUMA node.",
		.message_id = "c3a5d0f64b8e49d09d0a8dbd9f2b7c15",
	},
	[RNA_RULE_PCIE_READ_REQUEST] = {
		.name = "pcie-read-request",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_DEVICE,
		.hold = "90s",
		.help = "ConnectX ports of 100 Gb/s or more read less than 4096 bytes of memory at a "
			"time (MaxReadReq). Severity warning, of a device, if most cards of its "
			"model read more.",
		.check = rna_check_pcie_read_request,
		.remedy = "No action required if the bandwidth suffices. To set 4096 bytes, read "
			  "the register by setpci -s {pci} CAP_EXP+8.w and write it with 5 "
			  "as its first digit, after each boot; or use the setting of the BIOS.",
		.message_id = "089996be4c994d009c3c95181c2ea06d",
	},
	[RNA_RULE_GPUDIRECT_REDIRECTED] = {
		.name = "gpudirect-redirected",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_DEVICE,
		.hold = "90s", /* scripts that turn it off run late in the boot */
		.help = "ACS of a PCIe switch port between a NIC and a GPU redirects their traffic "
			"to the root port, which slows GPUDirect RDMA down or makes it hang. Not "
			"in virtual machines, which need ACS.",
		.check = rna_check_gpudirect_redirected,
		.remedy = "Turn ACS off on the ports of the switch above {pci} (setpci -s PORT "
			  "ECAP_ACS+0x6.w=0000, after each boot; or the kernel parameter "
			  "pci=disable_acs_redir).",
		.message_id = "f79f8725c52a4664b65380885e25173d",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_GPUDIRECT_NOT_READY] = {
		.name = "gpudirect-not-ready",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_NODE,
		.hold = "0s",
		.help = "A node with GPUs and RDMA devices supports no form of GPUDirect RDMA: "
			"neither a peer memory module nor dma-buf.",
		.check = rna_check_gpudirect_not_ready,
		.remedy = "Load nvidia_peermem, or install NVIDIA's driver with open kernel "
			  "modules (515 or newer) on a kernel of 5.12 or newer.",
		.message_id = "a36bc72605cf4dd5b5474e9eeb18710b",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_GPUDIRECT_ASYNC_OFF] = {
		.name = "gpudirect-async-off",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_NODE,
		.hold = "0s",
		.help = "NVIDIA's driver does not allow GPU kernels to ring NIC doorbells, which "
			"NVSHMEM's IBGDA needs.",
		.check = rna_check_gpudirect_async_off,
		.remedy = "No action required unless applications use IBGDA (DeepEP, NVSHMEM). "
			  "For these, load the driver with NVreg_EnableStreamMemOPs=1 and "
			  "NVreg_RegistryDwords=PeerMappingOverride=1.",
		.message_id = "a642b60a241244caac5a95af4f239f37",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_MODULE_MISSING] = {
		.name = "module-missing",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_NODE,
		.hold = "0s",
		.help = "A kernel module of the RDMA stack is not loaded. Severity warning if no "
			"application works without it.",
		.check = rna_check_module_missing,
		.remedy = "Load it with modprobe and list it in /etc/modules-load.d; the package "
			  "rdma-core does so by default.",
		.message_id = "100bd1c5ad6846f592bf40442499df71",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_RDMA_DRIVER_MISSING] = {
		.name = "rdma-driver-missing",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_NODE,
		.hold = "0s",
		.help = "The Ethernet driver of NICs is loaded without the module that provides "
			"their RDMA devices.",
		.check = rna_check_rdma_driver_missing,
		.remedy = "If RDMA is wanted, run: modprobe mlx5_ib. If that fails, its version "
			  "does not match that of mlx5_core.",
		.message_id = "6ec9b7be51094088b09458fb1708b59d",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_DEVICE_NODE] = {
		.name = "device-node",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_DEVICE,
		.hold = "30s",
		.help = "The file in /dev/infiniband that applications open for a device is "
			"missing. Severity info if it exists but is not open to all users, if an "
			"InfiniBand port has no umad device, or if /dev/gdrdrv is missing although "
			"the module gdrdrv is loaded.",
		.check = rna_check_device_node,
		.remedy = "Run: udevadm trigger --subsystem-match=infiniband_verbs. The mode is "
			  "0666 unless a udev rule changes it.",
		.message_id = "c6eba39512694e97beba179d1ccb7a16",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_CPU_GOVERNOR] = {
		.name = "cpu-governor",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_NODE,
		.hold = "1m",
		.help = "The kernel lowers the frequency of CPUs without load. Severity warning if "
			"it keeps the lowest frequency (powersave). Drivers that choose the "
			"frequency themselves (intel_pstate, amd-pstate-epp) are no finding.",
		.check = rna_check_cpu_governor,
		.remedy = "Run: cpupower frequency-set -g performance, or select a profile of tuned "
			  "such as throughput-performance. No action required with severity info "
			  "unless latency matters.",
		.message_id = "ccebb68457474a7fa67cd0224a864b50",
	},
	[RNA_RULE_IOMMU_TRANSLATING] = {
		.name = "iommu-translating",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_NODE,
		.hold = "0s",
		.help = "On a machine with GPUs, the IOMMU of Intel or AMD translates the addresses "
			"of RDMA devices or GPUs. Not in virtual machines.",
		.check = rna_check_iommu_translating,
		.remedy = "No action required if GPUDirect RDMA is as fast as expected. Otherwise "
			  "boot with iommu=pt, or turn the IOMMU off in the BIOS if no virtual "
			  "machine needs it.",
		.message_id = "bfc31971658f4da48352a61583b5375c",
	},
	[RNA_RULE_NETNS_EXCLUSIVE] = {
		.name = "netns-exclusive",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_NODE,
		.hold = "0s",
		.help = "RDMA devices are bound to one network namespace each (exclusive mode).",
		.check = rna_check_netns_exclusive,
		.remedy = "No action required if containers receive devices by SR-IOV or as host "
			  "devices. To share a device among containers, run: rdma system set "
			  "netns shared.",
		.message_id = "d03a4e897d27478eacde38035c01f7e6",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_MEMLOCK_LOW] = {
		.name = "memlock-low",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_NODE,
		.hold = "0s",
		.help = "A container runtime passes a low limit of locked memory (less than 1 GiB) "
			"to its containers; RDMA needs locked memory. What counts is the "
			"specification of the runtime (base_runtime_spec of containerd, "
			"default_ulimits of CRI-O, default-ulimits of Docker), then its running "
			"process, then its unit, and what running containers have.",
		.check = rna_check_memlock_low,
		.remedy = "No action required if no container uses RDMA. Otherwise set "
			  "RLIMIT_MEMLOCK in the specification (see base_runtime_spec of "
			  "containerd, default_ulimits of CRI-O, default-ulimits of Docker), or "
			  "LimitMEMLOCK=infinity in a drop-in of the unit; then restart the runtime "
			  "and recreate the containers. CAP_IPC_LOCK helps only containers that run "
			  "as root.",
		.message_id = "6f6b441aa4d84b2bb519b38fb6402d2f",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_NCCL_CONF] = {
		.name = "nccl-conf",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_NODE,
		.settles = true,
		.hold = "1m",
		.help = "/etc/nccl.conf demands of all jobs what the node does not have: an RDMA "
			"device that does not exist, a GID index without RoCE v2 on some port, an "
			"interface that does not exist. Info: it turns RDMA off, or selects a port "
			"that is down.",
		.check = rna_check_nccl_conf,
		.remedy = "Correct these lines of /etc/nccl.conf or remove them; rdma-node-agent env "
			  "--for=nccl shows what the node needs. Until then a job can set the "
			  "variables itself, which takes precedence. Containers have a file of "
			  "their own.",
		.message_id = "d24946dfff324932b27ee1c0916bf651",
	},
	[RNA_RULE_RAILS_FIRMWARE] = {
		.name = "rails-firmware",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_PORT,
		.hold = "30s",
		.help = "The firmware of a card differs from most cards of its model. Severity "
			"warning if these serve GPUs.",
		.check = rna_check_rails_firmware,
		.remedy = "Update the firmware of {device} to that of the others (mlxfwmanager -d "
			  "{pci}, or flint), and reset the card or reboot.",
		.message_id = "c96aef54b4d94199a265175a5c50765e",
	},
	[RNA_RULE_RAILS_LINK_LAYER] = {
		.name = "rails-link-layer",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_PORT,
		.hold = "30s",
		.help = "The link layer of a port differs from most ports of the same adapter "
			"model. Severity warning if these ports serve GPUs.",
		.check = rna_check_rails_link_layer,
		.remedy = "No action required if this is intended. To make {device} a rail like "
			  "the others, set its type in the firmware (mlxconfig -d {pci} set "
			  "LINK_TYPE_P1=...) and reboot.",
		.message_id = "46a3fade12214da799a8ddcf87f150d7",
	},
	[RNA_RULE_RAILS_MTU] = {
		.name = "rails-mtu",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_PORT,
		.hold = "30s",
		.help = "The MTU of the interface of a RoCE port differs from most ports of the "
			"same adapter model.",
		.check = rna_check_rails_mtu,
		.remedy = "No action required if this is intended. Otherwise configure the same "
			  "MTU on all rails, on the hosts and on the switches.",
		.message_id = "a4d7b1b2783248e99f869af578699edb",
	},
	[RNA_RULE_RAILS_IPOIB] = {
		.name = "rails-ipoib",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "90s",
		.help = "An InfiniBand port has no IPoIB interface in this network namespace, and "
			"most ports in such a place have one.",
		.check = rna_check_rails_ipoib,
		.remedy = "No action required if the interface was moved to a container or to "
			  "another network namespace, or if no application uses IP or RDMA CM on "
			  "this port. Otherwise look for messages of ib_ipoib in the kernel log, "
			  "and load the module anew: modprobe --remove ib_ipoib; modprobe "
			  "ib_ipoib. That removes the interfaces of all ports for a moment.",
		.message_id = "91dc09166dba43349f834fc16ac5b486",
	},
	[RNA_RULE_RAILS_SHARE_SUBNET] = {
		.name = "rails-share-subnet",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_NODE,
		.hold = "90s", /* two readings */
		.help = "RoCE interfaces have addresses in one IPv4 subnet, and the kernel answers "
			"ARP requests for an address by the interface of another one, or not at "
			"all. Severity info if only packets of sockets leave by another interface "
			"than that of their address, and in a virtual machine, whose network may "
			"answer ARP itself.",
		.check = rna_check_rails_share_subnet,
		.remedy = "Give each rail a subnet of its own. Or set, in net.ipv4.conf of each of "
			  "these interfaces, arp_ignore to 1 or 2, arp_announce to 2 and rp_filter "
			  "to 2, and add a routing rule and a table for each address (ip rule add "
			  "from ADDRESS table N). If the rails are networks without a connection "
			  "among each other, add rails-share-subnet to health.disable.",
		.message_id = "95572981c19646cfbbc919a49a343766",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_JUMBO_FRAMES] = {
		.name = "jumbo-frames",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_NODE,
		.hold = "30s",
		.help = "RoCE interfaces have an MTU that is large enough for RDMA but below 9000.",
		.check = rna_check_jumbo_frames,
		.remedy = "No action required for RDMA. If TCP uses the same interfaces, set the "
			  "MTU to 9000 here and on the switches.",
		.message_id = "2a679eddff8e4388a0e4723187c34c9d",
	},
	[RNA_RULE_RAILS_VIRTUAL_FUNCTIONS] = {
		.name = "rails-virtual-functions",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_PORT,
		.hold = "30s",
		.help = "The number of virtual functions of a device differs from most devices of "
			"the same adapter model.",
		.check = rna_check_rails_virtual_functions,
		.remedy = "No action required if this is intended. Otherwise configure all "
			  "devices alike (sriov_numvfs, or the policy of the SR-IOV operator).",
		.message_id = "cac8c29c50184e8fa3b6319b6ac6af5c",
	},
	[RNA_RULE_QOS_RAILS] = {
		.name = "qos-rails",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "30s",
		.help = "The QoS configuration of an active RoCE port differs from most ports of "
			"the same adapter model, or between members of its bond: PFC, trust, DSCP "
			"table, ETS, ECN or traffic class.",
		.check = rna_check_qos_rails,
		.remedy = "Configure all rails with the same script (mlnx_qos -i {netdev}, dcb, "
			  "or the vendor's tool), and check that the switch port matches.",
		.message_id = "c1a7f7bb24e04a0393ec4f0700b50195",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_QOS_DRIFT] = {
		.name = "qos-drift",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "30s",
		.help = "The QoS configuration of an active RoCE port, or of a member of its "
			"bond, differs from qos.expect.",
		.check = rna_check_qos_drift,
		.remedy = "Run the script that configures the NICs of this fabric, and find out "
			  "what changed {netdev}: a reload of the driver, or a DCBX agent.",
		.message_id = "8442987bc0fc49ab877433bbd6f87996",
	},
	[RNA_RULE_QOS_LOSSY_CLASS] = {
		.name = "qos-lossy-class",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "30s",
		.help = "The driver assigns RoCE packets a traffic class that maps to a priority "
			"without PFC, although another priority has PFC.",
		.check = rna_check_qos_lossy_class,
		.remedy = "Set the traffic class to 4 x DSCP, with a DSCP that maps to the "
			  "lossless priority (rdma_port_priority_dscp_info lists them), or map "
			  "its DSCP to that priority.",
		.message_id = "427ebf48165f4f299cbfea123693f1dd",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_QOS_LOSSLESS_DISCARDS] = {
		.name = "qos-lossless-discards",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s",
		.help = "A RoCE port, or a member of its bond, drops frames of a priority that "
			"PFC should make lossless.",
		.check = rna_check_qos_lossless_discards,
		.remedy = "Check that the switch port has PFC on for the same priority and "
			  "honours pause frames, that the receive buffer of {netdev} is large "
			  "enough for the length of the cable, and that no pause storm made the "
			  "device turn flow control off.",
		.message_id = "6d0c3f1be7a24c5f9a18d2b4470e9c36",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_QOS_PFC_PRIORITIES] = {
		.name = "qos-pfc-priorities",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_NODE,
		.hold = "30s",
		.help = "Active RoCE ports have PFC on for no priority, or for several. On nodes "
			"with GPUs only the ports that serve GPUs count.",
		.check = rna_check_qos_pfc_priorities,
		.remedy = "No action required if the fabric was planned like this: without PFC it "
			  "relies on ECN alone, and each further lossless priority takes buffer "
			  "space from the others.",
		.message_id = "0968e0e879a54268ad05aa081edaba43",
	},
	[RNA_RULE_QOS_VLAN_MTU] = {
		.name = "qos-vlan-mtu",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_PORT,
		.hold = "30s",
		.help = "The MTU of a VLAN interface limits its RDMA MTU to less than that of the "
			"port.",
		.check = rna_check_qos_vlan_mtu,
		.remedy = "No action required if this is intended. Otherwise set the MTU of the "
			  "VLAN interface to that of {interface}.",
		.message_id = "3b6b00af1e514331a8324de88de49aa9",
	},
	[RNA_RULE_VIRTUAL_FUNCTION_GUID] = {
		.name = "virtual-function-guid",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_DEVICE,
		.hold = "5m", /* operators bind first and configure then */
		.help = "Virtual functions of an InfiniBand device have a driver but no GUID; "
			"their ports stay down in any virtual machine or container.",
		.check = rna_check_virtual_function_guid,
		.remedy = "Assign GUIDs (ip link set dev {netdev} vf N node_guid G, then "
			  "port_guid G, or the policy of the SR-IOV operator), and rebind the "
			  "driver of the functions.",
		.message_id = "a42a610c83354e3aa17750564ac83df1",
	},
	[RNA_RULE_VIRTUAL_FUNCTION_LINK] = {
		.name = "virtual-function-link",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_DEVICE,
		.hold = "5m",
		.help = "Virtual functions have a driver, but their link is administratively down.",
		.check = rna_check_virtual_function_link,
		.remedy = "No action required if this is intended. Otherwise run: ip link set dev "
			  "{netdev} vf N state auto, or change linkState in the policy of the "
			  "SR-IOV operator.",
		.message_id = "f004fd0c23cb4d52b0f64cbfcf421818",
	},
	[RNA_RULE_MODULE_TEMPERATURE] = {
		.name = "module-temperature",
		.severity = RNA_SEVERITY_CRITICAL,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s",
		.help = "The temperature of a transceiver is above the module's alarm threshold "
			"(warning: above its warning threshold).",
		.check = rna_check_module_temperature,
		.remedy = "Check the fans and the airflow of the node. Replace a module that is "
			  "hot next to cool ones.",
		.message_id = "55ff0b33c9b64a98a6120e7a953c4e58",
	},
	[RNA_RULE_MODULE_VOLTAGE] = {
		.name = "module-voltage",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "0s",
		.help = "The supply voltage of a transceiver is beyond the module's alarm "
			"threshold (info: beyond its warning threshold).",
		.check = rna_check_module_voltage,
		.remedy = "Reseat the module. If other modules of {device} or of the node have "
			  "the same voltage, the card or its slot supplies it; otherwise replace "
			  "the module.",
		.message_id = "8869502a3d654b83bc1815e2ee3aa4d6",
	},
	[RNA_RULE_MODULE_LIGHT] = {
		.name = "module-light",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "0s",
		.help = "Rx power, Tx power or laser bias of a lane of an active port is beyond "
			"the module's alarm threshold (info: beyond its warning threshold).",
		.check = rna_check_module_light,
		.remedy = "Clean the connectors and check the fibre for bends. Compare with the "
			  "module at the other end, and replace the one with low Tx power.",
		.message_id = "b1cd258c1d974519be8d86b01381b630",
	},
	[RNA_RULE_MODULE_LANE] = {
		.name = "module-lane",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "0s",
		.help = "The Rx power of one lane of an active port is less than half of that of "
			"the other lanes.",
		.check = rna_check_module_lane,
		.remedy = "No action required yet. When the node is serviced, clean the "
			  "connectors of this fibre: a weak lane causes errors as soon as it gets "
			  "warmer.",
		.message_id = "a31a83161f9b462a9a4844db6f89580a",
	},
	[RNA_RULE_DEVICE_STALLED] = {
		.name = "device-stalled",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_DEVICE,
		.hold = "0s",
		.help = "A device does not answer: a read has exceeded its deadline; critical "
			"after two minutes.",
		.check = rna_check_device_stalled,
		.remedy = "Search the kernel log for firmware command timeouts. If {device} does "
			  "not recover, it needs a reset, or the node a reboot.",
		.message_id = "8f21be3837d448218e88dab50f91eeff",
		.condition = RNA_CONDITION_NOT_OBSERVED,
	},
	[RNA_RULE_READS_FAILING] = {
		.name = "reads-failing",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_DEVICE,
		.hold = "30s",
		.help = "A collector fails for a device, or the state of a port cannot be read, "
			"so its health is unknown.",
		.check = rna_check_reads_failing,
		.remedy = "See rdma_collector_errors_total and the kernel log for the reason; a "
			  "container may lack the right to read.",
		.message_id = "2eac4e1b40fc489b86d81e91c56a71be",
		.condition = RNA_CONDITION_NOT_OBSERVED,
	},
	[RNA_RULE_DATA_TOO_OLD] = {
		.name = "data-too-old",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_DEVICE,
		.hold = "15s", /* a device that answers again is read anew in its turn */
		.help = "The data of a device is older than three polling periods although no "
			"read failed.",
		.check = rna_check_data_too_old,
		.remedy = "Check for stalled devices (see lanes.max) and for a shortage of CPU "
			  "time.",
		.message_id = "5544d516e6684b0686734dbc14cd12d9",
		.condition = RNA_CONDITION_NOT_OBSERVED,
	},
	[RNA_RULE_RESOURCES_MISSING] = {
		.name = "resources-missing",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_NODE,
		.hold = "0s", /* the Node is looked at rarely */
		.help = "Device plugins advertise none, or fewer, of the RDMA resources that the "
			"node has. Checked with kubernetes.backend api or both.",
		.check = rna_check_resources_missing,
		.remedy = "Read the logs of the device plugin on this node and of the kubelet; "
			  "kubectl describe node shows the allocatable resources.",
		.message_id = "96b6569d987a4a24a205a717a8c17dc5",
		.condition = RNA_CONDITION_RESOURCES_MISSING,
	},
	[RNA_RULE_SELFTEST_FAILED] = {
		.name = "selftest-failed",
		.severity = RNA_SEVERITY_CRITICAL,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s", /* two tests are half an hour apart, or more */
		.help = "Two consecutive self-tests with the same kind of memory failed or were "
			"far too slow, or one returned corrupted data. Slow memory of another "
			"NUMA node has severity info.",
		.check = rna_check_selftest_failed,
		.remedy = "Check {device} for a PCIe link that lost lanes or speed (status, lspci "
			  "-vv -s {pci}), for ACS and the IOMMU, and for throttling. To test "
			  "again, run: rdma-node-agent selftest --device {device}.",
		.message_id = "9cd09d1d63f14de389a5a08608639f2b",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_SELFTEST_SLOW] = {
		.name = "selftest-slow",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s",
		.help = "Two consecutive self-tests with the same kind of memory moved less data "
			"than the port and its PCIe path allow, or less than its siblings. Memory "
			"of another NUMA node has severity info.",
		.check = rna_check_selftest_slow,
		.remedy = "Compare with a healthy node: PCIe settings (maximum read request and "
			  "payload, relaxed ordering), NUMA placement, CPU power management. To "
			  "test again, run: rdma-node-agent selftest --device {device}.",
		.message_id = "ee27e87824b941748073477729982d96",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_SELFTEST_STUCK] = {
		.name = "selftest-stuck",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s", /* it had all the time that it could need */
		.help = "A self-test hangs in the kernel and cannot be stopped; its device is not "
			"tested until it ends.",
		.check = rna_check_selftest_stuck,
		.remedy = "Search the kernel log for driver timeouts. {device} may need a reset; "
			  "drain the node first.",
		.message_id = "6f6c13aeb72146e79de440ac62a7d7c5",
		.condition = RNA_CONDITION_NOT_OBSERVED,
	},
	[RNA_RULE_PROBE_UNREACHABLE] = {
		.name = "probe-unreachable",
		.severity = RNA_SEVERITY_CRITICAL,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s", /* three seconds of silence, and the peers were asked */
		.help = "Probes from a port to all its peers are not answered, although the agents "
			"of these peers say that they run, and other ports of this node are "
			"answered: the NIC, its cable or its leaf port does not forward. Only with "
			"probe.enabled.",
		.check = rna_check_probe_unreachable,
		.remedy = "See the leaf port of {device}/{port} on the switch: counters, VLAN, MTU, "
			"PFC watchdog. Then reseat or replace the cable and its transceivers, then "
			"reset {device}. rdma-node-agent probe shows each path.",
		.message_id = "b84fa73b222545478f5e541b4ca555dc",
		.condition = RNA_CONDITION_PORT_UNREACHABLE,
	},
	[RNA_RULE_PROBE_PEER_UNREACHABLE] = {
		.name = "probe-peer-unreachable",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s",
		.help = "Probes from a port to some of its peers are not answered, although the "
			"agents of these peers say that they run. The other ends report "
			"probe-unreachable if it is their port.",
		.check = rna_check_probe_peer_unreachable,
		.remedy = "No action required if the peer has probe-unreachable itself. Otherwise "
			"look for a path between the leaves of both ends that does not forward: "
			"rdma-node-agent probe --wide lists the peers and their leaves.",
		.message_id = "87d8545306de46038aebed06d5b5c694",
	},
	[RNA_RULE_PROBE_LOSS] = {
		.name = "probe-loss",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s", /* the losses are next to impossible on a sound path */
		.help = "A port loses probes to or from a third of its peers or more, two at "
			"least. Severity info if only single paths lose, which may be of their "
			"other ends.",
		.check = rna_check_probe_loss,
		.remedy = "Compare the error and discard counters of {device} and of its leaf port "
			"(status, findings errors-rising and packets-lost). Clean or replace the "
			"cable and its transceivers; on the switch look for discards of the "
			"traffic class of the probes.",
		.message_id = "533f4bd69b2048758a698a3673e9eb58",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_PROBE_MTU_HOLE] = {
		.name = "probe-mtu-hole",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s",
		.help = "Probes as large as the MTU are lost on the way to a peer, while small "
			"ones come back.",
		.check = rna_check_probe_mtu_hole,
		.remedy = "Compare the MTU of all switch ports on the way: with an RDMA MTU of 4096 "
			"bytes it must be 4200 or more. If they agree, look for a port that "
			"discards by size or by a full buffer (PFC, headroom).",
		.message_id = "262562dc0f3e445aa4df1d1dbda0d776",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_PROBE_SLOW] = {
		.name = "probe-slow",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s", /* a minute */
		.help = "For a minute, round trips to a peer take more than twice as long as they "
			"usually did, and more than to the other peers.",
		.check = rna_check_probe_slow,
		.remedy = "Look for congestion (ECN marks, pause frames) or a detour on the way: "
			"rdma-node-agent probe --wide shows round trips, hop limits and ECN marks "
			"of each path.",
		.message_id = "6c0bebb068fa4d2cb2ee0f4afe8fd9db",
	},
	[RNA_RULE_PROBE_DSCP_REWRITTEN] = {
		.name = "probe-dscp-rewritten",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s", /* five in a row */
		.help = "Probes arrive with another DSCP than they left with: RoCE traffic may "
			"take the wrong queue, without PFC and ECN.",
		.check = rna_check_probe_dscp_rewritten,
		.remedy = "Set the switch ports on the way to trust DSCP and not to rewrite it; "
			"compare the leaf port of {device}/{port} with those of its sibling rails.",
		.message_id = "03add9aaa8114d37b24f95c014bdafa2",
	},
	[RNA_RULE_PROBE_DETOUR] = {
		.name = "probe-detour",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s", /* a minute */
		.help = "For a minute, probes to a peer arrive with a lower hop limit than they "
			"usually did, and those to other peers do not: they take more hops.",
		.check = rna_check_probe_detour,
		.remedy = "Look for links between leaf and spine that are down, and for changed "
			"routes. After a planned change the finding ends by itself, when the new "
			"path is the usual one.",
		.message_id = "5aa3589aa1f14e7b9b3893eca29a63b3",
	},
	[RNA_RULE_PROBE_FLOODED] = {
		.name = "probe-flooded",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s", /* each pause is a fact */
		.help = "A port received more than 2,000 packets within a second that no member "
			"made for it, or that it had received before. It is closed for five "
			"seconds, each further time for twice as long, and then has another Q_Key. "
			"The finding ends five minutes after the last pause.",
		.check = rna_check_probe_flooded,
		.remedy = "Find where the packets come from: the leaf port of {device}/{port} shows "
			"their rate, and so do the ports on their way; the address in the finding "
			"can be forged. If the port pauses each time it is opened, the sender sees "
			"packets of probes or knows their secret: look for mirror ports, and give "
			"all members another secret.",
		.message_id = "dcacbb1517714501a1d770c7127e35ba",
	},
	[RNA_RULE_FIRMWARE_FAILING] = {
		.name = "firmware-failing",
		.severity = RNA_SEVERITY_CRITICAL,
		.scope = RNA_RULE_OF_DEVICE,
		.hold = "0s",
		.help = "The driver of a NIC reports in the kernel log that the firmware does not "
			"answer, or that the device is in an error state. Info once the driver "
			"reports recovery.",
		.check = rna_check_episodes,
		.remedy = "Drain the node. Reset {device}: devlink dev reload pci/{pci} action "
			  "fw_activate, or mlxfwreset -d {pci} reset (or the tool of its vendor). "
			  "If the messages come again, update its firmware, power-cycle the node, "
			  "then replace the card.",
		.message_id = "495ef9499a3b46d18f40a3c579f1fdef",
		.condition = RNA_CONDITION_NOT_OBSERVED,
	},
	[RNA_RULE_TRANSMIT_TIMEOUT] = {
		.name = "transmit-timeout",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_DEVICE,
		.settles = true,
		.hold = "30s",
		.help = "The kernel reports a queue of a network interface that does not send. "
			"Critical if it does so at least three times in more than a minute; info "
			"after a single time from which the driver recovered.",
		.check = rna_check_episodes,
		.remedy = "Look at pause frames (ethtool -S {netdev}), at the interrupts of the "
			  "queues, and for further errors of {pci} in the kernel log. If it does "
			  "not recover, reset {device}; update firmware and driver.",
		.message_id = "9ee8d6dba0404a5d99c2b94807a47cc3",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_PCIE_ERRORS_LOGGED] = {
		.name = "pcie-errors-logged",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_DEVICE,
		.settles = true,
		.hold = "0s",
		.help = "The kernel log reports errors of the PCIe path of a NIC: AER, a link that "
			"went down, too little slot power. Where pcie-errors counts the same "
			"errors, it quotes the log instead. Info from ten corrected errors on.",
		.check = rna_check_episodes,
		.remedy = "Reseat the card or its riser, and update the firmware of card and host. "
			  "lspci -vvv -s {pci} shows the state of the link; if errors come again, "
			  "replace the card, then the riser or the board.",
		.message_id = "2140e98071ce421a8941fa69f060e169",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_MODULE_EVENT] = {
		.name = "module-event",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_DEVICE,
		.settles = true,
		.hold = "30s",
		.help = "The driver of a NIC reports in the kernel log a fault of a transceiver, a "
			"cable or a cage. Where errors-rising counts the same, it quotes the log "
			"instead. Info if no port of the device is expected to be up.",
		.check = rna_check_episodes,
		.remedy = "Reseat the transceiver or cable of {device}; if the message comes again, "
			  "replace it by one that the vendor of the NIC lists for this card.",
		.message_id = "09beb8df655841d1868b15aa7b4f4807",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_DEVICE_OVERHEATED] = {
		.name = "device-overheated",
		.severity = RNA_SEVERITY_CRITICAL,
		.scope = RNA_RULE_OF_DEVICE,
		.hold = "0s",
		.help = "The driver of a NIC reports in the kernel log that the card or one of its "
			"modules is too hot. Where module-temperature measures it, that quotes the "
			"log instead.",
		.check = rna_check_episodes,
		.remedy = "Check fans, air flow and inlet temperature of the node, and blanking "
			  "panels; compare {device} with its siblings. A card that is too hot lowers "
			  "its speed or shuts down.",
		.message_id = "9aeeb8f8131d4000b16f59b0a030a7a8",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_IOMMU_FAULT] = {
		.name = "iommu-fault",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_DEVICE,
		.hold = "0s",
		.help = "The IOMMU rejected an access of a NIC to memory: transfers fail or lose "
			"data.",
		.check = rna_check_episodes,
		.remedy = "Compare the mode of the IOMMU with that of healthy nodes (iommu=pt on the "
			  "kernel's command line), and update kernel, NIC driver and firmware of "
			  "{device}. The line of the log names the address.",
		.message_id = "0d0e4bb7e7e4498f9cdf48edde16177e",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_CPU_LOCKUP] = {
		.name = "cpu-lockup",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_DEVICE,
		.hold = "0s",
		.help = "The kernel reports a processor that was stuck in the driver of a NIC.",
		.check = rna_check_episodes,
		.remedy = "Update kernel and NIC driver. Look for an interrupt storm "
			  "(/proc/interrupts) and for errors of the same driver before it; a node "
			  "that does so again needs a reboot.",
		.message_id = "81c7508f18ac495bbd9aaae9cab23570",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_GPUDIRECT_FAILING] = {
		.name = "gpudirect-failing",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_DEVICE,
		.settles = true,
		.hold = "1m",
		.help = "The kernel log reports errors of the module through which NICs reach GPU "
			"memory. Where gpudirect-not-ready holds, it quotes the log instead.",
		.check = rna_check_episodes,
		.remedy = "Load the peer memory module of the installed GPU driver again (modprobe "
			  "-r nvidia_peermem, modprobe nvidia_peermem); both must be of one version. "
			  "dma-buf needs no such module.",
		.message_id = "6eb493168db64fc4aaeeff2767ae8f0f",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_PROTOCOL_ERRORS_LOGGED] = {
		.name = "protocol-errors-logged",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_DEVICE,
		.settles = true,
		.hold = "1m",
		.help = "The RDMA core of the kernel, or a protocol on it (IPoIB, SRP, iSER, NFS), "
			"reports errors in the kernel log. Info messages count from the third on.",
		.check = rna_check_episodes,
		.remedy = "Look at the peer that the line names, and at the subnet manager: this "
			  "node may be healthy. If only one device has the finding, compare its port "
			  "with its siblings.",
		.message_id = "536f5fee85b14e2c93c5fa7e6d5a2900",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_DRIVER_FAILING] = {
		.name = "driver-failing",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_DEVICE,
		.settles = true,
		.hold = "1m",
		.help = "The driver of a NIC reports in the kernel log that it failed at something "
			"that no other rule names, for example at its probe. Info messages count "
			"from the third on.",
		.check = rna_check_episodes,
		.remedy = "Search the kernel log for {pci}: the lines before it have the cause. "
			  "Compare the versions of driver and firmware with those of healthy nodes.",
		.message_id = "51f62479c218411884953538e4fdceda",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_KERNEL_LOG_PATTERN] = {
		.name = "kernel-log-pattern",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_NODE,
		.hold = "0s",
		.help = "The kernel log has a message that the site looks for "
			"(kernel_log.patterns). Severity and text are those of the pattern.",
		.check = rna_check_episodes,
		.remedy = "Ask those who wrote the pattern: kernel_log.patterns in the agent's "
			  "configuration file. A remedy there takes the place of this one.",
		.message_id = "58eae45f52d9442fbcaa1ce5abd44f6b",
	},
	[RNA_RULE_KERNEL_LOG_FLOOD] = {
		.name = "kernel-log-flood",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_NODE,
		.settles = true,
		.hold = "1m",
		.help = "The kernel log grows by more than 6,000 messages a minute, of any driver "
			"or program: they fill the disk and push other messages out. Resolved "
			"below half of that.",
		.check = rna_check_kernel_log_flood,
		.remedy = "Read the newest messages (dmesg, journalctl -k) and repair what repeats. "
			  "Until then watch the disk: journalctl --vacuum-size, logrotate.",
		.message_id = "1c367c8f661740188dff26930215722d",
	},
	[RNA_RULE_KERNEL_LOG_UNREAD] = {
		.name = "kernel-log-unread",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_NODE,
		.hold = "1m",
		.help = "The agent may not read the kernel log: rules about it find nothing.",
		.check = rna_check_kernel_log_unread,
		.remedy = "No action required. To let the agent read the log, install "
			  "systemd/profiles/kernel-log.conf or journal.conf, or set kernelLog.journal "
			  "of the chart. To do without, set kernel_log.source to off.",
		.message_id = "3bf6646d8f8f497988c0c52cefbedf36",
	},
	[RNA_RULE_PROFILE_UNUSABLE] = {
		.name = "profile-unusable",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_NODE,
		.hold = "1m",
		.help = "The file that expect.profile names cannot be used, or none of its profiles "
			"fits this node, or several do. The agent continues without a profile. "
			"Severity info if expect.profile is auto and no profile of the program "
			"fits.",
		.check = rna_check_profile_unusable,
		.remedy = "Run: rdma-node-agent check-config. To write a profile for this node, "
			  "run: rdma-node-agent expect profile.",
		.message_id = "ab5b2492b9094200ba0ecbcd234b34ee",
	},
	[RNA_RULE_PROFILE_NODE] = {
		.name = "profile-node",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_NODE,
		.settles = true,
		.hold = "1m",
		.help = "GPUs, kernel modules, ACS, the IOMMU or CPU governors differ from the "
			"profile of this node. Severity info, for all differences of the node "
			"together, if the profile is one of the program and expect.profile is "
			"empty.",
		.check = rna_check_profile_node,
		.remedy = "Compare the node with others of its kind, and repair it. If the profile "
			  "is wrong, correct the file of expect.profile.",
		.message_id = "c3f6a0a697ea491db94e673e0209cca8",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_PROFILE_COUNT] = {
		.name = "profile-count",
		.severity = RNA_SEVERITY_CRITICAL,
		.scope = RNA_RULE_OF_NODE,
		.settles = true,
		.hold = "1m",
		.help = "There are fewer RDMA devices, or fewer ports that are up, than the profile "
			"of this node demands. Severity warning if there are more devices, or if "
			"no device is meant by an entry without a number.",
		.check = rna_check_profile_count,
		.remedy = "Look for the absent PCI functions with lspci and for the reason in the "
			  "kernel log; check the cables of the ports that are down. If the profile "
			  "is wrong, correct the file of expect.profile.",
		.message_id = "a3a8ba2b44604e249c1145eb16e845d2",
		.condition = RNA_CONDITION_DEVICE_MISSING,
	},
	[RNA_RULE_PROFILE_DEVICE] = {
		.name = "profile-device",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_DEVICE,
		.settles = true,
		.hold = "6m", /* as pcie-degraded */
		.help = "Firmware, PCIe link, MaxReadReq or the number of virtual functions of a "
			"device differ from the profile of this node.",
		.check = rna_check_profile_device,
		.remedy = "Compare {device} with its siblings: rdma-node-agent status, and lspci "
			  "-vv -s {pci}. Update its firmware, or reseat the card. If the profile "
			  "is wrong, correct the file of expect.profile.",
		.message_id = "c407ec6982c042f999a2eefff445c741",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_PROFILE_PORT] = {
		.name = "profile-port",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "30s",
		.help = "Link layer, rate, number of lanes, MTU, P_Keys or LID of a port differ "
			"from the profile of this node. A port that is down is compared by link "
			"layer and by the MTU of its interface only.",
		.check = rna_check_profile_port,
		.remedy = "Compare {object} with its siblings: rdma-node-agent status. Check the "
			  "speed configured at both ends of the cable, the MTU of {interface}, and "
			  "the partitions of the subnet manager. If the profile is wrong, correct "
			  "the file of expect.profile.",
		.message_id = "3ed792b4cd7d4c1b88eb71c64458ab3e",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
};
/* clang-format on */

/* -- Rules by name, as settings give them ------------------------------------------------------ */

bool rna_rule_glob_is_valid(const char *text)
{
	for (size_t i = 0; i < RNA_RULE_COUNT; i++)
		if (fnmatch(text, rna_rules[i].name, 0) == 0)
			return true;
	return false;
}

void rna_rule_explain(const char *text, struct rna_strbuf *out)
{
	struct rna_hint hint = RNA_HINT_LEN(text, strcspn(text, "="));
	RNA_FREE char *glob = strndup(text, hint.word_len);

	if (!glob || *glob == '\0' || rna_rule_glob_is_valid(glob))
		return;
	for (size_t i = 0; i < RNA_RULE_COUNT; i++)
		rna_hint_offer(&hint, rna_rules[i].name, strlen(rna_rules[i].name));
	rna_hint_write(&hint, "rule", "rules", out);
}

bool rna_rule_split_hold(const char *text, char glob[RNA_RULE_GLOB_MAX], rna_usec *ret)
{
	const char *equals = strchr(text, '=');
	size_t len = equals ? (size_t)(equals - text) : 0;

	if (len == 0 || len >= RNA_RULE_GLOB_MAX)
		return false;
	memcpy(glob, text, len);
	glob[len] = '\0';
	return rna_rule_glob_is_valid(glob) && rna_duration_parse(equals + 1, ret) == 0;
}

bool rna_rule_hold_is_valid(const char *text)
{
	char glob[RNA_RULE_GLOB_MAX];
	rna_usec ignored;

	return rna_rule_split_hold(text, glob, &ignored);
}
