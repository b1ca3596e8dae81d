// SPDX-License-Identifier: Apache-2.0
/* The topology as people look at it. */
#include "topology_tree.h"

#include <errno.h>

struct builder {
	const struct rna_topology *topology;
	const struct rna_view *view;
	struct rna_topology_tree *tree;
	struct rna_strbuf scratch; /* of a text that is being put together */
	bool failed;
};

static void deinit_builder(struct builder *builder)
{
	rna_strbuf_deinit(&builder->scratch);
}

/* What stands in the scratch, as a text of the tree; NULL: nothing does. */
static const char *keep(struct builder *builder)
{
	const char *text = NULL;

	builder->failed |= !rna_strbuf_ok(&builder->scratch);
	if (builder->scratch.len > 0 && !builder->failed) {
		text = rna_arena_strdup(builder->tree->arena, builder->scratch.data);
		builder->failed |= !text;
	}
	builder->scratch.len = 0;
	return text;
}

/* Puts the comma in front of whatever follows in the scratch. */
static struct rna_strbuf *next(struct builder *builder)
{
	if (builder->scratch.len > 0)
		rna_strbuf_puts(&builder->scratch, ", ");
	return &builder->scratch;
}

/* -- Links ------------------------------------------------------------------------------------- */

static const char *print_speed(struct rna_value speed, char scratch[RNA_FIELD_TEXT_MAX])
{
	if (!rna_value_is_known(speed))
		return NULL;
	(void)snprintf(scratch, RNA_FIELD_TEXT_MAX, "%g GT/s", (double)speed.number / 1000);
	return scratch;
}

const char *rna_item_width(const struct rna_item *item, char scratch[RNA_FIELD_TEXT_MAX])
{
	if (!rna_value_is_known(item->width))
		return NULL;
	(void)snprintf(scratch, RNA_FIELD_TEXT_MAX, "x%ju", (uintmax_t)item->width.number);
	return scratch;
}

const char *rna_item_speed(const struct rna_item *item, char scratch[RNA_FIELD_TEXT_MAX])
{
	return print_speed(item->speed, scratch);
}

/* What both ends of a link can do; unknown where one of them does not tell. */
static struct rna_value lesser_of_both_ends(struct rna_value a, struct rna_value b)
{
	if (!rna_value_is_known(a) || !rna_value_is_known(b))
		return (struct rna_value){0};
	return a.number < b.number ? a : b;
}

/* A link leads from a port that looks away from the root to what is below; see rna/model/pcie.h. */
static bool is_upper_end(enum rna_pci_role role)
{
	return role == RNA_PCI_ROOT_PORT || role == RNA_PCI_DOWNSTREAM;
}

/* A GPU, or a port of the switch that AMD's have in front of them; its host bridges are 1022. */
static bool is_of_gpu(const struct rna_pci_object *object)
{
	enum { VENDOR_AMD_GPUS = 0x1002 };

	return object->role == RNA_PCI_GPU || object->vendor_id == VENDOR_AMD_GPUS;
}

/*
 * Trained below what both ends can do? The link of a GPU without work is slow on purpose, so there
 * it is only the width that tells.
 */
static void set_link(struct builder *builder, struct rna_item *item, int object)
{
	const struct rna_pci_object *below = &builder->topology->objects[object];
	const struct rna_pcie_link *above = &builder->topology->objects[below->parent].link;
	struct rna_value width, speed;
	char text[RNA_FIELD_TEXT_MAX];

	width = lesser_of_both_ends(below->link.max_width, above->max_width);
	speed = lesser_of_both_ends(below->link.max_speed, above->max_speed);
	item->width = below->link.width;
	item->speed = below->link.speed;
	if (rna_value_is_below(item->width, width))
		rna_strbuf_printf(next(builder), "x%ju", (uintmax_t)width.number);
	if (rna_value_is_below(item->speed, speed) && !is_of_gpu(below))
		rna_strbuf_puts(next(builder), print_speed(speed, text));
	item->trouble = keep(builder);
	builder->tree->troubles += item->trouble != NULL;
}

/* -- GPUs and NICs ----------------------------------------------------------------------------- */

