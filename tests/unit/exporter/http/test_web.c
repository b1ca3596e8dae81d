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
#include <time.h>
#include <cmocka.h>

#include "rna/base/thread.h"

#include "http/logins.h"
#include "http/web_tls.h"

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

/* -- Buckets and tries ------------------------------------------------------------------------- */

static void test_bucket(void **state)
{
	const struct rna_rate_limit limit = {10 * SEC, 3};
	struct rna_bucket bucket = {0};
	rna_usec wait, now = 1000 * SEC;

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_true(rna_bucket_take(&bucket, &limit, now, &wait));
	assert_false(rna_bucket_take(&bucket, &limit, now, &wait));
	assert_int_equal(wait, 10 * SEC);
	assert_false(rna_bucket_take(&bucket, &limit, now + 9 * SEC, &wait));
	assert_int_equal(wait, SEC);
	assert_true(rna_bucket_take(&bucket, &limit, now + 10 * SEC, &wait));
	assert_false(rna_bucket_take(&bucket, &limit, now + 10 * SEC, &wait));
	rna_bucket_give(&bucket, &limit);
	assert_true(rna_bucket_take(&bucket, &limit, now + 10 * SEC, &wait));
	/* time does not make it fuller than full */
	for (int i = 0; i < 3; i++)
		assert_true(rna_bucket_take(&bucket, &limit, now + 9999 * SEC, &wait));
	assert_false(rna_bucket_take(&bucket, &limit, now + 9999 * SEC, &wait));
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
	assert_true(is_same("127.0.0.1", "127.255.3.4"));
	assert_false(is_same("127.0.0.1", "128.0.0.1"));
	assert_true(is_same("2001:db8:1:2::1", "2001:db8:1:2:ffff::"));
	assert_false(is_same("2001:db8:1:2::1", "2001:db8:1:3::1"));
}

static struct rna_client client(const char *from, const char *user)
{
	struct rna_client ret = {.address = address(from)};

	memcpy(ret.user, user, strnlen(user, sizeof(ret.user)));
	return ret;
}

static void test_tries(void **state)
{
	static struct rna_tries tries;
	struct rna_client guesser = client("10.1.2.3", "alice"),
			  other = client("10.1.2.4", "alice"),
			  neighbour = client("10.1.2.3", "bob");
	rna_usec wait, now = 1000 * SEC;

	(void)state;
	for (int i = 0; i < 10; i++)
		assert_true(rna_tries_take(&tries, &guesser, RNA_TRY_HASH, now, &wait));
	assert_false(rna_tries_take(&tries, &guesser, RNA_TRY_HASH, now, &wait));
	assert_true(rna_tries_take(&tries, &guesser, RNA_TRY_LOOK, now, &wait));
	assert_true(rna_tries_take(&tries, &neighbour, RNA_TRY_HASH, now, &wait));
	assert_true(rna_tries_take(&tries, &other, RNA_TRY_HASH, now, &wait));
	/* those that come once do not push out who guesses */
	for (uint32_t i = 0; i < 100000; i++) {
		struct sockaddr_in passer = {AF_INET, 0, {htonl(0x0b000000 + i)}, {0}};
		struct rna_client passing = {
			.address = rna_address_of((const struct sockaddr *)&passer)};

		assert_true(rna_tries_take(&tries, &passing, RNA_TRY_LOOK, now, &wait));
	}
	assert_false(rna_tries_take(&tries, &guesser, RNA_TRY_HASH, now, &wait));
	assert_true(rna_tries_take(&tries, &guesser, RNA_TRY_HASH, now + 10 * SEC, &wait));
}

