// SPDX-License-Identifier: Apache-2.0
/* exporter/kubernetes: credentials that are exchanged while the API refuses those of before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "kubernetes/access.h"
#include "kubernetes/round.h"

#include "tree.h"

#define FAR (3600 * RNA_USEC_PER_SEC)

struct fixture {
	struct tree tree;
	struct rna_kubernetes_options options;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	tree_init(&f->tree);
	tree_write(&f->tree, "token", "one\n");
	tree_write(&f->tree, "ca.crt", "-----BEGIN CERTIFICATE-----\n");
	f->options.server = "https://127.0.0.1:6443";
	f->options.service_account = f->tree.path;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	tree_deinit(&f->tree);
	free(f);
	return 0;
}

static void test_stamps(void **state)
{
	struct fixture *f = *state;
	uint64_t first = rna_kube_access_stamp(&f->options), second, third;

	assert_true(rna_kube_access_stamp(&f->options) == first);
	tree_write(&f->tree, "token", "two\n");
	second = rna_kube_access_stamp(&f->options);
	assert_true(second != first);
	tree_write(&f->tree, "ca.crt", "-----BEGIN CERTIFICATE-----\nother\n");
	third = rna_kube_access_stamp(&f->options);
	assert_true(third != second && third != first);
	tree_remove(&f->tree, "token");
	assert_true(rna_kube_access_stamp(&f->options) != third);
}

static void test_other_credentials_are_tried_at_once(void **state)
{
	struct fixture *f = *state;
	struct rna_kube_round round = {.api.options = &f->options};

	round.failing_access = rna_kube_access_stamp(&f->options);
	round.waits[RNA_KUBE_TASK_COUNT] = (struct rna_wait){9, FAR};
	round.waits[RNA_KUBE_TASK_LABELS] = (struct rna_wait){9, FAR};
	rna_kube_notice_access(&round);
	assert_true(round.waits[RNA_KUBE_TASK_COUNT].until == FAR);
	assert_true(round.waits[RNA_KUBE_TASK_LABELS].until == FAR);
	tree_write(&f->tree, "token", "two\n");
	rna_kube_notice_access(&round);
	assert_true(round.waits[RNA_KUBE_TASK_COUNT].until == 0);
	assert_true(round.waits[RNA_KUBE_TASK_LABELS].until == 0);    /* that was forbidden */
	round.waits[RNA_KUBE_TASK_COUNT] = (struct rna_wait){9, FAR}; /* these fail as well */
	rna_kube_notice_access(&round);
	assert_true(round.waits[RNA_KUBE_TASK_COUNT].until == FAR);
}

/* Nothing is read while the API answers, or has asked us to wait. */
static void test_nothing_fails(void **state)
{
	struct fixture *f = *state;
	struct rna_kube_round round = {.api.options = &f->options,
				       .waits[RNA_KUBE_TASK_COUNT] = {1, FAR}};

	rna_kube_notice_access(&round);
	assert_true(round.waits[RNA_KUBE_TASK_COUNT].until == FAR);
	assert_int_equal(round.failing_access, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_stamps, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_other_credentials_are_tried_at_once, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_nothing_fails, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("kubernetes_access", tests, NULL, NULL);
}
