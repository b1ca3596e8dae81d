// SPDX-License-Identifier: Apache-2.0
/*
 * The backends of the tee: each asks the machine's, and notes the answer as the files that stand
 * for it in a recording (backend/recorded.h). Interfaces, GIDs and hw_counters have no such files:
 * a recording has them as sysfs says them, so they are read there.
 *
 * A library that does not answer is not asked about that device again. Questions about interfaces
 * wait for one lock of the kernel: after one without an answer none of them is asked.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "backend/ethtool.h"
#include "backend/recorded.h"
#include "parse/guid.h"
#include "parse/link_message.h"
#include "parse/rate.h"

#include "contents.h"
#include "tee.h"

/* The unit (see notes.h) of what waits for that lock. */
#define INTERFACES "interfaces"

/* Where an answer is noted: names of devices and interfaces are short. */
struct place {
	struct rna_tee *tee;
	char path[256];
};

static struct place RNA_PRINTF(2, 3) place_of(const struct rna_root *root, const char *format, ...)
{
	struct place place = {.tee = rna_root_userdata(root)};
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(place.path, sizeof(place.path), format, arguments);
	va_end(arguments);
	return place;
}

/* -- Questions --------------------------------------------------------------------------------- */

static int begin(const struct place *place, const char *unit)
{
	return rna_notes_ask(place->tee->notes, place->path, unit, RNA_NOTE_FAILURE);
}

/* A recording has no files of what does not exist or has no value at the moment. */
static bool is_normal(int status)
{
	return status >= 0 || status == -ENOENT || status == -ENODEV || status == -EOPNOTSUPP ||
	       status == -ENETDOWN || status == -EINVAL;
}

/* Notes a failure. Returns status. */
static int end(const struct place *place, int status)
{
	if (!is_normal(status))
		rna_notes_add(place->tee->notes,
			      &(struct rna_note){RNA_NOTE_FAILURE, status, place->path});
	return status;
}

/* Calls a function of the machine's backends: its status, or -ETIMEDOUT when the unit is silent. */
#define ASK(place, unit, call)                                                                     \
	({                                                                                         \
		int rna_status_ = begin(place, unit);                                              \
		rna_status_ < 0 ? rna_status_ : end(place, (int)(place)->tee->libraries->call);    \
	})

/* -- Answers ----------------------------------------------------------------------------------- */

static void note_directory(const struct place *place)
{
	rna_notes_add(place->tee->notes, &(struct rna_note){RNA_NOTE_DIRECTORY, 0, place->path});
}

/* name: of the file below place; "": place itself. */
static void note_text(const struct place *place, const char *name, const char *text, size_t len)
{
	char path[2 * sizeof(place->path)];

	if (snprintf(path, sizeof(path), "%s%s%s", place->path, *name ? "/" : "", name) <
	    (int)sizeof(path))
		rna_notes_add(place->tee->notes,
			      &(struct rna_note){RNA_NOTE_CONTENT, 0, path, text, len});
}

static void note_strbuf(const struct place *place, const struct rna_strbuf *text)
{
	place->tee->notes->no_memory |= !rna_strbuf_ok(text);
	note_text(place, "", text->data, text->len);
}

static void note_number(const struct place *place, const char *name, struct rna_value value)
{
	char text[32];

	if (value.state == RNA_VALUE_OK)
		note_text(place, name, text,
			  (size_t)snprintf(text, sizeof(text), "%ju\n", (uintmax_t)value.number));
}

static void note_hex(const struct place *place, const uint8_t *bytes, size_t len)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	for (size_t i = 0; i < len; i++)
		rna_strbuf_printf(&text, "%02x%s", bytes[i], i % 32 == 31 ? "\n" : "");
	rna_strbuf_add_char(&text, '\n');
	note_strbuf(place, &text);
}

static void note_lanes(const struct place *place, const char *name, struct rna_value lanes)
{
	for (uint64_t code = 1; code <= 16; code *= 2)
		if (rna_value_is_known(lanes) && rna_lanes_from_code(code) == lanes.number)
			note_number(place, name, rna_value_ok(code));
}

