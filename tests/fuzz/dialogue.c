// SPDX-License-Identifier: Apache-2.0
/*
 * A dialogue about bandwidth: messages of strangers and of members. The codes are made right first,
 * or nothing behind them would ever be reached. What is accepted can be written again unchanged.
 */
#include <string.h>

#include "rna/bandwidth.h"
#include "rna/base/secret.h"

#include "fuzz.h"

enum { HEAD = 8, CODE_AT = RNA_BANDWIDTH_MESSAGE - RNA_SECRET_DIGEST };

static void make_code(const struct rna_bandwidth_session *session, uint8_t *data)
{
	uint8_t bytes[sizeof(session->nonces) + CODE_AT];

	memcpy(bytes, session->nonces, sizeof(session->nonces));
	if (data[5] == RNA_BANDWIDTH_KIND_CALL)
		memcpy(bytes, data + HEAD, RNA_BANDWIDTH_NONCE_SIZE);
	memcpy(bytes + sizeof(session->nonces), data, CODE_AT);
	if (data[5] == RNA_BANDWIDTH_KIND_CHALLENGE)
		memset(data + CODE_AT, 0, RNA_SECRET_DIGEST);
	else
		FUZZ_WANT(rna_secret_digest(session->key, sizeof(session->key), bytes,
					    sizeof(bytes), data + CODE_AT) == 0);
}

static void want_the_same(const struct rna_bandwidth_session *before,
			  const struct rna_bandwidth_session *reader,
			  const struct rna_bandwidth_message *message, const uint8_t *data)
{
	struct rna_bandwidth_session writer = *reader;
	uint8_t again[RNA_BANDWIDTH_MESSAGE];

	writer.asks = !reader->asks;
	writer.sent = before->received;
	FUZZ_WANT(rna_bandwidth_write(&writer, message, again) == 0);
	FUZZ_WANT(memcmp(again, data, sizeof(again)) == 0);
}

/* An input is a byte for the side, then messages that may end early: zeros follow. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t key[RNA_BANDWIDTH_KEY_SIZE];
	struct rna_bandwidth_session session;
	bool asks = size > 0 && data[0] & 1;

	if (size == 0 || rna_bandwidth_session_begin(&session, key, asks) < 0)
		return 0;
	memset(session.nonces, 0, sizeof(session.nonces));
	for (data++, size--; size > 0;) {
		size_t len = size < RNA_BANDWIDTH_MESSAGE ? size : RNA_BANDWIDTH_MESSAGE;
		struct rna_bandwidth_session before = session;
		uint8_t copy[RNA_BANDWIDTH_MESSAGE] = {0};
		struct rna_bandwidth_message message;

		memcpy(copy, data, len);
		if (rna_bandwidth_read(&session, copy, &message) == 0)
			want_the_same(&before, &session, &message, copy);
		session = before;
		memcpy(copy, "RNAB\1", 5);
		copy[6] = asks;
		copy[7] = (uint8_t)session.received;
		make_code(&session, copy);
		if (rna_bandwidth_read(&session, copy, &message) == 0)
			want_the_same(&before, &session, &message, copy);
		else
			session = before;
		data += len;
		size -= len;
	}
	return 0;
}
