// SPDX-License-Identifier: Apache-2.0
/* collectors/pci, presence, identity and netdev: names, keys, and small trees. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "rna/model/driver.h"
#include "rna/model/netdev.h"

#include "parse/guid.h"
#include "parse/pci.h"

#include "collectors.h"
#include "effort.h"
#include "identity.h"
#include "presence.h"
#include "tree.h"

/* -- pure functions -------------------------------------------------------------------------------
 */

static void check_last(const char *path, const char *want)
{
	size_t len = 0;
	const char *found = rna_pci_find_last(path, &len);

	if (!want) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_int_equal(len, strlen(want));
	assert_memory_equal(found, want, len);
}

static void last_pci_address_is_found(void **state)
{
	(void)state;
	check_last("sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/infiniband/mlx5_0",
		   "0000:3b:00.0");
	check_last("sys/devices/pci0000:3a/0000:3b:00.1/mlx5_core.sf.2/infiniband/mlx5_2",
		   "0000:3b:00.1");
	check_last("sys/devices/LNX/VMBUS:00/pcif1a2b:00/10f1a:00:02.0/infiniband/mana_0",
		   "10f1a:00:02.0");
	check_last("0000:3b:00.0", "0000:3b:00.0");
	check_last("sys/devices/virtual/infiniband/rxe0", NULL);
	check_last("sys/devices/000:3b:00.0", NULL);
	check_last("sys/devices/0000:3b:00.8", NULL);
	check_last("sys/devices/0000:3b:00.0x", NULL);
	check_last("sys/devices/000000001:3b:00.0", NULL);
	check_last("", NULL);
}

static void keys_tell_devices_apart(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(0);

	(void)state;
	assert_string_equal(rna_device_key("0000:3b:00.0", NULL, "mlx5_0", arena), "0000:3b:00.0");
	assert_string_equal(rna_device_key("0000:3b:00.0", "88", "mlx5_2", arena),
			    "0000:3b:00.0/sf88");
	assert_string_equal(rna_device_key(NULL, NULL, "rxe0", arena), "rxe0");
}

static void port_numbers_are_taken_from_names(void **state)
{
	char text[][8] = {"0", "01", "1", "2", "10", "600", "70000", "x", "1x"};
	char *names[RNA_ARRAY_SIZE(text)];
	unsigned ports[RNA_ARRAY_SIZE(text)];

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(text); i++)
		names[i] = text[i];
	assert_int_equal(rna_device_ports(names, RNA_ARRAY_SIZE(names), ports), 4);
	assert_int_equal(ports[0], 1);
	assert_int_equal(ports[1], 2);
	assert_int_equal(ports[2], 10);
	assert_int_equal(ports[3], 600);
}

static void guids_are_checked(void **state)
{
	(void)state;
	assert_string_equal(rna_guid_parse("1070:fd03:0000:0001"), "1070:fd03:0000:0001");
	assert_string_equal(rna_guid_parse("fe80:0000:0000:0000:1070:fd03:0000:0001"),
			    "1070:fd03:0000:0001");
	assert_null(rna_guid_parse("0000:0000:0000:0000"));
	assert_null(rna_guid_parse(""));
	assert_null(rna_guid_parse("1070:fd03:0000:000"));
	assert_null(rna_guid_parse("1070:fd03:0000:000g"));
	assert_null(rna_guid_parse("x1070:fd03:0000:0001"));
}

/* -- trees ----------------------------------------------------------------------------------------
 */

#define PCI      "sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0"
#define CLASS    "sys/class/infiniband"
#define UP_THREE "../../../"

struct fixture {
	struct tree tree;
	struct rna_backends *backends;
	struct rna_device_filter *filter;
	const struct rna_texts *functions;
	struct rna_part *presence;
	struct rna_part *netdevs;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	tree_init(&fixture->tree);
	fixture->backends = rna_backends_new(fixture->tree.root);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	(void)rna_part_unref(fixture->presence);
	(void)rna_part_unref(fixture->netdevs);
	(void)rna_device_filter_unref(fixture->filter);
	(void)rna_backends_free(fixture->backends);
	tree_deinit(&fixture->tree);
	free(fixture);
	return 0;
}

static const struct rna_presence *look(struct fixture *fixture)
{
	const struct rna_collect_input in = {
		.root = fixture->tree.root,
		.backends = fixture->backends,
		.filter = fixture->filter,
		.functions = fixture->functions,
		.presence = (const struct rna_presence *)fixture->presence,
	};
	struct rna_error error = {0};
	struct rna_part *part = NULL;

	assert_int_equal(rna_collect_presence(&in, &part, &error), 0);
	(void)rna_part_unref(fixture->presence);
	fixture->presence = part;
	return (const struct rna_presence *)fixture->presence;
}

static const struct rna_netdevs *look_at_netdevs(struct fixture *fixture)
{
	const struct rna_collect_input in = {
		.root = fixture->tree.root,
		.backends = fixture->backends,
		.presence = look(fixture),
	};
	struct rna_error error = {0};

	fixture->netdevs = rna_part_unref(fixture->netdevs);
	assert_int_equal(rna_collect_netdev(&in, &fixture->netdevs, &error), 0);
	return (const struct rna_netdevs *)fixture->netdevs;
}

