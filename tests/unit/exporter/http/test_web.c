// SPDX-License-Identifier: Apache-2.0
/* exporter/: headers of logins, buckets, tries, logins, and priorities of TLS. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "http/basic.h"
#include "http/bucket.h"
#include "http/logins.h"
#include "http/tls_priorities.h"
#include "http/tries.h"

#define SEC RNA_USEC_PER_SEC

/* -- Basic.c ----------------------------------------------------------------------------------- */

static void test_basic(void **state)
{
	static const struct {
		const char *header;
		int status;
		const char *user, *password;
	} cases[] = {
		{"Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", 0, "Aladdin", "open sesame"}, /* RFC 7617 */
		{"basic dGVzdDoxMjPCow==", 0, "test", "123\xc2\xa3"},                /* RFC 7617 */
		{"Basic Og==", 0, "", ""},
		{"Basic YTpiOmM=", 0, "a", "b:c"},
		{NULL, -EINVAL},
		{"", -EINVAL},
		{"Basic", -EINVAL},
		{"Basic ", -EINVAL},         /* no colon */
		{"Basic YWxpY2U=", -EINVAL}, /* the same */
		{"Basic Og", -EINVAL},       /* no padding */
		{"Basic Oh==", -EINVAL},     /* bits left over */
		{"Basic O===", -EINVAL},
		{"Basic Og==Og==", -EINVAL},
		{"Basic  Og==", -EINVAL},
		{"Basic OmEAYg==", -EINVAL}, /* a NUL */
		{"Basic \xff\xff\xff\xff", -EINVAL},
		{"Digest Og==", -EINVAL},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		struct rna_basic basic;

		assert_int_equal(rna_basic_read(cases[i].header, &basic), cases[i].status);
		if (cases[i].status < 0)
			continue;
		assert_string_equal(basic.user, cases[i].user);
		assert_string_equal(basic.password, cases[i].password);
	}
}

/* "x...x:" and ":x...x", each as long as fits, and one longer. */
static void test_basic_lengths(void **state)
{
	(void)state;
	for (size_t len = RNA_BASIC_MAX - 3; len < RNA_BASIC_MAX + 3; len++) {
		char header[1024] = "Basic ";
		struct rna_basic basic;
		int expected = len < RNA_BASIC_MAX ? 0 : -ENAMETOOLONG;

		if (len % 3 != 2)
			continue; /* whole groups with the colon */
		for (size_t i = 0; i < (len - 2) / 3; i++)
			(void)strcat(header, "eHh4"); /* xxx */
		(void)strcat(header, "eHg6");         /* xx: */
		assert_int_equal(rna_basic_read(header, &basic), expected);
	}
	for (size_t groups = 1; groups < 2000; groups++) {
		static char header[16384];
		struct rna_basic basic;

		(void)strcpy(header, "Basic Onh4"); /* :xx */
		for (size_t i = 0; i < groups; i++)
			memcpy(header + 10 + 4 * i, "eHh4", 5);
		assert_int_equal(rna_basic_read(header, &basic),
				 3 * groups + 2 < RNA_BASIC_MAX ? 0 : -ENAMETOOLONG);
	}
}

/* -- Secret.c ---------------------------------------------------------------------------------- */

/* As in a kubeconfig: lines of base64. */
static void test_base64(void **state)
{
	static const struct {
		const char *base64;
		size_t size;
		int status;
		const char *text;
	} cases[] = {
		{"Zm9v\nYmFy\r\n", 7, 0, "foobar"},
		{" Zm8=\n", 3, 0, "fo"},
		{"Zm9vYmFy", 6, -ENAMETOOLONG},
		{"Zm8", 9, -EINVAL},
		{"Zm9v%", 9, -EINVAL},
		{"Zm9vAGJh", 9, -EINVAL}, /* a NUL */
		{"", 9, -EINVAL},
		{"\n", 9, -EINVAL},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		char text[16];

		assert_int_equal(rna_secret_decode(cases[i].base64, text, cases[i].size),
				 cases[i].status);
		if (cases[i].status == 0)
			assert_string_equal(text, cases[i].text);
	}
}

/* -- Bucket.c, tries.c ------------------------------------------------------------------------- */

static void test_bucket(void **state)
{
	const struct rna_pace pace = {10 * SEC, 3};
	struct rna_bucket bucket = {0};
	rna_usec wait, now = 1000 * SEC;

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_true(rna_bucket_take(&bucket, &pace, now, &wait));
	assert_false(rna_bucket_take(&bucket, &pace, now, &wait));
	assert_int_equal(wait, 10 * SEC);
	assert_false(rna_bucket_take(&bucket, &pace, now + 9 * SEC, &wait));
	assert_int_equal(wait, SEC);
	assert_true(rna_bucket_take(&bucket, &pace, now + 10 * SEC, &wait));
	assert_false(rna_bucket_take(&bucket, &pace, now + 10 * SEC, &wait));
	rna_bucket_give(&bucket, &pace);
	assert_true(rna_bucket_take(&bucket, &pace, now + 10 * SEC, &wait));
	/* time does not make it fuller than full */
	for (int i = 0; i < 3; i++)
		assert_true(rna_bucket_take(&bucket, &pace, now + 9999 * SEC, &wait));
	assert_false(rna_bucket_take(&bucket, &pace, now + 9999 * SEC, &wait));
}

