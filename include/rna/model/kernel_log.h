/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel log: what drivers say of themselves. A pattern (agent/core/model/log_table.c) is a
 * message that means something for RDMA; an episode is the messages of one pattern about one
 * object. The part counts episodes from run to run; rules decide when one is over.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/base/clock.h"
#include "rna/model/finding.h"
#include "rna/model/part.h"

/* What a message is about; each kind but RECOVERY has a rule. */
enum rna_log_kind {
	RNA_LOG_FIRMWARE,    /* the firmware does not answer, or reports that it is not well */
	RNA_LOG_TRANSMIT,    /* a send queue of an interface does not move */
	RNA_LOG_PCIE,        /* errors of PCIe, slot power, links that went down */
	RNA_LOG_MODULE,      /* modules and cages */
	RNA_LOG_TEMPERATURE, /* a device is too hot */
	RNA_LOG_IOMMU,       /* a device accessed memory that it may not */
	RNA_LOG_CPU,         /* a processor is stuck in a network driver */
	RNA_LOG_GPUDIRECT,   /* peer memory */
	RNA_LOG_PROTOCOL,    /* ib_core and the protocols on it */
	RNA_LOG_DRIVER,      /* anything else that a driver reports as failed */
	RNA_LOG_SITE,        /* what the operator of the site looks for */
	RNA_LOG_RECOVERY,    /* the driver says that an episode is over: no finding */
	RNA_LOG_KIND_COUNT,
};

/* What must have been seen after the last message, beside silence, for an episode to be over. */
enum rna_log_end {
	RNA_LOG_ENDS_ANSWERING, /* the device answered questions that its firmware answers */
	RNA_LOG_ENDS_SENDING,   /* its interface is up and transmits packets */
	RNA_LOG_ENDS_COUNTERS,  /* the error counters of its PCIe path are known and stand still */
	RNA_LOG_ENDS_COOL,      /* its temperature is known and below the limit */
	RNA_LOG_ENDS_ACTIVE,    /* its port is up */
	RNA_LOG_ENDS_RECOVERED, /* nothing but a message of recovery, or a new registration */
	RNA_LOG_ENDS_RUNNING,   /* the node as a whole: the agent ran on all the time */
};

/* How a message names its object. */
enum rna_log_object {
	RNA_LOG_OBJECT_PCI,    /* "mlx5_core 0000:3b:00.0: ..." */
	RNA_LOG_OBJECT_NETDEV, /* "mlx5_core 0000:3b:00.0 ens1f0np0: ...", "ib0: ..." */
	RNA_LOG_OBJECT_RDMA,   /* "infiniband mlx5_0: ...", "efa 0000:00:1c.0 rdmap0s28: ..." */
	RNA_LOG_OBJECT_NODE,   /* none of them */
};

struct rna_log_pattern {
	const char *name;   /* "mlx5-command-timeout"; a metric label, for ever */
	const char *driver; /* who prints it: "mlx5_core", "pcieport", "DMAR" */
	const char *anchor; /* a literal that each such line contains; searched for first */
	const char *regex;  /* POSIX extended, on the whole message without time and level */
	/*
	 * Regex of a later line of the same report that must come too; NULL. It contains
	 * named_after, or "+0x" of a frame of a stack, and names the object.
	 */
	const char *follows;
	enum rna_log_object object;
	const char *named_after; /* what stands right before the object's name; NULL: its start */
	enum rna_log_kind kind;
	enum rna_severity severity;
	enum rna_log_end end;
	const char *recovered_by; /* name of the RECOVERY pattern that ends it; NULL: none */
	/*
	 * Drivers print it at each boot of healthy machines, too: information without evidence of
	 * harm, a port or a device that is lost or slow.
	 */
	bool routine;
	/* The kernel prints it of any device, not of NICs only. */
	bool of_any;
	const char *meaning; /* a clause: "the firmware did not finish a command in time" */
	const char *remedy;  /* a sentence or two; NULL: that of the rule */
	const char *source;  /* where the line is printed: file and function, version */
};

