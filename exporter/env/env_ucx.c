// SPDX-License-Identifier: Apache-2.0
/*
 * What only UCX has, and libraries that communicate through it: NIXL and Open MPI. Source:
 * openucx/ucx 1.22.0 and, where stated, before; ai-dynamo/nixl 1.4.0; open-mpi/ompi 4.1.6, 5.0.10.
 *
 * UCX_TLS is not set: a list of transports that lacks one of those for GPU memory or for the first
 * contact breaks jobs (docs/source/faq.md of UCX). UCX_NET_DEVICES without interfaces of Ethernet
 * already rules out TCP.
 */
#include <string.h>

#include "rna/model/driver.h"
#include "rna/model/fabric.h"

#include "dialect.h"

/* -- The GID ----------------------------------------------------------------------------------- */

/* UCX passes over a port whose GID 0 is empty, whichever GID it would use (port_check). */
static bool is_passed_over(const struct rna_port_gids *gids)
{
	return !rna_port_gids_find(gids, 0);
}

/* The first entry of that type and family, and in the range, which is one of IPv4 for UCX. */
static const struct rna_gid_entry *find_first(const struct rna_port_gids *gids,
					      const struct rna_nccl_settings *settings,
					      enum rna_gid_type type, enum rna_gid_family family)
{
	bool any = settings->range_bits == 0;

	for (size_t i = 0; i < gids->count && (any || family == settings->family); i++)
		if (gids->entries[i].type == type &&
		    rna_gid_family(&gids->entries[i].gid) == family &&
		    rna_nccl_in_range(&gids->entries[i].gid, settings))
			return &gids->entries[i];
	return NULL;
}

/*
 * uct_ib_device_select_gid() in src/uct/ib/base/ib_device.c, as of 1.20: RoCE v2 before v1, IPv4
 * before IPv6, then the order of the table. Since 1.21 it prefers IPv6 addresses that are not
 * link-local; the older choice is the one that may need help. Since 1.18 UCX_IB_ROCE_SUBNETS leaves
 * only addresses of its range. UCX also tries whether an address
 * handle can be made of the GID, which is not seen from here.
 */
const struct rna_gid_entry *rna_env_ucx_select(const struct rna_port_gids *gids,
					       const struct rna_nccl_settings *settings,
					       unsigned *ret_index)
{
	static const enum rna_gid_type types[] = {RNA_GID_TYPE_ROCE_V2, RNA_GID_TYPE_ROCE_V1};
	static const enum rna_gid_family families[] = {RNA_GID_IPV4, RNA_GID_IPV6};
	const struct rna_gid_entry *entry = NULL;

	*ret_index = settings->gid_index >= 0 ? (unsigned)settings->gid_index : 0;
	if (settings->gid_index >= 0 || is_passed_over(gids))
		return rna_port_gids_find(gids, *ret_index);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(types); i++)
		for (size_t j = 0; !entry && j < RNA_ARRAY_SIZE(families); j++)
			entry = find_first(gids, settings, types[i], families[j]);
	if (!entry)
		entry = rna_port_gids_find(gids, 0);
	*ret_index = entry->index;
	return entry;
}

/* -- Rails ------------------------------------------------------------------------------------- */

enum {
	RAILS_MAX = 4,   /* that UCX supports: docs/source/faq.md */
	RAILS_ALONE = 2, /* that it uses by itself: src/ucp/core/ucp_context.c */
};

/* A GPU with more ports than one message uses by itself, as planes, needs all. */
static void choose_rails(struct rna_env_advising *advising, const char *name)
{
	size_t count = advising->ports.count < RAILS_MAX ? advising->ports.count : RAILS_MAX;

	if (advising->ports.are_nearest && count > RAILS_ALONE)
		rna_env_set(
			advising, name, rna_arena_printf(advising->arena, "%zu", count),
			rna_arena_printf(advising->arena,
					 "%zu ports are for this GPU, and by itself %s divides a "
					 "large message among %d (UCX supports %d at most)",
					 advising->ports.count, advising->dialect->words.title,
					 RAILS_ALONE, RAILS_MAX));
}

