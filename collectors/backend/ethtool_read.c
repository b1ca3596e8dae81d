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
#include <linux/netlink.h>

#include "rna/base/cleanup.h"

#include "ethtool.h"

#define BITS_PER_MBIT ((uint64_t)1000000)

/* The macros of linux/netlink.h are signed. */
#define ATTRIBUTE_HEAD sizeof(struct nlattr)
#define MESSAGE_HEADS  (sizeof(struct nlmsghdr) + sizeof(struct genlmsghdr))

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
static const struct {
	struct nlattr no_mask;
	struct nlattr size_head;
	uint32_t size;
	struct nlattr value_head;
	uint32_t value;
} standard_groups = {
	.no_mask = {ATTRIBUTE_HEAD, ETHTOOL_A_BITSET_NOMASK},
	.size_head = {ATTRIBUTE_HEAD + sizeof(uint32_t), ETHTOOL_A_BITSET_SIZE},
	.size = ETHTOOL_STATS_RMON + 1,
	.value_head = {ATTRIBUTE_HEAD + sizeof(uint32_t), ETHTOOL_A_BITSET_VALUE},
	.value = 1 << ETHTOOL_STATS_ETH_PHY | 1 << ETHTOOL_STATS_ETH_MAC |
		 1 << ETHTOOL_STATS_ETH_CTRL | 1 << ETHTOOL_STATS_RMON,
};

static const struct rna_ethtool_attribute standard_attributes[] = {
	{ETHTOOL_A_STATS_GROUPS | NLA_F_NESTED, sizeof(standard_groups), &standard_groups},
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
	.attribute_count = RNA_ARRAY_SIZE(standard_attributes),
	.attributes = standard_attributes,
};

/* -- Messages and attributes ------------------------------------------------------------------- */

int rna_ethtool_open(struct rna_bytes message, const struct rna_ethtool_question *question,
		     struct rna_bytes *ret)
{
	struct nlmsghdr netlink;
	struct genlmsghdr generic;

	if (message.len < MESSAGE_HEADS)
		return -EBADMSG;
	memcpy(&netlink, message.data, sizeof(netlink));
	memcpy(&generic, message.data + sizeof(netlink), sizeof(generic));
	if (netlink.nlmsg_len != message.len || generic.cmd != question->reply)
		return -EBADMSG;
	*ret = (struct rna_bytes){message.data + MESSAGE_HEADS, message.len - MESSAGE_HEADS};
	return 0;
}

static int read_number(struct rna_bytes bytes, uint64_t *ret)
{
	uint32_t small;

	switch (bytes.len) {
	case sizeof(uint8_t):
		*ret = bytes.data[0];
		return 0;
	case sizeof(small):
		memcpy(&small, bytes.data, sizeof(small));
		*ret = small;
		return 0;
	case sizeof(*ret):
		memcpy(ret, bytes.data, sizeof(*ret));
		return 0;
	default:
		return -EBADMSG;
	}
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
static uint64_t fecs_of(struct rna_bytes words)
{
	uint64_t ret = 0;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(fec_bits); i++) {
		size_t at = fec_bits[i].bit / 32 * sizeof(uint32_t);
		uint32_t word;

		if (at + sizeof(word) > words.len)
			continue;
		memcpy(&word, words.data + at, sizeof(word));
		if (word & 1u << fec_bits[i].bit % 32)
			ret |= 1u << fec_bits[i].fec;
	}
	return ret;
}

static int read_fecs(struct rna_bytes bytes, struct rna_value *ret)
{
	struct rna_bytes content;
	uint16_t type;
	int status;

	while ((status = rna_attribute_next(&bytes, &type, &content)) > 0)
		if (type == ETHTOOL_A_BITSET_VALUE)
			*ret = rna_value_ok(fecs_of(content));
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
};

struct field {
	uint16_t type;
	enum kind kind;
	size_t offset;              /* of a struct rna_value unless kind says otherwise */
	const struct field *nested; /* terminated by type 0 */
};

static int read_lanes(struct rna_bytes bytes, struct rna_ethtool_fec_count *ret)
{
	const size_t count = bytes.len / sizeof(uint64_t);

	if (bytes.len % sizeof(uint64_t) != 0)
		return -EBADMSG;
	if (count == 0)
		return 0; /* not counted by the driver */
	memcpy(&ret->total.number, bytes.data, sizeof(uint64_t));
	ret->total.state = RNA_VALUE_OK;
	ret->lane_count = count - 1 < RNA_ETHERNET_FEC_LANES ? count - 1 : RNA_ETHERNET_FEC_LANES;
	memcpy(ret->lanes, bytes.data + sizeof(uint64_t), ret->lane_count * sizeof(uint64_t));
	return 0;
}

static int read_bin_lanes(struct rna_bytes bytes, struct rna_ethernet_fec_bin *ret)
{
	const size_t count = bytes.len / sizeof(uint64_t);

	if (bytes.len % sizeof(uint64_t) != 0)
		return -EBADMSG;
	ret->lane_count = count < RNA_ETHERNET_FEC_LANES ? count : RNA_ETHERNET_FEC_LANES;
	if (ret->lane_count > 0)
		memcpy(ret->lanes, bytes.data, ret->lane_count * sizeof(uint64_t));
	return 0;
}