static void note_guid(const struct place *place, const char *name, struct rna_value guid)
{
	char text[RNA_GUID_TEXT];

	if (!rna_value_is_known(guid))
		return;
	rna_guid_write(guid.number, text);
	note_text(place, name, text, strlen(text));
}

static void note_gid(const struct place *place, const char *name, const struct rna_gid *gid)
{
	char text[RNA_GID_TEXT_MAX];

	rna_gid_format(gid, text);
	note_text(place, name, text, strlen(text));
}

static void note_fields(const struct place *place, const struct rna_recorded_fields *fields,
			const void *answer)
{
	note_directory(place);
	RNA_EACH (field, fields->items, fields->count) {
		const void *member = (const char *)answer + field->offset;
		const struct rna_value *value = member;
		const char *const *text = member;

		if (field->kind == RNA_RECORDED_NUMBER)
			note_number(place, field->name, *value);
		else if (field->kind == RNA_RECORDED_LANES)
			note_lanes(place, field->name, *value);
		else if (field->kind == RNA_RECORDED_GUID)
			note_guid(place, field->name, *value);
		else if (field->kind == RNA_RECORDED_GID)
			note_gid(place, field->name, member);
		else if (*text)
			note_text(place, field->name, *text, strlen(*text));
	}
}

/* -- Verbs ------------------------------------------------------------------------------------- */

static int query_ports(const struct rna_root *root, const struct rna_device *device,
		       struct rna_verbs_port *ports)
{
	const struct place place = place_of(root, RNA_RECORDED_VERBS, device->name);
	int status = ASK(&place, place.path, verbs->query_ports(root, device, ports));

	if (status < 0)
		return status;
	note_directory(&place);
	for (size_t i = 0; i < device->port_count; i++) {
		const struct place port =
			place_of(root, "%s/ports/%u", place.path, device->ports[i]);

		if (end(&port, ports[i].error) == 0)
			note_fields(&port, &rna_recorded_verbs_port, &ports[i]);
	}
	return status;
}

/* -- Interfaces -------------------------------------------------------------------------------- */

/* The partner of a bond, which files of sysfs name to root only. */
static int read_netdev(const struct rna_root *root, const char *name, struct rna_arena *arena,
		       struct rna_netdev *ret)
{
	const struct place place = place_of(root, RNA_RECORDED_NETDEV, name);
	int status = rna_recorded_netdev.read(root, name, arena, ret);
	struct rna_netdev told;

	if (status < 0 || !rna_value_is_known(ret->lacp.aggregator) ||
	    rna_value_is_known(ret->lacp.actor_state) ||
	    ASK(&place, INTERFACES, netdev->read(root, name, arena, &told)) < 0)
		return status;
	ret->lacp.partner = told.lacp.partner;
	if (told.lacp.partner)
		note_text(&place, RNA_RECORDED_LACP_PARTNER, told.lacp.partner,
			  strlen(told.lacp.partner));
	return status;
}

static int count_addresses(const struct rna_root *root, struct rna_netdev *netdevs, size_t count)
{
	const struct place place = place_of(root, RNA_RECORDED_NETDEV, "addresses");
	int status = ASK(&place, INTERFACES, netdev->count_addresses(root, netdevs, count));

	for (size_t i = 0; status == 0 && i < count; i++) {
		const struct place netdev = place_of(root, RNA_RECORDED_NETDEV, netdevs[i].name);

		note_fields(&netdev, &rna_recorded_addresses, &netdevs[i]);
	}
	return status;
}

/* The MTU is the one answer of rtnetlink that a recording has in sysfs. */
static int read_vlan(const struct rna_root *root, const char *name, struct rna_qos_vlan *ret)
{
	const struct place place = place_of(root, RNA_RECORDED_VLAN, name);
	const struct place mtu = place_of(root, "sys/class/net/%s/mtu", name);
	int status = ASK(&place, INTERFACES, netdev->read_vlan(root, name, ret));
	uint64_t bytes;

	if (status < 0)
		return status;
	note_directory(&place);
	note_number(&place, "id", ret->id);
	for (unsigned from = 0; from < RNA_PRIORITY_COUNT; from++) {
		const struct place egress = place_of(root, "%s/egress/%u", place.path, from);

		if (ret->egress.number >> from & 1)
			note_number(&egress, "", rna_value_ok(ret->egress_priority[from]));
	}
	(void)rna_root_read_u64(root, mtu.path, &bytes);
	return status;
}

