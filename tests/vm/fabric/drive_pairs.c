// SPDX-License-Identifier: Apache-2.0
/*
 * Drives the prober of one node, and judges its pairs as the agent does, for suite_prober.py:
 *
 *   prober-pairs FILE SESSION SECRET TRAFFIC_CLASS DEVICE:GID_INDEX...
 *
 * Opens port 1 of each device. A line on standard input sets a target, the address of a peer's
 * port: "PORT SESSION PERIOD-US LARGE-EVERY GID MTU QPN,QPN,...", numbers in decimal, PORT an index
 * of the devices. FILE is written each quarter of a second: JSON with the ports, and all that was
 * reported of each target since it was set. It ends with its standard input.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rna/base/cleanup.h"
#include "rna/base/parse.h"
#include "rna/prober.h"

#include "probe/verdicts.h"

enum { PORTS_MAX = 4, TARGETS_MAX = 16, WRITE_PERIOD = 250000 };

struct port {
	char device[RNA_PROBER_NAME_MAX];
	int gid_index;
	uint8_t gid[16];
	uint32_t use;
	char text[RNA_PROBER_TEXT_MAX];
	struct rna_probe_address address;
	struct rna_prober_visitor_report visitors; /* sums */
};

struct target {
	unsigned port;
	struct rna_ledger ledger;
	struct rna_probe_counts
		counts; /* as reported, before the ledger's patience with late answers */
	uint64_t late, refused;
	int refusal;
	uint32_t unanswered, classes_seen, classes_lost;
	unsigned signs;
};

struct pairs {
	struct rna_child child;
	const char *file;
	uint64_t session;
	unsigned traffic_class;
	struct port ports[PORTS_MAX];
	unsigned port_count;
	struct target targets[TARGETS_MAX];
	unsigned target_count;
	uint64_t strangers[RNA_STRANGER_COUNT];
};

static void die(const char *why)
{
	fprintf(stderr, "prober-pairs: %s\n", why);
	exit(EXIT_FAILURE);
}

static void order(const struct pairs *pairs, const struct rna_prober_order *what)
{
	if (rna_prober_send(&pairs->child, what) < 0)
		die("the prober takes no orders");
}

/* -- Input ------------------------------------------------------------------------------------- */

static bool read_gid(const char *text, uint8_t ret[16])
{
	if (strlen(text) != 32)
		return false;
	for (int i = 0; i < 16; i++)
		if (sscanf(text + 2 * i, "%2hhx", &ret[i]) != 1)
			return false;
	return true;
}

/* That of sysfs has colons. */
static void read_own_gid(struct port *port)
{
	char path[256], line[64] = "", digits[64] = "";
	RNA_FCLOSE FILE *file = NULL;
	size_t len = 0;

	(void)snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/gids/%d", port->device,
		       port->gid_index);
	file = fopen(path, "re");
	if (!file || !fgets(line, sizeof(line), file))
		die("cannot read the GID");
	for (const char *c = line; *c != '\0' && *c != '\n'; c++)
		if (*c != ':')
			digits[len++] = *c;
	if (!read_gid(digits, port->gid))
		die("the GID is not valid");
}

static void read_qpns(char *text, struct rna_probe_address *ret)
{
	char *rest = NULL;

	for (char *word = strtok_r(text, ",", &rest); word && ret->qpn_count < RNA_PROBE_QPS_MAX;
	     word = strtok_r(NULL, ",", &rest))
		ret->qpns[ret->qpn_count++] = (uint32_t)strtoul(word, NULL, 10);
}

static void set_target(struct pairs *pairs, const char *line)
{
	struct rna_prober_order set = {.kind = RNA_PROBER_TARGET_SET};
	char gid[64], qpns[128];
	unsigned port = 0;

	if (pairs->target_count == TARGETS_MAX ||
	    sscanf(line, "%u %" SCNu64 " %" SCNu64 " %u %63s %u %127s", &port, &set.target.session,
		   &set.target.period, &set.target.large_every, gid, &set.target.address.mtu,
		   qpns) != 7 ||
	    port >= pairs->port_count || !read_gid(gid, set.target.address.gid))
		die("this target is not valid");
	read_qpns(qpns, &set.target.address);
	set.port_id = port + 1;
	set.target_id = ++pairs->target_count;
	pairs->targets[set.target_id - 1].port = port;
	rna_ledger_init(&pairs->targets[set.target_id - 1].ledger);
	order(pairs, &set);
}

/* -- Reports ----------------------------------------------------------------------------------- */

