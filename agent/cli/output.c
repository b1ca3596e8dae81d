// SPDX-License-Identifier: Apache-2.0
/* Output of commands on stdout, or in a file. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rna/base/file.h"

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

/* https://no-color.org: the variable has an effect if it is set and not empty. */
bool rna_wants_colour(const char *when)
{
	const char *no_color = getenv("NO_COLOR");

	if (strcmp(when, "auto") != 0)
		return strcmp(when, "always") == 0;
	return isatty(STDOUT_FILENO) == 1 && (!no_color || *no_color == '\0');
}
