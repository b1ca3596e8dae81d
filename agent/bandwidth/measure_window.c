// SPDX-License-Identifier: Apache-2.0
#include "measure_window.h"

#include "settings/silence.h"

#define MINUTE      (60 * RNA_USEC_PER_SEC)
#define SPREAD_MOST (20 * MINUTE) /* over which a fleet begins */
#define RETRY       (3 * MINUTE)  /* at least, and at most twice that */

/* Half of what is left of the window: nodes that begin last have time for a second attempt. */
static rna_usec spread(char *const *windows, const char *device, rna_usec realtime)
{
	rna_usec left = MINUTE;

	while (left < 2 * SPREAD_MOST && rna_silence_holds(windows, device, realtime + left))
		left += MINUTE;
	return left / 2;
}

bool rna_measure_turn_is_due(struct rna_measure_turn *turn, char *const *windows,
			     const char *device, uint64_t place, rna_usec realtime)
{
	if (!windows || !rna_silence_holds(windows, device, realtime)) {
		*turn = (struct rna_measure_turn){0};
		return false;
	}
	if (!turn->inside)
		*turn = (struct rna_measure_turn){
			.inside = true,
			.due = realtime + place % spread(windows, device, realtime),
		};
	return !turn->done && realtime >= turn->due;
}

/* Two nodes that were in each other's way are not again: each attempt has another pause. */
void rna_measure_turn_end(struct rna_measure_turn *turn, enum rna_measure_attempt how,
			  uint64_t place, rna_usec realtime)
{
	turn->done = how == RNA_MEASURE_WELL || (how == RNA_MEASURE_BAD && turn->bad);
	turn->bad |= how == RNA_MEASURE_BAD;
	turn->attempts++;
	turn->due = realtime + RETRY + (place >> (turn->attempts % 32)) % RETRY;
}
