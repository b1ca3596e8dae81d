// SPDX-License-Identifier: Apache-2.0
/*
 * Files of processes in other network namespaces, whose owners put below their roots what they like
 * (follow.enabled, status --pid). The input is in the language of place.h, with these lines
 *besides:
 *
 *	recording	     the tree is one for --root, with FIFOs and links anywhere; else a node
 *	swap PATH -> PATH    exchanges the two before the next file is opened
 *	later		     the lines behind it are obeyed after the collectors ran once
 *
 * A node is one by what the kernel is made to say: all is of sysfs, and on one mount. There the
 * root of a process, proc/N/root, is a directory or a link to the whole tree, as of a process that
 * has the agent's mounts.
 */
#include <ctype.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/magic.h>

#include "rna/base/json_document.h"
#include "rna/exporter.h"
#include "rna/model/inside.h"
#include "rna/model/subject.h"

#include "fuzz.h"
#include "place.h"

enum {
	FILES_MAX = 256,
	RACES_MAX = 8,
	DEVICES_MAX = 4096, /* as presence.c has them */
	PORTS_MAX = 8192,
	SHOWN_MAX = 6, /* devices of which all collectors run */
};

static const struct rna_time now = {1000 * RNA_USEC_PER_SEC, 1763716800 * RNA_USEC_PER_SEC};

struct race {
	char *path, *other;
};

static struct {
	char root[FUZZ_PLACE_MAX];
	bool is_node;
	struct race races[RACES_MAX];
	unsigned race_count, next;
	bool races_on;
} scene;

int __wrap_fstatfs64(int fd, struct statfs *ret);
int __real_fstatfs64(int fd, struct statfs *ret);
int __wrap_fstat64(int fd, struct stat *ret);
int __real_fstat64(int fd, struct stat *ret);
int __wrap_rna_mount_of(int fd, uint64_t *ret);
int __wrap_rna_open_inside(int directory, const char *path, int flags);
int __real_rna_open_inside(int directory, const char *path, int flags);

/* Behind "proc/N/root", or NULL. */
static const char *find_inside(const char *path)
{
	const char *number = path + strlen("proc/"), *rest;

	if (strncmp(path, "proc/", strlen("proc/")) != 0)
		return NULL;
	for (rest = number; isdigit((unsigned char)*rest); rest++)
		;
	return rest > number && strncmp(rest, "/root", 5) == 0 ? rest + 5 : NULL;
}

static ino_t number_of(const char *path)
{
	ino_t ret = 5381;

	for (; *path; path++)
		ret = ret * 33 + (unsigned char)*path;
	return ret;
}

/* A directory of sysfs has the same number wherever it is mounted. */
int __wrap_fstat64(int fd, struct stat *ret)
{
	const size_t skip = strlen(scene.root) + 1;
	int status = __real_fstat64(fd, ret);
	char link[32], path[PATH_MAX] = "";
	const char *inside;

	if (status < 0 || !scene.is_node || !S_ISDIR(ret->st_mode))
		return status;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (readlink(link, path, sizeof(path) - 1) < (ssize_t)skip)
		return status;
	inside = find_inside(path + skip);
	ret->st_ino = number_of(inside && *inside ? inside + 1 : path + skip);
	return status;
}

int __wrap_fstatfs64(int fd, struct statfs *ret)
{
	int status = __real_fstatfs64(fd, ret);

	if (status == 0 && scene.is_node)
		ret->f_type = SYSFS_MAGIC;
	return status;
}

/* The number of the mount in the seeds' mountinfo. */
int __wrap_rna_mount_of(int fd, uint64_t *ret)
{
	(void)fd;
	*ret = 36;
	return 0;
}

int __wrap_rna_open_inside(int directory, const char *path, int flags)
{
	const struct race *race = &scene.races[scene.next];

	if (scene.races_on && scene.race_count > 0) {
		scene.next = (scene.next + 1) % scene.race_count;
		fuzz_place_swap(scene.root, race->path, race->other);
	}
	return __real_rna_open_inside(directory, path, flags);
}

