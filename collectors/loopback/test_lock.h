/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lock of tests: one test at a time runs on a node, in whichever process. The parent holds it,
 * not the child: a child stuck in the kernel could not release it, and other devices must still be
 * tested. Thread: any.
 */
#pragma once

#include "rna/model/loopback.h"

/*
 * agent: the user that runs agents on this node; 0: root or a service. 0: *ret is held until it is
 * released; -EBUSY with error, or another negative errno with error. holder: that was found.
 */
int rna_test_lock_take(uid_t agent, int *ret, struct rna_loopback_holder *holder,
		       struct rna_error *error);
void rna_test_lock_release(int *fd); /* -1: nothing is held */
