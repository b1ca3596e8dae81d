// SPDX-License-Identifier: Apache-2.0
/*
 * Queries a port about the fabric around it.
 *
 * The peer at the other end of the cable is addressed by a directed route of one hop, which needs a
 * link, but neither a LID nor a subnet manager. LocalPort of its NodeInfo is its port number. The
 * subnet manager and the PMA are addressed by LID, see mad.c.
 *
 * Most other attributes are optional (IBTA 16.1.4), and ClassPortInfo does not list them: an agent
 * without an attribute answers with an error. The collector decides whether to query it again.
 */
#include <errno.h>
#include <infiniband/mad.h>
#include <string.h>

#include "mad.h"
#include "mad_session.h"

/* Three unanswered queries take 600 ms; then the node is not queried further in this round. */
enum { UNANSWERED_MAX = 3 };

enum { PKEYS_IN_BLOCK = 32 };

/* -- What the bytes say ------------------------------------------------------------------------ */

static struct rna_value field(uint8_t *data, enum MAD_FIELDS id)
{
	return rna_value_ok(mad_get_field(data, 0, id));
}

static struct rna_value field64(uint8_t *data, enum MAD_FIELDS id)
{
	return rna_value_ok(mad_get_field64(data, 0, id));
}

/*
 * The counters by their names in the counter table. With RS-FEC, which covers all lanes together,
 * PortExtendedSpeedsCounters has blocks of the port and symbols of each lane; without it, blocks of
 * each lane.
 */
struct layout {
	const char *name;
	enum rna_mad_topic topic;
	enum MAD_FIELDS field;    /* IB_NO_FIELD, which is 0: none */
	enum MAD_FIELDS rs_field; /* used instead while RS-FEC is active */
	bool of_all_lanes;        /* field is the first of twelve lanes, which are summed */
	unsigned char lane;       /* lane of the link or virtual lane, from 1; 0: of the port */
};

#define LANES(name, field, rs_field)                                                               \
	LANE(name, field, rs_field, 0), LANE(name, field, rs_field, 1),                            \
		LANE(name, field, rs_field, 2), LANE(name, field, rs_field, 3)
#define LANE(name, field, rs_field, number)                                                        \
	{                                                                                          \
		name #number, RNA_MAD_FEC, (field) ? (field) + (number) : 0,                       \
			(rs_field) ? (rs_field) + (number) : 0, .lane = (number) + 1               \
	}
#define VIRTUAL_LANE(number)                                                                       \
	{                                                                                          \
		"port_vl_xmit_wait_" #number, RNA_MAD_VL_WAITS,                                    \
			IB_PC_PORT_VL_XMIT_WAIT##number##_F, .lane = (number) + 1                  \
	}