static struct rna_address address(const char *text)
{
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
	struct sockaddr_in v4 = {.sin_family = AF_INET};

	if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
		return rna_address_of((const struct sockaddr *)&v4);
	assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
	return rna_address_of((const struct sockaddr *)&v6);
}

static bool is_same(const char *a, const char *b)
{
	struct rna_address first = address(a), second = address(b);

	return memcmp(&first, &second, sizeof(first)) == 0;
}

static void test_addresses(void **state)
{
	(void)state;
	assert_true(is_same("10.1.2.3", "::ffff:10.1.2.3"));
	assert_false(is_same("10.1.2.3", "10.1.2.4"));
	assert_false(is_same("::ffff:10.1.2.3", "::ffff:10.1.2.4"));
	assert_true(is_same("2001:db8:1:2::1", "2001:db8:1:2:ffff::"));
	assert_false(is_same("2001:db8:1:2::1", "2001:db8:1:3::1"));
}

static void test_tries(void **state)
{
	static struct rna_tries tries;
	struct rna_address guesser = address("10.1.2.3"), other = address("10.1.2.4");
	rna_usec wait, now = 1000 * SEC;

	(void)state;
	for (int i = 0; i < 10; i++)
		assert_true(rna_tries_take(&tries, &guesser, now, &wait));
	assert_false(rna_tries_take(&tries, &guesser, now, &wait));
	assert_true(rna_tries_take(&tries, &other, now, &wait));
	/* those that come once do not push out who guesses */
	for (uint32_t i = 0; i < 100000; i++) {
		struct sockaddr_in passer = {AF_INET, 0, {htonl(0x0b000000 + i)}, {0}};
		struct rna_address passing = rna_address_of((const struct sockaddr *)&passer);

		assert_true(rna_tries_take(&tries, &passing, now, &wait));
	}
	assert_false(rna_tries_take(&tries, &guesser, now, &wait));
	assert_true(rna_tries_take(&tries, &guesser, now + 10 * SEC, &wait));
}

/* -- Logins.c ---------------------------------------------------------------------------------- */

/* Her password is secret. */
static const struct rna_web_pair some_users[] = {
	{"alice", "$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW"},
};
static const struct rna_web_pairs users = {1, some_users};

static enum rna_login ask(struct rna_logins *logins, const char *header,
			  struct rna_login_proof *proof, rna_usec now)
{
	struct rna_login_request request = {&users, header, {{0}}, proof, proof};
	struct pollfd done = {.fd = rna_logins_fd(logins), .events = POLLIN};
	rna_usec wait;
	enum rna_login ret = rna_logins_ask(logins, &request, now, &wait);
	void *who;

	if (ret != RNA_LOGIN_PENDING)
		return ret;
	assert_int_equal(poll(&done, 1, 60000), 1);
	assert_true(rna_logins_next(logins, &who, &ret));
	assert_ptr_equal(who, proof);
	assert_false(rna_logins_next(logins, &who, &ret));
	return ret;
}

#define RIGHT "Basic YWxpY2U6c2VjcmV0" /* alice:secret */
#define WRONG "Basic YWxpY2U6d3Jvbmc=" /* alice:wrong */
#define OTHER "Basic Ym9iOnNlY3JldA==" /* bob:secret */

static void test_logins(void **state)
{
	RNA_CLEANUP(rna_logins_free_p) struct rna_logins *logins = rna_logins_new();
	struct rna_login_proof proof = {0}, fresh = {0};
	rna_usec now = 1000 * SEC, wait;

	(void)state;
	assert_int_equal(ask(logins, NULL, &proof, now), RNA_LOGIN_REFUSED);
	assert_int_equal(rna_logins_counts(logins)[RNA_LOGIN_REFUSED], 0); /* it was none */
	assert_int_equal(ask(logins, WRONG, &proof, now), RNA_LOGIN_REFUSED);
	assert_int_equal(ask(logins, OTHER, &proof, now), RNA_LOGIN_REFUSED);
	assert_int_equal(ask(logins, RIGHT, &proof, now), RNA_LOGIN_OK);
	assert_int_equal(rna_logins_counts(logins)[RNA_LOGIN_OK], 1);
	assert_int_equal(rna_logins_counts(logins)[RNA_LOGIN_REFUSED], 2);

	/* remembered: it is answered at once, to a connection that has not shown it either */
	{
		struct rna_login_request request = {&users, RIGHT, {{0}}, &fresh, &fresh};

		assert_int_equal(rna_logins_ask(logins, &request, now, &wait), RNA_LOGIN_OK);
		assert_memory_equal(&fresh, &proof, sizeof(proof));
	}
	for (int i = 0; i < 8; i++)
		assert_int_equal(ask(logins, WRONG, &proof, now), RNA_LOGIN_REFUSED);
	assert_int_equal(ask(logins, WRONG, &proof, now), RNA_LOGIN_LIMITED);
	/* what is remembered is no oracle for who guesses, but who was in stays in */
	fresh = (struct rna_login_proof){0};
	assert_int_equal(ask(logins, RIGHT, &fresh, now), RNA_LOGIN_LIMITED);
	assert_int_equal(ask(logins, RIGHT, &proof, now), RNA_LOGIN_OK);
	assert_int_equal(ask(logins, RIGHT, &fresh, now + 10 * SEC), RNA_LOGIN_OK);
}

