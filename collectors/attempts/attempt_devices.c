// SPDX-License-Identifier: Apache-2.0
/* Attempts on RDMA devices: their files in /sys and /dev. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "rna/attempts.h"

#define CLASS "sys/class/infiniband"
#define VERBS "sys/class/infiniband_verbs"
#define MADS  "sys/class/infiniband_mad"
#define NODES "/dev/infiniband"

enum { PATH_MAX_LENGTH = 4096, NAME_MAX_LENGTH = 64 };

static size_t count_devices(const struct rna_attempt *attempt)
{
	return attempt->presence ? attempt->presence->device_count : 0;
}

/* "1 device", "2 devices" */
static void write_count(size_t count, const char *what, struct rna_strbuf *ret)
{
	rna_strbuf_printf(ret, "%zu %s%s", count, what, count == 1 ? "" : "s");
}

static int say_no_device(struct rna_strbuf *ret)
{
	rna_strbuf_puts(ret, "no RDMA device is here");
	return RNA_ATTEMPT_NOTHING;
}

int rna_attempt_devices(const struct rna_attempt *attempt, struct rna_strbuf *ret,
			struct rna_error *error)
{
	RNA_CLOSE int fd =
		rna_root_openat(attempt->root, CLASS, O_RDONLY | O_DIRECTORY | O_NONBLOCK);

	if (fd < 0)
		return rna_error_set(error, fd, "/" CLASS);
	if (count_devices(attempt) == 0)
		return rna_error_say(error, -ENODEV, "/" CLASS ": no device%s",
				     attempt->presence && attempt->presence->excluded_count > 0
					     ? " but those of devices.exclude"
					     : "");
	write_count(attempt->presence->device_count, "device", ret);
	return RNA_ATTEMPT_WORKS;
}

/* -- Ports ------------------------------------------------------------------------------------- */

/* From the kernel's memory, as presence reads. */
static bool has_link_layer(const struct rna_root *root, const struct rna_device *device,
			   unsigned port, enum rna_link_layer wanted)
{
	char path[PATH_MAX_LENGTH], text[NAME_MAX_LENGTH];

	if (snprintf(path, sizeof(path), "%s/ports/%u/link_layer", device->sysfs_path, port) >=
	    (int)sizeof(path))
		return false;
	return rna_root_read(root, path, text, sizeof(text)) > 0 &&
	       strcmp(text, rna_link_layer_name(wanted)) == 0;
}

static bool has_port(const struct rna_root *root, const struct rna_device *device,
		     enum rna_link_layer wanted)
{
	return RNA_ANY(i, device->port_count,
		       has_link_layer(root, device, device->ports[i], wanted));
}

/*
 * Has the function that carries the device an interface, or a port one that is here? Both are of
 * the network namespace of this sysfs; the function of the device is not always that of the
 * interface (erdma, vmw_pvrdma).
 */
static bool has_interface(const struct rna_attempt *attempt, const struct rna_device *device,
			  struct rna_arena *arena)
{
	const char *path = rna_arena_printf(arena, "%s/device/net", device->sysfs_path);
	char name[NAME_MAX_LENGTH], **names;

	if (path && rna_root_list(attempt->root, path, arena, &names) > 0)
		return true;
	for (size_t i = 0; i < device->port_count; i++) {
		path = rna_arena_printf(arena, "%s/ports/%u/gid_attrs/ndevs/0", device->sysfs_path,
					device->ports[i]);
		if (!path || rna_root_read(attempt->root, path, name, sizeof(name)) <= 0)
			continue;
		path = rna_arena_printf(arena, "sys/class/net/%s", name);
		if (path && rna_root_exists(attempt->root, path))
			return true;
	}
	return false;
}

int rna_attempt_interfaces(const struct rna_attempt *attempt, struct rna_strbuf *ret,
			   struct rna_error *error)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(4096);
	const struct rna_device *missing = NULL;
	size_t wanted = 0, found = 0;

	if (!arena)
		return rna_error_set(error, -ENOMEM, "interfaces");
	RNA_EACH (device, attempt->presence->devices, count_devices(attempt)) {
		if (!rna_device_is_nic(device) ||
		    !has_port(attempt->root, device, RNA_LINK_LAYER_ETHERNET))
			continue;
		wanted++;
		if (has_interface(attempt, device, arena))
			found++;
		else
			missing = device;
	}
	if (wanted == 0) {
		rna_strbuf_puts(ret, "no NIC with Ethernet ports is here");
		return RNA_ATTEMPT_NOTHING;
	}
	if (found == 0)
		return rna_error_say(error, -ENODEV,
				     "%s has no network interface here, and neither has any other "
				     "NIC: this is not the network namespace of the node",
				     missing->name);
	rna_strbuf_printf(ret, "%zu of %zu NICs with Ethernet ports have an interface here", found,
			  wanted);
	return RNA_ATTEMPT_WORKS;
}

/* -- Device files ------------------------------------------------------------------------------ */

/* Which files of a class are looked for. */
struct files {
	const char *class;
	const char *start; /* of their names: issm of MADs makes the port one of a subnet manager */
	/* Files of ports with this one only; unknown: of all, and those of devices. */
	enum rna_link_layer link_layer;
};

struct count {
	size_t opened, refused;
	int error; /* of the first one that was refused */
	char name[NAME_MAX_LENGTH];
};

