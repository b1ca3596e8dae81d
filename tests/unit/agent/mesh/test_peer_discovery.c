// SPDX-License-Identifier: Apache-2.0
/*
 * agent/mesh, peer_discovery: the thread, with a file of members that has no leaves, as DNS and
 * Kubernetes have none. What members answer by HTTP is made up here: node-4 to node-6 are on the
 * leaf of this node, and node-2 does not answer.
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "rna/base/cleanup.h"
#include "rna/base/thread.h"
#include "rna/https.h"

#include "mesh/peer_discovery.h"

enum { PATIENCE = 20000 /* milliseconds */ };

static struct rna_worker *discovery;
static char path[256];

/* -- Members that answer ----------------------------------------------------------------------- */

struct rna_https {
	char origin[RNA_PEER_ORIGIN_SIZE];
};

int __wrap_rna_https_open(const struct rna_https_peer *peer, struct rna_https **ret,
			  struct rna_error *error);
int __wrap_rna_https_ask(struct rna_https *https, const struct rna_https_request *request,
			 struct rna_https_reply *reply, struct rna_error *error);
struct rna_https *__wrap_rna_https_close(struct rna_https *https);

int __wrap_rna_https_open(const struct rna_https_peer *peer, struct rna_https **ret,
			  struct rna_error *error)
{
	struct rna_https *https = calloc(1, sizeof(*https));

	(void)error;
	if (!https)
		return -ENOMEM;
	(void)snprintf(https->origin, sizeof(https->origin), "%s", peer->origin);
	*ret = https;
	return 0;
}

int __wrap_rna_https_ask(struct rna_https *https, const struct rna_https_request *request,
			 struct rna_https_reply *reply, struct rna_error *error)
{
	bool near = strstr(https->origin, "node-4") || strstr(https->origin, "node-5") ||
		    strstr(https->origin, "node-6");

	(void)request;
	if (strstr(https->origin, "node-2"))
		return rna_error_say(error, -ECONNREFUSED, "%s: refused", https->origin);
	reply->status = 200;
	rna_strbuf_printf(&reply->body,
			  "{\"version\": 2, \"node\": \"n\", \"group\": \"\", \"key_check\": "
			  "\"0123abcd\", \"state\": \"running\", \"why\": \"\", \"ports\": ["
			  "{\"device\": \"mlx5_0\", \"port\": 1, \"use\": \"failed\", "
			  "\"leaf\": \"%s\", \"link_layer\": \"ethernet\"}]}",
			  near ? "leaf-a" : "leaf-b");
	return 0;
}

struct rna_https *__wrap_rna_https_close(struct rna_https *https)
{
	free(https);
	return NULL;
}

/* -- The thread -------------------------------------------------------------------------------- */

static int set_up(void **state)
{
	(void)state;
	(void)snprintf(path, sizeof(path), "/tmp/rna-peer-discovery.%d.json", getpid());
	(void)unlink(path);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	discovery = rna_worker_stop(discovery);
	(void)unlink(path);
	assert_true(rna_threads_aside_join(PATIENCE * RNA_USEC_PER_MSEC));
	return 0;
}

static void write_list(const char *labels)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	(void)fprintf(file, "[{\"targets\": [\"self:1\"], \"labels\": {%s}}, {\"targets\": [",
		      labels);
	for (int i = 1; i <= 8; i++)
		(void)fprintf(file, "%s\"node-%d:1\"", i > 1 ? ", " : "", i);
	(void)fputs("]}]", file);
	assert_int_equal(fclose(file), 0);
}

static void start(const struct rna_peer_place *remembered, size_t count)
{
	const struct rna_peer_discovery_options options = {
		.source = {.kind = RNA_MEMBERS_FILE, .place = path},
		.node = "self",
		.neighbours = 3,
		.remembered = remembered,
		.remembered_count = count,
	};

	assert_int_equal(rna_peer_discovery_start(&options, &discovery, NULL), 0);
}

static struct rna_peer_news *wait_for_news(void)
{
	struct pollfd ready = {.fd = rna_worker_fd(discovery), .events = POLLIN};
	struct rna_peer_news *news;

	while (!(news = rna_peer_discovery_take(discovery)))
		assert_int_equal(poll(&ready, 1, PATIENCE), 1);
	return news;
}

/* How many members on the leaf that choice has. */
static unsigned count_near(const struct rna_peer_news *news)
{
	unsigned count = 0;

	for (size_t i = 0; i < news->place_count; i++)
		count += news->places[i].name[5] >= '4' && news->places[i].name[5] <= '6';
	return count;
}

/* The newest list and the leaf are only what members tell. */
static void test_members_without_leaves_are_asked_for_theirs(void **state)
{
	unsigned near = 0, choices = 0;

	(void)state;
	write_list("");
	start(NULL, 0);
	rna_peer_discovery_set_leaf(discovery, "leaf-a");
	while (near < 3) {
		RNA_FREE struct rna_peer_news *news = wait_for_news();

		if (news->choice == 0)
			continue;
		choices++;
		assert_true(news->choice == choices);
		assert_int_equal(news->members, 9);
		assert_string_equal(news->own, "self");
		assert_string_equal(news->leaf, "");
		near = count_near(news);
		if (near == 3)
			assert_int_equal(news->place_count, 6);
	}
}

static void test_the_leaf_in_the_list_is_told(void **state)
{
	RNA_FREE struct rna_peer_news *news = NULL;

	(void)state;
	write_list("\"leaf\": \"row-7\"");
	start(NULL, 0);
	news = wait_for_news();
	assert_true(news->choice == 1);
	assert_string_equal(news->leaf, "row-7");
}

/* After a restart peers are asked at once, however late the list is. */
static void test_remembered_peers_are_asked_without_a_list(void **state)
{
	const struct rna_peer_place remembered[] = {{"n3", "http://[fd00::3]:10879"}};
	bool asked = false, failed = false;

	(void)state;
	start(remembered, 1);
	while (!asked || !failed) {
		RNA_FREE struct rna_peer_news *news = wait_for_news();

		if (news->choice > 0) {
			failed = news->text[0] != '\0';
			assert_int_equal(news->place_count, 1); /* the choice stays */
			continue;
		}
		assert_string_equal(news->name, "n3");
		assert_string_equal(news->host, "fd00::3");
		assert_true(news->answered);
		asked = true;
	}
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_members_without_leaves_are_asked_for_theirs),
		TEST(test_the_leaf_in_the_list_is_told),
		TEST(test_remembered_peers_are_asked_without_a_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
