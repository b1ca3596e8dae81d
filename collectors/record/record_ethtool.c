// SPDX-License-Identifier: Apache-2.0
/*
 * What ethtool says of an interface, for a recording: the answers as they came, but for the name of
 * the interface, and all statistics of its driver. A child asks, for drivers may keep it waiting.
 */
#include <errno.h>
#include <net/if_arp.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/ethtool.h"

#include "recording.h"

static const struct rna_ethtool_question *const questions[] = {
	&rna_ethtool_link_question,  &rna_ethtool_mode_question,     &rna_ethtool_fec_question,
	&rna_ethtool_pause_question, &rna_ethtool_standard_question,
};

enum { MESSAGE_MAX = 32 * 1024 };

struct ethtool_question {
	const struct rna_recording *recording;
	const char *netdev;
};

struct message {
	ssize_t len; /* or negative errno */
	uint8_t data[MESSAGE_MAX];
};

struct statistic {
	struct rna_ethtool_name name;
	uint64_t number;
};

static ssize_t answer_of(const struct ethtool_question *to, struct rna_ethtool_talk *talk, size_t i,
			 struct rna_arena *scratch, uint8_t *ret)
{
	struct rna_bytes bytes;
	int error = to->recording->backends->ethtool->ask(talk, questions[i], to->netdev, scratch,
							  &bytes);

	if (error < 0)
		return error;
	if (bytes.len > MESSAGE_MAX)
		return -EMSGSIZE;
	return rna_ethtool_anonymize(bytes, questions[i], ret);
}

static void ask_messages(int fd, const void *userdata)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *scratch = rna_arena_new(MESSAGE_MAX);
	RNA_FREE struct message *message = malloc(sizeof(*message));
	const struct ethtool_question *to = userdata;
	RNA_CLEANUP(rna_ethtool_end)
	struct rna_ethtool_talk talk = {.root = to->recording->root};

	for (size_t i = 0; scratch && message && i < RNA_ARRAY_SIZE(questions); i++) {
		size_t size = offsetof(struct message, data);

		message->len = answer_of(to, &talk, i, scratch, message->data);
		if (message->len > 0)
			size += (size_t)message->len;
		(void)send(fd, message, size, 0);
	}
}

/* One message for each; none where the driver has none, or they changed just now. */
static void ask_statistics(int fd, const void *userdata)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *scratch = rna_arena_new(MESSAGE_MAX);
	const struct ethtool_question *to = userdata;
	const struct rna_ethtool_backend *ethtool = to->recording->backends->ethtool;
	const struct rna_root *root = to->recording->root;
	struct rna_ethtool_names names = {0};
	uint64_t *numbers;

	if (!scratch || ethtool->list_statistics(root, to->netdev, scratch, &names) < 0)
		return;
	numbers = rna_arena_array(scratch, names.count, sizeof(*numbers));
	if (!numbers || names.count == 0 ||
	    ethtool->read_statistics(root, to->netdev, names.count, numbers) < 0)
		return;
	for (size_t i = 0; i < names.count; i++) {
		struct statistic statistic = {names.names[i], numbers[i]};

		(void)send(fd, &statistic, sizeof(statistic), 0);
	}
}

/* Where it belongs; the interface may have a stand-in. */
static const char *path_of(struct rna_recording *recording, const char *netdev, const char *name)
{
	return rna_recording_need(recording, rna_arena_printf(recording->scratch,
							      RNA_RECORDED_ETHTOOL, netdev, name));
}

/* One that is no whole message is an empty file, which is none either. */
static void write_message(struct rna_recording *recording, const char *path,
			  const struct message *message)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	for (ssize_t i = 0; i < message->len; i++)
		rna_strbuf_printf(&text, "%02x%s", message->data[i], i % 32 == 31 ? "\n" : "");
	rna_strbuf_add_char(&text, '\n');
	if (rna_strbuf_ok(&text))
		rna_recording_write_file(recording, path, text.data, text.len);
	else
		rna_recording_fail(recording, -ENOMEM, path);
}

static void record_messages(struct rna_recording *recording, const struct ethtool_question *to)
{
	RNA_CLEANUP(rna_child_stop) struct rna_child child = {0};
	RNA_FREE struct message *message = malloc(sizeof(*message));
	ssize_t status = rna_child_start(&child, ask_messages, to);

	for (size_t i = 0; message && status >= 0 && i < RNA_ARRAY_SIZE(questions); i++) {
		const char *path = path_of(recording, to->netdev, questions[i]->name);

		if (!path)
			return;
		status = rna_recording_receive(recording, &child, path, message, sizeof(*message));
		if (status < 0)
			message->len = status;
		if (message->len > 0 || message->len == -EBADMSG)
			write_message(recording, path, message);
		if (message->len < 0 && message->len != -EOPNOTSUPP)
			rna_recording_note(recording, path, (int)message->len);
	}
}

static void record_statistics(struct rna_recording *recording, const struct ethtool_question *to)
{
	RNA_CLEANUP(rna_child_stop) struct rna_child child = {0};
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const char *path = path_of(recording, to->netdev, RNA_RECORDED_ETHTOOL_STATISTICS);
	struct statistic statistic;

	if (!path || rna_child_start(&child, ask_statistics, to) < 0)
		return;
	while (rna_recording_receive(recording, &child, path, &statistic, sizeof(statistic)) > 0)
		rna_strbuf_printf(&text, "%s: %ju\n", statistic.name.text,
				  (uintmax_t)statistic.number);
	if (!rna_strbuf_ok(&text))
		rna_recording_fail(recording, -ENOMEM, path);
	else if (text.len > 0)
		rna_recording_write_file(recording, path, text.data, text.len);
}

void rna_record_ethtool(struct rna_recording *recording, const struct rna_netdev *netdev)
{
	const struct ethtool_question to = {recording, netdev->name};

	if (netdev->type != ARPHRD_ETHER || recording->status < 0)
		return;
	record_messages(recording, &to);
	record_statistics(recording, &to);
}
