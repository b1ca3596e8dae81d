// SPDX-License-Identifier: Apache-2.0
/* agent/mesh, peer_facts: what a peer says of its ports, and what it must not say. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "rna/exporter.h"

#include "mesh/peer_facts.h"

#include "fabric_view.h"

#define PORT                                                                                       \
	"{\"device\": \"mlx5_0\", \"port\": 1, \"use\": \"open\", \"gid\": \"::ffff:10.0.0.1\", "  \
	"\"lid\": 0, \"mtu\": 4096, \"qpns\": [17, 18], \"rail\": 3, \"leaf\": \"leaf-a\", "       \
	"\"link_layer\": \"ethernet\", \"session\": \"00000000000000ff\"}"
#define CLOSED                                                                                     \
	"{\"device\": \"mlx5_1\", \"port\": 1, \"use\": \"failed\", \"leaf\": \"\", "              \
	"\"link_layer\": \"infiniband\"}"
#define HEAD                                                                                       \
	"{\"version\": 2, \"node\": \"n1\", \"group\": \"\", "                                     \
	"\"key_check\": \"0123abcd\", \"state\": \"running\", \"why\": \"\", \"bandwidth\": "      \
	"true, \"bandwidth_port\": 10880, "

static struct rna_peer_facts facts;
static struct rna_error error;

static int parse(const char *text)
{
	error = (struct rna_error){0};
	return rna_peer_facts_parse(text, strlen(text), &facts, &error);
}

static void test_a_host_that_stood_still(void **state)
{
	(void)state;
	assert_int_equal(parse(HEAD "\"late\": true, \"ports\": []}"), 0);
	assert_true(facts.late);
}

static void test_leaves(void **state)
{
	(void)state;
	assert_int_equal(parse(HEAD "\"ports\": [" CLOSED ", " PORT "]}"), 0);
	assert_true(rna_peer_facts_tell_leaves(&facts));
	assert_true(rna_peer_facts_have_leaf(&facts, "leaf-a"));
	assert_false(rna_peer_facts_have_leaf(&facts, "leaf-b"));
	assert_false(rna_peer_facts_have_leaf(&facts, "")); /* that is unknown at either end */
	assert_int_equal(parse(HEAD "\"ports\": [" CLOSED "]}"), 0);
	assert_false(rna_peer_facts_tell_leaves(&facts));
	assert_false(rna_peer_facts_have_leaf(&facts, ""));
}

static void test_ports_and_state(void **state)
{
	static const uint8_t gid[16] = {[10] = 0xff, 0xff, 10, 0, 0, 1};

	(void)state;
	assert_int_equal(parse(HEAD "\"ports\": [" PORT ", " CLOSED "], \"future\": {}}"), 0);
	assert_string_equal(facts.node, "n1");
	assert_string_equal(facts.key_check, "0123abcd");
	assert_true(facts.runs);
	assert_false(facts.late);
	assert_int_equal(facts.bandwidth_port, 10880);
	assert_int_equal(facts.port_count, 2);
	assert_true(facts.ports[0].open);
	assert_string_equal(facts.ports[0].device, "mlx5_0");
	assert_string_equal(facts.ports[0].leaf, "leaf-a");
	assert_int_equal(facts.ports[0].rail, 3);
	assert_memory_equal(facts.ports[0].address.gid, gid, sizeof(gid));
	assert_int_equal(facts.ports[0].address.mtu, 4096);
	assert_int_equal(facts.ports[0].address.qpn_count, 2);
	assert_int_equal(facts.ports[0].address.qpns[1], 18);
	assert_true(facts.ports[0].session == 255);
	assert_false(facts.ports[1].open);
	assert_true(facts.ports[1].infiniband);
	assert_int_equal(facts.ports[1].rail, RNA_PROBE_RAIL_UNKNOWN);
}

static void test_what_an_agent_says_is_understood(void **state)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	void *fixture = NULL;
	struct fabric *f;

	(void)state;
	assert_int_equal(fabric_set_up(&fixture), 0);
	f = fixture;
	for (size_t i = 0; i < PORTS; i++) {
		f->ports[i].session = UINT64_MAX - i;
		f->ports[i].address = (struct rna_probe_address){.mtu = 4096,
								 .qpn_count = 2,
								 .qpns = {17, 18 + (uint32_t)i}};
	}
	f->ports[3].use = RNA_PROBE_PAUSED;
	rna_write_probe_json(f->view, &text);
	assert_int_equal(parse(text.data), 0);
	assert_true(facts.runs);
	assert_int_equal(facts.port_count, PORTS);
	assert_true(facts.ports[7].open);
	assert_true(facts.ports[7].session == UINT64_MAX - 7);
	assert_int_equal(facts.ports[7].address.qpns[1], 25);
	assert_false(facts.ports[3].open);
	assert_true(facts.ports[3].session == 0);
	(void)fabric_tear_down(&fixture);
}

