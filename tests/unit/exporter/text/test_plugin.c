// SPDX-License-Identifier: Apache-2.0
/* exporter/text/plugin.c: what "rdma-node-agent check" writes for each system, and its exit codes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "rna/check.h"

static const struct rna_finding critical = {
	.rule = "port-down",
	.severity = RNA_SEVERITY_CRITICAL,
	.device = "mlx5_3",
	.port = 1,
	.text = "mlx5_3/1: down | \x1b[31m '$(reboot)' \"`id`\"",
	.remedy = "Look.",
};
static const struct rna_finding warning = {
	.rule = "link-slow",
	.severity = RNA_SEVERITY_WARNING,
	.device = "mlx5_4",
	.text = "mlx5_4/1: slow",
	.remedy = "Reseat.",
};
static const struct rna_finding silenced = {
	.rule = "port-down",
	.severity = RNA_SEVERITY_CRITICAL,
	.silenced = true,
	.text = "mlx5_9/1: down",
	.remedy = "Wait.",
};
static const struct rna_finding info = {
	.rule = "port-down",
	.severity = RNA_SEVERITY_INFO,
	.text = "mlx5_8/1: unused",
	.remedy = "None.",
};

static const struct rna_inventory eight = {
	.known = true,
	.devices = 8,
	.missing = 1,
	.ports = 9,
	.up = 8,
	.expected = 8,
};

enum { FINDINGS_MAX = 4 };

struct scene {
	struct rna_finding findings[FINDINGS_MAX];
	struct rna_check check;
};

static void add(struct scene *scene, const struct rna_finding *finding)
{
	assert_true(scene->check.count < FINDINGS_MAX);
	scene->findings[scene->check.count++] = *finding;
	scene->check.findings = scene->findings;
}

static void assert_written(const struct rna_check *check, enum rna_check_form form,
			   const char *expected)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	rna_write_check(check, form, 0, &out);
	assert_true(rna_strbuf_ok(&out));
	assert_string_equal(out.data, expected);
}

static void assert_exit_codes(const struct rna_check *check, int nagios, int slurm, int nhc,
			      int npd)
{
	assert_int_equal(rna_check_exit_code(check, RNA_CHECK_NAGIOS), nagios);
	assert_int_equal(rna_check_exit_code(check, RNA_CHECK_JSON), nagios);
	assert_int_equal(rna_check_exit_code(check, RNA_CHECK_SLURM), slurm);
	assert_int_equal(rna_check_exit_code(check, RNA_CHECK_NHC), nhc);
	assert_int_equal(rna_check_exit_code(check, RNA_CHECK_NPD), npd);
}

static void test_good(void **state)
{
	struct scene scene = {.check = {.inventory = eight}};

	(void)state;
	add(&scene, &silenced);
	add(&scene, &info);
	scene.check.time = 5 * RNA_USEC_PER_SEC;
	scene.check.now = 7 * RNA_USEC_PER_SEC;
	assert_exit_codes(&scene.check, 0, 0, 0, 0);
	assert_written(&scene.check, RNA_CHECK_NAGIOS,
		       "RDMA OK - 0 critical, 0 warning | 'devices'=8;;9:;0 'ports_up'=8;;8:;0;9 "
		       "'critical'=0;;0;0 'warning'=0;0;;0 'info'=1;;;0 'age'=2s;;;0\n"
		       "silenced  mlx5_9/1: down\n          Wait.\n"
		       "info      mlx5_8/1: unused\n          None.\n");
	assert_written(&scene.check, RNA_CHECK_SLURM, "rdma-node-agent: OK: 8 of 9 ports up\n");
	assert_written(&scene.check, RNA_CHECK_NHC, "OK: 8 of 9 ports up\n");
	assert_written(&scene.check, RNA_CHECK_NPD, "OK: 8 of 9 ports up\n");
}

/* An agent of an earlier version: no numbers, so no performance data. */
static void test_no_inventory(void **state)
{
	const struct rna_check check = {0};

	(void)state;
	assert_exit_codes(&check, 0, 0, 0, 0);
	assert_written(&check, RNA_CHECK_NAGIOS, "RDMA OK - 0 critical, 0 warning\n");
	assert_written(&check, RNA_CHECK_NPD, "OK: no finding\n");
}

/* Without an expectation there is no range. */
static void test_nothing_expected(void **state)
{
	struct scene scene = {.check = {.inventory = {.known = true, .ports = 1}}};

	(void)state;
	assert_exit_codes(&scene.check, 0, 0, 0, 0);
	assert_written(&scene.check, RNA_CHECK_NAGIOS,
		       "RDMA OK - 0 critical, 0 warning | 'devices'=0;;0:;0 'ports_up'=0;;;0;1 "
		       "'critical'=0;;0;0 'warning'=0;0;;0 'info'=0;;;0\n");
}

/* Where an agent was asked by its URL, a link; elsewhere the command that shows the runbook. */
static void test_runbook(void **state)
{
	static const char by_command[] = "RDMA OK - 0 critical, 0 warning\n"
					 "info      mlx5_8/1: unused\n          None.\n"
					 "          Runbook: rdma-node-agent runbook RdmaMtuLow\n";
	static const char by_url[] = "RDMA OK - 0 critical, 0 warning\n"
				     "info      mlx5_8/1: unused\n          None.\n"
				     "          Runbook: http://n1:10879/runbooks/RdmaMtuLow\n";
	struct rna_finding finding = info;
	struct scene scene = {0};

	(void)state;
	finding.runbook = "RdmaMtuLow";
	add(&scene, &finding);
	assert_written(&scene.check, RNA_CHECK_NAGIOS, by_command);
	scene.check.url = "http://n1:10879";
	assert_written(&scene.check, RNA_CHECK_NAGIOS, by_url);
}

