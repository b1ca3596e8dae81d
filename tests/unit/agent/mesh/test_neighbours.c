// SPDX-License-Identifier: Apache-2.0
/* agent/mesh, neighbours: who probes whom, computed by each node for itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "mesh/neighbours.h"

enum { NODES = 256, LEAVES = 8 };

static char names[NODES + 1][16];
static char leaves[LEAVES][16];
static struct rna_member list[NODES + 1];

/* count nodes, in blocks on leaves. */
static struct rna_members make(size_t count, size_t per_leaf)
{
	for (size_t i = 0; i < count; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "node%03zu", i);
		list[i] = (struct rna_member){.name = names[i], .address = names[i], .leaf = ""};
		if (per_leaf > 0) {
			size_t leaf = i / per_leaf % LEAVES;

			(void)snprintf(leaves[leaf], sizeof(leaves[leaf]), "leaf%zu", leaf);
			list[i].leaf = leaves[leaf];
		}
	}
	return (struct rna_members){count, list};
}

static struct rna_neighbours neighbours_of(const struct rna_members *members, size_t node)
{
	struct rna_neighbours ret;

	assert_int_equal(rna_neighbours_choose(members, members->members[node].name,
					       members->members[node].leaf, 3, &ret),
			 0);
	return ret;
}

static void test_each_is_probed_by_as_many_as_it_probes(void **state)
{
	struct rna_members members = make(NODES, NODES / LEAVES);
	unsigned near[NODES] = {0}, far[NODES] = {0};

	(void)state;
	for (size_t i = 0; i < NODES; i++) {
		struct rna_neighbours own = neighbours_of(&members, i);

		assert_int_equal(own.count, 6);
		assert_int_equal(own.on_leaf, 3);
		for (size_t k = 0; k < own.count; k++) {
			size_t other = own.members[k];
			bool same = strcmp(list[other].leaf, list[i].leaf) == 0;

			assert_int_not_equal(other, i);
			assert_int_equal(same, k < 3);
			(k < 3 ? near : far)[other]++;
		}
	}
	for (size_t i = 0; i < NODES; i++) {
		assert_int_equal(near[i], 3);
		/* The rings of the others lack different nodes, so that this is equal on average.
		 */
		assert_in_range(far[i], 0, 9);
	}
}

/*
 * Members by DNS or Kubernetes: each node asks along the ring until it knows enough. Its neighbours
 * on the leaf are then those that it has with a list of all leaves.
 */
static void test_what_peers_tell_makes_the_same_choice(void **state)
{
	enum { ASKED_MAX = NODES * 3 / 4 };
	struct rna_members members = make(NODES, NODES / LEAVES);
	char told[NODES][16];
	struct rna_neighbours all, own;
	size_t most = 0;

	(void)state;
	for (size_t i = 0; i < NODES; i++)
		(void)snprintf(told[i], sizeof(told[i]), "%s", list[i].leaf);
	for (size_t node = 0; node < NODES; node += 5) {
		size_t *ring = NULL, asked = 0;
		struct rna_member *next;
		int count;

		members = make(NODES, NODES / LEAVES);
		all = neighbours_of(&members, node);
		members = make(NODES, 0);
		count = rna_ring_order(&members, names[node], &ring);
		assert_int_equal(count, NODES - 1);
		while ((next = rna_neighbours_unknown(&members, ring, (size_t)count, told[node], 3,
						      asked + 1))) {
			next->claims = strcmp(told[next - list], told[node]) == 0;
			next->ask_at = 1000;
			assert_in_range(++asked, 1, ASKED_MAX);
		}
		free(ring);
		most = asked > most ? asked : most;
		assert_int_equal(rna_neighbours_choose(&members, names[node], told[node], 3, &own),
				 0);
		assert_int_equal(own.on_leaf, 3);
		assert_memory_equal(own.members, all.members, 3 * sizeof(own.members[0]));
		assert_int_equal(own.count, 6);
	}
	assert_true(most > 3); /* they had to ask others as well */
}

