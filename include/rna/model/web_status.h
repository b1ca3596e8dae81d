/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a view shows of the web configuration (rna/web.h): which one is in use, and logins.
 * Thread: made by the loop; part of a view, immutable.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "rna/base/clock.h"

/* What came of an attempt to log in. */
enum rna_login {
	RNA_LOGIN_OK,
	RNA_LOGIN_REFUSED, /* wrong, or nothing that could be right */
	RNA_LOGIN_LIMITED, /* too many tries */
	RNA_LOGIN_COUNT,
	RNA_LOGIN_PENDING = RNA_LOGIN_COUNT, /* it is not known yet */
};

const char *rna_login_name(enum rna_login login); /* "ok", "refused", "limited": a metric label */

/* What a view shows. */
struct rna_web_status {
	bool used;                /* there is a web configuration; else the rest means nothing */
	bool ok;                  /* is its newest content the one in use? */
	rna_usec loaded;          /* realtime of the last good load */
	rna_usec certificate_end; /* 0: there is no certificate */
	uint64_t logins[RNA_LOGIN_COUNT];
};
