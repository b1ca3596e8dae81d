// SPDX-License-Identifier: Apache-2.0
/*
 * The verdict on top of the status page: one sentence on the state of the node, for who was woken
 * by an alert, and the remedy of the worst finding. What is not known is never called healthy.
 */
#include <time.h>

#include "view/text.h"

#include "page_parts.h"

enum { NAMES_MAX = 4 }; /* ports that are named */

static const char port_down[] = "port-down";

/* -- The worst finding ------------------------------------------------------------------------- */

/* NULL: there is none but for information. */
static const struct rna_finding *find_worst(const struct rna_view *view)
{
	return rna_finding_headline(view->findings, view->finding_count,
				    rna_health_state_of(view->findings, view->finding_count,
							false));
}

/* "since 13:03 UTC", with the day if it was another one. */
static void add_since(const struct rna_page *page, const char *before, rna_usec since)
{
	time_t then = (time_t)(since / RNA_USEC_PER_SEC);
	time_t now = (time_t)(page->view->snapshot->time.realtime / RNA_USEC_PER_SEC);
	bool today = then / 86400 == now / 86400;
	struct tm utc;
	char text[32];

	if (since > 0 && gmtime_r(&then, &utc) &&
	    strftime(text, sizeof(text), today ? "%H:%M" : "%Y-%m-%d %H:%M", &utc) > 0)
		rna_strbuf_printf(page->out, "%ssince %s UTC", before, text);
}

/* -- Ports that are down ----------------------------------------------------------------------- */

static bool is_down_like(const struct rna_finding *finding, const struct rna_finding *worst)
{
	return strcmp(finding->rule, port_down) == 0 && finding->severity == worst->severity &&
	       !finding->silenced && finding->device;
}

/* What is, or was, at the other end of the cable. NULL: not known. */
static const struct rna_peer *find_peer(const struct rna_page *page,
					const struct rna_finding *finding)
{
	const struct rna_subject *port = rna_page_port_of(page->view, finding);

	return port ? port->peer : NULL;
}

static void add_peer(const struct rna_page *page, const struct rna_peer *peer)
{
	if (!peer || !peer->name)
		return;
	rna_page_say(page, ", was on ", peer->name);
	if (!peer->port)
		return;
	rna_page_say(page, " port ", peer->port);
}

struct downs {
	size_t count;
	rna_usec since;          /* of the first */
	const char *switch_name; /* of all of them; NULL: they differ, or it is not known */
};

static struct downs count_downs(const struct rna_page *page, const struct rna_finding *worst)
{
	struct downs downs = {0};

	RNA_EACH (finding, page->view->findings, page->view->finding_count) {
		const struct rna_peer *peer;
		const char *name;

		if (!is_down_like(finding, worst))
			continue;
		peer = find_peer(page, finding);
		name = peer ? peer->name : NULL;
		if (downs.count == 0)
			downs.switch_name = name;
		else if (!name || !downs.switch_name || strcmp(name, downs.switch_name) != 0)
			downs.switch_name = NULL;
		if (downs.count++ == 0 || finding->since.realtime < downs.since)
			downs.since = finding->since.realtime;
	}
	return downs;
}

static void add_names(const struct rna_page *page, const struct rna_finding *worst)
{
	size_t named = 0;

	RNA_EACH (finding, page->view->findings, page->view->finding_count) {
		if (!is_down_like(finding, worst) || named == NAMES_MAX)
			continue;
		rna_page_say(page, named++ > 0 ? ", " : "", finding->device);
		rna_strbuf_printf(page->out, "/%u", finding->port);
	}
}

static void add_downs(const struct rna_page *page, const struct rna_finding *worst)
{
	struct downs downs = count_downs(page, worst);

	if (downs.count > 1)
		rna_strbuf_printf(page->out, "%zu ports down (", downs.count);
	add_names(page, worst);
	if (downs.count > NAMES_MAX)
		rna_strbuf_printf(page->out, " and %zu more", downs.count - NAMES_MAX);
	rna_page_add(page, downs.count > 1 ? ")" : " down");
	add_since(page, " ", downs.since);
	if (downs.count == 1)
		add_peer(page, find_peer(page, worst));
	else if (downs.switch_name)
		rna_page_say(page, ", all were on ", downs.switch_name);
}

/* -- The sentence ------------------------------------------------------------------------------ */

/* How many more need action; ports that are down together are one. */
static void add_others(const struct rna_page *page, const struct rna_finding *worst)
{
	size_t others = 0;

	RNA_EACH (finding, page->view->findings, page->view->finding_count) {
		others += finding != worst && !finding->silenced &&
			  finding->severity > RNA_SEVERITY_INFO &&
			  !(is_down_like(worst, worst) && is_down_like(finding, worst));
	}
	if (others > 0)
		rna_strbuf_printf(page->out, " (and %zu more)", others);
}

static void add_worst(const struct rna_page *page, const struct rna_finding *worst)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	rna_page_add(page, worst->severity == RNA_SEVERITY_CRITICAL ? "Critical: " : "Warning: ");
	if (is_down_like(worst, worst)) {
		add_downs(page, worst);
		add_others(page, worst);
		return;
	}
	rna_strbuf_add(&text, worst->text, rna_page_sentence(worst->text));
	page->out->failed |= text.failed;
	rna_page_text(page->out, text.data);
	add_since(page, ", ", worst->since.realtime);
	add_others(page, worst);
}

static size_t count_not_run(const struct rna_view *view)
{
	return RNA_COUNT(i, view->job_count, !view->jobs[i].ran);
}

static void add_healthy(const struct rna_page *page)
{
	const struct rna_subject_list *ports = &page->subjects->scopes[RNA_SCOPE_PORT];
	size_t up = 0, count = 0;

	for (size_t i = 0; i < ports->count; i++) {
		if (ports->items[i].represents)
			continue;
		count += !rna_port_is_unwired(&ports->items[i]);
		up += rna_port_up(&ports->items[i]).number == 1;
	}
	rna_strbuf_printf(page->out, "OK: %zu of %zu ports up", up, count);
}

/* A class of the style. */
static const char *add_sentence(const struct rna_page *page, const struct rna_finding *worst)
{
	const struct rna_view *view = page->view;
	const char *why = rna_why_no_port(page->subjects);
	size_t not_run = count_not_run(view);

	if (worst) {
		add_worst(page, worst);
		return worst->severity == RNA_SEVERITY_CRITICAL ? "bad" : "warn";
	}
	if (view->findings_short) {
		rna_page_add(page,
			     "Unknown: the agent ran out of memory when it looked for findings");
	} else if (not_run > 0) {
		rna_strbuf_printf(page->out, "Unknown: %zu of %zu collectors have not run", not_run,
				  view->job_count);
	} else if (why) {
		rna_page_text(page->out, why);
	} else {
		add_healthy(page);
		return "good";
	}
	return "plain";
}

void rna_page_verdict(const struct rna_page *page)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const struct rna_finding *worst = find_worst(page->view);
	struct rna_page inner = *page;
	const char *class;

	inner.out = &text;
	class = add_sentence(&inner, worst);
	page->out->failed |= text.failed;
	if (text.failed)
		return;
	rna_strbuf_printf(page->out, "<section class=\"verdict %s\">\n<p>", class);
	rna_page_add(page, text.data);
	rna_page_add(page, "</p>\n");
	if (worst && worst->remedy) {
		rna_page_say(page, "<p class=remedy>", worst->remedy);
		rna_page_add(page, "</p>\n");
	}
	rna_page_add(page, "</section>\n");
}
