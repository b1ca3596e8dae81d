// SPDX-License-Identifier: Apache-2.0
#include "notify.h"

#include <stdio.h>
#include <string.h>
#include <systemd/sd-daemon.h>

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

static void count_ports(const struct rna_snapshot *snapshot, size_t *ret_up, size_t *ret_all)
{
	*ret_up = *ret_all = 0;
	for (size_t i = 0; i < snapshot->device_count; i++) {
		const struct rna_device *device = snapshot->devices[i].device;

		*ret_all += device->port_count;
		for (size_t p = 0; p < device->port_count; p++)
			*ret_up += rna_port_is_up(
				rna_port_state(&snapshot->devices[i], device->ports[p]));
	}
}

static void write_status(const struct rna_view *view, char *out, size_t size)
{
	size_t up, all, critical, warning;

	count_ports(view->snapshot, &up, &all);
	critical = rna_finding_count(view->findings, view->finding_count, RNA_SEVERITY_CRITICAL);
	warning = rna_finding_count(view->findings, view->finding_count, RNA_SEVERITY_WARNING);
	(void)snprintf(out, size, "%zu of %zu ports up, %zu critical, %zu warning%s%s", up, all,
		       critical, warning, view->agent.quiesced ? "; quiesced, " : "",
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
