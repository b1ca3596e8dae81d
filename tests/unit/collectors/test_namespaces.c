// SPDX-License-Identifier: Apache-2.0
/* collectors/processes/namespaces: devices in other network namespaces, by a tree of processes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "rna/model/netdev.h"

#include "processes/namespaces.h"

#include "collectors.h"
#include "tree.h"

enum { OWN = 100, POD = 200, OTHER = 300 };

#define PCI   "sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0"
#define CLASS "sys/class/infiniband"

struct node {
	struct tree tree;
	struct rna_arena *arena;
	struct rna_presence last;
	struct rna_device device; /* of last */
	struct rna_devices_elsewhere found;
};

static void add_link(const struct node *node, unsigned process, const char *kind, unsigned number)
{
	char path[64], target[64];

	(void)snprintf(path, sizeof(path), "proc/%u/ns/%s", process, kind);
	(void)snprintf(target, sizeof(target), "%s:[%u]", kind, number);
	tree_link(&node->tree, path, target);
}

/* The kernel has the device, wherever it is: verbs and MADs say so. */
static void add_to_kernel(const struct node *node, const char *device, unsigned number)
{
	char path[128], target[128];

	(void)snprintf(path, sizeof(path), PCI "/infiniband_verbs/uverbs%u/ibdev", number);
	tree_write(&node->tree, path, device);
	(void)snprintf(path, sizeof(path), "sys/class/infiniband_verbs/uverbs%u", number);
	(void)snprintf(target, sizeof(target), "../../devices/%s/infiniband_verbs/uverbs%u",
		       &PCI[strlen("sys/devices/")], number);
	tree_link(&node->tree, path, target);
}

/* Its sysfs shows the device. */
static void show(const struct node *node, unsigned process, const char *device)
{
	char path[256], target[128];

	(void)snprintf(path, sizeof(path), "proc/%u/root/" PCI "/infiniband/%s/ports/1", process,
		       device);
	tree_mkdir(&node->tree, path);
	(void)snprintf(path, sizeof(path), "proc/%u/root/" CLASS "/%s", process, device);
	(void)snprintf(target, sizeof(target), "../../devices/%s/infiniband/%s",
		       &PCI[strlen("sys/devices/")], device);
	tree_link(&node->tree, path, target);
}

/* A process with a mount namespace of its own; device: one that its sysfs shows, NULL: none. */
static void add_process(const struct node *node, unsigned process, unsigned namespace,
			const char *device)
{
	add_link(node, process, "net", namespace);
	add_link(node, process, "mnt", process);
	if (device)
		show(node, process, device);
}

static void node_init(struct node *node)
{
	*node = (struct node){.arena = rna_arena_new(0)};
	assert_non_null(node->arena);
	tree_init(&node->tree);
	tree_link(&node->tree, "proc/self/ns/net", "net:[100]");
	tree_link(&node->tree, "proc/self/ns/pid", "pid:[4026531836]");
	add_process(node, 1, OWN, NULL);
	add_to_kernel(node, "mlx5_0", 0);
	add_to_kernel(node, "mlx5_1", 1);
	add_to_kernel(node, "mlx5_7", 7);
}

static void node_deinit(struct node *node)
{
	tree_deinit(&node->tree);
	node->arena = rna_arena_free(node->arena);
}

static void look(struct node *node)
{
	char own[] = "mlx5_0", *names[] = {own};

	assert_int_equal(rna_list_devices_elsewhere(node->tree.root, names, 1, &node->last,
						    node->arena, &node->found),
			 0);
}

/* What was found, in the next look, is what the last run had. */
static void keep(struct node *node)
{
	assert_int_equal(node->found.count, 1);
	node->device = (struct rna_device){
		.name = node->found.items[0].name,
		.process = node->found.items[0].process,
		.network_namespace = node->found.items[0].network_namespace,
	};
	node->last.devices = &node->device;
	node->last.device_count = 1;
}

static void want(const struct node *node, const char *name, unsigned process, unsigned namespace)
{
	assert_int_equal(node->found.count, 1);
	assert_string_equal(node->found.items[0].name, name);
	assert_int_equal(node->found.items[0].process, process);
	assert_int_equal(node->found.items[0].network_namespace, namespace);
}

