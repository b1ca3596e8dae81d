// SPDX-License-Identifier: Apache-2.0
/*
 * Drives a prober as the agent does, for suite-prober:
 *
 *   prober-drive DEVICE GID_INDEX PORTS SECONDS [TRAFFIC_CLASS [FILE]]
 *
 * Opens port 1 of DEVICE so many times, lets each of them probe the next one ten times a second,
 * and prints at the end what was reported, "NAME VALUE" a line, and the child's private memory.
 *
 * With FILE, nothing probes the last port, whose "SESSION GID QPN" is written there for
 * prober-flood. When it pauses, it is opened again after PAUSE, and probes the first one.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rna/prober.h"

#include "own_gid.h"

enum { PERIOD = 100000, SESSION = 4711 };
#define PAUSE (5 * RNA_USEC_PER_SEC)

struct drive {
	struct rna_child child;
	const char *device;
	int gid_index;
	unsigned traffic_class;
	const char *file; /* NULL: no port is flooded */
	unsigned ports, open, failed, closed, paused;
	rna_usec again; /* monotonic: the flooded port is opened; 0: it is open */
	struct rna_probe_flood flood;
	uint64_t flooded_answered; /* to its own probes */
	rna_usec silence;          /* the longest time between two reports */
	struct rna_probe_address addresses[RNA_PROBER_PORTS_MAX];
	struct rna_probe_counts counts;
	uint64_t late, refused, samples, sample_sum, heard, missing, strangers;
	uint32_t classes;
	struct rna_probe_way there, back;
	char text[RNA_PROBER_TEXT_MAX];
};

static void order(const struct drive *drive, const struct rna_prober_order *what)
{
	if (rna_prober_send(&drive->child, what) < 0) {
		fprintf(stderr, "the prober takes no orders\n");
		exit(EXIT_FAILURE);
	}
}

static void set_up(const struct drive *drive)
{
	struct rna_prober_order setup = {.kind = RNA_PROBER_SETUP};
	static const char secret[] = "a secret of a test";

	(void)rna_prober_key(secret, sizeof(secret) - 1, setup.setup.key);
	order(drive, &setup);
}

/* Each opening has a session of its own. */
static void open_port(const struct drive *drive, unsigned number, uint64_t session)
{
	struct rna_prober_order open = {
		.kind = RNA_PROBER_PORT_OPEN,
		.port_id = number + 1,
		.port = {.port = 1,
			 .gid_index = drive->gid_index,
			 .traffic_class = drive->traffic_class,
			 .session = session},
	};

	(void)snprintf(open.port.device, sizeof(open.port.device), "%s", drive->device);
	(void)read_own_gid(drive->device, drive->gid_index, open.port.gid);
	order(drive, &open);
}

static void set_target(const struct drive *drive, unsigned from, unsigned to)
{
	order(drive, &(const struct rna_prober_order){
			     .kind = RNA_PROBER_TARGET_SET,
			     .port_id = from + 1,
			     .target_id = 100 + from,
			     .target = {.address = drive->addresses[to],
					.session = SESSION + to,
					.period = PERIOD,
					.large_every = 4},
		     });
}

static void begin(const struct drive *drive)
{
	unsigned count = drive->ports - (drive->file != NULL);

	for (unsigned i = 0; i < count; i++)
		set_target(drive, i, (i + 1) % count);
	if (drive->file) {
		const struct rna_probe_address *address = &drive->addresses[count];
		RNA_FCLOSE FILE *file = fopen(drive->file, "we");
		char gid[INET6_ADDRSTRLEN] = "";

		(void)inet_ntop(AF_INET6, address->gid, gid, sizeof(gid));
		if (file)
			fprintf(file, "%x %s %u\n", SESSION + count, gid, address->qpns[0]);
	}
}

static void take_target(struct drive *drive, uint32_t port_id,
			const struct rna_prober_target_report *report)
{
	if (drive->file && port_id == drive->ports) {
		drive->flooded_answered += report->counts.answered;
		return;
	}
	rna_probe_counts_merge(&drive->counts, &report->counts);
	drive->late += report->late;
	drive->counts.answered += report->late;
	drive->counts.large_answered += report->late_large;
	drive->counts.voided += report->excused;
	drive->counts.lost -= report->late + report->excused;
	drive->refused += report->refused;
	drive->classes |= report->classes_seen;
	drive->there = report->there;
	drive->back = report->back;
	drive->samples += report->sample_count;
	for (uint32_t i = 0; i < report->sample_count; i++)
		drive->sample_sum += report->samples[i];
}

static void take_port(struct drive *drive, const struct rna_prober_report *report)
{
	if (report->port.use == RNA_PROBE_OPEN) {
		drive->addresses[report->port_id - 1] = report->port.address;
		if (++drive->open == drive->ports)
			begin(drive);
		else if (drive->open > drive->ports)
			set_target(drive, drive->ports - 1, 0);
	}
	if (report->port.use == RNA_PROBE_PAUSED) {
		drive->paused++;
		drive->flood = report->port.flood;
		drive->again = rna_clock_monotonic() + PAUSE;
	}
	drive->failed += report->port.use == RNA_PROBE_FAILED;
	drive->closed += report->port.use == RNA_PROBE_OFF;
	if (report->port.text[0] != '\0')
		(void)snprintf(drive->text, sizeof(drive->text), "%s", report->port.text);
}

