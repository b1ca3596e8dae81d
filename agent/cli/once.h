/* SPDX-License-Identifier: Apache-2.0 */
/* Polling once, for commands that do not ask the running agent. */
#pragma once

#include "rna/model/view.h"

#include "commands.h"

struct rna_agent;

/* A view and the agent that made it, which may own parts of the view. */
struct rna_once {
	struct rna_agent *agent;
	const struct rna_view *view;
	uint32_t process; /* that --pid or --pod names, through which it looks; 0: neither is given
			   */
};

/* Takes over the settings of call. ret: zeroed before; to be deinitialised, even on failure. */
int rna_once_poll(struct rna_call *call, struct rna_once *ret, struct rna_error *error);
void rna_once_deinit(struct rna_once *once); /* idempotent */
#define RNA_ONCE RNA_CLEANUP(rna_once_deinit)
