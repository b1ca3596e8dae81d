// SPDX-License-Identifier: Apache-2.0
/*
 * What the command check writes: the form of monitoring plugins (monitoring-plugins.org, guidelines
 * 2). Of it most systems show the first line only, which therefore says what is worst.
 */
#include "rna/exporter.h"

#include "view/text.h"

static const char *const words[RNA_SEVERITY_COUNT] = {
	[RNA_SEVERITY_INFO] = "OK",
	[RNA_SEVERITY_WARNING] = "WARNING",
	[RNA_SEVERITY_CRITICAL] = "CRITICAL",
};

/* In the first line "|" would begin performance data. */
static const char *escape_plugin(char c)
{
	return c == '|' ? "/" : rna_escape_control(c);
}

static void write_summary(const struct rna_finding *findings, size_t count, struct rna_strbuf *out)
{
	size_t critical = rna_finding_count(findings, count, RNA_SEVERITY_CRITICAL);
	size_t warning = rna_finding_count(findings, count, RNA_SEVERITY_WARNING);
	enum rna_severity worst = critical  ? RNA_SEVERITY_CRITICAL
				  : warning ? RNA_SEVERITY_WARNING
					    : RNA_SEVERITY_INFO;

	rna_strbuf_printf(out, "RDMA %s - %zu critical, %zu warning", words[worst], critical,
			  warning);
	for (size_t i = 0; i < count && worst > RNA_SEVERITY_INFO; i++)
		if (findings[i].severity == worst && !findings[i].silenced) {
			rna_strbuf_puts(out, ": ");
			rna_text_add(out, findings[i].text, escape_plugin);
			break;
		}
	rna_strbuf_add_char(out, '\n');
}

static void write_finding(const struct rna_finding *finding, bool once, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, "%-8s  ",
			  finding->silenced ? "silenced" : rna_severity_name(finding->severity));
	rna_text_add(out, finding->text, rna_escape_control);
	if (finding->since.realtime && !once) {
		rna_strbuf_puts(out, " (since ");
		rna_text_add_time(out, finding->since.realtime);
		rna_strbuf_puts(out, ")");
	}
	rna_strbuf_printf(out, "\n%-8s  %s\n", "", finding->remedy);
}

void rna_write_check(const struct rna_finding *findings, size_t count, bool once,
		     struct rna_strbuf *out)
{
	write_summary(findings, count, out);
	for (size_t i = 0; i < count; i++)
		write_finding(&findings[i], once, out);
}
