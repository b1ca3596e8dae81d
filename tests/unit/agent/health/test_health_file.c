// SPDX-License-Identifier: Apache-2.0
/*
 * agent/health/health_file.c: problems and windows over a restart and a reboot. The agent is ended
 * and started by writing the file and reading it into a new health.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "health_fixture.h"

static int set_up(void **state)
{
	*state = fixture_new(IB, 3);
	return 0;
}

/* Since when the only finding holds; realtime. */
static rna_usec since_after(struct fixture *f, rna_usec span)
{
	struct rna_view *view = look_after(f, span);
	rna_usec since;

	assert_int_equal(view->finding_count, 1);
	since = view->findings[0].since.realtime;
	(void)rna_view_unref(view);
	return since;
}

static void set_counter(struct fixture *f, const char *file, uint64_t value)
{
	f->node.ports[0].counter_count = 1;
	f->node.ports[0].counters[0].file = file;
	f->node.ports[0].counters[0].place = RNA_PLACE_PORT_COUNTERS;
	f->node.ports[0].counters[0].value = rna_value_ok(value);
}

static void test_a_restart_within_a_fault(void **state)
{
	struct fixture *f = *state;
	rna_usec since;

	set_port(f, RNA_PORT_DOWN);
	since = since_after(f, SECOND);
	for (int i = 0; i < 3; i++) {
		restart(f);
		assert_int_equal(since_after(f, HOUR), since);
	}
	assert_string_equal(told, "+port-down");
	set_port(f, RNA_PORT_ACTIVE);
	assert_int_equal(count_after(f, SECOND), 0);
	assert_string_equal(told, "+port-down -port-down");
	assert_int_equal(told_lasted, 3 * HOUR + SECOND);
}

static void test_it_ended_meanwhile(void **state)
{
	struct fixture *f = *state;

	set_port(f, RNA_PORT_DOWN);
	(void)count_after(f, SECOND);
	halt(f);
	set_port(f, RNA_PORT_ACTIVE);
	start(f, "boot-1");
	assert_int_equal(count_after(f, MINUTE), 0);
	assert_int_equal(count_after(f, SECOND), 0);
	assert_string_equal(told, "+port-down -port-down");
	assert_int_equal(told_lasted, MINUTE + SECOND);
	restart(f);
	assert_int_equal(count_after(f, SECOND), 0);
	assert_string_equal(told, "+port-down -port-down");
}

/* A port that works again is no continuation. */
static void test_a_new_fault_of_the_same_port(void **state)
{
	struct fixture *f = *state;
	rna_usec since;

	set_port(f, RNA_PORT_DOWN);
	since = since_after(f, SECOND);
	restart(f);
	(void)count_after(f, SECOND);
	set_port(f, RNA_PORT_ACTIVE);
	(void)count_after(f, SECOND);
	set_port(f, RNA_PORT_DOWN);
	assert_true(since_after(f, SECOND) > since);
	assert_string_equal(told, "+port-down -port-down +port-down");
}

/* Which this process has seen: the port came up and went down again between two views. */
/* A word and the severity for each report; "!": it is news. */
static char changes[256];

static void take_change(const struct rna_rule *rule, const struct rna_finding *finding,
			enum rna_change_what what, bool news, void *userdata)
{
	size_t len = strlen(changes);

	(void)rule, (void)userdata;
	(void)snprintf(changes + len, sizeof(changes) - len, "%s %s%s; ", rna_change_name(what),
		       rna_severity_name(finding->severity), news ? "!" : "");
}

/* Each 30 s some acknowledgements are missing; peers are blamed unless packets are lost as well. */
static void miss_acknowledgements(struct fixture *f, size_t times, uint64_t lost)
{
	static const char *const files[] = {"packet_seq_err", "local_ack_timeout_err"};
	const uint64_t rises[] = {lost, 60};

	f->health.tell = take_change;
	f->node.ports[0].counter_count = 2;
	for (size_t i = 0; i < times; i++) {
		for (size_t k = 0; k < 2; k++) {
			f->node.ports[0].counters[k].file = files[k];
			f->node.ports[0].counters[k].place = RNA_PLACE_PORT_HW_COUNTERS;
			f->node.ports[0].counters[k].value.number += rises[k];
			f->node.ports[0].counters[k].value.state = RNA_VALUE_OK;
		}
		(void)count_after(f, 30 * SECOND);
	}
}

