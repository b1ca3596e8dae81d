// SPDX-License-Identifier: Apache-2.0
/*
 * Recording a machine: one run of all collectors through a tee.
 *
 * They run in a child process, because a device may keep its reader waiting for ever. A child that
 * is silent for too long is left behind, and a new one starts. That one has all answers so far. It
 * does not repeat the question that stayed open, nor those that would stay open as well: about the
 * rest of that directory, or to that library about that device.
 */
#include "rna/record.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors.h"
#include "recording.h"
#include "tee.h"

/* Silence that is worth a word. */
#define SHORT_WAIT RNA_USEC_PER_SEC
/* For one that was killed and is not stuck. */
#define LAST_PATIENCE (200 * RNA_USEC_PER_MSEC)

struct recording {
	const struct rna_root *root;
	const struct rna_backends *backends;
	const struct rna_record_options *options;
	struct rna_notes notes;
};

static void deinit(struct recording *recording)
{
	rna_notes_deinit(&recording->notes);
}

/* -- The child: one round of all collectors ---------------------------------------------------- */

/* The parts that others need, by what they list. */
enum { LISTINGS = RNA_LISTS_LINK_LAYERS + 1 };

struct round {
	struct rna_collect_input input;
	struct rna_part *parts[LISTINGS];
	struct rna_error *error;
};

static void end_round(struct round *round)
{
	for (unsigned i = 0; i < LISTINGS; i++)
		(void)rna_part_unref(round->parts[i]);
}

/*
 * A failure that ends the recording: no list of devices, no memory, no descriptors. Otherwise 0:
 * the notes say what a collector could not read.
 */
static int run(struct round *round, const struct rna_collector *collector)
{
	RNA_CLEANUP(rna_reader_free_p)
	struct rna_reader *reader = rna_reader_new(round->input.root, 0);
	struct rna_part *part = NULL;
	int status;

	if (!reader)
		return rna_error_set(round->error, -ENOMEM, "cannot read");
	round->input.reader = collector->per_device || collector->descriptors > 0 ? reader : NULL;
	status = collector->collect(&round->input, &part, round->error);
	(void)rna_part_unref(round->parts[collector->lists]);
	round->parts[collector->lists] = part;
	return collector->lists == RNA_LISTS_DEVICES || rna_error_is_lack(status) ? status : 0;
}

/* Link layers come before the collectors that they decide about. */
static int run_device(struct round *round, const struct rna_device *device)
{
	int status = 0;

	round->input.device = device;
	round->parts[RNA_LISTS_LINK_LAYERS] = rna_part_unref(round->parts[RNA_LISTS_LINK_LAYERS]);
	for (unsigned id = 0; status == 0 && id < RNA_COLLECTOR_COUNT; id++)
		if (rna_collector_suits(&rna_collectors[id], round->input.presence, device,
					(const void *)round->parts[RNA_LISTS_LINK_LAYERS]))
			status = run(round, &rna_collectors[id]);
	return status;
}

/* Node-wide collectors first: they list devices and interfaces. Number of devices, or errno. */
static int run_all(struct round *round)
{
	int status = 0;

	for (unsigned id = 0; status == 0 && id < RNA_COLLECTOR_COUNT; id++) {
		if (rna_collectors[id].per_device)
			continue;
		status = run(round, &rna_collectors[id]);
		round->input.presence = (const void *)round->parts[RNA_LISTS_DEVICES];
		round->input.netdevs = (const void *)round->parts[RNA_LISTS_INTERFACES];
	}
	for (size_t i = 0; status == 0 && i < round->input.presence->device_count; i++)
		status = run_device(round, &round->input.presence->devices[i]);
	return status < 0 ? status : (int)round->input.presence->device_count;
}

static void read_machine(const struct recording *recording)
{
	struct rna_notes notes = recording->notes;
	struct rna_error error = {0};
	struct rna_tee tee;
	int status;

	notes.writes = true;
	status = rna_tee_init(&tee, recording->root, recording->backends, &notes, &error);
	if (status == 0) {
		RNA_CLEANUP(end_round)
		struct round round = {
			.input.root = tee.root,
			.input.backends = &tee.backends,
			.input.options.counters_source = RNA_COUNTERS_AUTO,
			.input.options.optional_counters = true,
			.input.period = RNA_USEC_PER_SEC,
			.error = &error,
		};

		status = run_all(&round);
	}
	if (notes.no_memory)
		status = rna_error_set(&error, -ENOMEM, "cannot note what was read");
	rna_notes_add(&notes,
		      &(struct rna_note){RNA_NOTE_END, status, "", error.text, strlen(error.text)});
	rna_tee_deinit(&tee);
}

