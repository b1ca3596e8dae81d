// SPDX-License-Identifier: Apache-2.0
/* core/readiness; collectors/readiness: texts of drivers and units, and small nodes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/model/pcie.h"

#include "collectors.h"
#include "readiness_sources.h"
#include "tree.h"

struct fixture {
	struct tree tree;
	struct rna_arena *arena;
	struct rna_part *part;
};

static int set_up(void **state)
{
	static struct fixture fixture;

	tree_init(&fixture.tree);
	fixture.arena = rna_arena_new(4096);
	fixture.part = NULL;
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	fixture->part = rna_part_unref(fixture->part);
	fixture->arena = rna_arena_free(fixture->arena);
	tree_deinit(&fixture->tree);
	return 0;
}

/* -- GPUDirect -------------------------------------------------------------------------------- */

#define YES                                                                                        \
	{                                                                                          \
		1, RNA_VALUE_OK                                                                    \
	}
#define NO                                                                                         \
	{                                                                                          \
		0, RNA_VALUE_OK                                                                    \
	}
#define UNKNOWN                                                                                    \
	{                                                                                          \
		0, RNA_VALUE_ABSENT                                                                \
	}
#define UNREADABLE                                                                                 \
	{                                                                                          \
		0, RNA_VALUE_UNREADABLE                                                            \
	}

#define NVIDIA(version_, open_)                                                                    \
	{                                                                                          \
		.name = "nvidia", .version = (version_), .open = open_                             \
	}
#define AMD(possible, option)                                                                      \
	{                                                                                          \
		.name = "amdgpu", .peer_to_peer = possible, .missing_option = (option)             \
	}

static void test_gpudirect_is_judged_as_libraries_do(void **state)
{
	static const char module[] = "the module nvidia_peermem";
	static const struct {
		const char *kernel;
		struct rna_gpu_driver driver;
		struct rna_value peer;
		const char *sign;
		bool newer;
		const char *expected;
	} cases[] = {
		{"5.15.0-105-generic", NVIDIA("550.54.15", YES), NO,
		 .expected = "ready: nvidia "
			     "550.54.15 has open kernel modules"},
		{"5.12", NVIDIA("515", YES), UNKNOWN,
		 .expected = "ready: nvidia 515 has open kernel modules"},
		{"5.15.0", NVIDIA("550.54.15", NO), NO,
		 .expected = "not-ready: no peer memory "
			     "(nothing in /sys/kernel/mm/memory_peers, and nvidia_peermem is not "
			     "loaded) and no "
			     "dma-buf (the kernel modules of nvidia 550.54.15 are the proprietary "
			     "ones)"},
		{"5.15.0", NVIDIA("510.47.03", YES), NO,
		 .expected = "not-ready: no peer memory "
			     "(nothing in /sys/kernel/mm/memory_peers, and nvidia_peermem is not "
			     "loaded) and no "
			     "dma-buf (nvidia 510.47.03 has open kernel modules, but is older than "
			     "515)"},
		{"5.11.0-49", NVIDIA("550.54.15", YES), UNKNOWN, .expected = "unknown: "},
		{"5.4.0-1", NVIDIA("550.54.15", YES), NO,
		 .expected = "not-ready: no peer memory "
			     "(nothing in /sys/kernel/mm/memory_peers, and nvidia_peermem is not "
			     "loaded) and no "
			     "dma-buf (Linux 5.4.0-1 is older than 5.12)"},
		{"4.18.0-553.el8_10", NVIDIA("550.54.15", YES), NO, .expected = "unknown: "},
		{"6.8.0", NVIDIA(NULL, YES), NO, .expected = "unknown: "},
		{"6.8.0", NVIDIA("550.54.15", UNKNOWN), NO, .expected = "unknown: "},
		{NULL, NVIDIA("550.54.15", YES), NO, .expected = "unknown: "},
		{"6.8.0", NVIDIA("550", NO), YES, "/sys/kernel/mm/memory_peers/nv_mem",
		 .expected = "ready: /sys/kernel/mm/memory_peers/nv_mem"},
		{"6.8.0", NVIDIA("550", NO), YES, module, true,
		 "ready-for-nccl-2.23: the kernel "
		 "modules of nvidia 550 are the proprietary ones"},
		{"6.8.0", NVIDIA("550", YES), YES, module, true,
		 "ready: the module nvidia_peermem"},
		{"6.8.0", NVIDIA("550", UNKNOWN), YES, module, true,
		 "ready: the module nvidia_peermem"},
		{"6.8.0-45", AMD(YES, NULL), NO,
		 .expected = "ready: /boot/config-6.8.0-45 has what RCCL looks for"},
		{"6.8.0-45", AMD(NO, "CONFIG_PCI_P2PDMA=y"), NO,
		 .expected = "not-ready: no peer "
			     "memory (no amdkfd in memory_peers, and the kernel has no "
			     "ib_register_peer_memory_client) and no dma-buf "
			     "(/boot/config-6.8.0-45 has no "
			     "CONFIG_PCI_P2PDMA=y)"},
		{"6.8.0-45", AMD(NO, "CONFIG_PCI_P2PDMA=y"), UNREADABLE,
		 .expected = "unknown: no peer memory (no amdkfd in memory_peers, and "
			     "/proc/kallsyms, where RCCL looks as well, is hidden from the agent) "
			     "and no dma-buf (/boot/config-6.8.0-45 has no CONFIG_PCI_P2PDMA=y)"},
		{"6.8.0-45", AMD(UNKNOWN, NULL), NO, .expected = "unknown: "},
		{"6.8.0-45", {.name = NULL}, UNKNOWN, .expected = "unknown: "},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		struct rna_readiness readiness = {
			.kernel = cases[i].kernel,
			.gpu_driver = cases[i].driver,
			.peer_memory = cases[i].sign,
			.peer_memory_newer = cases[i].newer,
			.gpudirect[RNA_GPUDIRECT_PEER_MEMORY] = cases[i].peer,
		};
		const char *text;

		assert_int_equal(rna_gpudirect_judge(&readiness, fixture->arena), 0);
		text = rna_arena_printf(fixture->arena, "%s: %s",
					rna_gpudirect_state_name(readiness.gpudirect_state),
					readiness.gpudirect_reason ? readiness.gpudirect_reason
								   : "");
		assert_string_equal(text, cases[i].expected);
	}
}

