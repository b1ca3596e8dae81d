// SPDX-License-Identifier: Apache-2.0
/* collectors/counters and collectors/state on small trees. */
#include <errno.h>
#include <string.h>

#include "backend/backends.h"

#include "counters_fixture.h"

static void test_every_file_becomes_a_value(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_counter_group *group;

	tree_write(&fixture->tree, "dev/ports/1/counters/symbol_error", "3\n");
	tree_write(&fixture->tree, "dev/ports/1/counters/zz_new_in_2027", "5\n");
	tree_write(&fixture->tree, "dev/ports/1/counters/aa_new_in_2027", "4\n");
	tree_write(&fixture->tree, "dev/ports/2/counters/symbol_error", "0\n");
	assert_int_equal(collect(fixture, RNA_COLLECTOR_COUNTERS), 0);
	assert_int_equal(counters_of(fixture)->group_count, 2);
	group = &counters_of(fixture)->groups[0];
	assert_int_equal(group->port, 1);
	assert_int_equal(group->place, RNA_PLACE_PORT_COUNTERS);
	assert_int_equal(group->count, 3);
	assert_string_equal(group->values[0].counter->file, "symbol_error");
	assert_int_equal(group->values[0].value.number, 3);
	assert_null(group->values[1].counter);
	assert_string_equal(group->values[1].file, "aa_new_in_2027");
	assert_string_equal(group->values[2].file, "zz_new_in_2027");
	assert_int_equal(counters_of(fixture)->groups[1].port, 2);
}

static void test_places_of_hw_counters(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_counter_group *groups;

	tree_write(&fixture->tree, "dev/ports/2/hw_counters/out_of_buffer", "9\n");
	tree_write(&fixture->tree, "dev/ports/2/hw_counters/rx_write_requests", "1\n");
	tree_write(&fixture->tree, "dev/ports/2/hw_counters/lifespan", "10\n");
	tree_write(&fixture->tree, "dev/hw_counters/lifespan", "10\n");
	tree_write(&fixture->tree, "dev/hw_counters/no_completion_cmds", "2\n");
	assert_int_equal(collect(fixture, RNA_COLLECTOR_HW_COUNTERS), 0);
	assert_int_equal(counters_of(fixture)->group_count, 2);
	groups = counters_of(fixture)->groups;
	assert_int_equal(groups[0].port, 2);
	assert_int_equal(groups[0].count, 2); /* lifespan is a setting */
	/* the one that refreshes the kernel's cache is read first */
	assert_string_equal(groups[0].values[0].file, "rx_write_requests");
	assert_int_equal(groups[1].port, 0);
	assert_int_equal(groups[1].place, RNA_PLACE_DEVICE_HW_COUNTERS);
}

static void test_a_driver_without_counters_is_fine(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(collect(fixture, RNA_COLLECTOR_COUNTERS), 0);
	assert_int_equal(counters_of(fixture)->group_count, 0);
	assert_int_equal(rna_part_error_count(fixture->part), 0);
}

static void test_one_bad_file_costs_one_value(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_counter_value *values;

	tree_write(&fixture->tree, "dev/ports/1/counters/symbol_error", "");
	tree_write(&fixture->tree, "dev/ports/1/counters/link_downed", "N/A (no PMA)\n");
	tree_write(&fixture->tree, "dev/ports/1/counters/port_rcv_errors", "7");
	assert_int_equal(collect(fixture, RNA_COLLECTOR_COUNTERS), 0);
	values = counters_of(fixture)->groups[0].values;
	assert_int_equal(rna_part_error_count(fixture->part), 1);
	assert_int_equal(fixture->part->errors[RNA_REASON_FORMAT], 1);
	for (size_t i = 0; i < 3; i++) {
		enum rna_value_state expected = RNA_VALUE_OK;

		if (strcmp(values[i].file, "symbol_error") == 0)
			expected = RNA_VALUE_UNREADABLE;
		else if (strcmp(values[i].file, "link_downed") == 0)
			expected = RNA_VALUE_ABSENT;
		assert_int_equal(values[i].value.state, expected);
	}
}

