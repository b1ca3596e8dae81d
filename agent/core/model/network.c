// SPDX-License-Identifier: Apache-2.0
/*
 * Which ports of this node belong to one network. What an administrator configured comes first.
 * Otherwise ports of InfiniBand are together if they share subnet and partition: the one of which
 * most are full members, because limited members cannot communicate with each other (IBTA 10.9.3).
 * Ports of RoCE are together, unless their addresses look like planes: then the ports in one place
 * of all cards have addresses that share more bits than those of two places do; or unless something
 * shows that they are apart (reach.h).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/fabric.h"
#include "rna/model/gateways.h"
#include "rna/model/subject.h"

#include "reach.h"

enum { IPV4_OFFSET = 12 }; /* of the address in an IPv4-mapped GID */

/* -- Ranges ------------------------------------------------------------------------------------ */

static struct rna_gid mask(const struct rna_gid *address, unsigned bits)
{
	struct rna_gid ret = *address;

	for (unsigned i = bits; i < RNA_GID_BITS; i++)
		ret.bytes[i / 8] &= (uint8_t) ~(0x80U >> i % 8);
	return ret;
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
	    bits > RNA_GID_BITS - offset ||
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
	return range->bits > 0 && rna_gid_common_bits(&range->address, address) >= range->bits;
}

/* -- What a port has --------------------------------------------------------------------------- */

static const struct rna_pkey *find_full(const struct rna_subject *port, uint16_t partition)
{
	const struct rna_port_fabric *fabric = port->fabric;

	return RNA_FIND(i, fabric->pkeys, fabric ? fabric->pkey_count : 0,
			fabric->pkeys[i].full && fabric->pkeys[i].key == partition);
}

static bool is_infiniband(const struct rna_subject *port)
{
	return port->link_layer == RNA_LINK_LAYER_INFINIBAND && rna_subject_is_active(port);
}

/* Is it a port that has others in its place on the cards of its model, all of them rails? */
static bool is_placed(const struct rna_subject *port)
{
	return port->rail && port->place > 0 && rna_subject_is_active_roce(port);
}

/*
 * Is it one by which other nodes reach the port: of its network, if that is configured, else of
 * what the ports in its place share?
 */
static bool uses(const struct rna_networks *networks, const struct rna_subject *port,
		 const struct rna_gid *address)
{
	const struct rna_network *network = port->network;
	bool any = false;

	for (size_t i = 0; i < networks->range_count + networks->shared_count; i++) {
		const struct rna_network_range *range = &networks->ranges[i];

		if (i < networks->range_count
			    ? !network || range->bits == 0 || strlen(network->name) != range->len ||
				      strncmp(network->name, range->name, range->len) != 0
			    : range->place != port->place ||
				      rna_gid_family(&range->address) != rna_gid_family(address))
			continue;
		any = true;
		if (rna_network_range_has(range, address))
			return true;
	}
	return !any;
}

/* The first address of RoCE by which other nodes reach it. NULL: none is known. */
static const struct rna_gid *address_of(const struct rna_networks *networks,
					const struct rna_subject *port)
{
	for (size_t i = 0; port->gids && i < port->gids->count; i++) {
		const struct rna_gid_entry *entry = &port->gids->entries[i];

		if (rna_gid_is_routable(entry) && uses(networks, port, &entry->gid))
			return &entry->gid;
	}
	return NULL;
}

/* -- Adding networks --------------------------------------------------------------------------- */

struct search {
	struct rna_subject *ports;
	size_t port_count;
	struct rna_arena *arena;
	struct rna_networks *networks;
	struct rna_network_range *ranges; /* those of networks */
	struct rna_network *items;        /* room for one more than there are ports and ranges */
	size_t count;
};

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
	return RNA_ANY(i, port->gids ? port->gids->count : 0,
		       rna_gid_is_routable(&port->gids->entries[i]) &&
			       rna_network_range_has(range, &port->gids->entries[i].gid));
}

static struct rna_network *find_named(struct search *search, const struct rna_network_range *range)
{
	for (size_t i = 0; i < search->count; i++)
		if (strlen(search->items[i].name) == range->len &&
		    strncmp(search->items[i].name, range->name, range->len) == 0)
			return &search->items[i];
	search->items[search->count] = (struct rna_network){
		.name = rna_arena_printf(search->arena, "%.*s", (int)range->len, range->name),
		.source = RNA_NETWORK_CONFIGURED,
	};
	return search->items[search->count].name ? &search->items[search->count++] : NULL;
}

