// SPDX-License-Identifier: Apache-2.0
#include "remember.h"

#include <errno.h>
#include <net/if_arp.h>
#include <string.h>

#include "rna/base/log.h"
#include "rna/base/parse.h"

#include "expect.h"
#include "message_ids.h"

/* One run. */
struct run {
	struct rna_memory *memory;
	const struct rna_remember_input *in;
	struct rna_view *view;
	const struct rna_snapshot *snapshot;
	struct rna_netdev_search search;
	size_t tested; /* where the last search among self-tests ended */
	bool no_memory;
};

/* One port of the snapshot and its memory. device: NULL while it is gone. */
struct subject {
	const struct rna_snapshot_device *device;
	const struct rna_device_memory *of;
	struct rna_port_memory *port;
	const struct rna_port_state_value *state;
	const struct rna_netdev *netdev;
};

/* -- What a port shows ------------------------------------------------------------------------- */

static struct rna_span_of_time time_of_part(const struct rna_part *part)
{
	return (struct rna_span_of_time){part->started.monotonic, part->taken};
}

static void read_state(const struct subject *subject, struct rna_port_reading *reading)
{
	const struct rna_part *part = subject->device->parts[RNA_COLLECTOR_STATE];
	const struct rna_part *presence = subject->device->parts[RNA_COLLECTOR_PRESENCE];

	reading->when = time_of_part(part ? part : presence);
	reading->source = (part ? part : presence)->origin.source;
	if (!subject->state || subject->state->state.state != RNA_VALUE_OK)
		return;
	reading->up = rna_value_ok(rna_port_works(subject->device, subject->port->number));
}

/*
 * IPoIB loses its carrier for reasons of its own, with the port up: "ip link set ib0 down" is one.
 * An Ethernet port follows its interface, also if that is a bond.
 */
static void read_carrier(const struct run *run, const struct subject *subject,
			 struct rna_down_reading *read)
{
	const struct rna_part *part = run->snapshot->parts[RNA_COLLECTOR_NETDEV];

	if (!subject->netdev || subject->netdev->type == ARPHRD_INFINIBAND)
		return;
	*read = (struct rna_down_reading){
		.downs = subject->netdev->carrier_down,
		.of = subject->netdev->ifindex,
		.when = time_of_part(part),
	};
}

/* True: no other counter has to be read. A part that was read before is not read again. */
static bool find_link_downed(const struct subject *subject, enum rna_collector_id collector,
			     struct rna_down_reading *read)
{
	const struct rna_counters_part *part = rna_device_counters(subject->device, collector);

	if (part &&
	    part->part.taken.monotonic ==
		    subject->port->track.counters[RNA_DOWN_COUNTER_LINK].when.taken.monotonic)
		return true;
	for (size_t g = 0; part && g < part->group_count; g++) {
		const struct rna_counter_group *group = &part->groups[g];

		if (group->port != subject->port->number)
			continue;
		for (size_t i = 0; i < group->count; i++) {
			if (strcmp(group->values[i].file, "link_downed") != 0)
				continue;
			read->downs = group->values[i].value;
			read->of = subject->device->device->generation;
			read->when = time_of_part(&part->part);
			return rna_value_is_known(read->downs);
		}
	}
	return false;
}

/* PMA's, or rxe's own. On a virtual function it may be that of the physical port. */
static void read_link_downed(const struct subject *subject, struct rna_down_reading *read)
{
	enum rna_function function = subject->device->device->function;

	if (function != RNA_FUNCTION_PF && function != RNA_FUNCTION_VIRTUAL)
		return;
	if (!find_link_downed(subject, RNA_COLLECTOR_COUNTERS, read))
		(void)find_link_downed(subject, RNA_COLLECTOR_HW_COUNTERS, read);
}

