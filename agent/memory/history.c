// SPDX-License-Identifier: Apache-2.0
/*
 * Transitions of one port.
 *
 * Its state is looked at now and then; counters (carrier losses, link_downed, link_down_events_phy)
 * count meanwhile. Both see the same downs, at other times: a sum would count a down twice, and a
 * maximum since the start would hide a flap behind downs that a counter does not see (a subnet
 * manager's, for example). So each counter is compared by itself, from one reading to the next:
 *
 *	extra = what it rose by - the downs counted since its reading before
 *
 * If that is positive, there were unseen flaps: each a down and an up, for before and
 * after the port was looked at. Then these are counted too, and for the other counters they are
 * downs like any other. Ups need no counter: between two downs there is one.
 *
 * What is read takes time, and the parts come in any order. Two rules keep that from mattering:
 *
 *  1. A reading waits until the state was looked at after it; what it knows that the newest look
 *     could not is then known from both sides.
 *  2. A down that was seen after the reading began, or less than a second before (hardware counts
 *     in its own time), may be in its number or not: what did not show yet is carried to the next
 *     reading. Older downs are not carried: if it did not rise by them, it does not see them.
 *
 * A number that fell was reset: comparing starts again, as with another interface or registration.
 * link_downed saturates at 255 and is ignored from then on.
 *
 * An administrator's "down" is a down: traffic stops the same. So is the removal of the device; a
 * driver reload is one down and one up, even if it went by between two looks.
 */
#include "history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/kept.h"

enum {
	VERSION = 1,
	LINES_MAX = 65536, /* of a file that are read */
	LINE_MAX_READ = 16 * 1024,
	TEXT_MAX = 512, /* bytes of each of three, which may become six times as many in a line */
};

const char rna_history_header[] = "{\"version\": 1, \"lines\": \"events\"}\n";

static const struct rna_json_limits limits = {
	.bytes = LINE_MAX_READ,
	.memory = 128 << 10,
	.levels = 2,
	.flags = JSON_REJECT_DUPLICATES,
};

/* -- Of one port ------------------------------------------------------------------------------- */

/* How late a counter may count. */
#define LAG RNA_USEC_PER_SEC

struct transitions {
	size_t count;
	struct rna_port_transition *items;
	struct rna_port_track *track;
};

static void add_transition(struct transitions *transitions, struct rna_port_transition transition)
{
	struct rna_port_history *history = &transitions->track->history;

	if (transition.up)
		history->ups += transition.count;
	else
		history->downs += transition.count;
	history->last = transition.time;
	transitions->items[transitions->count++] = transition;
}

static void forget_counters(struct rna_port_track *track)
{
	for (size_t i = 0; i < RNA_DOWN_COUNTER_COUNT; i++)
		track->counters[i] = (struct rna_down_counter){0};
}

/* The port is gone with its device. */
static void note_down(struct transitions *transitions, const struct rna_port_reading *reading,
		      enum rna_sighting sighting)
{
	struct rna_port_track *track = transitions->track;

	if (track->known && track->up)
		add_transition(transitions, (struct rna_port_transition){
						    .count = 1,
						    .source = reading->source,
						    .sighting = sighting,
						    .time = reading->when.taken,
					    });
	if (track->up)
		track->since = reading->when.taken.monotonic;
	track->up = false;
	forget_counters(track);
}

static void take_reading(struct rna_down_counter *counter, const struct rna_down_reading *read)
{
	if (!rna_value_is_known(read->downs) || counter->waiting)
		return;
	if (!counter->based || counter->of != read->of) {
		*counter = (struct rna_down_counter){
			.based = true,
			.of = read->of,
			.base = read->downs.number,
			.when = read->when,
		};
		return;
	}
	if (read->when.taken.monotonic <= counter->when.taken.monotonic)
		return; /* seen */
	counter->waiting = true;
	counter->newest = read->downs.number;
	counter->when = read->when;
}

/* The counter whose reading is the oldest of those that can be compared now, or NULL. */
static struct rna_down_counter *next_counter(struct rna_port_track *track, rna_usec looked)
{
	struct rna_down_counter *next = NULL;

	for (size_t i = 0; i < RNA_DOWN_COUNTER_COUNT; i++) {
		struct rna_down_counter *counter = &track->counters[i];

		if (counter->waiting && counter->when.taken.monotonic <= looked &&
		    (!next || counter->when.taken.monotonic < next->when.taken.monotonic))
			next = counter;
	}
	return next;
}