/* The history has each change of severity, the journal only those for the worse; over restarts. */
static void test_a_severity_that_changes(void **state)
{
	struct fixture *f = *state;

	changes[0] = '\0';
	miss_acknowledgements(f, 2, 0);
	assert_string_equal(changes, "raised info!; ");
	miss_acknowledgements(f, 2, 60);
	assert_string_equal(changes, "raised info!; changed warning!; ");
	miss_acknowledgements(f, 6, 0);
	assert_string_equal(changes, "raised info!; changed warning!; changed info; ");
	changes[0] = '\0';
	restart(f);
	miss_acknowledgements(f, 2, 0);
	assert_string_equal(changes, "");
	miss_acknowledgements(f, 2, 60);
	assert_string_equal(changes, "changed warning; ");
	f->health.tell = take_change;
	assert_int_equal(count_after(f, HOUR), 0);
	assert_string_equal(changes, "changed warning; resolved warning!; ");
}

static void test_a_transition_knows_better(void **state)
{
	struct fixture *f = *state;

	set_port(f, RNA_PORT_DOWN);
	(void)since_after(f, SECOND);
	restart(f);
	(void)since_after(f, SECOND);
	f->node.ports[0].history = (struct rna_port_history){.downs = 1, .last = f->node.now};
	assert_int_equal(since_after(f, SECOND), f->node.ports[0].history.last.realtime);
}

/* What a rule knows of this process only does not make the problem younger. */
static void test_a_device_that_is_missing(void **state)
{
	struct fixture *f = *state;
	rna_usec since;

	f->node.ports[0].gone = true;
	f->node.missing_count = 1;
	f->node.missing = (struct rna_missing_device){.key = "mlx5_0",
						      .name = "mlx5_0",
						      .since = f->node.now};
	since = f->node.now.realtime;
	assert_int_equal(since_after(f, SECOND), since);
	restart(f);
	f->node.missing.since = (struct rna_time){f->node.now.monotonic + 2 * SECOND,
						  f->node.now.realtime + 2 * SECOND};
	assert_int_equal(since_after(f, 2 * SECOND), since);
	assert_int_equal(since_after(f, HOUR), since);
	assert_string_equal(told, "+device-missing");
}

/* The port is up again, but this process does not know yet. */
static void restart_unread(struct fixture *f)
{
	set_port(f, RNA_PORT_DOWN);
	(void)count_after(f, SECOND);
	restart(f);
	f->node.ports[0].unread = true;
	set_port(f, RNA_PORT_ACTIVE);
}

static void test_nothing_is_over_before_every_job_has_run(void **state)
{
	struct fixture *f = *state;

	restart_unread(f);
	(void)count_after(f, SECOND);
	assert_string_equal(told, "+port-down");
	f->node.ports[0].unread = false;
	set_port(f, RNA_PORT_DOWN);
	assert_int_equal(count_after(f, SECOND), 1);
	assert_string_equal(told, "+port-down");
}

/* What was wrong with it is neither shown nor over, for the Node neither. */
static void test_a_device_that_is_not_read_for_long(void **state)
{
	struct fixture *f = *state;

	restart_unread(f);
	assert_int_equal(count_after(f, SECOND), 0);
	assert_int_equal(count_after(f, HOUR), 0); /* it is not waited for any more */
	assert_int_equal(count_after(f, HOUR), 0);
	assert_string_equal(told, "+port-down");
	assert_false(settled_after(f, SECOND) & RNA_CONDITION_BIT(RNA_CONDITION_PORT_DOWN));
	assert_true(settled_after(f, 0) & RNA_CONDITION_BIT(RNA_CONDITION_LINK_DEGRADED));
	f->node.ports[0].unread = false;
	assert_int_equal(count_after(f, SECOND), 0);
	assert_string_equal(told, "+port-down -port-down");
}

