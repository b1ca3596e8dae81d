// SPDX-License-Identifier: Apache-2.0
/*
 * netdev: the network interface of each RDMA port, and the state of these interfaces.
 *
 * There are four ways to find the interface of a port in sysfs, all answered from kernel memory,
 * and a fifth, RDMA netlink, which calls the driver. RDMA netlink is the most reliable, but comes
 * last: it costs firmware commands, opens a socket that pins ib_core, and one dead HCA would block
 * the interfaces of all others.
 *
 * Only interfaces that serve a port, their masters, and the members of bonds are read.
 */
#include <errno.h>
#include <limits.h>
#include <net/if_arp.h>
#include <string.h>

#include "rna/base/index.h"
#include "rna/base/parse.h"

#include "backend/backends.h"
#include "backend/recorded.h"
#include "parse/representor.h"

#include "collectors.h"
#include "identity.h"

#define CLASS "sys/class/net"

#define BITS_PER_MBIT ((uint64_t)1000000)

/* One run: growing lists in scratch memory, copied to the part at the end. */
struct run {
	const struct rna_collect_input *in;
	struct rna_part *part;
	struct rna_arena *scratch;
	struct rna_rdma_numbers numbers;
	struct rna_netdev *netdevs;
	size_t count;
	size_t size;
	struct rna_index by_name; /* of netdevs */
	struct rna_port_netdev *ports;
	size_t port_count;
	struct rna_followed_netdev *followed;
	size_t followed_count;
	bool no_memory;
};

/* The arguments of all search functions. */
struct query {
	const struct rna_device *device;
	unsigned port;
	char name[IF_NAMESIZE]; /* the result */
};

/*
 * Reads a name that can be part of a path. Some errors are normal: the kernel returns EINVAL for a
 * GID without an interface, ENODEV if the interface has just been removed.
 */
static bool read_name(struct run *run, const char *path, char name[IF_NAMESIZE])
{
	char text[64];
	ssize_t len;

	if (!path) {
		run->no_memory = true;
		return false;
	}
	len = rna_root_read(run->in->root, path, text, sizeof(text));
	if (len == -EACCES || len == -EPERM || len == -EIO)
		rna_part_count_error(run->part, (int)len);
	if (len <= 0 || len >= IF_NAMESIZE || text[0] == '.' || strchr(text, '/'))
		return false;
	memcpy(name, text, (size_t)len + 1);
	return true;
}

/*
 * rxe names the interface that it was created on. This comes first: if that interface is in a bond,
 * the GIDs are the bond's.
 */
static bool find_by_parent(struct run *run, struct query *query)
{
	return read_name(run,
			 rna_arena_printf(run->scratch, "%s/parent", query->device->sysfs_path),
			 query->name);
}

/*
 * Entry 0 is the port's default GID, derived from its own interface, which is the bond for a LAG.
 */
static bool find_by_gid(struct run *run, struct query *query)
{
	return read_name(run,
			 rna_arena_printf(run->scratch, "%s/ports/%u/gid_attrs/ndevs/0",
					  query->device->sysfs_path, query->port),
			 query->name);
}

/* dev_port numbers the ports of a function from 0; it does not exist before Linux 3.15. */
static bool is_on_port(struct run *run, const char *directory, unsigned port)
{
	const char *path = rna_arena_printf(run->scratch, "%s/dev_port", directory);
	uint64_t dev_port = 0;
	int error = path ? rna_root_read_u64(run->in->root, path, &dev_port) : -ENOMEM;

	return (error == 0 || error == -ENOENT) && dev_port + 1 == port;
}

static bool is_ipoib(struct run *run, const char *directory)
{
	const char *path = rna_arena_printf(run->scratch, "%s/type", directory);
	uint64_t type;

	return path && rna_root_read_u64(run->in->root, path, &type) == 0 &&
	       type == ARPHRD_INFINIBAND;
}

/*
 * An IPoIB interface of a further P_Key belongs to that of the port (ipoib_get_iflink() in
 * ulp/ipoib/ipoib_main.c, Linux 6.12), and has the same function and dev_port.
 */
