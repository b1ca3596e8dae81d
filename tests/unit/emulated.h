// SPDX-License-Identifier: Apache-2.0
/* For tests that need more of the kernel than QEMU's emulation of single programs passes on. */
#pragma once

#include <stdbool.h>
#include <stdlib.h>
#include <cmocka.h>

/* tests/cross/run sets it. */
static inline bool is_emulated(void)
{
	return getenv("RNA_TEST_EMULATED") != NULL;
}

/* Skips the test where it is emulated. REASON: what QEMU does not do. */
#define need_kernel(reason)                                                                        \
	do {                                                                                       \
		if (is_emulated()) {                                                               \
			print_message("SKIP: QEMU %s\n", reason);                                  \
			skip();                                                                    \
		}                                                                                  \
	} while (0)
