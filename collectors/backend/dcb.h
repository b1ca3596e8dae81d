/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses answers to RTM_GETDCB from their bytes. Pure functions, for a live kernel and for
 * recordings.
 */
#pragma once

#include "rna/model/qos.h"

/* An answer has a few hundred bytes plus 12 for each application; some tables have hundreds. */
enum { RNA_DCB_ANSWER_MAX = 32 * 1024 };

/*
 * Parses an answer: one message, starting with struct nlmsghdr. Ignores unknown (newer) attributes.
 * 0, or -EBADMSG: not an answer, or truncated.
 */
int rna_dcb_parse(const void *message, size_t len, struct rna_dcb *ret);
