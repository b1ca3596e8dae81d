/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Disguises: what stands in a recording for what identifies a node, its cards and its addresses.
 *
 * The same input gets the same stand-in for as long as a disguise lives, in whatever form it
 * comes: a MAC address, the GUID and the link-local GID that are made from it stay recognisable as
 * one. IP addresses in one network have stand-ins in one network, of the same length. Stand-ins are
 * numbered in order of appearance, so nothing of the original can be computed back from them, but
 * how many bits addresses share and whether they are private. Thread: one at a time.
 */
#pragma once

#include <stdbool.h>

#include "rna/base/cleanup.h"

struct rna_disguise;
struct rna_arena;

/* What a text is, which says what in it is replaced. */
enum rna_disguise_kind {
	RNA_DISGUISE_NOTHING,
	RNA_DISGUISE_ADDRESSES, /* any text: GUIDs, GIDs and link-layer addresses with colons */
	RNA_DISGUISE_NAME, /* names and paths: the same, and GUIDs and MAC addresses without colons
			    */
	RNA_DISGUISE_GUID, /* "b8ce:f603:000a:aabc" */
	RNA_DISGUISE_GID,  /* eight groups */
	RNA_DISGUISE_ADDRESS, /* a link-layer address: octets with colons */
	RNA_DISGUISE_TEXT,    /* words of people: replaced as a whole */
};

struct rna_disguise *rna_disguise_new(void);                           /* NULL: no memory */
struct rna_disguise *rna_disguise_free(struct rna_disguise *disguise); /* accepts NULL */
RNA_DEFINE_CLEANUP(struct rna_disguise, rna_disguise_free)

/*
 * The stand-in for text, in arena, or text itself. Zero stays zero. A GUID, GID or address that is
 * none keeps its shape, with an x for each hexadecimal digit. disguise may be NULL: text as it is.
 * NULL: no memory.
 */
const char *rna_disguise(struct rna_disguise *disguise, enum rna_disguise_kind kind,
			 const char *text, struct rna_arena *arena);