/* A function with an RDMA device of one port. */
static void add_function(const struct tree *tree)
{
	tree_write(tree, PCI "/vendor", "0x15b3\n");
	tree_write(tree, PCI "/device", "0x1021\n");
	tree_write(tree, PCI "/numa_node", "1\n");
	tree_link(tree, PCI "/driver", "../../../../bus/pci/drivers/mlx5_core");
	tree_mkdir(tree, PCI "/infiniband/mlx5_0/ports/1");
	tree_link(tree, PCI "/infiniband/mlx5_0/device", "../../../0000:3b:00.0");
	tree_link(tree, CLASS "/mlx5_0", UP_THREE PCI "/infiniband/mlx5_0");
}

static void no_stack_is_a_fact(void **state)
{
	const struct rna_presence *presence = look(*state);

	assert_false(presence->stack);
	assert_int_equal(presence->device_count, 0);
}

static void function_is_described(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_presence *presence;
	const struct rna_device *device;

	add_function(&fixture->tree);
	presence = look(fixture);
	assert_true(presence->stack);
	assert_int_equal(presence->device_count, 1);
	device = &presence->devices[0];
	assert_string_equal(device->name, "mlx5_0");
	assert_string_equal(device->key, "0000:3b:00.0");
	assert_string_equal(device->sysfs_path, PCI "/infiniband/mlx5_0");
	assert_string_equal(device->pci_address, "0000:3b:00.0");
	assert_string_equal(device->driver, "mlx5_core");
	assert_null(device->physical_function);
	assert_int_equal(device->function, RNA_FUNCTION_PF);
	assert_int_equal(device->numa_node, 1);
	assert_int_equal(device->vendor_id, 0x15b3);
	assert_int_equal(device->device_id, 0x1021);
	assert_int_not_equal(device->generation, 0);
	assert_int_equal(device->port_count, 1);
}

static void virtual_function_names_its_parent(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_device *device;

	add_function(&fixture->tree);
	tree_link(&fixture->tree, PCI "/physfn", "../0000:3a:00.1");
	device = look(fixture)->devices;
	assert_int_equal(device->function, RNA_FUNCTION_VF);
	assert_string_equal(device->physical_function, "0000:3a:00.1");
}

/* A link that cannot be read is there all the same: the function never passes for a physical one.
 */
static void virtual_function_stays_one(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_device *device;

	add_function(&fixture->tree);
	tree_write(&fixture->tree, PCI "/physfn", "no link\n");
	device = look(fixture)->devices;
	assert_int_equal(device->function, RNA_FUNCTION_VF);
	assert_null(device->physical_function);

	tree_remove(&fixture->tree, PCI "/physfn");
	tree_link(&fixture->tree, PCI "/physfn", "../0000:3a:00.1");
	assert_string_equal(look(fixture)->devices->physical_function, "0000:3a:00.1");
	tree_remove(&fixture->tree, PCI "/physfn");
	tree_write(&fixture->tree, PCI "/physfn", "no link\n");
	device = look(fixture)->devices;
	assert_int_equal(device->function, RNA_FUNCTION_VF);
	assert_string_equal(device->physical_function, "0000:3a:00.1");
}

static void subfunction_has_a_key_of_its_own(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_presence *presence;

	add_function(&fixture->tree);
	tree_write(&fixture->tree, PCI "/mlx5_core.sf.2/sfnum", "88\n");
	tree_mkdir(&fixture->tree, PCI "/mlx5_core.sf.2/infiniband/mlx5_1/ports/1");
	tree_link(&fixture->tree, PCI "/mlx5_core.sf.2/infiniband/mlx5_1/device",
		  "../../../mlx5_core.sf.2");
	tree_link(&fixture->tree, CLASS "/mlx5_1",
		  UP_THREE PCI "/mlx5_core.sf.2/infiniband/mlx5_1");
	presence = look(fixture);
	assert_int_equal(presence->device_count, 2);
	assert_int_equal(presence->devices[1].function, RNA_FUNCTION_SF);
	assert_string_equal(presence->devices[1].key, "0000:3b:00.0/sf88");
	assert_string_equal(presence->devices[1].physical_function, "0000:3b:00.0");
	assert_string_equal(presence->devices[1].driver, "mlx5_core");
}

static void two_devices_on_one_function_differ(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_presence *presence;

	add_function(&fixture->tree);
	tree_mkdir(&fixture->tree, PCI "/infiniband/smi0");
	tree_link(&fixture->tree, CLASS "/smi0", UP_THREE PCI "/infiniband/smi0");
	presence = look(fixture);
	assert_string_equal(presence->devices[0].key, "0000:3b:00.0");
	assert_string_equal(presence->devices[1].key, "0000:3b:00.0/smi0");
	assert_int_equal(presence->devices[1].port_count, 0);
}

/* A function with an HCA of one port and an SMI device of two planes, which sorts first. */
static void add_planes(const struct tree *tree)
{
	add_function(tree);
	tree_mkdir(tree, PCI "/infiniband/a_smi/ports/1");
	tree_mkdir(tree, PCI "/infiniband/a_smi/ports/2");
	tree_link(tree, CLASS "/a_smi", UP_THREE PCI "/infiniband/a_smi");
}

