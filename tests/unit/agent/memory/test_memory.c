// SPDX-License-Identifier: Apache-2.0
/* agent/memory/memory.c, memory_file.c, state_file.c: what is kept, in which form, and in files. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/model/fabric.h"

#include "memory/memory.h"
#include "memory/state_file.h"

#include "effort.h"
#include "tree.h"

/* Of three tests with one kind of memory, one that was special, and one with another kind. */
static void keep_tests(struct rna_port_memory *port)
{
	struct rna_selftest_run runs[] = {
		{.time.realtime = 1, .grade = RNA_GRADE_FAILED},
		{.time.realtime = 2, .grade = RNA_GRADE_WARNING},
		{.time.realtime = 3, .special = true},
		{.time.realtime = 4, .grade = RNA_GRADE_OK, .expected = 7, .on_demand = true},
		{.time.realtime = 5, .grade = RNA_GRADE_FAILED},
	};
	struct rna_selftest_port tested = {.count = RNA_ARRAY_SIZE(runs), .runs = runs};

	runs[3].request = (struct rna_loopback_request){.size = 64, .qps = 2, .memory_node = -1};
	runs[3].result = (struct rna_loopback_result){.bandwidth = 8,
						      .relaxed_ordering = rna_value_ok(1),
						      .pci_relaxed_ordering = rna_value_ok(0),
						      .bytes = 9,
						      .duration = 10,
						      .latency_median = 11,
						      .latency_p99 = 12};
	runs[4].request = (struct rna_loopback_request){.endpoint = RNA_ENDPOINT_GPU,
							.memory_node = 1,
							.gpu = "0000:17:00.0"};
	runs[4].result =
		(struct rna_loopback_result){.end = RNA_LOOPBACK_CORRUPT, .text = "\"changed\""};
	assert_true(rna_memory_keep_tests(port, &tested));
}

static void compare_tests(const struct rna_port_memory *port)
{
	assert_int_equal(port->test_count, 3);
	assert_int_equal(port->tests[0].time.realtime, 2);
	assert_int_equal(port->tests[0].grade, RNA_GRADE_WARNING);
	assert_int_equal(port->tests[1].time.realtime, 4);
	assert_int_equal(port->tests[1].grade, RNA_GRADE_OK);
	assert_int_equal(port->tests[1].expected, 7);
	assert_true(port->tests[1].on_demand && !port->tests[0].on_demand);
	assert_int_equal(port->tests[1].request.port, 1);
	assert_int_equal(port->tests[1].request.size, 64);
	assert_int_equal(port->tests[1].request.qps, 2);
	assert_int_equal(port->tests[1].request.memory_node, -1);
	assert_int_equal(port->tests[1].result.bandwidth, 8);
	assert_int_equal(port->tests[1].result.latency_p99, 12);
	assert_int_equal(port->tests[1].result.relaxed_ordering.number, 1);
	assert_true(rna_value_is_known(port->tests[1].result.pci_relaxed_ordering));
	assert_int_equal(port->tests[1].result.pci_relaxed_ordering.number, 0);
	assert_false(rna_value_is_known(port->tests[2].result.relaxed_ordering));
	assert_int_equal(port->tests[2].request.endpoint, RNA_ENDPOINT_GPU);
	assert_int_equal(port->tests[2].request.memory_node, 1);
	assert_string_equal(port->tests[2].request.gpu, "0000:17:00.0");
	assert_int_equal(port->tests[2].result.end, RNA_LOOPBACK_CORRUPT);
	assert_string_equal(port->tests[2].result.text, "\"changed\"");
}

static bool learn_peer(struct rna_port_memory *port, const char *hca, const char *number)
{
	const struct rna_peer peer = {
		.source = RNA_PEER_BY_MAD,
		.type = RNA_NODE_TYPE_SWITCH,
		.name = "leaf-07",
		.port = number,
		.guid = "fc6a:1c03:0042:7700",
		.lid = rna_value_ok(7),
		.seen.realtime = 1763716800000000,
	};

	return rna_peer_memory_learn(&port->peer, hca, &peer);
}

