// SPDX-License-Identifier: Apache-2.0
#include "episodes.h"

#include <errno.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/log_match.h"

#include "episode_end.h"
#include "episode_object.h"

/* -- One of them ------------------------------------------------------------------------------- */

static const char *const state_words[] = {
	[RNA_EPISODE_HOLDS] = "holds",
	[RNA_EPISODE_DOUBTFUL] = "doubtful",
	[RNA_EPISODE_OVER] = "over",
};
#define STATE_WORD(state) state_words[state]

static void keep_line(struct rna_kept *kept, void *record)
{
	struct rna_episode_line *line = record;

	RNA_KEEP(kept, "sequence", line->sequence);
	RNA_KEEP(kept, "time", line->time);
	RNA_KEEP(kept, "realtime", line->realtime);
	RNA_KEEP(kept, "text", line->text);
}

/* The pattern is written and found by others. */
static void keep_episode(struct rna_kept *kept, void *record)
{
	struct rna_episode *episode = record;
	bool over = kept->writes && episode->state == RNA_EPISODE_OVER;
	struct rna_episode_line last = episode->last;

	RNA_KEEP(kept, "pci", episode->pci);
	RNA_KEEP(kept, "netdev", episode->netdev);
	RNA_KEEP(kept, "rdma", episode->rdma);
	RNA_KEEP_WORD(kept, "state", episode->state, STATE_WORD, RNA_EPISODE_OVER + 1);
	RNA_KEEP(kept, "read", episode->read);
	RNA_KEEP(kept, "heard", episode->heard);
	if (over) {
		last.text = NULL; /* the texts of an episode that is over are of no use */
		RNA_KEEP_RECORD(kept, "last", keep_line, last);
		return;
	}
	RNA_KEEP_RECORD(kept, "last", keep_line, episode->last);
	RNA_KEEP_RECORD(kept, "first", keep_line, episode->first);
	RNA_KEEP(kept, "name", episode->name);
	RNA_KEEP(kept, "count", episode->count);
	if (!kept->writes || episode->registered)
		RNA_KEEP(kept, "registered", episode->registered);
	RNA_KEEP(kept, "generation", episode->generation);
}

static struct rna_episode *episode_free(struct rna_episode *episode)
{
	if (episode)
		rna_kept_free(keep_episode, episode, sizeof(*episode));
	free(episode);
	return NULL;
}
RNA_DEFINE_CLEANUP(struct rna_episode, episode_free)

static struct rna_episode *episode_new(const struct rna_log_pattern *pattern, const char *pci,
				       const char *netdev, const char *rdma)
{
	RNA_CLEANUP(episode_free_p) struct rna_episode *episode = calloc(1, sizeof(*episode));

	if (!episode)
		return NULL;
	episode->pattern = pattern;
	episode->state = RNA_EPISODE_OVER; /* until a message says otherwise */
	if (!rna_text_set(&episode->pci, pci) || !rna_text_set(&episode->netdev, netdev) ||
	    !rna_text_set(&episode->rdma, rdma))
		return NULL;
	return RNA_TAKE(episode);
}

/* -- The list ---------------------------------------------------------------------------------- */

void rna_episodes_deinit(struct rna_episodes *episodes)
{
	for (size_t i = 0; i < episodes->count; i++)
		(void)episode_free(episodes->items[i]);
	free(episodes->items);
	*episodes = (struct rna_episodes){0};
}

/* The one that ended first goes. False: all of them hold. */
static bool make_room(struct rna_episodes *episodes)
{
	size_t i = 0;

	while (i < episodes->count && episodes->items[i]->state != RNA_EPISODE_OVER)
		i++;
	if (i == episodes->count)
		return false;
	(void)episode_free(episodes->items[i]);
	memmove(&episodes->items[i], &episodes->items[i + 1],
		(episodes->count - i - 1) * sizeof(struct rna_episode *));
	episodes->count--;
	return true;
}

