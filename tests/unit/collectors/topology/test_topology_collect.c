// SPDX-License-Identifier: Apache-2.0
/* collectors/topology: odd trees, virtual devices, and XML files that are of no use. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "rna/base/strbuf.h"
#include "rna/model/topology.h"

#include "backend/backends.h"
#include "parse/pci.h"

#include "collectors.h"
#include "effort.h"
#include "tree.h"

#define GPU_CLASS  "0x030200"
#define NIC_CLASS  "0x020700"
#define ETHERNET   "0x020000"
#define NVIDIA     "0x10de"
#define MELLANOX   "0x15b3"
#define SOME_OTHER "0x8086"

/* Two host bridges and a switch; the second NIC is below a bridge of its own. */
#define XML_HEAD                                                                                   \
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"                                             \
	"<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"

#define MACHINE_WITH(devices)                                                                      \
	"<object type=\"Machine\" os_index=\"0\" cpuset=\"0x3\" complete_cpuset=\"0x3\" "          \
	"allowed_cpuset=\"0x3\" nodeset=\"0x1\" complete_nodeset=\"0x1\" allowed_nodeset=\"0x1\" " \
	"gp_index=\"1\">"                                                                          \
	"<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x3\" complete_cpuset=\"0x3\" "         \
	"nodeset=\"0x1\" complete_nodeset=\"0x1\" gp_index=\"2\" local_memory=\"1024\"/>"          \
	"<object type=\"PU\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" "               \
	"nodeset=\"0x1\" complete_nodeset=\"0x1\" gp_index=\"3\"/>"                                \
	"<object type=\"PU\" os_index=\"1\" cpuset=\"0x2\" complete_cpuset=\"0x2\" "               \
	"nodeset=\"0x1\" complete_nodeset=\"0x1\" gp_index=\"4\"/>"                                \
	"<object type=\"Bridge\" gp_index=\"5\" bridge_type=\"0-1\" depth=\"0\" "                  \
	"bridge_pci=\"0000:[00-02]\">"                                                             \
	"<object type=\"PCIDev\" gp_index=\"6\" pci_busid=\"0000:00:01.0\" "                       \
	"pci_type=\"0302 [10de:2330] [10de:16c1] a1\" pci_link_speed=\"63.0\"/>"                   \
	"<object type=\"PCIDev\" gp_index=\"7\" pci_busid=\"0000:00:02.0\" "                       \
	"pci_type=\"0207 [15b3:1021] [15b3:0041] 00\" pci_link_speed=\"63.0\">" devices            \
	"</object></object></object>"

/* An RDMA device; infos: of its GUIDs and ports. */
#define RDMA(name, infos)                                                                          \
	"<object type=\"OSDev\" name=\"" name "\" osdev_type=\"3\">" infos "</object>"
#define INFO(name, value) "<info name=\"" name "\" value=\"" value "\"/>"

#define MACHINE MACHINE_WITH(RDMA("mlx5_0", ""))
#define SETS    " cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\""

#define XML(attributes) XML_HEAD "<topology" attributes ">" MACHINE "</topology>\n"
#define XML_WITH(devices)                                                                          \
	XML_HEAD "<topology version=\"2.0\">" MACHINE_WITH(devices) "</topology>\n"

static void add_function(const struct tree *tree, const char *way, const char *class_id,
			 const char *vendor)
{
	const char *address = strrchr(way, '/') + 1;
	char path[512], target[512];

	(void)snprintf(path, sizeof(path), "sys/devices/%s/class", way);
	tree_write(tree, path, class_id);
	(void)snprintf(path, sizeof(path), "sys/devices/%s/vendor", way);
	tree_write(tree, path, vendor);
	(void)snprintf(path, sizeof(path), "sys/bus/pci/devices/%s", address);
	(void)snprintf(target, sizeof(target), "../../../devices/%s", way);
	tree_link(tree, path, target);
}

static void set_node(const struct tree *tree, const char *way, const char *node)
{
	char path[512];

	(void)snprintf(path, sizeof(path), "sys/devices/%s/numa_node", way);
	tree_write(tree, path, node);
}

static void add_interface(const struct tree *tree, const char *name, const char *way)
{
	char path[512], target[512];

	(void)snprintf(path, sizeof(path), "sys/devices/%s/net/%s/flags", way, name);
	tree_write(tree, path, "0x1003");
	(void)snprintf(path, sizeof(path), "sys/class/net/%s", name);
	(void)snprintf(target, sizeof(target), "../../devices/%s/net/%s", way, name);
	tree_link(tree, path, target);
}

/* hwloc_xml, previous: may be NULL. */
static struct rna_part *collect_from(const struct rna_root *root, const char *hwloc_xml,
				     const struct rna_part *previous)
{
	RNA_CLEANUP(rna_backends_free_p) struct rna_backends *backends = rna_backends_new(root);
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *presence = NULL;
	struct rna_collect_input in = {
		.root = root,
		.backends = backends,
		.previous = previous,
	};
	struct rna_part *part;

	if (hwloc_xml)
		assert_int_equal(rna_backends_set_hwloc_xml(backends, hwloc_xml), 0);
	assert_int_equal(rna_collect_presence(&in, &presence, NULL), 0);
	in.presence = (const struct rna_presence *)presence;
	assert_int_equal(rna_collect_topology(&in, &part, NULL), 0);
	return part;
}

