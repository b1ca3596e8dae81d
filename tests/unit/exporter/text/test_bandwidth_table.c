// SPDX-License-Identifier: Apache-2.0
/* exporter: bandwidth tests between nodes, as a table and as JSON. */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "rna/base/json_document.h"
#include "rna/exporter.h"

static const struct rna_bandwidth_test tests[] = {
	{
		.time.realtime = 1700000000 * RNA_USEC_PER_SEC,
		.device = "mlx5_0",
		.port = 1,
		.peer = "node7",
		.peer_device = "mlx5_3",
		.peer_port = 1,
		.end = RNA_LOOPBACK_DONE,
		.out = 48000000000,
		.in = 47000000000,
		.expected = 50000000000,
		.grade = RNA_GRADE_OK,
	},
	{
		.time.realtime = 1700000000 * RNA_USEC_PER_SEC,
		.cause = RNA_BANDWIDTH_WINDOW,
		.device = "mlx5_1",
		.port = 1,
		.peer = "node7",
		.peer_device = "mlx5_4",
		.peer_port = 1,
		.end = RNA_LOOPBACK_SKIPPED,
		.skip = RNA_SKIP_BUSY,
		.text = "node7: mlx5_4/1 is in use\x1b[2J",
	},
	{
		.time.realtime = 1700000000 * RNA_USEC_PER_SEC,
		.device = "rxe0",
		.port = 1,
		.peer = "node7",
		.peer_device = "rxe0",
		.peer_port = 1,
		.end = RNA_LOOPBACK_DONE,
		.out = 125000000,
		.in = 250000000,
	},
};

static void test_a_table(void **state)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	(void)state;
	rna_write_bandwidth(tests, RNA_ARRAY_SIZE(tests), false, &out);
	assert_true(rna_strbuf_ok(&out));
	assert_string_equal(
		out.data,
		"PORT          PEER                          OUT Gb/s   IN Gb/s  EXPECTED   RATIO  "
		"RESULT\n"
		"mlx5_0/1      node7 mlx5_3/1                  384.00    376.00    400.00   0.940  "
		"ok\n"
		"mlx5_1/1      node7 mlx5_4/1                       -         -         -       -  "
		"busy\n"
		"    node7: mlx5_4/1 is in use\xef\xbf\xbd[2J\n"
		"rxe0/1        node7 rxe0/1                      1.00      2.00         -       -  "
		"measured\n");
}

static json_int_t number(const json_t *list, size_t i, const char *name)
{
	return json_integer_value(json_object_get(json_array_get(list, i), name));
}

static const char *text(const json_t *list, size_t i, const char *name)
{
	return json_string_value(json_object_get(json_array_get(list, i), name));
}

static void test_json(void **state)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	RNA_CLEANUP(rna_json_free_p) json_t *root = NULL;
	const json_t *list;

	(void)state;
	rna_write_bandwidth(tests, RNA_ARRAY_SIZE(tests), true, &out);
	assert_true(rna_strbuf_ok(&out));
	root = json_loadb(out.data, out.len, 0, NULL);
	list = json_object_get(root, "tests");
	assert_int_equal(json_array_size(list), 3);
	assert_int_equal(number(list, 0, "out_bytes_per_second"), 48000000000);
	assert_int_equal(number(list, 0, "expected_bytes_per_second"), 50000000000);
	assert_string_equal(text(list, 0, "grade"), "ok");
	assert_string_equal(text(list, 0, "cause"), "demand");
	assert_null(json_object_get(json_array_get(list, 0), "text"));
	assert_string_equal(text(list, 1, "end"), "skipped");
	assert_string_equal(text(list, 1, "skip"), "busy");
	assert_string_equal(text(list, 1, "cause"), "window");
	assert_null(json_object_get(json_array_get(list, 1), "out_bytes_per_second"));
	assert_null(json_object_get(json_array_get(list, 2), "ratio"));
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(test_a_table),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