static void assert_planes(const struct rna_presence *presence)
{
	assert_int_equal(presence->device_count, 1);
	assert_string_equal(presence->devices[0].name, "mlx5_0");
	assert_string_equal(presence->devices[0].key, "0000:3b:00.0");
	assert_int_equal(presence->devices[0].port_count, 1);
	assert_non_null(presence->devices[0].smi);
	assert_string_equal(presence->devices[0].smi->name, "a_smi");
	assert_int_equal(presence->devices[0].smi->port_count, 2);
	assert_true(presence->devices[0].smi->has_planes);
}

/* The kernel is asked once; the next run knows the registration. */
static void planes_belong_to_their_parent(void **state)
{
	struct fixture *fixture = *state;

	add_planes(&fixture->tree);
	tree_write(&fixture->tree, "recorded/netlink/a_smi/parent", "mlx5_0\n");
	assert_planes(look(fixture));
	tree_remove(&fixture->tree, "recorded");
	assert_planes(look(fixture));
}

static void planes_have_no_uverbs(void **state)
{
	struct fixture *fixture = *state;

	add_planes(&fixture->tree);
	tree_write(&fixture->tree, PCI "/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n");
	assert_planes(look(fixture));
	fixture->presence = rna_part_unref(fixture->presence);
	tree_write(&fixture->tree, PCI "/infiniband_verbs/uverbs1/ibdev", "a_smi\n");
	assert_int_equal(look(fixture)->device_count, 2);
}

/* The answer of the kernel counts, whatever nodes there are. */
static void another_parent_is_none(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_presence *presence;

	add_planes(&fixture->tree);
	tree_write(&fixture->tree, PCI "/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n");
	tree_write(&fixture->tree, "recorded/netlink/a_smi/parent", "mlx5_9\n");
	presence = look(fixture);
	assert_int_equal(presence->device_count, 2);
	assert_null(presence->devices[0].smi);
	assert_null(presence->devices[1].smi);
}

static void virtual_devices_and_odd_entries(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_presence *presence;

	tree_mkdir(&fixture->tree, "sys/devices/virtual/infiniband/rxe9/ports/1");
	tree_link(&fixture->tree, CLASS "/rxe10", "../../devices/virtual/infiniband/rxe10");
	tree_link(&fixture->tree, CLASS "/rxe9", "../../devices/virtual/infiniband/rxe9");
	tree_link(&fixture->tree, CLASS "/gone", "../../devices/virtual/infiniband/gone");
	tree_write(&fixture->tree, CLASS "/abi_version", "6\n");
	tree_mkdir(&fixture->tree, CLASS "/od d\n");
	presence = look(fixture);
	assert_int_equal(presence->device_count, 2);
	assert_string_equal(presence->devices[0].name, "od d\n");
	assert_string_equal(presence->devices[1].name, "rxe9");
	assert_string_equal(presence->devices[1].key, "rxe9");
	assert_int_equal(presence->devices[1].function, RNA_FUNCTION_VIRTUAL);
	assert_int_equal(presence->devices[1].numa_node, -1);
	assert_null(presence->devices[1].pci_address);
	assert_null(presence->devices[1].driver);
}

static void add_interface(const struct tree *tree, const char *directory, const char *name,
			  const char *dev_port, const char *type)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s/dev_port", directory, name);
	tree_write(tree, path, dev_port);
	(void)snprintf(path, sizeof(path), "%s/%s/type", directory, name);
	tree_write(tree, path, type);
	(void)snprintf(path, sizeof(path), "%s/%s/operstate", directory, name);
	tree_write(tree, path, "up\n");
	(void)snprintf(path, sizeof(path), "%s/%s/carrier", directory, name);
	tree_write(tree, path, "1\n");
	(void)snprintf(path, sizeof(path), "%s/%s/speed", directory, name);
	tree_write(tree, path, "400000\n");
}

/* The VPD is a question to the device: it is asked once, and only of what may be such a one. */
static void switch_management_is_recognised_once(void **state)
{
	static const char vpd[] = "\x82\x0a\0ConnectX-7\x90\x10\0V3\x0dSMDL=SW_MNG\0\x78";
	struct fixture *fixture = *state;

	add_function(&fixture->tree);
	tree_write_bytes(&fixture->tree, PCI "/vpd", vpd, sizeof(vpd));
	assert_int_equal(look(fixture)->devices[0].function, RNA_FUNCTION_SWITCH_MANAGEMENT);
	tree_remove(&fixture->tree, PCI "/vpd");
	tree_fifo(&fixture->tree, PCI "/vpd"); /* reading it again would never end */
	assert_int_equal(look(fixture)->devices[0].function, RNA_FUNCTION_SWITCH_MANAGEMENT);

	fixture->presence = rna_part_unref(fixture->presence);
	tree_write(&fixture->tree, PCI "/device", "0x1023\n");
	assert_int_equal(look(fixture)->devices[0].function, RNA_FUNCTION_PF);
}

