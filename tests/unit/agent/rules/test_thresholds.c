// SPDX-License-Identifier: Apache-2.0
/* agent/rules/thresholds.c: the setting, the list that comes of it, and windows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/base/cleanup.h"

#include "rules/thresholds.h"

#define SECOND RNA_USEC_PER_SEC
#define HOUR   (3600 * SECOND)

/* So often that a window is no longer for it. */
static const rna_usec often[RNA_COLLECTOR_COUNT];

static void test_entries(void **state)
{
	static const char *const good[] = {
		"symbol_error=120/h",
		"symbol_error=off",
		"downs=5/d",
		"rp_cnp_ignored=1/s",
		"rnr_nak_retry_err=1000/m",
		"packet_seq_err=1/s+100ppm",
		"packet_seq_err=9/h",
		"port_xmit_packets=10/s",
		"packet_seq_err=1/s+1000000ppm",
		"retries_exceeded=off",
		"out_of_buffer=1000/s",
		"sequence_naks_received=1/s+9ppm",
	};
	static const char *const bad[] = {
		"",
		"symbol_error",
		"symbol_error=",
		"symbol_error=120",
		"=120/h",
		"symbol_error=120/w",
		"symbol_error=0/h",
		"symbol_error=-1/h",
		"nonsense=1/h",
		"symbol_error=120/hh",
		"symbol_error=12345678901234/h",
		"symbol_error=1/h+100ppm", /* nothing is known that it could be a part of */
		"packet_seq_err=1/s+ppm",
		"packet_seq_err=1/s+0ppm",
		"packet_seq_err=1/s+1000001ppm",
		"packet_seq_err=1/s+100",
		"packet_seq_err=1/s100ppm",
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(good); i++)
		if (!rna_threshold_is_valid(good[i]))
			fail_msg("\"%s\" is not taken", good[i]);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(bad); i++)
		if (rna_threshold_is_valid(bad[i]))
			fail_msg("\"%s\" is taken", bad[i]);
}

static const struct rna_threshold *find(const struct rna_thresholds *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i].name, name) == 0)
			return &list->items[i];
	return NULL;
}

static void test_list(void **state)
{
	static char own[] = "symbol_error=7/m", off[] = "downs=off", more[] = "out_of_buffer=5/s";
	char *entries[] = {own, off, more, NULL};
	struct rna_thresholds *standard = rna_thresholds_new(NULL, often);
	struct rna_thresholds *list = rna_thresholds_new(entries, often);

	(void)state;
	assert_int_equal(find(standard, "symbol_error")->limit, 120);
	assert_int_equal(find(standard, "port_rcv_errors")->limit, 600); /* 10/s over a minute */
	assert_int_equal(find(standard, RNA_THRESHOLD_DOWNS)->source, RNA_THRESHOLD_OF_DOWNS);
	assert_int_equal(find(standard, RNA_THRESHOLD_DOWNS_DAILY)->source, RNA_THRESHOLD_OF_DOWNS);
	assert_int_equal(find(standard, RNA_THRESHOLD_DOWNS_DAILY)->limit, 5);
	assert_int_equal(find(standard, "aer_fatal")->source, RNA_THRESHOLD_OF_PCIE);
	assert_int_equal(find(standard, "aer_fatal")->aer, RNA_AER_FATAL);
	assert_int_equal(find(standard, "pcie_read_stalled")->source, RNA_THRESHOLD_OF_ETHERNET);
	assert_int_equal(
		find(standard, "pcie_read_stalled")->statistic,
		RNA_ETHERNET_PCIE_READ_STALLED_TIME); /* not the share, which is not a counter */
	assert_true(rna_threshold_is_valid("ethernet_jabbers=5/m"));
	assert_false(rna_threshold_is_valid("ethernet_jabber=5/m"));
	for (size_t i = 0; i < standard->count; i++)
		if (standard->items[i].source == RNA_THRESHOLD_OF_COUNTER)
			assert_non_null(
				standard->items[i].ways[0][0]); /* no row is a typing error */
	assert_true(find(standard, "sequence_naks_received")->evidence);
	assert_int_equal(find(standard, "sequence_naks_received")->share, 100);
	assert_ptr_equal(&standard->items[find(standard, "sequence_naks_received")->base_item],
			 find(standard, "packets_sent"));
	assert_int_equal(find(standard, "symbol_error")->base_item, -1);
	assert_int_equal(find(list, "symbol_error")->limit, 7);
	assert_int_equal(find(list, "symbol_error")->window, 60 * SECOND);
	assert_null(find(list, RNA_THRESHOLD_DOWNS));
	assert_ptr_equal(find(list, "out_of_buffer")->rule, &rna_rule_errors_rising);
	assert_int_equal(list->count, standard->count); /* one less, one more */
	assert_false(rna_thresholds_same(standard, list));
	assert_true(rna_thresholds_same(standard, standard));
	free(standard);
	free(list);
}

