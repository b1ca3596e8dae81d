// SPDX-License-Identifier: Apache-2.0
/* collectors/processes/device_users: who has a device open, by its contexts and a tree of files. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "rna/base/strbuf.h"

#include "processes/device_users.h"

#include "tree.h"

#define UID "0a1b2c3d-0000-4000-8000-00000000beef"
#define ID  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

struct node {
	struct tree tree;
	struct rna_context_list contexts;
	struct rna_users before, users;
};

static void node_init(struct node *node)
{
	*node = (struct node){.contexts.arena = rna_arena_new(1024)};
	assert_non_null(node->contexts.arena);
	node->contexts.items = rna_arena_array(node->contexts.arena, RNA_CONTEXTS_MAX,
					       sizeof(*node->contexts.items));
	assert_non_null(node->contexts.items);
	tree_init(&node->tree);
}

static void node_deinit(struct node *node)
{
	tree_deinit(&node->tree);
	node->contexts.arena = rna_arena_free(node->contexts.arena);
}

/* A process that has the device open so often; no group: it has ended. */
static void add_process(struct node *node, uint32_t pid, unsigned contexts, const char *cgroup)
{
	char path[64];

	for (unsigned i = 0; i < contexts; i++, node->contexts.count++)
		node->contexts.items[node->contexts.count] = (struct rna_context){
			.number = (uint32_t)node->contexts.count,
			.pid = pid,
		};
	(void)snprintf(path, sizeof(path), "proc/%u/cgroup", pid);
	if (cgroup)
		tree_write(&node->tree, path, cgroup);
}

/* The users, in words; those of the last call were known before. */
static char *find_users(struct node *node)
{
	struct rna_context_list contexts = node->contexts;
	struct rna_strbuf text = RNA_STRBUF_INIT;

	contexts.items = rna_arena_array(contexts.arena, contexts.count, sizeof(*contexts.items));
	assert_non_null(contexts.items);
	memcpy(contexts.items, node->contexts.items, contexts.count * sizeof(*contexts.items));
	node->before = node->users;
	assert_int_equal(rna_find_users(node->tree.root, &contexts, &node->before, &node->users),
			 0);
	for (size_t i = 0; i < node->users.count; i++) {
		rna_user_describe(&node->users.items[i], &text);
		rna_strbuf_printf(&text, " %ju\n", (uintmax_t)node->users.items[i].contexts);
	}
	rna_strbuf_printf(&text, "others %ju, unnamed %ju, hidden %ju",
			  (uintmax_t)node->users.unnamed[RNA_UNNAMED_OTHERS],
			  (uintmax_t)node->users.unnamed[RNA_UNNAMED_GROUP],
			  (uintmax_t)node->users.unnamed[RNA_UNNAMED_HIDDEN]);
	assert_true(rna_strbuf_ok(&text));
	return rna_strbuf_take(&text);
}

static void test_one_of_each(void **state)
{
	RNA_CLEANUP(node_deinit) struct node node;
	RNA_FREE char *text = NULL;

	(void)state;
	node_init(&node);
	add_process(&node, 10, 2, "0::/kubepods/pod" UID "/" ID "\n");
	add_process(&node, 11, 1, "0::/kubepods/pod" UID "/" ID "\n");
	add_process(&node, 12, 1, "0::/system.slice/slurmstepd.scope/job_4711/step_0\n");
	tree_write(&node.tree, "proc/12/status", "Name:\tnccl\nUid:\t1000\t1000\t1000\t1000\n");
	add_process(&node, 13, 1, "0::/system.slice/nvmet.service\n");
	add_process(&node, 14, 1, "0::/\n");
	add_process(&node, 15, 1, NULL);
	add_process(&node, 0, 3, NULL);
	tree_write(&node.tree, "var/log/containers/train-0_default_worker-" ID ".log", "");
	tree_write(&node.tree, "var/log/pods/default_train-0_" UID "/worker/0.log", "");
	text = find_users(&node);
	assert_string_equal(text, "pod default/train-0 (worker) 3\n"
				  "Slurm job 4711 of user 1000 1\n"
				  "nvmet.service 1\n"
				  "others 0, unnamed 2, hidden 3");
	assert_string_equal(node.users.items[0].pod_uid, UID);
	assert_string_equal(node.users.items[0].container_id, ID);
}

/* The kubelet's links come some time after a container, and only root may list those of pods. */
static void test_names_that_come_later(void **state)
{
	RNA_CLEANUP(node_deinit) struct node node;
	RNA_FREE char *first = NULL, *second = NULL, *third = NULL;

	(void)state;
	node_init(&node);
	add_process(&node, 10, 1, "0::/kubepods/pod" UID "/" ID "\n");
	first = find_users(&node);
	assert_string_equal(first, "pod with UID " UID " (0123456789ab) 1\n"
				   "others 0, unnamed 0, hidden 0");
	tree_write(&node.tree, "var/log/pods/default_train-0_" UID "/worker/0.log", "");
	second = find_users(&node);
	assert_string_equal(second, "pod default/train-0 (0123456789ab) 1\n"
				    "others 0, unnamed 0, hidden 0");
	tree_remove(&node.tree, "var/log/pods");
	tree_write(&node.tree, "var/log/containers/train-0_default_worker-" ID ".log", "");
	tree_remove(&node.tree, "proc/10");
	third = find_users(&node); /* what is known is not asked again */
	assert_string_equal(third, second);
}

