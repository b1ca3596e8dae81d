// SPDX-License-Identifier: Apache-2.0
/* agent/rules/runbook: each rule has a runbook, and each of them is one that exporters have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/exporter.h"

#include "rules/rules.h"

static void each_rule_has_a_runbook(void **state)
{
	(void)state;
	for (size_t i = 0; i < RNA_RULE_COUNT; i++)
		if (!rna_rule_find_runbook(rna_rules[i]->name, RNA_LINK_LAYER_INFINIBAND,
					   RNA_SEVERITY_WARNING))
			fail_msg(
				"%s: no line \"Findings: ...\" of helm/rdma-node-agent/runbooks.md "
				"has it",
				rna_rules[i]->name);
}

static bool is_rule(const char *name)
{
	for (size_t i = 0; i < RNA_RULE_COUNT; i++)
		if (strcmp(rna_rules[i]->name, name) == 0)
			return true;
	return false;
}

static void each_row_is_of_a_rule_and_a_runbook(void **state)
{
	(void)state;
	for (size_t i = 0; i < rna_rule_runbook_count; i++) {
		const struct rna_rule_runbook *row = &rna_rule_runbooks[i];

		if (!is_rule(row->rule))
			fail_msg("%s: runbooks.md lists it, and there is no such rule", row->rule);
		assert_true(rna_runbook_find(NULL, row->runbook) >= 0);
	}
}

static void a_link_layer_goes_before_any(void **state)
{
	(void)state;
	assert_string_equal(rna_rule_find_runbook("errors-rising", RNA_LINK_LAYER_ETHERNET,
						  RNA_SEVERITY_WARNING),
			    "RdmaEthernetErrorsRising");
	assert_string_equal(rna_rule_find_runbook("errors-rising", RNA_LINK_LAYER_INFINIBAND,
						  RNA_SEVERITY_WARNING),
			    "RdmaInfinibandErrorsRising");
	assert_string_equal(rna_rule_find_runbook("errors-rising", RNA_LINK_LAYER_UNKNOWN,
						  RNA_SEVERITY_WARNING),
			    "RdmaInfinibandErrorsRising");
	assert_string_equal(rna_rule_find_runbook("port-down", RNA_LINK_LAYER_ETHERNET,
						  RNA_SEVERITY_WARNING),
			    "RdmaPortDown");
	assert_null(rna_rule_find_runbook("port", RNA_LINK_LAYER_ETHERNET, RNA_SEVERITY_WARNING));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rule_has_a_runbook),
		cmocka_unit_test(each_row_is_of_a_rule_and_a_runbook),
		cmocka_unit_test(a_link_layer_goes_before_any),
	};

	return cmocka_run_group_tests_name("runbooks", tests, NULL, NULL);
}
