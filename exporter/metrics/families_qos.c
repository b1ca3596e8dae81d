// SPDX-License-Identifier: Apache-2.0
/*
 * Metrics of quality of service. There are eight of everything, and 64 DSCPs: these stand in ranges
 * as labels, for one wants to see where they lead, and nobody draws a graph of them. What is an
 * interface's has the label netdev besides: of a bond, each member is configured by itself.
 */
#include "families_qos.h"

#include "rna/model/qos.h"

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

void rna_family_qos_info(const struct rna_subject *port, struct rna_writer *writer)
{
	each_interface(port, writer, write_qos_info);
}

static void write_pfc_enabled(const struct rna_subject *interface, struct rna_writer *writer)
{
	const struct rna_dcb *dcb = dcb_of(interface);

	for (unsigned i = 0; dcb && rna_value_is_known(dcb->pfc) && i < RNA_PRIORITY_COUNT; i++)
		write_numbered(interface, writer, "priority", i, dcb->pfc.number >> i & 1);
}

void rna_family_pfc_enabled(const struct rna_subject *port, struct rna_writer *writer)
{
	each_interface(port, writer, write_pfc_enabled);
}

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

void rna_family_pfc_frames(const struct rna_subject *port, struct rna_writer *writer)
{
	each_interface(port, writer, write_pfc_frames);
}

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

void rna_family_priority_dscp(const struct rna_subject *port, struct rna_writer *writer)
{
	each_interface(port, writer, write_priority_dscp);
}

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

void rna_family_ecn_enabled(const struct rna_subject *port, struct rna_writer *writer)
{
	each_interface(port, writer, write_ecn_enabled);
}

struct rna_value rna_family_traffic_class(const struct rna_subject *port)
{
	return port->port_identity ? port->port_identity->traffic_class : (struct rna_value){0};
}

struct rna_value rna_family_default_tos(const struct rna_subject *port)
{
	return port->qos ? port->qos->default_tos : (struct rna_value){0};
}

/* -- VLANs ------------------------------------------------------------------------------------- */

void rna_family_vlan_info(const struct rna_subject *port, struct rna_writer *writer)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

	for (size_t i = 0; port->qos && i < port->qos->vlan_count; i++) {
		const struct rna_qos_vlan *vlan = &port->qos->vlans[i];

		rna_labels_begin(&labels, port->labels);
		rna_label_add(&labels, "netdev", vlan->netdev);
		if (rna_value_is_known(vlan->id))
			rna_label_add_number(&labels, "vlan", vlan->id.number);
		rna_writer_sample_labels(writer, &labels, 1);
	}
}

void rna_family_vlan_gids(const struct rna_subject *port, struct rna_writer *writer)
{
	for (size_t i = 0; port->qos && port->gids && i < port->qos->vlan_count; i++) {
		const char *netdev = port->qos->vlans[i].netdev;

		rna_writer_sample_with(writer, port->labels, "netdev", netdev,
				       rna_port_gids_count_of(port->gids, netdev));
	}
}

void rna_family_vlan_mtu(const struct rna_subject *port, struct rna_writer *writer)
{
	for (size_t i = 0; port->qos && i < port->qos->vlan_count; i++)
		if (rna_value_is_known(port->qos->vlans[i].mtu))
			rna_writer_sample_with(writer, port->labels, "netdev",
					       port->qos->vlans[i].netdev,
					       port->qos->vlans[i].mtu.number);
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

void rna_family_priority_traffic_class(const struct rna_subject *port, struct rna_writer *writer)
{
	each_interface(port, writer, write_priority_traffic_class);
}

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

void rna_family_traffic_class_bandwidth(const struct rna_subject *port, struct rna_writer *writer)
{
	each_interface(port, writer, write_traffic_class_bandwidth);
}

static void write_receive_buffer(const struct rna_subject *interface, struct rna_writer *writer)
{
	const struct rna_dcb *dcb = detailed_dcb_of(interface);

	for (unsigned i = 0; dcb && dcb->has_buffers && i < RNA_PRIORITY_COUNT; i++)
		if (dcb->buffer_bytes[i] > 0)
			write_mask(interface, writer,
				   &(struct mask_labels){"buffer", i, "priorities"},
				   rna_qos_priorities_of_buffer(dcb, i), dcb->buffer_bytes[i]);
}

void rna_family_receive_buffer(const struct rna_subject *port, struct rna_writer *writer)
{
	each_interface(port, writer, write_receive_buffer);
}

void rna_family_congestion_parameter(const struct rna_subject *port, struct rna_writer *writer)
{
	const struct rna_qos_port *qos = port->view->metrics.qos_details ? port->qos : NULL;

	for (size_t i = 0; qos && i < qos->parameter_count; i++)
		if (rna_value_is_known(qos->parameters[i].value))
			rna_writer_sample_with(writer, port->labels, "parameter",
					       qos->parameters[i].name,
					       qos->parameters[i].value.number);
}
