// SPDX-License-Identifier: Apache-2.0
/*
 * Answers of a Prometheus, and what the command mesh makes of them: fleets, verdicts, the report.
 * An input is either the answers themselves, one in each line, or, behind the letter F, numbers
 * that describe a fabric with faults, of which the answers are made here: consistent ones, so that
 * the solver judges, with some samples left out, repeated or of odd values.
 */
#include "mesh/fleets.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "rna/base/json_document.h"

#include "cli/mesh_report.h"

#include "fuzz.h"

enum {
	NODES_MAX = 20,
	RAILS_MAX = 3,
	NEIGHBOURS_MAX = 5,
	FAULTS_MAX = 4,
	EDITS_MAX = 16,
	SAMPLES_MAX = 2048, /* of an answer */
	FLEETS_MAX = 64,    /* as fleets.c has it */
	PIECE = 61,         /* bytes of an answer that come at a time */
	/* Bytes for the tree of a sample, or of what is around the samples. */
	MEMORY_MAX = 2 << 20,
};

/* In the order of fleets.c. */
enum question { INFO, PAIRS, RATIO, SENT, LOST, STOPPED, MEMBERS, AGE, QUESTIONS };

/* -- Memory of answers ------------------------------------------------------------------------- */

struct block {
	_Alignas(max_align_t) size_t size;
};

static struct {
	bool counted;
	size_t now, most;
} memory;

static void *take_memory(size_t size)
{
	struct block *block = malloc(sizeof(*block) + size);

	if (!block)
		return NULL;
	block->size = size;
	memory.now += size;
	memory.most = memory.now > memory.most ? memory.now : memory.most;
	return block + 1;
}

static void give_memory(void *data)
{
	struct block *block = data;

	if (!block)
		return;
	memory.now -= block[-1].size;
	free(block - 1);
}

/* -- A fabric ---------------------------------------------------------------------------------- */

enum fault_kind { NO_FAULT, BAD_PORT, BAD_HOST, BAD_LEAF, BAD_UPLINK, BAD_SPINE, BAD_PATH, KINDS };

struct fault {
	enum fault_kind kind;
	unsigned place, other;
	double loss;
};

/* What becomes of a sample. */
enum edit_kind { DROP, REPEAT, ODD_VALUE };

struct edit {
	unsigned question, sample;
	unsigned how;
};

enum flag {
	TWO_GROUPS = 1,
	TWO_JOBS = 2,
	MEMBERS_NAMED = 4,
	RAILS_KNOWN = 8,
	LEAVES_KNOWN = 16,
	ODD_NAMES = 32,
	HOST_MESH = 64,
	UNSCRAPED = 128, /* each fifth node */
};

struct answer {
	struct rna_strbuf text;
	size_t count, seen;
	size_t ends[SAMPLES_MAX];
};

static struct fabric {
	unsigned nodes, rails, per_leaf, neighbours, flags;
	unsigned fault_count, edit_count;
	bool repeats; /* has a sample twice, which no Prometheus has: then the order counts */
	struct fault faults[FAULTS_MAX];
	struct edit edits[EDITS_MAX];
	struct answer answers[QUESTIONS];
} fabric;

struct end {
	unsigned node, rail;
};

