// SPDX-License-Identifier: Apache-2.0
/*
 * The topology in the language of Graphviz, for pictures of one's own: "dot -Tpdf". Places are
 * clusters; an edge is a link, labelled with its width and speed.
 */
#include "rna/exporter.h"

#include "view/text.h"
#include "view/topology_tree.h"

struct writer {
	const struct rna_topology_tree *tree;
	struct rna_strbuf *out;
};

/* In double quotes a backslash begins an escape, such as \n (Graphviz, "escString"). */
static const char *escape_dot(char c)
{
	if (c == '"')
		return "\\\"";
	if (c == '\\')
		return "\\\\";
	return NULL;
}

static void add_text(const struct writer *writer, const char *before, const char *text)
{
	if (!text)
		return;
	rna_strbuf_puts(writer->out, before);
	rna_text_add(writer->out, text, escape_dot);
}

static const char *shape_of(const struct rna_item *item)
{
	static const char *const shapes[RNA_ITEM_KIND_COUNT] = {
		[RNA_ITEM_HOST_BRIDGE] = "shape=house",
		[RNA_ITEM_ROOT_PORT] = "shape=box,style=rounded",
		[RNA_ITEM_SWITCH] = "shape=hexagon",
		[RNA_ITEM_BRIDGE] = "shape=box,style=rounded",
		[RNA_ITEM_GPU] = "shape=box,style=filled,fillcolor=\"#d9f0cf\"",
		[RNA_ITEM_NIC] = "shape=box,style=filled,fillcolor=\"#d6e4fb\"",
		[RNA_ITEM_DATA_DIRECT] = "shape=box,style=dashed",
	};

	return shapes[item->kind];
}

static void add_node(const struct writer *writer, size_t i)
{
	const struct rna_item *item = &writer->tree->items[i];

	rna_strbuf_printf(writer->out, "\t\ti%zu [%s,label=\"", i, shape_of(item));
	add_text(writer, "", item->name);
	add_text(writer, "\\n", item->what);
	add_text(writer, "\\n", item->address);
	add_text(writer, "\\n", item->state);
	add_text(writer, "\\n", item->notes);
	rna_strbuf_puts(writer->out,
			item->tone == RNA_TONE_BAD ? "\",color=red,penwidth=2];\n" : "\"];\n");
}

static void add_edge(const struct writer *writer, size_t i)
{
	const struct rna_item *item = &writer->tree->items[i];
	char width[RNA_FIELD_TEXT_MAX], speed[RNA_FIELD_TEXT_MAX];

	if (item->depth < 2) /* a host bridge has nothing above it but its place */
		return;
	rna_strbuf_printf(writer->out, "\ti%d -> i%zu [label=\"", item->parent, i);
	add_text(writer, "", rna_item_width(item, width));
	add_text(writer, " ", rna_item_speed(item, speed));
	add_text(writer, "\\ncould be ", item->trouble);
	rna_strbuf_puts(writer->out, item->trouble ? "\",color=red,style=dashed];\n" : "\"];\n");
}

static void add_place(const struct writer *writer, size_t place)
{
	const struct rna_topology_tree *tree = writer->tree;

	rna_strbuf_printf(writer->out, "\tsubgraph cluster_%zu {\n\t\tlabel=\"", place);
	add_text(writer, "", tree->items[place].name);
	rna_strbuf_puts(writer->out, "\";\n");
	for (size_t i = place + 1; i < tree->count && tree->items[i].depth > 0; i++)
		add_node(writer, i);
	rna_strbuf_puts(writer->out, "\t}\n");
}

void rna_write_topology_dot(const struct rna_view *view, struct rna_strbuf *out)
{
	RNA_TOPOLOGY_TREE struct rna_topology_tree tree = RNA_TOPOLOGY_TREE_INIT;
	const struct writer writer = {&tree, out};

	if (rna_topology_tree_make(view, &tree) < 0) {
		out->failed = true;
		return;
	}
	rna_strbuf_puts(out, "digraph topology {\n\trankdir=LR;\n"
			     "\tgraph [fontname=\"sans-serif\",label=\"");
	rna_topology_summary(&tree, out);
	rna_strbuf_puts(out, "\"];\n\tnode [fontname=\"sans-serif\"];\n"
			     "\tedge [fontname=\"sans-serif\",arrowhead=none];\n");
	for (size_t i = 0; i < tree.count; i++)
		if (tree.items[i].kind == RNA_ITEM_PLACE)
			add_place(&writer, i);
	for (size_t i = 0; i < tree.count; i++)
		add_edge(&writer, i);
	rna_strbuf_puts(out, "}\n");
}
