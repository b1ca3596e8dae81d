/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Publishing the state of the RDMA hardware on this node's Node object in Kubernetes.
 *
 * A pure function of the view decides the labels (exporter/kubernetes/node_labels.c, one table);
 * agent/memory/node_memory.c delays changes. The result is a *desired state*: an immutable
 * description of all that the agent owns on the Node. A backend applies it: the API client
 * (exporter/kubernetes/client_thread.c, in its own thread, which may wait) or a file for
 * node-feature-discovery (exporter/kubernetes/nfd.c). Sources: Kubernetes API conventions (labels,
 * conditions, events), server-side apply, node-feature-discovery's feature files.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/base/arena.h"
#include "rna/base/clock.h"
#include "rna/base/error.h"
#include "rna/base/strbuf.h"
#include "rna/model/desired_node.h"
#include "rna/model/label.h"
#include "rna/model/node_status.h"

/* -- Labels ------------------------------------------------------------------------------------ */

struct rna_view;

/* Keys of the labels, and options for deciding them. */
struct rna_label_options {
	const char *roce_key; /* "network.nvidia.com/roce" */
	const char *roce_value;
	const char *prefix; /* prefix of all other keys, with or without a trailing slash */
	/* also count ports of VFs and SFs, not only those of physical functions */
	bool virtual_functions;
};

const char *rna_node_label_name(enum rna_node_label_id id); /* the key without prefix */

/* Decides each label from view. Pure; values are valid. 0 or -ENOMEM. */
int rna_node_labels_decide(const struct rna_view *view, const struct rna_label_options *options,
			   struct rna_node_verdict ret[RNA_NODE_LABEL_COUNT]);

/* The key of a label; options must have been checked. */
void rna_node_label_key(enum rna_node_label_id id, const struct rna_label_options *options,
			char ret[RNA_LABEL_KEY_MAX + 1]);

/* The table of labels for the command describe. */
void rna_node_labels_describe(struct rna_strbuf *out);

/* -- Node-feature-discovery -------------------------------------------------------------------- */

/*
 * Writes the labels of desired as a file for node-feature-discovery, which removes them from the
 * Node if it finds the file after expires (realtime). Undecided labels are copied from before, the
 * text of the previous file (may be NULL).
 */
void rna_nfd_write_features(const struct rna_desired_node *desired, rna_usec expires,
			    const char *before, struct rna_strbuf *out);

/*
 * Write that file to directory atomically, or remove it. They wait for the disk: never call them in
 * the loop. 0 (also if there is no file to remove), or negative errno with error. Thread: any.
 */
#define RNA_NFD_EXPIRY (3600 * RNA_USEC_PER_SEC) /* of the file, behind the last agent */
int rna_nfd_put_file(const char *directory, const struct rna_desired_node *desired,
		     rna_usec expires, struct rna_error *error);
int rna_nfd_remove_file(const char *directory, struct rna_error *error);

/* -- Endpoints of a Service -------------------------------------------------------------------- */

struct rna_kubernetes_options;

/* A pod behind a Service, as EndpointSlices (discovery.k8s.io/v1) have it. */
struct rna_kubernetes_endpoint {
	const char *node;    /* name of its Node; its address, if the slice does not say */
	const char *pod;     /* its name; NULL: the slice does not say */
	const char *address; /* IPv4 or IPv6 */
	unsigned port;       /* that is called http or https; else the first for TCP */
	bool https;          /* by name or appProtocol of the port */
	bool ready;          /* and not about to end */
};

struct rna_kubernetes_endpoints {
	size_t slice_count;
	size_t count;
	struct rna_kubernetes_endpoint *endpoints;
	rna_usec retry_after; /* that the server asked for when it refused; 0: nothing */
};

/*
 * Reads the endpoints of service, "NAMESPACE/NAME", into arena: from the cache of the API server
 * (resourceVersion=0), which has no pages, compressed. slices_only: the slices are counted, and
 * their metadata alone is sent; a slice has at most 100 endpoints by default. Waits for the server,
 * until *cancel (may be NULL). 0, or negative errno with error. Thread: any but the loop's.
 */
int rna_kubernetes_read_endpoints(const struct rna_kubernetes_options *options, const char *service,
				  bool slices_only, const atomic_bool *cancel,
				  struct rna_arena *arena, struct rna_kubernetes_endpoints *ret,
				  struct rna_error *error);

