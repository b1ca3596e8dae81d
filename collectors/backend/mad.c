// SPDX-License-Identifier: Apache-2.0
/*
 * The MAD backend: management datagrams that a node sends to its own InfiniBand ports, through
 * /dev/infiniband/umadN, opened, used and closed within one call.
 *
 * This file reads PortInfo from the subnet management agent, for supported and enabled link modes,
 * and the counters of the performance management agent (PMA). A PMA is addressed by LID, so the
 * port must be ACTIVE, and each round begins with PortInfo: a LID kept from an earlier round may
 * now belong to another node, whose counters would be reported as this port's. mad_fabric.c queries
 * the fabric; mad_session.c sends and receives MADs.
 */
#include "mad.h"

#include <errno.h>
#include <infiniband/mad.h>
#include <stdio.h>
#include <string.h>

#include "rna/base/parse.h"

#include "parse/rate.h"

#include "mad_session.h"

/* -- What the bytes say ------------------------------------------------------------------------ */

/* The most lanes among the bits of a width mask. */
static struct rna_value most_lanes(uint32_t mask)
{
	unsigned most = 0;

	for (uint32_t bit = 1; bit <= 16; bit *= 2) {
		unsigned lanes = mask & bit ? rna_lanes_from_code(bit) : 0;

		most = lanes > most ? lanes : most;
	}
	return most ? rna_value_ok(most) : (struct rna_value){0};
}

/* Bits of the three fields of a speed: SDR, DDR, QDR; FDR to NDR; XDR and faster. */
struct speed_bits {
	uint32_t base;
	uint32_t extended;
	uint32_t extended_2;
};

/* The fastest of these speeds, as a verbs code. */
static struct rna_value fastest(struct speed_bits bits)
{
	/* bit 0 is FDR, whose code is 16, and XDR, whose code is 256; FDR10 has no bit */
	enum { EXTENDED_SHIFT = 4, EXTENDED_2_SHIFT = 8 };
	uint32_t codes = bits.extended_2 << EXTENDED_2_SHIFT | bits.extended << EXTENDED_SHIFT |
			 (bits.base & 7);

	return codes ? rna_value_ok(1U << (31 - __builtin_clz(codes))) : (struct rna_value){0};
}

static struct rna_value field(uint8_t *data, enum MAD_FIELDS id)
{
	return rna_value_ok(mad_get_field(data, 0, id));
}

/* PortInfo:OperationalVLs, a code. */
static struct rna_value virtual_lanes(uint32_t code)
{
	static const unsigned char lanes[] = {[1] = 1, [2] = 2, [3] = 4, [4] = 8, [5] = 15};

	return code > 0 && code < RNA_ARRAY_SIZE(lanes) ? rna_value_ok(lanes[code])
							: (struct rna_value){0};
}

/*
 * XDR: libibmad of rdma-core 44 has no names for these fields. Of byte 56, which was reserved, two
 * bits are the active speed, two the supported ones, and three the enabled ones, whose values
 * beyond those of the supported ones are commands.
 */
static bool has_extended_2(const struct rna_mad_port *port)
{
	enum { HAS_CAPABILITY_2 = 1 << 15, HAS_EXTENDED_2 = 1 << 11 };

	return port->capability_mask.number & HAS_CAPABILITY_2 &&
	       port->capability_mask_2.number & HAS_EXTENDED_2;
}

