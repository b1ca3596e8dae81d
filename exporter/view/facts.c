// SPDX-License-Identifier: Apache-2.0
/* Facts: what is known about a device, a port or a GID, in words. */
#include "facts.h"

static const char *print_value(char scratch[RNA_FACT_MAX], struct rna_value value)
{
	if (!rna_value_is_known(value))
		return NULL;
	(void)snprintf(scratch, RNA_FACT_MAX, "%ju", (uintmax_t)value.number);
	return scratch;
}

static const char *print_pci_id(char scratch[RNA_FACT_MAX], uint32_t id)
{
	if (id == 0)
		return NULL;
	(void)snprintf(scratch, RNA_FACT_MAX, "0x%04x", id);
	return scratch;
}

/* Facts that are a member of a struct, and nothing more. */
#define TEXT_MEMBER(linkage, name, object, member)                                                 \
	linkage const char *name(const struct rna_subject *subject, char scratch[RNA_FACT_MAX])    \
	{                                                                                          \
		(void)scratch;                                                                     \
		return subject->object ? subject->object->member : NULL;                           \
	}

TEXT_MEMBER(, rna_fact_device, device, device->name)
TEXT_MEMBER(, rna_fact_pci_address, device, device->pci_address)
TEXT_MEMBER(, rna_fact_driver, device, device->driver)
TEXT_MEMBER(static, physical_function, device, device->physical_function)
TEXT_MEMBER(, rna_fact_hca_type, identity, hca_type)
TEXT_MEMBER(, rna_fact_board_id, identity, board_id)
TEXT_MEMBER(, rna_fact_firmware_version, identity, firmware_version)
TEXT_MEMBER(static, hardware_revision, identity, hardware_revision)
TEXT_MEMBER(, rna_fact_node_guid, identity, node_guid)
TEXT_MEMBER(static, system_image_guid, identity, system_image_guid)
TEXT_MEMBER(, rna_fact_node_description, identity, node_description)
TEXT_MEMBER(, rna_fact_port_guid, port_identity, port_guid)
TEXT_MEMBER(, rna_fact_netdev, netdev, name)
TEXT_MEMBER(, rna_fact_gid_netdev, gid, netdev)
TEXT_MEMBER(, rna_fact_peer, peer, name)
TEXT_MEMBER(, rna_fact_peer_port, peer, port)
TEXT_MEMBER(static, netdev_master, netdev, master)

const char *rna_fact_function(const struct rna_subject *subject, char scratch[RNA_FACT_MAX])
{
	(void)scratch;
	return rna_function_name(subject->device->device->function);
}

static const char *vendor_id(const struct rna_subject *subject, char scratch[RNA_FACT_MAX])
{
	return print_pci_id(scratch, subject->device->device->vendor_id);
}

static const char *device_id(const struct rna_subject *subject, char scratch[RNA_FACT_MAX])
{
	return print_pci_id(scratch, subject->device->device->device_id);
}

const char *rna_fact_numa_node(const struct rna_subject *subject, char scratch[RNA_FACT_MAX])
{
	int node = subject->device->device->numa_node;

	return node < 0 ? NULL : print_value(scratch, rna_value_ok((unsigned)node));
}

static const char *node_type(const struct rna_subject *subject, char scratch[RNA_FACT_MAX])
{
	(void)scratch;
	if (!subject->identity || subject->identity->node_type == RNA_NODE_TYPE_UNKNOWN)
		return NULL;
	return rna_node_type_name(subject->identity->node_type);
}

const char *rna_fact_port(const struct rna_subject *subject, char scratch[RNA_FACT_MAX])
{
	return subject->port ? print_value(scratch, rna_value_ok(subject->port)) : NULL;
}

const char *rna_fact_link_layer(const struct rna_subject *subject, char scratch[RNA_FACT_MAX])
{
	(void)scratch;
	if (subject->link_layer == RNA_LINK_LAYER_UNKNOWN)
		return NULL;
	return rna_link_layer_name(subject->link_layer);
}

static const char *netdev_source(const struct rna_subject *subject, char scratch[RNA_FACT_MAX])
{
	(void)scratch;
	if (!subject->netdev)
		return NULL;
	return rna_netdev_source_name(subject->port_netdev->source);
}

const char *rna_fact_state(const struct rna_subject *subject, char scratch[RNA_FACT_MAX])
{
	(void)scratch;
	if (!subject->state || !rna_value_is_known(subject->state->state))
		return NULL;
	return rna_port_state_name(subject->state->state.number);
}

const char *rna_fact_physical_state(const struct rna_subject *subject, char scratch[RNA_FACT_MAX])
{
	(void)scratch;
	if (!subject->state || !rna_value_is_known(subject->state->physical_state))
		return NULL;
	return rna_physical_state_name(subject->state->physical_state.number);
}

const char *rna_fact_width(const struct rna_subject *subject, char scratch[RNA_FACT_MAX])
{
	struct rna_value width = rna_port_width(subject);

	if (!rna_value_is_known(width))
		return NULL;
	(void)snprintf(scratch, RNA_FACT_MAX, "%juX", (uintmax_t)width.number);
	return scratch;
}

