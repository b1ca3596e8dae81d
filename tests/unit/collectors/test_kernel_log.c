// SPDX-License-Identifier: Apache-2.0
/*
 * collectors/kernel_log: messages become episodes, over runs, sources and failures. The patterns
 * are those of this test, which does not depend on the real ones; the device is a socket, which
 * returns a message for each read() as well.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "rna/model/log_match.h"

#include "backend/backends.h"
#include "parse/reader.h"
#include "record/contents.h"

#include "collectors.h"
#include "compare.h"
#include "tree.h"

/* -- Patterns: "BAD" or "GOOD", and behind a blank each "pci=", "netdev=", "rdma=" ------------- */

static const struct rna_log_pattern bad = {.name = "bad",
					   .driver = "test",
					   .kind = RNA_LOG_FIRMWARE,
					   .recovered_by = "good"};
static const struct rna_log_pattern worse = {.name = "worse", .kind = RNA_LOG_DRIVER};
static const struct rna_log_pattern good = {.name = "good", .kind = RNA_LOG_RECOVERY};
static const struct rna_log_pattern report = {.name = "report",
					      .follows = "end",
					      .kind = RNA_LOG_CPU};

static unsigned compared; /* messages that were compared with patterns */
static char last_device[32];

static struct rna_text name_in(const char *message, const char *key)
{
	const char *found = strstr(message, key);

	if (!found)
		return (struct rna_text){0};
	found += strlen(key);
	return (struct rna_text){found, strcspn(found, " \n")};
}

bool __wrap_rna_log_match(const struct rna_log_matcher *matcher, struct rna_log_pending *pending,
			  const char *message, size_t len, const char *device,
			  struct rna_log_match *ret);

bool __wrap_rna_log_match(const struct rna_log_matcher *matcher, struct rna_log_pending *pending,
			  const char *message, size_t len, const char *device,
			  struct rna_log_match *ret)
{
	assert_non_null(matcher);
	assert_int_equal(message[len], '\0');
	compared++;
	(void)snprintf(last_device, sizeof(last_device), "%s", device ? device : "");
	*ret = (struct rna_log_match){
		.pci = name_in(message, "pci="),
		.netdev = name_in(message, "netdev="),
		.rdma = name_in(message, "rdma="),
	};
	if (strstr(message, "BEGIN"))
		*pending = (struct rna_log_pending){&report, 10};
	if (strstr(message, "BAD"))
		ret->pattern = &bad;
	else if (strstr(message, "WORSE"))
		ret->pattern = &worse;
	else if (strstr(message, "GOOD"))
		ret->pattern = &good;
	else if (strstr(message, "END") && pending->pattern)
		ret->pattern = pending->pattern;
	if (ret->pattern == &report)
		pending->pattern = NULL;
	return ret->pattern;
}

/* -- The world --------------------------------------------------------------------------------- */

static bool live;
static int opened = -ENOENT; /* what comes of opening /dev/kmsg of a live root */
static unsigned opens, skips;

bool __real_rna_root_is_live(const struct rna_root *root);
bool __wrap_rna_root_is_live(const struct rna_root *root);
int __real_rna_kmsg_open(const struct rna_root *root);
int __wrap_rna_kmsg_open(const struct rna_root *root);
int __wrap_rna_kmsg_skip(int fd);

bool __wrap_rna_root_is_live(const struct rna_root *root)
{
	return live || __real_rna_root_is_live(root);
}

int __wrap_rna_kmsg_open(const struct rna_root *root)
{
	opens++;
	return live ? (opened < 0 ? opened : dup(opened)) : __real_rna_kmsg_open(root);
}

int __wrap_rna_kmsg_skip(int fd)
{
	char buffer[4096];

	skips++;
	while (read(fd, buffer, sizeof(buffer)) > 0)
		;
	return 0;
}

struct world {
	struct tree tree;
	struct rna_backends *backends;
	struct rna_reader *reader;
	struct rna_part *part; /* of the last run */
	enum rna_kernel_log_setting setting;
	int device; /* the other end of what is opened */
	uint64_t sequence;
};