static void read_speeds(uint8_t *info, struct rna_mad_port *ret)
{
	enum { HAS_EXTENDED = 1 << 14, EXTENDED_DISABLED = 30, EXTENDED_2 = 56 };
	struct speed_bits active = {.base = mad_get_field(info, 0, IB_PORT_LINK_SPEED_ACTIVE_F)};
	struct speed_bits enabled = {.base = mad_get_field(info, 0, IB_PORT_LINK_SPEED_ENABLED_F)};
	struct speed_bits supported = {
		.base = mad_get_field(info, 0, IB_PORT_LINK_SPEED_SUPPORTED_F),
	};

	/* Without the capability these bits are reserved. */
	if (ret->capability_mask.number & HAS_EXTENDED) {
		active.extended = mad_get_field(info, 0, IB_PORT_LINK_SPEED_EXT_ACTIVE_F);
		enabled.extended = mad_get_field(info, 0, IB_PORT_LINK_SPEED_EXT_ENABLED_F);
		supported.extended = mad_get_field(info, 0, IB_PORT_LINK_SPEED_EXT_SUPPORTED_F);
	}
	if (enabled.extended == EXTENDED_DISABLED)
		enabled.extended = 0;
	if (has_extended_2(ret)) {
		active.extended_2 = info[EXTENDED_2] >> 5 & 3;
		supported.extended_2 = info[EXTENDED_2] >> 3 & 3;
		enabled.extended_2 = info[EXTENDED_2] & supported.extended_2;
	}
	ret->speed_code = fastest(active);
	ret->speed_enabled = fastest(enabled);
	ret->speed_supported = fastest(supported);
}

void rna_mad_read_port_info(uint8_t *info, struct rna_mad_port *ret)
{
	*ret = (struct rna_mad_port){
		.state = field(info, IB_PORT_STATE_F),
		.physical_state = field(info, IB_PORT_PHYS_STATE_F),
		.lid = field(info, IB_PORT_LID_F),
		.sm_lid = field(info, IB_PORT_SMLID_F),
		.sm_sl = field(info, IB_PORT_SMSL_F),
		.lmc = field(info, IB_PORT_LMC_F),
		.capability_mask = field(info, IB_PORT_CAPMASK_F),
		.capability_mask_2 = field(info, IB_PORT_CAPMASK2_F),
		.lanes = most_lanes(mad_get_field(info, 0, IB_PORT_LINK_WIDTH_ACTIVE_F)),
		.lanes_enabled = most_lanes(mad_get_field(info, 0, IB_PORT_LINK_WIDTH_ENABLED_F)),
		.lanes_supported =
			most_lanes(mad_get_field(info, 0, IB_PORT_LINK_WIDTH_SUPPORTED_F)),
		.virtual_lanes = virtual_lanes(mad_get_field(info, 0, IB_PORT_OPER_VLS_F)),
	};
	read_speeds(info, ret);
}

/* The counters by their sysfs names, with their fields in the two attributes. */
static const struct {
	const char *file;
	enum MAD_FIELDS plain;
	enum MAD_FIELDS extended; /* IB_NO_FIELD: none */
} layout[] = {
	{"port_xmit_data", IB_PC_XMT_BYTES_F, IB_PC_EXT_XMT_BYTES_F},
	{"port_rcv_data", IB_PC_RCV_BYTES_F, IB_PC_EXT_RCV_BYTES_F},
	{"port_xmit_packets", IB_PC_XMT_PKTS_F, IB_PC_EXT_XMT_PKTS_F},
	{"port_rcv_packets", IB_PC_RCV_PKTS_F, IB_PC_EXT_RCV_PKTS_F},
	{"unicast_xmit_packets", IB_NO_FIELD, IB_PC_EXT_XMT_UPKTS_F},
	{"unicast_rcv_packets", IB_NO_FIELD, IB_PC_EXT_RCV_UPKTS_F},
	{"multicast_xmit_packets", IB_NO_FIELD, IB_PC_EXT_XMT_MPKTS_F},
	{"multicast_rcv_packets", IB_NO_FIELD, IB_PC_EXT_RCV_MPKTS_F},
	{"port_xmit_wait", IB_PC_XMT_WAIT_F, IB_NO_FIELD},
	{"symbol_error", IB_PC_ERR_SYM_F, IB_NO_FIELD},
	{"link_error_recovery", IB_PC_LINK_RECOVERS_F, IB_NO_FIELD},
	{"link_downed", IB_PC_LINK_DOWNED_F, IB_NO_FIELD},
	{"port_rcv_errors", IB_PC_ERR_RCV_F, IB_NO_FIELD},
	{"port_rcv_remote_physical_errors", IB_PC_ERR_PHYSRCV_F, IB_NO_FIELD},
	{"port_rcv_switch_relay_errors", IB_PC_ERR_SWITCH_REL_F, IB_NO_FIELD},
	{"port_xmit_discards", IB_PC_XMT_DISCARDS_F, IB_NO_FIELD},
	{"port_xmit_constraint_errors", IB_PC_ERR_XMTCONSTR_F, IB_NO_FIELD},
	{"port_rcv_constraint_errors", IB_PC_ERR_RCVCONSTR_F, IB_NO_FIELD},
	{"local_link_integrity_errors", IB_PC_ERR_LOCALINTEG_F, IB_NO_FIELD},
	{"excessive_buffer_overrun_errors", IB_PC_ERR_EXCESS_OVR_F, IB_NO_FIELD},
	{"VL15_dropped", IB_PC_VL15_DROPPED_F, IB_NO_FIELD},
};

