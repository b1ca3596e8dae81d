// SPDX-License-Identifier: Apache-2.0
/*
 * The state directory.
 *
 * A file is read or written by a file worker (file_worker.h). That is rare: a port changed, an
 * administrator accepted.
 */
#include "state_directory.h"

#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include "rna/base/log.h"

#include "file_worker.h"
#include "state_file.h"

/* A port that flaps changes the memory again and again; the disk hears of it at this pace. */
#define PACE RNA_USEC_PER_SEC

/* How soon to write, and to try again after a failure; the pause doubles each time. */
#define LONGEST_PAUSE (300 * RNA_USEC_PER_SEC)

/* A file system that has not responded by then is reported, for example NFS without its server. */
#define HANGS_AFTER (10 * RNA_USEC_PER_SEC)

/* A file that the daemon keeps. */
struct kept {
	struct rna_state_document what;
	bool refused;  /* it must not be written */
	bool failed;   /* the last write did */
	bool had_turn; /* since the last pause */
};

/* The job that is under way, and what it works with. */
struct job {
	struct kept *file; /* that is written; NULL: accepted.json is read */
	int directory;
	struct rna_state_lines lines; /* of a file to which they are appended */
	struct rna_strbuf text;
	int status;
	struct rna_error error;
};

struct rna_state_directory {
	char *path;
	struct rna_memory *memory;
	int directory; /* -1: there is none */
	bool keeps;    /* a daemon's: damaged files are set aside */
	bool writes;   /* may files be written? */
	bool waits;    /* they may once no other agent has the directory locked */
	size_t count;  /* of files that are kept */
	struct kept files[RNA_STATE_DOCUMENTS_MAX];
	size_t next;                    /* where the search for one that changed begins */
	bool hangs;                     /* the job under way has been reported as hanging */
	rna_usec pause;                 /* before the next write */
	bool read_accepted;             /* it has changed */
	bool ending;                    /* changes are no longer reported */
	struct rna_file_worker *worker; /* NULL: before the loop runs */
	struct job job;
	sd_event_source *timer;
	sd_event_source *watch;
	void (*on_change)(void *userdata);
	void *userdata;
};

const char *rna_state_directory(const struct rna_settings *settings, bool live)
{
	const char *path = settings->state_directory, *given = getenv("STATE_DIRECTORY");

	if (*path == '\0')
		return NULL;
	if (!live)
		return strcmp(path, RNA_STATE_DIRECTORY_DEFAULT) == 0 ? NULL : path;
	return given && *given == '/' && !strchr(given, ':') ? given : path;
}

uid_t rna_state_owner(const struct rna_settings *settings)
{
	const char *path = rna_state_directory(settings, true);
	struct stat about;

	return path && stat(path, &about) == 0 ? about.st_uid : 0;
}

/* -- Before the loop runs ---------------------------------------------------------------------- */

/* Says what is wrong with a file that was read. False: it must not be written over. */
static bool report_unreadable_file(const struct rna_state_directory *state, const char *name,
				   bool keep, const struct rna_error *why)
{
	struct rna_error error;

	if (why->code == -EOPNOTSUPP) {
		rna_log_warning("%s/%s: %s; leaving it unchanged, its content is not persisted",
				state->path, name, why->text);
		return false;
	}
	if (why->code != -EBADMSG || !keep) {
		rna_log_warning("%s/%s: not used: %s", state->path, name, why->text);
		return why->code == -EBADMSG;
	}
	if (rna_state_file_set_aside(state->directory, name, rna_clock_now().realtime, &error) <
	    0) {
		rna_log_warning("%s/%s: damaged: %s; %s", state->path, name, why->text, error.text);
		return false;
	}
	rna_log_warning("%s/%s: damaged: %s; renamed to %s.corrupt-..., starting "
			"without it",
			state->path, name, why->text, name);
	return true;
}

static bool load(struct rna_state_directory *state, const char *name, bool keep, void *owner,
		 int (*read)(void *owner, const char *text, size_t len, struct rna_error *error))
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct rna_error error = {0};
	int ret;

	ret = rna_state_file_read(state->directory, name, &text, &error);
	if (ret == -ENOENT)
		return true;
	if (ret == 0)
		ret = read(owner, text.data ? text.data : "", text.len, &error);
	return ret < 0 ? report_unreadable_file(state, name, keep, &error) : true;
}