static void test_one_bad_directory_costs_its_files(void **state)
{
	struct fixture *fixture = *state;

	tree_write(&fixture->tree, "dev/ports/1/counters", "not a directory\n");
	tree_write(&fixture->tree, "dev/ports/2/counters/symbol_error", "3\n");
	assert_int_equal(collect(fixture, RNA_COLLECTOR_COUNTERS), 0);
	assert_int_equal(rna_part_error_count(fixture->part), 1);
	assert_int_equal(counters_of(fixture)->group_count, 1);
	assert_int_equal(counters_of(fixture)->groups[0].port, 2);
	assert_int_equal(counters_of(fixture)->groups[0].values[0].value.number, 3);
}

static void test_nothing_but_bad_directories_is_a_failure(void **state)
{
	struct fixture *fixture = *state;

	tree_write(&fixture->tree, "dev/ports/1/counters", "not a directory\n");
	for (unsigned tries = 0; tries < 2; tries++)
		assert_int_equal(collect(fixture, RNA_COLLECTOR_COUNTERS), -ENOTDIR);
	assert_null(fixture->part);
}

static enum rna_value_state collect_link_downed(struct fixture *fixture, const char *content)
{

	tree_write(&fixture->tree, "dev/ports/1/counters/link_downed", content);
	assert_int_equal(collect(fixture, RNA_COLLECTOR_COUNTERS), 0);
	return counters_of(fixture)->groups[0].values[0].value.state;
}

static void test_saturation(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(collect_link_downed(fixture, "254\n"), RNA_VALUE_OK);
	/* passing by: a register of 16 bits would do the same */
	assert_int_equal(collect_link_downed(fixture, "255\n"), RNA_VALUE_OK);
	assert_int_equal(collect_link_downed(fixture, "255\n"), RNA_VALUE_SATURATED);
	assert_int_equal(collect_link_downed(fixture, "256\n"), RNA_VALUE_OK);
	assert_int_equal(collect_link_downed(fixture, "0\n"), RNA_VALUE_OK);
}

static void test_saturated_from_the_start(void **state)
{
	assert_int_equal(collect_link_downed(*state, "255\n"), RNA_VALUE_SATURATED);
}

/*
 * PortCounters has 32 bits of traffic, PortCountersExtended 64, and both have the name of the file.
 * A 64-bit counter passes the maximum of the other.
 */
static void test_traffic_of_32_bits_saturates(void **state)
{
	static const char file[] = "dev/ports/1/counters/port_xmit_data";
	static const struct {
		const char *content;
		enum rna_value_state state;
	} steps[] = {
		{"4294967295\n", RNA_VALUE_SATURATED}, {"0\n", RNA_VALUE_OK},
		{"4294967295\n", RNA_VALUE_OK},        {"4294967295\n", RNA_VALUE_SATURATED},
		{"4294967296\n", RNA_VALUE_OK},        {"18446744073709551615\n", RNA_VALUE_OK},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(steps); i++) {
		tree_write(&fixture->tree, file, steps[i].content);
		assert_int_equal(collect(fixture, RNA_COLLECTOR_COUNTERS), 0);
		assert_int_equal(counters_of(fixture)->groups[0].values[0].value.state,
				 steps[i].state);
	}
}

/* Waiting is congestion: it fills its counter, which is no finding. */
static void test_transmit_wait_fills_up(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_counter_value *value;

	tree_write(&fixture->tree, "dev/ports/1/counters/port_xmit_wait", "4294967295\n");
	assert_int_equal(collect(fixture, RNA_COLLECTOR_COUNTERS), 0);
	value = &counters_of(fixture)->groups[0].values[0];
	assert_int_equal(value->value.state, RNA_VALUE_SATURATED);
	assert_false(rna_counter_is_stuck(value));
}

