// SPDX-License-Identifier: Apache-2.0
/*
 * agent/memory/node_memory.c: timelines of observed and published states of a node.
 *
 * A timeline is a text: what is seen from which second on ("0 up, 40 down"), looked at each second.
 * The output has the same form: the second, and the value published from then on.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "memory/memory.h"
#include "node/node_options.h"

#define SECOND RNA_USEC_PER_SEC

static const struct rna_node_delays delays = {
	.up = 30 * SECOND,
	.down = 60 * SECOND,
	.unknown = 600 * SECOND,
};

/* "up" and "down" are a label that comes and goes; numbers are better the higher they are. */
static struct rna_node_verdict verdict_of(const char *word)
{
	struct rna_node_verdict verdict = {.kind = RNA_VERDICT_VALUE};

	if (strcmp(word, "?") == 0)
		return (struct rna_node_verdict){.kind = RNA_VERDICT_UNKNOWN};
	if (strcmp(word, "down") == 0)
		return (struct rna_node_verdict){.kind = RNA_VERDICT_NONE, .rank = INT64_MIN};
	assert_true(rna_label_value_make(word, verdict.value));
	verdict.rank = atoi(word);
	return verdict;
}

static const char *word_of(const struct rna_published *told)
{
	if (!told->decided)
		return "";
	return told->verdict.kind == RNA_VERDICT_UNKNOWN ? "?"
	       : told->verdict.kind == RNA_VERDICT_NONE  ? "down"
							 : told->verdict.value;
}

/*
 * Plays a timeline to its end, where it says "end", from the second start on. "nothing" is seconds
 * without a look: the agent is stopped, or the machine sleeps.
 */
static void play(struct rna_published *told, const char *timeline, rna_usec start,
		 const struct rna_node_delays *how, char *ret, size_t size)
{
	char *copy = strdup(timeline), *rest = copy;
	unsigned from, now = 0;
	char word[64] = "", before[64] = "", next[64];

	(void)snprintf(before, sizeof(before), "%s", word_of(told));
	*ret = '\0';
	for (char *step = strsep(&rest, ","); step; step = strsep(&rest, ",")) {
		assert_int_equal(sscanf(step, " %u %63s", &from, next), 2);
		for (; now < from; now++) {
			struct rna_time time = {(start + now) * SECOND, (start + now) * SECOND};
			struct rna_node_verdict seen = verdict_of(word);
			size_t len = strlen(ret);

			if (strcmp(word, "nothing") == 0)
				continue;
			(void)rna_published_follow(told, &seen, NULL, how, time);
			/* else the loop would look again and again */
			assert_true(rna_published_due(told, how) > time.monotonic);
			if (strcmp(word_of(told), before) == 0)
				continue;
			(void)snprintf(before, sizeof(before), "%s", word_of(told));
			(void)snprintf(ret + len, size - len, "%s%u %s", len > 0 ? ", " : "", now,
				       before);
		}
		(void)snprintf(word, sizeof(word), "%s", next);
	}
	free(copy);
}