static void fill(struct rna_memory *memory)
{
	struct rna_device_memory *device = rna_memory_device(memory, "0000:3b:00.0");
	struct rna_port_memory *port;

	assert_true(rna_memory_set_text(&device->name, "mlx5_1"));
	assert_true(rna_memory_set_text(&device->pci_address, "0000:3b:00.0"));
	assert_true(rna_memory_set_text(&device->former_name.text, "mlx5_2"));
	device->former_name.changed = 21;
	assert_true(rna_memory_set_text(&device->guid, "0002:c903:0000:0001"));
	device->guid_since = 22;
	assert_true(rna_memory_set_text(&device->former_guid.text, "0002:c903:0000:0007"));
	device->former_guid.changed = 23;
	device->lasting = true;
	device->last_seen = 1763716800000001;
	port = rna_memory_port(device, 1);
	assert_true(rna_memory_set_text(&port->netdev, "eth\"1"));
	assert_true(rna_memory_set_text(&port->former_netdev.text, "eth2"));
	port->former_netdev.changed = 24;
	port->first_active = 3;
	port->last_active = 4;
	port->best = (struct rna_port_best){50000000000, 77};
	port->last_test = 1763716800000002;
	port->last_good_test = 1763716800000001;
	keep_tests(port);
	assert_true(learn_peer(port, "0002:c903:0000:0001", "12"));
	(void)rna_memory_port(device, 2);
	device = rna_memory_device(memory, "0000:3b:00.2");
	device->last_seen = 5; /* a virtual function */
	assert_true(rna_memory_set_text(&memory->quiesced.boot, "8d5c"));
	assert_true(rna_memory_set_text(&memory->quiesced.node, "driver=draining"));
	memory->quiesced.until = 77;
	memory->quiesced.node_until = 78;
}

static void test_what_is_written_comes_back(void **state)
{
	RNA_CLEANUP(rna_memory_deinit) struct rna_memory memory = RNA_MEMORY_INIT;
	RNA_CLEANUP(rna_memory_deinit) struct rna_memory back = RNA_MEMORY_INIT;
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT, again = RNA_STRBUF_INIT;
	const struct rna_device_memory *device;

	(void)state;
	fill(&memory);
	rna_memory_write(&memory, &text);
	assert_int_equal(rna_memory_read(&back, text.data, text.len, NULL), 0);
	assert_int_equal(back.count, 1);
	device = rna_memory_find(&back, "0000:3b:00.0");
	assert_string_equal(device->name, "mlx5_1");
	assert_string_equal(device->former_name.text, "mlx5_2");
	assert_int_equal(device->former_name.changed, 21);
	assert_string_equal(device->guid, "0002:c903:0000:0001");
	assert_int_equal(device->guid_since, 22);
	assert_string_equal(device->former_guid.text, "0002:c903:0000:0007");
	assert_int_equal(device->former_guid.changed, 23);
	assert_int_equal(device->last_seen, 1763716800000001);
	assert_int_equal(device->port_count, 2);
	assert_string_equal(device->ports[0].netdev, "eth\"1");
	assert_string_equal(device->ports[0].former_netdev.text, "eth2");
	assert_int_equal(device->ports[0].former_netdev.changed, 24);
	assert_null(device->ports[1].former_netdev.text);
	assert_int_equal(device->ports[0].last_active, 4);
	assert_int_equal(device->ports[0].best.rate, 50000000000);
	assert_int_equal(device->ports[0].best.since, 77);
	assert_int_equal(device->ports[0].last_test, 1763716800000002);
	assert_int_equal(device->ports[0].last_good_test, 1763716800000001);
	assert_int_equal(device->ports[1].last_test, 0);
	assert_int_equal(device->ports[1].test_count, 0);
	compare_tests(&device->ports[0]);
	assert_null(device->ports[1].netdev);
	assert_null(device->ports[1].peer.hca);
	assert_string_equal(back.quiesced.boot, "8d5c");
	assert_string_equal(back.quiesced.node, "driver=draining");
	assert_int_equal(back.quiesced.until, 77);
	assert_int_equal(back.quiesced.node_until, 78);
	rna_memory_write(&back, &again);
	assert_string_equal(text.data, again.data);
}

