// SPDX-License-Identifier: Apache-2.0
/*
 * Rules about the kernel log: what drivers say of themselves. One rule for each kind of message;
 * the room episodes decides which of them hold. One finding names all that a driver says of one
 * object in that respect, the worst first, with the number of messages and the first and last line.
 *
 * Where a counter tells the same fact of the same device, the rule about the counter speaks, and
 * quotes the log: a counter has a rate, and misses nothing. The log alone speaks where there is no
 * such counter, or it rose before the agent ran.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "rna/base/parse.h"

#include "episodes/episodes.h"
#include "settings/settings.h"

#include "past.h"
#include "remedy.h"
#include "rules.h"
#include "thresholds.h"

enum { MODULE_NAME_MAX = 56 }; /* MODULE_NAME_LEN of the kernel */

/* So often, and over that time, an interface stops: it does not recover by itself. */
enum { REPEATED = 3 };
#define REPEATED_FOR (60 * RNA_USEC_PER_SEC)

/* -- Kinds ------------------------------------------------------------------------------------- */

static const struct kind {
	const struct rna_rule *rule;
	/*
	 * Messages of severity info are a finding from this number on: single corrected errors of
	 * PCIe occur on healthy machines.
	 */
	uint64_t least;
} kinds[RNA_LOG_KIND_COUNT] = {
	[RNA_LOG_FIRMWARE] = {&rna_rule_firmware_failing, 1},
	[RNA_LOG_TRANSMIT] = {&rna_rule_transmit_timeout, 1},
	[RNA_LOG_PCIE] = {&rna_rule_pcie_errors_logged, 10},
	[RNA_LOG_MODULE] = {&rna_rule_module_event, 1},
	[RNA_LOG_TEMPERATURE] = {&rna_rule_device_overheated, 1},
	[RNA_LOG_IOMMU] = {&rna_rule_iommu_fault, 1},
	[RNA_LOG_CPU] = {&rna_rule_cpu_lockup, 1},
	[RNA_LOG_GPUDIRECT] = {&rna_rule_gpudirect_failing, 1},
	[RNA_LOG_PROTOCOL] = {&rna_rule_protocol_errors_logged, 3},
	[RNA_LOG_DRIVER] = {&rna_rule_driver_failing, 3},
	[RNA_LOG_SITE] = {&rna_rule_kernel_log_pattern, 1},
	[RNA_LOG_RECOVERY] = {NULL, 0},
};

static enum rna_log_kind kind_of(const struct rna_finds *out)
{
	enum rna_log_kind kind = 0;

	while (kind < RNA_LOG_RECOVERY && out->rule != kinds[kind].rule)
		kind++;
	return kind;
}

/* -- Severity ---------------------------------------------------------------------------------- */

static bool is_repeated(const struct rna_episode *episode)
{
	return episode->count >= REPEATED &&
	       rna_usec_since(episode->first.time, episode->last.time) >= REPEATED_FOR;
}

/* Has a rule found that the device is lost or slow? Rules of the log run behind those. */
static bool is_harmed(const struct rna_episode *episode, const struct rna_finds *out)
{
	const struct rna_snapshot_device *device = episode->object.device;

	for (size_t i = 0; device && i < out->count; i++)
		if (!out->items[i].unknown && out->items[i].finding.severity > RNA_SEVERITY_INFO &&
		    out->items[i].finding.impact <= RNA_IMPACT_ERRORS &&
		    rna_same_text(out->items[i].finding.device, device->device->name))
			return true;
	return !device;
}

/* Is the port that a module serves meant to be down, or of no known use? */
static bool is_unexpected_port(const struct rna_rule_input *in, const struct rna_episode *episode)
{
	bool any = false;

	RNA_EACH (port, in->ports->items, in->ports->count) {
		if (port->device != episode->object.device)
			continue;
		any = true;
		if (rna_subject_expected(port) == RNA_EXPECTED_UP)
			return false;
	}
	return any;
}

/* Only the power of the slot is routine. */
static bool is_normal_here(const struct rna_rule_input *in, const struct rna_episode *episode)
{
	const struct rna_readiness *readiness = rna_snapshot_readiness(in->view->snapshot);

	return episode->pattern->routine && readiness && readiness->platform.slot_power_is_normal;
}