/* New names do not make more hashes possible than an address has. */
static void test_tries_with_many_names(void **state)
{
	static struct rna_tries tries;
	rna_usec wait, now = 1000 * SEC;
	char name[16] = "";

	(void)state;
	for (int i = 0; i < 5000; i++) {
		struct rna_client one;

		(void)snprintf(name, sizeof(name), "user%d", i);
		one = client("10.1.2.3", name);
		assert_int_equal(rna_tries_take(&tries, &one, RNA_TRY_HASH, now, &wait), i < 100);
	}
	assert_int_equal(wait, SEC);
	for (int i = 0; i < 3; i++) {
		struct rna_client last = client("10.1.2.3", name), other = client("10.1.2.4", name);

		assert_true(rna_tries_take(&tries, &last, RNA_TRY_LOOK, now, &wait));
		assert_true(rna_tries_take(&tries, &other, RNA_TRY_HASH, now, &wait));
		/* what was refused because of the address does not count for the name */
		assert_int_equal(rna_tries_take(&tries, &last, RNA_TRY_HASH, now + SEC, &wait),
				 i == 0);
	}
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
	for (int i = 0; i < 9; i++)
		assert_int_equal(ask(logins, WRONG, &proof, now), RNA_LOGIN_REFUSED);
	assert_int_equal(ask(logins, WRONG, &proof, now), RNA_LOGIN_LIMITED);
	/* what is remembered goes first, on a new connection as well */
	fresh = (struct rna_login_proof){0};
	assert_int_equal(ask(logins, RIGHT, &fresh, now), RNA_LOGIN_OK);
	/* but is no oracle for who guesses: 100 passwords, then one a second */
	for (int i = 0; i < 89; i++)
		assert_int_equal(ask(logins, WRONG, &proof, now), RNA_LOGIN_LIMITED);
	fresh = (struct rna_login_proof){0};
	assert_int_equal(ask(logins, RIGHT, &fresh, now), RNA_LOGIN_LIMITED);
	assert_int_equal(ask(logins, RIGHT, &proof, now), RNA_LOGIN_OK); /* who was in stays in */
	assert_int_equal(ask(logins, RIGHT, &fresh, now + SEC), RNA_LOGIN_OK);
}

/* One behind the same proxy has a wrong name; the password of another was never asked before. */
static void test_others_are_not_locked_out(void **state)
{
	RNA_CLEANUP(rna_logins_free_p) struct rna_logins *logins = rna_logins_new();
	struct rna_login_proof proof = {0};

	(void)state;
	for (int i = 0; i < 30; i++)
		assert_int_equal(ask(logins, OTHER, &proof, SEC),
				 i < 10 ? RNA_LOGIN_REFUSED : RNA_LOGIN_LIMITED);
	assert_int_equal(ask(logins, RIGHT, &proof, SEC), RNA_LOGIN_OK);
}

struct asker {
	struct rna_login_proof proof;
	enum rna_login login;
};

static enum rna_login send_from(struct rna_logins *logins, unsigned from, const char *header,
				struct asker *asker)
{
	struct rna_login_request request = {
		&users, header, {{(unsigned char)from}}, &asker->proof, asker};
	rna_usec wait;

	asker->login = rna_logins_ask(logins, &request, 1000 * SEC, &wait);
	return asker->login;
}

/* Takes answers until that of asker, or count of them. How many hashes that took. */
static size_t receive(struct rna_logins *logins, const struct asker *asker, size_t count)
{
	struct pollfd done = {.fd = rna_logins_fd(logins), .events = POLLIN};
	size_t hashes = 0;

	while (count > 0) {
		enum rna_login login;
		struct asker *who;
		void *answered;

		assert_int_equal(poll(&done, 1, 60000), 1);
		while (rna_logins_next(logins, &answered, &login)) { /* until the next is begun */
			who = answered;
			assert_int_equal(who->login, RNA_LOGIN_PENDING);
			who->login = login;
			hashes += login != RNA_LOGIN_LIMITED;
			count = who == asker ? 0 : count - (count > 0);
		}
	}
	return hashes;
}

enum { WAITING = 64 };

