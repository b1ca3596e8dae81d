// SPDX-License-Identifier: Apache-2.0
/*
 * Tables for people at a terminal: what ibstat and ibdev2netdev show, a line per port, and below it
 * a line per card and a line per gateway; and what show_gids shows, a line per GID, with the one
 * that NCCL uses marked. Ports that are unwired share a line: a ConnectX-8 with four planes has
 * eight of them. Lines have 120 columns at most; the wide form shows all that is known.
 */
#include <errno.h>

#include "rna/base/parse.h"
#include "rna/exporter.h"

#include "metrics/columns.h"
#include "view/card_text.h"
#include "view/facts.h"
#include "view/text.h"

#include "inside_text.h"
#include "text_table.h"

/* A row of the tables of facts, in the order of the output. */
struct heading {
	const char *column; /* of the row */
	const char *name;   /* NULL: the same */
	bool wide;          /* in the wide form only: the cards below show it, or few ask for it */
	rna_tone_of *tone;
	rna_card_say *say; /* of the table of cards: there is no row, this function writes it */
};

static const struct heading port_headings[] = {
	{"DEVICE"},
	{"PORT"},
	{"LINK"},
	{"STATE", .tone = rna_tone_state},
	{"PHYSICAL", .tone = rna_tone_physical_state},
	{"EXPECTED"},
	{"RATE"},
	{"WIDTH", .wide = true},
	{"SPEED", .wide = true},
	{"MTU"},
	{"LID", .wide = true},
	{"NETDEV"},
	{"OPER", .tone = rna_tone_operstate},
	{"PEER"},
	{"PEERPORT"},
	{"PCI", .wide = true},
	{"NUMA", .wide = true},
	{"HCA", .wide = true},
	{"FIRMWARE", .wide = true},
};

/* Headings as show_gids has them: people know them, and scripts cut by them. */
static const struct heading gid_headings[] = {
	{"DEVICE", "DEV"}, {"PORT"}, {"INDEX"}, {"GID"}, {"IPv4"}, {"VER"}, {"NETDEV"}, {"NCCL"},
};

static const struct heading card_headings[] = {
	{"CARD"},
	{"DEVICES", .say = rna_card_say_devices},
	{"PORTS", .say = rna_card_say_ports},
	{"MODEL"},
	{"BOARD"},
	{"FIRMWARE", .say = rna_card_say_firmware},
	{"NUMA"},
	{"CABLES", .say = rna_card_say_cables},
};

_Static_assert(RNA_ARRAY_SIZE(port_headings) <= RNA_TEXT_COLUMNS_MAX, "raise it");
_Static_assert(RNA_ARRAY_SIZE(gid_headings) <= RNA_TEXT_COLUMNS_MAX, "raise it");

/* Where a column comes from. */
struct column {
	struct rna_column row;
	rna_tone_of *tone;
	rna_card_say *say; /* instead of row */
};

struct table {
	const struct rna_subjects *subjects;
	struct column columns[RNA_TEXT_COLUMNS_MAX];
	size_t row_count;
	const struct rna_subject **rows;
	struct rna_text_table text;
};

static struct table new_table(const struct rna_subjects *subjects,
			      const struct rna_table_options *options)
{
	return (struct table){
		.subjects = subjects,
		.text = {.colour = options->colour,
			 /* a GID that is cut is of no use */
			 .width = options->gids ? 0 : (int)rna_text_width(options)},
	};
}

static void add_column(struct table *table, const struct heading *heading, struct rna_column row)
{
	size_t c = table->text.column_count++;

	table->columns[c] = (struct column){row, heading->tone, heading->say};
	table->text.columns[c] = (struct rna_text_column){
		.heading = heading->name ? heading->name : heading->column,
		.right = row.field && row.field->right,
	};
}

static void set_columns(struct table *table, const struct rna_table_options *options)
{
	const struct heading *headings = options->gids ? gid_headings : port_headings;
	size_t count = options->gids ? RNA_ARRAY_SIZE(gid_headings) : RNA_ARRAY_SIZE(port_headings);

	for (size_t i = 0; i < count; i++)
		if (options->wide || !headings[i].wide)
			add_column(table, &headings[i],
				   rna_column_find(headings[i].column, options->gids));
}

static void set_card_columns(struct table *table)
{
	RNA_EACH (heading, card_headings, RNA_ARRAY_SIZE(card_headings)) {
		struct rna_column row = {0};

		if (!heading->say)
			row = rna_column_of(&rna_card_table, heading->column);
		add_column(table, heading, row);
	}
}

