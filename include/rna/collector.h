/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of a collector: const data in, a new part out; its only state is the reader.
 *
 * collect() runs in a lane. It may be slow and it may hang. It takes no lock, starts no thread or
 * process and does not log. It fails (negative errno, error filled) only if it read nothing useful:
 * an unreadable file costs one value and is counted in part->errors.
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

struct rna_known_rails;
struct rna_nic_facts;

/* The libraries that collectors call: the real ones on a live root, recorded answers otherwise. */
struct rna_backends;

/* To be called once by a process, before it has threads: it changes the environment. */
void rna_backends_prepare_process(void);

/* root must outlive the backends. NULL: no memory. */
struct rna_backends *rna_backends_new(const struct rna_root *root);
struct rna_backends *rna_backends_free(struct rna_backends *backends); /* accepts NULL */
RNA_DEFINE_CLEANUP(struct rna_backends, rna_backends_free)

/*
 * Reads the PCI tree from an XML file that lstopo wrote, at any path, instead of from the machine:
 * for a recording without a tree, or a VM whose virtual tree hides the real one. Call it before the
 * first run of a collector. 0 or -ENOMEM.
 */
int rna_backends_set_hwloc_xml(struct rna_backends *backends, const char *file);

/*
 * Backends that open nothing of the RDMA stack: verbs, MADs and RDMA netlink answer as if they were
 * not available, and collectors use files instead. Valid as long as backends.
 */
const struct rna_backends *rna_backends_quiet(const struct rna_backends *backends);

/*
 * A reader keeps the attribute files of one (collector, device) pair open between runs;
 * collectors/parse/reader.c explains why. Freeing it is always safe and makes the next run slower.
 * Thread: that of the job; the schedule never runs two jobs of one pair at a time.
 */
struct rna_reader;

/* descriptors: maximum number of files open between runs. NULL: no memory. */
struct rna_reader *rna_reader_new(const struct rna_root *root, unsigned descriptors);
struct rna_reader *rna_reader_free(struct rna_reader *reader); /* accepts and returns NULL */
RNA_DEFINE_CLEANUP(struct rna_reader, rna_reader_free)

/* Setting hw_counters.source: where the agent reads hw_counters of ports. */
enum rna_hw_counters_source {
	RNA_HW_COUNTERS_SYSFS,
	RNA_HW_COUNTERS_NETLINK, /* RDMA netlink; sysfs for ports without an answer */
};

/* Setting counters.source: where the agent reads port counters of InfiniBand. */
enum rna_counters_source {
	RNA_COUNTERS_SYSFS,
	RNA_COUNTERS_AUTO, /* MADs if sysfs has no counters, or none with 64 bits */
	RNA_COUNTERS_MAD,  /* MADs; sysfs for ports that cannot be queried or do not answer */
};

/* Setting kernel_log.source: where the agent reads messages of the kernel. */
enum rna_kernel_log_setting {
	RNA_KERNEL_LOG_SETTING_AUTO, /* /dev/kmsg; the journal if that cannot be opened */
	RNA_KERNEL_LOG_SETTING_KMSG,
	RNA_KERNEL_LOG_SETTING_JOURNAL,
	RNA_KERNEL_LOG_SETTING_OFF,
};

/* Settings for collectors. */
struct rna_collect_options {
	enum rna_counters_source counters_source;
	enum rna_hw_counters_source hw_counters_source;
	enum rna_kernel_log_setting kernel_log;
	bool no_mads; /* setting fabric.enabled is false */
	bool follow;  /* for presence: also devices of other network namespaces */
	/* for presence: at most so many of one of these, so that none crowds out the others */
	unsigned follow_devices, follow_ports;
	uint32_t inside;     /* for presence: only what sysfs of this process shows; 0: of all */
	bool module_serial;  /* for module: also read serial numbers */
	bool probe_gateways; /* for gateways: make the kernel ask those that it does not know */
	/* for resources: list optional counters and whether they are enabled */
	bool optional_counters;
};

