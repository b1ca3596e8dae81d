// SPDX-License-Identifier: Apache-2.0
#include "runtime_limits.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/capability.h>

#include "rna/base/json_document.h"
#include "rna/base/parse.h"

#include "parse/cgroup.h"

#include "process_limits.h"

enum {
	CONFIG_MAX = 256 * 1024,
	FILES_MAX = 64,        /* of a configuration, with those that it imports */
	PROCESSES_MAX = 32768, /* further ones are not looked at */
	CONTAINERS_MAX = 1024,
	STATUS_MAX = 4096,
};

#define LIMIT "RLIMIT_MEMLOCK"

/* -- Configuration of runtimes ----------------------------------------------------------------- */

struct configuration {
	const struct rna_root *root;
	struct rna_arena *keep;
	struct rna_arena *scratch;
	struct rna_runtime *runtime;
	char *text; /* CONFIG_MAX */
	size_t files;
	bool no_memory;
};

static void set_spec(struct configuration *configuration, struct rna_value limit, const char *path)
{
	struct rna_runtime *runtime = configuration->runtime;

	runtime->spec = limit;
	runtime->spec_file = rna_arena_printf(configuration->keep, "/%s", path);
	configuration->no_memory |= !runtime->spec_file;
}

/* NULL: there is no such file, or it cannot be read, which makes the limit unknown. */
static char *read_file(struct configuration *configuration, const char *path)
{
	ssize_t len = rna_root_read(configuration->root, path, configuration->text, CONFIG_MAX);

	if (len >= 0)
		return configuration->text;
	if (len == -ENOENT || len == -ENOTDIR || rna_value_is_known(configuration->runtime->spec))
		return NULL;
	set_spec(configuration, rna_value_unreadable(), path);
	return NULL;
}

/* Of several handlers the most counts: pods that need it select that handler. */
static void take_limit(struct configuration *configuration, const char *path, uint64_t limit)
{
	struct rna_runtime *runtime = configuration->runtime;

	if (rna_value_is_known(runtime->spec) && runtime->spec.number >= limit)
		return;
	set_spec(configuration, rna_value_ok(limit), path);
}

/* A file that its software could not read either says nothing. */
static json_t *parse(struct configuration *configuration, const char *text)
{
	static const struct rna_json_limits limits = {
		.memory = 4 << 20,
		.levels = 32,
		.flags = JSON_DECODE_INT_AS_REAL,
	};
	json_t *document = NULL;
	int status = rna_json_parse(text, strlen(text), &limits, &document, NULL);

	configuration->no_memory |= status == -ENOMEM;
	return status == 0 ? document : NULL;
}

/* -1 and RLIM_INFINITY, which a double holds as 2^64, mean that there is no limit. */
static bool read_limit(const json_t *number, uint64_t *ret)
{
	double limit = json_number_value(number);

	if (!json_is_number(number))
		return false;
	*ret = limit < 0 || limit >= 0x1p63 ? RNA_MEMLOCK_INFINITY : (uint64_t)limit;
	return true;
}

/* The specification that containerd begins with: {"process": {"rlimits": [{...}]}}. */
static void read_specification(struct configuration *configuration, const char *path)
{
	const char *text = read_file(configuration, path);
	RNA_CLEANUP(rna_json_free_p) json_t *document = text ? parse(configuration, text) : NULL;
	const json_t *limits = json_object_get(json_object_get(document, "process"), "rlimits");
	uint64_t limit;

	for (size_t i = 0; i < json_array_size(limits); i++) {
		const json_t *entry = json_array_get(limits, i);
		const char *type = json_string_value(json_object_get(entry, "type"));

		if (type && strcmp(type, LIMIT) == 0 &&
		    read_limit(json_object_get(entry, "soft"), &limit))
			take_limit(configuration, path, limit);
	}
}

/* The value of "key = value" in a line of TOML, or NULL. */
static const char *value_of(const char *line, const char *key)
{
	size_t len = strlen(key);

	line += strspn(line, " \t");
	if (strncmp(line, key, len) != 0)
		return NULL;
	line += len;
	line += strspn(line, " \t");
	return *line == '=' ? line + 1 + strspn(line + 1, " \t") : NULL;
}