/* -- Texts ------------------------------------------------------------------------------------- */

static void test_versions_of_nvidia(void **state)
{
	static const struct {
		const char *text, *version;
		struct rna_value open;
	} cases[] = {
		{"NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56\n"
		 "GCC version:  gcc version 11.4.0",
		 "550.54.15", NO},
		{"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.10  Release "
		 "Build "
		 " (dvs-builder@U16)\nGCC version: 12.2.0",
		 "570.86.10", YES},
		{"NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.10  Release",
		 "580.10", YES},
		{"NVRM version: NVIDIA UNIX Kernel Module", NULL, NO},
		{"NVRM version: of tomorrow 1.2\nKernel Module 3.4", NULL, UNKNOWN},
		{"", NULL, UNKNOWN},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		struct rna_gpu_driver driver = {0};

		rna_parse_nvidia_version(cases[i].text, fixture->arena, &driver);
		assert_int_equal(driver.open.state, cases[i].open.state);
		assert_int_equal(driver.open.number, cases[i].open.number);
		if (cases[i].version)
			assert_string_equal(driver.version, cases[i].version);
		else
			assert_null(driver.version);
	}
}

static void test_parameters_of_nvidia(void **state)
{
	static const struct {
		const char *text;
		struct rna_value memops, mapping;
	} cases[] = {
		{"EnableStreamMemOPs: 0\nRegistryDwords: \"\"\n", NO, NO},
		{"EnableStreamMemOPs: 1\nRegistryDwords: \"PeerMappingOverride=1;\"\n", YES, YES},
		{"EnableStreamMemOPs: 1\nRegistryDwords: \"A=7;PeerMappingOverride=0\"\n", YES, NO},
		{"RegistryDwords: \"\"", UNKNOWN, NO},
		{"EnableStreamMemOPs: \nGpuBlacklist: \"\"", UNKNOWN, UNKNOWN},
		{"", UNKNOWN, UNKNOWN},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		struct rna_gpu_driver driver = {0};

		rna_parse_nvidia_params(cases[i].text, &driver);
		assert_int_equal(driver.stream_memops.state, cases[i].memops.state);
		assert_int_equal(driver.stream_memops.number, cases[i].memops.number);
		assert_int_equal(driver.peer_mapping_override.state, cases[i].mapping.state);
		assert_int_equal(driver.peer_mapping_override.number, cases[i].mapping.number);
	}
}

static void test_limits(void **state)
{
	static const struct {
		const char *text;
		int status;
		uint64_t limit;
	} cases[] = {
		{"infinity", 0, RNA_MEMLOCK_INFINITY},
		{"infinity:infinity", 0, RNA_MEMLOCK_INFINITY},
		{"8M", 0, 8 << 20},
		{"65536", 0, 65536},
		{"64K:64M", 0, 65536},
		{"2G", 0, UINT64_C(2) << 30},
		{"", -EBADMSG, 0},
		{"much", -EBADMSG, 0},
		{"8MB", -EBADMSG, 0},
		{"50%", -EBADMSG, 0},
		{"-1", -EBADMSG, 0},
		{"9999999999999T", -EBADMSG, 0},
		{"99999999999999999999999", -EBADMSG, 0},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		uint64_t limit = 0;

		if (rna_parse_limit(cases[i].text, &limit) != cases[i].status ||
		    limit != cases[i].limit)
			fail_msg("\"%s\": %ju", cases[i].text, (uintmax_t)limit);
	}
}

/* -- Units ------------------------------------------------------------------------------------- */

static struct rna_value memlock(struct fixture *fixture, int expected)
{
	struct rna_value limit;

	assert_int_equal(rna_read_memlock(fixture->tree.root, "containerd.service", fixture->arena,
					  &limit),
			 expected);
	return limit;
}

