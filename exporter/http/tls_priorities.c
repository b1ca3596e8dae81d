// SPDX-License-Identifier: Apache-2.0
/*
 * GnuTLS has no list of cipher suites. It has one of key exchanges, one of ciphers and one of MACs,
 * and offers all that can be put together of them. So some lists of suites cannot be said: the
 * first RSA one with AES-128 and the first ECDSA one with AES-256 would bring along the other two.
 * These are refused, since they would allow more than intended. TLS 1.3 uses the same list
 * of ciphers: where Go allows all of its suites whatever the list says, here they are those whose
 * ciphers the list has.
 *
 * Without a list, what Go does since 1.22: each connection has a key of its own (ECDHE).
 */
#include "tls_priorities.h"

#include <errno.h>
#include <string.h>

struct suite {
	const char *name;
	const char *exchange;
	const char *cipher;
	const char *mac;
	bool v13; /* of TLS 1.3, which has no exchange in the name */
};

/* Those of Go's tls.CipherSuites(), in its order of preference, and RSA's, which it had to 1.21. */
static const struct suite suites[] = {
	{"TLS_AES_128_GCM_SHA256", NULL, "AES-128-GCM", "AEAD", true},
	{"TLS_AES_256_GCM_SHA384", NULL, "AES-256-GCM", "AEAD", true},
	{"TLS_CHACHA20_POLY1305_SHA256", NULL, "CHACHA20-POLY1305", "AEAD", true},
	{"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA", "AES-128-GCM", "AEAD"},
	{"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA", "AES-128-GCM", "AEAD"},
	{"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA", "AES-256-GCM", "AEAD"},
	{"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA", "AES-256-GCM", "AEAD"},
	{"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA", "CHACHA20-POLY1305",
	 "AEAD"},
	{"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA", "CHACHA20-POLY1305", "AEAD"},
	{"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE-ECDSA", "AES-128-CBC", "SHA1"},
	{"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA", "AES-128-CBC", "SHA1"},
	{"TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ECDHE-ECDSA", "AES-256-CBC", "SHA1"},
	{"TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA", "AES-256-CBC", "SHA1"},
	{"TLS_RSA_WITH_AES_128_GCM_SHA256", "RSA", "AES-128-GCM", "AEAD"},
	{"TLS_RSA_WITH_AES_256_GCM_SHA384", "RSA", "AES-256-GCM", "AEAD"},
	{"TLS_RSA_WITH_AES_128_CBC_SHA", "RSA", "AES-128-CBC", "SHA1"},
	{"TLS_RSA_WITH_AES_256_CBC_SHA", "RSA", "AES-256-CBC", "SHA1"},
};

static const struct {
	const char *name;
	const char *group;
} curves[] = {
	{"CurveP256", "SECP256R1"},
	{"CurveP384", "SECP384R1"},
	{"CurveP521", "SECP521R1"},
	{"X25519", "X25519"},
};

/* -- Cipher suites ----------------------------------------------------------------------------- */

static const struct suite *find_suite(const char *name)
{
	for (size_t i = 0; i < RNA_ARRAY_SIZE(suites); i++)
		if (strcmp(suites[i].name, name) == 0)
			return &suites[i];
	return NULL;
}

static int check_names(const struct rna_web_words *words, struct rna_error *error)
{
	for (size_t i = 0; i < words->count; i++)
		if (!find_suite(words->items[i].text))
			return rna_error_say(error, -EINVAL,
					     "%s: no cipher suite that can be chosen is called "
					     "\"%.64s\"; those of Go are known, such as "
					     "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
					     words->items[i].where, words->items[i].text);
	return 0;
}

static bool is_listed(const struct rna_web_words *words, const char *name)
{
	for (size_t i = 0; i < words->count; i++)
		if (strcmp(words->items[i].text, name) == 0)
			return true;
	return false;
}

/* Does one of those on the list have this key exchange, one this cipher? */
static bool is_combined(const struct rna_web_words *words, const struct suite *suite)
{
	bool exchange = false, cipher = false;

	for (size_t i = 0; i < words->count; i++) {
		const struct suite *listed = find_suite(words->items[i].text);

		exchange |= !listed->v13 && strcmp(listed->exchange, suite->exchange) == 0;
		cipher |= strcmp(listed->cipher, suite->cipher) == 0;
	}
	return exchange && cipher;
}

