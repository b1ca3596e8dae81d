// SPDX-License-Identifier: Apache-2.0
/*
 * What MADs say, for a recording: below recorded/mad/, where recorded_mad.c finds it. Each question
 * is asked in a child process, for a port may keep whoever asks waiting.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>

#include "parse/guid.h"

#include "recording.h"

struct mad_question {
	const struct rna_recording *recording;
	const struct rna_device *device;
	unsigned port;
};

struct mad_port_answer {
	int error;
	struct rna_mad_port port;
};

struct mad_counters_answer {
	int error;
	struct rna_mad_counters counters;
};

static void ask_mad_port(int fd, const void *userdata)
{
	const struct mad_question *question = userdata;
	const struct rna_recording *recording = question->recording;
	struct mad_port_answer answer = {0};

	answer.error = recording->backends->mad->query_port(recording->root, question->device,
							    question->port, &answer.port);
	(void)send(fd, &answer, sizeof(answer), 0);
}

static void ask_mad_counters(int fd, const void *userdata)
{
	const struct mad_question *question = userdata;
	const struct rna_recording *recording = question->recording;
	struct mad_counters_answer answer = {0};

	answer.error = recording->backends->mad->query_counters(recording->root, question->device,
								question->port, &answer.counters);
	(void)send(fd, &answer, sizeof(answer), 0);
}

/* The one message of a child that begins with its error. path: what it is about. 0 or that error.
 */
static int ask_child(const struct mad_question *question, struct rna_recording *recording,
		     void (*work)(int fd, const void *userdata), const char *path, void *answer,
		     size_t size)
{
	RNA_CLEANUP(rna_child_stop) struct rna_child child = {0};
	ssize_t len = rna_child_start(&child, work, question);

	if (len == 0)
		len = rna_recording_receive(recording, &child, path, answer, size);
	return len < 0 ? (int)len : *(const int *)answer;
}

static void record_mad_counters(struct rna_recording *recording,
				const struct mad_question *question, const char *path)
{
	struct mad_counters_answer answer;
	int error = path ? ask_child(question, recording, ask_mad_counters, path, &answer,
				     sizeof(answer))
			 : 0;

	if (!path || error == -ENETDOWN)
		return;
	if (error < 0) {
		rna_recording_note(recording, path, error);
		return;
	}
	rna_recording_write_directory(recording, path);
	for (size_t i = 0; i < RNA_MAD_COUNTERS; i++)
		rna_recording_write_number(recording, path, answer.counters.items[i].file,
					   answer.counters.items[i].value);
}

static void write_numbers(struct rna_recording *recording, const char *path,
			  const struct rna_mad_field *fields, size_t count, const void *from)
{
	for (size_t i = 0; i < count; i++) {
		const void *value = (const char *)from + fields[i].offset;

		rna_recording_write_number(recording, path, fields[i].name,
					   *(const struct rna_value *)value);
	}
}

static void record_mad_port(struct rna_recording *recording, const struct mad_question *question,
			    const char *path)
{
	struct mad_port_answer answer;
	int error = ask_child(question, recording, ask_mad_port, path, &answer, sizeof(answer));

	if (error < 0) {
		rna_recording_note(recording, path, error);
		return;
	}
	rna_recording_write_directory(recording, path);
	write_numbers(recording, path, rna_mad_fields, rna_mad_field_count, &answer.port);
}

/* -- The fabric -------------------------------------------------------------------------------- */

struct mad_fabric_answer {
	int error;
	struct rna_mad_fabric fabric;
};

static void ask_mad_fabric(int fd, const void *userdata)
{
	const struct mad_question *question = userdata;
	const struct rna_recording *recording = question->recording;
	struct mad_fabric_answer answer = {0};

	answer.error =
		recording->backends->mad->query_fabric(recording->root, question->device,
						       question->port, UINT_MAX, &answer.fabric);
	(void)send(fd, &answer, sizeof(answer), 0);
}

