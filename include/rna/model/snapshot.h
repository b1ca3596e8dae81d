/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot: the newest parts of every device, immutable. If a collector fails, its last good part
 * stays until it is three periods old; then it is NULL and its values are absent. Thread: created
 * and counted by the loop; any thread may read it.
 */
#pragma once

#include "rna/model/counter.h"
#include "rna/model/device.h"
#include "rna/model/ethernet.h"
#include "rna/model/fabric.h"
#include "rna/model/gateways.h"
#include "rna/model/gid.h"
#include "rna/model/kernel_log.h"
#include "rna/model/lldp.h"
#include "rna/model/module.h"
#include "rna/model/netdev.h"
#include "rna/model/pcie.h"
#include "rna/model/process.h"
#include "rna/model/qos.h"
#include "rna/model/readiness.h"
#include "rna/model/resources.h"
#include "rna/model/topology.h"
#include "rna/model/virtual_functions.h"

struct rna_snapshot_device {
	const struct rna_device *device; /* lies in parts[RNA_COLLECTOR_PRESENCE] */
	/*
	 * Parts of the device collectors, and the presence part that lists the device. NULL: none.
	 */
	const struct rna_part *parts[RNA_COLLECTOR_COUNT];
	bool held; /* the agent has it open, for its events */
};

struct rna_snapshot {
	struct rna_time time;
	/* Changes whenever a device, port or label may have changed; validates prepared text. */
	uint64_t device_set;
	const struct rna_part *parts[RNA_COLLECTOR_COUNT]; /* of node-wide collectors; NULL: none */
	size_t device_count;
	struct rna_snapshot_device devices[]; /* sorted by name */
};

/* Allocates a snapshot with device_count empty devices. NULL: no memory. */
struct rna_snapshot *rna_snapshot_new(size_t device_count, struct rna_time time);
/* Drops its references to parts. Accepts and returns NULL. */
struct rna_snapshot *rna_snapshot_free(const struct rna_snapshot *snapshot);

/* The device of that name; NULL: there is none. */
const struct rna_snapshot_device *rna_snapshot_find(const struct rna_snapshot *snapshot,
						    const char *name);

/* The concrete parts. NULL: none. */
const struct rna_presence *rna_snapshot_presence(const struct rna_snapshot *snapshot);
const struct rna_netdevs *rna_snapshot_netdevs(const struct rna_snapshot *snapshot);
const struct rna_gateways *rna_snapshot_gateways(const struct rna_snapshot *snapshot);
const struct rna_lldp *rna_snapshot_lldp(const struct rna_snapshot *snapshot);
const struct rna_topology *rna_snapshot_topology(const struct rna_snapshot *snapshot);
const struct rna_readiness *rna_snapshot_readiness(const struct rna_snapshot *snapshot);
const struct rna_kernel_log *rna_snapshot_kernel_log(const struct rna_snapshot *snapshot);
const struct rna_process *rna_snapshot_process(const struct rna_snapshot *snapshot);
const struct rna_identity *rna_device_identity(const struct rna_snapshot_device *device);
const struct rna_state *rna_device_state(const struct rna_snapshot_device *device);
const struct rna_link *rna_device_link(const struct rna_snapshot_device *device);
const struct rna_gids *rna_device_gids(const struct rna_snapshot_device *device);
const struct rna_fabric *rna_device_fabric(const struct rna_snapshot_device *device);
const struct rna_pcie *rna_device_pcie(const struct rna_snapshot_device *device);
const struct rna_virtual_functions *rna_device_virtual_functions(
	const struct rna_snapshot_device *device);
const struct rna_modules *rna_device_modules(const struct rna_snapshot_device *device);
const struct rna_ethernet *rna_device_ethernet(const struct rna_snapshot_device *device);
const struct rna_resources *rna_device_resources(const struct rna_snapshot_device *device);
/* The users that have the device open; NULL: not known. */
const struct rna_users *rna_device_users(const struct rna_snapshot_device *device);
const struct rna_qos *rna_device_qos(const struct rna_snapshot_device *device);
/* collector: RNA_COLLECTOR_COUNTERS, RNA_COLLECTOR_HW_COUNTERS or RNA_COLLECTOR_FABRIC */
const struct rna_counters_part *rna_device_counters(const struct rna_snapshot_device *device,
						    enum rna_collector_id collector);

/* One port's entry in a part. NULL: the part is missing or lacks the port. */
const struct rna_port_identity *rna_port_identity(const struct rna_snapshot_device *device,
						  unsigned port);
/*
 * The node type of a device. Where its file cannot be read, link layer and driver decide;
 * RNA_NODE_TYPE_UNKNOWN if they do not.
 */
enum rna_node_type rna_device_node_type(const struct rna_snapshot_device *device);
const struct rna_port_state_value *rna_port_state(const struct rna_snapshot_device *device,
						  unsigned port);
/*
 * Does the driver report a state that never changes, while the port answers no query? Then it does
 * not count as up.
 */
bool rna_port_is_mute(const struct rna_snapshot_device *device, unsigned port);
/* Is the port up, as far as its state tells, and not mute? */
bool rna_port_works(const struct rna_snapshot_device *device, unsigned port);
const struct rna_port_link *rna_port_link(const struct rna_snapshot_device *device, unsigned port);
const struct rna_port_gids *rna_port_gids(const struct rna_snapshot_device *device, unsigned port);
const struct rna_port_optional_counters *rna_port_optional_counters(
	const struct rna_snapshot_device *device, unsigned port);
const struct rna_qos_port *rna_port_qos(const struct rna_snapshot_device *device, unsigned port);
const struct rna_port_fabric *rna_port_fabric(const struct rna_snapshot_device *device,
					      unsigned port);
/* The peer at the other end of the port's cable, found by MAD or LLDP. */
const struct rna_peer *rna_port_peer(const struct rna_snapshot_device *device, unsigned port);
const struct rna_netdev *rna_port_netdev(const struct rna_snapshot *snapshot,
					 const struct rna_snapshot_device *device, unsigned port);
