// SPDX-License-Identifier: Apache-2.0
/*
 * collectors/ethtool_read: what the bytes of answers say, whole, cut short and of newer kernels.
 * collectors/recorded_ethtool: the same bytes from a file. collectors/ethtool: the kernel's own.
 */
#include <errno.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <cmocka.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "backend/backends.h"
#include "backend/ethtool.h"
#include "backend/netlink.h"

#include "tree.h"

/* -- Messages -------------------------------------------------------------------------------------
 */

enum {
	NEWER = 200, /* an attribute of no kernel yet */
	ATTRIBUTE_HEAD = sizeof(struct nlattr),
	MESSAGE_HEADS = sizeof(struct nlmsghdr) + sizeof(struct genlmsghdr),
};

struct message {
	uint8_t data[2048];
	size_t len;
};

static struct rna_bytes bytes_of(const struct message *message)
{
	return (struct rna_bytes){message->data, message->len};
}

static void finish(struct message *message)
{
	struct nlmsghdr head = {.nlmsg_len = (uint32_t)message->len, .nlmsg_type = 21};

	memcpy(message->data, &head, sizeof(head));
}

static size_t open_nest(struct message *message, uint16_t type)
{
	struct nlattr head = {.nla_type = (uint16_t)(type | NLA_F_NESTED)};
	size_t start = message->len;

	memcpy(message->data + start, &head, sizeof(head));
	message->len += ATTRIBUTE_HEAD;
	return start;
}

static void close_nest(struct message *message, size_t start)
{
	uint16_t len = (uint16_t)(message->len - start);

	memcpy(message->data + start, &len, sizeof(len));
	finish(message);
}

static void put(struct message *message, uint16_t type, const void *data, size_t len)
{
	struct nlattr head = {.nla_len = (uint16_t)(ATTRIBUTE_HEAD + len), .nla_type = type};

	memcpy(message->data + message->len, &head, sizeof(head));
	memcpy(message->data + message->len + ATTRIBUTE_HEAD, data, len);
	message->len += (ATTRIBUTE_HEAD + len + 3) / 4 * 4;
	finish(message);
}

static void put_u8(struct message *message, uint16_t type, uint8_t number)
{
	put(message, type, &number, sizeof(number));
}

static void put_u32(struct message *message, uint16_t type, uint32_t number)
{
	put(message, type, &number, sizeof(number));
}

static void put_u64(struct message *message, uint16_t type, uint64_t number)
{
	put(message, type, &number, sizeof(number));
}

/* With the header that names the interface, as in all answers. */
static void begin(struct message *message, const struct rna_ethtool_question *question)
{
	struct genlmsghdr generic = {.cmd = question->reply, .version = 1};
	size_t header;

	*message = (struct message){.len = MESSAGE_HEADS};
	memcpy(message->data + sizeof(struct nlmsghdr), &generic, sizeof(generic));
	header = open_nest(message, question->header);
	put_u32(message, ETHTOOL_A_HEADER_DEV_INDEX, 7);
	put(message, ETHTOOL_A_HEADER_DEV_NAME, "enp1s0", sizeof("enp1s0"));
	close_nest(message, header);
}

static void make_link(struct message *message)
{
	begin(message, &rna_ethtool_link_question);
	put_u8(message, ETHTOOL_A_LINKSTATE_LINK, 0);
	put_u8(message, ETHTOOL_A_LINKSTATE_EXT_STATE, ETHTOOL_LINK_EXT_STATE_BAD_SIGNAL_INTEGRITY);
	put_u8(message, ETHTOOL_A_LINKSTATE_EXT_SUBSTATE,
	       ETHTOOL_LINK_EXT_SUBSTATE_BSI_UNSUPPORTED_RATE);
	put_u32(message, 7, 12); /* EXT_DOWN_CNT */
}

static void make_mode(struct message *message)
{
	begin(message, &rna_ethtool_mode_question);
	put_u8(message, ETHTOOL_A_LINKMODES_AUTONEG, 1);
	put_u32(message, ETHTOOL_A_LINKMODES_SPEED, 400000);
	put_u8(message, ETHTOOL_A_LINKMODES_DUPLEX, DUPLEX_FULL);
	put_u32(message, ETHTOOL_A_LINKMODES_LANES, 4);
}

/* Of Linux 6.18. */
enum { FEC_STAT_HIST = 5, BIN_PAD = 1, BIN_LOW, BIN_HIGH, BIN_VAL, BIN_VAL_PER_LANE };

static void put_bin(struct message *message, uint32_t low, uint32_t high, uint64_t blocks)
{
	size_t nest = open_nest(message, FEC_STAT_HIST);

	put_u32(message, BIN_LOW, low);
	put_u32(message, BIN_HIGH, high);
	put_u64(message, BIN_VAL, blocks);
	close_nest(message, nest);
}

