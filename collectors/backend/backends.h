/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backends: the libraries behind the collectors, as tables of functions. Each has one real
 * implementation, the only file that includes its library, and one that answers from files of a
 * recorded machine. None keeps anything open or remembered between two calls: an open context,
 * umad or netlink socket blocks the reload of a driver.
 * Thread: any, several at a time.
 */
#pragma once

#include <net/if.h> /* IF_NAMESIZE */

#include "rna/base/parse.h"
#include "rna/collector.h"
#include "rna/model/counter.h"
#include "rna/model/gateways.h"
#include "rna/model/gid.h"
#include "rna/model/lldp.h"
#include "rna/model/netdev.h"
#include "rna/model/qos.h"
#include "rna/model/resources.h"
#include "rna/model/value.h"

#include "parse/kmsg.h"

/* One port as ibv_query_port() tells it. */
struct rna_verbs_port {
	int error; /* negative errno where only this port failed; the values are absent then */
	struct rna_value speed_code; /* enum ib_port_speed; NDR at most before rdma-core 49 */
	struct rna_value lanes;
	struct rna_value active_mtu; /* bytes */
	struct rna_value max_mtu;    /* bytes */
	struct rna_value sm_sl;
	struct rna_value lmc;
	struct rna_value capability_mask;
};

/* One GID as ibv_query_gid_table() tells it. */
struct rna_verbs_gid {
	unsigned port;
	unsigned index;
	struct rna_gid gid;
	enum rna_gid_type type;
	bool has_netdev; /* its name is for sysfs to say: the number is of an unknown namespace */
};

struct rna_verbs_gids {
	size_t count;
	struct rna_verbs_gid *items; /* by port, then by index */
};

struct rna_verbs_backend {
	/*
	 * Opens device, asks each of its ports, closes. ports: zeroed, device->port_count of them.
	 * 0, -ENOENT when there is no way to the device (no node in /dev, no provider, no right:
	 * all normal in a container), or another negative errno.
	 */
	int (*query_ports)(const struct rna_root *root, const struct rna_device *device,
			   struct rna_verbs_port *ports);

	/* Opens device, asks for all its GIDs, in arena, closes. Returns like query_ports. */
	int (*query_gids)(const struct rna_root *root, const struct rna_device *device,
			  struct rna_arena *arena, struct rna_verbs_gids *ret);
};

struct rna_vf_list; /* link_message.h */

struct rna_netdev_backend {
	/*
	 * Reads the interface of that name, all but speed and addresses; strings in arena. 0,
	 * -ENODEV when there is none in this network namespace, or another negative errno.
	 */
	int (*read)(const struct rna_root *root, const char *name, struct rna_arena *arena,
		    struct rna_netdev *ret);

	/*
	 * Fills in the addresses of all of them, by ifindex or name, in one question. 0, or
	 * negative errno: then they stay as they are, absent.
	 */
	int (*count_addresses)(const struct rna_root *root, struct rna_netdev *netdevs,
			       size_t count);

	/*
	 * The number, MTU and priorities of a VLAN; its name stays. 0, -ENOENT when the interface
	 * is there and no VLAN, -ENODEV when it is not there, or another negative errno.
	 */
	int (*read_vlan)(const struct rna_root *root, const char *name, struct rna_qos_vlan *ret);

	/*
	 * What the interface's function gave its virtual functions, in arena. None where it has
	 * none. 0, -ENODEV or -ENOENT when there is nothing to ask, -EMSGSIZE when they are too
	 * many for an answer, or another negative errno.
	 */
	int (*list_virtual_functions)(const struct rna_root *root, const char *name,
				      struct rna_arena *arena, struct rna_vf_list *ret);

	/* The interface of the default route. 0, -ENOENT without one, or negative errno. */
	int (*find_uplink)(const struct rna_root *root, char ret[IF_NAMESIZE]);
};

/* What DCB is asked for, by the version of the standard. */
enum rna_dcb_question { RNA_DCB_IEEE, RNA_DCB_CEE, RNA_DCB_QUESTION_COUNT };

const char *rna_dcb_question_name(enum rna_dcb_question question); /* "ieee", "cee": dcb.c */

struct rna_dcb_backend {
	/*
	 * The answer as the kernel sent it, for rna_dcb_parse(), in arena. 0; -EOPNOTSUPP when the
	 * driver of the interface has no DCB, which is normal; -ENODEV when there is no such
	 * interface in this network namespace; or another negative errno.
	 */
	int (*ask)(const struct rna_root *root, const char *netdev, enum rna_dcb_question question,
		   struct rna_arena *arena, struct rna_bytes *ret);
};

