// SPDX-License-Identifier: Apache-2.0
/* agent/mesh, fleets: answers of Prometheus become meshes, or errors that say what is wrong. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/mesh_report.h"
#include "mesh/fleets.h"

enum { INFO, PAIRS, RATIO, SENT, LOST, STOPPED, MEMBERS, AGE };
enum { LONG_LABEL = 60000, SAMPLE_ROOM = 61000 }; /* bytes */

#define VECTOR(samples)                                                                            \
	"{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[" samples "]}}"
#define SAMPLE(labels, value) "{\"metric\":{" labels "},\"value\":[1764258000.1,\"" value "\"]}"
#define PORT(instance, device)                                                                     \
	"\"job\":\"rdma\",\"instance\":\"" instance "\",\"device\":\"" device "\",\"port\":\"1\""
#define PEER(peer, port, leaf)                                                                     \
	",\"peer\":\"" peer "\",\"peer_port\":\"" port "\",\"peer_leaf\":\"" leaf                  \
	"\",\"scope\":\"fabric\""

/* In pieces of that many bytes. */
static int read_pieces(struct rna_fleets_reader *reader, size_t number, const char *text,
		       size_t piece, struct rna_error *error)
{
	int status = 0;

	rna_fleets_begin(reader, number);
	for (size_t len = strlen(text), at = 0; status == 0 && at < len; at += piece)
		status = rna_fleets_read(reader, text + at, len - at < piece ? len - at : piece,
					 error);
	return status < 0 ? status : rna_fleets_end(reader, error);
}

static int read_answer(struct rna_fleets_reader *reader, size_t number, const char *text,
		       struct rna_error *error)
{
	return read_pieces(reader, number, text, SIZE_MAX, error);
}

static void test_questions_name_the_job(void **state)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	(void)state;
	rna_fleets_query(STOPPED, NULL, &out);
	assert_string_equal(out.data, "count by (job) (rdma_probe_up == 0)");
	rna_strbuf_deinit(&out);
	rna_fleets_query(MEMBERS, "a\"b\\c", &out);
	assert_string_equal(out.data, "max by (job) (rdma_probe_members{job=\"a\\\"b\\\\c\"})");
	assert_int_equal(rna_fleets_query_count, AGE + 1);
}

