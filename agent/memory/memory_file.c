// SPDX-License-Identifier: Apache-2.0
/*
 * What is kept of the memory, in the two files of the state directory; and how all of it is freed.
 *
 * A file has the number of its format. One of a later version is not read, and so never written
 * over by a program that would lose half of it. Times are microseconds since the epoch.
 */
#include <errno.h>
#include <search.h>
#include <string.h>

#include "rna/base/kept.h"

#include "memory.h"

enum { VERSION = 1 };

/*
 * Limits of a file, far above what the agent writes. The start waits for both files, and so does
 * the loop after "expect accept": reading has to take less than a second and some 100 MiB.
 */
static const struct rna_json_limits limits = {
	.memory = 128 << 20,
	.levels = 16,
	.flags = JSON_REJECT_DUPLICATES,
};

enum {
	ENTRIES_MAX = 65536, /* devices, or accepted states */
	PORTS_MAX = 4096,    /* of a device */
	NAMES_MAX = 4096,    /* of labels, conditions and taints */
	NICS_MAX = 4096,
	RAILS_MAX = 4096,
};

/* -- Ports ------------------------------------------------------------------------------------- */

static void keep_fact(struct rna_kept *kept, const char *name, struct rna_value *fact)
{
	bool known = rna_value_is_known(*fact), number = fact->number;

	if (kept->reads)
		known = json_is_boolean(json_object_get(kept->object, name));
	if (known)
		RNA_KEEP(kept, name, number);
	if (kept->reads)
		*fact = known ? rna_value_ok(number) : (struct rna_value){0};
}

/* One that is damaged, or of a kind that is not known, costs only itself. */
static void keep_test(struct rna_kept *kept, void *record)
{
	struct rna_selftest_run *run = record;
	struct rna_loopback_request *request = &run->request;
	struct rna_loopback_result *result = &run->result;

	RNA_KEEP(kept, "time", run->time.realtime);
	RNA_KEEP_WORD(kept, "memory", request->endpoint, rna_endpoint_name, RNA_ENDPOINT_COUNT);
	RNA_KEEP(kept, "numa_node", request->memory_node);
	rna_keep_chars(kept, "gpu", request->gpu, sizeof(request->gpu));
	RNA_KEEP(kept, "size", request->size);
	RNA_KEEP(kept, "qps", request->qps);
	RNA_KEEP_WORD(kept, "end", result->end, rna_loopback_end_name, RNA_LOOPBACK_END_COUNT);
	RNA_KEEP(kept, "bandwidth", result->bandwidth);
	RNA_KEEP(kept, "latency_median", result->latency_median);
	RNA_KEEP(kept, "latency_p99", result->latency_p99);
	keep_fact(kept, "relaxed_ordering", &result->relaxed_ordering);
	keep_fact(kept, "pci_relaxed_ordering", &result->pci_relaxed_ordering);
	RNA_KEEP(kept, "bytes", result->bytes);
	RNA_KEEP(kept, "duration", result->duration);
	rna_keep_chars(kept, "text", result->text, sizeof(result->text));
	RNA_KEEP(kept, "expected", run->expected);
	RNA_KEEP_WORD(kept, "grade", run->grade, rna_grade_name, RNA_GRADE_COUNT);
	RNA_KEEP(kept, "on_demand", run->on_demand);
	if (kept->reads)
		request->gid_index = -1;
	rna_kept_want(kept, run->time.realtime > 0 && request->endpoint < RNA_ENDPOINT_COUNT &&
				    result->end < RNA_LOOPBACK_END_COUNT &&
				    run->grade < RNA_GRADE_COUNT);
}

/* Is there no such text, or one that the collector could have written? */
static bool fits(const struct rna_peer_memory *peer, const char *text)
{
	enum { NODE_DESCRIPTION = 64, TLV = 3 * 255 }; /* LLDP: as hexadecimal digits with colons */

	return !text || strlen(text) <= (peer->source == RNA_PEER_BY_LLDP ? TLV : NODE_DESCRIPTION);
}

