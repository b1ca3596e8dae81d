// SPDX-License-Identifier: Apache-2.0
/* Ports: their link, what is expected of them, and their network interfaces. */
#include "rna/model/topology.h"

#include "view/facts.h"

#include "family_rows.h"

/* -- In words ---------------------------------------------------------------------------------- */

static const char *link_layer(const void *subject)
{
	enum rna_link_layer layer = ((const struct rna_subject *)subject)->link_layer;

	return layer == RNA_LINK_LAYER_UNKNOWN ? NULL : rna_link_layer_name(layer);
}

static const char *netdev_source(const void *subject)
{
	const struct rna_subject *port = subject;

	return port->netdev ? rna_netdev_source_name(port->port_netdev->source) : NULL;
}

/* The MAC address of the switch at the other end of a bond. */
static const char *lacp_partner(const void *subject)
{
	const struct rna_subject *port = subject;
	const struct rna_netdev *bond =
		rna_netdevs_bond_of(rna_snapshot_netdevs(port->view->snapshot), port->netdev);

	return bond && !rna_lacp_has_no_partner(&bond->lacp) ? bond->lacp.partner : NULL;
}

static const char *operstate(const void *subject)
{
	const struct rna_netdev *netdev = ((const struct rna_subject *)subject)->netdev;

	return netdev ? rna_operstate_name(netdev->operstate) : NULL;
}

static const char *expected(const void *subject)
{
	const struct rna_view_port *account = ((const struct rna_subject *)subject)->account;

	if (!account || account->expectation.expected == RNA_EXPECTED_UNKNOWN)
		return NULL;
	return account->expectation.expected == RNA_EXPECTED_UP ? "up" : "down";
}

static const char *expectation_reason(const void *subject)
{
	const struct rna_view_port *account = ((const struct rna_subject *)subject)->account;

	return account ? rna_expectation_reason_name(account->expectation.reason) : NULL;
}

/* Links are named by their bits, in powers of ten; 2.5 is the only one with a fraction. */
static const char *rate(const void *subject, char scratch[RNA_FIELD_TEXT_MAX])
{
	struct rna_value bytes = rna_port_rate(subject);

	if (!rna_value_is_known(bytes))
		return NULL;
	(void)snprintf(scratch, RNA_FIELD_TEXT_MAX, "%.6g Gb/s", (double)bytes.number * 8 / 1e9);
	return scratch;
}

static const char *width(const void *subject, char scratch[RNA_FIELD_TEXT_MAX])
{
	struct rna_value lanes = rna_port_width(subject);

	if (!rna_value_is_known(lanes))
		return NULL;
	(void)snprintf(scratch, RNA_FIELD_TEXT_MAX, "%juX", (uintmax_t)lanes.number);
	return scratch;
}

static const char *speed(const void *subject)
{
	const struct rna_subject *port = subject;

	return rna_value_is_known(rna_port_speed_code(port)) ? port->link->speed_name : NULL;
}

/* -- Planes ------------------------------------------------------------------------------------ */

static const struct rna_link *link_with_planes(const struct rna_subject *port)
{
	const struct rna_link *link = rna_device_link(port->device);

	return link && link->plane_count > 0 && port->port == link->ports[0].number ? link : NULL;
}

static struct rna_value planes(const struct rna_subject *port)
{
	const struct rna_link *link = link_with_planes(port);

	return link ? rna_value_ok(link->plane_count) : rna_no_value;
}

static struct rna_value planes_up(const struct rna_subject *port)
{
	return rna_link_planes_up(link_with_planes(port));
}

static const char *smi_device(const void *subject)
{
	const struct rna_device *device = ((const struct rna_subject *)subject)->device->device;

	return device->smi ? device->smi->name : NULL;
}

/* JSON has it as a number; the metric is rdma_port_rail_info. */
static struct rna_value rail(const void *subject)
{
	const struct rna_subject *port = subject;
	const struct rna_topology *topology = rna_snapshot_topology(port->view->snapshot);
	const struct rna_nic *nic =
		topology ? rna_topology_find_nic(topology, port->device->device) : NULL;

