// SPDX-License-Identifier: Apache-2.0
/*
 * Parses answers of ethtool netlink from their bytes. A table for each answer lists the attributes
 * to read, by number and destination; all others are skipped.
 *
 * A message with a wrong length is refused as a whole. The kernel sends none, but a file of a
 * recording may be truncated, and half of an answer would look like a driver with fewer values.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/types.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include "rna/base/cleanup.h"

#include "parse/message.h"

#include "ethtool.h"

#define BITS_PER_MBIT ((uint64_t)1000000)

/*
 * Not in the headers of Linux 6.1. The numbers of the FEC histogram are those of
 * include/uapi/linux/ethtool_netlink_generated.h since Linux 6.18, which is the first with it.
 */
enum {
	LINKSTATE_EXT_DOWN_CNT = 7,
	FEC_STAT_HIST = 5, /* a nest for each bin */
	FEC_HIST_BIN_LOW = 2,
	FEC_HIST_BIN_HIGH = 3,
	FEC_HIST_BIN_VAL = 4, /* 32 bits if it fits, else 64 */
	FEC_HIST_BIN_VAL_PER_LANE = 5,
};

/* -- Questions --------------------------------------------------------------------------------- */

/* ETHTOOL_A_BITSET_*: all groups with statistics that the agent reads. */
static const uint32_t groups_size = ETHTOOL_STATS_RMON + 1;
static const uint32_t groups_value = 1 << ETHTOOL_STATS_ETH_PHY | 1 << ETHTOOL_STATS_ETH_MAC |
				     1 << ETHTOOL_STATS_ETH_CTRL | 1 << ETHTOOL_STATS_RMON;
static const struct rna_netlink_attribute standard_groups[] = {
	{ETHTOOL_A_BITSET_NOMASK},
	{ETHTOOL_A_BITSET_SIZE, sizeof(groups_size), &groups_size},
	{ETHTOOL_A_BITSET_VALUE, sizeof(groups_value), &groups_value},
};

#define QUESTION(file, message, ask_flags)                                                         \
	{                                                                                          \
		.name = (file), .command = ETHTOOL_MSG_##message##_GET,                            \
		.reply = ETHTOOL_MSG_##message##_GET_REPLY,                                        \
		.header = ETHTOOL_A_##message##_HEADER, .flags = (ask_flags)                       \
	}

const struct rna_ethtool_question rna_ethtool_link_question =
	QUESTION("linkstate", LINKSTATE, ETHTOOL_FLAG_STATS);
const struct rna_ethtool_question rna_ethtool_mode_question =
	QUESTION("linkmodes", LINKMODES, ETHTOOL_FLAG_COMPACT_BITSETS);
const struct rna_ethtool_question rna_ethtool_fec_question =
	QUESTION("fec", FEC, ETHTOOL_FLAG_COMPACT_BITSETS | ETHTOOL_FLAG_STATS);
const struct rna_ethtool_question rna_ethtool_pause_question =
	QUESTION("pause", PAUSE, ETHTOOL_FLAG_STATS);
const struct rna_ethtool_question rna_ethtool_standard_question = {
	.name = "stats",
	.command = ETHTOOL_MSG_STATS_GET,
	.reply = ETHTOOL_MSG_STATS_GET_REPLY,
	.header = ETHTOOL_A_STATS_HEADER,
	.attributes = {{ETHTOOL_A_STATS_GROUPS, RNA_ARRAY_SIZE(standard_groups),
			.nested = standard_groups}},
};

/* -- Messages and attributes ------------------------------------------------------------------- */

/* What follows the two heads of an answer. 0 or -EBADMSG. */
static int open_answer(struct rna_bytes message, const struct rna_ethtool_question *question,
		       struct rna_bytes *ret)
{
	const size_t heads = NLMSG_HDRLEN + GENL_HDRLEN;
	const struct genlmsghdr *head = rna_message_body(message, 0, sizeof(*head));

	if (!head || head->cmd != question->reply)
		return -EBADMSG;
	*ret = (struct rna_bytes){message.data + heads, message.len - heads};
	return 0;
}

static int read_number(const struct nlattr *attribute, uint64_t *ret)
{
	switch (nla_len(attribute)) {
	case sizeof(uint8_t):
		*ret = nla_get_u8(attribute);
		return 0;
	case sizeof(uint32_t):
		*ret = nla_get_u32(attribute);
		return 0;
	case sizeof(uint64_t):
		*ret = nla_get_u64(attribute);
		return 0;
	default:
		return -EBADMSG;
	}
}

/* -- Standard statistics ----------------------------------------------------------------------- */

