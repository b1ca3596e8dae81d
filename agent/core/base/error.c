// SPDX-License-Identifier: Apache-2.0
/* See rna/base/error.h for the rule. */
#include "rna/base/error.h"

#include <errno.h>
#include <string.h>

static void append_errno(struct rna_error *error, int code)
{
	size_t len = strlen(error->text);
	char description[128];
	const char *text = strerror_r(-code, description, sizeof(description));

	(void)snprintf(error->text + len, sizeof(error->text) - len, ": %s", text);
}

static void set_text(struct rna_error *error, int code, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

static void set_text(struct rna_error *error, int code, const char *format, va_list args)
{
	error->code = code;
	(void)vsnprintf(error->text, sizeof(error->text), format, args); /* cut when too long */
}

int rna_error_set(struct rna_error *error, int code, const char *format, ...)
{
	va_list args;

	if (!error)
		return code;
	va_start(args, format);
	set_text(error, code, format, args);
	va_end(args);
	if (code < 0)
		append_errno(error, code);
	return code;
}

int rna_error_say(struct rna_error *error, int code, const char *format, ...)
{
	va_list args;

	if (!error)
		return code;
	va_start(args, format);
	set_text(error, code, format, args);
	va_end(args);
	return code;
}

int rna_error_prefix(struct rna_error *error, const char *format, ...)
{
	char old[RNA_ERROR_MAX];
	va_list args;
	size_t len;

	if (!error)
		return 0;
	memcpy(old, error->text, sizeof(old));
	va_start(args, format);
	set_text(error, error->code, format, args);
	va_end(args);
	len = strlen(error->text);
	(void)snprintf(error->text + len, sizeof(error->text) - len, ": %s", old);
	return error->code;
}

bool rna_error_is_lack(int code)
{
	return code == -ENOMEM || code == -EMFILE || code == -ENFILE;
}

bool rna_error_is_absence(int code)
{
	return code == -ENOENT || code == -ENOTDIR || code == -ELOOP || code == -ENODEV;
}
