// SPDX-License-Identifier: Apache-2.0
/*
 * PCI functions from /sys, with their interfaces and RDMA devices.
 *
 * The text of the link below sys/bus/pci/devices gives a function's place in the tree. Links are
 * not followed, so loops of links are harmless. All reads are from kernel memory. Of each function
 * only the class is read, and one link more of virtual functions: they are counted at their
 * physical function and not read again.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <string.h>

#include "rna/base/parse.h"

#include "parse/pci.h"

#include "builder.h"

#define FUNCTIONS  "sys/bus/pci/devices"
#define INTERFACES "sys/class/net"

enum {
	LOWER_MAX = 64, /* lower interfaces visited from one: enough for bonds of VLANs of bonds */
};

/* -- Files ------------------------------------------------------------------------------------- */

static const char *join(struct rna_topology_run *run, const char *directory, const char *name)
{
	return rna_topology_need(run, rna_arena_printf(run->scratch, "%s/%s", directory, name));
}

const char *rna_topology_read_text(struct rna_topology_run *run, const char *directory,
				   const char *name, struct rna_arena *arena)
{
	const char *path = join(run, directory, name);
	char text[RNA_ATTRIBUTE_MAX];

	if (!path || rna_root_read(run->in->root, path, text, sizeof(text)) <= 0)
		return NULL;
	return rna_topology_need(run, rna_arena_strdup(arena, text));
}

/* 0 or negative errno. *ret is 0 also if the file has no number of 32 bits. */
static int read_id(struct rna_topology_run *run, const char *directory, const char *name,
		   uint32_t *ret)
{
	const char *path = join(run, directory, name);
	uint64_t id = 0;
	int status = path ? rna_root_read_hex(run->in->root, path, &id) : -ENOMEM;

	*ret = status < 0 || id > UINT32_MAX ? 0 : (uint32_t)id;
	return status;
}

uint32_t rna_topology_read_id(struct rna_topology_run *run, const char *directory, const char *name)
{
	uint32_t id;
	int status = read_id(run, directory, name, &id);

	if (rna_error_is_lack(status) || status == -EIO)
		rna_topology_note(run, status);
	return id;
}

uint32_t rna_topology_read_bridge_id(struct rna_topology_run *run, const char *directory,
				     const char *name, uint32_t known)
{
	uint32_t id;
	int status = read_id(run, directory, name, &id);

	if (rna_error_is_lack(status))
		rna_topology_note(run, status);
	else if (status == -EIO)
		rna_part_count_error(run->part, status);
	return id ? id : known;
}

int rna_topology_read_node(struct rna_topology_run *run, const char *directory)
{
	const char *text = rna_topology_read_text(run, directory, "numa_node", run->scratch);
	int64_t node;

	return text && rna_parse_i64(text, &node) == 0 && node >= 0 && node < INT_MAX ? (int)node
										      : -1;
}

/* The text of a link, in scratch; NULL: no link. */
static const char *read_link(struct rna_topology_run *run, const char *directory, const char *name)
{
	const char *path = join(run, directory, name);
	char target[PATH_MAX];
	ssize_t len =
		path ? rna_root_readlink(run->in->root, path, target, sizeof(target)) : -ENOMEM;

	if (len != -EINVAL) /* copied trees have a directory instead of a link */
		rna_topology_note(run, len);
	if (len < 0)
		return NULL;
	return rna_topology_need(run, rna_arena_strdup(run->scratch, target));
}

const char *rna_topology_read_link_name(struct rna_topology_run *run, const char *directory,
					const char *name, struct rna_arena *arena)
{
	const char *target = read_link(run, directory, name);
	const char *slash = target ? strrchr(target, '/') : NULL;

	if (!target)
		return NULL;
	return rna_topology_need(run, rna_arena_strdup(arena, slash ? slash + 1 : target));
}

/* -- Functions --------------------------------------------------------------------------------- */

/*
 * The start of the path from the host bridge within a path of /sys. A host bridge may be deep in
 * the path (Hyper-V), and below another function (VMD). If there is none, the path starts at the
 * first of the consecutive addresses at the end.
 */
static const char *find_path_start(const char *path)
{
	const char *way = NULL;
	bool in_row = false;

	while (*path) {
		size_t len = strcspn(path, "/");
		bool is_address = rna_pci_is_address(path, len);

		if (rna_pci_is_host_bridge(path) || (is_address && !in_row))
			way = path;
		in_row = is_address || rna_pci_is_host_bridge(path);
		path += len;
		path += strspn(path, "/");
	}
	return way;
}

/*
 * The directory of a function: the target of its link, "../../../devices/pci0000:00/...", or in
 * copies without links the directory itself. NULL: neither.
 */
static const char *find_directory(struct rna_topology_run *run, const char *address)
{
	const char *target = read_link(run, FUNCTIONS, address), *devices, *last;
	size_t len = 0;

	if (!target)
		return join(run, FUNCTIONS, address);
	devices = strstr(target, "devices/");
	last = devices ? rna_pci_find_last(devices, &len) : NULL;
	return last && strcmp(last, address) == 0 ? join(run, "sys", devices) : NULL;
}

