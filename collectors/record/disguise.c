// SPDX-License-Identifier: Apache-2.0
/*
 * Disguises, see disguise.h.
 *
 * A hash is left out on purpose: the half of a MAC address that is not the vendor's has 24 bits,
 * and an attacker could try all hashes. So originals are kept in a list, and the place
 * in the list is the stand-in. IP addresses keep their relations as well, see Prefixes.
 *
 * Vendors stay where they are known to be vendors: in MAC addresses that are not locally
 * administered, in GUIDs that were made from one. Two forms of those are known, "fffe" in the
 * middle (RFC 4291, appendix A) and NVIDIA's "0300".
 */
#include "disguise.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/arena.h"
#include "rna/base/parse.h"

enum {
	MAC_SIZE = 6,
	GUID_SIZE = 8,
	GID_SIZE = 16,
	IPV4_SIZE = 4,
	IPOIB_SIZE = 20,     /* flags and QP number, then a GID: RFC 4391, section 9.1.1 */
	OCTETS_MAX = 20,     /* the largest of them */
	MAC_LOCAL = 0x02,    /* bit of the first octet: no vendor's address */
	FIRST_UNIT = 0xf000, /* stand-ins are easy to tell from units of machines made by hand */
};

struct network;

/* An address of IPv4, or the first half of one of IPv6; the first bit is the highest. */
struct prefix {
	const struct network *network;
	uint64_t original, stand_in;
	uint32_t head; /* number of the first bits of the original, in its network */
};

struct rna_disguise {
	struct rna_arena *arena; /* the originals */
	const char **originals;
	size_t count;
	struct prefix *prefixes;
	size_t prefix_count;
	bool no_memory;
};

struct rna_disguise *rna_disguise_new(void)
{
	RNA_CLEANUP(rna_disguise_free_p)
	struct rna_disguise *disguise = calloc(1, sizeof(*disguise));

	if (!disguise)
		return NULL;
	disguise->arena = rna_arena_new(4096);
	return disguise->arena ? RNA_TAKE(disguise) : NULL;
}

struct rna_disguise *rna_disguise_free(struct rna_disguise *disguise)
{
	if (!disguise)
		return NULL;
	(void)rna_arena_free(disguise->arena);
	free(disguise->originals);
	free(disguise->prefixes);
	free(disguise);
	return NULL;
}

/* -- Originals and their numbers --------------------------------------------------------------- */

/* From 1; what 0 stands for is never used, for no_memory is set. original is owned by arena. */
static uint32_t number_of(struct rna_disguise *disguise, const char *original)
{
	const char **place;

	for (size_t i = 0; original && i < disguise->count; i++)
		if (strcmp(disguise->originals[i], original) == 0)
			return (uint32_t)i + 1;
	place = original ? RNA_GROW(disguise->originals, disguise->count, NULL) : NULL;
	if (!place) {
		disguise->no_memory = true;
		return 0;
	}
	*place = original;
	return (uint32_t)++disguise->count;
}

/* space: what the octets are, for equal ones need not be the same thing. */
static uint32_t number_of_octets(struct rna_disguise *disguise, char space, const uint8_t *octets,
				 size_t count)
{
	char text[1 + 2 * OCTETS_MAX + 1] = {space};

	for (size_t i = 0; i < count; i++)
		(void)snprintf(text + 1 + 2 * i, 3, "%02x", octets[i]);
	return number_of(disguise, rna_arena_strdup(disguise->arena, text));
}

/* -- Octets, in place -------------------------------------------------------------------------- */

static bool is_zero(const uint8_t *octets, size_t count)
{
	return !RNA_ANY(i, count, octets[i]);
}

static void put_unit(uint8_t octets[3], uint32_t number)
{
	octets[0] = (uint8_t)(number >> 16);
	octets[1] = (uint8_t)(number >> 8);
	octets[2] = (uint8_t)number;
}

static void replace_mac(struct rna_disguise *disguise, uint8_t mac[MAC_SIZE])
{
	uint32_t number;

	if (is_zero(mac, MAC_SIZE))
		return;
	number = number_of_octets(disguise, 'm', mac, MAC_SIZE);
	if (mac[0] & MAC_LOCAL)
		memcpy(mac, (const uint8_t[]){MAC_LOCAL, 0, 0}, 3);
	put_unit(mac + 3, FIRST_UNIT + number);
}

static void replace_guid(struct rna_disguise *disguise, uint8_t guid[GUID_SIZE])
{
	bool is_eui64 = guid[3] == 0xff && guid[4] == 0xfe;
	bool is_nvidia = guid[3] == 0x03 && guid[4] == 0x00;
	uint8_t flip = is_eui64 ? MAC_LOCAL : 0;
	uint8_t mac[MAC_SIZE] = {guid[0] ^ flip, guid[1], guid[2], guid[5], guid[6], guid[7]};

	if (is_zero(guid, GUID_SIZE))
		return;
	if (is_eui64 || is_nvidia) {
		replace_mac(disguise, mac);
		memcpy(guid, (const uint8_t[]){mac[0] ^ flip, mac[1], mac[2]}, 3);
		memcpy(guid + 5, mac + 3, 3);
		return;
	}
	put_unit(guid + 5, FIRST_UNIT + number_of_octets(disguise, 'g', guid, GUID_SIZE));
	memcpy(guid, (const uint8_t[]){MAC_LOCAL, 0, 0, 0, 0}, 5);
}