static void free_rows(struct table *table)
{
	free(table->rows);
}

static void write_cell(const struct rna_text_table *text, size_t row, size_t c,
		       struct rna_strbuf *out)
{
	const struct table *table = text->userdata;
	const struct column *column = &table->columns[c];
	char scratch[RNA_FIELD_TEXT_MAX];
	const char *found;

	if (column->say) {
		column->say(table->subjects, table->rows[row]->card, out);
		return;
	}
	found = rna_column_text(&column->row, table->rows[row], scratch);
	rna_strbuf_puts(out, found ? found : "");
}

static enum rna_tone tone_of_cell(const struct rna_text_table *text, size_t row, size_t c)
{
	const struct table *table = text->userdata;
	rna_tone_of *tone = table->columns[c].tone;

	return tone ? tone(table->rows[row]) : RNA_TONE_PLAIN;
}

static void write_table(struct table *table, struct rna_strbuf *out)
{
	table->text.userdata = table;
	table->text.row_count = table->row_count;
	table->text.cell = write_cell;
	table->text.tone = tone_of_cell;
	rna_text_table_write(&table->text, out);
}

/* What has a line: the ports but the unwired ones, and devices that have none. */
static int find_ports(const struct rna_subjects *subjects, struct table *table)
{
	const struct rna_subject_list *devices = &subjects->scopes[RNA_SCOPE_DEVICE];
	size_t most = devices->count + subjects->scopes[RNA_SCOPE_PORT].count;

	table->rows = calloc(most, sizeof(*table->rows));
	if (!table->rows)
		return -ENOMEM;
	RNA_EACH (device, devices->items, devices->count) {
		if (!device->ports)
			table->rows[table->row_count++] = device;
		for (size_t i = 0; i < device->rdma_device->port_count; i++)
			if (!rna_port_is_unwired(&device->ports[i]))
				table->rows[table->row_count++] = &device->ports[i];
	}
	return 0;
}

static int find_all(const struct rna_subjects *subjects, enum rna_scope scope, struct table *table)
{
	const struct rna_subject_list *list = &subjects->scopes[scope];

	table->rows = calloc(list->count + 1, sizeof(*table->rows));
	if (!table->rows)
		return -ENOMEM;
	for (; table->row_count < list->count; table->row_count++)
		table->rows[table->row_count] = &list->items[table->row_count];
	return 0;
}

/* -- Below the ports --------------------------------------------------------------------------- */

static void write_unwired(const struct rna_subjects *subjects, size_t width, struct rna_strbuf *out)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	rna_say_unwired(subjects, &text);
	out->failed |= text.failed;
	if (text.len > 0)
		rna_text_wrap(text.data, 0, 4, width, out);
}

/* Behind a blank line; virtual devices have no card. */
static void write_cards(const struct rna_subjects *subjects,
			const struct rna_table_options *options, struct rna_strbuf *out)
{
	RNA_CLEANUP(free_rows) struct table table = new_table(subjects, options);

	if (subjects->scopes[RNA_SCOPE_CARD].count == 0)
		return;
	rna_strbuf_add_char(out, '\n');
	set_card_columns(&table);
	if (find_all(subjects, RNA_SCOPE_CARD, &table) < 0)
		out->failed = true;
	else
		write_table(&table, out);
}

/* A gateway and the port whose traffic it takes. */
struct way {
	const struct rna_subject *port;
	const struct rna_gateway *gateway;
};

struct ways {
	size_t count;
	struct way *items; /* NULL: they are only counted */
};

static void find_ways(const struct rna_subjects *subjects, struct ways *ways)
{
	const struct rna_subject_list *ports = &subjects->scopes[RNA_SCOPE_PORT];

	ways->count = 0;
	for (size_t i = 0; i < ports->count; i++) {
		const struct rna_gateway *gateway;
		size_t from = 0;

		while ((gateway = rna_gateway_table.next(&ports->items[i], &from))) {
			if (ways->items)
				ways->items[ways->count] = (struct way){&ports->items[i], gateway};
			ways->count++;
		}
	}
}

enum { WAY_PORT, WAY_NETDEV, WAY_GATEWAY, WAY_NEIGHBOUR, WAY_COLUMNS };

