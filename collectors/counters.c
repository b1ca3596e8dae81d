// SPDX-License-Identifier: Apache-2.0
/*
 * counters and hw_counters: each file of a counter directory becomes a value. counters also reads
 * counters_ext, and the traffic of the planes of a multi-plane card from its SMI device;
 * hw_counters also the counters of the kernel's connection manager.
 *
 * The directories differ between drivers (only those with a PMA have ports/N/counters), and so do
 * their files. They are listed once, matched with the table of known counters, and then only read:
 * the reader stores the row of each file.
 *
 * The files are read in the order of the table. That matters for hw_counters of mlx5: the read of
 * the first counter, rx_write_requests, refreshes all of them in the kernel, and the others come
 * from its cache for the next 10 ms (core/sysfs.c update_hw_stats, mlx5 counters.c).
 *
 * A setting selects RDMA netlink for hw_counters of ports: one request returns all counters of a
 * port, including the optional ones, which have no file. Ports without an answer are read from
 * files.
 *
 * Port counters of InfiniBand also have a second source, MADs to the port's own PMA: used if the
 * directory is missing or lacks 64-bit traffic counters, or if counters.source prefers MADs. The
 * names are the same: a value comes from the answer if it is there, otherwise from the file.
 *
 * Numbers of all sources are then extended over wraps by extend.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "rna/base/parse.h"

#include "backend/ask_mad.h"
#include "backend/backends.h"
#include "backend/mad.h"
#include "parse/extend.h"
#include "parse/reader.h"

#include "collectors.h"

/* Pause before the next netlink request for a port without an answer. */
#define NETLINK_PAUSE (300 * RNA_USEC_PER_SEC)

/* The tag of a directory in the reader: its place and port. */
static unsigned make_tag(enum rna_counter_place place, unsigned port)
{
	return (unsigned)place << 16 | port;
}

static enum rna_counter_place tag_place(unsigned tag)
{
	return (enum rna_counter_place)(tag >> 16);
}

static unsigned tag_port(unsigned tag)
{
	return tag & 0xffff;
}

/*
 * The file lifespan is among the counters but is a setting: how long the kernel's cache is valid.
 */
static ssize_t find_files(struct rna_reader *reader, unsigned directory, struct rna_arena *arena,
			  struct rna_counter_value **ret)
{
	enum rna_counter_place place = tag_place(rna_reader_directory_tag(reader, directory));
	struct rna_counter_value *files;
	size_t count = 0;
	char **names;
	ssize_t listed;

	listed = rna_reader_list(reader, directory, arena, &names);
	if (listed < 0)
		return listed;
	files = rna_arena_array(arena, (size_t)listed, sizeof(*files));
	if (!files)
		return -ENOMEM;
	for (ssize_t i = 0; i < listed; i++)
		if (strcmp(names[i], "lifespan") != 0)
			files[count++] = (struct rna_counter_value){
				.file = names[i],
				.counter = rna_counter_find(place, names[i]),
			};
	qsort(files, count, sizeof(*files), rna_counter_value_compare);
	*ret = files;
	return (ssize_t)count;
}

/* 0 also for a missing directory, which is normal with many drivers. */
static int add_directory(struct rna_reader *reader, const char *path, unsigned tag,
			 struct rna_arena *arena)
{
	struct rna_counter_value *files = NULL;
	int directory = path ? rna_reader_add_directory(reader, path, tag) : -ENOMEM;
	ssize_t count;

	if (directory == -ENOENT)
		return 0;
	if (directory < 0)
		return directory;
	count = find_files(reader, (unsigned)directory, arena, &files);
	if (count < 0)
		return (int)count;
	for (ssize_t i = 0; i < count; i++) {
		const struct rna_counter *counter = files[i].counter;
		const char *name =
			counter ? counter->file : rna_reader_keep_name(reader, files[i].file);
		int ret = rna_reader_add_file(reader, (unsigned)directory, name, counter);

		if (ret < 0)
			return ret;
	}
	return 0;
}

