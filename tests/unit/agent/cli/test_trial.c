// SPDX-License-Identifier: Apache-2.0
/* agent/cli/trial.c: a function in a process of its own, and what becomes of it. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/trial.h"

#define PATIENCE (60 * RNA_USEC_PER_SEC) /* on a busy machine */

enum { LARGE = 1 << 20 };

int __real_close_range(unsigned first, unsigned last, int flags);
int __wrap_close_range(unsigned first, unsigned last, int flags);

static int refusal; /* errno of close_range(); 0: it works */

int __wrap_close_range(unsigned first, unsigned last, int flags)
{
	if (refusal == 0)
		return __real_close_range(first, last, flags);
	errno = refusal;
	return -1;
}

static int say(void *userdata, struct rna_strbuf *ret, struct rna_error *error)
{
	(void)error;
	rna_strbuf_puts(ret, userdata);
	return 0;
}

static int say_much(void *userdata, struct rna_strbuf *ret, struct rna_error *error)
{
	(void)userdata, (void)error;
	for (size_t i = 0; i < LARGE; i++)
		rna_strbuf_add_char(ret, (char)('a' + i % 26));
	return 0;
}

static int say_nothing(void *userdata, struct rna_strbuf *ret, struct rna_error *error)
{
	(void)userdata, (void)ret, (void)error;
	return 0;
}

static int give_up(void *userdata, struct rna_strbuf *ret, struct rna_error *error)
{
	rna_strbuf_puts(ret, "half");
	return rna_error_say(error, -ENODATA, "%s: no answer", (const char *)userdata);
}

static _Noreturn int hang(void *userdata, struct rna_strbuf *ret, struct rna_error *error)
{
	(void)userdata, (void)ret, (void)error;
	for (;;)
		(void)pause();
}

static _Noreturn int die(void *userdata, struct rna_strbuf *ret, struct rna_error *error)
{
	(void)userdata, (void)ret, (void)error;
	_exit(1);
}

/* The child has no descriptor of the caller: 3 is its own end of the pipe. */
static int count_descriptors(void *userdata, struct rna_strbuf *ret, struct rna_error *error)
{
	(void)userdata, (void)error;
	for (int fd = 0; fd < 256; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			rna_strbuf_printf(ret, "%d ", fd);
	return 0;
}

static int run(rna_trial *try, void *userdata, struct rna_strbuf *ret, struct rna_error *error)
{
	return rna_trial_run(try, userdata, rna_clock_monotonic() + PATIENCE, ret, error);
}

static void test_results(void **state)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT, much = RNA_STRBUF_INIT;
	struct rna_error error = {0};
	char text[] = "fine";

	(void)state;
	assert_int_equal(run(say_nothing, NULL, &out, &error), 0);
	assert_int_equal(out.len, 0);
	assert_int_equal(run(say, text, &out, &error), 0);
	assert_string_equal(out.data, "fine");
	assert_int_equal(run(say_much, NULL, &much, &error), 0);
	assert_int_equal(much.len, LARGE);
	assert_int_equal(much.data[LARGE - 1], 'a' + (LARGE - 1) % 26);
	assert_int_equal(error.code, 0);
}

static void test_failures(void **state)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	struct rna_error error = {0};
	char text[] = "mlx5_0";

	(void)state;
	assert_int_equal(run(give_up, text, &out, &error), -ENODATA);
	assert_string_equal(error.text, "mlx5_0: no answer");
	assert_int_equal(run(die, NULL, &out, &error), -ECHILD);
	assert_int_equal(out.len, 0);
}

static void test_deadline(void **state)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	rna_usec start = rna_clock_monotonic(), limit = 50 * RNA_USEC_PER_MSEC;
	struct rna_error error = {0};

	(void)state;
	assert_int_equal(rna_trial_run(hang, NULL, start + limit, &out, &error), -ETIMEDOUT);
	assert_int_equal(error.code, 0);
	assert_true(rna_usec_since(start, rna_clock_monotonic()) >= limit);
	assert_int_equal(rna_trial_run(hang, NULL, 0, &out, &error), -ETIMEDOUT);
	assert_int_equal(out.len, 0);
}

static void test_descriptors(void **state)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	struct rna_error error = {0};

	(void)state;
	assert_int_equal(run(count_descriptors, NULL, &out, &error), 0);
	assert_string_equal(out.data, "0 1 2 3 ");
}

/* A kernel before Linux 5.9, and a filter that does not know the call. */
static void test_descriptors_one_by_one(void **state)
{
	static const int reasons[] = {ENOSYS, EPERM};
	int extra = open("/dev/null", O_RDONLY);

	assert_true(extra >= 0);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(reasons); i++) {
		refusal = reasons[i];
		test_descriptors(state);
	}
	refusal = 0;
	(void)close(extra);
}

/* The caller gets what try returned, not only whether it failed. */
static int say_two(void *userdata, struct rna_strbuf *ret, struct rna_error *error)
{
	(void)userdata, (void)error;
	rna_strbuf_puts(ret, "two");
	return 2;
}

static void test_status(void **state)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	struct rna_error error = {0};

	(void)state;
	assert_int_equal(run(say_two, NULL, &out, &error), 2);
	assert_string_equal(out.data, "two");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_results),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_deadline),
		cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_descriptors_one_by_one),
		cmocka_unit_test(test_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