_Static_assert(RNA_ARRAY_SIZE(layout) == RNA_MAD_COUNTERS, "one row each");

void rna_mad_init_counters(struct rna_mad_counters *counters)
{
	for (size_t i = 0; i < RNA_MAD_COUNTERS; i++)
		counters->items[i] = (struct rna_mad_counter){.file = layout[i].file};
}

/*
 * Traffic counters are in both attributes; those in PortCounters have 32 bits and stick at their
 * maximum.
 */
void rna_mad_read_counters(uint8_t *counters, struct rna_mad_counters *ret)
{
	for (size_t i = 0; i < RNA_MAD_COUNTERS; i++) {
		struct rna_value *value = &ret->items[i].value;

		if (layout[i].plain == IB_NO_FIELD)
			continue;
		if (layout[i].plain == IB_PC_XMT_WAIT_F &&
		    !(ret->capability.number & RNA_PMA_TRANSMIT_WAIT))
			continue;
		*value = field(counters, layout[i].plain);
		if (layout[i].extended != IB_NO_FIELD && value->number == UINT32_MAX)
			value->state = RNA_VALUE_SATURATED;
	}
}

void rna_mad_read_extended(uint8_t *extended, struct rna_mad_counters *ret)
{
	bool has_unicast = ret->capability.number & RNA_PMA_EXTENDED;

	for (size_t i = 0; i < RNA_MAD_COUNTERS; i++) {
		bool only_here = layout[i].plain == IB_NO_FIELD;

		if (layout[i].extended != IB_NO_FIELD && (has_unicast || !only_here))
			ret->items[i].value =
				rna_value_ok(mad_get_field64(extended, 0, layout[i].extended));
	}
}

/* -- Asking ------------------------------------------------------------------------------------ */

int rna_mad_ask_port_info(struct rna_mad_session *session, unsigned port, struct rna_mad_port *ret)
{
	const struct rna_mad_question question = {
		.class = IB_SMI_DIRECT_CLASS,
		.attribute = IB_ATTR_PORT_INFO,
		/* 0: the port that receives the query, because planes are ports of one number */
		.modifier = session->plane > 0 ? 0 : port,
	};
	uint8_t *data;
	int status = rna_mad_ask(session, &question, &data);

	if (status == 0)
		rna_mad_read_port_info(data, ret);
	return status;
}

/* Reads one file of a port, a text that begins with a number, or a hexadecimal number. */
static struct rna_value read_file(const struct rna_root *root, const char *directory,
				  const char *name)
{
	RNA_FREE char *path = NULL;
	char text[RNA_ATTRIBUTE_MAX];
	uint64_t number;

	if (asprintf(&path, "%s/%s", directory, name) < 0) {
		path = NULL;
		return (struct rna_value){0};
	}
	if (rna_root_read(root, path, text, sizeof(text)) <= 0 ||
	    (rna_parse_hex_u64(text, &number) < 0 && rna_parse_leading_u64(text, &number) < 0))
		return (struct rna_value){0};
	return rna_value_ok(number);
}

