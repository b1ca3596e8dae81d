// SPDX-License-Identifier: Apache-2.0
#include "file_worker.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "rna/base/thread.h"

enum { STACK = 512 * 1024 }; /* for a file, and the C library */

struct rna_file_worker {
	void (*work)(void *job);
	void (*back)(void *job);
	int done; /* eventfd */
	sd_event_source *returns;
	bool busy;
	void *job;
	pthread_t thread;
};

static void *run(void *argument)
{
	struct rna_file_worker *worker = argument;

	worker->work(worker->job);
	(void)eventfd_write(worker->done, 1); /* the counter is nowhere near its end */
	return NULL;
}

static void finish_job(struct rna_file_worker *worker)
{
	eventfd_t count;

	(void)eventfd_read(worker->done, &count); /* there is one job at a time */
	worker->busy = false;
	worker->back(worker->job);
}

static int on_done(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct rna_file_worker *worker = userdata;

	(void)source, (void)fd, (void)events;
	(void)pthread_join(worker->thread, NULL);
	finish_job(worker);
	return 0;
}

int rna_file_worker_new(sd_event *event, void (*work)(void *job), void (*back)(void *job),
			struct rna_file_worker **ret)
{
	RNA_CLEANUP(rna_file_worker_free_p)
	struct rna_file_worker *worker = calloc(1, sizeof(*worker));
	int status;

	if (!worker)
		return -ENOMEM;
	worker->work = work;
	worker->back = back;
	worker->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (worker->done < 0)
		return -errno;
	status = sd_event_add_io(event, &worker->returns, worker->done, EPOLLIN, on_done, worker);
	if (status < 0)
		return status;
	*ret = RNA_TAKE(worker);
	return 0;
}

bool rna_file_worker_busy(const struct rna_file_worker *worker)
{
	return worker->busy;
}

int rna_file_worker_start(struct rna_file_worker *worker, void *job)
{
	int status;

	worker->job = job;
	status = rna_thread_start(&worker->thread, STACK, "rna-file-worker", run, worker);
	worker->busy = status == 0;
	return status;
}

/* Has the work been done by then? */
static bool wait_until(const struct rna_file_worker *worker, rna_usec end)
{
	struct pollfd done = {.fd = worker->done, .events = POLLIN};
	int ready;

	do {
		rna_usec left = rna_usec_since(rna_clock_monotonic(), end);

		ready = poll(&done, 1, (int)(left / RNA_USEC_PER_MSEC));
	} while (ready < 0 && errno == EINTR);
	return ready > 0;
}

bool rna_file_worker_wait(struct rna_file_worker *worker, rna_usec patience)
{
	rna_usec end = rna_clock_monotonic() + patience;

	while (worker->busy) { /* back may have started another one */
		if (!wait_until(worker, end))
			return false;
		(void)pthread_join(worker->thread, NULL); /* it has nothing left to do */
		finish_job(worker);
	}
	return true;
}

struct rna_file_worker *rna_file_worker_free(struct rna_file_worker *worker)
{
	if (!worker)
		return NULL;
	(void)sd_event_source_disable_unref(worker->returns);
	rna_close_p(&worker->done);
	free(worker);
	return NULL;
}
