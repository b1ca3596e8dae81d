// SPDX-License-Identifier: Apache-2.0
/*
 * agent/selftest/in_use and core/activity: whether counters that are read anyhow show a job, and
 * that a process which holds the lock for a long time is reported once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "selftest/ports.h"

#include "health_view.h"

#define PERIOD (10 * RNA_USEC_PER_SEC)

/* One port, what its counters said when they were read first, and what they say then. */
struct scene {
	struct rna_settings settings;
	struct node node;
	struct rna_traffic_check traffic_check;
	bool busy;
};

static void set_up(struct scene *scene)
{
	*scene = (struct scene){0};
	assert_int_equal(rna_settings_init(&scene->settings), 0);
	node_init(&scene->node, RNA_LINK_LAYER_INFINIBAND, 1);
}

static void tear_down(struct scene *scene)
{
	rna_settings_deinit(&scene->settings);
}

static void count(struct scene *scene, enum rna_counter_place place, const char *file,
		  struct rna_value value)
{
	struct node_port *port = &scene->node.ports[0];
	size_t i = 0;

	while (i < port->counter_count && strcmp(port->counters[i].file, file) != 0)
		i++;
	port->counter_count = i < port->counter_count ? port->counter_count : i + 1;
	port->counters[i].place = place;
	port->counters[i].file = file;
	port->counters[i].value = value;
}

static void count_words(struct scene *scene, uint64_t words)
{
	count(scene, RNA_PLACE_PORT_COUNTERS, "port_xmit_data", rna_value_ok(words));
}

/* Counters are read at that time, and looked at. */
static rna_usec look(struct scene *scene, rna_usec time)
{
	struct rna_view *view;
	rna_usec wait;

	scene->node.now.monotonic = time;
	view = node_view(&scene->node);
	wait = rna_traffic_check_run(&scene->traffic_check, &rna_view_ports(view)->items[0],
				     &scene->settings, &scene->busy);
	(void)rna_view_unref(view);
	return wait;
}

static void test_a_job(void **state)
{
	struct scene scene;

	(void)state;
	set_up(&scene);
	count_words(&scene, 1000);
	assert_int_equal(look(&scene, PERIOD), 16 * RNA_USEC_PER_SEC); /* poll.counters: 10s */
	assert_false(scene.busy);
	count_words(&scene, 1000 + 25000000); /* words of four bytes: 10 MB/s */
	assert_int_equal(look(&scene, 2 * PERIOD), 0);
	assert_true(scene.busy);
	/* the next turn begins anew */
	assert_true(look(&scene, 3 * PERIOD) > 0);
	assert_int_equal(look(&scene, 4 * PERIOD), 0);
	assert_false(scene.busy);
	tear_down(&scene);
}

static void test_a_little_is_no_job(void **state)
{
	struct scene scene;

	(void)state;
	set_up(&scene);
	count_words(&scene, 1000);
	(void)look(&scene, PERIOD);
	count_words(&scene, 1000 + 24999999);
	assert_int_equal(look(&scene, 2 * PERIOD), 0);
	assert_false(scene.busy);
	scene.settings.selftest_busy_rate = 9;
	(void)look(&scene, 2 * PERIOD);
	count_words(&scene, 1000 + 2 * 24999999);
	(void)look(&scene, 3 * PERIOD);
	assert_true(scene.busy);
	tear_down(&scene);
}

/* rxe counts packets: 1,000 of them are a megabyte. Both kinds of counters have to be new. */
static void test_packets(void **state)
{
	const enum rna_counter_place own = RNA_PLACE_PORT_HW_COUNTERS;
	struct scene scene;

	(void)state;
	set_up(&scene);
	scene.settings.poll[RNA_COLLECTOR_HW_COUNTERS] = 20 * RNA_USEC_PER_SEC;
	count(&scene, own, "sent_pkts", rna_value_ok(5));
	count(&scene, own, "rcvd_pkts", rna_value_ok(0));
	assert_int_equal(look(&scene, PERIOD), 31 * RNA_USEC_PER_SEC);
	count(&scene, own, "sent_pkts", rna_value_ok(5 + 50000));
	count(&scene, own, "rcvd_pkts", rna_value_ok(50000));
	assert_int_equal(look(&scene, 2 * PERIOD), 0);
	assert_true(scene.busy);
	tear_down(&scene);
}

