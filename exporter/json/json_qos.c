// SPDX-License-Identifier: Apache-2.0
/*
 * Quality of service of a port, in JSON: priorities as lists of numbers, tables as lists with one
 * element for each priority, traffic class or buffer, in their order.
 */
#include "rna/model/qos.h"

#include "json_parts.h"

/* The bits of a mask that are set; absent: no member. */
static void set_mask(struct rna_json_writer *writer, json_t *object, const char *name,
		     struct rna_value mask)
{
	json_t *array;

	if (!rna_value_is_known(mask))
		return;
	array = json_array();
	for (unsigned i = 0; i < 64; i++)
		if (mask.number >> i & 1)
			rna_json_append(writer, array, json_integer(i));
	rna_json_set(writer, object, name, array);
}

static void set_bytes(struct rna_json_writer *writer, json_t *object, const char *name,
		      const uint8_t numbers[RNA_PRIORITY_COUNT])
{
	json_t *array = json_array();

	for (size_t i = 0; i < RNA_PRIORITY_COUNT; i++)
		rna_json_append(writer, array, json_integer(numbers[i]));
	rna_json_set(writer, object, name, array);
}

static void set_counts(struct rna_json_writer *writer, json_t *object, const char *name,
		       const struct rna_value values[RNA_PRIORITY_COUNT])
{
	json_t *array;

	if (!rna_value_is_known(values[0]))
		return;
	array = json_array();
	for (size_t i = 0; i < RNA_PRIORITY_COUNT; i++)
		rna_json_append(writer, array, rna_json_number(values[i].number));
	rna_json_set(writer, object, name, array);
}

static void set_ets(struct rna_json_writer *writer, json_t *object, const struct rna_dcb *dcb)
{
	json_t *ets = json_object(), *algorithms = json_array();

	set_bytes(writer, ets, "priority_traffic_class", dcb->traffic_class);
	set_bytes(writer, ets, "traffic_class_bandwidth_percent", dcb->bandwidth);
	for (size_t i = 0; i < RNA_PRIORITY_COUNT; i++)
		rna_json_append(writer, algorithms,
				rna_json_text(writer, rna_ets_algorithm_name(dcb->algorithm[i])));
	rna_json_set(writer, ets, "traffic_class_algorithm", algorithms);
	rna_json_set(writer, object, "ets", ets);
}

static void set_buffers(struct rna_json_writer *writer, json_t *object, const struct rna_dcb *dcb)
{
	json_t *buffers = json_object(), *sizes = json_array();

	set_bytes(writer, buffers, "priority_buffer", dcb->priority_buffer);
	for (size_t i = 0; i < RNA_PRIORITY_COUNT; i++)
		rna_json_append(writer, sizes, rna_json_number(dcb->buffer_bytes[i]));
	rna_json_set(writer, buffers, "buffer_bytes", sizes);
	rna_json_set_number(writer, buffers, "total_bytes", dcb->buffers_bytes);
	rna_json_set(writer, object, "receive_buffers", buffers);
}

/* For each priority the DSCPs that lead to it. */
static void set_dscps(struct rna_json_writer *writer, json_t *object, const struct rna_dcb *dcb)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < RNA_PRIORITY_COUNT; i++) {
		json_t *entry = json_object();

		rna_json_set(writer, entry, "priority", json_integer(i));
		set_mask(writer, entry, "dscps", rna_value_ok(rna_qos_dscps_of(dcb, i)));
		rna_json_append(writer, array, entry);
	}
	rna_json_set(writer, object, "dscp_priority", array);
}

static void set_dcb(struct rna_json_writer *writer, json_t *object, const struct rna_dcb *dcb)
{
	struct rna_value host = rna_dcbx_is_host(dcb);

	if (rna_value_is_known(host))
		rna_json_set(writer, object, "dcbx_by_host", json_boolean(host.number));
	set_mask(writer, object, "pfc_priorities", dcb->pfc);
	rna_json_set_value(writer, object, "pfc_priorities_limit", dcb->pfc_limit);
	set_counts(writer, object, "pfc_frames_sent", dcb->pfc_sent);
	set_counts(writer, object, "pfc_frames_received", dcb->pfc_received);
	if (dcb->dscp_count > 0)
		set_dscps(writer, object, dcb);
	rna_json_set_value(writer, object, "default_priority", dcb->default_priority);
	if (dcb->has_ets)
		set_ets(writer, object, dcb);
	if (dcb->has_buffers)
		set_buffers(writer, object, dcb);
}

static json_t *vlan_object(struct rna_json_writer *writer, const struct rna_qos_vlan *vlan)
{
	json_t *object = rna_json_item(writer, &rna_vlan_table, vlan), *egress = json_object();

	for (unsigned i = 0; i < RNA_PRIORITY_COUNT; i++) {
		const char name[] = {(char)('0' + i), '\0'};

		if (vlan->egress.number >> i & 1)
			rna_json_set(writer, egress, name, json_integer(vlan->egress_priority[i]));
	}
	rna_json_set(writer, object, "egress_priorities", egress);
	return object;
}

static void set_lists(struct rna_json_writer *writer, json_t *object,
		      const struct rna_qos_port *qos)
{
	json_t *parameters = json_object(), *vlans = json_array();

	for (size_t i = 0; i < qos->parameter_count; i++)
		rna_json_set_value(writer, parameters, qos->parameters[i].name,
				   qos->parameters[i].value);
	for (size_t i = 0; i < qos->vlan_count; i++)
		rna_json_append(writer, vlans, vlan_object(writer, &qos->vlans[i]));
	rna_json_set(writer, object, "congestion_control_parameters", parameters);
	rna_json_set(writer, object, "vlans", vlans);
}

/* What each member of a bond has for itself. */
static json_t *interface_object(struct rna_json_writer *writer, const struct rna_qos_port *qos)
{
	json_t *object = json_object(), *ecn = json_object();

	rna_json_set_text(writer, object, "netdev", qos->netdev);
	rna_json_set_text(writer, object, "trust", rna_trust_name(qos->trust));
	if (qos->dcb)
		set_dcb(writer, object, qos->dcb);
	for (enum rna_ecn role = 0; role < RNA_ECN_COUNT; role++)
		set_mask(writer, ecn, rna_ecn_name(role), qos->ecn[role]);
	rna_json_set(writer, object, "ecn_priorities", ecn);
	return object;
}

void rna_json_set_qos(struct rna_json_writer *writer, json_t *parent, const struct rna_qos *qos,
		      unsigned port)
{
	size_t from = 0;
	const struct rna_qos_port *first = rna_qos_next(qos, port, &from), *member;
	json_t *object, *members = NULL;

	if (!first || !first->netdev)
		return;
	object = interface_object(writer, first);
	rna_json_set_value(writer, object, "cm_tos", first->default_tos);
	rna_json_set_text(writer, object, "cm_mode", first->default_mode);
	set_lists(writer, object, first);
	while ((member = rna_qos_next(qos, port, &from))) {
		members = members ? members : json_array();
		rna_json_append(writer, members, interface_object(writer, member));
	}
	if (members)
		rna_json_set(writer, object, "other_members", members);
	rna_json_set(writer, parent, "qos", object);
}
