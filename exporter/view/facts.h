/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts: what is known about a device or a port, in words. One function says one fact, and each
 * output is a table of them: labels of the info metrics, members of the JSON, columns for people.
 */
#pragma once

#include "subjects.h"

enum { RNA_FACT_MAX = 48 }; /* what facts that are numbers may need */

/* The fact, or NULL if it is not known. scratch: where to write what is not a text already. */
typedef const char *rna_fact(const struct rna_subject *subject, char scratch[RNA_FACT_MAX]);

struct rna_fact_row {
	const char *name; /* label and JSON member */
	rna_fact *fact;
	bool number; /* in JSON without quotes */
};

struct rna_fact_table {
	size_t count;
	const struct rna_fact_row *rows;
};

/*
 * The labels of the info metric of a scope, rdma_port_info for example, behind those that name the
 * subject. None for the node and for jobs.
 */
struct rna_fact_table rna_facts_of(enum rna_scope scope);

rna_fact rna_fact_device;
rna_fact rna_fact_port;
rna_fact rna_fact_pci_address;
rna_fact rna_fact_numa_node;
rna_fact rna_fact_function;
rna_fact rna_fact_driver;
rna_fact rna_fact_hca_type;
rna_fact rna_fact_board_id;
rna_fact rna_fact_node_guid;
rna_fact rna_fact_node_description;
rna_fact rna_fact_firmware_version;
rna_fact rna_fact_link_layer;
rna_fact rna_fact_netdev;
rna_fact rna_fact_port_guid;
rna_fact rna_fact_gid_index;
rna_fact rna_fact_gid;
rna_fact rna_fact_gid_type;    /* "RoCE v2" */
rna_fact rna_fact_gid_version; /* "v2", as show_gids has it */
rna_fact rna_fact_gid_netdev;  /* may be another one than the port's: a VLAN, a bond */
rna_fact rna_fact_gid_ipv4;    /* only where the GID is made of one */
rna_fact rna_fact_gid_nccl;    /* "yes" where it is the one that NCCL uses of the port */

/* These change from one moment to the next and are no labels. */
rna_fact rna_fact_state;          /* "ACTIVE" */
rna_fact rna_fact_physical_state; /* "LinkUp" */
rna_fact rna_fact_speed;          /* "HDR" */
rna_fact rna_fact_width;          /* "4X" */
rna_fact rna_fact_rate;           /* "200 Gb/s"; not known while the port is down */
rna_fact rna_fact_mtu;
rna_fact rna_fact_lid;
rna_fact rna_fact_peer;      /* what is at the other end of the cable, or was */
rna_fact rna_fact_peer_port; /* in which of its ports the cable is */
rna_fact rna_fact_operstate; /* "up", of the network interface */
rna_fact rna_fact_expected;  /* "up": what the port is meant to be */
rna_fact rna_fact_expectation_reason;

/* Absent while the port is down, for what drivers say then is made up. The rate: bytes per second.
 */
struct rna_value rna_port_rate(const struct rna_subject *port);
struct rna_value rna_port_width(const struct rna_subject *port);
struct rna_value rna_port_speed_code(const struct rna_subject *port);

/* The speed of a PCIe link in its base unit. */
struct rna_value rna_transfers_per_second(struct rna_value speed);

/* Is the link up, for traffic? Absent when the state is not known. */
struct rna_value rna_port_up(const struct rna_subject *port);

/* Is it known to be meant to be up? */
bool rna_port_is_expected(const struct rna_subject *port);

/* Is it DOWN? Not a problem if it is not expected to be up. */
bool rna_port_is_down(const struct rna_subject *port);

/* A sentence for people on why there is no port to show. NULL: there is one. */
const char *rna_why_no_port(const struct rna_subjects *subjects);

/* Is it the GID that NCCL uses of its port? */
bool rna_gid_is_nccl(const struct rna_subject *gid);

/* Should a person look at it? */
enum rna_tone {
	RNA_TONE_PLAIN,
	RNA_TONE_GOOD,
	RNA_TONE_WARNING, /* on its way, or not quite */
	RNA_TONE_BAD,
};

/* What makes a terminal show it so; "": as all else. "\033[0m" ends it. */
const char *rna_tone_colour(enum rna_tone tone);

typedef enum rna_tone rna_tone_of(const struct rna_subject *subject);

rna_tone_of rna_tone_state;
rna_tone_of rna_tone_physical_state;
rna_tone_of rna_tone_operstate;
