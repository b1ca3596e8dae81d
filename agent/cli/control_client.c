// SPDX-License-Identifier: Apache-2.0
#include "control_client.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "rna/base/cleanup.h"
#include "rna/base/unix_socket.h"

#include "loop/control.h"

#include "commands.h"

static int add_output(const char *text, size_t len, struct rna_strbuf *output,
		      struct rna_error *error)
{
	if (len > RNA_CONTROL_ANSWER_MAX - output->len)
		return rna_error_say(error, -EMSGSIZE, "the answer of the agent has no end");
	rna_strbuf_add(output, text, len);
	return rna_strbuf_ok(output) ? 0 : rna_error_set(error, -ENOMEM, "the answer of the agent");
}

static int take_answer(char *text, size_t len, const struct rna_control_reader *reader, int *ret,
		       struct rna_error *error)
{
	text[len] = '\0';
	switch (text[0]) {
	case RNA_CONTROL_PROGRESS:
		if (reader->progress)
			reader->progress(text + 1, len - 1);
		return 0;
	case RNA_CONTROL_OUTPUT:
		return add_output(text + 1, len - 1, reader->output, error);
	case RNA_CONTROL_ERROR:
		return rna_error_say(error, -EPROTO, "%s", text + 1);
	case RNA_CONTROL_EXIT:
		*ret = (int)strtol(text + 1, NULL, 10);
		return 1;
	default:
		return rna_error_say(error, -EPROTO, "the agent sent an invalid answer");
	}
}

int rna_control_ask(const char *path, const char *request, const struct rna_control_reader *reader,
		    struct rna_error *error)
{
	RNA_CLOSE int fd = rna_unix_connect(path, SOCK_SEQPACKET);
	RNA_FREE char *text = malloc(RNA_CONTROL_PACKET_MAX + 1);
	int code = 0, status = 0;

	if (fd < 0)
		return rna_error_set(error, fd, "control socket %s", path);
	if (!text || send(fd, request, strlen(request), MSG_NOSIGNAL) < 0)
		return rna_error_set(error, text ? -errno : -ENOMEM, "control socket %s", path);
	while (status == 0) {
		ssize_t len = recv(fd, text, RNA_CONTROL_PACKET_MAX, 0);

		if (len == 0)
			return rna_error_say(error, -ECONNRESET,
					     "the agent ended before it answered");
		if (len < 0)
			return rna_error_set(error, -errno, "control socket %s", path);
		status = take_answer(text, (size_t)len, reader, &code, error);
	}
	return status < 0 ? status : code;
}

int rna_control_show(const char *path, const char *request, struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const struct rna_control_reader reader = {rna_output_progress, &text};
	int status;

	if (*path == '\0')
		return rna_error_say(error, -ENOENT,
				     "control.socket is empty: cannot contact the agent");
	status = rna_control_ask(path, request, &reader, error);
	rna_output_progress("", 0);
	if (status == -ENOENT || status == -ECONNREFUSED)
		return rna_error_say(error, status,
				     "%s: no agent listens on this socket; is it running?", path);
	if (status >= 0 && rna_output_strbuf(&text, error) < 0)
		return error->code;
	return status;
}
