/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that say how ready a node is: of NVIDIA's driver, of units of systemd, of the kernel. */
#pragma once

#include "rna/base/root.h"
#include "rna/model/readiness.h"

extern const char *const rna_readiness_units[]; /* of systemd; NULL ends them */

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
