// SPDX-License-Identifier: Apache-2.0
/* Which devices are kept open for their events. None can be here: what counts is what is tried. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "rna/base/log.h"
#include "rna/verbs_events.h"

#include "loop/verbs_watch.h"

#include "tree.h"

struct fixture {
	struct tree tree;
	sd_event *event;
	struct rna_settings settings;
	struct rna_schedule schedule;
	struct rna_verbs_watch *watch;
	struct rna_part *presence;
	struct rna_device *device;
	struct rna_identity *identity;
	struct rna_port_identity *port;
	struct rna_snapshot *snapshot;
};

static const unsigned one_port[] = {1};

static void make_device(struct fixture *fixture)
{
	struct rna_presence *presence =
		rna_part_new(RNA_COLLECTOR_PRESENCE, sizeof(*presence), 1024);

	assert_non_null(presence);
	fixture->device = rna_arena_array(presence->part.arena, 1, sizeof(*fixture->device));
	*fixture->device = (struct rna_device){
		.name = "mlx5_0",
		.key = "0000:3b:00.0",
		.pci_address = "0000:3b:00.0",
		.driver = "mlx5_core",
		.generation = 1,
		.port_count = 1,
		.ports = one_port,
	};
	presence->devices = fixture->device;
	presence->device_count = 1;
	fixture->presence = &presence->part;
	fixture->schedule.devices =
		rna_target_new_device(fixture->tree.root, fixture->presence, fixture->device, 100);
	assert_non_null(fixture->schedule.devices);
}

static void make_snapshot(struct fixture *fixture)
{
	struct rna_snapshot_device *device;

	fixture->identity = rna_part_new(RNA_COLLECTOR_IDENTITY, sizeof(*fixture->identity), 1024);
	assert_non_null(fixture->identity);
	fixture->port = rna_arena_alloc(fixture->identity->part.arena, sizeof(*fixture->port));
	*fixture->port =
		(struct rna_port_identity){.number = 1, .link_layer = RNA_LINK_LAYER_INFINIBAND};
	fixture->identity->ports = fixture->port;
	fixture->identity->port_count = 1;
	fixture->snapshot = calloc(1, sizeof(*fixture->snapshot) + sizeof(*device));
	assert_non_null(fixture->snapshot);
	fixture->snapshot->device_count = 1;
	device = fixture->snapshot->devices;
	device->device = fixture->device;
	device->parts[RNA_COLLECTOR_PRESENCE] = fixture->presence;
	device->parts[RNA_COLLECTOR_IDENTITY] = &fixture->identity->part;
}

static void ignore(const char *device, enum rna_verbs_event event, void *userdata)
{
	(void)device, (void)event, (void)userdata;
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct rna_error error;

	assert_non_null(fixture);
	tree_init(&fixture->tree);
	assert_true(sd_event_new(&fixture->event) >= 0);
	fixture->settings.lanes_max = 2;
	fixture->settings.poll_handover = fixture->settings.poll_deadline = RNA_USEC_PER_SEC;
	fixture->schedule.settings = &fixture->settings;
	fixture->schedule.root = fixture->tree.root;
	make_device(fixture);
	make_snapshot(fixture);
	rna_log_open(LOG_EMERG);
	assert_int_equal(rna_verbs_watch_new(fixture->event, &fixture->schedule, ignore, NULL,
					     &fixture->watch, &error),
			 0);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	assert_true(rna_verbs_watch_stop(fixture->watch, 10 * RNA_USEC_PER_SEC));
	(void)rna_target_free(fixture->schedule.devices);
	(void)rna_part_unref(&fixture->identity->part);
	(void)rna_part_unref(fixture->presence);
	(void)sd_event_unref(fixture->event);
	tree_deinit(&fixture->tree);
	free(fixture->snapshot);
	free(fixture);
	return 0;
}

/* Does it try to open the device, if the set of devices is new? What it tried before has ended. */
static bool tries(struct fixture *fixture, enum rna_verbs_events_setting which)
{
	bool ret;

	fixture->snapshot->device_set++;
	rna_verbs_watch_retry(fixture->watch);
	rna_verbs_watch_follow(fixture->watch, fixture->snapshot, which);
	ret = rna_verbs_watch_holds(fixture->watch);
	while (rna_verbs_watch_holds(fixture->watch))
		assert_true(sd_event_run(fixture->event, RNA_USEC_PER_SEC) >= 0);
	return ret;
}