static int list_virtual_functions(const struct rna_root *root, const char *name,
				  struct rna_arena *arena, struct rna_vf_list *ret)
{
	const struct place place = place_of(root, RNA_RECORDED_VFS, name);
	int status =
		ASK(&place, INTERFACES, netdev->list_virtual_functions(root, name, arena, ret));

	if (status < 0)
		return status;
	note_directory(&place);
	for (size_t i = 0; i < ret->count; i++) {
		const struct place function =
			place_of(root, "%s/%u", place.path, ret->functions[i].number);

		note_fields(&function, &rna_recorded_vf, &ret->functions[i]);
	}
	return status;
}

/* Numbered in the order of the answer, for addresses are disguised and paths are not. */
static int list_gateways(const struct rna_root *root, const char *const *netdevs, size_t count,
			 struct rna_arena *arena, struct rna_gateway_list *ret)
{
	const struct place place = place_of(root, RNA_RECORDED_GATEWAYS, "all");
	int status = ASK(&place, INTERFACES, gateways->list(root, netdevs, count, arena, ret));

	for (size_t i = 0; status == 0 && i < ret->count; i++) {
		const struct place gateway =
			place_of(root, RNA_RECORDED_GATEWAYS "/%zu", ret->items[i].netdev, i);

		note_fields(&gateway, &rna_recorded_gateway, &ret->items[i]);
	}
	return status;
}

/* The subnet besides the address: recordings of before keep no prefix of IPv4. */
static int list_rail_addresses(const struct rna_root *root, const char *const *netdevs,
			       size_t count, struct rna_arena *arena,
			       struct rna_rail_address_list *ret)
{
	const struct place place = place_of(root, RNA_RECORDED_RAILS, "all");
	int status =
		ASK(&place, INTERFACES, gateways->list_addresses(root, netdevs, count, arena, ret));

	for (size_t i = 0; status == 0 && i < ret->count; i++) {
		const struct place address =
			place_of(root, RNA_RECORDED_RAILS "/%zu", ret->items[i].netdev, i);

		note_fields(&address, &rna_recorded_rail_address, &ret->items[i]);
	}
	return status;
}

static int find_uplink(const struct rna_root *root, char ret[IF_NAMESIZE])
{
	const struct place place = place_of(root, RNA_RECORDED_UPLINK);
	int status = ASK(&place, INTERFACES, netdev->find_uplink(root, ret));

	if (status == 0)
		note_text(&place, "", ret, strlen(ret));
	return status;
}

/* The answer has the name of the interface, which may be its MAC address. It is not used. */
static int ask_dcb(const struct rna_root *root, const char *netdev, enum rna_dcb_question question,
		   struct rna_arena *arena, struct rna_bytes *ret)
{
	const struct place place =
		place_of(root, RNA_RECORDED_DCB, netdev, rna_dcb_question_name(question));
	int status = ASK(&place, INTERFACES, dcb->ask(root, netdev, question, arena, ret));
	char name[IF_NAMESIZE];
	uint8_t *bytes, *found;

	if (status < 0)
		return status;
	bytes = rna_arena_alloc(arena, ret->len);
	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, ret->data, ret->len);
	(void)snprintf(name, sizeof(name), "%s", netdev);
	found = memmem(bytes, ret->len, name, strlen(name) + 1);
	if (found)
		memset(found, 'x', strlen(name));
	note_hex(&place, bytes, ret->len);
	return status;
}

/* -- Ethtool ----------------------------------------------------------------------------------- */

