// SPDX-License-Identifier: Apache-2.0
/*
 * The memory as JSON: the two files of the state directory.
 *
 * A file has the number of its format. One of a later version is not read, and so never
 * written over by a program that would lose half of it. Members that are not known are left alone
 * in reading, and a member that is missing is 0 or NULL. Times are microseconds since the epoch.
 */
#include <errno.h>
#include <string.h>

#include "rna/base/json_document.h"
#include "rna/base/parse.h"

#include "memory.h"

#define LABEL "label"
#define TAINT "taint"

enum {
	VERSION = 1,
	INDENT = 1,
};

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
};

/* -- Writing ----------------------------------------------------------------------------------- */

static void set_number(struct rna_json_writer *writer, json_t *object, const char *name,
		       uint64_t number)
{
	rna_json_keep_number(writer, object, name, number);
}

static void set_text(struct rna_json_writer *writer, json_t *object, const char *name,
		     const char *text)
{
	rna_json_keep_text(writer, object, name, text);
}

/* A key that cannot be read back as it is, is not written: it would be a missing device. */
static bool has_legal_key(const struct rna_device_memory *device)
{
	RNA_CLEANUP(rna_json_free_p) json_t *key = json_string(device->key);

	return key != NULL;
}

static void set_fact(struct rna_json_writer *writer, json_t *object, const char *name,
		     struct rna_value fact)
{
	if (rna_value_is_known(fact))
		rna_json_set(writer, object, name, json_boolean(fact.number));
}

static json_t *test_object(struct rna_json_writer *writer, const struct rna_selftest_run *run)
{
	const struct rna_loopback_request *request = &run->request;
	const struct rna_loopback_result *result = &run->result;
	json_t *object = json_object();

	set_number(writer, object, "time", run->time.realtime);
	set_text(writer, object, "memory", rna_endpoint_name(request->endpoint));
	rna_json_set(writer, object, "numa_node", json_integer(request->memory_node));
	set_text(writer, object, "gpu", request->gpu);
	set_number(writer, object, "size", request->size);
	set_number(writer, object, "qps", request->qps);
	set_text(writer, object, "end", rna_loopback_end_name(result->end));
	set_number(writer, object, "bandwidth", result->bandwidth);
	set_number(writer, object, "latency_median", result->latency_median);
	set_number(writer, object, "latency_p99", result->latency_p99);
	set_fact(writer, object, "relaxed_ordering", result->relaxed_ordering);
	set_fact(writer, object, "pci_relaxed_ordering", result->pci_relaxed_ordering);
	set_number(writer, object, "bytes", result->bytes);
	set_number(writer, object, "duration", result->duration);
	set_text(writer, object, "text", result->text);
	set_number(writer, object, "expected", run->expected);
	set_text(writer, object, "grade", rna_grade_name(run->grade));
	rna_json_set(writer, object, "on_demand", json_boolean(run->on_demand));
	return object;
}

static json_t *peer_object(struct rna_json_writer *writer, const struct rna_peer_memory *peer)
{
	json_t *object = json_object();

	set_text(writer, object, "hca", peer->hca);
	set_text(writer, object, "name", peer->name);
	set_text(writer, object, "source", rna_peer_source_name(peer->source));
	set_text(writer, object, "port", peer->port);
	set_text(writer, object, "port_description", peer->port_description);
	set_text(writer, object, "guid", peer->guid);
	set_text(writer, object, "system_image_guid", peer->system_image_guid);
	set_number(writer, object, "type", peer->type);
	set_number(writer, object, "lid", peer->lid);
	set_number(writer, object, "seen", peer->seen);
	return object;
}

/* The members that hold what something was before. */
struct former_words {
	const char *text, *changed;
};

static const struct former_words netdev_words = {"former_netdev", "netdev_renamed"},
				 name_words = {"former_name", "renamed"},
				 guid_words = {"former_node_guid", "replaced"};

static void set_former(struct rna_json_writer *writer, json_t *object,
		       const struct former_words *as, const struct rna_former_memory *former)
{
	if (!former->text)
		return;
	set_text(writer, object, as->text, former->text);
	set_number(writer, object, as->changed, former->changed);
}