/* Where the VPD may not be read the subsystem decides; a VPD without the mark decides otherwise. */
static void switch_management_has_a_subsystem(void **state)
{
	static const char vpd[] = "\x82\x0a\0ConnectX-7\x78";
	struct fixture *fixture = *state;

	add_function(&fixture->tree);
	tree_write(&fixture->tree, PCI "/subsystem_vendor", "0x15b3\n");
	tree_write(&fixture->tree, PCI "/subsystem_device", "0x0087\n");
	assert_int_equal(look(fixture)->devices[0].function, RNA_FUNCTION_SWITCH_MANAGEMENT);

	fixture->presence = rna_part_unref(fixture->presence);
	tree_write(&fixture->tree, PCI "/subsystem_device", "0x0041\n");
	assert_int_equal(look(fixture)->devices[0].function, RNA_FUNCTION_PF);

	fixture->presence = rna_part_unref(fixture->presence);
	tree_write(&fixture->tree, PCI "/subsystem_device", "0x0087\n");
	tree_write_bytes(&fixture->tree, PCI "/vpd", vpd, sizeof(vpd));
	assert_int_equal(look(fixture)->devices[0].function, RNA_FUNCTION_PF);
}

/* In a virtual machine physfn is missing; the number of the PCI device tells. */
static void virtual_function_of_a_guest_is_known(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_device *device;

	add_function(&fixture->tree);
	tree_write(&fixture->tree, PCI "/device", "0x101e\n");
	device = &look(fixture)->devices[0];
	assert_int_equal(device->function, RNA_FUNCTION_GUEST_VF);
	assert_null(device->physical_function);
	assert_string_equal(device->key, "0000:3b:00.0");
	assert_true(rna_device_is_nic(device));

	tree_link(&fixture->tree, PCI "/physfn", "../0000:3b:00.7");
	device = &look(fixture)->devices[0];
	assert_int_equal(device->function, RNA_FUNCTION_VF);
	assert_false(rna_device_is_nic(device));
	assert_false(rna_driver_takes_as_virtual(0x14e4, 0x101e));
}

/* One whose number is new: it has the capabilities of a link, and no link. */
static void link_without_lanes_is_that_of_a_guest(void **state)
{
	static const struct {
		const char *lanes, *most; /* NULL: no such file */
		enum rna_function function;
	} cases[] = {
		{"0\n", "16\n", RNA_FUNCTION_GUEST_VF}, {"16\n", "16\n", RNA_FUNCTION_PF},
		{"8\n", "16\n", RNA_FUNCTION_PF},       {"0\n", "0\n", RNA_FUNCTION_PF},
		{"0\n", NULL, RNA_FUNCTION_PF},         {NULL, "16\n", RNA_FUNCTION_PF},
		{"63\n", "16\n", RNA_FUNCTION_PF}, /* it does not answer */
	};
	struct fixture *fixture = *state;

	add_function(&fixture->tree);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		fixture->presence = rna_part_unref(fixture->presence);
		tree_write(&fixture->tree, PCI "/current_link_width",
			   cases[i].lanes ? cases[i].lanes : "");
		tree_write(&fixture->tree, PCI "/max_link_width",
			   cases[i].most ? cases[i].most : "");
		if (!cases[i].lanes)
			tree_remove(&fixture->tree, PCI "/current_link_width");
		if (!cases[i].most)
			tree_remove(&fixture->tree, PCI "/max_link_width");
		assert_int_equal(look(fixture)->devices[0].function, cases[i].function);
		assert_int_equal(look(fixture)->devices[0].function, cases[i].function);
	}
}

/* The port above has lanes: those of the function could not be read. */
static void link_without_lanes_at_one_end(void **state)
{
	struct fixture *fixture = *state;

	add_function(&fixture->tree);
	tree_write(&fixture->tree, PCI "/current_link_width", "0\n");
	tree_write(&fixture->tree, PCI "/max_link_width", "16\n");
	tree_write(&fixture->tree, PCI "/../current_link_width", "16\n");
	assert_int_equal(look(fixture)->devices[0].function, RNA_FUNCTION_PF);
	fixture->presence = rna_part_unref(fixture->presence);
	tree_write(&fixture->tree, PCI "/../current_link_width", "0\n");
	assert_int_equal(look(fixture)->devices[0].function, RNA_FUNCTION_GUEST_VF);
}

/* On a host the physical function is known, and so is that the other one is virtual. */
static void link_without_lanes_beside_a_physical_function(void **state)
{
	struct fixture *fixture = *state;

	add_function(&fixture->tree);
	tree_write(&fixture->tree, PCI "/current_link_width", "0\n");
	tree_write(&fixture->tree, PCI "/max_link_width", "16\n");
	tree_link(&fixture->tree, PCI "/physfn", "../0000:3b:00.7");
	assert_int_equal(look(fixture)->devices[0].function, RNA_FUNCTION_VF);
}

