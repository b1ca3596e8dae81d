/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this node's Node object in Kubernetes shall say of its RDMA hardware, and how it gets there.
 *
 * Labels are decided by a pure function of the view (exporter/kubernetes/node_labels.c, one table);
 * whether a change has lasted long enough is agent/memory/node_memory.c's business. What comes out
 * is a *wish*: an immutable description of all that we own on the Node. A backend makes it true:
 * the API (exporter/kubernetes/client_thread.c, on a lane of its own, where it may wait as long as
 * it likes) or a file for node-feature-discovery (exporter/kubernetes/nfd.c). Sources: Kubernetes
 * API conventions (labels, conditions, events), server-side apply, node-feature-discovery's feature
 * files.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/base/arena.h"
#include "rna/base/clock.h"
#include "rna/base/error.h"
#include "rna/base/strbuf.h"
#include "rna/model/label.h"
#include "rna/model/node_status.h"
#include "rna/model/node_wish.h"

/* -- Labels ------------------------------------------------------------------------------------ */

struct rna_view;

/* How labels are called, and what they are decided by beside the view. */
struct rna_label_options {
	const char *roce_key; /* "network.nvidia.com/roce" */
	const char *roce_value;
	const char *prefix; /* of all others, with or without the slash behind it */
	/* VFs and SFs count as ports, which else only those do that come with the node */
	bool virtual_functions;
};

const char *rna_node_label_name(enum rna_node_label_id id); /* what stands behind the prefix */

/*
 * What view says of each label. Pure; values are legal. 0 or -ENOMEM.
 */
int rna_node_labels_decide(const struct rna_view *view, const struct rna_label_options *options,
			   struct rna_node_verdict ret[RNA_NODE_LABEL_COUNT]);

/* The key of a label, with options that were checked. */
void rna_node_label_key(enum rna_node_label_id id, const struct rna_label_options *options,
			char ret[RNA_LABEL_KEY_MAX + 1]);

/* The table of labels for the command describe. */
void rna_node_labels_describe(struct rna_strbuf *out);

/* -- Node-feature-discovery -------------------------------------------------------------------- */

/*
 * The labels of wish as a file for node-feature-discovery, which takes them off the Node when it
 * sees the file after expires (realtime). What is not decided yet is as before has it, which is
 * the text of an older file, or NULL.
 */
void rna_nfd_write_features(const struct rna_node_wish *wish, rna_usec expires, const char *before,
			    struct rna_strbuf *out);

/*
 * Puts that file into directory, or takes it away; node-feature-discovery sees all of it or
 * nothing. These wait for the disk: never call them in the loop. 0 (also when there is nothing to
 * take away), or negative errno with error. Thread: any.
 */
int rna_nfd_put_file(const char *directory, const struct rna_node_wish *wish, rna_usec expires,
		     struct rna_error *error);
int rna_nfd_remove_file(const char *directory, struct rna_error *error);

/* -- The API server ---------------------------------------------------------------------------- */

/* The name of our Node: given, else $NODE_NAME. NULL: neither says it. */
const char *rna_kubernetes_node_name(const char *given);

/*
 * What the client has to know. Strings are copied; NULL is as good as "". Files are read anew for
 * every round of requests, so that a new token, certificate or CA is never missed.
 */
struct rna_kubernetes_options {
	const char *node;            /* name of our Node; NULL: $NODE_NAME */
	const char *kubeconfig;      /* NULL: the pod's service account */
	const char *service_account; /* its directory; NULL: where kubelet puts it */
	const char *server; /* "https://10.0.0.1:6443", instead of what these say; NULL: as these */
	const char *taint_key;        /* of our taint, "rdma-node-agent/rdma-down" */
	const char *taint_effect;     /* "NoSchedule" */
	const char *const *resources; /* globs of resources that are read; NULL-ended, or NULL */
	/*
	 * Globs of labels that are nobody else's: "rdma-node-agent" with a slash and a star, and
	 * single keys; NULL-ended. What a Node has of them and the wish has not, is taken away,
	 * whoever wrote it. NULL: only what we wrote.
	 */
	const char *const *label_keys;
	/* Taints that an agent with other settings may have left; NULL-ended, or NULL: none. */
	const char *const *former_taints;
	/* all that we may own; NULL-ended. NULL: conditions are not touched */
	const char *const *condition_types;
	rna_usec first_delay; /* the first write comes within this, at random */
	rna_usec spread;      /* and later ones so long after what they tell */
	rna_usec resync;      /* all is applied again after this, +- half; 0: never */
	rna_usec look;        /* the Node is read and compared after this, +- half; 0: never */
	rna_usec heartbeat;   /* conditions are sent again after this; 0: only on change */
};

