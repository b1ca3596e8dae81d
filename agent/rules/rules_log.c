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

/* So often, and over that time, an interface stops: it does not recover by itself. */
enum { REPEATED = 3 };
#define REPEATED_FOR (60 * RNA_USEC_PER_SEC)

/* -- Kinds ------------------------------------------------------------------------------------- */

static const struct kind {
	enum rna_rule_id rule;
	/*
	 * Messages of severity info are a finding from this number on: single corrected errors of
	 * PCIe occur on healthy machines.
	 */
	uint64_t least;
} kinds[RNA_LOG_KIND_COUNT] = {
	[RNA_LOG_FIRMWARE] = {RNA_RULE_FIRMWARE_FAILING, 1},
	[RNA_LOG_TRANSMIT] = {RNA_RULE_TRANSMIT_TIMEOUT, 1},
	[RNA_LOG_PCIE] = {RNA_RULE_PCIE_ERRORS_LOGGED, 10},
	[RNA_LOG_MODULE] = {RNA_RULE_MODULE_EVENT, 1},
	[RNA_LOG_TEMPERATURE] = {RNA_RULE_DEVICE_OVERHEATED, 1},
	[RNA_LOG_IOMMU] = {RNA_RULE_IOMMU_FAULT, 1},
	[RNA_LOG_CPU] = {RNA_RULE_CPU_LOCKUP, 1},
	[RNA_LOG_GPUDIRECT] = {RNA_RULE_GPUDIRECT_FAILING, 1},
	[RNA_LOG_PROTOCOL] = {RNA_RULE_PROTOCOL_ERRORS_LOGGED, 3},
	[RNA_LOG_DRIVER] = {RNA_RULE_DRIVER_FAILING, 3},
	[RNA_LOG_SITE] = {RNA_RULE_KERNEL_LOG_PATTERN, 1},
	[RNA_LOG_RECOVERY] = {RNA_RULE_COUNT, 0},
};

static enum rna_log_kind kind_of(const struct rna_finds *out)
{
	enum rna_log_kind kind = 0;

	while (kind < RNA_LOG_RECOVERY && out->rule != &rna_rules[kinds[kind].rule])
		kind++;
	return kind;
}

/* -- Severity ---------------------------------------------------------------------------------- */

static bool is_repeated(const struct rna_episode *episode)
{
	return episode->count >= REPEATED &&
	       rna_usec_since(episode->first.time, episode->last.time) >= REPEATED_FOR;
}

/* Is the port that a module serves meant to be down, or of no known use? */
static bool is_unexpected_port(const struct rna_rule_input *in, const struct rna_episode *episode)
{
	bool any = false;

	for (size_t i = 0; i < in->count; i++) {
		const struct rna_rule_subject *port = &in->subjects[i];

		if (port->device != episode->object.device || port->number == 0)
			continue;
		any = true;
		if (rna_subject_expected(port) == RNA_EXPECTED_UP)
			return false;
	}
	return any;
}

/*
 * The table has the severity of a fault that lasts. After a message of recovery it is information,
 * unless it comes again and again. A queue that stopped once is no outage; one that stops again and
 * again is.
 */
static enum rna_severity severity_of(const struct rna_rule_input *in,
				     const struct rna_episode *episode)
{
	enum rna_severity severity = episode->pattern->severity;

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

static bool tells_of_modules(const struct rna_rule_input *in, const struct rna_rule_subject *port)
{
	const struct rna_past *past = port->past;

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
	for (size_t i = 0; i < in->count; i++)
		if (in->subjects[i].device == device && tells_of_modules(in, &in->subjects[i]))
			return true;
	return false;
}

/* The rule that has the fact from a counter; RNA_RULE_COUNT: there is none. */
static enum rna_rule_id counting_rule(const struct rna_rule_input *in,
				      const struct rna_episode *episode)
{
	switch (episode->pattern->kind) {
	case RNA_LOG_PCIE:
		return episode->pattern->end == RNA_LOG_ENDS_COUNTERS ? RNA_RULE_PCIE_ERRORS
								      : RNA_RULE_COUNT;
	case RNA_LOG_TEMPERATURE:
		return RNA_RULE_MODULE_TEMPERATURE;
	case RNA_LOG_MODULE:
		return has_module_counters(in, episode->object.device) ? RNA_RULE_ERRORS_RISING
								       : RNA_RULE_COUNT;
	case RNA_LOG_GPUDIRECT:
		return RNA_RULE_GPUDIRECT_NOT_READY;
	default:
		return RNA_RULE_COUNT;
	}
}

/* Its finding about the same device; NULL: it has none. */
static struct rna_find *find_counted(const struct rna_rule_input *in,
				     const struct rna_episode *episode, struct rna_finds *out)
{
	const struct rna_snapshot_device *device = episode->object.device;
	const char *name = device ? device->device->name : NULL;
	enum rna_rule_id rule = counting_rule(in, episode);

	for (size_t i = 0; rule != RNA_RULE_COUNT && i < out->count; i++)
		if (out->items[i].rule == rule && !out->items[i].unknown &&
		    rna_same_text(out->items[i].finding.device, name))
			return &out->items[i];
	return NULL;
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
		severity = severity_of(in, episode);
		if (find_counted(in, episode, out))
			add(&told.counted, episode, severity);
		else if (is_enough(episode, severity))
			add(&told.own, episode, severity);
	}
	return told;
}

