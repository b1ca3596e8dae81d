// SPDX-License-Identifier: Apache-2.0
#include "rna/base/secret.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdint.h>
#include <string.h>

int rna_secret_digest(const void *key, size_t key_len, const void *data, size_t len,
		      unsigned char ret[RNA_SECRET_DIGEST])
{
	return gnutls_hmac_fast(GNUTLS_MAC_SHA256, key, key_len, data, len, ret) < 0 ? -ENOMEM : 0;
}

bool rna_secret_same(const void *a, const void *b, size_t len)
{
	return gnutls_memcmp(a, b, len) == 0;
}

static int put_text(const gnutls_datum_t *from, char *ret, size_t size)
{
	if (from->size == 0 || memchr(from->data, '\0', from->size))
		return -EINVAL; /* what follows a NUL would be hidden from comparisons of texts */
	if (from->size >= size)
		return -ENAMETOOLONG;
	memcpy(ret, from->data, from->size);
	ret[from->size] = '\0';
	return 0;
}

int rna_secret_decode(const char *base64, char *ret, size_t size)
{
	const gnutls_datum_t in = {(unsigned char *)(uintptr_t)base64, (unsigned)strlen(base64)};
	gnutls_datum_t out = {0};
	int status = gnutls_base64_decode2(&in, &out);

	if (status < 0)
		return status == GNUTLS_E_MEMORY_ERROR ? -ENOMEM : -EINVAL;
	status = put_text(&out, ret, size);
	gnutls_memset(out.data, 0, out.size);
	gnutls_free(out.data);
	return status;
}
