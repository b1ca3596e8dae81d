// SPDX-License-Identifier: Apache-2.0
/* agent/core/base/thread.c: threads that end by themselves. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

#include "rna/base/thread.h"

enum { STACK = 64 << 10, THREADS = 8 };

struct worker {
	int pipe[2]; /* closed at the writing end: it may end */
	atomic_int *ended;
};

/* Runs when the thread has left its function, as what libraries keep for a thread is freed. */
static void count(void *ended)
{
	(void)usleep(20000);
	atomic_fetch_add((atomic_int *)ended, 1);
}

static pthread_key_t key;

static void *wait_for_leave(void *userdata)
{
	const struct worker *worker = userdata;
	char byte;

	(void)pthread_setspecific(key, worker->ended);
	(void)!read(worker->pipe[0], &byte, 1);
	return NULL;
}

static void test_threads_aside_are_joined_when_they_have_ended(void **state)
{
	struct worker workers[THREADS];
	atomic_int ended = 0;

	(void)state;
	assert_true(rna_threads_aside_join(0));
	assert_int_equal(pthread_key_create(&key, count), 0);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pipe(workers[i].pipe), 0);
		workers[i].ended = &ended;
		assert_int_equal(rna_thread_start_aside(STACK, "test", wait_for_leave, &workers[i]),
				 0);
	}
	assert_false(rna_threads_aside_join(10 * RNA_USEC_PER_MSEC));
	for (int i = 0; i < THREADS; i++)
		(void)close(workers[i].pipe[1]);
	assert_true(rna_threads_aside_join(10 * RNA_USEC_PER_SEC));
	assert_int_equal(ended, THREADS);
	for (int i = 0; i < THREADS; i++)
		(void)close(workers[i].pipe[0]);
	(void)pthread_key_delete(key);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads_aside_are_joined_when_they_have_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
