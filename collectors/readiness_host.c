// SPDX-License-Identifier: Apache-2.0
/*
 * Reads for readiness what the machine is and how it is set up: whether it is a virtual one, the
 * governors of its CPUs, and what its IOMMU does with the addresses of GPUs. All of it is kernel
 * memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rna/base/cleanup.h"
#include "rna/base/parse.h"
#include "rna/model/pcie.h"

#include "parse/pci.h"

#include "readiness_sources.h"

#define CPUFREQ "sys/devices/system/cpu/cpufreq"
#define DRIVERS "sys/bus/pci/drivers"

enum {
	CPU_TEXT_MAX = 8192, /* more than the text of one CPU */
	GOVERNORS_MAX = 16,  /* the kernel has six */
};

/* -- Platforms and virtual machines ------------------------------------------------------------ */

/* The beginning of the list of CPUs, which are alike. 0: not readable. */
static size_t read_cpu(const struct rna_root *root, char text[CPU_TEXT_MAX + 1])
{
	RNA_CLOSE int fd = rna_root_openat(root, "proc/cpuinfo", O_RDONLY | O_NONBLOCK);
	size_t len = 0;
	ssize_t more = 1;

	while (fd >= 0 && more > 0 && len < CPU_TEXT_MAX) {
		more = TEMP_FAILURE_RETRY(read(fd, text + len, CPU_TEXT_MAX - len));
		len += more > 0 ? (size_t)more : 0;
	}
	text[len] = '\0';
	return len;
}

/*
 * x86: CPUID.1:ECX[31], which hypervisors set (arch/x86/kernel/cpu/proc.c prints it as a flag).
 * Absent: no x86, or not known.
 */
struct rna_value rna_read_cpu_is_virtual(const struct rna_root *root)
{
	static const char word[] = "hypervisor";
	char text[CPU_TEXT_MAX + 2] = "\n", *flags, *found;

	if (read_cpu(root, text + 1) == 0)
		return (struct rna_value){0};
	flags = strstr(text, "\nflags\t");
	if (!flags)
		return (struct rna_value){0};
	flags[1 + strcspn(flags + 1, "\n")] = '\0';
	found = strstr(flags, word);
	return rna_value_ok(found && strchr(" \t", found[-1]) &&
			    strchr(" ", found[sizeof(word) - 1]));
}

/* The PCI function with the lowest address that a driver has; its ids. 0 or -ENOMEM. */
static int read_first_gpu(const struct rna_root *root, const char *driver,
			  struct rna_arena *scratch, uint64_t ret[2])
{
	static const char *const files[] = {"vendor", "device"};
	const char *directory = rna_arena_printf(scratch, DRIVERS "/%s", driver);
	char **names = NULL;
	ssize_t count = directory ? rna_root_list(root, directory, scratch, &names) : -ENOMEM;
	ssize_t first = 0;

	while (first < count && !rna_pci_is_address(names[first], strlen(names[first])))
		first++;
	for (size_t i = 0; first < count && i < RNA_ARRAY_SIZE(files); i++) {
		const char *path =
			rna_arena_printf(scratch, "%s/%s/%s", directory, names[first], files[i]);

		if (!path)
			return -ENOMEM;
		(void)rna_root_read_hex(root, path, &ret[i]); /* 0 if it is not readable */
	}
	return count == -ENOMEM ? -ENOMEM : 0;
}

/* Firmware tells of machines other than x86, whose CPUs do not say it. */
static int read_platform(const struct rna_root *root, struct rna_arena *scratch,
			 struct rna_readiness *readiness)
{
	const struct rna_dmi *dmi = &readiness->dmi;
	uint64_t ids[2] = {0, 0};

	if (read_first_gpu(root, "nvidia", scratch, ids) < 0)
		return -ENOMEM;
	readiness->platform = rna_platform_of(dmi, (uint32_t)ids[0], (uint32_t)ids[1]);
	readiness->virtual_machine = rna_read_cpu_is_virtual(root);
	if (!rna_value_is_known(readiness->virtual_machine) && readiness->platform.kind)
		readiness->virtual_machine =
			rna_value_ok(readiness->platform.kind == RNA_PLATFORM_GUEST);
	return 0;
}

/* -- CPU frequency ----------------------------------------------------------------------------- */

static int compare_governors(const void *a, const void *b)
{
	return strcmp(((const struct rna_cpu_governor *)a)->name,
		      ((const struct rna_cpu_governor *)b)->name);
}

/* 0 or -ENOMEM. What is more than the kernel has is left out. */
static int count_governor(const char *name, struct rna_arena *keep,
			  struct rna_cpu_governor *governors, size_t *count)
{
	size_t i = 0;

