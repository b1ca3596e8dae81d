// SPDX-License-Identifier: Apache-2.0
/* How collectors depend on each other and on events, by the real table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "loop/collector_sets.h"

static void test_each_listing_has_one_collector(void **state)
{
	(void)state;
	for (enum rna_listing what = RNA_LISTS_DEVICES; what <= RNA_LISTS_LINK_LAYERS; what++) {
		unsigned count = 0;

		for (size_t id = 0; id < RNA_COLLECTOR_COUNT; id++)
			count += rna_collectors[id].lists == what;
		assert_int_equal(count, 1);
	}
	assert_int_equal(rna_collector_listing(RNA_LISTS_DEVICES), RNA_COLLECTOR_PRESENCE);
	assert_int_equal(rna_collector_listing(RNA_LISTS_INTERFACES), RNA_COLLECTOR_NETDEV);
	assert_int_equal(rna_collector_listing(RNA_LISTS_LINK_LAYERS), RNA_COLLECTOR_IDENTITY);
}

/* What the schedule takes for granted of every row. */
static void test_rows_agree(void **state)
{
	(void)state;
	for (enum rna_collector_id id = 0; id < RNA_COLLECTOR_COUNT; id++) {
		const struct rna_collector *collector = &rna_collectors[id];

		assert_int_equal(collector->id, id);
		assert_non_null(collector->collect);
		assert_false((collector->needs | collector->follows) & rna_collector_bit(id));
		/* its input would be old otherwise */
		assert_int_equal(collector->needs & ~collector->follows, 0);
		for (enum rna_collector_id other = 0; other < RNA_COLLECTOR_COUNT; other++) {
			unsigned bit = rna_collector_bit(other);

			if (collector->needs & bit) /* the schedule waits for the node's only */
				assert_false(rna_collectors[other].per_device);
			if (collector->needs & bit) /* else nothing would ever start it */
				assert_false(rna_collectors[other].later);
			if ((collector->follows & bit) &&
			    rna_collectors[other].lists != RNA_LISTS_DEVICES)
				assert_non_null(rna_collectors[other].compare);
		}
		if (collector->settles == 0)
			assert_int_equal(collector->pause, 0);
		/* only devices, and events that are not urgent, can wait for a link to settle */
		if (collector->settles > 0)
			assert_int_equal(collector->events, 0);
		if (collector->recalled || collector->functions || collector->link_layer ||
		    collector->own_path)
			assert_true(collector->per_device);
	}
}

static void test_followers(void **state)
{
	static const struct {
		enum rna_collector_id id;
		enum rna_source source;
		unsigned followers;
	} rows[] = {
		{RNA_COLLECTOR_PRESENCE, RNA_SOURCE_UEVENT, RNA_OF(NETDEV) | RNA_OF(TOPOLOGY)},
		{RNA_COLLECTOR_STATE, RNA_SOURCE_POLL,
		 RNA_OF(LINK) | RNA_OF(GIDS) | RNA_OF(FABRIC) | RNA_OF(NETDEV)},
		{RNA_COLLECTOR_STATE, RNA_SOURCE_VERBS,
		 RNA_OF(LINK) | RNA_OF(GIDS) | RNA_OF(FABRIC) | RNA_OF(NETDEV)},
		/* the event was about the interface, and so made it be read */
		{RNA_COLLECTOR_STATE, RNA_SOURCE_RTNETLINK,
		 RNA_OF(LINK) | RNA_OF(GIDS) | RNA_OF(FABRIC)},
		{RNA_COLLECTOR_LINK, RNA_SOURCE_POLL, RNA_OF(FABRIC)},
		{RNA_COLLECTOR_NETDEV, RNA_SOURCE_RTNETLINK,
		 RNA_OF(GIDS) | RNA_OF(ETHERNET) | RNA_OF(QOS) | RNA_OF(MODULE) | RNA_OF(GATEWAYS) |
			 RNA_OF(TOPOLOGY)},
		{RNA_COLLECTOR_COUNTERS, RNA_SOURCE_POLL, 0},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(rows); i++)
		assert_int_equal(rna_collectors_following(rows[i].id, rows[i].source),
				 rows[i].followers);
	assert_int_equal(rna_collectors_needing(RNA_OF(NETDEV)),
			 RNA_OF(ETHERNET) | RNA_OF(QOS) | RNA_OF(MODULE) | RNA_OF(GATEWAYS));
	assert_int_equal(rna_collectors_needing(RNA_OF(PRESENCE)),
			 RNA_OF(NETDEV) | RNA_OF(TOPOLOGY));
	assert_int_equal(rna_collectors_settling(), RNA_OF(FABRIC));
}

static void test_events(void **state)
{
	static const struct {
		unsigned now, later;
	} rows[] = {
		[RNA_EVENT_INTERFACE] = {RNA_OF(STATE) | RNA_OF(NETDEV),
					 RNA_OF(STATE) | RNA_OF(LINK) | RNA_OF(VIRTUAL_FUNCTIONS)},
		[RNA_EVENT_ADDRESS] = {RNA_OF(GIDS) | RNA_OF(NETDEV), RNA_OF(GIDS)},
		[RNA_EVENT_DEVICE] = {RNA_OF(PRESENCE), RNA_OF(PRESENCE)},
		[RNA_EVENT_PCI] = {0, RNA_OF(TOPOLOGY) | RNA_OF(VIRTUAL_FUNCTIONS)},
		[RNA_EVENT_PORT] = {RNA_OF(STATE) | RNA_OF(NETDEV),
				    RNA_OF(STATE) | RNA_OF(LINK) | RNA_OF(FABRIC)},
		[RNA_EVENT_LID] = {RNA_OF(STATE) | RNA_OF(LINK) | RNA_OF(GIDS), RNA_OF(FABRIC)},
		[RNA_EVENT_GID] = {RNA_OF(GIDS), RNA_OF(GIDS)},
		[RNA_EVENT_GONE] = {RNA_OF(PRESENCE) | RNA_OF(STATE), 0},
		[RNA_EVENT_MESSAGE] = {RNA_OF(KERNEL_LOG), 0},
		[RNA_EVENT_LOST] = {RNA_OF(PRESENCE) | RNA_OF(STATE) | RNA_OF(IDENTITY) |
					    RNA_OF(LINK) | RNA_OF(GIDS) | RNA_OF(NETDEV),
				    RNA_OF(TOPOLOGY) | RNA_OF(VIRTUAL_FUNCTIONS)},
	};

	(void)state;
	for (enum rna_event event = 0; event < RNA_ARRAY_SIZE(rows); event++) {
		assert_int_equal(rna_collectors_for(event), rows[event].now);
		assert_int_equal(rna_collectors_later_for(event), rows[event].later);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_listing_has_one_collector),
		cmocka_unit_test(test_rows_agree),
		cmocka_unit_test(test_followers),
		cmocka_unit_test(test_events),
	};

	return cmocka_run_group_tests_name("collector_sets", tests, NULL, NULL);
}
