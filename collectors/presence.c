// SPDX-License-Identifier: Apache-2.0
/*
 * presence: the RDMA devices, and the functions that they belong to.
 *
 * All data is from kernel memory: no read here accesses a device, so presence works on a node whose
 * HCAs do not respond. The only exception is the VPD of a ConnectX-7, read by root once per
 * registration, by PCI configuration cycles with a time limit in the kernel. A device that is
 * removed during the run is omitted or keeps the data read so far; the uevent of its removal
 * triggers the next run anyway.
 */
#include "presence.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "rna/base/beneath.h"
#include "rna/base/index.h"
#include "rna/base/parse.h"
#include "rna/model/driver.h"

#include "backend/backends.h"
#include "parse/auxiliary.h"
#include "parse/pci.h"
#include "processes/namespaces.h"

#include "collectors.h"

#define CLASS "sys/class/infiniband"

enum {
	VENDOR_MELLANOX = 0x15b3,
	DEVICE_CONNECTX7 = 0x1021,
	PORT_NUMBER_MAX = 0xffff, /* switchdev has hundreds; IBTA allows a byte */
	NUMBER_TEXT_MAX = 64,
	/*
	 * Of all devices: the loop checks the rules for each port with each view. 8 NICs with 256
	 * virtual functions each have half of that.
	 */
	DEVICES_MAX = 4096,
	PORTS_MAX = 8192,
};

const char *rna_device_key(const char *pci_address, const char *subfunction, const char *name,
			   struct rna_arena *arena)
{
	if (!pci_address)
		return name;
	if (!subfunction)
		return pci_address;
	return rna_arena_printf(arena, "%s/sf%s", pci_address, subfunction);
}

size_t rna_device_ports(char *const *names, size_t count, unsigned *ret)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t number;

		if (names[i][0] == '0' || rna_parse_u64(names[i], &number) < 0)
			continue;
		if (number <= PORT_NUMBER_MAX)
			ret[found++] = (unsigned)number;
	}
	return found;
}

/* The state of one run: memory of the part, and scratch memory. */
struct run {
	const struct rna_root *root;
	struct rna_arena *keep;
	struct rna_arena *scratch;
	const struct rna_device_filter *filter;
	const struct rna_presence *last;       /* the previous part, or NULL */
	bool follow;                           /* into other network namespaces */
	unsigned follow_devices, follow_ports; /* at most, into one of them */
	uint32_t inside;                       /* only what this process sees; 0: the agent */
	struct rna_index registrations;        /* of the devices of last */
	const struct rna_rdma_netlink_backend *netlink;
	struct rna_rdma_numbers numbers;
	int error; /* first error of a helper that returned "none" because a read failed; 0: none */
};

/* Records any error except absence, which is a valid answer. */
static void note(struct run *run, ssize_t status)
{
	if (status < 0 && !rna_error_is_absence((int)status))
		run->error = (int)status;
}

/*
 * Like note(), but records only a lack of memory or descriptors: a permanently unreadable file
 * costs one value.
 */
static void note_shortage(struct run *run, ssize_t status)
{
	if (rna_error_is_lack((int)status))
		run->error = (int)status;
}

static char *remember(struct run *run, char *text)
{
	if (!text)
		run->error = -ENOMEM;
	return text;
}

static char *join(struct run *run, const char *directory, const char *name)
{
	return remember(run, rna_arena_printf(run->scratch, "%s/%s", directory, name));
}

/* Last component of a link's target, or NULL if the link does not exist. */
static const char *read_link_name(struct run *run, const char *directory, const char *name)
{
	const char *path = join(run, directory, name), *slash;
	char target[RNA_ATTRIBUTE_MAX];
	ssize_t len = path ? rna_root_readlink(run->root, path, target, sizeof(target)) : -ENOMEM;

	note_shortage(run, len);
	if (len < 0)
		return NULL;
	slash = strrchr(target, '/');
	return remember(run, rna_arena_strdup(run->keep, slash ? slash + 1 : target));
}

