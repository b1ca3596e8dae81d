// SPDX-License-Identifier: Apache-2.0
/*
 * The allow-list of driver statistics. A driver has hundreds to thousands of them, nearly all per
 * queue; these are the ones about the physical link, flow control and PCIe.
 *
 * Names are those of Linux 6.12: drivers/net/ethernet/mellanox/mlx5/core/en_stats.c (what they
 * mean: Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst),
 * broadcom/bnxt/bnxt_ethtool.c, intel/ice/ice_ethtool.c, intel/{e1000e,igb,ixgbe}, pensando/ionic/
 * ionic_stats.c, amazon/ena/ena_ethtool.c. The names are unambiguous, so rows name no driver, and a
 * Soft-RoCE device on any interface has its statistics, too.
 *
 * If a statistic has several names, the first one that the driver has is used; a standard statistic
 * of the kernel precedes all of them. To add a statistic, add a row.
 *
 * An IPoIB interface of mlx5 (enhanced IPoIB, the default of ib_ipoib) has the groups sw, qcnt,
 * vnic_env, vport, 802_3, 2863, 2819, phy, pcie, per_prio, pme, channels and per_port_buff_congest
 * (mlx5i_stats_grps in mlx5/core/ipoib/ipoib.c, Linux 5.9 to 6.17), that is, all of an Ethernet
 * interface but eth_ext and those of offloads. Rows with IPOIB are of the groups that mean the port
 * or the device whatever its link layer is: phy (PPCNT, physical layer and its statistics), pcie
 * (MPCNT), pme (events of the module, counted by the driver), and qcnt, which is about the
 * interface's own queues. The groups 802_3, 2863, 2819, per_prio and per_port_buff_congest count
 * Ethernet frames, of which an InfiniBand port has none. Reading costs as much as for Ethernet,
 * because the driver asks the firmware for all groups each time (mlx5e_stats_update()).
 */
#include "ethernet_sources.h"

#include <ctype.h>
#include <string.h>

#include "rna/base/cleanup.h"

#include "backend/backends.h"

enum { PERCENT = 10000, WHOLE_SECONDS = 1000000 };

#define IPOIB .ipoib = true

