// SPDX-License-Identifier: Apache-2.0
/* core/base/json_document: documents are complete, or their writer says that they are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rna/base/json_document.h"

static void test_document(void **state)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	struct rna_json_writer writer = {0};
	json_t *object = json_object(), *array = json_array();

	(void)state;
	rna_json_append(&writer, array, json_real(0.1));
	rna_json_set(&writer, object, "list", array);
	rna_json_write(&writer, object, 1, &out);
	assert_true(rna_strbuf_ok(&out));
	assert_string_equal(out.data, "{\n \"list\": [\n  0.1\n ]\n}\n");
}

static void test_missing_memory_is_remembered(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
		struct rna_json_writer writer = {0};
		json_t *object = json_object(), *array = json_array();

		if (i == 0)
			rna_json_append(&writer, array, NULL);
		rna_json_set(&writer, object, "list", array);
		if (i == 1)
			rna_json_set(&writer, object, "text", NULL);
		rna_json_write(&writer, object, 1, &out);
		assert_false(rna_strbuf_ok(&out));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_document),
		cmocka_unit_test(test_missing_memory_is_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
