// SPDX-License-Identifier: Apache-2.0
/*
 * fabric: the fabric around InfiniBand ports, read by MADs.
 *
 * It sends about a dozen MADs per port, so it runs seldom. A node that does not support a query
 * answers so, or does not answer; after a refusal, or three unanswered tries (a MAD may be lost),
 * the query is not repeated for a while; if it looks as if an M_Key were required, not until the
 * port has changed. Data of the peer and the subnet manager stays when they
 * cannot be queried any more: when a link is down, the administrator needs to know the switch port
 * of the cable.
 */
#include "rna/model/fabric.h"

#include <errno.h>
#include <string.h>

#include "rna/base/hash.h"

#include "backend/ask_mad.h"
#include "backend/backends.h"
#include "backend/mad.h"
#include "parse/extend.h"
#include "parse/guid.h"
#include "parse/reader.h"

#include "collectors.h"

#define NEVER         UINT64_MAX
#define REFUSED_PAUSE (60 * 60 * RNA_USEC_PER_SEC) /* firmware is updated seldom */
#define SILENT_PAUSE  (5 * 60 * RNA_USEC_PER_SEC)
#define SETTLED_PAUSE REFUSED_PAUSE /* for data that does not change */
#define MANAGER_PAUSE SILENT_PAUSE  /* for queries of all ports of a fabric to the same node */

enum { SILENT_MAX = 3 }; /* unanswered queries before the pause */

/*
 * Every node has to answer NodeInfo (IBTA 14.2.5.3). A peer behind an active link that does not,
 * requires an M_Key (ProtectBits 2 or 3), or its MADs were lost: it is queried once more, then not
 * until the port has changed. Each query without the key raises trap 256 at the subnet manager, and
 * a leaf switch has dozens of such ports.
 */
enum { PROTECTED_MAX = 2 };

_Static_assert((int)RNA_FABRIC_TOPICS == (int)RNA_MAD_TOPIC_COUNT, "a pause each");

/* One port. before: NULL: none. */
struct run {
	const struct rna_collect_input *in;
	struct rna_fabric *fabric;
	struct rna_arena *arena;
	const struct rna_port_fabric *before;
	const struct rna_mad_fabric *answer; /* NULL: not queried, or no answer at all */
	struct rna_mad_fabric memory; /* storage of answer; without values if there is none */
	bool no_memory;
};

static const char *keep(struct run *run, const char *text)
{
	return text && *text ? rna_arena_keep(run->arena, text, &run->no_memory) : NULL;
}

static const char *keep_guid(struct run *run, struct rna_value guid)
{
	return rna_value_is_known(guid) ? rna_guid_keep(guid.number, run->arena, &run->no_memory)
					: NULL;
}

static bool has_answer(const struct run *run, enum rna_mad_topic topic)
{
	return run->answer && run->answer->status[topic] == 0;
}

/* -- The peer ---------------------------------------------------------------------------------- */

/* Copies a peer to the new part; NULL for NULL. */
static struct rna_peer *copy_peer(struct run *run, const struct rna_peer *from)
{
	struct rna_peer *peer = from ? rna_arena_alloc(run->arena, sizeof(*peer)) : NULL;

	run->no_memory |= from && !peer;
	if (!peer)
		return NULL;
	*peer = *from;
	peer->name = keep(run, from->name);
	peer->port = keep(run, from->port);
	peer->guid = keep(run, from->guid);
	peer->system_image_guid = keep(run, from->system_image_guid);
	return peer;
}

static struct rna_link_end link_end(const struct rna_mad_port *port)
{
	return (struct rna_link_end){
		.width = port->lanes,
		.width_enabled = port->lanes_enabled,
		.width_supported = port->lanes_supported,
		.speed_code = port->speed_code,
		.speed_enabled = port->speed_enabled,
		.speed_supported = port->speed_supported,
	};
}

static enum rna_node_type peer_type(struct rna_value type)
{
	return rna_value_is_known(type) && type.number <= RNA_NODE_TYPE_ROUTER
		       ? (enum rna_node_type)type.number
		       : RNA_NODE_TYPE_UNKNOWN;
}

