// SPDX-License-Identifier: Apache-2.0
/*
 * The table of meanings, see meanings.h. To add a driver: a way in each row that it counts, and its
 * name in NONE() of the others.
 *
 * Keys of sources, as the table abbreviates them:
 *	ABI      Linux 6.12 Documentation/ABI/stable/sysfs-class-infiniband, hw_counters
 *	mlx5     Linux 6.12 and 7.2 drivers/infiniband/hw/mlx5/counters.c
 *	mlx4     Linux 7.2 drivers/infiniband/hw/mlx4/main.c, diag_basic and diag_ext; what they
 *	         count: the same file of Documentation/ABI. The device has the sums of its ports as
 *	         well, or alone where the firmware does not count by port; they are not used
 *	bnxt_re  Linux 6.12 and 7.2 drivers/infiniband/hw/bnxt_re/hw_counters.c. "RDMA/bnxt_re: RoCE
 *	         related hardware counters update" (August 2025, for 6.18) gives most of these
 *	         registers the names of mlx5, so Broadcom itself says which counters mean the same
 *	irdma    Linux 6.18 and 7.2 drivers/infiniband/hw/irdma/verbs.c, irdma_hw_stat_descs; the
 *	         counters with spaces in their names exist in the third generation of hardware (E830
 *	         and later) only
 *	efa      Linux 6.18 drivers/infiniband/hw/efa/efa_admin_cmds_defs.h
 *	ionic    nic/hal/plugins/cfg/rdma/rdma.cc of Pensando's software; Linux 6.18 and 7.2
 *	         drivers/infiniband/hw/ionic/ionic_hw_stats.c takes names from the firmware
 *	hns      Linux 6.12 and 7.2 drivers/infiniband/hw/hns/hns_roce_hw_v2.c,
 *	         hns_roce_hw_v2_query_counter()
 *	erdma    Linux 6.12 and 7.2 drivers/infiniband/hw/erdma/erdma_verbs.c
 *	mana     Linux 6.18 and 7.2 drivers/infiniband/hw/mana/counters.c
 *	hfi1     Linux 7.2 drivers/infiniband/hw/hfi1/chip.c, SW_IBP_CNTR; hw/hfi1/rc.c and
 *	         sw/rdmavt/qp.c count them
 *	rxe      Linux 7.2 drivers/infiniband/sw/rxe/rxe_hw_counters.c
 *	ethtool  collectors/ethernet_sources.c, which names the statistics of drivers
 *	IBTA     InfiniBand Architecture Specification, volume 1, 16.1.3.5
 *	core     Linux 6.12 drivers/infiniband/core/sysfs.c
 */
#include "meanings.h"

#include <string.h>

#include "rna/base/cleanup.h"

#define WAY(drivers_, place_, source_, note_, ...)                                                 \
	{                                                                                          \
		.drivers = (drivers_), .place = (place_), .source = (source_), .note = (note_),    \
		.files = {__VA_ARGS__},                                                            \
	}
#define PORT(drivers, source, note, ...)                                                           \
	WAY(drivers, RNA_PLACE_PORT_HW_COUNTERS, source, note, __VA_ARGS__)
#define DEVICE(drivers, source, note, ...)                                                         \
	WAY(drivers, RNA_PLACE_DEVICE_HW_COUNTERS, source, note, __VA_ARGS__)
#define PMA(drivers, source, note, ...)                                                            \
	WAY(drivers, RNA_PLACE_PORT_COUNTERS, source, note, __VA_ARGS__)
/* Of ports of mlx5 and of drivers with the same names; in switchdev mode, of the device of mlx5. */
#define MLX5(drivers, note, ...)                                                                   \
	PORT(drivers, "ABI", note, __VA_ARGS__),                                                   \
		DEVICE("mlx5", "mlx5", "switchdev mode: of the device, without a port",            \
		       __VA_ARGS__)
#define STATISTICS(drivers_, note_, statistic_, otherwise_)                                        \
	{                                                                                          \
		.drivers = (drivers_), .source = "ethtool", .note = (note_), .of_ethernet = true,  \
		.statistic = RNA_ETHERNET_##statistic_, .otherwise = RNA_ETHERNET_##otherwise_,    \
	}
