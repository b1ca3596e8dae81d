// SPDX-License-Identifier: Apache-2.0
/* exporter/json, table, page and families as a document. */
#include <errno.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rna/check.h"
#include "rna/exporter.h"

#include "fabric_view.h"

static json_t *view_as_json(const struct rna_view *view)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	json_t *root;

	rna_write_json(joined(view), &out);
	assert_true(rna_strbuf_ok(&out));
	root = json_loads(out.data, 0, NULL);
	assert_non_null(root);
	return root;
}

static void test_json(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	json_t *root = view_as_json(view);
	const char *name, *description, *port_state;
	json_int_t rate, numa;
	int up;

	(void)state;
	assert_int_equal(json_array_size(json_object_get(root, "devices")), 3);
	assert_int_equal(json_array_size(json_object_get(root, "collectors")), 4);
	assert_int_equal(json_unpack(root, "{s:[{s:s, s:I, s:[{s:s, s:b, s:I}]}, {s:s}]}",
				     "devices", "name", &name, "numa_node", &numa, "ports", "state",
				     &port_state, "up", &up, "rate_bytes_per_second", &rate,
				     "node_description", &description),
			 0);
	assert_string_equal(name, "mlx5_0");
	assert_string_equal(port_state, "ACTIVE");
	assert_true(up);
	assert_int_equal(numa, 0);
	assert_true(rate == 50000000000);
	assert_string_equal(description, "a \"b\" <c>\\\xef\xbf\xbd");
	json_decref(root);
}

static void test_json_of_a_port_that_is_paused(void **state)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	void *fixture = NULL;
	struct fabric *f;
	const char *use, *since, *until, *gid;
	json_int_t count, packets, qpn;
	double within;
	json_t *root;

	(void)state;
	assert_int_equal(fabric_set_up(&fixture), 0);
	f = fixture;
	f->ports[0].use = RNA_PROBE_PAUSED;
	f->ports[0].pauses = (struct rna_probe_pauses){
		.count = 2,
		.since = exporter_now.realtime,
		.until = exporter_now.realtime + 10 * RNA_USEC_PER_SEC,
		.flood = {.packets = 2001, .nanoseconds = 4000000, .gid = {0xfe, 0x80}, .qpn = 9},
	};
	rna_write_probes_json(f->view, &out);
	root = json_loads(out.data, 0, NULL);
	assert_int_equal(json_unpack(root,
				     "{s:[{s:s, s:{s:I, s:s, s:s, s:I, s:f, s:{s:s, s:I !} !}}]}",
				     "ports", "use", &use, "pauses", "count", &count, "since",
				     &since, "until", &until, "packets_refused", &packets,
				     "within_seconds", &within, "claimed_source", "gid", &gid,
				     "qpn", &qpn),
			 0);
	assert_string_equal(use, "paused");
	assert_int_equal(count, 2);
	assert_string_not_equal(since, until);
	assert_int_equal(packets, 2001);
	assert_true(within > 0.0039 && within < 0.0041);
	assert_string_equal(gid, "fe80::");
	assert_int_equal(qpn, 9);
	assert_null(json_object_get(json_array_get(json_object_get(root, "ports"), 1), "pauses"));
	json_decref(root);
	(void)fabric_tear_down(&fixture);
}

/* Signs of some of several equal paths are in a list of their own. */
static void test_json_probes_on_some_paths(void **state)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	void *fixture = NULL;
	const char *first, *second, *some;
	struct fabric *f;
	json_t *root, *pairs;

	(void)state;
	assert_int_equal(fabric_set_up(&fixture), 0);
	f = fixture;
	fabric_path(f, 0, 0)->signs = RNA_PROBE_LOSS | RNA_PROBE_DSCP;
	fabric_path(f, 0, 0)->some_paths = RNA_PROBE_DSCP;
	rna_write_probes_json(f->view, &out);
	root = json_loads(out.data, 0, NULL);
	pairs = json_object_get(root, "pairs");
	assert_int_equal(json_unpack(json_array_get(pairs, 0), "{s:[s,s!], s:[s!]}", "signs",
				     &first, &second, "some_paths", &some),
			 0);
	assert_string_equal(first, "loss");
	assert_string_equal(second, "dscp");
	assert_string_equal(some, "dscp");
	assert_null(json_object_get(json_array_get(pairs, 1), "some_paths"));
	json_decref(root);
	(void)fabric_tear_down(&fixture);
}

