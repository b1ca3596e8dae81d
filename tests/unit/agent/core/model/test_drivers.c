// SPDX-License-Identifier: Apache-2.0
/* agent/core/model/drivers: which driver a function has, or would have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/base/cleanup.h"
#include "rna/model/driver.h"

static void the_bound_driver_decides(void **state)
{
	(void)state;
	assert_string_equal(rna_driver_of("bnxt_en", 0x14e4, 0xffff)->rdma, "bnxt_re");
	assert_string_equal(rna_driver_of("ionic", 0x1dd8, 0x1002)->rdma, "ionic_rdma");
	assert_string_equal(rna_driver_of("i40e", 0x8086, 0x37d0)->rdma, "irdma");
	assert_null(rna_driver_of("i40e", 0x8086, 0x1572)); /* X710 has no RDMA */
	assert_null(rna_driver_of("hns3", 0x19e5, 0xa221));
	assert_null(rna_driver_of("vfio-pci", 0x15b3, 0x1021));
}

static void numbers_decide_where_none_is_bound(void **state)
{
	static const struct {
		uint32_t vendor_id, device_id;
		const char *driver, *rdma;
	} cases[] = {
		{0x15b3, 0x1003, "mlx4_core", "mlx4_ib"},
		{0x15b3, 0x1023, "mlx5_core", "mlx5_ib"},
		{0x15b3, 0xa2dc, "mlx5_core", "mlx5_ib"},
		{0x14e4, 0x1760, "bnxt_en", "bnxt_re"},
		{0x8086, 0x1592, "ice", "irdma"},
		{0x8086, 0x1452, "idpf", "irdma"},
		{0x1d0f, 0xefa3, "efa", "efa"},
		{0x19e5, 0xa222, "hns3", "hns_roce_hw_v2"},
		{0x1ded, 0x107f, "erdma", "erdma"},
		{0x1414, 0x00ba, "mana", "mana_ib"},
		{0x8086, 0x24f0, "hfi1", "hfi1"},
		{0x434e, 0x0001, "hfi2", "hfi2"},
		{0x1077, 0x7322, "ib_qib", "ib_qib"},
		{0x1425, 0x6408, "cxgb4", "iw_cxgb4"},
		{0x1077, 0x1656, "qede", "qedr"},
		{0x10df, 0x0720, "be2net", "ocrdma"},
		{0x15ad, 0x0820, "vmw_pvrdma", "vmw_pvrdma"},
		{0x1f67, 0x1111, "xsc_pci", "xsc_ib"},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		const struct rna_driver *driver =
			rna_driver_of(NULL, cases[i].vendor_id, cases[i].device_id);

		assert_non_null(driver);
		assert_string_equal(driver->name, cases[i].driver);
		assert_string_equal(driver->rdma, cases[i].rdma);
	}
	assert_null(rna_driver_of(NULL, 0x14e4, 0x165f)); /* a NIC of tg3 */
	assert_null(rna_driver_of(NULL, 0x1d0f, 0xec20)); /* ENA */
	assert_null(rna_driver_of(NULL, 0x17db, 0x0501)); /* Slingshot */
	assert_null(rna_driver_of(NULL, 0, 0));
}

static void cards_have_names(void **state)
{
	(void)state;
	assert_string_equal(rna_driver_card_name(0x15b3, 0x1021), "ConnectX-7");
	assert_string_equal(rna_driver_card_name(0x14e4, 0x1760), "BCM57608");
	assert_null(rna_driver_card_name(0x15b3, 0x101e));
	assert_null(rna_driver_card_name(0, 0));
}

/* Rows in the order of the table, no driver twice, no ids of two rows. */
static void rows_do_not_overlap(void **state)
{
	const struct rna_driver *a, *b;

	(void)state;
	for (size_t i = 0; (a = rna_driver_next(&i));) {
		assert_ptr_equal(rna_driver_named(a->name), a);
		assert_true(a->functions->vendor_id != 0);
		for (const struct rna_driver_functions *ids = a->functions; ids->vendor_id; ids++) {
			assert_true(ids->first <= ids->last);
			b = rna_driver_of(NULL, ids->vendor_id, ids->first);
			assert_ptr_equal(b, a);
			b = rna_driver_of(NULL, ids->vendor_id, ids->last);
			assert_ptr_equal(b, a);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_bound_driver_decides),
		cmocka_unit_test(numbers_decide_where_none_is_bound),
		cmocka_unit_test(cards_have_names),
		cmocka_unit_test(rows_do_not_overlap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