/* Unseen flaps: the port came back to what it was. */
static void add_flaps(struct transitions *transitions, const struct rna_down_counter *counter,
		      uint64_t count)
{
	struct rna_port_track *track = transitions->track;
	struct rna_port_transition transition = {
		.up = !track->up,
		.count = count,
		.source = RNA_SOURCE_COUNTER,
		.sighting = RNA_SIGHTING_COUNTED,
		.counter = (enum rna_down_counter_id)(counter - track->counters),
		.time = counter->when.taken,
	};

	add_transition(transitions, transition);
	transition.up = track->up;
	add_transition(transitions, transition);
	if (transition.time.monotonic > track->last_down)
		track->last_down = transition.time.monotonic;
	for (size_t i = 0; i < RNA_DOWN_COUNTER_COUNT; i++)
		if (&track->counters[i] != counter)
			track->counters[i].unaccounted += count;
}

/* The look's own down, if it is one, is among unaccounted already. */
static void compare(struct transitions *transitions, struct rna_down_counter *counter, bool down)
{
	const struct rna_port_track *track = transitions->track;
	uint64_t rise = counter->newest > counter->base ? counter->newest - counter->base : 0;
	uint64_t counted = counter->unaccounted, uncertain = down ? 1 : 0;

	if (track->last_down > 0 && track->last_down + LAG > counter->when.started)
		uncertain = counted;
	counter->waiting = false;
	counter->base = counter->newest;
	counter->unaccounted = counted > rise ? counted - rise : 0;
	if (counter->unaccounted > uncertain)
		counter->unaccounted = uncertain;
	if (rise > counted)
		add_flaps(transitions, counter, rise - counted);
}

static void follow_state(struct transitions *transitions, const struct rna_port_reading *reading)
{
	struct rna_port_track *track = transitions->track;
	bool up = reading->up.number != 0, first = !track->known;
	bool changed = !first && up != track->up, down = changed && !up;
	struct rna_down_counter *counter;

	for (size_t i = 0; i < RNA_DOWN_COUNTER_COUNT; i++)
		track->counters[i].unaccounted += down;
	while (!first && (counter = next_counter(track, reading->when.started)))
		compare(transitions, counter, down);
	if (changed)
		add_transition(transitions, (struct rna_port_transition){
						    .up = up,
						    .count = 1,
						    .source = reading->source,
						    .sighting = RNA_SIGHTING_STATE,
						    .time = reading->when.taken,
					    });
	if (changed || first)
		track->since = reading->when.taken.monotonic;
	if (down)
		track->last_down = reading->when.taken.monotonic;
	track->known = true;
	track->up = up;
	track->looked = reading->when.taken.monotonic;
}

size_t rna_port_track_follow(struct rna_port_track *track, const struct rna_port_reading *reading,
			     struct rna_port_transition items[RNA_PORT_TRANSITIONS_MAX])
{
	struct transitions transitions = {.items = items, .track = track};

	if (!reading->present) {
		note_down(&transitions, reading, RNA_SIGHTING_REMOVED);
		track->gone = true;
		return transitions.count;
	}
	if (track->generation != reading->generation && !track->gone)
		note_down(&transitions, reading, RNA_SIGHTING_REGISTERED);
	track->gone = false;
	track->generation = reading->generation;
	for (size_t i = 0; i < RNA_DOWN_COUNTER_COUNT; i++)
		take_reading(&track->counters[i], &reading->counters[i]);
	if (rna_value_is_known(reading->up) && reading->when.taken.monotonic > track->looked)
		follow_state(&transitions, reading);
	return transitions.count;
}

/* -- The history, in memory -------------------------------------------------------------------- */

/* Else the line could become longer than is read. */
static bool is_short(const char *text)
{
	return !text || strlen(text) <= TEXT_MAX;
}

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
	rna_kept_want(kept, is_short(transition->device) && is_short(transition->netdev) &&
				    is_short(transition->reason));
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

/* One that a reader would not take costs only itself. */
static void write_transition(const struct rna_transition *transition, struct rna_strbuf *out)
{
	struct rna_json_writer writer = {0};
	json_t *line = rna_kept_write(&writer, keep_transition, transition);

	if (line || writer.failed)
		rna_json_write(&writer, line, 0, out);
}

void rna_history_write(struct rna_history *history, struct rna_strbuf *out)
{
	for (size_t i = 0; i < history->count; i++)
		if (place_of(history, i)->sequence > history->written)
			write_transition(place_of(history, i), out);
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
