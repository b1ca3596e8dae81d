// SPDX-License-Identifier: Apache-2.0
/* agent/cli, output: what of a text reaches the terminal of a user. */
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include <cmocka.h>

#include "rna/base/characters.h"

#include "cli/commands.h"

#define FFFD RNA_REPLACEMENT

enum { TEXT_MAX = 1024 };

/* A standard stream that a test reads. */
struct capture {
	int stream, kept, fd;
};

static void begin(struct capture *capture, int stream, int read_fd, int write_fd)
{
	*capture = (struct capture){stream, dup(stream), read_fd};
	assert_true(capture->kept >= 0 && dup2(write_fd, stream) >= 0);
	(void)close(write_fd);
}

static void end(const struct capture *capture, const char *wanted)
{
	char text[TEXT_MAX];
	ssize_t len = read(capture->fd, text, sizeof(text) - 1);

	text[len > 0 ? len : 0] = '\0';
	assert_true(dup2(capture->kept, capture->stream) >= 0);
	(void)close(capture->kept);
	(void)close(capture->fd);
	assert_string_equal(text, wanted);
}

static void begin_stdout(struct capture *capture)
{
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	begin(capture, STDOUT_FILENO, fds[0], fds[1]);
}

static void want(const char *text, size_t len, const char *wanted)
{
	struct capture capture;
	struct rna_error error = {0};
	int status;

	begin_stdout(&capture);
	status = rna_output(text, len, &error);
	end(&capture, wanted);
	assert_int_equal(status, 0);
}

#define WANT(text, wanted) want(text, sizeof(text) - 1, wanted)

static void test_text(void **state)
{
	(void)state;
	WANT("", "");
	want(NULL, 0, "");
	WANT("a\tb\nc größe\n", "a\tb\nc größe\n");
	WANT("ok\rno\n", "ok" FFFD "no\n");
	WANT("\x1b[2J\x1b]0;x\x07\n", FFFD "[2J" FFFD "]0;x" FFFD "\n");
	WANT("\x1b[31mred", FFFD "[31mred");
	WANT("\xc2\x9b"
	     "2J\xe2\x80\xae\0\x9b\xff",
	     FFFD "2J" FFFD FFFD FFFD FFFD);
}

static void want_coloured(const char *text, bool colour, const char *wanted)
{
	RNA_STRBUF struct rna_strbuf buf = RNA_STRBUF_INIT;
	struct rna_error error = {0};
	struct capture capture;
	int status;

	rna_strbuf_puts(&buf, text);
	begin_stdout(&capture);
	status = rna_output_coloured(&buf, colour, &error);
	end(&capture, wanted);
	assert_int_equal(status, 0);
}

static void test_colours(void **state)
{
	(void)state;
	want_coloured("\x1b[1;31mred\x1b[0m\n", true, "\x1b[1;31mred\x1b[0m\n");
	want_coloured("\x1b[31m", true, "\x1b[31m");
	want_coloured("\x1b[31mred\x1b[0m\n", false, FFFD "[31mred" FFFD "[0m\n");
	want_coloured("a\x1b[2J\x1b[m\x1b[?1m\x1b", true, "a" FFFD "[2J\x1b[m" FFFD "[?1m" FFFD);
	want_coloured("\x1b\x1b[31", true, FFFD FFFD "[31");
	want_coloured("", true, "");
}

static void test_failures(void **state)
{
	const struct rna_strbuf failed = {.failed = true};
	struct rna_error error = {0};
	struct capture capture;
	int status;

	(void)state;
	assert_int_equal(rna_output_strbuf(&failed, &error), -ENOMEM);
	assert_int_equal(rna_output_coloured(&failed, true, &error), -ENOMEM);
	begin_stdout(&capture);
	(void)close(STDOUT_FILENO);
	status = rna_output("a", 1, &error);
	end(&capture, "");
	assert_int_equal(status, -EBADF);
	assert_string_equal(error.text, "cannot write the output: Bad file descriptor");
}

static void test_progress_is_for_terminals(void **state)
{
	struct capture capture;
	int fds[2], master, slave;

	(void)state;
	assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	begin(&capture, STDERR_FILENO, fds[0], fds[1]);
	rna_output_progress("mlx5_0/1", 8);
	end(&capture, "");

	assert_int_equal(openpty(&master, &slave, NULL, NULL, NULL), 0);
	begin(&capture, STDERR_FILENO, master, slave);
	rna_output_progress("mlx5_0\n\x1b[2J of", 10);
	end(&capture, "\r\x1b[Kmlx5_0" FFFD FFFD "[2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_colours),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_progress_is_for_terminals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
