// SPDX-License-Identifier: Apache-2.0
/* The table of ports of the status page. Its columns are those of the terminal's table. */
#include "metrics/columns.h"
#include "view/card_text.h"
#include "view/text.h"

#include "page_parts.h"

/* Columns of the terminal's table of ports. */
enum fact {
	DEVICE,
	PORT,
	PCI_ADDRESS,
	LINK_LAYER,
	STATE,
	PHYSICAL_STATE,
	EXPECTED,
	RATE,
	WIDTH,
	SPEED,
	MTU,
	LID,
	NETDEV,
	OPERSTATE,
	PEER,
	PEER_PORT,
	FACT_COUNT,
};

static void find_facts(struct rna_column facts[FACT_COUNT])
{
	static const char *const headings[FACT_COUNT] = {
		[DEVICE] = "DEVICE",      [PORT] = "PORT",      [PCI_ADDRESS] = "PCI",
		[LINK_LAYER] = "LINK",    [STATE] = "STATE",    [PHYSICAL_STATE] = "PHYSICAL",
		[EXPECTED] = "EXPECTED",  [RATE] = "RATE",      [WIDTH] = "WIDTH",
		[SPEED] = "SPEED",        [MTU] = "MTU",        [LID] = "LID",
		[NETDEV] = "NETDEV",      [OPERSTATE] = "OPER", [PEER] = "PEER",
		[PEER_PORT] = "PEERPORT",
	};

	for (enum fact fact = 0; fact < FACT_COUNT; fact++)
		facts[fact] = rna_column_find(headings[fact], false);
}

/* After before, which is not written either where the fact is not known. */
static void add_fact_after(const struct rna_page *page, const char *before,
			   const struct rna_subject *port, enum fact fact, const char *after)
{
	char scratch[RNA_FIELD_TEXT_MAX];
	const char *text = rna_column_text(&page->facts[fact], port, scratch);

	if (!text)
		return;
	rna_page_say(page, before, text);
	rna_page_add(page, after);
}

/* A dash where it is not known. */
static void add_fact(const struct rna_page *page, const struct rna_subject *port, enum fact fact)
{
	char scratch[RNA_FIELD_TEXT_MAX];

	rna_page_text(page->out, rna_column_text(&page->facts[fact], port, scratch));
}

static void add_fact_badge(const struct rna_page *page, const struct rna_subject *port,
			   enum fact fact, enum rna_tone tone)
{
	char scratch[RNA_FIELD_TEXT_MAX];

	rna_page_badge(page->out, rna_column_text(&page->facts[fact], port, scratch), tone);
}

/* A second, quieter line; without the fact there is none. */
static void add_fact_below(const struct rna_page *page, const struct rna_subject *port,
			   enum fact fact)
{
	add_fact_after(page, "<br><small>", port, fact, "</small>");
}

static void add_fact_beside(const struct rna_page *page, const struct rna_subject *port,
			    enum fact fact)
{
	add_fact_after(page, " <small>", port, fact, "</small>");
}

/* -- Cells of the table of ports --------------------------------------------------------------- */

typedef void cell(const struct rna_page *page, const struct rna_subject *port);

/* Who uses the device, whichever of its ports. */
static void add_users(const struct rna_page *page, const struct rna_subject *port)
{
	const struct rna_resources *resources = rna_device_resources(port->device);
	RNA_STRBUF struct rna_strbuf names = RNA_STRBUF_INIT;
	struct rna_value users = {0}, qps;

	if (resources)
		users = rna_resources_users(&resources->now);
	if (resources)
		rna_users_describe(resources->users, &names);
	page->out->failed |= names.failed;
	if (names.len > 0 && resources->users->given) {
		rna_page_say(page, "<br><small>given to ", names.data);
		rna_page_add(page, "</small>");
		return;
	}
	if (!rna_value_is_known(users) || users.number == 0)
		return;
	qps = resources->now.of[RNA_RESOURCE_QP];
	rna_page_add(page, "<br><small>in use");
	if (names.len > 0)
		rna_page_say(page, " by ", names.data);
	rna_strbuf_printf(page->out, ": opened %ju&times;", (uintmax_t)users.number);
	if (rna_value_is_known(qps))
		rna_strbuf_printf(page->out, ", %ju queue pairs", (uintmax_t)qps.number);
	rna_page_add(page, "</small>");
}

static void cell_port(const struct rna_page *page, const struct rna_subject *port)
{
	add_fact(page, port, DEVICE);
	rna_page_add(page, "/");
	add_fact(page, port, PORT);
	add_fact_below(page, port, PCI_ADDRESS);
	add_users(page, port);
}

/* Since when, if that was seen; and what it is meant to be. */
static void add_history(const struct rna_page *page, const struct rna_subject *port)
{
	add_fact_after(page, "<br><small>expected ", port, EXPECTED, "");
	if (port->account && port->account->expectation.expected != RNA_EXPECTED_UNKNOWN)
		rna_strbuf_printf(page->out, " (%s)</small>",
				  rna_expectation_reason_name(port->account->expectation.reason));
	if (!port->account || port->account->history.last.realtime == 0)
		return;
	rna_page_add(page, "<br><small>changed ");
	rna_text_add_span(page->out, rna_usec_since(port->account->history.last.monotonic,
						    page->view->snapshot->time.monotonic));
	rna_strbuf_printf(page->out, " ago, downs: %ju</small>",
			  (uintmax_t)port->account->history.downs);
}

