// SPDX-License-Identifier: Apache-2.0
/* agent/quiesce: who wants it, when it ends, and who waits until nothing is open any more. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-event.h>
#include <cmocka.h>

#include "rna/base/clock.h"

#include "loop/quiesce.h"
#include "memory/memory.h"

#define LONG  (3600 * RNA_USEC_PER_SEC)
#define SHORT (30 * RNA_USEC_PER_MSEC)
#define LABEL "nvidia.com/ofed-driver-upgrade-state"

struct scene {
	sd_event *event;
	struct rna_quiesce *quiesce;
	struct rna_settings settings;
	unsigned changes;
	const char *holder;
	unsigned answers;
	int status;
	char error[RNA_ERROR_MAX];
};

static void on_change(void *userdata)
{
	struct scene *scene = userdata;

	scene->changes++;
}

static const char *find_holder(void *userdata)
{
	const struct scene *scene = userdata;

	return scene->holder;
}

static void on_answer(int status, const struct rna_error *error, void *userdata)
{
	struct scene *scene = userdata;

	scene->answers++;
	scene->status = status;
	memcpy(scene->error, error->text, sizeof(scene->error));
}

static int setup(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	const struct rna_quiesce_handlers handlers = {on_change, find_holder, scene};

	assert_non_null(scene);
	assert_true(sd_event_new(&scene->event) >= 0);
	assert_int_equal(rna_settings_init(&scene->settings), 0);
	assert_true(rna_quiesce_new(scene->event, &handlers, &scene->quiesce) >= 0);
	*state = scene;
	return 0;
}

static int teardown(void **state)
{
	struct scene *scene = *state;

	(void)rna_quiesce_free(scene->quiesce);
	(void)sd_event_unref(scene->event);
	rna_settings_deinit(&scene->settings);
	free(scene);
	return 0;
}

static void turn_for(struct scene *scene, rna_usec time)
{
	rna_usec end = rna_clock_monotonic() + time;

	while (rna_clock_monotonic() < end)
		assert_true(sd_event_run(scene->event, RNA_USEC_PER_MSEC) >= 0);
}

static void turn_until_off(struct scene *scene)
{
	rna_usec end = rna_clock_monotonic() + 20 * RNA_USEC_PER_SEC;

	while (rna_quiesce_is_on(scene->quiesce)) {
		assert_true(rna_clock_monotonic() < end);
		assert_true(sd_event_run(scene->event, RNA_USEC_PER_SEC) >= 0);
	}
}

static void test_it_is_asked_for_and_ends(void **state)
{
	struct scene *scene = *state;

	assert_false(rna_quiesce_is_on(scene->quiesce));
	assert_null(rna_quiesce_reason(scene->quiesce));
	rna_quiesce_ask(scene->quiesce, LONG);
	assert_true(rna_quiesce_is_on(scene->quiesce));
	assert_non_null(strstr(rna_quiesce_reason(scene->quiesce), "until 20"));
	assert_int_equal(scene->changes, 1);
	rna_quiesce_resume(scene->quiesce);
	assert_false(rna_quiesce_is_on(scene->quiesce));
	assert_int_equal(scene->changes, 2);
	rna_quiesce_resume(scene->quiesce); /* it was not quiesced: nothing changes */
	assert_int_equal(scene->changes, 2);
}

static void test_it_ends_by_itself(void **state)
{
	struct scene *scene = *state;

	rna_quiesce_ask(scene->quiesce, SHORT);
	turn_until_off(scene);
	assert_int_equal(scene->changes, 2);
}

static void test_the_later_end_counts(void **state)
{
	struct scene *scene = *state;

	rna_quiesce_ask(scene->quiesce, LONG);
	rna_quiesce_ask(scene->quiesce, SHORT);
	turn_for(scene, 3 * SHORT);
	assert_true(rna_quiesce_is_on(scene->quiesce));
	assert_int_equal(scene->changes, 1);
}

/* What the Node's label says; NULL: it has none. */
static void node_says(struct scene *scene, const char *value)
{
	const struct rna_node_label labels[] = {{"kubernetes.io/os", "linux"}, {LABEL, value}};
	const struct rna_kubernetes_status status = {.looked = {.monotonic = 1, .realtime = 1},
						     .label_count = value ? 2 : 1,
						     .labels = labels};

	rna_quiesce_follow_node(scene->quiesce, &scene->settings, &status);
}

/* The client has said nothing of it yet. */
static void node_is_unread(struct scene *scene)
{
	const struct rna_kubernetes_status unread = {0};

	rna_quiesce_follow_node(scene->quiesce, &scene->settings, &unread);
}

