// SPDX-License-Identifier: Apache-2.0
#include "probe_class.h"

#include <string.h>

#include "rna/base/cleanup.h"
#include "rna/base/parse.h"
#include "rna/model/env.h"

enum { CLASS_MAX = 255, LEVEL_MAX = 15, DSCP_SHIFT = 2, DSCP_UNKNOWN = 255, ARENA = 4096 };

/* One of the two numbers: its variable of NCCL, and its largest value. */
struct number {
	enum rna_nccl_file_variable variable;
	uint64_t max;
};

static const struct number traffic_class = {RNA_NCCL_FILE_IB_TC, CLASS_MAX};
static const struct number service_level = {RNA_NCCL_FILE_IB_SL, LEVEL_MAX};

static bool take(const struct number *number, const char *text, uint8_t *ret)
{
	uint64_t value;

	if (!text || rna_parse_u64(text, &value) < 0 || value > number->max)
		return false;
	*ret = (uint8_t)value;
	return true;
}

static bool is_auto(const char *text)
{
	return strcmp(text, "auto") == 0;
}

/* -- Settings ---------------------------------------------------------------------------------- */

static bool is_valid(const struct number *number, const char *text)
{
	uint8_t value;

	return is_auto(text) || take(number, text, &value);
}

bool rna_probe_traffic_class_is_valid(const char *text)
{
	return is_valid(&traffic_class, text);
}

bool rna_probe_service_level_is_valid(const char *text)
{
	return is_valid(&service_level, text);
}

/* -- NCCL -------------------------------------------------------------------------------------- */

static const char *find_variable(const struct rna_env_advice *advice, const char *name)
{
	for (size_t i = 0; i < advice->variable_count; i++)
		if (strcmp(advice->variables[i].name, name) == 0)
			return advice->variables[i].value;
	return NULL;
}

/* That of the file comes first: NCCL reads it if the environment of a job says nothing. */
static uint8_t ask_nccl(const struct rna_view *view, const struct rna_env_advice *advice,
			const struct number *number)
{
	const struct rna_readiness *readiness = rna_snapshot_readiness(view->snapshot);
	uint8_t ret = 0;

	if (!readiness || !take(number, readiness->nccl_file.values[number->variable], &ret))
		(void)take(number, find_variable(advice, rna_nccl_file_names[number->variable]),
			   &ret);
	return ret;
}

struct rna_probe_class rna_probe_class_of_jobs(const struct rna_view *view,
					       const struct rna_settings *settings)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(ARENA);
	const struct rna_env_request request = {.library = RNA_ENV_NCCL, .gpu = RNA_ENV_NODE};
	struct rna_env_advice advice = {0};
	struct rna_probe_class ret;

	if (!arena || rna_env_advise(view, &request, arena, &advice) < 0)
		advice = (struct rna_env_advice){0}; /* without memory it is that of the file */
	if (!take(&traffic_class, settings->probe_traffic_class, &ret.traffic_class))
		ret.traffic_class = ask_nccl(view, &advice, &traffic_class);
	if (!take(&service_level, settings->probe_service_level, &ret.service_level))
		ret.service_level = ask_nccl(view, &advice, &service_level);
	ret.dscp = ret.traffic_class >> DSCP_SHIFT;
	return ret;
}

/* -- The driver -------------------------------------------------------------------------------- */

struct rna_probe_class rna_probe_class_of_port(struct rna_probe_class jobs, struct rna_value driver,
					       const struct rna_settings *settings)
{
	if (driver.state != RNA_VALUE_OK || driver.number > CLASS_MAX ||
	    driver.number == jobs.traffic_class)
		return jobs;
	if (is_auto(settings->probe_traffic_class)) {
		jobs.traffic_class = (uint8_t)driver.number;
		jobs.dscp = jobs.traffic_class >> DSCP_SHIFT;
	} else {
		jobs.dscp = DSCP_UNKNOWN;
	}
	return jobs;
}