static json_t *port_object(struct rna_json_writer *writer, const struct rna_port_memory *port)
{
	json_t *object = json_object(), *tests = port->test_count > 0 ? json_array() : NULL;

	rna_json_set(writer, object, "port", json_integer(port->number));
	set_text(writer, object, "netdev", port->netdev);
	set_former(writer, object, &netdev_words, &port->former_netdev);
	set_number(writer, object, "first_active", port->first_active);
	set_number(writer, object, "last_active", port->last_active);
	set_number(writer, object, "best_rate", port->best.rate);
	set_number(writer, object, "best_since", port->best.since);
	set_number(writer, object, "last_test", port->last_test);
	set_number(writer, object, "last_good_test", port->last_good_test);
	for (size_t i = 0; i < port->test_count; i++)
		rna_json_append(writer, tests, test_object(writer, &port->tests[i]));
	if (tests)
		rna_json_set(writer, object, "tests", tests);
	if (port->peer.hca)
		rna_json_set(writer, object, "peer", peer_object(writer, &port->peer));
	return object;
}

static json_t *device_object(struct rna_json_writer *writer, const struct rna_device_memory *device)
{
	json_t *object = json_object(), *ports = json_array();

	set_text(writer, object, "key", device->key);
	set_text(writer, object, "name", device->name);
	set_former(writer, object, &name_words, &device->former_name);
	set_text(writer, object, "pci_address", device->pci_address);
	set_text(writer, object, "node_guid", device->guid);
	set_number(writer, object, "node_guid_since", device->guid_since);
	set_former(writer, object, &guid_words, &device->former_guid);
	set_number(writer, object, "last_seen", device->last_seen);
	for (size_t i = 0; i < device->port_count; i++)
		rna_json_append(writer, ports, port_object(writer, &device->ports[i]));
	rna_json_set(writer, object, "ports", ports);
	return object;
}

static const char *const kinds[] = {
	[RNA_VERDICT_UNKNOWN] = "unknown",
	[RNA_VERDICT_NONE] = "none",
	[RNA_VERDICT_VALUE] = "value",
};

static json_t *published_object(struct rna_json_writer *writer,
				const struct rna_published *published)
{
	json_t *object = json_object();

	set_text(writer, object, "name", published->name);
	set_text(writer, object, "kind", kinds[published->verdict.kind]);
	if (published->verdict.kind == RNA_VERDICT_VALUE)
		set_text(writer, object, "value", published->verdict.value);
	rna_json_set(writer, object, "rank", json_integer(published->verdict.rank));
	set_text(writer, object, "message", published->message);
	set_number(writer, object, "since", published->since);
	return object;
}

static json_t *name_object(struct rna_json_writer *writer, const struct rna_node_name *name)
{
	json_t *object = json_object();

	set_text(writer, object, "kind", name->taint ? TAINT : LABEL);
	set_text(writer, object, "key", name->key);
	return object;
}

static void add_node(struct rna_json_writer *writer, const struct rna_node_memory *node,
		     json_t *file)
{
	json_t *told = json_array(), *names = json_array();

	for (size_t i = 0; i < node->count; i++)
		if (node->items[i].decided)
			rna_json_append(writer, told, published_object(writer, &node->items[i]));
	for (size_t i = 0; i < node->name_count; i++)
		rna_json_append(writer, names, name_object(writer, &node->names[i]));
	rna_json_set(writer, file, "told", told);
	rna_json_set(writer, file, "names", names);
}

static json_t *quiesced_object(struct rna_json_writer *writer, const struct rna_quiesced *quiesced)
{
	json_t *object = json_object();

	set_text(writer, object, "boot", quiesced->boot);
	set_number(writer, object, "until", quiesced->until);
	set_text(writer, object, "node", quiesced->node);
	set_number(writer, object, "node_until", quiesced->node_until);
	return object;
}

void rna_memory_write(const struct rna_memory *memory, struct rna_strbuf *out)
{
	struct rna_json_writer writer = {0};
	json_t *list = json_array(), *file = rna_json_new_file(&writer, VERSION);

	for (size_t i = 0; i < memory->count; i++)
		if (memory->devices[i]->lasting && memory->devices[i]->last_seen > 0 &&
		    has_legal_key(memory->devices[i]))
			rna_json_append(&writer, list, device_object(&writer, memory->devices[i]));
	rna_json_set(&writer, file, "devices", list);
	if (memory->node.count > 0 || memory->node.name_count > 0)
		add_node(&writer, &memory->node, file);
	rna_rail_memory_write(&writer, &memory->rails, file);
	if (memory->quiesced.boot)
		rna_json_set(&writer, file, "quiesced",
			     quiesced_object(&writer, &memory->quiesced));
	rna_json_write(&writer, file, INDENT, out);
}