static struct rna_part *collect_after(const struct tree *tree, const char *hwloc_xml,
				      const struct rna_part *previous)
{
	return collect_from(tree->root, hwloc_xml, previous);
}

struct fixture {
	struct tree tree;
	struct rna_part *part;
	const struct rna_topology *topology;
};

static void collect(struct fixture *fixture)
{
	struct rna_part *part = collect_after(&fixture->tree, NULL, fixture->part);

	(void)rna_part_unref(fixture->part);
	fixture->part = part;
	fixture->topology = (const struct rna_topology *)part;
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	tree_init(&fixture->tree);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	(void)rna_part_unref(fixture->part);
	tree_deinit(&fixture->tree);
	free(fixture);
	return 0;
}

static const char *address_of(const struct rna_topology *topology, unsigned object)
{
	return topology->objects[object].address;
}

/* -- Functions --------------------------------------------------------------------------------- */

static void nodes_without_pci_are_fine(void **state)
{
	struct fixture *fixture = *state;

	collect(fixture);
	assert_int_equal(fixture->topology->object_count, 0);
	assert_int_equal(fixture->topology->nic_count, 0);
	assert_null(fixture->topology->problem);
	assert_false(fixture->topology->hwloc);
}

static void functions_are_told_by_class_and_vendor(void **state)
{
	static const struct {
		const char *class_id, *vendor;
		size_t gpus, nics;
	} rows[] = {
		{GPU_CLASS, NVIDIA, 1, 0},      {"0x030000", NVIDIA, 1, 0},
		{"0x068000", NVIDIA, 0, 0},     {"0x040300", NVIDIA, 0, 0},
		{"0x030000", "0x1a03", 0, 0},   {"0x030000", "0x102b", 0, 0},
		{"0x030000", "0x1002", 1, 0},   {"0x038000", "0x1002", 1, 0},
		{"0x120000", "0x1002", 1, 0},   {"0x120000", "0x8086", 1, 0},
		{"0x120000", "0x1da3", 1, 0},   {"0x0b4000", "0x8086", 0, 0},
		{NIC_CLASS, MELLANOX, 0, 1},    {"0x020800", SOME_OTHER, 0, 1},
		{"0x0c0600", "0x1077", 0, 1},   {"0x028000", MELLANOX, 0, 1},
		{ETHERNET, MELLANOX, 0, 1},     {ETHERNET, "0x17db", 0, 1},
		{ETHERNET, SOME_OTHER, 0, 0},   {"nonsense", MELLANOX, 0, 0},
		{"0x038000", "0x1d94", 1, 0},   {"0x0b4000", "0x1d94", 1, 0},
		{"0x108000", "0x1d94", 0, 0},   {"0x120000", "0x17cb", 1, 0},
		{"0x120000", "0x1e36", 1, 0},   {"0x120000", "0x1e3e", 1, 0},
		{"0x120000", "0x1e52", 1, 0},   {"0x120000", "0x1ed2", 1, 0},
		{"0x120000", "0x1eff", 1, 0},   {"0x120000", "0xcabc", 1, 0},
		{"0x120000", "0x10ee", 0, 0},   {"0x030200", "0x1ed5", 1, 0},
		{"0x030000", "0x1ed5", 1, 0},   {"0x040100", "0x1ed5", 0, 0},
		{"0x038000", "0x9999", 1, 0},   {"0x120000", "0x19e5", 0, 0},
		{"0x020700ffffffff", "", 0, 0},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(rows); i++) {
		add_function(&fixture->tree, "pci0000:00/0000:00:01.0", rows[i].class_id,
			     rows[i].vendor);
		collect(fixture);
		assert_int_equal(fixture->topology->gpu_count, rows[i].gpus);
		assert_int_equal(fixture->topology->nic_count, rows[i].nics);
		tree_remove(&fixture->tree, "sys");
	}
}

/* Kunpeng processors have compression engines of the same class: a250. */
static void ascend_npus_are_told_by_device_id(void **state)
{
	static const struct {
		const char *device;
		size_t gpus;
	} rows[] = {
		{"0xd500", 1}, {"0xd801", 1}, {"0xd802", 1}, {"0xd803", 1},
		{"0xa250", 0}, {"0xa251", 0}, {"0x1711", 0},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(rows); i++) {
		add_function(&fixture->tree, "pci0000:00/0000:00:01.0", "0x120000", "0x19e5");
		tree_write(&fixture->tree, "sys/devices/pci0000:00/0000:00:01.0/device",
			   rows[i].device);
		collect(fixture);
		assert_int_equal(fixture->topology->gpu_count, rows[i].gpus);
		tree_remove(&fixture->tree, "sys");
	}
}