static void test_units_hide_each_other(void **state)
{
	struct fixture *fixture = *state;
	const struct tree *tree = &fixture->tree;

	(void)memlock(fixture, -ENOENT);
	tree_write(tree, "lib/systemd/system/containerd.service", "[Service]\nLimitNOFILE=1\n");
	assert_int_equal(memlock(fixture, 0).state, RNA_VALUE_ABSENT);
	tree_write(tree, "usr/lib/systemd/system/containerd.service",
		   "[Service]\nLimitMEMLOCK=1M\n  LimitMEMLOCK=8M\n");
	assert_int_equal(memlock(fixture, 0).number, 8 << 20);
	tree_write(tree, "usr/lib/systemd/system/containerd.service.d/20-less.conf",
		   "[Service]\nLimitMEMLOCK=4M\n");
	tree_write(tree, "etc/systemd/system/containerd.service.d/10-more.conf",
		   "[Service]\nLimitMEMLOCK=infinity\n");
	assert_int_equal(memlock(fixture, 0).number, 4 << 20); /* by name, not by directory */
	tree_write(tree, "etc/systemd/system/containerd.service.d/20-less.conf", "");
	assert_int_equal(memlock(fixture, 0).number, RNA_MEMLOCK_INFINITY); /* hidden */
	tree_write(tree, "etc/systemd/system/containerd.service.d/30-note.txt", "LimitMEMLOCK=1");
	tree_write(tree, "etc/systemd/system/containerd.service.d/40-odd.conf",
		   "LimitMEMLOCK=lots\n");
	assert_int_equal(memlock(fixture, 0).state, RNA_VALUE_UNREADABLE);
	tree_mkdir(tree, "etc/systemd/system/containerd.service"); /* odd, and cannot be read */
	tree_remove(tree, "etc/systemd/system/containerd.service.d/40-odd.conf");
	tree_remove(tree, "etc/systemd/system/containerd.service.d/10-more.conf");
	assert_int_equal(memlock(fixture, 0).state, RNA_VALUE_UNREADABLE);
}

static void test_the_kernel_may_do_peer_to_peer(void **state)
{
	struct rna_gpu_driver driver = {0};
	struct fixture *fixture = *state;
	const struct tree *tree = &fixture->tree;

	rna_read_kernel_p2p(tree->root, "6.8", fixture->arena, &driver);
	rna_read_kernel_p2p(tree->root, NULL, fixture->arena, &driver);
	assert_int_equal(driver.peer_to_peer.state, RNA_VALUE_ABSENT);
	tree_write(tree, "boot/config-6.8",
		   "CONFIG_PCI=y\nCONFIG_PCI_P2PDMA=y\n# CONFIG_DMABUF_MOVE_NOTIFY is not set\n");
	rna_read_kernel_p2p(tree->root, "6.8", fixture->arena, &driver);
	assert_int_equal(driver.peer_to_peer.state, RNA_VALUE_OK);
	assert_int_equal(driver.peer_to_peer.number, 0);
	assert_string_equal(driver.missing_option, "CONFIG_DMABUF_MOVE_NOTIFY=y");
	tree_write(tree, "boot/config-6.8", "CONFIG_PCI_P2PDMA=y\nCONFIG_DMABUF_MOVE_NOTIFY=y\n");
	rna_read_kernel_p2p(tree->root, "6.8", fixture->arena, &driver);
	assert_int_equal(driver.peer_to_peer.number, 1);
	assert_null(driver.missing_option);
}

static const char *blacklist_of(struct fixture *fixture, const char *module)
{
	struct rna_blacklist list;

	assert_int_equal(rna_read_blacklist(fixture->tree.root, fixture->arena, &list), 0);
	return rna_blacklist_find(&list, module);
}

static void test_configuration_keeps_modules_from_being_loaded(void **state)
{
	struct fixture *fixture = *state;
	const struct tree *tree = &fixture->tree;

	assert_null(blacklist_of(fixture, "mlx5_ib"));
	tree_write(tree, "usr/lib/modprobe.d/a.conf", "#blacklist efa\n  blacklist\tmlx5-ib # x\n");
	tree_write(tree, "usr/lib/modprobe.d/b", "blacklist efa\n"); /* no .conf */
	tree_write(tree, "run/modprobe.d/c.conf",
		   "install irdma /usr/bin/false\n"
		   "install efa /sbin/modprobe efa x=1\n"
		   "blacklist\ninstall\ninstall efa\n"
		   "options efa y=1\n");
	assert_string_equal(blacklist_of(fixture, "mlx5_ib"), "/usr/lib/modprobe.d/a.conf");
	assert_string_equal(blacklist_of(fixture, "irdma"), "/run/modprobe.d/c.conf");
	assert_null(blacklist_of(fixture, "efa"));
	assert_null(blacklist_of(fixture, "mlx5_core"));
	tree_write(tree, "etc/modprobe.d/a.conf", "");
	assert_null(blacklist_of(fixture, "mlx5_ib")); /* hidden */
	tree_write(tree, "proc/cmdline",
		   "quiet module_blacklist=nouveau,efa,irdma "
		   "modprobe.blacklist=mlx5_core blacklist=ice\n");
	assert_string_equal(blacklist_of(fixture, "efa"), "/proc/cmdline");
	assert_string_equal(blacklist_of(fixture, "irdma"), "/proc/cmdline");
	assert_string_equal(blacklist_of(fixture, "mlx5_core"), "/proc/cmdline");
	assert_null(blacklist_of(fixture, "ice"));
}

