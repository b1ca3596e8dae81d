/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the web configuration file (rna/web.h). */
#pragma once

#include "rna/web.h"

/*
 * Reads path and the files that it names, which are relative to it, into ret; all of it lies in
 * arena. 0, or negative errno with error, which names file, line, key and what to do.
 */
int rna_web_config_read(const char *path, struct rna_arena *arena, struct rna_web_options *ret,
			struct rna_error *error);