#define STATISTIC(drivers, note, statistic) STATISTICS(drivers, note, statistic, statistic)
#define NONE(drivers_, note_)                                                                      \
	{                                                                                          \
		.drivers = (drivers_), .note = (note_)                                             \
	}
/* clang-format off */
#define WAYS(...) (const struct rna_way[]) {__VA_ARGS__, {0}}

/* erdma: tx_ and rx_, which the driver of Alibaba Cloud writes otherwise. */
#define ERDMA_LIMITS(note_, a, b, c)                                                               \
	{                                                                                          \
		.drivers = "erdma", .place = RNA_PLACE_PORT_HW_COUNTERS, .source = "erdma",        \
		.note = (note_), .files = {a, b, c},                                               \
		.normal = "the limits of the instance drop them, as ordered",                      \
	}

#define LATER  "bnxt_re: Linux 6.18 and later"
#define SLOW   "a momentarily slow receiver causes them; exceeded retries have a threshold"
#define AT_WORK "this is congestion control at work"
#define HIDDEN "the instance sees no pause frames"

const char *const rna_meaning_drivers[] = {"mlx4", "mlx5", "bnxt_re", "irdma", "efa", "ionic", "hns",
					   "erdma", "mana", "hfi1", "rxe", NULL};

static const struct rna_meaning meanings[] = {
	{.name = "packets_sent",
	 .counts = "RDMA packets sent per second, to which losses of sent packets are compared.",
	 .base = true,
	 .normal = "it is traffic",
	 .ways = WAYS(
		PMA("mlx4, mlx5, hfi1, bnxt_re", "core", "bnxt_re: Linux 7.2; 6.12 does not have it", "port_xmit_packets"),
		PORT("bnxt_re", "bnxt_re", "by chip and function one or the other counts (bnxt_re_assign_pma_port_ext_counters())", "tx_pkts", "tx_roce_only_pkts"),
		PORT("bnxt_re, efa", "bnxt_re, efa", "bnxt_re: without extended statistics", "tx_pkts"),
		PORT("irdma", "irdma", NULL, "ip4OutPkts", "ip6OutPkts"),
		PORT("ionic", "ionic", NULL, "tx_rdma_ucast_pkts"),
		PORT("hns", "hns", NULL, "tx_pkt"),
		PORT("erdma", "erdma", NULL, "tx_packets_cnt"),
		PORT("erdma", "erdma", "driver of Alibaba Cloud", "hw_tx_packets_cnt"),
		PORT("mana", "mana", NULL, "tx_packets"),
		PORT("rxe", "rxe", NULL, "sent_pkts"))},
	{.name = "packets_received",
	 .counts = "RDMA packets received per second, to which discards are compared.",
	 .base = true,
	 .normal = "it is traffic",
	 .ways = WAYS(
		PMA("mlx4, mlx5, hfi1, bnxt_re", "core", "bnxt_re: Linux 7.2; 6.12 does not have it", "port_rcv_packets"),
		PORT("bnxt_re", "bnxt_re", "as packets_sent", "rx_pkts", "rx_roce_only_pkts"),
		PORT("bnxt_re, efa", "bnxt_re, efa", "bnxt_re: without extended statistics", "rx_pkts"),
		PORT("irdma", "irdma", NULL, "ip4InPkts", "ip6InPkts"),
		PORT("ionic", "ionic", NULL, "rx_rdma_ucast_pkts"),
		PORT("hns", "hns", NULL, "rx_pkt"),
		PORT("erdma", "erdma", NULL, "rx_packets_cnt"),
		PORT("erdma", "erdma", "driver of Alibaba Cloud", "hw_rx_packets_cnt"),
		PORT("mana", "mana", NULL, "rx_packets"),
		PORT("rxe", "rxe", NULL, "rcvd_pkts"))},
	{.name = "cnps_sent",
	 .counts = "Congestion notification packets (CNPs) sent per second, because packets arrived with a congestion mark.",
	 .normal = AT_WORK,
	 .ways = WAYS(
		MLX5("mlx5", NULL, "np_cnp_sent"),
		PORT("bnxt_re", "bnxt_re", "Linux 6.18 and later", "np_cnp_pkts"),
		PORT("bnxt_re", "bnxt_re", NULL, "tx_cnp_pkts"),
		PORT("irdma", "irdma", NULL, "cnpSent"),
		PORT("ionic", "ionic", NULL, "tx_rdma_cnp_pkts"),
		PORT("hns", "hns", NULL, "tx_cnp_pkt"),
		DEVICE("mana", "mana", "of the device, without a port", "sent_cnps"),
		NONE("efa", "SRD has no CNPs"),
		NONE("mlx4, erdma, hfi1, rxe", "not counted"))},
	{.name = "cnps_received",
	 .counts = "CNPs received per second, whether or not the sender reacted to them.",
	 .normal = AT_WORK,
	 .ways = WAYS(
		MLX5("mlx5", NULL, "rp_cnp_handled", "rp_cnp_ignored"),
		PORT("bnxt_re", "bnxt_re", "Linux 6.18 and later; the register rx_cnp, which counts all CNPs", "rp_cnp_handled"),
		PORT("bnxt_re", "bnxt_re", NULL, "rx_cnp_pkts"),
		PORT("irdma", "irdma", NULL, "cnpHandled", "cnpIgnored"),
		PORT("ionic", "ionic", NULL, "rx_rdma_cnp_pkts"),
		PORT("hns", "hns", NULL, "rx_cnp_pkt"),
		PORT("mana", "mana", NULL, "received_cnps"),
		NONE("efa", "SRD has no CNPs"),
		NONE("mlx4, erdma, hfi1, rxe", "not counted"))},
	{.name = "cnps_handled",
	 .counts = "CNPs received per second that made a sender reduce its rate.",
	 .normal = AT_WORK,
	 .ways = WAYS(
		MLX5("mlx5, bnxt_re", LATER ", where it is the same as cnps_received", "rp_cnp_handled"),
		PORT("irdma", "irdma", NULL, "cnpHandled"),
		NONE("ionic, hns, mana", "counts only received ones"),
		NONE("efa", "SRD has no CNPs"),
		NONE("mlx4, erdma, hfi1, rxe", "not counted"))},
	{.name = "cnps_ignored",
	 .counts = "CNPs received per second to which the sender did not react.",
	 .ways = WAYS(
		MLX5("mlx5", NULL, "rp_cnp_ignored"),
		PORT("irdma", "irdma", NULL, "cnpIgnored"),
		NONE("bnxt_re, ionic, hns, mana", "counts only received ones"),
		NONE("efa", "SRD has no CNPs"),
		NONE("mlx4, erdma, hfi1, rxe", "not counted"))},
	{.name = "ecn_marked_packets",
	 .counts = "RDMA packets received per second with the congestion mark (ECN CE) of a switch.",
	 .normal = AT_WORK,
	 .ways = WAYS(
		MLX5("mlx5, bnxt_re", LATER, "np_ecn_marked_roce_packets"),
		PORT("bnxt_re", "bnxt_re", NULL, "rx_ecn_marked_pkts"),
		PORT("irdma", "irdma", NULL, "RxECNMrkd"),
		PORT("ionic", "ionic", NULL, "rx_rdma_ecn_pkts"),
		DEVICE("mana", "mana", "of the device, without a port", "received_ecns"),
		NONE("hns", "ecn_doorbell counts doorbells, not packets"),
		NONE("mlx4, efa, erdma, hfi1, rxe", "not counted"))},
	{.name = "retransmissions",
	 .counts = "Times per second that a requester sent again, after a timeout or a sequence error. Each may repeat many packets.",
	 .normal = "it is a sum, whose parts have thresholds",
	 .ways = WAYS(
		MLX5("mlx5, bnxt_re", LATER, "local_ack_timeout_err", "packet_seq_err", "implied_nak_seq_err"),
		PORT("mlx4", "mlx4", NULL, "sq_num_to", "sq_num_oos"),
		PORT("bnxt_re", "bnxt_re", NULL, "to_retransmits", "seq_err_naks_rcvd", "missing_resp"),
		PORT("irdma", "irdma", NULL, "RTO", "Nak Sequence Error", "Nak Sequence Error Implied"),
		PORT("ionic", "ionic", NULL, "tx_rdma_ack_timeout", "req_rx_pkt_seq_err", "req_rx_impl_nak_seq_err"),
		PORT("mana", "mana", NULL, "requester_timeout", "requester_oos_nak", "requester_implicit_nak"),
		PORT("rxe", "rxe", NULL, "completer_retry_err"),
		PORT("hfi1", "hfi1", NULL, "RcTimeOut", "SeqNak"),
		NONE("efa", "counts packets, see retransmitted_packets"),
		NONE("hns, erdma", "not counted"))},
	{.name = "retransmission_timeouts",
	 .counts = "Acknowledgements per second that did not arrive in time, so that the requester sent again.",
	 .ways = WAYS(
		MLX5("mlx5, bnxt_re", LATER, "local_ack_timeout_err"),
		PORT("mlx4", "mlx4", NULL, "sq_num_to"),
		PORT("bnxt_re", "bnxt_re", NULL, "to_retransmits"),
		PORT("irdma", "irdma", NULL, "RTO"),
		PORT("ionic", "ionic", NULL, "tx_rdma_ack_timeout"),
		PORT("mana", "mana", NULL, "requester_timeout"),
		PORT("hfi1", "hfi1", NULL, "RcTimeOut"),
		NONE("efa", "retrans_timeout_events counts only timeouts that changed the network path"),
		NONE("rxe", "counts all retries, see retransmissions"),
		NONE("hns, erdma", "not counted"))},
	{.name = "retransmitted_packets",
	 .counts = "Packets sent again per second.",
	 .normal = "one loss repeats all that was in flight, and SRD and TCP repeat some where nothing is wrong",
	 .ways = WAYS(
		PORT("efa", "efa", NULL, "retrans_pkts"),
		PORT("ionic", "ionic", NULL, "tx_rdma_retx_pkts"),
		PORT("irdma", "irdma", NULL, "RetransSegs"),
		PORT("irdma", "irdma", "before Linux 6.18: TCP segments of iWARP", "tcpRetransSegs"),
		PORT("hfi1", "hfi1", NULL, "RcResend"),
		NONE("mlx5", "counts times, see retransmissions; roce_adp_retrans counts adaptive retransmission only"),
		NONE("mlx4, bnxt_re, mana, rxe", "counts times, see retransmissions"),
		NONE("hns, erdma", "not counted"))},
	{.name = "sequence_naks_received",
	 .counts = "Sequence error answers received per second. The peer missed packets that this node had sent.",
	 .ways = WAYS(
		MLX5("mlx5, bnxt_re", LATER, "packet_seq_err"),
		PORT("mlx4", "mlx4", NULL, "sq_num_oos"),
		PORT("bnxt_re", "bnxt_re", NULL, "seq_err_naks_rcvd"),
		PORT("irdma", "irdma", NULL, "Nak Sequence Error"),
		PORT("ionic", "ionic", NULL, "req_rx_pkt_seq_err"),
		PORT("mana", "mana", NULL, "requester_oos_nak"),
		PORT("rxe", "rxe", NULL, "rcvd_seq_err"),
		PORT("hfi1", "hfi1", NULL, "SeqNak"),
		NONE("efa", "SRD does not keep the order of packets"),
		NONE("hns, erdma", "not counted"))},
	{.name = "missing_responses",
	 .counts = "Answers per second that were lost, as the acknowledgement of a later request showed (implied NAKs).",
	 .ways = WAYS(
		MLX5("mlx5, bnxt_re", LATER, "implied_nak_seq_err"),
		PORT("bnxt_re", "bnxt_re", NULL, "missing_resp"),
		PORT("irdma", "irdma", NULL, "Nak Sequence Error Implied"),
		PORT("ionic", "ionic", NULL, "req_rx_impl_nak_seq_err"),
		PORT("mana", "mana", NULL, "requester_implicit_nak"),
		NONE("efa", "SRD does not keep the order of packets"),
		NONE("mlx4, hns, erdma, hfi1, rxe", "not counted"))},
	{.name = "out_of_sequence_packets",
	 .counts = "Packets received out of sequence per second. Packets before them were lost or overtaken.",
	 .normal = "adaptive routing and several paths change the order; losses have a threshold at the peer that sent",
	 .ways = WAYS(
		MLX5("mlx5, bnxt_re", LATER, "out_of_sequence"),
		PORT("mlx4", "mlx4", NULL, "rq_num_oos"),
		PORT("bnxt_re", "bnxt_re", NULL, "oos_drop_count"),
		PORT("irdma", "irdma", NULL, "Rcvd Out of order packets"),
		PORT("ionic", "ionic", NULL, "resp_rx_outouf_seq"),
		PORT("mana", "mana", NULL, "responder_oos"),
		PORT("rxe", "rxe", "requests only", "out_of_seq_request"),
		NONE("efa", "SRD does not keep the order of packets"),
		NONE("hns, erdma, hfi1", "not counted"))},
	{.name = "retries_exceeded",
	 .counts = "Requests per second that failed because all retries were used up. Each ends a connection.",
	 .ways = WAYS(
		MLX5("mlx5", "Linux 6.11 and later", "req_transport_retries_exceeded"),
		PORT("mlx4", "mlx4", NULL, "sq_num_tree"),
		PORT("bnxt_re", "bnxt_re", NULL, "max_retry_exceeded"),
		PORT("ionic", "ionic", NULL, "req_tx_retry_excd_err"),
		PORT("mana", "mana", NULL, "requester_retries_exceeded"),
		PORT("rxe", "rxe", NULL, "retry_exceeded_err"),
		NONE("efa", "not counted; unresponsive_remote_events counts peers that do not answer"),
		NONE("irdma, hns, erdma, hfi1", "not counted"))},
	{.name = "rnr_naks_received",
	 .counts = "Receiver-not-ready (RNR) answers received per second. The peer had no receive buffer posted.",
	 .normal = SLOW,
	 .ways = WAYS(
		MLX5("mlx5, bnxt_re", "without those after which the retries were used up; " LATER, "rnr_nak_retry_err"),
		PORT("mlx4", "mlx4", NULL, "sq_num_rnr"),
		PORT("bnxt_re", "bnxt_re", NULL, "rnr_naks_rcvd"),
		PORT("irdma", "irdma", NULL, "RNR received"),
		PORT("ionic", "ionic", NULL, "req_rx_rnr_retry_err"),
		PORT("mana", "mana", NULL, "requester_rnr_nak"),
		PORT("rxe", "rxe", NULL, "rcvd_rnr_err"),
		PORT("hfi1", "hfi1", NULL, "RnrNak"),
		NONE("efa, hns, erdma", "not counted"))},
	{.name = "rnr_naks_sent",
	 .counts = "RNR answers sent per second. This node had no receive buffer posted.",
	 .normal = SLOW,
	 .ways = WAYS(
		PORT("mlx4", "mlx4", NULL, "rq_num_rnr"),
		PORT("irdma", "irdma", NULL, "RNR sent"),
		PORT("ionic", "ionic", NULL, "resp_tx_rnr_retry_err"),
		PORT("mana", "mana", NULL, "responder_rnr_nak"),
		PORT("rxe", "rxe", NULL, "send_rnr_err"),
		NONE("mlx5, bnxt_re", "counts packets, see out_of_buffer"),
		NONE("efa, hns, erdma, hfi1", "not counted"))},
	{.name = "rnr_retries_exceeded",
	 .counts = "Requests per second that failed because the peer had no receive buffer posted after the last retry. Each ends a connection.",
	 .ways = WAYS(
		MLX5("mlx5", "Linux 6.11 and later", "req_rnr_retries_exceeded"),
		PORT("mlx4", "mlx4", NULL, "sq_num_rree"),
		PORT("mana", "mana", NULL, "requester_rnr_nak_retries_exceeded"),
		PORT("rxe", "rxe", NULL, "retry_rnr_exceeded_err"),
		NONE("bnxt_re, irdma, ionic", "counts answers, see rnr_naks_received"),
		NONE("efa, hns, erdma, hfi1", "not counted"))},
	{.name = "out_of_buffer",
	 .counts = "RDMA packets per second that found no posted receive buffer.",
	 .normal = SLOW,
	 .ways = WAYS(
		MLX5("mlx5, bnxt_re", LATER, "out_of_buffer"),
		PORT("bnxt_re", "bnxt_re", NULL, "rx_out_of_buffer"),
		PORT("ionic", "ionic", NULL, "resp_rx_outof_buf"),
		NONE("mlx4, irdma, mana, rxe", "counts answers, see rnr_naks_sent"),
		NONE("efa, hns, erdma, hfi1", "not counted"))},
	{.name = "unrecoverable_errors",
	 .counts = "Errors per second from which the device could not recover.",
	 .ways = WAYS(
		PORT("bnxt_re", "bnxt_re", NULL, "unrecoverable_err"),
		PORT("mana", "mana", "total_fatal_error counts errors of applications as well", "general_hw_error"),
		NONE("mlx4, mlx5", "not counted; the kernel log has them"),
		NONE("irdma, efa, ionic, hns, erdma, hfi1, rxe", "not counted"))},
	{.name = "checksum_errors",
	 .counts = "RDMA packets received per second with a wrong invariant checksum (ICRC).",
	 .ways = WAYS(
		MLX5("mlx5", NULL, "rx_icrc_encapsulated"),
		PORT("irdma", "irdma", NULL, "CRC errors"),
		NONE("bnxt_re, hns", "counts all errors, see receive_errors"),
		NONE("mlx4, efa, ionic, erdma, mana, hfi1, rxe", "not counted"))},
	{.name = "receive_errors",
	 .counts = "RDMA packets received per second with an error.",
	 .ways = WAYS(
		PORT("bnxt_re", "bnxt_re", "the driver shows a register without saying which errors it counts", "rx_roce_errors"),
		PORT("hns", "hns", "the driver shows a register without saying which errors it counts", "rx_err_pkt"),
		NONE("mlx5, irdma", "see checksum_errors"),
		NONE("mlx4, efa, ionic, erdma, mana, hfi1, rxe", "not counted"))},
	{.name = "transmit_errors",
	 .counts = "RDMA packets per second that were not sent because of an error.",
	 .ways = WAYS(
		PORT("bnxt_re", "bnxt_re", "the driver shows a register without saying which errors it counts", "tx_roce_errors"),
		PORT("hns", "hns", "the driver shows a register without saying which errors it counts", "tx_err_pkt"),
		PORT("rxe", "rxe", "the interface did not accept them", "send_err"),
		NONE("mlx4, mlx5, irdma, efa, ionic, erdma, mana, hfi1", "not counted"))},
	{.name = "receive_discards",
	 .counts = "RDMA packets received and dropped per second by the device.",
	 .ways = WAYS(
		PORT("bnxt_re", "bnxt_re", NULL, "rx_roce_discards"),
		PORT("irdma", "irdma", NULL, "ip4InDiscards", "ip6InDiscards"),
		PORT("efa", "efa", NULL, "rx_drops"),
		ERDMA_LIMITS("by the limits of the instance", "rx_disable_drop_cnt", "rx_bps_limit_drop_cnt", "rx_pps_limit_drop_cnt"),
		ERDMA_LIMITS("driver of Alibaba Cloud", "hw_rx_disable_drop_cnt", "hw_rx_bps_limit_drop_cnt", "hw_rx_pps_limit_drop_cnt"),
		NONE("mlx5, ionic", "counts those of the port, see port_receive_discards"),
		NONE("mlx4, hns, mana, hfi1, rxe", "not counted"))},
	{.name = "transmit_discards",
	 .counts = "RDMA packets dropped per second by the device instead of being sent.",
	 .ways = WAYS(
		PORT("bnxt_re", "bnxt_re", NULL, "tx_roce_discards"),
		ERDMA_LIMITS("by the limits of the instance", "tx_disable_drop_cnt", "tx_bps_limit_drop_cnt", "tx_pps_limit_drop_cnt"),
		ERDMA_LIMITS("driver of Alibaba Cloud", "hw_disable_drop_cnt", "hw_bps_limit_drop_cnt", "hw_pps_limit_drop_cnt"),
		NONE("mlx5", "counts those of the port, see port_transmit_discards"),
		NONE("rxe", "see transmit_errors"),
		NONE("mlx4, irdma, efa, ionic, hns, mana, hfi1", "not counted"))},
	{.name = "port_receive_discards",
	 .counts = "Packets of all protocols received and dropped per second by the port for lack of buffers.",
	 .ways = WAYS(
		STATISTIC("mlx5, bnxt_re, irdma, ionic", "Ethernet; irdma: of ice", RECEIVE_DISCARDS),
		{.drivers = "mlx4, mlx5", .place = RNA_PLACE_PORT_COUNTERS, .source = "core",
		 .note = "InfiniBand; few kernels have it", .files = {"port_rcv_discards"},
		 .normal = "what it counts is not specified (IBTA has no such counter)"},
		NONE("efa, hns, erdma, mana, hfi1, rxe", "not counted"))},
	{.name = "port_transmit_discards",
	 .counts = "Packets of all protocols dropped per second by the port instead of being sent.",
	 .ways = WAYS(
		STATISTIC("mlx5, bnxt_re, irdma", "Ethernet; irdma: of ice, while the link is down", TRANSMIT_DISCARDS),
		PMA("mlx4, mlx5, hfi1", "IBTA", "InfiniBand, Omni-Path", "port_xmit_discards"),
		NONE("efa, ionic, hns, erdma, mana, rxe", "not counted"))},
	{.name = "pause_frames_received",
	 .counts = "Pause frames received per second, of priorities (PFC) and of the link. A frame for several priorities counts once for each.",
	 .ways = WAYS(
		STATISTICS("mlx5, bnxt_re, irdma, ionic", "irdma: of ice", PRIORITY_PAUSE_RECEIVED, PAUSE_RECEIVED),
		NONE("efa, erdma, mana", HIDDEN),
		NONE("mlx4, hns", "only with the standard statistics of the kernel (ethtool -I -a)"),
		NONE("hfi1", "Omni-Path has no pause frames"),
		NONE("rxe", "it has no port of its own"))},
	{.name = "pause_frames_sent",
	 .counts = "Pause frames sent per second, of priorities (PFC) and of the link. A frame for several priorities counts once for each.",
	 .ways = WAYS(
		STATISTICS("mlx5, bnxt_re, irdma, ionic", "irdma: of ice", PRIORITY_PAUSE_TRANSMITTED, PAUSE_TRANSMITTED),
		NONE("efa, erdma, mana", HIDDEN),
		NONE("mlx4, hns", "only with the standard statistics of the kernel (ethtool -I -a)"),
		NONE("hfi1", "Omni-Path has no pause frames"),
		NONE("rxe", "it has no port of its own"))},
	{.name = "pause_received",
	 .ratio = true,
	 .counts = "Fraction of the time that received pause frames kept the port from sending, of the priority that is paused most.",
	 .ways = WAYS(
		STATISTICS("mlx5, bnxt_re, ionic", NULL, PRIORITY_PAUSE_RECEIVED_TIME, PAUSE_RECEIVED_TIME),
		NONE("mlx4, irdma, hns", "not counted"),
		NONE("efa, erdma, mana", HIDDEN),
		NONE("hfi1", "Omni-Path has no pause frames"),
		NONE("rxe", "it has no port of its own"))},
	{.name = "pause_sent",
	 .ratio = true,
	 .counts = "Fraction of the time that the port kept the other end from sending by pause frames, of the priority that is paused most.",
	 .ways = WAYS(
		STATISTICS("mlx5, bnxt_re, ionic", NULL, PRIORITY_PAUSE_TRANSMITTED_TIME, PAUSE_TRANSMITTED_TIME),
		NONE("mlx4, irdma, hns", "not counted"),
		NONE("efa, erdma, mana", HIDDEN),
		NONE("hfi1", "Omni-Path has no pause frames"),
		NONE("rxe", "it has no port of its own"))},
	{.name = "pcie_read_stalled",
	 .ratio = true,
	 .counts = "Fraction of the seconds in which reads of the device from memory waited more than 30 percent of the time for PCIe credits.",
	 .ways = WAYS(
		STATISTIC("mlx5", NULL, PCIE_READ_STALLED_TIME),
		NONE("mlx4, bnxt_re, irdma, efa, ionic, hns, erdma, mana, hfi1, rxe", "not counted"))},
	{.name = "pcie_write_stalled",
	 .ratio = true,
	 .counts = "Fraction of the seconds in which writes of the device to memory waited more than 30 percent of the time for PCIe credits.",
	 .ways = WAYS(
		STATISTIC("mlx5", NULL, PCIE_WRITE_STALLED_TIME),
		NONE("mlx4, bnxt_re, irdma, efa, ionic, hns, erdma, mana, hfi1, rxe", "not counted"))},
};
/* clang-format on */

