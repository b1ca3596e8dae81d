// SPDX-License-Identifier: Apache-2.0
#include "rna/base/strbuf.h"

#include <stdarg.h>

enum { FIRST_SIZE = 256, U64_DIGITS = 20 };

void rna_strbuf_deinit(struct rna_strbuf *buf)
{
	free(buf->data);
	*buf = RNA_STRBUF_INIT;
}

/* Doubles size until len + more and a NUL fit. */
static bool grow(struct rna_strbuf *buf, size_t more)
{
	size_t need, size = buf->size ? buf->size : FIRST_SIZE;
	char *data;

	if (buf->failed || __builtin_add_overflow(buf->len + 1, more, &need))
		goto fail;
	while (size < need)
		if (__builtin_mul_overflow(size, 2, &size))
			goto fail;
	data = realloc(buf->data, size);
	if (!data)
		goto fail;
	buf->data = data;
	buf->size = size;
	return true;
fail:
	buf->failed = true;
	return false;
}

char *rna_strbuf_reserve(struct rna_strbuf *buf, size_t more)
{
	if (buf->failed || (buf->size <= more || buf->len >= buf->size - more))
		if (!grow(buf, more))
			return NULL;
	return buf->data + buf->len;
}

void rna_strbuf_add(struct rna_strbuf *buf, const void *data, size_t len)
{
	char *end = rna_strbuf_reserve(buf, len);

	if (!end)
		return;
	if (len > 0)
		memcpy(end, data, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void rna_strbuf_add_char(struct rna_strbuf *buf, char c)
{
	rna_strbuf_add(buf, &c, 1);
}

/* In no locale but that of C. */
static bool is_unreserved(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '.' || c == '_' || c == '~';
}

void rna_strbuf_add_encoded(struct rna_strbuf *buf, const char *text)
{
	for (; *text; text++)
		if (is_unreserved(*text))
			rna_strbuf_add_char(buf, *text);
		else
			rna_strbuf_printf(buf, "%%%02X", (unsigned char)*text);
}

void rna_strbuf_add_u64(struct rna_strbuf *buf, uint64_t number)
{
	char digits[U64_DIGITS], *first = digits + sizeof(digits);

	do {
		*--first = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	rna_strbuf_add(buf, first, (size_t)(digits + sizeof(digits) - first));
}

void rna_strbuf_printf(struct rna_strbuf *buf, const char *format, ...)
{
	va_list args;
	char *end;
	int len;

	va_start(args, format);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	end = len < 0 ? NULL : rna_strbuf_reserve(buf, (size_t)len);
	if (!end) {
		buf->failed = true;
		return;
	}
	va_start(args, format);
	(void)vsnprintf(end, (size_t)len + 1, format, args);
	va_end(args);
	buf->len += (size_t)len;
}

char *rna_strbuf_take(struct rna_strbuf *buf)
{
	char *data = buf->failed ? NULL : RNA_TAKE(buf->data);

	rna_strbuf_deinit(buf);
	return data;
}
