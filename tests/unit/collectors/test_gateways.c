// SPDX-License-Identifier: Apache-2.0
/* collectors/gateways: which interfaces are asked, what is kept from run to run, and who is probed.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "backend/backends.h"

#include "collectors.h"
#include "tree.h"

static unsigned probes;

static int count_probe(const struct rna_root *root, const struct rna_gateway *gateway)
{
	(void)root, (void)gateway;
	probes++;
	return 0;
}

struct fixture {
	struct tree tree;
	struct rna_backends *backends, counting;
	struct rna_gateway_backend gateways;
	struct rna_part *netdevs, *part;
	bool probe;
};

static struct rna_netdev up(const char *name)
{
	return (struct rna_netdev){.name = name, .type = 1, .admin_up = true};
}

static int setup(void **state)
{
	static struct fixture fixture;
	static struct rna_netdev netdevs[6];
	struct rna_netdevs *part = rna_part_new(RNA_COLLECTOR_NETDEV, sizeof(*part), 1024);

	fixture = (struct fixture){.netdevs = &part->part};
	tree_init(&fixture.tree);
	fixture.backends = rna_backends_new(fixture.tree.root);
	fixture.gateways = *fixture.backends->gateways;
	fixture.gateways.probe = count_probe;
	fixture.counting = *fixture.backends;
	fixture.counting.gateways = &fixture.gateways;
	netdevs[0] = up("bond0");
	netdevs[0].bond = true;
	netdevs[1] = up("down0");
	netdevs[1].admin_up = false;
	netdevs[2] = up("ib0");
	netdevs[2].type = 32;
	netdevs[3] = up("member0");
	netdevs[3].master = "bond0";
	netdevs[4] = up("rail0");
	netdevs[5] = up("rep0");
	netdevs[5].representor = true;
	part->netdevs = netdevs;
	part->count = RNA_ARRAY_SIZE(netdevs);
	probes = 0;
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	(void)rna_part_unref(fixture->part);
	(void)rna_part_unref(fixture->netdevs);
	(void)rna_backends_free(fixture->backends);
	tree_deinit(&fixture->tree);
	return 0;
}

static void write_gateway(const struct fixture *fixture, const char *place, const char *address,
			  const char *neighbour)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "recorded/gateways/%s/address", place);
	tree_write(&fixture->tree, path, address);
	(void)snprintf(path, sizeof(path), "recorded/gateways/%s/state", place);
	tree_write(&fixture->tree, path, neighbour);
}

#define IPV4 "0000:0000:0000:0000:0000:ffff:0a01:0001\n"
#define IPV6 "fe80:0000:0000:0000:0000:0000:0000:0001\n"

static const struct rna_gateways *collect(struct fixture *fixture)
{
	const struct rna_collect_input in = {
		.root = fixture->tree.root,
		.backends = &fixture->counting,
		.netdevs = (const void *)fixture->netdevs,
		.previous = fixture->part,
		.options.probe_gateways = fixture->probe,
	};
	struct rna_part *part;

	assert_int_equal(rna_collect_gateways(&in, &part, NULL), 0);
	(void)rna_part_unref(fixture->part);
	fixture->part = part;
	return (const void *)part;
}

static void test_interfaces_and_vlans(void **state)
{
	static const char *const all[] = {"bond0", "bond0.7", "down0", "ib0", "member0", "rep0"};
	struct fixture *fixture = *state;
	const struct rna_gateways *gateways;
	char place[64];

	for (size_t i = 0; i < RNA_ARRAY_SIZE(all); i++) {
		(void)snprintf(place, sizeof(place), "%s/0", all[i]);
		write_gateway(fixture, place, IPV4, "4\n");
	}
	write_gateway(fixture, "rail0/0", IPV6, "2\n");
	write_gateway(fixture, "rail0/1", IPV4, "4\n");
	tree_mkdir(&fixture->tree, "sys/class/net/bond0/upper_bond0.7");
	tree_mkdir(&fixture->tree, "sys/class/net/bond0/upper_macvlan0");
	tree_write(&fixture->tree, "recorded/vlan/bond0.7/id", "7\n");
	write_gateway(fixture, "macvlan0/0", IPV4, "4\n");
	gateways = collect(fixture);
	assert_int_equal(gateways->count, 4);
	assert_string_equal(gateways->items[0].netdev, "bond0");
	assert_string_equal(gateways->items[0].text, "10.1.0.1");
	assert_string_equal(gateways->items[1].netdev, "bond0.7");
	assert_string_equal(gateways->items[1].lower, "bond0");
	assert_string_equal(gateways->items[2].text, "10.1.0.1");
	assert_string_equal(gateways->items[3].text, "fe80::1");
	assert_int_equal(rna_part_error_count(fixture->part), 0);
	assert_int_equal(probes, 0);
}

static void test_a_broken_recording(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_collect_input in = {
		.root = fixture->tree.root,
		.backends = &fixture->counting,
		.netdevs = (const void *)fixture->netdevs,
	};
	struct rna_part *part;
	struct rna_error error;

	write_gateway(fixture, "rail0/0", "10.1.0.1\n", "2\n");
	assert_int_equal(rna_collect_gateways(&in, &part, &error), -EBADMSG);
}

/* An interface list that could not be read. */
static void test_without_interfaces(void **state)
{
	struct fixture *fixture = *state;

	write_gateway(fixture, "rail0/0", IPV4, "2\n");
	(void)rna_part_unref(fixture->netdevs);
	fixture->netdevs = NULL;
	assert_int_equal(collect(fixture)->count, 0);
}

