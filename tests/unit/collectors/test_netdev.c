// SPDX-License-Identifier: Apache-2.0
/* collectors/netdev: bonds and their members; addresses and the default route, of a recording and
 * of the kernel. */
#include <errno.h>
#include <net/if.h>
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

static const struct rna_netdev *find(const struct rna_netdevs *part, const char *name)
{
	for (size_t i = 0; i < part->count; i++)
		if (strcmp(part->netdevs[i].name, name) == 0)
			return &part->netdevs[i];
	return NULL;
}

static void write_netdev(const struct tree *tree, const char *name, const char *operstate)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "sys/class/net/%s/operstate", name);
	tree_write(tree, path, operstate);
	(void)snprintf(path, sizeof(path), "sys/class/net/%s/flags", name);
	tree_write(tree, path, "0x1003\n");
}

static struct rna_part *collect(const struct tree *tree)
{
	RNA_CLEANUP(rna_backends_free_p) struct rna_backends *backends = NULL;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *presence = NULL;
	struct rna_collect_input in = {.root = tree->root};
	struct rna_part *part;

	backends = rna_backends_new(tree->root);
	in.backends = backends;
	assert_int_equal(rna_collect_presence(&in, &presence, NULL), 0);
	in.presence = (const struct rna_presence *)presence;
	assert_int_equal(rna_collect_netdev(&in, &part, NULL), 0);
	return part;
}

/* Searches in order, backwards, again, and for what is not there. */
static void test_searches_find_ports_and_names(void **state)
{
	const struct rna_netdev netdevs[] = {{.name = "bond0"}, {.name = "ib2"}, {.name = "ib10"}};
	const struct rna_port_netdev ports[] = {{"mlx5_2", 1, "ib2", 0},
						{"mlx5_2", 2, "bond0", 0},
						{"mlx5_10", 1, "ib10", 0}};
	const struct rna_netdevs part = {.count = 3,
					 .netdevs = netdevs,
					 .port_count = 3,
					 .ports = ports};
	struct rna_netdev_search search = {.netdevs = &part}, none = {0};

	(void)state;
	assert_ptr_equal(rna_netdev_search_port(&search, "mlx5_2", 1), &ports[0]);
	assert_ptr_equal(rna_netdev_search_port(&search, "mlx5_2", 2), &ports[1]);
	assert_null(rna_netdev_search_port(&search, "mlx5_3", 1));
	assert_null(rna_netdev_search_port(&search, "mlx5_02", 1));
	assert_ptr_equal(rna_netdev_search_port(&search, "mlx5_10", 1), &ports[2]);
	assert_ptr_equal(rna_netdev_search_port(&search, "mlx5_10", 1), &ports[2]);
	assert_ptr_equal(rna_netdev_search_port(&search, "mlx5_2", 1), &ports[0]);
	assert_null(rna_netdev_search_port(&none, "mlx5_2", 1));
	assert_ptr_equal(rna_netdev_search_name(&search, "ib10"), &netdevs[2]);
	assert_ptr_equal(rna_netdev_search_name(&search, "bond0"), &netdevs[0]);
	assert_ptr_equal(rna_netdev_search_name(&search, "ib2"), &netdevs[1]);
	assert_null(rna_netdev_search_name(&search, "ib3"));
	assert_null(rna_netdev_search_name(&none, "ib2"));
}

/* The second member serves no port: nothing but the bond leads to it. */
static void test_members_of_a_bond(void **state)
{
	RNA_CLEANUP(tree_deinit) struct tree tree;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	const struct rna_netdevs *netdevs;

	(void)state;
	tree_init(&tree);
	tree_write(&tree, "sys/class/infiniband/mlx5_bond_0/ports/1/gid_attrs/ndevs/0", "bond0\n");
	write_netdev(&tree, "bond0", "up\n");
	write_netdev(&tree, "eth0", "up\n");
	write_netdev(&tree, "eth1", "down\n");
	tree_write(&tree, "sys/class/net/eth0/phys_port_name", "p0\n");
	tree_write(&tree, "sys/class/net/eth1/phys_port_name", "pf0vf3\n");
	tree_write(&tree, "sys/class/net/bond0/bonding/slaves", "eth0 eth1 gone ../../etc\n");
	tree_write(&tree, "sys/class/net/bond0/bonding/mode", "802.3ad 4\n");
	tree_link(&tree, "sys/class/net/eth1/master", "../bond0");
	tree_write(&tree, "recorded/netdev/bond0/ipv4_addresses", "2\n");
	part = collect(&tree);
	netdevs = (const struct rna_netdevs *)part;
	assert_int_equal(netdevs->count, 3);
	assert_true(find(netdevs, "bond0")->bond);
	assert_true(find(netdevs, "bond0")->bond_spreads);
	assert_false(find(netdevs, "eth1")->bond);
	assert_true(find(netdevs, "eth1")->representor);
	assert_false(find(netdevs, "eth0")->representor);
	assert_string_equal(find(netdevs, "eth1")->master, "bond0");
	assert_int_equal(find(netdevs, "bond0")->ipv4_addresses.number, 2);
	assert_int_equal(find(netdevs, "bond0")->ipv6_addresses.state, RNA_VALUE_ABSENT);
	assert_int_equal(rna_part_error_count(part), 0);
}