static void domains_have_up_to_eight_digits(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_topology *topology;

	add_function(&fixture->tree,
		     "pci0000:00/0000:00:0e.0/pci10000:00/10000:00:02.0/10000:01:00.0", NIC_CLASS,
		     MELLANOX);
	add_function(&fixture->tree, "pci10000:00/10000:00:03.0", GPU_CLASS, NVIDIA);
	add_function(&fixture->tree, "pci2000:00/2000:00:03.0", GPU_CLASS, NVIDIA);
	collect(fixture);
	topology = fixture->topology;
	assert_int_equal(topology->gpu_count, 2);
	assert_string_equal(address_of(topology, topology->gpus[0].object), "2000:00:03.0");
	assert_string_equal(address_of(topology, topology->gpus[1].object), "10000:00:03.0");
	assert_string_equal(address_of(topology, topology->nics[0].object), "10000:01:00.0");
	assert_int_equal(rna_topology_path(topology, topology->gpus[1].object,
					   topology->nics[0].object),
			 RNA_PATH_PHB);
}

/* A file whose path ends so has an errno instead of a content. */
struct bad_file {
	const struct rna_root *root;
	const char *end;
	int error;
};

static int open_unless_bad(void *userdata, const char *path, int flags)
{
	const struct bad_file *bad = userdata;
	size_t len = strlen(path), end = strlen(bad->end);

	if (len >= end && strcmp(path + len - end, bad->end) == 0)
		return bad->error;
	return rna_root_openat(bad->root, path, flags);
}

/* Status of a run in which a file cannot be read. */
static int collect_despite(const struct tree *tree, const char *end, int error,
			   struct rna_part **ret, struct rna_error *ret_error)
{
	struct bad_file bad = {tree->root, end, error};
	RNA_CLEANUP(rna_root_close_p) struct rna_root *root = NULL;
	RNA_CLEANUP(rna_backends_free_p)
	struct rna_backends *backends = rna_backends_new(tree->root);
	struct rna_collect_input in = {.backends = backends};

	assert_int_equal(rna_root_open_through(tree->root, open_unless_bad, &bad, &root, NULL), 0);
	in.root = root;
	return rna_collect_topology(&in, ret, ret_error);
}

static void an_unreadable_id_of_a_bridge_is_one_value(void **state)
{
	static const char bridge[] = "sys/devices/pci0000:00/0000:00:01.0";
	struct fixture *fixture = *state;
	const struct rna_topology *topology;
	char path[64];

	(void)snprintf(path, sizeof(path), "%s/vendor", bridge);
	tree_write(&fixture->tree, path, SOME_OTHER);
	(void)snprintf(path, sizeof(path), "%s/class", bridge);
	tree_write(&fixture->tree, path, "0x060400");
	add_function(&fixture->tree, "pci0000:00/0000:00:01.0/0000:01:00.0", NIC_CLASS, MELLANOX);
	assert_int_equal(collect_despite(&fixture->tree, "01.0/vendor", -EIO, &fixture->part, NULL),
			 0);
	topology = (const struct rna_topology *)fixture->part;
	assert_int_equal(topology->nic_count, 1);
	assert_string_equal(address_of(topology, 1), "0000:00:01.0");
	assert_int_equal(topology->objects[1].class_id, 0x0604);
	assert_int_equal(topology->objects[1].vendor_id, 0);
	assert_int_equal(fixture->part->errors[RNA_REASON_IO], 1);
}

/* Without a link and without config space a bridge may be one of conventional PCI. */
static void a_bridge_is_a_port_if_it_has_a_link(void **state)
{
	static const char bridge[] = "sys/devices/pci0000:00/0000:00:01.0";
	struct fixture *fixture = *state;
	char path[64];

	(void)snprintf(path, sizeof(path), "%s/class", bridge);
	tree_write(&fixture->tree, path, "0x060400");
	add_function(&fixture->tree, "pci0000:00/0000:00:01.0/0000:01:00.0", NIC_CLASS, MELLANOX);
	collect(fixture);
	assert_int_equal(fixture->topology->objects[1].role, RNA_PCI_BRIDGE);
	(void)snprintf(path, sizeof(path), "%s/max_link_speed", bridge);
	tree_write(&fixture->tree, path, "16.0 GT/s PCIe");
	collect(fixture);
	assert_int_equal(fixture->topology->objects[1].role, RNA_PCI_ROOT_PORT);
}

/* Without the function the others would get other rails. */
static void an_unreadable_id_of_a_function_fails_with_its_reason(void **state)
{
	static const struct {
		const char *end;
		int error;
		const char *text;
	} rows[] = {
		{"01:00.0/class", -EIO, "Input/output error"},
		{"01:00.0/vendor", -EIO, "Input/output error"},
		{"01.0/vendor", -EMFILE, "Too many open files"},
	};
	struct fixture *fixture = *state;
	struct rna_error error;

	tree_write(&fixture->tree, "sys/devices/pci0000:00/0000:00:01.0/vendor", SOME_OTHER);
	add_function(&fixture->tree, "pci0000:00/0000:00:01.0/0000:01:00.0", NIC_CLASS, MELLANOX);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(rows); i++) {
		assert_int_equal(collect_despite(&fixture->tree, rows[i].end, rows[i].error,
						 &fixture->part, &error),
				 rows[i].error);
		assert_non_null(strstr(error.text, rows[i].text));
	}
}

