// SPDX-License-Identifier: Apache-2.0
/* exporter/text/probe_tables.c: what `rdma-node-agent probe` shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rna/base/cleanup.h"
#include "rna/exporter.h"

#include "fabric_view.h"

enum { WIDTH = 120 };

/* The caller frees it. */
static char *write_table(struct fabric *f)
{
	struct rna_strbuf out = RNA_STRBUF_INIT;

	rna_write_probes_table(f->view, &out);
	assert_true(rna_strbuf_ok(&out));
	return rna_strbuf_take(&out);
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" is not in:\n%s", part, text);
}

static void assert_order(const char *text, const char *first, const char *second)
{
	const char *a = strstr(text, first), *b = strstr(text, second);

	if (!a || !b || a > b)
		fail_msg("\"%s\" does not stand before \"%s\" in:\n%s", first, second, text);
}

static size_t count(const char *text, const char *part)
{
	size_t found = 0;

	for (const char *at = text; (at = strstr(at, part)); at++)
		found++;
	return found;
}

static void test_says_how_to_enable_probes(void **state)
{
	struct fabric *f = *state;

	f->view->probes = NULL;
	RNA_FREE char *text = write_table(f);

	assert_has(text, "Probes are disabled: probe.enabled is false.\nTo enable them, set ");
	assert_has(text, "probe.secret_file");
}

static void test_a_node_that_is_well(void **state)
{
	struct fabric *f = *state;
	RNA_FREE char *text = write_table(f);

	assert_has(text, "Probes run. 8 ports: 8 well; 48 pairs: 48 ok\n"
			 "Members: 7 (file /etc/members.json), read 12 s ago\n"
			 "\n"
			 "PORT      VERDICT     FOR  BAD PAIRS");
	assert_has(text,
		   "\nmlx5_0/1  well     60 min        0/6     -       -  open     0  leaf-a");
	assert_has(text, "\nmlx5_0/1  n2    mlx5_0/1  leaf    ok        -  1000     0   0/50  "
			 "5.2 µs  12.8 µs  5.1 µs  26/26\n");
	assert_int_equal(count(text, "\nmlx5_3/1  "), 1 + PEERS);
	assert_null(strstr(text, "Not answered"));
	assert_null(strstr(text, "REASON\n\n"));
}

static void test_leaves_that_are_unknown(void **state)
{
	struct fabric *f = *state;

	f->ports[2].leaf = f->ports[5].leaf = "";
	RNA_FREE char *text = write_table(f);

	assert_has(text, "48 pairs: 48 ok; ports whose leaf switch is unknown: 2\n");
}

static void test_the_worst_come_first(void **state)
{
	struct fabric *f = *state;

	fabric_cut_port(f, 3);
	fabric_path(f, 1, 4)->signs = RNA_PROBE_LOSS | RNA_PROBE_DSCP;
	fabric_path(f, 1, 4)->some_paths = RNA_PROBE_DSCP;
	fabric_path(f, 0, 5)->state = RNA_PROBE_PEER_DOWN;
	fabric_path(f, 0, 5)->text = "connection refused";
	RNA_FREE char *text = write_table(f);

	assert_has(text, "8 ports: 1 unreachable, 7 well; 48 pairs: 6 silent, 1 loss, 1 peer_down, "
			 "40 ok\n");
	assert_has(text, "\nmlx5_3/1  unreachable   3 min        6/6  360/360    30 s  open");
	assert_order(text, "\nmlx5_3/1  unreachable", "\nmlx5_0/1  well");
	assert_order(text, "\nmlx5_3/1  n2",
		     "\nmlx5_1/1  n6    mlx5_1/1  fabric  loss,dscp (some paths)  ");
	assert_order(text, "loss,dscp (some paths)",
		     "\nmlx5_0/1  n7    mlx5_0/1  fabric  peer_down");
	assert_order(text, "peer_down", "\nmlx5_0/1  n2    mlx5_0/1  leaf    ok");
	assert_has(text, " 26/0\n");
	assert_has(text, "\npeer_down      1  connection refused\n");
}

static void test_a_sign_of_a_path_that_is_not_probed(void **state)
{
	struct fabric *f = *state;

	fabric_path(f, 0, 0)->signs = RNA_PROBE_SILENT;
	fabric_path(f, 0, 0)->state = RNA_PROBE_NO_NEIGHBOUR;
	RNA_FREE char *text = write_table(f);

	assert_has(text, "  silent,no_neighbour  ");
}

