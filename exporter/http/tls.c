// SPDX-License-Identifier: Apache-2.0
#include "tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <string.h>

#include "tls_priorities.h"

struct rna_tls {
	const struct rna_web_options *options; /* the owner's */
	gnutls_certificate_credentials_t credentials;
	gnutls_priority_t priorities;
	rna_usec certificate_end;
};

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

static bool is_allowed(const struct rna_web_words *allowed, const char *name)
{
	for (size_t i = 0; i < allowed->count; i++)
		if (strcmp(allowed->items[i].text, name) == 0)
			return true;
	return false;
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
		if (san_text(type, name, len, text, sizeof(text)) && is_allowed(allowed, text))
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
	const struct rna_tls *tls = gnutls_db_get_ptr(session);
	const struct rna_web_options *options = tls->options;
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
int rna_tls_begin(struct rna_tls *tls, struct gnutls_session_int *session)
{
	if (gnutls_priority_set(session, tls->priorities) < 0 ||
	    gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, tls->credentials) < 0)
		return -ENOMEM;
	gnutls_db_set_ptr(session, tls);
	gnutls_certificate_server_set_request(session, request_of(tls->options->client_auth));
	return 0;
}

/* -- Credentials ------------------------------------------------------------------------------- */

static int use_certificate(struct rna_tls *tls, struct rna_error *error)
{
	const struct rna_web_pem *pem = &tls->options->certificate, *key = &tls->options->key;
	gnutls_datum_t chain = datum_of(pem->text), key_datum = datum_of(key->text);
	CERTIFICATE first = NULL;
	int ret;

	ret = gnutls_x509_crt_init(&first);
	if (ret >= 0)
		ret = gnutls_x509_crt_import(first, &chain, GNUTLS_X509_FMT_PEM);
	if (ret < 0)
		return rna_error_say(error, -EINVAL, "%s: no certificate in PEM: %s", pem->where,
				     gnutls_strerror(ret));
	tls->certificate_end =
		(rna_usec)gnutls_x509_crt_get_expiration_time(first) * RNA_USEC_PER_SEC;
	ret = gnutls_certificate_set_x509_key_mem(tls->credentials, &chain, &key_datum,
						  GNUTLS_X509_FMT_PEM);
	if (ret == GNUTLS_E_CERTIFICATE_KEY_MISMATCH)
		return rna_error_say(error, -EINVAL,
				     "%s: this key does not belong to the certificate of %s",
				     key->where, pem->where);
	return ret < 0 ? rna_error_say(error, -EINVAL, "%s: no key in PEM that can be used: %s",
				       key->where, gnutls_strerror(ret))
		       : 0;
}

static int use_authorities(struct rna_tls *tls, struct rna_error *error)
{
	const struct rna_web_pem *pem = &tls->options->client_ca;
	gnutls_datum_t list;
	int count;

	if (!pem->text)
		return 0;
	list = datum_of(pem->text);
	count = gnutls_certificate_set_x509_trust_mem(tls->credentials, &list, GNUTLS_X509_FMT_PEM);
	if (count < 0)
		return fail(error, pem->where, count);
	if (count == 0)
		return rna_error_say(error, -EINVAL, "%s: no certificate in PEM", pem->where);
	return 0;
}

static int use_priorities(struct rna_tls *tls, struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const char *at = NULL;
	int ret;

	ret = rna_tls_write_priorities(tls->options, &text, error);
	if (ret < 0)
		return ret;
	ret = gnutls_priority_init(&tls->priorities, text.data, &at);
	return ret < 0 ? rna_error_say(error, -EINVAL,
				       "%s: this GnuTLS knows nothing of \"%.64s\": %s",
				       tls->options->files[0], at ? at : "", gnutls_strerror(ret))
		       : 0;
}

int rna_tls_new(const struct rna_web_options *options, struct rna_tls **ret,
		struct rna_error *error)
{
	RNA_CLEANUP(rna_tls_free_p) struct rna_tls *tls = calloc(1, sizeof(*tls));
	int status;

	if (!tls || gnutls_certificate_allocate_credentials(&tls->credentials) < 0)
		return rna_error_set(error, -ENOMEM, "%s", options->files[0]);
	tls->options = options;
	status = use_certificate(tls, error);
	if (status >= 0)
		status = use_authorities(tls, error);
	if (status >= 0)
		status = use_priorities(tls, error);
	if (status < 0)
		return status;
	gnutls_certificate_set_verify_function(tls->credentials, verify);
	*ret = RNA_TAKE(tls);
	return 0;
}

struct rna_tls *rna_tls_free(struct rna_tls *tls)
{
	if (!tls)
		return NULL;
	if (tls->credentials)
		gnutls_certificate_free_credentials(tls->credentials);
	if (tls->priorities)
		gnutls_priority_deinit(tls->priorities);
	free(tls);
	return NULL;
}

rna_usec rna_tls_certificate_end(const struct rna_tls *tls)
{
	return tls->certificate_end;
}
