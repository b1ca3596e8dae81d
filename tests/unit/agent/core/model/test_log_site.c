// SPDX-License-Identifier: Apache-2.0
/*
 * core/model/log_site: which patterns of a site are refused and why, what the others match, and
 * what hostile messages cost.
 */
#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "rna/model/log_site.h"

#include "effort.h"

static void want(const char *entry, const char *why)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	rna_log_site_explain(entry, &text);
	if (!why && text.len > 0)
		fail_msg("%s: %s", entry, text.data);
	if (why && (text.len == 0 || !strstr(text.data, why)))
		fail_msg("%s: \"%s\" does not have \"%s\"", entry, text.len > 0 ? text.data : "",
			 why);
	assert_int_equal(rna_log_site_is_valid(entry), why == NULL);
}

static void want_regex(const char *regex, const char *why)
{
	char entry[1024];

	(void)snprintf(entry, sizeof(entry), "a\n%s\n\nit means\n", regex);
	want(entry, why);
}

static void test_members(void **state)
{
	char entry[1024], name[64];

	(void)state;
	want("lnet-1\nLNetError: \nwarning\nLustre lost a peer\nLook at it.", NULL);
	want("lnet-1\nLNetError: \ninfo\nLustre lost a peer\n", NULL);
	want("lnet-1\nLNetError: \n\nLustre lost a peer\n", NULL);
	want("\nLNetError: \n\nm\n", "name: expected at most 48 characters");
	want("LNet\nLNetError: \n\nm\n", "name: expected");
	want("1a\nLNetError: \n\nm\n", "name: expected");
	want("mlx5-command-timeout\nLNetError: \n\nm\n", "has a pattern of its own of that name");
	want("a\nLNetError: \ncritical\nm\n", "severity: \"critical\" is not one of info, warning");
	want("a\nLNetError: \n\n\n", "meaning: expected a clause");
	want("a\nLNetError: \n\nm\nr\nr", "a text has more than one line");
	(void)snprintf(name, sizeof(name), "%049d", 0);
	name[0] = 'a';
	(void)snprintf(entry, sizeof(entry), "%s\nLNetError: \n\nm\n", name);
	want(entry, "name: expected");
	(void)snprintf(entry, sizeof(entry), "a\nLNetError: \n\n%0161d\n", 0);
	want(entry, "meaning: expected");
	(void)snprintf(entry, sizeof(entry), "a\nLNetError: \n\nm\n%0301d", 0);
	want(entry, "remedy: more than 300 bytes");
}

static void test_regexes(void **state)
{
	static const char *const good[] = {
		"LNetError: ",
		"^LNetError: [0-9]+.*o2iblnd",
		"GPFS: (6027-[0-9]+|mmfs) \\[E\\] Lost connection",
		"12345678?9abcdefgh",
		"a\\.b\\.c\\.d\\.",
		"lost \\{all\\} paths",
		"[]abc] something happened",
		"[^]abc] something happened",
		"[[:digit:]]+ something happened",
		"(a(b+)c)? something happened",
		"something happened+",
		"something \\(really\\) happened$",
	};
	static const char *const bad[][2] = {
		{"", "expected a POSIX extended"},
		{".*", "it needs 8 characters in a row"},
		{"1234567", "it needs 8 characters in a row"},
		{"12345678*", "it needs 8 characters in a row"},
		{"12345678?", "it needs 8 characters in a row"},
		{"1234.5678", "it needs 8 characters in a row"},
		{"(something happened)", "it needs 8 characters in a row"},
		{"[something happened]", "it needs 8 characters in a row"},
		{"something|happened", "alternatives must be in parentheses"},
		{"something \\d", "a backslash must stand in front of punctuation"},
		{"(a)something\\1", "a backslash must stand in front of punctuation"},
		{"something \\", "a backslash must stand in front of punctuation"},
		{"something x{2}", "counted repetitions such as {2,5} are not allowed"},
		{"something (a+)*", "a repetition of a repetition is not allowed, as in (a+)*"},
		{"something ((ab?)c)+", "a repetition of a repetition is not allowed"},
		{"something a+*", "a repetition of a repetition is not allowed, as in a+*"},
		{"something )", "unmatched )"},
		{"something (", "regex: "},
		{"something [a", "regex: "},
		{"something [[:none:]]", "regex: "},
		{"something ............?", "more than 12 of . [...] (...) | and ? together"},
		{"something .*.*.*.*.*.*.*.*.*", "more than 8 repetitions"},
		{"something (((((((((a", "more than 8 parentheses"},
	};
	char regex[260];

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(good); i++)
		want_regex(good[i], NULL);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(bad); i++)
		want_regex(bad[i][0], bad[i][1]);
	(void)snprintf(regex, sizeof(regex), "%0256d", 0);
	want_regex(regex, NULL);
	(void)snprintf(regex, sizeof(regex), "%0257d", 0);
	want_regex(regex, "1 to 256 characters");
}

