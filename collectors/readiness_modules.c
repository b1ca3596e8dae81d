// SPDX-License-Identifier: Apache-2.0
/*
 * Why a module is not loaded: it is blacklisted, or this kernel has none of that name. A module
 * that is blacklisted in a file is not loaded for its hardware, but can be by name; one with an
 * install command that does nothing, or on the command line of the kernel (module_blacklist=), not
 * at all (modprobe.d(5); kernel/module/main.c blacklisted()).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "readiness_sources.h"

enum { CONFIGURATION_MAX = 32 * 1024 };

/* A file in an earlier directory hides files of the same name in later ones. */
static const char *const directories[] = {
	"etc/modprobe.d",     "run/modprobe.d", "usr/local/lib/modprobe.d",
	"usr/lib/modprobe.d", "lib/modprobe.d",
};

/* Files may have "-" where the kernel has "_". */
static bool is_module(const char *text, size_t len, const char *name)
{
	if (len != strlen(name))
		return false;
	return !RNA_ANY(i, len,
			(text[i] == '-' ? '_' : text[i]) != (name[i] == '-' ? '_' : name[i]));
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

static void add(struct rna_blacklist *list, const char *module, const char *path,
		struct rna_arena *arena)
{
	struct rna_blacklisted *item = RNA_GROW(list->items, list->count, arena);

	if (item)
		list->items[list->count] = (struct rna_blacklisted){
			.module = rna_arena_strdup(arena, module),
			.path = path,
		};
	if (!item || !list->items[list->count].module)
		list->failed = true;
	else
		list->count++;
}

void rna_parse_modprobe(char *text, const char *path, struct rna_arena *arena,
			struct rna_blacklist *ret)
{
	char *rest = NULL;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *words = NULL;
		const char *command = strtok_r(line, " \t\r", &words);
		const char *module = command ? strtok_r(NULL, " \t\r", &words) : NULL;
		const char *run = module ? strtok_r(NULL, " \t\r", &words) : NULL;

		if (module && (strcmp(command, "blacklist") == 0 ||
			       (strcmp(command, "install") == 0 && run &&
				(ends_with(run, "/false") || ends_with(run, "/true")))))
			add(ret, module, path, arena);
	}
}

void rna_parse_command_line(char *text, const char *path, struct rna_arena *arena,
			    struct rna_blacklist *ret)
{
	static const char *const keys[] = {"module_blacklist=", "modprobe.blacklist="};
	char *rest = NULL;

	for (char *word = strtok_r(text, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest))
		for (size_t i = 0; i < RNA_ARRAY_SIZE(keys); i++) {
			char *names = NULL;

			if (strncmp(word, keys[i], strlen(keys[i])) != 0)
				continue;
			for (char *name = strtok_r(word + strlen(keys[i]), ",", &names); name;
			     name = strtok_r(NULL, ",", &names))
				add(ret, name, path, arena);
		}
}

static bool is_hidden(const struct rna_root *root, size_t directory, const char *name,
		      struct rna_arena *arena)
{
	for (size_t i = 0; i < directory; i++) {
		const char *path = rna_arena_printf(arena, "%s/%s", directories[i], name);

		if (path && rna_root_exists(root, path))
			return true;
	}
	return false;
}

static void read_directory(const struct rna_root *root, size_t directory, char *text,
			   struct rna_arena *arena, struct rna_blacklist *ret)
{
	char **names = NULL;
	ssize_t count = rna_root_list(root, directories[directory], arena, &names);

	ret->failed |= count == -ENOMEM;
	for (ssize_t i = 0; i < count; i++) {
		const char *path;

		if (!ends_with(names[i], ".conf") || is_hidden(root, directory, names[i], arena))
			continue;
		path = rna_arena_printf(arena, "/%s/%s", directories[directory], names[i]);
		ret->failed |= !path;
		if (path && rna_root_read(root, path + 1, text, CONFIGURATION_MAX) >= 0)
			rna_parse_modprobe(text, path, arena, ret);
	}
}

int rna_read_blacklist(const struct rna_root *root, struct rna_arena *arena,
		       struct rna_blacklist *ret)
{
	RNA_FREE char *text = malloc(CONFIGURATION_MAX);

	*ret = (struct rna_blacklist){0};
	if (!text)
		return -ENOMEM;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(directories); i++)
		read_directory(root, i, text, arena, ret);
	if (rna_root_read(root, &RNA_COMMAND_LINE[1], text, CONFIGURATION_MAX) >= 0)
		rna_parse_command_line(text, RNA_COMMAND_LINE, arena, ret);
	return ret->failed ? -ENOMEM : 0;
}

const char *rna_blacklist_find(const struct rna_blacklist *list, const char *module)
{
	const char *path = NULL;

	/* The last is that of the command line, which nothing overrides. */
	for (size_t i = 0; i < list->count; i++)
		if (is_module(list->items[i].module, strlen(list->items[i].module), module))
			path = list->items[i].path;
	return path;
}

bool rna_is_module_file(const char *line, const char *module)
{
	size_t path = strcspn(line, ":\n"), name = path, len;

	while (name > 0 && line[name - 1] != '/')
		name--;
	len = strcspn(line + name, ".:\n");
	return strncmp(line + name + len, ".ko", 3) == 0 && is_module(line + name, len, module);
}

/* 1, 0, or absent: there is no such file, or it cannot be read. */
static struct rna_value search(const struct rna_root *root, const char *path, const char *module)
{
	RNA_CLOSE int fd = path ? rna_root_openat(root, path, O_RDONLY | O_NONBLOCK) : -1;
	RNA_FCLOSE FILE *file = fd < 0 ? NULL : fdopen(fd, "re");
	RNA_FREE char *line = NULL;
	size_t size = 0;

	if (!file)
		return (struct rna_value){0};
	fd = -1;
	while (getline(&line, &size, file) > 0)
		if (rna_is_module_file(line, module))
			return rna_value_ok(1);
	return rna_value_ok(0);
}

struct rna_value rna_read_module_installed(const struct rna_root *root, const char *kernel,
					   const char *module, struct rna_arena *arena)
{
	static const char *const lists[] = {"modules.builtin", "modules.dep"};
	struct rna_value found = {0};

	for (size_t i = 0; kernel && i < RNA_ARRAY_SIZE(lists) && found.number == 0; i++)
		found = search(root, rna_arena_printf(arena, "lib/modules/%s/%s", kernel, lists[i]),
			       module);
	return found;
}
