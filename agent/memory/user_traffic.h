/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a port has carried for the user of its device, as long as that is the only one. Of several
 * users nothing is counted: a driver does not say whose a packet is. It is in memory only, and
 * begins anew with each process and each user. Thread: the loop's.
 */
#pragma once

#include "rna/model/users.h"

struct rna_snapshot_device;
struct rna_user_memory;

/*
 * Takes the counters of the port; *memory: NULL before there was a user, and after it has gone.
 * Without memory for it, the user's traffic begins at the next call.
 */
void rna_user_memory_follow(struct rna_user_memory **memory,
			    const struct rna_snapshot_device *device, unsigned port);
struct rna_user_memory *rna_user_memory_free(struct rna_user_memory *memory); /* accepts NULL */

/* As of the newest counters; the user is rna_device_users() of the device. NULL: none. */
const struct rna_user_traffic *rna_user_memory_tell(const struct rna_user_memory *memory);