/* It is shown while the device does not answer, and not over with its first answer. */
static void test_a_device_that_stalls_and_answers_late(void **state)
{
	struct fixture *f = *state;

	restart_unread(f);
	assert_int_equal(count_after(f, SECOND), 0);
	f->node.ports[0].stalled = 5 * SECOND;
	assert_int_equal(count_after(f, SECOND), 1); /* what stalls is not waited for */
	assert_int_equal(count_after(f, SECOND), 2);
	f->node.ports[0].stalled = 0;
	assert_int_equal(count_after(f, SECOND), 1);
	assert_string_equal(told, "+port-down +device-stalled -device-stalled");
	f->node.ports[0].unread = false;
	assert_int_equal(count_after(f, SECOND), 0);
	assert_string_equal(told, "+port-down +device-stalled -device-stalled -port-down");
}

/* A view of one process that ends, like check --once. */
static void test_a_device_that_stalls_for_the_only_view(void **state)
{
	struct fixture *f = *state;

	restart_unread(f);
	f->health.once = true;
	f->node.ports[0].stalled = 5 * SECOND;
	assert_int_equal(count_after(f, SECOND), 2);
}

/* That some other job of the device waits does not keep what this process found itself. */
static void test_what_this_process_found_ends(void **state)
{
	struct fixture *f = *state;

	restart_unread(f);
	set_port(f, RNA_PORT_DOWN);
	assert_int_equal(count_after(f, SECOND), 1);
	set_port(f, RNA_PORT_ACTIVE);
	assert_int_equal(count_after(f, SECOND), 0);
	assert_string_equal(told, "+port-down -port-down");
}

/* A rule of the whole node may need what the job reads that has not run. */
static void test_a_node_that_is_not_read_for_long(void **state)
{
	struct fixture *f = *state;
	struct rna_neighbour_table *table = &f->node.host.tables[RNA_GID_IPV4];

	node_init(&f->node, ROCE, 3);
	*table = (struct rna_neighbour_table){
		.entries = rna_value_ok(1024),
		.limit = rna_value_ok(1024),
		.overflows = rna_value_ok(12),
	};
	assert_int_equal(count_after(f, SECOND), 1);
	assert_string_equal(told, "+neighbour-table-full");
	restart(f);
	*table = (struct rna_neighbour_table){0};
	f->node.ports[0].unread = true;
	assert_int_equal(count_after(f, SECOND), 0);
	assert_int_equal(count_after(f, HOUR), 0); /* it is not waited for any more */
	assert_int_equal(count_after(f, HOUR), 0);
	assert_string_equal(told, "+neighbour-table-full");
	f->node.ports[0].unread = false;
	assert_int_equal(count_after(f, SECOND), 0); /* all was seen from here on */
	assert_int_equal(count_after(f, SECOND), 0);
	assert_string_equal(told, "+neighbour-table-full -neighbour-table-full");
}

/* The first device is not registered before two minutes have passed. */
static void reboot_with_a_late_driver(struct fixture *f)
{
	reboot(f, MINUTE);
	f->node.live = true;
	f->node.ports[0].gone = true;
	(void)count_after(f, SECOND);
	f->node.ports[0].gone = false;
	f->node.ports[0].generation++;
	f->node.now.monotonic = 2 * MINUTE;
}

/* That the device is known from before does not mean that its links are up. */
static void test_a_driver_that_comes_late_after_a_reboot(void **state)
{
	struct fixture *f = *state;

	set_counter(f, "symbol_error", 1000);
	(void)count_after(f, SECOND);
	set_counter(f, "symbol_error", 1060);
	(void)count_after(f, SECOND);
	reboot_with_a_late_driver(f);
	set_port(f, RNA_PORT_DOWN);
	assert_int_equal(count_after(f, 0), 0);
	assert_int_equal(count_after(f, f->settings.health_boot_grace - SECOND), 0);
	assert_string_equal(told, "");
	assert_int_equal(count_after(f, SECOND), 1);
	assert_string_equal(told, "+port-down");
}