/* As nla_put_uint() and nla_put_64bit() write it: a small number in 32 bits, lanes behind a pad. */
static void put_bin_of_lanes(struct message *message, uint32_t low, uint32_t high, uint32_t blocks,
			     const uint64_t *lanes, size_t count)
{
	size_t nest = open_nest(message, FEC_STAT_HIST);

	put_u32(message, BIN_LOW, low);
	put_u32(message, BIN_HIGH, high);
	put_u32(message, BIN_VAL, blocks);
	put(message, BIN_PAD, "", 0);
	put(message, BIN_VAL_PER_LANE, lanes, count * sizeof(*lanes));
	close_nest(message, nest);
}

static void make_fec(struct message *message)
{
	const uint64_t corrected[] = {1000, 400, 600}, uncorrectable[] = {3, 0, 3},
		       lanes[] = {5, 7};
	uint32_t modes[3] = {0, 1u << (ETHTOOL_LINK_MODE_FEC_NONE_BIT - 32), 0};
	size_t nest;

	modes[1] |= 1u << (ETHTOOL_LINK_MODE_FEC_RS_BIT - 32);
	begin(message, &rna_ethtool_fec_question);
	nest = open_nest(message, ETHTOOL_A_FEC_MODES);
	put_u32(message, ETHTOOL_A_BITSET_SIZE, 96);
	put(message, ETHTOOL_A_BITSET_VALUE, modes, sizeof(modes));
	put(message, ETHTOOL_A_BITSET_MASK, modes, sizeof(modes));
	close_nest(message, nest);
	put_u8(message, ETHTOOL_A_FEC_AUTO, 0);
	put_u32(message, ETHTOOL_A_FEC_ACTIVE, ETHTOOL_LINK_MODE_FEC_RS_BIT);
	nest = open_nest(message, ETHTOOL_A_FEC_STATS);
	put(message, ETHTOOL_A_FEC_STAT_CORRECTED, corrected, sizeof(corrected));
	put(message, ETHTOOL_A_FEC_STAT_UNCORR, uncorrectable, sizeof(uncorrectable));
	put(message, ETHTOOL_A_FEC_STAT_CORR_BITS, "", 0);
	put_bin(message, 0, 0, UINT64_C(1) << 40);
	put_bin_of_lanes(message, 1, 3, 12, lanes, RNA_ARRAY_SIZE(lanes));
	close_nest(message, nest);
}

static void make_pause(struct message *message)
{
	size_t nest;

	begin(message, &rna_ethtool_pause_question);
	put_u8(message, ETHTOOL_A_PAUSE_AUTONEG, 0);
	put_u8(message, ETHTOOL_A_PAUSE_RX, 1);
	put_u8(message, ETHTOOL_A_PAUSE_TX, 0);
	nest = open_nest(message, ETHTOOL_A_PAUSE_STATS);
	put_u64(message, ETHTOOL_A_PAUSE_STAT_TX_FRAMES, 5);
	put_u64(message, ETHTOOL_A_PAUSE_STAT_RX_FRAMES, UINT64_C(1) << 40);
	close_nest(message, nest);
}

static void put_standard(struct message *message, uint32_t group, uint16_t type, uint64_t number)
{
	size_t outer = open_nest(message, ETHTOOL_A_STATS_GRP), inner;

	put_u32(message, ETHTOOL_A_STATS_GRP_ID, group);
	put_u32(message, ETHTOOL_A_STATS_GRP_SS_ID, 17);
	inner = open_nest(message, ETHTOOL_A_STATS_GRP_STAT);
	put_u64(message, type, number);
	close_nest(message, inner);
	close_nest(message, outer);
}

static void make_standard(struct message *message)
{
	begin(message, &rna_ethtool_standard_question);
	put_standard(message, ETHTOOL_STATS_ETH_PHY, ETHTOOL_A_STATS_ETH_PHY_5_SYM_ERR, 11);
	put_standard(message, ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_6_FCS_ERR, 12);
	put_standard(message, ETHTOOL_STATS_RMON, ETHTOOL_A_STATS_RMON_JABBER, 13);
	put_standard(message, 99, 0, 14); /* a newer group, whose 0 is no symbol error */
}

/* -- What they say --------------------------------------------------------------------------------
 */

static void link_is_read(void **state)
{
	struct rna_ethernet_link link;
	struct message message;

	(void)state;
	make_link(&message);
	assert_int_equal(rna_ethtool_read_link(bytes_of(&message), &link), 0);
	assert_int_equal(link.up.number, 0);
	assert_int_equal(link.up.state, RNA_VALUE_OK);
	assert_string_equal(rna_ethernet_link_state_name(link.state.number),
			    "bad-signal-integrity");
	assert_string_equal(rna_ethernet_link_substate_name(link.state.number,
							    link.substate.number),
			    "unsupported-rate");
	assert_int_equal(link.downs.number, 12);

	begin(&message, &rna_ethtool_link_question); /* as drivers without any of it answer */
	put_u8(&message, ETHTOOL_A_LINKSTATE_LINK, 1);
	assert_int_equal(rna_ethtool_read_link(bytes_of(&message), &link), 0);
	assert_int_equal(link.up.number, 1);
	assert_int_equal(link.state.state, RNA_VALUE_ABSENT);
	assert_int_equal(link.downs.state, RNA_VALUE_ABSENT);
}

