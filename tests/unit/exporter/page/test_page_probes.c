// SPDX-License-Identifier: Apache-2.0
/* exporter/page/page_probes.c: the paths to other nodes on the status page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rna/base/cleanup.h"
#include "rna/exporter.h"

#include "fabric_view.h"

/* Of the section, with 48 paths to other nodes and 56 between ports of this node. */
enum { SIZE_MAX_OF_SECTION = 20000 };

/* The section, or "": the page has none. The caller frees it. */
static char *write_section(struct fabric *f)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	char *start, *end;

	rna_write_page(joined(f->view), &out);
	assert_true(rna_strbuf_ok(&out));
	start = strstr(out.data, "<h2>Probes</h2>");
	if (!start)
		return strdup("");
	end = strstr(start, "All numbers");
	assert_non_null(end);
	return strndup(start, (size_t)(end - start));
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" is not in:\n%s", part, text);
}

static size_t count(const char *text, const char *part)
{
	size_t found = 0;

	for (const char *at = text; (at = strstr(at, part)); at++)
		found++;
	return found;
}

static void test_nothing_where_probes_are_disabled(void **state)
{
	struct fabric *f = *state;

	f->view->probes = NULL;
	RNA_FREE char *section = write_section(f);

	assert_string_equal(section, "");
}

static void test_folded_while_all_is_well(void **state)
{
	struct fabric *f = *state;
	RNA_FREE char *section = write_section(f);

	assert_has(section, "<h2>Probes</h2> <small>8 ports: 8 well; 48 pairs: 48 ok</small>"
			    "</summary>\n");
	assert_has(section, "<th colspan=3>Peers on the same leaf<th colspan=3>Peers elsewhere<tr>"
			    "<th>n2<th>n3<th>n4<th>n5<th>n6<th>n7<tbody>\n");
	assert_has(section, "<tr><th>mlx5_0/1 <small>leaf-a</small><td><b class=good>well</b>"
			    "<td data-of=\"n2\"><b class=good title=\"mlx5_0/1 to n2 mlx5_0/1: "
			    "0 of 1000 lost, median 5.2 µs\">ok</b><td data-of=\"n3\">");
	assert_int_equal(count(section, ">ok</b>"), PORTS * PEERS);
}

static void test_open_with_what_is_wrong(void **state)
{
	struct fabric *f = *state;

	fabric_cut_port(f, 3);
	*fabric_path(f, 0, 0) = fabric_pair(f, 0, 0);
	fabric_path(f, 0, 0)->signs = RNA_PROBE_LOSS;
	fabric_path(f, 0, 0)->recent =
		(struct rna_probe_counts){.sent = 1000, .answered = 988, .lost = 12};
	fabric_path(f, 0, 1)->signs = RNA_PROBE_DSCP;
	fabric_path(f, 0, 1)->some_paths = RNA_PROBE_DSCP;
	fabric_path(f, 0, 2)->state = RNA_PROBE_PEER_DOWN;
	fabric_path(f, 0, 2)->text = "connection refused";
	RNA_FREE char *section = write_section(f);

	assert_null(strstr(section, "</summary>"));
	assert_has(section, "<b class=bad>unreachable</b><br><small>6 of 6 pairs bad</small>");
	assert_has(section, "360 of 1000 lost (large: 18 of 50), median 5.2 µs, for 3 "
			    "min\">silent</b>");
	assert_has(section, ">loss 1.2 %</b>");
	assert_has(section, "DSCP 26 arrives as 0 on some paths\">DSCP</b>");
	assert_has(section, ": connection refused\">peer down</b>");
}

static void test_a_reason_why_probes_do_not_run(void **state)
{
	struct fabric *f = *state;

	f->probes.stopped = "the agent is quiesced";
	f->probes.source.error = "a <bad> list";
	RNA_FREE char *section = write_section(f);

	assert_has(section, "<p class=note>Probes do not run: the agent is quiesced</p>\n"
			    "<p class=note>The list of members cannot be read: a &lt;bad&gt; "
			    "list</p>\n");
}

/* A peer that only some ports have. Names are what other nodes say. */
static void test_a_peer_of_one_port(void **state)
{
	struct fabric *f = *state;

	fabric_path(f, 7, 5)->peer = "n10<\"";
	RNA_FREE char *section = write_section(f);

	assert_has(section, "<th>n7<th>n10&lt;&quot;<tbody>");
	assert_int_equal(count(section, "data-of=\"n10&lt;&quot;\"><b"), 1);
	assert_int_equal(count(section, "<td>\n"), PORTS - 1);
}

static void test_ports_of_this_node(void **state)
{
	struct fabric *f = *state;

	fabric_add_host_pairs(f, RNA_PROBE_RUNNING, "");
	RNA_FREE char *section = write_section(f);

	assert_has(section, "Ports of this node probe each other:</small></p>\n"
			    "<div class=\"wide pairs\"><table>\n<thead><tr><th>Port<th>mlx5_0/1");
	assert_has(section, "<tr><th>mlx5_0/1<td><td data-of=\"mlx5_1/1\"><b class=good");
	assert_int_equal(count(section, ">ok</b>"), PORTS * PEERS + HOST_PAIRS);
	assert_true(strlen(section) < SIZE_MAX_OF_SECTION);
}

static void test_ports_of_this_node_that_cannot_be_probed(void **state)
{
	struct fabric *f = *state;

	fabric_add_host_pairs(f, RNA_PROBE_LOCAL, "the kernel routes IPv6 addresses to itself");
	RNA_FREE char *section = write_section(f);

	assert_has(section, "<p><small>Ports of this node do not probe each other: the kernel "
			    "routes IPv6 addresses to itself</small></p>");
	assert_null(strstr(section, "probe each other:</small>"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, fabric_set_up, fabric_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_nothing_where_probes_are_disabled),
		TEST(test_folded_while_all_is_well),
		TEST(test_open_with_what_is_wrong),
		TEST(test_a_reason_why_probes_do_not_run),
		TEST(test_a_peer_of_one_port),
		TEST(test_ports_of_this_node),
		TEST(test_ports_of_this_node_that_cannot_be_probed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
