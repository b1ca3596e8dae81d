// SPDX-License-Identifier: Apache-2.0
/*
 * Runbooks as documents: in front the commands for this node and its findings of the moment, then
 * the text that runbooks.py has made. Like the status page they have no scripts. A person pastes
 * the commands, so a name that is not made of plain characters is left to him: its word stays.
 */
#include <errno.h>
#include <string.h>

#include "rna/exporter.h"

#include "page_parts.h"
#include "runbook_texts.h"

static const char style[] =
	"main,header,footer{max-width:54rem}\n"
	"main table{font-size:.95rem}\n"
	"footer{margin:2rem auto 0}\n"
	"td,tbody th{white-space:normal;vertical-align:top}\n"
	"tr:first-child>*{border-top:0}\n"
	"p.empty{margin:0}\n"
	"li{margin:.3rem 0}\n"
	"code{font:.9em ui-monospace,monospace;overflow-wrap:anywhere}\n"
	"pre{background:var(--card);border:1px solid var(--line);border-radius:.6rem;"
	"padding:.7rem 1rem;white-space:pre-wrap}\n"
	"small a{font-weight:400}\n";

/* -- Pieces ------------------------------------------------------------------------------------ */

static bool is_plain(const char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789._:-";

	return name && *name && *name != '-' && name[strspn(name, plain)] == '\0';
}

/* What stands in the text for a mark; NULL, or not plain: its word stays. */
struct names {
	const char *of[RNA_RUNBOOK_MARKS];
	char port[12];
};

/* html with names in the place of its marks. */
static void add_marked(const struct names *names, const char *html, struct rna_strbuf *out)
{
	static const char *const words[RNA_RUNBOOK_MARKS] = {
		[RNA_RUNBOOK_NODE] = "NODE",
		[RNA_RUNBOOK_NAMESPACE] = "NAMESPACE",
		[RNA_RUNBOOK_POD] = "POD",
		[RNA_RUNBOOK_DEVICE] = "DEVICE",
		[RNA_RUNBOOK_PORT] = "PORT",
		[RNA_RUNBOOK_NETDEV] = "NETDEV",
		[RNA_RUNBOOK_PCI_ADDRESS] = "PCI-ADDRESS",
	};
	static const char marks[] = {
		RNA_RUNBOOK_NODE,        RNA_RUNBOOK_NAMESPACE,
		RNA_RUNBOOK_POD,         RNA_RUNBOOK_DEVICE,
		RNA_RUNBOOK_PORT,        RNA_RUNBOOK_NETDEV,
		RNA_RUNBOOK_PCI_ADDRESS, 0,
	};

	for (size_t len; *html; html += len) {
		const char *name;

		len = strcspn(html, marks);
		rna_strbuf_add(out, html, len);
		if (!html[len])
			break;
		name = names->of[(size_t)html[len]];
		rna_strbuf_puts(out, is_plain(name) ? name : words[(size_t)html[len]]);
		len++;
	}
}

/* of_node: it is about the node that serves it. */
static void open_page(const struct rna_view *view, const char *title, bool of_node,
		      struct rna_strbuf *out)
{
	rna_strbuf_printf(out,
			  "<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n"
			  "<meta name=viewport content=\"width=device-width\">\n<title>%s: ",
			  title);
	rna_page_text(out, view->agent.name);
	rna_strbuf_puts(out, "</title>\n<style>\n");
	rna_strbuf_puts(out, rna_page_style);
	rna_strbuf_puts(out, style);
	rna_strbuf_printf(out, "</style>\n<header>\n<h1>%s <small>%s", title,
			  of_node ? "" : "served by ");
	rna_page_text(out, view->agent.name);
	rna_strbuf_printf(out,
			  "</small></h1>\n<p><a href=/>Status of %s node</a>"
			  " · <a href=/runbooks/>all runbooks</a></p>\n</header>\n<main>\n",
			  of_node ? "this" : "that");
}

static void close_page(struct rna_strbuf *out)
{
	rna_page_open_footer(out);
	rna_strbuf_puts(out, "</footer>\n");
}

/* -- Findings ---------------------------------------------------------------------------------- */