/*
 * A report over several lines that has begun. Zeroed: none. The caller keeps one for each log that
 * it reads and passes it with each message, in their order. Copy it by assignment.
 */
struct rna_log_pending {
	const struct rna_log_pattern *pattern;
	unsigned lines_left;
};

/* "firmware", "transmit", "pcie", ...: for documents and outputs. */
const char *rna_log_kind_name(enum rna_log_kind kind);
/* What must be seen, as a clause: "the device answers again". */
const char *rna_log_end_text(enum rna_log_end end);

/* One message, in the arena of its part. */
struct rna_log_line {
	uint64_t sequence;
	/*
	 * CLOCK_MONOTONIC; 0: unknown. The kernel's clock for messages drifts from it, by minutes
	 * in months (local_clock() in kernel/printk/printk.c is not corrected by NTP): the time of
	 * a message that the agent read soon lies between the two runs around it.
	 */
	rna_usec time;
	const char *text; /* the message, cut to RNA_LOG_TEXT_MAX, control characters escaped */
};

enum {
	RNA_LOG_TEXT_MAX = 256,
	RNA_LOG_EPISODES_MAX = 256, /* further ones are counted as dropped */
};

struct rna_log_episode {
	const struct rna_log_pattern *pattern;
	/* The names below in one text, "node" without any: pattern and object are the key. */
	const char *object;
	/* The object, as far as the message names it; NULL: it does not. */
	const char *pci; /* "0000:3b:00.0" */
	const char *netdev;
	const char *rdma; /* "mlx5_0" */
	uint64_t count;
	struct rna_log_line first, last;
	rna_usec recovered; /* time of the newest message of recovery; 0: none */
};

enum rna_kernel_log_source {
	RNA_KERNEL_LOG_NONE,     /* nothing is read; error says why */
	RNA_KERNEL_LOG_KMSG,     /* /dev/kmsg */
	RNA_KERNEL_LOG_JOURNAL,  /* systemd's journal */
	RNA_KERNEL_LOG_RECORDED, /* a file of a recording: times are those of its boot */
};

const char *rna_kernel_log_source_name(enum rna_kernel_log_source source);

struct rna_kernel_log {
	struct rna_part part;
	enum rna_kernel_log_source source;
	/*
	 * With source NONE: negative errno; 0: nothing is wanted (kernel_log.source is off), or the
	 * machine is a recording without a log.
	 */
	int error;
	const char *problem; /* the error in words, for the log of the agent; NULL: none */
	/*
	 * Messages are those of the kernel, and what programs write to its log; patterns are
	 * compared with the kernel's own.
	 */
	uint64_t sequence;  /* of the newest message; of the journal, their number */
	rna_usec newest;    /* its time, by the kernel */
	const char *cursor; /* position in the journal; NULL: another source */
	bool behind;        /* there was more than a run may read */
	uint64_t lines;     /* messages since boot, read or lost, as far back as the source goes */
	uint64_t matched;   /* of them, those of a pattern */
	uint64_t lost;      /* overwritten before they were read, or beyond the limit of a run */
	uint64_t dropped;   /* of episodes beyond RNA_LOG_EPISODES_MAX */
	/*
	 * The messages of this run, lost ones too, and the time that they are from. The first run
	 * reads what is in the log already: its messages do not count as a flood, its time is 0.
	 */
	uint64_t run_lines;
	rna_usec run_time;
	double rate;         /* messages per second, averaged over about a minute */
	const char *loudest; /* who wrote most of them ("mlx5_core 0000:3b:00.0"); NULL: unknown */
	struct rna_log_pending pending; /* reports over several lines that have begun */
	size_t episode_count;
	const struct rna_log_episode *episodes; /* by first message */
};

struct rna_snapshot;

/* The name of the RDMA device that the episode is about; NULL: there is none, or it is gone. */
const char *rna_log_episode_device(const struct rna_snapshot *snapshot,
				   const struct rna_log_episode *episode);
