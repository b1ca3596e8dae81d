// SPDX-License-Identifier: Apache-2.0
/*
 * The environment that NCCL needs on this node, derived from a view. A variable is set only if NCCL
 * would perform worse without it. Each has a reason; what no variable can solve is a warning.
 */
#include "rna/model/nccl.h"

#include <errno.h>
#include <string.h>

#include "rna/model/card.h"

#include "view/facts.h"

#include "nccl_ports.h"
#include "nccl_qos.h"

enum {
	VARIABLES_MAX = 16,
	PORTS_MAX = 32, /* MAX_IB_DEVS of NCCL */
	VENDOR_NVIDIA = 0x10de,
	WARNINGS_OF_A_PORT = 9, /* one of each kind */
	OTHER_WARNINGS_MAX = 9,
};

struct advising {
	const struct rna_view *view;
	const struct rna_nccl_environment *given;
	struct rna_nccl_ports ports;
	struct rna_arena *arena;
	struct rna_nccl_variable *variables;
	size_t variable_count;
	const char **warnings;
	size_t warning_count;
	bool failed; /* no memory */
};

/* value and reason: in the arena; NULL if it had no memory. */
static void set_variable(struct advising *advising, const char *name, const char *value,
			 const char *reason)
{
	if (value && reason)
		advising->variables[advising->variable_count++] =
			(struct rna_nccl_variable){name, value, reason};
	else
		advising->failed = true;
}

static void warn(struct advising *advising, const char *text)
{
	if (text)
		advising->warnings[advising->warning_count++] = text;
	else
		advising->failed = true;
}

#define WARN(advising, ...) warn(advising, rna_arena_printf((advising)->arena, __VA_ARGS__))

static const char *name_of(struct advising *advising, const struct rna_subject *port)
{
	const char *name = rna_nccl_port_name(port, advising->arena);

	advising->failed |= !name;
	return name ? name : "";
}

static const char *copy(struct advising *advising, const struct rna_strbuf *text)
{
	return rna_strbuf_ok(text) && text->data ? rna_arena_strdup(advising->arena, text->data)
						 : NULL;
}

/* -- NCCL_IB_HCA ------------------------------------------------------------------------------- */

static const char *why_these_ports(struct advising *advising)
{
	const struct rna_nccl_ports *ports = &advising->ports;
	bool infiniband = ports->items[0]->link_layer == RNA_LINK_LAYER_INFINIBAND;

	return rna_arena_printf(advising->arena, "%zu ACTIVE port%s of %s; %s", ports->count,
				ports->count == 1 ? "" : "s", infiniband ? "InfiniBand" : "RoCE",
				ports->why);
}

static void choose_ports(struct advising *advising)
{
	const struct rna_nccl_ports *ports = &advising->ports;
	RNA_STRBUF struct rna_strbuf list = RNA_STRBUF_INIT;

	for (size_t i = 0; i < ports->count && i < PORTS_MAX; i++)
		rna_strbuf_printf(&list, "%c%s:%u", i == 0 ? '=' : ',',
				  ports->items[i]->device->device->name, ports->items[i]->port);
	set_variable(advising, "NCCL_IB_HCA", copy(advising, &list), why_these_ports(advising));
	if (ports->count > PORTS_MAX)
		WARN(advising, "NCCL uses %d ports at most: %zu are too many", PORTS_MAX,
		     ports->count - PORTS_MAX);
}

/* -- GIDs -------------------------------------------------------------------------------------- */

/* Settings by which NCCL chooses its GIDs. */
struct gid_choice {
	struct rna_nccl_settings settings;
	size_t served; /* ports for which NCCL then selects a routable GID of RoCE v2 */
};

static bool is_routable(const struct rna_gid_entry *entry)
{
	return entry && entry->type == RNA_GID_TYPE_ROCE_V2 && !rna_gid_is_link_local(&entry->gid);
}

static const struct rna_gid_entry *entry_of(const struct rna_subject *port,
					    const struct rna_nccl_settings *settings)
{
	return rna_port_gids_find(port->gids, rna_nccl_gid_index(port->gids, false, settings));
}

/* Does NCCL select a GID that other nodes can reach? */
static bool is_served(const struct rna_subject *port, const struct rna_nccl_settings *settings)
{
	return port->gids && is_routable(entry_of(port, settings));
}

