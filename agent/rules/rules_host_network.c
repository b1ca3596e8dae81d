// SPDX-License-Identifier: Apache-2.0
/*
 * Rules about the IP stack of the host: ARP for rails in one subnet, and tables of neighbours.
 * rna/model/host_network.h says how the kernel behaves.
 *
 * Several rails in one subnet are common, and work if the host is configured for it:
 *   - "To make use of multiple interfaces [...] instruct linux to only send ARP replies on the
 *     interface targetted" (README of librdmacm); libfabric's wiki, "Verbs Provider on Multi-NIC
 *     Systems": connections are rejected or hang; ROCm/rccl#1303, NVIDIA/nccl#1109, #1269; AMD,
 *     "RoCE cluster network configuration guide" (ARP flux);
 *   - clouds that have one subnet set it: oci-hpc, playbooks/roles/rdma-interface/tasks/el.yml
 *     (arp_ignore 2, rp_filter 2).
 */
#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/gateways.h"

#include "rules.h"

/* -- Rails in one subnet ----------------------------------------------------------------------- */

enum { ARP_IGNORE_FOREIGN = 1, ARP_IGNORE_FOREIGN_SENDER = 2, ARP_IGNORE_ALL = 8 };
enum { RP_FILTER_STRICT = 1 };
enum { ARP_ANNOUNCE_BEST = 2 };

/* What is wrong with a subnet, the least first. */
enum trouble { NO_TROUBLE, LEAVES_ASTRAY, ANSWERED_BY_ANOTHER, NOT_ANSWERED };

struct verdict {
	enum trouble trouble;
	const struct rna_rail_address *address;   /* the first one that has the trouble */
	const struct rna_rail_address *interface; /* that answers for it, or does not */
};

static bool is_known(const struct rna_rail_address *address)
{
	return address->leaves_by && rna_value_is_known(address->arp_ignore) &&
	       rna_value_is_known(address->arp_announce) &&
	       rna_value_is_known(address->arp_filter) && rna_value_is_known(address->rp_filter);
}

static bool on_one_interface(const struct rna_rail_address *a, const struct rna_rail_address *b)
{
	return strcmp(a->netdev, b->netdev) == 0;
}

static bool in_one_subnet(const struct rna_rail_address *a, const struct rna_rail_address *b)
{
	return rna_value_is_known(a->prefix_length) && rna_value_is_known(b->prefix_length) &&
	       a->prefix_length.number == b->prefix_length.number &&
	       rna_gid_is_same(&a->subnet, &b->subnet);
}

/*
 * Does the kernel answer a request for address that an interface receives? Strict filtering of the
 * reverse path and arp_filter both compare the interface with the one by which a packet from
 * address to the asking host would leave (arp_process(), arp_ignore() and arp_filter() in
 * net/ipv4/arp.c).
 */
static bool answers(const struct rna_rail_address *interface,
		    const struct rna_rail_address *address)
{
	const uint64_t ignore = interface->arp_ignore.number;
	bool compared =
		interface->rp_filter.number == RP_FILTER_STRICT || interface->arp_filter.number > 0;

	if (ignore == ARP_IGNORE_ALL)
		return false;
	if ((ignore == ARP_IGNORE_FOREIGN || ignore == ARP_IGNORE_FOREIGN_SENDER) &&
	    !on_one_interface(interface, address))
		return false;
	return !compared || strcmp(address->leaves_by, interface->netdev) == 0;
}

static void note(struct verdict *verdict, enum trouble trouble,
		 const struct rna_rail_address *address, const struct rna_rail_address *interface)
{
	if (trouble > verdict->trouble)
		*verdict = (struct verdict){trouble, address, interface};
}