/* text with what replaced by with */
static int parse_with(const char *what, const char *with)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	static const char good[] = HEAD "\"ports\": [" PORT "]}";
	const char *at = strstr(good, what);

	assert_non_null(at);
	rna_strbuf_printf(&text, "%.*s%s%s", (int)(at - good), good, with, at + strlen(what));
	return parse(text.data);
}

static void test_what_is_wrong_is_named(void **state)
{
	static const struct {
		const char *what, *with, *why;
	} cases[] = {
		{"\"node\": \"n1\"", "\"node\": \"\"", "the name of its node is missing or wrong"},
		{"\"group\": \"\"", "\"group\": 1", "its group or key is missing or wrong"},
		{"00000000000000ff", "ff", "its port 0 is described wrongly"},
		{"00000000000000ff", "0x000000000000ff", "its port 0 is described wrongly"},
		{"00000000000000ff", "0000000000000000", "its port 0 is described wrongly"},
		{"\"why\": \"\", ", "", "the state of its prober is missing or wrong"},
		{"\"port\": 1", "\"port\": 0", "its port 0 is described wrongly"},
		{"\"port\": 1", "\"port\": -1", "its port 0 is described wrongly"},
		{"::ffff:10.0.0.1", "10.0.0.1", "its port 0 is described wrongly"},
		{"[17, 18]", "[]", "its port 0 is described wrongly"},
		{"[17, 18]", "[1]", "its port 0 is described wrongly"},
		{"[17, 18]", "[16777216]", "its port 0 is described wrongly"},
		{"[17, 18]", "[2,3,4,5,6,7,8,9,10]", "its port 0 is described wrongly"},
		{"4096", "65536", "its port 0 is described wrongly"},
		{"\"ethernet\"", "\"infiniband\"", "its port 0 is described wrongly"}, /* no LID */
		{"\"rail\": 3", "\"rail\": 1e9", "its port 0 is described wrongly"},
		{"\"leaf\": \"leaf-a\"", "\"leaf\": \"a\\u0000b\"",
		 "its port 0 is described wrongly"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(parse_with(cases[i].what, cases[i].with), -EBADMSG);
		if (i + 1 < sizeof(cases) / sizeof(cases[0])) /* jansson refuses the last one */
			assert_string_equal(error.text, cases[i].why);
	}
}

static void test_other_versions_are_told_apart(void **state)
{
	/* As the version before wrote it: its session is the prober's. */
	static const char former[] =
		"{\"version\": 1, \"node\": \"n1\", \"group\": \"\", \"session\": "
		"\"00000000000000ff\", \"key_check\": \"0123abcd\", \"state\": \"running\", "
		"\"why\": \"\", \"late\": false, \"bandwidth\": false, \"ports\": [{\"device\": "
		"\"mlx5_0\", \"port\": 1, \"use\": \"open\", \"link_layer\": \"ethernet\", "
		"\"gid\": \"::ffff:10.0.0.1\", \"lid\": 0, \"mtu\": 4096, \"qpns\": [17], "
		"\"rail\": 3, \"leaf\": \"\"}]}";

	(void)state;
	assert_int_equal(parse_with("\"version\": 2", "\"version\": 3"), -EOPNOTSUPP);
	assert_string_equal(error.text, "it speaks version 3 of probes, and this agent 2");
	assert_int_equal(parse(former), -EOPNOTSUPP);
	assert_string_equal(error.text, "it speaks version 1 of probes, and this agent 2");
	assert_int_equal(parse("{}"), -EBADMSG);
	assert_int_equal(parse("[]"), -EBADMSG);
	assert_int_equal(parse("404 page not found"), -EBADMSG);
	assert_int_equal(parse(""), -EBADMSG);
}

static void test_a_prober_that_does_not_run(void **state)
{
	(void)state;
	assert_int_equal(parse_with("running", "stopped"), 0);
	assert_false(facts.runs);
}

static void test_more_ports_than_a_node_has(void **state)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	(void)state;
	rna_strbuf_puts(&text, HEAD "\"ports\": [" CLOSED);
	for (int i = 0; i < RNA_PEER_PORTS_MAX; i++)
		rna_strbuf_puts(&text, ", " CLOSED);
	rna_strbuf_puts(&text, "]}");
	assert_int_equal(parse(text.data), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_leaves),
		cmocka_unit_test(test_ports_and_state),
		cmocka_unit_test(test_a_host_that_stood_still),
		cmocka_unit_test(test_what_is_wrong_is_named),
		cmocka_unit_test(test_other_versions_are_told_apart),
		cmocka_unit_test(test_what_an_agent_says_is_understood),
		cmocka_unit_test(test_a_prober_that_does_not_run),
		cmocka_unit_test(test_more_ports_than_a_node_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
