// SPDX-License-Identifier: Apache-2.0
/*
 * collectors/prober, packet: what a datagram of probes says, and which ones are refused. The codes
 * of the fixed vectors were computed by Python's hmac and hashlib.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "prober/packet.h"

static const char secret[] = "sixteen bytes or more";

static const struct rna_packet probe = {
	.kind = RNA_PACKET_PROBE,
	.large = true,
	.source_class = 5,
	.from = 0x0102030405060708,
	.to = 0x1112131415161718,
	.target = 0x21222324,
	.number = 0x31323334,
};

static struct rna_packet_key key_of(const char *text)
{
	struct rna_packet_key key;
	uint8_t bytes[RNA_PROBER_KEY_SIZE];

	assert_int_equal(rna_prober_key(text, strlen(text), bytes), 0);
	assert_int_equal(rna_packet_key_make(bytes, &key), 0);
	return key;
}

static void test_keys_are_those_of_other_programs(void **state)
{
	static const uint8_t expected[] = {0x71, 0xcf, 0x99, 0xe5, 0x0b, 0xe2, 0x2f, 0x0b,
					   0xc9, 0x00, 0x5a, 0x06, 0x2b, 0xa1, 0x92, 0x94,
					   0x7b, 0x95, 0xdb, 0xdb, 0x60, 0xdc, 0x62, 0x37,
					   0x0a, 0x32, 0x29, 0x20, 0x42, 0x95, 0x35, 0x59};
	uint8_t key[RNA_PROBER_KEY_SIZE];
	char check[RNA_PROBER_CHECK_SIZE];

	(void)state;
	assert_int_equal(rna_prober_key(secret, strlen(secret), key), 0);
	assert_memory_equal(key, expected, sizeof(expected));
	assert_int_equal(rna_prober_key_check(key, check), 0);
	assert_string_equal(check, "7f4ff8f0");
}

static uint32_t qkey_of(const char *text, uint64_t session)
{
	struct rna_packet_key key = key_of(text);
	uint32_t qkey;

	assert_int_equal(rna_packet_qkey(&key, session, &qkey), 0);
	return qkey;
}

/* One that was seen is of no use when the port is opened again, nor at another port. */
static void test_each_session_has_a_qkey_of_its_own(void **state)
{
	(void)state;
	assert_int_equal(qkey_of(secret, 0x0102030405060708), 0x279b81cc); /* a79b81cc */
	assert_int_equal(qkey_of(secret, 1), 0x7b38ec4b);                  /* fb38ec4b */
	assert_int_equal(qkey_of(secret, 2), 0x6465408d);
	assert_int_not_equal(qkey_of("another secret of a site", 2), 0x6465408d);
}

static void test_a_packet_has_its_fixed_form(void **state)
{
	static const uint8_t head[48] = {
		'R',  'N',  'A',  'P',  2,    1,    1,    5,    1,    2,    3,
		4,    5,    6,    7,    8,    0x11, 0x12, 0x13, 0x14, 0x15, 0x16,
		0x17, 0x18, 0x21, 0x22, 0x23, 0x24, 0x31, 0x32, 0x33, 0x34,
	};
	static const uint8_t code[16] = {0xe3, 0xfc, 0xb4, 0x86, 0xb6, 0xfe, 0xa1, 0xe1,
					 0x77, 0x42, 0x6b, 0x2c, 0x92, 0x7a, 0x7c, 0xb4};
	struct rna_packet_key key = key_of(secret);
	uint8_t data[RNA_PACKET_SIZE];

	(void)state;
	assert_int_equal(rna_packet_write(&probe, &key, data), 0);
	assert_memory_equal(data, head, sizeof(head));
	assert_memory_equal(data + sizeof(head), code, sizeof(code));
}

static void test_what_is_written_is_read(void **state)
{
	const struct rna_packet answer = {
		.kind = RNA_PACKET_ANSWER,
		.source_class = 31,
		.from = UINT64_MAX,
		.to = 1,
		.target = UINT32_MAX,
		.number = 7,
		.held = 12345,
		.held_number = 6,
		.there = {26, 3, 61},
		.late = 4,
	};
	struct rna_packet_key key = key_of(secret);
	uint8_t data[RNA_PACKET_SIZE];
	struct rna_packet read;

	(void)state;
	memset(&read, 0, sizeof(read));
	assert_int_equal(rna_packet_write(&answer, &key, data), 0);
	assert_true(rna_packet_read(data, sizeof(data), &key, &read));
	assert_int_equal(read.kind, answer.kind);
	assert_int_equal(read.large, answer.large);
	assert_int_equal(read.source_class, answer.source_class);
	assert_true(read.from == answer.from && read.to == answer.to);
	assert_int_equal(read.target, answer.target);
	assert_int_equal(read.number, answer.number);
	assert_int_equal(read.held, answer.held);
	assert_int_equal(read.held_number, answer.held_number);
	assert_memory_equal(&read.there, &answer.there, sizeof(read.there));
	assert_int_equal(read.late, answer.late);
}

