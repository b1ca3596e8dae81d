/* SPDX-License-Identifier: Apache-2.0 */
/* GUIDs as texts, in the form that sysfs has: four groups of four hex digits. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct rna_arena;

enum { RNA_GUID_TEXT = 20 }; /* with the NUL */

/*
 * The GUID in text: a GUID, or a GID whose lower half it is. Points into text. NULL: it is no GUID,
 * or all zero, which stands for none.
 */
const char *rna_guid_parse(const char *text);

void rna_guid_write(uint64_t guid, char ret[RNA_GUID_TEXT]);

/* The same in arena; NULL for zero, and when there is no memory, which sets *failed, too. */
const char *rna_guid_keep(uint64_t guid, struct rna_arena *arena, bool *failed);

/* "00:11:22:33:44:55:66:77", as NVIDIA's driver package writes GUIDs. 0, or -EBADMSG. */
int rna_vf_parse_guid(const char *text, uint64_t *ret);