/* Two groups of one job; a peer that is scraped, and one that is not. */
static void want_fleets(size_t piece)
{
	static const char *const answers[] = {
		[INFO] = VECTOR(SAMPLE(
			PORT("n2:1", "a") ",\"leaf\":\"l2\",\"rail\":\"0\",\"member\":\"m2\"",
			"1") "," SAMPLE(PORT("n1:1", "a") ",\"leaf\":\"l1\",\"rail\":\"0\","
							  "\"member\":\"m1\"",
					"1") "," SAMPLE(PORT("n9:1", "a") ",\"group\":\"g\","
									  "\"member\":\"m9\"",
							"1")),
		[PAIRS] = VECTOR(SAMPLE(PORT("n1:1", "a") ",\"result\":\"losing\"", "2") "," SAMPLE(
			PORT("n1:1", "a") ",\"result\":\"answering\"",
			"4") "," SAMPLE(PORT("n9:1", "a") ",\"result\":\"answering\"",
					"6") "," SAMPLE(PORT("n8:1", "a") ",\"result\":\"losing\"",
							"6")),
		[RATIO] = VECTOR(SAMPLE(
			PORT("n1:1", "a") PEER("m2", "a/1", "l2") ",\"sign\":\"loss\"",
			"0.5") "," SAMPLE(PORT("n1:1", "a")
						  PEER("m3", "b/2", "l3") ",\"sign\":\"silent\"",
					  "1") "," SAMPLE(PORT("n1:1", "a")
								  PEER("m2", "b/1",
								       "l2") ",\"sign\":\"slow\"",
							  "0") "," SAMPLE(PORT("n1:1", "a")
										  PEER("m2", "b/1",
										       "l2") ",\"si"
											     "gn\":"
											     "\"new"
											     "\"",
									  "0")),
		[SENT] = VECTOR(SAMPLE(PORT("n1:1", "a") ",\"scope\":\"fabric\"", "1200.5")),
		[LOST] = VECTOR(SAMPLE(PORT("n1:1", "a") ",\"scope\":\"fabric\"", "NaN")),
		[STOPPED] = VECTOR(SAMPLE("\"job\":\"rdma\"", "1")),
		[MEMBERS] = VECTOR(SAMPLE("\"job\":\"rdma\"", "5")),
		[AGE] = VECTOR(SAMPLE("\"job\":\"rdma\"", "14.5")),
	};
	RNA_CLEANUP(rna_fleets_reader_free_p)
	struct rna_fleets_reader *reader = rna_fleets_reader_new();
	RNA_CLEANUP(rna_fleets_deinit) struct rna_fleets fleets = {0};
	const struct rna_fleet *fleet;

	for (size_t i = 0; i < rna_fleets_query_count; i++)
		assert_int_equal(read_pieces(reader, i, answers[i], piece, NULL), 0);
	assert_int_equal(rna_fleets_make(reader, NULL, &fleets), 0);
	assert_int_equal(fleets.count, 2);
	assert_string_equal(fleets.list[1].group, "g");
	assert_int_equal(fleets.list[1].answering, 6);
	fleet = &fleets.list[0];
	assert_string_equal(fleet->job, "rdma");
	assert_int_equal(fleet->reporting, 2);
	assert_int_equal(fleet->job_reporting, 3);
	assert_int_equal(fleet->reporting_ports, 2);
	assert_int_equal(fleet->judged_ports, 1);
	assert_int_equal(fleet->losing, 2);
	assert_int_equal(fleet->members, 5);
	assert_int_equal(fleet->stopped, 1);
	assert_true(fleet->age > 14 && fleet->age < 15);
	assert_int_equal(fleet->mesh.port_count, 4); /* two of them are not scraped */
	assert_int_equal(fleet->mesh.leaf_count, 3);
	assert_int_equal(fleet->mesh.pair_count, 2);
	assert_int_equal(fleet->signs[3], 1); /* RNA_PROBE_SLOW */
	assert_string_equal(fleet->nodes[fleet->mesh.ports[fleet->mesh.pairs[0].to].node], "m2");
	assert_string_equal(fleet->ports[fleet->mesh.pairs[1].to], "b/2");
	assert_string_equal(fleet->nodes[fleet->mesh.ports[fleet->mesh.pairs[1].to].node], "m3");
	assert_string_equal(fleet->leaves[fleet->mesh.ports[fleet->mesh.pairs[1].to].leaf], "l3");
	assert_true(fleet->mesh.ports[fleet->mesh.pairs[0].from].sent[RNA_PROBE_FABRIC] > 1200);
}

static void test_answers_become_fleets(void **state)
{
	(void)state;
	want_fleets(SIZE_MAX);
	want_fleets(1);
	want_fleets(7);
}

/* Two pairs name the same port of a node that is not scraped. */
static void test_a_peer_is_one_port(void **state)
{
	RNA_CLEANUP(rna_fleets_reader_free_p)
	struct rna_fleets_reader *reader = rna_fleets_reader_new();
	RNA_CLEANUP(rna_fleets_deinit) struct rna_fleets fleets = {0};
	const struct rna_mesh *mesh;

	(void)state;
	assert_int_equal(read_answer(reader, INFO,
				     VECTOR(SAMPLE(PORT("n1:1", "a"),
						   "1") "," SAMPLE(PORT("n2:1", "a"), "1")),
				     NULL),
			 0);
	assert_int_equal(
		read_answer(
			reader, RATIO,
			VECTOR(SAMPLE(
				PORT("n1:1", "a") PEER("m3", "a/1", "l3") ",\"sign\":\"loss\"",
				"0.5") "," SAMPLE(PORT("n2:1", "a") PEER("m3", "a/1",
									 "l3") ",\"sign\":\"loss\"",
						  "0.25") "," SAMPLE(PORT("n2:1", "a")
									     PEER("m3", "b/1",
										  "l3") ",\"sign\":"
											"\"loss\"",
								     "0.25")),
			NULL),
		0);
	assert_int_equal(rna_fleets_make(reader, NULL, &fleets), 0);
	mesh = &fleets.list[0].mesh;
	assert_int_equal(mesh->port_count, 4);
	assert_int_equal(mesh->node_count, 3);
	assert_int_equal(mesh->pair_count, 3);
	assert_int_equal(mesh->pairs[0].to, mesh->pairs[1].to);
	assert_int_not_equal(mesh->pairs[0].to, mesh->pairs[2].to);
	assert_string_equal(fleets.list[0].ports[mesh->pairs[2].to], "b/1");
}

