// SPDX-License-Identifier: Apache-2.0
/* agent/probe, probe_secret: which secrets are accepted. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "probe/probe_secret.h"

#include "tree.h"

#define HEX      "3b1f0a9c5e7d2846b0c1d2e3f4a59687f00d15ab1e5eed0123456789abcdef42"
#define BASE64   "Jvx0n1Qe8V3zGm6hXy2TfLk9pRw5sBcDAuEoHiNqM7+/"
#define URL_SAFE "Jvx0n1Qe8V3zGm6hXy2TfLk9pRw5sBcDAuEoHiNqM7-_"
#define ALNUM    "Zq3xV8nM1kTfB7hLw2RjYcD9sGpE5uXoA4tKbN6yHvWmQzCiJrUe0FgSdIlOaP1T" /* as Helm's */

static struct tree tree;
static struct rna_probe_secret secret;
static struct rna_error error;

static int set_up(void **state)
{
	(void)state;
	tree_init(&tree);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	rna_probe_secret_clear(&secret);
	tree_deinit(&tree);
	return 0;
}

static int read_secret(const char *text, size_t len, mode_t mode)
{
	char path[512];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/secret", tree.path);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, mode), 0);
	return rna_probe_secret_read(&secret, path, &error);
}

static int read_text(const char *text)
{
	return read_secret(text, strlen(text), 0600);
}

static void test_random_bytes_in_hexadecimal_or_base64(void **state)
{
	static const char *const good[] = {
		HEX,           HEX "\n",    HEX HEX "\r\n", BASE64, BASE64 "Qw==\n",
		BASE64 "QwE=", BASE64 "Qw", /* without padding */
		URL_SAFE "\n", ALNUM,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(read_text(good[i]), 0);
		assert_int_equal(strlen(secret.check), RNA_PROBER_CHECK_SIZE - 1);
	}
}

/* The key of a secret that was good before is the one that it was, so that peers agree on it. */
static void test_the_text_is_the_secret(void **state)
{
	uint8_t key[RNA_PROBER_KEY_SIZE];

	(void)state;
	assert_int_equal(read_text(HEX "\n"), 0);
	assert_int_equal(rna_prober_key(HEX, strlen(HEX), key), 0);
	assert_memory_equal(secret.key, key, sizeof(key));
}

static void test_what_can_be_guessed_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"\n",
		"a secret of sixteen bytes",
		"correct horse battery staple correct horse battery staple correct horse",
		"Jvx0n1Qe8V3zGm6hXy2TfLk9pRw5sBcDAuEoHiNqM7", /* one character less than 32 bytes */
		BASE64 "===",
		BASE64 "Qw==Qw",
		BASE64 " ",
		HEX "\n" HEX,
		"0000000000000000000000000000000000000000000000000000000000000000",
		"changemechangemechangemechangemechangemechangeme",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(read_text(bad[i]), -EINVAL);
		assert_string_equal(secret.check, "");
		assert_non_null(strstr(error.text, "probe.secret_file: /"));
		assert_non_null(
			strstr(error.text, "/secret: a secret must be at least 32 random "));
		assert_non_null(strstr(error.text, "openssl rand -hex 32"));
	}
	assert_int_equal(read_secret(HEX "\0x", strlen(HEX) + 2, 0600), -EINVAL);
	assert_int_equal(read_secret(HEX, strlen(HEX), 0604), -EPERM);
	assert_int_equal(rna_probe_secret_read(&secret, "", &error), -EINVAL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_random_bytes_in_hexadecimal_or_base64),
		TEST(test_the_text_is_the_secret),
		TEST(test_what_can_be_guessed_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
