/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of PCIe files. 0 with *ret, -ENOENT: the link has none now, -EBADMSG: no such text. */
#pragma once

#include <stdint.h>

int rna_pcie_parse_speed(const char *text, uint64_t *ret); /* "16.0 GT/s PCIe": 16000 */
int rna_pcie_parse_width(const char *text, uint64_t *ret); /* "16" */
/* aer_dev_*: lines of a name and a number; total begins the one with the sum. */
int rna_pcie_parse_errors(const char *text, const char *total, uint64_t *ret);
