// SPDX-License-Identifier: Apache-2.0
/* collectors/processes/runtime_limits: configurations of container runtimes, and processes in
 * containers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "processes/runtime_limits.h"

#include "tree.h"

#define MIB        (UINT64_C(1) << 20)
#define CONTAINERD "etc/containerd/config.toml"
#define ID         "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde"

struct fixture {
	struct tree tree;
	struct rna_arena *arena;
};

static int set_up(void **state)
{
	static struct fixture fixture;

	tree_init(&fixture.tree);
	fixture.arena = rna_arena_new(4096);
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	fixture->arena = rna_arena_free(fixture->arena);
	tree_deinit(&fixture->tree);
	return 0;
}

static struct rna_runtime read_spec(struct fixture *fixture, const char *unit)
{
	struct rna_runtime runtime = {.unit = unit};

	assert_int_equal(rna_read_runtime_spec(fixture->tree.root, fixture->arena, &runtime), 0);
	return runtime;
}

static void expect(struct fixture *fixture, const char *unit, uint64_t limit, const char *file)
{
	struct rna_runtime runtime = read_spec(fixture, unit);

	assert_int_equal(runtime.spec.state, RNA_VALUE_OK);
	assert_int_equal(runtime.spec.number, limit);
	assert_string_equal(runtime.spec_file, file);
}

static void expect_none(struct fixture *fixture, const char *unit)
{
	struct rna_runtime runtime = read_spec(fixture, unit);

	assert_int_equal(runtime.spec.state, RNA_VALUE_ABSENT);
	assert_null(runtime.spec_file);
}

/* -- Configurations ---------------------------------------------------------------------------- */

static const char config[] = "version = 2\n"
			     "imports = [\"/etc/containerd/conf.d/*.toml\"]\n"
			     "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\n"
			     "  # base_runtime_spec = \"/etc/containerd/commented.json\"\n"
			     "  base_runtime_spec = \"\"\n";

static void test_containerd(void **state)
{
	struct fixture *fixture = *state;
	const struct tree *tree = &fixture->tree;

	expect_none(fixture, "containerd.service");
	tree_write(tree, CONTAINERD, config);
	tree_write(tree, "etc/containerd/commented.json",
		   "{\"process\": {\"rlimits\": [{\"type\": \"RLIMIT_MEMLOCK\", \"soft\": 1}]}}");
	expect_none(fixture, "containerd.service");
	tree_write(tree, "etc/containerd/conf.d/50-none.toml",
		   "[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]\n"
		   "base_runtime_spec = '/etc/containerd/runc.json'\n");
	expect_none(fixture, "containerd.service"); /* the file does not exist */
	tree_write(tree, "etc/containerd/runc.json",
		   "{\"process\": {\"rlimits\": [{\"type\": \"RLIMIT_NOFILE\", \"hard\": 1024, "
		   "\"soft\": 1024}]}}");
	expect_none(fixture, "containerd.service");
	tree_write(tree, "etc/containerd/runc.json",
		   "{\"process\": {\"rlimits\": [{\"type\": \"RLIMIT_MEMLOCK\", \"hard\": "
		   "8388608, \"soft\": 8388608}]}}");
	expect(fixture, "containerd.service", 8 * MIB, "/etc/containerd/runc.json");
	tree_write(tree, "etc/containerd/conf.d/99-nvidia.toml",
		   "base_runtime_spec = \"/etc/containerd/nvidia.json\"\n");
	tree_write(tree, "etc/containerd/nvidia.json",
		   "{\"process\": {\"rlimits\": [{\"type\": \"RLIMIT_MEMLOCK\", \"hard\": "
		   "18446744073709551615, \"soft\": 18446744073709551615}]}}");
	expect(fixture, "containerd.service", RNA_MEMLOCK_INFINITY, "/etc/containerd/nvidia.json");
}

static void test_imports_that_lead_in_a_circle(void **state)
{
	struct fixture *fixture = *state;

	tree_write(&fixture->tree, CONTAINERD,
		   "imports = [\"/etc/containerd/*.toml\", \"/etc/containerd/config.toml\", \"x\", "
		   "\"/\", \"/nowhere/*\"]\n");
	expect_none(fixture, "containerd.service");
}

static void test_containerd_of_k3s(void **state)
{
	struct fixture *fixture = *state;
	const struct tree *tree = &fixture->tree;

	tree_write(tree, "var/lib/rancher/k3s/agent/etc/containerd/config.toml",
		   "base_runtime_spec = \"/spec.json\"\n");
	tree_write(
		tree, "spec.json",
		"{\"process\": {\"rlimits\": [{\"type\": \"RLIMIT_MEMLOCK\", \"soft\": 4096}]}}");
	expect(fixture, "k3s-agent.service", 4096, "/spec.json");
	expect(fixture, "k3s.service", 4096, "/spec.json");
	expect_none(fixture, "rke2-agent.service");
	expect_none(fixture, "unknown.service");
}