static void test_json_gids(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	json_t *root = view_as_json(view);
	const char *ipv4, *netdev;
	json_int_t index, changes;
	int local[2];

	(void)state;
	assert_int_equal(json_unpack(root, "{s:[{}, {s:[{s:I, s:[{s:b}, {s:I, s:s, s:s, s:b}]}]}]}",
				     "devices", "ports", "gid_changes_total", &changes, "gids",
				     "link_local", &local[0], "index", &index, "ipv4", &ipv4,
				     "netdev", &netdev, "link_local", &local[1]),
			 0);
	assert_true(changes == 7 && index == 3 && local[0] && !local[1]);
	assert_string_equal(ipv4, "10.0.1.1");
	assert_string_equal(netdev, "eth1.100");
	json_decref(root);
}

static void test_json_counters_have_states(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	json_t *root, *counter;

	(void)state;
	*counter_of(view, 0, "symbol_error") = rna_value_unreadable();
	root = view_as_json(view);
	counter = json_object_get(root, "devices");
	counter = json_object_get(json_array_get(counter, 0), "ports");
	counter = json_object_get(json_array_get(counter, 0), "counters");
	counter = json_object_get(counter, "symbol_error");
	assert_string_equal(json_string_value(json_object_get(counter, "state")), "unreadable");
	assert_null(json_object_get(counter, "value"));
	json_decref(root);
}

static json_t *value_of_counter(json_t *root, const char *name)
{
	json_t *port =
		json_object_get(json_array_get(json_object_get(root, "devices"), 0), "ports");
	json_t *counters = json_object_get(json_array_get(port, 0), "counters");

	return json_object_get(json_object_get(counters, name), "value");
}

/* Whole up to 2^63 - 1; beyond, rounded to 15 digits, but never negative. */
static void test_json_numbers_up_to_the_largest(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	json_t *root;

	(void)state;
	*counter_of(view, 0, "symbol_error") = rna_value_ok(INT64_MAX);
	root = view_as_json(view);
	assert_true(json_integer_value(value_of_counter(root, "symbol_error")) == INT64_MAX);
	json_decref(root);
	*counter_of(view, 0, "symbol_error") = rna_value_ok(UINT64_MAX);
	root = view_as_json(view);
	assert_true(json_real_value(value_of_counter(root, "symbol_error")) ==
		    18446744073709600000.0);
	json_decref(root);
}

static void assert_table(const struct rna_view *view, bool colour, const char *expected)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	rna_write_table(joined(view), &(struct rna_table_options){.colour = colour, .wide = true},
			&out);
	assert_true(rna_strbuf_ok(&out));
	assert_string_equal(out.data, expected);
}

static void test_table(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);

	(void)state;
	assert_table(
		view, false,
		"DEVICE  PORT  LINK        STATE   PHYSICAL  EXPECTED      RATE  WIDTH  SPEED "
		"  MTU  LID"
		"  NETDEV  OPER  PEER      PEERPORT  PCI           NUMA  HCA     FIRMWARE\n"
		"mlx5_0     1  InfiniBand  ACTIVE  LinkUp    up        400 Gb/s     4X  NDR   "
		" 4096   17"
		"  ib0     up    leaf \"7\"        12  0000:00:00.0     0  MT4129  28.39.1002\n"
		"mlx5_1     1  Ethernet    DOWN    Disabled  down             -      -  -     "
		" 4096    -"
		"  -       -     leaf \"7\"        12  0000:01:00.0     0  MT4129  28.39.1002\n"
		"rxe2       1  -           -       -         -                -      -  -     "
		"    -    -"
		"  -       -     -                -  -                -  -       -\n");
}