/* Counter numbers are per group; each group starts at 0. */
static const struct {
	uint32_t group;
	uint16_t type;
	size_t offset;
} standard_counts[] = {
#define COUNT(group, type, name)                                                                   \
	{                                                                                          \
		ETHTOOL_STATS_##group, ETHTOOL_A_STATS_##group##_##type,                           \
			offsetof(struct rna_ethtool_standard_counts, name)                         \
	}
	COUNT(ETH_PHY, 5_SYM_ERR, symbol_errors),
	COUNT(ETH_MAC, 6_FCS_ERR, fcs_errors),
	COUNT(ETH_MAC, 7_ALIGN_ERR, alignment_errors),
	COUNT(ETH_MAC, 23_IR_LEN_ERR, length_errors),
	COUNT(ETH_MAC, 25_TOO_LONG_ERR, too_long_errors),
	COUNT(ETH_MAC, 12_TX_INT_ERR, transmit_errors),
	COUNT(ETH_MAC, 15_RX_INT_ERR, receive_errors),
	COUNT(ETH_CTRL, 5_RX_UNSUP, unsupported_frames),
	COUNT(RMON, UNDERSIZE, undersize_frames),
	COUNT(RMON, FRAG, fragments),
	COUNT(RMON, JABBER, jabbers),
};

/* Reads one attribute, which contains one counter. */
static int read_count(const struct nlattr *nest, uint64_t group,
		      struct rna_ethtool_standard_counts *counts)
{
	struct nlattr *attribute;
	int left;

	nla_for_each_nested (attribute, nest, left)
		for (size_t i = 0; i < RNA_ARRAY_SIZE(standard_counts); i++) {
			struct rna_value *value =
				(void *)((char *)counts + standard_counts[i].offset);

			if (standard_counts[i].group != group ||
			    standard_counts[i].type != nla_type(attribute))
				continue;
			if (read_number(attribute, &value->number) < 0)
				return -EBADMSG;
			value->state = RNA_VALUE_OK;
		}
	return left > 0 ? -EBADMSG : 0;
}

static int read_group(const struct nlattr *nest, struct rna_ethtool_standard_counts *counts)
{
	static const struct nla_policy policy[ETHTOOL_A_STATS_GRP_MAX + 1] = {
		[ETHTOOL_A_STATS_GRP_ID] = {.type = NLA_U32}};
	struct nlattr *group[ETHTOOL_A_STATS_GRP_MAX + 1], *attribute;
	int left, status = rna_nest_parse(nest, policy, ETHTOOL_A_STATS_GRP_MAX, group);

	if (status < 0 || !group[ETHTOOL_A_STATS_GRP_ID])
		return status;
	nla_for_each_nested (attribute, nest, left)
		if (nla_type(attribute) == ETHTOOL_A_STATS_GRP_STAT && status == 0)
			status = read_count(attribute, nla_get_u32(group[ETHTOOL_A_STATS_GRP_ID]),
					    counts);
	return status;
}

/* -- Tables of attributes ---------------------------------------------------------------------- */

/* The kernel reports FEC as bits of link modes. */
static const struct {
	unsigned bit;
	enum rna_fec fec;
} fec_bits[] = {
	{ETHTOOL_LINK_MODE_FEC_NONE_BIT, RNA_FEC_OFF},
	{ETHTOOL_LINK_MODE_FEC_BASER_BIT, RNA_FEC_BASER},
	{ETHTOOL_LINK_MODE_FEC_RS_BIT, RNA_FEC_RS},
	{ETHTOOL_LINK_MODE_FEC_LLRS_BIT, RNA_FEC_LLRS},
};

/* Converts the words of a compact bitset to one bit for each enum rna_fec. */
static uint64_t fecs_of(const struct nlattr *words)
{
	const uint32_t *word = nla_data(words);
	uint64_t ret = 0;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(fec_bits); i++) {
		const size_t at = fec_bits[i].bit / 32;

		if ((at + 1) * sizeof(*word) <= (size_t)nla_len(words) &&
		    word[at] & 1u << fec_bits[i].bit % 32)
			ret |= 1u << fec_bits[i].fec;
	}
	return ret;
}

static int read_fecs(const struct nlattr *bitset, struct rna_value *ret)
{
	struct nlattr *attributes[ETHTOOL_A_BITSET_MAX + 1];
	int status = rna_nest_parse(bitset, NULL, ETHTOOL_A_BITSET_MAX, attributes);

	if (status == 0 && attributes[ETHTOOL_A_BITSET_VALUE])
		*ret = rna_value_ok(fecs_of(attributes[ETHTOOL_A_BITSET_VALUE]));
	return status;
}