static void test_timelines(void **state)
{
	static const struct {
		const char *what, *seen, *told;
	} cases[] = {
		{"good news wait until they are stable", "0 up, 100 end", "30 up"},
		{"gone for good", "0 up, 100 down, 300 end", "30 up, 160 down"},
		{"a short loss is not told", "0 up, 100 down, 150 up, 300 end", "30 up"},
		{"back just before the end", "0 up, 100 down, 159 up, 300 end", "30 up"},
		{"a flap does not bring it up",
		 "0 down, 100 up, 120 down, 125 up, 145 down, 300 end", "60 down"},
		{"flapping for ever: it stays up",
		 "0 up, 100 down, 110 up, 120 down, 130 up, 140 down, 150 up, 160 down, 170 up, "
		 "400 end",
		 "30 up"},
		{"it gets worse: one time counts from the first loss",
		 "0 8, 100 7, 120 6, 150 5, 300 end", "30 8, 160 5"},
		{"it gets better: each step has to be stable", "0 5, 100 6, 120 7, 140 8, 300 end",
		 "30 5, 170 8"},
		{"two ports lost, one back", "0 8, 100 6, 140 7, 300 end", "30 8, 160 7"},
		{"a read error in between", "0 up, 100 ?, 105 up, 300 end", "30 up"},
		{"a device that stalls for long, and comes back", "0 up, 100 ?, 1000 up, 1200 end",
		 "30 up, 700 ?, 1030 up"},
		{"no data until the first verdict", "0 ?, 700 end", "600 ?"},
		{"unknown, then gone", "0 up, 100 ?, 1000 down, 1200 end",
		 "30 up, 700 ?, 1030 down"},
		{"a read error does not confirm a loss", "0 up, 100 down, 130 ?, 200 up, 300 end",
		 "30 up"},
		{"a loss that is seen before and behind read errors",
		 "0 up, 100 down, 130 ?, 200 down, 300 end", "30 up, 200 down"},
		{"read errors put off good news", "0 down, 100 up, 120 ?, 125 up, 300 end",
		 "60 down, 155 up"},
		{"reload of a driver: all is gone for 45 seconds", "0 8, 100 0, 145 8, 300 end",
		 "30 8"},
		{"an agent that slept wakes up to what is so",
		 "0 up, 100 nothing, 4000 up, 4100 end", "30 up"},
		{"an agent that slept wakes up to a loss, and confirms it",
		 "0 up, 100 nothing, 4000 down, 4100 end", "30 up, 4060 down"},
		{"it sleeps long: nothing is unknown for not having been looked at",
		 "0 up, 100 nothing, 4000 ?, 4005 up, 4100 end", "30 up"},
		{"neither better nor worse: a name", "0 x, 100 y, 300 end", "30 x, 130 y"},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		struct rna_node_memory memory = {0};
		char told[256];

		play(rna_published_find(&memory, "x"), cases[i].seen, 1000, &delays, told,
		     sizeof(told));
		if (strcmp(told, cases[i].told) != 0)
			fail_msg("%s: \"%s\", should be \"%s\"", cases[i].what, told,
				 cases[i].told);
		rna_node_memory_deinit(&memory);
	}
}

/* Just after boot links are still coming up: the values published before the boot stay. */
static void test_boot(void **state)
{
	struct rna_node_memory memory = {0};
	struct rna_node_delays booting = delays;
	struct rna_published *told = rna_published_find(&memory, "x");
	char ret[256];

	(void)state;
	booting.settling = true;
	play(told, "0 up, 100 end", 1000, &delays, ret, sizeof(ret));
	play(told, "0 down, 170 end", 2000, &booting, ret, sizeof(ret));
	assert_string_equal(ret, "");
	play(told, "0 up, 100 end", 2170, &delays, ret, sizeof(ret));
	assert_string_equal(ret, "");
	play(told, "0 down, 100 end", 2270, &delays, ret, sizeof(ret));
	assert_string_equal(ret, "60 down"); /* the boot does not count, this does */
	rna_node_memory_deinit(&memory);
}

/* A node that never was up says so only when it has booted; ports that are up are published while
 * it boots. */
static void test_first_boot(void **state)
{
	struct rna_node_delays booting = delays;
	struct rna_node_memory memory = {0};
	char ret[256];

	(void)state;
	booting.settling = true;
	play(rna_published_find(&memory, "x"), "0 down, 180 end", 10, &booting, ret, sizeof(ret));
	assert_string_equal(ret, "");
	play(rna_published_find(&memory, "x"), "0 down, 100 end", 190, &delays, ret, sizeof(ret));
	assert_string_equal(ret, "60 down");
	play(rna_published_find(&memory, "y"), "0 4, 100 end", 10, &booting, ret, sizeof(ret));
	assert_string_equal(ret, "30 4");
	rna_node_memory_deinit(&memory);
}

static void assert_same_over_restart(struct rna_memory *memory, struct rna_memory *ret)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct rna_error error = {0};

	rna_memory_write(memory, &text);
	assert_true(rna_strbuf_ok(&text));
	if (rna_memory_read(ret, text.data, text.len, &error) < 0)
		fail_msg("%s", error.text);
	assert_int_equal(ret->node.count, memory->node.count);
	for (size_t i = 0; i < memory->node.count; i++) {
		const struct rna_published *a = &memory->node.items[i], *b = &ret->node.items[i];

		assert_string_equal(a->name, b->name);
		assert_string_equal(word_of(a), word_of(b));
		assert_true(a->verdict.rank == b->verdict.rank);
		assert_true(a->since == b->since);
		assert_string_equal(a->message ? a->message : "", b->message ? b->message : "");
	}
}

