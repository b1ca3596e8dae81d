// SPDX-License-Identifier: Apache-2.0
/*
 * Messages become episodes. A message is held until the next one shows that it has no further
 * fragment. Nothing here grows with the number of messages: an episode keeps the texts of two, and
 * the loudest writers are found in a table of fixed size (Misra and Gries, "Finding repeated
 * elements", 1982): who wrote more than one message in nine of a run is in it.
 */
#include "log_tally.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/log_site.h"

enum {
	HELD_MAX = RNA_KMSG_RECORD_MAX, /* of a message with its fragments */
	NAME_SIZE = 64,
	OBJECT_SIZE = 3 * NAME_SIZE,
	SPEAKERS = 8,
};

#define AVERAGED 60.0 /* seconds */

struct entry {
	struct rna_log_episode episode;
	char *last; /* memory of the text of its last message; NULL: it is that of before */
};

struct held {
	bool any;
	char text[HELD_MAX + 1];
	size_t len;
	char device[NAME_SIZE]; /* "": none */
	char caller[NAME_SIZE];
	struct rna_log_line line; /* without text */
};

struct speaker {
	uint64_t count;
	size_t len;
	char name[NAME_SIZE];
};

struct rna_log_tally {
	struct rna_kernel_log *log;
	const struct rna_kernel_log *previous; /* NULL: none */
	const struct rna_log_matcher *matcher;
	struct rna_log_start start;
	bool numbered; /* log->sequence is that of a message */
	bool no_memory;
	struct entry *entries;
	size_t count;
	struct held held;
	struct speaker speakers[SPEAKERS];
};

/* -- Episodes ---------------------------------------------------------------------------------- */

/* The place of one more. NULL: no memory. */
static struct entry *next_entry(struct rna_log_tally *tally)
{
	struct entry *entry = RNA_GROW(tally->entries, tally->count, NULL);

	tally->no_memory |= !entry;
	return entry;
}

/* The name in arena; NULL: it is empty, or there is no memory. */
static const char *keep_name(struct rna_log_tally *tally, const struct rna_text *name)
{
	const char *copy;

	if (name->len == 0)
		return NULL;
	copy = rna_arena_printf(tally->log->part.arena, "%.*s", (int)name->len, name->data);
	tally->no_memory |= !copy;
	return copy;
}

static void add_name(char object[OBJECT_SIZE], const struct rna_text *name)
{
	size_t len = strlen(object);

	if (name->len > 0)
		(void)snprintf(object + len, OBJECT_SIZE - len, "%s%.*s", len > 0 ? " " : "",
			       (int)name->len, name->data);
}

static void name_object(const struct rna_log_match *match, char ret[OBJECT_SIZE])
{
	*ret = '\0';
	add_name(ret, &match->pci);
	add_name(ret, &match->netdev);
	add_name(ret, &match->rdma);
	if (!*ret)
		(void)strcpy(ret, "node");
}

static struct entry *find_entry(struct rna_log_tally *tally, const struct rna_log_pattern *pattern,
				const char *object)
{
	return RNA_FIND(i, tally->entries, tally->count,
			tally->entries[i].episode.pattern == pattern &&
				strcmp(tally->entries[i].episode.object, object) == 0);
}

/* NULL: there is no room, or no memory. */
static struct entry *add_entry(struct rna_log_tally *tally, const struct rna_log_match *match,
			       const char *object)
{
	struct entry *entry;

	if (tally->count == RNA_LOG_EPISODES_MAX) {
		tally->log->dropped++;
		return NULL;
	}
	entry = next_entry(tally);
	if (!entry)
		return NULL;
	*entry = (struct entry){
		.episode =
			{
				.pattern = match->pattern,
				.object = rna_arena_keep(tally->log->part.arena, object,
							 &tally->no_memory),
				.pci = keep_name(tally, &match->pci),
				.netdev = keep_name(tally, &match->netdev),
				.rdma = keep_name(tally, &match->rdma),
			},
	};
	if (tally->no_memory)
		return NULL;
	tally->count++;
	return entry;
}

