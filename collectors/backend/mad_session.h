/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One port that is asked by MADs: opened, asked some questions, closed. All of it within one call
 * of the MAD backend, for an open umad blocks the reload of a driver.
 * Thread: any, each with a session of its own.
 */
#pragma once

#include "backends.h"

enum {
	RNA_MAD_SIZE = 256,
	RNA_MAD_DATA = 64,  /* where the data of an answer begin, of all classes here */
	RNA_MAD_AGENTS = 4, /* classes */
};

struct rna_mad_session {
	int umad; /* an open descriptor; -1: none */
	struct rna_mad_agent {
		int class; /* that it is registered for; 0: none */
		int id;
	} agents[RNA_MAD_AGENTS];
	uint64_t transaction;
	unsigned unanswered; /* queries so far without a reply in time */
	uint8_t answer[RNA_MAD_SIZE];
};

#define RNA_MAD_SESSION_INIT ((struct rna_mad_session){.umad = -1})

/* A Get of one attribute. */
struct rna_mad_question {
	int class; /* of IBTA 13.4.4 */
	unsigned attribute;
	unsigned modifier;
	/*
	 * To whom: by a directed route (class 0x81) to the port itself, or out of port exit to what
	 * is at the other end of its cable; else to a LID.
	 */
	unsigned exit; /* 0: the port itself */
	int lid;
	unsigned port_select; /* of a PMA: which port; 0: the attribute has no such field */
};

/* What a MAD backend serves, see there: has this port a way to send MADs? */
bool rna_mad_serves(const struct rna_root *root, const struct rna_device *device, unsigned port);

/* 0; -ENOENT where there is no way to open it, which is normal; or another negative errno. */
int rna_mad_open(struct rna_mad_session *session, const struct rna_root *root,
		 const struct rna_device *device, unsigned port);
void rna_mad_close(struct rna_mad_session *session); /* idempotent */

/*
 * 0, with *ret_data in session->answer; -ETIMEDOUT: no answer; -EOPNOTSUPP: the agent or the port
 * does not support the query; -EAGAIN: it is busy; or another negative errno.
 */
int rna_mad_ask(struct rna_mad_session *session, const struct rna_mad_question *question,
		uint8_t **ret_data);