/* Behind blanks, commas, comments and line ends: the next element of a list, or its end. */
static const char *skip(const char *text)
{
	for (text += strspn(text, " \t\n,["); *text == '#'; text += strspn(text, " \t\n,["))
		text += strcspn(text, "\n");
	return text;
}

/* The next string of a value, in scratch, without escapes; *text is moved behind it. NULL: none. */
static char *next_string(struct configuration *configuration, const char **text)
{
	const char *begin = skip(*text);
	size_t len;
	char *string;

	if (*begin != '"' && *begin != '\'')
		return NULL;
	len = strcspn(begin + 1, *begin == '"' ? "\"\n" : "'\n");
	if (begin[1 + len] != *begin)
		return NULL;
	*text = begin + len + 2;
	string = rna_arena_printf(configuration->scratch, "%.*s", (int)len, begin + 1);
	configuration->no_memory |= !string;
	return string;
}

static const char *relative(const char *path)
{
	return path + strspn(path, "/");
}

static void read_containerd(struct configuration *configuration, const char *path);

/* A path, or a glob of files: the star is in the last component only. */
static void read_import(struct configuration *configuration, const char *pattern)
{
	const char *slash = strrchr(pattern, '/');
	char **names = NULL;
	const char *directory;
	ssize_t count;

	if (!slash || *pattern != '/')
		return;
	directory =
		rna_arena_printf(configuration->scratch, "%.*s", (int)(slash - pattern), pattern);
	count = directory ? rna_root_list(configuration->root, relative(directory),
					  configuration->scratch, &names)
			  : -ENOMEM;
	configuration->no_memory |= count == -ENOMEM;
	for (ssize_t i = 0; i < count; i++) {
		const char *path = fnmatch(slash + 1, names[i], FNM_PERIOD) == 0
					   ? rna_arena_printf(configuration->scratch, "%s/%s",
							      relative(directory), names[i])
					   : NULL;

		if (path)
			read_containerd(configuration, path);
	}
}

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return line + (*line == '\n');
}

/*
 * Each runtime handler ([plugins."io.containerd.grpc.v1.cri".containerd.runtimes.NAME], and
 * io.containerd.cri.v1.runtime since containerd 2) may have a specification of its own. The files
 * that the text names are read after it, because they take its place.
 */
static void read_containerd(struct configuration *configuration, const char *path)
{
	char *imports[FILES_MAX], *specs[FILES_MAX];
	size_t import_count = 0, spec_count = 0;
	const char *line =
		configuration->files++ < FILES_MAX ? read_file(configuration, path) : NULL;

	for (; line && *line; line = next_line(line)) {
		const char *value = value_of(line, "base_runtime_spec");

		if (value && spec_count < FILES_MAX)
			spec_count +=
				(specs[spec_count] = next_string(configuration, &value)) != NULL;
		value = value_of(line, "imports");
		while (value && import_count < FILES_MAX &&
		       (imports[import_count] = next_string(configuration, &value)))
			import_count++;
	}
	for (size_t i = 0; i < spec_count; i++)
		if (*specs[i])
			read_specification(configuration, relative(specs[i]));
	for (size_t i = 0; i < import_count; i++)
		read_import(configuration, imports[i]);
}

/* default_ulimits = ["memlock=-1:-1"]: soft and hard; the list of a later file replaces it. */
static void read_crio(struct configuration *configuration, const char *path)
{
	static const char name[] = "memlock=";
	struct rna_runtime *runtime = configuration->runtime;
	const char *line = read_file(configuration, path), *value;
	const char *limit;
	int64_t number;

	for (; line && *line; line = next_line(line)) {
		if (!(value = value_of(line, "default_ulimits")))
			continue;
		if (rna_value_is_known(runtime->spec)) {
			runtime->spec = (struct rna_value){0};
			runtime->spec_file = NULL;
		}
		while ((limit = next_string(configuration, &value)))
			if (strncmp(limit, name, strlen(name)) == 0 &&
			    sscanf(limit + strlen(name), "%" SCNd64, &number) == 1)
				take_limit(configuration, path,
					   number < 0 ? RNA_MEMLOCK_INFINITY : (uint64_t)number);
	}
}