/* LACP over two cards: the kernel says the bond for the ports of both. */
static void test_a_bond_of_two_devices(void **state)
{
	RNA_CLEANUP(tree_deinit) struct tree tree;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	const struct rna_netdevs *netdevs;

	(void)state;
	tree_init(&tree);
	for (const char *const *name = (const char *const[]){"mlx5_0", "mlx5_1", NULL}; *name;
	     name++) {
		char path[128];

		(void)snprintf(path, sizeof(path),
			       "sys/class/infiniband/%s/ports/1/gid_attrs/ndevs/0", *name);
		tree_write(&tree, path, "bond0\n");
		(void)snprintf(path, sizeof(path), "sys/class/infiniband/%s/device/net/eth%c/type",
			       *name, (*name)[5]);
		tree_write(&tree, path, "1\n");
	}
	write_netdev(&tree, "bond0", "up\n");
	write_netdev(&tree, "eth0", "up\n");
	write_netdev(&tree, "eth1", "up\n");
	write_netdev(&tree, "eth9", "up\n");
	tree_write(&tree, "sys/class/net/bond0/bonding/slaves", "eth0 eth1 eth9\n");
	tree_write(&tree, "sys/class/net/bond0/bonding/mode", "active-backup 1\n");
	part = collect(&tree);
	netdevs = (const struct rna_netdevs *)part;
	assert_string_equal(netdevs->ports[0].netdev, "bond0");
	assert_string_equal(netdevs->ports[1].netdev, "bond0");
	assert_false(find(netdevs, "bond0")->bond_spreads);
	assert_string_equal(find(netdevs, "eth0")->device, "mlx5_0");
	assert_string_equal(find(netdevs, "eth1")->device, "mlx5_1");
	assert_null(find(netdevs, "eth9")->device); /* of no RDMA device */
	assert_null(find(netdevs, "bond0")->device);
}

/* Its dev_port is 0, as that of all interfaces of which the driver does not set it. */
static void test_an_interface_of_a_later_port(void **state)
{
	RNA_CLEANUP(tree_deinit) struct tree tree;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	const struct rna_netdevs *netdevs;

	(void)state;
	tree_init(&tree);
	tree_write(&tree, "sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n");
	tree_write(&tree, "sys/class/infiniband/mlx5_0/ports/3/gid_attrs/ndevs/0", "eth0\n");
	tree_write(&tree, "sys/class/infiniband/mlx5_0/device/net/eth0/dev_port", "0\n");
	tree_write(&tree, "sys/class/infiniband/mlx5_1/ports/1/state", "1: DOWN\n");
	tree_write(&tree, "sys/class/infiniband/mlx5_1/device/net/eth1/dev_port", "0\n");
	write_netdev(&tree, "eth0", "up\n");
	write_netdev(&tree, "eth1", "up\n");
	part = collect(&tree);
	netdevs = (const struct rna_netdevs *)part;
	assert_int_equal(netdevs->port_count, 2);
	assert_int_equal(netdevs->ports[0].port, 3);
	assert_string_equal(netdevs->ports[0].netdev, "eth0");
	assert_int_equal(netdevs->ports[1].port, 1);
	assert_string_equal(netdevs->ports[1].netdev, "eth1");
}

static void write_ipoib(const struct tree *tree, const char *name, const char *ifindex)
{
	static const char *const files[][2] = {{"type", "32\n"},
					       {"iflink", "7\n"},
					       {"dev_port", "0\n"}};
	char path[128];

	write_netdev(tree, name, "up\n");
	for (size_t i = 0; i < RNA_ARRAY_SIZE(files); i++) {
		(void)snprintf(path, sizeof(path), "sys/class/infiniband/mlx5_0/device/net/%s/%s",
			       name, files[i][0]);
		tree_write(tree, path, files[i][1]);
	}
	(void)snprintf(path, sizeof(path), "sys/class/infiniband/mlx5_0/device/net/%s/ifindex",
		       name);
	tree_write(tree, path, ifindex);
}