/* The next process keeps more tests than the file had. */
static void test_more_tests_than_were_kept(void **state)
{
	static const char file[] =
		"{\"version\": 1, \"devices\": [{\"key\": \"a\", \"name\": \"a\", \"ports\": "
		"[{\"port\": 1, \"tests\": [{\"time\": 1, \"memory\": \"local\", \"end\": "
		"\"done\", \"grade\": \"ok\"}]}]}]}";
	RNA_CLEANUP(rna_memory_deinit) struct rna_memory memory = RNA_MEMORY_INIT;
	struct rna_port_memory *port;

	(void)state;
	assert_int_equal(rna_memory_read(&memory, file, strlen(file), NULL), 0);
	port = &memory.devices[0]->ports[0];
	assert_int_equal(port->test_count, 1);
	keep_tests(port); /* under ASan */
	assert_int_equal(port->test_count, 3);
}

static void test_a_peer_is_recalled(void **state)
{
	RNA_CLEANUP(rna_memory_deinit) struct rna_memory memory = RNA_MEMORY_INIT;
	RNA_CLEANUP(rna_memory_deinit) struct rna_memory back = RNA_MEMORY_INIT;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const struct rna_device_memory *device;
	const struct rna_fabric *fabric;

	(void)state;
	fill(&memory);
	rna_memory_write(&memory, &text);
	assert_int_equal(rna_memory_read(&back, text.data, text.len, NULL), 0);
	device = rna_memory_find(&back, "0000:3b:00.0");
	assert_null(rna_peers_recall(device, "0002:c903:0000:0002"));
	assert_null(rna_peers_recall(device, NULL));
	part = rna_peers_recall(device, "0002:c903:0000:0001");
	fabric = (const void *)part;
	assert_int_equal(fabric->port_count, 1);
	assert_int_equal(fabric->ports[0].number, 1);
	assert_string_equal(fabric->ports[0].peer->name, "leaf-07");
	assert_string_equal(fabric->ports[0].peer->port, "12");
	assert_int_equal(fabric->ports[0].peer->type, RNA_NODE_TYPE_SWITCH);
	assert_int_equal(fabric->ports[0].peer->lid.number, 7);
	assert_int_equal(fabric->ports[0].peer->seen.realtime, 1763716800000000);
	assert_true(fabric->ports[0].peer->stale);
}

static void test_a_peer_is_learned_and_forgotten(void **state)
{
	struct rna_port_memory port = {.number = 1};
	const struct rna_peer stale = {.stale = true, .guid = "1:2"};

	(void)state;
	assert_false(learn_peer(&port, NULL, "12"));
	assert_true(learn_peer(&port, "1:1", "12"));
	assert_false(learn_peer(&port, "1:1", "12"));
	assert_true(learn_peer(&port, "1:1", "13"));
	assert_false(rna_peer_memory_learn(&port.peer, "1:1", &stale));
	assert_false(rna_peer_memory_learn(&port.peer, NULL, NULL));
	assert_string_equal(port.peer.port, "13");
	assert_true(rna_peer_memory_learn(&port.peer, "2:2", NULL)); /* another HCA */
	assert_null(port.peer.hca);
	assert_null(port.peer.guid);
	rna_peer_memory_deinit(&port.peer);
}

/* An impossible entry is ignored, and the rest of the file is read. */
static void test_a_peer_that_is_damaged(void **state)
{
	static const char *const peers[] = {
		"{\"hca\": \"1:1\", \"port\": \"3\"}",
		"{\"hca\": 7, \"guid\": 7}",
		"[]",
		"{\"hca\": \"1:1\", \"guid\": \"1:2\", \"name\": "
		"\"0123456789012345678901234567890123456789"
		"0123456789012345678901234\"}",
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(peers); i++) {
		RNA_CLEANUP(rna_memory_deinit) struct rna_memory memory = RNA_MEMORY_INIT;
		RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

		rna_strbuf_printf(
			&text,
			"{\"version\": 1, \"devices\": [{\"key\": \"a\", \"name\": \"b\", "
			"\"ports\": [{\"port\": 1, \"first_active\": 5, \"peer\": %s}]}]}",
			peers[i]);
		assert_int_equal(rna_memory_read(&memory, text.data, text.len, NULL), 0);
		assert_int_equal(memory.devices[0]->ports[0].first_active, 5);
		assert_null(memory.devices[0]->ports[0].peer.guid);
		assert_null(rna_peers_recall(memory.devices[0], "1:1"));
	}
}

