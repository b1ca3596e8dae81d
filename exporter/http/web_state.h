/* SPDX-License-Identifier: Apache-2.0 */
/* What the web configuration has become: see rna/web.h. */
#pragma once

#include <stdatomic.h>

#include "rna/web.h"

#include "tls.h"

struct rna_web {
	atomic_uint refs; /* of the loop, and of sessions of TLS (tls_relay.h) */
	struct rna_arena *arena;
	struct rna_web_options options;
	struct rna_tls *tls; /* NULL: none */
};
