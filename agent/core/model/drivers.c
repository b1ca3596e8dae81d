// SPDX-License-Identifier: Apache-2.0
/*
 * The table of drivers. Each row names the file of Linux that its ids are from, as a copy of
 * torvalds/linux had it; patches on the lists of 2025 and 2026 told of the newest ones. Ranges are
 * wider than the lists of those files where a family goes on. Of functions, single ids stand before
 * the ranges that contain them: the first fits.
 *
 * Commands are those of the drivers of 6.12: mlx5 core/health.c mlx5_fw_reporters_create() (a
 * recovering fw_fatal for PFs, VFs and SFs) and core/devlink.c mlx5_devlink_reload_down() (no
 * reload in LAG mode, no fw_activate of VFs, and none if the firmware does not answer); bnxt
 * bnxt_devlink.c bnxt_fw_recover() and bnxt_dl_reload_down(); ice devlink/devlink.c; ionic
 * ionic_devlink.c.
 */
#include <string.h>

#include "rna/base/cleanup.h"
#include "rna/model/driver.h"

enum {
	AMAZON = 0x1d0f,
	ALIBABA = 0x1ded,
	BROADCOM = 0x14e4,
	CHELSIO = 0x1425,
	CISCO = 0x1137,
	CORNELIS = 0x434e,
	EMULEX = 0x10df,
	HUAWEI = 0x19e5,
	INTEL = 0x8086,
	MELLANOX = 0x15b3,
	MICROSOFT = 0x1414,
	PATHSCALE = 0x1fc1,
	PENSANDO = 0x1dd8,
	QLOGIC = 0x1077,
	VMWARE = 0x15ad,
	YUNSILICON = 0x1f67,
};

#define ONE(vendor, id, name)                                                                      \
	{                                                                                          \
		vendor, id, id, false, name                                                        \
	}
#define RANGE(vendor, first, last)                                                                 \
	{                                                                                          \
		vendor, first, last, false, NULL                                                   \
	}
#define VF(vendor, first, last)                                                                    \
	{                                                                                          \
		vendor, first, last, true, NULL                                                    \
	}
#define FUNCTIONS(...)                                                                             \
	(const struct rna_driver_functions[])                                                      \
	{                                                                                          \
		__VA_ARGS__,                                                                       \
		{                                                                                  \
			0                                                                          \
		}                                                                                  \
	}