/* PCI IDs are hexadecimal; 0: none. */
static uint32_t read_id(struct run *run, const char *directory, const char *name)
{
	const char *path = join(run, directory, name);
	uint64_t id;
	int status = path ? rna_root_read_hex(run->root, path, &id) : -ENOMEM;

	note_shortage(run, status);
	return status < 0 || id > UINT32_MAX ? 0 : (uint32_t)id;
}

static int read_numa_node(struct run *run, const char *directory)
{
	const char *path = join(run, directory, "numa_node");
	char text[NUMBER_TEXT_MAX];
	ssize_t len = path ? rna_root_read(run->root, path, text, sizeof(text)) : -ENOMEM;
	int64_t node;

	note_shortage(run, len);
	if (len < 0 || rna_parse_i64(text, &node) < 0 || node < 0 || node > INT_MAX)
		return -1;
	return (int)node;
}

/* The sfnum, as digits, of the auxiliary device above a subfunction's RDMA device. */
static const char *read_subfunction(struct run *run, const char *sysfs_path)
{
	const char *path = join(run, sysfs_path, "device/sfnum");
	char text[NUMBER_TEXT_MAX];
	ssize_t len = path ? rna_root_read(run->root, path, text, sizeof(text)) : -ENOMEM;
	uint64_t number;

	note(run, len); /* without sfnum the device would have the key of another one */
	if (len < 0 || rna_parse_u64(text, &number) < 0)
		return NULL;
	return remember(run, rna_arena_strdup(run->keep, text));
}

/* Adds the names of interfaces and of their bonds (or bridges); room: two for each. */
static size_t add_interfaces(struct run *run, const char *directory, char *const *interfaces,
			     size_t count, const char **names)
{
	size_t added = 0;

	for (size_t i = 0; i < count; i++) {
		const char *path = join(run, directory, interfaces[i]);
		const char *master = path ? read_link_name(run, path, "master") : NULL;

		names[added++] = interfaces[i];
		if (master)
			names[added++] = master;
	}
	return added;
}

/* Has a device a node of uverbs? SMI devices have none: ib_uverbs_add_one(), Linux 6.11. */
static bool has_verbs(struct run *run, const char *pci, const char *device)
{
	const char *directory = join(run, pci, "infiniband_verbs");
	char **names = NULL;
	ssize_t count = directory ? rna_root_list(run->root, directory, run->scratch, &names) : 0;

	for (ssize_t i = 0; i < count; i++) {
		const char *path =
			rna_arena_printf(run->scratch, "%s/%s/ibdev", directory, names[i]);
		char text[RNA_ATTRIBUTE_MAX];

		if (path && rna_root_read(run->root, path, text, sizeof(text)) > 0 &&
		    strcmp(text, device) == 0)
			return true;
	}
	return false;
}

/* Without an answer of the kernel: is the other one the only device with uverbs? */
static bool looks_like_smi(struct run *run, const char *pci, const char *sub, const char *parent)
{
	return pci && has_verbs(run, pci, parent) && !has_verbs(run, pci, sub);
}

/*
 * The name of the device on the function pci that the device name is the SMI device of; NULL: none.
 * The kernel is asked if the function has a second device.
 */
static const char *find_parent(struct run *run, const char *pci, const char *name)
{
	const char *directory = join(run, pci, "infiniband");
	char parent[RNA_RDMA_NAME_MAX];
	char **names = NULL;
	ssize_t count = directory ? rna_root_list(run->root, directory, run->scratch, &names) : 0;

	note(run, count);
	if (count < 2)
		return NULL;
	if (run->netlink->find_parent(&run->numbers, name, parent) == 0)
		return *parent ? remember(run, rna_arena_strdup(run->scratch, parent)) : NULL;
	for (ssize_t i = 0; i < count; i++)
		if (strcmp(names[i], name) != 0 && looks_like_smi(run, pci, name, names[i]))
			return names[i];
	return NULL;
}