static void assert_gid_table(const struct rna_view *view, const char *expected)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	rna_write_table(joined(view), &(struct rna_table_options){.gids = true}, &out);
	assert_true(rna_strbuf_ok(&out));
	assert_string_equal(out.data, expected);
}

static void test_gid_table(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *none = new_view(1);
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *no_device = new_view(0);
	struct rna_gids *gids;

	(void)state;
	assert_gid_table(view,
			 "DEV     PORT  INDEX  GID                                      IPv4      "
			 "VER  NETDEV    NCCL\n"
			 "mlx5_1     1      0  fe80:0000:0000:0000:0000:0000:0000:0001  -         "
			 "v1   eth1      -\n"
			 "mlx5_1     1      3  0000:0000:0000:0000:0000:ffff:0a00:0101  10.0.1.1  "
			 "v2   eth1.100  -\n");
	assert_gid_table(none, "No GID: there is no port whose table could be read.\n");
	gids = (void *)new_gids();
	((struct rna_port_gids *)(uintptr_t)gids->ports)->count = 0;
	own_snapshot(none)->devices[0].parts[RNA_COLLECTOR_GIDS] = &gids->part;
	assert_gid_table(none, "No GID: the tables of all ports are empty.\n");
	assert_gid_table(no_device, "No RDMA device: the RDMA stack is there, but no driver has "
				    "registered one.\n");
}

/* NCCL takes a port that is ACTIVE, and of it the first IPv4 address for RoCE v2. */
static void test_gid_of_nccl(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(2);
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	struct rna_state *port_state =
		own_part(view->snapshot->devices[1].parts[RNA_COLLECTOR_STATE]);
	json_t *root = view_as_json(view), *port;

	(void)state;
	assert_int_equal(json_unpack(root, "{s:[{}, {s:[o]}]}", "devices", "ports", &port), 0);
	assert_null(json_object_get(port, "nccl_gid_index"));
	json_decref(root);

	((struct rna_port_state_value *)(uintptr_t)port_state->ports)->state =
		rna_value_ok(RNA_PORT_ACTIVE);
	root = view_as_json(view);
	assert_int_equal(json_unpack(root, "{s:[{}, {s:[o]}]}", "devices", "ports", &port), 0);
	assert_int_equal(json_integer_value(json_object_get(port, "nccl_gid_index")), 3);
	json_decref(root);
	rna_write_table(joined(view), &(struct rna_table_options){.gids = true}, &out);
	assert_non_null(strstr(out.data, "eth1      -\n"));
	assert_non_null(strstr(out.data, "eth1.100  yes\n"));
}

static void test_json_resources(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(2);
	json_int_t qps, idle;
	json_t *root, *counters, *other;
	int in_use;

	(void)state;
	own_snapshot(view)->devices[0].parts[RNA_COLLECTOR_RESOURCES] = new_resources();
	root = view_as_json(view);
	assert_int_equal(json_unpack(root, "{s:[{s:b, s:{s:I}, s:{s:I}, s:[{s:o}]}, o]}", "devices",
				     "in_use", &in_use, "resources", "qp", &qps, "idle_resources",
				     "qp", &idle, "ports", "optional_counters", &counters, &other),
			 0);
	assert_true(in_use && qps == 3 && idle == 1);
	assert_int_equal(json_array_size(counters), 2);
	assert_true(json_is_true(json_object_get(json_array_get(counters, 0), "enabled")));
	assert_null(json_object_get(other, "in_use"));
	assert_null(json_object_get(other, "resources"));
	json_decref(root);
}

/* An unused device has no text for its use. */
static void test_page_tells_of_use(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(2);
	RNA_STRBUF struct rna_strbuf idle = RNA_STRBUF_INIT, used = RNA_STRBUF_INIT;

	(void)state;
	rna_write_page(joined(view), &idle);
	assert_null(strstr(idle.data, "in use"));
	own_snapshot(view)->devices[0].parts[RNA_COLLECTOR_RESOURCES] = new_resources();
	rna_write_page(joined(view), &used);
	assert_non_null(strstr(used.data, "in use: opened 1&times;, 3 queue pairs"));
}

