// SPDX-License-Identifier: Apache-2.0
/*
 * gateways: the gateways of RoCE interfaces, and whether the kernel's neighbour table knows them;
 * how the host answers for the addresses of these interfaces (ip_stack.c).
 *
 * It is a collector of the node with a period of its own: routes and neighbours change without any
 * change of an interface, and a large routing table must not delay netdev. It looks at the
 * interfaces of ports, at their bonds, and at VLANs on these; a member of a bond has no routes.
 *
 * Without the setting gateways.probe it reads only. With it, it makes the kernel ask for gateways
 * of which there is no fresh answer, and reads the result in its next run: an answer takes some
 * milliseconds, but a failure three to eight seconds (mcast_solicit, ucast_solicit and
 * delay_first_probe_time in Documentation/networking/ip-sysctl.rst).
 */
#include <errno.h>
#include <net/if_arp.h>
#include <string.h>

#include "rna/base/parse.h"

#include "backend/backends.h"

#include "collectors.h"
#include "ip_stack.h"

#define UPPER       "upper_" /* prefix of the upper interfaces in an interface's directory */
#define PROBE_PAUSE (10 * RNA_USEC_PER_SEC)

/* The interfaces to look at, each with the one that it is a VLAN on. */
struct run {
	const struct rna_collect_input *in;
	struct rna_part *part;
	struct rna_arena *scratch;
	size_t count;
	const char *names[RNA_ROUTE_NETDEVS_MAX];
	const char *lowers[RNA_ROUTE_NETDEVS_MAX];
};

static bool is_known(const struct run *run, const char *name)
{
	return RNA_ANY(i, run->count, strcmp(run->names[i], name) == 0);
}

static void add_name(struct run *run, const char *name, const char *lower)
{
	if (run->count == RNA_ROUTE_NETDEVS_MAX || is_known(run, name))
		return;
	run->names[run->count] = name;
	run->lowers[run->count++] = lower;
}

/* -ENOMEM or 0. A bond or a macvlan above an interface is none. */
static int add_vlans(struct run *run, const char *netdev)
{
	const char *directory = rna_arena_printf(run->scratch, "sys/class/net/%s", netdev);
	char **names;
	ssize_t count =
		directory ? rna_root_list(run->in->root, directory, run->scratch, &names) : -ENOMEM;

	for (ssize_t i = 0; i < count && run->count < RNA_ROUTE_NETDEVS_MAX; i++) {
		struct rna_qos_vlan vlan;
		const char *name;

		if (strncmp(names[i], UPPER, strlen(UPPER)) != 0)
			continue;
		name = names[i] + strlen(UPPER);
		if (run->in->backends->netdev->read_vlan(run->in->root, name, &vlan) == 0)
			add_name(run, name, netdev);
	}
	return count == -ENOMEM ? -ENOMEM : 0;
}

/* Interfaces that are down have no routes; representors stand for those of virtual machines. */
static bool is_wanted(const struct run *run, const struct rna_netdev *netdev)
{
	const struct rna_netdev *bond = rna_netdevs_bond_of(run->in->netdevs, netdev);

	return netdev->type == ARPHRD_ETHER && netdev->admin_up && !netdev->representor &&
	       (!bond || bond == netdev);
}

static int find_names(struct run *run)
{
	const struct rna_netdevs *netdevs = run->in->netdevs;
	int status = 0;

	for (size_t i = 0; netdevs && i < netdevs->count; i++)
		if (is_wanted(run, &netdevs->netdevs[i]))
			add_name(run, netdevs->netdevs[i].name, netdevs->netdevs[i].name);
	for (size_t i = 0; netdevs && i < netdevs->count && status == 0; i++)
		if (is_wanted(run, &netdevs->netdevs[i]))
			status = add_vlans(run, netdevs->netdevs[i].name);
	return status;
}

static const char *find_lower(const struct run *run, const char *name)
{
	for (size_t i = 0; i < run->count; i++)
		if (strcmp(run->names[i], name) == 0)
			return run->lowers[i];
	return name;
}

static int compare(const void *a, const void *b)
{
	const struct rna_gateway *x = a, *y = b;
	int order = rna_compare_names(x->netdev, y->netdev);

	return order ? order : memcmp(x->address.bytes, y->address.bytes, sizeof(x->address.bytes));
}