const char *rna_gpu_vendor(uint32_t vendor_id, char scratch[RNA_FIELD_TEXT_MAX])
{
	static const struct {
		uint32_t id;
		const char *name;
	} vendors[] = {
		{0x10de, "nvidia"},      {0x1002, "amd"},      {0x8086, "intel"},
		{0x1da3, "habana"},      {0x17cb, "qualcomm"}, {0x19e5, "huawei"},
		{0x1d94, "hygon"},       {0x1e36, "enflame"},  {0x1e3e, "iluvatar"},
		{0x1e52, "tenstorrent"}, {0x1ed2, "furiosa"},  {0x1ed5, "mthreads"},
		{0x1eff, "rebellions"},  {0x9999, "metax"},    {0xcabc, "cambricon"},
	};

	for (size_t i = 0; i < RNA_ARRAY_SIZE(vendors); i++)
		if (vendors[i].id == vendor_id)
			return vendors[i].name;
	if (vendor_id == 0)
		return NULL;
	(void)snprintf(scratch, RNA_FIELD_TEXT_MAX, "0x%04x", vendor_id);
	return scratch;
}

/* How many of numbers follow each other, from the first on. */
static size_t run_of(const unsigned *numbers, size_t count)
{
	size_t run = 1;

	while (run < count && numbers[run] == numbers[0] + run)
		run++;
	return run;
}

/* "nearest NIC2, NIC4-7 (PIX)" */
static void add_nearest(struct builder *builder, const struct rna_gpu_affinity *affinity)
{
	struct rna_strbuf *out;
	size_t run;

	if (affinity->nearest_count == 0)
		return;
	out = next(builder);
	rna_strbuf_puts(out, "nearest ");
	for (size_t i = 0; i < affinity->nearest_count; i += run) {
		const unsigned *first = &affinity->nearest[i];

		run = run_of(first, affinity->nearest_count - i);
		rna_strbuf_printf(out, "%sNIC%u", i > 0 ? ", " : "", *first);
		if (run > 1)
			rna_strbuf_printf(out, "-%zu", *first + run - 1);
	}
	rna_strbuf_printf(out, " (%s)", rna_path_class_name(affinity->path));
}

static void set_gpu(struct builder *builder, struct rna_item *item)
{
	const struct rna_gpu *gpu = &builder->topology->gpus[item->number];
	const struct rna_pci_object *object = &builder->topology->objects[gpu->object];
	const char *vendor;
	char scratch[RNA_FIELD_TEXT_MAX];

	item->kind = RNA_ITEM_GPU;
	rna_strbuf_printf(&builder->scratch, "GPU%d", item->number);
	item->name = keep(builder);
	item->what = gpu->model;
	vendor = rna_gpu_vendor(object->vendor_id, scratch);
	if (!item->what && vendor) {
		rna_strbuf_printf(&builder->scratch, "%s %04x", vendor, object->device_id);
		item->what = keep(builder);
	}
	if (gpu->os_devices > 1)
		rna_strbuf_printf(next(builder), "%u devices", gpu->os_devices);
	add_nearest(builder, &builder->topology->affinities[item->number]);
	item->notes = keep(builder);
}

/* The worst of the states of a NIC's ports; and how many are up, for the sum of their rates. */
struct ports {
	unsigned count;
	unsigned up;
	unsigned down;
	uint64_t rate;
	const struct rna_subject *worst;
};

static void count_port(const struct rna_subject *port, struct ports *ports)
{
	struct rna_value rate = rna_port_rate(port);

	ports->count++;
	ports->up += rna_port_up(port).number != 0;
	ports->down += rna_subject_in_state(port, RNA_PORT_DOWN);
	if (rna_value_is_known(rate))
		ports->rate += rate.number;
	if (!ports->worst || rna_tone_state(port) > rna_tone_state(ports->worst))
		ports->worst = port;
}

static struct ports ports_of(const struct builder *builder, const struct rna_nic *nic)
{
	const struct rna_subject_list *list = rna_view_ports(builder->view);
	struct ports ports = {0};

	for (size_t d = 0; d < nic->device_count; d++)
		for (size_t p = 0; p < list->count; p++)
			if (!list->items[p].represents &&
			    strcmp(list->items[p].device->device->name, nic->devices[d]) == 0)
				count_port(&list->items[p], &ports);
	return ports;
}