static void test_table_holds_whatever_firmware_says(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(2);
	struct rna_identity *identity =
		own_part(view->snapshot->devices[0].parts[RNA_COLLECTOR_IDENTITY]);

	(void)state;
	identity->hca_type = "größer"; /* as wide as MT4129 */
	identity->firmware_version = "1\n2\033[31m\xff";
	assert_table(
		view, false,
		"DEVICE  PORT  LINK        STATE   PHYSICAL  EXPECTED      RATE  WIDTH  SPEED "
		"  MTU  LID"
		"  NETDEV  OPER  PEER      PEERPORT  PCI           NUMA  HCA     FIRMWARE\n"
		"mlx5_0     1  InfiniBand  ACTIVE  LinkUp    up        400 Gb/s     4X  NDR   "
		" 4096   17"
		"  ib0     up    leaf \"7\"        12  0000:00:00.0     0  größer  1\xef\xbf\xbd"
		"2\xef\xbf\xbd[31m\xef\xbf\xbd\n"
		"mlx5_1     1  Ethernet    DOWN    Disabled  down             -      -  -     "
		" 4096    -"
		"  -       -     leaf \"7\"        12  0000:01:00.0     0  MT4129  28.39.1002\n");
}

static void test_table_without_devices(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(0);
	struct rna_presence *presence = own_part(view->snapshot->parts[RNA_COLLECTOR_PRESENCE]);

	(void)state;
	assert_table(
		view, true,
		"No RDMA device: the RDMA stack is there, but no driver has registered one.\n");
	presence->stack = false;
	assert_table(view, true,
		     "No RDMA stack: the kernel has no /sys/class/infiniband (is ib_core "
		     "loaded?).\n");
}

static void test_colour_adds_nothing_but_colour(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	RNA_STRBUF struct rna_strbuf plain = RNA_STRBUF_INIT, coloured = RNA_STRBUF_INIT;
	RNA_STRBUF struct rna_strbuf stripped = RNA_STRBUF_INIT;

	(void)state;
	expect(view, 1, RNA_EXPECTED_UP);
	rna_write_table(joined(view), &(struct rna_table_options){.colour = false}, &plain);
	rna_write_table(joined(view), &(struct rna_table_options){.colour = true}, &coloured);
	assert_non_null(strstr(coloured.data, "\033[31mDOWN\033[0m"));
	for (const char *at = coloured.data; *at; at++) {
		if (*at == '\033')
			at = strchr(at, 'm');
		else
			rna_strbuf_add_char(&stripped, *at);
	}
	assert_string_equal(stripped.data, plain.data);
}

/* Whether a port that is down is a problem does not depend on its state alone. */
static void test_what_nobody_expects_is_not_red(void **state)
{
	static const struct {
		enum rna_expected expected;
		const char *badge;
		bool red;
	} cases[] = {
		{RNA_EXPECTED_UP, "<b class=bad>DOWN</b>", true},
		{RNA_EXPECTED_DOWN, "<b>DOWN</b>", false},
		{RNA_EXPECTED_UNKNOWN, "<b>DOWN</b>", false},
	};
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(2);

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		RNA_STRBUF struct rna_strbuf page = RNA_STRBUF_INIT, table = RNA_STRBUF_INIT;

		expect(view, 1, cases[i].expected);
		rna_write_page(joined(view), &page);
		assert_non_null(strstr(page.data, cases[i].badge));
		rna_write_table(joined(view), &(struct rna_table_options){.colour = true}, &table);
		assert_int_equal(strstr(table.data, "\033[31m") != NULL, cases[i].red);
	}
}

