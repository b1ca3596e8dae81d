/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which RDMA devices are watched. The settings say it in globs; presence asks before it reads any
 * file of a device.
 * Thread: counted by the loop, as parts are; const in between, so any lane may ask.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/base/cleanup.h"

struct rna_device_filter;

/*
 * Globs as of fnmatch(3), NULL-ended; NULL: none. They are copied. Starts with one reference.
 * NULL: no memory.
 */
struct rna_device_filter *rna_device_filter_new(char *const *include, char *const *exclude);
struct rna_device_filter *rna_device_filter_ref(
	struct rna_device_filter *filter); /* accepts NULL */
struct rna_device_filter *rna_device_filter_unref(
	struct rna_device_filter *filter); /* accepts and returns NULL */
RNA_DEFINE_CLEANUP(struct rna_device_filter, rna_device_filter_unref)

/* Does it let every device through? filter may be NULL, which does. */
bool rna_device_filter_is_empty(const struct rna_device_filter *filter);

/*
 * Is the device that goes by these names watched? It is if no name of it is excluded, and one is
 * included or nothing is said of what to include.
 */
bool rna_device_filter_takes(const struct rna_device_filter *filter, const char *const *names,
			     size_t count);

/* May text be a glob for a device: no blanks, no slash, brackets closed? */
bool rna_device_glob_is_valid(const char *text);
