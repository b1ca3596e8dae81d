/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses attributes of netlink messages from raw bytes: for answers that are kept unchanged, for
 * example in recordings. Code that uses libnl uses libnl's functions instead.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct rna_bytes {
	const uint8_t *data;
	size_t len;
};

/*
 * Removes the next attribute from rest; the last one may lack its padding. 1; 0 at the end;
 * -EBADMSG if a length exceeds the message.
 */
int rna_attribute_next(struct rna_bytes *rest, uint16_t *ret_type, struct rna_bytes *ret);
