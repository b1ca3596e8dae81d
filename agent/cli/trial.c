// SPDX-License-Identifier: Apache-2.0
#include "trial.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "rna/base/cleanup.h"
#include "rna/base/file.h"

enum { REPORT = STDERR_FILENO + 1, PIECE = 64 * 1024, REPORT_MAX = 64 * 1024 * 1024 };

/* -- Child ------------------------------------------------------------------------------------- */

/* close_range(2) came with Linux 5.9, and older filters of containers refuse it. */
static bool close_from(int first)
{
	long end = sysconf(_SC_OPEN_MAX);

	if (close_range((unsigned)first, UINT_MAX, 0) == 0)
		return true;
	for (int fd = first; fd < end; fd++)
		(void)close(fd); /* most are not open */
	return end > 0;
}

/*
 * The process that started this program reads its outputs until every copy of them is closed, so a
 * child that is left behind must not have any.
 */
static bool let_go_of_descriptors(int report)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (null < 0 || dup2(null, fd) < 0)
			return false;
	if (report != REPORT && dup2(report, REPORT) < 0)
		return false;
	return close_from(REPORT + 1);
}

/* The parent may be gone. */
static void write_all(const void *data, size_t len)
{
	(void)rna_file_write_all(REPORT, data, len);
}

/* The report: a status, then the result or the text of the error. */
static void try_and_report(rna_trial *try, void *userdata)
{
	RNA_STRBUF struct rna_strbuf result = RNA_STRBUF_INIT;
	struct rna_error error = {0};
	int status = try(userdata, &result, &error);

	if (status >= 0 && !rna_strbuf_ok(&result))
		status = rna_error_set(&error, -ENOMEM, "cannot keep the result");
	write_all(&status, sizeof(status));
	if (status < 0)
		write_all(error.text, strlen(error.text));
	else
		write_all(result.data, result.len);
}

/* _exit(): handlers and buffers are the parent's. It may wait for a thread in the kernel. */
static void be_child(rna_trial *try, void *userdata, int report)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (let_go_of_descriptors(report))
		try_and_report(try, userdata);
	(void)close(REPORT);
	_exit(EXIT_SUCCESS);
}

/* -- Parent ------------------------------------------------------------------------------------ */

/* 1 if there is something to read, 0 if the time is over, or negative errno. */
static int wait_for(int fd, rna_usec until)
{
	struct pollfd waiting = {.fd = fd, .events = POLLIN};
	int ret;

	do {
		rna_usec left = rna_usec_since(rna_clock_monotonic(), until);
		struct timespec patience = {.tv_sec = (time_t)(left / RNA_USEC_PER_SEC),
					    .tv_nsec = (long)(left % RNA_USEC_PER_SEC) * 1000};

		ret = ppoll(&waiting, 1, &patience, NULL);
	} while (ret < 0 && errno == EINTR);
	return ret < 0 ? -errno : ret;
}

/* 1 while more may come. */
static int read_piece(int fd, struct rna_strbuf *ret)
{
	char *room = rna_strbuf_reserve(ret, PIECE);
	ssize_t len;

	if (!room || ret->len > REPORT_MAX)
		return -ENOMEM;
	do
		len = read(fd, room, PIECE);
	while (len < 0 && errno == EINTR);
	if (len < 0)
		return -errno;
	ret->len += (size_t)len;
	return len > 0;
}

static int read_report(int fd, rna_usec until, struct rna_strbuf *ret)
{
	int status;

	do {
		status = wait_for(fd, until);
		if (status == 0)
			return -ETIMEDOUT;
		if (status > 0)
			status = read_piece(fd, ret);
	} while (status > 0);
	return status;
}

static int take_report(const struct rna_strbuf *report, struct rna_strbuf *ret,
		       struct rna_error *error)
{
	int status;

	if (report->len < sizeof(status))
		return rna_error_say(error, -ECHILD, "the process that looks at the node failed");
	memcpy(&status, report->data, sizeof(status));
	if (status < 0)
		return rna_error_say(error, status, "%.*s", (int)(report->len - sizeof(status)),
				     report->data + sizeof(status));
	rna_strbuf_add(ret, report->data + sizeof(status), report->len - sizeof(status));
	return status;
}

int rna_trial_run(rna_trial *try, void *userdata, rna_usec until, struct rna_strbuf *ret,
		  struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf report = RNA_STRBUF_INIT;
	int pipe_ends[2], status;
	pid_t child;

	if (pipe2(pipe_ends, O_CLOEXEC) < 0)
		return rna_error_set(error, -errno, "cannot make a pipe");
	RNA_CLOSE int reading = pipe_ends[0];
	child = fork();
	if (child == 0)
		be_child(try, userdata, pipe_ends[1]);
	(void)close(pipe_ends[1]); /* nothing was written */
	if (child < 0)
		return rna_error_set(error, -errno, "cannot start a process");
	status = read_report(reading, until, &report);
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, WNOHANG); /* one that is in the kernel becomes init's */
	if (status == -ETIMEDOUT)
		return status;
	if (status < 0)
		return rna_error_set(error, status, "cannot read the result of a process");
	return take_report(&report, ret, error);
}
