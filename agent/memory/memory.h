/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory: what the agent knows of devices and ports beyond the moment. Some of it outlives the
 * process (state_directory.h), the rest begins with it. Devices are found by their key, so that
 * renames and reloads of a driver change nothing; a name that changes is kept for some time.
 * Thread: the loop's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/base/error.h"
#include "rna/base/strbuf.h"
#include "rna/model/expectation.h"
#include "rna/model/fabric.h"
#include "rna/model/part.h"
#include "rna/model/selftest.h"
#include "rna/model/topology.h"

#include "history.h"
#include "node_memory.h"
#include "port_traffic.h"

struct rna_device;
struct rna_identity;
struct rna_view;
struct rna_view_port;

/*
 * Names and GUIDs as they were before they changed. A change is reported for a day, or until
 * "expect accept" accepts the port: in that time the oldest text is the one to compare with, so
 * that a name that comes back ends the report.
 */
#define RNA_FORMER_SPAN (24 * 60 * 60 * RNA_USEC_PER_SEC)

struct rna_former_memory {
	char *text;       /* NULL: it never changed */
	rna_usec changed; /* realtime */
};

/*
 * What was at the other end of a port's cable: one peer for each port, of the HCA that had it.
 * Another HCA in the same slot has another cable. All of it empty: nothing was ever known.
 */
struct rna_peer_memory {
	char *hca; /* node GUID of the port's own device */
	char *name;
	char *port;
	char *port_description;
	char *guid;
	char *system_image_guid;
	enum rna_peer_source source;
	unsigned type; /* enum rna_node_type */
	uint64_t lid;  /* 0: not known */
	rna_usec seen; /* realtime */
};

/*
 * What is remembered of the node's rails, so that they keep their numbers while a NIC is missing
 * (rna/model/topology.h).
 */
struct rna_rail_memory {
	rna_usec learned; /* realtime; 0: never */
	size_t gpu_count;
	size_t count;
	struct rna_known_nic *nics; /* owns the addresses */
	rna_usec accepted;          /* realtime: what was learned until then is void; other file */
	/* Not kept: */
	rna_usec taken;   /* monotonic, of the newest topology that was seen */
	uint64_t version; /* grows when rna_rails_known() may give something else */
};

/* What an administrator accepted ("expect accept"). */
struct rna_accepted {
	enum rna_expected
		expected; /* UNKNOWN: nothing was accepted; of a device DOWN: it is gone */
	rna_usec time;    /* realtime */
};

/* A quiesce that is on, for an agent that is restarted while the machine runs on. */
struct rna_quiesced {
	char *boot;          /* of the machine, its id; NULL: none was on */
	rna_usec until;      /* monotonic; 0: not requested */
	char *node;          /* "KEY=VALUE", the label of the Node; NULL: it had none */
	rna_usec node_until; /* monotonic, when it was only recalled; 0: it was read */
};

enum { RNA_TESTS_REMEMBERED = 2 * RNA_ENDPOINT_COUNT };

struct rna_port_memory {
	unsigned number;
	char *netdev; /* its last one, or NULL */
	struct rna_former_memory former_netdev;
	bool bonded;           /* netdev is a bond; not kept */
	rna_usec first_active; /* realtime; 0: never */
	rna_usec last_active;  /* when it was seen to be ACTIVE last */
	struct rna_port_best best;
	rna_usec last_test; /* realtime of the last self-test; 0: never */
	rna_usec last_good_test;
	/* What rules ask for: the newest tests with each kind of memory, oldest first. */
	size_t test_count;
	struct rna_selftest_run *tests; /* RNA_TESTS_REMEMBERED at most; NULL: none yet */
	struct rna_peer_memory peer;
	struct rna_accepted accepted; /* from another file than the rest */
	struct rna_port_track track;  /* not kept */
	struct rna_rates *rates;      /* not kept; NULL: its counters are not followed */
	struct rna_user_memory *user; /* not kept; NULL: its device has no user, or several */
};

struct rna_device_memory {
	char *key;
	char *name; /* its last one */
	struct rna_former_memory former_name;
	char *pci_address; /* or NULL */
	/* Node GUID of the card that was here last; NULL: not known, or zero. */
	char *guid;
	rna_usec guid_since; /* realtime; when it was first seen here */
	struct rna_former_memory former_guid;
	rna_usec last_seen; /* realtime; 0: it was only heard of */
	/*
	 * Functions that come and go with the work on a node (VF, SF) are not expected to be there,
	 * and not kept.
	 */
	bool lasting;
	struct rna_accepted accepted;
	size_t port_count;
	struct rna_port_memory *ports; /* in the order in which they were first seen */
	/* Not kept: */
	size_t place; /* in the memory's list */
	bool present;
	struct rna_time missing; /* when its absence was noticed */
};

struct rna_memory {
	size_t count;
	struct rna_device_memory **devices; /* in the order in which they were first seen */
	void *by_key;                       /* the same devices, as a tree of tsearch(3) */
	/* Behind the device that was found last: views search devices in the order of the list. */
	size_t next;
	struct rna_node_memory node; /* what was published on the Node */
	struct rna_quiesced quiesced;
	bool changed; /* something that is persisted changed; reset when it is written */
	struct rna_history histories[RNA_CHANGE_KIND_COUNT]; /* in files of their own */
	struct rna_rail_memory rails;
	size_t rates_count; /* ports with rates; RNA_RATES_PORTS_MAX at most */
};

