// SPDX-License-Identifier: Apache-2.0
#include "control.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <systemd/sd-event.h>

#include "rna/base/cleanup.h"
#include "rna/base/clock.h"
#include "rna/base/log.h"
#include "rna/base/unix_socket.h"
#include "rna/base/words.h"

enum { BACKLOG = 8, CALLS_MAX = 16, EXIT_FAILED = 3 };

#define READER_PATIENCE (30 * RNA_USEC_PER_SEC) /* with a peer that does not read its answer */
#define ACCEPT_PAUSE    RNA_USEC_PER_SEC        /* while there are no descriptors */

/* Waits until the kernel takes it: its queue has some 200 kB, and an answer may be longer. */
struct packet {
	struct packet *next;
	size_t len;
	char text[];
};

struct rna_control_call {
	struct rna_control_call *next;
	struct rna_control *control;
	const struct rna_control_command *command; /* NULL: no request yet */
	int fd;
	sd_event_source *source;
	char *request; /* its lines, each with a NUL behind it; NULL: none yet */
	size_t len;
	struct packet *pending, **pending_end; /* in their order */
	size_t pending_bytes;
	sd_event_source *patience; /* while some are; NULL: none ever were */
	bool ended;                /* the call exists only until they are sent */
};

struct rna_control {
	sd_event *event;
	const struct rna_control_command *commands;
	void *userdata;
	struct rna_socket_file file;
	int fd;
	sd_event_source *source;
	sd_event_source *pause; /* while no connection is accepted */
	bool complained;        /* about that */
	struct rna_control_call *calls;
	unsigned call_count;
};

/* -- Calls ------------------------------------------------------------------------------------- */

static void forget_pending(struct rna_control_call *call)
{
	while (call->pending) {
		struct packet *packet = call->pending;

		call->pending = packet->next;
		free(packet);
	}
	call->pending_end = &call->pending;
	call->pending_bytes = 0;
}

static void free_call(struct rna_control_call *call)
{
	struct rna_control_call **link = &call->control->calls;

	while (*link != call)
		link = &(*link)->next;
	*link = call->next;
	call->control->call_count--;
	forget_pending(call);
	(void)sd_event_source_disable_unref(call->patience);
	(void)sd_event_source_disable_unref(call->source);
	(void)close(call->fd);
	free(call->request);
	free(call);
}

static void drop_call(struct rna_control_call *call)
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

/* -- Answers ----------------------------------------------------------------------------------- */

/* Closes the connection. The loop sees that in its next turn, and frees the call. */
static void drop(struct rna_control_call *call)
{
	forget_pending(call);
	(void)shutdown(call->fd, SHUT_RDWR);
}

static int on_timeout(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source, (void)usec;
	drop_call(userdata);
	return 0;
}

/* Starts the patience with the reader again. */
static int restart_timeout(struct rna_control_call *call)
{
	int status;

	if (!call->patience)
		return sd_event_add_time_relative(call->control->event, &call->patience,
						  CLOCK_MONOTONIC, READER_PATIENCE, 0, on_timeout,
						  call);
	status = sd_event_source_set_time_relative(call->patience, READER_PATIENCE);
	return status < 0 ? status : sd_event_source_set_enabled(call->patience, SD_EVENT_ONESHOT);
}

/* Sends as much of what is pending as the kernel takes. waited: it was pending before this call. */
static void push(struct rna_control_call *call, bool waited)
{
	bool moved = false;

	while (call->pending) {
		struct packet *packet = call->pending;

		if (send(call->fd, packet->text, packet->len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
			break;
		moved = true;
		call->pending = packet->next;
		call->pending_bytes -= packet->len;
		free(packet);
	}
	if (!call->pending)
		call->pending_end = &call->pending;
	if (!call->pending && waited) {
		(void)sd_event_source_set_io_events(call->source, EPOLLIN);
		(void)sd_event_source_set_enabled(call->patience, SD_EVENT_OFF);
	}
	if (!call->pending)
		return;
	if (errno != EAGAIN ||
	    sd_event_source_set_io_events(call->source, EPOLLIN | EPOLLOUT) < 0 ||
	    ((moved || !waited) && restart_timeout(call) < 0))
		drop(call);
}

static void send_packet(struct rna_control_call *call, enum rna_control_packet type,
			const char *text, size_t len)
{
	bool waits = call->pending;
	struct packet *packet = NULL;

	if (call->pending_bytes + len < RNA_CONTROL_ANSWER_MAX)
		packet = malloc(sizeof(*packet) + len + 1);
	if (!packet) {
		drop(call);
		return;
	}
	*packet = (struct packet){.len = len + 1};
	packet->text[0] = (char)type;
	memcpy(packet->text + 1, text, len);
	*call->pending_end = packet;
	call->pending_end = &packet->next;
	call->pending_bytes += packet->len;
	push(call, waits);
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
	call->ended = true;
	call->command = NULL; /* its callback is not called any more */
	if (!call->pending)
		free_call(call);
}

void rna_control_fail(struct rna_control_call *call, const struct rna_error *error)
{
	send_packet(call, RNA_CONTROL_ERROR, error->text, strlen(error->text));
	rna_control_exit(call, EXIT_FAILED);
}

/* -- Requests ---------------------------------------------------------------------------------- */

static bool may_ask(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
	       (peer.uid == 0 || peer.uid == geteuid());
}

static void execute(struct rna_control_call *call)
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
			    "unknown command %.*s; the agent may be of another version",
			    RNA_SHOWN(call->request));
	rna_control_fail(call, &error);
}

