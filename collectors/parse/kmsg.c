// SPDX-License-Identifier: Apache-2.0
/*
 * The device returns one record for each read() and keeps the position (kernel/printk/printk.c,
 * devkmsg_read() of Linux 6.12). A file, which a recording or the tee of `record` has, is read in
 * blocks.
 */
#include "kmsg.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "rna/base/parse.h"

enum {
	DEVICE_MAJOR = 1, /* Documentation/admin-guide/devices.txt */
	DEVICE_MINOR = 11,
	BLOCK_SIZE = 8 * RNA_KMSG_RECORD_MAX,
	INTERRUPTIONS_MAX = 16,
};

/* -- A record ---------------------------------------------------------------------------------- */

/* The kernel writes what is not printable, and the backslash, as \xNN. In place; the new length. */
static size_t unescape(char *text, size_t len)
{
	char *to = memchr(text, '\\', len);
	const char *from = to, *end = text + len;

	if (!to)
		return len;
	while (from < end) {
		int high = -1, low = -1;

		if (end - from >= 4 && from[0] == '\\' && from[1] == 'x') {
			high = rna_hex_digit(from[2]);
			low = rna_hex_digit(from[3]);
		}
		if (high >= 0 && low >= 0) {
			*to++ = (char)(high << 4 | low);
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
	return (size_t)(to - text);
}

/* A number and the character behind it, which is skipped. */
static int take_number(char **at, char end, uint64_t *ret)
{
	uint64_t number = 0;
	char *c = *at;

	if (!isdigit((unsigned char)*c))
		return -EBADMSG;
	for (; isdigit((unsigned char)*c); c++)
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (unsigned)(*c - '0'), &number))
			return -EBADMSG;
	if (*c != end)
		return -EBADMSG;
	*at = c + 1;
	*ret = number;
	return 0;
}

/*
 * What follows the time: flags, then fields that later kernels may add. 'c' marks a fragment; '+'
 * is a further one up to Linux 4.9, where 'c' was the first.
 */
static void take_fields(char *fields, struct rna_kmsg_record *ret)
{
	static const char caller[] = "caller=";
	char *field = strsep(&fields, ",");

	ret->fragment = strpbrk(field, "c+");
	while ((field = strsep(&fields, ",")))
		if (strncmp(field, caller, sizeof(caller) - 1) == 0)
			ret->caller = field + sizeof(caller) - 1;
}

/* "LEVEL,SEQUENCE,TIME,FLAGS[,FIELD...];" What follows it, or NULL. */
static char *take_prefix(char *text, struct rna_kmsg_record *ret)
{
	char *end = strpbrk(text, ";\n");
	uint64_t priority;

	if (!end || *end != ';' || take_number(&text, ',', &priority) < 0 ||
	    priority > UINT16_MAX || take_number(&text, ',', &ret->sequence) < 0 ||
	    take_number(&text, ',', &ret->time) < 0 || text > end)
		return NULL;
	*end = '\0';
	ret->level = priority & 7;
	ret->facility = (unsigned)(priority >> 3);
	take_fields(text, ret);
	return end + 1;
}

static void take_dictionary(char *lines, struct rna_kmsg_record *ret)
{
	static const char device[] = " DEVICE=";
	char *line;

	while ((line = strsep(&lines, "\n"))) {
		if (strncmp(line, device, sizeof(device) - 1) != 0)
			continue;
		line += sizeof(device) - 1;
		(void)unescape(line, strlen(line));
		ret->device = line;
	}
}

int rna_kmsg_parse(char *text, size_t len, struct rna_kmsg_record *ret)
{
	char *end;

	*ret = (struct rna_kmsg_record){0};
	text[len] = '\0';
	if (memchr(text, '\0', len))
		return -EBADMSG; /* the kernel escapes it */
	text = take_prefix(text, ret);
	end = text ? strchr(text, '\n') : NULL;
	if (!end)
		return -EBADMSG;
	*end = '\0';
	ret->message = text;
	ret->len = unescape(text, (size_t)(end - text));
	take_dictionary(end + 1, ret);
	return 0;
}

