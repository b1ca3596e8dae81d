// SPDX-License-Identifier: Apache-2.0
#include "control.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-event.h>

#include "rna/cleanup.h"
#include "rna/log.h"
#include "words.h"

enum { BACKLOG = 8, CALLS_MAX = 16, EXIT_FAILED = 3 };

struct rna_control_call {
	struct rna_control_call *next;
	struct rna_control *control;
	const struct rna_control_command *command; /* NULL: has not asked yet */
	int fd;
	sd_event_source *source;
	char *request; /* its lines, each with a NUL behind it; NULL: none yet */
	size_t len;
};

struct rna_control {
	sd_event *event;
	const struct rna_control_command *commands;
	void *userdata;
	char *path;
	int fd;
	sd_event_source *source;
	struct rna_control_call *calls;
	unsigned call_count;
};

/* ---- calls ----------------------------------------------------------------------------------- */

static void free_call(struct rna_control_call *call)
{
	struct rna_control_call **link = &call->control->calls;

	while (*link != call)
		link = &(*link)->next;
	*link = call->next;
	call->control->call_count--;
	(void)sd_event_source_disable_unref(call->source);
	(void)close(call->fd);
	free(call->request);
	free(call);
}

static void leave(struct rna_control_call *call)
{
	if (call->command && call->command->left)
		call->command->left(call, call->control->userdata);
	free_call(call);
}

const char *rna_control_value(const struct rna_control_call *call, const char *key)
{
	size_t len = strlen(key);

	for (const char *line = call->request; line < call->request + call->len;
	     line += strlen(line) + 1)
		if (strncmp(line, key, len) == 0 && line[len] == '=')
			return line + len + 1;
	return NULL;
}

/* What cannot be sent at once is for somebody who does not read: he finds his call closed. */
static void send_packet(struct rna_control_call *call, enum rna_control_packet type,
			const char *text, size_t len)
{
	char kind = (char)type;
	struct iovec pieces[] = {{&kind, 1}, {(char *)(uintptr_t)text, len}};
	struct msghdr message = {.msg_iov = pieces, .msg_iovlen = RNA_ARRAY_SIZE(pieces)};

	if (sendmsg(call->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		(void)shutdown(call->fd, SHUT_RDWR);
}

void rna_control_send(struct rna_control_call *call, enum rna_control_packet type, const char *text,
		      size_t len)
{
	while (len > 0) {
		size_t part = len < RNA_CONTROL_PACKET_MAX - 1 ? len : RNA_CONTROL_PACKET_MAX - 1;

		send_packet(call, type, text, part);
		text += part;
		len -= part;
	}
}

void rna_control_exit(struct rna_control_call *call, int code)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", code);

	send_packet(call, RNA_CONTROL_EXIT, text, (size_t)len);
	free_call(call);
}

void rna_control_fail(struct rna_control_call *call, const struct rna_error *error)
{
	send_packet(call, RNA_CONTROL_ERROR, error->text, strlen(error->text));
	rna_control_exit(call, EXIT_FAILED);
}

/* ---- requests -------------------------------------------------------------------------------- */

static bool may_ask(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
	       (peer.uid == 0 || peer.uid == geteuid());
}

static void obey(struct rna_control_call *call)
{
	const struct rna_control_command *commands = call->control->commands;
	struct rna_error error = {0};

	for (size_t i = 0; commands[i].name; i++)
		if (strcmp(commands[i].name, call->request) == 0) {
			call->command = &commands[i];
			call->command->handle(call, call->control->userdata);
			return;
		}
	(void)rna_error_say(&error, -EINVAL,
			    "the agent knows no command %.*s; it may be of another version",
			    RNA_SHOWN(call->request));
	rna_control_fail(call, &error);
}

static void take_request(struct rna_control_call *call, const char *text, size_t len)
{
	struct rna_error error = {0};

	if (!may_ask(call->fd)) {
		(void)rna_error_say(
			&error, -EPERM,
			"only root and the agent's own user may ask the agent for this");
		rna_control_fail(call, &error);
		return;
	}
	call->request = malloc(len + 1);
	if (!call->request) {
		leave(call);
		return;
	}
	for (size_t i = 0; i < len; i++)
		call->request[i] = (char)(text[i] == '\n' ? '\0' : text[i]);
	call->request[len] = '\0';
	call->len = len;
	obey(call);
}

static int on_packet(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct rna_control_call *call = userdata;
	char text[RNA_CONTROL_PACKET_MAX];
	ssize_t len = recv(fd, text, sizeof(text), MSG_DONTWAIT | MSG_TRUNC);

	(void)source, (void)events;
	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (len <= 0 || (size_t)len > sizeof(text) || call->command)
		leave(call); /* also who says more than he may: half a request is none */
	else
		take_request(call, text, (size_t)len);
	return 0;
}

static int take_call(struct rna_control *control, int fd)
{
	struct rna_control_call *call = calloc(1, sizeof(*call));

	if (!call)
		return -ENOMEM;
	if (sd_event_add_io(control->event, &call->source, fd, EPOLLIN, on_packet, call) < 0) {
		free(call);
		return -ENOMEM;
	}
	call->control = control;
	call->fd = fd;
	call->next = control->calls;
	control->calls = call;
	control->call_count++;
	return 0;
}

/* Who would be refused whatever he says gives way: he must not keep others from being heard. */
static bool make_room(struct rna_control *control)
{
	struct rna_control_call *call = control->calls;

	if (control->call_count < CALLS_MAX)
		return true;
	while (call && (call->command || may_ask(call->fd)))
		call = call->next;
	if (!call)
		return false;
	free_call(call);
	return true;
}

static int on_connection(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct rna_control *control = userdata;
	int connection = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)source, (void)events;
	if (connection >= 0 && (!make_room(control) || take_call(control, connection) < 0))
		(void)close(connection);
	return 0;
}

