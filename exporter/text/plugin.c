// SPDX-License-Identifier: Apache-2.0
/*
 * What the command check writes, in the form that each system reads.
 *
 * Monitoring plugins (monitoring-plugins.org, guidelines 2): most systems show the first line only,
 * which therefore has the worst finding, and behind "|" performance data. The other forms are one
 * line. Texts of findings contain names that other machines choose, such as node descriptions, and
 * schedulers pass the line to a shell or to the command line of another program: what could end a
 * quotation there is replaced.
 */
#include "rna/check.h"

#include "view/text.h"

#include "text_table.h"

/*
 * SLURM_MAX: Slurm shows a reason in one column of sinfo -R. NPD_MAX: node-problem-detector cuts
 * the output after max_output_length bytes, by default 80 (defaultMaxOutputLength in its
 * pkg/custompluginmonitor/types/config.go).
 */
enum { SLURM_MAX = 240, NPD_MAX = 80, HEADLINE_MAX = 512 };

const char *const rna_check_forms[RNA_CHECK_FORM_COUNT + 1] = {
	[RNA_CHECK_NAGIOS] = "nagios", [RNA_CHECK_SLURM] = "slurm", [RNA_CHECK_NHC] = "nhc",
	[RNA_CHECK_NPD] = "npd",       [RNA_CHECK_JSON] = "json",
};

static const char *const words[RNA_HEALTH_STATE_COUNT] = {
	[RNA_HEALTH_OK] = "OK",
	[RNA_HEALTH_WARNING] = "WARNING",
	[RNA_HEALTH_CRITICAL] = "CRITICAL",
	[RNA_HEALTH_UNKNOWN] = "UNKNOWN",
};

/* -- State ------------------------------------------------------------------------------------- */

static size_t count_of(const struct rna_check *check, enum rna_severity severity)
{
	return rna_finding_count(check->findings, check->count, severity);
}

/* Without a port as well: a check that saw nothing must not say that all is well. */
static bool is_blind(const struct rna_inventory *inventory)
{
	return inventory->known && inventory->unread >= inventory->ports;
}

enum rna_health_state rna_check_state(const struct rna_check *check)
{
	if (check->failure)
		return RNA_HEALTH_UNKNOWN;
	return rna_health_state_of(check->findings, check->count, is_blind(&check->inventory));
}

static bool takes_node(const struct rna_check *check)
{
	return RNA_ANY(i, check->count,
		       rna_finding_takes_node(&check->findings[i], RNA_TAINT_WHEN_CRITICAL));
}

int rna_check_exit_code(const struct rna_check *check, enum rna_check_form form)
{
	static const int unknown[RNA_CHECK_FORM_COUNT] = {[RNA_CHECK_NHC] = 3, [RNA_CHECK_NPD] = 2};
	enum rna_health_state state = rna_check_state(check);

	if (form == RNA_CHECK_NAGIOS || form == RNA_CHECK_JSON)
		return (int)state;
	if (takes_node(check))
		return 1;
	return state == RNA_HEALTH_UNKNOWN ? unknown[form] : 0;
}

/* -- Monitoring plugins ------------------------------------------------------------------------ */

/* In the first line "|" would begin performance data. */
static const char *escape_plugin(char c)
{
	return c == '|' ? "/" : NULL;
}

static const struct rna_finding *headline(const struct rna_check *check)
{
	return rna_finding_headline(check->findings, check->count, rna_check_state(check));
}

/* Why nothing is known; NULL: something is. */
static const char *reason_of(const struct rna_check *check)
{
	if (check->failure)
		return check->failure;
	return check->inventory.ports > 0 ? "the state of no port can be read"
					  : "no RDMA port is there to be watched";
}

/*
 * 'label'=value[UOM];warn;crit;min;max, where a range "8:" alerts below 8 (guidelines 2.6 and 2.5).
 * The ranges are those of the findings: a port that is expected to be up and is not, and a device
 * that is missing.
 */
static void write_performance(const struct rna_check *check, struct rna_strbuf *out)
{
	const struct rna_inventory *inventory = &check->inventory;

	if (!inventory->known)
		return;
	rna_strbuf_printf(out, " | 'devices'=%zu;;%zu:;0", inventory->devices,
			  inventory->devices + inventory->missing);
	rna_strbuf_printf(out, " 'ports_up'=%zu;;", inventory->up);
	if (inventory->expected > 0)
		rna_strbuf_printf(out, "%zu:", inventory->expected);
	rna_strbuf_printf(out, ";0;%zu", inventory->ports);
	rna_strbuf_printf(out, " 'critical'=%zu;;0;0", count_of(check, RNA_SEVERITY_CRITICAL));
	rna_strbuf_printf(out, " 'warning'=%zu;0;;0", count_of(check, RNA_SEVERITY_WARNING));
	rna_strbuf_printf(out, " 'info'=%zu;;;0", count_of(check, RNA_SEVERITY_INFO));
	if (check->time && check->now && !check->once)
		rna_strbuf_printf(out, " 'age'=%.0fs;;;0",
				  rna_seconds(rna_usec_since(check->time, check->now)));
}

