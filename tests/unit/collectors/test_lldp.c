// SPDX-License-Identifier: Apache-2.0
/* collectors/lldp and lldpd: neighbours of a recording, those that fall silent, and an lldpd that
 * hangs or ends. What a real one says is tested in a VM. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "backend/backends.h"

#include "collectors.h"
#include "collectors_config.h"
#include "tree.h"

static struct rna_part *collect(const struct tree *tree, const struct rna_part *previous)
{
	RNA_CLEANUP(rna_backends_free_p) struct rna_backends *backends = NULL;
	struct rna_collect_input in = {.root = tree->root, .previous = previous};
	struct rna_part *part;

	backends = rna_backends_new(tree->root);
	in.backends = backends;
	assert_int_equal(rna_collect_lldp(&in, &part, NULL), 0);
	return part;
}

static const struct rna_lldp *lldp_of(const struct rna_part *part)
{
	return (const struct rna_lldp *)part;
}

static void test_who_was_heard(void **state)
{
	RNA_CLEANUP(tree_deinit) struct tree tree;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	const struct rna_peer *peer;

	(void)state;
	tree_init(&tree);
	tree_write(&tree, "recorded/lldp/eth10/name", "leaf8\n");
	tree_write(&tree, "recorded/lldp/eth2/guid", "98:03:9b:aa:00:01\n");
	tree_write(&tree, "recorded/lldp/eth2/name", "leaf7\n");
	tree_write(&tree, "recorded/lldp/eth2/port", "Ethernet12\n");
	tree_mkdir(&tree, "recorded/lldp/eth2/bridge");
	part = collect(&tree, NULL);
	assert_true(lldp_of(part)->running);
	assert_int_equal(lldp_of(part)->count, 2);
	assert_string_equal(lldp_of(part)->neighbours[0].netdev, "eth2");
	peer = rna_lldp_find(lldp_of(part), "eth2");
	assert_string_equal(peer->guid, "98:03:9b:aa:00:01");
	assert_string_equal(peer->name, "leaf7");
	assert_string_equal(peer->port, "Ethernet12");
	assert_null(peer->port_description);
	assert_int_equal(peer->type, RNA_NODE_TYPE_SWITCH);
	assert_int_equal(peer->source, RNA_PEER_BY_LLDP);
	assert_false(peer->stale);
	assert_int_equal(rna_lldp_find(lldp_of(part), "eth10")->type, RNA_NODE_TYPE_UNKNOWN);
	assert_null(rna_lldp_find(lldp_of(part), "eth1"));
	assert_null(rna_lldp_find(NULL, "eth1"));
}

/* The part before is gone when its neighbours are looked at. */
static void test_who_falls_silent_stays(void **state)
{
	RNA_CLEANUP(tree_deinit) struct tree tree;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL, *next = NULL;
	const struct rna_peer *peer;
	rna_usec seen;

	(void)state;
	tree_init(&tree);
	tree_write(&tree, "recorded/lldp/eth1/name", "leaf7\n");
	tree_write(&tree, "recorded/lldp/eth1/port", "Ethernet12\n");
	tree_write(&tree, "recorded/lldp/eth2/name", "leaf8\n");
	part = collect(&tree, NULL);
	seen = rna_lldp_find(lldp_of(part), "eth1")->seen.monotonic;
	tree_remove(&tree, "recorded/lldp/eth1");
	next = collect(&tree, part);
	part = rna_part_unref(part);
	peer = rna_lldp_find(lldp_of(next), "eth1");
	assert_string_equal(peer->name, "leaf7");
	assert_string_equal(peer->port, "Ethernet12");
	assert_true(peer->stale);
	assert_int_equal(peer->seen.monotonic, seen);
	assert_false(rna_lldp_find(lldp_of(next), "eth2")->stale);
	tree_write(&tree, "recorded/lldp/eth1/name", "leaf9\n");
	part = collect(&tree, next);
	assert_string_equal(rna_lldp_find(lldp_of(part), "eth1")->name, "leaf9");
	assert_false(rna_lldp_find(lldp_of(part), "eth1")->stale);
	assert_int_equal(lldp_of(part)->count, 2);
}

/* A cable that was moved to another interface, or a switch that is gone for good. */
static void test_who_is_silent_for_a_day_goes(void **state)
{
	static const rna_usec day = 24 * 60 * 60 * RNA_USEC_PER_SEC;
	RNA_CLEANUP(tree_deinit) struct tree tree;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL, *next = NULL;
	struct rna_lldp_neighbour old = {.netdev = "eth1", .peer.name = "leaf7"};
	struct rna_lldp before = {.count = 1, .neighbours = &old};
	rna_usec now = rna_clock_now().realtime;

	(void)state;
	tree_init(&tree);
	old.peer.seen.realtime = now - day + 600 * RNA_USEC_PER_SEC;
	part = collect(&tree, &before.part);
	assert_int_equal(lldp_of(part)->count, 1);
	old.peer.seen.realtime = now - day - RNA_USEC_PER_SEC;
	next = collect(&tree, &before.part);
	assert_int_equal(lldp_of(next)->count, 0);
}

static void test_nobody_runs_lldpd(void **state)
{
	RNA_CLEANUP(tree_deinit) struct tree tree;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;

	(void)state;
	tree_init(&tree);
	part = collect(&tree, NULL);
	assert_false(lldp_of(part)->running);
	assert_int_equal(lldp_of(part)->count, 0);
	assert_int_equal(rna_part_error_count(part), 0);
}

/* -- Lldpd ------------------------------------------------------------------------------------- */

/* A socket in the place of that of lldpd, without a reader. */
static int listen_at(const struct tree *tree)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	tree_mkdir(tree, "run");
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/run/lldpd.socket",
		       tree->path);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

static int ask(const struct tree *tree)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	struct rna_lldp_neighbours found = {0};

	return rna_lldpd.list(tree->root, arena, &found);
}

static void test_an_lldpd_that_does_not_answer(void **state)
{
	RNA_CLEANUP(tree_deinit) struct tree tree;
	int fd;

	(void)state;
	if (!HAVE_LLDPCTL) {
		print_message("built without lldpd's library\n");
		skip();
	}
	tree_init(&tree);
	assert_int_equal(ask(&tree), -ENOENT);
	fd = listen_at(&tree);
	assert_int_equal(ask(&tree), -ETIMEDOUT);
	(void)close(fd);
	assert_int_equal(ask(&tree), -ENOENT); /* the file is left, as after a crash */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_was_heard),
		cmocka_unit_test(test_who_falls_silent_stays),
		cmocka_unit_test(test_who_is_silent_for_a_day_goes),
		cmocka_unit_test(test_nobody_runs_lldpd),
		cmocka_unit_test(test_an_lldpd_that_does_not_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
