// SPDX-License-Identifier: Apache-2.0
#include "probe_text.h"

/* -- One pair, one port ------------------------------------------------------------------------ */

enum rna_probe_result rna_probe_result(const struct rna_probe_pair *pair)
{
	for (unsigned i = 0; i < RNA_PROBE_SIGNS; i++)
		if (pair->signs & 1u << i)
			return (enum rna_probe_result)i;
	switch (pair->state) {
	case RNA_PROBE_WAITING:
		return RNA_PROBE_RESULT_WAITING;
	case RNA_PROBE_PEER_DOWN:
		return RNA_PROBE_RESULT_PEER_DOWN;
	case RNA_PROBE_PEER_REFUSED:
		return RNA_PROBE_RESULT_REFUSED;
	case RNA_PROBE_NO_NEIGHBOUR:
		return RNA_PROBE_RESULT_NO_NEIGHBOUR;
	case RNA_PROBE_LOCAL:
		return RNA_PROBE_RESULT_LOCAL;
	default:
		return pair->recent.answered > 0 ? RNA_PROBE_RESULT_OK : RNA_PROBE_RESULT_STARTING;
	}
}

const char *rna_probe_result_name(enum rna_probe_result result)
{
	if ((unsigned)result < RNA_PROBE_SIGNS)
		return rna_probe_sign_name(1u << result);
	switch (result) {
	case RNA_PROBE_RESULT_REFUSED:
		return rna_probe_state_name(RNA_PROBE_PEER_REFUSED);
	case RNA_PROBE_RESULT_NO_NEIGHBOUR:
		return rna_probe_state_name(RNA_PROBE_NO_NEIGHBOUR);
	case RNA_PROBE_RESULT_WAITING:
		return rna_probe_state_name(RNA_PROBE_WAITING);
	case RNA_PROBE_RESULT_PEER_DOWN:
		return rna_probe_state_name(RNA_PROBE_PEER_DOWN);
	case RNA_PROBE_RESULT_LOCAL:
		return rna_probe_state_name(RNA_PROBE_LOCAL);
	default:
		return result == RNA_PROBE_RESULT_OK ? "ok" : "starting";
	}
}

bool rna_probe_pair_is_idle(const struct rna_probe_pair *pair)
{
	return pair->scope == RNA_PROBE_HOST && pair->state != RNA_PROBE_RUNNING &&
	       pair->signs == 0;
}

enum rna_probe_port_result rna_probe_port_result(const struct rna_probe_port *port)
{
	static const enum rna_probe_port_result of_use[RNA_PROBE_USE_COUNT] = {
		[RNA_PROBE_OFF] = RNA_PROBE_PORT_OFF,
		[RNA_PROBE_OPENING] = RNA_PROBE_PORT_OPENING,
		[RNA_PROBE_FAILED] = RNA_PROBE_PORT_FAILED,
		[RNA_PROBE_PAUSED] = RNA_PROBE_PORT_PAUSED,
	};
	static const enum rna_probe_port_result of_verdict[RNA_PROBE_VERDICT_COUNT] = {
		[RNA_PROBE_UNKNOWN] = RNA_PROBE_PORT_UNKNOWN,
		[RNA_PROBE_WELL] = RNA_PROBE_PORT_WELL,
		[RNA_PROBE_UNREACHABLE] = RNA_PROBE_PORT_UNREACHABLE,
		[RNA_PROBE_LOSSY] = RNA_PROBE_PORT_LOSSY,
	};

	return port->use == RNA_PROBE_OPEN ? of_verdict[port->verdict] : of_use[port->use];
}

const char *rna_probe_port_result_name(enum rna_probe_port_result result)
{
	switch (result) {
	case RNA_PROBE_PORT_UNREACHABLE:
		return rna_probe_verdict_name(RNA_PROBE_UNREACHABLE);
	case RNA_PROBE_PORT_LOSSY:
		return rna_probe_verdict_name(RNA_PROBE_LOSSY);
	case RNA_PROBE_PORT_WELL:
		return rna_probe_verdict_name(RNA_PROBE_WELL);
	case RNA_PROBE_PORT_PAUSED:
		return rna_probe_use_name(RNA_PROBE_PAUSED);
	case RNA_PROBE_PORT_FAILED:
		return rna_probe_use_name(RNA_PROBE_FAILED);
	case RNA_PROBE_PORT_OPENING:
		return rna_probe_use_name(RNA_PROBE_OPENING);
	case RNA_PROBE_PORT_OFF:
		return rna_probe_use_name(RNA_PROBE_OFF);
	default:
		return rna_probe_verdict_name(RNA_PROBE_UNKNOWN);
	}
}

/* -- The whole --------------------------------------------------------------------------------- */

/* "2 silent, ", of those that there are; separator: before the first. */
static void add_count(size_t count, const char *name, const char **separator,
		      struct rna_strbuf *out)
{
	if (count == 0)
		return;
	rna_strbuf_printf(out, "%s%zu %s", *separator, count, name);
	*separator = ", ";
}

void rna_probes_add_summary(const struct rna_probes *probes, struct rna_strbuf *out)
{
	size_t ports[RNA_PROBE_PORT_RESULT_COUNT] = {0}, pairs[RNA_PROBE_RESULT_COUNT] = {0};
	const char *separator = ": ";

	for (size_t i = 0; i < probes->port_count; i++)
		ports[rna_probe_port_result(&probes->ports[i])]++;
	for (size_t i = 0; i < probes->pair_count; i++)
		pairs[rna_probe_result(&probes->pairs[i])]++;
	rna_strbuf_printf(out, "%zu port%s", probes->port_count,
			  probes->port_count == 1 ? "" : "s");
	for (size_t i = 0; i < RNA_PROBE_PORT_RESULT_COUNT; i++)
		add_count(ports[i], rna_probe_port_result_name((enum rna_probe_port_result)i),
			  &separator, out);
	rna_strbuf_printf(out, "; %zu pair%s", probes->pair_count,
			  probes->pair_count == 1 ? "" : "s");
	separator = ": ";
	for (size_t i = 0; i < RNA_PROBE_RESULT_COUNT; i++)
		add_count(pairs[i], rna_probe_result_name((enum rna_probe_result)i), &separator,
			  out);
	if (rna_probes_without_leaf(probes) > 0)
		rna_strbuf_printf(out, "; ports whose leaf switch is unknown: %zu",
				  rna_probes_without_leaf(probes));
}

void rna_probe_add_rtt(uint64_t nanoseconds, struct rna_strbuf *out)
{
	static const char *const units[] = {"ns", "µs", "ms", "s"};
	double number = (double)nanoseconds;
	size_t unit = 0;

	if (nanoseconds == 0)
		return;
	for (; number >= 999.5 && unit + 1 < RNA_ARRAY_SIZE(units); unit++)
		number /= 1000;
	rna_strbuf_printf(out, "%.*f %s", unit > 0 && number < 99.95 ? 1 : 0, number, units[unit]);
}
