/* SPDX-License-Identifier: Apache-2.0 */
/* TLS of a web configuration, by GnuTLS. */
#pragma once

#include "rna/base/strbuf.h"
#include "rna/web.h"

struct gnutls_session_int; /* gnutls_session_t points to one */

/*
 * Before its handshake a session gets the credentials of web, which must outlive it. So each new
 * connection has the newest ones, and no listener has to be opened again for them. 0 or -ENOMEM.
 * Thread: the relay's.
 */
int rna_web_begin_tls(struct rna_web *web, struct gnutls_session_int *session);

/*
 * Versions, cipher suites and curves: from the names of Go, which the file has, to what
 * gnutls_priority_init(3) takes. 0; -ENOMEM; -EINVAL with error where options name what is not
 * known, or what GnuTLS cannot say.
 */
int rna_tls_write_priorities(const struct rna_web_options *options, struct rna_strbuf *out,
			     struct rna_error *error);
