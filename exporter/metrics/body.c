// SPDX-License-Identifier: Apache-2.0
#include "body.h"

#include <errno.h>

struct rna_body *rna_body_ref(struct rna_body *body)
{
	if (body)
		body->refs++;
	return body;
}

struct rna_body *rna_body_unref(struct rna_body *body)
{
	if (!body || --body->refs > 0)
		return NULL;
	free(body->data);
	free(body);
	return NULL;
}

int rna_body_new(char *data, size_t len, struct rna_body **ret)
{
	RNA_FREE char *owned = data;
	struct rna_body *body;
	char *fitted;

	if (!owned)
		return -ENOMEM;
	body = malloc(sizeof(*body));
	if (!body)
		return -ENOMEM;
	fitted = realloc(owned, len > 0 ? len : 1); /* gives back what was reserved too much */
	if (fitted)
		owned = fitted;
	*body = (struct rna_body){.refs = 1, .len = len, .data = RNA_TAKE(owned)};
	*ret = body;
	return 0;
}

int rna_body_take(struct rna_strbuf *buf, struct rna_body **ret)
{
	size_t len = buf->len;

	return rna_body_new(rna_strbuf_take(buf), len, ret);
}
