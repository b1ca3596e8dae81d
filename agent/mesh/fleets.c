// SPDX-License-Identifier: Apache-2.0
/*
 * The questions: one table. Labels that the solver does not need are summed away by Prometheus, so
 * that those of Kubernetes do not triple the size of answers. Probes are counted for ports alone
 * that have a pair that loses. A tree of an answer would take ten times the memory of its text, so
 * samples are read one by one, and become ports and pairs.
 */
#include "fleets.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/characters.h"
#include "rna/base/json_list.h"
#include "rna/base/parse.h"
#include "rna/base/words.h"

enum {
	MEMORY_MAX = 64 << 20, /* 10,000 nodes with 8 ports take 43 MiB if all pairs lose */
	SAMPLE_MAX = 64 << 10, /* bytes; that of a pair has 250 */
	SAMPLE_MEMORY = 1 << 20,
	LEVELS_MAX = 8,
	FIRST_ARENA = 65536,
	FLEETS_MAX = 64, /* jobs and groups that share a Prometheus */
	JOBS_MAX = 1024, /* that have metrics of probes */
};

#define NOWHERE UINT32_MAX

/* What an agent exports is less; a Prometheus may scrape anything. Fits into uint32_t twice. */
#define VALUE_MAX 1e9

/* Of a sample, and of what is beside them. */
static const struct rna_json_limits limits = {.memory = SAMPLE_MEMORY, .levels = LEVELS_MAX};

/* Labels of a port, in the order by which ports are sorted. */
enum label { JOB, INSTANCE, DEVICE, PORT, GROUP, MEMBER, LEAF, RAIL, LABELS };

static const char *const label_names[LABELS] = {
	"job", "instance", "device", "port", "group", "member", "leaf", "rail",
};

struct port {
	const char *labels[LABELS];
	struct rna_mesh_port own;
};

/* A pair of which a port of ours is an end; the other may be of an agent that is not scraped. */
struct pair {
	uint32_t from, to;                        /* of the reader's ports */
	const char *peer, *peer_port, *peer_leaf; /* if to is NOWHERE */
	uint8_t scope, sign;
	double ratio;
};

/* In the order in which they are put. */
enum question { INFO, PAIRS, RATIOS, SENT, LOST, STOPPED, JOB_MEMBERS, AGE, QUESTIONS };

struct job {
	const char *name;
	uint64_t members;
	size_t stopped;
	double age;
};

struct rna_fleets_reader {
	struct rna_arena *arena;
	struct port *ports; /* by job, instance, device, number, once all are there */
	size_t port_count;
	size_t scraped;              /* those behind it are peers that no agent exports */
	const struct port **members; /* the scraped ones by job, group, member, device, number */
	struct pair *pairs;
	size_t pair_count;
	size_t unknown; /* pairs to ports that no agent exports */
	struct job *jobs;
	size_t job_count;
	struct rna_strbuf peer_device; /* of make_peer() */
	struct rna_json_list samples;  /* of the answer that is read */
	size_t number;                 /* of its question: enum question */
	bool failed;                   /* no memory */
};

struct rna_fleets_reader *rna_fleets_reader_new(void)
{
	struct rna_fleets_reader *reader = calloc(1, sizeof(*reader));

	if (reader)
		reader->arena = rna_arena_new(FIRST_ARENA);
	return reader && !reader->arena ? rna_fleets_reader_free(reader) : reader;
}

struct rna_fleets_reader *rna_fleets_reader_free(struct rna_fleets_reader *reader)
{
	if (!reader)
		return NULL;
	(void)rna_arena_free(reader->arena);
	free(reader->ports);
	free(reader->members);
	free(reader->pairs);
	free(reader->jobs);
	rna_strbuf_deinit(&reader->peer_device);
	rna_json_list_deinit(&reader->samples);
	free(reader);
	return NULL;
}

void rna_fleets_deinit(struct rna_fleets *fleets)
{
	fleets->arena = rna_arena_free(fleets->arena);
	*fleets = (struct rna_fleets){0};
}

/* -- Samples ----------------------------------------------------------------------------------- */

struct sample {
	const json_t *labels;
	double value;
};

/* A label that is missing is empty, as in Prometheus. */
static const char *label(const struct sample *sample, const char *name)
{
	const char *text = json_string_value(json_object_get(sample->labels, name));

	return text ? text : "";
}

