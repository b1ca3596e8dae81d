// SPDX-License-Identifier: Apache-2.0
/*
 * Can NICs access the memory of GPUs? As the libraries decide it, and by what was read: never by
 * what may be the cause.
 */
#include <errno.h>
#include <string.h>

#include "rna/base/arena.h"
#include "rna/base/parse.h"
#include "rna/model/readiness.h"

const char *const rna_module_names[] = {
	"ib_core",   "ib_uverbs",      "ib_umad",     "rdma_cm", "rdma_ucm",
	"mlx5_core", "mlx5_ib",        "bnxt_en",     "bnxt_re", "ice",
	"irdma",     "nvidia_peermem", "nv_peer_mem", "gdrdrv",  NULL,
};

static struct rna_value yes_or_no(bool yes)
{
	return rna_value_ok(yes ? 1 : 0);
}

static bool is_at_least(const char *version, const char *wanted)
{
	return rna_compare_names(version, wanted) >= 0;
}

/* Each returns what was read that decides it; NULL: *ret is not known, or no memory. */

static const char *judge_nvidia(const struct rna_readiness *readiness, struct rna_arena *arena,
				struct rna_value *ret)
{
	const struct rna_gpu_driver *driver = &readiness->gpu_driver;

	if (!rna_value_is_known(driver->open) || !driver->version)
		return NULL;
	*ret = yes_or_no(driver->open.number && is_at_least(driver->version, "515"));
	if (!driver->open.number)
		return rna_arena_printf(arena,
					"the kernel modules of nvidia %s are the "
					"proprietary ones",
					driver->version);
	return rna_arena_printf(arena, "nvidia %s has open kernel modules%s", driver->version,
				ret->number ? "" : ", but is older than 515");
}

/* RCCL looks for two options (src/misc/rocmwrap.cc, 0cbce2a7). */
static const char *judge_amd(const struct rna_readiness *readiness, struct rna_arena *arena,
			     struct rna_value *ret)
{
	const struct rna_gpu_driver *driver = &readiness->gpu_driver;

	*ret = driver->peer_to_peer;
	if (!rna_value_is_known(*ret))
		return NULL;
	return rna_arena_printf(arena, "/boot/config-%s has %s%s", readiness->kernel,
				ret->number ? "what RCCL looks for" : "no ",
				ret->number ? "" : driver->missing_option);
}

static const char *judge_dma_buf(const struct rna_readiness *readiness, struct rna_arena *arena,
				 struct rna_value *ret)
{
	const char *kernel = readiness->kernel;

	if (!kernel)
		return NULL;
	if (is_at_least(kernel, "5.12"))
		return (strcmp(readiness->gpu_driver.name, "nvidia") == 0
				? judge_nvidia
				: judge_amd)(readiness, arena, ret);
	if (strstr(kernel, ".el8"))
		return NULL;
	*ret = yes_or_no(false);
	return rna_arena_printf(arena, "Linux %s is older than 5.12", kernel);
}

static const char *name_places(const struct rna_readiness *readiness)
{
	return strcmp(readiness->gpu_driver.name, "nvidia") == 0
		       ? "nothing in /sys/kernel/mm/memory_peers, and nvidia_peermem is not loaded"
	       : readiness->gpudirect[RNA_GPUDIRECT_PEER_MEMORY].state == RNA_VALUE_UNREADABLE
		       ? "no amdkfd in memory_peers, and /proc/kallsyms, where RCCL looks as "
			 "well, is hidden from the agent"
		       : "no amdkfd in memory_peers, and the kernel has no "
			 "ib_register_peer_memory_client";
}

static bool is_zero(struct rna_value value)
{
	return rna_value_is_known(value) && value.number == 0;
}

static const char *judge_both(struct rna_readiness *readiness, struct rna_arena *arena)
{
	struct rna_value *peer = &readiness->gpudirect[RNA_GPUDIRECT_PEER_MEMORY];
	struct rna_value *buffer = &readiness->gpudirect[RNA_GPUDIRECT_DMA_BUF];
	const char *of_buffer = judge_dma_buf(readiness, arena, buffer);

	if (readiness->peer_memory) {
		bool newer = readiness->peer_memory_newer && is_zero(*buffer);

		readiness->gpudirect_state =
			newer ? RNA_GPUDIRECT_READY_FOR_NEWER : RNA_GPUDIRECT_READY;
		return newer ? of_buffer : readiness->peer_memory;
	}
	if (rna_value_is_known(*buffer) && buffer->number) {
		readiness->gpudirect_state = RNA_GPUDIRECT_READY;
		return of_buffer;
	}
	if (!is_zero(*buffer) || peer->state == RNA_VALUE_ABSENT)
		return NULL;
	readiness->gpudirect_state = peer->state == RNA_VALUE_UNREADABLE ? RNA_GPUDIRECT_NOT_SEEN
									 : RNA_GPUDIRECT_NOT_READY;
	return of_buffer ? rna_arena_printf(arena, "no peer memory (%s) and no dma-buf (%s)",
					    name_places(readiness), of_buffer)
			 : NULL;
}

int rna_gpudirect_judge(struct rna_readiness *readiness, struct rna_arena *arena)
{
	if (!readiness->gpu_driver.name)
		return 0;
	if (!readiness->platform.no_gpudirect) {
		readiness->gpudirect_reason = judge_both(readiness, arena);
		return readiness->gpudirect_state && !readiness->gpudirect_reason ? -ENOMEM : 0;
	}
	for (enum rna_gpudirect method = 0; method < RNA_GPUDIRECT_COUNT; method++)
		readiness->gpudirect[method] = yes_or_no(false);
	readiness->gpudirect_state = RNA_GPUDIRECT_IMPOSSIBLE;
	readiness->gpudirect_reason = readiness->platform.no_gpudirect;
	return 0;
}

const struct rna_module *rna_module_find(const struct rna_readiness *readiness, const char *name)
{
	return RNA_FIND(i, readiness->modules, readiness ? readiness->module_count : 0,
			strcmp(readiness->modules[i].name, name) == 0);
}

struct rna_value rna_module_loaded(const struct rna_readiness *readiness, const char *name)
{
	const struct rna_module *module = rna_module_find(readiness, name);

	return module ? yes_or_no(module->loaded) : (struct rna_value){0};
}
