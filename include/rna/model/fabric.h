/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fabric around a port: the peer at the other end of its cable, the subnet manager, the port's
 * partitions, and counters of lost packets by cause.
 *
 * On InfiniBand the collector fabric reads all of it by MADs (IBTA 14.2.5 and 16.1.4). struct
 * rna_peer also describes peers found by LLDP.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/model/counter.h"
#include "rna/model/device.h"
#include "rna/model/gid.h"
#include "rna/model/value.h"

enum rna_peer_source {
	RNA_PEER_BY_MAD,  /* queried by a directed-route MAD */
	RNA_PEER_BY_LLDP, /* announced by LLDP */
};

const char *rna_peer_source_name(enum rna_peer_source source); /* "mad", "lldp" */

/* One end of a link: active, enabled and supported width (lanes) and speed (code). */
struct rna_link_end {
	struct rna_value width;
	struct rna_value width_enabled;
	struct rna_value width_supported;
	struct rna_value speed_code;
	struct rna_value speed_enabled;
	struct rna_value speed_supported;
};

/*
 * The node and port at the other end of a port's cable. Unknown texts are NULL, unknown values
 * absent.
 */
struct rna_peer {
	enum rna_peer_source source;
	enum rna_node_type type;      /* a switch, mostly */
	const char *name;             /* node description; LLDP: system name */
	const char *port;             /* port number: "12"; LLDP: port ID */
	const char *port_description; /* its configured description; LLDP only */
	const char *guid;             /* node GUID: "1070:fd03:0000:0001"; LLDP: chassis ID */
	const char *system_image_guid;
	struct rna_value lid;
	struct rna_link_end link; /* its end */
	/* Last known data: the link is down or the peer does not answer. seen: its last answer. */
	bool stale;
	struct rna_time seen;
};

/* Are both the same port of the same node? Compares names if there is no GUID. */
bool rna_peer_is_same(const struct rna_peer *a, const struct rna_peer *b);

/* SMInfo:SMState, IBTA 14.4.1. */
enum rna_manager_state {
	RNA_MANAGER_NOT_ACTIVE = 0,
	RNA_MANAGER_DISCOVERING = 1,
	RNA_MANAGER_STANDBY = 2,
	RNA_MANAGER_MASTER = 3,
};

const char *rna_manager_state_name(uint64_t state); /* "master"; "?" for unknown codes */

/* The subnet manager of a port. */
struct rna_manager {
	struct rna_value lid; /* from PortInfo:MasterSMLID */
	const char *guid;     /* port GUID; NULL: it never answered */
	struct rna_value priority;
	struct rna_value state; /* enum rna_manager_state */
	/* Consecutive timeouts since its last answer; other failures do not count. */
	unsigned unanswered;
	uint64_t changes; /* changes of the manager, by GUID, or by LID if the GUID is unknown */
	struct rna_time changed;
};

struct rna_pkey {
	unsigned index;
	uint16_t key; /* without the membership bit */
	bool full;    /* full member; limited members cannot communicate with each other */
};

enum { RNA_DEFAULT_PKEY = 0x7fff };

/*
 * Topics, each read by its own query. After a refusal the agent does not repeat that query for a
 * while.
 */
enum { RNA_FABRIC_TOPICS = 10 };

struct rna_port_fabric {
	unsigned number;
	bool answered; /* MADs, or it requires an M_Key; false: P_Keys at most are known */
	const struct rna_peer *peer; /* NULL: never known */
	/* The previous peer since the agent started; NULL: none. */
	const struct rna_peer *former_peer;
	uint64_t peer_changes;
	struct rna_time peer_changed;
	struct rna_manager manager;
	/* 1: the port or its peer rejects queries without an M_Key, or seems to; 0: both answer. */
	struct rna_value key_required;
	struct rna_value virtual_lanes; /* operational VLs without VL15 */
	bool pkeys_known;
	bool pkeys_from_files; /* the first ones only */
	size_t pkey_count;
	const struct rna_pkey *pkeys;        /* ascending by index */
	struct rna_value congestion_control; /* 1: the MAD class answered, 0: it was refused */
	/* For the collector only: monotonic time before which it does not query a topic. */
	rna_usec retry[RNA_FABRIC_TOPICS];
	uint64_t look; /* hash of what changes when the port is configured */
	/* Consecutive runs in which the query failed for any reason. */
	unsigned char silent[RNA_FABRIC_TOPICS];
};

