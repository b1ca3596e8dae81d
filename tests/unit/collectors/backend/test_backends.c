// SPDX-License-Identifier: Apache-2.0
/* collectors/backends: what stands in for the RDMA stack while nothing of it may be opened. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "backend/backends.h"

/* A table of functions, as bytes: one that was forgotten would be called as NULL. */
static void assert_complete(const void *table, size_t size)
{
	void (*function)(void);

	assert_int_equal(size % sizeof(function), 0);
	for (size_t at = 0; at < size; at += sizeof(function)) {
		memcpy(&function, (const char *)table + at, sizeof(function));
		assert_non_null(function);
	}
}

static void test_quiet_backends_are_complete(void **state)
{
	RNA_CLEANUP(rna_root_close_p) struct rna_root *root = NULL;
	RNA_CLEANUP(rna_backends_free_p) struct rna_backends *backends = NULL;
	const struct rna_backends *quiet;
	struct rna_error error;

	(void)state;
	assert_int_equal(rna_root_open(NULL, &root, &error), 0);
	backends = rna_backends_new(root);
	assert_non_null(backends);
	quiet = rna_backends_quiet(backends);
	assert_ptr_not_equal(quiet, backends);
	assert_ptr_equal(rna_backends_quiet(quiet), quiet);
	assert_complete(quiet->verbs, sizeof(*quiet->verbs));
	assert_complete(quiet->rdma_netlink, sizeof(*quiet->rdma_netlink));
	assert_complete(quiet->mad, sizeof(*quiet->mad));
	assert_ptr_equal(quiet->netdev, backends->netdev);
	assert_ptr_equal(quiet->hwloc, backends->hwloc);
}

/* A file that is set later counts for both. */
static void test_both_have_the_file(void **state)
{
	RNA_CLEANUP(rna_root_close_p) struct rna_root *root = NULL;
	RNA_CLEANUP(rna_backends_free_p) struct rna_backends *backends = NULL;
	struct rna_error error;

	(void)state;
	assert_int_equal(rna_root_open(NULL, &root, &error), 0);
	backends = rna_backends_new(root);
	assert_non_null(backends);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(rna_backends_set_hwloc_xml(backends, "/tmp/node.xml"), 0);
		assert_string_equal(rna_backends_quiet(backends)->hwloc_xml, "/tmp/node.xml");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quiet_backends_are_complete),
		cmocka_unit_test(test_both_have_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