static void read_crio_all(struct configuration *configuration, const char *path)
{
	const char *directory = rna_arena_printf(configuration->scratch, "%s.d", path);
	char **names = NULL;
	ssize_t count;

	read_crio(configuration, path);
	count = directory ? rna_root_list(configuration->root, directory, configuration->scratch,
					  &names)
			  : -ENOMEM;
	configuration->no_memory |= count == -ENOMEM;
	for (ssize_t i = 0; i < count && i < FILES_MAX; i++) {
		const char *file =
			rna_arena_printf(configuration->scratch, "%s/%s", directory, names[i]);

		if (file)
			read_crio(configuration, file);
	}
}

/* {"default-ulimits": {"memlock": {"Name": "memlock", "Hard": -1, "Soft": -1}}} */
static void read_docker(struct configuration *configuration, const char *path)
{
	const char *text = read_file(configuration, path);
	RNA_CLEANUP(rna_json_free_p) json_t *document = text ? parse(configuration, text) : NULL;
	const json_t *limits = json_object_get(document, "default-ulimits");
	uint64_t limit;

	if (read_limit(json_object_get(json_object_get(limits, "memlock"), "Soft"), &limit))
		take_limit(configuration, path, limit);
}

static const struct {
	const char *unit, *file;
	void (*read)(struct configuration *configuration, const char *path);
	const char *process; /* its name */
} programs[] = {
	{"containerd.service", "etc/containerd/config.toml", read_containerd, "containerd"},
	{"crio.service", "etc/crio/crio.conf", read_crio_all, "crio"},
	{"docker.service", "etc/docker/daemon.json", read_docker, "dockerd"},
	{"k3s", "var/lib/rancher/k3s/agent/etc/containerd/config.toml", read_containerd,
	 "containerd"},
	{"rke2", "var/lib/rancher/rke2/agent/etc/containerd/config.toml", read_containerd,
	 "containerd"},
};

static size_t program_of(const struct rna_runtime *runtime)
{
	size_t i = 0;

	while (i < RNA_ARRAY_SIZE(programs) &&
	       strncmp(runtime->unit, programs[i].unit, strlen(programs[i].unit)) != 0)
		i++;
	return i;
}

int rna_read_runtime_spec(const struct rna_root *root, struct rna_arena *keep,
			  struct rna_runtime *runtime)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *scratch = rna_arena_new(0);
	RNA_FREE char *text = malloc(CONFIG_MAX); /* too large to keep between runs */
	struct configuration configuration = {
		.root = root, .keep = keep, .scratch = scratch, .runtime = runtime, .text = text};
	size_t program = program_of(runtime);

	if (!text || !scratch)
		return -ENOMEM;
	if (program < RNA_ARRAY_SIZE(programs))
		programs[program].read(&configuration, programs[program].file);
	return configuration.no_memory ? -ENOMEM : 0;
}

/* -- Processes --------------------------------------------------------------------------------- */

struct look {
	const struct rna_root *root;
	struct rna_arena *arena;
	struct rna_runtime *runtimes;
	size_t runtime_count;
	struct rna_container_limits *ret;
	/* Containers that were seen: an open hash table of identifiers, half of it empty. */
	size_t seen_count;
	char seen[2 * CONTAINERS_MAX][RNA_CONTAINER_ID];
	char cgroup[STATUS_MAX];
	char text[STATUS_MAX];
};

/* A file of the process, valid until the next one; NULL: it has ended, or is not visible. */
static const char *read_of(struct look *look, const char *pid, const char *name)
{
	char path[sizeof("proc/4294967295/cgroup")];
	int len = snprintf(path, sizeof(path), "proc/%s/%s", pid, name);

	return len < (int)sizeof(path) &&
			       rna_root_read(look->root, path, look->text, sizeof(look->text)) >= 0
		       ? look->text
		       : NULL;
}