/*
 * The table has the severity of a fault that lasts. After a message of recovery it is information,
 * unless it comes again and again. A queue that stopped once is no outage; one that stops again and
 * again is.
 */
static enum rna_severity severity_of(const struct rna_rule_input *in,
				     const struct rna_episode *episode, const struct rna_finds *out)
{
	enum rna_severity severity = episode->pattern->severity;

	if (is_normal_here(in, episode) || (episode->pattern->routine && !is_harmed(episode, out)))
		return RNA_SEVERITY_INFO;
	/* Nothing shows that RDMA depends on it. */
	if (episode->object.stranger && severity > RNA_SEVERITY_WARNING)
		severity = RNA_SEVERITY_WARNING;
	if (episode->pattern->kind == RNA_LOG_MODULE && is_unexpected_port(in, episode))
		return RNA_SEVERITY_INFO;
	if (episode->pattern->kind == RNA_LOG_TRANSMIT && severity == RNA_SEVERITY_WARNING &&
	    is_repeated(episode))
		severity = RNA_SEVERITY_CRITICAL;
	if (!episode->recovered)
		return severity;
	return is_repeated(episode) && severity != RNA_SEVERITY_INFO ? RNA_SEVERITY_WARNING
								     : RNA_SEVERITY_INFO;
}

/* -- The same fact from a counter -------------------------------------------------------------- */

static bool tells_of_modules(const struct rna_rule_input *in, const struct rna_subject *port)
{
	const struct rna_past *past = rna_rule_past_of(in, port);

	for (size_t i = 0; past && past->windows && i < in->thresholds->count; i++) {
		const struct rna_threshold *threshold = &in->thresholds->items[i];

		if (past->windows[i].over && threshold->source == RNA_THRESHOLD_OF_ETHERNET &&
		    (threshold->statistic == RNA_ETHERNET_MODULE_BUS_STUCK ||
		     threshold->statistic == RNA_ETHERNET_MODULE_HIGH_TEMPERATURE ||
		     threshold->statistic == RNA_ETHERNET_MODULE_BAD_SHORTED))
			return true;
	}
	return false;
}

static bool has_module_counters(const struct rna_rule_input *in,
				const struct rna_snapshot_device *device)
{
	return RNA_ANY(i, in->ports->count,
		       in->ports->items[i].device == device &&
			       tells_of_modules(in, &in->ports->items[i]));
}

/* The rule that has the fact from a counter; NULL: there is none. */
static const struct rna_rule *counting_rule(const struct rna_rule_input *in,
					    const struct rna_episode *episode)
{
	switch (episode->pattern->kind) {
	case RNA_LOG_PCIE:
		return episode->pattern->end == RNA_LOG_ENDS_COUNTERS ? &rna_rule_pcie_errors
								      : NULL;
	case RNA_LOG_TEMPERATURE:
		return &rna_rule_module_temperature;
	case RNA_LOG_MODULE:
		return has_module_counters(in, episode->object.device) ? &rna_rule_errors_rising
								       : NULL;
	case RNA_LOG_GPUDIRECT:
		return &rna_rule_gpudirect_not_ready;
	default:
		return NULL;
	}
}

/* Its finding about the same device; NULL: it has none. */
static struct rna_find *find_counted(const struct rna_rule_input *in,
				     const struct rna_episode *episode, struct rna_finds *out)
{
	const struct rna_snapshot_device *device = episode->object.device;
	const char *name = device ? device->device->name : NULL;
	const struct rna_rule *rule = counting_rule(in, episode);

	return RNA_FIND(i, out->items, rule ? out->count : 0,
			rna_rules[out->items[i].rule] == rule && !out->items[i].unknown &&
				rna_same_text(out->items[i].finding.device, name));
}

/*
 * What the kernel says of a module is why a function has no device: the module was refused, or its
 * probe. "bnxt_re: Unknown symbol ...", "mlx5_ib.rdma mlx5_core.rdma.0: probe with driver ..." name
 * it as the text of the finding does (explain() and why_none() in rules_absent.c).
 */