static void test_each_changed_bit_is_noticed(void **state)
{
	struct rna_packet_key key = key_of(secret);
	uint8_t data[RNA_PACKET_SIZE];
	struct rna_packet read;

	(void)state;
	assert_int_equal(rna_packet_write(&probe, &key, data), 0);
	for (size_t bit = 0; bit < 8 * sizeof(data); bit++) {
		data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_false(rna_packet_read(data, sizeof(data), &key, &read));
		data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	assert_true(rna_packet_read(data, sizeof(data), &key, &read));
}

static void test_packets_of_strangers_are_not_read(void **state)
{
	struct rna_packet_key key = key_of(secret), other = key_of("another secret of a site");
	uint8_t data[256] = {0};
	struct rna_packet read;

	(void)state;
	assert_int_equal(rna_packet_write(&probe, &key, data), 0);
	assert_true(rna_packet_read(data, 256, &key, &read));
	assert_false(rna_packet_read(data, 63, &key, &read));
	assert_false(rna_packet_read(data, 0, &key, &read));
	assert_false(rna_packet_read(data, 64, &other, &read));
	data[4] = 1; /* of the version before */
	assert_false(rna_packet_read(data, 64, &key, &read));
}

/* A small probe or an answer with bytes behind it would earn more traffic than it says. */
static void test_only_large_probes_are_longer(void **state)
{
	struct rna_packet_key key = key_of(secret);
	struct rna_packet packet = probe, read;
	uint8_t data[128] = {0};

	(void)state;
	packet.large = false;
	assert_int_equal(rna_packet_write(&packet, &key, data), 0);
	assert_false(rna_packet_read(data, 65, &key, &read));
	assert_true(rna_packet_read(data, 64, &key, &read));
	packet.kind = RNA_PACKET_ANSWER;
	packet.large = true; /* an answer to a large probe */
	assert_int_equal(rna_packet_write(&packet, &key, data), 0);
	assert_false(rna_packet_read(data, 128, &key, &read));
	assert_true(rna_packet_read(data, 64, &key, &read));
}

static void assert_way(struct rna_probe_way way, unsigned dscp, unsigned ecn, unsigned hop_limit)
{
	assert_int_equal(way.dscp, dscp);
	assert_int_equal(way.ecn, ecn);
	assert_int_equal(way.hop_limit, hop_limit);
}

/* 10.77.0.1 to 10.77.0.2, DSCP 26, ECN CE, TTL 63; the checksum is by Python */
static const uint8_t ipv4_headers[RNA_PACKET_HEADERS] = {[20] = 0x45, 0x6b, 0x00, 0x7c, 0x12,
							 0x34,        0x40, 0x00, 63,   17,
							 0x14,        0x36, 10,   77,   0,
							 1,           10,   77,   0,    2};

static void test_headers_say_dscp_congestion_and_hops(void **state)
{
	uint8_t ipv4[RNA_PACKET_HEADERS];
	/* traffic class 0x68, hop limit 255 */
	const uint8_t ipv6[RNA_PACKET_HEADERS] = {0x66, 0x80, 0, 0, 0, 80, 17, 255, 0xfd};
	const uint8_t garbage[RNA_PACKET_HEADERS] = {0xff, 0xff, 0xff};

	(void)state;
	memcpy(ipv4, ipv4_headers, sizeof(ipv4));
	assert_way(rna_packet_way(ipv4, true), 26, 3, 63);
	assert_way(rna_packet_way(ipv6, true), 26, 0, 255);
	assert_way(rna_packet_way(ipv4, false), 255, 255, 255);
	assert_way(rna_packet_way(garbage, true), 255, 255, 255);
	ipv4[30] = ipv4[31] = 0; /* rxe makes no checksum for its own packets */
	assert_way(rna_packet_way(ipv4, true), 26, 3, 63);
	memcpy(ipv4, ipv6, 20); /* what stands in front of it may look like a GRH */
	assert_way(rna_packet_way(ipv4, true), 26, 0, 255);
	memcpy(ipv4 + 20, ipv4_headers + 20, 20); /* then the checksum decides */
	assert_way(rna_packet_way(ipv4, true), 26, 3, 63);
}

static void test_headers_say_who_sent(void **state)
{
	static const uint8_t mapped[16] = {[10] = 0xff, 0xff, 10, 77, 0, 1}, none[16];
	uint8_t ipv6[RNA_PACKET_HEADERS] = {0x60, [6] = 27, [8] = 0xfd, [23] = 9};
	uint8_t source[16];

	(void)state;
	rna_packet_source(ipv4_headers, true, source);
	assert_memory_equal(source, mapped, sizeof(mapped));
	rna_packet_source(ipv6, true, source);
	assert_memory_equal(source, ipv6 + 8, sizeof(source));
	rna_packet_source(ipv6, false, source);
	assert_memory_equal(source, none, sizeof(none));
	ipv6[0] = 0;
	rna_packet_source(ipv6, true, source);
	assert_memory_equal(source, none, sizeof(none));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys_are_those_of_other_programs),
		cmocka_unit_test(test_each_session_has_a_qkey_of_its_own),
		cmocka_unit_test(test_a_packet_has_its_fixed_form),
		cmocka_unit_test(test_what_is_written_is_read),
		cmocka_unit_test(test_each_changed_bit_is_noticed),
		cmocka_unit_test(test_packets_of_strangers_are_not_read),
		cmocka_unit_test(test_only_large_probes_are_longer),
		cmocka_unit_test(test_headers_say_dscp_congestion_and_hops),
		cmocka_unit_test(test_headers_say_who_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
