// SPDX-License-Identifier: Apache-2.0
/*
 * Rules about counters. The windows of a port's past (past.h) count how far each counter rose;
 * these rules make findings of it.
 */
#include <string.h>

#include "rna/base/duration.h"

#include "past.h"
#include "rules.h"
#include "thresholds.h"

/* Times in seconds: microseconds are for machines. */
static void write_amount(const struct rna_threshold *threshold, uint64_t amount,
			 struct rna_strbuf *out)
{
	bool time = threshold->source == RNA_THRESHOLD_OF_ETHERNET &&
		    rna_ethernet_statistics[threshold->statistic].unit == RNA_ETHERNET_MICROSECONDS;

	if (time)
		rna_strbuf_printf(out, "%.3g s", (double)amount / 1e6);
	else
		rna_strbuf_printf(out, "%ju", (uintmax_t)amount);
}

static void write_rise(const struct rna_rule_input *in, size_t i, struct rna_strbuf *out)
{
	const struct rna_threshold *threshold = &in->thresholds->items[i];
	const struct rna_window *windows = in->subject->past->windows;
	bool known;

	rna_strbuf_printf(out, "%s%s rose by ", out->len > 0 ? "; " : "", threshold->name);
	write_amount(threshold, rna_window_rise(&windows[i]), out);
	rna_strbuf_puts(out, " in ");
	rna_duration_write(threshold->window, out);
	rna_strbuf_puts(out, " (threshold ");
	write_amount(threshold, rna_threshold_limit(in->thresholds, i, windows, &known), out);
	if (threshold->base)
		rna_strbuf_printf(out, ": %ju, and %u for each million %s",
				  (uintmax_t)threshold->limit, threshold->share, threshold->base);
	rna_strbuf_printf(out, "): %s", threshold->why);
}

/* Is the rise of one counter beyond its threshold, with what it depends on known? */
static bool is_over(const struct rna_rule_input *in, size_t i)
{
	const struct rna_window *windows = in->subject->past->windows;
	bool known;

	if (!windows[i].over || in->thresholds->items[i].is_base)
		return false; /* nearly always */
	(void)rna_threshold_limit(in->thresholds, i, windows, &known);
	return known;
}

/* Of two thresholds the first that is exceeded suffices. */
static void write_downs(const struct rna_threshold *threshold, const struct rna_window *window,
			struct rna_strbuf *out)
{
	if (out->len > 0)
		return;
	rna_strbuf_printf(out, "the port went down %ju times in ",
			  (uintmax_t)rna_window_rise(window));
	rna_duration_write(threshold->window, out);
}

/* For each rule that has thresholds: one finding names all counters that exceed theirs. */
void rna_check_threshold(const struct rna_rule_input *in, struct rna_finds *out)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const struct rna_past *past = in->subject->past;
	enum rna_severity worst = RNA_SEVERITY_INFO;

	for (size_t i = 0; past && past->windows && i < in->thresholds->count; i++) {
		const struct rna_threshold *threshold = &in->thresholds->items[i];
		const struct rna_window *window = &past->windows[i];

		if (out->rule != &rna_rules[threshold->rule] || !is_over(in, i))
			continue;
		if (threshold->source == RNA_THRESHOLD_OF_DOWNS)
			write_downs(threshold, window, &text);
		else
			write_rise(in, i, &text);
		worst = threshold->severity > worst ? threshold->severity : worst;
	}
	if (!rna_strbuf_ok(&text))
		out->failed = true;
	else if (text.len > 0)
		rna_finds_add(out, "%s", text.data)->severity = worst;
}

/*
 * A requester counts local_ack_timeout_err when nothing returns: one dead peer lets it rise at each
 * of its healthy neighbours. packet_seq_err counts answers of peers that are alive and miss packets
 * of this port (sequence error NAKs received, mlx5): if they agree, the port or its path loses
 * packets. No counter says how many peers they are.
 */
void rna_check_acknowledgements_missing(const struct rna_rule_input *in, struct rna_finds *out)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const struct rna_past *past = in->subject->past;
	struct rna_finding *found;
	bool peers_agree = false;

	for (size_t i = 0; past && past->windows && i < in->thresholds->count; i++) {
		const struct rna_threshold *threshold = &in->thresholds->items[i];

		if (threshold->evidence && past->windows[i].over)
			peers_agree = true;
		else if (out->rule == &rna_rules[threshold->rule] && is_over(in, i))
			write_rise(in, i, &text);
	}
	if (!rna_strbuf_ok(&text))
		out->failed = true;
	if (out->failed || text.len == 0)
		return;
	found = rna_finds_add(out, "%s; %s", text.data,
			      peers_agree ? "peers that answer report lost packets as well"
					  : "peers that answer report no loss");
	if (!peers_agree)
		return;
	found->severity = RNA_SEVERITY_WARNING;
	found->remedy =
		"Check the cable of {object}, and discards and QoS of its switch port: this "
		"port or its path loses packets.";
}

static bool is_watched(const struct rna_thresholds *thresholds, const struct rna_counter *counter)
{
	for (size_t i = 0; i < thresholds->count; i++)
		if (thresholds->items[i].counter == counter && !thresholds->items[i].is_base)
			return true;
	return strcmp(counter->file, "link_downed") == 0; /* transitions are counted by it */
}

/* 32 bits of traffic fill within seconds: a reset does not help. */
static const char traffic_remedy[] =
	"The driver of {object} counts traffic in 32 bits. Permit MADs to the agent, which read "
	"64-bit counters (systemd/profiles/umad.conf; umad.enabled of the chart), or ignore "
	"these counters.";

/* Counters that stand at their maximum. */
struct stuck {
	struct rna_strbuf *names;
	size_t count, watched, traffic;
};

static void add_stuck(const struct rna_rule_input *in, enum rna_collector_id collector,
		      struct stuck *stuck)
{
	const struct rna_counters_part *part = rna_device_counters(in->subject->device, collector);

	for (size_t g = 0; part && g < part->group_count; g++)
		for (size_t i = 0; i < part->groups[g].count; i++) {
			const struct rna_counter_value *value = &part->groups[g].values[i];

			if (part->groups[g].port != in->subject->number ||
			    !rna_counter_is_stuck(value))
				continue;
			rna_strbuf_printf(stuck->names, "%s%s", stuck->count++ > 0 ? ", " : "",
					  value->file);
			stuck->watched += is_watched(in->thresholds, value->counter);
			stuck->traffic += value->counter->small_width > 0;
		}
}

/* A warning if a threshold watches the counter, because its rule cannot see further errors. */
void rna_check_counter_saturated(const struct rna_rule_input *in, struct rna_finds *out)
{
	RNA_STRBUF struct rna_strbuf names = RNA_STRBUF_INIT;
	struct stuck stuck = {.names = &names};
	struct rna_finding *found;

	add_stuck(in, RNA_COLLECTOR_COUNTERS, &stuck);
	add_stuck(in, RNA_COLLECTOR_FABRIC, &stuck);
	if (!rna_strbuf_ok(&names))
		out->failed = true;
	if (out->failed || stuck.count == 0)
		return;
	found = rna_finds_add(out, "counter%s stopped at the maximum: %s",
			      stuck.count > 1 ? "s" : "", names.data);
	found->severity = stuck.watched > 0 ? RNA_SEVERITY_WARNING : RNA_SEVERITY_INFO;
	if (stuck.traffic == stuck.count)
		found->remedy = traffic_remedy;
}