static bool is_of_another(struct run *run, const char *directory)
{
	const char *own = rna_arena_printf(run->scratch, "%s/ifindex", directory);
	const char *link = rna_arena_printf(run->scratch, "%s/iflink", directory);
	uint64_t ifindex, iflink;

	return own && link && rna_root_read_u64(run->in->root, own, &ifindex) == 0 &&
	       rna_root_read_u64(run->in->root, link, &iflink) == 0 && ifindex != iflink;
}

/*
 * The first interface of the same function and port that is (or is not) IPoIB; that of a further
 * P_Key only if there is no other, as in a container.
 */
static bool find_on_function(struct run *run, struct query *query, bool ipoib)
{
	const char *parent =
		rna_arena_printf(run->scratch, "%s/device/net", query->device->sysfs_path);
	bool found = false, child;
	char **names;
	ssize_t count;

	count = parent ? rna_root_list(run->in->root, parent, run->scratch, &names) : -ENOMEM;
	for (ssize_t i = 0; i < count; i++) {
		const char *directory = rna_arena_printf(run->scratch, "%s/%s", parent, names[i]);

		if (!directory || strlen(names[i]) >= IF_NAMESIZE ||
		    !is_on_port(run, directory, query->port) || is_ipoib(run, directory) != ipoib)
			continue;
		child = ipoib && is_of_another(run, directory);
		if (child && found)
			continue;
		memcpy(query->name, names[i], strlen(names[i]) + 1);
		found = true;
		if (!child)
			break;
	}
	return found;
}

static bool find_by_dev_port(struct run *run, struct query *query)
{
	return find_on_function(run, query, false);
}

static bool find_by_ipoib(struct run *run, struct query *query)
{
	return find_on_function(run, query, true);
}

/* Skips InfiniBand ports, which have no interface of their own. */
static bool find_by_netlink(struct run *run, struct query *query)
{
	const char *path = rna_arena_printf(run->scratch, "%s/ports/%u/link_layer",
					    query->device->sysfs_path, query->port);
	char layer[32];
	int error;

	if (!path || rna_root_read(run->in->root, path, layer, sizeof(layer)) < 0 ||
	    rna_link_layer_parse(query->device, layer) != RNA_LINK_LAYER_ETHERNET)
		return false;
	error = run->in->backends->rdma_netlink->find_netdev(&run->numbers, query->device->name,
							     query->port, query->name);
	if (error < 0 && error != -ENOENT)
		rna_part_count_error(run->part, error);
	return error == 0;
}

static const struct way {
	enum rna_netdev_source source;
	bool (*find)(struct run *run, struct query *query);
} ways[] = {
	{RNA_NETDEV_BY_PARENT, find_by_parent},     {RNA_NETDEV_BY_GID, find_by_gid},
	{RNA_NETDEV_BY_DEV_PORT, find_by_dev_port}, {RNA_NETDEV_BY_IPOIB, find_by_ipoib},
	{RNA_NETDEV_BY_NETLINK, find_by_netlink},
};

/*
 * In Mbit/s, -1 or EINVAL while unknown. This is the only file here that calls the driver, so it is
 * read only of a running interface.
 */
static struct rna_value read_speed(struct run *run, const char *directory,
				   const struct rna_netdev *netdev)
{
	const char *path = rna_arena_printf(run->scratch, "%s/%s/speed", directory, netdev->name);
	uint64_t mbits;

	if (!path || !netdev->admin_up || netdev->operstate == RNA_OPER_DOWN ||
	    rna_root_read_u64(run->in->root, path, &mbits) < 0 || mbits > UINT32_MAX - 1)
		return (struct rna_value){0};
	return rna_value_ok(mbits * BITS_PER_MBIT);
}

/* Adds an entry at the end of the list. NULL: no memory. */
static struct rna_netdev *next_netdev(struct run *run)
{
	struct rna_netdev *netdev = RNA_GROW(run->netdevs, run->count, run->scratch);

	run->no_memory |= !netdev;
	return netdev;
}