/* clang-format off */
static const struct layout layout[] = {
	{"fec_correctable_blocks", RNA_MAD_FEC, IB_PESC_FEC_CORR_BLOCK_CTR_LANE0_F,
	 IB_PESC_PORT_FEC_CORR_BLOCK_CTR_F, .of_all_lanes = true},
	{"fec_uncorrectable_blocks", RNA_MAD_FEC, IB_PESC_FEC_UNCORR_BLOCK_CTR_LANE0_F,
	 IB_PESC_PORT_FEC_UNCORR_BLOCK_CTR_F, .of_all_lanes = true},
	{"fec_corrected_symbols", RNA_MAD_FEC, IB_NO_FIELD, IB_PESC_PORT_FEC_CORR_SYMBOL_CTR_F},
	{"sync_header_errors", RNA_MAD_FEC, IB_PESC_SYNC_HDR_ERR_CTR_F, IB_PESC_RSFEC_SYNC_HDR_ERR_CTR_F},
	{"unknown_blocks", RNA_MAD_FEC, IB_PESC_UNK_BLOCK_CTR_F, IB_PESC_RSFEC_UNK_BLOCK_CTR_F},
	LANES("fec_correctable_blocks_lane", IB_PESC_FEC_CORR_BLOCK_CTR_LANE0_F, IB_NO_FIELD),
	LANES("fec_uncorrectable_blocks_lane", IB_PESC_FEC_UNCORR_BLOCK_CTR_LANE0_F, IB_NO_FIELD),
	LANES("fec_corrected_symbols_lane", IB_NO_FIELD, IB_PESC_RSFEC_FEC_CORR_SYMBOL_CTR_LANE0_F),
	{"port_rcv_local_physical_errors", RNA_MAD_RECEIVE_ERRORS, IB_PC_RCV_LOCAL_PHY_ERR_F},
	{"port_rcv_malformed_packet_errors", RNA_MAD_RECEIVE_ERRORS, IB_PC_RCV_MALFORMED_PKT_ERR_F},
	{"port_rcv_buffer_overrun_errors", RNA_MAD_RECEIVE_ERRORS, IB_PC_RCV_BUF_OVR_ERR_F},
	{"port_rcv_dlid_mapping_errors", RNA_MAD_RECEIVE_ERRORS, IB_PC_RCV_DLID_MAP_ERR_F},
	{"port_rcv_vl_mapping_errors", RNA_MAD_RECEIVE_ERRORS, IB_PC_RCV_VL_MAP_ERR_F},
	{"port_rcv_looping_errors", RNA_MAD_RECEIVE_ERRORS, IB_PC_RCV_LOOPING_ERR_F},
	{"port_inactive_discards", RNA_MAD_DISCARDS, IB_PC_XMT_INACT_DISC_F},
	{"port_neighbor_mtu_discards", RNA_MAD_DISCARDS, IB_PC_XMT_NEIGH_MTU_DISC_F},
	{"port_sw_lifetime_limit_discards", RNA_MAD_DISCARDS, IB_PC_XMT_SW_LIFE_DISC_F},
	{"port_sw_hoq_lifetime_limit_discards", RNA_MAD_DISCARDS, IB_PC_XMT_SW_HOL_DISC_F},
	VIRTUAL_LANE(0), VIRTUAL_LANE(1), VIRTUAL_LANE(2), VIRTUAL_LANE(3), VIRTUAL_LANE(4),
	VIRTUAL_LANE(5), VIRTUAL_LANE(6), VIRTUAL_LANE(7), VIRTUAL_LANE(8), VIRTUAL_LANE(9),
	VIRTUAL_LANE(10), VIRTUAL_LANE(11), VIRTUAL_LANE(12), VIRTUAL_LANE(13), VIRTUAL_LANE(14),
};
/* clang-format on */

_Static_assert(RNA_ARRAY_SIZE(layout) == RNA_MAD_DETAILS, "one row each");

void rna_mad_init_fabric(struct rna_mad_fabric *fabric)
{
	struct rna_value capability = fabric->capability;

	*fabric = (struct rna_mad_fabric){.capability = capability};
	for (size_t i = 0; i < RNA_MAD_TOPIC_COUNT; i++)
		fabric->status[i] = RNA_MAD_NOT_ASKED;
	for (size_t i = 0; i < RNA_MAD_DETAILS; i++)
		fabric->details[i].file = layout[i].name;
}

enum rna_mad_topic rna_mad_topic_of_detail(size_t index)
{
	return layout[index].topic;
}

/* Each counter sticks at its maximum; if one does, the sum is a lower bound. */
static struct rna_value add_up(uint8_t *data, enum MAD_FIELDS first)
{
	enum { LANES = 12 };
	struct rna_value sum = rna_value_ok(0);

	for (unsigned i = 0; i < LANES; i++) {
		uint32_t number = mad_get_field(data, 0, first + i);

		sum.number += number;
		if (number == UINT32_MAX)
			sum.state = RNA_VALUE_SATURATED;
	}
	return sum;
}

static struct rna_value read_detail(uint8_t *data, const struct layout *row, bool rs_fec)
{
	enum MAD_FIELDS id = rs_fec ? row->rs_field : row->field;

	if (id == IB_NO_FIELD)
		return (struct rna_value){0};
	return row->of_all_lanes && !rs_fec ? add_up(data, id) : field(data, id);
}