/* The same gateway in the previous run, or NULL. */
static const struct rna_gateway *find_before(const struct run *run,
					     const struct rna_gateway *gateway)
{
	const struct rna_gateways *before = (const void *)run->in->previous;

	return RNA_FIND(i, before->items, before ? before->count : 0,
			strcmp(before->items[i].netdev, gateway->netdev) == 0 &&
				rna_gid_is_same(&before->items[i].address, &gateway->address));
}

static bool is_in(const struct rna_gateway *gateway, unsigned states)
{
	return rna_value_is_known(gateway->state) && gateway->state.number & states;
}

/*
 * A failed entry may vanish: the kernel drops it as soon as its table has 128 entries
 * (neigh_periodic_work()). That is no answer, so the failure is remembered.
 */
static void follow(const struct run *run, struct rna_gateway *gateway)
{
	const struct rna_gateway *before = find_before(run, gateway);
	rna_usec now = run->part->started.monotonic;
	bool fails = is_in(gateway, RNA_NEIGHBOUR_FAILED | RNA_NEIGHBOUR_INCOMPLETE);
	bool answers = !fails && rna_value_is_known(gateway->state) &&
		       gateway->state.number != RNA_NEIGHBOUR_NONE;

	gateway->probed = before ? before->probed : 0;
	if (before && !answers) {
		gateway->failing_first = before->failing_first;
		gateway->failing_last = before->failing_last;
	}
	if (!fails)
		return;
	gateway->failing_last = now;
	if (!gateway->failing_first)
		gateway->failing_first = now;
}

/* States that a datagram changes; in the others the kernel is asking, or needs no answer. */
static void probe(const struct run *run, struct rna_gateway *gateway)
{
	rna_usec now = run->part->started.monotonic;
	bool ripe =
		is_in(gateway, RNA_NEIGHBOUR_STALE | RNA_NEIGHBOUR_FAILED) ||
		(rna_value_is_known(gateway->state) && gateway->state.number == RNA_NEIGHBOUR_NONE);

	if (!ripe || (gateway->probed && rna_usec_since(gateway->probed, now) < PROBE_PAUSE))
		return;
	gateway->probed = now;
	(void)run->in->backends->gateways->probe(run->in->root, gateway); /* the state tells */
}

/* A kernel that refuses the question about addresses still answers those about gateways. */
static int read_host(struct run *run, struct rna_gateways *gateways)
{
	const struct rna_gateways *before = (const void *)run->in->previous;
	const struct rna_host_network_request request = {
		.in = run->in,
		.netdevs = run->names,
		.count = run->count,
		.before = before ? &before->host : NULL,
		.now = run->part->started.monotonic,
		.scratch = run->scratch,
		.keep = run->part->arena,
	};
	int status = rna_read_host_network(&request, &gateways->host);

	if (status < 0 && status != -ENOMEM)
		rna_part_count_error(run->part, status);
	return status == -ENOMEM ? status : 0;
}

static int read_all(struct run *run, struct rna_gateways *gateways)
{
	struct rna_gateway_list found = {0};
	int status = find_names(run);

	if (status == 0 && run->count > 0)
		status = run->in->backends->gateways->list(run->in->root, run->names, run->count,
							   run->part->arena, &found);
	for (size_t i = 0; status == 0 && i < found.count; i++) {
		struct rna_gateway *gateway = &found.items[i];

		gateway->lower =
			rna_arena_strdup(run->part->arena, find_lower(run, gateway->netdev));
		if (!gateway->lower)
			return -ENOMEM;
		if (!rna_value_is_known(gateway->state))
			rna_part_count_error(run->part, EIO);
		follow(run, gateway);
		if (run->in->options.probe_gateways)
			probe(run, gateway);
	}
	if (status == 0)
		status = read_host(run, gateways);
	if (status < 0)
		return status;
	if (found.count > 0)
		qsort(found.items, found.count, sizeof(*found.items), compare);
	gateways->items = found.items;
	gateways->count = found.count;
	return 0;
}

RNA_DEFINE_COLLECT(gateways, GATEWAYS, struct rna_gateways, 4096, 4096,
		   "cannot read routes and neighbours",
		   read_all(&(struct run){.in = in, .part = &part->part, .scratch = scratch}, part))
