// SPDX-License-Identifier: Apache-2.0
/*
 * Rules about devices that ought to be there by the node's own facts: which functions are convicted
 * by their siblings, and what excuses one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "config/settings_table.h"
#include "health/health.h"

#include "health_view.h"

#define IB     RNA_LINK_LAYER_INFINIBAND
#define SECOND RNA_USEC_PER_SEC
#define MINUTE (60 * SECOND)

enum { MANY = 512, NICS_MAX = MANY, IB_CLASS = 0x0207, ETHERNET_CLASS = 0x0200 };

struct nic {
	enum rna_nic_rdma rdma;
	const char *driver;
	const char *address; /* NULL: by its index */
	uint32_t class_id, vendor_id, device_id, subsystem;
	bool switch_management;
};

/* A node made by hand: NICs on the PCI bus, GPUs, and devices for those NICs that have one. */
struct bus {
	size_t nic_count, gpu_count;
	uint32_t gpu_class;
	enum rna_path_class path;
	struct nic nics[NICS_MAX];
	struct rna_value exclusive;
	size_t excluded;
	bool too_many; /* devices */
	bool no_stack;
	const char *remembered; /* the address of a device that is missing */
	const struct rna_module *modules;
	size_t module_count;
	size_t beside; /* so many NICs, the first ones, share a switch with the GPUs */
};

static char addresses[NICS_MAX][16], names[NICS_MAX][16];

static void init(struct bus *bus, size_t nics, size_t gpus)
{
	*bus = (struct bus){
		.nic_count = nics,
		.gpu_count = gpus,
		.gpu_class = 0x0302,
		.path = RNA_PATH_SYS,
	};
	for (size_t i = 0; i < nics; i++) {
		bus->nics[i] = (struct nic){
			.rdma = RNA_NIC_RDMA_PRESENT,
			.driver = "mlx5_core",
			.class_id = IB_CLASS,
			.vendor_id = 0x15b3,
			.device_id = 0x1021,
		};
		(void)snprintf(addresses[i], sizeof(addresses[i]), "%04zx:18:00.0", i);
		(void)snprintf(names[i], sizeof(names[i]), "mlx5_%zu", i);
	}
}

static struct rna_part *make_topology(const struct node *node, const struct bus *bus)
{
	struct rna_topology *part = node_part(node, RNA_COLLECTOR_TOPOLOGY, sizeof(*part));
	struct rna_arena *arena = part->part.arena;
	struct rna_pci_object *objects =
		rna_arena_array(arena, bus->nic_count + 2, sizeof(*objects));
	const int the_switch = 0; /* of the GPUs; the NICs follow, then the GPU */
	struct rna_nic *nics = rna_arena_array(arena, bus->nic_count + 1, sizeof(*nics));
	struct rna_gpu *gpus = rna_arena_array(arena, bus->gpu_count + 1, sizeof(*gpus));
	struct rna_gpu_affinity *affinities =
		rna_arena_array(arena, bus->gpu_count + 1, sizeof(*affinities));
	unsigned *nearest = rna_arena_array(arena, 1, sizeof(*nearest));

	objects[bus->nic_count + 1] = (struct rna_pci_object){
		.address = "0000:aa:00.0",
		.role = RNA_PCI_GPU,
		.parent = the_switch,
		.class_id = bus->gpu_class,
	};
	objects[the_switch] = (struct rna_pci_object){
		.address = "0000:a9:00.0",
		.role = RNA_PCI_ROOT_PORT,
		.parent = RNA_NO_OBJECT,
	};
	for (size_t i = 0; i < bus->nic_count; i++) {
		const struct nic *nic = &bus->nics[i];
		const char **device = rna_arena_array(arena, 1, sizeof(*device));

		*device = names[i];
		objects[i + 1] = (struct rna_pci_object){
			.address = nic->address ? nic->address : addresses[i],
			.role = RNA_PCI_NIC,
			.parent = i < bus->beside ? the_switch : RNA_NO_OBJECT,
			.class_id = nic->class_id,
			.vendor_id = nic->vendor_id,
			.device_id = nic->device_id,
		};
		nics[i] = (struct rna_nic){
			.object = (unsigned)i + 1,
			.rdma = nic->rdma,
			.driver = nic->driver,
			.subsystem = nic->subsystem,
			.switch_management = nic->switch_management,
			.data_direct = RNA_NO_OBJECT,
			.device_count = nic->rdma == RNA_NIC_RDMA_PRESENT,
			.devices = device,
			.rail = -1,
		};
	}
	for (size_t i = 0; i < bus->gpu_count; i++) {
		gpus[i].object = (unsigned)bus->nic_count + 1;
		affinities[i] = (struct rna_gpu_affinity){
			.nearest_count = bus->nic_count > 0,
			.nearest = nearest,
			.path = bus->path,
			.nic = -1,
		};
	}
	part->objects = objects;
	part->object_count = bus->nic_count + 2;
	part->nics = nics;
	part->nic_count = bus->nic_count;
	part->gpus = gpus;
	part->gpu_count = bus->gpu_count;
	part->affinities = affinities;
	return &part->part;
}