/* What they are where nothing is configured. */
#define RNA_KUBERNETES_FIRST_DELAY (30 * RNA_USEC_PER_SEC)
#define RNA_KUBERNETES_SPREAD      (120 * RNA_USEC_PER_SEC)
#define RNA_KUBERNETES_RESYNC      (12 * 3600 * RNA_USEC_PER_SEC)
#define RNA_KUBERNETES_LOOK        (30 * 60 * RNA_USEC_PER_SEC)
#define RNA_KUBERNETES_HEARTBEAT   (30 * 60 * RNA_USEC_PER_SEC)

/* How it goes with the API. Made by the lane, never changed; whoever took it frees it. */
struct rna_kubernetes_status {
	struct rna_time time; /* when this was written */
	bool in_step;         /* the Node says what the newest wish wants */
	bool former_gone; /* and nothing more that it does not, of label_keys and former_taints */
	struct rna_time written; /* the last write that was taken; 0: none yet */
	const char *problem;     /* NULL: none; else a sentence that says what to do */
	struct rna_time problem_since;
	uint64_t requests[RNA_KUBERNETES_RESULT_COUNT];
	uint64_t events_sent;
	uint64_t events_dropped; /* by the limits, or too old when there was an API again */
	struct rna_time looked;  /* when the Node was read; 0: not yet */
	size_t resource_count;   /* that the globs match */
	const struct rna_kubernetes_resource *resources; /* by name */
	size_t label_count;
	const struct rna_node_label *labels; /* that the Node had then, whoever gave them */
	struct rna_arena *arena;             /* owns this struct and all it points to */
};

/* Had the Node that label, "KEY" or "KEY=VALUE"? false also while it was not read. NULL: false. */
bool rna_kubernetes_has_label(const struct rna_kubernetes_status *status, const char *label);

struct rna_kubernetes_status *rna_kubernetes_status_free(struct rna_kubernetes_status *status);
RNA_DEFINE_CLEANUP(struct rna_kubernetes_status, rna_kubernetes_status_free)

/*
 * The client: a lane of its own, which may wait as long as it likes. Nothing below waits for it,
 * but for stop. Thread of the callers: the loop's.
 */
struct rna_kubernetes;

/*
 * 0, or negative errno with error: -EINVAL where the name of the Node is not known. All that can
 * get better without a new configuration (no token yet, no API server) is the status's problem.
 */
int rna_kubernetes_start(const struct rna_kubernetes_options *options, struct rna_kubernetes **ret,
			 struct rna_error *error);
/* Readable when there is a new status; for epoll. It stays the client's. */
int rna_kubernetes_fd(const struct rna_kubernetes *client);
/* The newest status since the last call, the caller's now; NULL when there is none. */
struct rna_kubernetes_status *rna_kubernetes_take_status(struct rna_kubernetes *client);
/* From now on the Node shall be as wish says. It is copied, its events are queued. 0 or -ENOMEM. */
int rna_kubernetes_want(struct rna_kubernetes *client, const struct rna_node_wish *wish);
/* Accepts NULL. false: the lane is stuck and still uses client; then leave the process. */
bool rna_kubernetes_stop(struct rna_kubernetes *client, rna_usec patience);

/*
 * For commands, which have no lane and wait: makes the Node as wish says, at once (events are left
 * out), or takes away all that we own. 0, or negative errno with error.
 */
int rna_kubernetes_apply(const struct rna_kubernetes_options *options,
			 const struct rna_node_wish *wish, struct rna_error *error);
int rna_kubernetes_cleanup(const struct rna_kubernetes_options *options, struct rna_error *error);

/* What would be sent: each request line, and its body below. Needs no API and no node name. */
void rna_kubernetes_write_requests(const struct rna_kubernetes_options *options,
				   const struct rna_node_wish *wish, struct rna_strbuf *out);

/* The wish as a Node in YAML, for people; times and events are left out. */
void rna_node_wish_write(const struct rna_node_wish *wish,
			 const struct rna_kubernetes_options *options, struct rna_strbuf *out);
