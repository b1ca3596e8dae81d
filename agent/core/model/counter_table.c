// SPDX-License-Identifier: Apache-2.0
/*
 * The table of known counters: one row per file, see rna/model/counter.h. To support another
 * counter, add its row; collectors and exporters need no change.
 *
 * Names and widths: IBTA 16.1.3.5 (PortCounters) and 16.1.4.11 (PortCountersExtended); Linux
 * drivers/infiniband/core/sysfs.c (pma_attrs_ext) and the *_stat_desc tables of the drivers.
 * Meanings: Documentation/ABI/stable/sysfs-class-infiniband and the kernel commits that added them.
 */
#include <string.h>

#include "rna/base/cleanup.h"
#include "rna/model/counter.h"

#define FILLS_UP .fills_up = true
#define DETAIL   .detail = true

/*
 * ports/N/counters. Errors stick at their maximum. Traffic is taken from the 64-bit attribute if
 * the PMA has it, else from PortCounters, with 32 bits that stick (IBTA 16.1.3.5; Linux 6.12
 * core/sysfs.c get_counter_table()). Kernels before 4.5 always take the latter; qib limits it in
 * the driver (hw/qib/qib_mad.c pma_get_portcounters()).
 */
#define PMA_ERROR(bits, layers, file_, metric_, help_, ...)                                        \
	{                                                                                          \
		.file = (file_), .metric = (metric_), .help = (help_),                             \
		.place = RNA_PLACE_PORT_COUNTERS, .width = (bits), .saturates = true,              \
		.link_layers = (layers), __VA_ARGS__                                               \
	}
#define PMA_TRAFFIC(unit_, file_, metric_, help_, ...)                                             \
	{                                                                                          \
		.file = (file_), .metric = (metric_), .help = (help_),                             \
		.place = RNA_PLACE_PORT_COUNTERS, .unit = (unit_), .width = 64, .small_width = 32, \
		.link_layers = RNA_ON_ANY, __VA_ARGS__                                             \
	}

/* ports/N/hw_counters. They wrap. */
#define HW(bits, layers, unit_, kind_, file_, metric_, help_, ...)                                 \
	{                                                                                          \
		.file = (file_), .metric = (metric_), .help = (help_),                             \
		.place = RNA_PLACE_PORT_HW_COUNTERS, .unit = (unit_), .kind = (kind_),             \
		.width = (bits), .link_layers = (layers), __VA_ARGS__                              \
	}
/*
 * Most counters of mlx5 have 32 bits (QUERY_Q_COUNTER). If another driver has a wider counter under
 * the same name, the row still says 32: a number of 2^32 or more shows that the counter is wider.
 */
#define HW32(file, metric, ...)                                                                    \
	HW(32, RNA_ON_ANY, RNA_UNIT_NONE, RNA_COUNTER, file, metric, __VA_ARGS__)
#define HW32_ROCE(file, metric, help)                                                              \
	HW(32, RNA_ON_ETHERNET, RNA_UNIT_NONE, RNA_COUNTER, file, metric, help)
#define HW64_ROCE(file, metric, help)                                                              \
	HW(64, RNA_ON_ETHERNET, RNA_UNIT_NONE, RNA_COUNTER, file, metric, help)
#define HW64(file, metric, help) HW(64, RNA_ON_ANY, RNA_UNIT_NONE, RNA_COUNTER, file, metric, help)
#define HW_BYTES(file, metric, help)                                                               \
	HW(64, RNA_ON_ANY, RNA_UNIT_BYTES, RNA_COUNTER, file, metric, help)
#define HW_GAUGE(file, metric, help)                                                               \
	HW(64, RNA_ON_ANY, RNA_UNIT_NONE, RNA_GAUGE, file, metric, help)

/* hw_counters of the device. */
#define DEVICE(file_, metric_, help_)                                                              \
	{                                                                                          \
		.file = (file_), .metric = (metric_), .help = (help_),                             \
		.place = RNA_PLACE_DEVICE_HW_COUNTERS, .width = 64, .link_layers = RNA_ON_ANY,     \
	}

#define DEVICE_MLX4(file_, metric_, help_)                                                         \
	{                                                                                          \
		.file = (file_), .metric = (metric_), .help = (help_),                             \
		.place = RNA_PLACE_DEVICE_HW_COUNTERS, .width = 32, .link_layers = RNA_ON_ANY,     \
	}

/* mlx5 in switchdev mode: of the device, and of the function behind a port. */
#define WHOLE_DEVICE " Of the device as a whole: mlx5 in switchdev mode."
#define REPRESENTED  " Of the function that the port represents: mlx5 in switchdev mode."
#define HW_DEVICE(bits, layers, file_, metric_, help_, ...)                                        \
	{                                                                                          \
		.file = (file_), .metric = (metric_), .help = help_ WHOLE_DEVICE,                  \
		.place = RNA_PLACE_DEVICE_HW_COUNTERS, .width = (bits), .link_layers = (layers),   \
		__VA_ARGS__                                                                        \
	}
#define DEVICE32(file, metric, ...)       HW_DEVICE(32, RNA_ON_ANY, file, metric, __VA_ARGS__)
#define DEVICE32_ROCE(file, metric, help) HW_DEVICE(32, RNA_ON_ETHERNET, file, metric, help)
#define DEVICE64_ROCE(file, metric, help) HW_DEVICE(64, RNA_ON_ETHERNET, file, metric, help)
#define VPORT(file, metric, help, ...)                                                             \
	HW32("vport_" file, "vport_" metric, help REPRESENTED, __VA_ARGS__)
#define VPORT_ROCE(file, metric, help) HW32_ROCE("vport_" file, "vport_" metric, help REPRESENTED)

/* PMA attributes without a file; IBTA 16.1.4. All stick at their maximum. */
#define FABRIC(bits, label_, instance_, name_, metric_, help_, ...)                                \
	{                                                                                          \
		.file = (name_), .metric = (metric_), .help = (help_),                             \
		.place = RNA_PLACE_PORT_FABRIC, .width = (bits), .saturates = true,                \
		.link_layers = RNA_ON_INFINIBAND, .label = (label_), .instance = (instance_),      \
		__VA_ARGS__                                                                        \
	}
#define FABRIC_LANES(name, metric, help, ...)                                                      \
	FABRIC(32, "lane", "0", name "0", metric, help, __VA_ARGS__),                              \
		FABRIC(32, "lane", "1", name "1", metric, help, __VA_ARGS__),                      \
		FABRIC(32, "lane", "2", name "2", metric, help, __VA_ARGS__),                      \
		FABRIC(32, "lane", "3", name "3", metric, help, __VA_ARGS__)
#define RECEIVE_ERROR(name, cause)                                                                 \
	FABRIC(16, "cause", cause, name, "receive_error_causes",                                   \
	       "Packets received with errors, by cause.")
#define DISCARD(name, cause)                                                                       \
	FABRIC(16, "cause", cause, name, "transmit_discard_causes",                                \
	       "Outbound packets dropped, by cause.")
#define VL_WAIT(number)                                                                            \
	FABRIC(16, "vl", #number, "port_vl_xmit_wait_" #number, "virtual_lane_transmit_wait",      \
	       "Ticks during which a virtual lane had data to send but no credits.", FILLS_UP)

/*
 * ports/N/counters_ext: PortCountersExtended as kernels with MLNX_OFED showed it before Linux 4.5
 * (prometheus/procfs sysfs/class_infiniband.go has the names of its files).
 */
#define EXTENDED(unit_, file_, metric_, help_)                                                     \
	{                                                                                          \
		.file = (file_), .metric = (metric_), .help = (help_),                             \
		.place = RNA_PLACE_PORT_COUNTERS_EXT, .unit = (unit_), .width = 64,                \
		.link_layers = RNA_ON_ANY,                                                         \
	}

/*
 * Of a plane of a multi-plane card: N/counters below ports of its SMI device. From Linux 6.11 the
 * driver asks the register PPCNT for the traffic of a plane; what it answers for errors is that of
 * the whole port (hw/mlx5/mad.c, process_pma_cmd(): query_ib_ppcnt() with the plane for
 * PortCountersExtended, without it for PortCounters), so the other files have no rows. MADs cannot
 * ask: an SMI device has no QP1 (core/mad.c, "Create GSI QP only when CM is supported").
 */
#define PLANE(number, unit_, file_, metric_, help_)                                                \
	{                                                                                          \
		.file = number "/counters/" file_, .metric = (metric_), .help = (help_),           \
		.place = RNA_PLACE_PORT_PLANES, .unit = (unit_), .width = 64,                      \
		.link_layers = RNA_ON_INFINIBAND, .label = "plane", .instance = (number)           \
	}
#define PLANES(unit, file, metric, help)                                                           \
	PLANE("1", unit, file, metric, help), PLANE("2", unit, file, metric, help),                \
		PLANE("3", unit, file, metric, help), PLANE("4", unit, file, metric, help)

/*
 * ports/N/cm_*: messages of connection management in software, as ib_cm of Linux 6.12 counts them
 * (core/cm.c, CM_COUNTER_GROUP). Reading them costs no command.
 */
#define CM_MESSAGE(place_, metric_, help_, message)                                                \
	{                                                                                          \
		.file = (message), .metric = (metric_), .help = (help_), .place = (place_),        \
		.width = 64, .link_layers = RNA_ON_ANY, .label = "message", .instance = (message), \
	}
