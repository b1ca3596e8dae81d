/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A part: what one run of one collector read, about one device or about the whole node.
 *
 * One job in a lane builds a part in an arena and seals it; from then on it is immutable. Every
 * concrete part begins with struct rna_part and has its own header. Parts refer to each other by
 * key, never by pointer. Thread: built in a lane; after that the loop counts its references, and
 * any thread may read it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "rna/base/arena.h"
#include "rna/base/clock.h"

/*
 * The collectors. Those of a device run in this order: cheap and important ones first, so that the
 * agent knows name and state of a device whose counters hang.
 */
enum rna_collector_id {
	RNA_COLLECTOR_PRESENCE,    /* node: the RDMA devices */
	RNA_COLLECTOR_STATE,       /* device: logical and physical port state */
	RNA_COLLECTOR_IDENTITY,    /* device: GUIDs, firmware, board, link layer */
	RNA_COLLECTOR_LINK,        /* device: rate, width, speed, MTU, LIDs, capabilities */
	RNA_COLLECTOR_COUNTERS,    /* device: ports/N/counters */
	RNA_COLLECTOR_HW_COUNTERS, /* device: ports/N/hw_counters and hw_counters */
	RNA_COLLECTOR_GIDS,        /* device: the GID tables of its ports */
	RNA_COLLECTOR_FABRIC,      /* device: peers, subnet manager, partitions, lost packets */
	RNA_COLLECTOR_PCIE,        /* device: its PCIe path up to the root port */
	RNA_COLLECTOR_ETHERNET,    /* device: ethtool data of its interfaces */
	RNA_COLLECTOR_RESOURCES,   /* device: RDMA objects on it, which show whether it is in use */
	RNA_COLLECTOR_QOS,         /* device: priorities, PFC, ECN and VLANs of RoCE ports */
	/* device: users and settings of its virtual functions */
	RNA_COLLECTOR_VIRTUAL_FUNCTIONS,
	RNA_COLLECTOR_MODULE,     /* device: the modules in the cages of its ports */
	RNA_COLLECTOR_NETDEV,     /* node: network interfaces and which port each serves */
	RNA_COLLECTOR_GATEWAYS,   /* node: gateways of RoCE interfaces, from the routing tables */
	RNA_COLLECTOR_LLDP,       /* node: neighbours on Ethernet interfaces, from lldpd */
	RNA_COLLECTOR_TOPOLOGY,   /* node: the PCI tree, GPUs and NICs, and their distances */
	RNA_COLLECTOR_READINESS,  /* node: drivers, modules, device files and limits */
	RNA_COLLECTOR_KERNEL_LOG, /* node: what drivers say of themselves in the kernel's log */
	RNA_COLLECTOR_PROCESS,    /* node: the agent's own process */
	RNA_COLLECTOR_COUNT,
};

/*
 * Why the agent read something. Events are only triggers: the agent then reads the object itself,
 * and the resulting part names the event.
 */
enum rna_source {
	RNA_SOURCE_POLL,      /* it was due, or depends on something that changed */
	RNA_SOURCE_RTNETLINK, /* a network interface or an address changed */
	RNA_SOURCE_UEVENT,    /* the kernel added, removed or renamed a device */
	RNA_SOURCE_KMSG,      /* the kernel wrote a message to its log */
	RNA_SOURCE_VERBS,     /* an asynchronous event of libibverbs (watch.verbs_events) */
	RNA_SOURCE_COUNTER,   /* no poll or event saw it; a counter of transitions rose */
	RNA_SOURCE_COUNT,
};

const char *rna_source_name(enum rna_source source); /* "poll", "rtnetlink", ...: a metric label */

struct rna_origin {
	enum rna_source source;
	rna_usec seen; /* monotonic time at which the event was received; 0 for polls */
};

/* Why a read failed. A metric label, so the list is closed. */
enum rna_reason {
	RNA_REASON_INVALID, /* EINVAL: the device refuses, for example after an unanswered MAD */
	RNA_REASON_DENIED,  /* EACCES, EPERM */
	RNA_REASON_IO,      /* EIO */
	RNA_REASON_GONE,    /* ENODEV, ENOENT, ENXIO: removed during the read */
	RNA_REASON_UNSUPPORTED, /* EOPNOTSUPP, ENOSYS, EPROTONOSUPPORT */
	RNA_REASON_TIMEOUT,     /* ETIMEDOUT, EAGAIN */
	RNA_REASON_FORMAT,      /* the content is not what the kernel documents */
	RNA_REASON_OTHER,
	RNA_REASON_COUNT,
};

enum rna_reason rna_reason_from_errno(int error);    /* takes errno or -errno */
const char *rna_reason_name(enum rna_reason reason); /* "invalid", "denied", ... */

struct rna_part {
	unsigned refs; /* counted by the loop; the building lane holds the first reference */
	enum rna_collector_id collector;
	struct rna_arena *arena; /* owns this struct and all it points to */
	struct rna_time started;
	struct rna_time taken;
	struct rna_origin origin;          /* why it was read; filled in by the schedule */
	uint32_t errors[RNA_REASON_COUNT]; /* unreadable values by reason */
};

/*
 * Allocates a zeroed part of size bytes (the concrete struct) in its own arena, with refs = 1.
 * arena_hint: expected total in bytes. NULL: no memory.
 */
void *rna_part_new(enum rna_collector_id collector, size_t size, size_t arena_hint);
/* Both accept NULL; unref returns NULL. refs is the only field of a part that changes. */
const struct rna_part *rna_part_ref(const struct rna_part *part);
struct rna_part *rna_part_unref(const struct rna_part *part);
RNA_DEFINE_CLEANUP(struct rna_part, rna_part_unref)

/* Counts one unreadable value. error: errno or -errno. */
void rna_part_count_error(struct rna_part *part, int error);
uint64_t rna_part_error_count(const struct rna_part *part);