static const char *const words[] = {
	[RNA_EXPECTED_UP] = "up",
	[RNA_EXPECTED_DOWN] = "down",
};

static void append_accepted(struct rna_json_writer *writer, json_t *list, const char *key,
			    unsigned port, const struct rna_accepted *accepted)
{
	json_t *object;

	if (accepted->expected == RNA_EXPECTED_UNKNOWN)
		return;
	object = json_object();
	set_text(writer, object, "device", key);
	set_number(writer, object, "port", port);
	set_text(writer, object, "state", words[accepted->expected]);
	set_number(writer, object, "time", accepted->time);
	rna_json_append(writer, list, object);
}

void rna_accepted_write(const struct rna_memory *memory, struct rna_strbuf *out)
{
	struct rna_json_writer writer = {0};
	json_t *list = json_array(), *file = rna_json_new_file(&writer, VERSION);

	for (size_t i = 0; i < memory->count; i++) {
		const struct rna_device_memory *device = memory->devices[i];

		if (!has_legal_key(device))
			continue;
		append_accepted(&writer, list, device->key, 0, &device->accepted);
		for (size_t p = 0; p < device->port_count; p++)
			append_accepted(&writer, list, device->key, device->ports[p].number,
					&device->ports[p].accepted);
	}
	rna_json_set(&writer, file, "accepted", list);
	set_number(&writer, file, "rails", memory->rails.accepted);
	rna_json_write(&writer, file, INDENT, out);
}

/* -- Reading ----------------------------------------------------------------------------------- */

static uint64_t get_number(const json_t *object, const char *name)
{
	return rna_json_kept_number(object, name);
}

static const char *get_text(const json_t *object, const char *name)
{
	return rna_json_kept_text(object, name);
}

/* list: NULL is fine. what: the list, for the error. */
static int check_entries(const json_t *list, const char *what, size_t max, struct rna_error *error)
{
	if (json_array_size(list) <= max)
		return 0;
	return rna_error_say(error, -EBADMSG, "%s has %zu entries; at most %zu are read", what,
			     json_array_size(list), max);
}

/* The list of that name in a file; *ret_file owns it. */
static int read_file(const char *text, size_t len, const char *name, json_t **ret_file,
		     struct rna_error *error)
{
	RNA_CLEANUP(rna_json_free_p) json_t *file = NULL;
	int status = rna_json_read_file(text, len, &limits, VERSION, &file, error);

	if (status < 0)
		return status;
	if (!json_is_array(json_object_get(file, name)))
		return rna_error_say(error, -EBADMSG, "not a state file of the agent");
	status = check_entries(json_object_get(file, name), name, ENTRIES_MAX, error);
	if (status == 0)
		*ret_file = RNA_TAKE(file);
	return status;
}

/* Number of the word in a list of count names; count: it is none of them. */
static unsigned find_word(const json_t *object, const char *member,
			  const char *(*name)(unsigned number), unsigned count)
{
	const char *word = get_text(object, member);
	unsigned number = 0;

	while (number < count && (!word || strcmp(name(number), word) != 0))
		number++;
	return number;
}

static const char *endpoint_word(unsigned number)
{
	return rna_endpoint_name(number);
}

static const char *grade_word(unsigned number)
{
	return rna_grade_name(number);
}

static const char *end_word(unsigned number)
{
	return rna_loopback_end_name(number);
}

static void read_text(const json_t *object, const char *name, char *ret, size_t size)
{
	const char *text = get_text(object, name);

	(void)snprintf(ret, size, "%s", text ? text : "");
}

static struct rna_value get_fact(const json_t *object, const char *name)
{
	const json_t *fact = json_object_get(object, name);

	return json_is_boolean(fact) ? rna_value_ok(json_is_true(fact)) : (struct rna_value){0};
}