static void write_way(const struct rna_text_table *text, size_t row, size_t column,
		      struct rna_strbuf *out)
{
	const struct way *way = &((const struct ways *)text->userdata)->items[row];
	const char *state = rna_value_is_known(way->gateway->state)
				    ? rna_neighbour_state_name(way->gateway->state.number)
				    : NULL;

	if (column == WAY_PORT)
		rna_strbuf_printf(out, "%s/%u", way->port->rdma_device->name, way->port->port);
	else if (column == WAY_NETDEV)
		rna_strbuf_puts(out, way->gateway->netdev);
	else if (column == WAY_GATEWAY)
		rna_strbuf_puts(out, way->gateway->text);
	else if (state)
		rna_strbuf_puts(out, state);
}

static enum rna_tone tone_of_way(const struct rna_text_table *text, size_t row, size_t column)
{
	const struct way *way = &((const struct ways *)text->userdata)->items[row];

	return column == WAY_NEIGHBOUR && way->gateway->state.number == RNA_NEIGHBOUR_FAILED
		       ? RNA_TONE_BAD
		       : RNA_TONE_PLAIN;
}

/* Behind a blank line; few nodes have any. */
static void write_gateways(const struct rna_subjects *subjects,
			   const struct rna_table_options *options, struct rna_strbuf *out)
{
	RNA_FREE struct way *items = NULL;
	struct ways ways = {0};
	struct rna_text_table table = {
		.column_count = WAY_COLUMNS,
		.columns = {{"PORT"}, {"NETDEV"}, {"GATEWAY"}, {"NEIGHBOUR"}},
		.width = (int)rna_text_width(options),
		.colour = options->colour,
		.userdata = &ways,
		.cell = write_way,
		.tone = tone_of_way,
	};

	find_ways(subjects, &ways);
	if (ways.count == 0)
		return;
	items = calloc(ways.count, sizeof(*items));
	ways.items = items;
	if (!items) {
		out->failed = true;
		return;
	}
	find_ways(subjects, &ways);
	table.row_count = ways.count;
	rna_strbuf_add_char(out, '\n');
	rna_text_table_write(&table, out);
}

/* What is missing, in a sentence. NULL: nothing. */
static const char *why_empty(const struct rna_subjects *subjects, bool gids)
{
	const struct rna_subject_list *ports = &subjects->scopes[RNA_SCOPE_PORT];
	const char *why = rna_why_no_port(subjects);

	if (why || !gids || subjects->scopes[RNA_SCOPE_GID].count > 0)
		return why;
	for (size_t i = 0; i < ports->count; i++)
		if (ports->items[i].gids)
			return "No GID: the tables of all ports are empty.";
	return "No GID: there is no port whose table could be read.";
}

/* Behind a blank line. */
static void write_profile(const struct rna_profile_status *profile, size_t width,
			  struct rna_strbuf *out)
{
	static const char label[] = "profile   ";
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	if (!profile->name)
		return;
	rna_strbuf_printf(&text, "%s, %s%s", profile->name, profile->source,
			  profile->alarms ? "" : " (information)");
	out->failed |= text.failed;
	rna_strbuf_printf(out, "\n%s", label);
	rna_text_wrap(text.failed ? "" : text.data, strlen(label), strlen(label), width, out);
}

/* What each device is in use by, in the caller's memory; NULL: by no user with a name. */
static char **name_users(const struct rna_subject_list *devices)
{
	char **names = calloc(devices->count + 1, sizeof(*names));

	for (size_t i = 0; names && i < devices->count; i++) {
		struct rna_strbuf text = RNA_STRBUF_INIT;

		rna_users_describe(rna_device_users(devices->items[i].device), &text);
		names[i] = rna_strbuf_take(&text);
	}
	return names;
}

/* A line for all devices that have the same users, behind a blank one. */
static void write_users(const struct rna_subjects *subjects, size_t width, struct rna_strbuf *out)
{
	enum { INDENT = 10 };
	const struct rna_subject_list *devices = &subjects->scopes[RNA_SCOPE_DEVICE];
	char **names = name_users(devices);
	const char *before = "\n";

	out->failed |= !names;
	for (size_t i = 0; names && i < devices->count; i++) {
		const struct rna_users *users = rna_device_users(devices->items[i].device);
		RNA_FREE char *name = names[i];
		RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

		if (!name)
			continue;
		rna_strbuf_printf(&text, "%s: %s", name, devices->items[i].rdma_device->name);
		for (size_t j = i + 1; j < devices->count; j++)
			if (rna_same_text(names[j], name)) {
				rna_strbuf_printf(&text, ", %s",
						  devices->items[j].rdma_device->name);
				free(names[j]);
				names[j] = NULL;
			}
		out->failed |= text.failed;
		rna_strbuf_printf(out, "%s%-*s", before, INDENT,
				  users->given ? "given to" : "in use");
		rna_text_wrap(text.failed ? "" : text.data, INDENT, INDENT, width, out);
		before = "";
	}
	free(names);
}

