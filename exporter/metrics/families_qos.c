// SPDX-License-Identifier: Apache-2.0
/*
 * Metrics of quality of service. Most have eight values. The 64 DSCPs are labels with
 * ranges, because their mapping matters and graphs of them are not useful. Values of an interface
 * have the label netdev too: each member of a bond has its own configuration.
 */
#include "rna/model/qos.h"

#include "family_rows.h"

typedef void write_interface(const struct rna_subject *interface, struct rna_writer *writer);

/* Hands each interface of a port to write, as if it were the port, with its name in the labels. */
static void each_interface(const struct rna_subject *port, struct rna_writer *writer,
			   write_interface *write)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;
	const struct rna_qos *qos = rna_device_qos(port->device);
	struct rna_subject interface = *port;
	size_t from = 0;

	while ((interface.qos = rna_qos_next(qos, port->port, &from))) {
		if (!interface.qos->netdev)
			continue;
		rna_labels_begin(&labels, port->labels);
		rna_label_add(&labels, "netdev", interface.qos->netdev);
		interface.labels = (struct rna_span){labels.data, labels.len};
		if (rna_strbuf_ok(&labels))
			write(&interface, writer);
		else
			writer->out->failed = true;
	}
}

/* The function of a row that writes each interface. */
#define EACH_INTERFACE(name, write)                                                                \
	static void name(const struct rna_subject *port, struct rna_writer *writer)                \
	{                                                                                          \
		each_interface(port, writer, write);                                               \
	}

/* One sample of a port with one number as a label more. */
static void write_numbered(const struct rna_subject *port, struct rna_writer *writer,
			   const char *name, uint64_t label, uint64_t number)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

	rna_labels_begin(&labels, port->labels);
	rna_label_add_number(&labels, name, label);
	rna_writer_sample_labels(writer, &labels, number);
}

/* -- Priorities -------------------------------------------------------------------------------- */

static const struct rna_dcb *dcb_of(const struct rna_subject *interface)
{
	return interface->qos->dcb;
}

static const char *dcbx_name(const struct rna_dcb *dcb)
{
	struct rna_value host = rna_dcbx_is_host(dcb);

	if (!rna_value_is_known(host))
		return NULL;
	return host.number ? "host" : "firmware";
}

static void write_qos_info(const struct rna_subject *interface, struct rna_writer *writer)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;
	const char *trust, *dcbx, *mode;

	trust = rna_trust_name(interface->qos->trust);
	dcbx = dcbx_name(interface->qos->dcb);
	mode = interface->qos->default_mode;
	if (!trust && !dcbx && !mode)
		return;
	rna_labels_begin(&labels, interface->labels);
	rna_label_add(&labels, "trust", trust);
	rna_label_add(&labels, "dcbx", dcbx);
	rna_label_add(&labels, "cm_mode", mode);
	rna_writer_sample_labels(writer, &labels, 1);
}

EACH_INTERFACE(qos_info, write_qos_info)

static void write_pfc_enabled(const struct rna_subject *interface, struct rna_writer *writer)
{
	const struct rna_dcb *dcb = dcb_of(interface);

	for (unsigned i = 0; dcb && rna_value_is_known(dcb->pfc) && i < RNA_PRIORITY_COUNT; i++)
		write_numbered(interface, writer, "priority", i, dcb->pfc.number >> i & 1);
}

EACH_INTERFACE(pfc_enabled, write_pfc_enabled)

static void write_frames(const struct rna_subject *port, struct rna_writer *writer,
			 unsigned priority, const char *direction, struct rna_value count)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

	if (!rna_value_is_known(count))
		return;
	rna_labels_begin(&labels, port->labels);
	rna_label_add_number(&labels, "priority", priority);
	rna_label_add(&labels, "direction", direction);
	rna_writer_sample_labels(writer, &labels, count.number);
}

static void write_pfc_frames(const struct rna_subject *interface, struct rna_writer *writer)
{
	const struct rna_dcb *dcb = dcb_of(interface);

	for (unsigned i = 0; dcb && rna_value_is_known(dcb->pfc) && i < RNA_PRIORITY_COUNT; i++) {
		if (!(dcb->pfc.number >> i & 1))
			continue;
		write_frames(interface, writer, i, "rx", dcb->pfc_received[i]);
		write_frames(interface, writer, i, "tx", dcb->pfc_sent[i]);
	}
}

EACH_INTERFACE(pfc_frames, write_pfc_frames)

/* What a mask belongs to, as a label, and the label that says the mask in words. */
struct mask_labels {
	const char *name;
	unsigned number;
	const char *mask_name;
};

