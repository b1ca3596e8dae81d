// SPDX-License-Identifier: Apache-2.0
/* agent/config/settings.c and agent/config/config.c: the table, durations, files, and the text of
 * every error. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "rna/base/duration.h"
#include "rna/base/log.h"
#include "rna/collector.h"
#include "rna/model/ethernet.h"

#include "config/settings_table.h"

#include "effort.h"

static const char file[] = "agent.yaml"; /* in a directory of its own */

static void write_bytes(const char *text, size_t len)
{
	FILE *out = fopen(file, "we");

	assert_non_null(out);
	assert_int_equal(fwrite(text, 1, len, out), len);
	assert_int_equal(fclose(out), 0);
}

static struct rna_settings load(const char *text)
{
	struct rna_settings settings = {0};
	struct rna_error error = {0};

	write_bytes(text, strlen(text));
	if (rna_config_load(file, &settings, NULL, &error) < 0)
		fail_msg("%s", error.text);
	return settings;
}

/* What was there before must be there after a failure, byte by byte. */
static void assert_fails(const char *path, const char *message)
{
	struct rna_settings settings, before;
	struct rna_error error = {0};

	memset(&settings, 0x5a, sizeof(settings));
	memcpy(&before, &settings, sizeof(before));
	assert_true(rna_config_load(path, &settings, NULL, &error) < 0);
	assert_string_equal(error.text, message);
	assert_true(error.code < 0);
	assert_memory_equal(&settings, &before, sizeof(before));
	assert_true(rna_config_load(path, &settings, NULL, NULL) < 0);
}

static void assert_refused(const char *text, const char *message)
{
	write_bytes(text, strlen(text));
	assert_fails(file, message);
}

/* -- Durations --------------------------------------------------------------------------------- */

static void test_durations_are_read_and_written(void **state)
{
#define PATTERNS "kernel_log:\n  patterns:\n"

	static const struct {
		const char *text;
		rna_usec length;
		const char *written;
	} cases[] = {
		{"250ms", 250000, "250ms"},
		{"10s", 10000000, "10s"},
		{"1m30s", 90000000, "1m30s"},
		{"90s", 90000000, "1m30s"},
		{"24h", 86400000000, "1d"},
		{"1d2h3m4s5ms", 93784005000, "1d2h3m4s5ms"},
		{"0s", 0, "0s"},
		{"010s", 10000000, "10s"},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
		rna_usec length = 0;

		assert_int_equal(rna_duration_parse(cases[i].text, &length), 0);
		assert_int_equal(length, cases[i].length);
		rna_duration_write(length, &text);
		assert_string_equal(text.data, cases[i].written);
	}
}

static void test_other_texts_are_no_durations(void **state)
{
	static const char *const texts[] = {
		"",     "1",    "10",  "s",   "ms",   "1 s",   " 1s",      "1s ",
		"1.5s", "-1",   "-1s", "+1s", "1S",   "30s1m", "1s1s",     "1sm",
		"1us",  "1m30", "1y",  "1w",  "1msx", "1mh",   "1h30ms5s",
	};
	rna_usec length = 42;

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(texts); i++)
		assert_int_equal(rna_duration_parse(texts[i], &length), -EINVAL);
	assert_int_equal(rna_duration_parse("99999999999999999999s", &length), -ERANGE);
	assert_int_equal(rna_duration_parse("18446744073709551615d", &length), -ERANGE);
	assert_int_equal(rna_duration_parse("213503982d18446744073709s", &length), -ERANGE);
	assert_int_equal(length, 42);
}

/* -- The table --------------------------------------------------------------------------------- */

static void test_each_default_is_allowed_by_its_own_row(void **state)
{
	(void)state;
	for (size_t i = 0; i < rna_settings_schema.count; i++) {
		const struct rna_schema_row *row = &rna_settings_schema.rows[i];
		RNA_CLEANUP(rna_settings_deinit) struct rna_settings settings = {0};

		assert_ptr_equal(rna_setting_find(row->key), row);
		if (row->standard)
			assert_int_equal(rna_setting_put(row, row->standard, &settings, NULL), 0);
		if (!row->min)
			continue;
		assert_int_equal(rna_setting_put(row, row->min, &settings, NULL), 0);
		assert_int_equal(rna_setting_put(row, row->max, &settings, NULL), 0);
	}
}

static void test_documents_say_what_is_read_at_the_start_only(void **state)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	(void)state;
	rna_settings_describe(&text);
	assert_non_null(strstr(text.data, "`\tMinimum severity of log messages.\n"));
	assert_non_null(strstr(text.data,
			       "`\tMaximum number of worker threads (lanes). One is used "
			       "while every device answers, two at the start. Read at "
			       "the start only.\n"));
}

static void test_each_collector_has_a_period(void **state)
{
	(void)state;
	for (size_t i = 0; i < RNA_COLLECTOR_COUNT; i++) {
		const struct rna_schema_row *row;
		char key[64];

		(void)snprintf(key, sizeof(key), "poll.%s", rna_collectors[i].name);
		row = rna_setting_find(key);
		assert_non_null(row);
		assert_int_equal(row->offset,
				 offsetof(struct rna_settings, poll) + i * sizeof(rna_usec));
	}
}

