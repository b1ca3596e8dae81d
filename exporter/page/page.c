// SPDX-License-Identifier: Apache-2.0
/*
 * The status page, for a person with a browser and a question.
 *
 * One document without scripts, pictures or anything from elsewhere: it works through a port
 * forward, in a text browser, and behind the strictest content policy. What stands in its tables
 * are columns of the terminal's tables; whatever comes from hardware is escaped.
 */
#include "rna/exporter.h"

#include "metrics/columns.h"
#include "view/card_text.h"
#include "view/facts.h"
#include "view/text.h"

#include "page_parts.h"

static const char style[] =
	":root{color-scheme:light dark;--bg:#f6f7f9;--card:#fff;--ink:#1c2128;--soft:#667080;"
	"--line:#e2e6eb;--good:#176f3c;--good-bg:#ddf4e4;--warn:#8a5a00;--warn-bg:#fdf0cf;"
	"--bad:#b3261e;--bad-bg:#fde3e1;--link:#0a58ca}\n"
	"@media(prefers-color-scheme:dark){:root{--bg:#12151a;--card:#1a1f26;--ink:#e4e8ee;"
	"--soft:#96a0ae;--line:#2b323c;--good:#6fd899;--good-bg:#143524;--warn:#f0c267;"
	"--warn-bg:#3a2e10;--bad:#ff9c94;--bad-bg:#43191a;--link:#7db2ff}}\n"
	"*{box-sizing:border-box}\n"
	"body{margin:0;padding:2rem 1.25rem;background:var(--bg);color:var(--ink);"
	"font:15px/1.5 system-ui,sans-serif}\n"
	"main,header,footer{max-width:88rem;margin:0 auto}\n"
	"h1{font-size:1.5rem;margin:0}\n"
	"h2{font-size:1.05rem;margin:2rem 0 .6rem}\n"
	"a{color:var(--link)}\n"
	"header p,footer{color:var(--soft);margin:.2rem 0 0}\n"
	"footer{margin-top:2rem}\n"
	".note{margin-top:.6rem;color:var(--bad);overflow-wrap:anywhere}\n"
	"dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.75rem;"
	"margin:1.5rem 0 0}\n"
	"dl div,.wide{background:var(--card);border:1px solid var(--line);border-radius:.6rem}\n"
	"dl div{padding:.7rem 1rem}\n"
	"dt{color:var(--soft);font-size:.8rem}\n"
	"dd{margin:0;font-size:1.4rem;font-weight:600}\n"
	"dd small{display:block;font-size:.8rem}\n"
	".wide{overflow-x:auto}\n"
	"table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}\n"
	"th,td{padding:.45rem .6rem;text-align:left;white-space:nowrap;"
	"border-top:1px solid var(--line)}\n"
	"thead th{border-top:0;color:var(--soft);font-size:.8rem;font-weight:500}\n"
	"tbody th{font-weight:600}\n"
	".n{text-align:right}\n"
	".wrap{white-space:normal;min-width:13rem}\n"
	"small{color:var(--soft);font-weight:400}\n"
	"tbody th small,.wrap small{white-space:normal}\n"
	"b{font-weight:500;padding:.1rem .5rem;border-radius:1rem;background:var(--line)}\n"
	"b.good{color:var(--good);background:var(--good-bg)}\n"
	"b.warn{color:var(--warn);background:var(--warn-bg)}\n"
	"b.bad{color:var(--bad);background:var(--bad-bg)}\n"
	".empty{padding:1rem}\n"
	".drawing{padding:.5rem}\n"
	".drawing svg{display:block;margin:auto;max-width:100%;min-width:62rem;height:auto}\n"
	/* a phone: the cells of a row flow like words, each with its name in front */
	"@media(max-width:48rem){body{padding:1rem .6rem}\n"
	"thead{display:none}\n"
	"tr{display:block;padding:.5rem .8rem;border-top:1px solid var(--line)}\n"
	"tr:first-child{border-top:0}\n"
	"tbody th,tbody td{display:inline-block;vertical-align:top;max-width:100%;"
	"padding:.1rem 1rem .1rem 0;border:0;white-space:normal;overflow-wrap:anywhere}\n"
	"tbody td.wrap{display:block;min-width:0}\n"
	"[data-of]::before{content:attr(data-of) \" \";color:var(--soft);font-size:.8rem}}\n";

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