/* Number of skipped directories, and the last error. */
struct skipped {
	unsigned count;
	int error;
};

/*
 * A directory that is not readable or not a directory will stay so: only its own files are lost,
 * not those of other ports. After any other error the whole search is repeated.
 */
static int add_or_skip(struct rna_reader *reader, const char *path, unsigned tag,
		       struct rna_arena *scratch, struct skipped *skipped)
{
	int ret = add_directory(reader, path, tag, scratch);

	if (ret != -EACCES && ret != -ENOTDIR)
		return ret;
	skipped->error = ret;
	skipped->count++;
	return 0;
}

static bool may_use_mads(const struct rna_collect_input *in, enum rna_counter_place place)
{
	return place == RNA_PLACE_PORT_COUNTERS &&
	       in->options.counters_source != RNA_COUNTERS_SYSFS;
}

/* place: a directory below ports/N. */
static int add_port(const struct rna_collect_input *in, enum rna_counter_place place, unsigned port,
		    struct rna_arena *scratch, struct skipped *skipped)
{
	const char *path = rna_arena_printf(scratch, "%s/ports/%u/%s", in->device->sysfs_path, port,
					    rna_counter_directory(place));
	size_t before = rna_reader_count(in->reader);
	int ret = add_or_skip(in->reader, path, make_tag(place, port), scratch, skipped);
	bool found = rna_reader_count(in->reader) > before;

	if (ret < 0 || found || !may_use_mads(in, place) || !rna_ask_is_possible(in, port))
		return ret;
	return rna_ask_add_counters(in->reader, make_tag(place, port));
}

/* Below ports of the SMI device: 1: it is there; 0: it is not; negative errno: lack of something.
 */
static int has_plane_file(const struct rna_collect_input *in, const char *file,
			  struct rna_arena *scratch)
{
	const char *path =
		rna_arena_printf(scratch, "%s/ports/%s", in->device->smi->sysfs_path, file);
	RNA_CLOSE int fd = path ? rna_root_openat(in->root, path, O_PATH) : -ENOMEM;

	return fd >= 0 ? 1 : rna_error_is_lack(fd) ? fd : 0;
}

