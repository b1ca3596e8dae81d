// SPDX-License-Identifier: Apache-2.0
/*
 * agent/health/health.c: the memory behind the rules, with a clock of its own; and a day in the
 * life of a node, in which nothing happens that should page.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "health_fixture.h"

static int set_up(void **state)
{
	struct fixture *f = fixture_new(IB, 3);

	f->health.looked = true; /* the agent has run for a while */
	*state = f;
	return 0;
}

static void test_down_is_told_at_once_and_once(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(count_after(f, 0), 0);
	set_port(f, RNA_PORT_DOWN);
	assert_int_equal(count_after(f, SECOND), 1);
	assert_int_equal(count_after(f, SECOND), 1);
	assert_string_equal(told, "+port-down");
	set_port(f, RNA_PORT_ACTIVE);
	assert_int_equal(count_after(f, SECOND), 0);
	assert_string_equal(told, "+port-down -port-down");
}

static void test_since_stays(void **state)
{
	struct fixture *f = *state;
	struct rna_view *view;
	rna_usec since;

	set_port(f, RNA_PORT_DOWN);
	(void)count_after(f, SECOND);
	since = f->node.now.monotonic;
	view = look_after(f, HOUR);
	assert_int_equal(view->findings[0].since.monotonic, since);
	(void)rna_view_unref(view);
	f->node.ports[0].history = (struct rna_port_history){.downs = 1, .last = {17, 18}};
	view = look_after(f, SECOND);
	assert_int_equal(view->findings[0].since.monotonic, 17); /* the transition knows better */
	assert_int_equal(view->findings[0].since.realtime, 18);
	(void)rna_view_unref(view);
}

static void test_hold_down(void **state)
{
	struct fixture *f = *state;

	set_port(f, RNA_PORT_INIT);
	assert_int_equal(count_after(f, SECOND), 0);
	assert_int_equal(count_after(f, 29 * SECOND), 0);
	set_port(f, RNA_PORT_ACTIVE); /* an interruption begins it anew */
	assert_int_equal(count_after(f, SECOND), 0);
	set_port(f, RNA_PORT_INIT);
	assert_int_equal(count_after(f, SECOND), 0);
	assert_int_equal(rna_health_next(&f->health, f->node.now.monotonic),
			 f->node.now.monotonic + 30 * SECOND);
	assert_int_equal(count_after(f, 29 * SECOND), 0);
	assert_string_equal(told, "");
	assert_int_equal(count_after(f, SECOND), 1);
	assert_string_equal(told, "+port-init");
	assert_true(rna_health_next(&f->health, f->node.now.monotonic) == RNA_USEC_NEVER);
}

static void test_hold_down_by_setting(void **state)
{
	struct fixture *f = *state;

	add_setting(&f->settings.health_hold_down, "port-*=2m");
	assert_int_equal(rna_health_reload(&f->health), 0);
	set_port(f, RNA_PORT_DOWN);
	assert_int_equal(count_after(f, SECOND), 0);
	assert_int_equal(count_after(f, 119 * SECOND), 0);
	assert_int_equal(count_after(f, SECOND), 1);
}

/* As check --once and status show it; but not what comes later. */
static void test_no_hold_down_for_what_was_there_before(void **state)
{
	struct fixture *f = *state;

	f->health.looked = false;
	set_port(f, RNA_PORT_INIT);
	assert_int_equal(count_after(f, 0), 1);
	assert_string_equal(told, "+port-init");
	set_port(f, RNA_PORT_ACTIVE);
	assert_int_equal(count_after(f, SECOND), 0);
	set_port(f, RNA_PORT_INIT);
	assert_int_equal(count_after(f, SECOND), 0);
}

/* Part of the node is not known yet: what looks like a problem may be a lack of data. */
static void test_hold_down_until_every_job_has_run(void **state)
{
	struct fixture *f = *state;

	f->health.looked = false;
	f->node.ports[1].unread = true;
	set_port(f, RNA_PORT_INIT);
	assert_int_equal(count_after(f, 0), 0);
	f->node.ports[1].unread = false;
	assert_int_equal(count_after(f, SECOND), 1);
}

/* A job that stalls from the start does not take the hold-down from all that comes later. */
static void test_hold_down_after_a_first_run_that_stalls(void **state)
{
	struct fixture *f = *state;

	f->health.looked = false;
	f->node.ports[1].unread = true;
	f->node.ports[1].stalled = SECOND;
	set_port(f, RNA_PORT_ACTIVE);
	assert_int_equal(count_after(f, 0), 1);
	assert_string_equal(told, "+device-stalled");
	f->node.ports[1].unread = false;
	f->node.ports[1].stalled = 0;
	set_port(f, RNA_PORT_INIT);
	assert_int_equal(count_after(f, SECOND), 0);
	assert_int_equal(count_after(f, 30 * SECOND), 1);
}

/* Links are still coming up then. */
static void test_hold_down_while_the_machine_boots(void **state)
{
	struct fixture *f = *state;

	f->health.looked = false;
	f->node.now.monotonic = MINUTE;
	set_port(f, RNA_PORT_INIT);
	assert_int_equal(count_after(f, 0), 0);
	f->node.now.monotonic = f->settings.health_boot_grace;
	assert_int_equal(count_after(f, SECOND), 0);
	assert_int_equal(count_after(f, 30 * SECOND), 1);
}

static bool has_settled(struct fixture *f, rna_usec span, enum rna_node_condition_id id)
{
	return settled_after(f, span) & RNA_CONDITION_BIT(id);
}

static bool all_have_settled(struct fixture *f, rna_usec span)
{
	return settled_after(f, span) == RNA_CONDITION_ALL_BITS;
}

/* What was there at the start is found at once, and nothing waits for it. */
static void test_what_has_settled(void **state)
{
	struct fixture *f = *state;

	f->health.looked = false;
	f->node.ports[1].unread = true;
	set_port(f, RNA_PORT_INIT);
	assert_false(has_settled(f, HOUR, RNA_CONDITION_PORT_DOWN));
	assert_false(has_settled(f, SECOND, RNA_CONDITION_RESOURCES_MISSING));
	f->node.ports[1].unread = false;
	assert_int_equal(count_after(f, SECOND), 1);
	assert_true(all_have_settled(f, 0));
}

/* One device must not keep all conditions from the Node; but that all was seen is not said. */
static void test_what_does_not_answer_is_not_waited_for_for_ever(void **state)
{
	struct fixture *f = *state;

	f->health.looked = false;
	f->node.ports[1].unread = true;
	assert_int_equal(settled_after(f, HOUR), 0);
	assert_int_equal(settled_after(f, 110 * SECOND), 0);
	set_port(f, RNA_PORT_INIT);
	assert_int_equal(settled_after(f, 9 * SECOND), 0);
	assert_int_equal(count_after(f, 0), 0);
	assert_int_equal(settled_after(f, SECOND),
			 RNA_CONDITION_ALL_BITS &
				 ~(RNA_CONDITION_BIT(RNA_CONDITION_FABRIC_UNHEALTHY) |
				   RNA_CONDITION_BIT(RNA_CONDITION_NOT_OBSERVED) |
				   RNA_CONDITION_BIT(RNA_CONDITION_NONE)));
	assert_int_equal(count_after(f, 0), 0); /* held down as ever, for it has just begun */
	set_port(f, RNA_PORT_ACTIVE);
	assert_int_equal(settled_after(f, HOUR),
			 RNA_CONDITION_ALL_BITS & ~(RNA_CONDITION_BIT(RNA_CONDITION_NOT_OBSERVED) |
						    RNA_CONDITION_BIT(RNA_CONDITION_NONE)));
	f->node.ports[1].unread = false;
	assert_true(all_have_settled(f, 0));
	f->node.ports[1].unread = true; /* another device of that name, for a moment */
	assert_true(all_have_settled(f, SECOND));
}

