// SPDX-License-Identifier: Apache-2.0
/* exporter/page: the columns of data and errors, and over which time they speak. */
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

	rna_write_page(joined(view), &out);
	assert_true(rna_strbuf_ok(&out));
	for (const char *at = strstr(out.data, text); at; at = strstr(at + 1, text))
		count++;
	return count;
}

/* Rates of the first port, all of them known and without a rise, over so many seconds. */
static struct rna_port_rates *set_rates(struct rna_view *view, unsigned minute, unsigned hour)
{
	static struct rna_port_rates rates;

	rates = (struct rna_port_rates){
		.spans = {minute * RNA_USEC_PER_SEC, hour * RNA_USEC_PER_SEC},
	};
	for (enum rna_rate_id id = 0; id < RNA_RATE_COUNT; id++)
		rates.of[id].known = true;
	((struct rna_view_port *)(uintptr_t)view->ports)->rates = &rates;
	return &rates;
}

static struct rna_rate *rate_of(struct rna_port_rates *rates, const char *name)
{
	enum rna_rate_id id = 0;

	while (id < RNA_RATE_COUNT && strcmp(rna_rate_rows[id].name, name) != 0)
		id++;
	assert_true(id < RNA_RATE_COUNT);
	return &rates->of[id];
}

/* mlx5 in switchdev mode has them at the device only. */
static void counters_of_the_device_are_called_so(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(1);
	struct rna_rate *rate = rate_of(set_rates(view, 60, 3600), "out of sequence");

	(void)state;
	rate->risen[RNA_RATE_HOUR] = 9;
	assert_int_equal(count_on_page(view, "out of sequence 0 <small>in 60 s</small>, 9 <small>"
					     "in 60 min</small>"),
			 1);
	assert_int_equal(count_on_page(view, "(device)"), 0);
	rate->of_device = true;
	assert_int_equal(count_on_page(view, "out of sequence 0"), 0);
	assert_int_equal(count_on_page(view, "out of sequence (device) 0"), 1);
	assert_int_equal(count_on_page(view, "(device)"), 1);
}

/* Whatever the total is. */
static void what_did_not_rise_is_not_shown(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(1);
	struct rna_port_rates *rates = set_rates(view, 60, 3600);

	(void)state;
	rate_of(rates, "symbol errors")->total = 1234567;
	assert_int_equal(count_on_page(view, "symbol errors"), 0);
	assert_int_equal(count_on_page(view, "none in 60 min"), 1);
	assert_int_equal(count_on_page(view, "1234567"), 0);
}

static void saturated_counters_have_stopped(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(1);
	struct rna_rate *rate = rate_of(set_rates(view, 60, 3600), "link downs");

	(void)state;
	*rate = (struct rna_rate){.known = true, .saturated = true, .total = 255};
	assert_int_equal(count_on_page(view, "link downs ≥&nbsp;255 <small>in total</small>"), 1);
}

/* In the first minute there are fewer readings, and after the first one there is no rate. */
static void young_agents_name_the_time_that_they_know(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(1);
	struct rna_port_rates *rates = set_rates(view, 0, 0);

	(void)state;
	assert_int_equal(count_on_page(view, "after the next reading"), 2); /* data, errors */
	rates->spans[RNA_RATE_MINUTE] = rates->spans[RNA_RATE_HOUR] = 10 * RNA_USEC_PER_SEC;
	rates->of[RNA_RATE_RECEIVED].risen[RNA_RATE_MINUTE] = 1250000000; /* words */
	rate_of(rates, "symbol errors")->risen[RNA_RATE_MINUTE] = 3;
	rate_of(rates, "symbol errors")->risen[RNA_RATE_HOUR] = 3;
	assert_int_equal(count_on_page(view, "after the next reading"), 0);
	assert_int_equal(count_on_page(view, "<small>in</small> 4.0&nbsp;Gb/s<br>"), 1);
	assert_int_equal(count_on_page(view, "symbol errors 3 <small>in 10 s</small>\n"), 1);
}

static void data_of_the_hour_stands_beside(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(1);
	struct rna_port_rates *rates = set_rates(view, 60, 3600);

	(void)state;
	rates->of[RNA_RATE_TRANSMITTED].risen[RNA_RATE_HOUR] = 45000000000; /* words */
	assert_int_equal(count_on_page(view, "<small>out</small> 0&nbsp;b/s <small>(400&nbsp;Mb/s "
					     "in 60 min)</small>"),
			 1);
	rates->of[RNA_RATE_TRANSMITTED].known = false;
	assert_int_equal(count_on_page(view, "<small>out</small> –"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_of_the_device_are_called_so),
		cmocka_unit_test(what_did_not_rise_is_not_shown),
		cmocka_unit_test(saturated_counters_have_stopped),
		cmocka_unit_test(young_agents_name_the_time_that_they_know),
		cmocka_unit_test(data_of_the_hour_stands_beside),
	};

	return cmocka_run_group_tests_name("page_errors", tests, NULL, NULL);
}
