// SPDX-License-Identifier: Apache-2.0
#include "history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/kept.h"

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

static void keep_transition(struct rna_kept *kept, void *record)
{
	struct rna_transition *transition = record;

	RNA_KEEP(kept, "sequence", transition->sequence);
	RNA_KEEP(kept, "time", transition->time.realtime);
	RNA_KEEP(kept, "device", transition->device);
	RNA_KEEP(kept, "port", transition->port);
	RNA_KEEP(kept, "netdev", transition->netdev);
	RNA_KEEP(kept, "up", transition->up);
	RNA_KEEP(kept, "count", transition->count);
	RNA_KEEP_WORD(kept, "source", transition->source, rna_source_name, RNA_SOURCE_COUNT);
	RNA_KEEP(kept, "reason", transition->reason);
	if (kept->reads && transition->sequence >= INT64_MAX / 2)
		transition->sequence = 0; /* there is room for more */
	rna_kept_want(kept, transition->device && transition->reason && transition->port > 0 &&
				    transition->port <= UINT16_MAX && transition->count > 0 &&
				    transition->source < RNA_SOURCE_COUNT);
}

static void transition_deinit(struct rna_transition *transition)
{
	rna_kept_free(keep_transition, transition, sizeof(*transition));
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

/* Takes over what was added, which it makes empty. False: no memory. */
static bool append_transition(struct rna_history *history, struct rna_transition *added)
{
	if (!history->ring)
		history->ring = calloc(room_of(history), sizeof(*history->ring));
	if (!history->ring)
		return false;
	if (added->sequence <= history->sequence)
		added->sequence = history->sequence + 1;
	if (history->count == room_of(history))
		drop_oldest(history);
	history->sequence = added->sequence;
	history->changed = true;
	*place_of(history, history->count++) = *added;
	*added = (struct rna_transition){0};
	return true;
}

bool rna_history_add(struct rna_history *history, const struct rna_transition *transition)
{
	RNA_CLEANUP(transition_deinit) struct rna_transition copy = *transition;

	copy.device = strdup(transition->device);
	copy.netdev = transition->netdev ? strdup(transition->netdev) : NULL;
	copy.reason = strdup(transition->reason);
	return copy.device && copy.reason && (copy.netdev || !transition->netdev) &&
	       append_transition(history, &copy);
}

/* What is on the disk need not be here, but for the newest, which are shown. */
static void forget_written(struct rna_history *history)
{
	while (!history->all && history->count > RNA_TRANSITIONS_KEPT &&
	       place_of(history, 0)->sequence <= history->written)
		drop_oldest(history);
}

/* -- Writing ----------------------------------------------------------------------------------- */

void rna_history_write(struct rna_history *history, struct rna_strbuf *out)
{
	for (size_t i = 0; i < history->count; i++) {
		const struct rna_transition *transition = place_of(history, i);
		struct rna_json_writer writer = {0};

		if (transition->sequence > history->written)
			rna_json_write(&writer,
				       rna_kept_write(&writer, keep_transition, transition), 0,
				       out);
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

/* 0, or -ENOMEM. A line of no use is passed over. */
static int read_line(struct rna_history *history, const char *line, size_t len)
{
	RNA_CLEANUP(rna_json_free_p) json_t *object = NULL;
	RNA_CLEANUP(transition_deinit) struct rna_transition read = {0};
	int status = rna_json_parse(line, len, &limits, &object, NULL);

	if (status == 0)
		status = rna_kept_read(object, keep_transition, &read, NULL);
	if (status < 0)
		return status == -ENOMEM ? status : 0;
	return append_transition(history, &read) ? 0 : -ENOMEM;
}

static int check_header(const char *text, size_t len, struct rna_error *error)
{
	RNA_CLEANUP(rna_json_free_p) json_t *header = NULL;
	const char *what;
	int status = rna_kept_read_file(text, len, &limits, VERSION, &header, error);

	if (status < 0)
		return status;
	what = rna_kept_text(header, "lines");
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
