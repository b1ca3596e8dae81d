// SPDX-License-Identifier: Apache-2.0
/*
 * The topology as a drawing: SVG without scripts or anything from elsewhere, for the status page
 * and as a file of its own. What is wrong is said in words beside the colour, and the full text of
 * a box is its title, which browsers show under the mouse and screen readers read.
 *
 * The font of the reader is unknown. Texts are cut to their room by the widths of a wide
 * one (DejaVu Sans Bold, or Liberation Sans where that is wider), so that none reaches into
 * another.
 */
#include "rna/exporter.h"

#include "view/text.h"

#include "page_parts.h"
#include "topology_layout.h"

enum {
	LARGE = 13, /* font sizes, in pixels; the style has the same */
	SMALL = 11,
	INSET = 14, /* of text in a box, from the left */
	PILL_PAD = 7,
};

static const char style[] =
	".topo{--bg:#fff;--card:#f6f7f9;--line:#d5dae1;--ink:#1c2128;--soft:#5c6675;--wire:#8a94a3;"
	"--gpu:#3c8f1f;--nic:#2563c9;--good:#176f3c;--good-bg:#ddf4e4;--warn:#8a5a00;"
	"--warn-bg:#fdf0cf;--bad:#b3261e;--bad-bg:#fde3e1;--plain-bg:#e2e6eb}\n"
	"@media(prefers-color-scheme:dark){.topo{--bg:#1a1f26;--card:#12151a;--line:#333b47;"
	"--ink:#e4e8ee;--soft:#a2acba;--wire:#6f7a8a;--gpu:#7fd35c;--nic:#6ea8fe;--good:#6fd899;"
	"--good-bg:#143524;--warn:#f0c267;--warn-bg:#3a2e10;--bad:#ff9c94;--bad-bg:#43191a;"
	"--plain-bg:#2b323c}}\n"
	".topo text{font:11px system-ui,-apple-system,\"Segoe UI\",Roboto,Arial,sans-serif;"
	"fill:var(--soft);font-variant-numeric:tabular-nums}\n"
	".topo text.l{font-size:13px;fill:var(--ink)}\n"
	".topo .h{font-weight:600}\n"
	".topo text.c{text-anchor:middle}\n"
	".topo .page{fill:var(--bg)}\n"
	".topo .card{fill:var(--card);stroke:var(--line)}\n"
	".topo .box{fill:var(--bg);stroke:var(--line)}\n"
	".topo .wire{fill:none;stroke:var(--wire);stroke-width:1.5}\n"
	".topo .gpu{fill:var(--gpu)}.topo .nic{fill:var(--nic)}.topo .other{fill:var(--wire)}\n"
	".topo .pill{fill:var(--plain-bg)}\n"
	".topo .pill.good{fill:var(--good-bg)}.topo text.good{fill:var(--good)}\n"
	".topo .pill.warn{fill:var(--warn-bg)}.topo text.warn{fill:var(--warn)}\n"
	".topo .pill.bad{fill:var(--bad-bg)}.topo text.bad{fill:var(--bad);font-weight:600}\n"
	".topo .box.bad{stroke:var(--bad);stroke-width:1.5}\n"
	".topo .wire.bad{stroke:var(--bad);stroke-width:2.5;stroke-dasharray:5 3}\n";

struct drawing {
	const struct rna_topology_tree *tree;
	const struct rna_topology_layout *layout;
	struct rna_strbuf *out;
	const char *name_space; /* as an attribute: a file has to tell it */
};

/* -- Text -------------------------------------------------------------------------------------- */

/* Widths of the characters from ' ' to '~', in hundredths of the font's size. */
static const unsigned char widths[] = {
	35, 46,  53, 84, 70, 101, 88, 31,  46, 46, 53, 84, 38, 42,  38, 37, 70, 70,  70,
	70, 70,  70, 70, 70, 70,  70, 40,  40, 84, 84, 84, 58, 103, 78, 77, 74, 83,  69,
	69, 83,  84, 38, 57, 78,  64, 100, 84, 85, 74, 85, 77, 73,  69, 82, 78, 111, 78,
	73, 73,  46, 37, 46, 84,  57, 50,  68, 72, 60, 72, 68, 44,  72, 72, 35, 35,  67,
	35, 105, 72, 69, 72, 72,  50, 60,  48, 72, 66, 93, 65, 66,  59, 72, 37, 72,  84,
};

