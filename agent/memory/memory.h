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
#include "rna/model/selftest.h"

#include "former_memory.h"
#include "history.h"
#include "node_memory.h"
#include "peer_memory.h"
#include "port_traffic.h"
#include "rail_memory.h"

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
	struct rna_history history; /* in files of its own */
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