const char *rna_fact_speed(const struct rna_subject *subject, char scratch[RNA_FACT_MAX])
{
	(void)scratch;
	return rna_value_is_known(rna_port_speed_code(subject)) ? subject->link->speed_name : NULL;
}

const char *rna_fact_rate(const struct rna_subject *subject, char scratch[RNA_FACT_MAX])
{
	struct rna_value rate = rna_port_rate(subject);

	if (!rna_value_is_known(rate))
		return NULL;
	/* links are named by their bits, in powers of ten; 2.5 is the only one with a fraction */
	(void)snprintf(scratch, RNA_FACT_MAX, "%.6g Gb/s", (double)rate.number * 8 / 1e9);
	return scratch;
}

const char *rna_fact_mtu(const struct rna_subject *subject, char scratch[RNA_FACT_MAX])
{
	return subject->link ? print_value(scratch, subject->link->active_mtu) : NULL;
}

const char *rna_fact_lid(const struct rna_subject *subject, char scratch[RNA_FACT_MAX])
{
	return subject->link ? print_value(scratch, subject->link->lid) : NULL;
}

const char *rna_fact_operstate(const struct rna_subject *subject, char scratch[RNA_FACT_MAX])
{
	(void)scratch;
	return subject->netdev ? rna_operstate_name(subject->netdev->operstate) : NULL;
}

const char *rna_fact_expected(const struct rna_subject *subject, char scratch[RNA_FACT_MAX])
{
	(void)scratch;
	if (!subject->account || subject->account->expectation.expected == RNA_EXPECTED_UNKNOWN)
		return NULL;
	return subject->account->expectation.expected == RNA_EXPECTED_UP ? "up" : "down";
}

const char *rna_fact_expectation_reason(const struct rna_subject *subject,
					char scratch[RNA_FACT_MAX])
{
	(void)scratch;
	if (!subject->account)
		return NULL;
	return rna_expectation_reason_name(subject->account->expectation.reason);
}

const char *rna_fact_gid_index(const struct rna_subject *subject, char scratch[RNA_FACT_MAX])
{
	return print_value(scratch, rna_value_ok(subject->gid->index));
}

const char *rna_fact_gid(const struct rna_subject *subject, char scratch[RNA_FACT_MAX])
{
	_Static_assert((int)RNA_FACT_MAX >= (int)RNA_GID_TEXT_MAX, "a GID is a fact");
	rna_gid_format(&subject->gid->gid, scratch);
	return scratch;
}

const char *rna_fact_gid_type(const struct rna_subject *subject, char scratch[RNA_FACT_MAX])
{
	(void)scratch;
	return rna_gid_type_name(subject->gid->type);
}

const char *rna_fact_gid_version(const struct rna_subject *subject, char scratch[RNA_FACT_MAX])
{
	(void)scratch;
	switch (subject->gid->type) {
	case RNA_GID_TYPE_ROCE_V1:
		return "v1";
	case RNA_GID_TYPE_ROCE_V2:
		return "v2";
	case RNA_GID_TYPE_IB:
		return rna_gid_type_name(RNA_GID_TYPE_IB);
	default:
		return NULL;
	}
}

static const char *gid_family(const struct rna_subject *subject, char scratch[RNA_FACT_MAX])
{
	(void)scratch;
	return rna_gid_family_name(rna_gid_family(&subject->gid->gid));
}

const char *rna_fact_gid_ipv4(const struct rna_subject *subject, char scratch[RNA_FACT_MAX])
{
	return rna_gid_ipv4(&subject->gid->gid, scratch) ? scratch : NULL;
}

bool rna_gid_is_nccl(const struct rna_subject *gid)
{
	return gid->nccl_index.state == RNA_VALUE_OK && gid->nccl_index.number == gid->gid->index;
}

const char *rna_fact_gid_nccl(const struct rna_subject *subject, char scratch[RNA_FACT_MAX])
{
	(void)scratch;
	return rna_gid_is_nccl(subject) ? "yes" : NULL;
}

bool rna_port_is_expected(const struct rna_subject *port)
{
	return port->account && port->account->expectation.expected == RNA_EXPECTED_UP;
}

bool rna_port_is_down(const struct rna_subject *port)
{
	return port->state && rna_value_is_known(port->state->state) &&
	       port->state->state.number == RNA_PORT_DOWN;
}

/*
 * What drivers say of the link of a port that is down is what it was before, or made up: many
 * answer 1X SDR or 4X QDR then.
 */
static bool has_link(const struct rna_subject *port)
{
	return port->link && !rna_port_is_down(port);
}

struct rna_value rna_port_rate(const struct rna_subject *port)
{
	return has_link(port) ? port->link->rate : (struct rna_value){0};
}

struct rna_value rna_port_width(const struct rna_subject *port)
{
	return has_link(port) ? port->link->width : (struct rna_value){0};
}

struct rna_value rna_port_speed_code(const struct rna_subject *port)
{
	return has_link(port) ? port->link->speed_code : (struct rna_value){0};
}

struct rna_value rna_transfers_per_second(struct rna_value speed)
{
	speed.number *= 1000 * 1000;
	return speed;
}

