/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * What a port of labhca has of the fabric around it, and the bytes of the attributes that say so:
 * the peer and the subnet manager, which are nodes of their own and here only answers, keys, and
 * the counters that PortCounters have no place for. Part of labhca.c, which includes it.
 *
 * Every setting is one aligned u64 that readers take without a lock.
 */
#pragma once

#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>
#include <rdma/ib_smi.h>
#include <linux/string.h>
#include <linux/types.h>

#define LAB_PKEYS         4
#define LAB_VIRTUAL_LANES 15

/* IBA 14.2.5.21 and 16.1.4: attributes that the kernel has no names for. */
#define LAB_ATTR_PORT_INFO_EXT cpu_to_be16(0x0033)
#define LAB_ATTR_RCV_ERRORS    cpu_to_be16(0x0015)
#define LAB_ATTR_DISCARDS      cpu_to_be16(0x0016)
#define LAB_ATTR_VL_WAITS      cpu_to_be16(0x001c)
#define LAB_ATTR_EXT_SPEEDS    cpu_to_be16(0x001f)

/* What can be refused and be silent, one by one. */
enum lab_topic {
	LAB_TOPIC_PEER_NODE,
	LAB_TOPIC_PEER_NAME,
	LAB_TOPIC_PEER_PORT,
	LAB_TOPIC_MANAGER,
	LAB_TOPIC_PKEYS,
	LAB_TOPIC_FEC_MODE,
	LAB_TOPIC_FEC,
	LAB_TOPIC_RECEIVE_ERRORS,
	LAB_TOPIC_DISCARDS,
	LAB_TOPIC_VL_WAITS,
	LAB_TOPIC_CONGESTION,
	LAB_TOPICS,
	LAB_TOPIC_OTHER
};

static const char *const lab_topic_names[LAB_TOPICS] = {
	[LAB_TOPIC_PEER_NODE] = "peer_node",
	[LAB_TOPIC_PEER_NAME] = "peer_name",
	[LAB_TOPIC_PEER_PORT] = "peer_port",
	[LAB_TOPIC_MANAGER] = "manager",
	[LAB_TOPIC_PKEYS] = "pkeys",
	[LAB_TOPIC_FEC_MODE] = "fec_mode",
	[LAB_TOPIC_FEC] = "fec",
	[LAB_TOPIC_RECEIVE_ERRORS] = "receive_errors",
	[LAB_TOPIC_DISCARDS] = "discards",
	[LAB_TOPIC_VL_WAITS] = "vl_waits",
	[LAB_TOPIC_CONGESTION] = "congestion",
};

#define LAB_SILENT U32_MAX /* in the place of a MAD status */

/* One end of a link. Speeds are masks of enum ib_port_speed, widths of enum ib_port_width. */
struct lab_link {
	u64 width;
	u64 width_enabled;
	u64 width_supported;
	u64 speed;
	u64 speed_enabled;
	u64 speed_supported;
};

enum lab_fec_layout { LAB_FEC_ANY, LAB_FEC_PLAIN, LAB_FEC_RS };

struct lab_detail {
	const char *name;
	__be16 attribute;
	u8 offset;
	u8 bytes;
	enum lab_fec_layout layout;
};

#define LAB_FEC(_name, _offset, _bytes, _layout)                                                   \
	{                                                                                          \
		.name = _name, .attribute = LAB_ATTR_EXT_SPEEDS, .offset = _offset,                \
		.bytes = _bytes, .layout = _layout                                                 \
	}
#define LAB_FEC_LANES(_name, _offset, _layout)                                                     \
	LAB_FEC(_name "0", _offset, 4, _layout), LAB_FEC(_name "1", (_offset) + 4, 4, _layout),    \
		LAB_FEC(_name "2", (_offset) + 8, 4, _layout),                                     \
		LAB_FEC(_name "3", (_offset) + 12, 4, _layout)
#define LAB_SHORT(_name, _attribute, _index)                                                       \
	{                                                                                          \
		.name = _name, .attribute = _attribute, .offset = 4 + 2 * (_index), .bytes = 2     \
	}
