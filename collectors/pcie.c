// SPDX-License-Identifier: Apache-2.0
/*
 * pcie: the path of a device up to its root port: current and maximum speed and width of each link,
 * and the errors that its functions counted.
 *
 * The functions above a device are the directories above it in sysfs. Each has a dozen small files;
 * opening them once a minute costs less than keeping descriptors open. Current widths and speeds
 * are read from the device, everything else from kernel memory; a device that does not respond
 * returns all ones, which the parsers reject.
 *
 * Errors are those that each function counted itself. A root port also counts the error messages
 * that it received (aer_rootport_total_err_*): the same errors again, so these are not read.
 */
#include "rna/model/pcie.h"

#include <errno.h>
#include <string.h>

#include "rna/base/parse.h"

#include "parse/pci.h"
#include "parse/pci_config.h"
#include "parse/pcie_texts.h"

#include "collectors.h"

enum { HOPS_MAX = 64 };

/* -- One function ------------------------------------------------------------------------------ */

struct run {
	const struct rna_root *root;
	struct rna_part *part;
	struct rna_arena *scratch;
	const char *directory; /* directory of the current function */
};

/* Length of the text, or negative errno. -ENOENT is normal, other errors are counted. */
static ssize_t read_text(struct run *run, const char *name, char *text, size_t size)
{
	const char *path = rna_arena_printf(run->scratch, "%s/%s", run->directory, name);
	ssize_t len = path ? rna_root_read(run->root, path, text, size) : -ENOMEM;

	if (len < 0 && len != -ENOENT)
		rna_part_count_error(run->part, (int)len);
	return len;
}

static struct rna_value to_value(struct run *run, ssize_t status, uint64_t number)
{
	if (status >= 0)
		return rna_value_ok(number);
	if (status == -ENOENT)
		return (struct rna_value){0};
	if (status == -EBADMSG || status == -ERANGE) /* read errors were counted before */
		rna_part_count_error(run->part, (int)status);
	return rna_value_unreadable();
}

static struct rna_value read_number(struct run *run, const char *name,
				    int (*parse)(const char *text, uint64_t *ret))
{
	char text[64];
	uint64_t number = 0;
	ssize_t status = read_text(run, name, text, sizeof(text));

	if (status >= 0)
		status = parse(text, &number);
	return to_value(run, status, number);
}

static struct rna_value read_errors(struct run *run, enum rna_aer severity)
{
	static const struct {
		const char *file, *total;
	} rows[RNA_AER_COUNT] = {
		[RNA_AER_CORRECTABLE] = {"aer_dev_correctable", "TOTAL_ERR_COR"},
		[RNA_AER_NONFATAL] = {"aer_dev_nonfatal", "TOTAL_ERR_NONFATAL"},
		[RNA_AER_FATAL] = {"aer_dev_fatal", "TOTAL_ERR_FATAL"},
	};
	char text[RNA_ATTRIBUTE_MAX + 1];
	uint64_t number = 0;
	ssize_t status = read_text(run, rows[severity].file, text, sizeof(text));

	if (status >= 0)
		status = rna_pcie_parse_errors(text, rows[severity].total, &number);
	return to_value(run, status, number);
}

static bool is_bridge(struct run *run)
{
	struct rna_value class = read_number(run, "class", rna_parse_hex_u64);

	return rna_value_is_known(class) && class.number >> 8 == RNA_PCI_CLASS_BRIDGE;
}

static enum rna_pci_role role_of(struct run *run, const struct rna_pcie_hop *hop, int type,
				 const struct rna_pcie_hop *above)
{
	bool has_link = rna_value_is_known(hop->link.max_speed) && is_bridge(run);

	return rna_pci_port_role(type, has_link, above ? above->role : RNA_PCI_HOST_BRIDGE);
}

/* above: the next hop towards the root; NULL for the last one. */
static void read_hop(struct run *run, bool own, const struct rna_pcie_hop *above,
		     struct rna_pcie_hop *hop)
{
	struct rna_pci_config config;
	int status = rna_pci_config_read(run->root, run->directory, &config);

