// SPDX-License-Identifier: Apache-2.0
/*
 * Transitions of one port, and the history of all changes.
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

#include "rna/base/characters.h"
#include "rna/base/kept.h"

enum {
	VERSION = 1,
	LINES_MAX = 65536, /* of a file that are read */
	LINE_MAX_READ = 16 * 1024,
	TEXT_MAX = 512, /* bytes of each of four, which may become six times as many in a line */
	WAITING = 1024,
};

const struct rna_history_place rna_history_places[RNA_CHANGE_KIND_COUNT] = {
	[RNA_CHANGE_OF_PORT] = {"events.jsonl", "events.old.jsonl", WAITING},
	[RNA_CHANGE_OF_FINDING] = {"events-findings.jsonl", "events-findings.old.jsonl", WAITING},
	[RNA_CHANGE_OF_AGENT] = {"events-agent.jsonl", "events-agent.old.jsonl", 0},
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

static bool is_of_port(const struct rna_change *change)
{
	return rna_change_kind_of(change->what) == RNA_CHANGE_OF_PORT;
}

static void keep_port(struct rna_kept *kept, struct rna_change *change)
{
	bool up = change->what == RNA_CHANGE_UP;

	RNA_KEEP(kept, "up", up);
	RNA_KEEP(kept, "count", change->count);
	RNA_KEEP_WORD(kept, "source", change->source, rna_source_name, RNA_SOURCE_COUNT);
	if (kept->reads)
		change->what = up ? RNA_CHANGE_UP : RNA_CHANGE_DOWN;
	rna_kept_want(kept, change->device && change->port > 0 && change->count > 0 &&
				    change->source < RNA_SOURCE_COUNT);
}

static void keep_finding(struct rna_kept *kept, struct rna_change *change)
{
	RNA_KEEP_WORD(kept, "severity", change->severity, rna_severity_name, RNA_SEVERITY_COUNT);
	RNA_KEEP_WORD(kept, "impact", change->impact, rna_impact_name, RNA_IMPACT_COUNT);
	RNA_KEEP_WORD(kept, "cause", change->cause, rna_cause_name, RNA_CAUSE_COUNT);
	RNA_KEEP(kept, "since", change->since);
	rna_kept_want(kept, change->rule && change->severity < RNA_SEVERITY_COUNT &&
				    change->impact < RNA_IMPACT_COUNT &&
				    change->cause < RNA_CAUSE_COUNT);
}

/* Lines of ports are as they were when there was no other kind. */
static void keep_change(struct rna_kept *kept, void *record)
{
	struct rna_change *change = record;
	bool of_port = kept->reads ? !rna_kept_text(kept->object, "what") : is_of_port(change);

	RNA_KEEP(kept, "sequence", change->sequence);
	RNA_KEEP(kept, "time", change->time.realtime);
	RNA_KEEP(kept, "device", change->device);
	RNA_KEEP(kept, "port", change->port);
	RNA_KEEP(kept, "netdev", change->netdev);
	RNA_KEEP(kept, "rule", change->rule);
	RNA_KEEP(kept, of_port ? "reason" : "text", change->text);
	if (!of_port)
		RNA_KEEP_WORD(kept, "what", change->what, rna_change_name, RNA_CHANGE_COUNT);
	if (of_port)
		keep_port(kept, change);
	else if (rna_change_kind_of(change->what) == RNA_CHANGE_OF_FINDING)
		keep_finding(kept, change);
	if (kept->reads && change->sequence >= INT64_MAX / 2)
		change->sequence = 0; /* there is room for more */
	rna_kept_want(kept, change->text && change->port <= UINT16_MAX &&
				    change->what < RNA_CHANGE_COUNT &&
				    of_port == is_of_port(change));
	rna_kept_want(kept, is_short(change->device) && is_short(change->netdev) &&
				    is_short(change->rule) && is_short(change->text));
}

static void change_deinit(struct rna_change *change)
{
	rna_kept_free(keep_change, change, sizeof(*change));
}

static size_t room_of(const struct rna_history *history)
{
	return history->room > 0 ? history->room : RNA_CHANGES_SHOWN;
}

static struct rna_change *place_of(const struct rna_history *history, size_t index)
{
	return &history->ring[(history->first + index) % room_of(history)];
}

const struct rna_change *rna_history_at(const struct rna_history *history, size_t index)
{
	return place_of(history, index);
}

static void drop_oldest(struct rna_history *history)
{
	change_deinit(place_of(history, 0));
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
static bool append_change(struct rna_history *history, struct rna_change *added)
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
	*added = (struct rna_change){0};
	return true;
}

/* False: no memory. */
static bool copy_text(const char **text)
{
	if (!*text)
		return true;
	*text = strndup(*text, rna_characters_cut(*text, TEXT_MAX));
	return *text != NULL;
}

bool rna_history_add(struct rna_history *history, const struct rna_change *change)
{
	RNA_CLEANUP(change_deinit) struct rna_change copy = *change;
	bool device = copy_text(&copy.device), netdev = copy_text(&copy.netdev);
	bool rule = copy_text(&copy.rule), text = copy_text(&copy.text);

	return device && netdev && rule && text && append_change(history, &copy);
}

/* What is on the disk need not be here, but for the newest, which are shown. */
static void forget_written(struct rna_history *history)
{
	while (!history->all && history->count > RNA_CHANGES_SHOWN &&
	       place_of(history, 0)->sequence <= history->written)
		drop_oldest(history);
}

/* -- Writing ----------------------------------------------------------------------------------- */

/* One that a reader would not take costs only itself. */
static void write_change(const struct rna_change *change, struct rna_strbuf *out)
{
	struct rna_json_writer writer = {0};
	json_t *line = rna_kept_write(&writer, keep_change, change);

	if (line || writer.failed)
		rna_json_write(&writer, line, 0, out);
}

void rna_history_write(struct rna_history *history, struct rna_strbuf *out)
{
	history->adds = 0;
	for (size_t i = 0; i < history->count; i++)
		if (place_of(history, i)->sequence > history->written) {
			write_change(place_of(history, i), out);
			history->adds++;
		}
	history->writing = history->sequence;
	history->turns = history->lines >= RNA_HISTORY_FULL;
}

void rna_history_written(struct rna_history *history, bool there)
{
	if (!there)
		return;
	if (history->turns)
		history->lines = 0;
	history->lines += history->adds;
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
	RNA_CLEANUP(change_deinit) struct rna_change read = {0};
	int status = rna_json_parse(line, len, &limits, &object, NULL);

	if (status == 0)
		status = rna_kept_read(object, keep_change, &read, NULL);
	if (status < 0)
		return status == -ENOMEM ? status : 0;
	return append_change(history, &read) ? 0 : -ENOMEM;
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

/* -- Of all kinds ------------------------------------------------------------------------------ */

bool rna_histories_add(struct rna_history *histories, const struct rna_change *change)
{
	struct rna_change numbered = *change;

	for (size_t i = 0; i < RNA_CHANGE_KIND_COUNT; i++)
		if (numbered.sequence <= histories[i].sequence)
			numbered.sequence = histories[i].sequence + 1;
	return rna_history_add(&histories[rna_change_kind_of(change->what)], &numbered);
}

const struct rna_change *rna_histories_next(const struct rna_history *histories, size_t *next)
{
	const struct rna_change *ret = NULL;
	size_t kind = 0;

	for (size_t i = 0; i < RNA_CHANGE_KIND_COUNT; i++) {
		const struct rna_change *change = next[i] < histories[i].count
							  ? rna_history_at(&histories[i], next[i])
							  : NULL;

		if (change && (!ret || change->sequence < ret->sequence)) {
			ret = change;
			kind = i;
		}
	}
	next[kind] += ret != NULL;
	return ret;
}