static void nobody_reads_the_node(struct scene *scene)
{
	rna_quiesce_follow_node(scene->quiesce, &scene->settings, NULL);
}

static void test_the_node_says_it(void **state)
{
	static const struct {
		const char *value;
		bool on;
	} cases[] = {
		{NULL, false},
		{"", false},
		{"upgrade-done", false},
		{"upgrade-required", true},
		{"pod-restart-required", true},
		{"upgrade-failed", true},
		{"upgrade-done", false},
		{"drain-required", true},
		{NULL, false},
	};
	struct scene *scene = *state;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		node_says(scene, cases[i].value);
		assert_int_equal(rna_quiesce_is_on(scene->quiesce), cases[i].on);
	}
	assert_int_equal(scene->changes, 4);
	nobody_reads_the_node(scene);
	assert_false(rna_quiesce_is_on(scene->quiesce));
}

static void test_what_the_node_says_stays(void **state)
{
	struct scene *scene = *state;

	node_says(scene, "drain-required");
	assert_non_null(strstr(rna_quiesce_reason(scene->quiesce), LABEL "=drain-required"));
	rna_quiesce_ask(scene->quiesce, LONG);
	rna_quiesce_resume(scene->quiesce);
	assert_true(rna_quiesce_is_on(scene->quiesce));
	assert_int_equal(scene->changes, 1);
	node_says(scene, "upgrade-done");
	assert_false(rna_quiesce_is_on(scene->quiesce));
}

/* A reload begins with a client that has read nothing: no reason to open what is being changed. */
static void test_a_node_that_is_not_read_yet(void **state)
{
	struct scene *scene = *state;

	node_is_unread(scene);
	assert_false(rna_quiesce_is_on(scene->quiesce));
	node_says(scene, "drain-required");
	node_is_unread(scene);
	node_is_unread(scene);
	assert_non_null(strstr(rna_quiesce_reason(scene->quiesce),
			       LABEL "=drain-required when it was last read; until 20"));
	assert_int_equal(scene->changes, 1);
	node_says(scene, NULL);
	assert_false(rna_quiesce_is_on(scene->quiesce));
	node_says(scene, "drain-required");
	nobody_reads_the_node(scene);
	assert_false(rna_quiesce_is_on(scene->quiesce));
}

static void test_a_node_that_is_not_read_in_time(void **state)
{
	struct scene *scene = *state;

	scene->settings.quiesce_timeout = SHORT;
	node_says(scene, "drain-required");
	turn_for(scene, 2 * SHORT);
	assert_true(rna_quiesce_is_on(scene->quiesce));
	node_is_unread(scene);
	node_says(scene, "drain-required");
	turn_for(scene, 2 * SHORT);
	assert_non_null(strstr(rna_quiesce_reason(scene->quiesce), "the Node has the label"));
	node_is_unread(scene);
	turn_until_off(scene);
	node_is_unread(scene);
	assert_false(rna_quiesce_is_on(scene->quiesce));
}

static void test_two_ends(void **state)
{
	struct scene *scene = *state;

	scene->settings.quiesce_timeout = LONG;
	node_says(scene, "drain-required");
	node_is_unread(scene);
	rna_quiesce_ask(scene->quiesce, SHORT);
	turn_for(scene, 2 * SHORT);
	assert_non_null(strstr(rna_quiesce_reason(scene->quiesce), "the Node had the label"));
	rna_quiesce_resume(scene->quiesce); /* a person knows better than what was once read */
	assert_false(rna_quiesce_is_on(scene->quiesce));
}

static void test_who_asked_waits(void **state)
{
	struct scene *scene = *state;
	int other;

	scene->holder = "mlx5_0";
	rna_quiesce_ask(scene->quiesce, LONG);
	assert_int_equal(rna_quiesce_wait(scene->quiesce, on_answer, scene), 0);
	assert_int_equal(rna_quiesce_wait(scene->quiesce, on_answer, &other), 0);
	turn_for(scene, 3 * SHORT);
	assert_int_equal(scene->answers, 0);
	rna_quiesce_forget(scene->quiesce, &other); /* its answer would write over the stack */
	scene->holder = NULL;
	turn_for(scene, 3 * SHORT);
	assert_int_equal(scene->answers, 1);
	assert_int_equal(scene->status, 0);
}

/* The agent ends, however that came, and another one begins with what the first remembered. */
static void begin_anew(struct scene *scene, struct rna_memory *memory)
{
	const struct rna_quiesce_handlers handlers = {on_change, find_holder, scene};

	memory->changed = false;
	rna_quiesce_keep(scene->quiesce, memory);
	(void)rna_quiesce_free(scene->quiesce);
	scene->changes = 0;
	assert_true(rna_quiesce_new(scene->event, &handlers, &scene->quiesce) >= 0);
	rna_quiesce_recall(scene->quiesce, memory, scene->settings.quiesce_timeout);
}

