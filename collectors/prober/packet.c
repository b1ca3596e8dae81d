// SPDX-License-Identifier: Apache-2.0
#include "packet.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "rna/base/secret.h"

enum {
	FLAG_LARGE = 1,
	/* offsets, see packet.h */
	AT_VERSION = 4,
	AT_KIND = 5,
	AT_FLAGS = 6,
	AT_CLASS = 7,
	AT_FROM = 8,
	AT_TO = 16,
	AT_TARGET = 24,
	AT_NUMBER = 28,
	AT_HELD = 32,
	AT_HELD_NUMBER = 36,
	AT_WAY = 40,
	AT_LATE = 43,
	AT_ZEROS = 44,
	AT_CODE = 48,
	CODE_SIZE = 16,
	/*
	 * A Q_Key with the top bit set is a controlled one, which only privileged processes may use
	 * (IBTA 10.2.5; ib_uverbs refuses others without CAP_NET_RAW).
	 */
	QKEY_MASK = 0x7fffffff,
	IPV4_AT = 20, /* of the headers, in RoCE v2 over IPv4 (IBTA annex A17) */
	IPV4_SIZE = 20,
	PROTOCOL_UDP = 17,
	PROTOCOL_IBA = 27, /* next header of a GRH (IBTA 8.3) */
	WAY_UNKNOWN = 255,
};

static const char magic[AT_VERSION] = {'R', 'N', 'A', 'P'};

/* -- Numbers ----------------------------------------------------------------------------------- */

static void put32(uint8_t *at, uint32_t value)
{
	value = htobe32(value);
	memcpy(at, &value, sizeof(value));
}

static void put64(uint8_t *at, uint64_t value)
{
	value = htobe64(value);
	memcpy(at, &value, sizeof(value));
}

static uint32_t get32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return be32toh(value);
}

static uint64_t get64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return be64toh(value);
}

/* -- Keys -------------------------------------------------------------------------------------- */

static int derive(const uint8_t key[RNA_PROBER_KEY_SIZE], const char *label,
		  uint8_t ret[RNA_SECRET_DIGEST])
{
	return rna_secret_digest(key, RNA_PROBER_KEY_SIZE, label, strlen(label), ret);
}

int rna_prober_key(const void *secret, size_t len, uint8_t ret[RNA_PROBER_KEY_SIZE])
{
	static const char label[] = "rdma-node-agent probe 1";

	return rna_secret_digest(secret, len, label, sizeof(label) - 1, ret);
}

