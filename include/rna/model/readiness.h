/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is the node ready for RDMA and GPUDirect? The facts that administrators otherwise check by hand
 * before the first job. They come from the kernel and from files; none is read from a device.
 *
 * What the agent cannot see (in a container without the host's /dev, in a recording without
 * modules) is absent and causes no finding. Sources: NCCL and RCCL, src/transport/net_ib (their
 * checks for GPUDirect); Linux drivers/infiniband/core (netns_mode, devnode), drivers/dma-buf
 * (5.12); systemd.exec(5).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/model/nccl.h"
#include "rna/model/part.h"
#include "rna/model/value.h"

/* How a NIC can access GPU memory. */
enum rna_gpudirect {
	RNA_GPUDIRECT_PEER_MEMORY, /* a module: nvidia_peermem, nv_peer_mem, amdkfd of OFED */
	RNA_GPUDIRECT_DMA_BUF,     /* the kernel's own way, since 5.12 */
	RNA_GPUDIRECT_COUNT,
};

const char *rna_gpudirect_name(enum rna_gpudirect method); /* "peer-memory", "dma-buf" */

/* The GPU driver; values are 0 or 1. The GPUs themselves are in struct rna_topology. */
struct rna_gpu_driver {
	const char *name;               /* "nvidia", "amdgpu"; NULL: no known driver */
	const char *version;            /* "550.54.15"; NULL: unknown */
	struct rna_value open;          /* open kernel modules, which NVIDIA's dma-buf needs */
	struct rna_value stream_memops; /* NVIDIA: EnableStreamMemOPs */
	struct rna_value peer_mapping_override; /* NVIDIA: PeerMappingOverride */
	struct rna_value peer_to_peer; /* AMD: the kernel was built for dma-buf between devices */
	const char *missing_option;    /* of its configuration, if that is 0; static */
};

/* Can NICs access the memory of GPUs, by what the libraries look at? */
enum rna_gpudirect_state {
	RNA_GPUDIRECT_UNKNOWN, /* or there is no driver of GPUs */
	RNA_GPUDIRECT_READY,
	RNA_GPUDIRECT_READY_FOR_NEWER, /* for NCCL from 2.23 on; the reason is that of others */
	RNA_GPUDIRECT_NOT_READY,
	RNA_GPUDIRECT_NOT_SEEN,   /* no dma-buf; what shows peer memory is not readable */
	RNA_GPUDIRECT_IMPOSSIBLE, /* on this platform */
};

const char *rna_gpudirect_state_name(enum rna_gpudirect_state state); /* "ready", "not-ready" */

/*
 * What firmware says of the machine: files of /sys/class/dmi/id that every user may read. Serial
 * numbers and UUIDs are never read. NULL: the machine has no such text, or it is unreadable.
 */
struct rna_dmi {
	const char *vendor;    /* sys_vendor: "NVIDIA" */
	const char *product;   /* product_name: "DGXH100" */
	const char *board;     /* board_name */
	const char *asset_tag; /* chassis_asset_tag: some clouds have one text for all machines */
	bool unreadable;       /* at least one of them exists and cannot be read */
};

/*
 * Platforms: machines on which something is normal that is a fault elsewhere, or impossible that
 * works elsewhere: boards, processors with a GPU, clouds. Who needs to know something of one reads
 * it here, or adds a column to agent/core/model/platforms.c.
 */
enum rna_platform_kind {
	RNA_PLATFORM_UNSAID, /* nothing is known that says it */
	RNA_PLATFORM_METAL,
	RNA_PLATFORM_GUEST, /* a virtual machine */
};

/* What is known of a machine, of all rows that it fits. All of it is unset: no platform. */
struct rna_platform {
	/* Where CPUs do not say themselves whether they are virtual. */
	enum rna_platform_kind kind;
	/* Why NICs cannot access the memory of its GPU, whatever is loaded. NULL: they may. */
	const char *no_gpudirect;
	/* The GPU has an NVLink-C2C to its processor. */
	bool c2c;
	/* mlx5's message about the power of the slot comes at each boot of healthy boards. */
	bool slot_power_is_normal;
	/*
	 * Functions of the NIC with the same number share a cage although they are of different PCI
	 * domains: each reports the rate of the whole cable.
	 */
	bool shared_cages;
	bool nic_on_board; /* it cannot be taken out */
	bool cloud;        /* a provider owns the machine */
};

/* dmi may be NULL; the ids are those of a GPU, 0: there is none, or it is not known. */
struct rna_platform rna_platform_of(const struct rna_dmi *dmi, uint32_t vendor_id,
				    uint32_t device_id);

/*
 * The modules that readiness looks for, ib_core first; NULL-terminated. Those of other drivers
 * (rna/model/driver.h) are listed where one of them is loaded.
 */
extern const char *const rna_module_names[];

struct rna_module {
	const char *name; /* static */
	bool loaded;      /* or part of the kernel */
	/* Of a module for want of which a driver has no RDMA: the file that blacklists it, or NULL.
	 */
	const char *blacklist;
	struct rna_value installed; /* likewise: does this kernel have it, 0 or 1 */
};