/* -- Lines ------------------------------------------------------------------------------------- */

/* What the owner of a process can do, and what the kernel has. */
static bool is_of_node(const char *line)
{
	const char *path = strchr(line, ' ');
	const char *inside = path ? find_inside(++path) : NULL;

	if (strncmp(line, "link ", 5) != 0)
		return strncmp(line, "write ", 6) == 0 || strncmp(line, "bytes ", 6) == 0 ||
		       strncmp(line, "directory ", 10) == 0;
	if (inside && strncmp(inside, " -> ", 4) == 0)
		return strcmp(inside, " -> ../..") == 0;
	return (inside && *inside == '/') || strncmp(path, "sys/", 4) == 0 ||
	       (strncmp(path, "proc/", 5) == 0 && strstr(path, "/ns/"));
}

static void add_race(char *words)
{
	char *arrow = strstr(words, " -> ");
	const char *first, *second;

	if (!arrow || scene.race_count == RACES_MAX)
		return;
	*arrow = '\0';
	first = find_inside(words);
	second = find_inside(arrow + 4);
	if (first && *first == '/' && second && *second == '/')
		scene.races[scene.race_count++] = (struct race){words, arrow + 4};
}

/* False: the collectors run now. */
static bool obey(char *line)
{
	if (strcmp(line, "later") == 0)
		return false;
	if (strncmp(line, "swap ", 5) == 0)
		add_race(line + 5);
	else if (!scene.is_node || is_of_node(line))
		fuzz_place_obey(scene.root, line);
	return true;
}

/* -- Presence ---------------------------------------------------------------------------------- */

static bool is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static void want_same_device(const struct rna_device *a, const struct rna_device *b)
{
	FUZZ_WANT(is_same(a->name, b->name) && is_same(a->key, b->key) &&
		  is_same(a->sysfs_path, b->sysfs_path) &&
		  is_same(a->pci_address, b->pci_address) && is_same(a->driver, b->driver) &&
		  is_same(a->physical_function, b->physical_function));
	FUZZ_WANT(a->function == b->function && a->generation == b->generation &&
		  a->port_count == b->port_count && a->vendor_id == b->vendor_id &&
		  a->device_id == b->device_id && a->numa_node == b->numa_node);
	FUZZ_WANT(!a->smi == !b->smi);
}

/* Nothing that others say changes a device of the agent's own namespace. */
static void want_own(const struct rna_presence *alone, const struct rna_presence *all)
{
	size_t own = 0;

	FUZZ_WANT(alone->stack == all->stack);
	for (size_t i = 0; i < all->device_count; i++) {
		if (all->devices[i].process)
			continue;
		FUZZ_WANT(own < alone->device_count);
		want_same_device(&alone->devices[own++], &all->devices[i]);
	}
	FUZZ_WANT(own == alone->device_count);
}

static void want_device(const struct rna_device *device)
{
	char prefix[64];

	FUZZ_WANT(*device->name && !strchr(device->name, '/'));
	FUZZ_WANT(*device->key && *device->sysfs_path);
	FUZZ_WANT(device->function <= RNA_FUNCTION_SWITCH_MANAGEMENT && device->numa_node >= -1);
	FUZZ_WANT(!device->pci_address || strlen(device->pci_address) >= strlen("0000:00:00.0"));
	for (size_t i = 1; i < device->port_count; i++)
		FUZZ_WANT(device->ports[i - 1] < device->ports[i]);
	(void)snprintf(prefix, sizeof(prefix), RNA_ROOT_OF_PROCESS, device->process);
	FUZZ_WANT(device->process == 0 || strncmp(device->sysfs_path, prefix, strlen(prefix)) == 0);
}

