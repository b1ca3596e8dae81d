// SPDX-License-Identifier: Apache-2.0
#include <string.h>

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

struct rna_value rna_dma_buf_possible(const char *kernel, const struct rna_gpu_driver *driver)
{
	const struct rna_value unknown = {0};

	if (!kernel || !driver->name)
		return unknown;
	if (!is_at_least(kernel, "5.12"))
		return strstr(kernel, ".el8") ? unknown : yes_or_no(false);
	if (strcmp(driver->name, "nvidia") != 0)
		return driver->peer_to_peer;
	if (!rna_value_is_known(driver->open) || !driver->version)
		return unknown;
	return yes_or_no(driver->open.number && is_at_least(driver->version, "515"));
}

const struct rna_module *rna_module_find(const struct rna_readiness *readiness, const char *name)
{
	for (size_t i = 0; readiness && i < readiness->module_count; i++)
		if (strcmp(readiness->modules[i].name, name) == 0)
			return &readiness->modules[i];
	return NULL;
}

struct rna_value rna_module_loaded(const struct rna_readiness *readiness, const char *name)
{
	const struct rna_module *module = rna_module_find(readiness, name);

	return module ? yes_or_no(module->loaded) : (struct rna_value){0};
}