/* A file of /dev/infiniband, or /dev/gdrdrv if the module gdrdrv is loaded. */
struct rna_device_node {
	const char *name;   /* "uverbs0", "umad0", "rdma_cm", "gdrdrv" */
	const char *device; /* RDMA device that it opens; NULL: all or none */
	unsigned port;      /* for MADs of this port; 0: not of a port */
	bool missing;
	struct rna_value mode; /* permissions; absent: missing or unknown */
	struct rna_value abi;  /* of verbs, of the driver of the device; absent: not of uverbs */
};

#define RNA_MEMLOCK_INFINITY UINT64_MAX

/* For queues and buffers of one process; NCCL alone locks more than systemd's 8 MiB. */
#define RNA_MEMLOCK_ENOUGH (UINT64_C(1) << 30)

/*
 * A systemd unit that starts containers, and its limits of locked memory, in bytes. Containers get
 * that of the specification; if there is none, they inherit that of the running process.
 */
struct rna_runtime {
	const char *unit;         /* "containerd.service", static */
	struct rna_value memlock; /* of the unit; absent: systemd's default applies */
	struct rna_value running; /* of its process; absent: not running, or not visible */
	/*
	 * What its configuration sets for each container, the most if it differs by handler.
	 * Absent: nothing; unreadable: a file of it cannot be read.
	 */
	struct rna_value spec;
	const char *spec_file; /* which file sets it, or cannot be read; NULL: none */
};

/* Containers that run, by the limit of their first process. */
struct rna_container_limits {
	size_t count;            /* 0: there are none, or they are not visible */
	size_t low;              /* less than RNA_MEMLOCK_ENOUGH, and no CAP_IPC_LOCK */
	struct rna_value lowest; /* of those */
	const char *example;     /* identifier of one of those, shortened; NULL: none */
};

/* CPUs whose frequency one governor sets. */
struct rna_cpu_governor {
	const char *name; /* "performance" */
	size_t policies;  /* sets of CPUs that share a clock */
};

/* How the kernel sets CPU frequencies (Documentation/admin-guide/pm/cpufreq.rst). */
struct rna_cpu_frequency {
	const char *driver; /* "intel_pstate", "acpi-cpufreq"; NULL: none, or not known */
	size_t governor_count;
	const struct rna_cpu_governor *governors; /* by name */
};

struct rna_readiness {
	struct rna_part part;
	const char *kernel; /* release; NULL: not known */
	struct rna_dmi dmi;
	struct rna_platform platform;
	/* 1: the node is a virtual machine, 0: it is the machine itself */
	struct rna_value virtual_machine;
	struct rna_cpu_frequency cpu_frequency;
	const char *iommu;          /* "intel", "amd", "arm"; NULL: none, or another, or unknown */
	struct rna_value gpu_iommu; /* enum rna_iommu_mode (rna/model/pcie.h), of GPUs the most */
	struct rna_gpu_driver gpu_driver;
	const char *peer_memory; /* what shows it to the libraries; static; NULL: nothing */
	bool peer_memory_newer;  /* NCCL looks there from 2.23 on */
	/* 0 or 1; also absent without a GPU driver. */
	struct rna_value gpudirect[RNA_GPUDIRECT_COUNT];
	enum rna_gpudirect_state gpudirect_state;
	const char *gpudirect_reason; /* what was read that decides it; NULL: it is unknown */
	/* 1: a device is visible in its own network namespace only */
	struct rna_value netns_exclusive;
	size_t module_count;              /* 0: not known */
	const struct rna_module *modules; /* in that order, then of drivers that are there */
	size_t node_count;
	const struct rna_device_node *nodes; /* in the order of rna_device_node_compare() */
	size_t runtime_count;
	/* installed ones, in the order of the collector's table */
	const struct rna_runtime *runtimes;
	struct rna_container_limits containers;
	struct rna_nccl_file nccl_file;
};

/* NULL: not known; readiness may be NULL. */
const struct rna_module *rna_module_find(const struct rna_readiness *readiness, const char *name);
/* Is the module loaded, 0 or 1? Absent: not known. */
struct rna_value rna_module_loaded(const struct rna_readiness *readiness, const char *name);

/* Files of devices by device, then those of ports by device and port, then others. */
int rna_device_node_compare(const struct rna_device_node *a, const struct rna_device_node *b);

/* That of a device (port 0), or for MADs of its port. NULL: none, or readiness is NULL. */
const struct rna_device_node *rna_readiness_find_node(const struct rna_readiness *readiness,
						      const char *device, unsigned port);

/*
 * Sets gpudirect of dma-buf, and the two members after it, from all others. The kernel supports
 * dma-buf between devices since 5.12, kernels of Red Hat 8 with a lower version number; NVIDIA's
 * driver since 515, with open modules only. Texts in arena. 0 or -ENOMEM.
 */
int rna_gpudirect_judge(struct rna_readiness *readiness, struct rna_arena *arena);
