// SPDX-License-Identifier: Apache-2.0
/* collectors/fabric: what is kept from one run to the next, and what is asked again when. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/model/fabric.h"

#include "backend/ask_mad.h"
#include "backend/mad.h"
#include "parse/reader.h"

#include "collectors.h"
#include "tree.h"

/* -- a backend of ours ----------------------------------------------------------------------------
 */

/* What it answers, and which topics it was asked for last. */
static struct {
	int status;
	struct rna_mad_fabric answer;
	unsigned topics;
	unsigned asked;
} script;

static bool script_serves(const struct rna_root *root, const struct rna_device *device,
			  unsigned port)
{
	(void)root, (void)device;
	return port == 1;
}

static int script_query_fabric(const struct rna_root *root, const struct rna_device *device,
			       unsigned port, unsigned topics, struct rna_mad_fabric *ret)
{
	(void)root, (void)device, (void)port;
	script.topics = topics;
	script.asked++;
	if (script.status == 0)
		*ret = script.answer;
	return script.status;
}

static const struct rna_mad_backend script_mad = {
	.serves = script_serves,
	.query_fabric = script_query_fabric,
};

static void set_detail(const char *name, uint64_t number)
{
	for (size_t i = 0; i < RNA_MAD_DETAILS; i++)
		if (strcmp(script.answer.details[i].file, name) == 0)
			script.answer.details[i].value = rna_value_ok(number);
}

/* An ACTIVE port in port 12 of a switch. */
static void set_script(void)
{
	struct rna_mad_fabric *answer = &script.answer;

	memset(&script, 0, sizeof(script));
	rna_mad_init_fabric(answer);
	for (size_t i = 0; i < RNA_MAD_TOPIC_COUNT; i++)
		answer->status[i] = 0;
	answer->port.state = rna_value_ok(RNA_PORT_ACTIVE);
	answer->port.physical_state = rna_value_ok(RNA_PHYSICAL_LINK_UP);
	answer->port.sm_lid = rna_value_ok(1);
	answer->peer = (struct rna_mad_peer){
		.type = rna_value_ok(2),
		.guid = rna_value_ok(UINT64_C(0xfc6a1c0300427700)),
		.port_number = rna_value_ok(12),
		.name = "leaf-07",
		.port = {.lid = rna_value_ok(7), .speed_supported = rna_value_ok(128)},
	};
	answer->manager.guid = rna_value_ok(UINT64_C(0x1070fd0300aa0001));
	answer->manager.state = rna_value_ok(RNA_MANAGER_MASTER);
	answer->pkeys.count = 2;
	answer->pkeys.items[0] = (struct rna_mad_pkey){0, 0x7fff};
	answer->pkeys.items[1] = (struct rna_mad_pkey){3, 0x8012};
	set_detail("fec_uncorrectable_blocks", 5);
	set_detail("port_inactive_discards", 3);
	set_detail("port_vl_xmit_wait_0", 9);
}

/* The link goes down: nothing but the port itself and its P_Keys can be asked. */
static void pull_cable(void)
{
	script.answer.port.state = rna_value_ok(RNA_PORT_DOWN);
	script.answer.port.physical_state = rna_value_ok(RNA_PHYSICAL_POLLING);
	for (size_t i = 0; i < RNA_MAD_TOPIC_COUNT; i++)
		if (i != RNA_MAD_PKEYS)
			script.answer.status[i] = RNA_MAD_NOT_ASKED;
	for (size_t i = 0; i < RNA_MAD_DETAILS; i++)
		script.answer.details[i].value = (struct rna_value){0};
}

struct fixture {
	struct tree tree;
	struct rna_reader *reader;
	struct rna_backends backends;
	struct rna_part *part;
	bool no_mads;
};

static const unsigned two_ports[] = {1, 2};
static const struct rna_device device = {
	.name = "mlx5_0",
	.sysfs_path = "dev",
	.port_count = 2, /* the other one is not served */
	.ports = two_ports,
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	tree_init(&fixture->tree);
	fixture->reader = rna_reader_new(fixture->tree.root, 100);
	fixture->backends.mad = &script_mad;
	set_script();
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	(void)rna_part_unref(fixture->part);
	(void)rna_reader_free(fixture->reader);
	tree_deinit(&fixture->tree);
	free(fixture);
	return 0;
}

