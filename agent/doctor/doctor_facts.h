/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this process is, and what it is in: the facts on which rights depend. They are facts of the
 * command, not of a running agent: a unit and a container have others.
 */
#pragma once

#include "rna/base/arena.h"
#include "rna/base/root.h"
#include "rna/base/strbuf.h"

/* A line for people and a member in JSON. */
struct rna_doctor_fact {
	const char *name;  /* "kernel" */
	const char *value; /* NULL: not known */
};

enum { RNA_DOCTOR_FACTS_MAX = 16 };

struct rna_doctor_facts {
	size_t count;
	struct rna_doctor_fact items[RNA_DOCTOR_FACTS_MAX];
};

/* Texts in arena. Of a recording only what files say of its node. 0 or -ENOMEM. */
int rna_doctor_read_facts(const struct rna_root *root, struct rna_arena *arena,
			  struct rna_doctor_facts *ret);

/* "all", "none", or the names of the set's bits. */
void rna_doctor_write_capabilities(uint64_t set, struct rna_strbuf *out);

/* From the text of /proc/PID/cgroup: "v2", "v1", "v1 and v2"; NULL: none. */
const char *rna_doctor_cgroup_version(const char *text);
