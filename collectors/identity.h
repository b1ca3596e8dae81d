/* SPDX-License-Identifier: Apache-2.0 */
/* How identity reads the texts of sysfs; link and netdev ask for the link layer, too. */
#pragma once

#include "rna/model/device.h"

/* Of a device, a port: the first line of this file, behind these words, is its traffic class. */
#define RNA_TRAFFIC_CLASS_FILE "tc/%u/traffic_class"
#define RNA_TRAFFIC_CLASS_HEAD "Global tclass="

/* "InfiniBand", "Ethernet"; efa says "Unknown". */
enum rna_link_layer rna_link_layer_parse(const char *text);
