// SPDX-License-Identifier: Apache-2.0
/*
 * Which ports of a node a library should use: a table of reasons to exclude ports, applied in their
 * order. The first reasons exclude ports that it cannot use. The others choose among the remaining
 * ports; a reason that would exclude all of them is skipped, but for ports that are known to serve
 * no GPU.
 *
 * The libraries agree in what they cannot use. All of them take ports that are ACTIVE. None takes
 * iWARP: UCX skips it (uct_ib_device_is_supported() in src/uct/ib/base/ib_md.c, UCX 1.22), the
 * others connect queue pairs in a way that only channel adapters have.
 */
#include "env_ports.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "rna/base/parse.h"

#include "view/facts.h"

/* -- What no library can use ------------------------------------------------------------------- */

static bool has_unknown_state(const struct rna_env_choice *choice, const struct rna_subject *port)
{
	(void)choice;
	return !rna_subject_state_is_known(port);
}

static bool is_inactive(const struct rna_env_choice *choice, const struct rna_subject *port)
{
	(void)choice;
	return port->state->state.number != RNA_PORT_ACTIVE;
}

static bool has_unknown_layer(const struct rna_env_choice *choice, const struct rna_subject *port)
{
	(void)choice;
	return port->link_layer == RNA_LINK_LAYER_UNKNOWN &&
	       (rna_device_node_type(port->device) == RNA_NODE_TYPE_CA ||
		rna_device_node_type(port->device) == RNA_NODE_TYPE_UNKNOWN);
}

/* On Ethernet it decides between RoCE and iWARP; InfiniBand needs no such decision. */
static bool has_unknown_node_type(const struct rna_env_choice *choice,
				  const struct rna_subject *port)
{
	(void)choice;
	return port->link_layer == RNA_LINK_LAYER_ETHERNET &&
	       rna_device_node_type(port->device) == RNA_NODE_TYPE_UNKNOWN;
}

static bool is_iwarp(const struct rna_env_choice *choice, const struct rna_subject *port)
{
	(void)choice;
	return rna_device_node_type(port->device) == RNA_NODE_TYPE_RNIC;
}

/* The other conditions of rna_subject_suits_nccl(). */
static bool is_unsuitable(const struct rna_env_choice *choice, const struct rna_subject *port)
{
	(void)choice;
	return !rna_subject_suits_nccl(port);
}

static bool is_management(const struct rna_env_choice *choice, const struct rna_subject *port)
{
	(void)choice;
	return port->device->device->function == RNA_FUNCTION_SWITCH_MANAGEMENT;
}

/*
 * libibverbs opens a device by its file alone (src/device.c of libibverbs, rdma-core), which SMI
 * devices of multi-plane cards have not.
 */
static bool has_no_file(const struct rna_env_choice *choice, const struct rna_subject *port)
{
	const struct rna_readiness *readiness = rna_snapshot_readiness(port->view->snapshot);
	const char *device = port->rdma_device->name;

	if (!readiness || port->rdma_device->process || choice->inside ||
	    rna_readiness_find_node(readiness, device, 0))
		return false;
	return RNA_ANY(i, readiness->node_count,
		       strncmp(readiness->nodes[i].name, "uverbs", strlen("uverbs")) == 0);
}

static bool has_no_cable(const struct rna_env_choice *choice, const struct rna_subject *port)
{
	(void)choice;
	return port->represents;
}

static bool is_uplink(const struct rna_env_choice *choice, const struct rna_subject *port)
{
	(void)choice;
	return rna_subject_is_uplink(port) && port->gids && port->gids->count == 0;
}

static bool is_elsewhere(const struct rna_env_choice *choice, const struct rna_subject *port)
{
	return port->device->device->process && !choice->inside;
}

static bool has_odd_name(const struct rna_env_choice *choice, const struct rna_subject *port)
{
	for (const char *c = port->device->device->name; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == '\x7f' || strchr(choice->words->reserved, *c))
			return true;
	return false;
}

/*
 * The kernel gives each port of RoCE default GIDs, made from the MAC address of its interface
 * (ib_cache_gid_set_default_gid() in drivers/infiniband/core/cache.c). Without any no library can
 * address the port.
 */