static const struct rna_ethernet_source sources[] = {
	/* mlx5 */
	{"link_down_events_phy", RNA_ETHERNET_LINK_DOWNS, IPOIB},
	{"rx_bits_phy", RNA_ETHERNET_WIRE_RECEIVED, IPOIB},
	{"rx_symbol_err_phy", RNA_ETHERNET_SYMBOL_ERRORS},
	{"rx_pcs_symbol_err_phy", RNA_ETHERNET_PCS_SYMBOL_ERRORS, IPOIB},
	{"rx_err_lane_%_phy", RNA_ETHERNET_LANE_ERRORS, IPOIB},
	{"rx_corrected_bits_phy", RNA_ETHERNET_FEC_CORRECTED_BITS, IPOIB},
	{"rx_crc_errors_phy", RNA_ETHERNET_FCS_ERRORS},
	{"rx_in_range_len_errors_phy", RNA_ETHERNET_LENGTH_ERRORS},
	{"rx_undersize_pkts_phy", RNA_ETHERNET_UNDERSIZE_FRAMES},
	{"rx_oversize_pkts_phy", RNA_ETHERNET_OVERSIZE_FRAMES},
	{"rx_fragments_phy", RNA_ETHERNET_FRAGMENTS},
	{"rx_jabbers_phy", RNA_ETHERNET_JABBERS},
	{"rx_unsupported_op_phy", RNA_ETHERNET_UNSUPPORTED_FRAMES},
	{"rx_discards_phy", RNA_ETHERNET_RECEIVE_DISCARDS},
	{"tx_discards_phy", RNA_ETHERNET_TRANSMIT_DISCARDS},
	{"rx_out_of_buffer", RNA_ETHERNET_OUT_OF_BUFFER, IPOIB},
	{"rx_pause_ctrl_phy", RNA_ETHERNET_PAUSE_RECEIVED},
	{"tx_pause_ctrl_phy", RNA_ETHERNET_PAUSE_TRANSMITTED},
	{"rx_global_pause_duration", RNA_ETHERNET_PAUSE_RECEIVED_TIME},
	{"tx_global_pause_duration", RNA_ETHERNET_PAUSE_TRANSMITTED_TIME},
	{"rx_prio%_pause", RNA_ETHERNET_PRIORITY_PAUSE_RECEIVED},
	{"tx_prio%_pause", RNA_ETHERNET_PRIORITY_PAUSE_TRANSMITTED},
	{"rx_prio%_pause_duration", RNA_ETHERNET_PRIORITY_PAUSE_RECEIVED_TIME},
	{"tx_prio%_pause_duration", RNA_ETHERNET_PRIORITY_PAUSE_TRANSMITTED_TIME},
	{"rx_prio%_discards", RNA_ETHERNET_PRIORITY_DISCARDS},
	{"rx_prio%_buf_discard", RNA_ETHERNET_PRIORITY_BUFFER_DISCARDS},
	{"rx_prio%_cong_discard", RNA_ETHERNET_PRIORITY_CONGESTION_DISCARDS},
	{"rx_prio%_marked", RNA_ETHERNET_PRIORITY_MARKED},
	{"tx_pause_storm_warning_events", RNA_ETHERNET_PAUSE_STORM_WARNINGS},
	{"tx_pause_storm_error_events", RNA_ETHERNET_PAUSE_STORM_ERRORS},
	{"outbound_pci_stalled_rd", RNA_ETHERNET_PCIE_READ_STALLED, .scale = PERCENT, IPOIB},
	{"outbound_pci_stalled_wr", RNA_ETHERNET_PCIE_WRITE_STALLED, .scale = PERCENT, IPOIB},
	{"outbound_pci_stalled_rd_events", RNA_ETHERNET_PCIE_READ_STALLED_TIME,
	 .scale = WHOLE_SECONDS, IPOIB},
	{"outbound_pci_stalled_wr_events", RNA_ETHERNET_PCIE_WRITE_STALLED_TIME,
	 .scale = WHOLE_SECONDS, IPOIB},
	{"outbound_pci_buffer_overflow", RNA_ETHERNET_PCIE_BUFFER_OVERFLOWS, IPOIB},
	{"rx_pci_signal_integrity", RNA_ETHERNET_PCIE_RECEIVE_SIGNAL_ERRORS, IPOIB},
	{"tx_pci_signal_integrity", RNA_ETHERNET_PCIE_TRANSMIT_SIGNAL_ERRORS, IPOIB},
	{"module_unplug", RNA_ETHERNET_MODULE_UNPLUGGED, IPOIB},
	{"module_bus_stuck", RNA_ETHERNET_MODULE_BUS_STUCK, IPOIB},
	{"module_high_temp", RNA_ETHERNET_MODULE_HIGH_TEMPERATURE, IPOIB},
	{"module_bad_shorted", RNA_ETHERNET_MODULE_BAD_SHORTED, IPOIB},
	/* bnxt_en */
	{"link_down_events", RNA_ETHERNET_LINK_DOWNS},
	{"rx_pcs_symbol_err", RNA_ETHERNET_PCS_SYMBOL_ERRORS},
	{"rx_corrected_bits", RNA_ETHERNET_FEC_CORRECTED_BITS},
	{"rx_fec_corrected_blocks", RNA_ETHERNET_FEC_CORRECTED_BLOCKS},
	{"rx_fec_uncorrectable_blocks", RNA_ETHERNET_FEC_UNCORRECTABLE_BLOCKS},
	{"rx_fcs_err_frames", RNA_ETHERNET_FCS_ERRORS},
	{"rx_align_err_frames", RNA_ETHERNET_ALIGNMENT_ERRORS},
	{"rx_undrsz_frames", RNA_ETHERNET_UNDERSIZE_FRAMES},
	{"rx_ovrsz_frames", RNA_ETHERNET_OVERSIZE_FRAMES},
	{"rx_jbr_frames", RNA_ETHERNET_JABBERS},
	{"rx_stat_discard", RNA_ETHERNET_RECEIVE_DISCARDS},
	{"tx_stat_discard", RNA_ETHERNET_TRANSMIT_DISCARDS},
	{"rx_pause_frames", RNA_ETHERNET_PAUSE_RECEIVED},
	{"tx_pause_frames", RNA_ETHERNET_PAUSE_TRANSMITTED},
	{"rx_pfc_ena_frames_pri%", RNA_ETHERNET_PRIORITY_PAUSE_RECEIVED},
	{"tx_pfc_ena_frames_pri%", RNA_ETHERNET_PRIORITY_PAUSE_TRANSMITTED},
	{"pfc_pri%_rx_duration_us", RNA_ETHERNET_PRIORITY_PAUSE_RECEIVED_TIME},
	{"pfc_pri%_tx_duration_us", RNA_ETHERNET_PRIORITY_PAUSE_TRANSMITTED_TIME},
	/* ice */
	{"mac_local_faults.nic", RNA_ETHERNET_LOCAL_FAULTS},
	{"mac_remote_faults.nic", RNA_ETHERNET_REMOTE_FAULTS},
	{"illegal_bytes.nic", RNA_ETHERNET_SYMBOL_ERRORS},
	{"rx_crc_errors.nic", RNA_ETHERNET_FCS_ERRORS},
	{"rx_undersize.nic", RNA_ETHERNET_UNDERSIZE_FRAMES},
	{"rx_oversize.nic", RNA_ETHERNET_OVERSIZE_FRAMES},
	{"rx_fragments.nic", RNA_ETHERNET_FRAGMENTS},
	{"rx_jabber.nic", RNA_ETHERNET_JABBERS},
	{"rx_dropped.nic", RNA_ETHERNET_RECEIVE_DISCARDS},
	{"tx_dropped_link_down.nic", RNA_ETHERNET_TRANSMIT_DISCARDS},
	{"link_xoff_rx.nic", RNA_ETHERNET_PAUSE_RECEIVED},
	{"link_xoff_tx.nic", RNA_ETHERNET_PAUSE_TRANSMITTED},
	{"rx_priority_%_xoff.nic", RNA_ETHERNET_PRIORITY_PAUSE_RECEIVED},
	{"tx_priority_%_xoff.nic", RNA_ETHERNET_PRIORITY_PAUSE_TRANSMITTED},
	/* e1000e, igb, ixgbe */
	{"rx_crc_errors", RNA_ETHERNET_FCS_ERRORS},
	{"rx_align_errors", RNA_ETHERNET_ALIGNMENT_ERRORS},
	{"rx_length_errors", RNA_ETHERNET_LENGTH_ERRORS},
	{"rx_no_buffer_count", RNA_ETHERNET_RECEIVE_DISCARDS},
	{"rx_flow_control_xoff", RNA_ETHERNET_PAUSE_RECEIVED},
	{"tx_flow_control_xoff", RNA_ETHERNET_PAUSE_TRANSMITTED},
	/* ionic */
	{"frames_rx_bad_fcs", RNA_ETHERNET_FCS_ERRORS},
	{"frames_rx_bad_length", RNA_ETHERNET_LENGTH_ERRORS},
	{"frames_rx_undersized", RNA_ETHERNET_UNDERSIZE_FRAMES},
	{"frames_rx_oversized", RNA_ETHERNET_OVERSIZE_FRAMES},
	{"frames_rx_fragments", RNA_ETHERNET_FRAGMENTS},
	{"frames_rx_jabber", RNA_ETHERNET_JABBERS},
	{"frames_rx_dropped", RNA_ETHERNET_RECEIVE_DISCARDS},
	{"frames_rx_pause", RNA_ETHERNET_PAUSE_RECEIVED},
	{"frames_tx_pause", RNA_ETHERNET_PAUSE_TRANSMITTED},
	{"rx_pause_1us_count", RNA_ETHERNET_PAUSE_RECEIVED_TIME},
	{"rx_pripause_%_1us_count", RNA_ETHERNET_PRIORITY_PAUSE_RECEIVED_TIME},
	{"tx_pripause_%_1us_count", RNA_ETHERNET_PRIORITY_PAUSE_TRANSMITTED_TIME},
	/* ena */
	{"bw_in_allowance_exceeded", RNA_ETHERNET_BANDWIDTH_IN_EXCEEDED},
	{"bw_out_allowance_exceeded", RNA_ETHERNET_BANDWIDTH_OUT_EXCEEDED},
	{"pps_allowance_exceeded", RNA_ETHERNET_PACKET_RATE_EXCEEDED},
};