/* The first process of the namespace that has a sysfs of it. */
static void test_a_pod(void **state)
{
	struct node node;

	(void)state;
	node_init(&node);
	add_process(&node, 7, POD, NULL);
	add_process(&node, 10, POD, "mlx5_1");
	add_process(&node, 11, POD, "mlx5_1");
	look(&node);
	want(&node, "mlx5_1", 10, POD);
	assert_string_equal(node.found.items[0].sysfs_path,
			    "proc/10/root/" PCI "/infiniband/mlx5_1");
	assert_true(node.found.reach.asked);
	assert_false(node.found.reach.own_namespace || node.found.reach.hidden);
	node_deinit(&node);
}

/* One that every namespace shows, as in the shared mode, is not elsewhere. */
static void test_the_shared_mode(void **state)
{
	struct node node;

	(void)state;
	node_init(&node);
	add_process(&node, 10, POD, "mlx5_0");
	look(&node);
	assert_int_equal(node.found.count, 0);
	node_deinit(&node);
}

/* A name that the kernel does not list is no device, whatever a process shows. */
static void test_a_name_that_the_kernel_does_not_have(void **state)
{
	struct node node;

	(void)state;
	node_init(&node);
	add_process(&node, 10, POD, "mlx5_9");
	look(&node);
	assert_int_equal(node.found.count, 0);
	add_to_kernel(&node, "mlx5_9", 9);
	look(&node);
	want(&node, "mlx5_9", 10, POD);
	node_deinit(&node);
}

/* A class that lists the device, where the directory that the kernel names is not there. */
static void test_a_link_is_no_device(void **state)
{
	struct node node;

	(void)state;
	node_init(&node);
	add_process(&node, 10, POD, NULL);
	tree_mkdir(&node.tree, "proc/10/root/sys/class/net/mlx5_1/ports/1");
	tree_mkdir(&node.tree, "proc/10/root/" CLASS);
	tree_link(&node.tree, "proc/10/root/" CLASS "/mlx5_1", "../net/mlx5_1");
	look(&node);
	assert_int_equal(node.found.count, 0);
	node_deinit(&node);
}

/* Only umad lists an SMI device, as while ib_uverbs is not loaded all others. */
static void test_the_class_of_mads(void **state)
{
	struct node node;

	(void)state;
	node_init(&node);
	tree_remove(&node.tree, "sys/class/infiniband_verbs");
	tree_write(&node.tree, PCI "/infiniband_mad/umad1/ibdev", "mlx5_1\n");
	tree_write(&node.tree, PCI "/infiniband_mad/issm1/ibdev", "mlx5_1\n");
	tree_mkdir(&node.tree, "sys/class/infiniband_mad");
	tree_write(&node.tree, "sys/class/infiniband_mad/abi_version", "5\n");
	tree_link(&node.tree, "sys/class/infiniband_mad/umad1",
		  "../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/infiniband_mad/umad1");
	tree_link(&node.tree, "sys/class/infiniband_mad/issm1",
		  "../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/infiniband_mad/issm1");
	add_process(&node, 10, POD, "mlx5_1");
	look(&node);
	want(&node, "mlx5_1", 10, POD);
	node_deinit(&node);
}

/* Two sysfs have it, which one device cannot be in: neither is believed. */
static void test_two_namespaces_have_it(void **state)
{
	struct node node;

	(void)state;
	node_init(&node);
	add_process(&node, 10, POD, "mlx5_1");
	add_process(&node, 20, OTHER, "mlx5_1");
	look(&node);
	assert_int_equal(node.found.count, 0);
	assert_int_equal(node.found.contested_count, 1);
	assert_string_equal(node.found.contested[0].name, "mlx5_1");
	assert_int_equal(node.found.contested[0].processes[0], 10);
	assert_int_equal(node.found.contested[0].processes[1], 20);
	node_deinit(&node);
}

/* A process that left the namespace and kept its mounts shows the same sysfs: the same device. */
static void test_a_process_that_kept_its_mounts(void **state)
{
	struct node node;

	(void)state;
	node_init(&node);
	add_process(&node, 20, OTHER, "mlx5_1");
	look(&node);
	want(&node, "mlx5_1", 20, OTHER);
	keep(&node);
	add_process(&node, 10, POD, NULL); /* POD is the lower number */
	tree_link(&node.tree, "proc/10/root", "../20/root");
	look(&node);
	want(&node, "mlx5_1", 20, OTHER);
	assert_int_equal(node.found.contested_count, 0);
	node_deinit(&node);
}

/* However many were made before: none hides those that come later. */
static void test_many_namespaces(void **state)
{
	struct node node;

	(void)state;
	node_init(&node);
	for (unsigned i = 0; i < 3000; i++)
		add_process(&node, 1000 + i, 1000 + i, NULL);
	add_process(&node, 5000, 5000, "mlx5_1");
	look(&node);
	want(&node, "mlx5_1", 5000, 5000);
	node_deinit(&node);
}

