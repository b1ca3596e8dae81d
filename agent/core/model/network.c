// SPDX-License-Identifier: Apache-2.0
/*
 * Which ports of this node belong to one network. What an administrator configured comes first.
 * Otherwise ports of InfiniBand are together if they share subnet and partition: the one of which
 * most are full members, because limited members cannot communicate with each other (IBTA 10.9.3).
 * Ports of RoCE are together, unless their addresses look like planes: then the ports in one place
 * of all cards have addresses that share more bits than those of two places do.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/fabric.h"
#include "rna/model/subject.h"

enum {
	GID_BITS = 128,
	IPV4_OFFSET = 12, /* of the address in an IPv4-mapped GID */
	SUBNET_BYTES = 8, /* of a GID of InfiniBand */
};

/* -- Ranges ------------------------------------------------------------------------------------ */

static unsigned common_bits(const struct rna_gid *a, const struct rna_gid *b)
{
	unsigned bits = 0;

	while (bits < GID_BITS && !((a->bytes[bits / 8] ^ b->bytes[bits / 8]) & 0x80U >> bits % 8))
		bits++;
	return bits;
}

static bool parse_prefix(const char *text, const char *slash, struct rna_network_range *ret)
{
	RNA_FREE char *address = strndup(text, (size_t)(slash - text));
	bool ipv4 = address && !strchr(address, ':');
	unsigned offset = ipv4 ? RNA_IPV4_BIT : 0;
	uint64_t bits;

	if (ipv4)
		memset(&ret->address.bytes[IPV4_OFFSET - 2], 0xff, 2);
	if (!address || rna_parse_u64(slash + 1, &bits) < 0 || bits == 0 ||
	    bits > GID_BITS - offset ||
	    inet_pton(ipv4 ? AF_INET : AF_INET6, address, &ret->address.bytes[offset / 8]) != 1)
		return false;
	ret->bits = offset + (unsigned)bits;
	return true;
}

