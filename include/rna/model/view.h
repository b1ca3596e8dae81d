/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A view: a snapshot, and the agent's own state at that moment. Exporters turn a view into bytes
 * and need nothing else. The stages of agent/loop/publish.c create it; from then on it is
 * immutable. The loop counts references.
 */
#pragma once

#include <stdbool.h>

#include "rna/base/histogram.h"
#include "rna/model/bandwidths.h"
#include "rna/model/card.h"
#include "rna/model/change.h"
#include "rna/model/expectation.h"
#include "rna/model/finding.h"
#include "rna/model/node_status.h"
#include "rna/model/probe.h"
#include "rna/model/rates.h"
#include "rna/model/selftest.h"
#include "rna/model/snapshot.h"
#include "rna/model/topology.h"
#include "rna/model/web_status.h"

/* The last state of one (collector, device) pair in the schedule. */
struct rna_job_status {
	enum rna_collector_id collector;
	bool ran;           /* did it ever finish? otherwise the rest is meaningless */
	bool success;       /* of the last run */
	const char *name;   /* of the collector */
	const char *device; /* name, or "node" */
	rna_usec duration;  /* of the last run */
	rna_usec period;    /* how often it runs now */
	rna_usec taken;     /* monotonic time of the newest good part; 0: none yet */
	rna_usec stalled;   /* monotonic start of a run that is past its deadline; 0: none */
	/* Failed values and runs since the agent started, by reason; NULL: there were none. */
	const uint64_t *errors;
};
_Static_assert(sizeof(struct rna_job_status) <= 64, "a large node has thousands");

uint64_t rna_job_errors(const struct rna_job_status *job, enum rna_reason reason);

/* What became of the last run of a job. */
enum rna_job_state {
	RNA_JOB_SUCCEEDED,
	RNA_JOB_FAILED,
	RNA_JOB_STALLED, /* its current run is past its deadline */
	RNA_JOB_PENDING, /* no run has ended yet */
	RNA_JOB_STATE_COUNT,
};

enum rna_job_state rna_job_state(const struct rna_job_status *job);
const char *rna_job_state_name(enum rna_job_state state);

/* Statistics of one event source since the agent started. */
struct rna_source_account {
	bool watched;                 /* is the agent listening now? */
	uint64_t events;              /* events received of any kind */
	uint64_t overruns;            /* how often the kernel dropped events */
	uint64_t changes;             /* changes of port state that it showed first */
	struct rna_histogram latency; /* from an event to the view with the data read for it */
};

struct rna_agent_status {
	struct rna_time started;
	uint64_t snapshots;       /* published so far */
	uint64_t missed_changes;  /* that polls found, and events should have told of */
	unsigned lanes;           /* worker threads */
	unsigned lanes_stalled;   /* lanes occupied by a run past its deadline */
	const char *config_error; /* why the last reload failed; NULL: it succeeded */
	rna_usec config_loaded;   /* realtime of the last good load */
	struct rna_web_status web;
	struct rna_http_status http;
	/* why the agent is quiesced and opens no RDMA device; NULL: it is not */
	const char *quiesced;
	const char *seccomp; /* the agent's seccomp filter; NULL: not applicable */
	const char *name; /* name of the node for display; of a recording, its directory's name */
	const char *pod, *pod_namespace; /* of the agent; NULL: not in a pod, or not known */
	const char *root;                /* the root in use */
	bool live;                       /* root is that of the running kernel */
	struct rna_source_account sources[RNA_SOURCE_COUNT];
};

struct rna_subjects;

/* Optional output of exporters, chosen in the settings. */
struct rna_metrics_options {
	bool all_jobs;            /* series for each job of a collector, not for each collector */
	bool details;             /* families that are marked so, see exporter/metrics/families.h */
	bool gid_info;            /* rdma_port_gid_info: a series for each GID */
	bool qos_details;         /* ETS, buffers and parameters of congestion control */
	bool node_exporter_names; /* the families of exporter/metrics/compat.c as well */
	bool virtual_functions;   /* series for each virtual function, not only their number */
	bool users;        /* series for each user of a device, not only whether it has any */
	bool fec_lanes;    /* FEC counters per lane, not only totals */
	bool finding_text; /* rdma_finding_info: the text of each finding */
	bool priorities;   /* series for each priority and lane of Ethernet ports */
	/*
	 * rdma_gpu_nic_path has the nearest pairs and all pairs up to this distance; SAME: only the
	 * nearest.
	 */
	enum rna_path_class gpu_nic_paths;
};

