// SPDX-License-Identifier: Apache-2.0
/*
 * agent/rules/rules_probe.c: what was judged of probes becomes findings of ports, and none of what
 * is not seen. Two ports, the first with four peers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "health_fixture.h"

enum { PEERS = 4 };

struct scene {
	struct fixture *f;
	struct rna_probe_port ports[2];
	struct rna_probe_pair pairs[PEERS + 1];
	struct rna_probes probes;
};

static int set_up(void **state)
{
	static const char *const peers[PEERS] = {"n2", "n3", "n4", "n5"};
	struct scene *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->f = fixture_new(ROCE, 2);
	for (size_t i = 0; i < 2; i++)
		s->ports[i] = (struct rna_probe_port){
			.device = i == 0 ? "mlx5_0" : "mlx5_1",
			.port = 1,
			.use = RNA_PROBE_OPEN,
			.address.mtu = 4096,
			.verdict = RNA_PROBE_WELL,
			.pairs_judged = PEERS,
		};
	for (size_t i = 0; i < PEERS; i++)
		s->pairs[i] = (struct rna_probe_pair){
			.device = "mlx5_0",
			.port = 1,
			.peer = peers[i],
			.peer_device = "mlx5_0",
			.peer_port = 1,
			.scope = RNA_PROBE_FABRIC,
			.state = RNA_PROBE_RUNNING,
		};
	s->pairs[PEERS] = s->pairs[0];
	s->pairs[PEERS].scope = RNA_PROBE_HOST;
	s->probes = (struct rna_probes){.port_count = 2,
					.ports = s->ports,
					.pair_count = PEERS + 1,
					.pairs = s->pairs};
	s->f->node.probes = &s->probes;
	*state = s;
	return 0;
}

static int clear(void **state)
{
	struct scene *s = *state;
	void *fixture = s->f;

	(void)tear_down(&fixture);
	free(s);
	return 0;
}

static void expect_nothing(struct scene *s)
{
	assert_int_equal(count_after(s->f, SECOND), 0);
}

/* device: NULL: of the node; otherwise of its port 1 */
static void expect_finding_of(struct scene *s, const char *device, const char *rule,
			      enum rna_severity severity, const char *text)
{
	struct rna_view *view = look_after(s->f, SECOND);

	assert_int_equal(view->finding_count, 1);
	assert_string_equal(view->findings->rule, rule);
	assert_int_equal(view->findings->severity, severity);
	assert_true(rna_same_text(view->findings->device, device));
	assert_int_equal(view->findings->port, device ? 1 : 0);
	if (!strstr(view->findings->text, text))
		fail_msg("\"%s\" lacks \"%s\"", view->findings->text, text);
	(void)rna_view_unref(view);
}

static void expect_finding(struct scene *s, const char *rule, enum rna_severity severity,
			   const char *text)
{
	expect_finding_of(s, "mlx5_0", rule, severity, text);
}

static void make_unreachable(struct scene *s)
{
	s->ports[0].verdict = RNA_PROBE_UNREACHABLE;
	s->ports[0].pairs_bad = PEERS;
	for (size_t i = 0; i < PEERS; i++)
		s->pairs[i].signs = RNA_PROBE_SILENT;
}

static void ports_that_are_well_have_no_finding(void **state)
{
	struct scene *s = *state;

	expect_nothing(s);
	s->f->node.probes = NULL;
	expect_nothing(s);
}

static void an_unreachable_port_is_critical_and_hides_the_rest(void **state)
{
	struct scene *s = *state;

	make_unreachable(s);
	s->pairs[1].signs |= RNA_PROBE_DSCP | RNA_PROBE_SLOW;
	expect_finding(s, "probe-unreachable", RNA_SEVERITY_CRITICAL,
		       "none of 4 peers answers its probes");
	expect_finding(s, "probe-unreachable", RNA_SEVERITY_CRITICAL,
		       "n2 mlx5_0/1, n3 mlx5_0/1, n4 mlx5_0/1 and 1 more");
}

/* The prober is replaced, or the peers go as well: the port was not seen to be well. */
static void an_unreachable_port_stays_until_it_is_seen_to_be_well(void **state)
{
	struct scene *s = *state;

	make_unreachable(s);
	assert_int_equal(count_after(s->f, SECOND), 1);
	s->ports[0].use = RNA_PROBE_OPENING;
	assert_int_equal(count_after(s->f, SECOND), 1);
	s->ports[0].use = RNA_PROBE_OPEN;
	s->probes.stopped = "the prober was killed";
	assert_int_equal(count_after(s->f, SECOND), 1);
	s->probes.stopped = NULL;
	s->ports[0].verdict = RNA_PROBE_UNKNOWN;
	for (size_t i = 0; i < PEERS; i++) {
		s->pairs[i].signs = 0;
		s->pairs[i].state = RNA_PROBE_PEER_DOWN;
	}
	assert_int_equal(count_after(s->f, SECOND), 1);
	s->ports[0].verdict = RNA_PROBE_WELL;
	expect_nothing(s);
}