/* "max_retry_exceeded" of bnxt_re is a way to count what has a threshold. */
static void test_a_counter_stands_for_its_meaning(void **state)
{
	static char off[] = "max_retry_exceeded=off", few[] = "rx_drops=5/s",
		    limit[] = "rx_bps_limit_drop_cnt=1/s", alone[] = "rnr_naks_rcvd=9/s",
		    meaning[] = "rnr_naks_sent=9/s";
	char *entries[] = {off, few, limit, alone, meaning, NULL};
	struct rna_thresholds *list = rna_thresholds_new(entries, often);

	(void)state;
	assert_null(find(list, "retries_exceeded"));
	assert_null(find(list, "rx_drops"));
	assert_int_equal(find(list, "receive_discards")->count, 5);
	assert_null(find(list, "receive_discards")->base);
	/* What the limits of an instance drop is not judged with the discards of others. */
	assert_ptr_equal(find(list, "rx_bps_limit_drop_cnt")->rule, &rna_rule_errors_rising);
	assert_non_null(find(list, "rnr_naks_rcvd")->ways[0][0]);
	assert_null(find(list, "rnr_naks_rcvd")->ways[1][0]);
	assert_non_null(find(list, "rnr_naks_sent")->ways[1][0]); /* several drivers have it */
	free(list);
}

/* Is there a row of this name, or of the counter or the statistic by which the way counts? */
static bool has_threshold(const struct rna_thresholds *list, const struct rna_meaning *meaning,
			  const struct rna_way *way)
{
	if (way->of_ethernet)
		return find(list, rna_ethernet_statistics[way->statistic].name);
	return find(list, meaning->name) || find(list, way->files[0]);
}

/* Ways of the driver that have neither a threshold nor a reason; or 1 if it has no way at all. */
static unsigned count_unjudged(const struct rna_thresholds *list, const struct rna_meaning *meaning,
			       const char *driver)
{
	unsigned ways = 0, unjudged = 0;

	for (const struct rna_way *way = meaning->ways; way->drivers; way++) {
		if (!strstr(way->drivers, driver))
			continue;
		ways++;
		if (!way->files[0] && !way->of_ethernet)
			unjudged += !way->note;
		else
			unjudged += !meaning->normal && !way->normal &&
				    !has_threshold(list, meaning, way);
	}
	return ways == 0 ? 1 : unjudged;
}

static void test_each_meaning_has_a_threshold_for_each_driver_or_a_reason(void **state)
{
	struct rna_thresholds *list = rna_thresholds_new(NULL, often);
	const struct rna_meaning *meaning;

	(void)state;
	for (size_t at = 0; (meaning = rna_meaning_next(&at));)
		for (const char *const *driver = rna_meaning_drivers; *driver; driver++)
			if (count_unjudged(list, meaning, *driver) > 0)
				fail_msg("%s of %s has neither", meaning->name, *driver);
	free(list);
}

