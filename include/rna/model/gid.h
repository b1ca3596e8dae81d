/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GID tables: the addresses under which a port can be reached, as the collector gids finds them.
 *
 * A GID has 128 bits and reads like an IPv6 address; a RoCE port has one for each address of its
 * interfaces and each RoCE version. Applications choose by index, and an index changes its meaning
 * when addresses come and go; so indexes are watched from one run to the next.
 * Sources: Linux drivers/infiniband/core/roce_gid_mgmt.c; rdma-core
 * libibverbs/man/ibv_query_gid_table.3; IBTA 4.1 (GIDs), annex A17 (RoCE v2); RFC 4291.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/model/part.h"

struct rna_gid {
	uint8_t bytes[16]; /* as on the wire */
};

enum {
	RNA_GID_TEXT_MAX = 40, /* eight groups of four hex digits */
	RNA_IPV4_TEXT_MAX = 16,
};

/* As sysfs writes it: "fe80:0000:0000:0000:ba3f:d2ff:fe03:1f2a". 0 or -EBADMSG. */
int rna_gid_parse(const char *text, struct rna_gid *ret);
void rna_gid_format(const struct rna_gid *gid, char ret[RNA_GID_TEXT_MAX]);

bool rna_gid_is_zero(const struct rna_gid *gid); /* what an unused entry holds */
bool rna_gid_is_same(const struct rna_gid *a, const struct rna_gid *b);
/* fe80::/10: no router carries it. */
bool rna_gid_is_link_local(const struct rna_gid *gid);

/*
 * The IPv4 address of ::ffff:a.b.c.d in dotted quads. False: the GID is not made of one, *ret is
 * untouched.
 */
bool rna_gid_ipv4(const struct rna_gid *gid, char ret[RNA_IPV4_TEXT_MAX]);

enum rna_gid_family {
	RNA_GID_IPV4, /* IPv4-mapped */
	RNA_GID_IPV6, /* all others; those of InfiniBand have the same form */
	RNA_GID_FAMILY_COUNT,
};

enum rna_gid_family rna_gid_family(const struct rna_gid *gid);
const char *rna_gid_family_name(enum rna_gid_family family); /* "ipv4", "ipv6" */

enum rna_gid_type {
	RNA_GID_TYPE_UNKNOWN, /* could not be read, or newer than this program */
	RNA_GID_TYPE_IB,
	RNA_GID_TYPE_ROCE_V1,
	RNA_GID_TYPE_ROCE_V2,
	RNA_GID_TYPE_COUNT,
};

const char *rna_gid_type_name(enum rna_gid_type type); /* "IB", "RoCE v1", "RoCE v2", "unknown" */

/* One entry of a table that is in use. */
struct rna_gid_entry {
	unsigned index;
	struct rna_gid gid;
	enum rna_gid_type type;
	const char *netdev; /* whose address it is, a VLAN's too; NULL on InfiniBand */
};

/* The table of one port. */
struct rna_port_gids {
	unsigned number;
	size_t count;
	const struct rna_gid_entry *entries; /* ascending by index */
	/*
	 * How often an index got another GID, or a GID another index, since the device was found.
	 * An address that is new, or goes, changes no index.
	 */
	uint64_t changes;
	/* What stood last at indexes that are empty now, for comparing with what comes there. */
	size_t gone_count;
	const struct rna_gid_entry *gone;
};

struct rna_gids {
	struct rna_part part;
	bool verbs; /* did libibverbs answer? else all is from sysfs */
	size_t port_count;
	const struct rna_port_gids *ports; /* ascending by number; those that have a table */
};

/* Do both hold the same entries? Then labels made of one fit the other. */
bool rna_gids_same_entries(const struct rna_gids *a, const struct rna_gids *b);

/* The entry at index, or NULL: it is empty. */
const struct rna_gid_entry *rna_port_gids_find(const struct rna_port_gids *gids, unsigned index);

/* How many entries are addresses of that interface: a VLAN's are the VLAN's own. */
size_t rna_port_gids_count_of(const struct rna_port_gids *gids, const char *netdev);

/*
 * Fills changes and gone of port, whose entries are there, from what was known of it before;
 * texts are copied to arena. 0 or -ENOMEM.
 */
int rna_port_gids_follow(struct rna_port_gids *port, const struct rna_port_gids *before,
			 struct rna_arena *arena);
