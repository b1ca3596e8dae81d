// SPDX-License-Identifier: Apache-2.0
/*
 * The messages of a dialogue. Each has a code, which is made of the secret, of both nonces, of the
 * side, of the number and of the whole content: so none can be made by a stranger, repeated, left
 * out, or sent back to its maker. The challenge alone has none, as one side has no nonce yet; it
 * carries nothing but a nonce. Numbers are in network order:
 *
 *	0	"RNAB"
 *	4	version
 *	5	kind
 *	6	side: 0 asks, 1 answers
 *	7	number of the message among those of its side
 *	8	content by kind, zeros behind it
 *	992	code: HMAC-SHA256
 */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "rna/bandwidth.h"
#include "rna/base/characters.h"
#include "rna/base/secret.h"

enum {
	VERSION = 1,
	AT_VERSION = 4,
	AT_KIND = 5,
	AT_SIDE = 6,
	AT_NUMBER = 7,
	AT_CONTENT = 8,
	AT_CODE = RNA_BANDWIDTH_MESSAGE - RNA_SECRET_DIGEST,
	MESSAGES_MAX = 16, /* of a side; a dialogue has five */
	QPN_MIN = 2,       /* 0 and 1 are of the subnet manager and of CM */
	BITS_24 = 0xffffff,
	LID_MAX = 0xbfff, /* of a port: IBTA 4.1.1 */
	PORT_MAX = 254,
	MTU_MAX = 5,
	ROOM_MIN = 64,
	ROOM_MAX = 1 << 30,
};

/* More than any link of this decade carries: 100 Tb/s. */
#define RATE_MAX (UINT64_C(100) * 1000 * 1000 * 1000 * 1000 / 8)

static const char magic[AT_VERSION] = {'R', 'N', 'A', 'B'};

/* -- Content ----------------------------------------------------------------------------------- */

/* Writes or reads the content, piece by piece. */
struct cursor {
	uint8_t *to;         /* NULL: it reads */
	const uint8_t *from; /* NULL: it writes */
	size_t at;
	bool bad; /* a text without an end, or a number out of its range */
};

static void take_bytes(struct cursor *cursor, void *value, size_t len)
{
	if (cursor->at + len > AT_CODE) {
		cursor->bad = true;
		return;
	}
	if (cursor->to)
		memcpy(cursor->to + cursor->at, value, len);
	else
		memcpy(value, cursor->from + cursor->at, len);
	cursor->at += len;
}

static void take_text(struct cursor *cursor, char *text, size_t size)
{
	take_bytes(cursor, text, size);
	if (!memchr(text, '\0', size)) {
		cursor->bad = true;
		text[size - 1] = '\0';
	}
	for (size_t at = 0, len = strlen(text), own; at < len; at += own)
		cursor->bad |= rna_character_at(text + at, len - at, &own) == RNA_CHARACTER_CONTROL;
}

static uint64_t take_u64(struct cursor *cursor, uint64_t value, uint64_t min, uint64_t max)
{
	uint64_t wire = htobe64(value);

	take_bytes(cursor, &wire, sizeof(wire));
	value = be64toh(wire);
	cursor->bad |= value < min || value > max;
	return value;
}

static uint32_t take_u32(struct cursor *cursor, uint32_t value, uint32_t min, uint32_t max)
{
	uint32_t wire = htobe32(value);

	take_bytes(cursor, &wire, sizeof(wire));
	value = be32toh(wire);
	cursor->bad |= value < min || value > max;
	return value;
}

static void take_call(struct cursor *cursor, struct rna_bandwidth_call *call)
{
	take_text(cursor, call->node, sizeof(call->node));
	take_text(cursor, call->group, sizeof(call->group));
	take_text(cursor, call->own_device, sizeof(call->own_device));
	call->own_port = take_u32(cursor, call->own_port, 1, PORT_MAX);
	take_text(cursor, call->device, sizeof(call->device));
	call->port = take_u32(cursor, call->port, 1, PORT_MAX);
	call->expected = take_u64(cursor, call->expected, 0, RATE_MAX);
	cursor->bad |= call->node[0] == '\0' || call->device[0] == '\0';
}

