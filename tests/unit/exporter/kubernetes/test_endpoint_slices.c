// SPDX-License-Identifier: Apache-2.0
/* exporter/kubernetes, endpoint_slices: lists as the API server writes them, and others. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "rna/base/strbuf.h"
#include "rna/kubernetes.h"

#define LIST(items)                                                                                \
	"{\"kind\":\"EndpointSliceList\",\"apiVersion\":\"discovery.k8s.io/v1\","                  \
	"\"metadata\":{\"resourceVersion\":\"items\"},\"items\":[" items "]}\n"
#define PORTS "\"ports\":[{\"name\":\"metrics\",\"port\":10879,\"protocol\":\"TCP\"}]"

static struct rna_arena *arena;
static struct rna_kubernetes_endpoints list;
static struct rna_error error;

static int set_up(void **state)
{
	(void)state;
	arena = rna_arena_new(4096);
	return arena ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	arena = rna_arena_free(arena);
	return 0;
}

static int parse(const char *text)
{
	error = (struct rna_error){0};
	return rna_kubernetes_parse_endpoints(text, strlen(text), false, arena, &list, &error);
}

static void expect(size_t i, const char *node, const char *address, bool ready)
{
	assert_true(i < list.count);
	assert_string_equal(list.endpoints[i].node, node);
	assert_string_equal(list.endpoints[i].address, address);
	assert_int_equal(list.endpoints[i].port, 10879);
	assert_int_equal(list.endpoints[i].ready, ready);
}

/* Conditions: discovery.k8s.io/v1 of the API reference. A missing one counts as unknown: ready. */
static void test_endpoints(void **state)
{
	(void)state;
	assert_int_equal(parse(LIST(
				 "{\"addressType\":\"IPv4\"," PORTS ",\"endpoints\":["
				 "{\"addresses\":[\"10.0.0.1\"],\"nodeName\":\"n1\"},"
				 "{\"addresses\":[\"10.0.0.2\",\"10.0.0.9\"],\"nodeName\":\"n2\","
				 "\"conditions\":{\"ready\":false}},"
				 "{\"addresses\":[\"10.0.0.3\"],\"nodeName\":\"n3\",\"conditions\":"
				 "{\"ready\":true,\"serving\":true,\"terminating\":true}},"
				 "{\"addresses\":[\"10.0.0.4\"],\"nodeName\":\"n4\",\"conditions\":"
				 "{\"ready\":true,\"serving\":false,\"terminating\":false}},"
				 "{\"addresses\":[\"10.0.0.5\"]}]},"
				 "{\"addressType\":\"IPv6\"," PORTS ",\"endpoints\":["
				 "{\"addresses\":[\"fd00::1\"],\"nodeName\":\"n1\"}]}")),
			 0);
	assert_int_equal(list.slice_count, 2);
	assert_int_equal(list.count, 6);
	expect(0, "n1", "10.0.0.1", true);
	expect(1, "n2", "10.0.0.2", false);
	expect(2, "n3", "10.0.0.3", false);
	expect(3, "n4", "10.0.0.4", false);
	expect(4, "10.0.0.5", "10.0.0.5", true);
	expect(5, "n1", "fd00::1", true);
	assert_false(list.endpoints[0].https);
}

static void test_what_is_left_out(void **state)
{
	(void)state;
	assert_int_equal(parse(LIST("{\"addressType\":\"FQDN\"," PORTS ",\"endpoints\":["
				    "{\"addresses\":[\"10.0.0.1\"]}]},"
				    "{\"endpoints\":[{\"addresses\":[\"10.0.0.1\"]}]},"
				    "{\"ports\":null,\"endpoints\":null},{},"
				    "{" PORTS ",\"endpoints\":[{\"addresses\":[\"host\"]},"
				    "{\"addresses\":[]},{},7,{\"addresses\":[\"10.0.0.1\"],"
				    "\"nodeName\":\"a/b\"}]}")),
			 0);
	assert_int_equal(list.slice_count, 5);
	assert_int_equal(list.count, 0);
	assert_int_equal(parse(LIST("")), 0);
	assert_int_equal(list.slice_count, 0);
}