/* The process of the last run is taken again, until it is gone, or its number is another's. */
static void test_processes_come_and_go(void **state)
{
	struct node node;

	(void)state;
	node_init(&node);
	add_process(&node, 20, POD, "mlx5_1");
	look(&node);
	want(&node, "mlx5_1", 20, POD);
	keep(&node);
	add_process(&node, 10, POD, "mlx5_1");
	look(&node);
	want(&node, "mlx5_1", 20, POD);
	tree_remove(&node.tree, "proc/20");
	add_process(&node, 20, OTHER, "mlx5_7");
	look(&node);
	assert_int_equal(node.found.count, 2);
	assert_string_equal(node.found.items[0].name, "mlx5_1");
	assert_int_equal(node.found.items[0].process, 10);
	assert_string_equal(node.found.items[1].name, "mlx5_7");
	assert_int_equal(node.found.items[1].network_namespace, OTHER);
	node_deinit(&node);
}

/* A namespace without the PIDs of the node, and a /proc that hides them, are reported. */
static void test_what_is_not_seen(void **state)
{
	struct node node;

	(void)state;
	node_init(&node);
	tree_remove(&node.tree, "proc/1");
	tree_remove(&node.tree, "proc/self/ns/pid");
	tree_link(&node.tree, "proc/self/ns/pid", "pid:[4026532000]");
	look(&node);
	assert_true(node.found.reach.own_namespace);
	assert_true(node.found.reach.hidden);
	node_deinit(&node);
}

/* A zombie has no namespaces any more. */
static void test_zombies(void **state)
{
	struct node node;
	size_t opened;

	(void)state;
	node_init(&node);
	look(&node);
	opened = node.found.reach.opened;
	tree_mkdir(&node.tree, "proc/9/ns");
	add_process(&node, 10, POD, NULL);
	look(&node);
	assert_int_equal(node.found.reach.opened, opened + 1);
	assert_int_equal(node.found.reach.refused, 0);
	node_deinit(&node);
}

/* Links and names that are none count as nothing. */
static void test_odd_links(void **state)
{
	static const char *const texts[] = {"net",     "net:[",    "net:[]",
					    "net:[x]", "net:[200", "[-1]"};
	struct node node;

	(void)state;
	node_init(&node);
	for (unsigned i = 0; i < RNA_ARRAY_SIZE(texts); i++) {
		char path[64];

		add_process(&node, 30 + i, POD, "mlx5_1");
		(void)snprintf(path, sizeof(path), "proc/%u/ns/net", 30 + i);
		tree_remove(&node.tree, path);
		tree_link(&node.tree, path, texts[i]);
	}
	tree_write(&node.tree, "proc/40", "no directory");
	look(&node);
	assert_int_equal(node.found.count, 0);
	node_deinit(&node);
}

/* -- Devices and interfaces, as the collectors have them --------------------------------------- */

static void collect(struct node *node, struct rna_backends *backends, struct rna_part **presence,
		    struct rna_part **netdevs)
{
	struct rna_collect_input in = {
		.root = node->tree.root,
		.backends = backends,
		.options = {.follow = true, .follow_devices = 64, .follow_ports = 256},
	};
	struct rna_error error = {0};

	assert_int_equal(rna_collect_presence(&in, presence, &error), 0);
	in.presence = (const void *)*presence;
	assert_int_equal(rna_collect_netdev(&in, netdevs, &error), 0);
}

static void test_a_device_with_its_interface(void **state)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *presence = NULL, *netdevs = NULL;
	RNA_CLEANUP(rna_backends_free_p) struct rna_backends *backends = NULL;
	const struct rna_followed_netdev *followed;
	const struct rna_device *device;
	struct node node;

	(void)state;
	node_init(&node);
	backends = rna_backends_new(node.tree.root);
	add_process(&node, 10, POD, "mlx5_1");
	tree_mkdir(&node.tree, CLASS);
	tree_link(&node.tree, "proc/10/root/" PCI "/infiniband/mlx5_1/device",
		  "../../../0000:3b:00.0");
	tree_write(&node.tree, "proc/10/root/" PCI "/net/net1/dev_port", "0\n");
	tree_write(&node.tree, "proc/10/root/sys/class/net/net1/operstate", "up\n");
	tree_write(&node.tree, "proc/10/root/sys/class/net/net1/ifindex", "12\n");
	collect(&node, backends, &presence, &netdevs);
	assert_int_equal(((const struct rna_presence *)presence)->device_count, 1);
	device = ((const struct rna_presence *)presence)->devices;
	assert_string_equal(device->sysfs_path, "proc/10/root/" PCI "/infiniband/mlx5_1");
	assert_string_equal(device->key, "0000:3b:00.0");
	assert_int_equal(device->process, 10);
	assert_int_equal(((const struct rna_netdevs *)netdevs)->count, 0); /* of this namespace */
	followed = rna_netdevs_followed((const void *)netdevs, device, 1);
	assert_non_null(followed);
	assert_string_equal(followed->netdev.name, "net1");
	assert_int_equal(followed->netdev.ifindex, 12);
	assert_int_equal(followed->port.source, RNA_NETDEV_BY_DEV_PORT);
	node_deinit(&node);
}