/*
 * What a name or a GUID was before it changed. The agent identifies devices by PCI address; jobs
 * name them (NCCL_IB_HCA, resource names), and names may belong to other cards after a reboot or
 * after a driver was loaded again: without persistent names the kernel numbers devices in the order
 * in which they register (alloc_name() in drivers/infiniband/core/device.c, Linux 6.12), and even
 * bus numbers, which persistent names contain, may differ from one boot to the next
 * (ubicloud/ubicloud#6330).
 */
struct rna_former {
	const char *text;   /* before the change; NULL: no change is known */
	rna_usec changed;   /* realtime; when the agent noticed it */
	const char *owner;  /* which device or port had the present text before; NULL: none */
	const char *holder; /* which one has the former text now; NULL: none */
};

/* State of one port that the agent keeps over time. */
struct rna_view_port {
	unsigned number;
	struct rna_port_history history;
	struct rna_expectation expectation;
	struct rna_port_best best;
	struct rna_former netdev;           /* the name of its network interface */
	rna_usec accepted;                  /* realtime of its last "expect accept"; 0: never */
	const struct rna_port_rates *rates; /* NULL: its counters are not followed */
	const struct rna_user_traffic *user_traffic; /* NULL: its device has no user, or several */
	/*
	 * At the other end of its cable, found by MAD or LLDP; the last known one, stale, while
	 * none answers. NULL: none was ever known, or the port was accepted as down since then.
	 */
	const struct rna_peer *peer;
};

/* State of one device that the agent keeps over time. */
struct rna_view_device {
	struct rna_former name;
	struct rna_former guid; /* node GUID: another card is at the PCI address */
};

/* The profile of this node (expect.profile). Texts lie in the view's arena. */
struct rna_profile_status {
	const char *name;    /* NULL: none fits, or which one is not known */
	const char *source;  /* "shipped", or the path of the file; NULL: no profiles */
	bool alarms;         /* what differs raises findings; otherwise it is information */
	const char *problem; /* why there is none although the operator names a file; or NULL */
	bool undecided;      /* which one it is cannot be decided now */
	/* PCI addresses of the NICs that serve GPUs, by rail, if it declares them and raises
	 * findings */
	size_t rail_count;
	const char *const *rails;
	size_t gpu_count; /* that it demands; 0: any number */
};

struct rna_view {
	unsigned refs;
	const struct rna_snapshot *snapshot;
	const struct rna_cards *cards; /* of the snapshot's devices; NULL: not made */
	struct rna_agent_status agent;
	struct rna_metrics_options metrics;
	const struct rna_node_status *node; /* NULL: no updates to Kubernetes */
	struct rna_profile_status profile;
	size_t job_count;
	const struct rna_job_status *jobs; /* node-wide first, then by device and collector */
	/* One for each port of the snapshot's devices, in their order; NULL: not evaluated. */
	const struct rna_view_port *ports;
	const struct rna_view_device *devices; /* one for each; NULL: none has changed */
	rna_usec accepted; /* realtime of the last "expect accept" of the whole node; 0: never */
	size_t missing_count;
	const struct rna_missing_device *missing; /* missing devices, by name */
	const struct rna_selftests *selftests;    /* NULL: no self-tests */
	const struct rna_probes *probes;          /* NULL: no probes between nodes */
	struct rna_probe_pairs probed;            /* those of probes, or of an agent before */
	const struct rna_bandwidths *bandwidths;  /* NULL: probe.bandwidth is false */
	size_t finding_count;
	const struct rna_finding *findings; /* worst first, then by device, port and rule */
	bool findings_short;                /* incomplete: memory ran out */
	size_t change_count;
	const struct rna_change *changes;    /* oldest first; the newest of each kind */
	struct rna_arena *arena;             /* owns all of these and their strings */
	const struct rna_subjects *subjects; /* the devices and ports joined, see subject.h */
	const struct rna_networks *networks; /* NULL: not made */
};

/* The loop counts references. Both accept NULL; unref returns NULL. */
const struct rna_view *rna_view_ref(const struct rna_view *view);
struct rna_view *rna_view_unref(const struct rna_view *view);

/* For a variable that points to a view, const or (while being built) not const. */
static inline void rna_view_unref_p(void *view)
{
	const struct rna_view **variable = view;

	*variable = rna_view_unref(*variable);
}

/*
 * time, or the end of grace behind the boot, whichever is later; both monotonic, which counts from
 * boot. A recording has no boot: time.
 */
static inline rna_usec rna_view_after_boot(const struct rna_view *view, rna_usec time,
					   rna_usec grace)
{
	return view->agent.live && time < grace ? grace : time;
}