static void read_fabric(struct fuzz_bytes *bytes)
{
	fabric.nodes = 1 + fuzz_byte(bytes) % NODES_MAX;
	fabric.rails = 1 + fuzz_byte(bytes) % RAILS_MAX;
	fabric.per_leaf = 1 + fuzz_byte(bytes) % 16;
	fabric.neighbours = 1 + fuzz_byte(bytes) % NEIGHBOURS_MAX;
	fabric.flags = fuzz_byte(bytes);
	fabric.repeats = false;
	fabric.fault_count = fuzz_byte(bytes) % (FAULTS_MAX + 1);
	for (unsigned i = 0; i < fabric.fault_count; i++)
		fabric.faults[i] = (struct fault){
			.kind = fuzz_byte(bytes) % KINDS,
			.place = fuzz_byte(bytes),
			.other = fuzz_byte(bytes),
			.loss = fuzz_byte(bytes) / 255.0,
		};
	for (fabric.edit_count = 0; bytes->left > 0 && fabric.edit_count < EDITS_MAX;)
		fabric.edits[fabric.edit_count++] = (struct edit){
			.question = fuzz_byte(bytes) % QUESTIONS,
			.sample = fuzz_byte(bytes),
			.how = fuzz_byte(bytes),
		};
	for (unsigned i = 0; i < QUESTIONS; i++) {
		rna_strbuf_deinit(&fabric.answers[i].text);
		fabric.answers[i].count = fabric.answers[i].seen = 0;
	}
}

static unsigned leaf_of(struct end end)
{
	unsigned leaves = (fabric.nodes + fabric.per_leaf - 1) / fabric.per_leaf;

	return end.rail * leaves + end.node / fabric.per_leaf;
}

static bool is_hit(const struct fault *fault, struct end from, struct end to)
{
	unsigned ports = fabric.nodes * fabric.rails,
		 leaves = leaf_of((struct end){fabric.nodes - 1, fabric.rails - 1}) + 1;
	unsigned port = fault->place % ports, node = fault->place % fabric.nodes;
	unsigned leaf = fault->place % leaves, other = fault->other % leaves;
	bool crosses = leaf_of(from) != leaf_of(to);

	switch (fault->kind) {
	case BAD_PORT:
		return from.node * fabric.rails + from.rail == port ||
		       to.node * fabric.rails + to.rail == port;
	case BAD_HOST:
		return from.node == node || to.node == node;
	case BAD_LEAF:
		return leaf_of(from) == leaf || leaf_of(to) == leaf;
	case BAD_UPLINK:
		return crosses && (leaf_of(from) == leaf || leaf_of(to) == leaf);
	case BAD_SPINE:
		return crosses && (fault->other == 0 || from.rail == fault->place % fabric.rails);
	case BAD_PATH:
		return (leaf_of(from) == leaf && leaf_of(to) == other) ||
		       (leaf_of(from) == other && leaf_of(to) == leaf);
	default:
		return false;
	}
}

static double loss_of(struct end from, struct end to)
{
	double loss = 0;

	for (unsigned i = 0; i < fabric.fault_count; i++)
		if (is_hit(&fabric.faults[i], from, to))
			loss = fmax(loss, fabric.faults[i].loss);
	return loss;
}

/* -- Its samples ------------------------------------------------------------------------------- */

static const char *odd_value(unsigned how)
{
	static const char *const values[] = {"NaN",  "+Inf",       "1e300", "-1", "4294967296",
					     "1e19", "4294967295", "0",     "2",  "0x1p-1074"};

	return values[how / 4 % RNA_ARRAY_SIZE(values)];
}

static const struct edit *find_edit(enum question question, size_t sample)
{
	for (unsigned i = 0; i < fabric.edit_count; i++)
		if (fabric.edits[i].question == question && fabric.edits[i].sample == sample % 256)
			return &fabric.edits[i];
	return NULL;
}

static void write_sample(struct answer *answer, const char *labels, const char *value)
{
	if (answer->count == SAMPLES_MAX)
		return;
	rna_strbuf_printf(&answer->text, "{\"metric\":{%s},\"value\":[1764258000.1,\"%s\"]}",
			  labels, value);
	answer->ends[answer->count++] = answer->text.len;
}

static void add_sample(enum question question, const struct rna_strbuf *labels, double number)
{
	struct answer *answer = &fabric.answers[question];
	const struct edit *edit = find_edit(question, answer->seen++);
	unsigned how = edit ? edit->how : ODD_VALUE + 1;
	char value[32];

	(void)snprintf(value, sizeof(value), "%.17g", number);
	if (how % 4 != DROP)
		write_sample(answer, labels->data, how % 4 == ODD_VALUE ? odd_value(how) : value);
	if (how % 4 == REPEAT)
		write_sample(answer, labels->data, odd_value(how));
	fabric.repeats |= how % 4 == REPEAT;
}

