// SPDX-License-Identifier: Apache-2.0
/*
 * The backends of a recorded machine: files instead of libraries. That of MADs is in
 * recorded_mad.c, and some are beside the real ones, for they share how answers are read.
 */
#include "recorded.h"

#include <errno.h>
#include <string.h>

#include "rna/base/parse.h"

#include "parse/guid.h"
#include "parse/link_message.h"
#include "parse/rate.h"

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

static struct rna_value read_lanes(const struct rna_recorded_place *place, const char *name)
{
	struct rna_value code = rna_recorded_value(place, name);
	unsigned lanes = rna_lanes_from_code(code.number);

	return code.state == RNA_VALUE_OK && lanes ? rna_value_ok(lanes) : (struct rna_value){0};
}

static struct rna_value read_guid(const struct rna_recorded_place *place, const char *name)
{
	const char *path = rna_recorded_path(place, name);
	char text[32], *to = text;
	ssize_t len = path ? rna_root_read(place->root, path, text, sizeof(text)) : -ENOMEM;
	uint64_t guid;

	if (len < 0)
		return rna_error_is_absence((int)len) ? (struct rna_value){0}
						      : rna_value_unreadable();
	for (const char *from = text; *from; from++)
		if (*from != ':')
			*to++ = *from;
	*to = '\0';
	return rna_parse_hex_u64(text, &guid) == 0 ? rna_value_ok(guid) : rna_value_unreadable();
}

static int read_text(const struct rna_recorded_place *place, const char *name, const char **ret)
{
	const char *path = rna_recorded_path(place, name);
	char text[RNA_ATTRIBUTE_MAX + 1];

	if (!path)
		return -ENOMEM;
	if (rna_root_read(place->root, path, text, sizeof(text)) <= 0)
		return 0;
	*ret = rna_arena_strdup(place->arena, text);
	return *ret ? 0 : -ENOMEM;
}

/* 0, -EBADMSG without an address, or -ENOMEM. */
static int read_gid(const struct rna_recorded_place *place, const char *name, struct rna_gid *ret)
{
	const char *path = rna_recorded_path(place, name);
	char text[RNA_ATTRIBUTE_MAX];
	ssize_t len = path ? rna_root_read(place->root, path, text, sizeof(text)) : -ENOMEM;
	int status = len < 0 ? (int)len : rna_gid_parse(text, ret);

	return status < 0 && status != -ENOMEM ? -EBADMSG : status;
}

int rna_recorded_read(const struct rna_recorded_place *place,
		      const struct rna_recorded_fields *fields, void *answer)
{
	int status = 0;

	for (size_t i = 0; status == 0 && i < fields->count; i++) {
		const struct rna_recorded_field *field = &fields->items[i];
		void *member = (char *)answer + field->offset;
		struct rna_value *value = member;

		if (field->kind == RNA_RECORDED_TEXT)
			status = read_text(place, field->name, member);
		else if (field->kind == RNA_RECORDED_GID)
			status = read_gid(place, field->name, member);
		else if (field->kind == RNA_RECORDED_LANES)
			*value = read_lanes(place, field->name);
		else if (field->kind == RNA_RECORDED_GUID)
			*value = read_guid(place, field->name);
		else
			*value = rna_recorded_value(place, field->name);
	}
	return status;
}

int rna_recorded_message(const struct rna_root *root, const char *path, struct rna_arena *arena,
			 struct rna_bytes *ret)
{
	enum { DIGITS_MAX = 96 * 1024 }; /* and blanks */
	RNA_FREE char *text = malloc(DIGITS_MAX);
	uint8_t *bytes;
	ssize_t len;

	if (!path || !text)
		return -ENOMEM;
	len = rna_root_read(root, path, text, DIGITS_MAX);
	if (len < 0)
		return len == -ENOENT ? -EOPNOTSUPP : (int)len;
	bytes = rna_arena_alloc(arena, (size_t)len / 2 + 1);
	if (!bytes)
		return -ENOMEM;
	len = rna_parse_hex_bytes(text, bytes, (size_t)len / 2 + 1);
	*ret = (struct rna_bytes){bytes, len < 0 ? 0 : (size_t)len};
	return len < 0 ? (int)len : 0;
}

/* -- verbs ------------------------------------------------------------------------------------- */

