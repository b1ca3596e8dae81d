// SPDX-License-Identifier: Apache-2.0
/* exporter/topology_*: the matrix, the tree, JSON, DOT and the drawing, of topologies made by hand.
 */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rna/exporter.h"

#include "page/topology_layout.h"

#include "topology_view.h"

typedef void writer(const struct rna_view *view, struct rna_strbuf *out);

static void write_plain(const struct rna_view *view, struct rna_strbuf *out)
{
	rna_write_topology(joined(view), &(struct rna_table_options){0}, out);
}

static void write_coloured(const struct rna_view *view, struct rna_strbuf *out)
{
	rna_write_topology(joined(view), &(struct rna_table_options){.colour = true}, out);
}

static void assert_has(writer *write, const struct rna_view *view, const char *piece)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	write(joined(view), &out);
	assert_true(rna_strbuf_ok(&out));
	if (!strstr(out.data, piece))
		fail_msg("\"%s\" is not in:\n%s", piece, out.data);
}

static struct rna_topology *topology_of(struct rna_view *view)
{
	return own_part(view->snapshot->parts[RNA_COLLECTOR_TOPOLOGY]);
}

/* -- Text -------------------------------------------------------------------------------------- */

static const char expected_text[] =
	"       GPU0   GPU1   NIC0   NIC1   NIC2   NUMA  CPU affinity\n"
	"GPU0   X      SYS    PIX    PXB    SYS    0     ?\n"
	"GPU1   SYS    X      SYS    SYS    PHB    1     ?\n"
	"NIC0   PIX    SYS    X      PXB    SYS    0     ?\n"
	"NIC1   PXB    SYS    PXB    X      SYS    0     ?\n"
	"NIC2   SYS    PHB    SYS    SYS    X      1     ?\n"
	"\n"
	"Legend:\n"
	"\n"
	"  X    = Self\n"
	"  SYS  = Over PCIe and the interconnect between NUMA nodes (e.g., QPI/UPI)\n"
	"  NODE = Over PCIe and the interconnect between PCIe host bridges within a NUMA node\n"
	"  PHB  = Over PCIe and a PCIe host bridge (typically the CPU)\n"
	"  PXB  = Over several PCIe switches, without a PCIe host bridge\n"
	"  PIX  = Over at most a single PCIe switch\n"
	"  ?    = Not known\n"
	"\n"
	"NVLink and xGMI, which connect GPUs directly, are not shown.\n"
	"\n"
	"NIC Legend:\n"
	"\n"
	"  NIC0: mlx5_0\n"
	"  NIC1: enp23s0np0 (no RDMA device)\n"
	"  NIC2: mlx5_1\n"
	"\n"
	"Socket 0, NUMA node 0\n"
	"└─ host bridge pci0000:10\n"
	"   └─ root port 0000:10:01.0\n"
	"      └─ switch 0000:11:00.0  x16 32 GT/s\n"
	"         ├─ GPU0 0000:13:00.0  H100 <&\"SXM\">  x16 32 GT/s  nearest NIC0 (PIX)\n"
	"         ├─ NIC0 0000:14:00.0  mlx5_0  400 Gb/s  x16 32 GT/s  rail 0, ib0, ib1\n"
	"         └─ switch 0000:15:00.0  x16 32 GT/s\n"
	"            └─ NIC1 0000:17:00.0  enp23s0np0  x8 32 GT/s !! could be x16  +16 VFs\n"
	"Socket 1, NUMA node 1\n"
	"└─ host bridge pci0000:80\n"
	"   ├─ root port 0000:80:01.0\n"
	"   │  └─ GPU1 0000:81:00.0  nvidia 2330  x16 2.5 GT/s  6 devices, nearest NIC2 (PHB)\n"
	"   └─ root port 0000:80:02.0\n"
	"      └─ NIC2 0000:82:00.0  mlx5_1  DOWN  x16 32 GT/s  rail 1\n";

static void test_text(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_topology_view();
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	(void)state;
	write_plain(view, &out);
	assert_string_equal(out.data, expected_text);
}

