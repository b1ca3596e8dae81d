// SPDX-License-Identifier: Apache-2.0
/*
 * Names of others: the families of node_exporter's infiniband collector, for dashboards and alerts
 * that were written for it. Off unless metrics.node_exporter_names is set.
 *
 * The names follow no rule, so each has a row (node_exporter collector/infiniband_linux.go; files:
 * procfs sysfs/class_infiniband.go). Beware of
 *   - the pair roce_slow_restart and roce_slow_restart_trans, whose names are crossed over there;
 *   - the rate, which is what the file says even while the port is down;
 *   - files that it does not list: they have no family here either.
 *
 * Two kinds of families are left out. node_infiniband_legacy_* are the files of counters_ext, which
 * no kernel since 4.7 has. node_infiniband_lifespan_seconds is the age at which the kernel reads
 * hw_counters anew, a setting, in milliseconds divided by 1000 without a remainder: nearly always
 * 0. tests/compat compares with the program itself.
 */
#include "family_rows.h"

static void add_label(struct rna_strbuf *labels, const char *name, const char *value)
{
	rna_label_add(labels, name, value ? value : ""); /* it always has all four */
}

static void info(const struct rna_subject *device, struct rna_writer *writer)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;
	const struct rna_identity *identity = device->identity;

	if (!identity)
		return;
	add_label(&labels, "device", device->device->device->name);
	add_label(&labels, "board_id", identity->board_id);
	add_label(&labels, "firmware_version", identity->firmware_version);
	add_label(&labels, "hca_type", identity->hca_type);
	rna_writer_sample_labels(writer, &labels, 1);
}

#define ALIAS(name_, place_, file_)                                                                \
	{                                                                                          \
		.metric = {.name = "node_infiniband_" name_ "_total", .type = COUNTER},            \
		.scope = PORT, .file = (file_), .place = (place_),                                 \
	}
#define PMA(name, file) ALIAS(name, RNA_PLACE_PORT_COUNTERS, file)
#define HW(name, file)  ALIAS(name, RNA_PLACE_PORT_HW_COUNTERS, file)

/* clang-format off */
static const struct rna_family rows[] = {
	METRIC(DEVICE, "node_infiniband_info", INFO, PLAIN,
	       EACH(info, "board_id, firmware_version, hca_type"),
	       "Board, firmware version and type of an RDMA device, in node_exporter's names."),
	METRIC(PORT, "node_infiniband_state_id", GAUGE, PLAIN, AT(state, state),
	       "Logical state of the port (1 DOWN, 2 INIT, 3 ARMED, 4 ACTIVE, 5 ACTIVE_DEFER)."),
	METRIC(PORT, "node_infiniband_physical_state_id", GAUGE, PLAIN, AT(state, physical_state),
	       "Physical state of the port (1 Sleep, 2 Polling, 3 Disabled, 4 Training, 5 LinkUp, "
	       "6 Recovery, 7 Test)."),
	METRIC(PORT, "node_infiniband_rate_bytes_per_second", GAUGE, BYTES_PER_SEC, AT(link, rate),
	       "Data rate of the link in bytes per second as the driver reports it, also while the "
	       "port is down."),

	PMA("port_data_received_bytes", "port_rcv_data"),
	PMA("port_data_transmitted_bytes", "port_xmit_data"),
	PMA("port_packets_received", "port_rcv_packets"),
	PMA("port_packets_transmitted", "port_xmit_packets"),
	PMA("unicast_packets_received", "unicast_rcv_packets"),
	PMA("unicast_packets_transmitted", "unicast_xmit_packets"),
	PMA("multicast_packets_received", "multicast_rcv_packets"),
	PMA("multicast_packets_transmitted", "multicast_xmit_packets"),
	PMA("port_errors_received", "port_rcv_errors"),
	PMA("port_discards_received", "port_rcv_discards"),
	PMA("port_discards_transmitted", "port_xmit_discards"),
	PMA("port_constraint_errors_received", "port_rcv_constraint_errors"),
	PMA("port_constraint_errors_transmitted", "port_xmit_constraint_errors"),
	PMA("port_receive_remote_physical_errors", "port_rcv_remote_physical_errors"),
	PMA("port_receive_switch_relay_errors", "port_rcv_switch_relay_errors"),
	PMA("port_transmit_wait", "port_xmit_wait"),
	PMA("symbol_error", "symbol_error"),
	PMA("link_error_recovery", "link_error_recovery"),
	PMA("link_downed", "link_downed"),
	PMA("local_link_integrity_errors", "local_link_integrity_errors"),
	PMA("excessive_buffer_overrun_errors", "excessive_buffer_overrun_errors"),
	PMA("vl15_dropped", "VL15_dropped"),

	HW("duplicate_requests_packets", "duplicate_request"),
	HW("implied_nak_seq_errors", "implied_nak_seq_err"),
	HW("local_ack_timeout_errors", "local_ack_timeout_err"),
	HW("np_cnp_packets_sent", "np_cnp_sent"),
	HW("np_ecn_marked_roce_packets_received", "np_ecn_marked_roce_packets"),
	HW("out_of_buffer_drops", "out_of_buffer"),
	HW("out_of_sequence_packets_received", "out_of_sequence"),
	HW("packet_sequence_errors", "packet_seq_err"),
	HW("req_cqes_errors", "req_cqe_error"),
	HW("req_cqes_flush_errors", "req_cqe_flush_error"),
	HW("req_remote_access_errors", "req_remote_access_errors"),
	HW("req_remote_invalid_request_errors", "req_remote_invalid_request"),
	HW("resp_cqes_errors", "resp_cqe_error"),
	HW("resp_cqes_flush_errors", "resp_cqe_flush_error"),
	HW("resp_local_length_errors", "resp_local_length_error"),
	HW("resp_remote_access_errors", "resp_remote_access_errors"),
	HW("rnr_nak_retry_packets_received", "rnr_nak_retry_err"),
	HW("roce_adp_retransmits", "roce_adp_retrans"),
	HW("roce_adp_retransmits_timeout", "roce_adp_retrans_to"),
	HW("roce_slow_restart_used", "roce_slow_restart"),
	HW("roce_slow_restart_cnps", "roce_slow_restart_cnps"),
	HW("roce_slow_restart", "roce_slow_restart_trans"),
	HW("rp_cnp_packets_handled", "rp_cnp_handled"),
	HW("rp_cnp_ignored_packets_received", "rp_cnp_ignored"),
	HW("rx_atomic_requests", "rx_atomic_requests"),
	HW("rx_dct_connect_requests", "rx_dct_connect"),
	HW("rx_read_requests", "rx_read_requests"),
	HW("rx_write_requests", "rx_write_requests"),
	HW("rx_icrc_encapsulated_errors", "rx_icrc_encapsulated"),
};
/* clang-format on */

const struct rna_family_table rna_compat_table = {ROWS(rows)};