static struct rna_value installed(struct fixture *fixture, const char *kernel, const char *module)
{
	return rna_read_module_installed(fixture->tree.root, kernel, module, fixture->arena);
}

static void test_a_kernel_has_its_modules(void **state)
{
	struct fixture *fixture = *state;
	const struct tree *tree = &fixture->tree;

	assert_int_equal(installed(fixture, NULL, "efa").state, RNA_VALUE_ABSENT);
	assert_int_equal(installed(fixture, "6.8", "efa").state, RNA_VALUE_ABSENT);
	tree_write(tree, "lib/modules/6.8/modules.builtin", "kernel/drivers/i/ib_core.ko\n");
	tree_write(tree, "lib/modules/6.8/modules.dep",
		   "updates/dkms/efa.ko.zst: kernel/drivers/i/irdma.ko.zst\n"
		   "kernel/drivers/h/hns-roce-hw-v2.ko:\nkernel/mlx5_ib_x.ko:\nefa\n");
	assert_int_equal(installed(fixture, "6.8", "efa").number, 1);
	assert_int_equal(installed(fixture, "6.8", "hns_roce_hw_v2").number, 1);
	assert_int_equal(installed(fixture, "6.8", "ib_core").number, 1);
	assert_true(rna_value_is_known(installed(fixture, "6.8", "mlx5_ib")));
	assert_int_equal(installed(fixture, "6.8", "mlx5_ib").number, 0);
	assert_int_equal(installed(fixture, "6.8", "irdma").number, 0); /* another's dependency */
}

/* -- Nodes ------------------------------------------------------------------------------------- */

static const struct rna_readiness *collect(struct fixture *fixture)
{
	const struct rna_collect_input in = {.root = fixture->tree.root};

	fixture->part = rna_part_unref(fixture->part);
	assert_int_equal(rna_collect_readiness(&in, &fixture->part, NULL), 0);
	return (const void *)fixture->part;
}

static void test_of_an_empty_node_nothing_is_known(void **state)
{
	const struct rna_readiness *readiness = collect(*state);

	assert_null(readiness->kernel);
	assert_null(readiness->gpu_driver.name);
	assert_null(readiness->dmi.vendor);
	assert_false(readiness->dmi.unreadable);
	assert_int_equal(readiness->module_count, 0);
	assert_int_equal(readiness->node_count, 0);
	assert_int_equal(readiness->runtime_count, 0);
	assert_int_equal(readiness->netns_exclusive.state, RNA_VALUE_ABSENT);
	assert_int_equal(rna_part_error_count(&readiness->part), 0);
}

/* The files beside them have serial numbers. */
static void test_the_machine_has_a_name_and_no_number(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_readiness *readiness;

	tree_write(&fixture->tree, "sys/class/dmi/id/sys_vendor", "NVIDIA\n");
	tree_write(&fixture->tree, "sys/class/dmi/id/product_name", "DGX H100 \n");
	tree_fifo(&fixture->tree, "sys/class/dmi/id/product_serial");
	readiness = collect(fixture);
	assert_string_equal(readiness->dmi.vendor, "NVIDIA");
	assert_string_equal(readiness->dmi.product, "DGX H100");
	assert_null(readiness->dmi.board);
	assert_false(readiness->dmi.unreadable);
}

static void test_a_machine_whose_name_is_unreadable(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_readiness *readiness;

	tree_mkdir(&fixture->tree, "sys/class/dmi/id/product_name");
	readiness = collect(fixture);
	assert_null(readiness->dmi.product);
	assert_true(readiness->dmi.unreadable);
	assert_int_equal(rna_part_error_count(&readiness->part), 1);
}

static bool is_loaded(const struct rna_readiness *readiness, const char *name)
{
	for (size_t i = 0; i < readiness->module_count; i++)
		if (strcmp(readiness->modules[i].name, name) == 0)
			return readiness->modules[i].loaded;
	fail_msg("no module %s", name);
	return false;
}

static void test_it_is_known_why_a_driver_has_no_rdma(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_module *module;

	tree_mkdir(&fixture->tree, "sys/module/ionic");
	tree_write(&fixture->tree, "proc/sys/kernel/osrelease", "6.8\n");
	tree_write(&fixture->tree, "lib/modules/6.8/modules.dep", "x/ionic.ko:\n");
	tree_write(&fixture->tree, "etc/modprobe.d/a.conf", "blacklist efa\n");
	module = rna_module_find(collect(fixture), "ionic_rdma");
	assert_false(module->loaded);
	assert_null(module->blacklist);
	assert_true(rna_value_is_known(module->installed));
	assert_int_equal(module->installed.number, 0);
	module = rna_module_find(collect(fixture), "efa"); /* that of no module which is there */
	assert_string_equal(module->blacklist, "/etc/modprobe.d/a.conf");
	assert_null(rna_module_find(collect(fixture), "mlx5_ib"));
	tree_mkdir(&fixture->tree, "sys/module/ionic_rdma");
	assert_true(rna_module_find(collect(fixture), "ionic_rdma")->loaded);
	assert_null(rna_module_find(collect(fixture), "efa"));
}