static struct rna_peer *new_peer(struct run *run)
{
	const struct rna_mad_peer *answer = &run->answer->peer;
	struct rna_peer *peer = rna_arena_alloc(run->arena, sizeof(*peer));

	run->no_memory |= !peer;
	if (!peer)
		return NULL;
	*peer = (struct rna_peer){
		.source = RNA_PEER_BY_MAD,
		.type = peer_type(answer->type),
		.name = keep(run, answer->name),
		.port = rna_arena_printf(run->arena, "%ju", (uintmax_t)answer->port_number.number),
		.guid = keep_guid(run, answer->guid),
		.system_image_guid = keep_guid(run, answer->system_image_guid),
		.lid = answer->port.lid,
		.link = link_end(&answer->port),
		.seen = run->fabric->counters.part.started,
	};
	run->no_memory |= !peer->port;
	return peer;
}

/*
 * The peer answered now. Values that it did not return keep the previous ones if it is the same
 * peer.
 */
static void complete_peer(struct run *run, struct rna_peer *peer, const struct rna_peer *before)
{
	if (!peer->name)
		peer->name = keep(run, before->name);
	if (!has_answer(run, RNA_MAD_PEER_PORT)) {
		peer->lid = before->lid;
		peer->link = before->link;
	}
}

static void set_peer(struct run *run, struct rna_port_fabric *port)
{
	const struct rna_peer *before = run->before ? run->before->peer : NULL;
	struct rna_peer *peer;

	if (run->before) {
		port->former_peer = copy_peer(run, run->before->former_peer);
		port->peer_changes = run->before->peer_changes;
		port->peer_changed = run->before->peer_changed;
	}
	if (!has_answer(run, RNA_MAD_PEER_NODE)) {
		peer = copy_peer(run, before);
		if (peer)
			peer->stale = true;
		port->peer = peer;
		return;
	}
	peer = new_peer(run);
	port->peer = peer;
	if (!peer || !before)
		return;
	if (rna_peer_is_same(peer, before)) {
		complete_peer(run, peer, before);
		return;
	}
	port->former_peer = copy_peer(run, before);
	port->peer_changes++;
	port->peer_changed = peer->seen;
}

/* -- The subnet manager ------------------------------------------------------------------------ */

static bool is_other_manager(const struct rna_manager *now, const struct rna_manager *before)
{
	if (now->guid && before->guid)
		return strcmp(now->guid, before->guid) != 0;
	return !now->guid && !before->guid && rna_value_is_known(now->lid) &&
	       rna_value_is_known(before->lid) && now->lid.number != before->lid.number;
}

/* A known manager that does not answer keeps its data; the failures are counted. */
static void keep_manager(struct run *run, const struct rna_manager *before,
			 struct rna_manager *manager)
{
	int status = run->answer ? run->answer->status[RNA_MAD_MANAGER] : RNA_MAD_NOT_ASKED;

	if (!before->guid)
		return;
	manager->guid = keep(run, before->guid);
	manager->priority = before->priority;
	manager->state = before->state;
	manager->unanswered = before->unanswered + (status == -ETIMEDOUT);
}

static void set_manager(struct run *run, struct rna_manager *manager)
{
	static const struct rna_manager none;
	const struct rna_manager *before = run->before ? &run->before->manager : &none;

	manager->lid = before->lid;
	manager->changes = before->changes;
	manager->changed = before->changed;
	if (run->answer && run->answer->port.sm_lid.number > 0)
		manager->lid = run->answer->port.sm_lid;
	if (!has_answer(run, RNA_MAD_MANAGER)) {
		keep_manager(run, before, manager);
	} else {
		manager->guid = keep_guid(run, run->answer->manager.guid);
		manager->priority = run->answer->manager.priority;
		manager->state = run->answer->manager.state;
	}
	if (!is_other_manager(manager, before))
		return;
	manager->changes++;
	manager->changed = run->fabric->counters.part.started;
}

/* -- Partitions -------------------------------------------------------------------------------- */

/*
 * Without an answer to the MAD: the files of sysfs, which need no rights. Each costs a command of
 * the firmware, so only the first ones are read; managers fill the table from its beginning. Half
 * a table is none.
 */
