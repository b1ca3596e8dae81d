// SPDX-License-Identifier: Apache-2.0
/*
 * readiness: what a node needs besides working devices: drivers, modules, device files, limits,
 * governors of CPUs (readiness_host.c).
 *
 * It describes the host. In a container the paths are the host's if the root is. A container's own
 * files prove nothing: a /dev without the kernel log is not the host's, so missing device files are
 * not reported there, and modules are listed only if ib_core is.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "rna/base/parse.h"
#include "rna/model/driver.h"

#include "processes/runtime_limits.h"

#include "collectors.h"
#include "readiness_sources.h"

#define NVIDIA "proc/driver/nvidia"
#define VERBS  "sys/class/infiniband_verbs"
#define MADS   "sys/class/infiniband_mad"
#define DMI    "sys/class/dmi/id"

#define DEVICE_FILES "dev/infiniband"
/* A file that is missing in a /dev made for a container or a service. */
#define WITNESS "dev/kmsg"

struct run {
	const struct rna_root *root;
	struct rna_part *part;
	struct rna_arena *keep; /* arena of the part */
	struct rna_arena *scratch;
	bool no_memory;
	char text[RNA_ATTRIBUTE_MAX + 1];
};

static const char *join(struct run *run, const char *directory, const char *name)
{
	const char *path = rna_arena_printf(run->scratch, "%s/%s", directory, name);

	run->no_memory |= !path;
	return path ? path : "";
}

static bool exists(struct run *run, const char *directory, const char *name)
{
	return rna_root_exists(run->root, join(run, directory, name));
}

/* The text, valid until the next call. NULL: missing, or unreadable, which is counted. */
static char *read_text(struct run *run, const char *path)
{
	ssize_t len = rna_root_read(run->root, path, run->text, sizeof(run->text));

	if (len < 0 && len != -ENOENT && len != -ENOTDIR)
		rna_part_count_error(run->part, (int)len);
	return len < 0 ? NULL : run->text;
}

static const char *keep(struct run *run, const char *text)
{
	return text && *text ? rna_arena_keep(run->keep, text, &run->no_memory) : NULL;
}

static size_t list(struct run *run, const char *directory, char ***ret)
{
	ssize_t count = rna_root_list(run->root, directory, run->scratch, ret);

	run->no_memory |= count == -ENOMEM;
	return count < 0 ? 0 : (size_t)count;
}

static size_t count_words(const char *const *words)
{
	size_t count = 0;

	while (words[count])
		count++;
	return count;
}

/* -- The machine ------------------------------------------------------------------------------- */

static const char *read_dmi_text(struct run *run, const char *path, struct rna_dmi *dmi)
{
	ssize_t len = rna_root_read(run->root, path, run->text, sizeof(run->text));

	if (len < 0 && !rna_error_is_absence((int)len)) {
		rna_part_count_error(run->part, (int)len);
		dmi->unreadable = true;
	}
	return len < 0 ? NULL : keep(run, run->text);
}

static void read_dmi(struct run *run, struct rna_dmi *dmi)
{
	dmi->vendor = read_dmi_text(run, DMI "/sys_vendor", dmi);
	dmi->product = read_dmi_text(run, DMI "/product_name", dmi);
	dmi->board = read_dmi_text(run, DMI "/board_name", dmi);
	dmi->asset_tag = read_dmi_text(run, DMI "/chassis_asset_tag", dmi);
}

/* -- GPUs -------------------------------------------------------------------------------------- */

static void read_nvidia(struct run *run, struct rna_gpu_driver *driver)
{
	const char *text = read_text(run, NVIDIA "/version");

	if (!text)
		return;
	driver->name = "nvidia";
	rna_parse_nvidia_version(text, run->keep, driver);
	text = read_text(run, NVIDIA "/params");
	if (text)
		rna_parse_nvidia_params(text, driver);
}

/* amdkfd, the compute part of amdgpu, enables RDMA to GPU memory. */
static void read_amd(struct run *run, const char *kernel, struct rna_gpu_driver *driver)
{
	if (driver->name || !rna_root_exists(run->root, "sys/class/kfd/kfd"))
		return;
	driver->name = "amdgpu";
	driver->version = keep(run, read_text(run, "sys/module/amdgpu/version"));
	driver->open = rna_value_ok(1);
	rna_read_kernel_p2p(run->root, kernel, run->scratch, driver);
}