static void test_why_probes_do_not_run(void **state)
{
	struct fabric *f = *state;

	f->probes.stopped = "probe.secret: others may read it";
	f->probes.source.error = "/etc/members.json:1: a target must be HOST:PORT";
	f->probes.strangers[RNA_STRANGER_REPLAY] = 3;
	f->probes.strangers[RNA_STRANGER_RATE] = 1;
	f->probes.restarts = 2;
	RNA_FREE char *text = write_table(f);

	assert_has(text, "Probes do not run: probe.secret: others may read it. 8 ports: 8 well; ");
	assert_has(text, "Restarts of the prober: 2\n");
	assert_has(text, "read 12 s ago; error: /etc/members.json:1: a target must be HOST:PORT\n");
	assert_has(text, "Not answered: 3 replay, 1 rate\n");
}

static void test_a_port_that_is_paused(void **state)
{
	struct fabric *f = *state;

	f->ports[3].use = RNA_PROBE_PAUSED;
	f->ports[3].text = "flooded: 2001 packets refused";
	RNA_FREE char *text = write_table(f);

	assert_has(text, "8 ports: 1 paused, 7 well; ");
	assert_has(text, "  paused     3  leaf-a  flooded: 2001 packets refused\n");
	assert_order(text, "\nmlx5_3/1", "\nmlx5_0/1  well");
}

static void test_no_source_of_members(void **state)
{
	struct fabric *f = *state;

	f->probes.source = (struct rna_probe_source){.kind = "", .name = ""};
	f->probes.pair_count = 0;
	RNA_FREE char *text = write_table(f);

	assert_has(text, "; 0 pairs\nMembers: none; no source is configured (probe.members_file");
	assert_null(strstr(text, "PEERPORT"));
}

static void test_ports_of_one_node_share_a_line(void **state)
{
	struct fabric *f = *state;
	static const char why[] = "software devices deliver it without the cable";

	fabric_add_host_pairs(f, RNA_PROBE_LOCAL, why);
	RNA_STRBUF struct rna_strbuf wide = RNA_STRBUF_INIT;
	RNA_FREE char *text = write_table(f);

	assert_int_equal(count(text, "  host  "), 0);
	assert_has(text, "\nlocal      56  software devices deliver it without the cable\n");
	rna_write_probes_wide(f->view, &wide);
	assert_true(rna_strbuf_ok(&wide));
	assert_int_equal(count(wide.data, "  host    local  "), HOST_PAIRS);
	assert_int_equal(count(wide.data, why), HOST_PAIRS);
	assert_null(strstr(wide.data, "PAIRS  REASON"));
}

/* Names are what other nodes say. */
static void test_lines_are_not_too_long(void **state)
{
	struct fabric *f = *state;

	fabric_cut_port(f, 0);
	fabric_path(f, 0, 0)->peer = "gke-a-cluster-with-a-long-name-and-gpus-pool-1-0a1b2c3d-x4y5";
	fabric_path(f, 0, 0)->signs = (1u << RNA_PROBE_SIGNS) - 1;
	fabric_path(f, 0, 0)->peer_device = "\033[31mmlx5_0";
	f->ports[2].text = "a reason that is so long that it does not fit into the line, because "
			   "of what an administrator wrote into it";
	f->probes.source.error = f->ports[2].text;
	RNA_FREE char *text = write_table(f);

	assert_null(strchr(text, '\033'));
	assert_has(text, "…");
	for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
		size_t width = 0;

		for (const char *at = line; *at != '\n'; at++)
			width += (*at & 0xc0) != 0x80;
		assert_true(width <= WIDTH);
	}
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, fabric_set_up, fabric_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_says_how_to_enable_probes),
		TEST(test_a_node_that_is_well),
		TEST(test_leaves_that_are_unknown),
		TEST(test_the_worst_come_first),
		TEST(test_a_sign_of_a_path_that_is_not_probed),
		TEST(test_why_probes_do_not_run),
		TEST(test_a_port_that_is_paused),
		TEST(test_no_source_of_members),
		TEST(test_ports_of_one_node_share_a_line),
		TEST(test_lines_are_not_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