/* The memory of the last text is used again by the next message of the same run. */
static void set_last(struct rna_log_tally *tally, struct entry *entry, const char *text)
{
	if (!entry->last)
		entry->last = rna_arena_alloc(tally->log->part.arena, RNA_LOG_TEXT_MAX + 1);
	if (!entry->last) {
		tally->no_memory = true;
		return;
	}
	(void)strcpy(entry->last, text);
	entry->episode.last = tally->held.line;
	entry->episode.last.text = entry->last;
}

static void count_message(struct rna_log_tally *tally, const struct rna_log_match *match)
{
	char object[OBJECT_SIZE], text[RNA_LOG_TEXT_MAX + 1];
	struct entry *entry;

	name_object(match, object);
	entry = find_entry(tally, match->pattern, object);
	if (!entry)
		entry = add_entry(tally, match, object);
	if (!entry)
		return;
	(void)rna_kmsg_escape(tally->held.text, tally->held.len, text, sizeof(text));
	set_last(tally, entry, text);
	if (entry->episode.count++ > 0)
		return;
	entry->episode.first = tally->held.line;
	entry->episode.first.text = rna_arena_keep(tally->log->part.arena, text, &tally->no_memory);
}

static bool is_name(const char *name, const struct rna_text *span)
{
	return name && span->len > 0 && strlen(name) == span->len &&
	       memcmp(name, span->data, span->len) == 0;
}

/* Is the message of recovery about the object of the episode? */
static bool is_about(const struct rna_log_match *match, const struct rna_log_episode *episode)
{
	if (match->pci.len + match->netdev.len + match->rdma.len == 0)
		return !episode->pci && !episode->netdev && !episode->rdma;
	return is_name(episode->pci, &match->pci) || is_name(episode->netdev, &match->netdev) ||
	       is_name(episode->rdma, &match->rdma);
}

static void note_recovery(struct rna_log_tally *tally, const struct rna_log_match *match)
{
	rna_usec time = tally->held.line.time;

	for (size_t i = 0; i < tally->count; i++) {
		struct rna_log_episode *episode = &tally->entries[i].episode;

		if (rna_same_text(episode->pattern->recovered_by, match->pattern->name) &&
		    is_about(match, episode))
			episode->recovered = time > 0 ? time : 1;
	}
}

/* -- Messages ---------------------------------------------------------------------------------- */

/*
 * Compares the message that is held with the patterns; it has no further fragment. What a site
 * looks for counts for its own pattern also where the table has one.
 */
static void release(struct rna_log_tally *tally)
{
	struct held *held = &tally->held;
	struct rna_log_match match, site;
	bool known, wanted;

	if (!held->any)
		return;
	held->any = false;
	held->text[held->len] = '\0';
	known = rna_log_match(tally->matcher, &tally->log->pending, held->text, held->len,
			      *held->device ? held->device : NULL, &match);
	wanted = rna_log_site_match(held->text, held->len, &site);
	tally->log->matched += known || wanted;
	if (known && match.pattern->kind == RNA_LOG_RECOVERY)
		note_recovery(tally, &match);
	else if (known)
		count_message(tally, &match);
	if (wanted)
		count_message(tally, &site);
}

/* Between the two runs around it, if the one before had read all there was. */
static rna_usec correct_time(const struct rna_log_tally *tally, rna_usec time)
{
	const struct rna_kernel_log *previous = tally->previous;

	if (time == 0 || tally->start.source == RNA_KERNEL_LOG_RECORDED)
		return time;
	if (time > tally->log->part.started.monotonic)
		return tally->log->part.started.monotonic;
	if (!tally->start.first && !previous->behind && time < previous->part.started.monotonic)
		return previous->part.started.monotonic;
	return time;
}

