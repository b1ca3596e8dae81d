/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secrets, by GnuTLS: decoding, comparing and keyed digests.
 * Thread: any.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { RNA_SECRET_DIGEST = 32 }; /* bytes */

/* A digest of data that cannot be made without key. 0 or -ENOMEM. */
int rna_secret_digest(const void *key, size_t key_len, const void *data, size_t len,
		      unsigned char ret[RNA_SECRET_DIGEST]);

/* Are a and b the same len bytes? Takes the same time wherever they differ. */
bool rna_secret_same(const void *a, const void *b, size_t len);

/*
 * Decodes base64 (RFC 4648, with padding; white space is ignored) into a text of at most size bytes
 * with its NUL. 0; -EINVAL: not base64, or the text is empty or contains a NUL; -ENAMETOOLONG;
 * -ENOMEM.
 */
int rna_secret_decode(const char *base64, char *ret, size_t size);