static void test_colour_adds_nothing_but_colour(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_topology_view();
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT, stripped = RNA_STRBUF_INIT;

	(void)state;
	expect(view, 1, RNA_EXPECTED_UP);
	write_coloured(view, &out);
	assert_non_null(strstr(out.data, "\033[31m  DOWN\033[0m"));
	assert_non_null(strstr(out.data, "\033[31m !! could be x16\033[0m"));
	for (const char *at = out.data; *at; at++) {
		if (*at == '\033')
			at = strchr(at, 'm');
		else
			rna_strbuf_add_char(&stripped, *at);
	}
	assert_string_equal(stripped.data, expected_text);
}

/* Those of a LAG are one port, whichever function is looked at. */
static void test_a_port_that_is_down_counts_once(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_topology_view();
	struct rna_nic *nics = (void *)(uintptr_t)topology_of(view)->nics;

	(void)state;
	nics[1].devices = nics[2].devices;
	nics[1].device_count = 1;
	nics[1].lag = 2;
	assert_has(rna_write_topology_svg, view, "3 NICs, 1 port down");
}

/* GPUs of AMD have a switch in front of them, which goes to sleep with them. */
static void test_idle_gpus_are_no_trouble(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_topology_view();
	struct rna_pci_object *port = object_at(topology_of(view), 2);

	(void)state;
	port->link.speed.number = 2500;
	assert_has(write_plain, view, "0000:11:00.0  x16 2.5 GT/s !! could be 32 GT/s\n");
	port->vendor_id = 0x1002;
	assert_has(write_plain, view, "0000:11:00.0  x16 2.5 GT/s\n");
}

/* Whatever a driver says of its model, the terminal, the browser and dot get text. */
static void test_hardware_texts_are_escaped(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_topology_view();
	struct rna_gpu *gpus = (void *)(uintptr_t)topology_of(view)->gpus;

	(void)state;
	assert_has(rna_write_topology_svg, view, "H100 &lt;&amp;&quot;SXM&quot;&gt;</text>");
	assert_has(rna_write_topology_dot, view, "H100 <&\\\"SXM\\\">");
	gpus[0].model = "a\\\033[2J\xff";
	assert_has(write_plain, view, "  a\\\xef\xbf\xbd[2J\xef\xbf\xbd  ");
	assert_has(rna_write_topology_svg, view, ">a\\\xef\xbf\xbd[2J\xef\xbf\xbd</text>");
	assert_has(rna_write_topology_dot, view, "a\\\\\xef\xbf\xbd[2J\xef\xbf\xbd\\n");
}

static void test_what_is_missing_is_said(void **state)
{
	static writer *const writers[] = {write_plain, rna_write_topology_json,
					  rna_write_topology_svg};
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_topology_view();
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *none = new_view(0);
	struct rna_topology *topology = topology_of(view);

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(writers); i++)
		assert_has(writers[i], none, "The PCI topology is not known (yet).");
	topology->gpu_count = 0;
	assert_has(write_plain, view,
		   "No GPU: there is none on the PCI buses of this node.\n\n   ");
	assert_has(rna_write_topology_svg, view, "mlx5_0"); /* and still shows what there is */
	topology->problem = "x.xml: broken";
	assert_has(write_plain, view, "x.xml: broken\n\nNo GPU: ");
	assert_has(rna_write_topology_json, view, "\"problem\": \"x.xml: broken\"");
	topology->nic_count = 0;
	topology->object_count = 0;
	assert_has(write_plain, view, "The PCI topology could not be read.");
	topology->problem = NULL;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(writers); i++)
		assert_has(writers[i], view, "No GPU and no NIC");
	topology->gpu_count = 1;
	assert_has(rna_write_topology_json, view, "\"missing\": \"No NIC: ");
}

static void test_unknown_locality_is_not_guessed(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_topology_view();
	struct rna_topology *topology = topology_of(view);

	(void)state;
	for (unsigned i = 0; i < topology->object_count; i++)
		object_at(topology, i)->numa_node = object_at(topology, i)->package = -1;
	assert_has(write_plain, view, "GPU0   X      ?      PIX    PXB    ?      ?     ?\n");
	assert_has(write_plain, view, "\nNUMA node not known\n");
	/* the tree begins with what is known, the legend with NIC0 */
	object_at(topology, 11)->numa_node = 0;
	assert_has(write_plain, view, "  NIC0: mlx5_0\n  NIC1: enp23s0np0 (no RDMA device)\n");
	assert_has(write_plain, view, "\n\nNUMA node 0\n└─ host bridge pci0000:80\n");
}

