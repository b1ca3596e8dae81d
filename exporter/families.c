// SPDX-License-Identifier: Apache-2.0
/*
 * The metric families: one table, in the order of the output.
 *
 * Naming rules:
 *   - what hardware says begins with rdma_device_ or rdma_port_, what the agent says of its work
 *     with rdma_collector_ or rdma_agent_, what it found by testing with rdma_selftest_; process_
 * is the name that all exporters share;
 *   - base units only, bytes and seconds, and the unit ends the name, before _total;
 *   - values carry the labels device and port and no others. All else that is known of a device
 *     or a port stands on rdma_device_info and rdma_port_info, to be joined in a query:
 *         rdma_port_up * on(instance, device, port) group_left(netdev) rdma_port_info
 *   - self-tests have the label memory besides, for each kind of memory is tested by itself;
 *   - what ethtool says has the label netdev besides, for a bond has several interfaces, and where
 *     there is one of each, priority or lane;
 *   - GIDs are counted with the labels type and family; each has a series of its own only as
 *     rdma_port_gid_info, which can be turned off;
 *   - files of counters/ and hw_counters/ have families by the counter table (rna/counter.h); those
 *     without a row go to the _unknown_ family of their directory, with the label counter;
 *   - a value that is absent or unreadable has no sample: 0 always means zero;
 *   - samples of a family are sorted by device and port, and the order never changes;
 *   - names of other exporters, which break these rules, stand apart in compat.c.
 *
 * To add a family: a row, and a function that gets its value from a subject.
 */
#include "families.h"

#include <errno.h>
#include <stddef.h>

#include "facts.h"
#include "families_agent.h"
#include "families_counters.h"
#include "families_ethernet.h"
#include "families_fabric.h"
#include "families_gid.h"
#include "families_kubernetes.h"
#include "families_module.h"
#include "families_node.h"
#include "families_past.h"
#include "families_pcie.h"
#include "families_port.h"
#include "families_qos.h"
#include "families_resources.h"
#include "families_selftest.h"
#include "families_topology.h"
#include "families_virtual_functions.h"

/* The value of an info metric; what it says stands in its labels. */
static struct rna_value one(const struct rna_subject *subject)
{
	(void)subject;
	return rna_value_ok(1);
}

/* -- The table --------------------------------------------------------------------------------- */

#define COUNTER       RNA_METRIC_COUNTER
#define GAUGE         RNA_METRIC_GAUGE
#define INFO          RNA_METRIC_INFO
#define HISTOGRAM     RNA_METRIC_HISTOGRAM
#define PLAIN         RNA_METRIC_PLAIN
#define YES_NO        RNA_METRIC_BOOLEAN
#define BYTES         RNA_METRIC_BYTES
#define BYTES_PER_SEC RNA_METRIC_BYTES_PER_SECOND
#define SECONDS       RNA_METRIC_SECONDS
#define NANOSECONDS   RNA_METRIC_NANOSECONDS
#define RATIO         RNA_METRIC_RATIO
#define NODE          RNA_SCOPE_NODE
#define DEVICE        RNA_SCOPE_DEVICE
#define PORT          RNA_SCOPE_PORT
#define GID           RNA_SCOPE_GID
#define JOB           RNA_SCOPE_JOB

