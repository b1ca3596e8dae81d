/* SPDX-License-Identifier: Apache-2.0 */
/* Representors: interfaces that stand for a function behind a switch in the device. */
#pragma once

#include <stdbool.h>

#include "rna/base/arena.h"
#include "rna/base/root.h"

/*
 * Does this interface stand for a function behind a switch in the device, and not for a port with a
 * wire? In switchdev mode a device has a port for each function: "pf0vf3", "c1pf0sf8", and on a DPU
 * the host's own, "pf0hpf" or "c1pf0". A port with a wire is "p0".
 * Source: Documentation/networking/devlink/devlink-port.rst, phys_port_name.
 */
bool rna_is_representor(const struct rna_root *root, const char *netdev, struct rna_arena *scratch);

/*
 * phys_port_name of a representor: "pf0vf3". 0; -ENOENT when it stands for no virtual function of
 * this host: "p0" (a port), "pf0" or "pf0sf88", "c1pf0vf3" (of a host behind a DPU).
 */
int rna_vf_parse_representor(const char *text, unsigned *ret_pf, unsigned *ret_vf);