static const char *odd_part(void)
{
	return fabric.flags & ODD_NAMES ? "\\u001b[2J\\n\\u202e" : "";
}

static void write_job(unsigned node, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, "\"job\":\"rdma%s%s\"",
			  (fabric.flags & TWO_JOBS) && node % 2 ? "2" : "", odd_part());
}

static void write_place(struct end end, struct rna_strbuf *out)
{
	write_job(end.node, out);
	rna_strbuf_printf(out,
			  ",\"instance\":\"n%u%s:9879\",\"device\":\"mlx5_%u%s\",\"port\":\"1\"",
			  end.node, odd_part(), end.rail, odd_part());
}

static void write_peer(struct end end, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, ",\"peer\":\"m%u%s\",\"peer_port\":\"mlx5_%u%s/1\"", end.node,
			  odd_part(), end.rail, odd_part());
	if (fabric.flags & LEAVES_KNOWN)
		rna_strbuf_printf(out, ",\"peer_leaf\":\"leaf%u%s\"", leaf_of(end), odd_part());
}

static void add_info(struct end end)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

	write_place(end, &labels);
	if (fabric.flags & LEAVES_KNOWN)
		rna_strbuf_printf(&labels, ",\"leaf\":\"leaf%u%s\"", leaf_of(end), odd_part());
	if (fabric.flags & RAILS_KNOWN)
		rna_strbuf_printf(&labels, ",\"rail\":\"%u\"", end.rail);
	if (fabric.flags & MEMBERS_NAMED)
		rna_strbuf_printf(&labels, ",\"member\":\"m%u%s\"", end.node, odd_part());
	if (fabric.flags & TWO_GROUPS)
		rna_strbuf_printf(&labels, ",\"group\":\"g%u%s\"", end.node % 2, odd_part());
	add_sample(INFO, &labels, 1);
}

/* Of a port. */
struct sums {
	unsigned pairs, losing;
	double sent[RNA_PROBE_SCOPE_COUNT], lost[RNA_PROBE_SCOPE_COUNT];
};

static void add_pair(struct end from, struct end to, enum rna_probe_scope scope, struct sums *sums)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;
	double loss = loss_of(from, to);

	sums->pairs++;
	sums->sent[scope] += 1200;
	sums->lost[scope] += 1200 * loss;
	if (loss < 0.02)
		return;
	sums->losing++;
	write_place(from, &labels);
	write_peer(to, &labels);
	rna_strbuf_printf(&labels, ",\"scope\":\"%s\",\"sign\":\"%s\"", rna_probe_scope_name(scope),
			  rna_probe_sign_name(loss < 1 ? RNA_PROBE_LOSS : RNA_PROBE_SILENT));
	add_sample(RATIO, &labels, loss);
}

static void add_pairs(struct end from, struct sums *sums)
{
	for (unsigned i = 1; i <= fabric.neighbours; i++) {
		struct end to = {(from.node + i * i) % fabric.nodes, from.rail};

		if (to.node != from.node)
			add_pair(from, to,
				 leaf_of(from) == leaf_of(to) ? RNA_PROBE_LEAF : RNA_PROBE_FABRIC,
				 sums);
	}
	for (unsigned rail = 0; rail < fabric.rails && (fabric.flags & HOST_MESH); rail++)
		if (rail != from.rail)
			add_pair(from, (struct end){from.node, rail}, RNA_PROBE_HOST, sums);
}

static void add_result(struct end end, const char *result, unsigned count)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

	write_place(end, &labels);
	rna_strbuf_printf(&labels, ",\"result\":\"%s\"", result);
	add_sample(PAIRS, &labels, count);
}

