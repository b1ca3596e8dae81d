// SPDX-License-Identifier: Apache-2.0
/* agent/memory/port_traffic.c: how far counters rose in the last minute and in the last hour. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/base/cleanup.h"
#include "rna/model/snapshot.h"

#include "memory/port_traffic.h"

enum { POLL = 10 }; /* seconds between two readings */

/* A device with one port. Its counters stand in values, and move() makes them those of a new part.
 */
struct fixture {
	struct rna_rates *rates;
	struct rna_device facts;
	struct rna_snapshot_device device;
	struct rna_counter_value counters[2];
	struct rna_counter_value of_port[2];
	struct rna_counter_value of_device[1];
	struct rna_counter_group port_group;
	struct rna_counter_group groups[2];
	struct rna_counters_part counters_part;
	struct rna_counters_part hw_part;
	rna_usec now;
};

static const unsigned ports[] = {1};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->facts = (struct rna_device){.name = "mlx5_0", .port_count = 1, .ports = ports};
	f->counters[0] = (struct rna_counter_value){.file = "port_rcv_data"};
	f->counters[1] = (struct rna_counter_value){.file = "symbol_error"};
	f->of_port[0] = (struct rna_counter_value){.file = "packet_seq_err"};
	f->of_port[1] = (struct rna_counter_value){.file = "out_of_sequence"};
	f->of_device[0] = (struct rna_counter_value){.file = "out_of_sequence"};
	f->port_group = (struct rna_counter_group){.place = RNA_PLACE_PORT_COUNTERS,
						   .port = 1,
						   .count = 2,
						   .values = f->counters};
	f->groups[0] = (struct rna_counter_group){.place = RNA_PLACE_PORT_HW_COUNTERS,
						  .port = 1,
						  .count = 2,
						  .values = f->of_port};
	f->groups[1] = (struct rna_counter_group){.place = RNA_PLACE_DEVICE_HW_COUNTERS,
						  .count = 1,
						  .values = f->of_device};
	f->counters_part.groups = &f->port_group;
	f->counters_part.group_count = 1;
	f->hw_part.groups = f->groups;
	f->hw_part.group_count = 2;
	f->device.device = &f->facts;
	f->device.parts[RNA_COLLECTOR_COUNTERS] = &f->counters_part.part;
	f->device.parts[RNA_COLLECTOR_HW_COUNTERS] = &f->hw_part.part;
	f->rates = rna_rates_new();
	assert_non_null(f->rates);
	f->now = 1000 * RNA_USEC_PER_SEC;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	(void)rna_rates_free(f->rates);
	free(f);
	return 0;
}

/* Reads after so many seconds. */
static struct rna_port_rates read_after(struct fixture *f, unsigned seconds)
{
	struct rna_port_rates told;

	f->now += seconds * RNA_USEC_PER_SEC;
	f->counters_part.part.taken.monotonic = f->now;
	f->hw_part.part.taken.monotonic = f->now;
	rna_rates_follow(f->rates, &f->device, 1);
	rna_rates_tell(f->rates, &told);
	return told;
}

static void set(struct rna_counter_value *counter, uint64_t number)
{
	counter->value = rna_value_ok(number);
}

static enum rna_rate_id find_id(const char *file)
{
	enum rna_rate_id id = 0;

	while (id < RNA_RATE_COUNT && strcmp(rna_rate_rows[id].file, file) != 0)
		id++;
	assert_true(id < RNA_RATE_COUNT);
	return id;
}

static void nothing_rose_at_the_first_reading(void **state)
{
	struct fixture *f = *state;
	struct rna_port_rates told;

	set(&f->counters[0], 4711);
	told = read_after(f, 0);
	assert_int_equal(told.spans[RNA_RATE_MINUTE], 0);
	assert_int_equal(told.spans[RNA_RATE_HOUR], 0);
	assert_true(told.of[RNA_RATE_RECEIVED].known);
	assert_int_equal(told.of[RNA_RATE_RECEIVED].risen[RNA_RATE_MINUTE], 0);
	assert_int_equal(told.of[RNA_RATE_RECEIVED].total, 4711);
	assert_false(told.of[RNA_RATE_TRANSMITTED].known);
}

