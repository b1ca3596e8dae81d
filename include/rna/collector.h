/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of a collector: const data in, a new part out, no state but the reader it is given.
 *
 * collect() runs in a lane. It may be slow and it may hang; it takes no lock, starts nothing and
 * logs nothing. It fails (negative errno, error filled) only when there is nothing worth keeping:
 * a file that cannot be read costs one value, which is counted in part->errors.
 */
#pragma once

#include <stdbool.h>

#include "rna/base/clock.h"
#include "rna/base/error.h"
#include "rna/base/root.h"
#include "rna/base/texts.h"
#include "rna/model/device.h"
#include "rna/model/device_filter.h"
#include "rna/model/netdev.h"
#include "rna/model/part.h"

/* The libraries behind the files: real ones on a live root, recorded answers otherwise. */
struct rna_backends;

/* root must outlive the backends. NULL: no memory. */
struct rna_backends *rna_backends_new(const struct rna_root *root);
struct rna_backends *rna_backends_free(struct rna_backends *backends); /* accepts NULL */
RNA_DEFINE_CLEANUP(struct rna_backends, rna_backends_free)

/*
 * The PCI tree is that of a file that lstopo wrote, wherever it is, in the place of the machine's:
 * of a recording that has nothing else, or in a VM whose own tree hides where things are. Before
 * the first run of a collector. 0 or -ENOMEM.
 */
int rna_backends_set_hwloc_xml(struct rna_backends *backends, const char *file);

/*
 * The same, but nothing of the RDMA stack is opened: verbs, MADs and RDMA netlink answer as where
 * there is no way to them, and files have to do. For as long as backends.
 */
const struct rna_backends *rna_backends_quiet(const struct rna_backends *backends);

/*
 * A reader keeps the attribute files of one (collector, device) pair open between runs; see
 * collectors/parse/reader.c for why. Dropping it is always safe and costs one slower run.
 * Thread: whoever runs the job; the schedule never runs two jobs of one pair at a time.
 */
struct rna_reader;

/* descriptors: how many it may keep open between runs. NULL: no memory. */
struct rna_reader *rna_reader_new(const struct rna_root *root, unsigned descriptors);
struct rna_reader *rna_reader_free(struct rna_reader *reader); /* accepts and returns NULL */
RNA_DEFINE_CLEANUP(struct rna_reader, rna_reader_free)

/* Setting hw_counters.source: where the hw_counters of ports are read. */
enum rna_hw_counters_source {
	RNA_HW_COUNTERS_SYSFS,
	RNA_HW_COUNTERS_NETLINK, /* RDMA netlink; sysfs for ports that it has no answer for */
};

/* Where port counters of InfiniBand come from: setting counters.source. */
enum rna_counters_source {
	RNA_COUNTERS_SYSFS,
	RNA_COUNTERS_AUTO, /* MADs where sysfs has none, or none with 64 bits */
	RNA_COUNTERS_MAD,  /* sysfs where a port cannot be asked, or does not answer */
};

/* What the settings say to collectors. */
struct rna_collect_options {
	enum rna_counters_source counters_source;
	enum rna_hw_counters_source hw_counters_source;
	bool module_serial;     /* for module: read serial numbers, too */
	bool optional_counters; /* for resources: tell which there are and which are on */
};

struct rna_collect_input {
	const struct rna_root *root;
	const struct rna_backends *backends;
	/* Newest one, for presence itself the one before; NULL: there is none yet. */
	const struct rna_presence *presence;
	/* Newest one, for collectors that are of_netdevs; NULL: it could not be read. */
	const struct rna_netdevs *netdevs;
	const struct rna_device_filter *filter; /* for presence; NULL: all devices */
	const struct rna_texts *functions;      /* for presence: which to look for; NULL: none */
	/* For ethernet: which of a driver's to read that have no family; NULL: none. */
	const struct rna_texts *statistics;
	const struct rna_device *device; /* in presence; NULL for node-wide collectors */
	struct rna_reader *reader;       /* this pair's own; NULL for node-wide collectors */
	/*
	 * This pair's newest good part, else the one of the device's registration before, else
	 * NULL. For what is counted from one run to the next; it lives as long as the run, and
	 * nothing of the new part may point into it.
	 */
	const struct rna_part *previous;
	struct rna_collect_options options;
	rna_usec period; /* how often this job runs; retry pauses grow from it */
};

#define RNA_ON(function) (1U << RNA_FUNCTION_##function)

struct rna_collector {
	enum rna_collector_id id;
	const char *name; /* "state": metric label, setting poll.state */
	const char *help; /* one sentence */
	bool per_device;
	/*
	 * Devices that have nothing for it by their nature, whatever could be read, get no job of
	 * it and no account. Where that is not known they do. functions: a bit for each kind that
	 * has something, by RNA_ON(); 0: all. link_layer: of one port at least; UNKNOWN: any.
	 * own_path: not virtual devices, which have no PCIe path, nor virtual and scalable
	 * functions beside the device of their physical one, whose path is theirs.
	 */
	unsigned functions;
	enum rna_link_layer link_layer;
	bool own_path;
	/* It reads the interfaces of a device's ports: runs after netdev, and when that changes. */
	bool of_netdevs;
	bool later; /* too slow to wait for: a daemon runs it first after its first view */
	int (*collect)(const struct rna_collect_input *in, struct rna_part **ret,
		       struct rna_error *error);
};

/* collectors/table.c; index = enum rna_collector_id. */
extern const struct rna_collector rna_collectors[RNA_COLLECTOR_COUNT];