/* -- Messages ---------------------------------------------------------------------------------- */

static char lnet_entry[] = "lnet\nLNetError: .*o2iblnd\ninfo\nLustre lost a peer\nLook at it.";
static char begins[] = "begins\n^GPFS: 6027-[0-9]+ expelled\n\nGPFS expelled a node\n";
static char doubling[] = "doubling\nunlikely .*a..........$\n\nm\n"; /* 2^10 states */
static char repeating[] = "repeating\n[ab]*a[ab]*b[ab]*unlikely.*a.*b[ab]*ab.* end\n\nm\n";
static char *const entries[] = {lnet_entry, begins, doubling, repeating, NULL};

static const char *match(const char *message, size_t len)
{
	struct rna_log_match match;

	return rna_log_site_match(message, len, &match) ? match.pattern->name : NULL;
}

static int set_up(void **state)
{
	static char other[] = "other\nsomething else\n\nm\n";
	static char *const others[] = {other, NULL};

	(void)state;
	assert_null(match("LNetError: 1: o2iblnd", 21));
	assert_int_equal(rna_log_site_set(NULL), 0);
	assert_int_equal(rna_log_site_set(entries), 0);
	assert_int_equal(rna_log_site_set(others), 0); /* too late */
	return 0;
}

static void test_messages(void **state)
{
	static const char lnet[] = "LNetError: 11512:0:(o2iblnd_cb.c:3480) timed out o2iblnd tx";
	const struct rna_log_pattern *pattern = rna_log_pattern_find("lnet");

	(void)state;
	for (size_t i = 0; entries[i]; i++)
		assert_true(rna_log_site_is_valid(entries[i]));
	assert_string_equal(match(lnet, strlen(lnet)), "lnet");
	assert_null(match(lnet, 20));
	assert_string_equal(match("GPFS: 6027-300 expelled", 23), "begins");
	assert_null(match("mmfs GPFS: 6027-300 expelled", 28));
	assert_null(match("something else", 14));
	assert_non_null(pattern);
	assert_int_equal(pattern->kind, RNA_LOG_SITE);
	assert_int_equal(pattern->severity, RNA_SEVERITY_INFO);
	assert_string_equal(pattern->anchor, "LNetError: ");
	assert_string_equal(pattern->remedy, "Look at it.");
	pattern = rna_log_site_find("begins");
	assert_int_equal(pattern->severity, RNA_SEVERITY_WARNING);
	assert_null(pattern->remedy);
	assert_null(rna_log_site_find("other"));
}

/* As long as can be, of what the regexes repeat, and different each time. */
static void test_hostile_messages_are_not_dear(void **state)
{
	enum { MESSAGES = 2000, MEMORY = 32 << 20 };
	size_t before = mallinfo2().uordblks;
	double begin = effort();

	(void)state;
	for (unsigned n = 0; n < MESSAGES; n++) {
		char message[RNA_LOG_MESSAGE_MAX];

		for (size_t i = 0; i < sizeof(message); i++)
			message[i] = (n * 2654435761u >> i % 31 ^ i * i) & 1 ? 'a' : 'b';
		memcpy(message + n % 400, "unlikely ", 9);
		message[sizeof(message) - 11] = 'b';
		assert_null(match(message, sizeof(message)));
	}
	print_message("%.1f us each, %zu KiB\n", (effort() - begin) * 1e6 / (double)MESSAGES,
		      (mallinfo2().uordblks - before) >> 10);
	assert_little_effort(begin);
	assert_true(mallinfo2().uordblks - before < MEMORY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_regexes),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_hostile_messages_are_not_dear),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