static void take_target(struct pairs *pairs, struct target *target,
			const struct rna_prober_target_report *report, rna_usec now)
{
	rna_ledger_add(&target->ledger, report, (uint8_t)(pairs->traffic_class >> 2), now);
	rna_probe_counts_merge(&target->counts, &report->counts);
	target->late += report->late + report->excused;
	target->refused += report->refused;
	target->refusal = report->refusal;
	target->unanswered = report->unanswered;
	target->classes_seen |= report->classes_seen;
	target->classes_lost |= report->classes_lost;
}

static void take_port(struct port *port, const struct rna_prober_report *report)
{
	port->use = report->port.use;
	port->address = report->port.address;
	(void)snprintf(port->text, sizeof(port->text), "%s", report->port.text);
}

static void take(struct pairs *pairs, const struct rna_prober_report *report, rna_usec now)
{
	struct port *port = NULL;

	if (report->port_id >= 1 && report->port_id <= pairs->port_count)
		port = &pairs->ports[report->port_id - 1];
	if (report->kind == RNA_PROBER_PORT_REPORT && port) {
		take_port(port, report);
	} else if (report->kind == RNA_PROBER_TARGET_REPORT && report->target_id >= 1 &&
		   report->target_id <= pairs->target_count) {
		take_target(pairs, &pairs->targets[report->target_id - 1], &report->target, now);
	} else if (report->kind == RNA_PROBER_VISITOR_REPORT && port) {
		port->visitors.heard += report->visitor.heard;
		port->visitors.missing += report->visitor.missing;
		port->visitors.large_missing += report->visitor.large_missing;
	} else if (report->kind == RNA_PROBER_CHILD_REPORT) {
		memcpy(pairs->strangers, report->child.strangers, sizeof(pairs->strangers));
	}
}

/* The suite knows which peers run, so nothing is asked of them. */
static void judge(struct pairs *pairs, rna_usec now)
{
	for (unsigned i = 0; i < pairs->target_count; i++) {
		struct target *target = &pairs->targets[i];
		const struct rna_judged_pair pair = {
			.ledger = &target->ledger,
			.dscp = (uint8_t)(pairs->traffic_class >> 2),
		};

		rna_ledger_advance(&target->ledger, now);
		target->signs = rna_pair_signs(&pair, now);
		rna_ledger_set_silent(&target->ledger, target->signs & RNA_PROBE_SILENT, now);
	}
}

/* -- Output ------------------------------------------------------------------------------------ */

static void write_ports(FILE *out, const struct pairs *pairs)
{
	for (unsigned i = 0; i < pairs->port_count; i++) {
		const struct port *port = &pairs->ports[i];

		fprintf(out, "%s{\"device\":\"%s\",\"use\":\"%s\",\"text\":\"%s\",\"gid\":\"",
			i > 0 ? "," : "", port->device, rna_probe_use_name(port->use), port->text);
		for (int byte = 0; byte < 16; byte++)
			fprintf(out, "%02x", port->gid[byte]);
		fprintf(out, "\",\"mtu\":%u,\"qpns\":[", port->address.mtu);
		for (unsigned qp = 0; qp < port->address.qpn_count; qp++)
			fprintf(out, "%s%u", qp > 0 ? "," : "", port->address.qpns[qp]);
		fprintf(out, "],\"heard\":%lu,\"missing\":%lu,\"large_missing\":%lu}",
			port->visitors.heard, port->visitors.missing, port->visitors.large_missing);
	}
}

static void write_target(FILE *out, const struct target *target)
{
	const struct rna_probe_counts *counts = &target->counts;
	const struct rna_probe_way *there = &target->ledger.there, *back = &target->ledger.back;

	fprintf(out, "{\"port\":%u,\"sent\":%lu,\"answered\":%lu,\"lost\":%lu,\"void\":%lu,",
		target->port, counts->sent, counts->answered, counts->lost, counts->voided);
	fprintf(out, "\"large_sent\":%lu,\"large_lost\":%lu,\"large_answered\":%lu,\"ecn\":%lu,",
		counts->large_sent, counts->large_lost, counts->large_answered, counts->ecn_marked);
	fprintf(out, "\"late\":%lu,\"refused\":%lu,\"refusal\":%d,\"unanswered\":%u,\"signs\":%u,",
		target->late, target->refused, target->refusal, target->unanswered, target->signs);
	fprintf(out, "\"classes_seen\":%u,\"classes_lost\":%u,", target->classes_seen,
		target->classes_lost);
	fprintf(out, "\"there\":[%u,%u,%u],\"back\":[%u,%u,%u],\"rtt\":%lu}", there->dscp,
		there->ecn, there->hop_limit, back->dscp, back->ecn, back->hop_limit,
		rna_ledger_rtt(&target->ledger, 50));
}

