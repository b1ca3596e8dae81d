// SPDX-License-Identifier: Apache-2.0
/*
 * The status page, for a person with a browser and a question.
 *
 * One document without scripts, pictures or anything from elsewhere: it works through a port
 * forward, in a text browser, and behind the strictest content policy. What stands in its tables
 * are columns of the terminal's tables; whatever comes from hardware is escaped.
 */
#include "rna/exporter.h"

#include "view/text.h"

#include "page_parts.h"

/* Deviations from the past or from the configuration. */
static void add_notes(const struct rna_page *page)
{
	const struct rna_agent_status *agent = &page->view->agent;

	if (agent->config_error) {
		rna_page_add(
			page,
			"<p class=note>The configuration was not reloaded, and the old settings "
			"are in use: ");
		rna_page_text(page->out, agent->config_error);
		rna_page_add(page, "</p>\n");
	}
}

/* What a browser shows of twenty pages: whose each is, and whether to look at it. */
static void add_title(const struct rna_page *page)
{
	rna_page_say(page, "<title>", page->view->agent.name);
	rna_page_add(page, page->view->finding_count > 0 ? ": " : ": no findings");
	rna_page_severities(page);
	rna_page_add(page, "</title>\n");
}

static void add_header(const struct rna_page *page)
{
	rna_page_add(page, "<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n"
			   "<meta name=viewport content=\"width=device-width\">\n"
			   "<meta http-equiv=refresh content=30>\n");
	add_title(page);
	rna_page_add(page, "<style>\n");
	rna_page_add(page, rna_page_style);
	rna_page_say(page, "</style>\n<header>\n<h1>", page->view->agent.name);
	rna_page_add(page, " <small>RDMA node agent</small></h1>\n<p>As of ");
	rna_text_add_time(page->out, page->view->snapshot->time.realtime);
	if (!page->view->agent.live && page->view->agent.root)
		rna_page_say(page, ", from the recorded machine in ", page->view->agent.root);
	if (page->view->agent.quiesced) {
		rna_page_say(page, "; quiesced, ", page->view->agent.quiesced);
	}
	if (page->view->profile.name) {
		rna_page_say(page, "; profile ", page->view->profile.name);
		rna_page_add(page, page->view->profile.alarms ? "" : " (information)");
	}
	rna_page_add(page, "</p>\n");
	add_notes(page);
	rna_page_add(page, "</header>\n<main>\n");
}

static void add_footer(const struct rna_page *page)
{
	rna_page_open_footer(page->out);
	rna_page_add(page,
		     " · <a href=/runbooks/>runbooks</a>"
		     " · <a href=/api/v1/events.txt>events</a>"
		     " · <a href=/api/v1/topology.svg>topology</a>"
		     " · <a href=/api/v1/probes-wide.txt>probes</a>"
		     "<br>For programs: <a href=/metrics>metrics</a>"
		     " · JSON: <a href=/api/v1/snapshot>snapshot</a>"
		     " · <a href=/api/v1/findings>findings</a>"
		     " · <a href=/api/v1/events>events</a>"
		     " · <a href=/api/v1/topology>topology</a>"
		     " · <a href=/api/v1/selftest>self-tests</a>"
		     " · <a href=/api/v1/probes>probes</a>"
		     " · <a href=/healthz>health</a> · <a href=/readyz>readiness</a></footer>\n");
}

void rna_write_page(const struct rna_view *view, struct rna_strbuf *out)
{
	struct rna_page page = {view, view->subjects, out, NULL};

	add_header(&page);
	rna_page_verdict(&page);
	rna_page_summary(&page);
	rna_page_findings(&page);
	rna_page_ports(&page);
	rna_page_missing(&page);
	rna_page_selftest(&page);
	rna_page_probes(&page);
	rna_write_page_topology(view, out);
	rna_page_changes(&page);
	rna_page_cards(&page);
	rna_page_devices(&page);
	rna_page_jobs(&page);
	add_footer(&page);
}
