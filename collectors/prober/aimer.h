/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The aimer makes aims in a thread: the kernel may have to ask for a neighbour's address first, for
 * seconds, and the probes of other peers do not wait for that. Thread: the child's loop.
 */
#pragma once

#include "rna/base/worker.h"

#include "probe_port.h"

struct rna_aim_job {
	struct rna_work work;
	/* Set by who starts it: */
	struct rna_probe_verbs *verbs; /* stays open until the job is back */
	struct rna_aim_request request;
	uint32_t port_id;
	uint32_t target_id; /* 0: of a visitor */
	uint64_t visitor;   /* its session */
	uint32_t visitor_target;
	uint8_t source_class;
	/* Set when it is back: */
	struct rna_aim *aim; /* NULL: see status */
	int status;          /* 0 or negative errno */
};

/* Starts a worker that makes aims. 0 or negative errno. */
int rna_aimer_start(struct rna_worker **ret);

/* Takes over job. 0; -EAGAIN: too many are waiting; the job stays the caller's. */
int rna_aimer_put(struct rna_worker *aimer, struct rna_aim_job *job);

/* A job that is done, the caller's again; NULL: none is now. */
struct rna_aim_job *rna_aimer_take(struct rna_worker *aimer);
