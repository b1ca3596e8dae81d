/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses answers to RTM_GETDCB from their bytes. Pure functions, for a live kernel and for
 * recordings.
 */
#pragma once

#include "rna/base/parse.h"
#include "rna/model/qos.h"

/* Ignores unknown (newer) attributes. 0, or -EBADMSG: not an answer, or truncated. */
int rna_dcb_parse(struct rna_bytes message, struct rna_dcb *ret);