static const struct rna_driver drivers[] = {
	/* ConnectX-2 and -3. drivers/net/ethernet/mellanox/mlx4/main.c, mlx4_pci_table */
	{.name = "mlx4_core",
	 .rdma = "mlx4_ib",
	 .functions = FUNCTIONS(VF(MELLANOX, 0x1002, 0x1002), VF(MELLANOX, 0x1004, 0x1004),
				ONE(MELLANOX, 0x1003, "ConnectX-3"),
				ONE(MELLANOX, 0x1007, "ConnectX-3-Pro"),
				RANGE(MELLANOX, 0x1005, 0x1010), RANGE(MELLANOX, 0x6340, 0x6778)),
	 .answers = RNA_DRIVER_ANSWERS_STATE,
	 .nvidia_tools = true,
	 .is_ca = true,
	 .lets_go = true,
	 .abi = 4},
	/*
	 * ConnectX-4 to -10, BlueField; 101e is the VF of all cards since ConnectX-6 Dx.
	 * drivers/net/ethernet/mellanox/mlx5/core/main.c, mlx5_core_pci_table; ConnectX-9 and -10
	 * in stable kernels of 2025
	 */
	{.name = "mlx5_core",
	 .rdma = "mlx5_ib",
	 .functions = FUNCTIONS(
		 VF(MELLANOX, 0x1012, 0x1012), VF(MELLANOX, 0x1014, 0x1014),
		 VF(MELLANOX, 0x1016, 0x1016), VF(MELLANOX, 0x1018, 0x1018),
		 VF(MELLANOX, 0x101a, 0x101a), VF(MELLANOX, 0x101c, 0x101c),
		 VF(MELLANOX, 0x101e, 0x101e), VF(MELLANOX, 0xa2d3, 0xa2d3),
		 ONE(MELLANOX, 0x1013, "ConnectX-4"), ONE(MELLANOX, 0x1015, "ConnectX-4-Lx"),
		 ONE(MELLANOX, 0x1017, "ConnectX-5"), ONE(MELLANOX, 0x1019, "ConnectX-5-Ex"),
		 ONE(MELLANOX, 0x101b, "ConnectX-6"), ONE(MELLANOX, 0x101d, "ConnectX-6-Dx"),
		 ONE(MELLANOX, 0x101f, "ConnectX-6-Lx"), ONE(MELLANOX, 0x1021, "ConnectX-7"),
		 ONE(MELLANOX, 0x1023, "ConnectX-8"), ONE(MELLANOX, 0x1025, "ConnectX-9"),
		 ONE(MELLANOX, 0x1027, "ConnectX-10"), RANGE(MELLANOX, 0x1011, 0x10ff),
		 RANGE(MELLANOX, 0x2101, 0x2101), ONE(MELLANOX, 0xa2d2, "BlueField"),
		 ONE(MELLANOX, 0xa2d6, "BlueField-2"), ONE(MELLANOX, 0xa2dc, "BlueField-3"),
		 ONE(MELLANOX, 0xa2df, "BlueField-4")),
	 .serves_all = true,
	 .answers = RNA_DRIVER_ANSWERS_STATE,
	 .recover = "devlink health recover pci/{pci} reporter fw_fatal",
	 .flashes = true,
	 .activates = true,
	 .nvidia_tools = true,
	 .trusts_table = true,
	 .reads_little = true,
	 .is_ca = true,
	 .lets_go = true,
	 .abi = 1},
	/*
	 * NetXtreme-E: Stratus, Thor (575xx) and Thor 2 (576xx).
	 * drivers/net/ethernet/broadcom/bnxt/bnxt.c, bnxt_pci_tbl; drivers/infiniband/hw/bnxt_re
	 */
	{.name = "bnxt_en",
	 .rdma = "bnxt_re",
	 .functions =
		 FUNCTIONS(VF(BROADCOM, 0x1606, 0x1609), VF(BROADCOM, 0x16bd, 0x16bd),
			   VF(BROADCOM, 0x16c1, 0x16c5), VF(BROADCOM, 0x16cb, 0x16cb),
			   VF(BROADCOM, 0x16d3, 0x16d3), VF(BROADCOM, 0x16dc, 0x16dc),
			   VF(BROADCOM, 0x16e1, 0x16e1), VF(BROADCOM, 0x16e5, 0x16e6),
			   VF(BROADCOM, 0x1806, 0x1809), VF(BROADCOM, 0x1819, 0x1819),
			   VF(BROADCOM, 0x181b, 0x181b), VF(BROADCOM, 0xd800, 0xd800),
			   ONE(BROADCOM, 0x1750, "BCM57508"), ONE(BROADCOM, 0x1751, "BCM57504"),
			   ONE(BROADCOM, 0x1752, "BCM57502"), ONE(BROADCOM, 0x1760, "BCM57608"),
			   ONE(BROADCOM, 0x1761, "BCM57604"), ONE(BROADCOM, 0x1762, "BCM57602"),
			   ONE(BROADCOM, 0x1763, "BCM57601"), RANGE(BROADCOM, 0x1604, 0x1605),
			   RANGE(BROADCOM, 0x1614, 0x1614), RANGE(BROADCOM, 0x16c0, 0x16c0),
			   RANGE(BROADCOM, 0x16c8, 0x16ca), RANGE(BROADCOM, 0x16cc, 0x16d9),
			   RANGE(BROADCOM, 0x16de, 0x16df), RANGE(BROADCOM, 0x16e2, 0x16e3),
			   RANGE(BROADCOM, 0x16e7, 0x16f1), RANGE(BROADCOM, 0x1800, 0x1805),
			   RANGE(BROADCOM, 0xd802, 0xd804)),
	 .recover = "devlink health recover pci/{pci} reporter fw",
	 .flashes = true,
	 .activates = true,
	 .is_ca = true,
	 .abi = 1},
	/*
	 * E810, E822, E823, E830; the VFs are of iavf, for which irdma makes no device.
	 * drivers/net/ethernet/intel/ice/ice_devids.h; drivers/infiniband/hw/irdma
	 */
	{.name = "ice",
	 .rdma = "irdma",
	 .functions = FUNCTIONS(VF(INTEL, 0x1889, 0x1889), ONE(INTEL, 0x1591, "E810"),
				ONE(INTEL, 0x1592, "E810"), ONE(INTEL, 0x1593, "E810"),
				ONE(INTEL, 0x159b, "E810"), RANGE(INTEL, 0x124c, 0x124f),
				RANGE(INTEL, 0x12d1, 0x12de), RANGE(INTEL, 0x151d, 0x151d),
				RANGE(INTEL, 0x1599, 0x159a), RANGE(INTEL, 0x1888, 0x189a)),
	 .flashes = true,
	 .activates = true,
	 .hides_family = true,
	 .whole_mtu = true,
	 .lets_go = true,
	 .abi = 5,
	 .to_roce = "devlink dev param set pci/{pci} name enable_iwarp value false cmode runtime; "
		    "devlink dev param set pci/{pci} name enable_roce value true cmode runtime. "
		    "With Intel's own irdma, load the module with roce_ena=1 instead"},
	/* X722, not X710. drivers/net/ethernet/intel/i40e/i40e_devids.h; i40e_client.c */
	{.name = "i40e",
	 .rdma = "irdma",
	 .functions = FUNCTIONS(RANGE(INTEL, 0x37ce, 0x37d3), RANGE(INTEL, 0x0dda, 0x0dda)),
	 .listed_only = true,
	 .whole_mtu = true,
	 .lets_go = true,
	 .abi = 5},
	/* IPU E2000. drivers/net/ethernet/intel/idpf/idpf_devids.h; RDMA in newer kernels only */
	{.name = "idpf",
	 .rdma = "irdma",
	 .functions = FUNCTIONS(VF(INTEL, 0x145c, 0x145c), RANGE(INTEL, 0x1452, 0x1452)),
	 .hides_family = true},
	/*
	 * EFA 0 to 4 (EC2). Its numbers are called VF (PCI_DEV_ID_EFA0_VF in
	 * drivers/infiniband/hw/efa/efa_main.c), on bare metal as well, so they say nothing.
	 */
	{.name = "efa",
	 .rdma = "efa",
	 .functions = FUNCTIONS(ONE(AMAZON, 0xefa0, "EFA"), ONE(AMAZON, 0xefa1, "EFA"),
				ONE(AMAZON, 0xefa2, "EFA"), ONE(AMAZON, 0xefa3, "EFA"),
				RANGE(AMAZON, 0xefa4, 0xefaf)),
	 .rdma_alone = true,
	 .answers = RNA_DRIVER_ANSWERS_COUNTERS,
	 .always_up = true,
	 .of_clouds = true,
	 .abi = 1},
	/*
	 * DSC and Pollara. drivers/net/ethernet/pensando/ionic/ionic.h; ionic_rdma is
	 * drivers/infiniband/hw/ionic of newer kernels, and in AMD's packages
	 */
	{.name = "ionic",
	 .rdma = "ionic_rdma",
	 .functions = FUNCTIONS(VF(PENSANDO, 0x1003, 0x1003), RANGE(PENSANDO, 0x1002, 0x1002)),
	 .is_ca = true,
	 .hides_family = true,
	 .flashes = true,
	 .abi = 1},
	/* Kunpeng. drivers/net/ethernet/hisilicon/hns3/hnae3.h: a220 and a221 have no RoCE */
	{.name = "hns3",
	 .rdma = "hns_roce_hw_v2",
	 .functions = FUNCTIONS(VF(HUAWEI, 0xa22e, 0xa22f), RANGE(HUAWEI, 0xa222, 0xa228)),
	 .listed_only = true,
	 .is_ca = true},
	/* ECS. drivers/infiniband/hw/erdma/erdma_main.c; 5007 in Alibaba Cloud's own driver */
	{.name = "erdma",
	 .rdma = "erdma",
	 .functions = FUNCTIONS(RANGE(ALIBABA, 0x107f, 0x107f), RANGE(ALIBABA, 0x5007, 0x5007)),
	 .rdma_alone = true,
	 .of_clouds = true,
	 .abi = 1},
	/*
	 * Azure. include/net/mana/gdma.h; 00c1 in newer kernels; drivers/infiniband/hw/mana. Up to
	 * 6.13 it answers neither state, rate nor link layer of its ports (mana_ib_query_port() in
	 * main.c of 6.12): NOP, an error and InfiniBand are what the kernel makes of that.
	 */
	{.name = "mana",
	 .rdma = "mana_ib",
	 .functions = FUNCTIONS(VF(MICROSOFT, 0x00ba, 0x00ba), RANGE(MICROSOFT, 0x00b9, 0x00b9),
				RANGE(MICROSOFT, 0x00c1, 0x00c1)),
	 .answers = RNA_DRIVER_ANSWERS_COUNTERS,
	 .of_clouds = true,
	 .is_ethernet = true,
	 .is_ca = true,
	 .whole_mtu = true,
	 .abi = 1},
	/* Omni-Path. drivers/infiniband/hw/hfi1/hfi.h; CN5000 in hfi2 of newer kernels */
	{.name = "hfi1",
	 .rdma = "hfi1",
	 .functions = FUNCTIONS(RANGE(INTEL, 0x24f0, 0x24f1)),
	 .rdma_alone = true},
	{.name = "hfi2",
	 .rdma = "hfi2",
	 .functions = FUNCTIONS(RANGE(CORNELIS, 0x0001, 0xffff)),
	 .rdma_alone = true},
	/* True Scale. drivers/infiniband/hw/qib/qib_init.c, qib_pci_tbl */
	{.name = "ib_qib",
	 .rdma = "ib_qib",
	 .functions = FUNCTIONS(RANGE(PATHSCALE, 0x0010, 0x0010), RANGE(QLOGIC, 0x7220, 0x7220),
				RANGE(QLOGIC, 0x7322, 0x7322)),
	 .rdma_alone = true},
	/*
	 * T4 to T6: function 4 of a card is its NIC, VFs have an 8 there.
	 * drivers/net/ethernet/chelsio/cxgb4/t4_pci_id_tbl.h; drivers/infiniband/hw/cxgb4
	 */
	{.name = "cxgb4",
	 .rdma = "iw_cxgb4",
	 .functions = FUNCTIONS(VF(CHELSIO, 0x4800, 0x48ff), VF(CHELSIO, 0x5800, 0x58ff),
				VF(CHELSIO, 0x6800, 0x68ff), RANGE(CHELSIO, 0x4400, 0x44ff),
				RANGE(CHELSIO, 0x5400, 0x54ff), RANGE(CHELSIO, 0x6400, 0x64ff)),
	 .listed_only = true},
	/* FastLinQ. drivers/net/ethernet/qlogic/qede/qede_main.c; drivers/infiniband/hw/qedr */
	{.name = "qede",
	 .rdma = "qedr",
	 .functions = FUNCTIONS(VF(QLOGIC, 0x1664, 0x1664), VF(QLOGIC, 0x8090, 0x8090),
				RANGE(QLOGIC, 0x1634, 0x1636), RANGE(QLOGIC, 0x1644, 0x1644),
				RANGE(QLOGIC, 0x1654, 0x1656), RANGE(QLOGIC, 0x1666, 0x1666),
				RANGE(QLOGIC, 0x8070, 0x8070))},
	/* OneConnect, Skyhawk only. drivers/net/ethernet/emulex/benet/be.h */
	{.name = "be2net",
	 .rdma = "ocrdma",
	 .functions = FUNCTIONS(VF(EMULEX, 0x0728, 0x0728), RANGE(EMULEX, 0x0720, 0x0720)),
	 .listed_only = true},
	/* VIC: usNIC uses VFs. drivers/infiniband/hw/usnic/usnic.h; enic of newer kernels, enic.h
	 */
	{.name = "usnic_verbs",
	 .rdma = "usnic_verbs",
	 .functions = FUNCTIONS(VF(CISCO, 0x00cf, 0x00cf))},
	/* Guests of VMware. drivers/infiniband/hw/vmw_pvrdma/pvrdma.h */
	{.name = "vmw_pvrdma",
	 .rdma = "vmw_pvrdma",
	 .functions = FUNCTIONS(RANGE(VMWARE, 0x0820, 0x0820)),
	 .rdma_alone = true,
	 .is_ca = true},
	/* Not part of Linux: xsc_core.h of the series of patches of 2025, xsc_ib of the vendor */
	{.name = "xsc_pci",
	 .rdma = "xsc_ib",
	 .functions =
		 FUNCTIONS(VF(YUNSILICON, 0x1012, 0x1012), VF(YUNSILICON, 0x1052, 0x1052),
			   VF(YUNSILICON, 0x1112, 0x1112), VF(YUNSILICON, 0x1152, 0x1152),
			   RANGE(YUNSILICON, 0x1011, 0x1011), RANGE(YUNSILICON, 0x1021, 0x1021),
			   RANGE(YUNSILICON, 0x1023, 0x1023), RANGE(YUNSILICON, 0x1051, 0x1053),
			   RANGE(YUNSILICON, 0x1111, 0x1111), RANGE(YUNSILICON, 0x1151, 0x1153))},
};

