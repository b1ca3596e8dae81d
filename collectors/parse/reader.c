// SPDX-License-Identifier: Apache-2.0
#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#define LONGEST_PAUSE (300 * RNA_USEC_PER_SEC)

/* Small steps, because there may be hundreds of devices with five readers each. */
enum { NAMES_SIZE = 96, FILES_STEP = 8 };

/* After a failure a file or source is not read for a while. */
struct pause {
	rna_usec end;           /* time of the next try */
	short error;            /* errno of the last try; 0: none */
	unsigned char failures; /* consecutive failures with this error */
};

struct directory {
	const char *path; /* NULL: no directory, see rna_reader_add_source() */
	unsigned tag;
	uint64_t inode;
	int fd; /* -1: not kept open */
};

struct file {
	const char *name;
	const void *userdata;
	struct pause *pause; /* NULL: the last read succeeded, or there was none */
	int fd;              /* -1: not kept open, or not open yet */
	unsigned short directory;
	bool was_good; /* has it ever been read? */
};
_Static_assert(sizeof(struct file) <= 32, "a large node has tens of thousands");

struct rna_reader {
	const struct rna_root *root;
	unsigned descriptors; /* maximum number kept open */
	unsigned kept;
	rna_usec now; /* start of this run */
	rna_usec period;
	struct rna_arena *names;
	struct directory *directories;
	unsigned directory_count;
	struct file *files;
	size_t file_count;
	size_t file_size;
	int stream;          /* -1: none */
	struct pause source; /* of the source that is not a file */
	uint64_t rejected_look;
};

struct rna_reader *rna_reader_new(const struct rna_root *root, unsigned descriptors)
{
	struct rna_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->root = root;
	reader->descriptors = descriptors;
	reader->stream = -1;
	return reader;
}

void rna_reader_reset(struct rna_reader *reader)
{
	for (size_t i = 0; i < reader->file_count; i++) {
		rna_close_p(&reader->files[i].fd);
		free(reader->files[i].pause);
	}
	for (unsigned i = 0; i < reader->directory_count; i++)
		rna_close_p(&reader->directories[i].fd);
	rna_close_p(&reader->stream);
	free(reader->files);
	free(reader->directories);
	(void)rna_arena_free(reader->names);
	*reader = (struct rna_reader){
		.root = reader->root,
		.descriptors = reader->descriptors,
		.now = reader->now,
		.period = reader->period,
		.stream = -1,
		.source = reader->source,
		.rejected_look = reader->rejected_look,
	};
}

struct rna_reader *rna_reader_free(struct rna_reader *reader)
{
	if (reader)
		rna_reader_reset(reader);
	free(reader);
	return NULL;
}

void rna_reader_start(struct rna_reader *reader, rna_usec now, rna_usec period)
{
	reader->now = now;
	reader->period = period;
}

bool rna_reader_is_empty(const struct rna_reader *reader)
{
	return reader->file_count == 0;
}

const char *rna_reader_keep_name(struct rna_reader *reader, const char *name)
{
	if (!reader->names)
		reader->names = rna_arena_new(NAMES_SIZE);
	return reader->names ? rna_arena_strdup(reader->names, name) : NULL;
}