/* A failure lasts while the entry is gone, and ends with an answer. */
static void test_failures_are_followed(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_gateway *gateway;
	rna_usec first;

	write_gateway(fixture, "rail0/0", IPV4, "1\n");
	gateway = &collect(fixture)->items[0];
	first = gateway->failing_first;
	assert_true(first > 0);
	assert_int_equal(gateway->failing_last, first);
	write_gateway(fixture, "rail0/0", IPV4, "32\n");
	gateway = &collect(fixture)->items[0];
	assert_int_equal(gateway->failing_first, first);
	assert_true(gateway->failing_last > first);
	write_gateway(fixture, "rail0/0", IPV4, "0\n");
	gateway = &collect(fixture)->items[0];
	assert_int_equal(gateway->failing_first, first);
	assert_true(gateway->failing_last < fixture->part->started.monotonic);
	write_gateway(fixture, "rail0/0", IPV4, "4\n");
	assert_int_equal(collect(fixture)->items[0].failing_last, 0);
}

/* Those that the kernel does not know; each at most once in ten seconds. */
static void test_who_is_probed(void **state)
{
	static const struct {
		const char *state;
		unsigned probes;
	} cases[] = {{"0\n", 1},  {"1\n", 0},  {"2\n", 0},  {"4\n", 1},   {"8\n", 0},
		     {"16\n", 0}, {"32\n", 1}, {"64\n", 0}, {"128\n", 0}, {"\n", 0}};
	struct fixture *fixture = *state;

	fixture->probe = true;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		write_gateway(fixture, "rail0/0", IPV4, cases[i].state);
		fixture->part = rna_part_unref(fixture->part);
		probes = 0;
		for (unsigned n = 0; n < 3; n++)
			(void)collect(fixture);
		assert_int_equal(probes, cases[i].probes);
	}
}

/* -- The IP stack of the host ------------------------------------------------------------------ */

static void write_setting(const struct fixture *fixture, const char *netdev, const char *name,
			  const char *value)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "proc/sys/net/ipv4/conf/%s/%s", netdev, name);
	tree_write(&fixture->tree, path, value);
}

static void write_rail(const struct fixture *fixture, const char *place, const char *address,
		       const char *leaves_by)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "recorded/rails/%s/address", place);
	tree_write(&fixture->tree, path, address);
	(void)snprintf(path, sizeof(path), "recorded/rails/%s/subnet", place);
	tree_write(&fixture->tree, path, "0000:0000:0000:0000:0000:ffff:0a01:0000\n");
	(void)snprintf(path, sizeof(path), "recorded/rails/%s/prefix_length", place);
	tree_write(&fixture->tree, path, "16\n");
	(void)snprintf(path, sizeof(path), "recorded/rails/%s/leaves_by", place);
	tree_write(&fixture->tree, path, leaves_by);
}

/* Of "all" and of the interface the larger value applies; one that is missing makes it unknown. */
static void test_addresses_and_their_settings(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_rail_address *address;

	write_rail(fixture, "rail0/1", "0000:0000:0000:0000:0000:ffff:0a01:0002\n", "bond0\n");
	write_rail(fixture, "bond0/0", IPV4, "bond0\n");
	write_rail(fixture, "ib0/0", IPV4, "ib0\n");
	write_setting(fixture, "all", "arp_ignore", "1\n");
	write_setting(fixture, "rail0", "arp_ignore", "0\n");
	write_setting(fixture, "bond0", "arp_ignore", "2\n");
	write_setting(fixture, "all", "rp_filter", "0\n");
	write_setting(fixture, "rail0", "rp_filter", "2\n");
	write_setting(fixture, "rail0", "arp_filter", "1\n");
	assert_int_equal(collect(fixture)->host.address_count, 2);
	address = collect(fixture)->host.addresses;
	assert_string_equal(address[0].netdev, "bond0");
	assert_string_equal(address[0].text, "10.1.0.1");
	assert_int_equal(address[0].arp_ignore.number, 2);
	assert_string_equal(address[1].text, "10.1.0.2");
	assert_string_equal(address[1].leaves_by, "bond0");
	assert_int_equal(address[1].prefix_length.number, 16);
	assert_int_equal(address[1].arp_ignore.number, 1);
	assert_int_equal(address[1].rp_filter.number, 2);
	assert_int_equal(address[1].arp_filter.state, RNA_VALUE_ABSENT);
	assert_int_equal(address[1].arp_announce.state, RNA_VALUE_ABSENT);
	assert_int_equal(rna_part_error_count(fixture->part), 0);
}