static void test_what_is_built_in_is_loaded(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_readiness *readiness;

	tree_write(&fixture->tree, "sys/module/ib_core/parameters/netns_mode", "Y\n");
	tree_mkdir(&fixture->tree, "sys/class/infiniband_verbs");
	tree_mkdir(&fixture->tree, "sys/class/misc/rdma_cm");
	tree_mkdir(&fixture->tree, "sys/bus/auxiliary/drivers/mlx5_ib.rdma");
	readiness = collect(fixture);
	assert_true(is_loaded(readiness, "ib_uverbs"));
	assert_true(is_loaded(readiness, "rdma_ucm"));
	assert_true(is_loaded(readiness, "mlx5_ib"));
	assert_false(is_loaded(readiness, "ib_umad"));
}

static void make_gpus(const struct tree *tree)
{
	tree_write(tree, "proc/sys/kernel/osrelease", "6.8.0-45-generic\n");
	tree_write(tree, "proc/driver/nvidia/version",
		   "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue\n");
}

static void test_gpudirect_is_known_where_modules_are(void **state)
{
	struct fixture *fixture = *state;
	const struct tree *tree = &fixture->tree;
	const struct rna_readiness *readiness;

	make_gpus(tree);
	readiness = collect(fixture);
	assert_string_equal(readiness->gpu_driver.version, "550.54.15");
	assert_int_equal(readiness->gpudirect[RNA_GPUDIRECT_DMA_BUF].state, RNA_VALUE_OK);
	assert_int_equal(readiness->gpudirect[RNA_GPUDIRECT_DMA_BUF].number, 0);
	assert_int_equal(readiness->gpudirect[RNA_GPUDIRECT_PEER_MEMORY].state, RNA_VALUE_ABSENT);
	tree_write(tree, "sys/module/ib_core/parameters/netns_mode", "N\n");
	readiness = collect(fixture);
	assert_int_equal(readiness->gpudirect[RNA_GPUDIRECT_PEER_MEMORY].state, RNA_VALUE_OK);
	assert_int_equal(readiness->gpudirect[RNA_GPUDIRECT_PEER_MEMORY].number, 0);
	assert_int_equal(readiness->netns_exclusive.number, 1);
	assert_true(is_loaded(readiness, "ib_core"));
	assert_false(is_loaded(readiness, "ib_uverbs"));
	tree_write(tree, "sys/kernel/mm/memory_peers/nv_mem/version", "1\n");
	tree_write(tree, "sys/module/ib_core/parameters/netns_mode", "perhaps\n");
	readiness = collect(fixture);
	assert_int_equal(readiness->gpudirect[RNA_GPUDIRECT_PEER_MEMORY].number, 1);
	assert_int_equal(readiness->netns_exclusive.state, RNA_VALUE_ABSENT);
}

static void make_amd(const struct tree *tree)
{
	tree_write(tree, "proc/sys/kernel/osrelease", "6.8.0-60-generic\n");
	tree_mkdir(tree, "sys/class/kfd/kfd");
	tree_mkdir(tree, "sys/module/ib_core");
	tree_write(tree, "boot/config-6.8.0-60-generic", "CONFIG_PCI_P2PDMA=y\n");
}

static void test_peer_memory_is_where_libraries_look(void **state)
{
	static const struct {
		const char *file, *text;
		const char *expected; /* NULL: none */
	} cases[] = {
		{"sys/kernel/mm/memory_peers/amdkfd/version", "1.0\n",
		 "/sys/kernel/mm/memory_peers/amdkfd"},
		{"sys/kernel/memory_peers/amdkfd/version", "1.0\n",
		 "/sys/kernel/memory_peers/amdkfd"},
		{"sys/memory_peers/amdkfd/version", "1.0\n", "/sys/memory_peers/amdkfd"},
		{"proc/kallsyms",
		 "0 t ib_register_client\t[ib_core]\n"
		 "0 T ib_register_peer_memory_client\t[ib_core]\n",
		 "ib_register_peer_memory_client in /proc/kallsyms"},
		{"proc/kallsyms", "0 t ib_register_peer_memory_client\n",
		 "ib_register_peer_memory_client in /proc/kallsyms"},
		{"proc/kallsyms",
		 "0 r __ksymtab_ib_register_peer_memory_client\t[ib_core]\n"
		 "0 U ib_register_peer_memory_client\n",
		 NULL},
		{"sys/module/nvidia_peermem/version", "1\n", NULL}, /* of another maker */
	};
	struct fixture *fixture = *state;
	const struct tree *tree = &fixture->tree;

	make_amd(tree);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		const struct rna_readiness *readiness;

		tree_write(tree, cases[i].file, cases[i].text);
		readiness = collect(fixture);
		if (cases[i].expected)
			assert_string_equal(readiness->peer_memory, cases[i].expected);
		else
			assert_null(readiness->peer_memory);
		assert_int_equal(readiness->gpudirect[RNA_GPUDIRECT_PEER_MEMORY].number,
				 cases[i].expected != NULL);
		tree_remove(tree, cases[i].file);
	}
	tree_write(tree, "proc/kallsyms", ""); /* hidden from the service */
	assert_int_equal(collect(fixture)->gpudirect_state, RNA_GPUDIRECT_NOT_SEEN);
}