/* Each file of the table is a counter, and thresholds have room for all ways. */
static void test_ways_name_counters(void **state)
{
	const struct rna_meaning *meaning;

	(void)state;
	for (size_t at = 0; (meaning = rna_meaning_next(&at));) {
		size_t count = 0;

		for (const struct rna_way *way = meaning->ways; way->drivers; way++) {
			count += way->files[0] != NULL;
			for (size_t i = 0; i < RNA_WAY_FILES_MAX && way->files[i]; i++)
				if (!rna_counter_find(way->place, way->files[i]))
					fail_msg("%s: no counter is %s", meaning->name,
						 way->files[i]);
		}
		assert_true(count <= RNA_THRESHOLD_WAYS_MAX);
	}
}

/* Collectors have periods of their own; what they count is compared for the same time. */
static void test_a_limit_grows_with_the_traffic(void **state)
{
	static char other[] = "packet_seq_err=2/s+1000ppm", plain[] = "implied_nak_seq_err=3/s";
	char *entries[] = {other, plain, NULL};
	rna_usec poll[RNA_COLLECTOR_COUNT] = {[RNA_COLLECTOR_HW_COUNTERS] = 40 * SECOND};
	struct rna_thresholds *list = rna_thresholds_new(entries, poll);
	size_t i = (size_t)(find(list, "sequence_naks_received") - list->items);
	size_t base = (size_t)list->items[i].base_item;
	struct rna_window windows[128] = {{0}};
	bool known;

	(void)state;
	assert_true(list->count < RNA_ARRAY_SIZE(windows));
	assert_int_equal(rna_threshold_limit(list, i, windows, &known), 240); /* two minutes */
	assert_false(known);
	windows[base].known = true;
	windows[base].rises[0] = 1000000; /* counters are read more often, but not all of them */
	assert_int_equal(rna_threshold_limit(list, i, windows, &known), 240 + 1000);
	assert_true(known);
	i = (size_t)(find(list, "missing_responses") - list->items);
	assert_int_equal(rna_threshold_limit(list, i, windows, &known), 360);
	assert_true(known);
	free(list);
}

/* An hour's window of 120: what is read, when, and what is thought of it. */
static void test_window(void **state)
{
	static const struct {
		unsigned minute;
		struct rna_value value;
		uint64_t rise;
		bool over;
	} steps[] = {
		{0, {100000, RNA_VALUE_OK}, 0, false}, /* was counted before we came */
		{1, {100100, RNA_VALUE_OK}, 100, false},
		{2, {100119, RNA_VALUE_OK}, 119, false},
		{3, {100120, RNA_VALUE_OK}, 120, true},
		{30, {100120, RNA_VALUE_OK}, 120, true},
		{44, {0, RNA_VALUE_UNREADABLE}, 120, true},
		{61, {100120, RNA_VALUE_OK}, 0, false}, /* all of it is an hour ago */
		{62, {100190, RNA_VALUE_OK}, 70, false},
		{63, {5, RNA_VALUE_OK}, 70, false}, /* reset */
		{64, {60, RNA_VALUE_OK}, 125, true},
		{80, {60, RNA_VALUE_OK}, 125, true},
		{300, {60, RNA_VALUE_OK}, 0, false},
		{301, {65535, RNA_VALUE_SATURATED}, 65475, true},
	};
	struct rna_thresholds *list = rna_thresholds_new(NULL, often);
	const struct rna_threshold *threshold = find(list, "symbol_error");
	struct rna_window window = {0};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(steps); i++) {
		rna_window_add(&window, threshold, steps[i].value,
			       1000 * HOUR + steps[i].minute * 60 * SECOND);
		if (rna_window_rise(&window) != steps[i].rise || window.over != steps[i].over)
			fail_msg("minute %u: rise %ju, %s", steps[i].minute,
				 (uintmax_t)rna_window_rise(&window),
				 window.over ? "over" : "not over");
	}
	free(list);
}