/* Names of NICs in a row are written as one; what is far away may be many. */
static void test_nearest_nics_are_told_in_runs(void **state)
{
	static const unsigned nearest[] = {0, 2, 3, 4, 7, 8};
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_topology_view();
	struct rna_gpu_affinity *affinities = (void *)(uintptr_t)topology_of(view)->affinities;

	(void)state;
	affinities[0] =
		(struct rna_gpu_affinity){RNA_ARRAY_SIZE(nearest), nearest, RNA_PATH_NODE, 0};
	assert_has(write_plain, view, "  nearest NIC0, NIC2-4, NIC7-8 (NODE)\n");
	affinities[0].nearest_count = 0;
	assert_has(write_plain, view, "H100 <&\"SXM\">  x16 32 GT/s\n");
}

static void test_data_direct_says_whose_it_is(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_topology_view();
	struct rna_topology *topology = topology_of(view);
	struct rna_nic *nics = (void *)(uintptr_t)topology->nics;

	(void)state;
	nics[2].data_direct = (int)add_object(topology, "0000:83:00.0", RNA_PCI_DATA_DIRECT, 14);
	assert_has(write_plain, view, "Data Direct 0000:83:00.0  of NIC2  x16 32 GT/s\n");
	assert_has(write_plain, view, "  rail 1, Data Direct\n");
}

/* What is not told of the other end of a link is no reason to find fault with it. */
static void test_links_are_judged_by_both_ends(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_topology_view();
	struct rna_topology *topology = topology_of(view);
	struct rna_pci_object *switch_port = object_at(topology, 9);
	struct rna_pci_object *nic = object_at(topology, topology->nics[1].object);
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	(void)state;
	nic->link.speed.number = 16000;
	assert_has(write_plain, view, "x8 16 GT/s !! could be x16, 32 GT/s  +16 VFs");
	switch_port->link.max_speed.number = 16000;
	assert_has(write_plain, view, "x8 16 GT/s !! could be x16  +16 VFs");
	switch_port->link = (struct rna_pcie_link){0};
	write_plain(view, &out);
	assert_null(strstr(out.data, "could be"));
}

/* -- JSON -------------------------------------------------------------------------------------- */

static json_t *topology_as_json(const struct rna_view *view)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	json_t *root;

	rna_write_topology_json(joined(view), &out);
	assert_true(rna_strbuf_ok(&out));
	root = json_loads(out.data, 0, NULL);
	assert_non_null(root);
	return root;
}

static const char *class_of(json_t *root, const char *a, const char *b)
{
	const char *ret = NULL;
	json_t *pair;
	size_t i;

	json_array_foreach (json_object_get(root, "pairs"), i, pair) {
		const char *x = json_string_value(json_object_get(pair, "a"));
		const char *y = json_string_value(json_object_get(pair, "b"));

		if ((strcmp(x, a) == 0 && strcmp(y, b) == 0) ||
		    (strcmp(x, b) == 0 && strcmp(y, a) == 0)) {
			assert_null(ret); /* each pair once */
			ret = json_string_value(json_object_get(pair, "class"));
		}
	}
	assert_non_null(ret);
	return ret;
}