/* The port after one more run; NULL: nothing is known of it. */
static const struct rna_port_fabric *run(struct fixture *fixture)
{
	const struct rna_collect_input in = {
		.root = fixture->tree.root,
		.backends = &fixture->backends,
		.device = &device,
		.reader = fixture->reader,
		.previous = fixture->part,
		.options.no_mads = fixture->no_mads,
		.period = 1, /* microsecond: pauses of the whole device are over at once */
	};
	const struct rna_fabric *fabric;
	struct rna_part *part = NULL;
	struct rna_error error = {0};

	assert_int_equal(rna_collect_fabric(&in, &part, &error), 0);
	(void)rna_part_unref(fixture->part);
	fixture->part = part;
	fabric = (const void *)part;
	assert_true(fabric->port_count <= 1);
	return fabric->port_count ? fabric->ports : NULL;
}

static void end_pause(const struct fixture *fixture, enum rna_mad_topic topic)
{
	const struct rna_fabric *fabric = (const void *)fixture->part;

	((struct rna_port_fabric *)(uintptr_t)fabric->ports)->retry[topic] = 0;
}

static uint64_t timeouts(const struct fixture *fixture)
{
	return fixture->part->errors[RNA_REASON_TIMEOUT];
}

static struct rna_value counter(const struct fixture *fixture, const char *file)
{
	const struct rna_fabric *fabric = (const void *)fixture->part;

	return fabric->counters.group_count
		       ? rna_counter_group_find(fabric->counters.groups,
						rna_counter_find(RNA_PLACE_PORT_FABRIC, file))
				 ->value
		       : (struct rna_value){0};
}

#define TOPIC(topic) (1U << (topic))

/* -- tests ----------------------------------------------------------------------------------------
 */

/* If MADs are refused the files tell the P_Keys, and nothing else is known. */
static void files_tell_the_pkeys(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_port_fabric *port;

	script.status = -EACCES;
	assert_null(run(fixture));
	tree_write(&fixture->tree, "dev/ports/1/pkeys/0", "0x7fff\n");
	tree_write(&fixture->tree, "dev/ports/1/pkeys/1", "0x0000\n");
	tree_write(&fixture->tree, "dev/ports/1/pkeys/2", "0x8012\n");
	port = run(fixture);
	assert_non_null(port);
	assert_true(port->pkeys_known && port->pkeys_from_files);
	assert_false(port->answered);
	assert_int_equal(port->pkey_count, 2);
	assert_false(port->pkeys[0].full);
	assert_int_equal(port->pkeys[1].index, 2);
	assert_int_equal(port->pkeys[1].key, 0x12);
	assert_true(port->pkeys[1].full);
	tree_write(&fixture->tree, "dev/ports/1/pkeys/2", "0x0012\n");
	assert_false(run(fixture)->pkeys[1].full);
	script.status = 0;
	end_pause(fixture, RNA_MAD_PKEYS);
	port = run(fixture);
	assert_false(port->pkeys_from_files);
	assert_true(port->answered);
	assert_int_equal(port->pkeys[1].index, 3);
}

static void all_that_is_answered_is_kept(void **state)
{
	const struct rna_port_fabric *port = run(*state);

	assert_non_null(port);
	assert_int_equal(port->number, 1);
	assert_int_equal(port->peer->type, RNA_NODE_TYPE_SWITCH);
	assert_string_equal(port->peer->name, "leaf-07");
	assert_string_equal(port->peer->port, "12");
	assert_string_equal(port->peer->guid, "fc6a:1c03:0042:7700");
	assert_int_equal(port->peer->lid.number, 7);
	assert_int_equal(port->peer->link.speed_supported.number, 128);
	assert_false(port->peer->stale);
	assert_null(port->former_peer);
	assert_string_equal(port->manager.guid, "1070:fd03:00aa:0001");
	assert_int_equal(port->manager.lid.number, 1);
	assert_int_equal(port->pkey_count, 2);
	assert_int_equal(port->pkeys[0].key, RNA_DEFAULT_PKEY);
	assert_false(port->pkeys[0].full);
	assert_int_equal(port->pkeys[1].index, 3);
	assert_int_equal(port->pkeys[1].key, 0x12);
	assert_true(port->pkeys[1].full);
	assert_int_equal(port->congestion_control.number, 1);
	assert_int_equal(counter(*state, "fec_uncorrectable_blocks").number, 5);
	assert_int_equal(counter(*state, "port_vl_xmit_wait_0").number, 9);
}

