// SPDX-License-Identifier: Apache-2.0
/* Metrics of the kernel's log: how it is read, and messages of known patterns. */
#include "rna/model/kernel_log.h"

#include "family_rows.h"

/* NULL where nothing is wanted of it. */
static const struct rna_kernel_log *log_of(const struct rna_subject *node)
{
	const struct rna_kernel_log *log = rna_snapshot_kernel_log(node->view->snapshot);

	return log && (log->source != RNA_KERNEL_LOG_NONE || log->error < 0) ? log : NULL;
}

static struct rna_value readable(const struct rna_subject *node)
{
	const struct rna_kernel_log *log = log_of(node);

	return log ? rna_family_yes_or_no(log->source != RNA_KERNEL_LOG_NONE) : rna_no_value;
}

static void log_info(const struct rna_subject *node, struct rna_writer *writer)
{
	const struct rna_kernel_log *log = log_of(node);

	if (log)
		rna_writer_sample_with(writer, node->labels, "source",
				       rna_kernel_log_source_name(log->source), 1);
}

/* A number of the log, once something of it was read. */
#define LOG_NUMBER(member)                                                                         \
	static struct rna_value log_##member(const struct rna_subject *node)                       \
	{                                                                                          \
		const struct rna_kernel_log *log = log_of(node);                                   \
                                                                                                   \
		return log && (log->source != RNA_KERNEL_LOG_NONE || log->lines > 0)               \
			       ? rna_value_ok(log->member)                                         \
			       : rna_no_value;                                                     \
	}

LOG_NUMBER(lines)
LOG_NUMBER(lost)
LOG_NUMBER(matched)
LOG_NUMBER(dropped)

/* -- Episodes ---------------------------------------------------------------------------------- */

static const void *next_episode(const struct rna_subject *node, size_t *from)
{
	const struct rna_kernel_log *log = log_of(node);

	return log && *from < log->episode_count ? &log->episodes[(*from)++] : NULL;
}

static const char *pattern(const void *episode)
{
	return ((const struct rna_log_episode *)episode)->pattern->name;
}

static const char *driver(const void *episode)
{
	return ((const struct rna_log_episode *)episode)->pattern->driver;
}

static const char *meaning(const void *episode)
{
	return ((const struct rna_log_episode *)episode)->pattern->meaning;
}

static void add_device(const struct rna_subject *node, const void *episode,
		       struct rna_strbuf *labels)
{
	rna_label_add(labels, "device", rna_log_episode_device(node->view->snapshot, episode));
}

/* -- The tables -------------------------------------------------------------------------------- */

#define EPISODE(member) ABOUT(struct rna_log_episode, member)

/* clang-format off */
static const struct rna_family log_rows[] = {
	METRIC(NODE, "rdma_kernel_log_readable", GAUGE, YES_NO, GET(readable),
	       "1 if the agent reads the messages of the kernel, 0 if it has no right to. Absent "
	       "with kernel_log.source: off."),
	METRIC(NODE, "rdma_kernel_log_info", INFO, PLAIN, EACH(log_info, "source"),
	       "Source of the kernel's messages: kmsg (/dev/kmsg), journal, recorded, or none."),
	METRIC(NODE, "rdma_kernel_log_messages_total", COUNTER, PLAIN, GET(log_lines),
	       "Messages in the log of the kernel since boot, as far back as the source has them, "
	       "also those that were not read."),
	METRIC(NODE, "rdma_kernel_log_messages_lost_total", COUNTER, PLAIN, GET(log_lost),
	       "Messages of the kernel that were overwritten before the agent read them, or "
	       "skipped because there were too many."),
	METRIC(NODE, "rdma_kernel_log_messages_matched_total", COUNTER, PLAIN, GET(log_matched),
	       "Messages of the kernel that have a known pattern."),
	METRIC(NODE, "rdma_kernel_log_messages_dropped_total", COUNTER, PLAIN, GET(log_dropped),
	       "Messages of a known pattern that are not counted by pattern, because there are too "
	       "many pairs of pattern and object."),
};

/* Patterns that occurred, by the object of their messages. */
static const struct rna_family episode_rows[] = {
	{BOTH("pattern", .text = pattern, .tells = true)},
	{BOTH("object", EPISODE(object), .tells = true)},
	{JSON("driver", .text = driver)},
	{JSON("meaning", .text = meaning)},
	{JSON("pci_address", EPISODE(pci))},
	{JSON("netdev", EPISODE(netdev))},
	{JSON("rdma_device", EPISODE(rdma))},
	{JSON("messages", EPISODE(count))},
	METRIC(NODE, "rdma_kernel_log_pattern_messages_total", COUNTER, PLAIN,
	       IN(struct rna_log_episode, count),
	       "Messages of the kernel by pattern and by the object that they name. The label "
	       "device is the RDMA device of the object, while there is one."),
};
/* clang-format on */

const struct rna_family_table rna_kernel_log_table = {ROWS(log_rows)};
const struct rna_family_table rna_log_episode_table = {ROWS(episode_rows), .next = next_episode,
						       .add_label = add_device, .label = "device"};