static void read_pkey_files(const struct run *run, unsigned port, struct rna_mad_pkeys *ret)
{
	enum { FILES_MAX = 16 };

	for (unsigned i = 0; i < FILES_MAX; i++) {
		const char *path = rna_arena_printf(run->arena, "%s/ports/%u/pkeys/%u",
						    run->in->device->sysfs_path, port, i);
		uint64_t key = 0;
		int status = path ? rna_root_read_hex(run->in->root, path, &key) : -ENOMEM;

		if (status < 0 && !rna_error_is_absence(status)) {
			ret->count = 0;
			return;
		}
		if (key > 0 && key <= UINT16_MAX)
			ret->items[ret->count++] =
				(struct rna_mad_pkey){.index = (uint16_t)i, .key = (uint16_t)key};
	}
}

static void set_pkeys(struct run *run, struct rna_port_fabric *port)
{
	enum { FULL_MEMBER = 0x8000 };
	bool fresh = has_answer(run, RNA_MAD_PKEYS) || run->memory.pkeys.count > 0;
	const struct rna_port_fabric *before = run->before;
	struct rna_pkey *pkeys;

	if (!fresh && !(before && before->pkeys_known))
		return;
	port->pkeys_known = true;
	port->pkeys_from_files = fresh ? !has_answer(run, RNA_MAD_PKEYS) : before->pkeys_from_files;
	port->pkey_count = fresh ? run->memory.pkeys.count : before->pkey_count;
	pkeys = rna_arena_array(run->arena, port->pkey_count, sizeof(*pkeys));
	run->no_memory |= !pkeys;
	for (size_t i = 0; pkeys && i < port->pkey_count; i++)
		if (!fresh)
			pkeys[i] = before->pkeys[i];
		else
			pkeys[i] = (struct rna_pkey){
				.index = run->memory.pkeys.items[i].index,
				.key = run->memory.pkeys.items[i].key & (FULL_MEMBER - 1),
				.full = run->memory.pkeys.items[i].key & FULL_MEMBER,
			};
	port->pkeys = pkeys;
}

/* -- Congestion control, which a port has or has not ------------------------------------------- */

static struct rna_value find_congestion_control(const struct run *run)
{
	struct rna_value before =
		run->before ? run->before->congestion_control : (struct rna_value){0};

	if (has_answer(run, RNA_MAD_CONGESTION))
		return rna_value_ok(1);
	if (run->answer && run->answer->status[RNA_MAD_CONGESTION] == -EOPNOTSUPP)
		return rna_value_ok(0);
	return before;
}

/* -- Counters ---------------------------------------------------------------------------------- */

static const struct rna_counter_group *find_group(const struct rna_collect_input *in, unsigned port)
{
	const struct rna_fabric *previous = (const void *)in->previous;

	return RNA_FIND(i, previous->counters.groups, previous ? previous->counters.group_count : 0,
			previous->counters.groups[i].port == port);
}

/*
 * Is this detail missing in the answer only temporarily? Then its last number stays the base of the
 * next difference, unless the port reported that it does not support it.
 */
static bool is_missed(const struct run *run, size_t detail, const struct rna_counter *counter,
		      const struct rna_counter_group *before)
{
	int status = run->memory.status[rna_mad_topic_of_detail(detail)];

	return status != 0 && status != -EOPNOTSUPP && rna_counter_group_find(before, counter);
}

/* Stores the counters that the port supports, in table order. */
static void set_counters(struct run *run, unsigned port, struct rna_counter_group *group)
{
	const struct rna_mad_counter *details = run->memory.details;
	const struct rna_counter_group *before = find_group(run->in, port);
	struct rna_counter_value *values =
		rna_arena_array(run->arena, RNA_MAD_DETAILS, sizeof(*values));

	*group = (struct rna_counter_group){
		.place = RNA_PLACE_PORT_FABRIC,
		.port = port,
		.generation = run->in->device->generation,
		.capability = run->memory.capability,
		.values = values,
	};
	run->no_memory |= !values;
	for (size_t i = 0; values && i < RNA_MAD_DETAILS; i++) {
		const struct rna_counter *counter =
			rna_counter_find(RNA_PLACE_PORT_FABRIC, details[i].file);
		bool missed = is_missed(run, i, counter, before);

		if (missed || details[i].value.state != RNA_VALUE_ABSENT)
			values[group->count++] = (struct rna_counter_value){
				.counter = counter,
				.file = counter->file,
				.value = missed ? rna_value_unreadable() : details[i].value,
			};
	}
	if (values)
		rna_counter_group_extend(group, values, before);
}

