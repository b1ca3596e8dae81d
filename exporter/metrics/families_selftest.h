/* SPDX-License-Identifier: Apache-2.0 */
/* What families.c has of the self-test: functions of its rows. */
#pragma once

#include "families.h"

/* Of the newest test of each kind of memory. */
void rna_family_selftest_ok(const struct rna_subject *port, struct rna_writer *writer);
void rna_family_selftest_bandwidth(const struct rna_subject *port, struct rna_writer *writer);
void rna_family_selftest_expected(const struct rna_subject *port, struct rna_writer *writer);
void rna_family_selftest_ratio(const struct rna_subject *port, struct rna_writer *writer);
void rna_family_selftest_median(const struct rna_subject *port, struct rna_writer *writer);
void rna_family_selftest_p99(const struct rna_subject *port, struct rna_writer *writer);
void rna_family_selftest_duration(const struct rna_subject *port, struct rna_writer *writer);

/* Of all tests of the port. */
struct rna_value rna_family_selftest_last_run(const struct rna_subject *port);
struct rna_value rna_family_selftest_last_success(const struct rna_subject *port);
struct rna_value rna_family_selftest_bytes(const struct rna_subject *port);
void rna_family_selftest_runs(const struct rna_subject *port, struct rna_writer *writer);
void rna_family_selftest_skips(const struct rna_subject *port, struct rna_writer *writer);
