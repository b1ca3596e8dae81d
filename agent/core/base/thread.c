// SPDX-License-Identifier: Apache-2.0
#include "rna/base/thread.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#define PAUSE (5 * RNA_USEC_PER_MSEC) /* between looks for threads that have ended */

struct aside {
	pthread_t thread;
	struct aside *next;
};

static pthread_mutex_t asides_lock = PTHREAD_MUTEX_INITIALIZER;
static struct aside *asides;

int rna_thread_start(pthread_t *thread, size_t stack, const char *name, void *(*body)(void *),
		     void *userdata)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	int ret;

	ret = pthread_attr_init(&attributes);
	if (ret != 0)
		return -ret;
	/* on failure the default size is used */
	(void)pthread_attr_setstacksize(&attributes, stack);
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(thread, &attributes, body, userdata);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attributes);
	if (ret == 0)
		(void)pthread_setname_np(*thread, name);
	return -ret;
}

/* Those that have ended. With the lock held. */
static void reap(void)
{
	for (struct aside **link = &asides; *link;) {
		struct aside *aside = *link;

		if (pthread_tryjoin_np(aside->thread, NULL) != 0) {
			link = &aside->next;
			continue;
		}
		*link = aside->next;
		free(aside);
	}
}

int rna_thread_start_aside(size_t stack, const char *name, void *(*body)(void *), void *userdata)
{
	struct aside *aside = calloc(1, sizeof(*aside));
	int status;

	if (!aside)
		return -ENOMEM;
	status = rna_thread_start(&aside->thread, stack, name, body, userdata);
	if (status < 0) {
		free(aside);
		return status;
	}
	(void)pthread_mutex_lock(&asides_lock);
	reap();
	aside->next = asides;
	asides = aside;
	(void)pthread_mutex_unlock(&asides_lock);
	return 0;
}

bool rna_threads_aside_join(rna_usec patience)
{
	const struct timespec pause = {.tv_nsec = PAUSE * 1000};
	rna_usec end = rna_clock_monotonic() + patience;
	bool done;

	for (;;) {
		(void)pthread_mutex_lock(&asides_lock);
		reap();
		done = !asides;
		(void)pthread_mutex_unlock(&asides_lock);
		if (done || rna_clock_monotonic() >= end)
			return done;
		(void)nanosleep(&pause, NULL);
	}
}
