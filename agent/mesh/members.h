/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The members of the mesh: the nodes whose agents probe one another. They are listed in a file of
 * Prometheus' file_sd format, which lists the agents for Prometheus as well. Thread: any.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/base/arena.h"
#include "rna/base/error.h"

enum { RNA_MEMBERS_MAX = 20000 };

struct rna_member {
	const char *name;    /* of the node: label "node", else the host of the address */
	const char *address; /* "host:port" of its agent */
	const char *leaf;    /* label "leaf"; "": unknown */
	bool https;          /* label __scheme__ */
};

struct rna_members {
	size_t count;
	struct rna_member *members; /* by name, each name once */
};

/*
 * Reads a list of groups: {targets: [HOST:PORT, ...], labels: {node: ..., leaf: ..., __scheme__:
 * ...}}, as JSON or YAML. Everything lies in arena. 0, or negative errno with error:
 * "path:line: ...".
 */
int rna_members_read(const char *path, struct rna_arena *arena, struct rna_members *ret,
		     struct rna_error *error);