/* Two daemons with one directory would undo each other's work. */
static bool lock_directory(const struct rna_state_directory *state)
{
	return flock(state->directory, LOCK_EX | LOCK_NB) == 0;
}

/* The other may be an agent that has ended, but for a thread that hangs in a driver. */
static bool may_write(struct rna_state_directory *state)
{
	if (state->waits && lock_directory(state)) {
		rna_log_notice("%s: state directory lock acquired; persisting state again",
			       state->path);
		state->waits = false;
		state->writes = true;
	}
	return state->writes;
}

void rna_state_add(struct rna_state_directory *state, const struct rna_state_document *document)
{
	bool keep = state && state->keeps && state->writes;
	struct kept *file;

	if (!state || state->directory < 0 || state->count == RNA_STATE_DOCUMENTS_MAX)
		return;
	file = &state->files[state->count++];
	file->what = *document;
	if (document->old)
		file->refused = !load(state, document->old, keep, document->owner, document->read);
	file->refused |= !load(state, document->name, keep, document->owner, document->read);
}

static int read_memory(void *owner, const char *text, size_t len, struct rna_error *error)
{
	return rna_memory_read(owner, text, len, error);
}

static int read_accepted(void *owner, const char *text, size_t len, struct rna_error *error)
{
	return rna_accepted_read(owner, text, len, error);
}

static void write_memory(void *owner, struct rna_strbuf *out)
{
	rna_memory_write(owner, out);
}

struct rna_state_directory *rna_state_open(const char *directory, bool keep,
					   struct rna_memory *memory)
{
	const struct rna_state_document document = {
		.name = RNA_STATE_MEMORY,
		.owner = memory,
		.read = read_memory,
		.write = write_memory,
		.changed = &memory->changed,
	};

	RNA_CLEANUP(rna_state_free_p) struct rna_state_directory *state = calloc(1, sizeof(*state));
	struct rna_error error = {0};

	if (!state)
		return NULL;
	state->memory = memory;
	state->pause = PACE;
	state->directory = rna_state_directory_open(directory, keep, &error);
	state->path = strdup(directory);
	if (!state->path)
		return NULL;
	if (state->directory < 0 && (keep || error.code != -ENOENT))
		rna_log_warning("%s; no state is kept across restarts", error.text);
	if (state->directory < 0)
		return RNA_TAKE(state);
	state->keeps = keep;
	state->writes = keep && lock_directory(state);
	state->waits = keep && !state->writes;
	if (state->waits)
		rna_log_warning("%s: in use by another agent; state is read, but not "
				"persisted until that agent ends",
				state->path);
	rna_state_add(state, &document);
	(void)load(state, RNA_STATE_ACCEPTED, state->writes, memory, read_accepted); /* not ours */
	return RNA_TAKE(state);
}

/* -- Jobs -------------------------------------------------------------------------------------- */

static void work(void *userdata)
{
	struct job *job = &((struct rna_state_directory *)userdata)->job;

	job->error = (struct rna_error){0};
	if (job->file && job->file->what.header)
		job->status = rna_state_file_append(&job->lines, job->text.data, job->text.len,
						    &job->error);
	else if (job->file)
		job->status = rna_state_file_write(job->directory, job->file->what.name,
						   job->text.data, job->text.len, &job->error);
	else
		job->status = rna_state_file_read(job->directory, RNA_STATE_ACCEPTED, &job->text,
						  &job->error);
}

/* file: as in struct job. False: it could not be, and is to be tried again. */
static bool start_job(struct rna_state_directory *state, struct kept *file)
{
	state->job = (struct job){.file = file, .directory = state->directory};
	if (file)
		file->what.write(file->what.owner, &state->job.text);
	if (file && file->what.header)
		state->job.lines = (struct rna_state_lines){
			.directory = state->directory,
			.name = file->what.name,
			.old = file->what.old,
			.header = file->what.header,
			.turns = *file->what.turns,
		};
	if (rna_strbuf_ok(&state->job.text) && rna_file_worker_start(state->worker, state) == 0)
		return true;
	rna_strbuf_deinit(&state->job.text);
	return false;
}

