// SPDX-License-Identifier: Apache-2.0
/* Lists of PCI functions, and the role of a function by its class and vendor. */
#include <errno.h>
#include <string.h>

#include "rna/model/driver.h"

#include "parse/pci.h"

#include "builder.h"

enum {
	VENDOR_AMD = 0x1002,
	VENDOR_NVIDIA = 0x10de,
	VENDOR_MELLANOX = 0x15b3,
	VENDOR_HPE_SLINGSHOT = 0x17db,
	VENDOR_HABANA = 0x1da3,
	VENDOR_INTEL = 0x8086,
	VENDOR_QUALCOMM = 0x17cb,
	VENDOR_HUAWEI = 0x19e5,
	VENDOR_HYGON = 0x1d94,
	VENDOR_ENFLAME = 0x1e36,
	VENDOR_ILUVATAR = 0x1e3e,
	VENDOR_TENSTORRENT = 0x1e52,
	VENDOR_FURIOSA = 0x1ed2,
	VENDOR_MOORE_THREADS = 0x1ed5,
	VENDOR_REBELLIONS = 0x1eff,
	VENDOR_METAX = 0x9999,
	VENDOR_CAMBRICON = 0xcabc,

	CLASS_ETHERNET = 0x0200,
	CLASS_INFINIBAND = 0x0207,
	CLASS_FABRIC = 0x0208,
	CLASS_OTHER_NETWORK = 0x0280,
	CLASS_VGA = 0x0300,
	CLASS_3D = 0x0302,
	CLASS_OTHER_DISPLAY = 0x0380,
	CLASS_COPROCESSOR = 0x0b40,
	CLASS_SERIAL_INFINIBAND = 0x0c06,
	CLASS_ACCELERATOR = 0x1200,

	DEVICE_DATA_DIRECT = 0x2100, /* of Mellanox */
	DEVICE_ASCEND = 0xd000,      /* of Huawei: d500, d801 to d803 and so on */
	MASK_ASCEND = 0xf000,

	ADDRESS_MAX = 32,
};

/*
 * GPUs and other accelerators that transfer data through NICs. Vendors: pci.ids of 2026-08-22.
 * Classes: Linux drivers (amdgpu, xe, habanalabs), and for the vendors from Qualcomm on, whose
 * drivers are not part of Linux, output of lspci in their documents. Hygon's K100 has class 0b40 or
 * 0380, depending on its firmware.
 *
 * VGA controllers of other vendors (1a03, 102b) belong to a BMC. NVIDIA's 0680 is an NVSwitch.
 * Intel's 0380 are its data-centre GPUs, its 0b40 is QuickAssist. Huawei's 1200 are Ascend NPUs and
 * the compression engines of Kunpeng processors (19e5:a250), which are no GPUs.
 */
static const struct {
	uint32_t vendor_id;
	uint32_t class_id;
	uint32_t device_id; /* in the bits of device_mask */
	uint32_t device_mask;
} gpus[] = {
	{VENDOR_NVIDIA, CLASS_VGA, 0, 0},
	{VENDOR_NVIDIA, CLASS_3D, 0, 0},
	{VENDOR_AMD, CLASS_VGA, 0, 0},
	{VENDOR_AMD, CLASS_OTHER_DISPLAY, 0, 0},
	{VENDOR_AMD, CLASS_ACCELERATOR, 0, 0},
	{VENDOR_INTEL, CLASS_OTHER_DISPLAY, 0, 0},
	{VENDOR_INTEL, CLASS_ACCELERATOR, 0, 0},
	{VENDOR_HABANA, CLASS_ACCELERATOR, 0, 0},
	{VENDOR_QUALCOMM, CLASS_ACCELERATOR, 0, 0},
	{VENDOR_HUAWEI, CLASS_ACCELERATOR, DEVICE_ASCEND, MASK_ASCEND},
	{VENDOR_HYGON, CLASS_VGA, 0, 0},
	{VENDOR_HYGON, CLASS_OTHER_DISPLAY, 0, 0},
	{VENDOR_HYGON, CLASS_COPROCESSOR, 0, 0},
	{VENDOR_HYGON, CLASS_ACCELERATOR, 0, 0},
	{VENDOR_ENFLAME, CLASS_ACCELERATOR, 0, 0},
	{VENDOR_ILUVATAR, CLASS_ACCELERATOR, 0, 0},
	{VENDOR_TENSTORRENT, CLASS_ACCELERATOR, 0, 0},
	{VENDOR_FURIOSA, CLASS_ACCELERATOR, 0, 0},
	{VENDOR_MOORE_THREADS, CLASS_VGA, 0, 0},
	{VENDOR_MOORE_THREADS, CLASS_3D, 0, 0},
	{VENDOR_REBELLIONS, CLASS_ACCELERATOR, 0, 0},
	{VENDOR_METAX, CLASS_OTHER_DISPLAY, 0, 0},
	{VENDOR_CAMBRICON, CLASS_ACCELERATOR, 0, 0},
};

void *rna_topology_need(struct rna_topology_run *run, void *memory)
{
	if (!memory)
		run->error = -ENOMEM;
	return memory;
}