/* Devices beyond those of a struct node have no port, which these rules do not look at. */
static struct rna_part *make_presence(const struct node *node, const struct bus *bus)
{
	struct rna_presence *part = node_part(node, RNA_COLLECTOR_PRESENCE, sizeof(*part));
	struct rna_device *devices =
		rna_arena_array(part->part.arena, bus->nic_count + 1, sizeof(*devices));

	for (size_t i = 0; i < bus->nic_count; i++)
		if (bus->nics[i].rdma == RNA_NIC_RDMA_PRESENT)
			devices[part->device_count++] = (struct rna_device){
				.key = addresses[i],
				.name = names[i],
				.pci_address = addresses[i],
				.driver = bus->nics[i].driver,
				.function = bus->nics[i].switch_management
						    ? RNA_FUNCTION_SWITCH_MANAGEMENT
						    : RNA_FUNCTION_PF,
				.vendor_id = bus->nics[i].vendor_id,
				.device_id = bus->nics[i].device_id,
			};
	part->stack = !bus->no_stack;
	part->devices = devices;
	part->excluded_count = bus->excluded;
	part->problem = bus->too_many ? "too many" : NULL;
	return &part->part;
}

static struct rna_view *view_of(const struct bus *bus, struct rna_time now, bool live)
{
	struct rna_arena *arena = rna_arena_new(8192);
	struct rna_view *view = rna_arena_alloc(arena, sizeof(*view));
	struct rna_missing_device *missing = rna_arena_alloc(arena, sizeof(*missing));
	const struct rna_presence *presence;
	struct rna_snapshot *snapshot;
	struct rna_part *part;
	struct node node;

	node_init(&node, IB, 0);
	node.now = now;
	node.readiness.netns_exclusive = bus->exclusive;
	node.readiness.modules = bus->modules;
	node.readiness.module_count = bus->module_count;
	part = make_presence(&node, bus);
	presence = (const void *)part;
	*view = (struct rna_view){.refs = 1, .arena = arena, .agent.live = live};
	snapshot = rna_snapshot_new(presence->device_count, now);
	view->snapshot = snapshot;
	snapshot->parts[RNA_COLLECTOR_PRESENCE] = part;
	snapshot->parts[RNA_COLLECTOR_NETDEV] = node_netdevs(&node);
	snapshot->parts[RNA_COLLECTOR_READINESS] = node_readiness(&node);
	snapshot->parts[RNA_COLLECTOR_TOPOLOGY] = make_topology(&node, bus);
	for (size_t i = 0; i < presence->device_count; i++)
		snapshot->devices[i].device = &presence->devices[i];
	*missing = (struct rna_missing_device){.key = "k", .name = "mlx5_gone", .since = now};
	missing->pci_address = bus->remembered;
	view->missing = missing;
	view->missing_count = bus->remembered != NULL;
	return view;
}

static const struct rna_time some_time = {1000000 * SECOND, 1763716800 * SECOND};

