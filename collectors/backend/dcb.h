/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DCB netlink as bytes: what the kernel answers to RTM_GETDCB, taken apart. Pure functions: a live
 * kernel and a recording go the same way.
 */
#pragma once

#include "rna/model/qos.h"

/* An answer has a few hundred bytes, and 12 for each application; some tables have hundreds. */
enum { RNA_DCB_ANSWER_MAX = 32 * 1024 };

/*
 * Takes an answer apart: one message, struct nlmsghdr and all behind it. Attributes that are not
 * known are newer than this program. 0, or -EBADMSG: it is none, or is cut off.
 */
int rna_dcb_parse(const void *message, size_t len, struct rna_dcb *ret);