#define EVIL  "\\u001b[2J\\n\\u009b\\u202e\xc2\x9b\xe2\x80\xae"
#define TAMED FFFD "[2J" FFFD FFFD FFFD FFFD FFFD
#define FFFD  "\xef\xbf\xbd"

/* Labels are of any pod that Prometheus scrapes; the ports are found all the same. */
static void test_names_are_plain(void **state)
{
	static const char *const answers[] = {
		[INFO] = VECTOR(SAMPLE("\"job\":\"j" EVIL "\",\"instance\":\"i" EVIL
				       "\",\"device\":\"d" EVIL "\",\"port\":\"p" EVIL
				       "\",\"leaf\":\"l" EVIL "\",\"group\":\"g" EVIL
				       "\",\"member\":\"m" EVIL "\"",
				       "1")),
		[PAIRS] = VECTOR(SAMPLE("\"job\":\"j" EVIL "\",\"instance\":\"i" EVIL
					"\",\"device\":\"d" EVIL "\",\"port\":\"p" EVIL
					"\",\"result\":\"losing\"",
					"3")),
		[RATIO] = VECTOR(
			SAMPLE("\"job\":\"j" EVIL "\",\"instance\":\"i" EVIL
			       "\",\"device\":\"d" EVIL "\",\"port\":\"p" EVIL
			       "\"" PEER("q" EVIL, "r/1" EVIL, "s" EVIL) ",\"sign\":\"loss\"",
			       "0.5")),
	};
	RNA_CLEANUP(rna_fleets_reader_free_p)
	struct rna_fleets_reader *reader = rna_fleets_reader_new();
	RNA_CLEANUP(rna_fleets_deinit) struct rna_fleets fleets = {0};
	const struct rna_fleet *fleet;

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(answers); i++)
		assert_int_equal(read_answer(reader, i, answers[i], NULL), 0);
	assert_int_equal(rna_fleets_make(reader, NULL, &fleets), 0);
	fleet = &fleets.list[0];
	assert_string_equal(fleet->job, "j" TAMED);
	assert_string_equal(fleet->group, "g" TAMED);
	assert_int_equal(fleet->losing, 3);
	assert_int_equal(fleet->mesh.pair_count, 1);
	assert_string_equal(fleet->nodes[0], "m" TAMED);
	assert_string_equal(fleet->nodes[1], "q" TAMED);
	assert_string_equal(fleet->leaves[0], "l" TAMED);
	assert_string_equal(fleet->leaves[1], "s" TAMED);
	assert_string_equal(fleet->ports[0], "d" TAMED "/p" TAMED);
	assert_string_equal(fleet->ports[1], "r/1" TAMED);
}

/* Samples with a number between these texts, until one is refused; how many there were. */
static size_t read_endless(size_t number, const char *before, const char *behind, const char *words)
{
	static const char begin[] = "{\"data\":{\"result\":[";
	RNA_CLEANUP(rna_fleets_reader_free_p)
	struct rna_fleets_reader *reader = rna_fleets_reader_new();
	struct rna_error error = {0};
	size_t count = 0;
	char text[SAMPLE_ROOM];
	int status;

	rna_fleets_begin(reader, number);
	status = rna_fleets_read(reader, begin, strlen(begin), &error);
	for (; status == 0; count++) {
		(void)snprintf(text, sizeof(text), "{\"metric\":{%s%zu%s},\"value\":[1,\"1\"]},",
			       before, count, behind);
		status = rna_fleets_read(reader, text, strlen(text), &error);
	}
	assert_int_equal(status, -E2BIG);
	assert_string_equal(error.text, words);
	return count;
}

