/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How messages of ethtool netlink are put and read. What the kernel sends is kept as it came, so
 * that a recorded machine answers with the very bytes of a real one; parsing is a pure function
 * of these bytes.
 *
 * Attributes that this program does not know are newer, and skipped. What does not fit into
 * itself is -EBADMSG, and then nothing of the message counts.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "rna/model/ethernet.h"

#include "parse/attribute.h"

/* One attribute of a question, beside the header that all have. */
struct rna_ethtool_attribute {
	uint16_t type; /* with NLA_F_NESTED where data are attributes */
	uint16_t len;
	const void *data;
};

struct rna_ethtool_question {
	const char *name; /* "fec"; a recording keeps the answer in a file of that name */
	uint8_t command;  /* ETHTOOL_MSG_FEC_GET */
	uint8_t reply;    /* ETHTOOL_MSG_FEC_GET_REPLY */
	uint8_t header;   /* attribute that names the interface, nearly always 1 */
	uint32_t flags;   /* ETHTOOL_FLAG_* */
	size_t attribute_count;
	const struct rna_ethtool_attribute *attributes;
};

/* The questions that each interface is asked. */
extern const struct rna_ethtool_question rna_ethtool_link_question;
extern const struct rna_ethtool_question rna_ethtool_mode_question;
extern const struct rna_ethtool_question rna_ethtool_fec_question;
extern const struct rna_ethtool_question rna_ethtool_pause_question;
extern const struct rna_ethtool_question rna_ethtool_standard_question;

/*
 * The attributes of an answer: what is behind its two heads. 0, or -EBADMSG when it is not a whole
 * message, or not of that reply.
 */
int rna_ethtool_open(struct rna_bytes message, const struct rna_ethtool_question *question,
		     struct rna_bytes *ret);

enum { RNA_ETHTOOL_LANES = 8 }; /* ETHTOOL_MAX_LANES of the kernel */

/* All lanes together; and each, where the driver tells them apart. */
struct rna_ethtool_fec_count {
	struct rna_value total;
	size_t lane_count;
	uint64_t lanes[RNA_ETHTOOL_LANES];
};

/* What FEC has counted. */
struct rna_ethtool_fec_counts {
	struct rna_ethtool_fec_count corrected_blocks;
	struct rna_ethtool_fec_count uncorrectable_blocks;
	struct rna_ethtool_fec_count corrected_bits;
};

struct rna_ethtool_pause_counts {
	struct rna_value received;
	struct rna_value transmitted;
};

/* Counters of IEEE 802.3 clause 30 and RFC 2819, as far as they tell of faults. */
struct rna_ethtool_standard_counts {
	struct rna_value symbol_errors;      /* aSymbolErrorDuringCarrier */
	struct rna_value fcs_errors;         /* aFrameCheckSequenceErrors */
	struct rna_value alignment_errors;   /* aAlignmentErrors */
	struct rna_value length_errors;      /* aInRangeLengthErrors */
	struct rna_value too_long_errors;    /* aFrameTooLongErrors */
	struct rna_value transmit_errors;    /* aFramesLostDueToIntMACXmitError */
	struct rna_value receive_errors;     /* aFramesLostDueToIntMACRcvError */
	struct rna_value unsupported_frames; /* aUnsupportedOpcodesReceived */
	struct rna_value undersize_frames;   /* etherStatsUndersizePkts */
	struct rna_value fragments;          /* etherStatsFragments */
	struct rna_value jabbers;            /* etherStatsJabbers */
};

/* Read one answer each. 0, or -EBADMSG: then *ret is untouched. */
int rna_ethtool_read_link(struct rna_bytes message, struct rna_ethernet_link *ret);
int rna_ethtool_read_mode(struct rna_bytes message, struct rna_ethernet_mode *ret);
int rna_ethtool_read_fec(struct rna_bytes message, struct rna_ethernet_fec *ret,
			 struct rna_ethtool_fec_counts *ret_counts);
int rna_ethtool_read_pause(struct rna_bytes message, struct rna_ethernet_pause *ret,
			   struct rna_ethtool_pause_counts *ret_counts);
int rna_ethtool_read_standard(struct rna_bytes message, struct rna_ethtool_standard_counts *ret);

/*
 * The same message without what names the interface: for a recording. to: room for message.len
 * bytes. How many of them are used, or -EBADMSG.
 */
ssize_t rna_ethtool_anonymize(struct rna_bytes message, const struct rna_ethtool_question *question,
			      uint8_t *to);
