// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/cleanup.h"
#include "rna/base/parse.h"
#include "rna/model/selftest.h"

#define WHOLE 1000.0

static RNA_PRINTF(3, 0) void put(struct rna_loopback_result *result, enum rna_loopback_end end,
				 const char *format, va_list args)
{
	result->end = end;
	(void)vsnprintf(result->text, sizeof(result->text), format,
			args); /* truncated if too long */
}

bool rna_loopback_skip(struct rna_loopback_result *result, enum rna_skip skip, const char *format,
		       ...)
{
	va_list args;

	result->skip = skip;
	va_start(args, format);
	put(result, RNA_LOOPBACK_SKIPPED, format, args);
	va_end(args);
	return false;
}

bool rna_loopback_fail(struct rna_loopback_result *result, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put(result, RNA_LOOPBACK_FAILED, format, args);
	va_end(args);
	return false;
}

/* Floating point, because bytes per second times 1000 is near the limit of 64 bits. */
static bool is_below(uint64_t bandwidth, uint64_t measure, unsigned thousandths)
{
	return (double)bandwidth * WHOLE < (double)measure * thousandths;
}

enum rna_grade rna_selftest_judge(uint64_t bandwidth, uint64_t expected, uint64_t siblings,
				  const struct rna_selftest_limits *limits)
{
	if (expected == 0 && siblings == 0)
		return RNA_GRADE_NONE;
	if (expected > 0 && is_below(bandwidth, expected, limits->warning))
		return RNA_GRADE_FAILED;
	if (expected > 0 && is_below(bandwidth, expected, limits->ok))
		return RNA_GRADE_WARNING;
	if (siblings > 0 && is_below(bandwidth, siblings, limits->siblings))
		return RNA_GRADE_WARNING;
	return RNA_GRADE_OK;
}

uint64_t rna_selftest_median(uint64_t *bandwidths, size_t count)
{
	if (count < 2)
		return 0;
	qsort(bandwidths, count, sizeof(*bandwidths), rna_compare_u64);
	return bandwidths[count / 2];
}

bool rna_selftest_is_bad(const struct rna_selftest_run *run)
{
	return run && (run->grade == RNA_GRADE_WARNING || run->grade == RNA_GRADE_FAILED);
}

const struct rna_selftest_port *rna_selftest_find(const struct rna_selftests *selftests,
						  const char *device, unsigned port, size_t *hint)
{
	size_t count = selftests ? selftests->count : 0;

	for (size_t tried = 0; tried < count; tried++) {
		const struct rna_selftest_port *found = &selftests->ports[(*hint)++ % count];

		if (found->port == port && strcmp(found->device, device) == 0)
			return found;
	}
	return NULL;
}

const struct rna_selftest_run *rna_selftest_newest(const struct rna_selftest_port *port,
						   enum rna_endpoint endpoint,
						   const struct rna_selftest_run *before)
{
	size_t count = before ? (size_t)(before - port->runs) : port->count;

	for (size_t i = count; i-- > 0;)
		if (port->runs[i].request.endpoint == endpoint && !port->runs[i].special &&
		    port->runs[i].result.end != RNA_LOOPBACK_SKIPPED)
			return &port->runs[i];
	return NULL;
}
