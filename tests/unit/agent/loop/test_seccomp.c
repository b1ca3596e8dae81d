// SPDX-License-Identifier: Apache-2.0
/* The filter of system calls, put on children: it stays for good. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "rna/base/cleanup.h"
#include "rna/base/error.h"

#include "loop/seccomp_filter.h"

#include "agent_config.h"
#include "emulated.h"

enum { NEVER_A_CALL = 4000 };

static void need_filter(void)
{
	if (!HAVE_SECCOMP)
		skip();
	need_kernel("has no seccomp");
}

static bool install(void)
{
	struct rna_error error;

	return rna_seccomp_install(&error) == 0;
}

/* The wait status of a child that does it behind the filter. */
static int behind_filter(bool (*filter)(void), int (*what)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (!filter())
			_exit(99);
		_exit(what());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void assert_exits_with(bool (*filter)(void), int (*what)(void), int expected)
{
	int status = behind_filter(filter, what);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), expected);
}

static int be_usual(void)
{
	return strcmp(rna_seccomp_state(), "own") != 0 || getpid() <= 0 || close(dup(0)) < 0;
}

static int change_root(void)
{
	return chroot("/") < 0 ? errno : 0;
}

static int call_what_is_newer(void)
{
	return syscall(NEVER_A_CALL) < 0 ? errno : 0;
}

static int load_module(void)
{
	return (int)syscall(SYS_finit_module, -1, "", 0);
}

static void *load_in_thread(void *unused)
{
	(void)unused;
	(void)load_module();
	return NULL;
}

/* A program that is started behind the filter has it, too. */
static int start_program(void)
{
	return system("grep -q '^Seccomp:.2$' /proc/self/status");
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *wait_and_load(void *unused)
{
	pthread_mutex_lock(&gate);
	return load_in_thread(unused);
}

static void test_refused(void **state)
{
	(void)state;
	need_filter();
	assert_exits_with(install, be_usual, 0);
	assert_exits_with(install, change_root, EPERM);
	assert_exits_with(install, call_what_is_newer, ENOSYS);
	assert_exits_with(install, start_program, 0);
}

/* -- The prober's ------------------------------------------------------------------------------ */

static int execute(void)
{
	(void)execl("/bin/true", "true", NULL);
	return errno;
}

static int hear_strangers(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? 98 : listen(fd, 1) < 0 ? errno : 0;
}

static int remove_file(void)
{
	return unlink("/tmp/rna-no-such-file") < 0 ? errno : 0;
}

static void *do_nothing(void *unused)
{
	return unused;
}

/* As libibverbs: threads, netlink, files to read. */
static int be_a_prober(void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, do_nothing, NULL) != 0 ||
	       pthread_join(thread, NULL) != 0 || socket(AF_NETLINK, SOCK_RAW, 0) < 0 ||
	       socket(AF_INET, SOCK_DGRAM, 0) < 0 || open("/proc/self/status", O_RDONLY) < 0;
}

static int fail_to_load_module(void)
{
	return load_module() < 0 ? errno : 0;
}

static bool install_both(void)
{
	return install() && rna_seccomp_confine_prober();
}

static void test_the_prober_has_a_narrower_filter(void **state)
{
	bool (*const filters[])(void) = {rna_seccomp_confine_prober, install_both};
	int status;

	(void)state;
	need_filter();
	for (size_t i = 0; i < RNA_ARRAY_SIZE(filters); i++) {
		assert_exits_with(filters[i], be_a_prober, 0);
		assert_exits_with(filters[i], execute, EPERM);
		assert_exits_with(filters[i], hear_strangers, EPERM);
		assert_exits_with(filters[i], remove_file, EPERM);
		assert_exits_with(filters[i], change_root, EPERM);
	}
	assert_exits_with(rna_seccomp_confine_prober, fail_to_load_module, EPERM);
	status = behind_filter(install_both, load_module);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
}

static void test_hostile(void **state)
{
	int status;

	(void)state;
	need_filter();
	status = behind_filter(install, load_module);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSYS);
}

/* Threads that ran before have it as well. */
static void test_threads(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	need_filter();
	pid = fork();
	if (pid == 0) {
		struct rna_error error;
		pthread_t thread;

		pthread_mutex_lock(&gate);
		if (pthread_create(&thread, NULL, wait_and_load, NULL) != 0 ||
		    rna_seccomp_install(&error) < 0)
			_exit(99);
		pthread_mutex_unlock(&gate);
		pthread_join(thread, NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSYS);
}

static bool has(const char *const *names, const char *name)
{
	while (*names && strcmp(*names, name) != 0)
		names++;
	return *names;
}

static void test_lists_are_apart(void **state)
{
	(void)state;
	for (const char *const *name = rna_seccomp_allowed; *name; name++)
		assert_false(has(rna_seccomp_refused, *name) || has(rna_seccomp_hostile, *name));
	for (const char *const *name = rna_seccomp_prober_refused; *name; name++)
		assert_true(has(rna_seccomp_allowed, *name));
	for (const char *const *name = rna_seccomp_refused; *name; name++)
		assert_false(has(rna_seccomp_hostile, *name));
	for (const char *const *name = (const char *const[]){"ioctl", "mbind", "futex", NULL};
	     *name; name++)
		assert_true(has(rna_seccomp_allowed, *name));
}

static void test_modes(void **state)
{
	struct rna_error error = {0};

	(void)state;
	assert_false(rna_seccomp_is_wanted(RNA_SECCOMP_OFF));
	assert_true(rna_seccomp_is_wanted(RNA_SECCOMP_ON));
	assert_int_equal(rna_seccomp_is_wanted(RNA_SECCOMP_AUTO),
			 HAVE_SECCOMP && strcmp(rna_seccomp_state(), "none") == 0);
	if (!HAVE_SECCOMP)
		assert_int_equal(rna_seccomp_install(&error), -EOPNOTSUPP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists_are_apart),
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_the_prober_has_a_narrower_filter),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