#define LAB_VL(_number) LAB_SHORT("port_vl_xmit_wait_" #_number, LAB_ATTR_VL_WAITS, _number)

/*
 * With RS-FEC, which works on all lanes together, the same bytes of PortExtendedSpeedsCounters
 * are something else: blocks of the port, and symbols of each lane.
 */
static const struct lab_detail lab_details[] = {
	LAB_FEC("sync_header_errors", 16, 2, LAB_FEC_ANY),
	LAB_FEC("unknown_blocks", 18, 2, LAB_FEC_ANY),
	LAB_FEC_LANES("fec_correctable_blocks_lane", 44, LAB_FEC_PLAIN),
	LAB_FEC_LANES("fec_uncorrectable_blocks_lane", 92, LAB_FEC_PLAIN),
	LAB_FEC_LANES("fec_corrected_symbols_lane", 44, LAB_FEC_RS),
	LAB_FEC("fec_correctable_blocks", 140, 4, LAB_FEC_RS),
	LAB_FEC("fec_uncorrectable_blocks", 144, 4, LAB_FEC_RS),
	LAB_FEC("fec_corrected_symbols", 148, 4, LAB_FEC_RS),
	LAB_SHORT("port_rcv_local_physical_errors", LAB_ATTR_RCV_ERRORS, 0),
	LAB_SHORT("port_rcv_malformed_packet_errors", LAB_ATTR_RCV_ERRORS, 1),
	LAB_SHORT("port_rcv_buffer_overrun_errors", LAB_ATTR_RCV_ERRORS, 2),
	LAB_SHORT("port_rcv_dlid_mapping_errors", LAB_ATTR_RCV_ERRORS, 3),
	LAB_SHORT("port_rcv_vl_mapping_errors", LAB_ATTR_RCV_ERRORS, 4),
	LAB_SHORT("port_rcv_looping_errors", LAB_ATTR_RCV_ERRORS, 5),
	LAB_SHORT("port_inactive_discards", LAB_ATTR_DISCARDS, 0),
	LAB_SHORT("port_neighbor_mtu_discards", LAB_ATTR_DISCARDS, 1),
	LAB_SHORT("port_sw_lifetime_limit_discards", LAB_ATTR_DISCARDS, 2),
	LAB_SHORT("port_sw_hoq_lifetime_limit_discards", LAB_ATTR_DISCARDS, 3),
	LAB_VL(0),
	LAB_VL(1),
	LAB_VL(2),
	LAB_VL(3),
	LAB_VL(4),
	LAB_VL(5),
	LAB_VL(6),
	LAB_VL(7),
	LAB_VL(8),
	LAB_VL(9),
	LAB_VL(10),
	LAB_VL(11),
	LAB_VL(12),
	LAB_VL(13),
	LAB_VL(14),
};

struct lab_fabric {
	u64 peer_guid;
	u64 peer_type; /* 1 a channel adapter, 2 a switch */
	u64 peer_port;
	u64 peer_lid;
	struct lab_link peer; /* 0: as our end of the link */
	char peer_name[IB_SMP_DATA_SIZE];
	u64 sm_guid;
	u64 sm_priority;
	u64 sm_state;
	u64 pkeys[LAB_PKEYS];
	u64 pma_capability;
	u64 fec_mode;
	u64 operational_vls; /* a code: 4 for VL0 to VL7 */
	u64 details[ARRAY_SIZE(lab_details)];
	u32 status[LAB_TOPICS]; /* of the answer to each: 0, a MAD status, or LAB_SILENT */
};

#define LAB_FABRIC(_name, _member)                                                                 \
	{                                                                                          \
		_name, offsetof(struct lab_fabric, _member)                                        \
	}

