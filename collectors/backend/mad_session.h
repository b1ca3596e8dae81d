/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session of MAD queries to one port: open, query, close, all within one call of the MAD backend,
 * because an open umad blocks the reload of a driver. Thread: any, each with its own session.
 */
#pragma once

#include "backends.h"

enum {
	RNA_MAD_SIZE = 256,
	RNA_MAD_DATA = 64,  /* offset of the attribute data, the same for all classes used */
	RNA_MAD_AGENTS = 4, /* one for each class */
};

struct rna_mad_session {
	int umad; /* an open descriptor; -1: none */
	/*
	 * The port of a multi-plane card has no SMI: MADs of subnet management are sent through a
	 * plane, all others through the port (rdma-core#1529: pairs of SMI and GSI devices).
	 */
	int smi;        /* an open descriptor of a plane; -1: none, umad is used */
	unsigned plane; /* the number of that plane, or of the port if it is one; 0: none */
	struct rna_mad_agent {
		int class; /* class that it is registered for; 0: none */
		int id;
	} agents[RNA_MAD_AGENTS];
	uint64_t transaction;
	unsigned unanswered; /* unanswered queries so far */
	uint8_t answer[RNA_MAD_SIZE];
};

#define RNA_MAD_SESSION_INIT ((struct rna_mad_session){.umad = -1, .smi = -1})

/* A Get of one attribute. */
struct rna_mad_question {
	int class; /* of IBTA 13.4.4 */
	unsigned attribute;
	unsigned modifier;
	/*
	 * Destination: with a directed route (class 0x81) the port itself, or through port exit the
	 * peer at the other end of its cable; otherwise a LID.
	 */
	unsigned exit; /* 0: the port itself */
	int lid;
	unsigned port_select; /* for a PMA: the port; 0: the attribute has no such field */
};

/* Can this port send MADs? See the MAD backend. */
bool rna_mad_serves(const struct rna_root *root, const struct rna_device *device, unsigned port);

/* 0; -ENOENT if it cannot be opened, which is normal; or another negative errno. */
int rna_mad_open(struct rna_mad_session *session, const struct rna_root *root,
		 const struct rna_device *device, unsigned port);
void rna_mad_close(struct rna_mad_session *session); /* idempotent */

/*
 * Sends MADs of subnet management through another plane, by its index; rna_mad_open() uses the
 * first. False: there is none, or it cannot be opened.
 */
bool rna_mad_use_plane(struct rna_mad_session *session, const struct rna_device *device,
		       size_t index);

/*
 * 0, with *ret_data in session->answer; -ETIMEDOUT: no answer; -EOPNOTSUPP: the destination or the
 * port does not support the query; -EAGAIN: the destination is busy; -ENOKEY: the own port
 * discarded the query, as one does that requires an M_Key; or another negative errno.
 */
int rna_mad_ask(struct rna_mad_session *session, const struct rna_mad_question *question,
		uint8_t **ret_data);