static void assert_defaults(const struct rna_settings *settings)
{
	assert_int_equal(settings->poll[RNA_COLLECTOR_PRESENCE], 10 * RNA_USEC_PER_SEC);
	assert_int_equal(settings->poll[RNA_COLLECTOR_STATE], RNA_USEC_PER_SEC);
	assert_int_equal(settings->poll[RNA_COLLECTOR_COUNTERS], 10 * RNA_USEC_PER_SEC);
	assert_int_equal(settings->poll[RNA_COLLECTOR_HW_COUNTERS], 10 * RNA_USEC_PER_SEC);
	assert_int_equal(settings->poll[RNA_COLLECTOR_IDENTITY], 600 * RNA_USEC_PER_SEC);
	assert_int_equal(settings->poll[RNA_COLLECTOR_LINK], 60 * RNA_USEC_PER_SEC);
	assert_int_equal(settings->poll[RNA_COLLECTOR_GIDS], 300 * RNA_USEC_PER_SEC);
	assert_int_equal(settings->poll[RNA_COLLECTOR_PCIE], 300 * RNA_USEC_PER_SEC);
	assert_int_equal(settings->poll[RNA_COLLECTOR_NETDEV], 10 * RNA_USEC_PER_SEC);
	assert_int_equal(settings->poll[RNA_COLLECTOR_READINESS], 300 * RNA_USEC_PER_SEC);
	assert_int_equal(settings->poll[RNA_COLLECTOR_KERNEL_LOG], RNA_USEC_PER_SEC);
	assert_int_equal(settings->kernel_log_source, RNA_KERNEL_LOG_SETTING_AUTO);
	assert_null(settings->kernel_log_patterns);
	assert_int_equal(settings->poll[RNA_COLLECTOR_PROCESS], 10 * RNA_USEC_PER_SEC);
	assert_string_equal(settings->expect_profile, "");
	assert_int_equal(settings->poll_deadline, 5 * RNA_USEC_PER_SEC);
	assert_int_equal(settings->poll_handover, 250 * RNA_USEC_PER_MSEC);
	assert_int_equal(settings->lanes_max, 8);
	assert_int_equal(settings->reader_descriptors, 4096);
	assert_null(settings->devices_include);
	assert_null(settings->devices_exclude);
	assert_string_equal(settings->http_listen[0], ":10879");
	assert_null(settings->http_listen[1]);
	assert_int_equal(settings->http_max_connections, 256);
	assert_int_equal(settings->http_max_header_bytes, 16384);
	assert_int_equal(settings->http_idle_timeout, 120 * RNA_USEC_PER_SEC);
	assert_int_equal(settings->metrics_collectors, 0);
	assert_false(settings->metrics_details);
	assert_false(settings->metrics_gid_info);
	assert_false(settings->metrics_node_exporter_names);
	assert_true(settings->metrics_finding_text);
	assert_int_equal(settings->log_level, LOG_INFO);
}

static void test_defaults(void **state)
{
	struct rna_settings settings;

	(void)state;
	assert_int_equal(rna_settings_init(&settings), 0);
	assert_defaults(&settings);
	rna_settings_deinit(&settings);
	rna_settings_deinit(&settings);
}

/* -- Good files -------------------------------------------------------------------------------- */

static void test_files_that_set_nothing_leave_the_defaults(void **state)
{
	static const char *const texts[] = {
		"",
		"\n",
		"# only a comment\n",
		"---\n",
		"---\n...\n",
		"null\n",
		"~\n",
		"{}\n",
		"poll:\nhttp:\n",
		"poll: {}\nlog: ~\n",
		"\xef\xbb\xbf# byte order mark\n",
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(texts); i++) {
		struct rna_settings settings = load(texts[i]);

		assert_defaults(&settings);
		rna_settings_deinit(&settings);
	}
}

static void test_a_file_sets_what_it_names(void **state)
{
	struct rna_settings settings = load("poll:\n"
					    "  state: 500ms\n"
					    "  link: 1m30s\n"
					    "lanes: {max: 2}\n"
					    "reader:\n"
					    "  descriptors: \"0\"\n"
					    "http:\n"
					    "  listen: [\"127.0.0.1:1\", '[::1]:65535']\n"
					    "metrics: {gid_info: true, collectors: full}\n"
					    "log:\n"
					    "  level: debug\n");

	(void)state;
	assert_int_equal(settings.poll[RNA_COLLECTOR_STATE], 500 * RNA_USEC_PER_MSEC);
	assert_int_equal(settings.poll[RNA_COLLECTOR_LINK], 90 * RNA_USEC_PER_SEC);
	assert_int_equal(settings.poll[RNA_COLLECTOR_NETDEV], 10 * RNA_USEC_PER_SEC);
	assert_int_equal(settings.lanes_max, 2);
	assert_int_equal(settings.reader_descriptors, 0);
	assert_string_equal(settings.http_listen[0], "127.0.0.1:1");
	assert_string_equal(settings.http_listen[1], "[::1]:65535");
	assert_null(settings.http_listen[2]);
	assert_true(settings.metrics_gid_info);
	assert_int_equal(settings.metrics_collectors, 1);
	assert_int_equal(settings.log_level, LOG_DEBUG);
	rna_settings_deinit(&settings);
}

static void test_anchors_and_aliases_are_fine(void **state)
{
	struct rna_settings settings = load("poll:\n"
					    "  counters: &often 2s\n"
					    "  hw_counters: *often\n");

	(void)state;
	assert_int_equal(settings.poll[RNA_COLLECTOR_COUNTERS], 2 * RNA_USEC_PER_SEC);
	assert_int_equal(settings.poll[RNA_COLLECTOR_HW_COUNTERS], 2 * RNA_USEC_PER_SEC);
	rna_settings_deinit(&settings);
}

