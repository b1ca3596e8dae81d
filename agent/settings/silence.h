/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maintenance windows: times during which findings are expected and not reported. Times are
 * UTC. A window is one of
 *	"Sat 02:00-04:00"	each week; days as "Sat", "Mon-Fri" or "daily"; over midnight it
 *				belongs to the day on which it began
 *	"2026-12-01T00:00Z/2026-12-01T06:30Z"	once
 * and may name devices by a glob behind a blank: "Sat 02:00-04:00 mlx5_*".
 */
#pragma once

#include <stdbool.h>

#include "rna/base/clock.h"

bool rna_silence_is_valid(const char *entry);

/*
 * Does one of windows (NULL-ended; NULL: none) hold at that time, for that device? device: NULL
 * for the node as a whole, which only windows without a glob silence.
 */
bool rna_silence_holds(char *const *windows, const char *device, rna_usec realtime);