static bool is_changed(const struct kept *file)
{
	return *file->what.changed && !file->refused;
}

static bool any_changed(const struct rna_state_directory *state)
{
	return RNA_ANY(i, state->count, is_changed(&state->files[i]));
}

/* The next file that has changed, each once between two pauses. NULL: none. */
static struct kept *find_changed(struct rna_state_directory *state)
{
	for (size_t i = 0; i < state->count; i++) {
		struct kept *file = &state->files[(state->next + i) % state->count];

		if (is_changed(file) && !file->had_turn)
			return file;
	}
	return NULL;
}

static bool any_failed(const struct rna_state_directory *state)
{
	return RNA_ANY(i, state->count, state->files[i].failed);
}

/* Once per change. The next write is of another file, so that one cannot hold up the others. */
static void account_write(struct rna_state_directory *state)
{
	struct kept *file = state->job.file;
	bool failed = state->job.status < 0, before = any_failed(state);

	if (state->hangs)
		rna_log_notice("%s: the file system responds again", state->path);
	state->hangs = false;
	state->next = (size_t)(file - state->files) + 1;
	file->failed = failed;
	if (file->what.written)
		file->what.written(file->what.owner, !failed);
	if (failed) {
		*file->what.changed = true; /* to be tried again */
		state->pause = state->pause * 2 < LONGEST_PAUSE ? state->pause * 2 : LONGEST_PAUSE;
		if (!before)
			rna_log_warning("%s: %s; state will be lost when the agent ends",
					state->path, state->job.error.text);
	} else if (!any_failed(state)) {
		state->pause = PACE;
		if (before)
			rna_log_notice("%s: persisting state again", state->path);
	}
}

static void take_accepted(struct rna_state_directory *state)
{
	const struct job *job = &state->job;
	static const char none[] = "{\"version\": 1, \"accepted\": []}"; /* the file was removed */
	struct rna_error error = job->error;
	const char *text = job->status < 0 ? none : job->text.data;
	int ret = job->status == -ENOENT ? 0 : job->status;

	if (ret == 0)
		ret = rna_accepted_read(state->memory, text ? text : "",
					job->status < 0 ? sizeof(none) - 1 : job->text.len, &error);
	if (ret < 0) {
		rna_log_warning("%s/" RNA_STATE_ACCEPTED ": not used: %s", state->path, error.text);
		return;
	}
	rna_log_notice("%s/" RNA_STATE_ACCEPTED " changed; accepted states read again",
		       state->path);
	state->on_change(state->userdata);
}

static void start_next(struct rna_state_directory *state)
{
	if (state->read_accepted && !rna_file_worker_busy(state->worker))
		state->read_accepted = !start_job(state, NULL);
}

static void set_timer(const struct rna_state_directory *state, rna_usec pause)
{
	(void)sd_event_source_set_time_relative(state->timer, pause);
	(void)sd_event_source_set_enabled(state->timer, SD_EVENT_ONESHOT);
}

/* The timer watches it from then on. False: nothing has changed, or it could not be begun. */
static bool write_changed(struct rna_state_directory *state)
{
	struct kept *file = find_changed(state);

	if (!file || !start_job(state, file))
		return false;
	*file->what.changed = false;
	file->had_turn = true;
	set_timer(state, HANGS_AFTER);
	return true;
}

static void back(void *userdata)
{
	struct rna_state_directory *state = userdata;
	bool wrote = state->job.file, succeeded = state->job.status == 0;

	if (wrote)
		account_write(state);
	else if (!state->ending)
		take_accepted(state);
	rna_strbuf_deinit(&state->job.text);
	if (state->ending)
		return;
	if (wrote)
		(void)sd_event_source_set_enabled(state->timer, SD_EVENT_OFF); /* it is back */
	start_next(state); /* from then on the job may be the thread's */
	if (wrote && succeeded && !rna_file_worker_busy(state->worker))
		(void)write_changed(state); /* what changed at the same time */
	rna_state_keep(state); /* what failed, or has changed meanwhile: however rare views are */
}

