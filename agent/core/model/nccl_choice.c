// SPDX-License-Identifier: Apache-2.0
/*
 * NCCL's choice of a GID, reimplemented from its source: on InfiniBand the routable GID, if there
 * is one; on RoCE the first GID of the wanted family, range and version, where each candidate is
 * compared with the best one so far.
 *
 * Oddities of NCCL are kept on purpose, so that the result is the same.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rna/model/nccl.h"

/* -- The environment --------------------------------------------------------------------------- */

enum {
	IPV4_OFFSET = 12, /* of the address in an IPv4-mapped GID */
	IPV4_BITS = 32,
	IPV6_BITS = 128,
	RANGE_TEXT_MAX = 128, /* longer texts are cut */
};

/* ncclLoadParam(): like C's own notation, 0x and 0 in front included. */
static int parse_number(const char *text, int standard)
{
	long long number;

	if (!text || *text == '\0')
		return standard;
	errno = 0;
	number = strtoll(text, NULL, 0);
	return errno ? standard : (int)number;
}

/* envIbAddrRange(). */
static void parse_range(const char *text, struct rna_nccl_settings *settings)
{
	bool ipv4 = settings->family == RNA_GID_IPV4;
	char address[RANGE_TEXT_MAX], *slash;
	struct rna_gid range = {{0}};
	int bits;

	(void)snprintf(address, sizeof(address), "%s", text ? text : "");
	slash = strchr(address, '/');
	if (!slash)
		return;
	*slash = '\0';
	if (inet_pton(ipv4 ? AF_INET : AF_INET6, address, &range.bytes[ipv4 ? IPV4_OFFSET : 0]) !=
	    1)
		return;
	bits = (int)strtol(slash + 1, NULL, 10);
	if (bits > (ipv4 ? IPV4_BITS : IPV6_BITS))
		return;
	settings->range = range;
	settings->range_bits = bits;
}

struct rna_nccl_settings rna_nccl_settings_parse(const struct rna_nccl_environment *environment)
{
	struct rna_nccl_settings ret = RNA_NCCL_STANDARD;

	ret.gid_index = parse_number(environment->gid_index, ret.gid_index);
	ret.roce_version = parse_number(environment->roce_version, ret.roce_version);
	ret.flid_index = parse_number(environment->flid_index, ret.flid_index);
	if (environment->addr_family && strcmp(environment->addr_family, "AF_INET6") == 0)
		ret.family = RNA_GID_IPV6;
	parse_range(environment->addr_range, &ret);
	return ret;
}

/* -- One GID ----------------------------------------------------------------------------------- */

/* Unlike RFC 4291, NCCL also treats IPv4-derived multicast addresses as IPv4. */
static enum rna_gid_family family_of(const struct rna_gid *gid)
{
	static const uint8_t multicast[IPV4_OFFSET] = {0xff, 0x0e, [10] = 0xff, 0xff};

	return memcmp(gid->bytes, multicast, sizeof(multicast)) == 0 ? RNA_GID_IPV4
								     : rna_gid_family(gid);
}

/* Not empty, and neither fe80:: itself nor in fe80::/64. */
static bool is_valid(const struct rna_gid *gid)
{
	static const uint8_t link_local[8] = {0xfe, 0x80};

	return !rna_gid_is_zero(gid) && memcmp(gid->bytes, link_local, sizeof(link_local)) != 0;
}

/* sysfs has the same text "IB/RoCE v1" for InfiniBand and RoCE v1. */
static int version_of(enum rna_gid_type type)
{
	switch (type) {
	case RNA_GID_TYPE_IB:
	case RNA_GID_TYPE_ROCE_V1:
		return 1;
	case RNA_GID_TYPE_ROCE_V2:
		return 2;
	default:
		return -1;
	}
}

bool rna_nccl_in_range(const struct rna_gid *gid, const struct rna_nccl_settings *settings)
{
	size_t start = settings->family == RNA_GID_IPV4 ? IPV4_OFFSET : 0, whole, rest;
	const uint8_t *address = &gid->bytes[start], *range = &settings->range.bytes[start];

	if (settings->range_bits < 0)
		return false;
	whole = (size_t)settings->range_bits / 8;
	rest = (size_t)settings->range_bits % 8;
	if (memcmp(address, range, whole) != 0)
		return false;
	return rest == 0 || (address[whole] ^ range[whole]) >> (8 - rest) == 0;
}

/* -- The choice -------------------------------------------------------------------------------- */

/* Does NCCL prefer candidate to current, its best GID so far? */
static bool prefers(const struct rna_gid_entry *candidate, const struct rna_gid_entry *current,
		    const struct rna_nccl_settings *settings)
{
	enum rna_gid_family family = family_of(&candidate->gid);

	if (family != settings->family || !rna_nccl_in_range(&candidate->gid, settings))
		return false;
	if (family != family_of(&current->gid))
		return true; /* of any version, even an empty entry */
	return is_valid(&candidate->gid) && version_of(candidate->type) == settings->roce_version &&
	       (version_of(current->type) != settings->roce_version || !is_valid(&current->gid));
}

/* An InfiniBand GID contains a FLID if subnets are connected by routers. */
static unsigned index_of_infiniband(const struct rna_port_gids *gids,
				    const struct rna_nccl_settings *settings)
{
	const struct rna_gid_entry *entry = NULL;

	if (settings->flid_index >= 0)
		entry = rna_port_gids_find(gids, (unsigned)settings->flid_index);
	return entry && (entry->gid.bytes[4] || entry->gid.bytes[5]) ? entry->index : 0;
}

/*
 * An empty index is a candidate like any other: its zero GID counts as IPv6. Of consecutive empty
 * indexes only the first matters: once chosen, the next ones are not better.
 */
unsigned rna_nccl_gid_index(const struct rna_port_gids *gids, bool infiniband,
			    const struct rna_nccl_settings *settings)
{
	uint64_t end = gids->count > 0 ? (uint64_t)gids->entries[gids->count - 1].index + 1 : 0;
	struct rna_gid_entry current = {0};
	size_t next = 0;

	if (infiniband)
		return index_of_infiniband(gids, settings);
	if (settings->gid_index >= 0)
		return (unsigned)settings->gid_index;
	for (uint64_t index = 0; index <= end;) {
		bool filled = next < gids->count && gids->entries[next].index == index;
		struct rna_gid_entry candidate = {.index = (unsigned)index};

		if (filled)
			candidate = gids->entries[next++];
		if (index == 0 || prefers(&candidate, &current, settings))
			current = candidate;
		if (filled)
			index++;
		else
			index = next < gids->count ? gids->entries[next].index : end + 1;
	}
	return current.index;
}