/* clang-format off */
static const struct rna_family table[] = {
	{{"rdma_devices", GAUGE, PLAIN,
	  "RDMA devices of this node that are watched."},
	 NODE, rna_family_devices},
	{{"rdma_devices_excluded", GAUGE, PLAIN,
	  "RDMA devices of this node that devices.include and devices.exclude leave alone."},
	 NODE, rna_family_devices_excluded},
	{{"rdma_devices_missing", GAUGE, PLAIN,
	  "RDMA devices that were there once and are not, whether the agent saw them go or remembers them."},
	 NODE, rna_family_devices_missing},
	{{"rdma_device_missing_info", INFO, PLAIN,
	  "A device that is missing, and where it is: lost, unbound, moved to another network namespace, "
	  "or unknown."},
	 NODE, .each = rna_family_missing_info, .label = "device, pci_address, whereabouts"},
	{{"rdma_node_info", INFO, PLAIN,
	  "What the node is driven by: its kernel, and the driver of its GPUs if it has any."},
	 NODE, .each = rna_family_node_info, .label = "kernel, gpu_driver, gpu_driver_version"},
	{{"rdma_gpudirect_ready", GAUGE, YES_NO,
	  "Whether NICs can reach the memory of GPUs: by a module for peer memory, or by dma-buf; no sample "
	  "without a driver of GPUs, or where it is not known."},
	 NODE, .each = rna_family_gpudirect_ready, .label = "method"},
	{{"rdma_module_loaded", GAUGE, YES_NO,
	  "Whether a module of the RDMA stack is loaded, or part of the kernel."},
	 NODE, .each = rna_family_modules_loaded, .label = "module"},
	{{"rdma_netns_exclusive", GAUGE, YES_NO,
	  "Whether RDMA devices are bound to one network namespace each, 0 when all share them."},
	 NODE, rna_family_netns_exclusive},
	{{"rdma_finding", GAUGE, PLAIN,
	  "What is wrong, as 1; without a port it is about the device, without a device about the node."},
	 NODE, .each = rna_family_findings, .label = "rule, severity, device, port"},
	{{"rdma_findings", GAUGE, PLAIN,
	  "How many findings there are, by severity."},
	 NODE, .each = rna_family_finding_counts, .label = "severity"},
	{{"rdma_device_info", INFO, PLAIN,
	  "What an RDMA device is: its place, its board, its firmware and its GUIDs."},
	 DEVICE, one},
	{{"rdma_device_pcie_link_transfers_per_second", GAUGE, PLAIN,
	  "Transfers per second and lane that the device's own PCIe link was trained to, 16e9 for "
	  "16 GT/s; VFs and SFs have that of their PF, without samples of their own."},
	 DEVICE, rna_family_pcie_speed},
	{{"rdma_device_pcie_max_link_transfers_per_second", GAUGE, PLAIN,
	  "Most transfers per second and lane that the device can do on its PCIe link."},
	 DEVICE, rna_family_pcie_max_speed},
	{{"rdma_device_pcie_link_lanes", GAUGE, PLAIN,
	  "Lanes that the device's own PCIe link was trained to."},
	 DEVICE, rna_family_pcie_width},
	{{"rdma_device_pcie_max_link_lanes", GAUGE, PLAIN,
	  "Most lanes that the device can use on its PCIe link."},
	 DEVICE, rna_family_pcie_max_width},
	{{"rdma_device_pcie_path_bytes_per_second", GAUGE, BYTES_PER_SEC,
	  "What the slowest link between the device and its root port carries in each direction, after "
	  "coding and packet headers."},
	 DEVICE, rna_family_pcie_rate},
	{{"rdma_device_pcie_bottleneck_info", INFO, PLAIN,
	  "The function at the lower end of the slowest link between the device and its root port."},
	 DEVICE, .each = rna_family_pcie_bottleneck, .label = "address"},
	{{"rdma_device_pcie_errors_total", COUNTER, PLAIN,
	  "PCIe errors (AER) that the functions from the device up to its root port counted: correctable, "
	  "nonfatal, fatal. Ports of a switch stand in the sums of all devices below it."},
	 DEVICE, .each = rna_family_pcie_errors, .label = "severity"},
	{{"rdma_device_pcie_max_read_request_bytes", GAUGE, BYTES,
	  "Largest read request that the device may make; only root can read it."},
	 DEVICE, rna_family_pcie_max_read_request},
	{{"rdma_device_virtual_functions", GAUGE, PLAIN,
	  "Virtual functions (SR-IOV) of the device that are configured."},
	 DEVICE, rna_family_virtual_functions},
	{{"rdma_device_max_virtual_functions", GAUGE, PLAIN,
	  "Virtual functions (SR-IOV) that the device can have; no sample where it can have none."},
	 DEVICE, rna_family_max_virtual_functions},
	{{"rdma_device_virtual_function_properties", GAUGE, PLAIN,
	  "How many virtual functions of the device are so: bound (to a driver of this node), passed (to "
	  "virtual machines), rdma (with an RDMA device here), represented, unassigned (without MAC address "
	  "or GUID), link-down (kept down), trusted, spoof-unchecked. No sample where it is not known."},
	 DEVICE, .each = rna_family_vf_properties, .label = "property"},
	{{"rdma_device_virtual_function_info", INFO, PLAIN,
	  "A virtual function of the device, with metrics.virtual_functions."},
	 DEVICE, .each = rna_family_vf_info,
	 .label = "vf, pci_address, driver, vf_device, representor, mac, port_guid, link, spoof_check, trust, vlan"},
	{{"rdma_device_in_use", GAUGE, YES_NO,
	  "Whether an application has the device open; the kernel's own users (IPoIB, storage) are not "
	  "seen here, nor is the agent."},
	 DEVICE, rna_family_in_use},
	{{"rdma_device_resources", GAUGE, PLAIN,
	  "RDMA objects on the device, the kernel's own among them: qp, mr, cq, pd, srq, cm_id, and ctx "
	  "for each time that it is open."},
	 DEVICE, .each = rna_family_resources, .label = "resource"},
	{{"rdma_device_idle_resources", GAUGE, PLAIN,
	  "What rdma_device_resources was when no application had the device open last: the kernel's own. "
	  "No sample before that was seen; the difference is what applications have."},
	 DEVICE, .each = rna_family_idle_resources, .label = "resource"},
	{{"rdma_port_info", INFO, PLAIN,
	  "What a port is: its link layer, its GUID and the network interface it serves."},
	 PORT, one},
	{{"rdma_port_up", GAUGE, YES_NO,
	  "Whether the link of the port is up for traffic (state ACTIVE or ACTIVE_DEFER)."},
	 PORT, rna_port_up},
	{{"rdma_port_expected_up", GAUGE, YES_NO,
	  "Whether the port is meant to be up, and why: configured, accepted, remembered, siblings; 0 also "
	  "when it is unknown."},
	 PORT, .each = rna_family_expected_up, .label = "reason"},
	{{"rdma_port_transitions_total", COUNTER, PLAIN,
	  "How often the port went up or down since the agent started, seen or told by a counter."},
	 PORT, .each = rna_family_transitions, .label = "direction"},
	{{"rdma_port_last_transition_timestamp_seconds", GAUGE, SECONDS,
	  "When the port went up or down last, since the epoch; no sample before the first time."},
	 PORT, rna_family_last_transition},
	{{"rdma_port_state_id", GAUGE, PLAIN,
	  "Logical state of the port (1 DOWN, 2 INIT, 3 ARMED, 4 ACTIVE, 5 ACTIVE_DEFER)."},
	 PORT, rna_family_state_id},
	{{"rdma_port_physical_state_id", GAUGE, PLAIN,
	  "Physical state of the port (1 Sleep, 2 Polling, 3 Disabled, 4 Training, 5 LinkUp, "
	  "6 Recovery, 7 Test)."},
	 PORT, rna_family_physical_state_id},
	{{"rdma_port_rate_bytes_per_second", GAUGE, BYTES_PER_SEC,
	  "Data rate of the link; no sample while the port is down."},
	 PORT, rna_port_rate},
	{{"rdma_port_width_lanes", GAUGE, PLAIN,
	  "Active width of the link in lanes; no sample while the port is down."},
	 PORT, rna_port_width},
	{{"rdma_port_speed_code", GAUGE, PLAIN,
	  "Active speed of a lane (1 SDR, 2 DDR, 4 QDR, 8 FDR10, 16 FDR, 32 EDR, 64 HDR, 128 NDR, "
	  "256 XDR); no sample while the port is down."},
	 PORT, rna_port_speed_code},
	{{"rdma_port_width_supported_lanes", GAUGE, PLAIN,
	  "Most lanes that the port supports; InfiniBand only, asked by MAD."},
	 PORT, rna_family_width_supported},
	{{"rdma_port_width_enabled_lanes", GAUGE, PLAIN,
	  "Most lanes that the port may use; InfiniBand only, asked by MAD."},
	 PORT, rna_family_width_enabled},
	{{"rdma_port_speed_supported_code", GAUGE, PLAIN,
	  "Fastest speed of a lane that the port supports, in the codes of rdma_port_speed_code; "
	  "InfiniBand only, asked by MAD."},
	 PORT, rna_family_speed_supported},
	{{"rdma_port_speed_enabled_code", GAUGE, PLAIN,
	  "Fastest speed of a lane that the port may use, like rdma_port_speed_supported_code."},
	 PORT, rna_family_speed_enabled},
	{{"rdma_port_active_mtu_bytes", GAUGE, BYTES,
	  "RDMA MTU in use on the port."},
	 PORT, rna_family_active_mtu},
	{{"rdma_port_max_mtu_bytes", GAUGE, BYTES,
	  "Largest RDMA MTU that the port supports."},
	 PORT, rna_family_max_mtu},
	{{"rdma_port_lid", GAUGE, PLAIN,
	  "Local identifier that the subnet manager gave the port."},
	 PORT, rna_family_lid},
	{{"rdma_port_sm_lid", GAUGE, PLAIN,
	  "Local identifier of the subnet manager."},
	 PORT, rna_family_sm_lid},
	{{"rdma_port_lmc", GAUGE, PLAIN,
	  "LID mask control: the port answers to 2^LMC LIDs."},
	 PORT, rna_family_lmc},
	{{"rdma_port_capability_mask", GAUGE, PLAIN,
	  "Capability mask of the port, as a number (IBTA PortInfo:CapabilityMask)."},
	 PORT, rna_family_capability_mask},
	{{"rdma_port_peer_info", INFO, PLAIN,
	  "What is at the other end of the port's cable, and in which of its ports the cable is; also after "
	  "the link went down, see rdma_port_peer_stale. source: mad on InfiniBand, lldp on Ethernet."},
	 PORT, .each = rna_family_peer_info,
	 .label = "peer, peer_port, peer_port_description, peer_type, peer_guid, peer_lid, source"},
	{{"rdma_port_peer_stale", GAUGE, YES_NO,
	  "Whether rdma_port_peer_info is what was there before the link went down, or the peer silent."},
	 PORT, rna_family_peer_stale},
	{{"rdma_port_peer_changes_total", COUNTER, PLAIN,
	  "How often there was something else at the other end of the cable, since the agent started."},
	 PORT, rna_family_peer_changes},
	{{"rdma_port_peer_width_supported_lanes", GAUGE, PLAIN,
	  "Most lanes that the port at the other end supports; InfiniBand only."},
	 PORT, rna_family_peer_width_supported},
	{{"rdma_port_peer_width_enabled_lanes", GAUGE, PLAIN,
	  "Most lanes that the port at the other end may use; InfiniBand only."},
	 PORT, rna_family_peer_width_enabled},
	{{"rdma_port_peer_speed_supported_code", GAUGE, PLAIN,
	  "Fastest speed of a lane that the port at the other end supports, like "
	  "rdma_port_speed_supported_code."},
	 PORT, rna_family_peer_speed_supported},
	{{"rdma_port_peer_speed_enabled_code", GAUGE, PLAIN,
	  "Fastest speed of a lane that the port at the other end may use, like "
	  "rdma_port_speed_supported_code."},
	 PORT, rna_family_peer_speed_enabled},
	{{"rdma_port_sm_info", INFO, PLAIN,
	  "The subnet manager that the port obeys."},
	 PORT, .each = rna_family_sm_info, .label = "sm_guid, sm_lid"},
	{{"rdma_port_sm_state_id", GAUGE, PLAIN,
	  "What the subnet manager says of itself (0 not active, 1 discovering, 2 standby, 3 master)."},
	 PORT, rna_family_sm_state},
	{{"rdma_port_sm_priority", GAUGE, PLAIN,
	  "Priority of the subnet manager, 0 to 15: the highest becomes master."},
	 PORT, rna_family_sm_priority},
	{{"rdma_port_sm_changes_total", COUNTER, PLAIN,
	  "How often the port got another subnet manager, since the agent started."},
	 PORT, rna_family_sm_changes},
	{{"rdma_port_pkeys", GAUGE, PLAIN,
	  "P_Keys in the port's table, by membership: full, limited."},
	 PORT, .each = rna_family_pkeys, .label = "membership"},
	{{"rdma_port_default_pkey", GAUGE, YES_NO,
	  "Whether the port is a member of the default partition (P_Key 0x7fff), limited or full."},
	 PORT, rna_family_default_pkey},
	{{"rdma_port_virtual_lanes", GAUGE, PLAIN,
	  "Virtual lanes in operation on the port, without that of subnet management."},
	 PORT, rna_family_virtual_lanes},
	{{"rdma_port_congestion_control", GAUGE, YES_NO,
	  "Whether the port answers to management of congestion control (IBTA annex A10)."},
	 PORT, rna_family_congestion_control},
	{{"rdma_port_netdev_up", GAUGE, YES_NO,
	  "Whether the port's network interface is operational."},
	 PORT, rna_family_netdev_up},
	{{"rdma_port_netdev_carrier", GAUGE, YES_NO,
	  "Whether the port's network interface has a carrier."},
	 PORT, rna_family_netdev_carrier},
	{{"rdma_port_netdev_mtu_bytes", GAUGE, BYTES,
	  "MTU of the port's network interface."},
	 PORT, rna_family_netdev_mtu},
	{{"rdma_port_netdev_speed_bytes_per_second", GAUGE, BYTES_PER_SEC,
	  "Speed of the port's network interface."},
	 PORT, rna_family_netdev_speed},
	{{"rdma_port_netdev_carrier_up_total", COUNTER, PLAIN,
	  "How often the port's network interface got its carrier."},
	 PORT, rna_family_netdev_carrier_up},
	{{"rdma_port_netdev_carrier_down_total", COUNTER, PLAIN,
	  "How often the port's network interface lost its carrier."},
	 PORT, rna_family_netdev_carrier_down},
	{{"rdma_port_gids", GAUGE, PLAIN,
	  "Entries in use of the port's GID table, by type and by the kind of address they are made of."},
	 PORT, .each = rna_family_gid_counts, .label = "type, family"},
	{{"rdma_port_gid_info", INFO, PLAIN,
	  "An entry of the port's GID table; the setting metrics.gid_info turns these off."},
	 GID, rna_family_gid_info},
	{{"rdma_port_gid_changes_total", COUNTER, PLAIN,
	  "How often an index of the GID table got another GID, or a GID another index."},
	 PORT, rna_family_gid_changes},
	{{"rdma_port_nccl_gid_index", GAUGE, PLAIN,
	  "Index of the GID that NCCL uses of the port if its environment says nothing of GIDs; no sample "
	  "while the port is not ACTIVE."},
	 PORT, rna_family_nccl_gid_index},
	{{"rdma_port_nccl_gid_info", INFO, PLAIN,
	  "The GID at rdma_port_nccl_gid_index, if there is one; the setting metrics.gid_info turns these off."},
	 GID, rna_family_nccl_gid_info},
	{{"rdma_port_rail", GAUGE, PLAIN,
	  "Number of the rail that the port's NIC serves, from 0 by PCI address; no sample for NICs beside "
	  "the rails, such as those of storage."},
	 PORT, rna_family_port_rail},
	{{"rdma_port_ethernet_link_up", GAUGE, YES_NO,
	  "Whether the interface has a link, of a bond each member."},
	 PORT, .each = rna_family_ethernet_up, .label = "netdev"},
	{{"rdma_port_ethernet_link_down_info", INFO, PLAIN,
	  "Why an interface has no link, where its driver says so; no series while it has one."},
	 PORT, .each = rna_family_ethernet_down_info, .label = "netdev, reason, detail"},
	{{"rdma_port_ethernet_speed_bytes_per_second", GAUGE, BYTES_PER_SEC,
	  "Speed of the interface's link, in one direction."},
	 PORT, .each = rna_family_ethernet_speed, .label = "netdev"},
	{{"rdma_port_ethernet_lanes", GAUGE, PLAIN,
	  "Lanes of the interface's link."},
	 PORT, .each = rna_family_ethernet_lanes, .label = "netdev"},
	{{"rdma_port_ethernet_mode_info", INFO, PLAIN,
	  "How the interface's link is set up: the FEC in use, autonegotiation, and whether it obeys and "
	  "sends pause frames for the whole link."},
	 PORT, .each = rna_family_ethernet_mode_info,
	 .label = "netdev, fec, autoneg, duplex, pause_receive, pause_transmit"},
	{.statistics = true},
	{.counters = true},
	{{"rdma_port_unknown_total", COUNTER, PLAIN,
	  "A file in counters of the port that this version does not know, as it is."},
	 PORT, .each = rna_family_port_counters, .label = "counter"},
	{{"rdma_port_hw_unknown_total", COUNTER, PLAIN,
	  "A file in hw_counters of the port that this version does not know, as it is."},
	 PORT, .each = rna_family_port_hw_counters, .label = "counter"},
	{{"rdma_device_hw_unknown_total", COUNTER, PLAIN,
	  "A file in hw_counters of the device that this version does not know, as it is."},
	 DEVICE, .each = rna_family_device_hw_counters, .label = "counter"},
	{{"rdma_port_ethernet_unknown_total", COUNTER, PLAIN,
	  "A statistic of the interface's driver that this version does not know, as it is: those that "
	  "ethernet.statistics names."},
	 PORT, .each = rna_family_ethernet_unknown, .label = "netdev, counter"},
	{{"rdma_port_module_info", INFO, PLAIN,
	  "The transceiver or cable of the port's interface; its serial number with module.serial."},
	 PORT, .each = rna_family_module_info,
	 .label = "netdev, form, medium, vendor, part_number, revision, serial"},
	{{"rdma_port_module_temperature_celsius", GAUGE, RNA_METRIC_CELSIUS,
	  "Temperature of the module; no sample for cables that do not measure it."},
	 PORT, .each = rna_family_module_temperature, .label = "netdev"},
	{{"rdma_port_module_temperature_limit_celsius", GAUGE, RNA_METRIC_CELSIUS,
	  "What its maker allows: high-alarm, low-alarm, high-warning, low-warning."},
	 PORT, .each = rna_family_module_temperature_limit, .label = "netdev, limit"},
	{{"rdma_port_module_voltage_volts", GAUGE, RNA_METRIC_VOLTS,
	  "Supply voltage of the module."},
	 PORT, .each = rna_family_module_voltage, .label = "netdev"},
	{{"rdma_port_module_receive_power_watts", GAUGE, RNA_METRIC_WATTS,
	  "Light that arrives on a lane, counted from 1."},
	 PORT, .each = rna_family_module_receive_power, .label = "netdev, lane"},
	{{"rdma_port_module_transmit_power_watts", GAUGE, RNA_METRIC_WATTS,
	  "Light that is sent on a lane."},
	 PORT, .each = rna_family_module_transmit_power, .label = "netdev, lane"},
	{{"rdma_port_module_bias_amperes", GAUGE, RNA_METRIC_AMPERES,
	  "Current of the laser of a lane; one that ages takes more for the same light."},
	 PORT, .each = rna_family_module_bias, .label = "netdev, lane"},
	{{"rdma_port_optional_counter_enabled", GAUGE, YES_NO,
	  "Whether a counter that is counted on demand only is turned on (rdma statistic set); with "
	  "hw_counters.optional_status."},
	 PORT, .each = rna_family_optional_counters, .label = "counter"},
	{{"rdma_port_saturated_counters", GAUGE, PLAIN,
	  "Counters of the port that stand at their maximum and count no more until they are reset, "
	  "but for those that fill up in ordinary work."},
	 PORT, rna_family_saturated_counters},
	{{"rdma_port_counters_resets_total", COUNTER, PLAIN,
	  "How often counters of the port began anew: somebody cleared them, or the device was "
	  "registered anew."},
	 PORT, rna_family_counters_resets},
	{{"rdma_port_hw_counters_resets_total", COUNTER, PLAIN,
	  "How often hw_counters of the port began anew: they fell without a wrap, or the device was "
	  "registered anew."},
	 PORT, rna_family_hw_counters_resets},
	{{"rdma_port_fabric_counters_resets_total", COUNTER, PLAIN,
	  "How often counters of the port that only MADs have began anew: somebody cleared them, or the "
	  "device was registered anew."},
	 PORT, rna_family_fabric_counters_resets},
	{{"rdma_device_hw_counters_resets_total", COUNTER, PLAIN,
	  "How often hw_counters of the device began anew: they fell, or the device was registered "
	  "anew."},
	 DEVICE, rna_family_device_hw_counters_resets},
	{{"rdma_selftest_ok", GAUGE, YES_NO,
	  "Whether the newest test of the port with that memory (local, remote, gpu) was good: 0 is too slow, "
	  "failed, or data that arrived other than it was sent; no sample where nothing was expected."},
	 PORT, .each = rna_family_selftest_ok, .label = "memory"},
	{{"rdma_selftest_bandwidth_bytes_per_second", GAUGE, BYTES_PER_SEC,
	  "What the newest test moved from the port to itself, within the node; no sample where it failed."},
	 PORT, .each = rna_family_selftest_bandwidth, .label = "memory"},
	{{"rdma_selftest_expected_bytes_per_second", GAUGE, BYTES_PER_SEC,
	  "What the link of the port and its PCIe path allowed then; no sample for software devices."},
	 PORT, .each = rna_family_selftest_expected, .label = "memory"},
	{{"rdma_selftest_ratio", GAUGE, RATIO,
	  "How much of what was expected the newest test moved."},
	 PORT, .each = rna_family_selftest_ratio, .label = "memory"},
	{{"rdma_selftest_latency_median_seconds", GAUGE, NANOSECONDS,
	  "Time of a small write in the newest test until it can be read, the median."},
	 PORT, .each = rna_family_selftest_median, .label = "memory"},
	{{"rdma_selftest_latency_p99_seconds", GAUGE, NANOSECONDS,
	  "The same, the 99th percentile."},
	 PORT, .each = rna_family_selftest_p99, .label = "memory"},
	{{"rdma_selftest_duration_seconds", GAUGE, SECONDS,
	  "How long the newest test took, with opening and closing the device."},
	 PORT, .each = rna_family_selftest_duration, .label = "memory"},
	{{"rdma_selftest_last_run_timestamp_seconds", GAUGE, SECONDS,
	  "When the port was tested last, since the epoch, also by an earlier process."},
	 PORT, rna_family_selftest_last_run},
	{{"rdma_selftest_last_success_timestamp_seconds", GAUGE, SECONDS,
	  "When the port was tested last and was good, since the epoch."},
	 PORT, rna_family_selftest_last_success},
	{{"rdma_selftest_bytes_total", COUNTER, BYTES,
	  "Bytes that tests of the port wrote, which its counters of data have as well."},
	 PORT, rna_family_selftest_bytes},
	{{"rdma_selftest_runs_total", COUNTER, PLAIN,
	  "Tests that took place, by result: ok, warning, failed, and measured where nothing was expected; "
	  "results that did not occur have no sample."},
	 PORT, .each = rna_family_selftest_runs, .label = "result"},
	{{"rdma_selftest_skips_total", COUNTER, PLAIN,
	  "Turns of the port at which it was not tested, by reason, of a closed list; reasons that "
	  "did not occur have no sample."},
	 PORT, .each = rna_family_selftest_skips, .label = "reason"},
	{{"rdma_port_qos_info", INFO, PLAIN,
	  "How packets of a RoCE port get their priority: by dscp or pcp (the VLAN tag); who configures "
	  "DCB, host or firmware; and the version that RDMA CM uses. No sample of what is not known."},
	 PORT, .each = rna_family_qos_info, .label = "trust, dcbx, cm_mode"},
	{{"rdma_port_pfc_enabled", GAUGE, YES_NO,
	  "Whether a priority is lossless (PFC); no sample where the driver has no DCB."},
	 PORT, .each = rna_family_pfc_enabled, .label = "priority"},
	{{"rdma_port_pfc_frames_total", COUNTER, PLAIN,
	  "Pause frames of priorities with PFC, tx and rx, as DCB counts them: tx asks the network to "
	  "wait, rx makes this port wait."},
	 PORT, .each = rna_family_pfc_frames, .label = "priority, direction"},
	{{"rdma_port_priority_dscp_info", INFO, PLAIN,
	  "The DSCPs that lead to a priority, as ranges; those in no series have no entry."},
	 PORT, .each = rna_family_priority_dscp, .label = "priority, dscps"},
	{{"rdma_port_ecn_enabled", GAUGE, YES_NO,
	  "Whether an end of congestion control is on for a priority: notification (it tells of marked "
	  "packets) and reaction (it slows down); only drivers of NVIDIA's package say."},
	 PORT, .each = rna_family_ecn_enabled, .label = "role, priority"},
	{{"rdma_port_roce_traffic_class", GAUGE, PLAIN,
	  "Traffic class that the driver writes into all RoCE packets of the port, 4 x DSCP; no sample where "
	  "applications choose."},
	 PORT, rna_family_traffic_class},
	{{"rdma_port_roce_cm_tos", GAUGE, PLAIN,
	  "Type of service of connections that RDMA CM makes when applications do not choose "
	  "(default_roce_tos in configfs); no sample where nobody made the directory."},
	 PORT, rna_family_default_tos},
	{{"rdma_port_vlan_info", INFO, PLAIN,
	  "A VLAN on the interface of a RoCE port; 32 of a port at most."},
	 PORT, .each = rna_family_vlan_info, .label = "netdev, vlan"},
	{{"rdma_port_vlan_gids", GAUGE, PLAIN,
	  "GIDs that a VLAN on the interface of a RoCE port has: with some, RDMA can use it."},
	 PORT, .each = rna_family_vlan_gids, .label = "netdev"},
	{{"rdma_port_vlan_mtu_bytes", GAUGE, BYTES,
	  "MTU of a VLAN on the interface of a RoCE port."},
	 PORT, .each = rna_family_vlan_mtu, .label = "netdev"},
	{{"rdma_port_priority_traffic_class", GAUGE, PLAIN,
	  "The traffic class of the link (ETS) that a priority belongs to; with metrics.qos_details."},
	 PORT, .each = rna_family_priority_traffic_class, .label = "priority"},
	{{"rdma_port_traffic_class_bandwidth_ratio", GAUGE, RATIO,
	  "Share of the link that a traffic class is guaranteed (ETS); algorithm: strict, ets, vendor. With "
	  "metrics.qos_details."},
	 PORT, .each = rna_family_traffic_class_bandwidth, .label = "traffic_class, algorithm"},
	{{"rdma_port_receive_buffer_bytes", GAUGE, BYTES,
	  "Size of a receive buffer, and the priorities that it is for; with metrics.qos_details."},
	 PORT, .each = rna_family_receive_buffer, .label = "buffer, priorities"},
	{{"rdma_port_congestion_control_parameter", GAUGE, PLAIN,
	  "A parameter of congestion control (DCQCN) by its name in the driver, in the driver's unit; only "
	  "root can read it. With metrics.qos_details, 32 of a port at most."},
	 PORT, .each = rna_family_congestion_parameter, .label = "parameter"},
	{{"rdma_gpu_info", INFO, PLAIN,
	  "A GPU of this node, by its PCI address, of any vendor."},
	 NODE, .each = rna_family_gpu_info, .label = "gpu, vendor, model, uuid, driver, minor, numa_node"},
	{{"rdma_gpu_nic_path", GAUGE, PLAIN,
	  "How far a GPU and a NIC are apart (0 X, 1 PIX, 2 PXB, 3 PHB, 4 NODE, 5 SYS), both by their PCI "
	  "addresses; of which pairs, metrics.gpu_nic_paths says."},
	 NODE, .each = rna_family_gpu_nic_path, .label = "gpu, nic, device, path"},
	{{"rdma_collector_success", GAUGE, YES_NO,
	  "Whether the last run of the collector succeeded."},
	 JOB, rna_family_success},
	{{"rdma_collector_duration_seconds", GAUGE, SECONDS,
	  "How long the last run of the collector took."},
	 JOB, rna_family_duration},
	{{"rdma_collector_age_seconds", GAUGE, SECONDS,
	  "Age of the newest data of the collector when the snapshot was taken."},
	 JOB, rna_family_age},
	{{"rdma_collector_stalled_seconds", GAUGE, SECONDS,
	  "How long a run of the collector has gone without an answer, once it is past its deadline; "
	  "else 0."},
	 JOB, rna_family_stalled},
	{{"rdma_collector_errors_total", COUNTER, PLAIN,
	  "Values and runs of the collector that failed."},
	 JOB, .each = rna_family_errors, .label = "reason"},
	{{"rdma_agent_build_info", INFO, PLAIN,
	  "Version of the agent."},
	 NODE, one},
	{{"rdma_agent_start_time_seconds", GAUGE, SECONDS,
	  "When the agent started, since the epoch."},
	 NODE, rna_family_start_time},
	{{"rdma_agent_snapshots_total", COUNTER, PLAIN,
	  "Snapshots that the agent published."},
	 NODE, rna_family_snapshots},
	{{"rdma_agent_events_total", COUNTER, PLAIN,
	  "Events received from the kernel, whatever they were about."},
	 NODE, .each = rna_family_events, .label = "source"},
	{{"rdma_agent_event_overruns_total", COUNTER, PLAIN,
	  "Times when the kernel dropped events and everything was read again."},
	 NODE, .each = rna_family_event_overruns, .label = "source"},
	{{"rdma_agent_event_latency_seconds", HISTOGRAM, SECONDS,
	  "Time from an event to the snapshot with what was read for it."},
	 NODE, .each = rna_family_event_latency, .label = "source"},
	{{"rdma_agent_changes_total", COUNTER, PLAIN,
	  "Changes of port states, by what showed them first."},
	 NODE, .each = rna_family_changes, .label = "source"},
	{{"rdma_agent_lanes", GAUGE, PLAIN,
	  "Worker threads that read hardware."},
	 NODE, rna_family_lanes},
	{{"rdma_agent_lanes_stalled", GAUGE, PLAIN,
	  "Worker threads that are held by a run past its deadline."},
	 NODE, rna_family_lanes_stalled},
	{{"rdma_agent_quiesced", GAUGE, YES_NO,
	  "Whether the agent keeps its hands off the RDMA stack, because drivers are being changed."},
	 NODE, rna_family_quiesced},
	{{"rdma_agent_seccomp_info", INFO, PLAIN,
	  "Which filter of system calls the agent has: own, inherited (of systemd or a container) or none."},
	 NODE, .each = rna_family_seccomp, .label = "filter"},
	{{"rdma_agent_config_last_reload_successful", GAUGE, YES_NO,
	  "Whether the configuration was good when it was read last."},
	 NODE, rna_family_config_ok},
	{{"rdma_agent_config_last_reload_success_timestamp_seconds", GAUGE, SECONDS,
	  "When the configuration in use was read, since the epoch."},
	 NODE, rna_family_config_loaded},
	{{"rdma_agent_web_config_last_reload_successful", GAUGE, YES_NO,
	  "Whether the newest content of the web configuration and its files is the one in use."},
	 NODE, rna_family_web_ok},
	{{"rdma_agent_web_config_last_reload_success_timestamp_seconds", GAUGE, SECONDS,
	  "When the web configuration in use was read, since the epoch."},
	 NODE, rna_family_web_loaded},
	{{"rdma_agent_tls_certificate_not_after_timestamp_seconds", GAUGE, SECONDS,
	  "When the certificate of the agent's own HTTPS ends, since the epoch."},
	 NODE, rna_family_certificate_end},
	{{"rdma_agent_http_logins_total", COUNTER, PLAIN,
	  "Requests with a name and a password, by what came of them."},
	 NODE, .each = rna_family_logins, .label = "result"},
	{{"rdma_kubernetes_in_step", GAUGE, YES_NO,
	  "Whether the Node, or the file for it, says what the agent wants it to say."},
	 NODE, .each = rna_family_node_in_step, .label = "backend"},
	{{"rdma_kubernetes_problem", GAUGE, YES_NO,
	  "Whether something keeps it from that; the log says what."},
	 NODE, .each = rna_family_node_problem, .label = "backend"},
	{{"rdma_kubernetes_last_write_timestamp_seconds", GAUGE, SECONDS,
	  "When it was written last, since the epoch."},
	 NODE, .each = rna_family_node_written, .label = "backend"},
	{{"rdma_kubernetes_requests_total", COUNTER, PLAIN,
	  "Requests to the API server, and writes of the file, by what became of them."},
	 NODE, .each = rna_family_node_requests, .label = "backend, result"},
	{{"rdma_kubernetes_events_sent_total", COUNTER, PLAIN,
	  "Events that the API server took."},
	 NODE, rna_family_node_events_sent},
	{{"rdma_kubernetes_events_dropped_total", COUNTER, PLAIN,
	  "Events left out, by limits or for being too old when there was an API server again."},
	 NODE, rna_family_node_events_dropped},
	{{"rdma_kubernetes_allocatable", GAUGE, PLAIN,
	  "How many of a resource of device plugins pods can have on this node."},
	 NODE, .each = rna_family_node_allocatable, .label = "resource"},
	{{"rdma_kubernetes_capacity", GAUGE, PLAIN,
	  "How many of a resource of device plugins there are on this node."},
	 NODE, .each = rna_family_node_capacity, .label = "resource"},
	{{"process_cpu_seconds_total", COUNTER, SECONDS,
	  "User and system time of the agent."},
	 NODE, rna_family_process_cpu},
	{{"process_resident_memory_bytes", GAUGE, BYTES,
	  "Resident memory of the agent."},
	 NODE, rna_family_process_resident_memory},
	{{"process_virtual_memory_bytes", GAUGE, BYTES,
	  "Virtual memory of the agent."},
	 NODE, rna_family_process_virtual_memory},
	{{"process_open_fds", GAUGE, PLAIN,
	  "Open file descriptors of the agent."},
	 NODE, rna_family_process_open_fds},
	{{"process_max_fds", GAUGE, PLAIN,
	  "Most file descriptors that the agent may open."},
	 NODE, rna_family_process_max_fds},
	{{"process_threads", GAUGE, PLAIN,
	  "Threads of the agent."},
	 NODE, rna_family_process_threads},
	{{"process_start_time_seconds", GAUGE, SECONDS,
	  "When the agent started, since the epoch."},
	 NODE, rna_family_start_time},
};
/* clang-format on */