static void a_port_that_cannot_be_asked_is_none(void **state)
{
	script.status = -ENOENT;
	assert_null(run(*state));
	assert_int_equal(rna_part_error_count(((struct fixture *)*state)->part), 0);
}

static void what_is_refused_is_left_alone(void **state)
{
	script.answer.status[RNA_MAD_FEC] = -EOPNOTSUPP;
	script.answer.status[RNA_MAD_CONGESTION] = -EOPNOTSUPP;
	assert_int_equal(run(*state)->congestion_control.number, 0);
	assert_int_equal(rna_part_error_count(((struct fixture *)*state)->part), 0);
	(void)run(*state);
	assert_int_equal(script.topics & TOPIC(RNA_MAD_FEC), 0);
	assert_int_equal(script.topics & TOPIC(RNA_MAD_CONGESTION), 0);
	assert_int_equal(script.topics & TOPIC(RNA_MAD_DISCARDS), TOPIC(RNA_MAD_DISCARDS));
	assert_int_equal(script.topics & TOPIC(RNA_MAD_PEER_NODE), TOPIC(RNA_MAD_PEER_NODE));
}

static void fall_silent(void)
{
	script.answer.status[RNA_MAD_FEC] = -ETIMEDOUT;
	script.answer.details[1].value = (struct rna_value){0}; /* uncorrectable blocks */
}

static void what_is_silent_costs_only_itself(void **state)
{
	fall_silent();
	for (unsigned i = 0; i < 3; i++) { /* a MAD may be lost */
		assert_string_equal(run(*state)->peer->name, "leaf-07");
		assert_int_equal(script.topics & TOPIC(RNA_MAD_FEC), TOPIC(RNA_MAD_FEC));
		assert_int_equal(timeouts(*state), 1);
		assert_int_equal(counter(*state, "port_inactive_discards").number, 3);
	}
	script.answer.status[RNA_MAD_FEC] = RNA_MAD_NOT_ASKED;
	(void)run(*state);
	assert_int_equal(script.topics & TOPIC(RNA_MAD_FEC), 0);
	assert_int_equal(timeouts(*state), 0);
}

static void one_answer_in_between_is_a_new_beginning(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		fall_silent();
		(void)run(*state);
		(void)run(*state);
		set_script();
		(void)run(*state);
		assert_int_equal(script.topics & TOPIC(RNA_MAD_FEC), TOPIC(RNA_MAD_FEC));
	}
}

static void a_peer_stays_when_the_link_goes(void **state)
{
	const struct rna_port_fabric *port = run(*state);

	pull_cable();
	(void)run(*state);
	port = run(*state);
	assert_string_equal(port->peer->name, "leaf-07");
	assert_string_equal(port->peer->port, "12");
	assert_int_equal(port->peer->lid.number, 7);
	assert_true(port->peer->stale);
	assert_int_equal(port->peer_changes, 0);
	assert_int_equal(counter(*state, "fec_uncorrectable_blocks").state, RNA_VALUE_UNREADABLE);
	assert_string_equal(port->manager.guid, "1070:fd03:00aa:0001");
	set_script();
	port = run(*state);
	assert_false(port->peer->stale);
	assert_int_equal(port->peer_changes, 0);
}

/* Also when the device as a whole stops answering. */
static void nothing_is_forgotten_by_a_device_that_hangs(void **state)
{
	const struct rna_port_fabric *port = run(*state);

	script.status = -ETIMEDOUT;
	port = run(*state);
	assert_true(port->peer->stale);
	assert_int_equal(port->pkey_count, 2);
	assert_int_equal(port->congestion_control.number, 1);
}

/* -- M_Keys ------------------------------------------------------------------------------------ */

static void set_port_file(struct fixture *fixture, const char *file, const char *content)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "dev/ports/1/%s", file);
	tree_write(&fixture->tree, path, content);
}

/* Pauses of the whole device grow with each failure. */
static const struct rna_port_fabric *run_after_pause(struct fixture *fixture)
{
	rna_reader_was_asked(fixture->reader, 0);
	return run(fixture);
}

