/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and GUIDs as they were before they changed. A change is reported for a day, or until
 * "expect accept" accepts the port: in that time the oldest text is the one to compare with, so
 * that a name that comes back ends the report.
 * Thread: the loop's.
 */
#pragma once

#include <stdbool.h>

#include "rna/base/clock.h"

struct rna_device_memory;
struct rna_memory;
struct rna_view;
struct rna_view_port;

#define RNA_FORMER_SPAN (24 * 60 * 60 * RNA_USEC_PER_SEC)

struct rna_former_memory {
	char *text;       /* NULL: it never changed */
	rna_usec changed; /* realtime */
};

void rna_former_memory_deinit(struct rna_former_memory *former); /* idempotent */

/*
 * Makes *present, which the memory owns, a copy of text, and keeps what it was. accepted: when the
 * present state was accepted last; 0: never. True: it changed.
 */
bool rna_former_learn(struct rna_former_memory *former, char **present, const char *text,
		      rna_usec accepted, rna_usec now);

/* When the names and the GUID of a device were accepted last; 0: never. */
rna_usec rna_former_accepted(const struct rna_device_memory *device);

/*
 * Fills in view->devices, and the names of interfaces in ports, which are those of the view. False:
 * no memory; then some of it is empty.
 */
bool rna_formers_tell(struct rna_memory *memory, struct rna_view *view,
		      struct rna_view_port *ports);