static void take_request(struct rna_control_call *call, const char *text, size_t len)
{
	struct rna_error error = {0};

	if (!may_ask(call->fd)) {
		(void)rna_error_say(
			&error, -EPERM,
			"permission denied: only root and the agent's own user may do this");
		rna_control_fail(call, &error);
		return;
	}
	call->request = malloc(len + 1);
	if (!call->request) {
		drop_call(call);
		return;
	}
	for (size_t i = 0; i < len; i++)
		call->request[i] = (char)(text[i] == '\n' ? '\0' : text[i]);
	call->request[len] = '\0';
	call->len = len;
	execute(call);
}

/* More of the answer can be sent. False: that was all, and the call is freed. */
static bool send_more(struct rna_control_call *call)
{
	push(call, true);
	if (call->pending || !call->ended)
		return true;
	free_call(call);
	return false;
}

static int on_packet(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct rna_control_call *call = userdata;
	char text[RNA_CONTROL_PACKET_MAX];
	ssize_t len;

	(void)source;
	if ((events & EPOLLOUT) && !send_more(call))
		return 0;
	len = recv(fd, text, sizeof(text), MSG_DONTWAIT | MSG_TRUNC);
	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (len <= 0 || (size_t)len > sizeof(text) || call->command || call->ended)
		drop_call(call); /* also one that is too long: half a request is none */
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
	call->pending_end = &call->pending;
	call->next = control->calls;
	control->calls = call;
	control->call_count++;
	return 0;
}

/* If there are too many calls, closes one whose user may not ask for anything anyway. */
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

static int on_pause_over(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct rna_control *control = userdata;

	(void)source, (void)usec;
	return sd_event_source_set_enabled(control->source, SD_EVENT_ON);
}

/* Stops accepting for a while. Without a pause the loop would try again at once, all the time. */
static void pause_accepting(struct rna_control *control, int error)
{
	if (!control->complained)
		rna_log_warning("control socket %s: cannot accept connections for now: %s",
				control->file.path, strerror(error));
	control->complained = true;
	if (sd_event_source_set_time_relative(control->pause, ACCEPT_PAUSE) >= 0 &&
	    sd_event_source_set_enabled(control->pause, SD_EVENT_ONESHOT) >= 0)
		(void)sd_event_source_set_enabled(control->source, SD_EVENT_OFF);
}

static bool is_passing(int error)
{
	return error == EAGAIN || error == EINTR || error == ECONNABORTED;
}

static int on_connection(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct rna_control *control = userdata;
	int connection = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)source, (void)events;
	if (connection < 0) {
		if (!is_passing(errno))
			pause_accepting(control, errno);
		return 0;
	}
	control->complained = false;
	if (!make_room(control) || take_call(control, connection) < 0)
		(void)close(connection);
	return 0;
}

/* -- The socket -------------------------------------------------------------------------------- */

/* All users may connect: the check of credentials gives a better message than connect(2). */
static int listen_at(const char *path, struct rna_socket_file *file)
{
	const struct rna_unix_place place = {
		.name = path,
		.type = SOCK_SEQPACKET,
		.mode = 0666,
		.backlog = BACKLOG,
	};

	return rna_unix_listen(&place, file);
}

void rna_control_make_directory(const char *path)
{
	RNA_FREE char *directory = strndup(path, (size_t)(strrchr(path, '/') - path));

	if (directory)
		(void)mkdir(directory, 0755); /* there already, in most cases */
}

static int add_sources(struct rna_control *control)
{
	int status = sd_event_add_time(control->event, &control->pause, CLOCK_MONOTONIC, 0, 0,
				       on_pause_over, control);

	if (status >= 0)
		status = sd_event_source_set_enabled(control->pause, SD_EVENT_OFF);
	if (status >= 0)
		status = sd_event_add_io(control->event, &control->source, control->fd, EPOLLIN,
					 on_connection, control);
	return status;
}

int rna_control_start(sd_event *event, const char *path, const struct rna_control_command *commands,
		      void *userdata, struct rna_control **ret, struct rna_error *error)
{
	struct rna_control *control = calloc(1, sizeof(*control));
	int status = -ENOMEM;

	if (control) {
		*control = (struct rna_control){event, commands, userdata, .fd = -1};
		status = control->fd = listen_at(path, &control->file);
	}
	if (status >= 0)
		status = add_sources(control);
	if (status < 0) {
		(void)rna_control_stop(control);
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
		drop_call(control->calls);
	(void)sd_event_source_disable_unref(control->pause);
	(void)sd_event_source_disable_unref(control->source);
	rna_close_p(&control->fd);
	rna_socket_file_remove(&control->file);
	free(control);
	return NULL;
}