/* The names by which the filter may know a device: the first is that of an SMI device itself. */
struct filter_names {
	const char **names;
	size_t count;
	bool of_smi;
};

/* Network interfaces are those of the same function; their ports are not known yet. */
static bool find_filter_names(struct run *run, const struct rna_device *device, const char *pci,
			      struct filter_names *ret)
{
	const char *path = join(run, device->sysfs_path, "device/net");
	const char *parent = pci ? find_parent(run, pci, device->name) : NULL;
	char **interfaces = NULL;
	ssize_t found = path ? rna_root_list(run->root, path, run->scratch, &interfaces) : 0;

	note(run, found);
	if (found < 0)
		found = 0; /* no interfaces */
	ret->names = rna_arena_array(run->scratch, 2 * (size_t)found + 3, sizeof(*ret->names));
	if (!ret->names) {
		run->error = -ENOMEM;
		return false;
	}
	ret->of_smi = parent != NULL;
	ret->names[ret->count++] = device->name;
	if (parent)
		ret->names[ret->count++] = parent;
	if (pci)
		ret->names[ret->count++] = strrchr(pci, '/') + 1;
	ret->count += add_interfaces(run, path, interfaces, (size_t)found, ret->names + ret->count);
	return true;
}

/*
 * Runs before any file of the device is opened: its names come from links and directories. A device
 * without a function has no interfaces: only a file of the device names the interface of rxe. An
 * SMI device goes with its parent, whether that is included or excluded; without it, its planes
 * would be listed as ports. It may be excluded by its own name as well.
 */
static bool is_excluded(struct run *run, const struct rna_device *device, const char *pci,
			bool *ret_smi)
{
	struct filter_names names = {0};

	*ret_smi = false;
	if (rna_device_filter_is_empty(run->filter) || !find_filter_names(run, device, pci, &names))
		return false;
	*ret_smi = names.of_smi;
	if (!rna_device_filter_takes(run->filter, names.names, names.count))
		return true;
	return names.of_smi &&
	       !rna_device_filter_takes(run->filter, names.names + 1, names.count - 1);
}

/* So that each device of the previous part is found quickly: there may be thousands. */
static int list_registrations(struct run *run)
{
	for (size_t i = 0; run->last && i < run->last->device_count; i++) {
		const struct rna_device *device = &run->last->devices[i];

		if (rna_index_add(&run->registrations, device->sysfs_path, device->generation, i) <
		    0)
			return -ENOMEM;
	}
	return 0;
}

/* The same registration of a device in the previous part. */
static const struct rna_device *find_last(const struct run *run, const struct rna_device *device)
{
	size_t found;

	if (rna_index_find(&run->registrations, device->sysfs_path, device->generation, &found) < 0)
		return NULL;
	return &run->last->devices[found];
}

static bool is_switch_management(const struct run *run, const struct rna_device *device,
				 const char *pci)
{
	const struct rna_device *last;

	if (device->function != RNA_FUNCTION_PF || device->vendor_id != VENDOR_MELLANOX ||
	    device->device_id != DEVICE_CONNECTX7)
		return false;
	last = find_last(run, device);
	if (last)
		return last->function == RNA_FUNCTION_SWITCH_MANAGEMENT;
	return rna_pci_is_switch_management(run->root, pci);
}

/*
 * A function with the link physfn is virtual, even if the link is unreadable. Its physical function
 * does not change while it is registered.
 */
static void read_physical_function(struct run *run, struct rna_device *device, const char *pci)
{
	const char *path = join(run, pci, "physfn");
	RNA_CLOSE int fd = path ? rna_root_openat(run->root, path, O_PATH | O_NOFOLLOW) : -ENOMEM;
	const struct rna_device *last = find_last(run, device);

	note(run, fd); /* otherwise a virtual function would be taken for a physical one */
	device->function = fd >= 0 ? RNA_FUNCTION_VF : RNA_FUNCTION_PF;
	if (fd < 0)
		return;
	device->physical_function = read_link_name(run, pci, "physfn");
	if (!device->physical_function && last && last->physical_function)
		device->physical_function =
			remember(run, rna_arena_strdup(run->keep, last->physical_function));
}