static void write_mask(const struct rna_subject *port, struct rna_writer *writer,
		       const struct mask_labels *of, uint64_t mask, uint64_t number)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT, text = RNA_STRBUF_INIT;

	rna_qos_write_mask(mask, &text);
	rna_labels_begin(&labels, port->labels);
	rna_label_add_number(&labels, of->name, of->number);
	rna_label_add(&labels, of->mask_name, text.data);
	labels.failed |= !rna_strbuf_ok(&text);
	rna_writer_sample_labels(writer, &labels, number);
}

static void write_priority_dscp(const struct rna_subject *interface, struct rna_writer *writer)
{
	const struct rna_dcb *dcb = dcb_of(interface);

	for (unsigned i = 0; dcb && i < RNA_PRIORITY_COUNT; i++) {
		uint64_t mask = rna_qos_dscps_of(dcb, i);

		if (mask)
			write_mask(interface, writer, &(struct mask_labels){"priority", i, "dscps"},
				   mask, 1);
	}
}

EACH_INTERFACE(priority_dscp, write_priority_dscp)

/* -- ECN, and what RDMA sends ------------------------------------------------------------------ */

static void write_ecn(const struct rna_subject *port, enum rna_ecn role, struct rna_writer *writer)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;
	struct rna_value on = port->qos->ecn[role];

	for (unsigned i = 0; rna_value_is_known(on) && i < RNA_PRIORITY_COUNT; i++) {
		rna_labels_begin(&labels, port->labels);
		rna_label_add(&labels, "role", rna_ecn_name(role));
		rna_label_add_number(&labels, "priority", i);
		rna_writer_sample_labels(writer, &labels, on.number >> i & 1);
	}
}

static void write_ecn_enabled(const struct rna_subject *interface, struct rna_writer *writer)
{
	for (enum rna_ecn role = 0; role < RNA_ECN_COUNT; role++)
		write_ecn(interface, role, writer);
}

EACH_INTERFACE(ecn_enabled, write_ecn_enabled)

/* -- VLANs ------------------------------------------------------------------------------------- */

static const void *next_vlan(const struct rna_subject *port, size_t *from)
{
	return port->qos && *from < port->qos->vlan_count ? &port->qos->vlans[(*from)++] : NULL;
}

static void vlan_gids(const struct rna_subject *port, struct rna_writer *writer)
{
	for (size_t i = 0; port->qos && port->gids && i < port->qos->vlan_count; i++) {
		const char *netdev = port->qos->vlans[i].netdev;

		rna_writer_sample_with(writer, port->labels, "netdev", netdev,
				       rna_port_gids_count_of(port->gids, netdev));
	}
}

/* -- Details ----------------------------------------------------------------------------------- */

static const struct rna_dcb *detailed_dcb_of(const struct rna_subject *interface)
{
	return interface->view->metrics.qos_details ? dcb_of(interface) : NULL;
}

static void write_priority_traffic_class(const struct rna_subject *interface,
					 struct rna_writer *writer)
{
	const struct rna_dcb *dcb = detailed_dcb_of(interface);

	for (unsigned i = 0; dcb && dcb->has_ets && i < RNA_PRIORITY_COUNT; i++)
		write_numbered(interface, writer, "priority", i, dcb->traffic_class[i]);
}

EACH_INTERFACE(priority_traffic_class, write_priority_traffic_class)

static void write_traffic_class_bandwidth(const struct rna_subject *interface,
					  struct rna_writer *writer)
{
	enum { MILLIONTHS_OF_PERCENT = 10000 };
	const struct rna_dcb *dcb = detailed_dcb_of(interface);
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

	for (unsigned i = 0; dcb && dcb->has_ets && i < RNA_PRIORITY_COUNT; i++) {
		rna_labels_begin(&labels, interface->labels);
		rna_label_add_number(&labels, "traffic_class", i);
		rna_label_add(&labels, "algorithm", rna_ets_algorithm_name(dcb->algorithm[i]));
		rna_writer_sample_labels(writer, &labels,
					 (uint64_t)dcb->bandwidth[i] * MILLIONTHS_OF_PERCENT);
	}
}

EACH_INTERFACE(traffic_class_bandwidth, write_traffic_class_bandwidth)

static void write_receive_buffer(const struct rna_subject *interface, struct rna_writer *writer)
{
	const struct rna_dcb *dcb = detailed_dcb_of(interface);

	for (unsigned i = 0; dcb && dcb->has_buffers && i < RNA_PRIORITY_COUNT; i++)
		if (dcb->buffer_bytes[i] > 0)
			write_mask(interface, writer,
				   &(struct mask_labels){"buffer", i, "priorities"},
				   rna_qos_priorities_of_buffer(dcb, i), dcb->buffer_bytes[i]);
}

EACH_INTERFACE(receive_buffer, write_receive_buffer)

static const void *next_parameter(const struct rna_subject *port, size_t *from)
{
	const struct rna_qos_port *qos = port->view->metrics.qos_details ? port->qos : NULL;

	return qos && *from < qos->parameter_count ? &qos->parameters[(*from)++] : NULL;
}

