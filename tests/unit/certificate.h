/* SPDX-License-Identifier: Apache-2.0 */
/* A certificate for server and clients of TLS, signed by itself, and a configuration with it. */
#pragma once

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "rna/web.h"

enum { PEM_MAX = 4096 };

struct certificate {
	char certificate[PEM_MAX], key[PEM_MAX];
};

static inline bool keep_pem(char text[PEM_MAX], gnutls_datum_t pem)
{
	bool fits = pem.size < PEM_MAX;

	if (fits)
		memcpy(text, pem.data, pem.size);
	gnutls_free(pem.data);
	return fits;
}

/* Of the name "node". */
static inline bool make_certificate(struct certificate *ret)
{
	const unsigned curve = (unsigned)GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1);
	const time_t now = time(NULL), day = 24 * 60 * 60;
	gnutls_x509_privkey_t key;
	gnutls_x509_crt_t certificate;
	gnutls_datum_t pem;
	bool made;

	memset(ret, 0, sizeof(*ret));
	if (gnutls_x509_privkey_init(&key) < 0 || gnutls_x509_crt_init(&certificate) < 0)
		return false;
	made = gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA, curve, 0) == 0 &&
	       gnutls_x509_crt_set_version(certificate, 3) == 0 &&
	       gnutls_x509_crt_set_serial(certificate, "\1", 1) == 0 &&
	       gnutls_x509_crt_set_activation_time(certificate, now - day) == 0 &&
	       gnutls_x509_crt_set_expiration_time(certificate, now + day) == 0 &&
	       gnutls_x509_crt_set_dn(certificate, "CN=node", NULL) == 0 &&
	       gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_DNSNAME, "node", 4,
						    GNUTLS_FSAN_SET) == 0 &&
	       gnutls_x509_crt_set_key(certificate, key) == 0 &&
	       gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0) == 0 &&
	       gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_PEM, &pem) == 0 &&
	       keep_pem(ret->certificate, pem) &&
	       gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &pem) == 0 &&
	       keep_pem(ret->key, pem);
	gnutls_x509_crt_deinit(certificate);
	gnutls_x509_privkey_deinit(key);
	return made;
}

/* asks: verifies the certificate of a client that has one. NULL: something failed. */
static inline struct rna_web *make_web(const struct certificate *certificate, bool asks)
{
	static const struct rna_web_word names[] = {{"names", "node"}};
	struct rna_web_options options = {
		.files = {"web"},
		.file_count = 1,
		.tls = true,
		.certificate = {"certificate", certificate->certificate},
		.key = {"key", certificate->key},
		.min_version = RNA_WEB_TLS12,
		.max_version = RNA_WEB_TLS13,
	};
	struct rna_arena *arena = rna_arena_new(0);
	struct rna_web *web = NULL;
	struct rna_error error;

	if (asks) {
		options.client_auth = RNA_WEB_VERIFY_CLIENT_CERT_IF_GIVEN;
		options.client_ca = options.certificate;
		options.allowed_sans = (struct rna_web_words){1, names};
	}
	return arena && rna_web_new(&options, arena, &web, &error) == 0 ? web : NULL;
}
