/* SPDX-License-Identifier: Apache-2.0 */
/* A device of two ports on a small tree, whose counters are collected run after run. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "rna/model/counter.h"
#include "rna/model/device.h"

#include "collectors.h"
#include "tree.h"

static const unsigned fixture_ports[] = {1, 2};

static const struct rna_device fixture_device = {
	.key = "0000:3b:00.0",
	.name = "mlx5_0",
	.sysfs_path = "dev",
	.port_count = 2,
	.ports = fixture_ports,
};

struct fixture {
	struct tree tree;
	struct rna_reader *reader;
	const struct rna_backends *backends;
	struct rna_collect_options options;
	const struct rna_device *device; /* NULL: fixture_device */
	struct rna_part *part;           /* newest good one, for the next run the one before */
};

static inline int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	tree_init(&fixture->tree);
	tree_mkdir(&fixture->tree, "dev/ports/1");
	tree_mkdir(&fixture->tree, "dev/ports/2");
	fixture->reader = rna_reader_new(fixture->tree.root, 100);
	*state = fixture;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *fixture = *state;

	(void)rna_part_unref(fixture->part);
	(void)rna_reader_free(fixture->reader);
	tree_deinit(&fixture->tree);
	free(fixture);
	return 0;
}

/* A reader is dropped at any time. */
static inline void drop_reader(struct fixture *fixture, unsigned descriptors)
{
	(void)rna_reader_free(fixture->reader);
	fixture->reader = rna_reader_new(fixture->tree.root, descriptors);
}

static inline int collect(struct fixture *fixture, enum rna_collector_id id)
{
	bool same = fixture->part && fixture->part->collector == id;
	const struct rna_collect_input in = {
		.root = fixture->tree.root,
		.backends = fixture->backends,
		.device = fixture->device ? fixture->device : &fixture_device,
		.reader = fixture->reader,
		.previous = same ? fixture->part : NULL,
		.options = fixture->options,
		.period = 1, /* microsecond: pauses are over at once */
	};
	struct rna_part *part = NULL;
	struct rna_error error;
	int ret = rna_collectors[id].collect(&in, &part, &error);

	if (ret < 0) {
		assert_null(part);
		return ret;
	}
	(void)rna_part_unref(fixture->part);
	fixture->part = part;
	return ret;
}

static inline const struct rna_counters_part *counters_of(const struct fixture *fixture)
{
	return (const void *)fixture->part;
}