/* Names and keys are those of one device each. */
static void want_devices(const struct rna_presence *presence)
{
	size_t ports = 0;

	FUZZ_WANT(presence->device_count <= DEVICES_MAX);
	for (size_t i = 0; i < presence->device_count; i++) {
		want_device(&presence->devices[i]);
		ports += presence->devices[i].port_count;
		for (size_t k = 0; k < i && i < SHOWN_MAX; k++)
			FUZZ_WANT(!is_same(presence->devices[k].name, presence->devices[i].name) &&
				  !is_same(presence->devices[k].key, presence->devices[i].key));
	}
	FUZZ_WANT(ports <= PORTS_MAX);
}

/* NULL: the agent's own files cannot be read. */
static struct rna_part *find_devices(struct rna_collect_input in)
{
	struct rna_part *alone, *all;

	in.options.follow = false;
	alone = fuzz_collect(RNA_COLLECTOR_PRESENCE, &in);
	in.options.follow = true;
	all = fuzz_collect(RNA_COLLECTOR_PRESENCE, &in);
	FUZZ_WANT(!alone == !all);
	if (!all)
		return NULL;
	want_devices((const struct rna_presence *)all);
	want_own((const struct rna_presence *)alone, (const struct rna_presence *)all);
	(void)rna_part_unref(alone);
	return all;
}

/* -- All that is read, and shown --------------------------------------------------------------- */

static void read_device(struct rna_collect_input in, struct rna_snapshot_device *ret)
{
	in.device = ret->device;
	for (enum rna_collector_id id = 0; id < RNA_COLLECTOR_COUNT; id++) {
		if (!rna_collectors[id].per_device)
			continue;
		in.reader = rna_reader_new(in.root, rna_collectors[id].descriptors);
		ret->parts[id] = fuzz_collect(id, &in);
		in.reader = rna_reader_free(in.reader);
	}
}

static struct rna_view *new_view(struct rna_collect_input in, struct rna_part *part)
{
	const struct rna_presence *presence = (const struct rna_presence *)part;
	struct rna_arena *arena = rna_arena_new(8192);
	struct rna_view *view = arena ? rna_arena_alloc(arena, sizeof(*view)) : NULL;
	struct rna_cards *cards = view ? rna_arena_alloc(arena, sizeof(*cards)) : NULL;
	struct rna_snapshot *snapshot = rna_snapshot_new(presence->device_count, now);

	FUZZ_WANT(cards && snapshot);
	in.presence = presence;
	snapshot->parts[RNA_COLLECTOR_PRESENCE] = rna_part_ref(part);
	snapshot->parts[RNA_COLLECTOR_NETDEV] = fuzz_collect(RNA_COLLECTOR_NETDEV, &in);
	in.netdevs = (const struct rna_netdevs *)snapshot->parts[RNA_COLLECTOR_NETDEV];
	for (size_t i = 0; i < presence->device_count; i++) {
		snapshot->devices[i].device = &presence->devices[i];
		read_device(in, &snapshot->devices[i]);
	}
	*view = (struct rna_view){.refs = 1, .arena = arena, .snapshot = snapshot, .cards = cards};
	FUZZ_WANT(rna_cards_make(snapshot, arena, cards) == 0 &&
		  rna_subjects_join(view, false, NULL) == 0);
	return view;
}

static void want_table(const struct rna_view *view, const struct rna_table_options *options)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	rna_write_table(view, options, &text);
	FUZZ_WANT(rna_strbuf_ok(&text));
	fuzz_want_printable(text.data, text.len);
}

static void want_json(const struct rna_view *view)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	RNA_CLEANUP(rna_json_free_p) json_t *document = NULL;

	rna_write_json(view, &text);
	document = json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES, NULL);
	FUZZ_WANT(rna_strbuf_ok(&text) && document);
}

static void show(const struct rna_collect_input *in, struct rna_part *presence,
		 const struct rna_inside *inside)
{
	const struct rna_table_options ports = {.wide = true, .inside = inside};
	const struct rna_table_options gids = {.gids = true, .inside = inside};
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = NULL;

	if (((const struct rna_presence *)presence)->device_count > SHOWN_MAX)
		return;
	view = new_view(*in, presence);
	want_table(view, &ports);
	want_table(view, &gids);
	want_json(view);
}