/* Both collectors have more than one directory of a port. */
static void test_directories_beside_the_usual_ones(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_counter_group *groups;

	tree_write(&fixture->tree, "dev/ports/1/counters/port_xmit_data", "4294967295\n");
	tree_write(&fixture->tree, "dev/ports/1/counters_ext/port_xmit_data_64", "4294967296\n");
	assert_int_equal(collect(fixture, RNA_COLLECTOR_COUNTERS), 0);
	groups = counters_of(fixture)->groups;
	assert_int_equal(counters_of(fixture)->group_count, 2);
	assert_int_equal(groups[1].place, RNA_PLACE_PORT_COUNTERS_EXT);
	assert_int_equal(groups[1].port, 1);
	assert_int_equal(groups[1].values[0].counter->unit, RNA_UNIT_WORDS);
	assert_int_equal(groups[1].values[0].value.number, UINT64_C(4294967296));
	fixture->part = rna_part_unref(fixture->part);
	drop_reader(fixture, 100);
	tree_write(&fixture->tree, "dev/ports/1/hw_counters/out_of_buffer", "1\n");
	tree_write(&fixture->tree, "dev/ports/1/cm_tx_msgs/req", "7\n");
	tree_write(&fixture->tree, "dev/ports/2/cm_rx_duplicates/rep", "8\n");
	assert_int_equal(collect(fixture, RNA_COLLECTOR_HW_COUNTERS), 0);
	groups = counters_of(fixture)->groups;
	assert_int_equal(counters_of(fixture)->group_count, 3);
	assert_int_equal(groups[0].place, RNA_PLACE_PORT_HW_COUNTERS);
	assert_int_equal(groups[1].place, RNA_PLACE_PORT_CM_TX);
	assert_string_equal(groups[1].values[0].counter->instance, "req");
	assert_int_equal(groups[2].place, RNA_PLACE_PORT_CM_RX_DUPLICATES);
	assert_int_equal(groups[2].port, 2);
	assert_int_equal(groups[2].values[0].value.number, 8);
}

static void test_a_vanished_device_fails_and_returns(void **state)
{
	struct fixture *fixture = *state;

	tree_write(&fixture->tree, "dev/ports/1/counters/symbol_error", "3\n");
	assert_int_equal(collect(fixture, RNA_COLLECTOR_COUNTERS), 0);
	drop_reader(fixture, 1); /* keeps the directory only */
	assert_int_equal(collect(fixture, RNA_COLLECTOR_COUNTERS), 0);
	tree_remove(&fixture->tree, "dev/ports/1/counters");
	assert_int_equal(collect(fixture, RNA_COLLECTOR_COUNTERS), -ENODEV);
	tree_write(&fixture->tree, "dev/ports/1/counters/symbol_error", "4\n");
	assert_int_equal(collect(fixture, RNA_COLLECTOR_COUNTERS), 0);
	assert_int_equal(counters_of(fixture)->groups[0].values[0].value.number, 4);
}

/* -- From one run to the next ------------------------------------------------------------------ */

#define HW_FILE "dev/ports/1/hw_counters/out_of_buffer" /* 32 bits */

static const struct rna_counter_value *collect_hw(struct fixture *fixture, const char *content)
{
	tree_write(&fixture->tree, HW_FILE, content);
	assert_int_equal(collect(fixture, RNA_COLLECTOR_HW_COUNTERS), 0);
	return &counters_of(fixture)->groups[0].values[0];
}

static uint64_t resets_of(const struct fixture *fixture)
{
	return counters_of(fixture)->groups[0].resets;
}

/* The same device in another directory: the reader holds the old one, so its inode stays taken. */
static void register_anew(const struct fixture *fixture, const char *content)
{
	tree_remove(&fixture->tree, "dev/ports/1/hw_counters");
	tree_write(&fixture->tree, HW_FILE, content);
}

static void test_a_wrap_goes_on_in_64_bits(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(collect_hw(fixture, "4294967290\n")->value.number, 4294967290);
	assert_int_equal(collect_hw(fixture, "4\n")->value.number, 4294967300);
	assert_int_equal(collect_hw(fixture, "9\n")->value.number, 4294967305);
	assert_int_equal(counters_of(fixture)->groups[0].values[0].raw, 9);
	assert_int_equal(resets_of(fixture), 0);
}