/* The wire's own count, where one interface is all that there is: a bond lives on with one less. */
static void read_driver_losses(const struct subject *subject, struct rna_down_reading *read)
{
	const struct rna_ethernet *ethernet = rna_device_ethernet(subject->device);
	unsigned number = subject->port->number;

	for (size_t i = 0; ethernet && i < ethernet->count; i++)
		if (ethernet->netdevs[i].port == number && subject->netdev &&
		    ethernet->netdevs[i].ifindex == subject->netdev->ifindex)
			*read = (struct rna_down_reading){
				.downs = rna_ethernet_sum(ethernet, number, RNA_ETHERNET_LINK_DOWNS)
						 .value,
				.of = subject->netdev->ifindex,
				.when = time_of_part(&ethernet->part),
			};
}

static struct rna_port_reading read_port(const struct run *run, const struct subject *subject)
{
	const struct rna_part *presence = run->snapshot->parts[RNA_COLLECTOR_PRESENCE];
	struct rna_port_reading reading = {.present = subject->device};

	if (!reading.present) {
		reading.when = time_of_part(presence);
		reading.source = presence->origin.source;
		return reading;
	}
	reading.generation = subject->device->device->generation;
	read_state(subject, &reading);
	read_carrier(run, subject, &reading.counters[RNA_DOWN_COUNTER_CARRIER]);
	read_link_downed(subject, &reading.counters[RNA_DOWN_COUNTER_LINK]);
	read_driver_losses(subject, &reading.counters[RNA_DOWN_COUNTER_DRIVER]);
	return reading;
}

/* -- Transitions ------------------------------------------------------------------------------- */

static void write_state(const struct subject *subject, struct rna_strbuf *out)
{
	const struct rna_port_state_value *state = subject->state;
	const struct rna_netdev *netdev = subject->netdev;

	rna_strbuf_printf(out, "state %s", rna_port_state_name(state->state.number));
	if (rna_value_is_known(state->physical_state))
		rna_strbuf_printf(out, ", physical state %s",
				  rna_physical_state_name(state->physical_state.number));
	if (netdev && !netdev->admin_up)
		rna_strbuf_printf(out, ", interface %s is administratively down", netdev->name);
	else if (netdev && rna_value_is_known(netdev->carrier) && !netdev->carrier.number)
		rna_strbuf_printf(out, ", interface %s has no carrier", netdev->name);
}

static void write_reason(const struct subject *subject,
			 const struct rna_port_transition *transition, struct rna_strbuf *out)
{
	switch (transition->sighting) {
	case RNA_SIGHTING_REMOVED:
		rna_strbuf_puts(out, "device removed");
		break;
	case RNA_SIGHTING_REGISTERED:
		rna_strbuf_puts(out, "device registered again");
		break;
	case RNA_SIGHTING_COUNTED:
		rna_strbuf_puts(out, "between two reads: ");
		if (transition->counter == RNA_DOWN_COUNTER_LINK)
			rna_strbuf_puts(out, "link_downed increased");
		else if (transition->counter == RNA_DOWN_COUNTER_DRIVER)
			rna_strbuf_puts(out, "the driver counted a link loss");
		else /* by its last name: it may be gone since then */
			rna_strbuf_printf(out, "interface %s lost its carrier",
					  subject->port->netdev ? subject->port->netdev : "?");
		break;
	case RNA_SIGHTING_STATE:
		write_state(subject, out);
		break;
	}
}

static void log_transition(const struct rna_change *change)
{
	const char *state = rna_change_name(change->what);
	char port[16], times[32] = "";
	const struct rna_log_field fields[] = {
		{"MESSAGE_ID",
		 change->what == RNA_CHANGE_UP ? RNA_MESSAGE_PORT_UP : RNA_MESSAGE_PORT_DOWN},
		{"DEVICE", change->device},
		{"PORT", port},
		{"NETDEV", change->netdev},
		{"STATE", state},
		{"SOURCE", rna_source_name(change->source)},
		{"REASON", change->text},
		{NULL, NULL},
	};

	(void)snprintf(port, sizeof(port), "%u", change->port);
	if (change->count > 1)
		(void)snprintf(times, sizeof(times), " %ju times", (uintmax_t)change->count);
	rna_log(LOG_NOTICE, fields, "%s/%s: %s%s: %s", change->device, port, state, times,
		change->text);
}

