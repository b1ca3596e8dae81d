// SPDX-License-Identifier: Apache-2.0
/* Which of the collectors have something to ask of a device, by the real table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/base/parse.h"

#include "loop/targets.h"

#define PF "0000:3b:00.0"

static const struct rna_device kinds[] = {
	[RNA_FUNCTION_PF] = {.pci_address = PF},
	[RNA_FUNCTION_VF] = {.pci_address = "0000:3b:00.2", .physical_function = PF},
	[RNA_FUNCTION_SF] = {.pci_address = PF, .physical_function = PF},
	[RNA_FUNCTION_VIRTUAL] = {.pci_address = NULL},
	[RNA_FUNCTION_SWITCH_MANAGEMENT] = {.pci_address = "0000:0a:00.0"},
};

/* A presence of the devices of these kinds, of which the target is the last. */
static struct rna_target *find_devices(const enum rna_function *functions, size_t count)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	struct rna_presence *presence =
		rna_part_new(RNA_COLLECTOR_PRESENCE, sizeof(*presence), 1024);
	struct rna_device *devices = rna_arena_array(presence->part.arena, count, sizeof(*devices));
	struct rna_target *ret;

	part = &presence->part;
	for (size_t i = 0; i < count; i++) {
		devices[i] = kinds[functions[i]];
		devices[i].name = devices[i].key = "mlx5_0";
		devices[i].function = functions[i];
	}
	presence->devices = devices;
	presence->device_count = count;
	ret = rna_target_new_device(NULL, part, &devices[count - 1], 100);
	assert_non_null(ret);
	return ret;
}

static struct rna_target *find_device(enum rna_function function)
{
	return find_devices(&function, 1);
}

/* layers: of its ports. Returns what it has anew. */
static unsigned identify(struct rna_target *target, const enum rna_link_layer *layers, size_t count)
{
	struct rna_slot *slot = target->slots[RNA_COLLECTOR_IDENTITY];
	struct rna_identity *identity =
		rna_part_new(RNA_COLLECTOR_IDENTITY, sizeof(*identity), 1024);
	struct rna_port_identity *ports =
		rna_arena_array(identity->part.arena, count, sizeof(*ports));
	unsigned new;

	for (size_t i = 0; i < count; i++)
		ports[i] = (struct rna_port_identity){.number = (unsigned)i + 1,
						      .link_layer = layers[i]};
	identity->ports = ports;
	identity->port_count = count;
	(void)rna_part_unref(slot->part);
	slot->part = &identity->part;
	slot->ran = true;
	assert_int_equal(rna_target_choose_collectors(target, &new), 0);
	return new;
}

static unsigned identify_as(struct rna_target *target, enum rna_link_layer layer)
{
	return identify(target, &layer, 1);
}

enum {
	OF_ALL = 1U << RNA_COLLECTOR_STATE | 1U << RNA_COLLECTOR_IDENTITY |
		 1U << RNA_COLLECTOR_LINK | 1U << RNA_COLLECTOR_COUNTERS |
		 1U << RNA_COLLECTOR_HW_COUNTERS | 1U << RNA_COLLECTOR_GIDS |
		 1U << RNA_COLLECTOR_RESOURCES,
	FABRIC = 1U << RNA_COLLECTOR_FABRIC,
	PCIE = 1U << RNA_COLLECTOR_PCIE,
	ETHERNET = 1U << RNA_COLLECTOR_ETHERNET,
	QOS = 1U << RNA_COLLECTOR_QOS,
	VFS = 1U << RNA_COLLECTOR_VIRTUAL_FUNCTIONS,
	MODULE = 1U << RNA_COLLECTOR_MODULE,
};

static void test_each_kind_of_device_has_its_collectors(void **state)
{
	static const struct {
		enum rna_function function;
		unsigned infiniband, ethernet; /* beside those of all */
	} rows[] = {
		{RNA_FUNCTION_PF, FABRIC | PCIE | VFS | ETHERNET,
		 PCIE | VFS | ETHERNET | QOS | MODULE},
		{RNA_FUNCTION_VF, FABRIC | PCIE, PCIE | QOS},
		{RNA_FUNCTION_SF, FABRIC | PCIE, PCIE | QOS},
		{RNA_FUNCTION_VIRTUAL, FABRIC | ETHERNET, ETHERNET | QOS},
		{RNA_FUNCTION_SWITCH_MANAGEMENT, FABRIC | PCIE, PCIE | QOS},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(rows); i++) {
		RNA_CLEANUP(rna_target_free_p)
		struct rna_target *infiniband = find_device(rows[i].function);
		RNA_CLEANUP(rna_target_free_p)
		struct rna_target *ethernet = find_device(rows[i].function);

		(void)identify_as(infiniband, RNA_LINK_LAYER_INFINIBAND);
		assert_int_equal(infiniband->collectors, OF_ALL | rows[i].infiniband);
		(void)identify_as(ethernet, RNA_LINK_LAYER_ETHERNET);
		assert_int_equal(ethernet->collectors, OF_ALL | rows[i].ethernet);
	}
}