/* One that is damaged, or of a kind that is not known, costs only itself. */
static void read_test(struct rna_port_memory *port, const json_t *object)
{
	struct rna_selftest_run run = {.time.realtime = get_number(object, "time")};

	run.request.endpoint = find_word(object, "memory", endpoint_word, RNA_ENDPOINT_COUNT);
	run.result.end = find_word(object, "end", end_word, RNA_LOOPBACK_END_COUNT);
	run.grade = find_word(object, "grade", grade_word, RNA_GRADE_COUNT);
	if (run.time.realtime == 0 || run.request.endpoint == RNA_ENDPOINT_COUNT ||
	    run.result.end == RNA_LOOPBACK_END_COUNT || run.grade == RNA_GRADE_COUNT ||
	    port->test_count == RNA_TESTS_REMEMBERED)
		return;
	run.request.port = port->number;
	run.request.gid_index = -1;
	run.request.memory_node = (int32_t)json_integer_value(json_object_get(object, "numa_node"));
	read_text(object, "gpu", run.request.gpu, sizeof(run.request.gpu));
	run.request.size = (uint32_t)get_number(object, "size");
	run.request.qps = (uint32_t)get_number(object, "qps");
	run.result.bandwidth = get_number(object, "bandwidth");
	run.result.latency_median = get_number(object, "latency_median");
	run.result.latency_p99 = get_number(object, "latency_p99");
	run.result.relaxed_ordering = get_fact(object, "relaxed_ordering");
	run.result.pci_relaxed_ordering = get_fact(object, "pci_relaxed_ordering");
	run.result.bytes = get_number(object, "bytes");
	run.result.duration = get_number(object, "duration");
	read_text(object, "text", run.result.text, sizeof(run.result.text));
	run.expected = get_number(object, "expected");
	run.on_demand = json_is_true(json_object_get(object, "on_demand"));
	port->tests[port->test_count++] = run;
}

static int read_tests(struct rna_port_memory *port, const json_t *list)
{
	size_t count = json_array_size(list);

	free(port->tests);
	port->test_count = 0;
	port->tests = count > 0 ? calloc(RNA_TESTS_REMEMBERED, sizeof(*port->tests)) : NULL;
	if (count > 0 && !port->tests)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		read_test(port, json_array_get(list, i));
	return 0;
}

/* True: there is no such text, or it is one that the collector could have written. */
static bool read_short_text(const json_t *object, const char *name, const char *source,
			    char **field)
{
	enum { NODE_DESCRIPTION = 64, TLV = 3 * 255 }; /* LLDP: as hexadecimal digits with colons */
	const char *text = get_text(object, name);
	bool lldp = rna_same_text(source, rna_peer_source_name(RNA_PEER_BY_LLDP));

	if (!text)
		return true;
	return strlen(text) <= (lldp ? TLV : NODE_DESCRIPTION) && rna_memory_set_text(field, text);
}

/* A damaged peer costs only itself: the agent learns it again when the link is up. */
static void read_peer(struct rna_port_memory *port, const json_t *object)
{
	const char *source = get_text(object, "source"); /* older files: none, it was by MAD */
	struct rna_peer_memory *peer = &port->peer;
	const struct {
		const char *name;
		char **field;
	} texts[] = {
		{"hca", &peer->hca},   {"name", &peer->name},
		{"port", &peer->port}, {"port_description", &peer->port_description},
		{"guid", &peer->guid}, {"system_image_guid", &peer->system_image_guid},
	};
	bool sound = true;

	rna_peer_memory_deinit(peer);
	peer->source = rna_same_text(source, rna_peer_source_name(RNA_PEER_BY_LLDP))
			       ? RNA_PEER_BY_LLDP
			       : RNA_PEER_BY_MAD;
	peer->type = (unsigned)get_number(object, "type");
	peer->lid = get_number(object, "lid");
	peer->seen = get_number(object, "seen");
	for (size_t i = 0; i < RNA_ARRAY_SIZE(texts); i++)
		sound &= read_short_text(object, texts[i].name, source, texts[i].field);
	if (!sound || !peer->hca || !peer->guid)
		rna_peer_memory_deinit(peer);
}

