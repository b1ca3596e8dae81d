// SPDX-License-Identifier: Apache-2.0
#include "feature_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rna/base/log.h"

#include "memory/file_worker.h"

/* Between attempts that fail: the first pause, doubled each time, and the longest one. */
#define RETRY_FIRST   RNA_USEC_PER_SEC
#define RETRY_LONGEST (60 * RNA_USEC_PER_SEC)

struct rna_feature_file {
	char *directory;
	rna_usec expiry;
	struct rna_desired_node *desired; /* newest */
	bool unwritten;                   /* is it another one than in the file? */
	rna_usec pause;
	sd_event_source *timer; /* tries again */
	/* Of the wall clock, which the file expires by: one that is set ahead makes it due. */
	sd_event_source *renewal;
	struct rna_file_worker *worker;
	struct rna_node_backend status;
	/* The job's, while it is under way: */
	struct rna_desired_node *job;
	struct rna_error error; /* of the last one */
	char *complaint;        /* that was logged, or NULL */
};

static void work(void *job)
{
	struct rna_feature_file *file = job;

	file->error = (struct rna_error){0};
	(void)rna_nfd_put_file(file->directory, file->job, rna_clock_now().realtime + file->expiry,
			       &file->error);
}

static void renew_at(struct rna_feature_file *file, rna_usec realtime)
{
	(void)sd_event_source_set_time(file->renewal, realtime);
	(void)sd_event_source_set_enabled(file->renewal, SD_EVENT_ONESHOT);
}

static void run_at(struct rna_feature_file *file, rna_usec delay)
{
	(void)sd_event_source_set_time_relative(file->timer, delay);
	(void)sd_event_source_set_enabled(file->timer, SD_EVENT_ONESHOT);
}

/* Once per change. */
static void log_failure(struct rna_feature_file *file)
{
	const char *problem = file->error.code < 0 ? file->error.text : NULL;

	if (problem && (!file->complaint || strcmp(file->complaint, problem) != 0))
		rna_log_warning("%s; node-feature-discovery gets no labels of this node until this "
				"is fixed",
				problem);
	else if (!problem && file->complaint)
		rna_log_notice(
			"%s: writing the feature file of node-feature-discovery has recovered",
			file->directory);
	free(file->complaint);
	file->complaint = problem ? strdup(problem) : NULL;
}

static void write_file(struct rna_feature_file *file)
{
	if (!file->desired || rna_file_worker_busy(file->worker))
		return;
	file->job = rna_desired_node_ref(file->desired);
	if (rna_file_worker_start(file->worker, file) < 0) {
		file->job = rna_desired_node_unref(file->job);
		run_at(file, file->pause);
		return;
	}
	file->unwritten = false;
}

static void on_written(void *job)
{
	struct rna_feature_file *file = job;

	file->job = rna_desired_node_unref(file->job);
	log_failure(file);
	file->status.problem = file->error.code < 0;
	if (file->error.code < 0) {
		file->status.requests[RNA_KUBERNETES_FAILED]++;
		run_at(file, file->pause);
		file->pause = file->pause < RETRY_LONGEST / 2 ? 2 * file->pause : RETRY_LONGEST;
		return;
	}
	file->status.requests[RNA_KUBERNETES_OK]++;
	file->status.written = rna_clock_now().realtime;
	file->pause = RETRY_FIRST;
	renew_at(file, file->status.written + file->expiry / 2);
	if (file->unwritten)
		write_file(file);
}

static int on_timer(sd_event_source *source, uint64_t at, void *userdata)
{
	(void)source, (void)at;
	write_file(userdata);
	return 0;
}

static int add_timer(sd_event *event, clockid_t clock, struct rna_feature_file *file,
		     sd_event_source **ret)
{
	int status = sd_event_add_time(event, ret, clock, 0, 0, on_timer, file);

	return status < 0 ? status : sd_event_source_set_enabled(*ret, SD_EVENT_OFF);
}

static struct rna_feature_file *free_file(struct rna_feature_file *file)
{
	if (!file)
		return NULL;
	(void)sd_event_source_disable_unref(file->timer);
	(void)sd_event_source_disable_unref(file->renewal);
	(void)rna_file_worker_free(file->worker);
	(void)rna_desired_node_unref(file->desired);
	free(file->complaint);
	free(file->directory);
	free(file);
	return NULL;
}
RNA_DEFINE_CLEANUP(struct rna_feature_file, free_file)

int rna_feature_file_new(sd_event *event, const char *directory, rna_usec expiry,
			 struct rna_feature_file **ret)
{
	RNA_CLEANUP(free_file_p) struct rna_feature_file *file = calloc(1, sizeof(*file));
	int status;

	if (!file)
		return -ENOMEM;
	file->expiry = expiry;
	file->pause = RETRY_FIRST;
	file->directory = strdup(directory);
	if (!file->directory)
		return -ENOMEM;
	status = rna_file_worker_new(event, work, on_written, &file->worker);
	if (status >= 0)
		status = add_timer(event, CLOCK_MONOTONIC, file, &file->timer);
	if (status >= 0)
		status = add_timer(event, CLOCK_REALTIME, file, &file->renewal);
	if (status < 0)
		return status;
	*ret = RNA_TAKE(file);
	return 0;
}

void rna_feature_file_want(struct rna_feature_file *file, struct rna_desired_node *desired)
{
	(void)rna_desired_node_unref(file->desired);
	file->desired = rna_desired_node_ref(desired);
	file->unwritten = true;
	if (file->complaint)
		return; /* the timer tries again, with what is newest then */
	write_file(file);
}

void rna_feature_file_status(const struct rna_feature_file *file, struct rna_node_backend *ret)
{
	*ret = file->status;
	ret->used = true;
	ret->in_step = file->status.written > 0 && !file->unwritten && !file->status.problem &&
		       !rna_file_worker_busy(file->worker);
}

bool rna_feature_file_stop(struct rna_feature_file *file, rna_usec patience)
{
	if (file && !rna_file_worker_wait(file->worker, patience))
		return false;
	(void)free_file(file);
	return true;
}