static int find_configured(struct search *search)
{
	const struct rna_networks *networks = search->networks;

	RNA_EACH (range, networks->ranges, networks->range_count) {
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

/* -- Several addresses ------------------------------------------------------------------------- */

enum { ADDRESSES_MAX = 8 }; /* of a port; those of a host with more are not compared */

/* What the addresses of ports in one place share with one of them. */
struct shared {
	unsigned inside;  /* bits that one of each port has as well */
	unsigned outside; /* the most bits that another of any port has */
	bool rivals;      /* has any port another one of the family? */
};

static void compare_addresses(const struct rna_subject *port, const struct rna_gid *address,
			      struct shared *shared)
{
	unsigned most = 0, next = 0;
	size_t count = 0;

	RNA_EACH (entry, port->gids->entries, port->gids->count) {
		unsigned bits = rna_gid_common_bits(&entry->gid, address);

		if (!rna_gid_is_routable(entry) ||
		    rna_gid_family(&entry->gid) != rna_gid_family(address))
			continue;
		count++;
		if (bits > most) {
			next = most;
			most = bits;
		} else if (bits > next) {
			next = bits;
		}
	}
	if (count > ADDRESSES_MAX)
		most = 0;
	shared->rivals |= count > 1;
	shared->inside = most < shared->inside ? most : shared->inside;
	shared->outside = next > shared->outside ? next : shared->outside;
}

/* A prefix that has one address of each port in the place of that one, and no other. */
static bool find_prefix(const struct search *search, const struct rna_subject *of,
			const struct rna_gid *address, struct rna_network_range *ret)
{
	struct shared shared = {.inside = RNA_GID_BITS};
	unsigned bits;

	for (size_t i = 0; i < search->port_count; i++)
		if (is_placed(&search->ports[i]) && search->ports[i].place == of->place &&
		    search->ports[i].gids)
			compare_addresses(&search->ports[i], address, &shared);
	if (!shared.rivals || shared.inside <= shared.outside)
		return false;
	/* a short one fits other nodes as well */
	bits = (shared.outside + 8) / 8 * 8;
	bits = bits < shared.inside ? bits : shared.inside;
	*ret = (struct rna_network_range){.name = "", .bits = bits, .place = of->place};
	ret->address = mask(address, bits);
	return true;
}

static bool is_first_of_place(const struct search *search, const struct rna_subject *port)
{
	if (!is_placed(port) || !port->gids)
		return false;
	for (const struct rna_subject *other = search->ports; other < port; other++)
		if (other->place == port->place && is_placed(other) && other->gids)
			return false;
	return true;
}

/*
 * What all ports in one place share, where that decides which address is that of the fabric: of two
 * such prefixes neither is better. Other addresses are of storage, say.
 */
static void find_shared(struct search *search, const struct rna_subject *port)
{
	struct rna_network_range found[RNA_GID_FAMILY_COUNT];
	size_t counts[RNA_GID_FAMILY_COUNT] = {0};

	RNA_EACH (entry, port->gids->entries, port->gids->count) {
		enum rna_gid_family family = rna_gid_family(&entry->gid);

		if (rna_gid_is_routable(entry))
			counts[family] += find_prefix(search, port, &entry->gid, &found[family]);
	}
	for (size_t i = 0; i < RNA_GID_FAMILY_COUNT; i++)
		if (counts[i] == 1)
			search->ranges[search->networks->shared_count++] = found[i];
}

/* -- Partitions -------------------------------------------------------------------------------- */

static bool is_one_subnet(const struct rna_subject *a, const struct rna_subject *b)
{
	return rna_reach_of(a, b, NULL) != RNA_REACH_APART;
}

static size_t count_members(const struct search *search, const struct rna_subject *of,
			    uint16_t partition)
{
	size_t count = 0;

	RNA_EACH (port, search->ports, search->port_count) {
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

static bool begins_partition(struct search *search, const struct rna_subject *port,
			     struct rna_network *ret)
{
	ret->partition = is_infiniband(port) ? find_largest(search, port) : 0;
	if (ret->partition > 0)
		ret->name = rna_arena_printf(search->arena, "partition 0x%04x", ret->partition);
	return ret->partition > 0;
}

static bool is_of_partition(const struct search *search, const struct rna_network *network,
			    const struct rna_subject *first, const struct rna_subject *port)
{
	(void)search;
	return is_infiniband(port) && is_one_subnet(first, port) &&
	       find_full(port, network->partition);
}

/* -- Planes ------------------------------------------------------------------------------------ */

/* Can the port be one of a plane? */
static const struct rna_gid *plane_address_of(const struct search *search,
					      const struct rna_subject *port)
{
	return is_placed(port) && port->card ? address_of(search->networks, port) : NULL;
}

/* The bits that addresses in its place share, and their number. */
static unsigned share_bits(const struct search *search, const struct rna_subject *port,
			   size_t *ret_count)
{
	const struct rna_gid *address = plane_address_of(search, port);
	unsigned ret = RNA_GID_BITS;

	*ret_count = 0;
	for (size_t i = 0; i < search->port_count; i++) {
		const struct rna_gid *other = search->ports[i].place == port->place
						      ? plane_address_of(search, &search->ports[i])
						      : NULL;
		unsigned bits = other ? rna_gid_common_bits(address, other) : RNA_GID_BITS;

		*ret_count += other != NULL;
		ret = bits < ret ? bits : ret;
	}
	return ret;
}

/* Do both lead to one switch, as far as LLDP tells, or reach each other? Then they are no planes.
 */
static bool are_connected(const struct rna_subject *a, const struct rna_subject *b)
{
	return (a->card == b->card && a->peer && b->peer && a->peer->guid &&
		rna_same_text(a->peer->guid, b->peer->guid)) ||
	       rna_reach_of(a, b, NULL) == RNA_REACH_TOGETHER;
}

/* Is the place apart from all others on cards of its model, of which there are some? */
static bool is_plane(const struct search *search, const struct rna_subject *port)
{
	const struct rna_gid *address = plane_address_of(search, port), *other;
	size_t count, others, apart = 0;
	unsigned bits = share_bits(search, port, &count);

	RNA_EACH (to, search->ports, search->port_count) {
		unsigned common;

		if (to->model != port->model || to->place == port->place ||
		    !(other = plane_address_of(search, to)))
			continue;
		common = rna_gid_common_bits(address, other);
		if (common >= bits || common >= share_bits(search, to, &others) || others != count)
			return false;
		for (size_t j = 0; j < search->port_count; j++)
			if (search->ports[j].place == port->place &&
			    are_connected(&search->ports[j], to))
				return false;
		apart++;
	}
	return apart > 0 && count > 1;
}

static bool begins_plane(struct search *search, const struct rna_subject *port,
			 struct rna_network *ret)
{
	const struct rna_gid *address = plane_address_of(search, port);
	char text[RNA_ADDRESS_TEXT_MAX];
	struct rna_gid prefix;
	unsigned bits;
	size_t count;

	if (!address || !is_plane(search, port))
		return false;
	bits = share_bits(search, port, &count);
	prefix = mask(address, bits);
	rna_address_format(&prefix, text);
	ret->name = rna_arena_printf(search->arena, "%s/%u", text,
				     rna_gid_family(&prefix) == RNA_GID_IPV4 ? bits - RNA_IPV4_BIT
									     : bits);
	return true;
}

static bool is_of_plane(const struct search *search, const struct rna_network *network,
			const struct rna_subject *first, const struct rna_subject *port)
{
	(void)network;
	return port->place == first->place && plane_address_of(search, port);
}

/* -- Ports that are apart ---------------------------------------------------------------------- */

static bool begins_segment(struct search *search, const struct rna_subject *port,
			   struct rna_network *ret)
{
	const uint64_t vlan = rna_reach_vlan(port);
	bool apart = false;

	if (!rna_subject_is_active_roce(port) || !rna_reach_is_told(port))
		return false;
	for (size_t i = 0; i < search->port_count && !apart; i++)
		apart = rna_subject_is_active_roce(&search->ports[i]) &&
			rna_reach_of(port, &search->ports[i], NULL) == RNA_REACH_APART;
	if (apart && vlan)
		ret->name = rna_arena_printf(search->arena, "VLAN %u", (unsigned)vlan);
	else if (apart)
		ret->name = rna_arena_printf(search->arena, "that of %s/%u",
					     port->device->device->name, port->port);
	return apart;
}

static bool is_of_segment(const struct search *search, const struct rna_network *network,
			  const struct rna_subject *first, const struct rna_subject *port)
{
	(void)search, (void)network;
	return port == first || (rna_subject_is_active_roce(port) &&
				 rna_reach_of(first, port, NULL) == RNA_REACH_TOGETHER);
}

/* -- All of it --------------------------------------------------------------------------------- */

/* The first row by which a port belongs to a network decides. */
static const struct row {
	enum rna_network_source source;
	/* Does the port begin a network? Then it gets a name; NULL: there was no memory. */
	bool (*begins)(struct search *search, const struct rna_subject *port,
		       struct rna_network *ret);
	bool (*has)(const struct search *search, const struct rna_network *network,
		    const struct rna_subject *first, const struct rna_subject *port);
} rows[] = {
	{RNA_NETWORK_PARTITION, begins_partition, is_of_partition},
	{RNA_NETWORK_PLANE, begins_plane, is_of_plane},
	{RNA_NETWORK_SEGMENT, begins_segment, is_of_segment},
};

static int find_row(struct search *search, const struct row *row)
{
	for (size_t i = 0; i < search->port_count; i++) {
		const struct rna_subject *first = &search->ports[i];
		struct rna_network *network = &search->items[search->count];

		*network = (struct rna_network){.source = row->source};
		if (first->network || !row->begins(search, first, network))
			continue;
		if (!network->name)
			return -ENOMEM;
		search->count++;
		for (size_t j = i; j < search->port_count; j++)
			if (!search->ports[j].network &&
			    row->has(search, network, first, &search->ports[j]))
				join_network(&search->ports[j], network);
	}
	return 0;
}

static int find_unconfigured(struct search *search)
{
	int status = 0;

	for (size_t i = 0; i < search->port_count; i++)
		if (is_first_of_place(search, &search->ports[i]))
			find_shared(search, &search->ports[i]);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(rows) && status == 0; i++)
		status = find_row(search, &rows[i]);
	return status;
}

/* Those of the configuration; room: for others behind them. */
static int parse_ranges(struct search *search, char *const *entries, size_t room)
{
	size_t count = 0;

	while (entries && entries[count])
		count++;
	search->ranges = rna_arena_array(search->arena, count + room, sizeof(*search->ranges));
	for (size_t i = 0; search->ranges && i < count; i++) {
		const char *entry = rna_arena_strdup(search->arena, entries[i]);

		if (!entry)
			return -ENOMEM;
		search->networks->range_count +=
			rna_network_range_parse(entry,
						&search->ranges[search->networks->range_count]);
	}
	search->networks->ranges = search->ranges;
	return search->ranges ? 0 : -ENOMEM;
}

int rna_networks_find(struct rna_view *view, struct rna_subject *ports, size_t count,
		      char *const *entries)
{
	struct rna_networks *networks = rna_arena_alloc(view->arena, sizeof(*networks));
	struct search search = {.ports = ports,
				.port_count = count,
				.arena = view->arena,
				.networks = networks};
	int status;

	if (!networks || parse_ranges(&search, entries, RNA_GID_FAMILY_COUNT * count + 1) < 0)
		return -ENOMEM;
	search.items = rna_arena_array(view->arena, count + networks->range_count + 1,
				       sizeof(*search.items));
	if (!search.items)
		return -ENOMEM;
	status = networks->range_count > 0 ? find_configured(&search) : find_unconfigured(&search);
	networks->items = search.items;
	networks->count = search.count;
	view->networks = networks;
	return status;
}

bool rna_network_uses(const struct rna_subject *port, const struct rna_gid *address)
{
	return !port->view->networks || uses(port->view->networks, port, address);
}

const struct rna_network_evidence *rna_network_apart(const struct rna_subject *a,
						     const struct rna_subject *b)
{
	static const struct rna_network_evidence of[] = {
		[RNA_NETWORK_CONFIGURED] = {"fabric.networks", NULL},
		[RNA_NETWORK_PARTITION] = {"both are full members of no partition", NULL},
		[RNA_NETWORK_PLANE] = {"by their addresses ports are of planes",
				       "if the fabric does not connect them, set fabric.networks"},
		[RNA_NETWORK_SEGMENT] = {"some of these do not reach each other",
					 "if that holds for others, set fabric.networks"},
	};
	const struct rna_network_evidence *ret = NULL;

	if (a->network->source != RNA_NETWORK_CONFIGURED)
		(void)rna_reach_of(a, b, &ret);
	return ret ? ret : &of[a->network->source];
}

const struct rna_pkey *rna_network_pkey(const struct rna_subject *port)
{
	return port->network && port->network->partition > 0
		       ? find_full(port, port->network->partition)
		       : NULL;
}
