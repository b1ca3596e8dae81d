/* SPDX-License-Identifier: Apache-2.0 */
/* Threads beside the loop. */
#pragma once

#include <pthread.h>
#include <stddef.h>

/*
 * Signals belong to the loop: the thread is born with all of them blocked, SIGPIPE too. stack:
 * bytes; name: for top(1), at most 15 characters. 0 or negative errno.
 */
int rna_thread_start(pthread_t *thread, size_t stack, const char *name, void *(*body)(void *),
		     void *userdata);
