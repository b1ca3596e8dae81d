// SPDX-License-Identifier: Apache-2.0
/* agent/memory/user_traffic: bytes and packets of the only user of a device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/model/resources.h"
#include "rna/model/snapshot.h"

#include "memory/port_traffic.h"

/* A device with one port and two counters, and its users. */
struct fixture {
	struct rna_device facts;
	struct rna_snapshot_device device;
	struct rna_user items[2];
	struct rna_users users;
	struct rna_resources resources;
	struct rna_counter_value values[2];
	struct rna_counter_group group;
	struct rna_counters_part counters;
	struct rna_user_memory *memory;
};

static void fixture_init(struct fixture *f)
{
	*f = (struct fixture){
		.facts = {.name = "mlx5_0", .generation = 1},
		.items = {{.namespace = "default", .pod = "a"},
			  {.namespace = "default", .pod = "b"}},
		.values = {{.file = "port_xmit_data"}, {.file = "port_xmit_packets"}},
		.group = {.place = RNA_PLACE_PORT_COUNTERS, .port = 1, .count = 2},
	};
	f->group.values = f->values;
	f->counters.groups = &f->group;
	f->counters.group_count = 1;
	f->users.items = f->items;
	f->users.count = 1;
	f->resources.users = &f->users;
	f->device.device = &f->facts;
	f->device.parts[RNA_COLLECTOR_RESOURCES] = &f->resources.part;
	f->device.parts[RNA_COLLECTOR_COUNTERS] = &f->counters.part;
}

/* The counters stand so high now. */
static const struct rna_user_traffic *follow(struct fixture *f, uint64_t words, uint64_t packets)
{
	f->values[0].value = rna_value_ok(words);
	f->values[1].value = rna_value_ok(packets);
	rna_user_memory_follow(&f->memory, &f->device, 1);
	return rna_user_memory_tell(f->memory);
}

static void want(const struct rna_user_traffic *traffic, uint64_t bytes, uint64_t packets)
{
	assert_non_null(traffic);
	assert_int_equal(traffic->of[RNA_USER_BYTES_TRANSMITTED].number, bytes);
	assert_int_equal(traffic->of[RNA_USER_PACKETS_TRANSMITTED].number, packets);
	assert_int_equal(traffic->of[RNA_USER_BYTES_RECEIVED].state, RNA_VALUE_ABSENT);
}

/* What went before it is not the user's, and what a reset took away is not known. */
static void test_one_user(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f);
	want(follow(&f, 1000, 10), 0, 0);
	want(follow(&f, 1500, 20), 2000, 10);
	want(follow(&f, 100, 1), 2000, 10);
	want(follow(&f, 101, 2), 2004, 11);
	f.memory = rna_user_memory_free(f.memory);
}

static void test_another_user(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f);
	(void)follow(&f, 1000, 10);
	want(follow(&f, 2000, 20), 4000, 10);
	f.users.items = &f.items[1];
	want(follow(&f, 3000, 30), 0, 0);
	want(follow(&f, 3001, 31), 4, 1);
	f.facts.generation++;
	want(follow(&f, 9000, 90), 0, 0);
	f.memory = rna_user_memory_free(f.memory);
}

/* Of several users, or of one beside processes without a name, there is nothing. */
static void test_several_users(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f);
	f.users.count = 2;
	assert_null(follow(&f, 1000, 10));
	f.users.count = 1;
	want(follow(&f, 2000, 20), 0, 0);
	f.users.unnamed[RNA_UNNAMED_HIDDEN] = 1;
	assert_null(follow(&f, 3000, 30));
	f.users.unnamed[RNA_UNNAMED_HIDDEN] = 0;
	f.users.count = 0;
	assert_null(follow(&f, 4000, 40));
	f.resources.users = NULL;
	assert_null(follow(&f, 5000, 50));
}

static void test_no_counters(void **state)
{
	struct fixture f;
	const struct rna_user_traffic *traffic;

	(void)state;
	fixture_init(&f);
	f.device.parts[RNA_COLLECTOR_COUNTERS] = NULL;
	traffic = follow(&f, 1, 1);
	assert_non_null(traffic);
	for (enum rna_user_traffic_id id = 0; id < RNA_USER_TRAFFIC_COUNT; id++)
		assert_int_equal(traffic->of[id].state, RNA_VALUE_ABSENT);
	f.memory = rna_user_memory_free(f.memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_user),
		cmocka_unit_test(test_another_user),
		cmocka_unit_test(test_several_users),
		cmocka_unit_test(test_no_counters),
	};

	return cmocka_run_group_tests_name("user_traffic", tests, NULL, NULL);
}