/* The condition of a problem that began just after the start waits, others do not. */
static void test_what_has_settled_is_not_what_is_held_down(void **state)
{
	struct fixture *f = *state;

	f->health.looked = false;
	assert_true(all_have_settled(f, HOUR));
	set_port(f, RNA_PORT_INIT);
	assert_false(has_settled(f, SECOND, RNA_CONDITION_FABRIC_UNHEALTHY));
	assert_true(has_settled(f, SECOND, RNA_CONDITION_LINK_DEGRADED));
	assert_true(has_settled(f, SECOND, RNA_CONDITION_NONE));
	assert_true(all_have_settled(f, 27 * SECOND)); /* a finding now */
	set_port(f, RNA_PORT_ACTIVE);
	assert_true(all_have_settled(f, HOUR));
	set_port(f, RNA_PORT_INIT);
	assert_true(all_have_settled(f, SECOND)); /* news of an agent that has run for long */
}

/* The Node tells of warnings and worse. */
static void test_nothing_waits_for_what_is_no_warning(void **state)
{
	struct fixture *f = *state;

	f->health.looked = false;
	f->node.ports[0].firmware = f->node.ports[1].firmware = f->node.ports[2].firmware = "1.0";
	assert_true(all_have_settled(f, HOUR));
	f->node.ports[0].firmware = "1.1";
	assert_true(all_have_settled(f, SECOND));
	assert_int_equal(count_after(f, 29 * SECOND), 0); /* it is held down */
	assert_int_equal(count_after(f, SECOND), 1);
}

/* A rule that lets the machine boot first has its hold-down behind that. */
static void test_what_has_settled_after_a_boot(void **state)
{
	struct fixture *f = *state;
	const rna_usec grace = f->settings.health_boot_grace;

	f->health.looked = false;
	f->node.now.monotonic = 40 * SECOND;
	set_port(f, RNA_PORT_INIT);
	assert_int_equal(count_after(f, 0), 0);
	assert_false(has_settled(f, 0, RNA_CONDITION_FABRIC_UNHEALTHY));
	f->node.now.monotonic = grace - SECOND;
	assert_false(has_settled(f, 0, RNA_CONDITION_LINK_DEGRADED));
	assert_true(has_settled(f, SECOND, RNA_CONDITION_LINK_DEGRADED));
	assert_false(has_settled(f, 0, RNA_CONDITION_FABRIC_UNHEALTHY));
	assert_false(has_settled(f, 29 * SECOND, RNA_CONDITION_FABRIC_UNHEALTHY));
	assert_true(all_have_settled(f, SECOND));
	assert_int_equal(count_after(f, 0), 1);
}

/* A machine that has booted well has conditions when that time is over. */
static void test_all_has_settled_after_a_good_boot(void **state)
{
	struct fixture *f = *state;

	f->health.looked = false;
	f->node.now.monotonic = 40 * SECOND;
	assert_false(all_have_settled(f, 0));
	f->node.now.monotonic = f->settings.health_boot_grace;
	assert_true(all_have_settled(f, 0));
}

/* Its links are coming up, and nothing is known of them: that is no reason to say that all is well.
 */
static void test_a_driver_that_comes_late_in_a_boot(void **state)
{
	struct fixture *f = *state;
	const rna_usec grace = f->settings.health_boot_grace;
	const unsigned rest =
		RNA_CONDITION_BIT(RNA_CONDITION_RESOURCES_MISSING); /* of the node alone */

	f->health.looked = false;
	f->node.count = 1;
	f->node.now.monotonic = 40 * SECOND;
	assert_int_equal(settled_after(f, 0), 0);
	f->node.count = 3;
	f->node.now.monotonic = grace - SECOND;
	assert_int_equal(settled_after(f, 0), 0);
	assert_int_equal(settled_after(f, SECOND) & rest, rest);
	assert_false(has_settled(f, 0, RNA_CONDITION_PORT_DOWN));
	assert_false(has_settled(f, grace - 2 * SECOND, RNA_CONDITION_LINK_DEGRADED));
	assert_true(all_have_settled(f, SECOND));
	f->node.ports[2].function = RNA_FUNCTION_VF; /* no condition tells of it */
	f->node.ports[2].generation++;
	assert_true(all_have_settled(f, SECOND));
	f->node.ports[2].function = RNA_FUNCTION_PF;
	f->node.ports[2].generation++;
	assert_false(all_have_settled(f, SECOND));
	f->node.now.monotonic = 3 * grace;
	f->node.ports[2].generation++; /* this is news to a Node that has conditions */
	assert_true(all_have_settled(f, 0));
}

static void test_disabled_rule(void **state)
{
	struct fixture *f = *state;

	add_setting(&f->settings.health_disable, "port-*");
	assert_int_equal(rna_health_reload(&f->health), 0);
	set_port(f, RNA_PORT_DOWN);
	assert_int_equal(count_after(f, SECOND), 0);
}

static void set_counter(struct fixture *f, const char *file, enum rna_counter_place place,
			uint64_t number)
{
	f->node.ports[0].counter_count = 1;
	f->node.ports[0].counters[0].file = file;
	f->node.ports[0].counters[0].place = place;
	f->node.ports[0].counters[0].value = rna_value_ok(number);
}

/* What is known stays while it cannot be looked at; what is not known does not come of it. */
static void test_unknown_keeps_what_was_told(void **state)
{
	struct fixture *f = *state;

	set_port(f, RNA_PORT_DOWN);
	assert_int_equal(count_after(f, SECOND), 1);
	f->node.ports[0].state = (struct rna_value){0};
	f->node.ports[0].stalled = 10 * SECOND;
	assert_int_equal(count_after(f, SECOND), 2);
	assert_string_equal(told, "+port-down +device-stalled");
	f->node.ports[0].stalled = 0;
	set_port(f, RNA_PORT_ACTIVE);
	assert_int_equal(count_after(f, SECOND), 0);
	assert_string_equal(told, "+port-down +device-stalled -port-down -device-stalled");
}

/*
 * So it is with every rule. The device answers again, and what is known of it comes back bit by
 * bit; what has got well meanwhile is over when it is seen.
 */
static void test_nothing_is_over_because_a_device_stalls(void **state)
{
	struct fixture *f = *state;

	f->node.ports[0].best.rate = UINT64_C(100000000000);
	set_counter(f, "symbol_error", RNA_PLACE_PORT_COUNTERS, 0);
	assert_int_equal(count_after(f, SECOND), 0);
	set_counter(f, "symbol_error", RNA_PLACE_PORT_COUNTERS, 120);
	assert_int_equal(count_after(f, MINUTE), 2);
	assert_string_equal(told, "+link-degraded +errors-rising");
	f->node.ports[0].stalled = 10 * SECOND;
	f->node.ports[0].counter_count = 0;
	f->node.ports[0].link_lapsed = true;
	f->node.ports[0].state = (struct rna_value){0};
	assert_int_equal(count_after(f, SECOND), 3);
	assert_int_equal(count_after(f, 2 * HOUR), 3);
	f->node.ports[0].stalled = 0;
	set_port(f, RNA_PORT_ACTIVE);
	assert_int_equal(count_after(f, SECOND), 2);
	f->node.ports[0].link_lapsed = false;
	assert_int_equal(count_after(f, SECOND), 1);
	assert_string_equal(told, "+link-degraded +errors-rising +device-stalled -device-stalled "
				  "-errors-rising");
}