/* Parses up to two digits; returns the rest. */
static const char *parse_digits(const char *text, int *ret)
{
	*ret = 0;
	for (int digits = 0; digits < 2 && isdigit((unsigned char)*text); digits++)
		*ret = *ret * 10 + (*text++ - '0');
	return text;
}

static bool fits(const char *pattern, const char *name, int *ret_number)
{
	size_t front = strcspn(pattern, "%");
	const char *rest;

	*ret_number = -1;
	if (!pattern[front])
		return strcmp(pattern, name) == 0;
	if (strncmp(pattern, name, front) != 0 || !isdigit((unsigned char)name[front]))
		return false;
	rest = parse_digits(name + front, ret_number);
	return strcmp(rest, pattern + front + 1) == 0;
}

/* Rejects globs and patterns, which the setting does not support. */
static bool is_legal(const char *name)
{
	size_t len = strlen(name);

	if (len == 0 || len > RNA_ETHTOOL_NAME_MAX || name[0] == ' ' || name[len - 1] == ' ')
		return false;
	for (; *name; name++)
		if (*name < ' ' || *name > '~' || strchr("*?%\"\\", *name))
			return false;
	return true;
}

const struct rna_ethernet_source *rna_ethernet_find_source(const char *name, int *ret_number)
{
	return RNA_FIND(i, sources, RNA_ARRAY_SIZE(sources),
			fits(sources[i].pattern, name, ret_number));
}

bool rna_ethernet_extra_is_valid(const char *name)
{
	int number;

	return is_legal(name) && !rna_ethernet_find_source(name, &number);
}