/* The physical function of a virtual one, if visible on this node, otherwise NULL. */
static const char *find_physical(struct rna_topology_run *run, const char *directory)
{
	const char *name = rna_topology_read_link_name(run, directory, "physfn", run->scratch);
	const char *path = name ? join(run, FUNCTIONS, name) : NULL;
	RNA_CLOSE int fd = path ? rna_root_openat(run->in->root, path, O_PATH) : -ENOENT;

	rna_topology_note(run, fd);
	return fd >= 0 ? name : NULL;
}

/* directory: in scratch, ends with the address. NULL: not a relevant function, or no memory. */
static struct rna_pci_function *add_function(struct rna_topology_run *run, const char *directory)
{
	const char *way = find_path_start(directory);
	struct rna_pci_function *function =
		way ? rna_pci_functions_add(run, &run->functions) : NULL;

	if (!function)
		return NULL;
	function->path = way;
	function->address = strrchr(directory, '/') + 1;
	function->directory = directory;
	function->physical = find_physical(run, directory);
	function->class_id = rna_topology_read_id(run, directory, "class") >> 8;
	if (function->physical)
		return function; /* a virtual function is only counted */
	function->vendor_id = rna_topology_read_id(run, directory, "vendor");
	function->device_id = rna_topology_read_id(run, directory, "device");
	function->numa_node = rna_topology_read_node(run, directory);
	rna_pci_function_classify(function);
	return function;
}

/* Is a function of this class relevant? The base class is the highest byte. */
static bool is_wanted(uint32_t class)
{
	switch (class >> 16) {
	case 0x02: /* network */
	case 0x03: /* display */
	case 0x08: /* system peripherals: Data Direct */
	case 0x0b: /* processors: Hygon's accelerators */
	case 0x0c: /* serial buses: early InfiniBand */
	case 0x12: /* accelerators */
		return true;
	default:
		return false;
	}
}

/* Replaces virtual functions by a count at their physical function. */
static void fold_virtual(struct rna_pci_functions *functions)
{
	for (size_t i = 0; i < functions->count; i++) {
		const char *name = functions->items[i].physical;
		struct rna_pci_function *physical =
			name ? rna_pci_functions_find(functions, name) : NULL;

		if (physical)
			physical->virtual_functions++;
	}
}

static void drop_unwanted(struct rna_topology_run *run, struct rna_pci_functions *functions)
{
	size_t kept = 0;

	RNA_EACH (function, functions->items, functions->count)
		if (!function->physical &&
		    (function->gpu || function->nic || function->data_direct))
			functions->items[kept++] = *function;
	functions->count = kept;
	rna_pci_functions_sort(run, functions);
}

/* The function to which a device belongs in the tree: for a VF or SF the physical one. */
static const char *function_of(const struct rna_device *device)
{
	return device->physical_function ? device->physical_function : device->pci_address;
}

static bool is_listed(const struct rna_pci_functions *functions, size_t from, const char *address)
{
	for (size_t i = from; i < functions->count; i++)
		if (strcmp(functions->items[i].address, address) == 0)
			return true;
	return false;
}

/* A copied tree may lack the list of functions; then the device's own path is used. */
static void add_missing(struct rna_topology_run *run, const struct rna_device *device)
{
	const char *last, *directory;
	struct rna_pci_function *function;
	size_t len;

	last = rna_pci_find_last(device->sysfs_path, &len);
	if (!last || strncmp(last, device->pci_address, len) != 0)
		return;
	directory = rna_topology_need(run, rna_arena_printf(run->scratch, "%.*s",
							    (int)(last + len - device->sysfs_path),
							    device->sysfs_path));
	function = directory ? add_function(run, directory) : NULL;
	if (function)
		function->nic = true;
}

/* The function of an RDMA device is a NIC, whatever its class. */
static void add_functions_of_devices(struct rna_topology_run *run)
{
	const struct rna_presence *presence = run->in->presence;
	size_t listed = run->functions.count;

	for (size_t i = 0; presence && i < presence->device_count; i++) {
		const char *address = function_of(&presence->devices[i]);
		struct rna_pci_function *function =
			address ? rna_pci_functions_find(&run->functions, address) : NULL;

		if (function)
			function->nic = true;
	}
	for (size_t i = 0; presence && i < presence->device_count; i++) {
		const char *address = function_of(&presence->devices[i]);

		if (address && address == presence->devices[i].pci_address &&
		    !rna_pci_functions_find(&run->functions, address) &&
		    !is_listed(&run->functions, listed, address))
			add_missing(run, &presence->devices[i]);
	}
}

