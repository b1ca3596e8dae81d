/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Base64 (RFC 4648), a character at a time: what is let pass between them, and whether there has to
 * be padding, differs by who wrote it and is the callers' business.
 */
#pragma once

/* {0} at the beginning. At the end rest is 0 where no bit was left over. */
struct rna_base64 {
	unsigned rest; /* bits that are not a byte yet */
	unsigned bits; /* how many */
};

/* The byte that c makes whole; -EAGAIN: none yet; -EINVAL: no character of base64. */
int rna_base64_take(struct rna_base64 *state, char c);
