// SPDX-License-Identifier: Apache-2.0
/*
 * The backends of a recorded machine: files instead of libraries. That of MADs is in
 * recorded_mad.c.
 *
 *	recorded/verbs/DEVICE/ports/N/	active_mtu, max_mtu in bytes; active_speed, active_width
 *					as codes. No directory: verbs could not open the device.
 *	sys/class/net/NAME/		what sysfs has of the interface
 *	recorded/netdev/NAME/		ipv4_addresses, ipv6_addresses: how many
 *	recorded/vlan/NAME/		id, and egress/N: the priority of socket priority N
 *	recorded/dcb/NAME/		ieee, cee: what DCB netlink answered, bytes as hex digits
 *					(dcb.c). No file: the driver has no DCB.
 *	recorded/netdev/NAME/virtual_functions/N/
 *					what it said of its virtual function N, a file for each
 *					member
 *	recorded/uplink			the interface of the default route
 *	recorded/netlink/DEVICE/ports/N/netdev
 *					the interface that RDMA netlink named, where no file of /sys
 *					says it
 *	recorded/netlink/DEVICE/resources/
 *					how many RDMA objects there were, by kind; own_contexts
 *	recorded/netlink/DEVICE/ports/N/optional/NAME
 *					1: this optional counter was on
 *
 * A file that is not there is a value that the machine did not have.
 */
#include "recorded.h"

#include <errno.h>
#include <string.h>

#include "rna/base/parse.h"

#include "parse/rate.h"
#include "parse/vf_message.h"

const char *rna_recorded_path(const struct rna_recorded_place *place, const char *name)
{
	return place->directory ? rna_arena_printf(place->arena, "%s/%s", place->directory, name)
				: NULL;
}

struct rna_value rna_recorded_value(const struct rna_recorded_place *place, const char *name)
{
	const char *path = rna_recorded_path(place, name);
	uint64_t number;
	int error = path ? rna_root_read_u64(place->root, path, &number) : -ENOMEM;

	if (error == 0)
		return rna_value_ok(number);
	return error == -ENOENT ? (struct rna_value){0} : rna_value_unreadable();
}

/* -- verbs ----------------------------------------------------------------------------------------
 */

static struct rna_value read_lanes(const struct rna_recorded_place *place)
{
	struct rna_value code = rna_recorded_value(place, "active_width");
	unsigned lanes = rna_lanes_from_code(code.number);

	return code.state == RNA_VALUE_OK && lanes ? rna_value_ok(lanes) : (struct rna_value){0};
}

static int read_verbs_ports(const struct rna_root *root, const struct rna_device *device,
			    struct rna_verbs_port *ports)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *scratch = rna_arena_new(1024);
	const char *path =
		scratch ? rna_arena_printf(scratch, "recorded/verbs/%s", device->name) : NULL;

	if (!path)
		return -ENOMEM;
	if (!rna_root_exists(root, path))
		return -ENOENT;
	for (size_t i = 0; i < device->port_count; i++) {
		const struct rna_recorded_place place = {
			.root = root,
			.arena = scratch,
			.directory =
				rna_arena_printf(scratch, "%s/ports/%u", path, device->ports[i]),
		};

		ports[i] = (struct rna_verbs_port){
			.speed_code = rna_recorded_value(&place, "active_speed"),
			.lanes = read_lanes(&place),
			.active_mtu = rna_recorded_value(&place, "active_mtu"),
			.max_mtu = rna_recorded_value(&place, "max_mtu"),
		};
	}
	return 0;
}

/* All that verbs say of GIDs is in sysfs, too. */
static int query_no_gids(const struct rna_root *root, const struct rna_device *device,
			 struct rna_arena *arena, struct rna_verbs_gids *ret)
{
	(void)root;
	(void)device;
	(void)arena;
	(void)ret;
	return -ENOENT;
}

const struct rna_verbs_backend rna_recorded_verbs = {
	.query_ports = read_verbs_ports,
	.query_gids = query_no_gids,
};

/* -- interfaces -----------------------------------------------------------------------------------
 */

static enum rna_operstate read_operstate(const struct rna_recorded_place *place)
{
	const char *path = rna_recorded_path(place, "operstate");
	char text[32];

	if (!path || rna_root_read(place->root, path, text, sizeof(text)) < 0)
		return RNA_OPER_UNKNOWN;
	for (unsigned state = RNA_OPER_UNKNOWN; state <= RNA_OPER_UP; state++)
		if (strcmp(text, rna_operstate_name(state)) == 0)
			return state;
	return RNA_OPER_UNKNOWN;
}

/* Trees that were made by hand often have no flags: then an interface that runs is up. */
static bool read_admin_up(const struct rna_recorded_place *place, enum rna_operstate operstate)
{
	const char *path = rna_recorded_path(place, "flags");
	uint64_t flags;

	if (!path || rna_root_read_hex(place->root, path, &flags) < 0)
		return operstate == RNA_OPER_UP;
	return flags & IFF_UP;
}

