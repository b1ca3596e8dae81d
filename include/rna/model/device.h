/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices and ports: the parts of the collectors presence, identity, state and link.
 *
 * A string is NULL if the hardware does not provide it; numbers are values (rna/model/value.h).
 * Sources: Linux Documentation/ABI/stable/sysfs-class-infiniband; rdma-core
 * libibverbs/man/ibv_query_port.3; IBTA 14.2.5.6 (PortInfo).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/model/expectation.h"
#include "rna/model/part.h"
#include "rna/model/value.h"

/* The kind of function that an RDMA device belongs to. */
enum rna_function {
	RNA_FUNCTION_PF, /* a PCI function of its own */
	RNA_FUNCTION_VF, /* has physfn */
	/*
	 * A virtual function in a virtual machine, known by its PCI device number or by a link
	 * without lanes: the physical function is not on this node, so it is the NIC here. Its link
	 * registers are those of no link.
	 */
	RNA_FUNCTION_GUEST_VF,
	RNA_FUNCTION_SF,      /* auxiliary device with sfnum below a PCI function */
	RNA_FUNCTION_VIRTUAL, /* no PCI parent: rxe, siw, scif */
	/*
	 * A ConnectX-7 on the board of an HGX B200 or B300 that manages the NVSwitches. It carries
	 * no traffic, and each read of a counter fails with a line in the kernel log (node_exporter
	 * issue 3434), so the agent does not read its counters.
	 */
	RNA_FUNCTION_SWITCH_MANAGEMENT,
};

const char *rna_function_name(enum rna_function function); /* "pf", "vf", "sf", ... */

struct rna_device;

/* Is it a NIC of this node: a physical function, or a virtual one whose PF is outside of the VM? */
bool rna_device_is_nic(const struct rna_device *device);

/* One RDMA device as presence finds it: facts that cost no firmware command. */
struct rna_device {
	/*
	 * Identifies the device across renames and driver reloads: PCI address, PCI address + "/sf"
	 * + number, or the name if there is no PCI parent.
	 */
	const char *key;
	const char *name;       /* mlx5_0 */
	const char *sysfs_path; /* sys/devices/.../infiniband/mlx5_0, links resolved */
	/*
	 * It is in another network namespace, and the agent reads it through the root of this
	 * process: sysfs_path begins with proc/PROCESS/root/, and only files tell of it. Netlink,
	 * verbs and MADs do not know it, and names of interfaces there mean others here. 0: it is
	 * in the agent's own.
	 */
	uint32_t process;
	uint64_t network_namespace; /* its number: the inode of /proc/PROCESS/ns/net; 0: own */
	/*
	 * The file of verbs that no process there has: "uverbs3". NULL: one has it, or there is no
	 * process but the one that holds the namespace, or it is not known.
	 */
	const char *missing_file;
	const char *pci_address; /* 0000:3b:00.0; the domain may have five digits and more */
	const char *driver;      /* of the PCI function, mlx5_core; NULL for virtual devices */
	const char *physical_function; /* PCI address of the PF, for VF and SF; NULL: unreadable */
	enum rna_function function;
	int numa_node;      /* -1: unknown */
	uint32_t vendor_id; /* PCI; 0: unknown */
	uint32_t device_id;
	/*
	 * Changes when the kernel registers the device again, even under the same name: the inode
	 * of its sysfs directory. Open descriptors and counter history are dropped then.
	 */
	uint64_t generation;
	size_t port_count;
	const unsigned *ports; /* port numbers, ascending */
	/*
	 * The SMI device of a multi-plane InfiniBand card (ConnectX-8, XDR), or NULL. Its ports are
	 * the planes of this device's port: MADs of subnet management are sent through it, as the
	 * port itself has no SMI then. It has umad and no uverbs, carries no traffic, and is not
	 * listed as a device. mlx5_ib_add_sub_dev() in drivers/infiniband/hw/mlx5/main.c, Linux
	 * 6.11; Mellanox/rdmamap#17 shows the devices and their ports.
	 */
	const struct rna_device *smi;
	bool has_planes; /* of an SMI device: its ports are planes */
};