/* Physical functions of the tables of mlx5_core, bnxt_en, ice, hns3, ionic and efa. */
static void physical_functions_are_no_virtual_ones(void **state)
{
	static const uint32_t functions[][2] = {
		{0x15b3, 0x1011}, {0x15b3, 0x1013}, {0x15b3, 0x1015}, {0x15b3, 0x1017},
		{0x15b3, 0x1019}, {0x15b3, 0x101b}, {0x15b3, 0x101d}, {0x15b3, 0x101f},
		{0x15b3, 0x1021}, {0x15b3, 0x1023}, {0x15b3, 0x1025}, {0x15b3, 0xa2d2},
		{0x15b3, 0xa2d6}, {0x15b3, 0xa2dc}, {0x15b3, 0xa2df}, {0x14e4, 0x1614},
		{0x14e4, 0x16d7}, {0x14e4, 0x1750}, {0x14e4, 0x1751}, {0x14e4, 0x1752},
		{0x8086, 0x1592}, {0x8086, 0x159b}, {0x19e5, 0xa222}, {0x1dd8, 0x1002},
		{0x1d0f, 0xefa1}, {0, 0},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(functions); i++)
		assert_false(rna_driver_takes_as_virtual(functions[i][0], functions[i][1]));
	assert_true(rna_driver_takes_as_virtual(0x14e4, 0x16dc));
	assert_true(rna_driver_takes_as_virtual(0x14e4, 0xd800));
	assert_true(rna_driver_takes_as_virtual(0x1414, 0x00ba));
	assert_false(rna_driver_takes_as_virtual(0x1414, 0x00b9));
}

/* Looks with other filters; each list has one glob at most. */
static const struct rna_presence *look_with(struct fixture *fixture, const char *include,
					    const char *exclude)
{
	char *includes[] = {(char *)(uintptr_t)include, NULL};
	char *excludes[] = {(char *)(uintptr_t)exclude, NULL};

	(void)rna_device_filter_unref(fixture->filter);
	fixture->filter = rna_device_filter_new(includes, excludes);
	assert_non_null(fixture->filter);
	return look(fixture);
}

static void assert_watched(struct fixture *fixture, const char *include, const char *exclude,
			   const char *watched)
{
	const struct rna_presence *presence = look_with(fixture, include, exclude);

	assert_true(presence->stack);
	if (!watched) {
		assert_int_equal(presence->device_count, 0);
		assert_int_equal(presence->excluded_count, 2);
		return;
	}
	assert_int_equal(presence->device_count, 1);
	assert_int_equal(presence->excluded_count, 1);
	assert_string_equal(presence->devices[0].name, watched);
}

enum { DEVICES_MOST = 4096, PORTS_MOST = 8192 };

#define TOO_MANY                                                                                   \
	"more than 4096 RDMA devices or 8192 ports; the first ones are watched; select devices "   \
	"by devices.include or devices.exclude"

/* Links directory/PREFIXn, for n below count. */
static void link_many(const struct tree *tree, const char *directory, const char *prefix,
		      unsigned count, const char *target)
{
	RNA_CLOSE int fd = rna_root_openat(tree->root, directory, O_RDONLY | O_DIRECTORY);
	char name[32];

	for (unsigned i = 0; i < count; i++) {
		(void)snprintf(name, sizeof(name), "%s%u", prefix, i);
		assert_int_equal(symlinkat(target, fd, name), 0);
	}
}

static void more_devices_than_are_watched(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_presence *presence;
	double start;

	tree_mkdir(&fixture->tree, "sys/devices/virtual/infiniband/rxe/ports/1");
	tree_mkdir(&fixture->tree, CLASS);
	link_many(&fixture->tree, CLASS, "rxe", DEVICES_MOST + 2,
		  "../../devices/virtual/infiniband/rxe");
	start = effort();
	presence = look(fixture);
	assert_int_equal(presence->device_count, DEVICES_MOST);
	assert_string_equal(presence->devices[DEVICES_MOST - 1].name, "rxe4095");
	assert_string_equal(presence->problem, TOO_MANY);
	presence = look_with(fixture, NULL, "rxe10*");
	assert_null(presence->problem);
	assert_little_effort(start);
}

static void more_ports_than_are_watched(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_presence *presence;

	tree_mkdir(&fixture->tree, "sys/devices/virtual/infiniband/rxe0/ports/1");
	tree_link(&fixture->tree, CLASS "/rxe0", "../../devices/virtual/infiniband/rxe0");
	tree_mkdir(&fixture->tree, "sys/devices/virtual/infiniband/rxe1/ports");
	tree_link(&fixture->tree, CLASS "/rxe1", "../../devices/virtual/infiniband/rxe1");
	link_many(&fixture->tree, "sys/devices/virtual/infiniband/rxe1/ports", "", PORTS_MOST + 1,
		  ".");
	presence = look(fixture);
	assert_int_equal(presence->device_count, 1);
	assert_string_equal(presence->problem, TOO_MANY);
}

