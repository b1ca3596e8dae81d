/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A part: what one run of one collector read, about one device or about the whole node.
 *
 * A part is built in an arena by one job in a lane, sealed, and only read from then on. Every
 * kind of part begins with struct rna_part and is defined below or in a header of its own kind.
 * Parts refer to each other by key, never by pointer.
 * Thread: built in a lane; after that the loop counts its references, and anyone may read.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "rna/base/arena.h"
#include "rna/base/clock.h"
#include "rna/model/origin.h"

/*
 * The collectors, in the order in which those of a device run: what is cheap and says most comes
 * first, so that a device whose counters hang is known by name and state.
 */
enum rna_collector_id {
	RNA_COLLECTOR_PRESENCE,    /* node: which RDMA devices there are */
	RNA_COLLECTOR_STATE,       /* device: logical and physical port state */
	RNA_COLLECTOR_IDENTITY,    /* device: GUIDs, firmware, board, link layer */
	RNA_COLLECTOR_LINK,        /* device: rate, width, speed, MTU, LIDs, capabilities */
	RNA_COLLECTOR_COUNTERS,    /* device: ports/N/counters */
	RNA_COLLECTOR_HW_COUNTERS, /* device: ports/N/hw_counters and hw_counters */
	RNA_COLLECTOR_GIDS,        /* device: the GID tables of its ports */
	RNA_COLLECTOR_FABRIC,      /* device: peers, subnet manager, partitions, lost packets */
	RNA_COLLECTOR_PCIE,        /* device: its PCIe path up to the root port */
	RNA_COLLECTOR_ETHERNET,    /* device: what ethtool says of its interfaces */
	RNA_COLLECTOR_RESOURCES,   /* device: RDMA objects on it, by which it is in use or idle */
	RNA_COLLECTOR_QOS,         /* device: priorities, PFC, ECN and VLANs of RoCE ports */
	/* device: who has its virtual functions, and what they were given */
	RNA_COLLECTOR_VIRTUAL_FUNCTIONS,
	RNA_COLLECTOR_MODULE,    /* device: the modules in the cages of its ports */
	RNA_COLLECTOR_NETDEV,    /* node: network interfaces and which port each serves */
	RNA_COLLECTOR_LLDP,      /* node: who was heard on Ethernet interfaces, by lldpd */
	RNA_COLLECTOR_TOPOLOGY,  /* node: the PCI tree, GPUs and NICs, and which are near */
	RNA_COLLECTOR_READINESS, /* node: drivers, modules, device files and limits */
	RNA_COLLECTOR_PROCESS,   /* node: the agent's own process */
	RNA_COLLECTOR_COUNT,
};

/* Why a read failed: a closed list, it is a metric label. */
enum rna_reason {
	RNA_REASON_INVALID, /* EINVAL: the device refuses, for example a MAD that is not answered */
	RNA_REASON_DENIED,  /* EACCES, EPERM */
	RNA_REASON_IO,      /* EIO */
	RNA_REASON_GONE,    /* ENODEV, ENOENT, ENXIO: vanished while it was read */
	RNA_REASON_UNSUPPORTED, /* EOPNOTSUPP, ENOSYS, EPROTONOSUPPORT */
	RNA_REASON_TIMEOUT,     /* ETIMEDOUT, EAGAIN */
	RNA_REASON_FORMAT,      /* it was read, but is not what the kernel documents */
	RNA_REASON_OTHER,
	RNA_REASON_COUNT,
};

enum rna_reason rna_reason_from_errno(int error);    /* takes errno or -errno */
const char *rna_reason_name(enum rna_reason reason); /* "invalid", "denied", ... */

struct rna_part {
	unsigned refs; /* the loop's; the lane that builds a part holds the first */
	enum rna_collector_id collector;
	struct rna_arena *arena; /* owns this struct and all it points to */
	struct rna_time started;
	struct rna_time taken;
	struct rna_origin origin;          /* what made it be read; the schedule fills it in */
	uint32_t errors[RNA_REASON_COUNT]; /* values of this part that could not be read, by reason
					    */
};

/*
 * Allocates a zeroed part of size bytes (of the concrete struct) in an arena of its own with
 * refs = 1; arena_hint: bytes expected in all. NULL: no memory.
 */
void *rna_part_new(enum rna_collector_id collector, size_t size, size_t arena_hint);
/* Both accept NULL; unref returns NULL. The count is the only thing that may change in a part. */
const struct rna_part *rna_part_ref(const struct rna_part *part);
struct rna_part *rna_part_unref(const struct rna_part *part);
RNA_DEFINE_CLEANUP(struct rna_part, rna_part_unref)

/* Counts one value that could not be read. error: errno or -errno. */
void rna_part_count_error(struct rna_part *part, int error);
uint64_t rna_part_error_count(const struct rna_part *part);
