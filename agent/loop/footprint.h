/* SPDX-License-Identifier: Apache-2.0 */
/* What the process costs the node, where that is decided at its start, while it has one thread. */
#pragma once

/* One heap for all threads, which gives back what it does not need. */
void rna_footprint_share_heap(void);

/* Room for count descriptors beside those that are open. fd: any that is. */
void rna_footprint_reserve_descriptors(int fd, unsigned count);
