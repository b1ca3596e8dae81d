/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions to the kernel by netlink. Each has its own socket, which is closed after the answer: an
 * open NETLINK_RDMA socket would pin ib_core. Thread: any, several at a time.
 */
#pragma once

#include <stdbool.h>

#include "rna/base/arena.h"
#include "rna/base/parse.h"

struct rna_netlink_attribute {
	int type;
	int len; /* bytes of data, or count of nested */
	const void *data;
	const struct rna_netlink_attribute *nested; /* NULL: data */
};

struct rna_netlink_question {
	int protocol; /* 0: NETLINK_ROUTE */
	int type;     /* RTM_GETLINK */
	int flags;    /* NLM_F_DUMP for a list */
	const void *body;
	size_t body_size;
	const struct rna_netlink_attribute *attributes;
	int count;
	/*
	 * Before each try of a dump, if not NULL: forgets what was taken so far, for the list
	 * changed while the kernel wrote it.
	 */
	void (*begin)(void *userdata);
};

/* Takes a message of the answer: 0, or negative errno to stop. */
typedef int rna_netlink_take(struct rna_bytes message, void *userdata);

/*
 * 0; -EBADMSG without any message in answer to what is no dump; -EAGAIN when a list changed during
 * each try: all of it was taken that did not change; -ETIMEDOUT; or another negative errno, of the
 * kernel or of take.
 */
int rna_netlink_ask(const struct rna_netlink_question *question, rna_netlink_take *take,
		    void *userdata);

/* Keeps the message that answers, in arena. Returns like rna_netlink_ask(). */
int rna_netlink_keep(const struct rna_netlink_question *question, struct rna_arena *arena,
		     struct rna_bytes *ret);

/* Does rtnetlink leave out of a list what its question excludes (Linux 4.20)? */
bool rna_netlink_filters(void);