/* Each query without the key raises a trap, so there is one for each change of the port. */
static void a_protected_port_is_asked_when_it_has_changed(void **state)
{
	static const char *const managers[] = {"0x1\n", "0x2\n", "0x3\n", "0x4\n"};
	struct fixture *fixture = *state;

	set_port_file(fixture, "state", "4: ACTIVE\n");
	set_port_file(fixture, "sm_lid", managers[0]);
	script.status = -ENOKEY;
	for (unsigned changes = 1; changes <= 3; changes++) {
		for (unsigned i = 0; i < 5; i++) {
			const struct rna_port_fabric *port = run_after_pause(fixture);

			assert_non_null(port);
			assert_int_equal(port->key_required.number, 1);
			assert_int_equal(rna_part_error_count(fixture->part), 0);
			assert_int_equal(script.asked, changes);
		}
		set_port_file(fixture, "sm_lid", managers[changes]);
	}
	script.status = 0;
	assert_int_equal(run_after_pause(fixture)->key_required.number, 0);
	assert_int_equal(run(fixture)->key_required.number, 0);
	assert_int_equal(script.asked, 5);
}

static void fall_silent_as_a_peer(void)
{
	script.answer.status[RNA_MAD_PEER_NODE] = -ETIMEDOUT;
	script.answer.status[RNA_MAD_PEER_NAME] = RNA_MAD_NOT_ASKED;
	script.answer.status[RNA_MAD_PEER_PORT] = RNA_MAD_NOT_ASKED;
	script.answer.status[RNA_MAD_MANAGER] = -ETIMEDOUT;
}

/* The first silence may be a lost MAD; it is asked once more. */
static void a_protected_peer_is_asked_when_the_port_has_changed(void **state)
{
	const unsigned outside = TOPIC(RNA_MAD_PEER_NODE) | TOPIC(RNA_MAD_PEER_NAME) |
				 TOPIC(RNA_MAD_PEER_PORT) | TOPIC(RNA_MAD_MANAGER);
	const struct rna_port_fabric *port;

	fall_silent_as_a_peer();
	assert_int_equal(run(*state)->key_required.number, 0);
	end_pause(*state, RNA_MAD_MANAGER);
	port = run(*state);
	assert_int_equal(script.topics & outside, outside);
	assert_int_equal(port->key_required.number, 1);
	script.answer.status[RNA_MAD_PEER_NODE] = RNA_MAD_NOT_ASKED;
	script.answer.status[RNA_MAD_MANAGER] = RNA_MAD_NOT_ASKED;
	for (unsigned i = 0; i < 3; i++) {
		port = run(*state);
		assert_int_equal(script.topics & TOPIC(RNA_MAD_PEER_NODE), 0);
		assert_int_equal(script.topics & TOPIC(RNA_MAD_MANAGER), 0);
		assert_int_equal(script.topics & TOPIC(RNA_MAD_PKEYS), TOPIC(RNA_MAD_PKEYS));
		assert_int_equal(port->key_required.number, 1);
		assert_int_equal(port->manager.unanswered, 0);
	}
	script.answer.port.lid = rna_value_ok(8);
	(void)run(*state);
	set_script();
	script.answer.port.lid = rna_value_ok(8);
	port = run(*state);
	assert_int_equal(script.topics & TOPIC(RNA_MAD_PEER_NODE), TOPIC(RNA_MAD_PEER_NODE));
	assert_int_equal(port->key_required.number, 0);
	assert_string_equal(port->peer->name, "leaf-07");
}

static void without_mads_nothing_is_known(void **state)
{
	struct fixture *fixture = *state;

	(void)run(fixture);
	fixture->no_mads = true;
	assert_null(run(fixture));
	assert_int_equal(script.asked, 1);
}

/* A peer that refused once may be another one at the end of another cable. */
static void a_silent_peer_is_asked_again_after_the_link_was_down(void **state)
{
	script.answer.status[RNA_MAD_PEER_NODE] = -ETIMEDOUT;
	for (unsigned i = 0; i < 3; i++)
		assert_null(run(*state)->peer);
	pull_cable();
	(void)run(*state);
	assert_int_equal(script.topics & TOPIC(RNA_MAD_PEER_NODE), 0);
	(void)run(*state);
	assert_int_equal(script.topics & TOPIC(RNA_MAD_PEER_NODE), TOPIC(RNA_MAD_PEER_NODE));
}

