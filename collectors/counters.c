// SPDX-License-Identifier: Apache-2.0
/*
 * counters and hw_counters: every file of a counter directory becomes a value.
 *
 * Which directories there are differs by driver (only those with a PMA have ports/N/counters), and
 * so do the files in them. They are listed once, matched with the table of known counters, and
 * from then on only read: the reader holds for each file its row and its last number.
 *
 * The files are read in the order of the table. That matters for hw_counters of mlx5: the read of
 * the first counter, rx_write_requests, refreshes all of them in the kernel, and the others come
 * from its cache for the next 10 ms (core/sysfs.c update_hw_stats, mlx5 counters.c).
 */
#include "collectors.h"
#include "reader.h"

#include "rna/counter.h"
#include "rna/parse.h"

#include <errno.h>
#include <string.h>

/* A directory's tag in the reader says what it holds. */
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

struct found_file {
	const char *name;
	const struct rna_counter *counter;
};

/* Known ones first, in the order of the table; then the unknown ones, by name. */
static int compare_files(const void *a, const void *b)
{
	const struct found_file *x = a, *y = b;

	if (x->counter && y->counter)
		return x->counter < y->counter ? -1 : x->counter > y->counter;
	if (x->counter || y->counter)
		return x->counter ? -1 : 1;
	return rna_compare_names(x->name, y->name);
}

/* lifespan stands among the counters and is a setting: how long the kernel's cache is valid. */
static ssize_t find_files(struct rna_reader *reader, unsigned directory, struct rna_arena *arena,
			  struct found_file **ret)
{
	enum rna_counter_place place = tag_place(rna_reader_directory_tag(reader, directory));
	struct found_file *files;
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
			files[count++] = (struct found_file){
				.name = names[i],
				.counter = rna_counter_find(place, names[i]),
			};
	qsort(files, count, sizeof(*files), compare_files);
	*ret = files;
	return (ssize_t)count;
}

/* A directory that is not there is what many drivers have: 0. */
static int add_directory(struct rna_reader *reader, const char *path, unsigned tag,
			 struct rna_arena *arena)
{
	struct found_file *files = NULL;
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
			counter ? counter->file : rna_reader_keep_name(reader, files[i].name);
		int ret = rna_reader_add_file(reader, (unsigned)directory, name, counter);

		if (ret < 0)
			return ret;
	}
	return 0;
}

/* Directories that were left out, and the newest reason. */
struct skipped {
	unsigned count;
	int error;
};

/*
 * A directory that may not be read, or is none, will be so at the next look too: it costs its
 * files and not those of other ports. Anything else is tried again as a whole.
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

/*
 * place: the one below ports/N; hw_counters of the device itself follow the ports'. When all that
 * there is had to be skipped, that is a failure.
 */
static int add_directories(struct rna_reader *reader, const struct rna_device *device,
			   enum rna_counter_place place, struct rna_arena *scratch,
			   struct skipped *skipped)
{
	bool hardware = place == RNA_PLACE_PORT_HW_COUNTERS;
	const char *name = hardware ? "hw_counters" : "counters";
	int ret = 0;
	const char *path;

	for (size_t i = 0; ret >= 0 && i < device->port_count; i++) {
		path = rna_arena_printf(scratch, "%s/ports/%u/%s", device->sysfs_path,
					device->ports[i], name);
		ret = add_or_skip(reader, path, make_tag(place, device->ports[i]), scratch,
				  skipped);
	}
	if (ret >= 0 && hardware) {
		path = rna_arena_printf(scratch, "%s/%s", device->sysfs_path, name);
		ret = add_or_skip(reader, path, make_tag(RNA_PLACE_DEVICE_HW_COUNTERS, 0), scratch,
				  skipped);
	}
	if (ret < 0)
		return ret;
	return rna_reader_is_empty(reader) ? skipped->error : 0;
}

/* Old and vendor kernels write a sentence where a port has no PMA. */
static int parse_counter(const char *text, uint64_t *ret)
{
	return strncmp(text, "N/A", 3) == 0 ? -ENOENT : rna_parse_u64(text, ret);
}

/*
 * A counter that stands at its maximum is saturated, unless it got there just now: some vendor
 * kernels have wider registers than IBTA says, and theirs pass 255 on the way up.
 */
