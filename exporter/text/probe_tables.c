// SPDX-License-Identifier: Apache-2.0
/*
 * Probes between nodes for people at a terminal, for `rdma-node-agent probe` and for curl: whether
 * they run, then a line for each port of this node and for each pair of ports, worst first. Lines
 * have 120 columns at most; the wide form shows all that is known and cuts nothing.
 *
 * Ports of one node that cannot probe each other, up to 56 pairs for one reason, have lines of
 * their own in the wide form only. Otherwise a table at the end has the reasons.
 */
#include <stdlib.h>
#include <string.h>

#include "rna/exporter.h"

#include "view/field.h"
#include "view/probe_text.h"
#include "view/text.h"

#include "text_table.h"

enum { UNKNOWN = 255 };

/* What a line is about: a port, a pair, or all pairs with one reason, of which pair is the first.
 */
struct row {
	const struct rna_probe_port *port;
	const struct rna_probe_pair *pair;
	size_t count;
	rna_usec now; /* realtime */
};

/* A cell is what add says, or a member of the port or pair, which format may write. */
struct column {
	const char *heading;
	void (*add)(const struct row *row, struct rna_strbuf *out);
	struct rna_field field;
	void (*format)(uint64_t number, struct rna_strbuf *out);
	bool right;
	bool wide; /* in the wide form only */
};

#define PORT(member) .field = {RNA_FIELD_IN(struct rna_probe_port, member)}
#define PAIR(member) .field = {RNA_FIELD_IN(struct rna_probe_pair, member)}

struct rows {
	const struct column *columns[RNA_TEXT_COLUMNS_MAX];
	struct row *items;
	size_t count;
};

static void add_cell(const struct rna_text_table *table, size_t row, size_t column,
		     struct rna_strbuf *out)
{
	const struct rows *rows = table->userdata;
	const struct column *from = rows->columns[column];
	const struct row *item = &rows->items[row];
	const void *object = item->port ? (const void *)item->port : item->pair;
	char scratch[RNA_FIELD_TEXT_MAX];

	if (from->add)
		from->add(item, out);
	else if (from->format)
		from->format(rna_field_value(&from->field, object).number, out);
	else
		rna_strbuf_puts(out, rna_field_show(&from->field, object, scratch));
}

/* After an empty line; without rows there is no table. */
static void write_table(struct rows *rows, const struct column *columns, size_t count, bool wide,
			struct rna_strbuf *out)
{
	struct rna_text_table table = {
		.row_count = rows->count,
		.width = wide ? 0 : RNA_TEXT_WIDTH,
		.userdata = rows,
		.cell = add_cell,
	};

	if (rows->count == 0)
		return;
	for (size_t i = 0; i < count; i++) {
		if (columns[i].wide && !wide)
			continue;
		rows->columns[table.column_count] = &columns[i];
		table.columns[table.column_count++] =
			(struct rna_text_column){.heading = columns[i].heading,
						 .right = columns[i].right};
	}
	rna_strbuf_add_char(out, '\n');
	rna_text_table_write(&table, out);
}

/* -- Cells ------------------------------------------------------------------------------------- */

/* How long ago; nothing if it is 0. */
static void add_age(rna_usec realtime, rna_usec now, struct rna_strbuf *out)
{
	if (realtime > 0)
		rna_text_add_span(out, rna_usec_since(realtime, now));
}

static void add_span(uint64_t span, struct rna_strbuf *out)
{
	if (span > 0)
		rna_text_add_span(out, span);
}

static void add_rail(uint64_t rail, struct rna_strbuf *out)
{
	if (rail != RNA_PROBE_RAIL_UNKNOWN)
		rna_strbuf_add_u64(out, rail);
}

static void add_byte(uint8_t byte, struct rna_strbuf *out)
{
	if (byte == UNKNOWN)
		rna_strbuf_add_char(out, '-');
	else
		rna_strbuf_add_u64(out, byte);
}

/* "26/0"; nothing if the second is not known. */
static void add_bytes(uint8_t first, uint8_t second, struct rna_strbuf *out)
{
	if (second == UNKNOWN)
		return;
	add_byte(first, out);
	rna_strbuf_add_char(out, '/');
	add_byte(second, out);
}