static void test_silence(void **state)
{
	struct fixture *f = *state;
	struct rna_view *view;

	/* the clock of these tests begins at 2025-11-21T09:20Z, a Friday */
	add_setting(&f->settings.health_silence, "Fri 09:00-10:00 mlx5_0");
	set_port(f, RNA_PORT_DOWN);
	view = look_after(f, SECOND);
	assert_int_equal(view->finding_count, 1);
	assert_true(view->findings[0].silenced);
	assert_int_equal(rna_finding_count(view->findings, 1, RNA_SEVERITY_CRITICAL), 0);
	(void)rna_view_unref(view);
	assert_string_equal(told, "");
	view = look_after(
		f, HOUR); /* the window has ended, and the port is still down: now it is reported */
	assert_false(view->findings[0].silenced);
	(void)rna_view_unref(view);
	assert_string_equal(told, "+port-down");
}

static void test_worse_is_told_again(void **state)
{
	struct fixture *f = *state;

	f->node.ports[0].stalled = 10 * SECOND;
	assert_int_equal(count_after(f, SECOND), 1);
	assert_string_equal(told, "+device-stalled");
	assert_int_equal(count_after(f, SECOND), 1);
	assert_string_equal(told, "+device-stalled");
	f->node.ports[0].stalled = 3 * MINUTE;
	assert_int_equal(count_after(f, SECOND), 1);
	assert_string_equal(told, "+device-stalled +device-stalled");
}

static void test_errors_rise_that_only_mads_know(void **state)
{
	struct fixture *f = *state;

	set_counter(f, "fec_uncorrectable_blocks", RNA_PLACE_PORT_FABRIC, 100);
	assert_int_equal(count_after(f, SECOND), 0);
	set_counter(f, "fec_uncorrectable_blocks", RNA_PLACE_PORT_FABRIC, 110);
	assert_int_equal(count_after(f, SECOND), 1);
	assert_string_equal(told, "+errors-rising");
}

static void set_two_counters(struct fixture *f, const char *const files[2], uint64_t first,
			     uint64_t second)
{
	const uint64_t numbers[] = {first, second};

	f->node.ports[0].counter_count = 2;
	for (size_t i = 0; i < 2; i++) {
		f->node.ports[0].counters[i].file = files[i];
		f->node.ports[0].counters[i].place = RNA_PLACE_PORT_HW_COUNTERS;
		f->node.ports[0].counters[i].value = rna_value_ok(numbers[i]);
	}
}

static enum rna_severity severity_after(struct fixture *f, rna_usec span)
{
	struct rna_view *view = look_after(f, span);
	enum rna_severity severity;

	assert_int_equal(view->finding_count, 1);
	assert_string_equal(view->findings[0].rule, "acknowledgements-missing");
	severity = view->findings[0].severity;
	(void)rna_view_unref(view);
	return severity;
}

/* A neighbour of a dead peer is healthy, unless peers that are alive miss packets as well. */
static void test_one_dead_peer_is_not_a_fault_of_its_neighbours(void **state)
{
	static const char *const files[] = {"packet_seq_err", "local_ack_timeout_err"};
	struct fixture *f = *state;

	set_two_counters(f, files, 0, 0);
	assert_int_equal(count_after(f, SECOND), 0);
	set_two_counters(f, files, 0, 60);
	assert_int_equal(severity_after(f, SECOND), RNA_SEVERITY_INFO);
	set_two_counters(f, files, 60, 120);
	assert_int_equal(severity_after(f, SECOND), RNA_SEVERITY_WARNING);
	assert_int_equal(count_after(f, HOUR), 0);
	set_two_counters(f, files, 1000, 120); /* alone it is what a lossy network does */
	assert_int_equal(count_after(f, SECOND), 0);
}

static void set_loss(struct fixture *f, uint64_t packets, const char *file, uint64_t lost)
{
	f->node.ports[0].counter_count = 2;
	f->node.ports[0].counters[0].file = "port_xmit_packets";
	f->node.ports[0].counters[0].place = RNA_PLACE_PORT_COUNTERS;
	f->node.ports[0].counters[0].value = rna_value_ok(packets);
	f->node.ports[0].counters[1].file = file;
	f->node.ports[0].counters[1].place = RNA_PLACE_PORT_HW_COUNTERS;
	f->node.ports[0].counters[1].value = rna_value_ok(lost);
}

/* One loss a second, and a hundred for each million packets, is what a lossy network has. */
static void test_losses_count_in_proportion_to_the_traffic(void **state)
{
	static const char *const files[] = {"packet_seq_err", "implied_nak_seq_err"};
	struct fixture *f = *state;
	struct rna_view *view;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(files); i++) {
		told[0] = '\0';
		node_init(&f->node, ROCE, 1);
		f->node.now.monotonic += i * 10 * HOUR;
		set_loss(f, 0, files[i], 0);
		assert_int_equal(count_after(f, HOUR), 0);
		set_loss(f, 1000000, files[i], 159);
		assert_int_equal(count_after(f, SECOND), 0);
		set_loss(f, 1000000, files[i], 160);
		view = look_after(f, SECOND);
		assert_int_equal(view->finding_count, 1);
		assert_string_equal(view->findings[0].rule, "packets-lost");
		assert_int_equal(view->findings[0].severity, RNA_SEVERITY_WARNING);
		assert_non_null(strstr(view->findings[0].text,
				       " rose by 160 in 1m (threshold 160: 60, and 100 for each "
				       "million port_xmit_packets): "));
		(void)rna_view_unref(view);
		assert_int_equal(count_after(f, HOUR), 0);
		set_loss(f, 601000000, files[i],
			 160 + 60059); /* as many as before, in proportion */
		assert_int_equal(count_after(f, SECOND), 0);
		assert_string_equal(told, "+packets-lost -packets-lost");
	}
}

static char said[512]; /* in the finding */

/* Of a driver: what it counts of a loss, and the packets beside it. */
struct driver_loss {
	const char *files[3]; /* added up */
	const char *packets[2];
	const char *found; /* rule and severity */
	const char *said;
	uint64_t enough;  /* beside a million packets */
	bool other_layer; /* not Ethernet: EFA says nothing, mlx4 may be InfiniBand */
};

static int compare_counters(const void *a, const void *b)
{
	const struct node_counter *x = a, *y = b;
	const struct rna_counter *first = rna_counter_find(x->place, x->file);
	const struct rna_counter *second = rna_counter_find(y->place, y->file);

	return first < second ? -1 : first > second;
}

static void add_counter(struct node_port *port, const char *file, uint64_t number)
{
	if (file)
		port->counters[port->counter_count++] =
			(struct node_counter){file, RNA_PLACE_PORT_HW_COUNTERS,
					      rna_value_ok(number)};
}