static void test_failures_lose_no_wrap(void **state)
{
	struct fixture *fixture = *state;

	(void)collect_hw(fixture, "4294967290\n");
	(void)collect_hw(fixture, "4\n");
	drop_reader(fixture, 100);
	assert_int_equal(collect_hw(fixture, "5\n")->value.number, 4294967301);
	assert_int_equal(collect_hw(fixture, "broken\n")->value.state, RNA_VALUE_UNREADABLE);
	assert_int_equal(collect_hw(fixture, "6\n")->value.number, 4294967302);
	assert_int_equal(resets_of(fixture), 0);
}

static void test_a_fall_is_a_reset(void **state)
{
	struct fixture *fixture = *state;

	(void)collect_hw(fixture, "1000\n");
	assert_int_equal(collect_hw(fixture, "3\n")->value.number, 3);
	assert_int_equal(resets_of(fixture), 1);
	assert_int_equal(collect_hw(fixture, "4\n")->value.number, 4);
	assert_int_equal(resets_of(fixture), 1);
}

/* Presence may not have noticed yet: the device that the collector is given is the old one. */
static void test_a_new_registration_is_no_wrap(void **state)
{
	struct fixture *fixture = *state;

	(void)collect_hw(fixture, "4294967290\n");
	drop_reader(fixture, 1); /* it opens the file each time */
	(void)collect_hw(fixture, "4\n");
	register_anew(fixture, "2\n");
	assert_int_equal(collect(fixture, RNA_COLLECTOR_HW_COUNTERS), -ENODEV);
	assert_int_equal(collect_hw(fixture, "3\n")->value.number, 3);
	assert_int_equal(resets_of(fixture), 1);
	assert_int_equal(collect_hw(fixture, "4\n")->value.number, 4);
	assert_int_equal(resets_of(fixture), 1);
}

/* -- RDMA netlink as the source ---------------------------------------------------------------- */

static struct {
	int error; /* 0: it answers */
	uint64_t number;
	unsigned questions;
} netlink;

/* In an order of its own, and with two that have no file. */
static int answer(struct rna_rdma_numbers *numbers, const char *device, unsigned port,
		  struct rna_arena *arena, struct rna_netlink_counters *ret)
{
	static const char *const names[] = {"zz_optional", "out_of_buffer", "cc_rx_ce_pkts",
					    "rx_write_requests"};

	(void)numbers;
	assert_string_equal(device, "mlx5_0");
	assert_int_equal(port, 1);
	netlink.questions++;
	if (netlink.error)
		return netlink.error;
	ret->count = RNA_ARRAY_SIZE(names);
	ret->values = rna_arena_array(arena, ret->count, sizeof(*ret->values));
	for (size_t i = 0; i < ret->count; i++)
		ret->values[i] = (struct rna_counter_value){
			.file = rna_arena_strdup(arena, names[i]),
			.value = rna_value_ok(netlink.number + i),
		};
	return 0;
}

static int setup_netlink(void **state)
{
	static const struct rna_rdma_netlink_backend backend = {.get_counters = answer};
	static const struct rna_backends backends = {.rdma_netlink = &backend};
	struct fixture *fixture;

	assert_int_equal(setup(state), 0);
	fixture = *state;
	fixture->backends = &backends;
	fixture->options.hw_counters_source = RNA_HW_COUNTERS_NETLINK;
	tree_write(&fixture->tree, "dev/ports/1/hw_counters/rx_write_requests", "1\n");
	tree_write(&fixture->tree, "dev/hw_counters/submitted_cmds", "5\n");
	memset(&netlink, 0, sizeof(netlink));
	return 0;
}