/* At a terminal, lines go on below. */
static void test_width(void **state)
{
	static const char expected[] = "RDMA OK - 0 critical,\n0 warning\n"
				       "info      mlx5_8/1:\n          unused\n          None.\n";
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	struct scene scene = {0};

	(void)state;
	add(&scene, &info);
	rna_write_check(&scene.check, RNA_CHECK_NAGIOS, 22, &out);
	assert_true(rna_strbuf_ok(&out));
	assert_string_equal(out.data, expected);
}

static void test_warning(void **state)
{
	struct scene scene = {.check = {.inventory = eight, .once = true}};

	(void)state;
	add(&scene, &silenced);
	add(&scene, &warning);
	add(&scene, &warning);
	assert_exit_codes(&scene.check, 1, 0, 0, 0);
	assert_written(&scene.check, RNA_CHECK_SLURM,
		       "rdma-node-agent: WARNING: mlx5_4/1: slow (and 1 more)\n");
	assert_written(&scene.check, RNA_CHECK_NHC, "WARNING: mlx5_4/1: slow (and 1 more)\n");
}

/* NHC passes the line to eval in single quotes, and Slurm reads "|" in no way of its own. */
static void test_critical_and_quoted(void **state)
{
	struct scene scene = {.check = {.inventory = eight}};

	(void)state;
	add(&scene, &critical);
	add(&scene, &warning);
	assert_exit_codes(&scene.check, 2, 1, 1, 1);
	assert_written(&scene.check, RNA_CHECK_SLURM,
		       "rdma-node-agent: CRITICAL: mlx5_3/1: down | \xef\xbf\xbd[31m _$(reboot)_ "
		       "__id__\n");
	assert_written(&scene.check, RNA_CHECK_NHC,
		       "CRITICAL: mlx5_3/1: down | \xef\xbf\xbd[31m _$(reboot)_ __id__\n");
}

static void test_unknown(void **state)
{
	const struct rna_check check = {.failure = "no agent | listens"};

	(void)state;
	assert_exit_codes(&check, 3, 0, 3, 2);
	assert_written(&check, RNA_CHECK_NAGIOS, "RDMA UNKNOWN - no agent / listens\n");
	assert_written(&check, RNA_CHECK_SLURM, "rdma-node-agent: UNKNOWN: no agent | listens\n");
	assert_written(&check, RNA_CHECK_NPD, "UNKNOWN: no agent | listens\n");
}

/* No state of any port: nothing is known, unless something is known to be critical. */
static void test_no_port_can_be_read(void **state)
{
	struct scene scene = {.check = {.inventory = eight}};

	(void)state;
	scene.check.inventory.up = 0;
	scene.check.inventory.unread = scene.check.inventory.ports - 1;
	assert_int_equal(rna_check_state(&scene.check), RNA_HEALTH_OK);
	scene.check.inventory.unread = scene.check.inventory.ports;
	add(&scene, &warning);
	assert_exit_codes(&scene.check, 3, 0, 3, 2);
	assert_written(&scene.check, RNA_CHECK_NHC, "UNKNOWN: the state of no port can be read\n");
	add(&scene, &critical);
	assert_exit_codes(&scene.check, 2, 1, 1, 1);
}

/* A check that saw no port must not say that all is well. */
static void test_no_port_is_there(void **state)
{
	const struct rna_check check = {.inventory = {.known = true}};

	(void)state;
	assert_exit_codes(&check, 3, 0, 3, 2);
	assert_written(&check, RNA_CHECK_NHC, "UNKNOWN: no RDMA port is there to be watched\n");
}

/* Whatever the text, in whatever characters, 80 bytes are not exceeded and no character is cut. */
static void test_length(void **state)
{
	(void)state;
	for (size_t len = 0; len < 120; len++) {
		RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT, out = RNA_STRBUF_INIT;
		struct scene scene = {.check = {.inventory = eight}};
		struct rna_finding finding = critical;

		for (size_t i = 0; i < len; i++)
			rna_strbuf_puts(&text, i % 2 ? "\xe2\x82\xac" : "x"); /* the euro sign */
		finding.text = text.data ? text.data : "";
		add(&scene, &finding);
		add(&scene, &finding);
		rna_write_check(&scene.check, RNA_CHECK_NPD, 0, &out);
		assert_in_range(out.len, strlen("CRITICAL: "), 80 + 1);
		assert_non_null(strstr(out.data, " (and 1 more)\n"));
		for (size_t i = 0; i + 1 < out.len; i++)
			if (out.data[i] == '\xe2')
				assert_memory_equal(out.data + i, "\xe2\x82\xac", 3);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_no_inventory),
		cmocka_unit_test(test_nothing_expected),
		cmocka_unit_test(test_runbook),
		cmocka_unit_test(test_width),
		cmocka_unit_test(test_warning),
		cmocka_unit_test(test_critical_and_quoted),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_no_port_can_be_read),
		cmocka_unit_test(test_no_port_is_there),
		cmocka_unit_test(test_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
