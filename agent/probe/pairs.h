/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the guest of the loop knows: ports of this node, peers, and the pairs that they make. The
 * prober's ports and targets follow from it. Thread: the loop's.
 */
#pragma once

#include "mesh/peer_discovery.h"

#include "ledger.h"
#include "probe_ports.h"
#include "verdicts.h"

enum {
	RNA_PROBING_PORTS_MAX = 32,
	RNA_PROBING_PEERS_MAX = 8,
	RNA_PROBING_PAIRS_MAX = 512,
};

/* A port of this node. */
struct rna_probing_port {
	struct rna_probe_plan plan; /* device "": this place is free */
	bool listed;                /* the newest view has it */
	uint32_t id;                /* of the prober's port; 0: it has none */
	uint64_t session;           /* with which the prober was asked to open it */
	bool closing;               /* the prober was asked to close it */
	bool open;
	bool paused; /* the prober closed it because it was flooded */
	struct rna_probe_pauses pauses;
	rna_usec pause; /* the newest one's length */
	rna_usec again; /* monotonic: after a failure or pause */
	char text[RNA_PROBER_TEXT_MAX];
	struct rna_probe_address address;
	bool hardware_times;
	struct rna_probe_counts counts[RNA_PROBE_SCOPE_COUNT];
	struct rna_port_verdict verdict;
	rna_usec since; /* realtime, of the verdict */
	bool recalled;  /* what the memory has of it: */
	enum rna_probe_verdict former;
	rna_usec former_since; /* realtime; 0: nothing, or it is over */
};

/* A member that this node probes. */
struct rna_probing_peer {
	char name[RNA_PEER_TEXT_SIZE]; /* as the list of members has it; "": this place is free */
	char origin[RNA_PEER_ORIGIN_SIZE];
	char host[RNA_PEER_TEXT_SIZE]; /* of its agent; "": it was not asked yet */
	uint64_t choice;               /* the newest that named it */
	struct rna_peer_word word;     /* runs: its prober, all ports considered */
	bool answered;                 /* the newest question */
	bool refused;
	char text[RNA_ERROR_MAX];    /* why */
	struct rna_peer_facts facts; /* the newest; port_count 0: none yet */
};

struct rna_probing_pair {
	struct rna_probing_port *port; /* NULL: this place is free */
	struct rna_probing_peer *peer; /* NULL: of this node */
	bool listed;                   /* it is still to be probed */
	uint32_t id;                   /* of the prober's target; 0: none is set */
	enum rna_probe_scope scope;
	enum rna_probe_state state;
	char device[RNA_PEER_NAME_SIZE]; /* there */
	unsigned number;
	unsigned rail;
	char leaf[RNA_PEER_TEXT_SIZE];
	struct rna_probe_address address;
	uint64_t session;
	struct rna_prober_target ordered; /* what the prober was given */
	struct rna_ledger ledger;
	struct rna_probe_counts counted; /* of the ledger's total: what its port has counted */
	struct rna_peer_word word;
	unsigned signs;
	rna_usec began;                /* monotonic: it was judged for the first time */
	unsigned recalled;             /* signs of the memory that nothing has refuted yet */
	rna_usec recalled_since;       /* realtime; 0: nothing is recalled */
	uint64_t median;               /* of its round trips, nanoseconds; 0: unknown */
	rna_usec since;                /* realtime */
	char text[RNA_PEER_TEXT_SIZE]; /* why the state */
};

struct rna_probe_memory;

struct rna_pairs {
	const struct rna_probe_memory *memory; /* NULL: nothing is recalled */
	struct rna_probing_port ports[RNA_PROBING_PORTS_MAX];
	struct rna_probing_peer peers[RNA_PROBING_PEERS_MAX];
	struct rna_probing_pair pairs[RNA_PROBING_PAIRS_MAX];
	struct rna_probe_rtt rtt[RNA_PROBE_SCOPE_COUNT];
	uint32_t last_id; /* given to a port or target */
};

/*
 * The ports of a new view: new ones are added; those that are gone, or whose address has changed,
 * are not listed any more.
 */
void rna_pairs_set_ports(struct rna_pairs *pairs, const struct rna_probe_plan *plans, size_t count);

/* The prober closed the port because it was flooded. It is opened again after a pause. */
void rna_pairs_pause(struct rna_probing_port *port, const struct rna_probe_flood *flood,
		     struct rna_time now);
/* Pauses that ended a while ago are forgotten: the next one is a first one. now: monotonic. */
void rna_pairs_forget_pauses(struct rna_pairs *pairs, rna_usec now);

/* A peer by its name in the list of members, added if need be. NULL: there are too many. */
struct rna_probing_peer *rna_pairs_peer(struct rna_pairs *pairs, const char *name);
/* The newest choice names that one. True: it was not known, or elsewhere. */
bool rna_pairs_choose(struct rna_pairs *pairs, const struct rna_peer_place *place, uint64_t choice);
/* What asking a peer came to. */
void rna_pairs_hear(struct rna_probing_peer *peer, const struct rna_peer_news *news);
/* This agent stood still for that time until now, and learns only now what came meanwhile. */
void rna_pairs_delay(struct rna_pairs *pairs, rna_usec standstill);
/* Peers that the newest choice has not named are dropped. */
void rna_pairs_drop_peers(struct rna_pairs *pairs, uint64_t choice);

/* What pairs have to agree on with this node. */
struct rna_pairs_terms {
	const char *group;
	const char *key_check;
	bool host_mesh;
};

/* The pairs that ports and peers make now, and their states. Those that are no more are not listed.
 */
void rna_pairs_make(struct rna_pairs *pairs, const struct rna_pairs_terms *terms);
void rna_pairs_drop(struct rna_probing_pair *pair);

struct rna_probing_port *rna_pairs_find_port(struct rna_pairs *pairs, uint32_t id);
struct rna_probing_pair *rna_pairs_find(struct rna_pairs *pairs, uint32_t port, uint32_t target);
/* The pair of that port of ours and the port with that GID. */
struct rna_probing_pair *rna_pairs_find_gid(struct rna_pairs *pairs, uint32_t port,
					    const uint8_t gid[16]);

/* What the prober reported of a pair. */
void rna_pairs_add(struct rna_pairs *pairs, struct rna_probing_pair *pair,
		   const struct rna_prober_target_report *report, rna_usec now);

/* Judges all pairs, then all ports. True: something is judged otherwise than before. */
bool rna_pairs_judge(struct rna_pairs *pairs, struct rna_time now);

/*
 * The part that views show, in probe_results.c. node: what is known beside ports and pairs, whose
 * texts are copied. NULL: no memory.
 */
struct rna_probes *rna_pairs_results(const struct rna_pairs *pairs, const struct rna_probes *node,
				     struct rna_time now);