	return nic && nic->rail >= 0 ? rna_value_ok((unsigned)nic->rail) : rna_no_value;
}

/* -- Expectations and transitions -------------------------------------------------------------- */

static void expected_up(const struct rna_subject *port, struct rna_writer *writer)
{
	const struct rna_view_port *account = port->account;

	if (account)
		rna_writer_sample_with(writer, port->labels, "reason",
				       rna_expectation_reason_name(account->expectation.reason),
				       account->expectation.expected == RNA_EXPECTED_UP);
}

static void transitions(const struct rna_subject *port, struct rna_writer *writer)
{
	if (!port->account)
		return;
	rna_writer_sample_with(writer, port->labels, "direction", "down",
			       port->account->history.downs);
	rna_writer_sample_with(writer, port->labels, "direction", "up", port->account->history.ups);
}

/* -- Network interfaces ------------------------------------------------------------------------ */

static struct rna_value netdev_up(const struct rna_subject *port)
{
	/* UNKNOWN is not down: the driver does not say (Documentation/networking/operstates.rst) */
	if (!port->netdev || port->netdev->operstate == RNA_OPER_UNKNOWN)
		return rna_no_value;
	return rna_family_yes_or_no(port->netdev->operstate == RNA_OPER_UP);
}

static struct rna_value netdev_speed(const struct rna_subject *port)
{
	struct rna_value speed = port->netdev ? port->netdev->speed : rna_no_value;

	speed.number /= 8; /* bits to bytes */
	return speed;
}

/* -- The tables -------------------------------------------------------------------------------- */

/* -- Traffic of the only user ------------------------------------------------------------------ */

#define USER_LABELS "direction, namespace, pod, container, job, uid, unit"

static void write_traffic(const struct rna_subject *port, const char *direction,
			  enum rna_user_traffic_id id, struct rna_writer *writer)
{
	const struct rna_user_traffic *traffic = port->account ? port->account->user_traffic : NULL;
	const struct rna_users *users = rna_device_users(port->device);
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;
	const struct rna_user *user;

	if (!port->view->metrics.users || !traffic || !users || users->count != 1 ||
	    !rna_value_is_known(traffic->of[id]))
		return;
	user = users->items;
	rna_labels_begin(&labels, port->labels);
	rna_label_add(&labels, "direction", direction);
	rna_label_add(&labels, "namespace", user->namespace);
	rna_label_add(&labels, "pod", user->pod);
	rna_label_add(&labels, "container", user->container);
	rna_label_add(&labels, "job", user->job);
	if (rna_value_is_known(user->uid))
		rna_label_add_number(&labels, "uid", user->uid.number);
	rna_label_add(&labels, "unit", user->unit);
	rna_writer_sample_labels(writer, &labels, traffic->of[id].number);
}

static void user_bytes(const struct rna_subject *port, struct rna_writer *writer)
{
	write_traffic(port, "received", RNA_USER_BYTES_RECEIVED, writer);
	write_traffic(port, "transmitted", RNA_USER_BYTES_TRANSMITTED, writer);
}

static void user_packets(const struct rna_subject *port, struct rna_writer *writer)
{
	write_traffic(port, "received", RNA_USER_PACKETS_RECEIVED, writer);
	write_traffic(port, "transmitted", RNA_USER_PACKETS_TRANSMITTED, writer);
}

