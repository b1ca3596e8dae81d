/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transitions of one port: what several sources show of its ups and downs, merged so that each is
 * counted once. See transitions.c for how.
 * Thread: the loop's. Nothing here reads a clock.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/model/transition.h"
#include "rna/model/value.h"

/* Counters of the downs of a port, beside its state. To add one: a row here. */
enum rna_teller_id {
	RNA_TELLER_CARRIER, /* the network interface's losses of carrier */
	RNA_TELLER_LINK,    /* the port's own link_downed */
	RNA_TELLER_DRIVER,  /* losses of the link that the driver of the interface counts */
	RNA_TELLER_COUNT,
};

/* When something was read: the truth of some moment in between. */
struct rna_span_of_time {
	rna_usec started; /* monotonic */
	struct rna_time taken;
};

/* A teller, as it was read last. */
struct rna_telling {
	struct rna_value downs; /* since any time; not known: there is no such teller */
	uint64_t of;            /* what is counting: of another one the number cannot be compared */
	struct rna_span_of_time when;
};

/* All that is known of a port at one moment. */
struct rna_look {
	bool present;        /* is its device there? if not, only when and source mean something */
	uint64_t generation; /* of the device's registration */
	struct rna_value up; /* 1, 0, or not known */
	struct rna_span_of_time when; /* of up */
	enum rna_source source;       /* of up */
	struct rna_telling tellings[RNA_TELLER_COUNT];
};

/* What is remembered of a teller. Private. */
struct rna_teller {
	bool based;
	uint64_t of;
	uint64_t base;        /* its number when it was compared last */
	uint64_t unaccounted; /* downs counted since then */
	bool waiting;         /* newest was not compared yet */
	uint64_t newest;
	struct rna_span_of_time when; /* of newest */
};

/* What is remembered of a port. Zeroed: nothing. Readable: history, up and since. */
struct rna_track {
	struct rna_port_history history;
	bool known; /* was its state ever known? */
	bool up;
	bool gone;
	uint64_t generation;
	rna_usec looked;    /* monotonic; when up was read last */
	rna_usec since;     /* monotonic; when up was first seen as it is */
	rna_usec last_down; /* monotonic; when a down was last seen or counted */
	struct rna_teller tellers[RNA_TELLER_COUNT];
};

enum rna_cause {
	RNA_CAUSE_STATE,      /* its state changed */
	RNA_CAUSE_TOLD,       /* a teller counted more downs than were seen */
	RNA_CAUSE_REMOVED,    /* its device went */
	RNA_CAUSE_REGISTERED, /* its device was registered again, and its removal was not seen */
};

struct rna_step {
	bool up;
	uint64_t count;
	enum rna_source source;
	enum rna_cause cause;
	enum rna_teller_id teller; /* the counter that showed it */
	struct rna_time time;
};

/* A re-registration, a pair of each teller, and a change. */
enum { RNA_STEPS_MAX = 2 + 2 * RNA_TELLER_COUNT };

/* Returns how many steps the port has made since the last call, in their order. */
size_t rna_track_follow(struct rna_track *track, const struct rna_look *look,
			struct rna_step steps[RNA_STEPS_MAX]);