/* The names are those of the kernel's enumerations, one by one. */
static void states_have_names(void **state)
{
	(void)state;
	assert_string_equal(rna_ethernet_link_state_name(ETHTOOL_LINK_EXT_STATE_AUTONEG),
			    "autoneg");
	assert_string_equal(rna_ethernet_link_state_name(ETHTOOL_LINK_EXT_STATE_NO_CABLE),
			    "no-cable");
	assert_string_equal(rna_ethernet_link_state_name(ETHTOOL_LINK_EXT_STATE_OVERHEAT),
			    "overheat");
	assert_string_equal(rna_ethernet_link_state_name(10), "module");
	assert_string_equal(rna_ethernet_link_state_name(11), "?");
	assert_string_equal(rna_ethernet_link_substate_name(ETHTOOL_LINK_EXT_STATE_AUTONEG,
							    ETHTOOL_LINK_EXT_SUBSTATE_AN_NO_HCD),
			    "no-hcd");
	assert_string_equal(
		rna_ethernet_link_substate_name(ETHTOOL_LINK_EXT_STATE_LINK_LOGICAL_MISMATCH,
						ETHTOOL_LINK_EXT_SUBSTATE_LLM_RS_FEC_IS_NOT_LOCKED),
		"rs-fec-is-not-locked");
	assert_null(rna_ethernet_link_substate_name(ETHTOOL_LINK_EXT_STATE_NO_CABLE, 1));
	assert_null(rna_ethernet_link_substate_name(ETHTOOL_LINK_EXT_STATE_AUTONEG, 99));
}

static void mode_is_read(void **state)
{
	struct rna_ethernet_mode mode;
	struct message message;

	(void)state;
	make_mode(&message);
	assert_int_equal(rna_ethtool_read_mode(bytes_of(&message), &mode), 0);
	assert_int_equal(mode.speed.number, 400 * UINT64_C(1000000000));
	assert_int_equal(mode.lanes.number, 4);
	assert_int_equal(mode.full_duplex.number, 1);
	assert_int_equal(mode.autoneg.number, 1);

	begin(&message, &rna_ethtool_mode_question); /* without a link */
	put_u32(&message, ETHTOOL_A_LINKMODES_SPEED, (uint32_t)SPEED_UNKNOWN);
	put_u8(&message, ETHTOOL_A_LINKMODES_DUPLEX, DUPLEX_UNKNOWN);
	assert_int_equal(rna_ethtool_read_mode(bytes_of(&message), &mode), 0);
	assert_int_equal(mode.speed.state, RNA_VALUE_ABSENT);
	assert_int_equal(mode.full_duplex.state, RNA_VALUE_ABSENT);
	assert_int_equal(mode.lanes.state, RNA_VALUE_ABSENT);
}

static void fec_is_read(void **state)
{
	struct rna_ethtool_fec_counts counts;
	struct rna_ethernet_fec fec;
	struct message message;

	(void)state;
	make_fec(&message);
	assert_int_equal(rna_ethtool_read_fec(bytes_of(&message), &fec, &counts), 0);
	assert_int_equal(fec.configured.number, 1 << RNA_FEC_OFF | 1 << RNA_FEC_RS);
	assert_int_equal(fec.automatic.number, 0);
	assert_int_equal(fec.active.number, RNA_FEC_RS);
	assert_int_equal(counts.corrected_blocks.total.number, 1000);
	assert_int_equal(counts.corrected_blocks.lane_count, 2);
	assert_int_equal(counts.corrected_blocks.lanes[0], 400);
	assert_int_equal(counts.corrected_blocks.lanes[1], 600);
	assert_int_equal(counts.corrected_bits.lane_count, 0);
	assert_int_equal(counts.uncorrectable_blocks.total.number, 3);
	assert_int_equal(counts.corrected_bits.total.state, RNA_VALUE_ABSENT);
	assert_int_equal(counts.bin_count, 2);
	assert_int_equal(counts.bins[0].blocks, UINT64_C(1) << 40);
	assert_int_equal(counts.bins[0].lane_count, 0);
	assert_int_equal(counts.bins[1].low, 1);
	assert_int_equal(counts.bins[1].high, 3);
	assert_int_equal(counts.bins[1].blocks, 12);
	assert_int_equal(counts.bins[1].lane_count, 2);
	assert_int_equal(counts.bins[1].lanes[1], 7);

	begin(&message, &rna_ethtool_fec_question); /* a mode that is newer */
	put_u32(&message, ETHTOOL_A_FEC_ACTIVE, 120);
	assert_int_equal(rna_ethtool_read_fec(bytes_of(&message), &fec, &counts), 0);
	assert_int_equal(fec.active.state, RNA_VALUE_ABSENT);
	assert_int_equal(counts.bin_count, 0);
}