static int append(struct rna_episodes *episodes, struct rna_episode *episode)
{
	struct rna_episode **items = episodes->items;
	size_t size = episodes->size ? episodes->size * 2 : 8;

	if (episodes->count == episodes->size) {
		items = reallocarray(episodes->items, size, sizeof(struct rna_episode *));
		if (!items)
			return -ENOMEM;
		episodes->items = items;
		episodes->size = size;
	}
	items[episodes->count++] = episode;
	return 0;
}

struct rna_episode *rna_episodes_get(struct rna_episodes *episodes,
				     const struct rna_log_pattern *pattern, const char *pci,
				     const char *netdev, const char *rdma)
{
	RNA_CLEANUP(episode_free_p) struct rna_episode *episode = NULL;

	for (size_t i = 0; i < episodes->count; i++) {
		struct rna_episode *known = episodes->items[i];

		if (known->pattern == pattern && rna_same_text(known->pci, pci) &&
		    rna_same_text(known->netdev, netdev) && rna_same_text(known->rdma, rdma))
			return known;
	}
	if (episodes->count == RNA_EPISODES_KEPT && !make_room(episodes))
		return NULL;
	episode = episode_new(pattern, pci, netdev, rdma);
	if (!episode || append(episodes, episode) < 0)
		return NULL;
	return RNA_TAKE(episode);
}

/* -- The file ---------------------------------------------------------------------------------- */

json_t *rna_episodes_write(struct rna_json_writer *writer, const struct rna_episodes *episodes)
{
	json_t *list = json_array();

	for (size_t i = 0; i < episodes->count; i++) {
		const struct rna_episode *episode = episodes->items[i];
		json_t *object;

		if (!episode->last.text)
			continue;
		object = rna_kept_write(writer, keep_episode, episode);
		rna_json_set(writer, object, "pattern", json_string(episode->pattern->name));
		rna_json_append(writer, list, object);
	}
	return list;
}

/* One of a pattern that is not known is passed over. */
static int read_episode(struct rna_episodes *episodes, const json_t *object)
{
	const char *name = rna_kept_text(object, "pattern");
	const struct rna_log_pattern *pattern = name ? rna_log_pattern_find(name) : NULL;
	struct rna_episode *episode;

	if (!pattern || episodes->count == RNA_EPISODES_KEPT)
		return 0;
	episode = rna_episodes_get(episodes, pattern, rna_kept_text(object, "pci"),
				   rna_kept_text(object, "netdev"), rna_kept_text(object, "rdma"));
	if (!episode || rna_kept_read(object, keep_episode, episode, NULL) == -ENOMEM ||
	    (!episode->last.text && !rna_text_set(&episode->last.text, "")) ||
	    (!episode->first.text && !rna_text_set(&episode->first.text, "")))
		return -ENOMEM;
	if (episode->state > RNA_EPISODE_OVER)
		episode->state = RNA_EPISODE_HOLDS;
	episode->quiet = episode->state == RNA_EPISODE_DOUBTFUL;
	episode->recalled = true;
	return 0;
}

int rna_episodes_read(struct rna_episodes *episodes, const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (read_episode(episodes, json_array_get(list, i)) < 0)
			return -ENOMEM;
	return 0;
}

/* -- What the log says ------------------------------------------------------------------------- */

struct look {
	const struct rna_view *view;
	const struct rna_settings *settings;
	const struct rna_kernel_log *log; /* NULL: not known */
	bool catching_up;                 /* is it of old messages? */
	struct rna_time now;
	bool complete;
	bool clock; /* are times of the log those of this machine? */
};

static bool is_later(const struct rna_log_line *line, const struct rna_episode_line *known)
{
	if (line->time && known->time && line->time != known->time)
		return line->time > known->time;
	return line->sequence > known->sequence;
}

/*
 * The messages since the last look. An earlier process may have counted some that the log no longer
 * has: then there are at least so many.
 */
static uint64_t count_new(const struct rna_episode *episode, const struct rna_log_episode *said)
{
	if (!episode->recalled && said->count >= episode->read)
		return said->count - episode->read;
	if (!is_later(&said->last, &episode->last))
		return 0;
	return said->count > episode->read ? said->count - episode->read : 1;
}