/* A name may be any text of an agent that Prometheus scrapes, and is shown: it becomes plain. */
static const char *name_of(struct rna_fleets_reader *reader, const struct sample *sample,
			   const char *name)
{
	RNA_STRBUF struct rna_strbuf plain = RNA_STRBUF_INIT;
	const char *text = label(sample, name), *kept;
	size_t len = strlen(text);

	if (rna_characters_are_plain(text, len))
		return text;
	rna_strbuf_add_plain(&plain, text, len, NULL);
	reader->failed |= !rna_strbuf_ok(&plain);
	kept = rna_arena_keep(reader->arena, plain.data, &reader->failed);
	return kept ? kept : "";
}

static const char *keep(struct rna_fleets_reader *reader, const struct sample *sample,
			const char *name)
{
	const char *text = name_of(reader, sample, name);

	return text[0] != '\0' ? rna_arena_keep(reader->arena, text, &reader->failed) : "";
}

/* Where labels are equal, the next one decides. */
static int compare_labels(const struct port *a, const struct port *b, const enum label *order,
			  size_t count)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < count; i++)
		ret = strcmp(a->labels[order[i]], b->labels[order[i]]);
	return ret;
}

static int compare_ports(const void *a, const void *b)
{
	static const enum label order[] = {JOB, INSTANCE, DEVICE, PORT};

	return compare_labels(a, b, order, RNA_ARRAY_SIZE(order));
}

/* NULL: unknown, for example because it was scraped between two questions. */
static struct port *find_port(struct rna_fleets_reader *reader, const struct sample *sample)
{
	struct port wanted;

	for (enum label i = JOB; i <= PORT; i++)
		wanted.labels[i] = name_of(reader, sample, label_names[i]);
	return reader->scraped == 0 ? NULL
				    : bsearch(&wanted, reader->ports, reader->scraped,
					      sizeof(wanted), compare_ports);
}

static struct job *find_job(struct rna_fleets_reader *reader, const char *name)
{
	struct job *job;

	for (size_t i = 0; i < reader->job_count; i++)
		if (strcmp(reader->jobs[i].name, name) == 0)
			return &reader->jobs[i];
	job = RNA_GROW(reader->jobs, reader->job_count, NULL);
	reader->failed |= !job;
	if (!job)
		return NULL;
	*job = (struct job){.name = rna_arena_keep(reader->arena, name, &reader->failed),
			    .age = NAN};
	reader->job_count++;
	return job;
}

/* -- Members ----------------------------------------------------------------------------------- */

/* The node as others call it. */
static const char *name_node(const struct port *port)
{
	return port->labels[port->labels[MEMBER][0] != '\0' ? MEMBER : INSTANCE];
}

static int compare_members(const void *a, const void *b)
{
	static const enum label order[] = {JOB, GROUP, MEMBER, DEVICE, PORT};

	return compare_labels(*(const struct port *const *)a, *(const struct port *const *)b, order,
			      RNA_ARRAY_SIZE(order));
}

/* Ports by the names that peers have for them. */
static int list_members(struct rna_fleets_reader *reader)
{
	const struct port **list = calloc(reader->port_count + 1, sizeof(*list));

	free(reader->members);
	reader->members = list;
	for (size_t i = 0; list && i < reader->port_count; i++)
		list[i] = &reader->ports[i];
	if (list && reader->port_count > 0)
		qsort(list, reader->port_count, sizeof(*list), compare_members);
	return list ? 0 : -ENOMEM;
}

/* The port at the other end, by the names in pair; its device is the reader's until the next. */
static struct port make_peer(struct rna_fleets_reader *reader, const struct port *own,
			     const struct pair *pair)
{
	const char *slash = strrchr(pair->peer_port, '/');
	struct rna_strbuf *device = &reader->peer_device;

	device->len = 0;
	rna_strbuf_add(device, pair->peer_port,
		       slash ? (size_t)(slash - pair->peer_port) : strlen(pair->peer_port));
	reader->failed |= !rna_strbuf_ok(device);
	return (struct port){.labels = {
				     [JOB] = own->labels[JOB],
				     [INSTANCE] = pair->peer,
				     [DEVICE] = rna_strbuf_ok(device) ? device->data : "",
				     [PORT] = slash ? slash + 1 : "",
				     [GROUP] = own->labels[GROUP],
				     [MEMBER] = pair->peer,
				     [LEAF] = pair->peer_leaf,
				     [RAIL] = "",
			     }};
}