static size_t begin_bins(struct message *message)
{
	begin(message, &rna_ethtool_fec_question);
	return open_nest(message, ETHTOOL_A_FEC_STATS);
}

static void read_bins(struct message *message, size_t nest, struct rna_ethtool_fec_counts *ret)
{
	struct rna_ethernet_fec ignored;

	close_nest(message, nest);
	assert_int_equal(rna_ethtool_read_fec(bytes_of(message), &ignored, ret), 0);
}

/* In any order; what is in another bin already, and what is no range, is left out. */
static void bins_do_not_overlap(void **state)
{
	static const uint32_t want[] = {0, 1, 4, 8};
	struct rna_ethtool_fec_counts counts;
	struct message message;
	size_t nest = begin_bins(&message), bin;

	(void)state;
	put_bin(&message, 8, UINT32_MAX, 1);
	put_bin(&message, 1, 3, 2);
	put_bin(&message, 0, 0, 3);
	put_bin(&message, 1, 3, 99);  /* twice */
	put_bin(&message, 3, 4, 99);  /* shares an end */
	put_bin(&message, 2, 2, 99);  /* within another one */
	put_bin(&message, 0, 20, 99); /* around others */
	put_bin(&message, 7, 5, 99);
	put_bin(&message, 4, 7, 4);
	bin = open_nest(&message, FEC_STAT_HIST); /* without a number */
	put_u32(&message, BIN_LOW, 30);
	put_u32(&message, BIN_HIGH, 30);
	close_nest(&message, bin);
	close_nest(&message, open_nest(&message, FEC_STAT_HIST));
	read_bins(&message, nest, &counts);
	assert_int_equal(counts.bin_count, RNA_ARRAY_SIZE(want));
	for (size_t i = 0; i < RNA_ARRAY_SIZE(want); i++)
		assert_int_equal(counts.bins[i].low, want[i]);
	assert_int_equal(counts.bins[1].blocks, 2);
	assert_int_equal(counts.bins[2].blocks, 4);
}

/* More bins and lanes than there is room for: the first ones are read. */
static void bins_have_an_end(void **state)
{
	const uint64_t lanes[RNA_ETHERNET_FEC_LANES + 3] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
	struct rna_ethtool_fec_counts counts;
	struct message message;
	size_t nest = begin_bins(&message);

	(void)state;
	put_bin_of_lanes(&message, 0, 0, 7, lanes, RNA_ARRAY_SIZE(lanes));
	for (uint32_t i = 1; i <= RNA_ETHERNET_FEC_BINS + 8; i++)
		put_bin(&message, i, i, i);
	read_bins(&message, nest, &counts);
	assert_int_equal(counts.bin_count, RNA_ETHERNET_FEC_BINS);
	assert_int_equal(counts.bins[0].lane_count, RNA_ETHERNET_FEC_LANES);
	assert_int_equal(counts.bins[0].lanes[RNA_ETHERNET_FEC_LANES - 1], RNA_ETHERNET_FEC_LANES);
	assert_int_equal(counts.bins[RNA_ETHERNET_FEC_BINS - 1].blocks, RNA_ETHERNET_FEC_BINS - 1);
}

/* A length that is none of a number, of a bin or of its lanes, makes the message unusable. */
static void bins_with_wrong_lengths_are_refused(void **state)
{
	static const struct {
		uint16_t type;
		size_t len;
	} wrong[] = {{BIN_LOW, 2}, {BIN_HIGH, 0}, {BIN_VAL, 16}, {BIN_VAL_PER_LANE, 12}};
	const uint8_t zeros[16] = {0};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(wrong); i++) {
		struct rna_ethtool_fec_counts counts;
		struct rna_ethernet_fec ignored;
		struct message message;
		size_t nest = begin_bins(&message), bin = open_nest(&message, FEC_STAT_HIST);

		put(&message, wrong[i].type, zeros, wrong[i].len);
		close_nest(&message, bin);
		close_nest(&message, nest);
		assert_int_equal(rna_ethtool_read_fec(bytes_of(&message), &ignored, &counts),
				 -EBADMSG);
	}
}

static void pause_is_read(void **state)
{
	struct rna_ethtool_pause_counts counts;
	struct rna_ethernet_pause pause;
	struct message message;

	(void)state;
	make_pause(&message);
	assert_int_equal(rna_ethtool_read_pause(bytes_of(&message), &pause, &counts), 0);
	assert_int_equal(pause.receive.number, 1);
	assert_int_equal(pause.transmit.number, 0);
	assert_int_equal(pause.transmit.state, RNA_VALUE_OK);
	assert_int_equal(counts.transmitted.number, 5);
	assert_int_equal(counts.received.number, UINT64_C(1) << 40);
}