/* lost: of the first file; the others stay. packets: of each file, which share them. */
static const char *lose(struct fixture *f, const struct driver_loss *row, uint64_t lost,
			uint64_t packets)
{
	struct node_port *port = &f->node.ports[0];
	struct rna_view *view;

	port->counter_count = 0;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(row->files); i++)
		add_counter(port, row->files[i], i == 0 ? lost : 5);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(row->packets); i++)
		add_counter(port, row->packets[i], i == 0 ? packets : 7);
	qsort(port->counters, port->counter_count, sizeof(port->counters[0]), compare_counters);
	view = look_after(f, SECOND);
	said[0] = '\0';
	if (view->finding_count > 0)
		(void)snprintf(said, sizeof(said), "%s %s: %s", view->findings[0].rule,
			       rna_severity_name(view->findings[0].severity),
			       view->findings[0].text);
	assert_true(view->finding_count <= 1);
	(void)rna_view_unref(view);
	return said;
}

/* Each driver has names of its own for what is lost, and for the packets to compare it with. */
static void test_losses_of_each_driver(void **state)
{
	static const struct driver_loss rows[] = {
		{{"req_rx_pkt_seq_err"},
		 {"tx_rdma_ucast_pkts"},
		 "packets-lost warning",
		 "req_rx_pkt_seq_err rose by 160 in 1m (threshold 160: 60, and 100 for each "
		 "million "
		 "tx_rdma_ucast_pkts)",
		 160},
		{{"req_rx_impl_nak_seq_err"},
		 {"tx_rdma_ucast_pkts"},
		 "packets-lost warning",
		 NULL,
		 160},
		{{"tx_rdma_ack_timeout"}, {NULL}, "acknowledgements-missing info", NULL, 60},
		{{"req_tx_retry_excd_err"}, {NULL}, "errors-rising info", NULL, 10},
		{{"seq_err_naks_rcvd"}, {"tx_pkts"}, "packets-lost warning", NULL, 160},
		{{"packet_seq_err"},
		 {"tx_pkts", "tx_roce_only_pkts"},
		 "packets-lost warning",
		 "tx_pkts + tx_roce_only_pkts): peers miss",
		 160},
		{{"missing_resp"}, {"tx_pkts"}, "packets-lost warning", NULL, 160},
		{{"to_retransmits"}, {NULL}, "acknowledgements-missing info", NULL, 60},
		{{"max_retry_exceeded"}, {NULL}, "errors-rising info", NULL, 10},
		{{"unrecoverable_err"}, {NULL}, "errors-rising warning", NULL, 1},
		{{"rx_roce_discards"}, {"rx_pkts"}, "packets-lost warning", NULL, 6100},
		{{"rx_roce_errors"}, {"rx_pkts"}, "packets-lost warning", NULL, 6100},
		{{"tx_roce_discards"}, {"tx_pkts"}, "packets-lost warning", NULL, 6100},
		{{"Nak Sequence Error"},
		 {"ip4OutPkts", "ip6OutPkts"},
		 "packets-lost warning",
		 "each million ip4OutPkts + ip6OutPkts)",
		 160},
		{{"ip4InDiscards", "ip6InDiscards"},
		 {"ip4InPkts", "ip6InPkts"},
		 "packets-lost warning",
		 "ip4InDiscards + ip6InDiscards rose by 6100 in 1m",
		 6100},
		{{"RTO"}, {NULL}, "acknowledgements-missing info", NULL, 60},
		{{"CRC errors"}, {NULL}, "errors-rising warning", NULL, 1},
		{{"cnpIgnored"}, {NULL}, "congestion-ignored warning", NULL, 10},
		{{"rx_err_pkt"}, {"rx_pkt"}, "packets-lost warning", NULL, 6100},
		{{"tx_err_pkt"}, {"tx_pkt"}, "packets-lost warning", NULL, 6100},
		{{"requester_oos_nak"}, {"tx_packets"}, "packets-lost warning", NULL, 160},
		{{"requester_implicit_nak"}, {"tx_packets"}, "packets-lost warning", NULL, 160},
		{{"requester_timeout"}, {NULL}, "acknowledgements-missing info", NULL, 60},
		{{"requester_retries_exceeded"}, {NULL}, "errors-rising info", NULL, 10},
		{{"requester_rnr_nak_retries_exceeded"}, {NULL}, "errors-rising info", NULL, 10},
		{{"general_hw_error"}, {NULL}, "errors-rising warning", NULL, 1},
		{{"rx_drops"},
		 {"rx_pkts"},
		 "packets-lost warning",
		 NULL,
		 6100,
		 .other_layer = true},
		{{"sq_num_tree"}, {NULL}, "errors-rising info", NULL, 10, .other_layer = true},
		{{"sq_num_to"}, {NULL}, "acknowledgements-missing info", NULL, 60},
		{{"RcTimeOut"}, {NULL}, "acknowledgements-missing info", NULL, 60},
		{{"retry_exceeded_err"}, {NULL}, "errors-rising info", NULL, 10},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(rows); i++) {
		const struct driver_loss row = rows[i];

		node_init(&f->node, ROCE, 1);
		if (row.other_layer)
			f->node.ports[0].layer = RNA_LINK_LAYER_UNKNOWN;
		f->node.ports[0].generation = i; /* another device: what rose before is over */
		f->node.ports[0].name = i % 2 ? "mlx5_0" : "mlx5_1";
		f->node.now.monotonic += (i + 1) * 2 * HOUR;
		assert_string_equal(lose(f, &row, 1000, 1000), "");
		assert_string_equal(lose(f, &row, 1000 + row.enough - 1, 1001000), "");
		(void)lose(f, &row, 1000 + row.enough, 1001000);
		if (strncmp(said, row.found, strlen(row.found)) != 0 ||
		    !strstr(said, row.said ? row.said : row.files[0]))
			fail_msg("%s: %s", row.files[0], said);
		f->node.ports[0].counter_count = 0;
		assert_int_equal(count_after(f, 2 * HOUR), 0);
	}
}

/* What rises on healthy nodes: a receiver that is slow, several paths, congestion control, limits.
 */
static void test_no_losses(void **state)
{
	static const char *const files[] = {
		"rnr_nak_retry_err", "rnr_naks_rcvd",         "req_rx_rnr_retry_err",
		"RNR received",      "requester_rnr_nak",     "out_of_buffer",
		"out_of_sequence",   "resp_rx_outouf_seq",    "duplicate_request",
		"dup_req",           "resp_rx_dup_request",   "retrans_pkts",
		"tx_rdma_retx_pkts", "rx_bps_limit_drop_cnt", "np_cnp_sent",
		"rp_cnp_handled",    "rx_rdma_cnp_pkts",      "total_fatal_error",
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(files); i++) {
		const struct driver_loss row = {{files[i]}};

		node_init(&f->node, ROCE, 1);
		f->node.ports[0].generation = i;
		assert_string_equal(lose(f, &row, 0, 0), "");
		assert_string_equal(lose(f, &row, 1000000, 0), "");
		f->node.ports[0].counter_count = 0;
		assert_int_equal(count_after(f, 2 * HOUR), 0);
	}
}

