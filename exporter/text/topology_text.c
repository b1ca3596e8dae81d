// SPDX-License-Identifier: Apache-2.0
/*
 * The topology for people at a terminal: the matrix that `nvidia-smi topo -m` shows, of any
 * vendor's GPUs, and the PCI tree that it follows from.
 */
#include <string.h>

#include "rna/exporter.h"

#include "view/text.h"
#include "view/topology_tree.h"

#include "text_table.h"

#define BOLD  "\033[1m"
#define FAINT "\033[2m"
#define PLAIN "\033[0m"

enum { INDENT = 3, DEEPER = 4 }; /* of a level of the tree, and of a line that goes on */

struct writer {
	const struct rna_topology *topology;
	const struct rna_topology_tree *tree;
	struct rna_strbuf *out;
	bool colour;
	int width; /* of a line; 0: any */
	int used;  /* of it, by the item that is written */
};

static void add(const struct writer *writer, const char *text)
{
	rna_strbuf_puts(writer->out, text);
}

/* Text of the hardware's, in a colour; "" is none. */
static void add_in(const struct writer *writer, const char *colour, const char *text)
{
	bool coloured = writer->colour && *colour;

	add(writer, coloured ? colour : "");
	rna_text_add(writer->out, text, NULL);
	add(writer, coloured ? PLAIN : "");
}

/* -- The matrix -------------------------------------------------------------------------------- */

static size_t member_count(const struct rna_topology *topology)
{
	return topology->gpu_count + topology->nic_count;
}

/* GPUs come first, then NICs. */
static unsigned object_of(const struct rna_topology *topology, size_t member)
{
	return member < topology->gpu_count ? topology->gpus[member].object
					    : topology->nics[member - topology->gpu_count].object;
}

/* "GPU0", or "NIC12", padded. */
static void add_name(const struct writer *writer, size_t member, const char *colour)
{
	const struct rna_topology *topology = writer->topology;
	bool gpu = member < topology->gpu_count;
	size_t number = gpu ? member : member - topology->gpu_count;
	int len = snprintf(NULL, 0, "%zu", number);

	add(writer, writer->colour ? colour : "");
	rna_strbuf_printf(writer->out, "%s%zu%*s", gpu ? "GPU" : "NIC", number, 6 - 3 - len, "");
	add(writer, writer->colour && *colour ? PLAIN : "");
	add(writer, " ");
}

/* The nearer, the greener; what is far is for the eye to skip. */
static const char *path_colour(enum rna_path_class path)
{
	static const char *const colours[RNA_PATH_COUNT] = {
		[RNA_PATH_SAME] = FAINT,        [RNA_PATH_PIX] = "\033[1;32m",
		[RNA_PATH_PXB] = "\033[32m",    [RNA_PATH_PHB] = "\033[33m",
		[RNA_PATH_NODE] = "",           [RNA_PATH_SYS] = FAINT,
		[RNA_PATH_UNKNOWN] = "\033[35m"};

	return colours[path];
}

static void add_path(const struct writer *writer, size_t a, size_t b)
{
	unsigned from = object_of(writer->topology, a), to = object_of(writer->topology, b);
	enum rna_path_class path =
		a == b ? RNA_PATH_SAME : rna_topology_path(writer->topology, from, to);
	const char *name = path == RNA_PATH_UNKNOWN ? "?" : rna_path_class_name(path);

	add_in(writer, path_colour(path), name);
	rna_strbuf_printf(writer->out, "%*s", (int)(7 - strlen(name)), "");
}

static void add_row(const struct writer *writer, size_t member, size_t first, size_t end)
{
	unsigned object = object_of(writer->topology, member);
	const struct rna_pci_object *place = &writer->topology->objects[object];

	add_name(writer, member, BOLD);
	for (size_t i = first; i < end; i++)
		add_path(writer, member, i);
	if (place->numa_node >= 0)
		rna_strbuf_printf(writer->out, "%-6d", place->numa_node);
	else
		add(writer, "?     ");
	rna_text_add(writer->out, place->cpus ? place->cpus : "?", NULL);
	add(writer, "\n");
}

static int affinity_width(const struct rna_topology *topology)
{
	size_t width = strlen("CPU affinity");

	for (size_t i = 0; i < member_count(topology); i++) {
		const char *cpus = topology->objects[object_of(topology, i)].cpus;

		if (cpus && strlen(cpus) > width)
			width = strlen(cpus);
	}
	return (int)width;
}

/* As many of the columns as a line has room for; those that are left follow below. */
static void add_matrix(const struct writer *writer)
{
	enum { CELL = 7, NUMA = 6 };
	int room = (writer->width - CELL - NUMA - affinity_width(writer->topology)) / CELL;
	size_t count = member_count(writer->topology), step = room > 0 ? (size_t)room : count;

	for (size_t first = 0; first < count; first += step) {
		size_t end = step < count - first ? first + step : count;

		rna_strbuf_printf(writer->out, "%s%*s", first > 0 ? "\n" : "", CELL, "");
		for (size_t i = first; i < end; i++)
			add_name(writer, i, BOLD);
		add_in(writer, BOLD, "NUMA  CPU affinity");
		add(writer, "\n");
		for (size_t i = 0; i < count; i++)
			add_row(writer, i, first, end);
	}
}