static uint32_t find_peer(struct rna_fleets_reader *reader, const struct port *own,
			  const struct pair *pair)
{
	const struct port peer = make_peer(reader, own, pair), *wanted = &peer, *const * found;

	found = bsearch(&wanted, reader->members, reader->scraped, sizeof(*reader->members),
			compare_members);
	return found ? (uint32_t)(*found - reader->ports) : NOWHERE;
}

/* -- What questions take ----------------------------------------------------------------------- */

static enum rna_probe_scope read_scope(const char *text)
{
	enum rna_probe_scope scope = 0;

	while (scope < RNA_PROBE_SCOPE_COUNT && strcmp(text, rna_probe_scope_name(scope)) != 0)
		scope++;
	return scope;
}

/* 0: a sign of a newer version. */
static unsigned read_sign(const char *text)
{
	for (unsigned i = 0; i < RNA_PROBE_SIGNS; i++)
		if (strcmp(text, rna_probe_sign_name(1u << i)) == 0)
			return 1u << i;
	return 0;
}

static void take_info(struct rna_fleets_reader *reader, const struct sample *sample)
{
	struct port *port = RNA_GROW(reader->ports, reader->port_count, NULL);

	if (!port) {
		reader->failed = true;
		return;
	}
	*port = (struct port){0};
	for (enum label i = 0; i < LABELS; i++)
		port->labels[i] = keep(reader, sample, label_names[i]);
	reader->port_count++;
}

static void take_pairs(struct rna_fleets_reader *reader, const struct sample *sample)
{
	struct port *port = find_port(reader, sample);

	if (port && strcmp(label(sample, "result"), "losing") == 0)
		port->own.losing = (uint32_t)sample->value;
	else if (port)
		port->own.answering = (uint32_t)sample->value;
}

static void take_ratio(struct rna_fleets_reader *reader, const struct sample *sample)
{
	const struct port *port = find_port(reader, sample);
	enum rna_probe_scope scope = read_scope(label(sample, "scope"));
	unsigned sign = read_sign(label(sample, "sign"));
	struct pair pair = {
		.peer = name_of(reader, sample, "peer"),
		.peer_port = name_of(reader, sample, "peer_port"),
		.scope = (uint8_t)scope,
		.sign = (uint8_t)sign,
		.ratio = fmin(sample->value, 1),
	};
	struct pair *kept;

	if (!port || scope == RNA_PROBE_SCOPE_COUNT || sign == 0)
		return;
	pair.from = (uint32_t)(port - reader->ports);
	pair.to = find_peer(reader, port, &pair);
	if (pair.to == NOWHERE) {
		pair.peer = keep(reader, sample, "peer");
		pair.peer_port = keep(reader, sample, "peer_port");
		pair.peer_leaf = keep(reader, sample, "peer_leaf");
		reader->unknown++;
	}
	kept = RNA_GROW(reader->pairs, reader->pair_count, NULL);
	reader->failed |= !kept;
	if (!kept)
		return;
	*kept = pair;
	reader->pair_count++;
}

static void take_counts(struct rna_fleets_reader *reader, const struct sample *sample)
{
	struct port *port = find_port(reader, sample);
	enum rna_probe_scope scope = read_scope(label(sample, "scope"));

	if (port && scope < RNA_PROBE_SCOPE_COUNT)
		(reader->number == SENT ? port->own.sent : port->own.lost)[scope] = sample->value;
}

static void take_job(struct rna_fleets_reader *reader, const struct sample *sample)
{
	struct job *job = find_job(reader, name_of(reader, sample, "job"));

	if (!job)
		return;
	if (reader->number == STOPPED)
		job->stopped = (size_t)sample->value;
	else if (reader->number == JOB_MEMBERS)
		job->members = (uint64_t)sample->value;
	else
		job->age = sample->value;
}

/* -- The questions ----------------------------------------------------------------------------- */

#define OF_LOSING " and on (job, instance, device, port) rdma_probe_port_pairs{result=\"losing\"}"