#define SOCKET_NAME_20  "abcdefghij/klmnopqrs"
#define SOCKET_NAME_100 SOCKET_NAME_20 SOCKET_NAME_20 SOCKET_NAME_20 SOCKET_NAME_20 SOCKET_NAME_20

static void test_listen_addresses(void **state)
{
	static const char *const good[] = {
		":1",
		"localhost:80",
		"0.0.0.0:10879",
		"[::]:10879",
		"[::ffff:1.2.3.4]:9",
		"[1111:2222:3333:4444:5555:6666:123.123.123.123]:65535",
		"unix:/run/rdma-node-agent/http.sock",
		"unix:@rdma-node-agent",
		"unix:/" SOCKET_NAME_100 "123456",
	};
	static const char *const bad[] = {
		"",
		":",
		"localhost",
		"1.2.3.4",
		":0",
		":65536",
		":-1",
		":80 ",
		"1.2.3:80",
		"::1:80",
		"[::1]",
		"[]:80",
		"[:80",
		"]:80",
		"[::1:80",
		"node-7:80",
		"[1.2.3.4]:80",
		"[::1]80",
		":http",
		"[[::1]]:80",
		"[1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb]:80",
		"unix:",
		"unix:/",
		"unix:@",
		"unix:http.sock",
		"unix:http.sock:80",
		"/run/rdma-node-agent/http.sock",
		"unix:/" SOCKET_NAME_100 "1234567",
	};
	const struct rna_schema_row *row = rna_setting_find("http.listen");

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(good); i++)
		assert_true(row->is_valid(good[i]));
	for (size_t i = 0; i < RNA_ARRAY_SIZE(bad); i++)
		assert_false(row->is_valid(bad[i]));
}

/* -- Bad files --------------------------------------------------------------------------------- */