size_t rna_kmsg_escape(const char *text, size_t len, char *ret, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	size_t used = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];
		bool plain = c >= ' ' && c < 0x7f;

		if (used + (plain ? 1 : 4) >= size)
			break;
		if (plain) {
			ret[used++] = (char)c;
			continue;
		}
		ret[used++] = '\\';
		ret[used++] = 'x';
		ret[used++] = digits[c >> 4];
		ret[used++] = digits[c & 15];
	}
	ret[used] = '\0';
	return used;
}

/* As the kernel writes it: the backslash as well. */
static void write_escaped(const char *text, size_t len, struct rna_strbuf *ret)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c >= ' ' && c < 0x7f && c != '\\')
			rna_strbuf_add_char(ret, (char)c);
		else
			rna_strbuf_printf(ret, "\\x%02x", c);
	}
}

void rna_kmsg_write(const struct rna_kmsg_record *record, struct rna_strbuf *ret)
{
	rna_strbuf_printf(ret, "%u,%ju,%ju,%c", record->facility << 3 | record->level,
			  (uintmax_t)record->sequence, (uintmax_t)record->time,
			  record->fragment ? 'c' : '-');
	if (record->caller)
		rna_strbuf_printf(ret, ",caller=%s", record->caller);
	rna_strbuf_add_char(ret, ';');
	write_escaped(record->message, record->len, ret);
	rna_strbuf_add_char(ret, '\n');
	if (!record->device)
		return;
	rna_strbuf_puts(ret, " DEVICE=");
	write_escaped(record->device, strlen(record->device), ret);
	rna_strbuf_add_char(ret, '\n');
}

/* -- Opening ----------------------------------------------------------------------------------- */

/*
 * On a live root nothing but the kernel's device will do: in containers /dev/kmsg may be a link to
 * the console, whose input would be consumed, or a FIFO. Of a recording the root opens files only.
 */
static int check_device(const struct rna_root *root)
{
	RNA_CLOSE int fd = rna_root_openat(root, RNA_KMSG_PATH, O_PATH);
	struct stat stat;

	if (fd < 0)
		return fd;
	if (fstat(fd, &stat) < 0)
		return -errno;
	if (!S_ISCHR(stat.st_mode) || stat.st_rdev != makedev(DEVICE_MAJOR, DEVICE_MINOR))
		return -ENODEV;
	return 0;
}