/* Whose page it is, how the node is, and what an administrator believes to be in force. */
static void test_head_of_the_page(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(1);
	RNA_STRBUF struct rna_strbuf good = RNA_STRBUF_INIT, bad = RNA_STRBUF_INIT;

	(void)state;
	rna_write_page(joined(view), &good);
	assert_non_null(strstr(good.data, "<title>node1: no findings</title>"));
	assert_non_null(strstr(good.data, "<h1>node1 <small>"));
	assert_non_null(strstr(good.data, "<dt>Findings<dd>0<small></small></div>"));
	assert_null(strstr(good.data, "was not reloaded"));
	view->agent.name = "<b>";
	view->agent.config_error = "a.yaml:3: unknown key <x>";
	rna_write_page(joined(view), &bad);
	assert_non_null(strstr(bad.data, "<title>&lt;b&gt;: no findings</title>"));
	assert_non_null(strstr(bad.data, "was not reloaded, and the old settings are in use: "
					 "a.yaml:3: unknown key &lt;x&gt;</p>"));
}

static void test_events_table(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(2);
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT, none = RNA_STRBUF_INIT;

	(void)state;
	rna_write_events_table(view, &out);
	assert_string_equal(
		out.data, "TIME                  OBJECT    WHAT          BY         TEXT\n"
			  "2025-11-21T07:20:00Z  -         started       agent      version 1\n"
			  "2025-11-21T09:20:00Z  mlx5_1/1  down 3 times  counter    <told>\n"
			  "2025-11-21T09:20:00Z  mlx5_1/1  up            poll       state ACTIVE\n"
			  "2025-11-21T09:20:00Z  mlx5_1/1  resolved      port-down  after 1m40s: "
			  "mlx5_1/1: <down>\n");
	view->change_count = 0;
	rna_write_events_table(view, &none);
	assert_string_equal(none.data, "Nothing changed.\n");
}

/* All members of each kind, without the moments. */
static void test_events_json(void **state)
{
	static const char *const expected[] = {
		"{\"sequence\": 3, \"kind\": \"agent\", \"change\": \"started\", "
		"\"text\": \"version 1\"}",
		"{\"sequence\": 4, \"kind\": \"port\", \"device\": \"mlx5_1\", \"port\": 1, "
		"\"netdev\": \"eth1\", \"state\": \"down\", \"count\": 3, "
		"\"source\": \"counter\", \"reason\": \"<told>\"}",
		"{\"sequence\": 5, \"kind\": \"port\", \"device\": \"mlx5_1\", \"port\": 1, "
		"\"state\": \"up\", \"count\": 1, \"source\": \"poll\", "
		"\"reason\": \"state ACTIVE\"}",
		"{\"sequence\": 6, \"kind\": \"finding\", \"device\": \"mlx5_1\", \"port\": 1, "
		"\"change\": \"resolved\", \"rule\": \"port-down\", \"severity\": \"critical\", "
		"\"impact\": \"rail-lost\", \"cause\": \"cable\", "
		"\"since\": \"2025-11-21T09:18:20Z\", \"text\": \"mlx5_1/1: <down>\"}",
	};
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(2);
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	json_t *root, *events;

	(void)state;
	rna_write_events_json(view, &out);
	root = json_loads(out.data, 0, NULL);
	events = json_object_get(root, "events");
	assert_int_equal(json_array_size(events), RNA_ARRAY_SIZE(expected));
	for (size_t i = 0; i < RNA_ARRAY_SIZE(expected); i++) {
		json_t *event = json_array_get(events, i);
		char *text;

		assert_string_equal(json_string_value(json_object_get(event, "time")),
				    i == 0 ? "2025-11-21T07:20:00Z" : "2025-11-21T09:20:00Z");
		assert_true(json_is_real(json_object_get(event, "timestamp_seconds")));
		(void)json_object_del(event, "time");
		(void)json_object_del(event, "timestamp_seconds");
		text = json_dumps(event, 0);
		assert_string_equal(text, expected[i]);
		free(text);
	}
	json_decref(root);
}

