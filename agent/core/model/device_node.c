// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/readiness.h"

enum kind { OF_DEVICE, OF_PORT, OTHER };

/* By name, because recordings may lack the port of a file for MADs. */
static enum kind kind_of(const struct rna_device_node *node)
{
	if (!node->device)
		return OTHER;
	return strncmp(node->name, "umad", 4) == 0 ? OF_PORT : OF_DEVICE;
}

int rna_device_node_compare(const struct rna_device_node *a, const struct rna_device_node *b)
{
	enum kind kind = kind_of(a), other = kind_of(b);
	int order = kind == other && kind != OTHER ? rna_compare_names(a->device, b->device) : 0;

	if (kind != other)
		return kind < other ? -1 : 1;
	return order != 0 ? order : (a->port > b->port) - (a->port < b->port);
}

static int compare(const void *wanted, const void *node)
{
	return rna_device_node_compare(wanted, node);
}

const struct rna_device_node *rna_readiness_find_node(const struct rna_readiness *readiness,
						      const char *device, unsigned port)
{
	const struct rna_device_node wanted = {port > 0 ? "umad" : "uverbs", device, port};

	if (!readiness || readiness->node_count == 0)
		return NULL;
	return bsearch(&wanted, readiness->nodes, readiness->node_count, sizeof(wanted), compare);
}