/* A restart, with the file in between: only new values are published. */
static void test_restart(void **state)
{
	const struct rna_node_verdict bad = {.kind = RNA_VERDICT_VALUE, .value = "True"};
	static const struct rna_node_delays at_once = {.unknown = RNA_USEC_NEVER};
	struct rna_memory before = RNA_MEMORY_INIT, after = RNA_MEMORY_INIT;
	const struct rna_time now = {5000 * SECOND, 5000 * SECOND};
	char ret[256];

	(void)state;
	play(rna_published_find(&before.node, "up"), "0 up, 100 end", 1000, &delays, ret,
	     sizeof(ret));
	play(rna_published_find(&before.node, "gone"), "0 down, 100 end", 1000, &delays, ret,
	     sizeof(ret));
	play(rna_published_find(&before.node, "lost"), "0 ?, 700 end", 1000, &delays, ret,
	     sizeof(ret));
	assert_true(rna_published_follow(rna_published_find(&before.node, "RdmaPortDown"), &bad,
					 "port-down: mlx5_0/1", &at_once, now));
	assert_same_over_restart(&before, &after);
	play(rna_published_find(&after.node, "up"), "0 ?, 50 up, 100 down, 130 up, 200 end", 10,
	     &delays, ret, sizeof(ret));
	assert_string_equal(ret, "");
	play(rna_published_find(&after.node, "up"), "0 down, 100 end", 300, &delays, ret,
	     sizeof(ret));
	assert_string_equal(ret, "60 down");
	play(rna_published_find(&after.node, "gone"), "0 down, 100 end", 10, &delays, ret,
	     sizeof(ret));
	assert_string_equal(ret, "");
	assert_true(rna_published_find(&after.node, "RdmaPortDown")->since == now.realtime);
	rna_memory_deinit(&before);
	rna_memory_deinit(&after);
}

/* Published names are stored until those that settings no longer have are removed. */
static void test_names(void **state)
{
	RNA_CLEANUP(rna_memory_deinit) struct rna_memory before = RNA_MEMORY_INIT;
	RNA_CLEANUP(rna_memory_deinit) struct rna_memory after = RNA_MEMORY_INIT;
	RNA_CLEANUP(rna_settings_deinit) struct rna_settings settings = {0};
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const char *former[2 * RNA_NODE_LABEL_COUNT] = {0};

	(void)state;
	assert_int_equal(rna_settings_init(&settings), 0);
	assert_true(rna_node_names_note(&before.node, &settings));
	assert_false(rna_node_names_note(&before.node, &settings));
	(void)rna_memory_set_text(&settings.kubernetes_taint, "a.example/down");
	assert_true(rna_node_names_note(&before.node, &settings));
	rna_memory_write(&before, &text);
	assert_int_equal(rna_memory_read(&after, text.data, text.len, NULL), 0);
	assert_false(rna_node_names_note(&after.node, &settings));
	rna_node_names_list_former(&after.node, &settings, true, former);
	assert_null(former[0]);

	(void)rna_memory_set_text(&settings.kubernetes_taint, "");
	(void)rna_memory_set_text(&settings.kubernetes_roce_key, "b.example/roce");
	assert_true(rna_node_names_note(&after.node, &settings));
	rna_node_names_list_former(&after.node, &settings, true, former);
	assert_string_equal(former[0], "a.example/down");
	rna_node_names_list_former(&after.node, &settings, false, former);
	assert_string_equal(former[0], "network.nvidia.com/roce");
	assert_null(former[1]);
	assert_true(rna_node_names_forget_former(&after.node, &settings));
	assert_false(rna_node_names_forget_former(&after.node, &settings));
	assert_int_equal(after.node.name_count, RNA_NODE_LABEL_COUNT);
}

/* What is not decided yet is not kept: the next agent has to find out, too. */
static void test_undecided_is_not_kept(void **state)
{
	struct rna_memory before = RNA_MEMORY_INIT, after = RNA_MEMORY_INIT;
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	char ret[256];

	(void)state;
	play(rna_published_find(&before.node, "x"), "0 up, 10 end", 1000, &delays, ret,
	     sizeof(ret));
	rna_memory_write(&before, &text);
	assert_int_equal(rna_memory_read(&after, text.data, text.len, NULL), 0);
	assert_int_equal(after.node.count, 0);
	rna_memory_deinit(&before);
	rna_memory_deinit(&after);
}

