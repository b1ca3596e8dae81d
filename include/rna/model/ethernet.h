/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ethtool says of the network interface of a port: why there is no link, speed, error
 * correction, pause frames, and the driver's statistics.
 *
 * An Ethernet RDMA port has no physical-layer counters of its own in Linux; its network interface
 * has them, or each member if that is a bond. They belong to the physical port, so the agent reads
 * them for the physical function only: virtual functions repeat the same numbers. Sources:
 * Documentation/networking/ethtool-netlink.rst; linux/ethtool.h; IEEE 802.3 clause 30.
 *
 * An InfiniBand port has an IPoIB interface, or none. Of the drivers only mlx5 has statistics of
 * the port there (collectors/ethernet_sources.c), and no other part of ethtool: link, mode, FEC and
 * pause frames are absent, and the statistics of frames are left out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/model/part.h"
#include "rna/model/value.h"

/* -- Link -------------------------------------------------------------------------------------- */

/* Link state by the driver. The kernel asks the driver only while the interface is up. */
struct rna_ethernet_link {
	struct rna_value up;       /* 0 or 1 */
	struct rna_value state;    /* why it is down: ETHTOOL_LINK_EXT_STATE_*, from 0 */
	struct rna_value substate; /* of that state, from 1 */
	struct rna_value downs;    /* link losses since the driver was loaded; Linux 6.4 */
};

/* "no-cable", "bad-signal-integrity", ...; "?" for an unknown state. */
const char *rna_ethernet_link_state_name(uint64_t state);
/* The state in words: "no cable", "bad signal". */
const char *rna_ethernet_link_state_text(uint64_t state);
/* The substate: "large-number-of-physical-errors". NULL: unknown. */
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
	struct rna_value configured; /* modes enabled, one bit for each enum rna_fec */
	struct rna_value automatic;  /* 0 or 1: the driver chooses the mode */
	struct rna_value active;     /* enum rna_fec in use; absent while there is no link */
};

enum {
	RNA_ETHERNET_FEC_LANES = 8, /* ETHTOOL_MAX_LANES of Linux 6.18 */
	/* ETHTOOL_FEC_HIST_MAX of Linux 6.18 is 17 with an end mark. It may grow: up to here. */
	RNA_ETHERNET_FEC_BINS = 32,
};

/*
 * FEC blocks (codewords) received with a number of errors in this range (IEEE 802.3ck-2022 and
 * 802.3df-2024 count symbols). The driver chooses the ranges: mlx5 takes those of the firmware,
 * which may change with the FEC mode (fec_rs_histogram_fill_ranges() in mlx5/core/en_stats.c, Linux
 * 6.18); bnxt_en has 0 to 15 one by one (bnxt_fec_ranges in bnxt/bnxt_ethtool.c, net-next of
 * January 2026).
 */
struct rna_ethernet_fec_bin {
	uint32_t low, high; /* inclusive */
	uint64_t blocks;
	size_t lane_count; /* 0: the driver does not count by lane */
	uint64_t lanes[RNA_ETHERNET_FEC_LANES];
};

/*
 * Pause frames for the whole link (IEEE 802.3x). Per-priority pause frames (PFC) are part of DCB.
 */
struct rna_ethernet_pause {
	struct rna_value autoneg; /* 0 or 1, like the next two */
	struct rna_value receive; /* the port obeys pause frames */
	struct rna_value transmit;
};

/* -- Statistics -------------------------------------------------------------------------------- */