static void test_specifications_that_are_none(void **state)
{
	static const char *const texts[] = {
		"",
		"{",
		"[]",
		"{\"process\": 1}",
		"{\"process\": {\"rlimits\": {\"type\": \"RLIMIT_MEMLOCK\"}}}",
		"{\"process\": {\"rlimits\": [1, {\"type\": 2}, {\"type\": \"RLIMIT_MEMLOCK\"}]}}",
		"{\"process\": {\"rlimits\": [{\"type\": \"RLIMIT_MEMLOCK\", \"soft\": \"8M\"}]}}",
	};
	struct fixture *fixture = *state;

	tree_write(&fixture->tree, CONTAINERD, "base_runtime_spec = \"/spec.json\"\n");
	for (size_t i = 0; i < RNA_ARRAY_SIZE(texts); i++) {
		tree_write(&fixture->tree, "spec.json", texts[i]);
		expect_none(fixture, "containerd.service");
	}
}

/* A directory stands for what cannot be read: root reads every file. */
static void test_a_configuration_that_is_hidden(void **state)
{
	struct fixture *fixture = *state;
	struct rna_runtime runtime;

	tree_mkdir(&fixture->tree, CONTAINERD);
	runtime = read_spec(fixture, "containerd.service");
	assert_int_equal(runtime.spec.state, RNA_VALUE_UNREADABLE);
	assert_string_equal(runtime.spec_file, "/etc/containerd/config.toml");
}

static void test_crio(void **state)
{
	struct fixture *fixture = *state;
	const struct tree *tree = &fixture->tree;

	tree_write(tree, "etc/crio/crio.conf",
		   "[crio.runtime]\n# default_ulimits = [\"memlock=1:1\"]\n"
		   "default_ulimits = [\n\t# for databases\n\t\"nofile=1024:2048\",\n"
		   "\t\"memlock=65536:-1\",\n]\n");
	expect(fixture, "crio.service", 65536, "/etc/crio/crio.conf");
	tree_write(tree, "etc/crio/crio.conf.d/10-rdma.conf",
		   "[crio.runtime]\ndefault_ulimits = [ 'memlock=-1:-1' ]\n");
	expect(fixture, "crio.service", RNA_MEMLOCK_INFINITY, "/etc/crio/crio.conf.d/10-rdma.conf");
	tree_write(tree, "etc/crio/crio.conf.d/20-other.conf", "default_ulimits = []\n");
	expect_none(fixture, "crio.service"); /* the later list replaces the earlier one */
	tree_write(tree, "etc/crio/crio.conf.d/30-odd.conf",
		   "default_ulimits = [\"memlock=lots\", \"memlock=");
	expect_none(fixture, "crio.service");
}

static void test_docker(void **state)
{
	struct fixture *fixture = *state;
	const struct tree *tree = &fixture->tree;

	tree_write(tree, "etc/docker/daemon.json",
		   "{\"default-ulimits\": {\"memlock\": {\"Name\": \"memlock\", \"Hard\": -1, "
		   "\"Soft\": -1}}}");
	expect(fixture, "docker.service", RNA_MEMLOCK_INFINITY, "/etc/docker/daemon.json");
	tree_write(tree, "etc/docker/daemon.json", "{\"default-ulimits\": {\"nofile\": {}}}");
	expect_none(fixture, "docker.service");
}

/* -- Processes --------------------------------------------------------------------------------- */

static void add_process(const struct tree *tree, const char *pid, const char *name,
			const char *cgroup, const char *limit, const char *capabilities)
{
	char path[64], text[512];

	(void)snprintf(path, sizeof(path), "proc/%s/cgroup", pid);
	tree_write(tree, path, cgroup);
	(void)snprintf(path, sizeof(path), "proc/%s/comm", pid);
	tree_write(tree, path, name);
	(void)snprintf(path, sizeof(path), "proc/%s/limits", pid);
	(void)snprintf(text, sizeof(text),
		       "Limit                     Soft Limit           Hard Limit           Units\n"
		       "Max locked memory         %-20s unlimited            bytes\n",
		       limit);
	tree_write(tree, path, text);
	(void)snprintf(path, sizeof(path), "proc/%s/status", pid);
	(void)snprintf(text, sizeof(text), "Name:\t%s\nCapEff:\t%s\n", name, capabilities);
	tree_write(tree, path, text);
}

#define NO_CAPABILITY "0000000000000000"
#define IPC_LOCK      "00000000a80465fb"
#define POD           "0::/kubepods.slice/kubepods-pod1.slice/"

