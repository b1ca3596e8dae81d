// SPDX-License-Identifier: Apache-2.0
/* core/base/child: the state of a process, whatever its name is. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "rna/base/child.h"

#include "emulated.h"

/* One that stops at once; the caller ends it. */
static pid_t stopped_process(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void)prctl(PR_SET_NAME, ") S (name");
		(void)raise(SIGSTOP);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	return pid;
}

static void test_the_own_state(void **state)
{
	(void)state;
	need_kernel("makes up /proc/self/stat, without a state");
	assert_int_equal(rna_child_state(getpid()), 'R');
}

static void test_states(void **state)
{
	pid_t pid = stopped_process();
	siginfo_t info;

	(void)state;
	assert_int_equal(rna_child_state(0), '\0'); /* none */
	assert_int_equal(rna_child_state(pid), 'T');
	assert_false(rna_child_has_ended(pid));
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(rna_child_state(pid), 'Z');
	assert_true(rna_child_has_ended(pid));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(rna_child_state(pid), '\0');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_own_state),
		cmocka_unit_test(test_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