/* A damaged peer costs only itself: the agent learns it again when the link is up. */
static void keep_peer(struct rna_kept *kept, void *record)
{
	struct rna_peer_memory *peer = record;

	RNA_KEEP(kept, "hca", peer->hca);
	RNA_KEEP(kept, "name", peer->name);
	RNA_KEEP_WORD(kept, "source", peer->source, rna_peer_source_name, RNA_PEER_BY_LLDP + 1);
	RNA_KEEP(kept, "port", peer->port);
	RNA_KEEP(kept, "port_description", peer->port_description);
	RNA_KEEP(kept, "guid", peer->guid);
	RNA_KEEP(kept, "system_image_guid", peer->system_image_guid);
	RNA_KEEP(kept, "type", peer->type);
	RNA_KEEP(kept, "lid", peer->lid);
	RNA_KEEP(kept, "seen", peer->seen);
	if (peer->source > RNA_PEER_BY_LLDP)
		peer->source = RNA_PEER_BY_MAD; /* as in older files */
	rna_kept_want(kept, peer->hca && peer->guid && fits(peer, peer->hca) &&
				    fits(peer, peer->name) && fits(peer, peer->port) &&
				    fits(peer, peer->port_description) && fits(peer, peer->guid) &&
				    fits(peer, peer->system_image_guid));
}

void rna_peer_memory_deinit(struct rna_peer_memory *memory)
{
	rna_kept_free(keep_peer, memory, sizeof(*memory));
}

static void keep_former(struct rna_kept *kept, const char *text, const char *changed,
			struct rna_former_memory *former)
{
	RNA_KEEP(kept, text, former->text);
	if (former->text)
		RNA_KEEP(kept, changed, former->changed);
}

static void keep_port(struct rna_kept *kept, void *record)
{
	struct rna_port_memory *port = record;

	RNA_KEEP(kept, "port", port->number);
	RNA_KEEP(kept, "netdev", port->netdev);
	keep_former(kept, "former_netdev", "netdev_renamed", &port->former_netdev);
	RNA_KEEP(kept, "first_active", port->first_active);
	RNA_KEEP(kept, "last_active", port->last_active);
	RNA_KEEP(kept, "best_rate", port->best.rate);
	RNA_KEEP(kept, "best_since", port->best.since);
	RNA_KEEP(kept, "last_test", port->last_test);
	RNA_KEEP(kept, "last_good_test", port->last_good_test);
	if (!kept->writes || port->test_count > 0)
		RNA_KEEP_ARRAY(kept, "tests", keep_test, port->tests, port->test_count,
			       RNA_TESTS_REMEMBERED, false);
	RNA_KEEP_RECORD(kept, "peer", keep_peer, port->peer);
	for (size_t i = 0; kept->reads && i < port->test_count; i++)
		port->tests[i].request.port = port->number;
	rna_kept_want(kept, port->number > 0 && port->number <= UINT16_MAX);
}

/* -- Devices ----------------------------------------------------------------------------------- */

static void keep_device(struct rna_kept *kept, void *record)
{
	struct rna_device_memory *device = record;

	RNA_KEEP(kept, "key", device->key);
	RNA_KEEP(kept, "name", device->name);
	keep_former(kept, "former_name", "renamed", &device->former_name);
	RNA_KEEP(kept, "pci_address", device->pci_address);
	RNA_KEEP(kept, "node_guid", device->guid);
	RNA_KEEP(kept, "node_guid_since", device->guid_since);
	keep_former(kept, "former_node_guid", "replaced", &device->former_guid);
	RNA_KEEP(kept, "last_seen", device->last_seen);
	RNA_KEEP_ARRAY(kept, "ports", keep_port, device->ports, device->port_count, PORTS_MAX,
		       true);
	if (kept->reads)
		device->lasting = true;
}

struct rna_device_memory *rna_device_memory_free(struct rna_device_memory *device)
{
	if (!device)
		return NULL;
	for (size_t i = 0; i < device->port_count; i++) {
		(void)rna_rates_free(device->ports[i].rates);
		(void)rna_user_memory_free(device->ports[i].user);
	}
	rna_kept_free(keep_device, device, sizeof(*device));
	free(device);
	return NULL;
}

/* A key that cannot be read back as it is, is not written: it would be a missing device. */
static bool has_legal_key(const struct rna_device_memory *device)
{
	RNA_CLEANUP(rna_json_free_p) json_t *key = json_string(device->key);

	return key != NULL;
}