void rna_topology_read_functions(struct rna_topology_run *run)
{
	char **names;
	ssize_t count = rna_root_list(run->in->root, FUNCTIONS, run->scratch, &names);

	run->pci = count >= 0;
	rna_topology_note(run, count);
	for (ssize_t i = 0; i < count; i++) {
		const char *directory = rna_pci_is_address(names[i], strlen(names[i]))
						? find_directory(run, names[i])
						: NULL;

		if (directory && is_wanted(rna_topology_read_id(run, directory, "class")))
			(void)add_function(run, directory);
	}
	rna_pci_functions_sort(run, &run->functions);
	fold_virtual(&run->functions);
	add_functions_of_devices(run);
	drop_unwanted(run, &run->functions);
}

/* -- Interfaces -------------------------------------------------------------------------------- */

/* The function above an interface's directory in /sys; *ret_rest: the rest of that path. */
static struct rna_pci_function *find_function(struct rna_topology_run *run, const char *path,
					      const char **ret_rest)
{
	const char *last, *address;
	size_t len;

	last = path ? rna_pci_find_last(path, &len) : NULL;
	if (!last)
		return NULL;
	*ret_rest = last + len;
	address = rna_topology_need(run, rna_arena_printf(run->scratch, "%.*s", (int)len, last));
	return address ? rna_pci_functions_find(&run->functions, address) : NULL;
}

/* In switchdev mode the PF has an interface for each VF and SF, a port of the embedded switch. */
static bool is_representor(struct rna_topology_run *run, const char *interface)
{
	const char *directory = join(run, INTERFACES, interface);
	const char *port =
		directory ? rna_topology_read_text(run, directory, "phys_port_name", run->scratch)
			  : NULL;

	return port && (strstr(port, "vf") || strstr(port, "sf"));
}

void rna_topology_read_netdevs(struct rna_topology_run *run)
{
	char **names;
	ssize_t count = rna_root_list(run->in->root, INTERFACES, run->scratch, &names);

	rna_topology_note(run, count);
	for (ssize_t i = 0; i < count; i++) {
		const char *rest = "";
		struct rna_pci_function *function =
			find_function(run, read_link(run, INTERFACES, names[i]), &rest);

		if (function && !strstr(rest, ".sf.") && !is_representor(run, names[i]))
			rna_names_add(run, &function->netdevs, names[i]);
	}
}

/* -- RDMA devices ------------------------------------------------------------------------------ */

/*
 * Adds a software device to the functions below an interface: its own, or those of its lower
 * interfaces. seen: interfaces visited so far, because in a broken tree an interface can be below
 * itself.
 */
static void add_below(struct rna_topology_run *run, const char *interface, const char *device,
		      struct rna_names *seen)
{
	static const char prefix[] = "lower_";
	const char *directory = join(run, INTERFACES, interface), *rest;
	struct rna_pci_function *function =
		find_function(run, read_link(run, INTERFACES, interface), &rest);
	char **names;
	ssize_t count;

	if (function) {
		rna_names_add(run, &function->devices, device);
		return;
	}
	count = directory ? rna_root_list(run->in->root, directory, run->scratch, &names) : 0;
	for (ssize_t i = 0; i < count && seen->count < LOWER_MAX; i++) {
		const char *lower = names[i] + sizeof(prefix) - 1;
		size_t before = seen->count;

		if (strncmp(names[i], prefix, sizeof(prefix) - 1) != 0)
			continue;
		rna_names_add(run, seen, lower);
		if (seen->count > before)
			add_below(run, lower, device, seen);
	}
}

/* rxe names its interface; for other devices it is that of the first GID. */
static void add_virtual(struct rna_topology_run *run, const struct rna_device *device)
{
	static const char *const files[] = {"parent", "ports/1/gid_attrs/ndevs/0"};
	struct rna_names seen = {0};

	for (size_t i = 0; i < RNA_ARRAY_SIZE(files); i++) {
		const char *name =
			rna_topology_read_text(run, device->sysfs_path, files[i], run->scratch);

		if (!name || strlen(name) >= IF_NAMESIZE || name[0] == '.' || strchr(name, '/'))
			continue;
		add_below(run, name, device->name, &seen);
		return;
	}
}

void rna_topology_read_devices(struct rna_topology_run *run)
{
	const struct rna_presence *presence = run->in->presence;

	for (size_t i = 0; presence && i < presence->device_count; i++) {
		const struct rna_device *device = &presence->devices[i];
		struct rna_pci_function *function = NULL;

		if (device->function == RNA_FUNCTION_VIRTUAL)
			add_virtual(run, device);
		if (!device->pci_address)
			continue;
		function = rna_pci_functions_find(&run->functions, device->pci_address);
		if (!function)
			continue; /* a VF that is counted at its PF */
		if (device->function == RNA_FUNCTION_SF) {
			function->scalable_functions++;
			continue;
		}
		rna_names_add(run, &function->devices, device->name);
		function->rdma = true;
		if (device->port_count > function->port_count)
			function->port_count = device->port_count;
		function->switch_management |= device->function == RNA_FUNCTION_SWITCH_MANAGEMENT;
	}
}