static const struct rna_device *find_device(const struct rna_attempt *attempt, const char *name)
{
	return RNA_FIND(i, attempt->presence->devices, count_devices(attempt),
			strcmp(attempt->presence->devices[i].name, name) == 0);
}

/* The device and the port that a file is for. NULL: none that the agent reads. */
static const struct rna_device *read_owner(const struct rna_attempt *attempt, const char *class,
					   const char *name, struct rna_arena *arena,
					   unsigned *ret_port)
{
	const char *path = rna_arena_printf(arena, "%s/%s/ibdev", class, name);
	char text[NAME_MAX_LENGTH];
	uint64_t port = 0;

	*ret_port = 0;
	if (!path || rna_root_read(attempt->root, path, text, sizeof(text)) <= 0)
		return NULL;
	path = rna_arena_printf(arena, "%s/%s/port", class, name);
	if (path && rna_root_read_u64(attempt->root, path, &port) == 0 && port <= UINT8_MAX)
		*ret_port = (unsigned)port;
	return find_device(attempt, text);
}

static bool is_meant(const struct rna_root *root, const struct files *files,
		     const struct rna_device *device, unsigned port)
{
	return files->link_layer == RNA_LINK_LAYER_UNKNOWN ||
	       has_link_layer(root, device, port, files->link_layer);
}

/* In /dev itself, whatever the root is: that is where libibverbs and libibumad open them. */
static void open_file(const struct rna_attempt *attempt, const struct files *files,
		      const char *name, struct rna_arena *arena, struct count *count)
{
	unsigned port;
	const struct rna_device *device = read_owner(attempt, files->class, name, arena, &port);
	const char *path = rna_arena_printf(arena, NODES "/%s", name);
	RNA_CLOSE int fd = -1;

	if (!device || !path || !is_meant(attempt->root, files, device, port))
		return;
	fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0) {
		count->opened++;
	} else if (count->refused++ == 0) {
		count->error = -errno;
		(void)snprintf(count->name, sizeof(count->name), "%s", name);
	}
}

/* Some that open are not enough: each device has a file of its own. */
static int open_files(const struct rna_attempt *attempt, const struct files *files,
		      struct rna_strbuf *ret, struct rna_error *error)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(4096);
	struct count count = {0};
	char **names;
	ssize_t listed =
		arena ? rna_root_list(attempt->root, files->class, arena, &names) : -ENOMEM;

	if (listed < 0)
		return rna_error_set(error, (int)listed, "/%s", files->class);
	for (ssize_t i = 0; i < listed; i++)
		if (strncmp(names[i], files->start, strlen(files->start)) == 0)
			open_file(attempt, files, names[i], arena, &count);
	if (count.refused > 0)
		return rna_error_set(error, count.error, "%zu of %zu files: " NODES "/%s",
				     count.refused, count.refused + count.opened, count.name);
	if (count.opened == 0)
		return rna_error_say(error, -ENOENT, "/%s has no file for these devices",
				     files->class);
	write_count(count.opened, "file", ret);
	rna_strbuf_puts(ret, " of " NODES);
	return RNA_ATTEMPT_WORKS;
}

int rna_attempt_verbs(const struct rna_attempt *attempt, struct rna_strbuf *ret,
		      struct rna_error *error)
{
	static const struct files verbs = {.class = VERBS, .start = "uverbs"};

	return count_devices(attempt) == 0 ? say_no_device(ret)
					   : open_files(attempt, &verbs, ret, error);
}

int rna_attempt_umad(const struct rna_attempt *attempt, struct rna_strbuf *ret,
		     struct rna_error *error)
{
	static const struct files mads = {MADS, "umad", RNA_LINK_LAYER_INFINIBAND};

	for (size_t i = 0; i < count_devices(attempt); i++)
		if (has_port(attempt->root, &attempt->presence->devices[i], mads.link_layer))
			return open_files(attempt, &mads, ret, error);
	rna_strbuf_puts(ret, "no InfiniBand port is here");
	return RNA_ATTEMPT_NOTHING;
}

/* -- PCI --------------------------------------------------------------------------------------- */

/*
 * Behind the first 64 bytes, which every user may read: pci_read_config() in
 * drivers/pci/pci-sysfs.c ends the file there for others, Linux 6.1.
 */
int rna_attempt_pci_configuration(const struct rna_attempt *attempt, struct rna_strbuf *ret,
				  struct rna_error *error)
{
	enum { PUBLIC = 64 };
	char path[PATH_MAX_LENGTH], byte;

	for (size_t i = 0; i < count_devices(attempt); i++) {
		const char *address = attempt->presence->devices[i].pci_address;
		RNA_CLOSE int fd = -1;

		if (!address)
			continue;
		(void)snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/config", address);
		fd = rna_root_openat(attempt->root, path, O_RDONLY);
		if (fd < 0)
			return rna_error_set(error, fd, "/%s", path);
		if (pread(fd, &byte, 1, PUBLIC) == 1) {
			rna_strbuf_printf(ret, "/%s can be read as a whole", path);
			return RNA_ATTEMPT_WORKS;
		}
		return rna_error_say(error, -EPERM, "/%s ends after %d bytes for this user", path,
				     PUBLIC);
	}
	rna_strbuf_puts(ret, "no RDMA device with a PCI function is here");
	return RNA_ATTEMPT_NOTHING;
}
