// SPDX-License-Identifier: Apache-2.0
#include "history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/json_document.h"

enum {
	VERSION = 1,
	LINES_MAX = 65536, /* of a file that are read */
	LINE_MAX_READ = 16 * 1024,
};

const char rna_history_header[] = "{\"version\": 1, \"lines\": \"events\"}\n";

static const struct rna_json_limits limits = {
	.bytes = LINE_MAX_READ,
	.memory = 128 << 10,
	.levels = 2,
	.flags = JSON_REJECT_DUPLICATES,
};

/* -- In memory --------------------------------------------------------------------------------- */

static void transition_deinit(struct rna_transition *transition)
{
	free((void *)(uintptr_t)transition->device); /* ours; const only for readers */
	free((void *)(uintptr_t)transition->netdev);
	free((void *)(uintptr_t)transition->reason);
	*transition = (struct rna_transition){0};
}

static size_t room_of(const struct rna_history *history)
{
	return history->room > 0 ? history->room : RNA_TRANSITIONS_KEPT;
}

static struct rna_transition *place_of(const struct rna_history *history, size_t index)
{
	return &history->ring[(history->first + index) % room_of(history)];
}

const struct rna_transition *rna_history_at(const struct rna_history *history, size_t index)
{
	return place_of(history, index);
}

static void drop_oldest(struct rna_history *history)
{
	transition_deinit(place_of(history, 0));
	history->first = (history->first + 1) % room_of(history);
	history->count--;
}

void rna_history_deinit(struct rna_history *history)
{
	while (history->count > 0)
		drop_oldest(history);
	free(history->ring);
	*history = (struct rna_history){0};
}

/* False: no memory. */
static bool copy(struct rna_transition *ret, const struct rna_transition *transition)
{
	*ret = *transition;
	ret->device = strdup(transition->device);
	ret->netdev = transition->netdev ? strdup(transition->netdev) : NULL;
	ret->reason = strdup(transition->reason);
	if (ret->device && ret->reason && (ret->netdev || !transition->netdev))
		return true;
	transition_deinit(ret);
	return false;
}

bool rna_history_add(struct rna_history *history, const struct rna_transition *transition)
{
	struct rna_transition added;

	if (!history->ring)
		history->ring = calloc(room_of(history), sizeof(*history->ring));
	if (!history->ring || !copy(&added, transition))
		return false;
	if (added.sequence <= history->sequence)
		added.sequence = history->sequence + 1;
	if (history->count == room_of(history))
		drop_oldest(history);
	*place_of(history, history->count++) = added;
	history->sequence = added.sequence;
	history->changed = true;
	return true;
}

/* What is on the disk need not be here, but for the newest, which are shown. */
static void forget_written(struct rna_history *history)
{
	while (!history->all && history->count > RNA_TRANSITIONS_KEPT &&
	       place_of(history, 0)->sequence <= history->written)
		drop_oldest(history);
}

/* -- Writing ----------------------------------------------------------------------------------- */

static json_t *line_object(struct rna_json_writer *writer, const struct rna_transition *transition)
{
	json_t *object = json_object();

	rna_json_keep_number(writer, object, "sequence", transition->sequence);
	rna_json_keep_number(writer, object, "time", transition->time.realtime);
	rna_json_keep_text(writer, object, "device", transition->device);
	rna_json_keep_number(writer, object, "port", transition->port);
	rna_json_keep_text(writer, object, "netdev", transition->netdev);
	rna_json_set(writer, object, "up", json_boolean(transition->up));
	rna_json_keep_number(writer, object, "count", transition->count);
	rna_json_keep_text(writer, object, "source", rna_source_name(transition->source));
	rna_json_keep_text(writer, object, "reason", transition->reason);
	return object;
}

void rna_history_write(struct rna_history *history, struct rna_strbuf *out)
{
	for (size_t i = 0; i < history->count; i++) {
		const struct rna_transition *transition = place_of(history, i);
		struct rna_json_writer writer = {0};

		if (transition->sequence > history->written)
			rna_json_write(&writer, line_object(&writer, transition), 0, out);
	}
	history->writing = history->sequence;
	history->turns = history->lines >= RNA_HISTORY_FULL;
}

/* Numbers that are not in the ring any more were lost; then there are fewer lines. */
void rna_history_written(struct rna_history *history, bool there)
{
	if (!there)
		return;
	if (history->turns)
		history->lines = 0;
	history->lines += (size_t)(history->writing - history->written);
	history->written = history->writing;
	forget_written(history);
}

/* -- Reading ----------------------------------------------------------------------------------- */

/* The length of the line at text, without its end; len: it has none, so it is torn. */
static size_t line_length(const char *text, size_t len)
{
	const char *end = memchr(text, '\n', len);

	return end ? (size_t)(end - text) : len;
}

static bool find_source(const char *name, enum rna_source *ret)
{
	for (enum rna_source source = 0; name && source < RNA_SOURCE_COUNT; source++)
		if (strcmp(rna_source_name(source), name) == 0) {
			*ret = source;
			return true;
		}
	return false;
}

/* 0, or -ENOMEM. A line of no use is passed over. */
static int read_line(struct rna_history *history, const char *line, size_t len)
{
	RNA_CLEANUP(rna_json_free_p) json_t *object = NULL;
	uint64_t port, sequence;
	struct rna_transition read;
	int status = rna_json_parse(line, len, &limits, &object, NULL);

	if (status < 0)
		return status == -ENOMEM ? status : 0;
	port = rna_json_kept_number(object, "port");
	sequence = rna_json_kept_number(object, "sequence");
	read = (struct rna_transition){
		.sequence = sequence < INT64_MAX / 2 ? sequence : 0, /* there is room for more */
		.time.realtime = rna_json_kept_number(object, "time"),
		.device = rna_json_kept_text(object, "device"),
		.port = (unsigned)port,
		.netdev = rna_json_kept_text(object, "netdev"),
		.up = json_is_true(json_object_get(object, "up")),
		.count = rna_json_kept_number(object, "count"),
		.reason = rna_json_kept_text(object, "reason"),
	};
	if (!read.device || !read.reason || port == 0 || port > UINT16_MAX || read.count == 0 ||
	    !find_source(rna_json_kept_text(object, "source"), &read.source))
		return 0;
	return rna_history_add(history, &read) ? 0 : -ENOMEM;
}

static int check_header(const char *text, size_t len, struct rna_error *error)
{
	RNA_CLEANUP(rna_json_free_p) json_t *header = NULL;
	const char *what;
	int status = rna_json_read_file(text, len, &limits, VERSION, &header, error);

	if (status < 0)
		return status;
	what = rna_json_kept_text(header, "lines");
	if (!what || strcmp(what, "events") != 0)
		return rna_error_say(error, -EBADMSG, "not a file of events");
	return 0;
}

int rna_history_read(struct rna_history *history, const char *text, size_t len,
		     struct rna_error *error)
{
	size_t lines = 0, at = line_length(text, len);
	bool changed = history->changed;
	int status = len > 0 ? check_header(text, at, error) : 0;

	for (at++; status == 0 && at < len && lines < LINES_MAX; lines++) {
		size_t length = line_length(text + at, len - at);

		if (at + length < len && read_line(history, text + at, length) < 0)
			status = rna_error_set(error, -ENOMEM, "cannot read the events");
		at += length + 1;
	}
	if (status < 0)
		return status;
	history->lines = lines;
	history->changed = changed;
	history->written = history->sequence;
	forget_written(history);
	return 0;
}
