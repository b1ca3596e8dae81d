/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of the settings table, for those who walk it: the configuration file and documents.
 * Bounds and defaults are texts, written and read in the way a file has them.
 */
#pragma once

#include "rna/base/schema.h"

#include "settings/settings.h"

extern const struct rna_schema_type rna_setting_duration; /* rna_usec */
extern const struct rna_schema_type rna_setting_integer;  /* unsigned */
extern const struct rna_schema_type rna_setting_boolean;  /* bool */
extern const struct rna_schema_type rna_setting_text;     /* char * */
extern const struct rna_schema_type rna_setting_list;     /* char **, NULL-ended; NULL: empty */
extern const struct rna_schema_type rna_setting_retired;  /* no field */

enum { RNA_SETTINGS_MAX = 160 }; /* rows; for arrays beside the table */

extern const struct rna_schema rna_settings_schema; /* of struct rna_settings */

const struct rna_schema_row *rna_setting_find(const char *key); /* NULL: unknown */

/*
 * Reads text into the field of settings; to a list it is appended. 0; -ENOMEM; -EINVAL with error
 * "poll.state: ..." when text is not allowed.
 */
int rna_setting_put(const struct rna_schema_row *setting, const char *text,
		    struct rna_settings *settings, struct rna_error *error);

/* Has it the same value in both? */
bool rna_setting_is_same(const struct rna_schema_row *setting, const struct rna_settings *a,
			 const struct rna_settings *b);

/* Takes all entries out of a list, or the text out of its field. */
void rna_setting_clear(const struct rna_schema_row *setting, struct rna_settings *settings);

bool rna_path_or_none_is_valid(const char *text); /* absolute, or "" */
