// SPDX-License-Identifier: Apache-2.0
/* The control socket, the agent's side: one packet, from a permitted user. */
#include "loop/control.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "fuzz.h"

static struct {
	char directory[32];
	struct sockaddr_un address;
	sd_event *event;
	struct rna_control *control;
} agent;

static void echo(struct rna_control_call *call, void *userdata)
{
	const char *text = rna_control_value(call, "device");

	(void)userdata;
	(void)rna_control_value(call, "");
	if (text)
		rna_control_send(call, RNA_CONTROL_OUTPUT, text, strlen(text));
	rna_control_exit(call, 0);
}

static void wait_for_ever(struct rna_control_call *call, void *userdata)
{
	(void)call, (void)userdata;
}

static const struct rna_control_command commands[] = {
	{"selftest", echo, NULL},
	{"quiesce", wait_for_ever, NULL},
	{NULL},
};

/* The name is not needed once it is bound, but to connect by. */
static void end(void)
{
	(void)rna_control_stop(agent.control);
	(void)sd_event_unref(agent.event);
	(void)rmdir(agent.directory);
}

static void start(void)
{
	struct rna_error error;

	(void)strcpy(agent.directory, "/tmp/rna-fuzz-XXXXXX");
	FUZZ_WANT(mkdtemp(agent.directory));
	agent.address = (struct sockaddr_un){.sun_family = AF_UNIX};
	(void)snprintf(agent.address.sun_path, sizeof(agent.address.sun_path), "%s/control",
		       agent.directory);
	FUZZ_WANT(sd_event_new(&agent.event) >= 0);
	FUZZ_WANT(rna_control_start(agent.event, agent.address.sun_path, commands, NULL,
				    &agent.control, &error) == 0);
	(void)atexit(end);
}

static void run(void)
{
	while (sd_event_run(agent.event, 0) > 0)
		continue;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char answer[RNA_CONTROL_PACKET_MAX];
	ssize_t len;
	int fd;

	if (!agent.control)
		start();
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	FUZZ_WANT(connect(fd, (struct sockaddr *)&agent.address, sizeof(agent.address)) == 0);
	if (size > 0)
		(void)send(fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
	run();
	while ((len = recv(fd, answer, sizeof(answer), MSG_DONTWAIT)) > 0)
		FUZZ_WANT(memchr("poex", answer[0], 4));
	(void)close(fd);
	run();
	return 0;
}
