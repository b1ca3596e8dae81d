// SPDX-License-Identifier: Apache-2.0
/*
 * collectors/loopback, dialogue: what the two sides of a bandwidth test say to each other, and what
 * is refused. The codes of the fixed vectors were computed by Python's hmac and hashlib.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "rna/bandwidth.h"
#include "rna/base/cleanup.h"
#include "rna/prober.h"

enum { CODE_AT = 992, VERSION_AT = 4, KIND_AT = 5, SIDE_AT = 6, NUMBER_AT = 7, CONTENT_AT = 8 };

static const struct rna_bandwidth_message challenge = {.kind = RNA_BANDWIDTH_KIND_CHALLENGE};
static const struct rna_bandwidth_message call = {
	.kind = RNA_BANDWIDTH_KIND_CALL,
	.call = {.node = "node1",
		 .own_device = "mlx5_0",
		 .own_port = 1,
		 .device = "mlx5_2",
		 .port = 1,
		 .expected = 25000000000},
};
static const struct rna_bandwidth_message answer = {.kind = RNA_BANDWIDTH_KIND_ANSWER,
						    .expected = 50000000000};
static const struct rna_bandwidth_message end = {
	.kind = RNA_BANDWIDTH_KIND_END,
	.end = {.infiniband = true,
		.gid = {0xfe, 0x80, [15] = 9},
		.lid = 17,
		.pkey = 0xffff,
		.mtu = 5,
		.psn = 0xfffffe,
		.key = 0x80000001,
		.address = 0x7f1234567000,
		.room = 2 << 20,
		.count = 2,
		.qpns = {100, 0xffffff}},
};
static const struct rna_bandwidth_message ready = {.kind = RNA_BANDWIDTH_KIND_READY};
static const struct rna_bandwidth_message outcome = {
	.kind = RNA_BANDWIDTH_KIND_OUTCOME,
	.outcome = {.end = RNA_LOOPBACK_SKIPPED,
		    .skip = RNA_SKIP_BUSY,
		    .bandwidth = 49000000000,
		    .bytes = 67108864,
		    .text = "mlx5_2/1: in use: 12.5 MB/s move"},
};

/* The two sides, with nonces that are known. */
struct sides {
	struct rna_bandwidth_session asks, answers;
};

static struct rna_bandwidth_session begin(const char *secret, bool asks)
{
	struct rna_bandwidth_session session;
	uint8_t key[RNA_PROBER_KEY_SIZE];

	assert_int_equal(rna_prober_key(secret, strlen(secret), key), 0);
	assert_int_equal(rna_bandwidth_session_begin(&session, key, asks), 0);
	for (uint8_t i = 0; i < RNA_BANDWIDTH_NONCE_SIZE; i++)
		session.nonces[!asks][i] = asks ? i : 16 + i;
	return session;
}

static struct sides begin_both(void)
{
	return (struct sides){begin("sixteen bytes or more", true),
			      begin("sixteen bytes or more", false)};
}

/* One side says it, the other one reads it. */
static int pass(struct rna_bandwidth_session *from, struct rna_bandwidth_session *to,
		const struct rna_bandwidth_message *message, struct rna_bandwidth_message *ret)
{
	uint8_t data[RNA_BANDWIDTH_MESSAGE];

	assert_int_equal(rna_bandwidth_write(from, message, data), 0);
	return rna_bandwidth_read(to, data, ret);
}

static struct sides introduce(void)
{
	struct sides sides = begin_both();
	struct rna_bandwidth_message got;

	assert_int_equal(pass(&sides.answers, &sides.asks, &challenge, &got), 0);
	assert_int_equal(pass(&sides.asks, &sides.answers, &call, &got), 0);
	return sides;
}

