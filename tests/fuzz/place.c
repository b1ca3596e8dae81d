// SPDX-License-Identifier: Apache-2.0
#include "place.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rna/model/snapshot.h"

#include "fuzz.h"

enum { DESCRIPTORS = 64, DEPTH_MAX = 16, COMPONENT_MAX = 255 };

/* -- Directories ------------------------------------------------------------------------------- */

void fuzz_place_path(const char *name, char ret[FUZZ_PLACE_MAX])
{
	(void)snprintf(ret, FUZZ_PLACE_MAX, "/dev/shm/rna-fuzz-%d%s%s", getpid(), *name ? "/" : "",
		       name);
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *where)
{
	(void)info, (void)type, (void)where;
	return remove(path);
}

static void clear(const char *name)
{
	char path[FUZZ_PLACE_MAX];

	fuzz_place_path(name, path);
	(void)nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static void clear_all(void)
{
	clear("");
}

void fuzz_place_new(const char *name)
{
	static bool made;
	char path[FUZZ_PLACE_MAX];

	if (!made) {
		clear_all(); /* of an earlier process with this number */
		fuzz_place_path("", path);
		FUZZ_WANT(mkdir(path, 0700) == 0);
		(void)atexit(clear_all);
		made = true;
	}
	clear(name);
	fuzz_place_path(name, path);
	FUZZ_WANT(mkdir(path, 0700) == 0);
}

int fuzz_place_directory_of(const char *place, char **path)
{
	int fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *slash;

	for (int depth = 0; fd >= 0 && (slash = strchr(*path, '/')); depth++) {
		RNA_CLOSE int parent = fd;

		*slash = '\0';
		if (depth > DEPTH_MAX || strlen(*path) > COMPONENT_MAX || strcmp(*path, "..") == 0)
			return -1;
		if (**path)
			(void)mkdirat(parent, *path, 0700); /* it may be there, or be a file */
		fd = openat(parent, **path ? *path : ".",
			    O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		*path = slash + 1;
	}
	return fd;
}

void fuzz_place_swap(const char *place, const char *path, const char *other)
{
	char paths[2][PATH_MAX], *names[2] = {paths[0], paths[1]};
	RNA_CLOSE int first = -1, second = -1;

	(void)snprintf(paths[0], sizeof(paths[0]), "%s", path);
	(void)snprintf(paths[1], sizeof(paths[1]), "%s", other);
	first = fuzz_place_directory_of(place, &names[0]);
	second = fuzz_place_directory_of(place, &names[1]);
	if (first >= 0 && second >= 0)
		(void)renameat2(first, names[0], second, names[1], RENAME_EXCHANGE);
}

/* -- Outside ----------------------------------------------------------------------------------- */

static int watch = -1; /* of inotify */

bool fuzz_place_is_touched(void)
{
	char events[4096];
	bool ret = false;

	while (read(watch, events, sizeof(events)) > 0)
		ret = true;
	return ret;
}

void fuzz_place_watch(void)
{
	char outside[FUZZ_PLACE_MAX], above[FUZZ_PLACE_MAX], secret[FUZZ_PLACE_MAX];
	char line[] = "write secret = 0x15b3";
	int fd;

	fuzz_place_path("outside", outside);
	fuzz_place_path("", above);
	fuzz_place_path("outside/secret", secret);
	fuzz_place_new("outside");
	fuzz_place_obey(outside, line);
	watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	FUZZ_WANT(inotify_add_watch(watch, outside, IN_ALL_EVENTS) >= 0);
	FUZZ_WANT(inotify_add_watch(watch, above,
				    IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MODIFY | IN_MOVE) >= 0);
	fd = open(secret, O_RDONLY | O_CLOEXEC);
	FUZZ_WANT(fd >= 0 && close(fd) == 0);
	FUZZ_WANT(fuzz_place_is_touched()); /* or nothing would ever be seen */
}

/* -- Lines ------------------------------------------------------------------------------------- */

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef", *digit = c ? strchr(digits, c) : NULL;

	return digit ? (int)(digit - digits) : -1;
}

/* In place, with a NUL behind it; \n and \xNN are understood. The new length. */
static size_t unescape(char *text)
{
	char *out = text;

	for (const char *at = text; *at; at++) {
		if (at[0] == '\\' && at[1] == 'n') {
			*out++ = '\n';
			at++;
		} else if (at[0] == '\\' && at[1] == 'x' && hex_digit(at[2]) >= 0 &&
			   hex_digit(at[3]) >= 0) {
			*out++ = (char)(hex_digit(at[2]) << 4 | hex_digit(at[3]));
			at += 3;
		} else {
			*out++ = *at;
		}
	}
	*out = '\0';
	return (size_t)(out - text);
}

static void write_file(const char *place, char *path, const char *text, size_t len)
{
	RNA_CLOSE int directory = fuzz_place_directory_of(place, &path), fd = -1;

	if (directory < 0)
		return;
	fd = openat(directory, path,
		    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (fd >= 0)
		(void)!write(fd, text, len);
}

void fuzz_place_link(const char *place, char *path, const char *target)
{
	RNA_CLOSE int directory = fuzz_place_directory_of(place, &path);
	char whole[PATH_MAX], above[FUZZ_PLACE_MAX];

	if (directory < 0 || !*path)
		return;
	fuzz_place_path("", above);
	(void)snprintf(whole, sizeof(whole), "%s%s", *target == '@' ? above : "",
		       target + (*target == '@'));
	(void)symlinkat(whole, directory, path);
}

static void make_node(const char *place, char *path, mode_t type)
{
	RNA_CLOSE int directory = fuzz_place_directory_of(place, &path);

	if (directory >= 0 && *path && type == S_IFDIR)
		(void)mkdirat(directory, path, 0700);
	else if (directory >= 0 && *path)
		(void)mknodat(directory, path, type | 0600, 0);
}

static void obey_short(const char *place, const char *verb, char *path)
{
	(void)unescape(path);
	if (strcmp(verb, "directory") == 0)
		make_node(place, path, S_IFDIR);
	else if (strcmp(verb, "fifo") == 0)
		make_node(place, path, S_IFIFO);
	else if (strcmp(verb, "socket") == 0)
		make_node(place, path, S_IFSOCK);
}

void fuzz_place_obey(const char *place, char *line)
{
	char *verb = strsep(&line, " "), *path = line;
	char *mark = line ? strstr(line, " = ") : NULL, *arrow = line ? strstr(line, " -> ") : NULL;

	if (mark) {
		*mark = '\0';
		(void)unescape(path);
		if (strcmp(verb, "write") == 0)
			write_file(place, path, mark + 3, strlen(mark + 3));
		else if (strcmp(verb, "bytes") == 0)
			write_file(place, path, mark + 3, unescape(mark + 3));
	} else if (arrow && strcmp(verb, "link") == 0) {
		*arrow = '\0';
		(void)unescape(path);
		fuzz_place_link(place, path, arrow + 4);
	} else if (path) {
		obey_short(place, verb, path);
	}
}

/* -- Collectors -------------------------------------------------------------------------------- */

struct rna_part *fuzz_collect(enum rna_collector_id id, const struct rna_collect_input *in)
{
	struct rna_part *part = NULL;
	struct rna_error error = {0};
	int status = rna_collectors[id].collect(in, &part, &error);

	fuzz_want_error(status, &error);
	FUZZ_WANT(status < 0 || part);
	return part;
}

/* Twice, for a reader goes other ways when it knows the files already. */
static void collect_device(struct rna_collect_input in, const struct rna_device *device)
{
	in.device = device;
	for (enum rna_collector_id id = 0; id < RNA_COLLECTOR_COUNT; id++) {
		struct rna_part *first, *second;

		if (!rna_collectors[id].per_device)
			continue;
		in.reader = rna_reader_new(in.root, DESCRIPTORS);
		in.previous = NULL;
		first = fuzz_collect(id, &in);
		in.previous = first;
		second = fuzz_collect(id, &in);
		(void)rna_part_unref(second);
		(void)rna_part_unref(first);
		(void)rna_reader_free(in.reader);
	}
}

void fuzz_collect_all(struct rna_collect_input *in)
{
	struct rna_part *presence = fuzz_collect(RNA_COLLECTOR_PRESENCE, in), *netdevs;

	if (!presence)
		return;
	in->presence = (const struct rna_presence *)presence;
	netdevs = fuzz_collect(RNA_COLLECTOR_NETDEV, in);
	in->netdevs = (const struct rna_netdevs *)netdevs;
	(void)rna_part_unref(fuzz_collect(RNA_COLLECTOR_TOPOLOGY, in));
	(void)rna_part_unref(fuzz_collect(RNA_COLLECTOR_READINESS, in));
	for (size_t i = 0; i < in->presence->device_count; i++)
		collect_device(*in, &in->presence->devices[i]);
	(void)rna_part_unref(netdevs);
	(void)rna_part_unref(presence);
}
