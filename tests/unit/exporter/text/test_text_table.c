// SPDX-License-Identifier: Apache-2.0
/* exporter/text: tables and lines that fit a terminal, and the forms of status. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/base/cleanup.h"
#include "rna/exporter.h"

#include "text/text_table.h"

#include "exporter_view.h"

static const char *const rows[][3] = {
	{"a", "a long text that is cut", "1"},
	{"bcd", "größer als erwartet", "22"},
	{"", "\033[31m", "3"},
};

static void write_cell(const struct rna_text_table *table, size_t row, size_t column,
		       struct rna_strbuf *out)
{
	(void)table;
	rna_strbuf_puts(out, rows[row][column]);
}

static void assert_table(int width, const char *expected)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	struct rna_text_table table = {
		.column_count = 3,
		.columns = {{"A"}, {"TEXT"}, {"NUMBER", .right = true}},
		.row_count = RNA_ARRAY_SIZE(rows),
		.width = width,
		.cell = write_cell,
	};

	rna_text_table_write(&table, &out);
	assert_true(rna_strbuf_ok(&out));
	assert_string_equal(out.data, expected);
}

static void any_width(void **state)
{
	(void)state;
	assert_table(0, "A    TEXT                     NUMBER\n"
			"a    a long text that is cut       1\n"
			"bcd  größer als erwartet          22\n"
			"-    \xef\xbf\xbd[31m                         3\n");
}

/* The widest column gives way; characters are cut, not bytes. */
static void limited_width(void **state)
{
	(void)state;
	assert_table(18, "A    TEXT   NUMBER\n"
			 "a    a lo…       1\n"
			 "bcd  größ…      22\n"
			 "-    \xef\xbf\xbd[31m       3\n");
}

/* Headings stay whole, whatever the limit is. */
static void too_little_width(void **state)
{
	(void)state;
	assert_table(1, "A  TEXT  NUMBER\n"
			"a  a l…       1\n"
			"…  grö…      22\n"
			"-  \xef\xbf\xbd[3…       3\n");
}

static void assert_wrapped(const char *text, size_t used, size_t width, const char *expected)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	rna_text_wrap(text, used, 2, width, &out);
	assert_true(rna_strbuf_ok(&out));
	assert_string_equal(out.data, expected);
}

static void lines_are_broken_between_words(void **state)
{
	(void)state;
	assert_wrapped("one two three", 0, 0, "one two three\n");
	assert_wrapped("one two three", 0, 13, "one two three\n");
	assert_wrapped("one two three", 0, 12, "one two\n  three\n");
	assert_wrapped("one two three", 6, 13, "one two\n  three\n");
	assert_wrapped("größer zwei", 0, 6, "größer\n  zwei\n");
	assert_wrapped("a  b", 0, 3, "a \n  b\n");
	assert_wrapped("", 0, 10, "\n");
	assert_wrapped("a\nb", 0, 10,
		       "a\xef\xbf\xbd"
		       "b\n");
}

/* A word that no line holds is broken anywhere. */
static void long_words_are_broken(void **state)
{
	(void)state;
	assert_wrapped("abcdefghij", 0, 4, "abcd\n  ef\n  gh\n  ij\n");
}

static void assert_status(const struct rna_view *view, struct rna_table_options options,
			  const char *expected)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	rna_write_table(joined(view), &options, &out);
	assert_true(rna_strbuf_ok(&out));
	assert_string_equal(out.data, expected);
}

static void status_has_few_columns(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);

	(void)state;
	assert_status(view, (struct rna_table_options){0},
		      "DEVICE  PORT  LINK        STATE   PHYSICAL  EXPECTED      RATE   MTU  "
		      "NETDEV  OPER  PEER      PEERPORT\n"
		      "mlx5_0     1  InfiniBand  ACTIVE  LinkUp    up        400 Gb/s  4096  "
		      "ib0     up    leaf \"7\"        12\n"
		      "mlx5_1     1  Ethernet    DOWN    Disabled  down             -  4096  "
		      "-       -     leaf \"7\"        12\n"
		      "rxe2       1  -           -       -         -                -     -  "
		      "-       -     -                -\n");
}

/* The carrier of the interface; of a port without one its own state. */
static void status_as_ibdev2netdev_has_it(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);

	(void)state;
	assert_status(view, (struct rna_table_options){.brief = true},
		      "mlx5_0 port 1 ==> ib0 (Up)\n"
		      "mlx5_1 port 1 ==> - (Down)\n"
		      "rxe2 port 1 ==> - (NA)\n");
}

/* Its carrier is not known then. */
static void an_interface_that_was_set_down_is_down(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(1);
	const struct rna_netdevs *netdevs = rna_snapshot_netdevs(view->snapshot);
	struct rna_netdev *netdev = (struct rna_netdev *)(uintptr_t)&netdevs->netdevs[0];

	(void)state;
	netdev->admin_up = false;
	netdev->carrier = (struct rna_value){0};
	assert_status(view, (struct rna_table_options){.brief = true},
		      "mlx5_0 port 1 ==> ib0 (Down)\n");
}

static void findings_are_wrapped(void **state)
{
	static const struct rna_finding findings[] = {
		{.rule = "port-down",
		 .severity = RNA_SEVERITY_CRITICAL,
		 .silenced = true,
		 .text = "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 "
			 "0123456789 0123456789 0123456789 0123456789 0123456789"},
	};
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(0);

	(void)state;
	view->findings = findings;
	view->finding_count = 1;
	assert_status(
		view, (struct rna_table_options){0},
		"No RDMA device: the RDMA stack is there, but no driver has registered one.\n"
		"\ncritical  0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 "
		"0123456789 0123456789 0123456789 0123456789\n"
		"          0123456789 (silenced)\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_width),
		cmocka_unit_test(limited_width),
		cmocka_unit_test(too_little_width),
		cmocka_unit_test(lines_are_broken_between_words),
		cmocka_unit_test(long_words_are_broken),
		cmocka_unit_test(status_has_few_columns),
		cmocka_unit_test(status_as_ibdev2netdev_has_it),
		cmocka_unit_test(an_interface_that_was_set_down_is_down),
		cmocka_unit_test(findings_are_wrapped),
	};

	return cmocka_run_group_tests_name("text_table", tests, NULL, NULL);
}
