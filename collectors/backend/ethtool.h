/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests and answers of ethtool netlink. Answers are kept as raw bytes, so that a recorded
 * machine returns the same bytes as a real one; parsing them is a pure function.
 *
 * Unknown (newer) attributes are skipped. If a length exceeds the message, the result is -EBADMSG
 * and the whole message is ignored.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "rna/model/ethernet.h"

#include "netlink.h"

enum { RNA_ETHTOOL_ATTRIBUTES_MAX = 6 };

struct rna_ethtool_question {
	const char *name; /* "fec"; also the file name in a recording */
	uint8_t command;  /* ETHTOOL_MSG_FEC_GET */
	uint8_t reply;    /* ETHTOOL_MSG_FEC_GET_REPLY */
	uint8_t header;   /* attribute that contains the interface, nearly always 1 */
	uint32_t flags;   /* ETHTOOL_FLAG_* */
	/* In addition to the common header; a type of 0 ends them. */
	struct rna_netlink_attribute attributes[RNA_ETHTOOL_ATTRIBUTES_MAX];
};

/* The requests for each interface. */
extern const struct rna_ethtool_question rna_ethtool_link_question;
extern const struct rna_ethtool_question rna_ethtool_mode_question;
extern const struct rna_ethtool_question rna_ethtool_fec_question;
extern const struct rna_ethtool_question rna_ethtool_pause_question;
extern const struct rna_ethtool_question rna_ethtool_standard_question;

/* Finds one attribute of an answer. 0, or -EBADMSG: not there, truncated, or another reply. */
int rna_ethtool_find(struct rna_bytes message, const struct rna_ethtool_question *question,
		     int type, struct rna_bytes *ret);

/* The sum of all lanes, and each lane if the driver reports them. */
struct rna_ethtool_fec_count {
	struct rna_value total;
	size_t lane_count;
	uint64_t lanes[RNA_ETHERNET_FEC_LANES];
};

/* Counters of FEC. */
struct rna_ethtool_fec_counts {
	struct rna_ethtool_fec_count corrected_blocks;
	struct rna_ethtool_fec_count uncorrectable_blocks;
	struct rna_ethtool_fec_count corrected_bits;
	size_t bin_count;
	struct rna_ethernet_fec_bin bins[RNA_ETHERNET_FEC_BINS]; /* by low; without overlaps */
};

struct rna_ethtool_pause_counts {
	struct rna_value received;
	struct rna_value transmitted;
};

/* Error counters of IEEE 802.3 clause 30 and RFC 2819. */
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

/* Each parses one answer. 0, or -EBADMSG: *ret is unchanged. */
int rna_ethtool_read_link(struct rna_bytes message, struct rna_ethernet_link *ret);
int rna_ethtool_read_mode(struct rna_bytes message, struct rna_ethernet_mode *ret);
int rna_ethtool_read_fec(struct rna_bytes message, struct rna_ethernet_fec *ret,
			 struct rna_ethtool_fec_counts *ret_counts);
int rna_ethtool_read_pause(struct rna_bytes message, struct rna_ethernet_pause *ret,
			   struct rna_ethtool_pause_counts *ret_counts);
int rna_ethtool_read_standard(struct rna_bytes message, struct rna_ethtool_standard_counts *ret);

/*
 * Copies message without the interface's name and index, for a recording. to: room for message.len
 * bytes. Number of bytes used, or -EBADMSG.
 */
ssize_t rna_ethtool_anonymize(struct rna_bytes message, const struct rna_ethtool_question *question,
			      uint8_t *to);
