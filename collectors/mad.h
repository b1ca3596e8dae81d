/* SPDX-License-Identifier: Apache-2.0 */
/* How mad reads the bytes of an answer, for its tests. Each starts at the data of its attribute. */
#pragma once

#include "backends.h"

/* Bits of ClassPortInfo:CapabilityMask of a PMA, IBTA 16.1.3.1. */
enum {
	RNA_PMA_EXTENDED = 1 << 9,             /* has PortCountersExtended */
	RNA_PMA_EXTENDED_NO_UNICAST = 1 << 10, /* has it, without unicast and multicast packets */
	RNA_PMA_TRANSMIT_WAIT = 1 << 12,       /* PortCounters has PortXmitWait */
};

/* Can libibumad open a device of that name? It cuts what does not fit in UMAD_CA_NAME_LEN. */
bool rna_mad_can_name(const char *device);

void rna_mad_read_port_info(uint8_t *info, struct rna_mad_port *ret);

/* The names of all counters, with absent values. */
void rna_mad_init_counters(struct rna_mad_counters *counters);

/* PortCounters, then PortCountersExtended where capability has it, which knows better. */
void rna_mad_read_counters(uint8_t *counters, struct rna_mad_counters *ret);
void rna_mad_read_extended(uint8_t *extended, struct rna_mad_counters *ret);
