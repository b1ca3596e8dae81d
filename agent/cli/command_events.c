// SPDX-License-Identifier: Apache-2.0
/*
 * The command events: what changed. The newest from the running agent; with --last or --since more,
 * from the files of its history.
 */
#include <errno.h>

#include "rna/base/duration.h"
#include "rna/base/parse.h"
#include "rna/exporter.h"

#include "memory/history.h"
#include "memory/state_directory.h"
#include "memory/state_file.h"

#include "client.h"
#include "commands.h"

enum { EVENTS_MAX = 100000 };

static int ask(const struct rna_call *call, struct rna_strbuf *text, struct rna_error *error)
{
	const char *path =
		call->arguments.options[RNA_OPTION_JSON] ? "/api/v1/events" : "/api/v1/events.txt";

	return rna_client_get(call, path, text, error);
}

/* -- Files ------------------------------------------------------------------------------------- */

static int read_file(int directory, const char *name, struct rna_history *history,
		     struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	int status = rna_state_file_read(directory, name, &text, error);

	if (status == -ENOENT)
		return 0;
	if (status < 0)
		return status;
	status = rna_history_read(history, text.data ? text.data : "", text.len, error);
	return status < 0 ? rna_error_prefix(error, "%s", name) : 0;
}

static int read_histories(const struct rna_call *call, struct rna_history *histories,
			  struct rna_error *error)
{
	RNA_CLOSE int directory = -1;
	const char *path;
	int status = rna_call_find_state(call, &path, error);

	if (status < 0)
		return status;
	directory = rna_state_directory_open(path, false, error);
	if (directory < 0)
		return directory;
	for (size_t i = 0; status == 0 && i < RNA_CHANGE_KIND_COUNT; i++) {
		status = read_file(directory, rna_history_places[i].old, &histories[i], error);
		if (status == 0)
			status = read_file(directory, rna_history_places[i].file, &histories[i],
					   error);
	}
	return status;
}

/* -- Selection --------------------------------------------------------------------------------- */

struct selection {
	uint64_t last;  /* at most so many */
	rna_usec since; /* realtime */
};

static struct selection read_selection(const struct rna_call *call, rna_usec now)
{
	struct selection ret = {.last = EVENTS_MAX};
	const char *last = call->arguments.options[RNA_OPTION_LAST];
	const char *since = call->arguments.options[RNA_OPTION_SINCE];
	rna_usec span = 0;

	if (last)
		(void)rna_parse_u64(last, &ret.last); /* the options have been checked */
	if (since && rna_duration_parse(since, &span) == 0)
		ret.since = rna_usec_since(span, now);
	return ret;
}

static size_t count_all(const struct rna_history *histories)
{
	size_t count = 0;

	for (size_t i = 0; i < RNA_CHANGE_KIND_COUNT; i++)
		count += histories[i].count;
	return count;
}

/* The clock may have been set back: the order is that of the events, and not of their times. */
static size_t select_events(const struct rna_history *histories, const struct selection *selection,
			    struct rna_change *ret)
{
	size_t next[RNA_CHANGE_KIND_COUNT] = {0}, count = 0, first;
	const struct rna_change *change;

	while ((change = rna_histories_next(histories, next)))
		if (change->time.realtime >= selection->since)
			ret[count++] = *change;
	first = count > selection->last ? count - (size_t)selection->last : 0;
	for (size_t i = first; i < count; i++)
		ret[i - first] = ret[i];
	return count - first;
}

static int write_selection(const struct rna_call *call, const struct rna_history *histories,
			   struct rna_strbuf *text, struct rna_error *error)
{
	RNA_FREE struct rna_change *events = calloc(count_all(histories) + 1, sizeof(*events));
	const struct rna_snapshot snapshot = {.time = rna_clock_now()};
	const struct selection selection = read_selection(call, snapshot.time.realtime);
	struct rna_view view = {.snapshot = &snapshot, .changes = events};

	if (!events)
		return rna_error_set(error, -ENOMEM, "cannot read the events");
	view.change_count = select_events(histories, &selection, events);
	if (call->arguments.options[RNA_OPTION_JSON])
		rna_write_events_json(&view, text);
	else
		rna_write_events_table(&view, text);
	return 0;
}

static int write_history(const struct rna_call *call, struct rna_strbuf *text,
			 struct rna_error *error)
{
	struct rna_history histories[RNA_CHANGE_KIND_COUNT];
	int status;

	for (size_t i = 0; i < RNA_CHANGE_KIND_COUNT; i++)
		histories[i] = (struct rna_history){.room = EVENTS_MAX, .all = true};
	status = read_histories(call, histories, error);
	if (status == 0)
		status = write_selection(call, histories, text, error);
	for (size_t i = 0; i < RNA_CHANGE_KIND_COUNT; i++)
		rna_history_deinit(&histories[i]);
	return status;
}

int rna_command_events(struct rna_call *call, struct rna_error *error)
{
	const char *const *options = call->arguments.options;
	bool files = options[RNA_OPTION_LAST] || options[RNA_OPTION_SINCE];
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	int ret;

	ret = files ? write_history(call, &text, error) : ask(call, &text, error);
	return ret < 0 ? ret : rna_output_strbuf(&text, error);
}
