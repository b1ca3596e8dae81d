/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Monitors: sockets on which the kernel tells what changes. What they say is a hint to look, and
 * no more than that is taken out of a message; nothing is allocated for it.
 * Thread: the loop's. Reading never waits.
 */
#pragma once

#include <stdbool.h>

#include "rna/base/error.h"

/* A network interface, or an address of it, came, changed or went (rtnetlink). */
struct rna_link_event {
	unsigned ifindex;
	bool address;
};

/* A device of the kernel came, changed or went. The texts are only good during the call. */
struct rna_uevent {
	const char *action;    /* "add", "remove", "move", ... */
	const char *subsystem; /* "infiniband"; empty where there is none */
	const char *name;      /* last part of its path: "mlx5_0" */
};

/* A descriptor that is readable when there is news, for the caller to close; or negative errno. */
int rna_link_monitor_open(struct rna_error *error);
int rna_uevent_monitor_open(struct rna_error *error);

/*
 * Reads a batch and hands out its events. How many there were, 0 when there is nothing to read,
 * -ENOBUFS when the kernel had to drop some: then everything may have changed. Other errors are
 * those of recv(2).
 */
int rna_link_monitor_read(int fd,
			  void (*handle)(const struct rna_link_event *event, void *userdata),
			  void *userdata);
int rna_uevent_monitor_read(int fd, void (*handle)(const struct rna_uevent *event, void *userdata),
			    void *userdata);