static void world_deinit(struct world *world)
{
	if (world->device >= 0)
		(void)close(world->device);
	if (opened >= 0)
		(void)close(opened);
	opened = -ENOENT;
	live = false;
	(void)rna_part_unref(world->part);
	(void)rna_reader_free(world->reader);
	(void)rna_backends_free(world->backends);
	tree_deinit(&world->tree);
}

static void world_init(struct world *world)
{
	*world = (struct world){.device = -1};
	tree_init(&world->tree);
	world->backends = rna_backends_new(world->tree.root);
	world->reader = rna_reader_new(world->tree.root, 1);
	compared = opens = skips = 0;
}

/* The root becomes that of this node. */
static void go_live(struct world *world)
{
	int ends[2], size = 1 << 20;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
	assert_int_equal(setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)), 0);
	live = true;
	world->device = ends[0];
	opened = ends[1];
}

static void say_at(struct world *world, uint64_t sequence, const char *message)
{
	char record[512];
	int len = snprintf(record, sizeof(record), "4,%ju,%ju,-;%s\n", (uintmax_t)sequence,
			   (uintmax_t)sequence * 1000, message);

	world->sequence = sequence;
	assert_int_equal(send(world->device, record, (size_t)len, 0), len);
}

static void say(struct world *world, const char *message)
{
	say_at(world, world->sequence + 1, message);
}

static int run(struct world *world)
{
	const struct rna_collect_input in = {
		.root = world->tree.root,
		.backends = world->backends,
		.reader = world->reader,
		.previous = world->part,
		.options.kernel_log = world->setting,
		.period = RNA_USEC_PER_SEC,
	};
	struct rna_part *part = NULL;
	int status = rna_collect_kernel_log(&in, &part, NULL);

	if (status == 0) { /* nothing may point into it */
		(void)rna_part_unref(world->part);
		world->part = part;
	}
	return status;
}

static const struct rna_kernel_log *collect(struct world *world)
{
	assert_int_equal(run(world), 0);
	return (const struct rna_kernel_log *)world->part;
}

static const struct rna_log_episode *find(const struct rna_kernel_log *log, const char *object)
{
	for (size_t i = 0; i < log->episode_count; i++)
		if (strcmp(log->episodes[i].object, object) == 0)
			return &log->episodes[i];
	fail_msg("no episode of %s", object);
	return NULL;
}

#define WORLD RNA_CLEANUP(world_deinit) struct world

/* -- Messages ---------------------------------------------------------------------------------- */

static void test_messages_become_episodes(void **state)
{
	const struct rna_kernel_log *log;
	const struct rna_log_episode *episode;
	WORLD world;

	(void)state;
	world_init(&world);
	tree_write(&world.tree, "dev/kmsg",
		   "6,1,1000,-;usb 1-1: new device\n"
		   "4,2,2000,-;driver: BAD pci=0000:3b:00.0 one\n DEVICE=+pci:0000:3b:00.0\n"
		   "4,3,3000,-;driver: BAD pci=0000:5e:00.0\n"
		   "4,5,5000,-;driver: BAD pci=0000:3b:00.0 two\\x0a\n"
		   "4,6,6000,-;driver: BAD pci=0000:3b:00.0 netdev=eth0\n"
		   "12,7,7000,-;program: BAD pci=0000:3b:00.0\n"
		   "4,8,8000,-;BAD\n"
		   "4,9,9000,-;WORSE\n"
		   "4,10,cut\n");
	log = collect(&world);
	assert_int_equal(log->source, RNA_KERNEL_LOG_RECORDED);
	assert_int_equal(log->error, 0);
	assert_null(log->problem);
	assert_int_equal(log->sequence, 9);
	assert_int_equal(log->newest, 9000);
	assert_int_equal(log->lines, 8);
	assert_int_equal(log->lost, 0); /* a recording has some messages only */
	assert_int_equal(log->matched, 6);
	assert_int_equal(compared, 7); /* not what a program wrote */
	assert_int_equal(log->episode_count, 5);
	assert_int_equal(log->part.errors[RNA_REASON_FORMAT], 1);
	episode = &log->episodes[0];
	assert_ptr_equal(episode->pattern, &bad);
	assert_string_equal(episode->object, "0000:3b:00.0");
	assert_string_equal(episode->pci, "0000:3b:00.0");
	assert_null(episode->netdev);
	assert_null(episode->rdma);
	assert_int_equal(episode->count, 2);
	assert_int_equal(episode->first.sequence, 2);
	assert_int_equal(episode->first.time, 2000);
	assert_string_equal(episode->first.text, "driver: BAD pci=0000:3b:00.0 one");
	assert_int_equal(episode->last.sequence, 5);
	assert_string_equal(episode->last.text, "driver: BAD pci=0000:3b:00.0 two\\x0a");
	assert_int_equal(find(log, "0000:3b:00.0 eth0")->count, 1);
	assert_int_equal(find(log, "node")->count, 1);
}

