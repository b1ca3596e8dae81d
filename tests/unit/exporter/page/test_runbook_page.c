// SPDX-License-Identifier: Apache-2.0
/* exporter/page/runbook_page: names of the node in runbooks, and the findings of the moment. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/base/cleanup.h"
#include "rna/exporter.h"

#include "exporter_view.h"

static size_t number_of(const char *name)
{
	ssize_t number = rna_runbook_find(NULL, name);

	assert_true(number >= 0);
	return (size_t)number;
}

static void write_runbook(const struct rna_view *view, const char *name, struct rna_strbuf *out)
{
	rna_strbuf_deinit(out);
	rna_write_runbook(view, number_of(name), out);
	assert_true(rna_strbuf_ok(out));
}

#define assert_has(out, text)   assert_non_null(strstr((out).data, text))
#define assert_hasnt(out, text) assert_null(strstr((out).data, text))

static void names_of_the_node_are_filled_in(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(1);
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	(void)state;
	view->agent.name = "node-7.example";
	view->agent.pod = "rdma-x2";
	view->agent.pod_namespace = "monitoring";
	write_runbook(view, "RdmaPortDown", &out);
	assert_has(out, "ssh node-7.example sudo rdma-node-agent check ");
	assert_has(out, "kubectl exec --namespace monitoring rdma-x2 -- rdma-node-agent check\n");
	assert_has(out, "<title>RdmaPortDown: node-7.example</title>");
	assert_hasnt(out, "<script");
	view->agent.pod = view->agent.pod_namespace = NULL;
	write_runbook(view, "RdmaPortDown", &out);
	assert_has(out, "kubectl exec --namespace NAMESPACE POD -- rdma-node-agent check\n");
}

/* Recordings are named by others, and the commands are pasted into a shell. */
static void odd_names_are_not_filled_in(void **state)
{
	static const char *const names[] = {"", "-n", "a b", "$(reboot)", "a;b", "<b>", "a'", "\n"};
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(1);
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(names); i++) {
		view->agent.name = names[i];
		write_runbook(view, "RdmaPortDown", &out);
		assert_has(out, "ssh NODE sudo rdma-node-agent check ");
		assert_hasnt(out, "<b>");
	}
}

/* Any agent may serve it, so that its own name would mislead. */
static void a_runbook_about_several_nodes_names_none(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(1);
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	(void)state;
	view->agent.name = "node7";
	write_runbook(view, "RdmaAgentAbsent", &out);
	assert_has(out, "ssh NODE sudo rdma-node-agent check ");
	assert_hasnt(out, "ssh node7");
}

static void findings_are_those_of_the_runbook(void **state)
{
	const struct rna_finding findings[] = {
		{.rule = "port-down",
		 .severity = RNA_SEVERITY_CRITICAL,
		 .text = "a/1: <down>",
		 .remedy = "Check the cable of a/1.",
		 .runbook = "RdmaPortDown"},
		{.rule = "mtu-low",
		 .text = "b/1: small",
		 .remedy = "None.",
		 .runbook = "RdmaMtuLow"},
		{.rule = "new", .text = "c: new", .remedy = "None."},
	};
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(1);
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	(void)state;
	write_runbook(view, "RdmaPortDown", &out);
	assert_has(out, "None.");
	view->findings = findings;
	view->finding_count = RNA_ARRAY_SIZE(findings);
	write_runbook(view, "RdmaPortDown", &out);
	assert_has(out, "a/1: &lt;down&gt;");
	assert_has(out, "Check the cable of a/1.");
	assert_hasnt(out, "b/1: small");
	assert_hasnt(out, "c: new");
	write_runbook(view, "RdmaAgentFrozen", &out); /* it is about no finding */
	assert_hasnt(out, "Findings on this node now");
	rna_strbuf_deinit(&out);
	rna_write_runbooks(view, &out);
	assert_true(rna_strbuf_ok(&out));
	assert_has(out, "<a href=/runbooks/RdmaPortDown>RdmaPortDown</a><td>port-down, "
			"rails-down<td class=n>"
			"<b class=warn>1 active</b>");
	assert_has(out, "<a href=/runbooks/RdmaAgentFrozen>");
}

