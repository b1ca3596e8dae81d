/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A view: a snapshot, and what the agent knows about itself at that moment. Exporters turn a view
 * into bytes and need nothing else. The stages of agent/loop/publish.c make it; from then on it is
 * const for everybody. References are counted by the loop.
 */
#pragma once

#include <stdbool.h>

#include "rna/base/histogram.h"
#include "rna/model/expectation.h"
#include "rna/model/finding.h"
#include "rna/model/node_status.h"
#include "rna/model/selftest.h"
#include "rna/model/snapshot.h"
#include "rna/model/topology.h"
#include "rna/model/transition.h"
#include "rna/model/web_status.h"

/* One (collector, device) pair, as the schedule saw it last. */
struct rna_job_status {
	enum rna_collector_id collector;
	const char *name;   /* of the collector */
	const char *device; /* name, or "node" */
	bool ran;           /* did it ever finish? the rest means nothing before */
	bool success;       /* of the last run */
	rna_usec duration;  /* of the last run */
	rna_usec taken;     /* monotonic time of the newest good part; 0: none yet */
	rna_usec stalled;   /* monotonic start of a run that is past its deadline; 0: none */
	uint64_t errors[RNA_REASON_COUNT]; /* values and runs that failed, since start */
};

/* What became of one source of news, since the agent started. */
struct rna_source_account {
	bool watched;                 /* is it listened to right now? */
	uint64_t events;              /* received, whatever they were about */
	uint64_t overruns;            /* times when the kernel had to drop some */
	uint64_t changes;             /* port states that it showed first */
	struct rna_histogram latency; /* from an event to the view with what was read for it */
};

struct rna_agent_status {
	struct rna_time started;
	uint64_t snapshots;       /* published so far */
	unsigned lanes;           /* worker threads */
	unsigned lanes_stalled;   /* of them, held by a run past its deadline */
	const char *config_error; /* why the last reload did not work; NULL: it did */
	rna_usec config_loaded;   /* realtime of the last good load */
	struct rna_web_status web;
	const char *quiesced; /* why nothing of the RDMA stack is opened; NULL: it may be */
	const char
		*seccomp; /* which filter of system calls the agent has; NULL: it does not matter */
	const char *name; /* of the node, for people; of a recorded one its directory's */
	const char *root; /* the root in use */
	bool live;        /* root is the running kernel's */
	struct rna_source_account sources[RNA_SOURCE_COUNT];
};

/* What an administrator chose of what exporters write. */
struct rna_metrics_options {
	bool gid_info;            /* rdma_port_gid_info: a series for each GID */
	bool qos_details;         /* ETS, buffers and parameters of congestion control */
	bool node_exporter_names; /* the families of exporter/metrics/compat.c as well */
	bool virtual_functions;   /* each of them, and not only how many there are */
	bool fec_lanes;           /* what FEC counts of each lane, and not only of all */
	bool priorities;          /* series for each priority and lane of Ethernet ports */
	/* Pairs of rdma_gpu_nic_path: the nearest, and all up to this; SAME: the nearest only. */
	enum rna_path_class gpu_nic_paths;
};

/* What is known of one port beyond the moment. */
struct rna_view_port {
	unsigned number;
	struct rna_port_history history;
	struct rna_expectation expectation;
	struct rna_port_best best;
};

struct rna_view {
	unsigned refs;
	const struct rna_snapshot *snapshot;
	struct rna_agent_status agent;
	struct rna_metrics_options metrics;
	const struct rna_node_status *node; /* NULL: Kubernetes is told nothing */
	size_t job_count;
	const struct rna_job_status *jobs; /* node-wide first, then by device and collector */
	/* One for each port of the snapshot's devices, in their order; NULL: not judged. */
	const struct rna_view_port *ports;
	size_t missing_count;
	const struct rna_missing_device *missing; /* expected and not there; by name */
	size_t transition_count;
	const struct rna_transition *transitions; /* oldest first, RNA_TRANSITIONS_KEPT at most */
	const struct rna_selftests *selftests;    /* NULL: nothing is tested */
	size_t finding_count;
	const struct rna_finding *findings; /* worst first, then by device, port and rule */
	bool findings_short;                /* there was no memory for all of them */
	struct rna_arena *arena;            /* owns all of these and their strings */
};

/* References are counted by the loop. Both accept NULL; unref returns NULL. */
const struct rna_view *rna_view_ref(const struct rna_view *view);
struct rna_view *rna_view_unref(const struct rna_view *view);

/* Of a variable that points to a view, const or, where it is still being made, not. */
static inline void rna_view_unref_p(void *view)
{
	const struct rna_view **variable = view;

	*variable = rna_view_unref(*variable);
}
