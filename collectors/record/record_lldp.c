// SPDX-License-Identifier: Apache-2.0
/*
 * Who was heard by LLDP, for a recording. Names of switches and what people wrote to their ports is
 * replaced; IDs of ports are kept, but for the MAC addresses among them. No child asks: the backend
 * ends by itself.
 */
#include <errno.h>
#include <string.h>

#include "recording.h"

static const enum rna_disguise_kind kinds[] = {
	RNA_DISGUISE_NAME, /* guid; see kind_of() */
	RNA_DISGUISE_TEXT, /* name */
	RNA_DISGUISE_NAME, /* port */
	RNA_DISGUISE_TEXT, /* port_description */
};

/* IDs may be addresses, of switches that nothing else in the recording has. */
static enum rna_disguise_kind kind_of(size_t field, const char *text)
{
	size_t colons = 0;

	for (const char *c = text; *c; c++)
		colons += *c == ':';
	return colons == 5 ? RNA_DISGUISE_ADDRESS : kinds[field];
}

static void write_neighbour(struct rna_recording *recording, struct rna_lldp_neighbour *neighbour)
{
	const char *directory = rna_recording_join(recording, RNA_RECORDED_LLDP, neighbour->netdev);
	const char *bridge = directory ? rna_recording_join(recording, directory, "bridge") : NULL;

	if (!bridge)
		return;
	rna_recording_write_directory(recording, directory);
	for (size_t i = 0; i < rna_lldp_field_count; i++) {
		const char *text = *rna_lldp_text(&neighbour->peer, &rna_lldp_fields[i]);
		const char *path =
			rna_recording_join(recording, directory, rna_lldp_fields[i].name);

		text = text ? rna_recording_disguise(recording, kind_of(i, text), text) : NULL;
		if (text && path)
			rna_recording_write_file(recording, path, text, strlen(text));
	}
	if (neighbour->peer.type == RNA_NODE_TYPE_SWITCH)
		rna_recording_write_directory(recording, bridge);
}

void rna_record_lldp(struct rna_recording *recording)
{
	struct rna_lldp_neighbours found = {0};
	int status = recording->backends->lldp->list(recording->root, recording->scratch, &found);

	if (status < 0 && status != -ENOENT && status != -EOPNOTSUPP)
		rna_recording_note(recording, RNA_RECORDED_LLDP, status);
	for (size_t i = 0; status == 0 && i < found.count; i++)
		write_neighbour(recording, &found.items[i]);
}