static int read_fields(struct rna_bytes bytes, const struct field *fields, void *ret);

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

static int read_bin(struct rna_bytes bytes, struct rna_ethtool_fec_counts *ret)
{
	static const struct field fields[] = {
		{FEC_HIST_BIN_LOW, NUMBER, offsetof(struct bin, low)},
		{FEC_HIST_BIN_HIGH, NUMBER, offsetof(struct bin, high)},
		{FEC_HIST_BIN_VAL, NUMBER, offsetof(struct bin, blocks)},
		{FEC_HIST_BIN_VAL_PER_LANE, BIN_LANES, offsetof(struct bin, lanes)},
		{0},
	};
	struct bin bin = {0};
	int status = read_fields(bytes, fields, &bin);

	if (status == 0)
		add_bin(&bin, ret);
	return status;
}

static int read_field(struct rna_bytes bytes, const struct field *field, void *ret)
{
	void *member = (char *)ret + field->offset;
	struct rna_value *value = member;
	int status;

	switch (field->kind) {
	case NESTED:
		return read_fields(bytes, field->nested, ret);
	case FECS:
		return read_fecs(bytes, value);
	case LANES:
		return read_lanes(bytes, member);
	case BIN:
		return read_bin(bytes, member);
	case BIN_LANES:
		return read_bin_lanes(bytes, member);
	case NUMBER:
		break;
	}
	status = read_number(bytes, &value->number);
	value->state = status < 0 ? RNA_VALUE_ABSENT : RNA_VALUE_OK;
	return status;
}

static int read_fields(struct rna_bytes bytes, const struct field *fields, void *ret)
{
	struct rna_bytes content;
	uint16_t type;
	int status;

	while ((status = rna_attribute_next(&bytes, &type, &content)) > 0)
		for (const struct field *field = fields; field->type; field++) {
			if (field->type == type)
				status = read_field(content, field, ret);
			if (status < 0)
				return status;
		}
	return status;
}

static int read_message(struct rna_bytes message, const struct rna_ethtool_question *question,
			const struct field *fields, void *ret)
{
	struct rna_bytes attributes;
	int status = rna_ethtool_open(message, question, &attributes);

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
static int read_count(struct rna_bytes bytes, uint64_t group,
		      struct rna_ethtool_standard_counts *counts)
{
	struct rna_bytes content;
	uint16_t type;
	int status;

	while ((status = rna_attribute_next(&bytes, &type, &content)) > 0)
		for (size_t i = 0; i < RNA_ARRAY_SIZE(standard_counts); i++) {
			struct rna_value *value =
				(void *)((char *)counts + standard_counts[i].offset);

			if (standard_counts[i].group != group || standard_counts[i].type != type)
				continue;
			if (read_number(content, &value->number) < 0)
				return -EBADMSG;
			value->state = RNA_VALUE_OK;
		}
	return status;
}

static int read_group(struct rna_bytes bytes, struct rna_ethtool_standard_counts *counts)
{
	struct rna_bytes content, rest = bytes;
	uint64_t group = UINT64_MAX;
	uint16_t type;
	int status;

	while ((status = rna_attribute_next(&rest, &type, &content)) > 0)
		if (type == ETHTOOL_A_STATS_GRP_ID)
			status = read_number(content, &group);
	while (status >= 0 && (status = rna_attribute_next(&bytes, &type, &content)) > 0)
		if (type == ETHTOOL_A_STATS_GRP_STAT)
			status = read_count(content, group, counts);
	return status;
}

int rna_ethtool_read_standard(struct rna_bytes message, struct rna_ethtool_standard_counts *ret)
{
	struct rna_ethtool_standard_counts counts = {0};
	struct rna_bytes bytes, content;
	uint16_t type;
	int status = rna_ethtool_open(message, &rna_ethtool_standard_question, &bytes);

	while (status >= 0 && (status = rna_attribute_next(&bytes, &type, &content)) > 0)
		if (type == ETHTOOL_A_STATS_GRP)
			status = read_group(content, &counts);
	if (status == 0)
		*ret = counts;
	return status;
}

/* -- Recordings -------------------------------------------------------------------------------- */

ssize_t rna_ethtool_anonymize(struct rna_bytes message, const struct rna_ethtool_question *question,
			      uint8_t *to)
{
	struct rna_bytes rest, content;
	struct nlmsghdr head;
	uint16_t type;
	size_t len;
	int status = rna_ethtool_open(message, question, &rest);

	if (status < 0)
		return status;
	len = (size_t)(rest.data - message.data);
	memcpy(to, message.data, len);
	for (;;) {
		const uint8_t *start = rest.data;
		size_t whole;

		status = rna_attribute_next(&rest, &type, &content);
		if (status <= 0)
			break;
		whole = (size_t)(rest.data - start);
		if (type == question->header)
			continue;
		memcpy(to + len, start, whole);
		len += whole;
	}
	if (status < 0)
		return status;
	memcpy(&head, to, sizeof(head));
	head.nlmsg_len = (uint32_t)len;
	memcpy(to, &head, sizeof(head));
	return (ssize_t)len;
}
