/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fabric around a port: what is at the other end of its cable, who manages the subnet, which
 * partitions it is in, and counters that tell why packets were lost.
 *
 * On InfiniBand the collector fabric asks all of it by MADs (IBTA 14.2.5 and 16.1.4). The struct of
 * a peer is that of any port, whoever found it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/model/counter.h"
#include "rna/model/device.h"
#include "rna/model/value.h"

enum rna_peer_source {
	RNA_PEER_BY_MAD,  /* asked by a directed route */
	RNA_PEER_BY_LLDP, /* it announced itself */
};

const char *rna_peer_source_name(enum rna_peer_source source); /* "mad", "lldp" */

/* One end of a link: what it does, may do, and could do. Lanes, and codes of speeds. */
struct rna_link_end {
	struct rna_value width;
	struct rna_value width_enabled;
	struct rna_value width_supported;
	struct rna_value speed_code;
	struct rna_value speed_enabled;
	struct rna_value speed_supported;
};

/* What is at the other end of a port's cable. Texts are NULL, values absent where not known. */
struct rna_peer {
	enum rna_peer_source source;
	enum rna_node_type type;      /* a switch, mostly */
	const char *name;             /* its node description; the system name of LLDP */
	const char *port;             /* in which the cable is: "12"; the port ID of LLDP */
	const char *port_description; /* what somebody wrote to it; LLDP only */
	const char *guid;             /* of the node: "1070:fd03:0000:0001"; chassis ID of LLDP */
	const char *system_image_guid;
	struct rna_value lid;
	struct rna_link_end link; /* its end */
	/*
	 * Not from now: the link is down or the peer silent, and this is what was there. seen: when
	 * it answered last.
	 */
	bool stale;
	struct rna_time seen;
};

/* Are both the same port of the same node? What has no GUID is known by its name. */
bool rna_peer_is_same(const struct rna_peer *a, const struct rna_peer *b);

/* SMInfo:SMState, IBTA 14.4.1. */
enum rna_manager_state {
	RNA_MANAGER_NOT_ACTIVE = 0,
	RNA_MANAGER_DISCOVERING = 1,
	RNA_MANAGER_STANDBY = 2,
	RNA_MANAGER_MASTER = 3,
};

const char *rna_manager_state_name(uint64_t state); /* "master"; "?" for unknown codes */

/* The subnet manager that a port obeys. */
struct rna_manager {
	struct rna_value lid; /* from PortInfo:MasterSMLID */
	const char *guid;     /* of its port; NULL: it never answered */
	struct rna_value priority;
	struct rna_value state; /* enum rna_manager_state */
	/* How often in a row it, known before, let the time run out; other failures are not its. */
	unsigned unanswered;
	uint64_t changes; /* how often it became another one: by GUID, or by LID without */
	struct rna_time changed;
};

struct rna_pkey {
	unsigned index;
	uint16_t key; /* without the bit of membership */
	bool full;    /* member; limited ones cannot talk to each other */
};

enum { RNA_DEFAULT_PKEY = 0x7fff };

/* What is asked for one by one; who does not know of one is not asked for it for a while. */
enum { RNA_FABRIC_TOPICS = 10 };

struct rna_port_fabric {
	unsigned number;
	const struct rna_peer *peer; /* NULL: never known */
	/* What was in its place, as long as the agent runs; NULL: nothing else. */
	const struct rna_peer *former_peer;
	uint64_t peer_changes;
	struct rna_time peer_changed;
	struct rna_manager manager;
	struct rna_value virtual_lanes; /* in operation, VL15 aside */
	bool pkeys_known;
	size_t pkey_count;
	const struct rna_pkey *pkeys;        /* ascending by index */
	struct rna_value congestion_control; /* 1: the class answered, 0: it is refused */
	/* The collector's own: monotonic times before which a topic is left alone. */
	rna_usec retry[RNA_FABRIC_TOPICS];
	/* Runs in a row in which it was asked in vain, whatever the reason. */
	unsigned char silent[RNA_FABRIC_TOPICS];
};

/* Is the port a member of that partition? key: without the bit of membership. */
bool rna_port_has_pkey(const struct rna_port_fabric *fabric, uint16_t key);

/* It begins like a part of counters, whose groups are of RNA_PLACE_PORT_FABRIC. */
struct rna_fabric {
	struct rna_counters_part counters;
	size_t port_count;
	const struct rna_port_fabric *ports; /* ascending by number; those that answered once */
};