void rna_mad_read_details(uint8_t *data, enum rna_mad_topic topic, bool rs_fec,
			  struct rna_mad_fabric *ret)
{
	struct rna_value lanes =
		topic == RNA_MAD_VL_WAITS ? ret->port.virtual_lanes : ret->port.lanes;

	for (size_t i = 0; i < RNA_MAD_DETAILS; i++)
		if (layout[i].topic == topic && layout[i].lane <= lanes.number)
			ret->details[i].value = read_detail(data, &layout[i], rs_fec);
}

void rna_mad_read_node_info(uint8_t *info, struct rna_mad_peer *ret)
{
	ret->type = field(info, IB_NODE_TYPE_F);
	ret->guid = field64(info, IB_NODE_GUID_F);
	ret->system_image_guid = field64(info, IB_NODE_SYSTEM_GUID_F);
	ret->port_guid = field64(info, IB_NODE_PORT_GUID_F);
	ret->port_number = field(info, IB_NODE_LOCAL_PORT_F);
}

/* 64 bytes, possibly without a terminating NUL. */
void rna_mad_read_node_description(const uint8_t *description, struct rna_mad_peer *ret)
{
	size_t len;

	memcpy(ret->name, description, sizeof(ret->name) - 1);
	ret->name[sizeof(ret->name) - 1] = '\0';
	for (len = strlen(ret->name); len > 0 && ret->name[len - 1] == ' '; len--)
		ret->name[len - 1] = '\0';
}

void rna_mad_read_sm_info(uint8_t *info, struct rna_mad_manager *ret)
{
	*ret = (struct rna_mad_manager){
		.guid = field64(info, IB_SMINFO_GUID_F),
		.priority = field(info, IB_SMINFO_PRIO_F),
		.state = field(info, IB_SMINFO_STATE_F),
	};
}

/* Empty entries are 0 or 0x8000, which is also invalid according to IBTA 10.9.1.1. */
bool rna_mad_read_pkeys(uint8_t *block, unsigned first, struct rna_mad_pkeys *ret)
{
	enum { MEMBERSHIP = 0x8000 };
	size_t before = ret->count;

	for (unsigned i = 0; i < PKEYS_IN_BLOCK && ret->count < RNA_MAD_PKEYS_MAX; i++) {
		uint16_t key = (uint16_t)(block[2 * i] << 8 | block[2 * i + 1]);

		if ((key & ~MEMBERSHIP) != 0)
			ret->items[ret->count++] = (struct rna_mad_pkey){
				.index = (uint16_t)(first + i),
				.key = key,
			};
	}
	return ret->count > before;
}

/* -- Asking ------------------------------------------------------------------------------------ */

/* One round of queries. */
struct round {
	struct rna_mad_session *session;
	unsigned port;
	struct rna_mad_fabric *answer;
};

static bool is_active(const struct round *round)
{
	return round->answer->port.state.number == RNA_PORT_ACTIVE;
}

static int ask_peer(const struct round *round, unsigned attribute, unsigned modifier,
		    uint8_t **ret_data)
{
	const struct rna_mad_question question = {
		.class = IB_SMI_DIRECT_CLASS,
		.attribute = attribute,
		.modifier = modifier,
		/*
		 * The kernel compares it with the number of the port that sends, here the plane:
		 * smi_handle_dr_smp_send() in drivers/infiniband/core/smi.c.
		 */
		.exit = round->session->plane > 0 ? round->session->plane : round->port,
	};

	return rna_mad_ask(round->session, &question, ret_data);
}

static int ask_peer_node(const struct round *round)
{
	uint8_t *data;
	int status = ask_peer(round, IB_ATTR_NODE_INFO, 0, &data);

	if (status == 0)
		rna_mad_read_node_info(data, &round->answer->peer);
	return status;
}

static int ask_peer_name(const struct round *round)
{
	uint8_t *data;
	int status = ask_peer(round, IB_ATTR_NODE_DESC, 0, &data);

	if (status == 0)
		rna_mad_read_node_description(data, &round->answer->peer);
	return status;
}