/* Links that lead to themselves, in a circle, elsewhere and nowhere; names that are no addresses.
 */
static void loops_and_nonsense_are_left_out(void **state)
{
	struct fixture *fixture = *state;

	tree_link(&fixture->tree, "sys/bus/pci/devices/0000:01:00.0", "0000:01:00.0");
	tree_link(&fixture->tree, "sys/bus/pci/devices/0000:02:00.0", "0000:03:00.0");
	tree_link(&fixture->tree, "sys/bus/pci/devices/0000:03:00.0", "0000:02:00.0");
	tree_link(&fixture->tree, "sys/bus/pci/devices/0000:04:00.0",
		  "../../../devices/pci0000:00/0000:05:00.0");
	tree_link(&fixture->tree, "sys/bus/pci/devices/0000:06:00.0",
		  "../../../devices/pci0000:00");
	tree_link(&fixture->tree, "sys/bus/pci/devices/0000:07:00.0", "/nowhere");
	tree_write(&fixture->tree, "sys/bus/pci/devices/README/class", NIC_CLASS);
	tree_link(&fixture->tree, "sys/class/net/eth0", "eth0");
	tree_link(&fixture->tree, "sys/devices/pci0000:00/0000:00:01.0/loop", "..");
	add_function(&fixture->tree, "pci0000:00/0000:00:01.0", NIC_CLASS, MELLANOX);
	collect(fixture);
	assert_int_equal(fixture->topology->nic_count, 1);
}

/* A tree that was copied without links: the functions are there, where they hang is not known. */
static void copies_without_links_have_functions(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_topology *topology;

	tree_write(&fixture->tree, "sys/bus/pci/devices/0000:01:00.0/class", GPU_CLASS);
	tree_write(&fixture->tree, "sys/bus/pci/devices/0000:01:00.0/vendor", NVIDIA);
	tree_write(&fixture->tree, "sys/bus/pci/devices/0000:02:00.0/class", NIC_CLASS);
	tree_write(&fixture->tree, "sys/bus/pci/devices/0000:02:00.0/vendor", MELLANOX);
	tree_write(&fixture->tree, "sys/devices/system/node/online", "0");
	collect(fixture);
	topology = fixture->topology;
	assert_int_equal(topology->gpu_count, 1);
	assert_int_equal(topology->nic_count, 1);
	assert_int_equal(rna_topology_path(topology, topology->gpus[0].object,
					   topology->nics[0].object),
			 RNA_PATH_UNKNOWN);
}

static void virtual_functions_are_a_number(void **state)
{
	enum { VFS = 600 };
	struct fixture *fixture = *state;
	struct timespec before, after;
	char way[64], path[128];

	add_function(&fixture->tree, "pci0000:00/0000:00:01.0/0000:01:00.0", NIC_CLASS, MELLANOX);
	for (unsigned i = 1; i <= VFS; i++) {
		(void)snprintf(way, sizeof(way), "pci0000:00/0000:00:01.0/0000:%02x:%02x.%u",
			       1 + (i >> 8), i >> 3 & 31, i & 7);
		add_function(&fixture->tree, way, NIC_CLASS, MELLANOX);
		(void)snprintf(path, sizeof(path), "sys/devices/%s/physfn", way);
		tree_link(&fixture->tree, path, "../0000:01:00.0");
	}
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	collect(fixture);
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	assert_true(after.tv_sec - before.tv_sec <
		    2); /* tens of milliseconds, under sanitizers too */
	assert_int_equal(fixture->topology->nic_count, 1);
	assert_int_equal(fixture->topology->nics[0].virtual_functions, VFS);
	assert_int_equal(fixture->topology->object_count, 3);
	/* in a VM the physical one is not there */
	tree_remove(&fixture->tree, "sys/bus/pci/devices/0000:01:00.0");
	collect(fixture);
	assert_int_equal(fixture->topology->nic_count, VFS);
}

static void locality_is_of_the_only_node_or_unknown(void **state)
{
	static const struct {
		const char *online;
		int node;
	} rows[] = {{"0", 0}, {"0-1", -1}, {"0,8", -1}, {"", -1}, {"x", -1}};
	struct fixture *fixture = *state;

	add_function(&fixture->tree, "pci0000:00/0000:00:01.0", NIC_CLASS, MELLANOX);
	set_node(&fixture->tree, "pci0000:00/0000:00:01.0", "-1");
	for (size_t i = 0; i < RNA_ARRAY_SIZE(rows); i++) {
		tree_write(&fixture->tree, "sys/devices/system/node/online", rows[i].online);
		collect(fixture);
		assert_int_equal(fixture->topology->objects[1].numa_node, rows[i].node);
	}
	set_node(&fixture->tree, "pci0000:00/0000:00:01.0", "1");
	tree_write(&fixture->tree, "sys/devices/system/node/node1/cpulist", "8-15,24");
	tree_write(&fixture->tree, "sys/devices/system/cpu/cpu8/topology/physical_package_id", "3");
	collect(fixture);
	assert_int_equal(fixture->topology->objects[1].numa_node, 1);
	assert_int_equal(fixture->topology->objects[1].package, 3);
	assert_int_equal(fixture->topology->objects[0].package, 3); /* the host bridge */
}