/* The rows of the table whose file is there. An SMI device that has gone costs only its planes. */
static int add_planes(const struct rna_collect_input *in, struct rna_arena *scratch)
{
	unsigned tag = make_tag(RNA_PLACE_PORT_PLANES, in->device->ports[0]);
	const char *path = rna_arena_printf(scratch, "%s/ports", in->device->smi->sysfs_path);
	int directory = path ? rna_reader_add_directory(in->reader, path, tag) : -ENOMEM;

	if (directory < 0)
		return rna_error_is_lack(directory) ? directory : 0;
	RNA_EACH (row, rna_counters, rna_counter_count) {
		int ret = row->place == RNA_PLACE_PORT_PLANES
				  ? has_plane_file(in, row->file, scratch)
				  : 0;

		if (ret > 0)
			ret = rna_reader_add_file(in->reader, (unsigned)directory, row->file, row);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int add_place(const struct rna_collect_input *in, enum rna_counter_place place,
		     struct rna_arena *scratch, struct skipped *skipped)
{
	const struct rna_device *device = in->device;
	const char *path;
	int ret = 0;

	if (place == RNA_PLACE_DEVICE_HW_COUNTERS) {
		path = rna_arena_printf(scratch, "%s/%s", device->sysfs_path,
					rna_counter_directory(place));
		return add_or_skip(in->reader, path, make_tag(place, 0), scratch, skipped);
	}
	if (place == RNA_PLACE_PORT_PLANES)
		return device->smi && device->port_count > 0 ? add_planes(in, scratch) : 0;
	for (size_t i = 0; ret >= 0 && i < device->port_count; i++)
		ret = add_port(in, place, device->ports[i], scratch, skipped);
	return ret;
}

/* Fails if all directories were skipped. */
static int add_directories(const struct rna_collect_input *in, enum rna_collector_id id,
			   struct rna_arena *scratch, struct skipped *skipped)
{
	int ret = 0;

	for (enum rna_counter_place place = 0; ret >= 0 && place < RNA_PLACE_COUNT; place++)
		if (rna_counter_directory(place) && rna_counter_collector(place) == id)
			ret = add_place(in, place, scratch, skipped);
	if (ret < 0)
		return ret;
	return rna_reader_is_empty(in->reader) ? skipped->error : 0;
}

/* Old and vendor kernels write a sentence instead of a number if a port has no PMA. */
static int parse_counter(const char *text, uint64_t *ret)
{
	return strncmp(text, "N/A", 3) == 0 ? -ENOENT : rna_parse_u64(text, ret);
}

/* One directory of the reader during the read: count files, starting at first. */
struct directory {
	const struct rna_collect_input *in;
	struct rna_part *part;
	struct rna_rdma_numbers *numbers;
	size_t first;
	size_t count;
};

/*
 * Uses the row's string if there is one; otherwise copies name, because the source may be freed
 * before the part.
 */
static int keep_name(struct rna_counter_value *value, const char *name, struct rna_arena *arena)
{
	value->file = value->counter ? value->counter->file : rna_arena_strdup(arena, name);
	return value->file ? 0 : -ENOMEM;
}

/* answer: of this port's MADs, or NULL. */
static int read_value(const struct directory *directory, size_t index,
		      const struct rna_mad_counters *answer, struct rna_counter_value *ret)
{
	struct rna_reader_file file = rna_reader_file(directory->in->reader, index);
	const struct rna_value *answered = rna_ask_find(answer, file.name);
	int status;

	ret->counter = file.userdata;
	status = keep_name(ret, file.name, directory->part->arena);
	if (status == 0 && answered && answered->state != RNA_VALUE_ABSENT)
		ret->value = *answered;
	else if (status == 0)
		status = rna_reader_read_number(directory->in->reader, index, parse_counter,
						directory->part, &ret->value);
	return status;
}

static int read_files(const struct directory *directory, const struct rna_mad_counters *answer,
		      struct rna_counter_value **ret)
{
	struct rna_counter_value *values =
		rna_arena_array(directory->part->arena, directory->count, sizeof(*values));
	int status = values ? 0 : -ENOMEM;

	for (size_t i = 0; status == 0 && i < directory->count; i++)
		status = read_value(directory, directory->first + i, answer, &values[i]);
	*ret = values;
	return status;
}

/* Most counters have a file, whose row is already known. */
static const struct rna_counter *find_row(const struct directory *directory, const char *name)
{
	for (size_t i = 0; i < directory->count; i++) {
		struct rna_reader_file file =
			rna_reader_file(directory->in->reader, directory->first + i);

		if (strcmp(file.name, name) == 0)
			return file.userdata;
	}
	return rna_counter_find(RNA_PLACE_PORT_HW_COUNTERS, name);
}

/* Stores the values of an answer in the part, with their rows, sorted. */
static int take_answer(const struct directory *directory, const struct rna_netlink_counters *answer,
		       struct rna_counter_value **ret)
{
	struct rna_arena *arena = directory->part->arena;
	struct rna_counter_value *values = rna_arena_array(arena, answer->count, sizeof(*values));

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < answer->count; i++) {
		const char *name = answer->values[i].file;

		values[i].counter = find_row(directory, name);
		values[i].value = answer->values[i].value;
		if (keep_name(&values[i], name, arena) < 0)
			return -ENOMEM;
	}
	qsort(values, answer->count, sizeof(*values), rna_counter_value_compare);
	*ret = values;
	return 0;
}

/*
 * 0; -ENOENT: netlink is not the source, or has no answer, which is normal with many drivers; then
 * it is not queried for a while. Checking a file ensures that the answer belongs to this
 * registration: netlink uses the name and would also answer for a device that was registered again.
 */
static int ask_netlink(const struct directory *directory, struct rna_counter_group *group,
		       struct rna_counter_value **ret)
{
	const struct rna_collect_input *in = directory->in;
	rna_usec now = directory->part->started.monotonic;
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *scratch = NULL;
	struct rna_netlink_counters answer;
	int status;

	if (in->options.hw_counters_source != RNA_HW_COUNTERS_NETLINK ||
	    group->place != RNA_PLACE_PORT_HW_COUNTERS || now < group->netlink_retry)
		return -ENOENT;
	scratch = rna_arena_new(8192);
	if (!scratch)
		return -ENOMEM;
	status = in->backends->rdma_netlink->get_counters(directory->numbers, in->device->name,
							  group->port, scratch, &answer);
	if (status < 0) {
		group->netlink_retry = now + NETLINK_PAUSE;
		if (status != -ENOENT && status != -EINVAL && status != -EMSGSIZE)
			rna_part_count_error(directory->part, status);
		return -ENOENT;
	}
	status = rna_reader_check(in->reader, directory->first);
	if (status < 0)
		return status;
	group->count = answer.count;
	return take_answer(directory, &answer, ret);
}

static const struct rna_counter_group *find_previous(const struct rna_collect_input *in,
						     const struct rna_counter_group *group)
{
	const struct rna_counters_part *previous = (const void *)in->previous;

	return RNA_FIND(i, previous->groups, previous ? previous->group_count : 0,
			previous->groups[i].place == group->place &&
				previous->groups[i].port == group->port);
}

/*
 * Do the files lack 64-bit counters? Kernels before 4.5 have none, and on any kernel the PMA may
 * lack them. The group caches the capability of the PMA.
 */
static bool lacks_wide_counters(const struct directory *directory, struct rna_value capability)
{
	if (capability.state == RNA_VALUE_OK && !(capability.number & RNA_PMA_EXTENDED))
		return false;
	for (size_t i = 0; i < directory->count; i++) {
		struct rna_reader_file file =
			rna_reader_file(directory->in->reader, directory->first + i);

		if (strcmp(file.name, "unicast_rcv_packets") == 0)
			return false;
	}
	return true;
}

/*
 * Queries the port by MADs if they are the preferred source. *ret: the answer, in the part's arena;
 * NULL: none. source: the directory has no files as a fallback.
 */
static int ask_mads(const struct directory *directory, bool source, struct rna_counter_group *group,
		    const struct rna_mad_counters **ret)
{
	const struct rna_collect_input *in = directory->in;
	struct rna_mad_counters *answer;

	*ret = NULL;
	if (!may_use_mads(in, group->place))
		return 0;
	if (in->options.counters_source != RNA_COUNTERS_MAD && !source &&
	    !lacks_wide_counters(directory, group->capability))
		return 0;
	answer = rna_arena_alloc(directory->part->arena, sizeof(*answer));
	if (!answer)
		return -ENOMEM;
	answer->capability = group->capability;
	if (rna_ask_counters(in, group->port, directory->part, answer) == 0)
		*ret = answer;
	group->capability = answer->capability;
	return 0;
}

/* Reads files, or MADs instead of them. Without both the group stays empty. */
static int read_port(const struct directory *directory, bool source,
		     struct rna_counter_group *group, struct rna_counter_value **ret)
{
	const struct rna_mad_counters *answer;
	int status;

	status = ask_mads(directory, source, group, &answer);
	if (status < 0)
		return status;
	if (!answer && source)
		group->count = 0;
	return group->count > 0 ? read_files(directory, answer, ret) : 0;
}

static int read_group(const struct directory *directory, struct rna_counter_group *ret)
{
	const struct rna_reader *reader = directory->in->reader;
	unsigned index = rna_reader_file(reader, directory->first).directory;
	unsigned tag = rna_reader_directory_tag(reader, index);
	const struct rna_counter_group *previous;
	struct rna_counter_value *values = NULL;
	int status;

	*ret = (struct rna_counter_group){
		.place = tag_place(tag),
		.port = tag_port(tag),
		.generation = rna_reader_is_source(reader, index)
				      ? directory->in->device->generation
				      : rna_reader_directory_inode(reader, index),
		.count = directory->count,
	};
	previous = find_previous(directory->in, ret);
	if (previous) {
		ret->netlink_retry = previous->netlink_retry;
		ret->capability = previous->capability;
	}
	status = ask_netlink(directory, ret, &values);
	if (status == -ENOENT)
		status = read_port(directory, rna_reader_is_source(reader, index), ret, &values);
	if (status < 0)
		return status;
	rna_counter_group_extend(ret, values, previous);
	ret->values = values;
	return 0;
}

/* The number of consecutive files, from first, in the same directory. */
static size_t count_files(const struct rna_reader *reader, size_t first)
{
	size_t end = first;

	while (end < rna_reader_count(reader) &&
	       rna_reader_file(reader, end).directory == rna_reader_file(reader, first).directory)
		end++;
	return end - first;
}

/*
 * Directories without files have no group, nor have ports whose only source, MADs, did not answer.
 */
static int read_all(const struct rna_collect_input *in, struct rna_counters_part *counters)
{
	RNA_CLEANUP(rna_rdma_numbers_free) struct rna_rdma_numbers numbers = {.root = in->root};
	struct directory directory = {.in = in, .part = &counters->part, .numbers = &numbers};
	unsigned directories = rna_reader_directory_count(in->reader);
	struct rna_counter_group *groups =
		rna_arena_array(counters->part.arena, directories, sizeof(*groups));

	if (!groups)
		return -ENOMEM;
	while (directory.first < rna_reader_count(in->reader)) {
		int ret;

		directory.count = count_files(in->reader, directory.first);
		ret = read_group(&directory, &groups[counters->group_count]);
		if (ret < 0)
			return ret;
		counters->group_count += groups[counters->group_count].count > 0;
		directory.first += directory.count;
	}
	counters->groups = groups;
	return 0;
}

/* First run of a reader: finds the files. */
static int find(const struct rna_collect_input *in, enum rna_collector_id id,
		struct skipped *skipped)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *scratch = NULL;

	if (in->device->function == RNA_FUNCTION_SWITCH_MANAGEMENT)
		return 0; /* its counters are not read, see rna/model/device.h */
	if (!rna_reader_is_empty(in->reader))
		return 0;
	scratch = rna_arena_new(4096);
	if (!scratch)
		return -ENOMEM;
	rna_reader_reset(in->reader); /* otherwise directories without files would accumulate */
	return add_directories(in, id, scratch, skipped);
}

