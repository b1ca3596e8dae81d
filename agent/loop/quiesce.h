/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quiesce: while drivers are being changed, the agent opens nothing of the RDMA stack and closes
 * what it has open; no port is tested. Files of /sys are read as before, because they pin no
 * module.
 *
 * It begins with SIGUSR1 or the command quiesce, and ends with SIGUSR2, the command resume, or
 * after quiesce.timeout. It also lasts while a label of the Node shows that its driver is being
 * upgraded. It survives a restart of the agent, by the memory, but not a boot of the machine.
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
/* Does not call waiters back. Accepts and returns NULL. */
struct rna_quiesce *rna_quiesce_free(struct rna_quiesce *quiesce);
RNA_DEFINE_CLEANUP(struct rna_quiesce, rna_quiesce_free)

/* What --timeout says; -EINVAL with error "--timeout: ...". */
int rna_quiesce_read_timeout(const char *text, rna_usec *ret, struct rna_error *error);

/* Quiesces for timeout from now on. If it is on already, the later end counts. */
void rna_quiesce_ask(struct rna_quiesce *quiesce, rna_usec timeout);

/*
 * Ends what was requested. The label of the Node stays in force, unless the Node can no longer be
 * read.
 */
void rna_quiesce_resume(struct rna_quiesce *quiesce);

/*
 * Follows the label quiesce.node_label of the Node. While the client has not read the Node yet,
 * since the start or a reload, the last known label stays, for quiesce.timeout at most. NULL node:
 * the Node is not read, so it has no label. quiesce may be NULL.
 */
void rna_quiesce_follow_node(struct rna_quiesce *quiesce, const struct rna_settings *settings,
			     const struct rna_kubernetes_status *node);

/*
 * Into the memory, and from the memory of an earlier process. A label of the Node that comes from
 * there stays until timeout is over or the Node is read. Both accept NULL.
 */
void rna_quiesce_keep(const struct rna_quiesce *quiesce, struct rna_memory *memory);
void rna_quiesce_recall(struct rna_quiesce *quiesce, const struct rna_memory *memory,
			rna_usec timeout);

bool rna_quiesce_is_on(const struct rna_quiesce *quiesce); /* NULL: false */

/* The reason, as text: "until 12:00:00 UTC, as asked". NULL: it is off. */
const char *rna_quiesce_reason(const struct rna_quiesce *quiesce);

/*
 * Calls back once: when nothing is open any more, status 0, or with -ETIMEDOUT and what is still
 * in the way. 0 or negative errno: then it will not call.
 */
int rna_quiesce_wait(struct rna_quiesce *quiesce,
		     void (*done)(int status, const struct rna_error *error, void *userdata),
		     void *userdata);
/* Drops the waiter with that userdata. */
void rna_quiesce_forget(struct rna_quiesce *quiesce, const void *userdata);
