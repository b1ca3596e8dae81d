// SPDX-License-Identifier: Apache-2.0
/* exporter/page: the sentence on top, and the findings below it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/base/cleanup.h"
#include "rna/exporter.h"

#include "exporter_view.h"

enum { DAY = 86400 };

static const rna_usec at_13_03 = (1763683200 + 13 * 3600 + 3 * 60) * RNA_USEC_PER_SEC;

static bool page_has(const struct rna_view *view, const char *text)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	rna_write_page(joined(view), &out);
	assert_true(rna_strbuf_ok(&out));
	return strstr(out.data, text);
}

static struct rna_finding down(const char *device)
{
	return (struct rna_finding){
		.rule = "port-down",
		.severity = RNA_SEVERITY_CRITICAL,
		.device = device,
		.port = 1,
		.since = {.realtime = at_13_03},
		.text = "down, though it was up before",
		.remedy = "Check the <cable>.",
	};
}

static void set_findings(struct rna_view *view, const struct rna_finding *findings, size_t count)
{
	((struct rna_snapshot *)(uintptr_t)view->snapshot)->time.realtime =
		at_13_03 + 3600 * RNA_USEC_PER_SEC;
	view->findings = findings;
	view->finding_count = count;
}

/* No collector that has not run, as the views of other tests have one. */
static struct rna_view *new_quiet_view(size_t devices)
{
	struct rna_view *view = new_view(devices);

	view->job_count = 0;
	return view;
}

static void one_port_with_its_last_peer(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_quiet_view(1);
	const struct rna_finding findings[] = {down("mlx5_0")};

	(void)state;
	set_findings(view, findings, 1);
	assert_true(page_has(view, "<section class=\"verdict bad\">\n<p>Critical: mlx5_0/1 down "
				   "since 13:03 UTC, was on leaf &quot;7&quot; port 12</p>\n"
				   "<p class=remedy>Check the &lt;cable&gt;.</p>"));
}

/* Without a peer the sentence ends before it; on another day it has the date. */
static void a_port_without_a_known_peer(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_quiet_view(1);
	struct rna_finding findings[] = {down("mlx5_77")};

	(void)state;
	findings[0].since.realtime -= DAY * RNA_USEC_PER_SEC;
	set_findings(view, findings, 1);
	assert_true(page_has(view, "<p>Critical: mlx5_77/1 down since 2025-11-20 13:03 UTC</p>"));
}

static void ports_of_one_switch(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_quiet_view(2);
	struct rna_finding findings[] = {down("mlx5_0"), down("mlx5_1"), down("mlx5_1")};

	(void)state;
	findings[1].since.realtime -= 60 * RNA_USEC_PER_SEC;
	set_findings(view, findings, 2);
	assert_true(page_has(view,
			     "<p>Critical: 2 ports down (mlx5_0/1, mlx5_1/1) since 13:02 UTC, "
			     "all were on leaf &quot;7&quot;</p>"));
	findings[2].device = "mlx5_77";
	set_findings(view, findings, 3);
	assert_true(page_has(view,
			     "<p>Critical: 3 ports down (mlx5_0/1, mlx5_1/1, mlx5_77/1) since "
			     "13:02 UTC</p>"));
}

static void many_ports_are_not_all_named(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_quiet_view(1);
	const struct rna_finding findings[] = {down("a"), down("b"), down("c"),
					       down("d"), down("e"), down("f")};

	(void)state;
	set_findings(view, findings, 6);
	assert_true(
		page_has(view, "6 ports down (a/1, b/1, c/1, d/1 and 2 more) since 13:03 UTC</p>"));
}

/* The lines of the kernel stand below the finding, not in the sentence on top. */
static void a_message_of_the_kernel(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_quiet_view(1);
	const struct rna_finding findings[] = {
		{.rule = "firmware-failing",
		 .severity = RNA_SEVERITY_WARNING,
		 .device = "mlx5_0",
		 .since = {.realtime = at_13_03},
		 .text = "mlx5_0: no answer (or none in time) (3 messages, first 12.000 s after "
			 "boot \"<a> (b)\", last 13.000 s after boot \"c\"); 1 other kind",
		 .remedy = "Reset mlx5_0."},
	};

	(void)state;
	set_findings(view, findings, 1);
	assert_true(page_has(view,
			     "<section class=\"verdict warn\">\n<p>Warning: mlx5_0: no answer "
			     "(or none in time), since 13:03 UTC</p>\n"));
	assert_true(
		page_has(view,
			 "<td class=wrap>mlx5_0: no answer (or none in time)<br>"
			 "<small class=log>3 messages, first 12.000 s after boot "
			 "&quot;&lt;a&gt; (b)&quot;<br>last 13.000 s after boot "
			 "&quot;c&quot;; 1 other kind</small><br><small>Reset mlx5_0.</small>"));
}

/* Information and what is silenced need no action. */
static void healthy_nodes(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_quiet_view(1);
	struct rna_finding findings[] = {down("mlx5_0"), down("mlx5_1")};

	(void)state;
	assert_true(page_has(view, "<section class=\"verdict good\">\n<p>OK: 1 of 1 ports up"));
	findings[0].silenced = true;
	findings[1].severity = RNA_SEVERITY_INFO;
	set_findings(view, findings, 2);
	assert_true(page_has(view, "<p>OK: 1 of 1 ports up"));
	assert_true(page_has(view, "<details>\n<summary><h2>Findings</h2> <small>2, no action "
				   "required</small></summary>"));
}

/* What is not known is not called healthy. */
static void nodes_of_which_too_little_is_known(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(1), *empty = NULL;
	static const struct rna_job_status jobs[] = {{.name = "state", .device = "mlx5_0"}};

	(void)state;
	view->jobs = jobs;
	view->job_count = 1;
	assert_true(page_has(view, "<section class=\"verdict plain\">\n<p>Unknown: 1 of 1 "
				   "collectors have not run</p>"));
	view->findings_short = true;
	assert_true(page_has(view, "<p>Unknown: "));
	empty = new_quiet_view(0);
	assert_true(page_has(empty, "<section class=\"verdict plain\">\n<p>No RDMA device: "));
}

/* Those that are well are folded away. */
static void collectors(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(1);
	struct rna_job_status jobs[] = {
		{.name = "state", .device = "mlx5_0", .ran = true, .success = true},
		{.name = "link", .device = "mlx5_0", .ran = true, .success = true},
	};

	(void)state;
	view->jobs = jobs;
	view->job_count = 2;
	assert_true(page_has(view, "<details>\n<summary><h2>Collectors</h2> <small>2, all without "
				   "problems</small></summary>"));
	assert_false(page_has(view, "Collectors with problems"));
	jobs[1].success = false;
	assert_true(page_has(view, "<h2>Collectors with problems</h2>"));
	assert_true(page_has(view, "<small>1, all without problems</small>"));
	jobs[0].stalled = 1;
	assert_false(page_has(view, "all without problems"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_port_with_its_last_peer),
		cmocka_unit_test(a_port_without_a_known_peer),
		cmocka_unit_test(ports_of_one_switch),
		cmocka_unit_test(many_ports_are_not_all_named),
		cmocka_unit_test(a_message_of_the_kernel),
		cmocka_unit_test(healthy_nodes),
		cmocka_unit_test(nodes_of_which_too_little_is_known),
		cmocka_unit_test(collectors),
	};

	return cmocka_run_group_tests_name("page_verdict", tests, NULL, NULL);
}