/* A name that is no UTF-8 costs itself, and a key that is none its device; not the file. */
static void test_texts_that_json_cannot_hold(void **state)
{
	RNA_CLEANUP(rna_memory_deinit) struct rna_memory memory = RNA_MEMORY_INIT;
	RNA_CLEANUP(rna_memory_deinit) struct rna_memory back = RNA_MEMORY_INIT;
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT, accepted = RNA_STRBUF_INIT;
	struct rna_device_memory *odd;

	(void)state;
	fill(&memory);
	assert_true(rna_memory_set_text(&rna_memory_find(&memory, "0000:3b:00.0")->name, "a\xc3"));
	odd = rna_memory_device(&memory, "b\xff");
	odd->lasting = true;
	odd->last_seen = 1;
	odd->accepted = (struct rna_accepted){RNA_EXPECTED_DOWN, 78};
	rna_memory_write(&memory, &text);
	assert_true(rna_strbuf_ok(&text));
	assert_int_equal(rna_memory_read(&back, text.data, text.len, NULL), 0);
	assert_int_equal(back.count, 1);
	assert_string_equal(back.devices[0]->name, "a\xef\xbf\xbd");
	rna_accepted_write(&memory, &accepted);
	assert_true(rna_strbuf_ok(&accepted));
}

static void test_files_that_are_not_read(void **state)
{
	static const struct {
		const char *text;
		int status;
		const char *says;
	} cases[] = {
		{"", -EBADMSG, "line 1"},
		{"{", -EBADMSG, "line 1"},
		{"{\"version\": 1, \"devices\": [{\"key\": \"a\"", -EBADMSG, "line 1"},
		{"[]", -EBADMSG, "not a state file of the agent"},
		{"{\"version\": 1}", -EBADMSG, "not a state file of the agent"},
		{"{\"version\": 0, \"devices\": []}", -EBADMSG, "not a state file of the agent"},
		{"{\"version\": 1, \"devices\": [{}]}", -EBADMSG, "entry 1 of devices is damaged"},
		{"{\"version\": 1, \"devices\": [{\"key\": \"a\", \"name\": \"a\", \"ports\": "
		 "[{\"port\": 99999}]}]}",
		 -EBADMSG, "entry 1 of devices is damaged"},
		{"{\"version\": 2, \"everything\": \"else\"}", -EOPNOTSUPP, "newer version"},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		RNA_CLEANUP(rna_memory_deinit) struct rna_memory memory = RNA_MEMORY_INIT;
		struct rna_error error = {0};

		assert_int_equal(rna_memory_read(&memory, cases[i].text, strlen(cases[i].text),
						 &error),
				 cases[i].status);
		if (!strstr(error.text, cases[i].says))
			fail_msg("\"%s\" instead of \"%s\"", error.text, cases[i].says);
		assert_int_equal(memory.count, 0);
	}
}

/* A file that is cut anywhere is either read or found to be damaged. */
static void test_cut_anywhere(void **state)
{
	RNA_CLEANUP(rna_memory_deinit) struct rna_memory memory = RNA_MEMORY_INIT;
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	(void)state;
	fill(&memory);
	rna_memory_write(&memory, &text);
	for (size_t len = 0; len + 1 < text.len; len++) { /* the last one is the line end */
		RNA_CLEANUP(rna_memory_deinit) struct rna_memory back = RNA_MEMORY_INIT;

		assert_int_equal(rna_memory_read(&back, text.data, len, NULL), -EBADMSG);
		assert_int_equal(back.count, 0);
	}
}