/* Nor that what was wrong before the reboot is wrong now. */
static void test_a_fault_of_before_a_reboot_and_a_late_driver(void **state)
{
	struct fixture *f = *state;

	set_port(f, RNA_PORT_DOWN);
	(void)count_after(f, SECOND);
	reboot_with_a_late_driver(f);
	assert_int_equal(count_after(f, 0), 0);
	assert_int_equal(count_after(f, f->settings.health_boot_grace - SECOND), 0);
	assert_string_equal(told, "+port-down");
	assert_int_equal(count_after(f, SECOND), 1); /* it is */
	assert_string_equal(told, "+port-down");
}

static void test_a_hold_down_goes_on(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(count_after(f, 0), 0);
	set_port(f, RNA_PORT_INIT);
	assert_int_equal(count_after(f, SECOND), 0);
	restart(f);
	assert_int_equal(count_after(f, 10 * SECOND), 0);
	assert_int_equal(count_after(f, 10 * SECOND), 0);
	assert_int_equal(count_after(f, 10 * SECOND), 1); /* 30 s from its start */
	assert_string_equal(told, "+port-init");
}

/* It takes three queries to find it again: what it sets is neither over nor known until then. */
static void test_what_takes_several_readings(void **state)
{
	struct fixture *f = *state;
	struct rna_manager *manager = &f->node.ports[0].fabric.manager;
	struct rna_view *view;

	f->node.ports[0].has_fabric = true;
	*manager = (struct rna_manager){
		.guid = "1070:fd03:00aa:0001",
		.state = rna_value_ok(RNA_MANAGER_MASTER),
		.unanswered = 3,
	};
	assert_int_equal(count_after(f, MINUTE), 1);
	restart(f);
	manager->unanswered = 0;
	view = look_after(f, SECOND);
	assert_int_equal(rna_health_settled(&f->health, view),
			 RNA_CONDITION_ALL_BITS &
				 ~(RNA_CONDITION_BIT(RNA_CONDITION_FABRIC_UNHEALTHY) |
				   RNA_CONDITION_BIT(RNA_CONDITION_NONE)));
	(void)rna_view_unref(view);
	assert_string_equal(told, "+subnet-manager-unhealthy");
	view = look_after(f, 5 * MINUTE);
	assert_int_equal(rna_health_settled(&f->health, view), RNA_CONDITION_ALL_BITS);
	(void)rna_view_unref(view);
	assert_string_equal(told, "+subnet-manager-unhealthy -subnet-manager-unhealthy");
}

static void test_a_reboot(void **state)
{
	struct fixture *f = *state;
	struct rna_view *view;
	rna_usec since;

	set_port(f, RNA_PORT_DOWN);
	since = since_after(f, SECOND);
	reboot(f, 10 * MINUTE);
	assert_int_equal(count_after(f, SECOND), 0); /* the rule waits for links to come up */
	assert_int_equal(count_after(f, MINUTE), 0);
	assert_string_equal(told, "+port-down");
	view = look_after(f, 2 * MINUTE);
	assert_int_equal(view->finding_count, 1);
	assert_int_equal(view->findings[0].since.realtime, since);
	assert_int_equal(view->findings[0].since.monotonic, 0);
	assert_int_equal(rna_time_since(view->findings[0].since, view->snapshot->time),
			 f->node.now.realtime - since);
	(void)rna_view_unref(view);
	assert_string_equal(told, "+port-down");
	restart(f); /* "boot-1" again: what boot-2 wrote is of another boot, too */
	assert_int_equal(since_after(f, SECOND), since);
}