/* Of one character, in hundredths: what is not ASCII may be as wide as it is high, and more. */
static int character_width(const char *text)
{
	unsigned char c = (unsigned char)*text;

	if (c >= ' ' && c <= '~')
		return widths[c - ' '];
	return (c & 0xc0) == 0x80 ? 0 : 110;
}

static int text_width(const char *text, int size)
{
	int width = 0;

	for (; *text; text++)
		width += character_width(text);
	return (width * size + 99) / 100;
}

static void add(const struct drawing *drawing, const char *svg)
{
	rna_strbuf_puts(drawing->out, svg);
}

static void add_text(const struct drawing *drawing, const char *text)
{
	rna_text_add(drawing->out, text, rna_escape_html);
}

/* As much of text as fits into width, with an ellipsis where something is cut off. */
static void add_fitting(const struct drawing *drawing, const char *text, int size, int width)
{
	RNA_STRBUF struct rna_strbuf cut = RNA_STRBUF_INIT;
	int room = width * 100 / size - 110; /* without the ellipsis */

	if (text_width(text, size) <= width) {
		add_text(drawing, text);
		return;
	}
	while (*text && (room -= character_width(text)) >= 0)
		rna_strbuf_add_char(&cut, *text++);
	while (cut.len > 0 && cut.data[cut.len - 1] == ' ')
		cut.data[--cut.len] = '\0';
	if (cut.data)
		add_text(drawing, cut.data);
	add(drawing, "…");
	drawing->out->failed |= !rna_strbuf_ok(&cut);
}

struct label {
	int x, y; /* of its base line: the left end, or the middle in class c */
	int width;
	int size;
	const char *class; /* s and l: small and large */
};

static void add_label(const struct drawing *drawing, struct label label, const char *text)
{
	if (!text || label.width < label.size * 2)
		return;
	rna_strbuf_printf(drawing->out, "<text x=\"%d\" y=\"%d\" class=\"%s\">", label.x, label.y,
			  label.class);
	add_fitting(drawing, text, label.size, label.width);
	add(drawing, "</text>\n");
}

/* -- Links ------------------------------------------------------------------------------------- */

/* Above the line the lanes, below it the speed of each. */
static void add_link_labels(const struct drawing *drawing, const struct rna_item *item, int x,
			    int y)
{
	const int room = RNA_LAYOUT_LINK - RNA_LAYOUT_TRUNK - 4;
	char width[RNA_FIELD_TEXT_MAX], speed[RNA_FIELD_TEXT_MAX];
	const char *tone = item->trouble ? "bad" : "s";

	add_label(drawing, (struct label){x, y - 5, room, SMALL, tone},
		  rna_item_width(item, width));
	add_label(drawing, (struct label){x, y + 13, room, SMALL, tone},
		  rna_item_speed(item, speed));
}

static void add_link(const struct drawing *drawing, size_t i)
{
	const struct rna_item *item = &drawing->tree->items[i];
	const struct rna_box *box = &drawing->layout->boxes[i], *from;
	int above = rna_topology_layout_above(drawing->tree, (int)i);
	int y = box->y + box->height / 2, trunk;

	if (box->width == 0 || above < 0)
		return;
	from = &drawing->layout->boxes[above];
	trunk = from->x + from->width + RNA_LAYOUT_TRUNK;
	rna_strbuf_printf(drawing->out, "<path class=\"wire\" d=\"M%d %dH%dV%d\"/>\n",
			  from->x + from->width, from->y + from->height / 2, trunk, y);
	rna_strbuf_printf(drawing->out, "<path class=\"wire%s\" d=\"M%d %dH%d\"/>\n",
			  item->trouble ? " bad" : "", trunk, y, box->x);
	add_link_labels(drawing, item, box->x - RNA_LAYOUT_LINK + RNA_LAYOUT_TRUNK + 4, y);
}

/* The host bridges of one place, where there are several, are joined along its left side. */
static void add_spine(const struct drawing *drawing, size_t place)
{
	const struct rna_topology_tree *tree = drawing->tree;
	int x = drawing->layout->boxes[place].x + RNA_LAYOUT_PAD / 2, top = 0, bottom = 0;

	for (size_t i = place + 1; i < tree->count && tree->items[i].depth > 0; i++) {
		const struct rna_box *box = &drawing->layout->boxes[i];

		if (box->width == 0 || rna_topology_layout_above(tree, (int)i) >= 0)
			continue;
		bottom = box->y + box->height / 2;
		if (top == 0 && tree->items[i].last)
			return;
		top = top ? top : bottom;
		rna_strbuf_printf(drawing->out, "<path class=\"wire\" d=\"M%d %dH%d\"/>\n", x,
				  bottom, box->x);
	}
	if (bottom > top)
		rna_strbuf_printf(drawing->out, "<path class=\"wire\" d=\"M%d %dV%d\"/>\n", x, top,
				  bottom);
}

