// SPDX-License-Identifier: Apache-2.0
/*
 * Output of commands on the standard streams, or in a file. No other file writes to the streams,
 * except the log (tests/layers/check-layers.py): so that texts of others, replies of other agents
 * among them, reach a terminal only as plain characters (rna/base/characters.h). Formats that
 * programs read have escapes of their own and pass unchanged.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rna/base/characters.h"
#include "rna/base/file.h"

#include "commands.h"

static int fail(int status, struct rna_error *error)
{
	return rna_error_set(error, status, "cannot write the output");
}

static const char *keep_lines(char c)
{
	return c == '\n' ? "\n" : c == '\t' ? "\t" : NULL;
}

static int write_plain(const struct rna_strbuf *plain, struct rna_error *error)
{
	int status = rna_strbuf_ok(plain)
			     ? rna_file_write_all(STDOUT_FILENO, plain->data, plain->len)
			     : -ENOMEM;

	return status < 0 ? fail(status, error) : 0;
}

int rna_output(const char *data, size_t len, struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf plain = RNA_STRBUF_INIT;

	if (len > 0)
		rna_strbuf_add_plain(&plain, data, len, keep_lines);
	return write_plain(&plain, error);
}

int rna_output_strbuf(const struct rna_strbuf *text, struct rna_error *error)
{
	return rna_strbuf_ok(text) ? rna_output(text->data, text->len, error)
				   : fail(-ENOMEM, error);
}

/* Bytes of "ESC [ 1 ; 31 m" (ECMA-48, SGR), which changes how text looks and nothing else; or 0. */
static size_t colour_length(const char *text)
{
	size_t len = strlen("\033[");

	if (strncmp(text, "\033[", len) != 0)
		return 0;
	len += strspn(text + len, "0123456789;");
	return text[len] == 'm' ? len + 1 : 0;
}

int rna_output_coloured(const struct rna_strbuf *text, bool colour, struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf plain = RNA_STRBUF_INIT;
	size_t len;

	if (!colour || !rna_strbuf_ok(text))
		return rna_output_strbuf(text, error);
	for (size_t at = 0; at < text->len; at += len) {
		const char *from = text->data + at, *next;

		len = colour_length(from);
		if (len > 0) {
			rna_strbuf_add(&plain, from, len);
			continue;
		}
		next = memchr(from + 1, '\033', text->len - at - 1);
		len = next ? (size_t)(next - from) : text->len - at;
		rna_strbuf_add_plain(&plain, from, len, keep_lines);
	}
	return write_plain(&plain, error);
}

void rna_output_progress(const char *text, size_t len)
{
	RNA_STRBUF struct rna_strbuf line = RNA_STRBUF_INIT;

	if (!isatty(STDERR_FILENO))
		return;
	rna_strbuf_puts(&line, "\r\033[K"); /* erases the line */
	rna_strbuf_add_plain(&line, text, len, NULL);
	if (rna_strbuf_ok(&line))
		(void)rna_file_write_all(STDERR_FILENO, line.data, line.len); /* the next one may */
}

/* -- A file ------------------------------------------------------------------------------------ */

static int open_directory(const char *path, struct rna_error *error)
{
	const char *slash = strrchr(path, '/');
	RNA_FREE char *directory = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	int fd;

	if (!directory)
		return rna_error_set(error, -ENOMEM, "%s", path);
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? rna_error_set(error, -errno, "%s: cannot open the directory", path) : fd;
}

/*
 * The temporary name begins with a dot and does not end as the file does: the textfile collector
 * reads *.prom. It has the number of the process: two that write the same file at a time do not
 * write the same temporary one.
 */
int rna_output_file(const char *path, const char *data, size_t len, struct rna_error *error)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	RNA_STRBUF struct rna_strbuf fresh = RNA_STRBUF_INIT;
	RNA_CLOSE int directory = open_directory(path, error);
	mode_t mask;
	int ret;

	if (directory < 0)
		return directory;
	rna_strbuf_printf(&fresh, ".%s.%jd", name, (intmax_t)getpid());
	if (!rna_strbuf_ok(&fresh))
		return rna_error_set(error, -ENOMEM, "%s", path);
	mask = umask(0022); /* others read the file, whatever mask a unit has set */
	ret = rna_file_replace(&(const struct rna_file_place){directory, name, fresh.data,
							      .lasting = true},
			       data, len);
	(void)umask(mask);
	return ret < 0 ? rna_error_set(error, ret, "%s: cannot write the file", path) : 0;
}

size_t rna_output_width(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* https://no-color.org: the variable has an effect if it is set and not empty. */
bool rna_wants_colour(const char *when)
{
	const char *no_color = getenv("NO_COLOR");

	if (strcmp(when, "auto") != 0)
		return strcmp(when, "always") == 0;
	return isatty(STDOUT_FILENO) == 1 && (!no_color || *no_color == '\0');
}
