/* SPDX-License-Identifier: Apache-2.0 */
/* What is read of the node as a whole, for the collector and for recordings; texts of its files. */
#pragma once

#include "rna/base/root.h"
#include "rna/model/readiness.h"

/* Tables that end with NULL. */
extern const char *const rna_readiness_files[];   /* copied as they are */
extern const char *const rna_readiness_modules[]; /* names below sys/module */
/* A part of the kernel is in sys/module only if it has parameters; these are told by what they do.
 */
bool rna_readiness_is_built_in(const struct rna_root *root, const char *module);
extern const char *const rna_readiness_units[]; /* of systemd */

#define RNA_DEV_INFINIBAND "dev/infiniband"
/* What a /dev that was made for a container or a service does not have. */
#define RNA_DEV_WITNESS "dev/kmsg"

/* The version and kind of NVIDIA's driver, from its file; texts in arena. */
void rna_parse_nvidia_version(const char *text, struct rna_arena *arena,
			      struct rna_gpu_driver *ret);
void rna_parse_nvidia_params(const char *text, struct rna_gpu_driver *ret);

/* "infinity", "8M", "64K:64M" (the first counts). 0 or -EBADMSG. */
int rna_parse_limit(const char *text, uint64_t *ret);

/*
 * The limit of locked memory that a unit and its drop-ins give. 0 with *ret absent when they do not
 * say; -ENOENT: there is no such unit; or -ENOMEM.
 */
int rna_read_memlock(const struct rna_root *root, const char *unit, struct rna_arena *arena,
		     struct rna_value *ret);

/* 1, 0, or absent when there is no configuration to look into. */
struct rna_value rna_read_kernel_p2p(const struct rna_root *root, const char *kernel,
				     struct rna_arena *arena);