/* Eight addresses have all places; the login of a ninth waits for one hash of each. */
static void test_addresses_have_their_turn(void **state)
{
	RNA_CLEANUP(rna_logins_free_p) struct rna_logins *logins = rna_logins_new();
	static struct asker askers[WAITING + 1], last;
	size_t limited = 0, hashes;

	(void)state;
	for (unsigned i = 0; i < WAITING + 1; i++) /* one of them is worked on */
		assert_int_equal(send_from(logins, 1 + i % 8, WRONG, &askers[i]),
				 RNA_LOGIN_PENDING);
	assert_int_equal(send_from(logins, 9, RIGHT, &last), RNA_LOGIN_PENDING);
	hashes = receive(logins, &last, WAITING + 2);
	assert_in_range(hashes, 1, 10);
	assert_int_equal(last.login, RNA_LOGIN_OK);
	(void)receive(logins, NULL, WAITING + 2 - hashes - 1);
	for (unsigned i = 0; i < WAITING + 1; i++) {
		limited += askers[i].login == RNA_LOGIN_LIMITED;
		assert_true(askers[i].login == RNA_LOGIN_LIMITED ||
			    askers[i].login == RNA_LOGIN_REFUSED);
	}
	assert_int_equal(limited, 1); /* it gave way */
	assert_int_equal(rna_logins_counts(logins)[RNA_LOGIN_LIMITED], 1);
}

/* An address with no more passwords than others keeps its place. */
static void test_a_queue_that_is_full(void **state)
{
	RNA_CLEANUP(rna_logins_free_p) struct rna_logins *logins = rna_logins_new();
	static struct asker askers[WAITING + 1], last;

	(void)state;
	for (unsigned i = 0; i < WAITING + 1; i++)
		assert_int_equal(send_from(logins, 1 + i, WRONG, &askers[i]), RNA_LOGIN_PENDING);
	assert_int_equal(send_from(logins, 99, RIGHT, &last), RNA_LOGIN_LIMITED);
	assert_int_equal(receive(logins, NULL, WAITING + 1), WAITING + 1);
	assert_int_equal(send_from(logins, 99, RIGHT, &last), RNA_LOGIN_PENDING);
	assert_int_equal(receive(logins, &last, 1), 1);
}

static double cpu_seconds(void)
{
	struct timespec now = {0};

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The least of several times, which depends least on what else the machine does. */
static double time_of(const struct rna_web_pairs *all, const char *header)
{
	double least = 1e9;

	for (int i = 0; i < 5; i++) {
		RNA_CLEANUP(rna_logins_free_p) struct rna_logins *logins = rna_logins_new();
		struct asker asker = {.login = RNA_LOGIN_PENDING};
		struct rna_login_request request = {all, header, {{0}}, &asker.proof, &asker};
		double start = cpu_seconds();
		rna_usec wait;

		assert_int_equal(rna_logins_ask(logins, &request, SEC, &wait), RNA_LOGIN_PENDING);
		(void)receive(logins, &asker, 1);
		assert_int_equal(asker.login, RNA_LOGIN_REFUSED);
		start = cpu_seconds() - start;
		least = start < least ? start : least;
	}
	return least;
}

#define EVE "Basic ZXZlOndyb25n" /* eve:wrong */

/* Of 2^4, 2^7 and 2^10: without more ado a wrong password of alice would take a 64th of bob's. */
static void test_each_cost_takes_the_same(void **state)
{
	static const struct rna_web_pair mix[] = {
		{"alice", "$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW"},
		{"bob", "$2b$10$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW"},
		{"carol", "$2b$07$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW"},
	};
	static const struct rna_web_pairs all = {3, mix};
	double cheap = time_of(&all, WRONG), dear = time_of(&all, OTHER),
	       unknown = time_of(&all, EVE);

	(void)state;
	assert_true(cheap > dear / 2 && cheap < dear * 2);
	assert_true(unknown > dear / 2 && unknown < dear * 2);
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
	logins = rna_logins_free(logins);
	assert_true(rna_threads_aside_join(60 * SEC));
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
		cmocka_unit_test(test_tries_with_many_names),
		cmocka_unit_test(test_logins),
		cmocka_unit_test(test_others_are_not_locked_out),
		cmocka_unit_test(test_addresses_have_their_turn),
		cmocka_unit_test(test_a_queue_that_is_full),
		cmocka_unit_test(test_each_cost_takes_the_same),
		cmocka_unit_test(test_logins_end_while_one_is_computed),
		cmocka_unit_test(test_priorities),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