/* -- Whom to ask what, and when again ---------------------------------------------------------- */

static unsigned choose_topics(const struct rna_port_fabric *before, rna_usec now)
{
	unsigned topics = 0;

	for (unsigned topic = 0; topic < RNA_MAD_TOPIC_COUNT; topic++)
		if (!before || before->retry[topic] <= now)
			topics |= 1U << topic;
	return topics;
}

/*
 * Has the LID of the manager changed? Then another manager may be there that was not queried yet.
 */
static bool has_other_lid(const struct run *run, const struct rna_manager *manager)
{
	return run->before && run->before->manager.lid.number != manager->lid.number;
}

/*
 * With 80,000 ports and one query per minute the manager would get a thousand queries per second.
 */
static rna_usec next_manager_read_time(const struct run *run, rna_usec now)
{
	bool master = run->answer->manager.state.number == RNA_MANAGER_MASTER;

	return master ? now + MANAGER_PAUSE : 0;
}

static bool is_about_peer(enum rna_mad_topic topic)
{
	return topic <= RNA_MAD_PEER_PORT;
}

static bool is_peer_protected(const struct rna_port_fabric *port)
{
	return port->silent[RNA_MAD_PEER_NODE] >= PROTECTED_MAX;
}

static bool has_changed(const struct run *run, const struct rna_port_fabric *port)
{
	return run->before && run->before->look != port->look;
}

/* After silence. A manager that never answered is protected as well if the peer is. */
static rna_usec next_try(const struct run *run, const struct rna_port_fabric *port,
			 enum rna_mad_topic topic, rna_usec now)
{
	bool manager = topic == RNA_MAD_MANAGER;

	if (has_changed(run, port))
		return 0;
	if (is_peer_protected(port) && (is_about_peer(topic) || (manager && !port->manager.guid)))
		return NEVER;
	return !manager && port->silent[topic] < SILENT_MAX ? 0 : now + SILENT_PAUSE;
}

static rna_usec next_read_time(const struct run *run, const struct rna_port_fabric *port,
			       enum rna_mad_topic topic, rna_usec now)
{
	bool link = run->answer->port.physical_state.number == RNA_PHYSICAL_LINK_UP;

	if (topic == RNA_MAD_MANAGER && has_other_lid(run, &port->manager))
		return 0;
	switch (run->answer->status[topic]) {
	case 0:
		if (topic == RNA_MAD_MANAGER)
			return next_manager_read_time(run, now);
		return topic == RNA_MAD_CONGESTION ? now + SETTLED_PAUSE : 0;
	case RNA_MAD_NOT_ASKED: /* the cable may have been moved to another peer */
		if (!run->before || (!link && is_about_peer(topic)))
			return 0;
		return run->before->retry[topic] == NEVER && has_changed(run, port)
			       ? 0
			       : run->before->retry[topic];
	case -EOPNOTSUPP:
		return now + REFUSED_PAUSE;
	default:
		return next_try(run, port, topic, now);
	}
}

/* Consecutive unanswered queries, up to the limit. */
static unsigned char count_silence(const struct run *run, enum rna_mad_topic topic, int status)
{
	unsigned char before = run->before ? run->before->silent[topic] : 0;

	if (status == RNA_MAD_NOT_ASKED)
		return before;
	if (status == 0 || status == -EOPNOTSUPP)
		return 0;
	return before < SILENT_MAX ? before + 1 : SILENT_MAX;
}

static void set_pauses(const struct run *run, struct rna_port_fabric *port)
{
	struct rna_part *part = &run->fabric->counters.part;

	for (unsigned topic = 0; topic < RNA_MAD_TOPIC_COUNT; topic++) {
		int status = run->memory.status[topic];

		port->silent[topic] = count_silence(run, topic, status);
		if (run->answer)
			port->retry[topic] =
				next_read_time(run, port, topic, part->started.monotonic);
		else if (run->before)
			port->retry[topic] = run->before->retry[topic];
		if (status < 0 && status != -EOPNOTSUPP)
			rna_part_count_error(part, status);
	}
}