struct rna_collect_input {
	const struct rna_root *root;
	const struct rna_backends *backends;
	/* The newest one; for presence itself, the previous one. NULL: none yet. */
	const struct rna_presence *presence;
	/* The newest one, for collectors that need it. NULL: unreadable. */
	const struct rna_netdevs *netdevs;
	const struct rna_device_filter *filter; /* for presence; NULL: all devices */
	const struct rna_texts *functions; /* for presence: PCI functions to check; NULL: none */
	/* For topology: the rails of before, or of the profile; NULL: none */
	const struct rna_known_rails *rails;
	const struct rna_nic_facts *nic_facts; /* for topology; NULL: none */
	/* For ethernet: names of driver statistics without a family to read as well; NULL: none. */
	const struct rna_texts *statistics;
	const struct rna_device *device; /* lies in presence; NULL for node-wide collectors */
	/* Of this pair; NULL for node-wide collectors that keep no descriptors. */
	struct rna_reader *reader;
	/*
	 * This pair's newest good part, or that of the device's previous registration, or NULL. For
	 * values that are counted from run to run. It is valid during the run; the new part must
	 * not point into it.
	 */
	const struct rna_part *previous;
	struct rna_collect_options options;
	rna_usec period; /* how often this job runs; retry pauses grow from it */
};

/* Events of the kernel. An event only triggers a read; its content is not used as data. */
enum rna_event {
	RNA_EVENT_INTERFACE, /* rtnetlink: a network interface changed */
	RNA_EVENT_ADDRESS,   /* rtnetlink: an address of an interface was added or removed */
	RNA_EVENT_DEVICE,    /* uevent: an RDMA device was added, removed or renamed */
	RNA_EVENT_PCI,       /* uevent: a PCI function was added or removed */
	RNA_EVENT_PORT,      /* verbs: the state of a port changed */
	RNA_EVENT_LID,       /* verbs: LIDs, subnet manager or P_Keys changed */
	RNA_EVENT_GID,       /* verbs: the GID table changed */
	RNA_EVENT_GONE,      /* verbs: the device failed or is being removed */
	RNA_EVENT_MESSAGE,   /* kmsg: the kernel wrote a message */
	RNA_EVENT_LOST,      /* the kernel dropped events: they may have been about anything */
};

/* What the schedule itself reads from a part. For each of these there is exactly one collector. */
enum rna_listing {
	RNA_LISTS_NOTHING,
	RNA_LISTS_DEVICES,     /* struct rna_presence: the devices that collectors run on */
	RNA_LISTS_INTERFACES,  /* struct rna_netdevs: which device an interface serves */
	RNA_LISTS_LINK_LAYERS, /* struct rna_identity: which collectors a device needs */
};

/* How a part differs from the previous one. */
struct rna_news {
	bool content;        /* the collectors that follow this one must run again */
	bool labels;         /* metric labels may have changed */
	bool text;           /* something else has, which is to be shown */
	unsigned states;     /* number of ports that changed state */
	const char *problem; /* a new problem, for the log; lies in the newer part. NULL: none */
};

/* Bits for the columns below. */
#define RNA_ON(function)  (1U << RNA_FUNCTION_##function)
#define RNA_OF(collector) (1U << RNA_COLLECTOR_##collector)
#define RNA_AT(event)     (1U << RNA_EVENT_##event)
#define RNA_BY(source)    (1U << RNA_SOURCE_##source)

/* One row of the table. A column that a row leaves out is 0: the collector has no such need. */
struct rna_collector {
	enum rna_collector_id id;
	const char *name; /* "state": metric label, setting poll.state */
	const char *help; /* one sentence */

	/*
	 * Where it runs. per_device: on each device, otherwise once for the node. A device whose
	 * kind has nothing to read gets no job and no account of one; while its kind is unknown, it
	 * gets the job. functions: RNA_ON() kinds of device; 0: all. link_layer: at least one port
	 * must have it; UNKNOWN: any. own_path: only devices with a PCIe path of their own, so
	 * neither software devices nor virtual and scalable functions whose physical function is a
	 * device as well.
	 */
	bool per_device;
	unsigned functions;
	enum rna_link_layer link_layer;
	bool own_path;

