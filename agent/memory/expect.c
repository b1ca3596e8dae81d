// SPDX-License-Identifier: Apache-2.0
/*
 * Expectation. The reasons, and which wins, stand in rna/model/expectation.h.
 *
 * Siblings are taken with care, for a false alarm costs more trust than a missed one: only ports
 * that are expected in their own right count, only those in the same place on another card of the
 * same model (the same function and port number), and all of these must be meant to be up, two at
 * least. So a second port that was never cabled raises no finding, on one card or on all of them.
 *
 * A port is unwired if it has no interface, was never up and is down, and so are all ports of its
 * number on cards of its model, while other ports of its device have interfaces. In a container
 * that sees no interfaces there are none.
 */
#include "expect.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/device_filter.h"

enum { SIBLINGS_LEAST = 2, GLOB_MAX = 256 };

/* Where "/port" begins, or the end of text. */
static const char *port_of(const char *text)
{
	const char *slash = strrchr(text, '/');

	return slash ? slash : text + strlen(text);
}

/* The glob without "/port". False: it is too long to be one. */
static bool cut_glob(const char *text, char glob[GLOB_MAX])
{
	size_t len = (size_t)(port_of(text) - text);

	if (len >= GLOB_MAX)
		return false;
	memcpy(glob, text, len);
	glob[len] = '\0';
	return true;
}

bool rna_expect_glob_is_valid(const char *text)
{
	const char *port = port_of(text);
	char glob[GLOB_MAX];
	uint64_t number;

	if (*port && (rna_parse_u64(port + 1, &number) < 0 || number == 0))
		return false;
	return cut_glob(text, glob) && rna_device_glob_is_valid(glob);
}

bool rna_expect_fits(const char *text, const struct rna_snapshot_device *device, unsigned port,
		     const char *netdev)
{
	const struct rna_identity *identity = rna_device_identity(device);
	const struct rna_port_identity *own = rna_port_identity(device, port);
	const char *names[] = {
		device->device->name,
		device->device->pci_address,
		netdev,
		identity ? identity->node_guid : NULL,
		own ? own->port_guid : NULL,
	};
	const char *wanted = port_of(text);
	char glob[GLOB_MAX];
	uint64_t number;

	if (*wanted && (rna_parse_u64(wanted + 1, &number) < 0 || number != port))
		return false;
	if (!cut_glob(text, glob))
		return false;
	return RNA_ANY(i, RNA_ARRAY_SIZE(names), names[i] && fnmatch(glob, names[i], 0) == 0);
}

bool rna_expect_fits_device(const char *text, const char *name, const char *pci_address)
{
	char glob[GLOB_MAX];

	return cut_glob(text, glob) && ((name && fnmatch(glob, name, 0) == 0) ||
					(pci_address && fnmatch(glob, pci_address, 0) == 0));
}

static bool any_fits(char *const *list, const struct rna_judged_port *port)
{
	for (; list && *list; list++)
		if (rna_expect_fits(*list, port->device, port->number, port->netdev))
			return true;
	return false;
}

/* What is expected of the port by itself, without its siblings. */
static struct rna_expectation expect_alone(const struct rna_settings *settings,
					   const struct rna_judged_port *port)
{
	const struct rna_port_memory *memory = port->memory;

	if (any_fits(settings->expect_down, port))
		return (struct rna_expectation){RNA_EXPECTED_DOWN, RNA_EXPECTATION_CONFIGURED};
	if (any_fits(settings->expect_up, port))
		return (struct rna_expectation){RNA_EXPECTED_UP, RNA_EXPECTATION_CONFIGURED};
	if (port->represents)
		return (struct rna_expectation){RNA_EXPECTED_UNKNOWN, RNA_EXPECTATION_NONE};
	if (memory->accepted.expected != RNA_EXPECTED_UNKNOWN &&
	    memory->last_active <= memory->accepted.time)
		return (struct rna_expectation){memory->accepted.expected,
						RNA_EXPECTATION_ACCEPTED};
	if (memory->first_active > 0)
		return (struct rna_expectation){RNA_EXPECTED_UP, RNA_EXPECTATION_REMEMBERED};
	return (struct rna_expectation){RNA_EXPECTED_UNKNOWN, RNA_EXPECTATION_NONE};
}

/* -- Other ports of the model ------------------------------------------------------------------ */

/*
 * A node may have thousands of ports, so they are not compared in pairs. They are sorted instead:
 * ports that may be of one model are neighbours, and among these those of one board. A port whose
 * board is not known (yet) is like all of its neighbours.
 */
struct entry {
	struct rna_judged_port *port;
	const char *function; /* "" if ports of all functions are compared */
	bool board_known;
	const char *board;
	bool other; /* what contradicts: see the two rules below */
	bool wired; /* a port of its device has an interface */
};

struct tally {
	size_t count, others;
};