static const struct {
	const char *name;
	size_t offset;
} lab_fabric_fields[] = {
	LAB_FABRIC("peer_guid", peer_guid),
	LAB_FABRIC("peer_type", peer_type),
	LAB_FABRIC("peer_port", peer_port),
	LAB_FABRIC("peer_lid", peer_lid),
	LAB_FABRIC("peer_width_enabled", peer.width_enabled),
	LAB_FABRIC("peer_width_supported", peer.width_supported),
	LAB_FABRIC("peer_speed_enabled", peer.speed_enabled),
	LAB_FABRIC("peer_speed_supported", peer.speed_supported),
	LAB_FABRIC("sm_guid", sm_guid),
	LAB_FABRIC("sm_priority", sm_priority),
	LAB_FABRIC("sm_state", sm_state),
	LAB_FABRIC("pkey0", pkeys[0]),
	LAB_FABRIC("pkey1", pkeys[1]),
	LAB_FABRIC("pkey2", pkeys[2]),
	LAB_FABRIC("pkey3", pkeys[3]),
	LAB_FABRIC("pma_capability", pma_capability),
	LAB_FABRIC("fec_mode", fec_mode),
	LAB_FABRIC("operational_vls", operational_vls),
};

/* NULL: there is no such field. */
static u64 *lab_fabric_find(struct lab_fabric *fabric, const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lab_fabric_fields); i++)
		if (!strcmp(lab_fabric_fields[i].name, name))
			return (void *)fabric + lab_fabric_fields[i].offset;
	for (i = 0; i < ARRAY_SIZE(lab_details); i++)
		if (!strcmp(lab_details[i].name, name))
			return &fabric->details[i];
	return NULL;
}

/* In a port of a switch that all of them are in, each in one of its own. */
static void lab_fabric_init(struct lab_fabric *fabric, u32 number_in_lab)
{
	fabric->peer_guid = 0xb83fd20300c0ffe0ULL;
	fabric->peer_type = 2;
	fabric->peer_port = number_in_lab;
	fabric->peer_lid = 0x400;
	strscpy(fabric->peer_name, "MF0;lab-leaf-1:MQM8700/U1", sizeof(fabric->peer_name));
	fabric->sm_guid = fabric->peer_guid;
	fabric->sm_priority = 14;
	fabric->sm_state = 3;
	fabric->pkeys[0] = 0xffff;
	fabric->pma_capability =
		be16_to_cpu(IB_PMA_CLASS_CAP_EXT_WIDTH) | be16_to_cpu(IB_PMA_CLASS_CAP_XMIT_WAIT);
	fabric->operational_vls = 4;
}

static void put_be(u8 *to, u64 value, int bytes)
{
	while (bytes--) {
		to[bytes] = value;
		value >>= 8;
	}
}

/* ---- links --------------------------------------------------------------------------------- */

/* IBA 14.2.5.6: speeds are in three pairs of fields, each with more that came later. */
static u32 lab_base_speed(u64 speeds)
{
	return (speeds & 7) | (speeds >= IB_SPEED_FDR ? IB_SPEED_QDR : 0);
}

static u32 lab_extended_speed(u64 speeds)
{
	return speeds / IB_SPEED_FDR & 0xf;
}

static u32 lab_extended_speed_2(u64 speeds)
{
	return speeds / (2 * IB_SPEED_NDR) & 3;
}

/* What is 0 is as otherwise; enabled and supported as active, unless set otherwise. */
static struct lab_link lab_complete_link(struct lab_link link, const struct lab_link *otherwise)
{
	link.width = link.width ?: otherwise->width;
	link.speed = link.speed ?: otherwise->speed;
	link.width_enabled = link.width_enabled ?: otherwise->width_enabled ?: link.width;
	link.width_supported = link.width_supported ?: otherwise->width_supported ?: link.width;
	link.speed_enabled = link.speed_enabled ?: otherwise->speed_enabled ?: link.speed;
	link.speed_supported = link.speed_supported ?: otherwise->speed_supported ?: link.speed;
	return link;
}

