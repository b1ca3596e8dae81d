// SPDX-License-Identifier: Apache-2.0
/*
 * tsc-khz: how fast the time stamp counter of this machine runs, in kHz.
 *
 * An emulated guest reads the counter of its host. It would calibrate it by an emulated timer, and
 * on a busy host it may be wrong by a factor of twenty; its clock is wrong by the same factor then.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

enum {
	TRIES = 200,
	PAUSE_NS = 100000000,
	NS_PER_MS = 1000000,
};

struct moment {
	uint64_t ticks;
	int64_t ns;
};

static int64_t read_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (int64_t)now.tv_sec * 1000 * NS_PER_MS + now.tv_nsec;
}

/* Both counters at the same time: of many readings, the one in which least else ran in between. */
static struct moment read_moment(void)
{
	struct moment ret = {0};
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = __rdtsc();
		int64_t ns = read_clock();
		uint64_t width = __rdtsc() - before;

		if (width < best) {
			best = width;
			ret = (struct moment){.ticks = before + width / 2, .ns = ns};
		}
	}
	return ret;
}

int main(void)
{
	struct timespec pause = {.tv_nsec = PAUSE_NS};
	struct moment from = read_moment();

	nanosleep(&pause, NULL);
	struct moment to = read_moment();

	printf("%.0f\n", (double)(to.ticks - from.ticks) * NS_PER_MS / (double)(to.ns - from.ns));
	return 0;
}