/* Those of link layers start after identity was read, and all of them if that failed. */
static void test_what_is_not_known_is_not_guessed(void **state)
{
	RNA_CLEANUP(rna_target_free_p) struct rna_target *target = find_device(RNA_FUNCTION_PF);
	unsigned new;

	(void)state;
	assert_int_equal(target->collectors, OF_ALL | PCIE | VFS | ETHERNET);
	assert_int_equal(rna_target_choose_collectors(target, &new), 0);
	assert_int_equal(new, 0);
	target->slots[RNA_COLLECTOR_IDENTITY]->ran = true; /* and failed */
	assert_int_equal(rna_target_choose_collectors(target, &new), 0);
	assert_int_equal(new, FABRIC | QOS | MODULE);
	assert_int_equal(identify_as(target, RNA_LINK_LAYER_INFINIBAND), 0);
	assert_int_equal(target->collectors, OF_ALL | PCIE | VFS | ETHERNET | FABRIC);
	assert_int_equal(identify_as(target, RNA_LINK_LAYER_UNKNOWN), QOS | MODULE);
	assert_true(target->collectors & FABRIC);
}

static void test_ports_may_differ(void **state)
{
	static const enum rna_link_layer both[] = {RNA_LINK_LAYER_INFINIBAND,
						   RNA_LINK_LAYER_ETHERNET};
	RNA_CLEANUP(rna_target_free_p) struct rna_target *target = find_device(RNA_FUNCTION_PF);

	(void)state;
	assert_int_equal(identify(target, both, 2), FABRIC | QOS | MODULE);
}

static void test_a_link_layer_may_change(void **state)
{
	RNA_CLEANUP(rna_target_free_p) struct rna_target *target = find_device(RNA_FUNCTION_PF);

	(void)state;
	assert_int_equal(identify_as(target, RNA_LINK_LAYER_INFINIBAND), FABRIC);
	rna_slot_count_errors(target->slots[RNA_COLLECTOR_FABRIC], RNA_REASON_IO, 3);
	target->wanted = FABRIC | PCIE;
	assert_int_equal(identify_as(target, RNA_LINK_LAYER_ETHERNET), QOS | MODULE);
	assert_int_equal(target->wanted, PCIE);
	assert_int_equal(identify_as(target, RNA_LINK_LAYER_INFINIBAND), FABRIC);
	assert_int_equal(target->slots[RNA_COLLECTOR_FABRIC]->errors[RNA_REASON_IO], 3);
}

/* No other device has the path if the physical function has another driver, or is filtered. */
static void test_a_path_is_read_once(void **state)
{
	static const enum rna_function beside[] = {RNA_FUNCTION_PF, RNA_FUNCTION_VF};
	static const enum rna_function below[] = {RNA_FUNCTION_PF, RNA_FUNCTION_SF};
	static const enum rna_function alone[] = {RNA_FUNCTION_VF, RNA_FUNCTION_VF};
	RNA_CLEANUP(rna_target_free_p) struct rna_target *vf = find_devices(beside, 2);
	RNA_CLEANUP(rna_target_free_p) struct rna_target *sf = find_devices(below, 2);
	RNA_CLEANUP(rna_target_free_p) struct rna_target *one = find_devices(alone, 2);
	struct rna_device lost = kinds[RNA_FUNCTION_VF];
	unsigned new;

	(void)state;
	assert_false(vf->collectors & PCIE);
	assert_false(sf->collectors & PCIE);
	assert_true(one->collectors & PCIE);
	lost.function = RNA_FUNCTION_VF;
	lost.physical_function = NULL; /* it could not be read whose it is */
	rna_target_move(one, one->presence, &lost);
	assert_int_equal(rna_target_choose_collectors(one, &new), 0);
	assert_false(one->collectors & PCIE);
}

/* What was counted goes on, also with a collector that the new one has only later. */
static void test_what_was_counted_is_inherited(void **state)
{
	RNA_CLEANUP(rna_target_free_p) struct rna_target *before = find_device(RNA_FUNCTION_PF);
	RNA_CLEANUP(rna_target_free_p) struct rna_target *after = find_device(RNA_FUNCTION_PF);
	struct rna_part *part = rna_part_new(RNA_COLLECTOR_FABRIC, sizeof(*part), 0);

	(void)state;
	(void)identify_as(before, RNA_LINK_LAYER_INFINIBAND);
	before->slots[RNA_COLLECTOR_FABRIC]->part = part;
	rna_target_inherit(after, before);
	assert_false(after->collectors & FABRIC);
	assert_int_equal(identify_as(after, RNA_LINK_LAYER_INFINIBAND), FABRIC);
	assert_ptr_equal(after->slots[RNA_COLLECTOR_FABRIC]->inherited, part);
	assert_null(after->slots[RNA_COLLECTOR_FABRIC]->part);
}

static void test_a_small_share_is_of_directories_only(void **state)
{
	(void)state;
	assert_int_equal(rna_target_share(4096, 0), 4096);
	assert_int_equal(rna_target_share(4096, 1), 4096);
	assert_int_equal(rna_target_share(4096, 64), 64);
	assert_int_equal(rna_target_share(4096, 256), 16);
	assert_int_equal(rna_target_share(4096, 257), 2);
	assert_int_equal(rna_target_share(1, 1), 1);
	assert_int_equal(rna_target_share(100, 100), 1);
	assert_int_equal(rna_target_share(0, 8), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_kind_of_device_has_its_collectors),
		cmocka_unit_test(test_what_is_not_known_is_not_guessed),
		cmocka_unit_test(test_ports_may_differ),
		cmocka_unit_test(test_a_link_layer_may_change),
		cmocka_unit_test(test_a_path_is_read_once),
		cmocka_unit_test(test_what_was_counted_is_inherited),
		cmocka_unit_test(test_a_small_share_is_of_directories_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