static void keep_transition(struct run *run, const struct subject *subject,
			    const struct rna_port_transition *transition)
{
	RNA_STRBUF struct rna_strbuf reason = RNA_STRBUF_INIT;
	struct rna_change change = {
		.time = transition->time,
		.what = transition->up ? RNA_CHANGE_UP : RNA_CHANGE_DOWN,
		.device = subject->of->name,
		.port = subject->port->number,
		.netdev = subject->port->netdev,
		.source = transition->source,
		.count = transition->count,
	};

	write_reason(subject, transition, &reason);
	change.text = reason.data;
	if (rna_strbuf_ok(&reason) && rna_histories_add(run->memory->histories, &change))
		log_transition(&change);
	else
		run->no_memory = true; /* it is counted all the same */
}

static void follow_port(struct run *run, const struct subject *subject)
{
	struct rna_port_reading reading = read_port(run, subject);
	struct rna_port_transition transitions[RNA_PORT_TRANSITIONS_MAX];
	size_t count = rna_port_track_follow(&subject->port->track, &reading, transitions);

	for (size_t i = 0; i < count; i++)
		keep_transition(run, subject, &transitions[i]);
	run->memory->changed |= count > 0;
}

/* -- What is kept ------------------------------------------------------------------------------ */

/* To accept a port that is up is to accept its rate: the rate is compared with that from then on.
 */
static void raise_best(struct run *run, struct rna_port_memory *port,
		       const struct rna_port_link *link)
{
	const struct rna_accepted *accepted = &port->accepted;
	bool anew = accepted->expected == RNA_EXPECTED_UP && accepted->time > port->best.since;

	if (!rna_value_is_known(link->rate) || (!anew && link->rate.number <= port->best.rate))
		return;
	port->best.rate = link->rate.number;
	if (anew)
		port->best.since = accepted->time;
	run->memory->changed = true;
}

/* A rate of an unknown speed is made up, and one from before the port came up is an old one. */
static void learn_link(struct run *run, const struct subject *subject)
{
	const struct rna_part *part = subject->device->parts[RNA_COLLECTOR_LINK];
	const struct rna_port_link *link = rna_port_link(subject->device, subject->port->number);

	if (link && link->speed_name && part->started.monotonic >= subject->port->track.since)
		raise_best(run, subject->port, link);
}

/* So that the next process continues with the turns of this one. */
static void learn_tests(struct run *run, const struct subject *subject)
{
	struct rna_port_memory *port = subject->port;
	const struct rna_selftest_port *tested =
		rna_selftest_find(run->view->selftests, subject->device->device->name, port->number,
				  &run->tested);

	if (!tested ||
	    (tested->last_run == port->last_test && tested->last_success == port->last_good_test))
		return;
	run->no_memory |= !rna_memory_keep_tests(port, tested);
	port->last_test = tested->last_run;
	port->last_good_test = tested->last_success;
	run->memory->changed = true;
}

static const char *hca_of(const struct rna_snapshot_device *device)
{
	const struct rna_identity *identity = rna_device_identity(device);

	return identity ? identity->node_guid : NULL;
}

/* As collectors know it, which may be stale. By LLDP where no MAD can ask. */
static const struct rna_peer *find_peer(const struct run *run,
					const struct rna_snapshot_device *device, unsigned port,
					const struct rna_netdev *netdev)
{
	const struct rna_peer *peer = rna_port_peer(device, port);

	return peer ? peer
		    : rna_lldp_find_port(rna_snapshot_lldp(run->snapshot),
					 rna_snapshot_netdevs(run->snapshot), device->device,
					 netdev);
}