/* A finding's object may be a port, a device or a PCI function. */
static void the_object_of_a_finding_is_filled_in(void **state)
{
	struct rna_finding findings[] = {
		{.rule = "rails-down", .text = "all", .remedy = "None.", .runbook = "RdmaPortDown"},
		{.rule = "port-down", .text = "a", .remedy = "None.", .runbook = "RdmaPortDown"},
	};
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(1);
	const struct rna_subject *port = &rna_view_ports(joined(view))->items[0];
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	(void)state;
	findings[1].device = port->rdma_device->name;
	findings[1].port = port->port;
	view->findings = findings;
	view->finding_count = RNA_ARRAY_SIZE(findings);
	write_runbook(view, "RdmaPortDown", &out);
	assert_has(out, "ibportstate -C mlx5_0 -P 1 -D 0 1 enable");
	assert_hasnt(out, "-C DEVICE");
	findings[1].device = "0000:40:00.0";
	findings[1].port = 0;
	write_runbook(view, "RdmaPortDown", &out);
	assert_has(out, "mstlink -d 0000:40:00.0 -m -c");
	assert_has(out, "ibportstate -C DEVICE -P PORT");
	findings[0].device = "mlx5_0"; /* and now there are two objects */
	write_runbook(view, "RdmaPortDown", &out);
	assert_has(out, "mstlink -d PCI-ADDRESS -m -c");
	assert_has(out, "about several objects");
	findings[0].device = NULL;
	findings[1].device = "x;reboot";
	write_runbook(view, "RdmaPortDown", &out);
	assert_has(out, "ibportstate -C DEVICE -P PORT");
}

static void a_text_for_terminals_has_words(void **state)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	const char *name;

	(void)state;
	for (size_t i = 0; (name = rna_runbook_name(i)); i++)
		rna_write_runbook_text(i, &out);
	rna_write_runbook_list(&out);
	assert_true(rna_strbuf_ok(&out));
	assert_has(out, "# RdmaPortDown\n\nFindings: `port-down`");
	assert_has(out, "`ibportstate -C DEVICE -P PORT -D 0 PORT enable`");
	assert_hasnt(out, "](#");
	assert_has(out, "\nLinks:\n  RdmaPortDown  ");
}

static void each_is_of_bounded_size(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(1);
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	const char *name;

	(void)state;
	for (size_t i = 0; (name = rna_runbook_name(i)); i++) {
		write_runbook(view, name, &out);
		assert_in_range(out.len, 1024, 32 * 1024);
	}
}

/* A dashboard knows the rule of a finding. Its runbook may depend on the link layer. */
static void a_rule_has_a_runbook(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(1);
	struct rna_finding found = {.rule = "errors-rising", .runbook = "RdmaEthernetErrorsRising"};

	(void)state;
	assert_int_equal(rna_runbook_find(NULL, "port-init"),
			 number_of("RdmaPortAwaitsSubnetManager"));
	assert_int_equal(rna_runbook_find(NULL, "port-armed"),
			 number_of("RdmaPortAwaitsSubnetManager"));
	assert_int_equal(rna_runbook_find(view, "port-armed"),
			 number_of("RdmaPortAwaitsSubnetManager"));
	assert_int_equal(rna_runbook_find(NULL, "errors-rising"),
			 number_of("RdmaInfinibandErrorsRising"));
	view->findings = &found;
	view->finding_count = 1;
	assert_int_equal(rna_runbook_find(view, "errors-rising"), number_of(found.runbook));
	view->finding_count = 0;
}

static void what_is_none_is_not_found(void **state)
{
	static const char *const names[] = {
		"rdmaportdown",  "",     "port", "port-down-",
		"RdmaPortDowns", "Rdma", ",",    "port-init, port-armed"};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(names); i++)
		assert_int_equal(rna_runbook_find(NULL, names[i]), -ENOENT);
}

static void assert_found(const char *name, const char *runbook)
{
	ssize_t number = rna_runbook_find(NULL, name);

	assert_true(number >= 0);
	assert_string_equal(rna_runbook_name((size_t)number), runbook);
}

static void rules_and_events_lead_to_one(void **state)
{
	(void)state;
	assert_found("function-without-device", "RdmaDeviceAbsent");
	assert_found("RdmaFunctionWithoutDevice", "RdmaDeviceAbsent");
	assert_found("port-down", "RdmaPortDown");
	assert_found("RdmaPortDown", "RdmaPortDown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_the_node_are_filled_in),
		cmocka_unit_test(odd_names_are_not_filled_in),
		cmocka_unit_test(a_runbook_about_several_nodes_names_none),
		cmocka_unit_test(the_object_of_a_finding_is_filled_in),
		cmocka_unit_test(a_text_for_terminals_has_words),
		cmocka_unit_test(findings_are_those_of_the_runbook),
		cmocka_unit_test(each_is_of_bounded_size),
		cmocka_unit_test(rules_and_events_lead_to_one),
		cmocka_unit_test(a_rule_has_a_runbook),
		cmocka_unit_test(what_is_none_is_not_found),
	};

	return cmocka_run_group_tests_name("runbook_page", tests, NULL, NULL);
}
