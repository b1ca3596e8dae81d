// SPDX-License-Identifier: Apache-2.0
/*
 * The libraries: one table. To add one, add its number in rna/model/env.h and a row here.
 */
#include "dialect.h"

const char *const rna_env_names[] = {
	[RNA_ENV_NCCL] = "nccl",        [RNA_ENV_RCCL] = "rccl", [RNA_ENV_UCX] = "ucx",
	[RNA_ENV_NVSHMEM] = "nvshmem",  [RNA_ENV_NIXL] = "nixl", [RNA_ENV_OPENMPI] = "openmpi",
	[RNA_ENV_LIBRARY_COUNT] = NULL,
};

#define NCCL_GIDS(who)                                                                             \
	{                                                                                          \
		.title = (who), .index = "NCCL_IB_GID_INDEX", .family = "NCCL_IB_ADDR_FAMILY",     \
		.range = "NCCL_IB_ADDR_RANGE", .roce_version = "NCCL_IB_ROCE_VERSION_NUM",         \
		.select = rna_env_nccl_select                                                      \
	}

#define NCCL_QOS(who)                                                                              \
	{                                                                                          \
		.title = (who), .traffic_class = "NCCL_IB_TC", .level = "NCCL_IB_SL",              \
		.gid_of = rna_env_nccl_gid_of                                                      \
	}

/*
 * The traffic class is that of UCT_IB_DEFAULT_ROCEV2_DSCP in src/uct/ib/base/ib_device.h of UCX,
 * whose name is wrong. Since 1.21 the one that the driver is configured for comes first
 * (uct_ib_device_query_roce_tclass()).
 */
#define UCX_STANDARD_CLASS 106
/* since 1.22 brackets are ranges; ^ in front negates (src/ucs/config/parser.c) */
#define UCX_RESERVED  ",:[]^"
#define UCX_PORTS_MAX 64 /* ucp_is_resource_in_device_list() in src/ucp/core/ucp_context.c */

#define UCX_GIDS                                                                                   \
	{                                                                                          \
		.title = "UCX before 1.21", .index = "UCX_IB_GID_INDEX",                           \
		.select = rna_env_ucx_select                                                       \
	}

#define UCX_QOS                                                                                    \
	{                                                                                          \
		.title = "UCX", .traffic_class = "UCX_IB_TRAFFIC_CLASS", .level = "UCX_IB_SL",     \
		.standard = UCX_STANDARD_CLASS, .gid_of = rna_env_ucx_gid_of                       \
	}

/* In the order of enum rna_env_library. */
const struct rna_env_dialect rna_env_dialects[RNA_ENV_LIBRARY_COUNT] = {
	/* NVIDIA/nccl 2.30.7, src/transport/net_ib, src/misc/socket.cc */
	{
		.words.title = "NCCL",
		.words.list = "NCCL_IB_HCA",
		.words.reserved = ",:",
		.words.no_verbs = "NCCL wants a plug-in for it, aws-ofi-nccl for EFA",
		.words.other_layer = ", and NCCL does not mix them",
		.list_start = "=",
		.ports_max = 32, /* MAX_IB_DEVS */
		.gids = NCCL_GIDS("NCCL"),
		.qos = NCCL_QOS("NCCL"),
		.sockets = "NCCL_SOCKET_IFNAME",
		.sockets_alone = "the first of ib*, or of what is not docker*, lo and virbr*",
		.choose = rna_env_choose_nccl,
	},
	/* ROCm/rccl 2.21.5, src/transport/net_ib.cc, src/misc/socket.cc */
	{
		.words.title = "RCCL",
		.words.list = "NCCL_IB_HCA",
		.words.reserved = ",:",
		.words.no_verbs = "RCCL wants a plug-in for it",
		.words.other_layer = ", and RCCL does not mix them",
		.list_start = "=",
		.ports_max = 32, /* MAX_IB_DEVS */
		.gids = NCCL_GIDS("RCCL"),
		.qos = NCCL_QOS("RCCL"),
		.sockets = "NCCL_SOCKET_IFNAME",
		.sockets_alone = "the first of ib*, or of what is not docker* and lo",
		.choose = rna_env_choose_rccl,
	},
	/* openucx/ucx 1.22.0; srd: NEWS of 1.19.0 */
	{
		.words.title = "UCX",
		.words.list = "UCX_NET_DEVICES",
		.words.reserved = UCX_RESERVED,
		.words.no_verbs = "libfabric is for it; UCX has only srd for EFA, since 1.19",
		.words.other_layer = ": another network",
		.ports_max = UCX_PORTS_MAX,
		.gids = UCX_GIDS,
		.qos = UCX_QOS,
		.choose = rna_env_choose_ucx,
	},
	/*
	 * NVIDIA/nvshmem 3.5.1, src/modules/transport/common: the GID is chosen as in NCCL, from
	 * which the code was taken (transport_ib_common.h). MAX_NUM_HCAS is in ibrc/ibrc.cpp; the
	 * sockets are those of src/modules/bootstrap/uid.
	 */
	{
		.words.title = "NVSHMEM",
		.words.list = "NVSHMEM_HCA_LIST",
		.words.reserved = ",:^",
		.words.no_verbs = "NVSHMEM_REMOTE_TRANSPORT=libfabric is for it, with "
				  "NVSHMEM_LIBFABRIC_PROVIDER=efa for EFA",
		.words.other_layer = ": another network",
		.ports_max = 48, /* MAX_NUM_HCAS */
		.gids.title = "NVSHMEM",
		.gids.index = "NVSHMEM_IB_GID_INDEX",
		.gids.family = "NVSHMEM_IB_ADDR_FAMILY",
		.gids.range = "NVSHMEM_IB_ADDR_RANGE",
		.gids.roce_version = "NVSHMEM_IB_ROCE_VERSION_NUM",
		.gids.select = rna_env_nccl_select,
		.qos.title = "NVSHMEM",
		.qos.traffic_class = "NVSHMEM_IB_TRAFFIC_CLASS",
		.qos.level = "NVSHMEM_IB_SL",
		.qos.gid_of = rna_env_nccl_gid_of,
		.sockets = "NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME",
		.sockets_alone = "the first of ib*, or of what is not docker* and lo, if "
				 "NVSHMEM_BOOTSTRAP is UID",
		.choose = rna_env_choose_nvshmem,
	},
	/* ai-dynamo/nixl 1.4.0, src/plugins/ucx */
	{
		.words.title = "NIXL",
		.words.list = "UCX_NET_DEVICES",
		.words.reserved = UCX_RESERVED,
		.words.no_verbs = "the back end LIBFABRIC of NIXL is for it",
		.words.other_layer = ": another network",
		.ports_max = UCX_PORTS_MAX,
		.gids = UCX_GIDS,
		.qos = UCX_QOS,
		.choose = rna_env_choose_nixl,
	},
	/* open-mpi/ompi 4.1.6 and 5.0.10, opal/mca/common/ucx, ompi/mca/pml/ucx */
	{
		.words.title = "Open MPI",
		.words.list = "UCX_NET_DEVICES",
		.words.reserved = UCX_RESERVED,
		.words.no_verbs = "pml cm with mtl ofi (libfabric) is for it",
		.words.other_layer = ": another network",
		.ports_max = UCX_PORTS_MAX,
		.gids = UCX_GIDS,
		.qos = UCX_QOS,
		.choose = rna_env_choose_openmpi,
	},
};
