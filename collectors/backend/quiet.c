// SPDX-License-Identifier: Apache-2.0
/*
 * Replaces verbs, RDMA netlink and MADs while the agent is quiesced and must not open the RDMA
 * stack: it answers as if the device were not accessible, which is normal in a container.
 */
#include <errno.h>

#include "backends.h"

static int query_no_ports(const struct rna_root *root, const struct rna_device *device,
			  struct rna_verbs_port *ports)
{
	(void)root, (void)device, (void)ports;
	return -ENOENT;
}

int rna_verbs_query_no_gids(const struct rna_root *root, const struct rna_device *device,
			    struct rna_arena *arena, struct rna_verbs_gids *ret)
{
	(void)root, (void)device, (void)arena, (void)ret;
	return -ENOENT;
}

const struct rna_verbs_backend rna_quiet_verbs = {query_no_ports, rna_verbs_query_no_gids};

static int find_no_netdev(struct rna_rdma_numbers *numbers, const char *device, unsigned port,
			  char ret[IF_NAMESIZE])
{
	(void)numbers, (void)device, (void)port, (void)ret;
	return -ENOENT;
}

static int find_no_parent(struct rna_rdma_numbers *numbers, const char *device,
			  char ret[RNA_RDMA_NAME_MAX])
{
	(void)numbers, (void)device, (void)ret;
	return -ENOENT;
}

int rna_rdma_netlink_get_no_counters(struct rna_rdma_numbers *numbers, const char *device,
				     unsigned port, struct rna_arena *arena,
				     struct rna_netlink_counters *ret)
{
	(void)numbers, (void)device, (void)port, (void)arena, (void)ret;
	return -ENOENT;
}

static int get_no_resources(struct rna_rdma_numbers *numbers, const char *device,
			    struct rna_resource_counts *ret, struct rna_context_list *ret_contexts)
{
	(void)numbers, (void)device, (void)ret, (void)ret_contexts;
	return -ENOENT;
}

static int get_no_optional(struct rna_rdma_numbers *numbers, const char *device,
			   struct rna_arena *arena, struct rna_port_optional_counters *ret)
{
	(void)numbers, (void)device, (void)arena, (void)ret;
	return -ENOENT;
}

const struct rna_rdma_netlink_backend rna_quiet_rdma_netlink = {
	.find_parent = find_no_parent,
	.find_netdev = find_no_netdev,
	.get_counters = rna_rdma_netlink_get_no_counters,
	.get_resources = get_no_resources,
	.get_optional = get_no_optional,
};

static bool serves_no_port(const struct rna_root *root, const struct rna_device *device,
			   unsigned port)
{
	(void)root, (void)device, (void)port;
	return false;
}

static int query_no_port(const struct rna_root *root, const struct rna_device *device,
			 unsigned port, struct rna_mad_port *ret)
{
	(void)root, (void)device, (void)port, (void)ret;
	return -ENOENT;
}

static int query_no_counters(const struct rna_root *root, const struct rna_device *device,
			     unsigned port, struct rna_mad_counters *ret)
{
	(void)root, (void)device, (void)port, (void)ret;
	return -ENOENT;
}

static int query_no_fabric(const struct rna_root *root, const struct rna_device *device,
			   unsigned port, unsigned topics, struct rna_mad_fabric *ret)
{
	(void)root, (void)device, (void)port, (void)topics, (void)ret;
	return -ENOENT;
}

const struct rna_mad_backend rna_quiet_mad = {
	serves_no_port,
	query_no_port,
	query_no_counters,
	query_no_fabric,
};
