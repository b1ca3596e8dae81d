/* SPDX-License-Identifier: Apache-2.0 */
/* Parsers for mad and mad_fabric of an answer's attribute data, and queries that both use. */
#pragma once

#include "backends.h"

struct rna_mad_session;

/* Bits of ClassPortInfo:CapabilityMask of a PMA, IBTA 16.1.3.1. */
enum {
	RNA_PMA_EXTENDED = 1 << 9,             /* has PortCountersExtended */
	RNA_PMA_EXTENDED_NO_UNICAST = 1 << 10, /* has it without unicast and multicast packets */
	RNA_PMA_TRANSMIT_WAIT = 1 << 12,       /* PortCounters has PortXmitWait */
	RNA_PMA_RS_FEC = 1 << 14,              /* PortExtendedSpeedsCounters count RS-FEC */
};

/* Can libibumad open a device with this name? It truncates names to UMAD_CA_NAME_LEN. */
bool rna_mad_can_name(const char *device);

void rna_mad_read_port_info(uint8_t *info, struct rna_mad_port *ret);

/* The names of all counters, with absent values. */
void rna_mad_init_counters(struct rna_mad_counters *counters);

/* PortCounters; then PortCountersExtended, which overrides them, if capability has it. */
void rna_mad_read_counters(uint8_t *counters, struct rna_mad_counters *ret);
void rna_mad_read_extended(uint8_t *extended, struct rna_mad_counters *ret);

/* The names of all counters of the fabric, with absent values. */
void rna_mad_init_fabric(struct rna_mad_fabric *fabric);

/* The topic that contains the counter of this index. */
enum rna_mad_topic rna_mad_topic_of_detail(size_t index);

/*
 * Parses one attribute with counters. rs_fec: is RS-FEC active? It changes the layout of
 * PortExtendedSpeedsCounters. Counters of lanes and virtual lanes that are unused according to
 * ret->port stay absent.
 */
void rna_mad_read_details(uint8_t *data, enum rna_mad_topic topic, bool rs_fec,
			  struct rna_mad_fabric *ret);
void rna_mad_read_node_info(uint8_t *info, struct rna_mad_peer *ret);
void rna_mad_read_node_description(const uint8_t *description, struct rna_mad_peer *ret);
void rna_mad_read_sm_info(uint8_t *info, struct rna_mad_manager *ret);
/* Appends the keys of a block. True: it had at least one. */
bool rna_mad_read_pkeys(uint8_t *block, unsigned first, struct rna_mad_pkeys *ret);

/* Query the port's own PortInfo; an attribute of the PMA at a LID; its ClassPortInfo, once. */
int rna_mad_ask_port_info(struct rna_mad_session *session, unsigned port, struct rna_mad_port *ret);
/*
 * The same for queries to follow. A port that has no SMI, or that answers for a plane of it, has
 * its LID in sysfs; one without SMI has also its state there.
 */
int rna_mad_ask_own_port(struct rna_mad_session *session, const struct rna_root *root,
			 const struct rna_device *device, unsigned port, struct rna_mad_port *ret);
int rna_mad_ask_pma(struct rna_mad_session *session, unsigned attribute, unsigned port, int lid,
		    uint8_t **ret_data);
int rna_mad_ask_pma_capability(struct rna_mad_session *session, unsigned port, int lid,
			       struct rna_value *capability);

/* Implements the MAD backend. */
int rna_mad_query_fabric(const struct rna_root *root, const struct rna_device *device,
			 unsigned port, unsigned topics, struct rna_mad_fabric *ret);