/*
 * The files that libraries look for before they register GPU memory by address. NCCL:
 * ibGdrSupportInitOnce() in src/transport/net_ib.cc; 2.22 and older look at memory_peers alone,
 * which ib_core of NVIDIA's packages has and those of distributions lack; 2.23 to 2.30 at the
 * module, too. RCCL: ncclIbGdrSupport() there (0cbce2a7): three places, by the package that ib_core
 * is of.
 */
static const struct {
	const char *driver, *file, *name;
	bool newer;
} peer_signs[] = {
	{"nvidia", "sys/kernel/mm/memory_peers/nv_mem/version",
	 "/sys/kernel/mm/memory_peers/nv_mem"},
	{"nvidia", "sys/kernel/mm/memory_peers/nv_mem_nc/version",
	 "/sys/kernel/mm/memory_peers/nv_mem_nc"},
	{"nvidia", "sys/module/nvidia_peermem/version", "the module nvidia_peermem", true},
	{"amdgpu", "sys/kernel/mm/memory_peers/amdkfd/version",
	 "/sys/kernel/mm/memory_peers/amdkfd"},
	{"amdgpu", "sys/kernel/memory_peers/amdkfd/version", "/sys/kernel/memory_peers/amdkfd"},
	{"amdgpu", "sys/memory_peers/amdkfd/version", "/sys/memory_peers/amdkfd"},
};

/* If modules are not visible, none counts as missing. */
static void read_peer_memory(struct run *run, struct rna_readiness *readiness)
{
	struct rna_value *ret = &readiness->gpudirect[RNA_GPUDIRECT_PEER_MEMORY];
	const char *driver = readiness->gpu_driver.name;

	if (rna_root_exists(run->root, "sys/module/ib_core"))
		*ret = rna_value_ok(0);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(peer_signs) && !readiness->peer_memory; i++)
		if (strcmp(peer_signs[i].driver, driver) == 0 &&
		    rna_root_exists(run->root, peer_signs[i].file)) {
			readiness->peer_memory = peer_signs[i].name;
			readiness->peer_memory_newer = peer_signs[i].newer;
		}
	if (!readiness->peer_memory && strcmp(driver, "amdgpu") == 0 && rna_value_is_known(*ret)) {
		*ret = rna_read_kernel_symbol(run->root, RNA_PEER_MEMORY_SYMBOL);
		if (rna_value_is_known(*ret) && ret->number)
			readiness->peer_memory = RNA_PEER_MEMORY_SYMBOL " in /proc/kallsyms";
	}
	if (readiness->peer_memory)
		*ret = rna_value_ok(1);
}

static void read_gpus(struct run *run, struct rna_readiness *readiness)
{
	struct rna_gpu_driver *driver = &readiness->gpu_driver;

	read_nvidia(run, driver);
	read_amd(run, readiness->kernel, driver);
	if (!driver->name)
		return;
	read_peer_memory(run, readiness);
	run->no_memory |= rna_gpudirect_judge(readiness, run->keep) < 0;
}

/* -- Modules ----------------------------------------------------------------------------------- */

/* Does a driver of auxiliary devices belong to it? They are named "mlx5_ib.rdma". */
static bool has_auxiliary_driver(struct run *run, const char *module)
{
	size_t len = strlen(module);
	char **names;
	ssize_t count = rna_root_list(run->root, "sys/bus/auxiliary/drivers", run->scratch, &names);

	for (ssize_t i = 0; i < count; i++)
		if (strncmp(names[i], module, len) == 0 && names[i][len] == '.')
			return true;
	return false;
}

/*
 * A built-in module is in sys/module only if it has parameters; others are detected by their
 * effects.
 */
static bool is_built_in(struct run *run, const char *module)
{
	static const struct {
		const char *module, *sign;
	} signs[] = {
		{"ib_uverbs", "sys/class/infiniband_verbs"},
		{"ib_umad", "sys/class/infiniband_mad"},
		{"rdma_ucm", "sys/class/misc/rdma_cm"},
	};

	for (size_t i = 0; i < RNA_ARRAY_SIZE(signs); i++)
		if (strcmp(signs[i].module, module) == 0)
			return rna_root_exists(run->root, signs[i].sign);
	return has_auxiliary_driver(run, module);
}

static void add_module(struct run *run, struct rna_readiness *readiness,
		       struct rna_module **modules, const char *name)
{
	for (size_t i = 0; i < readiness->module_count; i++)
		if (strcmp((*modules)[i].name, name) == 0)
			return;
	if (!RNA_GROW(*modules, readiness->module_count, run->keep)) {
		run->no_memory = true;
		return;
	}
	(*modules)[readiness->module_count++] = (struct rna_module){
		.name = name,
		.loaded = exists(run, "sys/module", name) || is_built_in(run, name),
	};
}

