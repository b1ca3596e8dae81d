/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of health in the state directory: since when each problem has lasted and whether it was
 * reported, and how counters rose lately. So a restart within a fault neither resets its start nor
 * reports it again. Thread: the loop's.
 */
#pragma once

#include "health.h"

#define RNA_HEALTH_FILE "problems.json"

void rna_health_write(struct rna_health *health, struct rna_strbuf *out);

/*
 * Into health that has not judged a view yet, whose boot is set. -EBADMSG: it is damaged;
 * -EOPNOTSUPP: a newer version wrote it; else -ENOMEM. In all three cases with error and health as
 * it was.
 */
int rna_health_read(struct rna_health *health, const char *text, size_t len,
		    struct rna_error *error);