/* "400 Gb/s" if all ports are up; else the worst state, and the number of ports in it. */
static void set_state(struct builder *builder, struct rna_item *item, const struct ports *ports)
{
	const char *state = ports->worst ? rna_subject_state_name(ports->worst) : NULL;

	if (!state)
		return;
	item->tone = rna_tone_state(ports->worst);
	if (rna_port_up(ports->worst).number != 0 && ports->rate > 0)
		rna_strbuf_printf(&builder->scratch, "%.6g Gb/s", rna_gigabits(ports->rate));
	else
		rna_strbuf_puts(&builder->scratch, state);
	if (rna_port_up(ports->worst).number == 0 && ports->count > 1)
		rna_strbuf_printf(&builder->scratch, " %u of %u", ports->count - ports->up,
				  ports->count);
	item->state = keep(builder);
	if (builder->topology->nics[item->number].lag < 0)
		builder->tree->ports_down += ports->down;
}

/* A function that has no RDMA device is marked where a finding misses it. */
static void mark_bare(struct builder *builder, struct rna_item *item, const struct rna_nic *nic)
{
	const struct rna_topology *topology = builder->topology;

	item->tone = rna_tone_findings(builder->view, topology->objects[nic->object].address, 0);
	if (item->tone == RNA_TONE_PLAIN)
		return;
	rna_strbuf_puts(&builder->scratch, "no RDMA device");
	item->state = keep(builder);
}

static void add_list(struct builder *builder, const char *const *names, size_t count)
{
	enum { SHOWN_MAX = 4 };

	for (size_t i = 0; i < count && i < SHOWN_MAX; i++)
		rna_strbuf_puts(next(builder), names[i]);
	if (count > SHOWN_MAX)
		rna_strbuf_printf(next(builder), "%zu more", count - SHOWN_MAX);
}

/* The card, if it has several functions: they need not stand together in the tree. */
static void add_card(struct builder *builder, const struct rna_nic *nic)
{
	const struct rna_card *card =
		rna_card_at(builder->view->cards, builder->topology->objects[nic->object].address);

	if (card && card->function_count > 1)
		rna_strbuf_printf(next(builder), "card %s", card->address);
}

static void add_nic_notes(struct builder *builder, const struct rna_nic *nic)
{
	if (nic->rail >= 0)
		rna_strbuf_printf(next(builder), "rail %d", nic->rail);
	add_card(builder, nic);
	if (nic->data_direct >= 0)
		rna_strbuf_puts(next(builder), "Data Direct");
	if (nic->switch_management)
		rna_strbuf_puts(next(builder), "manages NVSwitches");
	if (nic->device_count > 0) /* else they are what it is called by */
		add_list(builder, nic->netdevs, nic->netdev_count);
	if (nic->virtual_functions > 0)
		rna_strbuf_printf(next(builder), "+%u VFs", nic->virtual_functions);
	if (nic->scalable_functions > 0)
		rna_strbuf_printf(next(builder), "+%u SFs", nic->scalable_functions);
}

static void set_nic(struct builder *builder, struct rna_item *item)
{
	const struct rna_nic *nic = &builder->topology->nics[item->number];
	struct ports ports = ports_of(builder, nic);

	item->kind = RNA_ITEM_NIC;
	rna_strbuf_printf(&builder->scratch, "NIC%d", item->number);
	item->name = keep(builder);
	if (nic->device_count > 0)
		add_list(builder, nic->devices, nic->device_count);
	else
		add_list(builder, nic->netdevs, nic->netdev_count);
	item->what = keep(builder);
	if (nic->device_count > 0)
		set_state(builder, item, &ports);
	else
		mark_bare(builder, item, nic);
	add_nic_notes(builder, nic);
	item->notes = keep(builder);
}

/* The function through which a NIC reaches GPU memory: whose it is. */
static void set_data_direct(struct builder *builder, struct rna_item *item, int object)
{
	for (size_t i = 0; i < builder->topology->nic_count; i++)
		if (builder->topology->nics[i].data_direct == object)
			rna_strbuf_printf(next(builder), "of NIC%zu", i);
	item->what = keep(builder);
}

/* -- Items ------------------------------------------------------------------------------------- */

static int find_gpu(const struct rna_topology *topology, int object)
{
	for (size_t i = 0; i < topology->gpu_count; i++)
		if (topology->gpus[i].object == (unsigned)object)
			return (int)i;
	return -1;
}

static int find_nic(const struct rna_topology *topology, int object)
{
	for (size_t i = 0; i < topology->nic_count; i++)
		if (topology->nics[i].object == (unsigned)object)
			return (int)i;
	return -1;
}

