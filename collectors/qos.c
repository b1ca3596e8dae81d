// SPDX-License-Identifier: Apache-2.0
/*
 * qos: quality of service of RoCE ports: priorities, PFC, ETS, ECN, and VLANs.
 *
 * Most of it is one DCB netlink request to the driver. The rest is in files of some drivers, which
 * are opened by path: once a minute that costs less than keeping descriptors open. The agent writes
 * nothing: a device's directory in configfs is read only if an administrator has created it.
 *
 * Only root can read debugfs. Without that permission congestion control is unknown, which is not a
 * failure.
 */
#include <errno.h>
#include <net/if_arp.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/driver.h"

#include "backend/backends.h"
#include "backend/dcb.h"
#include "parse/representor.h"

#include "collectors.h"

/* Below the directory of an interface, with drivers of NVIDIA's package. */
#define TRUST_FILE "qos/trust"
#define ECN        "ecn/%s" /* of one role: parameters, and a switch for each priority */
#define ECN_ENABLE "enable"

/* Prefix of the upper interfaces in an interface's directory. */
#define UPPER "upper_"

/* RDMA CM in configfs, of a device and port. The agent must not create the directory. */
#define CONFIGFS "sys/kernel/config/rdma_cm/%s/ports/%u"

/* Parameters of congestion control in debugfs, by PCI address. */
#define PARAMETERS "sys/kernel/debug/mlx5/%s/cc_params"

static const char *const ecn_directories[RNA_ECN_COUNT] = {
	[RNA_ECN_NOTIFICATION] = "roce_np",
	[RNA_ECN_REACTION] = "roce_rp",
};

struct run {
	const struct rna_collect_input *in;
	struct rna_part *part;
	struct rna_arena *scratch;
};

/* -- Files ------------------------------------------------------------------------------------- */

static bool is_absent(ssize_t status)
{
	return status == -ENOENT || status == -ENOTDIR || status == -ENODEV;
}

/* Length of the text, or negative errno; a missing file is not counted. path: NULL: no memory */
static ssize_t read_text(struct run *run, const char *path, char *text, size_t size)
{
	ssize_t len = path ? rna_root_read(run->in->root, path, text, size) : -ENOMEM;

	if (len < 0 && !is_absent(len))
		rna_part_count_error(run->part, (int)len);
	return len;
}

static struct rna_value read_number(struct run *run, const char *path)
{
	char text[32];
	uint64_t number = 0;
	ssize_t status = read_text(run, path, text, sizeof(text));

	if (is_absent(status))
		return (struct rna_value){0};
	if (status < 0)
		return rna_value_unreadable();
	status = rna_parse_u64(text, &number);
	if (status == 0)
		return rna_value_ok(number);
	rna_part_count_error(run->part, (int)status);
	return rna_value_unreadable();
}

/* -- DCB --------------------------------------------------------------------------------------- */

/* 0; -EOPNOTSUPP or -ENODEV, which are normal; or another negative errno, which was counted. */
static int ask_dcb(struct run *run, const char *netdev, enum rna_dcb_question question,
		   struct rna_dcb *ret)
{
	struct rna_bytes answer;
	int status =
		run->in->backends->dcb->ask(run->in->root, netdev, question, run->scratch, &answer);

	if (status == 0)
		status = rna_dcb_parse(answer, ret);
	if (status < 0 && status != -EOPNOTSUPP && status != -ENODEV)
		rna_part_count_error(run->part, status);
	return status;
}

/* Drivers with only the older standard do not report PFC in the newer one. */
static struct rna_dcb *read_dcb(struct run *run, const char *netdev)
{
	struct rna_dcb *dcb = rna_arena_alloc(run->part->arena, sizeof(*dcb));
	struct rna_dcb older;

	if (!dcb || ask_dcb(run, netdev, RNA_DCB_IEEE, dcb) < 0)
		return NULL;
	if (!rna_value_is_known(dcb->pfc) && !dcb->has_ets &&
	    ask_dcb(run, netdev, RNA_DCB_CEE, &older) == 0)
		dcb->pfc = older.pfc;
	return dcb;
}

/*
 * mlx5 trusts DSCP exactly while its table has entries; adding entries enables it
 * (drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c). mlnx_qos derives trust in the same way.
 */