/* A counter that is read once a minute, and rises by what is too much, all the time. */
static void test_window_of_a_counter_that_is_read_seldom(void **state)
{
	static const rna_usec poll[RNA_COLLECTOR_COUNT] = {
		[RNA_COLLECTOR_FABRIC] = 60 * SECOND,
		[RNA_COLLECTOR_COUNTERS] = 25 * SECOND,
		[RNA_COLLECTOR_PCIE] = HOUR,
	};
	struct rna_thresholds *list = rna_thresholds_new(NULL, poll);
	const struct rna_threshold *threshold = find(list, "port_sw_lifetime_limit_discards");
	struct rna_window window = {0};
	bool was_over = false;

	(void)state;
	assert_int_equal(threshold->window, 180 * SECOND);
	assert_int_equal(threshold->limit, 300);
	assert_int_equal(find(list, "port_rcv_errors")->window, 75 * SECOND);
	assert_int_equal(find(list, "port_rcv_errors")->limit, 750);
	assert_int_equal(find(list, "link_error_recovery")->window, 120 * SECOND);
	assert_int_equal(find(list, "aer_correctable")->limit, 3000);
	for (uint64_t second = 0; second < 3600; second++) {
		rna_window_add(&window, threshold, rna_value_ok(second / 60 * 110),
			       HOUR + second * SECOND);
		if (was_over && !window.over)
			fail_msg("over at second %ju", (uintmax_t)second);
		was_over = window.over;
	}
	assert_true(was_over);
	free(list);
}

/* A device did not answer for ten hours. What rose meanwhile is not what rises in one. */
static void test_window_after_a_gap(void **state)
{
	struct rna_thresholds *list = rna_thresholds_new(NULL, often);
	const struct rna_threshold *threshold = find(list, "symbol_error");
	struct rna_window window = {0};
	rna_usec now = 1000 * HOUR;

	(void)state;
	rna_window_add(&window, threshold, rna_value_ok(0), now);
	rna_window_add(&window, threshold, rna_value_unreadable(), now + 9 * HOUR);
	rna_window_add(&window, threshold, rna_value_ok(1001), now + 10 * HOUR);
	assert_int_equal(rna_window_rise(&window), 101);
	assert_false(window.over);
	rna_window_add(&window, threshold, rna_value_ok(1101), now + 11 * HOUR);
	assert_int_equal(rna_window_rise(&window), 100);
	rna_window_add(&window, threshold, rna_value_ok(1102), now + 19 * HOUR);
	assert_int_equal(rna_window_rise(&window), 1); /* a single event is not lost in a gap */
	free(list);
}

/* Between half and all of the threshold a finding neither comes nor goes. */
static void test_hysteresis(void **state)
{
	struct rna_thresholds *list = rna_thresholds_new(NULL, often);
	const struct rna_threshold *threshold = find(list, "symbol_error");
	struct rna_window window = {0};
	rna_usec now = 1000 * HOUR, quarter = HOUR / RNA_WINDOW_SLOTS;

	(void)state;
	rna_window_add(&window, threshold, rna_value_ok(0), now);
	rna_window_add(&window, threshold, rna_value_ok(70), now);
	assert_false(window.over);
	rna_window_add(&window, threshold, rna_value_ok(140), now + quarter);
	assert_true(window.over);
	rna_window_add(&window, threshold, rna_value_ok(140), now + 4 * quarter);
	assert_int_equal(rna_window_rise(&window), 70);
	assert_true(window.over);
	rna_window_add(&window, threshold, rna_value_ok(140), now + 5 * quarter);
	assert_false(window.over);
	free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_a_counter_stands_for_its_meaning),
		cmocka_unit_test(test_each_meaning_has_a_threshold_for_each_driver_or_a_reason),
		cmocka_unit_test(test_ways_name_counters),
		cmocka_unit_test(test_a_limit_grows_with_the_traffic),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_window_of_a_counter_that_is_read_seldom),
		cmocka_unit_test(test_window_after_a_gap),
		cmocka_unit_test(test_hysteresis),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