static void standard_statistics_are_read(void **state)
{
	struct rna_ethtool_standard_counts counts;
	struct message message;

	(void)state;
	make_standard(&message);
	assert_int_equal(rna_ethtool_read_standard(bytes_of(&message), &counts), 0);
	assert_int_equal(counts.symbol_errors.number, 11);
	assert_int_equal(counts.fcs_errors.number, 12);
	assert_int_equal(counts.jabbers.number, 13);
	assert_int_equal(counts.fragments.state, RNA_VALUE_ABSENT);
}

/* -- What is wrong with them ----------------------------------------------------------------------
 */

static int read_link(struct rna_bytes bytes)
{
	struct rna_ethernet_link ignored;

	return rna_ethtool_read_link(bytes, &ignored);
}

static int read_mode(struct rna_bytes bytes)
{
	struct rna_ethernet_mode ignored;

	return rna_ethtool_read_mode(bytes, &ignored);
}

static int read_fec(struct rna_bytes bytes)
{
	struct rna_ethtool_fec_counts counts;
	struct rna_ethernet_fec ignored;

	return rna_ethtool_read_fec(bytes, &ignored, &counts);
}

static int read_pause(struct rna_bytes bytes)
{
	struct rna_ethtool_pause_counts counts;
	struct rna_ethernet_pause ignored;

	return rna_ethtool_read_pause(bytes, &ignored, &counts);
}

static int read_standard(struct rna_bytes bytes)
{
	struct rna_ethtool_standard_counts ignored;

	return rna_ethtool_read_standard(bytes, &ignored);
}

static const struct {
	void (*make)(struct message *message);
	int (*read)(struct rna_bytes bytes);
	const struct rna_ethtool_question *question;
} kinds[] = {
	{make_link, read_link, &rna_ethtool_link_question},
	{make_mode, read_mode, &rna_ethtool_mode_question},
	{make_fec, read_fec, &rna_ethtool_fec_question},
	{make_pause, read_pause, &rna_ethtool_pause_question},
	{make_standard, read_standard, &rna_ethtool_standard_question},
};

/* Memory of exactly that size, so that ASan sees a byte read too much. */
static int read_copy(int (*read)(struct rna_bytes bytes), const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);
	int ret;

	assert_non_null(copy);
	memcpy(copy, data, len);
	ret = read((struct rna_bytes){copy, len});
	free(copy);
	return ret;
}

/* Cut at every byte: what is left is no message, whatever length it says that it has. */
static void truncated_answers_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(kinds); i++) {
		struct message message;

		kinds[i].make(&message);
		assert_int_equal(read_copy(kinds[i].read, message.data, message.len), 0);
		for (size_t len = 0; len < message.len; len++) {
			struct message cut = message;
			int status;

			assert_int_equal(read_copy(kinds[i].read, message.data, len), -EBADMSG);
			cut.len = len;
			finish(&cut); /* now it says so, and may end between two attributes */
			status = read_copy(kinds[i].read, cut.data, len);
			assert_true(status == 0 || status == -EBADMSG);
		}
	}
}

/* Each length of each attribute, made wrong: refused or read, and never beyond the end. */
static void wrong_lengths_do_no_harm(void **state)
{
	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(kinds); i++) {
		struct message message;

		kinds[i].make(&message);
		for (size_t at = MESSAGE_HEADS; at < message.len; at++)
			for (unsigned value = 0; value < 256; value++) {
				uint8_t before = message.data[at];
				int status;

				message.data[at] = (uint8_t)value;
				status = read_copy(kinds[i].read, message.data, message.len);
				assert_true(status == 0 || status == -EBADMSG);
				message.data[at] = before;
			}
	}
}

static void unknown_attributes_are_skipped(void **state)
{
	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(kinds); i++) {
		struct message message;
		size_t nest;

		kinds[i].make(&message);
		put_u32(&message, NEWER, 5);
		put(&message, NEWER + 1, "odd", 3);
		nest = open_nest(&message, NEWER + 2);
		put_u64(&message, 1, 6);
		close_nest(&message, nest);
		assert_int_equal(kinds[i].read(bytes_of(&message)), 0);
	}
}

static void another_reply_is_refused(void **state)
{
	struct message message;

	(void)state;
	make_link(&message);
	assert_int_equal(read_mode(bytes_of(&message)), -EBADMSG);
}

static void numbers_of_odd_size_are_refused(void **state)
{
	struct message message;

	(void)state;
	begin(&message, &rna_ethtool_mode_question);
	put(&message, ETHTOOL_A_LINKMODES_SPEED, "abc", 3);
	assert_int_equal(read_mode(bytes_of(&message)), -EBADMSG);
	begin(&message, &rna_ethtool_fec_question);
	{
		size_t nest = open_nest(&message, ETHTOOL_A_FEC_STATS);

		put(&message, ETHTOOL_A_FEC_STAT_CORRECTED, "123456789", 9);
		close_nest(&message, nest);
	}
	assert_int_equal(read_fec(bytes_of(&message)), -EBADMSG);
}

