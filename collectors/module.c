// SPDX-License-Identifier: Apache-2.0
/*
 * module: the transceiver or cable in each port's cage, read by ethtool netlink.
 *
 * A module is read over I2C through firmware: about ten milliseconds for each request, during which
 * some drivers hold the lock of all interfaces. So it is read rarely, and few bytes. The kernel
 * requires CAP_NET_ADMIN; without it nothing is read. The kernel itself falls back to a driver's
 * older interface, so the ioctl is not needed here.
 *
 * Virtual and scalable functions share the module of the physical one and are not read.
 */
#include <errno.h>
#include <net/if_arp.h>
#include <string.h>
#include <linux/ethtool_netlink.h>

#include "backend/backends.h"

#include "collectors.h"
#include "module_pages.h"

enum { MODULES_MAX = 16 }; /* of one device: its ports and members of their bonds */

struct memory {
	struct rna_arena *scratch; /* for answers */
	struct rna_module_memory memory;
	unsigned failed; /* unreadable ranges */
	int error;       /* errno of the last one */
};

/* Reads one range into memory. Returns like ask() of the backend. */
static int read_range(struct rna_ethtool_talk *talk, const struct rna_ethtool_backend *backend,
		      const char *netdev, const struct rna_module_range *range, struct memory *ret)
{
	const uint32_t offset = range->offset, length = range->length;
	const uint8_t page = rna_module_page(range->place), bank = 0;
	const uint8_t address = rna_module_address(range->place);
	const struct rna_ethtool_question question = {
		.name = range->name,
		.command = ETHTOOL_MSG_MODULE_EEPROM_GET,
		.reply = ETHTOOL_MSG_MODULE_EEPROM_GET_REPLY,
		.header = ETHTOOL_A_MODULE_EEPROM_HEADER,
		.attributes = {{ETHTOOL_A_MODULE_EEPROM_OFFSET, sizeof(offset), &offset},
			       {ETHTOOL_A_MODULE_EEPROM_LENGTH, sizeof(length), &length},
			       {ETHTOOL_A_MODULE_EEPROM_PAGE, sizeof(page), &page},
			       {ETHTOOL_A_MODULE_EEPROM_BANK, sizeof(bank), &bank},
			       {ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS, sizeof(address), &address}},
	};
	struct rna_bytes message;
	int status = backend->ask(talk, &question, netdev, ret->scratch, &message);

	return status < 0 ? status : rna_module_take(message, &question, range, &ret->memory);
}

/*
 * Reads all ranges of the module of an interface; the serial number only on demand. 0, or like
 * ask() if the first range has no answer: then nothing is known.
 */
static int read_memory(struct rna_ethtool_talk *talk, const struct rna_ethtool_backend *backend,
		       const char *netdev, bool serial, struct memory *ret)
{
	for (size_t i = 0; i < rna_module_range_count; i++) {
		const struct rna_module_range *range = &rna_module_ranges[i];
		int status;

		if (range->kind != RNA_MODULE_KIND_UNKNOWN &&
		    range->kind != rna_module_kind(&ret->memory))
			continue;
		if ((range->serial && !serial) ||
		    (range->monitors && !rna_module_has_monitors(&ret->memory)))
			continue;
		status = read_range(talk, backend, netdev, range, ret);
		/*
		 * The first range has the kind of module and is mandatory; any other one may be
		 * lost.
		 */
		if (status < 0 && (i == 0 || status == -ENOMEM))
			return status;
		if (status < 0 && status != -EOPNOTSUPP) {
			ret->failed++;
			ret->error = status;
		}
	}
	return 0;
}

/* -- Modules of a device ----------------------------------------------------------------------- */

struct run {
	const struct rna_collect_input *in;
	struct rna_modules *modules;
	struct rna_port_module *items;
	struct rna_ethtool_talk talk;
};

/* It is normal that there is no module, or that the driver does not support reading it. */
static bool is_normal(int error)
{
	switch (error) {
	case -EOPNOTSUPP:
	case -ENODEV:
	case -ENXIO:
	case -EIO: /* mlx5, without a module */
	case -EINVAL:
		return true;
	default:
		return false;
	}
}

static int add_module(struct run *run, const char *netdev, unsigned port)
{
	const struct rna_collect_input *in = run->in;
	struct rna_part *part = &run->modules->part;
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *scratch = rna_arena_new(4096);
	struct memory memory = {.scratch = scratch};
	struct rna_port_module *module = &run->items[run->modules->count];
	int status;

	if (!scratch)
		return -ENOMEM;
	if (run->modules->denied || run->modules->count == MODULES_MAX)
		return 0;
	status = read_memory(&run->talk, in->backends->ethtool, netdev, in->options.module_serial,
			     &memory);
	if (status == -ENOMEM)
		return status;
	if (status == -EPERM || status == -EACCES)
		run->modules->denied = true;
	else if (status < 0 && !is_normal(status))
		rna_part_count_error(part, status);
	for (unsigned i = 0; i < memory.failed; i++)
		rna_part_count_error(part, memory.error);
	if (status < 0)
		return 0;
	*module = (struct rna_port_module){.netdev = rna_arena_strdup(part->arena, netdev),
					   .port = port};
	status = module->netdev ? rna_module_read(&memory.memory, part->arena, module) : -ENOMEM;
	run->modules->count += status == 0;
	return status;
}

static const struct rna_netdev *find_netdev(const struct rna_netdevs *netdevs, const char *name)
{
	struct rna_netdev_search search = {.netdevs = netdevs};

	return rna_netdev_search_name(&search, name);
}

/* A bond has no module; its members have. */
static int add_port(struct run *run, const struct rna_port_netdev *port)
{
	const struct rna_netdevs *netdevs = run->in->netdevs;
	const struct rna_netdev *netdev = find_netdev(netdevs, port->netdev), *member;
	size_t from = 0;
	int status = 0;

	if (!netdev || netdev->type != ARPHRD_ETHER)
		return 0;
	if (!netdev->bond)
		return add_module(run, netdev->name, port->port);
	while (status == 0 &&
	       (member = rna_netdevs_next_member(netdevs, netdev->name, run->in->device, &from)))
		status = add_module(run, member->name, port->port);
	return status;
}

static int read_all(struct run *run)
{
	const struct rna_netdevs *netdevs = run->in->netdevs;
	struct rna_modules *modules = run->modules;
	int status = 0;

	run->items = rna_arena_array(modules->part.arena, MODULES_MAX, sizeof(*run->items));
	if (!run->items)
		return -ENOMEM;
	for (size_t i = 0; netdevs && i < netdevs->port_count && status == 0; i++)
		if (strcmp(netdevs->ports[i].device, run->in->device->name) == 0)
			status = add_port(run, &netdevs->ports[i]);
	modules->modules = run->items;
	return status;
}

RNA_DEFINE_COLLECT(module, MODULE, struct rna_modules, 64, 0, "cannot read modules",
		   read_all(&(struct run){.in = in, .modules = part, .talk = {.root = in->root}}))