/* What is older than an hour is folded away, and does not displace what is new. */
static void test_changes_on_the_page(void **state)
{
	static const char lately[] = "<h2>What changed in the last hour</h2>";
	static const char before[] =
		"<h2>What changed before</h2> <small>1, the last hour excluded";
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(2);
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT, older = RNA_STRBUF_INIT;
	const char *resolved, *started;

	(void)state;
	rna_write_page(joined(view), &out);
	resolved = strstr(out.data, "<th>mlx5_1/1<td><b class=good>resolved</b><td>port-down"
				    "<td class=wrap>after 1m40s: mlx5_1/1: &lt;down&gt;");
	started = strstr(out.data, "<td>2025-11-21T07:20:00Z<th>–<td><b>started</b><td>agent"
				   "<td class=wrap>version 1");
	assert_non_null(resolved);
	assert_non_null(started);
	assert_in_range(resolved, strstr(out.data, lately), strstr(out.data, before));
	assert_true(started > strstr(out.data, before));
	view->change_count = 1;
	rna_write_page(joined(view), &older);
	assert_null(strstr(older.data, lately));
	assert_non_null(strstr(older.data, before));
}

/* On the page and in JSON, what is known of a port beyond the moment, and what is not there. */
static void test_memory_is_shown(void **state)
{
	static const char *const pieces[] = {
		"<small>expected up (remembered)</small>",
		"<small>expected down (accepted)</small>",
		"<small>changed 12 s ago, downs: 3</small>",
		"<tr><th>mlx5_9<td>0000:aa:00.0<td><b class=bad>moved</b>",
		"<td data-of=\"Last seen\">2025-11-21T09:06:40Z",
		"<b class=bad>down 3 times</b><td>counter<td class=wrap>&lt;told&gt;",
	};
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(2);
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	json_t *root = view_as_json(view);
	const char *name, *whereabouts;
	json_int_t downs;

	(void)state;
	rna_write_page(joined(view), &out);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(pieces); i++)
		if (!strstr(out.data, pieces[i]))
			fail_msg("%s", pieces[i]);
	assert_int_equal(json_unpack(root, "{s:[{s:s, s:s}], s:[{}, {s:[{s:I}]}]}",
				     "missing_devices", "name", &name, "whereabouts", &whereabouts,
				     "devices", "ports", "downs", &downs),
			 0);
	assert_string_equal(name, "mlx5_9");
	assert_string_equal(whereabouts, "moved");
	assert_int_equal(downs, 3);
	json_decref(root);
}

static void test_page_escapes(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	(void)state;
	rna_write_page(joined(view), &out);
	assert_true(rna_strbuf_ok(&out));
	assert_non_null(strstr(out.data, "a &quot;b&quot; &lt;c&gt;\\\xef\xbf\xbd"));
	assert_null(strstr(out.data, "<c>"));
	assert_null(strstr(out.data, "<script"));
	assert_non_null(strstr(out.data, "<b class=bad>stalled</b>"));
}

static void test_families_as_a_document(void **state)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	(void)state;
	rna_write_families(&out);
	assert_non_null(strstr(out.data, "`rdma_port_lid`\tgauge\tdevice, port\t"));
	assert_non_null(strstr(out.data, "`rdma_collector_errors_total`\tcounter\t"
					 "collector, device, reason\t"));
	assert_non_null(strstr(out.data, "`rdma_port_info`\tinfo\tdevice, port, link_layer, "));
	assert_non_null(strstr(out.data, "`rdma_device_missing_info`\tinfo\tdevice, pci_address, "
					 "whereabouts\t"));
	assert_non_null(strstr(out.data, "`rdma_agent_build_info`\tinfo\tversion\t"));
}