static void test_what_nothing_else_tells_of_is_kept_open(void **state)
{
	struct fixture *fixture = *state;

	assert_true(tries(fixture, RNA_VERBS_EVENTS_AUTO));
	assert_true(tries(fixture, RNA_VERBS_EVENTS_ALWAYS));
	assert_false(tries(fixture, RNA_VERBS_EVENTS_NEVER));
}

static void test_a_device_with_an_interface_is_not(void **state)
{
	struct fixture *fixture = *state;

	fixture->schedule.devices->covered = true;
	assert_false(tries(fixture, RNA_VERBS_EVENTS_AUTO));
	assert_true(tries(fixture, RNA_VERBS_EVENTS_ALWAYS));
}

/* mlx5 would turn on the loopback of the NIC, see rna/verbs_events.h. */
static void test_a_device_with_ethernet_is_not(void **state)
{
	struct fixture *fixture = *state;

	fixture->port->link_layer = RNA_LINK_LAYER_ETHERNET;
	assert_false(tries(fixture, RNA_VERBS_EVENTS_AUTO));
	assert_true(tries(fixture, RNA_VERBS_EVENTS_ALWAYS));
	fixture->snapshot->devices[0].parts[RNA_COLLECTOR_IDENTITY] = NULL; /* not known yet */
	assert_false(tries(fixture, RNA_VERBS_EVENTS_AUTO));
}

static void test_a_driver_that_would_wait_is_never_kept_open(void **state)
{
	struct fixture *fixture = *state;
	char driver[] = "hfi1", *more[] = {driver, NULL};

	fixture->device->driver = driver;
	assert_false(tries(fixture, RNA_VERBS_EVENTS_AUTO));
	assert_false(tries(fixture, RNA_VERBS_EVENTS_ALWAYS));
	fixture->settings.watch_verbs_drivers = more;
	assert_true(tries(fixture, RNA_VERBS_EVENTS_AUTO));
}

/* Without a change of devices: the interface is only set down. */
static void test_an_interface_that_goes_leaves_the_device_to_its_events(void **state)
{
	struct fixture *fixture = *state;

	fixture->schedule.devices->covered = true;
	assert_false(tries(fixture, RNA_VERBS_EVENTS_AUTO));
	rna_verbs_watch_follow(fixture->watch, fixture->snapshot, RNA_VERBS_EVENTS_AUTO);
	assert_null(rna_verbs_watch_holds(fixture->watch));
	fixture->schedule.devices->covered = false;
	fixture->schedule.coverage++;
	rna_verbs_watch_follow(fixture->watch, fixture->snapshot, RNA_VERBS_EVENTS_AUTO);
	assert_string_equal(rna_verbs_watch_holds(fixture->watch), "mlx5_0");
}

static int open_unasked(const struct fixture *fixture)
{
	const struct rna_collect_input in = {.root = fixture->tree.root, .device = fixture->device};
	struct rna_part *part = NULL;
	struct rna_error error;

	return rna_verbs_open_without_openibd.collect(&in, &part, &error);
}

static void test_openibd_is_not_stopped_from_unloading(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(open_unasked(fixture), -ENOENT);
	tree_write(&fixture->tree, "etc/infiniband/openib.conf", "ONBOOT=yes\n");
	assert_int_equal(open_unasked(fixture), -EBUSY);
	tree_remove(&fixture->tree, "etc/infiniband/openib.conf");
	assert_int_equal(open_unasked(fixture), -ENOENT);
	tree_mkdir(&fixture->tree, "sys/module/mlx_compat"); /* all that a container sees of it */
	assert_int_equal(open_unasked(fixture), -EBUSY);
}

#define WATCH_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WATCH_TEST(test_what_nothing_else_tells_of_is_kept_open),
		WATCH_TEST(test_a_device_with_an_interface_is_not),
		WATCH_TEST(test_a_device_with_ethernet_is_not),
		WATCH_TEST(test_a_driver_that_would_wait_is_never_kept_open),
		WATCH_TEST(test_an_interface_that_goes_leaves_the_device_to_its_events),
		WATCH_TEST(test_openibd_is_not_stopped_from_unloading),
	};

	return cmocka_run_group_tests_name("verbs_watch", tests, NULL, NULL);
}
