// SPDX-License-Identifier: Apache-2.0
/*
 * The ethtool backend of a recorded machine: the messages that answered, a file for each question,
 * and the statistics of drivers as "ethtool -S" writes them.
 */
#include <errno.h>
#include <string.h>

#include "ethtool.h"
#include "recorded.h"

enum { STATISTICS_SIZE_MAX = 4 * 1024 * 1024 }; /* of the file */

static int ask(struct rna_ethtool_talk *talk, const struct rna_ethtool_question *question,
	       const char *netdev, struct rna_arena *arena, struct rna_bytes *ret)
{
	return rna_recorded_message(talk->root,
				    rna_arena_printf(arena, RNA_RECORDED_ETHTOOL, netdev,
						     question->name),
				    arena, ret);
}

/* -- Statistics -------------------------------------------------------------------------------- */

/* Number of lines; *ret is to be freed. -EOPNOTSUPP: there is no such file. */
static ssize_t read_lines(const struct rna_root *root, const char *netdev, char **ret)
{
	RNA_FREE char *text = malloc(STATISTICS_SIZE_MAX), *path = NULL;
	ssize_t count = 0, status;

	if (asprintf(&path, RNA_RECORDED_ETHTOOL, netdev, RNA_RECORDED_ETHTOOL_STATISTICS) < 0)
		path = NULL;
	if (!path || !text)
		return -ENOMEM;
	status = rna_root_read(root, path, text, STATISTICS_SIZE_MAX);
	if (status < 0)
		return status == -ENOENT ? -EOPNOTSUPP : status;
	for (const char *line = text; *line; line = strchrnul(line + 1, '\n'))
		count++;
	*ret = RNA_TAKE(text);
	return count;
}

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

static int list_statistics(const struct rna_root *root, const char *netdev, struct rna_arena *arena,
			   struct rna_ethtool_names *ret)
{
	RNA_FREE char *text = NULL;
	ssize_t count = read_lines(root, netdev, &text);
	char *rest = text, *name;
	uint64_t number;
	int error = 0;

	*ret = (struct rna_ethtool_names){0};
	if (count < 0)
		return (int)count;
	ret->names = rna_arena_array(arena, (size_t)count, sizeof(*ret->names));
	if (!ret->names)
		return -ENOMEM;
	for (; ret->count < (size_t)count; ret->count++) {
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
	RNA_FREE char *text = NULL;
	ssize_t lines = read_lines(root, netdev, &text);
	char *rest = text, *name;
	int error = 0;

	if (lines < 0)
		return (int)lines;
	if ((size_t)lines != count)
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