/* The listed interface of that name; reads it if it is new. NULL: none, or the read failed. */
static struct rna_netdev *add_netdev(struct run *run, const char *name)
{
	struct rna_netdev *netdev;
	size_t listed;
	int error;

	if (rna_index_find(&run->by_name, name, 0, &listed) == 0)
		return &run->netdevs[listed];
	netdev = next_netdev(run);
	if (!netdev)
		return NULL;
	error = run->in->backends->netdev->read(run->in->root, name, run->part->arena, netdev);
	if (error < 0) {
		run->no_memory |= error == -ENOMEM;
		if (error != -ENODEV)
			rna_part_count_error(run->part, error);
		return NULL;
	}
	netdev->speed = read_speed(run, CLASS, netdev);
	netdev->representor = rna_is_representor(run->in->root, netdev->name, run->scratch);
	run->no_memory |= rna_index_add(&run->by_name, netdev->name, 0, run->count) < 0;
	run->count++;
	return netdev;
}

static void add_port(struct run *run, const struct rna_device *device, unsigned port)
{
	struct query query = {.device = device, .port = port};

	for (size_t i = 0; i < RNA_ARRAY_SIZE(ways); i++) {
		const struct rna_netdev *netdev;

		if (!ways[i].find(run, &query))
			continue;
		netdev = add_netdev(run, query.name);
		if (!netdev)
			continue;
		run->ports[run->port_count++] = (struct rna_port_netdev){
			.device = rna_arena_strdup(run->part->arena, device->name),
			.port = port,
			.netdev = netdev->name,
			.source = ways[i].source,
		};
		run->no_memory |= !run->ports[run->port_count - 1].device;
		return;
	}
}

/* -- Ports of devices in other network namespaces ---------------------------------------------- */

/* Of an interface there, only the files of its own sysfs tell. False: it is not there. */
static bool read_followed(struct run *run, const struct rna_device *device, const char *name,
			  struct rna_netdev *ret)
{
	const char *directory =
		rna_arena_printf(run->scratch, RNA_ROOT_OF_PROCESS CLASS, device->process);
	const struct rna_recorded_place place = {
		.root = run->in->root,
		.arena = run->part->arena,
		.directory = rna_arena_printf(run->scratch, "%s/%s", directory, name),
	};
	int error = directory ? rna_recorded_read_netdev(&place, name, ret) : -ENOMEM;

	run->no_memory |= error == -ENOMEM;
	if (error == 0)
		ret->speed = read_speed(run, directory, ret);
	return error == 0;
}

/* Masters and members of bonds are left out: their names mean other interfaces here. */
static void add_followed(struct run *run, const struct rna_device *device, unsigned port)
{
	struct query query = {.device = device, .port = port};
	struct rna_followed_netdev *followed = &run->followed[run->followed_count];

	for (size_t i = 0; i < RNA_ARRAY_SIZE(ways); i++) {
		if (ways[i].source == RNA_NETDEV_BY_NETLINK || !ways[i].find(run, &query) ||
		    !read_followed(run, device, query.name, &followed->netdev))
			continue;
		followed->netdev.master = NULL;
		followed->port = (struct rna_port_netdev){
			.device = rna_arena_strdup(run->part->arena, device->name),
			.port = port,
			.netdev = followed->netdev.name,
			.source = ways[i].source,
		};
		run->no_memory |= !followed->port.device;
		run->followed_count++;
		return;
	}
}

/* Does another port of the device, listed from first on, have the interface for a better reason? */
static bool is_of_another_port(const struct run *run, size_t first, const char *netdev)
{
	for (size_t i = first; i < run->port_count; i++)
		if (run->ports[i].source != RNA_NETDEV_BY_DEV_PORT &&
		    strcmp(run->ports[i].netdev, netdev) == 0)
			return true;
	return false;
}

/*
 * An interface of which the driver sets no dev_port has 0 there, and would be that of port 1 as
 * well as that of its own port: mlx5 with an e-switch has the uplink at a later port.
 */
