/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request to the API and what became of it: who we are, how long we wait, what an answer means
 * and what a person should do about it.
 */
#pragma once

#include "rna/https.h"

#include "access.h"

struct rna_kube_api {
	const struct rna_kubernetes_options *options;
	const char *node;          /* a name that is fit for a path */
	const atomic_bool *cancel; /* NULL: never */
	bool merge; /* it knows no server-side apply (415); then none is tried any more */
	const char *rules_version; /* of the API for taints of devices; NULL: not known yet */
	uint64_t requests[RNA_KUBERNETES_RESULT_COUNT];
	/* of the connection, NULL between rounds */
	struct rna_arena *arena;
	struct rna_kube_access access;
	struct rna_https *https;
};

struct rna_kube_request {
	const char *method;
	const char *path;
	const char *type;   /* of body */
	const char *body;   /* NULL: none */
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