static void read_former(const json_t *object, const struct former_words *as,
			struct rna_former_memory *former)
{
	(void)rna_memory_set_text(&former->text, get_text(object, as->text));
	former->changed = former->text ? get_number(object, as->changed) : 0;
}

static int fail_entry(const char *list, size_t index, int code, struct rna_error *error)
{
	if (code == -E2BIG)
		return rna_error_say(error, -EBADMSG,
				     "entry %zu of %s has too many ports; at most %d are read",
				     index + 1, list, PORTS_MAX);
	return rna_error_say(error, code, "entry %zu of %s %s", index + 1, list,
			     code == -ENOMEM ? "does not fit in memory" : "is damaged");
}

static int read_port(struct rna_device_memory *device, const json_t *object)
{
	uint64_t number = get_number(object, "port");
	struct rna_port_memory *port;

	if (number == 0 || number > UINT16_MAX)
		return -EBADMSG;
	port = rna_memory_port(device, (unsigned)number);
	if (!port)
		return -ENOMEM;
	(void)rna_memory_set_text(&port->netdev, get_text(object, "netdev"));
	read_former(object, &netdev_words, &port->former_netdev);
	port->first_active = get_number(object, "first_active");
	port->last_active = get_number(object, "last_active");
	port->best.rate = get_number(object, "best_rate");
	port->best.since = get_number(object, "best_since");
	port->last_test = get_number(object, "last_test");
	port->last_good_test = get_number(object, "last_good_test");
	read_peer(port, json_object_get(object, "peer"));
	return read_tests(port, json_object_get(object, "tests"));
}

static int read_device(struct rna_memory *memory, const json_t *object)
{
	const char *key = get_text(object, "key"), *name = get_text(object, "name");
	const json_t *ports = json_object_get(object, "ports");
	struct rna_device_memory *device;
	int ret = 0;

	if (!key || !name || !json_is_array(ports))
		return -EBADMSG;
	if (json_array_size(ports) > PORTS_MAX)
		return -E2BIG;
	device = rna_memory_device(memory, key);
	if (!device)
		return -ENOMEM;
	(void)rna_memory_set_text(&device->name, name);
	read_former(object, &name_words, &device->former_name);
	(void)rna_memory_set_text(&device->pci_address, get_text(object, "pci_address"));
	(void)rna_memory_set_text(&device->guid, get_text(object, "node_guid"));
	device->guid_since = get_number(object, "node_guid_since");
	read_former(object, &guid_words, &device->former_guid);
	device->last_seen = get_number(object, "last_seen");
	device->lasting = true;
	for (size_t i = 0; ret == 0 && i < json_array_size(ports); i++)
		ret = read_port(device, json_array_get(ports, i));
	return ret;
}

/* An impossible verdict counts as none: it is decided again. */
static int read_published(struct rna_node_memory *memory, const json_t *object)
{
	const char *name = get_text(object, "name"), *kind = get_text(object, "kind");
	const char *value = get_text(object, "value"), *message = get_text(object, "message");
	struct rna_published *published = name ? rna_published_find(memory, name) : NULL;

	if (!published || !kind)
		return name && kind ? -ENOMEM : -EBADMSG;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(kinds); i++)
		if (strcmp(kinds[i], kind) == 0) {
			published->verdict.kind = (enum rna_verdict_kind)i;
			published->decided = true;
		}
	if (published->verdict.kind == RNA_VERDICT_VALUE)
		published->decided = value && rna_label_value_make(value, published->verdict.value);
	published->verdict.rank = json_integer_value(json_object_get(object, "rank"));
	published->since = get_number(object, "since");
	return rna_memory_set_text(&published->message, message) || !message ? 0 : -ENOMEM;
}

static int read_name(struct rna_node_memory *memory, const json_t *object)
{
	const char *kind = get_text(object, "kind"), *key = get_text(object, "key");

	if (!kind || !key)
		return -EBADMSG;
	return rna_node_name_note(memory, strcmp(kind, TAINT) == 0, key) ? 0 : -ENOMEM;
}