static void another_port_of_the_switch_is_a_change(void **state)
{
	const struct rna_port_fabric *port = run(*state);

	script.answer.peer.port_number = rna_value_ok(13);
	port = run(*state);
	assert_string_equal(port->peer->port, "13");
	assert_string_equal(port->former_peer->port, "12");
	assert_int_equal(port->peer_changes, 1);
	assert_int_not_equal(port->peer_changed.monotonic, 0);
	port = run(*state);
	assert_int_equal(port->peer_changes, 1);
	assert_string_equal(port->former_peer->port, "12");
}

static void a_name_that_is_silent_stays(void **state)
{
	(void)run(*state);
	script.answer.status[RNA_MAD_PEER_NAME] = -ETIMEDOUT;
	script.answer.status[RNA_MAD_PEER_PORT] = -ETIMEDOUT;
	script.answer.peer.name[0] = '\0';
	script.answer.peer.port = (struct rna_mad_port){0};
	assert_string_equal(run(*state)->peer->name, "leaf-07");
	assert_int_equal(run(*state)->peer->lid.number, 7);
}

static void managers_are_told_apart_by_guid(void **state)
{
	const struct rna_port_fabric *port = run(*state);

	script.answer.port.sm_lid = rna_value_ok(2); /* the same one, with another LID */
	port = run(*state);
	assert_int_equal(port->manager.changes, 0);
	assert_int_equal(port->manager.lid.number, 2);
	script.answer.manager.guid = rna_value_ok(4711);
	end_pause(*state, RNA_MAD_MANAGER);
	port = run(*state);
	assert_int_equal(port->manager.changes, 1);
	assert_string_equal(port->manager.guid, "0000:0000:0000:1267");
}

/* All ports of the fabric ask it, so that each does it seldom; but one that is no master soon. */
static void a_manager_is_asked_seldom(void **state)
{
	const struct rna_port_fabric *port = run(*state);

	(void)run(*state);
	assert_int_equal(script.topics & TOPIC(RNA_MAD_MANAGER), 0);
	end_pause(*state, RNA_MAD_MANAGER);
	script.answer.manager.state = rna_value_ok(RNA_MANAGER_DISCOVERING);
	port = run(*state);
	assert_int_equal(script.topics & TOPIC(RNA_MAD_MANAGER), TOPIC(RNA_MAD_MANAGER));
	assert_int_equal(port->manager.state.number, RNA_MANAGER_DISCOVERING);
	(void)run(*state);
	assert_int_equal(script.topics & TOPIC(RNA_MAD_MANAGER), TOPIC(RNA_MAD_MANAGER));
}

static void a_manager_that_is_silent_is_not_asked_more_often(void **state)
{
	const struct rna_port_fabric *port = run(*state);

	for (unsigned i = 1; i <= 3; i++) {
		end_pause(*state, RNA_MAD_MANAGER);
		script.answer.status[RNA_MAD_MANAGER] = -ETIMEDOUT;
		port = run(*state);
		assert_int_equal(port->manager.unanswered, i);
		script.answer.status[RNA_MAD_MANAGER] = RNA_MAD_NOT_ASKED;
		port = run(*state);
		assert_int_equal(script.topics & TOPIC(RNA_MAD_MANAGER), 0);
		assert_int_equal(port->manager.unanswered, i);
	}
	assert_string_equal(port->manager.guid, "1070:fd03:00aa:0001");
}

static void a_manager_at_another_lid_is_asked_at_once(void **state)
{
	(void)run(*state);
	end_pause(*state, RNA_MAD_MANAGER);
	script.answer.status[RNA_MAD_MANAGER] = -EOPNOTSUPP;
	(void)run(*state);
	(void)run(*state);
	assert_int_equal(script.topics & TOPIC(RNA_MAD_MANAGER), 0);
	script.answer.status[RNA_MAD_MANAGER] = RNA_MAD_NOT_ASKED;
	script.answer.port.sm_lid = rna_value_ok(2);
	(void)run(*state);
	(void)run(*state);
	assert_int_equal(script.topics & TOPIC(RNA_MAD_MANAGER), TOPIC(RNA_MAD_MANAGER));
}