static void test_what_is_kept_is_limited(void **state)
{
	RNA_STRBUF struct rna_strbuf leaf = RNA_STRBUF_INIT;

	(void)state;
	rna_strbuf_puts(&leaf, "\",\"leaf\":\"");
	for (size_t i = 0; i < LONG_LABEL; i++)
		rna_strbuf_add_char(&leaf, 'x');
	rna_strbuf_puts(&leaf, "\"");
	assert_in_range(read_endless(INFO, "\"instance\":\"", leaf.data,
				     "the answer: its ports and pairs take more than 64 MiB of "
				     "memory; choose fewer by --job"),
			(56 << 20) / LONG_LABEL, (64 << 20) / LONG_LABEL);
	assert_int_equal(read_endless(MEMBERS, "\"job\":\"", "\"",
				      "the answer: more than 1024 jobs; choose one by --job"),
			 1025);
}

static void test_a_group_alone(void **state)
{
	RNA_CLEANUP(rna_fleets_reader_free_p)
	struct rna_fleets_reader *reader = rna_fleets_reader_new();
	RNA_CLEANUP(rna_fleets_deinit) struct rna_fleets fleets = {0};

	(void)state;
	assert_int_equal(read_answer(reader, INFO,
				     VECTOR(SAMPLE(PORT("n1:1", "a"), "1") "," SAMPLE(
					     PORT("n2:1", "a") ",\"group\":\"g\"", "1")),
				     NULL),
			 0);
	assert_int_equal(rna_fleets_make(reader, "g", &fleets), 0);
	assert_int_equal(fleets.count, 1);
	assert_string_equal(fleets.list[0].nodes[0], "n2:1"); /* it has no name as a member */
}

static void read_all(struct rna_fleets_reader *reader, const char *const answers[AGE + 1])
{
	for (size_t i = 0; i <= AGE; i++)
		assert_int_equal(read_answer(reader, i, answers[i] ? answers[i] : VECTOR(""), NULL),
				 0);
}

/* A Prometheus may scrape anything. One target must not make the report useless. */
static void test_numbers_that_no_agent_exports(void **state)
{
	static const char *const answers[AGE + 1] = {
		[INFO] = VECTOR(SAMPLE(PORT("n1:1", "a"), "1")),
		[PAIRS] = VECTOR(SAMPLE(PORT("n1:1", "a") ",\"result\":\"losing\"", "1e300")),
		[RATIO] = VECTOR(
			SAMPLE(PORT("n1:1", "a") PEER("m2", "a/1", "l2") ",\"sign\":\"loss\"",
			       "7") "," SAMPLE(PORT("n1:1", "a")
						       PEER("m3", "a/1", "l3") ",\"sign\":\"loss\"",
					       "+Inf")),
		[SENT] = VECTOR(SAMPLE(PORT("n1:1", "a") ",\"scope\":\"fabric\"", "+Inf")),
		[MEMBERS] = VECTOR(SAMPLE("\"job\":\"rdma\"", "1e300")),
		[AGE] = VECTOR(SAMPLE("\"job\":\"rdma\"", "+Inf")),
	};
	RNA_CLEANUP(rna_fleets_reader_free_p)
	struct rna_fleets_reader *reader = rna_fleets_reader_new();
	RNA_CLEANUP(rna_fleets_deinit) struct rna_fleets fleets = {0};
	RNA_STRBUF struct rna_strbuf json = RNA_STRBUF_INIT;

	(void)state;
	read_all(reader, answers);
	assert_int_equal(rna_fleets_make(reader, NULL, &fleets), 0);
	assert_int_equal(fleets.list[0].losing, 1000000000);
	assert_int_equal(fleets.list[0].members, 1000000000);
	assert_true(isnan(fleets.list[0].age));
	assert_int_equal(fleets.list[0].mesh.pair_count, 1);
	assert_true(fleets.list[0].mesh.pairs[0].ratio <= 1);
	assert_true(fleets.list[0].mesh.ports[0].sent[RNA_PROBE_FABRIC] <= 0);
	assert_true(rna_mesh_report(&fleets, true, &json) >= 0);
}