const struct rna_meaning *rna_meaning_next(size_t *at)
{
	return *at < RNA_ARRAY_SIZE(meanings) ? &meanings[(*at)++] : NULL;
}

const struct rna_meaning *rna_meaning_find(const char *name)
{
	return RNA_FIND(i, meanings, RNA_ARRAY_SIZE(meanings), strcmp(meanings[i].name, name) == 0);
}

bool rna_way_has(const struct rna_way *way, const char *file)
{
	for (size_t i = 0; i < RNA_WAY_FILES_MAX && way->files[i]; i++)
		if (strcmp(way->files[i], file) == 0)
			return true;
	return false;
}

/* -- The table as text ------------------------------------------------------------------------- */

static void write_family(const struct rna_way *way, const char *file, struct rna_strbuf *out)
{
	const struct rna_counter *counter = rna_counter_find(way->place, file);

	rna_strbuf_printf(out, "rdma_%s_%s_total",
			  way->place == RNA_PLACE_DEVICE_HW_COUNTERS ? "device" : "port",
			  counter ? counter->metric : file);
}

/* Its family, between the two texts. */
static void write_statistic(const char *front, enum rna_ethernet_statistic_id id, const char *end,
			    struct rna_strbuf *out)
{
	const struct rna_ethernet_statistic *row = &rna_ethernet_statistics[id];

