/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that tell of virtual functions. */
#pragma once

#include <stdint.h>

/*
 * phys_port_name of a representor: "pf0vf3". 0; -ENOENT when it stands for no virtual function of
 * this host: "p0" (a port), "pf0" or "pf0sf88", "c1pf0vf3" (of a host behind a DPU).
 */
int rna_vf_parse_representor(const char *text, unsigned *ret_pf, unsigned *ret_vf);

/* "00:11:22:33:44:55:66:77", as NVIDIA's driver package writes GUIDs. 0, or -EBADMSG. */
int rna_vf_parse_guid(const char *text, uint64_t *ret);