static void add_device(struct run *run, const struct rna_device *device)
{
	size_t first = run->port_count, kept = first;

	for (size_t i = 0; device->process && i < device->port_count; i++)
		add_followed(run, device, device->ports[i]);
	if (device->process)
		return;
	for (size_t i = 0; i < device->port_count; i++)
		add_port(run, device, device->ports[i]);
	for (size_t i = first; i < run->port_count; i++)
		if (run->ports[i].source != RNA_NETDEV_BY_DEV_PORT ||
		    !is_of_another_port(run, first, run->ports[i].netdev))
			run->ports[kept++] = run->ports[i];
	run->port_count = kept;
}

/* The RDMA device on the same function as the interface, or NULL. */
static const char *find_device(struct run *run, const char *name)
{
	const struct rna_presence *presence = run->in->presence;

	RNA_EACH (device, presence->devices, presence->device_count) {
		const char *path = rna_arena_printf(run->scratch, "%s/device/net/%s",
						    device->sysfs_path, name);
		const char *ret;

		if (device->process || (path && !rna_root_exists(run->in->root, path)))
			continue;
		ret = path ? rna_arena_strdup(run->part->arena, device->name) : NULL;
		run->no_memory |= !ret;
		return ret;
	}
	return NULL;
}

static void add_member(struct run *run, const char *name)
{
	struct rna_netdev *netdev = add_netdev(run, name);

	if (netdev) /* otherwise it does not exist and is not listed */
		netdev->device = find_device(run, name);
}

/*
 * "802.3ad 4". In mode active-backup one member transmits, in all others several may
 * (Documentation/networking/bonding.rst, option mode).
 */
static bool spreads(struct run *run, const char *bond)
{
	static const char backup[] = "active-backup";
	const char *path = rna_arena_printf(run->scratch, CLASS "/%s/bonding/mode", bond);
	char text[RNA_ATTRIBUTE_MAX];

	return path && rna_root_read(run->in->root, path, text, sizeof(text)) > 0 &&
	       strncmp(text, backup, sizeof(backup) - 1) != 0;
}

/*
 * Milliseconds between two looks at the members, by their carrier or by ARP; 0: never
 * (Documentation/networking/bonding.rst, options miimon and arp_interval).
 */
static struct rna_value monitors(struct run *run, const char *bond)
{
	static const char *const intervals[] = {"miimon", "arp_interval"};
	uint64_t longest = 0, milliseconds;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(intervals); i++) {
		const char *path =
			rna_arena_printf(run->scratch, CLASS "/%s/bonding/%s", bond, intervals[i]);

		if (!path || rna_root_read_u64(run->in->root, path, &milliseconds) < 0)
			return (struct rna_value){0};
		longest = milliseconds > longest ? milliseconds : longest;
	}
	return rna_value_ok(longest > 0);
}

/*
 * Adds the members of a bond, also those without an RDMA device, such as the second port of a LAG.
 * Interfaces that are not bonds lack this file.
 */
static void add_members(struct run *run, size_t index)
{
	const char *path = rna_arena_printf(run->scratch, CLASS "/%s/bonding/slaves",
					    run->netdevs[index].name);
	char text[RNA_ATTRIBUTE_MAX], *rest = text, *name;

	if (!path || rna_root_read(run->in->root, path, text, sizeof(text)) < 0)
		return;
	run->netdevs[index].bond = true;
	run->netdevs[index].bond_spreads = spreads(run, run->netdevs[index].name);
	run->netdevs[index].bond_monitors = monitors(run, run->netdevs[index].name);
	while ((name = strsep(&rest, " ")))
		if (*name && strlen(name) < IF_NAMESIZE && !strchr(name, '/'))
			add_member(run, name);
}

/* The list grows during the loop: a master may have a master, and adds its members. */
static void add_masters(struct run *run)
{
	for (size_t i = 0; i < run->count; i++) {
		if (run->netdevs[i].master)
			(void)add_netdev(run, run->netdevs[i].master);
		add_members(run, i);
	}
}

