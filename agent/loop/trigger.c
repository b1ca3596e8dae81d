// SPDX-License-Identifier: Apache-2.0
#include "trigger.h"

#include <string.h>

#include "rna/model/netdev.h"

static bool mark(struct rna_target *target, const struct rna_trigger *trigger)
{
	unsigned collectors = trigger->collectors & target->collectors;

	target->triggered |= collectors;
	target->later |= trigger->later & target->collectors;
	if (trigger->later & target->collectors)
		target->later_for = trigger->origin;
	rna_target_set_cause(target, collectors, &trigger->origin);
	return collectors || (trigger->later & target->collectors);
}

static bool mark_node(struct rna_schedule *schedule, const struct rna_trigger *trigger)
{
	bool any = false;

	for (struct rna_target *t = schedule->nodes; t; t = t->next)
		any |= mark(t, trigger);
	return any;
}

/* device: NULL: all. */
static bool mark_devices(struct rna_schedule *schedule, const struct rna_trigger *trigger,
			 const char *device)
{
	bool any = false;

	for (struct rna_target *t = schedule->devices; t; t = t->next)
		if (!device || strcmp(t->device->name, device) == 0)
			any |= mark(t, trigger);
	return any;
}

static const struct rna_netdev *find_by_index(const struct rna_netdevs *netdevs, unsigned ifindex)
{
	return RNA_FIND(i, netdevs->netdevs, netdevs->count,
			netdevs->netdevs[i].ifindex == ifindex);
}

static void mark_ports_of(struct rna_schedule *schedule, const struct rna_trigger *trigger,
			  const struct rna_netdevs *netdevs, const char *netdev)
{
	for (size_t i = 0; i < netdevs->port_count; i++)
		if (strcmp(netdevs->ports[i].netdev, netdev) == 0)
			(void)mark_devices(schedule, trigger, netdevs->ports[i].device);
}

/* The interface may be a bond: then its addresses are those of the ports of all its members. */
static void mark_served(struct rna_schedule *schedule, const struct rna_trigger *trigger,
			const struct rna_netdevs *netdevs, const struct rna_netdev *netdev)
{
	const struct rna_netdev *member;
	size_t from = 0;

	mark_ports_of(schedule, trigger, netdevs, netdev->name);
	while ((member = rna_netdevs_next_member(netdevs, netdev->name, NULL, &from)))
		mark_ports_of(schedule, trigger, netdevs, member->name);
	(void)mark_node(schedule, trigger);
}

/*
 * A node may have a thousand interfaces for its containers, which come and go, and one of them may
 * be a new one of an RDMA device. So the interfaces are read for it, but later.
 */
static bool mark_by_interface(struct rna_schedule *schedule, const struct rna_trigger *trigger)
{
	const struct rna_trigger search = {
		.origin = trigger->origin,
		.later = trigger->collectors &
			 rna_collector_bit(rna_collector_listing(RNA_LISTS_INTERFACES)),
	};
	const struct rna_netdevs *netdevs =
		(const void *)rna_schedule_listing(schedule, RNA_LISTS_INTERFACES);
	const struct rna_netdev *netdev = netdevs ? find_by_index(netdevs, trigger->ifindex) : NULL;

	if (!netdev)
		return mark_node(schedule, &search);
	mark_served(schedule, trigger, netdevs, netdev);
	return true;
}

bool rna_trigger(struct rna_schedule *schedule, const struct rna_trigger *trigger)
{
	bool node, devices;

	if (trigger->ifindex > 0)
		return mark_by_interface(schedule, trigger);
	node = mark_node(schedule, trigger);
	devices = mark_devices(schedule, trigger, trigger->device);
	return node || devices;
}
