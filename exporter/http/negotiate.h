/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client wants to have: the path of its request, and its headers (RFC 9110, section 12.5).
 */
#pragma once

#include "rna/exporter.h"

/*
 * accept: the header, or NULL. OpenMetrics only for clients that name it, in a version that we
 * write, and that like it no less than plain text; classic text for all others, even if they
 * do not accept it: that is better for a scrape than 406.
 */
enum rna_exposition rna_negotiate_exposition(const char *accept);

/*
 * The path of a request target without its query. Proxies send the absolute form,
 * "http://host/path" (RFC 9112, section 3.2.2).
 */
const char *rna_negotiate_path(const char *target);

/* accept_encoding: the header, or NULL. */
bool rna_negotiate_gzip(const char *accept_encoding);
