/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control socket: how commands on this node ask the running agent to do something. It is a unix
 * socket of packets; HTTP only shows things. Root may ask, and the user that the agent runs as;
 * the kernel tells which user connects.
 *
 * A request is one packet of lines: the name of a command, then "key=value" each. The answer is
 * packets, whose first byte says what the rest is; the last one is RNA_CONTROL_EXIT.
 * cli/control_client.h is the other end.
 * Thread: the loop's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/base/error.h"

typedef struct sd_event sd_event; /* <systemd/sd-event.h> */

enum rna_control_packet {
	RNA_CONTROL_PROGRESS = 'p', /* a line for the user who waits */
	RNA_CONTROL_OUTPUT = 'o',   /* for stdout */
	RNA_CONTROL_ERROR = 'e',    /* a message; nothing was done */
	RNA_CONTROL_EXIT = 'x',     /* an exit code, as a number in text */
};

enum {
	RNA_CONTROL_PACKET_MAX = 32768,
	RNA_CONTROL_ANSWER_MAX = 4 << 20, /* bytes, longer than any answer */
};

/* One request. It exists until it is answered, or its sender has disconnected. */
struct rna_control_call;

/* The value of a key of the request; NULL: it has none. Lives as long as the call. */
const char *rna_control_value(const struct rna_control_call *call, const char *key);

/*
 * Sends text as fast as the peer reads it. A peer that reads nothing for half a minute is
 * disconnected, and one for which RNA_CONTROL_ANSWER_MAX waits.
 */
void rna_control_send(struct rna_control_call *call, enum rna_control_packet type, const char *text,
		      size_t len);
/* The last packet. The call must not be used afterwards. */
void rna_control_exit(struct rna_control_call *call, int code);
/* An error with exit code 3 instead. The call must not be used afterwards. */
void rna_control_fail(struct rna_control_call *call, const struct rna_error *error);

struct rna_control_command {
	const char *name; /* NULL ends a list */
	/* Answers now or later. */
	void (*handle)(struct rna_control_call *call, void *userdata);
	/* The sender has disconnected before the answer, or the socket is closed; NULL: ignored. */
	void (*left)(struct rna_control_call *call, void *userdata);
};

struct rna_control;

/* Makes the directory of path, where only that is missing. Without it the start will fail. */
void rna_control_make_directory(const char *path);

/*
 * Listens at path, replacing a socket file that no process listens on. 0, or negative errno
 * with error: -EADDRINUSE when another agent does, -EEXIST when the file there is no socket.
 */
int rna_control_start(sd_event *event, const char *path, const struct rna_control_command *commands,
		      void *userdata, struct rna_control **ret, struct rna_error *error);
struct rna_control *rna_control_stop(struct rna_control *control); /* accepts and returns NULL */
