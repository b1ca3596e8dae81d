/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a peer's agent says of its ports, at /api/v1/probe. It is checked like any input: a peer can
 * be of another version, or not an agent at all. Thread: any.
 */
#pragma once

#include "rna/base/error.h"
#include "rna/model/probe.h"

enum {
	RNA_PEER_PORTS_MAX = 32,
	RNA_PEER_NAME_SIZE = 64,
	RNA_PEER_TEXT_SIZE = 256,
	RNA_PEER_ORIGIN_SIZE = RNA_PEER_TEXT_SIZE + 16, /* "http://HOST:PORT" */
	RNA_PEER_FACTS_BYTES = 64 << 10,                /* of the answer */
};

struct rna_peer_port {
	char device[RNA_PEER_NAME_SIZE];
	unsigned port;
	bool open;
	struct rna_probe_address address;
	uint64_t session;              /* 0: it is not open */
	unsigned rail;                 /* RNA_PROBE_RAIL_UNKNOWN */
	char leaf[RNA_PEER_TEXT_SIZE]; /* "": unknown */
	bool infiniband;
};

struct rna_peer_facts {
	char node[RNA_PEER_TEXT_SIZE];
	char group[RNA_PEER_TEXT_SIZE];
	char key_check[9];
	bool runs;                    /* its prober */
	bool late;                    /* its host stood still some seconds ago */
	unsigned bandwidth_port;      /* TCP; 0: it does not let peers measure bandwidth */
	char why[RNA_PEER_TEXT_SIZE]; /* why it does not run */
	size_t port_count;
	struct rna_peer_port ports[RNA_PEER_PORTS_MAX];
};

/* Does it name the leaf of any port? One that does not probe at present tells of no port. */
bool rna_peer_facts_tell_leaves(const struct rna_peer_facts *facts);
/* Does it say that a port of it is on that leaf? leaf "": no. */
bool rna_peer_facts_have_leaf(const struct rna_peer_facts *facts, const char *leaf);

/* 0, or -EBADMSG, -EOPNOTSUPP (another version) or -ENOMEM, with error. */
int rna_peer_facts_parse(const char *text, size_t len, struct rna_peer_facts *ret,
			 struct rna_error *error);
