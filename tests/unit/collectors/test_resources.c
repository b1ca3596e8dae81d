// SPDX-License-Identifier: Apache-2.0
/* collectors/resources: what is the kernel's own and what is an application's; of answers that a
 * test gives, and of a recording. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "backend/backends.h"

#include "collectors.h"
#include "tree.h"

static struct script {
	int error;
	unsigned asked;
	struct rna_resource_counts counts;
	int optional_error;
} script;

static int answer_resources(struct rna_rdma_numbers *numbers, const char *device,
			    struct rna_resource_counts *ret, struct rna_context_list *ret_contexts)
{
	(void)numbers, (void)ret_contexts;
	assert_string_equal(device, "mlx5_0");
	script.asked++;
	*ret = script.counts;
	return script.error;
}

/* Port 1 has two of them, port 2 what the script says. */
static int answer_optional(struct rna_rdma_numbers *numbers, const char *device,
			   struct rna_arena *arena, struct rna_port_optional_counters *ret)
{
	static const struct rna_optional_counter items[] = {{"cc_rx_ce_pkts", true},
							    {"cc_tx_cnp_pkts", false}};

	(void)numbers, (void)device, (void)arena;
	if (ret->number == 2)
		return script.optional_error;
	ret->items = items;
	ret->count = 2;
	return 0;
}

static const struct rna_rdma_netlink_backend scripted = {
	.get_resources = answer_resources,
	.get_optional = answer_optional,
};
static const struct rna_backends backends = {.rdma_netlink = &scripted};
static const unsigned port_numbers[] = {1, 2};
static const struct rna_device device = {.name = "mlx5_0", .port_count = 2, .ports = port_numbers};

static int set_up(void **state)
{
	(void)state;
	script = (struct script){0};
	return 0;
}

static void set_counts(uint64_t contexts, uint64_t own, uint64_t qps)
{
	script.counts = (struct rna_resource_counts){
		.of =
			{
				[RNA_RESOURCE_CTX] = rna_value_ok(contexts),
				[RNA_RESOURCE_QP] = rna_value_ok(qps),
			},
		.own_contexts = rna_value_ok(own),
	};
}

static struct rna_part *collect(const struct rna_part *previous, bool optional)
{
	const struct rna_collect_input in = {
		.backends = &backends,
		.device = &device,
		.previous = previous,
		.options.optional_counters = optional,
	};
	struct rna_part *part = NULL;

	assert_int_equal(rna_collect_resources(&in, &part, NULL), 0);
	return part;
}

static const struct rna_resources *resources_of(const struct rna_part *part)
{
	return (const void *)part;
}

/* An agent that starts in the middle of a job does not know what was there before. */
static void test_what_is_idle_is_unknown_until_it_was_seen(void **state)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *first = NULL, *second = NULL, *third = NULL;

	(void)state;
	set_counts(2, 0, 40);
	first = collect(NULL, false);
	assert_int_equal(resources_of(first)->idle[RNA_RESOURCE_QP].state, RNA_VALUE_ABSENT);
	set_counts(0, 0, 3);
	second = collect(first, false);
	assert_int_equal(resources_of(second)->idle[RNA_RESOURCE_QP].number, 3);
	set_counts(1, 0, 99);
	third = collect(second, false);
	assert_int_equal(resources_of(third)->now.of[RNA_RESOURCE_QP].number, 99);
	assert_int_equal(resources_of(third)->idle[RNA_RESOURCE_QP].number, 3);
	assert_int_equal(resources_of(third)->idle[RNA_RESOURCE_MR].state, RNA_VALUE_ABSENT);
	assert_int_equal(resources_of(third)->port_count, 0);
}

/* watch.verbs_events holds a context of each InfiniBand device. */
static void test_the_agent_is_no_user(void **state)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;

	(void)state;
	set_counts(1, 1, 3);
	part = collect(NULL, false);
	assert_int_equal(rna_resources_users(&resources_of(part)->now).number, 0);
	assert_int_equal(resources_of(part)->idle[RNA_RESOURCE_QP].number, 3);
	assert_int_equal(resources_of(part)->idle[RNA_RESOURCE_CTX].number, 1);
}

static void test_users(void **state)
{
	struct rna_resource_counts counts = {.of[RNA_RESOURCE_CTX] = rna_value_ok(3)};

	(void)state;
	assert_int_equal(rna_resources_users(&counts).number, 3);
	counts.own_contexts = rna_value_ok(5); /* closed in between */
	assert_int_equal(rna_resources_users(&counts).number, 0);
	counts.own_contexts = rna_value_unreadable();
	assert_int_equal(rna_resources_users(&counts).state, RNA_VALUE_UNREADABLE);
	counts = (struct rna_resource_counts){0};
	assert_int_equal(rna_resources_users(&counts).state, RNA_VALUE_ABSENT);
}