static void filters_go_by_each_name(void **state)
{
	struct fixture *fixture = *state;

	add_function(&fixture->tree);
	add_interface(&fixture->tree, PCI "/net", "eth5", "0\n", "1\n");
	tree_mkdir(&fixture->tree, "sys/devices/virtual/infiniband/rxe9/ports/1");
	tree_link(&fixture->tree, CLASS "/rxe9", "../../devices/virtual/infiniband/rxe9");

	assert_int_equal(look_with(fixture, NULL, NULL)->device_count, 2);
	assert_int_equal(look_with(fixture, "*", "nothing")->excluded_count, 0);
	assert_watched(fixture, "mlx5_*", NULL, "mlx5_0");
	assert_watched(fixture, "0000:3b:*", NULL, "mlx5_0");
	assert_watched(fixture, "eth[0-9]", NULL, "mlx5_0");
	assert_watched(fixture, NULL, "rxe?", "mlx5_0");
	assert_watched(fixture, NULL, "eth5", "rxe9");
	assert_watched(fixture, NULL, "*:3b:00.0", "rxe9");
	assert_watched(fixture, "*", "mlx5_0", "rxe9"); /* exclude wins */
	assert_watched(fixture, "mlx5_0", "eth5", NULL);
	assert_watched(fixture, "mlx", NULL, NULL); /* the whole name */
}

/* mlx5_bond_0 is known by bond0, which its interface is in. */
static void filters_know_the_bond(void **state)
{
	struct fixture *fixture = *state;

	add_function(&fixture->tree);
	add_interface(&fixture->tree, PCI "/net", "eth5", "0\n", "1\n");
	tree_link(&fixture->tree, PCI "/net/eth5/master", "../../../../virtual/net/bond0");
	tree_mkdir(&fixture->tree, "sys/devices/virtual/infiniband/rxe9/ports/1");
	tree_link(&fixture->tree, CLASS "/rxe9", "../../devices/virtual/infiniband/rxe9");
	assert_watched(fixture, "bond?", NULL, "mlx5_0");
	assert_watched(fixture, NULL, "bond0", "rxe9");
	assert_watched(fixture, NULL, "eth5", "rxe9");
	assert_int_equal(look_with(fixture, NULL, "bond1")->excluded_count, 0);
}

/* Filters decide of an SMI device as of its parent; only an exclude may name it alone. */
static void assert_planes_follow_filters(struct fixture *fixture)
{
	assert_planes(look_with(fixture, "mlx5_*", NULL));
	assert_int_equal(look_with(fixture, "mlx5_0", NULL)->excluded_count, 0);
	assert_planes(look_with(fixture, NULL, "rxe*"));
	assert_planes(look_with(fixture, "0000:3b:*", NULL));

	assert_int_equal(look_with(fixture, NULL, "mlx5_0")->device_count, 0);
	assert_int_equal(look_with(fixture, NULL, "mlx5_0")->excluded_count, 1);
	assert_int_equal(look_with(fixture, "rxe*", NULL)->device_count, 0);
	assert_int_equal(look_with(fixture, "a_smi", NULL)->device_count, 0);
	assert_int_equal(look_with(fixture, "*", "mlx5_*")->device_count, 0);

	assert_int_equal(look_with(fixture, NULL, "a_smi")->device_count, 1);
	assert_string_equal(look_with(fixture, NULL, "a_smi")->devices[0].name, "mlx5_0");
	assert_null(look_with(fixture, NULL, "a_smi")->devices[0].smi);
}

static void planes_follow_the_filters_of_their_parent(void **state)
{
	struct fixture *fixture = *state;

	add_planes(&fixture->tree);
	tree_write(&fixture->tree, PCI "/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n");
	assert_planes_follow_filters(fixture);
	tree_remove(&fixture->tree, PCI "/infiniband_verbs");
	tree_write(&fixture->tree, "recorded/netlink/a_smi/parent", "mlx5_0\n");
	tree_write(&fixture->tree, "recorded/netlink/mlx5_0/parent", "\n");
	assert_planes_follow_filters(fixture);
}

/* A device that could not be looked at is not gone: all of its kind, or nothing is said. */
static void want_of_descriptors_takes_no_device_away(void **state)
{
	struct fixture *fixture = *state;
	struct rna_collect_input in = {.root = fixture->tree.root, .backends = fixture->backends};
	int refused = 0;

	add_function(&fixture->tree);
	for (int more = 0; more < 5; more++) {
		struct rna_error error = {0};
		struct rna_part *part = NULL;
		const struct rna_presence *presence;
		int status;

		tree_allow_descriptors(more);
		status = rna_collect_presence(&in, &part, &error);
		tree_allow_descriptors(-1);
		presence = (const struct rna_presence *)part;
		assert_true(status == 0 || status == -EMFILE);
		refused += status < 0;
		if (status == 0) {
			assert_int_equal(presence->device_count, 1);
			assert_string_equal(presence->devices[0].key, "0000:3b:00.0");
			assert_int_equal(presence->devices[0].port_count, 1);
			assert_string_equal(presence->devices[0].driver, "mlx5_core");
		}
		(void)rna_part_unref(part);
	}
	assert_in_range(refused, 1, 4);
}

/* A file that is never answered would hold up all of presence. */
static void nothing_is_read_of_excluded_devices(void **state)
{
	static const char *const files[] = {PCI "/vendor", PCI "/device", PCI "/numa_node"};
	struct fixture *fixture = *state;

	add_function(&fixture->tree);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(files); i++) {
		tree_remove(&fixture->tree, files[i]);
		tree_fifo(&fixture->tree, files[i]);
	}
	assert_int_equal(look_with(fixture, NULL, "mlx5_0")->excluded_count, 1);
}