/* -- Boxes ------------------------------------------------------------------------------------- */

static const char *class_of(enum rna_tone tone)
{
	static const char *const classes[] = {
		[RNA_TONE_PLAIN] = "c",
		[RNA_TONE_GOOD] = "c good",
		[RNA_TONE_WARNING] = "c warn",
		[RNA_TONE_BAD] = "c bad",
	};

	return classes[tone];
}

static void add_word(const struct drawing *drawing, const char *separator, const char *text)
{
	if (!text)
		return;
	add(drawing, separator);
	add_text(drawing, text);
}

/* All that is known, for those who point at the box or have it read to them. */
static void add_title(const struct drawing *drawing, const struct rna_item *item)
{
	char width[RNA_FIELD_TEXT_MAX], speed[RNA_FIELD_TEXT_MAX];

	add(drawing, "<title>");
	add_text(drawing, item->name);
	add_word(drawing, " ", item->address);
	add_word(drawing, ": ", item->what);
	add_word(drawing, ", ", item->state);
	add_word(drawing, ", link ", rna_item_width(item, width));
	add_word(drawing, " ", rna_item_speed(item, speed));
	add_word(drawing, " (could be ", item->trouble);
	add(drawing, item->trouble ? ")" : "");
	add_word(drawing, ", ", item->notes);
	add(drawing, "</title>\n");
}

static void add_frame(const struct drawing *drawing, const struct rna_box *box, const char *class)
{
	rna_strbuf_printf(drawing->out,
			  "<rect class=\"%s\" x=\"%d.5\" y=\"%d.5\" width=\"%d\" height=\"%d\" "
			  "rx=\"7\"/>\n",
			  class, box->x, box->y, box->width - 1, box->height - 1);
}

/* A state on a coloured ground, at the right end of a box. How much of the box it takes. */
static int add_pill(const struct drawing *drawing, const struct rna_item *item,
		    const struct rna_box *box)
{
	const char *tone = class_of(item->tone);
	int width = item->state ? text_width(item->state, SMALL) + 2 * PILL_PAD : 0;
	int most = box->width / 2, x;

	if (!item->state)
		return 0;
	width = width < most ? width : most;
	x = box->x + box->width - width - 8;
	rna_strbuf_printf(drawing->out,
			  "<rect class=\"pill %s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"18\" "
			  "rx=\"9\"/>\n",
			  tone, x, box->y + 6, width);
	add_label(drawing,
		  (struct label){x + width / 2, box->y + 19, width - 2 * PILL_PAD, SMALL, tone},
		  item->state);
	return width + 16;
}

static void add_trouble(const struct drawing *drawing, const struct rna_item *item,
			struct label label)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	if (!item->trouble)
		return;
	rna_strbuf_printf(&text, "could be %s", item->trouble);
	label.class = "bad";
	add_label(drawing, label, text.data);
	drawing->out->failed |= !rna_strbuf_ok(&text);
}

static void add_leaf(const struct drawing *drawing, const struct rna_item *item,
		     const struct rna_box *box)
{
	static const char *const stripes[RNA_ITEM_KIND_COUNT] = {
		[RNA_ITEM_GPU] = "gpu", [RNA_ITEM_NIC] = "nic", [RNA_ITEM_DATA_DIRECT] = "other"};
	int left = box->x + INSET, name = text_width(item->name, LARGE);
	int address = item->address ? text_width(item->address, SMALL) : 0;
	int pill = add_pill(drawing, item, box);
	int right = box->x + box->width - 10;

	rna_strbuf_printf(
		drawing->out,
		"<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"4\" height=\"%d\" rx=\"2\"/>\n",
		stripes[item->kind], box->x + 5, box->y + 7, box->height - 14);
	add_label(drawing, (struct label){left, box->y + 19, name, LARGE, "l h"}, item->name);
	add_label(drawing,
		  (struct label){left + name + 8, box->y + 19,
				 box->width - INSET - name - 8 - (pill ? pill : 10), LARGE, "l"},
		  item->what);
	add_label(drawing, (struct label){left, box->y + 35, address, SMALL, "s"}, item->address);
	left += address + 8;
	add_label(drawing, (struct label){left, box->y + 35, right - left, SMALL, "s"},
		  item->notes);
	add_trouble(drawing, item,
		    (struct label){box->x + INSET, box->y + 35 + RNA_LAYOUT_LINE,
				   box->width - INSET - 10, SMALL, "s"});
}

