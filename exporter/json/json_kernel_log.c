// SPDX-License-Identifier: Apache-2.0
/* The kernel's log as JSON: its source, and the messages that have a pattern. */
#include "rna/model/kernel_log.h"

#include "json_parts.h"

/*
 * By the clock of the node, where the log is that of this boot; seconds since boot as the kernel
 * has them.
 */
static json_t *line_object(struct rna_json_writer *writer, const struct rna_snapshot *snapshot,
			   const struct rna_log_line *line)
{
	const struct rna_kernel_log *log = rna_snapshot_kernel_log(snapshot);
	rna_usec age = rna_usec_since(line->time, snapshot->time.monotonic);
	json_t *object = json_object();

	if (line->time > 0 && log->source != RNA_KERNEL_LOG_RECORDED)
		rna_json_set_time(writer, object, "time",
				  rna_usec_since(age, snapshot->time.realtime));
	if (line->time > 0)
		rna_json_set(writer, object, "uptime_seconds", json_real(rna_seconds(line->time)));
	rna_json_set_text(writer, object, "text", line->text);
	return object;
}

static json_t *episode_object(struct rna_json_writer *writer, const struct rna_snapshot *snapshot,
			      const struct rna_log_episode *episode)
{
	json_t *object = rna_json_item(writer, &rna_log_episode_table, episode);

	rna_json_set_text(writer, object, "device", rna_log_episode_device(snapshot, episode));
	rna_json_set(writer, object, "first", line_object(writer, snapshot, &episode->first));
	rna_json_set(writer, object, "last", line_object(writer, snapshot, &episode->last));
	if (episode->recovered > 0)
		rna_json_set(writer, object, "recovered_uptime_seconds",
			     json_real(rna_seconds(episode->recovered)));
	return object;
}

void rna_json_set_kernel_log(struct rna_json_writer *writer, json_t *object,
			     const struct rna_snapshot *snapshot)
{
	const struct rna_kernel_log *log = rna_snapshot_kernel_log(snapshot);
	json_t *array;

	rna_json_set_text(writer, object, "source", rna_kernel_log_source_name(log->source));
	rna_json_set_text(writer, object, "problem", log->problem);
	if (log->source != RNA_KERNEL_LOG_NONE) {
		rna_json_set(writer, object, "messages_per_second", json_real(log->rate));
		rna_json_set_text(writer, object, "loudest", log->loudest);
	}
	array = json_array();
	for (size_t i = 0; i < log->episode_count; i++)
		rna_json_append(writer, array, episode_object(writer, snapshot, &log->episodes[i]));
	rna_json_set(writer, object, "episodes", array);
}
