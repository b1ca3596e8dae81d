// SPDX-License-Identifier: Apache-2.0
/*
 * The log: journal entries with fields, or lines on stderr.
 *
 * systemd names the device and inode of the journal's socket in JOURNAL_STREAM; entries go to the
 * journal only if stderr is still that socket (systemd.exec(5)). A line has a time stamp only if
 * stderr is a regular file: on a terminal it is read at once, and the reader of a pipe, such as a
 * container runtime, adds its own.
 *
 * Texts of others, such as device names and node descriptions, cannot send control characters.
 */
/* Without this, each entry would have this file as its code location. */
#define SD_JOURNAL_SUPPRESS_LOCATION

#include "rna/base/log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <time.h>

#include "rna/base/characters.h"

#define IDENTIFIER "rdma-node-agent"

enum {
	FIELDS_MAX = 16, /* of one entry; further ones are left out */
	TIME_MAX = 32,   /* bytes of "2026-01-31T12:00:00Z" and some room */
};

static struct {
	int level;
	bool journal;
	bool timestamps;
	bool plain;
} out = {.level = LOG_INFO};

static const char *const level_names[] = {
	[LOG_EMERG] = "emergency", [LOG_ALERT] = "alert",     [LOG_CRIT] = "critical",
	[LOG_ERR] = "error",       [LOG_WARNING] = "warning", [LOG_NOTICE] = "notice",
	[LOG_INFO] = "info",       [LOG_DEBUG] = "debug",
};

static bool is_journal(const struct stat *info)
{
	const char *stream = getenv("JOURNAL_STREAM");
	uintmax_t device, inode;
	char end;

	if (!stream || sscanf(stream, "%" SCNuMAX ":%" SCNuMAX "%c", &device, &inode, &end) != 2)
		return false;
	return info->st_dev == device && info->st_ino == inode;
}

void rna_log_open(int level)
{
	struct stat info;
	bool known = fstat(STDERR_FILENO, &info) == 0;

	out.level = level;
	out.plain = false;
	out.journal = known && is_journal(&info);
	out.timestamps = known && S_ISREG(info.st_mode);
}

void rna_log_set_level(int level)
{
	out.level = level;
}

void rna_log_set_plain(void)
{
	out.plain = true;
}

bool rna_log_wants(int level)
{
	return level <= out.level;
}

/* -- Journal ----------------------------------------------------------------------------------- */

/*
 * The fields of an entry, each "NAME=value". The entry is sent even if memory for a field is
 * lacking.
 */
struct entry {
	struct iovec parts[FIELDS_MAX];
	int count;
};

static void free_entry(struct entry *entry)
{
	for (int i = 0; i < entry->count; i++)
		free(entry->parts[i].iov_base);
}

static void add_part(struct entry *entry, const char *name, const char *value)
{
	RNA_STRBUF struct rna_strbuf part = RNA_STRBUF_INIT;
	size_t len;

	if (entry->count == FIELDS_MAX)
		return;
	rna_strbuf_printf(&part, "%s=", name);
	rna_strbuf_add_plain(&part, value, strlen(value), NULL);
	len = part.len;
	if (rna_strbuf_ok(&part))
		entry->parts[entry->count++] = (struct iovec){rna_strbuf_take(&part), len};
}

static bool send_to_journal(int level, const struct rna_log_field *fields, const char *message)
{
	RNA_CLEANUP(free_entry) struct entry entry = {0};
	const char priority[] = {(char)('0' + level), '\0'};

	add_part(&entry, "MESSAGE", message);
	add_part(&entry, "PRIORITY", priority);
	add_part(&entry, "SYSLOG_IDENTIFIER", IDENTIFIER);
	for (; fields && fields->name; fields++)
		if (fields->value)
			add_part(&entry, fields->name, fields->value);
	return sd_journal_sendv(entry.parts, entry.count) >= 0;
}

/* -- Lines ------------------------------------------------------------------------------------- */

static void add_time(struct rna_strbuf *line)
{
	time_t now = time(NULL);
	char text[TIME_MAX];
	struct tm utc;

	if (gmtime_r(&now, &utc) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ ", &utc) > 0)
		rna_strbuf_puts(line, text);
}

/* Fields for programs that read the journal; in a line they would repeat the message. */
static bool is_for_journal(const struct rna_log_field *field)
{
	return strcmp(field->name, "MESSAGE_ID") == 0 || strcmp(field->name, "REASON") == 0;
}

static void add_fields(struct rna_strbuf *line, const struct rna_log_field *fields)
{
	const char *separator = " (";

	for (; fields && fields->name; fields++) {
		if (!fields->value || is_for_journal(fields))
			continue;
		rna_strbuf_printf(line, "%s%s=%s", separator, fields->name, fields->value);
		separator = ", ";
	}
	if (*separator == ',')
		rna_strbuf_puts(line, ")");
}

/* One write(2) per line, so that lines of several processes do not mix. */
static void write_line(int level, const struct rna_log_field *fields, const char *message)
{
	RNA_STRBUF struct rna_strbuf raw = RNA_STRBUF_INIT, line = RNA_STRBUF_INIT;

	if (out.timestamps && !out.plain)
		add_time(&raw);
	rna_strbuf_printf(&raw, "%s: %s", out.plain ? IDENTIFIER : level_names[level], message);
	add_fields(&raw, fields);
	if (!rna_strbuf_ok(&raw))
		return;                                       /* no other place to report it */
	rna_strbuf_add_plain(&line, raw.data, raw.len, NULL); /* a message stays one line */
	rna_strbuf_puts(&line, "\n");
	if (rna_strbuf_ok(&line) && write(STDERR_FILENO, line.data, line.len) < 0)
		return; /* as above */
}

void rna_log(int level, const struct rna_log_field *fields, const char *format, ...)
{
	RNA_FREE char *message = NULL;
	va_list args;
	int len;

	if (!rna_log_wants(level))
		return;
	va_start(args, format);
	len = vasprintf(&message, format, args);
	va_end(args);
	if (len < 0) {
		message = NULL; /* vasprintf() leaves it undefined */
		return;
	}
	if (!out.journal || !send_to_journal(level, fields, message))
		write_line(level, fields, message);
}