/* -- Text -------------------------------------------------------------------------------------- */

/* Of a recording the time since boot is all that is known. */
static void write_time(const struct rna_episode_line *line, struct rna_strbuf *out)
{
	time_t seconds = (time_t)(line->realtime / RNA_USEC_PER_SEC);
	char text[32];
	struct tm utc;

	if (line->realtime && gmtime_r(&seconds, &utc) &&
	    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc) > 0)
		rna_strbuf_printf(out, "%s ", text);
	else if (line->time)
		rna_strbuf_printf(out, "%.3f s after boot ", rna_seconds(line->time));
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
	else if (episode->object.place == RNA_EPISODE_AT_NODE)
		rna_strbuf_puts(out, "when the node reboots, or by: rdma-node-agent expect accept");
	else
		rna_strbuf_puts(out, "when the device is registered again or the node reboots, or "
				     "by: rdma-node-agent expect accept");
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

/* -- Findings of counters ---------------------------------------------------------------------- */

/* The finding of a counter carries it. */
static void join(const struct rna_rule_input *in, const struct about *about, struct rna_finds *out)
{
	struct rna_find *find = about->worst ? find_counted(in, about->worst, out) : NULL;
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const char *joined = NULL;

	if (!find)
		return;
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

static const struct rna_nic *nic_at(const struct rna_rule_input *in, const char *address)
{
	const struct rna_topology *topology = rna_snapshot_topology(in->view->snapshot);

	for (size_t i = 0; topology && i < topology->nic_count; i++)
		if (rna_same_text(topology->objects[topology->nics[i].object].address, address))
			return &topology->nics[i];
	return NULL;
}

/* "mlx5_core 0000:3b:00.0", with the name that the device had. */
static void write_function(const struct rna_rule_input *in, const struct rna_episode *episode,
			   struct rna_strbuf *out)
{
	const struct rna_episode_object *object = &episode->object;
	const struct rna_nic *nic = nic_at(in, object->address);

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

static const char *remedy_of(const struct rna_finds *out, const struct rna_episode *episode)
{
	const struct rna_remedy_names names = {
		.device = episode->object.name,
		.pci_address = episode->object.address ? episode->object.address : episode->pci,
		.netdev = episode->netdev,
	};
	const char *remedy =
		episode->pattern->remedy ? episode->pattern->remedy : out->rule->remedy;

	if (episode->object.place == RNA_EPISODE_AT_DEVICE)
		return remedy; /* its subject has the names */
	return rna_rule_fill_remedy(remedy, &names, out->arena);
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
	found->remedy = remedy_of(out, about->worst);
	found->since = since_of(about->worst);
	if (object)
		found->device = object;
}

static void report_all(const struct rna_rule_input *in, enum rna_log_kind kind,
		       const struct rna_episode_object *object, struct rna_finds *out)
{
	struct told told = look_at(in, kind, object, out);

	join(in, &told.counted, out);
	report(in, &told.own, out);
}

/* Only for the first episode about an object, which stands for all of them. */
static bool is_first(const struct rna_rule_input *in, enum rna_log_kind kind, size_t index)
{
	const struct rna_episode *episode = in->episodes->items[index];

	for (size_t i = 0; i < index; i++)
		if (is_of(in->episodes->items[i], kind) &&
		    is_same_object(&in->episodes->items[i]->object, &episode->object))
			return false;
	return true;
}

static bool has_hardware(const struct rna_rule_input *in)
{
	for (size_t i = 0; i < in->count; i++)
		if (in->subjects[i].device->device->function != RNA_FUNCTION_VIRTUAL)
			return true;
	return false;
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

void rna_check_episodes(const struct rna_rule_input *in, struct rna_finds *out)
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

/* -- The log itself ---------------------------------------------------------------------------- */

void rna_check_kernel_log_flood(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_kernel_log *log = rna_snapshot_kernel_log(in->view->snapshot);

	if (!log || !in->episodes || !in->episodes->flood)
		return;
	(void)rna_finds_add(out, "the kernel log grows by %.0f messages a minute%s%s%s",
			    log->rate * 60, log->loudest ? ", most of them by " : "",
			    log->loudest ? log->loudest : "",
			    log->lost > 0 ? "; some were lost before the agent read them" : "");
}

/* Where nothing is wanted, or a recording has no log, there is no error. */
void rna_check_kernel_log_unread(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_kernel_log *log = rna_snapshot_kernel_log(in->view->snapshot);

	if (!log || log->source != RNA_KERNEL_LOG_NONE || log->error == 0 || !has_hardware(in))
		return;
	(void)rna_finds_add(out, "the agent cannot read the kernel log: %s",
			    log->problem ? log->problem : strerror(-log->error));
}