static void test_a_reboot_helps(void **state)
{
	struct fixture *f = *state;

	set_port(f, RNA_PORT_DOWN);
	(void)count_after(f, SECOND);
	reboot(f, 10 * MINUTE);
	set_port(f, RNA_PORT_ACTIVE);
	assert_int_equal(count_after(f, SECOND), 0);
	assert_string_equal(told, "+port-down");
	assert_int_equal(count_after(f, 3 * MINUTE), 0);
	assert_string_equal(told, "+port-down -port-down");
	assert_int_equal(told_lasted, 13 * MINUTE + SECOND);
}

static void test_a_clock_that_was_set_back(void **state)
{
	struct fixture *f = *state;
	rna_usec since;

	set_port(f, RNA_PORT_DOWN);
	since = since_after(f, SECOND);
	halt(f);
	f->node.now.realtime = HOUR; /* 1970: the battery is empty, and NTP not reached yet */
	f->node.now.monotonic = HOUR;
	start(f, "boot-2");
	assert_int_equal(since_after(f, SECOND), since);
	set_port(f, RNA_PORT_ACTIVE);
	(void)count_after(f, SECOND);
	assert_int_equal(told_lasted, 0);
}

static void test_names_change_with_a_reboot(void **state)
{
	struct fixture *f = *state;
	struct rna_view *view;
	rna_usec since;

	f->node.ports[0].pci_address = "0000:18:00.0";
	f->node.ports[1].pci_address = "0000:2a:00.0";
	set_port(f, RNA_PORT_DOWN);
	since = since_after(f, SECOND);
	reboot(f, MINUTE);
	f->node.ports[0].name = "mlx5_1";
	f->node.ports[1].name = "mlx5_0";
	view = look_after(f, HOUR);
	assert_int_equal(view->finding_count, 1);
	assert_string_equal(view->findings[0].device, "mlx5_1");
	assert_string_equal(view->findings[0].told_text, view->findings[0].text);
	assert_int_equal(view->findings[0].since.realtime, since);
	(void)rna_view_unref(view);
	assert_string_equal(told, "+port-down");
}

static void test_counters_rise_over_a_restart(void **state)
{
	struct fixture *f = *state;
	rna_usec since;

	set_counter(f, "symbol_error", 1000);
	(void)count_after(f, SECOND);
	set_counter(f, "symbol_error", 1060);
	assert_int_equal(count_after(f, SECOND), 0);
	restart(f);
	assert_int_equal(count_after(f, SECOND), 0);
	set_counter(f, "symbol_error", 1120); /* 120/h, of which 60 before */
	since = since_after(f, SECOND);
	restart(f);
	assert_int_equal(since_after(f, MINUTE), since);
	assert_int_equal(since_after(f, 29 * MINUTE), since);
	assert_string_equal(told, "+errors-rising");
	assert_int_equal(count_after(f, 31 * MINUTE), 0);
	assert_string_equal(told, "+errors-rising -errors-rising");
}

static void test_counters_rise_over_a_reboot(void **state)
{
	struct fixture *f = *state;
	rna_usec since;

	set_counter(f, "symbol_error", 1000);
	(void)count_after(f, SECOND);
	set_counter(f, "symbol_error", 1120);
	since = since_after(f, SECOND);
	reboot(f, 5 * MINUTE);
	set_counter(f, "symbol_error", 5000); /* of this boot: the first reading is no rise */
	assert_int_equal(since_after(f, SECOND), since);
	assert_string_equal(told, "+errors-rising");
	assert_int_equal(count_after(f, 50 * MINUTE), 0);
	assert_string_equal(told, "+errors-rising -errors-rising");
	set_counter(f, "symbol_error", 5119);
	assert_int_equal(count_after(f, SECOND), 0);
	set_counter(f, "symbol_error", 5120);
	assert_int_equal(count_after(f, SECOND), 1);
}