/* "3/1200": of so many that had an answer or will have none; nothing if there are none. */
static void add_share(uint64_t part, uint64_t whole, struct rna_strbuf *out)
{
	if (whole > 0)
		rna_strbuf_printf(out, "%ju/%ju", (uintmax_t)part, (uintmax_t)whole);
}

/* -- Ports ------------------------------------------------------------------------------------- */

static void add_port(const struct row *row, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, "%s/%u", row->port->device, row->port->port);
}

static void add_verdict(const struct row *row, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, rna_probe_verdict_name(row->port->verdict));
}

static void add_verdict_age(const struct row *row, struct rna_strbuf *out)
{
	add_age(row->port->since, row->now, out);
}

static void add_bad_pairs(const struct row *row, struct rna_strbuf *out)
{
	add_share(row->port->pairs_bad, row->port->pairs_judged, out);
}

static void add_port_losses(const struct row *row, struct rna_strbuf *out)
{
	const struct rna_probe_counts *window = &row->port->window;

	add_share(window->lost, window->lost + window->answered, out);
}

static void add_use(const struct row *row, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, rna_probe_use_name(row->port->use));
}

static const struct column port_columns[] = {
	{"PORT", add_port},
	{"VERDICT", add_verdict},
	{"FOR", add_verdict_age, .right = true},
	{"BAD PAIRS", add_bad_pairs, .right = true},
	{"LOST", add_port_losses, .right = true},
	{"WITHIN", PORT(window_length), .format = add_span, .right = true},
	{"USE", add_use},
	{"RAIL", PORT(rail), .format = add_rail, .right = true},
	{"LEAF", PORT(leaf)},
	{"REASON", PORT(text)},
};

/* -- Pairs ------------------------------------------------------------------------------------- */

static void add_own_port(const struct row *row, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, "%s/%u", row->pair->device, row->pair->port);
}

static void add_peer_port(const struct row *row, struct rna_strbuf *out)
{
	if (row->pair->peer_device[0] != '\0')
		rna_strbuf_printf(out, "%s/%u", row->pair->peer_device, row->pair->peer_port);
}

static void add_scope(const struct row *row, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, rna_probe_scope_name(row->pair->scope));
}

/* All signs, and what the state is, if probes are not sent. */
static void add_result(const struct row *row, struct rna_strbuf *out)
{
	const struct rna_probe_pair *pair = row->pair;
	size_t count = 0;

	for (unsigned i = 0; i < RNA_PROBE_SIGNS; i++)
		if (pair->signs & 1u << i)
			rna_strbuf_printf(out, "%s%s%s", count++ > 0 ? "," : "",
					  rna_probe_sign_name(1u << i),
					  pair->some_paths & 1u << i ? " (some paths)" : "");
	if (count == 0)
		rna_strbuf_puts(out, rna_probe_result_name(rna_probe_result(pair)));
	else if (pair->state != RNA_PROBE_RUNNING)
		rna_strbuf_printf(out, ",%s", rna_probe_state_name(pair->state));
}

static void add_sign_age(const struct row *row, struct rna_strbuf *out)
{
	add_age(row->pair->since, row->now, out);
}

static void add_large_lost(const struct row *row, struct rna_strbuf *out)
{
	add_share(row->pair->recent.large_lost, row->pair->recent.large_sent, out);
}

static void add_dscp(const struct row *row, struct rna_strbuf *out)
{
	const struct rna_probe_pair *pair = row->pair;

	add_bytes(pair->dscp_sent,
		  pair->signs & RNA_PROBE_DSCP ? pair->dscp_other : pair->there.dscp, out);
}

static void add_hop_limit(const struct row *row, struct rna_strbuf *out)
{
	add_bytes(row->pair->hops_usual, row->pair->there.hop_limit, out);
}

static void add_answer_age(const struct row *row, struct rna_strbuf *out)
{
	add_age(row->pair->last_answer, row->now, out);
}