static bool has_no_gid(const struct rna_env_choice *choice, const struct rna_subject *port)
{
	(void)choice;
	return port->link_layer == RNA_LINK_LAYER_ETHERNET && port->gids && port->gids->count == 0;
}

/* -- What a library should not use ------------------------------------------------------------- */

/* A virtual function whose physical function is on this node is for a VM or a container. */
static bool is_for_others(const struct rna_env_choice *choice, const struct rna_subject *port)
{
	const char *physical = port->device->device->physical_function;

	return RNA_ANY(i, physical ? choice->ports->count : 0,
		       rna_same_text(choice->ports->items[i]->device->device->pci_address,
				     physical) &&
			       !choice->ports->items[i]->device->device->physical_function);
}

static bool is_software(const struct rna_env_choice *choice, const struct rna_subject *port)
{
	(void)choice;
	return port->device->device->function == RNA_FUNCTION_VIRTUAL;
}

static const struct rna_nic *nic_of(const struct rna_env_choice *choice,
				    const struct rna_subject *port)
{
	return choice->topology ? rna_topology_find_nic(choice->topology, port->device->device)
				: NULL;
}

/* Rails are the NICs of GPUs, and NICs of the same kind as near to a GPU. */
static bool serves_no_gpu(const struct rna_env_choice *choice, const struct rna_subject *port)
{
	const struct rna_nic *nic = nic_of(choice, port);

	return nic && nic->rail < 0;
}

/* As of RDMA in software: such a port may be the only one, on a node for development. */
static bool has_no_place(const struct rna_env_choice *choice, const struct rna_subject *port)
{
	return choice->topology && !nic_of(choice, port);
}

static bool has_another_layer(const struct rna_env_choice *choice, const struct rna_subject *port)
{
	return port->link_layer != choice->layer;
}

static bool has_default_route(const struct rna_env_choice *choice, const struct rna_subject *port)
{
	return !choice->topology && rna_env_port_has_uplink(port);
}

static bool is_same_model(const struct rna_subject *a, const struct rna_subject *b)
{
	return a->device->device->vendor_id == b->device->device->vendor_id &&
	       a->device->device->device_id == b->device->device->device_id;
}

/* A rail that is slower than the others because of its cable is still a rail. */
static bool is_lesser_model(const struct rna_env_choice *choice, const struct rna_subject *port)
{
	struct rna_value rate = rna_port_rate(port);

	if (choice->topology || !rna_value_is_known(rate) || rate.number >= choice->fastest)
		return false;
	return !RNA_ANY(i, choice->ports->count,
			rna_port_rate(choice->ports->items[i]).number == choice->fastest &&
				is_same_model(choice->ports->items[i], port));
}

#define WORD(name) .word = offsetof(struct rna_env_words, name), .has_word = true

static const struct reason {
	const char *text; /* behind the names of the ports */
	rna_env_leaves_out *applies;
	bool always;      /* even if no port remains */
	const char *rest; /* behind the word */
	size_t word;      /* behind the text: its place in struct rna_env_words, */
	bool has_word;    /* if there is one */
} reasons[] = {
	{.text = "manages NVSwitches and carries no traffic",
	 .applies = is_management,
	 .always = true},
	{.text = "has no file of verbs, so that no library can open it",
	 .applies = has_no_file,
	 .always = true},
	{.text = "a port of the embedded switch, for a virtual or scalable function",
	 .applies = has_no_cable,
	 .always = true},
	{.text = "in another network namespace", .applies = is_elsewhere, .always = true},
	{.text = "its state is not known", .applies = has_unknown_state, .always = true},
	{.text = "not ACTIVE", .applies = is_inactive, .always = true},
	{.text = "its link layer is not known", .applies = has_unknown_layer, .always = true},
	{.text = "its node type is not known: RoCE or iWARP",
	 .applies = has_unknown_node_type,
	 .always = true},
	{.text = "iWARP, which ",
	 .applies = is_iwarp,
	 .always = true,
	 WORD(title),
	 .rest = " does not use"},
	{.text = "no InfiniBand and no RoCE: ",
	 .applies = is_unsuitable,
	 .always = true,
	 WORD(no_verbs)},
	{.text = "its name cannot be written in ",
	 .applies = has_odd_name,
	 .always = true,
	 WORD(list)},
	{.text = "a virtual function of a device that is here, for VMs or containers",
	 .applies = is_for_others},
	{.text = "RDMA in software", .applies = is_software},
	/* if no other port remains, the NICs of the GPUs are down, or need another transport */
	{.text = "serves no GPU: for storage or other traffic",
	 .applies = serves_no_gpu,
	 .always = true},
	{.text = "its place in the PCI tree is not known", .applies = has_no_place},
	{.text = "another link layer than most bandwidth has",
	 .applies = has_another_layer,
	 WORD(other_layer)},
	{.text = "the default route goes there: no rail", .applies = has_default_route},
	{.text = "slower than others, and of another model", .applies = is_lesser_model},
	{.text = "in switchdev mode: its virtual and scalable functions do RDMA, it does not",
	 .applies = is_uplink,
	 .always = true},
	/* last: slower ones for storage do not take the place of rails without addresses */
	{.text = "has no GID: its interface is absent, or in another network namespace",
	 .applies = has_no_gid,
	 .always = true},
};

