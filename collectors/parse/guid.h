/* SPDX-License-Identifier: Apache-2.0 */
/* GUIDs as text in the format of sysfs: four groups of four hex digits. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct rna_arena;

enum { RNA_GUID_TEXT = 20 }; /* including the NUL */

/*
 * Finds the GUID in text, which is a GUID or a GID with the GUID as lower half. Points into text.
 * NULL: not a GUID, or all zero, which means none.
 */
const char *rna_guid_parse(const char *text);

void rna_guid_write(uint64_t guid, char ret[RNA_GUID_TEXT]);

/* Formats guid in arena. NULL for zero, or with *failed set if there is no memory. */
const char *rna_guid_keep(uint64_t guid, struct rna_arena *arena, bool *failed);

/* "00:11:22:33:44:55:66:77", as NVIDIA's driver package writes GUIDs. 0, or -EBADMSG. */
int rna_vf_parse_guid(const char *text, uint64_t *ret);
