/* SPDX-License-Identifier: Apache-2.0 */
/* The option --nodes of the command check: the state of many nodes, from their agents. */
#pragma once

#include "rna/base/clock.h"

#include "commands.h"

/*
 * Asks the agents of the nodes that the option names, and writes a line for each, or JSON. until:
 * monotonic, when the answers that are missing count as unknown; 0: each agent has some seconds.
 * The exit code, or negative errno with error: there is no list of nodes.
 */
int rna_check_nodes(struct rna_call *call, bool json, rna_usec until, struct rna_error *error);
