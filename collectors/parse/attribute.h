/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attributes of netlink messages, from their bytes alone: for replies that are stored as they are,
 * also in recordings. Users of libnl use its own functions.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct rna_bytes {
	const uint8_t *data;
	size_t len;
};

/*
 * The next attribute, which rest loses; the last one may come without its padding. 1; 0 at the end;
 * or -EBADMSG: what follows does not fit into itself.
 */
int rna_attribute_next(struct rna_bytes *rest, uint16_t *ret_type, struct rna_bytes *ret);