struct page {
	const struct rna_view *view;
	const struct rna_subjects *subjects;
	struct rna_strbuf *out;
	struct rna_column facts[FACT_COUNT];
};

static void find_facts(struct page *page)
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
		page->facts[fact] = rna_column_find(headings[fact], false);
}

/* -- Pieces ------------------------------------------------------------------------------------ */

static void add(const struct page *page, const char *html)
{
	rna_strbuf_puts(page->out, html);
}

static void add_text(const struct page *page, const char *text)
{
	rna_page_text(page->out, text);
}

static void add_badge(const struct page *page, const char *text, enum rna_tone tone)
{
	rna_page_badge(page->out, text, tone);
}

/* After before, which is not written either where the fact is not known. */
static void add_fact_after(const struct page *page, const char *before,
			   const struct rna_subject *port, enum fact fact, const char *after)
{
	char scratch[RNA_FIELD_TEXT_MAX];
	const char *text = rna_column_text(&page->facts[fact], port, scratch);

	if (!text)
		return;
	add(page, before);
	add_text(page, text);
	add(page, after);
}

/* A dash where it is not known. */
static void add_fact(const struct page *page, const struct rna_subject *port, enum fact fact)
{
	char scratch[RNA_FIELD_TEXT_MAX];

	add_text(page, rna_column_text(&page->facts[fact], port, scratch));
}

static void add_fact_badge(const struct page *page, const struct rna_subject *port, enum fact fact,
			   enum rna_tone tone)
{
	char scratch[RNA_FIELD_TEXT_MAX];

	add_badge(page, rna_column_text(&page->facts[fact], port, scratch), tone);
}

/* A second, quieter line; without the fact there is none. */
static void add_fact_below(const struct page *page, const struct rna_subject *port, enum fact fact)
{
	add_fact_after(page, "<br><small>", port, fact, "</small>");
}

static void add_fact_beside(const struct page *page, const struct rna_subject *port, enum fact fact)
{
	add_fact_after(page, " <small>", port, fact, "</small>");
}

/* -- Cells of the table of ports --------------------------------------------------------------- */

typedef void cell(const struct page *page, const struct rna_subject *port);

/* A second, quieter line; without a fact there is none. */
static void add_below(const struct page *page, const char *before, const char *text)
{
	if (!text)
		return;
	add(page, "<br><small>");
	add(page, before);
	add_text(page, text);
	add(page, "</small>");
}

/* Who uses the device, whichever of its ports. */
static void add_users(const struct page *page, const struct rna_subject *port)
{
	const struct rna_resources *resources = rna_device_resources(port->device);
	struct rna_value users = {0}, qps;

	if (resources)
		users = rna_resources_users(&resources->now);
	if (!rna_value_is_known(users) || users.number == 0)
		return;
	qps = resources->now.of[RNA_RESOURCE_QP];
	rna_strbuf_printf(page->out, "<br><small>in use: opened %ju&times;",
			  (uintmax_t)users.number);
	if (rna_value_is_known(qps))
		rna_strbuf_printf(page->out, ", %ju queue pairs", (uintmax_t)qps.number);
	add(page, "</small>");
}

static void cell_port(const struct page *page, const struct rna_subject *port)
{
	add_fact(page, port, DEVICE);
	add(page, "/");
	add_fact(page, port, PORT);
	add_fact_below(page, port, PCI_ADDRESS);
	add_users(page, port);
}

/* Since when, if that was seen; and what it is meant to be. */
static void add_history(const struct page *page, const struct rna_subject *port)
{
	add_fact_after(page, "<br><small>expected ", port, EXPECTED, "");
	if (port->account && port->account->expectation.expected != RNA_EXPECTED_UNKNOWN)
		rna_strbuf_printf(page->out, " (%s)</small>",
				  rna_expectation_reason_name(port->account->expectation.reason));
	if (!port->account || port->account->history.last.realtime == 0)
		return;
	add(page, "<br><small>changed ");
	rna_text_add_span(page->out, rna_usec_since(port->account->history.last.monotonic,
						    page->view->snapshot->time.monotonic));
	rna_strbuf_printf(page->out, " ago, downs: %ju</small>",
			  (uintmax_t)port->account->history.downs);
}