/* A switch has one LID and one set of capabilities, those of its port 0. */
static int ask_peer_port(const struct round *round)
{
	struct rna_mad_peer *peer = &round->answer->peer;
	struct rna_mad_port port_0 = {0};
	uint8_t *data;
	int status = 0;

	if (peer->type.number == IB_NODE_SWITCH) {
		status = ask_peer(round, IB_ATTR_PORT_INFO, 0, &data);
		if (status == 0)
			rna_mad_read_port_info(data, &port_0);
	}
	if (status == 0)
		status = ask_peer(round, IB_ATTR_PORT_INFO, (unsigned)peer->port_number.number,
				  &data);
	if (status < 0)
		return status;
	if (peer->type.number == IB_NODE_SWITCH) {
		mad_set_field(data, 0, IB_PORT_CAPMASK_F, (uint32_t)port_0.capability_mask.number);
		mad_set_field(data, 0, IB_PORT_CAPMASK2_F,
			      (uint32_t)port_0.capability_mask_2.number);
		mad_set_field(data, 0, IB_PORT_LID_F, (uint32_t)port_0.lid.number);
	}
	rna_mad_read_port_info(data, &peer->port);
	return 0;
}

static int ask_manager(const struct round *round)
{
	const struct rna_mad_question question = {
		.class = IB_SMI_CLASS,
		.attribute = IB_ATTR_SMINFO,
		.lid = (int)round->answer->port.sm_lid.number,
	};
	uint8_t *data;
	int status;

	/* where fabrics have planes, subnet management is not routed by LID (rdma-core#1398) */
	if (!is_active(round) || question.lid == 0 || round->session->plane > 0)
		return RNA_MAD_NOT_ASKED;
	status = rna_mad_ask(round->session, &question, &data);
	if (status == 0)
		rna_mad_read_sm_info(data, &round->answer->manager);
	return status;
}

/*
 * Subnet managers fill the table from its start: an empty block is the end, and so is a refused
 * one, which does not exist. Through sysfs each key would cost a firmware command on mlx5.
 */
static int ask_pkeys(const struct round *round)
{
	struct rna_mad_question question = {
		.class = IB_SMI_DIRECT_CLASS,
		.attribute = IB_ATTR_PKEY_TBL,
	};
	struct rna_mad_pkeys *pkeys = &round->answer->pkeys;

	for (; question.modifier < RNA_MAD_PKEYS_MAX / PKEYS_IN_BLOCK; question.modifier++) {
		uint8_t *data;
		int status = rna_mad_ask(round->session, &question, &data);

		if (status == -EOPNOTSUPP && question.modifier > 0)
			return 0;
		if (status < 0)
			return status;
		if (!rna_mad_read_pkeys(data, question.modifier * PKEYS_IN_BLOCK, pkeys))
			return 0;
	}
	return 0;
}

/* Only a PMA that supports RS-FEC has two layouts; PortInfoExtended tells which one is used. */
static int find_fec(const struct round *round, bool *ret_rs_fec)
{
	enum { RS_FEC = 2, RS_FEC_2 = 4, HAS_FEC_MODE = 1 << 0 };
	const struct rna_mad_question question = {
		.class = IB_SMI_DIRECT_CLASS,
		.attribute = IB_ATTR_PORT_INFO_EXT,
		.modifier = round->port,
	};
	struct rna_value *capability = &round->answer->capability;
	uint32_t mode;
	uint8_t *data;
	int status = rna_mad_ask_pma_capability(round->session, round->port,
						(int)round->answer->port.lid.number, capability);

	*ret_rs_fec = false;
	if (status < 0 || !(capability->number & RNA_PMA_RS_FEC))
		return status;
	status = rna_mad_ask(round->session, &question, &data);
	if (status < 0)
		return status == -EOPNOTSUPP ? 0 : status;
	mode = mad_get_field(data, 0, IB_PORT_EXT_FEC_MODE_ACTIVE_F);
	*ret_rs_fec = mad_get_field(data, 0, IB_PORT_EXT_CAPMASK_F) & HAS_FEC_MODE &&
		      (mode == RS_FEC || mode == RS_FEC_2);
	return 0;
}

