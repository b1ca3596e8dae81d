/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS, by GnuTLS: what a web configuration says of it, made into credentials. libmicrohttpd makes
 * the sessions and moves the bytes.
 * Thread: the loop's.
 */
#pragma once

#include <stddef.h>

#include "rna/web.h"

struct rna_tls;
struct gnutls_session_int; /* gnutls_session_t points to one */
struct gnutls_cert_retr_st;
struct gnutls_pcert_st;
struct gnutls_privkey_st;
struct gnutls_ocsp_data_st;

/* 0, or negative errno with error. */
int rna_tls_new(const struct rna_web_options *options, struct rna_tls **ret,
		struct rna_error *error);
struct rna_tls *rna_tls_free(struct rna_tls *tls); /* accepts and returns NULL */
RNA_DEFINE_CLEANUP(struct rna_tls, rna_tls_free)

/*
 * Before its handshake a session gets the credentials of tls, which must outlive it. So each new
 * connection has the newest ones, and no listener has to be opened again for them. 0 or -ENOMEM.
 */
int rna_tls_begin(struct rna_tls *tls, struct gnutls_session_int *session);

/* For libmicrohttpd, which wants something for sessions that did not get any: they get none. */
int rna_tls_refuse(struct gnutls_session_int *session, const struct gnutls_cert_retr_st *info,
		   struct gnutls_pcert_st **certificates, unsigned *certificate_count,
		   struct gnutls_ocsp_data_st **ocsp, unsigned *ocsp_count,
		   struct gnutls_privkey_st **key, unsigned *flags);

/* Realtime. */
rna_usec rna_tls_certificate_end(const struct rna_tls *tls);
