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
		.help = "A port is down though it is expected to be up; one that nobody expects is "
			"told at severity info.",
		.check = rna_check_port_down,
		.remedy = "Check the cable, the transceivers and the port at the other end; if the "
			  "port is meant to be down, say so in expect.down.",
		.message_id = "5da5d81fe037426182921d5601598cf5",
		.condition = RNA_CONDITION_PORT_DOWN,
	},
	[RNA_RULE_PORT_INIT] = {
		.name = "port-init",
		.severity = RNA_SEVERITY_CRITICAL,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "30s",
		.help = "The link of an InfiniBand port is up, but no subnet manager has configured "
			"it (state INIT).",
		.check = rna_check_port_init,
		.remedy = "Check that a subnet manager runs in this fabric and lets this port in: "
			  "sminfo, and the log of opensm or UFM.",
		.message_id = "4e275faaf60345ad94dbd2956e5991ff",
		.condition = RNA_CONDITION_PORT_DOWN,
	},
	[RNA_RULE_PORT_ARMED] = {
		.name = "port-armed",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "30s",
		.help = "A port stays in state ARMED: the subnet manager began to bring it up and "
			"did not finish.",
		.check = rna_check_port_armed,
		.remedy = "Look into the log of the subnet manager; a sweep that fails half-way "
			  "leaves ports like this.",
		.message_id = "69864336afab477ca32eed7c5f368ddb",
		.condition = RNA_CONDITION_PORT_DOWN,
	},
	[RNA_RULE_PORT_DISABLED] = {
		.name = "port-disabled",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "0s",
		.help = "An InfiniBand port is disabled, and nothing says that it should be up.",
		.check = rna_check_port_disabled,
		.remedy = "If it is to be used: ibportstate enables it, or the subnet manager that "
			  "disabled it.",
		.message_id = "05b18bd7d98945d4ac708d2cf8ba018b",
	},
	[RNA_RULE_DEVICE_MISSING] = {
		.name = "device-missing",
		.severity = RNA_SEVERITY_CRITICAL,
		.scope = RNA_RULE_OF_NODE,
		.settles = true,
		.hold = "1m",
		.help = "A device with a PCI function that was there is gone, or its driver is.",
		.check = rna_check_device_missing,
		.remedy = "Look for its PCI function with lspci and for the reason in the kernel log; "
			  "a device retired on purpose goes with: rdma-node-agent expect accept.",
		.message_id = "490558271c264c56954eae201980b496",
		.condition = RNA_CONDITION_DEVICE_MISSING,
	},
	[RNA_RULE_DEVICE_MOVED] = {
		.name = "device-moved",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_NODE,
		.settles = true,
		.hold = "0s",
		.help = "A device is in another network namespace now, as a container's device is.",
		.check = rna_check_device_moved,
		.remedy = "Nothing, if a container is to have it; rdma system and rdma dev show whose "
			  "it is.",
		.message_id = "3701623d8c1841798112077419adea93",
	},
	[RNA_RULE_LINK_DEGRADED] = {
		.name = "link-degraded",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "30s",
		.help = "The link is up with a lower rate than the port once had or its siblings have, "
			"or with fewer lanes or less speed than it supports.",
		.check = rna_check_link_degraded,
		.remedy = "Reseat or replace the cable, and compare the speed that both ends are "
			  "configured for.",
		.message_id = "d7007c37fcf549da976ee3595e115aa1",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_LINK_LIMITED] = {
		.name = "link-limited",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "30s",
		.help = "One end of an InfiniBand link keeps it from being wider or faster: the port at "
			"the other end supports no more, or one of them is set to less.",
		.check = rna_check_link_limited,
		.remedy = "Nothing, if it is meant so; else use another switch port, or set both ends "
			  "alike (ibportstate, the configuration of the switch).",
		.message_id = "8cba2abe2e2e42e88828fac405fa4e81",
	},
	[RNA_RULE_CABLE_MOVED] = {
		.name = "cable-moved",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s",
		.help = "The cable of an InfiniBand port was in another port of the fabric, less than a "
			"day ago.",
		.check = rna_check_cable_moved,
		.remedy = "Compare with the cabling plan; a rail in the wrong leaf switch makes traffic "
			  "cross the spine. It is told for a day.",
		.message_id = "83c23fbc7c2a42e2af34c674b2031106",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_SUBNET_MANAGER_CHANGED] = {
		.name = "subnet-manager-changed",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s",
		.help = "An InfiniBand port got another subnet manager, less than an hour ago.",
		.check = rna_check_subnet_manager_changed,
		.remedy = "Nothing, if the old one was stopped; else look into the logs of both: two "
			  "that take turns disturb the fabric.",
		.message_id = "d7f5b901499b40da851a018c788d7ca2",
	},
	[RNA_RULE_SUBNET_MANAGER_UNWELL] = {
		.name = "subnet-manager-unwell",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "30s",
		.help = "The subnet manager of an active InfiniBand port does not answer any more, or "
			"says that it is not master.",
		.check = rna_check_subnet_manager_unwell,
		.remedy = "Ask it with sminfo, and look at the host that it runs on; the fabric goes on "
			  "without one, but no port comes up and no path is repaired.",
		.message_id = "54c330b3758a4a93aeec1cdbffdf0d6a",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_PKEY_DEFAULT_MISSING] = {
		.name = "pkey-default-missing",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "30s",
		.help = "An active InfiniBand port is in no way a member of the default partition "
			"(P_Key 0x7fff), in which subnet administration is reached.",
		.check = rna_check_pkey_default_missing,
		.remedy = "Look into the partitions of the subnet manager (partitions.conf, UFM): "
			  "limited membership of all ports is usual.",
		.message_id = "66cd69b911434099bf6c2d22763cf594",
		.condition = RNA_CONDITION_PORT_UNREACHABLE,
	},
	[RNA_RULE_PORT_FLAPPING] = {
		.name = "port-flapping",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s",
		.help = "The port went down more often than its threshold allows.",
		.devices_too = true,
		.check = rna_check_threshold,
		.remedy = "Replace the cable or a transceiver, and look at the port at the other end.",
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
		.remedy = "Start with the cable and the transceivers when the link's own counters "
			  "rise, with the fabric when packets are lost.",
		.message_id = "31e6b24379f8455e95101b7cd955b72e",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_COUNTER_SATURATED] = {
		.name = "counter-saturated",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s",
		.help = "A counter stands at its maximum and counts no more; further errors go "
			"unseen.",
		.check = rna_check_counter_saturated,
		.remedy = "Reset the counters of the port, for example with perfquery -R, where no "
			  "other monitor relies on them.",
		.message_id = "f8b39f00f8d14039bb8deece995d4219",
	},
	[RNA_RULE_CONGESTION_IGNORED] = {
		.name = "congestion-ignored",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s",
		.help = "Congestion notifications arrive and the port does not obey them.",
		.devices_too = true,
		.check = rna_check_threshold,
		.remedy = "Enable the reaction point of congestion control (DCQCN) for the traffic "
			  "class in use, at both ends.",
		.message_id = "999ac24655fc4fbd8cd5959fa236443e",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_PAUSE_STORM] = {
		.name = "pause-storm",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s",
		.help = "An Ethernet port sent pause frames for so long that its device noticed; "
			"critical where it gave up flow control.",
		.check = rna_check_threshold,
		.remedy = "Look for what keeps the host from taking packets: a process that hangs "
			  "with its memory, PCIe errors, a GPU that fell off the bus; until then "
			  "keep jobs off this node, for the storm spreads into the network.",
		.message_id = "8d7cb7cc8a254b8cbbd0e9aa1d5e64d2",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_PAUSE_TRANSMITTED] = {
		.name = "pause-transmitted",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s",
		.help = "An Ethernet port keeps the network waiting for more than a tenth of the "
			"time: this host is slow.",
		.check = rna_check_threshold,
		.remedy = "Compare this host with its siblings: the PCIe link of the NIC, the NUMA "
			  "node of the memory in use, IOMMU and ACS settings, the firmware of both.",
		.message_id = "0e5f9f7b6f2b4f7caa24c9b6cf1e40f3",
	},
	[RNA_RULE_PAUSE_RECEIVED] = {
		.name = "pause-received",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s",
		.help = "The network keeps an Ethernet port waiting for more than a tenth of the "
			"time: it is congested.",
		.check = rna_check_threshold,
		.remedy = "Nothing on this host: look for the port that began it, one that only "
			  "sends pause frames, and at the ECN thresholds of the switches.",
		.message_id = "7b1e4a3cf2d548d5a5c0a8e27a1f9b64",
	},
	[RNA_RULE_GID_MISSING] = {
		.name = "gid-missing",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "30s",
		.help = "An active port has an empty GID table: nothing can connect through it.",
		.check = rna_check_gid_missing,
		.remedy = "Check that the port's network interface is up and in this network "
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
		.help = "All GIDs of an active port are RoCE v1, which no router carries.",
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
		.help = "All GIDs of an active RoCE port are link-local, though its interface has "
			"an address or none is known.",
		.check = rna_check_gid_link_local_only,
		.remedy = "Give the port's network interface an IP address; if it has one, set the "
			  "interface down and up again.",
		.message_id = "c178507e72ab4f93b5bf4c3c1baffebe",
		.condition = RNA_CONDITION_PORT_UNREACHABLE,
	},
	[RNA_RULE_GID_NCCL_INDEX_MOVED] = {
		.name = "gid-nccl-index-moved",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "30s",
		.help = "NCCL uses another GID index than before; told for a day, or until the old "
			"one is back.",
		.check = rna_check_gid_nccl_index_moved,
		.remedy = "Jobs that set NCCL_IB_GID_INDEX need the new number, or no number; "
			  "show_gids tells which addresses changed places.",
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
		.remedy = "Do not set NCCL_IB_GID_INDEX on this node, or make the addresses of all "
			  "rails alike.",
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
		.remedy = "Bring the interface up: ip link set dev NAME up.",
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
			"GIDs are link-local; info where it has virtual functions, which pods use.",
		.check = rna_check_netdev_no_address,
		.remedy = "Give the interface an IP address, or leave the device out with "
			  "devices.exclude if RDMA is not used on it.",
		.message_id = "3f11c264b7cd4c6bbe0df2d8d7b8c16d",
		.condition = RNA_CONDITION_PORT_UNREACHABLE,
	},
	[RNA_RULE_MTU_LOW] = {
		.name = "mtu-low",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "30s",
		.help = "The RDMA MTU in use is smaller than the largest that the port supports.",
		.check = rna_check_mtu_low,
		.remedy = "Raise the MTU of the network interface, or of the subnet's partition, "
			  "along the whole path.",
		.message_id = "b25e74ddacb64925abb0f0590d963c7b",
	},
	[RNA_RULE_BOND_MEMBER_LOST] = {
		.name = "bond-member-lost",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "0s",
		.help = "A member of the bond that serves an RDMA port has no link; the port itself "
			"stays active.",
		.check = rna_check_bond_member_lost,
		.remedy = "Check the cable and the switch port of that member.",
		.message_id = "52aa1d09ddfd4c82be1121bf77354bf0",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_PCIE_DEGRADED] = {
		.name = "pcie-degraded",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_DEVICE,
		.hold = "90s", /* so that two readings say it: links are trained anew now and then */
		.help = "A PCIe link between a device and its root port runs with less speed or "
			"fewer lanes than both of its ends can do.",
		.check = rna_check_pcie_degraded,
		.remedy = "Reseat the card, its riser or its cable, and look for limits of the slot "
			  "in the firmware setup; lspci -vv shows LnkCap and LnkSta of both ends.",
		.message_id = "ad3299798a0648ef8356da94dffec3ec",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_PCIE_LIMITS_PORT] = {
		.name = "pcie-limits-port",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_PORT,
		.hold = "90s",
		.help = "The PCIe path of an active port carries less than the port, and is at its "
			"best.",
		.check = rna_check_pcie_limits_port,
		.remedy = "Nothing, if the node was planned so; else move the card to a slot with "
			  "more lanes or a newer generation.",
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
		.remedy = "Look into the kernel log for AER and the function it names; reseat the "
			  "card or its riser, and update its firmware and the host's.",
		.message_id = "dff6f97996ad4881bb816d60f5916cf9",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_PCIE_STALLED] = {
		.name = "pcie-stalled",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s",
		.help = "A device waits for the memory of its host again and again, or drops packets "
			"for it.",
		.check = rna_check_threshold,
		.remedy = "Look at the PCIe link of the device (findings pcie-*), relaxed ordering, "
			  "the maximum read request, and who else loads that root port or NUMA node.",
		.message_id = "c3a5d0f64b8e49d09d0a8dbd9f2b7c15",
	},
	[RNA_RULE_GPUDIRECT_NOT_READY] = {
		.name = "gpudirect-not-ready",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_NODE,
		.hold = "0s",
		.help = "A node with GPUs and RDMA devices has no way for one to reach the "
			"other's memory: neither a module for peer memory nor dma-buf.",
		.check = rna_check_gpudirect_not_ready,
		.remedy = "Load nvidia_peermem, or install NVIDIA's driver with open kernel modules "
			  "(515 or newer) on a kernel of 5.12 or newer.",
		.message_id = "a36bc72605cf4dd5b5474e9eeb18710b",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_GPUDIRECT_ASYNC_OFF] = {
		.name = "gpudirect-async-off",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_NODE,
		.hold = "0s",
		.help = "NVIDIA's driver does not let kernels of a GPU ring the doorbells of a "
			"NIC, as NVSHMEM's IBGDA does.",
		.check = rna_check_gpudirect_async_off,
		.remedy = "Nothing, unless applications want IBGDA (DeepEP, NVSHMEM): then load the "
			  "driver with NVreg_EnableStreamMemOPs=1 and "
			  "NVreg_RegistryDwords=PeerMappingOverride=1.",
		.message_id = "a642b60a241244caac5a95af4f239f37",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_MODULE_MISSING] = {
		.name = "module-missing",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_NODE,
		.hold = "0s",
		.help = "A module of the RDMA stack is not loaded; a warning where no application "
			"can do without it.",
		.check = rna_check_module_missing,
		.remedy = "Load it with modprobe, and name it in /etc/modules-load.d; the package "
			  "rdma-core does so by itself.",
		.message_id = "100bd1c5ad6846f592bf40442499df71",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_RDMA_DRIVER_MISSING] = {
		.name = "rdma-driver-missing",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_NODE,
		.hold = "0s",
		.help = "The driver of NICs is loaded without the module that makes RDMA devices "
			"of them.",
		.check = rna_check_rdma_driver_missing,
		.remedy = "Load mlx5_ib if RDMA is wanted; where it does not load, its version is "
			  "not that of mlx5_core.",
		.message_id = "6ec9b7be51094088b09458fb1708b59d",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_DEVICE_NODE] = {
		.name = "device-node",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_DEVICE,
		.hold = "30s",
		.help = "The file of /dev/infiniband through which applications use a device is "
			"missing, or (told at severity info) not open to all users.",
		.check = rna_check_device_node,
		.remedy = "Let udev make it anew (udevadm trigger "
			  "--subsystem-match=infiniband_verbs); its mode is 0666 unless a udev rule "
			  "changes it.",
		.message_id = "c6eba39512694e97beba179d1ccb7a16",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_NETNS_EXCLUSIVE] = {
		.name = "netns-exclusive",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_NODE,
		.hold = "0s",
		.help = "RDMA devices are bound to one network namespace each (exclusive mode).",
		.check = rna_check_netns_exclusive,
		.remedy = "Nothing, if containers get devices by SR-IOV or as host devices; for one "
			  "that is shared by all: rdma system set netns shared.",
		.message_id = "d03a4e897d27478eacde38035c01f7e6",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_MEMLOCK_LOW] = {
		.name = "memlock-low",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_NODE,
		.hold = "0s",
		.help = "A container runtime passes a low limit of locked memory on to "
			"containers, and memory for RDMA is locked.",
		.check = rna_check_memlock_low,
		.remedy = "Give the unit LimitMEMLOCK=infinity in a drop-in and restart it, or give "
			  "containers the limit or CAP_IPC_LOCK one by one.",
		.message_id = "6f6b441aa4d84b2bb519b38fb6402d2f",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_RAILS_LINK_LAYER] = {
		.name = "rails-link-layer",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_PORT,
		.hold = "30s",
		.help = "A port has another link layer than most ports of the same card.",
		.check = rna_check_rails_link_layer,
		.remedy = "If it is to be a rail like the others, set its type in the firmware "
			  "(mlxconfig LINK_TYPE_P1) and reboot.",
		.message_id = "46a3fade12214da799a8ddcf87f150d7",
	},
	[RNA_RULE_RAILS_MTU] = {
		.name = "rails-mtu",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_PORT,
		.hold = "30s",
		.help = "The interface of a RoCE port has another MTU than most of the same card.",
		.check = rna_check_rails_mtu,
		.remedy = "Give all rails the same MTU, in the network's configuration and on the "
			  "switch.",
		.message_id = "a4d7b1b2783248e99f869af578699edb",
	},
	[RNA_RULE_JUMBO_FRAMES] = {
		.name = "jumbo-frames",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_NODE,
		.hold = "30s",
		.help = "RoCE interfaces have an MTU below 9000 that is enough for RDMA.",
		.check = rna_check_jumbo_frames,
		.remedy = "Nothing for RDMA; where TCP runs on the same interfaces, set the MTU to "
			  "9000 here and on the switches.",
		.message_id = "2a679eddff8e4388a0e4723187c34c9d",
	},
	[RNA_RULE_RAILS_VIRTUAL_FUNCTIONS] = {
		.name = "rails-virtual-functions",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_PORT,
		.hold = "30s",
		.help = "A device has another number of virtual functions than most of the same "
			"card.",
		.check = rna_check_rails_virtual_functions,
		.remedy = "Configure all alike (sriov_numvfs, or the policy of the SR-IOV "
			  "operator), if they are to be used alike.",
		.message_id = "cac8c29c50184e8fa3b6319b6ac6af5c",
	},
	[RNA_RULE_QOS_RAILS] = {
		.name = "qos-rails",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "30s",
		.help = "Packets of an active RoCE port are treated otherwise than on most ports of the "
			"same card, or otherwise by one member of its bond than by another: PFC, trust, "
			"DSCP table, ETS, ECN or traffic class.",
		.check = rna_check_qos_rails,
		.remedy = "Configure all rails by the same script (mlnx_qos, dcb, or the driver's own "
			  "tool), and look at the switch port, which has to match.",
		.message_id = "c1a7f7bb24e04a0393ec4f0700b50195",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_QOS_DRIFT] = {
		.name = "qos-drift",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "30s",
		.help = "An active RoCE port, or a member of its bond, is not configured as qos.expect "
			"says.",
		.check = rna_check_qos_drift,
		.remedy = "Run the script that configures the NICs of this fabric, and see what undid it: "
			  "a driver that was loaded anew, or a DCBX agent.",
		.message_id = "8442987bc0fc49ab877433bbd6f87996",
	},
	[RNA_RULE_QOS_LOSSY_CLASS] = {
		.name = "qos-lossy-class",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "30s",
		.help = "The traffic class that a driver writes into RoCE packets leads to a priority "
			"without PFC, though another priority has it.",
		.check = rna_check_qos_lossy_class,
		.remedy = "Choose a traffic class of 4 x DSCP, of a DSCP that leads to the lossless "
			  "priority (rdma_port_priority_dscp_info shows which), or map its DSCP there.",
		.message_id = "427ebf48165f4f299cbfea123693f1dd",
		.condition = RNA_CONDITION_NOT_READY,
	},
	[RNA_RULE_QOS_LOSSLESS_DISCARDS] = {
		.name = "qos-lossless-discards",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s",
		.help = "A RoCE port, or a member of its bond, drops frames of a priority that PFC "
			"should make lossless.",
		.check = rna_check_qos_lossless_discards,
		.remedy = "Look whether the switch port has PFC on for the same priority and obeys pause "
			  "frames, whether the receive buffer of that priority has room for the cable's "
			  "length, and whether a pause storm made the device give up flow control.",
		.message_id = "6d0c3f1be7a24c5f9a18d2b4470e9c36",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_QOS_PFC_PRIORITIES] = {
		.name = "qos-pfc-priorities",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_NODE,
		.hold = "30s",
		.help = "Active RoCE ports have PFC on no priority, or on several: rails of GPUs, where "
			"there are such.",
		.check = rna_check_qos_pfc_priorities,
		.remedy = "Nothing, if the fabric was planned so: without PFC it relies on ECN alone, and "
			  "each further lossless priority takes buffers from the others.",
		.message_id = "0968e0e879a54268ad05aa081edaba43",
	},
	[RNA_RULE_QOS_VLAN_MTU] = {
		.name = "qos-vlan-mtu",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_PORT,
		.hold = "30s",
		.help = "A VLAN through which RDMA can be used has an MTU that keeps its RDMA MTU below "
			"that of the port.",
		.check = rna_check_qos_vlan_mtu,
		.remedy = "Give the VLAN interface the MTU of the interface below it.",
		.message_id = "3b6b00af1e514331a8324de88de49aa9",
	},
	[RNA_RULE_VIRTUAL_FUNCTION_GUID] = {
		.name = "virtual-function-guid",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_DEVICE,
		.hold = "5m", /* operators bind first and configure then */
		.help = "Virtual functions of an InfiniBand device have a driver and no GUID; their ports "
			"stay down, in whatever virtual machine or container.",
		.check = rna_check_virtual_function_guid,
		.remedy = "Give them GUIDs (ip link set DEV vf N node_guid G, port_guid G, or the policy of "
			  "the SR-IOV operator), and bind their driver anew.",
		.message_id = "a42a610c83354e3aa17750564ac83df1",
	},
	[RNA_RULE_VIRTUAL_FUNCTION_LINK] = {
		.name = "virtual-function-link",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_DEVICE,
		.hold = "5m",
		.help = "Virtual functions have a driver, and a link that somebody keeps down.",
		.check = rna_check_virtual_function_link,
		.remedy = "Nothing, if that is wanted; else ip link set DEV vf N state auto, or the policy "
			  "of the SR-IOV operator (linkState).",
		.message_id = "f004fd0c23cb4d52b0f64cbfcf421818",
	},
	[RNA_RULE_MODULE_TEMPERATURE] = {
		.name = "module-temperature",
		.severity = RNA_SEVERITY_CRITICAL,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s",
		.help = "A transceiver is hotter than its maker allows; a warning between its own two "
			"limits.",
		.check = rna_check_module_temperature,
		.remedy = "Look at the fans and at what blocks the air; a module that is hot beside cool "
			  "ones has to be replaced.",
		.message_id = "55ff0b33c9b64a98a6120e7a953c4e58",
	},
	[RNA_RULE_MODULE_LIGHT] = {
		.name = "module-light",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "0s",
		.help = "A lane of an active port receives, sends or draws what its transceiver's maker "
			"gives an alarm for; info where it only warns.",
		.check = rna_check_module_light,
		.remedy = "Clean the connectors and look for a bend in the fibre; compare with the module "
			  "at the other end, and replace the one that sends too little.",
		.message_id = "b1cd258c1d974519be8d86b01381b630",
	},
	[RNA_RULE_MODULE_LANE] = {
		.name = "module-lane",
		.severity = RNA_SEVERITY_INFO,
		.scope = RNA_RULE_OF_PORT,
		.settles = true,
		.hold = "0s",
		.help = "One lane of an active port receives less than half of the light that the others "
			"do.",
		.check = rna_check_module_lane,
		.remedy = "Clean the connectors of this fibre; a lane that stays weak costs errors as soon "
			  "as it gets warmer.",
		.message_id = "a31a83161f9b462a9a4844db6f89580a",
	},
	[RNA_RULE_DEVICE_STALLED] = {
		.name = "device-stalled",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_DEVICE,
		.hold = "0s",
		.help = "A device does not answer: a read of it is past its deadline; critical "
			"after two minutes.",
		.check = rna_check_device_stalled,
		.remedy = "Look for firmware command timeouts in the kernel log; a device that stays "
			  "like this needs a reset or a reboot.",
		.message_id = "8f21be3837d448218e88dab50f91eeff",
		.condition = RNA_CONDITION_NOT_OBSERVED,
	},
	[RNA_RULE_READS_FAILING] = {
		.name = "reads-failing",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_DEVICE,
		.hold = "30s",
		.help = "A collector fails on a device, or the state of a port cannot be read: how "
			"it is, is not known.",
		.check = rna_check_reads_failing,
		.remedy = "See rdma_collector_errors_total for the reason, and the kernel log; a "
			  "container may lack the right to read.",
		.message_id = "2eac4e1b40fc489b86d81e91c56a71be",
		.condition = RNA_CONDITION_NOT_OBSERVED,
	},
	[RNA_RULE_DATA_TOO_OLD] = {
		.name = "data-too-old",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_DEVICE,
		.hold = "15s", /* a device that answers again is read anew in its turn */
		.help = "What the agent knows of a device is older than three of its periods, "
			"though nothing failed.",
		.check = rna_check_data_too_old,
		.remedy = "Too many devices stall (see lanes.max), or the agent gets too little CPU "
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
			"node has; with kubernetes.backend api or both.",
		.check = rna_check_resources_missing,
		.remedy = "Look into the log of the device plugin on this node, and of kubelet; "
			  "kubectl describe node shows what is allocatable.",
		.message_id = "96b6569d987a4a24a205a717a8c17dc5",
		.condition = RNA_CONDITION_RESOURCES_MISSING,
	},
	[RNA_RULE_SELFTEST_FAILED] = {
		.name = "selftest-failed",
		.severity = RNA_SEVERITY_CRITICAL,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s", /* two tests are half an hour apart, or more */
		.help = "Two self-tests in a row with the same kind of memory failed or were far too "
			"slow, or one brought back other data than was sent; memory of another NUMA "
			"node that is only slow is told at severity info.",
		.check = rna_check_selftest_failed,
		.remedy = "Look for a PCIe link that lost lanes or speed (status, lspci -vv), for ACS "
			  "and the IOMMU, and for a throttled NIC; rdma-node-agent selftest tests "
			  "again.",
		.message_id = "9cd09d1d63f14de389a5a08608639f2b",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_SELFTEST_SLOW] = {
		.name = "selftest-slow",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s",
		.help = "Two self-tests in a row with the same kind of memory moved less than the port "
			"and its PCIe path allow, or less than its siblings; memory of another NUMA "
			"node is told at severity info.",
		.check = rna_check_selftest_slow,
		.remedy = "Compare with a node that is well: PCIe settings (maximum read request and "
			  "payload, relaxed ordering), NUMA placement, power management of the CPU; "
			  "rdma-node-agent selftest tests again.",
		.message_id = "ee27e87824b941748073477729982d96",
		.condition = RNA_CONDITION_LINK_DEGRADED,
	},
	[RNA_RULE_SELFTEST_STUCK] = {
		.name = "selftest-stuck",
		.severity = RNA_SEVERITY_WARNING,
		.scope = RNA_RULE_OF_PORT,
		.hold = "0s", /* it had all the time that it could need */
		.help = "A self-test hangs in the kernel and cannot be ended; its device is not tested "
			"until it ends.",
		.check = rna_check_selftest_stuck,
		.remedy = "Look into the kernel log for timeouts of the driver; the device may need a "
			  "reset, and the node to be drained for it.",
		.message_id = "6f6c13aeb72146e79de440ac62a7d7c5",
		.condition = RNA_CONDITION_NOT_OBSERVED,
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
