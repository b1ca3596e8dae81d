/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a self-test would do to a port: whether there can be one, with which request, and what to
 * expect of it. Pure functions of a view; whether the port is idle is for the child to see.
 */
#pragma once

#include "rna/model/selftest.h"
#include "rna/model/subject.h"

#include "settings/settings.h"

/*
 * Why no data can ever be sent from that device: it is one of another network namespace, shares its
 * link, or has no RDMA between hosts. RNA_SKIP_NONE: it can.
 */
enum rna_skip rna_test_look_at_device(const struct rna_snapshot_device *device);

/*
 * Why that port is not tested, or not now; RNA_SKIP_NONE. now: for how long ago it changed state.
 * demanded: a person asks, so that neither disabled tests, window nor recent changes count.
 */
enum rna_skip rna_selftest_look(const struct rna_subject *subject,
				const struct rna_settings *settings, const struct rna_time *now,
				bool demanded);

/* What that reason means, a sentence. */
const char *rna_skip_meaning(enum rna_skip skip);

/*
 * The request for one endpoint. False: the node has no such endpoint for this port (one NUMA node
 * only, or not known which one is the NIC's; no GPU).
 */
bool rna_selftest_request(const struct rna_subject *subject, const struct rna_settings *settings,
			  enum rna_endpoint endpoint, struct rna_loopback_request *ret);

/* A test writes twice at least, to warm up and what is measured: are that bytes that it may write?
 */
bool rna_selftest_size_fits(const struct rna_settings *settings, unsigned size);

/* Another size of writes, and as many of them under way as go with it. */
void rna_selftest_set_size(struct rna_loopback_request *request, unsigned size);

/*
 * Bytes per second that the port's link and its PCIe path allow; 0: not known, or nothing to be
 * measured by (rxe).
 */
uint64_t rna_selftest_expected(const struct rna_subject *subject);

/* What counts as good at such a rate (bytes per second). */
struct rna_selftest_limits rna_selftest_limits_for(const struct rna_settings *settings,
						   uint64_t expected);

/* Is text "RATE=OK/WARNING", RATE in Gb/s and both in percent: "400=95/85"? For settings. */
bool rna_selftest_limit_is_valid(const char *text);