static void test_netlink_answers_for_ports(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_counter_group *groups;

	netlink.number = 70;
	(void)collect_hw(fixture, "2\n");
	groups = counters_of(fixture)->groups;
	assert_int_equal(groups[0].count, 4);
	assert_string_equal(groups[0].values[0].file, "rx_write_requests");
	assert_ptr_equal(groups[0].values[0].counter,
			 rna_counter_find(RNA_PLACE_PORT_HW_COUNTERS, "rx_write_requests"));
	assert_int_equal(groups[0].values[0].value.number, 73);
	assert_string_equal(groups[0].values[1].file, "out_of_buffer");
	assert_int_equal(groups[0].values[1].value.number, 71);
	assert_string_equal(groups[0].values[2].file, "cc_rx_ce_pkts");
	assert_string_equal(groups[0].values[3].file, "zz_optional");
	assert_int_equal(groups[1].place, RNA_PLACE_DEVICE_HW_COUNTERS);
	assert_int_equal(groups[1].values[0].value.number, 5);
	assert_int_equal(netlink.questions, 1);
}

static void test_netlink_is_extended_too(void **state)
{
	struct fixture *fixture = *state;

	netlink.number = 4294967200;
	(void)collect_hw(fixture, "2\n");
	netlink.number = 7;
	(void)collect_hw(fixture, "2\n");
	assert_int_equal(counters_of(fixture)->groups[0].values[1].value.number, 4294967304);
	assert_int_equal(resets_of(fixture), 0);
}

static void test_without_an_answer_files_are_read(void **state)
{
	static const struct {
		int error;
		uint64_t counted;
	} cases[] = {{-EINVAL, 0}, {-EMSGSIZE, 0}, {-ENOENT, 0}, {-EPERM, 1}};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		fixture->part = rna_part_unref(fixture->part);
		netlink.questions = 0;
		netlink.error = cases[i].error;
		(void)collect_hw(fixture, "2\n");
		assert_int_equal(counters_of(fixture)->groups[0].count, 2);
		assert_int_equal(counters_of(fixture)->groups[0].values[1].value.number, 2);
		assert_int_equal(rna_part_error_count(fixture->part), cases[i].counted);
		drop_reader(fixture, 100); /* which does not make it forget */
		netlink.error = 0;
		(void)collect_hw(fixture, "3\n");
		assert_int_equal(counters_of(fixture)->groups[0].values[1].value.number, 3);
		assert_int_equal(netlink.questions, 1);
	}
}

/* netlink goes by name: it answers for the new device while the reader has the files of the old. */
static void test_netlink_of_a_new_registration(void **state)
{
	struct fixture *fixture = *state;

	netlink.number = 4294967200;
	(void)collect_hw(fixture, "2\n");
	register_anew(fixture, "2\n");
	netlink.number = 7;
	assert_int_equal(collect(fixture, RNA_COLLECTOR_HW_COUNTERS), -ENODEV);
	(void)collect_hw(fixture, "2\n");
	assert_int_equal(counters_of(fixture)->groups[0].values[1].value.number, 8);
	assert_int_equal(resets_of(fixture), 1);
}

static void test_state_of_each_port(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_state *ports;

	tree_write(&fixture->tree, "dev/ports/1/state", "4: ACTIVE\n");
	tree_write(&fixture->tree, "dev/ports/1/phys_state", "5: LinkUp\n");
	tree_write(&fixture->tree, "dev/ports/2/state", "1: DOWN\n");
	tree_write(&fixture->tree, "dev/ports/2/phys_state", "broken\n");
	assert_int_equal(collect(fixture, RNA_COLLECTOR_STATE), 0);
	ports = (const void *)fixture->part;
	assert_int_equal(ports->port_count, 2);
	assert_int_equal(ports->ports[0].state.number, RNA_PORT_ACTIVE);
	assert_int_equal(ports->ports[0].physical_state.number, RNA_PHYSICAL_LINK_UP);
	assert_int_equal(ports->ports[1].number, 2);
	assert_int_equal(ports->ports[1].state.number, RNA_PORT_DOWN);
	assert_int_equal(ports->ports[1].physical_state.state, RNA_VALUE_UNREADABLE);
}

