// SPDX-License-Identifier: Apache-2.0
/* The options of a requested self-test, parsed. */
#include <errno.h>
#include <limits.h>

#include "rna/base/duration.h"
#include "rna/base/parse.h"

#include "run.h"

enum { MEMORY_NODES_MAX = 1024, SIZE_LEAST = 64, SIZE_MOST = 8 << 20 };

#define DURATION_MOST (60 * RNA_USEC_PER_SEC)

const char *const rna_wish_keys[RNA_WISH_COUNT] = {
	[RNA_WISH_DEVICE] = "device", [RNA_WISH_GPU] = "gpu", [RNA_WISH_NUMA] = "numa",
	[RNA_WISH_SIZE] = "size",     [RNA_WISH_QPS] = "qps", [RNA_WISH_DURATION] = "duration",
	[RNA_WISH_FORCE] = "force",
};

static int take_number(const char *const *values, enum rna_wish_key key, unsigned least,
		       unsigned most, unsigned *ret, struct rna_error *error)
{
	uint64_t number;

	if (!values[key])
		return 0;
	if (rna_parse_u64(values[key], &number) < 0 || number < least || number > most)
		return rna_error_say(error, -EINVAL, "--%s: \"%s\" is not a number from %u to %u",
				     rna_wish_keys[key], values[key], least, most);
	*ret = (unsigned)number;
	return 0;
}

static int take_duration(const char *text, rna_usec *ret, struct rna_error *error)
{
	if (!text)
		return 0;
	if (rna_duration_parse(text, ret) < 0 || *ret == 0 || *ret > DURATION_MOST)
		return rna_error_say(error, -EINVAL,
				     "--duration: \"%s\" is not a duration up to 1m, such as 500ms",
				     text);
	return 0;
}

int rna_selftest_wish_parse(const char *const values[RNA_WISH_COUNT], struct rna_selftest_wish *ret,
			    struct rna_error *error)
{
	unsigned node = UINT_MAX;
	int status;

	*ret = (struct rna_selftest_wish){
		.device = values[RNA_WISH_DEVICE],
		.gpu = values[RNA_WISH_GPU],
		.force = values[RNA_WISH_FORCE],
	};
	status = take_number(values, RNA_WISH_NUMA, 0, MEMORY_NODES_MAX - 1, &node, error);
	if (status == 0)
		status = take_number(values, RNA_WISH_SIZE, SIZE_LEAST, SIZE_MOST, &ret->size,
				     error);
	if (status == 0)
		status = take_number(values, RNA_WISH_QPS, 1, RNA_LOOPBACK_QPS_MAX, &ret->qps,
				     error);
	if (status == 0)
		status = take_duration(values[RNA_WISH_DURATION], &ret->duration, error);
	ret->numa_node = node == UINT_MAX ? -1 : (int)node;
	return status;
}