static struct gid_choice try_settings(const struct rna_nccl_ports *ports,
				      struct rna_nccl_settings settings)
{
	struct gid_choice choice = {.settings = settings};

	for (size_t i = 0; i < ports->count; i++)
		choice.served += is_served(ports->items[i], &choice.settings);
	return choice;
}

/* The lowest index that serves most ports. */
static struct gid_choice find_index(const struct rna_nccl_ports *ports)
{
	struct rna_nccl_settings settings = RNA_NCCL_STANDARD;
	struct gid_choice best = {0};

	for (size_t i = 0; i < ports->count; i++)
		for (size_t j = 0; ports->items[i]->gids && j < ports->items[i]->gids->count; j++) {
			const struct rna_gid_entry *entry = &ports->items[i]->gids->entries[j];
			struct gid_choice choice;

			if (!is_routable(entry))
				continue;
			settings.gid_index = (int)entry->index;
			choice = try_settings(ports, settings);
			if (choice.served > best.served ||
			    (choice.served == best.served &&
			     settings.gid_index < best.settings.gid_index))
				best = choice;
		}
	return best;
}

static void set_gid_variables(struct advising *advising, const struct gid_choice *choice,
			      size_t alone)
{
	bool by_index = choice->settings.gid_index >= 0;
	const char *reason =
		rna_arena_printf(advising->arena,
				 "%s a routable GID for RoCE v2 on %zu of %zu ports; left alone "
				 "NCCL finds one on %zu",
				 by_index ? "this index has" : "addresses are IPv6: so there is",
				 choice->served, advising->ports.count, alone);

	if (by_index)
		set_variable(advising, "NCCL_IB_GID_INDEX",
			     rna_arena_printf(advising->arena, "%d", choice->settings.gid_index),
			     reason);
	else
		set_variable(advising, "NCCL_IB_ADDR_FAMILY", "AF_INET6", reason);
}

static void warn_of_gid(struct advising *advising, const struct rna_subject *port,
			const struct rna_nccl_settings *settings, const char *because)
{
	const struct rna_gid_entry *entry;
	const char *what = "an empty entry";

	if (!port->gids) {
		WARN(advising, "%s: its GID table is not known", name_of(advising, port));
		return;
	}
	entry = entry_of(port, settings);
	if (is_routable(entry))
		return;
	if (entry)
		what = rna_gid_is_link_local(&entry->gid) ? "link-local: no router carries it"
							  : "no RoCE v2: no router carries it";
	WARN(advising, "%s: %sNCCL uses GID index %u, %s", name_of(advising, port), because,
	     rna_nccl_gid_index(port->gids, false, settings), what);
}

/* Ports on which NCCL selects that index, and a GID that other nodes can reach. */
static size_t count_index(const struct rna_nccl_ports *ports,
			  const struct rna_nccl_settings *settings, unsigned index)
{
	size_t count = 0;

	for (size_t i = 0; i < ports->count; i++)
		count += is_served(ports->items[i], settings) &&
			 rna_nccl_gid_index(ports->items[i]->gids, false, settings) == index;
	return count;
}

/* The index that most ports use; the first of several with equally many. */
static unsigned usual_index(const struct rna_nccl_ports *ports,
			    const struct rna_nccl_settings *settings)
{
	unsigned usual = 0;
	size_t most = 0;

	for (size_t i = 0; i < ports->count; i++) {
		unsigned index;
		size_t count;

		if (!is_served(ports->items[i], settings))
			continue;
		index = rna_nccl_gid_index(ports->items[i]->gids, false, settings);
		count = count_index(ports, settings, index);
		if (count > most) {
			most = count;
			usual = index;
		}
	}
	return usual;
}

/* "rail 3, " as the prefix of a port on a rail; in the arena. */
static const char *rail_of(struct advising *advising, const struct rna_subject *port)
{
	const struct rna_topology *topology = rna_snapshot_topology(advising->view->snapshot);
	const struct rna_nic *nic =
		topology ? rna_topology_find_nic(topology, port->device->device) : NULL;
	const char *text = nic && nic->rail >= 0
				   ? rna_arena_printf(advising->arena, "rail %d, ", nic->rail)
				   : "";

	advising->failed |= !text;
	return text ? text : "";
}