/* Files of agents that told Kubernetes nothing, and damaged ones. */
static void test_files(void **state)
{
	static const struct {
		const char *text;
		int ret;
		size_t decided;
	} files[] = {
		{"{\"version\": 1, \"devices\": []}", 0, 0},
		{"{\"version\": 1, \"devices\": [], \"told\": [{\"name\": \"x\", \"kind\": "
		 "\"none\"}]}",
		 0, 1},
		{"{\"version\": 1, \"devices\": [], \"told\": [{\"name\": \"x\", \"kind\": "
		 "\"new\"}]}",
		 0, 0},
		{"{\"version\": 1, \"devices\": [], \"told\": [{\"name\": \"x\", \"kind\": "
		 "\"value\"}]}",
		 0, 0},
		{"{\"version\": 1, \"devices\": [], \"told\": [{\"kind\": \"none\"}]}", -EBADMSG,
		 0},
		{"{\"version\": 1, \"devices\": [], \"told\": [7]}", -EBADMSG, 0},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(files); i++) {
		struct rna_memory memory = RNA_MEMORY_INIT;
		size_t decided = 0;

		assert_int_equal(rna_memory_read(&memory, files[i].text, strlen(files[i].text),
						 NULL),
				 files[i].ret);
		for (size_t t = 0; t < memory.node.count; t++)
			decided += memory.node.items[t].decided;
		assert_int_equal(decided, files[i].decided);
		rna_memory_deinit(&memory);
	}
}

/* A changed message is published when it is stable, and does not change the start time. */
static void test_messages(void **state)
{
	static const struct rna_node_delays at_once = {.unknown = RNA_USEC_NEVER};
	const struct rna_node_verdict bad = {.kind = RNA_VERDICT_VALUE, .value = "True"};
	struct rna_node_memory memory = {0};
	struct rna_published *told = rna_published_find(&memory, "x");
	rna_usec changed = 0;

	(void)state;
	assert_true(rna_published_follow(told, &bad, "one", &at_once,
					 (struct rna_time){100 * SECOND, 100 * SECOND}));
	for (unsigned second = 101; second < 200; second++) {
		const struct rna_time now = {second * SECOND, second * SECOND};
		const char *message = second >= 150 ? "three" : second % 2 ? "one" : "two";

		if (rna_published_follow(told, &bad, message, &delays, now))
			changed = second;
	}
	assert_string_equal(told->message, "three");
	assert_int_equal(changed, 180);
	assert_true(told->since == 100 * SECOND);
	rna_node_memory_deinit(&memory);
}

static void test_due(void **state)
{
	struct rna_node_memory memory = {0};
	struct rna_published *told = rna_published_find(&memory, "x");
	char ret[256];

	(void)state;
	play(told, "0 up, 1 end", 1000, &delays, ret, sizeof(ret));
	assert_true(rna_published_due(told, &delays) == 1030 * SECOND);
	play(told, "0 up, 100 end", 1001, &delays, ret, sizeof(ret));
	assert_true(rna_published_due(told, &delays) == RNA_USEC_NEVER);
	play(told, "0 down, 1 end", 1101, &delays, ret, sizeof(ret));
	assert_true(rna_published_due(told, &delays) == 1161 * SECOND);
	play(told, "0 up, 1 ?, 2 end", 1102, &delays, ret, sizeof(ret));
	assert_true(rna_published_due(told, &delays) == 1703 * SECOND);
	play(told, "0 ?, 700 end", 1104, &delays, ret, sizeof(ret));
	assert_string_equal(word_of(told), "?");
	assert_true(rna_published_due(told, &delays) == RNA_USEC_NEVER);
	rna_node_memory_deinit(&memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timelines),  cmocka_unit_test(test_boot),
		cmocka_unit_test(test_first_boot), cmocka_unit_test(test_restart),
		cmocka_unit_test(test_names),      cmocka_unit_test(test_undecided_is_not_kept),
		cmocka_unit_test(test_files),      cmocka_unit_test(test_messages),
		cmocka_unit_test(test_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
