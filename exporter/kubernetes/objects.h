/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What we say to the API of Kubernetes and what it answers, as JSON. No other file of the client
 * knows how that looks.
 */
#pragma once

#include <stdbool.h>

#include "rna/base/arena.h"
#include "rna/base/json_document.h"
#include "rna/base/strbuf.h"
#include "rna/kubernetes.h"

/* An Event as we have it: several of the same are one with a count. */
struct rna_kube_event {
	unsigned number; /* its name: NODE.rdma-NUMBER */
	bool warning;
	char *reason;
	char *message;
	uint64_t count;
	rna_usec first, last; /* realtime */
	rna_usec sent;        /* monotonic; 0: never */
	bool waiting;         /* to be sent */
};

/* A Node, as far as we care. */
struct rna_kube_node {
	struct rna_arena *arena; /* owns what is below */
	const char *uid;
	size_t label_count;
	const struct rna_node_label *labels;
	const char *left_label; /* shared_label of options, where another client has it; or NULL */
	const char *left_to;    /* the name of that client */
	size_t condition_count;
	const struct rna_node_condition *conditions; /* without times; type NULL is no condition */
	bool ignored;                                /* it has RNA_KUBERNETES_IGNORE */
	bool tainted;                                /* by us */
	bool tainted_so;                             /* with the effect of options */
	bool tainted_formerly;                       /* by us, with a key that we do not use */
	size_t resource_count;
	const struct rna_kubernetes_resource *resources; /* by name, those of options */
};

static inline void rna_kube_node_deinit(struct rna_kube_node *node)
{
	(void)rna_arena_free(node->arena);
	*node = (struct rna_kube_node){0};
}
#define RNA_KUBE_NODE RNA_CLEANUP(rna_kube_node_deinit)

/* -- Bodies ------------------------------------------------------------------------------------ */

/*
 * What desired says, and what node has where desired is not decided. node: of that name, as it was
 * read; nothing is known of it when it is {0}.
 */
struct rna_kube_words {
	const char *name;
	const struct rna_desired_node *desired;
	const struct rna_kube_node *node;
	rna_usec now; /* realtime, for heartbeats; 0 leaves them out */
};

/* Server-side apply: what is left out is taken away. */
void rna_kube_write_labels(const struct rna_kube_words *words, struct rna_strbuf *out);
void rna_kube_write_conditions(const struct rna_kube_words *words, struct rna_strbuf *out);

/*
 * Merge patch: what is to go is named, which are labels of node that only we may have and desired
 * has not. How many there are.
 */
size_t rna_kube_write_label_removal(const struct rna_kubernetes_options *options,
				    const struct rna_kube_words *words, struct rna_strbuf *out);
/* Strategic merge patch; types: of all conditions that we may own. */
void rna_kube_write_condition_removal(const char *const *types, struct rna_strbuf *out);

/*
 * Is it a label that only we may have, and desired has not? Then another client wrote it. The
 * shared label is such a one where no other client has it on node.
 */
bool rna_kube_is_strange_label(const struct rna_kubernetes_options *options,
			       const struct rna_desired_node *desired,
			       const struct rna_kube_node *node, const char *key);
/* NULL: desired has none of that key. */
const struct rna_node_label *rna_kube_desired_label(const struct rna_desired_node *desired,
						    const char *key);

/*
 * The list of taints is one value to the API: a merge patch has all of it, and the version of the
 * Node that it was made of. reply: that Node.
 */
int rna_kube_write_taints(const struct rna_kubernetes_options *options, bool taint,
			  const struct rna_strbuf *reply, struct rna_strbuf *out);

/* New, or as a merge patch of one of that name. */
void rna_kube_write_event(const char *node, const char *uid, const char *name,
			  const struct rna_kube_event *event, struct rna_strbuf *out);

/* -- Replies ----------------------------------------------------------------------------------- */

extern const struct rna_json_limits rna_kube_reply_limits;

/*
 * Is it within the limits of memory and levels? 0, or -EBADMSG with the limit in the error. The
 * functions below read no other replies.
 */
int rna_kube_check_reply(const struct rna_strbuf *reply, struct rna_error *error);

/*
 * A whole Node or only its metadata, in place of what ret has; to be deinitialized also after an
 * error. 0, -EBADMSG or -ENOMEM.
 */
int rna_kube_read_node(const struct rna_strbuf *reply, const struct rna_kubernetes_options *options,
		       struct rna_kube_node *ret);

/*
 * Adds the names of the objects in a list to names, each with a newline; place: where the list goes
 * on, "" at its end. 0, -EBADMSG or -ENOMEM.
 */
int rna_kube_read_names(const struct rna_strbuf *reply, struct rna_strbuf *names,
			struct rna_strbuf *place);

/* The value of one of its labels, one of its conditions; NULL: it has none of that name. */
const char *rna_kube_label_of(const struct rna_kube_node *node, const char *key);
const struct rna_node_condition *rna_kube_condition_of(const struct rna_kube_node *node,
						       const char *type);

/*
 * Who else wrote that of a Node, by its managedFields: " (written by kubectl-label)"; nothing, if
 * it does not say. kind: "label", "condition" or "taint".
 */
void rna_kube_write_manager(const struct rna_strbuf *reply, const char *kind, const char *name,
			    struct rna_strbuf *out);

/* What a reply says for itself: the message of a Status, else its first line, cut short. */
void rna_kube_read_message(const struct rna_strbuf *reply, struct rna_strbuf *out);
