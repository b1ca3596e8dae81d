/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How functions report failures.
 *
 * A function that can fail returns a negative errno, or a value >= 0 that its header explains. If a
 * person will read the error, the function also takes a struct rna_error and fills it where the
 * failure happens, with the object in front: "mlx5_3/1: cannot read port_rcv_data". Callers pass it
 * up unchanged or put one more object in front; exactly one caller logs it.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>

#include "rna/base/cleanup.h"

enum { RNA_ERROR_MAX = 512 }; /* longer texts are cut, for example a path of PATH_MAX bytes */

struct rna_error {
	int code; /* negative errno, 0 while nothing failed */
	char text[RNA_ERROR_MAX];
};

/*
 * Fills error (may be NULL) with code and text and returns code. If code is a negative errno, its
 * description is appended: ": No such file or directory".
 */
int rna_error_set(struct rna_error *error, int code, const char *format, ...) RNA_PRINTF(3, 4);

/* Like rna_error_set(), but appends no description: for failures that no errno describes. */
int rna_error_say(struct rna_error *error, int code, const char *format, ...) RNA_PRINTF(3, 4);

/* Is code a temporary shortage of memory or descriptors, which says nothing about the object? */
bool rna_error_is_lack(int code);

/* Does code mean that the object does not exist or is being removed? */
bool rna_error_is_absence(int code);

/* Puts "object: " in front of the text in error (may be NULL). Returns its code. */
int rna_error_prefix(struct rna_error *error, const char *format, ...) RNA_PRINTF(2, 3);
