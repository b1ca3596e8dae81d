// SPDX-License-Identifier: Apache-2.0
/* An index: keys in any order, keys that are not there, many keys. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "rna/base/index.h"

static size_t find(const struct rna_index *index, const char *text, uint64_t number)
{
	size_t item = SIZE_MAX;

	assert_int_equal(rna_index_find(index, text, number, &item), 0);
	return item;
}

static void finds_by_text_and_number(void **state)
{
	RNA_INDEX struct rna_index index = RNA_INDEX_INIT;

	(void)state;
	assert_int_equal(rna_index_add(&index, "mlx5_1", 0, 1), 0);
	assert_int_equal(rna_index_add(&index, "mlx5_0", 0, 0), 0);
	assert_int_equal(rna_index_add(&index, "mlx5_0", 2, 3), 0);
	assert_int_equal(rna_index_add(&index, "mlx5_0", 1, 2), 0);
	assert_int_equal(find(&index, "mlx5_0", 0), 0);
	assert_int_equal(find(&index, "mlx5_1", 0), 1);
	assert_int_equal(find(&index, "mlx5_0", 1), 2);
	assert_int_equal(find(&index, "mlx5_0", 2), 3);
}

static void says_that_there_is_none(void **state)
{
	RNA_INDEX struct rna_index index = RNA_INDEX_INIT;
	size_t item = 7;

	(void)state;
	assert_int_equal(rna_index_find(&index, "mlx5_0", 0, &item), -ENOENT);
	assert_int_equal(rna_index_add(&index, "mlx5_1", 0, 1), 0);
	assert_int_equal(rna_index_find(&index, "mlx5_0", 0, &item), -ENOENT);
	assert_int_equal(rna_index_find(&index, "mlx5_1", 1, &item), -ENOENT);
	assert_int_equal(rna_index_find(&index, "mlx5_2", 0, &item), -ENOENT);
	assert_int_equal(item, 7);
}

/* In an order that is neither that of the index nor its reverse. */
static void finds_each_of_many(void **state)
{
	enum { COUNT = 997, STEP = 387 }; /* coprime: each number comes once */
	RNA_INDEX struct rna_index index = RNA_INDEX_INIT;
	char texts[COUNT][8];

	(void)state;
	for (unsigned i = 0; i < COUNT; i++) {
		unsigned number = i * STEP % COUNT;

		(void)snprintf(texts[number], sizeof(texts[number]), "%u", number);
		assert_int_equal(rna_index_add(&index, texts[number], number % 3, number), 0);
	}
	assert_int_equal(index.count, COUNT);
	for (unsigned i = 0; i < COUNT; i++)
		assert_int_equal(find(&index, texts[i], i % 3), i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_by_text_and_number),
		cmocka_unit_test(says_that_there_is_none),
		cmocka_unit_test(finds_each_of_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
