// SPDX-License-Identifier: Apache-2.0
/*
 * The ethtool backend of a recorded machine: the messages that answered, as hexadecimal digits in
 * a file for each question, and the statistics of drivers as "ethtool -S" writes them. Blanks and
 * line ends between digits mean nothing; a message that was cut short is for its reader to find.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/base/strbuf.h"

#include "ethtool.h"
#include "recorded.h"

enum {
	MESSAGE_MAX = 64 * 1024,
	STATISTICS_SIZE_MAX = 4 * 1024 * 1024, /* of the file */
};

static int read_file(const struct rna_root *root, const char *netdev, const char *name, size_t max,
		     struct rna_strbuf *ret)
{
	RNA_FREE char *path = NULL;
	RNA_CLOSE int fd = -1;

	if (asprintf(&path, RNA_RECORDED_ETHTOOL, netdev, name) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	fd = rna_root_openat(root, path, O_RDONLY);
	if (fd < 0)
		return fd;
	for (;;) {
		char *end = rna_strbuf_reserve(ret, RNA_ATTRIBUTE_MAX);
		ssize_t len;

		if (!end)
			return -ENOMEM;
		len = read(fd, end, RNA_ATTRIBUTE_MAX);
		if (len < 0)
			return -errno;
		ret->len += (size_t)len;
		end[len] = '\0';
		if (len == 0)
			return 0;
		if (ret->len > max)
			return -EMSGSIZE;
	}
}

/* -- Messages ---------------------------------------------------------------------------------- */

/* What it was asked for, and did not answer, has no file: its driver had no answer. */
static int ask(struct rna_ethtool_talk *talk, const struct rna_ethtool_question *question,
	       const char *netdev, struct rna_arena *arena, struct rna_bytes *ret)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	int error = read_file(talk->root, netdev, question->name, MESSAGE_MAX, &text);
	uint8_t *bytes;
	ssize_t len;

	if (error < 0)
		return error == -ENOENT ? -EOPNOTSUPP : error;
	bytes = rna_arena_alloc(arena, text.len / 2 + 1);
	if (!bytes)
		return -ENOMEM;
	len = rna_parse_hex_bytes(text.data, bytes, text.len / 2 + 1);
	if (len < 0)
		return (int)len;
	*ret = (struct rna_bytes){bytes, (size_t)len};
	return 0;
}

/* -- Statistics -------------------------------------------------------------------------------- */

/* Cuts the next line off rest: "NAME: NUMBER", surrounding blanks allowed. */
static int next_statistic(char **rest, char **ret_name, uint64_t *ret)
{
	char *line = strsep(rest, "\n"), *colon;

	line += strspn(line, " \t");
	colon = strrchr(line, ':');
	if (!colon || colon == line || colon - line > RNA_ETHTOOL_NAME_MAX)
		return -EBADMSG;
	*colon = '\0';
	*ret_name = line;
	return rna_parse_u64(colon + 1 + strspn(colon + 1, " "), ret);
}

static size_t count_lines(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

static int list_statistics(const struct rna_root *root, const char *netdev, struct rna_arena *arena,
			   struct rna_ethtool_names *ret)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	int error = read_file(root, netdev, RNA_RECORDED_ETHTOOL_STATISTICS, STATISTICS_SIZE_MAX,
			      &text);
	char *rest = text.data;
	size_t count;

	*ret = (struct rna_ethtool_names){0};
	if (error < 0)
		return error == -ENOENT ? -EOPNOTSUPP : error;
	count = count_lines(text.data);
	ret->names = rna_arena_array(arena, count, sizeof(*ret->names));
	if (!ret->names)
		return -ENOMEM;
	for (; ret->count < count; ret->count++) {
		uint64_t number;
		char *name;

		error = next_statistic(&rest, &name, &number);
		if (error < 0)
			return error;
		memcpy(ret->names[ret->count].text, name, strlen(name) + 1);
	}
	return 0;
}

static int read_statistics(const struct rna_root *root, const char *netdev, size_t count,
			   uint64_t *numbers)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	int error = read_file(root, netdev, RNA_RECORDED_ETHTOOL_STATISTICS, STATISTICS_SIZE_MAX,
			      &text);
	char *rest = text.data, *name;

	if (error < 0)
		return error == -ENOENT ? -EOPNOTSUPP : error;
	if (count_lines(text.data) != count)
		return -ESTALE;
	for (size_t i = 0; i < count && error == 0; i++)
		error = next_statistic(&rest, &name, &numbers[i]);
	return error;
}

const struct rna_ethtool_backend rna_recorded_ethtool = {
	.ask = ask,
	.list_statistics = list_statistics,
	.read_statistics = read_statistics,
};
