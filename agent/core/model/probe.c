// SPDX-License-Identifier: Apache-2.0
#include "rna/model/probe.h"

#include <stddef.h>
#include <string.h>

#include "rna/base/cleanup.h"

const uint64_t rna_probe_rtt_bounds[RNA_PROBE_RTT_BOUNDS] = {
	1000,     2000,      5000,      10000,     20000,      50000,    100000,
	200000,   500000,    1000000,   2000000,   5000000,    10000000, 20000000,
	50000000, 100000000, 200000000, 500000000, 1000000000,
};

void rna_probe_rtt_add(struct rna_probe_rtt *rtt, uint64_t nanoseconds)
{
	size_t i = 0;

	while (i < RNA_PROBE_RTT_BOUNDS && nanoseconds > rna_probe_rtt_bounds[i])
		i++;
	rtt->counts[i]++;
	rtt->sum += nanoseconds;
}

void rna_probe_rtt_merge(struct rna_probe_rtt *rtt, const struct rna_probe_rtt *other)
{
	for (size_t i = 0; i <= RNA_PROBE_RTT_BOUNDS; i++)
		rtt->counts[i] += other->counts[i];
	rtt->sum += other->sum;
}

static const struct {
	const char *name;
	size_t offset;
} counts_of[] = {
	{"sent", offsetof(struct rna_probe_counts, sent)},
	{"answered", offsetof(struct rna_probe_counts, answered)},
	{"lost", offsetof(struct rna_probe_counts, lost)},
	{"void", offsetof(struct rna_probe_counts, voided)},
	{"missed", offsetof(struct rna_probe_counts, missed)},
	{"large_sent", offsetof(struct rna_probe_counts, large_sent)},
	{"large_answered", offsetof(struct rna_probe_counts, large_answered)},
	{"large_lost", offsetof(struct rna_probe_counts, large_lost)},
	{"ecn_marked", offsetof(struct rna_probe_counts, ecn_marked)},
};
_Static_assert(RNA_ARRAY_SIZE(counts_of) == RNA_PROBE_COUNTS, "one row for each");

const char *rna_probe_count_name(size_t i)
{
	return counts_of[i].name;
}

uint64_t *rna_probe_count_of(struct rna_probe_counts *counts, size_t i)
{
	return (uint64_t *)((char *)counts + counts_of[i].offset);
}

void rna_probe_counts_merge(struct rna_probe_counts *counts, const struct rna_probe_counts *other)
{
	struct rna_probe_counts copy = *other;

	for (size_t i = 0; i < RNA_PROBE_COUNTS; i++)
		*rna_probe_count_of(counts, i) += *rna_probe_count_of(&copy, i);
}

const struct rna_probe_port *rna_probes_find_port(const struct rna_probes *probes,
						  const char *device, unsigned port)
{
	return RNA_FIND(i, probes->ports, probes ? probes->port_count : 0,
			probes->ports[i].port == port &&
				strcmp(probes->ports[i].device, device) == 0);
}

size_t rna_probes_without_leaf(const struct rna_probes *probes)
{
	return RNA_COUNT(i, probes ? probes->port_count : 0,
			 probes->ports[i].use != RNA_PROBE_OFF && probes->ports[i].leaf[0] == '\0');
}

/* -- The whole --------------------------------------------------------------------------------- */

/* The prober reports each second; a view is as old as the last poll. */
#define HEARD_MAX (10 * RNA_USEC_PER_SEC)

const char *rna_probes_why_stopped(const struct rna_probes *probes, rna_usec now)
{
	if (!probes)
		return "probe.enabled is false";
	if (probes->stopped)
		return probes->stopped;
	if (!probes->runs || rna_usec_since(probes->heard, now) >= HEARD_MAX)
		return "its prober does not report";
	return NULL;
}

#define LATE (10 * RNA_USEC_PER_SEC)

bool rna_probes_are_late(const struct rna_probes *probes, rna_usec now)
{
	return probes && probes->late > 0 && rna_usec_since(probes->late, now) < LATE;
}

bool rna_probes_are_missed(const struct rna_probes *probes)
{
	return probes && probes->minute.missed > probes->minute.sent;
}

static bool has_sign(const struct rna_probes *probes)
{
	return RNA_ANY(i, probes->pair_count, probes->pairs[i].signs != 0);
}

enum rna_probes_result rna_probes_result(const struct rna_probes *probes, rna_usec now)
{
	size_t well = 0, bad = 0, unknown = 0;

	if (rna_probes_why_stopped(probes, now))
		return RNA_PROBES_UNKNOWN;
	RNA_EACH (port, probes->ports, probes->port_count) {
		bool open = port->use == RNA_PROBE_OPEN;

		if (open && port->verdict == RNA_PROBE_UNREACHABLE)
			return RNA_PROBES_CRITICAL;
		well += open && port->verdict == RNA_PROBE_WELL;
		unknown += port->use == RNA_PROBE_OPENING ||
			   (open && port->verdict == RNA_PROBE_UNKNOWN);
		bad += port->use == RNA_PROBE_FAILED || port->use == RNA_PROBE_PAUSED ||
		       (open && port->verdict == RNA_PROBE_LOSSY);
	}
	if (bad > 0 || has_sign(probes))
		return RNA_PROBES_WARNING;
	return well > 0 && unknown == 0 ? RNA_PROBES_OK : RNA_PROBES_UNKNOWN;
}

/* -- Signs and objects ------------------------------------------------------------------------- */

const char *rna_probe_sign_name(unsigned sign)
{
	static const char *const names[RNA_PROBE_SIGNS] = {"silent", "loss", "mtu_hole",
							   "slow",   "dscp", "detour"};

	for (unsigned i = 0; i < RNA_PROBE_SIGNS; i++)
		if (sign == 1u << i)
			return names[i];
	return "unknown";
}

/* Each open port has a context of its own. */
struct rna_probe_objects rna_probes_objects(const struct rna_probes *probes, const char *device)
{
	struct rna_probe_objects objects = {0};

	for (size_t i = 0; probes && i < probes->port_count; i++) {
		const struct rna_probe_port *port = &probes->ports[i];

		if (port->use != RNA_PROBE_OPEN || strcmp(port->device, device) != 0)
			continue;
		objects.contexts++;
		objects.qps += port->address.qpn_count;
	}
	return objects;
}
