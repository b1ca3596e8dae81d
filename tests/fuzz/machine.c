// SPDX-License-Identifier: Apache-2.0
/*
 * A machine: files of /sys and of a recording, and every collector that reads them. The input is in
 * the language of tests/machines, as far as it goes without models: "write PATH = TEXT", "bytes
 * PATH = TEXT" with escapes, "link PATH -> TARGET".
 */
#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rna/collector.h"
#include "rna/model/snapshot.h"

#include "fuzz.h"

enum { DESCRIPTORS = 64, DEPTH_MAX = 16, FILES_MAX = 256, COMPONENT_MAX = 255 };

static char place[64]; /* where the root is; made anew for each input */

/* -- Files ------------------------------------------------------------------------------------- */

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *where)
{
	(void)info, (void)type, (void)where;
	return remove(path);
}

static void clear(void)
{
	(void)nftw(place, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static void make_root(void)
{
	if (!*place) {
		(void)snprintf(place, sizeof(place), "/dev/shm/rna-fuzz-%d", getpid());
		(void)atexit(clear);
	}
	clear();
	FUZZ_WANT(mkdir(place, 0700) == 0);
}

/* The directory of path below the root, made; never leaves it. path loses all but its last name. */
static int open_directory_of(char **path)
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

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef", *digit = c ? strchr(digits, c) : NULL;

	return digit ? (int)(digit - digits) : -1;
}

/* In place; \n and \xNN are understood. The new length. */
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
	return (size_t)(out - text);
}

static void write_file(char *path, const char *text, size_t len)
{
	RNA_CLOSE int directory = open_directory_of(&path), fd = -1;

	if (directory < 0)
		return;
	fd = openat(directory, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0)
		(void)!write(fd, text, len);
}

static void make_link(char *path, const char *target)
{
	RNA_CLOSE int directory = open_directory_of(&path);

	if (directory >= 0 && *path)
		(void)symlinkat(target, directory, path);
}

static void obey(char *line)
{
	char *verb = strsep(&line, " "), *path = line;
	char *mark = line ? strstr(line, " = ") : NULL, *arrow = line ? strstr(line, " -> ") : NULL;

	if (mark) {
		*mark = '\0';
		if (strcmp(verb, "write") == 0)
			write_file(path, mark + 3, strlen(mark + 3));
		else if (strcmp(verb, "bytes") == 0)
			write_file(path, mark + 3, unescape(mark + 3));
	} else if (arrow && strcmp(verb, "link") == 0) {
		*arrow = '\0';
		make_link(path, arrow + 4);
	}
}

/* -- Collectors -------------------------------------------------------------------------------- */

static struct rna_part *collect(enum rna_collector_id id, const struct rna_collect_input *in)
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
		first = collect(id, &in);
		in.previous = first;
		second = collect(id, &in);
		(void)rna_part_unref(second);
		(void)rna_part_unref(first);
		(void)rna_reader_free(in.reader);
	}
}

static void collect_all(struct rna_collect_input *in)
{
	struct rna_part *presence = collect(RNA_COLLECTOR_PRESENCE, in), *netdevs;

	if (!presence)
		return;
	in->presence = (const struct rna_presence *)presence;
	netdevs = collect(RNA_COLLECTOR_NETDEV, in);
	in->netdevs = (const struct rna_netdevs *)netdevs;
	(void)rna_part_unref(collect(RNA_COLLECTOR_TOPOLOGY, in));
	(void)rna_part_unref(collect(RNA_COLLECTOR_READINESS, in));
	for (size_t i = 0; i < in->presence->device_count; i++)
		collect_device(*in, &in->presence->devices[i]);
	(void)rna_part_unref(netdevs);
	(void)rna_part_unref(presence);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_CLEANUP(rna_root_close_p) struct rna_root *root = NULL;
	RNA_CLEANUP(rna_backends_free_p) struct rna_backends *backends = NULL;
	RNA_FREE char *text = fuzz_text(data, size);
	char *rest = text, *line;
	struct rna_collect_input in = {
		.period = 15 * RNA_USEC_PER_SEC,
		.options = {RNA_COUNTERS_AUTO, RNA_HW_COUNTERS_NETLINK, true, true},
	};
	struct rna_error error;

	make_root();
	for (int files = 0; files < FILES_MAX && (line = fuzz_line(&rest)); files++)
		obey(line);
	FUZZ_WANT(rna_root_open(place, &root, &error) == 0);
	backends = rna_backends_new(root);
	FUZZ_WANT(backends);
	in.root = root;
	in.backends = backends;
	collect_all(&in);
	return 0;
}
