/* SPDX-License-Identifier: Apache-2.0 */
/* What rtnetlink says of the virtual functions of an interface, from the bytes of its answer. */
#pragma once

#include "rna/model/virtual_functions.h"

#include "attribute.h"

struct rna_vf_list {
	size_t count;
	struct rna_virtual_function *functions; /* by number; only what rtnetlink knows */
};

/*
 * Reads the answer to RTM_GETLINK with RTEXT_FILTER_VF, in arena. None where the interface has
 * none. Attributes that this program does not know are newer, and skipped. 0, -ENOMEM, -EBADMSG
 * when it does not fit into itself, or -EMSGSIZE when there are more functions than it has room
 * for.
 */
int rna_vf_message_read(struct rna_bytes message, struct rna_arena *arena, struct rna_vf_list *ret);