static void write_devices(struct rna_kept *kept, const struct rna_memory *memory)
{
	json_t *list = json_array();

	for (size_t i = 0; i < memory->count; i++) {
		const struct rna_device_memory *device = memory->devices[i];

		if (device->lasting && device->last_seen > 0 && has_legal_key(device))
			rna_json_append(kept->writer, list,
					rna_kept_write(kept->writer, keep_device, device));
	}
	rna_json_set(kept->writer, kept->object, "devices", list);
}

static int read_device(struct rna_memory *memory, const json_t *object)
{
	const char *key = rna_kept_text(object, "key");
	struct rna_device_memory *device;

	if (!key || !rna_kept_text(object, "name") ||
	    !json_is_array(json_object_get(object, "ports")))
		return -EBADMSG;
	device = rna_memory_device(memory, key);
	return device ? rna_kept_read(object, keep_device, device, NULL) : -ENOMEM;
}

static int read_devices(struct rna_kept *kept, struct rna_memory *memory)
{
	const json_t *list = json_object_get(kept->object, "devices");

	for (size_t i = 0; i < json_array_size(list); i++) {
		int status = read_device(memory, json_array_get(list, i));

		if (status == -E2BIG)
			return rna_error_say(kept->error, -EBADMSG,
					     "entry %zu of devices has too many ports; at most %d "
					     "are read",
					     i + 1, PORTS_MAX);
		if (status < 0)
			return rna_kept_fail("devices", i, status, kept->error);
	}
	return 0;
}

/* -- The node ---------------------------------------------------------------------------------- */

static const char *const verdict_words[] = {
	[RNA_VERDICT_UNKNOWN] = "unknown",
	[RNA_VERDICT_NONE] = "none",
	[RNA_VERDICT_VALUE] = "value",
};
#define VERDICT_WORD(kind) verdict_words[kind]
enum { VERDICT_COUNT = RNA_ARRAY_SIZE(verdict_words) };

/* An impossible verdict counts as none: it is decided again. */
static void keep_published(struct rna_kept *kept, void *record)
{
	struct rna_published *published = record;
	struct rna_node_verdict *verdict = &published->verdict;
	const char *value = kept->reads ? rna_kept_text(kept->object, "value") : NULL;

	RNA_KEEP(kept, "name", published->name);
	RNA_KEEP_WORD(kept, "kind", verdict->kind, VERDICT_WORD, VERDICT_COUNT);
	if (kept->writes && verdict->kind == RNA_VERDICT_VALUE)
		rna_keep_chars(kept, "value", verdict->value, sizeof(verdict->value));
	RNA_KEEP(kept, "rank", verdict->rank);
	RNA_KEEP(kept, "message", published->message);
	RNA_KEEP(kept, "since", published->since);
	if (kept->writes)
		rna_kept_want(kept, published->decided);
	else if (!kept->reads)
		free(published->next_message);
	if (!kept->reads)
		return;
	rna_kept_want(kept, published->name && rna_kept_text(kept->object, "kind"));
	published->decided = (unsigned)verdict->kind < VERDICT_COUNT;
	if (!published->decided)
		verdict->kind = RNA_VERDICT_UNKNOWN;
	if (verdict->kind == RNA_VERDICT_VALUE)
		published->decided = value && rna_label_value_make(value, verdict->value);
}

#define NAME_WORD(taint) ((taint) ? "taint" : "label")

static void keep_name(struct rna_kept *kept, void *record)
{
	struct rna_node_name *name = record;
	unsigned taint = name->taint;

	RNA_KEEP_WORD(kept, "kind", taint, NAME_WORD, 2);
	RNA_KEEP(kept, "key", name->key);
	if (kept->reads)
		name->taint = taint == 1;
	rna_kept_want(kept, name->key && rna_kept_text(kept->object, "kind"));
}

static void keep_node(struct rna_kept *kept, void *record)
{
	struct rna_node_memory *node = record;

	if (kept->writes && node->count == 0 && node->name_count == 0)
		return;
	RNA_KEEP_ARRAY(kept, "told", keep_published, node->items, node->count, NAMES_MAX, true);
	RNA_KEEP_ARRAY(kept, "names", keep_name, node->names, node->name_count, NAMES_MAX, true);
}

void rna_node_memory_deinit(struct rna_node_memory *memory)
{
	rna_kept_free(keep_node, memory, sizeof(*memory));
}