/* clang-format off */
static const struct rna_family port_rows[] = {
	{JSON("port", RNA_FIELD_IN(struct rna_subject, port), .zero_is_none = true,
	      .column = "PORT", .right = true)},
	METRIC(PORT, "rdma_port_info", INFO, PLAIN, GET(rna_family_one),
	       "Port with its link layer, GUID and network interface."),
	{BOTH("link_layer", .text = link_layer, .column = "LINK")},
	{BOTH("netdev", BEHIND(netdev, name), .column = "NETDEV")},
	{JSON("former_netdev", BEHIND(account, netdev.text))},
	{JSON("netdev_renamed", BEHIND(account, netdev.changed), .time = true,
	      .zero_is_none = true)},
	{BOTH("netdev_master", BEHIND(netdev, master))},
	{BOTH("netdev_source", .text = netdev_source)},
	{BOTH("lacp_partner", .text = lacp_partner)},
	{BOTH("port_guid", BEHIND(port_identity, port_guid))},
	{BOTH("pci_address", BEHIND(rdma_device, pci_address))},
	METRIC(PORT, "rdma_port_up", GAUGE, YES_NO, GET(rna_port_up),
	       "1 if the port's link carries traffic (state ACTIVE or ACTIVE_DEFER), 0 otherwise. For"
	       " EFA, which always reports ACTIVE: 0 if the device answers no query."),
	METRIC(PORT, "rdma_port_expected_up", GAUGE, YES_NO, EACH(expected_up, "reason"),
	       "1 if the port is expected to be up, 0 otherwise or if unknown. Reason: configured,"
	       " accepted, remembered, siblings, unwired."),
	METRIC(PORT, "rdma_user_bytes_total", COUNTER, BYTES, EACH(user_bytes, USER_LABELS),
	       "Data bytes that the port transmitted or received since its device has this user and "
	       "no other, with the names of rdma_device_user_info. Absent if several processes of "
	       "different users have the device open. Requires metrics.users."),
	METRIC(PORT, "rdma_user_packets_total", COUNTER, PLAIN, EACH(user_packets, USER_LABELS),
	       "The same for packets."),
	METRIC(PORT, "rdma_port_transitions_total", COUNTER, PLAIN, EACH(transitions, "direction"),
	       "Transitions of the port to up or down since the agent started, observed or derived"
	       " from a counter."),
	METRIC(PORT, "rdma_port_last_transition_timestamp_seconds", GAUGE, SECONDS,
	       AT(account, history.last.realtime, .zero_is_none = true),
	       "Unix time of the port's last transition to up or down. Absent before the first "
	       "one."),
	METRIC(PORT, "rdma_port_state_id", GAUGE, PLAIN,
	       AT(state, state, .json = "state", .word = rna_port_state_name, .column = "STATE"),
	       "Logical state of the port (1 DOWN, 2 INIT, 3 ARMED, 4 ACTIVE, 5 ACTIVE_DEFER)."),
	METRIC(PORT, "rdma_port_physical_state_id", GAUGE, PLAIN,
	       AT(state, physical_state, .json = "physical_state",
		  .word = rna_physical_state_name, .column = "PHYSICAL"),
	       "Physical state of the port (1 Sleep, 2 Polling, 3 Disabled, 4 Training, 5 LinkUp, "
	       "6 Recovery, 7 Test)."),
	METRIC(PORT, "rdma_port_rate_bytes_per_second", GAUGE, BYTES_PER_SEC,
	       GET_SHOWN(rna_port_rate, .print = rate, .column = "RATE", .right = true),
	       "Data rate of the link in bytes per second. Absent while the port is down."),
	DETAIL(PORT, "rdma_port_width_lanes", GAUGE, PLAIN,
	       GET_SHOWN(rna_port_width, .print = width, .column = "WIDTH", .right = true),
	       "Active width of the link in lanes. Absent while the port is down."),
	DETAIL(PORT, "rdma_port_speed_code", GAUGE, PLAIN,
	       GET_SHOWN(rna_port_speed_code, .text = speed, .json = "speed", .column = "SPEED"),
	       "Active speed of a lane (1 SDR, 2 DDR, 4 QDR, 8 FDR10, 16 FDR, 32 EDR, 64 HDR, 128 "
	       "NDR, 256 XDR). Absent while the port is down."),
	{JSON("expected", .text = expected, .column = "EXPECTED")},
	{JSON("expectation_reason", .text = expectation_reason)},
	METRIC(PORT, "rdma_port_planes", GAUGE, PLAIN, GET(planes),
	       "Planes of the port of a multi-plane InfiniBand card. Absent on other ports."),
	METRIC(PORT, "rdma_port_planes_up", GAUGE, PLAIN, GET(planes_up),
	       "Planes of the port of a multi-plane InfiniBand card that are up. Absent if the state "
	       "of one is unknown."),
	{JSON("smi_device", .text = smi_device)},
	{JSON("rail", .number = rail)},
	DETAIL(PORT, "rdma_port_width_supported_lanes", GAUGE, PLAIN, AT(link, width_supported),
	       "Largest link width that the port supports, in lanes. InfiniBand only, read by MAD."),
	DETAIL(PORT, "rdma_port_width_enabled_lanes", GAUGE, PLAIN, AT(link, width_enabled),
	       "Largest link width enabled on the port, in lanes. InfiniBand only, read by MAD."),
	DETAIL(PORT, "rdma_port_speed_supported_code", GAUGE, PLAIN, AT(link, speed_supported),
	       "Highest lane speed that the port supports, in the codes of rdma_port_speed_code. "
	       "InfiniBand only, read by MAD."),
	DETAIL(PORT, "rdma_port_speed_enabled_code", GAUGE, PLAIN, AT(link, speed_enabled),
	       "Highest lane speed enabled on the port, in the codes of rdma_port_speed_code. "
	       "InfiniBand only, read by MAD."),
	METRIC(PORT, "rdma_port_active_mtu_bytes", GAUGE, BYTES,
	       AT(link, active_mtu, .column = "MTU", .right = true),
	       "RDMA MTU in use on the port, in bytes."),
	DETAIL(PORT, "rdma_port_max_mtu_bytes", GAUGE, BYTES, AT(link, max_mtu),
	       "Largest RDMA MTU that the port supports, in bytes."),
	DETAIL(PORT, "rdma_port_lid", GAUGE, PLAIN,
	       AT(link, lid, .column = "LID", .right = true),
	       "Local identifier (LID) that the subnet manager assigned to the port."),
	DETAIL(PORT, "rdma_port_sm_lid", GAUGE, PLAIN, AT(link, sm_lid),
	       "Local identifier (LID) of the subnet manager."),
	DETAIL(PORT, "rdma_port_lmc", GAUGE, PLAIN, AT(link, lmc),
	       "LID mask control (LMC): the port answers to 2^LMC LIDs."),
	DETAIL(PORT, "rdma_port_capability_mask", GAUGE, PLAIN, AT(link, capability_mask),
	       "Capability mask of the port as a number (IBTA PortInfo:CapabilityMask)."),
};

