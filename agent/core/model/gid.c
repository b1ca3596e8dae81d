// SPDX-License-Identifier: Apache-2.0
/*
 * GIDs: their text form and properties, and changes of the indexes of a table between two runs.
 *
 * Each index is compared with its last entry, even if it has been empty for a long time: when a
 * link comes up, its addresses return one by one, and a poll in between must not turn the change of
 * an index into a new entry.
 */
#include "rna/model/gid.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rna/base/parse.h"

/* -- One GID ----------------------------------------------------------------------------------- */

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int rna_gid_parse(const char *text, struct rna_gid *ret)
{
	struct rna_gid gid;

	for (size_t i = 0; i < sizeof(gid.bytes); i++) {
		int high, low;

		if (i > 0 && i % 2 == 0 && *text++ != ':')
			return -EBADMSG;
		high = digit_of(text[0]);
		low = high < 0 ? -1 : digit_of(text[1]);
		if (low < 0)
			return -EBADMSG;
		gid.bytes[i] = (uint8_t)(high << 4 | low);
		text += 2;
	}
	if (*text != '\0')
		return -EBADMSG;
	*ret = gid;
	return 0;
}

void rna_gid_format(const struct rna_gid *gid, char ret[RNA_GID_TEXT_MAX])
{
	static const char digits[] = "0123456789abcdef";
	char *at = ret;

	for (size_t i = 0; i < sizeof(gid->bytes); i++) {
		if (i > 0 && i % 2 == 0)
			*at++ = ':';
		*at++ = digits[gid->bytes[i] >> 4];
		*at++ = digits[gid->bytes[i] & 0xf];
	}
	*at = '\0';
}

bool rna_gid_is_same(const struct rna_gid *a, const struct rna_gid *b)
{
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

bool rna_gid_is_zero(const struct rna_gid *gid)
{
	static const struct rna_gid zero;

	return rna_gid_is_same(gid, &zero);
}

bool rna_gid_is_link_local(const struct rna_gid *gid)
{
	return gid->bytes[0] == 0xfe && (gid->bytes[1] & 0xc0) == 0x80;
}

unsigned rna_gid_common_bits(const struct rna_gid *a, const struct rna_gid *b)
{
	unsigned bits = 0;

	while (bits < RNA_GID_BITS &&
	       !((a->bytes[bits / 8] ^ b->bytes[bits / 8]) & 0x80U >> bits % 8))
		bits++;
	return bits;
}

bool rna_gid_is_routable(const struct rna_gid_entry *entry)
{
	return entry->type == RNA_GID_TYPE_ROCE_V2 && !entry->elsewhere &&
	       !rna_gid_is_link_local(&entry->gid);
}

enum rna_gid_family rna_gid_family(const struct rna_gid *gid)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff}; /* RFC 4291, 2.5.5.2 */

	return memcmp(gid->bytes, mapped, sizeof(mapped)) == 0 ? RNA_GID_IPV4 : RNA_GID_IPV6;
}

bool rna_gid_ipv4(const struct rna_gid *gid, char ret[RNA_IPV4_TEXT_MAX])
{
	const uint8_t *address = &gid->bytes[12];

	if (rna_gid_family(gid) != RNA_GID_IPV4)
		return false;
	(void)snprintf(ret, RNA_IPV4_TEXT_MAX, "%u.%u.%u.%u", address[0], address[1], address[2],
		       address[3]);
	return true;
}

/* -- Two tables -------------------------------------------------------------------------------- */

/* Do both entries mean the same to an application that chose the index? */
static bool same_gid(const struct rna_gid_entry *a, const struct rna_gid_entry *b)
{
	return a->type == b->type && rna_gid_is_same(&a->gid, &b->gid);
}

/* A VLAN's link-local GID is that of its parent: only the interface tells them apart. */
static bool same_address(const struct rna_gid_entry *a, const struct rna_gid_entry *b)
{
	return same_gid(a, b) && rna_same_text(a->netdev, b->netdev);
}