static const struct refusal {
	const char *text;
	const char *message;
} refusals[] = {
	/* values */
	{"# one\n\npoll:\n  state: 1\n",
	 "agent.yaml:4: poll.state: \"1\" is not a duration such as 500ms, 10s or 1m30s "
	 "(100ms to 24h)"},
	{"poll: {state: }\n",
	 "agent.yaml:1: poll.state: \"\" is not a duration such as 500ms, 10s or 1m30s "
	 "(100ms to 24h)"},
	{"poll:\n  state: 50ms\n",
	 "agent.yaml:2: poll.state: 50ms is out of range; allowed: 100ms to 24h"},
	{"poll:\n  state: 24h1ms\n",
	 "agent.yaml:2: poll.state: 24h1ms is out of range; allowed: 100ms to 24h"},
	{"poll:\n  state: 99999999999999999999s\n",
	 "agent.yaml:2: poll.state: 99999999999999999999s is out of range; allowed: 100ms to "
	 "24h"},
	{"state:\n  directory: var/lib\n",
	 "agent.yaml:2: state.directory: \"var/lib\" is not an absolute path, or \"\" for none"},
	{"expect:\n  profile: fleet.yaml\n",
	 "agent.yaml:2: expect.profile: \"fleet.yaml\" is not an absolute path, auto, or \"\" for "
	 "none"},
	{"expect:\n  up: [mlx5_0/0]\n",
	 "agent.yaml:2: expect.up: \"mlx5_0/0\" is not a glob such as mlx5_*, 0000:3b:00.? or "
	 "1070:fd03:* without spaces, followed by /PORT for a single port"},
	{"lanes:\n  max: many\n",
	 "agent.yaml:2: lanes.max: \"many\" is not an integer; allowed: 2 to 64"},
	{"lanes:\n  max: 4.0\n",
	 "agent.yaml:2: lanes.max: \"4.0\" is not an integer; allowed: 2 to 64"},
	{"lanes:\n  max: 1\n", "agent.yaml:2: lanes.max: 1 is out of range; allowed: 2 to 64"},
	{"lanes:\n  max: 99999999999999999999\n",
	 "agent.yaml:2: lanes.max: 99999999999999999999 is out of range; allowed: 2 to 64"},
	{"metrics:\n  node_exporter_names: yes\n",
	 "agent.yaml:2: metrics.node_exporter_names: \"yes\" is not true or false"},
	{"gateways:\n  probe: sometimes\n",
	 "agent.yaml:2: gateways.probe: \"sometimes\" is not true or false"},
	{"devices:\n  exclude: mlx5_0\n",
	 "agent.yaml:2: devices.exclude: expected a list such as [\"mlx5_0\"], found a single "
	 "value"},
	{"devices:\n  exclude: \"*\"\n",
	 "agent.yaml:2: devices.exclude: expected a list, found a single value"},
	{"expect:\n  down:\n    a: b\n",
	 "agent.yaml:2: expect.down: expected a list, found a section"},
	{"expect:\n  up: 'a\"b'\n",
	 "agent.yaml:2: expect.up: expected a list, found a single value"},
	{"devices:\n  include:\n    - mlx5_0\n    - mlx5_[\n",
	 "agent.yaml:4: devices.include: \"mlx5_[\" is not a glob such as mlx5_bond_*, "
	 "0000:3b:00.? or ib[0-3] without spaces and slashes"},
	{"log:\n  level: loud\n",
	 "agent.yaml:2: log.level: \"loud\" is not one of error, warning, notice, info, debug"},
	{"http:\n  listen:\n    - \":1\"\n    - node-7:80\n",
	 "agent.yaml:4: http.listen: \"node-7:80\" is not host:port, [ipv6]:port or :port, where "
	 "host is an IP address or localhost, or unix:/path or unix:@name of at most 107 bytes"},
	{"log:\n  level: |\n    two\n    lines\n",
	 "agent.yaml:2: log.level: \"two\" is not one of error, warning, notice, info, debug"},
	{"poll:\n  counters: &x 2s\n\n  link: 1h\nlanes:\n  max: *x\n",
	 "agent.yaml:6: lanes.max: \"2s\" is not an integer; allowed: 2 to 64"},
	/* keys */
	{"poll:\n  link: 1m\n\n  sate: 1s\n",
	 "agent.yaml:4: unknown key poll.sate; did you mean poll.state?"},
	{"poll:\n  foo: 1s\n",
	 "agent.yaml:2: unknown key poll.foo; `rdma-node-agent describe settings` lists all keys"},
	{"pol:\n  state: 1s\n", "agent.yaml:1: unknown key pol; did you mean poll?"},
	{"http:\n  max_connection: 9\n",
	 "agent.yaml:2: unknown key http.max_connection; did you mean http.max_connections?"},
	{"colour: red\n",
	 "agent.yaml:1: unknown key colour; `rdma-node-agent describe settings` lists all keys"},
	{"<<: {}\n",
	 "agent.yaml:1: unknown key <<; `rdma-node-agent describe settings` lists all keys"},
	{"poll.state: 1s\n", "agent.yaml:1: poll.state: move it into its section: \"poll:\", and "
			     "\"state:\" indented on the next line"},
	{"poll:\n  state: 1s\n  link: 1m\n  state: 2s\n",
	 "agent.yaml:4: poll.state is specified twice, first on line 2"},
	{"poll:\n  state: 1s\nlog:\npoll:\n  link: 1m\n",
	 "agent.yaml:4: poll is specified twice, first on line 1"},
	/* kinds */
	{"poll:\n  state: [1s]\n",
	 "agent.yaml:2: poll.state: expected a single value, found a list"},
	{"poll:\n  state:\n    state: 1s\n",
	 "agent.yaml:2: poll.state: expected a single value, found a section"},
	{"http:\n  listen: \":1\"\n",
	 "agent.yaml:2: http.listen: expected a list such as [\":1\"], found a single value"},
	{"http:\n  listen: []\n", "agent.yaml:2: http.listen: the list must not be empty"},
	{"http:\n  listen:\n    - [a]\n",
	 "agent.yaml:3: http.listen: expected a single value, found a list"},
	{"poll: 1s\n",
	 "agent.yaml:1: poll: expected \"key: value\" lines below, found a single value"},
	{"poll: [state]\n",
	 "agent.yaml:1: poll: expected \"key: value\" lines below, found a list"},
	{"- poll\n", "agent.yaml:1: expected \"key: value\" lines below, found a list"},
	{"poll\n", "agent.yaml:1: expected \"key: value\" lines below, found a single value"},
	{"[a, b]: 1\n", "agent.yaml:1: expected a key, found a list"},
	{"log:\n  level: \"in\\0fo\"\n",
	 "agent.yaml:2: log.level: expected a single value, found text with a NUL character"},
	{"&a poll:\n  state: &b {x: *b}\n",
	 "agent.yaml:2: poll.state: expected a single value, found a section"},
	{"&r\nhealth: *r\n", "agent.yaml:2: unknown key health.health; `rdma-node-agent describe "
			     "settings` lists all keys"},
	/* several settings together */
	{"ethernet:\n  statistics:\n    - tx_packets\n    - rx_prio3_pause\n",
	 "agent.yaml:4: ethernet.statistics: \"rx_prio3_pause\" is not the name of a statistic in "
	 "ethtool -S that has no family of its own, at most 32 characters, not a glob"},
	/* lists of mappings */
	{"kernel_log:\n  patterns: LNetError\n", "agent.yaml:2: kernel_log.patterns: expected a "
						 "list such as [\"LNetError\"], found a single "
						 "value"},
	{PATTERNS "    - LNetError\n", "agent.yaml:3: kernel_log.patterns: expected \"name: ...\" "
				       "and further keys, found a single "
				       "value"},
	{PATTERNS "    - name: a\n      regexp: b\n",
	 "agent.yaml:4: kernel_log.patterns: unknown key regexp; allowed: name, regex, severity, "
	 "meaning, remedy"},
	{PATTERNS "    - name: a\n      name: b\n",
	 "agent.yaml:4: kernel_log.patterns: name is specified twice"},
	{PATTERNS "    - name: a\n      regex: [b]\n",
	 "agent.yaml:4: kernel_log.patterns: regex: expected a single line, found a list"},
	{PATTERNS "    - name: a\n      meaning: |\n        b\n        c\n",
	 "agent.yaml:4: kernel_log.patterns: meaning: expected a single line, found several"},
	{PATTERNS "    - name: a\n      regex: something (\n      meaning: b\n",
	 "agent.yaml:3: kernel_log.patterns: \"a\": regex: Unmatched ( or \\("},
	{PATTERNS "    - {name: a, regex: something, meaning: b}\n"
		  "    - {name: a, regex: something else, meaning: b}\n",
	 "agent.yaml:4: kernel_log.patterns: \"a\": duplicate of \"a\""},
	{"poll:\n  handover: 5s\n",
	 "agent.yaml:2: poll.handover (5s) must be shorter than poll.deadline (5s)"},
	{"poll:\n\n  deadline: 200ms\n",
	 "agent.yaml:3: poll.handover (250ms) must be shorter than poll.deadline (200ms)"},
	{"selftest:\n  warning: 80\n  ok: 50\n",
	 "agent.yaml:3: selftest.warning (80) must not exceed selftest.ok (50)"},
	{"selftest:\n  size: 8388608\n  bytes: 15\n",
	 "agent.yaml:3: two writes of selftest.size (8388608) exceed selftest.bytes (15 MiB), the "
	 "minimum of a test; lower selftest.size or raise selftest.bytes"},
	{"probe:\n  enabled: true\n",
	 "agent.yaml:2: probe.enabled needs probe.secret_file, a file with the secret that all "
	 "members share"},
	{"probe:\n  secret_file: /s\n  enabled: true\nwatch: {events: false}\n",
	 "agent.yaml:4: probe.enabled needs watch.events: otherwise the removal of a device would "
	 "wait for the prober"},
	{"kubernetes:\n  taint: a/b\n  taint_effect: NoExecute\n",
	 "agent.yaml:2: kubernetes.taint needs kubernetes.backend api or both: no other backend "
	 "sets taints"},
	{"kubernetes:\n  taint: a/b\n\n  backend: nfd\n",
	 "agent.yaml:4: kubernetes.taint needs kubernetes.backend api or both: no other backend "
	 "sets taints"},
	{"kubernetes:\n  device_taints: report\n",
	 "agent.yaml:2: kubernetes.device_taints needs kubernetes.backend api or both: no other "
	 "backend sets taints"},
	{"kubernetes:\n  backend: api\n  taint_leases: a/b\n",
	 "agent.yaml:3: kubernetes.taint_leases needs kubernetes.taint, the taint that it is "
	 "about"},
	{"kubernetes:\n  taint_dry_run: true\n",
	 "agent.yaml:2: kubernetes.taint_dry_run needs kubernetes.taint, the taint that it is "
	 "about"},
	{"kubernetes:\n  backend: both\n  taint: a/b\n  taint_leases: taints\n",
	 "agent.yaml:4: kubernetes.taint_leases: \"taints\" is not NAMESPACE/NAME, or \"\" for "
	 "none"},
	{"probe:\n  bandwidth: true\n", "agent.yaml:2: probe.bandwidth needs probe.enabled: the "
					"members, their ports and the secret "
					"are those of probes"},
	{"probe:\n  bandwidth_window: [\"sometimes\"]\n",
	 "agent.yaml:2: probe.bandwidth_window: \"sometimes\" is not as for health.silence, for "
	 "example Sat 02:00-04:00 or daily 02:00-03:00 mlx5_*"},
	{"probe:\n  members_dns: agents\n  members_file: /l\n",
	 "agent.yaml:3: only one of probe.members_file and probe.members_dns can be set: members "
	 "have one source"},
	{"probe:\n  members_kubernetes: a/b\n  members_dns: agents\n",
	 "agent.yaml:3: only one of probe.members_dns and probe.members_kubernetes can be set: "
	 "members have one source"},
	{"probe: {members_kubernetes: agents}\n",
	 "agent.yaml:1: probe.members_kubernetes: \"agents\" is not NAMESPACE/SERVICE, or \"\" for "
	 "none"},
	{"probe: {members_dns: \"_http._tcp.agents:80\"}\n",
	 "agent.yaml:1: probe.members_dns: \"_http._tcp.agents:80\" is not NAME, NAME:PORT or "
	 "_SERVICE._tcp.NAME, or \"\" for none"},
	{"probe: {leaf: [\"mlx5_0\"]}\n",
	 "agent.yaml:1: probe.leaf: \"mlx5_0\" is not DEVICE=NAME, for example mlx5_0=leaf-12"},
	{"probe: {group: \"a b\"}\n",
	 "agent.yaml:1: probe.group: \"a b\" is not 1 to 63 letters, digits, dashes, dots or "
	 "underscores, or \"\""},
	/* entries that name something */
	{"health:\n  thresholds: [\"symbol_errors=1/h\"]\n",
	 "agent.yaml:2: health.thresholds: \"symbol_errors=1/h\": unknown counter symbol_errors; "
	 "did "
	 "you mean symbol_error?"},
	{"health:\n  hold_down: [\"zzz=1m\"]\n",
	 "agent.yaml:2: health.hold_down: \"zzz=1m\": unknown rule zzz; `rdma-node-agent describe "
	 "rules` lists them"},
	{"health:\n  disable: [port-dwn]\n", "agent.yaml:2: health.disable: \"port-dwn\": unknown "
					     "rule port-dwn; did you mean port-down?"},
	{"qos:\n  expect: [\"pfc=9 mlx5_*\"]\n", "agent.yaml:2: qos.expect: \"pfc=9 mlx5_*\": pfc "
						 "wants priorities 0 to 7 such as 3 or 3,4, "
						 "or none"},
	{"qos:\n  expect:\n    - pfc=3\n    - pfc=4 mlx5_1\n    - pfc=4\n",
	 "agent.yaml:5: qos.expect: \"pfc=4\": duplicate of \"pfc=3\""},
	{"http:\n  listen: [\":1\", \":2\", \":1\"]\n",
	 "agent.yaml:2: http.listen: \":1\": duplicate of \":1\""},
	/* YAML */
	{"log:\n---\nlog:\n", "agent.yaml:2: second document in the file; only one is allowed"},
	{"poll:\n\tstate: 1s\n",
	 "agent.yaml:2: invalid YAML: while scanning for the next token, found character that "
	 "cannot start any token"},
	{"poll:\n  state: [1s\nlog:\n",
	 "agent.yaml:3: invalid YAML: while parsing a flow sequence, did not find expected ',' "
	 "or ']'"},
	{"poll: *nowhere\n", "agent.yaml:1: invalid YAML: found undefined alias"},
	{"log:\n  level: info\n# \xe4"
	 "rger\n",
	 "agent.yaml:3: not UTF-8: invalid trailing UTF-8 octet"},
	{"log:\n  level: \x01\n", "agent.yaml:2: not UTF-8: control characters are not allowed"},
};

