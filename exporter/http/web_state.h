/* SPDX-License-Identifier: Apache-2.0 */
/* What the web configuration has become: see rna/web.h. */
#pragma once

#include "rna/web.h"

#include "tls.h"

struct rna_web {
	unsigned refs;
	struct rna_arena *arena;
	struct rna_web_options options;
	struct rna_tls *tls; /* NULL: none */
};