/* -- When -------------------------------------------------------------------------------------- */

static void log_hanging_disk(struct rna_state_directory *state)
{
	if (!state->job.file || state->hangs)
		return;
	state->hangs = true;
	rna_log_warning(
		"%s: the file system does not respond; nothing is persisted until it does, and "
		"state will be lost when the agent ends",
		state->path);
}

/* Something is to be written, or a job has been under way for long. */
static int on_timer(sd_event_source *source, uint64_t at, void *userdata)
{
	struct rna_state_directory *state = userdata;

	(void)source, (void)at;
	if (rna_file_worker_busy(state->worker)) {
		log_hanging_disk(state);
		set_timer(state, state->job.file ? HANGS_AFTER : PACE);
		return 0;
	}
	for (size_t i = 0; i < state->count; i++)
		state->files[i].had_turn = false;
	(void)write_changed(state);
	return 0;
}

void rna_state_keep(struct rna_state_directory *state)
{
	int enabled;

	if (!state || !state->timer || !may_write(state) || !any_changed(state) ||
	    sd_event_source_get_enabled(state->timer, &enabled) != 0)
		return; /* nothing to do, or it is about to be done */
	set_timer(state, state->pause);
}

static int on_file(sd_event_source *source, const struct inotify_event *event, void *userdata)
{
	struct rna_state_directory *state = userdata;

	(void)source;
	if (event->len == 0 || strcmp(event->name, RNA_STATE_ACCEPTED) != 0)
		return 0;
	state->read_accepted = true;
	start_next(state);
	return 0;
}

int rna_state_watch(struct rna_state_directory *state, sd_event *event,
		    void (*on_change)(void *userdata), void *userdata)
{
	int ret;

	if (!state || state->directory < 0)
		return 0;
	state->on_change = on_change;
	state->userdata = userdata;
	ret = rna_file_worker_new(event, work, back, &state->worker);
	if (ret < 0)
		return ret;
	ret = sd_event_add_time(event, &state->timer, CLOCK_MONOTONIC, 0, 0, on_timer, state);
	if (ret >= 0)
		ret = sd_event_source_set_enabled(state->timer, SD_EVENT_OFF);
	if (ret < 0)
		return ret;
	ret = sd_event_add_inotify(event, &state->watch, state->path, IN_MOVED_TO | IN_DELETE,
				   on_file, state);
	if (ret < 0) /* a user's inotify instances are few, and containers share them */
		rna_log_warning("%s: cannot be watched (%s); what \"expect accept\" writes takes "
				"effect after a restart",
				state->path, strerror(-ret));
	return 0;
}

static bool is_due_at_end(const struct kept *file)
{
	return is_changed(file) || (!file->refused && !file->what.on_change);
}

/* All of it: that a port is up still is written only now. */
void rna_state_flush(struct rna_state_directory *state, rna_usec patience)
{
	bool idle;

	if (!state || !state->writes || !state->worker)
		return;
	state->ending = true;
	idle = rna_file_worker_wait(state->worker, patience);
	for (size_t i = 0; idle && i < state->count; i++)
		if (is_due_at_end(&state->files[i]) && start_job(state, &state->files[i]))
			idle = rna_file_worker_wait(state->worker, patience);
	if (!rna_file_worker_busy(
		    state->worker)) /* else a thread that hangs would keep it locked */
		(void)flock(state->directory, LOCK_UN);
}

struct rna_state_directory *rna_state_free(struct rna_state_directory *state)
{
	if (!state)
		return NULL;
	state->timer = sd_event_source_disable_unref(state->timer);
	state->watch = sd_event_source_disable_unref(state->watch);
	state->ending = true;
	if (state->worker && !rna_file_worker_wait(state->worker, 0))
		return NULL; /* a thread still uses it; the process is about to end */
	(void)rna_file_worker_free(state->worker);
	rna_close_p(&state->directory);
	free(state->path);
	free(state);
	return NULL;
}