static void test_platforms_are_known_by_their_gpu(void **state)
{
	struct fixture *fixture = *state;
	const struct tree *tree = &fixture->tree;
	const struct rna_readiness *readiness;

	make_gpus(tree);
	tree_write(tree, "sys/module/nvidia_peermem/version", "580\n");
	tree_write(tree, "sys/bus/pci/drivers/nvidia/000f:01:00.0/vendor", "0x10de\n");
	tree_write(tree, "sys/bus/pci/drivers/nvidia/000f:01:00.0/device", "0x2e12\n");
	readiness = collect(fixture);
	assert_true(readiness->platform.slot_power_is_normal);
	assert_int_equal(readiness->gpudirect_state, RNA_GPUDIRECT_IMPOSSIBLE);
	assert_int_equal(readiness->gpudirect[RNA_GPUDIRECT_PEER_MEMORY].number, 0);
	tree_write(tree, "sys/bus/pci/drivers/nvidia/000f:01:00.0/device", "0x2941\n");
	readiness = collect(fixture);
	assert_true(readiness->platform.c2c);
	assert_null(readiness->platform.no_gpudirect);
	assert_int_equal(readiness->gpudirect_state, RNA_GPUDIRECT_READY_FOR_NEWER);
	tree_write(tree, "sys/class/dmi/id/sys_vendor", "Google\n");
	tree_write(tree, "sys/class/dmi/id/product_name", "Google Compute Engine\n");
	assert_int_equal(collect(fixture)->virtual_machine.number, 1); /* A4X */
	tree_write(tree, "sys/bus/pci/drivers/nvidia/000f:01:00.0/device", "0x31c2\n");
	assert_int_equal(collect(fixture)->virtual_machine.number, 0); /* A4X Max */
}

static void test_device_files_are_missed_only_in_a_whole_dev(void **state)
{
	struct fixture *fixture = *state;
	const struct tree *tree = &fixture->tree;
	const struct rna_readiness *readiness;

	tree_write(tree, "sys/class/infiniband_verbs/abi_version", "6\n");
	tree_write(tree, "sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n");
	tree_write(tree, "sys/class/infiniband_verbs/uverbs1/ibdev", "mlx5_1\n");
	tree_write(tree, "dev/infiniband/uverbs0", "");
	readiness = collect(fixture);
	assert_int_equal(readiness->node_count, 2);
	assert_string_equal(readiness->nodes[0].name, "uverbs0");
	assert_string_equal(readiness->nodes[0].device, "mlx5_0");
	assert_int_equal(readiness->nodes[0].mode.state, RNA_VALUE_OK);
	assert_int_equal(readiness->nodes[1].mode.state, RNA_VALUE_ABSENT);
	assert_false(readiness->nodes[1].missing);
	tree_write(tree, "dev/kmsg", "");
	readiness = collect(fixture);
	assert_false(readiness->nodes[0].missing);
	assert_true(readiness->nodes[1].missing);
	assert_int_equal(rna_part_error_count(&readiness->part), 0);
}

static void test_device_files_of_ports_and_of_gdrcopy(void **state)
{
	struct fixture *fixture = *state;
	const struct tree *tree = &fixture->tree;
	const struct rna_readiness *readiness;

	tree_write(tree, "sys/class/infiniband_mad/abi_version", "5\n");
	tree_write(tree, "sys/class/infiniband_mad/umad0/ibdev", "mlx5_0\n");
	tree_write(tree, "sys/class/infiniband_mad/umad0/port", "2\n");
	tree_write(tree, "sys/class/infiniband_mad/issm0/ibdev", "mlx5_0\n");
	tree_write(tree, "sys/class/infiniband_mad/issm0/port", "2\n");
	tree_write(tree, "dev/kmsg", "");
	readiness = collect(fixture);
	assert_int_equal(readiness->node_count, 1);
	assert_string_equal(readiness->nodes[0].name, "umad0");
	assert_string_equal(readiness->nodes[0].device, "mlx5_0");
	assert_int_equal(readiness->nodes[0].port, 2);
	assert_true(readiness->nodes[0].missing);
	tree_mkdir(tree, "sys/module/gdrdrv");
	readiness = collect(fixture);
	assert_int_equal(readiness->node_count, 2);
	assert_string_equal(readiness->nodes[1].name, "gdrdrv");
	assert_null(readiness->nodes[1].device);
	assert_true(readiness->nodes[1].missing);
	tree_write(tree, "dev/gdrdrv", "");
	assert_false(collect(fixture)->nodes[1].missing);
}

