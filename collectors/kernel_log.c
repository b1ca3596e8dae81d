// SPDX-License-Identifier: Apache-2.0
/*
 * kernel_log: what drivers say of themselves in the log of the kernel.
 *
 * The source is /dev/kmsg, whose descriptor stays open and keeps the position, so that a run costs
 * one system call for each new message and one that finds no more. Where the agent may not open
 * it, it reads systemd's journal, from the position that the part before has. The first run reads
 * what was said since boot, as far as the source has it.
 *
 * A run reads a limited number of messages. If more are written all the time, it skips to the
 * newest one and counts the others as lost: a flood must not cost more than that.
 */
#include <errno.h>
#include <string.h>

#include "backend/backends.h"
#include "parse/reader.h"

#include "collectors.h"
#include "log_tally.h"

enum {
	MESSAGES_MAX = 20000, /* in a run */
	SOURCES_MAX = 2,
	PROBLEM_MAX = 256,
};

struct run {
	const struct rna_collect_input *in;
	const struct rna_kernel_log *previous; /* NULL: none */
	struct rna_kernel_log *log;
	struct rna_log_tally *tally;
	char problem[PROBLEM_MAX];
};

static void deinit(struct run *run)
{
	(void)rna_part_unref(run->log ? &run->log->part : NULL);
	(void)rna_log_tally_free(run->tally);
}

static bool is_first(const struct run *run)
{
	return !run->previous || run->previous->lines == 0;
}

static bool used_journal(const struct run *run)
{
	return run->previous && run->previous->cursor;
}

