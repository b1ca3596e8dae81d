/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Durations as Prometheus writes them: "250ms", "10s", "1m30s", "24h". Units are d, h, m, s and ms,
 * from large to small, each at most once. A number without a unit is an error.
 */
#pragma once

#include "rna/base/clock.h"
#include "rna/base/strbuf.h"

/* 0; -EINVAL if text is not a duration; -ERANGE if it does not fit into rna_usec. */
int rna_duration_parse(const char *text, rna_usec *ret);

/* Writes duration in the same format, rounded down to milliseconds. */
void rna_duration_write(rna_usec duration, struct rna_strbuf *out);
