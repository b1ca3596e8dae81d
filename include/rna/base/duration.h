/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Durations as Prometheus writes them: "250ms", "10s", "1m30s", "24h". Units are d, h, m, s and
 * ms, from large to small, each at most once; a number without a unit is not a duration.
 */
#pragma once

#include "rna/base/clock.h"
#include "rna/base/strbuf.h"

/* 0; -EINVAL when text is not a duration; -ERANGE when it is too long to count. */
int rna_duration_parse(const char *text, rna_usec *ret);

/* The other way round; what is less than a millisecond is cut. */
void rna_duration_write(rna_usec duration, struct rna_strbuf *out);
