/* SPDX-License-Identifier: Apache-2.0 */
/* What children of loopback tests and of bandwidth tests have in common. */
#pragma once

#include "rna/model/loopback.h"

/* The child's first call. False: its parent is gone. */
bool rna_test_child_begin(const char *name);
void rna_test_child_limit_time(const struct rna_loopback_request *request);

/* What a child is asked for, and its first message. */
struct rna_test_order {
	const char *program, *what; /* its argv[0] begins so; the kind of test, for texts */
	const struct rna_loopback_request *request;
	const void *data;
	size_t len;
};

/* As rna_loopback_child_start(). */
int rna_test_child_start(const struct rna_test_order *order, uid_t agent,
			 struct rna_loopback_child *ret, struct rna_error *error);

/* The result that a child sends. */
struct rna_test_reply {
	const char *what; /* the kind of test, for texts */
	void *data;
	size_t len;
};

/* As rna_loopback_child_receive(). */
int rna_test_child_receive(struct rna_loopback_child *child, const struct rna_test_reply *reply,
			   rna_usec patience, struct rna_error *error);
