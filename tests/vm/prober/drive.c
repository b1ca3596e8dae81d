// SPDX-License-Identifier: Apache-2.0
/*
 * Drives a prober as the agent does, for suite-prober:
 *
 *   prober-drive DEVICE GID_INDEX PORTS SECONDS [TRAFFIC_CLASS]
 *
 * Opens port 1 of DEVICE so many times, lets each of them probe the next one ten times a second,
 * and prints at the end what was reported, "NAME VALUE" a line, and the child's private memory.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rna/base/cleanup.h"
#include "rna/base/parse.h"
#include "rna/prober.h"

enum { PERIOD = 100000, SESSION = 4711 };

struct drive {
	struct rna_child child;
	unsigned ports, open, failed, closed;
	struct rna_probe_address addresses[RNA_PROBER_PORTS_MAX];
	struct rna_probe_counts counts;
	uint64_t late, refused, samples, sample_sum, heard, missing, strangers, turns_late;
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

static void read_gid(const char *device, int index, uint8_t ret[16])
{
	char path[256], text[64] = "";
	RNA_FCLOSE FILE *file = NULL;

	(void)snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/gids/%d", device,
		       index);
	file = fopen(path, "re");
	if (!file || !fgets(text, sizeof(text), file))
		return;
	for (int i = 0; i < 16; i++) {
		unsigned value;

		if (sscanf(text + 2 * i + i / 2, "%2x", &value) == 1)
			ret[i] = (uint8_t)value;
	}
}

static void open_ports(const struct drive *drive, const char *device, int gid_index,
		       unsigned traffic_class)
{
	for (unsigned i = 0; i < drive->ports; i++) {
		struct rna_prober_order open = {
			.kind = RNA_PROBER_PORT_OPEN,
			.port_id = i + 1,
			.port = {.port = 1,
				 .gid_index = gid_index,
				 .traffic_class = traffic_class,
				 .session = SESSION + i},
		};

		(void)snprintf(open.port.device, sizeof(open.port.device), "%s", device);
		read_gid(device, gid_index, open.port.gid);
		order(drive, &open);
	}
}

static void set_targets(const struct drive *drive)
{
	for (unsigned i = 0; i < drive->ports; i++)
		order(drive, &(const struct rna_prober_order){
				     .kind = RNA_PROBER_TARGET_SET,
				     .port_id = i + 1,
				     .target_id = 100 + i,
				     .target = {.address = drive->addresses[(i + 1) % drive->ports],
						.session = SESSION + (i + 1) % drive->ports,
						.period = PERIOD,
						.large_every = 4},
			     });
}

static void take_target(struct drive *drive, const struct rna_prober_target_report *report)
{
	rna_probe_counts_merge(&drive->counts, &report->counts);
	drive->late += report->late;
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
			set_targets(drive);
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
		take_target(drive, &report->target);
		break;
	case RNA_PROBER_VISITOR_REPORT:
		drive->heard += report->visitor.heard;
		drive->missing += report->visitor.missing;
		break;
	default:
		drive->turns_late = report->child.turns_late;
		drive->strangers = 0;
		for (int i = 0; i < RNA_STRANGER_COUNT; i++)
			drive->strangers += report->child.strangers[i];
	}
}

/* Until then, or until all ports are closed or have failed. False: the prober has ended. */
static bool listen_until(struct drive *drive, rna_usec end)
{
	while (rna_clock_monotonic() < end && drive->closed + drive->failed < drive->ports) {
		struct pollfd socket = {.fd = drive->child.fd, .events = POLLIN};
		struct rna_prober_report report;
		int status;

		(void)poll(&socket, 1, 100);
		while ((status = rna_prober_receive(&drive->child, &report)) > 0)
			take(drive, &report);
		if (status < 0)
			return false;
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
	printf("heard %lu\nmissing %lu\nstrangers %lu\nturns_late %lu\nclasses %x\n", drive->heard,
	       drive->missing, drive->strangers, drive->turns_late, drive->classes);
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
	drive.ports = (unsigned)atoi(argv[3]);
	seconds = (unsigned)atoi(argv[4]);
	if (rna_prober_start(&drive.child, &error) < 0) {
		fprintf(stderr, "%s\n", error.text);
		return EXIT_FAILURE;
	}
	set_up(&drive);
	open_ports(&drive, argv[1], atoi(argv[2]), argc > 5 ? (unsigned)atoi(argv[5]) : 0);
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