#define RNA_MEMORY_INIT ((struct rna_memory){0})

/* When something was accepted; 0: never. */
static inline rna_usec rna_accepted_time(const struct rna_accepted *accepted)
{
	return accepted->expected != RNA_EXPECTED_UNKNOWN ? accepted->time : 0;
}

void rna_memory_deinit(struct rna_memory *memory); /* idempotent */
struct rna_device_memory *rna_device_memory_free(struct rna_device_memory *device);
RNA_DEFINE_CLEANUP(struct rna_device_memory, rna_device_memory_free)

/* Makes *field, which the memory owns, a copy of text (NULL is fine). True: it was another text. */
bool rna_memory_set_text(char **field, const char *text);

/* What is known under key, created if new. NULL: no memory. */
struct rna_device_memory *rna_memory_device(struct rna_memory *memory, const char *key);
/* NULL: nothing is known. */
struct rna_device_memory *rna_memory_find(struct rna_memory *memory, const char *key);
/* Created if new: then pointers to other ports of the device are void. NULL: no memory. */
struct rna_port_memory *rna_memory_port(struct rna_device_memory *device, unsigned number);

/* Keeps what matters of the tests of a port. False: no memory, and what was kept is as it was. */
bool rna_memory_keep_tests(struct rna_port_memory *port, const struct rna_selftest_port *tested);

/* -- Peers ------------------------------------------------------------------------------------- */

void rna_peer_memory_deinit(struct rna_peer_memory *memory); /* idempotent */

/*
 * Takes what is known of a port now. hca: NULL: not known, then nothing is learned; another one
 * than before: what was known of its peer is forgotten. peer: NULL: nothing. True: it is something
 * else than what was known; that it was seen again is no news.
 */
bool rna_peer_memory_learn(struct rna_peer_memory *memory, const char *hca,
			   const struct rna_peer *peer);

/*
 * The peer of a port of this HCA as the memory knows it, stale, in arena. NULL: none, or no memory
 * (then *no_memory).
 */
const struct rna_peer *rna_peer_memory_tell(const struct rna_peer_memory *memory, const char *hca,
					    struct rna_arena *arena, bool *no_memory);

/*
 * What the memory knows of a device, as a part of that collector, for use before the first run of
 * it. identity: NULL: it was not read yet. NULL: nothing is known, or no memory.
 */
struct rna_part *rna_memory_recall(struct rna_memory *memory, enum rna_collector_id id,
				   const struct rna_device *device,
				   const struct rna_identity *identity);

/*
 * The part of the collector fabric, with the peers of the ports of this HCA that were found by MAD.
 * NULL as above.
 */
struct rna_part *rna_peers_recall(const struct rna_device_memory *device, const char *hca);

/* -- Rails ------------------------------------------------------------------------------------- */

void rna_rail_memory_deinit(struct rna_rail_memory *memory); /* idempotent */

/*
 * Takes the rails of a topology, unless something is missing there. True: something changed that
 * is kept. Without memory for it the next topology tries again.
 */
bool rna_rail_memory_learn(struct rna_rail_memory *memory, const struct rna_topology *topology,
			   rna_usec now);

/* For the collector; without NICs whose absence was accepted. NULL: nothing, or no memory. */
struct rna_known_rails *rna_rails_known(const struct rna_memory *memory);

/* -- Former names ------------------------------------------------------------------------------ */

void rna_former_memory_deinit(struct rna_former_memory *former); /* idempotent */

/*
 * Makes *present, which the memory owns, a copy of text, and keeps what it was. accepted: when the
 * present state was accepted last; 0: never. True: it changed.
 */
bool rna_former_learn(struct rna_former_memory *former, char **present, const char *text,
		      rna_usec accepted, rna_usec now);

/* When the names and the GUID of a device were accepted last; 0: never. */
rna_usec rna_former_accepted(const struct rna_device_memory *device);

/*
 * Fills in view->devices, and the names of interfaces in ports, which are those of the view. False:
 * no memory; then some of it is empty.
 */
bool rna_formers_tell(struct rna_memory *memory, struct rna_view *view,
		      struct rna_view_port *ports);

/* -- Files ------------------------------------------------------------------------------------- */

/*
 * The file of what is kept (memory_file.c), as JSON; and back, into an empty memory. -EBADMSG: it
 * is damaged; -EOPNOTSUPP: a newer version wrote it; else -ENOMEM. In all three cases with error
 * and memory as it was.
 */
void rna_memory_write(const struct rna_memory *memory, struct rna_strbuf *out);
int rna_memory_read(struct rna_memory *memory, const char *text, size_t len,
		    struct rna_error *error);

/* The file of what was accepted likewise. Reading replaces all that was accepted before. */
void rna_accepted_write(const struct rna_memory *memory, struct rna_strbuf *out);
int rna_accepted_read(struct rna_memory *memory, const char *text, size_t len,
		      struct rna_error *error);