/* What was published on the Node. Older files lack it. */
static int read_node(struct rna_node_memory *memory, const json_t *file, struct rna_error *error)
{
	static const struct {
		const char *name;
		int (*read)(struct rna_node_memory *memory, const json_t *object);
	} lists[] = {{"told", read_published}, {"names", read_name}};

	for (size_t i = 0; i < RNA_ARRAY_SIZE(lists); i++) {
		const json_t *list = json_object_get(file, lists[i].name);
		int ret = check_entries(list, lists[i].name, NAMES_MAX, error);

		if (ret < 0)
			return ret;
		for (size_t k = 0; k < json_array_size(list); k++) {
			ret = lists[i].read(memory, json_array_get(list, k));
			if (ret < 0)
				return fail_entry(lists[i].name, k, ret, error);
		}
	}
	return 0;
}

/* Without memory for it there was none, as in older files. */
static void read_quiesced(struct rna_quiesced *quiesced, const json_t *object)
{
	quiesced->until = get_number(object, "until");
	quiesced->node_until = get_number(object, "node_until");
	(void)rna_memory_set_text(&quiesced->boot, get_text(object, "boot"));
	(void)rna_memory_set_text(&quiesced->node, get_text(object, "node"));
}

int rna_memory_read(struct rna_memory *memory, const char *text, size_t len,
		    struct rna_error *error)
{
	RNA_CLEANUP(rna_memory_deinit) struct rna_memory read = RNA_MEMORY_INIT;
	RNA_CLEANUP(rna_json_free_p) json_t *file = NULL;
	const json_t *list;
	int ret;

	ret = read_file(text, len, "devices", &file, error);
	if (ret < 0)
		return ret;
	list = json_object_get(file, "devices");
	for (size_t i = 0; i < json_array_size(list); i++) {
		ret = read_device(&read, json_array_get(list, i));
		if (ret < 0)
			return fail_entry("devices", i, ret, error);
	}
	ret = read_node(&read.node, file, error);
	if (ret < 0)
		return ret;
	rna_rail_memory_read(&read.rails, file);
	read_quiesced(&read.quiesced, json_object_get(file, "quiesced"));
	*memory = read;
	read = RNA_MEMORY_INIT;
	return 0;
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

/* Where an entry belongs; NULL: no memory. */
static struct rna_accepted *find_accepted(struct rna_memory *memory, const char *key,
					  uint64_t number)
{
	struct rna_device_memory *device = rna_memory_device(memory, key);
	struct rna_port_memory *port;

	if (!device || number == 0)
		return device ? &device->accepted : NULL;
	port = rna_memory_port(device, (unsigned)number);
	return port ? &port->accepted : NULL;
}

static int read_accepted(struct rna_memory *memory, const json_t *object)
{
	const char *key = get_text(object, "device"), *state = get_text(object, "state");
	uint64_t number = get_number(object, "port");
	struct rna_accepted *accepted;
	bool up;

	if (!key || !state || number > UINT16_MAX)
		return -EBADMSG;
	up = strcmp(state, words[RNA_EXPECTED_UP]) == 0;
	if (!up && strcmp(state, words[RNA_EXPECTED_DOWN]) != 0)
		return -EBADMSG;
	if (!memory)
		return 0;
	accepted = find_accepted(memory, key, number);
	if (!accepted)
		return -ENOMEM;
	accepted->expected = up ? RNA_EXPECTED_UP : RNA_EXPECTED_DOWN;
	accepted->time = get_number(object, "time");
	return 0;
}

/* First without a memory, to see whether all of it is good. */
int rna_accepted_read(struct rna_memory *memory, const char *text, size_t len,
		      struct rna_error *error)
{
	RNA_CLEANUP(rna_json_free_p) json_t *file = NULL;
	const json_t *list;
	int ret;

	ret = read_file(text, len, "accepted", &file, error);
	if (ret < 0)
		return ret;
	list = json_object_get(file, "accepted");
	for (size_t i = 0; i < json_array_size(list); i++)
		if (read_accepted(NULL, json_array_get(list, i)) < 0)
			return rna_error_say(error, -EBADMSG, "entry %zu of accepted is damaged",
					     i + 1);
	forget_accepted(memory);
	memory->rails.accepted = get_number(file, "rails");
	memory->rails.version++;
	for (size_t i = 0; ret == 0 && i < json_array_size(list); i++)
		ret = read_accepted(memory, json_array_get(list, i));
	return ret < 0 ? rna_error_set(error, ret, "cannot read the accepted states") : 0;
}