static void add_scopes(struct end end, enum question question, const double *counts)
{
	for (enum rna_probe_scope scope = 0; scope < RNA_PROBE_SCOPE_COUNT; scope++) {
		RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

		write_place(end, &labels);
		rna_strbuf_printf(&labels, ",\"scope\":\"%s\"", rna_probe_scope_name(scope));
		add_sample(question, &labels, counts[scope]);
	}
}

static void add_port(struct end end)
{
	struct sums sums = {0};

	if ((fabric.flags & UNSCRAPED) && end.node % 5 == 0)
		return;
	add_info(end);
	add_pairs(end, &sums);
	add_result(end, "losing", sums.losing);
	add_result(end, "answering", sums.pairs - sums.losing);
	if (sums.losing == 0)
		return;
	add_scopes(end, SENT, sums.sent);
	add_scopes(end, LOST, sums.lost);
}

static void add_jobs(void)
{
	for (unsigned i = 0; i < (fabric.flags & TWO_JOBS ? 2 : 1); i++) {
		RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

		write_job(i, &labels);
		add_sample(STOPPED, &labels, i);
		add_sample(MEMBERS, &labels, fabric.nodes);
		add_sample(AGE, &labels, 14.5);
	}
}

static void make_samples(struct fuzz_bytes *bytes)
{
	read_fabric(bytes);
	for (unsigned node = 0; node < fabric.nodes; node++)
		for (unsigned rail = 0; rail < fabric.rails; rail++)
			add_port((struct end){node, rail});
	add_jobs();
}

/* Prometheus returns samples in any order. */
static void write_answer(enum question question, bool reversed, struct rna_strbuf *out)
{
	const struct answer *answer = &fabric.answers[question];

	rna_strbuf_puts(out, "{\"status\":\"success\",\"data\":{\"result\":[");
	for (size_t i = 0; i < answer->count; i++) {
		size_t at = reversed ? answer->count - 1 - i : i;
		size_t start = at > 0 ? answer->ends[at - 1] : 0;

		rna_strbuf_puts(out, i > 0 ? "," : "");
		rna_strbuf_add(out, answer->text.data + start, answer->ends[at] - start);
	}
	rna_strbuf_puts(out, "]}}");
}

/* -- What has to be true ----------------------------------------------------------------------- */

static bool is_share(double number)
{
	return number >= 0 && number <= 1;
}

static void want_mesh(const struct rna_fleet *fleet)
{
	const struct rna_mesh *mesh = &fleet->mesh;

	for (size_t i = 0; i < mesh->port_count; i++) {
		const struct rna_mesh_port *port = &mesh->ports[i];

		FUZZ_WANT(port->node < mesh->node_count && fleet->nodes[port->node]);
		FUZZ_WANT(port->leaf == RNA_MESH_NONE ||
			  (port->leaf < mesh->leaf_count && *fleet->leaves[port->leaf]));
		FUZZ_WANT(port->rail <= RNA_PROBE_RAIL_UNKNOWN && fleet->ports[i]);
		for (int k = 0; k < RNA_PROBE_SCOPE_COUNT; k++)
			FUZZ_WANT(port->sent[k] >= 0 && isfinite(port->sent[k]) &&
				  port->lost[k] >= 0 && isfinite(port->lost[k]));
	}
	for (size_t i = 0; i < mesh->pair_count; i++) {
		const struct rna_mesh_pair *pair = &mesh->pairs[i];

		FUZZ_WANT(pair->from < mesh->port_count && pair->to < mesh->port_count);
		FUZZ_WANT(pair->scope < RNA_PROBE_SCOPE_COUNT);
		FUZZ_WANT((pair->sign & RNA_PROBE_LOSING) && (pair->sign & (pair->sign - 1)) == 0);
		FUZZ_WANT(is_share(pair->ratio));
	}
}