	if (status < 0)
		rna_part_count_error(run->part, status);
	hop->link = (struct rna_pcie_link){
		.speed = read_number(run, "current_link_speed", rna_pcie_parse_speed),
		.width = read_number(run, "current_link_width", rna_pcie_parse_width),
		.max_speed = read_number(run, "max_link_speed", rna_pcie_parse_speed),
		.max_width = read_number(run, "max_link_width", rna_pcie_parse_width),
	};
	for (enum rna_aer severity = 0; severity < RNA_AER_COUNT; severity++)
		hop->aer[severity] = read_errors(run, severity);
	hop->max_read_request = config.max_read_request;
	hop->acs_redirect = config.acs_redirect;
	hop->silent = config.silent;
	hop->role = own ? RNA_PCI_NIC : role_of(run, hop, config.type, above);
}

/* -- The path ---------------------------------------------------------------------------------- */

/*
 * The directory of the device's function, or of its physical function, which has the link. 0,
 * -ENOENT or -ENOMEM.
 */
static int find_directory(struct run *run, const struct rna_device *device, char **ret)
{
	const char *link = device->physical_function
				   ? rna_arena_printf(run->scratch, "sys/bus/pci/devices/%s",
						      device->physical_function)
				   : NULL;

	*ret = link ? rna_root_realpath(run->root, link, run->scratch, NULL) : NULL;
	if (*ret)
		return 0;
	return rna_pci_find_directory(run->root, device->sysfs_path, run->scratch, ret);
}

/*
 * The number of addresses at the end of directory, down from the host bridge, which has another
 * form. A host bridge may itself be below a function (VMD), which is not a hop of this path.
 */
static size_t count_hops(const char *directory)
{
	size_t count = 0, end = strlen(directory);

	while (count < HOPS_MAX && end > 0) {
		size_t start = end;

		while (start > 0 && directory[start - 1] != '/')
			start--;
		if (!rna_pci_is_address(directory + start, end - start))
			break;
		count++;
		end = start > 0 ? start - 1 : 0;
	}
	return count;
}

/*
 * Reads from the root port down, because the role of a port depends on the port above. Truncates
 * directory.
 */
static int read_hops(struct run *run, char *directory, struct rna_pcie *pcie)
{
	size_t count = count_hops(directory);
	struct rna_pcie_hop *hops = rna_arena_array(run->part->arena, count, sizeof(*hops));
	const char **directories = rna_arena_array(run->scratch, count, sizeof(*directories));

	if (!hops || !directories)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		char *slash = strrchr(directory, '/');

		directories[i] = rna_arena_strdup(run->scratch, directory);
		hops[i].address = rna_arena_strdup(run->part->arena, slash + 1);
		if (!directories[i] || !hops[i].address)
			return -ENOMEM;
		*slash = '\0';
	}
	for (size_t i = count; i > 0; i--) {
		run->directory = directories[i - 1];
		read_hop(run, i == 1, i == count ? NULL : &hops[i], &hops[i - 1]);
	}
	pcie->hops = hops;
	pcie->hop_count = count;
	return 0;
}

static int read_path(struct run *run, const struct rna_collect_input *in, struct rna_pcie *pcie)
{
	char *directory = NULL;
	int status = find_directory(run, in->device, &directory);

	if (status < 0)
		return status == -ENOENT ? 0 : status;
	run->directory = directory;
	pcie->virtual_functions = read_number(run, "sriov_numvfs", rna_parse_u64);
	pcie->max_virtual_functions = read_number(run, "sriov_totalvfs", rna_parse_u64);
	pcie->iommu = rna_pci_read_iommu(run->root, directory);
	return read_hops(run, directory, pcie);
}

RNA_DEFINE_COLLECT(
	pcie, PCIE, struct rna_pcie, 64, 4096, "cannot read the PCIe path",
	read_path(&(struct run){.root = in->root, .part = &part->part, .scratch = scratch}, in,
		  part))