static void test_logins_end_while_one_is_computed(void **state)
{
	RNA_CLEANUP(rna_logins_free_p) struct rna_logins *logins = rna_logins_new();
	struct rna_login_proof proof = {0};
	struct rna_login_request request = {&users, WRONG, {{0}}, &proof, NULL};
	rna_usec wait;

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(rna_logins_ask(logins, &request, SEC, &wait), RNA_LOGIN_PENDING);
}

/* -- Tls_priorities.c -------------------------------------------------------------------------- */

static void assert_priorities(const struct rna_web_options *options, const char *text)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	struct rna_error error = {0};

	if (rna_tls_write_priorities(options, &out, &error) < 0)
		assert_string_equal(error.text, text);
	else
		assert_string_equal(out.data, text);
}

#define CURVES ":-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1:+GROUP-SECP521R1"

static void test_priorities(void **state)
{
	static const struct rna_web_word gcm[] = {
		{"w", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"},
		{"w", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"},
	};
	static const struct rna_web_word crossed[] = {
		{"w", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"},
		{"w", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"},
	};
	static const struct rna_web_word old[] = {{"w", "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA"}};
	static const struct rna_web_word curves[] = {{"w", "X25519"}, {"w", "CurveP521"}};
	static const struct rna_web_word wrong[] = {{"web.yml:4: key", "RC4"}};
	struct rna_web_options options = {.min_version = RNA_WEB_TLS12,
					  .max_version = RNA_WEB_TLS13};

	(void)state;
	assert_priorities(&options, "NORMAL:-VERS-ALL:+VERS-TLS1.2:+VERS-TLS1.3:-KX-ALL"
				    ":+ECDHE-ECDSA:+ECDHE-RSA" CURVES);
	options.curves = (struct rna_web_words){2, curves};
	options.prefer_server = true;
	assert_priorities(&options, "NORMAL:-VERS-ALL:+VERS-TLS1.2:+VERS-TLS1.3:-KX-ALL"
				    ":+ECDHE-ECDSA:+ECDHE-RSA:-GROUP-ALL:+GROUP-X25519"
				    ":+GROUP-SECP521R1:%SERVER_PRECEDENCE");
	options.curves = (struct rna_web_words){1, wrong};
	assert_priorities(&options, "web.yml:4: key: \"RC4\" is not one of CurveP256, CurveP384, "
				    "CurveP521, X25519");
	options = (struct rna_web_options){.max_version = RNA_WEB_TLS12,
					   .suites = {RNA_ARRAY_SIZE(gcm), gcm}};
	assert_priorities(&options, "NORMAL:-VERS-ALL:+VERS-TLS1.0:+VERS-TLS1.1:+VERS-TLS1.2"
				    ":-KX-ALL:-CIPHER-ALL:-MAC-ALL:+ECDHE-RSA:+AES-128-GCM:+AEAD"
				    ":+ECDHE-ECDSA:+AES-128-GCM:+AEAD" CURVES);
	options.suites = (struct rna_web_words){RNA_ARRAY_SIZE(crossed), crossed};
	assert_priorities(&options,
			  "w: with this list GnuTLS would also allow "
			  "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: key exchanges and ciphers are "
			  "chosen apart; add it, or leave out what shares a part with it");
	options.suites = (struct rna_web_words){1, old};
	options.max_version = RNA_WEB_TLS13;
	assert_priorities(&options,
			  "w: TLS 1.3 can do nothing with these ciphers; add one with GCM or "
			  "CHACHA20_POLY1305 in its name, or set max_version to TLS12");
	options.suites = (struct rna_web_words){1, wrong};
	assert_priorities(&options,
			  "web.yml:4: key: no cipher suite that can be chosen is called \"RC4\"; "
			  "those of Go are known, such as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_basic),
		cmocka_unit_test(test_basic_lengths),
		cmocka_unit_test(test_base64),
		cmocka_unit_test(test_bucket),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_tries),
		cmocka_unit_test(test_logins),
		cmocka_unit_test(test_logins_end_while_one_is_computed),
		cmocka_unit_test(test_priorities),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