static const struct {
	const char *before, *metric, *after;
	void (*take)(struct rna_fleets_reader *reader, const struct sample *sample);
} queries[QUESTIONS] = {
	[INFO] = {"max by (job, instance, device, port, leaf, group, member, rail) (",
		  "rdma_probe_port_info", ")", take_info},
	[PAIRS] = {"max by (job, instance, device, port, result) (", "rdma_probe_port_pairs", ")",
		   take_pairs},
	[RATIOS] =
		{"max by (job, instance, device, port, peer, peer_port, peer_leaf, scope, sign) (",
		 "rdma_probe_pair_lost_ratio", ")", take_ratio},
	[SENT] = {"sum by (job, instance, device, port, scope) (increase(", "rdma_probe_sent_total",
		  "[10m]))" OF_LOSING, take_counts},
	[LOST] = {"sum by (job, instance, device, port, scope) (increase(", "rdma_probe_lost_total",
		  "[10m]))" OF_LOSING, take_counts},
	[STOPPED] = {"count by (job) (", "rdma_probe_up", " == 0)", take_job},
	[JOB_MEMBERS] = {"max by (job) (", "rdma_probe_members", ")", take_job},
	[AGE] = {"max by (job) (time() - timestamp(", "rdma_probe_port_info", "))", take_job},
};

const size_t rna_fleets_query_count = QUESTIONS;

static void write_quoted(const char *text, struct rna_strbuf *out)
{
	rna_strbuf_add_char(out, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			rna_strbuf_add_char(out, '\\');
		rna_strbuf_add_char(out, *text);
	}
	rna_strbuf_add_char(out, '"');
}

void rna_fleets_query(size_t number, const char *job, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, queries[number].before);
	rna_strbuf_puts(out, queries[number].metric);
	if (job) {
		rna_strbuf_puts(out, "{job=");
		write_quoted(job, out);
		rna_strbuf_puts(out, "}");
	}
	rna_strbuf_puts(out, queries[number].after);
}

/* -- Answers ----------------------------------------------------------------------------------- */

static bool read_sample(const json_t *element, struct sample *ret)
{
	const json_t *value = json_array_get(json_object_get(element, "value"), 1);
	const char *text = json_string_value(value);
	char *end = NULL;

	ret->labels = json_object_get(element, "metric");
	ret->value = text ? strtod(text, &end) : 0;
	return json_is_object(ret->labels) && text && end != text && *end == '\0';
}

static int refuse(const json_t *answer, struct rna_error *error)
{
	const char *status = json_string_value(json_object_get(answer, "status"));
	const char *text = json_string_value(json_object_get(answer, "error"));

	if (status && strcmp(status, "error") == 0)
		return rna_error_say(error, -EPROTO, "Prometheus: %.*s",
				     RNA_SHOWN(text ? text : "unknown error"));
	return rna_error_say(error, -EBADMSG, "not an answer of Prometheus");
}

/* The first question names the ports, by which the others find them. */
static void sort_ports(struct rna_fleets_reader *reader)
{
	size_t kept = 0;

	if (reader->port_count > 0)
		qsort(reader->ports, reader->port_count, sizeof(*reader->ports), compare_ports);
	for (size_t i = 0; i < reader->port_count; i++)
		if (kept == 0 || compare_ports(&reader->ports[kept - 1], &reader->ports[i]) != 0)
			reader->ports[kept++] = reader->ports[i];
	reader->port_count = reader->scraped = kept;
}

/* Bytes of what is kept, and of the ports that add_peers() may add. */
static size_t memory_of(const struct rna_fleets_reader *reader)
{
	return rna_arena_size(reader->arena) +
	       (reader->port_count + reader->unknown) * sizeof(struct port) +
	       reader->pair_count * sizeof(struct pair) + reader->job_count * sizeof(struct job);
}

static int check_room(const struct rna_fleets_reader *reader, struct rna_error *error)
{
	if (reader->failed)
		return rna_error_set(error, -ENOMEM, "cannot keep it");
	if (reader->job_count > JOBS_MAX)
		return rna_error_say(error, -E2BIG, "more than %d jobs; choose one by --job",
				     JOBS_MAX);
	if (memory_of(reader) > MEMORY_MAX)
		return rna_error_say(error, -E2BIG,
				     "its ports and pairs take more than %d MiB of memory; choose "
				     "fewer by --job",
				     MEMORY_MAX >> 20);
	return 0;
}

