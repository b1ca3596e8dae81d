/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transitions of ports: how they are found. Changes of all kinds: their history.
 * Thread: the loop's. Nothing here reads a clock.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/base/error.h"
#include "rna/base/strbuf.h"
#include "rna/model/change.h"
#include "rna/model/value.h"

/* -- Of one port ------------------------------------------------------------------------------- */

/*
 * What several sources show of the ups and downs of one port, merged so that each is counted once.
 * See history.c for how.
 */

/* Counters of the downs of a port, beside its state. To add one: a row here. */
enum rna_down_counter_id {
	RNA_DOWN_COUNTER_CARRIER, /* the network interface's losses of carrier */
	RNA_DOWN_COUNTER_LINK,    /* the port's own link_downed */
	RNA_DOWN_COUNTER_DRIVER,  /* losses of the link that the driver of the interface counts */
	RNA_DOWN_COUNTER_COUNT,
};

/* When something was read: the truth of some moment in between. */
struct rna_span_of_time {
	rna_usec started; /* monotonic */
	struct rna_time taken;
};

/* A counter, as it was read last. */
struct rna_down_reading {
	struct rna_value downs; /* since any time; not known: there is no such counter */
	uint64_t of;            /* what is counting: of another one the number cannot be compared */
	struct rna_span_of_time when;
};

/* All that is known of a port at one moment. */
struct rna_port_reading {
	bool present;        /* is its device there? if not, only when and source mean something */
	uint64_t generation; /* of the device's registration */
	struct rna_value up; /* 1, 0, or not known */
	struct rna_span_of_time when; /* of up */
	enum rna_source source;       /* of up */
	struct rna_down_reading counters[RNA_DOWN_COUNTER_COUNT];
};

/* What is remembered of a counter. Private. */
struct rna_down_counter {
	bool based;
	uint64_t of;
	uint64_t base;        /* its number when it was compared last */
	uint64_t unaccounted; /* downs counted since then */
	bool waiting;         /* newest was not compared yet */
	uint64_t newest;
	struct rna_span_of_time when; /* of newest */
};

/* What is remembered of a port. Zeroed: nothing. Readable: history, up and since. */
struct rna_port_track {
	struct rna_port_history history;
	bool known; /* was its state ever known? */
	bool up;
	bool gone;
	uint64_t generation;
	rna_usec looked;    /* monotonic; when up was read last */
	rna_usec since;     /* monotonic; when up was first seen as it is */
	rna_usec last_down; /* monotonic; when a down was last seen or counted */
	struct rna_down_counter counters[RNA_DOWN_COUNTER_COUNT];
};

/* How a transition was noticed. */
enum rna_sighting {
	RNA_SIGHTING_STATE,      /* its state changed */
	RNA_SIGHTING_COUNTED,    /* a counter counted more downs than were seen */
	RNA_SIGHTING_REMOVED,    /* its device went */
	RNA_SIGHTING_REGISTERED, /* its device was registered again, and its removal was not seen */
};

struct rna_port_transition {
	bool up;
	uint64_t count;
	enum rna_source source;
	enum rna_sighting sighting;
	enum rna_down_counter_id counter; /* the counter that showed it */
	struct rna_time time;
};

/* A re-registration, a pair of each counter, and a change. */
enum { RNA_PORT_TRANSITIONS_MAX = 2 + 2 * RNA_DOWN_COUNTER_COUNT };

/* Returns how many transitions the port has made since the last call, in their order. */
size_t rna_port_track_follow(struct rna_port_track *track, const struct rna_port_reading *reading,
			     struct rna_port_transition transitions[RNA_PORT_TRANSITIONS_MAX]);

/* -- The history ------------------------------------------------------------------------------- */

/*
 * Changes of one kind. The newest are in memory, and those that are not on the disk yet; on the
 * disk are a thousand and more, also of earlier processes, in two files of lines of JSON: lines are
 * appended to the newer one, and when it is full it replaces the older one. A line that is damaged,
 * as the last one is after a loss of power, costs only itself. Each kind has files and memory of
 * its own: however many findings come and go, the transitions of ports stay.
 */
struct rna_history_place {
	const char *file, *old; /* the newer and the older one */
	size_t waiting;         /* that wait for the disk at most; then the oldest are lost */
};
extern const struct rna_history_place rna_history_places[RNA_CHANGE_KIND_COUNT];

enum { RNA_HISTORY_FULL = 1024 }; /* lines of a file; the older one has as many at least */

extern const char rna_history_header[]; /* the first line of a file */

struct rna_history {
	size_t room;             /* for so many; 0: RNA_CHANGES_SHOWN. Set it before the first */
	bool all;                /* what is on the disk is kept in memory as well */
	uint64_t sequence;       /* of the newest */
	size_t count;            /* RNA_CHANGES_SHOWN are kept at least */
	size_t first;            /* index of the oldest in ring */
	struct rna_change *ring; /* NULL: none yet; owns strings */
	bool changed;            /* there are some that are not on the disk */
	uint64_t written;        /* the newest that is */
	uint64_t writing;        /* while it is written: the newest then, */
	size_t adds;             /* and the lines */
	size_t lines;            /* of the newer file */
	bool turns;              /* it is full: what is being written begins another one */
};

void rna_history_deinit(struct rna_history *history); /* idempotent */

/*
 * Adds a copy of change, over the oldest one if there is no room; texts are cut to what is kept.
 * Its number is that of the newest and one; a greater number of its own stays. False: no memory.
 */
bool rna_history_add(struct rna_history *history, const struct rna_change *change);

/* From 0, the oldest. */
const struct rna_change *rna_history_at(const struct rna_history *history, size_t index);

/* As lines: those that are not on the disk yet. */
void rna_history_write(struct rna_history *history, struct rna_strbuf *out);
/* They are there now, or not: then they wait. */
void rna_history_written(struct rna_history *history, bool there);

/*
 * Adds what is in a file, the older one first. -EBADMSG: it is none; -EOPNOTSUPP: a newer version
 * wrote it; else -ENOMEM. In the first two cases with history as it was, in all with error.
 */
int rna_history_read(struct rna_history *history, const char *text, size_t len,
		     struct rna_error *error);

/* -- Of all kinds, RNA_CHANGE_KIND_COUNT histories --------------------------------------------- */

/* Adds it to those of its kind; its number is that of the newest of all and one. */
bool rna_histories_add(struct rna_history *histories, const struct rna_change *change);

/*
 * The oldest change by number that next, an index for each kind, has not passed; it is passed then.
 * NULL: there is no more.
 */
const struct rna_change *rna_histories_next(const struct rna_history *histories, size_t *next);