static void test_processes(void **state)
{
	struct fixture *fixture = *state;
	const struct tree *tree = &fixture->tree;
	struct rna_runtime runtimes[] = {{.unit = "crio.service"}, {.unit = "containerd.service"}};
	struct rna_container_limits seen = {0};

	tree_write(tree, "proc/uptime", "1 1\n");
	tree_mkdir(tree, "proc/4");
	add_process(tree, "1", "systemd", "0::/init.scope\n", "8388608", IPC_LOCK);
	add_process(tree, "10", "containerd", "0::/system.slice/containerd.service\n", "8388608",
		    IPC_LOCK);
	add_process(tree, "9", "containerd",
		    "0::/user.slice/user-1000.slice/user@1000.service/app.slice/"
		    "containerd.service\n",
		    "65536", NO_CAPABILITY); /* a user's own */
	add_process(tree, "11", "containerd-shim", "0::/system.slice/containerd.service\n", "1",
		    IPC_LOCK);
	add_process(tree, "20", "pause", POD "cri-containerd-" ID "0.scope\n", "8388608",
		    NO_CAPABILITY);
	add_process(tree, "21", "python3", POD "cri-containerd-" ID "1.scope\n", "8388608",
		    NO_CAPABILITY);
	add_process(tree, "22", "python3", POD "cri-containerd-" ID "1.scope\n", "65536",
		    NO_CAPABILITY); /* of the same container */
	add_process(tree, "23", "nccl", POD "cri-containerd-" ID "2.scope\n", "65536", IPC_LOCK);
	add_process(tree, "24", "nccl", "4:memory:/docker/" ID "3\n", "unlimited", NO_CAPABILITY);
	add_process(tree, "25", "odd", POD "cri-containerd-" ID "4.scope\n", "?", NO_CAPABILITY);

	assert_int_equal(rna_read_process_limits(tree->root, fixture->arena, runtimes, 2, &seen),
			 0);
	assert_int_equal(runtimes[0].running.state, RNA_VALUE_ABSENT);
	assert_int_equal(runtimes[1].running.number, 8 * MIB);
	assert_int_equal(seen.count, 3);
	assert_int_equal(seen.low, 1);
	assert_int_equal(seen.lowest.number, 8 * MIB);
	assert_string_equal(seen.example, "0123456789ab");
}

static void test_without_proc(void **state)
{
	struct fixture *fixture = *state;
	struct rna_runtime runtime = {.unit = "containerd.service"};
	struct rna_container_limits seen = {0};

	assert_int_equal(rna_read_process_limits(fixture->tree.root, fixture->arena, &runtime, 1,
						 &seen),
			 0);
	assert_int_equal(seen.count, 0);
	assert_int_equal(runtime.running.state, RNA_VALUE_ABSENT);
}

/* More than are looked at, of which nothing can be read but that they are containers. */
static void test_many_containers_without_limits(void **state)
{
	struct fixture *fixture = *state;
	struct rna_runtime runtime = {.unit = "containerd.service"};
	struct rna_container_limits seen = {0};

	for (unsigned i = 0; i < 2100; i++) {
		char pid[16], cgroup[128];

		(void)snprintf(pid, sizeof(pid), "%u", 100 + i);
		(void)snprintf(cgroup, sizeof(cgroup), "0::/docker/%08x%.56s\n", i, ID);
		add_process(&fixture->tree, pid, "x", cgroup, "?", NO_CAPABILITY);
	}
	assert_int_equal(rna_read_process_limits(fixture->tree.root, fixture->arena, &runtime, 1,
						 &seen),
			 0);
	assert_int_equal(seen.count, 0);
}

/* More containers than are counted. */
static void test_many_containers(void **state)
{
	struct fixture *fixture = *state;
	struct rna_runtime runtime = {.unit = "containerd.service"};
	struct rna_container_limits seen = {0};

	for (unsigned i = 0; i < 1100; i++) {
		char pid[16], cgroup[128];

		(void)snprintf(pid, sizeof(pid), "%u", 100 + i);
		(void)snprintf(cgroup, sizeof(cgroup), "0::/docker/%08x%.56s\n", i % 1050 << 16,
			       ID);
		add_process(&fixture->tree, pid, "x", cgroup, "65536", NO_CAPABILITY);
	}
	assert_int_equal(rna_read_process_limits(fixture->tree.root, fixture->arena, &runtime, 1,
						 &seen),
			 0);
	assert_int_equal(seen.count, 1024);
	assert_int_equal(seen.low, 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_containerd, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_imports_that_lead_in_a_circle, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_containerd_of_k3s, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_specifications_that_are_none, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_configuration_that_is_hidden, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_crio, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_docker, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_processes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_without_proc, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_many_containers_without_limits, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_many_containers, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