static void expect_port(const char *ports, unsigned port, bool https)
{
	char text[1024];

	(void)snprintf(text, sizeof(text),
		       LIST("{\"ports\":[%s],\"endpoints\":[{\"addresses\":[\"10.0.0.1\"]}]}"),
		       ports);
	assert_int_equal(parse(text), 0);
	assert_int_equal(list.count, port > 0 ? 1 : 0);
	if (port > 0) {
		assert_int_equal(list.endpoints[0].port, port);
		assert_int_equal(list.endpoints[0].https, https);
	}
}

static void test_ports(void **state)
{
	(void)state;
	expect_port("{\"name\":\"\",\"port\":80}", 80, false);
	expect_port("{\"port\":53,\"protocol\":\"UDP\"},{\"port\":80},{\"port\":81}", 80, false);
	expect_port("{\"port\":80},{\"name\":\"http\",\"port\":81}", 81, false);
	expect_port("{\"port\":80},{\"name\":\"https\",\"port\":81,\"protocol\":\"TCP\"}", 81,
		    true);
	expect_port("{\"port\":80,\"appProtocol\":\"https\"}", 80, true);
	expect_port("{\"port\":null},{\"port\":0},{\"port\":65536},{\"port\":\"80\"}", 0, false);
}

static void refuse(const char *text, const char *why)
{
	assert_int_equal(parse(text), -EBADMSG);
	assert_non_null(strstr(error.text, why));
}

static void test_damage(void **state)
{
	static const char whole[] = LIST("{" PORTS ",\"endpoints\":[]},{}");
	char cut[sizeof(whole)];

	(void)state;
	refuse("", "EndpointSlices: ");
	refuse("[]", "not a list");
	refuse("{\"kind\":\"items\"}", "not a list");
	refuse("{\"a\":{\"items\":[]}}", "not a list");
	refuse("{\"items\":{}}", "not a list");
	refuse("{\"items\":[7]}", "EndpointSlices: ");
	refuse("{\"items\":[{", "the list has no end");
	refuse("{\"items\":[{},]}", "EndpointSlices: ");
	refuse("{\"items\":[{]}", "EndpointSlices: ");
	refuse("{\"items\":[{]},{}]}", "EndpointSlices: ");
	for (size_t len = 0; len < strlen(whole) - 3; len++) { /* "]}\n" */
		memcpy(cut, whole, len);
		cut[len] = '\0';
		assert_int_equal(parse(cut), -EBADMSG);
	}
	assert_int_equal(
		parse("  { \"x\" : \"items\", \"y\":[{}], \"items\" : [ { } , {\"\\\"]\":1} ] }"),
		0);
	assert_int_equal(list.slice_count, 2);
}

static void test_ten_thousand(void **state)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	(void)state;
	rna_strbuf_puts(&text, "{\"items\":[");
	for (int slice = 0; slice < 100; slice++) {
		rna_strbuf_printf(&text, "%s{" PORTS ",\"endpoints\":[", slice > 0 ? "," : "");
		for (int i = 0; i < 100; i++)
			rna_strbuf_printf(&text,
					  "%s{\"addresses\":[\"10.0.%d.%d\"],\"nodeName\":\"n%d\"}",
					  i > 0 ? "," : "", slice, i, slice * 100 + i);
		rna_strbuf_puts(&text, "]}");
	}
	rna_strbuf_puts(&text, "]}");
	assert_int_equal(parse(text.data), 0);
	assert_int_equal(list.count, 10000);
	expect(9999, "n9999", "10.0.99.99", true);
}

static void test_slices_alone(void **state)
{
	static const char text[] = LIST("{\"metadata\":{\"name\":\"}\"}},{\"metadata\":{}}");

	(void)state;
	assert_int_equal(rna_kubernetes_parse_endpoints(text, strlen(text), true, arena, &list,
							&error),
			 0);
	assert_int_equal(list.slice_count, 2);
	assert_int_equal(list.count, 0);
}

/* As API servers write a list of metadata that has nothing. */
static void test_no_slices(void **state)
{
	static const char text[] = "{\"kind\":\"PartialObjectMetadataList\",\"items\":null}";

	(void)state;
	assert_int_equal(rna_kubernetes_parse_endpoints(text, strlen(text), true, arena, &list,
							&error),
			 0);
	assert_int_equal(list.slice_count, 0);
	assert_int_equal(parse("{\"kind\":\"Status\"}"), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_endpoints, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_is_left_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_ports, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_damage, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_ten_thousand, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_slices_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_slices, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
