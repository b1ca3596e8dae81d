/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The episodes of the kernel log, as the agent remembers them: which of them still hold, and which
 * are over. The collector counts messages from boot on and knows no end; here an episode ends by
 * what is seen after its last message (enum rna_log_end), and what has ended stays so when a new
 * process reads the log from its beginning again. A further message makes it hold anew.
 *
 * An episode that was quiet before the agent heard of it raises nothing as long as what is seen
 * speaks against it: a message of last month is no alarm of today.
 * Thread: the loop's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/base/kept.h"
#include "rna/model/kernel_log.h"
#include "rna/model/view.h"

#include "settings/settings.h"

/* So long there must have been no further message, and what ends the episode must have been seen.
 */
#define RNA_EPISODE_QUIET (10 * 60 * RNA_USEC_PER_SEC)

enum {
	/* Those of the collector, and as many that it no longer knows. Ended ones go first. */
	RNA_EPISODES_KEPT = 2 * RNA_LOG_EPISODES_MAX,
};

enum rna_episode_state {
	RNA_EPISODE_HOLDS,
	RNA_EPISODE_DOUBTFUL, /* it was quiet before the agent heard of it, and nothing is wrong */
	RNA_EPISODE_OVER,
};

/* What the object of an episode is on this node. */
enum rna_episode_place {
	RNA_EPISODE_ELSEWHERE,   /* nothing that RDMA depends on */
	RNA_EPISODE_AT_NODE,     /* the messages name no object */
	RNA_EPISODE_AT_DEVICE,   /* an RDMA device, or what belongs to no other one */
	RNA_EPISODE_AT_FUNCTION, /* the PCI function of a NIC that has no RDMA device now */
	RNA_EPISODE_AT_BRIDGE,   /* a PCIe port above several cards */
};

enum rna_episode_relation {
	RNA_EPISODE_ITSELF,
	RNA_EPISODE_ABOVE,   /* a PCIe port on the path of the device */
	RNA_EPISODE_VIRTUAL, /* a virtual function of it */
};

struct rna_episode_object {
	enum rna_episode_place place;
	enum rna_episode_relation relation;
	/* At a device; of a bridge the first one below it. NULL: none. */
	const struct rna_snapshot_device *device;
	/* The device that the messages are about, which may be a virtual function; NULL: none. */
	const struct rna_snapshot_device *witness;
	unsigned port;       /* that the messages name; 0: none */
	const char *netdev;  /* the interface that they name, in the snapshot; NULL: none */
	const char *address; /* of a function or bridge */
	const char *name;    /* that the device of a function had; NULL: not known */
	bool stranger;       /* of a function: no NIC that the agent knows of, now or before */
	size_t below;        /* devices below a bridge */
};

/* What is seen now of that which ends an episode. */
enum rna_episode_evidence {
	RNA_EPISODE_UNSEEN, /* there is no such data */
	RNA_EPISODE_BAD,
	RNA_EPISODE_GOOD,
};

struct rna_episode_line {
	uint64_t sequence;
	rna_usec time;     /* as in struct rna_log_line */
	rna_usec realtime; /* 0: not known, as in a recording */
	char *text;
};

struct rna_episode {
	const struct rna_log_pattern *pattern;
	char *pci, *netdev, *rdma; /* as in struct rna_log_episode */
	char *name;                /* of its RDMA device when there was one; NULL: never */
	enum rna_episode_state state;
	uint64_t count; /* messages since it holds */
	struct rna_episode_line first, last;
	rna_usec heard;      /* monotonic; when the newest message was, by the agent's clock */
	bool recovered;      /* by a message of recovery after the last one */
	bool accepted;       /* ended by "expect accept" */
	bool quiet;          /* it was when the agent first heard of it */
	bool recalled;       /* from an earlier process; the log has not confirmed it yet */
	uint64_t read;       /* the collector's count at the last look */
	bool registered;     /* is generation known? */
	uint64_t generation; /* of its device when the newest message came; 0: it had none */
	/* Not kept: */
	struct rna_episode_object object; /* in the view that is being made */
	enum rna_episode_evidence evidence;
	rna_usec good;           /* since when evidence is good; 0: it is not */
	struct rna_value errors; /* on its PCIe path, at the last look */
};

struct rna_episodes {
	size_t count;
	size_t size;
	struct rna_episode **items; /* in the order in which they were heard of */
	rna_usec taken;             /* of the part that was looked at last */
	bool behind;                /* was it still reading what was said before? */
	uint64_t lost;              /* of that part */
	rna_usec lossless;          /* monotonic; no message was lost since then */
	bool flood;                 /* messages come faster than RNA_EPISODES_FLOOD allows */
	bool changed;               /* one began or ended, since it was last reset */
	bool grew;                  /* further messages came, since it was last reset */
};

/*
 * Messages per second, of any driver. At 150 bytes each they fill a gigabyte a day in each of two
 * places, the journal and a log file: what filled the disk of a node for hours was a driver in a
 * loop. A flood is over below half of that.
 */
#define RNA_EPISODES_FLOOD 100.0

void rna_episodes_deinit(struct rna_episodes *episodes); /* idempotent */

/*
 * In a file, a list. Of an episode that is over, what a new process needs to know it again. It
 * means something to the boot that wrote it only: another one has another log.
 */
json_t *rna_episodes_write(struct rna_json_writer *writer, const struct rna_episodes *episodes);

/*
 * Into an empty memory. One that is damaged, or of a pattern that is not known, costs only itself.
 * 0 or -ENOMEM.
 */
int rna_episodes_read(struct rna_episodes *episodes, const json_t *list);

/*
 * Takes what the log says, and decides what holds. complete: has every job run, so that what is not
 * seen cannot be seen? 0 or -ENOMEM: then some episodes are missing until the next view.
 */
int rna_episodes_update(struct rna_episodes *episodes, const struct rna_view *view,
			const struct rna_settings *settings, bool complete);

/* Looks up an episode of that pattern and object; it is made when there is none. NULL: no memory.
 */
struct rna_episode *rna_episodes_get(struct rna_episodes *episodes,
				     const struct rna_log_pattern *pattern, const char *pci,
				     const char *netdev, const char *rdma);