static bool is_about_its_module(const struct rna_episode *episode,
				const struct rna_finding *finding)
{
	char sentence[MODULE_NAME_MAX + sizeof("module  is ")];
	size_t len = strcspn(episode->last.text, ".: ");
	const char *found;

	if (episode->object.place != RNA_EPISODE_AT_NODE || len > MODULE_NAME_MAX)
		return false;
	(void)snprintf(sentence, sizeof(sentence), "module %.*s is ", (int)len, episode->last.text);
	found = strstr(finding->text, sentence);
	if (!found)
		return false;
	found += strlen(sentence);
	return strncmp(found, "loaded and", 10) == 0 || strncmp(found, "not loaded", 10) == 0;
}

/*
 * The finding that the function has no RDMA device, of which the driver or the kernel tells the
 * reason; NULL: there is none.
 */
static struct rna_find *find_absence(const struct rna_episode *episode, struct rna_finds *out)
{
	struct rna_find *absent = NULL;

	for (size_t i = 0; i < out->count; i++) {
		const struct rna_rule *rule = rna_rules[out->items[i].rule];
		const char *device = out->items[i].finding.device;

		if (out->items[i].unknown)
			continue;
		if (is_about_its_module(episode, &out->items[i].finding))
			return &out->items[i];
		if (episode->object.place != RNA_EPISODE_AT_FUNCTION)
			continue;
		if (rule == &rna_rule_rdma_absent)
			absent = &out->items[i];
		else if ((rule == &rna_rule_function_without_device ||
			  rule == &rna_rule_device_missing) &&
			 (rna_same_text(device, episode->object.address) ||
			  rna_same_text(device, episode->object.name)))
			return &out->items[i];
	}
	return absent;
}

/* -- Which episodes ---------------------------------------------------------------------------- */

/* Episodes of one kind about one object, the worst of them in front; NULL: there is none. */
struct about {
	const struct rna_episode *worst;
	enum rna_severity severity;
	size_t count;
};

/* Those that the finding of a counter carries, and the others. */
struct told {
	struct about counted, own;
};

static bool is_of(const struct rna_episode *episode, enum rna_log_kind kind)
{
	return episode->pattern->kind == kind && episode->state == RNA_EPISODE_HOLDS &&
	       episode->object.place != RNA_EPISODE_ELSEWHERE;
}

static bool is_same_object(const struct rna_episode_object *a, const struct rna_episode_object *b)
{
	return a->place == b->place && rna_same_text(a->address, b->address) &&
	       (a->place != RNA_EPISODE_AT_DEVICE || a->device == b->device);
}

static bool is_enough(const struct rna_episode *episode, enum rna_severity severity)
{
	return severity > RNA_SEVERITY_INFO || episode->pattern->severity > RNA_SEVERITY_INFO ||
	       episode->count >= kinds[episode->pattern->kind].least;
}

static void add(struct about *about, const struct rna_episode *episode, enum rna_severity severity)
{
	about->count++;
	if (about->worst && (severity < about->severity || (severity == about->severity &&
							    episode->heard <= about->worst->heard)))
		return;
	about->worst = episode;
	about->severity = severity;
}

static struct told look_at(const struct rna_rule_input *in, enum rna_log_kind kind,
			   const struct rna_episode_object *object, struct rna_finds *out)
{
	struct told told = {0};

	for (size_t i = 0; i < in->episodes->count; i++) {
		const struct rna_episode *episode = in->episodes->items[i];
		enum rna_severity severity;

		if (!is_of(episode, kind) || !is_same_object(&episode->object, object))
			continue;
		severity = severity_of(in, episode, out);
		if (find_counted(in, episode, out))
			add(&told.counted, episode, severity);
		else if (is_enough(episode, severity) || find_absence(episode, out))
			add(&told.own, episode, severity);
	}
	return told;
}

/* -- Text -------------------------------------------------------------------------------------- */

/* Of a recording no time is known that means something to a reader. */
static void write_time(const struct rna_episode_line *line, struct rna_strbuf *out)
{
	time_t seconds = (time_t)(line->realtime / RNA_USEC_PER_SEC);
	char text[32];
	struct tm utc;

	if (line->realtime && gmtime_r(&seconds, &utc) &&
	    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc) > 0)
		rna_strbuf_printf(out, "%s ", text);
}

static void write_line(const char *word, const struct rna_episode_line *line,
		       struct rna_strbuf *out)
{
	rna_strbuf_puts(out, word);
	write_time(line, out);
	rna_strbuf_printf(out, "\"%s\"", line->text);
}