static void judge_saturation(const struct rna_counter *counter, struct rna_value last,
			     struct rna_value *value)
{
	if (!counter || !counter->saturates || value->state != RNA_VALUE_OK)
		return;
	if (value->number != UINT64_MAX >> (64 - counter->width))
		return;
	if (last.state == RNA_VALUE_ABSENT || last.number == value->number)
		value->state = RNA_VALUE_SATURATED;
}

static int read_value(struct rna_reader *reader, size_t index, struct rna_part *part,
		      struct rna_counter_value *ret)
{
	struct rna_reader_file *file = rna_reader_file(reader, index);
	struct rna_value value;
	int status;

	status = rna_reader_read_number(reader, index, parse_counter, part, &value);
	if (status < 0)
		return status;
	judge_saturation(file->userdata, file->last, &value);
	if (rna_value_is_known(value))
		file->last = value;
	/* The row's own string where there is one: the reader's may be gone before the part. */
	*ret = (struct rna_counter_value){.counter = file->userdata, .value = value};
	ret->file = ret->counter ? ret->counter->file : rna_arena_strdup(part->arena, file->name);
	return ret->file ? 0 : -ENOMEM;
}

static int read_all(struct rna_reader *reader, struct rna_counters_part *counters,
		    struct rna_counter_group *groups)
{
	struct rna_part *part = &counters->part;
	size_t count = rna_reader_count(reader);
	struct rna_counter_value *values = rna_arena_array(part->arena, count, sizeof(*values));

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		unsigned directory = rna_reader_file(reader, i)->directory;
		unsigned tag = rna_reader_directory_tag(reader, directory);
		struct rna_counter_group *group = &groups[directory];
		int ret = read_value(reader, i, part, &values[i]);

		if (ret < 0)
			return ret;
		if (group->count++ == 0) {
			group->place = tag_place(tag);
			group->port = tag_port(tag);
			group->values = &values[i];
		}
	}
	return 0;
}

/* Leaves out directories without files, so that every group has its place and port. */
static size_t drop_empty_groups(struct rna_counter_group *groups, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (groups[i].count > 0)
			groups[kept++] = groups[i];
	return kept;
}

/* At a reader's first run: looks which files there are. Names need room that values do not. */
static int find(const struct rna_collect_input *in, enum rna_counter_place place,
		struct skipped *skipped)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *scratch = NULL;

	if (in->device->function == RNA_FUNCTION_SWITCH_MANAGEMENT)
		return 0; /* nothing is looked for, see rna/device.h */
	if (!rna_reader_is_empty(in->reader))
		return 0;
	scratch = rna_arena_new(4096);
	if (!scratch)
		return -ENOMEM;
	rna_reader_reset(in->reader); /* directories without files would add up */
	return add_directories(in->reader, in->device, place, scratch, skipped);
}

static int fill(struct rna_reader *reader, struct rna_counters_part *counters)
{
	unsigned directories = rna_reader_directory_count(reader);
	struct rna_counter_group *groups;
	int ret;

	groups = rna_arena_array(counters->part.arena, directories, sizeof(*groups));
	if (!groups)
		return -ENOMEM;
	ret = read_all(reader, counters, groups);
	if (ret < 0)
		return ret;
	counters->groups = groups;
	counters->group_count = drop_empty_groups(groups, directories);
	return 0;
}

static size_t size_of_values(const struct rna_reader *reader)
{
	return rna_reader_count(reader) * sizeof(struct rna_counter_value) +
	       rna_reader_directory_count(reader) * sizeof(struct rna_counter_group) + 64;
}

static int collect(const struct rna_collect_input *in, enum rna_collector_id id,
		   struct rna_part **ret, struct rna_error *error)
{
	enum rna_counter_place place =
		id == RNA_COLLECTOR_COUNTERS ? RNA_PLACE_PORT_COUNTERS : RNA_PLACE_PORT_HW_COUNTERS;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	struct rna_time started = rna_clock_now();
	struct rna_counters_part *counters;
	struct skipped skipped = {0};
	int status;

	rna_reader_start(in->reader, started.monotonic, in->period);
	status = find(in, place, &skipped);
	if (status >= 0) {
		counters = rna_part_new(id, sizeof(*counters), size_of_values(in->reader));
		part = (struct rna_part *)counters;
		status = part ? fill(in->reader, counters) : -ENOMEM;
	}
	if (status < 0) {
		rna_reader_reset(in->reader);
		return rna_error_set(error, status, "%s: cannot read counters", in->device->name);
	}
	for (unsigned i = 0; i < skipped.count; i++)
		rna_part_count_error(part, skipped.error);
	part->started = started;
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
