/* SPDX-License-Identifier: Apache-2.0 */
/* What an agent answers to the command check. */
#pragma once

#include "rna/base/error.h"
#include "rna/check.h"

#include "settings/settings.h"

/* Reads a document of findings; texts are in arena. 0, or negative errno with error. */
int rna_check_answer_read(const struct rna_strbuf *json, struct rna_arena *arena,
			  struct rna_check *ret, struct rna_error *error);

/*
 * -ESTALE with error if the data is so old that it is not the present state: the agent no longer
 * makes snapshots. far: another machine's clock says when it made them. Otherwise 0.
 */
int rna_check_answer_is_new(const struct rna_check *check, const struct rna_settings *settings,
			    bool far, struct rna_error *error);