static void test_accepted(void **state)
{
	static const char bad[] = "{\"version\": 1, \"accepted\": [{\"device\": \"x\", \"state\": "
				  "\"up\"}, {\"device\": \"y\", \"state\": \"sideways\"}]}";
	RNA_CLEANUP(rna_memory_deinit) struct rna_memory memory = RNA_MEMORY_INIT;
	RNA_CLEANUP(rna_memory_deinit) struct rna_memory back = RNA_MEMORY_INIT;
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct rna_device_memory *device;

	(void)state;
	device = rna_memory_device(&memory, "0000:3b:00.0");
	rna_memory_port(device, 2)->accepted = (struct rna_accepted){RNA_EXPECTED_DOWN, 77};
	rna_memory_device(&memory, "gone")->accepted = (struct rna_accepted){RNA_EXPECTED_DOWN, 78};
	rna_accepted_write(&memory, &text);

	/* what was accepted before and is not in the file any more is forgotten */
	rna_memory_port(rna_memory_device(&back, "other"), 1)->accepted.expected = RNA_EXPECTED_UP;
	assert_int_equal(rna_accepted_read(&back, text.data, text.len, NULL), 0);
	assert_int_equal(rna_memory_find(&back, "other")->ports[0].accepted.expected,
			 RNA_EXPECTED_UNKNOWN);
	assert_int_equal(rna_memory_find(&back, "gone")->accepted.time, 78);
	device = rna_memory_find(&back, "0000:3b:00.0");
	assert_int_equal(device->ports[0].accepted.expected, RNA_EXPECTED_DOWN);
	assert_int_equal(device->ports[0].accepted.time, 77);

	/* one entry that is bad leaves all as it was */
	assert_int_equal(rna_accepted_read(&back, bad, strlen(bad), NULL), -EBADMSG);
	assert_int_equal(device->ports[0].accepted.time, 77);
}

/* count times entry, whose %zu is the number of it, as the list name of a file. */
static void write_many(struct rna_strbuf *out, const char *name, const char *key, size_t count,
		       const char *rest)
{
	rna_strbuf_printf(out, "{\"version\": 1, \"devices\": [], \"%s\": [\n", name);
	for (size_t i = 0; i < count; i++)
		rna_strbuf_printf(out, "%s{\"%s\": \"k%zu\", %s}", i > 0 ? ",\n" : "", key,
				  i * 7919 % count, rest); /* in no order */
	rna_strbuf_puts(out, "]}");
	assert_true(rna_strbuf_ok(out));
}

/* Searches begin behind the last device that was found. */
static void test_devices_are_found_in_any_order(void **state)
{
	static const char *const keys[] = {"b", "a", "d", "c"};
	static const unsigned order[] = {0, 1, 2, 3, 0, 0, 3, 1, 2, 2, 0};
	RNA_CLEANUP(rna_memory_deinit) struct rna_memory memory = RNA_MEMORY_INIT;

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(keys); i++)
		assert_non_null(rna_memory_device(&memory, keys[i]));
	for (size_t i = 0; i < RNA_ARRAY_SIZE(order); i++) {
		assert_null(rna_memory_find(&memory, "e"));
		assert_string_equal(rna_memory_find(&memory, keys[order[i]])->key, keys[order[i]]);
	}
	for (size_t i = 0; i < RNA_ARRAY_SIZE(order); i++)
		assert_ptr_equal(rna_memory_device(&memory, keys[order[i]]),
				 memory.devices[order[i]]);
	assert_int_equal(memory.count, RNA_ARRAY_SIZE(keys));
}

enum { ENTRIES_MOST = 65536 };

/* With 200,000 states the agent once started for five minutes. */
static void test_as_many_entries_as_are_read(void **state)
{
	RNA_CLEANUP(rna_memory_deinit) struct rna_memory memory = RNA_MEMORY_INIT;
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT, back = RNA_STRBUF_INIT;
	double start = effort();

	(void)state;
	write_many(&text, "accepted", "device", ENTRIES_MOST, "\"state\": \"up\"");
	assert_int_equal(rna_accepted_read(&memory, text.data, text.len, NULL), 0);
	assert_int_equal(memory.count, ENTRIES_MOST);
	for (size_t i = memory.count; i-- > 0;) {
		struct rna_device_memory *device = memory.devices[i];

		assert_ptr_equal(rna_memory_find(&memory, device->key), device);
		device->accepted.expected = RNA_EXPECTED_UNKNOWN;
		rna_memory_port(device, 1)->accepted.expected = RNA_EXPECTED_DOWN;
	}
	rna_accepted_write(&memory, &back);
	assert_int_equal(rna_accepted_read(&memory, back.data, back.len, NULL), 0);
	assert_int_equal(memory.count, ENTRIES_MOST);
	assert_int_equal(memory.devices[3]->ports[0].accepted.expected, RNA_EXPECTED_DOWN);
	assert_little_effort(start);
}

