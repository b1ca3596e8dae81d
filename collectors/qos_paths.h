/* SPDX-License-Identifier: Apache-2.0 */
/* Where the settings of quality of service stand: for the collector, and for recordings. */
#pragma once

#include "rna/model/qos.h"

/* Below the directory of an interface; drivers of NVIDIA's own package have these. */
#define RNA_QOS_TRUST_FILE "qos/trust"
/* Of one end of congestion control (%s): its parameters, and a switch for each priority. */
#define RNA_QOS_ECN        "ecn/%s"
#define RNA_QOS_ECN_ENABLE "enable"
extern const char *const rna_qos_ecn_directories[RNA_ECN_COUNT]; /* "roce_np", "roce_rp" */

/* Of RDMA CM in configfs: of a device (%s), a port (%u). Nobody may make the directory to look. */
#define RNA_QOS_CONFIGFS "sys/kernel/config/rdma_cm/%s/ports/%u"

/* Parameters of congestion control in debugfs: of a PCI address. */
#define RNA_QOS_PARAMETERS "sys/kernel/debug/mlx5/%s/cc_params"

/* What a directory of an interface calls those on top of it. */
#define RNA_QOS_UPPER "upper_"
