/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this node's Node object in Kubernetes shall say of its RDMA hardware, and how it gets there.
 *
 * Labels are decided by a pure function of the view (exporter/node_labels.c, one table); whether a
 * change has lasted long enough is agent/node_memory.c's business. What comes out is a *wish*: an
 * immutable description of all that we own on the Node. A backend makes it true: the API
 * (exporter/kubernetes.c, on a lane of its own, where it may wait as long as it likes) or a file
 * for node-feature-discovery (exporter/nfd.c).
 * Sources: Kubernetes API conventions (labels, conditions, events), server-side apply,
 * node-feature-discovery's feature files.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/arena.h"
#include "rna/clock.h"
#include "rna/error.h"
#include "rna/finding.h"
#include "rna/strbuf.h"

enum {
	RNA_LABEL_NAME_MAX = 63, /* of a name and of a value */
	RNA_LABEL_PREFIX_MAX = 253,
	RNA_LABEL_KEY_MAX = RNA_LABEL_PREFIX_MAX + 1 + RNA_LABEL_NAME_MAX,
};

/* -- Labels ------------------------------------------------------------------------------------ */

struct rna_view;

/* The labels, in the order of the table in exporter/node_labels.c. */
enum rna_node_label_id {
	RNA_NODE_LABEL_ROCE,
	RNA_NODE_LABEL_LINK_LAYERS,
	RNA_NODE_LABEL_PORTS_UP,
	RNA_NODE_LABEL_PORTS_EXPECTED,
	RNA_NODE_LABEL_RATE_SLOWEST,
	RNA_NODE_LABEL_RATE_TOTAL,
	RNA_NODE_LABEL_NIC_MODEL,
	RNA_NODE_LABEL_FIRMWARE,
	RNA_NODE_LABEL_GPUDIRECT,
	RNA_NODE_LABEL_RAILS,
	RNA_NODE_LABEL_SR_IOV,
	RNA_NODE_LABEL_HEALTH,
	RNA_NODE_LABEL_COUNT,
};

/* How labels are called, and what they are decided by beside the view. */
struct rna_label_options {
	const char *roce_key; /* "network.nvidia.com/roce" */
	const char *roce_value;
	const char *prefix; /* of all others, with or without the slash behind it */
	/* VFs and SFs count as ports, which else only those do that come with the node */
	bool virtual_functions;
};

enum rna_verdict_kind {
	RNA_VERDICT_UNKNOWN, /* cannot be told now: what was told before stays */
	RNA_VERDICT_NONE,    /* there is nothing to say, and so no label */
	RNA_VERDICT_VALUE,
};

