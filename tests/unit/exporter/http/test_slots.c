// SPDX-License-Identifier: Apache-2.0
/* exporter/http/connections: who may have a connection. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "http/connections.h"

#define SECOND RNA_USEC_PER_SEC

enum { LIMIT = 64, QUARTER = LIMIT / 4, RESERVE = LIMIT / 16, SHARED = LIMIT - 3 * RESERVE };

static rna_usec now = 1000 * SECOND;

static struct rna_client_slot slot_of(unsigned char host, enum rna_client_class kind)
{
	return (struct rna_client_slot){.address = {{[15] = host}}, .kind = kind};
}

/* How many of count slots it gets; the last failure is in *ret_error. */
static unsigned take(struct rna_slots *slots, unsigned char host, enum rna_client_class kind,
		     unsigned count, int *ret_error)
{
	unsigned taken = 0;

	*ret_error = 0;
	for (unsigned i = 0; i < count; i++) {
		struct rna_client_slot slot = slot_of(host, kind);
		int ret = rna_slots_take(slots, &slot, now);

		if (ret < 0)
			*ret_error = ret;
		else
			taken++;
	}
	return taken;
}

/* All that is for all, by strangers with the addresses 100 and further. */
static void crowd(struct rna_slots *slots)
{
	unsigned taken = 0;
	int error;

	for (unsigned char host = 100; host < 110; host++)
		taken += take(slots, host, RNA_CLASS_STRANGER, LIMIT, &error);
	assert_int_equal(taken, SHARED);
	assert_int_equal(error, -EBUSY);
}

static void scrape(struct rna_slots *slots, unsigned char host, unsigned times)
{
	const struct rna_client_slot slot = slot_of(host, RNA_CLASS_STRANGER);

	for (unsigned i = 0; i < times; i++)
		rna_slots_scraped(slots, &slot.address, now);
}

static void test_an_address_has_a_quarter(void **state)
{
	static const enum rna_client_class kinds[] = {RNA_CLASS_STRANGER, RNA_CLASS_NODE};
	struct rna_slots slots;
	int error;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(rna_slots_init(&slots, LIMIT), 0);
		assert_int_equal(take(&slots, 1, kinds[i], LIMIT, &error), QUARTER);
		assert_int_equal(error, -EUSERS);
		assert_int_equal(take(&slots, 2, RNA_CLASS_STRANGER, 1, &error), 1);
		rna_slots_deinit(&slots);
	}
}

static void test_each_kind_has_a_reserve(void **state)
{
	struct rna_slots slots;
	int error;

	(void)state;
	assert_int_equal(rna_slots_init(&slots, LIMIT), 0);
	crowd(&slots);
	assert_int_equal(take(&slots, 1, RNA_CLASS_STRANGER, 1, &error), 0);
	assert_int_equal(take(&slots, 2, RNA_CLASS_NODE, LIMIT, &error), RESERVE);
	assert_int_equal(error, -EBUSY);
	assert_int_equal(take(&slots, 0, RNA_CLASS_PRIVATE, LIMIT, &error), RESERVE);
	for (unsigned char host = 10; host < 10 + RESERVE; host++) {
		scrape(&slots, host, 2);
		/* a scraper cannot have the reserve of all */
		assert_int_equal(take(&slots, host, RNA_CLASS_STRANGER, 2, &error), 1);
	}
	assert_int_equal(take(&slots, 10 + RESERVE, RNA_CLASS_STRANGER, 1, &error), 0);
	rna_slots_deinit(&slots);
}

static void test_slots_come_back(void **state)
{
	struct rna_slots slots;
	struct rna_client_slot held[LIMIT];

	(void)state;
	assert_int_equal(rna_slots_init(&slots, LIMIT), 0);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < SHARED; i++) {
			held[i] = slot_of((unsigned char)(i % 40), RNA_CLASS_STRANGER);
			assert_int_equal(rna_slots_take(&slots, &held[i], now), 0);
		}
		for (unsigned i = SHARED; i-- > 0;)
			rna_slots_give(&slots, &held[(i * 7 + round) % SHARED]);
		assert_int_equal(slots.holder_count, 0);
		for (size_t i = 0; i < RNA_CLASS_COUNT; i++)
			assert_int_equal(slots.taken[i], 0);
	}
	rna_slots_deinit(&slots);
}

static void test_a_scraper_is_known_by_two_scrapes(void **state)
{
	struct rna_slots slots;
	int error;

	(void)state;
	assert_int_equal(rna_slots_init(&slots, LIMIT), 0);
	crowd(&slots);
	scrape(&slots, 1, 1);
	assert_int_equal(take(&slots, 1, RNA_CLASS_STRANGER, 1, &error), 0);
	scrape(&slots, 1, 1);
	assert_int_equal(take(&slots, 1, RNA_CLASS_STRANGER, 1, &error), 1);
	rna_slots_deinit(&slots);
}

static void test_a_scraper_keeps_its_place(void **state)
{
	struct rna_slots slots;
	int error;

	(void)state;
	assert_int_equal(rna_slots_init(&slots, LIMIT), 0);
	crowd(&slots);
	for (unsigned char host = 1; host <= RNA_SCRAPERS; host++)
		scrape(&slots, host, 2);
	scrape(&slots, 50, 20);
	assert_int_equal(take(&slots, 50, RNA_CLASS_STRANGER, 1, &error), 0);
	assert_int_equal(take(&slots, 1, RNA_CLASS_STRANGER, 1, &error), 1);
	now += 15 * 60 * SECOND; /* none of them came again */
	scrape(&slots, 50, 2);
	assert_int_equal(take(&slots, 50, RNA_CLASS_STRANGER, 1, &error), 1);
	assert_int_equal(take(&slots, 2, RNA_CLASS_STRANGER, 1, &error), 0);
	rna_slots_deinit(&slots);
}

static void test_the_smallest_limit(void **state)
{
	struct rna_slots slots;
	int error;

	(void)state;
	assert_int_equal(rna_slots_init(&slots, 4), 0);
	assert_int_equal(take(&slots, 1, RNA_CLASS_STRANGER, 4, &error), 1);
	assert_int_equal(take(&slots, 2, RNA_CLASS_STRANGER, 4, &error), 0);
	assert_int_equal(take(&slots, 3, RNA_CLASS_NODE, 4, &error), 1);
	assert_int_equal(take(&slots, 0, RNA_CLASS_PRIVATE, 4, &error), 1);
	rna_slots_deinit(&slots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_address_has_a_quarter),
		cmocka_unit_test(test_each_kind_has_a_reserve),
		cmocka_unit_test(test_slots_come_back),
		cmocka_unit_test(test_a_scraper_is_known_by_two_scrapes),
		cmocka_unit_test(test_a_scraper_keeps_its_place),
		cmocka_unit_test(test_the_smallest_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
