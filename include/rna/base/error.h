/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How failures travel.
 *
 * A function that can fail returns a negative errno, or a value >= 0 that its header explains.
 * Where a person will read about it, the function also takes a struct rna_error and fills it at
 * the place of the failure, with the object in front: "mlx5_3/1: cannot read port_rcv_data".
 * Callers pass it up unchanged or put one more object in front; one of them logs it, once.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>

#include "rna/base/cleanup.h"

enum { RNA_ERROR_MAX = 512 }; /* longer texts are cut; a path of PATH_MAX is no message */

struct rna_error {
	int code; /* negative errno, 0 while nothing failed */
	char text[RNA_ERROR_MAX];
};

/*
 * Fills error (NULL is fine) with code and text and returns code. When code is a negative errno,
 * its description is appended: ": No such file or directory".
 */
int rna_error_set(struct rna_error *error, int code, const char *format, ...) RNA_PRINTF(3, 4);

/* Like rna_error_set(), but the text stands alone: for failures that are no errno's fault. */
int rna_error_say(struct rna_error *error, int code, const char *format, ...) RNA_PRINTF(3, 4);

/* Is it want of memory or of descriptors? That says nothing of what was asked for, and passes. */
bool rna_error_is_lack(int code);

/* Does it say that what was asked for is not there, or is just going? */
bool rna_error_is_absence(int code);

/* Puts "object: " in front of the text that error (NULL is fine) has. Returns its code. */
int rna_error_prefix(struct rna_error *error, const char *format, ...) RNA_PRINTF(2, 3);
