// SPDX-License-Identifier: Apache-2.0
/* agent/config/web_config.c: what the file may say, and the text of every error. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "rna/base/strbuf.h"

#include "config/web_config.h"

#define HASH "$2y$04$abcdefghijklmnopqrstuuJ0FlFR2tIwmjrpMpMOz4Cl9hNCgSDVK"

static const char file[] = "dir/web.yml"; /* in a directory of its own */

static void write_file(const char *path, const char *text)
{
	FILE *out = fopen(path, "we");

	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
}

static struct rna_web_options read_good(const char *text, struct rna_arena *arena)
{
	struct rna_web_options options;
	struct rna_error error = {0};

	write_file(file, text);
	if (rna_web_config_read(file, arena, &options, &error) < 0)
		fail_msg("%s", error.text);
	return options;
}

static void assert_refused(const char *text, const char *message)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	struct rna_web_options options;
	struct rna_error error = {0};

	write_file(file, text);
	assert_true(rna_web_config_read(file, arena, &options, &error) < 0);
	assert_string_equal(error.text, message);
	assert_true(error.code < 0);
}

static void test_empty_files_want_nothing(void **state)
{
	static const char *const texts[] = {"", "# nothing\n", "tls_server_config:\n", "{}",
					    "basic_auth_users: ~\nrate_limit: {}\n"};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(texts); i++) {
		RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
		struct rna_web_options options = read_good(texts[i], arena);

		assert_false(options.tls);
		assert_int_equal(options.users.count, 0);
		assert_int_equal(options.rate_interval, 0);
		assert_string_equal(options.files[0], file);
		assert_int_equal(options.file_count, 1);
	}
}

static void test_everything_is_read(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	struct rna_web_options options;

	(void)state;
	options = read_good("tls_server_config:\n"
			    "  cert_file: cert.pem\n"
			    "  key: KEY\n"
			    "  client_ca_file: sub/ca.pem\n"
			    "  client_auth_type: RequireAndVerifyClientCert\n"
			    "  client_allowed_sans: [a.example, b.example]\n"
			    "  min_version: TLS11\n"
			    "  max_version: TLS12\n"
			    "  cipher_suites: [X]\n"
			    "  curve_preferences: [Y]\n"
			    "  prefer_server_cipher_suites: false\n"
			    "http_server_config:\n"
			    "  http2: false\n"
			    "  headers: {X-Frame-Options: deny}\n"
			    "basic_auth_users:\n"
			    "  alice: " HASH "\n"
			    "rate_limit: {interval: 1m30s, burst: 7}\n",
			    arena);
	assert_true(options.tls);
	assert_string_equal(options.certificate.text, "CERT");
	assert_string_equal(options.certificate.where,
			    "dir/web.yml:2: tls_server_config.cert_file");
	assert_string_equal(options.key.text, "KEY");
	assert_string_equal(options.client_ca.text, "CA");
	assert_int_equal(options.client_auth, RNA_WEB_REQUIRE_AND_VERIFY_CLIENT_CERT);
	assert_int_equal(options.allowed_sans.count, 2);
	assert_string_equal(options.allowed_sans.items[1].text, "b.example");
	assert_int_equal(options.min_version, RNA_WEB_TLS11);
	assert_int_equal(options.max_version, RNA_WEB_TLS12);
	assert_string_equal(options.suites.items[0].where,
			    "dir/web.yml:9: tls_server_config.cipher_suites");
	assert_string_equal(options.curves.items[0].text, "Y");
	assert_false(options.prefer_server);
	assert_string_equal(options.headers.items[0].name, "X-Frame-Options");
	assert_string_equal(options.users.items[0].name, "alice");
	assert_string_equal(options.users.items[0].value, HASH);
	assert_int_equal(options.rate_interval, 90 * RNA_USEC_PER_SEC);
	assert_int_equal(options.rate_burst, 7);
	assert_int_equal(options.file_count, 3);
	assert_string_equal(options.files[1], "dir/cert.pem");
	assert_string_equal(options.files[2], "dir/sub/ca.pem");
}

#define TLS "tls_server_config: {cert_file: cert.pem, key_file: key.pem"

