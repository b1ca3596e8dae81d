// SPDX-License-Identifier: Apache-2.0
/* Output of commands on stdout. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"

int rna_output(const char *data, size_t len, struct rna_error *error)
{
	while (len > 0) {
		ssize_t written = write(STDOUT_FILENO, data, len);

		if (written < 0 && errno != EINTR)
			return rna_error_set(error, -errno, "cannot write the output");
		if (written > 0) {
			data += written;
			len -= (size_t)written;
		}
	}
	return 0;
}

int rna_output_strbuf(const struct rna_strbuf *text, struct rna_error *error)
{
	if (!rna_strbuf_ok(text))
		return rna_error_set(error, -ENOMEM, "cannot write the output");
	return rna_output(text->data, text->len, error);
}

/* https://no-color.org: the variable has an effect if it is set and not empty. */
bool rna_wants_colour(const char *when)
{
	const char *no_color = getenv("NO_COLOR");

	if (strcmp(when, "auto") != 0)
		return strcmp(when, "always") == 0;
	return isatty(STDOUT_FILENO) == 1 && (!no_color || *no_color == '\0');
}
