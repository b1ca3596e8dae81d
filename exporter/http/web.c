// SPDX-License-Identifier: Apache-2.0
/*
 * A web configuration in use: its options, and what GnuTLS has made of their certificates,
 * versions, cipher suites and curves. The relay makes the sessions and moves the bytes
 * (tls_relay.h).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdatomic.h>
#include <string.h>

#include "web_tls.h"

struct rna_web {
	atomic_uint refs; /* of the loop, and of sessions of TLS (tls_relay.h) */
	struct rna_arena *arena;
	struct rna_web_options options;
	/* If they have TLS: */
	gnutls_certificate_credentials_t credentials;
	gnutls_priority_t priorities;
	rna_usec certificate_end;
};

/* -- Cipher suites ----------------------------------------------------------------------------- */

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

static const struct suite *find_suite(const char *name)
{
	return RNA_FIND(i, suites, RNA_ARRAY_SIZE(suites), strcmp(suites[i].name, name) == 0);
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
	return RNA_ANY(i, words->count, strcmp(words->items[i].text, name) == 0);
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
	RNA_EACH (suite, suites, RNA_ARRAY_SIZE(suites)) {
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

/* -- Curves and versions ----------------------------------------------------------------------- */

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

static void free_certificate(gnutls_x509_crt_t *certificate)
{
	if (*certificate)
		gnutls_x509_crt_deinit(*certificate);
}
#define CERTIFICATE RNA_CLEANUP(free_certificate) gnutls_x509_crt_t

static gnutls_datum_t datum_of(const char *text)
{
	return (gnutls_datum_t){(unsigned char *)(uintptr_t)text, (unsigned)strlen(text)};
}

static int fail(struct rna_error *error, const char *where, int code)
{
	return rna_error_say(error, code == GNUTLS_E_MEMORY_ERROR ? -ENOMEM : -EINVAL, "%s: %s",
			     where, gnutls_strerror(code));
}

/* -- Clients ----------------------------------------------------------------------------------- */

/* One Subject Alternative Name as text, as Go writes it; types that Go does not know: false. */
static bool san_text(int type, const char *name, size_t len, char *ret, size_t size)
{
	switch (type) {
	case GNUTLS_SAN_DNSNAME:
	case GNUTLS_SAN_RFC822NAME:
	case GNUTLS_SAN_URI:
		if (len >= size || memchr(name, '\0', len))
			return false;
		memcpy(ret, name, len);
		ret[len] = '\0';
		return true;
	case GNUTLS_SAN_IPADDRESS:
		return (len == 4 || len == 16) &&
		       inet_ntop(len == 4 ? AF_INET : AF_INET6, name, ret, (socklen_t)size);
	default:
		return false;
	}
}

static bool has_allowed_san(const struct rna_web_words *allowed, gnutls_x509_crt_t certificate)
{
	enum { SAN_MAX = 1024 }; /* longer ones are in no list */
	char name[SAN_MAX], text[SAN_MAX];

	for (unsigned i = 0;; i++) {
		size_t len = sizeof(name);
		int type = gnutls_x509_crt_get_subject_alt_name(certificate, i, name, &len, NULL);

		if (type == GNUTLS_E_SHORT_MEMORY_BUFFER)
			continue;
		if (type < 0)
			return false;
		if (san_text(type, name, len, text, sizeof(text)) && is_listed(allowed, text))
			return true;
	}
}

static bool check_san(const struct rna_web_words *allowed, const gnutls_datum_t *der)
{
	CERTIFICATE certificate = NULL;

	if (allowed->count == 0)
		return true;
	return gnutls_x509_crt_init(&certificate) >= 0 &&
	       gnutls_x509_crt_import(certificate, der, GNUTLS_X509_FMT_DER) >= 0 &&
	       has_allowed_san(allowed, certificate);
}

static bool is_signed(gnutls_session_t session)
{
	gnutls_typed_vdata_st purpose = {
		.type = GNUTLS_DT_KEY_PURPOSE_OID,
		.data = (unsigned char *)(uintptr_t)GNUTLS_KP_TLS_WWW_CLIENT,
	};
	unsigned status = 0;

	return gnutls_certificate_verify_peers(session, &purpose, 1, &status) >= 0 && status == 0;
}

/* Called in the handshake; what is not 0 ends it. That the client has the key GnuTLS sees to. */
static int verify(gnutls_session_t session)
{
	const struct rna_web *web = gnutls_db_get_ptr(session);
	const struct rna_web_options *options = &web->options;
	unsigned count = 0;
	const gnutls_datum_t *chain = gnutls_certificate_get_peers(session, &count);

	/* where one is required, GnuTLS has ended the handshake by now */
	if (!chain || count == 0)
		return 0;
	if (options->client_auth >= RNA_WEB_VERIFY_CLIENT_CERT_IF_GIVEN && !is_signed(session))
		return GNUTLS_E_CERTIFICATE_ERROR;
	return check_san(&options->allowed_sans, &chain[0]) ? 0 : GNUTLS_E_CERTIFICATE_ERROR;
}

static gnutls_certificate_request_t request_of(enum rna_web_client_auth client_auth)
{
	switch (client_auth) {
	case RNA_WEB_REQUEST_CLIENT_CERT:
	case RNA_WEB_VERIFY_CLIENT_CERT_IF_GIVEN:
		return GNUTLS_CERT_REQUEST;
	case RNA_WEB_REQUIRE_ANY_CLIENT_CERT:
	case RNA_WEB_REQUIRE_AND_VERIFY_CLIENT_CERT:
		return GNUTLS_CERT_REQUIRE;
	default:
		return GNUTLS_CERT_IGNORE;
	}
}

/* The session's database pointer is free: nothing is resumed, each handshake is a whole one. */
int rna_web_begin_tls(struct rna_web *web, struct gnutls_session_int *session)
{
	if (gnutls_priority_set(session, web->priorities) < 0 ||
	    gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, web->credentials) < 0)
		return -ENOMEM;
	gnutls_db_set_ptr(session, web);
	gnutls_certificate_server_set_request(session, request_of(web->options.client_auth));
	return 0;
}

/* -- Credentials ------------------------------------------------------------------------------- */

static int use_certificate(struct rna_web *web, struct rna_error *error)
{
	const struct rna_web_pem *pem = &web->options.certificate, *key = &web->options.key;
	gnutls_datum_t chain = datum_of(pem->text), key_datum = datum_of(key->text);
	CERTIFICATE first = NULL;
	int ret;

	ret = gnutls_x509_crt_init(&first);
	if (ret >= 0)
		ret = gnutls_x509_crt_import(first, &chain, GNUTLS_X509_FMT_PEM);
	if (ret < 0)
		return rna_error_say(error, -EINVAL, "%s: no certificate in PEM: %s", pem->where,
				     gnutls_strerror(ret));
	web->certificate_end =
		(rna_usec)gnutls_x509_crt_get_expiration_time(first) * RNA_USEC_PER_SEC;
	ret = gnutls_certificate_set_x509_key_mem(web->credentials, &chain, &key_datum,
						  GNUTLS_X509_FMT_PEM);
	if (ret == GNUTLS_E_CERTIFICATE_KEY_MISMATCH)
		return rna_error_say(error, -EINVAL,
				     "%s: this key does not belong to the certificate of %s",
				     key->where, pem->where);
	return ret < 0 ? rna_error_say(error, -EINVAL, "%s: no key in PEM that can be used: %s",
				       key->where, gnutls_strerror(ret))
		       : 0;
}

static int use_authorities(struct rna_web *web, struct rna_error *error)
{
	const struct rna_web_pem *pem = &web->options.client_ca;
	gnutls_datum_t list;
	int count;

	if (!pem->text)
		return 0;
	list = datum_of(pem->text);
	count = gnutls_certificate_set_x509_trust_mem(web->credentials, &list, GNUTLS_X509_FMT_PEM);
	if (count < 0)
		return fail(error, pem->where, count);
	if (count == 0)
		return rna_error_say(error, -EINVAL, "%s: no certificate in PEM", pem->where);
	return 0;
}

static int use_priorities(struct rna_web *web, struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const char *at = NULL;
	int ret;

	ret = rna_tls_write_priorities(&web->options, &text, error);
	if (ret < 0)
		return ret;
	ret = gnutls_priority_init(&web->priorities, text.data, &at);
	return ret < 0 ? rna_error_say(error, -EINVAL,
				       "%s: this GnuTLS knows nothing of \"%.64s\": %s",
				       web->options.files[0], at ? at : "", gnutls_strerror(ret))
		       : 0;
}

/* -- The configuration ------------------------------------------------------------------------- */

static int use_tls(struct rna_web *web, struct rna_error *error)
{
	int status;

	if (gnutls_certificate_allocate_credentials(&web->credentials) < 0)
		return rna_error_set(error, -ENOMEM, "%s", web->options.files[0]);
	status = use_certificate(web, error);
	if (status >= 0)
		status = use_authorities(web, error);
	if (status >= 0)
		status = use_priorities(web, error);
	if (status >= 0)
		gnutls_certificate_set_verify_function(web->credentials, verify);
	return status;
}

struct rna_web *rna_web_ref(struct rna_web *web)
{
	if (web)
		atomic_fetch_add(&web->refs, 1);
	return web;
}

struct rna_web *rna_web_unref(struct rna_web *web)
{
	if (!web || atomic_fetch_sub(&web->refs, 1) > 1)
		return NULL;
	if (web->credentials)
		gnutls_certificate_free_credentials(web->credentials);
	if (web->priorities)
		gnutls_priority_deinit(web->priorities);
	(void)rna_arena_free(web->arena);
	free(web);
	return NULL;
}

int rna_web_new(const struct rna_web_options *options, struct rna_arena *arena,
		struct rna_web **ret, struct rna_error *error)
{
	RNA_CLEANUP(rna_web_unref_p) struct rna_web *web = calloc(1, sizeof(*web));
	int status;

	if (!web) {
		(void)rna_arena_free(arena);
		return rna_error_set(error, -ENOMEM, "cannot use the web configuration");
	}
	*web = (struct rna_web){.refs = 1, .arena = arena, .options = *options};
	if (options->tls) {
		status = use_tls(web, error);
		if (status < 0)
			return status;
	}
	*ret = RNA_TAKE(web);
	return 0;
}

const struct rna_web_options *rna_web_options(const struct rna_web *web)
{
	return &web->options;
}

rna_usec rna_web_certificate_end(const struct rna_web *web)
{
	return web->certificate_end;
}