/* The findings of a first look, as "rule severity device"; apart by "; ". */
static char *look(const struct bus *bus, char *text, size_t size, const char **ret_text)
{
	static char kept[512];
	struct rna_settings settings = {0};
	struct rna_health health;
	struct rna_view *view;
	size_t len = 0;

	assert_int_equal(rna_settings_init(&settings), 0);
	assert_int_equal(rna_health_init(&health, &settings), 0);
	health.once = true;
	view = view_of(bus, some_time, true);
	rna_health_judge(&health, joined(view));
	*text = kept[0] = '\0';
	for (size_t i = 0; i < view->finding_count && len < size; i++) {
		const struct rna_finding *found = &view->findings[i];

		len += (size_t)snprintf(text + len, size - len, "%s%s %s%s%s", i > 0 ? "; " : "",
					found->rule, rna_severity_name(found->severity),
					found->device ? " " : "",
					found->device ? found->device : "");
	}
	if (view->finding_count > 0)
		(void)snprintf(kept, sizeof(kept), "%s", view->findings[0].text);
	if (ret_text)
		*ret_text = kept;
	(void)rna_view_unref(view);
	rna_health_deinit(&health);
	rna_settings_deinit(&settings);
	return text;
}

#define assert_look(bus, expected)                                                                 \
	do {                                                                                       \
		char text_[4096];                                                                  \
		assert_string_equal(look(bus, text_, sizeof(text_), NULL), expected);              \
	} while (0)

/* -- One function of several ------------------------------------------------------------------- */

/* "a recorded H100 node whose mlx5_3 lost its RDMA device" */
static void test_h100_without_mlx5_3(void **state)
{
	struct bus bus;
	const char *what;
	char text[256];

	(void)state;
	init(&bus, 8, 8);
	assert_look(&bus, "");
	bus.nics[3].rdma = RNA_NIC_RDMA_NONE;
	(void)look(&bus, text, sizeof(text), &what);
	assert_string_equal(text, "function-without-device critical 0003:18:00.0");
	assert_string_equal(what,
			    "0003:18:00.0 (15b3:1021, driver mlx5_core): no RDMA device, "
			    "although 7 of 8 functions of this model have one (mlx5_0, mlx5_1, "
			    "mlx5_2 and 4 others); its driver made neither an RDMA device nor "
			    "a network interface");
}

static void test_what_the_kernel_says(void **state)
{
	static const struct {
		enum rna_nic_rdma rdma;
		const char *driver;
		const char *expected;
	} cases[] = {
		{RNA_NIC_RDMA_NONE, NULL, "function-without-device critical 0003:18:00.0"},
		{RNA_NIC_RDMA_UNBOUND, "mlx5_core",
		 "function-without-device critical 0003:18:00.0"},
		{RNA_NIC_RDMA_OFF, "mlx5_core", "function-without-device info 0003:18:00.0"},
		{RNA_NIC_RDMA_EMPTY, "mlx5_core", "function-without-device critical 0003:18:00.0"},
		{RNA_NIC_RDMA_HIDDEN, "mlx5_core", ""},
		{RNA_NIC_RDMA_SHARED, "mlx5_core", ""},
		{RNA_NIC_RDMA_EXCLUDED, "mlx5_core", ""},
		{RNA_NIC_RDMA_UNKNOWN, NULL, ""},
		{RNA_NIC_RDMA_NONE, "vfio-pci", ""},
		{RNA_NIC_RDMA_NONE, "mlx5_vfio_pci", ""},
		{RNA_NIC_RDMA_NONE, "uio_pci_generic", ""},
		{RNA_NIC_RDMA_NONE, "some_other", ""},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		struct bus bus;

		init(&bus, 8, 8);
		bus.nics[3].rdma = cases[i].rdma;
		bus.nics[3].driver = cases[i].driver;
		assert_look(&bus, cases[i].expected);
	}
}

/* Where namespaces share devices, none can be in another one; where they do not, it may be. */
static void test_network_namespaces(void **state)
{
	struct bus bus;

	(void)state;
	init(&bus, 8, 0);
	bus.nics[3].rdma = RNA_NIC_RDMA_HIDDEN;
	bus.exclusive = rna_value_ok(0);
	assert_look(&bus, "function-without-device critical 0003:18:00.0");
	bus.exclusive = rna_value_ok(1);
	bus.nics[2].rdma = RNA_NIC_RDMA_EMPTY;
	assert_look(&bus, "netns-exclusive info");
}