/* NCCL itself selects an index for each port; the warning is for jobs that set an index. */
static void warn_of_rails(struct advising *advising, const struct rna_nccl_settings *settings)
{
	const struct rna_nccl_ports *ports = &advising->ports;
	unsigned usual = usual_index(ports, settings);

	for (size_t i = 0; settings->gid_index < 0 && i < ports->count; i++) {
		const struct rna_subject *port = ports->items[i];
		unsigned index;

		if (!is_served(port, settings))
			continue;
		index = rna_nccl_gid_index(port->gids, false, settings);
		if (index != usual)
			WARN(advising,
			     "%s%s disagrees: NCCL uses GID index %u there, and %u on most "
			     "ports; leave NCCL_IB_GID_INDEX unset",
			     rail_of(advising, port), name_of(advising, port), index, usual);
	}
}

/* Is text set and not empty? NCCL treats an empty variable as unset. */
static bool is_set(const char *text)
{
	return text && *text;
}

/* Variables of the caller's environment stay in force unless one of ours replaces them. */
static void warn_of_given(struct advising *advising, const struct gid_choice *choice)
{
	const struct rna_nccl_environment *given = advising->given;
	struct rna_nccl_settings settings = rna_nccl_settings_parse(given);

	if (!is_set(given->gid_index) && !is_set(given->addr_family) &&
	    !is_set(given->addr_range) && !is_set(given->roce_version))
		return;
	if (choice->settings.gid_index >= 0)
		return; /* we set the index, which overrides the others */
	if (choice->settings.family == RNA_GID_IPV6)
		settings.family = RNA_GID_IPV6;
	for (size_t i = 0; i < advising->ports.count; i++) {
		const struct rna_subject *port = advising->ports.items[i];

		if (is_served(port, &choice->settings))
			warn_of_gid(advising, port, &settings,
				    "with the environment as it is here ");
	}
}

/*
 * An address family is better than an index: it stays right if addresses get other indexes.
 */
static void choose_gids(struct advising *advising)
{
	struct rna_nccl_settings ipv6 = RNA_NCCL_STANDARD;
	const struct rna_nccl_ports *ports = &advising->ports;
	struct gid_choice alone = try_settings(ports, RNA_NCCL_STANDARD), best = alone, other;

	if (ports->items[0]->link_layer == RNA_LINK_LAYER_INFINIBAND)
		return;
	ipv6.family = RNA_GID_IPV6;
	other = try_settings(ports, ipv6);
	if (other.served > best.served)
		best = other;
	other = best.served < ports->count ? find_index(ports) : best;
	if (other.served > best.served)
		best = other;
	if (best.served > alone.served)
		set_gid_variables(advising, &best, alone.served);
	for (size_t i = 0; i < ports->count; i++)
		warn_of_gid(advising, ports->items[i], &best.settings, "");
	warn_of_rails(advising, &best.settings);
	warn_of_given(advising, &best);
}

/* -- Sockets ----------------------------------------------------------------------------------- */

static void choose_sockets(struct advising *advising)
{
	const struct rna_netdevs *netdevs = rna_snapshot_netdevs(advising->view->snapshot);
	const char *uplink = netdevs ? netdevs->uplink : NULL;

	if (!uplink) {
		warn(advising, "no default route is known: NCCL opens its sockets on the first of "
			       "ib*, or of what is not docker*, lo and virbr*");
		return;
	}
	set_variable(
		advising, "NCCL_SOCKET_IFNAME", rna_arena_printf(advising->arena, "=%s", uplink),
		"the default route goes there: the way to other nodes for all that is no RDMA");
	for (size_t i = 0; i < advising->ports.count; i++)
		if (rna_nccl_port_has_uplink(advising->ports.items[i]))
			WARN(advising,
			     "%s: the default route goes over it, so it carries other "
			     "traffic, too",
			     name_of(advising, advising->ports.items[i]));
}

/* -- Quality of service ------------------------------------------------------------------------ */

/* Derived from priorities and PFC, if the driver does not write a class into all packets. */
static void derive_quality(struct advising *advising)
{
	struct rna_nccl_quality quality;

	if (rna_nccl_derive_quality(&advising->ports, advising->arena, &quality) < 0) {
		advising->failed = true;
		return;
	}
	if (quality.name)
		set_variable(advising, quality.name, quality.value, quality.reason);
	if (quality.warning)
		warn(advising, quality.warning);
}