	while (i < *count && strcmp(governors[i].name, name) != 0)
		i++;
	if (i == GOVERNORS_MAX)
		return 0;
	if (i == *count) {
		governors[i] = (struct rna_cpu_governor){.name = rna_arena_strdup(keep, name)};
		if (!governors[i].name)
			return -ENOMEM;
		++*count;
	}
	governors[i].policies++;
	return 0;
}

/* The driver is the same for all of them (cpufreq_register_driver() takes one). */
static int read_policy(const struct rna_root *root, const char *name, struct rna_arena *scratch,
		       struct rna_arena *keep, struct rna_cpu_frequency *ret,
		       struct rna_cpu_governor *governors)
{
	const char *driver = rna_arena_printf(scratch, CPUFREQ "/%s/scaling_driver", name);
	const char *governor = rna_arena_printf(scratch, CPUFREQ "/%s/scaling_governor", name);
	char text[64];

	if (!driver || !governor)
		return -ENOMEM;
	if (!ret->driver && rna_root_read(root, driver, text, sizeof(text)) > 0) {
		ret->driver = rna_arena_strdup(keep, text);
		if (!ret->driver)
			return -ENOMEM;
	}
	if (rna_root_read(root, governor, text, sizeof(text)) <= 0)
		return 0; /* its CPUs went offline */
	return count_governor(text, keep, governors, &ret->governor_count);
}

static int read_frequency(const struct rna_root *root, struct rna_arena *scratch,
			  struct rna_arena *keep, struct rna_cpu_frequency *ret)
{
	struct rna_cpu_governor *governors =
		rna_arena_array(keep, GOVERNORS_MAX, sizeof(*governors));
	char **names = NULL;
	ssize_t count = rna_root_list(root, CPUFREQ, scratch, &names);
	int status = governors ? 0 : -ENOMEM;

	for (ssize_t i = 0; status == 0 && i < count; i++)
		if (strncmp(names[i], "policy", strlen("policy")) == 0)
			status = read_policy(root, names[i], scratch, keep, ret, governors);
	if (status < 0 || count == -ENOMEM)
		return -ENOMEM;
	qsort(governors, ret->governor_count, sizeof(*governors), compare_governors);
	ret->governors = governors;
	return 0;
}

/* -- IOMMU ------------------------------------------------------------------------------------- */

/* By the names that drivers give IOMMUs: drivers/iommu/intel/dmar.c, amd/init.c, arm. */
static const char *iommu_kind(const char *name)
{
	static const struct {
		const char *prefix, *kind;
	} rows[] = {
		{"dmar", "intel"},
		{"ivhd", "amd"},
		{"smmu", "arm"},
		{"arm-smmu", "arm"},
	};

	for (size_t i = 0; i < RNA_ARRAY_SIZE(rows); i++)
		if (strncmp(name, rows[i].prefix, strlen(rows[i].prefix)) == 0)
			return rows[i].kind;
	return NULL;
}

/* GPUs are the functions that the driver of GPUs has. Of several modes it is the last one. */
static int read_gpus_of(const struct rna_root *root, const char *driver, struct rna_arena *scratch,
			struct rna_value *ret)
{
	const char *directory = rna_arena_printf(scratch, DRIVERS "/%s", driver);
	char **names = NULL;
	ssize_t count = directory ? rna_root_list(root, directory, scratch, &names) : -ENOMEM;

	for (ssize_t i = 0; i < count; i++) {
		const char *function = rna_arena_printf(scratch, "%s/%s", directory, names[i]);
		struct rna_value mode = {0};

		if (!function)
			return -ENOMEM;
		if (rna_pci_is_address(names[i], strlen(names[i])))
			mode = rna_pci_read_iommu(root, function);
		if (rna_value_is_known(mode) &&
		    (!rna_value_is_known(*ret) || mode.number > ret->number))
			*ret = mode;
	}
	return count == -ENOMEM ? -ENOMEM : 0;
}

static int read_iommu(const struct rna_root *root, struct rna_arena *scratch,
		      struct rna_readiness *readiness)
{
	char **names = NULL;
	ssize_t count = rna_root_list(root, RNA_PCI_IOMMUS, scratch, &names);

	for (ssize_t i = 0; i < count && !readiness->iommu; i++)
		readiness->iommu = iommu_kind(names[i]);
	if (count == -ENOMEM || read_gpus_of(root, "nvidia", scratch, &readiness->gpu_iommu) < 0 ||
	    read_gpus_of(root, "amdgpu", scratch, &readiness->gpu_iommu) < 0)
		return -ENOMEM;
	return 0;
}

int rna_read_host(const struct rna_root *root, struct rna_arena *scratch, struct rna_arena *keep,
		  struct rna_readiness *readiness)
{
	if (read_platform(root, scratch, readiness) < 0 ||
	    read_frequency(root, scratch, keep, &readiness->cpu_frequency) < 0 ||
	    read_iommu(root, scratch, readiness) < 0)
		return -ENOMEM;
	return 0;
}