struct rna_lldp_neighbours {
	size_t count;
	struct rna_lldp_neighbour *items; /* room for RNA_LLDP_MAX */
};

struct rna_lldp_backend {
	/*
	 * Who was heard on each interface, in arena, in at most two seconds. 0; -ENOENT when no
	 * lldpd runs, -EOPNOTSUPP when the agent was built without its library: both are normal;
	 * -EACCES without the right to ask, -ETIMEDOUT, or another negative errno.
	 */
	int (*list)(const struct rna_root *root, struct rna_arena *arena,
		    struct rna_lldp_neighbours *ret);
};

struct rna_gateway_list {
	size_t count;
	struct rna_gateway *items; /* without lower */
};

struct rna_rail_address_list {
	size_t count;
	struct rna_rail_address *items; /* without settings */
};

struct rna_gateway_backend {
	/*
	 * The gateways of the widest routes out of each of these interfaces, in any table, and what
	 * the neighbour table has of each, in arena. Sends nothing to the network. 0, or negative
	 * errno: nothing is known.
	 */
	int (*list)(const struct rna_root *root, const char *const *netdevs, size_t count,
		    struct rna_arena *arena, struct rna_gateway_list *ret);

	/*
	 * The IPv4 addresses of these interfaces that share a link with others (no /31 and /32), in
	 * arena, and by which interface packets from each leave. Returns like list.
	 */
	int (*list_addresses)(const struct rna_root *root, const char *const *netdevs, size_t count,
			      struct rna_arena *arena, struct rna_rail_address_list *ret);

	/* Makes the kernel ask for the gateway, without waiting. 0 or negative errno. */
	int (*probe)(const struct rna_root *root, const struct rna_gateway *gateway);
};

/* What is wanted of the journal: messages of the kernel since boot. */
struct rna_journal_request {
	const struct rna_root *root;
	struct rna_arena *arena;
	const char *cursor; /* the last one that was taken; NULL: from the first one on */
	uint64_t most;
	rna_kmsg_take *take; /* records have no sequence, level and caller */
	void *userdata;
};

struct rna_journal_answer {
	const char *cursor; /* of the last one that was taken, in arena */
	bool limited;       /* there may be more */
	int error;          /* negative errno: it ended early */
};

struct rna_journal_backend {
	/*
	 * Opens the journal, gives take each message, closes. 0; -EACCES without the right to read
	 * it, -ENOENT where there is none; or another negative errno. Nothing was taken then.
	 */
	int (*read)(const struct rna_journal_request *request, struct rna_journal_answer *ret);
};

struct rna_netlink_counters {
	size_t count;
	struct rna_counter_value *values;
};

/*
 * The numbers by which RDMA netlink knows devices: all of them, listed at the first question of a
 * run. One that was registered later is not there until the next.
 */
struct rna_rdma_numbers {
	const struct rna_root *root;
	pid_t process; /* whose contexts, and whose children's, are own ones; 0: this one's */
	bool listed;
	size_t count;
	struct rna_rdma_number {
		char name[64]; /* IB_DEVICE_NAME_MAX */
		uint32_t index;
	} * items;
};

void rna_rdma_numbers_free(struct rna_rdma_numbers *numbers); /* rdma_netlink.c; for RNA_CLEANUP */

enum { RNA_RDMA_NAME_MAX = 64 }; /* IB_DEVICE_NAME_MAX, with the end of the text */

struct rna_rdma_netlink_backend {
	/*
	 * The device that this one is an SMI sub-device of; "": it is a device by itself. The
	 * kernel answers from its own memory. 0, -ENOENT when it cannot be asked, or another
	 * negative errno.
	 */
	int (*find_parent)(struct rna_rdma_numbers *numbers, const char *device,
			   char ret[RNA_RDMA_NAME_MAX]);

	/*
	 * The interface that the kernel names for a port. This is a port query of the driver. 0,
	 * -ENOENT when it names none or cannot be asked, or another negative errno.
	 */
	int (*find_netdev)(struct rna_rdma_numbers *numbers, const char *device, unsigned port,
			   char ret[IF_NAMESIZE]);

