/* SPDX-License-Identifier: Apache-2.0 */
/* Do two ports of this node reach each other through the fabric? As far as it is known. */
#pragma once

#include "rna/model/fabric.h"

enum rna_reach {
	RNA_REACH_UNKNOWN,
	RNA_REACH_TOGETHER,
	RNA_REACH_APART,
};

/*
 * Of two active ports of one link layer. ret_evidence: why they are apart; NULL: they are not, or
 * it is not wanted.
 */
enum rna_reach rna_reach_of(const struct rna_subject *a, const struct rna_subject *b,
			    const struct rna_network_evidence **ret_evidence);

/* May anything show what ports of RoCE that one reaches? */
bool rna_reach_is_told(const struct rna_subject *port);

/* The VLAN of all its addresses that other nodes can reach. 0: none, several, or not known. */
uint64_t rna_reach_vlan(const struct rna_subject *port);