/*
 * The configuration of the node: a traffic class that the driver writes into all RoCE packets of a
 * port, or DCB.
 */
static void choose_quality(struct advising *advising)
{
	const struct rna_nccl_ports *ports = &advising->ports;
	struct rna_value first = {0};

	for (size_t i = 0; i < ports->count; i++) {
		struct rna_value traffic_class = ports->items[i]->port_identity->traffic_class;

		if (i == 0)
			first = traffic_class;
		if (traffic_class.state != first.state || traffic_class.number != first.number) {
			WARN(advising,
			     "%s: another traffic class than %s is configured: NCCL_IB_TC "
			     "holds for all ports, so it is not set",
			     name_of(advising, ports->items[i]),
			     name_of(advising, ports->items[0]));
			return;
		}
	}
	if (first.state == RNA_VALUE_OK)
		set_variable(
			advising, "NCCL_IB_TC",
			rna_arena_printf(advising->arena, "%ju", (uintmax_t)first.number),
			"the traffic class that the driver is configured for, tc/1/traffic_class "
			"of the devices");
	else
		derive_quality(advising);
}

/* -- Warnings ---------------------------------------------------------------------------------- */

static void warn_of_absent_ports(struct advising *advising, const struct rna_subjects *subjects)
{
	const struct rna_subject_list *list = &subjects->scopes[RNA_SCOPE_PORT];
	const struct rna_view *view = advising->view;

	for (size_t i = 0; i < list->count; i++) {
		const struct rna_subject *port = &list->items[i];
		const char *state = rna_port_state_text(port);

		if (state && !rna_port_up(port).number && rna_port_is_expected(port))
			WARN(advising, "%s is left out, though it is meant to be up: it is %s",
			     name_of(advising, port), state);
	}
	for (size_t i = 0; i < view->missing_count; i++)
		WARN(advising, "%s is missing", view->missing[i].name);
}

/*
 * NCCL checks only the port, so it uses one whose packets have no route. The advice keeps such a
 * port and warns: without it the job would have one rail fewer than it expects. InfiniBand needs no
 * interface.
 */
static void warn_of_interfaces(struct advising *advising)
{
	const struct rna_netdevs *netdevs = rna_snapshot_netdevs(advising->view->snapshot);

	for (size_t i = 0; i < advising->ports.count; i++) {
		const struct rna_subject *port = advising->ports.items[i];
		const struct rna_netdev *bond = rna_netdevs_bond_of(netdevs, port->netdev);
		const struct rna_netdev *netdev = bond ? bond : port->netdev;

		if (port->link_layer == RNA_LINK_LAYER_ETHERNET && netdev &&
		    rna_netdev_has_no_link(netdev))
			WARN(advising,
			     "%s: its network interface %s %s; NCCL uses the port all the same, "
			     "and fails",
			     name_of(advising, port), netdev->name,
			     netdev->admin_up ? "has no link" : "is set down");
	}
}

static struct rna_value mtu_of(const struct rna_subject *port)
{
	return port->link ? port->link->active_mtu : (struct rna_value){0};
}

/* The highest value of the ports; 0: none is known. */
static uint64_t highest(const struct rna_nccl_ports *ports,
			struct rna_value (*get)(const struct rna_subject *port))
{
	uint64_t ret = 0;

	for (size_t i = 0; i < ports->count; i++) {
		struct rna_value value = get(ports->items[i]);

		if (rna_value_is_known(value) && value.number > ret)
			ret = value.number;
	}
	return ret;
}

static void warn_of_differences(struct advising *advising)
{
	const struct rna_nccl_ports *ports = &advising->ports;
	uint64_t rate = highest(ports, rna_port_rate), mtu = highest(ports, mtu_of);

	for (size_t i = 0; i < ports->count; i++) {
		const struct rna_subject *port = ports->items[i];
		struct rna_value own_rate = rna_port_rate(port), own_mtu = mtu_of(port);

		if (rna_value_is_known(own_rate) && own_rate.number < rate)
			WARN(advising, "%s has %.6g Gb/s, others %.6g Gb/s",
			     name_of(advising, port), (double)own_rate.number * 8 / 1e9,
			     (double)rate * 8 / 1e9);
		if (rna_value_is_known(own_mtu) && own_mtu.number < mtu)
			WARN(advising, "%s has an MTU of %ju bytes, others of %ju",
			     name_of(advising, port), (uintmax_t)own_mtu.number, (uintmax_t)mtu);
	}
}

