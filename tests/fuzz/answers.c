// SPDX-License-Identifier: Apache-2.0
/* The control socket, the command's side: each line of the input is a packet of the agent. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/control_client.h"
#include "loop/control.h"

#include "fuzz.h"

static struct {
	char directory[32];
	struct sockaddr_un address;
	int fd;
	pthread_t thread;
	const uint8_t *data; /* of the call that is under way */
	size_t size;
	sem_t said; /* all of them */
} agent;

static void send_lines(int fd)
{
	const uint8_t *at = agent.data, *end = agent.data + agent.size;

	while (at < end) {
		const uint8_t *line_end = memchr(at, '\n', (size_t)(end - at));

		if (!line_end)
			line_end = end;
		if (line_end > at && send(fd, at, (size_t)(line_end - at), MSG_NOSIGNAL) < 0)
			return; /* the command has had enough */
		at = line_end + 1;
	}
}

static void *answer(void *userdata)
{
	(void)userdata;
	for (;;) {
		char request[256];
		int fd = accept(agent.fd, NULL, NULL);

		if (fd < 0)
			return NULL;
		(void)recv(fd, request, sizeof(request), 0);
		send_lines(fd);
		(void)close(fd);
		(void)sem_post(&agent.said);
	}
}

static void end(void)
{
	(void)shutdown(agent.fd, SHUT_RDWR);
	(void)pthread_join(agent.thread, NULL);
	(void)close(agent.fd);
	(void)unlink(agent.address.sun_path);
	(void)rmdir(agent.directory);
}

static void start(void)
{
	(void)strcpy(agent.directory, "/tmp/rna-fuzz-XXXXXX");
	FUZZ_WANT(mkdtemp(agent.directory));
	agent.address = (struct sockaddr_un){.sun_family = AF_UNIX};
	(void)snprintf(agent.address.sun_path, sizeof(agent.address.sun_path), "%s/control",
		       agent.directory);
	agent.fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	FUZZ_WANT(bind(agent.fd, (struct sockaddr *)&agent.address, sizeof(agent.address)) == 0);
	FUZZ_WANT(listen(agent.fd, 4) == 0);
	FUZZ_WANT(sem_init(&agent.said, 0, 0) == 0);
	FUZZ_WANT(pthread_create(&agent.thread, NULL, answer, NULL) == 0);
	(void)atexit(end);
}

static void on_progress(const char *text, size_t len)
{
	FUZZ_WANT(strnlen(text, len + 1) <= len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_STRBUF struct rna_strbuf output = RNA_STRBUF_INIT;
	const struct rna_control_reader reader = {on_progress, &output};
	struct rna_error error = {0};

	if (!agent.thread)
		start();
	agent.data = data;
	agent.size = size;
	/* an exit code may be any number; only what has a text is a failure of ours */
	(void)rna_control_ask(agent.address.sun_path, "selftest\n", &reader, &error);
	while (sem_wait(&agent.said) < 0)
		FUZZ_WANT(errno == EINTR); /* by the clock of libFuzzer */
	FUZZ_WANT(error.code <= 0 && (error.code == 0 || memchr(error.text, '\0', RNA_ERROR_MAX)));
	return 0;
}
