// SPDX-License-Identifier: Apache-2.0
/* exporter/env/env_qos.c: the variable that follows from PFC, trust and DSCPs, or why none does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/model/qos.h"

#include "env/dialect.h"

#define nccl rna_env_dialects[RNA_ENV_NCCL].qos
#define ucx  rna_env_dialects[RNA_ENV_UCX].qos

enum { PORTS = 3 };

/* Rails that are alike: priority 3 is lossless, and DSCP 26 alone leads to it. */
struct node {
	struct rna_device devices[PORTS];
	struct rna_snapshot_device of_snapshot[PORTS];
	struct rna_dcb dcbs[PORTS];
	struct rna_qos_port qos[PORTS][2]; /* of members of a bond; most have one interface */
	struct rna_qos parts[PORTS];
	struct rna_qos_vlan vlans[PORTS];
	struct rna_gid_entry entries[PORTS];
	struct rna_port_gids gids[PORTS];
	struct rna_subject subjects[PORTS];
	const struct rna_subject *items[PORTS];
};

static void make(struct node *node)
{
	static const char *const names[] = {"mlx5_0", "mlx5_1", "mlx5_2"};

	*node = (struct node){0};
	for (size_t i = 0; i < PORTS; i++) {
		node->devices[i].name = names[i];
		node->of_snapshot[i].device = &node->devices[i];
		memset(node->dcbs[i].dscp_priority, RNA_PRIORITY_NONE, RNA_DSCP_COUNT);
		node->dcbs[i].dscp_priority[26] = 3;
		node->dcbs[i].dscp_priority[48] = 6;
		node->dcbs[i].pfc = rna_value_ok(0x08);
		node->vlans[i].netdev = "eth0.7";
		node->qos[i][0] = (struct rna_qos_port){.number = 1,
							.dcb = &node->dcbs[i],
							.trust = RNA_TRUST_DSCP,
							.vlan_count = 1,
							.vlans = &node->vlans[i]};
		node->parts[i] = (struct rna_qos){.port_count = 1, .ports = node->qos[i]};
		node->of_snapshot[i].parts[RNA_COLLECTOR_QOS] = &node->parts[i].part;
		node->entries[i] = (struct rna_gid_entry){.index = 3,
							  .gid.bytes = {[10] = 0xff, 0xff, 10},
							  .type = RNA_GID_TYPE_ROCE_V2,
							  .netdev = "eth0"};
		node->gids[i] = (struct rna_port_gids){.count = 1, .entries = &node->entries[i]};
		node->subjects[i] = (struct rna_subject){.device = &node->of_snapshot[i],
							 .port = 1,
							 .qos = &node->qos[i][0],
							 .gids = &node->gids[i]};
		node->items[i] = &node->subjects[i];
	}
}

static void alike(struct node *node)
{
	(void)node;
}

/* DSCPs 24 to 31, as mlx5 has them of its own accord. */
static void table_as_it_comes(struct node *node)
{
	for (size_t i = 0; i < PORTS; i++)
		for (unsigned dscp = 0; dscp < RNA_DSCP_COUNT; dscp++)
			node->dcbs[i].dscp_priority[dscp] = (uint8_t)(dscp >> 3);
}

static void no_dscp_leads_there(struct node *node)
{
	for (size_t i = 0; i < PORTS; i++)
		node->dcbs[i].dscp_priority[26] = RNA_PRIORITY_NONE;
}

static void nothing_is_lossless(struct node *node)
{
	for (size_t i = 0; i < PORTS; i++)
		node->dcbs[i].pfc = rna_value_ok(0);
}

static void two_are_lossless(struct node *node)
{
	for (size_t i = 0; i < PORTS; i++)
		node->dcbs[i].pfc = rna_value_ok(0x48);
}

static void one_is_unlike(struct node *node)
{
	node->dcbs[1].pfc = rna_value_ok(0x10);
}

static void one_has_another_dscp(struct node *node)
{
	node->dcbs[2].dscp_priority[30] = 3;
}

static void one_is_not_known(struct node *node)
{
	node->qos[1][0].dcb = NULL;
}

/* The second interface of a bond, with settings of its own. */
static void add_member(struct node *node, size_t port, struct rna_dcb *dcb)
{
	*dcb = node->dcbs[port];
	node->qos[port][1] = node->qos[port][0];
	node->qos[port][1].dcb = dcb;
	node->parts[port].port_count = 2;
}

static void members_alike(struct node *node)
{
	static struct rna_dcb dcb;

	add_member(node, 0, &dcb);
}

static void members_differ(struct node *node)
{
	static struct rna_dcb dcb;

	add_member(node, 0, &dcb);
	dcb.pfc = rna_value_ok(0x10);
}

static void members_of_another_differ(struct node *node)
{
	static struct rna_dcb dcb;

	add_member(node, 2, &dcb);
	dcb.dscp_priority[26] = 0;
}

static void a_member_is_not_known(struct node *node)
{
	static struct rna_dcb dcb;

	add_member(node, 1, &dcb);
	node->qos[1][1].dcb = NULL;
}

static void the_first_is_not_known(struct node *node)
{
	node->subjects[0].qos = NULL;
}

static void trust_is_not_known(struct node *node)
{
	for (size_t i = 0; i < PORTS; i++)
		node->qos[i][0].trust = RNA_TRUST_UNKNOWN;
}

static void tags_decide(struct node *node)
{
	for (size_t i = 0; i < PORTS; i++)
		node->qos[i][0].trust = RNA_TRUST_PCP;
}

static void tags_decide_and_there_are_some(struct node *node)
{
	tags_decide(node);
	for (size_t i = 0; i < PORTS; i++)
		node->entries[i].netdev = "eth0.7";
}

