/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GID tables: the addresses of a port, read by the collector gids.
 *
 * A GID has 128 bits and looks like an IPv6 address. A RoCE port has one for each address of its
 * interfaces and each RoCE version. Applications choose a GID by index, and adding or removing
 * addresses can move GIDs to other indexes; so the agent compares indexes from run to run. Sources:
 * Linux drivers/infiniband/core/roce_gid_mgmt.c; rdma-core libibverbs/man/ibv_query_gid_table.3;
 * IBTA 4.1 (GIDs), annex A17 (RoCE v2); RFC 4291.
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
/* fe80::/10, not routable. */
bool rna_gid_is_link_local(const struct rna_gid *gid);

enum { RNA_GID_BITS = 128 };

/* How many of their first bits are the same. */
unsigned rna_gid_common_bits(const struct rna_gid *a, const struct rna_gid *b);

/*
 * The IPv4 address of ::ffff:a.b.c.d in dotted-quad form. False: not IPv4-mapped; *ret is
 * unchanged.
 */
bool rna_gid_ipv4(const struct rna_gid *gid, char ret[RNA_IPV4_TEXT_MAX]);

enum rna_gid_family {
	RNA_GID_IPV4, /* IPv4-mapped */
	RNA_GID_IPV6, /* all others, including those of InfiniBand */
	RNA_GID_FAMILY_COUNT,
};

enum rna_gid_family rna_gid_family(const struct rna_gid *gid);
const char *rna_gid_family_name(enum rna_gid_family family); /* "ipv4", "ipv6" */

enum rna_gid_type {
	RNA_GID_TYPE_UNKNOWN, /* unreadable, or unknown to this version */
	RNA_GID_TYPE_IB,
	RNA_GID_TYPE_ROCE_V1,
	RNA_GID_TYPE_ROCE_V2,
	RNA_GID_TYPE_COUNT,
};

const char *rna_gid_type_name(enum rna_gid_type type); /* "IB", "RoCE v1", "RoCE v2", "unknown" */

/* A used entry of a table. */
struct rna_gid_entry {
	unsigned index;
	struct rna_gid gid;
	enum rna_gid_type type;
	const char *netdev; /* interface (or VLAN) with this address; NULL on InfiniBand */
	/*
	 * The network namespace lacks this interface: that of the process through which the device
	 * is read, otherwise that of the agent. The table of a device that pods share has the
	 * addresses of all of them (macvlan, ipvlan), which come and go with the pods.
	 */
	bool elsewhere;
};

/* RoCE v2, of this network namespace, and not link-local: do other nodes reach it by routers? */
bool rna_gid_is_routable(const struct rna_gid_entry *entry);

/* The table of one port. */
struct rna_port_gids {
	unsigned number;
	size_t count;
	const struct rna_gid_entry *entries; /* ascending by index */
	/*
	 * How often an index got another GID, or a GID moved to another index, since the device was
	 * found. Adding or removing an address alone does not count.
	 */
	uint64_t changes;
	/* The last entries of indexes that are empty now, to compare with the next entry there. */
	size_t gone_count;
	const struct rna_gid_entry *gone;
};

struct rna_gids {
	struct rna_part part;
	bool verbs; /* did libibverbs answer? otherwise all is from sysfs */
	size_t port_count;
	const struct rna_port_gids *ports; /* ascending by number; ports with a table */
};

/* Do both have the same entries? Then prepared labels of one are valid for the other. */
bool rna_gids_same_entries(const struct rna_gids *a, const struct rna_gids *b);

/* The entry at index. NULL: it is empty. */
const struct rna_gid_entry *rna_port_gids_find(const struct rna_port_gids *gids, unsigned index);

/* The number of entries of that interface; a VLAN counts as its own interface. */
size_t rna_port_gids_count_of(const struct rna_port_gids *gids, const char *netdev);

/* The number of entries that are not elsewhere. */
size_t rna_port_gids_count_here(const struct rna_port_gids *gids);

/*
 * Fills changes and gone of port, whose entries the caller has filled, by comparison with before.
 * Texts are copied to arena. 0 or -ENOMEM.
 */
int rna_port_gids_follow(struct rna_port_gids *port, const struct rna_port_gids *before,
			 struct rna_arena *arena);
