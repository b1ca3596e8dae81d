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

#include <fnmatch.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/card.h"
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

bool rna_expect_fits(const char *text, const struct rna_judged_port *port)
{
	const struct rna_identity *identity = rna_device_identity(port->device);
	const struct rna_port_identity *own = rna_port_identity(port->device, port->number);
	const char *names[] = {
		port->device->device->name,
		port->device->device->pci_address,
		port->netdev,
		identity ? identity->node_guid : NULL,
		own ? own->port_guid : NULL,
	};
	const char *wanted = port_of(text);
	char glob[GLOB_MAX];
	uint64_t number;

	if (*wanted && (rna_parse_u64(wanted + 1, &number) < 0 || number != port->number))
		return false;
	if (!cut_glob(text, glob))
		return false;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(names); i++)
		if (names[i] && fnmatch(glob, names[i], 0) == 0)
			return true;
	return false;
}

static bool any_fits(char *const *list, const struct rna_judged_port *port)
{
	for (; list && *list; list++)
		if (rna_expect_fits(*list, port))
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
	if (memory->accepted.expected != RNA_EXPECTED_UNKNOWN &&
	    memory->last_active <= memory->accepted.time)
		return (struct rna_expectation){memory->accepted.expected,
						RNA_EXPECTATION_ACCEPTED};
	if (memory->first_active > 0)
		return (struct rna_expectation){RNA_EXPECTED_UP, RNA_EXPECTATION_REMEMBERED};
	return (struct rna_expectation){RNA_EXPECTED_UNKNOWN, RNA_EXPECTATION_NONE};
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

/* Are both in the same place on cards of the same model? */
static bool are_siblings(const struct rna_judged_port *a, const struct rna_judged_port *b)
{
	const struct rna_device *x = a->device->device, *y = b->device->device;

	if (a == b || a->number != b->number || !is_physical(x) || !is_physical(y) ||
	    !rna_card_is_same_model(a->device, b->device))
		return false;
	return strcmp(function_of(x), function_of(y)) == 0;
}

static bool siblings_are_up(const struct rna_judged_port *port, const struct rna_judged_port *ports,
			    size_t count)
{
	unsigned siblings = 0;

	if (!is_physical(port->device->device))
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct rna_expectation *expectation = &ports[i].expectation;

		if (!are_siblings(port, &ports[i]))
			continue;
		if (expectation->expected != RNA_EXPECTED_UP ||
		    expectation->reason == RNA_EXPECTATION_SIBLINGS)
			return false;
		siblings++;
	}
	return siblings >= SIBLINGS_LEAST;
}

static bool has_no_use(const struct rna_judged_port *port)
{
	const struct rna_port_identity *identity = rna_port_identity(port->device, port->number);
	const struct rna_port_state_value *state = rna_port_state(port->device, port->number);

	return identity && identity->link_layer == RNA_LINK_LAYER_ETHERNET && !port->netdev &&
	       port->memory->first_active == 0 && state && rna_value_is_known(state->state) &&
	       state->state.number == RNA_PORT_DOWN;
}

static bool is_unwired(const struct rna_judged_port *port, const struct rna_judged_port *ports,
		       size_t count)
{
	bool others = false;

	if (port->device->device->port_count < 2 || !has_no_use(port))
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct rna_judged_port *other = &ports[i];

		others |= other->device == port->device && other->netdev;
		if (other->number == port->number && !has_no_use(other) &&
		    rna_card_is_same_model(other->device, port->device))
			return false;
	}
	return others;
}

void rna_expect(const struct rna_settings *settings, struct rna_judged_port *ports, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ports[i].expectation = expect_alone(settings, &ports[i]);
	for (size_t i = 0; i < count; i++)
		if (ports[i].expectation.reason == RNA_EXPECTATION_NONE &&
		    siblings_are_up(&ports[i], ports, count))
			ports[i].expectation =
				(struct rna_expectation){RNA_EXPECTED_UP, RNA_EXPECTATION_SIBLINGS};
	for (size_t i = 0; i < count; i++)
		if (ports[i].expectation.reason == RNA_EXPECTATION_NONE &&
		    is_unwired(&ports[i], ports, count))
			ports[i].expectation = (struct rna_expectation){RNA_EXPECTED_DOWN,
									RNA_EXPECTATION_UNWIRED};
}