/* In the order in which metrics are exported; each has a row in rna_ethernet_statistics. */
enum rna_ethernet_statistic_id {
	RNA_ETHERNET_LINK_DOWNS,
	RNA_ETHERNET_LOCAL_FAULTS,
	RNA_ETHERNET_REMOTE_FAULTS,
	RNA_ETHERNET_WIRE_RECEIVED,
	RNA_ETHERNET_SYMBOL_ERRORS,
	RNA_ETHERNET_PCS_SYMBOL_ERRORS,
	RNA_ETHERNET_LANE_ERRORS,
	RNA_ETHERNET_FEC_CORRECTED_BITS,
	RNA_ETHERNET_FEC_CORRECTED_BLOCKS,
	RNA_ETHERNET_FEC_UNCORRECTABLE_BLOCKS,
	RNA_ETHERNET_FEC_HEAVILY_CORRECTED_BLOCKS,
	RNA_ETHERNET_FEC_LANE_CORRECTED_BITS,
	RNA_ETHERNET_FEC_LANE_CORRECTED_BLOCKS,
	RNA_ETHERNET_FEC_LANE_UNCORRECTABLE_BLOCKS,
	RNA_ETHERNET_FCS_ERRORS,
	RNA_ETHERNET_ALIGNMENT_ERRORS,
	RNA_ETHERNET_LENGTH_ERRORS,
	RNA_ETHERNET_UNDERSIZE_FRAMES,
	RNA_ETHERNET_OVERSIZE_FRAMES,
	RNA_ETHERNET_FRAGMENTS,
	RNA_ETHERNET_JABBERS,
	RNA_ETHERNET_UNSUPPORTED_FRAMES,
	RNA_ETHERNET_MAC_RECEIVE_ERRORS,
	RNA_ETHERNET_MAC_TRANSMIT_ERRORS,
	RNA_ETHERNET_RECEIVE_DISCARDS,
	RNA_ETHERNET_TRANSMIT_DISCARDS,
	RNA_ETHERNET_OUT_OF_BUFFER,
	RNA_ETHERNET_BANDWIDTH_IN_EXCEEDED,
	RNA_ETHERNET_BANDWIDTH_OUT_EXCEEDED,
	RNA_ETHERNET_PACKET_RATE_EXCEEDED,
	RNA_ETHERNET_PAUSE_RECEIVED,
	RNA_ETHERNET_PAUSE_TRANSMITTED,
	RNA_ETHERNET_PAUSE_RECEIVED_TIME,
	RNA_ETHERNET_PAUSE_TRANSMITTED_TIME,
	RNA_ETHERNET_PRIORITY_PAUSE_RECEIVED,
	RNA_ETHERNET_PRIORITY_PAUSE_TRANSMITTED,
	RNA_ETHERNET_PRIORITY_PAUSE_RECEIVED_TIME,
	RNA_ETHERNET_PRIORITY_PAUSE_TRANSMITTED_TIME,
	RNA_ETHERNET_PRIORITY_DISCARDS,
	RNA_ETHERNET_PRIORITY_BUFFER_DISCARDS,
	RNA_ETHERNET_PRIORITY_CONGESTION_DISCARDS,
	RNA_ETHERNET_PRIORITY_MARKED,
	RNA_ETHERNET_PAUSE_STORM_WARNINGS,
	RNA_ETHERNET_PAUSE_STORM_ERRORS,
	RNA_ETHERNET_PCIE_READ_STALLED,
	RNA_ETHERNET_PCIE_WRITE_STALLED,
	RNA_ETHERNET_PCIE_READ_STALLED_TIME,
	RNA_ETHERNET_PCIE_WRITE_STALLED_TIME,
	RNA_ETHERNET_PCIE_BUFFER_OVERFLOWS,
	RNA_ETHERNET_PCIE_RECEIVE_SIGNAL_ERRORS,
	RNA_ETHERNET_PCIE_TRANSMIT_SIGNAL_ERRORS,
	RNA_ETHERNET_MODULE_UNPLUGGED,
	RNA_ETHERNET_MODULE_BUS_STUCK,
	RNA_ETHERNET_MODULE_HIGH_TEMPERATURE,
	RNA_ETHERNET_MODULE_BAD_SHORTED,
	RNA_ETHERNET_STATISTIC_COUNT,
};

