/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of lstopo, before libhwloc gets them. It is made for what lstopo writes: of an object
 * without a set, of a tag without an end and of a bridge as the first object it makes a SIGSEGV
 * (2.9; open-mpi/hwloc#783 and #800 mend two of them). A recording may come from anywhere.
 */
#pragma once

#include "rna/base/strbuf.h"

/*
 * Writes those elements of text that the agent needs to out: the topology, its objects and their
 * infos, without the text between them. 0; -EBADMSG: lstopo does not write such a file.
 */
int rna_hwloc_xml_read(const char *text, size_t len, struct rna_strbuf *out);