/* "the firmware ..., 4 times: first TIME "LINE", last TIME "LINE"" */
static void write_episode(const struct rna_episode *episode, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, "%s", episode->pattern->meaning);
	if (episode->count > 1) {
		rna_strbuf_printf(out, " (%" PRIu64 " messages", episode->count);
		write_line(", first ", &episode->first, out);
	} else {
		rna_strbuf_puts(out, " (kernel log");
	}
	write_line(episode->count > 1 ? ", last " : ", ", &episode->last, out);
	rna_strbuf_puts(out, ")");
	if (episode->recovered)
		rna_strbuf_puts(out, "; the driver reports that it has recovered");
}

static void write_relation(const struct rna_episode *episode, struct rna_strbuf *out)
{
	if (episode->object.place != RNA_EPISODE_AT_DEVICE || !episode->pci)
		return;
	if (episode->object.relation == RNA_EPISODE_ABOVE)
		rna_strbuf_printf(out, "the PCIe port %s above it reports: ", episode->pci);
	else if (episode->object.relation == RNA_EPISODE_VIRTUAL)
		rna_strbuf_printf(out, "its virtual function %s: ", episode->pci);
}

/* What ends the finding. Nothing ends one of a recording. */
static void write_end(const struct rna_episode *episode, struct rna_strbuf *out)
{
	static const char *const ends[] = {
		[RNA_LOG_ENDS_ANSWERING] = "the device has answered for 10 minutes",
		[RNA_LOG_ENDS_SENDING] = "the interface has been up for 10 minutes",
		[RNA_LOG_ENDS_COUNTERS] = "its PCIe error counters have stood still for 10 minutes",
		[RNA_LOG_ENDS_COOL] = "its modules have been below their limits for 10 minutes",
		[RNA_LOG_ENDS_ACTIVE] = "its port has been up for 10 minutes",
		[RNA_LOG_ENDS_RECOVERED] = "the driver reports recovery",
		[RNA_LOG_ENDS_RUNNING] = "10 minutes have passed",
	};
	enum rna_log_end end = episode->pattern->end;

	if (!episode->last.realtime)
		return;
	rna_strbuf_puts(out, "; it resolves ");
	if (episode->recovered || episode->evidence != RNA_EPISODE_UNSEEN)
		rna_strbuf_printf(out, "when %s without a further message",
				  episode->recovered ? "10 minutes have passed" : ends[end]);
	else if (end == RNA_LOG_ENDS_RECOVERED && episode->pattern->recovered_by)
		rna_strbuf_printf(out,
				  "when %s, the device is registered again, or the node "
				  "reboots",
				  ends[end]);
	else
		rna_strbuf_printf(out,
				  "when %sthe node reboots, or by: rdma-node-agent expect accept "
				  "%s",
				  episode->object.place == RNA_EPISODE_AT_NODE
					  ? ""
					  : "the device is registered again or ",
				  episode->object.device ? episode->object.device->device->name
							 : "'*'");
}

static void write_about(const struct about *about, struct rna_strbuf *out)
{
	write_relation(about->worst, out);
	write_episode(about->worst, out);
	if (about->count > 1)
		rna_strbuf_printf(out, "; %zu other kind%s of such messages", about->count - 1,
				  about->count == 2 ? "" : "s");
	write_end(about->worst, out);
}

/* -- Causes ------------------------------------------------------------------------------------ */

/* The line without PCI addresses and the name of its device: what all functions say alike. */
static void write_alike(const struct rna_episode *episode, struct rna_strbuf *out)
{
	enum { ADDRESS = sizeof("0000:00:00.0") - 1 };
	const char *name = episode->object.device ? episode->object.device->device->name
						  : episode->object.name;

	for (const char *c = episode->last.text; *c; c++)
		if (rna_pci_is_address(c, strnlen(c, ADDRESS)))
			c += ADDRESS - 1;
		else if (name && strncmp(c, name, strlen(name)) == 0)
			c += strlen(name) - 1;
		else
			rna_strbuf_add_char(out, *c);
}

/*
 * What a driver says of functions that it refuses, and what it says at each boot, has one cause
 * wherever it says the same; anything else only on one card. NULL: the cause is its own.
 */