static void test_the_index_of_nccl(void **state)
{
	static const struct rna_gid_entry moved[] = {
		{.gid = {{0xfe, 0x80, [15] = 1}}, .type = RNA_GID_TYPE_ROCE_V1},
		{.index = 5, .gid = {{[10] = 0xff, 0xff, 10}}, .type = RNA_GID_TYPE_ROCE_V2},
	};
	struct fixture *f = *state;
	rna_usec since;

	node_init(&f->node, ROCE, 1);
	(void)count_after(f, SECOND);
	f->node.ports[0].gids = (struct rna_port_gids){1, RNA_ARRAY_SIZE(moved), moved, 0, 0, NULL};
	restart(f);
	(void)count_after(f, SECOND);
	since = since_after(f, HOUR);
	restart(f);
	assert_int_equal(since_after(f, SECOND), since);
	assert_string_equal(told, "+gid-nccl-index-moved");
	assert_int_equal(count_after(f, 24 * HOUR), 0); /* by now it is the usual one */
}

/* Of which no later process can find anything; it holds for a while all the same. */
static void test_an_event(void **state)
{
	static const struct rna_peer before = {.name = "leaf-1", .guid = "0x1"};
	static const struct rna_peer now = {.name = "leaf-2", .guid = "0x2"};
	struct fixture *f = *state;
	struct rna_view *view;

	f->node.ports[0].has_fabric = true;
	f->node.ports[0].fabric.pkeys_known = false;
	f->node.ports[0].fabric.peer = &now;
	f->node.ports[0].fabric.former_peer = &before;
	f->node.ports[0].fabric.peer_changed = f->node.now;
	(void)count_after(f, SECOND);
	assert_string_equal(told, "+cable-moved");
	halt(f);
	f->node.ports[0].fabric.former_peer = NULL;
	start(f, "boot-1");
	view = look_after(f, 23 * HOUR);
	assert_int_equal(view->finding_count, 1);
	assert_string_equal(view->findings[0].rule, "cable-moved");
	assert_non_null(strstr(view->findings[0].text, "leaf-1"));
	(void)rna_view_unref(view);
	assert_int_equal(count_after(f, HOUR), 0);
	assert_string_equal(told, "+cable-moved -cable-moved");
}

static void test_when_it_is_written(void **state)
{
	struct fixture *f = *state;

	(void)count_after(f, SECOND);
	assert_false(f->health.changed);
	set_port(f, RNA_PORT_DOWN);
	(void)count_after(f, SECOND);
	assert_true(f->health.changed);
	f->health.changed = false;
	(void)count_after(f, SECOND);
	assert_false(f->health.changed); /* it lasts */
	set_port(f, RNA_PORT_ACTIVE);
	(void)count_after(f, SECOND);
	assert_true(f->health.changed);
}

static void test_rises_are_written_rarely(void **state)
{
	struct fixture *f = *state;
	unsigned writes = 0;

	for (uint64_t i = 0; i < 60 * 60; i++) {
		RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

		set_counter(f, "symbol_error", i / 60);
		(void)count_after(f, SECOND);
		if (!f->health.changed)
			continue;
		f->health.changed = false;
		rna_health_write(&f->health, &out);
		writes++;
	}
	assert_in_range(writes, 10, 13); /* each 5 minutes */
}

static void test_files_of_no_use(void **state)
{
	static const struct {
		const char *text;
		int status;
	} cases[] = {
		{"", -EBADMSG},
		{"{}", -EBADMSG},
		{"[1]", -EBADMSG},
		{"{\"version\": 1}", -EBADMSG},
		{"{\"version\": 1, \"problems\": []}", -EBADMSG},
		{"{\"version\": 2, \"what\": 1}", -EOPNOTSUPP},
		{"{\"version\": 1, \"problems\": [], \"counters\": []", -EBADMSG},
	};
	struct fixture *f = *state;
	struct rna_error error;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		error = (struct rna_error){0};
		assert_int_equal(rna_health_read(&f->health, cases[i].text, strlen(cases[i].text),
						 &error),
				 cases[i].status);
		assert_string_not_equal(error.text, "");
		assert_int_equal(f->health.count, 0);
	}
}

