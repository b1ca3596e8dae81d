/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The members of the mesh: the nodes whose agents probe one another. They are listed in a file of
 * Prometheus' file_sd format, which lists the agents for Prometheus as well, or come from DNS
 * (dns.h) or Kubernetes. Thread: any.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/base/arena.h"
#include "rna/base/clock.h"
#include "rna/base/error.h"

struct ifaddrs;

enum {
	RNA_MEMBERS_MAX = 20000,
	RNA_MEMBERS_PORT = 10879, /* of agents, if a source names none */
};

struct rna_member {
	const char *name;    /* of the node: label "node", else the host of the address */
	const char *address; /* "host:port" of its agent, or "[v6]:port" */
	const char *leaf;    /* label "leaf"; "": unknown */
	bool claims;         /* its agent told that it has a port on the leaf of this node */
	rna_usec ask_at;     /* monotonic: when it is to be asked for that; 0: now */
	bool https;          /* label __scheme__ */
	unsigned spare;      /* of two members with one name, the lower one is kept */
};

struct rna_members {
	size_t count;
	struct rna_member *members; /* by name, each name once, after rna_members_sort() */
};

/* Adds a copy, whose texts must live as long as arena. 0, -ENOMEM, or -E2BIG: they are too many. */
int rna_members_add(struct rna_members *members, struct rna_arena *arena,
		    const struct rna_member *member);
/* Sorts them by name. A node that is listed twice is one member. */
void rna_members_sort(struct rna_members *members);

/* What members told before a new list came. Both are sorted. */
void rna_members_keep_claims(struct rna_members *members, const struct rna_members *before);

/* The host of its address, without brackets and port. */
void rna_member_host(const struct rna_member *member, char *ret, size_t size);

/* Are the first len characters of text fit for a host in a URL? */
bool rna_member_host_is_valid(const char *text, size_t len);

/*
 * The name under which node, with these addresses (getifaddrs(3), may be NULL), is a member: its
 * name, else one of its addresses, else the name with a domain, if that is the only such name. node
 * itself if it is none of them.
 */
const char *rna_members_own_name(const struct rna_members *members, const char *node,
				 const struct ifaddrs *addresses);

/*
 * Reads a list of groups: {targets: [HOST:PORT, ...], labels: {node: ..., leaf: ..., __scheme__:
 * ...}}, as JSON or YAML. Everything lies in arena. 0, or negative errno with error:
 * "path:line: ...".
 */
int rna_members_read(const char *path, struct rna_arena *arena, struct rna_members *ret,
		     struct rna_error *error);