static void test_all_that_is_said_arrives(void **state)
{
	struct sides sides = begin_both();
	const struct {
		bool asks;
		const struct rna_bandwidth_message *message;
	} said[] = {{false, &challenge}, {true, &call},   {false, &answer}, {true, &end},
		    {false, &end},       {false, &ready}, {true, &ready},   {true, &outcome},
		    {false, &outcome},   {true, &outcome}};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(said); i++) {
		struct rna_bandwidth_message got;

		assert_int_equal(said[i].asks
					 ? pass(&sides.asks, &sides.answers, said[i].message, &got)
					 : pass(&sides.answers, &sides.asks, said[i].message, &got),
				 0);
		assert_memory_equal(&got, said[i].message, sizeof(got));
	}
}

static void test_messages_are_those_of_other_programs(void **state)
{
	static const uint8_t call_code[] = {0x32, 0x78, 0xcb, 0x33, 0x64, 0xda, 0xaf, 0x6f,
					    0xfa, 0x0f, 0x8d, 0x2f, 0xa5, 0xe2, 0xa9, 0xca,
					    0xfc, 0x52, 0xa5, 0x60, 0x22, 0x9d, 0xbc, 0x2a,
					    0x94, 0x75, 0x0c, 0x81, 0x07, 0x4f, 0x00, 0x21};
	static const uint8_t answer_code[] = {0x0b, 0x5d, 0x8c, 0x02, 0x79, 0xa3, 0x70, 0xb3,
					      0x67, 0xeb, 0x79, 0x5a, 0x15, 0xec, 0x41, 0x85,
					      0xd5, 0xdb, 0xa7, 0x3c, 0x3b, 0x4b, 0x76, 0x94,
					      0xf2, 0x0c, 0xc5, 0x70, 0x26, 0x52, 0x92, 0x52};
	struct sides sides = begin_both();
	uint8_t data[RNA_BANDWIDTH_MESSAGE];
	struct rna_bandwidth_message got;

	(void)state;
	assert_int_equal(pass(&sides.answers, &sides.asks, &challenge, &got), 0);
	assert_int_equal(rna_bandwidth_write(&sides.asks, &call, data), 0);
	assert_memory_equal(data, "RNAB\1\2\0\0\0\1\2\3", 12);
	assert_memory_equal(data + CODE_AT, call_code, sizeof(call_code));
	assert_int_equal(rna_bandwidth_read(&sides.answers, data, &got), 0);
	assert_int_equal(rna_bandwidth_write(&sides.answers, &answer, data), 0);
	assert_memory_equal(data + CODE_AT, answer_code, sizeof(answer_code));
}

static void test_each_nonce_is_another_one(void **state)
{
	static const uint8_t key[RNA_BANDWIDTH_KEY_SIZE];
	struct rna_bandwidth_session first, second;

	(void)state;
	assert_int_equal(rna_bandwidth_session_begin(&first, key, false), 0);
	assert_int_equal(rna_bandwidth_session_begin(&second, key, false), 0);
	assert_memory_not_equal(first.nonces[1], second.nonces[1], sizeof(first.nonces[1]));
	assert_memory_not_equal(first.key, key, sizeof(key)); /* not that of probes */
}

static void test_no_bit_can_be_changed(void **state)
{
	uint8_t data[RNA_BANDWIDTH_MESSAGE];
	struct sides sides = introduce();

	(void)state;
	assert_int_equal(rna_bandwidth_write(&sides.answers, &outcome, data), 0);
	for (size_t i = 0; i < 8 * sizeof(data); i++) {
		struct rna_bandwidth_session reader = sides.asks;
		struct rna_bandwidth_message got;

		data[i / 8] ^= (uint8_t)(1 << i % 8);
		assert_true(rna_bandwidth_read(&reader, data, &got) < 0);
		data[i / 8] ^= (uint8_t)(1 << i % 8);
	}
}

static void test_another_secret_is_refused(void **state)
{
	struct sides sides = {begin("sixteen bytes or more", true),
			      begin("another secret of members", false)};
	struct rna_bandwidth_message got;

	(void)state;
	assert_int_equal(pass(&sides.answers, &sides.asks, &challenge, &got), 0);
	assert_int_equal(pass(&sides.asks, &sides.answers, &call, &got), -EKEYREJECTED);
	assert_non_null(strstr(rna_bandwidth_mistake(-EKEYREJECTED), "probe.secret_file"));
}

