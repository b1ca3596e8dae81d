/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quality of service of RoCE ports: what keeps RDMA packets from being dropped, and what slows the
 * sender down in time. All of it is configuration that somebody has to make alike on every rail and
 * on the switch; nothing fails when it is not, and jobs crawl.
 *
 * A packet has a DSCP; where the interface trusts it, a table makes a priority of it, else the
 * VLAN tag has one. PFC makes priorities lossless, one by one; ETS shares the link among traffic
 * classes, to which priorities belong. ECN and its parameters (DCQCN) act before PFC has to.
 * Sources: IEEE 802.1Qaz, 802.1Qbb; linux/dcbnl.h; net/dcb/dcbnl.c; drivers' own files.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/base/strbuf.h"
#include "rna/model/part.h"
#include "rna/model/value.h"

enum {
	RNA_PRIORITY_COUNT = 8, /* likewise of traffic classes and of receive buffers */
	RNA_DSCP_COUNT = 64,
	RNA_PRIORITY_NONE = 0xff,    /* no entry: as the driver has it by default, usually 0 */
	RNA_PRIORITY_SEVERAL = 0xfe, /* entries that disagree */
};

/* By what a packet gets its priority. */
enum rna_trust {
	RNA_TRUST_UNKNOWN,
	RNA_TRUST_PCP,  /* the VLAN tag; packets without one have the default priority */
	RNA_TRUST_DSCP, /* the IP header */
};

const char *rna_trust_name(enum rna_trust trust); /* "pcp", "dscp"; NULL: unknown */

/* How a traffic class gets its turn, IEEE 802.1Qaz. */
const char *rna_ets_algorithm_name(unsigned algorithm); /* "strict", "ets", ...; "?" for others */

/* What a driver says of an interface by DCB netlink. What it did not mention is absent. */
struct rna_dcb {
	struct rna_value dcbx;      /* DCB_CAP_DCBX_*: who negotiates, in which version */
	struct rna_value pfc;       /* bit n: priority n is lossless */
	struct rna_value pfc_limit; /* how many priorities may be */
	struct rna_value pfc_sent[RNA_PRIORITY_COUNT]; /* pause frames, as the driver counts them */
	struct rna_value pfc_received[RNA_PRIORITY_COUNT];
	bool has_ets;
	uint8_t traffic_class[RNA_PRIORITY_COUNT]; /* of each priority */
	uint8_t bandwidth[RNA_PRIORITY_COUNT];     /* of each traffic class, percent */
	uint8_t algorithm[RNA_PRIORITY_COUNT];     /* of each traffic class */
	enum rna_trust trust;
	size_t dscp_count;                     /* entries of the table */
	uint8_t dscp_priority[RNA_DSCP_COUNT]; /* or RNA_PRIORITY_NONE, RNA_PRIORITY_SEVERAL */
	struct rna_value default_priority;     /* of what has no DSCP, if somebody set one */
	bool has_buffers;
	uint8_t priority_buffer[RNA_PRIORITY_COUNT];
	uint32_t buffer_bytes[RNA_PRIORITY_COUNT];
	uint32_t buffers_bytes; /* of all that there is */
};

/* Does the interface itself decide, and no DCBX agent of the firmware? Absent: not known. */
struct rna_value rna_dcbx_is_host(const struct rna_dcb *dcb);

/* Both ends of congestion control have a switch for each priority. */
enum rna_ecn {
	RNA_ECN_NOTIFICATION, /* the receiver tells of marked packets (roce_np) */
	RNA_ECN_REACTION,     /* the sender obeys (roce_rp) */
	RNA_ECN_COUNT,
};

const char *rna_ecn_name(enum rna_ecn role); /* "notification", "reaction" */

/* A parameter of congestion control, by the name that its driver has for it. */
struct rna_qos_parameter {
	const char *name;
	struct rna_value value; /* in the driver's unit */
};

/* A VLAN on the interface of a port. */
struct rna_qos_vlan {
	const char *netdev;
	struct rna_value id;
	struct rna_value mtu;    /* bytes */
	struct rna_value egress; /* bit n: socket priority n has another VLAN priority */
	uint8_t egress_priority[RNA_PRIORITY_COUNT]; /* of socket priorities 0 to 7 */
};

enum {
	RNA_QOS_PARAMETERS_MAX = 32, /* of a port; mlx5 has 22 */
	RNA_QOS_VLANS_MAX = 32,      /* of a port; further ones are left out */
};

/* Of one interface: of the port's own, or of a member of its bond. */
struct rna_qos_port {
	unsigned number;
	const char *netdev;                  /* NULL: the port has none with Ethernet */
	const struct rna_dcb *dcb;           /* NULL: the driver has none, or did not answer */
	enum rna_trust trust;                /* by DCB, or by a file of the driver's */
	struct rna_value ecn[RNA_ECN_COUNT]; /* bit n: on for priority n */
	/* Of the port, and the same for each of its interfaces: */
	struct rna_value default_tos; /* of connections that RDMA CM makes, configfs */
	const char *default_mode;     /* "RoCE v2"; likewise */
	size_t parameter_count;
	const struct rna_qos_parameter *parameters; /* by name */
	size_t vlan_count;
	const struct rna_qos_vlan *vlans; /* by name */
};

struct rna_qos {
	struct rna_part part;
	size_t port_count;                /* more than the device has, where some are bonds */
	const struct rna_qos_port *ports; /* by number; of a bond in the order of its members */
};

/* Of that port, from ports[*from] on, which moves behind it; NULL: no more. qos: may be NULL. */
const struct rna_qos_port *rna_qos_next(const struct rna_qos *qos, unsigned port, size_t *from);

/* The VLAN of that interface; NULL: it is none of the port's. qos, netdev: may be NULL. */
const struct rna_qos_vlan *rna_qos_find_vlan(const struct rna_qos_port *qos, const char *netdev);

/* The only priority of a mask; -1: there are none, or several. */
int rna_priority_only(uint64_t mask);

/* The priority that a packet of that DSCP gets where DSCPs are trusted; -1: not known. */
int rna_qos_priority_of(const struct rna_qos_port *port, unsigned dscp);

/* The DSCPs of a priority, and the priorities of a receive buffer, as masks. */
uint64_t rna_qos_dscps_of(const struct rna_dcb *dcb, unsigned priority);
uint64_t rna_qos_priorities_of_buffer(const struct rna_dcb *dcb, unsigned buffer);

/* "3", "3, 4" or "none" for a mask of up to 64 bits; "24-31" where a row of them is set. */
void rna_qos_write_mask(uint64_t mask, struct rna_strbuf *out);

/*
 * The MTU of an interface that an RDMA MTU wants: mlx5, bnxt_re and hns keep room for all headers
 * that a packet may have (rdma/ib_addr.h, iboe_get_mtu()), others take it as it is. driver: of the
 * PCI function; NULL: as most have it.
 */
uint64_t rna_qos_netdev_mtu(const char *driver, uint64_t rdma_mtu);
/* The other way round: 256 to 4096, or 0 where it is too small for any. */
uint64_t rna_qos_rdma_mtu(const char *driver, uint64_t netdev_mtu);