/* Each file costs a query of the port: while its state stays, its link is read now and then. */
static void test_the_link_of_a_port_is_read_seldom(void **state)
{
	struct fixture *fixture = *state;
	struct rna_port_state_value *port;

	tree_write(&fixture->tree, "dev/ports/1/state", "4: ACTIVE\n");
	tree_write(&fixture->tree, "dev/ports/1/phys_state", "5: LinkUp\n");
	tree_write(&fixture->tree, "dev/ports/2/state", "1: DOWN\n");
	tree_write(&fixture->tree, "dev/ports/2/phys_state", "2: Polling\n");
	assert_int_equal(collect(fixture, RNA_COLLECTOR_STATE), 0);
	assert_int_equal(collect(fixture, RNA_COLLECTOR_STATE), 0); /* it has not just gone down */
	tree_write(&fixture->tree, "dev/ports/1/phys_state", "6: LinkErrorRecovery\n");
	tree_write(&fixture->tree, "dev/ports/2/phys_state", "3: Disabled\n");
	assert_int_equal(collect(fixture, RNA_COLLECTOR_STATE), 0);
	port = (void *)(uintptr_t)((const struct rna_state *)fixture->part)->ports;
	assert_int_equal(port[0].physical_state.number, RNA_PHYSICAL_LINK_UP);
	assert_int_equal(port[1].physical_state.number, RNA_PHYSICAL_POLLING);
	port[0].physical_read -= 10 * RNA_USEC_PER_SEC;
	port[1].physical_read -= 10 * RNA_USEC_PER_SEC;
	assert_int_equal(collect(fixture, RNA_COLLECTOR_STATE), 0);
	port = (void *)(uintptr_t)((const struct rna_state *)fixture->part)->ports;
	assert_int_equal(port[1].physical_state.number, RNA_PHYSICAL_DISABLED);
	assert_int_equal(port[0].physical_state.number, RNA_PHYSICAL_RECOVERY);
	assert_int_equal(collect(fixture, RNA_COLLECTOR_STATE), 0); /* that is not the usual one */
	tree_write(&fixture->tree, "dev/ports/1/phys_state", "5: LinkUp\n");
	assert_int_equal(collect(fixture, RNA_COLLECTOR_STATE), 0);
	tree_write(&fixture->tree, "dev/ports/1/state", "1: DOWN\n");
	tree_write(&fixture->tree, "dev/ports/1/phys_state", "2: Polling\n");
	assert_int_equal(collect(fixture, RNA_COLLECTOR_STATE), 0);
	port = (void *)(uintptr_t)((const struct rna_state *)fixture->part)->ports;
	assert_int_equal(port[0].physical_state.number, RNA_PHYSICAL_POLLING);
}

/* -- Planes ------------------------------------------------------------------------------------ */

/* A multi-plane card: one port, whose planes are the ports of an SMI device. */
static void set_planes(struct fixture *fixture)
{
	static const unsigned planes[] = {1, 2}, ports[] = {1};
	static const struct rna_device smi = {
		.name = "smi0",
		.sysfs_path = "smi",
		.port_count = 2,
		.ports = planes,
		.has_planes = true,
	};
	static const struct rna_device parent = {
		.key = "0000:3b:00.0",
		.name = "mlx5_0",
		.sysfs_path = "dev",
		.port_count = 1,
		.ports = ports,
		.smi = &smi,
	};

	fixture->device = &parent;
	tree_write(&fixture->tree, "dev/ports/1/counters/port_xmit_data", "30\n");
}

static void add_plane(struct fixture *fixture, const char *number, const char *words)
{
	static const char *const files[] = {"port_xmit_data", "port_rcv_data", "port_xmit_packets",
					    "port_rcv_packets"};
	char path[64];

	for (size_t i = 0; i < RNA_ARRAY_SIZE(files); i++) {
		(void)snprintf(path, sizeof(path), "smi/ports/%s/counters/%s", number, files[i]);
		tree_write(&fixture->tree, path, words);
	}
	/* of the whole port, so it is not read */
	(void)snprintf(path, sizeof(path), "smi/ports/%s/counters/symbol_error", number);
	tree_write(&fixture->tree, path, "7\n");
}

