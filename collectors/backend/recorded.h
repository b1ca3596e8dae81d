/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that stand for the answers of libraries in a recording: where they are, which there
 * are of each answer, and how the backends of a recorded machine read them. Writing them is the
 * business of record/.
 *
 *	recorded/verbs/DEVICE/ports/N/	rna_recorded_verbs_port. No directory: verbs could not open
 *					the device.
 *	sys/class/net/NAME/		what sysfs has of the interface
 *	recorded/netdev/NAME/		rna_recorded_addresses; lacp_partner, of a bond where no
 *					file of /sys says it
 *	recorded/netdev/NAME/virtual_functions/N/
 *					rna_recorded_vf. Not the bytes of the answer, as others
 *					have it: they are full of addresses.
 *	recorded/vlan/NAME/		id, and egress/N: the priority of socket priority N
 *	recorded/gateways/NAME/N/	rna_recorded_gateway. Of an interface without gateways there
 *					is no directory.
 *	recorded/rails/NAME/N/		rna_recorded_rail_address
 *	recorded/uplink			the interface of the default route
 *	recorded/dcb/NAME/		ieee, cee: what DCB netlink answered, bytes as hex digits
 *					(dcb.c). No file: the driver has no DCB.
 *	recorded/ethtool/NAME/		for each question the message that answered it, as hex
 *					digits; statistics, a line for each: its name, ": ", number
 *	recorded/netlink/DEVICE/ports/N/netdev
 *					the interface that RDMA netlink named, where no file of /sys
 *					says it
 *	recorded/netlink/DEVICE/resources/
 *					how many RDMA objects there were, by kind; own_contexts
 *	recorded/netlink/DEVICE/resources/contexts/PID
 *					how often that process had the device open. A recording of
 *					a node has none: it is about hardware.
 *	recorded/netlink/DEVICE/ports/N/optional/NAME
 *					1: this optional counter was on
 *	recorded/mad/DEVICE/ports/N/	rna_recorded_mad_port and rna_recorded_mad_fabric. No
 *					directory: the port could not be asked.
 *	    counters/NAME		as the PMA had them, where no file of /sys has them
 *	    details/NAME		what no file of /sys ever has, by the names of rna/counter.h
 *	    peer/			there was one; name, rna_recorded_mad_port
 *	    pkeys/N			as files of sysfs are
 *	recorded/kernel_log		messages that the journal had, in the format of /dev/kmsg
 *	recorded/lldp/NETDEV/		rna_recorded_lldp_peer; bridge, where it is a switch
 *	hwloc.xml			what hwloc found, as lstopo exports it
 *
 * A file that is not there is a value that the machine did not have.
 */
#pragma once

#include "backends.h"

#define RNA_RECORDED_VERBS              "recorded/verbs/%s"
#define RNA_RECORDED_NETDEV             "recorded/netdev/%s"
#define RNA_RECORDED_LACP_PARTNER       "lacp_partner"
#define RNA_RECORDED_VFS                "recorded/netdev/%s/virtual_functions"
#define RNA_RECORDED_VLAN               "recorded/vlan/%s"
#define RNA_RECORDED_GATEWAYS           "recorded/gateways/%s"
#define RNA_RECORDED_RAILS              "recorded/rails/%s"
#define RNA_RECORDED_UPLINK             "recorded/uplink"
#define RNA_RECORDED_DCB                "recorded/dcb/%s/%s"
#define RNA_RECORDED_ETHTOOL            "recorded/ethtool/%s/%s"
#define RNA_RECORDED_ETHTOOL_STATISTICS "statistics"
#define RNA_RECORDED_NETLINK            "recorded/netlink/%s/ports/%u/netdev"
#define RNA_RECORDED_PARENT             "recorded/netlink/%s/parent"
#define RNA_RECORDED_RESOURCES          "recorded/netlink/%s/resources"
#define RNA_RECORDED_CONTEXTS           "contexts"
#define RNA_RECORDED_OPTIONAL           "recorded/netlink/%s/ports/%u/optional"
#define RNA_RECORDED_MAD                "recorded/mad/%s/ports/%u"
#define RNA_RECORDED_KERNEL_LOG         "recorded/kernel_log"
#define RNA_RECORDED_LLDP               "recorded/lldp"
#define RNA_RECORDED_HWLOC              "hwloc.xml"

/* What a file holds, and what that is in the answer. */
enum rna_recorded_kind {
	RNA_RECORDED_NUMBER, /* struct rna_value */
	RNA_RECORDED_LANES,  /* the same; the file has the code of the width */
	RNA_RECORDED_GUID,   /* the same; "1070:fd03:0000:0001" */
	RNA_RECORDED_TEXT,   /* const char *, NULL: none */
	RNA_RECORDED_GID,    /* struct rna_gid; must be there */
};

struct rna_recorded_field {
	const char *name; /* of the file */
	size_t offset;    /* in the answer */
	enum rna_recorded_kind kind;
};

struct rna_recorded_fields {
	size_t count;
	const struct rna_recorded_field *items;
};

extern const struct rna_recorded_fields rna_recorded_verbs_port;
extern const struct rna_recorded_fields rna_recorded_addresses;    /* of struct rna_netdev */
extern const struct rna_recorded_fields rna_recorded_gateway;      /* struct rna_gateway */
extern const struct rna_recorded_fields rna_recorded_rail_address; /* struct rna_rail_address */
extern const struct rna_recorded_fields rna_recorded_vf;           /* struct rna_virtual_function */
extern const struct rna_recorded_fields rna_recorded_lldp_peer;    /* struct rna_peer */
extern const struct rna_recorded_fields rna_recorded_mad_port;     /* recorded_mad.c */
extern const struct rna_recorded_fields rna_recorded_mad_fabric;   /* likewise */

/* A directory of the recording, and memory for the paths below it. */
struct rna_recorded_place {
	const struct rna_root *root;
	struct rna_arena *arena;
	const char *directory; /* NULL after -ENOMEM: nothing is found below */
};

/* By a format and its arguments; arena may be NULL after -ENOMEM. */
#define RNA_RECORDED_AT(root, arena, ...)                                                          \
	((struct rna_recorded_place){root, arena,                                                  \
				     (arena) ? rna_arena_printf(arena, __VA_ARGS__) : NULL})

/* NULL: no memory. */
const char *rna_recorded_path(const struct rna_recorded_place *place, const char *name);

/* A number in a file: ok, absent, or unreadable. */
struct rna_value rna_recorded_value(const struct rna_recorded_place *place, const char *name);

/*
 * Fills in the answer from the files of place; texts in its arena. 0, -EBADMSG without a GID that
 * must be there, or -ENOMEM.
 */
int rna_recorded_read(const struct rna_recorded_place *place,
		      const struct rna_recorded_fields *fields, void *answer);

/*
 * The message in a file, as hexadecimal digits; blanks and line ends between them mean nothing. A
 * message that was cut short is for its parser to find. path: NULL: no memory. 0, -EOPNOTSUPP: no
 * file, for the driver had no answer; or another negative errno.
 */
int rna_recorded_message(const struct rna_root *root, const char *path, struct rna_arena *arena,
			 struct rna_bytes *ret);

/*
 * What files tell of an interface, place being its directory: of a recording, or of another network
 * namespace, whose sysfs is all that the agent sees. 0, -ENODEV or -ENOMEM.
 */
int rna_recorded_read_netdev(const struct rna_recorded_place *place, const char *name,
			     struct rna_netdev *ret);
