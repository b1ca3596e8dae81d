// SPDX-License-Identifier: Apache-2.0
/* agent/mesh, fleets: answers of Prometheus become meshes, or errors that say what is wrong. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "mesh/fleets.h"

enum { INFO, PAIRS, RATIO, SENT, LOST, STOPPED, MEMBERS, AGE };

#define VECTOR(samples)                                                                            \
	"{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[" samples "]}}"
#define SAMPLE(labels, value) "{\"metric\":{" labels "},\"value\":[1764258000.1,\"" value "\"]}"
#define PORT(instance, device)                                                                     \
	"\"job\":\"rdma\",\"instance\":\"" instance "\",\"device\":\"" device "\",\"port\":\"1\""
#define PEER(peer, port, leaf)                                                                     \
	",\"peer\":\"" peer "\",\"peer_port\":\"" port "\",\"peer_leaf\":\"" leaf                  \
	"\",\"scope\":\"fabric\""

static int read_answer(struct rna_fleets_reader *reader, size_t number, const char *text,
		       struct rna_error *error)
{
	return rna_fleets_read(reader, number, text, strlen(text), error);
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
static void test_answers_become_fleets(void **state)
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

	(void)state;
	for (size_t i = 0; i < rna_fleets_query_count; i++)
		assert_int_equal(read_answer(reader, i, answers[i], NULL), 0);
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
	assert_bad(VECTOR("3"), -EBADMSG, "not an answer of Prometheus");
	assert_bad(VECTOR(SAMPLE("", "1x")), -EBADMSG, "not an answer of Prometheus");
	assert_bad("[[[[[[[[[[]]]]]]]]]]", -EBADMSG, "the answer");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_questions_name_the_job),
		cmocka_unit_test(test_answers_become_fleets),
		cmocka_unit_test(test_a_group_alone),
		cmocka_unit_test(test_bad_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
