/* SPDX-License-Identifier: Apache-2.0 */
/* What agents answer to the command check; and its option --nodes, which asks those of many. */
#pragma once

#include "rna/base/clock.h"
#include "rna/check.h"

#include "commands.h"

/* Reads a document of findings; texts are in arena. 0, or negative errno with error. */
int rna_check_answer_read(const struct rna_strbuf *json, struct rna_arena *arena,
			  struct rna_check *ret, struct rna_error *error);

/*
 * -ESTALE with error if the data is so old that it is not the present state: the agent no longer
 * makes snapshots. far: another machine's clock says when it made them. Otherwise 0.
 */
int rna_check_answer_is_new(const struct rna_check *check, const struct rna_settings *settings,
			    bool far, struct rna_error *error);

/*
 * Asks the agents of the nodes that the option names, and writes a line for each, or JSON. until:
 * monotonic, when the answers that are missing count as unknown; 0: each agent has some seconds.
 * The exit code, or negative errno with error: there is no list of nodes.
 */
int rna_check_nodes(struct rna_call *call, bool json, rna_usec until, struct rna_error *error);