static void keep_nic(struct rna_kept *kept, void *record)
{
	struct rna_known_nic *nic = record;

	RNA_KEEP(kept, "address", nic->address);
	RNA_KEEP(kept, "vendor", nic->vendor_id);
	RNA_KEEP(kept, "device", nic->device_id);
	RNA_KEEP(kept, "rdma", nic->had_device);
	if (kept->reads)
		nic->rail = -1;
	if (!kept->writes || nic->rail >= 0)
		RNA_KEEP(kept, "rail", nic->rail);
	rna_kept_want(kept, nic->address && nic->rail >= -1 && nic->rail < RAILS_MAX);
}

/* Damaged ones cost only themselves. */
static void keep_rails(struct rna_kept *kept, void *record)
{
	struct rna_rail_memory *rails = record;

	RNA_KEEP(kept, "learned", rails->learned);
	RNA_KEEP(kept, "gpus", rails->gpu_count);
	RNA_KEEP_ARRAY(kept, "nics", keep_nic, rails->nics, rails->count, NICS_MAX, true);
	rna_kept_want(kept, rails->learned > 0 && rails->count > 0);
	if (kept->reads)
		rails->version++;
}

void rna_rail_memory_deinit(struct rna_rail_memory *memory)
{
	rna_kept_free(keep_rails, memory, sizeof(*memory));
}

static void keep_quiesced(struct rna_kept *kept, void *record)
{
	struct rna_quiesced *quiesced = record;

	RNA_KEEP(kept, "boot", quiesced->boot);
	RNA_KEEP(kept, "until", quiesced->until);
	RNA_KEEP(kept, "node", quiesced->node);
	RNA_KEEP(kept, "node_until", quiesced->node_until);
	rna_kept_want(kept, quiesced->boot);
}

/* -- memory.json ------------------------------------------------------------------------------- */

/* Older files lack what follows the devices. */
static void keep_memory(struct rna_kept *kept, void *record)
{
	struct rna_memory *memory = record;

	if (kept->writes)
		write_devices(kept, memory);
	else
		kept->status = read_devices(kept, memory);
	keep_node(kept, &memory->node);
	RNA_KEEP_RECORD(kept, "rails", keep_rails, memory->rails);
	RNA_KEEP_RECORD(kept, "quiesced", keep_quiesced, memory->quiesced);
}

static void keep_in_list(void *device)
{
	(void)device; /* the list owns it */
}

void rna_memory_deinit(struct rna_memory *memory)
{
	tdestroy(memory->by_key, keep_in_list);
	for (size_t i = 0; i < memory->count; i++)
		(void)rna_device_memory_free(memory->devices[i]);
	free(memory->devices);
	for (size_t i = 0; i < RNA_CHANGE_KIND_COUNT; i++)
		rna_history_deinit(&memory->histories[i]);
	rna_kept_free(keep_memory, memory, sizeof(*memory));
}

void rna_memory_write(const struct rna_memory *memory, struct rna_strbuf *out)
{
	rna_kept_write_file(keep_memory, memory, VERSION, out);
}

/* A file without the list of that name is another one. */
static int read_file(const char *text, size_t len, const char *name, rna_kept_members *members,
		     void *record, struct rna_error *error)
{
	RNA_CLEANUP(rna_json_free_p) json_t *file = NULL;
	int status = rna_kept_read_file(text, len, &limits, VERSION, &file, error);
	size_t count;

	if (status < 0)
		return status;
	count = json_array_size(json_object_get(file, name));
	if (!json_is_array(json_object_get(file, name)))
		return rna_error_say(error, -EBADMSG, "not a state file of the agent");
	if (count > ENTRIES_MAX)
		return rna_error_say(error, -EBADMSG, "%s has %zu entries; at most %d are read",
				     name, count, ENTRIES_MAX);
	status = rna_kept_read(file, members, record, error);
	return status == -E2BIG ? -EBADMSG : status;
}

int rna_memory_read(struct rna_memory *memory, const char *text, size_t len,
		    struct rna_error *error)
{
	RNA_CLEANUP(rna_memory_deinit) struct rna_memory read = RNA_MEMORY_INIT;
	int status = read_file(text, len, "devices", keep_memory, &read, error);

	if (status < 0)
		return status;
	*memory = read;
	read = RNA_MEMORY_INIT;
	return 0;
}