static void cell_state(const struct page *page, const struct rna_subject *port)
{
	add_fact_badge(page, port, STATE, rna_tone_state(port));
	add_fact_below(page, port, PHYSICAL_STATE);
	add_history(page, port);
}

static void cell_link(const struct page *page, const struct rna_subject *port)
{
	add_fact(page, port, RATE);
	add_fact_beside(page, port, LINK_LAYER);
	add_fact_below(page, port, WIDTH);
	add_fact_beside(page, port, SPEED);
	rna_page_wire(page->out, port);
}

static void cell_module(const struct page *page, const struct rna_subject *port)
{
	rna_page_modules(page->out, port);
}

/* A column of dashes would be one too many. */
static bool any_has_modules(const struct page *page)
{
	const struct rna_subject_list *ports = &page->subjects->scopes[RNA_SCOPE_PORT];

	for (size_t i = 0; i < ports->count; i++)
		if (rna_page_has_modules(&ports->items[i]))
			return true;
	return false;
}

static void cell_mtu(const struct page *page, const struct rna_subject *port)
{
	add_fact(page, port, MTU);
	add_fact_after(page, "<br><small>LID ", port, LID, "</small>");
}

static void cell_netdev(const struct page *page, const struct rna_subject *port)
{
	add_fact(page, port, NETDEV);
	if (!port->netdev)
		return;
	add(page, " ");
	add_fact_badge(page, port, OPERSTATE, rna_tone_operstate(port));
	add_below(page, "in ", port->netdev->master);
}

/* What it was is of use when the link is down: then it says so. */
static void cell_peer(const struct page *page, const struct rna_subject *port)
{
	add_fact(page, port, PEER);
	add_fact_after(page, "<br><small>port ", port, PEER_PORT, "</small>");
	if (port->peer && port->peer->stale)
		add(page, " <small>(before)</small>");
}

static struct rna_value value_in(const struct rna_counter_group *group, const char *file)
{
	for (size_t i = 0; group && i < group->count; i++)
		if (strcmp(group->values[i].file, file) == 0)
			return group->values[i].value;
	return (struct rna_value){0};
}

static struct rna_value counter(const struct rna_subject *port, enum rna_counter_place place,
				const char *file)
{
	return value_in(port->groups[place], file);
}

/*
 * mlx5 in switchdev mode counts for the device what it otherwise counts for its port. The first
 * port shows it, which is the uplink.
 */
static struct rna_value device_counter(const struct rna_subject *port, const char *file)
{
	const struct rna_counters_part *part =
		rna_device_counters(port->device, RNA_COLLECTOR_HW_COUNTERS);

	for (size_t i = 0; part && i < part->group_count; i++)
		if (part->groups[i].place == RNA_PLACE_DEVICE_HW_COUNTERS &&
		    port->port == port->rdma_device->ports[0])
			return value_in(&part->groups[i], file);
	return (struct rna_value){0};
}

/* file: counts 4-octet words, as PortCounters do. */
static void add_data(const struct page *page, const struct rna_subject *port, const char *file)
{
	struct rna_value words = counter(port, RNA_PLACE_PORT_COUNTERS, file);

	if (rna_value_is_known(words))
		rna_text_add_bytes(page->out, words.number * 4);
	else
		add_text(page, NULL);
}

static void cell_data(const struct page *page, const struct rna_subject *port)
{
	if (!port->groups[RNA_PLACE_PORT_COUNTERS]) {
		add_text(page, NULL);
		return;
	}
	add(page, "<small>in</small> ");
	add_data(page, port, "port_rcv_data");
	add(page, "<br><small>out</small> ");
	add_data(page, port, "port_xmit_data");
}

/* What should be zero on a good link, or at least not grow. */
static const struct {
	enum rna_counter_place place;
	const char *file;
	const char *name;
} troubles[] = {
	{RNA_PLACE_PORT_COUNTERS, "link_downed", "link downs"},
	{RNA_PLACE_PORT_COUNTERS, "link_error_recovery", "link recoveries"},
	{RNA_PLACE_PORT_COUNTERS, "symbol_error", "symbol errors"},
	{RNA_PLACE_PORT_COUNTERS, "port_rcv_errors", "receive errors"},
	{RNA_PLACE_PORT_COUNTERS, "port_xmit_discards", "transmit discards"},
	{RNA_PLACE_PORT_FABRIC, "fec_uncorrectable_blocks", "uncorrected blocks"},
	{RNA_PLACE_PORT_COUNTERS, "local_link_integrity_errors", "link integrity errors"},
	{RNA_PLACE_PORT_COUNTERS, "excessive_buffer_overrun_errors", "buffer overruns"},
	{RNA_PLACE_PORT_HW_COUNTERS, "out_of_sequence", "out of sequence"},
	{RNA_PLACE_PORT_HW_COUNTERS, "packet_seq_err", "sequence errors"},
	{RNA_PLACE_PORT_HW_COUNTERS, "local_ack_timeout_err", "ACK timeouts"},
	{RNA_PLACE_PORT_HW_COUNTERS, "out_of_buffer", "out of buffer"},
};