/* -- The table with the counters in it --------------------------------------------------------- */

static struct rna_family counter_family(struct rna_arena *arena, const struct rna_counter *counter)
{
	bool device = counter->place == RNA_PLACE_DEVICE_HW_COUNTERS;
	bool rises = counter->kind == RNA_COUNTER;

	return (struct rna_family){
		.metric =
			{
				.name = rna_arena_printf(arena, "rdma_%s_%s%s",
							 device ? "device" : "port",
							 counter->metric, rises ? "_total" : ""),
				.type = rises ? COUNTER : GAUGE,
				.unit = counter->unit == RNA_UNIT_NONE ? PLAIN : BYTES,
				.help = counter->help,
			},
		.scope = device ? DEVICE : PORT,
		.label = counter->label,
		.counter = counter,
	};
}

static int add(struct rna_families *families, struct rna_family family)
{
	if (!family.metric.name || rna_metric_prepare(&family.metric, families->arena) < 0)
		return -ENOMEM;
	families->items[families->count++] = family;
	return 0;
}

static int add_counters(struct rna_families *families)
{
	for (size_t i = 0; i < rna_counter_count; i++)
		if (!rna_family_counter_follows(&rna_counters[i]) &&
		    add(families, counter_family(families->arena, &rna_counters[i])) < 0)
			return -ENOMEM;
	return 0;
}