	/*
	 * The hw_counters of a port, files and values only, in arena: those of sysfs, and optional
	 * ones that are enabled. One call of the driver, whatever lifespan says. 0,
	 * -ENOENT when it cannot be asked, -EINVAL when the driver has none, -EMSGSIZE when they
	 * are too many for an answer, or another negative errno.
	 */
	int (*get_counters)(struct rna_rdma_numbers *numbers, const char *device, unsigned port,
			    struct rna_arena *arena, struct rna_netlink_counters *ret);

	/*
	 * What the kernel counts of a device, and the contexts that are open, if ret_contexts is
	 * not NULL: the list is empty before and has an arena; that it is whole, own_contexts being
	 * known says. The driver is not asked. 0, -ENOENT when it cannot be asked, or another
	 * negative errno.
	 */
	int (*get_resources)(struct rna_rdma_numbers *numbers, const char *device,
			     struct rna_resource_counts *ret,
			     struct rna_context_list *ret_contexts);

	/*
	 * The optional counters of the port with ret->number, in arena, and which of them are on.
	 * No counter is read. Returns like get_resources; -EINVAL when the port has no counters,
	 * or the kernel (before 5.16) knows of no optional ones.
	 */
	int (*get_optional)(struct rna_rdma_numbers *numbers, const char *device,
			    struct rna_arena *arena, struct rna_port_optional_counters *ret);
};

/* A port as its PortInfo tells it (IBTA 14.2.5.6); codes are those of verbs. */
struct rna_mad_port {
	struct rna_value state;
	struct rna_value physical_state;
	struct rna_value lid;
	struct rna_value sm_lid;
	struct rna_value sm_sl;
	struct rna_value lmc;
	struct rna_value capability_mask;
	struct rna_value capability_mask_2;
	struct rna_value lanes; /* in use, like speed_code */
	struct rna_value lanes_enabled;
	struct rna_value lanes_supported;
	struct rna_value speed_code;
	struct rna_value speed_enabled;
	struct rna_value speed_supported;
	struct rna_value virtual_lanes; /* in operation, without VL15 */
};

/* Counters of a port by the names that sysfs has for them; absent where its PMA has none. */
struct rna_mad_counter {
	const char *file;
	struct rna_value value;
};

enum { RNA_MAD_COUNTERS = 21 };

struct rna_mad_counters {
	/* ClassPortInfo:CapabilityMask of an earlier answer; absent: it is asked for, and set */
	struct rna_value capability;
	struct rna_mad_counter items[RNA_MAD_COUNTERS];
};

/* What a port is asked about its fabric; all but P_Keys are one MAD each. */
enum rna_mad_topic {
	RNA_MAD_PEER_NODE,      /* NodeInfo of what is at the other end of the cable */
	RNA_MAD_PEER_NAME,      /* its NodeDescription */
	RNA_MAD_PEER_PORT,      /* PortInfo of the port that the cable is in */
	RNA_MAD_MANAGER,        /* SMInfo, of the subnet manager */
	RNA_MAD_PKEYS,          /* P_KeyTable */
	RNA_MAD_FEC,            /* PortExtendedSpeedsCounters */
	RNA_MAD_RECEIVE_ERRORS, /* PortRcvErrorDetails */
	RNA_MAD_DISCARDS,       /* PortXmitDiscardDetails */
	RNA_MAD_VL_WAITS,       /* PortVLXmitWaitCounters */
	RNA_MAD_CONGESTION,     /* ClassPortInfo of congestion control */
	RNA_MAD_TOPIC_COUNT,
};

/* A node of the fabric as it tells of itself (IBTA 14.2.5.3), and its port at our cable. */
struct rna_mad_peer {
	struct rna_value type; /* 1 CA, 2 switch, 3 router */
	struct rna_value guid;
	struct rna_value system_image_guid;
	struct rna_value port_guid;   /* of a switch: of its port 0 */
	struct rna_value port_number; /* in which our cable is */
	char name[65];                /* "": not known */
	struct rna_mad_port port;
};

/* IBTA 14.4.1 */
struct rna_mad_manager {
	struct rna_value guid; /* of its port */
	struct rna_value priority;
	struct rna_value state; /* 0 not active, 1 discovering, 2 standby, 3 master */
};

enum { RNA_MAD_PKEYS_MAX = 128 }; /* entries that are looked at: four MADs */

struct rna_mad_pkeys {
	size_t count;
	struct rna_mad_pkey {
		uint16_t index;
		uint16_t key; /* the highest bit: full member */
	} items[RNA_MAD_PKEYS_MAX];
};

