// SPDX-License-Identifier: Apache-2.0
/*
 * libFuzzer's mutations make inputs longer by a few bytes at a time, and time grows with length. So
 * one in sixteen inputs grows to up to the longest that is allowed; a limit of time for each input
 * (run) then finds what is not linear.
 */
#include "fuzz.h"

enum { SELDOM = 16 };

/* Called by libFuzzer, which declares none of them. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	if (seed % SELDOM == 0)
		return fuzz_grow(data, size, max, seed / SELDOM);
	return LLVMFuzzerMutate(data, size, max);
}
