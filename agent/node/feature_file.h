/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps node-feature-discovery's file in step with the desired state: written when the labels
 * change, again before it expires, and again after a while where that failed. Files are touched by
 * a file worker. Thread: the loop's.
 */
#pragma once

#include <systemd/sd-event.h>

#include "rna/kubernetes.h"

struct rna_feature_file;

int rna_feature_file_new(sd_event *event, const char *directory, rna_usec expiry,
			 struct rna_feature_file **ret);

/* From now on the file shall say what desired says. */
void rna_feature_file_want(struct rna_feature_file *file, struct rna_desired_node *desired);

/* How it goes. */
void rna_feature_file_status(const struct rna_feature_file *file, struct rna_node_backend *ret);

/*
 * The file stays, until it expires: an agent that restarts takes nothing back. Accepts NULL. false:
 * the disk hangs, and what the job uses must stay.
 */
bool rna_feature_file_stop(struct rna_feature_file *file, rna_usec patience);