/* An answer that is no whole message is an empty file, which is none either. */
static int ask_ethtool(struct rna_ethtool_talk *talk, const struct rna_ethtool_question *question,
		       const char *netdev, struct rna_arena *arena, struct rna_bytes *ret)
{
	const struct place place =
		place_of(talk->root, RNA_RECORDED_ETHTOOL, netdev, question->name);
	int status = ASK(&place, INTERFACES, ethtool->ask(talk, question, netdev, arena, ret));
	uint8_t *bytes;
	ssize_t len;

	if (status < 0)
		return status;
	bytes = rna_arena_alloc(arena, ret->len);
	len = bytes ? rna_ethtool_anonymize(*ret, question, bytes) : -ENOMEM;
	if (len >= 0 || len == -EBADMSG)
		note_hex(&place, bytes, len > 0 ? (size_t)len : 0);
	(void)end(&place, (int)len);
	return status;
}

static int read_statistics(const struct rna_root *root, const char *netdev, size_t count,
			   uint64_t *numbers)
{
	const struct place place =
		place_of(root, RNA_RECORDED_ETHTOOL, netdev, RNA_RECORDED_ETHTOOL_STATISTICS);

	return ASK(&place, INTERFACES, ethtool->read_statistics(root, netdev, count, numbers));
}

/* All of them are noted with their numbers: a setting may ask for any. */
static int list_statistics(const struct rna_root *root, const char *netdev, struct rna_arena *arena,
			   struct rna_ethtool_names *ret)
{
	const struct place place =
		place_of(root, RNA_RECORDED_ETHTOOL, netdev, RNA_RECORDED_ETHTOOL_STATISTICS);
	int status = ASK(&place, INTERFACES, ethtool->list_statistics(root, netdev, arena, ret));
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	uint64_t *numbers;

	if (status < 0)
		return status;
	numbers = rna_arena_array(arena, ret->count, sizeof(*numbers));
	if (!numbers || read_statistics(root, netdev, ret->count, numbers) < 0)
		return numbers ? status : -ENOMEM;
	for (size_t i = 0; i < ret->count; i++)
		rna_strbuf_printf(&text, "%s: %ju\n", ret->names[i].text, (uintmax_t)numbers[i]);
	note_strbuf(&place, &text);
	return status;
}

/* -- RDMA netlink ------------------------------------------------------------------------------ */

/* The unit of all questions about a device. */
static struct place netlink_of(const struct rna_rdma_numbers *numbers, const char *device)
{
	return place_of(numbers->root, RNA_RECORDED_RESOURCES, device);
}

static int find_netdev(struct rna_rdma_numbers *numbers, const char *device, unsigned port,
		       char ret[IF_NAMESIZE])
{
	const struct place unit = netlink_of(numbers, device);
	const struct place place = place_of(numbers->root, RNA_RECORDED_NETLINK, device, port);
	int status = ASK(&place, unit.path, rdma_netlink->find_netdev(numbers, device, port, ret));

	if (status == 0)
		note_text(&place, "", ret, strlen(ret));
	return status;
}

static int find_parent(struct rna_rdma_numbers *numbers, const char *device,
		       char ret[RNA_RDMA_NAME_MAX])
{
	const struct place unit = netlink_of(numbers, device);
	const struct place place = place_of(numbers->root, RNA_RECORDED_PARENT, device);
	int status = ASK(&place, unit.path, rdma_netlink->find_parent(numbers, device, ret));

	if (status == 0)
		note_text(&place, "", ret, strlen(ret));
	return status;
}

static int get_resources(struct rna_rdma_numbers *numbers, const char *device,
			 struct rna_resource_counts *ret, struct rna_context_list *ret_contexts)
{
	const struct place place = netlink_of(numbers, device);
	int status =
		ASK(&place, place.path, rdma_netlink->get_resources(numbers, device, ret, NULL));

	(void)ret_contexts; /* about other programs, not about hardware */

	if (status < 0)
		return status;
	note_directory(&place);
	for (enum rna_resource i = 0; i < RNA_RESOURCE_COUNT; i++)
		note_number(&place, rna_resource_name(i), ret->of[i]);
	note_number(&place, "own_contexts", ret->own_contexts);
	return status;
}

