// SPDX-License-Identifier: Apache-2.0
/* Cards in words. */
#include "card_text.h"

#include "facts.h"

enum { CABLES_MAX = 8 }; /* of one card; a line has to stay readable */

/* Puts the comma in front of whatever follows in out, if anything was written since start. */
static void separate(struct rna_strbuf *out, size_t start)
{
	if (out->len > start)
		rna_strbuf_puts(out, ", ");
}

static const struct rna_device *device_of(const struct rna_subjects *subjects, size_t index)
{
	const struct rna_view *view = subjects->scopes[RNA_SCOPE_NODE].items[0].view;

	return view->snapshot->devices[index].device;
}

/* -- Devices ----------------------------------------------------------------------------------- */

static void say_count(const struct rna_subjects *subjects, const struct rna_card *card,
		      enum rna_function function, const char *name, size_t start,
		      struct rna_strbuf *out)
{
	size_t count = 0;

	for (size_t i = 0; i < card->device_count; i++)
		count += device_of(subjects, card->devices[i])->function == function;
	if (count == 0)
		return;
	separate(out, start);
	rna_strbuf_printf(out, "%zu %s%s", count, name, count == 1 ? "" : "s");
}

void rna_card_say_devices(const struct rna_subjects *subjects, const struct rna_card *card,
			  struct rna_strbuf *out)
{
	size_t start = out->len;

	for (size_t i = 0; i < card->function_count; i++) {
		int device = card->functions[i].device;

		if (device == RNA_NO_DEVICE)
			continue;
		separate(out, start);
		rna_strbuf_puts(out, device_of(subjects, (size_t)device)->name);
	}
	say_count(subjects, card, RNA_FUNCTION_VF, "VF", start, out);
	say_count(subjects, card, RNA_FUNCTION_SF, "SF", start, out);
	for (size_t i = 0; i < card->function_count; i++)
		if (rna_card_function_is_bare(&card->functions[i])) {
			separate(out, start);
			rna_strbuf_printf(out, "%s without RDMA device",
					  card->functions[i].address);
		}
}

void rna_card_say_firmware(const struct rna_subjects *subjects, const struct rna_card *card,
			   struct rna_strbuf *out)
{
	const struct rna_subject_list *devices = &subjects->scopes[RNA_SCOPE_DEVICE];
	size_t start = out->len;

	if (!card->firmware_differs)
		rna_strbuf_puts(out, card->firmware_version ? card->firmware_version : "");
	for (size_t i = 0; card->firmware_differs && i < card->function_count; i++) {
		const struct rna_subject *device;

		if (card->functions[i].device == RNA_NO_DEVICE)
			continue;
		device = &devices->items[card->functions[i].device];
		if (!device->identity || !device->identity->firmware_version)
			continue;
		separate(out, start);
		rna_strbuf_printf(out, "%s %s", device->rdma_device->name,
				  device->identity->firmware_version);
	}
}

/* -- Ports ------------------------------------------------------------------------------------- */

const struct rna_subject *rna_card_next_port(const struct rna_subjects *subjects,
					     const struct rna_card *card,
					     struct rna_card_cursor *next)
{
	const struct rna_subject *port;

	do
		port = rna_subjects_next_of_card(subjects, card, next);
	while (port && port->represents);
	return port;
}

static void count_port(const struct rna_subject *port, struct rna_card_ports *ret)
{
	if (rna_port_is_unwired(port)) {
		ret->unwired++;
		return;
	}
	ret->count++;
	ret->up += rna_port_up(port).number != 0;
	ret->expected_down +=
		port->account && port->account->expectation.expected == RNA_EXPECTED_DOWN;
}