/* The part before is gone when the next one is looked at; tests of the whole suite run with ASan.
 */
static void test_runs_go_on(void **state)
{
	const struct rna_kernel_log *log;
	WORLD world;

	(void)state;
	world_init(&world);
	go_live(&world);
	say(&world, "BAD pci=a one");
	log = collect(&world);
	assert_int_equal(log->source, RNA_KERNEL_LOG_KMSG);
	assert_int_equal(log->run_time, 0);
	say(&world, "BAD rdma=b");
	log = collect(&world);
	assert_int_equal(log->run_lines, 1);
	assert_true(log->run_time > 0);
	say(&world, "BAD pci=a two");
	log = collect(&world);
	log = collect(&world);
	assert_int_equal(opens, 1);
	assert_int_equal(log->lines, 3);
	assert_int_equal(log->run_lines, 0);
	assert_null(log->loudest);
	assert_int_equal(log->episode_count, 2);
	assert_int_equal(find(log, "a")->count, 2);
	assert_string_equal(find(log, "a")->first.text, "BAD pci=a one");
	assert_string_equal(find(log, "a")->last.text, "BAD pci=a two");
	assert_string_equal(find(log, "b")->rdma, "b");
}

static void test_fragments(void **state)
{
	const struct rna_kernel_log *log;
	WORLD world;

	(void)state;
	world_init(&world);
	tree_write(&world.tree, "dev/kmsg",
		   "4,1,1,-,caller=T1;driver: B\n DEVICE=n7\n"
		   "4,2,2,c,caller=T1;AD\n"
		   "4,3,3,-,caller=T1;driver: B\n"
		   "4,4,4,c,caller=T2;AD\n"
		   "4,5,5,c;W\n"
		   "4,6,6,c;ORSE\n");
	log = collect(&world);
	assert_int_equal(log->matched, 2);
	assert_string_equal(log->episodes[0].first.text, "driver: BAD");
	assert_int_equal(log->episodes[0].first.sequence, 1);
	assert_string_equal(log->episodes[1].first.text, "ADWORSE");
	assert_string_equal(last_device, "");
}

static void test_the_device_of_the_dictionary(void **state)
{
	WORLD world;

	(void)state;
	world_init(&world);
	tree_write(&world.tree, "dev/kmsg", "4,1,1,-;BAD\n SUBSYSTEM=net\n DEVICE=n12\n");
	(void)collect(&world);
	assert_string_equal(last_device, "n12");
}

static void test_reports_over_several_runs(void **state)
{
	const struct rna_kernel_log *log;
	WORLD world;

	(void)state;
	world_init(&world);
	go_live(&world);
	say(&world, "BEGIN");
	log = collect(&world);
	assert_int_equal(log->episode_count, 0);
	assert_ptr_equal(log->pending.pattern, &report);
	(void)collect(&world);
	say(&world, "END");
	log = collect(&world);
	assert_ptr_equal(log->episodes[0].pattern, &report);
	assert_null(log->pending.pattern);
}

static void test_recovery(void **state)
{
	const struct rna_kernel_log *log;
	WORLD world;

	(void)state;
	world_init(&world);
	tree_write(&world.tree, "dev/kmsg",
		   "4,1,1000,-;BAD pci=a\n4,2,2000,-;BAD pci=b netdev=n\n4,3,3000,-;BAD\n"
		   "4,4,4000,-;WORSE pci=a\n4,5,5000,-;GOOD pci=a\n4,6,6000,-;GOOD netdev=n\n"
		   "4,7,7000,-;GOOD rdma=x\n");
	log = collect(&world);
	assert_int_equal(log->matched, 7);
	assert_int_equal(log->episode_count, 4);
	assert_int_equal(log->episodes[0].recovered, 5000);
	assert_int_equal(log->episodes[1].recovered, 6000);
	assert_int_equal(log->episodes[2].recovered, 0);
	assert_int_equal(log->episodes[3].recovered, 0);
}