static bool is_of(const struct rna_finding *finding, const struct rna_runbook_text *runbook)
{
	return finding->runbook && strcmp(finding->runbook, runbook->name) == 0;
}

static size_t count_findings(const struct rna_view *view, const struct rna_runbook_text *runbook)
{
	return RNA_COUNT(i, view->finding_count, is_of(&view->findings[i], runbook));
}

static void add_findings(const struct rna_view *view, const struct rna_runbook_text *runbook,
			 struct rna_strbuf *out)
{
	const struct rna_page page = {.view = view, .out = out};

	if (!*runbook->rules)
		return;
	rna_strbuf_puts(out, "<h2>Findings on this node now</h2>\n<div class=wide>");
	if (count_findings(view, runbook) == 0) {
		rna_strbuf_puts(out, "<p class=empty>None.</p></div>\n");
		return;
	}
	rna_strbuf_puts(out, "<table><tbody>\n");
	for (size_t i = 0; i < view->finding_count; i++)
		if (is_of(&view->findings[i], runbook))
			rna_page_finding(&page, &view->findings[i]);
	rna_strbuf_puts(out, "</table></div>\n");
}

/* -- Names ------------------------------------------------------------------------------------- */

static bool is_about_another(const struct rna_finding *a, const struct rna_finding *b)
{
	return a->port != b->port || strcmp(a->device, b->device) != 0;
}

/*
 * The one with an object. NULL: none has one, or they have several, of which each needs a command
 * of its own.
 */
static const struct rna_finding *find_one(const struct rna_view *view,
					  const struct rna_runbook_text *runbook, bool *ret_several)
{
	const struct rna_finding *found = NULL;

	*ret_several = false;
	RNA_EACH (finding, view->findings, view->finding_count) {
		if (!finding->device || !is_of(finding, runbook))
			continue;
		*ret_several |= found && is_about_another(found, finding);
		found = finding;
	}
	return *ret_several ? NULL : found;
}

/* Of the object of a finding: a device that is missing has no port, and a function may have no
 * device. */
static void name_object(const struct rna_view *view, const struct rna_finding *finding,
			struct names *names)
{
	const struct rna_subject *port = rna_page_port_of(view, finding);

	if (strchr(finding->device, ':')) {
		names->of[RNA_RUNBOOK_PCI_ADDRESS] = finding->device;
		return;
	}
	names->of[RNA_RUNBOOK_DEVICE] = finding->device;
	for (size_t i = 0; i < view->missing_count; i++)
		if (strcmp(view->missing[i].name, finding->device) == 0)
			names->of[RNA_RUNBOOK_PCI_ADDRESS] = view->missing[i].pci_address;
	if (!port)
		return;
	(void)snprintf(names->port, sizeof(names->port), "%u", port->port);
	names->of[RNA_RUNBOOK_PORT] = names->port;
	names->of[RNA_RUNBOOK_NETDEV] = port->netdev ? port->netdev->name : NULL;
	names->of[RNA_RUNBOOK_PCI_ADDRESS] = port->rdma_device->pci_address;
}

/* Other agents may serve a text about several nodes, which names none. */
static void find_names(const struct rna_view *view, const struct rna_runbook_text *runbook,
		       struct names *ret, bool *ret_several)
{
	const struct rna_finding *finding = find_one(view, runbook, ret_several);

	if (runbook->fleet)
		return;
	ret->of[RNA_RUNBOOK_NODE] = view->agent.name;
	ret->of[RNA_RUNBOOK_NAMESPACE] = view->agent.pod_namespace;
	ret->of[RNA_RUNBOOK_POD] = view->agent.pod;
	if (finding)
		name_object(view, finding, ret);
}

/* -- Documents --------------------------------------------------------------------------------- */

const char *rna_runbook_name(size_t number)
{
	return number < rna_runbook_count ? rna_runbook_texts[number].name : NULL;
}

/* Of a rule and of the reason of its Event, "port-down" and "RdmaPortDown": the letters. */
static bool is_same_rule(const char *rule, size_t len, const char *name)
{
	static const char prefix[] = "Rdma";
	size_t at = 0;

	if (strncmp(name, prefix, strlen(prefix)) == 0)
		name += strlen(prefix);
	for (; *name; name++) {
		at += at < len && rule[at] == '-' && *name != '-';
		if (at == len || rule[at++] != (*name | ('a' ^ 'A')))
			return false;
	}
	return at == len;
}