/* NULL: it hangs on nothing that is in the tree. */
static const struct rna_item *find_nic(const struct rna_topology_tree *tree, size_t number)
{
	return RNA_FIND(i, tree->items, tree->count,
			tree->items[i].kind == RNA_ITEM_NIC &&
				(size_t)tree->items[i].number == number);
}

/* By number, which need not be the order of the tree. */
static void add_nic_legend(const struct writer *writer)
{
	add(writer, "\nNIC Legend:\n\n");
	for (size_t i = 0; i < writer->topology->nic_count; i++) {
		const struct rna_item *item = find_nic(writer->tree, i);

		if (!item)
			continue;
		rna_strbuf_printf(writer->out, "  %s: ", item->name);
		rna_text_add(writer->out, item->what ? item->what : item->address, NULL);
		add(writer,
		    writer->topology->nics[i].device_count == 0 ? " (no RDMA device)\n" : "\n");
	}
}

static void add_legend(const struct writer *writer)
{
	static const char *const lines[] = {
		"  X    = Self",
		"  SYS  = Over PCIe and the interconnect between NUMA nodes (e.g., QPI/UPI)",
		("  NODE = Over PCIe and the interconnect between PCIe host bridges within a NUMA "
		 "node"),
		"  PHB  = Over PCIe and a PCIe host bridge (typically the CPU)",
		"  PXB  = Over several PCIe switches, without a PCIe host bridge",
		"  PIX  = Over at most a single PCIe switch",
		"  ?    = Not known",
	};
	const size_t indent = strlen("  X    = ");

	add(writer, "\nLegend:\n\n");
	for (size_t i = 0; i < RNA_ARRAY_SIZE(lines); i++)
		rna_text_wrap(lines[i], 0, indent, (size_t)writer->width, writer->out);
	if (writer->topology->gpu_count > 1)
		add(writer, "\nNVLink and xGMI, which connect GPUs directly, are not shown.\n");
	if (writer->topology->nic_count > 0)
		add_nic_legend(writer);
}

/* -- The tree ---------------------------------------------------------------------------------- */

/* The lines that lead down to later siblings of what is above, from the outside in. */
static void add_lines(const struct writer *writer, const struct rna_item *item, bool own)
{
	const struct rna_item *items = writer->tree->items;

	if (item->depth == 0)
		return;
	add_lines(writer, &items[item->parent], false);
	if (own)
		add(writer, item->last ? "└─ " : "├─ ");
	else
		add(writer, item->last ? "   " : "│  ");
}

/* A word of the item, behind before; what has no room on the line begins another below it. */
static void add_word(struct writer *writer, const struct rna_item *item, const char *before,
		     const char *colour, const char *text)
{
	int width = text ? rna_text_columns(before) + rna_text_columns(text) : 0;

	if (!text)
		return;
	if (writer->width > 0 && writer->used + width > writer->width) {
		add(writer, "\n");
		add_lines(writer, item, false);
		rna_strbuf_printf(writer->out, "%*s", DEEPER, "");
		writer->used = (int)item->depth * INDENT + DEEPER;
		width = rna_text_columns(text);
		before = "";
	}
	add(writer, writer->colour ? colour : "");
	add(writer, before);
	rna_text_add(writer->out, text, NULL);
	add(writer, writer->colour && *colour ? PLAIN : "");
	writer->used += width;
}

static void add_item(struct writer *writer, const struct rna_item *item)
{
	bool strong = item->number >= 0 || item->kind == RNA_ITEM_PLACE;
	char width[RNA_FIELD_TEXT_MAX], speed[RNA_FIELD_TEXT_MAX];
	const char *lanes = rna_item_width(item, width), *rate = rna_item_speed(item, speed);

	add_lines(writer, item, true);
	writer->used = (int)item->depth * INDENT;
	add_word(writer, item, "", strong ? BOLD : "", item->name);
	add_word(writer, item, " ", FAINT, item->address);
	add_word(writer, item, "  ", "", item->what);
	add_word(writer, item, "  ", rna_tone_colour(item->tone), item->state);
	add_word(writer, item, "  ", "", lanes);
	add_word(writer, item, lanes ? " " : "  ", "", rate);
	add_word(writer, item, " !! could be ", rna_tone_colour(RNA_TONE_BAD), item->trouble);
	add_word(writer, item, "  ", FAINT, item->notes);
	add(writer, "\n");
}

void rna_write_topology(const struct rna_view *view, const struct rna_table_options *options,
			struct rna_strbuf *out)
{
	RNA_TOPOLOGY_TREE struct rna_topology_tree tree = RNA_TOPOLOGY_TREE_INIT;
	struct writer writer = {.tree = &tree,
				.out = out,
				.colour = options->colour,
				.width = (int)options->width};
	const char *why;

	if (rna_topology_tree_make(view, &tree) < 0) {
		out->failed = true;
		return;
	}
	writer.topology = tree.topology;
	if (tree.topology && tree.topology->problem) {
		rna_text_add(out, tree.topology->problem, NULL);
		add(&writer, "\n\n");
	}
	why = rna_topology_why_little(tree.topology);
	if (why)
		rna_strbuf_printf(out, "%s\n", why);
	if (tree.count == 0)
		return;
	add(&writer, why ? "\n" : "");
	add_matrix(&writer);
	add_legend(&writer);
	add(&writer, "\n");
	for (size_t i = 0; i < tree.count; i++)
		add_item(&writer, &tree.items[i]);
}