/* A call that was recorded fits the challenge of its own dialogue alone. */
static void test_an_old_call_is_refused(void **state)
{
	struct sides sides = begin_both();
	struct rna_bandwidth_session later = begin("sixteen bytes or more", false);
	uint8_t data[RNA_BANDWIDTH_MESSAGE];
	struct rna_bandwidth_message got;

	(void)state;
	later.nonces[1][0] ^= 1;
	assert_int_equal(pass(&sides.answers, &sides.asks, &challenge, &got), 0);
	assert_int_equal(rna_bandwidth_write(&sides.asks, &call, data), 0);
	assert_int_equal(rna_bandwidth_read(&later, data, &got), -EKEYREJECTED);
	assert_int_equal(rna_bandwidth_read(&sides.answers, data, &got), 0);
}

static void test_nothing_is_accepted_twice_or_after_a_gap(void **state)
{
	struct sides sides = introduce();
	uint8_t first[RNA_BANDWIDTH_MESSAGE], second[RNA_BANDWIDTH_MESSAGE];
	struct rna_bandwidth_session reader = sides.asks;
	struct rna_bandwidth_message got;

	(void)state;
	assert_int_equal(rna_bandwidth_write(&sides.answers, &answer, first), 0);
	assert_int_equal(rna_bandwidth_write(&sides.answers, &ready, second), 0);
	assert_int_equal(rna_bandwidth_read(&reader, second, &got), -EKEYREJECTED);
	reader = sides.asks;
	assert_int_equal(rna_bandwidth_read(&reader, first, &got), 0);
	assert_int_equal(rna_bandwidth_read(&reader, first, &got), -EKEYREJECTED);
}

static void test_nothing_can_be_sent_back(void **state)
{
	struct sides sides = introduce();
	uint8_t data[RNA_BANDWIDTH_MESSAGE];
	struct rna_bandwidth_message got;

	(void)state;
	assert_int_equal(rna_bandwidth_write(&sides.asks, &ready, data), 0);
	assert_int_equal(rna_bandwidth_read(&sides.asks, data, &got), -EBADMSG);
}

static void test_each_dialogue_begins_with_its_first_message(void **state)
{
	struct sides sides = begin_both();
	struct rna_bandwidth_message got;

	(void)state;
	assert_int_equal(pass(&sides.answers, &sides.asks, &answer, &got), -EBADMSG);
	sides = begin_both();
	assert_int_equal(pass(&sides.asks, &sides.answers, &outcome, &got), -EBADMSG);
	sides = introduce();
	assert_int_equal(pass(&sides.asks, &sides.answers, &call, &got), -EBADMSG);
	sides = introduce();
	assert_int_equal(pass(&sides.answers, &sides.asks, &challenge, &got), -EBADMSG);
}

static void test_strangers_are_told_from_other_versions(void **state)
{
	uint8_t data[RNA_BANDWIDTH_MESSAGE] = "GET / HTTP/1.1";
	struct sides sides = begin_both();
	struct rna_bandwidth_message got;

	(void)state;
	assert_int_equal(rna_bandwidth_read(&sides.answers, data, &got), -EBADMSG);
	assert_int_equal(rna_bandwidth_write(&sides.answers, &challenge, data), 0);
	data[VERSION_AT] = 2;
	assert_int_equal(rna_bandwidth_read(&sides.asks, data, &got), -EPROTO);
	assert_non_null(strstr(rna_bandwidth_mistake(-EPROTO), "version"));
}

