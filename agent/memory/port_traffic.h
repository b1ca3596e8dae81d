/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a port has carried: lately, and for the user of its device. Thread: the loop's.
 *
 * The rates of the status page are made of readings of the counters during the last hour. They are
 * in memory only, and begin anew with each process: after a restart the counters may have
 * been reset in between without a trace, an hour of readings would be written to the disk every few
 * minutes, and Prometheus has the long history. The page says how far back its numbers go.
 *
 * Memory: two rings, one of readings some seconds apart for the last minute, and one of readings
 * some minutes apart for the last hour; RNA_RATES_SIZE_MAX bytes for a port, of RNA_RATES_PORTS_MAX
 * ports at most. Virtual functions and subfunctions, of which there may be hundreds, leave half of
 * these to others.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/model/rates.h"
#include "rna/model/users.h"

enum {
	RNA_RATES_SIZE_MAX = 3072,
	RNA_RATES_PORTS_MAX = 128,
};

struct rna_snapshot_device;
struct rna_rates;

struct rna_rates *rna_rates_new(void);                     /* NULL: no memory */
struct rna_rates *rna_rates_free(struct rna_rates *rates); /* accepts and returns NULL */

/* Are there counters to be followed, and is there room beside those of count other ports? */
bool rna_rates_suit(const struct rna_snapshot_device *device, size_t count);

/* Takes what the counters of the port show, if that was read anew. */
void rna_rates_follow(struct rna_rates *rates, const struct rna_snapshot_device *device,
		      unsigned port);

/* As of the newest reading. */
void rna_rates_tell(const struct rna_rates *rates, struct rna_port_rates *ret);

/* -- Of the only user -------------------------------------------------------------------------- */

/*
 * What a port has carried for the user of its device, as long as that is the only one. Of several
 * users nothing is counted: a driver does not say whose a packet is. It is in memory only, and
 * begins anew with each process and each user.
 */
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
