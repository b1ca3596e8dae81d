/* SPDX-License-Identifier: Apache-2.0 */
/* The header Authorization with a name and a password in it (RFC 7617). */
#pragma once

enum { RNA_BASIC_MAX = 256 }; /* bytes of a name, and of a password, with the end */

struct rna_basic {
	char user[RNA_BASIC_MAX];
	char password[RNA_BASIC_MAX];
};

/* 0; -EINVAL when header is something else, NULL for example; -ENAMETOOLONG. */
int rna_basic_read(const char *header, struct rna_basic *ret);
