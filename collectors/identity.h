/* SPDX-License-Identifier: Apache-2.0 */
/* Parser of identity that link and netdev also use. */
#pragma once

#include "rna/model/device.h"

/* "InfiniBand", "Ethernet"; efa says "Unknown". */
enum rna_link_layer rna_link_layer_parse(const char *text);