/* ---- the socket ------------------------------------------------------------------------------ */

static int fill_address(const char *path, struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(ret->sun_path))
		return -ENAMETOOLONG;
	memcpy(ret->sun_path, path, strlen(path));
	return 0;
}

static int connect_to(const char *path)
{
	RNA_CLOSE int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un address;
	int status = fd < 0 ? -errno : fill_address(path, &address);
	int connected = fd;

	if (status == 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		status = -errno;
	if (status < 0)
		return status;
	fd = -1;
	return connected;
}

/* A process that died leaves its socket behind; one that lives answers. */
static int clear_place(const char *path)
{
	RNA_CLOSE int fd = connect_to(path);
	struct stat place;

	if (fd >= 0)
		return -EADDRINUSE;
	if (fd == -ECONNREFUSED && lstat(path, &place) == 0 && S_ISSOCK(place.st_mode) &&
	    unlink(path) < 0)
		return -errno;
	return 0;
}

static int listen_at(const char *path)
{
	RNA_CLOSE int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un address;
	int status = fd < 0 ? -errno : fill_address(path, &address);
	int listening = fd;

	if (status == 0)
		status = clear_place(path);
	if (status == 0 && bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		status = -errno;
	/* The credentials decide; who cannot connect gets a worse message. */
	if (status == 0 && (chmod(path, 0666) < 0 || listen(fd, BACKLOG) < 0))
		status = -errno;
	if (status < 0)
		return status;
	fd = -1;
	return listening;
}

void rna_control_make_directory(const char *path)
{
	RNA_FREE char *directory = strndup(path, (size_t)(strrchr(path, '/') - path));

	if (directory)
		(void)mkdir(directory, 0755); /* there already, in most cases */
}

int rna_control_start(sd_event *event, const char *path, const struct rna_control_command *commands,
		      void *userdata, struct rna_control **ret, struct rna_error *error)
{
	struct rna_control *control = calloc(1, sizeof(*control));
	int status = control ? listen_at(path) : -ENOMEM;

	if (status >= 0) {
		*control = (struct rna_control){event, commands, userdata, strdup(path), status};
		status = control->path ? sd_event_add_io(event, &control->source, control->fd,
							 EPOLLIN, on_connection, control)
				       : -ENOMEM;
		if (status < 0)
			control = rna_control_stop(control);
	}
	if (status < 0) {
		free(control);
		return rna_error_set(error, status, "control socket %s", path);
	}
	*ret = control;
	return 0;
}

struct rna_control *rna_control_stop(struct rna_control *control)
{
	if (!control)
		return NULL;
	while (control->calls)
		leave(control->calls);
	(void)sd_event_source_disable_unref(control->source);
	(void)close(control->fd);
	if (control->path)
		(void)unlink(control->path); /* it may be gone with its directory */
	free(control->path);
	free(control);
	return NULL;
}

/* ---- the command's side ---------------------------------------------------------------------- */

static int take_answer(char *text, size_t len, const struct rna_control_reader *reader, int *ret,
		       struct rna_error *error)
{
	text[len] = '\0';
	switch (text[0]) {
	case RNA_CONTROL_PROGRESS:
		if (reader->progress)
			reader->progress(text + 1, len - 1, reader->userdata);
		return 0;
	case RNA_CONTROL_OUTPUT:
		return reader->output(text + 1, len - 1, error, reader->userdata);
	case RNA_CONTROL_ERROR:
		return rna_error_say(error, -EPROTO, "%s", text + 1);
	case RNA_CONTROL_EXIT:
		*ret = (int)strtol(text + 1, NULL, 10);
		return 1;
	default:
		return rna_error_say(error, -EPROTO, "the agent's answer makes no sense");
	}
}

int rna_control_ask(const char *path, const char *request, const struct rna_control_reader *reader,
		    struct rna_error *error)
{
	RNA_CLOSE int fd = connect_to(path);
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
					     "the agent ended before it had answered");
		if (len < 0)
			return rna_error_set(error, -errno, "control socket %s", path);
		status = take_answer(text, (size_t)len, reader, &code, error);
	}
	return status < 0 ? status : code;
}
