/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checked parsing. A trailing character is an error, so is an empty text; surrounding blanks and
 * line ends must have been cut before (rna_root_read() does). 0, or -EBADMSG (not a number),
 * -ERANGE.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

int rna_parse_u64(const char *text, uint64_t *ret);     /* decimal */
int rna_parse_hex_u64(const char *text, uint64_t *ret); /* with or without 0x */
/* Bytes of two digits each, blanks and line ends wherever. How many, or -EBADMSG, -EMSGSIZE. */
ssize_t rna_parse_hex_bytes(const char *text, uint8_t *ret, size_t size);
int rna_parse_i64(const char *text, int64_t *ret); /* decimal, sign allowed */

/* "4: ACTIVE" as sysfs writes enumerations: the number in front. */
int rna_parse_leading_u64(const char *text, uint64_t *ret);

/* Compares names the way people count: mlx5_2 before mlx5_10. For qsort-like use. */
int rna_compare_names(const char *a, const char *b);

/* Are both the same text, or both NULL? */
bool rna_same_text(const char *a, const char *b);

/*
 * To tell lists of numbers apart without keeping them: one more number for a fingerprint that began
 * as 0. No end is put to a list, so one that is followed by another has to have one.
 */
uint64_t rna_fingerprint(uint64_t before, uint64_t number);

/* For qsort(): numbers in ascending order. */
int rna_compare_u64(const void *a, const void *b);
