/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remember: the memory learns from a new snapshot, and its view gets what is known of the ports
 * beyond the moment: expectation, devices that are missing, what changed.
 * Thread: the loop's.
 */
#pragma once

#include "rna/base/texts.h"
#include "rna/model/device_filter.h"
#include "rna/model/view.h"

#include "settings/settings.h"

#include "memory.h"

struct rna_remember_input {
	const struct rna_settings *settings;
	const struct rna_device_filter *filter; /* what it leaves out is not missed */
};

/*
 * Fills in ports and missing of view, which is being made; transitions are logged, and added to the
 * memory's history. 0, or -ENOMEM: then some of it stays empty, and the next view tries again.
 */
int rna_remember(struct rna_memory *memory, const struct rna_remember_input *in,
		 struct rna_view *view);

/* Fills in changes of view likewise. */
int rna_remember_changes(const struct rna_memory *memory, struct rna_view *view);

/* The PCI functions of all devices that are expected to be there. NULL: no memory. */
struct rna_texts *rna_memory_functions(const struct rna_memory *memory);