/* Two hours of a counter that rises by 7 at each reading. */
static void a_minute_and_an_hour(void **state)
{
	struct fixture *f = *state;
	struct rna_port_rates told = {0};
	rna_usec minute, hour;

	for (uint64_t i = 0; i <= 7200 / POLL; i++) {
		set(&f->counters[0], 7 * i);
		told = read_after(f, i > 0 ? POLL : 0);
	}
	minute = told.spans[RNA_RATE_MINUTE] / RNA_USEC_PER_SEC;
	hour = told.spans[RNA_RATE_HOUR] / RNA_USEC_PER_SEC;
	assert_in_range(minute, 60, 70);
	assert_in_range(hour, 3600, 3600 + 320);
	assert_int_equal(told.of[RNA_RATE_RECEIVED].risen[RNA_RATE_MINUTE], 7 * minute / POLL);
	assert_int_equal(told.of[RNA_RATE_RECEIVED].risen[RNA_RATE_HOUR], 7 * hour / POLL);
}

/* While the agent is young, both are about the time since its first reading. */
static void young_agents_name_less(void **state)
{
	struct fixture *f = *state;
	struct rna_port_rates told;

	set(&f->counters[0], 0);
	(void)read_after(f, 0);
	set(&f->counters[0], 30);
	told = read_after(f, POLL);
	assert_int_equal(told.spans[RNA_RATE_MINUTE], POLL * RNA_USEC_PER_SEC);
	assert_int_equal(told.spans[RNA_RATE_HOUR], POLL * RNA_USEC_PER_SEC);
	assert_int_equal(told.of[RNA_RATE_RECEIVED].risen[RNA_RATE_HOUR], 30);
}

/* Readings may come seldom, or every second: the ring covers its span in both cases. */
static void other_periods(void **state)
{
	struct fixture *f = *state;
	struct rna_port_rates told = {0};

	for (uint64_t i = 0; i < 200; i++) {
		set(&f->counters[0], i);
		told = read_after(f, 1);
	}
	assert_in_range(told.spans[RNA_RATE_MINUTE], 60 * RNA_USEC_PER_SEC, 72 * RNA_USEC_PER_SEC);
	assert_int_equal(told.of[RNA_RATE_RECEIVED].risen[RNA_RATE_MINUTE],
			 told.spans[RNA_RATE_MINUTE] / RNA_USEC_PER_SEC);
	set(&f->counters[0], 1000);
	told = read_after(f, 900);
	assert_int_equal(told.spans[RNA_RATE_MINUTE] / RNA_USEC_PER_SEC >= 900, 1);
	assert_int_equal(told.of[RNA_RATE_RECEIVED].total, 1000);
}

/* A part that was taken before is not read again. */
static void old_parts_change_nothing(void **state)
{
	struct fixture *f = *state;
	struct rna_port_rates told;

	set(&f->counters[0], 10);
	(void)read_after(f, 0);
	set(&f->counters[0], 20);
	told = read_after(f, 0);
	assert_int_equal(told.of[RNA_RATE_RECEIVED].total, 10);
}

static void resets_count_as_no_rise(void **state)
{
	struct fixture *f = *state;
	struct rna_port_rates told;

	set(&f->counters[1], 1000);
	(void)read_after(f, 0);
	set(&f->counters[1], 5);
	(void)read_after(f, POLL);
	set(&f->counters[1], 8);
	told = read_after(f, POLL);
	assert_int_equal(told.of[find_id("symbol_error")].risen[RNA_RATE_MINUTE], 3);
}

