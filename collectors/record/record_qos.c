// SPDX-License-Identifier: Apache-2.0
/*
 * Quality of service, for a recording: what DCB netlink answers, asked for by a child process, the
 * files of drivers and of configfs, and VLANs.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/dcb.h"

#include "qos_paths.h"
#include "recording.h"

#define CLASS_NET "sys/class/net"

/* -- DCB --------------------------------------------------------------------------------------- */

struct question {
	const struct rna_recording *recording;
	const char *netdev;
	enum rna_dcb_question question;
};

struct answer {
	ssize_t len; /* or negative errno */
	uint8_t bytes[RNA_DCB_ANSWER_MAX];
};

static void ask(int fd, const void *userdata)
{
	static struct answer answer; /* the child's own */
	const struct question *question = userdata;
	const struct rna_recording *recording = question->recording;

	answer.len =
		recording->backends->dcb->ask(recording->root, question->netdev, question->question,
					      answer.bytes, sizeof(answer.bytes));
	(void)send(fd, &answer, sizeof(answer), 0);
}

/* The answer names the interface, and some interfaces are named after their MAC address. */
static void disguise_name(struct answer *answer, const char *name, const char *to)
{
	size_t len = strlen(name);
	uint8_t *found = memmem(answer->bytes, (size_t)answer->len, name, len + 1);

	if (found && strlen(to) == len)
		memcpy(found, to, len);
}

static void write_hex(struct rna_recording *recording, const char *path, const uint8_t *bytes,
		      size_t len)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	for (size_t i = 0; i < len; i++)
		rna_strbuf_printf(&text, "%s%02x", i > 0 && i % 32 == 0 ? "\n" : "", bytes[i]);
	if (!rna_strbuf_ok(&text))
		rna_recording_fail(recording, -ENOMEM, path);
	else if (text.data)
		rna_recording_write_file(recording, path, text.data, text.len);
}

/* That a driver has no DCB needs no note. */
static void record_answer(struct rna_recording *recording, const char *netdev,
			  enum rna_dcb_question which)
{
	RNA_CLEANUP(rna_child_stop) struct rna_child child = {0};
	const struct question question = {recording, netdev, which};
	const char *to = rna_recording_disguise(recording, RNA_DISGUISE_NAME, netdev);
	const char *path =
		rna_recording_need(recording,
				   rna_arena_printf(recording->scratch, RNA_RECORDED_DCB "/%s",
						    netdev, rna_dcb_question_name(which)));
	struct answer *answer = rna_arena_alloc(recording->scratch, sizeof(*answer));
	ssize_t len;

	if (!to || !path || !answer)
		return;
	len = rna_child_start(&child, ask, &question);
	if (len == 0)
		len = rna_recording_receive(recording, &child, path, answer, sizeof(*answer));
	if (len > 0)
		len = answer->len;
	if (len < 0 && len != -EOPNOTSUPP && len != -ENODEV)
		rna_recording_note(recording, path, (int)len);
	if (len <= 0)
		return;
	disguise_name(answer, netdev, to);
	write_hex(recording, path, answer->bytes, (size_t)len);
}

/* -- Files ------------------------------------------------------------------------------------- */

/* All of a directory that is there; below "enable" are the switches. */
static void copy_ecn(struct rna_recording *recording, const char *directory, enum rna_ecn role)
{
	const char *path =
		rna_recording_need(recording,
				   rna_arena_printf(recording->scratch, "%s/" RNA_QOS_ECN,
						    directory, rna_qos_ecn_directories[role]));
	char **names;
	size_t count;

	if (!path || !rna_root_exists(recording->root, path))
		return;
	count = rna_recording_list(recording, path, &names);
	for (size_t i = 0; i < count && i <= RNA_QOS_PARAMETERS_MAX; i++)
		if (strcmp(names[i], RNA_QOS_ECN_ENABLE) == 0)
			rna_recording_copy_files(recording,
						 rna_recording_join(recording, path, names[i]),
						 RNA_PRIORITY_COUNT);
		else
			rna_recording_copy_file(recording,
						rna_recording_join(recording, path, names[i]));
}

static void copy_directory(struct rna_recording *recording, const char *path)
{
	char **names;

	if (path && rna_root_list(recording->root, path, recording->scratch, &names) > 0)
		rna_recording_copy_files(recording, path, RNA_QOS_PARAMETERS_MAX);
}

/* -- VLANs ------------------------------------------------------------------------------------- */

static void record_vlan(struct rna_recording *recording, const char *name)
{
	const char *directory = rna_recording_join(recording, RNA_RECORDED_VLAN, name);
	const char *egress = directory ? rna_recording_join(recording, directory, "egress") : NULL;
	struct rna_qos_vlan vlan = {0};

	if (!egress || recording->backends->netdev->read_vlan(recording->root, name, &vlan) < 0)
		return;
	rna_record_netdev(recording, name);
	rna_recording_write_directory(recording, directory);
	rna_recording_write_number(recording, directory, "id", vlan.id);
	for (unsigned from = 0; from < RNA_PRIORITY_COUNT; from++)
		if (vlan.egress.number >> from & 1)
			rna_recording_write_number(recording, egress,
						   (const char[]){(char)('0' + from), '\0'},
						   rna_value_ok(vlan.egress_priority[from]));
}

static void record_vlans(struct rna_recording *recording, const char *netdev)
{
	const char *directory = rna_recording_join(recording, CLASS_NET, netdev);
	size_t prefix = strlen(RNA_QOS_UPPER), count;
	char **names = NULL;

	count = rna_recording_list(recording, directory, &names);
	for (size_t i = 0; i < count; i++)
		if (strncmp(names[i], RNA_QOS_UPPER, prefix) == 0) {
			rna_recording_copy_link(recording, directory, names[i]);
			record_vlan(recording, names[i] + prefix);
		}
}

/* -- All of it --------------------------------------------------------------------------------- */

void rna_record_qos_netdev(struct rna_recording *recording, const char *netdev)
{
	const char *directory = rna_recording_join(recording, CLASS_NET, netdev);

	if (!directory)
		return;
	for (enum rna_dcb_question question = 0; question < RNA_DCB_QUESTION_COUNT; question++)
		record_answer(recording, netdev, question);
	rna_recording_copy_file(recording,
				rna_recording_join(recording, directory, RNA_QOS_TRUST_FILE));
	for (enum rna_ecn role = 0; role < RNA_ECN_COUNT; role++)
		copy_ecn(recording, directory, role);
	record_vlans(recording, netdev);
}

void rna_record_qos_device(struct rna_recording *recording, const struct rna_device *device)
{
	struct rna_arena *scratch = recording->scratch;

	if (device->pci_address)
		copy_directory(recording,
			       rna_recording_need(recording,
						  rna_arena_printf(scratch, RNA_QOS_PARAMETERS,
								   device->pci_address)));
	for (size_t i = 0; i < device->port_count; i++)
		copy_directory(recording,
			       rna_recording_need(recording,
						  rna_arena_printf(scratch, RNA_QOS_CONFIGFS,
								   device->name,
								   device->ports[i])));
}