/* -- Prefixes ---------------------------------------------------------------------------------- */

/*
 * Two stand-ins share as many bits as their originals do, because that shows networks and planes:
 * but which bits those are, only the order of appearance decides. Where addresses are private, all
 * sites have the same first bits, and these stay. Others have a first part that is replaced as a
 * whole by one that no site has.
 */
struct network {
	uint64_t prefix;   /* of originals */
	unsigned bits;     /* of prefix */
	uint64_t stand_in; /* for the first bits */
	unsigned head;     /* how many those are */
	uint32_t heads;    /* how many values they have */
	uint64_t rest;     /* the bits that no relation decides */
};

/* 10.250.240.1 is easy to tell from addresses that people choose. */
#define IPV4(number) ((uint64_t)(number) << 32)
#define REST         IPV4(0xfa0000 + FIRST_UNIT + 1)

static const struct network ipv4_networks[] = {
	{IPV4(0x0a000000), 8, IPV4(0x0a000000), 8, 1, REST}, /* RFC 1918 */
	{IPV4(0xac100000), 12, IPV4(0xac100000), 12, 1, REST},
	{IPV4(0xc0a80000), 16, IPV4(0xc0a80000), 16, 1, REST},
	{IPV4(0x64400000), 10, IPV4(0x64400000), 10, 1, REST}, /* RFC 6598 */
	{0, 0, IPV4(0xf0000000), 8, 15, REST},                 /* 240.0.0.0/4: RFC 1112 */
};

static const struct network ipv6_network = {
	0, 0, 0x3fffULL << 48, 32, 1 << 12, FIRST_UNIT + 1, /* 3fff::/20: RFC 9637 */
};

static uint64_t first_bits(unsigned count)
{
	return count > 0 ? UINT64_MAX << (64 - count) : 0;
}

static unsigned common_bits(uint64_t a, uint64_t b)
{
	return a == b ? 64 : (unsigned)__builtin_clzll(a ^ b);
}

/* nearest: NULL: it is the first one of its head. */
static uint64_t make_stand_in(const struct prefix *nearest, const struct prefix *new)
{
	const struct network *network = new->network;
	unsigned common;
	uint64_t other;

	if (!nearest)
		return network->stand_in +
		       ((uint64_t)(new->head % network->heads) << (64 - network->head)) +
		       (network->rest & ~first_bits(network->head));
	common = common_bits(nearest->original, new->original);
	other = 1ULL << (63 - common);
	return (nearest->stand_in & first_bits(common)) | (~nearest->stand_in & other) |
	       (network->rest & (other - 1));
}

static uint64_t replace_prefix_bits(struct rna_disguise *disguise, const struct network *network,
				    uint64_t original)
{
	const struct prefix *nearest = NULL;
	struct prefix new = {.network = network, .original = original}, *place;

	RNA_EACH (known, disguise->prefixes, disguise->prefix_count) {
		unsigned common = common_bits(known->original, original);

		if (known->network != network)
			continue;
		if (common == 64)
			return known->stand_in;
		if (common >= network->head &&
		    (!nearest || common > common_bits(nearest->original, original)))
			nearest = known;
		new.head = known->head >= new.head ? known->head + 1 : new.head;
	}
	new.head = nearest ? nearest->head : new.head;
	new.stand_in = make_stand_in(nearest, &new); /* before they move */
	place = RNA_GROW(disguise->prefixes, disguise->prefix_count, NULL);
	if (!place) {
		disguise->no_memory = true;
		return 0;
	}
	*place = new;
	disguise->prefix_count++;
	return new.stand_in;
}

static uint64_t get_bits(const uint8_t *octets, size_t count)
{
	uint64_t ret = 0;

	for (size_t i = 0; i < count; i++)
		ret |= (uint64_t)octets[i] << (56 - 8 * i);
	return ret;
}

static void put_bits(uint8_t *octets, size_t count, uint64_t bits)
{
	for (size_t i = 0; i < count; i++)
		octets[i] = (uint8_t)(bits >> (56 - 8 * i));
}

/* The default prefix says nothing. */
static void replace_prefix(struct rna_disguise *disguise, uint8_t prefix[GUID_SIZE])
{
	static const uint8_t link_local[GUID_SIZE] = {0xfe, 0x80};

	if (is_zero(prefix, GUID_SIZE) || memcmp(prefix, link_local, GUID_SIZE) == 0)
		return;
	put_bits(prefix, GUID_SIZE,
		 replace_prefix_bits(disguise, &ipv6_network, get_bits(prefix, GUID_SIZE)));
}

static void replace_ipv4(struct rna_disguise *disguise, uint8_t address[IPV4_SIZE])
{
	const uint64_t original = get_bits(address, IPV4_SIZE);
	const struct network *network = ipv4_networks;

	while (common_bits(original, network->prefix) < network->bits)
		network++;
	put_bits(address, IPV4_SIZE, replace_prefix_bits(disguise, network, original));
}