static bool read_width(struct run *run, const char *pci, const char *name, uint64_t *ret)
{
	const char *path = join(run, pci, name);
	int status = path ? rna_root_read_u64(run->root, path, ret) : -ENOMEM;

	note_shortage(run, status);
	return status == 0;
}

/*
 * A virtual function in a virtual machine whose number is not known: it has the link capabilities
 * of its physical function and no link status, so that its link has no lanes. lspci in Azure shows
 * "LnkCap: Speed 8GT/s, Width x16, LnkSta: Speed unknown, Width x0" for a function of ConnectX-5. A
 * physical function that works has a link; one that QEMU places on the root bus, as an integrated
 * endpoint, has neither capabilities nor status (vfio_setup_pcie_cap() in QEMU's hw/vfio/pci.c).
 *
 * A link has two ends: if the port above has lanes, the kernel only fails to read those of the
 * function, and nothing follows.
 *
 * Other signs are no proof. A PCIe capability that the hypervisor hides is missing from physical
 * functions that are passed through as well; and without INTx, which virtual functions lack, are
 * other functions, too.
 */
static bool has_no_lanes(struct run *run, const struct rna_device *device, const char *pci)
{
	const struct rna_device *last = find_last(run, device);
	const char *above = join(run, pci, "..");
	uint64_t lanes, most, port;

	if (last)
		return last->function == RNA_FUNCTION_GUEST_VF;
	return read_width(run, pci, "current_link_width", &lanes) && lanes == 0 &&
	       read_width(run, pci, "max_link_width", &most) && most > 0 &&
	       !(above && read_width(run, above, "current_link_width", &port) && port > 0);
}

/* The address at the end of the function's directory; NULL: there is no function. */
static const char *remember_address(struct run *run, const char *pci)
{
	return pci ? remember(run, rna_arena_strdup(run->keep, strrchr(pci, '/') + 1)) : NULL;
}

static void read_pci(struct run *run, struct rna_device *device, const char *pci)
{
	const char *subfunction = read_subfunction(run, device->sysfs_path);

	device->function = RNA_FUNCTION_VIRTUAL;
	device->numa_node = -1;
	if (pci) {
		device->pci_address = remember_address(run, pci);
		device->driver = read_link_name(run, pci, "driver");
		read_physical_function(run, device, pci);
		device->numa_node = read_numa_node(run, pci);
		device->vendor_id = read_id(run, pci, "vendor");
		device->device_id = read_id(run, pci, "device");
	}
	if (device->function == RNA_FUNCTION_PF &&
	    (rna_driver_takes_as_virtual(device->vendor_id, device->device_id) ||
	     has_no_lanes(run, device, pci)))
		device->function = RNA_FUNCTION_GUEST_VF;
	if (pci && subfunction) {
		device->function = RNA_FUNCTION_SF;
		device->physical_function = device->pci_address;
	}
	if (pci && is_switch_management(run, device, pci))
		device->function = RNA_FUNCTION_SWITCH_MANAGEMENT;
	device->key = rna_device_key(device->pci_address, subfunction, device->name, run->keep);
	if (!device->key)
		run->error = -ENOMEM;
}

static void read_ports(struct run *run, struct rna_device *device)
{
	const char *path = join(run, device->sysfs_path, "ports");
	unsigned *ports;
	char **names;
	ssize_t count;

	count = path ? rna_root_list(run->root, path, run->scratch, &names) : -ENOMEM;
	note(run, count);
	if (count <= 0)
		return;
	ports = rna_arena_array(run->keep, (size_t)count, sizeof(*ports));
	if (!ports) {
		run->error = -ENOMEM;
		return;
	}
	device->port_count = rna_device_ports(names, (size_t)count, ports);
	device->ports = ports;
}

enum found {
	/*
	 * A class directory may contain plain files, and links to removed devices. An SMI device is
	 * a part of its parent, which is counted as excluded.
	 */
	NO_DEVICE,
	EXCLUDED,
	FOUND,
};

