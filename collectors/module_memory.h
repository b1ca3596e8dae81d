/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the memory of a module, for the collector and for a recording. */
#pragma once

#include "rna/base/root.h"

#include "module_pages.h"

struct rna_ethtool_backend;
struct rna_ethtool_talk;

struct rna_module_answer {
	struct rna_arena *arena; /* of the message */
	struct rna_ethtool_question question;
	struct rna_bytes message;
};

struct rna_module_visit {
	struct rna_arena *arena; /* for answers */
	struct rna_module_memory memory;
	unsigned failed; /* ranges that could not be read, */
	int error;       /* and why the last of them could not */
	/* Is shown each answer that was good, or NULL. */
	void (*on_answer)(const struct rna_module_range *range,
			  const struct rna_module_answer *answer, void *userdata);
	void *userdata;
};

/* Puts the question about one range. Returns like ask() of the backend. */
int rna_module_ask(struct rna_ethtool_talk *talk, const struct rna_ethtool_backend *backend,
		   const char *netdev, const struct rna_module_range *range,
		   struct rna_module_answer *ret);

/*
 * Asks for all ranges that the module of an interface has; for its serial number on demand only.
 * 0, or as ask() when the first of them has no answer: then nothing is known.
 */
int rna_module_read_memory(struct rna_ethtool_talk *talk, const struct rna_ethtool_backend *backend,
			   const char *netdev, bool serial, struct rna_module_visit *visit);