static bool same_port(const struct rna_port_gids *a, const struct rna_port_gids *b)
{
	if (a->number != b->number || a->count != b->count)
		return false;
	return !RNA_ANY(i, a->count,
			a->entries[i].index != b->entries[i].index ||
				!same_address(&a->entries[i], &b->entries[i]));
}

bool rna_gids_same_entries(const struct rna_gids *a, const struct rna_gids *b)
{
	if (a->port_count != b->port_count)
		return false;
	return RNA_ALL(i, a->port_count, same_port(&a->ports[i], &b->ports[i]));
}

/* A list of entries, and the entry to search for. */
static const struct rna_gid_entry *find_index(const struct rna_gid_entry *entries, size_t count,
					      unsigned index)
{
	return RNA_FIND(i, entries, count, entries[i].index == index);
}

static const struct rna_gid_entry *find_address(const struct rna_gid_entry *entries, size_t count,
						const struct rna_gid_entry *wanted)
{
	return RNA_FIND(i, entries, count, same_address(&entries[i], wanted));
}

/* An unreadable type does not count as a different type. */
static bool is_other(const struct rna_gid_entry *a, const struct rna_gid_entry *b)
{
	if (a->type == RNA_GID_TYPE_UNKNOWN || b->type == RNA_GID_TYPE_UNKNOWN)
		return !rna_gid_is_same(&a->gid, &b->gid);
	return !same_gid(a, b);
}

/* Does the index of entry have another meaning than before? */
static bool is_change(const struct rna_gid_entry *entry, const struct rna_port_gids *now,
		      const struct rna_port_gids *before)
{
	const struct rna_gid_entry *last, *old;

	if (entry->elsewhere)
		return false;
	last = find_index(before->entries, before->count, entry->index);
	if (!last)
		last = find_index(before->gone, before->gone_count, entry->index);
	if (last)
		return is_other(last, entry);
	if (find_address(before->gone, before->gone_count, entry))
		return true;
	old = find_address(before->entries, before->count, entry);
	last = old ? find_index(now->entries, now->count, old->index) : NULL;
	return old && !(last && same_address(last, entry));
}

/* Keeps those old entries whose index is empty now and whose address is at no other index. */
static int keep_gone(struct rna_port_gids *port, struct rna_gid_entry *gone,
		     const struct rna_gid_entry *old, size_t count, struct rna_arena *arena)
{
	for (size_t i = 0; i < count; i++) {
		struct rna_gid_entry *kept = &gone[port->gone_count];

		if (find_index(port->entries, port->count, old[i].index) ||
		    find_address(port->entries, port->count, &old[i]))
			continue;
		*kept = old[i];
		if (old[i].netdev)
			kept->netdev = rna_arena_strdup(arena, old[i].netdev);
		if (old[i].netdev && !kept->netdev)
			return -ENOMEM;
		port->gone_count++;
	}
	return 0;
}

int rna_port_gids_follow(struct rna_port_gids *port, const struct rna_port_gids *before,
			 struct rna_arena *arena)
{
	size_t most = before->count + before->gone_count;
	struct rna_gid_entry *gone = rna_arena_array(arena, most, sizeof(*gone));

	if (!gone)
		return -ENOMEM;
	port->changes = before->changes;
	for (size_t i = 0; i < port->count; i++)
		port->changes += is_change(&port->entries[i], port, before);
	port->gone = gone;
	port->gone_count = 0;
	if (keep_gone(port, gone, before->entries, before->count, arena) < 0 ||
	    keep_gone(port, gone, before->gone, before->gone_count, arena) < 0)
		return -ENOMEM;
	return 0;
}

size_t rna_port_gids_count_of(const struct rna_port_gids *gids, const char *netdev)
{
	return RNA_COUNT(i, gids->count, rna_same_text(gids->entries[i].netdev, netdev));
}

size_t rna_port_gids_count_here(const struct rna_port_gids *gids)
{
	return RNA_COUNT(i, gids->count, !gids->entries[i].elsewhere);
}

const struct rna_gid_entry *rna_port_gids_find(const struct rna_port_gids *gids, unsigned index)
{
	return find_index(gids->entries, gids->count, index);
}