enum kind {
	NUMBER,
	LANES, /* struct rna_ethtool_fec_count: 64-bit numbers, the sum of all lanes first, then
		  each */
	NESTED,
	FECS,      /* compact bitset of link modes */
	BIN,       /* struct rna_ethtool_fec_counts: one more bin of it */
	BIN_LANES, /* struct rna_ethernet_fec_bin: 64-bit numbers of each lane, without a sum */
	GROUP,     /* struct rna_ethtool_standard_counts: counters of a group */
	BYTES,     /* struct rna_bytes */
};

struct field {
	uint16_t type;
	enum kind kind;
	size_t offset;              /* of a struct rna_value unless kind says otherwise */
	const struct field *nested; /* terminated by type 0 */
};

/* How many 64-bit numbers. -EBADMSG: a part of one is left over. */
static int count_numbers(const struct nlattr *attribute)
{
	const int size = sizeof(uint64_t);

	return nla_len(attribute) % size == 0 ? nla_len(attribute) / size : -EBADMSG;
}

static int read_lanes(const struct nlattr *attribute, struct rna_ethtool_fec_count *ret)
{
	const int count = count_numbers(attribute);

	if (count <= 0)
		return count; /* 0: not counted by the driver */
	ret->total = rna_value_ok(nla_get_u64(attribute));
	ret->lane_count =
		count - 1 < RNA_ETHERNET_FEC_LANES ? (size_t)count - 1 : RNA_ETHERNET_FEC_LANES;
	memcpy(ret->lanes, (const uint8_t *)nla_data(attribute) + sizeof(uint64_t),
	       ret->lane_count * sizeof(uint64_t));
	return 0;
}

static int read_bin_lanes(const struct nlattr *attribute, struct rna_ethernet_fec_bin *ret)
{
	const int count = count_numbers(attribute);

	if (count < 0)
		return count;
	ret->lane_count = count < RNA_ETHERNET_FEC_LANES ? (size_t)count : RNA_ETHERNET_FEC_LANES;
	memcpy(ret->lanes, nla_data(attribute), ret->lane_count * sizeof(uint64_t));
	return 0;
}

static int read_nest(const struct nlattr *nest, const struct field *fields, void *ret);

/* One bin while it is read. */
struct bin {
	struct rna_value low, high, blocks;
	struct rna_ethernet_fec_bin lanes; /* only its lanes */
};

/*
 * Adds a bin at its place. One without a range or a number, or that overlaps another one, is left
 * out: its numbers would be in two series, or in a wrong one.
 */
static void add_bin(const struct bin *bin, struct rna_ethtool_fec_counts *counts)
{
	size_t at = counts->bin_count;

	if (!rna_value_is_known(bin->low) || !rna_value_is_known(bin->high) ||
	    !rna_value_is_known(bin->blocks) || bin->low.number > bin->high.number ||
	    bin->high.number > UINT32_MAX || counts->bin_count == RNA_ETHERNET_FEC_BINS)
		return;
	while (at > 0 && counts->bins[at - 1].low > bin->high.number)
		at--;
	if (at > 0 && counts->bins[at - 1].high >= bin->low.number)
		return;
	memmove(&counts->bins[at + 1], &counts->bins[at],
		(counts->bin_count - at) * sizeof(counts->bins[0]));
	counts->bin_count++;
	counts->bins[at] = bin->lanes;
	counts->bins[at].low = (uint32_t)bin->low.number;
	counts->bins[at].high = (uint32_t)bin->high.number;
	counts->bins[at].blocks = bin->blocks.number;
}

static int read_bin(const struct nlattr *nest, struct rna_ethtool_fec_counts *ret)
{
	static const struct field fields[] = {
		{FEC_HIST_BIN_LOW, NUMBER, offsetof(struct bin, low)},
		{FEC_HIST_BIN_HIGH, NUMBER, offsetof(struct bin, high)},
		{FEC_HIST_BIN_VAL, NUMBER, offsetof(struct bin, blocks)},
		{FEC_HIST_BIN_VAL_PER_LANE, BIN_LANES, offsetof(struct bin, lanes)},
		{0},
	};
	struct bin bin = {0};
	int status = read_nest(nest, fields, &bin);

	if (status == 0)
		add_bin(&bin, ret);
	return status;
}