static const char *say(const struct reason *reason, const struct rna_env_words *words,
		       struct rna_arena *arena)
{
	const char *const *word = (const void *)((const char *)words + reason->word);

	return rna_arena_printf(arena, "%s%s%s", reason->text, reason->has_word ? *word : "",
				reason->rest ? reason->rest : "");
}

/* -- One after the other ----------------------------------------------------------------------- */

/* Bandwidth, not ports: two slow ports for management do not outvote a fast one. */
static void look_at_rates(struct rna_env_choice *choice)
{
	uint64_t rates[RNA_LINK_LAYER_ETHERNET + 1] = {0};
	size_t counts[RNA_LINK_LAYER_ETHERNET + 1] = {0};
	enum rna_link_layer ib = RNA_LINK_LAYER_INFINIBAND, ethernet = RNA_LINK_LAYER_ETHERNET;
	bool more;

	choice->fastest = 0;
	for (size_t i = 0; i < choice->ports->count; i++) {
		uint64_t rate = rna_port_rate(choice->ports->items[i]).number; /* 0: not known */

		rates[choice->ports->items[i]->link_layer] += rate;
		counts[choice->ports->items[i]->link_layer]++;
		if (rate > choice->fastest)
			choice->fastest = rate;
	}
	more = rates[ethernet] == rates[ib] ? counts[ethernet] > counts[ib]
					    : rates[ethernet] > rates[ib];
	choice->layer = more ? ethernet : ib;
}

int rna_env_leave_out(struct rna_env_choice *choice, const char *why, rna_env_leaves_out *applies,
		      bool always, struct rna_arena *arena)
{
	struct rna_env_ports *ports = choice->ports;
	const struct rna_subject **kept = rna_arena_array(arena, ports->count + 1, sizeof(*kept));
	struct rna_env_left_out *out = &ports->left_out[ports->left_out_count];
	size_t count = 0;

	*out = (struct rna_env_left_out){
		.reason = why,
		.ports = rna_arena_array(arena, ports->count + 1, sizeof(*out->ports)),
	};
	if (!kept || !why || !out->ports)
		return -ENOMEM;
	for (size_t i = 0; i < ports->count; i++)
		if (!applies(choice, ports->items[i]))
			kept[count++] = ports->items[i];
		else if (!(out->ports[out->count++] = rna_env_port_name(ports->items[i], arena)))
			return -ENOMEM;
	if (out->count > 0 && (count > 0 || always)) {
		ports->left_out_count++;
		ports->items = kept;
		ports->count = count;
	}
	return (int)out->count;
}

const char *rna_env_port_name(const struct rna_subject *port, struct rna_arena *arena)
{
	return rna_arena_printf(arena, "%s/%u", port->device->device->name, port->port);
}

bool rna_env_is_one_card(const struct rna_subject *a, const struct rna_subject *b)
{
	return a->card ? a->card == b->card : a->device == b->device;
}

