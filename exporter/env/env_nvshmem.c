// SPDX-License-Identifier: Apache-2.0
/*
 * What only NVSHMEM has. Source: NVIDIA/nvshmem 3.5.1: src/modules/transport/common/env_defs.h,
 * ibrc/ibrc.cpp, ibgda/ibgda.cpp, and src/host/transport/transport.cpp.
 *
 * NVSHMEM filters NICs by NVSHMEM_HCA_LIST and then gives each PE the nearest of them, unless
 * NVSHMEM_ENABLE_NIC_PE_MAPPING is 1: then PE number n of a node gets NIC n of the list of
 * libibverbs (nvshmemi_setup_connections()), which is right only if PEs, GPUs and NICs are in the
 * same order.
 */
#include <string.h>

#include "rna/base/parse.h"

#include "dialect.h"

/* IBGDA and IBDEVX, which are for mlx5, take devices with this text in their names; IBRC all. */
static const char standard_prefix[] = "mlx5";

static const char *device_of(const struct rna_env_advising *advising, size_t i)
{
	return advising->ports.items[i]->device->device->name;
}

static size_t common_length(const char *a, const char *b)
{
	size_t len = 0;

	while (a[len] && a[len] == b[len])
		len++;
	return len;
}

/* Names like ibp24s0 or rocep24s0 are those of udev (rdma_rename of rdma-core). */
static void choose_prefix(struct rna_env_advising *advising)
{
	size_t len = strlen(device_of(advising, 0)), other = 0, digits;

	for (size_t i = 0; i < advising->ports.count; i++) {
		size_t common = common_length(device_of(advising, 0), device_of(advising, i));

		len = common < len ? common : len;
		other += rna_same_text(advising->ports.items[i]->device->device->driver,
				       "mlx5_core") &&
			 !strstr(device_of(advising, i), standard_prefix);
	}
	if (other == 0)
		return;
	digits = strcspn(device_of(advising, 0), "0123456789");
	len = digits > 0 && digits < len ? digits : len;
	if (len == 0)
		RNA_ENV_WARN(advising,
			     "%zu of %zu ports are of devices without %s in their name, and no "
			     "NVSHMEM_HCA_PREFIX fits all: the transports IBGDA and IBDEVX leave "
			     "out some of them",
			     other, advising->ports.count, standard_prefix);
	else
		rna_env_set(advising, "NVSHMEM_HCA_PREFIX",
			    rna_arena_printf(advising->arena, "%.*s", (int)len,
					     device_of(advising, 0)),
			    "the transports IBGDA and IBDEVX take only devices with this in their "
			    "name, by themselves mlx5 (NVSHMEM 3.4.5)");
}

/*
 * The documentation of NVSHMEM_HCA_LIST says that it needs this; the source of 3.5.1 reads the list
 * in any case. With one NIC it decides nothing else.
 */
static void choose_mapping(struct rna_env_advising *advising)
{
	if (rna_env_is_of_gpu(advising) && advising->ports.count == 1)
		rna_env_set(
			advising, "NVSHMEM_ENABLE_NIC_PE_MAPPING", "1",
			"documented as needed for NVSHMEM_HCA_LIST; with one NIC in the list it "
			"changes nothing else");
}

void rna_env_choose_nvshmem(struct rna_env_advising *advising)
{
	choose_mapping(advising);
	choose_prefix(advising);
	if (rna_env_is_flat_guest(advising))
		rna_env_warn(advising,
			     "the PCI tree of this virtual machine does not show which NIC is near "
			     "which GPU: NVSHMEM gives each PE one of them; use "
			     "NVSHMEM_HCA_PE_MAPPING with NVSHMEM_ENABLE_NIC_PE_MAPPING=1 if the "
			     "provider documents the order");
	rna_env_warn_of_vendor(advising, RNA_ENV_VENDOR_NVIDIA, "NVIDIA");
}
