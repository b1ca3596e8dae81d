// SPDX-License-Identifier: Apache-2.0
/*
 * Where the items of a topology go in a drawing.
 *
 * Root ports are not drawn: nearly every one leads to one thing only, and the link that is drawn is
 * that of the port. A box stands in the middle of what hangs on it, so that a row belongs to one
 * leaf and nothing else: neither boxes nor links cross.
 */
#include "topology_layout.h"

#include <errno.h>

enum {
	MARGIN = 12,
	CARD_GAP = 16,
	LEAF_WIDTH = 300,
	LEAF_HEIGHT = 44,
	BOX_WIDTH = 104,
	BOX_HEIGHT = 38,
	ROW_GAP = 10,
	PAGE_WIDTH = 1700, /* cards stand side by side as long as they fit */
};

struct span {
	int first, last; /* centres of what hangs on an item; 0: nothing does */
};

static bool is_leaf(const struct rna_item *item)
{
	return item->kind == RNA_ITEM_GPU || item->kind == RNA_ITEM_NIC ||
	       item->kind == RNA_ITEM_DATA_DIRECT;
}

static bool is_box(const struct rna_item *item)
{
	return item->kind != RNA_ITEM_PLACE && item->kind != RNA_ITEM_ROOT_PORT;
}

int rna_topology_layout_above(const struct rna_topology_tree *tree, int item)
{
	int above = tree->items[item].parent;

	while (above >= 0 && !is_box(&tree->items[above]))
		above = tree->items[above].parent;
	return above;
}

static int column_of(const struct rna_topology_tree *tree, int item)
{
	int column = 0;

	while ((item = rna_topology_layout_above(tree, item)) >= 0)
		column++;
	return column;
}

static int column_x(int column)
{
	return MARGIN + RNA_LAYOUT_PAD + column * (BOX_WIDTH + RNA_LAYOUT_LINK);
}

/* What stands in no column of boxes starts behind the last of them. */
static int count_columns(const struct rna_topology_tree *tree)
{
	int most = 0;

	for (size_t i = 0; i < tree->count; i++)
		if (is_box(&tree->items[i])) {
			int column = column_of(tree, (int)i) + !is_leaf(&tree->items[i]);

			most = column > most ? column : most;
		}
	return most;
}

/* Widths, heights and columns, as if there was one card. */
static void set_sizes(const struct rna_topology_tree *tree, struct rna_topology_layout *layout,
		      int columns)
{
	for (size_t i = 0; i < tree->count; i++) {
		const struct rna_item *item = &tree->items[i];
		bool leaf = is_leaf(item);

		if (!is_box(item))
			continue;
		layout->boxes[i] = (struct rna_box){
			.x = column_x(leaf ? columns : column_of(tree, (int)i)),
			.width = leaf ? LEAF_WIDTH : BOX_WIDTH,
			.height = (leaf ? LEAF_HEIGHT : BOX_HEIGHT) +
				  (item->trouble ? RNA_LAYOUT_LINE : 0),
		};
	}
}

/* Rows from the top of a card on. A box without leaves has a row of its own. */
static int stack_rows(const struct rna_topology_tree *tree, struct rna_topology_layout *layout,
		      size_t place, int y)
{
	for (size_t i = place + 1; i < tree->count && tree->items[i].depth > 0; i++) {
		bool has_below =
			i + 1 < tree->count && tree->items[i + 1].depth > tree->items[i].depth;

		if (layout->boxes[i].width == 0 || has_below)
			continue;
		layout->boxes[i].y = y;
		y += layout->boxes[i].height + ROW_GAP;
	}
	return y - ROW_GAP;
}

/* Backwards: what hangs on a box has its place before the box gets one. */
static int centre_boxes(const struct rna_topology_tree *tree, struct rna_topology_layout *layout)
{
	RNA_FREE struct span *spans = calloc(tree->count, sizeof(*spans));

	if (!spans)
		return -ENOMEM;
	for (size_t i = tree->count; i-- > 0;) {
		struct rna_box *box = &layout->boxes[i];
		int above = rna_topology_layout_above(tree, (int)i), centre;

		if (box->width == 0)
			continue;
		if (spans[i].last > 0)
			box->y = (spans[i].first + spans[i].last - box->height) / 2;
		centre = box->y + box->height / 2;
		if (above < 0)
			continue;
		spans[above].first = centre;
		if (spans[above].last == 0)
			spans[above].last = centre;
	}
	return 0;
}

static void shift_place(const struct rna_topology_tree *tree, struct rna_topology_layout *layout,
			size_t place, int x, int y)
{
	size_t i = place;

	do {
		layout->boxes[i].x += x;
		layout->boxes[i].y += y;
	} while (++i < tree->count && tree->items[i].depth > 0);
}

/* Cards from left to right and from top to bottom, each below the shortest of the columns. */
static void place_cards(const struct rna_topology_tree *tree, struct rna_topology_layout *layout)
{
	enum { SIDE_BY_SIDE = 2 };
	int bottoms[SIDE_BY_SIDE] = {MARGIN, MARGIN};
	int width = layout->width - 2 * MARGIN + CARD_GAP, used = 0;
	int most = SIDE_BY_SIDE * width <= PAGE_WIDTH ? SIDE_BY_SIDE : 1;

	for (size_t i = 0; i < tree->count; i++) {
		int best = 0;

		if (tree->items[i].depth > 0)
			continue;
		for (int c = 1; c < most; c++)
			best = bottoms[c] < bottoms[best] ? c : best;
		shift_place(tree, layout, i, best * width, bottoms[best] - MARGIN);
		bottoms[best] += layout->boxes[i].height + CARD_GAP;
		used = best + 1 > used ? best + 1 : used;
	}
	layout->width = 2 * MARGIN - CARD_GAP + used * width;
	for (int c = 0; c < most; c++)
		layout->height = bottoms[c] > layout->height ? bottoms[c] : layout->height;
	layout->height += MARGIN - CARD_GAP;
}

int rna_topology_layout_make(const struct rna_topology_tree *tree, struct rna_topology_layout *ret)
{
	int columns = count_columns(tree);
	int right = column_x(columns) + LEAF_WIDTH + RNA_LAYOUT_PAD;
	struct rna_topology_layout layout = {.width = right + MARGIN};

	layout.boxes = calloc(tree->count + 1, sizeof(*layout.boxes));
	if (!layout.boxes)
		return -ENOMEM;
	set_sizes(tree, &layout, columns);
	for (size_t i = 0; i < tree->count; i++)
		if (tree->items[i].depth == 0)
			layout.boxes[i] = (struct rna_box){
				.x = MARGIN,
				.y = MARGIN,
				.width = right - MARGIN,
				.height = stack_rows(tree, &layout, i, MARGIN + RNA_LAYOUT_HEAD) +
					  RNA_LAYOUT_PAD - MARGIN,
			};
	if (centre_boxes(tree, &layout) < 0) {
		rna_topology_layout_deinit(&layout);
		return -ENOMEM;
	}
	place_cards(tree, &layout);
	*ret = layout;
	return 0;
}

void rna_topology_layout_deinit(struct rna_topology_layout *layout)
{
	free(layout->boxes);
	*layout = RNA_TOPOLOGY_LAYOUT_INIT;
}
