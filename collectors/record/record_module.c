// SPDX-License-Identifier: Apache-2.0
/*
 * The answers of modules, for a recording: as they came, but for the name of the interface in them.
 * Serial numbers are not asked for. Only root gets any answers.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "rna/base/strbuf.h"

#include "module_memory.h"
#include "recording.h"

struct question {
	const struct rna_recording *recording;
	const char *netdev;
	int fd;
};

struct answer {
	char name[32]; /* "": no more */
	int error;
	size_t len;
	uint8_t bytes[256];
};

static void send_answer(const struct rna_module_range *range, const struct rna_module_answer *given,
			void *userdata)
{
	const struct question *question = userdata;
	struct answer answer = {0};
	ssize_t len;

	if (given->message.len > sizeof(answer.bytes))
		return;
	len = rna_ethtool_anonymize(given->message, &given->question, answer.bytes);
	if (len < 0)
		return;
	answer.len = (size_t)len;
	(void)snprintf(answer.name, sizeof(answer.name), "%s", range->name);
	(void)send(question->fd, &answer, sizeof(answer), 0);
}

static void ask_module(int fd, const void *userdata)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(4096);
	const struct question *asked = userdata;
	struct question question = {asked->recording, asked->netdev, fd};
	struct rna_module_visit visit = {.arena = arena,
					 .on_answer = send_answer,
					 .userdata = &question};
	RNA_CLEANUP(rna_ethtool_end)
	struct rna_ethtool_talk talk = {.root = asked->recording->root};
	struct answer end = {.error = -ENOMEM};

	if (arena)
		end.error = rna_module_read_memory(&talk, question.recording->backends->ethtool,
						   question.netdev, false, &visit);
	(void)send(fd, &end, sizeof(end), 0);
}

static void write_answer(struct rna_recording *recording, const char *netdev,
			 const struct answer *answer)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const char *path = rna_recording_need(recording, rna_arena_printf(recording->scratch,
									  RNA_RECORDED_ETHTOOL,
									  netdev, answer->name));

	for (size_t i = 0; i < answer->len; i++)
		rna_strbuf_printf(&text, "%02x", answer->bytes[i]);
	rna_strbuf_puts(&text, "\n");
	if (!rna_strbuf_ok(&text))
		rna_recording_fail(recording, -ENOMEM, path);
	else if (path)
		rna_recording_write_file(recording, path, text.data, text.len);
}

/* A module that cannot be asked is as good as none, and that is normal. */
void rna_record_module(struct rna_recording *recording, const char *netdev)
{
	RNA_CLEANUP(rna_child_stop) struct rna_child child = {0};
	struct answer answer = {.name = "?"};
	ssize_t len =
		rna_child_start(&child, ask_module, &(struct question){recording, netdev, -1});

	while (len >= 0 && answer.name[0]) {
		len = rna_recording_receive(recording, &child, netdev, &answer, sizeof(answer));
		if (len >= 0 && answer.name[0])
			write_answer(recording, netdev, &answer);
	}
	if (len < 0)
		rna_recording_note(recording, netdev, (int)len);
}