/* -- GIDs -------------------------------------------------------------------------------------- */

static void replace_gid(struct rna_disguise *disguise, uint8_t gid[GID_SIZE])
{
	static const uint8_t mapped_ipv4[12] = {[10] = 0xff, [11] = 0xff};

	if (is_zero(gid, GID_SIZE))
		return;
	if (memcmp(gid, mapped_ipv4, sizeof(mapped_ipv4)) == 0) {
		replace_ipv4(disguise, gid + 12);
		return;
	}
	replace_prefix(disguise, gid);
	replace_guid(disguise, gid + GUID_SIZE);
}

/* Octets by their count; false: it is nothing that we know. */
static bool replace_octets(struct rna_disguise *disguise, uint8_t *octets, size_t count)
{
	switch (count) {
	case MAC_SIZE:
		replace_mac(disguise, octets);
		return true;
	case GUID_SIZE:
		replace_guid(disguise, octets);
		return true;
	case GID_SIZE:
		replace_gid(disguise, octets);
		return true;
	case IPOIB_SIZE:
		replace_gid(disguise, octets + 4);
		return true;
	default:
		return false;
	}
}

/* -- Text, in place: a stand-in is as long as the original ------------------------------------- */

static uint8_t digit_value(char digit)
{
	return (uint8_t)(isdigit((unsigned char)digit) ? digit - '0'
						       : tolower((unsigned char)digit) - 'a' + 10);
}

/*
 * The octets of "b8ce:f603:000a:aabc" (group: 2 octets between colons). Their number, 0 when it is
 * not of that form.
 */
static size_t parse_octets(const char *text, size_t len, size_t group, uint8_t octets[OCTETS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < len; i += 2) {
		if (count > 0 && count % group == 0 && text[i++] != ':')
			return 0;
		if (count == OCTETS_MAX || i + 1 >= len || !isxdigit((unsigned char)text[i]) ||
		    !isxdigit((unsigned char)text[i + 1]))
			return 0;
		octets[count++] = (uint8_t)(digit_value(text[i]) << 4 | digit_value(text[i + 1]));
	}
	return count;
}

static void format_octets(char *text, const uint8_t *octets, size_t count)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < 2 * count; text++)
		if (*text != ':') {
			*text = digits[octets[i / 2] >> (i % 2 ? 0 : 4) & 0xf];
			i++;
		}
}

/* One word of digits and colons. Without a colon it counts on demand, as a name may hold it. */
static void replace_word(struct rna_disguise *disguise, char *word, size_t len, bool plain)
{
	uint8_t octets[OCTETS_MAX];
	size_t count = 0;

	while (len > 0 && word[len - 1] == ':')
		len--;
	if (memchr(word, ':', len)) {
		for (size_t group = 1; group <= 2 && count == 0; group++)
			count = parse_octets(word, len, group, octets);
	} else if (plain && (len == 2 * MAC_SIZE || len == 2 * GUID_SIZE)) {
		count = parse_octets(word, len, OCTETS_MAX, octets);
	}
	if (replace_octets(disguise, octets, count))
		format_octets(word, octets, count);
}

static void replace_words(struct rna_disguise *disguise, char *text, bool plain)
{
	while (*text) {
		size_t len = strspn(text, "0123456789abcdefABCDEF:");

		replace_word(disguise, text, len, plain);
		text += len;
		text += *text != '\0';
	}
}

static void hide_digits(char *text)
{
	for (; *text; text++)
		if (isxdigit((unsigned char)*text))
			*text = 'x';
}

static void replace_address(struct rna_disguise *disguise, size_t group, char *text)
{
	uint8_t octets[OCTETS_MAX];
	size_t count = parse_octets(text, strlen(text), group, octets);

	if (replace_octets(disguise, octets, count))
		format_octets(text, octets, count);
	else
		hide_digits(text);
}

static const char *replace_text(struct rna_disguise *disguise, const char *text,
				struct rna_arena *arena)
{
	const char *original = rna_arena_printf(disguise->arena, "t%s", text);

	return rna_arena_printf(arena, "text %u", number_of(disguise, original));
}

const char *rna_disguise(struct rna_disguise *disguise, enum rna_disguise_kind kind,
			 const char *text, struct rna_arena *arena)
{
	const char *ret = text;
	char *copy;

	if (!disguise || kind == RNA_DISGUISE_NOTHING || *text == '\0')
		return text;
	if (kind == RNA_DISGUISE_TEXT) {
		ret = replace_text(disguise, text, arena);
		return disguise->no_memory ? NULL : ret;
	}
	copy = rna_arena_strdup(arena, text);
	if (!copy)
		return NULL;
	if (kind == RNA_DISGUISE_ADDRESSES || kind == RNA_DISGUISE_NAME)
		replace_words(disguise, copy, kind == RNA_DISGUISE_NAME);
	else
		replace_address(disguise, kind == RNA_DISGUISE_ADDRESS ? 1 : 2, copy);
	return disguise->no_memory ? NULL : copy;
}
