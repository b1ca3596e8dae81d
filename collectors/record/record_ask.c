// SPDX-License-Identifier: Apache-2.0
/*
 * What libraries answer, for a recording: verbs and netlink say what no file does, and answers of
 * theirs lie below recorded/, where recorded.c finds them. Each is asked in a child process. What
 * MADs say is record_mad.c's business.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "parse/rate.h"
#include "parse/vf_message.h"

#include "collectors.h"
#include "recording.h"

#define CLASS_NET "sys/class/net"

/* The inverse of rna_lanes_from_code(); absent for what has no code. */
static struct rna_value width_code(struct rna_value lanes)
{
	for (uint64_t code = 1; lanes.state == RNA_VALUE_OK && code <= 16; code *= 2)
		if (rna_lanes_from_code(code) == lanes.number)
			return rna_value_ok(code);
	return (struct rna_value){0};
}

static void record_verbs_port(struct rna_recording *recording, const char *path,
			      const struct rna_verbs_port *port)
{
	if (port->error)
		rna_recording_note(recording, path, port->error);
	rna_recording_write_directory(recording, path);
	rna_recording_write_number(recording, path, "active_speed", port->speed_code);
	rna_recording_write_number(recording, path, "active_width", width_code(port->lanes));
	rna_recording_write_number(recording, path, "active_mtu", port->active_mtu);
	rna_recording_write_number(recording, path, "max_mtu", port->max_mtu);
}

struct question {
	const struct rna_recording *recording;
	const struct rna_device *device;
};

/* Sends a status, then what is known of each port. */
static void ask_verbs(int fd, const void *userdata)
{
	const struct question *question = userdata;
	const struct rna_recording *recording = question->recording;
	size_t count = question->device->port_count;
	struct rna_verbs_port *ports = calloc(count + 1, sizeof(*ports));
	int status = -ENOMEM;

	if (ports)
		status = recording->backends->verbs->query_ports(recording->root, question->device,
								 ports);
	(void)send(fd, &status, sizeof(status), 0);
	for (size_t i = 0; status >= 0 && i < count; i++)
		(void)send(fd, &ports[i], sizeof(ports[i]), 0);
	free(ports);
}

static void receive_verbs(struct rna_recording *recording, const struct rna_child *child,
			  const char *path, const struct rna_device *device)
{
	rna_recording_write_directory(recording, path);
	for (size_t i = 0; i < device->port_count; i++) {
		const char *name =
			rna_recording_need(recording,
					   rna_arena_printf(recording->scratch, "%s/ports/%u", path,
							    device->ports[i]));
		struct rna_verbs_port port;

		if (name && rna_recording_receive(recording, child, name, &port, sizeof(port)) > 0)
			record_verbs_port(recording, name, &port);
	}
}

void rna_record_verbs(struct rna_recording *recording, const struct rna_device *device)
{
	RNA_CLEANUP(rna_child_stop) struct rna_child child = {0};
	const char *path = rna_recording_join(recording, "recorded/verbs", device->name);
	int error;
	ssize_t len;

	if (!path)
		return;
	len = rna_child_start(&child, ask_verbs, &(struct question){recording, device});
	if (len == 0)
		len = rna_recording_receive(recording, &child, path, &error, sizeof(error));
	if (len < 0)
		error = (int)len;
	if (error < 0)
		rna_recording_note(recording, path, error);
	else
		receive_verbs(recording, &child, path, device);
}

struct resources_answer {
	int error;
	struct rna_resource_counts counts;
};

/* Of one port; number 0 ends them. */
struct optional_answer {
	unsigned number;
	bool enabled;
	char name[64];
};

static void ask_optional(int fd, const struct question *question, struct rna_rdma_numbers *numbers)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(4096);
	const struct rna_recording *recording = question->recording;
	const struct rna_device *device = question->device;
	struct optional_answer answer = {0};

	for (size_t i = 0; arena && i < device->port_count; i++) {
		struct rna_port_optional_counters port = {.number = device->ports[i]};

		if (recording->backends->rdma_netlink->get_optional(numbers, device->name, arena,
								    &port) < 0)
			continue; /* most have none, and which that is no file says */
		for (size_t j = 0; j < port.count; j++) {
			answer.number = port.number;
			answer.enabled = port.items[j].enabled;
			(void)snprintf(answer.name, sizeof(answer.name), "%s", port.items[j].name);
			(void)send(fd, &answer, sizeof(answer), 0);
		}
	}
	answer.number = 0;
	(void)send(fd, &answer, sizeof(answer), 0);
}