static void add_driver(struct run *run, struct rna_readiness *readiness,
		       struct rna_module **modules, const struct rna_driver *driver)
{
	add_module(run, readiness, modules, driver->name);
	add_module(run, readiness, modules, driver->rdma);
}

/* Is the driver loaded without its RDMA half? */
static bool is_partial(struct run *run, const struct rna_driver *driver)
{
	return exists(run, "sys/module", driver->name) && !exists(run, "sys/module", driver->rdma);
}

/* Is one of the drivers partial, or none there that makes RDMA devices? */
static bool lacks_module(struct run *run)
{
	const struct rna_driver *driver;
	bool any = false;

	for (size_t at = 0; (driver = rna_driver_next(&at));) {
		if (is_partial(run, driver))
			return true;
		any |= exists(run, "sys/module", driver->rdma);
	}
	return !any;
}

/* Why modules are not loaded. Drivers that are kept from it are listed, too. */
static void explain_modules(struct run *run, struct rna_readiness *readiness,
			    struct rna_module **modules)
{
	const struct rna_driver *driver;
	struct rna_blacklist blacklist;

	run->no_memory |= rna_read_blacklist(run->root, run->scratch, &blacklist) < 0;
	for (size_t at = 0; (driver = rna_driver_next(&at));)
		if (rna_blacklist_find(&blacklist, driver->name) ||
		    rna_blacklist_find(&blacklist, driver->rdma))
			add_driver(run, readiness, modules, driver);
	for (size_t i = 0; i < readiness->module_count; i++)
		if (!(*modules)[i].loaded)
			(*modules)[i].blacklist =
				keep(run, rna_blacklist_find(&blacklist, (*modules)[i].name));
	for (size_t at = 0; (driver = rna_driver_next(&at));)
		for (size_t i = 0; is_partial(run, driver) && i < readiness->module_count; i++)
			if (strcmp((*modules)[i].name, driver->rdma) == 0)
				(*modules)[i].installed =
					rna_read_module_installed(run->root, readiness->kernel,
								  driver->rdma, run->scratch);
}

/*
 * ib_core comes first: without it the others of that list are unknown, and all if it has a class
 * all the same. Without the class, the RDMA half of a driver that is loaded is known to be missing.
 */
static void read_modules(struct run *run, struct rna_readiness *readiness)
{
	bool stack = exists(run, "sys/module", rna_module_names[0]);
	struct rna_module *modules = NULL;
	const struct rna_driver *driver;
	const char *text;

	if (!stack && rna_root_exists(run->root, "sys/class/infiniband"))
		return;
	for (const char *const *name = rna_module_names; stack && *name; name++)
		add_module(run, readiness, &modules, *name);
	for (size_t at = 0; (driver = rna_driver_next(&at));)
		if (exists(run, "sys/module", driver->name) ||
		    exists(run, "sys/module", driver->rdma))
			add_driver(run, readiness, &modules, driver);
	if (lacks_module(run))
		explain_modules(run, readiness, &modules);
	readiness->modules = modules;
	text = read_text(run, "sys/module/ib_core/parameters/netns_mode");
	if (text && (strcmp(text, "Y") == 0 || strcmp(text, "N") == 0))
		readiness->netns_exclusive = rna_value_ok(*text == 'N');
}

/* -- Device files ------------------------------------------------------------------------------ */

static void read_node(struct run *run, const char *directory, bool whole,
		      struct rna_device_node *node)
{
	const char *path = join(run, directory, node->name);
	RNA_CLOSE int fd = rna_root_openat(run->root, path, O_PATH | O_NOFOLLOW);
	struct stat stat;

	if (fd == -ENOENT && whole)
		node->missing = true;
	if (fd < 0 || fstat(fd, &stat) < 0)
		return;
	/* A recording has a regular file instead of the device file. */
	if (S_ISCHR(stat.st_mode) || !rna_root_is_live(run->root))
		node->mode = rna_value_ok(stat.st_mode & 0777);
}

static int compare_nodes(const void *a, const void *b)
{
	return rna_device_node_compare(a, b);
}

