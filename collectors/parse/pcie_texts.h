/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parse texts of PCIe files. 0 with *ret; -ENOENT: the link has no value now; -EBADMSG: malformed.
 */
#pragma once

#include <stdint.h>

int rna_pcie_parse_speed(const char *text, uint64_t *ret); /* "16.0 GT/s PCIe": 16000 */
int rna_pcie_parse_width(const char *text, uint64_t *ret); /* "16" */
/* aer_dev_*: lines with a name and a number; the sum is in the line that begins with total. */
int rna_pcie_parse_errors(const char *text, const char *total, uint64_t *ret);