static void write_summary(const struct rna_check *check, struct rna_strbuf *out)
{
	enum rna_health_state state = rna_check_state(check);
	const struct rna_finding *worst = headline(check);

	rna_strbuf_printf(out, "RDMA %s - ", words[state]);
	if (state == RNA_HEALTH_UNKNOWN)
		rna_text_add(out, reason_of(check), escape_plugin);
	else
		rna_strbuf_printf(out, "%zu critical, %zu warning",
				  count_of(check, RNA_SEVERITY_CRITICAL),
				  count_of(check, RNA_SEVERITY_WARNING));
	if (worst) {
		rna_strbuf_puts(out, ": ");
		rna_text_add(out, worst->text, escape_plugin);
	}
	write_performance(check, out);
}

static void write_line_of(const char *word, const struct rna_strbuf *text, size_t width,
			  struct rna_strbuf *out)
{
	enum { INDENT = 10 }; /* behind the longest severity */

	out->failed |= text->failed;
	rna_strbuf_printf(out, "%-8s  ", word);
	rna_text_wrap(text->data ? text->data : "", INDENT, INDENT, width, out);
}

static void write_finding(const struct rna_check *check, const struct rna_finding *finding,
			  size_t width, struct rna_strbuf *out)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	rna_strbuf_puts(&text, finding->text);
	if (finding->since.realtime && !check->once) {
		rna_strbuf_puts(&text, " (since ");
		rna_text_add_time(&text, finding->since.realtime);
		rna_strbuf_puts(&text, ")");
	}
	write_line_of(finding->silenced ? "silenced" : rna_severity_name(finding->severity), &text,
		      width, out);
	text.len = 0;
	rna_strbuf_puts(&text, finding->remedy);
	write_line_of("", &text, width, out);
	if (!finding->runbook)
		return;
	text.len = 0;
	rna_strbuf_printf(&text, "Runbook: %s%s%s", check->url ? check->url : "rdma-node-agent",
			  check->url ? "/runbooks/" : " runbook ", finding->runbook);
	write_line_of("", &text, width, out);
}

static void write_nagios(const struct rna_check *check, size_t width, struct rna_strbuf *out)
{
	RNA_STRBUF struct rna_strbuf summary = RNA_STRBUF_INIT;

	write_summary(check, &summary);
	out->failed |= summary.failed;
	rna_text_wrap(summary.data ? summary.data : "", 0, 0, width, out);
	for (size_t i = 0; i < check->count; i++)
		write_finding(check, &check->findings[i], width, out);
}

/* -- Schedulers -------------------------------------------------------------------------------- */

/*
 * NHC passes the line in single quotes to eval (die() in its driver nhc, 1.4.3); scontrol removes
 * double quotes around a reason. A backslash or a backquote is harmless in both, and in neither
 * needed.
 */
static const char *escape_quotes(char c)
{
	switch (c) {
	case '\'':
	case '"':
	case '`':
	case '\\':
		return "_";
	case '\n':
	case '\t':
		return " ";
	default:
		return NULL;
	}
}

/* What follows the state: the worst finding, or the numbers of ports. */
static void write_facts(const struct rna_check *check, rna_escape *escape, struct rna_strbuf *out)
{
	const struct rna_finding *worst = headline(check);

	if (rna_check_state(check) == RNA_HEALTH_UNKNOWN)
		rna_text_add(out, reason_of(check), escape);
	else if (worst)
		rna_text_add(out, worst->text, escape);
	else if (check->inventory.known)
		rna_strbuf_printf(out, "%zu of %zu ports up", check->inventory.up,
				  check->inventory.ports);
	else
		rna_strbuf_puts(out, "no finding");
}

/* Cuts what begins at start to max bytes, between characters. */
static void shorten(struct rna_strbuf *out, size_t start, size_t max)
{
	static const char dots[] = "...";

	if (!rna_strbuf_ok(out) || out->len <= start + max)
		return;
	out->len = start + rna_characters_cut(out->data + start, max - (sizeof(dots) - 1));
	rna_strbuf_puts(out, dots);
}

void rna_check_write_headline(const struct rna_check *check, struct rna_strbuf *out)
{
	size_t start = out->len;

	write_facts(check, NULL, out);
	shorten(out, start, HEADLINE_MAX);
}

/* " (and 2 more)", with room for it within max bytes from start. */
static void write_line(const struct rna_check *check, const char *prefix, size_t max,
		       struct rna_strbuf *out)
{
	enum rna_health_state state = rna_check_state(check);
	size_t start = out->len, others = 0;
	char more[48] = "";

	if (state == RNA_HEALTH_CRITICAL)
		others = count_of(check, RNA_SEVERITY_CRITICAL) - 1;
	else if (state == RNA_HEALTH_WARNING)
		others = count_of(check, RNA_SEVERITY_WARNING) - 1;
	if (others > 0)
		(void)snprintf(more, sizeof(more), " (and %zu more)", others);
	rna_strbuf_printf(out, "%s%s: ", prefix, words[state]);
	write_facts(check, escape_quotes, out);
	shorten(out, start, max - strlen(more));
	rna_strbuf_puts(out, more);
	rna_strbuf_add_char(out, '\n');
}

void rna_write_check(const struct rna_check *check, enum rna_check_form form, size_t width,
		     struct rna_strbuf *out)
{
	if (form == RNA_CHECK_SLURM)
		write_line(check, RNA_CHECK_PREFIX, SLURM_MAX, out);
	else if (form == RNA_CHECK_NHC)
		write_line(check, "", SLURM_MAX, out);
	else if (form == RNA_CHECK_NPD)
		write_line(check, "", NPD_MAX, out);
	else
		write_nagios(check, width, out);
}
