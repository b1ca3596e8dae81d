// SPDX-License-Identifier: Apache-2.0
/* agent/settings/silence.c: windows as people write them, and when they hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rna/base/cleanup.h"

#include "settings/silence.h"

#define MINUTE (60 * RNA_USEC_PER_SEC)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)
/* 2026-11-21, a Saturday, 00:00 UTC */
#define SATURDAY (1795219200 * RNA_USEC_PER_SEC)

static void test_entries(void **state)
{
	static const char *const good[] = {
		"Sat 02:00-04:00",
		"sat 02:00-04:00",
		"Mon-Fri 22:00-06:00",
		"daily 00:00-24:00",
		"Sat 02:00-04:00 mlx5_*",
		"2026-12-01T00:00Z/2026-12-01T06:30Z",
		"2026-12-01T00:00Z/2026-12-01T06:30Z 0000:3b:*",
	};
	static const char *const bad[] = {
		"",
		"Sat",
		"Sat 2:00-4:00",
		"Sat 02:00",
		"Sat 02:00-25:00",
		"Sat 02:60-04:00",
		"Sat 24:30-04:00",
		"Sam 02:00-04:00",
		"Sat 02:00-04:00 ",
		"Sat 02:00-04:00 a b",
		"Sat 02:00-04:00x",
		"2026-12-01T06:30Z/2026-12-01T00:00Z",
		"2026-06-31T06:30Z/2026-12-01T00:00Z",
		"2026-12-01T00:00/2026-12-01T06:30",
		"2026-12-01T00:00Z",
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(good); i++)
		if (!rna_silence_is_valid(good[i]))
			fail_msg("\"%s\" is not taken", good[i]);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(bad); i++)
		if (rna_silence_is_valid(bad[i]))
			fail_msg("\"%s\" is taken", bad[i]);
}

static void test_when_they_hold(void **state)
{
	static const struct {
		const char *entry;
		rna_usec time;
		const char *device;
		bool holds;
	} cases[] = {
		{"Sat 02:00-04:00", SATURDAY + 2 * HOUR - 1, "a", false},
		{"Sat 02:00-04:00", SATURDAY + 2 * HOUR, "a", true},
		{"Sat 02:00-04:00", SATURDAY + 4 * HOUR - 1, "a", true},
		{"Sat 02:00-04:00", SATURDAY + 4 * HOUR, "a", false},
		{"Sat 02:00-04:00", SATURDAY + 3 * HOUR, NULL, true},
		{"Sat 02:00-04:00", SATURDAY + DAY + 3 * HOUR, "a", false},
		{"Sat 02:00-04:00", SATURDAY + 7 * DAY + 3 * HOUR, "a", true},
		{"Sat 22:00-02:00", SATURDAY + 25 * HOUR, "a", true}, /* Sunday morning */
		{"Sat 22:00-02:00", SATURDAY + HOUR, "a", false},
		{"Sun 22:00-02:00", SATURDAY + 49 * HOUR, "a", true}, /* over the week's end */
		{"Mon-Fri 08:00-09:00", SATURDAY + 8 * HOUR, "a", false},
		{"Mon-Fri 08:00-09:00", SATURDAY + 2 * DAY + 8 * HOUR, "a", true},
		{"Fri-Mon 08:00-09:00", SATURDAY + 8 * HOUR, "a", true},
		{"daily 00:00-24:00", SATURDAY, "a", true},
		{"daily 08:00-09:00 mlx5_*", SATURDAY + 8 * HOUR, "mlx5_0", true},
		{"daily 08:00-09:00 mlx5_*", SATURDAY + 8 * HOUR, "mlx4_0", false},
		{"daily 08:00-09:00 mlx5_*", SATURDAY + 8 * HOUR, NULL, false},
		{"2026-11-21T06:00Z/2026-11-21T07:00Z", SATURDAY + 6 * HOUR, "a", true},
		{"2026-11-21T06:00Z/2026-11-21T07:00Z", SATURDAY + 7 * HOUR, "a", false},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		char *windows[] = {(char *)(uintptr_t)cases[i].entry, NULL};

		if (rna_silence_holds(windows, cases[i].device, cases[i].time) != cases[i].holds)
			fail_msg("case %zu, %s", i, cases[i].entry);
	}
	assert_false(rna_silence_holds(NULL, "a", SATURDAY));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_when_they_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
