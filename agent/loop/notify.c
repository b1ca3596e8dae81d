// SPDX-License-Identifier: Apache-2.0
#include "notify.h"

#include <stdio.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "rna/base/duration.h"
#include "rna/base/log.h"

/* -- The service manager ----------------------------------------------------------------------- */

void rna_notify_ready(void)
{
	(void)sd_notify(false, "READY=1");
}

void rna_notify_reloading(rna_usec now)
{
	(void)sd_notifyf(false, "RELOADING=1\nMONOTONIC_USEC=%llu", (unsigned long long)now);
}

void rna_notify_stopping(void)
{
	(void)sd_notify(false, "STOPPING=1");
}

static void write_status(const struct rna_view *view, char *out, size_t size)
{
	const struct rna_subject_list *ports = rna_view_ports(view);
	size_t up = 0, critical, warning;

	for (size_t i = 0; i < ports->count; i++)
		up += rna_subject_is_active(&ports->items[i]);
	critical = rna_finding_count(view->findings, view->finding_count, RNA_SEVERITY_CRITICAL);
	warning = rna_finding_count(view->findings, view->finding_count, RNA_SEVERITY_WARNING);
	(void)snprintf(out, size, "%zu of %zu ports up, %zu critical, %zu warning%s%s", up,
		       ports->count, critical, warning, view->agent.quiesced ? "; quiesced, " : "",
		       view->agent.quiesced ? view->agent.quiesced : "");
}

void rna_notify_status(struct rna_notify *notify, const struct rna_view *view)
{
	char status[sizeof(notify->status)];

	write_status(view, status, sizeof(status));
	if (strcmp(status, notify->status) == 0)
		return;
	memcpy(notify->status, status, sizeof(status));
	(void)sd_notifyf(false, "STATUS=%s", status);
}

/* -- The journal ------------------------------------------------------------------------------- */

enum { PORT_MAX = 12 }; /* bytes of a port number */

static void write_resolved(const struct rna_finding *finding, rna_usec lasted,
			   struct rna_strbuf *out)
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

void rna_notify_finding(const struct rna_rule *rule, const struct rna_finding *finding, bool over,
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
	int level = over && finding->severity > RNA_SEVERITY_INFO
			    ? LOG_NOTICE
			    : rna_severity_level(finding->severity);

	(void)snprintf(port, sizeof(port), "%u", finding->port);
	if (over)
		write_resolved(finding, lasted, &text);
	else
		rna_strbuf_puts(&text, finding->text);
	if (rna_strbuf_ok(&text))
		rna_log(level, fields, "%s", text.data);
}
