/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log. Only the rooms of agent/ write to it, once per change and never per poll; functions that
 * others call return errors instead. If stderr is connected to the journal, an entry is sent there
 * with its fields. Otherwise it is one readable line on stderr, "warning: mlx5_3:
 * reads stalled (DEVICE=mlx5_3)", without the fields MESSAGE_ID and REASON, which only repeat the
 * message.
 *
 * Thread: the loop's only.
 */
#pragma once

#include <stdbool.h>
#include <syslog.h>

#include "rna/base/cleanup.h"

struct rna_log_field {
	const char *name;  /* journal field name, upper case; NULL ends a list */
	const char *value; /* NULL: the field is left out */
};

/* Chooses journal or stderr by JOURNAL_STREAM. level: the least urgent LOG_* that is written. */
void rna_log_open(int level);
void rna_log_set_level(int level);
/*
 * From now on a line begins with the name of the program alone, as users of a command expect it:
 * without level and time.
 */
void rna_log_set_plain(void);
bool rna_log_wants(int level);

/* level: LOG_ERR, LOG_WARNING, LOG_NOTICE, LOG_INFO, LOG_DEBUG. fields: NULL or NULL-ended list. */
void rna_log(int level, const struct rna_log_field *fields, const char *format, ...)
	RNA_PRINTF(3, 4);

#define rna_log_error(...)   rna_log(LOG_ERR, NULL, __VA_ARGS__)
#define rna_log_warning(...) rna_log(LOG_WARNING, NULL, __VA_ARGS__)
#define rna_log_notice(...)  rna_log(LOG_NOTICE, NULL, __VA_ARGS__)
#define rna_log_info(...)    rna_log(LOG_INFO, NULL, __VA_ARGS__)
#define rna_log_debug(...)   rna_log(LOG_DEBUG, NULL, __VA_ARGS__)