static enum rna_trust trust_of(const struct rna_device *device, const struct rna_dcb *dcb)
{
	const struct rna_driver *driver = rna_driver_named(device->driver);

	if (!dcb || dcb->trust != RNA_TRUST_UNKNOWN)
		return dcb ? dcb->trust : RNA_TRUST_UNKNOWN;
	if (!driver || !driver->trusts_table || !rna_value_is_known(dcb->pfc))
		return RNA_TRUST_UNKNOWN;
	return dcb->dscp_count > 0 ? RNA_TRUST_DSCP : RNA_TRUST_PCP;
}

static enum rna_trust read_trust(struct run *run, const char *netdev, const struct rna_dcb *dcb)
{
	char text[32];
	ssize_t len =
		read_text(run,
			  rna_arena_printf(run->scratch, "sys/class/net/%s/%s", netdev, TRUST_FILE),
			  text, sizeof(text));

	if (len < 0)
		return trust_of(run->in->device, dcb);
	if (strcmp(text, "dscp") == 0)
		return RNA_TRUST_DSCP;
	return strcmp(text, "pcp") == 0 ? RNA_TRUST_PCP : RNA_TRUST_UNKNOWN;
}

/* -- Congestion control ------------------------------------------------------------------------ */

/* A mask of priorities; absent if there are no such files. */
static struct rna_value read_ecn(struct run *run, const char *netdev, enum rna_ecn role)
{
	struct rna_value ret = {0};

	for (unsigned priority = 0; priority < RNA_PRIORITY_COUNT; priority++) {
		struct rna_value on =
			read_number(run,
				    rna_arena_printf(run->scratch,
						     "sys/class/net/%s/" ECN "/" ECN_ENABLE "/%u",
						     netdev, ecn_directories[role], priority));

		if (on.state != RNA_VALUE_OK)
			return on;
		ret.state = RNA_VALUE_OK;
		ret.number |= (uint64_t)(on.number != 0) << priority;
	}
	return ret;
}

/* Parameters found so far, in scratch memory. */
struct parameters {
	size_t count;
	struct rna_qos_parameter items[RNA_QOS_PARAMETERS_MAX];
};

/* NVIDIA's package has the same parameters in both places. */
static bool has_parameter(const struct parameters *parameters, const char *name)
{
	return RNA_ANY(i, parameters->count, strcmp(parameters->items[i].name, name) == 0);
}

/* Treats an unreadable directory as missing. 0 or -ENOMEM. */
static int add_parameters(struct run *run, const char *directory, const char *prefix,
			  struct parameters *parameters)
{
	char **names;
	ssize_t count =
		directory ? rna_root_list(run->in->root, directory, run->scratch, &names) : -ENOMEM;

	for (ssize_t i = 0; i < count && parameters->count < RNA_QOS_PARAMETERS_MAX; i++) {
		struct rna_qos_parameter *parameter = &parameters->items[parameters->count];

		if (strcmp(names[i], ECN_ENABLE) == 0)
			continue;
		parameter->name = rna_arena_printf(run->part->arena, "%s%s", prefix, names[i]);
		if (!parameter->name)
			return -ENOMEM;
		if (has_parameter(parameters, parameter->name))
			continue;
		parameter->value = read_number(run, rna_arena_printf(run->scratch, "%s/%s",
								     directory, names[i]));
		parameters->count++;
	}
	return count == -ENOMEM ? -ENOMEM : 0;
}

static const char *parameter_directory(struct run *run)
{
	const struct rna_device *device = run->in->device;

	return rna_arena_printf(run->scratch, PARAMETERS,
				device->pci_address ? device->pci_address : "none");
}

static const char *ecn_directory(struct run *run, const char *netdev, enum rna_ecn role)
{
	return rna_arena_printf(run->scratch, "sys/class/net/%s/" ECN, netdev,
				ecn_directories[role]);
}