	rna_strbuf_printf(out, "%srdma_port_%s%s_total%s", front, row->name,
			  row->unit == RNA_ETHERNET_MICROSECONDS ? "_seconds" : "", end);
}

static void write_counters(const struct rna_way *way, struct rna_strbuf *out)
{
	for (size_t i = 0; i < RNA_WAY_FILES_MAX && way->files[i]; i++)
		rna_strbuf_printf(out, "%s`%s`", i > 0 ? " + " : "", way->files[i]);
	if (way->of_ethernet)
		write_statistic("`", way->statistic, "`", out);
	if (way->otherwise != way->statistic)
		write_statistic(" + `", way->otherwise, "`", out);
}

/* Of several interfaces and priorities; times of one are a fraction, and the largest is taken. */
static void write_statistics_rate(const struct rna_meaning *meaning, const struct rna_way *way,
				  struct rna_strbuf *out)
{
	const char *label = rna_ethernet_statistics[way->statistic].label;

	rna_strbuf_printf(out, "%s without (netdev%s%s) (", meaning->ratio ? "max" : "sum",
			  label ? ", " : "", label ? label : "");
	write_statistic("rate(", way->statistic, "[5m])", out);
	if (way->otherwise != way->statistic)
		write_statistic(" or rate(", way->otherwise, "[5m])", out);
	rna_strbuf_puts(out, ")");
}