static void warn_of_flat_topology(struct rna_env_advising *advising)
{
	if (rna_env_is_flat_guest(advising))
		rna_env_warn(advising,
			     "the PCI tree of this virtual machine does not show which NIC is near "
			     "which GPU; set UCX_NET_DEVICES for each process if the provider "
			     "documents it");
}

const struct rna_subject *rna_env_other_driver(const struct rna_env_ports *ports)
{
	for (size_t i = 0; i < ports->count; i++) {
		const struct rna_device *device = ports->items[i]->device->device;

		if (device->function == RNA_FUNCTION_VIRTUAL ||
		    (device->driver && strncmp(device->driver, "mlx", strlen("mlx")) != 0))
			return ports->items[i];
	}
	return NULL;
}

static bool hides_family(const struct rna_device *device)
{
	const struct rna_driver *driver = rna_driver_named(device->driver);

	return device->function == RNA_FUNCTION_VIRTUAL || (driver && driver->hides_family);
}

/*
 * UCX connects ports of rc_verbs by datagrams. Before 1.19 it takes the family of their addresses
 * from the service level of the completion, and drops each whose address it then does not know,
 * without a word (uct_ud_iface_check_grh(), ucx#10209).
 */
static void choose_check_of_datagrams(struct rna_env_advising *advising)
{
	const struct rna_env_ports *ports = &advising->ports;

	for (size_t i = 0; i < ports->count; i++)
		if (ports->items[i]->link_layer == RNA_LINK_LAYER_ETHERNET &&
		    hides_family(ports->items[i]->device->device)) {
			rna_env_set(advising, "UCX_UD_VERBS_ETH_DGID_CHECK", "n",
				    rna_arena_printf(
					    advising->arena,
					    "%s does not tell datagrams of IPv4 from IPv6: so UCX "
					    "before 1.19 drops those of IPv4, and does not connect "
					    "(ucx#10209)",
					    rna_env_name(advising, ports->items[i])));
			return;
		}
}

/*
 * UCX makes its own transports for mlx5; other drivers have rc_verbs, which takes a shared receive
 * queue (uct_rc_verbs_iface in src/uct/ib/rc/verbs), and ud_verbs. NIXL opens an endpoint to itself
 * when it starts and needs a transport for it, which with a list of ports alone may be none
 * (sgl-project/sglang#40641); ionic has no shared receive queue (sglang#30099).
 */
static void warn_of_driver(struct rna_env_advising *advising)
{
	const struct rna_subject *other = rna_env_other_driver(&advising->ports);
	const char *driver = other ? other->device->device->driver : NULL;

	if (driver && strcmp(driver, "ionic") == 0)
		RNA_ENV_WARN(advising,
			     "%s: ionic had no shared receive queue, without which UCX has no "
			     "reliable transport on it (sglang#30099): try it before you rely on "
			     "it",
			     rna_env_name(advising, other));
	else if (driver)
		RNA_ENV_WARN(advising,
			     "%s: these variables were never tried with UCX on devices of %s: try "
			     "them before you rely on them",
			     rna_env_name(advising, other), driver);
}

/*
 * UCX makes a connection for each member of a bond with LACP by itself (UCX_IB_NUM_PATHS,
 * ucs_netif_bond_ad_num_ports() in src/ucs/sys/sock.c), and one for other bonds.
 */
static void warn_of_bonds(struct rna_env_advising *advising)
{
	size_t members = rna_env_count_members(advising, true);

	if (members > 0)
		RNA_ENV_WARN(advising,
			     "ports are bonds of %zu members, and UCX uses all of them by itself "
			     "with LACP only: without it measure whether UCX_IB_NUM_PATHS=%zu is "
			     "faster",
			     members, members);
}

/*
 * The length of the prefix that each network has, if that is one of one length. 0: there is none.
 */