/* A PCI function whose RDMA device is missing. */
struct rna_bare_function {
	const char *pci_address;
	enum rna_whereabouts whereabouts; /* of the device */
};

/* A device that the sysfs of two network namespaces have, although it can be in one only. */
struct rna_contested_device {
	const char *name;
	uint32_t processes[2]; /* one of each namespace */
};

/* How far the agent sees into other network namespaces. */
struct rna_follow_reach {
	bool asked;         /* setting follow.enabled; otherwise the rest is not known */
	bool own_namespace; /* the agent is in a PID namespace that is not the node's */
	bool hidden;        /* its /proc hides processes of others (mount option hidepid) */
	size_t opened;      /* processes whose network namespace it read; a zombie has none */
	size_t refused;     /* processes that it may not look into */
	size_t left_out;    /* devices beyond follow.max_devices or follow.max_ports */
	uint32_t crowded;   /* a process where some are left out; 0: none are */
};

struct rna_presence {
	struct rna_part part;
	bool stack; /* does /sys/class/infiniband exist? */
	size_t device_count;
	size_t excluded_count; /* devices excluded by the filter; the agent read no file of them */
	const char **excluded; /* the PCI functions of these, as far as they have one, sorted */
	size_t excluded_function_count;
	const struct rna_device *devices; /* sorted by name, mlx5_2 before mlx5_10 */
	/* There are more devices than the agent watches; and what to do. NULL: there are not. */
	const char *problem;
	struct rna_follow_reach reach;
	size_t contested_count; /* devices of other namespaces that are not watched */
	const struct rna_contested_device *contested;
	uint32_t inside; /* not 0: these are the devices that this process sees, and no others */
	size_t bare_count;
	const struct rna_bare_function *bare; /* of the functions in the input, in their order */
};

/* ibv node types, as in sysfs node_type. */
enum rna_node_type {
	RNA_NODE_TYPE_UNKNOWN = 0,
	RNA_NODE_TYPE_CA = 1,
	RNA_NODE_TYPE_SWITCH = 2,
	RNA_NODE_TYPE_ROUTER = 3,
	RNA_NODE_TYPE_RNIC = 4,
	RNA_NODE_TYPE_USNIC = 5,
	RNA_NODE_TYPE_USNIC_UDP = 6,
	RNA_NODE_TYPE_UNSPECIFIED = 7,
};

const char *rna_node_type_name(enum rna_node_type type); /* "ca", "rnic", "unspecified", ... */

enum rna_link_layer {
	RNA_LINK_LAYER_UNKNOWN,
	RNA_LINK_LAYER_INFINIBAND,
	RNA_LINK_LAYER_ETHERNET,
};

const char *rna_link_layer_name(enum rna_link_layer layer); /* "InfiniBand", "Ethernet", ... */

struct rna_port_identity {
	unsigned number;
	enum rna_link_layer link_layer;
	const char *port_guid; /* 16 hex digits in groups of four: "1070:fd03:0000:0001" */
	/*
	 * The traffic class that the driver sets in all RoCE packets of the port, overriding
	 * applications: only mlx5 of NVIDIA's driver package, if configured.
	 */
	struct rna_value traffic_class;
};

struct rna_identity {
	struct rna_part part;
	enum rna_node_type node_type;
	const char *node_guid; /* "1070:fd03:0000:0001" */
	const char *system_image_guid;
	const char *firmware_version; /* NULL also for rxe, whose file is an empty line */
	/*
	 * MODULE_VERSION of the driver of the PCI function, which packages of the vendors declare:
	 * "24.10-0.7.0" (MLNX_OFED, as the NVIDIA Network Operator reads it). NULL: it has none.
	 * The kernel's own drivers lost theirs in 2020: ethtool -i shows the kernel's release
	 * instead (net/ethtool/ioctl.c ethtool_get_drvinfo, UTS_RELEASE).
	 */
	const char *driver_version;
	const char *board_id; /* PSID */
	const char *hca_type; /* MT4123 */
	const char *hardware_revision;
	const char *node_description;
	size_t port_count;
	const struct rna_port_identity *ports; /* ascending by number */
};

