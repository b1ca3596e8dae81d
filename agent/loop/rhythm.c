// SPDX-License-Identifier: Apache-2.0
#include "rhythm.h"

#include "rna/base/parse.h"
#include "rna/model/netdev.h"

/* -- Covered devices --------------------------------------------------------------------------- */

static bool is_port_covered(struct rna_netdev_search *search, const char *device, unsigned number)
{
	const struct rna_port_netdev *port = rna_netdev_search_port(search, device, number);
	const struct rna_netdev *netdev;

	if (!port || port->source != RNA_NETDEV_BY_IPOIB)
		return port;
	netdev = rna_netdev_search_name(search, port->netdev);
	return netdev && netdev->admin_up;
}

static bool has_covered_ports(struct rna_netdev_search *search, const struct rna_device *device)
{
	for (size_t i = 0; i < device->port_count; i++)
		if (!is_port_covered(search, device->name, device->ports[i]))
			return false;
	return device->port_count > 0;
}

/* Virtual functions are listed near their physical function, so the search begins there. */
static bool has_physical_function(const struct rna_schedule *schedule,
				  const struct rna_device *device, const struct rna_target **near)
{
	const struct rna_target *start = *near ? *near : schedule->devices, *t = start;

	if (device->function != RNA_FUNCTION_VF || !device->physical_function)
		return false;
	do {
		if (rna_same_text(t->device->pci_address, device->physical_function)) {
			*near = t;
			return true;
		}
		t = t->next ? t->next : schedule->devices;
	} while (t != start);
	return false;
}

void rna_rhythm_look(struct rna_schedule *schedule)
{
	struct rna_netdev_search search = {
		.netdevs = (const void *)rna_schedule_listing(schedule, RNA_LISTS_INTERFACES)};
	const struct rna_target *near = NULL;

	for (struct rna_target *t = schedule->devices; t; t = t->next) {
		bool covered = has_covered_ports(&search, t->device) ||
			       has_physical_function(schedule, t->device, &near);

		schedule->coverage += covered != t->covered;
		t->covered = covered;
	}
}

/* -- Periods ----------------------------------------------------------------------------------- */

static bool are_watched(const struct rna_schedule *schedule, unsigned sources)
{
	for (unsigned source = 0; source < RNA_SOURCE_COUNT; source++)
		if ((sources & 1U << source) && !schedule->account.sources[source].watched)
			return false;
	return true;
}

/* No event comes from another network namespace. */
static bool reads_elsewhere(const struct rna_schedule *schedule, const struct rna_target *target,
			    const struct rna_collector *collector)
{
	if (target->device)
		return target->device->process;
	return schedule->settings->follow_enabled &&
	       (collector->lists == RNA_LISTS_DEVICES || collector->lists == RNA_LISTS_INTERFACES);
}

bool rna_rhythm_is_told(const struct rna_schedule *schedule, const struct rna_target *target,
			enum rna_collector_id id)
{
	const struct rna_collector *collector = &rna_collectors[id];

	if (collector->told <= schedule->settings->poll[id] || !target->slots[id]->success ||
	    reads_elsewhere(schedule, target, collector))
		return false;
	if (collector->told_of_ports && target->held)
		return true;
	return are_watched(schedule, collector->told_by) &&
	       (!collector->told_of_ports || target->covered);
}

rna_usec rna_rhythm_period(const struct rna_schedule *schedule, const struct rna_target *target,
			   enum rna_collector_id id)
{
	return rna_rhythm_is_told(schedule, target, id) ? rna_collectors[id].told
							: schedule->settings->poll[id];
}

/* When a run has to prove again that events tell of each change; 0: they do not. */
static rna_usec proof_due(const struct rna_schedule *schedule, const struct rna_target *target,
			  enum rna_collector_id id)
{
	if (!rna_rhythm_is_told(schedule, target, id))
		return 0;
	return target->slots[id]->part->started.monotonic + rna_collectors[id].told;
}

unsigned rna_rhythm_fresh(const struct rna_schedule *schedule, const struct rna_target *target,
			  rna_usec now)
{
	unsigned fresh = 0;

	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++)
		if ((target->collectors & rna_collector_bit(id)) &&
		    proof_due(schedule, target, id) > now + schedule->settings->poll[id] / 2)
			fresh |= rna_collector_bit(id);
	return fresh;
}

/* -- Due times --------------------------------------------------------------------------------- */

/* Missed periods are skipped, and the phase is kept. */
static rna_usec next_in_phase(rna_usec due, rna_usec period, rna_usec now)
{
	return due + (rna_usec_since(due, now) / period + 1) * period;
}

/*
 * A scrape that is expected about a period after the last run makes the next one due just before
 * it. A run may wait for half a period more, so that of a scraper with 15 s each scrape finds
 * counters of the last second, and they are read 4 times a minute instead of 6, and with states in
 * one go. early: how much less than a period may pass.
 */
static rna_usec before_scrape(const struct rna_schedule *schedule, rna_usec last, rna_usec period,
			      rna_usec early, rna_usec due)
{
	rna_usec earliest = last + period - early + RNA_SCRAPE_LEAD;
	rna_usec latest = last + RNA_POLL_LONGEST(period) + RNA_SCRAPE_LEAD + period / 10;
	rna_usec scrape = schedule->next_scrape
				  ? schedule->next_scrape(earliest, schedule->userdata)
				  : RNA_USEC_NEVER;

	return scrape <= latest ? scrape - RNA_SCRAPE_LEAD : due;
}

static rna_usec next_poll(const struct rna_schedule *schedule, enum rna_collector_id id,
			  rna_usec due, rna_usec now)
{
	const struct rna_collector *collector = &rna_collectors[id];
	rna_usec period = schedule->settings->poll[id];

	due = next_in_phase(due < now ? due : now, period, now);
	if (!collector->for_scrapes || collector->told > 0)
		return due;
	return before_scrape(schedule, now, period, period / 5, due);
}

static rna_usec next_proof(const struct rna_schedule *schedule, enum rna_collector_id id,
			   rna_usec due, rna_usec early)
{
	rna_usec period = rna_collectors[id].told;

	if (!rna_collectors[id].for_scrapes || due == RNA_USEC_NEVER)
		return due;
	return before_scrape(schedule, due - period, period, early, due);
}

rna_usec rna_rhythm_next(const struct rna_schedule *schedule, enum rna_collector_id id,
			 rna_usec due, rna_usec now)
{
	rna_usec early = schedule->settings->poll[id] / 2, next = RNA_USEC_NEVER;

	for (const struct rna_target *t = NULL; (t = rna_schedule_next(schedule, t));) {
		rna_usec own;

		if (!(t->collectors & rna_collector_bit(id)))
			continue;
		own = proof_due(schedule, t, id);
		if (own == 0)
			return next_poll(schedule, id, due, now);
		own = own > now + early ? own : now + rna_collectors[id].told; /* it runs now */
		next = own < next ? own : next;
	}
	return next_proof(schedule, id, next, early);
}