static void want_damaged(int (*read)(struct rna_memory *memory, const char *text, size_t len,
				     struct rna_error *error),
			 const struct rna_strbuf *text, const char *says)
{
	RNA_CLEANUP(rna_memory_deinit) struct rna_memory memory = RNA_MEMORY_INIT;
	struct rna_error error = {0};
	double start = effort();

	assert_int_equal(read(&memory, text->data, text->len, &error), -EBADMSG);
	assert_string_equal(error.text, says);
	assert_int_equal(error.code, -EBADMSG);
	assert_int_equal(memory.count, 0);
	assert_little_effort(start);
}

static void test_too_many_entries(void **state)
{
	RNA_STRBUF struct rna_strbuf accepted = RNA_STRBUF_INIT, names = RNA_STRBUF_INIT,
				     ports = RNA_STRBUF_INIT, values = RNA_STRBUF_INIT;

	(void)state;
	write_many(&accepted, "accepted", "device", ENTRIES_MOST + 1, "\"state\": \"up\"");
	want_damaged(rna_accepted_read, &accepted,
		     "accepted has 65537 entries; at most 65536 are read");
	write_many(&names, "told", "name", 4097, "\"kind\": \"none\"");
	want_damaged(rna_memory_read, &names, "told has 4097 entries; at most 4096 are read");
	write_many(&values, "accepted", "device", 200000, "\"state\": \"up\"");
	want_damaged(rna_accepted_read, &values,
		     "line 162995: takes more than 131072 KiB of memory");

	rna_strbuf_puts(&ports, "{\"version\": 1, \"devices\": [{\"key\": \"a\", \"name\": "
				"\"a\", \"ports\": [{\"port\": 1}");
	for (unsigned i = 0; i < 4096; i++)
		rna_strbuf_puts(&ports, ", {\"port\": 1}");
	rna_strbuf_puts(&ports, "]}]}");
	want_damaged(rna_memory_read, &ports,
		     "entry 1 of devices has too many ports; at most 4096 are read");
}

/* Brackets in a text, also behind a quote that is escaped, are no lists. */
static void test_too_deep(void **state)
{
	static const char texts[] =
		"{\"version\": 1, \"devices\": [{\"key\": "
		"\"\\\"[[[[[[[[[[[[[[[[[[[[\", \"name\": \"\\\\\", \"ports\": []}]}";
	RNA_CLEANUP(rna_memory_deinit) struct rna_memory memory = RNA_MEMORY_INIT;
	RNA_STRBUF struct rna_strbuf deep = RNA_STRBUF_INIT;

	(void)state;
	assert_int_equal(rna_memory_read(&memory, texts, strlen(texts), NULL), 0);
	rna_strbuf_puts(&deep, "{\"version\": 1,\n\"accepted\": ");
	for (unsigned i = 0; i < 100000; i++)
		rna_strbuf_add_char(&deep, '[');
	want_damaged(rna_accepted_read, &deep, "line 2: more than 16 levels of lists and objects");
	want_damaged(rna_memory_read, &deep, "line 2: more than 16 levels of lists and objects");
}

static void test_files(void **state)
{
	RNA_CLEANUP(tree_deinit) struct tree tree;
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	RNA_CLOSE int directory = -1;
	struct rna_error error = {0};
	char path[128];

	(void)state;
	tree_init(&tree);
	(void)snprintf(path, sizeof(path), "%s/state", tree.path);
	assert_int_equal(rna_state_directory_open(path, false, &error), -ENOENT);
	directory = rna_state_directory_open(path, true, &error);
	assert_true(directory >= 0);
	assert_int_equal(rna_state_file_read(directory, "a.json", &text, &error), -ENOENT);
	assert_int_equal(rna_state_file_write(directory, "a.json", "first", 5, &error), 0);
	assert_int_equal(rna_state_file_write(directory, "a.json", "second", 6, &error), 0);
	assert_int_equal(rna_state_file_read(directory, "a.json", &text, &error), 0);
	assert_int_equal(text.len, 6);
	assert_memory_equal(text.data, "second", 6);
	assert_int_equal(faccessat(directory, "a.json.new", F_OK, 0), -1);
	assert_int_equal(rna_state_file_set_aside(directory, "a.json", 9999999, &error), 0);
	assert_int_equal(faccessat(directory, "a.json.corrupt-9", F_OK, 0), 0);
	assert_int_equal(faccessat(directory, "a.json", F_OK, 0), -1);
}