static void write_guid(struct rna_recording *recording, const char *path, const char *name,
		       struct rna_value guid)
{
	const char *text, *file = rna_recording_join(recording, path, name);
	char number[RNA_GUID_TEXT];

	if (!file || !rna_value_is_known(guid))
		return;
	rna_guid_write(guid.number, number);
	text = rna_recording_disguise(recording, RNA_DISGUISE_GUID, number);
	if (text)
		rna_recording_write_file(recording, file, text, strlen(text));
}

static void write_peer(struct rna_recording *recording, const char *path,
		       const struct rna_mad_peer *peer)
{
	const char *directory = rna_recording_join(recording, path, "peer");
	const char *file = directory ? rna_recording_join(recording, directory, "name") : NULL;
	const char *name = rna_recording_disguise(recording, RNA_DISGUISE_TEXT, peer->name);

	if (!rna_value_is_known(peer->port_number) || !file || !name)
		return;
	if (*peer->name)
		rna_recording_write_file(recording, file, name, strlen(name));
	write_numbers(recording, directory, rna_mad_fields, rna_mad_field_count, &peer->port);
}

static void write_pkeys(struct rna_recording *recording, const char *path,
			const struct rna_mad_pkeys *pkeys)
{
	for (size_t i = 0; i < pkeys->count; i++) {
		const char *file =
			rna_recording_need(recording,
					   rna_arena_printf(recording->scratch, "%s/pkeys/%u", path,
							    pkeys->items[i].index));
		char text[16];

		(void)snprintf(text, sizeof(text), "0x%04x", pkeys->items[i].key);
		if (file)
			rna_recording_write_file(recording, file, text, strlen(text));
	}
}

/* Topics that were refused leave nothing behind; errors are noted once, with the port's. */
static void record_mad_fabric(struct rna_recording *recording, const struct mad_question *question,
			      const char *path)
{
	const char *details = rna_recording_join(recording, path, "details");
	struct mad_fabric_answer answer;

	if (!details ||
	    ask_child(question, recording, ask_mad_fabric, path, &answer, sizeof(answer)) < 0)
		return;
	write_numbers(recording, path, rna_mad_fabric_numbers, rna_mad_fabric_number_count,
		      &answer.fabric);
	for (size_t i = 0; i < rna_mad_fabric_guid_count; i++) {
		const void *guid = (const char *)&answer.fabric + rna_mad_fabric_guids[i].offset;

		write_guid(recording, path, rna_mad_fabric_guids[i].name,
			   *(const struct rna_value *)guid);
	}
	write_peer(recording, path, &answer.fabric.peer);
	write_pkeys(recording, path, &answer.fabric.pkeys);
	for (size_t i = 0; i < RNA_MAD_DETAILS; i++)
		rna_recording_write_number(recording, details, answer.fabric.details[i].file,
					   answer.fabric.details[i].value);
}

/* Counters are asked for only where collectors would: that no file has them. */
void rna_record_mads(struct rna_recording *recording, const struct rna_device *device)
{
	if (device->function == RNA_FUNCTION_SWITCH_MANAGEMENT)
		return;
	for (size_t i = 0; i < device->port_count; i++) {
		unsigned number = device->ports[i];
		const struct mad_question question = {recording, device, number};
		const char *path =
			rna_recording_need(recording,
					   rna_arena_printf(recording->scratch, RNA_RECORDED_MAD,
							    device->name, number));
		const char *counters =
			rna_recording_need(recording, rna_arena_printf(recording->scratch,
								       "%s/ports/%u/counters",
								       device->sysfs_path, number));

		if (!path || !counters ||
		    !recording->backends->mad->serves(recording->root, device, number))
			continue;
		record_mad_port(recording, &question, path);
		record_mad_fabric(recording, &question, path);
		if (!rna_root_exists(recording->root, counters))
			record_mad_counters(recording, &question,
					    rna_recording_join(recording, path, "counters"));
	}
}
