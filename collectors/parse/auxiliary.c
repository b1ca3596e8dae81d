// SPDX-License-Identifier: Apache-2.0
#include "auxiliary.h"

#include <string.h>

#include "rna/base/cleanup.h"

/*
 * The names of drivers/net/ethernet/mellanox/mlx5/core/dev.c (mlx5_adev_devices), drivers/net/
 * ethernet/intel/ice/ice_idc.c and i40e/i40e_client.c, Linux 6.11.
 */
static const struct {
	const char *part;
	enum rna_auxiliary_kind kind;
} kinds[] = {
	{".rdma.", RNA_AUXILIARY_RDMA},        {".roce.", RNA_AUXILIARY_RDMA},
	{".iwarp.", RNA_AUXILIARY_RDMA},       {".rdma-rep.", RNA_AUXILIARY_SHARED},
	{".multiport.", RNA_AUXILIARY_SHARED}, {".eth.", RNA_AUXILIARY_ETHERNET},
	{".eth-rep.", RNA_AUXILIARY_ETHERNET},
};

enum rna_auxiliary_kind rna_auxiliary_kind(const char *name)
{
	for (size_t i = 0; i < RNA_ARRAY_SIZE(kinds); i++)
		if (strstr(name, kinds[i].part))
			return kinds[i].kind;
	return RNA_AUXILIARY_NONE;
}