/* Counts and round trips are those of the last ten minutes. DSCP: sent and arrived. */
static const struct column pair_columns[] = {
	{"PORT", add_own_port},
	{"PEER", PAIR(peer)},
	{"PEERPORT", add_peer_port},
	{"PEERRAIL", PAIR(peer_rail), .format = add_rail, .right = true, .wide = true},
	{"PEERLEAF", PAIR(peer_leaf), .wide = true},
	{"SCOPE", add_scope},
	{"RESULT", add_result},
	{"FOR", add_sign_age, .right = true},
	{"SENT", PAIR(recent.sent), .right = true},
	{"LOST", PAIR(recent.lost), .right = true},
	{"VOID", PAIR(recent.voided), .right = true, .wide = true},
	{"MISSED", PAIR(recent.missed), .right = true, .wide = true},
	{"LARGE", add_large_lost, .right = true},
	{"MEDIAN", PAIR(rtt_median), .format = rna_probe_add_rtt, .right = true},
	{"P99", PAIR(rtt_p99), .format = rna_probe_add_rtt, .right = true},
	{"USUAL", PAIR(rtt_usual), .format = rna_probe_add_rtt, .right = true},
	{"DSCP", add_dscp, .right = true},
	{"HOPLIMIT", add_hop_limit, .right = true, .wide = true},
	{"ECN", PAIR(recent.ecn_marked), .right = true, .wide = true},
	{"ANSWER", add_answer_age, .right = true, .wide = true},
	{"REASON", PAIR(text), .wide = true},
};
_Static_assert(RNA_ARRAY_SIZE(pair_columns) <= RNA_TEXT_COLUMNS_MAX, "raise it");

/* -- Reasons ----------------------------------------------------------------------------------- */

static void add_count(const struct row *row, struct rna_strbuf *out)
{
	rna_strbuf_add_u64(out, row->count);
}

static const struct column reason_columns[] = {
	{"RESULT", add_result},
	{"PAIRS", add_count, .right = true},
	{"REASON", PAIR(text)},
};

static bool has_reason(const struct row *row, const struct rna_probe_pair *pair)
{
	return rna_probe_result(row->pair) == rna_probe_result(pair) &&
	       strcmp(row->pair->text, pair->text) == 0;
}

static void count_reason(struct rows *rows, const struct rna_probe_pair *pair)
{
	size_t i = 0;

	while (i < rows->count && !has_reason(&rows->items[i], pair))
		i++;
	if (i == rows->count)
		rows->items[rows->count++] = (struct row){.pair = pair};
	rows->items[i].count++;
}

/* -- Rows -------------------------------------------------------------------------------------- */

static unsigned rank_of(const struct row *row)
{
	return row->port ? (unsigned)rna_probe_port_result(row->port)
			 : (unsigned)rna_probe_result(row->pair);
}

/* Worst first; otherwise in the order of the view, which has them in one array. */
static int compare_rows(const void *a, const void *b)
{
	const struct row *first = a, *second = b;
	unsigned rank = rank_of(first), other = rank_of(second);

	if (rank != other)
		return rank < other ? -1 : 1;
	if (first->port)
		return (first->port > second->port) - (first->port < second->port);
	return (first->pair > second->pair) - (first->pair < second->pair);
}

static struct rows new_rows(size_t max, struct rna_strbuf *out)
{
	struct rows rows = {.items = calloc(max + 1, sizeof(*rows.items))};

	out->failed |= !rows.items;
	return rows;
}

static void write_rows(struct rows *rows, const struct column *columns, size_t count, bool wide,
		       struct rna_strbuf *out)
{
	if (rows->items)
		qsort(rows->items, rows->count, sizeof(*rows->items), compare_rows);
	write_table(rows, columns, count, wide, out);
	free(rows->items);
}

static void write_ports(const struct rna_view *view, bool wide, struct rna_strbuf *out)
{
	const struct rna_probes *probes = view->probes;
	struct rows rows = new_rows(probes->port_count, out);

	for (size_t i = 0; rows.items && i < probes->port_count; i++)
		rows.items[rows.count++] = (struct row){.port = &probes->ports[i],
							.now = view->snapshot->time.realtime};
	write_rows(&rows, port_columns, RNA_ARRAY_SIZE(port_columns), wide, out);
}

static void write_pairs(const struct rna_view *view, bool wide, struct rna_strbuf *out)
{
	const struct rna_probes *probes = view->probes;
	struct rows rows = new_rows(probes->pair_count, out);

	for (size_t i = 0; rows.items && i < probes->pair_count; i++)
		if (wide || !rna_probe_pair_is_idle(&probes->pairs[i]))
			rows.items[rows.count++] =
				(struct row){.pair = &probes->pairs[i],
					     .now = view->snapshot->time.realtime};
	write_rows(&rows, pair_columns, RNA_ARRAY_SIZE(pair_columns), wide, out);
}

