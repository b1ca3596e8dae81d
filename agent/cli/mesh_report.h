/* SPDX-License-Identifier: Apache-2.0 */
/* What the command mesh writes: verdicts, their evidence, and what is known. */
#pragma once

#include <stdbool.h>

#include "mesh/fleets.h"

/* The exit codes of the command. */
enum rna_mesh_state {
	RNA_MESH_WELL = 0,
	RNA_MESH_UNEXPLAINED = 1, /* pairs lose, and no part is to blame */
	RNA_MESH_BLAMED = 2,
	RNA_MESH_UNKNOWN = 3, /* no data, or not of most members */
};

/* Judges fleets and writes all. Returns enum rna_mesh_state, the worst of the fleets, or -ENOMEM.
 */
int rna_mesh_report(const struct rna_fleets *fleets, bool json, struct rna_strbuf *out);
