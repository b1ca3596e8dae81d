/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was published on the Node, and when that changes. Good news has to be stable for a
 * while, bad news has to be confirmed, and what cannot be read changes nothing for a long time:
 * a scheduler that acts upon a label should not have to act twice.
 *
 * Labels, conditions and the taint are all followed in the same way, each under its name. Published
 * values outlive the process (memory_file.c), so that a restart removes nothing.
 * Thread: the loop's.
 */
#pragma once

#include "rna/model/desired_node.h"
#include "rna/model/label.h"

struct rna_node_delays {
	rna_usec up;      /* good news, and news that are neither: so long without another change */
	rna_usec down;    /* bad news: so long without anything better */
	rna_usec unknown; /* published as unknown after this time without a reading; or
			     RNA_USEC_NEVER */
	bool settling;    /* links are still coming up: bad news does not count yet */
};

struct rna_published {
	char *name; /* "roce", "RdmaPortDown" */
	/* Was anything published yet? Until then the Node shows what an earlier agent published. */
	bool decided;
	struct rna_node_verdict verdict; /* as published; UNKNOWN: that it is not known */
	char *message;                   /* that goes with it, or NULL */
	rna_usec since;                  /* realtime since when it has been this verdict */
	/* Not kept: */
	bool confirmed; /* this process has seen it, too: it is not a former one's alone */
	rna_usec blind; /* monotonic; since when it cannot be read; 0: it can */
	bool waits;     /* there is news: */
	bool worse;     /* bad ones */
	struct rna_node_verdict next;
	char *next_message;
	rna_usec from; /* monotonic; since when there are */
};

/* Names under which something was published on the Node (node_options.h). */
struct rna_node_name {
	bool taint; /* else a label */
	char *key;
};

struct rna_node_memory {
	size_t count;
	struct rna_published *items; /* in the order in which they were first seen */
	size_t name_count;
	struct rna_node_name *names;
};

void rna_node_memory_deinit(struct rna_node_memory *memory); /* idempotent */

/*
 * What was published under name, created if new. NULL: no memory. Pointers to others are void then.
 */
struct rna_published *rna_published_find(struct rna_node_memory *memory, const char *name);

/* Remembers a name, once. False: no memory. */
bool rna_node_name_note(struct rna_node_memory *memory, bool taint, const char *key);

/*
 * Takes what one look shows, with the message that goes with it (NULL: none). True: it is published
 * something else now. Without memory for the message the next look tries again.
 */
bool rna_published_follow(struct rna_published *published, const struct rna_node_verdict *seen,
			  const char *message, const struct rna_node_delays *delays,
			  struct rna_time now);

/* Nothing is known about it now, and that is no news either: nothing becomes due. */
void rna_published_suspend(struct rna_published *published);

/*
 * It is no longer published, and was removed from the Node: what comes next is the first. True: it
 * was published until now.
 */
bool rna_published_forget(struct rna_node_memory *memory, const char *name);

/* When following it again could make a difference though nothing has changed; monotonic. */
rna_usec rna_published_due(const struct rna_published *published,
			   const struct rna_node_delays *delays);