static void take_end(struct cursor *cursor, struct rna_queue_pairs_end *end)
{
	end->infiniband = take_u32(cursor, end->infiniband, 0, 1);
	take_bytes(cursor, end->gid, sizeof(end->gid));
	end->lid = (uint16_t)take_u32(cursor, end->lid, end->infiniband, LID_MAX);
	end->pkey = (uint16_t)take_u32(cursor, end->pkey, 0, UINT16_MAX);
	end->mtu = take_u32(cursor, end->mtu, 1, MTU_MAX);
	end->psn = take_u32(cursor, end->psn, 0, BITS_24);
	end->key = take_u32(cursor, end->key, 0, UINT32_MAX);
	end->address = take_u64(cursor, end->address, 0, UINT64_MAX);
	end->room = take_u64(cursor, end->room, ROOM_MIN, ROOM_MAX);
	end->count = take_u32(cursor, end->count, 1, RNA_LOOPBACK_QPS_MAX);
	for (unsigned i = 0; !cursor->bad && i < end->count; i++)
		end->qpns[i] = take_u32(cursor, end->qpns[i], QPN_MIN, BITS_24);
}

static void take_outcome(struct cursor *cursor, struct rna_bandwidth_outcome *outcome)
{
	outcome->end = take_u32(cursor, outcome->end, 0, RNA_LOOPBACK_END_COUNT - 1);
	outcome->skip = take_u32(cursor, outcome->skip, 0, RNA_SKIP_COUNT - 1);
	outcome->bandwidth = take_u64(cursor, outcome->bandwidth, 0, RATE_MAX);
	outcome->bytes = take_u64(cursor, outcome->bytes, 0, UINT64_MAX);
	take_text(cursor, outcome->text, sizeof(outcome->text));
}

/* The nonce of the side that sends it comes first in CHALLENGE and CALL. */
static void take_content(struct cursor *cursor, struct rna_bandwidth_message *message,
			 uint8_t nonce[RNA_BANDWIDTH_NONCE_SIZE])
{
	switch (message->kind) {
	case RNA_BANDWIDTH_KIND_CHALLENGE:
		take_bytes(cursor, nonce, RNA_BANDWIDTH_NONCE_SIZE);
		break;
	case RNA_BANDWIDTH_KIND_CALL:
		take_bytes(cursor, nonce, RNA_BANDWIDTH_NONCE_SIZE);
		take_call(cursor, &message->call);
		break;
	case RNA_BANDWIDTH_KIND_ANSWER:
		message->expected = take_u64(cursor, message->expected, 0, RATE_MAX);
		break;
	case RNA_BANDWIDTH_KIND_END:
		take_end(cursor, &message->end);
		break;
	case RNA_BANDWIDTH_KIND_READY:
		break;
	case RNA_BANDWIDTH_KIND_OUTCOME:
		take_outcome(cursor, &message->outcome);
		break;
	default:
		cursor->bad = true;
	}
}

/* -- Codes ------------------------------------------------------------------------------------- */

static int make_code(const struct rna_bandwidth_session *session, const uint8_t *data,
		     uint8_t ret[RNA_SECRET_DIGEST])
{
	uint8_t bytes[sizeof(session->nonces) + AT_CODE];

	memcpy(bytes, session->nonces, sizeof(session->nonces));
	memcpy(bytes + sizeof(session->nonces), data, AT_CODE);
	return rna_secret_digest(session->key, sizeof(session->key), bytes, sizeof(bytes), ret);
}

int rna_bandwidth_session_begin(struct rna_bandwidth_session *session, const uint8_t *key,
				bool asks)
{
	static const char label[] = "bandwidth";

	*session = (struct rna_bandwidth_session){.asks = asks};
	if (getrandom(session->nonces[!asks], RNA_BANDWIDTH_NONCE_SIZE, GRND_NONBLOCK) !=
	    RNA_BANDWIDTH_NONCE_SIZE)
		return -EAGAIN; /* there is no entropy yet */
	return rna_secret_digest(key, RNA_BANDWIDTH_KEY_SIZE, label, sizeof(label) - 1,
				 session->key);
}

