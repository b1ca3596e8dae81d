/* SPDX-License-Identifier: Apache-2.0 */
/* Threads beside the loop. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "rna/base/clock.h"

/*
 * Starts a thread with all signals blocked, SIGPIPE too: the loop handles signals. stack: bytes;
 * name: for top(1), at most 15 characters. 0 or negative errno.
 */
int rna_thread_start(pthread_t *thread, size_t stack, const char *name, void *(*body)(void *),
		     void *userdata);

/*
 * The same for a thread that ends by itself, some time after it was asked to: its starter does not
 * join it. Errors as above. Thread: any.
 */
int rna_thread_start_aside(size_t stack, const char *name, void *(*body)(void *), void *userdata);

/*
 * Joins the threads that were started aside. False: some still run after patience. Then the process
 * must end by _exit(), because exit handlers free what libraries hold for those threads.
 */
bool rna_threads_aside_join(rna_usec patience);
