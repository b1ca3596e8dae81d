// SPDX-License-Identifier: Apache-2.0
/* agent/memory/memory.c: what is learned of rails, kept, accepted and given to the collector.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "memory/memory.h"

enum { NICS = 4 };

struct fixture {
	struct rna_memory memory;
	struct rna_pci_object objects[NICS];
	struct rna_nic nics[NICS];
	struct rna_topology topology;
};

static int set_up(void **state)
{
	static const char *const addresses[] = {"0000:18:00.0", "0000:2a:00.0", "0000:3a:00.0",
						"0000:5d:00.0"};
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	for (unsigned i = 0; i < NICS; i++) {
		f->objects[i] = (struct rna_pci_object){.address = addresses[i],
							.vendor_id = 0x15b3,
							.device_id = 0x1021};
		f->nics[i] = (struct rna_nic){.object = i,
					      .device_count = 1,
					      .lag = -1,
					      .rail = i < 3 ? (int)i : -1};
	}
	f->topology = (struct rna_topology){
		.part.taken = {1, 1},
		.objects = f->objects,
		.object_count = NICS,
		.nics = f->nics,
		.nic_count = NICS,
		.gpu_count = 3,
	};
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	rna_memory_deinit(&f->memory);
	free(f);
	return 0;
}

static bool learn(struct fixture *f, rna_usec now)
{
	f->topology.part.taken.monotonic++;
	return rna_rail_memory_learn(&f->memory.rails, &f->topology, now);
}

/* Ends the agent and starts it. */
static void restart(struct fixture *f)
{
	RNA_STRBUF struct rna_strbuf memory = RNA_STRBUF_INIT, accepted = RNA_STRBUF_INIT;
	struct rna_error error = {0};

	rna_memory_write(&f->memory, &memory);
	rna_accepted_write(&f->memory, &accepted);
	rna_memory_deinit(&f->memory);
	assert_int_equal(rna_memory_read(&f->memory, memory.data, memory.len, &error), 0);
	assert_int_equal(rna_accepted_read(&f->memory, accepted.data, accepted.len, &error), 0);
}

static void expect_known(const struct fixture *f, size_t count)
{
	RNA_CLEANUP(rna_known_rails_unref_p)
	struct rna_known_rails *known = rna_rails_known(&f->memory);

	if (count == 0) {
		assert_null(known);
		return;
	}
	assert_non_null(known);
	assert_int_equal(known->count, count);
	assert_int_equal(known->gpu_count, 3);
	assert_string_equal(known->nics[count - 1].address, "0000:5d:00.0");
	assert_int_equal(known->nics[count - 1].rail, -1);
	assert_int_equal(known->nics[0].rail, 0);
	assert_int_equal(known->nics[0].vendor_id, 0x15b3);
	assert_int_equal(known->nics[0].device_id, 0x1021);
	assert_true(known->nics[0].had_device);
}

static void test_it_is_kept(void **state)
{
	struct fixture *f = *state;

	expect_known(f, 0);
	assert_true(learn(f, 10));
	expect_known(f, NICS);
	assert_false(learn(f, 20)); /* it says the same */
	restart(f);
	expect_known(f, NICS);
	assert_false(learn(f, 30));
	f->nics[1].rail = -1;
	assert_true(learn(f, 40));
}

static void test_nothing_is_learned_while_something_is_missing(void **state)
{
	struct fixture *f = *state;

	assert_true(learn(f, 10));
	f->topology.rails_recalled = true;
	f->topology.nic_count = 2;
	assert_false(learn(f, 20));
	expect_known(f, NICS);
}

static void test_accepting_all_begins_anew(void **state)
{
	struct fixture *f = *state;

	assert_true(learn(f, 10));
	f->memory.rails.accepted = 20;
	expect_known(f, 0);
	restart(f);
	expect_known(f, 0);
	assert_true(learn(f, 30)); /* that it is as it was is news */
	expect_known(f, NICS);
	restart(f);
	expect_known(f, NICS);
}

static void test_accepting_a_device_that_is_gone(void **state)
{
	struct fixture *f = *state;
	struct rna_device_memory *device = rna_memory_device(&f->memory, "0000:2a:00.0");

	assert_true(learn(f, 10));
	assert_non_null(device);
	device->lasting = true;
	device->last_seen = 15;
	assert_true(rna_memory_set_text(&device->pci_address, "0000:2a:00.0"));
	device->accepted = (struct rna_accepted){RNA_EXPECTED_DOWN, 20};
	expect_known(f, NICS - 1);
	restart(f);
	expect_known(f, NICS - 1);
	device = rna_memory_device(&f->memory, "0000:2a:00.0");
	device->present = true;
	device->last_seen = 30;
	expect_known(f, NICS);
}

static void test_damage_costs_only_the_rails(void **state)
{
	static const char *const files[] = {
		"{\"version\": 1, \"devices\": [], \"rails\": 7}",
		"{\"version\": 1, \"devices\": [], \"rails\": {\"learned\": 1, \"nics\": [{}]}}",
		"{\"version\": 1, \"devices\": [], \"rails\": {\"learned\": 1, \"nics\": "
		"[{\"address\": \"0000:18:00.0\", \"rail\": -3}]}}",
		"{\"version\": 1, \"devices\": [], \"rails\": {\"learned\": 1, \"nics\": "
		"[{\"address\": \"0000:18:00.0\", \"rail\": 99999}]}}",
		"{\"version\": 1, \"devices\": []}",
	};
	struct fixture *f = *state;
	struct rna_error error = {0};

	for (size_t i = 0; i < RNA_ARRAY_SIZE(files); i++) {
		assert_int_equal(rna_memory_read(&f->memory, files[i], strlen(files[i]), &error),
				 0);
		expect_known(f, 0);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_it_is_kept),
		TEST(test_nothing_is_learned_while_something_is_missing),
		TEST(test_accepting_all_begins_anew),
		TEST(test_accepting_a_device_that_is_gone),
		TEST(test_damage_costs_only_the_rails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
