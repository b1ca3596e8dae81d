/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash of texts and numbers, to tell whether they are still the same: FNV-1a of 64 bits (Fowler,
 * Noll, Vo). No defence against those who choose what is hashed. Thread: any.
 */
#pragma once

#include <stdint.h>

/* The hash of nothing. */
#define RNA_HASH_INIT UINT64_C(0xcbf29ce484222325)

static inline uint64_t rna_hash_number(uint64_t hash, uint64_t number)
{
	return (hash ^ number) * UINT64_C(0x100000001b3);
}

/* The end of text does not count: rna_hash_number(hash, 0) behind it keeps "ab", "c" from "a",
 * "bc". */
static inline uint64_t rna_hash_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = rna_hash_number(hash, (unsigned char)*text);
	return hash;
}