static void count_malformed(struct rna_part *part, uint64_t count)
{
	part->errors[RNA_REASON_FORMAT] += count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

/* -- Sources: 0, or negative errno if it cannot be opened -------------------------------------- */

/*
 * Is it still reading what was there at the start? Then it goes on in the next run: what the
 * kernel overwrites meanwhile limits it.
 */
static bool is_catching_up(const struct run *run)
{
	return is_first(run) || run->previous->behind ||
	       run->log->source == RNA_KERNEL_LOG_RECORDED;
}

static void drain(struct run *run, int fd)
{
	struct rna_part *part = &run->log->part;
	struct rna_kmsg_drained drained;
	int status = rna_kmsg_drain(fd, MESSAGES_MAX, rna_log_tally_take, run->tally, &drained);

	count_malformed(part, drained.malformed);
	run->log->behind = drained.limited;
	if (status == 0 && drained.limited && !is_catching_up(run)) {
		status = rna_kmsg_skip(fd);
		run->log->behind = false;
	}
	if (status < 0) {
		rna_part_count_error(part, status);
		rna_reader_close_stream(run->in->reader);
	}
}

static int read_kmsg(struct run *run, enum rna_kernel_log_source source)
{
	struct rna_reader *reader = run->in->reader;
	int fd = rna_reader_stream(reader);
	const struct rna_log_start start = {source, is_first(run), fd < 0};

	if (fd < 0)
		fd = rna_kmsg_open(run->in->root);
	if (fd < 0)
		return fd;
	rna_reader_keep_stream(reader, fd);
	rna_log_tally_start(run->tally, &start);
	drain(run, fd);
	return 0;
}

/* The journal has no numbers of the kernel's messages. */
static bool take_of_journal(void *userdata, struct rna_kmsg_record *record)
{
	struct run *run = userdata;

	record->sequence = run->log->sequence + 1;
	return rna_log_tally_take(run->tally, record);
}

static int read_journal(struct run *run)
{
	bool live = rna_root_is_live(run->in->root), goes_on = used_journal(run);
	const struct rna_log_start start = {live ? RNA_KERNEL_LOG_JOURNAL : RNA_KERNEL_LOG_RECORDED,
					    is_first(run), !goes_on};
	const struct rna_journal_request request = {
		.root = run->in->root,
		.arena = run->log->part.arena,
		.cursor = goes_on ? run->previous->cursor : NULL,
		.most = MESSAGES_MAX,
		.take = take_of_journal,
		.userdata = run,
	};
	struct rna_journal_answer answer = {0};
	int status;

	rna_log_tally_start(run->tally, &start);
	status = run->in->backends->journal->read(&request, &answer);
	if (status < 0)
		return status;
	run->log->cursor = answer.cursor;
	run->log->behind = answer.limited;
	if (answer.error < 0)
		rna_part_count_error(&run->log->part, answer.error);
	return 0;
}

static int read_source(struct run *run, enum rna_kernel_log_source source)
{
	return source == RNA_KERNEL_LOG_JOURNAL ? read_journal(run) : read_kmsg(run, source);
}

/* -- The choice -------------------------------------------------------------------------------- */

/*
 * The sources to try, in this order; NONE ends them. Where the journal was the one that could be
 * read, it comes first: /dev/kmsg was refused, and each refusal may be noted by an audit.
 */
static void choose(const struct run *run, enum rna_kernel_log_source ret[SOURCES_MAX + 1])
{
	bool live = rna_root_is_live(run->in->root), first = used_journal(run) ? 1 : 0;
	enum rna_kernel_log_setting setting = run->in->options.kernel_log;

	memset(ret, 0, sizeof(*ret) * (SOURCES_MAX + 1));
	if (setting == RNA_KERNEL_LOG_SETTING_OFF)
		return;
	if (live && setting == RNA_KERNEL_LOG_SETTING_JOURNAL) {
		ret[0] = RNA_KERNEL_LOG_JOURNAL;
	} else if (live && setting == RNA_KERNEL_LOG_SETTING_KMSG) {
		ret[0] = RNA_KERNEL_LOG_KMSG;
	} else {
		ret[first] = live ? RNA_KERNEL_LOG_KMSG : RNA_KERNEL_LOG_RECORDED;
		ret[!first] = RNA_KERNEL_LOG_JOURNAL;
	}
}

static void note_problem(struct run *run, enum rna_kernel_log_source source, int status)
{
	size_t len = strlen(run->problem);

	run->log->source = RNA_KERNEL_LOG_NONE;
	(void)snprintf(run->problem + len, sizeof(run->problem) - len, "%s%s: %s",
		       len > 0 ? ", " : "",
		       source == RNA_KERNEL_LOG_JOURNAL ? "journal" : "/" RNA_KMSG_PATH,
		       strerror(-status));
	/* What is refused says more than what is not there. */
	if (run->log->error == 0 || rna_error_is_absence(run->log->error))
		run->log->error = status;
}

/* 0, or negative errno: none can be read. */
static int read_first(struct run *run)
{
	enum rna_kernel_log_source sources[SOURCES_MAX + 1];
	int status = 0;

	choose(run, sources);
	if (sources[0] == RNA_KERNEL_LOG_NONE || sources[0] == RNA_KERNEL_LOG_JOURNAL)
		rna_reader_close_stream(run->in->reader);
	for (size_t i = 0; sources[i] != RNA_KERNEL_LOG_NONE; i++) {
		status = read_source(run, sources[i]);
		if (status >= 0)
			break;
		note_problem(run, sources[i], status);
	}
	if (status < 0 && !rna_root_is_live(run->in->root) && run->log->error == -ENOENT)
		run->log->error = status = 0; /* a recording without a log */
	if (status >= 0)
		run->log->error = 0;
	return status;
}

/* After a refusal it waits longer and longer: each try may be a line in the log of an audit. */
static int read_log(struct run *run)
{
	struct rna_kernel_log *log = run->log;
	int paused = rna_reader_may_ask(run->in->reader), status = paused;

	if (paused == 0) {
		status = read_first(run);
		rna_reader_was_asked(run->in->reader, status);
	} else {
		log->error = run->previous ? run->previous->error : paused;
	}
	if (status >= 0)
		return 0;
	if (paused && run->previous && run->previous->problem)
		log->problem = rna_arena_strdup(log->part.arena, run->previous->problem);
	else
		log->problem =
			rna_arena_printf(log->part.arena, "messages of the kernel are not read: %s",
					 paused ? strerror(-paused) : run->problem);
	return log->problem ? 0 : -ENOMEM;
}

int rna_collect_kernel_log(const struct rna_collect_input *in, struct rna_part **ret,
			   struct rna_error *error)
{
	RNA_CLEANUP(deinit)
	struct run run = {.in = in, .previous = (const void *)in->previous};
	int status = -ENOMEM;

	run.log = rna_part_new(RNA_COLLECTOR_KERNEL_LOG, sizeof(*run.log), 4096);
	if (run.log) {
		run.log->part.started = rna_clock_now();
		run.tally = rna_log_tally_new(run.log, run.previous);
	}
	if (run.tally) {
		rna_reader_start(in->reader, run.log->part.started.monotonic, in->period);
		status = read_log(&run);
	}
	if (status == 0)
		status = rna_log_tally_finish(run.tally);
	if (status < 0) {
		rna_reader_close_stream(in->reader); /* what was read is read again */
		return rna_error_set(error, status, "cannot read the log of the kernel");
	}
	run.log->part.taken = rna_clock_now();
	*ret = &RNA_TAKE(run.log)->part;
	return 0;
}