static void gid_names_the_interface(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_netdevs *netdevs;

	add_function(&fixture->tree);
	tree_write(&fixture->tree, PCI "/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0",
		   "fifteen_letters\n"); /* the longest name there is */
	add_interface(&fixture->tree, "sys/class/net", "fifteen_letters", "0\n", "1\n");
	add_interface(&fixture->tree, "sys/class/net", "veth0", "0\n", "1\n");
	netdevs = look_at_netdevs(fixture);
	assert_int_equal(netdevs->port_count, 1);
	assert_string_equal(netdevs->ports[0].device, "mlx5_0");
	assert_string_equal(netdevs->ports[0].netdev, "fifteen_letters");
	assert_int_equal(netdevs->ports[0].source, RNA_NETDEV_BY_GID);
	assert_int_equal(netdevs->count, 1); /* veth0 serves no port */
	assert_int_equal(netdevs->netdevs[0].operstate, RNA_OPER_UP);
	assert_int_equal(netdevs->netdevs[0].carrier.number, 1);
	assert_int_equal(netdevs->netdevs[0].speed.number, UINT64_C(400000000000));
	assert_int_equal(rna_part_error_count(&netdevs->part), 0);
}

static void dev_port_tells_two_ports_apart(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_netdevs *netdevs;

	add_function(&fixture->tree);
	tree_mkdir(&fixture->tree, PCI "/infiniband/mlx5_0/ports/2");
	add_interface(&fixture->tree, PCI "/net", "eth5", "0\n", "1\n");
	add_interface(&fixture->tree, PCI "/net", "eth4", "1\n", "1\n");
	tree_link(&fixture->tree, "sys/class/net/eth5", UP_THREE PCI "/net/eth5");
	tree_link(&fixture->tree, "sys/class/net/eth4", UP_THREE PCI "/net/eth4");
	netdevs = look_at_netdevs(fixture);
	assert_int_equal(netdevs->port_count, 2);
	assert_string_equal(netdevs->ports[0].netdev, "eth5");
	assert_string_equal(netdevs->ports[1].netdev, "eth4");
	assert_int_equal(netdevs->ports[1].source, RNA_NETDEV_BY_DEV_PORT);
	assert_string_equal(netdevs->netdevs[0].name, "eth4"); /* sorted */
}

static void ipoib_is_recognised(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_netdevs *netdevs;

	add_function(&fixture->tree);
	add_interface(&fixture->tree, PCI "/net", "ib0", "0\n", "32\n");
	tree_link(&fixture->tree, "sys/class/net/ib0", UP_THREE PCI "/net/ib0");
	netdevs = look_at_netdevs(fixture);
	assert_string_equal(netdevs->ports[0].netdev, "ib0");
	assert_int_equal(netdevs->ports[0].source, RNA_NETDEV_BY_IPOIB);
}

static void parent_of_rxe_and_its_bond(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_netdevs *netdevs;

	tree_mkdir(&fixture->tree, CLASS "/rxe0/ports/1");
	tree_write(&fixture->tree, CLASS "/rxe0/parent", "eth0\n");
	add_interface(&fixture->tree, "sys/class/net", "eth0", "0\n", "1\n");
	add_interface(&fixture->tree, "sys/class/net", "bond0", "0\n", "1\n");
	tree_link(&fixture->tree, "sys/class/net/eth0/master", "../bond0");
	netdevs = look_at_netdevs(fixture);
	assert_int_equal(netdevs->port_count, 1);
	assert_int_equal(netdevs->ports[0].source, RNA_NETDEV_BY_PARENT);
	assert_int_equal(netdevs->count, 2);
	assert_string_equal(netdevs->netdevs[0].name, "bond0");
	assert_string_equal(netdevs->netdevs[1].master, "bond0");
}

/* A GID may name an interface of another network namespace; the next way may know better. */
static void interface_that_is_not_here_is_not_listed(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_netdevs *netdevs;

	add_function(&fixture->tree);
	tree_write(&fixture->tree, PCI "/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", "far0\n");
	netdevs = look_at_netdevs(fixture);
	assert_int_equal(netdevs->port_count, 0);
	assert_int_equal(netdevs->count, 0);
	tree_write(&fixture->tree, PCI "/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0",
		   "../../etc\n");
	assert_int_equal(look_at_netdevs(fixture)->port_count, 0);
}

