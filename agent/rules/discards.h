/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames that were dropped of priorities that PFC should make lossless. Each member of a bond has
 * PFC of its own, so each is counted by its own priorities, and followed by itself as well: to tell
 * which one it is.
 * Thread: the loop's.
 */
#pragma once

#include "rules.h"
#include "thresholds.h"

struct rna_discards {
	size_t count; /* members of the bond; 0: the port has one interface */
	struct rna_discards_member {
		unsigned ifindex;
		struct rna_window window;
	} * members;
};

void rna_discards_deinit(struct rna_discards *discards); /* idempotent */

/* Over all interfaces of a port. */
struct rna_ethernet_sum rna_discards_sum(const struct rna_subject *port);

/* Takes what the members of a port's bond show now; 0 or -ENOMEM, then with those of before. */
int rna_discards_follow(struct rna_discards *discards, const struct rna_subject *port,
			const struct rna_threshold *threshold, rna_usec now);

/* What rises now is not what rose before: the driver came anew. */
void rna_discards_begin_anew(struct rna_discards *discards);

/* "12 on eth1, 3 on eth0"; nothing where none rose. */
void rna_discards_write(const struct rna_discards *discards, const struct rna_subject *port,
			struct rna_strbuf *out);
