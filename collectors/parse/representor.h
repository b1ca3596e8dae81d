/* SPDX-License-Identifier: Apache-2.0 */
/* Representors: interfaces that represent a function behind the device's embedded switch. */
#pragma once

#include <stdbool.h>

#include "rna/base/arena.h"
#include "rna/base/root.h"

/*
 * Does this interface represent a function behind the device's embedded switch, not a physical
 * port? In switchdev mode a device has an interface for each function: "pf0vf3", "c1pf0sf8", and on
 * a DPU for the host's functions, "pf0hpf" or "c1pf0". A physical port is "p0". Source:
 * Documentation/networking/devlink/devlink-port.rst, phys_port_name.
 */
bool rna_is_representor(const struct rna_root *root, const char *netdev, struct rna_arena *scratch);

/*
 * Parses phys_port_name of a representor: "pf0vf3". 0; -ENOENT if it does not represent a virtual
 * function of this host: "p0" (a port), "pf0" or "pf0sf88", "c1pf0vf3" (of a host behind a DPU).
 */
int rna_vf_parse_representor(const char *text, unsigned *ret_pf, unsigned *ret_vf);
