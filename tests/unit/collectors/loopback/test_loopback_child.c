// SPDX-License-Identifier: Apache-2.0
/*
 * collectors/loopback: the rights of a child that lives. This program is executed again as the
 * child, as the agent is; instead of a test, the child waits while the parent looks at it.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "rna/base/cleanup.h"
#include "rna/model/loopback.h"

enum { CHILD_SOCKET = 3 };

void __wrap_rna_loopback_run(const struct rna_loopback_request *request,
			     struct rna_loopback_result *ret);

/* In the child: tells the parent that its limits are set, and waits to be killed. */
void __wrap_rna_loopback_run(const struct rna_loopback_request *request,
			     struct rna_loopback_result *ret)
{
	(void)request, (void)ret;
	(void)send(CHILD_SOCKET, "", 1, 0);
	for (;;)
		(void)pause();
}

struct fixture {
	struct rna_loopback_child child;
	int leaked; /* a file of the parent that is not closed by exec */
};

static int start(void **state)
{
	static const struct rna_loopback_request request = {.device = "none", .port = 1};
	static struct fixture fixture;
	char ready;

	fixture.leaked = fcntl(STDERR_FILENO, F_DUPFD, 100);
	*state = &fixture;
	return fixture.leaked >= 0 &&
			       rna_loopback_child_start(&request, geteuid(), &fixture.child,
							NULL) == 0 &&
			       recv(fixture.child.process.fd, &ready, 1, 0) == 1
		       ? 0
		       : -1;
}

static int end(void **state)
{
	struct fixture *fixture = *state;

	(void)close(fixture->leaked);
	return rna_loopback_child_stop(&fixture->child, RNA_LOOPBACK_LAST_PATIENCE) ? 0 : -1;
}

/* The line of a file of a process that begins with key. */
static void read_line(pid_t pid, const char *name, const char *key, char ret[256])
{
	RNA_CLEANUP(rna_fclose_p) FILE *file = NULL;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	file = fopen(path, "re");
	assert_non_null(file);
	do
		assert_non_null(fgets(ret, 256, file));
	while (strncmp(ret, key, strlen(key)) != 0);
}

static void read_target(pid_t pid, const char *name, char ret[256])
{
	char path[64];
	ssize_t len;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	len = readlink(path, ret, 255);
	assert_true(len > 0);
	ret[len] = '\0';
}

static void test_it_has_the_rights_of_its_parent(void **state)
{
	static const char *const lines[] = {"Uid:",    "Gid:",    "Groups:", "CapInh:", "CapPrm:",
					    "CapEff:", "CapBnd:", "CapAmb:", "Seccomp:"};
	static const char *const links[] = {"ns/user", "ns/mnt", "ns/net",    "ns/pid", "ns/ipc",
					    "ns/uts",  "root",   "ns/cgroup", "cwd"};
	const struct fixture *fixture = *state;
	char ours[256], theirs[256];

	for (size_t i = 0; i < RNA_ARRAY_SIZE(lines); i++) {
		read_line(getpid(), "status", lines[i], ours);
		read_line(fixture->child.process.pid, "status", lines[i], theirs);
		assert_string_equal(theirs, ours);
	}
	for (size_t i = 0; i < RNA_ARRAY_SIZE(links); i++) {
		read_target(getpid(), links[i], ours);
		read_target(fixture->child.process.pid, links[i], theirs);
		assert_string_equal(theirs, ours);
	}
}

static void test_it_can_gain_none(void **state)
{
	const struct fixture *fixture = *state;
	char line[256];

	read_line(fixture->child.process.pid, "status", "NoNewPrivs:", line);
	assert_string_equal(line, "NoNewPrivs:\t1\n");
	read_line(fixture->child.process.pid, "status", "SigBlk:", line);
	assert_string_equal(line, "SigBlk:\t0000000000000000\n");
	read_line(fixture->child.process.pid, "oom_score_adj", "", line);
	assert_string_equal(line, "1000\n");
}

static void want_limit(const struct fixture *fixture, __rlimit_resource_t resource, rlim_t most)
{
	struct rlimit limit;

	assert_int_equal(prlimit(fixture->child.process.pid, resource, NULL, &limit), 0);
	assert_true(limit.rlim_max <= most);
	assert_true(limit.rlim_cur <= limit.rlim_max);
}

static void test_its_limits(void **state)
{
	want_limit(*state, RLIMIT_NOFILE, 256);
	want_limit(*state, RLIMIT_CORE, 0);
	want_limit(*state, RLIMIT_FSIZE, 64 << 20);
	want_limit(*state, RLIMIT_CPU, 30);
}

/* /dev/null three times, and its socket. */
static void test_it_has_none_of_its_parents_files(void **state)
{
	const struct fixture *fixture = *state;
	char path[300], target[256];
	struct dirent *entry;
	unsigned count = 0;
	DIR *directory;

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", fixture->child.process.pid);
	directory = opendir(path);
	assert_non_null(directory);
	while ((entry = readdir(directory))) {
		if (*entry->d_name == '.')
			continue;
		(void)snprintf(path, sizeof(path), "fd/%s", entry->d_name);
		read_target(fixture->child.process.pid, path, target);
		if (atoi(entry->d_name) < CHILD_SOCKET)
			assert_string_equal(target, "/dev/null");
		else
			assert_memory_equal(target, "socket:", strlen("socket:"));
		count++;
	}
	(void)closedir(directory);
	assert_int_equal(count, CHILD_SOCKET + 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_has_the_rights_of_its_parent),
		cmocka_unit_test(test_it_can_gain_none),
		cmocka_unit_test(test_its_limits),
		cmocka_unit_test(test_it_has_none_of_its_parents_files),
	};

	if (argc > 0 && strncmp(argv[0], RNA_LOOPBACK_PROGRAM, strlen(RNA_LOOPBACK_PROGRAM)) == 0)
		return rna_loopback_child_main();
	(void)unshare(CLONE_NEWNET); /* other tests hold the lock of a test; root only */
	return cmocka_run_group_tests(tests, start, end);
}