static void test_each_mistake_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(refusals); i++)
		assert_refused(refusals[i].text, refusals[i].message);
}

static void test_names_of_statistics(void **state)
{
	static const struct {
		const char *name;
		bool valid;
	} cases[] = {
		{"rx_vport_rdma_unicast_bytes", true},
		{"[0]: rx_ucast_packets", true}, /* bnxt_en */
		{"port.rx_bytes", true},         /* i40e */
		{"abcdefghijklmnopqrstuvwxyz012345", true},
		{"abcdefghijklmnopqrstuvwxyz0123456", false},
		{"", false},
		{" rx_bytes", false},
		{"rx_bytes ", false},
		{"rx_*", false},
		{"rx_prio%_bytes", false},
		{"rx_b\xc3\xbctes", false},
		{"rx_discards_phy", false},
		{"rx_prio7_pause", false},
		{"rx_prio7_bytes", true},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++)
		if (rna_ethernet_extra_is_valid(cases[i].name) != cases[i].valid)
			fail_msg("%s", cases[i].name);
}

static void test_lists_that_are_bounded(void **state)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	RNA_CLEANUP(rna_settings_deinit) struct rna_settings settings = {0};

	(void)state;
	rna_strbuf_puts(&text, "ethernet:\n  statistics:\n");
	for (int i = 1; i <= 64; i++)
		rna_strbuf_printf(&text, "    - x%d\n", i);
	settings = load(text.data);
	assert_string_equal(settings.ethernet_statistics[63], "x64");
	assert_null(settings.ethernet_statistics[64]);
	rna_strbuf_puts(&text, "    - x65\n");
	assert_refused(text.data, "agent.yaml:2: ethernet.statistics: the list has 65 entries; at "
				  "most 64 are allowed");
}

