// SPDX-License-Identifier: Apache-2.0
/*
 * What only Mooncake has: the transfer engine of SGLang and vLLM. Source: kvcache-ai/Mooncake
 * 3b5a59413 (2026-08-22), mooncake-transfer-engine.
 */
#include <string.h>

#include "dialect.h"

/* 10/8, 172.16/12, 192.168/16 (RFC 1918) and 100.64/10 (RFC 6598), which it takes for overlays. */
static bool is_private(const struct rna_gid *gid)
{
	const uint8_t *address = &gid->bytes[12];

	return rna_gid_family(gid) == RNA_GID_IPV4 &&
	       (address[0] == 10 || (address[0] == 172 && address[1] >> 4 == 1) ||
		(address[0] == 192 && address[1] == 168) ||
		(address[0] == 100 && address[1] >> 6 == 1));
}

/* The lower, the better. */
static unsigned rank_of(const struct rna_gid_entry *entry)
{
	if (rna_gid_is_link_local(&entry->gid))
		return 2;
	return is_private(&entry->gid);
}

/*
 * selectBestAutoGidCandidate() of rdma_gid_probe: the first of RoCE v2 of the best kind. It also
 * knows interfaces of overlays by their names, of which no RDMA device has any.
 */
const struct rna_gid_entry *rna_env_mooncake_select(const struct rna_port_gids *gids,
						    const struct rna_nccl_settings *settings,
						    unsigned *ret_index)
{
	const struct rna_gid_entry *best = NULL;

	*ret_index = settings->gid_index >= 0 ? (unsigned)settings->gid_index : 0;
	if (settings->gid_index >= 0)
		return rna_port_gids_find(gids, *ret_index);
	for (size_t i = 0; i < gids->count; i++)
		if (gids->entries[i].type == RNA_GID_TYPE_ROCE_V2 &&
		    (!best || rank_of(&gids->entries[i]) < rank_of(best)))
			best = &gids->entries[i];
	*ret_index = best ? best->index : 0;
	return best;
}

/* MC_IB_PORT is one number for all devices. */
static void choose_port(struct rna_env_advising *advising)
{
	const struct rna_env_ports *ports = &advising->ports;
	unsigned first = ports->items[0]->port;

	for (size_t i = 1; i < ports->count; i++)
		if (ports->items[i]->port != first) {
			RNA_ENV_WARN(advising,
				     "%s and %s have different numbers of ports, and Mooncake uses "
				     "one number for all devices (MC_IB_PORT)",
				     rna_env_name(advising, ports->items[0]),
				     rna_env_name(advising, ports->items[i]));
			return;
		}
	if (first != 1)
		rna_env_set(advising, "MC_IB_PORT", rna_arena_printf(advising->arena, "%u", first),
			    "by itself Mooncake uses port 1 of each device");
}

/*
 * Programs hand the list over to Mooncake: SGLang and vLLM, whose sources the table of dialects.c
 * has. Both take names of devices without ports, and SGLang such a list for each GPU as well.
 */
static void warn_of_list(struct rna_env_advising *advising)
{
	rna_env_warn(advising,
		     "MC_MS_FILTERS is for Mooncake's store with MC_MS_AUTO_DISC=1; give the same "
		     "list to SGLang as --disaggregation-ib-device, or as JSON a list for each GPU "
		     "({\"0\": \"mlx5_0\"}), and as MOONCAKE_DEVICE for its cache, and to vLLM's "
		     "MooncakeConnector as device_name of kv_connector_extra_config; if they use "
		     "NIXL instead, see --for=nixl");
}

void rna_env_choose_mooncake(struct rna_env_advising *advising)
{
	const char *index = rna_env_given(advising, "NCCL_IB_GID_INDEX");
	size_t members = rna_env_count_members(advising, false);

	choose_port(advising);
	if (rna_env_needs_dma_buf(advising, "nvidia"))
		rna_env_set(advising, "WITH_NVIDIA_PEERMEM", "0",
			    "dma-buf is the only way for NICs to access the memory of GPUs here "
			    "(nvidia-peermem is not loaded), and Mooncake does not use it by "
			    "itself");
	warn_of_list(advising);
	if (index && !rna_env_given(advising, "MC_GID_INDEX"))
		RNA_ENV_WARN(advising,
			     "without MC_GID_INDEX Mooncake takes NCCL_IB_GID_INDEX of the "
			     "environment, %.16s",
			     index);
	if (members > 0)
		RNA_ENV_WARN(advising,
			     "ports are bonds of %zu members, of which a queue pair uses one: "
			     "measure whether MC_MLX5_QP_LAG_PORT_BALANCE=1 is faster (a binary "
			     "with USE_MLX5DV)",
			     members);
}