/* The upstream driver has them in debugfs, NVIDIA's package beside the ECN switches. */
static int read_parameters(struct run *run, struct rna_qos_port *port)
{
	static const char *const prefixes[RNA_ECN_COUNT] = {"np_", "rp_"};
	struct parameters *found = rna_arena_alloc(run->scratch, sizeof(*found));
	int status = found ? add_parameters(run, parameter_directory(run), "", found) : -ENOMEM;
	struct rna_qos_parameter *copy;

	for (enum rna_ecn role = 0; status == 0 && role < RNA_ECN_COUNT; role++)
		status = add_parameters(run, ecn_directory(run, port->netdev, role), prefixes[role],
					found);
	if (status < 0 || found->count == 0)
		return status;
	copy = rna_arena_array(run->part->arena, found->count, sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	memcpy(copy, found->items, found->count * sizeof(*copy));
	port->parameters = copy;
	port->parameter_count = found->count;
	return 0;
}

/* Defaults of RDMA CM, for applications that do not choose. */
static int read_defaults(struct run *run, struct rna_qos_port *port)
{
	const char *directory =
		rna_arena_printf(run->scratch, CONFIGFS, run->in->device->name, port->number);
	char text[32];

	if (!directory)
		return -ENOMEM;
	port->default_tos =
		read_number(run, rna_arena_printf(run->scratch, "%s/default_roce_tos", directory));
	if (read_text(run, rna_arena_printf(run->scratch, "%s/default_roce_mode", directory), text,
		      sizeof(text)) <= 0)
		return 0;
	port->default_mode = rna_arena_strdup(run->part->arena, text);
	return port->default_mode ? 0 : -ENOMEM;
}

/* -- VLANs ------------------------------------------------------------------------------------- */

static int read_vlan(struct run *run, const char *name, struct rna_qos_vlan *ret)
{
	int error = run->in->backends->netdev->read_vlan(run->in->root, name, ret);

	if (error < 0 && error != -ENOENT && error != -ENODEV)
		rna_part_count_error(run->part, error);
	if (error < 0)
		return error;
	ret->netdev = rna_arena_strdup(run->part->arena, name);
	return ret->netdev ? 0 : -ENOMEM;
}

/* An interface's directory lists its upper interfaces: VLANs, but also macvlans and bonds. */
static int read_vlans(struct run *run, const char *netdev, struct rna_qos_port *port)
{
	const char *directory = rna_arena_printf(run->scratch, "sys/class/net/%s", netdev);
	struct rna_qos_vlan *vlans =
		rna_arena_array(run->scratch, RNA_QOS_VLANS_MAX, sizeof(*vlans));
	size_t prefix = strlen(UPPER);
	struct rna_qos_vlan *copy;
	char **names;
	ssize_t count = -ENOMEM;

	if (directory && vlans)
		count = rna_root_list(run->in->root, directory, run->scratch, &names);
	for (ssize_t i = 0; i < count && port->vlan_count < RNA_QOS_VLANS_MAX; i++)
		if (strncmp(names[i], UPPER, prefix) == 0 &&
		    read_vlan(run, names[i] + prefix, &vlans[port->vlan_count]) == 0)
			port->vlan_count++;
	if (count == -ENOMEM || port->vlan_count == 0)
		return count == -ENOMEM ? -ENOMEM : 0;
	copy = rna_arena_array(run->part->arena, port->vlan_count, sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	memcpy(copy, vlans, port->vlan_count * sizeof(*vlans));
	port->vlans = copy;
	return 0;
}

/* -- Ports ------------------------------------------------------------------------------------- */

/* The Ethernet interface of a port; NULL: none. */
static const struct rna_netdev *find_netdev(const struct run *run, unsigned port)
{
	struct rna_netdev_search search = {.netdevs = run->in->netdevs};
	const struct rna_port_netdev *found =
		rna_netdev_search_port(&search, run->in->device->name, port);
	const struct rna_netdev *netdev =
		found ? rna_netdev_search_name(&search, found->netdev) : NULL;

	return netdev && netdev->type == ARPHRD_ETHER ? netdev : NULL;
}

static const struct rna_netdev *next_member(const struct run *run, const struct rna_netdev *netdev,
					    size_t *from)
{
	if (!netdev->bond)
		return NULL;
	return rna_netdevs_next_member(run->in->netdevs, netdev->name, run->in->device, from);
}

static int read_netdev(struct run *run, const char *netdev, struct rna_qos_port *port)
{
	port->netdev = rna_arena_strdup(run->part->arena, netdev);
	if (!port->netdev)
		return -ENOMEM;
	port->dcb = read_dcb(run, netdev);
	port->trust = read_trust(run, netdev, port->dcb);
	for (enum rna_ecn role = 0; role < RNA_ECN_COUNT; role++)
		port->ecn[role] = read_ecn(run, netdev, role);
	return 0;
}

/* The interface of port 1 has dev_port 0, as have those of functions with one port each. */
static bool is_of_port(struct run *run, const char *netdev, unsigned number)
{
	const char *path = rna_arena_printf(run->scratch, "sys/class/net/%s/dev_port", netdev);
	struct rna_value dev_port = read_number(run, path);

	return !rna_value_is_known(dev_port) || dev_port.number + 1 == number ||
	       run->in->device->port_count == 1;
}

/*
 * A device in a pod's network namespace sends through the physical port all the same, and what
 * holds for that is configured at its interface on the host: DCB is of the physical function, and
 * neither a virtual function nor a macvlan has any of its own. NULL: it is not on the host.
 */
static const char *find_uplink(struct run *run, unsigned number)
{
	const struct rna_device *device = run->in->device;
	const char *function =
		device->physical_function ? device->physical_function : device->pci_address;
	const char *path =
		function ? rna_arena_printf(run->scratch, "sys/bus/pci/devices/%s/net", function)
			 : NULL;
	char **names = NULL;
	ssize_t count = path ? rna_root_list(run->in->root, path, run->scratch, &names) : 0;

	for (ssize_t i = 0; i < count; i++)
		if (!rna_is_representor(run->in->root, names[i], run->scratch) &&
		    is_of_port(run, names[i], number))
			return names[i];
	return NULL;
}

static int read_uplink(struct run *run, unsigned number, struct rna_qos_port *port)
{
	const char *netdev = find_uplink(run, number);
	int status = netdev ? read_netdev(run, netdev, port) : 0;

	if (netdev && status == 0)
		status = read_defaults(run, port);
	return netdev && status == 0 ? read_parameters(run, port) : status;
}

/* VLANs are on top of the bond; everything else belongs to its members. */
static const char *name_on_top(const struct rna_netdev *netdev)
{
	return !netdev->bond && netdev->master ? netdev->master : netdev->name;
}

static int read_port(struct run *run, unsigned number, struct rna_qos *qos,
		     struct rna_qos_port *ports)
{
	const struct rna_netdev *netdev = find_netdev(run, number), *member = NULL;
	struct rna_qos_port *port = &ports[qos->port_count++];
	size_t from = 0;
	int status;

	port->number = number;
	if (run->in->device->process)
		return read_uplink(run, number, port);
	if (netdev)
		member = next_member(run, netdev, &from);
	if (!netdev || (member ? member : netdev)->representor)
		return 0;
	status = read_netdev(run, member ? member->name : netdev->name, port);
	if (status == 0)
		status = read_defaults(run, port);
	if (status == 0)
		status = read_parameters(run, port);
	if (status == 0)
		status = read_vlans(run, name_on_top(netdev), port);
	while (status == 0 && (member = next_member(run, netdev, &from))) {
		ports[qos->port_count] = *port; /* copies the data of the port to each member */
		status = read_netdev(run, member->name, &ports[qos->port_count++]);
	}
	return status;
}

/* The maximum number of entries: each interface is in at most one bond. */
static size_t most_ports(const struct run *run)
{
	const struct rna_device *device = run->in->device;

	return device->port_count * (1 + (run->in->netdevs ? run->in->netdevs->count : 0));
}

static int read_ports(struct run *run, struct rna_qos *qos)
{
	const struct rna_device *device = run->in->device;
	struct rna_qos_port *ports = rna_arena_array(run->scratch, most_ports(run), sizeof(*ports));
	struct rna_qos_port *kept;
	int status = ports ? 0 : -ENOMEM;

	for (size_t i = 0; status == 0 && i < device->port_count; i++)
		status = read_port(run, device->ports[i], qos, ports);
	if (status < 0)
		return status;
	kept = rna_arena_array(run->part->arena, qos->port_count, sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	if (qos->port_count > 0)
		memcpy(kept, ports, qos->port_count * sizeof(*kept));
	qos->ports = kept;
	return 0;
}

RNA_DEFINE_COLLECT(qos, QOS, struct rna_qos, 128, 32 * 1024, "cannot read quality of service",
		   read_ports(&(struct run){.in = in, .part = &part->part, .scratch = scratch},
			      part))