static void hold(struct rna_log_tally *tally, const struct rna_kmsg_record *record)
{
	struct held *held = &tally->held;

	held->any = true;
	held->len = record->len < HELD_MAX ? record->len : HELD_MAX;
	memcpy(held->text, record->message, held->len);
	(void)snprintf(held->device, sizeof(held->device), "%s",
		       record->device ? record->device : "");
	(void)snprintf(held->caller, sizeof(held->caller), "%s",
		       record->caller ? record->caller : "");
	held->line = (struct rna_log_line){
		.sequence = record->sequence,
		.time = correct_time(tally, record->time),
	};
}

/* A fragment may follow a message of another thread, which only callers show. */
static bool continues(const struct held *held, const struct rna_kmsg_record *record)
{
	return record->fragment && held->any &&
	       (!record->caller || strcmp(record->caller, held->caller) == 0);
}

static void add_fragment(struct held *held, const struct rna_kmsg_record *record)
{
	size_t room = HELD_MAX - held->len, len = record->len < room ? record->len : room;

	memcpy(held->text + held->len, record->message, len);
	held->len += len;
}

/* The words in front of the first ": ", or else the first word. */
static size_t speaker_len(const char *message, size_t len)
{
	size_t most = len < NAME_SIZE ? len : NAME_SIZE - 1, word = 0;

	for (size_t i = 0; i < most; i++) {
		if (message[i] != ' ')
			continue;
		if (i > 0 && message[i - 1] == ':')
			return i - 1;
		word = word > 0 ? word : i;
	}
	return word > 0 ? word : most;
}

static void note_speaker(struct rna_log_tally *tally, const char *message, size_t len)
{
	struct speaker *free = NULL;

	len = speaker_len(message, len);
	for (struct speaker *s = tally->speakers; s < tally->speakers + SPEAKERS; s++) {
		if (s->count > 0 && s->len == len && memcmp(s->name, message, len) == 0) {
			s->count++;
			return;
		}
		if (s->count == 0)
			free = s;
	}
	for (struct speaker *s = tally->speakers; !free && s < tally->speakers + SPEAKERS; s++)
		s->count--;
	if (!free)
		return;
	free->count = 1;
	free->len = len;
	memcpy(free->name, message, len);
}

/* Was it read before? Another source has other numbers, but the same times. */
static bool is_known(const struct rna_log_tally *tally, const struct rna_kmsg_record *record)
{
	const struct rna_kernel_log *previous = tally->previous;

	if (!tally->start.reopened || tally->start.first)
		return false;
	return previous->source == tally->start.source ? record->sequence <= previous->sequence
						       : record->time <= previous->newest;
}

/* Numbers that are missing are messages that were not read. A recording keeps some only. */
static void count_lost(struct rna_log_tally *tally, uint64_t sequence)
{
	struct rna_kernel_log *log = tally->log;

	if (tally->numbered && tally->start.source == RNA_KERNEL_LOG_KMSG &&
	    sequence > log->sequence + 1) {
		log->lost += sequence - log->sequence - 1;
		log->run_lines += sequence - log->sequence - 1;
	}
	tally->numbered = true;
}

bool rna_log_tally_take(void *userdata, struct rna_kmsg_record *record)
{
	struct rna_log_tally *tally = userdata;

	if (is_known(tally, record))
		return true;
	count_lost(tally, record->sequence);
	tally->log->sequence = record->sequence;
	tally->log->newest = record->time;
	tally->log->run_lines++;
	note_speaker(tally, record->message, record->len);
	if (record->facility != RNA_KMSG_KERNEL)
		return true;
	if (continues(&tally->held, record)) {
		add_fragment(&tally->held, record);
		return true;
	}
	release(tally);
	hold(tally, record);
	return true;
}

/* -- Beginning and end ------------------------------------------------------------------------- */