static int take_sample(const char *text, size_t len, void *userdata, struct rna_error *error)
{
	struct rna_fleets_reader *reader = userdata;
	RNA_CLEANUP(rna_json_free_p) json_t *element = NULL;
	struct sample sample;
	int status = rna_json_parse(text, len, &limits, &element, error);

	if (status < 0)
		return status;
	if (!read_sample(element, &sample))
		return rna_error_say(error, -EBADMSG, "a sample has no labels or no value");
	if (!isfinite(sample.value) || sample.value < 0)
		return 0;
	sample.value = fmin(sample.value, VALUE_MAX);
	queries[reader->number].take(reader, &sample);
	return check_room(reader, error);
}

void rna_fleets_begin(struct rna_fleets_reader *reader, size_t number)
{
	static const char *const path[] = {"data", "result", NULL};

	rna_json_list_deinit(&reader->samples);
	reader->samples = (struct rna_json_list){.path = path,
						 .item_max = SAMPLE_MAX,
						 .take = take_sample,
						 .userdata = reader};
	reader->number = number;
}

int rna_fleets_read(struct rna_fleets_reader *reader, const char *text, size_t len,
		    struct rna_error *error)
{
	int status = rna_json_list_read(&reader->samples, text, len, error);

	if (status < 0)
		(void)rna_error_prefix(error, "the answer");
	return status;
}

int rna_fleets_end(struct rna_fleets_reader *reader, struct rna_error *error)
{
	RNA_CLEANUP(rna_json_free_p) json_t *frame = NULL;
	int status = rna_json_list_end(&reader->samples, &limits, &frame, error);

	if (status < 0) {
		(void)rna_error_prefix(error, "the answer");
		return status;
	}
	if (!reader->samples.seen)
		return refuse(frame, error);
	if (reader->number != INFO)
		return 0;
	sort_ports(reader);
	return list_members(reader) < 0 ? rna_error_set(error, -ENOMEM, "the answer") : 0;
}

/* -- Peers ------------------------------------------------------------------------------------- */

/* By their names: of the unknown peers of pairs. */
static int compare_peers(const void *a, const void *b, void *userdata)
{
	const struct rna_fleets_reader *reader = userdata;
	const struct pair *first = *(struct pair *const *)a, *second = *(struct pair *const *)b;
	const struct port *own = &reader->ports[first->from], *its = &reader->ports[second->from];
	static const enum label order[] = {JOB, GROUP};
	int ret = compare_labels(own, its, order, RNA_ARRAY_SIZE(order));

	if (ret == 0)
		ret = strcmp(first->peer, second->peer);
	return ret != 0 ? ret : strcmp(first->peer_port, second->peer_port);
}

/* *ret_count of them, sorted. NULL: no memory. */
static struct pair **list_unknown(struct rna_fleets_reader *reader, size_t *ret_count)
{
	struct pair **list = calloc(reader->pair_count + 1, sizeof(*list));

	*ret_count = 0;
	for (size_t i = 0; list && i < reader->pair_count; i++)
		if (reader->pairs[i].to == NOWHERE)
			list[(*ret_count)++] = &reader->pairs[i];
	if (*ret_count > 0)
		qsort_r(list, *ret_count, sizeof(*list), compare_peers, reader);
	return list;
}

/* Adds a port for each that peers name and no agent exports. */
static int add_peers(struct rna_fleets_reader *reader)
{
	size_t count;
	RNA_FREE struct pair **list = list_unknown(reader, &count);

	for (size_t i = 0; list && i < count; i++) {
		struct pair *pair = list[i];
		struct port peer, *port;

		if (i > 0 && compare_peers(&list[i - 1], &list[i], reader) == 0) {
			pair->to = list[i - 1]->to;
			continue;
		}
		peer = make_peer(reader, &reader->ports[pair->from], pair);
		peer.labels[DEVICE] =
			rna_arena_keep(reader->arena, peer.labels[DEVICE], &reader->failed);
		port = RNA_GROW(reader->ports, reader->port_count, NULL);
		if (!port || !peer.labels[DEVICE])
			return -ENOMEM;
		*port = peer;
		reader->port_count++;
		pair->to = (uint32_t)(port - reader->ports);
	}
	return list ? 0 : -ENOMEM;
}

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *first = a, *second = b;

	if (first->from != second->from)
		return first->from < second->from ? -1 : 1;
	if (first->to != second->to)
		return first->to < second->to ? -1 : 1;
	if (first->scope != second->scope)
		return first->scope < second->scope ? -1 : 1;
	return first->sign < second->sign ? -1 : first->sign > second->sign;
}

