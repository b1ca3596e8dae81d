/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text from hardware, made fit for a format. A node description is any 64 bytes that
 * were written to the HCA, but Prometheus and JSON accept only UTF-8.
 */
#pragma once

#include "rna/base/arena.h"
#include "rna/base/characters.h"
#include "rna/base/clock.h"
#include "rna/base/strbuf.h"

/* Adds a text as plain characters (rna/base/characters.h); escape: of the format, or NULL. */
void rna_text_add(struct rna_strbuf *out, const char *text, rna_escape *escape);

/*
 * The escapes of HTML and XML: for text and for attributes in double quotes. XML 1.0 has no control
 * characters, not even escaped ones (2.2), and neither has HTML.
 */
const char *rna_escape_html(char c);

/* A span of time for people, in its largest unit: "340 ms", "12 s", "3 h". */
void rna_text_add_span(struct rna_strbuf *out, rna_usec span);

/* Seconds since the epoch in UTC, RFC 3339: "2026-11-21T09:24:19Z". */
void rna_text_add_time(struct rna_strbuf *out, rna_usec realtime);

/* The other way round, in whole seconds; 0: not such a time, or NULL. */
rna_usec rna_text_parse_time(const char *text);

/* Copies what stands in text into arena. 0 or -ENOMEM; the latter also if text has failed. */
int rna_span_keep(struct rna_arena *arena, const struct rna_strbuf *text, struct rna_span *ret);