/* So that it is known when the link is down, even if that was before this process began. */
static void learn_peer(struct run *run, const struct subject *subject)
{
	run->memory->changed |=
		rna_peer_memory_learn(&subject->port->peer, hca_of(subject->device),
				      find_peer(run, subject->device, subject->port->number,
						subject->netdev));
}

/*
 * The port's own interface may get another name. A bond is another interface, and so is the
 * representor of a port; the name of neither is compared with that of the port's own.
 */
static void learn_netdev(struct run *run, const struct subject *subject)
{
	const struct rna_netdev *netdev = subject->netdev;
	struct rna_port_memory *port = subject->port;
	bool bonded = netdev && (netdev->bond || netdev->representor);

	if (!netdev)
		return;
	if (subject->of->lasting && !bonded && !port->bonded) {
		run->memory->changed |=
			rna_former_learn(&port->former_netdev, &port->netdev, netdev->name,
					 rna_accepted_time(&port->accepted),
					 run->snapshot->time.realtime);
		return;
	}
	run->memory->changed |= rna_memory_set_text(&port->netdev, netdev->name);
	rna_former_memory_deinit(&port->former_netdev);
	port->bonded = bonded;
}

/* Without memory the page shows no rates of the port until the next reading. */
static void follow_rates(struct run *run, const struct subject *subject)
{
	struct rna_port_memory *port = subject->port;

	if (!port->rates && rna_rates_suit(subject->device, run->memory->rates_count)) {
		port->rates = rna_rates_new();
		run->memory->rates_count += port->rates != NULL;
	}
	if (port->rates)
		rna_rates_follow(port->rates, subject->device, port->number);
}

static void forget_rates(struct run *run, struct rna_port_memory *port)
{
	run->memory->rates_count -= port->rates != NULL;
	port->rates = rna_rates_free(port->rates);
}

static void learn_port(struct run *run, const struct subject *subject)
{
	struct rna_port_memory *port = subject->port;

	learn_netdev(run, subject);
	learn_tests(run, subject);
	learn_peer(run, subject);
	follow_port(run, subject);
	follow_rates(run, subject);
	rna_user_memory_follow(&subject->port->user, subject->device, subject->port->number);
	if (!port->track.known || !port->track.up)
		return;
	if (port->first_active == 0) {
		port->first_active = run->snapshot->time.realtime;
		run->memory->changed = true;
	}
	/* That it is up still is no news for the disk; that it came up is a transition. */
	port->last_active = run->snapshot->time.realtime;
	learn_link(run, subject);
}

static const struct rna_netdev *find_netdev(struct run *run, const struct rna_device *device,
					    unsigned port)
{
	const struct rna_port_netdev *found =
		rna_netdev_search_port(&run->search, device->name, port);

	return found ? rna_netdev_search_name(&run->search, found->netdev) : NULL;
}

/* Drivers without a GUID of their own, such as that of EFA, have the GUID zero. */
static const char *find_guid(const struct rna_snapshot_device *device)
{
	const struct rna_identity *identity = rna_device_identity(device);
	const char *guid = identity ? identity->node_guid : NULL;

	return guid && guid[strspn(guid, "0:")] ? guid : NULL;
}

/* The name, and the card. Functions that come and go have names that change with the work. */
static void learn_names(struct run *run, const struct rna_snapshot_device *device,
			struct rna_device_memory *memory)
{
	rna_usec accepted = rna_former_accepted(memory), now = run->snapshot->time.realtime;
	const char *name = device->device->name, *guid = find_guid(device);

	if (!memory->lasting || memory->last_seen == 0) {
		run->memory->changed |= rna_memory_set_text(&memory->name, name);
		rna_former_memory_deinit(&memory->former_name);
	} else {
		run->memory->changed |=
			rna_former_learn(&memory->former_name, &memory->name, name, accepted, now);
	}
	if (!memory->lasting || !guid ||
	    !rna_former_learn(&memory->former_guid, &memory->guid, guid, accepted, now))
		return;
	memory->guid_since = now;
	run->memory->changed = true;
}