static void test_more_episodes_than_are_kept(void **state)
{
	enum { MORE = 44 };
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const struct rna_kernel_log *log;
	WORLD world;

	(void)state;
	world_init(&world);
	for (unsigned i = 0; i < RNA_LOG_EPISODES_MAX + MORE; i++)
		rna_strbuf_printf(&text, "4,%u,%u,-;BAD pci=%u\n", i, i, i);
	tree_write(&world.tree, "dev/kmsg", text.data);
	log = collect(&world);
	log = collect(&world);
	assert_int_equal(log->episode_count, RNA_LOG_EPISODES_MAX);
	assert_int_equal(log->dropped, MORE);
	assert_int_equal(log->matched, RNA_LOG_EPISODES_MAX + MORE);
	assert_string_equal(log->episodes[RNA_LOG_EPISODES_MAX - 1].object, "255");
}

static void test_long_texts_are_cut(void **state)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const struct rna_kernel_log *log;
	WORLD world;

	(void)state;
	world_init(&world);
	rna_strbuf_puts(&text, "4,1,1,-;BAD ");
	for (unsigned i = 0; i < 1000; i++)
		rna_strbuf_puts(&text, "x\\x1b");
	rna_strbuf_puts(&text, "\n");
	tree_write(&world.tree, "dev/kmsg", text.data);
	log = collect(&world);
	assert_in_range(strlen(log->episodes[0].last.text), RNA_LOG_TEXT_MAX - 4, RNA_LOG_TEXT_MAX);
	assert_ptr_equal(strpbrk(log->episodes[0].last.text, "\x1b\n"), NULL);
}

/* -- A flood ----------------------------------------------------------------------------------- */

static void test_what_was_overwritten_is_counted(void **state)
{
	const struct rna_kernel_log *log;
	WORLD world;

	(void)state;
	world_init(&world);
	go_live(&world);
	say_at(&world, 100, "one"); /* what was before is unknown */
	say_at(&world, 111, "two");
	log = collect(&world);
	assert_int_equal(log->lost, 10);
	assert_int_equal(log->lines, 12);
	say_at(&world, 1112, "three");
	log = collect(&world);
	assert_int_equal(log->lost, 1010);
	assert_int_equal(log->lines, 1013);
	assert_int_equal(log->run_lines, 1001);
	assert_int_equal(log->sequence, 1112);
}

static void test_the_loudest(void **state)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const struct rna_kernel_log *log;
	WORLD world;

	(void)state;
	world_init(&world);
	for (unsigned i = 0; i < 2000; i++) {
		rna_strbuf_printf(&text, "4,%u,1,-;task%u: is done\n", 4 * i, i);
		rna_strbuf_printf(&text, "4,%u,1,-;mlx5_core 0000:3b:00.0: %u\n", 4 * i + 1, i);
		rna_strbuf_printf(&text, "4,%u,1,-;word%u without a colon\n", 4 * i + 2, i);
		rna_strbuf_printf(&text, "4,%u,1,-;x\n", 4 * i + 3);
	}
	rna_strbuf_puts(&text, "4,9000,1,-;mlx5_core 0000:3b:00.0: end\n");
	tree_write(&world.tree, "dev/kmsg", text.data);
	log = collect(&world);
	assert_string_equal(log->loudest, "mlx5_core 0000:3b:00.0");
	assert_true(log->rate == 0);
}

/* More than a run may read: at the start it goes on, later it skips to the newest one. */
static void test_a_run_is_limited(void **state)
{
	enum { LIMIT = 20000, ALL = 2 * LIMIT + 7 };
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const struct rna_kernel_log *log;
	WORLD world;

	(void)state;
	world_init(&world);
	live = true;
	for (unsigned i = 0; i < ALL; i++)
		rna_strbuf_printf(&text, "4,%u,%u,-;BAD pci=a\n", i, i);
	tree_write(&world.tree, "all", text.data);
	opened = rna_root_openat(world.tree.root, "all", O_RDONLY);
	log = collect(&world);
	assert_int_equal(log->lines, LIMIT);
	assert_true(log->behind);
	log = collect(&world);
	assert_int_equal(log->lines, 2 * LIMIT);
	log = collect(&world);
	assert_int_equal(log->lines, ALL);
	assert_false(log->behind);
	assert_int_equal(log->lost, 0);
	assert_int_equal(skips, 0);
	assert_int_equal(lseek(opened, 0, SEEK_SET), 0); /* as if as many were written again */
	log = collect(&world);
	assert_int_equal(skips, 1);
	assert_false(log->behind);
	assert_int_equal(log->run_lines, LIMIT);
	assert_int_equal(find(log, "a")->count, ALL + LIMIT);
}

