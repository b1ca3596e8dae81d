// SPDX-License-Identifier: Apache-2.0
/*
 * The libraries: one table. To add one, add its number in rna/model/env.h and a row here.
 */
#include <string.h>

#include "dialect.h"

const char *const rna_env_names[] = {
	[RNA_ENV_NCCL] = "nccl",         [RNA_ENV_RCCL] = "rccl",
	[RNA_ENV_UCX] = "ucx",           [RNA_ENV_NVSHMEM] = "nvshmem",
	[RNA_ENV_NIXL] = "nixl",         [RNA_ENV_OPENMPI] = "openmpi",
	[RNA_ENV_MOONCAKE] = "mooncake", [RNA_ENV_LIBRARY_COUNT] = NULL,
};

#define NCCL_GIDS(who)                                                                             \
	{                                                                                          \
		.title = (who), .index = "NCCL_IB_GID_INDEX", .family = "NCCL_IB_ADDR_FAMILY",     \
		.range = "NCCL_IB_ADDR_RANGE", .roce_version = "NCCL_IB_ROCE_VERSION_NUM",         \
		.select = rna_env_nccl_select                                                      \
	}

/* connect.cc: the index of the queue pair's P_Key */
#define NCCL_PKEY                                                                                  \
	{                                                                                          \
		.name = "NCCL_IB_PKEY", .alone = "by itself it takes index 0"                      \
	}

#define NCCL_QOS(who)                                                                              \
	{                                                                                          \
		.title = (who), .traffic_class = "NCCL_IB_TC", .level = "NCCL_IB_SL",              \
		.select = rna_env_nccl_select                                                      \
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
		.range = "UCX_IB_ROCE_SUBNETS", .range_since = "UCX 1.18",                         \
		.select = rna_env_ucx_select                                                       \
	}

/* uct_ib_iface_init_pkey() in src/uct/ib/base/ib_iface.c */
#define UCX_PKEY                                                                                   \
	{                                                                                          \
		.name = "UCX_IB_PKEY", .by_value = true,                                           \
		.alone = "; by itself UCX takes the first of which a port is a full member"        \
	}

#define UCX_APART                                                                                  \
	"give each process ports of one of them in UCX_NET_DEVICES, on both nodes of the same"

#define UCX_QOS                                                                                    \
	{                                                                                          \
		.title = "UCX", .traffic_class = "UCX_IB_TRAFFIC_CLASS", .level = "UCX_IB_SL",     \
		.standard = UCX_STANDARD_CLASS, .select = rna_env_ucx_select                       \
	}