enum {
	RNA_MAD_LANES = 4, /* lanes with separate FEC counters: links with FEC have no more */
	RNA_MAD_VIRTUAL_LANES = 15,
	RNA_MAD_DETAILS = 5 + 3 * RNA_MAD_LANES + 6 + 4 + RNA_MAD_VIRTUAL_LANES,
	RNA_MAD_NOT_ASKED = 1, /* a status: not requested, or no agent to query */
};

struct rna_mad_fabric {
	int status[RNA_MAD_TOPIC_COUNT]; /* 0, RNA_MAD_NOT_ASKED, or negative errno */
	struct rna_mad_port port;        /* that was asked */
	struct rna_mad_peer peer;
	struct rna_mad_manager manager;
	struct rna_mad_pkeys pkeys;
	/* of the PMA, like that of struct rna_mad_counters */
	struct rna_value capability;
	struct rna_mad_counter details[RNA_MAD_DETAILS];
	struct rna_value congestion_capability; /* ClassPortInfo:CapabilityMask */
};

struct rna_mad_backend {
	/*
	 * May this port be asked: is it InfiniBand, is there a way to send MADs, and can libibumad
	 * name the device? Looks at two files and sends nothing.
	 */
	bool (*serves)(const struct rna_root *root, const struct rna_device *device, unsigned port);

	/*
	 * The port's own PortInfo, by a directed route of no hops: it stays in the device, and is
	 * answered in any state. 0; -ENOENT when the port may not be asked, or its node in /dev
	 * not opened; -ETIMEDOUT without an answer; or another negative errno.
	 */
	int (*query_port)(const struct rna_root *root, const struct rna_device *device,
			  unsigned port, struct rna_mad_port *ret);

	/* Its counters. Returns like query_port, and -ENETDOWN while it is not ACTIVE. */
	int (*query_counters)(const struct rna_root *root, const struct rna_device *device,
			      unsigned port, struct rna_mad_counters *ret);

	/*
	 * What it says of its fabric: topics are bits by enum rna_mad_topic. ret->capability is
	 * filled beforehand where it is known. Returns like query_port, for its own PortInfo is
	 * asked for first; each topic has a status of its own. When several were not answered, the
	 * others are not asked any more.
	 */
	int (*query_fabric)(const struct rna_root *root, const struct rna_device *device,
			    unsigned port, unsigned topics, struct rna_mad_fabric *ret);
};

/* A PCI function or bridge as hwloc has it. */
struct rna_hwloc_function {
	const char *path;  /* from its host bridge down: "pci0000:3a/0000:3a:00.0/0000:3b:00.0" */
	uint32_t class_id; /* 0 of a host bridge, as all of these */
	uint32_t vendor_id;
	uint32_t device_id;
	int numa_node; /* -1: unknown, or more than one */
	int package;   /* likewise */
	/* What a file has, and a live machine does not: there the OS devices are not asked for. */
	const char *const *netdevs; /* NULL-ended */
	const char *const *devices; /* RDMA devices, NULL-ended */
	unsigned os_devices;        /* of a GPU: 6 where the driver makes six of it */
	const char *model;          /* of a GPU, or NULL */
	const char *uuid;           /* likewise */
};

struct rna_hwloc {
	size_t count;
	const struct rna_hwloc_function *functions;
};

struct rna_hwloc_backend {
	/*
	 * Loads a topology, in arena: of the file if one is named (which is not below the root),
	 * else of the machine. 0; -ENOENT when there is nothing to load, which is normal; or
	 * another negative errno with error, which says what to do.
	 */
	int (*load)(const struct rna_root *root, const char *file, struct rna_arena *arena,
		    struct rna_hwloc *ret, struct rna_error *error);

	/*
	 * The machine as a file of lstopo, in arena, without OS devices. Returns like load. NULL:
	 * that file is what load() reads.
	 */
	int (*write)(const struct rna_root *root, struct rna_arena *arena, char **ret,
		     struct rna_error *error);
};

struct rna_ethtool_question; /* ethtool.h, and how answers are read */

enum { RNA_ETHTOOL_NAME_MAX = 32 }; /* ETH_GSTRING_LEN */

struct rna_ethtool_name {
	char text[RNA_ETHTOOL_NAME_MAX + 1];
};

/* The names of a driver's statistics, in the order of their numbers. */
struct rna_ethtool_names {
	size_t count;
	struct rna_ethtool_name *names;
};

/* What the questions of one run to ethtool netlink have learned of the kernel. */
struct rna_ethtool_talk {
	const struct rna_root *root;
	int family;       /* number of ethtool's, 0 until something is asked; or negative errno */
	bool knows_flags; /* a flag of Linux 5.10 was taken */
};