/* Takes each container once. False: it was seen, or there are too many. */
static bool is_new(struct look *look, const char *id)
{
	char head[9] = "";
	size_t at;

	memcpy(head, id, sizeof(head) - 1);
	if (look->seen_count >= CONTAINERS_MAX)
		return false;
	for (at = strtoul(head, NULL, 16) % RNA_ARRAY_SIZE(look->seen); *look->seen[at];
	     at = (at + 1) % RNA_ARRAY_SIZE(look->seen))
		if (memcmp(look->seen[at], id, RNA_CONTAINER_ID) == 0)
			return false;
	memcpy(look->seen[at], id, RNA_CONTAINER_ID);
	look->seen_count++;
	return true;
}

/* Those that runtimes start beside a container, and what holds the namespaces of a pod. */
static bool is_helper(const char *name)
{
	static const char *const helpers[] = {"pause", "conmon", "containerd-shim"};

	for (size_t i = 0; name && i < RNA_ARRAY_SIZE(helpers); i++)
		if (strcmp(name, helpers[i]) == 0)
			return true;
	return !name;
}

static void look_at_container(struct look *look, const char *pid, const char *id)
{
	struct rna_container_limits *ret = look->ret;
	struct rna_value limit;

	if (is_helper(read_of(look, pid, "comm")) || !is_new(look, id))
		return;
	limit = rna_process_memlock(look->root, pid);
	if (!rna_value_is_known(limit))
		return;
	ret->count++;
	if (limit.number >= RNA_MEMLOCK_ENOUGH ||
	    rna_process_has_capability(look->root, pid, CAP_IPC_LOCK))
		return;
	ret->low++;
	if (!rna_value_is_known(ret->lowest) || limit.number < ret->lowest.number)
		ret->lowest = limit;
	if (!ret->example)
		ret->example = rna_arena_printf(look->arena, "%.*s", RNA_CONTAINER_ID_SHOWN, id);
}

/* Is it the program of the runtime, which root starts as a unit? */
static void look_at_unit(struct look *look, const char *pid, const struct rna_cgroup_owner *owner)
{
	for (size_t i = 0; owner->unit && !owner->by_user && i < look->runtime_count; i++) {
		struct rna_runtime *runtime = &look->runtimes[i];
		size_t program = program_of(runtime);
		const char *name;

		if (program >= RNA_ARRAY_SIZE(programs) || rna_value_is_known(runtime->running) ||
		    strcmp(owner->unit, runtime->unit) != 0)
			continue;
		name = read_of(look, pid, "comm");
		if (name && strcmp(name, programs[program].process) == 0)
			runtime->running = rna_process_memlock(look->root, pid);
		return;
	}
}

static void look_at_process(struct look *look, const char *pid)
{
	char path[sizeof("proc/4294967295/cgroup")];
	struct rna_cgroup_owner owner;
	int len = snprintf(path, sizeof(path), "proc/%s/cgroup", pid);

	if (len >= (int)sizeof(path) ||
	    rna_root_read(look->root, path, look->cgroup, sizeof(look->cgroup)) < 0)
		return;
	rna_cgroup_read(look->cgroup, &owner);
	if (owner.container)
		look_at_container(look, pid, owner.container);
	else
		look_at_unit(look, pid, &owner);
}

int rna_read_process_limits(const struct rna_root *root, struct rna_arena *arena,
			    struct rna_runtime *runtimes, size_t count,
			    struct rna_container_limits *ret)
{
	RNA_FREE struct look *look = calloc(1, sizeof(*look));
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *scratch = rna_arena_new(0);
	char **names = NULL;
	ssize_t found;

	if (!look || !scratch)
		return -ENOMEM;
	look->root = root;
	look->arena = arena;
	look->runtimes = runtimes;
	look->runtime_count = count;
	look->ret = ret;
	found = rna_root_list(root, "proc", scratch, &names);
	for (ssize_t i = 0, processes = 0; i < found && processes < PROCESSES_MAX; i++)
		if (isdigit((unsigned char)*names[i])) {
			processes++;
			look_at_process(look, names[i]);
		}
	return found == -ENOMEM ? -ENOMEM : 0;
}