static int check_combinations(const struct rna_web_words *words, struct rna_error *error)
{
	for (size_t i = 0; i < RNA_ARRAY_SIZE(suites); i++) {
		const struct suite *suite = &suites[i];

		if (!suite->v13 && !is_listed(words, suite->name) && is_combined(words, suite))
			return rna_error_say(error, -EINVAL,
					     "%s: with this list GnuTLS would also allow %s: key "
					     "exchanges and ciphers are chosen apart; add it, or "
					     "leave out what shares a part with it",
					     words->items[0].where, suite->name);
	}
	return 0;
}

static int check_v13(const struct rna_web_options *options, struct rna_error *error)
{
	const struct rna_web_words *words = &options->suites;

	if (options->max_version < RNA_WEB_TLS13)
		return 0;
	for (size_t i = 0; i < words->count; i++)
		if (strcmp(find_suite(words->items[i].text)->mac, "AEAD") == 0)
			return 0;
	return rna_error_say(error, -EINVAL,
			     "%s: TLS 1.3 can do nothing with these ciphers; add one with GCM or "
			     "CHACHA20_POLY1305 in its name, or set max_version to TLS12",
			     words->items[0].where);
}

static int write_suites(const struct rna_web_options *options, struct rna_strbuf *out,
			struct rna_error *error)
{
	const struct rna_web_words *words = &options->suites;
	int ret = check_names(words, error);

	if (ret >= 0)
		ret = check_v13(options, error);
	if (ret >= 0 && options->min_version < RNA_WEB_TLS13)
		ret = check_combinations(words, error);
	if (ret < 0)
		return ret;
	rna_strbuf_puts(out, ":-KX-ALL:-CIPHER-ALL:-MAC-ALL");
	for (size_t i = 0; i < words->count; i++) {
		const struct suite *suite = find_suite(words->items[i].text);

		if (!suite->v13)
			rna_strbuf_printf(out, ":+%s", suite->exchange);
		rna_strbuf_printf(out, ":+%s:+%s", suite->cipher, suite->mac);
	}
	return 0;
}

/* -- The rest ---------------------------------------------------------------------------------- */

static const char *find_group(const char *name)
{
	for (size_t i = 0; i < RNA_ARRAY_SIZE(curves); i++)
		if (strcmp(curves[i].name, name) == 0)
			return curves[i].group;
	return NULL;
}

static int write_curves(const struct rna_web_words *words, struct rna_strbuf *out,
			struct rna_error *error)
{
	rna_strbuf_puts(out, ":-GROUP-ALL");
	/* first what clients guess: with another one they have to begin again */
	if (words->count == 0)
		rna_strbuf_puts(out, ":+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1"
				     ":+GROUP-SECP521R1");
	for (size_t i = 0; i < words->count; i++) {
		const char *group = find_group(words->items[i].text);

		if (!group)
			return rna_error_say(error, -EINVAL,
					     "%s: \"%.64s\" is not one of CurveP256, CurveP384, "
					     "CurveP521, X25519",
					     words->items[i].where, words->items[i].text);
		rna_strbuf_printf(out, ":+GROUP-%s", group);
	}
	return 0;
}

static void write_versions(const struct rna_web_options *options, struct rna_strbuf *out)
{
	static const char *const names[] = {
		[RNA_WEB_TLS10] = "1.0",
		[RNA_WEB_TLS11] = "1.1",
		[RNA_WEB_TLS12] = "1.2",
		[RNA_WEB_TLS13] = "1.3",
	};

	rna_strbuf_puts(out, ":-VERS-ALL");
	for (enum rna_web_version v = options->min_version; v <= options->max_version; v++)
		rna_strbuf_printf(out, ":+VERS-TLS%s", names[v]);
}

int rna_tls_write_priorities(const struct rna_web_options *options, struct rna_strbuf *out,
			     struct rna_error *error)
{
	int ret = 0;

	rna_strbuf_puts(out, "NORMAL");
	write_versions(options, out);
	if (options->suites.count > 0)
		ret = write_suites(options, out, error);
	else
		rna_strbuf_puts(out, ":-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA");
	if (ret >= 0)
		ret = write_curves(&options->curves, out, error);
	if (ret < 0)
		return ret;
	if (options->prefer_server)
		rna_strbuf_puts(out, ":%SERVER_PRECEDENCE");
	return rna_strbuf_ok(out) ? 0 : rna_error_set(error, -ENOMEM, "%s", options->files[0]);
}
