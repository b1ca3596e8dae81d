/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The web configuration (rna/web.h) in a view: its state, and counts of logins. Thread: created by
 * the loop; part of a view, immutable.
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

struct rna_web_status {
	bool used;       /* there is a web configuration; otherwise the rest is meaningless */
	bool ok;         /* is its newest content in use? */
	rna_usec loaded; /* realtime of the last good load */
	rna_usec certificate_end; /* realtime; 0: no certificate */
	uint64_t logins[RNA_LOGIN_COUNT];
};