/* -- status --pid ------------------------------------------------------------------------------ */

static void want_inside(const struct rna_inside *inside, const struct rna_presence *presence)
{
	FUZZ_WANT(inside->file_count > 0 && inside->file_count <= presence->device_count + 1);
	for (size_t i = 0; i < inside->file_count; i++)
		FUZZ_WANT(*inside->files[i].name && inside->files[i].access <= RNA_INSIDE_OPEN);
	FUZZ_WANT(inside->users.count <= 1);
}

static void look_inside(struct rna_collect_input in, uint32_t process)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(0);
	const struct rna_presence *presence;
	struct rna_inside inside;
	struct rna_part *part;

	in.options.follow = false;
	in.options.inside = process;
	in.presence = NULL;
	part = fuzz_collect(RNA_COLLECTOR_PRESENCE, &in);
	if (!part)
		return;
	presence = (const struct rna_presence *)part;
	FUZZ_WANT(arena && presence->inside == process);
	want_devices(presence);
	for (size_t i = 0; i < presence->device_count; i++)
		FUZZ_WANT(presence->devices[i].process == process);
	if (rna_look_inside(in.root, presence, arena, &inside) == 0) {
		want_inside(&inside, presence);
		show(&in, part, &inside);
	}
	(void)rna_part_unref(part);
}

/* -- A run ------------------------------------------------------------------------------------- */

/* The part is the previous one of the next run. Takes over last. */
static struct rna_part *run(struct rna_collect_input in, struct rna_part *last)
{
	struct rna_part *part;

	scene.races_on = false; /* for two looks are compared */
	in.presence = (const struct rna_presence *)last;
	part = find_devices(in);
	scene.races_on = true;
	(void)rna_part_unref(fuzz_collect(RNA_COLLECTOR_READINESS, &in));
	if (part) {
		show(&in, part, NULL);
		look_inside(in, 2);
	}
	scene.races_on = false;
	(void)rna_part_unref(last);
	return part;
}

static void start(void)
{
	fuzz_place_path("root", scene.root);
	fuzz_place_watch();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_CLEANUP(rna_root_close_p) struct rna_root *recording = NULL;
	RNA_CLEANUP(rna_root_close_p) struct rna_root *root = NULL;
	RNA_CLEANUP(rna_backends_free_p) struct rna_backends *backends = NULL;
	RNA_FREE char *text = fuzz_text(data, size);
	struct rna_collect_input in = {
		.period = RNA_USEC_PER_SEC,
		.options = {.hw_counters_source = RNA_HW_COUNTERS_SYSFS,
			    .no_mads = true,
			    .follow_devices = 64,
			    .follow_ports = 256},
	};
	struct rna_part *part = NULL;
	char *rest = text, *line;
	struct rna_error error;

	if (!*scene.root)
		start();
	fuzz_place_new("root");
	scene.race_count = scene.next = 0;
	scene.is_node = false;
	FUZZ_WANT(rna_root_open(scene.root, &recording, &error) == 0);
	backends = rna_backends_new(recording); /* no library is called */
	scene.is_node = strncmp(text, "recording", 9) != 0;
	fuzz_place_obey(scene.root, (char[]){"directory sys"});
	FUZZ_WANT(rna_root_open(scene.root, &root, &error) == 0);
	FUZZ_WANT(backends && rna_root_is_live(root) == scene.is_node);
	in.root = root;
	in.backends = backends;
	for (int files = 0; files < FILES_MAX && (line = fuzz_line(&rest)); files++)
		if (!obey(line)) {
			(void)fuzz_place_is_touched(); /* by the lines */
			part = run(in, part);
			FUZZ_WANT(!fuzz_place_is_touched());
		}
	(void)fuzz_place_is_touched();
	(void)rna_part_unref(run(in, part));
	FUZZ_WANT(!fuzz_place_is_touched());
	return 0;
}