static void want_fleet(const struct rna_fleet *fleet)
{
	want_mesh(fleet);
	FUZZ_WANT(fleet->judged_ports <= fleet->reporting_ports);
	FUZZ_WANT(fleet->reporting_ports <= fleet->mesh.port_count);
	FUZZ_WANT(fleet->reporting <= fleet->reporting_ports);
	FUZZ_WANT(isnan(fleet->age) || (fleet->age >= 0 && isfinite(fleet->age)));
}

static bool is_place(uint32_t place, size_t count, bool wanted)
{
	return wanted ? place < count : place == RNA_MESH_NONE;
}

static void want_part(const struct rna_mesh *mesh, const struct rna_mesh_part *part)
{
	bool port = part->kind == RNA_BLAME_PORT, path = part->kind == RNA_BLAME_PATH;
	bool leaf = port || part->kind == RNA_BLAME_LEAF || part->kind == RNA_BLAME_UPLINK;

	FUZZ_WANT(part->kind < RNA_BLAME_KIND_COUNT);
	FUZZ_WANT(is_place(part->port, mesh->port_count, port));
	FUZZ_WANT(is_place(part->node, mesh->node_count, port || part->kind == RNA_BLAME_HOST));
	FUZZ_WANT((leaf && part->leaf == RNA_MESH_NONE) || /* unknown; or inferred: */
		  is_place(part->leaf, mesh->leaf_count + (leaf ? mesh->port_count : 0),
			   leaf || path));
	FUZZ_WANT(is_place(part->other_leaf, mesh->leaf_count, path));
}

static void want_blame(const struct rna_mesh *mesh, const struct rna_blame *blame)
{
	want_part(mesh, &blame->part);
	FUZZ_WANT(blame->other_count <= RNA_BLAME_OTHERS_MAX);
	for (uint32_t i = 0; i < blame->other_count; i++)
		want_part(mesh, &blame->others[i]);
	FUZZ_WANT(blame->losing_ports <= blame->ports && blame->ports <= mesh->port_count);
	FUZZ_WANT(blame->losing <= blame->pairs);
	FUZZ_WANT(is_share(blame->ratio));
}

/* Each pair that loses is explained once, or left. */
static void want_verdicts(const struct rna_fleet *fleet)
{
	RNA_CLEANUP(rna_blames_deinit) struct rna_blames blames = {0};
	RNA_FREE bool *left = calloc(fleet->mesh.pair_count + 1, sizeof(*left));
	uint64_t explained = 0;

	FUZZ_WANT(left && rna_mesh_blame(&fleet->mesh, &blames) == 0);
	for (size_t i = 0; i < blames.count; i++) {
		want_blame(&fleet->mesh, &blames.list[i]);
		explained += blames.list[i].explained;
	}
	FUZZ_WANT(blames.left_count <= fleet->mesh.pair_count);
	for (size_t i = 0; i < blames.left_count; i++) {
		FUZZ_WANT(blames.left[i] < fleet->mesh.pair_count && !left[blames.left[i]]);
		left[blames.left[i]] = true;
	}
	/* those that agents count and do not list are explained as well */
	FUZZ_WANT(explained + blames.left_count >= fleet->mesh.pair_count);
}

/* What the command writes, as it is written to a terminal and as JSON. */
static void want_report(const struct rna_fleets *fleets, struct rna_strbuf *text)
{
	RNA_STRBUF struct rna_strbuf json = RNA_STRBUF_INIT;
	RNA_CLEANUP(rna_json_free_p) json_t *document = NULL;
	int state = rna_mesh_report(fleets, false, text);

	FUZZ_WANT(state >= RNA_MESH_WELL && state <= RNA_MESH_UNKNOWN);
	fuzz_want_printable(text->data, text->len);
	FUZZ_WANT(rna_mesh_report(fleets, true, &json) == state);
	fuzz_want_printable(json.data, json.len);
	document = json_loadb(json.data, json.len, JSON_REJECT_DUPLICATES, NULL);
	FUZZ_WANT(json_array_size(json_object_get(document, "fleets")) == fleets->count);
}