static void learn_device(struct run *run, const struct rna_snapshot_device *device)
{
	const struct rna_device *facts = device->device;
	struct rna_device_memory *memory = rna_memory_device(run->memory, facts->key);
	bool lasting = facts->function != RNA_FUNCTION_VF && facts->function != RNA_FUNCTION_SF;
	bool changed;

	if (!memory) {
		run->no_memory = true;
		return;
	}
	memory->lasting = lasting;
	learn_names(run, device, memory);
	changed = rna_memory_set_text(&memory->pci_address, facts->pci_address);
	run->memory->changed |= changed || !memory->present;
	memory->last_seen = run->snapshot->time.realtime;
	memory->present = true;
	for (size_t i = 0; i < facts->port_count; i++) {
		struct subject subject = {
			.device = device,
			.of = memory,
			.port = rna_memory_port(memory, facts->ports[i]),
			.state = rna_port_state(device, facts->ports[i]),
			.netdev = find_netdev(run, facts, facts->ports[i]),
		};

		if (subject.port)
			learn_port(run, &subject);
		else
			run->no_memory = true;
	}
}

/* -- Devices that are not there ---------------------------------------------------------------- */

/* By the names that it had last, because the device is gone. */
static bool is_watched(const struct run *run, const struct rna_device_memory *device)
{
	const char *names[16];
	size_t count = 0;

	names[count++] = device->name;
	if (device->pci_address)
		names[count++] = device->pci_address;
	for (size_t i = 0; i < device->port_count && count < RNA_ARRAY_SIZE(names); i++)
		if (device->ports[i].netdev)
			names[count++] = device->ports[i].netdev;
	return rna_device_filter_takes(run->in->filter, names, count);
}

static void miss_device(struct run *run, struct rna_device_memory *device)
{
	bool watched = is_watched(run, device);

	for (size_t i = 0; i < device->port_count; i++) {
		struct subject subject = {.of = device, .port = &device->ports[i]};

		forget_rates(run, subject.port);
		subject.port->user = rna_user_memory_free(subject.port->user);
		if (watched)
			follow_port(run, &subject);
		else
			subject.port->track = (struct rna_port_track){0};
	}
	run->memory->changed |= device->present;
	if (device->present || device->missing.monotonic == 0)
		device->missing = run->snapshot->time;
	device->present = false;
}

/* A device without a PCI function is software (rxe, siw) and may be deleted at will. */
static bool is_missed(const struct run *run, const struct rna_device_memory *device)
{
	bool let_go = device->accepted.expected == RNA_EXPECTED_DOWN &&
		      device->last_seen <= device->accepted.time;

	return !device->present && device->lasting && device->pci_address &&
	       device->last_seen > 0 && !let_go && is_watched(run, device);
}

static enum rna_whereabouts whereabouts_of(const struct run *run, const char *pci_address)
{
	const struct rna_presence *presence = rna_snapshot_presence(run->snapshot);

	for (size_t i = 0; pci_address && i < presence->bare_count; i++)
		if (strcmp(presence->bare[i].pci_address, pci_address) == 0)
			return presence->bare[i].whereabouts;
	return RNA_WHEREABOUTS_UNKNOWN;
}

/* -- Cards at another PCI address -------------------------------------------------------------- */

static int compare_guids(const void *a, const void *b)
{
	const struct rna_device_memory *const *x = a, *const *y = b;
	int order = strcmp((*x)->guid, (*y)->guid);

	return order != 0 ? order : strcmp((*x)->key, (*y)->key);
}

/* The devices that are there and have a GUID, by that. The caller frees *ret. */
static size_t list_guids(struct run *run, struct rna_device_memory ***ret)
{
	const struct rna_memory *memory = run->memory;
	struct rna_device_memory **list = calloc(memory->count + 1, sizeof(*list));
	size_t count = 0;

	*ret = list;
	run->no_memory |= !list;
	for (size_t i = 0; list && i < memory->count; i++)
		if (memory->devices[i]->present && memory->devices[i]->guid)
			list[count++] = memory->devices[i];
	if (count > 0)
		qsort(list, count, sizeof(*list), compare_guids);
	return count;
}

