/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP server in a view: the state of the web configuration (rna/web.h), and counts of logins
 * and of connections that were dropped. Thread: created by the loop; part of a view, immutable.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "rna/base/clock.h"

/* The result of a login attempt. */
enum rna_login {
	RNA_LOGIN_OK,
	RNA_LOGIN_REFUSED, /* wrong or malformed credentials */
	RNA_LOGIN_LIMITED, /* too many attempts */
	RNA_LOGIN_COUNT,
	RNA_LOGIN_PENDING = RNA_LOGIN_COUNT, /* not known yet */
};

const char *rna_login_name(enum rna_login login); /* "ok", "refused", "limited": a metric label */

/* Why the server closed a connection because of a limit, or did not take it. */
enum rna_drop {
	RNA_DROP_FULL,            /* not taken: all connections that it could have are in use */
	RNA_DROP_ADDRESS_LIMIT,   /* closed for another of its address, which has its share */
	RNA_DROP_MADE_ROOM,       /* closed for a client that would not have been taken otherwise */
	RNA_DROP_REQUEST_TIMEOUT, /* http.request_timeout */
	RNA_DROP_REPLY_TIMEOUT,   /* http.reply_timeout */
	RNA_DROP_MAX_OLD_BYTES,   /* http.max_old_bytes */
	RNA_DROP_FAILED,          /* not taken: no memory */
	RNA_DROP_COUNT,
	RNA_DROP_NONE = RNA_DROP_COUNT, /* because of no limit */
};

const char *rna_drop_name(enum rna_drop drop); /* "full", "address_limit" ...: a metric label */

struct rna_http_status {
	bool used; /* HTTP is served; otherwise the rest is meaningless */
	uint64_t drops[RNA_DROP_COUNT];
};

struct rna_web_status {
	bool used;       /* there is a web configuration; otherwise the rest is meaningless */
	bool ok;         /* is its newest content in use? */
	rna_usec loaded; /* realtime of the last good load */
	rna_usec certificate_end; /* realtime; 0: no certificate */
	uint64_t logins[RNA_LOGIN_COUNT];
};