/* name: its path, or NULL. Its index, -ENOMEM, or -EFBIG. */
static int append_directory(struct rna_reader *reader, const char *name, unsigned tag)
{
	struct directory *more;

	if (reader->directory_count > USHRT_MAX)
		return -EFBIG; /* a file keeps the index in a short */
	more = reallocarray(reader->directories, reader->directory_count + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	reader->directories = more;
	more[reader->directory_count] = (struct directory){.path = name, .tag = tag, .fd = -1};
	return (int)reader->directory_count++;
}

int rna_reader_add_directory(struct rna_reader *reader, const char *path, unsigned tag)
{
	RNA_CLOSE int fd = rna_root_openat(reader->root, path, O_PATH | O_DIRECTORY);
	struct stat stat;
	const char *name;
	int index;

	if (fd < 0)
		return fd;
	if (fstat(fd, &stat) < 0)
		return -errno;
	name = rna_reader_keep_name(reader, path);
	index = name ? append_directory(reader, name, tag) : -ENOMEM;
	if (index >= 0)
		reader->directories[index].inode = stat.st_ino;
	if (index >= 0 && reader->kept < reader->descriptors) {
		reader->directories[index].fd = fd;
		reader->kept++;
		fd = -1;
	}
	return index;
}

int rna_reader_add_source(struct rna_reader *reader, unsigned tag)
{
	return append_directory(reader, NULL, tag);
}

bool rna_reader_is_source(const struct rna_reader *reader, unsigned directory)
{
	return !reader->directories[directory].path;
}

unsigned rna_reader_directory_count(const struct rna_reader *reader)
{
	return reader->directory_count;
}

unsigned rna_reader_directory_tag(const struct rna_reader *reader, unsigned directory)
{
	return reader->directories[directory].tag;
}

uint64_t rna_reader_directory_inode(const struct rna_reader *reader, unsigned directory)
{
	return reader->directories[directory].inode;
}

int rna_reader_add_file(struct rna_reader *reader, unsigned directory, const char *name,
			const void *userdata)
{
	if (!name)
		return -ENOMEM;
	if (reader->file_count == reader->file_size) {
		size_t size = reader->file_size + FILES_STEP;
		struct file *more = reallocarray(reader->files, size, sizeof(*more));

		if (!more)
			return -ENOMEM;
		reader->files = more;
		reader->file_size = size;
	}
	reader->files[reader->file_count] = (struct file){
		.name = name,
		.userdata = userdata,
		.fd = -1,
		.directory = (unsigned short)directory,
	};
	return (int)reader->file_count++;
}

/* Opens relative to the open directory, or by path if it is not kept open. */
static int open_below(const struct rna_reader *reader, unsigned directory, const char *name,
		      int flags)
{
	const struct directory *where = &reader->directories[directory];
	const struct rna_root_place place = {where->fd, where->path, name, false};

	return where->path ? rna_root_open_below(reader->root, &place, flags) : -ENOENT;
}

static int open_file(const struct rna_reader *reader, const struct file *file)
{
	const struct directory *where = &reader->directories[file->directory];
	const struct rna_root_place place = {where->fd, where->path, file->name, file->was_good};

	return where->path ? rna_root_open_below(reader->root, &place, O_RDONLY) : -ENOENT;
}

ssize_t rna_reader_list(const struct rna_reader *reader, unsigned directory,
			struct rna_arena *arena, char ***ret_names)
{
	int fd = open_below(reader, directory, ".", O_RDONLY | O_DIRECTORY);

	return rna_root_list_fd(fd, arena, ret_names);
}

size_t rna_reader_count(const struct rna_reader *reader)
{
	return reader->file_count;
}

struct rna_reader_file rna_reader_file(const struct rna_reader *reader, size_t index)
{
	const struct file *file = &reader->files[index];

	return (struct rna_reader_file){file->name, file->directory, file->userdata};
}

/* Reads once, from the kept descriptor or a new one, which is kept if the limit allows. */
static ssize_t read_once(struct rna_reader *reader, struct file *file, char *buffer, size_t size)
{
	RNA_CLOSE int fd = -1;

	if (file->fd >= 0)
		return rna_root_pread_text(file->fd, buffer, size);
	fd = open_file(reader, file);
	if (fd < 0)
		return fd;
	if (reader->kept < reader->descriptors) {
		file->fd = fd;
		reader->kept++;
		fd = -1;
		return rna_root_pread_text(file->fd, buffer, size);
	}
	return rna_root_pread_text(fd, buffer, size);
}

/*
 * ENODEV from a descriptor that was kept open means that the device is gone or was registered
 * again. ENODEV from a file that was just opened is the driver's answer for this value only and
 * must not stop the others, so it becomes ENXIO.
 */
static ssize_t read_file(struct rna_reader *reader, struct file *file, char *buffer, size_t size)
{
	ssize_t len = read_once(reader, file, buffer, size);

	if (len != -ENODEV)
		return len;
	reader->kept -= file->fd >= 0;
	rna_close_p(&file->fd);
	file->fd = -1;
	len = read_once(reader, file, buffer, size);
	if (len == -ENODEV)
		return -ENXIO;
	return len == -ENOENT ? -ENODEV : len;
}

static void start_pause(const struct rna_reader *reader, struct pause *pause, int error)
{
	rna_usec length = reader->period;

	if (error != pause->error)
		pause->failures = 0; /* another error than before: start with a short pause */
	for (unsigned i = 0; i < pause->failures && length < LONGEST_PAUSE; i++)
		length *= 2;
	if (pause->failures > 0 && length > LONGEST_PAUSE)
		length = LONGEST_PAUSE;
	if (pause->failures < UCHAR_MAX)
		pause->failures++;
	pause->error = (short)error;
	pause->end = reader->now + length;
}

/* pause: NULL: none. */
static int pause_error(const struct rna_reader *reader, const struct pause *pause)
{
	return pause && reader->now < pause->end ? pause->error : 0;
}

/* Few files fail. Without memory for its pause, the file is read again in the next run. */
static void pause_file(const struct rna_reader *reader, struct file *file, int error)
{
	if (!file->pause)
		file->pause = calloc(1, sizeof(*file->pause));
	if (file->pause)
		start_pause(reader, file->pause, error);
}

static void end_pause(struct file *file)
{
	free(file->pause);
	file->pause = NULL;
}

int rna_reader_may_ask(const struct rna_reader *reader)
{
	return pause_error(reader, &reader->source);
}

void rna_reader_was_asked(struct rna_reader *reader, int status)
{
	if (status < 0)
		start_pause(reader, &reader->source, status);
	else
		reader->source = (struct pause){0};
}

int rna_reader_stream(const struct rna_reader *reader)
{
	return reader->stream;
}

void rna_reader_keep_stream(struct rna_reader *reader, int fd)
{
	if (fd != reader->stream)
		rna_close_p(&reader->stream);
	reader->stream = fd;
}

void rna_reader_close_stream(struct rna_reader *reader)
{
	rna_close_p(&reader->stream);
	reader->stream = -1;
}

uint64_t rna_reader_rejected_look(const struct rna_reader *reader)
{
	return reader->rejected_look;
}

void rna_reader_set_rejected_look(struct rna_reader *reader, uint64_t look)
{
	reader->rejected_look = look;
}

ssize_t rna_reader_read(struct rna_reader *reader, size_t index, char *buffer, size_t size)
{
	struct file *file = &reader->files[index];
	ssize_t len;

	len = pause_error(reader, file->pause);
	if (len < 0)
		return len;
	len = read_file(reader, file, buffer, size);
	/*
	 * The open directory of an unregistered device is empty and stays empty when the device
	 * returns.
	 */
	if (len == -ENODEV || (len == -ENOENT && file->was_good)) {
		rna_reader_reset(reader);
		return -ENODEV;
	}
	if (len < 0) {
		pause_file(reader, file, (int)len);
		return len;
	}
	file->was_good = true;
	end_pause(file);
	return len;
}

int rna_reader_check(struct rna_reader *reader, size_t index)
{
	const struct file *file = &reader->files[index];
	RNA_CLOSE int fd = open_below(reader, file->directory, file->name, O_PATH);

	if (fd != -ENOENT && fd != -ENODEV)
		return 0;
	rna_reader_reset(reader);
	return -ENODEV;
}

int rna_reader_read_number(struct rna_reader *reader, size_t index,
			   int (*parse)(const char *text, uint64_t *ret), struct rna_part *part,
			   struct rna_value *ret)
{
	char text[64];
	uint64_t number;
	ssize_t len;

	len = rna_reader_read(reader, index, text, sizeof(text));
	if (len >= 0)
		len = parse(text, &number);
	if (len >= 0) {
		*ret = rna_value_ok(number);
	} else if (len == -ENODEV) {
		return -ENODEV;
	} else if (len == -ENOENT) {
		*ret = (struct rna_value){0};
	} else {
		rna_part_count_error(part, (int)len);
		*ret = rna_value_unreadable();
	}
	return 0;
}