/* The same from the text of an EndpointSliceList. 0, -EBADMSG or -ENOMEM with error. */
int rna_kubernetes_parse_endpoints(const char *text, size_t len, bool slices_only,
				   struct rna_arena *arena, struct rna_kubernetes_endpoints *ret,
				   struct rna_error *error);

/* -- The API server ---------------------------------------------------------------------------- */

/* The name of this Node: given, or $NODE_NAME. NULL: neither is set. */
const char *rna_kubernetes_node_name(const char *given);

/*
 * Options of the client; all that they point to must outlive it. NULL is equal to "". The client
 * reads files again for every round of requests, so it always uses the newest token, certificate
 * and CA.
 */
struct rna_kubernetes_options {
	const char *node;            /* name of this Node; NULL: $NODE_NAME */
	const char *kubeconfig;      /* NULL: the pod's service account */
	const char *service_account; /* its directory; NULL: kubelet's default */
	const char *server;          /* "https://10.0.0.1:6443" overrides these; NULL: from these */
	const char *taint_key;       /* key of the taint, "rdma-node-agent/rdma-down" */
	const char *taint_effect;    /* "NoSchedule" */
	/*
	 * "NAMESPACE/NAME": the Leases there with the label rdma-node-agent/leases=NAME, of which
	 * the agent must hold one while the Node has the taint; NULL: no limit.
	 */
	const char *taint_leases;
	bool taint_dry_run;              /* the taint is not set: the status says that it would */
	const char *device_taint_key;    /* of devices in ResourceSlices */
	const char *device_taint_effect; /* "None", "NoSchedule"; NULL: devices get no taints */
	const char *const *resources;    /* globs of resources to read; NULL-terminated, or NULL */
	/*
	 * Globs of labels that belong to the agent alone: "rdma-node-agent" with a slash and a
	 * star, and single keys; NULL-terminated. The client removes matching labels that the
	 * desired state lacks, whatever wrote them. NULL: it removes only those that it wrote.
	 */
	const char *const *label_keys;
	/*
	 * The key of a label that the agent leaves to another client that has written it, by the
	 * managedFields of the Node; NULL: none. It must not be among label_keys.
	 */
	const char *shared_label;
	/*
	 * Taints that an agent with other settings may have left; NULL-terminated, or NULL: none.
	 */
	const char *const *former_taints;
	/* all that the agent may own, NULL-terminated; NULL: leave conditions unchanged */
	const char *const *condition_types;
	rna_usec first_delay; /* maximum of a random delay before the first write */
	rna_usec spread;      /* maximum of a random delay before later writes */
	rna_usec resync;      /* apply everything again after this, +- half; 0: never */
	rna_usec look;        /* read and compare the Node after this, +- half; 0: never */
	rna_usec heartbeat;   /* send conditions again after this; 0: only on change */
	rna_usec event_pause; /* an Event that has happened again is not sent sooner */
	unsigned burst;       /* changes that are written at once; at least 1, as the next */
	unsigned reserve;     /* further ones of taints and the label health */
	rna_usec refill;      /* behind these, one in this time */
};

/* An annotation of a Node; "true": the agent leaves this Node alone. */
#define RNA_KUBERNETES_IGNORE "rdma-node-agent/ignore"

/* These times and numbers, and defaults of those that are settings. */
enum { RNA_KUBERNETES_BURST = 5, RNA_KUBERNETES_RESERVE = 3 };
#define RNA_KUBERNETES_REFILL      (12 * 60 * RNA_USEC_PER_SEC)
#define RNA_KUBERNETES_FIRST_DELAY (30 * RNA_USEC_PER_SEC)
#define RNA_KUBERNETES_SPREAD      (120 * RNA_USEC_PER_SEC)
#define RNA_KUBERNETES_RESYNC      (12 * 3600 * RNA_USEC_PER_SEC)
#define RNA_KUBERNETES_LOOK        (30 * 60 * RNA_USEC_PER_SEC)
#define RNA_KUBERNETES_HEARTBEAT   (30 * 60 * RNA_USEC_PER_SEC)
#define RNA_KUBERNETES_EVENT_PAUSE (6 * 60 * RNA_USEC_PER_SEC)

