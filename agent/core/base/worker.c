// SPDX-License-Identifier: Apache-2.0
/* The struct belongs to both sides, and is freed by the last one. */
#include "rna/base/worker.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "rna/base/thread.h"

/* Jobs in one direction, oldest first. */
struct queue {
	struct rna_work *first, *last;
	size_t count;
	int fd; /* eventfd: readable while there is one */
};

struct rna_worker {
	struct rna_worker_options options;
	atomic_uint users;
	atomic_bool stopped;
	bool started;
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t done;
	bool ended;
	struct queue given, returned;
};

/* -- Queues: with the lock held ---------------------------------------------------------------- */

static void push(struct queue *queue, struct rna_work *work)
{
	work->next = NULL;
	if (queue->first)
		queue->last->next = work;
	else
		queue->first = work;
	queue->last = work;
	queue->count++;
	(void)eventfd_write(queue->fd, 1); /* the counter is nowhere near its end */
}

static struct rna_work *pop(struct queue *queue)
{
	struct rna_work *work = queue->first;
	eventfd_t count;

	if (!work)
		return NULL;
	queue->first = work->next;
	queue->count--;
	if (!queue->first)
		(void)eventfd_read(queue->fd, &count);
	return work;
}

/* -- Both sides -------------------------------------------------------------------------------- */

static void drop(const struct rna_worker *worker, struct rna_work *work)
{
	if (worker->options.drop)
		worker->options.drop(work);
	else
		free(work);
}

static void drop_all(const struct rna_worker *worker, struct queue *queue)
{
	struct rna_work *work;

	while ((work = pop(queue)))
		drop(worker, work);
}

static void let_go(struct rna_worker *worker)
{
	if (atomic_fetch_sub(&worker->users, 1) != 1)
		return;
	drop_all(worker, &worker->given);
	drop_all(worker, &worker->returned);
	rna_close_p(&worker->given.fd);
	rna_close_p(&worker->returned.fd);
	if (worker->options.release)
		worker->options.release(worker->options.userdata);
	(void)pthread_cond_destroy(&worker->done);
	(void)pthread_mutex_destroy(&worker->lock);
	free(worker);
}

/* -- The thread -------------------------------------------------------------------------------- */

const atomic_bool *rna_worker_stopped(const struct rna_worker *worker)
{
	return &worker->stopped;
}

int rna_worker_wake_fd(const struct rna_worker *worker)
{
	return worker->given.fd;
}

struct rna_work *rna_worker_next(struct rna_worker *worker, rna_usec patience)
{
	struct pollfd wake = {.fd = worker->given.fd, .events = POLLIN};
	rna_usec wait = patience / RNA_USEC_PER_MSEC;
	struct rna_work *work;

	(void)poll(&wake, 1, wait > INT_MAX ? -1 : (int)wait);
	(void)pthread_mutex_lock(&worker->lock);
	work = worker->stopped ? NULL : pop(&worker->given); /* which may end the wake of a stop */
	(void)pthread_mutex_unlock(&worker->lock);
	return work;
}

void rna_worker_return(struct rna_worker *worker, struct rna_work *work)
{
	(void)pthread_mutex_lock(&worker->lock);
	push(&worker->returned, work);
	(void)pthread_mutex_unlock(&worker->lock);
}

static void do_all(struct rna_worker *worker)
{
	while (!worker->stopped) {
		struct rna_work *work = rna_worker_next(worker, RNA_USEC_NEVER);

		if (!work)
			continue;
		worker->options.perform(work, worker->options.userdata);
		rna_worker_return(worker, work);
	}
}

static void *run(void *argument)
{
	struct rna_worker *worker = argument;

	if (worker->options.run)
		worker->options.run(worker, worker->options.userdata);
	else
		do_all(worker);
	(void)pthread_mutex_lock(&worker->lock);
	worker->ended = true;
	(void)pthread_cond_signal(&worker->done);
	(void)pthread_mutex_unlock(&worker->lock);
	let_go(worker);
	return NULL;
}

/* -- The owner --------------------------------------------------------------------------------- */

int rna_worker_new(const struct rna_worker_options *options, struct rna_worker **ret)
{
	struct rna_worker *worker = calloc(1, sizeof(*worker));
	int status = 0;

	if (!worker)
		return -ENOMEM;
	worker->options = *options;
	worker->options.release = NULL; /* until nothing can fail any more */
	atomic_init(&worker->users, 1);
	(void)pthread_mutex_init(&worker->lock, NULL); /* cannot fail with default attributes */
	(void)pthread_cond_init(&worker->done, NULL);
	worker->given.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	worker->returned.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (worker->given.fd < 0 || worker->returned.fd < 0)
		status = -errno;
	if (status < 0) {
		let_go(worker);
		return status;
	}
	worker->options.release = options->release;
	*ret = worker;
	return 0;
}

int rna_worker_start(struct rna_worker *worker)
{
	const struct rna_worker_options *options = &worker->options;
	int status;

	if (worker->started)
		return 0;
	atomic_fetch_add(&worker->users, 1);
	status = rna_thread_start_aside(options->stack, options->name, run, worker);
	if (status < 0)
		atomic_fetch_sub(&worker->users, 1);
	worker->started = status == 0;
	return status;
}

int rna_worker_start_new(const struct rna_worker_options *options, struct rna_worker **ret)
{
	RNA_CLEANUP(rna_worker_stop_p) struct rna_worker *worker = NULL;
	int status = rna_worker_new(options, &worker);

	if (status < 0 && options->release)
		options->release(options->userdata);
	if (status == 0)
		status = rna_worker_start(worker);
	if (status == 0)
		*ret = RNA_TAKE(worker);
	return status;
}

int rna_worker_give(struct rna_worker *worker, struct rna_work *work)
{
	size_t most = worker->options.most ? worker->options.most : SIZE_MAX;
	int status = rna_worker_start(worker);

	if (status < 0)
		return status;
	(void)pthread_mutex_lock(&worker->lock);
	if (worker->given.count < most)
		push(&worker->given, work);
	else
		status = -EAGAIN;
	(void)pthread_mutex_unlock(&worker->lock);
	return status;
}

int rna_worker_fd(const struct rna_worker *worker)
{
	return worker->returned.fd;
}

struct rna_work *rna_worker_take(struct rna_worker *worker)
{
	struct rna_work *work;

	(void)pthread_mutex_lock(&worker->lock);
	work = pop(&worker->returned);
	(void)pthread_mutex_unlock(&worker->lock);
	return work;
}

static void tell_to_stop(struct rna_worker *worker)
{
	(void)pthread_mutex_lock(&worker->lock);
	worker->stopped = true;
	(void)eventfd_write(worker->given.fd, 1);
	(void)pthread_mutex_unlock(&worker->lock);
}

struct rna_worker *rna_worker_stop(struct rna_worker *worker)
{
	if (!worker)
		return NULL;
	tell_to_stop(worker);
	let_go(worker);
	return NULL;
}

struct rna_worker *rna_worker_finish(struct rna_worker *worker)
{
	if (!worker)
		return NULL;
	tell_to_stop(worker);
	(void)pthread_mutex_lock(&worker->lock);
	while (worker->started && !worker->ended)
		(void)pthread_cond_wait(&worker->done, &worker->lock);
	(void)pthread_mutex_unlock(&worker->lock);
	drop_all(worker, &worker->given); /* here, not in the thread */
	drop_all(worker, &worker->returned);
	let_go(worker);
	return NULL;
}