static void cell_troubles(const struct page *page, const struct rna_subject *port)
{
	size_t seen = 0, shown = 0;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(troubles); i++) {
		struct rna_value value = counter(port, troubles[i].place, troubles[i].file);
		bool of_device = troubles[i].place == RNA_PLACE_PORT_HW_COUNTERS &&
				 value.state == RNA_VALUE_ABSENT;

		if (of_device)
			value = device_counter(port, troubles[i].file);
		seen += rna_value_is_known(value);
		if (!rna_value_is_known(value) || value.number == 0)
			continue;
		add(page, shown++ > 0 ? ", " : "");
		/* a counter at its maximum has stopped: it says "at least" */
		add(page, value.state == RNA_VALUE_SATURATED ? "≥&nbsp;" : "");
		rna_strbuf_add_u64(page->out, value.number);
		rna_strbuf_printf(page->out, "&nbsp;<small>%s%s</small>", troubles[i].name,
				  of_device ? " (device)" : "");
	}
	if (shown == 0)
		add(page, seen > 0 ? "<small>none</small>" : "–");
}

static const struct {
	const char *header;
	cell *write;
	const char *open;                           /* tag, without its end */
	bool (*is_wanted)(const struct page *page); /* NULL: always */
} columns[] = {
	{"Port", cell_port, "<tr><th"},
	{"State", cell_state, "<td"},
	{"Link", cell_link, "<td"},
	{"MTU", cell_mtu, "<td"},
	{"Network interface", cell_netdev, "<td"},
	{"Module", cell_module, "<td", any_has_modules},
	{"Other end", cell_peer, "<td"},
	{"Data", cell_data, "<td"},
	{"Errors", cell_troubles, "<td class=wrap"},
};

static void open_table(const struct page *page)
{
	add(page, "<div class=wide><table>\n<thead><tr>");
}

/* A cell that says on a phone, where there is no head, which one it is. */
static void open_cell(const struct page *page, const char *tag, const char *header)
{
	rna_strbuf_printf(page->out, "%s data-of=\"%s\">", tag, header);
}

static void close_table(const struct page *page)
{
	add(page, "</tbody></table></div>\n");
}

/* -- Findings ---------------------------------------------------------------------------------- */

static enum rna_tone tone_of(const struct rna_finding *finding)
{
	static const enum rna_tone tones[RNA_SEVERITY_COUNT] = {
		[RNA_SEVERITY_INFO] = RNA_TONE_PLAIN,
		[RNA_SEVERITY_WARNING] = RNA_TONE_WARNING,
		[RNA_SEVERITY_CRITICAL] = RNA_TONE_BAD,
	};

	return finding->silenced ? RNA_TONE_PLAIN : tones[finding->severity];
}

static void add_finding(const struct page *page, const struct rna_finding *finding)
{
	struct rna_time now = page->view->snapshot->time;

	add(page, "<tr><th>");
	add_badge(page, rna_severity_name(finding->severity), tone_of(finding));
	add(page, "<td class=wrap>");
	add_text(page, finding->text);
	add_below(page, "", finding->remedy);
	open_cell(page, "<td", "Rule");
	add_text(page, finding->rule);
	add(page, finding->silenced ? "<br><small>silenced</small>" : "");
	open_cell(page, "<td class=n", "For");
	rna_text_add_span(page->out, rna_time_since(finding->since, now));
	add(page, "\n");
}

