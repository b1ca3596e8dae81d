/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels of the Kubernetes Node: the list of labels, the decision for each, and the syntax that the
 * API server accepts for keys and values. Thread: any; pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/base/error.h"

enum {
	RNA_LABEL_NAME_MAX = 63, /* limit of a name and of a value */
	RNA_LABEL_PREFIX_MAX = 253,
	RNA_LABEL_KEY_MAX = RNA_LABEL_PREFIX_MAX + 1 + RNA_LABEL_NAME_MAX,
};

/* The labels, in the order of the table in exporter/kubernetes/node_labels.c. */
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
	RNA_NODE_LABEL_NETWORKS,
	RNA_NODE_LABEL_SR_IOV,
	RNA_NODE_LABEL_HEALTH,
	RNA_NODE_LABEL_COUNT,
};

enum rna_verdict_kind {
	RNA_VERDICT_UNKNOWN, /* not known now: the last value stays */
	RNA_VERDICT_NONE,    /* the label does not apply and is removed */
	RNA_VERDICT_VALUE,
};

/* The decision for one label or another fact of the Node, made from one view. */
struct rna_node_verdict {
	enum rna_verdict_kind kind;
	bool bad;     /* news of a problem, also where nothing was known before */
	int64_t rank; /* higher is better; equal: neither better nor worse */
	char value[RNA_LABEL_NAME_MAX + 1];
};

/* The length of prefix without a trailing slash. */
size_t rna_label_prefix_len(const char *prefix);

/*
 * Check a key, a prefix of keys, or a non-empty value. setting: name of the setting, for the error.
 * 0, or -EINVAL with error, which says what is allowed.
 */
int rna_label_key_check(const char *setting, const char *key, struct rna_error *error);
int rna_label_prefix_check(const char *setting, const char *prefix, struct rna_error *error);
int rna_label_value_check(const char *setting, const char *value, struct rna_error *error);

/*
 * Converts any text to a label value: replaces characters that are not allowed by "-" and cuts the
 * rest. False: the result is empty.
 */
bool rna_label_value_make(const char *text, char ret[RNA_LABEL_NAME_MAX + 1]);
bool rna_label_value_is_legal(const char *text);