static void lab_put_link(const struct lab_link *link, u8 *data)
{
	u32 active = lab_extended_speed_2(link->speed);

	data[29] = link->width_enabled;
	data[30] = link->width_supported;
	data[31] = link->width;
	data[32] |= lab_base_speed(link->speed_supported) << 4;
	data[35] = lab_base_speed(link->speed) << 4 | lab_base_speed(link->speed_enabled);
	data[56] = active << 5 | lab_extended_speed_2(link->speed_supported) << 3 |
		   lab_extended_speed_2(link->speed_enabled);
	data[62] = (active ? 0 : lab_extended_speed(link->speed)) << 4 |
		   lab_extended_speed(link->speed_supported);
	data[63] = lab_extended_speed(link->speed_enabled);
}

/* CapabilityMask and CapabilityMask2 that say which of these fields there are. */
static void lab_put_link_capability(const struct lab_link *link, u32 others, u8 *data)
{
	u32 mask = others | BIT(15); /* there is a CapabilityMask2 */
	u32 mask2 = BIT(1);          /* PortInfoExtended */

	if (link->speed_supported >= IB_SPEED_FDR)
		mask |= BIT(14);
	if (lab_extended_speed_2(link->speed_supported))
		mask2 |= BIT(11) | BIT(12);
	put_be(data + 20, mask, 4);
	put_be(data + 60, mask2, 2);
}

/* ---- who is asked for what ----------------------------------------------------------------- */

/* One hop, out of the port: what the peer gets. */
static bool lab_is_for_peer(const struct ib_mad_hdr *header)
{
	const struct ib_smp *smp = (const void *)header;

	return header->mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE &&
	       header->method == IB_MGMT_METHOD_GET && smp->hop_cnt == 1 && smp->hop_ptr == 1;
}

static bool lab_is_for_manager(const struct ib_mad_hdr *header)
{
	return header->mgmt_class == IB_MGMT_CLASS_SUBN_LID_ROUTED &&
	       header->method == IB_MGMT_METHOD_GET && header->attr_id == IB_SMP_ATTR_SM_INFO;
}

static enum lab_topic lab_topic_of_smp(const struct ib_mad_hdr *header)
{
	bool peer = lab_is_for_peer(header);

	switch (header->attr_id) {
	case IB_SMP_ATTR_NODE_INFO:
		return peer ? LAB_TOPIC_PEER_NODE : LAB_TOPIC_OTHER;
	case IB_SMP_ATTR_NODE_DESC:
		return peer ? LAB_TOPIC_PEER_NAME : LAB_TOPIC_OTHER;
	case IB_SMP_ATTR_PORT_INFO:
		return peer ? LAB_TOPIC_PEER_PORT : LAB_TOPIC_OTHER;
	case IB_SMP_ATTR_SM_INFO:
		return LAB_TOPIC_MANAGER;
	case IB_SMP_ATTR_PKEY_TABLE:
		return LAB_TOPIC_PKEYS;
	case LAB_ATTR_PORT_INFO_EXT:
		return LAB_TOPIC_FEC_MODE;
	}
	return LAB_TOPIC_OTHER;
}

static enum lab_topic lab_topic_of(const struct ib_mad_hdr *header)
{
	if (header->mgmt_class == IB_MGMT_CLASS_CONG_MGMT)
		return LAB_TOPIC_CONGESTION;
	if (header->mgmt_class != IB_MGMT_CLASS_PERF_MGMT)
		return lab_topic_of_smp(header);
	switch (header->attr_id) {
	case LAB_ATTR_EXT_SPEEDS:
		return LAB_TOPIC_FEC;
	case LAB_ATTR_RCV_ERRORS:
		return LAB_TOPIC_RECEIVE_ERRORS;
	case LAB_ATTR_DISCARDS:
		return LAB_TOPIC_DISCARDS;
	case LAB_ATTR_VL_WAITS:
		return LAB_TOPIC_VL_WAITS;
	}
	return LAB_TOPIC_OTHER;
}

/* The status that the answer has, or LAB_SILENT for none. All keys are in the first block. */
static u32 lab_answer_status(const struct lab_fabric *fabric, const struct ib_mad_hdr *header)
{
	enum lab_topic topic = lab_topic_of(header);

	if (topic == LAB_TOPIC_PKEYS && header->attr_mod)
		return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	return topic == LAB_TOPIC_OTHER ? 0 : READ_ONCE(fabric->status[topic]);
}