static void cell_state(const struct rna_page *page, const struct rna_subject *port)
{
	add_fact_badge(page, port, STATE, rna_tone_state(port));
	add_fact_beside(page, port, PHYSICAL_STATE);
	add_history(page, port);
}

static void cell_link(const struct rna_page *page, const struct rna_subject *port)
{
	add_fact(page, port, RATE);
	add_fact_beside(page, port, LINK_LAYER);
	add_fact_below(page, port, WIDTH);
	add_fact_beside(page, port, SPEED);
	rna_page_wire(page->out, port);
}

static void cell_module(const struct rna_page *page, const struct rna_subject *port)
{
	rna_page_modules(page->out, port);
}

/* A column of dashes would be one too many. */
static bool any_has_modules(const struct rna_page *page)
{
	const struct rna_subject_list *ports = &page->subjects->scopes[RNA_SCOPE_PORT];

	return RNA_ANY(i, ports->count, rna_page_has_modules(&ports->items[i]));
}

static void cell_mtu(const struct rna_page *page, const struct rna_subject *port)
{
	add_fact(page, port, MTU);
	add_fact_after(page, "<br><small>LID ", port, LID, "</small>");
}

/* A gateway that did not answer is to be seen; what STALE says is nothing. */
static void add_gateways(const struct rna_page *page, const struct rna_subject *port)
{
	const struct rna_gateway *gateway;
	size_t from = 0;

	while ((gateway = rna_gateway_table.next(port, &from))) {
		const char *state = rna_value_is_known(gateway->state)
					    ? rna_neighbour_state_name(gateway->state.number)
					    : NULL;

		rna_page_add_below(page, "gateway ", gateway->text);
		if (!state)
			continue;
		rna_page_add(page, " ");
		rna_page_badge(page->out, state,
			       gateway->state.number == RNA_NEIGHBOUR_FAILED ? RNA_TONE_BAD
									     : RNA_TONE_PLAIN);
	}
}

static void cell_netdev(const struct rna_page *page, const struct rna_subject *port)
{
	add_fact(page, port, NETDEV);
	if (!port->netdev)
		return;
	rna_page_add(page, " ");
	add_fact_badge(page, port, OPERSTATE, rna_tone_operstate(port));
	rna_page_add_below(page, "in ", port->netdev->master);
	add_gateways(page, port);
}

/* What it was is of use when the link is down: then it says so. */
static void cell_peer(const struct rna_page *page, const struct rna_subject *port)
{
	add_fact(page, port, PEER);
	add_fact_after(page, "<br><small>port ", port, PEER_PORT, "</small>");
	if (port->peer && port->peer->stale)
		rna_page_add(page, " <small>(before)</small>");
}

static const struct {
	const char *header;
	cell *write;
	const char *open;                               /* tag, without its end */
	bool (*is_wanted)(const struct rna_page *page); /* NULL: always */
} columns[] = {
	{"Port", cell_port, "<tr><th"},
	{"State", cell_state, "<td"},
	{"Link", cell_link, "<td"},
	{"MTU", cell_mtu, "<td"},
	{"Network interface", cell_netdev, "<td"},
	{"Module", cell_module, "<td", any_has_modules},
	{"Other end", cell_peer, "<td"},
	{"Data", rna_page_data, "<td"},
	{"Errors", rna_page_errors, "<td class=wrap"},
};

/* They have no row: most of the ports of a multi-plane card are such. */
static void add_unwired(const struct rna_page *page)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	rna_say_unwired(page->subjects, &text);
	page->out->failed |= text.failed;
	if (text.len == 0)
		return;
	rna_page_say(page, "<p><small>", text.data);
	rna_page_add(page, "</small></p>\n");
}

static void write_head(const struct rna_page *page, bool shown[RNA_ARRAY_SIZE(columns)])
{
	rna_page_open_table(page);
	for (size_t c = 0; c < RNA_ARRAY_SIZE(columns); c++) {
		shown[c] = !columns[c].is_wanted || columns[c].is_wanted(page);
		if (shown[c])
			rna_strbuf_printf(page->out, "<th>%s", columns[c].header);
	}
	rna_page_add(page, "<tbody>\n");
}

static void write_table(const struct rna_page *page)
{
	const struct rna_subject_list *ports = &page->subjects->scopes[RNA_SCOPE_PORT];
	bool shown[RNA_ARRAY_SIZE(columns)];

	write_head(page, shown);
	for (size_t i = 0; i < ports->count; i++) {
		if (rna_port_is_unwired(&ports->items[i]))
			continue;
		for (size_t c = 0; c < RNA_ARRAY_SIZE(columns); c++)
			if (shown[c]) {
				rna_page_open_cell(page, columns[c].open, columns[c].header);
				columns[c].write(page, &ports->items[i]);
			}
		rna_page_add(page, "\n");
	}
	rna_page_close_table(page);
	add_unwired(page);
}

void rna_page_ports(const struct rna_page *page)
{
	const char *why = rna_why_no_port(page->subjects);
	struct rna_column facts[FACT_COUNT];
	struct rna_page with_facts = *page;

	rna_page_add(page, "<h2>Ports</h2>\n");
	if (why) {
		rna_page_say(page, "<div class=\"wide empty\">", why);
		rna_page_add(page, "</div>\n");
		return;
	}
	find_facts(facts);
	with_facts.facts = facts;
	write_table(&with_facts);
}
