/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes: small datagrams that a port of this node sends to ports of other nodes, and to the other
 * ports of this node, through the fabric. Each is answered once. What is lost, late or changed on
 * the way is evidence about cables, switches and paths. The prober (rna/prober.h) sends them, the
 * ledger of agent/probe counts them, its verdicts judge them; rules make findings of verdicts.
 * Thread: created by the loop; part of a view, immutable.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/base/clock.h"
#include "rna/model/part.h"

/*
 * Of what peers tell each other at /api/v1/probe, and of datagrams. Peers of different versions do
 * not probe each other. 2: sessions, and with them Q_Keys, are of ports.
 */
enum { RNA_PROBE_VERSION = 2 };

/* Where the other port of a pair is. */
enum rna_probe_scope {
	RNA_PROBE_HOST,   /* another port of this node, reached through the fabric */
	RNA_PROBE_LEAF,   /* another node, the same leaf switch */
	RNA_PROBE_FABRIC, /* another node, another or an unknown leaf switch */
	RNA_PROBE_SCOPE_COUNT,
};

const char *rna_probe_scope_name(enum rna_probe_scope scope); /* "host", "leaf", "fabric" */

/* Round-trip times: upper bounds 1 us to 1 s, three in each power of ten, in nanoseconds. */
enum { RNA_PROBE_RTT_BOUNDS = 19 };
extern const uint64_t rna_probe_rtt_bounds[RNA_PROBE_RTT_BOUNDS];

struct rna_probe_rtt {
	uint64_t counts[RNA_PROBE_RTT_BOUNDS + 1]; /* by the first bound not exceeded */
	uint64_t sum;                              /* nanoseconds */
};

void rna_probe_rtt_add(struct rna_probe_rtt *rtt, uint64_t nanoseconds);
void rna_probe_rtt_merge(struct rna_probe_rtt *rtt, const struct rna_probe_rtt *other);

/*
 * Counts of probes. Each probe sent ends in exactly one of answered, lost and void, or is still
 * under way. void: one end started, stopped or stood still, so it says nothing about the fabric.
 */
struct rna_probe_counts {
	uint64_t sent;
	uint64_t answered;
	uint64_t lost;
	uint64_t voided;
	uint64_t large_sent; /* of sent: those as large as the MTU */
	uint64_t large_lost; /* of lost */
	uint64_t large_answered;
	uint64_t ecn_marked; /* answered, and a switch marked congestion on either way */
	uint64_t missed;     /* not sent in their time, because this host gave the prober no CPU */
};

/* The counts by number, for those that treat all alike. */
enum { RNA_PROBE_COUNTS = sizeof(struct rna_probe_counts) / sizeof(uint64_t) };
const char *rna_probe_count_name(size_t i); /* as in JSON: "sent", "answered", ... */
uint64_t *rna_probe_count_of(struct rna_probe_counts *counts, size_t i);

void rna_probe_counts_merge(struct rna_probe_counts *counts, const struct rna_probe_counts *other);

/* What is known of the other end of a pair. */
enum rna_probe_state {
	RNA_PROBE_WAITING,      /* the peer's port is not known yet */
	RNA_PROBE_RUNNING,      /* probes are sent */
	RNA_PROBE_PEER_DOWN,    /* the peer does not answer HTTP, or says it does not probe */
	RNA_PROBE_PEER_REFUSED, /* another secret, version or group: see text */
	RNA_PROBE_NO_NEIGHBOUR, /* this host cannot resolve or reach the address: nothing was sent
				 */
	RNA_PROBE_LOCAL, /* the address is of this node: the kernel would not use the cable */
	RNA_PROBE_STATE_COUNT,
};

const char *rna_probe_state_name(enum rna_probe_state state); /* "waiting", "running", ... */

/* What a pair shows. A bit each; a pair can show several. */
enum rna_probe_sign {
	RNA_PROBE_SILENT = 1u << 0,   /* nothing comes back, although the peer says that it runs */
	RNA_PROBE_LOSS = 1u << 1,     /* some do not come back */
	RNA_PROBE_MTU_HOLE = 1u << 2, /* small ones come back, large ones do not */
	RNA_PROBE_SLOW = 1u << 3,     /* slower than its own past and than its rail */
	RNA_PROBE_DSCP = 1u << 4,     /* arrives with another DSCP than it left with */
	RNA_PROBE_DETOUR = 1u << 5,   /* more hops than before, or than its rail */
};

enum { RNA_PROBE_SIGNS = 6 };
/* Signs with which probes are lost. */
enum { RNA_PROBE_LOSING = RNA_PROBE_SILENT | RNA_PROBE_LOSS | RNA_PROBE_MTU_HOLE };

/* "silent", "loss", "mtu_hole", "slow", "dscp", "detour". sign: one bit. */
const char *rna_probe_sign_name(unsigned sign);

/* One direction of a pair, as the receiving end saw the newest probe or answer. 255: unknown. */
struct rna_probe_way {
	uint8_t dscp;
	uint8_t ecn;       /* two bits of the IP header; 3: congestion */
	uint8_t hop_limit; /* that arrived */
};