/* The fewer siblings have a device, the less certain it is. */
static void test_fewer_siblings(void **state)
{
	struct bus bus;

	(void)state;
	init(&bus, 2, 0);
	bus.nics[0].rdma = RNA_NIC_RDMA_NONE;
	assert_look(&bus, "function-without-device warning 0000:18:00.0");
	init(&bus, 4, 0);
	bus.nics[0].rdma = bus.nics[1].rdma = RNA_NIC_RDMA_NONE;
	assert_look(&bus, "function-without-device critical 0000:18:00.0; "
			  "function-without-device critical 0001:18:00.0");
	bus.nics[2].rdma = RNA_NIC_RDMA_NONE;
	assert_look(&bus, "function-without-device warning 0000:18:00.0; "
			  "function-without-device warning 0001:18:00.0; "
			  "function-without-device warning 0002:18:00.0");
}

/* Other models, classes, boards and function numbers do not count as siblings. */
static void test_no_siblings(void **state)
{
	struct bus bus;

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		init(&bus, 4, 0);
		bus.nics[3].rdma = RNA_NIC_RDMA_NONE;
		bus.nics[3].driver = NULL;
		bus.nics[0].subsystem = bus.nics[1].subsystem = bus.nics[2].subsystem = 0x15b30041;
		if (i == 0)
			bus.nics[3].device_id = 0x101d;
		else if (i == 1)
			bus.nics[3].class_id = ETHERNET_CLASS;
		else if (i == 2)
			bus.nics[3].subsystem = 0x15b30042;
		else if (i == 3)
			bus.nics[3].address = "0003:18:00.1";
		assert_look(&bus, i < 4 ? "" : "function-without-device critical 0003:18:00.0");
	}
}

/* mlx5_ib serves each function of mlx5_core, whatever its model. */
static void test_mlx5_core_without_mlx5_ib(void **state)
{
	struct bus bus;
	const char *what;
	char text[256];

	(void)state;
	init(&bus, 2, 0);
	bus.nics[1].device_id = 0x1017;
	bus.nics[1].class_id = ETHERNET_CLASS;
	bus.nics[1].rdma = RNA_NIC_RDMA_UNBOUND;
	(void)look(&bus, text, sizeof(text), &what);
	assert_string_equal(text, "function-without-device warning 0001:18:00.0");
	assert_non_null(strstr(what, "mlx5_ib is loaded and serves other functions"));
	bus.nics[1].rdma = RNA_NIC_RDMA_OFF;
	assert_look(&bus, "");
	bus.nics[1].rdma = RNA_NIC_RDMA_NONE;
	bus.nics[0].driver = "bnxt_en"; /* mlx5_ib is perhaps not wanted */
	assert_look(&bus, "");
}

/* device-missing reports a device that the agent knew. */
static void test_remembered(void **state)
{
	struct bus bus;

	(void)state;
	init(&bus, 8, 0);
	bus.nics[3].rdma = RNA_NIC_RDMA_NONE;
	bus.remembered = addresses[3];
	assert_look(&bus, "device-missing critical mlx5_gone");
	bus.nics[4].rdma = RNA_NIC_RDMA_NONE;
	assert_look(&bus, "function-without-device critical 0004:18:00.0; "
			  "device-missing critical mlx5_gone");
}

static void test_functions_that_manage_switches(void **state)
{
	struct bus bus;

	(void)state;
	init(&bus, 8, 8);
	for (size_t i = 0; i < 4; i++)
		bus.nics[i].switch_management = true;
	bus.nics[0].rdma = RNA_NIC_RDMA_NONE;
	assert_look(&bus, "");
	bus.nics[5].rdma = RNA_NIC_RDMA_NONE;
	assert_look(&bus, "function-without-device critical 0005:18:00.0");
}

/* What lies beyond the limit of devices seems to have none. */
static void test_more_devices_than_are_watched(void **state)
{
	struct bus bus;

	(void)state;
	init(&bus, 8, 0);
	bus.nics[3].rdma = RNA_NIC_RDMA_NONE;
	bus.too_many = true;
	assert_look(&bus, "");
}

/* -- None at all ------------------------------------------------------------------------------- */

static void lose_all(struct bus *bus)
{
	for (size_t i = 0; i < bus->nic_count; i++)
		bus->nics[i].rdma = RNA_NIC_RDMA_NONE;
	bus->no_stack = true;
}

