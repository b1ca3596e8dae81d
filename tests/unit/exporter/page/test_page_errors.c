// SPDX-License-Identifier: Apache-2.0
/* exporter/page: the column of errors, and which counters it shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/base/cleanup.h"
#include "rna/exporter.h"

#include "exporter_view.h"

/* How often the page has text. */
static unsigned count_on_page(const struct rna_view *view, const char *text)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	unsigned count = 0;

	rna_write_page(view, &out);
	assert_true(rna_strbuf_ok(&out));
	for (const char *at = strstr(out.data, text); at; at = strstr(at + 1, text))
		count++;
	return count;
}

/* mlx5 in switchdev mode has them at the device only. */
static void counters_of_the_device_take_the_place_of_absent_ones(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(1);

	(void)state;
	assert_int_equal(count_on_page(view, "out of sequence</small>"), 1);
	assert_int_equal(count_on_page(view, "(device)"), 0);
	*counter_of(view, 0, "out_of_sequence") = (struct rna_value){0};
	assert_int_equal(count_on_page(view, "out of sequence</small>"), 0);
	assert_int_equal(count_on_page(view, "out of sequence (device)</small>"), 1);
	assert_int_equal(count_on_page(view, "(device)"), 1);
}

/* What cannot be read is not replaced by what counts something else. */
static void unreadable_counters_are_not_replaced(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(1);

	(void)state;
	*counter_of(view, 0, "out_of_sequence") = rna_value_unreadable();
	assert_int_equal(count_on_page(view, "out of sequence"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_of_the_device_take_the_place_of_absent_ones),
		cmocka_unit_test(unreadable_counters_are_not_replaced),
	};

	return cmocka_run_group_tests_name("page_errors", tests, NULL, NULL);
}