/* One function, whose device vanished in the way that a case writes down. */
static void bare_functions_tell_where_their_device_is(void **state)
{
	static const struct {
		bool function, driver;
		const char *file; /* below the function */
		enum rna_whereabouts whereabouts;
	} cases[] = {
		{false, false, NULL, RNA_WHEREABOUTS_LOST},
		{true, false, NULL, RNA_WHEREABOUTS_UNBOUND},
		{true, true, NULL, RNA_WHEREABOUTS_UNBOUND},
		{true, true, "mlx5_core.rdma.0/uevent", RNA_WHEREABOUTS_UNBOUND},
		{true, true, "mlx5_core.rdma.0/driver", RNA_WHEREABOUTS_MOVED},
		{true, true, "mlx5_core.eth.0/driver", RNA_WHEREABOUTS_UNBOUND},
		{true, true, "infiniband/none", RNA_WHEREABOUTS_MOVED},
	};
	const char *address = "0000:3b:00.0";
	const struct rna_texts wanted = {.count = 1, .items = &address};
	struct fixture *fixture = *state;

	fixture->functions = &wanted;
	tree_mkdir(&fixture->tree, CLASS);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		const struct rna_presence *presence;
		char path[128];

		tree_mkdir(&fixture->tree, PCI);
		tree_mkdir(&fixture->tree, "sys/bus/pci/devices");
		if (cases[i].function)
			tree_link(&fixture->tree, "sys/bus/pci/devices/0000:3b:00.0",
				  "../../../../" PCI);
		if (cases[i].driver)
			tree_write(&fixture->tree, PCI "/driver", "");
		(void)snprintf(path, sizeof(path), PCI "/%s", cases[i].file);
		if (cases[i].file)
			tree_write(&fixture->tree, path, "");
		presence = look(fixture);
		assert_int_equal(presence->bare_count, 1);
		assert_string_equal(presence->bare[0].pci_address, address);
		if (presence->bare[0].whereabouts != cases[i].whereabouts)
			fail_msg("case %zu: %s", i,
				 rna_whereabouts_name(presence->bare[0].whereabouts));
		tree_remove(&fixture->tree, PCI);
		tree_remove(&fixture->tree, "sys/bus");
	}
}

static void functions_with_a_device_are_not_bare(void **state)
{
	const char *addresses[] = {"0000:3b:00.0", "0000:5e:00.0"};
	const struct rna_texts wanted = {.count = 2, .items = addresses};
	struct fixture *fixture = *state;
	const struct rna_presence *presence;

	fixture->functions = &wanted;
	add_function(&fixture->tree);
	presence = look(fixture);
	assert_int_equal(presence->bare_count, 1);
	assert_string_equal(presence->bare[0].pci_address, "0000:5e:00.0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(last_pci_address_is_found),
		cmocka_unit_test(keys_tell_devices_apart),
		cmocka_unit_test(port_numbers_are_taken_from_names),
		cmocka_unit_test(guids_are_checked),
		cmocka_unit_test_setup_teardown(no_stack_is_a_fact, setup, teardown),
		cmocka_unit_test_setup_teardown(function_is_described, setup, teardown),
		cmocka_unit_test_setup_teardown(virtual_function_names_its_parent, setup, teardown),
		cmocka_unit_test_setup_teardown(virtual_function_stays_one, setup, teardown),
		cmocka_unit_test_setup_teardown(subfunction_has_a_key_of_its_own, setup, teardown),
		cmocka_unit_test_setup_teardown(switch_management_has_a_subsystem, setup, teardown),
		cmocka_unit_test(physical_functions_are_no_virtual_ones),
		cmocka_unit_test_setup_teardown(virtual_function_of_a_guest_is_known, setup,
						teardown),
		cmocka_unit_test_setup_teardown(link_without_lanes_is_that_of_a_guest, setup,
						teardown),
		cmocka_unit_test_setup_teardown(link_without_lanes_at_one_end, setup, teardown),
		cmocka_unit_test_setup_teardown(link_without_lanes_beside_a_physical_function,
						setup, teardown),
		cmocka_unit_test_setup_teardown(planes_belong_to_their_parent, setup, teardown),
		cmocka_unit_test_setup_teardown(planes_have_no_uverbs, setup, teardown),
		cmocka_unit_test_setup_teardown(another_parent_is_none, setup, teardown),
		cmocka_unit_test_setup_teardown(two_devices_on_one_function_differ, setup,
						teardown),
		cmocka_unit_test_setup_teardown(virtual_devices_and_odd_entries, setup, teardown),
		cmocka_unit_test_setup_teardown(switch_management_is_recognised_once, setup,
						teardown),
		cmocka_unit_test_setup_teardown(more_devices_than_are_watched, setup, teardown),
		cmocka_unit_test_setup_teardown(more_ports_than_are_watched, setup, teardown),
		cmocka_unit_test_setup_teardown(filters_go_by_each_name, setup, teardown),
		cmocka_unit_test_setup_teardown(planes_follow_the_filters_of_their_parent, setup,
						teardown),
		cmocka_unit_test_setup_teardown(filters_know_the_bond, setup, teardown),
		cmocka_unit_test_setup_teardown(want_of_descriptors_takes_no_device_away, setup,
						teardown),
		cmocka_unit_test_setup_teardown(nothing_is_read_of_excluded_devices, setup,
						teardown),
		cmocka_unit_test_setup_teardown(bare_functions_tell_where_their_device_is, setup,
						teardown),
		cmocka_unit_test_setup_teardown(functions_with_a_device_are_not_bare, setup,
						teardown),
		cmocka_unit_test_setup_teardown(gid_names_the_interface, setup, teardown),
		cmocka_unit_test_setup_teardown(dev_port_tells_two_ports_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(ipoib_is_recognised, setup, teardown),
		cmocka_unit_test_setup_teardown(parent_of_rxe_and_its_bond, setup, teardown),
		cmocka_unit_test_setup_teardown(interface_that_is_not_here_is_not_listed, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