/* A hash of the values that a subnet manager sets. */
static uint64_t look_of(const struct rna_mad_port *port)
{
	const uint64_t numbers[] = {port->state.number, port->lid.number, port->sm_lid.number};
	uint64_t hash = RNA_HASH_INIT;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(numbers); i++)
		hash = rna_hash_number(hash, numbers[i]);
	return hash;
}

/* Without a link there is no peer to require anything. */
static struct rna_value find_key_required(const struct run *run, const struct rna_port_fabric *port,
					  int status)
{
	if (status == -ENOKEY)
		return rna_value_ok(1);
	if (run->answer && run->answer->port.physical_state.number == RNA_PHYSICAL_LINK_UP)
		return rna_value_ok(is_peer_protected(port));
	return (struct rna_value){0};
}

static const struct rna_port_fabric *find_before(const struct rna_collect_input *in, unsigned port)
{
	const struct rna_fabric *previous = (const void *)in->previous;

	return RNA_FIND(i, previous->ports, previous ? previous->port_count : 0,
			previous->ports[i].number == port);
}

/* False: nothing is known of the port. */
static bool read_port(struct run *run, unsigned number, struct rna_port_fabric *port,
		      struct rna_counter_group *group)
{
	rna_usec now = run->fabric->counters.part.started.monotonic;
	const struct rna_counter_group *counted = find_group(run->in, number);
	int status;

	run->before = find_before(run->in, number);
	run->memory.capability = counted ? counted->capability : (struct rna_value){0};
	rna_mad_init_fabric(&run->memory);
	run->answer = NULL;
	status = rna_ask_fabric(run->in, number, choose_topics(run->before, now),
				&run->fabric->counters.part, &run->memory);
	if (status == 0)
		run->answer = &run->memory;
	if (!has_answer(run, RNA_MAD_PKEYS) &&
	    !(run->before && run->before->pkeys_known && !run->before->pkeys_from_files))
		read_pkey_files(run, number, &run->memory.pkeys);
	if (!run->answer && !run->before && status != -ENOKEY && run->memory.pkeys.count == 0)
		return false;
	*port = (struct rna_port_fabric){
		.number = number,
		.answered =
			run->answer || status == -ENOKEY || (run->before && run->before->answered),
	};
	set_peer(run, port);
	set_manager(run, &port->manager);
	set_pkeys(run, port);
	port->congestion_control = find_congestion_control(run);
	if (run->answer)
		port->virtual_lanes = run->answer->port.virtual_lanes;
	if (run->answer)
		port->look = look_of(&run->answer->port);
	set_counters(run, number, group);
	set_pauses(run, port);
	port->key_required = find_key_required(run, port, status);
	return true;
}

static int read_all(const struct rna_collect_input *in, struct rna_fabric *fabric)
{
	const struct rna_device *device = in->device;
	struct rna_arena *arena = fabric->counters.part.arena;
	struct rna_port_fabric *ports = rna_arena_array(arena, device->port_count, sizeof(*ports));
	struct rna_counter_group *groups =
		rna_arena_array(arena, device->port_count, sizeof(*groups));
	struct run run = {.in = in, .fabric = fabric, .arena = arena};

	if (!ports || !groups)
		return -ENOMEM;
	for (size_t i = 0; i < device->port_count && !in->options.no_mads; i++) {
		struct rna_counter_group group = {0};

		if (!read_port(&run, device->ports[i], &ports[fabric->port_count], &group))
			continue;
		fabric->port_count++;
		if (group.count > 0)
			groups[fabric->counters.group_count++] = group;
	}
	fabric->ports = ports;
	fabric->counters.groups = groups;
	return run.no_memory ? -ENOMEM : 0;
}

RNA_DEFINE_COLLECT(fabric, FABRIC, struct rna_fabric,
		   (sizeof(struct rna_port_fabric) + sizeof(struct rna_counter_group)) *
			   in->device->port_count,
		   0, "cannot query the fabric", read_all(in, part))
