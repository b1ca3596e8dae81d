// SPDX-License-Identifier: Apache-2.0
/* agent/mesh, dns: places in the setting, and answers; the resolver is a double. */
#include <arpa/nameser.h>
#include <errno.h>
#include <netdb.h>
#include <resolv.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "mesh/dns.h"

static struct rna_arena *arena;
static struct rna_members members;
static struct rna_error error;
static rna_usec ttl;

/* -- The double -------------------------------------------------------------------------------- */

struct answer {
	uint8_t data[RNA_DNS_MESSAGE_MAX];
	size_t len;
	int why; /* of h_errno, instead of a message */
};

static struct answer answers[ns_t_srv + 1]; /* by type */
static int questions[ns_t_srv + 1];

int __wrap_res_nsearch(res_state state, const char *name, int class, int type, unsigned char *ret,
		       int size);

int __wrap_res_nsearch(res_state state, const char *name, int class, int type, unsigned char *ret,
		       int size)
{
	const struct answer *answer = &answers[type];

	assert_string_equal(name, answers[type].why == 0 && type == ns_t_srv ? "_http._tcp.agents"
									     : name);
	assert_int_equal(class, ns_c_in);
	assert_true(answer->len <= (size_t)size);
	questions[type]++;
	if (answer->len == 0) {
		state->res_h_errno = answer->why;
		return -1;
	}
	memcpy(ret, answer->data, answer->len);
	return (int)answer->len;
}

static void put(struct answer *answer, const void *data, size_t len)
{
	assert_true(answer->len + len <= sizeof(answer->data));
	memcpy(answer->data + answer->len, data, len);
	answer->len += len;
}

static void put16(struct answer *answer, unsigned number)
{
	const uint8_t bytes[] = {(uint8_t)(number >> 8), (uint8_t)number};

	put(answer, bytes, sizeof(bytes));
}

static void put_name(struct answer *answer, const char *name)
{
	uint8_t bytes[256];
	int len = ns_name_pton(name, bytes, sizeof(bytes)) < 0
			  ? -1
			  : dn_comp(name, bytes, sizeof(bytes), NULL, NULL);

	assert_true(len > 0);
	put(answer, bytes, (size_t)len);
}

/* The header and the question; the records' number is counted up by put_record(). */
static struct answer *begin(int type)
{
	struct answer *answer = &answers[type];
	static const uint8_t header[] = {0x12, 0x34, 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0};

	*answer = (struct answer){0};
	put(answer, header, sizeof(header));
	put_name(answer, "agents");
	put16(answer, (unsigned)type);
	put16(answer, ns_c_in);
	return answer;
}

static void put_record(struct answer *answer, unsigned type, unsigned seconds, const void *data,
		       size_t len)
{
	unsigned count = (unsigned)(answer->data[6] << 8 | answer->data[7]) + 1;

	put16(answer, 0xc00c); /* the name of the question */
	put16(answer, type);
	put16(answer, ns_c_in);
	put16(answer, seconds >> 16);
	put16(answer, seconds & 0xffff);
	put16(answer, (unsigned)len);
	put(answer, data, len);
	answer->data[6] = (uint8_t)(count >> 8);
	answer->data[7] = (uint8_t)count;
}

static void put_service(struct answer *answer, unsigned seconds, unsigned port, const char *target)
{
	struct answer data = {0};

	put16(&data, 0);
	put16(&data, 100);
	put16(&data, port);
	put_name(&data, target);
	put_record(answer, ns_t_srv, seconds, data.data, data.len);
}

/* -- The tests --------------------------------------------------------------------------------- */

static int set_up(void **state)
{
	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(answers); i++)
		answers[i] = (struct answer){.why = NO_DATA};
	memset(questions, 0, sizeof(questions));
	arena = rna_arena_new(4096);
	return arena ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	arena = rna_arena_free(arena);
	return 0;
}

static int look(const char *text)
{
	struct rna_dns_place place;

	assert_true(rna_dns_place_parse(text, &place));
	error = (struct rna_error){0};
	return rna_dns_look(&place, arena, &members, &ttl, &error);
}

static void expect(size_t i, const char *name, const char *address)
{
	assert_true(i < members.count);
	assert_string_equal(members.members[i].name, name);
	assert_string_equal(members.members[i].address, address);
	assert_string_equal(members.members[i].leaf, "");
}

static void test_places(void **state)
{
	static const char *const wrong[] = {
		"a:0",     "a:65536",     "a:x",          "a:",        ":80",
		"a b",     "a/b",         "http://a",     "[fd00::1]", "_http._tcp.a:80",
		"_http.a", "_http._tcp.", "_http._udp.a", "a..b",      "-a",
		"._tcp.a", "_._tcp.a",    "_a",           ".",
	};
	struct rna_dns_place place;
	char longer[300];

	(void)state;
	assert_true(rna_dns_place_parse("agents.example.com", &place));
	assert_int_equal(place.port, 10879);
	assert_false(place.service);
	assert_true(rna_dns_place_parse("agents.example.com.:9400", &place));
	assert_string_equal(place.name, "agents.example.com.");
	assert_int_equal(place.port, 9400);
	assert_true(rna_dns_place_parse("_http._tcp.agents", &place));
	assert_true(place.service);
	assert_false(place.https);
	assert_true(rna_dns_place_parse("_https._tcp.agents", &place));
	assert_true(place.https);
	assert_true(rna_dns_place_or_none_is_valid(""));
	for (size_t i = 0; i < RNA_ARRAY_SIZE(wrong); i++)
		if (rna_dns_place_parse(wrong[i], &place))
			fail_msg("%s is taken", wrong[i]);
	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_false(rna_dns_place_parse(longer, &place));
}

