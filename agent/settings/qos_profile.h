/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of a fabric, as far as it concerns a RoCE port: entries of the setting qos.expect, each
 * "NAME=VALUE" or "NAME=VALUE GLOB", GLOB for the devices that it is for:
 *	pfc=3, ecn=3		priorities: "3", "3,4" or "none"
 *	trust=dscp		or pcp
 *	dscp26=3		the priority that a DSCP leads to
 *	mtu=9000		of the interface, in bytes
 *	traffic_class=106	that the driver writes into RoCE packets; "none": programs choose
 *	cm_tos=106		of connections that RDMA CM makes
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "rna/base/strbuf.h"

enum rna_qos_plan {
	RNA_QOS_PLAN_PFC,
	RNA_QOS_PLAN_ECN,
	RNA_QOS_PLAN_TRUST,
	RNA_QOS_PLAN_DSCP,
	RNA_QOS_PLAN_MTU,
	RNA_QOS_PLAN_TRAFFIC_CLASS,
	RNA_QOS_PLAN_CM_TOS,
	RNA_QOS_PLAN_COUNT,
};

#define RNA_QOS_PLAN_NONE UINT64_MAX /* expected traffic class: not set */

struct rna_qos_expectation {
	enum rna_qos_plan what;
	unsigned dscp;    /* of RNA_QOS_PLAN_DSCP */
	uint64_t value;   /* a mask of priorities, enum rna_trust, or a number */
	const char *glob; /* points into the entry; NULL: all devices */
};

/* False: it is no such entry. ret points into it. */
bool rna_qos_expectation_parse(const char *entry, struct rna_qos_expectation *ret);
bool rna_qos_expectation_is_valid(const char *entry);
void rna_qos_expectation_explain(const char *entry,
				 struct rna_strbuf *out); /* why not, if by value */