int rna_prober_key_check(const uint8_t key[RNA_PROBER_KEY_SIZE], char ret[RNA_PROBER_CHECK_SIZE])
{
	uint8_t digest[RNA_SECRET_DIGEST];
	int status = derive(key, "check", digest);

	for (size_t i = 0; status == 0 && i < (RNA_PROBER_CHECK_SIZE - 1) / 2; i++) {
		ret[2 * i] = "0123456789abcdef"[digest[i] >> 4];
		ret[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
	}
	ret[status == 0 ? RNA_PROBER_CHECK_SIZE - 1 : 0] = '\0';
	return status;
}

int rna_packet_key_make(const uint8_t key[RNA_PROBER_KEY_SIZE], struct rna_packet_key *ret)
{
	int status = derive(key, "code", ret->code);

	return status < 0 ? status : derive(key, "qkey", ret->qkey);
}

int rna_packet_qkey(const struct rna_packet_key *key, uint64_t session, uint32_t *ret)
{
	uint8_t data[sizeof(session)], digest[RNA_SECRET_DIGEST];
	int status;

	put64(data, session);
	status = rna_secret_digest(key->qkey, sizeof(key->qkey), data, sizeof(data), digest);
	*ret = status < 0 ? 0 : get32(digest) & QKEY_MASK;
	return status;
}

/* -- Packets ----------------------------------------------------------------------------------- */

static int make_code(const uint8_t *data, const struct rna_packet_key *key,
		     uint8_t ret[RNA_SECRET_DIGEST])
{
	return rna_secret_digest(key->code, sizeof(key->code), data, AT_CODE, ret);
}

int rna_packet_write(const struct rna_packet *packet, const struct rna_packet_key *key,
		     uint8_t ret[RNA_PACKET_SIZE])
{
	uint8_t digest[RNA_SECRET_DIGEST];
	int status;

	memset(ret, 0, RNA_PACKET_SIZE);
	memcpy(ret, magic, sizeof(magic));
	ret[AT_VERSION] = RNA_PROBE_VERSION;
	ret[AT_KIND] = (uint8_t)packet->kind;
	ret[AT_FLAGS] = packet->large ? FLAG_LARGE : 0;
	ret[AT_CLASS] = packet->source_class;
	put64(ret + AT_FROM, packet->from);
	put64(ret + AT_TO, packet->to);
	put32(ret + AT_TARGET, packet->target);
	put32(ret + AT_NUMBER, packet->number);
	put32(ret + AT_HELD, packet->held);
	put32(ret + AT_HELD_NUMBER, packet->held_number);
	ret[AT_WAY] = packet->there.dscp;
	ret[AT_WAY + 1] = packet->there.ecn;
	ret[AT_WAY + 2] = packet->there.hop_limit;
	ret[AT_LATE] = packet->late;
	status = make_code(ret, key, digest);
	if (status == 0)
		memcpy(ret + AT_CODE, digest, CODE_SIZE);
	return status;
}

static bool is_of_form(const uint8_t *data, size_t len)
{
	static const uint8_t zeros[AT_CODE - AT_ZEROS];
	uint8_t kind = data[AT_KIND], flags = data[AT_FLAGS];
	bool may_be_longer = kind == RNA_PACKET_PROBE && flags == FLAG_LARGE;

	return (kind == RNA_PACKET_PROBE || kind == RNA_PACKET_ANSWER) && flags <= FLAG_LARGE &&
	       (len == RNA_PACKET_SIZE || may_be_longer) &&
	       memcmp(data + AT_ZEROS, zeros, sizeof(zeros)) == 0;
}

bool rna_packet_read(const uint8_t *data, size_t len, const struct rna_packet_key *key,
		     struct rna_packet *ret)
{
	uint8_t digest[RNA_SECRET_DIGEST];

	if (len < RNA_PACKET_SIZE || memcmp(data, magic, sizeof(magic)) != 0 ||
	    data[AT_VERSION] != RNA_PROBE_VERSION || !is_of_form(data, len))
		return false;
	if (make_code(data, key, digest) < 0 || !rna_secret_same(data + AT_CODE, digest, CODE_SIZE))
		return false;
	*ret = (struct rna_packet){
		.kind = data[AT_KIND],
		.large = data[AT_FLAGS] & FLAG_LARGE,
		.source_class = data[AT_CLASS],
		.from = get64(data + AT_FROM),
		.to = get64(data + AT_TO),
		.target = get32(data + AT_TARGET),
		.number = get32(data + AT_NUMBER),
		.held = get32(data + AT_HELD),
		.held_number = get32(data + AT_HELD_NUMBER),
		.there = {data[AT_WAY], data[AT_WAY + 1], data[AT_WAY + 2]},
		.late = data[AT_LATE],
	};
	return true;
}

/* -- Headers ----------------------------------------------------------------------------------- */

static struct rna_probe_way split(unsigned traffic_class, uint8_t hop_limit)
{
	return (struct rna_probe_way){
		.dscp = (uint8_t)(traffic_class >> 2 & 63),
		.ecn = (uint8_t)(traffic_class & 3),
		.hop_limit = hop_limit,
	};
}

/* The sum of a right IPv4 header with its checksum is all ones (RFC 791, RFC 1071). */
static bool has_right_sum(const uint8_t *header)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < IPV4_SIZE; i += 2)
		sum += (uint32_t)header[i] << 8 | header[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16) == 0xffff;
}

enum version {
	VERSION_NONE,
	VERSION_IPV4,
	VERSION_GRH, /* or IPv6, which has the same layout (IBTA 8.3, annex A17) */
};

/*
 * In front of an IPv4 header are 20 bytes that mean nothing, so they can look like the start of a
 * GRH; a GRH in turn can have 0x45 where the IPv4 header would begin. The checksum decides, as in
 * ib_get_rdma_header_version() of drivers/infiniband/core/verbs.c, Linux 6.1. A packet that rxe
 * hands from one of its QPs to another has none (rxe_loopback() in rxe_net.c).
 */
static enum version find_version(const uint8_t headers[RNA_PACKET_HEADERS])
{
	const uint8_t *ipv4 = headers + IPV4_AT;
	bool looks_like_ipv4 = ipv4[0] == 0x45 && ipv4[9] == PROTOCOL_UDP;
	bool looks_like_grh =
		headers[0] >> 4 == 6 && (headers[6] == PROTOCOL_IBA || headers[6] == PROTOCOL_UDP);

	if (looks_like_ipv4 && (has_right_sum(ipv4) || !looks_like_grh))
		return VERSION_IPV4;
	return looks_like_grh ? VERSION_GRH : VERSION_NONE;
}

struct rna_probe_way rna_packet_way(const uint8_t headers[RNA_PACKET_HEADERS], bool grh)
{
	const uint8_t *ipv4 = headers + IPV4_AT;

	switch (grh ? find_version(headers) : VERSION_NONE) {
	case VERSION_IPV4:
		return split(ipv4[1], ipv4[8]);
	case VERSION_GRH:
		return split((unsigned)(headers[0] & 15) << 4 | headers[1] >> 4, headers[7]);
	default:
		return (struct rna_probe_way){WAY_UNKNOWN, WAY_UNKNOWN, WAY_UNKNOWN};
	}
}

/* IPv4 addresses are GIDs mapped to IPv6 (IBTA annex A17). */
void rna_packet_source(const uint8_t headers[RNA_PACKET_HEADERS], bool grh, uint8_t ret[16])
{
	enum version version = grh ? find_version(headers) : VERSION_NONE;

	memset(ret, 0, 16);
	if (version == VERSION_GRH)
		memcpy(ret, headers + 8, 16);
	if (version != VERSION_IPV4)
		return;
	ret[10] = ret[11] = 0xff;
	memcpy(ret + 12, headers + IPV4_AT + 12, 4);
}
