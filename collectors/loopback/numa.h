/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NUMA nodes of a loopback test: on whose CPUs it runs, and whose memory it has. A few system
 * calls, for which libnuma would be a library more.
 * Thread: the only one of the child.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

/*
 * From now on this thread runs on CPUs of the node, and takes memory from there while there is any.
 * 0; -EPERM or -ENOSYS: memory cannot be asked for, and comes from where the CPUs are; another
 * negative errno: there is no such node, or none for us.
 */
int rna_numa_settle(int node);

/*
 * Whether pages, which have been touched, are of the node; those that are not are moved there, if
 * it has room. 1: they are, but for one here and there; 0: they are not; negative errno: the kernel
 * does not say.
 */
int rna_numa_gather(int node, void *pages, size_t len);

/* The same, asked of a file as /proc/self/numa_maps, of what begins at that address. */
int rna_numa_look(FILE *maps, uint64_t address, unsigned node);
