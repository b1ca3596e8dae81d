// SPDX-License-Identifier: Apache-2.0
/* agent/core/base/log.c: what a line on stderr looks like. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "rna/base/log.h"

#define FFFD "\xef\xbf\xbd"

enum { LINE_MAX_LEN = 1024 };

static const struct rna_log_field fields[] = {{"DEVICE", "mlx5_3"},
					      {"PORT", NULL},
					      {"STATE", "DOWN"},
					      {NULL, NULL}};
static const struct rna_log_field empty_fields[] = {{"PORT", NULL}, {NULL, NULL}};

/* stderr for as long as a test writes: a pipe, or a file that has lost its name. */
struct capture {
	int stderr_fd;
	int read_fd;
};

static void begin(struct capture *capture, int read_fd, int write_fd)
{
	capture->stderr_fd = dup(STDERR_FILENO);
	capture->read_fd = read_fd;
	assert_true(dup2(write_fd, STDERR_FILENO) >= 0);
	rna_log_open(LOG_INFO);
}

static void begin_with_pipe(struct capture *capture)
{
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	begin(capture, fds[0], fds[1]);
	(void)close(fds[1]);
}

static void begin_with_file(struct capture *capture)
{
	char path[] = "/tmp/test_log.XXXXXX";
	int write_fd = mkstemp(path), read_fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(write_fd >= 0 && read_fd >= 0);
	assert_int_equal(unlink(path), 0);
	begin(capture, read_fd, write_fd);
	(void)close(write_fd);
}

static void end(struct capture *capture, char line[static LINE_MAX_LEN])
{
	ssize_t len = read(capture->read_fd, line, LINE_MAX_LEN - 1);

	line[len > 0 ? len : 0] = '\0';
	assert_true(dup2(capture->stderr_fd, STDERR_FILENO) >= 0);
	(void)close(capture->stderr_fd);
	(void)close(capture->read_fd);
}

static void test_a_line_says_level_text_and_fields(void **state)
{
	char line[LINE_MAX_LEN];
	struct capture capture;

	(void)state;
	begin_with_pipe(&capture);
	rna_log(LOG_WARNING, fields, "%s: reads stalled", "mlx5_3");
	end(&capture, line);
	assert_string_equal(line, "warning: mlx5_3: reads stalled (DEVICE=mlx5_3, STATE=DOWN)\n");

	begin_with_pipe(&capture);
	rna_log(LOG_ERR, empty_fields, "plain");
	end(&capture, line);
	assert_string_equal(line, "error: plain\n");
}

static void test_one_message_is_one_line_of_printable_text(void **state)
{
	char line[LINE_MAX_LEN];
	struct capture capture;

	(void)state;
	begin_with_pipe(&capture);
	rna_log_info("a\nb\x1b[31m\x7f\tM\xc3\xbcnchen \xe2\x80\xae \xc2\x9b \xff");
	end(&capture, line);
	assert_string_equal(line, "info: a" FFFD "b" FFFD "[31m" FFFD FFFD "M\xc3\xbcnchen " FFFD
				  " " FFFD " " FFFD "\n");
}

static void test_levels(void **state)
{
	char line[LINE_MAX_LEN];
	struct capture capture;

	(void)state;
	begin_with_pipe(&capture);
	rna_log_debug("not wanted");
	rna_log_set_level(LOG_ERR);
	rna_log_warning("not wanted");
	assert_false(rna_log_wants(LOG_WARNING));
	rna_log_error("wanted");
	end(&capture, line);
	assert_string_equal(line, "error: wanted\n");
}

static void test_only_a_file_gets_the_time(void **state)
{
	char line[LINE_MAX_LEN];
	struct capture capture;
	unsigned year;
	int end_of_time = 0;

	(void)state;
	begin_with_file(&capture);
	rna_log_notice("hello");
	end(&capture, line);
	assert_int_equal(sscanf(line, "%4u-%*2u-%*2uT%*2u:%*2u:%*2uZ %n", &year, &end_of_time), 1);
	assert_true(year >= 2024);
	assert_string_equal(line + end_of_time, "notice: hello\n");
}

/* Neither another stream's address nor garbage makes the agent write to the journal. */
static void test_lines_stay_on_stderr_unless_it_is_the_journal(void **state)
{
	static const char *const streams[] = {"1:1", "", "journal", "1", "8:1:2", "-1:-1"};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(streams); i++) {
		char line[LINE_MAX_LEN];
		struct capture capture;

		assert_int_equal(setenv("JOURNAL_STREAM", streams[i], 1), 0);
		begin_with_pipe(&capture);
		rna_log_info("here");
		end(&capture, line);
		assert_string_equal(line, "info: here\n");
	}
	(void)unsetenv("JOURNAL_STREAM");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_line_says_level_text_and_fields),
		cmocka_unit_test(test_one_message_is_one_line_of_printable_text),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_only_a_file_gets_the_time),
		cmocka_unit_test(test_lines_stay_on_stderr_unless_it_is_the_journal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