static void what_is_not_seen_makes_no_finding(void **state)
{
	struct scene *s = *state;

	s->ports[0].verdict = RNA_PROBE_UNKNOWN;
	expect_nothing(s);
	make_unreachable(s);
	s->probes.stopped = "the secret cannot be read";
	expect_nothing(s);
}

/* A port that is down, quiesced or gone has findings of its own. */
static void a_port_that_is_not_probed_any_more_has_no_finding(void **state)
{
	struct scene *s = *state;

	make_unreachable(s);
	assert_int_equal(count_after(s->f, SECOND), 1);
	s->ports[0].use = RNA_PROBE_OFF;
	expect_nothing(s);
}

static void a_silent_peer_is_information(void **state)
{
	struct scene *s = *state;

	s->pairs[2].signs = RNA_PROBE_SILENT;
	expect_finding(s, "probe-peer-unreachable", RNA_SEVERITY_INFO,
		       "by 1 of 4 peers: n4 mlx5_0/1");
}

/* Both ports of the node, or its host: no port is blamed, but it is no information either. */
static void a_port_that_nobody_answers_is_a_warning(void **state)
{
	struct scene *s = *state;

	make_unreachable(s);
	s->ports[0].verdict = RNA_PROBE_UNKNOWN;
	expect_finding(s, "probe-peer-unreachable", RNA_SEVERITY_WARNING, "by 4 of 4 peers: n2");
}

/* The first views have no ports, and then a port without its pairs. */
static void a_finding_stays_while_the_agent_starts(void **state)
{
	struct scene *s = *state;

	make_unreachable(s);
	assert_int_equal(count_after(s->f, SECOND), 1);
	s->probes.port_count = s->probes.pair_count = 0;
	assert_int_equal(count_after(s->f, SECOND), 1);
	s->probes.node = "n1";
	s->probes.source = (struct rna_probe_source){.kind = "file", .name = "members"};
	s->probes.port_count = 2;
	s->ports[0].verdict = RNA_PROBE_UNKNOWN;
	assert_int_equal(count_after(s->f, SECOND), 1);
	s->probes.source.looked = 1;
	s->probes.source.members = 5;
	assert_int_equal(count_after(s->f, SECOND), 1);
	s->probes.source.members = 1; /* this node is alone */
	expect_nothing(s);
}

/* The same finding, from the first view on that shows findings, with its time. */
static void a_fault_lasts_over_a_restart(void **state)
{
	struct scene *s = *state;
	struct rna_view *view;
	rna_usec since;

	make_unreachable(s);
	view = look_after(s->f, SECOND);
	since = view->findings->since.realtime;
	(void)rna_view_unref(view);
	assert_int_equal(count_after(s->f, 60 * SECOND), 1);
	restart(s->f);
	s->probes.port_count = s->probes.pair_count = 0;
	(void)count_after(s->f, SECOND);
	s->probes.node = "n1";
	s->probes.source = (struct rna_probe_source){.name = "members", .looked = 1, .members = 5};
	s->probes.port_count = 2;
	s->ports[0].verdict = RNA_PROBE_UNKNOWN;
	assert_int_equal(count_after(s->f, SECOND), 1);
	make_unreachable(s);
	s->probes.pair_count = PEERS + 1;
	view = look_after(s->f, SECOND);
	assert_int_equal(view->finding_count, 1);
	assert_string_equal(view->findings->rule, "probe-unreachable");
	assert_true(view->findings->since.realtime == since);
	(void)rna_view_unref(view);
}

static void losses_are_a_warning_where_paths_share_them(void **state)
{
	struct scene *s = *state;

	s->pairs[3].signs = RNA_PROBE_LOSS;
	s->pairs[3].recent = (struct rna_probe_counts){.answered = 295, .lost = 5};
	expect_finding(s, "probe-loss", RNA_SEVERITY_INFO,
		       "1 of 4 peers: n5 mlx5_0/1 (5 of 300 in ten minutes)");
	s->ports[0].verdict = RNA_PROBE_LOSSY;
	s->ports[0].window = (struct rna_probe_counts){.answered = 990, .lost = 10};
	s->ports[0].window_length = 30 * RNA_USEC_PER_SEC;
	s->ports[0].pairs_bad = 3;
	expect_finding(s, "probe-loss", RNA_SEVERITY_WARNING,
		       "10 of 1000 probes were lost within 30 s (1 %), on the way to 3 of 4 peers: "
		       "n5 mlx5_0/1 (5 of 300");
	s->ports[0].verdict = RNA_PROBE_UNKNOWN; /* after a restart, until answers have come */
	expect_finding(s, "probe-loss", RNA_SEVERITY_WARNING, "10 of 1000 probes were lost");
	s->ports[0].verdict = RNA_PROBE_WELL;
	s->pairs[3].signs = 0;
	expect_nothing(s);
}

