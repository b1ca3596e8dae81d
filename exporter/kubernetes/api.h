/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to the API and what became of them: who we are, how long we wait, what an answer means
 * and what a person should do about it; and the requests on our Node and its Events: their paths,
 * what kind of patch each is, and in whose name it is made. What the bodies say is the callers'
 * business; one that has failed for want of memory is not sent.
 */
#pragma once

#include "rna/https.h"

#include "access.h"
#include "objects.h"

enum { RNA_KUBE_NOT_FOUND = 404, RNA_KUBE_CONFLICT = 409 };

struct rna_kube_api {
	const struct rna_kubernetes_options *options;
	const char *node;          /* a name that is fit for a path */
	const atomic_bool *cancel; /* NULL: never */
	const char *rules_version; /* of the API for taints of devices; NULL: not known yet */
	uint64_t requests[RNA_KUBERNETES_RESULT_COUNT];
	/* of the connection, NULL between rounds */
	struct rna_arena *arena;
	struct rna_kube_access access;
	struct rna_https *https;
};

struct rna_kube_request {
	const char *method;
	const struct rna_strbuf *path;
	const char *type;              /* of body */
	const struct rna_strbuf *body; /* NULL: none */
	bool metadata;      /* is all that is wanted of the answer, an object or a list */
	bool list;          /* the answer is one, which is large, and read in pieces */
	const char *advice; /* after a 403 or 404; NULL: about the Node */
};

struct rna_kube_answer {
	enum rna_kubernetes_result result;
	struct rna_https_reply reply;
	struct rna_error error; /* where result is not RNA_KUBERNETES_OK: what to tell people */
};

#define RNA_KUBE_ANSWER_INIT ((struct rna_kube_answer){0})

static inline void rna_kube_answer_deinit(struct rna_kube_answer *answer)
{
	rna_https_reply_deinit(&answer->reply);
}
#define RNA_KUBE_ANSWER RNA_CLEANUP(rna_kube_answer_deinit)

/* Asks, and fills answer. Connects where there is no connection. Returns its result. */
enum rna_kubernetes_result rna_kube_call(struct rna_kube_api *api,
					 const struct rna_kube_request *request,
					 struct rna_kube_answer *answer);

/* Ends the connection: thousands of idle ones would cost the server more than a handshake does. */
void rna_kube_disconnect(struct rna_kube_api *api);

/* Is it only this that is refused, or is there no talking to the API? */
static inline bool rna_kube_is_refusal(enum rna_kubernetes_result result)
{
	return result == RNA_KUBERNETES_FORBIDDEN || result == RNA_KUBERNETES_REFUSED;
}

/* Its JSON. NULL: no memory, for what is no JSON was no answer (rna_kube_call()). */
json_t *rna_kube_parse(const struct rna_kube_answer *answer);

/* Makes no memory the answer. */
enum rna_kubernetes_result rna_kube_fail_memory(struct rna_kube_answer *answer);

/* -- The Node and its Events ------------------------------------------------------------------- */

/* The Node that was answered, in place of what ret has; what is none is as bad as no answer. */
enum rna_kubernetes_result rna_kube_answered_node(struct rna_kube_api *api,
						  struct rna_kube_answer *answer,
						  struct rna_kube_node *ret);

/* Reads the Node, or only its metadata. query: "", or what goes behind the path. */
enum rna_kubernetes_result rna_kube_fetch_node(struct rna_kube_api *api, const char *query,
					       bool metadata, struct rna_kube_answer *answer,
					       struct rna_kube_node *ret);

/* Labels and conditions by server-side apply; an Event that is new, or there already. */
enum rna_kube_write {
	RNA_KUBE_APPLY_LABELS,
	RNA_KUBE_MERGE_NODE,
	RNA_KUBE_APPLY_CONDITIONS,
	RNA_KUBE_REMOVE_CONDITIONS,
	RNA_KUBE_POST_EVENT,
	RNA_KUBE_MERGE_EVENT,
	RNA_KUBE_WRITE_COUNT,
};

/* event: its name, for RNA_KUBE_POST_EVENT and RNA_KUBE_MERGE_EVENT; else NULL. */
enum rna_kubernetes_result rna_kube_send(struct rna_kube_api *api, enum rna_kube_write what,
					 const char *event, const struct rna_strbuf *body,
					 struct rna_kube_answer *answer);