static void ask_resources(int fd, const void *userdata)
{
	const struct question *question = userdata;
	const struct rna_recording *recording = question->recording;
	RNA_CLEANUP(rna_rdma_numbers_free)
	struct rna_rdma_numbers numbers = {.root = recording->root};
	struct resources_answer answer = {0};

	answer.error =
		recording->backends->rdma_netlink->get_resources(&numbers, question->device->name,
								 &answer.counts);
	(void)send(fd, &answer, sizeof(answer), 0);
	if (answer.error == 0)
		ask_optional(fd, question, &numbers);
}

static void receive_optional(struct rna_recording *recording, const struct rna_child *child,
			     const char *path, const struct rna_device *device)
{
	struct optional_answer answer;

	while (rna_recording_receive(recording, child, path, &answer, sizeof(answer)) > 0 &&
	       answer.number > 0) {
		const char *directory =
			rna_recording_need(recording,
					   rna_arena_printf(recording->scratch,
							    RNA_RECORDED_OPTIONAL, device->name,
							    answer.number));

		if (directory)
			rna_recording_write_number(recording, directory, answer.name,
						   rna_value_ok(answer.enabled));
	}
}

void rna_record_resources(struct rna_recording *recording, const struct rna_device *device)
{
	RNA_CLEANUP(rna_child_stop) struct rna_child child = {0};
	const char *path = rna_recording_need(recording, rna_arena_printf(recording->scratch,
									  RNA_RECORDED_RESOURCES,
									  device->name));
	struct resources_answer answer = {0};
	ssize_t len;

	if (!path)
		return;
	len = rna_child_start(&child, ask_resources, &(struct question){recording, device});
	if (len == 0)
		len = rna_recording_receive(recording, &child, path, &answer, sizeof(answer));
	if (len < 0 || answer.error < 0) {
		rna_recording_note(recording, path, len < 0 ? (int)len : answer.error);
		return;
	}
	rna_recording_write_directory(recording, path);
	for (enum rna_resource i = 0; i < RNA_RESOURCE_COUNT; i++)
		rna_recording_write_number(recording, path, rna_resource_name(i),
					   answer.counts.of[i]);
	rna_recording_write_number(recording, path, "own_contexts", answer.counts.own_contexts);
	receive_optional(recording, &child, path, device);
}

struct vf_question {
	const struct rna_recording *recording;
	const char *netdev;
};

enum { VF_TEXT_MAX = 64 };

/* One member of one function; without a name it is the end, or error. */
struct vf_answer {
	int error;
	unsigned number;
	size_t member;
	bool more;
	struct rna_value value;
	char text[VF_TEXT_MAX]; /* "": there is none */
};

static void send_vf(int fd, const struct rna_virtual_function *function)
{
	for (size_t i = 0; i < rna_vf_member_count; i++) {
		const struct rna_vf_member *member = &rna_vf_members[i];
		const char *object = (const char *)function;
		struct vf_answer answer = {.number = function->number, .member = i, .more = true};
		const char *text = NULL;

		if (member->text)
			memcpy(&text, object + member->text, sizeof(text));
		else
			memcpy(&answer.value, object + member->value, sizeof(answer.value));
		(void)snprintf(answer.text, sizeof(answer.text), "%s", text ? text : "");
		(void)send(fd, &answer, sizeof(answer), 0);
	}
}

static void ask_vfs(int fd, const void *userdata)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(4096);
	const struct vf_question *question = userdata;
	const struct rna_recording *recording = question->recording;
	struct vf_answer end = {.error = -ENOMEM};
	struct rna_vf_list list = {0};

	if (arena)
		end.error = recording->backends->netdev->list_virtual_functions(recording->root,
										question->netdev,
										arena, &list);
	for (size_t i = 0; i < list.count; i++)
		send_vf(fd, &list.functions[i]);
	(void)send(fd, &end, sizeof(end), 0);
}

