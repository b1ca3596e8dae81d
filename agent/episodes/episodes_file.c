// SPDX-License-Identifier: Apache-2.0
#include "episodes_file.h"

#include <errno.h>
#include <string.h>

#include "rna/model/log_match.h"

static const char *const states[] = {
	[RNA_EPISODE_HOLDS] = "holds",
	[RNA_EPISODE_DOUBTFUL] = "doubtful",
	[RNA_EPISODE_OVER] = "over",
};

/* -- Writing ----------------------------------------------------------------------------------- */

/* The texts of an episode that is over are of no use. */
static json_t *line_object(struct rna_json_writer *writer, const struct rna_episode_line *line,
			   bool with_text)
{
	json_t *object = json_object();

	rna_json_keep_number(writer, object, "sequence", line->sequence);
	rna_json_keep_number(writer, object, "time", line->time);
	rna_json_keep_number(writer, object, "realtime", line->realtime);
	if (with_text)
		rna_json_keep_text(writer, object, "text", line->text);
	return object;
}

static json_t *episode_object(struct rna_json_writer *writer, const struct rna_episode *episode)
{
	bool holds = episode->state != RNA_EPISODE_OVER;
	json_t *object = json_object();

	rna_json_keep_text(writer, object, "pattern", episode->pattern->name);
	rna_json_keep_text(writer, object, "pci", episode->pci);
	rna_json_keep_text(writer, object, "netdev", episode->netdev);
	rna_json_keep_text(writer, object, "rdma", episode->rdma);
	rna_json_keep_text(writer, object, "state", states[episode->state]);
	rna_json_keep_number(writer, object, "read", episode->read);
	rna_json_keep_number(writer, object, "heard", episode->heard);
	rna_json_set(writer, object, "last", line_object(writer, &episode->last, holds));
	if (!holds)
		return object;
	rna_json_set(writer, object, "first", line_object(writer, &episode->first, true));
	rna_json_keep_text(writer, object, "name", episode->name);
	rna_json_keep_number(writer, object, "count", episode->count);
	if (episode->registered)
		rna_json_set(writer, object, "registered", json_true());
	rna_json_keep_number(writer, object, "generation", episode->generation);
	return object;
}

json_t *rna_episodes_write(struct rna_json_writer *writer, const struct rna_episodes *episodes)
{
	json_t *list = json_array();

	for (size_t i = 0; i < episodes->count; i++)
		if (episodes->items[i]->last.text)
			rna_json_append(writer, list, episode_object(writer, episodes->items[i]));
	return list;
}

/* -- Reading ----------------------------------------------------------------------------------- */

static enum rna_episode_state find_state(const char *name)
{
	for (size_t i = 0; name && i < RNA_ARRAY_SIZE(states); i++)
		if (strcmp(states[i], name) == 0)
			return (enum rna_episode_state)i;
	return RNA_EPISODE_HOLDS;
}

static int read_line(const json_t *object, struct rna_episode_line *ret)
{
	const char *text = rna_json_kept_text(object, "text");

	free(ret->text);
	*ret = (struct rna_episode_line){
		.sequence = rna_json_kept_number(object, "sequence"),
		.time = rna_json_kept_number(object, "time"),
		.realtime = rna_json_kept_number(object, "realtime"),
		.text = strdup(text ? text : ""),
	};
	return ret->text ? 0 : -ENOMEM;
}

static int read_name(const json_t *object, struct rna_episode *episode)
{
	const char *name = rna_json_kept_text(object, "name");

	free(episode->name);
	episode->name = name ? strdup(name) : NULL;
	return name && !episode->name ? -ENOMEM : 0;
}

static int read_episode(struct rna_episodes *episodes, const json_t *object)
{
	const char *name = rna_json_kept_text(object, "pattern");
	const struct rna_log_pattern *pattern = name ? rna_log_pattern_find(name) : NULL;
	struct rna_episode *episode;

	if (!pattern || episodes->count == RNA_EPISODES_KEPT)
		return 0;
	episode = rna_episodes_get(episodes, pattern, rna_json_kept_text(object, "pci"),
				   rna_json_kept_text(object, "netdev"),
				   rna_json_kept_text(object, "rdma"));
	if (!episode || read_line(json_object_get(object, "last"), &episode->last) < 0 ||
	    read_line(json_object_get(object, "first"), &episode->first) < 0 ||
	    read_name(object, episode) < 0)
		return -ENOMEM;
	episode->state = find_state(rna_json_kept_text(object, "state"));
	episode->quiet = episode->state == RNA_EPISODE_DOUBTFUL;
	episode->recalled = true;
	episode->read = rna_json_kept_number(object, "read");
	episode->heard = rna_json_kept_number(object, "heard");
	episode->count = rna_json_kept_number(object, "count");
	episode->registered = json_is_true(json_object_get(object, "registered"));
	episode->generation = rna_json_kept_number(object, "generation");
	return 0;
}

int rna_episodes_read(struct rna_episodes *episodes, const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (read_episode(episodes, json_array_get(list, i)) < 0)
			return -ENOMEM;
	return 0;
}