static void assert_interface(const struct tree *tree, const char *name)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = collect(tree);
	const struct rna_netdevs *netdevs = (const struct rna_netdevs *)part;

	assert_int_equal(netdevs->port_count, 1);
	assert_string_equal(netdevs->ports[0].netdev, name);
	assert_int_equal(netdevs->ports[0].source, RNA_NETDEV_BY_IPOIB);
}

/* Its interface belongs to that of the port, which a container may lack. */
static void test_an_interface_of_another_pkey(void **state)
{
	RNA_CLEANUP(tree_deinit) struct tree tree;

	(void)state;
	tree_init(&tree);
	tree_write(&tree, "sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
	write_ipoib(&tree, "ib0.8001", "8\n");
	write_ipoib(&tree, "aib0.8002", "9\n");
	assert_interface(&tree, "aib0.8002");
	write_ipoib(&tree, "ib0", "7\n");
	assert_interface(&tree, "ib0");
}

/* Every machine has a loopback interface; its addresses have scope host and are not reachable. */
static void test_the_kernel_counts_addresses(void **state)
{
	struct rna_netdev netdevs[] = {{.name = "lo", .ifindex = if_nametoindex("lo")},
				       {.name = "none", .ifindex = UINT32_MAX}};

	(void)state;
	assert_int_equal(rna_rtnetlink.count_addresses(NULL, netdevs, RNA_ARRAY_SIZE(netdevs)), 0);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(netdevs); i++) {
		assert_int_equal(netdevs[i].ipv4_addresses.state, RNA_VALUE_OK);
		assert_int_equal(netdevs[i].ipv4_addresses.number, 0);
		assert_int_equal(netdevs[i].ipv6_addresses.state, RNA_VALUE_OK);
		assert_int_equal(netdevs[i].ipv6_addresses.number, 0);
	}
}

static void test_the_default_route_is_recorded(void **state)
{
	static const struct {
		const char *text, *uplink;
	} cases[] = {{"eno1\n", "eno1"},
		     {"", NULL},
		     {"../../etc\n", NULL},
		     {"a-name-too-long-\n", NULL}};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		RNA_CLEANUP(tree_deinit) struct tree tree;
		RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;

		tree_init(&tree);
		tree_write(&tree, "recorded/uplink", cases[i].text);
		part = collect(&tree);
		if (cases[i].uplink)
			assert_string_equal(((struct rna_netdevs *)part)->uplink, cases[i].uplink);
		else
			assert_null(((struct rna_netdevs *)part)->uplink);
	}
}

/* The interface of the line for 0.0.0.0 with the lowest metric; false: there is none. */
static bool read_default_route(char ret[IF_NAMESIZE])
{
	FILE *file = fopen("/proc/net/route", "re");
	unsigned destination, metric, lowest = UINT32_MAX;
	char line[256], name[IF_NAMESIZE];

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%15s %x %*x %*x %*d %*d %u", name, &destination, &metric) == 3 &&
		    destination == 0 && metric < lowest && name[0] != '*') {
			lowest = metric;
			memcpy(ret, name, sizeof(name));
		}
	(void)fclose(file);
	return lowest < UINT32_MAX;
}

static void test_the_kernel_knows_the_default_route(void **state)
{
	char expected[IF_NAMESIZE], name[IF_NAMESIZE];
	int error = rna_rtnetlink.find_uplink(NULL, name);

	(void)state;
	if (!read_default_route(expected)) {
		assert_true(error == 0 || error == -ENOENT); /* by IPv6, perhaps */
		return;
	}
	assert_int_equal(error, 0);
	assert_string_equal(name, expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_searches_find_ports_and_names),
		cmocka_unit_test(test_members_of_a_bond),
		cmocka_unit_test(test_a_bond_of_two_devices),
		cmocka_unit_test(test_an_interface_of_a_later_port),
		cmocka_unit_test(test_an_interface_of_another_pkey),
		cmocka_unit_test(test_the_kernel_counts_addresses),
		cmocka_unit_test(test_the_default_route_is_recorded),
		cmocka_unit_test(test_the_kernel_knows_the_default_route),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