/*
 * The interface of the IPv4 default route with the lowest metric, from /proc/PID/net/route. -ENOENT
 * without one, or another negative errno.
 */
static int find_uplink_inside(struct run *run, char ret[IF_NAMESIZE])
{
	enum { ROUTES_MAX = 64 * 1024 };
	char *text = rna_arena_alloc(run->scratch, ROUTES_MAX), *line;
	const char *path =
		rna_arena_printf(run->scratch, "proc/%u/net/route", run->in->presence->inside);
	ssize_t len = text && path ? rna_root_read(run->in->root, path, text, ROUTES_MAX) : -ENOMEM;
	unsigned best = UINT_MAX;

	for (ret[0] = '\0'; len > 0 && (line = strsep(&text, "\n"));) {
		char name[IF_NAMESIZE];
		unsigned destination, metric, mask;

		/* Iface Destination Gateway Flags RefCnt Use Metric Mask: fib_route_seq_show() */
		if (sscanf(line, "%15s %8x %*x %*x %*u %*u %u %8x", name, &destination, &metric,
			   &mask) != 4 ||
		    destination != 0 || mask != 0 || metric >= best)
			continue;
		best = metric;
		memcpy(ret, name, sizeof(name));
	}
	if (len < 0)
		return (int)len;
	return ret[0] ? 0 : -ENOENT;
}

static void find_uplink(struct run *run, struct rna_netdevs *netdevs)
{
	char name[IF_NAMESIZE];
	int error = run->in->presence->inside
			    ? find_uplink_inside(run, name)
			    : run->in->backends->netdev->find_uplink(run->in->root, name);

	if (error == 0) {
		netdevs->uplink = rna_arena_strdup(run->part->arena, name);
		run->no_memory |= !netdevs->uplink;
	} else if (error != -ENOENT) {
		rna_part_count_error(run->part, error);
	}
}

static int read_all(struct run *run, struct rna_netdevs *netdevs)
{
	const struct rna_presence *presence = run->in->presence;
	struct rna_netdev *sorted;
	size_t ports = 0, elsewhere = 0;
	int error;

	for (size_t i = 0; i < presence->device_count; i++)
		*(presence->devices[i].process ? &elsewhere : &ports) +=
			presence->devices[i].port_count;
	run->ports = rna_arena_array(run->part->arena, ports, sizeof(*run->ports));
	run->followed = rna_arena_array(run->part->arena, elsewhere, sizeof(*run->followed));
	if (!run->ports || !run->followed)
		return -ENOMEM;
	for (size_t i = 0; i < presence->device_count; i++)
		add_device(run, &presence->devices[i]);
	add_masters(run);
	find_uplink(run, netdevs);
	sorted = rna_arena_array(run->part->arena, run->count, sizeof(*sorted));
	if (!sorted || run->no_memory)
		return -ENOMEM;
	if (run->count > 0) {
		memcpy(sorted, run->netdevs, run->count * sizeof(*sorted));
		qsort(sorted, run->count, sizeof(*sorted), rna_compare_name_items);
	}
	error = run->in->backends->netdev->count_addresses(run->in->root, sorted, run->count);
	if (error < 0)
		rna_part_count_error(run->part, error);
	netdevs->netdevs = sorted;
	netdevs->count = run->count;
	netdevs->ports = run->ports;
	netdevs->port_count = run->port_count;
	netdevs->followed = run->followed;
	netdevs->followed_count = run->followed_count;
	return 0;
}

static int fill(const struct rna_collect_input *in, struct rna_netdevs *netdevs,
		struct rna_arena *scratch)
{
	struct run run = {.in = in,
			  .part = &netdevs->part,
			  .scratch = scratch,
			  .numbers = {.root = in->root}};
	int status = read_all(&run, netdevs);

	rna_index_deinit(&run.by_name);
	rna_rdma_numbers_free(&run.numbers);
	return status;
}

RNA_DEFINE_COLLECT(netdev, NETDEV, struct rna_netdevs, 4096, 4096, "cannot read network interfaces",
		   fill(in, part, scratch))