static void write_reasons(const struct rna_view *view, struct rna_strbuf *out)
{
	const struct rna_probes *probes = view->probes;
	struct rows rows = new_rows(probes->pair_count, out);

	for (size_t i = 0; rows.items && i < probes->pair_count; i++)
		if (probes->pairs[i].text[0] != '\0')
			count_reason(&rows, &probes->pairs[i]);
	write_rows(&rows, reason_columns, RNA_ARRAY_SIZE(reason_columns), false, out);
}

/* -- The first lines --------------------------------------------------------------------------- */

static const char disabled[] =
	"Probes are disabled: probe.enabled is false.\n"
	"To enable them, set probe.enabled, probe.secret_file and one of probe.members_file,\n"
	"probe.members_dns and probe.members_kubernetes on each node; in Kubernetes, set\n"
	"probe.enabled of the Helm chart. See rdma-node-agent.yaml(5).\n";

static void write_state(const struct rna_view *view, size_t width, struct rna_strbuf *out)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const char *why = rna_probes_why_stopped(view->probes, view->snapshot->time.monotonic);

	rna_strbuf_printf(&text, "Probes %s%s. ", why ? "do not run: " : "run", why ? why : "");
	rna_probes_add_summary(view->probes, &text);
	if (view->probes->restarts > 0)
		rna_strbuf_printf(&text, ". Restarts of the prober: %ju",
				  (uintmax_t)view->probes->restarts);
	if (rna_probes_are_missed(view->probes))
		rna_strbuf_printf(&text,
				  ". This host is too busy to judge paths: %ju of %ju probes of "
				  "the last minute were not sent",
				  (uintmax_t)view->probes->minute.missed,
				  (uintmax_t)(view->probes->minute.missed +
					      view->probes->minute.sent));
	out->failed |= text.failed;
	rna_text_wrap(text.data ? text.data : "", 0, 2, width, out);
}

static void write_members(const struct rna_view *view, size_t width, struct rna_strbuf *out)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const struct rna_probe_source *source = &view->probes->source;

	rna_strbuf_puts(&text, "Members: ");
	if (source->name[0] == '\0') {
		rna_strbuf_puts(&text, "none; no source is configured (probe.members_file, "
				       "probe.members_dns, probe.members_kubernetes)");
	} else {
		rna_strbuf_printf(&text, "%zu (%s %s)", source->members, source->kind,
				  source->name);
		rna_strbuf_puts(&text, source->looked > 0 ? ", read " : ", not read yet");
		add_age(source->looked, view->snapshot->time.realtime, &text);
		rna_strbuf_puts(&text, source->looked > 0 ? " ago" : "");
	}
	if (source->error)
		rna_strbuf_printf(&text, "; error: %s", source->error);
	out->failed |= text.failed;
	rna_text_wrap(text.data ? text.data : "", 0, 2, width, out);
}

static void write_strangers(const struct rna_probes *probes, struct rna_strbuf *out)
{
	const char *separator = "Not answered: ";

	for (enum rna_probe_stranger i = 0; i < RNA_STRANGER_COUNT; i++) {
		if (probes->strangers[i] == 0)
			continue;
		rna_strbuf_printf(out, "%s%ju %s", separator, (uintmax_t)probes->strangers[i],
				  rna_probe_stranger_name(i));
		separator = ", ";
	}
	if (separator[0] == ',')
		rna_strbuf_add_char(out, '\n');
}

static void write_probes(const struct rna_view *view, bool wide, struct rna_strbuf *out)
{
	size_t width = wide ? 0 : RNA_TEXT_WIDTH;

	if (!view->probes) {
		rna_strbuf_puts(out, disabled);
		return;
	}
	write_state(view, width, out);
	write_members(view, width, out);
	write_strangers(view->probes, out);
	write_ports(view, wide, out);
	write_pairs(view, wide, out);
	if (!wide)
		write_reasons(view, out);
}

void rna_write_probes_table(const struct rna_view *view, struct rna_strbuf *out)
{
	write_probes(view, false, out);
}

void rna_write_probes_wide(const struct rna_view *view, struct rna_strbuf *out)
{
	write_probes(view, true, out);
}