/* In the order of enum rna_env_library. */
const struct rna_env_dialect rna_env_dialects[RNA_ENV_LIBRARY_COUNT] = {
	/* NVIDIA/nccl 2.30.7, src/transport/net_ib, src/misc/socket.cc */
	{
		.source = "NVIDIA/nccl 2.30.7: src/transport/net_ib, src/graph/topo.cc, "
			  "src/misc/utils.cc, socket.cc",
		.lists_planes = true,
		.apart = "NCCL 2.30 keeps them apart by the planes in NCCL_IB_HCA, before it only "
			 "if it joins the ports of a card in the same order on all nodes",
		.pkey = NCCL_PKEY,
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
		.source = "ROCm/rccl 2.21.5: src/transport/net_ib.cc, src/misc/socket.cc",
		.apart = "list those of one in NCCL_IB_HCA, the same on all nodes, unless RCCL "
			 "joins the ports of each card",
		.pkey = NCCL_PKEY,
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
		.source = "openucx/ucx 1.22.0: src/uct/ib/base, src/ucp/core",
		.apart = UCX_APART,
		.pkey = UCX_PKEY,
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
		.source = "NVIDIA/nvshmem 3.5.1: src/modules/transport/common; 3.7.0: "
			  "NVSHMEM_IB_PKEY_INDEX (nvshmem#82)",
		.apart = "list those of one in NVSHMEM_HCA_LIST, the same on all nodes",
		.pkey.name = "NVSHMEM_IB_PKEY_INDEX",
		.pkey.alone = "by itself it takes index 0, and before 3.7.0 always (nvshmem#82)",
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
		.qos.select = rna_env_nccl_select,
		.sockets = "NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME",
		.sockets_alone = "the first of ib*, or of what is not docker* and lo, if "
				 "NVSHMEM_BOOTSTRAP is UID",
		.choose = rna_env_choose_nvshmem,
	},
	/* ai-dynamo/nixl 1.4.0, src/plugins/ucx */
	{
		.source = "ai-dynamo/nixl 1.4.0: src/plugins/ucx; openucx/ucx 1.22.0",
		.list_end = ",lo",
		.apart = UCX_APART,
		.pkey = UCX_PKEY,
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
		.source = "open-mpi/ompi 4.1.6, 5.0.10: opal/mca/common/ucx; openucx/ucx 1.22.0",
		.list_end = ",lo",
		.apart = UCX_APART,
		.pkey = UCX_PKEY,
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
	/* MC_MS_FILTERS: mooncake-store/src/client_service.cpp */
	{
		.source = "kvcache-ai/Mooncake 3b5a59413 (2026-08-22): "
			  "mooncake-transfer-engine/src/config.cpp, rdma_gid_probe.h",
		.words.title = "Mooncake",
		.words.list = "MC_MS_FILTERS",
		.words.reserved = ",",
		.words.no_verbs = "the transport efa of Mooncake is for EFA",
		.words.other_layer = ": another network",
		.lists_devices = true,
		.ports_max = SIZE_MAX,
		.apart = "list those of one, the same on all nodes",
		.pkey.name = "MC_PKEY_INDEX",
		.pkey.alone = "by itself it takes index 0",
		.gids.title = "Mooncake",
		.gids.index = "MC_GID_INDEX",
		.gids.select = rna_env_mooncake_select,
		.qos.title = "Mooncake",
		.qos.traffic_class = "MC_IB_TC",
		.qos.level = "MC_IB_SL",
		.qos.select = rna_env_mooncake_select,
		.choose = rna_env_choose_mooncake,
	},
};

/* -- Documents --------------------------------------------------------------------------------- */

/* Variables, and options of programs, that are no names of a dialect: of a file env_*.c each. */
static const struct {
	const char *name, *meaning, *source;
	unsigned libraries; /* bits of enum rna_env_library */
	const char *since;  /* the version that has it first; NULL: all of interest have it */
} others[] = {
#define OF(library) (1U << RNA_ENV_##library)
	{"NCCL_IB_MERGE_VFS", "cards on one PCI bus stay apart",
	 "NCCL 2.30.7 `src/transport/net_ib/init.cc`", OF(NCCL) | OF(RCCL)},
	{"NCCL_IB_QPS_PER_CONNECTION", "a queue pair for each member of a bond", "NVIDIA/nccl#1015",
	 OF(NCCL) | OF(RCCL)},
	{"NCCL_IB_SPLIT_DATA_ON_QPS", "messages take turns with the queue pairs",
	 "NVIDIA/nccl#1015, nccl#1401", OF(NCCL) | OF(RCCL)},
	{"NCCL_DMABUF_ENABLE", "the memory of GPUs by dma-buf",
	 "RCCL 2.21.5 `src/misc/rocmwrap.cc`", OF(RCCL)},
	{"UCX_MAX_RNDV_RAILS", "all ports of a GPU for one message",
	 "UCX 1.22.0 `src/ucp/core/ucp_context.c`", OF(UCX) | OF(OPENMPI)},
	{"UCX_MAX_RMA_RAILS", "all ports of a GPU for one message",
	 "NIXL 1.4.0 `src/plugins/ucx/ucx_utils.cpp`", OF(NIXL), "UCX 1.14"},
	{"UCX_IB_ROCE_REACHABILITY_MODE", "networks that do not reach each other",
	 "UCX 1.22.0 `src/uct/ib/base/ib_iface.c`", OF(UCX) | OF(NIXL) | OF(OPENMPI), "UCX 1.19"},
	{"UCX_IB_ROCE_SUBNET_PREFIX_LEN", "networks that do not reach each other",
	 "UCX 1.22.0 `src/uct/ib/base/ib_iface.c`", OF(UCX) | OF(NIXL) | OF(OPENMPI)},
	{"UCX_UD_VERBS_ETH_DGID_CHECK",
	 "connections of UCX before 1.19 over IPv4, on irdma and ionic", "openucx/ucx#10209",
	 OF(UCX) | OF(NIXL) | OF(OPENMPI)},
	{"OMPI_MCA_pml", "UCX, and an error if it fails",
	 "Open MPI 5.0.10 `opal/mca/common/ucx/common_ucx.c`", OF(OPENMPI)},
	{"OMPI_MCA_btl", "nothing beside UCX opens the ports",
	 "UCX 1.22.0 `docs/source/running.md`", OF(OPENMPI)},
	{"NVSHMEM_HCA_PREFIX", "names of devices that do not contain mlx5",
	 "NVSHMEM 3.4.5 `src/modules/transport/ibgda/ibgda.cpp`", OF(NVSHMEM)},
	{"NVSHMEM_ENABLE_NIC_PE_MAPPING", "the list of ports counts",
	 "NVSHMEM 3.5.1 `src/host/transport/transport.cpp`", OF(NVSHMEM)},
	{"MC_IB_PORT", "another port than 1",
	 "Mooncake 3b5a59413 `mooncake-transfer-engine/src/config.cpp`", OF(MOONCAKE)},
	{"WITH_NVIDIA_PEERMEM", "the memory of GPUs by dma-buf",
	 "vLLM 00f4240e `docs/features/mooncake_connector_usage.md`", OF(MOONCAKE)},
	{"backends", "UCX, of vLLM's NixlConnector: by default, in kv_connector_extra_config",
	 "vLLM 026c83f9 `docs/features/nixl_connector_usage.md`", OF(NIXL)},
	/* initialize() of both hands it to the engine, which selects devices by it */
	{"--disaggregation-ib-device",
	 "the devices, of SGLang: a list, or JSON with one for each GPU",
	 "SGLang 00157bdc `srt/distributed/device_communicators/mooncake_transfer_engine.py`",
	 OF(MOONCAKE)},
	{"MOONCAKE_DEVICE", "the devices, of SGLang's cache", "SGLang 0003215c `srt/environ.py`",
	 OF(MOONCAKE)},
	{"device_name", "the devices, of vLLM: in kv_connector_extra_config",
	 "vLLM 00f4240e `kv_connector/v1/mooncake/mooncake_connector.py`", OF(MOONCAKE)},
#undef OF
};

/* What each dialect names, in the order of the table. */
enum role { LIST, INDEX, FAMILY, RANGE, PKEY, CLASS, LEVEL, SOCKETS, ROLE_COUNT };

static const char *const meanings[ROLE_COUNT] = {
	[LIST] = "the ports",
	[INDEX] = "the GID of RoCE, by its index",
	[FAMILY] = "the GID of RoCE, by its kind of address",
	[RANGE] = "the GID of RoCE, by its prefix",
	[PKEY] = "the partition of InfiniBand",
	[CLASS] = "the lossless priority, by DSCP",
	[LEVEL] = "the lossless priority, by VLAN tag",
	[SOCKETS] = "the interface for what is no RDMA",
};

static const char *name_in(const struct rna_env_dialect *dialect, enum role role)
{
	const char *const names[ROLE_COUNT] = {
		[LIST] = dialect->words.list,    [INDEX] = dialect->gids.index,
		[FAMILY] = dialect->gids.family, [RANGE] = dialect->gids.range,
		[PKEY] = dialect->pkey.name,     [CLASS] = dialect->qos.traffic_class,
		[LEVEL] = dialect->qos.level,    [SOCKETS] = dialect->sockets,
	};

	return names[role];
}

/* libraries: bits of enum rna_env_library. source: NULL: that of the first one; since: as above. */
static void write_row(const char *name, unsigned libraries, const char *meaning, const char *source,
		      const char *since, struct rna_strbuf *out)
{
	const char *between = "\t";

	rna_strbuf_printf(out, "`%s`", name);
	for (size_t i = 0; i < RNA_ENV_LIBRARY_COUNT; i++) {
		if (!(libraries & 1U << i))
			continue;
		rna_strbuf_printf(out, "%s%s", between, rna_env_dialects[i].words.title);
		between = ", ";
		source = source ? source : rna_env_dialects[i].source;
	}
	rna_strbuf_printf(out, "\t%s\t%s%s%s\n", meaning, source, since ? "; since " : "",
			  since ? since : "");
}

/* The libraries that name it so, if this is the first of them. */
static unsigned find_libraries(size_t first, enum role role)
{
	const char *name = name_in(&rna_env_dialects[first], role);
	unsigned libraries = 0;

	for (size_t i = 0; name && i < RNA_ENV_LIBRARY_COUNT; i++) {
		const char *other = name_in(&rna_env_dialects[i], role);

		if (other && strcmp(other, name) == 0)
			libraries |= 1U << i;
	}
	return libraries & ((1U << first) - 1) ? 0 : libraries;
}

void rna_env_describe(struct rna_strbuf *out)
{
	rna_strbuf_puts(out, "Variable\tLibrary\tMeaning\tSource\n");
	for (size_t i = 0; i < RNA_ENV_LIBRARY_COUNT; i++)
		for (enum role role = 0; role < ROLE_COUNT; role++) {
			unsigned libraries = find_libraries(i, role);

			if (libraries)
				write_row(name_in(&rna_env_dialects[i], role), libraries,
					  meanings[role], NULL,
					  role == RANGE ? rna_env_dialects[i].gids.range_since
							: NULL,
					  out);
		}
	for (size_t i = 0; i < RNA_ARRAY_SIZE(others); i++)
		write_row(others[i].name, others[i].libraries, others[i].meaning, others[i].source,
			  others[i].since, out);
}