#define CM_MESSAGES(place, metric, help)                                                           \
	CM_MESSAGE(place, metric, help, "req"), CM_MESSAGE(place, metric, help, "mra"),            \
		CM_MESSAGE(place, metric, help, "rej"), CM_MESSAGE(place, metric, help, "rep"),    \
		CM_MESSAGE(place, metric, help, "rtu"), CM_MESSAGE(place, metric, help, "dreq"),   \
		CM_MESSAGE(place, metric, help, "drep"),                                           \
		CM_MESSAGE(place, metric, help, "sidr_req"),                                       \
		CM_MESSAGE(place, metric, help, "sidr_rep"),                                       \
		CM_MESSAGE(place, metric, help, "lap"), CM_MESSAGE(place, metric, help, "apr")

/* clang-format would split the rows over several lines. */
/* clang-format off */
/*
 * Counters of mlx5. They are in one of three places, with the same names and meanings: Q counters
 * and counters of congestion control are the port's. In switchdev mode (of the embedded switch)
 * they are the device's, and ports have Q counters of the function that they represent, with the
 * prefix vport_, if the firmware has them; the port of the uplink shows zeros there
 * (Linux 6.12 hw/mlx5/counters.c mlx5_ib_counters_init(), mlx5_ib_fill_counters(),
 * mlx5_ib_query_q_counters_vport()).
 */
#define MLX5_Q_COUNTERS(ROW, ROW_ROCE) \
	ROW("rx_write_requests", "rx_write_requests", "RDMA WRITE requests received."), \
	ROW("rx_read_requests", "rx_read_requests", "RDMA READ requests received."), \
	ROW("rx_atomic_requests", "rx_atomic_requests", "Atomic requests received.", DETAIL), \
	ROW("rx_dct_connect", "rx_dct_connects", \
		"Connect requests received for dynamically connected transport.", DETAIL), \
	ROW("out_of_buffer", "out_of_buffer_drops", \
		"Packets dropped because the application had posted no receive buffer."), \
	ROW("out_of_sequence", "out_of_sequence_packets", \
		"Packets received out of order, because of loss or adaptive routing."), \
	ROW("duplicate_request", "duplicate_requests", \
		"Requests received again because the peer retransmitted them."), \
	ROW("rnr_nak_retry_err", "rnr_nak_retry_errors", \
		"Receiver-not-ready answers received and retried; normal at a low rate."), \
	ROW("packet_seq_err", "packet_sequence_errors", \
		"Sequence error answers received and retried; the network lost packets."), \
	ROW("implied_nak_seq_err", "implied_nak_sequence_errors", \
		"Packet losses detected by the acknowledgement of a later packet."), \
	ROW("local_ack_timeout_err", "local_ack_timeout_errors", \
		"Acknowledgements that did not arrive in time and caused a retry."), \
	ROW("req_transport_retries_exceeded", "req_transport_retries_exceeded", \
		"Requests that failed after the last transport retry; the queue pair enters the error state."), \
	ROW("req_rnr_retries_exceeded", "req_rnr_retries_exceeded", \
		"Requests that failed after the last receiver-not-ready retry; the queue pair enters the error state."), \
	ROW("resp_local_length_error", "resp_local_length_errors", \
		"Requests received that were longer than the posted buffer."), \
	ROW("resp_cqe_error", "resp_cqe_errors", \
		"Receive completions with an error, including flushes."), \
	ROW("req_cqe_error", "req_cqe_errors", \
		"Send completions with an error, including flushes."), \
	ROW("resp_cqe_flush_error", "resp_cqe_flush_errors", \
		"Receive completions flushed when a queue pair was torn down."), \
	ROW("req_cqe_flush_error", "req_cqe_flush_errors", \
		"Send completions flushed when a queue pair was torn down."), \
	ROW("req_remote_invalid_request", "req_remote_invalid_requests", \
		"Requests that the peer rejected as invalid."), \
	ROW("req_remote_access_errors", "req_remote_access_errors", \
		"Requests that the peer rejected for lack of access rights."), \
	ROW("resp_remote_access_errors", "resp_remote_access_errors", \
		"Requests received and rejected for lack of access rights."), \
	ROW_ROCE("roce_adp_retrans", "roce_adaptive_retransmissions", \
		"Packets retransmitted by RoCE adaptive retransmission."), \
	ROW_ROCE("roce_adp_retrans_to", "roce_adaptive_retransmission_timeouts", \
		"Timeouts of RoCE adaptive retransmission."), \
	ROW_ROCE("roce_slow_restart", "roce_slow_restarts", \
		"Times RoCE slow restart was used."), \
	ROW_ROCE("roce_slow_restart_cnps", "roce_slow_restart_cnps", \
		"Congestion notifications that RoCE slow restart generated."), \
	ROW_ROCE("roce_slow_restart_trans", "roce_slow_restart_transitions", \
		"Times RoCE slow restart changed to its slow state.")
#define MLX5_CONGESTION_COUNTERS(ROW) \
	ROW("np_ecn_marked_roce_packets", "np_ecn_marked_roce_packets", \
		"RoCE packets received with a congestion mark."), \
	ROW("np_cnp_sent", "np_cnps_sent", \
		"Congestion notifications sent to peers whose packets arrived with a congestion mark."), \
	ROW("rp_cnp_handled", "rp_cnps_handled", \
		"Congestion notifications received that throttled the sender."), \
	ROW("rp_cnp_ignored", "rp_cnps_ignored", \
		"Congestion notifications received and ignored because reaction is not enabled on the sender."), \
	ROW("rx_icrc_encapsulated", "rx_icrc_encapsulated_errors", \
		"RoCE packets received with a bad invariant checksum.")

/*
 * Counters of mlx4: of the port if the device has MLX4_DEV_CAP_FLAG2_DIAG_PER_PORT, and of the
 * device. Its firmware has 32 bits for each (Linux 7.2 hw/mlx4/main.c mlx4_ib_get_hw_stats()); what
 * they count: Documentation/ABI/stable/sysfs-class-infiniband.
 */
#define MLX4_COUNTERS(ROW) \
	ROW("rq_num_lle", "mlx4_responder_local_length_errors", \
		"Requests longer than the posted buffer, as mlx4 counts them."), \
	ROW("sq_num_lle", "mlx4_requester_local_length_errors", \
		"Answers longer than the buffer of the request, as mlx4 counts them."), \
	ROW("rq_num_lqpoe", "mlx4_responder_local_qp_operation_errors", \
		"Local queue pair operations of the responder that failed, as mlx4 counts them."), \
	ROW("sq_num_lqpoe", "mlx4_requester_local_qp_operation_errors", \
		"Local queue pair operations of the requester that failed, as mlx4 counts them."), \
	ROW("rq_num_lpe", "mlx4_responder_local_protection_errors", \
		"Receive requests that violated memory protection, as mlx4 counts them."), \
	ROW("sq_num_lpe", "mlx4_requester_local_protection_errors", \
		"Send requests that violated memory protection, as mlx4 counts them."), \
	ROW("rq_num_wrfe", "mlx4_responder_flushed_completions", \
		"Completions of flushed receive requests, as mlx4 counts them."), \
	ROW("sq_num_wrfe", "mlx4_requester_flushed_completions", \
		"Completions of flushed send requests, as mlx4 counts them."), \
	ROW("sq_num_mwbe", "mlx4_requester_memory_window_bind_errors", \
		"Memory windows that could not be bound, as mlx4 counts them."), \
	ROW("sq_num_bre", "mlx4_requester_bad_responses", \
		"Unexpected answers received, as mlx4 counts them."), \
	ROW("sq_num_rire", "mlx4_requester_remote_invalid_requests", \
		"Requests that the peer rejected as invalid, as mlx4 counts them."), \
	ROW("rq_num_rire", "mlx4_responder_remote_invalid_requests", \
		"Requests rejected as invalid, as mlx4 counts them."), \
	ROW("sq_num_rae", "mlx4_requester_remote_access_errors", \
		"Requests that the peer rejected for lack of access rights, as mlx4 counts them."), \
	ROW("rq_num_rae", "mlx4_responder_remote_access_errors", \
		"Requests rejected for lack of access rights, as mlx4 counts them."), \
	ROW("sq_num_roe", "mlx4_requester_remote_operation_errors", \
		"Requests that the peer could not execute, as mlx4 counts them."), \
	ROW("sq_num_tree", "mlx4_requester_retries_exceeded", \
		"Requests that failed after the last retry, as mlx4 counts them."), \
	ROW("sq_num_rree", "mlx4_requester_rnr_retries_exceeded", \
		"Requests that failed after the last receiver-not-ready retry, as mlx4 counts them."), \
	ROW("rq_num_rnr", "mlx4_responder_rnr_naks", \
		"Receiver-not-ready answers sent, as mlx4 counts them."), \
	ROW("sq_num_rnr", "mlx4_requester_rnr_naks", \
		"Receiver-not-ready answers received, as mlx4 counts them."), \
	ROW("rq_num_oos", "mlx4_responder_out_of_sequence_packets", \
		"Packets received out of order, as mlx4 counts them."), \
	ROW("sq_num_oos", "mlx4_requester_out_of_sequence_naks", \
		"Sequence error answers received, as mlx4 counts them."), \
	ROW("rq_num_dup", "mlx4_responder_duplicate_requests", \
		"Requests received again, as mlx4 counts them."), \
	ROW("sq_num_to", "mlx4_requester_timeouts", \
		"Requests that timed out, as mlx4 counts them.")

