/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The desired state of all that this program owns on its Node in Kubernetes: labels,
 * conditions, a taint, and Events to send. agent/node creates it, a backend applies it
 * (rna/kubernetes.h). Thread: created by the loop; immutable, so a backend's thread may read it,
 * and the last one that has it frees it.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "rna/base/arena.h"
#include "rna/base/clock.h"

struct rna_node_label {
	const char *key;
	const char *value; /* NULL: not decided yet; the value on the Node stays */
	bool urgent; /* of a desired state: another value must not wait for the budget of changes */
};

enum rna_condition_status {
	RNA_CONDITION_STATUS_FALSE,
	RNA_CONDITION_STATUS_TRUE,
	RNA_CONDITION_STATUS_UNKNOWN,
};

/* A problem condition: True means a problem, as in node-problem-detector. */
struct rna_node_condition {
	const char *type; /* "RdmaPortDown" */
	enum rna_condition_status status;
	const char *reason;  /* CamelCase, for programs */
	const char *message; /* a sentence; NULL: not decided yet, the condition stays */
	struct rna_time since;
	rna_usec heartbeat; /* realtime when it was last sent, if read from the Node; otherwise 0 */
};

/* A device whose devices in ResourceSlices (DRA) shall have a taint, with its virtual functions. */
struct rna_node_device_taint {
	const char *device;      /* "mlx5_0" */
	const char *pci_address; /* NULL: unknown, as of a device that is missing */
	const char *reason;      /* the rule that found something: "port-down" */
	size_t function_count;
	const char **functions; /* PCI addresses of its virtual functions */
};

/* A finding that started or ended, to be sent as an Event. */
struct rna_node_event {
	bool warning;        /* type Warning, otherwise Normal */
	const char *reason;  /* "RdmaPortDown"; CamelCase of the rule */
	const char *message; /* the finding's text, and its remedy */
	struct rna_time time;
};

/* The desired state of all that this program owns on the Node. Immutable. */
struct rna_desired_node {
	atomic_uint refs; /* of the loop and of threads of backends */
	/*
	 * Is any label, any condition, the taint decided? A newly started agent has decided none;
	 * until then the Node keeps what it has.
	 */
	bool labels_decided;
	bool conditions_decided;
	bool taint_decided;
	size_t label_count;
	const struct rna_node_label *labels; /* by key; our other labels on the Node are removed */
	size_t condition_count;
	const struct rna_node_condition *conditions; /* by type */
	bool taint;                                  /* the Node should have our taint */
	/* Are all of these devices known? Until then those with a taint keep it. */
	bool device_taints_complete;
	size_t device_taint_count;
	const struct rna_node_device_taint *device_taints; /* by device */
	size_t event_count;
	const struct rna_node_event *events; /* since the previous one; not part of comparisons */
	struct rna_arena *arena;             /* owns this struct and all it points to */
};

/* Both accept NULL; unref returns NULL. Thread: any. */
struct rna_desired_node *rna_desired_node_ref(struct rna_desired_node *desired);
struct rna_desired_node *rna_desired_node_unref(struct rna_desired_node *desired);
RNA_DEFINE_CLEANUP(struct rna_desired_node, rna_desired_node_unref)

/* Do both describe the same state of the Node? Ignores Events and the times of messages. */
bool rna_desired_node_has_same_labels(const struct rna_desired_node *a,
				      const struct rna_desired_node *b);
bool rna_desired_node_is_same(const struct rna_desired_node *a, const struct rna_desired_node *b);