/* What rose while it could not be read is known at the next reading. */
static void failed_readings_lose_nothing(void **state)
{
	struct fixture *f = *state;
	struct rna_port_rates told;

	set(&f->counters[1], 10);
	(void)read_after(f, 0);
	f->counters[1].value = rna_value_unreadable();
	(void)read_after(f, POLL);
	set(&f->counters[1], 14);
	told = read_after(f, POLL);
	assert_int_equal(told.of[find_id("symbol_error")].risen[RNA_RATE_MINUTE], 4);
}

static void saturated_counters_say_so(void **state)
{
	struct fixture *f = *state;
	struct rna_port_rates told;

	f->counters[1].value = (struct rna_value){.state = RNA_VALUE_SATURATED, .number = 65535};
	(void)read_after(f, 0);
	told = read_after(f, POLL);
	assert_true(told.of[find_id("symbol_error")].saturated);
	assert_int_equal(told.of[find_id("symbol_error")].total, 65535);
}

/* mlx5 in switchdev mode has them at the device only. */
static void counters_of_the_device_take_the_place_of_absent_ones(void **state)
{
	struct fixture *f = *state;
	enum rna_rate_id id = find_id("out_of_sequence");
	struct rna_port_rates told;

	set(&f->of_port[1], 3);
	set(&f->of_device[0], 100);
	told = read_after(f, 0);
	assert_false(told.of[id].of_device);
	assert_int_equal(told.of[id].total, 3);
	f->of_port[1].value = (struct rna_value){0};
	told = read_after(f, POLL);
	assert_true(told.of[id].of_device);
	assert_int_equal(told.of[id].risen[RNA_RATE_MINUTE], 0); /* another counter: no rise */
	set(&f->of_device[0], 107);
	told = read_after(f, POLL);
	assert_int_equal(told.of[id].risen[RNA_RATE_MINUTE], 7);
}

/* What cannot be read is not replaced by what counts something else. */
static void unreadable_counters_are_not_replaced(void **state)
{
	struct fixture *f = *state;
	enum rna_rate_id id = find_id("out_of_sequence");
	struct rna_port_rates told;

	f->of_port[1].value = rna_value_unreadable();
	set(&f->of_device[0], 100);
	told = read_after(f, 0);
	assert_false(told.of[id].of_device);
	assert_false(told.of[id].known);
}

/* Virtual functions leave room for physical ones; all of them together have a limit. */
static void the_number_of_ports_is_bounded(void **state)
{
	struct fixture *f = *state;

	f->facts.function = RNA_FUNCTION_PF;
	assert_true(rna_rates_suit(&f->device, RNA_RATES_PORTS_MAX - 1));
	assert_false(rna_rates_suit(&f->device, RNA_RATES_PORTS_MAX));
	f->facts.function = RNA_FUNCTION_VF;
	assert_true(rna_rates_suit(&f->device, 0));
	assert_false(rna_rates_suit(&f->device, RNA_RATES_PORTS_MAX / 2));
	f->device.parts[RNA_COLLECTOR_COUNTERS] = NULL;
	f->device.parts[RNA_COLLECTOR_HW_COUNTERS] = NULL;
	assert_false(rna_rates_suit(&f->device, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_rose_at_the_first_reading, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_minute_and_an_hour, set_up, tear_down),
		cmocka_unit_test_setup_teardown(young_agents_name_less, set_up, tear_down),
		cmocka_unit_test_setup_teardown(other_periods, set_up, tear_down),
		cmocka_unit_test_setup_teardown(old_parts_change_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(resets_count_as_no_rise, set_up, tear_down),
		cmocka_unit_test_setup_teardown(failed_readings_lose_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(saturated_counters_say_so, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			counters_of_the_device_take_the_place_of_absent_ones, set_up, tear_down),
		cmocka_unit_test_setup_teardown(unreadable_counters_are_not_replaced, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_number_of_ports_is_bounded, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("port_rates", tests, NULL, NULL);
}
