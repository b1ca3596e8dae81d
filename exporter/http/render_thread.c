// SPDX-License-Identifier: Apache-2.0
/* The loop alone counts references to views: the thread only reads the one of its order. */
#include "render_thread.h"

#include <errno.h>
#include <sys/eventfd.h>

#include "rna/base/thread.h"

#include "metrics/body.h"

enum { STACK = 1024 * 1024 }; /* bytes; only pages that are used take memory */

enum state {
	IDLE,
	ORDERED,
	DONE,
};

struct rna_render_thread {
	pthread_t thread;
	int done; /* eventfd */
	struct rna_renderer *renderer;

	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t ordered;
	bool quit;
	enum state state;
	struct rna_render_order order;
	struct rna_body *body;
};

/* -- The thread -------------------------------------------------------------------------------- */

static int write_document(const struct rna_render_order *order, struct rna_body **ret)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	if (order->kind == RNA_RENDER_RUNBOOK)
		rna_write_runbook(order->view, order->runbook, &out);
	else
		order->write(order->view, &out);
	return rna_body_take(&out, ret);
}

/* NULL: no memory. */
static struct rna_body *render(struct rna_renderer *renderer, const struct rna_render_order *order)
{
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *plain = NULL;
	struct rna_body *packed = NULL;
	int status;

	if (order->kind == RNA_RENDER_METRICS)
		status = rna_renderer_metrics(renderer, order->view, order->format, &plain);
	else
		status = write_document(order, &plain);
	if (status < 0)
		return NULL;
	if (!order->gzip)
		return RNA_TAKE(plain);
	return rna_renderer_pack(renderer, plain, &packed) < 0 ? NULL : packed;
}

static void *run(void *userdata)
{
	struct rna_render_thread *thread = userdata;

	(void)pthread_mutex_lock(&thread->lock);
	while (!thread->quit) {
		struct rna_body *body;

		if (thread->state != ORDERED) {
			(void)pthread_cond_wait(&thread->ordered, &thread->lock);
			continue;
		}
		(void)pthread_mutex_unlock(&thread->lock);
		body = render(thread->renderer,
			      &thread->order); /* the loop does not change it meanwhile */
		(void)pthread_mutex_lock(&thread->lock);
		thread->body = body;
		thread->state = DONE;
		(void)eventfd_write(thread->done, 1); /* the counter is nowhere near its end */
	}
	(void)pthread_mutex_unlock(&thread->lock);
	return NULL;
}

/* -- The loop's side --------------------------------------------------------------------------- */

int rna_render_thread_fd(const struct rna_render_thread *thread)
{
	return thread->done;
}

bool rna_render_thread_start(struct rna_render_thread *thread, const struct rna_render_order *order)
{
	bool idle;

	(void)pthread_mutex_lock(&thread->lock);
	idle = thread->state == IDLE;
	if (idle) {
		thread->order = *order;
		thread->order.view = rna_view_ref(order->view);
		thread->state = ORDERED;
	}
	(void)pthread_mutex_unlock(&thread->lock);
	(void)pthread_cond_signal(&thread->ordered);
	return idle;
}

bool rna_render_thread_take(struct rna_render_thread *thread, struct rna_render_order *ret,
			    struct rna_body **ret_body)
{
	eventfd_t count;
	bool done;

	(void)eventfd_read(thread->done, &count); /* before what it says is looked at */
	(void)pthread_mutex_lock(&thread->lock);
	done = thread->state == DONE;
	if (done) {
		*ret = thread->order;
		*ret_body = RNA_TAKE(thread->body);
		thread->state = IDLE;
	}
	(void)pthread_mutex_unlock(&thread->lock);
	return done;
}

static struct rna_render_thread *discard(struct rna_render_thread *thread)
{
	if (thread->state != IDLE)
		(void)rna_view_unref(thread->order.view);
	(void)rna_body_unref(thread->body);
	(void)rna_renderer_free(thread->renderer);
	rna_close_p(&thread->done);
	(void)pthread_cond_destroy(&thread->ordered);
	(void)pthread_mutex_destroy(&thread->lock);
	free(thread);
	return NULL;
}

int rna_render_thread_new(struct rna_render_thread **ret)
{
	struct rna_render_thread *thread = calloc(1, sizeof(*thread));
	int status = -ENOMEM;

	if (!thread)
		return -ENOMEM;
	(void)pthread_mutex_init(&thread->lock, NULL); /* cannot fail with default attributes */
	(void)pthread_cond_init(&thread->ordered, NULL);
	thread->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	thread->renderer = rna_renderer_new();
	if (thread->done < 0)
		status = -errno;
	else if (thread->renderer)
		status = rna_thread_start(&thread->thread, STACK, "rna-render", run, thread);
	if (status < 0)
		(void)discard(thread);
	else
		*ret = thread;
	return status;
}

struct rna_render_thread *rna_render_thread_free(struct rna_render_thread *thread)
{
	if (!thread)
		return NULL;
	(void)pthread_mutex_lock(&thread->lock);
	thread->quit = true;
	(void)pthread_mutex_unlock(&thread->lock);
	(void)pthread_cond_signal(&thread->ordered);
	(void)pthread_join(thread->thread, NULL);
	return discard(thread);
}
