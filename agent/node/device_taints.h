/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taints of devices (DRA): which devices of the node are unhealthy. A finding about a device, or
 * about a port of it, makes it so, if the table of conditions has a taint for its condition; it is
 * healthy again after kubernetes.up_delay without one. What was published is remembered like
 * labels, under "device:" and the name of the device. Thread: the loop's.
 */
#pragma once

#include "desired.h"

/* delays: those of findings. 1: something new is to be published, 0, or -ENOMEM. */
int rna_device_taints_follow(struct rna_node_memory *memory, const struct rna_desired_input *in,
			     const struct rna_node_delays *delays);

/* Forgets all, because the setting is off. True: something was published. */
bool rna_device_taints_forget(struct rna_node_memory *memory);

/* Is it the name of one? */
bool rna_device_taints_own(const char *name);

/* From memory to the desired state, with what view has of the devices. False: no memory. */
bool rna_device_taints_add(const struct rna_node_memory *memory, const struct rna_desired_input *in,
			   struct rna_desired_node *desired);