static int ask_details(const struct round *round, enum rna_mad_topic topic, unsigned attribute)
{
	struct rna_mad_fabric *answer = round->answer;
	bool rs_fec = false;
	uint8_t *data;
	int status = 0;

	if (!is_active(round))
		return RNA_MAD_NOT_ASKED;
	if (topic == RNA_MAD_FEC)
		status = find_fec(round, &rs_fec);
	if (status == 0)
		status = rna_mad_ask_pma(round->session, attribute, round->port,
					 (int)answer->port.lid.number, &data);
	if (status == 0)
		rna_mad_read_details(data, topic, rs_fec, answer);
	return status;
}

static int ask_congestion(const struct round *round)
{
	const struct rna_mad_question question = {
		.class = IB_CC_CLASS,
		.attribute = CLASS_PORT_INFO,
		.lid = (int)round->answer->port.lid.number,
	};
	uint8_t *data;
	int status;

	if (!is_active(round))
		return RNA_MAD_NOT_ASKED;
	status = rna_mad_ask(round->session, &question, &data);
	if (status == 0)
		round->answer->congestion_capability = field(data, IB_CPI_CAPMASK_F);
	return status;
}

/* Other data of the peer is useless until its port number is known. */
static int ask_topic(const struct round *round, enum rna_mad_topic topic)
{
	bool has_peer = round->answer->status[RNA_MAD_PEER_NODE] == 0;

	switch (topic) {
	case RNA_MAD_PEER_NODE:
		return round->answer->port.physical_state.number == RNA_PHYSICAL_LINK_UP
			       ? ask_peer_node(round)
			       : RNA_MAD_NOT_ASKED;
	case RNA_MAD_PEER_NAME:
		return has_peer ? ask_peer_name(round) : RNA_MAD_NOT_ASKED;
	case RNA_MAD_PEER_PORT:
		return has_peer ? ask_peer_port(round) : RNA_MAD_NOT_ASKED;
	case RNA_MAD_MANAGER:
		return ask_manager(round);
	case RNA_MAD_PKEYS:
		return ask_pkeys(round);
	case RNA_MAD_FEC:
		return ask_details(round, topic, IB_GSI_PORT_EXT_SPEEDS_COUNTERS);
	case RNA_MAD_RECEIVE_ERRORS:
		return ask_details(round, topic, IB_GSI_PORT_RCV_ERROR_DETAILS);
	case RNA_MAD_DISCARDS:
		return ask_details(round, topic, IB_GSI_PORT_XMIT_DISCARD_DETAILS);
	case RNA_MAD_VL_WAITS:
		return ask_details(round, topic, IB_GSI_PORT_PORT_VL_XMIT_WAIT_COUNTERS);
	case RNA_MAD_CONGESTION:
		return ask_congestion(round);
	default:
		return RNA_MAD_NOT_ASKED;
	}
}

/* The port itself; of a multi-plane card through the first plane that has a link. */
static int ask_port(struct rna_mad_session *session, const struct rna_root *root,
		    const struct rna_device *device, unsigned port, struct rna_mad_port *ret)
{
	int status = rna_mad_ask_own_port(session, root, device, port, ret);

	for (size_t i = 1; status == 0 && ret->physical_state.number != RNA_PHYSICAL_LINK_UP &&
			   rna_mad_use_plane(session, device, i);
	     i++)
		status = rna_mad_ask_own_port(session, root, device, port, ret);
	return status;
}

int rna_mad_query_fabric(const struct rna_root *root, const struct rna_device *device,
			 unsigned port, unsigned topics, struct rna_mad_fabric *ret)
{
	RNA_CLEANUP(rna_mad_close) struct rna_mad_session session = RNA_MAD_SESSION_INIT;
	const struct round round = {&session, port, ret};
	int status = rna_mad_open(&session, root, device, port);

	rna_mad_init_fabric(ret);
	if (status == 0)
		status = ask_port(&session, root, device, port, &ret->port);
	if (status < 0)
		return status;
	for (unsigned topic = 0; topic < RNA_MAD_TOPIC_COUNT; topic++)
		if (topics & 1U << topic && session.unanswered < UNANSWERED_MAX)
			ret->status[topic] = ask_topic(&round, topic);
	return 0;
}