/* The kernel numbers files as devices came, which may be another order than that of their names. */
static void test_device_files_are_found_by_device_and_port(void **state)
{
	struct fixture *fixture = *state;
	const struct tree *tree = &fixture->tree;
	const struct rna_readiness *readiness;

	tree_write(tree, "sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_1\n");
	tree_write(tree, "sys/class/infiniband_verbs/uverbs1/ibdev", "mlx5_0\n");
	tree_write(tree, "sys/class/infiniband_mad/umad0/ibdev", "mlx5_1\n");
	tree_write(tree, "sys/class/infiniband_mad/umad0/port", "1\n");
	tree_write(tree, "sys/class/infiniband_mad/umad1/ibdev", "mlx5_0\n");
	tree_write(tree, "sys/class/infiniband_mad/umad1/port", "2\n");
	tree_write(tree, "sys/class/infiniband_mad/umad2/ibdev", "mlx5_0\n");
	tree_write(tree, "sys/class/infiniband_mad/umad2/port", "1\n");
	tree_write(tree, "sys/class/infiniband_mad/umad3/ibdev", "mlx5_2\n"); /* no port */
	tree_mkdir(tree, "sys/class/misc/rdma_cm");
	readiness = collect(fixture);
	assert_int_equal(readiness->node_count, 7);
	assert_string_equal(rna_readiness_find_node(readiness, "mlx5_0", 0)->name, "uverbs1");
	assert_string_equal(rna_readiness_find_node(readiness, "mlx5_1", 0)->name, "uverbs0");
	assert_string_equal(rna_readiness_find_node(readiness, "mlx5_0", 1)->name, "umad2");
	assert_string_equal(rna_readiness_find_node(readiness, "mlx5_0", 2)->name, "umad1");
	assert_string_equal(rna_readiness_find_node(readiness, "mlx5_1", 1)->name, "umad0");
	assert_null(rna_readiness_find_node(readiness, "mlx5_1", 2));
	assert_null(rna_readiness_find_node(readiness, "mlx5_2", 0));
	assert_null(rna_readiness_find_node(NULL, "mlx5_0", 0));
}

/* -- The machine ------------------------------------------------------------------------------- */

#define CPU(flags) "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: " flags "\nbugs\t\t:\n"

static void test_a_virtual_machine_is_known_by_its_cpus(void **state)
{
	static const struct {
		const char *cpus, *vendor, *product;
		struct rna_value expected;
	} cases[] = {
		{CPU("fpu vme hypervisor lahf_lm"), NULL, NULL, YES},
		{CPU("fpu vme hypervisor"), NULL, NULL, YES},
		{CPU("fpu vme nohypervisor hypervisors"), NULL, NULL, NO},
		{CPU("fpu vme"), "QEMU", "Standard PC", NO}, /* the CPU knows better */
		{"flags\t\t:\n", NULL, NULL, NO},            /* of a recording */
		{"flags\t\t: hypervisor\n", NULL, NULL, YES},
		{"Features\t: fp asimd\n", NULL, NULL, UNKNOWN},
		{"Features\t: fp asimd\n", "NVIDIA", "GB200 NVL", NO},
		{"Features\t: fp asimd\n", "QEMU", "KVM Virtual Machine", YES},
		{"Features\t: fp asimd\n", "Amazon EC2", "c7gn.16xlarge", YES},
		{"Features\t: fp asimd\n", "Amazon EC2", "c7gn.metal", NO},
		{"Features\t: fp asimd\n", "Microsoft Corporation", "Virtual Machine", YES},
		{"Features\t: fp asimd\n", "Microsoft Corporation", "C2080", NO},
		{"", NULL, NULL, UNKNOWN},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		struct rna_value found;

		tree_write(&fixture->tree, "proc/cpuinfo", cases[i].cpus);
		tree_write(&fixture->tree, "sys/class/dmi/id/sys_vendor",
			   cases[i].vendor ? cases[i].vendor : "");
		tree_write(&fixture->tree, "sys/class/dmi/id/product_name",
			   cases[i].product ? cases[i].product : "");
		found = collect(fixture)->virtual_machine;
		if (found.state != cases[i].expected.state ||
		    found.number != cases[i].expected.number)
			fail_msg("case %zu: %s %ju", i, rna_value_state_name(found.state),
				 (uintmax_t)found.number);
	}
}

#define POLICY(n) "sys/devices/system/cpu/cpufreq/policy" #n

static void test_governors_are_counted(void **state)
{
	struct fixture *fixture = *state;
	const struct tree *tree = &fixture->tree;
	const struct rna_cpu_frequency *frequency;

	assert_null(collect(fixture)->cpu_frequency.driver);
	tree_mkdir(tree, "sys/devices/system/cpu/cpufreq/boost");
	tree_write(tree, POLICY(0) "/scaling_driver", "acpi-cpufreq\n");
	tree_write(tree, POLICY(0) "/scaling_governor", "schedutil\n");
	tree_write(tree, POLICY(1) "/scaling_governor", "performance\n");
	tree_write(tree, POLICY(2) "/scaling_governor", "schedutil\n");
	tree_mkdir(tree, POLICY(3)); /* its CPUs are offline */
	frequency = &collect(fixture)->cpu_frequency;
	assert_string_equal(frequency->driver, "acpi-cpufreq");
	assert_int_equal(frequency->governor_count, 2);
	assert_string_equal(frequency->governors[0].name, "performance");
	assert_int_equal(frequency->governors[0].policies, 1);
	assert_string_equal(frequency->governors[1].name, "schedutil");
	assert_int_equal(frequency->governors[1].policies, 2);
}