int rna_mad_ask_own_port(struct rna_mad_session *session, const struct rna_root *root,
			 const struct rna_device *device, unsigned port, struct rna_mad_port *ret)
{
	int status = rna_mad_ask_port_info(session, port, ret);
	RNA_FREE char *directory = NULL;

	if ((status < 0 && status != -EOPNOTSUPP) || (status == 0 && session->plane == 0))
		return status;
	if (asprintf(&directory, "%s/ports/%u", device->sysfs_path, port) < 0) {
		directory = NULL;
		return -ENOMEM;
	}
	if (status < 0) {
		*ret = (struct rna_mad_port){0};
		ret->state = read_file(root, directory, "state");
		ret->physical_state = read_file(root, directory, "phys_state");
		ret->sm_lid = read_file(root, directory, "sm_lid");
	}
	ret->lid = read_file(root, directory, "lid");
	if (rna_value_is_known(ret->state) && rna_value_is_known(ret->lid))
		return 0;
	return status < 0 ? status : -ENODATA;
}

int rna_mad_ask_pma(struct rna_mad_session *session, unsigned attribute, unsigned port, int lid,
		    uint8_t **ret_data)
{
	const struct rna_mad_question question = {
		.class = IB_PERFORMANCE_CLASS,
		.attribute = attribute,
		.lid = lid,
		.port_select = attribute == CLASS_PORT_INFO ? 0 : port,
	};

	return rna_mad_ask(session, &question, ret_data);
}

int rna_mad_ask_pma_capability(struct rna_mad_session *session, unsigned port, int lid,
			       struct rna_value *capability)
{
	uint8_t *data;
	int status;

	if (capability->state == RNA_VALUE_OK)
		return 0;
	status = rna_mad_ask_pma(session, CLASS_PORT_INFO, port, lid, &data);
	if (status == 0)
		*capability = field(data, IB_CPI_CAPMASK_F);
	return status;
}

static int ask_counters(struct rna_mad_session *session, unsigned port, int lid,
			struct rna_mad_counters *ret)
{
	uint8_t *data;
	int status = rna_mad_ask_pma_capability(session, port, lid, &ret->capability);

	if (status == 0)
		status = rna_mad_ask_pma(session, IB_GSI_PORT_COUNTERS, port, lid, &data);
	if (status < 0)
		return status;
	rna_mad_read_counters(data, ret);
	if (!(ret->capability.number & (RNA_PMA_EXTENDED | RNA_PMA_EXTENDED_NO_UNICAST)))
		return 0;
	status = rna_mad_ask_pma(session, IB_GSI_PORT_COUNTERS_EXT, port, lid, &data);
	if (status == 0)
		rna_mad_read_extended(data, ret);
	return status;
}

static int query_port(const struct rna_root *root, const struct rna_device *device, unsigned port,
		      struct rna_mad_port *ret)
{
	RNA_CLEANUP(rna_mad_close) struct rna_mad_session session = RNA_MAD_SESSION_INIT;
	int status = rna_mad_open(&session, root, device, port);

	return status < 0 ? status : rna_mad_ask_port_info(&session, port, ret);
}

static int query_counters(const struct rna_root *root, const struct rna_device *device,
			  unsigned port, struct rna_mad_counters *ret)
{
	RNA_CLEANUP(rna_mad_close) struct rna_mad_session session = RNA_MAD_SESSION_INIT;
	struct rna_mad_port info;
	int status = rna_mad_open(&session, root, device, port);

	if (status == 0)
		status = rna_mad_ask_own_port(&session, root, device, port, &info);
	if (status < 0)
		return status;
	if (info.state.number != RNA_PORT_ACTIVE)
		return -ENETDOWN;
	rna_mad_init_counters(ret);
	return ask_counters(&session, port, (int)info.lid.number, ret);
}

const struct rna_mad_backend rna_mad = {
	.serves = rna_mad_serves,
	.query_port = query_port,
	.query_counters = query_counters,
	.query_fabric = rna_mad_query_fabric,
};
