/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client: asks the agent that runs on this node, over HTTP, as anybody could. For commands
 * that show what only a running agent knows.
 */
#pragma once

#include "rna/base/error.h"
#include "rna/base/strbuf.h"

#include "settings/settings.h"

/*
 * GETs path ("/api/v1/events") at the first address of http.listen; the body goes to ret. Waits a
 * few seconds at most. 0, or negative errno with error: -ECONNREFUSED when no agent listens there,
 * -EPROTO when it answers with anything but success, -EOPNOTSUPP without libcurl.
 */
int rna_client_get(const struct rna_settings *settings, const char *path, struct rna_strbuf *ret,
		   struct rna_error *error);