/* -- The tables -------------------------------------------------------------------------------- */

#define VLAN(member) ABOUT(struct rna_qos_vlan, member)

/* clang-format off */
static const struct rna_family rows[] = {
	METRIC(PORT, "rdma_port_qos_info", INFO, PLAIN,
	       EACH(qos_info, "netdev, trust, dcbx, cm_mode"),
	       "QoS mode of a RoCE port: trust (dscp or pcp, the VLAN tag), DCB configured by host"
	       " or firmware, and RoCE version of RDMA CM. Unknown values have no label."),
	METRIC(PORT, "rdma_port_pfc_enabled", GAUGE, YES_NO, EACH(pfc_enabled, "netdev, priority"),
	       "1 if priority flow control (PFC) makes this priority lossless, 0 otherwise. Absent"
	       " if the driver has no DCB."),
	METRIC(PORT, "rdma_port_pfc_frames_total", COUNTER, PLAIN,
	       EACH(pfc_frames, "netdev, priority, direction"),
	       "PFC pause frames by priority and direction, as DCB counts them: tx asks the "
	       "network to wait, rx makes this port wait."),
	METRIC(PORT, "rdma_port_priority_dscp_info", INFO, PLAIN,
	       EACH(priority_dscp, "netdev, priority, dscps"),
	       "DSCP ranges mapped to a priority. DSCPs in no series have no mapping."),
	METRIC(PORT, "rdma_port_ecn_enabled", GAUGE, YES_NO,
	       EACH(ecn_enabled, "netdev, role, priority"),
	       "1 if congestion control is enabled for a priority and role, 0 otherwise. Roles: "
	       "notification (reports marked packets), reaction (slows down). Reported by NVIDIA's"
	       " out-of-tree driver only."),
	METRIC(PORT, "rdma_port_roce_traffic_class", GAUGE, PLAIN, AT(port_identity, traffic_class),
	       "Traffic class that the driver writes into all RoCE packets of the port (4 x DSCP)."
	       " Absent if applications choose it."),
	METRIC(PORT, "rdma_port_roce_cm_tos", GAUGE, PLAIN, AT(qos, default_tos),
	       "Default type of service of RDMA CM connections (default_roce_tos in configfs). "
	       "Absent if the configfs directory does not exist."),
	};

/* VLANs; behind them, as the output has it, the details of priorities. */
static const struct rna_family vlan_rows[] = {
	{BOTH("netdev", VLAN(netdev), .tells = true)},
	{BOTH("vlan", VLAN(id))},
	METRIC(PORT, "rdma_port_vlan_info", INFO, PLAIN, LABELS,
	       "VLAN on the network interface of a RoCE port, 32 per port at most."),
	METRIC(PORT, "rdma_port_vlan_gids", GAUGE, PLAIN, EACH(vlan_gids, "netdev"),
	       "GIDs of a VLAN on the network interface of a RoCE port. RDMA can use the VLAN if "
	       "there are any."),
	METRIC(PORT, "rdma_port_vlan_mtu_bytes", GAUGE, BYTES,
	       IN(struct rna_qos_vlan, mtu, .json = "mtu_bytes"),
	       "MTU in bytes of a VLAN on the network interface of a RoCE port."),
	METRIC(PORT, "rdma_port_priority_traffic_class", GAUGE, PLAIN,
	       EACH(priority_traffic_class, "netdev, priority"),
	       "Traffic class (ETS) of a priority. Requires metrics.qos_details."),
	METRIC(PORT, "rdma_port_traffic_class_bandwidth_ratio", GAUGE, RATIO,
	       EACH(traffic_class_bandwidth, "netdev, traffic_class, algorithm"),
	       "Fraction of the link guaranteed to a traffic class (ETS); algorithm: strict, ets, "
	       "vendor. Requires metrics.qos_details."),
	METRIC(PORT, "rdma_port_receive_buffer_bytes", GAUGE, BYTES,
	       EACH(receive_buffer, "netdev, buffer, priorities"),
	       "Receive buffer size in bytes, with the priorities that use the buffer. Requires "
	       "metrics.qos_details."),
};

static const struct rna_family parameter_rows[] = {
	{TELLS("parameter", ABOUT(struct rna_qos_parameter, name))},
	METRIC(PORT, "rdma_port_congestion_control_parameter", GAUGE, PLAIN,
	       IN(struct rna_qos_parameter, value),
	       "Congestion control (DCQCN) parameter by its driver name, in the driver's unit, 32 "
	       "per port at most. Readable by root only. Requires metrics.qos_details."),
};
/* clang-format on */

const struct rna_family_table rna_qos_table = {ROWS(rows)};
const struct rna_family_table rna_vlan_table = {ROWS(vlan_rows), .next = next_vlan};
const struct rna_family_table rna_qos_parameter_table = {ROWS(parameter_rows),
							 .next = next_parameter};
