// SPDX-License-Identifier: Apache-2.0
#include "cuda.h"

#include <dlfcn.h>
#include <errno.h>

#include "rna/base/cleanup.h"
#include "rna/base/library.h"

/* The used declarations of cuda.h, with their names there. */
typedef int CUresult; /* 0: success */
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef unsigned long long CUdeviceptr;

enum {
	CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED = 124,
	CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD = 1,
	GPU_PAGE = 65536, /* the page size of peer-to-peer mappings */
};

/* The functions; the macros of cuda.h add the suffix _v2 to their names. */
struct driver {
	CUresult (*init)(unsigned flags);
	CUresult (*device_by_address)(CUdevice *ret, const char *pci_address);
	CUresult (*attribute)(int *ret, int attribute, CUdevice device);
	CUresult (*retain)(CUcontext *ret, CUdevice device);
	CUresult (*release)(CUdevice device);
	CUresult (*use)(CUcontext context);
	CUresult (*allocate)(CUdeviceptr *ret, size_t size);
	CUresult (*free)(CUdeviceptr address);
	CUresult (*handle)(void *ret, CUdeviceptr address, size_t size, int type,
			   unsigned long long flags);
	CUresult (*to_gpu)(CUdeviceptr to, const void *from, size_t len);
	CUresult (*from_gpu)(void *to, CUdeviceptr from, size_t len);
	CUresult (*error_name)(CUresult error, const char **ret);
};

struct rna_cuda {
	void *library;
	struct driver driver;
	CUdevice device;
	CUcontext context;   /* primary context of the device, shared within this process */
	CUdeviceptr address; /* 0: none */
	size_t size;
};

/* CUDA 11.7 and later have all symbols; older ones are not used. */
static int load(struct rna_cuda *cuda, struct rna_error *error)
{
	struct driver *driver = &cuda->driver;
	const struct rna_symbol symbols[] = {
		{"cuInit", &driver->init},
		{"cuDeviceGetByPCIBusId", &driver->device_by_address},
		{"cuDeviceGetAttribute", &driver->attribute},
		{"cuDevicePrimaryCtxRetain", &driver->retain},
		{"cuDevicePrimaryCtxRelease_v2", &driver->release},
		{"cuCtxSetCurrent", &driver->use},
		{"cuMemAlloc_v2", &driver->allocate},
		{"cuMemFree_v2", &driver->free},
		{"cuMemGetHandleForAddressRange", &driver->handle},
		{"cuMemcpyHtoD_v2", &driver->to_gpu},
		{"cuMemcpyDtoH_v2", &driver->from_gpu},
		{"cuGetErrorName", &driver->error_name},
	};
	const char *missing;

	cuda->library = rna_library_open("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL, symbols,
					 RNA_ARRAY_SIZE(symbols), &missing);
	if (!cuda->library)
		return rna_error_say(error, -ENOENT, "no CUDA: %s", dlerror());
	if (missing)
		return rna_error_say(error, -ENOENT, "libcuda.so.1 is too old: it has no %s",
				     missing);
	return 0;
}

static int failed(const struct rna_cuda *cuda, CUresult result, const char *what, int code,
		  struct rna_error *error)
{
	const char *name = NULL;

	if (cuda->driver.error_name(result, &name) != 0 || !name)
		name = "unknown error";
	return rna_error_say(error, code, "%s failed: %s (%d)", what, name, result);
}

static int find_gpu(struct rna_cuda *cuda, const char *pci_address, struct rna_error *error)
{
	CUresult result = cuda->driver.init(0);

	if (result != 0)
		return failed(cuda, result, "cuInit", -ENOENT, error);
	result = cuda->driver.device_by_address(&cuda->device, pci_address);
	if (result != 0)
		return failed(cuda, result, "cuDeviceGetByPCIBusId", -ENOENT, error);
	return 0;
}

static int allocate(struct rna_cuda *cuda, size_t size, struct rna_error *error)
{
	CUresult result = cuda->driver.retain(&cuda->context, cuda->device);

	if (result != 0) {
		cuda->context = NULL;
		return failed(cuda, result, "cuDevicePrimaryCtxRetain", -EBUSY, error);
	}
	result = cuda->driver.use(cuda->context);
	if (result != 0)
		return failed(cuda, result, "cuCtxSetCurrent", -EBUSY, error);
	cuda->size = (size + GPU_PAGE - 1) / GPU_PAGE * GPU_PAGE;
	result = cuda->driver.allocate(&cuda->address, cuda->size);
	if (result != 0) {
		cuda->address = 0;
		return failed(cuda, result, "cuMemAlloc", -ENOMEM, error);
	}
	return 0;
}

int rna_cuda_get(const char *pci_address, size_t size, struct rna_cuda **ret,
		 struct rna_error *error)
{
	struct rna_cuda *cuda = calloc(1, sizeof(*cuda));
	int status;

	if (!cuda)
		return rna_error_set(error, -ENOMEM, "GPU %s", pci_address);
	status = load(cuda, error);
	if (status == 0)
		status = find_gpu(cuda, pci_address, error);
	if (status == 0)
		status = allocate(cuda, size, error);
	if (status < 0) {
		cuda = rna_cuda_free(cuda);
		return rna_error_prefix(error, "GPU %s", pci_address);
	}
	*ret = cuda;
	return 0;
}

struct rna_cuda *rna_cuda_free(struct rna_cuda *cuda)
{
	if (!cuda)
		return NULL;
	if (cuda->address)
		/* the kernel frees the rest when the process ends */
		(void)cuda->driver.free(cuda->address);
	if (cuda->context)
		(void)cuda->driver.release(cuda->device);
	/* libcuda is not unloaded: it has threads of its own, and the child ends soon. */
	free(cuda);
	return NULL;
}

uint64_t rna_cuda_address(const struct rna_cuda *cuda)
{
	return cuda->address;
}

int rna_cuda_dma_buf(const struct rna_cuda *cuda)
{
	int supported = 0;
	int fd = -1;

	if (cuda->driver.attribute(&supported, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED,
				   cuda->device) != 0 ||
	    !supported)
		return -EOPNOTSUPP;
	if (cuda->driver.handle(&fd, cuda->address, cuda->size, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD,
				0) != 0)
		return -EOPNOTSUPP;
	return fd;
}

int rna_cuda_write(struct rna_cuda *cuda, size_t offset, const void *from, size_t len)
{
	return cuda->driver.to_gpu(cuda->address + offset, from, len) == 0 ? 0 : -EIO;
}

int rna_cuda_read(const struct rna_cuda *cuda, size_t offset, void *to, size_t len)
{
	return cuda->driver.from_gpu(to, cuda->address + offset, len) == 0 ? 0 : -EIO;
}
