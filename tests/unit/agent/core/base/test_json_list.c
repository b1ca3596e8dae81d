// SPDX-License-Identifier: Apache-2.0
/* agent/core/base, json_list: the items of a list one by one, in whatever pieces the text comes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/base/json_list.h"

enum { ITEM_MAX = 64, REFUSED = -EPROTO };

static const struct rna_json_limits limits = {.memory = 64 * 1024, .levels = 8};

/* Each item between angle brackets. */
static int take(const char *text, size_t len, void *userdata, struct rna_error *error)
{
	struct rna_strbuf *items = userdata;

	assert_int_equal(strlen(text), len);
	rna_strbuf_puts(items, "<");
	rna_strbuf_add(items, text, len);
	rna_strbuf_puts(items, ">");
	return strstr(text, "stop") ? rna_error_say(error, REFUSED, "stopped") : 0;
}

/* Reads pieces of that many bytes. *items gets the items; *seen, whether there was a list. */
static int read_all(const char *text, size_t piece, struct rna_strbuf *items, json_t **frame,
		    bool *seen, struct rna_error *error)
{
	static const char *const path[] = {"data", "result", NULL};
	RNA_JSON_LIST struct rna_json_list list = {.path = path,
						   .item_max = ITEM_MAX,
						   .take = take,
						   .userdata = items};
	size_t len = strlen(text);
	int status = 0;

	rna_strbuf_puts(items, "");
	for (size_t at = 0; status == 0 && at < len; at += piece) {
		size_t rest = len - at < piece ? len - at : piece;
		RNA_FREE char *copy = malloc(rest); /* without an end */

		memcpy(copy, text + at, rest);
		status = rna_json_list_read(&list, copy, rest, error);
	}
	if (status == 0)
		status = rna_json_list_end(&list, &limits, frame, error);
	*seen = list.seen;
	return status;
}

static void want_piece(const char *text, size_t piece, const char *wanted, const char *frame_text)
{
	RNA_CLEANUP(rna_json_free_p) json_t *frame = NULL, *wanted_frame = NULL;
	RNA_STRBUF struct rna_strbuf items = RNA_STRBUF_INIT;
	struct rna_error error = {0};
	bool seen;
	int status = read_all(text, piece, &items, &frame, &seen, &error);

	assert_string_equal(error.text, "");
	assert_int_equal(status, 0);
	assert_int_equal(seen, wanted != NULL);
	assert_string_equal(items.data, wanted ? wanted : "");
	wanted_frame = json_loads(frame_text, 0, NULL);
	assert_true(json_equal(frame, wanted_frame));
}

/* wanted: NULL: there is no list. */
static void want(const char *text, const char *wanted, const char *frame)
{
	for (size_t piece = 1; piece < 9; piece++)
		want_piece(text, piece, wanted, frame);
	want_piece(text, strlen(text), wanted, frame);
}

static void test_items(void **state)
{
	(void)state;
	want("{\"status\":\"ok\",\"data\":{\"type\":\"v\",\"result\":[{\"a\":1},{}]}}",
	     "<{\"a\":1}><{}>", "{\"status\":\"ok\",\"data\":{\"type\":\"v\",\"result\":[]}}");
	want("{\"data\":{\"result\":[]}}", "", "{\"data\":{\"result\":[]}}");
	want(" { \"data\" : { \"result\" : [ \n ] , \"x\" : 1 } } ", "",
	     "{\"data\":{\"result\":[],\"x\":1}}");
	want("{\"data\":{\"result\":[[1,2],\"],[\\\"\\\\\",{\"]\":\"}\"},null]},\"b\":[1]}",
	     "<[1,2]><\"],[\\\"\\\\\"><{\"]\":\"}\"}><null>",
	     "{\"data\":{\"result\":[]},\"b\":[1]}");
	/* what stands for nothing, the reader of items refuses */
	want("{\"data\":{\"result\":[,]}}", "<><>", "{\"data\":{\"result\":[]}}");
	want("{\"data\":{\"result\":[1,]}}", "<1><>", "{\"data\":{\"result\":[]}}");
}

static void test_the_path_alone_leads_to_the_list(void **state)
{
	static const char *const others[] = {
		"{\"result\":[1]}",
		"{\"data\":[{\"result\":[1]}]}",
		"{\"data\":{\"x\":{\"result\":[1]}}}",
		"{\"x\":{\"data\":{\"result\":[1]}}}",
		"{\"data\":{\"result\":{\"result\":[1]}}}",
		"{\"data\":{\"x\":\"result\",\"y\":[1]}}",
		"{\"data\":{},\"result\":[1]}",
		"{\"x\":\"data\",\"y\":{\"result\":[1]}}",
		"{\"dat\":{\"result\":[1]},\"datas\":{\"result\":[1]}}",
		"[{\"data\":{\"result\":[1]}}]",
		"{\"\\\"data\":{\"result\":[1]}}",
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(others); i++)
		want(others[i], NULL, others[i]);
	want("{\"a\":{\"b\":[{\"c\":{}}]},\"data\":{\"x\":{\"y\":{}},\"result\":[7]}}", "<7>",
	     "{\"a\":{\"b\":[{\"c\":{}}]},\"data\":{\"x\":{\"y\":{}},\"result\":[]}}");
}

static void want_error(const char *text, int code, const char *words)
{
	for (size_t piece = 1; piece <= 100; piece += 33) {
		RNA_CLEANUP(rna_json_free_p) json_t *frame = NULL;
		RNA_STRBUF struct rna_strbuf items = RNA_STRBUF_INIT;
		struct rna_error error = {0};
		bool seen;

		assert_int_equal(read_all(text, piece, &items, &frame, &seen, &error), code);
		assert_non_null(strstr(error.text, words));
	}
}

#define TWENTY "12345678901234567890"

static void test_errors(void **state)
{
	(void)state;
	want_error("", -EBADMSG, "'[' or '{' expected");
	want_error("{\"data\":{\"result\":[1", -EBADMSG, "the list has no end");
	want_error("{\"data\":{\"result\":[1]", -EBADMSG, "line 1: ");
	want_error("{\"data\":{\"result\":[1]]}}", -EBADMSG, "line 1: ");
	want_error("}]{\"data\":{\"result\":[1]}}", -EBADMSG, "line 1: ");
	want_error("[[[[[[[[[", -EBADMSG, "more than 8 levels");
	want_error("{\"data\":{\"result\":[1,\"stop\",2]}}", REFUSED, "stopped");
	want_error("{\"data\":{\"result\":[1," TWENTY TWENTY TWENTY TWENTY "]}}", -EBADMSG,
		   "an element of the list has more than 0 KiB");
	want_error("{\"x\":\"" TWENTY TWENTY TWENTY TWENTY "\"}", -EBADMSG,
		   "what is beside the list has more than 0 KiB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_items),
		cmocka_unit_test(test_the_path_alone_leads_to_the_list),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
