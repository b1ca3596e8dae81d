/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent: loop, schedule, lanes, publish and HTTP put together.
 * Thread: the one that made it; it is the loop's.
 */
#pragma once

#include "rna/base/error.h"
#include "rna/model/view.h"

#include "settings/settings.h"

struct rna_agent;

/*
 * root: NULL means "/". config: the file that SIGHUP reads again; NULL: the default. Takes over the
 * content of settings (left zeroed), also on failure.
 */
int rna_agent_new(const char *root, const char *config, struct rna_settings *settings,
		  struct rna_agent **ret, struct rna_error *error);
struct rna_agent *rna_agent_free(struct rna_agent *agent); /* accepts and returns NULL */
RNA_DEFINE_CLEANUP(struct rna_agent, rna_agent_free)

/*
 * Runs the daemon until SIGTERM or SIGINT: polls, publishes, serves HTTP. Returns 0, or a negative
 * errno when it cannot start. A lane that is stuck in the kernel does not hold it: after two
 * seconds the process leaves with _exit(0).
 */
int rna_agent_run(struct rna_agent *agent, struct rna_error *error);

/* Values that a reload puts in the place of the file's; they have to live as long as the agent. */
void rna_agent_set_overrides(struct rna_agent *agent, const struct rna_override *overrides);

/* Before anything is collected; see rna_backends_set_hwloc_xml(). 0 or -ENOMEM. */
int rna_agent_set_hwloc_xml(struct rna_agent *agent, const char *file, struct rna_error *error);

/* Before anything is collected: look at the devices that this process sees, and no others. */
void rna_agent_set_inside(struct rna_agent *agent, uint32_t process);

/*
 * Polls once, without HTTP, until every collector answered or ran past its deadline. *ret is a
 * new reference.
 */
int rna_agent_collect(struct rna_agent *agent, const struct rna_view **ret,
		      struct rna_error *error);

const struct rna_root *rna_agent_root(const struct rna_agent *agent);

/* The settings that it was given. */
const struct rna_settings *rna_agent_settings(const struct rna_agent *agent);
