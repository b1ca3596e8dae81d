// SPDX-License-Identifier: Apache-2.0
/* collectors/prober/aims.c: flow labels take turns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "prober/aims.h"

enum { MANY = RNA_AIM_PLACES, TURNS = 8 * RNA_FLOW_CLASSES };

static int things[RNA_FLOW_CLASSES]; /* aims of each class */

/* Makes what is wanted at that turn, as the aimer does, and returns how much was made. */
static unsigned make(struct rna_aims *aims, uint32_t turn, unsigned places)
{
	uint8_t class = rna_aims_class(turn, places);

	if (!rna_aims_want(aims, turn, places))
		return 0;
	(void)rna_aims_put(aims, class, places, &things[class]);
	return 1;
}

static void test_labels_take_turns(void **state)
{
	unsigned uses[RNA_FLOW_CLASSES] = {0}, made = 0, last = RNA_FLOW_CLASSES;
	struct rna_aims aims = {0};

	(void)state;
	for (uint32_t turn = 0; turn < TURNS; turn++) {
		uint8_t class;
		void *aim;

		made += make(&aims, turn, MANY);
		aim = rna_aims_choose(&aims, turn, MANY, &class);
		assert_ptr_equal(aim, &things[class]);
		assert_int_not_equal(class, last); /* another path each time */
		last = class;
		uses[class]++;
	}
	assert_int_equal(made, RNA_FLOW_CLASSES); /* one for eight packets */
	for (size_t i = 0; i < RNA_FLOW_CLASSES; i++)
		assert_int_equal(uses[i], RNA_AIM_ROUNDS);
}

static void test_where_labels_do_nothing_there_is_one(void **state)
{
	struct rna_aims aims = {0};
	unsigned made = 0;
	uint8_t class;

	(void)state;
	for (uint32_t turn = 0; turn < TURNS; turn++) {
		made += make(&aims, turn, 1);
		assert_ptr_equal(rna_aims_choose(&aims, turn, 1, &class), &things[0]);
	}
	assert_int_equal(made, 1);
}

/* Others stand in while an aim is missing: the kernel may need seconds for it. */
static void test_others_stand_in(void **state)
{
	struct rna_aims aims = {0};
	uint8_t class;

	(void)state;
	assert_null(rna_aims_choose(&aims, 0, MANY, &class));
	assert_null(rna_aims_put(&aims, 2, MANY, &things[2]));
	for (uint32_t turn = 0; turn < MANY; turn++) {
		assert_ptr_equal(rna_aims_choose(&aims, turn, MANY, &class), &things[2]);
		assert_int_equal(class, 2);
		assert_int_equal(rna_aims_want(&aims, turn, MANY), turn != 2);
	}
	assert_ptr_equal(rna_aims_put(&aims, MANY + 2, MANY, &things[10]), &things[2]);
}

static void test_turns_wrap(void **state)
{
	struct rna_aims aims = {0};
	uint8_t class;

	(void)state;
	for (uint32_t turn = UINT32_MAX - 20; turn != 20; turn++) {
		(void)make(&aims, turn, MANY);
		assert_non_null(rna_aims_choose(&aims, turn, MANY, &class));
		assert_true(class < RNA_FLOW_CLASSES);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_labels_take_turns),
		cmocka_unit_test(test_where_labels_do_nothing_there_is_one),
		cmocka_unit_test(test_others_stand_in),
		cmocka_unit_test(test_turns_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