static void test_it_outlives_the_process(void **state)
{
	RNA_CLEANUP(rna_memory_deinit) struct rna_memory memory = RNA_MEMORY_INIT;
	struct scene *scene = *state;

	begin_anew(scene, &memory);
	assert_false(memory.changed);
	assert_false(rna_quiesce_is_on(scene->quiesce));
	rna_quiesce_ask(scene->quiesce, LONG);
	begin_anew(scene, &memory);
	assert_true(memory.changed);
	assert_int_equal(scene->changes, 1);
	assert_non_null(strstr(rna_quiesce_reason(scene->quiesce), "requested until 20"));
	rna_quiesce_keep(scene->quiesce, &memory);
	begin_anew(scene, &memory);
	assert_false(memory.changed); /* nothing for the disk */
	rna_quiesce_resume(scene->quiesce);
	begin_anew(scene, &memory);
	assert_true(memory.changed);
	assert_null(memory.quiesced.boot);
	assert_false(rna_quiesce_is_on(scene->quiesce));
}

static void test_it_ends_while_no_agent_runs(void **state)
{
	RNA_CLEANUP(rna_memory_deinit) struct rna_memory memory = RNA_MEMORY_INIT;
	struct scene *scene = *state;

	rna_quiesce_ask(scene->quiesce, LONG);
	rna_quiesce_keep(scene->quiesce, &memory);
	memory.quiesced.until = rna_clock_monotonic() - 1;
	rna_quiesce_resume(scene->quiesce);
	rna_quiesce_recall(scene->quiesce, &memory, LONG);
	assert_false(rna_quiesce_is_on(scene->quiesce));
	memory.quiesced.until = rna_clock_monotonic() + SHORT;
	rna_quiesce_recall(scene->quiesce, &memory, LONG);
	turn_until_off(scene);
	/* the machine was booted: its clock restarted, and no driver is being changed */
	memory.quiesced.until = rna_clock_monotonic() + LONG;
	assert_true(rna_memory_set_text(&memory.quiesced.boot, "an-earlier-boot"));
	rna_quiesce_recall(scene->quiesce, &memory, LONG);
	assert_false(rna_quiesce_is_on(scene->quiesce));
}

/* Until it has been read the last known value applies; without the API there is none. */
static void test_what_the_node_said_outlives_the_process(void **state)
{
	RNA_CLEANUP(rna_memory_deinit) struct rna_memory memory = RNA_MEMORY_INIT;
	struct scene *scene = *state;

	node_says(scene, "drain-required");
	begin_anew(scene, &memory);
	assert_int_equal(scene->changes, 1);
	node_is_unread(scene);
	assert_non_null(strstr(rna_quiesce_reason(scene->quiesce), LABEL "=drain-required"));
	node_says(scene, "upgrade-done");
	assert_false(rna_quiesce_is_on(scene->quiesce));
	node_says(scene, "drain-required");
	begin_anew(scene, &memory);
	nobody_reads_the_node(scene);
	assert_false(rna_quiesce_is_on(scene->quiesce));
}

static void test_restarts_do_not_put_the_end_off(void **state)
{
	RNA_CLEANUP(rna_memory_deinit) struct rna_memory memory = RNA_MEMORY_INIT;
	struct scene *scene = *state;
	rna_usec end;

	node_says(scene, "drain-required");
	begin_anew(scene, &memory);
	assert_int_equal(memory.quiesced.node_until, 0);
	begin_anew(scene, &memory);
	end = memory.quiesced.node_until;
	assert_true(end > rna_clock_monotonic());
	begin_anew(scene, &memory);
	assert_int_equal(memory.quiesced.node_until, end);
	assert_false(memory.changed);
	memory.quiesced.node_until = rna_clock_monotonic();
	rna_quiesce_resume(scene->quiesce);
	rna_quiesce_recall(scene->quiesce, &memory, LONG);
	assert_false(rna_quiesce_is_on(scene->quiesce));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_it_is_asked_for_and_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(test_it_ends_by_itself, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_later_end_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_node_says_it, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_the_node_says_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_node_that_is_not_read_yet, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_node_that_is_not_read_in_time, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_two_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(test_who_asked_waits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_it_outlives_the_process, setup, teardown),
		cmocka_unit_test_setup_teardown(test_it_ends_while_no_agent_runs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_the_node_said_outlives_the_process, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_restarts_do_not_put_the_end_off, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