/* A port of ours and a port of a peer. Strings may not be NULL; "": unknown. */
struct rna_probe_pair {
	const char *device; /* ours */
	unsigned port;
	const char *peer;        /* name of the peer's node; our own name with scope host */
	const char *peer_device; /* name there */
	unsigned peer_port;
	const char *peer_leaf; /* its leaf switch */
	unsigned peer_rail;    /* RNA_PROBE_RAIL_UNKNOWN */
	enum rna_probe_scope scope;
	enum rna_probe_state state;
	unsigned signs;                 /* enum rna_probe_sign, as judged now */
	unsigned some_paths;            /* of signs: some of several equal paths show them */
	const char *text;               /* why the state, a phrase; "": nothing to say */
	struct rna_probe_counts total;  /* since the pair exists */
	struct rna_probe_counts recent; /* of about the last RNA_PROBE_RECENT */
	uint64_t rtt_median, rtt_p99;   /* nanoseconds, recent; 0: unknown */
	uint64_t rtt_usual;             /* the median of its own past; 0: unknown */
	uint8_t dscp_sent;              /* 255: unknown */
	uint8_t dscp_other;             /* that arrives instead, with RNA_PROBE_DSCP */
	struct rna_probe_way there;     /* as the peer saw our probes */
	struct rna_probe_way back;      /* as we saw its answers */
	uint8_t hops_usual;             /* hop limit that usually arrives there; 255: unknown */
	rna_usec since;                 /* realtime since when signs is not 0; 0: no sign */
	rna_usec last_answer;           /* realtime; 0: never */
	uint32_t classes_lost;          /* bit n: source-port class n lost probes recently */
	uint32_t classes_seen;          /* bit n: answered recently */
};

enum {
	RNA_PROBE_RAIL_UNKNOWN = 1000,
	RNA_PROBE_CLASSES = 32, /* of source ports: source port modulo this */
};
#define RNA_PROBE_RECENT (600 * RNA_USEC_PER_SEC)

/* How the kernel schedules the prober. */
enum rna_probe_priority {
	RNA_PROBE_PRIORITY_NORMAL,   /* like other programs */
	RNA_PROBE_PRIORITY_NICE,     /* a nice value of -10 */
	RNA_PROBE_PRIORITY_REALTIME, /* before all programs that are not */
	RNA_PROBE_PRIORITY_COUNT,
};

const char *rna_probe_priority_name(enum rna_probe_priority priority); /* "normal", ... */

/* Whether the prober uses a port. */
enum rna_probe_use {
	RNA_PROBE_OFF,     /* it is not to be probed: see text */
	RNA_PROBE_OPENING, /* the prober is about to */
	RNA_PROBE_OPEN,    /* probes are sent and answered */
	RNA_PROBE_FAILED,  /* it cannot be used: see text */
	RNA_PROBE_PAUSED,  /* it is closed for a while after a flood: see its pauses */
	RNA_PROBE_USE_COUNT,
};

/* "off", "opening", "open", "failed", "paused" */
const char *rna_probe_use_name(enum rna_probe_use use);

/*
 * Packets that a port refused within a second: not made with the secret for this session, repeated,
 * or too many. The sender is what the last one says, which can be forged.
 */
struct rna_probe_flood {
	uint64_t packets;
	uint64_t nanoseconds; /* from the first to the last */
	uint8_t gid[16];      /* zeros: unknown */
	uint16_t lid;         /* 0: RoCE, or unknown */
	uint32_t qpn;
};

/* Of a port that was flooded, until it has been open for some minutes; count 0: it was not. */
struct rna_probe_pauses {
	unsigned count;
	rna_usec since, until;        /* realtime: of the first one; of the newest one */
	struct rna_probe_flood flood; /* before the newest one */
};

/* What is wrong with a port of ours, judged over all its pairs. */
enum rna_probe_verdict {
	RNA_PROBE_UNKNOWN, /* too little was seen */
	RNA_PROBE_WELL,
	RNA_PROBE_UNREACHABLE, /* all pairs are silent; siblings and the peers' other ports are well
				*/
	RNA_PROBE_LOSSY,       /* of its pairs so many lose that the port itself, its cable or leaf
				  port is the likely place */
	RNA_PROBE_VERDICT_COUNT,
};

const char *rna_probe_verdict_name(enum rna_probe_verdict verdict);

enum { RNA_PROBE_QPS_MAX = 8 };

/* What a peer needs to know to probe a port. All zero while it is not open. */
struct rna_probe_address {
	uint8_t gid[16]; /* network order */
	uint16_t lid;    /* 0: RoCE */
	uint32_t mtu;    /* bytes of payload */
	unsigned qpn_count;
	uint32_t qpns[RNA_PROBE_QPS_MAX];
};