static const char *read_master(const struct rna_recorded_place *place)
{
	const char *path = rna_recorded_path(place, "master"), *slash;
	char target[RNA_ATTRIBUTE_MAX];

	if (!path || rna_root_readlink(place->root, path, target, sizeof(target)) < 0)
		return NULL;
	slash = strrchr(target, '/');
	return rna_arena_strdup(place->arena, slash ? slash + 1 : target);
}

static int read_netdev(const struct rna_root *root, const char *name, struct rna_arena *arena,
		       struct rna_netdev *ret)
{
	const struct rna_recorded_place place = {
		.root = root,
		.arena = arena,
		.directory = rna_arena_printf(arena, "sys/class/net/%s", name),
	};
	enum rna_operstate operstate;

	if (!place.directory)
		return -ENOMEM;
	if (!rna_root_exists(root, place.directory))
		return -ENODEV;
	operstate = read_operstate(&place);
	*ret = (struct rna_netdev){
		.name = rna_arena_strdup(arena, name),
		.master = read_master(&place),
		.ifindex = (unsigned)rna_recorded_value(&place, "ifindex").number,
		.type = (unsigned)rna_recorded_value(&place, "type").number,
		.admin_up = read_admin_up(&place, operstate),
		.operstate = operstate,
		.mtu = rna_recorded_value(&place, "mtu"),
		.carrier_up = rna_recorded_value(&place, "carrier_up_count"),
		.carrier_down = rna_recorded_value(&place, "carrier_down_count"),
	};
	if (ret->admin_up)
		ret->carrier = rna_recorded_value(&place, "carrier");
	return ret->name ? 0 : -ENOMEM;
}

static void read_egress(const struct rna_recorded_place *place, struct rna_qos_vlan *vlan)
{
	vlan->egress = rna_value_ok(0);
	for (unsigned from = 0; from < RNA_PRIORITY_COUNT; from++) {
		char name[] = "egress/0";
		struct rna_value to;

		name[sizeof(name) - 2] = (char)('0' + from);
		to = rna_recorded_value(place, name);
		if (to.state != RNA_VALUE_OK || to.number >= RNA_PRIORITY_COUNT)
			continue;
		vlan->egress.number |= UINT64_C(1) << from;
		vlan->egress_priority[from] = (uint8_t)to.number;
	}
}

static int read_recorded_vlan(const struct rna_root *root, const char *name,
			      struct rna_qos_vlan *ret)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *scratch = rna_arena_new(1024);
	struct rna_recorded_place place = {.root = root, .arena = scratch};

	if (!scratch)
		return -ENOMEM;
	place.directory = rna_arena_printf(scratch, "sys/class/net/%s", name);
	ret->mtu = rna_recorded_value(&place, "mtu");
	place.directory = rna_arena_printf(scratch, RNA_RECORDED_VLAN "/%s", name);
	if (!place.directory || !rna_root_exists(root, place.directory))
		return place.directory ? -ENOENT : -ENOMEM;
	ret->id = rna_recorded_value(&place, "id");
	read_egress(&place, ret);
	return 0;
}

static int count_recorded_addresses(const struct rna_root *root, struct rna_netdev *netdevs,
				    size_t count)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *scratch = rna_arena_new(1024);

	if (!scratch)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct rna_recorded_place place = {
			.root = root,
			.arena = scratch,
			.directory = rna_arena_printf(scratch, RNA_RECORDED_NETDEV "/%s",
						      netdevs[i].name),
		};

		netdevs[i].ipv4_addresses = rna_recorded_value(&place, "ipv4_addresses");
		netdevs[i].ipv6_addresses = rna_recorded_value(&place, "ipv6_addresses");
	}
	return 0;
}

const struct rna_vf_member rna_vf_members[] = {
	{"mac", .text = offsetof(struct rna_virtual_function, mac)},
	{"node_guid", .text = offsetof(struct rna_virtual_function, node_guid)},
	{"port_guid", .text = offsetof(struct rna_virtual_function, port_guid)},
	{"assigned", .value = offsetof(struct rna_virtual_function, assigned)},
	{"link", .value = offsetof(struct rna_virtual_function, link)},
	{"spoof_check", .value = offsetof(struct rna_virtual_function, spoof_check)},
	{"trust", .value = offsetof(struct rna_virtual_function, trust)},
	{"vlan", .value = offsetof(struct rna_virtual_function, vlan)},
	{"vlan_priority", .value = offsetof(struct rna_virtual_function, vlan_priority)},
	{"max_rate", .value = offsetof(struct rna_virtual_function, max_rate)},
};
const size_t rna_vf_member_count = RNA_ARRAY_SIZE(rna_vf_members);

static int read_vf(const struct rna_recorded_place *place, const char *number,
		   struct rna_virtual_function *ret)
{
	uint64_t parsed;