/* -- Files that are too much ------------------------------------------------------------------- */

/* lead, count times each, tail. */
static void assert_excess(const char *lead, size_t count, const char *each, const char *tail,
			  const char *message)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	double start = effort();

	rna_strbuf_puts(&text, lead);
	for (size_t i = 0; i < count; i++)
		rna_strbuf_printf(&text, "%s", each);
	rna_strbuf_puts(&text, tail);
	assert_true(rna_strbuf_ok(&text) && text.len < 1024 * 1024);
	assert_refused(text.data, message);
	assert_little_effort(start);
}

/* Each of them took more than 20 seconds of processor time, or was one of a kind that did. */
static void test_files_that_are_too_much(void **state)
{
	static const char deep[] = "agent.yaml:2: more than 32 levels of lists and sections; check "
				   "that this is the right file";

	(void)state;
	assert_excess("a:\n  ", 400000, "[", "\n", deep);
	assert_excess("a:\n  ", 400000, "[", "]", deep);
	assert_excess("a:\n  ", 200000, "{a: ", "\n", deep);
	assert_excess("a:\n  ", 400000, "- ", "x\n", deep);
	assert_excess("a:\n  ", 400000, "? ", "x\n", deep);
	assert_excess(
		"a: [\n", 250000, "x,\n", "]\n",
		"agent.yaml:49999: more than 50000 values; check that this is the right file");
	assert_excess("a:\n- &a x\n", 70000, "- *a\n", "",
		      "agent.yaml:1002: more than 1000 anchors and aliases; check that this is the "
		      "right file");
	assert_excess(
		"%YAML 1.1\n", 90000, "%TAG !a! b\n", "--- {}\n",
		"agent.yaml:102: more than 100 %TAG lines; check that this is the right file");
	assert_excess("devices:\n  include:\n", 49900, "  - a*\n", "",
		      "agent.yaml:2: devices.include: the list has 49900 entries; at most 1000 are "
		      "allowed");
}

/* Indentation of a block of many levels. */
static void test_a_staircase(void **state)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	(void)state;
	for (int i = 0; i < 1400; i++)
		rna_strbuf_printf(&text, "%*sa:\n", i, "");
	assert_refused(text.data, "agent.yaml:33: more than 32 levels of lists and sections; check "
				  "that this is the right file");
}

static void test_as_much_as_is_read(void **state)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	double start = effort();

	(void)state;
	rna_strbuf_puts(&text, "%TAG !a! b\n--- {devices: {include: [&a x");
	for (int i = 1; i < 1000; i++)
		rna_strbuf_puts(&text, ", *a");
	rna_strbuf_puts(&text, "], exclude: [");
	for (int i = 0; i < 1000; i++)
		rna_strbuf_printf(&text, "%sx%d", i > 0 ? ", " : "", i);
	rna_strbuf_puts(&text, "]}}\n");
	RNA_CLEANUP(rna_settings_deinit) struct rna_settings settings = load(text.data);

	assert_string_equal(settings.devices_include[999], "x");
	assert_null(settings.devices_include[1000]);
	assert_string_equal(settings.devices_exclude[999], "x999");
	assert_little_effort(start);
}