/* A VRF or a bridge above it has ways of its own. */
static void test_interfaces_below_others_are_left_out(void **state)
{
	struct fixture *fixture = *state;

	write_rail(fixture, "rail0/0", IPV4, "rail0\n");
	assert_int_equal(collect(fixture)->host.address_count, 1);
	tree_link(&fixture->tree, "sys/class/net/rail0/master", "../vrf0");
	assert_int_equal(collect(fixture)->host.address_count, 0);
}

/* What is broken in the answer about addresses costs these alone. */
static void test_a_broken_address(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_gateways *gateways;

	write_gateway(fixture, "rail0/0", IPV4, "2\n");
	write_rail(fixture, "rail0/0", "10.1.0.1\n", "rail0\n");
	gateways = collect(fixture);
	assert_int_equal(gateways->count, 1);
	assert_int_equal(gateways->host.address_count, 0);
	assert_int_equal(rna_part_error_count(fixture->part), 1);
}

#define HEADING "entries  allocs   destroys res_failed table_fulls\n"

static void write_table(const struct fixture *fixture, const char *text)
{
	tree_write(&fixture->tree, "proc/net/stat/arp_cache", text);
}

static const struct rna_neighbour_table *ipv4_table(struct fixture *fixture)
{
	return &collect(fixture)->host.tables[RNA_GID_IPV4];
}

/* Numbers are hexadecimal, and all but the first are of one CPU. */
static void test_tables_of_neighbours(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_neighbour_table *table;
	rna_usec first;

	write_table(fixture, HEADING "000003ff 1 2 3 00000010\n000003ff 1 2 3 0000000a\n");
	tree_write(&fixture->tree, "proc/sys/net/ipv4/neigh/default/gc_thresh3", "1024\n");
	table = ipv4_table(fixture);
	assert_int_equal(table->entries.number, 1023);
	assert_int_equal(table->limit.number, 1024);
	assert_int_equal(table->overflows.number, 26);
	assert_int_equal(table->overflowed, 0); /* when is not known */
	assert_int_equal(ipv4_table(fixture)->overflowed, 0);
	write_table(fixture, HEADING "00000400 1 2 3 00000010\n00000400 1 2 3 0000000b\n");
	table = ipv4_table(fixture);
	first = table->overflowed;
	assert_int_equal(table->overflows.number, 27);
	assert_int_equal(first, fixture->part->started.monotonic);
	assert_int_equal(ipv4_table(fixture)->overflowed, first);
	assert_int_equal(collect(fixture)->host.tables[RNA_GID_IPV6].entries.state,
			 RNA_VALUE_ABSENT);
}

static void test_odd_tables_of_neighbours(void **state)
{
	static const char *const texts[] = {
		"",
		"\n",
		"entries\n",
		HEADING,
		HEADING "\n",
		HEADING "zz zz zz zz zz\n",
		HEADING "1ffffffffffffffff 0 0 0 1ffffffffffffffff\n",
		"nothing known\n00000001 00000002\n",
	};
	struct fixture *fixture = *state;
	const struct rna_neighbour_table *table;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(texts); i++) {
		write_table(fixture, texts[i]);
		table = ipv4_table(fixture);
		assert_int_equal(table->entries.state, RNA_VALUE_ABSENT);
		assert_int_equal(table->overflows.state, RNA_VALUE_ABSENT);
	}
	write_table(fixture, "entries allocs\n00000007 00000002\n"); /* before Linux 4.3 */
	table = ipv4_table(fixture);
	assert_int_equal(table->entries.number, 7);
	assert_int_equal(table->overflows.state, RNA_VALUE_ABSENT);
	write_table(fixture, HEADING "00000007\n"); /* cut */
	assert_int_equal(ipv4_table(fixture)->entries.number, 7);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_interfaces_and_vlans),
		TEST(test_a_broken_recording),
		TEST(test_without_interfaces),
		TEST(test_failures_are_followed),
		TEST(test_who_is_probed),
		TEST(test_addresses_and_their_settings),
		TEST(test_interfaces_below_others_are_left_out),
		TEST(test_a_broken_address),
		TEST(test_tables_of_neighbours),
		TEST(test_odd_tables_of_neighbours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
