// SPDX-License-Identifier: Apache-2.0
/* collectors/processes/pod_resources: the checkpoint of the kubelet, in both of its forms, and
 * damaged. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/collector.h"
#include "rna/model/users.h"

#include "tree.h"

#define CHECKPOINT "var/lib/kubelet/device-plugins/kubelet_internal_checkpoint"
#define ENTRY(uid, ids)                                                                            \
	"{\"PodUID\":\"" uid                                                                       \
	"\",\"ContainerName\":\"c\",\"ResourceName\":\"a/b\",\"DeviceIDs\":" ids "}"
#define DATA(entries) "{\"Data\":{\"PodDeviceEntries\":[" entries "]}}"

/* Reads text; the pod x has the function 0000:3b:00.2 or not. Returns the status. */
static int read_text(const char *text, bool has)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(0);
	struct rna_pod_resources resources;
	const struct rna_pod_resource *found;
	struct tree tree;
	int status;

	tree_init(&tree);
	if (text)
		tree_write(&tree, CHECKPOINT, text);
	status = rna_read_pod_resources(tree.root, arena, &resources);
	found = rna_pod_resource_find(&resources, "x", "0000:3b:00.2");
	if (has) {
		assert_non_null(found);
		assert_string_equal(found->resource, "a/b");
		assert_string_equal(found->container, "c");
	} else {
		assert_null(found);
	}
	assert_null(rna_pod_resource_find(&resources, NULL, "0000:3b:00.2"));
	assert_null(rna_pod_resource_find(&resources, "x", NULL));
	tree_deinit(&tree);
	return status;
}

static void test_forms(void **state)
{
	(void)state;
	assert_int_equal(read_text(DATA(ENTRY("y", "[\"0000:3b:00.2\"]") "," ENTRY(
					   "x", "{\"0\":[\"1\"],\"-1\":[\"0000:3b:00.2\"]}")),
				   true),
			 0);
	assert_int_equal(read_text(DATA(ENTRY("x", "[\"0000:3b:00.2\"]")), true), 0);
}

/* What another pod has, or another number of the plugin, is not taken for it. */
static void test_others(void **state)
{
	(void)state;
	assert_int_equal(read_text(DATA(ENTRY("y", "[\"0000:3b:00.2\"]")), false), 0);
	assert_int_equal(read_text(DATA(ENTRY("x", "{\"0\":[\"0000:3b:00.20\"]}")), false), 0);
	assert_int_equal(read_text(DATA(""), false), 0);
}

static void test_damage(void **state)
{
	static const char *const empty[] = {"[]",
					    "{}",
					    "{\"Data\":[]}",
					    DATA("1,[],{}"),
					    DATA("{\"PodUID\":1,\"DeviceIDs\":{\"0\":7}}"),
					    DATA(ENTRY("x", "{\"0\":{\"0000:3b:00.2\":1}}"))};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(empty); i++)
		assert_int_equal(read_text(empty[i], false), 0);
	assert_int_equal(read_text("{\"Data\":", false), -EBADMSG);
	assert_int_equal(read_text("", false), -EBADMSG);
	assert_int_equal(read_text(NULL, false), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests_name("pod_resources", tests, NULL, NULL);
}
