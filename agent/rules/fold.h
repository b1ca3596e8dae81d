/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folding: one cause that several objects show is one finding. A check function gives findings that
 * have one cause the same text (rna_finds_share_cause()): "the driver refuses each function with
 * the same error". The first of them in order stays and names the others. Pure.
 */
#pragma once

#include "rules.h"

/* After all rules. No memory: what was not folded stays as it is. */
void rna_finds_fold(struct rna_finds *finds);
