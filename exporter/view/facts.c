// SPDX-License-Identifier: Apache-2.0
/* Facts that several outputs compute from what is known about a device, a port or a GID. */
#include "facts.h"

bool rna_gid_is_nccl(const struct rna_subject *gid)
{
	return gid->nccl_index.state == RNA_VALUE_OK && gid->nccl_index.number == gid->gid->index;
}

bool rna_port_is_unwired(const struct rna_subject *port)
{
	return port->account && port->account->expectation.reason == RNA_EXPECTATION_UNWIRED;
}

/*
 * What drivers say of the link of a port that is down is what it was before, or made up: many
 * answer 1X SDR or 4X QDR then.
 */
static bool has_link(const struct rna_subject *port)
{
	return port->link && !rna_subject_in_state(port, RNA_PORT_DOWN);
}

struct rna_value rna_port_rate(const struct rna_subject *port)
{
	return has_link(port) ? port->link->rate : (struct rna_value){0};
}

struct rna_value rna_port_width(const struct rna_subject *port)
{
	return has_link(port) ? port->link->width : (struct rna_value){0};
}

struct rna_value rna_port_speed_code(const struct rna_subject *port)
{
	return has_link(port) ? port->link->speed_code : (struct rna_value){0};
}

struct rna_value rna_transfers_per_second(struct rna_value speed)
{
	speed.number *= 1000 * 1000;
	return speed;
}

struct rna_value rna_port_up(const struct rna_subject *port)
{
	if (!rna_subject_state_is_known(port))
		return (struct rna_value){0};
	return rna_value_ok(rna_subject_is_active(port));
}

const char *rna_why_no_port(const struct rna_subjects *subjects)
{
	const struct rna_view *view = subjects->scopes[RNA_SCOPE_NODE].items[0].view;
	const struct rna_presence *presence = rna_snapshot_presence(view->snapshot);

	if (subjects->scopes[RNA_SCOPE_PORT].count > 0)
		return NULL;
	if (!presence)
		return "It is not known which RDMA devices there are: they could not be listed.";
	if (!presence->stack)
		return "No RDMA stack: the kernel has no /sys/class/infiniband (is ib_core "
		       "loaded?).";
	if (presence->device_count == 0 && presence->excluded_count > 0)
		return "No RDMA device is watched: devices.include and devices.exclude leave all "
		       "of them out.";
	if (presence->device_count == 0)
		return "No RDMA device: the RDMA stack is there, but no driver has registered one.";
	return "No port: the RDMA devices of this node have none.";
}

const char *rna_tone_colour(enum rna_tone tone)
{
	static const char *const colours[] = {
		[RNA_TONE_PLAIN] = "",
		[RNA_TONE_GOOD] = "\033[32m",
		[RNA_TONE_WARNING] = "\033[33m",
		[RNA_TONE_BAD] = "\033[31m",
	};

	return colours[tone];
}

/* It is down, as far as is known by right. Not judged at all: then a person should. */
static bool is_unused(const struct rna_subject *port)
{
	return rna_subject_in_state(port, RNA_PORT_DOWN) && port->account &&
	       rna_subject_expected(port) != RNA_EXPECTED_UP;
}

enum rna_tone rna_tone_findings(const struct rna_view *view, const char *device, unsigned port)
{
	enum rna_severity worst = RNA_SEVERITY_INFO;

	RNA_EACH (finding, view->findings, view->finding_count)
		if (!finding->silenced && finding->severity > worst &&
		    (finding->port == 0 || finding->port == port) &&
		    rna_finding_is_about(finding, device))
			worst = finding->severity;
	return worst == RNA_SEVERITY_CRITICAL  ? RNA_TONE_BAD
	       : worst == RNA_SEVERITY_WARNING ? RNA_TONE_WARNING
					       : RNA_TONE_PLAIN;
}

static enum rna_tone tone_by_state(const struct rna_subject *port)
{
	struct rna_value up = rna_port_up(port);

	if (!rna_value_is_known(up) || is_unused(port))
		return RNA_TONE_PLAIN;
	if (up.number)
		return RNA_TONE_GOOD;
	return rna_subject_in_state(port, RNA_PORT_DOWN) ? RNA_TONE_BAD : RNA_TONE_WARNING;
}

enum rna_tone rna_tone_state(const struct rna_subject *port)
{
	enum rna_tone state = tone_by_state(port), found = RNA_TONE_PLAIN;

	if (port->view)
		found = rna_tone_findings(port->view, port->device->device->name, port->port);
	return found > state ? found : state;
}

enum rna_tone rna_tone_physical_state(const struct rna_subject *port)
{
	if (!port->state || !rna_value_is_known(port->state->physical_state) || is_unused(port))
		return RNA_TONE_PLAIN;
	switch (port->state->physical_state.number) {
	case RNA_PHYSICAL_LINK_UP:
		return RNA_TONE_GOOD;
	case RNA_PHYSICAL_SLEEP:
	case RNA_PHYSICAL_DISABLED:
		return RNA_TONE_BAD;
	default:
		return RNA_TONE_WARNING;
	}
}

enum rna_tone rna_tone_operstate(const struct rna_subject *port)
{
	if (!port->netdev || is_unused(port))
		return RNA_TONE_PLAIN;
	switch (port->netdev->operstate) {
	case RNA_OPER_UP:
		return RNA_TONE_GOOD;
	case RNA_OPER_UNKNOWN: /* drivers that never say */
		return RNA_TONE_PLAIN;
	case RNA_OPER_DORMANT:
	case RNA_OPER_TESTING:
		return RNA_TONE_WARNING;
	default:
		return RNA_TONE_BAD;
	}
}