void rna_topology_note(struct rna_topology_run *run, ssize_t status)
{
	if (status < 0 && !rna_error_is_absence((int)status))
		run->error = (int)status;
}

void rna_pci_function_classify(struct rna_pci_function *function)
{
	for (size_t i = 0; i < RNA_ARRAY_SIZE(gpus); i++)
		function->gpu |= gpus[i].vendor_id == function->vendor_id &&
				 gpus[i].class_id == function->class_id &&
				 (function->device_id & gpus[i].device_mask) == gpus[i].device_id;
	function->nic =
		function->class_id == CLASS_ETHERNET || function->class_id == CLASS_INFINIBAND ||
		function->class_id == CLASS_FABRIC || function->class_id == CLASS_OTHER_NETWORK ||
		function->class_id == CLASS_SERIAL_INFINIBAND;
	function->data_direct =
		function->vendor_id == VENDOR_MELLANOX && function->device_id == DEVICE_DATA_DIRECT;
}

bool rna_pci_function_is_fabric(const struct rna_pci_function *function)
{
	const struct rna_driver *driver;

	switch (function->class_id) {
	case CLASS_INFINIBAND:
	case CLASS_FABRIC:
	case CLASS_SERIAL_INFINIBAND:
		return true;
	default:
		break;
	}
	driver = rna_driver_of(NULL, function->vendor_id, function->device_id);
	return function->vendor_id == VENDOR_MELLANOX ||
	       function->vendor_id == VENDOR_HPE_SLINGSHOT || (driver && driver->rdma_alone);
}

bool rna_pci_is_host_bridge(const char *component)
{
	return strncmp(component, "pci", 3) == 0 && strchr(component, ':');
}

void rna_names_add(struct rna_topology_run *run, struct rna_names *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->items[i], name) == 0)
			return;
	if (!rna_topology_need(run, RNA_GROW(names->items, names->count, run->scratch)))
		return;
	names->items[names->count++] = name;
}

struct rna_pci_function *rna_pci_functions_add(struct rna_topology_run *run,
					       struct rna_pci_functions *functions)
{
	struct rna_pci_function *function =
		rna_topology_need(run, RNA_GROW(functions->items, functions->count, run->scratch));

	if (!function)
		return NULL;
	functions->count++;
	*function = (struct rna_pci_function){.numa_node = -1, .package = -1};
	return function;
}

/* -- Order ------------------------------------------------------------------------------------- */

/* The numbers of one component as one number: all are hexadecimal. */
static uint64_t number_of(const char *component, size_t len)
{
	char text[ADDRESS_MAX];
	uint64_t number = 0;

	if (len >= sizeof(text))
		return UINT64_MAX;
	memcpy(text, component, len);
	text[len] = '\0';
	for (char *at = strncmp(text, "pci", 3) == 0 ? text + 3 : text; *at;) {
		char *end;

		number = number << 8 | strtoull(at, &end, 16);
		at = *end ? end + 1 : end;
	}
	return number;
}

/* Orders host bridges and functions by address, parents before children. */
static int compare_paths(const void *a, const void *b)
{
	const char *x = ((const struct rna_pci_function *)a)->path;
	const char *y = ((const struct rna_pci_function *)b)->path;

	while (*x && *y) {
		size_t x_len = strcspn(x, "/"), y_len = strcspn(y, "/");
		uint64_t x_number = number_of(x, x_len), y_number = number_of(y, y_len);

		if (x_number != y_number)
			return x_number < y_number ? -1 : 1;
		x += x_len + (x[x_len] == '/');
		y += y_len + (y[y_len] == '/');
	}
	return (*x != '\0') - (*y != '\0');
}

static int compare_addresses(const void *a, const void *b)
{
	const char *x = (*(const struct rna_pci_function *const *)a)->address;
	const char *y = (*(const struct rna_pci_function *const *)b)->address;
	uint64_t x_number = number_of(x, strlen(x)), y_number = number_of(y, strlen(y));

	return x_number < y_number ? -1 : x_number > y_number;
}

void rna_pci_functions_sort(struct rna_topology_run *run, struct rna_pci_functions *functions)
{
	functions->by_address =
		rna_topology_need(run, rna_arena_array(run->scratch, functions->count + 1,
						       sizeof(*functions->by_address)));
	functions->sorted = functions->by_address ? functions->count : 0;
	if (functions->sorted == 0)
		return;
	qsort(functions->items, functions->count, sizeof(*functions->items), compare_paths);
	for (size_t i = 0; i < functions->count; i++)
		functions->by_address[i] = &functions->items[i];
	qsort(functions->by_address, functions->count, sizeof(*functions->by_address),
	      compare_addresses);
}

struct rna_pci_function *rna_pci_functions_find(const struct rna_pci_functions *functions,
						const char *address)
{
	const struct rna_pci_function key = {.address = address}, *key_pointer = &key;
	struct rna_pci_function **found = NULL;

	if (functions->sorted > 0)
		found = bsearch(&key_pointer, functions->by_address, functions->sorted,
				sizeof(*functions->by_address), compare_addresses);
	return found ? *found : NULL;
}
