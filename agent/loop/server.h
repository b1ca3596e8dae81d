/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serving HTTP: on which addresses or passed sockets, with which web configuration, and what is
 * done when settings change or addresses are not available.
 * Thread: the loop's.
 */
#pragma once

#include <systemd/sd-event.h>

#include "rna/base/error.h"
#include "rna/exporter.h"

#include "config/web_config.h"
#include "settings/settings.h"

#include "passed.h"

struct rna_server {
	/* The owner's, from before the start to the end: */
	sd_event *event;
	const struct rna_settings *settings; /* that are in force */
	struct rna_http_source source;
	/* Ours: */
	struct rna_passed passed; /* sockets in the place of http.listen */
	struct rna_web_use *web;  /* NULL: http.web_config_file is not set */
	struct rna_http *http;    /* NULL while its addresses are not available */
	sd_event_source *retry;   /* then */
	rna_usec pause;
	char told[RNA_ERROR_MAX]; /* why it is down, as it was logged last */
};

/* If an address is not available yet, HTTP is served as soon as it is. */
int rna_server_start(struct rna_server *server, struct rna_error *error);

/*
 * Serves as settings say, which the owner puts in force when this has succeeded. A failure leaves
 * the server as it was; if its addresses are gone, it comes back by itself. While HTTP is down, an
 * address that is not available is no failure, as at the start.
 */
int rna_server_reload(struct rna_server *server, const struct rna_settings *settings,
		      struct rna_error *error);

/* The web configuration in force, for the source; what a view has of it and of HTTP. */
struct rna_web *rna_server_web(const struct rna_server *server);
struct rna_web_status rna_server_status(const struct rna_server *server);
struct rna_http_status rna_server_http_status(const struct rna_server *server);

void rna_server_stop(struct rna_server *server);
void rna_server_deinit(struct rna_server *server); /* idempotent, fine on a zeroed struct */