/* "one whose whole /sys/class/infiniband is gone beside eight GPUs and ten mlx5 functions" */
static void test_h100_without_any_device(void **state)
{
	struct bus bus;
	const char *what;
	char text[256];

	(void)state;
	init(&bus, 10, 8);
	lose_all(&bus);
	(void)look(&bus, text, sizeof(text), &what);
	assert_string_equal(text, "rdma-absent critical");
	assert_string_equal(what, "no RDMA device on a node with 8 GPUs and 10 NIC functions for "
				  "RDMA; the first is 0000:18:00.0 (15b3:1021, driver mlx5_core); "
				  "the kernel has no /sys/class/infiniband (is ib_core loaded?)");
	bus.gpu_count = 0;
	assert_look(&bus, "rdma-absent warning");
}

/* Ethernet functions of ConnectX: only near GPUs, or in numbers, are they there for RDMA. */
static void test_ethernet_nics_of_servers(void **state)
{
	struct bus bus;

	(void)state;
	init(&bus, 2, 8);
	lose_all(&bus);
	for (size_t i = 0; i < 2; i++)
		bus.nics[i].class_id = ETHERNET_CLASS;
	assert_look(&bus, "");
	bus.path = RNA_PATH_PXB;
	assert_look(&bus, "rdma-absent critical");
	bus.gpu_class = 0x0300; /* a workstation, or a laptop */
	assert_look(&bus, "");
	init(&bus, 4, 1);
	lose_all(&bus);
	for (size_t i = 0; i < 4; i++)
		bus.nics[i].class_id = ETHERNET_CLASS;
	assert_look(&bus, "rdma-absent critical");
	bus.nics[3].driver = "vfio-pci";
	assert_look(&bus, "");
}

/* Slingshot has no verbs devices, and nothing at all is no NIC. */
static void test_nodes_without_verbs(void **state)
{
	struct bus bus;

	(void)state;
	init(&bus, 4, 4);
	lose_all(&bus);
	for (size_t i = 0; i < 4; i++) {
		bus.nics[i].driver = "cxi_ss1";
		bus.nics[i].vendor_id = 0x17db;
		bus.nics[i].class_id = ETHERNET_CLASS;
	}
	assert_look(&bus, "");
	init(&bus, 0, 8);
	bus.no_stack = true;
	assert_look(&bus, "");
}

static void test_settings_exclude_all(void **state)
{
	struct bus bus;

	(void)state;
	init(&bus, 8, 8);
	lose_all(&bus);
	for (size_t i = 0; i < 8; i++)
		bus.nics[i].rdma = RNA_NIC_RDMA_EXCLUDED;
	bus.excluded = 8;
	assert_look(&bus, "nothing-watched warning");
}

/* -- The RDMA half of a driver ----------------------------------------------------------------- */

static const struct rna_module halves[] = {
	{"ib_core", true},  {"ib_uverbs", true}, {"ib_umad", true},
	{"rdma_ucm", true}, {"ionic", true},     {"ionic_rdma", false},
};

/* NICs 0 to count - 1 are Pollara without ionic_rdma, beside the GPUs; others are ConnectX. */
static void init_pollara(struct bus *bus, size_t nics, size_t count)
{
	init(bus, nics, 8);
	for (size_t i = 0; i < count; i++) {
		bus->nics[i].rdma = RNA_NIC_RDMA_NONE;
		bus->nics[i].driver = "ionic";
		bus->nics[i].class_id = ETHERNET_CLASS;
		bus->nics[i].vendor_id = 0x1dd8;
		bus->nics[i].device_id = 0x1002;
	}
	bus->beside = count;
	bus->modules = halves;
	bus->module_count = RNA_ARRAY_SIZE(halves);
}

static void test_all_pollara_without_ionic_rdma(void **state)
{
	struct bus bus;
	const char *what;
	char text[256];

	(void)state;
	init_pollara(&bus, 8, 8);
	bus.path = RNA_PATH_PXB;
	(void)look(&bus, text, sizeof(text), &what);
	assert_string_equal(text, "rdma-absent critical");
	assert_non_null(strstr(what, "; module ionic_rdma is not loaded"));
	bus.path = RNA_PATH_SYS;
	bus.beside = 0;
	bus.nic_count = 3; /* as many ports as a server has, anywhere */
	assert_look(&bus, "");
}