const struct rna_counter rna_counters[] = {
	/* -- ports/N/counters: traffic; data is in words of four octets, headers included ------ */
	PMA_TRAFFIC(RNA_UNIT_WORDS, "port_xmit_data", "data_transmitted_bytes",
		"Bytes transmitted on all virtual lanes. On Ethernet, RDMA traffic only."),
	PMA_TRAFFIC(RNA_UNIT_WORDS, "port_rcv_data", "data_received_bytes",
		"Bytes received on all virtual lanes. On Ethernet, RDMA traffic only."),
	PMA_TRAFFIC(RNA_UNIT_NONE, "port_xmit_packets", "packets_transmitted",
		"Packets transmitted on all virtual lanes, including those with errors."),
	PMA_TRAFFIC(RNA_UNIT_NONE, "port_rcv_packets", "packets_received",
		"Packets received on all virtual lanes, including those with errors."),
	PMA_TRAFFIC(RNA_UNIT_NONE, "unicast_xmit_packets", "unicast_packets_transmitted",
		"Unicast packets transmitted, including those with errors.", DETAIL),
	PMA_TRAFFIC(RNA_UNIT_NONE, "unicast_rcv_packets", "unicast_packets_received",
		"Unicast packets received, including those with errors.", DETAIL),
	PMA_TRAFFIC(RNA_UNIT_NONE, "multicast_xmit_packets", "multicast_packets_transmitted",
		"Multicast packets transmitted, including those with errors.", DETAIL),
	PMA_TRAFFIC(RNA_UNIT_NONE, "multicast_rcv_packets", "multicast_packets_received",
		"Multicast packets received, including those with errors.", DETAIL),

	/* -- ports/N/counters: errors and congestion ------------------------------------------- */
	/* Ticks of congestion fill 32 bits within hours or days: that is not an error. */
	PMA_ERROR(32, RNA_ON_ANY, "port_xmit_wait", "transmit_wait",
		"Ticks during which the port had data to send but no credits; the length of a tick depends on the device.", FILLS_UP),
	PMA_ERROR(16, RNA_ON_ANY, "symbol_error", "symbol_errors",
		"Symbol errors (minor link errors) on any lane; on HDR and faster, those that remain after error correction."),
	PMA_ERROR(8, RNA_ON_ANY, "link_error_recovery", "link_error_recoveries",
		"Times the link recovered by itself after an error."),
	PMA_ERROR(8, RNA_ON_ANY, "link_downed", "link_downed",
		"Times the link failed to recover and went down."),
	PMA_ERROR(16, RNA_ON_ANY, "port_rcv_errors", "receive_errors",
		"Packets received with a bad checksum or a malformed header, or dropped for lack of buffers."),
	PMA_ERROR(16, RNA_ON_ANY, "port_rcv_remote_physical_errors", "receive_remote_physical_errors",
		"Packets received that an earlier hop had marked as bad."),
	PMA_ERROR(16, RNA_ON_ANY, "port_rcv_switch_relay_errors", "receive_switch_relay_errors",
		"Packets received that could not be forwarded; on an HCA, mostly its own multicast packets that the switch sent back."),
	PMA_ERROR(16, RNA_ON_ANY, "port_xmit_discards", "transmit_discards",
		"Outbound packets dropped because the port was down, congested or too slow for their lifetime."),
	PMA_TRAFFIC(RNA_UNIT_NONE, "port_rcv_discards", "receive_discards",
		"Inbound packets dropped because the port was down or congested; few kernels count them."),
	PMA_ERROR(8, RNA_ON_ANY, "port_xmit_constraint_errors", "transmit_constraint_errors",
		"Packets not transmitted because of partition or raw packet filters."),
	PMA_ERROR(8, RNA_ON_ANY, "port_rcv_constraint_errors", "receive_constraint_errors",
		"Packets received and dropped because of partition or raw packet filters."),
	PMA_ERROR(4, RNA_ON_ANY, "local_link_integrity_errors", "local_link_integrity_errors",
		"Times the local physical errors exceeded the subnet manager's threshold."),
	PMA_ERROR(4, RNA_ON_ANY, "excessive_buffer_overrun_errors", "excessive_buffer_overrun_errors",
		"Times buffers overran in consecutive flow control periods."),
	/* Virtual lane 15 carries subnet management, which Ethernet does not have. */
	PMA_ERROR(16, RNA_ON_INFINIBAND, "VL15_dropped", "vl15_dropped",
		"Subnet management packets dropped for lack of buffers."),

	/* -- ports/N/hw_counters: mlx5; also mana, rxe where they share names ------------------ */
	MLX5_Q_COUNTERS(HW32, HW32_ROCE),
	MLX5_CONGESTION_COUNTERS(HW64_ROCE),

	/* -- ports/N/hw_counters: mlx5 in switchdev mode --------------------------------------- */
	MLX5_Q_COUNTERS(VPORT, VPORT_ROCE),

	/* -- ports/N/hw_counters: mlx4 --------------------------------------------------------- */
	MLX4_COUNTERS(HW32),

	/* -- ports/N/hw_counters: traffic, as bnxt_re, efa, mana and hns count it -------------- */
	HW_BYTES("tx_bytes", "hw_transmitted_bytes", "Bytes transmitted, as the driver counts them."),
	HW_BYTES("rx_bytes", "hw_received_bytes", "Bytes received, as the driver counts them."),
	HW64("tx_pkts", "hw_packets_transmitted", "Packets transmitted, as bnxt_re or efa counts them."),
	HW64("rx_pkts", "hw_packets_received", "Packets received, as bnxt_re or efa counts them."),
	HW64("tx_packets", "mana_packets_transmitted", "Packets transmitted, as mana counts them."),
	HW64("rx_packets", "mana_packets_received", "Packets received, as mana counts them."),
	HW64("tx_pkt", "hns_packets_transmitted", "Packets transmitted, as hns counts them."),
	HW64("rx_pkt", "hns_packets_received", "Packets received, as hns counts them."),

	/* -- ports/N/hw_counters: efa ---------------------------------------------------------- */
	HW64("rx_drops", "rx_drops", "Packets received and dropped."),
	HW_BYTES("send_bytes", "send_bytes", "Bytes of completed send work requests."),
	HW64("send_wrs", "send_work_requests", "Send work requests completed."),
	HW_BYTES("recv_bytes", "receive_bytes", "Bytes of completed receive work requests."),
	HW64("recv_wrs", "receive_work_requests", "Receive work requests completed."),
	HW64("rdma_read_wrs", "rdma_read_work_requests", "RDMA READ work requests completed."),
	HW_BYTES("rdma_read_bytes", "rdma_read_bytes", "Bytes read from peers by RDMA READ."),
	HW64("rdma_read_wr_err", "rdma_read_work_request_errors",
		"RDMA READ work requests that ended in an error."),
	HW_BYTES("rdma_read_resp_bytes", "rdma_read_response_bytes",
		"Bytes sent to peers in response to their RDMA READ requests."),
	HW64("rdma_write_wrs", "rdma_write_work_requests", "RDMA WRITE work requests completed."),
	HW_BYTES("rdma_write_bytes", "rdma_write_bytes", "Bytes written to peers by RDMA WRITE."),
	HW64("rdma_write_wr_err", "rdma_write_work_request_errors",
		"RDMA WRITE work requests that ended in an error."),
	HW_BYTES("rdma_write_recv_bytes", "rdma_write_received_bytes",
		"Bytes written to this node by peers with RDMA WRITE."),
	HW_BYTES("retrans_bytes", "retransmitted_bytes", "Bytes retransmitted."),
	HW64("retrans_pkts", "retransmitted_packets", "Packets retransmitted."),
	HW64("retrans_timeout_events", "retransmission_timeouts",
		"Times a retransmission timeout moved traffic to another network path."),
	HW64("unresponsive_remote_events", "unresponsive_remotes",
		"Times a peer was unresponsive."),
	HW64("impaired_remote_conn_events", "impaired_remote_connections",
		"Times the connection to a peer was found impaired."),

	/* -- ports/N/hw_counters: rxe ---------------------------------------------------------- */
	HW64("sent_pkts", "rxe_packets_transmitted", "Packets transmitted, as rxe counts them."),
	HW64("rcvd_pkts", "rxe_packets_received", "Packets received, as rxe counts them."),
	HW64("out_of_seq_request", "out_of_sequence_requests", "Requests received out of order."),
	HW64("rcvd_rnr_err", "rnr_naks_received", "Receiver-not-ready answers received by rxe."),
	HW64("send_rnr_err", "rnr_naks_transmitted", "Receiver-not-ready answers sent by rxe."),
	HW64("rcvd_seq_err", "sequence_naks_received", "Sequence error answers received by rxe."),
	HW64("ack_deferred", "completer_schedules",
		"Times the completer was deferred to a work queue."),
	HW64("retry_exceeded_err", "retries_exceeded",
		"Requests that rxe failed after the last retry."),
	HW64("retry_rnr_exceeded_err", "rnr_retries_exceeded",
		"Requests that rxe failed after the last receiver-not-ready retry."),
	HW64("completer_retry_err", "completer_retries", "Retries that the completer started."),
	HW64("send_err", "send_errors", "Packets that the network interface did not accept."),
	HW64("link_downed", "hw_link_downed", "Times the network interface went down, as rxe counts them."),
	HW64("rdma_sends", "rdma_sends", "Send operations, as rxe counts them."),
	HW64("rdma_recvs", "rdma_receives", "Receive operations, as rxe counts them."),

	/* -- ports/N/hw_counters: bnxt_re ------------------------------------------------------ */
	HW64("rx_roce_errors", "rx_roce_errors", "RoCE packets received with an error."),
	HW64("rx_roce_discards", "rx_roce_discards", "RoCE packets received and dropped."),
	HW64("tx_roce_errors", "tx_roce_errors", "RoCE packets not transmitted because of an error."),
	HW64("tx_roce_discards", "tx_roce_discards", "RoCE packets dropped before transmission."),
	HW64("rx_roce_only_pkts", "rx_roce_packets", "RoCE packets received."),
	HW_BYTES("rx_roce_only_bytes", "rx_roce_bytes", "Bytes of RoCE packets received."),
	HW64("tx_roce_only_pkts", "tx_roce_packets", "RoCE packets transmitted."),
	HW_BYTES("tx_roce_only_bytes", "tx_roce_bytes", "Bytes of RoCE packets transmitted."),
	HW64("rx_roce_good_pkts", "rx_roce_good_packets", "RoCE packets received without an error."),
	HW_BYTES("rx_roce_good_bytes", "rx_roce_good_bytes",
		"Bytes of RoCE packets received without an error."),
	HW64("rx_out_of_buffer", "rx_out_of_buffer_drops",
		"Packets dropped for lack of a receive buffer, as bnxt_re counts them."),
	HW64("oos_drop_count", "out_of_sequence_drops", "Packets dropped because they arrived out of order."),
	HW64("tx_cnp_pkts", "cnps_transmitted", "Congestion notifications sent."),
	HW64("np_cnp_pkts", "np_cnp_packets", "Congestion notifications sent (newer counter name)."),
	HW64("rx_cnp_pkts", "cnps_received", "Congestion notifications received."),
	HW64("rx_ecn_marked_pkts", "rx_ecn_marked_packets", "Packets received with a congestion mark."),
	HW64("to_retransmits", "timeout_retransmissions", "Retransmissions after a timeout."),
	HW64("seq_err_naks_rcvd", "sequence_error_naks_received", "Sequence error answers received by bnxt_re."),
	HW64("max_retry_exceeded", "maximum_retries_exceeded", "Requests that failed after the last retry."),
	HW64("rnr_naks_rcvd", "receiver_not_ready_naks_received",
		"Receiver-not-ready answers received by bnxt_re."),
	HW64("missing_resp", "missing_responses", "Responses that never arrived."),
	HW64("recoverable_errors", "recoverable_errors", "Errors that the device recovered from."),
	HW64("unrecoverable_err", "unrecoverable_errors", "Errors that the device could not recover from."),
	HW64("bad_resp_err", "bad_response_errors", "Responses received that were malformed."),
	HW64("local_qp_op_err", "local_qp_operation_errors", "Local queue pair operations that failed."),
	HW64("local_protection_err", "local_protection_errors",
		"Local work requests that violated memory protection."),
	HW64("mem_mgmt_op_err", "memory_management_operation_errors",
		"Memory management operations that failed."),
	HW64("remote_invalid_req_err", "remote_invalid_request_errors",
		"Requests that the peer rejected as invalid, as bnxt_re counts them."),
	HW64("remote_access_err", "remote_access_errors",
		"Requests that the peer rejected for lack of access rights, as bnxt_re counts them."),
	HW64("remote_op_err", "remote_operation_errors", "Requests that the peer could not execute."),
	HW64("dup_req", "duplicated_requests", "Requests received again, as bnxt_re counts them."),
	HW64("res_exceed_max", "res_exceed_maximum_errors",
		"Responder errors: request longer than the maximum."),
	HW64("res_length_mismatch", "res_length_mismatch_errors",
		"Responder errors: payload and announced length differ."),
	HW64("res_exceeds_wqe", "res_exceeds_wqe_errors",
		"Responder errors: message longer than the posted buffer."),
	HW64("res_opcode_err", "res_opcode_errors", "Responder errors: operation out of order."),
	HW64("res_rx_invalid_rkey", "res_rx_invalid_rkey_errors",
		"Responder errors on receive: unknown remote key."),
	HW64("res_rx_domain_err", "res_rx_domain_errors",
		"Responder errors on receive: key of another protection domain."),
	HW64("res_rx_no_perm", "res_rx_no_permission_errors",
		"Responder errors on receive: key without the permission."),
	HW64("res_rx_range_err", "res_rx_range_errors",
		"Responder errors on receive: address outside the memory region."),
	HW64("res_tx_invalid_rkey", "res_tx_invalid_rkey_errors",
		"Responder errors on transmit: unknown remote key."),
	HW64("res_tx_domain_err", "res_tx_domain_errors",
		"Responder errors on transmit: key of another protection domain."),
	HW64("res_tx_no_perm", "res_tx_no_permission_errors",
		"Responder errors on transmit: key without the permission."),
	HW64("res_tx_range_err", "res_tx_range_errors",
		"Responder errors on transmit: address outside the memory region."),
	HW64("res_irrq_oflow", "res_irrq_overflows",
		"Responder errors: more READ and atomic requests than agreed."),
	HW64("res_unsup_opcode", "res_unsupported_opcode_errors",
		"Responder errors: operation not supported."),
	HW64("res_unaligned_atomic", "res_unaligned_atomic_errors",
		"Responder errors: address of an atomic not aligned."),
	HW64("res_rem_inv_err", "res_remote_invalidate_errors",
		"Responder errors: remote invalidation failed."),
	HW64("res_mem_err", "res_memory_errors", "Responder errors: memory access failed."),
	HW64("res_srq_err", "res_srq_errors", "Responder errors: shared receive queue in error."),
	HW64("res_cmp_err", "res_completion_errors", "Responder errors: completion could not be written."),
	HW64("res_invalid_dup_rkey", "res_invalid_duplicate_rkey_errors",
		"Responder errors: repeated READ with another key."),
	HW64("res_wqe_format_err", "res_wqe_format_errors",
		"Responder errors: receive work request malformed."),
	HW64("res_cq_load_err", "res_cq_load_errors",
		"Responder errors: completion queue context could not be loaded."),
	HW64("res_srq_load_err", "res_srq_load_errors",
		"Responder errors: shared receive queue context could not be loaded."),
	HW64("res_tx_pci_err", "res_tx_pci_errors", "Responder errors: PCI error on transmit."),
	HW64("res_rx_pci_err", "res_rx_pci_errors", "Responder errors: PCI error on receive."),
	HW64("tx_atomic_req", "atomic_requests_transmitted", "Atomic requests sent."),
	HW64("tx_read_req", "read_requests_transmitted", "RDMA READ requests sent."),
	HW64("tx_read_resp", "read_responses_transmitted", "RDMA READ responses sent."),
	HW64("tx_write_req", "write_requests_transmitted", "RDMA WRITE requests sent."),
	HW64("tx_send_req", "send_requests_transmitted", "Send requests sent."),
	HW64("rx_atomic_req", "atomic_requests_received",
		"Atomic requests received, as bnxt_re counts them."),
	HW64("rx_read_req", "read_requests_received",
		"RDMA READ requests received, as bnxt_re counts them."),
	HW64("rx_read_resp", "read_responses_received", "RDMA READ responses received."),
	HW64("rx_write_req", "write_requests_received",
		"RDMA WRITE requests received, as bnxt_re counts them."),
	HW64("rx_send_req", "send_requests_received",
		"Send requests received, as bnxt_re counts them."),
	HW64("resize_cq_cnt", "cq_resizes", "Times a completion queue was resized."),
	HW64("pacing_reschedule", "pacing_reschedules", "Times doorbell pacing was rescheduled."),
	HW64("pacing_complete", "pacing_completions", "Times doorbell pacing ended."),
	HW64("pacing_alerts", "pacing_alerts", "Times the doorbell queue ran full and pacing began."),
	HW_GAUGE("db_fifo_register", "db_fifo_register",
		"Raw content of the doorbell queue register."),
	HW_GAUGE("active_pds", "active_pds", "Protection domains in use."),
	HW_GAUGE("active_ahs", "active_ahs", "Address handles in use."),
	HW_GAUGE("active_qps", "active_qps", "Queue pairs in use."),
	HW_GAUGE("active_rc_qps", "active_rc_qps", "Reliably connected queue pairs in use."),
	HW_GAUGE("active_ud_qps", "active_ud_qps", "Unreliable datagram queue pairs in use."),
	HW_GAUGE("active_srqs", "active_srqs", "Shared receive queues in use."),
	HW_GAUGE("active_cqs", "active_cqs", "Completion queues in use."),
	HW_GAUGE("active_mrs", "active_mrs", "Memory regions in use."),
	HW_GAUGE("active_mws", "active_mws", "Memory windows in use."),
	HW_GAUGE("watermark_pds", "watermark_pds", "Most protection domains ever in use."),
	HW_GAUGE("watermark_ahs", "watermark_ahs", "Most address handles ever in use."),
	HW_GAUGE("watermark_qps", "watermark_qps", "Most queue pairs ever in use."),
	HW_GAUGE("watermark_rc_qps", "watermark_rc_qps",
		"Most reliably connected queue pairs ever in use."),
	HW_GAUGE("watermark_ud_qps", "watermark_ud_qps",
		"Most unreliable datagram queue pairs ever in use."),
	HW_GAUGE("watermark_srqs", "watermark_srqs", "Most shared receive queues ever in use."),
	HW_GAUGE("watermark_cqs", "watermark_cqs", "Most completion queues ever in use."),
	HW_GAUGE("watermark_mrs", "watermark_mrs", "Most memory regions ever in use."),
	HW_GAUGE("watermark_mws", "watermark_mws", "Most memory windows ever in use."),

	/* -- ports/N/hw_counters: irdma; some names changed between kernels -------------------- */
	HW64("ip4InDiscards", "ip4_in_discards", "IPv4 packets received and dropped."),
	HW64("ip4InTruncatedPkts", "ip4_in_truncated_packets", "Truncated IPv4 packets received."),
	HW64("ip4OutNoRoutes", "ip4_out_no_routes", "IPv4 packets not sent for lack of a route."),
	HW_BYTES("ip4InOctets", "ip4_in_bytes", "Bytes of IPv4 packets received."),
	HW64("ip4InPkts", "ip4_in_packets", "IPv4 packets received."),
	HW64("ip4InReasmRqd", "ip4_in_fragments", "IPv4 fragments received."),
	HW_BYTES("ip4InMcastOctets", "ip4_in_multicast_bytes", "Bytes of IPv4 multicast packets received."),
	HW64("ip4InMcastPkts", "ip4_in_multicast_packets", "IPv4 multicast packets received."),
	HW_BYTES("ip4OutOctets", "ip4_out_bytes", "Bytes of IPv4 packets sent."),
	HW64("ip4OutPkts", "ip4_out_packets", "IPv4 packets sent."),
	HW64("ip4OutSegRqd", "ip4_out_fragments", "IPv4 fragments sent."),
	HW_BYTES("ip4OutMcastOctets", "ip4_out_multicast_bytes", "Bytes of IPv4 multicast packets sent."),
	HW64("ip4OutMcastPkts", "ip4_out_multicast_packets", "IPv4 multicast packets sent."),
	HW64("ip6InDiscards", "ip6_in_discards", "IPv6 packets received and dropped."),
	HW64("ip6InTruncatedPkts", "ip6_in_truncated_packets", "Truncated IPv6 packets received."),
	HW64("ip6OutNoRoutes", "ip6_out_no_routes", "IPv6 packets not sent for lack of a route."),
	HW_BYTES("ip6InOctets", "ip6_in_bytes", "Bytes of IPv6 packets received."),
	HW64("ip6InPkts", "ip6_in_packets", "IPv6 packets received."),
	HW64("ip6InReasmRqd", "ip6_in_fragments", "IPv6 fragments received."),
	HW_BYTES("ip6InMcastOctets", "ip6_in_multicast_bytes", "Bytes of IPv6 multicast packets received."),
	HW64("ip6InMcastPkts", "ip6_in_multicast_packets", "IPv6 multicast packets received."),
	HW_BYTES("ip6OutOctets", "ip6_out_bytes", "Bytes of IPv6 packets sent."),
	HW64("ip6OutPkts", "ip6_out_packets", "IPv6 packets sent."),
	HW64("ip6OutSegRqd", "ip6_out_fragments", "IPv6 fragments sent."),
	HW_BYTES("ip6OutMcastOctets", "ip6_out_multicast_bytes", "Bytes of IPv6 multicast packets sent."),
	HW64("ip6OutMcastPkts", "ip6_out_multicast_packets", "IPv6 multicast packets sent."),
	HW64("rxVlanErrors", "rx_vlan_errors", "Packets received with a VLAN that is not configured."),
	HW64("RxUDP", "rx_udp_packets", "UDP packets of RoCE v2 received."),
	HW64("TxUDP", "tx_udp_packets", "UDP packets of RoCE v2 sent."),
	HW64("RxECNMrkd", "irdma_ecn_marked_packets", "Packets received by irdma with a congestion mark."),
	HW64("cnpHandled", "irdma_cnps_handled", "Congestion notifications that irdma acted on."),
	HW64("cnpIgnored", "irdma_cnps_ignored", "Congestion notifications that irdma ignored."),
	HW64("cnpSent", "irdma_cnps_sent", "Congestion notifications that irdma sent."),
	HW64("tcpInSegs", "tcp_in_segments", "TCP segments of iWARP received."),
	HW64("tcpOutSegs", "tcp_out_segments", "TCP segments of iWARP sent."),
	HW64("tcpRetransSegs", "tcp_retransmitted_segments", "TCP segments of iWARP retransmitted."),
	HW64("tcpInOptErrors", "tcp_in_option_errors", "TCP segments of iWARP received with bad options."),
	HW64("tcpInProtoErrors", "tcp_in_protocol_errors",
		"TCP segments of iWARP received with protocol errors."),
	HW64("InSegs", "in_segments", "TCP segments of iWARP received (newer counter name)."),
	HW64("OutSegs", "out_segments", "TCP segments of iWARP sent (newer counter name)."),
	HW64("RetransSegs", "retransmitted_segments", "TCP segments of iWARP retransmitted (newer counter name)."),
	HW64("InOptErrors", "in_option_errors",
		"TCP segments of iWARP received with bad options (newer counter name)."),
	HW64("InProtoErrors", "in_protocol_errors",
		"TCP segments of iWARP received with protocol errors (newer counter name)."),
	HW64("iwInRdmaReads", "iw_in_rdma_reads", "RDMA READ requests received by irdma."),
	HW64("iwInRdmaSends", "iw_in_rdma_sends", "Send requests received by irdma."),
	HW64("iwInRdmaWrites", "iw_in_rdma_writes", "RDMA WRITE requests received by irdma."),
	HW64("iwOutRdmaReads", "iw_out_rdma_reads", "RDMA READ requests sent by irdma."),
	HW64("iwOutRdmaSends", "iw_out_rdma_sends", "Send requests sent by irdma."),
	HW64("iwOutRdmaWrites", "iw_out_rdma_writes", "RDMA WRITE requests sent by irdma."),
	HW64("iwRdmaBnd", "iw_rdma_binds", "Memory window binds by irdma."),
	HW64("iwRdmaInv", "iw_rdma_invalidations", "Local invalidations by irdma."),
	HW64("InRdmaReads", "in_rdma_reads", "RDMA READ requests received by irdma (newer counter name)."),
	HW64("InRdmaSends", "in_rdma_sends", "Send requests received by irdma (newer counter name)."),
	HW64("InRdmaWrites", "in_rdma_writes", "RDMA WRITE requests received by irdma (newer counter name)."),
	HW64("OutRdmaReads", "out_rdma_reads", "RDMA READ requests sent by irdma (newer counter name)."),
	HW64("OutRdmaSends", "out_rdma_sends", "Send requests sent by irdma (newer counter name)."),
	HW64("OutRdmaWrites", "out_rdma_writes", "RDMA WRITE requests sent by irdma (newer counter name)."),
	HW64("RdmaBnd", "rdma_binds", "Memory window binds by irdma (newer counter name)."),
	HW64("RdmaInv", "rdma_invalidations", "Local invalidations by irdma (newer counter name)."),
	HW64("RNR sent", "irdma_rnrs_sent", "Receiver-not-ready answers sent by irdma."),
	HW64("RNR received", "irdma_rnrs_received", "Receiver-not-ready answers received by irdma."),
	HW64("Rx atomics", "irdma_rx_atomics", "Atomic requests received by irdma."),
	HW64("Tx atomics", "irdma_tx_atomics", "Atomic requests sent by irdma."),
	HW64("Nak Sequence Error", "irdma_nak_sequence_errors", "Sequence error answers seen by irdma."),
	HW64("Nak Sequence Error Implied", "irdma_implied_nak_sequence_errors",
		"Lost packets that irdma inferred from a later acknowledgement."),
	HW64("RTO", "irdma_retransmission_timeouts", "Retransmission timeouts of irdma."),
	HW64("Rcvd Out of order packets", "irdma_out_of_order_packets",
		"Packets that irdma received out of order."),
	HW64("CRC errors", "irdma_crc_errors", "Packets that irdma received with a bad checksum."),

	/* -- ports/N/hw_counters: hns ---------------------------------------------------------- */
	HW64("rx_rc_pkt", "rx_rc_packets", "Packets received on reliably connected queue pairs."),
	HW64("rx_uc_pkt", "rx_uc_packets", "Packets received on unreliably connected queue pairs."),
	HW64("rx_ud_pkt", "rx_ud_packets", "Packets received on unreliable datagram queue pairs."),
	HW64("rx_xrc_pkt", "rx_xrc_packets", "Packets received on extended connected queue pairs."),
	HW64("rx_err_pkt", "rx_error_packets", "Packets received with an error."),
	HW64("rx_cnp_pkt", "rx_cnp_packets", "Congestion notifications received, as hns counts them."),
	HW64("tx_rc_pkt", "tx_rc_packets", "Packets sent on reliably connected queue pairs."),
	HW64("tx_uc_pkt", "tx_uc_packets", "Packets sent on unreliably connected queue pairs."),
	HW64("tx_ud_pkt", "tx_ud_packets", "Packets sent on unreliable datagram queue pairs."),
	HW64("tx_xrc_pkt", "tx_xrc_packets", "Packets sent on extended connected queue pairs."),
	HW64("tx_err_pkt", "tx_error_packets", "Packets sent with an error."),
	HW64("tx_cnp_pkt", "tx_cnp_packets", "Congestion notifications sent, as hns counts them."),
	HW64("trp_get_mpt_err_pkt", "trp_get_mpt_error_packets",
		"Packets whose memory protection entry could not be read."),
	HW64("trp_get_irrl_err_pkt", "trp_get_irrl_error_packets",
		"Packets whose inbound read entry could not be read."),
	HW64("ecn_doorbell", "ecn_doorbells", "Doorbells rung for congestion marks."),
	HW64("rx_buffer", "rx_buffers", "Receive buffer uses, as hns counts them."),
	HW64("trp_rx_sof", "trp_rx_starts_of_frame", "Starts of frame seen by the receive path of hns."),
	HW64("cq_cqe", "cq_entries_written", "Completion queue entries written."),
	HW64("cq_poe", "cq_poes", "Completions of the parallel operation engine of hns."),
	HW64("cq_notify", "cq_notifications", "Completion queue notifications."),

	/* -- ports/N/hw_counters: erdma -------------------------------------------------------- */
	HW64("tx_reqs_cnt", "erdma_requests_transmitted", "Requests sent, as erdma counts them."),
	HW64("tx_packets_cnt", "erdma_packets_transmitted", "Packets transmitted, as erdma counts them."),
	HW_BYTES("tx_bytes_cnt", "erdma_transmitted_bytes", "Bytes transmitted, as erdma counts them."),
	HW64("tx_disable_drop_cnt", "tx_disabled_drops", "Packets dropped because sending was disabled."),
	HW64("tx_bps_limit_drop_cnt", "tx_byte_limit_drops",
		"Packets not sent because of the bandwidth limit."),
	HW64("tx_pps_limit_drop_cnt", "tx_packet_limit_drops",
		"Packets not sent because of the packet rate limit."),
	HW64("rx_packets_cnt", "erdma_packets_received", "Packets received, as erdma counts them."),
	HW_BYTES("rx_bytes_cnt", "erdma_received_bytes", "Bytes received, as erdma counts them."),
	HW64("rx_disable_drop_cnt", "rx_disabled_drops",
		"Packets dropped because receiving was disabled."),
	HW64("rx_bps_limit_drop_cnt", "rx_byte_limit_drops",
		"Packets received and dropped because of the bandwidth limit."),
	HW64("rx_pps_limit_drop_cnt", "rx_packet_limit_drops",
		"Packets received and dropped because of the packet rate limit."),

	/*
	 * -- ports/N/hw_counters: erdma of Alibaba Cloud's own driver, beside many counters of
	 * calls (erdma_stats.c of the driver package; mainline has the names above) ---------------
	 */
	HW64("hw_tx_reqs_cnt", "erdma_hw_requests_transmitted",
		"Requests sent, as erdma of Alibaba Cloud counts them."),
	HW64("hw_tx_packets_cnt", "erdma_hw_packets_transmitted",
		"Packets transmitted, as erdma of Alibaba Cloud counts them."),
	HW_BYTES("hw_tx_bytes_cnt", "erdma_hw_transmitted_bytes",
		"Bytes transmitted, as erdma of Alibaba Cloud counts them."),
	HW64("hw_disable_drop_cnt", "erdma_hw_tx_disabled_drops",
		"Packets dropped because sending was disabled, as erdma of Alibaba Cloud counts them."),
	HW64("hw_bps_limit_drop_cnt", "erdma_hw_tx_byte_limit_drops",
		"Packets not sent because of the bandwidth limit, as erdma of Alibaba Cloud counts them."),
	HW64("hw_pps_limit_drop_cnt", "erdma_hw_tx_packet_limit_drops",
		"Packets not sent because of the packet rate limit, as erdma of Alibaba Cloud counts them."),
	HW64("hw_rx_packets_cnt", "erdma_hw_packets_received",
		"Packets received, as erdma of Alibaba Cloud counts them."),
	HW_BYTES("hw_rx_bytes_cnt", "erdma_hw_received_bytes",
		"Bytes received, as erdma of Alibaba Cloud counts them."),
	HW64("hw_rx_disable_drop_cnt", "erdma_hw_rx_disabled_drops",
		"Packets dropped because receiving was disabled, as erdma of Alibaba Cloud counts them."),
	HW64("hw_rx_bps_limit_drop_cnt", "erdma_hw_rx_byte_limit_drops",
		"Packets received and dropped because of the bandwidth limit, as erdma of Alibaba Cloud counts them."),
	HW64("hw_rx_pps_limit_drop_cnt", "erdma_hw_rx_packet_limit_drops",
		"Packets received and dropped because of the packet rate limit, as erdma of Alibaba Cloud counts them."),

	/*
	 * -- ports/N/hw_counters: ionic. Its firmware names them (hw/ionic/ionic_hw_stats.c, Linux
	 * 6.18). Names and widths: the list of a firmware (nic/hal/plugins/cfg/rdma/rdma.cc of
	 * Pensando's software); names of later firmware: PollaraRdmaStatistics of AMD's node-scraper
	 * (plugins/inband/rdma/rdmadata.py). Of resp_rx_s0_table_err and *_ccl_cts_* no source says
	 * what they count, so they have no rows. -----------------------------------------------
	 */
	HW_BYTES("tx_rdma_ucast_bytes", "ionic_unicast_transmitted_bytes",
		"Bytes of unicast packets transmitted, as ionic counts them."),
	HW64("tx_rdma_ucast_pkts", "ionic_unicast_packets_transmitted",
		"Unicast packets transmitted, as ionic counts them."),
	HW_BYTES("tx_rdma_mcast_bytes", "ionic_multicast_transmitted_bytes",
		"Bytes of multicast packets transmitted, as ionic counts them."),
	HW64("tx_rdma_mcast_pkts", "ionic_multicast_packets_transmitted",
		"Multicast packets transmitted, as ionic counts them."),
	HW64("tx_rdma_cnp_pkts", "ionic_cnps_transmitted",
		"Congestion notifications sent, as ionic counts them."),
	HW_BYTES("tx_rdma_retx_bytes", "ionic_retransmitted_bytes",
		"Bytes retransmitted, as ionic counts them."),
	HW64("tx_rdma_retx_pkts", "ionic_retransmitted_packets",
		"Packets retransmitted, as ionic counts them."),
	HW64("tx_rdma_ack_timeout", "ionic_ack_timeouts",
		"Acknowledgements that did not arrive in time, as ionic counts them."),
	HW_BYTES("rx_rdma_ucast_bytes", "ionic_unicast_received_bytes",
		"Bytes of unicast packets received, as ionic counts them."),
	HW64("rx_rdma_ucast_pkts", "ionic_unicast_packets_received",
		"Unicast packets received, as ionic counts them."),
	HW_BYTES("rx_rdma_mcast_bytes", "ionic_multicast_received_bytes",
		"Bytes of multicast packets received, as ionic counts them."),
	HW64("rx_rdma_mcast_pkts", "ionic_multicast_packets_received",
		"Multicast packets received, as ionic counts them."),
	HW64("rx_rdma_cnp_pkts", "ionic_cnps_received",
		"Congestion notifications received, as ionic counts them."),
	HW64("rx_rdma_ecn_pkts", "ionic_ecn_marked_packets",
		"Packets received with a congestion mark, as ionic counts them."),
	HW64("rx_rdma_mtu_discard_pkts", "ionic_mtu_discards",
		"Packets received and dropped because of the MTU, as ionic counts them."),
	HW64("req_rx_pkt_seq_err", "ionic_requester_sequence_errors",
		"Negative acknowledgements for a packet out of sequence that the requester received."),
	HW64("req_rx_rnr_retry_err", "ionic_requester_rnr_errors",
		"Receiver-not-ready answers that the requester received."),
	HW64("req_rx_rmt_acc_err", "ionic_requester_remote_access_errors",
		"Answers that denied the requester access to the peer's memory."),
	HW64("req_rx_rmt_req_err", "ionic_requester_remote_invalid_requests",
		"Answers that called a request of this node invalid."),
	HW64("req_rx_oper_err", "ionic_requester_remote_operation_errors",
		"Answers that report a failed operation of the peer."),
	HW64("req_rx_impl_nak_seq_err", "ionic_requester_implied_naks",
		"Lost packets that the requester inferred from a later answer."),
	HW64("req_rx_cqe_err", "ionic_requester_completion_errors",
		"Completions with an error, of the requester."),
	HW64("req_rx_cqe_flush", "ionic_requester_flushed_completions",
		"Completions of flushed work requests, of the requester."),
	HW64("req_rx_dup_response", "ionic_requester_duplicate_responses",
		"Responses that the requester received again."),
	HW64("req_rx_inval_pkts", "ionic_requester_invalid_packets",
		"Invalid packets that the requester received."),
	HW64("req_tx_loc_acc_err", "ionic_requester_local_access_errors",
		"Requests that violated the protection of local memory."),
	HW64("req_tx_loc_oper_err", "ionic_requester_local_operation_errors",
		"Requests that failed in the local device."),
	HW64("req_tx_mem_mgmt_err", "ionic_requester_memory_management_errors",
		"Requests to bind or invalidate memory that failed."),
	HW64("req_tx_retry_excd_err", "ionic_requester_retries_exceeded",
		"Requests that failed after the last retry."),
	HW64("req_tx_loc_sgl_inv_err", "ionic_requester_local_sgl_errors",
		"Requests with an invalid local scatter-gather list."),
	HW64("resp_rx_dup_request", "ionic_responder_duplicate_requests",
		"Requests that the responder received again."),
	HW64("resp_rx_outof_buf", "ionic_responder_out_of_buffers",
		"Requests that found no posted receive buffer."),
	HW64("resp_rx_outouf_seq", "ionic_responder_out_of_sequence_packets",
		"Packets that the responder received out of sequence."),
	HW64("resp_rx_cqe_err", "ionic_responder_completion_errors",
		"Completions with an error, of the responder."),
	HW64("resp_rx_cqe_flush", "ionic_responder_flushed_completions",
		"Completions of flushed receive requests, of the responder."),
	HW64("resp_rx_loc_len_err", "ionic_responder_local_length_errors",
		"Requests longer than the posted buffer."),
	HW64("resp_rx_inval_request", "ionic_responder_invalid_requests",
		"Invalid requests that the responder received."),
	HW64("resp_rx_loc_oper_err", "ionic_responder_local_operation_errors",
		"Requests of peers that failed in the local device."),
	HW64("resp_rx_outof_atomic", "ionic_responder_out_of_atomic_resources",
		"Requests for RDMA READ or atomic operations that exceeded the responder's resources."),
	HW64("resp_tx_pkt_seq_err", "ionic_responder_sequence_naks",
		"Negative acknowledgements for a packet out of sequence that the responder sent."),
	HW64("resp_tx_rmt_inval_req_err", "ionic_responder_invalid_request_naks",
		"Negative acknowledgements for an invalid request that the responder sent."),
	HW64("resp_tx_rmt_acc_err", "ionic_responder_access_error_naks",
		"Negative acknowledgements for denied access that the responder sent."),
	HW64("resp_tx_rmt_oper_err", "ionic_responder_operation_error_naks",
		"Negative acknowledgements for a failed operation that the responder sent."),
	HW64("resp_tx_rnr_retry_err", "ionic_responder_rnr_naks",
		"Receiver-not-ready answers that the responder sent."),
	HW64("resp_tx_loc_sgl_inv_err", "ionic_responder_local_sgl_errors",
		"Answers with an invalid local scatter-gather list."),

	/* -- ports/N/hw_counters: mana --------------------------------------------------------- */
	HW64("requester_timeout", "requester_timeouts", "Requests that timed out."),
	HW64("requester_oos_nak", "requester_out_of_sequence_naks",
		"Out-of-sequence answers received by the requester."),
	HW64("requester_rnr_nak", "requester_rnr_naks",
		"Receiver-not-ready answers received by the requester."),
	HW64("responder_rnr_nak", "responder_rnr_naks",
		"Receiver-not-ready answers sent by the responder."),
	HW64("responder_oos", "responder_out_of_sequence_packets",
		"Packets that the responder received out of order."),
	HW64("responder_dup_request", "responder_duplicate_requests",
		"Requests that the responder received again."),
	HW64("requester_implicit_nak", "requester_implicit_naks",
		"Lost packets that the requester inferred from a later acknowledgement."),
	HW64("requester_readresp_psn_mismatch", "requester_read_response_mismatches",
		"RDMA READ responses with an unexpected sequence number."),
	HW64("nak_inv_req", "invalid_request_naks", "Negative acknowledgements for an invalid request."),
	HW64("nak_access_error", "access_error_naks", "Negative acknowledgements for denied access."),
	HW64("nak_opp_error", "operation_error_naks", "Negative acknowledgements for a failed operation."),
	HW64("nak_inv_read", "invalid_read_naks", "Negative acknowledgements for an invalid RDMA READ."),
	HW64("responder_local_len_error", "responder_local_length_errors",
		"Requests longer than the posted buffer, as mana counts them."),
	HW64("requestor_local_prot_error", "requester_local_protection_errors",
		"Local work requests that violated memory protection, as mana counts them."),
	HW64("responder_rem_access_error", "responder_remote_access_errors",
		"Requests rejected for lack of access rights, as mana counts them."),
	HW64("responder_local_qp_error", "responder_local_qp_errors",
		"Queue pair errors of the responder."),
	HW64("responder_malformed_wqe", "responder_malformed_wqes",
		"Malformed receive work requests."),
	HW64("general_hw_error", "general_hardware_errors", "Hardware errors without a more specific counter."),
	HW64("requester_rnr_nak_retries_exceeded", "requester_rnr_retries_exceeded",
		"Requests that failed after the last receiver-not-ready retry, as mana counts them."),
	HW64("requester_retries_exceeded", "requester_retries_exceeded",
		"Requests that failed after the last retry, as mana counts them."),
	HW64("total_fatal_error", "fatal_errors", "Errors that ended a queue pair."),
	HW64("received_cnps", "mana_cnps_received", "Congestion notifications received by mana."),
	HW_GAUGE("num_qps_congested", "congested_qps", "Queue pairs currently slowed down by congestion control."),
	HW64("rate_inc_events", "rate_increases", "Times congestion control raised a rate."),
	HW_GAUGE("num_qps_recovered", "recovered_qps", "Queue pairs that recovered from congestion."),
	HW_GAUGE("current_rate", "current_rate", "Rate allowed by congestion control, in the device's own unit."),
	HW64("dup_rx_requests", "mana_duplicate_requests_received",
		"Requests received again, as mana counts them."),
	HW64("rx_send_requests", "rx_send_requests", "Send requests received."),

	/*
	 * -- ports/N/hw_counters: hfi1, those of reliable connections; it has many others (Linux 7.2
	 * hw/hfi1/chip.c, SW_IBP_CNTR) ---------------------------------------------------------- */
	HW64("RcResend", "hfi1_retransmitted_packets", "Packets retransmitted, as hfi1 counts them."),
	HW64("RcTimeOut", "hfi1_timeouts", "Requests that timed out, as hfi1 counts them."),
	HW64("SeqNak", "hfi1_sequence_naks_received",
		"Sequence error answers received, as hfi1 counts them."),
	HW64("RcSeqNak", "hfi1_sequence_naks_transmitted",
		"Sequence error answers sent, as hfi1 counts them."),
	HW64("RnrNak", "hfi1_rnr_naks_received",
		"Receiver-not-ready answers received, as hfi1 counts them."),

	/*
	 * -- hw_counters of the device: mlx5 in switchdev mode, where rx_write_requests refreshes
	 * the others, as at ports -------------------------------------------------------------- */
	MLX5_Q_COUNTERS(DEVICE32, DEVICE32_ROCE),
	MLX5_CONGESTION_COUNTERS(DEVICE64_ROCE),

	/* -- hw_counters of the device: mlx4 --------------------------------------------------- */
	MLX4_COUNTERS(DEVICE_MLX4),
	DEVICE_MLX4("num_cqovf", "mlx4_completion_queue_overflows",
		"Completion queues that overflowed, as mlx4 counts them."),
	DEVICE_MLX4("rq_num_udsdprd", "mlx4_responder_ud_drops",
		"Unreliable datagrams dropped for lack of a receive buffer, as mlx4 counts them."),

	/* -- hw_counters of the device: efa and mana ------------------------------------------- */
	DEVICE("submitted_cmds", "commands_submitted", "Commands submitted to the device."),
	DEVICE("completed_cmds", "commands_completed", "Commands that the device completed."),
	DEVICE("cmds_err", "command_errors", "Commands that ended in an error."),
	DEVICE("no_completion_cmds", "commands_without_completion",
		"Commands that the device never answered."),
	DEVICE("keep_alive_rcvd", "keep_alives_received", "Keep-alive messages received from the device."),
	DEVICE("alloc_pd_err", "pd_allocation_errors", "Protection domains that could not be allocated."),
	DEVICE("create_qp_err", "qp_creation_errors", "Queue pairs that could not be created."),
	DEVICE("create_cq_err", "cq_creation_errors", "Completion queues that could not be created."),
	DEVICE("reg_mr_err", "mr_registration_errors", "Memory regions that could not be registered."),
	DEVICE("alloc_ucontext_err", "context_allocation_errors", "Contexts that could not be opened."),
	DEVICE("create_ah_err", "ah_creation_errors", "Address handles that could not be created."),
	DEVICE("mmap_err", "mmap_errors", "Mappings of device memory that failed."),
	DEVICE("sent_cnps", "cnps_sent", "Congestion notifications sent."),
	DEVICE("received_ecns", "ecn_marks_received", "Packets received with a congestion mark."),
	DEVICE("received_cnp_count", "cnp_count_received", "Congestion notifications received."),
	DEVICE("qp_congested_events", "qp_congestions", "Times a queue pair became congested."),
	DEVICE("qp_recovered_events", "qp_recoveries", "Times a queue pair recovered from congestion."),
	DEVICE("rate_inc_events", "device_rate_increases", "Times congestion control raised a rate of the device."),

	/*
	 * -- by MAD: forward error correction (PortExtendedSpeedsCounters). Blocks of the port are
	 * one register with RS-FEC. Without it they are a sum of lanes, which passes its maximum. ---
	 */
	FABRIC(32, NULL, NULL, "fec_correctable_blocks", "fec_corrected_blocks",
		"Blocks corrected by forward error correction; PAM4 links always have some.", FILLS_UP),
	FABRIC(32, NULL, NULL, "fec_uncorrectable_blocks", "fec_uncorrected_blocks",
		"Blocks that forward error correction could not correct; each loses packets."),
	FABRIC(32, NULL, NULL, "fec_corrected_symbols", "fec_corrected_symbols",
		"Symbols corrected by RS-FEC on all lanes.", FILLS_UP),
	FABRIC(16, NULL, NULL, "sync_header_errors", "sync_header_errors",
		"Blocks received with a bad sync header."),
	FABRIC(16, NULL, NULL, "unknown_blocks", "unknown_blocks",
		"Blocks received with an unknown type."),
	FABRIC_LANES("fec_correctable_blocks_lane", "lane_fec_corrected_blocks",
		"Blocks corrected by FEC on a lane; not counted while RS-FEC is active, which counts symbols.", FILLS_UP),
	FABRIC_LANES("fec_uncorrectable_blocks_lane", "lane_fec_uncorrected_blocks",
		"Blocks that FEC could not correct on a lane; not counted while RS-FEC is active."),
	FABRIC_LANES("fec_corrected_symbols_lane", "lane_fec_corrected_symbols",
		"Symbols corrected by RS-FEC on a lane; an outlier is a bad lane of the cable.", FILLS_UP),

	/* -- by MAD: why packets were bad (PortRcvErrorDetails) or dropped --------------------- */
	RECEIVE_ERROR("port_rcv_local_physical_errors", "local_physical"),
	RECEIVE_ERROR("port_rcv_malformed_packet_errors", "malformed_packet"),
	RECEIVE_ERROR("port_rcv_buffer_overrun_errors", "buffer_overrun"),
	RECEIVE_ERROR("port_rcv_dlid_mapping_errors", "dlid_mapping"),
	RECEIVE_ERROR("port_rcv_vl_mapping_errors", "vl_mapping"),
	RECEIVE_ERROR("port_rcv_looping_errors", "looping"),
	DISCARD("port_inactive_discards", "inactive"),
	DISCARD("port_neighbor_mtu_discards", "neighbor_mtu"),
	DISCARD("port_sw_lifetime_limit_discards", "lifetime_limit"),
	DISCARD("port_sw_hoq_lifetime_limit_discards", "head_of_queue_limit"),

	/* -- by MAD: which virtual lane waits (PortVLXmitWaitCounters) ------------------------- */
	VL_WAIT(0), VL_WAIT(1), VL_WAIT(2), VL_WAIT(3), VL_WAIT(4), VL_WAIT(5), VL_WAIT(6), VL_WAIT(7),
	VL_WAIT(8), VL_WAIT(9), VL_WAIT(10), VL_WAIT(11), VL_WAIT(12), VL_WAIT(13), VL_WAIT(14),

	/* -- ports/N/counters_ext -------------------------------------------------------------- */
	EXTENDED(RNA_UNIT_WORDS, "port_xmit_data_64", "extended_data_transmitted_bytes",
		"Bytes transmitted on all virtual lanes, from counters_ext of an old driver."),
	EXTENDED(RNA_UNIT_WORDS, "port_rcv_data_64", "extended_data_received_bytes",
		"Bytes received on all virtual lanes, from counters_ext of an old driver."),
	EXTENDED(RNA_UNIT_NONE, "port_xmit_packets_64", "extended_packets_transmitted",
		"Packets transmitted on all virtual lanes, from counters_ext of an old driver."),
	EXTENDED(RNA_UNIT_NONE, "port_rcv_packets_64", "extended_packets_received",
		"Packets received on all virtual lanes, from counters_ext of an old driver."),
	EXTENDED(RNA_UNIT_NONE, "port_unicast_xmit_packets", "extended_unicast_packets_transmitted",
		"Unicast packets transmitted, from counters_ext of an old driver."),
	EXTENDED(RNA_UNIT_NONE, "port_unicast_rcv_packets", "extended_unicast_packets_received",
		"Unicast packets received, from counters_ext of an old driver."),
	EXTENDED(RNA_UNIT_NONE, "port_multicast_xmit_packets", "extended_multicast_packets_transmitted",
		"Multicast packets transmitted, from counters_ext of an old driver."),
	EXTENDED(RNA_UNIT_NONE, "port_multicast_rcv_packets", "extended_multicast_packets_received",
		"Multicast packets received, from counters_ext of an old driver."),

	/* -- planes of a port: ports of the SMI device ----------------------------------------- */
	PLANES(RNA_UNIT_WORDS, "port_xmit_data", "plane_data_transmitted_bytes",
		"Bytes transmitted on a plane of a multi-plane InfiniBand card, all virtual lanes, headers included."),
	PLANES(RNA_UNIT_WORDS, "port_rcv_data", "plane_data_received_bytes",
		"Bytes received on a plane of a multi-plane InfiniBand card, all virtual lanes, headers included."),
	PLANES(RNA_UNIT_NONE, "port_xmit_packets", "plane_packets_transmitted",
		"Packets transmitted on a plane of a multi-plane InfiniBand card, all virtual lanes."),
	PLANES(RNA_UNIT_NONE, "port_rcv_packets", "plane_packets_received",
		"Packets received on a plane of a multi-plane InfiniBand card, all virtual lanes."),

	/* -- ports/N/cm_* ---------------------------------------------------------------------- */
	CM_MESSAGES(RNA_PLACE_PORT_CM_TX, "cm_messages_transmitted",
		"Messages of the kernel's connection manager transmitted, by kind; rej refuses a connection."),
	CM_MESSAGES(RNA_PLACE_PORT_CM_TX_RETRIES, "cm_retries",
		"Messages of the kernel's connection manager that were transmitted again for lack of an answer, by kind."),
	CM_MESSAGES(RNA_PLACE_PORT_CM_RX, "cm_messages_received",
		"Messages of the kernel's connection manager received, by kind; rej refuses a connection."),
	CM_MESSAGES(RNA_PLACE_PORT_CM_RX_DUPLICATES, "cm_duplicates_received",
		"Messages of the kernel's connection manager that were received again, by kind."),
};
/* clang-format on */

