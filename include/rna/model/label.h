/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels of a Node in Kubernetes: which ones there are, what a view says of each, and what the API
 * server accepts as a key and as a value.
 * Thread: any; pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/base/error.h"

enum {
	RNA_LABEL_NAME_MAX = 63, /* of a name and of a value */
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
	RNA_NODE_LABEL_SR_IOV,
	RNA_NODE_LABEL_HEALTH,
	RNA_NODE_LABEL_COUNT,
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