/* -- accepted.json ----------------------------------------------------------------------------- */

static const char *const expected_words[] = {
	[RNA_EXPECTED_UNKNOWN] = "", /* is not written */
	[RNA_EXPECTED_UP] = "up",
	[RNA_EXPECTED_DOWN] = "down",
};
#define EXPECTED_WORD(expected) expected_words[expected]

/* What was accepted of a device, or of its port. */
struct accepted_entry {
	const char *device;
	unsigned port; /* 0: of the device */
	struct rna_accepted accepted;
};

static void keep_entry(struct rna_kept *kept, void *record)
{
	struct accepted_entry *entry = record;
	struct rna_accepted *accepted = &entry->accepted;

	RNA_KEEP(kept, "device", entry->device);
	RNA_KEEP(kept, "port", entry->port);
	RNA_KEEP_WORD(kept, "state", accepted->expected, EXPECTED_WORD, RNA_EXPECTED_DOWN + 1);
	RNA_KEEP(kept, "time", accepted->time);
	rna_kept_want(kept, entry->device && entry->port <= UINT16_MAX &&
				    accepted->expected != RNA_EXPECTED_UNKNOWN &&
				    accepted->expected <= RNA_EXPECTED_DOWN);
}

struct accepted_list {
	size_t count;
	struct accepted_entry *items;
	rna_usec rails;
};

static void keep_entries(struct rna_kept *kept, void *record)
{
	struct accepted_list *entries = record;

	RNA_KEEP_ARRAY(kept, "accepted", keep_entry, entries->items, entries->count, ENTRIES_MAX,
		       true);
	RNA_KEEP(kept, "rails", entries->rails);
}

static void entries_deinit(struct accepted_list *entries)
{
	rna_kept_free(keep_entries, entries, sizeof(*entries));
}

void rna_accepted_write(const struct rna_memory *memory, struct rna_strbuf *out)
{
	RNA_FREE struct accepted_entry *items = NULL; /* their texts are those of the memory */
	struct accepted_list entries = {.rails = memory->rails.accepted};
	size_t max = 1;

	for (size_t i = 0; i < memory->count; i++)
		max += 1 + memory->devices[i]->port_count;
	items = calloc(max, sizeof(*items));
	out->failed |= !items;
	for (size_t i = 0; items && i < memory->count; i++) {
		const struct rna_device_memory *device = memory->devices[i];

		if (!has_legal_key(device))
			continue;
		items[entries.count++] = (struct accepted_entry){device->key, 0, device->accepted};
		for (size_t p = 0; p < device->port_count; p++)
			items[entries.count++] =
				(struct accepted_entry){device->key, device->ports[p].number,
							device->ports[p].accepted};
	}
	entries.items = items;
	rna_kept_write_file(keep_entries, &entries, VERSION, out);
}

static void forget_accepted(struct rna_memory *memory)
{
	for (size_t i = 0; i < memory->count; i++) {
		struct rna_device_memory *device = memory->devices[i];

		device->accepted = (struct rna_accepted){0};
		for (size_t p = 0; p < device->port_count; p++)
			device->ports[p].accepted = (struct rna_accepted){0};
	}
}

/* False: no memory. */
static bool accept_entry(struct rna_memory *memory, const struct accepted_entry *entry)
{
	struct rna_device_memory *device = rna_memory_device(memory, entry->device);
	struct rna_port_memory *port =
		device && entry->port > 0 ? rna_memory_port(device, entry->port) : NULL;

	if (!device || (entry->port > 0 && !port))
		return false;
	*(port ? &port->accepted : &device->accepted) = entry->accepted;
	return true;
}

int rna_accepted_read(struct rna_memory *memory, const char *text, size_t len,
		      struct rna_error *error)
{
	RNA_CLEANUP(entries_deinit) struct accepted_list entries = {0};
	int status = read_file(text, len, "accepted", keep_entries, &entries, error);

	if (status < 0)
		return status;
	forget_accepted(memory);
	memory->rails.accepted = entries.rails;
	memory->rails.version++;
	for (size_t i = 0; i < entries.count; i++)
		if (!accept_entry(memory, &entries.items[i]))
			return rna_error_set(error, -ENOMEM, "cannot read the accepted states");
	return 0;
}