/* The directory of the device, links resolved, in keep; NULL: there is none. */
static const char *find_path(struct run *run, const struct rna_listed_device *listed)
{
	const char *link;
	char *ret;
	int status = 0;

	if (listed->sysfs_path)
		return remember(run, rna_arena_strdup(run->keep, listed->sysfs_path));
	link = join(run, CLASS, listed->name);
	ret = link ? rna_root_realpath(run->root, link, run->keep, &status) : NULL;
	note(run, status);
	return ret;
}

static enum found read_listed_device(struct run *run, const struct rna_listed_device *listed,
				     struct rna_device *device)
{
	const char *path = find_path(run, listed);
	RNA_CLOSE int fd = path ? rna_root_openat(run->root, path, O_PATH | O_DIRECTORY) : -ENOENT;
	struct stat stat;
	bool is_smi = false;
	char *pci = NULL;
	int status = 0;

	note(run, fd);
	if (fd < 0 || fstat(fd, &stat) < 0)
		return NO_DEVICE;
	*device = (struct rna_device){
		.name = remember(run, rna_arena_strdup(run->keep, listed->name)),
		.sysfs_path = path,
		.process = listed->process,
		.network_namespace = listed->network_namespace,
		.missing_file =
			listed->missing_file
				? remember(run, rna_arena_strdup(run->keep, listed->missing_file))
				: NULL,
		.generation = stat.st_ino,
	};
	if (!device->name)
		return NO_DEVICE;
	status = rna_pci_find_directory(run->root, device->sysfs_path, run->scratch, &pci);
	note(run, status);
	if (is_excluded(run, device, pci, &is_smi)) {
		device->pci_address = remember_address(run, pci);
		return is_smi ? NO_DEVICE : EXCLUDED;
	}
	read_pci(run, device, pci);
	read_ports(run, device);
	return FOUND;
}

/*
 * What a process of another network namespace refuses, or has put in the way, costs its own device
 * only.
 */
static enum found read_device(struct run *run, const struct rna_listed_device *listed,
			      struct rna_device *device)
{
	const int before = run->error;
	enum found found = read_listed_device(run, listed, device);

	if (listed->process == 0 || run->error == before || rna_error_is_lack(run->error))
		return found;
	run->error = before;
	return NO_DEVICE;
}

/* -- Several devices on one function ----------------------------------------------------------- */

/* The kernel is asked once per registration, and only if a function has a second device. */
static bool is_smi_of(struct run *run, const struct rna_device *sub,
		      const struct rna_device *parent)
{
	const struct rna_device *last = find_last(run, parent);
	char name[RNA_RDMA_NAME_MAX];
	char *pci = NULL;

	if (last && last->smi && last->smi->generation == sub->generation &&
	    strcmp(last->smi->sysfs_path, sub->sysfs_path) == 0)
		return true;
	if (run->netlink->find_parent(&run->numbers, sub->name, name) == 0)
		return strcmp(name, parent->name) == 0;
	note(run, rna_pci_find_directory(run->root, sub->sysfs_path, run->scratch, &pci));
	return looks_like_smi(run, pci, sub->name, parent->name);
}

/* Is one of two devices on one function the SMI device of the other? Then a has both. */
static bool pair_devices(struct run *run, struct rna_device *a, const struct rna_device *b)
{
	bool first = !a->smi && is_smi_of(run, b, a), second = !first && is_smi_of(run, a, b);
	struct rna_device *smi = NULL;

	if (!first && !second)
		return false;
	smi = rna_arena_alloc(run->keep, sizeof(*smi));
	if (!smi) {
		run->error = -ENOMEM;
		return false;
	}
	*smi = first ? *b : *a;
	smi->has_planes = true;
	if (second)
		*a = *b;
	a->smi = smi;
	return true;
}

static int compare_devices(const void *a, const void *b)
{
	return rna_compare_names(((const struct rna_device *)a)->name,
				 ((const struct rna_device *)b)->name);
}