enum rna_ethernet_unit {
	RNA_ETHERNET_PLAIN,
	RNA_ETHERNET_BITS, /* exported as bytes */
	RNA_ETHERNET_MICROSECONDS,
	RNA_ETHERNET_MILLIONTHS, /* of 1: a ratio, and no counter */
};

struct rna_ethernet_statistic {
	/* name of its threshold; the metric is "rdma_port_" + name + unit + "_total" */
	const char *name;
	const char *help;  /* one sentence */
	const char *label; /* one value for each "priority" or "lane"; NULL: one for the port */
	enum rna_ethernet_unit unit;
	bool fec_lane; /* a breakdown of another statistic; exported with metrics.fec_lanes only */
};

extern const struct rna_ethernet_statistic rna_ethernet_statistics[RNA_ETHERNET_STATISTIC_COUNT];

struct rna_ethernet_count {
	enum rna_ethernet_statistic_id id;
	int number; /* of the priority or the lane; -1: of the port */
	struct rna_value value;
};

/* A driver statistic under its own name, selected by the setting ethernet.statistics. */
struct rna_ethernet_extra {
	const char *name;
	struct rna_value value;
};

/*
 * May the setting ethernet.statistics list name? It must be a possible name of "ethtool -S" and
 * must not be one that is already part of a statistic in the table.
 */
bool rna_ethernet_extra_is_valid(const char *name);

/* -- The part ---------------------------------------------------------------------------------- */

/*
 * Position of a wanted statistic in the driver's list. Cached by the collector, which reads the
 * names again when their number changes, and from time to time.
 */
struct rna_ethernet_pick {
	size_t index;
	/* RNA_ETHERNET_STATISTIC_COUNT: an extra one; number is its index in the setting */
	enum rna_ethernet_statistic_id id;
	int number;
	unsigned scale; /* factor for the driver's number */
};

struct rna_ethernet_picks {
	size_t listed;   /* number of statistics of the driver */
	rna_usec read;   /* monotonic time at which the names were read */
	uint64_t extras; /* hash of the setting's list */
	size_t count;
	const struct rna_ethernet_pick *items;
};

struct rna_ethernet_netdev {
	const char *name;
	unsigned ifindex;
	unsigned port; /* port of the device that it serves, by itself or as a member of a bond */
	struct rna_ethernet_link link;
	struct rna_ethernet_mode mode;
	struct rna_ethernet_fec fec;
	size_t bin_count;
	const struct rna_ethernet_fec_bin *bins; /* by low; they do not overlap. Linux 6.18 */
	struct rna_ethernet_pause pause;
	size_t count;
	const struct rna_ethernet_count *counts; /* by id and number, each once */
	size_t extra_count;
	const struct rna_ethernet_extra *extras; /* by name, each once */
	struct rna_ethernet_picks picks;
};

/*
 * The interfaces of a device. Empty for virtual and scalable functions, representors, and
 * InfiniBand whose IPoIB driver knows nothing of the port.
 */
struct rna_ethernet {
	struct rna_part part;
	size_t count;
	const struct rna_ethernet_netdev *netdevs; /* by port, then by name */
};

/* A sum over the interfaces, priorities and lanes of a port. */
struct rna_ethernet_sum {
	/* Absent: no summand. Unreadable: a summand is unreadable; a sum without it would fall. */
	struct rna_value value;
	/*
	 * Identifies the summands. If it changes, the difference of two sums is meaningless: for
	 * example, a bond got a member, or a member lost its link and reports no FEC statistics. 0:
	 * no summand.
	 */
	uint64_t summands;
};

struct rna_ethernet_sum rna_ethernet_sum(const struct rna_ethernet *ethernet, unsigned port,
					 enum rna_ethernet_statistic_id id);

/* Adds received frames of these priorities (bit n: priority n) that were dropped for any reason. */
void rna_ethernet_add_discards(const struct rna_ethernet_netdev *netdev, uint64_t priorities,
			       struct rna_ethernet_sum *sum);