/* What cannot be written leaves what was there. */
static void test_file_that_cannot_be_written(void **state)
{
	RNA_CLEANUP(tree_deinit) struct tree tree;
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	RNA_CLOSE int directory = -1;
	struct rna_error error = {0};

	(void)state;
	tree_init(&tree);
	tree_write(&tree, "a.json", "first");
	tree_mkdir(&tree, "a.json.new"); /* in the way, for root too */
	directory = rna_state_directory_open(tree.path, true, &error);
	assert_int_equal(rna_state_file_write(directory, "a.json", "second", 6, &error), -EISDIR);
	assert_non_null(strstr(error.text, "cannot write a.json"));
	assert_int_equal(rna_state_file_read(directory, "a.json", &text, &error), 0);
	assert_memory_equal(text.data, "first", 5);
}

/* Others write to the directory, and call what they make as the temporary file is called. */
static void test_what_has_the_temporary_name_is_not_written(void **state)
{
	RNA_CLEANUP(tree_deinit) struct tree tree;
	RNA_CLOSE int directory = -1;
	struct rna_error error = {0};
	char text[16];

	(void)state;
	tree_init(&tree);
	directory = rna_state_directory_open(tree.path, true, &error);
	tree_write(&tree, "outside", "theirs");
	tree_link(&tree, "a.json.new", "outside");
	assert_int_equal(rna_state_file_write(directory, "a.json", "first", 5, &error), 0);
	assert_int_equal(linkat(directory, "outside", directory, "a.json.new", 0), 0);
	assert_int_equal(rna_state_file_write(directory, "a.json", "second", 6, &error), 0);
	tree_fifo(&tree, "a.json.new");
	assert_int_equal(rna_state_file_write(directory, "a.json", "third", 5, &error), 0);
	assert_int_equal(rna_root_read(tree.root, "outside", text, sizeof(text)), 6);
	assert_string_equal(text, "theirs");
	assert_int_equal(rna_root_read(tree.root, "a.json", text, sizeof(text)), 5);
	assert_string_equal(text, "third");
}

static void test_what_is_not_our_file_is_not_read(void **state)
{
	RNA_CLEANUP(tree_deinit) struct tree tree;
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	RNA_CLOSE int directory = -1;
	struct rna_error error = {0};

	(void)state;
	tree_init(&tree);
	directory = rna_state_directory_open(tree.path, true, &error);
	tree_write(&tree, "outside", "theirs");
	tree_link(&tree, "link", "outside");
	tree_fifo(&tree, "fifo");
	tree_mkdir(&tree, "directory");
	assert_int_equal(rna_state_file_read(directory, "link", &text, &error), -ELOOP);
	assert_int_equal(rna_state_file_read(directory, "fifo", &text, &error), -EINVAL);
	assert_string_equal(error.text, "fifo: not a regular file");
	assert_int_equal(rna_state_file_read(directory, "directory", &text, &error), -EINVAL);
	assert_int_equal(text.len, 0);
	if (geteuid() != 0)
		return; /* only root gives files away */
	assert_int_equal(fchownat(directory, "outside", 12345, 12345, 0), 0);
	assert_int_equal(rna_state_file_read(directory, "outside", &text, &error), -EACCES);
	assert_non_null(strstr(error.text, "outside: owned by user 12345"));
	assert_int_equal(fchown(directory, 12345, 12345), 0); /* the agent's, seen by root */
	assert_int_equal(rna_state_file_read(directory, "outside", &text, &error), 0);
	assert_int_equal(text.len, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_written_comes_back),
		cmocka_unit_test(test_more_tests_than_were_kept),
		cmocka_unit_test(test_a_peer_is_recalled),
		cmocka_unit_test(test_a_peer_is_learned_and_forgotten),
		cmocka_unit_test(test_a_peer_that_is_damaged),
		cmocka_unit_test(test_texts_that_json_cannot_hold),
		cmocka_unit_test(test_files_that_are_not_read),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_accepted),
		cmocka_unit_test(test_devices_are_found_in_any_order),
		cmocka_unit_test(test_as_many_entries_as_are_read),
		cmocka_unit_test(test_too_many_entries),
		cmocka_unit_test(test_too_deep),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_file_that_cannot_be_written),
		cmocka_unit_test(test_what_has_the_temporary_name_is_not_written),
		cmocka_unit_test(test_what_is_not_our_file_is_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