/* Adds the name to a key that another device has as well. */
static void extend_key(struct run *run, struct rna_device *device)
{
	device->key =
		remember(run, rna_arena_printf(run->keep, "%s/%s", device->key, device->name));
}

/*
 * Keys must be unique. An SMI device becomes a member of its parent; of other devices on one PCI
 * function all but the first get their name added to the key. Returns the number of devices.
 */
static size_t make_keys_unique(struct run *run, struct rna_device *devices, size_t count)
{
	RNA_INDEX struct rna_index keys = RNA_INDEX_INIT;
	size_t kept = 0, first;

	for (size_t i = 0; i < count; i++) {
		bool shared = rna_index_find(&keys, devices[i].key, 0, &first) == 0;

		if (shared && devices[first].process == devices[i].process &&
		    pair_devices(run, &devices[first], &devices[i]))
			continue;
		if (shared)
			extend_key(run, &devices[i]);
		if (!devices[i].key)
			return kept;
		note(run, rna_index_add(&keys, devices[i].key, 0, kept));
		devices[kept++] = devices[i];
	}
	if (kept < count || run->follow)
		qsort(devices, kept, sizeof(*devices), compare_devices);
	return kept;
}

static const char *explain_limit(struct run *run)
{
	return remember(
		run, rna_arena_printf(run->keep,
				      "more than %d RDMA devices or %d ports; the first ones are "
				      "watched; select devices by devices.include or "
				      "devices.exclude",
				      DEVICES_MAX, PORTS_MAX));
}

/* What a network namespace has of the devices and ports that are read. */
struct share {
	size_t devices, ports;
};

struct shares {
	struct rna_index index; /* by number of the namespace */
	struct share *items;
	size_t count;
};

/* NULL: of the agent's own namespace, or no memory. */
static struct share *find_share(struct run *run, struct shares *shares,
				const struct rna_listed_device *listed)
{
	size_t place = shares->count;

	if (listed->process == 0 || run->inside)
		return NULL;
	if (rna_index_find(&shares->index, "", listed->network_namespace, &place) == 0)
		return &shares->items[place];
	if (rna_index_add(&shares->index, "", listed->network_namespace, place) < 0) {
		run->error = -ENOMEM;
		return NULL;
	}
	shares->items[shares->count++] = (struct share){0};
	return &shares->items[place];
}

/* Is there room for the device in the share of its namespace? */
static bool take_share(const struct run *run, struct share *share, size_t ports)
{
	if (!share)
		return true;
	if (share->devices >= run->follow_devices || share->ports + ports > run->follow_ports)
		return false;
	share->devices++;
	share->ports += ports;
	return true;
}

static void leave_out(struct rna_presence *presence, const struct rna_listed_device *listed)
{
	if (presence->reach.left_out++ == 0)
		presence->reach.crowded = listed->process;
}

/* True: the device that is behind the last one was read, and belongs to the list. */
static bool read_next(struct run *run, const struct rna_listed_device *listed, struct share *share,
		      struct rna_device *device, struct rna_presence *presence)
{
	enum found found;

	if (share && share->devices >= run->follow_devices) {
		leave_out(presence, listed);
		return false;
	}
	found = read_device(run, listed, device);
	presence->excluded_count += found == EXCLUDED;
	if (found == EXCLUDED && device->pci_address)
		presence->excluded[presence->excluded_function_count++] = device->pci_address;
	if (found == FOUND && !take_share(run, share, device->port_count)) {
		leave_out(presence, listed);
		return false;
	}
	return found == FOUND;
}

/* The listed devices, as far as there is room. */
static void read_listed(struct run *run, const struct rna_listed_device *listed, size_t count,
			struct rna_device *devices, struct rna_presence *presence)
{
	struct shares shares = {
		.index = RNA_INDEX_INIT,
		.items = rna_arena_array(run->scratch, count + 1, sizeof(*shares.items)),
	};
	size_t ports = 0;

