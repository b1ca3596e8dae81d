// SPDX-License-Identifier: Apache-2.0
/*
 * The file for node-feature-discovery: a label in each line, and the time at which they expire
 * unless the file is renewed. NFD does not read files that begin with a dot, so the new file is
 * written under such a name and then replaces the old one.
 *
 * It is not forced to the disk: after a loss of power the agent writes it anew, and whatever NFD
 * reads until then, it reads again a minute later.
 * Source: node-feature-discovery, docs/usage/customization-guide.md, "Feature files".
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "rna/base/file.h"
#include "rna/kubernetes.h"

#include "view/text.h"

#define NAME  "rdma-node-agent"
#define FRESH "." NAME ".new"

enum { FILE_MAX = 16 * 1024 };

/* The value of a label in a file, which ends at the end of its line; NULL: it has none. */
static const char *find_value(const char *file, const char *key)
{
	size_t len = strlen(key);

	for (const char *line = file; line && *line; line = strchr(line, '\n')) {
		line += strspn(line, "\n");
		if (strncmp(line, key, len) == 0 && line[len] == '=')
			return line + len + 1;
	}
	return NULL;
}

void rna_nfd_write_features(const struct rna_desired_node *desired, rna_usec expires,
			    const char *before, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, "# Written by rdma-node-agent, which rewrites it before it expires.\n"
			     "# +expiry-time=");
	rna_text_add_time(out, expires);
	rna_strbuf_puts(out, "\n");
	for (size_t i = 0; i < desired->label_count; i++) {
		const char *key = desired->labels[i].key;
		const char *value = desired->labels[i].value ? desired->labels[i].value
							     : find_value(before, key);

		if (value)
			rna_strbuf_printf(out, "%s=%.*s\n", key, (int)strcspn(value, "\n"), value);
	}
}

static int open_directory(const char *path, struct rna_error *error)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		return rna_error_say(error, -ENOENT,
				     "%s: no such directory; check that node-feature-discovery is "
				     "installed and its directory is mounted",
				     path);
	return fd < 0 ? rna_error_set(error, -errno, "%s", path) : fd;
}

/* No more than a file of ours can have; one that cannot be read has nothing for us. */
static void read_before(int directory, struct rna_strbuf *ret)
{
	RNA_CLOSE int fd = openat(directory, NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char *end = fd < 0 ? NULL : rna_strbuf_reserve(ret, FILE_MAX + 1);
	ssize_t got = end ? read(fd, end, FILE_MAX) : -1;

	if (got < 0)
		return;
	ret->len = (size_t)got;
	ret->data[ret->len] = '\0';
}

int rna_nfd_put_file(const char *directory, const struct rna_desired_node *desired,
		     rna_usec expires, struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf before = RNA_STRBUF_INIT, text = RNA_STRBUF_INIT;
	RNA_CLOSE int at = open_directory(directory, error);
	const struct rna_file_place place = {at, NAME, FRESH, .lasting = false};
	int ret;

	if (at < 0)
		return at;
	read_before(at, &before);
	rna_nfd_write_features(desired, expires, before.data, &text);
	if (!rna_strbuf_ok(&text))
		return rna_error_set(error, -ENOMEM, "%s", directory);
	ret = rna_file_replace(&place, text.data, text.len);
	return ret < 0 ? rna_error_set(error, ret, "%s/" NAME ": cannot be written", directory) : 0;
}

int rna_nfd_remove_file(const char *directory, struct rna_error *error)
{
	RNA_CLOSE int at = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (at < 0 && errno != ENOENT)
		return rna_error_set(error, -errno, "%s", directory);
	if (at >= 0)
		(void)unlinkat(at, FRESH, 0); /* of one that was ended while it wrote */
	if (at >= 0 && unlinkat(at, NAME, 0) < 0 && errno != ENOENT)
		return rna_error_set(error, -errno, "%s/" NAME ": cannot be removed", directory);
	return 0;
}