/* A Prometheus returns samples in any order; reports of the same samples are the same. */
static void sort_pairs(struct rna_fleets_reader *reader)
{
	if (reader->pair_count > 0)
		qsort(reader->pairs, reader->pair_count, sizeof(*reader->pairs), compare_pairs);
}

/* -- Fleets ------------------------------------------------------------------------------------ */

/* Names of one kind in a fleet, each once, in order; their numbers are their places. */
struct names {
	const char **list;
	size_t count;
};

static void sort_names(struct names *names)
{
	size_t kept = 0;

	if (names->count > 0)
		qsort(names->list, names->count, sizeof(*names->list), rna_compare_text_items);
	for (size_t i = 0; i < names->count; i++)
		if (kept == 0 || strcmp(names->list[kept - 1], names->list[i]) != 0)
			names->list[kept++] = names->list[i];
	names->count = kept;
}

static uint32_t find_name(const struct names *names, const char *name)
{
	const char **found = names->count == 0
				     ? NULL
				     : bsearch(&name, names->list, names->count,
					       sizeof(*names->list), rna_compare_text_items);

	return found ? (uint32_t)(found - names->list) : RNA_MESH_NONE;
}

static uint32_t read_rail(const char *text)
{
	uint64_t rail;

	return rna_parse_u64(text, &rail) == 0 && rail < RNA_PROBE_RAIL_UNKNOWN
		       ? (uint32_t)rail
		       : RNA_PROBE_RAIL_UNKNOWN;
}

static bool is_of(const struct port *port, const struct rna_fleet *fleet)
{
	return strcmp(port->labels[JOB], fleet->job) == 0 &&
	       strcmp(port->labels[GROUP], fleet->group) == 0;
}

/* Both kinds of names, and how many ports there are. */
static int name_parts(const struct rna_fleets_reader *reader, struct rna_fleet *fleet,
		      struct rna_arena *arena, struct names *nodes, struct names *leaves)
{
	nodes->list = rna_arena_array(arena, reader->port_count + 1, sizeof(*nodes->list));
	leaves->list = rna_arena_array(arena, reader->port_count + 1, sizeof(*leaves->list));
	if (!nodes->list || !leaves->list)
		return -ENOMEM;
	for (size_t i = 0; i < reader->port_count; i++) {
		const struct port *port = &reader->ports[i];

		if (!is_of(port, fleet))
			continue;
		fleet->mesh.port_count++;
		nodes->list[nodes->count++] = name_node(port);
		if (port->labels[LEAF][0] != '\0')
			leaves->list[leaves->count++] = port->labels[LEAF];
	}
	sort_names(nodes);
	sort_names(leaves);
	fleet->nodes = nodes->list;
	fleet->leaves = leaves->list;
	fleet->mesh.node_count = nodes->count;
	fleet->mesh.leaf_count = leaves->count;
	return 0;
}

/* places: where each of the reader's ports is in the fleet. */
static int add_ports(const struct rna_fleets_reader *reader, struct rna_fleet *fleet,
		     struct rna_arena *arena, uint32_t *places)
{
	size_t count = fleet->mesh.port_count;
	struct rna_mesh_port *ports = rna_arena_array(arena, count + 1, sizeof(*ports));
	const char **texts = rna_arena_array(arena, count + 1, sizeof(*texts));
	const struct names nodes = {fleet->nodes, fleet->mesh.node_count};
	const struct names leaves = {fleet->leaves, fleet->mesh.leaf_count};
	uint32_t at = 0;

	fleet->mesh.ports = ports;
	fleet->ports = texts;
	for (size_t i = 0; ports && texts && i < reader->port_count; i++) {
		const struct port *port = &reader->ports[i];

		if (!is_of(port, fleet))
			continue;
		ports[at] = port->own;
		ports[at].node = find_name(&nodes, name_node(port));
		ports[at].leaf = find_name(&leaves, port->labels[LEAF]);
		ports[at].rail = read_rail(port->labels[RAIL]);
		texts[at] =
			rna_arena_printf(arena, "%s/%s", port->labels[DEVICE], port->labels[PORT]);
		if (!texts[at])
			return -ENOMEM;
		if (i < reader->scraped) {
			fleet->reporting_ports++;
			fleet->judged_ports += port->own.losing + port->own.answering > 0;
			fleet->losing += port->own.losing;
			fleet->answering += port->own.answering;
			fleet->reporting +=
				i == 0 || !is_of(port - 1, fleet) ||
				strcmp(port->labels[INSTANCE], port[-1].labels[INSTANCE]) != 0;
		}
		places[i] = at++;
	}
	return ports && texts ? 0 : -ENOMEM;
}