/* Adaptive retransmission runs into its timeouts where a peer is dead, as the other one does. */
static void test_timeouts_of_adaptive_retransmission_are_of_the_far_end(void **state)
{
	struct fixture *f = *state;

	node_init(&f->node, ROCE, 1);
	set_loss(f, 0, "roce_adp_retrans_to", 0);
	assert_int_equal(count_after(f, HOUR), 0);
	set_loss(f, 1000000, "roce_adp_retrans_to", 609);
	assert_int_equal(count_after(f, SECOND), 0);
	set_loss(f, 1000000, "roce_adp_retrans_to", 610);
	assert_int_equal(severity_after(f, SECOND), RNA_SEVERITY_INFO);
}

/* mlx5 in switchdev mode has the counters of thresholds at the device, none at the port. */
static void test_errors_of_a_device_in_switchdev_mode(void **state)
{
	static const char *const files[] = {"roce_slow_restart", "rx_icrc_encapsulated"};
	struct fixture *f = *state;
	struct rna_view *view;

	node_init(&f->node, ROCE, 1);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(files); i++) {
		told[0] = '\0';
		set_counter(f, files[i], RNA_PLACE_DEVICE_HW_COUNTERS, 0);
		assert_int_equal(count_after(f, 2 * HOUR), 0);
		set_counter(f, files[i], RNA_PLACE_DEVICE_HW_COUNTERS, 1000);
		view = look_after(f, SECOND);
		assert_int_equal(view->finding_count, 1);
		assert_int_equal(view->findings[0].port, 0);
		assert_string_equal(view->findings[0].device, "mlx5_0");
		(void)rna_view_unref(view);
		assert_string_equal(told, i == 0 ? "" : "+errors-rising"); /* the first: info */
		assert_int_equal(count_after(f, 2 * HOUR), 0);
	}
	told[0] = '\0';
	set_counter(f, "rp_cnp_ignored", RNA_PLACE_DEVICE_HW_COUNTERS, 0);
	assert_int_equal(count_after(f, SECOND), 0);
	set_counter(f, "rp_cnp_ignored", RNA_PLACE_DEVICE_HW_COUNTERS, 10);
	assert_int_equal(count_after(f, SECOND), 1);
	assert_string_equal(told, "+congestion-ignored");
}

/* Of InfiniBand they mean nothing. */
static void test_roce_counters_of_an_infiniband_device(void **state)
{
	struct fixture *f = *state;

	set_counter(f, "rp_cnp_ignored", RNA_PLACE_DEVICE_HW_COUNTERS, 0);
	assert_int_equal(count_after(f, SECOND), 0);
	set_counter(f, "rp_cnp_ignored", RNA_PLACE_DEVICE_HW_COUNTERS, 1000);
	assert_int_equal(count_after(f, SECOND), 0);
}

static void test_errors_rise_and_calm_down(void **state)
{
	struct fixture *f = *state;

	set_counter(f, "symbol_error", RNA_PLACE_PORT_COUNTERS, 60000);
	assert_int_equal(count_after(f, SECOND), 0); /* from before the agent */
	set_counter(f, "symbol_error", RNA_PLACE_PORT_COUNTERS, 60119);
	assert_int_equal(count_after(f, SECOND), 0);
	set_counter(f, "symbol_error", RNA_PLACE_PORT_COUNTERS, 60120);
	assert_int_equal(count_after(f, SECOND), 1);
	assert_string_equal(told, "+errors-rising");
	f->node.ports[0].generation++; /* the driver came anew, and its counters begin at zero */
	set_counter(f, "symbol_error", RNA_PLACE_PORT_COUNTERS, 0);
	assert_int_equal(count_after(f, SECOND), 1);
	assert_int_equal(count_after(f, 2 * HOUR), 0);
}

static void set_aer(struct fixture *f, enum rna_aer severity, struct rna_value count)
{
	static const struct rna_pcie_hop hops[] = {
		{.address = "0000:18:00.0", .role = RNA_PCI_NIC},
		{.address = "0000:15:01.0", .role = RNA_PCI_ROOT_PORT},
	};

	if (f->node.ports[0].hop_count == 0)
		memcpy(f->node.ports[0].hops, hops, sizeof(hops));
	f->node.ports[0].hop_count = 2;
	f->node.ports[0].hops[1].aer[severity] = count;
}

static void test_pcie_errors_rise_and_name_the_hop(void **state)
{
	struct fixture *f = *state;
	struct rna_view *view;

	set_aer(f, RNA_AER_CORRECTABLE, rna_value_ok(500));
	assert_int_equal(count_after(f, SECOND), 0); /* from before the agent */
	set_aer(f, RNA_AER_CORRECTABLE, rna_value_ok(1499));
	assert_int_equal(count_after(f, SECOND), 0);
	set_aer(f, RNA_AER_CORRECTABLE, rna_value_unreadable());
	assert_int_equal(count_after(f, SECOND), 0);
	set_aer(f, RNA_AER_CORRECTABLE, rna_value_ok(1500));
	view = look_after(f, SECOND);
	assert_int_equal(view->finding_count, 1);
	assert_int_equal(view->findings[0].severity, RNA_SEVERITY_WARNING);
	assert_int_equal(view->findings[0].port, 0);
	assert_non_null(strstr(view->findings[0].text, "most since boot at 0000:15:01.0"));
	(void)rna_view_unref(view);
	assert_string_equal(told, "+pcie-errors");
	f->node.ports[0].generation++; /* the driver came anew, the function did not */
	assert_int_equal(count_after(f, 2 * HOUR), 0);
	set_aer(f, RNA_AER_FATAL, rna_value_ok(0));
	assert_int_equal(count_after(f, SECOND), 0);
	set_aer(f, RNA_AER_FATAL, rna_value_ok(1));
	view = look_after(f, SECOND);
	assert_int_equal(view->finding_count, 1);
	assert_int_equal(view->findings[0].severity, RNA_SEVERITY_CRITICAL);
	(void)rna_view_unref(view);
}

/* The finding's text as labels have it after so many errors more; text: as it is now. */
static void assert_told_text(struct fixture *f, enum rna_aer severity, uint64_t errors,
			     const char *told_text, const char *text)
{
	struct rna_view *view;

	set_aer(f, severity, rna_value_ok(errors));
	view = look_after(f, SECOND);
	assert_int_equal(view->finding_count, 1);
	assert_non_null(strstr(view->findings[0].told_text, told_text));
	assert_non_null(strstr(view->findings[0].text, text));
	(void)rna_view_unref(view);
}

/* A label must not change with each error, nor with a restart; that it got worse is news. */
static void test_the_text_that_was_told_stays(void **state)
{
	struct fixture *f = *state;

	set_aer(f, RNA_AER_NONFATAL, rna_value_ok(0));
	set_aer(f, RNA_AER_FATAL, rna_value_ok(0));
	assert_int_equal(count_after(f, SECOND), 0);
	assert_told_text(f, RNA_AER_NONFATAL, 3, "3 in", "3 in");
	assert_told_text(f, RNA_AER_NONFATAL, 4, "3 in", "4 in");
	restart(f);
	assert_told_text(f, RNA_AER_NONFATAL, 5, "3 in", "5 in");
	assert_told_text(f, RNA_AER_FATAL, 1, "aer_fatal", "aer_fatal");
	assert_told_text(f, RNA_AER_FATAL, 2, "1 in", "2 in");
}