static size_t size_of_values(const struct rna_reader *reader)
{
	return rna_reader_count(reader) * sizeof(struct rna_counter_value) +
	       rna_reader_directory_count(reader) * sizeof(struct rna_counter_group) + 64;
}

static int collect(const struct rna_collect_input *in, enum rna_collector_id id,
		   struct rna_part **ret, struct rna_error *error)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	struct rna_time started = rna_clock_now();
	struct rna_counters_part *counters;
	struct skipped skipped = {0};
	int status;

	rna_reader_start(in->reader, started.monotonic, in->period);
	status = find(in, id, &skipped);
	if (status >= 0) {
		counters = rna_part_new(id, sizeof(*counters), size_of_values(in->reader));
		part = (struct rna_part *)counters;
		status = part ? 0 : -ENOMEM;
	}
	if (status >= 0) {
		part->started = started;
		status = read_all(in, counters);
	}
	if (status < 0) {
		rna_reader_reset(in->reader);
		return rna_error_set(error, status, "%s: cannot read counters", in->device->name);
	}
	for (unsigned i = 0; i < skipped.count; i++)
		rna_part_count_error(part, skipped.error);
	part->taken = rna_clock_now();
	*ret = RNA_TAKE(part);
	return 0;
}

int rna_collect_counters(const struct rna_collect_input *in, struct rna_part **ret,
			 struct rna_error *error)
{
	return collect(in, RNA_COLLECTOR_COUNTERS, ret, error);
}

int rna_collect_hw_counters(const struct rna_collect_input *in, struct rna_part **ret,
			    struct rna_error *error)
{
	return collect(in, RNA_COLLECTOR_HW_COUNTERS, ret, error);
}
