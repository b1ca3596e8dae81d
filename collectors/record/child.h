/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child process, for a question that may never be answered. A thread that is stuck in the kernel
 * keeps its process from ending, even after SIGKILL. A child that is stuck is left behind, and
 * nobody waits for it.
 * Thread: the only one of its process, as a child has no other.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "rna/base/clock.h"

struct rna_child {
	pid_t pid; /* 0: none */
	int fd;    /* where its messages come from */
};

/*
 * Calls work in a child, which has a copy of all that there is. What it sends to fd is received
 * here, message by message. 0 or negative errno.
 */
int rna_child_start(struct rna_child *child, void (*work)(int fd, const void *userdata),
		    const void *userdata);

/* Its next message: the length, -ETIMEDOUT, -EPIPE when it has ended, or another negative errno. */
ssize_t rna_child_receive(const struct rna_child *child, void *buffer, size_t size,
			  rna_usec patience);

/* Ends it, in the midst of its work if need be. Accepts one that never started. */
void rna_child_stop(struct rna_child *child);