/* The first of two pairs that lose as much is the same whichever a Prometheus has first. */
static void test_the_order_of_samples(void **state)
{
#define TO_2 SAMPLE(PORT("n1:1", "a") PEER("m2", "a/1", "l2") ",\"sign\":\"loss\"", "0.5")
#define TO_3 SAMPLE(PORT("n1:1", "a") PEER("m3", "a/1", "l3") ",\"sign\":\"loss\"", "0.5")
	static const char *const pairs[] = {VECTOR(TO_2 "," TO_3), VECTOR(TO_3 "," TO_2)};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(pairs); i++) {
		const char *answers[AGE + 1] = {
			[INFO] = VECTOR(SAMPLE(PORT("n1:1", "a"), "1")),
			[RATIO] = pairs[i],
		};
		RNA_CLEANUP(rna_fleets_reader_free_p)
		struct rna_fleets_reader *reader = rna_fleets_reader_new();
		RNA_CLEANUP(rna_fleets_deinit) struct rna_fleets fleets = {0};
		const struct rna_fleet *fleet;

		read_all(reader, answers);
		assert_int_equal(rna_fleets_make(reader, NULL, &fleets), 0);
		fleet = &fleets.list[0];
		assert_string_equal(fleet->nodes[fleet->mesh.ports[fleet->mesh.pairs[0].to].node],
				    "m2");
	}
}

static void assert_bad(const char *text, int code, const char *words)
{
	RNA_CLEANUP(rna_fleets_reader_free_p)
	struct rna_fleets_reader *reader = rna_fleets_reader_new();
	struct rna_error error = {0};

	assert_int_equal(read_answer(reader, INFO, text, &error), code);
	assert_non_null(strstr(error.text, words));
}

static void test_bad_answers(void **state)
{
	(void)state;
	assert_bad("{\"status\":\"error\",\"errorType\":\"timeout\",\"error\":\"too slow\"}",
		   -EPROTO, "Prometheus: too slow");
	assert_bad("{\"status\":\"error\"}", -EPROTO, "unknown error");
	assert_bad("{\"status\":\"succ", -EBADMSG, "the answer");
	assert_bad("", -EBADMSG, "the answer");
	assert_bad("[]", -EBADMSG, "not an answer of Prometheus");
	assert_bad("{\"data\":{\"result\":{}}}", -EBADMSG, "not an answer of Prometheus");
	assert_bad(VECTOR("3"), -EBADMSG, "the answer: line 1: '[' or '{' expected near '3'");
	assert_bad(VECTOR("{}"), -EBADMSG, "the answer: a sample has no labels or no value");
	assert_bad(VECTOR(SAMPLE("", "1x")), -EBADMSG, "a sample has no labels or no value");
	assert_bad(VECTOR(SAMPLE("", "1") ","), -EBADMSG, "the answer");
	assert_bad("[[[[[[[[[[]]]]]]]]]]", -EBADMSG, "the answer");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_questions_name_the_job),
		cmocka_unit_test(test_answers_become_fleets),
		cmocka_unit_test(test_a_peer_is_one_port),
		cmocka_unit_test(test_names_are_plain),
		cmocka_unit_test(test_what_is_kept_is_limited),
		cmocka_unit_test(test_a_group_alone),
		cmocka_unit_test(test_numbers_that_no_agent_exports),
		cmocka_unit_test(test_the_order_of_samples),
		cmocka_unit_test(test_bad_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