static const struct rna_recorded_field verbs_port_fields[] = {
	{"active_speed", offsetof(struct rna_verbs_port, speed_code)},
	{"active_width", offsetof(struct rna_verbs_port, lanes), RNA_RECORDED_LANES},
	{"active_mtu", offsetof(struct rna_verbs_port, active_mtu)},
	{"max_mtu", offsetof(struct rna_verbs_port, max_mtu)},
	{"sm_sl", offsetof(struct rna_verbs_port, sm_sl)},
	{"lmc", offsetof(struct rna_verbs_port, lmc)},
	{"capability_mask", offsetof(struct rna_verbs_port, capability_mask)},
};
const struct rna_recorded_fields rna_recorded_verbs_port = {RNA_ARRAY_SIZE(verbs_port_fields),
							    verbs_port_fields};

static int read_verbs_ports(const struct rna_root *root, const struct rna_device *device,
			    struct rna_verbs_port *ports)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *scratch = rna_arena_new(1024);
	const char *path =
		scratch ? rna_arena_printf(scratch, RNA_RECORDED_VERBS, device->name) : NULL;

	if (!path)
		return -ENOMEM;
	if (!rna_root_exists(root, path))
		return -ENOENT;
	for (size_t i = 0; i < device->port_count; i++) {
		const struct rna_recorded_place place =
			RNA_RECORDED_AT(root, scratch, "%s/ports/%u", path, device->ports[i]);

		if (rna_recorded_read(&place, &rna_recorded_verbs_port, &ports[i]) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* All that verbs say of GIDs is in sysfs, too. */
const struct rna_verbs_backend rna_recorded_verbs = {
	.query_ports = read_verbs_ports,
	.query_gids = rna_verbs_query_no_gids,
};

/* -- interfaces -------------------------------------------------------------------------------- */

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

/* Files of bonds in other modes, and of their members, are empty or say "N/A". */
static struct rna_value read_lacp_number(const struct rna_recorded_place *place, const char *name)
{
	struct rna_value value = rna_recorded_value(place, name);

	return value.state == RNA_VALUE_OK ? value : (struct rna_value){0};
}

/*
 * Only CAP_NET_ADMIN may read ad_partner_mac; a recording has in a file of its own what rtnetlink
 * tells all users.
 */
static int read_lacp_partner(const struct rna_recorded_place *place, const char *name,
			     const char **ret)
{
	const struct rna_recorded_place told =
		RNA_RECORDED_AT(place->root, place->arena, RNA_RECORDED_NETDEV, name);
	int status = read_text(place, "bonding/ad_partner_mac", ret);

	return status < 0 || *ret ? status : read_text(&told, RNA_RECORDED_LACP_PARTNER, ret);
}

/* A bond names its aggregator in another file than a member. */
static int read_lacp(const struct rna_recorded_place *place, const char *name, struct rna_lacp *ret)
{
	ret->aggregator = read_lacp_number(place, "bonding/ad_aggregator");
	if (rna_value_is_known(ret->aggregator))
		return read_lacp_partner(place, name, &ret->partner);
	ret->aggregator = read_lacp_number(place, "bonding_slave/ad_aggregator_id");
	ret->actor_state = read_lacp_number(place, "bonding_slave/ad_actor_oper_port_state");
	ret->partner_state = read_lacp_number(place, "bonding_slave/ad_partner_oper_port_state");
	return 0;
}

int rna_recorded_read_netdev(const struct rna_recorded_place *place, const char *name,
			     struct rna_netdev *ret)
{
	enum rna_operstate operstate;

	if (!place->directory)
		return -ENOMEM;
	if (!rna_root_exists(place->root, place->directory))
		return -ENODEV;
	operstate = read_operstate(place);
	*ret = (struct rna_netdev){
		.name = rna_arena_strdup(place->arena, name),
		.master = read_master(place),
		.ifindex = (unsigned)rna_recorded_value(place, "ifindex").number,
		.type = (unsigned)rna_recorded_value(place, "type").number,
		.admin_up = read_admin_up(place, operstate),
		.operstate = operstate,
		.mtu = rna_recorded_value(place, "mtu"),
		.carrier_up = rna_recorded_value(place, "carrier_up_count"),
		.carrier_down = rna_recorded_value(place, "carrier_down_count"),
	};
	if (ret->admin_up)
		ret->carrier = rna_recorded_value(place, "carrier");
	return ret->name && read_lacp(place, name, &ret->lacp) == 0 ? 0 : -ENOMEM;
}

static int read_netdev(const struct rna_root *root, const char *name, struct rna_arena *arena,
		       struct rna_netdev *ret)
{
	const struct rna_recorded_place place =
		RNA_RECORDED_AT(root, arena, "sys/class/net/%s", name);

	return rna_recorded_read_netdev(&place, name, ret);
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
	place.directory = rna_arena_printf(scratch, RNA_RECORDED_VLAN, name);
	if (!place.directory || !rna_root_exists(root, place.directory))
		return place.directory ? -ENOENT : -ENOMEM;
	ret->id = rna_recorded_value(&place, "id");
	read_egress(&place, ret);
	return 0;
}

static const struct rna_recorded_field address_fields[] = {
	{"ipv4_addresses", offsetof(struct rna_netdev, ipv4_addresses)},
	{"ipv6_addresses", offsetof(struct rna_netdev, ipv6_addresses)},
};
const struct rna_recorded_fields rna_recorded_addresses = {RNA_ARRAY_SIZE(address_fields),
							   address_fields};

static int count_recorded_addresses(const struct rna_root *root, struct rna_netdev *netdevs,
				    size_t count)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *scratch = rna_arena_new(1024);

	if (!scratch)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct rna_recorded_place place =
			RNA_RECORDED_AT(root, scratch, RNA_RECORDED_NETDEV, netdevs[i].name);

		(void)rna_recorded_read(&place, &rna_recorded_addresses,
					&netdevs[i]); /* no texts */
	}
	return 0;
}

