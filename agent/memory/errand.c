// SPDX-License-Identifier: Apache-2.0
#include "errand.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "rna/base/thread.h"

enum { STACK = 512 * 1024 }; /* for a file, and the C library */

struct rna_errands {
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
	struct rna_errands *errands = argument;

	errands->work(errands->job);
	(void)eventfd_write(errands->done, 1); /* the counter is nowhere near its end */
	return NULL;
}

static void finish_errand(struct rna_errands *errands)
{
	eventfd_t count;

	(void)eventfd_read(errands->done, &count); /* there is one errand at a time */
	errands->busy = false;
	errands->back(errands->job);
}

static int on_done(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct rna_errands *errands = userdata;

	(void)source, (void)fd, (void)events;
	(void)pthread_join(errands->thread, NULL);
	finish_errand(errands);
	return 0;
}

int rna_errands_new(sd_event *event, void (*work)(void *job), void (*back)(void *job),
		    struct rna_errands **ret)
{
	RNA_CLEANUP(rna_errands_free_p) struct rna_errands *errands = calloc(1, sizeof(*errands));
	int status;

	if (!errands)
		return -ENOMEM;
	errands->work = work;
	errands->back = back;
	errands->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (errands->done < 0)
		return -errno;
	status =
		sd_event_add_io(event, &errands->returns, errands->done, EPOLLIN, on_done, errands);
	if (status < 0)
		return status;
	*ret = RNA_TAKE(errands);
	return 0;
}

bool rna_errands_busy(const struct rna_errands *errands)
{
	return errands->busy;
}

int rna_errands_start(struct rna_errands *errands, void *job)
{
	int status;

	errands->job = job;
	status = rna_thread_start(&errands->thread, STACK, "rna-errand", run, errands);
	errands->busy = status == 0;
	return status;
}

/* Has the work been done by then? */
static bool wait_until(const struct rna_errands *errands, rna_usec end)
{
	struct pollfd done = {.fd = errands->done, .events = POLLIN};
	int ready;

	do {
		rna_usec left = rna_usec_since(rna_clock_monotonic(), end);

		ready = poll(&done, 1, (int)(left / RNA_USEC_PER_MSEC));
	} while (ready < 0 && errno == EINTR);
	return ready > 0;
}

bool rna_errands_wait(struct rna_errands *errands, rna_usec patience)
{
	rna_usec end = rna_clock_monotonic() + patience;

	while (errands->busy) { /* back may have started another one */
		if (!wait_until(errands, end))
			return false;
		(void)pthread_join(errands->thread, NULL); /* it has nothing left to do */
		finish_errand(errands);
	}
	return true;
}

struct rna_errands *rna_errands_free(struct rna_errands *errands)
{
	if (!errands)
		return NULL;
	(void)sd_event_source_disable_unref(errands->returns);
	rna_close_p(&errands->done);
	free(errands);
	return NULL;
}