/* The files of one class, sorted: of devices, or of ports. Returns how many there are. */
static size_t read_class(struct run *run, const char *class, char **names, size_t count, bool whole,
			 struct rna_device_node *nodes)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		const char *directory = join(run, class, names[i]), *text;
		struct rna_device_node *node = &nodes[kept];
		uint64_t port, abi;

		/* ibdev: abi_version is not a device. issm: for subnet managers, not on all
		 * platforms. */
		text = strncmp(names[i], "issm", 4) == 0
			       ? NULL
			       : read_text(run, join(run, directory, "ibdev"));
		if (!text)
			continue;
		node->device = keep(run, text);
		text = read_text(run, join(run, directory, "port"));
		if (text && rna_parse_u64(text, &port) == 0 && port <= UINT8_MAX)
			node->port = (unsigned)port;
		text = read_text(run, join(run, directory, "abi_version"));
		if (text && rna_parse_u64(text, &abi) == 0)
			node->abi = rna_value_ok(abi);
		node->name = keep(run, names[i]);
		if (!node->name)
			continue;
		read_node(run, DEVICE_FILES, whole, node);
		kept++;
	}
	if (kept > 0)
		qsort(nodes, kept, sizeof(*nodes), compare_nodes);
	return kept;
}

/*
 * The device files that should exist according to the kernel: uverbs of each RDMA device, umad of
 * each port that has MADs, rdma_cm, and gdrdrv. The kernel makes no file for the latter: its
 * scripts or a udev rule do (register_chrdev() in src/gdrdrv/gdrdrv.c of NVIDIA/gdrcopy, 2.5).
 */
static void read_nodes(struct run *run, struct rna_readiness *readiness)
{
	bool whole = rna_root_exists(run->root, WITNESS);
	char **names = NULL, **mads = NULL;
	size_t count = list(run, VERBS, &names), mad_count = list(run, MADS, &mads), kept;
	struct rna_device_node *nodes =
		rna_arena_array(run->keep, count + mad_count + 2, sizeof(*nodes));

	run->no_memory |= !nodes;
	if (!nodes)
		return;
	kept = read_class(run, VERBS, names, count, whole, nodes);
	kept += read_class(run, MADS, mads, mad_count, whole, nodes + kept);
	if (exists(run, "sys/class/misc", "rdma_cm")) {
		nodes[kept].name = "rdma_cm";
		read_node(run, DEVICE_FILES, whole, &nodes[kept++]);
	}
	if (exists(run, "sys/module", "gdrdrv")) {
		nodes[kept].name = "gdrdrv";
		read_node(run, "dev", whole, &nodes[kept++]);
	}
	readiness->nodes = nodes;
	readiness->node_count = kept;
}

/* -- Container runtimes ------------------------------------------------------------------------ */

static void read_runtimes(struct run *run, struct rna_readiness *readiness)
{
	size_t count = count_words(rna_readiness_units);
	struct rna_runtime *runtimes = rna_arena_array(run->keep, count, sizeof(*runtimes));

	run->no_memory |= !runtimes;
	readiness->runtimes = runtimes;
	for (size_t i = 0; runtimes && i < count; i++) {
		struct rna_runtime *runtime = &runtimes[readiness->runtime_count];
		int status = rna_read_memlock(run->root, rna_readiness_units[i], run->scratch,
					      &runtime->memlock);

		run->no_memory |= status == -ENOMEM;
		if (status < 0)
			continue;
		runtime->unit = rna_readiness_units[i];
		run->no_memory |= rna_read_runtime_spec(run->root, run->keep, runtime) < 0;
		readiness->runtime_count++;
	}
	if (runtimes && readiness->runtime_count > 0)
		run->no_memory |= rna_read_process_limits(run->root, run->keep, runtimes,
							  readiness->runtime_count,
							  &readiness->containers) < 0;
}

static int read_all(const struct rna_collect_input *in, struct rna_readiness *readiness,
		    struct rna_arena *scratch)
{
	struct rna_arena *keeps = readiness->part.arena;
	struct run run = {.root = in->root,
			  .part = &readiness->part,
			  .scratch = scratch,
			  .keep = keeps};

	readiness->kernel = keep(&run, read_text(&run, "proc/sys/kernel/osrelease"));
	read_dmi(&run, &readiness->dmi);
	run.no_memory |= rna_read_host(in->root, scratch, keeps, readiness) < 0;
	read_gpus(&run, readiness);
	run.no_memory |= rna_read_nccl_file(in->root, scratch, keeps, &readiness->nccl_file) < 0;
	read_modules(&run, readiness);
	read_nodes(&run, readiness);
	read_runtimes(&run, readiness);
	return run.no_memory ? -ENOMEM : 0;
}

RNA_DEFINE_COLLECT(readiness, READINESS, struct rna_readiness, 2048, 4096,
		   "node: cannot read readiness", read_all(in, part, scratch))
