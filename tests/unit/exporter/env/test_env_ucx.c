// SPDX-License-Identifier: Apache-2.0
/* exporter/env/env_ucx.c: the GID that UCX selects of a RoCE port, and the table of dialects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "env/dialect.h"

#define IPV4(last)                                                                                 \
	{                                                                                          \
		{                                                                                  \
			[10] = 0xff, 0xff, 10, 0, 0, (last)                                        \
		}                                                                                  \
	}
#define LINK_LOCAL                                                                                 \
	{                                                                                          \
		{                                                                                  \
			0xfe, 0x80, [15] = 1                                                       \
		}                                                                                  \
	}
#define GLOBAL                                                                                     \
	{                                                                                          \
		{                                                                                  \
			0x20, 0x01, [15] = 1                                                       \
		}                                                                                  \
	}
#define V1 RNA_GID_TYPE_ROCE_V1
#define V2 RNA_GID_TYPE_ROCE_V2

enum { ENTRIES_MAX = 6 };

static void test_the_gid_of_ucx(void **state)
{
	static const struct {
		const char *name;
		int given; /* UCX_IB_GID_INDEX; below 0: not set */
		size_t count;
		struct rna_gid_entry entries[ENTRIES_MAX];
		unsigned index;
		bool empty; /* there is no entry at that index */
	} cases[] = {
		{"IPv4 of RoCE v2, though it is behind IPv6",
		 -1,
		 6,
		 {{0, LINK_LOCAL, V1, NULL},
		  {1, LINK_LOCAL, V2, NULL},
		  {2, GLOBAL, V1, NULL},
		  {3, GLOBAL, V2, NULL},
		  {4, IPV4(1), V1, NULL},
		  {5, IPV4(1), V2, NULL}},
		 5,
		 false},
		{"the first of several",
		 -1,
		 3,
		 {{0, LINK_LOCAL, V1, NULL}, {3, IPV4(1), V2, NULL}, {5, IPV4(2), V2, NULL}},
		 3,
		 false},
		{"without IPv4 the first IPv6, link-local as it is",
		 -1,
		 3,
		 {{0, LINK_LOCAL, V1, NULL}, {1, LINK_LOCAL, V2, NULL}, {3, GLOBAL, V2, NULL}},
		 1,
		 false},
		{"RoCE v2 before v1",
		 -1,
		 3,
		 {{0, LINK_LOCAL, V1, NULL}, {2, IPV4(1), V1, NULL}, {3, GLOBAL, V2, NULL}},
		 3,
		 false},
		{"RoCE v1 alone: IPv4 first",
		 -1,
		 2,
		 {{0, LINK_LOCAL, V1, NULL}, {2, IPV4(1), V1, NULL}},
		 2,
		 false},
		{"no type is known: the first", -1, 1, {{.index = 0, .gid = IPV4(1)}}, 0, false},
		{"an empty index 0: the port is passed over",
		 -1,
		 1,
		 {{3, IPV4(1), V2, NULL}},
		 0,
		 true},
		{"... unless an index is given", 3, 1, {{3, IPV4(1), V2, NULL}}, 3, false},
		{"a given index, whatever is there",
		 4,
		 2,
		 {{0, LINK_LOCAL, V1, NULL}, {3, IPV4(1), V2, NULL}},
		 4,
		 true},
		{"no entry at all", -1, 0, {{0}}, 0, true},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		const struct rna_port_gids gids = {.count = cases[i].count,
						   .entries = cases[i].entries};
		struct rna_nccl_settings settings = RNA_NCCL_STANDARD;
		const struct rna_gid_entry *entry;
		unsigned index = 99;

		settings.gid_index = cases[i].given;
		entry = rna_env_ucx_select(&gids, &settings, &index);
		if (index != cases[i].index || !entry != cases[i].empty ||
		    (entry && entry->index != index))
			fail_msg("%s: index %u", cases[i].name, index);
	}
}

/* The table is in the order of the names, and no row lacks what all libraries have. */
static void test_dialects(void **state)
{
	static const struct {
		const char *name, *title, *list, *index;
	} rows[RNA_ENV_LIBRARY_COUNT] = {
		[RNA_ENV_NCCL] = {"nccl", "NCCL", "NCCL_IB_HCA", "NCCL_IB_GID_INDEX"},
		[RNA_ENV_RCCL] = {"rccl", "RCCL", "NCCL_IB_HCA", "NCCL_IB_GID_INDEX"},
		[RNA_ENV_UCX] = {"ucx", "UCX", "UCX_NET_DEVICES", "UCX_IB_GID_INDEX"},
		[RNA_ENV_NVSHMEM] = {"nvshmem", "NVSHMEM", "NVSHMEM_HCA_LIST",
				     "NVSHMEM_IB_GID_INDEX"},
		[RNA_ENV_NIXL] = {"nixl", "NIXL", "UCX_NET_DEVICES", "UCX_IB_GID_INDEX"},
		[RNA_ENV_OPENMPI] = {"openmpi", "Open MPI", "UCX_NET_DEVICES", "UCX_IB_GID_INDEX"},
		[RNA_ENV_MOONCAKE] = {"mooncake", "Mooncake", "MC_MS_FILTERS", "MC_GID_INDEX"},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(rows); i++) {
		const struct rna_env_dialect *dialect = &rna_env_dialects[i];

		assert_string_equal(rna_env_names[i], rows[i].name);
		assert_string_equal(dialect->words.title, rows[i].title);
		assert_string_equal(dialect->words.list, rows[i].list);
		assert_string_equal(dialect->gids.index, rows[i].index);
		assert_non_null(strchr(dialect->words.reserved, ','));
		assert_non_null(dialect->words.no_verbs);
		assert_non_null(dialect->words.other_layer);
		assert_true(dialect->ports_max > 0);
		assert_non_null(dialect->gids.title);
		assert_non_null(dialect->gids.select);
		assert_non_null(dialect->qos.title);
		assert_non_null(dialect->qos.traffic_class);
		assert_non_null(dialect->qos.level);
		assert_non_null(dialect->qos.select);
		assert_int_equal(!dialect->sockets, !dialect->sockets_alone);
		assert_non_null(dialect->choose);
		assert_non_null(dialect->source);
		assert_non_null(dialect->apart);
		assert_non_null(dialect->pkey.name);
		assert_non_null(dialect->pkey.alone);
	}
	assert_null(rna_env_names[RNA_ENV_LIBRARY_COUNT]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_gid_of_ucx),
		cmocka_unit_test(test_dialects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
