// SPDX-License-Identifier: Apache-2.0
/* Replies of the API: their limits of memory and levels, times, and a large Node that is read. */
#include <errno.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "kubernetes/objects.h"
#include "view/text.h"

#include "effort.h"

enum { MANY = 80000, TOO_MANY = 120000, TOO_DEEP = 65, REPLY = 8 << 20 };

static const char *const none[] = {NULL};
static const struct rna_kubernetes_options options = {
	.taint_key = "rdma-node-agent/rdma-down",
	.resources = none,
	.label_keys = none,
	.former_taints = none,
	.condition_types = none,
};

/* A Node with count labels, each in a line. */
static void write_node(struct rna_strbuf *out, unsigned count)
{
	rna_strbuf_puts(out, "{\"metadata\": {\"uid\": \"u\", \"labels\": {\"first\": \"1\"");
	for (unsigned i = 0; i < count; i++)
		rna_strbuf_printf(out, ",\n\"label-%u\": \"%u\"", i, i);
	rna_strbuf_puts(out, "}}}");
	assert_true(rna_strbuf_ok(out));
}

static void want_unread(const struct rna_strbuf *reply, const char *why)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	RNA_KUBE_NODE struct rna_kube_node node = {0};
	struct rna_error error = {0};
	double begin = effort();

	assert_int_equal(rna_kube_check_reply(reply, &error), -EBADMSG);
	assert_string_equal(error.text, why);
	assert_int_equal(rna_kube_read_node(reply, &options, &node), -EBADMSG);
	assert_int_equal(rna_kube_write_taints(&options, true, reply, &out), -EBADMSG);
	rna_kube_read_message(reply, &out);
	assert_little_effort(begin);
}

static void test_limits_of_replies(void **state)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT, deep = RNA_STRBUF_INIT,
				     lists = RNA_STRBUF_INIT;

	(void)state;
	write_node(&labels, TOO_MANY);
	want_unread(&labels, "line 109660: takes more than 32768 KiB of memory");
	for (unsigned i = 0; i < TOO_DEEP; i++)
		rna_strbuf_add_char(&deep, '[');
	want_unread(&deep, "line 1: more than 64 levels of lists and objects");
	while (lists.len < REPLY)
		rna_strbuf_puts(&lists, "[],");
	want_unread(&lists, "line 1: takes more than 32768 KiB of memory");
}

static void test_a_large_node_is_read(void **state)
{
	RNA_STRBUF struct rna_strbuf reply = RNA_STRBUF_INIT;
	RNA_KUBE_NODE struct rna_kube_node node = {0};
	double begin = effort();

	(void)state;
	write_node(&reply, MANY);
	assert_int_equal(rna_kube_check_reply(&reply, NULL), 0);
	assert_int_equal(rna_kube_read_node(&reply, &options, &node), 0);
	assert_int_equal(node.label_count, MANY + 1);
	assert_string_equal(rna_kube_label_of(&node, "label-79999"), "79999");
	assert_little_effort(begin);
}

/* Its clients show them on terminals, also those that decode JSON themselves. */
static void test_messages_are_plain(void **state)
{
	static char name[] = "e", evil[] = "a\x1b[2J\n\xc2\x9b"
					   "b\xe2\x80\xae\xff";
	static const char wanted[] = "\"a\xef\xbf\xbd[2J\xef\xbf\xbd\xef\xbf\xbd"
				     "b\xef\xbf\xbd"
				     "\xef\xbf\xbd\"";
	const struct rna_node_condition condition = {.type = "T", .reason = "R", .message = evil};
	const struct rna_desired_node desired = {.conditions = &condition, .condition_count = 1};
	const struct rna_kube_words words = {.name = "n", .desired = &desired};
	const struct rna_kube_event event = {.reason = name, .message = evil};
	RNA_STRBUF struct rna_strbuf conditions = RNA_STRBUF_INIT, events = RNA_STRBUF_INIT;

	(void)state;
	rna_kube_write_conditions(&words, &conditions);
	rna_kube_write_event("n", "u", name, &event, &events);
	assert_non_null(strstr(conditions.data, wanted));
	assert_non_null(strstr(events.data, wanted));
}

static void *no_memory(size_t size)
{
	(void)size;
	errno = ENOMEM;
	return NULL;
}

/* The API server is not to blame for it. */
static void test_missing_memory_is_no_bad_reply(void **state)
{
	RNA_STRBUF struct rna_strbuf reply = RNA_STRBUF_INIT, out = RNA_STRBUF_INIT;
	RNA_KUBE_NODE struct rna_kube_node node = {0};
	int read, written;

	(void)state;
	write_node(&reply, 1);
	json_set_alloc_funcs(no_memory, free);
	read = rna_kube_read_node(&reply, &options, &node);
	written = rna_kube_write_taints(&options, true, &reply, &out);
	json_set_alloc_funcs(malloc, free);
	assert_int_equal(read, -ENOMEM);
	assert_int_equal(written, -ENOMEM);
	assert_int_equal(out.len, 0);
}

/* Of conditions in seconds (Time), of Leases with a fraction (MicroTime). */
static void test_times(void **state)
{
	static const struct {
		const char *text;
		rna_usec seconds;
	} times[] = {
		{"2026-11-29T10:00:00Z", 1795946400},
		{"2026-11-29T10:00:00.000000Z", 1795946400},
		{"2026-11-29T10:00:01.987654Z", 1795946401},
		{"2026-11-29T10:00:00", 0},
		{"2026-11-29T10:00:00.5", 0},
		{"2026-11-29T10:00:00+01:00", 0},
		{"2026-11-29T10:00:00Z and more", 0},
		{NULL, 0},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(times); i++)
		assert_int_equal(rna_text_parse_time(times[i].text),
				 times[i].seconds * RNA_USEC_PER_SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits_of_replies),
		cmocka_unit_test(test_a_large_node_is_read),
		cmocka_unit_test(test_messages_are_plain),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_missing_memory_is_no_bad_reply),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
