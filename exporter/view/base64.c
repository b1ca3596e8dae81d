// SPDX-License-Identifier: Apache-2.0
#include "base64.h"

#include <errno.h>
#include <string.h>

enum { BITS = 6, BITS_PER_BYTE = 8 };

int rna_base64_take(struct rna_base64 *state, char c)
{
	static const char alphabet[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(alphabet, c) : NULL;
	int byte;

	if (!at)
		return -EINVAL;
	state->rest = state->rest << BITS | (unsigned)(at - alphabet);
	state->bits += BITS;
	if (state->bits < BITS_PER_BYTE)
		return -EAGAIN;
	state->bits -= BITS_PER_BYTE;
	byte = (int)(state->rest >> state->bits);
	state->rest &= (1U << state->bits) - 1;
	return byte;
}