static unsigned find_prefix_length(const struct rna_networks *networks)
{
	unsigned bits = networks->range_count > 0 ? networks->ranges[0].bits : 0;

	for (size_t i = 1; i < networks->range_count; i++)
		if (networks->ranges[i].bits != bits)
			return 0;
	if (bits == 0 || networks->range_count != networks->count)
		return 0;
	return rna_gid_family(&networks->ranges[0].address) == RNA_GID_IPV4 ? bits - RNA_IPV4_BIT
									    : bits;
}

/*
 * By itself UCX takes an address for reachable if there is a route to it (since 1.19,
 * uct_ib_iface_roce_is_routable() in src/uct/ib/base/ib_iface.c), and each plane may have one that
 * leads nowhere. Within one prefix it need not ask; the length is that of the interface, unless a
 * variable has it (uct_ib_iface_init_roce_addr_prefix()).
 */
static void choose_reachability(struct rna_env_advising *advising)
{
	static const char reason[] =
		"networks do not reach each other, and by itself UCX trusts any route: so it takes "
		"only addresses in the prefix of a network for reachable (since UCX 1.19)";
	unsigned length;

	if (advising->ports.items[0]->link_layer != RNA_LINK_LAYER_ETHERNET ||
	    !rna_env_networks_are_apart(&advising->ports))
		return;
	length = find_prefix_length(advising->view->networks);
	if (length == 0)
		return; /* the warning about networks says what remains */
	rna_env_set(advising, "UCX_IB_ROCE_REACHABILITY_MODE", "local_subnet", reason);
	rna_env_set(advising, "UCX_IB_ROCE_SUBNET_PREFIX_LEN",
		    rna_arena_printf(advising->arena, "%u", length), reason);
}

/* rails: the variable for the number of ports that carry one message. */
static void choose(struct rna_env_advising *advising, const char *rails)
{
	choose_rails(advising, rails);
	choose_reachability(advising);
	choose_check_of_datagrams(advising);
	warn_of_bonds(advising);
	warn_of_driver(advising);
	warn_of_flat_topology(advising);
}

void rna_env_choose_ucx(struct rna_env_advising *advising)
{
	choose(advising, "UCX_MAX_RNDV_RAILS");
}

/*
 * NIXL itself sets UCX_MAX_RMA_RAILS and others, unless they are in the environment; but the
 * devices of its parameter device_list replace UCX_NET_DEVICES (src/plugins/ucx/ucx_utils.cpp).
 */
void rna_env_choose_nixl(struct rna_env_advising *advising)
{
	choose(advising, "UCX_MAX_RMA_RAILS");
}

/* -- Open MPI ---------------------------------------------------------------------------------- */

/* Its default for opal_common_ucx_devices is mlx* (opal/mca/common/ucx/common_ucx.c). */
static void choose_pml(struct rna_env_advising *advising)
{
	const struct rna_subject *other = rna_env_other_driver(&advising->ports);
	const char *reason =
		"by itself Open MPI goes on over TCP if UCX fails, slowly and silently";

	if (other)
		reason = rna_arena_printf(
			advising->arena,
			"by itself Open MPI prefers TCP on devices of other drivers "
			"than mlx4 and mlx5, as %s is (%s)",
			rna_env_name(advising, other),
			other->device->device->driver ? other->device->device->driver : "software");
	rna_env_set(advising, "OMPI_MCA_pml", "ucx", reason);
}

/*
 * UCX warns of btl/uct (docs/source/running.md): both hook malloc. 4.1 has openib as well, which
 * opens the ports a second time; it is gone in 5.0 (opal/mca/btl). A name that Open MPI does not
 * have is ignored behind ^ (mca_base_components_filter()).
 */
static void choose_btl(struct rna_env_advising *advising)
{
	rna_env_set(
		advising, "OMPI_MCA_btl", "^openib,uct",
		"the ports belong to UCX: openib (before Open MPI 5.0) opens them a second time, "
		"and UCX documents that uct can corrupt data beside it");
}

void rna_env_choose_openmpi(struct rna_env_advising *advising)
{
	choose_pml(advising);
	choose_btl(advising);
	rna_env_choose_ucx(advising);
}