static const struct rna_recorded_field vf_fields[] = {
	{"mac", offsetof(struct rna_virtual_function, mac), RNA_RECORDED_TEXT},
	{"node_guid", offsetof(struct rna_virtual_function, node_guid), RNA_RECORDED_TEXT},
	{"port_guid", offsetof(struct rna_virtual_function, port_guid), RNA_RECORDED_TEXT},
	{"assigned", offsetof(struct rna_virtual_function, assigned)},
	{"link", offsetof(struct rna_virtual_function, link)},
	{"spoof_check", offsetof(struct rna_virtual_function, spoof_check)},
	{"trust", offsetof(struct rna_virtual_function, trust)},
	{"vlan", offsetof(struct rna_virtual_function, vlan)},
	{"vlan_priority", offsetof(struct rna_virtual_function, vlan_priority)},
	{"max_rate", offsetof(struct rna_virtual_function, max_rate)},
};
const struct rna_recorded_fields rna_recorded_vf = {RNA_ARRAY_SIZE(vf_fields), vf_fields};

static int read_vf(const struct rna_recorded_place *place, const char *number,
		   struct rna_virtual_function *ret)
{
	uint64_t parsed;

	if (rna_parse_u64(number, &parsed) < 0 || parsed > UINT16_MAX)
		return -EBADMSG;
	*ret = (struct rna_virtual_function){.number = (unsigned)parsed};
	return rna_recorded_read(place, &rna_recorded_vf, ret);
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
		const struct rna_recorded_place place =
			RNA_RECORDED_AT(root, arena, "%s/%s", directory, names[i]);
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

/* -- Gateways ---------------------------------------------------------------------------------- */

static const struct rna_recorded_field gateway_fields[] = {
	{"state", offsetof(struct rna_gateway, state)},
	{"confirmed_microseconds", offsetof(struct rna_gateway, confirmed)},
	{"changed_microseconds", offsetof(struct rna_gateway, changed)},
	{"address", offsetof(struct rna_gateway, address), RNA_RECORDED_GID},
};
const struct rna_recorded_fields rna_recorded_gateway = {RNA_ARRAY_SIZE(gateway_fields),
							 gateway_fields};

/* Texts of an entry that no file has. 0 or -ENOMEM. */
static int write_texts(struct rna_arena *arena, const struct rna_gid *address, const char *netdev,
		       const char **ret_text, const char **ret_netdev)
{
	char text[RNA_ADDRESS_TEXT_MAX];

	rna_address_format(address, text);
	*ret_text = rna_arena_strdup(arena, text);
	*ret_netdev = rna_arena_strdup(arena, netdev);
	return *ret_text && *ret_netdev ? 0 : -ENOMEM;
}

static int read_gateway(const struct rna_recorded_place *place, const char *netdev,
			struct rna_gateway *ret)
{
	int status = rna_recorded_read(place, &rna_recorded_gateway, ret);