/* A reader never sees half of it. */
static void write_file(const struct pairs *pairs)
{
	char path[256];
	RNA_FCLOSE FILE *out = NULL;

	(void)snprintf(path, sizeof(path), "%s.new", pairs->file);
	out = fopen(path, "we");
	if (!out)
		die("cannot write the file");
	fprintf(out, "{\"session\":%" PRIu64 ",\"strangers\":{", pairs->session);
	for (unsigned i = 0; i < RNA_STRANGER_COUNT; i++)
		fprintf(out, "%s\"%s\":%lu", i > 0 ? "," : "", rna_probe_stranger_name(i),
			pairs->strangers[i]);
	fprintf(out, "},\"ports\":[");
	write_ports(out, pairs);
	fprintf(out, "],\"targets\":[");
	for (unsigned i = 0; i < pairs->target_count; i++) {
		fprintf(out, "%s", i > 0 ? "," : "");
		write_target(out, &pairs->targets[i]);
	}
	fprintf(out, "]}\n");
	if (fflush(out) == EOF || rename(path, pairs->file) < 0)
		die("cannot write the file");
}

/* -- The whole --------------------------------------------------------------------------------- */

static void receive(struct pairs *pairs)
{
	struct rna_prober_report report;
	int status;

	while ((status = rna_prober_receive(&pairs->child, &report)) > 0)
		take(pairs, &report, rna_clock_monotonic());
	if (status < 0)
		die("the prober has ended");
}

/* False: the end of the input. Lines come one at a time, as whole writes to a FIFO. */
static bool read_input(struct pairs *pairs)
{
	char text[1024], *rest = NULL;
	ssize_t len = read(STDIN_FILENO, text, sizeof(text) - 1);

	if (len <= 0)
		return false;
	text[len] = '\0';
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		set_target(pairs, line);
	return true;
}

static void run(struct pairs *pairs)
{
	rna_usec due = 0;

	for (;;) {
		struct pollfd waits[] = {{.fd = pairs->child.fd, .events = POLLIN},
					 {.fd = STDIN_FILENO, .events = POLLIN}};
		rna_usec now;

		(void)poll(waits, RNA_ARRAY_SIZE(waits), 100);
		receive(pairs);
		if (waits[1].revents != 0 && !read_input(pairs))
			return;
		now = rna_clock_monotonic();
		if (now < due)
			continue;
		judge(pairs, now);
		write_file(pairs);
		due = now + WRITE_PERIOD;
	}
}

static void open_port(struct pairs *pairs, const char *text)
{
	struct port *port = &pairs->ports[pairs->port_count++];
	struct rna_prober_order open = {.kind = RNA_PROBER_PORT_OPEN, .port_id = pairs->port_count};

	if (pairs->port_count > PORTS_MAX ||
	    sscanf(text, "%63[^:]:%d", port->device, &port->gid_index) != 2)
		die("a port is DEVICE:GID_INDEX");
	read_own_gid(port);
	port->use = RNA_PROBE_OPENING;
	open.port.port = 1;
	open.port.gid_index = port->gid_index;
	open.port.traffic_class = pairs->traffic_class;
	open.port.session = pairs->session;
	memcpy(open.port.gid, port->gid, sizeof(open.port.gid));
	memcpy(open.port.device, port->device, sizeof(open.port.device));
	order(pairs, &open);
}

int main(int argc, char *argv[])
{
	static struct pairs pairs = {.child = RNA_CHILD_INIT};
	struct rna_prober_order setup = {.kind = RNA_PROBER_SETUP};
	struct rna_error error = {0};

	if (argc > 0 && strncmp(argv[0], RNA_PROBER_PROGRAM, strlen(RNA_PROBER_PROGRAM)) == 0)
		return rna_prober_main(NULL);
	if (argc < 6)
		die("usage: FILE SESSION SECRET TRAFFIC_CLASS DEVICE:GID_INDEX...");
	pairs.file = argv[1];
	pairs.session = strtoull(argv[2], NULL, 10);
	pairs.traffic_class = (unsigned)strtoul(argv[4], NULL, 10);
	if (rna_prober_start(&pairs.child, &error) < 0)
		die(error.text);
	if (rna_prober_key(argv[3], strlen(argv[3]), setup.setup.key) < 0)
		die("no key can be made of this secret");
	order(&pairs, &setup);
	for (int i = 5; i < argc; i++)
		open_port(&pairs, argv[i]);
	run(&pairs);
	return rna_child_stop(&pairs.child, 5 * RNA_USEC_PER_SEC) ? 0 : EXIT_FAILURE;
}
