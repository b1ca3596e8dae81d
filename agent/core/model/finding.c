// SPDX-License-Identifier: Apache-2.0
#include "rna/model/finding.h"

#include <string.h>
#include <syslog.h>

#include "rna/base/parse.h"

bool rna_finding_is_about(const struct rna_finding *finding, const char *device)
{
	if (!device || !finding->device)
		return false;
	for (size_t i = 0; i < finding->other_count; i++)
		if (strcmp(finding->others[i], device) == 0)
			return true;
	return strcmp(finding->device, device) == 0;
}

int rna_finding_compare(const struct rna_finding *a, const struct rna_finding *b)
{
	int ret;

	if ((a->severity == RNA_SEVERITY_INFO) != (b->severity == RNA_SEVERITY_INFO))
		return a->severity == RNA_SEVERITY_INFO ? 1 : -1;
	if (a->impact != b->impact)
		return a->impact < b->impact ? -1 : 1;
	if (a->severity != b->severity)
		return a->severity > b->severity ? -1 : 1;
	ret = rna_compare_names(a->device ? a->device : "", b->device ? b->device : "");
	if (ret == 0 && a->port != b->port)
		ret = a->port < b->port ? -1 : 1;
	return ret ? ret : strcmp(a->rule, b->rule);
}

size_t rna_finding_count(const struct rna_finding *findings, size_t count,
			 enum rna_severity severity)
{
	return RNA_COUNT(i, count, findings[i].severity == severity && !findings[i].silenced);
}

/* -- What follows from a finding --------------------------------------------------------------- */

enum rna_health_state rna_health_state_of(const struct rna_finding *findings, size_t count,
					  bool blind)
{
	if (rna_finding_count(findings, count, RNA_SEVERITY_CRITICAL) > 0)
		return RNA_HEALTH_CRITICAL;
	if (blind)
		return RNA_HEALTH_UNKNOWN;
	return rna_finding_count(findings, count, RNA_SEVERITY_WARNING) > 0 ? RNA_HEALTH_WARNING
									    : RNA_HEALTH_OK;
}

const struct rna_finding *rna_finding_headline(const struct rna_finding *findings, size_t count,
					       enum rna_health_state state)
{
	enum rna_severity severity =
		state == RNA_HEALTH_CRITICAL ? RNA_SEVERITY_CRITICAL : RNA_SEVERITY_WARNING;

	if (state != RNA_HEALTH_CRITICAL && state != RNA_HEALTH_WARNING)
		return NULL;
	return RNA_FIND(i, findings, count,
			findings[i].severity == severity && !findings[i].silenced);
}

static bool lies_in_node(const struct rna_finding *finding)
{
	return finding->cause != RNA_CAUSE_FABRIC && finding->cause != RNA_CAUSE_JOB &&
	       finding->impact != RNA_IMPACT_FABRIC && finding->impact != RNA_IMPACT_AGENT;
}

bool rna_finding_takes_node(const struct rna_finding *finding, enum rna_taint_when when)
{
	enum rna_severity least =
		when == RNA_TAINT_WHEN_WARNING ? RNA_SEVERITY_WARNING : RNA_SEVERITY_CRITICAL;

	if (finding->silenced || finding->severity < least || !lies_in_node(finding))
		return false;
	return when != RNA_TAINT_WHEN_NODE_LOST || finding->impact == RNA_IMPACT_NODE_LOST;
}

static const struct {
	int level;
	const char *word; /* of the level */
	const char *alert;
} reports[RNA_SEVERITY_COUNT] = {
	[RNA_SEVERITY_INFO] = {LOG_INFO, "info", "none"},
	[RNA_SEVERITY_WARNING] = {LOG_WARNING, "warning", "ticket"},
	[RNA_SEVERITY_CRITICAL] = {LOG_ERR, "err", "page"},
};

int rna_severity_level(enum rna_severity severity)
{
	return reports[severity].level;
}

/* A row for each severity, by where the cause lies; the functions above decide. */
void rna_consequences_describe(struct rna_strbuf *out)
{
	rna_strbuf_puts(out, "Finding\tPage, health label, state and exit code of `check`\t"
			     "Journal\tCondition\tDrain (Slurm, NHC, node-problem-detector)\t"
			     "Taint, by `kubernetes.taint_when`\tAlert\n");
	for (int severity = RNA_SEVERITY_COUNT - 1; severity >= 0; severity--)
		for (int fabric = 0; fabric <= 1; fabric++) {
			struct rna_finding finding = {
				.severity = (enum rna_severity)severity,
				.impact = RNA_IMPACT_RAIL_LOST,
				.cause = fabric ? RNA_CAUSE_FABRIC : RNA_CAUSE_CARD,
			};
			enum rna_health_state state = rna_health_state_of(&finding, 1, false);
			bool critical = rna_finding_takes_node(&finding, RNA_TAINT_WHEN_CRITICAL);
			bool warning = rna_finding_takes_node(&finding, RNA_TAINT_WHEN_WARNING);

			rna_strbuf_printf(out, "%s, its cause %s\t%s, %d\t%s\t%s\t%s\t%s\t%s\n",
					  rna_severity_name(finding.severity),
					  fabric ? "elsewhere" : "in the node",
					  rna_health_state_name(state), state,
					  reports[severity].word,
					  severity > RNA_SEVERITY_INFO ? "True" : "-",
					  critical ? "yes" : "-",
					  critical  ? "`critical`, `warning`"
					  : warning ? "`warning`"
						    : "-",
					  reports[severity].alert);
		}
}