/* -- The parent -------------------------------------------------------------------------------- */

struct child {
	pid_t pid; /* 0: none */
	int fd;    /* its end is open as long as the child lives */
};

/* A child that stays behind must not keep a pipe open that another program reads to its end. */
static void leave_standard_streams(void)
{
	RNA_CLOSE int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		(void)dup2(nothing, fd); /* without /dev/null they stay, which only delays */
}

static int start(struct child *child, const struct recording *recording)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	child->fd = ends[0];
	child->pid = fork();
	if (child->pid == 0) {
		leave_standard_streams();
		read_machine(recording);
		_exit(EXIT_SUCCESS);
	}
	(void)close(ends[1]); /* the child's */
	return child->pid < 0 ? -errno : 0;
}

/* Has it ended by then? */
static bool ends_within(const struct child *child, rna_usec patience)
{
	struct pollfd end = {.fd = child->fd};

	return poll(&end, 1, (int)(patience / RNA_USEC_PER_MSEC)) > 0;
}

/* Idempotent. A child that is stuck in the kernel does not end when killed: it is left behind. */
static void stop(struct child *child)
{
	if (child->pid > 0) {
		(void)kill(child->pid, SIGKILL);
		(void)waitpid(child->pid, NULL, ends_within(child, LAST_PATIENCE) ? 0 : WNOHANG);
	}
	rna_close_p(&child->fd);
	*child = (struct child){.fd = -1};
}

static void report_progress(const struct recording *recording, const char *text)
{
	const struct rna_note *question = recording->notes.question;
	char line[RNA_ERROR_MAX];

	(void)snprintf(line, sizeof(line), "%s: %s", question ? question->path : "recording", text);
	if (recording->options->tell)
		recording->options->tell(line);
}

/* Takes the child's notes until it ends, or is silent for too long. */
static void follow(struct recording *recording, const struct child *child)
{
	bool told = false;

	while (!ends_within(child, told ? recording->options->deadline : SHORT_WAIT)) {
		off_t taken = recording->notes.taken;

		rna_notes_take(&recording->notes);
		if (recording->notes.taken > taken) {
			told = false;
		} else if (!told) {
			report_progress(recording, "waiting for an answer");
			told = true;
		} else {
			report_progress(recording, "no answer, going on without it");
			return;
		}
	}
}

/* One child. 0: the notes have an end, or the next child goes on without what was not answered. */
static int read_on(struct recording *recording)
{
	RNA_CLEANUP(stop) struct child child = {.fd = -1};
	struct rna_notes *notes = &recording->notes;
	int status = start(&child, recording);
	bool silent;

	if (status < 0)
		return status;
	follow(recording, &child);
	silent = !ends_within(&child, 0);
	stop(&child);
	rna_notes_take(notes);
	if (notes->no_memory)
		return -ENOMEM;
	if (notes->error < 0)
		return notes->error;
	status = silent ? -ETIMEDOUT : -EPIPE;
	if (!notes->end && !notes->question)
		return status;
	if (!notes->end)
		rna_notes_give_up(notes, status);
	return 0;
}

static int read_notes(struct recording *recording, struct rna_error *error)
{
	const struct rna_note *end;
	int status = rna_notes_init(&recording->notes);

	while (status == 0 && !recording->notes.end)
		status = read_on(recording);
	if (status < 0)
		return rna_error_set(error, status, "%s: cannot be recorded",
				     rna_root_path(recording->root));
	end = recording->notes.end;
	return end->value < 0 ? rna_error_say(error, end->value, "%s", end->data) : end->value;
}

int rna_record(const struct rna_root *root, const struct rna_record_options *options,
	       struct rna_record_result *ret, struct rna_error *error)
{
	RNA_CLEANUP(rna_backends_free_p) struct rna_backends *backends = rna_backends_new(root);
	RNA_CLEANUP(deinit)
	struct recording recording = {.root = root,
				      .backends = backends,
				      .options = options,
				      .notes.log = -1};
	RNA_CLOSE int fd = -1;
	int status;

	if (!backends)
		return rna_error_set(error, -ENOMEM, "%s: cannot write", options->directory);
	fd = rna_recording_open(options->directory, error);
	if (fd < 0)
		return fd;
	status = read_notes(&recording, error);
	if (status < 0)
		return status;
	*ret = (struct rna_record_result){.devices = (size_t)status};
	return rna_recording_write(&recording.notes, options, fd, ret, error);
}