	if (!shares.items)
		run->error = -ENOMEM;
	for (size_t i = 0; shares.items && i < count && !presence->problem; i++) {
		struct rna_device *device = &devices[presence->device_count];

		if (!read_next(run, &listed[i], find_share(run, &shares, &listed[i]), device,
			       presence))
			continue;
		ports += device->port_count;
		if (presence->device_count == DEVICES_MAX || ports > PORTS_MAX)
			presence->problem = explain_limit(run);
		else
			presence->device_count++;
	}
	rna_index_deinit(&shares.index);
}

static void keep_contested(struct run *run, const struct rna_devices_elsewhere *elsewhere,
			   struct rna_presence *presence)
{
	struct rna_contested_device *items =
		rna_arena_array(run->keep, elsewhere->contested_count + 1, sizeof(*items));

	for (size_t i = 0; items && i < elsewhere->contested_count; i++) {
		items[i] = elsewhere->contested[i];
		items[i].name = remember(run, rna_arena_strdup(run->keep, items[i].name));
	}
	if (!items)
		run->error = -ENOMEM;
	presence->contested = items;
	presence->contested_count = items ? elsewhere->contested_count : 0;
}

/* Those of the agent's network namespace, and with follow.enabled those of others. */
static int list_devices(struct run *run, struct rna_presence *presence,
			struct rna_listed_device **ret, size_t *ret_count)
{
	struct rna_devices_elsewhere elsewhere = {0};
	char **names;
	ssize_t count = rna_root_list(run->root, CLASS, run->scratch, &names);
	int status = 0;

	if (count < 0)
		return (int)count;
	if (run->follow)
		status = rna_list_devices_elsewhere(run->root, names, (size_t)count, run->last,
						    run->scratch, &elsewhere);
	if (status < 0)
		return status;
	*ret_count = (size_t)count + elsewhere.count;
	*ret = rna_arena_array(run->scratch, *ret_count, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	for (ssize_t i = 0; i < count; i++)
		(*ret)[i].name = names[i];
	for (size_t i = 0; i < elsewhere.count; i++)
		(*ret)[(size_t)count + i] = elsewhere.items[i];
	presence->reach = elsewhere.reach;
	keep_contested(run, &elsewhere, presence);
	return 0;
}

static int list_inside(struct run *run, struct rna_listed_device **ret, size_t *ret_count)
{
	struct rna_devices_elsewhere devices;
	int status = rna_list_devices_of_process(run->root, run->inside, run->scratch, &devices);

	*ret = devices.items;
	*ret_count = devices.count;
	return status;
}

static int read_devices(struct run *run, struct rna_presence *presence)
{
	struct rna_device *devices;
	struct rna_listed_device *listed = NULL;
	size_t count = 0;
	int status = run->inside ? list_inside(run, &listed, &count)
				 : list_devices(run, presence, &listed, &count);

	if (status == -ENOENT && !run->inside)
		return 0; /* no RDMA stack: not a failure */
	if (status < 0)
		return status;
	presence->stack = true;
	presence->inside = run->inside;
	devices = rna_arena_array(run->keep, count, sizeof(*devices));
	presence->excluded = rna_arena_array(run->keep, count, sizeof(*presence->excluded));
	if (!devices || !presence->excluded)
		return -ENOMEM;
	read_listed(run, listed, count, devices, presence);
	if (presence->excluded_function_count > 0)
		qsort(presence->excluded, presence->excluded_function_count,
		      sizeof(*presence->excluded), rna_compare_text_items);
	if (run->error == 0)
		presence->device_count = make_keys_unique(run, devices, presence->device_count);
	presence->devices = devices;
	return run->error;
}

/* -- What has become of functions that have no device any more --------------------------------- */

static bool exists(struct run *run, const char *path)
{
	RNA_CLOSE int fd = rna_root_openat(run->root, path, O_PATH);

	note(run, fd);
	return fd >= 0;
}

static bool carries_rdma(const char *name)
{
	return rna_auxiliary_kind(name) == RNA_AUXILIARY_RDMA;
}

/*
 * A driver registers its RDMA device itself or through an auxiliary device of another driver. If a
 * driver is bound but no device is visible, the device is in another network namespace: the class
 * directory of the function exists, but is empty in this namespace.
 */
static enum rna_whereabouts find_device_below(struct run *run, const char *directory)
{
	const char *class_directory = join(run, directory, "infiniband");
	bool auxiliary = false;
	char **names;
	ssize_t count;

