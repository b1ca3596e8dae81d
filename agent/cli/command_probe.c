// SPDX-License-Identifier: Apache-2.0
/* The command probe: a table of its actions. */
#include "commands.h"

const char *const rna_probe_actions[] = {"bandwidth", NULL};

int rna_command_probe(struct rna_call *call, struct rna_error *error)
{
	return rna_command_probe_bandwidth(call, error); /* there is no other action */
}
