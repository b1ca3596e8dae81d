// SPDX-License-Identifier: Apache-2.0
/* agent/doctor: for whom a need matters, what an attempt means, and facts of the process. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "config/settings_table.h"
#include "doctor/doctor_facts.h"
#include "doctor/needs.h"

static const struct rna_need *find(const char *name)
{
	for (size_t i = 0; i < rna_need_count; i++)
		if (strcmp(rna_needs[i].name, name) == 0)
			return &rna_needs[i];
	fail_msg("no need %s", name);
	return NULL;
}

static void set(struct rna_settings *settings, const char *key, const char *value)
{
	assert_int_equal(rna_setting_put(rna_setting_find(key), value, settings, NULL), 0);
}

static bool is_collector(const char *name)
{
	for (size_t i = 0; i < RNA_COLLECTOR_COUNT; i++)
		if (strcmp(rna_collectors[i].name, name) == 0)
			return true;
	return false;
}

/* A name that is misspelt would make a need matter always, or never. */
static void test_rows(void **state)
{
	struct rna_settings settings;

	(void)state;
	assert_int_equal(rna_settings_init(&settings), 0);
	for (size_t i = 0; i < rna_need_count; i++) {
		const struct rna_need *need = &rna_needs[i];

		assert_true(!need->attempt != !need->own_attempt);
		assert_true(rna_need_remedy(need) || need->profile || need->values);
		assert_non_null(need->uses[0].by);
		for (const struct rna_need_use *use = need->uses; use->by; use++) {
			const struct rna_schema_row *setting = rna_setting_find(use->by);

			assert_non_null(use->lost);
			assert_int_equal(setting != NULL, use->off[0] != NULL);
			assert_true(setting || is_collector(use->by) || need->optional);
			for (size_t k = 0; k < RNA_ARRAY_SIZE(use->off) && use->off[k]; k++)
				assert_int_equal(rna_setting_put(setting, use->off[k], &settings,
								 NULL),
						 0);
		}
	}
	rna_settings_deinit(&settings);
}

static void test_states(void **state)
{
	static const struct {
		int status;
		enum rna_need_state wanted;
	} cases[] = {
		{RNA_ATTEMPT_WORKS, RNA_NEED_OK}, {RNA_ATTEMPT_NOTHING, RNA_NEED_UNUSED},
		{-EACCES, RNA_NEED_LOST},         {-ENOENT, RNA_NEED_LOST},
		{-ETIMEDOUT, RNA_NEED_UNKNOWN},   {-ENOMEM, RNA_NEED_UNKNOWN},
		{-EMFILE, RNA_NEED_UNKNOWN},      {-ECHILD, RNA_NEED_UNKNOWN},
	};
	struct rna_settings settings;

	(void)state;
	assert_int_equal(rna_settings_init(&settings), 0);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++)
		assert_int_equal(rna_need_judge(find("verbs"), cases[i].status, &settings),
				 cases[i].wanted);
	assert_int_equal(rna_need_judge(find("pci-configuration"), -EPERM, &settings),
			 RNA_NEED_OPTIONAL);
	rna_settings_deinit(&settings);
}

/* What no setting asks for is no loss; a use that is on makes it one. */
static void test_uses(void **state)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct rna_settings settings;

	(void)state;
	assert_int_equal(rna_settings_init(&settings), 0);
	assert_int_equal(rna_need_judge(find("namespaces"), -EACCES, &settings), RNA_NEED_UNUSED);
	set(&settings, "follow.enabled", "true");
	assert_int_equal(rna_need_judge(find("namespaces"), -EACCES, &settings), RNA_NEED_LOST);

	/* by two values */
	assert_int_equal(rna_need_judge(find("locked-memory"), -EPERM, &settings), RNA_NEED_LOST);
	set(&settings, "selftest.enabled", "false");
	assert_int_equal(rna_need_judge(find("locked-memory"), -EPERM, &settings), RNA_NEED_UNUSED);
	assert_int_equal(rna_need_judge(find("verbs"), -EACCES, &settings), RNA_NEED_LOST);

	set(&settings, "kubernetes.backend", "nfd");
	assert_int_equal(rna_need_judge(find("api-access"), -EINVAL, &settings), RNA_NEED_UNUSED);
	assert_int_equal(rna_need_judge(find("feature-directory"), -ENOENT, &settings),
			 RNA_NEED_LOST);
	rna_need_write_unused(find("api-access"), &settings, &text);
	assert_string_equal(text.data,
			    "kubernetes.backend is nfd, probe.members_kubernetes is empty");
	set(&settings, "kubernetes.backend", "both");
	assert_int_equal(rna_need_judge(find("api-access"), -EINVAL, &settings), RNA_NEED_LOST);
	assert_int_equal(rna_need_judge(find("feature-directory"), -ENOENT, &settings),
			 RNA_NEED_LOST);

	set(&settings, "state.directory", "");
	assert_int_equal(rna_need_judge(find("state-directory"), -EACCES, &settings),
			 RNA_NEED_UNUSED);
	rna_settings_deinit(&settings);
}

/* -- Facts ------------------------------------------------------------------------------------- */

static void test_capabilities(void **state)
{
	static const struct {
		uint64_t set;
		const char *text;
	} cases[] = {
		{0, "none"},
		{UINT64_C(0x1ffffffffff), "all"},
		{UINT64_MAX, "all"},
		{UINT64_C(0x1fffeffffff), "all but CAP_SYS_RESOURCE"},
		{UINT64_C(1) << 12, "CAP_NET_ADMIN"},
		{UINT64_C(1) << 34 | 1 << 19, "CAP_SYS_PTRACE, CAP_SYSLOG"},
		{UINT64_C(1) << 40, "CAP_CHECKPOINT_RESTORE"},
		{UINT64_C(1) << 41, "none"}, /* of a later kernel */
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

		rna_doctor_write_capabilities(cases[i].set, &text);
		assert_string_equal(text.data, cases[i].text);
	}
}

static void test_cgroup_versions(void **state)
{
	(void)state;
	assert_string_equal(rna_doctor_cgroup_version("0::/user.slice\n"), "v2");
	assert_string_equal(rna_doctor_cgroup_version("4:memory:/docker/a\n1:name=systemd:/b\n"),
			    "v1");
	assert_string_equal(rna_doctor_cgroup_version("9:name=systemd:/\n4:memory:/x\n0::/\n"),
			    "v1 and v2");
	assert_string_equal(rna_doctor_cgroup_version("0::/a:b"), "v2");
	assert_null(rna_doctor_cgroup_version(""));
	assert_null(rna_doctor_cgroup_version("\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_uses),
		cmocka_unit_test(test_capabilities),
		cmocka_unit_test(test_cgroup_versions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