/* What is in order needs no section to say so: the number in the summary does. */
static void add_findings(const struct page *page)
{
	if (page->view->finding_count == 0)
		return;
	add(page, "<h2>Findings</h2>\n");
	open_table(page);
	add(page, "<th>Severity<th>Finding and remedy<th>Rule<th class=n>For<tbody>\n");
	for (size_t i = 0; i < page->view->finding_count; i++)
		add_finding(page, &page->view->findings[i]);
	close_table(page);
}

/* -- Sections ---------------------------------------------------------------------------------- */

/* They have no row: most of the ports of a multi-plane card are such. */
static void add_unwired(const struct page *page)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	rna_say_unwired(page->subjects, &text);
	page->out->failed |= text.failed;
	if (text.len == 0)
		return;
	add(page, "<p><small>");
	add_text(page, text.data);
	add(page, "</small></p>\n");
}

static void add_ports(const struct page *page)
{
	const struct rna_subject_list *ports = &page->subjects->scopes[RNA_SCOPE_PORT];
	const char *why = rna_why_no_port(page->subjects);
	bool shown[RNA_ARRAY_SIZE(columns)];

	add(page, "<h2>Ports</h2>\n");
	if (why) {
		add(page, "<div class=\"wide empty\">");
		add_text(page, why);
		add(page, "</div>\n");
		return;
	}
	open_table(page);
	for (size_t c = 0; c < RNA_ARRAY_SIZE(columns); c++) {
		shown[c] = !columns[c].is_wanted || columns[c].is_wanted(page);
		if (shown[c])
			rna_strbuf_printf(page->out, "<th>%s", columns[c].header);
	}
	add(page, "<tbody>\n");
	for (size_t i = 0; i < ports->count; i++) {
		if (rna_port_is_unwired(&ports->items[i]))
			continue;
		for (size_t c = 0; c < RNA_ARRAY_SIZE(columns); c++)
			if (shown[c]) {
				open_cell(page, columns[c].open, columns[c].header);
				columns[c].write(page, &ports->items[i]);
			}
		add(page, "\n");
	}
	close_table(page);
	add_unwired(page);
}

/* A column for each row with a title. */
static void add_devices(const struct page *page)
{
	const struct rna_subject_list *devices = &page->subjects->scopes[RNA_SCOPE_DEVICE];
	const struct rna_family_table *table = &rna_device_table;
	char scratch[RNA_FIELD_TEXT_MAX];

	if (devices->count == 0)
		return;
	add(page, "<h2>Devices</h2>\n");
	open_table(page);
	for (size_t f = 0; f < table->count; f++)
		if (table->rows[f].field.title)
			rna_strbuf_printf(page->out, "<th>%s", table->rows[f].field.title);
	add(page, "<tbody>\n");
	for (size_t i = 0; i < devices->count; i++) {
		for (size_t f = 0; f < table->count; f++) {
			const struct rna_field *field = &table->rows[f].field;

			if (!field->title)
				continue;
			open_cell(page, f == 0 ? "<tr><th" : "<td", field->title);
			add_text(page, rna_field_show(field, &devices->items[i], scratch));
		}
		add(page, "\n");
	}
	close_table(page);
}

static void add_missing(const struct page *page)
{
	const struct rna_view *view = page->view;

	if (view->missing_count == 0)
		return;
	add(page, "<h2>Missing devices</h2>\n");
	open_table(page);
	add(page, "<th>Device<th>PCI address<th>Where it is<th>Last seen<tbody>\n");
	for (size_t i = 0; i < view->missing_count; i++) {
		const struct rna_missing_device *missing = &view->missing[i];

		add(page, "<tr><th>");
		add_text(page, missing->name);
		add(page, "<td>");
		add_text(page, missing->pci_address);
		add(page, "<td>");
		add_badge(page, rna_whereabouts_name(missing->whereabouts), RNA_TONE_BAD);
		open_cell(page, "<td", "Last seen");
		rna_text_add_time(page->out, missing->last_seen);
		add(page, "\n");
	}
	close_table(page);
}

static void add_event(const struct page *page, const struct rna_transition *transition)
{
	add(page, "<tr><td>");
	rna_text_add_time(page->out, transition->time.realtime);
	add(page, "<th>");
	add_text(page, transition->device);
	rna_strbuf_printf(page->out, "/%u<td>", transition->port);
	if (transition->up)
		add_badge(page, "up", RNA_TONE_GOOD);
	else
		add_badge(page, "down", RNA_TONE_BAD);
	if (transition->count > 1)
		rna_strbuf_printf(page->out, " %ju times", (uintmax_t)transition->count);
	add(page, "<td>");
	add_text(page, rna_source_name(transition->source));
	add(page, "<td class=wrap>");
	add_text(page, transition->reason);
	add(page, "\n");
}

