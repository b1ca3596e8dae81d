/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children: this program, executed again for what may hang in the kernel or needs fewer rights. A
 * child inherits nothing but a socket, and is killed when its parent ends. The parent never waits
 * for one without a deadline.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "rna/base/clock.h"

struct rna_child {
	pid_t pid; /* 0: none */
	int pidfd; /* readable when it has ended; -1: the kernel has no pidfd */
	int fd;    /* our end of the socket, SOCK_SEQPACKET; readable also when it has ended */
};

#define RNA_CHILD_INIT ((struct rna_child){.pidfd = -1, .fd = -1})

/*
 * Executes /proc/self/exe with that argv[0] alone. first: a message of len bytes that lies in the
 * socket before the child exists; NULL: none. 0 or negative errno, with *ret stopped.
 */
int rna_child_start(const char *name, const void *first, size_t len, struct rna_child *ret);

/* Is this child a zombie: ended but not yet reaped? */
bool rna_child_has_ended(pid_t pid);

/*
 * The state of its first thread, as in proc(5): 'R' it runs, or would if it got a processor, 'S' it
 * waits, 'D' for a device, 'Z' it has ended. '\0': not known.
 */
char rna_child_state(pid_t pid);

/* Waits at most patience (0: does not wait) for its end, which is not reaped. */
bool rna_child_await(const struct rna_child *child, rna_usec patience);

/* Kills it without waiting; pidfd becomes readable when it has ended. */
void rna_child_kill(const struct rna_child *child);

/*
 * Kills it and waits at most patience (0: does not wait). False: it has not ended; then pid and
 * pidfd stay, and the caller watches it and reaps it by another call.
 */
bool rna_child_stop(struct rna_child *child, rna_usec patience);

/* -- The child's side -------------------------------------------------------------------------- */

enum { RNA_CHILD_SOCKET = 3 };

struct rna_child_limits {
	const char *name;     /* of the process, 15 characters at most */
	uint64_t descriptors; /* RLIMIT_NOFILE */
	uint64_t file_bytes;  /* RLIMIT_FSIZE */
};

/*
 * The first call of a child: it ends with its parent, gains no rights, leaves no core, may lock as
 * much memory as the hard limit allows, and is the first that the OOM killer takes. False: the
 * parent is gone already.
 */
bool rna_child_begin(const struct rna_child_limits *limits);
