// SPDX-License-Identifier: Apache-2.0
#include "rna/base/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "rna/base/cleanup.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

static rna_usec read_clock(clockid_t id)
{
	struct timespec now;

	(void)clock_gettime(id, &now); /* cannot fail for these two clocks */
	return (rna_usec)now.tv_sec * RNA_USEC_PER_SEC + (rna_usec)now.tv_nsec / 1000;
}

rna_usec rna_clock_monotonic(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

struct rna_time rna_clock_now(void)
{
	return (struct rna_time){
		.monotonic = read_clock(CLOCK_MONOTONIC),
		.realtime = read_clock(CLOCK_REALTIME),
	};
}

void rna_clock_boot(char ret[RNA_BOOT_SIZE])
{
	RNA_FCLOSE FILE *file = fopen(BOOT_ID, "re");

	if (!file || !fgets(ret, RNA_BOOT_SIZE, file))
		ret[0] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
}

bool rna_clock_same_boot(const char *a, const char *b)
{
	return a && b && *a && strcmp(a, b) == 0;
}
