/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the list of members comes from: a file, which is read again when it changes; DNS, which is
 * asked again when its answer ends; or the EndpointSlices of a Service. A thread of its own looks,
 * because the network may take long, and hands over lists; a look that fails hands over the reason,
 * and the list before stays good. Thread: one at a time, which is not the loop's.
 */
#pragma once

#include <stdbool.h>

#include "rna/base/clock.h"
#include "rna/base/error.h"
#include "rna/base/worker.h"

#include "members.h"

enum rna_member_source_kind {
	RNA_MEMBERS_FILE,
	RNA_MEMBERS_DNS,
	RNA_MEMBERS_KUBERNETES,
	RNA_MEMBERS_KIND_COUNT,
};

/* "file", "dns", "kubernetes" */
const char *rna_member_source_kind_name(enum rna_member_source_kind kind);

struct rna_member_source_options {
	enum rna_member_source_kind kind;
	/* An absolute path; a place of dns.h; "NAMESPACE/SERVICE". "": there is no source. */
	const char *place;
	/* Kubernetes only; "" as in rna/kubernetes.h: */
	const char *kubeconfig, *server;
	rna_usec first_delay; /* maximum of a random delay before the first request */
};

struct rna_member_list {
	struct rna_work work;
	struct rna_arena *arena; /* owns this struct and all it points to */
	struct rna_members members;
	rna_usec looked;           /* realtime */
	char error[RNA_ERROR_MAX]; /* "": the look succeeded; else there are no members */
};

struct rna_member_list *rna_member_list_free(struct rna_member_list *list); /* and returns NULL */
RNA_DEFINE_CLEANUP(struct rna_member_list, rna_member_list_free)

/* Starts a worker that returns lists. Copies options. 0 or negative errno with error. */
int rna_member_source_start(const struct rna_member_source_options *options,
			    struct rna_worker **ret, struct rna_error *error);
/* The newest list, which the caller frees; NULL: none since the last call. */
struct rna_member_list *rna_member_source_take(struct rna_worker *worker);

/*
 * Looks once, without the delays that spread the requests of many agents, and waits for the answer
 * until then (monotonic; 0: a minute). NULL: there is no memory, or none came; the thread that
 * looks goes on alone (rna/base/thread.h).
 */
struct rna_member_list *rna_member_source_look(const struct rna_member_source_options *options,
					       rna_usec until);

/* Is text "NAMESPACE/SERVICE", or ""? */
bool rna_member_service_or_none_is_valid(const char *text);

/*
 * How long a list of Kubernetes is used: 0.3 seconds for each member, a minute at least, and a
 * fifth more or less by random. So the agents of a large fleet ask three times a second together,
 * however many they are. A watch instead would send each change of a slice, 30 KB with 100
 * endpoints, to every node: 300 MB for each pod that is replaced among 10,000.
 */
rna_usec rna_member_source_kubernetes_wait(size_t members, uint64_t random);

/*
 * How long an answer of DNS is used: as long as it is valid, but 30 seconds at least and 5 minutes
 * at most; a fifth more or less by random, so that many nodes do not ask at once.
 */
rna_usec rna_member_source_dns_wait(rna_usec ttl, uint64_t random);
