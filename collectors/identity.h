/* SPDX-License-Identifier: Apache-2.0 */
/* How identity reads the texts of sysfs; link and netdev ask for the link layer, too. */
#pragma once

#include "rna/model/device.h"

/* "InfiniBand", "Ethernet"; efa says "Unknown". */
enum rna_link_layer rna_link_layer_parse(const char *text);
