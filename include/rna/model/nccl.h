/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NCCL: which GID of a port it uses. RCCL and NVSHMEM have the same algorithm, see
 * exporter/env/env.c.
 *
 * Each job chooses a GID index by itself, by other rules than the kernel and other libraries. A
 * wrong choice causes no error: the job hangs or its traffic is not routed. Source: NCCL
 * src/transport/net_ib/connect.cc, src/misc/param.cc (2.30.7).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/model/gid.h"
#include "rna/model/value.h"

/* The environment variables of a job that concern GIDs; NULL: not set. */
struct rna_nccl_environment {
	const char *gid_index;    /* NCCL_IB_GID_INDEX */
	const char *addr_family;  /* NCCL_IB_ADDR_FAMILY: AF_INET or AF_INET6 */
	const char *addr_range;   /* NCCL_IB_ADDR_RANGE: ADDRESS/BITS */
	const char *roce_version; /* NCCL_IB_ROCE_VERSION_NUM: 1 or 2 */
	const char *flid_index;   /* NCCL_IB_ROUTABLE_FLID_GID_INDEX */
};

/* The parsed environment. */
struct rna_nccl_settings {
	int gid_index; /* below 0: NCCL chooses */
	enum rna_gid_family family;
	int roce_version;
	struct rna_gid range; /* an IPv4 range in the last four bytes */
	int range_bits; /* prefix length within the family; 0: any address; below 0: no range */
	int flid_index;
};

#define RNA_NCCL_STANDARD                                                                          \
	((struct rna_nccl_settings){                                                               \
		.gid_index = -1,                                                                   \
		.family = RNA_GID_IPV4,                                                            \
		.roce_version = 2,                                                                 \
		.flid_index = 1,                                                                   \
	})

/*
 * Parses these texts as NCCL does, which rejects nothing: a number ends at the first non-digit, so
 * "auto" is 0; it ignores an unknown family and an invalid range.
 */
struct rna_nccl_settings rna_nccl_settings_parse(const struct rna_nccl_environment *environment);

/*
 * The GID index that NCCL uses. If no GID matches it is 0, as in NCCL: the link-local GID of RoCE
 * v1, which is not routable. The entry may be empty.
 */
unsigned rna_nccl_gid_index(const struct rna_port_gids *gids, bool infiniband,
			    const struct rna_nccl_settings *settings);

/* Is it an address of the range that these settings have? Any is, without a range. */
bool rna_nccl_in_range(const struct rna_gid *gid, const struct rna_nccl_settings *settings);

/* -- /etc/nccl.conf ---------------------------------------------------------------------------- */

/* Variables of that file that must agree with the node. */
enum rna_nccl_file_variable {
	RNA_NCCL_FILE_IB_DISABLE,
	RNA_NCCL_FILE_IB_HCA,
	RNA_NCCL_FILE_IB_GID_INDEX,
	RNA_NCCL_FILE_SOCKET_IFNAME,
	RNA_NCCL_FILE_IB_TC,
	RNA_NCCL_FILE_IB_SL,
	RNA_NCCL_FILE_COUNT,
};

extern const char *const rna_nccl_file_names[RNA_NCCL_FILE_COUNT]; /* "NCCL_IB_DISABLE", ... */

/*
 * The file of the node, which NCCL reads in each process that is in no container. A variable of the
 * process takes precedence, and then one of ~/.nccl.conf: setEnvFile() in src/misc/param.cc calls
 * setenv() without overwriting (2.30.7, and before 2.23).
 */
struct rna_nccl_file {
	bool exists;
	const char *values[RNA_NCCL_FILE_COUNT]; /* NULL: not set */
	/* Interfaces that NCCL_SOCKET_IFNAME selects; absent: it is not set, or unknown. */
	struct rna_value interfaces;
};

/* An entry of NCCL_IB_HCA or NCCL_SOCKET_IFNAME; rna_nccl_list_next() sets the last three. */
struct rna_nccl_list {
	const char *rest;
	bool others; /* "^": the entries are what is left out */
	bool exact;  /* "=": whole names */
	const char *name;
	size_t len;
	int port; /* -1: any */
};

struct rna_nccl_list rna_nccl_list_begin(const char *text);
bool rna_nccl_list_next(struct rna_nccl_list *list); /* false: no more */
/* Does the entry mean the device or interface? port 0: any of its ports. */
bool rna_nccl_list_fits(const struct rna_nccl_list *list, const char *name, unsigned port);
/* Does NCCL use it by that list? An empty list selects all. */
bool rna_nccl_list_selects(const char *text, const char *name, unsigned port);
/* Is that number, as NCCL reads it, other than 0? NULL: no. */
bool rna_nccl_is_set(const char *number);