static int read_field(const struct nlattr *attribute, const struct field *field, void *ret)
{
	void *member = (char *)ret + field->offset;
	struct rna_value *value = member;
	int status;

	switch (field->kind) {
	case NESTED:
		return read_nest(attribute, field->nested, ret);
	case FECS:
		return read_fecs(attribute, value);
	case LANES:
		return read_lanes(attribute, member);
	case BIN:
		return read_bin(attribute, member);
	case BIN_LANES:
		return read_bin_lanes(attribute, member);
	case GROUP:
		return read_group(attribute, member);
	case BYTES:
		*(struct rna_bytes *)member =
			(struct rna_bytes){nla_data(attribute), (size_t)nla_len(attribute)};
		return 0;
	case NUMBER:
		break;
	}
	status = read_number(attribute, &value->number);
	value->state = status < 0 ? RNA_VALUE_ABSENT : RNA_VALUE_OK;
	return status;
}

static int read_fields(struct rna_bytes list, const struct field *fields, void *ret)
{
	struct nlattr *attribute;
	int left, status;

	nla_for_each_attr (attribute, (void *)(uintptr_t)list.data, (int)list.len, left)
		for (const struct field *field = fields; field->type; field++) {
			if (field->type != nla_type(attribute))
				continue;
			status = read_field(attribute, field, ret);
			if (status < 0)
				return status;
		}
	return left > 0 ? -EBADMSG : 0;
}

static int read_nest(const struct nlattr *nest, const struct field *fields, void *ret)
{
	return read_fields((struct rna_bytes){nla_data(nest), (size_t)nla_len(nest)}, fields, ret);
}

static int read_message(struct rna_bytes message, const struct rna_ethtool_question *question,
			const struct field *fields, void *ret)
{
	struct rna_bytes attributes;
	int status = open_answer(message, question, &attributes);

	return status < 0 ? status : read_fields(attributes, fields, ret);
}

/* -- Answers ----------------------------------------------------------------------------------- */

int rna_ethtool_read_link(struct rna_bytes message, struct rna_ethernet_link *ret)
{
	static const struct field fields[] = {
		{ETHTOOL_A_LINKSTATE_LINK, NUMBER, offsetof(struct rna_ethernet_link, up)},
		{ETHTOOL_A_LINKSTATE_EXT_STATE, NUMBER, offsetof(struct rna_ethernet_link, state)},
		{ETHTOOL_A_LINKSTATE_EXT_SUBSTATE, NUMBER,
		 offsetof(struct rna_ethernet_link, substate)},
		{LINKSTATE_EXT_DOWN_CNT, NUMBER, offsetof(struct rna_ethernet_link, downs)},
		{0},
	};
	struct rna_ethernet_link link = {0};
	int status = read_message(message, &rna_ethtool_link_question, fields, &link);

	if (status == 0)
		*ret = link;
	return status;
}

/* Makes value absent if it is the kernel's number for "unknown". */
static void drop(struct rna_value *value, uint64_t unknown)
{
	if (value->number == unknown)
		*value = (struct rna_value){0};
}

int rna_ethtool_read_mode(struct rna_bytes message, struct rna_ethernet_mode *ret)
{
	static const struct field fields[] = {
		{ETHTOOL_A_LINKMODES_AUTONEG, NUMBER, offsetof(struct rna_ethernet_mode, autoneg)},
		{ETHTOOL_A_LINKMODES_SPEED, NUMBER, offsetof(struct rna_ethernet_mode, speed)},
		{ETHTOOL_A_LINKMODES_DUPLEX, NUMBER,
		 offsetof(struct rna_ethernet_mode, full_duplex)},
		{ETHTOOL_A_LINKMODES_LANES, NUMBER, offsetof(struct rna_ethernet_mode, lanes)},
		{0},
	};
	struct rna_ethernet_mode mode = {0};
	int status = read_message(message, &rna_ethtool_mode_question, fields, &mode);

	if (status < 0)
		return status;
	drop(&mode.speed, (uint32_t)SPEED_UNKNOWN);
	drop(&mode.speed, 0);
	drop(&mode.lanes, 0);
	drop(&mode.full_duplex, DUPLEX_UNKNOWN);
	mode.speed.number *= BITS_PER_MBIT;
	*ret = mode;
	return 0;
}

