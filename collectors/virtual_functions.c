// SPDX-License-Identifier: Apache-2.0
/*
 * virtual_functions: the virtual functions of a device, their users and their settings.
 *
 * Three sources, joined by function number: links below the physical function in sysfs give the PCI
 * address and driver; rtnetlink, for an interface of the physical function, gives the assigned
 * addresses and settings; on InfiniBand with NVIDIA's driver package, files below the RDMA device
 * do. Representors are interfaces of the physical function, too (mlx5, ice, bnxt_en, nfp), and
 * their name contains the function number; those of other hosts of a DPU are ignored.
 *
 * Virtual functions, scalable functions and software devices have none.
 */
#include "rna/model/virtual_functions.h"

#include <errno.h>
#include <string.h>

#include "rna/base/parse.h"

#include "backend/backends.h"
#include "parse/guid.h"
#include "parse/link_message.h"
#include "parse/pci.h"
#include "parse/representor.h"

#include "collectors.h"

struct run {
	const struct rna_collect_input *in;
	struct rna_part *part;
	struct rna_arena *scratch;
	char *pci; /* directory of the physical function */
	size_t count;
	struct rna_virtual_function functions[RNA_VIRTUAL_FUNCTIONS_MAX];
	bool no_memory;
	int error; /* first error that hides functions; 0: none */
};

/* Records any error except absence, which is a valid answer. Returns status. */
static ssize_t note(struct run *run, ssize_t status)
{
	if (status < 0 && !rna_error_is_absence((int)status))
		run->error = (int)status;
	return status;
}

/* The function with that number, added if necessary; NULL: above the limit. */
static struct rna_virtual_function *function_of(struct run *run, uint64_t number)
{
	for (size_t i = 0; i < run->count; i++)
		if (run->functions[i].number == number)
			return &run->functions[i];
	if (run->count == RNA_VIRTUAL_FUNCTIONS_MAX || number > UINT16_MAX)
		return NULL;
	run->functions[run->count] = (struct rna_virtual_function){.number = (unsigned)number};
	return &run->functions[run->count++];
}

static const char *keep(struct run *run, const char *text)
{
	return rna_arena_keep(run->part->arena, text, &run->no_memory);
}

static const char *path_of(struct run *run, const char *directory, const char *name)
{
	const char *path = rna_arena_printf(run->scratch, "%s/%s", directory, name);

	run->no_memory |= !path;
	return path;
}

/* -- Where it is, and who drives it ------------------------------------------------------------ */

/* The last component of a link's target, or NULL. */
static const char *target_of(struct run *run, const char *directory, const char *name)
{
	const char *path = path_of(run, directory, name), *slash;
	char target[RNA_ATTRIBUTE_MAX];

	if (!path || note(run, rna_root_readlink(run->in->root, path, target, sizeof(target))) < 0)
		return NULL;
	slash = strrchr(target, '/');
	return keep(run, slash ? slash + 1 : target);
}

/* The first entry of a directory by name; NULL: none. */
static const char *first_in(struct run *run, const char *directory, const char *name)
{
	const char *path = path_of(run, directory, name);
	char **names;

	if (!path || note(run, rna_root_list(run->in->root, path, run->scratch, &names)) <= 0)
		return NULL;
	return keep(run, names[0]);
}

static void read_pci(struct run *run)
{
	static const char prefix[] = "virtfn";
	char **names;
	ssize_t count = note(run, rna_root_list(run->in->root, run->pci, run->scratch, &names));

	for (ssize_t i = 0; i < count; i++) {
		struct rna_virtual_function *function;
		const char *directory;
		uint64_t number;

		if (strncmp(names[i], prefix, strlen(prefix)) != 0 ||
		    rna_parse_u64(names[i] + strlen(prefix), &number) < 0)
			continue;
		function = function_of(run, number);
		directory = path_of(run, run->pci, names[i]);
		if (!function || !directory)
			continue;
		function->pci_address = target_of(run, run->pci, names[i]);
		function->driver = target_of(run, directory, "driver");
		function->device = first_in(run, directory, "infiniband");
		function->netdev = first_in(run, directory, "net");
	}
}

/* -- What it was given, and who stands for it -------------------------------------------------- */

/* Drivers number a physical function by its PCI function number. */
static bool is_own(struct run *run, unsigned pf)
{
	size_t len = strlen(run->pci);

	return len > 0 && (unsigned)(run->pci[len - 1] - '0') == pf;
}

/* Adds a representor; false: netdev is an interface of the physical function itself. */
static bool add_representor(struct run *run, const char *netdev)
{
	const char *path =
		rna_arena_printf(run->scratch, "%s/net/%s/phys_port_name", run->pci, netdev);
	struct rna_virtual_function *function;
	unsigned pf, vf;
	char text[64];

	run->no_memory |= !path;
	if (!path || rna_root_read(run->in->root, path, text, sizeof(text)) <= 0)
		return false;
	if (text[0] != 'c' && strncmp(text, "pf", 2) != 0)
		return false;
	if (rna_vf_parse_representor(text, &pf, &vf) < 0 || !is_own(run, pf))
		return true;
	function = function_of(run, vf);
	if (function)
		function->representor = keep(run, netdev);
	return true;
}

