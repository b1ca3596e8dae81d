// SPDX-License-Identifier: Apache-2.0
/*
 * labcuda: stands in for libcuda.so.1 where there is no GPU. Its one GPU is at the PCI address
 * $LABCUDA_GPU and has memory of the host, so that an HCA can be told its address as it can with
 * nvidia_peermem; there is no dma-buf. $LABCUDA says what is wrong with it:
 *
 *   no_device   cuInit: no GPU that this process may use
 *   hang        cuInit does not return, as with a GPU that has fallen off the bus
 *   no_context  another process has the GPU for itself
 *   full        no memory is left
 *   broken      copies to it fail
 *
 * Numbers and names are those of cuda.h (CUDA 12). Contexts and memory are counted as the driver
 * counts them; calls that no program should make are refused as it refuses them.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

typedef int CUresult;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef unsigned long long CUdeviceptr;

enum {
	CUDA_SUCCESS = 0,
	CUDA_ERROR_INVALID_VALUE = 1,
	CUDA_ERROR_OUT_OF_MEMORY = 2,
	CUDA_ERROR_NOT_INITIALIZED = 3,
	CUDA_ERROR_DEVICE_UNAVAILABLE = 46,
	CUDA_ERROR_NO_DEVICE = 100,
	CUDA_ERROR_INVALID_DEVICE = 101,
	CUDA_ERROR_INVALID_CONTEXT = 201,
	CUDA_ERROR_LAUNCH_FAILED = 719,
	CUDA_ERROR_NOT_SUPPORTED = 801,
};

static const struct {
	CUresult result;
	const char *name;
} names[] = {
	{CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
	{CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
	{CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED"},
	{CUDA_ERROR_DEVICE_UNAVAILABLE, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
	{CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
	{CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"},
	{CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
	{CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED"},
	{CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED"},
};

static int initialized;
static int contexts;
static CUcontext current;
static char *memory; /* one allocation is all that it has room for */
static size_t memory_size;

static int is_wrong(const char *what)
{
	const char *set = getenv("LABCUDA");

	return set && strcmp(set, what) == 0;
}

CUresult cuInit(unsigned flags)
{
	if (flags != 0)
		return CUDA_ERROR_INVALID_VALUE;
	while (is_wrong("hang"))
		(void)pause();
	if (is_wrong("no_device"))
		return CUDA_ERROR_NO_DEVICE;
	initialized = 1;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetByPCIBusId(CUdevice *ret, const char *address)
{
	const char *gpu = getenv("LABCUDA_GPU");

	if (!initialized)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!gpu || strcasecmp(gpu, address) != 0)
		return CUDA_ERROR_INVALID_DEVICE;
	*ret = 0;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *ret, int attribute, CUdevice device)
{
	if (device != 0 || attribute <= 0)
		return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
	*ret = 0;
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *ret, CUdevice device)
{
	if (device != 0)
		return CUDA_ERROR_INVALID_DEVICE;
	if (is_wrong("no_context"))
		return CUDA_ERROR_DEVICE_UNAVAILABLE;
	contexts++;
	*ret = (CUcontext)&contexts;
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
	if (device != 0 || contexts == 0)
		return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_CONTEXT;
	contexts--;
	return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
	current = context;
	return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *ret, size_t size)
{
	if (!current)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (memory || is_wrong("full"))
		return CUDA_ERROR_OUT_OF_MEMORY;
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		memory = NULL;
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	memory_size = size;
	*ret = (CUdeviceptr)memory;
	return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr address)
{
	if (!memory || address != (CUdeviceptr)memory)
		return CUDA_ERROR_INVALID_VALUE;
	(void)munmap(memory, memory_size);
	memory = NULL;
	return CUDA_SUCCESS;
}

CUresult cuMemGetHandleForAddressRange(void *ret, CUdeviceptr address, size_t size, int type,
				       unsigned long long flags)
{
	(void)ret, (void)address, (void)size, (void)type, (void)flags;
	return CUDA_ERROR_NOT_SUPPORTED;
}

static int is_ours(CUdeviceptr address, size_t len)
{
	CUdeviceptr begin = (CUdeviceptr)memory;

	return memory && address >= begin && address - begin <= memory_size &&
	       len <= memory_size - (address - begin);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t len)
{
	if (is_wrong("broken"))
		return CUDA_ERROR_LAUNCH_FAILED;
	if (!is_ours(to, len))
		return CUDA_ERROR_INVALID_VALUE;
	memcpy((void *)to, from, len);
	return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t len)
{
	if (!is_ours(from, len))
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(to, (const void *)from, len);
	return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char **ret)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].result == error) {
			*ret = names[i].name;
			return CUDA_SUCCESS;
		}
	*ret = NULL;
	return CUDA_ERROR_INVALID_VALUE;
}
