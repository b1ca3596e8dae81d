/* SPDX-License-Identifier: Apache-2.0 */
/* Parsers for the files of readiness: of NVIDIA's driver, of systemd units, and of the kernel. */
#pragma once

#include "rna/base/root.h"
#include "rna/model/readiness.h"

extern const char *const rna_readiness_units[]; /* systemd units; NULL-terminated */

/* Version and kind (open or proprietary) of NVIDIA's driver, from its file; texts in arena. */
void rna_parse_nvidia_version(const char *text, struct rna_arena *arena,
			      struct rna_gpu_driver *ret);
void rna_parse_nvidia_params(const char *text, struct rna_gpu_driver *ret);

/* Parses "infinity", "8M", "64K:64M" (uses the first). 0 or -EBADMSG. */
int rna_parse_limit(const char *text, uint64_t *ret);

/*
 * The limit of locked memory in a unit and its drop-ins. 0, with *ret absent if they do not set it;
 * -ENOENT: no such unit; or -ENOMEM.
 */
int rna_read_memlock(const struct rna_root *root, const char *unit, struct rna_arena *arena,
		     struct rna_value *ret);

/* Do the CPUs say that they are those of a virtual machine? Absent: they do not say, or cannot. */
struct rna_value rna_read_cpu_is_virtual(const struct rna_root *root);

/*
 * What the machine is and how it is set up: platform, virtual_machine, cpu_frequency, iommu,
 * gpu_iommu. dmi is read already. Texts in keep. 0 or -ENOMEM.
 */
int rna_read_host(const struct rna_root *root, struct rna_arena *scratch, struct rna_arena *keep,
		  struct rna_readiness *readiness);

/* /etc/nccl.conf; texts in keep. 0 or -ENOMEM. */
int rna_read_nccl_file(const struct rna_root *root, struct rna_arena *scratch,
		       struct rna_arena *keep, struct rna_nccl_file *ret);

/* Modules that configuration keeps from being loaded, and by which file. */
struct rna_blacklist {
	size_t count;
	struct rna_blacklisted {
		const char *module, *path;
	} * items;
	bool failed; /* no memory */
};

#define RNA_COMMAND_LINE "/proc/cmdline"

/* All of it, in arena. 0 or -ENOMEM. */
int rna_read_blacklist(const struct rna_root *root, struct rna_arena *arena,
		       struct rna_blacklist *ret);
/* The file that names the module; NULL: none. */
const char *rna_blacklist_find(const struct rna_blacklist *list, const char *module);
/* A file of modprobe.d(5), and the command line of the kernel, which are taken apart. */
void rna_parse_modprobe(char *text, const char *path, struct rna_arena *arena,
			struct rna_blacklist *ret);
void rna_parse_command_line(char *text, const char *path, struct rna_arena *arena,
			    struct rna_blacklist *ret);

/* Does the running kernel have the module, 1 or 0? Absent: /lib/modules cannot be read. */
struct rna_value rna_read_module_installed(const struct rna_root *root, const char *kernel,
					   const char *module, struct rna_arena *arena);
/* Is the file that the line of modules.dep or modules.builtin begins with that of the module? */
bool rna_is_module_file(const char *line, const char *module);

/* Sets peer_to_peer and missing_option; not if the kernel configuration is not available. */
void rna_read_kernel_p2p(const struct rna_root *root, const char *kernel, struct rna_arena *arena,
			 struct rna_gpu_driver *ret);

/* Kernels whose own ib_core has peer memory have no file that shows it. */
#define RNA_PEER_MEMORY_SYMBOL "ib_register_peer_memory_client"

/* Has the kernel that function, exported or not? 1, 0, or unreadable: the agent may not see it. */
struct rna_value rna_read_kernel_symbol(const struct rna_root *root, const char *name);