static int get_optional(struct rna_rdma_numbers *numbers, const char *device,
			struct rna_arena *arena, struct rna_port_optional_counters *ret)
{
	const struct place unit = netlink_of(numbers, device);
	const struct place place =
		place_of(numbers->root, RNA_RECORDED_OPTIONAL, device, ret->number);
	int status =
		ASK(&place, unit.path, rdma_netlink->get_optional(numbers, device, arena, ret));

	for (size_t i = 0; status == 0 && i < ret->count; i++)
		note_number(&place, ret->items[i].name, rna_value_ok(ret->items[i].enabled));
	return status;
}

/* -- MADs -------------------------------------------------------------------------------------- */

static struct place mad_of(const struct rna_root *root, const struct rna_device *device)
{
	return place_of(root, "recorded/mad/%s", device->name);
}

static void note_counters(const struct place *place, const struct rna_mad_counter *items,
			  size_t count)
{
	note_directory(place);
	for (size_t i = 0; i < count; i++)
		note_number(place, items[i].file, items[i].value);
}

static int query_mad_port(const struct rna_root *root, const struct rna_device *device,
			  unsigned port, struct rna_mad_port *ret)
{
	const struct place unit = mad_of(root, device);
	const struct place place = place_of(root, RNA_RECORDED_MAD, device->name, port);
	int status = ASK(&place, unit.path, mad->query_port(root, device, port, ret));

	if (status == 0)
		note_fields(&place, &rna_recorded_mad_port, ret);
	return status;
}

static int query_mad_counters(const struct rna_root *root, const struct rna_device *device,
			      unsigned port, struct rna_mad_counters *ret)
{
	const struct place unit = mad_of(root, device);
	const struct place place = place_of(root, RNA_RECORDED_MAD "/counters", device->name, port);
	int status = ASK(&place, unit.path, mad->query_counters(root, device, port, ret));

	if (status == 0)
		note_counters(&place, ret->items, RNA_MAD_COUNTERS);
	return status;
}

static void note_peer(const struct place *place, const struct rna_mad_peer *peer)
{
	if (!rna_value_is_known(peer->port_number))
		return;
	if (*peer->name)
		note_text(place, "name", peer->name, strlen(peer->name));
	note_fields(place, &rna_recorded_mad_port, &peer->port);
}

/* Topics that were refused leave nothing behind. */
static int query_mad_fabric(const struct rna_root *root, const struct rna_device *device,
			    unsigned port, unsigned topics, struct rna_mad_fabric *ret)
{
	const struct place unit = mad_of(root, device);
	const struct place place = place_of(root, RNA_RECORDED_MAD, device->name, port);
	const struct place peer = place_of(root, "%s/peer", place.path);
	const struct place details = place_of(root, "%s/details", place.path);
	int status = ASK(&place, unit.path, mad->query_fabric(root, device, port, topics, ret));

	if (status < 0)
		return status;
	note_fields(&place, &rna_recorded_mad_port, &ret->port);
	note_fields(&place, &rna_recorded_mad_fabric, ret);
	note_peer(&peer, &ret->peer);
	note_counters(&details, ret->details, RNA_MAD_DETAILS);
	for (size_t i = 0; i < ret->pkeys.count; i++) {
		const struct place key =
			place_of(root, "%s/pkeys/%u", place.path, ret->pkeys.items[i].index);
		char text[16];

		note_text(&key, "", text,
			  (size_t)snprintf(text, sizeof(text), "0x%04x", ret->pkeys.items[i].key));
	}
	return status;
}

/* -- LLDP, hwloc ------------------------------------------------------------------------------- */

static int list_neighbours(const struct rna_root *root, struct rna_arena *arena,
			   struct rna_lldp_neighbours *ret)
{
	const struct place place = place_of(root, RNA_RECORDED_LLDP);
	int status = ASK(&place, place.path, lldp->list(root, arena, ret));

	if (status < 0)
		return status;
	note_directory(&place);
	for (size_t i = 0; i < ret->count; i++) {
		const struct place below =
			place_of(root, "%s/%s", place.path, ret->items[i].netdev);
		const struct place bridge = place_of(root, "%s/bridge", below.path);

		note_fields(&below, &rna_recorded_lldp_peer, &ret->items[i].peer);
		if (ret->items[i].peer.type == RNA_NODE_TYPE_SWITCH)
			note_directory(&bridge);
	}
	return status;
}