/* -- Merging ----------------------------------------------------------------------------------- */

/*
 * NCCL joins ports into one NIC if their PCI paths are the same after it has replaced the function,
 * and with NCCL_IB_MERGE_VFS=1, the default, the device number as well (ncclIbGetPciPath() in
 * src/transport/net_ib/init.cc, ncclTopoAutoMerge() in src/graph/topo.cc, NCCL 2.30.7). Virtual
 * functions of one card follow each other on its bus, which is what this is for. In a virtual
 * machine different cards may be on one bus, as 00:05.0, 00:06.0 and so on (nccl#811, and
 * nccl-rdma-sharp-plugins#145).
 */
enum { MERGED_MAX = 8 }; /* NCCL_NET_MAX_DEVS_PER_NIC_V12; 4 in the interface before */

static bool is_one_slot(const struct rna_subject *a, const struct rna_subject *b)
{
	const char *x = a->device->device->pci_address, *y = b->device->device->pci_address;

	return x && y && rna_pci_is_one_device(x, y);
}

static bool is_one_bus(const struct rna_subject *a, const struct rna_subject *b)
{
	const char *x = a->device->device->pci_address, *y = b->device->device->pci_address;
	const char *end = x ? strrchr(x, ':') : NULL;

	return end && y && strncmp(x, y, (size_t)(end - x) + 1) == 0;
}

static bool is_one_card(const struct rna_subject *a, const struct rna_subject *b)
{
	return a->card && a->card == b->card;
}

/* "the card 0000:3b:00", in the arena; without its address where cards are not known. */
static const char *say_card(struct advising *advising, const struct rna_subject *port)
{
	const char *text =
		port->card ? rna_arena_printf(advising->arena, "the card %s", port->card->address)
			   : "one card";

	advising->failed |= !text;
	return text ? text : "";
}

/* Another card that NCCL takes for the card of this port; NULL: none. */
static const struct rna_subject *find_mistaken(const struct rna_nccl_ports *ports, size_t of)
{
	for (size_t i = of + 1; i < ports->count && i < PORTS_MAX; i++)
		if (is_one_bus(ports->items[of], ports->items[i]) &&
		    !is_one_slot(ports->items[of], ports->items[i]) &&
		    !is_one_card(ports->items[of], ports->items[i]))
			return ports->items[i];
	return NULL;
}

/* They have addresses, or they would not be on one bus. */
static const char *slot_of(const struct rna_subject *port)
{
	return port->card ? port->card->address : port->device->device->pci_address;
}

static void choose_merging(struct advising *advising)
{
	const struct rna_nccl_ports *ports = &advising->ports;

	for (size_t i = 0; i < ports->count && i < PORTS_MAX; i++) {
		const struct rna_subject *other = find_mistaken(ports, i);

		if (!other)
			continue;
		set_variable(advising, "NCCL_IB_MERGE_VFS", "0",
			     rna_arena_printf(advising->arena,
					      "%s and %s are different cards (%s, %s) on one PCI "
					      "bus, as in virtual machines; by itself NCCL takes "
					      "them for functions of one card and joins them",
					      name_of(advising, ports->items[i]),
					      name_of(advising, other), slot_of(ports->items[i]),
					      slot_of(other)));
		return;
	}
}

/* The ports of a card that NCCL joins into one NIC. */
struct merged {
	const struct rna_subject *first, *last;
	size_t count;
	bool rates_differ;
};

static struct merged find_merged(const struct rna_nccl_ports *ports, size_t of)
{
	const struct rna_subject *first = ports->items[of];
	struct merged ret = {.first = first, .last = first};

	for (size_t i = 0; i < ports->count; i++) {
		const struct rna_subject *port = ports->items[i];

		if (port != first && !is_one_slot(first, port))
			continue;
		if (i < of)
			return (struct merged){0}; /* found before */
		ret.last = port;
		ret.count++;
		ret.rates_differ |= rna_port_rate(port).number != rna_port_rate(first).number;
	}
	return ret;
}

