/* SPDX-License-Identifier: Apache-2.0 */
/* Threads beside the loop. */
#pragma once

#include <pthread.h>
#include <stddef.h>

/*
 * Starts a thread with all signals blocked, SIGPIPE too: the loop handles signals. stack: bytes;
 * name: for top(1), at most 15 characters. 0 or negative errno.
 */
int rna_thread_start(pthread_t *thread, size_t stack, const char *name, void *(*body)(void *),
		     void *userdata);
