// SPDX-License-Identifier: Apache-2.0
#include "announce.h"

#include "rna/base/duration.h"
#include "rna/base/log.h"

enum { PORT_MAX = 12 }; /* bytes of a port number */

static const int levels[RNA_SEVERITY_COUNT] = {
	[RNA_SEVERITY_INFO] = LOG_INFO,
	[RNA_SEVERITY_WARNING] = LOG_WARNING,
	[RNA_SEVERITY_CRITICAL] = LOG_ERR,
};

static void write_over(const struct rna_finding *finding, rna_usec lasted, struct rna_strbuf *out)
{
	rna_usec seconds = lasted / RNA_USEC_PER_SEC * RNA_USEC_PER_SEC;

	rna_strbuf_puts(out, "resolved");
	if (seconds > 0) {
		rna_strbuf_puts(out, " after ");
		rna_duration_write(seconds, out);
	}
	rna_strbuf_puts(out, ": ");
	if (finding->device)
		rna_strbuf_puts(out, finding->device);
	if (finding->port > 0)
		rna_strbuf_printf(out, "/%u", finding->port);
	rna_strbuf_printf(out, "%s%s", finding->device ? " " : "", finding->rule);
}

void rna_announce(const struct rna_rule *rule, const struct rna_finding *finding, bool over,
		  rna_usec lasted)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	char port[PORT_MAX];
	const struct rna_log_field fields[] = {
		{"RULE", rule->name},
		{"SEVERITY", rna_severity_name(finding->severity)},
		{"DEVICE", finding->device},
		{"PORT", finding->port ? port : NULL},
		{"MESSAGE_ID", over ? rna_rule_resolved_id : rule->message_id},
		{NULL, NULL},
	};
	int level = over && finding->severity > RNA_SEVERITY_INFO ? LOG_NOTICE
								  : levels[finding->severity];

	(void)snprintf(port, sizeof(port), "%u", finding->port);
	if (over)
		write_over(finding, lasted, &text);
	else
		rna_strbuf_puts(&text, finding->text);
	if (rna_strbuf_ok(&text))
		rna_log(level, fields, "%s", text.data);
}