/* -- Devices and interfaces -------------------------------------------------------------------- */

/* rxe on a VLAN on a bond of two functions; and interfaces that are below themselves. */
static void virtual_devices_are_on_what_their_interface_is_made_of(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_topology *topology;

	add_function(&fixture->tree, "pci0000:00/0000:00:03.0", ETHERNET, SOME_OTHER);
	add_function(&fixture->tree, "pci0000:00/0000:00:04.0", ETHERNET, SOME_OTHER);
	add_function(&fixture->tree, "pci0000:00/0000:00:05.0", ETHERNET, SOME_OTHER);
	add_interface(&fixture->tree, "eth0", "pci0000:00/0000:00:03.0/virtio0");
	add_interface(&fixture->tree, "eth1", "pci0000:00/0000:00:04.0");
	tree_write(&fixture->tree, "sys/devices/virtual/net/bond0/flags", "0x1003");
	tree_link(&fixture->tree, "sys/class/net/bond0", "../../devices/virtual/net/bond0");
	tree_link(&fixture->tree, "sys/devices/virtual/net/bond0/lower_eth0", "..");
	tree_link(&fixture->tree, "sys/devices/virtual/net/bond0/lower_eth1", "..");
	tree_link(&fixture->tree, "sys/devices/virtual/net/bond0/lower_bond0", "../bond0");
	tree_write(&fixture->tree, "sys/devices/virtual/net/bond0.7/flags", "0x1003");
	tree_link(&fixture->tree, "sys/class/net/bond0.7", "../../devices/virtual/net/bond0.7");
	tree_link(&fixture->tree, "sys/devices/virtual/net/bond0.7/lower_bond0", "../bond0");
	tree_write(&fixture->tree, "sys/class/infiniband/rxe0/parent", "bond0.7");
	tree_mkdir(&fixture->tree, "sys/class/infiniband/rxe0/ports/1");
	tree_write(&fixture->tree, "sys/class/infiniband/siw0/ports/1/gid_attrs/ndevs/0", "eth1");
	tree_write(&fixture->tree, "sys/class/infiniband/siw1/parent", "../../etc");
	collect(fixture);
	topology = fixture->topology;
	assert_int_equal(topology->nic_count, 2); /* the third carries nothing */
	assert_int_equal(topology->nics[0].device_count, 1);
	assert_string_equal(topology->nics[0].devices[0], "rxe0");
	assert_string_equal(topology->nics[0].netdevs[0], "eth0");
	assert_int_equal(topology->nics[1].device_count, 2);
	assert_string_equal(topology->nics[1].devices[1], "siw0");
}

static void representors_and_subfunctions_are_not_interfaces_of_a_nic(void **state)
{
	struct fixture *fixture = *state;

	add_function(&fixture->tree, "pci0000:00/0000:00:03.0", ETHERNET, MELLANOX);
	add_interface(&fixture->tree, "p0", "pci0000:00/0000:00:03.0");
	add_interface(&fixture->tree, "pf0vf3", "pci0000:00/0000:00:03.0");
	add_interface(&fixture->tree, "sf88", "pci0000:00/0000:00:03.0/mlx5_core.sf.4");
	tree_write(&fixture->tree, "sys/devices/pci0000:00/0000:00:03.0/net/p0/phys_port_name",
		   "p0");
	tree_write(&fixture->tree, "sys/devices/pci0000:00/0000:00:03.0/net/pf0vf3/phys_port_name",
		   "pf0vf3");
	collect(fixture);
	assert_int_equal(fixture->topology->nics[0].netdev_count, 1);
	assert_string_equal(fixture->topology->nics[0].netdevs[0], "p0");
}

