/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selects the RDMA devices to monitor, by globs from the settings. presence applies it before it
 * reads any file of a device. Thread: the loop counts references; the content is const, so any lane
 * may use it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/base/cleanup.h"

struct rna_device_filter;

/*
 * Globs of fnmatch(3), NULL-terminated lists, copied; NULL: empty. The result has one reference.
 * NULL: no memory.
 */
struct rna_device_filter *rna_device_filter_new(char *const *include, char *const *exclude);
struct rna_device_filter *rna_device_filter_ref(
	struct rna_device_filter *filter); /* accepts NULL */
struct rna_device_filter *rna_device_filter_unref(
	struct rna_device_filter *filter); /* accepts and returns NULL */
RNA_DEFINE_CLEANUP(struct rna_device_filter, rna_device_filter_unref)

/* Does it accept every device? A NULL filter does. */
bool rna_device_filter_is_empty(const struct rna_device_filter *filter);

/*
 * Does the filter accept a device with these names? Yes if no name is excluded, and one is included
 * or the include list is empty.
 */
bool rna_device_filter_takes(const struct rna_device_filter *filter, const char *const *names,
			     size_t count);

/* Does the exclude list name one of these? */
bool rna_device_filter_excludes(const struct rna_device_filter *filter, const char *const *names,
				size_t count);

/* Is text a valid glob for a device: no blanks, no slash, brackets closed? */
bool rna_device_glob_is_valid(const char *text);
