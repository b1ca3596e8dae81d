/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Link speeds: the text of the sysfs file rate, and the codes of verbs. Source: Linux
 * drivers/infiniband/core/sysfs.c rate_show(); enum ib_port_speed and ib_port_width in
 * include/rdma/ib_verbs.h.
 */
#pragma once

#include <stdint.h>

struct rna_speed {
	unsigned code;       /* enum ib_port_speed: powers of two, in ascending order of speed */
	const char *name;    /* "HDR" */
	uint64_t lane_bytes; /* nominal bytes per second and lane, as in sysfs */
};

struct rna_link_rate {
	uint64_t bytes;                /* per second, as printed */
	unsigned lanes;                /* 1, 2, 4, 8, 12 */
	const struct rna_speed *speed; /* NULL: none in the text, or unknown */
};

/* NULL: unknown code. */
const struct rna_speed *rna_speed_from_code(uint64_t code);
const struct rna_speed *rna_speed_from_name(const char *name);

/* Lanes of an active_width code (the codes are not ordered: 16 is 2X); 0: unknown. */
unsigned rna_lanes_from_code(uint64_t code);

/* Parses "200 Gb/sec (4X HDR)". 0, or -EBADMSG for any other text. */
int rna_rate_parse(const char *text, struct rna_link_rate *ret);
