/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS, by GnuTLS: what a web configuration says of it, made into credentials. The relay makes the
 * sessions and moves the bytes (tls_relay.h).
 * Thread: the loop's; the relay's begins and verifies sessions meanwhile.
 */
#pragma once

#include <stddef.h>

#include "rna/web.h"

struct rna_tls;
struct gnutls_session_int; /* gnutls_session_t points to one */

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

/* Realtime. */
rna_usec rna_tls_certificate_end(const struct rna_tls *tls);