static void data_direct_is_found_by_the_uuid_of_the_chip(void **state)
{
	/* chips of one board, which has one serial number */
	static const char vpd[] = "\x82\x04\x00name\x90\x0e\x00SN\x04S123V3\x04U123\x78";
	static const char other[] = "\x90\x0e\x00SN\x04S123V3\x04U124\x78";
	struct fixture *fixture = *state;
	const struct rna_topology *topology;

	add_function(&fixture->tree, "pci0000:00/0000:00:03.0", NIC_CLASS, MELLANOX);
	add_function(&fixture->tree, "pci0000:00/0000:00:04.0", "0x080100", MELLANOX);
	add_function(&fixture->tree, "pci0000:00/0000:00:05.0", "0x080100", MELLANOX);
	tree_write(&fixture->tree, "sys/devices/pci0000:00/0000:00:04.0/device", "0x2100");
	tree_write(&fixture->tree, "sys/devices/pci0000:00/0000:00:05.0/device", "0x2100");
	collect(fixture);
	assert_int_equal(fixture->topology->nics[0].data_direct, RNA_NO_OBJECT);
	tree_write_bytes(&fixture->tree, "sys/devices/pci0000:00/0000:00:03.0/vpd", vpd,
			 sizeof(vpd) - 1);
	tree_write_bytes(&fixture->tree, "sys/devices/pci0000:00/0000:00:04.0/vpd", other,
			 sizeof(other) - 1);
	tree_write_bytes(&fixture->tree, "sys/devices/pci0000:00/0000:00:05.0/vpd", vpd,
			 sizeof(vpd) - 1);
	collect(fixture);
	topology = fixture->topology;
	assert_string_equal(address_of(topology, (unsigned)topology->nics[0].data_direct),
			    "0000:00:05.0");
	/* it is remembered: no device is asked a second time */
	tree_remove(&fixture->tree, "sys/devices/pci0000:00/0000:00:03.0/vpd");
	collect(fixture);
	topology = fixture->topology;
	assert_string_equal(address_of(topology, (unsigned)topology->nics[0].data_direct),
			    "0000:00:05.0");
}

/* Lengths that point behind the end, and no end at all. */
static void broken_vpd_has_no_uuid(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} rows[] = {
		{"", 0},
		{"\x90", 1},
		{"\x90\xff\xffV3\x04S123", 10},
		{"\x90\x07\x00V3\xffS123", 10},
		{"\x78", 1},
		{"\xff\xff\xff\xff\xff", 5},
		{"\x90\x03\x00V3", 5},
	};
	struct fixture *fixture = *state;
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(256);

	for (size_t i = 0; i < RNA_ARRAY_SIZE(rows); i++) {
		tree_write_bytes(&fixture->tree, "f/vpd", rows[i].bytes, rows[i].len);
		assert_null(rna_pci_read_uuid(fixture->tree.root, "f", arena));
	}
}

/* -- Hwloc ------------------------------------------------------------------------------------- */

static void xml_alone_is_a_topology(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_topology *topology;

	tree_write(&fixture->tree, "hwloc.xml", XML(" version=\"2.0\""));
	collect(fixture);
	collect(fixture); /* and stays one */
	topology = fixture->topology;
	assert_null(topology->problem);
	assert_true(topology->hwloc);
	assert_int_equal(topology->gpu_count, 1);
	assert_int_equal(topology->nic_count, 1);
	assert_string_equal(topology->nics[0].devices[0], "mlx5_0");
	assert_int_equal(topology->objects[0].numa_node, 0);
	assert_int_equal(topology->affinities[0].path, RNA_PATH_PHB);
}

/* The tree of the file counts, also where /sys has another. */
static void named_xml_is_the_tree(void **state)
{
	struct fixture *fixture = *state;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	const struct rna_topology *topology;
	char file[128];

	add_function(&fixture->tree, "pci0000:00/0000:00:01.0", GPU_CLASS, NVIDIA);
	add_function(&fixture->tree, "pci0001:00/0000:00:02.0", NIC_CLASS, MELLANOX);
	add_function(&fixture->tree, "pci0002:00/0002:00:02.0", NIC_CLASS, MELLANOX);
	tree_write(&fixture->tree, "elsewhere.xml", XML(" version=\"2.0\""));
	(void)snprintf(file, sizeof(file), "%s/elsewhere.xml", fixture->tree.path);
	part = collect_after(&fixture->tree, file, NULL);
	topology = (const struct rna_topology *)part;
	assert_int_equal(topology->nic_count, 2);
	assert_int_equal(topology->affinities[0].path, RNA_PATH_PHB);
	assert_int_equal(topology->affinities[0].nic, 0);
}

/* Of a live machine too: its functions are not those of the file, even at the same addresses. */
static void xml_of_an_empty_root_is_a_closed_world(void **state)
{
	struct fixture *fixture = *state;
	RNA_CLEANUP(rna_root_close_p) struct rna_root *root = NULL;
	char file[128];

	tree_write(&fixture->tree, "elsewhere.xml", XML(" version=\"2.0\""));
	(void)snprintf(file, sizeof(file), "%s/elsewhere.xml", fixture->tree.path);
	assert_int_equal(rna_root_open(rna_root_empty, &root, NULL), 0);
	fixture->part = collect_from(root, file, NULL);
	fixture->topology = (const struct rna_topology *)fixture->part;
	assert_null(fixture->topology->problem);
	assert_int_equal(fixture->topology->gpu_count, 1);
	assert_int_equal(fixture->topology->nic_count, 1);
	assert_string_equal(fixture->topology->nics[0].devices[0], "mlx5_0");
	assert_int_equal(fixture->topology->objects[1].numa_node, 0);
}