/* -- Several mistakes -------------------------------------------------------------------------- */

static void assert_all_told(const char *text, const char *const *messages)
{
	struct rna_settings settings = {0};
	struct rna_mistakes rest = {.count = 7, .more = true};
	struct rna_error error = {0};

	write_bytes(text, strlen(text));
	assert_int_equal(rna_config_check(file, &settings, &rest, &error), -EINVAL);
	assert_string_equal(error.text, messages[0]);
	for (size_t i = 0; i < rest.count; i++) {
		assert_non_null(messages[i + 1]);
		assert_string_equal(rest.errors[i].text, messages[i + 1]);
	}
	assert_null(messages[rest.count + 1]);
	assert_false(rest.more);
}

static void test_all_mistakes_are_told(void **state)
{
	static const struct {
		const char *text;
		const char *messages[6];
	} cases[] = {
		{"poll:\n  sate: 1s\n  link: 5\nlog: loud\n4: 2\n",
		 {"agent.yaml:2: unknown key poll.sate; did you mean poll.state?",
		  "agent.yaml:3: poll.link: \"5\" is not a duration such as 500ms, 10s or 1m30s "
		  "(100ms to 24h)",
		  "agent.yaml:4: log: expected \"key: value\" lines below, found a single value",
		  "agent.yaml:5: unknown key 4; `rdma-node-agent describe settings` lists all "
		  "keys"}},
		{"expect:\n  up:\n  - a b\n  - mlx5_*\n  - [x]\n  up: []\npoll.state: 1s\n",
		 {"agent.yaml:3: expect.up: \"a b\" is not a glob such as mlx5_*, 0000:3b:00.? or "
		  "1070:fd03:* without spaces, followed by /PORT for a single port",
		  "agent.yaml:5: expect.up: expected a single value, found a list",
		  "agent.yaml:6: expect.up is specified twice, first on line 2",
		  "agent.yaml:7: poll.state: move it into its section: \"poll:\", and \"state:\" "
		  "indented on the next line"}},
		{"poll:\n  ? [state]\n  : 1s\n  link: 5\n",
		 {"agent.yaml:2: expected a key, found a list",
		  "agent.yaml:4: poll.link: \"5\" is not a duration such as 500ms, 10s or 1m30s "
		  "(100ms to 24h)"}},
		/* what one of the two was meant to be is not known */
		{"poll:\n  handover: 10s\n  deadline: soon\nselftest:\n  ok: 50\n  warning: 60\n",
		 {"agent.yaml:3: poll.deadline: \"soon\" is not a duration such as 500ms, 10s or "
		  "1m30s (100ms to 10m)",
		  "agent.yaml:6: selftest.warning (60) must not exceed selftest.ok (50)"}},
		{"log:\n  level: loud\npoll: [\n", /* there is no tree to look for others in */
		 {"agent.yaml:4: invalid YAML: while parsing a flow node, did not find expected "
		  "node content"}},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++)
		assert_all_told(cases[i].text, cases[i].messages);
}

/* check-config reports them; an agent that starts only disables Kubernetes. */
static void test_names_for_kubernetes(void **state)
{
	static const char text[] = "kubernetes:\n"
				   "  roce_key: roce\n"
				   "  taint: k8s.io/x\n"
				   "  former_names:\n"
				   "  - example.com/\n"
				   "  - example.com/x\n"
				   "  - /\n"
				   "  backend: api\n";
	static const char *const messages[] = {
		"agent.yaml:2: kubernetes.roce_key: \"roce\" is not a valid key: it must be a "
		"DNS subdomain, a slash and a name, such as network.nvidia.com/roce",
		"agent.yaml:3: kubernetes.taint: \"k8s.io\" is reserved for Kubernetes; use a "
		"domain of your own",
		"agent.yaml:7: kubernetes.former_names: \"\" is not a valid label prefix: it must "
		"be a DNS subdomain such as rdma-node-agent or rdma.example.com",
		NULL,
	};
	RNA_CLEANUP(rna_settings_deinit) struct rna_settings settings = load(text);
	struct rna_error error = {0};

	(void)state;
	assert_int_equal(rna_settings_check_names(&settings, &error), -EINVAL);
	assert_memory_equal(error.text, "kubernetes.roce_key: \"roce\"", 27);
	assert_all_told(text, messages);
}

static void test_not_more_than_twenty_are_told(void **state)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	(void)state;
	for (int i = 1; i <= 21; i++) {
		struct rna_settings settings;
		struct rna_mistakes rest;
		struct rna_error error;

		rna_strbuf_printf(&text, "key%d: 1\n", i);
		write_bytes(text.data, text.len);
		assert_int_equal(rna_config_load(file, &settings, &rest, &error), -EINVAL);
		assert_int_equal(rest.count, i <= 20 ? i - 1 : 19);
		assert_int_equal(rest.more, i > 20);
		assert_non_null(strstr(error.text, "agent.yaml:1: unknown key key1;"));
	}
}

/* What is found out about settings when they are used. */
static void test_a_later_error_is_pointed_at(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"log:\n  level: info\nkubernetes:\n  taint: x\n  backend: api\n",
		 "agent.yaml:4: kubernetes.taint: is no good"},
		{"log:\n  level: info\n", "agent.yaml: kubernetes.taint: is no good"},
		{"no: such: file", "agent.yaml: kubernetes.taint: is no good"},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		struct rna_error error = {0};

		write_bytes(cases[i].text, strlen(cases[i].text));
		(void)rna_error_say(&error, -EINVAL, "kubernetes.taint: is no good");
		rna_config_point(file, &error);
		assert_string_equal(error.text, cases[i].message);
	}
}

