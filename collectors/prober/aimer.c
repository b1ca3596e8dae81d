// SPDX-License-Identifier: Apache-2.0
#include "aimer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { STACK = 128 << 10 };

/* The thread's ends of the pipes. */
struct ends {
	int jobs, results;
};

static void *make_aims(void *userdata)
{
	struct ends ends = *(struct ends *)userdata;
	struct rna_aim_job *job;

	free(userdata);
	while (read(ends.jobs, &job, sizeof(job)) == sizeof(job)) {
		job->status = rna_aim_make(job->verbs, &job->request, &job->aim);
		if (write(ends.results, &job, sizeof(job)) != sizeof(job))
			break;
	}
	return NULL;
}

static int start_thread(const struct ends *ends)
{
	struct ends *own = malloc(sizeof(*own));
	pthread_attr_t attributes;
	pthread_t thread;
	int error;

	if (!own)
		return -ENOMEM;
	*own = *ends;
	(void)pthread_attr_init(&attributes); /* cannot fail in glibc */
	(void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	(void)pthread_attr_setstacksize(&attributes, STACK);
	error = pthread_create(&thread, &attributes, make_aims, own);
	(void)pthread_attr_destroy(&attributes);
	if (error)
		free(own);
	return -error;
}

int rna_aimer_start(struct rna_aimer *ret)
{
	int jobs[2], results[2];

	if (pipe2(jobs, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(results, O_CLOEXEC) < 0)
		return -errno;
	/* The loop never waits; the thread does. */
	if (fcntl(jobs[1], F_SETFL, O_NONBLOCK) < 0 || fcntl(results[0], F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	*ret = (struct rna_aimer){.jobs = jobs[1], .results = results[0]};
	return start_thread(&(const struct ends){jobs[0], results[1]});
}

int rna_aimer_put(const struct rna_aimer *aimer, struct rna_aim_job *job)
{
	return write(aimer->jobs, &job, sizeof(job)) == sizeof(job) ? 0 : -EAGAIN;
}

struct rna_aim_job *rna_aimer_take(const struct rna_aimer *aimer)
{
	struct rna_aim_job *job;

	return read(aimer->results, &job, sizeof(job)) == sizeof(job) ? job : NULL;
}