static const struct rna_nic *first_nic_of(struct fixture *fixture, const char *xml)
{
	RNA_CLEANUP(rna_root_close_p) struct rna_root *root = NULL;
	char file[128];

	tree_write(&fixture->tree, "elsewhere.xml", xml);
	(void)snprintf(file, sizeof(file), "%s/elsewhere.xml", fixture->tree.path);
	assert_int_equal(rna_root_open(rna_root_empty, &root, NULL), 0);
	(void)rna_part_unref(fixture->part);
	fixture->part = collect_from(root, file, NULL);
	fixture->topology = (const struct rna_topology *)fixture->part;
	assert_null(fixture->topology->problem);
	assert_int_equal(fixture->topology->nic_count, 1);
	return &fixture->topology->nics[0];
}

/* The planes of a ConnectX-8 are no devices, in whatever order lstopo has written them. */
static void smi_device_of_xml_is_no_nic(void **state)
{
#define GUID INFO("NodeGUID", "506b:4b03:0000:00a0")
#define HCA  RDMA("mlx5_0", GUID INFO("Port1State", "4"))
#define SMI  RDMA("smi0", GUID INFO("Port1State", "4") INFO("Port2State", "4"))
	static const char *const files[] = {XML_WITH(HCA SMI), XML_WITH(SMI HCA)};
	const struct rna_nic *nic;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(files); i++) {
		nic = first_nic_of(*state, files[i]);
		assert_int_equal(nic->device_count, 1);
		assert_string_equal(nic->devices[0], "mlx5_0");
	}
	/* Two ports, but no other device has its GUID; and a subfunction has a GUID of its own. */
	nic = first_nic_of(*state, XML_WITH(SMI));
	assert_string_equal(nic->devices[0], "smi0");
	nic = first_nic_of(*state, XML_WITH(SMI RDMA("mlx5_1", INFO("NodeGUID", "1:2:3:4"))));
	assert_int_equal(nic->device_count, 2);
}

/* What hwloc said stays known while the functions are the same, those that are left out as well. */
static void hwloc_is_asked_once(void **state)
{
	struct fixture *fixture = *state;

	add_function(&fixture->tree, "pci0000:00/0000:00:01.0", GPU_CLASS, NVIDIA);
	add_function(&fixture->tree, "pci0000:00/0000:00:03.0", ETHERNET, SOME_OTHER);
	tree_write(&fixture->tree, "hwloc.xml", XML(" version=\"2.0\""));
	collect(fixture);
	assert_int_equal(fixture->topology->objects[1].numa_node, 0);
	tree_write(&fixture->tree, "hwloc.xml", "broken");
	collect(fixture);
	assert_null(fixture->topology->problem);
	assert_int_equal(fixture->topology->objects[1].numa_node, 0);
	add_function(&fixture->tree, "pci0000:00/0000:00:02.0", NIC_CLASS, MELLANOX);
	collect(fixture);
	assert_non_null(fixture->topology->problem);
	assert_int_equal(fixture->topology->nic_count, 1);
}

static void files_of_no_use_are_explained(void **state)
{
	static const struct {
		const char *content, *problem;
	} rows[] = {
		{"", "hwloc.xml: file is empty; write it again"},
		{" \n", "hwloc.xml: file is empty; write it again"},
		{"<html>no</html>", "hwloc.xml: not an hwloc topology"},
		{XML(" version=\"4.0\""), /* hwloc 2.12 reads 3.0 */
		 "hwloc.xml: written by a newer hwloc than the library here"},
		{XML(" version=\"2.0\"><object type=\"?\""), "hwloc.xml: hwloc cannot parse it"},
		{XML_HEAD "<topology version=\"2.0\"><object type=\"Machine\"",
		 "hwloc.xml: hwloc cannot"},
		/* what libhwloc crashes or hangs on */
		{"<topology version=\"2.0", "hwloc.xml: hwloc cannot parse it"},
		{"<topology version=\"2.0\"><object type=\"Machine\" cpuset=\"0x1\" "
		 "complete_cpuset=\"0x1\" nodeset=\"0x1\"/></topology>",
		 "hwloc.xml: hwloc cannot parse it"},
		{"<topology version=\"2.0\"><object type=\"Bridge\" bridge_type=\"0-1\" "
		 "bridge_pci=\"0000:[00-02]\"/></topology>",
		 "hwloc.xml: hwloc cannot parse it"},
		{"<topology version=\"2.0\"><object type=\"Machine\"" SETS
		 "><object type=\"PU\"" SETS "/></object></topology>",
		 "hwloc.xml: hwloc cannot parse it"},
		{XML_HEAD "<topology version=\"2.0\"></topology>",
		 "hwloc.xml: hwloc cannot parse it"},
	};
	struct fixture *fixture = *state;

	add_function(&fixture->tree, "pci0000:00/0000:00:02.0", NIC_CLASS, MELLANOX);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(rows); i++) {
		tree_write(&fixture->tree, "hwloc.xml", rows[i].content);
		collect(fixture);
		assert_non_null(fixture->topology->problem);
		assert_memory_equal(fixture->topology->problem, rows[i].problem,
				    strlen(rows[i].problem));
		assert_false(fixture->topology->hwloc);
		assert_int_equal(fixture->topology->nic_count, 1); /* /sys goes on */
	}
	tree_remove(&fixture->tree, "hwloc.xml");
	tree_mkdir(&fixture->tree, "hwloc.xml");
	collect(fixture);
	assert_non_null(fixture->topology->problem);
}