/* By the agent's clock: the kernel's clock of messages drifts from it over months. */
static rna_usec time_of_hearing(const struct look *look, const struct rna_episode *episode,
				const struct rna_log_line *line)
{
	rna_usec taken = look->log->part.taken.monotonic;
	bool old = look->catching_up || episode->recalled || !episode->last.text;

	if (!look->clock)
		return line->time;
	return old && line->time && line->time < taken ? line->time : taken;
}

static bool take_line(const struct look *look, struct rna_episode_line *kept,
		      const struct rna_log_line *line)
{
	rna_usec ago = rna_usec_since(line->time, look->now.monotonic);

	if (!rna_text_set(&kept->text, line->text))
		return false;
	kept->sequence = line->sequence;
	kept->time = line->time;
	kept->realtime = look->clock ? look->now.realtime - (line->time ? ago : 0) : 0;
	return true;
}

static bool was_quiet(const struct look *look, const struct rna_episode *episode)
{
	return look->clock &&
	       rna_usec_since(episode->heard, look->now.monotonic) >= RNA_EPISODE_QUIET;
}

/* False: no memory; the next look tries again. */
static bool take_messages(const struct look *look, struct rna_episode *episode,
			  const struct rna_log_episode *said, uint64_t added)
{
	bool begins = episode->state == RNA_EPISODE_OVER;
	bool fresh = !episode->last.text;
	rna_usec heard = time_of_hearing(look, episode, &said->last);

	if (begins && !take_line(look, &episode->first, fresh ? &said->first : &said->last))
		return false;
	if (!take_line(look, &episode->last, &said->last))
		return false;
	episode->count = (begins ? 0 : episode->count) + added;
	episode->heard = heard;
	episode->quiet = was_quiet(look, episode) && (begins || episode->quiet);
	episode->registered = false;
	episode->accepted = false;
	episode->good = 0;
	episode->state = episode->quiet ? RNA_EPISODE_DOUBTFUL : RNA_EPISODE_HOLDS;
	return true;
}

static int take_episode(struct rna_episodes *episodes, const struct look *look,
			const struct rna_log_episode *said)
{
	struct rna_episode *episode =
		rna_episodes_get(episodes, said->pattern, said->pci, said->netdev, said->rdma);
	bool was_over = !episode || episode->state == RNA_EPISODE_OVER;
	uint64_t added = episode ? count_new(episode, said) : 0;

	if (!episode)
		return episodes->count == RNA_EPISODES_KEPT ? 0 : -ENOMEM;
	if (added > 0 && !take_messages(look, episode, said, added))
		return -ENOMEM;
	episode->read = said->count;
	episode->recalled = false;
	episode->recovered = said->recovered > 0 && said->recovered >= said->last.time;
	episodes->changed |= added > 0 && was_over;
	episodes->grew |= added > 0;
	return 0;
}

/* Where messages are lost, one of an episode may be among them. */
static void take_losses(struct rna_episodes *episodes, const struct rna_kernel_log *log)
{
	if (episodes->taken && log->lost > episodes->lost)
		episodes->lossless = log->part.taken.monotonic;
	episodes->lost = log->lost;
	episodes->behind = log->behind;
}

static void take_rate(struct rna_episodes *episodes, const struct look *look)
{
	if (!look->clock || look->log->rate * 2 < RNA_EPISODES_FLOOD)
		episodes->flood = false;
	else if (look->log->rate >= RNA_EPISODES_FLOOD)
		episodes->flood = true;
}

static int take_log(struct rna_episodes *episodes, const struct look *look)
{
	const struct rna_kernel_log *log = look->log;
	int ret = 0;

	if (log->part.taken.monotonic == episodes->taken && episodes->taken)
		return 0;
	for (size_t i = 0; i < log->episode_count; i++)
		if (take_episode(episodes, look, &log->episodes[i]) < 0)
			ret = -ENOMEM;
	take_losses(episodes, log);
	take_rate(episodes, look);
	if (ret == 0)
		episodes->taken = log->part.taken.monotonic;
	return ret;
}