static void merge(struct run *run, const struct rna_vf_list *list)
{
	RNA_EACH (told, list->functions, list->count) {
		struct rna_virtual_function *function = function_of(run, told->number);

		if (!function)
			continue;
		function->mac = told->mac;
		function->node_guid = told->node_guid;
		function->port_guid = told->port_guid;
		function->assigned = told->assigned;
		function->link = told->link;
		function->spoof_check = told->spoof_check;
		function->trust = told->trust;
		function->vlan = told->vlan;
		function->vlan_priority = told->vlan_priority;
		function->max_rate = told->max_rate;
	}
}

/*
 * Each interface of a function reports all its virtual functions, so the first answer is
 * sufficient.
 */
static void read_netdevs(struct run *run)
{
	const char *directory = path_of(run, run->pci, "net");
	struct rna_vf_list list = {0};
	char **names;
	ssize_t count =
		directory ? note(run, rna_root_list(run->in->root, directory, run->scratch, &names))
			  : 0;

	for (ssize_t i = 0; i < count; i++) {
		int status;

		if (add_representor(run, names[i]) || list.count > 0)
			continue;
		status = run->in->backends->netdev->list_virtual_functions(run->in->root, names[i],
									   run->part->arena, &list);
		run->no_memory |= status == -ENOMEM;
		if (status < 0 && status != -ENODEV && status != -ENOENT)
			rna_part_count_error(run->part, status);
	}
	merge(run, &list);
}

/* -- InfiniBand, by NVIDIA's driver package ---------------------------------------------------- */

/* Length; 0: no such file. */
static ssize_t read_file(struct run *run, unsigned number, const char *name, char text[64])
{
	const char *path = rna_arena_printf(run->scratch, "%s/device/sriov/%u/%s",
					    run->in->device->sysfs_path, number, name);
	ssize_t len = path ? rna_root_read(run->in->root, path, text, 64) : 0;

	run->no_memory |= !path;
	if (len < 0 && len != -ENOENT)
		rna_part_count_error(run->part, (int)len);
	return len < 0 ? 0 : len;
}

static void read_guid(struct run *run, unsigned number, const char *name, const char **ret,
		      struct rna_value *ret_assigned)
{
	uint64_t guid;
	char text[64];

	if (*ret || read_file(run, number, name, text) == 0)
		return;
	if (rna_vf_parse_guid(text, &guid) < 0) {
		rna_part_count_error(run->part, -EBADMSG);
		return;
	}
	*ret = rna_guid_keep(guid, run->part->arena, &run->no_memory);
	if (ret_assigned)
		*ret_assigned = rna_value_ok(guid != 0);
}

static void read_policy(struct run *run, struct rna_virtual_function *function)
{
	static const char *const policies[RNA_VF_LINK_COUNT] = {
		[RNA_VF_LINK_AUTO] = "Follow",
		[RNA_VF_LINK_UP] = "Up",
		[RNA_VF_LINK_DOWN] = "Down",
	};
	char text[64];

	if (read_file(run, function->number, "policy", text) == 0)
		return;
	for (enum rna_vf_link link = 0; link < RNA_VF_LINK_COUNT; link++)
		if (strcmp(text, policies[link]) == 0)
			function->link = rna_value_ok(link);
}

static void read_infiniband(struct run *run)
{
	const char *directory = path_of(run, run->in->device->sysfs_path, "device/sriov");

	if (!directory || !rna_root_exists(run->in->root, directory))
		return;
	for (size_t i = 0; i < run->count; i++) {
		struct rna_virtual_function *function = &run->functions[i];

		read_guid(run, function->number, "node", &function->node_guid, NULL);
		read_guid(run, function->number, "port", &function->port_guid, &function->assigned);
		read_policy(run, function);
	}
}

/* -- All of it --------------------------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b)
{
	const struct rna_virtual_function *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

static int read_all(struct run *run, struct rna_virtual_functions *ret)
{
	struct rna_virtual_function *functions;
	int status = rna_pci_find_directory(run->in->root, run->in->device->sysfs_path,
					    run->scratch, &run->pci);

	if (status < 0 || !run->pci)
		return status == -ENOENT ? 0 : status;
	read_pci(run);
	read_netdevs(run);
	read_infiniband(run);
	functions = rna_arena_array(run->part->arena, run->count, sizeof(*functions));
	if (!functions || run->no_memory)
		return -ENOMEM;
	if (run->error < 0)
		return run->error;
	if (run->count > 0) {
		memcpy(functions, run->functions, run->count * sizeof(*functions));
		qsort(functions, run->count, sizeof(*functions), compare_numbers);
	}
	ret->functions = functions;
	ret->count = run->count;
	return 0;
}

static int fill(const struct rna_collect_input *in, struct rna_virtual_functions *functions,
		struct rna_arena *scratch)
{
	RNA_FREE struct run *run = calloc(1, sizeof(*run)); /* too large for the stack */

	if (!run)
		return -ENOMEM;
	run->in = in;
	run->part = &functions->part;
	run->scratch = scratch;
	return read_all(run, functions);
}

RNA_DEFINE_COLLECT(virtual_functions, VIRTUAL_FUNCTIONS, struct rna_virtual_functions, 64, 4096,
		   "cannot read virtual functions", fill(in, part, scratch))