/*
 * That the ports or planes of one card become one NIC is right, as long as they are equal and NCCL
 * does not have to divide them.
 */
static void warn_of_cards(struct advising *advising)
{
	const struct rna_nccl_ports *ports = &advising->ports;

	for (size_t i = 0; i < ports->count && i < PORTS_MAX; i++) {
		struct merged merged = find_merged(ports, i);

		if (merged.count <= 1 || (!merged.rates_differ && merged.count <= MERGED_MAX))
			continue;
		WARN(advising,
		     "%s to %s, %zu ports, are on %s%s: NCCL joins %s into one NIC; "
		     "NCCL_IB_MERGE_NICS=0 keeps them apart",
		     name_of(advising, merged.first), name_of(advising, merged.last), merged.count,
		     say_card(advising, merged.first),
		     merged.rates_differ ? " and have different rates" : "",
		     merged.count > MERGED_MAX ? "at most eight of them" : "them");
	}
}

/* -- GPUDirect --------------------------------------------------------------------------------- */

/* Is a method known by which NICs can access the memory of GPUs? */
static bool is_ready_for_gpudirect(const struct rna_view *view)
{
	const struct rna_readiness *readiness = rna_snapshot_readiness(view->snapshot);

	for (size_t i = 0; readiness && i < RNA_GPUDIRECT_COUNT; i++)
		if (readiness->gpudirect[i].state == RNA_VALUE_OK &&
		    readiness->gpudirect[i].number == 1)
			return true;
	return false;
}

/*
 * Has the GPU an NVLink-C2C to its processor? Device ids of pci.ids (2026-08-22). That 2345, which
 * pci.ids names a GH100 only, is a GH200 is not proven: its id lies between two of them.
 */
static bool has_c2c(const struct rna_pci_object *object)
{
	static const uint32_t devices[] = {
		0x2342, 0x2345, 0x2348, /* GH200 */
		0x2941,                 /* GB200 */
		0x31c2, 0x31c3,         /* GB300 */
	};

	for (size_t i = 0; i < RNA_ARRAY_SIZE(devices) && object->vendor_id == VENDOR_NVIDIA; i++)
		if (object->device_id == devices[i])
			return true;
	return false;
}

/*
 * How many GPUs have their nearest NIC at that distance, and by default no GPUDirect because of it.
 * Over C2C NCCL uses it up to the NICs of the processor: its path type is then P2C, which is nearer
 * than PHB (mergePathType() in src/graph/paths.cc; NCCL_NET_GDR_C2C is 1 by default since 2.27).
 */
static size_t count_gpus_at(const struct rna_topology *topology, enum rna_path_class path)
{
	size_t count = 0;

	for (size_t i = 0; topology && i < topology->gpu_count; i++)
		count += topology->affinities[i].nearest_count > 0 &&
			 topology->affinities[i].path == path &&
			 (path > RNA_PATH_NODE ||
			  !has_c2c(&topology->objects[topology->gpus[i].object]));
	return count;
}

/*
 * By default NCCL lets a NIC access the memory of a GPU if only PCIe switches are between them
 * (ncclTopoCheckGdr() in src/graph/paths.cc, 2.30.7). Its next level, PHB, is the NUMA node: in its
 * tree the processor is a NUMA node, whatever the number of host bridges (ncclTopoGetXmlFromSys()
 * in src/graph/xml.cc). Over one host bridge this is faster, because otherwise all data are copied.
 * From one host bridge to another it seldom is, so it needs a measurement.
 */
static void choose_gpu_direct(struct advising *advising)
{
	const struct rna_topology *topology = rna_snapshot_topology(advising->view->snapshot);
	size_t bridge = count_gpus_at(topology, RNA_PATH_PHB);
	size_t node = count_gpus_at(topology, RNA_PATH_NODE);
	size_t system = count_gpus_at(topology, RNA_PATH_SYS);

	if (bridge > 0 && is_ready_for_gpudirect(advising->view))
		set_variable(
			advising, "NCCL_NET_GDR_LEVEL", "PHB",
			rna_arena_printf(advising->arena,
					 "%zu of %zu GPUs reach their NIC over a host bridge; by "
					 "itself NCCL uses GPUDirect below switches only",
					 bridge + node, topology->gpu_count));
	else if (bridge + node > 0)
		WARN(advising,
		     "GPUs without a NIC nearer than %s: %zu of %zu; NCCL copies their data "
		     "through the memory of the host, unless NCCL_NET_GDR_LEVEL is PHB%s",
		     rna_path_class_name(bridge > 0 ? RNA_PATH_PHB : RNA_PATH_NODE), bridge + node,
		     topology->gpu_count, bridge > 0 ? "" : "; measure which of both is faster");
	if (system > 0)
		WARN(advising,
		     "GPUs without a NIC in their NUMA node: %zu of %zu; NCCL copies their data "
		     "through the memory of the host, unless NCCL_NET_GDR_LEVEL is SYS",
		     system, topology->gpu_count);
}