bool rna_env_port_has_uplink(const struct rna_subject *port)
{
	const struct rna_netdevs *netdevs = rna_snapshot_netdevs(port->view->snapshot);
	const char *uplink = netdevs ? netdevs->uplink : NULL;

	if (!uplink)
		return false;
	if (port->netdev && (rna_same_text(port->netdev->name, uplink) ||
			     rna_same_text(port->netdev->master, uplink)))
		return true;
	return RNA_ANY(i, port->gids ? port->gids->count : 0,
		       !port->gids->entries[i].elsewhere &&
			       rna_same_text(port->gids->entries[i].netdev, uplink));
}

/* The topology, if it has NICs near GPUs. Without GPUs all NICs have a rail. */
static const struct rna_topology *find_rails(const struct rna_subjects *subjects)
{
	const struct rna_view *view = subjects->scopes[RNA_SCOPE_NODE].items[0].view;
	const struct rna_topology *topology = rna_snapshot_topology(view->snapshot);

	for (size_t i = 0; topology && i < topology->gpu_count; i++)
		if (topology->affinities[i].nearest_count > 0 &&
		    topology->affinities[i].path != RNA_PATH_UNKNOWN)
			return topology;
	return NULL;
}

static bool is_inside(const struct rna_subjects *subjects)
{
	const struct rna_view *view = subjects->scopes[RNA_SCOPE_NODE].items[0].view;
	const struct rna_presence *presence = rna_snapshot_presence(view->snapshot);

	return presence && presence->inside;
}

int rna_env_ports_choose(const struct rna_subjects *subjects, const struct rna_env_words *words,
			 struct rna_arena *arena, struct rna_env_ports *ret)
{
	enum { OF_A_GPU = 2 };
	const struct rna_subject_list *list = &subjects->scopes[RNA_SCOPE_PORT];
	const struct rna_subject **ports = rna_arena_array(arena, list->count + 1, sizeof(*ports));
	struct rna_env_choice choice = {
		.ports = ret,
		.topology = find_rails(subjects),
		.words = words,
		.inside = is_inside(subjects),
	};

	*ret = (struct rna_env_ports){
		.count = list->count,
		.items = ports,
		.left_out = rna_arena_array(arena, RNA_ARRAY_SIZE(reasons) + OF_A_GPU,
					    sizeof(*ret->left_out)),
	};
	if (!ports || !ret->left_out)
		return -ENOMEM;
	for (size_t i = 0; i < list->count; i++)
		ports[i] = &list->items[i];
	for (size_t i = 0; ret->count > 0 && i < RNA_ARRAY_SIZE(reasons); i++) {
		const size_t before = ret->count;
		int count;

		look_at_rates(&choice);
		count = rna_env_leave_out(&choice, say(&reasons[i], words, arena),
					  reasons[i].applies, reasons[i].always, arena);
		if (count < 0)
			return count;
		if (reasons[i].applies == has_no_place && (size_t)count == before)
			choice.topology = NULL; /* it does not help in choosing */
	}
	ret->why = choice.topology
			   ? "on the NICs nearest to GPUs"
			   : "which ones are near GPUs is not known, so only link layer, rate "
			     "and default route tell them from others";
	return 0;
}

/* -- The limit of a library -------------------------------------------------------------------- */

/* The last port of the card with most of them, or of the last one of several. */
static size_t find_spare(const struct rna_env_ports *ports)
{
	size_t most = 0, ret = 0;

	for (size_t i = 0; i < ports->count; i++) {
		size_t count = 0;

		for (size_t j = 0; j < ports->count; j++)
			count += rna_env_is_one_card(ports->items[i], ports->items[j]);
		if (count >= most) {
			most = count;
			ret = i;
		}
	}
	return ret;
}

size_t rna_env_ports_cut(struct rna_env_ports *ports, size_t most)
{
	size_t all = ports->count;

	while (ports->count > most) {
		size_t spare = find_spare(ports);

		memmove(&ports->items[spare], &ports->items[spare + 1],
			(--ports->count - spare) * sizeof(ports->items[0]));
	}
	return all - ports->count;
}