static const struct rna_family interface_rows[] = {
	DETAIL(PORT, "rdma_port_netdev_up", GAUGE, YES_NO,
	       GET_SHOWN(netdev_up, .text = operstate, .column = "OPER"),
	       "1 if the port's network interface is operational, 0 otherwise."),
	DETAIL(PORT, "rdma_port_netdev_carrier", GAUGE, YES_NO, AT(netdev, carrier),
	       "1 if the port's network interface has a carrier, 0 otherwise."),
	DETAIL(PORT, "rdma_port_netdev_mtu_bytes", GAUGE, BYTES, AT(netdev, mtu),
	       "MTU of the port's network interface in bytes."),
	DETAIL(PORT, "rdma_port_netdev_speed_bytes_per_second", GAUGE, BYTES_PER_SEC,
	       GET(netdev_speed),
	       "Speed of the port's network interface in bytes per second."),
	METRIC(PORT, "rdma_port_netdev_carrier_up_total", COUNTER, PLAIN, AT(netdev, carrier_up),
	       "Times the port's network interface gained its carrier."),
	METRIC(PORT, "rdma_port_netdev_carrier_down_total", COUNTER, PLAIN,
	       AT(netdev, carrier_down),
	       "Times the port's network interface lost its carrier."),
};
/* clang-format on */

const struct rna_family_table rna_port_table = {ROWS(port_rows)};
const struct rna_family_table rna_interface_table = {ROWS(interface_rows)};