/* What other drivers count, without counters of the PMA; a second's worth of 10 MB/s. */
static void test_counters_of_all_drivers(void **state)
{
	static const struct {
		const char *file;
		uint64_t second;
	} cases[] = {
		{"tx_bytes", 10000000},
		{"rx_bytes", 10000000},     /* bnxt_re */
		{"ip4OutOctets", 10000000}, /* irdma */
		{"tx_rdma_ucast_bytes", 10000000},
		{"rx_rdma_ucast_bytes", 10000000}, /* ionic */
		{"tx_bytes_cnt", 10000000},
		{"rx_bytes_cnt", 10000000}, /* erdma */
		{"hw_tx_bytes_cnt", 10000000},
		{"hw_rx_bytes_cnt", 10000000},
		{"tx_pkt", 10000},
		{"rx_pkt", 10000}, /* hns: packets of a KiB */
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		struct scene scene;

		set_up(&scene);
		scene.node.ports[0].odd_counters = true;
		count(&scene, RNA_PLACE_PORT_HW_COUNTERS, cases[i].file, rna_value_ok(7));
		assert_true(look(&scene, PERIOD) > 0);
		count(&scene, RNA_PLACE_PORT_HW_COUNTERS, cases[i].file,
		      rna_value_ok(7 + 10 * cases[i].second));
		assert_int_equal(look(&scene, 2 * PERIOD), 0);
		if (!scene.busy)
			fail_msg("%s does not count", cases[i].file);
		tear_down(&scene);
	}
}

/* Then it is for the child to see. */
static void test_nothing_is_known(void **state)
{
	struct scene scene;

	(void)state;
	set_up(&scene);
	assert_int_equal(look(&scene, PERIOD), 0); /* nothing counts */
	assert_false(scene.busy);
	count(&scene, RNA_PLACE_PORT_COUNTERS, "port_xmit_data",
	      (struct rna_value){.state = RNA_VALUE_UNREADABLE, .number = 7});
	assert_int_equal(look(&scene, PERIOD), 0);
	assert_false(scene.busy);
	tear_down(&scene);
}

static void test_counters_that_say_nothing(void **state)
{
	struct scene scene;

	(void)state;
	set_up(&scene);
	scene.settings.poll[RNA_COLLECTOR_COUNTERS] = 3600 * RNA_USEC_PER_SEC;
	count_words(&scene, 1000000000);
	assert_int_equal(look(&scene, PERIOD), 61 * RNA_USEC_PER_SEC);
	assert_int_equal(look(&scene, PERIOD), 0); /* not read again */
	assert_false(scene.busy);
	(void)look(&scene, PERIOD);
	count_words(&scene, 5); /* counted anew */
	assert_int_equal(look(&scene, 2 * PERIOD), 0);
	assert_false(scene.busy);
	tear_down(&scene);
}

#define MINUTE (60 * RNA_USEC_PER_SEC)

static const struct rna_loopback_holder nobody = {.is_there = false}, somebody = {true, 4711, 1000},
					another = {true, 4712, 1000};

static void test_a_lock_holder_is_reported_once(void **state)
{
	static const struct {
		const struct rna_loopback_holder *holder;
		unsigned minute;
		bool told;
	} steps[] = {
		{&somebody, 1, false},  {&somebody, 10, false}, {&somebody, 11, true},
		{&somebody, 60, false}, {&nobody, 61, false},  /* and begins anew */
		{&somebody, 62, false}, {&another, 73, false}, /* each has just come */
		{&another, 82, false},  {&another, 83, true},   {&nobody, 90, false},
		{&nobody, 120, false},
	};
	struct rna_lock_holder lock_holder = {0};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(steps); i++)
		if (rna_lock_holder_note(&lock_holder, steps[i].holder, steps[i].minute * MINUTE) !=
		    steps[i].told)
			fail_msg("minute %u: told %d", steps[i].minute, !steps[i].told);
}

static void test_who_it_is(void **state)
{
	static const struct {
		struct rna_loopback_holder holder;
		const char *text;
	} cases[] = {
		{{true, 4711, 1000},
		 "process 4711 of user 1000 has held the self-test lock for at least 12m5s"},
		{{true, 0, 0},
		 "a process of user 0, in another PID namespace, has held the self-test lock "
		 "for "
		 "at least 12m5s"},
		{{true, 0, RNA_UID_UNKNOWN},
		 "a process of unknown owner has held the self-test lock for at "
		 "least 12m5s"},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		const struct rna_lock_holder lock_holder = {.holder = cases[i].holder,
							    .since = MINUTE};
		RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

		rna_lock_holder_describe(&lock_holder, 13 * MINUTE + 5 * RNA_USEC_PER_SEC + 1,
					 &text);
		assert_string_equal(text.data, cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_job),
		cmocka_unit_test(test_a_little_is_no_job),
		cmocka_unit_test(test_packets),
		cmocka_unit_test(test_counters_of_all_drivers),
		cmocka_unit_test(test_nothing_is_known),
		cmocka_unit_test(test_counters_that_say_nothing),
		cmocka_unit_test(test_a_lock_holder_is_reported_once),
		cmocka_unit_test(test_who_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
