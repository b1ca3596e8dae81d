// SPDX-License-Identifier: Apache-2.0
/*
 * The journal backend: messages of the kernel as systemd-journald stored them, for agents that may
 * read the journal (group systemd-journal) and not /dev/kmsg.
 *
 * journald marks all that it reads from /dev/kmsg with _TRANSPORT=kernel, which no client can set,
 * and keeps the facility (src/journal/journald-kmsg.c, dev_kmsg_record()). It is opened for each
 * run, because a handle may be used by one thread only (sd_journal_open(3)), and lanes are several.
 *
 * A recording has what of the journal was kept as a file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-id128.h>
#include <systemd/sd-journal.h>

#include "rna/base/parse.h"

#include "recorded.h"

enum { FIELD_MAX = 64 }; /* of a number, a device */

static void close_journal(sd_journal **journal)
{
	sd_journal_close(*journal); /* accepts NULL */
}

/* -- An entry ---------------------------------------------------------------------------------- */

/* The value of a field, which lies in the journal until the next one is read. Length or errno. */
static ssize_t read_field(sd_journal *journal, const char *field, const char **ret)
{
	size_t skip = strlen(field) + 1, len;
	const void *data;
	int status = sd_journal_get_data(journal, field, &data, &len);

	if (status < 0)
		return status;
	if (len < skip)
		return -EBADMSG;
	*ret = (const char *)data + skip;
	return (ssize_t)(len - skip);
}

static bool copy_field(sd_journal *journal, const char *field, char ret[FIELD_MAX])
{
	const char *value;
	ssize_t len = read_field(journal, field, &value);

	*ret = '\0';
	if (len < 0 || len >= FIELD_MAX || memchr(value, '\0', (size_t)len))
		return false;
	memcpy(ret, value, (size_t)len);
	ret[len] = '\0';
	return true;
}

static uint64_t number_field(sd_journal *journal, const char *field, uint64_t fallback)
{
	char text[FIELD_MAX];
	uint64_t number;

	if (!copy_field(journal, field, text) || rna_parse_u64(text, &number) < 0)
		return fallback;
	return number;
}

/* When the kernel wrote it; without that, when journald read it. */
static rna_usec entry_time(sd_journal *journal)
{
	uint64_t time = 0;
	sd_id128_t boot;

	if (sd_journal_get_monotonic_usec(journal, &time, &boot) < 0)
		time = 0;
	return number_field(journal, "_SOURCE_MONOTONIC_TIMESTAMP", time);
}

/* Gives the current entry to take. False: enough. buffer: RNA_KMSG_RECORD_MAX + 1 bytes. */
static bool take_entry(sd_journal *journal, const struct rna_journal_request *request, char *buffer,
		       struct rna_journal_answer *answer)
{
	struct rna_kmsg_record record = {.message = buffer, .time = entry_time(journal)};
	char device[FIELD_MAX];
	const char *message;
	ssize_t len;

	record.facility = (unsigned)number_field(journal, "SYSLOG_FACILITY", UINT16_MAX);
	record.device = copy_field(journal, "_KERNEL_DEVICE", device) ? device : NULL;
	len = read_field(journal, "MESSAGE", &message);
	if (len < 0) { /* damaged, or without a message */
		answer->error = len == -ENOENT ? answer->error : (int)len;
		return true;
	}
	record.len = len < RNA_KMSG_RECORD_MAX ? (size_t)len : RNA_KMSG_RECORD_MAX;
	memcpy(buffer, message, record.len);
	buffer[record.len] = '\0';
	return request->take(request->userdata, &record);
}

/* -- The journal ------------------------------------------------------------------------------- */

/*
 * Files that may not be read are left out without an error; so none at all means no right, where
 * the directory exists.
 */
static int check_files(sd_journal *journal, const struct rna_root *root)
{
	if (sd_journal_has_runtime_files(journal) > 0 ||
	    sd_journal_has_persistent_files(journal) > 0)
		return 0;
	if (rna_root_exists(root, "var/log/journal") || rna_root_exists(root, "run/log/journal"))
		return -EACCES;
	return -ENOENT;
}