/* ---- answers ------------------------------------------------------------------------------- */

static void lab_peer_node_info(const struct lab_fabric *fabric, u8 *data)
{
	data[0] = 1; /* base version */
	data[1] = 1; /* class version */
	data[2] = fabric->peer_type;
	data[3] = fabric->peer_type == 2 ? 40 : 1;
	put_be(data + 4, fabric->peer_guid, 8); /* system image */
	put_be(data + 12, fabric->peer_guid, 8);
	put_be(data + 20, fabric->peer_guid, 8);
	put_be(data + 28, 8, 2);      /* P_Key table size */
	put_be(data + 30, 0xd2f0, 2); /* a Quantum */
	data[36] = fabric->peer_port;
	put_be(data + 37, 0x2c9, 3);
}

/* The LID and the capabilities of a switch are those of its port 0. */
static void lab_peer_port_info(const struct lab_fabric *fabric, const struct lab_link *ours,
			       u32 port, u8 *data)
{
	struct lab_link link = lab_complete_link(fabric->peer, ours);

	data[28] = fabric->peer_port;
	data[32] = IB_PORT_ACTIVE;
	data[33] = IB_PORT_PHYS_STATE_LINK_UP << 4 | 2;
	lab_put_link(&link, data);
	if (port && fabric->peer_type == 2)
		return;
	put_be(data + 16, fabric->peer_lid, 2);
	lab_put_link_capability(&link, 0x48, data);
}

static void lab_sm_info(const struct lab_fabric *fabric, u8 *data)
{
	put_be(data, fabric->sm_guid, 8);
	put_be(data + 16, 1, 4); /* a count of its activity */
	data[20] = fabric->sm_priority << 4 | fabric->sm_state;
}

static void lab_pkey_block(const struct lab_fabric *fabric, u8 *data)
{
	int i;

	for (i = 0; i < LAB_PKEYS; i++)
		put_be(data + 2 * i, fabric->pkeys[i], 2);
}

static void lab_port_info_ext(const struct lab_fabric *fabric, u8 *data)
{
	put_be(data, BIT(0), 4); /* the FEC mode is known */
	put_be(data + 4, fabric->fec_mode, 2);
}

/* IBA 16.1.4: each sticks at its largest value. */
static void lab_put_details(const struct lab_fabric *fabric, __be16 attribute, u8 *data)
{
	/* 2 and 4 are RS-FEC, 1 is not */
	enum lab_fec_layout other = fabric->fec_mode >= 2 ? LAB_FEC_PLAIN : LAB_FEC_RS;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lab_details); i++) {
		const struct lab_detail *detail = &lab_details[i];
		u64 max = BIT_ULL(8 * detail->bytes) - 1;

		if (detail->attribute == attribute && detail->layout != other)
			put_be(data + detail->offset, min(fabric->details[i], max), detail->bytes);
	}
}

/*
 * The answer of another node, written over the question. A directed route is on its way back then,
 * at its last hop.
 */
static void lab_answer_for_others(const struct lab_fabric *fabric, const struct lab_link *ours,
				  u32 status, struct ib_smp *smp)
{
	u8 *data = smp->data;

	smp->method = IB_MGMT_METHOD_GET_RESP;
	smp->status = cpu_to_be16(status);
	if (smp->mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		smp->status |= IB_SMP_DIRECTION;
	memset(data, 0, IB_SMP_DATA_SIZE);
	switch (smp->attr_id) {
	case IB_SMP_ATTR_NODE_DESC:
		memcpy(data, fabric->peer_name, IB_SMP_DATA_SIZE);
		break;
	case IB_SMP_ATTR_NODE_INFO:
		lab_peer_node_info(fabric, data);
		break;
	case IB_SMP_ATTR_PORT_INFO:
		lab_peer_port_info(fabric, ours, be32_to_cpu(smp->attr_mod), data);
		break;
	case IB_SMP_ATTR_SM_INFO:
		lab_sm_info(fabric, data);
		break;
	}
}
