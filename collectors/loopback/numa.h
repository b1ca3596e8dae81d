/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The NUMA node of a loopback test: the CPUs it runs on, and the memory it uses.
 * Thread: the only one of the child.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

/*
 * Runs this thread on CPUs of the node from now on, and takes its memory from there while there is
 * any. 0; -EPERM or -ENOSYS: the memory policy is refused, memory comes from the CPUs' node;
 * another negative errno: the node does not exist, or is not available to this process.
 */
int rna_numa_settle(int node);

/*
 * Moves those of pages, which have been touched, that are not on the node to it, if it has room.
 * 1: they are there, but for a few; 0: they are not; negative errno: the kernel does not say.
 */
int rna_numa_gather(int node, void *pages, size_t len);

/* For the mapping that contains address, in a file such as /proc/self/numa_maps; as above. */
int rna_numa_look(FILE *maps, uint64_t address, unsigned node);
