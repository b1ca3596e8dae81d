// SPDX-License-Identifier: Apache-2.0
/* How the collectors fare, on the status page. */
#include "view/text.h"

#include "page_parts.h"

static void add_job_state(const struct rna_page *page, const struct rna_job_status *job)
{
	if (job->stalled)
		rna_page_badge(page->out, "stalled", RNA_TONE_BAD);
	else if (!job->ran)
		rna_page_badge(page->out, "not yet", RNA_TONE_PLAIN);
	else if (job->success)
		rna_page_badge(page->out, "ok", RNA_TONE_GOOD);
	else
		rna_page_badge(page->out, "failed", RNA_TONE_BAD);
	if (!job->stalled)
		return;
	rna_page_add(page, " <small>for ");
	rna_text_add_span(page->out,
			  rna_usec_since(job->stalled, page->view->snapshot->time.monotonic));
	rna_page_add(page, "</small>");
}

static void add_job_errors(const struct rna_page *page, const struct rna_job_status *job)
{
	bool any = false;

	for (enum rna_reason reason = 0; reason < RNA_REASON_COUNT; reason++) {
		uint64_t count = rna_job_errors(job, reason);

		if (count == 0)
			continue;
		rna_page_add(page, any ? ", " : "");
		rna_strbuf_add_u64(page->out, count);
		rna_strbuf_printf(page->out, " <small>%s</small>", rna_reason_name(reason));
		any = true;
	}
	rna_page_add(page, any ? "" : "<small>none</small>");
}

static void add_job(const struct rna_page *page, const struct rna_job_status *job)
{
	rna_usec now = page->view->snapshot->time.monotonic;

	rna_page_say(page, "<tr><th>", job->name);
	rna_page_say(page, "<td>", job->device);
	rna_page_add(page, "<td>");
	add_job_state(page, job);
	rna_page_open_cell(page, "<td class=n", "Age of data");
	if (job->taken)
		rna_text_add_span(page->out, rna_usec_since(job->taken, now));
	else
		rna_page_text(page->out, NULL);
	rna_page_open_cell(page, "<td class=n", "Took");
	if (job->ran)
		rna_text_add_span(page->out, job->duration);
	else
		rna_page_text(page->out, NULL);
	rna_page_open_cell(page, "<td", "Failures");
	add_job_errors(page, job);
	rna_page_add(page, "\n");
}

/* Of one that has not run yet nothing is known: the others are the ones to look at. */
static bool is_well(const struct rna_job_status *job)
{
	return !job->stalled && (!job->ran || job->success);
}

static void add_table(const struct rna_page *page, bool well)
{
	rna_page_open_table(page);
	rna_page_add(page, "<th>Collector<th>Of<th>Last run<th class=n>Age of data<th class=n>Took"
			   "<th>Failures since start<tbody>\n");
	for (size_t i = 0; i < page->view->job_count; i++)
		if (is_well(&page->view->jobs[i]) == well)
			add_job(page, &page->view->jobs[i]);
	rna_page_close_table(page);
}

/* Collectors that are well are folded away: there are a dozen for each device. */
void rna_page_jobs(const struct rna_page *page)
{
	size_t well = 0;

	for (size_t i = 0; i < page->view->job_count; i++)
		well += is_well(&page->view->jobs[i]);
	if (well < page->view->job_count) {
		rna_page_add(page, "<h2>Collectors with problems</h2>\n");
		add_table(page, false);
	}
	if (well == 0)
		return;
	rna_page_open_fold(page, "Collectors");
	rna_strbuf_printf(page->out, "%zu, all without problems</small></summary>\n", well);
	add_table(page, true);
	rna_page_add(page, "</details>\n");
}