/* -- Messages ---------------------------------------------------------------------------------- */

int rna_bandwidth_write(struct rna_bandwidth_session *session,
			const struct rna_bandwidth_message *message,
			uint8_t ret[RNA_BANDWIDTH_MESSAGE])
{
	struct cursor cursor = {.to = ret, .at = AT_CONTENT};
	struct rna_bandwidth_message copy = *message;

	memset(ret, 0, RNA_BANDWIDTH_MESSAGE);
	memcpy(ret, magic, sizeof(magic));
	ret[AT_VERSION] = VERSION;
	ret[AT_KIND] = (uint8_t)message->kind;
	ret[AT_SIDE] = !session->asks;
	ret[AT_NUMBER] = (uint8_t)session->sent++;
	take_content(&cursor, &copy, session->nonces[!session->asks]);
	return message->kind == RNA_BANDWIDTH_KIND_CHALLENGE
		       ? 0
		       : make_code(session, ret, ret + AT_CODE);
}

static bool is_zero(const uint8_t *data, size_t len)
{
	uint8_t sum = 0;

	while (len > 0)
		sum |= data[--len];
	return sum == 0;
}

/* CHALLENGE and CALL come first, and only from their side. */
static bool is_at_its_place(const struct rna_bandwidth_session *session, uint8_t kind)
{
	enum rna_bandwidth_kind first =
		session->asks ? RNA_BANDWIDTH_KIND_CHALLENGE : RNA_BANDWIDTH_KIND_CALL;

	if (session->received == 0)
		return kind == first;
	return session->received < MESSAGES_MAX && kind > RNA_BANDWIDTH_KIND_CALL &&
	       kind <= RNA_BANDWIDTH_KIND_OUTCOME;
}

static int check_code(struct rna_bandwidth_session *session, const uint8_t *data)
{
	uint8_t digest[RNA_SECRET_DIGEST];
	int status;

	if (data[AT_KIND] == RNA_BANDWIDTH_KIND_CHALLENGE)
		return is_zero(data + AT_CODE, RNA_SECRET_DIGEST) ? 0 : -EBADMSG;
	if (data[AT_KIND] == RNA_BANDWIDTH_KIND_CALL)
		memcpy(session->nonces[0], data + AT_CONTENT, RNA_BANDWIDTH_NONCE_SIZE);
	status = make_code(session, data, digest);
	if (status < 0)
		return status;
	return rna_secret_same(data + AT_CODE, digest, sizeof(digest)) ? 0 : -EKEYREJECTED;
}

int rna_bandwidth_read(struct rna_bandwidth_session *session,
		       const uint8_t data[RNA_BANDWIDTH_MESSAGE], struct rna_bandwidth_message *ret)
{
	struct cursor cursor = {.from = data, .at = AT_CONTENT};
	int status;

	*ret = (struct rna_bandwidth_message){0};
	if (memcmp(data, magic, sizeof(magic)) != 0)
		return -EBADMSG;
	if (data[AT_VERSION] != VERSION)
		return -EPROTO;
	if (data[AT_SIDE] != session->asks || !is_at_its_place(session, data[AT_KIND]))
		return -EBADMSG;
	status = check_code(session, data);
	if (status < 0)
		return status;
	if (data[AT_NUMBER] != session->received)
		return -EKEYREJECTED;
	ret->kind = data[AT_KIND];
	take_content(&cursor, ret, session->nonces[session->asks]);
	session->received++;
	return cursor.bad || !is_zero(data + cursor.at, AT_CODE - cursor.at) ? -EBADMSG : 0;
}

const char *rna_bandwidth_mistake(int status)
{
	switch (status) {
	case -EPROTO:
		return "it speaks another version of bandwidth tests; update the older agent";
	case -EKEYREJECTED:
		return "it has another secret (probe.secret_file), or another process interferes";
	case -EBADMSG:
		return "what it sends is no message of a bandwidth test";
	default:
		return "not enough memory";
	}
}