/* What a driver or the kernel's log says may be long; a label is cut, between two characters. */
static void test_the_text_that_was_told_is_cut(void **state)
{
	struct fixture *f = *state;
	struct rna_view *view;
	char name[604] = "d";

	while (strlen(name) < 601)
		strcat(name, "\u00e4");
	f->node.ports[0].name = name;
	set_port(f, RNA_PORT_DOWN);
	view = look_after(f, SECOND);
	assert_int_equal(view->finding_count, 1);
	assert_int_equal(strlen(view->findings[0].told_text), RNA_TOLD_TEXT_MAX - 1);
	assert_memory_equal(view->findings[0].told_text, name, RNA_TOLD_TEXT_MAX - 1);
	(void)rna_view_unref(view);
}

/* The statistic of the port's interface; what then is found, or "". */
static const char *statistic(struct fixture *f, enum rna_ethernet_statistic_id id, uint64_t number)
{
	static char found[256];
	struct rna_view *view;

	f->node.ports[0].statistic = (struct rna_ethernet_count){id, 3, rna_value_ok(number)};
	view = look_after(f, SECOND);
	assert_true(view->finding_count <= 1);
	(void)snprintf(found, sizeof(found), "%s %s",
		       view->finding_count > 0 ? view->findings[0].rule : "",
		       view->finding_count > 0 ? rna_severity_name(view->findings[0].severity)
					       : "");
	(void)snprintf(said, sizeof(said), "%s",
		       view->finding_count > 0 ? view->findings[0].text : "");
	(void)rna_view_unref(view);
	return found;
}

/* Only priorities with PFC are lossless, and only since they have it. */
static void test_lossless_discards(void **state)
{
	struct rna_dcb dcb = {.pfc = rna_value_ok(1 << 4)};
	struct fixture *f = *state;

	node_init(&f->node, ROCE, 1);
	assert_string_equal(statistic(f, RNA_ETHERNET_PRIORITY_DISCARDS, 1000), " ");
	f->node.ports[0].has_qos = true; /* PFC for another priority than the statistic is of */
	f->node.ports[0].qos = (struct rna_qos_port){.number = 1, .netdev = "eth0", .dcb = &dcb};
	assert_string_equal(statistic(f, RNA_ETHERNET_PRIORITY_DISCARDS, 2000), " ");
	dcb.pfc = rna_value_ok(1 << 3);
	assert_string_equal(statistic(f, RNA_ETHERNET_PRIORITY_DISCARDS, 3000), " ");
	assert_string_equal(statistic(f, RNA_ETHERNET_PRIORITY_DISCARDS, 3009), " ");
	assert_string_equal(statistic(f, RNA_ETHERNET_PRIORITY_DISCARDS, 3010),
			    "qos-lossless-discards warning");
}

/* Members of a bond have PFC settings of their own; the finding names each member. */
static void test_lossless_discards_of_a_bond(void **state)
{
	struct rna_dcb first = {.pfc = rna_value_ok(0)}, second = {.pfc = rna_value_ok(1 << 3)};
	struct fixture *f = *state;
	struct node_port *port = &f->node.ports[0];

	node_init(&f->node, ROCE, 1);
	port->has_qos = true;
	port->qos = (struct rna_qos_port){.number = 1, .netdev = "eth0", .dcb = &first};
	port->other_qos = (struct rna_qos_port){.number = 1, .netdev = "eth1", .dcb = &second};
	port->other_statistic =
		(struct rna_ethernet_count){RNA_ETHERNET_PRIORITY_DISCARDS, 3, rna_value_ok(500)};
	assert_string_equal(statistic(f, RNA_ETHERNET_PRIORITY_DISCARDS, 1000), " ");
	assert_string_equal(statistic(f, RNA_ETHERNET_PRIORITY_DISCARDS, 2000), " ");
	port->other_statistic.value = rna_value_ok(512);
	assert_string_equal(statistic(f, RNA_ETHERNET_PRIORITY_DISCARDS, 3000),
			    "qos-lossless-discards warning");
	assert_non_null(strstr(said, "rose by 12 in 1h"));
	assert_non_null(strstr(said, "not lossless; 12 on eth1"));
	first.pfc = rna_value_ok(1 << 3); /* its history is none that rose */
	assert_string_equal(statistic(f, RNA_ETHERNET_PRIORITY_DISCARDS, 4000),
			    "qos-lossless-discards warning");
	assert_non_null(strstr(said, "not lossless; 12 on eth1"));
	port->generation++; /* the driver came anew, and its counters begin at zero */
	port->other_statistic.value = rna_value_ok(0);
	assert_string_equal(statistic(f, RNA_ETHERNET_PRIORITY_DISCARDS, 0),
			    "qos-lossless-discards warning");
	assert_string_equal(statistic(f, RNA_ETHERNET_PRIORITY_DISCARDS, 3),
			    "qos-lossless-discards warning");
	assert_non_null(strstr(said, "rose by 15 in 1h"));
	assert_non_null(strstr(said, "not lossless; 3 on eth0, 12 on eth1"));
}

/* A bond with a member less or more has another sum, which has not risen. */
static void test_sums_over_other_interfaces(void **state)
{
	struct fixture *f = *state;

	node_init(&f->node, ROCE, 1);
	f->node.ports[0].netdev.ifindex = 7;
	assert_string_equal(statistic(f, RNA_ETHERNET_FCS_ERRORS, 1000), " ");
	f->node.ports[0].netdev.ifindex = 8;
	assert_string_equal(statistic(f, RNA_ETHERNET_FCS_ERRORS, 5000), " ");
	assert_string_equal(statistic(f, RNA_ETHERNET_FCS_ERRORS, 5119), " ");
	assert_string_equal(statistic(f, RNA_ETHERNET_FCS_ERRORS, 5120), "errors-rising warning");
}

/* A member without link tells no statistics of FEC; on return its whole history is none that rose.
 */
static void test_sums_of_a_member_that_is_silent_for_a_while(void **state)
{
	struct fixture *f = *state;

	node_init(&f->node, ROCE, 1);
	assert_string_equal(statistic(f, RNA_ETHERNET_FEC_UNCORRECTABLE_BLOCKS, 1000), " ");
	f->node.ports[0].other_statistic =
		(struct rna_ethernet_count){RNA_ETHERNET_FEC_UNCORRECTABLE_BLOCKS, -1,
					    rna_value_ok(4000)};
	assert_string_equal(statistic(f, RNA_ETHERNET_FEC_UNCORRECTABLE_BLOCKS, 1000), " ");
	f->node.ports[0].other_statistic.value = rna_value_unreadable();
	assert_string_equal(statistic(f, RNA_ETHERNET_FEC_UNCORRECTABLE_BLOCKS, 1000), " ");
	f->node.ports[0].other_statistic.value = rna_value_ok(4009);
	assert_string_equal(statistic(f, RNA_ETHERNET_FEC_UNCORRECTABLE_BLOCKS, 1000), " ");
	f->node.ports[0].other_statistic.value = (struct rna_value){0};
	assert_string_equal(statistic(f, RNA_ETHERNET_FEC_UNCORRECTABLE_BLOCKS, 1000), " ");
	assert_string_equal(statistic(f, RNA_ETHERNET_FEC_UNCORRECTABLE_BLOCKS, 1001),
			    "errors-rising warning"); /* 9 and 1 */
}

/*
 * What rises by how much, and who is to blame. InfiniBand has the same of PCIe and modules; of the
 * link it has its own counters.
 */
