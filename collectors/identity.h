/* SPDX-License-Identifier: Apache-2.0 */
/* Parser of identity that link and netdev also use. */
#pragma once

#include "rna/model/device.h"

/* "InfiniBand", "Ethernet"; efa says "Unknown". Some drivers are of one whatever the file says. */
enum rna_link_layer rna_link_layer_parse(const struct rna_device *device, const char *text);