/*
 * The device that the missing one is now. Two cards may have one GUID by mistake, and a bond may
 * give two functions the same (bnxt_re makes it of the MAC address: bnxt_re_register_ib() in
 * drivers/infiniband/hw/bnxt_re/main.c, Linux 6.12): the other one was there before this one was
 * missed, and does not count.
 */
static struct rna_device_memory *find_relocated(struct rna_device_memory *const *list, size_t count,
						const struct rna_device_memory *missing)
{
	size_t low = 0, high = count;

	while (missing->guid && low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(list[middle]->guid, missing->guid) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (!missing->guid || low == count || strcmp(list[low]->guid, missing->guid) != 0 ||
	    list[low]->guid_since <= missing->last_seen ||
	    (low + 1 < count && strcmp(list[low + 1]->guid, missing->guid) == 0))
		return NULL;
	return list[low];
}

/* Was it accepted that it is down? */
static bool is_let_go(const struct rna_port_memory *port)
{
	return port->accepted.expected == RNA_EXPECTED_DOWN &&
	       port->last_active <= port->accepted.time;
}

/* What is expected of the ports of a card goes with it. */
static void inherit(struct run *run, const struct rna_device_memory *from,
		    struct rna_device_memory *to)
{
	RNA_EACH (old, from->ports, from->port_count) {
		struct rna_port_memory *port = rna_memory_port(to, old->number);

		if (!port || port->first_active > 0 || old->first_active == 0 || is_let_go(old))
			continue;
		port->first_active = old->first_active;
		port->last_active = old->last_active;
		port->best = old->best;
		run->memory->changed = true;
	}
}

/* -- The list ---------------------------------------------------------------------------------- */

static int compare_missing(const void *a, const void *b)
{
	const struct rna_missing_device *x = a, *y = b;
	int order = rna_compare_names(x->name, y->name);

	return order != 0 ? order : strcmp(x->key, y->key);
}

static const char *copy_text(struct run *run, const char *text)
{
	return rna_arena_keep(run->view->arena, text, &run->no_memory);
}

static unsigned count_expected(const struct rna_device_memory *device)
{
	unsigned count = 0;

	RNA_EACH (port, device->ports, device->port_count)
		count += port->first_active > 0 && !is_let_go(port);
	return count;
}

static struct rna_missing_device miss(struct run *run, const struct rna_device_memory *device,
				      struct rna_device_memory *relocated)
{
	struct rna_missing_device missing = {
		.key = copy_text(run, device->key),
		.name = copy_text(run, device->name),
		.pci_address = copy_text(run, device->pci_address),
		.whereabouts = whereabouts_of(run, device->pci_address),
		.ports_expected = count_expected(device),
		.last_seen = device->last_seen,
		.since = device->missing,
	};

	if (!relocated)
		return missing;
	inherit(run, device, relocated);
	missing.whereabouts = RNA_WHEREABOUTS_RELOCATED;
	missing.ports_expected = 0; /* they are those of the other device now */
	missing.new_name = copy_text(run, relocated->name);
	missing.new_address = copy_text(run, relocated->pci_address);
	return missing;
}

static void list_missing(struct run *run)
{
	RNA_FREE struct rna_device_memory **guids = NULL;
	size_t count = 0, guid_count = 0;
	struct rna_missing_device *missing;

	missing = rna_arena_array(run->view->arena, run->memory->count, sizeof(*missing));
	if (!missing) {
		run->no_memory = true;
		return;
	}
	for (size_t i = 0; i < run->memory->count; i++) {
		const struct rna_device_memory *device = run->memory->devices[i];

		if (!is_missed(run, device))
			continue;
		if (!guids)
			guid_count = list_guids(run, &guids);
		missing[count++] = miss(run, device, find_relocated(guids, guid_count, device));
	}
	if (run->no_memory)
		return;
	qsort(missing, count, sizeof(*missing), compare_missing);
	run->view->missing = missing;
	run->view->missing_count = count;
}

/* -- The view ---------------------------------------------------------------------------------- */

/* NULL: its counters are not followed, or no memory. */
static const struct rna_port_rates *tell_rates(struct run *run, const struct rna_rates *rates)
{
	struct rna_port_rates *told =
		rates ? rna_arena_alloc(run->view->arena, sizeof(*told)) : NULL;

	run->no_memory |= rates && !told;
	if (told)
		rna_rates_tell(rates, told);
	return told;
}

/* NULL: there is none, or no memory. */
static const struct rna_user_traffic *tell_traffic(struct run *run,
						   const struct rna_user_memory *user)
{
	const struct rna_user_traffic *traffic = rna_user_memory_tell(user);
	struct rna_user_traffic *told =
		traffic ? rna_arena_alloc(run->view->arena, sizeof(*told)) : NULL;

	run->no_memory |= traffic && !told;
	if (told)
		*told = *traffic;
	return told;
}

/* Where a switch does not announce itself any longer, another one may be behind the link. */
static bool may_have_moved(const struct run *run, const struct rna_port_memory *port)
{
	return port->peer.source == RNA_PEER_BY_LLDP && port->track.up &&
	       rna_usec_since(port->peer.seen, run->snapshot->time.realtime) >
		       24 * 60 * 60 * RNA_USEC_PER_SEC;
}

static bool is_accepted_as_down(const struct rna_judged_port *port)
{
	return port->expectation.expected == RNA_EXPECTED_DOWN &&
	       port->expectation.reason == RNA_EXPECTATION_ACCEPTED;
}

/* The peer now, else the last known one. */
static const struct rna_peer *tell_peer(struct run *run, const struct rna_judged_port *port)
{
	const struct rna_netdev *netdev = find_netdev(run, port->device->device, port->number);
	const struct rna_peer *peer = find_peer(run, port->device, port->number, netdev);

	if (peer && !peer->stale)
		return peer;
	if (is_accepted_as_down(port))
		return NULL;
	if (peer || may_have_moved(run, port->memory))
		return peer;
	return rna_peer_memory_tell(&port->memory->peer, hca_of(port->device), run->view->arena,
				    &run->no_memory);
}

static void judge_ports(struct run *run, struct rna_judged_port *ports, size_t count)
{
	struct rna_view_port *accounts;

	accounts = rna_arena_array(run->view->arena, count, sizeof(*accounts));
	if (!accounts) {
		run->no_memory = true;
		return;
	}
	run->no_memory |= rna_expect(run->in->settings, ports, count) < 0;
	for (size_t i = 0; i < count; i++)
		accounts[i] = (struct rna_view_port){
			.number = ports[i].number,
			.history = ports[i].memory->track.history,
			.expectation = ports[i].expectation,
			.best = ports[i].memory->best,
			.accepted = rna_accepted_time(&ports[i].memory->accepted),
			.rates = tell_rates(run, ports[i].memory->rates),
			.user_traffic = tell_traffic(run, ports[i].memory->user),
			.peer = tell_peer(run, &ports[i]),
		};
	run->no_memory |= !rna_formers_tell(run->memory, run->view, accounts);
	run->view->ports = accounts;
}

static bool is_representor(struct run *run, const struct rna_device *device, unsigned port)
{
	const struct rna_netdev *netdev = find_netdev(run, device, port);

	return netdev && netdev->representor;
}

/* All ports of the snapshot, in its order. */
static void list_ports(struct run *run)
{
	const struct rna_snapshot *snapshot = run->snapshot;
	RNA_FREE struct rna_judged_port *ports = NULL;
	size_t count = 0, next = 0;

	for (size_t d = 0; d < snapshot->device_count; d++)
		count += snapshot->devices[d].device->port_count;
	ports = calloc(count + 1, sizeof(*ports));
	if (!ports || run->no_memory) {
		run->no_memory = true;
		return;
	}
	RNA_EACH (device, snapshot->devices, snapshot->device_count) {
		struct rna_device_memory *memory =
			rna_memory_find(run->memory, device->device->key);

		for (size_t p = 0; p < device->device->port_count; p++) {
			struct rna_port_memory *port =
				rna_memory_port(memory, device->device->ports[p]);

			ports[next++] = (struct rna_judged_port){
				.device = device,
				.number = port->number,
				.netdev = port->netdev,
				.represents = is_representor(run, device->device, port->number),
				.memory = port,
			};
		}
	}
	judge_ports(run, ports, count);
}

static void learn_rails(struct run *run)
{
	const struct rna_topology *topology = rna_snapshot_topology(run->snapshot);

	if (topology)
		run->memory->changed |= rna_rail_memory_learn(&run->memory->rails, topology,
							      run->snapshot->time.realtime);
}

int rna_remember(struct rna_memory *memory, const struct rna_remember_input *in,
		 struct rna_view *view)
{
	struct run run = {memory, in, view, .snapshot = view->snapshot};

	run.search.netdevs = rna_snapshot_netdevs(view->snapshot);
	if (!rna_snapshot_presence(view->snapshot))
		return 0; /* it is not known which devices there are */
	for (size_t i = 0; i < view->snapshot->device_count; i++)
		learn_device(&run, &view->snapshot->devices[i]);
	for (size_t i = 0; i < memory->count; i++)
		if (!memory->devices[i]->present ||
		    memory->devices[i]->last_seen != view->snapshot->time.realtime)
			miss_device(&run, memory->devices[i]);
	learn_rails(&run);
	view->accepted = memory->rails.accepted; /* with all else of the node */
	list_missing(&run); /* a card at another address hands its expectations over */
	list_ports(&run);
	return run.no_memory ? -ENOMEM : 0;
}

/* Begins with the newest that are shown of each kind. */
static size_t count_shown(const struct rna_memory *memory, size_t next[RNA_CHANGE_KIND_COUNT])
{
	size_t sum = 0;

	for (size_t i = 0; i < RNA_CHANGE_KIND_COUNT; i++) {
		size_t count = memory->histories[i].count;
		size_t shown = count < RNA_CHANGES_SHOWN ? count : RNA_CHANGES_SHOWN;

		next[i] = count - shown;
		sum += shown;
	}
	return sum;
}

int rna_remember_changes(const struct rna_memory *memory, struct rna_view *view)
{
	size_t next[RNA_CHANGE_KIND_COUNT], count = count_shown(memory, next);
	struct rna_change *copies = rna_arena_array(view->arena, count, sizeof(*copies));
	bool no_memory = !copies;

	for (size_t i = 0; i < count && !no_memory; i++) {
		copies[i] = *rna_histories_next(memory->histories, next);
		copies[i].device = rna_arena_keep(view->arena, copies[i].device, &no_memory);
		copies[i].netdev = rna_arena_keep(view->arena, copies[i].netdev, &no_memory);
		copies[i].rule = rna_arena_keep(view->arena, copies[i].rule, &no_memory);
		copies[i].text = rna_arena_keep(view->arena, copies[i].text, &no_memory);
	}
	if (no_memory)
		return -ENOMEM;
	view->changes = copies;
	view->change_count = count;
	return 0;
}

struct rna_texts *rna_memory_functions(const struct rna_memory *memory)
{
	RNA_CLEANUP(rna_texts_unref_p)
	struct rna_texts *addresses = rna_texts_new(memory->count);

	for (size_t i = 0; addresses && i < memory->count; i++) {
		const struct rna_device_memory *device = memory->devices[i];
		const char *copy;

		if (!device->lasting || !device->pci_address)
			continue;
		copy = rna_arena_strdup(addresses->arena, device->pci_address);
		if (!copy)
			return NULL;
		addresses->items[addresses->count++] = copy;
	}
	return RNA_TAKE(addresses);
}
