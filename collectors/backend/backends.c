// SPDX-License-Identifier: Apache-2.0
#include "backends.h"

#include <errno.h>
#include <string.h>

const struct rna_backends *rna_backends_quiet(const struct rna_backends *backends)
{
	return backends->quiet ? backends->quiet : backends;
}

static struct rna_backends *add_quiet(struct rna_backends *backends)
{
	struct rna_backends *quiet = malloc(sizeof(*quiet));

	if (!quiet) {
		free(backends);
		return NULL;
	}
	*quiet = *backends;
	quiet->verbs = &rna_quiet_verbs;
	quiet->rdma_netlink = &rna_quiet_rdma_netlink;
	quiet->mad = &rna_quiet_mad;
	backends->quiet = quiet;
	return backends;
}

/*
 * libhwloc loads and unloads its plugins with each discovery: components that hwloc.c leaves out,
 * and that of libpciaccess 0.17, whose names of Intel's functions are lost when it is unloaded:
 * 12,000 strings, some 300 kB. Debian's Open MPI installs them (libhwloc-plugins 2.9.0). What is
 * built into libhwloc knows all that is needed here.
 */
void rna_backends_prepare_process(void)
{
	(void)setenv("HWLOC_PLUGINS_PATH", "", 1); /* fails for lack of memory */
}

struct rna_backends *rna_backends_new(const struct rna_root *root)
{
	struct rna_backends *backends = calloc(1, sizeof(*backends));
	bool live = rna_root_is_live(root);

	if (!backends)
		return NULL;
	*backends = (struct rna_backends){
		.root = root,
		.verbs = live ? &rna_verbs : &rna_recorded_verbs,
		.netdev = live ? &rna_rtnetlink : &rna_recorded_netdev,
		.gateways = live ? &rna_routing_tables : &rna_recorded_gateways,
		.lldp = live ? &rna_lldpd : &rna_recorded_lldp,
		.dcb = live ? &rna_dcb : &rna_recorded_dcb,
		.rdma_netlink = live ? &rna_rdma_netlink : &rna_recorded_rdma_netlink,
		.mad = live ? &rna_mad : &rna_recorded_mad,
		.hwloc = live ? &rna_hwloc : &rna_recorded_hwloc,
		.journal = live ? &rna_journal : &rna_recorded_journal,
		.ethtool = live ? &rna_ethtool : &rna_recorded_ethtool,
	};
	return add_quiet(backends);
}

struct rna_backends *rna_backends_free(struct rna_backends *backends)
{
	if (!backends)
		return NULL;
	free(backends->hwloc_xml);
	free(backends->quiet);
	free(backends);
	return NULL;
}

int rna_backends_set_hwloc_xml(struct rna_backends *backends, const char *file)
{
	char *copy = strdup(file);

	if (!copy)
		return -ENOMEM;
	free(backends->hwloc_xml);
	backends->hwloc_xml = copy;
	if (backends->quiet)
		backends->quiet->hwloc_xml = copy;
	return 0;
}

bool rna_backends_stack_exists(const struct rna_root *root)
{
	return rna_root_exists(root, "sys/class/infiniband");
}
