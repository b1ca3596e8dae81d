/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quality of service of RoCE ports: what prevents drops of RDMA packets, and what slows down
 * senders in time. The administrator must configure all of it alike on every rail and on the
 * switch. If they differ, nothing fails, but jobs are slow.
 *
 * Each packet has a DSCP. If the interface trusts it, a table maps it to a priority; otherwise the
 * priority comes from the VLAN tag. PFC makes single priorities lossless. ETS shares the link among
 * traffic classes, to which priorities are mapped. ECN and its parameters (DCQCN) slow senders down
 * before PFC must pause them. Sources: IEEE 802.1Qaz, 802.1Qbb; linux/dcbnl.h; net/dcb/dcbnl.c;
 * drivers' own files.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/base/strbuf.h"
#include "rna/model/part.h"
#include "rna/model/value.h"

enum {
	RNA_PRIORITY_COUNT = 8, /* also the number of traffic classes and of receive buffers */
	RNA_DSCP_COUNT = 64,
	RNA_PRIORITY_NONE = 0xff,    /* no entry: the driver's default, usually 0 */
	RNA_PRIORITY_SEVERAL = 0xfe, /* contradicting entries */
};

/* What determines the priority of a packet. */
enum rna_trust {
	RNA_TRUST_UNKNOWN,
	RNA_TRUST_PCP,  /* the VLAN tag; untagged packets have the default priority */
	RNA_TRUST_DSCP, /* the IP header */
};

const char *rna_trust_name(enum rna_trust trust); /* "pcp", "dscp"; NULL: unknown */

/* Transmission selection algorithm of a traffic class, IEEE 802.1Qaz. */
const char *rna_ets_algorithm_name(unsigned algorithm); /* "strict", "ets", ...; "?" for others */

/* Settings of an interface, reported by its driver over DCB netlink. Absent: not reported. */
struct rna_dcb {
	/* DCB_CAP_DCBX_*: negotiation by host or firmware, and its version */
	struct rna_value dcbx;
	struct rna_value pfc;                          /* bit n: priority n is lossless */
	struct rna_value pfc_limit;                    /* maximum number of lossless priorities */
	struct rna_value pfc_sent[RNA_PRIORITY_COUNT]; /* pause frames, counted by the driver */
	struct rna_value pfc_received[RNA_PRIORITY_COUNT];
	bool has_ets;
	uint8_t traffic_class[RNA_PRIORITY_COUNT]; /* of each priority */
	uint8_t bandwidth[RNA_PRIORITY_COUNT];     /* of each traffic class, percent */
	uint8_t algorithm[RNA_PRIORITY_COUNT];     /* of each traffic class */
	enum rna_trust trust;
	size_t dscp_count;                     /* entries of the table */
	uint8_t dscp_priority[RNA_DSCP_COUNT]; /* or RNA_PRIORITY_NONE, RNA_PRIORITY_SEVERAL */
	struct rna_value default_priority;     /* for packets without DSCP, if configured */
	bool has_buffers;
	uint8_t priority_buffer[RNA_PRIORITY_COUNT];
	uint32_t buffer_bytes[RNA_PRIORITY_COUNT];
	uint32_t buffers_bytes; /* total of all buffers */
};

/* 1 if the host configures DCB, 0 if a DCBX agent in firmware does. Absent: unknown. */
struct rna_value rna_dcbx_is_host(const struct rna_dcb *dcb);

/* The two roles of congestion control. Each is enabled per priority. */
enum rna_ecn {
	RNA_ECN_NOTIFICATION, /* the receiver reports marked packets (roce_np) */
	RNA_ECN_REACTION,     /* the sender reduces its rate (roce_rp) */
	RNA_ECN_COUNT,
};

const char *rna_ecn_name(enum rna_ecn role); /* "notification", "reaction" */

/* A parameter of congestion control, under the driver's name. */
struct rna_qos_parameter {
	const char *name;
	struct rna_value value; /* in the driver's unit */
};

/* A VLAN on the interface of a port. */
struct rna_qos_vlan {
	const char *netdev;
	struct rna_value id;
	struct rna_value mtu;    /* bytes */
	struct rna_value egress; /* bit n: socket priority n is mapped to a VLAN priority */
	uint8_t egress_priority[RNA_PRIORITY_COUNT]; /* of socket priorities 0 to 7 */
};

enum {
	RNA_QOS_PARAMETERS_MAX = 32, /* of a port; mlx5 has 22 */
	RNA_QOS_VLANS_MAX = 32,      /* of a port; further ones are left out */
};

/* QoS of one interface: the port's own, or a member of its bond. */
struct rna_qos_port {
	unsigned number;
	const char *netdev;        /* NULL: the port has no Ethernet interface */
	const struct rna_dcb *dcb; /* NULL: the driver does not support it, or did not answer */
	enum rna_trust trust;      /* from DCB, or from a file of the driver */
	struct rna_value ecn[RNA_ECN_COUNT]; /* bit n: on for priority n */
	/* Of the port, repeated for each of its interfaces: */
	struct rna_value default_tos; /* ToS of RDMA CM connections, configfs */
	const char *default_mode;     /* "RoCE v2"; GID type of RDMA CM connections, configfs */
	size_t parameter_count;
	const struct rna_qos_parameter *parameters; /* by name */
	size_t vlan_count;
	const struct rna_qos_vlan *vlans; /* by name */
};

struct rna_qos {
	struct rna_part part;
	size_t port_count; /* one per interface, so more than device ports with bonds */
	const struct rna_qos_port *ports; /* by number; members of a bond in their order */
};

/*
 * The next entry of that port, starting at ports[*from]; sets *from behind it. NULL: no more. qos:
 * may be NULL.
 */
const struct rna_qos_port *rna_qos_next(const struct rna_qos *qos, unsigned port, size_t *from);

/* The VLAN with that interface name. NULL: not a VLAN of the port. qos, netdev: may be NULL. */
const struct rna_qos_vlan *rna_qos_find_vlan(const struct rna_qos_port *qos, const char *netdev);

/* The only priority in mask. -1: none, or several. */
int rna_priority_only(uint64_t mask);

/* The priority of packets with that DSCP if the interface trusts DSCP. -1: unknown. */
int rna_qos_priority_of(const struct rna_qos_port *port, unsigned dscp);

/* The DSCPs mapped to a priority, and the priorities mapped to a receive buffer, as masks. */
uint64_t rna_qos_dscps_of(const struct rna_dcb *dcb, unsigned priority);
uint64_t rna_qos_priorities_of_buffer(const struct rna_dcb *dcb, unsigned buffer);

/* "3", "3, 4" or "none" for a mask of up to 64 bits; consecutive bits as "24-31". */
void rna_qos_write_mask(uint64_t mask, struct rna_strbuf *out);

/*
 * The interface MTU that an RDMA MTU requires: mlx5, bnxt_re and hns reserve room for all possible
 * headers (rdma/ib_addr.h, iboe_get_mtu()), other drivers do not. driver: of the PCI function;
 * NULL: unknown, treated like most drivers.
 */
uint64_t rna_qos_netdev_mtu(const char *driver, uint64_t rdma_mtu);
/* The RDMA MTU for an interface MTU: 256 to 4096; 0 if netdev_mtu is too small. */
uint64_t rna_qos_rdma_mtu(const char *driver, uint64_t netdev_mtu);
