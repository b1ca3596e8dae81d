/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing byte buffer. After a failed allocation all later calls do nothing, so writers need no
 * check per line and call rna_strbuf_ok() once, at the end.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "rna/base/cleanup.h"

struct rna_strbuf {
	char *data; /* NULL while empty; otherwise ends with a NUL that len does not count */
	size_t len;
	size_t size;
	bool failed;
};

/* A piece of prepared text. */
struct rna_span {
	const char *text;
	size_t len;
};

#define RNA_STRBUF_INIT ((struct rna_strbuf){0})

void rna_strbuf_deinit(struct rna_strbuf *buf); /* idempotent */
#define RNA_STRBUF RNA_CLEANUP(rna_strbuf_deinit)

static inline bool rna_strbuf_ok(const struct rna_strbuf *buf)
{
	return !buf->failed;
}

/* Makes room for more bytes after len. Returns where to write them, or NULL: no memory. */
char *rna_strbuf_reserve(struct rna_strbuf *buf, size_t more);

void rna_strbuf_add(struct rna_strbuf *buf, const void *data, size_t len);
void rna_strbuf_add_char(struct rna_strbuf *buf, char c);
/* As part of a URL: all but letters, digits and "-._~" is percent-encoded (RFC 3986). */
void rna_strbuf_add_encoded(struct rna_strbuf *buf, const char *text);
void rna_strbuf_add_u64(struct rna_strbuf *buf, uint64_t number);
void rna_strbuf_printf(struct rna_strbuf *buf, const char *format, ...) RNA_PRINTF(2, 3);

static inline void rna_strbuf_puts(struct rna_strbuf *buf, const char *text)
{
	rna_strbuf_add(buf, text, strlen(text));
}

/*
 * Returns data (NUL-terminated), which the caller frees, and empties buf. NULL: buf is empty or
 * failed.
 */
char *rna_strbuf_take(struct rna_strbuf *buf);
