/* SPDX-License-Identifier: Apache-2.0 */
/* Absence: a node with NICs for RDMA that has no RDMA device at all. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct rna_arena;
struct rna_rule_input;
struct rna_nic;
struct rna_topology;

struct rna_absence {
	const struct rna_topology *topology;
	size_t accelerators; /* data centre GPUs */
	size_t count;        /* functions whose driver would make a verbs device */
	size_t for_rdma;     /* of these: of no use but RDMA */
	size_t near_gpus;    /* pairs of such a function and a GPU that it is the nearest of */
	size_t cards;        /* likewise: first functions */
	const struct rna_nic *first;
};

/*
 * Is that so? Not if memory or settings account for the devices. Where it is, rdma-absent reports
 * it, and rules about a part of it do not.
 */
bool rna_absence_find(const struct rna_rule_input *in, struct rna_absence *ret);

/*
 * The module for want of which the function at this address has no RDMA device. NULL: it is not
 * that, or not known. address may be NULL.
 */
const char *rna_absence_module(const struct rna_rule_input *in, const char *address);
/* "module ionic_rdma is not loaded", and why as far as it is known. Never NULL. */
const char *rna_absence_text(const struct rna_rule_input *in, const char *module,
			     struct rna_arena *arena);
/* What to do about it: sentences, with a blank behind. Never NULL. */
const char *rna_absence_remedy(const struct rna_rule_input *in, const char *module,
			       struct rna_arena *arena);