/* A line for each finding, behind a blank one; lines that are too long go on below. */
static void write_findings(const struct rna_view *view, size_t width, struct rna_strbuf *out)
{
	enum { INDENT = 10 }; /* of the text, behind the longest severity */

	for (size_t i = 0; i < view->finding_count; i++) {
		const struct rna_finding *finding = &view->findings[i];
		RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

		rna_strbuf_printf(&text, "%s%s", finding->text,
				  finding->silenced ? " (silenced)" : "");
		out->failed |= text.failed;
		rna_strbuf_printf(out, "%s%-8s  ", i == 0 ? "\n" : "",
				  rna_severity_name(finding->severity));
		rna_text_wrap(text.failed ? "" : text.data, INDENT, INDENT, width, out);
	}
}

/* -- The short form ---------------------------------------------------------------------------- */

/*
 * As ibdev2netdev of Mellanox's driver packages has it: the carrier of the interface, which one
 * that is administratively down has not; NA if it is not known. The script leaves out ports without
 * an interface; here they have their own state.
 */
static const char *short_state(const struct rna_subject *port)
{
	struct rna_value up = port->netdev ? port->netdev->carrier : rna_port_up(port);

	if (port->netdev && !port->netdev->admin_up)
		return "Down";
	if (!rna_value_is_known(up))
		return "NA";
	return up.number ? "Up" : "Down";
}

static void write_short(const struct rna_subjects *subjects, struct rna_strbuf *out)
{
	const struct rna_subject_list *ports = &subjects->scopes[RNA_SCOPE_PORT];

	RNA_EACH (port, ports->items, ports->count) {
		rna_text_add(out, port->rdma_device->name, NULL);
		rna_strbuf_printf(out, " port %u ==> ", port->port);
		rna_text_add(out, port->netdev ? port->netdev->name : "-", NULL);
		rna_strbuf_printf(out, " (%s)\n", short_state(port));
	}
}

/* -- All of it --------------------------------------------------------------------------------- */

static void write_subjects(const struct rna_subjects *subjects,
			   const struct rna_table_options *options, struct rna_strbuf *out)
{
	RNA_CLEANUP(free_rows) struct table table = new_table(subjects, options);

	set_columns(&table, options);
	if ((options->gids ? find_all(subjects, RNA_SCOPE_GID, &table)
			   : find_ports(subjects, &table)) < 0)
		out->failed = true;
	else
		write_table(&table, out);
}

/* The caller frees *ret. */
static int list_gids(const struct rna_view *view, struct rna_subjects *subjects,
		     struct rna_subject **ret)
{
	size_t count = rna_subjects_of_gids(view, NULL);

	*ret = calloc(count + 1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	(void)rna_subjects_of_gids(view, *ret);
	subjects->scopes[RNA_SCOPE_GID] = (struct rna_subject_list){count, *ret};
	return 0;
}

void rna_write_table(const struct rna_view *view, const struct rna_table_options *options,
		     struct rna_strbuf *out)
{
	RNA_FREE struct rna_subject *gids = NULL;
	struct rna_subjects subjects = *view->subjects;
	size_t width = rna_text_width(options);
	const char *why;

	if (options->gids && list_gids(view, &subjects, &gids) < 0) {
		out->failed = true;
		return;
	}
	why = why_empty(&subjects, options->gids);
	if (options->inside && !options->brief)
		rna_write_inside(options->inside, width, out);
	if (why) {
		rna_strbuf_printf(out, "%s\n", why);
		if (!options->gids && !options->brief && !options->inside)
			write_findings(view, width, out);
		return;
	}
	if (options->brief) {
		write_short(&subjects, out);
		return;
	}
	write_subjects(&subjects, options, out);
	if (options->gids || options->inside) /* the rest is of the node */
		return;
	write_unwired(&subjects, width, out);
	write_cards(&subjects, options, out);
	write_gateways(&subjects, options, out);
	write_users(&subjects, width, out);
	write_profile(&view->profile, width, out);
	write_findings(view, width, out);
}