static bool take_over(struct rna_log_tally *tally)
{
	const struct rna_kernel_log *previous = tally->previous;
	struct rna_kernel_log *log = tally->log;

	log->sequence = previous->sequence;
	log->newest = previous->newest;
	log->lines = previous->lines;
	log->matched = previous->matched;
	log->lost = previous->lost;
	log->dropped = previous->dropped;
	log->rate = previous->rate;
	log->pending = previous->pending;
	for (size_t i = 0; i < previous->episode_count; i++) {
		struct entry *entry = next_entry(tally);

		if (!entry)
			return false;
		*entry = (struct entry){.episode = previous->episodes[i]};
		tally->count++;
	}
	return true;
}

struct rna_log_tally *rna_log_tally_new(struct rna_kernel_log *log,
					const struct rna_kernel_log *previous)
{
	RNA_CLEANUP(rna_log_tally_free_p)
	struct rna_log_tally *tally = calloc(1, sizeof(*tally));

	if (!tally)
		return NULL;
	tally->log = log;
	tally->previous = previous;
	tally->matcher = rna_log_matcher();
	if (!tally->matcher || (previous && !take_over(tally)))
		return NULL;
	return RNA_TAKE(tally);
}

struct rna_log_tally *rna_log_tally_free(struct rna_log_tally *tally)
{
	if (!tally)
		return NULL;
	free(tally->entries);
	free(tally);
	return NULL;
}

void rna_log_tally_start(struct rna_log_tally *tally, const struct rna_log_start *start)
{
	tally->start = *start;
	tally->log->source = start->source;
	tally->numbered = !start->first && tally->previous->source == start->source;
}

/* Copies what lies in the part before. */
static void keep_texts(struct rna_log_tally *tally, struct rna_log_episode *episode)
{
	const char **const texts[] = {&episode->object, &episode->pci,        &episode->netdev,
				      &episode->rdma,   &episode->first.text, &episode->last.text};

	for (size_t i = 0; i < RNA_ARRAY_SIZE(texts); i++)
		*texts[i] = rna_arena_keep(tally->log->part.arena, *texts[i], &tally->no_memory);
}

static void finish_episodes(struct rna_log_tally *tally)
{
	struct rna_kernel_log *log = tally->log;
	size_t before = tally->previous ? tally->previous->episode_count : 0;
	struct rna_log_episode *episodes =
		rna_arena_array(log->part.arena, tally->count, sizeof(*episodes));

	tally->no_memory |= !episodes;
	for (size_t i = 0; episodes && i < tally->count; i++) {
		episodes[i] = tally->entries[i].episode;
		if (i < before)
			keep_texts(tally, &episodes[i]);
	}
	log->episodes = episodes;
	log->episode_count = tally->count;
}

static void finish_rate(struct rna_log_tally *tally)
{
	struct rna_kernel_log *log = tally->log;
	const struct speaker *loudest = tally->speakers;
	char name[NAME_SIZE];
	double seconds;

	log->lines += log->run_lines;
	for (const struct speaker *s = tally->speakers; s < tally->speakers + SPEAKERS; s++)
		loudest = s->count > loudest->count ? s : loudest;
	if (loudest->count > 0) {
		(void)rna_kmsg_escape(loudest->name, loudest->len, name, sizeof(name));
		log->loudest = rna_arena_keep(log->part.arena, name, &tally->no_memory);
	}
	if (tally->start.first || !tally->previous)
		return;
	log->run_time = rna_usec_since(tally->previous->part.started.monotonic,
				       log->part.started.monotonic);
	seconds = rna_seconds(log->run_time);
	if (seconds > 0)
		log->rate += ((double)log->run_lines / seconds - log->rate) * seconds /
			     (AVERAGED + seconds);
}

int rna_log_tally_finish(struct rna_log_tally *tally)
{
	release(tally);
	finish_episodes(tally);
	finish_rate(tally);
	return tally->no_memory ? -ENOMEM : 0;
}