/* -- Virtual machines -------------------------------------------------------------------------- */

/* Has the tree no GPU with NICs nearer than others: all behind host bridges, or no known path? */
static bool is_flat(const struct rna_topology *topology)
{
	for (size_t i = 0; topology && i < topology->gpu_count; i++)
		if (topology->affinities[i].nearest_count == 1 ||
		    (topology->affinities[i].nearest_count > 1 &&
		     topology->affinities[i].path < RNA_PATH_PHB))
			return false;
	return topology && topology->gpu_count > 0;
}

/*
 * Without NCCL_TOPO_FILE NCCL reads virtualTopology.xml, if it exists, before it looks into /sys
 * (ncclTopoGetSystem() in src/graph/topo.cc).
 */
static void warn_of_flat_topology(struct advising *advising)
{
	const struct rna_nccl_ports *ports = &advising->ports;
	size_t guests = 0;

	for (size_t i = 0; i < ports->count; i++)
		guests += ports->items[i]->device->device->function == RNA_FUNCTION_GUEST_VF;
	if (guests == 0 || is_set(advising->given->topo_file) ||
	    !is_flat(rna_snapshot_topology(advising->view->snapshot)))
		return;
	warn(advising,
	     "the PCI tree of this virtual machine does not show which NIC is near which GPU; set "
	     "NCCL_TOPO_FILE to the topology file that the provider has for this type of machine, "
	     "unless /var/run/nvidia-topologyd/virtualTopology.xml exists");
}

/* -- All of it --------------------------------------------------------------------------------- */

static void advise(struct advising *advising, const struct rna_subjects *subjects)
{
	warn_of_absent_ports(advising, subjects);
	if (advising->ports.count == 0)
		return;
	choose_ports(advising);
	warn_of_interfaces(advising);
	choose_gids(advising);
	choose_sockets(advising);
	choose_quality(advising);
	warn_of_differences(advising);
	choose_merging(advising);
	warn_of_cards(advising);
	choose_gpu_direct(advising);
	warn_of_flat_topology(advising);
}

/* Memory for all possible warnings. */
static int make_room(struct advising *advising, const struct rna_subjects *subjects)
{
	size_t ports = subjects->scopes[RNA_SCOPE_PORT].count;
	size_t most =
		ports * WARNINGS_OF_A_PORT + advising->view->missing_count + OTHER_WARNINGS_MAX;

	advising->variables =
		rna_arena_array(advising->arena, VARIABLES_MAX, sizeof(*advising->variables));
	advising->warnings = rna_arena_array(advising->arena, most, sizeof(*advising->warnings));
	return advising->variables && advising->warnings ? 0 : -ENOMEM;
}

int rna_nccl_advise(const struct rna_view *view, const struct rna_nccl_environment *given,
		    struct rna_arena *arena, struct rna_nccl_advice *ret)
{
	RNA_SUBJECTS struct rna_subjects subjects = RNA_SUBJECTS_INIT;
	struct advising advising = {.view = view, .given = given, .arena = arena};

	if (rna_subjects_set(&subjects, view) < 0 || make_room(&advising, &subjects) < 0 ||
	    rna_nccl_ports_choose(&subjects, arena, &advising.ports) < 0)
		return -ENOMEM;
	advise(&advising, &subjects);
	*ret = (struct rna_nccl_advice){
		.port_count = advising.ports.count,
		.variable_count = advising.variable_count,
		.variables = advising.variables,
		.left_out_count = advising.ports.left_out_count,
		.left_out = advising.ports.left_out,
		.warning_count = advising.warning_count,
		.warnings = advising.warnings,
	};
	return advising.failed ? -ENOMEM : 0;
}
