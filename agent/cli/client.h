/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client: HTTP requests to the agent that runs on this node, for commands that show what only
 * a running agent knows.
 */
#pragma once

#include "rna/base/error.h"
#include "rna/base/strbuf.h"

#include "settings/settings.h"

/*
 * Sends GET for path ("/api/v1/events") to the first address of http.listen; *ret gets the body.
 * Waits a few seconds at most. 0, or negative errno with error: -ECONNREFUSED if no agent listens
 * there, -EPROTO if the reply is not a success, -EOPNOTSUPP without libcurl.
 */
int rna_client_get(const struct rna_settings *settings, const char *path, struct rna_strbuf *ret,
		   struct rna_error *error);
