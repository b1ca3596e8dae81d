// SPDX-License-Identifier: Apache-2.0
/* collectors/lldp and lldpd: neighbours of a recording, those that fall silent, and an lldpd that
 * hangs or ends. What a real one says is tested in a VM. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
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

/* What a hostile lldpd answers to the question for interfaces. */
struct hostile {
	const char *name;
	size_t len; /* of text; 0: as many zeros as are read */
	char text[160];
	bool closes; /* afterwards */
	bool slow;   /* a byte, and a while */
	int status;
};

/*
 * In the layout of lldpd 1.0.16 (src/ctl.h, marshal.h, lldpd-structs.h): a header; the head of a
 * list; an element whose next one is itself; its name. An object has its reference and a size in
 * front. Elements of lldpd 1.0.21 have an alias behind the name: an older library takes its absence
 * for an empty name.
 */
#define ALL '\xff' /* a char has a sign on x86-64, and none on arm64 */
#if __BYTE_ORDER == __LITTLE_ENDIAN
#define WORD(n)  n, 0, 0, 0, 0, 0, 0, 0
#define KIND(n)  WORD(n) /* an enum, and what fills its word */
#define WORD_MAX ALL, ALL, ALL, ALL, ALL, ALL, ALL, 127
#else
#define WORD(n)  0, 0, 0, 0, 0, 0, 0, n
#define KIND(n)  0, 0, 0, n, 0, 0, 0, 0
#define WORD_MAX 127, ALL, ALL, ALL, ALL, ALL, ALL, ALL
#endif
#define MINUS_1 ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL
#define TYPE    KIND(3) /* GET_INTERFACES */
#define SIZE(n) WORD(n)
#define HEAD(n) TYPE, SIZE(n), WORD(1), WORD(0), WORD(2), WORD(0)
#define FOREVER WORD(2), WORD(0), WORD(2), WORD(0), WORD(3), WORD(0)
#define TEXT    WORD(3), WORD(0), 'e', 't', 'h', '\x1b', '\n', 0

static const struct hostile hostiles[] = {
	{"nothing", 1, "", true, false, -EPROTO},
	{"zeros without end", 0, "", false, false, -EPROTO},
	{"half a header", 7, {TYPE}, true, false, -EPROTO},
	{"half a header, and silence", 7, {TYPE}, false, false, -ETIMEDOUT},
	{"a huge length", 16, {TYPE, WORD_MAX}, false, false, -ETIMEDOUT},
	{"a negative length", 16, {TYPE, MINUS_1}, false, false, -ETIMEDOUT},
	{"half a message", 32, {TYPE, SIZE(100), WORD(1)}, true, false, -EPROTO},
	{"half a message, and silence", 32, {TYPE, SIZE(100), WORD(1)}, false, false, -ETIMEDOUT},
	{"another type", 48, {KIND(9), SIZE(32)}, false, false, -EPROTO},
	{"a byte now and then", 48, {TYPE, SIZE(100)}, false, true, -ETIMEDOUT},
	/* last: the list is kept, and the library is not used any more */
	{"a list that never ends", 118, {HEAD(102), FOREVER, TEXT}, false, false, -ETIMEDOUT},
};

static void send_slowly(int fd, const struct hostile *hostile)
{
	for (size_t i = 0; i < hostile->len && send(fd, hostile->text + i, 1, MSG_NOSIGNAL) == 1;
	     i++)
		(void)usleep(500000);
}

static void *be_hostile(void *userdata)
{
	static const char zeros[65536];
	const struct hostile *hostile = ((void **)userdata)[0];
	int listener = *(int *)((void **)userdata)[1], fd = accept(listener, NULL, NULL);
	char request[64];

	assert_true(fd >= 0);
	if (hostile->len == 0)
		while (send(fd, zeros, sizeof(zeros), MSG_NOSIGNAL) > 0)
			continue;
	else if (hostile->slow)
		send_slowly(fd, hostile);
	else
		(void)send(fd, hostile->text, hostile->len, MSG_NOSIGNAL);
	if (hostile->closes)
		(void)shutdown(fd, SHUT_WR);
	while (recv(fd, request, sizeof(request), 0) > 0) /* until the agent leaves */
		continue;
	(void)close(fd);
	return NULL;
}

static void test_a_hostile_lldpd(void **state)
{
	RNA_CLEANUP(tree_deinit) struct tree after;

	(void)state;
	tree_init(&after);
	if (!HAVE_LLDPCTL)
		skip();
	for (size_t i = 0; i < RNA_ARRAY_SIZE(hostiles); i++) {
		RNA_CLEANUP(tree_deinit) struct tree tree;
		void *arguments[2] = {(void *)(uintptr_t)&hostiles[i]};
		rna_usec begin = rna_clock_now().monotonic;
		pthread_t thread;
		int fd, status;

		tree_init(&tree);
		fd = listen_at(&tree);
		arguments[1] = &fd;
		assert_int_equal(pthread_create(&thread, NULL, be_hostile, arguments), 0);
		status = ask(&tree);
		print_message("%s: %s, %ju ms\n", hostiles[i].name, strerror(-status),
			      (uintmax_t)(rna_clock_now().monotonic - begin) / 1000);
		assert_int_equal(status, hostiles[i].status);
		(void)pthread_join(thread, NULL);
		(void)close(fd);
	}
	assert_int_equal(ask(&after), -EPROTO);
}

/* A FIFO, a file, a directory, a link to nowhere or to itself: no process listens there. */
static void test_a_socket_that_is_none(void **state)
{
	RNA_CLEANUP(tree_deinit) struct tree tree;
	char path[128];

	(void)state;
	if (!HAVE_LLDPCTL)
		skip();
	tree_init(&tree);
	tree_mkdir(&tree, "run");
	(void)snprintf(path, sizeof(path), "%s/run/lldpd.socket", tree.path);
	assert_int_equal(mkfifo(path, 0666), 0);
	assert_int_equal(ask(&tree), -ENOENT);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0777), 0);
	assert_int_equal(ask(&tree), -ENOENT);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(symlink("nowhere", path), 0);
	assert_int_equal(ask(&tree), -ENOENT);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("lldpd.socket", path), 0);
	assert_int_equal(ask(&tree), -ELOOP);
}

/* The kernel keeps the credentials of the last listen(2). */
static void test_a_socket_of_another_user(void **state)
{
	RNA_CLEANUP(tree_deinit) struct tree tree;
	int fd;

	(void)state;
	if (!HAVE_LLDPCTL || geteuid() != 0)
		skip();
	tree_init(&tree);
	fd = listen_at(&tree);
	assert_int_equal(seteuid(65534), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(ask(&tree), -EPERM);
	(void)close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_was_heard),
		cmocka_unit_test(test_who_falls_silent_stays),
		cmocka_unit_test(test_who_is_silent_for_a_day_goes),
		cmocka_unit_test(test_nobody_runs_lldpd),
		cmocka_unit_test(test_an_lldpd_that_does_not_answer),
		cmocka_unit_test(test_a_socket_that_is_none),
		cmocka_unit_test(test_a_socket_of_another_user),
		cmocka_unit_test(test_a_hostile_lldpd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