static void test_statistics_of_ethernet_ports(void **state)
{
	static const struct {
		enum rna_ethernet_statistic_id id;
		uint64_t less, enough;
		const char *found;
		bool any_link_layer;
	} rows[] = {
		{RNA_ETHERNET_FEC_HEAVILY_CORRECTED_BLOCKS, 119, 120, "errors-rising info"},
		{RNA_ETHERNET_FEC_UNCORRECTABLE_BLOCKS, 9, 10, "errors-rising warning"},
		{RNA_ETHERNET_PCS_SYMBOL_ERRORS, 119, 120, "errors-rising warning"},
		{RNA_ETHERNET_MODULE_HIGH_TEMPERATURE, 0, 1, "errors-rising warning", true},
		{RNA_ETHERNET_PAUSE_STORM_WARNINGS, 0, 1, "pause-storm warning"},
		{RNA_ETHERNET_PAUSE_STORM_ERRORS, 0, 1, "pause-storm critical"},
		{RNA_ETHERNET_PRIORITY_PAUSE_TRANSMITTED_TIME, 5999999, 6000000,
		 "pause-transmitted warning"},
		{RNA_ETHERNET_PRIORITY_PAUSE_RECEIVED_TIME, 5999999, 6000000,
		 "pause-received info"},
		{RNA_ETHERNET_PAUSE_TRANSMITTED_TIME, 5999999, 6000000, "link-pause warning"},
		{RNA_ETHERNET_PAUSE_RECEIVED_TIME, 5999999, 6000000, "link-pause info"},
		{RNA_ETHERNET_PAUSE_TRANSMITTED, 599999, 600000, "link-pause warning"},
		{RNA_ETHERNET_PAUSE_RECEIVED, 599999, 600000, "link-pause info"},
		{RNA_ETHERNET_PCIE_WRITE_STALLED_TIME, 9999999, 10000000, "pcie-stalled warning",
		 true},
		{RNA_ETHERNET_PCIE_BUFFER_OVERFLOWS, 99, 100, "pcie-stalled warning", true},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(rows); i++) {
		node_init(&f->node, ROCE, 1);
		f->node.ports[0].generation = i; /* another device: what rose before is over */
		f->node.ports[0].name = i % 2 ? "mlx5_0" : "mlx5_1";
		f->node.now.monotonic += (i + 1) * 2 * HOUR;
		assert_string_equal(statistic(f, rows[i].id, 1000), " ");
		assert_string_equal(statistic(f, rows[i].id, 1000 + rows[i].less), " ");
		assert_string_equal(statistic(f, rows[i].id, 1000 + rows[i].enough), rows[i].found);
		f->node.ports[0].statistic.value = (struct rna_value){0};
		assert_int_equal(count_after(f, 2 * HOUR), 0);
		f->node.ports[0].layer = IB;
		assert_string_equal(statistic(f, rows[i].id, 1000), " ");
		assert_string_equal(statistic(f, rows[i].id, 99000000),
				    rows[i].any_link_layer ? rows[i].found : " ");
		f->node.ports[0].statistic.value = (struct rna_value){0};
		assert_int_equal(count_after(f, 2 * HOUR), 0);
	}
}

/* Pause frames that the interface does not obey stop nothing. */
static void test_pause_frames_without_pause(void **state)
{
	struct fixture *f = *state;

	node_init(&f->node, ROCE, 1);
	f->node.ports[0].pause = (struct rna_ethernet_pause){.receive = rna_value_ok(0),
							     .transmit = rna_value_ok(1)};
	assert_string_equal(statistic(f, RNA_ETHERNET_PAUSE_RECEIVED, 0), " ");
	assert_string_equal(statistic(f, RNA_ETHERNET_PAUSE_RECEIVED, 1000000), " ");
	assert_string_equal(statistic(f, RNA_ETHERNET_PAUSE_TRANSMITTED, 0), " ");
	assert_string_equal(statistic(f, RNA_ETHERNET_PAUSE_TRANSMITTED, 1000000),
			    "link-pause warning");
}

/* Times are shown in seconds. */
static void test_times_of_ethernet_ports(void **state)
{
	struct fixture *f = *state;
	struct rna_view *view;

	node_init(&f->node, ROCE, 1);
	(void)statistic(f, RNA_ETHERNET_PRIORITY_PAUSE_TRANSMITTED_TIME, 0);
	f->node.ports[0].statistic.value = rna_value_ok(7500000);
	view = look_after(f, SECOND);
	assert_int_equal(view->finding_count, 1);
	assert_string_equal(
		view->findings[0].text,
		"mlx5_0/1: ethernet_priority_pause_transmitted rose by 7.5 s in 1m "
		"(threshold 6 s): this host accepts packets more slowly than they arrive");
	(void)rna_view_unref(view);
}

static void test_counters_of_another_link_layer(void **state)
{
	struct fixture *f = *state;

	node_init(&f->node, ROCE, 1);
	for (uint64_t i = 0; i < 5; i++) {
		set_counter(f, "symbol_error", RNA_PLACE_PORT_COUNTERS, i * 1000);
		assert_int_equal(count_after(f, SECOND), 0);
	}
	for (uint64_t i = 0; i < 5; i++) {
		set_counter(f, "rp_cnp_ignored", RNA_PLACE_PORT_HW_COUNTERS, i * 1000);
		(void)count_after(f, SECOND);
	}
	assert_string_equal(told, "+congestion-ignored");
}

static void test_flapping(void **state)
{
	struct fixture *f = *state;

	for (uint64_t downs = 0; downs < 3; downs++) {
		f->node.ports[0].history.downs = downs;
		assert_int_equal(count_after(f, MINUTE), 0);
	}
	f->node.ports[0].history.downs = 3;
	assert_int_equal(count_after(f, MINUTE), 1);
	assert_string_equal(told, "+port-flapping");
	assert_int_equal(count_after(f, 2 * HOUR), 0);
}

/* A link that goes down every few hours never exceeds the threshold for an hour. */
static void test_flapping_slowly(void **state)
{
	struct fixture *f = *state;

	for (uint64_t downs = 0; downs < 5; downs++) {
		f->node.ports[0].history.downs = downs;
		assert_int_equal(count_after(f, 4 * HOUR), 0);
	}
	f->node.ports[0].history.downs = 5;
	assert_int_equal(count_after(f, MINUTE), 1);
	assert_string_equal(told, "+port-flapping");
	assert_int_equal(count_after(f, 48 * HOUR), 0);
}

/* The same addresses at other indexes, as after a link that was down. */
static void test_nccl_index_moves(void **state)
{
	static const struct rna_gid_entry moved[] = {
		{.gid = {{0xfe, 0x80, [15] = 1}}, .type = RNA_GID_TYPE_ROCE_V1},
		{.index = 5, .gid = {{[10] = 0xff, 0xff, 10}}, .type = RNA_GID_TYPE_ROCE_V2},
	};
	struct fixture *f = *state;
	struct rna_port_gids before;

	node_init(&f->node, ROCE, 1);
	before = f->node.ports[0].gids;
	assert_int_equal(count_after(f, SECOND), 0);
	f->node.ports[0].gids.count = 2; /* link-local ones only: no index to compare */
	(void)count_after(f, SECOND);
	f->node.ports[0].gids = (struct rna_port_gids){1, RNA_ARRAY_SIZE(moved), moved, 0, 0, NULL};
	(void)count_after(f, SECOND);
	assert_int_equal(count_after(f, MINUTE), 1);
	assert_string_equal(told, "+gid-nccl-index-moved");
	f->node.ports[0].gids = before;
	assert_int_equal(count_after(f, SECOND), 0);
	f->node.ports[0].gids = (struct rna_port_gids){1, RNA_ARRAY_SIZE(moved), moved, 0, 0, NULL};
	(void)count_after(f, SECOND);
	assert_int_equal(count_after(f, 12 * HOUR), 1);
	assert_int_equal(count_after(f, 13 * HOUR), 0); /* by now it is the usual one */
}