static const char *cause_of(const struct about *about, struct rna_finds *out)
{
	const struct rna_episode *episode = about->worst;
	const struct rna_snapshot_device *device = episode->object.device;
	const char *address = device ? device->device->pci_address : episode->object.address;
	RNA_STRBUF struct rna_strbuf alike = RNA_STRBUF_INIT;

	if (episode->object.place != RNA_EPISODE_AT_FUNCTION && !episode->pattern->routine)
		return address && episode->object.place == RNA_EPISODE_AT_DEVICE
			       ? rna_arena_printf(out->arena, "%s %.*s", episode->pattern->name,
						  (int)strcspn(address, "."), address)
			       : NULL;
	write_alike(episode, &alike);
	return rna_strbuf_ok(&alike)
		       ? rna_arena_printf(out->arena, "%s %s", episode->pattern->name, alike.data)
		       : NULL;
}

/* -- Findings of counters ---------------------------------------------------------------------- */

/* The finding of another rule carries it. */
static void join(struct rna_find *find, const struct about *about, struct rna_finds *out)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const char *joined = NULL;

	write_relation(about->worst, &text);
	write_episode(about->worst, &text);
	if (rna_strbuf_ok(&text))
		joined = rna_arena_printf(out->arena, "%s; %s", find->finding.text, text.data);
	if (joined)
		find->finding.text = joined;
	else
		out->failed = true;
	if (about->severity > find->finding.severity)
		find->finding.severity = about->severity;
}

/* -- Findings ---------------------------------------------------------------------------------- */

/* "mlx5_core 0000:3b:00.0", with the name that the device had. */
static void write_function(const struct rna_rule_input *in, const struct rna_episode *episode,
			   struct rna_strbuf *out)
{
	const struct rna_episode_object *object = &episode->object;
	const struct rna_nic *nic =
		rna_topology_nic_at(rna_snapshot_topology(in->view->snapshot), object->address);

	if (object->name)
		rna_strbuf_printf(out, "%s (", object->name);
	rna_strbuf_printf(out, "%s %s%s, which has no RDMA device: ",
			  nic && nic->driver ? nic->driver : "PCI function", object->address,
			  object->name ? ")" : "");
}

static void write_bridge(const struct rna_episode *episode, struct rna_strbuf *out)
{
	const struct rna_episode_object *object = &episode->object;

	rna_strbuf_printf(out, "%s, the PCIe port above %s and %zu other%s: ", object->address,
			  object->device->device->name, object->below - 1,
			  object->below == 2 ? "" : "s");
}

/* A finding that has no subject names its object itself. */
static const char *write_object(const struct rna_rule_input *in, const struct rna_episode *episode,
				struct rna_strbuf *out)
{
	const struct rna_episode_object *object = &episode->object;

	switch (object->place) {
	case RNA_EPISODE_AT_FUNCTION:
		write_function(in, episode, out);
		return object->name ? object->name : object->address;
	case RNA_EPISODE_AT_BRIDGE:
		write_bridge(episode, out);
		return object->address;
	default:
		return NULL;
	}
}

static const char *remedy_of(const struct rna_rule_input *in, const struct rna_finds *out,
			     const struct rna_episode *episode)
{
	const char *remedy =
		episode->pattern->remedy ? episode->pattern->remedy : out->rule->remedy;
	struct rna_remedy_place place;

	if (episode->object.place == RNA_EPISODE_AT_DEVICE)
		return remedy; /* its subject has the place */
	place = rna_rule_place_at(in,
				  episode->object.address ? episode->object.address : episode->pci);
	if (!place.driver)
		rna_remedy_place_set_driver(&place, rna_driver_named(episode->pattern->driver));
	place.device = episode->object.name;
	place.netdev = episode->netdev;
	return rna_rule_fill_remedy(remedy, &place, out->arena);
}

/* Of a line without a time, it began when it was heard. */
static struct rna_time since_of(const struct rna_episode *episode)
{
	if (!episode->first.realtime)
		return (struct rna_time){0};
	return (struct rna_time){
		.monotonic = episode->first.time ? episode->first.time : episode->heard,
		.realtime = episode->first.realtime,
	};
}