/* The newest on top, where people look. */
static void add_events(const struct page *page)
{
	if (page->view->transition_count == 0)
		return;
	add(page, "<h2>Ports that went up or down</h2>\n");
	open_table(page);
	add(page, "<th>Time<th>Port<th>Went<th>Source<th>What was seen<tbody>\n");
	for (size_t i = page->view->transition_count; i > 0; i--)
		add_event(page, &page->view->transitions[i - 1]);
	close_table(page);
}

static void add_job_state(const struct page *page, const struct rna_job_status *job)
{
	if (job->stalled)
		add_badge(page, "stalled", RNA_TONE_BAD);
	else if (!job->ran)
		add_badge(page, "not yet", RNA_TONE_PLAIN);
	else if (job->success)
		add_badge(page, "ok", RNA_TONE_GOOD);
	else
		add_badge(page, "failed", RNA_TONE_BAD);
	if (!job->stalled)
		return;
	add(page, " <small>for ");
	rna_text_add_span(page->out,
			  rna_usec_since(job->stalled, page->view->snapshot->time.monotonic));
	add(page, "</small>");
}

static void add_job_errors(const struct page *page, const struct rna_job_status *job)
{
	bool any = false;

	for (enum rna_reason reason = 0; reason < RNA_REASON_COUNT; reason++) {
		if (job->errors[reason] == 0)
			continue;
		add(page, any ? ", " : "");
		rna_strbuf_add_u64(page->out, job->errors[reason]);
		rna_strbuf_printf(page->out, " <small>%s</small>", rna_reason_name(reason));
		any = true;
	}
	add(page, any ? "" : "<small>none</small>");
}

static void add_job(const struct page *page, const struct rna_job_status *job)
{
	rna_usec now = page->view->snapshot->time.monotonic;

	add(page, "<tr><th>");
	add_text(page, job->name);
	add(page, "<td>");
	add_text(page, job->device);
	add(page, "<td>");
	add_job_state(page, job);
	open_cell(page, "<td class=n", "Age of data");
	if (job->taken)
		rna_text_add_span(page->out, rna_usec_since(job->taken, now));
	else
		add_text(page, NULL);
	open_cell(page, "<td class=n", "Took");
	if (job->ran)
		rna_text_add_span(page->out, job->duration);
	else
		add_text(page, NULL);
	open_cell(page, "<td", "Failures");
	add_job_errors(page, job);
	add(page, "\n");
}

static void add_jobs(const struct page *page)
{
	add(page, "<h2>Collectors</h2>\n");
	open_table(page);
	add(page, "<th>Collector<th>Of<th>Last run<th class=n>Age of data<th class=n>Took"
		  "<th>Failures since start<tbody>\n");
	for (size_t i = 0; i < page->view->job_count; i++)
		add_job(page, &page->view->jobs[i]);
	close_table(page);
}

static void add_number(const struct page *page, const char *name, uint64_t number)
{
	rna_strbuf_printf(page->out, "<div><dt>%s<dd>%ju</div>\n", name, (uintmax_t)number);
}

/* "1 critical, 3 info, 1 silenced", all that the table has; nothing where it has none. */
static void add_severities(const struct page *page)
{
	const struct rna_view *view = page->view;
	size_t rest = view->finding_count;
	const char *separator = "";

	for (int severity = RNA_SEVERITY_COUNT - 1; severity >= 0; severity--) {
		size_t count = rna_finding_count(view->findings, view->finding_count,
						 (enum rna_severity)severity);

		if (count == 0)
			continue;
		rna_strbuf_printf(page->out, "%s%zu %s", separator, count,
				  rna_severity_name((enum rna_severity)severity));
		separator = ", ";
		rest -= count;
	}
	if (rest > 0)
		rna_strbuf_printf(page->out, "%s%zu silenced", separator, rest);
}

static uint64_t count_ports_up(const struct rna_subject_list *ports)
{
	uint64_t count = 0;

	for (size_t i = 0; i < ports->count; i++)
		count += rna_port_up(&ports->items[i]).number; /* 0 when absent */
	return count;
}

