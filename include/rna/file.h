/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole files that people and orchestrators write: configuration, tokens, certificates. Files of
 * the hardware are rna/root.h's business.
 */
#pragma once

#include <stddef.h>

#include "rna/error.h"
#include "rna/strbuf.h"

/*
 * Reads all of path to the end of text; never waits, not even for a FIFO. 0, or negative errno with
 * error, which begins with path: -EISDIR, -EINVAL for what is no regular file, -EFBIG for more than
 * max bytes. An empty file leaves text->data NULL if it was.
 */
int rna_file_read(const char *path, size_t max, struct rna_strbuf *text, struct rna_error *error);

/* Writes all of it, in as many pieces as the kernel takes. 0 or negative errno. */
int rna_file_write(int fd, const char *text, size_t len);