struct rna_value rna_port_up(const struct rna_subject *port)
{
	if (!port->state || !rna_value_is_known(port->state->state))
		return (struct rna_value){0};
	return rna_value_ok(rna_port_is_up(port->state));
}

const char *rna_why_no_port(const struct rna_subjects *subjects)
{
	const struct rna_view *view = subjects->scopes[RNA_SCOPE_NODE].items[0].view;
	const struct rna_presence *presence = rna_snapshot_presence(view->snapshot);

	if (subjects->scopes[RNA_SCOPE_PORT].count > 0)
		return NULL;
	if (!presence)
		return "It is not known which RDMA devices there are: they could not be listed.";
	if (!presence->stack)
		return "No RDMA stack: the kernel has no /sys/class/infiniband (is ib_core "
		       "loaded?).";
	if (presence->device_count == 0 && presence->excluded_count > 0)
		return "No RDMA device is watched: devices.include and devices.exclude leave all "
		       "of them out.";
	if (presence->device_count == 0)
		return "No RDMA device: the RDMA stack is there, but no driver has registered one.";
	return "No port: the RDMA devices of this node have none.";
}

const char *rna_tone_colour(enum rna_tone tone)
{
	static const char *const colours[] = {
		[RNA_TONE_PLAIN] = "",
		[RNA_TONE_GOOD] = "\033[32m",
		[RNA_TONE_WARNING] = "\033[33m",
		[RNA_TONE_BAD] = "\033[31m",
	};

	return colours[tone];
}

/* It is down, as far as is known by right. Not judged at all: then a person should. */
static bool is_unused(const struct rna_subject *port)
{
	return rna_port_is_down(port) && port->account && !rna_port_is_expected(port);
}

enum rna_tone rna_tone_state(const struct rna_subject *port)
{
	struct rna_value up = rna_port_up(port);

	if (!rna_value_is_known(up) || is_unused(port))
		return RNA_TONE_PLAIN;
	if (up.number)
		return RNA_TONE_GOOD;
	return rna_port_is_down(port) ? RNA_TONE_BAD : RNA_TONE_WARNING;
}

enum rna_tone rna_tone_physical_state(const struct rna_subject *port)
{
	if (!port->state || !rna_value_is_known(port->state->physical_state) || is_unused(port))
		return RNA_TONE_PLAIN;
	switch (port->state->physical_state.number) {
	case RNA_PHYSICAL_LINK_UP:
		return RNA_TONE_GOOD;
	case RNA_PHYSICAL_SLEEP:
	case RNA_PHYSICAL_DISABLED:
		return RNA_TONE_BAD;
	default:
		return RNA_TONE_WARNING;
	}
}

enum rna_tone rna_tone_operstate(const struct rna_subject *port)
{
	if (!port->netdev || is_unused(port))
		return RNA_TONE_PLAIN;
	switch (port->netdev->operstate) {
	case RNA_OPER_UP:
		return RNA_TONE_GOOD;
	case RNA_OPER_UNKNOWN: /* drivers that never say */
		return RNA_TONE_PLAIN;
	case RNA_OPER_DORMANT:
	case RNA_OPER_TESTING:
		return RNA_TONE_WARNING;
	default:
		return RNA_TONE_BAD;
	}
}

static const struct rna_fact_row device_facts[] = {
	{"pci_address", rna_fact_pci_address},
	{"driver", rna_fact_driver},
	{"function", rna_fact_function},
	{"physical_function", physical_function},
	{"vendor_id", vendor_id},
	{"device_id", device_id},
	{"numa_node", rna_fact_numa_node, .number = true},
	{"node_type", node_type},
	{"hca_type", rna_fact_hca_type},
	{"board_id", rna_fact_board_id},
	{"firmware_version", rna_fact_firmware_version},
	{"hardware_revision", hardware_revision},
	{"node_guid", rna_fact_node_guid},
	{"system_image_guid", system_image_guid},
	{"node_description", rna_fact_node_description},
};

static const struct rna_fact_row port_facts[] = {
	{"link_layer", rna_fact_link_layer}, {"netdev", rna_fact_netdev},
	{"netdev_master", netdev_master},    {"netdev_source", netdev_source},
	{"port_guid", rna_fact_port_guid},   {"pci_address", rna_fact_pci_address},
};

static const struct rna_fact_row gid_facts[] = {
	{"index", rna_fact_gid_index, .number = true},
	{"gid", rna_fact_gid},
	{"type", rna_fact_gid_type},
	{"family", gid_family},
	{"netdev", rna_fact_gid_netdev},
};

struct rna_fact_table rna_facts_of(enum rna_scope scope)
{
	static const struct rna_fact_table tables[RNA_SCOPE_COUNT] = {
		[RNA_SCOPE_DEVICE] = {RNA_ARRAY_SIZE(device_facts), device_facts},
		[RNA_SCOPE_PORT] = {RNA_ARRAY_SIZE(port_facts), port_facts},
		[RNA_SCOPE_GID] = {RNA_ARRAY_SIZE(gid_facts), gid_facts},
	};

	return tables[scope];
}
