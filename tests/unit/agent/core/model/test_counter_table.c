// SPDX-License-Identifier: Apache-2.0
/* The invariants of the table of known counters. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/base/cleanup.h"
#include "rna/model/counter.h"

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

static void places_stand_together(void **state)
{
	(void)state;
	for (size_t i = 1; i < rna_counter_count; i++)
		assert_true(rna_counters[i].place >= rna_counters[i - 1].place);
	assert_int_equal(rna_counters[rna_counter_count - 1].place, RNA_PLACE_COUNT - 1);
}

/* Rows from first to last share a metric: each has an instance of its own, of one label. */
static bool is_one_family(const struct rna_counter *first, const struct rna_counter *last)
{
	for (const struct rna_counter *row = first; row < last; row++)
		if (strcmp(row->metric, last->metric) != 0 || !row->label || !last->label ||
		    strcmp(row->label, last->label) != 0 ||
		    strcmp(row->instance, last->instance) == 0)
			return false;
	return true;
}

/* Its metric has another prefix. */
static bool is_of_device(const struct rna_counter *row)
{
	return row->place == RNA_PLACE_DEVICE_HW_COUNTERS;
}

static void no_file_and_no_metric_comes_twice(void **state)
{
	(void)state;
	for (size_t i = 0; i < rna_counter_count; i++)
		for (size_t j = 0; j < i; j++) {
			const struct rna_counter *a = &rna_counters[i], *b = &rna_counters[j];

			if (strcmp(a->metric, b->metric) == 0 && is_of_device(a) == is_of_device(b))
				assert_true(is_one_family(b, a));
			if (a->place == b->place)
				assert_string_not_equal(a->file, b->file);
		}
}

static void metric_names_are_good(void **state)
{
	(void)state;
	for (size_t i = 0; i < rna_counter_count; i++) {
		const char *metric = rna_counters[i].metric;

		assert_true(islower((unsigned char)metric[0]));
		for (const char *p = metric; *p; p++)
			assert_true(islower((unsigned char)*p) || isdigit((unsigned char)*p) ||
				    *p == '_');
		assert_null(strstr(metric, "__"));
		assert_false(ends_with(metric, "_"));
		assert_false(ends_with(metric, "_total")); /* exporters append it */
		assert_true((rna_counters[i].unit == RNA_UNIT_NONE) ==
			    !ends_with(metric, "_bytes"));
	}
}

static void help_is_a_sentence(void **state)
{
	(void)state;
	for (size_t i = 0; i < rna_counter_count; i++) {
		const char *help = rna_counters[i].help;

		assert_true(isupper((unsigned char)help[0]));
		assert_true(ends_with(help, "."));
		assert_null(strchr(help, '\n'));
		assert_null(strchr(help, '\\'));
	}
}

static void widths_are_possible(void **state)
{
	(void)state;
	for (size_t i = 0; i < rna_counter_count; i++) {
		const struct rna_counter *row = &rna_counters[i];

		assert_true(row->width <= 64);
		assert_true(row->link_layers & RNA_ON_ANY);
		if (row->saturates) {
			assert_true(row->width > 0 && row->width < 64);
			assert_true(row->place == RNA_PLACE_PORT_COUNTERS ||
				    row->place == RNA_PLACE_PORT_FABRIC);
			assert_int_equal(row->kind, RNA_COUNTER);
		}
	}
}

static void every_row_is_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < rna_counter_count; i++)
		assert_ptr_equal(rna_counter_find(rna_counters[i].place, rna_counters[i].file),
				 &rna_counters[i]);
	assert_null(rna_counter_find(RNA_PLACE_PORT_COUNTERS, "no_such_counter"));
	assert_null(rna_counter_find(RNA_PLACE_PORT_COUNTERS, ""));
	assert_null(rna_counter_find(RNA_PLACE_PORT_COUNTERS, "out_of_buffer"));
	assert_null(rna_counter_find(RNA_PLACE_PORT_HW_COUNTERS, "lifespan"));
}

/* The files of core/sysfs.c, pma_attrs_ext, with their widths. */
static void all_pma_counters_are_known(void **state)
{
	static const struct {
		const char *file;
		unsigned width;
	} pma[] = {
		{"symbol_error", 16},
		{"link_error_recovery", 8},
		{"link_downed", 8},
		{"port_rcv_errors", 16},
		{"port_rcv_remote_physical_errors", 16},
		{"port_rcv_switch_relay_errors", 16},
		{"port_xmit_discards", 16},
		{"port_xmit_constraint_errors", 8},
		{"port_rcv_constraint_errors", 8},
		{"local_link_integrity_errors", 4},
		{"excessive_buffer_overrun_errors", 4},
		{"VL15_dropped", 16},
		{"port_xmit_wait", 32},
		{"port_xmit_data", 64},
		{"port_rcv_data", 64},
		{"port_xmit_packets", 64},
		{"port_rcv_packets", 64},
		{"unicast_xmit_packets", 64},
		{"unicast_rcv_packets", 64},
		{"multicast_xmit_packets", 64},
		{"multicast_rcv_packets", 64},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(pma); i++) {
		const struct rna_counter *row =
			rna_counter_find(RNA_PLACE_PORT_COUNTERS, pma[i].file);

		assert_non_null(row);
		assert_int_equal(row->width, pma[i].width);
		assert_int_equal(row->saturates, pma[i].width < 64);
	}
	assert_int_equal(rna_counter_find(RNA_PLACE_PORT_COUNTERS, "port_rcv_data")->unit,
			 RNA_UNIT_WORDS);
}

static void same_file_in_two_places_is_two_metrics(void **state)
{
	const struct rna_counter *pma = rna_counter_find(RNA_PLACE_PORT_COUNTERS, "link_downed");
	const struct rna_counter *rxe = rna_counter_find(RNA_PLACE_PORT_HW_COUNTERS, "link_downed");

	(void)state;
	assert_string_equal(pma->metric, "link_downed");
	assert_string_equal(rxe->metric, "hw_link_downed");
	assert_true(pma->saturates);
	assert_false(rxe->saturates);
}

/* Reading it first refreshes all the others: performance of a sweep hangs on it. */
static void first_hw_counter_is_rx_write_requests(void **state)
{
	size_t i = 0;

	(void)state;
	while (rna_counters[i].place != RNA_PLACE_PORT_HW_COUNTERS)
		i++;
	assert_string_equal(rna_counters[i].file, "rx_write_requests");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_stand_together),
		cmocka_unit_test(no_file_and_no_metric_comes_twice),
		cmocka_unit_test(metric_names_are_good),
		cmocka_unit_test(help_is_a_sentence),
		cmocka_unit_test(widths_are_possible),
		cmocka_unit_test(every_row_is_found),
		cmocka_unit_test(all_pma_counters_are_known),
		cmocka_unit_test(same_file_in_two_places_is_two_metrics),
		cmocka_unit_test(first_hw_counter_is_rx_write_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