static void tags_decide_and_one_has_none(struct node *node)
{
	tags_decide_and_there_are_some(node);
	node->gids[2].count = 0;
}

static const struct {
	void (*change)(struct node *node);
	const char *name, *value; /* NULL: none */
	const char *warning;      /* part of it; NULL: none */
} cases[] = {
	{alike, "NCCL_IB_TC", "104", NULL},
	{table_as_it_comes, NULL, NULL, "DSCPs 24-31 lead to it"},
	{no_dscp_leads_there, NULL, NULL, "no DSCP leads to it"},
	{nothing_is_lossless, NULL, NULL, NULL},
	{two_are_lossless, NULL, NULL, NULL},
	{one_is_unlike, NULL, NULL, "mlx5_1/1: its packets are treated otherwise"},
	{one_has_another_dscp, NULL, NULL, "mlx5_2/1: its packets are treated otherwise"},
	{members_alike, "NCCL_IB_TC", "104", NULL},
	{members_differ, NULL, NULL, "mlx5_0/1: members of its bond"},
	{members_of_another_differ, NULL, NULL, "mlx5_2/1: its packets are treated otherwise"},
	{a_member_is_not_known, NULL, NULL, NULL},
	{one_is_not_known, NULL, NULL, NULL},
	{the_first_is_not_known, NULL, NULL, NULL},
	{trust_is_not_known, NULL, NULL, NULL},
	{tags_decide, NULL, NULL, "are of no VLAN"},
	{tags_decide_and_there_are_some, "NCCL_IB_SL", "3", NULL},
	{tags_decide_and_one_has_none, NULL, NULL, "are of no VLAN"},
};

static bool is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static void test_what_follows(void **state)
{
	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
		struct rna_env_quality quality;
		struct rna_env_ports ports = {.count = PORTS};
		struct node node;

		make(&node);
		cases[i].change(&node);
		ports.items = node.items;
		assert_int_equal(rna_env_derive_quality(&ports, &nccl, arena, &quality), 0);
		if (!is_same(quality.name, cases[i].name) ||
		    !is_same(quality.value, cases[i].value) || !quality.name != !quality.reason ||
		    !quality.warning != !cases[i].warning ||
		    (quality.warning && !strstr(quality.warning, cases[i].warning)))
			fail_msg("case %zu: %s=%s, %s", i, quality.name ? quality.name : "-",
				 quality.value ? quality.value : "-",
				 quality.warning ? quality.warning : "no warning");
	}
}

/* DSCP 48 instead of 26 is lossless, too, or alone. */
static void another_dscp_leads_there(struct node *node)
{
	for (size_t i = 0; i < PORTS; i++) {
		node->dcbs[i].dscp_priority[26] = 0;
		node->dcbs[i].dscp_priority[48] = 3;
	}
}

static void two_others_lead_there(struct node *node)
{
	another_dscp_leads_there(node);
	for (size_t i = 0; i < PORTS; i++)
		node->dcbs[i].dscp_priority[40] = 3;
}

static void ucx_uses_a_vlan(struct node *node)
{
	tags_decide_and_there_are_some(node);
	for (size_t i = 0; i < PORTS; i++)
		node->entries[i].index = 0; /* which UCX wants to be used */
}

/* UCX sends with DSCP 26 by itself: a variable is needed only if that leads elsewhere. */
static void test_what_follows_for_ucx(void **state)
{
	static const struct {
		void (*change)(struct node *node);
		const char *name, *value, *warning;
	} ucx_cases[] = {
		{alike, NULL, NULL, NULL},
		{table_as_it_comes, NULL, NULL, NULL},
		{another_dscp_leads_there, "UCX_IB_TRAFFIC_CLASS", "192", NULL},
		{two_others_lead_there, NULL, NULL,
		 "DSCPs 40, 48 lead to it: UCX_IB_TRAFFIC_CLASS should be 4 x the one that the "
		 "fabric has for RoCE; left alone, UCX sends with DSCP 26"},
		{no_dscp_leads_there, NULL, NULL, "no value of UCX_IB_TRAFFIC_CLASS"},
		{one_is_unlike, NULL, NULL, "neither UCX_IB_TRAFFIC_CLASS nor UCX_IB_SL"},
		{ucx_uses_a_vlan, "UCX_IB_SL", "3", NULL},
		{tags_decide, NULL, NULL, "the GIDs that UCX uses are of no VLAN"},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(ucx_cases); i++) {
		RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
		struct rna_env_ports ports = {.count = PORTS};
		struct rna_env_quality quality;
		struct node node;

		make(&node);
		ucx_cases[i].change(&node);
		ports.items = node.items;
		assert_int_equal(rna_env_derive_quality(&ports, &ucx, arena, &quality), 0);
		if (!is_same(quality.name, ucx_cases[i].name) ||
		    !is_same(quality.value, ucx_cases[i].value) ||
		    !quality.warning != !ucx_cases[i].warning ||
		    (quality.warning && !strstr(quality.warning, ucx_cases[i].warning)))
			fail_msg("case %zu: %s=%s, %s", i, quality.name ? quality.name : "-",
				 quality.value ? quality.value : "-",
				 quality.warning ? quality.warning : "no warning");
	}
}

static void test_no_port_at_all(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	const struct rna_env_ports ports = {0};
	struct rna_env_quality quality;

	(void)state;
	assert_int_equal(rna_env_derive_quality(&ports, &nccl, arena, &quality), 0);
	assert_null(quality.name);
	assert_null(quality.warning);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_follows),
		cmocka_unit_test(test_what_follows_for_ucx),
		cmocka_unit_test(test_no_port_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