static int compare_fleets(const struct rna_fleet *a, const struct rna_fleet *b)
{
	int ret = strcmp(a->job, b->job);

	return ret != 0 ? ret : strcmp(a->group, b->group);
}

/* -- The command ------------------------------------------------------------------------------- */

/* Once: what was allocated otherwise cannot be freed by these functions. */
static void start(void)
{
	FUZZ_WANT(rna_fleets_query_count == QUESTIONS);
	json_set_alloc_funcs(take_memory, give_memory);
}

static void read_answer(struct rna_fleets_reader *reader, size_t question, const char *text,
			size_t len)
{
	struct rna_error error = {0};
	int status = 0;

	memory.most = memory.now;
	rna_fleets_begin(reader, question);
	for (size_t at = 0; status == 0 && at < len; at += PIECE)
		status = rna_fleets_read(reader, text + at, len - at < PIECE ? len - at : PIECE,
					 &error);
	if (status == 0)
		status = rna_fleets_end(reader, &error);
	fuzz_want_error(status, &error);
	FUZZ_WANT(memory.most - memory.now <= MEMORY_MAX);
}

static void judge(struct rna_fleets_reader *reader, struct rna_strbuf *report)
{
	RNA_CLEANUP(rna_fleets_deinit) struct rna_fleets fleets = {0};
	int status = rna_fleets_make(reader, NULL, &fleets);

	FUZZ_WANT(status == 0 || status == -E2BIG);
	if (status < 0)
		return;
	FUZZ_WANT(fleets.count <= FLEETS_MAX);
	for (size_t i = 0; i < fleets.count; i++) {
		FUZZ_WANT(i == 0 || compare_fleets(&fleets.list[i - 1], &fleets.list[i]) < 0);
		want_fleet(&fleets.list[i]);
		want_verdicts(&fleets.list[i]);
	}
	want_report(&fleets, report);
}

static void judge_fabric(bool reversed, struct rna_strbuf *report)
{
	RNA_CLEANUP(rna_fleets_reader_free_p)
	struct rna_fleets_reader *reader = rna_fleets_reader_new();

	FUZZ_WANT(reader);
	for (enum question i = 0; i < QUESTIONS; i++) {
		RNA_STRBUF struct rna_strbuf answer = RNA_STRBUF_INIT;

		write_answer(i, reversed, &answer);
		FUZZ_WANT(rna_strbuf_ok(&answer));
		read_answer(reader, i, answer.data, answer.len);
	}
	judge(reader, report);
}

static void judge_lines(const uint8_t *data, size_t size)
{
	RNA_CLEANUP(rna_fleets_reader_free_p)
	struct rna_fleets_reader *reader = rna_fleets_reader_new();
	RNA_STRBUF struct rna_strbuf report = RNA_STRBUF_INIT;

	FUZZ_WANT(reader);
	for (size_t i = 0; i < QUESTIONS && size > 0; i++) {
		const uint8_t *end = memchr(data, '\n', size);
		size_t len = end ? (size_t)(end - data) : size;

		read_answer(reader, i, (const char *)data, len);
		data += len + (end != NULL);
		size -= len + (end != NULL);
	}
	judge(reader, &report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_STRBUF struct rna_strbuf report = RNA_STRBUF_INIT, other = RNA_STRBUF_INIT;
	struct fuzz_bytes bytes = {data, size};

	if (!memory.counted)
		start();
	memory.counted = true;
	if (fuzz_byte(&bytes) != 'F') {
		judge_lines(data, size);
		return 0;
	}
	make_samples(&bytes);
	judge_fabric(false, &report);
	judge_fabric(true, &other);
	FUZZ_WANT(fabric.repeats || strcmp(report.data, other.data) == 0);
	return 0;
}