static void test_errors_of_keys(void **state)
{
	(void)state;
	assert_refused("tls_server_confg:\n  x: 1\n",
		       "dir/web.yml:1: unknown key tls_server_confg; did you mean "
		       "tls_server_config?");
	assert_refused("\ntls_server_config:\n  cert_fil: x\n",
		       "dir/web.yml:3: unknown key tls_server_config.cert_fil; did you mean "
		       "cert_file?");
	assert_refused("zzzzzzzzzz: 1\n",
		       "dir/web.yml:1: unknown key zzzzzzzzzz; see docs/web-configuration.md of "
		       "prometheus/exporter-toolkit");
	assert_refused("rate_limit:\n  burst: 1\n  burst: 2\n",
		       "dir/web.yml:3: burst: is specified twice");
	assert_refused("rate_limit.burst: 1\n",
		       "dir/web.yml:1: unknown key rate_limit.burst; see "
		       "docs/web-configuration.md of prometheus/exporter-toolkit");
	assert_refused("\nrate_limit:\n  burst: 1\n  ? [interval]\n  : 1s\n",
		       "dir/web.yml:2: rate_limit: expected a key before the colon");
	assert_refused("? {a: b}\n: c\n",
		       "dir/web.yml:1: the file: expected a key before the colon");
	assert_refused("\nbasic_auth_users:\n  alice: " HASH "\n  ? [bob]\n  : " HASH "\n",
		       "dir/web.yml:2: basic_auth_users: expected a name before the colon");
	assert_refused("basic_auth_users:\n  alice: " HASH "\n  alice: " HASH "\n",
		       "dir/web.yml:3: basic_auth_users.alice: is specified twice");
	assert_refused("- a\n",
		       "dir/web.yml:1: the file: expected \"key: value\" lines below, found "
		       "a list");
	assert_refused(
		"tls_server_config: yes\n",
		"dir/web.yml:1: tls_server_config: expected \"key: value\" lines below, found "
		"a single value");
	assert_refused("a: [\n", "dir/web.yml:2: invalid YAML: while parsing a flow node, did not "
				 "find expected node content");
}

static void test_errors_of_tls(void **state)
{
	(void)state;
	assert_refused("tls_server_config: {min_version: TLS12}\n",
		       "dir/web.yml: tls_server_config: cert_file and key_file are required; "
		       "specify both, or remove the section");
	assert_refused("tls_server_config: {cert_file: cert.pem}\n",
		       "dir/web.yml: tls_server_config: cert_file and key_file are required; "
		       "specify both, or remove the section");
	assert_refused("tls_server_config:\n  cert_file: none.pem\n",
		       "dir/web.yml:2: tls_server_config.cert_file: dir/none.pem: cannot open: No "
		       "such file or directory");
	assert_refused(
		"tls_server_config:\n  cert_file: [a]\n",
		"dir/web.yml:2: tls_server_config.cert_file: expected a single value, found a "
		"list");
	assert_refused("tls_server_config:\n  cert_file: sub\n",
		       "dir/web.yml:2: tls_server_config.cert_file: dir/sub: is a directory; give "
		       "the path of a file");
	assert_refused(TLS ", cert: x}\n", "dir/web.yml:1: tls_server_config.cert: is specified "
					   "twice, inline and as a file; remove one of them");
	assert_refused(TLS ", min_version: TLS1.2}\n",
		       "dir/web.yml:1: tls_server_config.min_version: \"TLS1.2\" is not one of "
		       "TLS10, TLS11, TLS12, TLS13");
	assert_refused(TLS ", min_version: TLS13, max_version: TLS12}\n",
		       "dir/web.yml: tls_server_config: min_version exceeds max_version");
	assert_refused(
		TLS ", client_auth_type: Always}\n",
		"dir/web.yml:1: tls_server_config.client_auth_type: \"Always\" is not one of "
		"NoClientCert, RequestClientCert, RequireAnyClientCert, "
		"VerifyClientCertIfGiven, RequireAndVerifyClientCert, RequireClientCert");
	assert_refused(TLS ", client_auth_type: RequireAndVerifyClientCert}\n",
		       "dir/web.yml: tls_server_config: client_auth_type requires client_ca_file; "
		       "otherwise any certificate of a public CA would be accepted");
	assert_refused(TLS ", client_ca_file: sub/ca.pem}\n",
		       "dir/web.yml: tls_server_config: client_ca_file has no effect without "
		       "client_auth_type; set it to RequireAndVerifyClientCert");
	assert_refused(
		TLS ", client_auth_type: RequestClientCert, client_allowed_sans: [a]}\n",
		"dir/web.yml: tls_server_config: client_allowed_sans requires client_auth_type "
		"RequireAndVerifyClientCert or RequireAnyClientCert");
	assert_refused(
		TLS ", cipher_suites: TLS_AES_128_GCM_SHA256}\n",
		"dir/web.yml:1: tls_server_config.cipher_suites: expected a list, found a single "
		"value");
}