/* What is up is known only if the planes of each device that has any are. */
static void count_planes(const struct rna_subject *port, struct rna_card_ports *ret)
{
	const struct rna_link *link = rna_device_link(port->device);
	struct rna_value up = rna_link_planes_up(link);
	bool first = !rna_value_is_known(ret->planes);

	if (!link || link->plane_count == 0 || port->port != link->ports[0].number)
		return;
	ret->planes = rna_value_ok(ret->planes.number + link->plane_count);
	if (rna_value_is_known(up) && (first || rna_value_is_known(ret->planes_up)))
		ret->planes_up = rna_value_ok(ret->planes_up.number + up.number);
	else
		ret->planes_up = (struct rna_value){0};
}

struct rna_card_ports rna_card_count_ports(const struct rna_subjects *subjects,
					   const struct rna_card *card)
{
	struct rna_card_cursor next = RNA_CARD_CURSOR_INIT;
	struct rna_card_ports ret = {0};
	const struct rna_subject *port;

	while ((port = rna_card_next_port(subjects, card, &next))) {
		count_port(port, &ret);
		count_planes(port, &ret);
	}
	return ret;
}

void rna_card_say_ports(const struct rna_subjects *subjects, const struct rna_card *card,
			struct rna_strbuf *out)
{
	struct rna_card_ports ports = rna_card_count_ports(subjects, card);

	if (ports.count + ports.unwired == 0)
		return;
	rna_strbuf_printf(out, "%zu of %zu up", ports.up, ports.count);
	if (ports.expected_down > 0)
		rna_strbuf_printf(out, ", %zu expected down", ports.expected_down);
	if (ports.unwired > 0)
		rna_strbuf_printf(out, ", %zu unwired", ports.unwired);
	if (rna_value_is_known(ports.planes_up))
		rna_strbuf_printf(out, "; planes %ju of %ju up", (uintmax_t)ports.planes_up.number,
				  (uintmax_t)ports.planes.number);
}

/* -- Cables ------------------------------------------------------------------------------------ */

static void say_cable(const struct rna_subject *port, struct rna_strbuf *out)
{
	const struct rna_peer *peer = port->peer;
	const char *name = peer->name ? peer->name : peer->guid;

	rna_strbuf_printf(out, "%s/%u to %s", port->rdma_device->name, port->port,
			  name ? name : "a node without name");
	if (peer->port)
		rna_strbuf_printf(out, " port %s", peer->port);
	if (peer->stale)
		rna_strbuf_puts(out, " (before)");
}

void rna_card_say_cables(const struct rna_subjects *subjects, const struct rna_card *card,
			 struct rna_strbuf *out)
{
	struct rna_card_cursor next = RNA_CARD_CURSOR_INIT;
	const struct rna_subject *port;
	size_t start = out->len, count = 0;

	while ((port = rna_card_next_port(subjects, card, &next))) {
		if (!port->peer)
			continue;
		if (count++ >= CABLES_MAX)
			continue;
		separate(out, start);
		say_cable(port, out);
	}
	if (count > CABLES_MAX)
		rna_strbuf_printf(out, ", %zu more", count - CABLES_MAX);
}

/* -- Unwired ports ----------------------------------------------------------------------------- */

static size_t count_unwired(const struct rna_subject_list *ports)
{
	return RNA_COUNT(i, ports->count, rna_port_is_unwired(&ports->items[i]));
}

void rna_say_unwired(const struct rna_subjects *subjects, struct rna_strbuf *out)
{
	const struct rna_subject_list *ports = &subjects->scopes[RNA_SCOPE_PORT];
	const struct rna_snapshot_device *last = NULL;
	size_t count = count_unwired(ports);

	if (count == 0)
		return;
	rna_strbuf_printf(out, "%zu unwired port%s:", count, count == 1 ? "" : "s");
	RNA_EACH (port, ports->items, ports->count) {
		if (!rna_port_is_unwired(port))
			continue;
		if (port->device == last)
			rna_strbuf_printf(out, ",%u", port->port);
		else
			rna_strbuf_printf(out, " %s/%u", port->rdma_device->name, port->port);
		last = port->device;
	}
}