static void counters_that_fall_were_reset(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_fabric *fabric;

	(void)run(fixture);
	set_detail("port_inactive_discards", 1);
	(void)run(fixture);
	fabric = (const void *)fixture->part;
	assert_int_equal(fabric->counters.groups[0].resets, 1);
	assert_int_equal(counter(fixture, "port_inactive_discards").number, 1);
}

/* With RS-FEC they are one register, which sticks; a sum of lanes passes its maximum. */
static void blocks_saturate(void **state)
{
	static const char file[] = "fec_uncorrectable_blocks";
	struct fixture *fixture = *state;

	set_detail(file, UINT32_MAX);
	run(fixture);
	run(fixture);
	assert_int_equal(counter(fixture, file).state, RNA_VALUE_SATURATED);
	set_detail(file, (uint64_t)UINT32_MAX + 1);
	run(fixture);
	assert_int_equal(counter(fixture, file).state, RNA_VALUE_OK);
	assert_int_equal(counter(fixture, file).number, (uint64_t)UINT32_MAX + 1);
}

static uint64_t resets(const struct fixture *fixture)
{
	const struct rna_fabric *fabric = (const void *)fixture->part;

	return fabric->counters.groups[0].resets;
}

/* Neither the silence of one question nor that of the port hides what happened meanwhile. */
static void counters_are_compared_across_silence(void **state)
{
	struct fixture *fixture = *state;

	(void)run(fixture);
	fall_silent();
	(void)run(fixture);
	assert_int_equal(counter(fixture, "fec_uncorrectable_blocks").state, RNA_VALUE_UNREADABLE);
	script.status = -ETIMEDOUT;
	(void)run(fixture);
	(void)run(fixture);
	assert_int_equal(counter(fixture, "port_inactive_discards").state, RNA_VALUE_UNREADABLE);
	assert_int_equal(resets(fixture), 0);
	set_script();
	set_detail("fec_uncorrectable_blocks", 4);
	(void)run(fixture);
	assert_int_equal(counter(fixture, "fec_uncorrectable_blocks").number, 4);
	assert_int_equal(resets(fixture), 1);
}

static void what_is_refused_is_no_counter_any_more(void **state)
{
	(void)run(*state);
	fall_silent();
	script.answer.status[RNA_MAD_FEC] = -EOPNOTSUPP;
	(void)run(*state);
	assert_int_equal(counter(*state, "port_inactive_discards").number, 3);
	assert_null(rna_counter_group_find(
		((const struct rna_fabric *)((struct fixture *)*state)->part)->counters.groups,
		rna_counter_find(RNA_PLACE_PORT_FABRIC, "fec_uncorrectable_blocks")));
}

#define RUN_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RUN_TEST(files_tell_the_pkeys),
		RUN_TEST(all_that_is_answered_is_kept),
		RUN_TEST(a_port_that_cannot_be_asked_is_none),
		RUN_TEST(what_is_refused_is_left_alone),
		RUN_TEST(what_is_silent_costs_only_itself),
		RUN_TEST(one_answer_in_between_is_a_new_beginning),
		RUN_TEST(a_peer_stays_when_the_link_goes),
		RUN_TEST(nothing_is_forgotten_by_a_device_that_hangs),
		RUN_TEST(a_protected_port_is_asked_when_it_has_changed),
		RUN_TEST(a_protected_peer_is_asked_when_the_port_has_changed),
		RUN_TEST(without_mads_nothing_is_known),
		RUN_TEST(a_silent_peer_is_asked_again_after_the_link_was_down),
		RUN_TEST(another_port_of_the_switch_is_a_change),
		RUN_TEST(a_name_that_is_silent_stays),
		RUN_TEST(managers_are_told_apart_by_guid),
		RUN_TEST(a_manager_is_asked_seldom),
		RUN_TEST(a_manager_that_is_silent_is_not_asked_more_often),
		RUN_TEST(a_manager_at_another_lid_is_asked_at_once),
		RUN_TEST(counters_that_fall_were_reset),
		RUN_TEST(blocks_saturate),
		RUN_TEST(counters_are_compared_across_silence),
		RUN_TEST(what_is_refused_is_no_counter_any_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