static bool lists_rule(const char *rules, const char *name)
{
	for (const char *at = rules; *at; at += strspn(at, ", ")) {
		size_t len = strcspn(at, ",");

		if (is_same_rule(at, len, name))
			return true;
		at += len;
	}
	return false;
}

/* What the findings of a rule have a runbook for may depend on link layer and severity. */
static const char *runbook_of_finding(const struct rna_view *view, const char *name)
{
	for (size_t i = 0; view && i < view->finding_count; i++)
		if (is_same_rule(view->findings[i].rule, strlen(view->findings[i].rule), name))
			return view->findings[i].runbook;
	return NULL;
}

ssize_t rna_runbook_find(const struct rna_view *view, const char *name)
{
	const char *runbook;

	for (size_t i = 0; i < rna_runbook_count; i++)
		if (strcmp(rna_runbook_texts[i].name, name) == 0)
			return (ssize_t)i;
	runbook = runbook_of_finding(view, name);
	for (size_t i = 0; i < rna_runbook_count; i++)
		if (runbook ? strcmp(rna_runbook_texts[i].name, runbook) == 0
			    : lists_rule(rna_runbook_texts[i].rules, name))
			return (ssize_t)i;
	return -ENOENT;
}

void rna_write_runbook(const struct rna_view *view, size_t number, struct rna_strbuf *out)
{
	const struct rna_runbook_text *runbook = &rna_runbook_texts[number];
	struct names names = {0};
	bool several;

	find_names(view, runbook, &names, &several);
	open_page(view, runbook->name, !runbook->fleet, out);
	rna_strbuf_puts(out, runbook->fleet ? "<h2>Commands for a node</h2>\n"
					    : "<h2>Commands for this node</h2>\n");
	add_marked(&names, rna_runbook_commands, out);
	add_findings(view, runbook, out);
	rna_strbuf_puts(out, "<h2>What to do</h2>\n");
	if (several && !runbook->fleet)
		rna_strbuf_puts(out, "<p><small>The findings are about several objects: put the "
				     "names of one of them in the place of DEVICE, PORT and so "
				     "on.</small></p>\n");
	add_marked(&names, runbook->html, out);
	close_page(out);
}

void rna_write_runbook_text(size_t number, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, rna_runbook_texts[number].text);
}

void rna_write_runbook_list(struct rna_strbuf *out)
{
	const char *section = "";

	for (size_t i = 0; i < rna_runbook_count; i++) {
		const struct rna_runbook_text *runbook = &rna_runbook_texts[i];

		if (strcmp(section, runbook->section) != 0)
			rna_strbuf_printf(out, "%s%s:\n", i > 0 ? "\n" : "", runbook->section);
		section = runbook->section;
		if (*runbook->rules)
			rna_strbuf_printf(out, "  %-28s  %s\n", runbook->name, runbook->rules);
		else
			rna_strbuf_printf(out, "  %s\n", runbook->name);
	}
}

static void add_row(const struct rna_view *view, const struct rna_runbook_text *runbook,
		    struct rna_strbuf *out)
{
	size_t count = count_findings(view, runbook);

	rna_strbuf_printf(out, "<tr><th><a href=/runbooks/%s>%s</a><td>%s<td class=n>",
			  runbook->name, runbook->name, runbook->rules);
	if (count > 0)
		rna_strbuf_printf(out, "<b class=warn>%zu active</b>", count);
	rna_strbuf_puts(out, "\n");
}

void rna_write_runbooks(const struct rna_view *view, struct rna_strbuf *out)
{
	const char *section = "";

	open_page(view, "Runbooks", true, out);
	RNA_EACH (runbook, rna_runbook_texts, rna_runbook_count) {
		if (strcmp(section, runbook->section) != 0) {
			rna_strbuf_puts(out, *section ? "</table></div>\n" : "");
			section = runbook->section;
			rna_strbuf_printf(out, "<h2>%s</h2>\n<div class=wide><table><tbody>\n",
					  section);
		}
		add_row(view, runbook, out);
	}
	rna_strbuf_puts(out, "</table></div>\n");
	close_page(out);
}