static void report(const struct rna_rule_input *in, const struct about *about,
		   struct rna_finds *out)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct rna_finding *found;
	const char *object;

	if (!about->worst)
		return;
	object = write_object(in, about->worst, &text);
	write_about(about, &text);
	if (!rna_strbuf_ok(&text)) {
		out->failed = true;
		return;
	}
	found = rna_finds_add(out, "%s", text.data);
	found->severity = about->severity;
	found->remedy = is_normal_here(in, about->worst)
				? "No action required: healthy boards of this kind print it at "
				  "each boot."
				: remedy_of(in, out, about->worst);
	found->since = since_of(about->worst);
	if (object)
		found->device = object;
	rna_finds_share_cause(out, cause_of(about, out));
}

/* The reason, and what to do about it, which is more exact; of a node without devices once. */
static void join_absence(const struct rna_rule_input *in, struct rna_find *find,
			 const struct about *about, struct rna_finds *out)
{
	if (strstr(find->finding.text, about->worst->pattern->meaning))
		return;
	join(find, about, out);
	if (about->worst->pattern->remedy)
		find->finding.remedy = remedy_of(in, out, about->worst);
	find->fold = cause_of(about, out);
}

static void report_all(const struct rna_rule_input *in, enum rna_log_kind kind,
		       const struct rna_episode_object *object, struct rna_finds *out)
{
	struct told told = look_at(in, kind, object, out);
	struct rna_find *absence = told.own.worst ? find_absence(told.own.worst, out) : NULL;

	if (told.counted.worst)
		join(find_counted(in, told.counted.worst, out), &told.counted, out);
	if (absence)
		join_absence(in, absence, &told.own, out);
	else
		report(in, &told.own, out);
}

/* Only for the first episode about an object, which stands for all of them. */
static bool is_first(const struct rna_rule_input *in, enum rna_log_kind kind, size_t index)
{
	const struct rna_episode *episode = in->episodes->items[index];

	return !RNA_ANY(i, index,
			is_of(in->episodes->items[i], kind) &&
				is_same_object(&in->episodes->items[i]->object, &episode->object));
}

/* Is there an RDMA device, or a NIC that has lost its own? */
static bool has_hardware(const struct rna_rule_input *in)
{
	const struct rna_topology *topology = rna_snapshot_topology(in->view->snapshot);

	for (size_t i = 0; i < in->devices->count; i++)
		if (in->devices->items[i].rdma_device->function != RNA_FUNCTION_VIRTUAL)
			return true;
	return RNA_ANY(i, topology ? topology->nic_count : 0,
		       !topology->nics[i].switch_management &&
			       topology->nics[i].rdma != RNA_NIC_RDMA_EXCLUDED);
}

/* What concerns no device that is there. */
static void check_others(const struct rna_rule_input *in, enum rna_log_kind kind,
			 struct rna_finds *out)
{
	for (size_t i = 0; i < in->episodes->count; i++) {
		const struct rna_episode *episode = in->episodes->items[i];

		if (!is_of(episode, kind) || episode->object.place == RNA_EPISODE_AT_DEVICE ||
		    (episode->object.place == RNA_EPISODE_AT_NODE && !has_hardware(in)) ||
		    !is_first(in, kind, i))
			continue;
		report_all(in, kind, &episode->object, out);
	}
}

static void check_episodes(const struct rna_rule_input *in, struct rna_finds *out)
{
	struct rna_episode_object object = {.place = RNA_EPISODE_AT_DEVICE};

	if (!in->episodes || in->episodes->count == 0)
		return;
	if (!in->subject) {
		check_others(in, kind_of(out), out);
		return;
	}
	object.device = in->subject->device;
	report_all(in, kind_of(out), &object, out);
}

const struct rna_rule rna_rule_firmware_failing = {
	RNA_RULE_ROW("firmware-failing", DEVICE, CRITICAL, RAIL_LOST, CARD, NOT_OBSERVED),
	.help = "The driver of a NIC reports in the kernel log that the firmware does not "
		"answer, or that the device is in an error state. Info once the driver "
		"reports recovery.",
	.check = check_episodes,
	.remedy = "Drain the node. {recover} If that does not help, {cycle}. If the "
		  "messages come again, {update}.",
	.message_id = "495ef9499a3b46d18f40a3c579f1fdef",
};

