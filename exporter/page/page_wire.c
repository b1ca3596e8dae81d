// SPDX-License-Identifier: Apache-2.0
/*
 * The wire below an Ethernet port, in as few words as it takes: what is in order is said quietly,
 * and what is beyond a limit of the module's own maker, or keeps the link down, is to be seen.
 */
#include "rna/model/ethernet.h"
#include "rna/model/module.h"

#include "page_parts.h"

/* -- The link ---------------------------------------------------------------------------------- */

static bool is_down_for_a_reason(const struct rna_ethernet_link *link)
{
	return rna_value_is_known(link->up) && link->up.number == 0 &&
	       rna_value_is_known(link->state);
}

static void write_mode(struct rna_strbuf *out, const struct rna_ethernet_netdev *netdev)
{
	const struct rna_value lanes = netdev->mode.lanes, fec = netdev->fec.active;

	if (!rna_value_is_known(lanes) && !rna_value_is_known(fec))
		return;
	rna_strbuf_puts(out, "<br><small>");
	if (rna_value_is_known(lanes))
		rna_strbuf_printf(out, "%ju lane%s", (uintmax_t)lanes.number,
				  lanes.number == 1 ? "" : "s");
	if (rna_value_is_known(fec))
		rna_strbuf_printf(out, "%sFEC %s", rna_value_is_known(lanes) ? ", " : "",
				  rna_fec_name((enum rna_fec)fec.number));
	rna_strbuf_puts(out, "</small>");
}

void rna_page_wire(struct rna_strbuf *out, const struct rna_subject *port)
{
	const struct rna_ethernet *ethernet = rna_device_ethernet(port->device);

	for (size_t i = 0; ethernet && i < ethernet->count; i++) {
		const struct rna_ethernet_netdev *netdev = &ethernet->netdevs[i];

		if (netdev->port != port->port)
			continue;
		if (!is_down_for_a_reason(&netdev->link)) {
			write_mode(out, netdev);
			continue;
		}
		rna_strbuf_puts(out, "<br>");
		rna_page_badge(out, rna_ethernet_link_state_text(netdev->link.state.number),
			       rna_subject_in_state(port, RNA_PORT_DOWN) ? rna_tone_state(port)
									 : RNA_TONE_BAD);
	}
}

/* -- Modules ----------------------------------------------------------------------------------- */

static enum rna_tone tone_of(enum rna_module_limit exceeded)
{
	switch (exceeded) {
	case RNA_MODULE_HIGH_ALARM:
	case RNA_MODULE_LOW_ALARM:
		return RNA_TONE_BAD;
	case RNA_MODULE_HIGH_WARNING:
	case RNA_MODULE_LOW_WARNING:
		return RNA_TONE_WARNING;
	default:
		return RNA_TONE_PLAIN;
	}
}

/* What is within its limits, or has none, is no badge. */
static void write_measure(struct rna_strbuf *out, const char *text, enum rna_module_limit exceeded)
{
	enum rna_tone tone = tone_of(exceeded);

	if (tone == RNA_TONE_PLAIN)
		rna_strbuf_printf(out, "<small>%s</small>", text);
	else
		rna_page_badge(out, text, tone);
}

static void write_temperature(struct rna_strbuf *out, const struct rna_port_module *module)
{
	char text[32];

	if (!rna_value_is_known(module->temperature))
		return;
	rna_strbuf_puts(out, "<br>");
	(void)snprintf(text, sizeof(text), "%.0f °C",
		       (double)(int64_t)module->temperature.number / 1000);
	write_measure(out, text,
		      rna_module_exceeded(module, RNA_MODULE_TEMPERATURE, module->temperature));
}

/* The light of the lane that gets the least, of those in use. */
static struct rna_value least_light(const struct rna_port_module *module)
{
	struct rna_value least = {0};

	for (unsigned lane = 0; lane < module->lane_count; lane++) {
		struct rna_value light = module->lanes[lane][RNA_MODULE_RECEIVE_POWER];

		if (rna_value_is_known(light) && rna_module_lane_is_used(module, lane) &&
		    (!rna_value_is_known(least) || light.number < least.number))
			least = light;
	}
	return least;
}

static void write_light(struct rna_strbuf *out, const struct rna_port_module *module)
{
	struct rna_value least = least_light(module);
	char text[32];

	if (module->copper || !rna_value_is_known(least))
		return;
	rna_strbuf_puts(out, rna_value_is_known(module->temperature) ? " " : "<br>");
	(void)snprintf(text, sizeof(text), "gets %.2f mW", (double)least.number / 1e6);
	write_measure(out, text, rna_module_exceeded(module, RNA_MODULE_RECEIVE_POWER, least));
}

static const struct rna_port_module *next_module(const struct rna_subject *port, size_t *from)
{
	const struct rna_modules *modules = rna_device_modules(port->device);

	while (modules && *from < modules->count) {
		const struct rna_port_module *module = &modules->modules[(*from)++];

		if (module->port == port->port)
			return module;
	}
	return NULL;
}

bool rna_page_has_modules(const struct rna_subject *port)
{
	size_t from = 0;

	return next_module(port, &from);
}

void rna_page_modules(struct rna_strbuf *out, const struct rna_subject *port)
{
	const struct rna_port_module *module;
	size_t from = 0;

	if (!rna_page_has_modules(port))
		rna_page_text(out, NULL);
	for (size_t i = 0; (module = next_module(port, &from)); i++) {
		rna_strbuf_puts(out, i > 0 ? "<br>" : "");
		rna_page_text(out, module->form);
		rna_strbuf_printf(out, " <small>%s</small>", module->copper ? "copper" : "optical");
		write_temperature(out, module);
		write_light(out, module);
	}
}
