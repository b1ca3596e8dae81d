// SPDX-License-Identifier: Apache-2.0
/*
 * Recording what devices share, or have beside them: PCI functions and network interfaces. Each is
 * copied once, whoever leads to it first.
 */
#include <string.h>

#include "parse/pci_config.h"

#include "recording.h"

#define CLASS_NET "sys/class/net"

static const struct rna_recorded_attribute pci_attributes[] = {
	{"aer_dev_correctable"},
	{"aer_dev_nonfatal"},
	{"aer_dev_fatal"},
	{"class"},
	{"vendor"},
	{"device"},
	{"subsystem_vendor"},
	{"subsystem_device"},
	{"revision"},
	{"numa_node"},
	{"current_link_speed"},
	{"current_link_width"},
	{"max_link_speed"},
	{"max_link_width"},
	{"sriov_numvfs"},
	{"sriov_totalvfs"},
};

static const struct rna_recorded_attribute netdev_attributes[] = {
	{"type"},
	{"dev_port"},
	{"dev_id"},
	{"ifindex"},
	{"flags"},
	{"operstate"},
	{"carrier", .may_be_invalid = true},
	{"carrier_up_count"},
	{"carrier_down_count"},
	{"mtu"},
	{"speed", .may_be_invalid = true},
	{"address", RNA_DISGUISE_ADDRESS},
	{"bonding/slaves", RNA_DISGUISE_NAME},
};

/* -- PCI functions ----------------------------------------------------------------------------- */

/* An excerpt, for config space has serial numbers; and not by a child, as no driver answers. */
static void record_config(struct rna_recording *recording, const char *directory)
{
	const char *path = rna_recording_join(recording, directory, "config");
	uint8_t bytes[RNA_PCI_CONFIG_EXCERPT];
	ssize_t len = path ? rna_pci_config_excerpt(recording->root, directory, bytes) : 0;

	if (len < 0)
		rna_recording_note(recording, path, (int)len);
	else if (len > 0)
		rna_recording_write_file(recording, path, (const char *)bytes, (size_t)len);
}

void rna_record_function(struct rna_recording *recording, const char *directory)
{
	char **names;
	size_t count;

	if (rna_recording_has(recording, directory, "vendor"))
		return;
	RNA_RECORDING_COPY_ATTRIBUTES(recording, directory, pci_attributes);
	record_config(recording, directory);
	count = rna_recording_list(recording, directory, &names);
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], "driver") == 0 || strcmp(names[i], "physfn") == 0 ||
		    strncmp(names[i], "virtfn", strlen("virtfn")) == 0)
			rna_recording_copy_link(recording, directory, names[i]);
}

/* -- Network interfaces ------------------------------------------------------------------------ */

/* What tells a representor from a port; most drivers have no such name, which is no failure. */
static void copy_port_name(struct rna_recording *recording, const char *directory)
{
	const char *path = rna_recording_join(recording, directory, "phys_port_name");
	char text[64];

	if (path && rna_root_read(recording->root, path, text, sizeof(text)) > 0)
		rna_recording_write_file(recording, path, text, strlen(text));
}

void rna_record_netdev_at(struct rna_recording *recording, const char *path, const char *name)
{
	const char *directory =
		path ? rna_root_realpath(recording->root, path, recording->scratch, NULL) : NULL;

	rna_recording_copy_link(recording, CLASS_NET, name);
	if (!directory || rna_recording_has(recording, directory, "type"))
		return;
	rna_recording_write_directory(recording, directory);
	RNA_RECORDING_COPY_ATTRIBUTES(recording, directory, netdev_attributes);
	rna_recording_copy_link(recording, directory, "master");
	copy_port_name(recording, directory);
}

void rna_record_netdev(struct rna_recording *recording, const char *name)
{
	rna_record_netdev_at(recording, rna_recording_join(recording, CLASS_NET, name), name);
}