/*
 * hwloc opens files of /sys by itself, thousands of them and not through a root, and a function
 * table of ours cannot stand for its topology. So a recording has the topology as lstopo writes it.
 */
static int load_hwloc(const struct rna_root *root, const char *file, struct rna_arena *arena,
		      struct rna_hwloc *ret, struct rna_error *error)
{
	const struct place place = place_of(root, RNA_RECORDED_HWLOC);
	const struct rna_hwloc_backend *hwloc = place.tee->libraries->hwloc;
	char *xml = NULL;
	int status = 0;

	if (hwloc->write)
		status = ASK(&place, place.path, hwloc->write(root, arena, &xml, error));
	if (status == -ETIMEDOUT)
		return rna_error_set(error, status, "hwloc has not looked at this machine");
	if (xml)
		note_text(&place, "", xml, strlen(xml));
	return hwloc->load(root, file, arena, ret, error);
}

/* -- The journal ------------------------------------------------------------------------------- */

struct both {
	const struct rna_journal_request *request;
	struct rna_kept_messages kept;
};

static bool take_both(void *userdata, struct rna_kmsg_record *record)
{
	struct both *both = userdata;

	(void)rna_keep_message(&both->kept, record);
	return both->request->take(both->request->userdata, record);
}

/* Most messages are private: the recording has those of a pattern. */
static int read_journal(const struct rna_journal_request *request, struct rna_journal_answer *ret)
{
	const struct place place = place_of(request->root, RNA_RECORDED_KERNEL_LOG);
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct both both = {.request = request, .kept.text = &text};
	struct rna_journal_request asked = *request;
	int status;

	asked.root = place.tee->base;
	asked.take = take_both;
	asked.userdata = &both;
	status = ASK(&place, place.path, journal->read(&asked, ret));
	if (status == 0)
		note_strbuf(&place, &text);
	return status;
}

/* -- All of them ------------------------------------------------------------------------------- */

void rna_tee_init_backends(struct rna_tee *tee)
{
	const struct rna_backends *libraries = tee->libraries;

	tee->verbs = rna_recorded_verbs;
	tee->verbs.query_ports = query_ports;
	tee->netdev = rna_recorded_netdev;
	tee->netdev.read = read_netdev;
	tee->netdev.count_addresses = count_addresses;
	tee->netdev.read_vlan = read_vlan;
	tee->netdev.list_virtual_functions = list_virtual_functions;
	tee->netdev.find_uplink = find_uplink;
	tee->gateways = rna_recorded_gateways; /* to record is no reason to probe */
	tee->gateways.list = list_gateways;
	tee->gateways.list_addresses = list_rail_addresses;
	tee->dcb.ask = ask_dcb;
	tee->lldp.list = list_neighbours;
	tee->rdma_netlink = rna_recorded_rdma_netlink;
	tee->rdma_netlink.find_parent = find_parent;
	tee->rdma_netlink.find_netdev = find_netdev;
	tee->rdma_netlink.get_resources = get_resources;
	tee->rdma_netlink.get_optional = get_optional;
	tee->mad = *libraries->mad; /* which ports it serves needs no note */
	tee->mad.query_port = query_mad_port;
	tee->mad.query_counters = query_mad_counters;
	tee->mad.query_fabric = query_mad_fabric;
	tee->hwloc.load = load_hwloc;
	tee->journal.read = read_journal;
	tee->ethtool.ask = ask_ethtool;
	tee->ethtool.list_statistics = list_statistics;
	tee->ethtool.read_statistics = read_statistics;
	tee->backends = (struct rna_backends){
		.root = tee->root,
		.verbs = &tee->verbs,
		.netdev = &tee->netdev,
		.gateways = &tee->gateways,
		.dcb = &tee->dcb,
		.lldp = &tee->lldp,
		.rdma_netlink = &tee->rdma_netlink,
		.mad = &tee->mad,
		.hwloc = &tee->hwloc,
		.journal = &tee->journal,
		.ethtool = &tee->ethtool,
	};
}
