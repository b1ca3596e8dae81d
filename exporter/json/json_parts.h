/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of JSON documents that have a file of their own. */
#pragma once

#include "rna/model/bandwidths.h"
#include "rna/model/card.h"
#include "rna/model/selftest.h"
#include "rna/model/topology.h"

#include "json_writer.h"

/* What stands of the self-test in the document of all that is known: the newest test. */
json_t *rna_selftest_summary(struct rna_json_writer *writer, const struct rna_selftest_port *port);
void rna_selftest_write_json(const struct rna_selftest_run *runs, size_t count,
			     struct rna_strbuf *out);

/* Bandwidth tests between nodes: what is remembered, and a document of some tests. */
json_t *rna_bandwidth_summary(struct rna_json_writer *writer,
			      const struct rna_bandwidths *bandwidths);
void rna_bandwidth_write_json(const struct rna_bandwidth_test *tests, size_t count,
			      struct rna_strbuf *out);

/* GPUs, NICs with their cards (NULL: not known), and who is nearest to whom. */
json_t *rna_json_topology(struct rna_json_writer *writer, const struct rna_topology *topology,
			  const struct rna_cards *cards);

/* -- Members of one part each: without it there is none ---------------------------------------- */

/* "pcie_bottleneck" and "pcie_hops" of a device. */
void rna_json_set_pcie(struct rna_json_writer *writer, json_t *object, const struct rna_pcie *pcie);
/*
 * "virtual_function_properties" of a device, and "virtual_function_list" with each of them where
 * that is wanted.
 */
void rna_json_set_virtual_functions(struct rna_json_writer *writer, json_t *object,
				    const struct rna_virtual_functions *functions, bool each);
/* "modules" of a port; "modules_absent" where the kernel does not let us read them. */
void rna_json_set_modules(struct rna_json_writer *writer, json_t *object,
			  const struct rna_modules *modules, unsigned port);
/* "resources" and "idle_resources" of a device. */
void rna_json_set_resources(struct rna_json_writer *writer, json_t *object,
			    const struct rna_resources *resources);
/* "optional_counters" of a port. */
void rna_json_set_user_traffic(struct rna_json_writer *writer, json_t *object,
			       const struct rna_view_port *account); /* NULL: none */
void rna_json_set_optional_counters(struct rna_json_writer *writer, json_t *object,
				    const struct rna_port_optional_counters *counters);
/* "qos" of a port; of a bond with what its other members have. */
void rna_json_set_qos(struct rna_json_writer *writer, json_t *object, const struct rna_qos *qos,
		      unsigned port);
/* "ethernet" of a port: its interface, or each member of its bond. */
void rna_json_set_ethernet(struct rna_json_writer *writer, json_t *object,
			   const struct rna_ethernet *ethernet, unsigned port);
/* "bond_members" of a port whose bond speaks LACP, and "gateways" of one that has any. */
void rna_json_set_network(struct rna_json_writer *writer, json_t *object,
			  const struct rna_subject *port);
/* "peer", "former_peer", "subnet_manager" and "pkeys" of a port, each as far as it is known. */
void rna_json_set_fabric(struct rna_json_writer *writer, json_t *object,
			 const struct rna_subject *port);
/* The members of "kernel_log" of the node that no family has; there is such a part. */
void rna_json_set_kernel_log(struct rna_json_writer *writer, json_t *object,
			     const struct rna_snapshot *snapshot);
/* "neighbour_tables" of the node, if its tables are known. gateways may be NULL. */
void rna_json_set_neighbours(struct rna_json_writer *writer, json_t *object,
			     const struct rna_gateways *gateways);
/* "readiness" of the node. */
void rna_json_set_readiness(struct rna_json_writer *writer, json_t *object,
			    const struct rna_readiness *readiness);