/* A frontend NIC with a device does not excuse the NICs beside the GPUs. */
static void test_pollara_beside_gpus(void **state)
{
	struct bus bus;
	const char *what;
	char text[256];

	(void)state;
	init_pollara(&bus, 3, 2);
	(void)look(&bus, text, sizeof(text), &what);
	assert_string_equal(text, "function-without-device critical 0000:18:00.0");
	assert_string_equal(what,
			    "0000:18:00.0 (1dd8:1002, driver ionic): no RDMA device, although it "
			    "is beside GPU 0000:aa:00.0, which no other NIC serves; module "
			    "ionic_rdma is not loaded; likewise 0001:18:00.0");
	init_pollara(&bus, 2, 1);
	assert_look(&bus, "function-without-device warning 0000:18:00.0");
	bus.gpu_class = 0x0300;
	assert_look(&bus, "");
}

/* device-missing names the module as well. */
static void test_remembered_pollara(void **state)
{
	struct bus bus;
	const char *what;
	char text[256];

	(void)state;
	init_pollara(&bus, 2, 1);
	bus.remembered = addresses[0];
	(void)look(&bus, text, sizeof(text), &what);
	assert_string_equal(text, "device-missing critical mlx5_gone");
	assert_non_null(strstr(what, "; module ionic_rdma is not loaded"));
}

/* An Ethernet NIC that is not beside a GPU, or beside one that another NIC serves. */
static void test_plain_ethernet_nics(void **state)
{
	struct bus bus;

	(void)state;
	init_pollara(&bus, 3, 1);
	bus.beside = 0;
	assert_look(&bus, "");
	bus.beside = 2;
	assert_look(&bus, "");
	bus.nics[1].vendor_id = 0x17db; /* Slingshot serves the GPU without verbs */
	bus.nics[1].driver = "cxi_ss1";
	bus.nics[1].rdma = RNA_NIC_RDMA_NONE;
	assert_look(&bus, "");
}

/* -- Ports that differ from most --------------------------------------------------------------- */