/* What one view says of one label, or of anything else that is told of the node. */
struct rna_node_verdict {
	enum rna_verdict_kind kind;
	int64_t rank; /* a higher one is better news; alike: neither better nor worse */
	char value[RNA_LABEL_NAME_MAX + 1];
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

/* How many bytes of a prefix are in front of the slash that it may have. */
size_t rna_label_prefix_len(const char *prefix);

/*
 * May a key, the prefix of keys, a value that is not empty, be like this? setting: the name of the
 * setting that it is from. 0, or -EINVAL with error: the text says what is allowed.
 */
int rna_label_key_check(const char *setting, const char *key, struct rna_error *error);
int rna_label_prefix_check(const char *setting, const char *prefix, struct rna_error *error);
int rna_label_value_check(const char *setting, const char *value, struct rna_error *error);

/*
 * Makes a label's value of any text: what is not allowed in one becomes "-", and what is too long
 * is cut. False: nothing is left of it.
 */
bool rna_label_value_make(const char *text, char ret[RNA_LABEL_NAME_MAX + 1]);
bool rna_label_value_is_legal(const char *text);

/* The table of labels as Markdown. */
void rna_node_labels_describe(struct rna_strbuf *out);

/* -- The wish ---------------------------------------------------------------------------------- */

struct rna_node_label {
	const char *key;
	const char *value; /* NULL: not decided yet; what stands on the Node stays */
};

enum rna_condition_status {
	RNA_CONDITION_FALSE,
	RNA_CONDITION_TRUE,
	RNA_CONDITION_UNKNOWN,
};

/* A problem condition: True is bad, as node-problem-detector has it. */
struct rna_node_condition {
	const char *type; /* "RdmaPortDown" */
	enum rna_condition_status status;
	const char *reason;  /* CamelCase, for machines */
	const char *message; /* a sentence for people; NULL: not decided yet, and stays as it is */
	struct rna_time since;
	rna_usec heartbeat; /* realtime when it was last sent, of a Node that was read; else 0 */
};

/* A finding that began or ended, to be told as an Event. */
struct rna_node_event {
	bool warning;        /* type Warning, else Normal */
	const char *reason;  /* "RdmaPortDown"; CamelCase of the rule */
	const char *message; /* the finding's text, and its remedy */
	struct rna_time time;
};

/* All that we own on the Node. Made by the loop, read by a backend's lane; never changed. */
struct rna_node_wish {
	unsigned refs; /* counted by the loop */
	/*
	 * An agent that has just started does not know yet what it will say. Is any label decided,
	 * any condition? All stays on the Node as it stands there until it is.
	 */
	bool labels_decided;
	bool conditions_decided;
	bool taint_decided;
	size_t label_count;
	const struct rna_node_label
		*labels; /* by key; what is not among them is not ours any more */
	size_t condition_count;
	const struct rna_node_condition *conditions; /* by type */
	bool taint;                                  /* the node shall carry our taint */
	size_t event_count;
	const struct rna_node_event
		*events;         /* since the wish before; not part of what is compared */
	struct rna_arena *arena; /* owns this struct and all it points to */
};

struct rna_node_wish *rna_node_wish_ref(struct rna_node_wish *wish);   /* accepts NULL */
struct rna_node_wish *rna_node_wish_unref(struct rna_node_wish *wish); /* accepts NULL */
RNA_DEFINE_CLEANUP(struct rna_node_wish, rna_node_wish_unref)

/* Do both want the same of the Node? Events do not count, nor do messages' times. */
bool rna_node_wish_has_same_labels(const struct rna_node_wish *a, const struct rna_node_wish *b);
bool rna_node_wish_is_same(const struct rna_node_wish *a, const struct rna_node_wish *b);

/* -- node-feature-discovery -------------------------------------------------------------------- */

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

/* A resource that the Node advertises: "rdma/hca_shared_devices". */
struct rna_kubernetes_resource {
	const char *name;
	uint64_t capacity;
	uint64_t
		allocatable; /* what pods can have: 0 where a device plugin found nothing healthy */
};

enum rna_kubernetes_result {
	RNA_KUBERNETES_OK,
	RNA_KUBERNETES_REFUSED,      /* answers 4xx other than these */
	RNA_KUBERNETES_UNAUTHORIZED, /* 401 */
	RNA_KUBERNETES_FORBIDDEN,    /* 403, which is also what a missing Node gives */
	RNA_KUBERNETES_THROTTLED,    /* 429 */
	RNA_KUBERNETES_FAILED,       /* answers 5xx */
	RNA_KUBERNETES_UNREACHABLE,  /* no answer, or half of one */
	RNA_KUBERNETES_RESULT_COUNT,
};

const char *rna_kubernetes_result_name(enum rna_kubernetes_result result); /* a metric label */

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

/* -- How it goes ------------------------------------------------------------------------------- */

/* Those who make a wish true. */
enum rna_node_backend_id {
	RNA_NODE_BACKEND_API,
	RNA_NODE_BACKEND_NFD,
	RNA_NODE_BACKEND_COUNT,
};

#define RNA_NODE_BACKEND_BIT(id) (1 << RNA_NODE_BACKEND_##id)

const char *rna_node_backend_name(enum rna_node_backend_id id); /* "api", "nfd": a metric label */

struct rna_node_backend {
	bool used;
	bool in_step;     /* the newest wish has come true */
	bool problem;     /* it was said what it is */
	rna_usec written; /* realtime of the last write that was taken; 0: none yet */
	uint64_t requests[RNA_KUBERNETES_RESULT_COUNT];
};

/* What a view shows of it. */
struct rna_node_status {
	struct rna_node_backend backends[RNA_NODE_BACKEND_COUNT];
	uint64_t events_sent;
	uint64_t events_dropped;
	bool resources_known; /* the Node was read */
	size_t resource_count;
	const struct rna_kubernetes_resource *resources; /* by name */
};