/* Of the same PID, but another context: another process. */
static void test_a_context_that_is_new(void **state)
{
	RNA_CLEANUP(node_deinit) struct node node;
	RNA_FREE char *old = NULL, *same = NULL, *new = NULL;

	(void)state;
	node_init(&node);
	add_process(&node, 10, 1, "0::/system.slice/old.service\n");
	old = find_users(&node);
	assert_string_equal(old, "old.service 1\nothers 0, unnamed 0, hidden 0");
	tree_write(&node.tree, "proc/10/cgroup", "0::/system.slice/new.service\n");
	same = find_users(&node);
	assert_string_equal(same, old);
	node.contexts.items[0].number++;
	new = find_users(&node);
	assert_string_equal(new, "new.service 1\nothers 0, unnamed 0, hidden 0");
}

static void test_the_agent_is_no_user(void **state)
{
	RNA_CLEANUP(node_deinit) struct node node;
	RNA_FREE char *text = NULL;

	(void)state;
	node_init(&node);
	add_process(&node, 10, 2, "0::/system.slice/rdma-node-agent.service\n");
	node.contexts.items[0].own = node.contexts.items[1].own = true;
	text = find_users(&node);
	assert_string_equal(text, "others 0, unnamed 0, hidden 0");
}

/* Two containers of the same name are one user: no two series have the same labels. */
static void test_a_container_that_was_replaced(void **state)
{
	static const char other[] =
		"ffff456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	RNA_CLEANUP(node_deinit) struct node node;
	char text[256];
	RNA_FREE char *found = NULL;

	(void)state;
	node_init(&node);
	add_process(&node, 10, 1, "0::/kubepods/pod" UID "/" ID "\n");
	(void)snprintf(text, sizeof(text), "0::/kubepods/pod" UID "/%s\n", other);
	add_process(&node, 11, 1, text);
	tree_write(&node.tree, "var/log/containers/train-0_default_worker-" ID ".log", "");
	(void)snprintf(text, sizeof(text), "var/log/containers/train-0_default_worker-%s.log",
		       other);
	tree_write(&node.tree, text, "");
	found = find_users(&node);
	assert_string_equal(found, "pod default/train-0 (worker) 2\n"
				   "others 0, unnamed 0, hidden 0");
}

static void test_names_that_are_broken(void **state)
{
	RNA_CLEANUP(node_deinit) struct node node;
	RNA_FREE char *text = NULL;

	(void)state;
	node_init(&node);
	add_process(&node, 10, 1, "0::/kubepods/pod" UID "/" ID "\n");
	tree_write(&node.tree, "var/log/containers/-" ID ".log", "");
	tree_write(&node.tree, "var/log/containers/a_b-" ID ".log", "");
	tree_write(&node.tree, "var/log/pods/_" UID, "");
	tree_write(&node.tree, "var/log/pods/a_" UID, "");
	text = find_users(&node);
	assert_string_equal(text, "pod with UID " UID " (0123456789ab) 1\n"
				  "others 0, unnamed 0, hidden 0");
}

static void test_many(void **state)
{
	enum { UNITS = RNA_USERS_MAX + 3 };
	RNA_CLEANUP(node_deinit) struct node node;
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	RNA_FREE char *found = NULL;
	char cgroup[64];

	(void)state;
	node_init(&node);
	for (unsigned i = 0; i < UNITS; i++) {
		(void)snprintf(cgroup, sizeof(cgroup), "0::/system.slice/u%02u.service\n", i);
		add_process(&node, 100 + i, 2, cgroup);
	}
	found = find_users(&node);
	assert_int_equal(node.users.count, RNA_USERS_MAX);
	assert_int_equal(node.users.unnamed[RNA_UNNAMED_OTHERS], 3 * 2);
	rna_users_describe(&node.users, &text);
	assert_string_equal(text.data, "u00.service and 31 others");
}

/* Of a pod it is the pod, and of others what they are; what the holder has open, is not known. */
static void test_who_holds_a_namespace(void **state)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct rna_users users;
	struct node node;

	(void)state;
	node_init(&node);
	add_process(&node, 10, 0, "0::/kubepods/pod" UID "/" ID "\n");
	tree_mkdir(&node.tree, "var/log/pods/default_train-0_" UID);
	add_process(&node, 11, 0, "0::/system.slice/netns.service\n");
	add_process(&node, 12, 0, "0::/\n");
	assert_int_equal(rna_find_holder(node.tree.root, 10, node.contexts.arena, &users), 0);
	assert_true(users.given);
	assert_int_equal(users.count, 1);
	assert_int_equal(users.items[0].contexts, 0);
	rna_users_describe(&users, &text);
	assert_string_equal(text.data, "pod default/train-0");
	assert_string_equal(rna_users_relation(&users), "given to");
	assert_int_equal(rna_find_holder(node.tree.root, 11, node.contexts.arena, &users), 0);
	assert_string_equal(users.items[0].unit, "netns.service");
	assert_int_equal(rna_find_holder(node.tree.root, 12, node.contexts.arena, &users), 0);
	assert_int_equal(users.count, 0);
	node_deinit(&node);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_of_each),
		cmocka_unit_test(test_names_that_come_later),
		cmocka_unit_test(test_a_context_that_is_new),
		cmocka_unit_test(test_the_agent_is_no_user),
		cmocka_unit_test(test_a_container_that_was_replaced),
		cmocka_unit_test(test_names_that_are_broken),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_who_holds_a_namespace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