/* A file that cannot be read, as a container may mount over it, costs this device, and no other. */
static void test_what_is_in_the_way(void **state)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *presence = NULL, *netdevs = NULL;
	RNA_CLEANUP(rna_backends_free_p) struct rna_backends *backends = NULL;
	struct node node;

	(void)state;
	node_init(&node);
	backends = rna_backends_new(node.tree.root);
	add_process(&node, 10, POD, "mlx5_1");
	tree_mkdir(&node.tree, "sys/devices/virtual/infiniband/rxe0/ports/1");
	tree_link(&node.tree, CLASS "/rxe0", "../../devices/virtual/infiniband/rxe0");
	tree_link(&node.tree, "proc/10/root/" PCI "/infiniband/mlx5_1/device",
		  "../../../0000:3b:00.0");
	tree_fifo(&node.tree, "proc/10/root/" PCI "/sfnum");
	collect(&node, backends, &presence, &netdevs);
	assert_int_equal(((const struct rna_presence *)presence)->device_count, 1);
	assert_string_equal(((const struct rna_presence *)presence)->devices[0].name, "rxe0");
	node_deinit(&node);
}

/* A namespace has its share of devices and ports, and the others have theirs. */
static void test_shares(void **state)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	RNA_CLEANUP(rna_backends_free_p) struct rna_backends *backends = NULL;
	const struct rna_presence *presence;
	struct rna_error error = {0};
	struct node node;

	(void)state;
	node_init(&node);
	backends = rna_backends_new(node.tree.root);
	tree_mkdir(&node.tree, CLASS);
	for (unsigned i = 1; i <= 6; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "a_%u", i);
		add_to_kernel(&node, name, 100 + i);
		if (i == 1)
			add_process(&node, 10, POD, name);
		else
			show(&node, 10, name);
	}
	tree_mkdir(&node.tree, "proc/10/root/" PCI "/infiniband/a_2/ports/2");
	add_process(&node, 20, OTHER, "mlx5_7");
	{
		const struct rna_collect_input in = {
			.root = node.tree.root,
			.backends = backends,
			.options = {.follow = true, .follow_devices = 4, .follow_ports = 4},
		};

		assert_int_equal(rna_collect_presence(&in, &part, &error), 0);
	}
	presence = (const void *)part;
	assert_int_equal(presence->device_count, 4); /* a_1, a_2 with two ports, a_3; mlx5_7 */
	assert_string_equal(presence->devices[2].name, "a_3");
	assert_string_equal(presence->devices[3].name, "mlx5_7");
	assert_int_equal(presence->reach.left_out, 3);
	assert_int_equal(presence->reach.crowded, 10);
	node_deinit(&node);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_pod),
		cmocka_unit_test(test_the_shared_mode),
		cmocka_unit_test(test_a_name_that_the_kernel_does_not_have),
		cmocka_unit_test(test_a_link_is_no_device),
		cmocka_unit_test(test_the_class_of_mads),
		cmocka_unit_test(test_two_namespaces_have_it),
		cmocka_unit_test(test_a_process_that_kept_its_mounts),
		cmocka_unit_test(test_many_namespaces),
		cmocka_unit_test(test_processes_come_and_go),
		cmocka_unit_test(test_what_is_not_seen),
		cmocka_unit_test(test_zombies),
		cmocka_unit_test(test_odd_links),
		cmocka_unit_test(test_a_device_with_its_interface),
		cmocka_unit_test(test_what_is_in_the_way),
		cmocka_unit_test(test_shares),
	};

	return cmocka_run_group_tests_name("namespaces", tests, NULL, NULL);
}