static uint64_t count_jobs_stalled(const struct rna_view *view)
{
	uint64_t count = 0;

	for (size_t i = 0; i < view->job_count; i++)
		count += view->jobs[i].stalled != 0;
	return count;
}

static void add_summary(const struct page *page)
{
	const struct rna_subject_list *ports = &page->subjects->scopes[RNA_SCOPE_PORT];
	const struct rna_agent_status *agent = &page->view->agent;
	const struct rna_time *now = &page->view->snapshot->time;

	add(page, "<dl>\n");
	add_number(page, "Devices", page->view->snapshot->device_count);
	add_number(page, "Ports", ports->count);
	add_number(page, "Ports up", count_ports_up(ports));
	rna_strbuf_printf(page->out, "<div><dt>Findings<dd>%zu<small>", page->view->finding_count);
	add_severities(page);
	add(page, "</small></div>\n");
	add_number(page, "Stalled collectors", count_jobs_stalled(page->view));
	add_number(page, "Snapshots", agent->snapshots);
	add(page, "<div><dt>Running for<dd>");
	rna_text_add_span(page->out, rna_usec_since(agent->started.monotonic, now->monotonic));
	add(page, "</div>\n</dl>\n");
}

/* Deviations from the past or from the configuration. */
static void add_notes(const struct page *page)
{
	const struct rna_agent_status *agent = &page->view->agent;

	if (agent->config_error) {
		add(page, "<p class=note>The configuration was not reloaded, and the old settings "
			  "are in use: ");
		add_text(page, agent->config_error);
		add(page, "</p>\n");
	}
}

/* What a browser shows of twenty pages: whose each is, and whether to look at it. */
static void add_title(const struct page *page)
{
	add(page, "<title>");
	add_text(page, page->view->agent.name);
	add(page, page->view->finding_count > 0 ? ": " : ": no findings");
	add_severities(page);
	add(page, "</title>\n");
}

static void add_header(const struct page *page)
{
	add(page, "<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n"
		  "<meta name=viewport content=\"width=device-width\">\n"
		  "<meta http-equiv=refresh content=30>\n");
	add_title(page);
	add(page, "<style>\n");
	add(page, style);
	add(page, "</style>\n<header>\n<h1>");
	add_text(page, page->view->agent.name);
	add(page, " <small>RDMA node agent</small></h1>\n<p>As of ");
	rna_text_add_time(page->out, page->view->snapshot->time.realtime);
	if (!page->view->agent.live && page->view->agent.root) {
		add(page, ", from the recorded machine in ");
		add_text(page, page->view->agent.root);
	}
	if (page->view->agent.quiesced) {
		add(page, "; quiesced, ");
		add_text(page, page->view->agent.quiesced);
	}
	if (page->view->profile.name) {
		add(page, "; profile ");
		add_text(page, page->view->profile.name);
		add(page, page->view->profile.alarms ? "" : " (information)");
	}
	add(page, "</p>\n");
	add_notes(page);
	add(page, "</header>\n<main>\n");
}

static void add_footer(const struct page *page)
{
	add(page, "</main>\n<footer>rdma-node-agent " RNA_VERSION
		  " · <a href=/metrics>metrics</a> · <a href=/api/v1/snapshot>JSON</a>"
		  " · <a href=/api/v1/topology>topology</a>"
		  " · <a href=/api/v1/findings>findings</a>"
		  " · <a href=/api/v1/events>events</a>"
		  " · <a href=/api/v1/selftest>self-tests</a>"
		  " · <a href=/healthz>health</a> · <a href=/readyz>readiness</a></footer>\n");
}

void rna_write_page(const struct rna_view *view, struct rna_strbuf *out)
{
	RNA_SUBJECTS struct rna_subjects subjects = RNA_SUBJECTS_INIT;
	struct page page = {view, &subjects, out};

	if (rna_subjects_set(&subjects, view) < 0) {
		out->failed = true;
		return;
	}
	find_facts(&page);
	add_header(&page);
	add_summary(&page);
	add_findings(&page);
	add_ports(&page);
	add_missing(&page);
	rna_write_page_selftest(view, out);
	rna_write_page_topology(view, out);
	add_events(&page);
	rna_page_cards(out, page.subjects);
	add_devices(&page);
	add_jobs(&page);
	add_footer(&page);
}