static void test_a_challenge_has_nothing_but_a_nonce(void **state)
{
	uint8_t data[RNA_BANDWIDTH_MESSAGE];
	struct sides sides = begin_both();
	struct rna_bandwidth_message got;

	(void)state;
	assert_int_equal(rna_bandwidth_write(&sides.answers, &challenge, data), 0);
	data[CODE_AT] = 1;
	assert_int_equal(rna_bandwidth_read(&sides.asks, data, &got), -EBADMSG);
	data[CODE_AT] = 0;
	data[CONTENT_AT + RNA_BANDWIDTH_NONCE_SIZE] = 1;
	assert_int_equal(rna_bandwidth_read(&sides.asks, data, &got), -EBADMSG);
}

/* A member with the right secret can be wrong as well. */
static void test_values_have_bounds(void **state)
{
	struct rna_bandwidth_message wrong[14];
	size_t count = 0;

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(wrong); i++)
		wrong[i] = end;
	wrong[count++].end.lid = 0;
	wrong[count++].end.lid = 0xc000;
	wrong[count++].end.mtu = 0;
	wrong[count++].end.mtu = 6;
	wrong[count++].end.psn = 1 << 24;
	wrong[count++].end.room = 63;
	wrong[count++].end.room = (1 << 30) + 1;
	wrong[count++].end.count = 0;
	wrong[count++].end.count = RNA_LOOPBACK_QPS_MAX + 1;
	wrong[count++].end.qpns[1] = 1;
	wrong[count++].end.qpns[0] = 1 << 24;
	wrong[count] = outcome;
	wrong[count++].outcome.end = RNA_LOOPBACK_END_COUNT;
	wrong[count] = outcome;
	wrong[count++].outcome.skip = RNA_SKIP_COUNT;
	wrong[count] = outcome;
	wrong[count++].outcome.text[3] = '\x1b'; /* would reach a terminal */
	assert_int_equal(count, RNA_ARRAY_SIZE(wrong));
	for (size_t i = 0; i < count; i++) {
		struct sides sides = introduce();
		struct rna_bandwidth_message got;

		assert_int_equal(pass(&sides.answers, &sides.asks, &wrong[i], &got), -EBADMSG);
	}
}

static void test_texts_have_an_end(void **state)
{
	struct sides sides = introduce();
	struct rna_bandwidth_message wrong = outcome, got;

	(void)state;
	memset(wrong.outcome.text, 'x', sizeof(wrong.outcome.text));
	assert_int_equal(pass(&sides.answers, &sides.asks, &wrong, &got), -EBADMSG);
	assert_int_equal(got.outcome.text[sizeof(got.outcome.text) - 1], '\0');
}

static void test_a_call_names_both_ports(void **state)
{
	struct rna_bandwidth_message wrong[] = {call, call, call, call};

	(void)state;
	wrong[0].call.device[0] = '\0';
	wrong[1].call.port = 0;
	wrong[2].call.own_port = 255;
	wrong[3].call.node[0] = '\0';
	for (size_t i = 0; i < RNA_ARRAY_SIZE(wrong); i++) {
		struct sides sides = begin_both();
		struct rna_bandwidth_message got;

		assert_int_equal(pass(&sides.answers, &sides.asks, &challenge, &got), 0);
		assert_int_equal(pass(&sides.asks, &sides.answers, &wrong[i], &got), -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_that_is_said_arrives),
		cmocka_unit_test(test_messages_are_those_of_other_programs),
		cmocka_unit_test(test_each_nonce_is_another_one),
		cmocka_unit_test(test_no_bit_can_be_changed),
		cmocka_unit_test(test_another_secret_is_refused),
		cmocka_unit_test(test_an_old_call_is_refused),
		cmocka_unit_test(test_nothing_is_accepted_twice_or_after_a_gap),
		cmocka_unit_test(test_nothing_can_be_sent_back),
		cmocka_unit_test(test_each_dialogue_begins_with_its_first_message),
		cmocka_unit_test(test_strangers_are_told_from_other_versions),
		cmocka_unit_test(test_a_challenge_has_nothing_but_a_nonce),
		cmocka_unit_test(test_values_have_bounds),
		cmocka_unit_test(test_texts_have_an_end),
		cmocka_unit_test(test_a_call_names_both_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
