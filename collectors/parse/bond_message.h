/* SPDX-License-Identifier: Apache-2.0 */
/* LACP of a bond and of its members, in an answer of rtnetlink about an interface. Pure. */
#pragma once

#include "rna/base/arena.h"
#include "rna/model/netdev.h"

#include "attribute.h"

/*
 * Reads RTM_NEWLINK, from struct nlmsghdr on. All absent for an interface that is no bond in mode
 * 802.3ad and no member of one. partner is in arena. 0; -EBADMSG: not such a message, or truncated;
 * or -ENOMEM.
 */
int rna_bond_message_read(struct rna_bytes message, struct rna_arena *arena, struct rna_lacp *ret);
