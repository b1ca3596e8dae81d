/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What rtnetlink answers about an interface (RTM_NEWLINK), parsed from the bytes of the message.
 * Unknown (newer) attributes are skipped. All return 0, -ENOMEM, or -EBADMSG: not such a message,
 * or a length exceeds it.
 */
#pragma once

#include "rna/base/parse.h"
#include "rna/model/netdev.h"
#include "rna/model/qos.h"
#include "rna/model/virtual_functions.h"

/*
 * The interface, all but speed and addresses; strings in arena. ret_master: the number of the
 * interface that it is enslaved to, 0: none. LACP is absent for an interface that is no bond in
 * mode 802.3ad and no member of one.
 */
int rna_link_message_read(struct rna_bytes message, struct rna_arena *arena, struct rna_netdev *ret,
			  uint32_t *ret_master);

/* The number, MTU and priorities of a VLAN. -ENOENT: the interface is none. */
int rna_vlan_message_read(struct rna_bytes message, struct rna_qos_vlan *ret);

struct rna_vf_list {
	size_t count;
	struct rna_virtual_function *functions; /* by number; only the fields from rtnetlink */
};

/*
 * The virtual functions, in arena, if the question had RTEXT_FILTER_VF. The list is empty if the
 * interface has none. -EMSGSIZE if the message is too small for all functions.
 */
int rna_vf_message_read(struct rna_bytes message, struct rna_arena *arena, struct rna_vf_list *ret);