static void write_vf(struct rna_recording *recording, const char *path,
		     const struct vf_answer *answer)
{
	const struct rna_vf_member *member = &rna_vf_members[answer->member];
	const char *directory =
		rna_recording_need(recording, rna_arena_printf(recording->scratch, "%s/%u", path,
							       answer->number));
	const char *text, *file;

	if (!directory)
		return;
	rna_recording_write_number(recording, directory, member->name, answer->value);
	if (!answer->text[0])
		return;
	text = rna_recording_disguise(recording,
				      strcmp(member->name, "mac") == 0 ? RNA_DISGUISE_ADDRESS
								       : RNA_DISGUISE_GUID,
				      answer->text);
	file = rna_recording_join(recording, directory, member->name);
	if (text && file)
		rna_recording_write_file(recording, file, text, strlen(text));
}

void rna_record_virtual_functions(struct rna_recording *recording, const char *netdev)
{
	RNA_CLEANUP(rna_child_stop) struct rna_child child = {0};
	const char *path =
		rna_recording_need(recording,
				   rna_arena_printf(recording->scratch, RNA_RECORDED_VFS, netdev));
	struct vf_answer answer;
	ssize_t len;

	if (!path)
		return;
	len = rna_child_start(&child, ask_vfs, &(struct vf_question){recording, netdev});
	do {
		if (len >= 0)
			len = rna_recording_receive(recording, &child, path, &answer,
						    sizeof(answer));
		if (len >= 0 && answer.more)
			write_vf(recording, path, &answer);
	} while (len >= 0 && answer.more);
	if (len < 0 || (answer.error < 0 && answer.error != -ENODEV))
		rna_recording_note(recording, path, len < 0 ? (int)len : answer.error);
}

/* What no file of the node says. */
void rna_record_netlink(struct rna_recording *recording, const struct rna_port_netdev *port)
{
	const char *netdev = rna_recording_disguise(recording, RNA_DISGUISE_NAME, port->netdev);
	const char *path =
		netdev ? rna_recording_need(recording, rna_arena_printf(recording->scratch,
									RNA_RECORDED_NETLINK,
									port->device, port->port))
		       : NULL;

	if (path)
		rna_recording_write_file(recording, path, netdev, strlen(netdev));
}

void rna_record_uplink(struct rna_recording *recording, const char *netdev)
{
	netdev = rna_recording_disguise(recording, RNA_DISGUISE_NAME, netdev);
	if (netdev)
		rna_recording_write_file(recording, RNA_RECORDED_UPLINK, netdev, strlen(netdev));
}

static void try_netdevs(int fd, const void *userdata)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	int status = rna_collect_netdev(userdata, &part, NULL);

	(void)send(fd, &status, sizeof(status), 0);
}

/* A driver that keeps the lock of all interfaces makes whoever asks for one wait. */
bool rna_record_netdevs_answer(struct rna_recording *recording,
			       const struct rna_collect_input *input)
{
	RNA_CLEANUP(rna_child_stop) struct rna_child child = {0};
	int status;
	ssize_t len = rna_child_start(&child, try_netdevs, input);

	if (len == 0)
		len = rna_recording_receive(recording, &child, CLASS_NET, &status, sizeof(status));
	if (len < 0)
		rna_recording_note(recording, CLASS_NET, (int)len);
	return len >= 0;
}

void rna_record_addresses(struct rna_recording *recording, const struct rna_netdev *netdev)
{
	const char *name = rna_recording_disguise(recording, RNA_DISGUISE_NAME, netdev->name);
	const char *path = name ? rna_recording_join(recording, RNA_RECORDED_NETDEV, name) : NULL;

	if (!path)
		return;
	rna_recording_write_number(recording, path, "ipv4_addresses", netdev->ipv4_addresses);
	rna_recording_write_number(recording, path, "ipv6_addresses", netdev->ipv6_addresses);
}