/* Messages of the kernel since this boot; the journal may be that of another root. */
static int add_matches(sd_journal *journal)
{
	char boot[sizeof("_BOOT_ID=") + SD_ID128_STRING_MAX] = "_BOOT_ID=";
	sd_id128_t id;
	int status = sd_id128_get_boot(&id);

	if (status < 0)
		return status;
	(void)sd_id128_to_string(id, boot + strlen(boot));
	status = sd_journal_add_match(journal, boot, 0);
	return status < 0 ? status : sd_journal_add_match(journal, "_TRANSPORT=kernel", 0);
}

/* No flag for the local machine: in a container the id of the machine is another one. */
static int open_journal(const struct rna_root *root, sd_journal **ret)
{
	const char *path = rna_root_path(root);
	int status = strcmp(path, "/") == 0
			     ? sd_journal_open(ret, SD_JOURNAL_SYSTEM)
			     : sd_journal_open_directory(ret, path,
							 SD_JOURNAL_OS_ROOT | SD_JOURNAL_SYSTEM);

	if (status < 0)
		return status;
	status = check_files(*ret, root);
	return status < 0 ? status : add_matches(*ret);
}

/*
 * Moves to the first entry that was not taken. 1; 0: there is none; or negative errno. Where the
 * entry of the cursor is gone, the next one is the first.
 */
static int seek(sd_journal *journal, const char *cursor)
{
	int status =
		cursor ? sd_journal_seek_cursor(journal, cursor) : sd_journal_seek_head(journal);

	if (status >= 0)
		status = sd_journal_next(journal);
	if (status > 0 && cursor && sd_journal_test_cursor(journal, cursor) > 0)
		status = sd_journal_next(journal);
	return status;
}

/*
 * The entry that was taken last, which stays the current one at the end of the journal; else that
 * of before.
 */
static int keep_cursor(sd_journal *journal, const struct rna_journal_request *request, bool moved,
		       struct rna_journal_answer *answer)
{
	RNA_FREE char *cursor = NULL;
	const char *text = request->cursor;
	int status;

	if (moved) {
		status = sd_journal_get_cursor(journal, &cursor);
		if (status < 0)
			return status;
		text = cursor;
	}
	answer->cursor = rna_arena_strdup(request->arena, text ? text : "");
	return answer->cursor ? 0 : -ENOMEM;
}

static int read_journal(const struct rna_journal_request *request, struct rna_journal_answer *ret)
{
	RNA_CLEANUP(close_journal) sd_journal *journal = NULL;
	RNA_FREE char *buffer = malloc(RNA_KMSG_RECORD_MAX + 1);
	const char *cursor = request->cursor && *request->cursor ? request->cursor : NULL;
	uint64_t count = 0;
	int status;

	if (!buffer)
		return -ENOMEM;
	status = open_journal(request->root, &journal);
	if (status >= 0)
		status = seek(journal, cursor);
	if (status < 0)
		return status;
	while (status > 0) {
		count++;
		if (!take_entry(journal, request, buffer, ret) || count == request->most) {
			ret->limited = true;
			break;
		}
		status = sd_journal_next(journal);
	}
	ret->error = status < 0 ? status : ret->error;
	return keep_cursor(journal, request, count > 0, ret);
}

const struct rna_journal_backend rna_journal = {.read = read_journal};

/* -- A recording ------------------------------------------------------------------------------- */

struct recorded {
	const struct rna_journal_request *request;
	uint64_t known; /* records that were taken before */
	uint64_t count;
};

static bool take_recorded(void *userdata, struct rna_kmsg_record *record)
{
	struct recorded *recorded = userdata;

	if (++recorded->count <= recorded->known)
		return true;
	return recorded->request->take(recorded->request->userdata, record);
}

/* The cursor is the number of records. */
static int read_recorded(const struct rna_journal_request *request, struct rna_journal_answer *ret)
{
	RNA_CLOSE int fd = rna_root_openat(request->root, RNA_RECORDED_KERNEL_LOG, O_RDONLY);
	struct recorded recorded = {.request = request};
	struct rna_kmsg_drained drained;

	if (fd < 0)
		return fd;
	if (request->cursor && rna_parse_u64(request->cursor, &recorded.known) < 0)
		recorded.known = 0;
	ret->error = rna_kmsg_drain(fd, recorded.known + request->most, take_recorded, &recorded,
				    &drained);
	ret->limited = drained.limited;
	ret->cursor = rna_arena_printf(request->arena, "%ju", (uintmax_t)recorded.count);
	return ret->cursor ? 0 : -ENOMEM;
}

const struct rna_journal_backend rna_recorded_journal = {.read = read_recorded};