/* Logical port state, IBTA PortInfo:PortState and enum ibv_port_state. */
enum rna_port_state {
	RNA_PORT_NOP = 0,
	RNA_PORT_DOWN = 1,
	RNA_PORT_INIT = 2,
	RNA_PORT_ARMED = 3,
	RNA_PORT_ACTIVE = 4,
	RNA_PORT_ACTIVE_DEFER = 5,
};

/* IBTA PortInfo:PortPhysicalState. RoCE drivers know only DISABLED and LINK_UP. */
enum rna_physical_state {
	RNA_PHYSICAL_SLEEP = 1,
	RNA_PHYSICAL_POLLING = 2,
	RNA_PHYSICAL_DISABLED = 3,
	RNA_PHYSICAL_TRAINING = 4,
	RNA_PHYSICAL_LINK_UP = 5,
	RNA_PHYSICAL_RECOVERY = 6,
	RNA_PHYSICAL_TEST = 7,
};

const char *rna_port_state_name(uint64_t state);     /* "ACTIVE"; "?" for unknown codes */
const char *rna_physical_state_name(uint64_t state); /* "LinkUp"; "?" for unknown codes */

struct rna_port_state_value {
	unsigned number;
	struct rna_value state;          /* enum rna_port_state */
	struct rna_value physical_state; /* enum rna_physical_state */
	rna_usec physical_read;          /* monotonic: when that was read */
	bool physical_stays;             /* two readings in this state had the same */
};

/* Is it ACTIVE or ACTIVE_DEFER? False if the state is unknown or port is NULL. */
bool rna_port_is_up(const struct rna_port_state_value *port);

struct rna_state {
	struct rna_part part;
	size_t port_count;
	const struct rna_port_state_value *ports; /* ascending by number */
};

struct rna_port_link {
	unsigned number;
	/* Data rate of the link in bytes per second, from sysfs rate; stale while DOWN. */
	struct rna_value rate;
	struct rna_value width;      /* lanes: 1, 2, 4, 8, 12 */
	struct rna_value speed_code; /* enum ib_port_speed: 1 SDR .. 128 NDR, 256 XDR */
	const char *speed_name;      /* "HDR"; NULL: unknown code */
	/* What the port supports and what is enabled. From MADs, so on InfiniBand only. */
	struct rna_value width_supported; /* lanes */
	struct rna_value width_enabled;
	struct rna_value speed_supported; /* codes like speed_code, NDR at most */
	struct rna_value speed_enabled;
	struct rna_value active_mtu; /* bytes; from verbs only */
	struct rna_value max_mtu;    /* bytes */
	struct rna_value lid;        /* absent on Ethernet */
	struct rna_value sm_lid;
	struct rna_value sm_sl;
	struct rna_value lmc;
	struct rna_value capability_mask;
};

/*
 * A plane of the device's port: a port of its SMI device. Its state is known by MADs alone: the
 * files have that of the whole port, because mlx5_query_hca_port() asks for the port of the parent
 * and has only speed and width of the plane (drivers/infiniband/hw/mlx5/main.c, Linux 6.11).
 */
struct rna_plane {
	unsigned number;        /* of the port of the SMI device, from 1 */
	struct rna_value state; /* enum rna_port_state */
	struct rna_value physical_state;
};

struct rna_link {
	struct rna_part part;
	bool verbs; /* did libibverbs answer? otherwise all is from sysfs */
	size_t port_count;
	const struct rna_port_link *ports; /* ascending by number */
	size_t plane_count;                /* 0: the card has no planes, or no SMI device */
	const struct rna_plane *planes;    /* ascending by number */
};

/* The number of planes that are up. Absent: there are none, or the state of one is not known. */
struct rna_value rna_link_planes_up(const struct rna_link *link); /* NULL: absent */