	return status < 0
		       ? status
		       : write_texts(place->arena, &ret->address, netdev, &ret->text, &ret->netdev);
}

/* Appends those of one interface. 0 or negative errno. */
static int read_gateways(const struct rna_recorded_place *netdev, const char *name,
			 struct rna_gateway_list *ret)
{
	struct rna_gateway *items;
	char **names;
	ssize_t count = rna_root_list(netdev->root, netdev->directory, netdev->arena, &names);
	int status = 0;

	if (count <= 0)
		return rna_error_is_absence((int)count) ? 0 : (int)count;
	items = rna_arena_array(netdev->arena, ret->count + (size_t)count, sizeof(*items));
	if (!items)
		return -ENOMEM;
	if (ret->count > 0)
		memcpy(items, ret->items, ret->count * sizeof(*items));
	ret->items = items;
	for (ssize_t i = 0; i < count && status == 0; i++) {
		const struct rna_recorded_place place = {netdev->root, netdev->arena,
							 rna_recorded_path(netdev, names[i])};

		status = read_gateway(&place, name, &items[ret->count]);
		ret->count += status == 0;
	}
	return status;
}

static int list_recorded_gateways(const struct rna_root *root, const char *const *netdevs,
				  size_t count, struct rna_arena *arena,
				  struct rna_gateway_list *ret)
{
	int status = 0;

	for (size_t i = 0; i < count && status == 0; i++) {
		const struct rna_recorded_place place =
			RNA_RECORDED_AT(root, arena, RNA_RECORDED_GATEWAYS, netdevs[i]);

		status = place.directory ? read_gateways(&place, netdevs[i], ret) : -ENOMEM;
	}
	return status;
}

static const struct rna_recorded_field rail_address_fields[] = {
	{"prefix_length", offsetof(struct rna_rail_address, prefix_length)},
	{"leaves_by", offsetof(struct rna_rail_address, leaves_by), RNA_RECORDED_TEXT},
	{"address", offsetof(struct rna_rail_address, address), RNA_RECORDED_GID},
	{"subnet", offsetof(struct rna_rail_address, subnet), RNA_RECORDED_GID},
};
const struct rna_recorded_fields rna_recorded_rail_address = {RNA_ARRAY_SIZE(rail_address_fields),
							      rail_address_fields};

static int read_rail_address(const struct rna_recorded_place *place, const char *netdev,
			     struct rna_rail_address *ret)
{
	int status = rna_recorded_read(place, &rna_recorded_rail_address, ret);

	return status < 0
		       ? status
		       : write_texts(place->arena, &ret->address, netdev, &ret->text, &ret->netdev);
}

/* Those of one interface. 0 or negative errno. */
static int read_rail(const struct rna_recorded_place *netdev, const char *name,
		     struct rna_rail_address_list *ret)
{
	char **names = NULL;
	ssize_t count = rna_root_list(netdev->root, netdev->directory, netdev->arena, &names);
	int status = rna_error_is_absence((int)count) || count >= 0 ? 0 : (int)count;

	for (ssize_t i = 0; status == 0 && i < count && ret->count < RNA_RAIL_ADDRESSES_MAX; i++) {
		const struct rna_recorded_place place = {netdev->root, netdev->arena,
							 rna_recorded_path(netdev, names[i])};

		status = read_rail_address(&place, name, &ret->items[ret->count]);
		ret->count += status == 0;
	}
	return status;
}

static int list_recorded_rails(const struct rna_root *root, const char *const *netdevs,
			       size_t count, struct rna_arena *arena,
			       struct rna_rail_address_list *ret)
{
	int status;