/* Each costs only itself. */
static void test_odd_entries(void **state)
{
	static const char file[] =
		"{\"version\": 1, \"boot\": \"boot-1\", \"time\": 5000000, \"monotonic\": 9,"
		"\"problems\": [1, {}, {\"rule\": \"no-such-rule\"},"
		"{\"rule\": \"port-down\", \"device\": \"mlx5_0\", \"port\": 1, \"severity\": "
		"\"critical\", \"since\": 9000000000, \"monotonic\": 99, \"text\": \"t\", "
		"\"remedy\": \"r\"},"
		"{\"rule\": \"port-down\", \"device\": \"mlx5_0\", \"port\": 1, \"severity\": "
		"\"critical\", \"since\": 8, \"text\": \"t\", \"remedy\": \"r\"}],"
		"\"counters\": [7, {\"key\": \"mlx5_0\", \"port\": 99999}, {\"key\": \"mlx5_0\","
		"\"port\": 1, \"nccl_index\": -4, \"windows\": [{\"counter\": \"symbol_error\"},"
		"{\"counter\": \"nonsense\"}, 4]}]}";
	struct fixture *f = *state;
	struct rna_error error = {0};

	assert_int_equal(rna_health_read(&f->health, file, strlen(file), &error), 0);
	assert_int_equal(f->health.count, 1);
	assert_int_equal(f->health.pasts.count, 1);
	set_port(f, RNA_PORT_DOWN);
	assert_in_range(since_after(f, SECOND), 8, 5000000); /* not after the file was written */
}

/* It was reported, and the file does not say by which words: those of now. */
static void test_a_file_of_an_older_version(void **state)
{
	static const char file[] =
		"{\"version\": 1, \"boot\": \"boot-1\", \"time\": 5000000, \"monotonic\": 9,"
		"\"problems\": [{\"rule\": \"port-down\", \"device\": \"mlx5_0\", \"port\": 1,"
		"\"severity\": \"critical\", \"since\": 8, \"reported\": \"critical\","
		"\"text\": \"t\", \"remedy\": \"r\"}], \"counters\": []}";
	struct fixture *f = *state;
	struct rna_error error = {0};
	struct rna_view *view;

	assert_int_equal(rna_health_read(&f->health, file, strlen(file), &error), 0);
	set_port(f, RNA_PORT_DOWN);
	view = look_after(f, SECOND);
	assert_int_equal(view->finding_count, 1);
	assert_string_equal(view->findings[0].told_text, view->findings[0].text);
	(void)rna_view_unref(view);
	assert_string_equal(told, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_restart_within_a_fault),
		TEST(test_it_ended_meanwhile),
		TEST(test_a_new_fault_of_the_same_port),
		TEST(test_a_severity_that_changes),
		TEST(test_a_transition_knows_better),
		TEST(test_a_device_that_is_missing),
		TEST(test_nothing_is_over_before_every_job_has_run),
		TEST(test_a_device_that_is_not_read_for_long),
		TEST(test_a_device_that_stalls_and_answers_late),
		TEST(test_a_device_that_stalls_for_the_only_view),
		TEST(test_what_this_process_found_ends),
		TEST(test_a_node_that_is_not_read_for_long),
		TEST(test_a_driver_that_comes_late_after_a_reboot),
		TEST(test_a_fault_of_before_a_reboot_and_a_late_driver),
		TEST(test_a_hold_down_goes_on),
		TEST(test_what_takes_several_readings),
		TEST(test_a_reboot),
		TEST(test_a_reboot_helps),
		TEST(test_a_clock_that_was_set_back),
		TEST(test_names_change_with_a_reboot),
		TEST(test_counters_rise_over_a_restart),
		TEST(test_counters_rise_over_a_reboot),
		TEST(test_the_index_of_nccl),
		TEST(test_an_event),
		TEST(test_when_it_is_written),
		TEST(test_rises_are_written_rarely),
		TEST(test_files_of_no_use),
		TEST(test_odd_entries),
		TEST(test_a_file_of_an_older_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