static void test_json(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_topology_view();
	json_t *root = topology_as_json(view);
	const char *gpu, *nic, *device, *nearest, *class, *parent;
	json_int_t rail, functions, lanes;

	(void)state;
	assert_int_equal(json_array_size(json_object_get(root, "pairs")), 10);
	assert_string_equal(class_of(root, "0000:13:00.0", "0000:14:00.0"), "PIX");
	assert_string_equal(class_of(root, "0000:17:00.0", "0000:14:00.0"), "PXB");
	assert_string_equal(class_of(root, "0000:81:00.0", "0000:82:00.0"), "PHB");
	assert_string_equal(class_of(root, "0000:81:00.0", "0000:13:00.0"), "SYS");
	assert_int_equal(json_array_size(json_object_get(root, "tree")), 16);
	assert_int_equal(json_unpack(root,
				     "{s:[{s:s, s:s}], s:[{s:[s], s:I}, {s:I}], s:[{s:s, s:[s]}]}",
				     "gpus", "pci_address", &gpu, "nic", &nic, "nics", "devices",
				     &device, "rail", &rail, "virtual_functions", &functions,
				     "nearest", "class", &class, "nics", &nearest),
			 0);
	assert_string_equal(gpu, "0000:13:00.0");
	assert_string_equal(nic, "0000:14:00.0");
	assert_string_equal(nearest, "0000:14:00.0");
	assert_string_equal(class, "PIX");
	assert_string_equal(device, "mlx5_0");
	assert_true(rail == 0 && functions == 16);
	assert_int_equal(json_unpack(json_array_get(json_object_get(root, "tree"), 10),
				     "{s:s, s:{s:I}}", "parent", &parent, "link", "width", &lanes),
			 0);
	assert_string_equal(parent, "0000:16:00.0");
	assert_int_equal(lanes, 8);
	json_decref(root);
}

/* The snapshot has who is nearest, and nothing that grows with the square of the node. */
static void test_json_of_the_snapshot(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_topology_view();
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	json_t *root, *topology;

	(void)state;
	rna_write_json(joined(view), &out);
	root = json_loads(out.data, 0, NULL);
	topology = json_object_get(root, "topology");
	assert_int_equal(json_array_size(json_object_get(topology, "nearest")), 2);
	assert_null(json_object_get(topology, "pairs"));
	assert_null(json_object_get(topology, "tree"));
	json_decref(root);
}

/* -- Metrics ----------------------------------------------------------------------------------- */

static void write_metrics(const struct rna_view *view, struct rna_strbuf *out)
{
	RNA_CLEANUP(rna_renderer_free_p) struct rna_renderer *renderer = rna_renderer_new();
	struct rna_body *body;

	assert_int_equal(rna_renderer_metrics(renderer, joined(view), RNA_EXPOSITION_CLASSIC,
					      &body),
			 0);
	rna_strbuf_add(out, body->data, body->len);
	(void)rna_body_unref(body);
}

static size_t count_lines(const struct rna_view *view, const char *begin)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	size_t count = 0;

	write_metrics(view, &out);
	for (const char *at = out.data; (at = strstr(at, begin)); at++)
		count += at[-1] == '\n';
	return count;
}

static void test_metrics(void **state)
{
	static const char gpu[] = "\nrdma_gpu_info{gpu=\"0000:13:00.0\",vendor=\"nvidia\",model="
				  "\"H100 <&\\\"SXM\\\">\","
				  "uuid=\"GPU-1\",minor=\"0\",numa_node=\"0\"} 1\n";
	static const char path[] = "\nrdma_gpu_nic_path{gpu=\"0000:13:00.0\",nic=\"0000:14:00.0\","
				   "device=\"mlx5_0\",path=\"PIX\"} 1\n";
	static const char *const lines[] = {
		gpu,
		"\nrdma_gpu_info{gpu=\"0000:81:00.0\",vendor=\"nvidia\",numa_node=\"1\"} 1\n",
		path,
		"\nrdma_port_rail_info{device=\"mlx5_0\",port=\"1\",rail=\"0\",gpu=\"0000:13:00."
		"0\"} 1\n",
	};
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_topology_view();

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(lines); i++)
		assert_has(write_metrics, view, lines[i]);
	assert_int_equal(count_lines(view, "rdma_gpu_nic_path{"), 2);
	view->metrics.gpu_nic_paths = RNA_PATH_PXB;
	assert_int_equal(count_lines(view, "rdma_gpu_nic_path{"), 3);
	view->metrics.gpu_nic_paths = RNA_PATH_SYS;
	assert_int_equal(count_lines(view, "rdma_gpu_nic_path{"), 6);
}

/* -- The drawing ------------------------------------------------------------------------------- */