/* A recording does not say what the interface was called, and answers the same. */
static void names_are_left_out(void **state)
{
	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(kinds); i++) {
		struct message message, recorded = {0};
		ssize_t len;

		kinds[i].make(&message);
		len = rna_ethtool_anonymize(bytes_of(&message), kinds[i].question, recorded.data);
		assert_true(len > 0 && (size_t)len < message.len);
		recorded.len = (size_t)len;
		assert_int_equal(kinds[i].read(bytes_of(&recorded)), 0);
		assert_null(memmem(recorded.data, recorded.len, "enp1s0", 6));
	}
}

/* -- Recordings -----------------------------------------------------------------------------------
 */

static void write_digits(const struct tree *tree, const char *path, const struct message *message)
{
	char text[4096];
	size_t len = 0;

	for (size_t i = 0; i < message->len; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%02x%s", message->data[i],
					i % 16 == 15 ? "\n" : " ");
	tree_write(tree, path, text);
}

static void recorded_messages_are_read(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(0);
	RNA_CLEANUP(tree_deinit) struct tree tree;
	struct rna_ethtool_talk talk;
	struct rna_bytes bytes;
	struct message message;

	(void)state;
	tree_init(&tree);
	talk = (struct rna_ethtool_talk){.root = tree.root};
	make_fec(&message);
	write_digits(&tree, "recorded/ethtool/eth0/fec", &message);
	assert_int_equal(rna_recorded_ethtool.ask(&talk, &rna_ethtool_fec_question, "eth0", arena,
						  &bytes),
			 0);
	assert_int_equal(bytes.len, message.len);
	assert_memory_equal(bytes.data, message.data, message.len);

	assert_int_equal(rna_recorded_ethtool.ask(&talk, &rna_ethtool_pause_question, "eth0", arena,
						  &bytes),
			 -EOPNOTSUPP);
	tree_write(&tree, "recorded/ethtool/eth0/pause", "12 3");
	assert_int_equal(rna_recorded_ethtool.ask(&talk, &rna_ethtool_pause_question, "eth0", arena,
						  &bytes),
			 -EBADMSG);
	tree_write(&tree, "recorded/ethtool/eth0/pause", "12 xy");
	assert_int_equal(rna_recorded_ethtool.ask(&talk, &rna_ethtool_pause_question, "eth0", arena,
						  &bytes),
			 -EBADMSG);
}

static void recorded_statistics_are_read(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(0);
	RNA_CLEANUP(tree_deinit) struct tree tree;
	struct rna_ethtool_names names;
	uint64_t numbers[2];

	(void)state;
	tree_init(&tree);
	tree_write(&tree, "recorded/ethtool/eth0/statistics",
		   "     rx_packets: 18446744073709551615\n     ch0: odd name: 2\n");
	assert_int_equal(rna_recorded_ethtool.list_statistics(tree.root, "eth0", arena, &names), 0);
	assert_int_equal(names.count, 2);
	assert_string_equal(names.names[0].text, "rx_packets");
	assert_string_equal(names.names[1].text, "ch0: odd name");
	assert_int_equal(rna_recorded_ethtool.read_statistics(tree.root, "eth0", 2, numbers), 0);
	assert_true(numbers[0] == UINT64_MAX && numbers[1] == 2);
	assert_int_equal(rna_recorded_ethtool.read_statistics(tree.root, "eth0", 1, numbers),
			 -ESTALE);
	tree_write(&tree, "recorded/ethtool/eth0/statistics", "no colon\n");
	assert_int_equal(rna_recorded_ethtool.list_statistics(tree.root, "eth0", arena, &names),
			 -EBADMSG);
	assert_int_equal(rna_recorded_ethtool.list_statistics(tree.root, "eth1", arena, &names),
			 -EOPNOTSUPP);
}

/* -- A driver whose statistics change -------------------------------------------------------------
 */

/* Of the interface "fake0": how many there are when each command asks. */
static uint32_t fake_counts, fake_strings, fake_numbers;

/* As the kernel copies: -1 and EFAULT where there is no memory to write to. */
static int copy_to_user(void *to, const void *from, size_t len)
{
	int ends[2];
	ssize_t copied;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], from, len), len);
	copied = read(ends[0], to, len);
	(void)close(ends[0]);
	(void)close(ends[1]);
	if (copied == (ssize_t)len)
		return 0;
	errno = EFAULT;
	return -1;
}

