/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checked parsing. A trailing character or an empty text is an error; the caller must have removed
 * surrounding blanks and line ends (rna_root_read() does). 0, -EBADMSG (not a number) or -ERANGE.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct rna_bytes {
	const uint8_t *data;
	size_t len;
};

int rna_parse_u64(const char *text, uint64_t *ret);     /* decimal */
int rna_parse_hex_u64(const char *text, uint64_t *ret); /* with or without 0x */
/*
 * Bytes of two digits each; blanks and line ends are skipped. Number of bytes, -EBADMSG or
 * -EMSGSIZE.
 */
ssize_t rna_parse_hex_bytes(const char *text, uint8_t *ret, size_t size);
int rna_parse_i64(const char *text, int64_t *ret); /* decimal, sign allowed */

/* The leading number of an enumeration in sysfs: 4 of "4: ACTIVE". */
int rna_parse_leading_u64(const char *text, uint64_t *ret);

/* The value of a hexadecimal digit, or -1. */
int rna_hex_digit(char c);

/*
 * Are the len bytes at text the address of a PCI function, "0000:3b:00.0"? The domain has four or
 * more digits: hosts with VMD or Hyper-V use domains above ffff. Short: without the domain.
 */
bool rna_pci_is_address(const char *text, size_t len);
bool rna_pci_is_short_address(const char *text, size_t len);

/* Compares names with their numbers by value: mlx5_2 before mlx5_10. */
int rna_compare_names(const char *a, const char *b);

/* For qsort() and bsearch(): items that are a text or begin with one; bytewise, or as names. */
int rna_compare_text_items(const void *a, const void *b);
int rna_compare_name_items(const void *a, const void *b);

/* Are both the same text, or both NULL? */
bool rna_same_text(const char *a, const char *b);

/* Makes *field, which is freed, a copy of text (NULL is fine). False: no memory; it is as it was.
 */
bool rna_text_set(char **field, const char *text);

/* The length of what stands in front of that end; 0: nothing, or the text has another end. */
size_t rna_text_stem(const char *text, const char *end);

/* For qsort(): numbers in ascending order. */
int rna_compare_u64(const void *a, const void *b);
