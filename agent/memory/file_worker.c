// SPDX-License-Identifier: Apache-2.0
#include "file_worker.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "rna/base/worker.h"

enum { STACK = 512 * 1024 }; /* for a file, and the C library */

struct rna_file_worker {
	struct rna_work job; /* the one */
	struct rna_worker *worker;
	void (*work)(void *job);
	void (*back)(void *job);
	sd_event_source *returns;
	bool busy;
	void *userdata; /* of the job */
};

static void perform(struct rna_work *work, void *userdata)
{
	struct rna_file_worker *files = (struct rna_file_worker *)work;

	(void)userdata;
	files->work(files->userdata);
}

/* False: it is not done yet. */
static bool finish_job(struct rna_file_worker *files)
{
	if (!rna_worker_take(files->worker))
		return false;
	files->busy = false;
	files->back(files->userdata);
	return true;
}

static int on_done(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	(void)source, (void)fd, (void)events;
	(void)finish_job(userdata);
	return 0;
}

int rna_file_worker_new(sd_event *event, void (*work)(void *job), void (*back)(void *job),
			struct rna_file_worker **ret)
{
	const struct rna_worker_options options = {
		.name = "rna-file-worker",
		.stack = STACK,
		.perform = perform,
	};
	RNA_CLEANUP(rna_file_worker_free_p)
	struct rna_file_worker *files = calloc(1, sizeof(*files));
	int status;

	if (!files)
		return -ENOMEM;
	files->work = work;
	files->back = back;
	status = rna_worker_new(&options, &files->worker);
	if (status == 0)
		status = sd_event_add_io(event, &files->returns, rna_worker_fd(files->worker),
					 EPOLLIN, on_done, files);
	if (status < 0)
		return status;
	*ret = RNA_TAKE(files);
	return 0;
}

bool rna_file_worker_busy(const struct rna_file_worker *files)
{
	return files->busy;
}

int rna_file_worker_start(struct rna_file_worker *files, void *job)
{
	int status;

	files->userdata = job;
	status = rna_worker_give(files->worker, &files->job);
	files->busy = status == 0;
	return status;
}

bool rna_file_worker_wait(struct rna_file_worker *files, rna_usec patience)
{
	struct pollfd done = {.fd = rna_worker_fd(files->worker), .events = POLLIN};
	rna_usec end = rna_clock_monotonic() + patience;

	while (files->busy) { /* back may have started another one */
		rna_usec left = rna_usec_since(rna_clock_monotonic(), end);
		int ready = poll(&done, 1, (int)(left / RNA_USEC_PER_MSEC));

		if (ready == 0 || (ready < 0 && errno != EINTR))
			return false;
		(void)finish_job(files);
	}
	return true;
}

struct rna_file_worker *rna_file_worker_free(struct rna_file_worker *files)
{
	if (!files)
		return NULL;
	(void)sd_event_source_disable_unref(files->returns);
	(void)rna_worker_finish(files->worker);
	free(files);
	return NULL;
}
