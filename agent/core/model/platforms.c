// SPDX-License-Identifier: Apache-2.0
/*
 * The table of platforms. A row is known by texts of the firmware, by the GPU, or by both; a
 * machine may be of several rows, and for each fact the first that states it counts. PCI ids of
 * GPUs are those of pci.ids (2026).
 */
#include <fnmatch.h>
#include <stddef.h>

#include "rna/base/cleanup.h"
#include "rna/model/readiness.h"

enum {
	NVIDIA = 0x10de,
	GPUS_MAX = 6, /* of a row */
};

/* Globs of DMI; NULL: any, also none. GPUs of NVIDIA up to 0; none: any, also none. */
static const struct {
	const char *vendor, *product, *asset_tag;
	uint16_t gpus[GPUS_MAX];
	struct rna_platform is;
} rows[] = {
	/*
	 * DGX Spark, and boards of other makers with the same SoC. GPUDirect: NVIDIA's answer in
	 * forums.developer.nvidia.com/t/dgx-spark-gpudirect-rdma/348787/6. Power:
	 * NVIDIA/dgx-spark-playbooks#108, graham33/nixos-dgx-spark#165. Cages: two functions in the
	 * PCI domains 0 and 2 for each, of four lanes (dgx-spark-playbooks#102).
	 */
	{.gpus = {0x2e12},
	 .is = {.no_gpudirect = "devices cannot access the unified memory of the GB10 that CUDA "
				"allocates, neither by nvidia-peermem nor by dma-buf or GDRCopy",
		.slot_power_is_normal = true,
		.shared_cages = true,
		.nic_on_board = true}},
	/*
	 * Grace: GH200, GB200, GB300. That 2345, which pci.ids names a GH100 only, is a GH200 is
	 * not proven: its id lies between two of them.
	 */
	{.gpus = {0x2342, 0x2345, 0x2348, 0x2941, 0x31c2, 0x31c3}, .is = {.c2c = true}},
	/*
	 * A4X Max, the only type of Google's with a GB300: docs.cloud.google.com/ai-hypercomputer,
	 * create-a4xmax-instances-in-bulk, "available as bare metal instances".
	 */
	{"Google*", "Google Compute Engine", .gpus = {0x31c2, 0x31c3},
	 .is = {.kind = RNA_PLATFORM_METAL}},
	/* Amazon calls its machines without a hypervisor "metal". */
	{"Amazon EC2", "*metal*", .is = {.kind = RNA_PLATFORM_METAL}},
	/* A provider owns the machine, guest or not: cloud-init 04eacd0, cloudinit/sources. */
	{"Amazon EC2", .is = {.cloud = true}},
	{"Google*", "Google Compute Engine", .is = {.cloud = true}},
	{"Microsoft Corporation", .asset_tag = "7783-7084-3265-9085-8269-3286-77",
	 .is = {.cloud = true}},
	{"Alibaba Cloud*", .is = {.cloud = true}},
	{.asset_tag = "OracleCloud.com", .is = {.cloud = true}},
	/* opiproject/opi-smbios-bridge, README. */
	{"https://www.mellanox.com", "BlueField*", .is = {.nic_on_board = true}},
	/* Hypervisors and clouds: systemd, src/basic/virt.c, detect_vm_dmi_vendor(). */
	{"Amazon EC2", .is = {.kind = RNA_PLATFORM_GUEST}},
	{"Google*", "Google Compute Engine", .is = {.kind = RNA_PLATFORM_GUEST}},
	{"Microsoft*", "Virtual Machine", .is = {.kind = RNA_PLATFORM_GUEST}},
	{"Alibaba Cloud*", .is = {.kind = RNA_PLATFORM_GUEST}},
	{"QEMU*", .is = {.kind = RNA_PLATFORM_GUEST}},
	{"KVM*", .is = {.kind = RNA_PLATFORM_GUEST}},
	{"OpenStack*", .is = {.kind = RNA_PLATFORM_GUEST}},
	{"Red Hat*", "KVM*", .is = {.kind = RNA_PLATFORM_GUEST}},
	{"VMware*", .is = {.kind = RNA_PLATFORM_GUEST}},
	{"Xen*", .is = {.kind = RNA_PLATFORM_GUEST}},
	{"Parallels*", .is = {.kind = RNA_PLATFORM_GUEST}},
	{"innotek*", .is = {.kind = RNA_PLATFORM_GUEST}},
	{"Apple*", "*Virtual*", .is = {.kind = RNA_PLATFORM_GUEST}},
	/* A maker of machines, if it is none of those. */
	{"?*", .is = {.kind = RNA_PLATFORM_METAL}},
};

static bool fits_text(const char *glob, const char *text)
{
	return !glob || fnmatch(glob, text ? text : "", 0) == 0;
}

static bool fits_gpu(const uint16_t gpus[GPUS_MAX], uint32_t vendor_id, uint32_t device_id)
{
	for (size_t i = 0; i < GPUS_MAX && gpus[i]; i++)
		if (vendor_id == NVIDIA && gpus[i] == device_id)
			return true;
	return !gpus[0];
}

struct rna_platform rna_platform_of(const struct rna_dmi *dmi, uint32_t vendor_id,
				    uint32_t device_id)
{
	static const struct rna_dmi none = {0};
	struct rna_platform ret = {0};

	dmi = dmi ? dmi : &none;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(rows); i++) {
		const struct rna_platform *is = &rows[i].is;

		if (!fits_text(rows[i].vendor, dmi->vendor) ||
		    !fits_text(rows[i].product, dmi->product) ||
		    !fits_text(rows[i].asset_tag, dmi->asset_tag) ||
		    !fits_gpu(rows[i].gpus, vendor_id, device_id))
			continue;
		ret.kind = ret.kind ? ret.kind : is->kind;
		ret.no_gpudirect = ret.no_gpudirect ? ret.no_gpudirect : is->no_gpudirect;
		ret.c2c |= is->c2c;
		ret.slot_power_is_normal |= is->slot_power_is_normal;
		ret.shared_cages |= is->shared_cages;
		ret.nic_on_board |= is->nic_on_board;
		ret.cloud |= is->cloud;
	}
	return ret;
}
