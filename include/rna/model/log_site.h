/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns of the site for the kernel log, by the setting kernel_log.patterns: what its operator
 * knows to be a sign of trouble. They name no object, hence their episodes concern the node.
 *
 * Cost, as of the table's own (log_match.h): a message without a literal of any pattern costs one
 * more pass of some 50 ns, one that has it a regex of some microseconds.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/base/strbuf.h"
#include "rna/model/log_match.h"

enum { RNA_LOG_SITE_MAX = 32 }; /* patterns */

/* The members of an entry, "name" first; NULL-terminated. */
extern const char *const rna_log_site_members[];

/*
 * An entry of the setting: the values of these members, one a line. Is it valid? If not, explain
 * writes which member is wrong and why.
 */
bool rna_log_site_is_valid(const char *entry);
void rna_log_site_explain(const char *entry, struct rna_strbuf *out);

/*
 * Makes the patterns of valid entries (NULL-ended, or NULL), for the rest of the process: later
 * calls do nothing. Before other threads are started. 0 or -ENOMEM.
 */
int rna_log_site_set(char *const *entries);

/* The pattern of the site that a message has, as rna_log_match(); any thread. */
bool rna_log_site_match(const char *message, size_t len, struct rna_log_match *ret);

/* The pattern of that name; NULL: there is none. */
const struct rna_log_pattern *rna_log_site_find(const char *name);