bool rna_network_range_parse(const char *entry, struct rna_network_range *ret)
{
	const char *value = strchr(entry, '='), *slash;
	uint64_t key;

	*ret = (struct rna_network_range){.name = entry};
	if (!value)
		return false;
	ret->len = (size_t)(value++ - entry);
	slash = strchr(value, '/');
	/* a name is a part of the value of a label, too */
	if (ret->len == 0 ||
	    strspn(entry, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") !=
		    ret->len)
		return false;
	if (slash)
		return parse_prefix(value, slash, ret);
	if (strncmp(value, "0x", 2) != 0 || rna_parse_hex_u64(value, &key) < 0 || key > UINT16_MAX)
		return false;
	ret->partition = key & RNA_DEFAULT_PKEY;
	return ret->partition > 0;
}

bool rna_network_range_is_valid(const char *entry)
{
	struct rna_network_range ignored;

	return rna_network_range_parse(entry, &ignored);
}

bool rna_network_range_has(const struct rna_network_range *range, const struct rna_gid *address)
{
	return range->bits > 0 && common_bits(&range->address, address) >= range->bits;
}

/* -- What a port has --------------------------------------------------------------------------- */

static bool is_usable(const struct rna_gid_entry *entry)
{
	return entry->type == RNA_GID_TYPE_ROCE_V2 && !entry->elsewhere &&
	       !rna_gid_is_link_local(&entry->gid);
}

/* The first address of RoCE by which other nodes reach it. NULL: none is known. */
static const struct rna_gid *address_of(const struct rna_subject *port)
{
	for (size_t i = 0; port->gids && i < port->gids->count; i++)
		if (is_usable(&port->gids->entries[i]))
			return &port->gids->entries[i].gid;
	return NULL;
}

static const struct rna_pkey *find_full(const struct rna_subject *port, uint16_t partition)
{
	const struct rna_port_fabric *fabric = port->fabric;

	for (size_t i = 0; fabric && i < fabric->pkey_count; i++)
		if (fabric->pkeys[i].full && fabric->pkeys[i].key == partition)
			return &fabric->pkeys[i];
	return NULL;
}

static bool is_infiniband(const struct rna_subject *port)
{
	return port->link_layer == RNA_LINK_LAYER_INFINIBAND && rna_subject_is_active(port);
}

/* GIDs that are not known count as equal: then nothing tells the subnets apart. */
static bool is_one_subnet(const struct rna_subject *a, const struct rna_subject *b)
{
	const struct rna_gid_entry *x = a->gids ? rna_port_gids_find(a->gids, 0) : NULL;
	const struct rna_gid_entry *y = b->gids ? rna_port_gids_find(b->gids, 0) : NULL;

	return !x || !y || memcmp(x->gid.bytes, y->gid.bytes, SUBNET_BYTES) == 0;
}

/* -- Adding networks --------------------------------------------------------------------------- */

struct search {
	struct rna_subject *ports;
	size_t port_count;
	struct rna_arena *arena;
	struct rna_network *items; /* room for one more than there are ports and ranges */
	size_t count;
};

/* name: in the arena; NULL: there was no memory. */
static struct rna_network *add_network(struct search *search, const char *name,
				       enum rna_network_source source)
{
	struct rna_network *network = &search->items[search->count];

	*network = (struct rna_network){.name = name, .source = source};
	search->count += name != NULL;
	return name ? network : NULL;
}

static void join_network(struct rna_subject *port, struct rna_network *network)
{
	port->network = network;
	network->port_count++;
}

/* -- Configured ones --------------------------------------------------------------------------- */

static bool fits_range(const struct rna_subject *port, const struct rna_network_range *range)
{
	if (range->bits == 0)
		return is_infiniband(port) && find_full(port, range->partition);
	for (size_t i = 0; port->gids && i < port->gids->count; i++)
		if (is_usable(&port->gids->entries[i]) &&
		    rna_network_range_has(range, &port->gids->entries[i].gid))
			return true;
	return false;
}

static struct rna_network *find_named(struct search *search, const struct rna_network_range *range)
{
	for (size_t i = 0; i < search->count; i++)
		if (strlen(search->items[i].name) == range->len &&
		    strncmp(search->items[i].name, range->name, range->len) == 0)
			return &search->items[i];
	return add_network(search,
			   rna_arena_printf(search->arena, "%.*s", (int)range->len, range->name),
			   RNA_NETWORK_CONFIGURED);
}

static int find_configured(struct search *search, const struct rna_networks *networks)
{
	for (size_t i = 0; i < networks->range_count; i++) {
		const struct rna_network_range *range = &networks->ranges[i];
		struct rna_network *network = find_named(search, range);

		if (!network)
			return -ENOMEM;
		network->partition = network->partition ? network->partition : range->partition;
		for (size_t j = 0; j < search->port_count; j++)
			if (!search->ports[j].network && fits_range(&search->ports[j], range))
				join_network(&search->ports[j], network);
	}
	return 0;
}

/* -- Partitions -------------------------------------------------------------------------------- */

static size_t count_members(const struct search *search, const struct rna_subject *of,
			    uint16_t partition)
{
	size_t count = 0;

	for (size_t i = 0; i < search->port_count; i++) {
		const struct rna_subject *port = &search->ports[i];

		count += !port->network && is_infiniband(port) && is_one_subnet(of, port) &&
			 find_full(port, partition);
	}
	return count;
}

/* Of the partitions of which the port is a full member, that with most members. 0: none. */
static uint16_t find_largest(const struct search *search, const struct rna_subject *port)
{
	const struct rna_port_fabric *fabric = port->fabric;
	uint16_t ret = 0;
	size_t most = 0;

	for (size_t i = 0; fabric && i < fabric->pkey_count; i++) {
		size_t count = fabric->pkeys[i].full
				       ? count_members(search, port, fabric->pkeys[i].key)
				       : 0;

		if (count > most) {
			most = count;
			ret = fabric->pkeys[i].key;
		}
	}
	return ret;
}

static int find_partitions(struct search *search)
{
	for (size_t i = 0; i < search->port_count; i++) {
		const struct rna_subject *first = &search->ports[i];
		uint16_t partition = 0;
		struct rna_network *network;

		if (!first->network && is_infiniband(first))
			partition = find_largest(search, first);
		if (partition == 0)
			continue;
		network =
			add_network(search,
				    rna_arena_printf(search->arena, "partition 0x%04x", partition),
				    RNA_NETWORK_PARTITION);
		if (!network)
			return -ENOMEM;
		network->partition = partition;
		for (size_t j = i; j < search->port_count; j++) {
			struct rna_subject *port = &search->ports[j];

			if (!port->network && is_infiniband(port) && is_one_subnet(first, port) &&
			    find_full(port, partition))
				join_network(port, network);
		}
	}
	return 0;
}

/* -- Planes ------------------------------------------------------------------------------------ */

/* The ports in one place of all cards, and the bits that their addresses share. */
struct plane {
	unsigned place, model;
	size_t count;
	struct rna_gid address; /* of the first of them */
	unsigned bits;
};

/* Can the port be one of a plane? */
static const struct rna_gid *plane_address_of(const struct rna_subject *port)
{
	return port->rail && port->place > 0 && port->card && rna_subject_is_active_roce(port)
		       ? address_of(port)
		       : NULL;
}

enum { PLANES_MAX = 16 }; /* NCCL 2.30 knows twelve */

struct planes {
	size_t count;
	struct plane items[PLANES_MAX];
};

static void add_to_plane(struct planes *planes, const struct rna_subject *port,
			 const struct rna_gid *address)
{
	struct plane *plane = planes->items;
	unsigned bits;

	while (plane < &planes->items[planes->count] && plane->place != port->place)
		plane++;
	if (plane == &planes->items[PLANES_MAX])
		return;
	if (plane == &planes->items[planes->count]) {
		planes->count++;
		*plane = (struct plane){port->place, port->model, 0, *address, GID_BITS};
	}
	bits = common_bits(&plane->address, address);
	plane->bits = bits < plane->bits ? bits : plane->bits;
	plane->count++;
}

/* Do both lead to one switch, as far as LLDP tells? Then they are no planes. */
static bool share_a_switch(const struct search *search, unsigned a, unsigned b)
{
	for (size_t i = 0; i < search->port_count; i++)
		for (size_t j = 0; j < search->port_count; j++) {
			const struct rna_subject *x = &search->ports[i], *y = &search->ports[j];

			if (x->place == a && y->place == b && x->card == y->card && x->peer &&
			    y->peer && x->peer->guid && rna_same_text(x->peer->guid, y->peer->guid))
				return true;
		}
	return false;
}

static bool are_apart(const struct search *search, const struct plane *a, const struct plane *b)
{
	const unsigned common = common_bits(&a->address, &b->address);

	return a->model == b->model && a->count == b->count && a->count > 1 && common < a->bits &&
	       common < b->bits && !share_a_switch(search, a->place, b->place);
}

/* Is the place apart from all others on cards of its model, of which there are some? */
static bool is_plane(const struct search *search, const struct planes *planes,
		     const struct plane *plane)
{
	bool any = false;

	for (size_t i = 0; i < planes->count; i++) {
		const struct plane *other = &planes->items[i];

		if (other == plane || other->model != plane->model)
			continue;
		if (!are_apart(search, plane, other))
			return false;
		any = true;
	}
	return any;
}

static const char *name_plane(struct search *search, const struct plane *plane)
{
	unsigned bits = plane->bits;
	struct rna_gid prefix = plane->address;
	char text[INET6_ADDRSTRLEN];
	bool ipv4 = rna_gid_family(&prefix) == RNA_GID_IPV4;

	for (unsigned i = bits; i < GID_BITS; i++)
		prefix.bytes[i / 8] &= (uint8_t) ~(0x80U >> i % 8);
	(void)inet_ntop(ipv4 ? AF_INET : AF_INET6, &prefix.bytes[ipv4 ? IPV4_OFFSET : 0], text,
			sizeof(text));
	return rna_arena_printf(search->arena, "%s/%u", text, ipv4 ? bits - RNA_IPV4_BIT : bits);
}

static int find_planes(struct search *search)
{
	struct planes planes = {0};

	for (size_t i = 0; i < search->port_count; i++) {
		const struct rna_gid *address = plane_address_of(&search->ports[i]);

		if (address)
			add_to_plane(&planes, &search->ports[i], address);
	}
	for (size_t i = 0; i < planes.count; i++) {
		const struct plane *plane = &planes.items[i];
		struct rna_network *network;

		if (!is_plane(search, &planes, plane))
			continue;
		network = add_network(search, name_plane(search, plane), RNA_NETWORK_PLANE);
		if (!network)
			return -ENOMEM;
		for (size_t j = 0; j < search->port_count; j++)
			if (search->ports[j].place == plane->place &&
			    plane_address_of(&search->ports[j]))
				join_network(&search->ports[j], network);
	}
	return 0;
}

/* -- All of it --------------------------------------------------------------------------------- */

static int parse_ranges(char *const *entries, struct rna_arena *arena, struct rna_networks *ret)
{
	size_t count = 0;
	struct rna_network_range *ranges;

	while (entries && entries[count])
		count++;
	ranges = rna_arena_array(arena, count + 1, sizeof(*ranges));
	for (size_t i = 0; ranges && i < count; i++) {
		const char *entry = rna_arena_strdup(arena, entries[i]);

		if (!entry)
			return -ENOMEM;
		ret->range_count += rna_network_range_parse(entry, &ranges[ret->range_count]);
	}
	ret->ranges = ranges;
	return ranges ? 0 : -ENOMEM;
}

int rna_networks_find(struct rna_view *view, struct rna_subject *ports, size_t count,
		      char *const *entries)
{
	struct rna_networks *networks = rna_arena_alloc(view->arena, sizeof(*networks));
	struct search search = {.ports = ports, .port_count = count, .arena = view->arena};
	int status;

	if (!networks || parse_ranges(entries, view->arena, networks) < 0)
		return -ENOMEM;
	search.items = rna_arena_array(view->arena, count + networks->range_count + 1,
				       sizeof(*search.items));
	if (!search.items)
		return -ENOMEM;
	status = find_configured(&search, networks);
	if (status == 0 && networks->range_count == 0)
		status = find_partitions(&search);
	if (status == 0 && networks->range_count == 0)
		status = find_planes(&search);
	networks->items = search.items;
	networks->count = search.count;
	view->networks = networks;
	return status;
}

bool rna_network_uses(const struct rna_subject *port, const struct rna_gid *address)
{
	const struct rna_networks *networks = port->view ? port->view->networks : NULL;
	const struct rna_network *network = port->network;
	bool any = false;

	for (size_t i = 0; network && networks && i < networks->range_count; i++) {
		const struct rna_network_range *range = &networks->ranges[i];

		if (range->bits == 0 || strlen(network->name) != range->len ||
		    strncmp(network->name, range->name, range->len) != 0)
			continue;
		any = true;
		if (rna_network_range_has(range, address))
			return true;
	}
	return !any;
}

const struct rna_pkey *rna_network_pkey(const struct rna_subject *port)
{
	return port->network && port->network->partition > 0
		       ? find_full(port, port->network->partition)
		       : NULL;
}
