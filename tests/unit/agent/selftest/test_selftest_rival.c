// SPDX-License-Identifier: Apache-2.0
/* agent/selftest/rival.c: a process that holds the lock for a long time is reported once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "selftest/rival.h"

#define MINUTE (60 * RNA_USEC_PER_SEC)

static const struct rna_loopback_holder nobody = {.is_there = false}, somebody = {true, 4711, 1000},
					another = {true, 4712, 1000};

static void test_a_rival_is_told_of_once(void **state)
{
	static const struct {
		const struct rna_loopback_holder *holder;
		unsigned minute;
		bool told;
	} steps[] = {
		{&somebody, 1, false},  {&somebody, 10, false}, {&somebody, 11, true},
		{&somebody, 60, false}, {&nobody, 61, false},  /* and begins anew */
		{&somebody, 62, false}, {&another, 73, false}, /* each has just come */
		{&another, 82, false},  {&another, 83, true},   {&nobody, 90, false},
		{&nobody, 120, false},
	};
	struct rna_rival rival = {0};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(steps); i++)
		if (rna_rival_meet(&rival, steps[i].holder, steps[i].minute * MINUTE) !=
		    steps[i].told)
			fail_msg("minute %u: told %d", steps[i].minute, !steps[i].told);
}

static void test_who_it_is(void **state)
{
	static const struct {
		struct rna_loopback_holder holder;
		const char *text;
	} cases[] = {
		{{true, 4711, 1000},
		 "process 4711 of user 1000 has held the self-test lock for at least 12m5s"},
		{{true, 0, 0},
		 "a process of user 0, in another PID namespace, has held the self-test lock "
		 "for "
		 "at least 12m5s"},
		{{true, 0, RNA_UID_UNKNOWN},
		 "a process of unknown owner has held the self-test lock for at "
		 "least 12m5s"},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		const struct rna_rival rival = {.holder = cases[i].holder, .since = MINUTE};
		RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

		rna_rival_describe(&rival, 13 * MINUTE + 5 * RNA_USEC_PER_SEC + 1, &text);
		assert_string_equal(text.data, cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_rival_is_told_of_once),
		cmocka_unit_test(test_who_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