static void assert_ports(const struct node *node, const char *first, const char *second)
{
	struct rna_settings settings = {0};
	struct rna_health health;
	struct rna_view *view;

	assert_int_equal(rna_settings_init(&settings), 0);
	assert_int_equal(rna_health_init(&health, &settings), 0);
	health.once = true;
	view = node_view(node);
	rna_health_judge(&health, joined(view));
	assert_int_equal(view->finding_count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(view->findings[i].severity, RNA_SEVERITY_WARNING);
	assert_string_equal(view->findings[0].text, first);
	assert_string_equal(view->findings[1].text, second);
	(void)rna_view_unref(view);
	rna_health_deinit(&health);
	rna_settings_deinit(&settings);
}

/* Several ports down, "without a memory": it is not known whether they were ever up. */
static void test_two_ports_of_six_down(void **state)
{
	struct node node;

	(void)state;
	node_init(&node, IB, 6);
	for (size_t i = 1; i < 3; i++)
		node.ports[i].state = rna_value_ok(RNA_PORT_DOWN);
	node.ports[1].physical = rna_value_ok(RNA_PHYSICAL_SLEEP);
	node.ports[2].physical = rna_value_ok(RNA_PHYSICAL_DISABLED);
	assert_ports(&node,
		     "mlx5_1/1: down, and never seen up, although 4 of 6 such ports on cards of "
		     "its model are up; physical state Sleep",
		     "mlx5_2/1: down, and never seen up, although 4 of 6 such ports on cards of "
		     "its model are up; the port is disabled");
}

/* "a port at half its rate", and another one at a quarter: the others do not all agree. */
static void test_two_slow_ports(void **state)
{
	struct node node;

	(void)state;
	node_init(&node, IB, 6);
	node.ports[1].gigabits = 200;
	node.ports[2].gigabits = 100;
	assert_ports(&node,
		     "mlx5_1/1: runs at 200 Gb/s (4X NDR); 4 of 6 such ports that are active on "
		     "cards of this model run at 400 Gb/s",
		     "mlx5_2/1: runs at 100 Gb/s (4X NDR); 4 of 6 such ports that are active on "
		     "cards of this model run at 400 Gb/s");
}

/* -- Time -------------------------------------------------------------------------------------- */

static unsigned told;

static void count_told(const struct rna_rule *rule, const struct rna_finding *finding,
		       enum rna_change_what what, bool news, void *userdata)
{
	(void)rule, (void)userdata;
	told += news && what != RNA_CHANGE_RESOLVED && finding->severity > RNA_SEVERITY_INFO;
}

struct life {
	struct rna_settings settings;
	struct rna_health health;
	struct rna_time now;
	struct bus bus;
};

static void live(struct life *life, rna_usec span)
{
	for (rna_usec end = life->now.monotonic + span; life->now.monotonic < end;) {
		struct rna_view *view = view_of(&life->bus, life->now, true);

		rna_health_judge(&life->health, joined(view));
		(void)rna_view_unref(view);
		life->now.monotonic += 5 * SECOND;
		life->now.realtime += 5 * SECOND;
	}
}

static void begin_life(struct life *life)
{
	*life = (struct life){.now = {10 * SECOND, 1763716800 * SECOND}};
	assert_int_equal(rna_settings_init(&life->settings), 0);
	assert_int_equal(rna_health_init(&life->health, &life->settings), 0);
	life->health.tell = count_told;
	init(&life->bus, 8, 8);
	told = 0;
}

static void end_life(struct life *life)
{
	rna_health_deinit(&life->health);
	rna_settings_deinit(&life->settings);
}

/*
 * A day: the drivers load late, one function after the other, and are reloaded, and a card is reset
 * twice. There is no finding. Then a card dies.
 */
static void test_day_without_false_alarm(void **state)
{
	struct life life;

	(void)state;
	begin_life(&life);
	lose_all(&life.bus);
	live(&life, MINUTE);
	life.bus.no_stack = false;
	for (size_t i = 0; i < 8; i++) {
		life.bus.nics[i].rdma = RNA_NIC_RDMA_PRESENT;
		live(&life, 10 * SECOND);
	}
	for (unsigned hour = 0; hour < 24; hour++) {
		live(&life, 59 * MINUTE);
		life.bus.nics[hour % 8].rdma = RNA_NIC_RDMA_NONE;
		live(&life, 40 * SECOND);
		if (hour % 6 == 0)
			lose_all(&life.bus);
		live(&life, 20 * SECOND);
		for (size_t i = 0; i < 8; i++)
			life.bus.nics[i].rdma = RNA_NIC_RDMA_PRESENT;
		life.bus.no_stack = false;
	}
	assert_int_equal(told, 0);
	life.bus.nics[3].rdma = RNA_NIC_RDMA_NONE;
	live(&life, 2 * MINUTE);
	assert_int_equal(told, 1);
	end_life(&life);
}

/* The work for a view grows with the number of devices, not with its square. */
static void test_many_devices(void **state)
{
	struct bus bus;
	char text[65536];

	(void)state;
	init(&bus, MANY, 8);
	for (size_t i = 0; i < MANY; i += 2)
		bus.nics[i].rdma = RNA_NIC_RDMA_NONE;
	(void)look(&bus, text, sizeof(text), NULL);
	assert_int_equal(strncmp(text, "function-without-device critical 0000:18:00.0; ", 47), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_h100_without_mlx5_3),
		cmocka_unit_test(test_what_the_kernel_says),
		cmocka_unit_test(test_network_namespaces),
		cmocka_unit_test(test_fewer_siblings),
		cmocka_unit_test(test_no_siblings),
		cmocka_unit_test(test_mlx5_core_without_mlx5_ib),
		cmocka_unit_test(test_remembered),
		cmocka_unit_test(test_functions_that_manage_switches),
		cmocka_unit_test(test_more_devices_than_are_watched),
		cmocka_unit_test(test_h100_without_any_device),
		cmocka_unit_test(test_ethernet_nics_of_servers),
		cmocka_unit_test(test_nodes_without_verbs),
		cmocka_unit_test(test_settings_exclude_all),
		cmocka_unit_test(test_all_pollara_without_ionic_rdma),
		cmocka_unit_test(test_pollara_beside_gpus),
		cmocka_unit_test(test_plain_ethernet_nics),
		cmocka_unit_test(test_remembered_pollara),
		cmocka_unit_test(test_two_ports_of_six_down),
		cmocka_unit_test(test_two_slow_ports),
		cmocka_unit_test(test_day_without_false_alarm),
		cmocka_unit_test(test_many_devices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
