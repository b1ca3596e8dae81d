/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quiesce: while somebody changes drivers, the agent opens nothing of the RDMA stack and lets go of
 * what it has open; no port is tested. Files of /sys are read as before, for they pin no module.
 *
 * It is asked for by SIGUSR1 or the command quiesce, and ends by SIGUSR2, the command resume, or by
 * itself after quiesce.timeout; and it lasts while the Node says that its driver is being upgraded.
 * An agent that is started again in the midst of it goes on with it, as far as the memory tells;
 * the machine's next boot ends it.
 * Thread: the loop's.
 */
#pragma once

#include <stdbool.h>

#include "rna/base/cleanup.h"
#include "rna/base/error.h"
#include "rna/kubernetes.h"

#include "settings/settings.h"

typedef struct sd_event sd_event; /* <systemd/sd-event.h> */

struct rna_quiesce;
struct rna_memory; /* memory.h */

struct rna_quiesce_handlers {
	/* It has begun or ended: rna_quiesce_is_on() says which. */
	void (*changed)(void *userdata);
	/* What of the agent's has the stack still open, a device or a word for it; NULL: nothing.
	 */
	const char *(*holder)(void *userdata);
	void *userdata;
};

int rna_quiesce_new(sd_event *event, const struct rna_quiesce_handlers *handlers,
		    struct rna_quiesce **ret);
/* Who waits is told nothing. Accepts and returns NULL. */
struct rna_quiesce *rna_quiesce_free(struct rna_quiesce *quiesce);
RNA_DEFINE_CLEANUP(struct rna_quiesce, rna_quiesce_free)

/* What --timeout says; -EINVAL with error "--timeout: ...". */
int rna_quiesce_read_timeout(const char *text, rna_usec *ret, struct rna_error *error);

/* From now on for so long; asked again, the later end counts. */
void rna_quiesce_ask(struct rna_quiesce *quiesce, rna_usec timeout);

/*
 * Takes back what was asked for. What the Node says stays; what it said before it could no longer
 * be read does not.
 */
void rna_quiesce_resume(struct rna_quiesce *quiesce);

/*
 * What the Node says of a driver upgrade, by quiesce.node_label. While its client has not read it
 * yet, since the start or a reload, what it said last stays, for quiesce.timeout at most; NULL
 * node: nobody reads it, and it says nothing. Accepts NULL for quiesce.
 */
void rna_quiesce_follow_node(struct rna_quiesce *quiesce, const struct rna_settings *settings,
			     const struct rna_kubernetes_status *node);

/*
 * Into the memory, and from the memory of an earlier process, whose word for the Node lasts until
 * timeout is over or the Node is read. Accept NULL.
 */
void rna_quiesce_keep(const struct rna_quiesce *quiesce, struct rna_memory *memory);
void rna_quiesce_recall(struct rna_quiesce *quiesce, const struct rna_memory *memory,
			rna_usec timeout);

bool rna_quiesce_is_on(const struct rna_quiesce *quiesce); /* NULL: false */

/* Why, for a person: "until 12:00:00 UTC, as asked". NULL: it is off. */
const char *rna_quiesce_reason(const struct rna_quiesce *quiesce);

/*
 * Calls back once: when nothing is open any more, status 0, or with -ETIMEDOUT and what is still
 * in the way. 0 or negative errno: then it will not call.
 */
int rna_quiesce_wait(struct rna_quiesce *quiesce,
		     void (*done)(int status, const struct rna_error *error, void *userdata),
		     void *userdata);
/* Who waited has left. */
void rna_quiesce_forget(struct rna_quiesce *quiesce, const void *userdata);