	if (rna_parse_u64(number, &parsed) < 0 || parsed > UINT16_MAX)
		return -EBADMSG;
	*ret = (struct rna_virtual_function){.number = (unsigned)parsed};
	for (size_t i = 0; i < rna_vf_member_count; i++) {
		const struct rna_vf_member *member = &rna_vf_members[i];
		const char *path = rna_recorded_path(place, member->name);
		char text[64];

		if (!path)
			return -ENOMEM;
		if (!member->text)
			*(struct rna_value *)((char *)ret + member->value) =
				rna_recorded_value(place, member->name);
		else if (rna_root_read(place->root, path, text, sizeof(text)) > 0)
			*(const char **)((char *)ret + member->text) =
				rna_arena_strdup(place->arena, text);
	}
	return 0;
}

static int list_recorded_vfs(const struct rna_root *root, const char *name, struct rna_arena *arena,
			     struct rna_vf_list *ret)
{
	const char *directory = rna_arena_printf(arena, RNA_RECORDED_VFS, name);
	struct rna_virtual_function *functions;
	char **names;
	ssize_t count = directory ? rna_root_list(root, directory, arena, &names) : -ENOMEM;

	if (count < 0)
		return (int)count;
	functions = rna_arena_array(arena, (size_t)count, sizeof(*functions));
	if (!functions)
		return -ENOMEM;
	for (ssize_t i = 0; i < count; i++) {
		const struct rna_recorded_place place = {
			.root = root,
			.arena = arena,
			.directory = rna_arena_printf(arena, "%s/%s", directory, names[i]),
		};
		int status = read_vf(&place, names[i], &functions[i]);

		if (status < 0)
			return status;
	}
	*ret = (struct rna_vf_list){(size_t)count, functions};
	return 0;
}

static int read_netdev_name(const struct rna_root *root, const char *path, char ret[IF_NAMESIZE])
{
	char text[IF_NAMESIZE + 1]; /* and a line end */
	ssize_t len = rna_root_read(root, path, text, sizeof(text));

	if (len <= 0 || len >= IF_NAMESIZE || text[0] == '.' || strchr(text, '/'))
		return -ENOENT;
	memcpy(ret, text, (size_t)len + 1);
	return 0;
}

static int read_uplink(const struct rna_root *root, char ret[IF_NAMESIZE])
{
	return read_netdev_name(root, RNA_RECORDED_UPLINK, ret);
}

const struct rna_netdev_backend rna_recorded_netdev = {
	.read = read_netdev,
	.read_vlan = read_recorded_vlan,
	.count_addresses = count_recorded_addresses,
	.list_virtual_functions = list_recorded_vfs,
	.find_uplink = read_uplink,
};

/* -- RDMA netlink ---------------------------------------------------------------------------------
 */

static int read_netlink_netdev(struct rna_rdma_numbers *numbers, const char *device, unsigned port,
			       char ret[IF_NAMESIZE])
{
	RNA_FREE char *path = NULL;

	if (asprintf(&path, RNA_RECORDED_NETLINK, device, port) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	return read_netdev_name(numbers->root, path, ret);
}

/* A recording has the hw_counters of sysfs. */
static int get_no_counters(struct rna_rdma_numbers *numbers, const char *device, unsigned port,
			   struct rna_arena *arena, struct rna_netlink_counters *ret)
{
	(void)numbers;
	(void)device;
	(void)port;
	(void)arena;
	(void)ret;
	return -ENOENT;
}

static int read_resources(struct rna_rdma_numbers *numbers, const char *device,
			  struct rna_resource_counts *ret)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	const struct rna_recorded_place place = {
		.root = numbers->root,
		.arena = arena,
		.directory = arena ? rna_arena_printf(arena, RNA_RECORDED_RESOURCES, device) : NULL,
	};

	*ret = (struct rna_resource_counts){0};
	if (!place.directory)
		return -ENOMEM;
	if (!rna_root_exists(numbers->root, place.directory))
		return -ENOENT;
	for (enum rna_resource i = 0; i < RNA_RESOURCE_COUNT; i++)
		ret->of[i] = rna_recorded_value(&place, rna_resource_name(i));
	ret->own_contexts = rna_recorded_value(&place, "own_contexts");
	return 0;
}

static int read_optional(struct rna_rdma_numbers *numbers, const char *device,
			 struct rna_arena *arena, struct rna_port_optional_counters *ret)
{
	const struct rna_recorded_place place = {
		.root = numbers->root,
		.arena = arena,
		.directory = rna_arena_printf(arena, RNA_RECORDED_OPTIONAL, device, ret->number),
	};
	struct rna_optional_counter *items;
	char **names;
	ssize_t count;

	if (!place.directory)
		return -ENOMEM;
	count = rna_root_list(numbers->root, place.directory, arena, &names);
	if (count < 0)
		return (int)count;
	items = rna_arena_array(arena, (size_t)count, sizeof(*items));
	if (!items)
		return -ENOMEM;
	for (ssize_t i = 0; i < count; i++)
		items[i] = (struct rna_optional_counter){
			.name = names[i],
			.enabled = rna_recorded_value(&place, names[i]).number,
		};
	ret->items = items;
	ret->count = (size_t)count;
	return 0;
}

const struct rna_rdma_netlink_backend rna_recorded_rdma_netlink = {
	.find_netdev = read_netlink_netdev,
	.get_counters = get_no_counters,
	.get_resources = read_resources,
	.get_optional = read_optional,
};