	count = rna_root_list(run->root, directory, run->scratch, &names);
	note(run, count);
	for (ssize_t i = 0; i < count; i++) {
		const char *driver =
			carries_rdma(names[i])
				? remember(run, rna_arena_printf(run->scratch, "%s/%s/driver",
								 directory, names[i]))
				: NULL;

		auxiliary |= carries_rdma(names[i]);
		if (driver && exists(run, driver))
			return RNA_WHEREABOUTS_MOVED;
	}
	if (!auxiliary && class_directory && exists(run, class_directory))
		return RNA_WHEREABOUTS_MOVED;
	return RNA_WHEREABOUTS_UNBOUND;
}

static enum rna_whereabouts find_whereabouts(struct run *run, const char *pci_address)
{
	const char *directory = join(run, "sys/bus/pci/devices", pci_address), *driver;

	if (!directory || !exists(run, directory))
		return RNA_WHEREABOUTS_LOST;
	driver = join(run, directory, "driver");
	if (!driver || !exists(run, driver))
		return RNA_WHEREABOUTS_UNBOUND;
	return find_device_below(run, directory);
}

static bool has_device(const struct rna_presence *presence, const char *pci_address)
{
	return RNA_ANY(i, presence->device_count,
		       rna_same_text(presence->devices[i].pci_address, pci_address));
}

static int find_bare_functions(struct run *run, const struct rna_texts *wanted,
			       struct rna_presence *presence)
{
	struct rna_bare_function *bare;

	if (!wanted)
		return 0;
	bare = rna_arena_array(run->keep, wanted->count, sizeof(*bare));
	if (!bare)
		return -ENOMEM;
	for (size_t i = 0; i < wanted->count; i++) {
		if (has_device(presence, wanted->items[i]))
			continue;
		bare[presence->bare_count++] = (struct rna_bare_function){
			.pci_address = remember(run, rna_arena_strdup(run->keep, wanted->items[i])),
			.whereabouts = find_whereabouts(run, wanted->items[i]),
		};
	}
	presence->bare = bare;
	return run->error;
}

int rna_collect_presence(const struct rna_collect_input *in, struct rna_part **ret,
			 struct rna_error *error)
{
	struct rna_presence *presence =
		rna_part_new(RNA_COLLECTOR_PRESENCE, sizeof(*presence), 4096);
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = (struct rna_part *)presence;
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *scratch = rna_arena_new(4096);
	int status = -ENOMEM;

	if (part && scratch) {
		struct run run = {
			.root = in->root,
			.keep = part->arena,
			.scratch = scratch,
			.filter = in->filter,
			.last = in->presence,
			.follow = in->options.follow,
			.follow_devices = in->options.follow_devices,
			.follow_ports = in->options.follow_ports,
			.inside = in->options.inside,
			.netlink = in->backends->rdma_netlink,
			.numbers = {.root = in->root},
		};

		part->started = rna_clock_now();
		status = list_registrations(&run);
		if (status >= 0)
			status = read_devices(&run, presence);
		if (status >= 0)
			status = find_bare_functions(&run, in->functions, presence);
		rna_rdma_numbers_free(&run.numbers);
		rna_index_deinit(&run.registrations);
	}
	if (status < 0 && in->options.inside)
		return rna_error_set(error, status, "process %u: cannot list its /" CLASS,
				     in->options.inside);
	if (status < 0)
		return rna_error_set(error, status, "cannot list " CLASS);
	part->taken = rna_clock_now();
	*ret = RNA_TAKE(part);
	return 0;
}