const struct rna_rule rna_rule_transmit_timeout = {
	RNA_RULE_ROW("transmit-timeout", DEVICE, WARNING, RAIL_SLOW, CARD, LINK_DEGRADED),
	.settles = true,
	.hold = "30s",
	.help = "The kernel reports a queue of a network interface that does not send. "
		"Critical if it does so at least three times in more than a minute; info "
		"after a single time from which the driver recovered.",
	.check = check_episodes,
	.remedy = "Look at pause frames (ethtool -S {netdev}), at the interrupts of the "
		  "queues, and for further errors of {pci} in the kernel log. If it does "
		  "not recover, drain the node. {recover} If it comes again, {update}.",
	.message_id = "9ee8d6dba0404a5d99c2b94807a47cc3",
};

const struct rna_rule rna_rule_pcie_errors_logged = {
	RNA_RULE_ROW("pcie-errors-logged", DEVICE, WARNING, ERRORS, CARD, LINK_DEGRADED),
	.settles = true,
	.help = "The kernel log reports errors of the PCIe path of a NIC: AER, a link that "
		"went down, too little slot power. Where pcie-errors counts the same "
		"errors, it quotes the log instead. Info from ten corrected errors on.",
	.check = check_episodes,
	.remedy = "{reseat} lspci -vvv -s {pci} shows the state of the link.",
	.message_id = "2140e98071ce421a8941fa69f060e169",
};

const struct rna_rule rna_rule_module_event = {
	RNA_RULE_ROW("module-event", DEVICE, WARNING, ERRORS, CABLE, LINK_DEGRADED),
	.settles = true,
	.hold = "30s",
	.help = "The driver of a NIC reports in the kernel log a fault of a transceiver, a "
		"cable or a cage. Where errors-rising counts the same, it quotes the log "
		"instead. Info if no port of the device is expected to be up.",
	.check = check_episodes,
	.remedy = "{provider}Reseat the transceiver or cable of {device}; if the message comes "
		  "again, replace it by one that the vendor of the NIC lists for this card.",
	.message_id = "09beb8df655841d1868b15aa7b4f4807",
};

const struct rna_rule rna_rule_device_overheated = {
	RNA_RULE_ROW("device-overheated", DEVICE, CRITICAL, RAIL_SLOW, CARD, LINK_DEGRADED),
	.help = "The driver of a NIC reports in the kernel log that the card or one of its "
		"modules is too hot. Where module-temperature measures it, that quotes the "
		"log instead.",
	.check = check_episodes,
	.remedy = "{provider}Check fans, air flow and inlet temperature of the node, and blanking "
		  "panels; compare {device} with its siblings. A card that is too hot lowers "
		  "its speed or shuts down.",
	.message_id = "9aeeb8f8131d4000b16f59b0a030a7a8",
};

const struct rna_rule rna_rule_iommu_fault = {
	RNA_RULE_ROW("iommu-fault", DEVICE, WARNING, ERRORS, HOST, LINK_DEGRADED),
	.help = "The IOMMU rejected an access of a NIC to memory: transfers fail or lose "
		"data.",
	.check = check_episodes,
	.remedy = "Compare the mode of the IOMMU with that of healthy nodes (iommu=pt on the "
		  "kernel's command line), and update kernel, NIC driver and firmware of "
		  "{device}. The line of the log names the address.",
	.message_id = "0d0e4bb7e7e4498f9cdf48edde16177e",
};

const struct rna_rule rna_rule_cpu_lockup = {
	RNA_RULE_ROW("cpu-lockup", DEVICE, WARNING, HOST, HOST, NOT_READY),
	.help = "The kernel reports a processor that was stuck in the driver of a NIC.",
	.check = check_episodes,
	.remedy = "Update kernel and NIC driver. Look for an interrupt storm "
		  "(/proc/interrupts) and for errors of the same driver before it; a node "
		  "that does so again needs a reboot.",
	.message_id = "81c7508f18ac495bbd9aaae9cab23570",
};

const struct rna_rule rna_rule_gpudirect_failing = {
	RNA_RULE_ROW("gpudirect-failing", DEVICE, WARNING, HOST, HOST, NOT_READY),
	.settles = true,
	.hold = "1m",
	.help = "The kernel log reports errors of the module through which NICs reach GPU "
		"memory. Where gpudirect-not-ready holds, it quotes the log instead.",
	.check = check_episodes,
	.remedy = "Load the peer memory module of the installed GPU driver again (modprobe "
		  "-r nvidia_peermem, modprobe nvidia_peermem); both must be of one version. "
		  "dma-buf needs no such module.",
	.message_id = "6eb493168db64fc4aaeeff2767ae8f0f",
};