#define GPU(n) "sys/bus/pci/drivers/nvidia/0000:1" #n ":00.0"

static void test_the_iommu_of_gpus(void **state)
{
	struct fixture *fixture = *state;
	const struct tree *tree = &fixture->tree;
	const struct rna_readiness *readiness;

	tree_mkdir(tree, GPU(0));
	readiness = collect(fixture);
	assert_null(readiness->iommu);
	assert_int_equal(readiness->gpu_iommu.state, RNA_VALUE_ABSENT); /* an old recording */
	tree_mkdir(tree, "sys/class/iommu");
	readiness = collect(fixture);
	assert_null(readiness->iommu);
	assert_int_equal(readiness->gpu_iommu.state, RNA_VALUE_OK);
	assert_int_equal(readiness->gpu_iommu.number, RNA_IOMMU_OFF);
	tree_mkdir(tree, "sys/class/iommu/dmar0");
	tree_write(tree, GPU(0) "/iommu_group/type", "identity\n");
	tree_write(tree, GPU(1) "/iommu_group/type", "DMA-FQ\n");
	tree_write(tree, GPU(2) "/iommu_group/type", "blocked\n");
	tree_write(tree, "sys/bus/pci/drivers/nvidia/module/iommu_group/type", "DMA\n");
	readiness = collect(fixture);
	assert_string_equal(readiness->iommu, "intel");
	assert_int_equal(readiness->gpu_iommu.number, RNA_IOMMU_LAZY);
	tree_mkdir(tree, GPU(3) "/iommu_group"); /* Linux 5.10 has no type */
	assert_int_equal(collect(fixture)->gpu_iommu.number, RNA_IOMMU_LAZY);
}

static const struct rna_nccl_file *read_nccl(struct fixture *fixture)
{
	static struct rna_nccl_file file;

	file = (struct rna_nccl_file){0};
	assert_int_equal(rna_read_nccl_file(fixture->tree.root, fixture->arena, fixture->arena,
					    &file),
			 0);
	return &file;
}

/* As NCCL reads it: no blanks, the first line of a name counts, and "#" is at the very beginning.
 */
static void test_lines_of_nccl_conf(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_nccl_file *file = read_nccl(fixture);

	assert_false(file->exists);
	tree_write(&fixture->tree, "sys/class/net/eth0/type", "1\n");
	tree_write(&fixture->tree, "sys/class/net/ens1f0/type", "1\n");
	tree_write(&fixture->tree, "etc/nccl.conf",
		   "#NCCL_IB_DISABLE=1\n"
		   "NCCL_DEBUG=WARN\n\n"
		   "NCCL_IB_HCA==mlx5_0,mlx5_1\n"
		   "NCCL_IB_HCA=mlx5_2\n"
		   " NCCL_IB_GID_INDEX=3\n"
		   "NCCL_SOCKET_IFNAME=ens,eno");
	file = read_nccl(fixture);
	assert_true(file->exists);
	assert_null(file->values[RNA_NCCL_FILE_IB_DISABLE]);
	assert_string_equal(file->values[RNA_NCCL_FILE_IB_HCA], "=mlx5_0,mlx5_1");
	assert_null(file->values[RNA_NCCL_FILE_IB_GID_INDEX]); /* another name for NCCL */
	assert_string_equal(file->values[RNA_NCCL_FILE_SOCKET_IFNAME], "ens,eno");
	assert_int_equal(file->interfaces.number, 1);
	tree_write(&fixture->tree, "etc/nccl.conf", "NCCL_SOCKET_IFNAME=^eth\n");
	assert_int_equal(read_nccl(fixture)->interfaces.number, 1);
	tree_write(&fixture->tree, "etc/nccl.conf", "NCCL_SOCKET_IFNAME=bond\n");
	assert_int_equal(read_nccl(fixture)->interfaces.number, 0);
	assert_true(rna_value_is_known(read_nccl(fixture)->interfaces));
	tree_write(&fixture->tree, "etc/nccl.conf", "NCCL_SOCKET_IFNAME=\n");
	assert_false(rna_value_is_known(read_nccl(fixture)->interfaces));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_gpudirect_is_judged_as_libraries_do, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_versions_of_nvidia, set_up, tear_down),
		cmocka_unit_test(test_parameters_of_nvidia),
		cmocka_unit_test(test_limits),
		cmocka_unit_test_setup_teardown(test_units_hide_each_other, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_kernel_may_do_peer_to_peer, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_of_an_empty_node_nothing_is_known, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_the_machine_has_a_name_and_no_number, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_machine_whose_name_is_unreadable, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_configuration_keeps_modules_from_being_loaded,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_kernel_has_its_modules, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_it_is_known_why_a_driver_has_no_rdma, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_what_is_built_in_is_loaded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_gpudirect_is_known_where_modules_are, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_peer_memory_is_where_libraries_look, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_platforms_are_known_by_their_gpu, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_device_files_are_missed_only_in_a_whole_dev,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_device_files_are_found_by_device_and_port,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_device_files_of_ports_and_of_gdrcopy, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_virtual_machine_is_known_by_its_cpus, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_governors_are_counted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_iommu_of_gpus, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lines_of_nccl_conf, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