/* As Prometheus has it. */
static void write_rate(const struct rna_meaning *meaning, const struct rna_way *way,
		       struct rna_strbuf *out)
{
	for (size_t i = 0; i < RNA_WAY_FILES_MAX && way->files[i]; i++) {
		rna_strbuf_puts(out, i > 0 ? " + rate(" : "rate(");
		write_family(way, way->files[i], out);
		rna_strbuf_puts(out, "[5m])");
	}
	if (way->of_ethernet)
		write_statistics_rate(meaning, way, out);
}

static void describe_way(const struct rna_meaning *meaning, const struct rna_way *way,
			 struct rna_strbuf *out)
{
	rna_strbuf_printf(out, "`%s`\t%s\t%s\t%s\t%s\t", meaning->name,
			  meaning->base    ? "base"
			  : meaning->ratio ? "ratio"
					   : "rate",
			  meaning->counts, meaning->normal ? meaning->normal : "", way->drivers);
	write_counters(way, out);
	rna_strbuf_puts(out, "\t");
	write_rate(meaning, way, out);
	rna_strbuf_printf(out, "\t%s\t%s%s%s\n", way->source ? way->source : "",
			  way->note ? way->note : "",
			  way->note && way->normal ? "; no finding: " : "",
			  way->normal ? way->normal : "");
}

void rna_meanings_describe(struct rna_strbuf *out)
{
	rna_strbuf_puts(out, "Meaning\tKind\tWhat it counts\tWhy a rise is no finding\tDrivers\t"
			     "Counters\tRate\tSource\tDifference, or reason\n");
	for (size_t i = 0; i < RNA_ARRAY_SIZE(meanings); i++)
		for (const struct rna_way *way = meanings[i].ways; way->drivers; way++)
			describe_way(&meanings[i], way, out);
}