/* Looks at one address of a subnet and at the interfaces that receive requests for it. */
static void judge(const struct rna_host_network *host, const struct rna_rail_address *address,
		  struct verdict *verdict)
{
	if (!is_known(address))
		return;
	if (!answers(address, address))
		note(verdict, NOT_ANSWERED, address, address);
	if (strcmp(address->leaves_by, address->netdev) != 0)
		note(verdict, LEAVES_ASTRAY, address, address);
	RNA_EACH (other, host->addresses, host->address_count)
		if (in_one_subnet(other, address) && !on_one_interface(other, address) &&
		    is_known(other) && answers(other, address))
			note(verdict, ANSWERED_BY_ANOTHER, address, other);
}

/* Addresses are in the order of interfaces. */
static size_t count_interfaces(const struct rna_host_network *host,
			       const struct rna_rail_address *like)
{
	const struct rna_rail_address *last = NULL;
	size_t count = 0;

	RNA_EACH (address, host->addresses, host->address_count) {
		if (!in_one_subnet(address, like))
			continue;
		count += !last || !on_one_interface(last, address);
		last = address;
	}
	return count;
}

static const char *why_silent(const struct rna_rail_address *interface)
{
	if (interface->arp_ignore.number == ARP_IGNORE_ALL)
		return "arp_ignore is 8";
	return interface->rp_filter.number == RP_FILTER_STRICT ? "rp_filter is 1"
							       : "arp_filter is 1";
}

static const char *say_trouble(const struct verdict *verdict, struct rna_arena *arena)
{
	const struct rna_rail_address *address = verdict->address, *other = verdict->interface;

	switch (verdict->trouble) {
	case NOT_ANSWERED:
		return rna_arena_printf(
			arena,
			"%s does not answer ARP requests for its own address %s (%s, and packets "
			"from there leave by %s): no peer reaches it",
			address->netdev, address->text, why_silent(other), address->leaves_by);
	case ANSWERED_BY_ANOTHER:
		return rna_arena_printf(
			arena,
			"%s answers ARP requests for %s, the address of %s (arp_ignore is %ju): "
			"peers may send RDMA packets to the wrong NIC, which drops them",
			other->netdev, address->text, address->netdev,
			(uintmax_t)other->arp_ignore.number);
	default:
		return rna_arena_printf(
			arena,
			"packets of sockets from %s leave by %s instead of %s%s. RDMA is not "
			"affected, it names its interface",
			address->text, address->leaves_by, address->netdev,
			address->arp_announce.number < ARP_ANNOUNCE_BEST
				? ", and their ARP requests teach peers the wrong link-layer "
				  "address (arp_announce is less than 2)"
				: "");
	}
}

/*
 * The network of a cloud usually answers ARP itself, and no request reaches the guest: the settings
 * then have no effect.
 */
static bool is_guest(const struct rna_rule_input *in)
{
	const struct rna_readiness *readiness = rna_snapshot_readiness(in->view->snapshot);

	return readiness && rna_value_is_known(readiness->virtual_machine) &&
	       readiness->virtual_machine.number;
}

/* One finding per node, about the worst: all rails are usually configured alike. */
static void check_rails_share_subnet(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_gateways *part = rna_snapshot_gateways(in->view->snapshot);
	struct verdict verdict = {0};
	struct rna_finding *found;
	char subnet[RNA_ADDRESS_TEXT_MAX];
	const char *text;

	for (size_t i = 0; part && i < part->host.address_count; i++)
		judge(&part->host, &part->host.addresses[i], &verdict);
	if (verdict.trouble == NO_TROUBLE)
		return;
	rna_address_format(&verdict.address->subnet, subnet);
	text = say_trouble(&verdict, out->arena);
	found = rna_finds_add(out, "%zu RoCE interfaces are in the subnet %s/%ju, and %s",
			      count_interfaces(&part->host, verdict.address), subnet,
			      (uintmax_t)verdict.address->prefix_length.number, text ? text : "?");
	if (verdict.trouble == LEAVES_ASTRAY || is_guest(in))
		found->severity = RNA_SEVERITY_INFO;
	if (verdict.trouble != LEAVES_ASTRAY)
		return;
	found->remedy = "No action required if only RDMA uses these interfaces. Otherwise add a "
			"routing rule and a table for each address (ip rule add from ADDRESS table "
			"N), and set arp_announce of these interfaces to 2.";
}

