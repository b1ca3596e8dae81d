/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing byte buffer. A failed allocation is remembered and all later calls do nothing, so
 * writers write without a check per line and ask rna_strbuf_ok() once, at the end.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "rna/base/cleanup.h"

struct rna_strbuf {
	char *data; /* NULL while empty; always followed by a NUL that len does not count */
	size_t len;
	size_t size;
	bool failed;
};

#define RNA_STRBUF_INIT ((struct rna_strbuf){0})

void rna_strbuf_deinit(struct rna_strbuf *buf); /* idempotent */
#define RNA_STRBUF RNA_CLEANUP(rna_strbuf_deinit)

static inline bool rna_strbuf_ok(const struct rna_strbuf *buf)
{
	return !buf->failed;
}

/* Makes room for more bytes behind len and returns where to write them, or NULL. */
char *rna_strbuf_reserve(struct rna_strbuf *buf, size_t more);

void rna_strbuf_add(struct rna_strbuf *buf, const void *data, size_t len);
void rna_strbuf_add_char(struct rna_strbuf *buf, char c);
void rna_strbuf_add_u64(struct rna_strbuf *buf, uint64_t number);
void rna_strbuf_add_double(struct rna_strbuf *buf, double number); /* shortest that reads back */
void rna_strbuf_printf(struct rna_strbuf *buf, const char *format, ...) RNA_PRINTF(2, 3);

static inline void rna_strbuf_puts(struct rna_strbuf *buf, const char *text)
{
	rna_strbuf_add(buf, text, strlen(text));
}

/* Gives data away (NUL-ended, to be freed) and leaves buf empty. NULL when empty or failed. */
char *rna_strbuf_take(struct rna_strbuf *buf);
