/* SPDX-License-Identifier: Apache-2.0 */
/* The virtual functions of an interface, parsed from the bytes of an rtnetlink answer. */
#pragma once

#include "rna/model/virtual_functions.h"

#include "attribute.h"

struct rna_vf_list {
	size_t count;
	struct rna_virtual_function *functions; /* by number; only the fields from rtnetlink */
};

/*
 * Reads the answer to RTM_GETLINK with RTEXT_FILTER_VF, in arena. The list is empty if the
 * interface has no virtual functions. Unknown (newer) attributes are skipped. 0, -ENOMEM, -EBADMSG
 * if a length exceeds the message, or -EMSGSIZE if the message is too small for all functions.
 */
int rna_vf_message_read(struct rna_bytes message, struct rna_arena *arena, struct rna_vf_list *ret);