struct rna_ethtool_backend {
	/*
	 * The message that answers question, in arena. 0; -ENODEV without such an interface;
	 * -EOPNOTSUPP where its driver has no answer, which is normal; or another negative errno.
	 */
	int (*ask)(struct rna_ethtool_talk *talk, const struct rna_ethtool_question *question,
		   const char *netdev, struct rna_arena *arena, struct rna_bytes *ret);

	/*
	 * What "ethtool -S" shows: the names, in arena; and the numbers, count of them. 0; -ESTALE
	 * when there are more or fewer by now: then begin again; or as ask().
	 */
	int (*list_statistics)(const struct rna_root *root, const char *netdev,
			       struct rna_arena *arena, struct rna_ethtool_names *ret);
	int (*read_statistics)(const struct rna_root *root, const char *netdev, size_t count,
			       uint64_t *numbers);
};

struct rna_backends {
	const struct rna_root *root;
	char *hwloc_xml; /* file to take the PCI tree from, or NULL */
	const struct rna_verbs_backend *verbs;
	const struct rna_netdev_backend *netdev;
	const struct rna_dcb_backend *dcb;
	const struct rna_gateway_backend *gateways;
	const struct rna_lldp_backend *lldp;
	const struct rna_rdma_netlink_backend *rdma_netlink;
	const struct rna_mad_backend *mad;
	const struct rna_hwloc_backend *hwloc;
	const struct rna_journal_backend *journal;
	const struct rna_ethtool_backend *ethtool;
	struct rna_backends *quiet; /* see rna_backends_quiet(); NULL: it is that itself */
};

extern const struct rna_verbs_backend rna_verbs;                        /* verbs.c */
extern const struct rna_netdev_backend rna_rtnetlink;                   /* rtnetlink.c */
extern const struct rna_gateway_backend rna_routing_tables;             /* routing_tables.c */
extern const struct rna_gateway_backend rna_recorded_gateways;          /* recorded.c */
extern const struct rna_lldp_backend rna_lldpd;                         /* lldpd.c */
extern const struct rna_lldp_backend rna_recorded_lldp;                 /* lldpd.c */
extern const struct rna_journal_backend rna_journal;                    /* journal.c */
extern const struct rna_journal_backend rna_recorded_journal;           /* journal.c */
extern const struct rna_dcb_backend rna_dcb;                            /* dcb.c */
extern const struct rna_dcb_backend rna_recorded_dcb;                   /* dcb.c */
extern const struct rna_rdma_netlink_backend rna_rdma_netlink;          /* rdma_netlink.c */
extern const struct rna_mad_backend rna_mad;                            /* mad.c */
extern const struct rna_hwloc_backend rna_hwloc;                        /* hwloc.c */
extern const struct rna_hwloc_backend rna_recorded_hwloc;               /* hwloc.c */
extern const struct rna_ethtool_backend rna_ethtool;                    /* ethtool.c */
extern const struct rna_ethtool_backend rna_recorded_ethtool;           /* recorded_ethtool.c */
extern const struct rna_verbs_backend rna_recorded_verbs;               /* recorded.c */
extern const struct rna_netdev_backend rna_recorded_netdev;             /* recorded.c */
extern const struct rna_rdma_netlink_backend rna_recorded_rdma_netlink; /* recorded.c */
extern const struct rna_mad_backend rna_recorded_mad;                   /* recorded_mad.c */
extern const struct rna_verbs_backend rna_quiet_verbs;                  /* quiet.c */
extern const struct rna_rdma_netlink_backend rna_quiet_rdma_netlink;    /* quiet.c */
extern const struct rna_mad_backend rna_quiet_mad;                      /* quiet.c */

/* Answers that are in no recording either. -ENOENT. */
int rna_verbs_query_no_gids(const struct rna_root *root, const struct rna_device *device,
			    struct rna_arena *arena, struct rna_verbs_gids *ret);
int rna_rdma_netlink_get_no_counters(struct rna_rdma_numbers *numbers, const char *device,
				     unsigned port, struct rna_arena *arena,
				     struct rna_netlink_counters *ret);

/*
 * Is there an RDMA stack to ask? libibverbs and RDMA netlink make the kernel load ib_core when
 * there is none, in the middle of a driver reload for example, so nothing calls them before it
 * has looked.
 */
bool rna_backends_stack_exists(const struct rna_root *root);
