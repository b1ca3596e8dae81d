/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tee: a root and backends that note what is read through them.
 *
 * A file is noted below its real path, and each link on the way as it is written, so that any path
 * that works on the machine works in the recording. A file is read once, as contents.h says, and
 * collectors get what was noted: a recording cannot say anything else than what they saw. Of a
 * directory that is listed, links and directories are noted, and of the files those that are read.
 * Answers of libraries are noted as the files that backend/recorded.h describes. Thread: the only
 * one of its process.
 */
#pragma once

#include "rna/base/root.h"

#include "backend/backends.h"

#include "notes.h"

struct rna_tee {
	const struct rna_root *base;          /* of the machine */
	const struct rna_backends *libraries; /* of the machine */
	struct rna_notes *notes;
	struct rna_root *root;        /* for collectors */
	struct rna_backends backends; /* likewise, and what they point to: */
	struct rna_verbs_backend verbs;
	struct rna_netdev_backend netdev;
	struct rna_gateway_backend gateways;
	struct rna_dcb_backend dcb;
	struct rna_lldp_backend lldp;
	struct rna_rdma_netlink_backend rdma_netlink;
	struct rna_mad_backend mad;
	struct rna_hwloc_backend hwloc;
	struct rna_journal_backend journal;
	struct rna_ethtool_backend ethtool;
};

/* base, libraries and notes must outlive the tee. 0 or negative errno with error. */
int rna_tee_init(struct rna_tee *tee, const struct rna_root *base,
		 const struct rna_backends *libraries, struct rna_notes *notes,
		 struct rna_error *error);
void rna_tee_deinit(struct rna_tee *tee);

void rna_tee_init_backends(struct rna_tee *tee); /* tee_backends.c */