int rna_ethtool_read_fec(struct rna_bytes message, struct rna_ethernet_fec *ret,
			 struct rna_ethtool_fec_counts *ret_counts)
{
	struct answer {
		struct rna_ethernet_fec fec;
		struct rna_ethtool_fec_counts counts;
	};
	static const struct field counts[] = {
		{ETHTOOL_A_FEC_STAT_CORRECTED, LANES,
		 offsetof(struct answer, counts.corrected_blocks)},
		{ETHTOOL_A_FEC_STAT_UNCORR, LANES,
		 offsetof(struct answer, counts.uncorrectable_blocks)},
		{ETHTOOL_A_FEC_STAT_CORR_BITS, LANES,
		 offsetof(struct answer, counts.corrected_bits)},
		{FEC_STAT_HIST, BIN, offsetof(struct answer, counts)},
		{0},
	};
	static const struct field fields[] = {
		{ETHTOOL_A_FEC_MODES, FECS, offsetof(struct answer, fec.configured)},
		{ETHTOOL_A_FEC_AUTO, NUMBER, offsetof(struct answer, fec.automatic)},
		{ETHTOOL_A_FEC_ACTIVE, NUMBER, offsetof(struct answer, fec.active)},
		{ETHTOOL_A_FEC_STATS, NESTED, .nested = counts},
		{0},
	};
	struct answer answer = {0};
	struct rna_value active = {0};
	int status = read_message(message, &rna_ethtool_fec_question, fields, &answer);

	if (status < 0)
		return status;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(fec_bits); i++)
		if (rna_value_is_known(answer.fec.active) &&
		    answer.fec.active.number == fec_bits[i].bit)
			active = rna_value_ok(fec_bits[i].fec);
	answer.fec.active = active;
	*ret = answer.fec;
	*ret_counts = answer.counts;
	return 0;
}

int rna_ethtool_read_pause(struct rna_bytes message, struct rna_ethernet_pause *ret,
			   struct rna_ethtool_pause_counts *ret_counts)
{
	struct answer {
		struct rna_ethernet_pause pause;
		struct rna_ethtool_pause_counts counts;
	};
	static const struct field counts[] = {
		{ETHTOOL_A_PAUSE_STAT_RX_FRAMES, NUMBER, offsetof(struct answer, counts.received)},
		{ETHTOOL_A_PAUSE_STAT_TX_FRAMES, NUMBER,
		 offsetof(struct answer, counts.transmitted)},
		{0},
	};
	static const struct field fields[] = {
		{ETHTOOL_A_PAUSE_AUTONEG, NUMBER, offsetof(struct answer, pause.autoneg)},
		{ETHTOOL_A_PAUSE_RX, NUMBER, offsetof(struct answer, pause.receive)},
		{ETHTOOL_A_PAUSE_TX, NUMBER, offsetof(struct answer, pause.transmit)},
		{ETHTOOL_A_PAUSE_STATS, NESTED, .nested = counts},
		{0},
	};
	struct answer answer = {0};
	int status = read_message(message, &rna_ethtool_pause_question, fields, &answer);

	if (status < 0)
		return status;
	*ret = answer.pause;
	*ret_counts = answer.counts;
	return 0;
}

int rna_ethtool_read_standard(struct rna_bytes message, struct rna_ethtool_standard_counts *ret)
{
	static const struct field fields[] = {
		{ETHTOOL_A_STATS_GRP, GROUP},
		{0},
	};
	struct rna_ethtool_standard_counts counts = {0};
	int status = read_message(message, &rna_ethtool_standard_question, fields, &counts);

	if (status == 0)
		*ret = counts;
	return status;
}

int rna_ethtool_find(struct rna_bytes message, const struct rna_ethtool_question *question,
		     int type, struct rna_bytes *ret)
{
	const struct field fields[] = {{(uint16_t)type, BYTES}, {0}};
	int status;

	*ret = (struct rna_bytes){0};
	status = read_message(message, question, fields, ret);
	return status == 0 && !ret->data ? -EBADMSG : status;
}

/* -- Recordings -------------------------------------------------------------------------------- */

ssize_t rna_ethtool_anonymize(struct rna_bytes message, const struct rna_ethtool_question *question,
			      uint8_t *to)
{
	struct nlmsghdr *head = (void *)to;
	struct nlattr *attribute;
	struct rna_bytes list;
	size_t len;
	int left, status = open_answer(message, question, &list);

	if (status < 0)
		return status;
	len = message.len - list.len;
	memcpy(to, message.data, len);
	nla_for_each_attr (attribute, (void *)(uintptr_t)list.data, (int)list.len, left) {
		const size_t whole = NLA_ALIGN(attribute->nla_len); /* the last may lack padding */
		const size_t size = whole < (size_t)left ? whole : (size_t)left;

		if (nla_type(attribute) == question->header)
			continue;
		memcpy(to + len, attribute, size);
		len += size;
	}
	if (left > 0)
		return -EBADMSG;
	head->nlmsg_len = (uint32_t)len;
	return (ssize_t)len;
}