static void test_sections_are_compared(void **state)
{
	RNA_CLEANUP(rna_settings_deinit)
	struct rna_settings a =
		load("kubernetes:\n  backend: api\n  resources: [\"x/a\", \"x/b\"]\n");
	static const struct {
		const char *text;
		bool same;
	} cases[] = {
		{"kubernetes:\n  backend: api\n  resources: [\"x/a\", \"x/b\"]\nlog:\n  level: "
		 "debug\n",
		 true},
		{"kubernetes:\n  backend: api\n  resources: [\"x/a\"]\n", false},
		{"kubernetes:\n  backend: api\n  resources: [\"x/a\", \"x/c\"]\n", false},
		{"kubernetes:\n  backend: api\n  resources: [\"x/a\", \"x/b\"]\n  taint: x/y\n",
		 false},
		{"kubernetes:\n  backend: api\n  resources: [\"x/a\", \"x/b\"]\n  spread: 3s\n",
		 false},
		{"kubernetes:\n  backend: api\n  resources: [\"x/a\", \"x/b\"]\n  events: false\n",
		 false},
		{"kubernetes:\n  backend: both\n  resources: [\"x/a\", \"x/b\"]\n", false},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		RNA_CLEANUP(rna_settings_deinit) struct rna_settings b = load(cases[i].text);

		assert_int_equal(rna_settings_are_same(&a, &b, "kubernetes"), cases[i].same);
	}
}

static void test_long_texts_are_cut_in_messages(void **state)
{
	char text[4000];

	(void)state;
	memset(text, 'x', sizeof(text));
	memcpy(text, "log:\n  level: ", 14);
	write_bytes(text, sizeof(text));
	assert_fails(file, "agent.yaml:2: log.level: "
			   "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\" is "
			   "not one of error, warning, notice, info, debug");
	(void)snprintf(text, sizeof(text), "%0200d: 1\n", 7);
	assert_refused(text, "agent.yaml:1: unknown key "
			     "000000000000000000000000000000000000000000000000000000000000; "
			     "`rdma-node-agent describe settings` lists all keys");
}

/* -- Files that are none ----------------------------------------------------------------------- */

static void test_what_is_no_readable_file_is_named(void **state)
{
	(void)state;
	assert_fails("missing.yaml", "missing.yaml: cannot open: No such file or directory");
	assert_fails(".", ".: is a directory; give the path of a file");
	assert_fails("/dev/null", "/dev/null: not a regular file");
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_fails("fifo",
		     "fifo: not a regular file"); /* and the agent does not wait for a writer */
	assert_int_equal(unlink("fifo"), 0);
}

static void test_an_unreadable_file_is_named(void **state)
{
	(void)state;
	if (geteuid() == 0)
		skip(); /* root may read everything */
	write_bytes("", 0);
	assert_int_equal(chmod(file, 0), 0);
	assert_fails(file, "agent.yaml: cannot open: Permission denied");
	assert_int_equal(unlink(file), 0);
}

static void test_a_file_of_more_than_a_megabyte_is_refused(void **state)
{
	static char text[1024 * 1024 + 1];

	(void)state;
	memset(text, '\n', sizeof(text));
	write_bytes(text, sizeof(text) - 1);
	struct rna_settings settings = {0};
	assert_int_equal(rna_config_load(file, &settings, NULL, NULL), 0);
	rna_settings_deinit(&settings);
	write_bytes(text, sizeof(text));
	assert_fails(file, "agent.yaml: larger than 1024 KiB");
}

static int enter_directory(void **state)
{
	static char path[] = "/tmp/test_config.XXXXXX";

	*state = mkdtemp(path);
	return *state ? chdir(path) : -1;
}

static int leave_directory(void **state)
{
	(void)unlink(file); /* the last test may have done it */
	return chdir("/") == 0 ? rmdir(*state) : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_durations_are_read_and_written),
		cmocka_unit_test(test_other_texts_are_no_durations),
		cmocka_unit_test(test_each_default_is_allowed_by_its_own_row),
		cmocka_unit_test(test_documents_say_what_is_read_at_the_start_only),
		cmocka_unit_test(test_each_collector_has_a_period),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_files_that_set_nothing_leave_the_defaults),
		cmocka_unit_test(test_a_file_sets_what_it_names),
		cmocka_unit_test(test_anchors_and_aliases_are_fine),
		cmocka_unit_test(test_listen_addresses),
		cmocka_unit_test(test_each_mistake_is_named),
		cmocka_unit_test(test_names_of_statistics),
		cmocka_unit_test(test_lists_that_are_bounded),
		cmocka_unit_test(test_files_that_are_too_much),
		cmocka_unit_test(test_a_staircase),
		cmocka_unit_test(test_as_much_as_is_read),
		cmocka_unit_test(test_all_mistakes_are_told),
		cmocka_unit_test(test_names_for_kubernetes),
		cmocka_unit_test(test_not_more_than_twenty_are_told),
		cmocka_unit_test(test_a_later_error_is_pointed_at),
		cmocka_unit_test(test_sections_are_compared),
		cmocka_unit_test(test_long_texts_are_cut_in_messages),
		cmocka_unit_test(test_what_is_no_readable_file_is_named),
		cmocka_unit_test(test_an_unreadable_file_is_named),
		cmocka_unit_test(test_a_file_of_more_than_a_megabyte_is_refused),
	};

	return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