static const struct rna_driver_functions *find_functions(const struct rna_driver *driver,
							 uint32_t vendor_id, uint32_t device_id)
{
	for (const struct rna_driver_functions *item = driver->functions; item->vendor_id; item++)
		if (item->vendor_id == vendor_id && item->first <= device_id &&
		    device_id <= item->last)
			return item;
	return NULL;
}

const struct rna_driver *rna_driver_named(const char *name)
{
	return RNA_FIND(i, drivers, name ? RNA_ARRAY_SIZE(drivers) : 0,
			strcmp(drivers[i].name, name) == 0);
}

const struct rna_driver *rna_driver_of(const char *bound, uint32_t vendor_id, uint32_t device_id)
{
	const struct rna_driver *named = rna_driver_named(bound);

	if (named)
		return !named->listed_only || find_functions(named, vendor_id, device_id) ? named
											  : NULL;
	for (size_t i = 0; !bound && i < RNA_ARRAY_SIZE(drivers); i++)
		if (find_functions(&drivers[i], vendor_id, device_id))
			return &drivers[i];
	return NULL;
}

const struct rna_driver *rna_driver_next(size_t *at)
{
	return *at < RNA_ARRAY_SIZE(drivers) ? &drivers[(*at)++] : NULL;
}

static const struct rna_driver_functions *functions_of(uint32_t vendor_id, uint32_t device_id)
{
	const struct rna_driver *driver = rna_driver_of(NULL, vendor_id, device_id);

	return driver ? find_functions(driver, vendor_id, device_id) : NULL;
}

const char *rna_driver_card_name(uint32_t vendor_id, uint32_t device_id)
{
	const struct rna_driver_functions *functions = functions_of(vendor_id, device_id);

	return functions ? functions->name : NULL;
}

bool rna_driver_takes_as_virtual(uint32_t vendor_id, uint32_t device_id)
{
	const struct rna_driver_functions *functions = functions_of(vendor_id, device_id);

	return functions && functions->virtual_function;
}