static void take(struct drive *drive, const struct rna_prober_report *report)
{
	switch (report->kind) {
	case RNA_PROBER_PORT_REPORT:
		take_port(drive, report);
		break;
	case RNA_PROBER_TARGET_REPORT:
		take_target(drive, report->port_id, &report->target);
		break;
	case RNA_PROBER_VISITOR_REPORT:
		drive->heard += report->visitor.heard;
		drive->missing += report->visitor.missing;
		break;
	default:
		drive->strangers = 0;
		for (int i = 0; i < RNA_STRANGER_COUNT; i++)
			drive->strangers += report->child.strangers[i];
	}
}

/* Until then, or until all ports are closed or have failed. False: the prober has ended. */
static bool listen_until(struct drive *drive, rna_usec end)
{
	rna_usec heard = rna_clock_monotonic(), now = heard;

	for (; now < end && drive->closed + drive->failed < drive->ports;
	     now = rna_clock_monotonic()) {
		struct pollfd socket = {.fd = drive->child.fd, .events = POLLIN};
		struct rna_prober_report report;
		int status;

		if (poll(&socket, 1, 100) > 0) {
			drive->silence = rna_usec_since(heard, now) > drive->silence
						 ? rna_usec_since(heard, now)
						 : drive->silence;
			heard = now;
		}
		while ((status = rna_prober_receive(&drive->child, &report)) > 0)
			take(drive, &report);
		if (status < 0)
			return false;
		if (drive->again > 0 && now >= drive->again) {
			drive->again = 0;
			open_port(drive, drive->ports - 1, SESSION + 1000 + drive->paused);
		}
	}
	return true;
}

static void print_memory(pid_t pid)
{
	char path[64], line[256];
	RNA_FCLOSE FILE *file = NULL;

	(void)snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		unsigned long value;

		if (sscanf(line, "Private_Dirty: %lu", &value) == 1)
			printf("private_kib %lu\n", value);
	}
}

/* utime and stime, proc(5): the 12th and 13th number behind the name. */
static void print_time(pid_t pid)
{
	char path[64], line[1024];
	unsigned long user, kernel;
	RNA_FCLOSE FILE *file = NULL;
	const char *rest;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file || !fgets(line, sizeof(line), file))
		return;
	rest = strrchr(line, ')');
	if (rest && sscanf(rest, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
			   &kernel) == 2)
		printf("cpu_ms %lu\n",
		       (user + kernel) * 1000 / (unsigned long)sysconf(_SC_CLK_TCK));
}

static void print(const struct drive *drive)
{
	const struct rna_probe_counts *counts = &drive->counts;

	printf("open %u\nfailed %u\nclosed %u\ntext %s\n", drive->open, drive->failed,
	       drive->closed, drive->text);
	printf("sent %lu\nanswered %lu\nlost %lu\nvoid %lu\n", counts->sent, counts->answered,
	       counts->lost, counts->voided);
	printf("large_sent %lu\nlarge_answered %lu\nlate %lu\nrefused %lu\n", counts->large_sent,
	       counts->large_answered, drive->late, drive->refused);
	printf("samples %lu\nmean_us %lu\n", drive->samples,
	       drive->samples ? drive->sample_sum / drive->samples / 1000 : 0);
	printf("heard %lu\nmissing %lu\nstrangers %lu\nmissed %lu\nclasses %x\n", drive->heard,
	       drive->missing, drive->strangers, counts->missed, drive->classes);
	printf("paused %u\nflood %" PRIu64 " %" PRIu64 "\nflooded_answered %" PRIu64 "\n",
	       drive->paused, drive->flood.packets, drive->flood.nanoseconds,
	       drive->flooded_answered);
	printf("silence_ms %" PRIu64 "\n", drive->silence / RNA_USEC_PER_MSEC);
	printf("there %u %u %u\nback %u %u %u\n", drive->there.dscp, drive->there.ecn,
	       drive->there.hop_limit, drive->back.dscp, drive->back.ecn, drive->back.hop_limit);
}

int main(int argc, char *argv[])
{
	struct drive drive = {0};
	struct rna_error error = {0};
	unsigned seconds;
	bool alive;

	if (argc > 0 && strncmp(argv[0], RNA_PROBER_PROGRAM, strlen(RNA_PROBER_PROGRAM)) == 0)
		return rna_prober_main(NULL);
	if (argc < 5)
		return 2;
	drive.device = argv[1];
	drive.gid_index = atoi(argv[2]);
	drive.ports = (unsigned)atoi(argv[3]);
	drive.traffic_class = argc > 5 ? (unsigned)atoi(argv[5]) : 0;
	drive.file = argc > 6 ? argv[6] : NULL;
	seconds = (unsigned)atoi(argv[4]);
	if (rna_prober_start(&drive.child, &error) < 0) {
		fprintf(stderr, "%s\n", error.text);
		return EXIT_FAILURE;
	}
	set_up(&drive);
	for (unsigned i = 0; i < drive.ports; i++)
		open_port(&drive, i, SESSION + i);
	alive = listen_until(&drive, rna_clock_monotonic() + seconds * RNA_USEC_PER_SEC);
	print_memory(drive.child.pid);
	print_time(drive.child.pid);
	for (unsigned i = 0; alive && i < drive.ports; i++)
		order(&drive, &(const struct rna_prober_order){.kind = RNA_PROBER_PORT_CLOSE,
							       .port_id = i + 1});
	(void)listen_until(&drive, rna_clock_monotonic() + 10 * RNA_USEC_PER_SEC);
	print(&drive);
	return rna_child_stop(&drive.child, 5 * RNA_USEC_PER_SEC) && alive ? 0 : EXIT_FAILURE;
}