static void describe(struct builder *builder, struct rna_item *item, int object)
{
	static const struct {
		enum rna_item_kind kind;
		const char *name;
	} roles[RNA_PCI_ROLE_COUNT] = {
		[RNA_PCI_HOST_BRIDGE] = {RNA_ITEM_HOST_BRIDGE, "host bridge"},
		[RNA_PCI_ROOT_PORT] = {RNA_ITEM_ROOT_PORT, "root port"},
		[RNA_PCI_UPSTREAM] = {RNA_ITEM_SWITCH, "switch"},
		[RNA_PCI_DOWNSTREAM] = {RNA_ITEM_BRIDGE, "switch port"},
		[RNA_PCI_BRIDGE] = {RNA_ITEM_BRIDGE, "bridge"},
		[RNA_PCI_GPU] = {RNA_ITEM_BRIDGE, "GPU"}, /* those not in the list of GPUs */
		[RNA_PCI_NIC] = {RNA_ITEM_BRIDGE, "NIC"},
		[RNA_PCI_DATA_DIRECT] = {RNA_ITEM_DATA_DIRECT, "Data Direct"},
	};
	const struct rna_pci_object *pci = &builder->topology->objects[object];

	item->kind = roles[pci->role].kind;
	item->name = roles[pci->role].name;
	item->address = pci->address;
	if (pci->role == RNA_PCI_GPU && (item->number = find_gpu(builder->topology, object)) >= 0)
		set_gpu(builder, item);
	if (pci->role == RNA_PCI_NIC && (item->number = find_nic(builder->topology, object)) >= 0)
		set_nic(builder, item);
	if (pci->role == RNA_PCI_DATA_DIRECT)
		set_data_direct(builder, item, object);
	if (pci->parent >= 0 && is_upper_end(builder->topology->objects[pci->parent].role))
		set_link(builder, item, object);
}

static int add_item(struct builder *builder, int parent, int object)
{
	struct rna_topology_tree *tree = builder->tree;
	struct rna_item *item = &tree->items[tree->count];

	*item = (struct rna_item){
		.parent = parent,
		.depth = parent < 0 ? 0 : tree->items[parent].depth + 1,
		.object = object,
		.number = -1,
	};
	if (object >= 0)
		describe(builder, item, object);
	return (int)tree->count++;
}

/* A downstream port below the upstream port of its switch: one item shows them all. */
static bool is_folded(const struct rna_topology *topology, int object)
{
	const struct rna_pci_object *pci = &topology->objects[object];

	return pci->role == RNA_PCI_DOWNSTREAM && pci->parent >= 0 &&
	       topology->objects[pci->parent].role == RNA_PCI_UPSTREAM;
}

/* Recursion ends: a parent stands in front of its children. */
static void add_below(struct builder *builder, int parent, int object)
{
	const struct rna_topology *topology = builder->topology;
	int item = is_folded(topology, object) ? parent : add_item(builder, parent, object);

	for (size_t i = (size_t)object + 1; i < topology->object_count; i++)
		if (topology->objects[i].parent == object)
			add_below(builder, item, (int)i);
}

/* -- Places ------------------------------------------------------------------------------------ */

struct place {
	int package;
	int numa_node;
};

/* What is not known comes last. */
static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	unsigned px = (unsigned)x->package, py = (unsigned)y->package;
	unsigned nx = (unsigned)x->numa_node, ny = (unsigned)y->numa_node;

	if (px != py)
		return px < py ? -1 : 1;
	return nx == ny ? 0 : nx < ny ? -1 : 1;
}

static struct place place_of(const struct rna_pci_object *object)
{
	return (struct place){object->package, object->numa_node};
}

static void name_place(struct builder *builder, struct rna_item *item, struct place place)
{
	item->kind = RNA_ITEM_PLACE;
	if (place.package >= 0)
		rna_strbuf_printf(next(builder), "Socket %d", place.package);
	if (place.numa_node >= 0)
		rna_strbuf_printf(next(builder), "NUMA node %d", place.numa_node);
	if (place.package < 0 && place.numa_node < 0)
		rna_strbuf_puts(next(builder), "NUMA node not known");
	item->name = keep(builder);
}