/* -- Sources ----------------------------------------------------------------------------------- */

static int journal_status;
static const char *const *journal_messages;
static unsigned journal_reads;
static char journal_cursor[32];

static int read_journal(const struct rna_journal_request *request, struct rna_journal_answer *ret)
{
	unsigned long from = request->cursor ? strtoul(request->cursor, NULL, 10) : 0;

	journal_reads++;
	(void)snprintf(journal_cursor, sizeof(journal_cursor), "%s",
		       request->cursor ? request->cursor : "none");
	if (journal_status < 0)
		return journal_status;
	for (; journal_messages[from]; from++) {
		char message[64];
		struct rna_kmsg_record record = {
			.time = 1000 + 1000 * from,
			.message = message,
			.len = (size_t)snprintf(message, sizeof(message), "%s",
						journal_messages[from]),
		};

		assert_true(request->take(request->userdata, &record));
	}
	ret->cursor = rna_arena_printf(request->arena, "%lu", from);
	return 0;
}

static const struct rna_journal_backend journal = {.read = read_journal};

static void test_the_journal_instead(void **state)
{
	static const char *const messages[] = {"BAD pci=a", "other", NULL},
				 *const later[] = {"BAD pci=a", "other", "BAD pci=a", NULL};
	const struct rna_kernel_log *log;
	WORLD world;

	(void)state;
	world_init(&world);
	live = true;
	world.backends->journal = &journal;
	journal_status = 0;
	journal_messages = messages;
	opened = -EPERM;
	log = collect(&world);
	assert_int_equal(log->source, RNA_KERNEL_LOG_JOURNAL);
	assert_int_equal(log->error, 0);
	assert_null(log->problem);
	assert_string_equal(journal_cursor, "none");
	assert_int_equal(log->lines, 2);
	assert_int_equal(opens, 1);
	journal_messages = later;
	log = collect(&world);
	assert_string_equal(journal_cursor, "2");
	assert_int_equal(log->lines, 3);
	assert_int_equal(log->lost, 0);
	assert_int_equal(log->sequence, 3);
	assert_int_equal(find(log, "a")->count, 2);
	assert_int_equal(opens, 1); /* it was refused once */
}

static void test_neither(void **state)
{
	static const char *const none[] = {NULL};
	struct rna_news news = {0};
	const struct rna_kernel_log *log;
	WORLD world;

	(void)state;
	world_init(&world);
	live = true;
	world.backends->journal = &journal;
	journal_messages = none;
	opened = -EPERM;
	journal_status = -EACCES;
	log = collect(&world);
	assert_int_equal(log->source, RNA_KERNEL_LOG_NONE);
	assert_int_equal(log->error, -EPERM);
	assert_string_equal(log->problem,
			    "messages of the kernel are not read: /dev/kmsg: Operation "
			    "not permitted, journal: Permission denied");
	rna_compare_kernel_logs(NULL, world.part, &news);
	assert_string_equal(news.problem, log->problem);
	log = collect(&world); /* it waits before it tries again */
	assert_int_equal(opens, 1);
	assert_int_equal(log->error, -EPERM);
	assert_non_null(log->problem);
	news = (struct rna_news){0};
	rna_compare_kernel_logs(world.part, world.part, &news);
	assert_null(news.problem);
	assert_false(news.text);
	assert_int_equal(rna_part_error_count(world.part), 0);
}

/* What is refused says more than what is not there. */
static void test_which_error(void **state)
{
	const struct rna_kernel_log *log;
	WORLD world;

	(void)state;
	world_init(&world);
	live = true;
	world.backends->journal = &journal;
	opened = -ENOENT;
	journal_status = -EACCES;
	log = collect(&world);
	assert_int_equal(log->error, -EACCES);
}