const struct rna_rule rna_rule_protocol_errors_logged = {
	RNA_RULE_ROW("protocol-errors-logged", DEVICE, WARNING, FABRIC, FABRIC, FABRIC_UNHEALTHY),
	.settles = true,
	.hold = "1m",
	.help = "The RDMA core of the kernel, or a protocol on it (IPoIB, SRP, iSER, NFS), "
		"reports errors in the kernel log. Info messages count from the third on.",
	.check = check_episodes,
	.remedy = "Look at the peer that the line names, and {fabric}: this node "
		  "may be healthy. If only one device has the finding, compare its port "
		  "with its siblings.",
	.message_id = "536f5fee85b14e2c93c5fa7e6d5a2900",
};

const struct rna_rule rna_rule_driver_failing = {
	RNA_RULE_ROW("driver-failing", DEVICE, WARNING, RAIL_LOST, CARD, NOT_READY),
	.settles = true,
	.hold = "1m",
	.help = "The driver of a NIC reports in the kernel log that it failed at something "
		"that no other rule names, for example at its probe. Info messages count "
		"from the third on.",
	.check = check_episodes,
	.remedy = "Search the kernel log for {pci}: the lines before it have the cause. "
		  "Compare the versions of driver and firmware with those of healthy nodes.",
	.message_id = "51f62479c218411884953538e4fdceda",
};

const struct rna_rule rna_rule_kernel_log_pattern = {
	RNA_RULE_ROW("kernel-log-pattern", NODE, WARNING, HOST, HOST, NOT_READY),
	.help = "The kernel log has a message that the site looks for "
		"(kernel_log.patterns). Severity and text are those of the pattern.",
	.check = check_episodes,
	.remedy = "Ask those who wrote the pattern: kernel_log.patterns in the agent's "
		  "configuration file. A remedy there takes the place of this one.",
	.message_id = "58eae45f52d9442fbcaa1ce5abd44f6b",
};

/* -- The log itself ---------------------------------------------------------------------------- */

static void check_kernel_log_flood(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_kernel_log *log = rna_snapshot_kernel_log(in->view->snapshot);

	if (!log || !in->episodes || !in->episodes->flood)
		return;
	(void)rna_finds_add(out, "the kernel log grows by %.0f messages a minute%s%s%s",
			    log->rate * 60, log->loudest ? ", most of them by " : "",
			    log->loudest ? log->loudest : "",
			    log->lost > 0 ? "; some were lost before the agent read them" : "");
}

const struct rna_rule rna_rule_kernel_log_flood = {
	RNA_RULE_ROW("kernel-log-flood", NODE, WARNING, HOST, HOST, NOT_READY),
	.settles = true,
	.hold = "1m",
	.help = "The kernel log grows by more than 6,000 messages a minute, of any driver "
		"or program: they fill the disk and push other messages out. Resolved "
		"below half of that.",
	.check = check_kernel_log_flood,
	.remedy = "Read the newest messages (dmesg, journalctl -k) and repair what repeats. "
		  "Until then watch the disk: journalctl --vacuum-size, logrotate.",
	.message_id = "1c367c8f661740188dff26930215722d",
};

/* Where nothing is wanted, or a recording has no log, there is no error. */
static void check_kernel_log_unread(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_kernel_log *log = rna_snapshot_kernel_log(in->view->snapshot);

	if (!log || log->source != RNA_KERNEL_LOG_NONE || log->error == 0 || !has_hardware(in))
		return;
	(void)rna_finds_add(out, "the agent cannot read the kernel log: %s",
			    log->problem ? log->problem : strerror(-log->error));
}

const struct rna_rule rna_rule_kernel_log_unread = {
	RNA_RULE_ROW("kernel-log-unread", NODE, INFO, AGENT, HOST, NOT_OBSERVED),
	.hold = "1m",
	.help = "The agent may not read the kernel log: rules about it find nothing.",
	.check = check_kernel_log_unread,
	.remedy = "No action required. To let the agent read the log, install "
		  "systemd/profiles/kernel-log.conf or journal.conf, or set kernelLog.journal "
		  "of the chart. To do without, set kernel_log.source to off.",
	.message_id = "3bf6646d8f8f497988c0c52cefbedf36",
};