static bool is_inside(const struct rna_box *box, const struct rna_box *frame)
{
	return box->x >= frame->x && box->y >= frame->y &&
	       box->x + box->width <= frame->x + frame->width &&
	       box->y + box->height <= frame->y + frame->height;
}

static bool is_apart(const struct rna_box *a, const struct rna_box *b)
{
	return a->x + a->width <= b->x || b->x + b->width <= a->x || a->y + a->height <= b->y ||
	       b->y + b->height <= a->y;
}

static int place_of(const struct rna_topology_tree *tree, size_t item)
{
	while (tree->items[item].parent >= 0)
		item = (size_t)tree->items[item].parent;
	return (int)item;
}

static void assert_layout_is_sound(const struct rna_view *view)
{
	RNA_TOPOLOGY_TREE struct rna_topology_tree tree = RNA_TOPOLOGY_TREE_INIT;
	RNA_TOPOLOGY_LAYOUT struct rna_topology_layout layout = RNA_TOPOLOGY_LAYOUT_INIT;
	struct rna_box page;

	assert_int_equal(rna_topology_tree_make(joined(view), &tree), 0);
	assert_int_equal(rna_topology_layout_make(&tree, &layout), 0);
	page = (struct rna_box){.width = layout.width, .height = layout.height};
	for (size_t i = 0; i < tree.count; i++) {
		const struct rna_box *box = &layout.boxes[i];
		int place = place_of(&tree, i), above = rna_topology_layout_above(&tree, (int)i);

		if (box->width == 0) {
			assert_int_equal(tree.items[i].kind, RNA_ITEM_ROOT_PORT);
			continue;
		}
		assert_true(is_inside(box, place == (int)i ? &page : &layout.boxes[place]));
		for (size_t j = 0; j < i; j++)
			assert_true((int)j == place || layout.boxes[j].width == 0 ||
				    is_apart(box, &layout.boxes[j]));
		if (above >= 0) /* room for what stands on the link */
			assert_true(box->x - layout.boxes[above].x - layout.boxes[above].width >=
				    RNA_LAYOUT_LINK);
	}
}

/* A topology that grows at random: any tree that the contract allows. */
struct forest {
	struct rna_topology topology;
	struct rna_pci_object objects[500];
	struct rna_gpu gpus[100];
	struct rna_nic nics[100];
	struct rna_gpu_affinity affinities[100];
	unsigned seed;
};

static unsigned dice(struct forest *forest, unsigned sides)
{
	return (unsigned)rand_r(&forest->seed) % sides;
}

static int plant(struct forest *forest, enum rna_pci_role role, int parent)
{
	forest->objects[forest->topology.object_count] = (struct rna_pci_object){
		.address = "0000:00:00.0",
		.role = role,
		.parent = parent,
		.numa_node = (int)dice(forest, 4) - 1,
		.link = topology_link,
	};
	forest->objects[forest->topology.object_count].link.width.number = dice(forest, 2) ? 16 : 8;
	return (int)forest->topology.object_count++;
}

static void plant_leaf(struct forest *forest, int parent)
{
	bool gpu = dice(forest, 2);
	unsigned object = (unsigned)plant(forest, gpu ? RNA_PCI_GPU : RNA_PCI_NIC, parent);

	if (gpu)
		forest->gpus[forest->topology.gpu_count++].object = object;
	else
		forest->nics[forest->topology.nic_count++] =
			(struct rna_nic){.object = object,
					 .data_direct = RNA_NO_OBJECT,
					 .rail = -1};
}

static void grow(struct forest *forest, enum rna_pci_role role, int parent, unsigned depth)
{
	for (unsigned n = dice(forest, 5); n > 0; n--) {
		int port = plant(forest, role, parent);

		if (dice(forest, 6) < depth || depth > 4)
			plant_leaf(forest, port);
		else
			grow(forest, RNA_PCI_DOWNSTREAM, plant(forest, RNA_PCI_UPSTREAM, port),
			     depth + 2);
	}
}