static int add_pairs(const struct rna_fleets_reader *reader, struct rna_fleet *fleet,
		     struct rna_arena *arena, const uint32_t *places)
{
	struct rna_mesh_pair *pairs =
		rna_arena_array(arena, reader->pair_count + 1, sizeof(*pairs));

	fleet->mesh.pairs = pairs;
	for (size_t i = 0; pairs && i < reader->pair_count; i++) {
		const struct pair *pair = &reader->pairs[i];

		if (!is_of(&reader->ports[pair->from], fleet))
			continue;
		for (size_t k = 0; k < RNA_PROBE_SIGNS; k++)
			fleet->signs[k] += pair->sign == 1u << k;
		if (pair->sign & RNA_PROBE_LOSING)
			pairs[fleet->mesh.pair_count++] =
				(struct rna_mesh_pair){places[pair->from], places[pair->to],
						       pair->scope, pair->sign, pair->ratio};
	}
	return pairs ? 0 : -ENOMEM;
}

static size_t count_nodes(const struct rna_fleets_reader *reader, const char *job)
{
	static const enum label order[] = {JOB, INSTANCE};
	size_t count = 0;

	for (size_t i = 0; i < reader->scraped; i++) {
		const struct port *port = &reader->ports[i];

		count += strcmp(port->labels[JOB], job) == 0 &&
			 (i == 0 || compare_labels(&port[-1], port, order, 2) != 0);
	}
	return count;
}

static int fill_fleet(struct rna_fleets_reader *reader, struct rna_fleet *fleet)
{
	RNA_FREE uint32_t *places = calloc(reader->port_count + 1, sizeof(*places));
	struct names nodes = {0}, leaves = {0};
	const struct job *job = find_job(reader, fleet->job);
	int status = places && job ? 0 : -ENOMEM;

	if (status == 0)
		status = name_parts(reader, fleet, reader->arena, &nodes, &leaves);
	if (status == 0)
		status = add_ports(reader, fleet, reader->arena, places);
	if (status == 0)
		status = add_pairs(reader, fleet, reader->arena, places);
	if (status < 0)
		return status;
	fleet->job_reporting = count_nodes(reader, fleet->job);
	fleet->members = job->members;
	fleet->stopped = job->stopped;
	fleet->age = job->age;
	return 0;
}

static int compare_fleets(const void *a, const void *b)
{
	const struct rna_fleet *first = a, *second = b;
	int ret = strcmp(first->job, second->job);

	return ret != 0 ? ret : strcmp(first->group, second->group);
}

static bool has_fleet(const struct rna_fleets *fleets, const struct port *port)
{
	for (size_t i = fleets->count; i-- > 0;)
		if (is_of(port, &fleets->list[i]))
			return true;
	return false;
}

static int list_fleets(const struct rna_fleets_reader *reader, const char *group,
		       struct rna_fleets *ret)
{
	for (size_t i = 0; i < reader->port_count; i++) {
		const struct port *port = &reader->ports[i];

		if ((group && strcmp(port->labels[GROUP], group) != 0) || has_fleet(ret, port))
			continue;
		if (ret->count == FLEETS_MAX)
			return -E2BIG;
		ret->list[ret->count++] =
			(struct rna_fleet){.job = port->labels[JOB], .group = port->labels[GROUP]};
	}
	if (ret->count > 0)
		qsort(ret->list, ret->count, sizeof(*ret->list), compare_fleets);
	return 0;
}

int rna_fleets_make(struct rna_fleets_reader *reader, const char *group, struct rna_fleets *ret)
{
	int status = add_peers(reader);

	sort_pairs(reader);
	*ret = (struct rna_fleets){0};
	ret->list = rna_arena_array(reader->arena, FLEETS_MAX, sizeof(*ret->list));
	if (status == 0)
		status = ret->list && !reader->failed ? list_fleets(reader, group, ret) : -ENOMEM;
	for (size_t i = 0; status == 0 && i < ret->count; i++)
		status = fill_fleet(reader, &ret->list[i]);
	ret->arena = RNA_TAKE(reader->arena);
	return status;
}