static void signs_are_findings_with_figures(void **state)
{
	struct scene *s = *state;
	struct rna_probe_pair *pair = &s->pairs[0];

	pair->signs = RNA_PROBE_MTU_HOLE;
	pair->recent = (struct rna_probe_counts){.large_lost = 12, .large_answered = 3};
	expect_finding(s, "probe-mtu-hole", RNA_SEVERITY_WARNING,
		       "1 of 4 peers: n2 mlx5_0/1 (12 of 15 with 4096 bytes)");
	pair->some_paths = RNA_PROBE_MTU_HOLE;
	expect_finding(s, "probe-mtu-hole", RNA_SEVERITY_WARNING,
		       "(12 of 15 with 4096 bytes on some paths)");
	pair->signs = RNA_PROBE_SLOW;
	pair->rtt_median = 51200;
	pair->rtt_usual = 10000;
	expect_finding(s, "probe-slow", RNA_SEVERITY_WARNING, "(51.2 us, usually 10 us)");
	pair->signs = RNA_PROBE_DSCP;
	pair->dscp_sent = 26;
	expect_finding(s, "probe-dscp-rewritten", RNA_SEVERITY_WARNING, "(26 becomes 0)");
	pair->some_paths = RNA_PROBE_DSCP;
	expect_finding(s, "probe-dscp-rewritten", RNA_SEVERITY_WARNING,
		       "(26 becomes 0 on some paths)");
	pair->signs = RNA_PROBE_DETOUR;
	pair->there.hop_limit = 61;
	pair->hops_usual = 63;
	expect_finding(s, "probe-detour", RNA_SEVERITY_WARNING,
		       "(hop limit 61 arrives, usually 63)");
}

/* It stays a while after the pause, and says what the sender claims to be. */
static void a_flooded_port_is_a_warning(void **state)
{
	struct scene *s = *state;
	struct rna_probe_pauses *pauses = &s->ports[0].pauses;

	s->ports[0].use = RNA_PROBE_PAUSED;
	pauses->count = 3;
	pauses->flood = (struct rna_probe_flood){
		.packets = 2001,
		.nanoseconds = 3950000,
		.gid = {[10] = 0xff, 0xff, 10, 77, 0, 9},
		.qpn = 0x11,
	};
	expect_finding(s, "probe-flooded", RNA_SEVERITY_WARNING,
		       "probes are paused (pause 3) after a flood: 2001 packets within 3.95 ms ");
	expect_finding(s, "probe-flooded", RNA_SEVERITY_WARNING,
		       "names as its sender 10.77.0.9, QP 0x000011, which can be forged");
	s->ports[0].use = RNA_PROBE_OPEN;
	pauses->flood.lid = 7;
	pauses->flood.gid[0] = 0xfe;
	expect_finding(s, "probe-flooded", RNA_SEVERITY_WARNING,
		       "probes were paused (pause 3) after a flood");
	expect_finding(s, "probe-flooded", RNA_SEVERITY_WARNING,
		       "fe00:0000:0000:0000:0000:ffff:0a4d:0009, LID 7, QP 0x000011");
	memset(pauses->flood.gid, 0, sizeof(pauses->flood.gid));
	expect_finding(s, "probe-flooded", RNA_SEVERITY_WARNING, "sender LID 7, QP 0x000011");
	*pauses = (struct rna_probe_pauses){0};
	expect_nothing(s);
}

/* Of the node: more than half of what was due was not sent, for a minute. */
static void a_host_that_is_too_busy_is_a_warning(void **state)
{
	struct scene *s = *state;

	s->probes.minute = (struct rna_probe_counts){.sent = 100, .missed = 100};
	expect_nothing(s);
	s->probes.minute.missed = 101;
	assert_int_equal(count_after(s->f, SECOND), 0);
	assert_int_equal(count_after(s->f, 61 * SECOND), 1);
	expect_finding_of(s, NULL, "probe-host-busy", RNA_SEVERITY_WARNING,
			  "too busy to judge paths by probes: of 201 that were due within a "
			  "minute, 101 were not sent");
	s->probes.minute.missed = 0;
	expect_nothing(s);
}

/* What was seen before holds until something else is seen. */
static void a_pause_hides_no_fault(void **state)
{
	struct scene *s = *state;

	make_unreachable(s);
	assert_int_equal(count_after(s->f, SECOND), 1);
	s->ports[0].use = RNA_PROBE_PAUSED;
	s->ports[0].pauses.count = 1;
	s->ports[0].verdict = RNA_PROBE_UNKNOWN;
	s->probes.pair_count = 0;
	assert_int_equal(count_after(s->f, SECOND), 2);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, clear)
	const struct CMUnitTest tests[] = {
		TEST(ports_that_are_well_have_no_finding),
		TEST(an_unreachable_port_is_critical_and_hides_the_rest),
		TEST(an_unreachable_port_stays_until_it_is_seen_to_be_well),
		TEST(a_port_that_nobody_answers_is_a_warning),
		TEST(a_finding_stays_while_the_agent_starts),
		TEST(a_fault_lasts_over_a_restart),
		TEST(what_is_not_seen_makes_no_finding),
		TEST(a_port_that_is_not_probed_any_more_has_no_finding),
		TEST(a_silent_peer_is_information),
		TEST(losses_are_a_warning_where_paths_share_them),
		TEST(signs_are_findings_with_figures),
		TEST(a_flooded_port_is_a_warning),
		TEST(a_host_that_is_too_busy_is_a_warning),
		TEST(a_pause_hides_no_fault),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