static void repeat(struct rna_strbuf *out, size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++)
		rna_strbuf_puts(out, text);
}

static void want_problem(struct fixture *fixture, const struct rna_strbuf *xml, const char *problem)
{
	assert_true(rna_strbuf_ok(xml));
	tree_write(&fixture->tree, "hwloc.xml", xml->data);
	collect(fixture);
	assert_non_null(fixture->topology->problem);
	assert_memory_equal(fixture->topology->problem, problem, strlen(problem));
	assert_int_equal(fixture->topology->nic_count, 1); /* /sys goes on */
}

/* libhwloc itself ends with SIGSEGV for 200,000 levels. */
static void files_beyond_limits_are_explained(void **state)
{
	struct fixture *fixture = *state;
	RNA_STRBUF struct rna_strbuf deep = RNA_STRBUF_INIT, wide = RNA_STRBUF_INIT;

	add_function(&fixture->tree, "pci0000:00/0000:00:02.0", NIC_CLASS, MELLANOX);
	rna_strbuf_puts(&deep, XML_HEAD "<topology version=\"2.0\">");
	repeat(&deep, 200000, "<object type=\"Group\">");
	repeat(&deep, 200000, "</object>");
	rna_strbuf_puts(&deep, "</topology>\n");
	want_problem(fixture, &deep, "hwloc.xml: more than 64 levels of elements; write it again");
	rna_strbuf_puts(&wide, XML_HEAD "<topology version=\"2.0\">");
	repeat(&wide, 20001, "<object type=\"Group\"/>");
	rna_strbuf_puts(&wide, "</topology>\n");
	want_problem(fixture, &wide, "hwloc.xml: more than 20000 objects; write it again");
}

static void files_at_the_limits_are_read(void **state)
{
	struct fixture *fixture = *state;
	RNA_STRBUF struct rna_strbuf xml = RNA_STRBUF_INIT;
	double start = effort();

	add_function(&fixture->tree, "pci0000:00/0000:00:02.0", NIC_CLASS, MELLANOX);
	rna_strbuf_puts(&xml, XML(" version=\"2.0\""));
	xml.len = (size_t)(strstr(xml.data, "</object></object></topology>") - xml.data);
	for (unsigned i = 0; i < 19000; i++)
		rna_strbuf_printf(&xml, "<object type=\"Misc\" gp_index=\"%u\"/>", i + 100);
	repeat(&xml, 59, "<object type=\"Misc\">");
	repeat(&xml, 59, "</object>");
	rna_strbuf_puts(&xml, "</object></object></topology>\n");
	tree_write(&fixture->tree, "hwloc.xml", xml.data);
	collect(fixture);
	assert_null(fixture->topology->problem);
	assert_true(fixture->topology->hwloc);
	assert_little_effort(start);
}

static void a_named_file_must_be_there(void **state)
{
	struct fixture *fixture = *state;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;

	part = collect_after(&fixture->tree, "/does/not/exist.xml", NULL);
	assert_string_equal(((const struct rna_topology *)part)->problem,
			    "/does/not/exist.xml: cannot read: No such file or directory");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nodes_without_pci_are_fine),
		TEST(functions_are_told_by_class_and_vendor),
		TEST(ascend_npus_are_told_by_device_id),
		TEST(domains_have_up_to_eight_digits),
		TEST(an_unreadable_id_of_a_bridge_is_one_value),
		TEST(a_bridge_is_a_port_if_it_has_a_link),
		TEST(an_unreadable_id_of_a_function_fails_with_its_reason),
		TEST(loops_and_nonsense_are_left_out),
		TEST(copies_without_links_have_functions),
		TEST(virtual_functions_are_a_number),
		TEST(locality_is_of_the_only_node_or_unknown),
		TEST(virtual_devices_are_on_what_their_interface_is_made_of),
		TEST(representors_and_subfunctions_are_not_interfaces_of_a_nic),
		TEST(data_direct_is_found_by_the_uuid_of_the_chip),
		TEST(broken_vpd_has_no_uuid),
		TEST(xml_alone_is_a_topology),
		TEST(named_xml_is_the_tree),
		TEST(xml_of_an_empty_root_is_a_closed_world),
		TEST(smi_device_of_xml_is_no_nic),
		TEST(hwloc_is_asked_once),
		TEST(files_of_no_use_are_explained),
		TEST(files_beyond_limits_are_explained),
		TEST(files_at_the_limits_are_read),
		TEST(a_named_file_must_be_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