static void test_nothing_in_a_drawing_overlaps(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_topology_view();
	const struct rna_part *part = view->snapshot->parts[RNA_COLLECTOR_TOPOLOGY];
	struct forest *forest = calloc(1, sizeof(*forest));

	(void)state;
	assert_non_null(forest);
	assert_layout_is_sound(view);
	for (unsigned seed = 1; seed <= 200; seed++) {
		*forest = (struct forest){.seed = seed};
		forest->topology.objects = forest->objects;
		forest->topology.gpus = forest->gpus;
		forest->topology.nics = forest->nics;
		forest->topology.affinities = forest->affinities;
		for (unsigned n = 1 + seed % 6; n > 0; n--)
			grow(forest, RNA_PCI_ROOT_PORT,
			     plant(forest, RNA_PCI_HOST_BRIDGE, RNA_NO_OBJECT), 0);
		own_snapshot(view)->parts[RNA_COLLECTOR_TOPOLOGY] = &forest->topology.part;
		assert_layout_is_sound(view);
	}
	own_snapshot(view)->parts[RNA_COLLECTOR_TOPOLOGY] = part;
	free(forest);
}

/* Said in words, not by colour alone. */
static void test_drawing_marks_what_is_wrong(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_topology_view();

	(void)state;
	assert_has(
		rna_write_topology_svg, view,
		"<title>PCI topology of this node: 2 GPUs, 3 NICs, 1 port down, 1 PCIe link below "
		"what both ends can do</title>");
	assert_has(rna_write_topology_svg, view,
		   "<title>NIC1 0000:17:00.0: enp23s0np0, link x8 32 GT/s (could be x16), "
		   "+16 VFs</title>");
	assert_has(rna_write_topology_svg, view, ">could be x16</text>");
	assert_has(rna_write_topology_svg, view, ">DOWN</text>");
	assert_has(rna_write_page, view, "<svg ");
	assert_has(rna_write_page, view, "<title>GPU1 0000:81:00.0: nvidia 2330");
}

/* It is shown and counted, but needs no action. */
static void test_a_port_down_that_nobody_expects_has_no_red_frame(void **state)
{
	static const char bad[] = "\"pill c bad\"";
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_topology_view();
	RNA_STRBUF struct rna_strbuf idle = RNA_STRBUF_INIT;

	(void)state;
	expect(view, 1, RNA_EXPECTED_DOWN);
	rna_write_topology_svg(joined(view), &idle);
	assert_null(strstr(idle.data, bad));
	assert_non_null(strstr(idle.data, ">DOWN</text>"));
	assert_non_null(strstr(idle.data, "3 NICs, 1 port down"));
	expect(view, 1, RNA_EXPECTED_UP);
	assert_has(rna_write_topology_svg, view, bad);
}

static void test_long_texts_are_cut_and_stay_in_the_title(void **state)
{
	static const char model[] =
		"A model of which the name is longer than its box, \xc3\xa4\xc3\xb6";
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_topology_view();
	struct rna_gpu *gpus = (void *)(uintptr_t)topology_of(view)->gpus;

	(void)state;
	gpus[0].model = model;
	assert_has(rna_write_topology_svg, view, model);
	assert_has(rna_write_topology_svg, view, ">A model of which the name i…</text>");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_colour_adds_nothing_but_colour),
		cmocka_unit_test(test_a_port_that_is_down_counts_once),
		cmocka_unit_test(test_idle_gpus_are_no_trouble),
		cmocka_unit_test(test_hardware_texts_are_escaped),
		cmocka_unit_test(test_what_is_missing_is_said),
		cmocka_unit_test(test_unknown_locality_is_not_guessed),
		cmocka_unit_test(test_nearest_nics_are_told_in_runs),
		cmocka_unit_test(test_data_direct_says_whose_it_is),
		cmocka_unit_test(test_links_are_judged_by_both_ends),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_json_of_the_snapshot),
		cmocka_unit_test(test_metrics),
		cmocka_unit_test(test_nothing_in_a_drawing_overlaps),
		cmocka_unit_test(test_drawing_marks_what_is_wrong),
		cmocka_unit_test(test_a_port_down_that_nobody_expects_has_no_red_frame),
		cmocka_unit_test(test_long_texts_are_cut_and_stay_in_the_title),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