static void test_planes_have_the_traffic_of_their_own(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_counter_group *group;

	set_planes(fixture);
	add_plane(fixture, "1", "10\n");
	add_plane(fixture, "2", "20\n");
	assert_int_equal(collect(fixture, RNA_COLLECTOR_COUNTERS), 0);
	assert_int_equal(rna_part_error_count(fixture->part), 0);
	assert_int_equal(counters_of(fixture)->group_count, 2);
	group = &counters_of(fixture)->groups[1];
	assert_int_equal(group->place, RNA_PLACE_PORT_PLANES);
	assert_int_equal(group->port, 1);
	assert_int_equal(group->count, 8);
	assert_string_equal(group->values[0].counter->metric, "plane_data_transmitted_bytes");
	assert_string_equal(group->values[0].counter->label, "plane");
	assert_string_equal(group->values[0].counter->instance, "1");
	assert_int_equal(group->values[0].value.number, 10);
	assert_string_equal(group->values[1].counter->instance, "2");
	assert_int_equal(group->values[1].value.number, 20);
}

/* Old kernels have none, a driver may lack some, and an SMI device may go without its parent. */
static void test_planes_may_be_missing(void **state)
{
	struct fixture *fixture = *state;

	set_planes(fixture);
	assert_int_equal(collect(fixture, RNA_COLLECTOR_COUNTERS), 0);
	assert_int_equal(counters_of(fixture)->group_count, 1);

	drop_reader(fixture, 100);
	add_plane(fixture, "2", "20\n");
	assert_int_equal(collect(fixture, RNA_COLLECTOR_COUNTERS), 0);
	assert_int_equal(counters_of(fixture)->groups[1].count, 4);
	assert_string_equal(counters_of(fixture)->groups[1].values[0].counter->instance, "2");

	tree_remove(&fixture->tree, "smi");
	(void)collect(fixture, RNA_COLLECTOR_COUNTERS); /* may notice it, and starts again then */
	assert_int_equal(collect(fixture, RNA_COLLECTOR_COUNTERS), 0);
	assert_int_equal(counters_of(fixture)->groups[0].values[0].value.state, RNA_VALUE_OK);
	assert_int_equal(rna_part_error_count(fixture->part), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_every_file_becomes_a_value, setup, teardown),
		cmocka_unit_test_setup_teardown(test_places_of_hw_counters, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_driver_without_counters_is_fine, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_one_bad_file_costs_one_value, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_bad_directory_costs_its_files, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_nothing_but_bad_directories_is_a_failure,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_saturation, setup, teardown),
		cmocka_unit_test_setup_teardown(test_saturated_from_the_start, setup, teardown),
		cmocka_unit_test_setup_teardown(test_traffic_of_32_bits_saturates, setup, teardown),
		cmocka_unit_test_setup_teardown(test_transmit_wait_fills_up, setup, teardown),
		cmocka_unit_test_setup_teardown(test_planes_have_the_traffic_of_their_own, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_planes_may_be_missing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_directories_beside_the_usual_ones, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_vanished_device_fails_and_returns, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_wrap_goes_on_in_64_bits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_failures_lose_no_wrap, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_fall_is_a_reset, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_new_registration_is_no_wrap, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_netlink_answers_for_ports, setup_netlink,
						teardown),
		cmocka_unit_test_setup_teardown(test_netlink_is_extended_too, setup_netlink,
						teardown),
		cmocka_unit_test_setup_teardown(test_without_an_answer_files_are_read,
						setup_netlink, teardown),
		cmocka_unit_test_setup_teardown(test_netlink_of_a_new_registration, setup_netlink,
						teardown),
		cmocka_unit_test_setup_teardown(test_state_of_each_port, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_link_of_a_port_is_read_seldom, setup,
						teardown),
	};

	return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}