	/*
	 * When it runs, apart from its period. later: it is too slow for the first view; a daemon
	 * runs it after that view is published. needs: RNA_OF() node-wide collectors that must have
	 * run once before it; their parts are in its input. follows: RNA_OF() collectors; when the
	 * part of one of them shows news, it runs again, on the same device or, if either of the
	 * two is node-wide, everywhere. source: where events of its own come from; it does not
	 * follow a part that was read for such an event, because the event made it run already.
	 */
	bool later;
	unsigned needs;
	unsigned follows;
	enum rna_source source;
	/* RNA_AT() events that make it run: at once, and one second later. */
	unsigned events;
	unsigned events_later;
	/*
	 * Where events tell of each change, a run only has to prove that they do. told: its period
	 * there, if the setting's is shorter; 0: they never do. told_by: RNA_BY() sources that must
	 * all be watched. told_of_ports: and only on devices that are covered (loop/rhythm.h).
	 */
	rna_usec told;
	unsigned told_by;
	bool told_of_ports;
	/*
	 * It runs just before the scrape that is expected, if one is near; what events tell of:
	 * only to prove that they do.
	 */
	bool for_scrapes;
	/*
	 * For expensive queries. settles: it follows others, and later events, only after this
	 * time, in which a link is configured. pause: it also waits until this long after the start
	 * of its last run, however often links change.
	 */
	rna_usec settles;
	rna_usec pause;

	/* What the schedule does with its parts. compare: NULL: nothing depends on them. */
	enum rna_listing lists;
	void (*compare)(const struct rna_part *old, const struct rna_part *new,
			struct rna_news *ret); /* pure; old: NULL: new is the first; ret: zeroed */
	bool compares_all;  /* compare misses nothing: without news, there is nothing to show */
	bool numbers_rails; /* other rails in its input: it must run again */
	bool recalled;      /* before the first, the memory of an earlier process provides one */

	/*
	 * Attribute files that its reader should keep open for each port. A node-wide collector has
	 * a reader only if it keeps any.
	 */
	unsigned descriptors;

	int (*collect)(const struct rna_collect_input *in, struct rna_part **ret,
		       struct rna_error *error);
};

/* collectors/table.c; index = enum rna_collector_id. */
extern const struct rna_collector rna_collectors[RNA_COLLECTOR_COUNT];

/*
 * Does the collector apply to the device, according to the columns above? identity: of the device;
 * NULL: unreadable, it may have ports of any kind.
 */
bool rna_collector_suits(const struct rna_collector *collector, const struct rna_presence *presence,
			 const struct rna_device *device, const struct rna_identity *identity);

/* Is the agent's PID namespace that of the node? 1, 0, or negative errno. Thread: any. */
int rna_is_first_pid_namespace(const struct rna_root *root);

/*
 * What a process finds (rna/model/inside.h), in arena; presence has its devices. 0, -ENOMEM, or
 * -ESRCH and -EACCES if its network namespace cannot be read. Thread: any.
 */
struct rna_inside;
int rna_look_inside(const struct rna_root *root, const struct rna_presence *presence,
		    struct rna_arena *arena, struct rna_inside *ret);

/*
 * A process of a pod, by its name or NAMESPACE/NAME: the first that has a file of /dev/infiniband
 * open, or else its last one. 0, -ESRCH if there is none, or another negative errno.
 */
int rna_find_pod_process(const struct rna_root *root, const char *name, uint32_t *ret);

/*
 * The resources that the kubelet gave to containers, in arena. 0, -ENOENT without a kubelet,
 * -EACCES without the right to read its checkpoint, -EBADMSG if that is damaged, or another
 * negative errno.
 */
struct rna_pod_resources;
int rna_read_pod_resources(const struct rna_root *root, struct rna_arena *arena,
			   struct rna_pod_resources *ret);