/* One of each kind: of a port, silenced; of a device with a name to be escaped; of the node. */
static void set_findings(struct rna_view *view)
{
	static const struct rna_finding findings[] = {
		{.rule = "port-down",
		 .severity = RNA_SEVERITY_CRITICAL,
		 .silenced = true,
		 .device = "mlx5_0",
		 .port = 1,
		 .since = {40 * RNA_USEC_PER_SEC, 1763716740 * RNA_USEC_PER_SEC},
		 .text = "mlx5_0/1: down",
		 .remedy = "Look."},
		{.rule = "device-stalled",
		 .severity = RNA_SEVERITY_WARNING,
		 .device = "a<b>\033",
		 .text = "a<b>\033: no answer",
		 .told_text = "a<b>\033: no \"answer\"",
		 .remedy = "Wait."},
		{.rule = "reads-failing", .text = "node: fails", .remedy = "Ask."},
	};

	view->findings = findings;
	view->finding_count = RNA_ARRAY_SIZE(findings);
}

static void test_findings_in_documents(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	RNA_STRBUF struct rna_strbuf page = RNA_STRBUF_INIT, table = RNA_STRBUF_INIT;

	(void)state;
	set_findings(view);
	rna_write_page(joined(view), &page);
	assert_non_null(strstr(page.data, "<title>node1: 1 warning, 1 info, 1 silenced</title>"));
	assert_non_null(strstr(page.data, "<dt>Findings<dd>3<small>1 warning, 1 info, "
					  "1 silenced</small></div>"));
	assert_non_null(strstr(page.data, "<b>critical</b><td class=wrap>mlx5_0/1: down<br>"
					  "<small>Look.</small><td data-of=\"Rule\">port-down<br>"
					  "<small>silenced</small>"
					  "<td class=n data-of=\"For\">60 s"));
	assert_non_null(strstr(page.data, "<b class=warn>warning</b><td class=wrap>a&lt;b&gt;"));
	rna_write_table(joined(view), &(struct rna_table_options){0}, &table);
	assert_non_null(strstr(table.data, "\n\ncritical  mlx5_0/1: down (silenced)\n"
					   "warning   a<b>\xef\xbf\xbd: no answer\n"
					   "info      node: fails\n"));
}

/* What is written comes back when it is read. */
static void test_findings_there_and_back(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(1);
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(256);
	RNA_STRBUF struct rna_strbuf json = RNA_STRBUF_INIT;
	struct rna_check check = {0};
	const struct rna_finding *read;

	(void)state;
	set_findings(view);
	rna_write_findings(view, &json);
	assert_int_equal(rna_read_check(json.data, json.len, arena, &check), 0);
	assert_int_equal(check.count, 3);
	assert_true(check.inventory.known);
	assert_int_equal(check.inventory.devices, view->snapshot->device_count);
	assert_int_equal(check.time, view->snapshot->time.realtime);
	read = check.findings;
	for (size_t i = 0; i < 3; i++) {
		const struct rna_finding *written = &view->findings[i];

		assert_string_equal(read[i].rule, written->rule);
		assert_int_equal(read[i].severity, written->severity);
		assert_int_equal(read[i].silenced, written->silenced);
		assert_int_equal(read[i].port, written->port);
		assert_int_equal(read[i].since.realtime, written->since.realtime);
		assert_string_equal(read[i].text, written->text);
		assert_string_equal(read[i].remedy, written->remedy);
	}
	assert_null(read[2].device);
	for (size_t len = 0; len + 2 < json.len; len++) /* cut off anywhere */
		assert_int_equal(rna_read_check(json.data, len, arena, &check), -EBADMSG);
}

/* Bodies are bytes, not texts. */
static bool has(const struct rna_body *body, const char *line)
{
	return memmem(body->data, body->len, line, strlen(line));
}

static void test_findings_in_metrics(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(1);
	RNA_CLEANUP(rna_renderer_free_p) struct rna_renderer *renderer = rna_renderer_new();
	struct rna_body *body;

	(void)state;
	set_findings(view);
	assert_int_equal(rna_renderer_metrics(renderer, joined(view), RNA_EXPOSITION_CLASSIC,
					      &body),
			 0);
	assert_false(has(body, "port-down"));
	assert_true(has(body, "rdma_finding{rule=\"device-stalled\",severity=\"warning\","
			      "device=\"a<b>\xef\xbf\xbd\"} 1\n"));
	assert_true(has(body, "rdma_finding{rule=\"reads-failing\",severity=\"info\"} 1\n"));
	assert_true(has(body, "rdma_findings{severity=\"critical\"} 0\n"));
	assert_true(has(body, "rdma_findings{severity=\"warning\"} 1\n"));
	assert_false(has(body, "rdma_finding_info"));
	(void)rna_body_unref(body);
}