static void test_boot_grace(void **state)
{
	struct fixture *f = *state;

	f->node.now.monotonic = 20 * SECOND;
	set_port(f, RNA_PORT_DOWN);
	assert_int_equal(count_after(f, SECOND), 0);
	assert_int_equal(count_after(f, 2 * MINUTE), 0);
	assert_int_equal(count_after(f, MINUTE), 1);
	assert_string_equal(told, "+port-down");
}

/* -- A day ------------------------------------------------------------------------------------- */

/* Polls each second for this time. */
static void live(struct fixture *f, rna_usec span)
{
	for (rna_usec end = f->node.now.monotonic + span; f->node.now.monotonic < end;)
		(void)count_after(f, SECOND);
}

static void expect_up(struct fixture *f)
{
	for (size_t i = 0; i < 3; i++)
		f->node.ports[i].expectation =
			(struct rna_expectation){RNA_EXPECTED_UP, RNA_EXPECTATION_REMEMBERED};
}

static void set_all(struct fixture *f, uint64_t state, uint64_t physical)
{
	for (size_t i = 0; i < 3; i++) {
		f->node.ports[i].state = rna_value_ok(state);
		f->node.ports[i].physical = rna_value_ok(physical);
	}
}

/* The links of a fabric come up one step after the other. */
static void come_up(struct fixture *f)
{
	set_all(f, RNA_PORT_DOWN, RNA_PHYSICAL_POLLING);
	live(f, 40 * SECOND);
	set_all(f, RNA_PORT_INIT, RNA_PHYSICAL_LINK_UP);
	live(f, 25 * SECOND);
	set_all(f, RNA_PORT_ARMED, RNA_PHYSICAL_LINK_UP);
	live(f, 5 * SECOND);
	set_all(f, RNA_PORT_ACTIVE, RNA_PHYSICAL_LINK_UP);
}

static void set_gone(struct fixture *f, bool gone)
{
	for (size_t i = 0; i < 3; i++) {
		f->node.ports[i].gone = gone;
		f->node.ports[i].generation += gone;
	}
	f->node.missing = (struct rna_missing_device){.key = "mlx5_0",
						      .name = "mlx5_0",
						      .whereabouts = RNA_WHEREABOUTS_UNBOUND,
						      .since = f->node.now};
	f->node.missing_count = gone;
}

/* 24 hours of normal events; at the end a port fails, which is reported. */
static void test_a_day_without_a_false_alarm(void **state)
{
	struct fixture *f = *state;
	rna_usec end;

	f->node.count = 4;
	f->node.ports[3] = f->node.ports[0]; /* no cable, never had one */
	f->node.ports[3].name = "mlx5_3";
	f->node.ports[3].state = rna_value_ok(RNA_PORT_DOWN);
	f->node.ports[3].physical = rna_value_ok(RNA_PHYSICAL_POLLING);
	expect_up(f);
	f->node.ports[2].expectation =
		(struct rna_expectation){RNA_EXPECTED_DOWN, RNA_EXPECTATION_CONFIGURED};

	f->node.now.monotonic = 15 * SECOND; /* a reboot */
	end = f->node.now.monotonic + 24 * HOUR;
	come_up(f);
	live(f, HOUR);
	set_gone(f, true); /* the driver is reloaded */
	live(f, 30 * SECOND);
	set_gone(f, false);
	come_up(f);
	live(f, HOUR);
	f->node.ports[2].state = rna_value_ok(RNA_PORT_DOWN); /* as the settings have it */
	live(f, HOUR);
	set_counter(f, "symbol_error", RNA_PLACE_PORT_COUNTERS, 100);
	f->node.ports[0].counters[0].value = rna_value_unreadable(); /* one counter, for hours */
	live(f, 3 * HOUR);
	for (uint64_t errors = 0; errors < 24; errors++) { /* a link that ages as links do */
		set_counter(f, "symbol_error", RNA_PLACE_PORT_COUNTERS, errors * 5);
		live(f, 5 * MINUTE);
	}
	f->node.ports[1].state = rna_value_unreadable(); /* a read fails, twice */
	live(f, 2 * SECOND);
	f->node.ports[1].state = rna_value_ok(RNA_PORT_ACTIVE);
	live(f, end - f->node.now.monotonic);
	assert_string_equal(told, "");

	f->node.ports[1].state = rna_value_ok(RNA_PORT_DOWN);
	live(f, SECOND);
	assert_string_equal(told, "+port-down");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_down_is_told_at_once_and_once),
		TEST(test_since_stays),
		TEST(test_hold_down),
		TEST(test_hold_down_by_setting),
		TEST(test_no_hold_down_for_what_was_there_before),
		TEST(test_hold_down_until_every_job_has_run),
		TEST(test_hold_down_after_a_first_run_that_stalls),
		TEST(test_hold_down_while_the_machine_boots),
		TEST(test_what_has_settled),
		TEST(test_nothing_waits_for_what_is_no_warning),
		TEST(test_what_does_not_answer_is_not_waited_for_for_ever),
		TEST(test_a_driver_that_comes_late_in_a_boot),
		TEST(test_what_has_settled_is_not_what_is_held_down),
		TEST(test_all_has_settled_after_a_good_boot),
		TEST(test_what_has_settled_after_a_boot),
		TEST(test_disabled_rule),
		TEST(test_unknown_keeps_what_was_told),
		TEST(test_nothing_is_over_because_a_device_stalls),
		TEST(test_silence),
		TEST(test_worse_is_told_again),
		TEST(test_the_text_that_was_told_stays),
		TEST(test_the_text_that_was_told_is_cut),
		TEST(test_errors_rise_that_only_mads_know),
		TEST(test_one_dead_peer_is_not_a_fault_of_its_neighbours),
		TEST(test_losses_count_in_proportion_to_the_traffic),
		TEST(test_losses_of_each_driver),
		TEST(test_no_losses),
		TEST(test_timeouts_of_adaptive_retransmission_are_of_the_far_end),
		TEST(test_errors_of_a_device_in_switchdev_mode),
		TEST(test_roce_counters_of_an_infiniband_device),
		TEST(test_errors_rise_and_calm_down),
		TEST(test_pcie_errors_rise_and_name_the_hop),
		TEST(test_lossless_discards),
		TEST(test_lossless_discards_of_a_bond),
		TEST(test_sums_over_other_interfaces),
		TEST(test_sums_of_a_member_that_is_silent_for_a_while),
		TEST(test_statistics_of_ethernet_ports),
		TEST(test_pause_frames_without_pause),
		TEST(test_times_of_ethernet_ports),
		TEST(test_counters_of_another_link_layer),
		TEST(test_flapping),
		TEST(test_flapping_slowly),
		TEST(test_nccl_index_moves),
		TEST(test_boot_grace),
		TEST(test_a_day_without_a_false_alarm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