static void test_settings(void **state)
{
	const struct rna_kernel_log *log;
	WORLD world;

	(void)state;
	world_init(&world);
	live = true;
	world.backends->journal = &journal;
	opened = journal_status = -EACCES;
	journal_reads = 0;
	world.setting = RNA_KERNEL_LOG_SETTING_OFF;
	log = collect(&world);
	assert_int_equal(log->source, RNA_KERNEL_LOG_NONE);
	assert_int_equal(log->error, 0);
	assert_null(log->problem);
	assert_int_equal(opens + journal_reads, 0);
	world.setting = RNA_KERNEL_LOG_SETTING_JOURNAL;
	log = collect(&world);
	assert_int_equal(log->error, -EACCES);
	assert_int_equal(opens, 0);
	assert_int_equal(journal_reads, 1);
	rna_reader_was_asked(world.reader, 0); /* no pause */
	world.setting = RNA_KERNEL_LOG_SETTING_KMSG;
	(void)collect(&world);
	assert_int_equal(opens, 1);
	assert_int_equal(journal_reads, 1);
}

/* From one source to the other, and back: nothing counts twice. */
static void test_sources_change(void **state)
{
	static const char *const messages[] = {"BAD pci=a", "BAD pci=a", "BAD pci=a", NULL};
	const struct rna_kernel_log *log;
	WORLD world;

	(void)state;
	world_init(&world);
	go_live(&world);
	world.backends->journal = &journal;
	journal_status = 0;
	journal_messages = messages;
	say(&world, "BAD pci=a");
	say(&world, "BAD pci=a");
	(void)collect(&world);
	world.setting = RNA_KERNEL_LOG_SETTING_JOURNAL;
	log = collect(&world);
	assert_int_equal(log->source, RNA_KERNEL_LOG_JOURNAL);
	assert_int_equal(find(log, "a")->count, 3);
	assert_int_equal(log->lines, 3);
	world.setting = RNA_KERNEL_LOG_SETTING_KMSG;
	say(&world, "BAD pci=a"); /* the third one */
	say(&world, "BAD pci=a");
	log = collect(&world);
	assert_int_equal(log->source, RNA_KERNEL_LOG_KMSG);
	assert_int_equal(find(log, "a")->count, 4);
	assert_int_equal(log->lost, 0);
}

/* A reader that was reset reads from the beginning; numbers say what is known. */
static void test_opened_again(void **state)
{
	const struct rna_kernel_log *log;
	WORLD world;

	(void)state;
	world_init(&world);
	tree_write(&world.tree, "dev/kmsg", "4,1,1,-;BAD pci=a\n4,2,2,-;BAD pci=a\n");
	(void)collect(&world);
	rna_reader_reset(world.reader);
	tree_write(&world.tree, "dev/kmsg",
		   "4,1,1,-;BAD pci=a\n4,2,2,-;BAD pci=a\n4,3,3,-;BAD pci=a\n");
	log = collect(&world);
	assert_int_equal(find(log, "a")->count, 3);
	assert_int_equal(log->lines, 3);
}

/* Nothing of the run is lost when it fails in the middle. */
static void test_a_failed_read(void **state)
{
	const struct rna_kernel_log *log;
	WORLD world;

	(void)state;
	world_init(&world);
	go_live(&world);
	say(&world, "BAD pci=a");
	(void)collect(&world);
	assert_int_equal(rna_reader_stream(world.reader) >= 0, true);
	(void)close(opened);
	opened = open("/dev/null", O_WRONLY); /* EBADF */
	rna_reader_close_stream(world.reader);
	log = collect(&world);
	assert_int_equal(rna_part_error_count(world.part), 1);
	assert_int_equal(find(log, "a")->count, 1);
	assert_int_equal(rna_reader_stream(world.reader), -1);
}

static void test_a_recording_without_a_log(void **state)
{
	const struct rna_kernel_log *log;
	WORLD world;

	(void)state;
	world_init(&world);
	log = collect(&world);
	assert_int_equal(log->source, RNA_KERNEL_LOG_NONE);
	assert_int_equal(log->error, 0);
	assert_null(log->problem);
	tree_mkdir(&world.tree, "dev/kmsg"); /* it could not be read */
	log = collect(&world);
	assert_int_equal(log->error, -EACCES);
}

