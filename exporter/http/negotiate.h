/* SPDX-License-Identifier: Apache-2.0 */
/* What a client wants to have, from its request headers (RFC 9110, section 12.5). */
#pragma once

#include "rna/exporter.h"

/*
 * accept: the header, or NULL. OpenMetrics only for clients that name it, in a version that we
 * write, and that like it no less than plain text; classic text for all others, even if they
 * do not accept it: that is better for a scrape than 406.
 */
enum rna_exposition rna_negotiate_exposition(const char *accept);

/* accept_encoding: the header, or NULL. */
bool rna_negotiate_gzip(const char *accept_encoding);