static void add_place(struct builder *builder, struct place place)
{
	const struct rna_topology *topology = builder->topology;
	int item = add_item(builder, RNA_NO_ITEM, RNA_NO_OBJECT);

	name_place(builder, &builder->tree->items[item], place);
	for (size_t i = 0; i < topology->object_count; i++) {
		struct place own = place_of(&topology->objects[i]);

		if (topology->objects[i].parent < 0 && compare_places(&own, &place) == 0)
			add_below(builder, item, (int)i);
	}
}

/* Of the roots, each once, in places, which has room for all of them. */
static size_t find_places(const struct rna_topology *topology, struct place *places)
{
	size_t count = 0, unique = 0;

	for (size_t i = 0; i < topology->object_count; i++)
		if (topology->objects[i].parent < 0)
			places[count++] = place_of(&topology->objects[i]);
	if (count > 0) /* qsort() wants an array even for none */
		qsort(places, count, sizeof(*places), compare_places);
	for (size_t i = 0; i < count; i++)
		if (unique == 0 || compare_places(&places[unique - 1], &places[i]) != 0)
			places[unique++] = places[i];
	return unique;
}

static void mark_last(struct rna_topology_tree *tree)
{
	for (size_t i = 0; i < tree->count; i++) {
		tree->items[i].last = true;
		for (size_t j = i + 1; j < tree->count && tree->items[i].last; j++)
			tree->items[i].last = tree->items[j].parent != tree->items[i].parent;
	}
}

/* -- The whole --------------------------------------------------------------------------------- */

void rna_topology_tree_deinit(struct rna_topology_tree *tree)
{
	(void)rna_arena_free(tree->arena);
	*tree = RNA_TOPOLOGY_TREE_INIT;
}

static int make(struct builder *builder)
{
	const struct rna_topology *topology = builder->topology;
	struct rna_topology_tree *tree = builder->tree;
	size_t most = 2 * topology->object_count + 1; /* as many places as roots, at most */
	struct place *places;
	size_t count;

	tree->items = rna_arena_array(tree->arena, most, sizeof(*tree->items));
	places = rna_arena_array(tree->arena, most, sizeof(*places));
	if (!tree->items || !places)
		return -ENOMEM;
	count = find_places(topology, places);
	for (size_t i = 0; i < count; i++)
		add_place(builder, places[i]);
	mark_last(tree);
	return builder->failed ? -ENOMEM : 0;
}

int rna_topology_tree_make(const struct rna_view *view, struct rna_topology_tree *ret)
{
	const struct rna_topology *topology = rna_snapshot_topology(view->snapshot);
	RNA_CLEANUP(deinit_builder)
	struct builder builder = {.topology = topology, .view = view, .tree = ret};
	int r;

	*ret = (struct rna_topology_tree){.topology = topology};
	if (!topology)
		return 0;
	ret->arena = rna_arena_new(topology->object_count * 2 * sizeof(struct rna_item) + 4096);
	r = ret->arena ? make(&builder) : -ENOMEM;
	if (r < 0)
		rna_topology_tree_deinit(ret);
	return r;
}

static void add_count(struct rna_strbuf *out, size_t count, const char *what)
{
	rna_strbuf_printf(out, "%zu %s%s", count, what, count == 1 ? "" : "s");
}

void rna_topology_summary(const struct rna_topology_tree *tree, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, "PCI topology of this node: ");
	add_count(out, tree->topology ? tree->topology->gpu_count : 0, "GPU");
	rna_strbuf_puts(out, ", ");
	add_count(out, tree->topology ? tree->topology->nic_count : 0, "NIC");
	if (tree->ports_down > 0) {
		rna_strbuf_puts(out, ", ");
		add_count(out, tree->ports_down, "port");
		rna_strbuf_puts(out, " down");
	}
	if (tree->troubles > 0) {
		rna_strbuf_puts(out, ", ");
		add_count(out, tree->troubles, "PCIe link");
		rna_strbuf_puts(out, " below what both ends can do");
	}
}

const char *rna_topology_why_little(const struct rna_topology *topology)
{
	if (!topology)
		return "The PCI topology is not known (yet).";
	if (topology->problem && topology->object_count == 0)
		return "The PCI topology could not be read.";
	if (topology->gpu_count == 0 && topology->nic_count == 0)
		return "No GPU and no NIC: there is neither on the PCI buses of this node.";
	if (topology->gpu_count == 0)
		return "No GPU: there is none on the PCI buses of this node.";
	if (topology->nic_count == 0)
		return "No NIC: there is none on the PCI buses of this node.";
	return NULL;
}
