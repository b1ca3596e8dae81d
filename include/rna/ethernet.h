/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Ethernet side of a port, as ethtool has it: why there is no link, at what speed and with
 * which error correction it runs, who stopped whom by pause frames, and what the driver counts.
 *
 * Linux has no counters of the wire below an RDMA port on Ethernet; they are those of its network
 * interface, or of the members where that is a bond. They belong to the physical port, so that
 * they are read for the physical function alone: virtual functions show the same numbers again.
 * Sources: Documentation/networking/ethtool-netlink.rst; linux/ethtool.h; IEEE 802.3 clause 30.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/part.h"
#include "rna/value.h"

/* -- Link -------------------------------------------------------------------------------------- */

/* What the driver says of a link; the kernel asks it only while the interface is up. */
struct rna_ethernet_link {
	struct rna_value up;       /* 0 or 1 */
	struct rna_value state;    /* why it is down: ETHTOOL_LINK_EXT_STATE_*, from 0 */
	struct rna_value substate; /* of that state, from 1 */
	struct rna_value downs;    /* losses of the link since the driver came; Linux 6.4 */
};

/* "no-cable", "bad-signal-integrity", ...; "?" for a state that is newer than this program. */
const char *rna_ethernet_link_state_name(uint64_t state);
/* The same for people: "no cable", "the signal is bad". */
const char *rna_ethernet_link_state_text(uint64_t state);
/* What is known beyond that: "large-number-of-physical-errors"; NULL: nothing. */
const char *rna_ethernet_link_substate_name(uint64_t state, uint64_t substate);

struct rna_ethernet_mode {
	struct rna_value speed; /* bits per second; absent while there is no link */
	struct rna_value lanes;
	struct rna_value full_duplex; /* 0 or 1 */
	struct rna_value autoneg;     /* 0 or 1 */
};

/* -- Forward error correction ------------------------------------------------------------------ */

enum rna_fec {
	RNA_FEC_OFF,
	RNA_FEC_BASER, /* clause 74, also called Firecode */
	RNA_FEC_RS,    /* clause 91 and 108, Reed-Solomon */
	RNA_FEC_LLRS,  /* low latency Reed-Solomon, of the 25/50G consortium */
	RNA_FEC_COUNT,
};

const char *rna_fec_name(enum rna_fec fec); /* "off", "baser", "rs", "llrs" */

struct rna_ethernet_fec {
	struct rna_value configured; /* which may be chosen, one bit for each enum rna_fec */
	struct rna_value automatic;  /* 0 or 1: the driver chooses */
	struct rna_value active;     /* enum rna_fec in use; absent while there is no link */
};

/* Pause frames for the whole link (IEEE 802.3x); those for priorities are part of DCB. */
struct rna_ethernet_pause {
	struct rna_value autoneg; /* 0 or 1, as the next two */
	struct rna_value receive; /* pause frames are obeyed */
	struct rna_value transmit;
};