/* Is the port a member of that partition? key: without the membership bit. */
bool rna_port_has_pkey(const struct rna_port_fabric *fabric, uint16_t key);

/* Begins with a counters part, whose groups are RNA_PLACE_PORT_FABRIC. */
struct rna_fabric {
	struct rna_counters_part counters;
	size_t port_count;
	/*
	 * Ascending by number: ports that have answered at least once, or require an M_Key, or
	 * whose P_Keys the files of sysfs tell.
	 */
	const struct rna_port_fabric *ports;
};

/* -- Networks ---------------------------------------------------------------------------------- */

/*
 * Ports of this node whose peers can reach each other, as far as the node knows. Of a fabric it
 * knows partitions, and addresses; the setting fabric.networks says what it cannot know, for
 * example that two planes are not connected. One choice of networks serves all outputs.
 */
enum rna_network_source {
	RNA_NETWORK_CONFIGURED, /* fabric.networks */
	RNA_NETWORK_PARTITION,  /* of InfiniBand: subnet and P_Key */
	RNA_NETWORK_PLANE,      /* of RoCE: what addresses look like */
	RNA_NETWORK_SEGMENT,    /* of RoCE: VLANs or probes show that others are not reached */
};

struct rna_network {
	const char *name; /* "plane-a", "partition 0x0a01", "172.16.0.0/21", "VLAN 100" */
	enum rna_network_source source;
	size_t port_count;
	uint16_t partition; /* without the membership bit; 0: RoCE */
};

enum { RNA_IPV4_BIT = 96 }; /* of a mapped address, in front of that of IPv4 */

/* An entry of fabric.networks: "NAME=ADDRESS/BITS" or "NAME=P_KEY". Entries may share a name. */
struct rna_network_range {
	const char *name; /* not ended: len characters */
	size_t len;
	struct rna_gid address; /* IPv4: mapped */
	unsigned bits;          /* of address, 96 and more for IPv4; 0: a partition */
	uint16_t partition;
	unsigned place; /* of the ports that share it; 0: it is configured */
};

bool rna_network_range_parse(const char *entry, struct rna_network_range *ret);
bool rna_network_range_is_valid(const char *entry);
/* Has the address the first bits of the range? False for partitions. */
bool rna_network_range_has(const struct rna_network_range *range, const struct rna_gid *address);

/* In the arena of the view. */
struct rna_networks {
	size_t count;
	const struct rna_network *items;
	size_t range_count;                     /* of the configuration */
	size_t shared_count;                    /* that ports share, which have other addresses */
	const struct rna_network_range *ranges; /* the configured ones first */
};

/* Why ports do not reach each other, or may not. */
struct rna_network_evidence {
	const char *text;   /* a phrase */
	const char *remedy; /* it is no proof: what to do about it; NULL: it is one */
};

struct rna_subject;
struct rna_view;

/*
 * Sets view->networks and the network of each of the ports, the view's. entries: NULL-ended, or
 * NULL: none. 0 or -ENOMEM.
 */
int rna_networks_find(struct rna_view *view, struct rna_subject *ports, size_t count,
		      char *const *entries);
/*
 * Is the port reached by that address in its network? Yes, unless its network is configured with
 * another prefix, or the ports in its place share another one.
 */
bool rna_network_uses(const struct rna_subject *port, const struct rna_gid *address);
/* Why ports of different networks are apart. */
const struct rna_network_evidence *rna_network_apart(const struct rna_subject *a,
						     const struct rna_subject *b);
/* The P_Key of the port for its network. NULL: RoCE, or none is known. */
const struct rna_pkey *rna_network_pkey(const struct rna_subject *port);