/* A port of this node. */
struct rna_probe_port {
	const char *device;
	unsigned port;
	enum rna_probe_use use;
	const char *text; /* why; "": nothing to say */
	struct rna_probe_pauses pauses;
	struct rna_probe_address address;
	uint64_t session; /* random, anew whenever it is opened; probes and Q_Keys are of one */
	unsigned rail;    /* RNA_PROBE_RAIL_UNKNOWN */
	const char *leaf; /* identity of the leaf switch; "": unknown */
	bool infiniband;
	bool hardware_times; /* round trips are measured by the HCA's clock */
	struct rna_probe_counts counts[RNA_PROBE_SCOPE_COUNT]; /* since the agent started */
	enum rna_probe_verdict verdict;
	rna_usec since;                   /* realtime, of the verdict */
	unsigned pairs_bad, pairs_judged; /* the evidence of the verdict */
	struct rna_probe_counts window;   /* what the verdict counted */
	rna_usec window_length;
};

/*
 * Datagrams that were made with the secret for the session of the port, and were not answered, by
 * reason. A metric label, so the list is closed. Others are not counted where a stranger can read
 * it: the count would say that a guess of the Q_Key was right.
 */
enum rna_probe_stranger {
	RNA_STRANGER_REPLAY,    /* seen before */
	RNA_STRANGER_DUPLICATE, /* the newest one of a peer again, within a second and from the same
				   address: the network has copied it */
	RNA_STRANGER_RATE,      /* more than a peer may send */
	RNA_STRANGER_COUNT,
};

const char *rna_probe_stranger_name(enum rna_probe_stranger stranger);

/* The source of members (agent/mesh) and what came of it. */
struct rna_probe_source {
	const char *kind;  /* "file", "dns", "kubernetes" */
	const char *name;  /* as in the setting: a path, a name; "": none is configured */
	const char *error; /* why the newest look failed; NULL: it succeeded */
	rna_usec looked;   /* realtime of the last good look; 0: never */
	size_t members;
};

struct rna_probes {
	struct rna_part part;
	const char *node;    /* our name */
	const char *member;  /* our name in the list of members; "": not known yet */
	const char *group;   /* only members of the same group pair up; "" is a group too */
	bool runs;           /* the prober */
	const char *stopped; /* why it does not, a phrase; NULL: it runs */
	rna_usec heard;      /* monotonic time of the prober's last word; 0: none yet */
	rna_usec late;       /* monotonic: when this host last stood still for a second; 0: never */
	/* of the secret, to be compared with that of a peer: rna_prober_key_check() */
	char key_check[9];
	uint64_t restarts; /* of the prober, since the agent started */
	enum rna_probe_priority priority;
	struct rna_probe_counts minute; /* of all pairs, in the last one */
	struct rna_probe_source source;
	size_t port_count;
	const struct rna_probe_port *ports; /* by device, then port */
	size_t pair_count;
	const struct rna_probe_pair *pairs;    /* by device, port, scope, then peer */
	uint64_t peers[RNA_PROBE_STATE_COUNT]; /* pairs in each state */
	struct rna_probe_rtt rtt[RNA_PROBE_SCOPE_COUNT];
	uint64_t strangers[RNA_STRANGER_COUNT];
};

/*
 * Pairs of which an agent on this node has known lately, for a command beside it: what each was
 * sent and answered in its last minutes, and whether it was ever answered.
 */
struct rna_probe_pairs {
	size_t count;
	const struct rna_probe_pair *items;
};

/*
 * What the prober has open of a device: contexts and queue pairs. They do not count as use by a
 * job. probes may be NULL.
 */
struct rna_probe_objects {
	unsigned contexts, qps;
};

struct rna_probe_objects rna_probes_objects(const struct rna_probes *probes, const char *device);

/* Why no probes are sent, a phrase; NULL: they are. now: monotonic. probes may be NULL. */
const char *rna_probes_why_stopped(const struct rna_probes *probes, rna_usec now);

/* Did this host stand still some seconds ago? Then peers judge no silence of it. now: monotonic. */
bool rna_probes_are_late(const struct rna_probes *probes, rna_usec now);

/*
 * Did this host send less than half of the probes that were due in the last minute, as it gave the
 * prober no CPU? Then what they would have shown is not known. probes may be NULL.
 */
bool rna_probes_are_missed(const struct rna_probes *probes);

/* All that is seen, as one word. */
enum rna_probes_result {
	RNA_PROBES_OK,
	RNA_PROBES_WARNING,  /* a port is lossy, paused or cannot be used, or a pair shows a sign */
	RNA_PROBES_CRITICAL, /* a port is unreachable */
	RNA_PROBES_UNKNOWN,  /* probes do not run, or a port or all of them are not judged yet */
	RNA_PROBES_RESULT_COUNT,
};

enum rna_probes_result rna_probes_result(const struct rna_probes *probes, rna_usec now);
const char *rna_probes_result_name(enum rna_probes_result result); /* "ok", "warning", ... */

/* How many ports that are to probe have no known leaf. probes may be NULL. */
size_t rna_probes_without_leaf(const struct rna_probes *probes);

/* That port; NULL: none. probes may be NULL. */
const struct rna_probe_port *rna_probes_find_port(const struct rna_probes *probes,
						  const char *device, unsigned port);
