/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rhythm: how often a collector runs on a target. Where events tell of each change, a run only has
 * to prove that they do, and is rare; what is read for scrapes runs just before one.
 *
 * A device is covered if events tell of each change of its ports: each port has a network interface
 * whose carrier follows the state of the port, or the device is a virtual function of one that is
 * read here, with which its state changes. Or the device is held: its own events tell.
 *	RoCE: drivers report the state of the interface, of a bond if it is in one (mlx5:
 *	mlx5_query_port_roce() in drivers/infiniband/hw/mlx5/main.c; ib_get_curr_port_state() in
 *	include/rdma/ib_verbs.h, Linux 6.12).
 *	InfiniBand: IPoIB turns the carrier off when the port goes down and on when it has joined
 *	its multicast group (ipoib_ib_dev_down() in drivers/infiniband/ulp/ipoib/ipoib_ib.c and
 *	ipoib_mcast_carrier_on_task() in ipoib_multicast.c, Linux 6.12), if the interface is up.
 * Thread: the loop's.
 */
#pragma once

#include "schedule.h"

/* The period of that collector on that target, as things are. */
rna_usec rna_rhythm_period(const struct rna_schedule *schedule, const struct rna_target *target,
			   enum rna_collector_id id);

/* Do events tell of each change that it would find there? */
bool rna_rhythm_is_told(const struct rna_schedule *schedule, const struct rna_target *target,
			enum rna_collector_id id);

/* Of the collectors whose time has come, those that need not run on this target: bit set. */
unsigned rna_rhythm_fresh(const struct rna_schedule *schedule, const struct rna_target *target,
			  rna_usec now);

/* When it is due again on any target, after it was due at that time; RNA_USEC_NEVER: on none. */
rna_usec rna_rhythm_next(const struct rna_schedule *schedule, enum rna_collector_id id,
			 rna_usec due, rna_usec now);

/* Interfaces, devices or what is watched have changed: finds out which devices are covered. */
void rna_rhythm_look(struct rna_schedule *schedule);