/* -- What holds -------------------------------------------------------------------------------- */

/* Was its device registered after the message? What was wrong with the one before is gone. */
static bool is_registered_anew(struct rna_episode *episode, const struct look *look)
{
	const struct rna_snapshot_device *witness = episode->object.witness;
	uint64_t generation = witness ? witness->device->generation : 0;

	if (!rna_snapshot_presence(look->view->snapshot))
		return false;
	if (!episode->registered) {
		episode->registered = true;
		episode->generation = generation;
	}
	return generation && generation != episode->generation;
}

static bool is_silent(const struct rna_episodes *episodes, const struct rna_episode *episode,
		      const struct look *look)
{
	rna_usec since = episode->heard > episodes->lossless ? episode->heard : episodes->lossless;

	return rna_usec_since(since, look->now.monotonic) >= RNA_EPISODE_QUIET;
}

static bool is_over(const struct rna_episodes *episodes, struct rna_episode *episode,
		    const struct look *look)
{
	bool anew = is_registered_anew(episode, look);

	if (!look->clock)
		return episode->recovered;
	episode->accepted = rna_episode_is_accepted(episode, look->view);
	if (anew || episode->accepted)
		return true;
	if (episode->recovered && episode->pattern->end == RNA_LOG_ENDS_RECOVERED)
		return true;
	if (!is_silent(episodes, episode, look))
		return false;
	return episode->recovered ||
	       (episode->good &&
		rna_usec_since(episode->good, look->now.monotonic) >= RNA_EPISODE_QUIET);
}

static void see(struct rna_episode *episode, const struct look *look)
{
	episode->evidence = rna_episode_look(episode, look->view);
	if (episode->evidence != RNA_EPISODE_GOOD)
		episode->good = 0;
	else if (!episode->good)
		episode->good = look->now.monotonic;
}

/* An episode that was quiet from the start waits for what speaks for it. */
static bool is_doubtful(const struct rna_episode *episode, const struct look *look)
{
	return episode->quiet && (episode->evidence == RNA_EPISODE_GOOD ||
				  (episode->evidence == RNA_EPISODE_UNSEEN && !look->complete));
}

/* False: no memory. */
static bool judge(struct rna_episodes *episodes, struct rna_episode *episode,
		  const struct look *look)
{
	const struct rna_snapshot_device *device;
	enum rna_episode_state before = episode->state;

	episode->object = rna_episode_find_object(episode, look->view, look->settings);
	device = episode->object.relation == RNA_EPISODE_ITSELF ? episode->object.device : NULL;
	if (device && !rna_text_set(&episode->name, device->device->name))
		return false;
	see(episode, look);
	if (is_over(episodes, episode, look))
		episode->state = RNA_EPISODE_OVER;
	else if (is_doubtful(episode, look))
		episode->state = RNA_EPISODE_DOUBTFUL;
	else
		episode->state = RNA_EPISODE_HOLDS;
	episode->quiet &= episode->state == RNA_EPISODE_DOUBTFUL;
	episodes->changed |= episode->state != before;
	return true;
}

int rna_episodes_update(struct rna_episodes *episodes, const struct rna_view *view,
			const struct rna_settings *settings, bool complete)
{
	const struct rna_kernel_log *log = rna_snapshot_kernel_log(view->snapshot);
	struct look look = {
		.view = view,
		.settings = settings,
		.log = log && log->source != RNA_KERNEL_LOG_NONE ? log : NULL,
		.now = view->snapshot->time,
		.complete = complete,
		.clock = view->agent.live,
	};
	int ret = 0;

	look.catching_up = episodes->behind || (look.log && look.log->behind);
	look.complete &= !look.catching_up;
	if (look.log)
		ret = take_log(episodes, &look);
	else
		episodes->lossless = look.now.monotonic; /* what was said is not known */
	for (size_t i = 0; i < episodes->count; i++)
		if (episodes->items[i]->state != RNA_EPISODE_OVER &&
		    !judge(episodes, episodes->items[i], &look))
			ret = -ENOMEM;
	return ret;
}