int rna_kmsg_open(const struct rna_root *root)
{
	int status = rna_root_is_live(root) ? check_device(root) : 0;
	struct stat stat;
	int fd;

	if (status < 0)
		return status;
	fd = rna_root_openat(root, RNA_KMSG_PATH, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return fd;
	if (fstat(fd, &stat) < 0)
		status = -errno;
	else if (S_ISDIR(stat.st_mode)) /* in a recording: it could not be read */
		status = -EACCES;
	if (status == 0)
		return fd;
	(void)close(fd); /* it was only looked at */
	return status;
}

/* -- Reading ----------------------------------------------------------------------------------- */

struct draining {
	int fd;
	uint64_t most;
	rna_kmsg_take *take;
	void *userdata;
	struct rna_kmsg_drained *ret;
};

/* False: enough. */
static bool take_record(const struct draining *draining, char *text, size_t len)
{
	struct rna_kmsg_record record;

	if (rna_kmsg_parse(text, len, &record) < 0) {
		draining->ret->malformed++;
		return true;
	}
	draining->ret->records++;
	return draining->take(draining->userdata, &record);
}

static bool is_enough(const struct draining *draining)
{
	const struct rna_kmsg_drained *ret = draining->ret;

	return ret->records + ret->malformed + ret->overwritten >= draining->most;
}

static ssize_t read_some(int fd, char *buffer, size_t size)
{
	ssize_t len = -1;

	for (unsigned i = 0; len < 0 && i < INTERRUPTIONS_MAX; i++) {
		len = read(fd, buffer, size);
		if (len < 0 && errno != EINTR)
			break;
	}
	return len < 0 ? -errno : len;
}

/*
 * EPIPE: the next record was overwritten, the position is now that of the oldest. EINVAL: the
 * record is longer than the buffer, and was skipped.
 */
static int drain_device(const struct draining *draining)
{
	char buffer[RNA_KMSG_RECORD_MAX + 1];

	while (!is_enough(draining)) {
		ssize_t len = read_some(draining->fd, buffer, RNA_KMSG_RECORD_MAX);

		if (len == 0 || len == -EAGAIN)
			return 0;
		if (len == -EPIPE)
			draining->ret->overwritten++;
		else if (len == -EINVAL)
			draining->ret->malformed++;
		else if (len < 0)
			return (int)len;
		else if (!take_record(draining, buffer, (size_t)len))
			break;
	}
	draining->ret->limited = true;
	return 0;
}

/* The length of the first record in a block: its line, and lines behind it that begin with a blank.
 * 0: it is not complete. */
static size_t record_len(const char *block, size_t len, bool last)
{
	const char *end = block + len, *line = block;

	do {
		line = memchr(line, '\n', (size_t)(end - line));
		if (!line)
			return 0;
		line++;
		if (line == end)
			return last ? len : 0;
	} while (*line == ' ');
	return (size_t)(line - block);
}

/* Takes the complete records of a block. How much of it was used up. */
static size_t take_block(const struct draining *draining, char *block, size_t len, bool last)
{
	char text[RNA_KMSG_RECORD_MAX + 1];
	size_t used = 0, next;

	while (!is_enough(draining) && (next = record_len(block + used, len - used, last)) > 0) {
		const char *record = block + used;

		used += next;
		if (next > RNA_KMSG_RECORD_MAX) {
			draining->ret->malformed++;
			continue;
		}
		memcpy(text, record, next);
		if (!take_record(draining, text, next))
			return used;
	}
	return used;
}

/* By pread(), so that the position moves over complete records only. */
static int drain_file(const struct draining *draining, char *block)
{
	off_t at = lseek(draining->fd, 0, SEEK_CUR);

	while (at >= 0 && !is_enough(draining)) {
		ssize_t len = pread(draining->fd, block, BLOCK_SIZE, at);
		size_t used;

		if (len <= 0)
			return len < 0 ? -errno : 0;
		used = take_block(draining, block, (size_t)len, len < BLOCK_SIZE);
		if (used == 0 &&
		    len == BLOCK_SIZE) { /* one that fills it is none of the kernel's */
			draining->ret->malformed++;
			used = BLOCK_SIZE;
		}
		at = lseek(draining->fd, at + (off_t)used, SEEK_SET);
		if (at >= 0 && len < BLOCK_SIZE && !is_enough(draining))
			return 0;
	}
	draining->ret->limited = true;
	return at < 0 ? -errno : 0;
}

int rna_kmsg_drain(int fd, uint64_t most, rna_kmsg_take *take, void *userdata,
		   struct rna_kmsg_drained *ret)
{
	const struct draining draining = {fd, most, take, userdata, ret};
	RNA_FREE char *block = NULL;
	struct stat stat;

	*ret = (struct rna_kmsg_drained){0};
	if (fstat(fd, &stat) < 0)
		return -errno;
	if (!S_ISREG(stat.st_mode))
		return drain_device(&draining);
	block = malloc(BLOCK_SIZE);
	return block ? drain_file(&draining, block) : -ENOMEM;
}

int rna_kmsg_skip(int fd)
{
	return lseek(fd, 0, SEEK_END) < 0 ? -errno : 0;
}
