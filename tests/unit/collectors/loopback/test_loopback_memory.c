// SPDX-License-Identifier: Apache-2.0
/*
 * collectors/loopback_numa, loopback_memory: from which NUMA node buffers come, also where a
 * container's seccomp profile denies such calls. Each try is a child's: it changes for good
 * what it may do.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "rna/base/cleanup.h"

#include "loopback/loopback_memory.h"
#include "loopback/numa.h"

#include "emulated.h"

#define SIZE ((size_t)2 << 20)

/* -- What the kernel says ---------------------------------------------------------------------- */

static void test_numa_maps(void **state)
{
	static const char text[] =
		"00400000 default file=/usr/bin/x mapped=7 N0=7 kernelpagesize_kB=4\n"
		"10000000 prefer:1 anon=1024 dirty=1024 N0=1024 kernelpagesize_kB=4\n"
		"20000000 prefer:1 anon=1024 dirty=1024 N0=64 N1=960 kernelpagesize_kB=4\n"
		"30000000 prefer:1 anon=1024 dirty=1024 N0=65 N1=959 kernelpagesize_kB=4\n"
		"40000000 prefer:1 anon=8 N10=8 kernelpagesize_kB=4\n"
		"50000000 prefer:1\n"
		"7ffc12345000 default stack anon=3 N0=3 kernelpagesize_kB=4\n";
	static const struct {
		uint64_t address;
		unsigned node;
		int there;
	} cases[] = {
		{0x10000000, 0, 1},    {0x10000000, 1, 0},
		{0x10200000, 0, 1}, /* within what begins before */
		{0x20000000, 1, 1}, /* a page in sixteen may stray */
		{0x30000000, 1, 0},    {0x40000000, 1, 0},
		{0x40000000, 10, 1},   {0x50000000, 0, -ENODATA}, /* nothing was touched */
		{0x1000, 0, -ENODATA}, {0x7ffc12345000, 0, 1},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		RNA_FCLOSE FILE *maps = fmemopen((void *)(uintptr_t)text, sizeof(text) - 1, "r");

		assert_non_null(maps);
		assert_int_equal(rna_numa_look(maps, cases[i].address, cases[i].node),
				 cases[i].there);
	}
}

static void test_numa_maps_without_sense(void **state)
{
	static const char *const texts[] = {"\n", "x", "10000000", "10000000 N0",
					    "10000000 N=3 Nx=3"};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(texts); i++) {
		RNA_FCLOSE FILE *maps =
			fmemopen((void *)(uintptr_t)texts[i], strlen(texts[i]), "r");

		assert_non_null(maps);
		assert_int_equal(rna_numa_look(maps, 0x10000000, 0), -ENODATA);
	}
}

/* -- Getting memory ---------------------------------------------------------------------------- */

/* What a container without CAP_SYS_NICE may not do; this process, and for good. */
static void refuse_memory_policies(unsigned error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_set_mempolicy, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_get_mempolicy, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mbind, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
	};
	const struct sock_fprog filter = {RNA_ARRAY_SIZE(code), code};

	assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

/* Gets buffers and uses them. Shared with the child, where it is done. */
static struct rna_loopback_result *get(int node, unsigned error)
{
	const struct rna_loopback_request request = {.device = "mlx5_0",
						     .port = 1,
						     .memory_node = node};
	struct rna_loopback_result *result = mmap(NULL, sizeof(*result), PROT_READ | PROT_WRITE,
						  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child;

	assert_ptr_not_equal(result, MAP_FAILED);
	child = fork();
	if (child == 0) {
		struct rna_loopback_memory memory = RNA_LOOPBACK_MEMORY_INIT;

		if (error > 0)
			refuse_memory_policies(error);
		if (rna_loopback_memory_get(&request, SIZE, &memory, result) &&
		    rna_loopback_memory_fill(&memory) == 0 &&
		    rna_loopback_memory_compare(&memory, SIZE) == 0)
			result->bytes = memory.size;
		rna_loopback_memory_free(&memory);
		_exit(EXIT_SUCCESS);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	return result;
}

static void assert_got(int node, unsigned error)
{
	struct rna_loopback_result *result = get(node, error);

	assert_string_equal(result->text, "");
	assert_int_equal(result->bytes, SIZE);
	(void)munmap(result, sizeof(*result));
}

static void test_memory_of_any_node(void **state)
{
	(void)state;
	assert_got(-1, 0);
}

static void need_nodes(void)
{
	need_kernel("has no memory policies");
	if (access("/sys/devices/system/node/node0/cpulist", R_OK) == 0)
		return;
	print_message("SKIP: this kernel has no NUMA nodes\n");
	skip();
}

static void test_memory_of_a_node(void **state)
{
	(void)state;
	need_nodes();
	assert_got(0, 0);
}

/* It comes from where the CPU is. */
static void test_memory_policies_are_refused(void **state)
{
	(void)state;
	need_nodes();
	assert_got(0, EPERM);
	assert_got(0, ENOSYS);
	assert_got(-1, EPERM);
}

static void test_a_node_that_is_not_there(void **state)
{
	static const unsigned errors[] = {0, EPERM};

	(void)state;
	need_kernel("has no seccomp");
	for (size_t i = 0; i < RNA_ARRAY_SIZE(errors); i++) {
		struct rna_loopback_result *result = get(1023, errors[i]);

		assert_int_equal(result->end, RNA_LOOPBACK_SKIPPED);
		assert_int_equal(result->skip, RNA_SKIP_NO_MEMORY_NODE);
		assert_string_equal(result->text, "mlx5_0/1: no memory of NUMA node 1023 for the "
						  "test: No such file or directory");
		(void)munmap(result, sizeof(*result));
	}
}

/* Pages cannot move to a node that does not exist; their present node is known. */
static void test_memory_of_another_node(void **state)
{
	char *pages = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	(void)state;
	need_nodes();
	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(rna_numa_gather(1023, pages, SIZE), 0);
	(void)munmap(pages, SIZE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numa_maps),
		cmocka_unit_test(test_numa_maps_without_sense),
		cmocka_unit_test(test_memory_of_any_node),
		cmocka_unit_test(test_memory_of_a_node),
		cmocka_unit_test(test_memory_policies_are_refused),
		cmocka_unit_test(test_a_node_that_is_not_there),
		cmocka_unit_test(test_memory_of_another_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