const size_t rna_counter_count = RNA_ARRAY_SIZE(rna_counters);

/* A linear search is enough: it runs once per file when a device appears, not at each read. */
const struct rna_counter *rna_counter_find(enum rna_counter_place place, const char *file)
{
	return RNA_FIND(i, rna_counters, rna_counter_count,
			rna_counters[i].place == place && strcmp(rna_counters[i].file, file) == 0);
}

bool rna_counter_is_stuck(const struct rna_counter_value *value)
{
	return value->value.state == RNA_VALUE_SATURATED && value->counter &&
	       !value->counter->fills_up;
}

static int compare_counters(const void *key, const void *element)
{
	const struct rna_counter *wanted = key;
	const struct rna_counter_value *value = element;

	if (!value->counter) /* unknown files are after all known ones */
		return -1;
	return wanted < value->counter ? -1 : wanted > value->counter;
}

const struct rna_counter_value *rna_counter_group_find(const struct rna_counter_group *group,
						       const struct rna_counter *counter)
{
	return group ? bsearch(counter, group->values, group->count, sizeof(*group->values),
			       compare_counters)
		     : NULL;
}

const char *rna_counter_directory(enum rna_counter_place place)
{
	static const char *const directories[RNA_PLACE_COUNT] = {
		[RNA_PLACE_PORT_COUNTERS] = "counters",
		[RNA_PLACE_PORT_HW_COUNTERS] = "hw_counters",
		[RNA_PLACE_DEVICE_HW_COUNTERS] = "hw_counters",
		[RNA_PLACE_PORT_COUNTERS_EXT] = "counters_ext",
		[RNA_PLACE_PORT_PLANES] = "plane_counters",
		[RNA_PLACE_PORT_CM_TX] = "cm_tx_msgs",
		[RNA_PLACE_PORT_CM_TX_RETRIES] = "cm_tx_retries",
		[RNA_PLACE_PORT_CM_RX] = "cm_rx_msgs",
		[RNA_PLACE_PORT_CM_RX_DUPLICATES] = "cm_rx_duplicates",
	};

	return directories[place];
}

enum rna_collector_id rna_counter_collector(enum rna_counter_place place)
{
	switch (place) {
	case RNA_PLACE_PORT_COUNTERS:
	case RNA_PLACE_PORT_COUNTERS_EXT:
	case RNA_PLACE_PORT_PLANES:
		return RNA_COLLECTOR_COUNTERS;
	case RNA_PLACE_PORT_FABRIC:
		return RNA_COLLECTOR_FABRIC;
	default:
		return RNA_COLLECTOR_HW_COUNTERS;
	}
}