static void test_a_recording_of_the_journal(void **state)
{
	const struct rna_kernel_log *log;
	WORLD world;

	(void)state;
	world_init(&world);
	tree_mkdir(&world.tree, "dev/kmsg");
	tree_write(&world.tree, "recorded/kernel_log", "4,0,1000,-;BAD pci=a\n");
	log = collect(&world);
	assert_int_equal(log->source, RNA_KERNEL_LOG_RECORDED);
	assert_int_equal(log->error, 0);
	assert_int_equal(find(log, "a")->count, 1);
	log = collect(&world);
	assert_int_equal(find(log, "a")->count, 1);
	assert_int_equal(log->lines, 1);
}

/* -- Times ------------------------------------------------------------------------------------- */

/* The kernel's clock for messages drifts: what is read soon was said between two runs. */
static void test_times_are_corrected(void **state)
{
	const struct rna_kernel_log *log;
	rna_usec before, now;
	char record[64];
	WORLD world;

	(void)state;
	world_init(&world);
	go_live(&world);
	say(&world, "BAD pci=a");
	log = collect(&world);
	assert_int_equal(find(log, "a")->first.time, 1000); /* since boot */
	before = log->part.started.monotonic;
	say(&world, "BAD pci=a");
	log = collect(&world);
	assert_int_equal(find(log, "a")->last.time, before);
	(void)snprintf(record, sizeof(record), "4,3,%ju,-;BAD pci=a\n", (uintmax_t)INT64_MAX);
	assert_true(send(world.device, record, strlen(record), 0) > 0);
	now = rna_clock_monotonic();
	log = collect(&world);
	assert_true(find(log, "a")->last.time >= now);
	assert_true(find(log, "a")->last.time <= rna_clock_monotonic());
}

/* -- What a recording keeps -------------------------------------------------------------------- */

static void test_what_a_recording_keeps(void **state)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	WORLD world;

	(void)state;
	world_init(&world);
	tree_write(&world.tree, "dev/kmsg",
		   "6,1,1,-;a secret of someone\n"
		   "4,2,2,-;BAD pci=a\n SUBSYSTEM=pci\n DEVICE=+pci:a\n"
		   "4,3,3,c; and more\n"
		   "6,4,4,c;of the secret, no\n"
		   "6,5,5,-;another\n"
		   "6,6,6,c;secret\n"
		   "4,7,7,-;BEGIN\n"
		   "6,8,8,-;between\n"
		   "4,9,9,-;END\n"
		   "12,10,10,-;program: BAD pci=a\n");
	assert_int_equal(rna_contents_read(world.tree.root, "dev/kmsg", "dev/kmsg", &text), 0);
	assert_string_equal(text.data, "4,2,2,-;BAD pci=a\n DEVICE=+pci:a\n"
				       "4,3,3,c; and more\n"
				       "6,4,4,c;of the secret, no\n"
				       "4,7,7,-;BEGIN\n"
				       "4,9,9,-;END\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages_become_episodes),
		cmocka_unit_test(test_runs_go_on),
		cmocka_unit_test(test_fragments),
		cmocka_unit_test(test_the_device_of_the_dictionary),
		cmocka_unit_test(test_reports_over_several_runs),
		cmocka_unit_test(test_recovery),
		cmocka_unit_test(test_more_episodes_than_are_kept),
		cmocka_unit_test(test_long_texts_are_cut),
		cmocka_unit_test(test_what_was_overwritten_is_counted),
		cmocka_unit_test(test_the_loudest),
		cmocka_unit_test(test_a_run_is_limited),
		cmocka_unit_test(test_the_journal_instead),
		cmocka_unit_test(test_neither),
		cmocka_unit_test(test_which_error),
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_sources_change),
		cmocka_unit_test(test_opened_again),
		cmocka_unit_test(test_a_failed_read),
		cmocka_unit_test(test_a_recording_without_a_log),
		cmocka_unit_test(test_a_recording_of_the_journal),
		cmocka_unit_test(test_times_are_corrected),
		cmocka_unit_test(test_what_a_recording_keeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