static int add_statistics(struct rna_families *families)
{
	for (enum rna_ethernet_statistic_id id = 0; id < RNA_ETHERNET_STATISTIC_COUNT; id++)
		if (add(families, rna_family_of_statistic(id, families->arena)) < 0)
			return -ENOMEM;
	return 0;
}

static int add_alias(struct rna_families *families, struct rna_family family)
{
	family.alias = rna_counter_find(family.place, family.file);
	if (!family.alias)
		return 0; /* the unit test looks for each */
	family.metric.help = family.alias->help;
	family.metric.unit = family.alias->unit == RNA_UNIT_NONE ? PLAIN : BYTES;
	return add(families, family);
}

static int add_compat(struct rna_families *families)
{
	for (size_t i = 0; i < rna_compat_family_count; i++) {
		const struct rna_family *family = &rna_compat_families[i];

		if ((family->file ? add_alias(families, *family) : add(families, *family)) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_all(struct rna_families *families)
{
	int status = 0;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(table) && status == 0; i++) {
		if (table[i].counters)
			status = add_counters(families);
		else if (table[i].statistics)
			status = add_statistics(families);
		else
			status = add(families, table[i]);
	}
	return status;
}

struct rna_families *rna_families_new(void)
{
	size_t most = RNA_ARRAY_SIZE(table) + RNA_ETHERNET_STATISTIC_COUNT + rna_counter_count +
		      rna_compat_family_count;
	RNA_CLEANUP(rna_families_free_p)
	struct rna_families *families = calloc(1, sizeof(*families));

	if (!families)
		return NULL;
	families->arena = rna_arena_new(most * (sizeof(*families->items) + 512));
	if (!families->arena)
		return NULL;
	families->items = rna_arena_array(families->arena, most, sizeof(*families->items));
	if (!families->items || add_all(families) < 0)
		return NULL;
	families->own_count = families->count;
	if (add_compat(families) < 0)
		return NULL;
	return RNA_TAKE(families);
}

struct rna_families *rna_families_free(struct rna_families *families)
{
	if (families)
		(void)rna_arena_free(families->arena);
	free(families);
	return NULL;
}

void rna_family_write(const struct rna_family *family, const struct rna_subjects *subjects,
		      struct rna_walk *walk, struct rna_writer *writer)
{
	const struct rna_subject_list *list = &subjects->scopes[family->scope];
	bool info = family->metric.type == INFO;

	rna_writer_metric(writer, &family->metric);
	if (family->counter && family->counter->label)
		rna_family_write_labelled_counters(family->counter, list, writer);
	else if (family->counter)
		rna_family_write_known_counter(family->counter, walk, writer);
	if (family->statistic)
		rna_family_write_statistic(family, list, writer);
	if (family->alias)
		rna_family_write_alias(family->alias, list, writer);
	for (size_t i = 0; family->each && i < list->count; i++)
		family->each(&list->items[i], writer);
	for (size_t i = 0; family->get && i < list->count; i++) {
		const struct rna_subject *subject = &list->items[i];
		struct rna_value value = family->get(subject);

		if (rna_value_is_known(value))
			rna_writer_sample(writer, info ? subject->info : subject->labels,
					  value.number);
	}
}

/* -- Documents --------------------------------------------------------------------------------- */

static void write_labels(const struct rna_family *family, struct rna_strbuf *out)
{
	static const char *const of_scope[] = {
		[NODE] = "",
		[DEVICE] = "device",
		[PORT] = "device, port",
		[GID] = "device, port",
		[JOB] = "collector, device",
	};
	struct rna_fact_table facts = rna_facts_of(family->scope);

	rna_strbuf_puts(out, of_scope[family->scope]);
	if (family->statistic)
		rna_strbuf_printf(out, ", %s", rna_family_statistic_labels(family));
	if (family->label)
		rna_strbuf_printf(out, "%s%s", *of_scope[family->scope] ? ", " : "", family->label);
	if (family->metric.type != INFO || family->each)
		return;
	if (family->scope == NODE) {
		rna_strbuf_puts(out, "version");
		return;
	}
	for (size_t i = 0; i < facts.count; i++)
		rna_strbuf_printf(out, ", %s", facts.rows[i].name);
}

void rna_write_families(struct rna_strbuf *out)
{
	RNA_CLEANUP(rna_families_free_p) struct rna_families *families = rna_families_new();

	if (!families) {
		out->failed = true;
		return;
	}
	rna_strbuf_puts(out, "| family | type | labels | meaning |\n|---|---|---|---|\n");
	for (size_t i = 0; i < families->count; i++) {
		const struct rna_metric *metric = &families->items[i].metric;

		rna_strbuf_printf(out, "| `%s` | %s | ", metric->name,
				  rna_metric_type_name(metric->type));
		write_labels(&families->items[i], out);
		rna_strbuf_printf(out, " | %s |\n", metric->help);
	}
}
