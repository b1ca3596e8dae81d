// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "web_state.h"

struct rna_web *rna_web_ref(struct rna_web *web)
{
	if (web)
		atomic_fetch_add(&web->refs, 1);
	return web;
}

struct rna_web *rna_web_unref(struct rna_web *web)
{
	if (!web || atomic_fetch_sub(&web->refs, 1) > 1)
		return NULL;
	(void)rna_tls_free(web->tls);
	(void)rna_arena_free(web->arena);
	free(web);
	return NULL;
}

int rna_web_new(const struct rna_web_options *options, struct rna_arena *arena,
		struct rna_web **ret, struct rna_error *error)
{
	RNA_CLEANUP(rna_web_unref_p) struct rna_web *web = calloc(1, sizeof(*web));
	int status;

	if (!web) {
		(void)rna_arena_free(arena);
		return rna_error_set(error, -ENOMEM, "cannot use the web configuration");
	}
	*web = (struct rna_web){.refs = 1, .arena = arena, .options = *options};
	if (options->tls) {
		status = rna_tls_new(&web->options, &web->tls, error);
		if (status < 0)
			return status;
	}
	*ret = RNA_TAKE(web);
	return 0;
}

const struct rna_web_options *rna_web_options(const struct rna_web *web)
{
	return &web->options;
}

rna_usec rna_web_certificate_end(const struct rna_web *web)
{
	return web->tls ? rna_tls_certificate_end(web->tls) : 0;
}

/* "$2y$10$" and 53 characters. $2x$ is for hashes of a program that made them wrongly. */
int rna_web_hash_cost(const char *hash)
{
	static const char alphabet[] =
		"./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
	enum { HEAD = 7, ALL = 60, COST_LEAST = 4, COST_MOST = 31 };
	int cost;

	if (strlen(hash) != ALL || strncmp(hash, "$2", 2) != 0 || !strchr("aby", hash[2]) ||
	    hash[3] != '$' || hash[6] != '$' || strspn(hash + HEAD, alphabet) != ALL - HEAD)
		return -EINVAL;
	if (hash[4] < '0' || hash[4] > '3' || hash[5] < '0' || hash[5] > '9')
		return -EINVAL;
	cost = 10 * (hash[4] - '0') + hash[5] - '0';
	return cost >= COST_LEAST && cost <= COST_MOST ? cost : -EINVAL;
}