static void test_texts_of_findings_in_metrics(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(1);
	RNA_CLEANUP(rna_renderer_free_p) struct rna_renderer *renderer = rna_renderer_new();
	struct rna_body *body;

	(void)state;
	set_findings(view);
	view->metrics.finding_text = true;
	assert_int_equal(rna_renderer_metrics(renderer, joined(view), RNA_EXPOSITION_CLASSIC,
					      &body),
			 0);
	assert_true(has(body, "rdma_finding_info{rule=\"device-stalled\",severity=\"warning\","
			      "device=\"a<b>\xef\xbf\xbd\","
			      "text=\"a<b>\xef\xbf\xbd: no \\\"answer\\\"\"} 1\n"));
	assert_false(has(body, "port-down")); /* silenced */
	(void)rna_body_unref(body);
}

/* A card was mlx5_0 in one slot, and then in another; a series must not come twice. */
static void test_two_devices_of_one_name_are_missing(void **state)
{
	static const struct rna_finding findings[] = {
		{.rule = "device-missing", .device = "mlx5_0", .text = "", .remedy = ""},
		{.rule = "device-missing", .device = "mlx5_0", .text = "", .remedy = ""},
		{.rule = "device-missing", .device = "mlx5_1", .text = "", .remedy = ""},
	};
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(1);
	RNA_CLEANUP(rna_renderer_free_p) struct rna_renderer *renderer = rna_renderer_new();
	static const char series[] = "rdma_finding{rule=\"device-missing\",severity=\"info\","
				     "device=\"mlx5_0\"} 1\n";
	struct rna_body *body;
	const char *first;

	(void)state;
	view->findings = findings;
	view->finding_count = RNA_ARRAY_SIZE(findings);
	assert_int_equal(rna_renderer_metrics(renderer, joined(view), RNA_EXPOSITION_CLASSIC,
					      &body),
			 0);
	first = memmem(body->data, body->len, series, strlen(series));
	assert_non_null(first);
	first += strlen(series);
	assert_null(
		memmem(first, (size_t)(body->data + body->len - first), series, strlen(series)));
	assert_true(has(body, "device=\"mlx5_1\"} 1\n"));
	assert_true(has(body, "rdma_findings{severity=\"info\"} 3\n"));
	(void)rna_body_unref(body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_json_of_a_port_that_is_paused),
		cmocka_unit_test(test_json_probes_on_some_paths),
		cmocka_unit_test(test_json_gids),
		cmocka_unit_test(test_json_counters_have_states),
		cmocka_unit_test(test_json_numbers_up_to_the_largest),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_gid_table),
		cmocka_unit_test(test_gid_of_nccl),
		cmocka_unit_test(test_json_resources),
		cmocka_unit_test(test_page_tells_of_use),
		cmocka_unit_test(test_table_holds_whatever_firmware_says),
		cmocka_unit_test(test_table_without_devices),
		cmocka_unit_test(test_colour_adds_nothing_but_colour),
		cmocka_unit_test(test_events_table),
		cmocka_unit_test(test_events_json),
		cmocka_unit_test(test_changes_on_the_page),
		cmocka_unit_test(test_memory_is_shown),
		cmocka_unit_test(test_what_nobody_expects_is_not_red),
		cmocka_unit_test(test_head_of_the_page),
		cmocka_unit_test(test_page_escapes),
		cmocka_unit_test(test_families_as_a_document),
		cmocka_unit_test(test_findings_in_documents),
		cmocka_unit_test(test_findings_there_and_back),
		cmocka_unit_test(test_findings_in_metrics),
		cmocka_unit_test(test_texts_of_findings_in_metrics),
		cmocka_unit_test(test_two_devices_of_one_name_are_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