	*ret = (struct rna_rail_address_list){
		.items = rna_arena_array(arena, RNA_RAIL_ADDRESSES_MAX, sizeof(*ret->items))};
	status = ret->items ? 0 : -ENOMEM;
	for (size_t i = 0; i < count && status == 0; i++) {
		const struct rna_recorded_place place =
			RNA_RECORDED_AT(root, arena, RNA_RECORDED_RAILS, netdevs[i]);

		status = place.directory ? read_rail(&place, netdevs[i], ret) : -ENOMEM;
	}
	return status;
}

/* A recording has no network. */
static int probe_nothing(const struct rna_root *root, const struct rna_gateway *gateway)
{
	(void)root, (void)gateway;
	return -EOPNOTSUPP;
}

const struct rna_gateway_backend rna_recorded_gateways = {
	.list = list_recorded_gateways,
	.list_addresses = list_recorded_rails,
	.probe = probe_nothing,
};

const struct rna_netdev_backend rna_recorded_netdev = {
	.read = read_netdev,
	.read_vlan = read_recorded_vlan,
	.count_addresses = count_recorded_addresses,
	.list_virtual_functions = list_recorded_vfs,
	.find_uplink = read_uplink,
};

/* -- RDMA netlink ------------------------------------------------------------------------------ */

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

/* A file for each PID, which holds the number of its contexts. -ENOMEM or 0. */
static int read_contexts(const struct rna_recorded_place *device, struct rna_context_list *ret)
{
	struct rna_recorded_place place = *device;
	char **names;
	ssize_t count;

	place.directory = rna_recorded_path(device, RNA_RECORDED_CONTEXTS);
	count = place.directory ? rna_root_list(place.root, place.directory, place.arena, &names)
				: -ENOMEM;
	if (count < 0)
		return count == -ENOMEM ? -ENOMEM : 0;
	ret->items = rna_arena_array(ret->arena, RNA_CONTEXTS_MAX, sizeof(*ret->items));
	if (!ret->items)
		return -ENOMEM;
	for (ssize_t i = 0; i < count; i++) {
		struct rna_value opened = rna_recorded_value(&place, names[i]);
		uint64_t pid;

		if (rna_parse_u64(names[i], &pid) < 0 || pid > INT32_MAX)
			continue;
		for (uint64_t n = 0; n < opened.number && ret->count < RNA_CONTEXTS_MAX; n++) {
			ret->items[ret->count] = (struct rna_context){
				.number = (uint32_t)ret->count,
				.pid = (uint32_t)pid,
			};
			ret->count++;
		}
	}
	return 0;
}

static int read_resources(struct rna_rdma_numbers *numbers, const char *device,
			  struct rna_resource_counts *ret, struct rna_context_list *ret_contexts)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	const struct rna_recorded_place place =
		RNA_RECORDED_AT(numbers->root, arena, RNA_RECORDED_RESOURCES, device);

	*ret = (struct rna_resource_counts){0};
	if (!place.directory)
		return -ENOMEM;
	if (!rna_root_exists(numbers->root, place.directory))
		return -ENOENT;
	for (enum rna_resource i = 0; i < RNA_RESOURCE_COUNT; i++)
		ret->of[i] = rna_recorded_value(&place, rna_resource_name(i));
	ret->own_contexts = rna_recorded_value(&place, "own_contexts");
	return ret_contexts ? read_contexts(&place, ret_contexts) : 0;
}

static int read_optional(struct rna_rdma_numbers *numbers, const char *device,
			 struct rna_arena *arena, struct rna_port_optional_counters *ret)
{
	const struct rna_recorded_place place =
		RNA_RECORDED_AT(numbers->root, arena, RNA_RECORDED_OPTIONAL, device, ret->number);
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

/* Without a file it is not known. */
static int read_parent(struct rna_rdma_numbers *numbers, const char *device,
		       char ret[RNA_RDMA_NAME_MAX])
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(256);
	const char *path = arena ? rna_arena_printf(arena, RNA_RECORDED_PARENT, device) : NULL;
	ssize_t len = path ? rna_root_read(numbers->root, path, ret, RNA_RDMA_NAME_MAX) : -ENOMEM;

	return len < 0 ? (int)len : 0;
}

/* A recording has the hw_counters of sysfs. */
const struct rna_rdma_netlink_backend rna_recorded_rdma_netlink = {
	.find_parent = read_parent,
	.find_netdev = read_netlink_netdev,
	.get_counters = rna_rdma_netlink_get_no_counters,
	.get_resources = read_resources,
	.get_optional = read_optional,
};