static void test_errors_of_the_rest(void **state)
{
	(void)state;
	assert_refused("basic_auth_users:\n  alice: hunter2\n",
		       "dir/web.yml:2: basic_auth_users.alice: not a bcrypt hash, which begins "
		       "with $2y$ or $2b$; create one with `htpasswd -nBC 10 NAME`; if this was a "
		       "password, change it");
	assert_refused("basic_auth_users: {a: \"$2y$31$" // a week for each login
		       "abcdefghijklmnopqrstuuJ0FlFR2tIwmjrpMpMOz4Cl9hNCgSDVK\"}\n",
		       "dir/web.yml:1: basic_auth_users.a: the cost of this hash makes logins too "
		       "slow; create one with `htpasswd -nBC 10 NAME`");
	assert_refused("basic_auth_users: {\"a:b\": \"" HASH "\"}\n",
		       "dir/web.yml:1: basic_auth_users.a:b: a user name must not contain a colon");
	assert_refused("http_server_config: {headers: {Server: x}}\n",
		       "dir/web.yml:1: http_server_config.headers.Server: header not allowed; "
		       "allowed: Strict-Transport-Security, X-Content-Type-Options, "
		       "X-Frame-Options, X-XSS-Protection and Content-Security-Policy");
	assert_refused("http_server_config: {headers: {X-Frame-Options: allow}}\n",
		       "dir/web.yml:1: http_server_config.headers.X-Frame-Options: expected deny "
		       "or sameorigin");
	assert_refused("http_server_config: {headers: {X-XSS-Protection: \"a\\r\\nB: c\"}}\n",
		       "dir/web.yml:1: http_server_config.headers.X-XSS-Protection: a header must "
		       "be one line of at most 1024 bytes");
	assert_refused("http_server_config: {http2: maybe}\n",
		       "dir/web.yml:1: http_server_config.http2: \"maybe\" is not one of true, "
		       "false");
	assert_refused("rate_limit: {interval: 5, burst: 1}\n",
		       "dir/web.yml:1: rate_limit.interval: expected a duration such as 100ms or "
		       "1s (at most 24h), or 0 for none");
	assert_refused("rate_limit: {interval: 5s}\n",
		       "dir/web.yml: rate_limit: burst 0 would reject every request; set burst to "
		       "1 or more");
	assert_refused("rate_limit: {burst: -1}\n",
		       "dir/web.yml:1: rate_limit.burst: expected an integer, at most 1000000");
}

/* 14,000 users fit into a file; each login searched them all. */
static void test_entries_have_a_limit(void **state)
{
	RNA_STRBUF struct rna_strbuf users = RNA_STRBUF_INIT, sans = RNA_STRBUF_INIT;

	(void)state;
	rna_strbuf_puts(&users, "basic_auth_users:\n");
	rna_strbuf_puts(&sans, "tls_server_config:\n  client_allowed_sans:\n");
	for (int i = 0; i < 1001; i++) {
		rna_strbuf_printf(&users, "  u%d: " HASH "\n", i);
		rna_strbuf_printf(&sans, "  - x%d\n", i);
	}
	assert_refused(users.data,
		       "dir/web.yml:1: basic_auth_users: 1001 entries; at most 1000 are allowed");
	assert_refused(sans.data, "dir/web.yml:2: tls_server_config.client_allowed_sans: 1001 "
				  "entries; at most 1000 are allowed");
}

static void test_hashes(void **state)
{
	static const struct {
		const char *hash;
		int cost;
	} cases[] = {
		{HASH, 4},
		{"$2a$12$abcdefghijklmnopqrstuuJ0FlFR2tIwmjrpMpMOz4Cl9hNCgSDVK", 12},
		{"$2b$31$abcdefghijklmnopqrstuuJ0FlFR2tIwmjrpMpMOz4Cl9hNCgSDVK", 31},
		{"$2x$10$abcdefghijklmnopqrstuuJ0FlFR2tIwmjrpMpMOz4Cl9hNCgSDVK", -EINVAL},
		{"$2y$03$abcdefghijklmnopqrstuuJ0FlFR2tIwmjrpMpMOz4Cl9hNCgSDVK", -EINVAL},
		{"$2y$32$abcdefghijklmnopqrstuuJ0FlFR2tIwmjrpMpMOz4Cl9hNCgSDVK", -EINVAL},
		{"$2y$1$abcdefghijklmnopqrstuuJ0FlFR2tIwmjrpMpMOz4Cl9hNCgSDVKx", -EINVAL},
		{"$2y$10$abcdefghijklmnopqrstuuJ0FlFR2tIwmjrpMpMOz4Cl9hNCgSDV", -EINVAL},
		{"$2y$10$abcdefghijklmnopqrstuuJ0FlFR2tIwmjrpMpMOz4Cl9hNCgSDV!", -EINVAL},
		{"$6$abc$def", -EINVAL},
		{"$2", -EINVAL},
		{"", -EINVAL},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++)
		assert_int_equal(rna_web_hash_cost(cases[i].hash), cases[i].cost);
}

static int make_directory(void **state)
{
	char *path = strdup("/tmp/rna-web-config-XXXXXX");

	*state = path;
	if (!path || !mkdtemp(path) || chdir(path) < 0 || mkdir("dir", 0700) < 0 ||
	    mkdir("dir/sub", 0700) < 0)
		return -1;
	write_file("dir/cert.pem", "CERT");
	write_file("dir/key.pem", "KEY");
	write_file("dir/sub/ca.pem", "CA");
	return 0;
}

static int remove_directory(void **state)
{
	int ret = unlink("dir/cert.pem") | unlink("dir/key.pem") | unlink("dir/sub/ca.pem") |
		  unlink(file) | rmdir("dir/sub") | rmdir("dir") | rmdir(*state);

	free(*state);
	return ret;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty_files_want_nothing),
		cmocka_unit_test(test_everything_is_read),
		cmocka_unit_test(test_errors_of_keys),
		cmocka_unit_test(test_errors_of_tls),
		cmocka_unit_test(test_errors_of_the_rest),
		cmocka_unit_test(test_entries_have_a_limit),
		cmocka_unit_test(test_hashes),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