static int answer_as_driver(void *command)
{
	struct ethtool_sset_info *info = command;
	struct ethtool_gstrings *strings = command;
	struct ethtool_stats *stats = command;
	char names[8 * ETH_GSTRING_LEN] = "";
	uint64_t numbers[8] = {10, 11, 12, 13, 14, 15, 16, 17};

	for (size_t i = 0; i < 8; i++)
		(void)snprintf(names + i * ETH_GSTRING_LEN, ETH_GSTRING_LEN, "rx_queue_%zu", i);
	switch (*(const uint32_t *)command) { /* each begins with it, and has its own alignment */
	case ETHTOOL_GSSET_INFO:
		return copy_to_user(info->data, &fake_counts, sizeof(fake_counts));
	case ETHTOOL_GSTRINGS:
		strings->len = fake_strings;
		return copy_to_user(strings->data, names, fake_strings * ETH_GSTRING_LEN);
	case ETHTOOL_GSTATS:
		stats->n_stats = fake_numbers;
		return copy_to_user(stats->data, numbers, fake_numbers * sizeof(numbers[0]));
	default:
		errno = EOPNOTSUPP;
		return -1;
	}
}

int __real_ioctl(int fd, unsigned long request, void *argument);
int __wrap_ioctl(int fd, unsigned long request, void *argument);

int __wrap_ioctl(int fd, unsigned long request, void *argument)
{
	struct ifreq *interface = argument;

	if (strcmp(interface->ifr_name, "fake0") == 0)
		return answer_as_driver(interface->ifr_data);
	return __real_ioctl(fd, request, argument);
}

static int list_fake(uint32_t counts, uint32_t strings, struct rna_arena *arena,
		     struct rna_ethtool_names *ret)
{
	fake_counts = counts;
	fake_strings = strings;
	return rna_ethtool.list_statistics(NULL, "fake0", arena, ret);
}

static int read_fake(uint32_t wanted, uint32_t there, uint64_t *numbers)
{
	fake_numbers = there;
	return rna_ethtool.read_statistics(NULL, "fake0", wanted, numbers);
}

/* A set that grows between two calls would be written behind the memory that it was asked into. */
static void sets_that_change_are_noticed(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(0);
	struct rna_ethtool_names names;
	uint64_t numbers[8];

	(void)state;
	assert_int_equal(list_fake(3, 3, arena, &names), 0);
	assert_int_equal(names.count, 3);
	assert_string_equal(names.names[2].text, "rx_queue_2");
	assert_int_equal(list_fake(3, 4, arena, &names), -ESTALE);
	assert_int_equal(list_fake(3, 2, arena, &names), -ESTALE);
	assert_int_equal(list_fake(0, 0, arena, &names), 0);
	assert_int_equal(names.count, 0);
	assert_int_equal(list_fake(UINT32_MAX, 0, arena, &names), -EMSGSIZE);

	assert_int_equal(read_fake(3, 3, numbers), 0);
	assert_int_equal(numbers[2], 12);
	assert_int_equal(read_fake(3, 8, numbers), -ESTALE);
	assert_int_equal(read_fake(3, 2, numbers), -ESTALE);
}

/* -- Kernels that do not know a flag --------------------------------------------------------------
 */

static struct {
	int refusal;   /* of what is asked with ETHTOOL_FLAG_STATS; 0: none */
	bool driver;   /* has an answer to pause */
	unsigned asks; /* but for the family */
} kernel;

static unsigned families; /* questions for the number of the family */
static bool is_scripted;

int __real_rna_netlink_ask(const struct rna_netlink_question *question, rna_netlink_take *take,
			   void *userdata);
int __wrap_rna_netlink_ask(const struct rna_netlink_question *question, rna_netlink_take *take,
			   void *userdata);

/* The number of the family. */
int __wrap_rna_netlink_ask(const struct rna_netlink_question *question, rna_netlink_take *take,
			   void *userdata)
{
	if (!is_scripted)
		return __real_rna_netlink_ask(question, take, userdata);
	families++;
	assert_int_equal(question->type, GENL_ID_CTRL);
	*(int *)userdata = 21;
	return 0;
}

/* Has the question the flag in its header? */
static bool wants_statistics(const struct rna_netlink_question *question)
{
	const struct rna_netlink_attribute *header = &question->attributes[0];

	assert_int_equal(header->type, 1);
	assert_int_equal(header->nested[1].type, ETHTOOL_A_HEADER_FLAGS);
	return *(const uint32_t *)header->nested[1].data & ETHTOOL_FLAG_STATS;
}

static int answer_as_kernel(const struct rna_netlink_question *question)
{
	const struct genlmsghdr *head = question->body;

	kernel.asks++;
	if (wants_statistics(question) && kernel.refusal)
		return kernel.refusal;
	return head->cmd == ETHTOOL_MSG_PAUSE_GET && !kernel.driver ? -EOPNOTSUPP : 0;
}

int __real_rna_netlink_keep(const struct rna_netlink_question *question, struct rna_arena *arena,
			    struct rna_bytes *ret);
int __wrap_rna_netlink_keep(const struct rna_netlink_question *question, struct rna_arena *arena,
			    struct rna_bytes *ret);

int __wrap_rna_netlink_keep(const struct rna_netlink_question *question, struct rna_arena *arena,
			    struct rna_bytes *ret)
{
	return is_scripted ? answer_as_kernel(question)
			   : __real_rna_netlink_keep(question, arena, ret);
}