static void add_bridge(const struct drawing *drawing, const struct rna_item *item,
		       const struct rna_box *box)
{
	struct label label = {box->x + 8, box->y + 16, box->width - 12, SMALL, "h"};

	add_label(drawing, label, item->name);
	label.y += RNA_LAYOUT_LINE;
	label.class = "s";
	add_label(drawing, label, item->address);
	label.y += RNA_LAYOUT_LINE;
	add_trouble(drawing, item, label);
}

static void add_item(const struct drawing *drawing, size_t i)
{
	const struct rna_item *item = &drawing->tree->items[i];
	const struct rna_box *box = &drawing->layout->boxes[i];
	bool leaf = item->number >= 0 || item->kind == RNA_ITEM_DATA_DIRECT;
	bool bad = item->trouble || item->tone == RNA_TONE_BAD;

	if (box->width == 0)
		return;
	add(drawing, "<g>");
	add_title(drawing, item);
	add_frame(drawing, box, bad ? "box bad" : "box");
	(leaf ? add_leaf : add_bridge)(drawing, item, box);
	add(drawing, "</g>\n");
}

static void add_card(const struct drawing *drawing, size_t i)
{
	const struct rna_box *box = &drawing->layout->boxes[i];

	add_frame(drawing, box, "card");
	add_label(drawing,
		  (struct label){box->x + RNA_LAYOUT_PAD, box->y + 24,
				 box->width - 2 * RNA_LAYOUT_PAD, LARGE, "l h"},
		  drawing->tree->items[i].name);
	add_spine(drawing, i);
}

/* -- The whole --------------------------------------------------------------------------------- */

static void open_svg(const struct drawing *drawing, int width, int height)
{
	rna_strbuf_printf(drawing->out,
			  "<svg%s class=\"topo\" role=\"img\" "
			  "width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n<title>",
			  drawing->name_space, width, height, width, height);
	rna_topology_summary(drawing->tree, drawing->out);
	add(drawing, "</title>\n<style>\n");
	add(drawing, style);
	add(drawing, "</style>\n<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n");
}

/* Where there is nothing to draw, the drawing says so. */
static void draw_sentence(const struct drawing *drawing, const char *sentence)
{
	int width = text_width(sentence, LARGE);

	open_svg(drawing, width + 40, 48);
	add_label(drawing, (struct label){20, 29, width, LARGE, "l"}, sentence);
	add(drawing, "</svg>\n");
}

static void draw(const struct drawing *drawing)
{
	const struct rna_topology_tree *tree = drawing->tree;

	open_svg(drawing, drawing->layout->width, drawing->layout->height);
	for (size_t i = 0; i < tree->count; i++)
		if (tree->items[i].kind == RNA_ITEM_PLACE)
			add_card(drawing, i);
	for (size_t i = 0; i < tree->count; i++)
		add_link(drawing, i);
	for (size_t i = 0; i < tree->count; i++)
		if (tree->items[i].kind != RNA_ITEM_PLACE)
			add_item(drawing, i);
	add(drawing, "</svg>\n");
}

static void write_drawing(const struct rna_view *view, struct rna_strbuf *out,
			  const char *name_space)
{
	RNA_TOPOLOGY_TREE struct rna_topology_tree tree = RNA_TOPOLOGY_TREE_INIT;
	RNA_TOPOLOGY_LAYOUT struct rna_topology_layout layout = RNA_TOPOLOGY_LAYOUT_INIT;
	const struct drawing drawing = {&tree, &layout, out, name_space};

	if (rna_topology_tree_make(view, &tree) < 0 ||
	    rna_topology_layout_make(&tree, &layout) < 0) {
		out->failed = true;
		return;
	}
	if (tree.count > 0)
		draw(&drawing);
	else
		draw_sentence(&drawing, rna_topology_why_little(tree.topology));
}

void rna_write_topology_svg(const struct rna_view *view, struct rna_strbuf *out)
{
	write_drawing(view, out, " xmlns=\"http://www.w3.org/2000/svg\"");
}

void rna_write_topology_inline(const struct rna_view *view, struct rna_strbuf *out)
{
	write_drawing(view, out, "");
}