/* No stack, or none that may be asked: nothing is known, and only the second is an error. */
static void test_what_cannot_be_asked(void **state)
{
	static const struct {
		int error;
		uint64_t errors;
	} rows[] = {{-ENOENT, 0}, {-EPROTONOSUPPORT, 1}};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(rows); i++) {
		RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;

		script.error = rows[i].error;
		part = collect(NULL, false);
		assert_int_equal(rna_part_error_count(part), rows[i].errors);
		assert_int_equal(rna_resources_users(&resources_of(part)->now).state,
				 RNA_VALUE_ABSENT);
	}
}

/* What does not know the question is not asked in every run; what only failed is. */
static void test_what_is_not_supported_is_remembered(void **state)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *first = NULL, *second = NULL, *third = NULL;

	(void)state;
	script.error = -EIO;
	first = collect(NULL, false);
	script.error = -EPROTONOSUPPORT;
	second = collect(first, false);
	assert_int_equal(script.asked, 2);
	assert_int_equal(rna_part_error_count(second), 1);
	third = collect(second, false);
	assert_int_equal(script.asked, 2);
	assert_int_equal(rna_part_error_count(third), 0);
	assert_true(resources_of(third)->retry == resources_of(second)->retry);
}

static void test_optional_counters(void **state)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *none = NULL, *failed = NULL;
	const struct rna_resources *resources;

	(void)state;
	script.optional_error = -EINVAL; /* a driver that has no counters there */
	none = collect(NULL, true);
	resources = resources_of(none);
	assert_int_equal(resources->port_count, 2);
	assert_int_equal(resources->ports[0].count, 2);
	assert_true(resources->ports[0].items[0].enabled && !resources->ports[0].items[1].enabled);
	assert_int_equal(resources->ports[1].count, 0);
	assert_int_equal(rna_part_error_count(none), 0);
	script.optional_error = -EIO;
	failed = collect(NULL, true);
	assert_int_equal(failed->errors[RNA_REASON_IO], 1);
	assert_int_equal(resources_of(failed)->ports[0].count, 2);
}

static void test_recorded(void **state)
{
	const struct rna_rdma_netlink_backend *backend = &rna_recorded_rdma_netlink;
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	RNA_CLEANUP(tree_deinit) struct tree tree;
	struct rna_port_optional_counters port = {.number = 1};
	struct rna_resource_counts counts;
	struct rna_rdma_numbers numbers;

	(void)state;
	tree_init(&tree);
	numbers = (struct rna_rdma_numbers){.root = tree.root};
	assert_int_equal(backend->get_resources(&numbers, "mlx5_0", &counts, NULL), -ENOENT);
	assert_int_equal(backend->get_optional(&numbers, "mlx5_0", arena, &port), -ENOENT);
	tree_write(&tree, "recorded/netlink/mlx5_0/resources/qp", "12\n");
	tree_write(&tree, "recorded/netlink/mlx5_0/resources/own_contexts", "1\n");
	tree_write(&tree, "recorded/netlink/mlx5_0/ports/1/optional/cc_rx_ce_pkts", "1\n");
	tree_write(&tree, "recorded/netlink/mlx5_0/ports/1/optional/cc_tx_cnp_pkts", "0\n");
	assert_int_equal(backend->get_resources(&numbers, "mlx5_0", &counts, NULL), 0);
	assert_int_equal(counts.of[RNA_RESOURCE_QP].number, 12);
	assert_int_equal(counts.own_contexts.number, 1);
	assert_int_equal(counts.of[RNA_RESOURCE_MR].state, RNA_VALUE_ABSENT);
	assert_int_equal(backend->get_optional(&numbers, "mlx5_0", arena, &port), 0);
	assert_int_equal(port.count, 2);
	assert_string_equal(port.items[0].name, "cc_rx_ce_pkts");
	assert_true(port.items[0].enabled && !port.items[1].enabled);
}

/* Without a stack, the kernel is not asked: that could load ib_core. */
static void test_the_kernel_is_asked_only_with_a_stack(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	RNA_CLEANUP(tree_deinit) struct tree tree;
	struct rna_port_optional_counters port = {.number = 1};
	struct rna_resource_counts counts;
	struct rna_rdma_numbers numbers;

	(void)state;
	tree_init(&tree);
	numbers = (struct rna_rdma_numbers){.root = tree.root};
	assert_int_equal(rna_rdma_netlink.get_resources(&numbers, "mlx5_0", &counts, NULL),
			 -ENOENT);
	assert_int_equal(rna_rdma_netlink.get_optional(&numbers, "mlx5_0", arena, &port), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_what_is_idle_is_unknown_until_it_was_seen, set_up),
		cmocka_unit_test_setup(test_the_agent_is_no_user, set_up),
		cmocka_unit_test_setup(test_users, set_up),
		cmocka_unit_test_setup(test_what_cannot_be_asked, set_up),
		cmocka_unit_test_setup(test_what_is_not_supported_is_remembered, set_up),
		cmocka_unit_test_setup(test_optional_counters, set_up),
		cmocka_unit_test(test_recorded),
		cmocka_unit_test(test_the_kernel_is_asked_only_with_a_stack),
	};

	return cmocka_run_group_tests_name("resources", tests, NULL, NULL);
}