static void test_who_is_asked_for_its_leaf(void **state)
{
	struct rna_members members = make(3, 0);
	const size_t ring[] = {1, 2};

	(void)state;
	assert_ptr_equal(rna_neighbours_unknown(&members, ring, 2, "a", 3, 5), &list[1]);
	list[1].ask_at = 6; /* later */
	assert_ptr_equal(rna_neighbours_unknown(&members, ring, 2, "a", 3, 5), &list[2]);
	list[2].leaf = "b"; /* by the list */
	assert_null(rna_neighbours_unknown(&members, ring, 2, "a", 3, 5));
	assert_ptr_equal(rna_neighbours_unknown(&members, ring, 2, "a", 3, 6), &list[1]);
	assert_null(rna_neighbours_unknown(&members, ring, 2, "a", 0, 6));
}

static void test_unknown_leaves_are_elsewhere(void **state)
{
	struct rna_members members = make(100, 0);
	unsigned probed[NODES] = {0};

	(void)state;
	for (size_t i = 0; i < 100; i++) {
		struct rna_neighbours own = neighbours_of(&members, i);

		assert_int_equal(own.on_leaf, 0);
		assert_int_equal(own.count, 3);
		for (size_t k = 0; k < own.count; k++)
			probed[own.members[k]]++;
	}
	for (size_t i = 0; i < 100; i++)
		assert_in_range(probed[i], 2, 4);
}

static void test_small_meshes(void **state)
{
	struct rna_members members = make(1, 0);
	struct rna_neighbours own = neighbours_of(&members, 0);

	(void)state;
	assert_int_equal(own.count, 0);
	members = make(2, 0);
	own = neighbours_of(&members, 0);
	assert_int_equal(own.count, 1);
	assert_int_equal(own.members[0], 1);
	members = make(3, 3);
	own = neighbours_of(&members, 1);
	assert_int_equal(own.count, 2);
	assert_int_equal(own.on_leaf, 2);
	members.count = 0;
	assert_int_equal(rna_neighbours_choose(&members, "node", "", 3, &own), 0);
	assert_int_equal(own.count, 0);
}

static void test_small_meshes_of_unknown_leaves(void **state)
{
	(void)state;
	for (size_t nodes = 1; nodes <= 4; nodes++) {
		struct rna_members members = make(nodes, 0);

		for (size_t i = 0; i < nodes; i++)
			assert_int_equal(neighbours_of(&members, i).count, nodes - 1);
	}
}

static void test_a_node_that_is_not_listed(void **state)
{
	struct rna_members members = make(50, 25);
	struct rna_neighbours own;

	(void)state;
	assert_int_equal(rna_neighbours_choose(&members, "visitor", "leaf1", 3, &own), 0);
	assert_int_equal(own.count, 6);
	assert_int_equal(own.on_leaf, 3);
	assert_int_equal(rna_neighbours_choose(&members, "visitor", "leaf1", 99, &own), 0);
	assert_int_equal(own.count, 6);
	assert_int_equal(rna_neighbours_choose(&members, "visitor", "leaf1", 0, &own), 0);
	assert_int_equal(own.count, 0);
}

static void test_a_new_member_changes_few_near_neighbours(void **state)
{
	struct rna_members members = make(NODES, NODES);
	struct rna_neighbours before[NODES];
	unsigned moved = 0;

	(void)state;
	for (size_t i = 0; i < NODES; i++)
		before[i] = neighbours_of(&members, i);
	members = make(NODES + 1, NODES + 1); /* all are on one leaf */
	for (size_t i = 0; i < NODES; i++) {
		struct rna_neighbours after = neighbours_of(&members, i);

		moved += memcmp(&after, &before[i], sizeof(after)) != 0;
	}
	assert_int_equal(moved, 3);
}

static void test_places_do_not_change(void **state)
{
	(void)state; /* nodes of different versions have to agree: values by Python */
	assert_true(rna_ring_place("") == 0xf52a15e9a9b5e89b);
	assert_true(rna_ring_place("node1") == 0x831d1f0da406fb96);
	assert_true(rna_ring_place("\xc3\xa4") == 0xe60a42a18e381bcd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_is_probed_by_as_many_as_it_probes),
		cmocka_unit_test(test_what_peers_tell_makes_the_same_choice),
		cmocka_unit_test(test_who_is_asked_for_its_leaf),
		cmocka_unit_test(test_unknown_leaves_are_elsewhere),
		cmocka_unit_test(test_small_meshes),
		cmocka_unit_test(test_small_meshes_of_unknown_leaves),
		cmocka_unit_test(test_a_node_that_is_not_listed),
		cmocka_unit_test(test_a_new_member_changes_few_near_neighbours),
		cmocka_unit_test(test_places_do_not_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