const struct rna_rule rna_rule_rails_share_subnet = {
	RNA_RULE_ROW("rails-share-subnet", NODE, WARNING, HOST, HOST, NOT_READY),
	.hold = "90s", /* two readings */
	.help = "RoCE interfaces have addresses in one IPv4 subnet, and the kernel answers "
		"ARP requests for an address by the interface of another one, or not at "
		"all. Severity info if only packets of sockets leave by another interface "
		"than that of their address, and in a virtual machine, whose network may "
		"answer ARP itself.",
	.check = check_rails_share_subnet,
	.remedy = "Give each rail a subnet of its own. Or set, in net.ipv4.conf of each of "
		  "these interfaces, arp_ignore to 1 or 2, arp_announce to 2 and rp_filter "
		  "to 2, and add a routing rule and a table for each address (ip rule add "
		  "from ADDRESS table N). If the rails are networks without a connection "
		  "among each other, add rails-share-subnet to health.disable.",
	.message_id = "95572981c19646cfbbc919a49a343766",
};

/* -- Tables of neighbours ---------------------------------------------------------------------- */

#define OVERFLOW_FRESH (15 * 60 * RNA_USEC_PER_SEC)

/*
 * The kernel refuses an entry if there are gc_thresh3 of them and none can be dropped at once
 * (neigh_alloc() in net/core/neighbour.c, Linux 6.12). Permanent entries and those of routing
 * daemons count in entries and not towards the limit, so that a full table alone is no finding.
 */
static bool overflows(const struct rna_neighbour_table *table, rna_usec now)
{
	if (table->overflowed && rna_usec_since(table->overflowed, now) <= OVERFLOW_FRESH)
		return true;
	return rna_value_is_known(table->overflows) && table->overflows.number > 0 &&
	       rna_value_is_known(table->entries) && rna_value_is_known(table->limit) &&
	       table->entries.number >= table->limit.number;
}

static void check_neighbour_table_full(const struct rna_rule_input *in, struct rna_finds *out)
{
	static const char *const versions[] = {[RNA_GID_IPV4] = "IPv4", [RNA_GID_IPV6] = "IPv6"};
	const struct rna_gateways *part = rna_snapshot_gateways(in->view->snapshot);
	const char *text = NULL;

	for (enum rna_gid_family i = 0; part && i < RNA_GID_FAMILY_COUNT; i++) {
		const struct rna_neighbour_table *table = &part->host.tables[i];

		if (overflows(table, part->part.started.monotonic))
			text = rna_arena_printf(
				out->arena,
				"%s%sthe table of %s neighbours has %ju entries of at most %ju, "
				"and refused %ju since boot",
				text ? text : "", text ? "; " : "", versions[i],
				(uintmax_t)table->entries.number, (uintmax_t)table->limit.number,
				(uintmax_t)table->overflows.number);
	}
	if (text)
		(void)rna_finds_add(out, "%s: connections to new peers fail", text);
}

const struct rna_rule rna_rule_neighbour_table_full = {
	RNA_RULE_ROW("neighbour-table-full", NODE, WARNING, HOST, HOST, NOT_READY),
	.help = "The kernel's table of neighbours (ARP, neighbour discovery) refused an "
		"entry within the last quarter of an hour, or refused entries since boot "
		"and is full now. Connections to new peers fail.",
	.check = check_neighbour_table_full,
	.remedy = "Raise net.ipv4.neigh.default.gc_thresh2 and gc_thresh3 (of IPv6: "
		  "net.ipv6.neigh.default) beyond the number of peers and pods that the "
		  "node talks to, for example to 8192 and 16384, in the host's network "
		  "namespace (sysctl, /etc/sysctl.d).",
	.message_id = "60124e6ceb464aa8a33dc4ed0985d75c",
};