/* A run's: of the link, of FEC and pause frames. What the last of them came to. */
static int ask_three(int refusal, bool driver)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(0);
	struct rna_ethtool_talk talk = {0};
	struct rna_bytes bytes;
	int status;

	is_scripted = true;
	memset(&kernel, 0, sizeof(kernel));
	kernel.refusal = refusal;
	kernel.driver = driver;
	assert_int_equal(rna_ethtool.ask(&talk, &rna_ethtool_link_question, "eth0", arena, &bytes),
			 0);
	assert_int_equal(rna_ethtool.ask(&talk, &rna_ethtool_fec_question, "eth0", arena, &bytes),
			 0);
	status = rna_ethtool.ask(&talk, &rna_ethtool_pause_question, "eth0", arena, &bytes);
	is_scripted = false;
	return status;
}

/* The first of all questions asks for the number of the family. */
static void the_family_is_known_until_the_next_boot(void **state)
{
	(void)state;
	assert_int_equal(ask_three(0, true), 0);
	assert_int_equal(kernel.asks, 3);
	assert_int_equal(ask_three(0, true), 0);
	assert_in_range(families, 0, 1);
}

static void flags_that_came_later_are_left_out(void **state)
{
	(void)state;
	assert_int_equal(ask_three(-EINVAL, true), 0); /* for a link, until Linux 6.4 */
	assert_int_equal(kernel.asks, 6);
	assert_int_equal(ask_three(-EOPNOTSUPP, true), 0); /* for anything, until 5.10 */
	assert_int_equal(kernel.asks, 6);
	assert_int_equal(ask_three(-EOPNOTSUPP, false), -EOPNOTSUPP);
}

/* The same word of a driver, where the kernel is known to know the flag, costs no question more. */
static void drivers_without_an_answer_are_asked_once(void **state)
{
	(void)state;
	assert_int_equal(ask_three(0, false), -EOPNOTSUPP);
	assert_int_equal(kernel.asks, 3);
}

/* -- The kernel -----------------------------------------------------------------------------------
 */

static void the_kernel_answers_of_lo(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(0);
	struct rna_ethtool_names names;
	struct rna_ethtool_talk talk = {0};
	struct rna_ethernet_link link;
	struct rna_bytes bytes;
	uint64_t number;
	int status;

	(void)state;
	status = rna_ethtool.ask(&talk, &rna_ethtool_link_question, "lo", arena, &bytes);
	if (status == -EOPNOTSUPP || status == -EPROTONOSUPPORT)
		skip(); /* a kernel or sandbox without ethtool netlink */
	assert_int_equal(status, 0);
	assert_int_equal(rna_ethtool_read_link(bytes, &link), 0);
	assert_int_equal(link.up.state, RNA_VALUE_OK);
	assert_int_equal(rna_ethtool.ask(&talk, &rna_ethtool_link_question, "nosuch0", arena,
					 &bytes),
			 -ENODEV);
	assert_int_equal(rna_ethtool.ask(&talk, &rna_ethtool_fec_question, "lo", arena, &bytes),
			 -EOPNOTSUPP);
	status = rna_ethtool.list_statistics(NULL, "lo", arena, &names);
	assert_true(status == -EOPNOTSUPP || (status == 0 && names.count == 0));
	assert_int_equal(rna_ethtool.list_statistics(NULL, "nosuch0", arena, &names), -ENODEV);
	assert_int_equal(rna_ethtool.read_statistics(NULL, "nosuch0", 1, &number), -ENODEV);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(link_is_read),
		cmocka_unit_test(states_have_names),
		cmocka_unit_test(mode_is_read),
		cmocka_unit_test(fec_is_read),
		cmocka_unit_test(bins_do_not_overlap),
		cmocka_unit_test(bins_have_an_end),
		cmocka_unit_test(bins_with_wrong_lengths_are_refused),
		cmocka_unit_test(pause_is_read),
		cmocka_unit_test(standard_statistics_are_read),
		cmocka_unit_test(truncated_answers_are_refused),
		cmocka_unit_test(wrong_lengths_do_no_harm),
		cmocka_unit_test(unknown_attributes_are_skipped),
		cmocka_unit_test(another_reply_is_refused),
		cmocka_unit_test(numbers_of_odd_size_are_refused),
		cmocka_unit_test(names_are_left_out),
		cmocka_unit_test(recorded_messages_are_read),
		cmocka_unit_test(recorded_statistics_are_read),
		cmocka_unit_test(sets_that_change_are_noticed),
		cmocka_unit_test(the_kernel_answers_of_lo), /* before the family of a script */
		cmocka_unit_test(the_family_is_known_until_the_next_boot),
		cmocka_unit_test(flags_that_came_later_are_left_out),
		cmocka_unit_test(drivers_without_an_answer_are_asked_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
