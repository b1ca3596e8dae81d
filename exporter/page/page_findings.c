// SPDX-License-Identifier: Apache-2.0
/* The findings of the status page, with their remedies. */
#include "view/text.h"

#include "page_parts.h"

enum rna_tone rna_page_severity_tone(enum rna_severity severity)
{
	static const enum rna_tone tones[RNA_SEVERITY_COUNT] = {
		[RNA_SEVERITY_INFO] = RNA_TONE_PLAIN,
		[RNA_SEVERITY_WARNING] = RNA_TONE_WARNING,
		[RNA_SEVERITY_CRITICAL] = RNA_TONE_BAD,
	};

	return tones[severity];
}

static enum rna_tone tone_of(const struct rna_finding *finding)
{
	return finding->silenced ? RNA_TONE_PLAIN : rna_page_severity_tone(finding->severity);
}

/* "kernel log, ..." or "3 messages, first ...": lines of the kernel that a finding quotes. */
static bool is_evidence(const char *text)
{
	const char *count = text + strspn(text, "0123456789");

	return strncmp(text, "kernel log, ", strlen("kernel log, ")) == 0 ||
	       (count > text &&
		strncmp(count, " messages, first ", strlen(" messages, first ")) == 0);
}

size_t rna_page_sentence(const char *text)
{
	for (const char *at = text; (at = strstr(at, " ("));)
		if (is_evidence(at += strlen(" (")))
			return (size_t)(at - strlen(" (") - text);
	return strlen(text);
}

/* The end of the last quotation, where the parenthesis closes. */
static size_t find_end(const char *text)
{
	size_t end = strlen(text);

	for (const char *at = text; (at = strstr(at, "\")")); at++)
		end = (size_t)(at + 1 - text);
	return end;
}

/* Quotations of the kernel stand on lines of their own; what follows them stands behind. */
static void add_evidence(const struct rna_page *page, const char *text)
{
	static const char between[] = "\", last ";
	RNA_STRBUF struct rna_strbuf first = RNA_STRBUF_INIT, second = RNA_STRBUF_INIT;
	size_t end = find_end(text);
	const char *last = strstr(text, between);
	struct rna_strbuf *tail = last ? &second : &first;

	if (*text == '\0')
		return;
	text += strlen(" (");
	end -= strlen(" (");
	if (last)
		rna_strbuf_add(&first, text, (size_t)(last + 1 - text));
	if (last)
		rna_strbuf_add(&second, last + strlen("\", "),
			       end - (size_t)(last + strlen("\", ") - text));
	else
		rna_strbuf_add(&first, text, end);
	rna_strbuf_puts(tail, text[end] == ')' ? text + end + 1 : "");
	page->out->failed |= first.failed || second.failed;
	rna_page_say(page, "<br><small class=log>", first.data);
	rna_page_add(page, last ? "<br>" : "");
	if (last)
		rna_page_text(page->out, second.data);
	rna_page_add(page, "</small>");
}

static void add_finding_text(const struct rna_page *page, const char *text)
{
	RNA_STRBUF struct rna_strbuf sentence = RNA_STRBUF_INIT;
	size_t len = rna_page_sentence(text);

	rna_strbuf_add(&sentence, text, len);
	page->out->failed |= sentence.failed;
	rna_page_text(page->out, sentence.data);
	add_evidence(page, text + len);
}

/* As a link to what to do about it. */
static void add_rule(const struct rna_page *page, const struct rna_finding *finding)
{
	if (finding->runbook)
		rna_strbuf_printf(page->out, "<a href=/runbooks/%s>", finding->runbook);
	rna_page_text(page->out, finding->rule);
	rna_page_add(page, finding->runbook ? "</a>" : "");
}

void rna_page_finding(const struct rna_page *page, const struct rna_finding *finding)
{
	struct rna_time now = page->view->snapshot->time;

	rna_page_add(page, "<tr><th>");
	rna_page_badge(page->out, rna_severity_name(finding->severity), tone_of(finding));
	rna_page_add(page, "<td class=wrap>");
	add_finding_text(page, finding->text);
	rna_page_add_below(page, "", finding->remedy);
	rna_page_open_cell(page, "<td", "Rule");
	add_rule(page, finding);
	rna_page_add(page, finding->silenced ? "<br><small>silenced</small>" : "");
	rna_page_open_cell(page, "<td class=n", "For");
	rna_text_add_span(page->out, rna_time_since(finding->since, now));
	rna_page_add(page, "\n");
}

/* Does it need an action? */
static bool is_problem(const struct rna_finding *finding)
{
	return !finding->silenced && finding->severity > RNA_SEVERITY_INFO;
}

static void add_findings(const struct rna_page *page, bool problems)
{
	rna_page_open_table(page);
	rna_page_add(page, "<th>Severity<th>Finding and remedy<th>Rule<th class=n>For<tbody>\n");
	for (size_t i = 0; i < page->view->finding_count; i++)
		if (is_problem(&page->view->findings[i]) == problems)
			rna_page_finding(page, &page->view->findings[i]);
	rna_page_close_table(page);
}

/*
 * What is in order needs no section to say so: the number in the summary does. What needs no action
 * is folded away.
 */
void rna_page_findings(const struct rna_page *page)
{
	size_t count = page->view->finding_count, problems = 0;

	for (size_t i = 0; i < count; i++)
		problems += is_problem(&page->view->findings[i]);
	if (problems > 0) {
		rna_page_add(page, "<h2>Findings</h2>\n");
		add_findings(page, true);
	}
	if (problems == count)
		return;
	rna_page_open_fold(page, problems > 0 ? "Other findings" : "Findings");
	rna_strbuf_printf(page->out, "%zu, no action required</small></summary>\n",
			  count - problems);
	add_findings(page, false);
	rna_page_add(page, "</details>\n");
}