static void test_addresses(void **state)
{
	struct answer *answer = begin(ns_t_a);

	(void)state;
	put_record(answer, ns_t_cname, 3600, "\xc0\x0c", 2); /* the longest of both */
	put_record(answer, ns_t_a, 60, "\x0a\x00\x00\x02", 4);
	put_record(answer, ns_t_a, 90, "\x0a\x00\x00\x01", 4);
	put_record(answer, ns_t_a, 90, "\x0a\x00\x00\x01", 4);
	put_record(answer, ns_t_txt, 90, "\x01x", 2);
	assert_int_equal(look("agents:9400"), 0);
	assert_int_equal(members.count, 2);
	expect(0, "10.0.0.1", "10.0.0.1:9400");
	expect(1, "10.0.0.2", "10.0.0.2:9400");
	assert_int_equal(ttl, 60 * RNA_USEC_PER_SEC);
	assert_int_equal(questions[ns_t_aaaa], 0); /* nodes with both count once */
}

static void test_addresses_of_version_6(void **state)
{
	struct answer *answer = begin(ns_t_aaaa);

	(void)state;
	put_record(answer, ns_t_aaaa, 5, "\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01", 16);
	assert_int_equal(look("agents"), 0);
	assert_int_equal(members.count, 1);
	expect(0, "fd00::1", "[fd00::1]:10879");
	assert_int_equal(questions[ns_t_a], 1);
}

static void test_services(void **state)
{
	struct answer *answer = begin(ns_t_srv);

	(void)state;
	put_service(answer, 30, 9400, "n2.example");
	put_service(answer, 30, 9401, "n1.example");
	put_service(answer, 30, 9400, ".");             /* there is none */
	put_service(answer, 30, 9400, "n3\\@.example"); /* no host */
	put_service(answer, 30, 0, "n4.example");
	put_record(answer, ns_t_srv, 30, "\0\0\0\0\0\x50", 6); /* without a target */
	assert_int_equal(look("_http._tcp.agents"), 0);
	assert_int_equal(members.count, 2);
	expect(0, "n1.example", "n1.example:9401");
	expect(1, "n2.example", "n2.example:9400");
	assert_false(members.members[0].https);
	assert_int_equal(questions[ns_t_a] + questions[ns_t_aaaa], 0);
}

static void test_nothing_there(void **state)
{
	(void)state;
	assert_int_equal(look("agents"), -ENOENT);
	assert_string_equal(error.text, "agents: DNS has no A or AAAA records");
	answers[ns_t_a].why = answers[ns_t_aaaa].why = HOST_NOT_FOUND;
	assert_int_equal(look("agents"), -ENOENT);
	assert_int_equal(look("_http._tcp.agents"), -ENOENT);
	assert_string_equal(error.text, "_http._tcp.agents: DNS has no SRV records");
}

/* Half an answer would drop half of the members. */
static void test_failures(void **state)
{
	(void)state;
	answers[ns_t_a].why = TRY_AGAIN;
	assert_int_equal(look("agents"), -EAGAIN);
	assert_string_equal(error.text, "agents: no DNS server answered the question for A records "
					"(servers: /etc/resolv.conf)");
	assert_int_equal(questions[ns_t_aaaa], 0);
	answers[ns_t_a].why = NO_RECOVERY;
	assert_int_equal(look("agents"), -EIO);
	assert_string_equal(error.text,
			    "agents: the DNS server refused the question for A records");
}

static void test_damaged_answers(void **state)
{
	struct answer *answer = begin(ns_t_a);

	(void)state;
	put_record(answer, ns_t_a, 60, "\x0a\x00\x00\x02", 3); /* of a wrong length */
	assert_int_equal(look("agents"), -ENOENT);
	answer = begin(ns_t_a);
	put_record(answer, ns_t_a, 60, "\x0a\x00\x00\x02", 4);
	answer->len--;
	assert_int_equal(look("agents"), -EBADMSG);
	answer = begin(ns_t_a);
	answer->data[7] = 1; /* a record that is not there */
	assert_int_equal(look("agents"), -EBADMSG);
	answer->len = 5;
	assert_int_equal(look("agents"), -EBADMSG);
	assert_string_equal(error.text, "agents: the answer is no message of DNS");
}

/* As many as a message holds: 12 bytes of header, 12 of the question, 16 for each. */
static void test_four_thousand(void **state)
{
	struct answer *answer = begin(ns_t_a);
	size_t count = (sizeof(answer->data) - answer->len) / 16;

	(void)state;
	for (size_t i = 0; i < count; i++) {
		uint8_t address[] = {10, 1, (uint8_t)(i >> 8), (uint8_t)i};

		put_record(answer, ns_t_a, 60, address, sizeof(address));
	}
	assert_int_equal(look("agents"), 0);
	assert_int_equal(members.count, count);
	assert_true(count > 4000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_places, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_addresses, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_addresses_of_version_6, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_services, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nothing_there, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_failures, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_damaged_answers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_four_thousand, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