/* The client's state. Created by its thread, immutable; the caller that took it frees it. */
struct rna_kubernetes_status {
	struct rna_node_status node; /* for views; of its backends only that of the API */
	bool former_gone; /* the Node has no other label of label_keys, no taint of former_taints */
	const char *problem;  /* NULL: none; otherwise a sentence that says what to do */
	const char *reverted; /* the last data of the agent that another client changed, or NULL */
	struct rna_time looked; /* when the client read the Node; 0: not yet */
	size_t label_count;
	const struct rna_node_label *labels; /* all labels that the Node had then */
	struct rna_arena *arena;             /* owns this struct and all it points to */
};

/*
 * Did the Node have the label "KEY" or "KEY=VALUE"? False if it has not been read, or if status is
 * NULL.
 */
bool rna_kubernetes_has_label(const struct rna_kubernetes_status *status, const char *label);

/* Copies the resources of a Node to ret, in arena. False: no memory; then they are not known. */
bool rna_kubernetes_keep_resources(const struct rna_kubernetes_resource *from, size_t count,
				   struct rna_arena *arena, struct rna_node_status *ret);

struct rna_kubernetes_status *rna_kubernetes_status_free(struct rna_kubernetes_status *status);
RNA_DEFINE_CLEANUP(struct rna_kubernetes_status, rna_kubernetes_status_free)

/*
 * The client: a thread that may wait. Of the functions below only rna_kubernetes_stop() waits for
 * it. Thread of the callers: the loop's.
 */
struct rna_kubernetes;

/*
 * 0, or negative errno with error: -EINVAL if the name of the Node is unknown. Problems that can
 * end without a new configuration (no token yet, no API server) are reported in the status instead.
 */
int rna_kubernetes_start(const struct rna_kubernetes_options *options, struct rna_kubernetes **ret,
			 struct rna_error *error);
/* A descriptor for epoll, readable when there is a new status. The client owns it. */
int rna_kubernetes_fd(const struct rna_kubernetes *client);
/* The newest status since the last call, owned by the caller. NULL: none. */
struct rna_kubernetes_status *rna_kubernetes_take_status(struct rna_kubernetes *client);
/* Sets the desired state of the Node, and queues its events. Refs desired. */
void rna_kubernetes_want(struct rna_kubernetes *client, struct rna_desired_node *desired);
/* Accepts NULL. False: the thread is stuck and still uses client; then exit the process. */
bool rna_kubernetes_stop(struct rna_kubernetes *client, rna_usec patience);

/*
 * For commands, which have no client thread: apply desired to the Node and wait (events are not
 * sent), or remove all that the agent owns. 0, or negative errno with error: -EPERM if the Node has
 * RNA_KUBERNETES_IGNORE, which keeps nothing from being removed.
 */
int rna_kubernetes_apply(const struct rna_kubernetes_options *options,
			 const struct rna_desired_node *desired, struct rna_error *error);
int rna_kubernetes_cleanup(const struct rna_kubernetes_options *options, struct rna_error *error);

/*
 * Removes all that agents own from the Nodes with the labels of selector (as kubectl has it; "":
 * from all), whatever names they have, and writes a line for each Node that had something. What
 * fails is tried again for some seconds. dry_run: only the lines. 0, or negative errno with
 * error: about the first Node of those that could not be cleaned up, after all others were.
 */
int rna_kubernetes_cleanup_nodes(const struct rna_kubernetes_options *options, const char *selector,
				 bool dry_run, struct rna_strbuf *out, struct rna_error *error);

/*
 * Writes what would be sent: each request line with its body below. Needs neither API nor node
 * name.
 */
void rna_kubernetes_write_requests(const struct rna_kubernetes_options *options,
				   const struct rna_desired_node *desired, struct rna_strbuf *out);

/*
 * Can the credentials for the API server be read? The server is not asked. 0, or negative errno
 * with error, which names the file and what to do.
 */
int rna_kubernetes_check_access(const struct rna_kubernetes_options *options,
				struct rna_error *error);

/* Writes the desired state as a Node in YAML, without times and events. */
void rna_desired_node_write(const struct rna_desired_node *desired,
			    const struct rna_kubernetes_options *options, struct rna_strbuf *out);
