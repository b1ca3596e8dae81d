// SPDX-License-Identifier: Apache-2.0
#include "discards.h"

#include <errno.h>
#include <stdlib.h>

#include "rna/base/parse.h"
#include "rna/model/qos.h"

/* The next interface with a wire of a port, of which a bond has several. NULL: no more. */
static const struct rna_ethernet_netdev *next_interface(const struct rna_subject *port,
							size_t *from)
{
	const struct rna_ethernet *ethernet = rna_device_ethernet(port->device);

	while (ethernet && *from < ethernet->count) {
		const struct rna_ethernet_netdev *found = &ethernet->netdevs[(*from)++];

		if (found->port == port->port)
			return found;
	}
	return NULL;
}

static size_t count_interfaces(const struct rna_subject *port)
{
	size_t count = 0, from = 0;

	while (next_interface(port, &from))
		count++;
	return count;
}

/* Priorities with PFC; none where it is not known. */
static uint64_t lossless_of(const struct rna_subject *port, const char *netdev)
{
	const struct rna_qos *qos = rna_device_qos(port->device);
	const struct rna_qos_port *interface;
	size_t from = 0;

	while ((interface = rna_qos_next(qos, port->port, &from)))
		if (rna_same_text(interface->netdev, netdev) && interface->dcb &&
		    rna_value_is_known(interface->dcb->pfc))
			return interface->dcb->pfc.number;
	return 0;
}

static void add(const struct rna_subject *port, const struct rna_ethernet_netdev *interface,
		struct rna_ethernet_sum *sum)
{
	rna_ethernet_add_discards(interface, lossless_of(port, interface->name), sum);
}

struct rna_ethernet_sum rna_discards_sum(const struct rna_subject *port)
{
	const struct rna_ethernet_netdev *interface;
	struct rna_ethernet_sum sum = {0};
	size_t from = 0;

	while ((interface = next_interface(port, &from)))
		add(port, interface, &sum);
	return sum;
}

/* -- Members ----------------------------------------------------------------------------------- */

void rna_discards_deinit(struct rna_discards *discards)
{
	free(discards->members);
	*discards = (struct rna_discards){0};
}

static const struct rna_discards_member *find(const struct rna_discards *discards, unsigned ifindex)
{
	return RNA_FIND(i, discards->members, discards->count,
			discards->members[i].ifindex == ifindex);
}

static void take(const struct rna_subject *port, const struct rna_ethernet_netdev *interface,
		 const struct rna_threshold *threshold, rna_usec now, struct rna_window *window)
{
	struct rna_ethernet_sum sum = {0};

	add(port, interface, &sum);
	rna_window_add(window, threshold, rna_window_follow(window, sum), now);
}

int rna_discards_follow(struct rna_discards *discards, const struct rna_subject *port,
			const struct rna_threshold *threshold, rna_usec now)
{
	size_t count = count_interfaces(port), from = 0;
	struct rna_discards_member *members;

	if (count < 2) {
		rna_discards_deinit(discards);
		return 0;
	}
	members = calloc(count, sizeof(*members));
	if (!members)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct rna_ethernet_netdev *interface = next_interface(port, &from);
		const struct rna_discards_member *before = find(discards, interface->ifindex);

		members[i] = before ? *before : (struct rna_discards_member){interface->ifindex};
		take(port, interface, threshold, now, &members[i].window);
	}
	rna_discards_deinit(discards);
	*discards = (struct rna_discards){count, members};
	return 0;
}

void rna_discards_begin_anew(struct rna_discards *discards)
{
	for (size_t i = 0; i < discards->count; i++)
		discards->members[i].window.known = false;
}

void rna_discards_write(const struct rna_discards *discards, const struct rna_subject *port,
			struct rna_strbuf *out)
{
	const struct rna_ethernet_netdev *interface;
	size_t from = 0;

	while ((interface = next_interface(port, &from))) {
		const struct rna_discards_member *member = find(discards, interface->ifindex);
		uint64_t rise = member ? rna_window_rise(&member->window) : 0;

		if (rise > 0)
			rna_strbuf_printf(out, "%s%ju on %s", out->len > 0 ? ", " : "",
					  (uintmax_t)rise, interface->name);
	}
}