static int compare_texts(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* 0: they are of one model as far as the PCI function shows. */
static int compare_functions(const struct entry *a, const struct entry *b)
{
	const struct rna_device *x = a->port->device->device, *y = b->port->device->device;
	int order = compare_numbers(x->vendor_id, y->vendor_id);

	if (order == 0)
		order = compare_numbers(x->device_id, y->device_id);
	if (order == 0)
		order = compare_numbers(a->port->number, b->port->number);
	return order != 0 ? order : strcmp(a->function, b->function);
}

static int compare_boards(const struct entry *a, const struct entry *b)
{
	if (a->board_known != b->board_known)
		return (int)a->board_known - (int)b->board_known;
	return compare_texts(a->board, b->board);
}

static int compare_entries(const void *a, const void *b)
{
	int order = compare_functions(a, b);

	return order != 0 ? order : compare_boards(a, b);
}

static struct entry make_entry(struct rna_judged_port *port, const char *function, bool other)
{
	const struct rna_identity *identity = rna_device_identity(port->device);

	return (struct entry){
		.port = port,
		.function = function,
		.board_known = identity,
		.board = identity ? identity->board_id : NULL,
		.other = other,
	};
}

/* Counts those from first on that compare equal to it, up to end. */
static struct tally count_alike(const struct entry *first, const struct entry *end,
				int (*compare)(const struct entry *a, const struct entry *b))
{
	struct tally tally = {0};

	for (const struct entry *at = first; at < end && compare(first, at) == 0; at++) {
		tally.count++;
		tally.others += at->other;
	}
	return tally;
}

/*
 * Calls decide for each entry with the number of ports of its model, itself among them. Entries of
 * one model begin with those whose board is not known.
 */
static void for_each_model(struct entry *entries, size_t count,
			   void (*decide)(const struct entry *entry, const struct tally *model))
{
	const struct entry *at = entries, *end = entries + count;

	qsort(entries, count, sizeof(*entries), compare_entries);
	while (at < end) {
		const struct tally all = count_alike(at, end, compare_functions);
		const struct entry *stop = at + all.count;
		struct tally unknown = {0};

		while (at < stop) {
			struct tally board = count_alike(at, stop, compare_boards), model = all;

			if (!at->board_known)
				unknown = board;
			else
				model = (struct tally){board.count + unknown.count,
						       board.others + unknown.others};
			for (size_t i = 0; i < board.count; i++)
				decide(at++, &model);
		}
	}
}

/* "0" of "0000:3b:00.0": functions are numbered alike on cards of one model. */
static const char *function_of(const struct rna_device *device)
{
	const char *dot = strrchr(device->pci_address, '.');

	return dot ? dot + 1 : "";
}

static bool is_physical(const struct rna_device *device)
{
	return rna_device_is_nic(device) && device->pci_address && device->vendor_id > 0;
}

static bool is_open(const struct rna_judged_port *port)
{
	return port->expectation.reason == RNA_EXPECTATION_NONE && !port->represents;
}

/* -- Siblings: the same port of other cards ---------------------------------------------------- */

static bool may_be_sibling(const struct rna_judged_port *port)
{
	return is_open(port) && is_physical(port->device->device);
}

static void expect_as_siblings(const struct entry *entry, const struct tally *model)
{
	/* The port itself is one of the others, as nothing is expected of it yet. */
	if (may_be_sibling(entry->port) && model->others == 1 && model->count > SIBLINGS_LEAST)
		entry->port->expectation =
			(struct rna_expectation){RNA_EXPECTED_UP, RNA_EXPECTATION_SIBLINGS};
}

static void judge_by_siblings(struct rna_judged_port *ports, size_t count, struct entry *entries)
{
	size_t physical = 0;

	for (size_t i = 0; i < count; i++) {
		const struct rna_device *device = ports[i].device->device;

		if (is_physical(device))
			entries[physical++] =
				make_entry(&ports[i], function_of(device),
					   ports[i].expectation.expected != RNA_EXPECTED_UP);
	}
	for_each_model(entries, physical, expect_as_siblings);
}

/* -- Ports that no card of the model wires ----------------------------------------------------- */

static bool has_no_use(const struct rna_judged_port *port)
{
	const struct rna_port_identity *identity = rna_port_identity(port->device, port->number);
	const struct rna_port_state_value *state = rna_port_state(port->device, port->number);

	return identity && identity->link_layer == RNA_LINK_LAYER_ETHERNET && !port->netdev &&
	       port->memory->first_active == 0 && state && rna_value_is_known(state->state) &&
	       state->state.number == RNA_PORT_DOWN;
}

/* Whether ports of one device have an interface, each with the answer for its device. */
static void note_wired(const struct rna_judged_port *ports, size_t count, struct entry *entries)
{
	for (size_t first = 0, next; first < count; first = next) {
		bool wired = false;

		for (next = first; next < count && ports[next].device == ports[first].device;
		     next++)
			wired |= ports[next].netdev != NULL;
		for (size_t i = first; i < next; i++)
			entries[i].wired = wired;
	}
}

static bool may_be_unwired(const struct rna_judged_port *port)
{
	return is_open(port) && port->device->device->port_count > 1 && has_no_use(port);
}

static void expect_no_cable(const struct entry *entry, const struct tally *model)
{
	struct rna_judged_port *port = entry->port;

	if (entry->wired && model->others == 0 && may_be_unwired(port))
		port->expectation =
			(struct rna_expectation){RNA_EXPECTED_DOWN, RNA_EXPECTATION_UNWIRED};
}

static void judge_by_wires(struct rna_judged_port *ports, size_t count, struct entry *entries)
{
	for (size_t i = 0; i < count; i++)
		entries[i] = make_entry(&ports[i], "", !has_no_use(&ports[i]));
	note_wired(ports, count, entries);
	for_each_model(entries, count, expect_no_cable);
}

/* Nearly always something is expected of each port, and nothing has to be compared. */
static bool is_any(bool (*is)(const struct rna_judged_port *port),
		   const struct rna_judged_port *ports, size_t count)
{
	return RNA_ANY(i, count, is(&ports[i]));
}

int rna_expect(const struct rna_settings *settings, struct rna_judged_port *ports, size_t count)
{
	RNA_FREE struct entry *entries = NULL;

	for (size_t i = 0; i < count; i++)
		ports[i].expectation = expect_alone(settings, &ports[i]);
	if (!is_any(is_open, ports, count))
		return 0;
	entries = calloc(count, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	if (is_any(may_be_sibling, ports, count))
		judge_by_siblings(ports, count, entries);
	if (is_any(may_be_unwired, ports, count))
		judge_by_wires(ports, count, entries);
	return 0;
}
