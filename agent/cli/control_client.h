/* SPDX-License-Identifier: Apache-2.0 */
/* The command's end of the control socket (loop/control.h): asks the running agent and waits. */
#pragma once

#include <stddef.h>

#include "rna/base/error.h"
#include "rna/base/strbuf.h"

/* What comes before the exit code. */
struct rna_control_reader {
	void (*progress)(const char *text, size_t len); /* NULL: it is ignored */
	struct rna_strbuf *output; /* what the agent answers is added; packets divide characters */
};

/*
 * Sends request to the agent that listens at path and waits until it is answered. The exit code;
 * -ENOENT or -ECONNREFUSED: no agent listens there; another negative errno. With error, which is
 * what the agent says if it says one (-EPROTO).
 */
int rna_control_ask(const char *path, const char *request, const struct rna_control_reader *reader,
		    struct rna_error *error);

/* Likewise, with the answer on stdout, and the progress on a terminal. */
int rna_control_show(const char *path, const char *request, struct rna_error *error);
