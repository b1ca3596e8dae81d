/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Monitors: sockets on which the kernel announces changes. A message is only a hint to read the
 * object again, so only its subject is parsed; nothing is allocated. Thread: the loop's. Reading
 * never waits.
 */
#pragma once

#include <stdbool.h>

#include "rna/base/error.h"
#include "rna/base/root.h"

/* A network interface or one of its addresses was added, changed or removed (rtnetlink). */
struct rna_link_event {
	unsigned ifindex;
	bool address;
};

/* A device was added, changed or removed. The texts are valid only during the call. */
struct rna_uevent {
	const char *action;    /* "add", "remove", "move", ... */
	const char *subsystem; /* "infiniband"; empty: none */
	const char *name;      /* last part of its path: "mlx5_0" */
};

/*
 * A descriptor that is readable when there are messages; the caller closes it. Or negative errno.
 */
int rna_link_monitor_open(struct rna_error *error);
int rna_uevent_monitor_open(struct rna_error *error);

/*
 * Readable when the kernel has written a message to its log. The root's dev/kmsg; that it cannot be
 * opened is normal, and errno as of rna_kmsg_open() in collectors/parse/kmsg.h.
 */
int rna_kmsg_monitor_open(const struct rna_root *root);
/* From now on it is readable when there is another one. 0 or negative errno. */
int rna_kmsg_monitor_skip(int fd);

/*
 * Reads a batch of messages and calls handle for each event. The number of messages; 0: nothing to
 * read; -ENOBUFS: the kernel dropped some, so everything may have changed. Other errors are those
 * of recv(2).
 */
int rna_link_monitor_read(int fd,
			  void (*handle)(const struct rna_link_event *event, void *userdata),
			  void *userdata);
int rna_uevent_monitor_read(int fd, void (*handle)(const struct rna_uevent *event, void *userdata),
			    void *userdata);
