// SPDX-License-Identifier: Apache-2.0
#include "message.h"

#include <errno.h>

const void *rna_message_body(struct rna_bytes message, int type, size_t size)
{
	const struct nlmsghdr *head = (const void *)message.data;

	return message.len >= sizeof(*head) + size && head->nlmsg_len == message.len &&
			       (type == 0 || head->nlmsg_type == type)
		       ? head + 1
		       : NULL;
}

const void *rna_message_parse(struct rna_bytes message, const struct rna_message_kind *kind,
			      struct nlattr *ret[])
{
	const size_t heads = sizeof(struct nlmsghdr) + kind->body;
	const void *body = rna_message_body(message, kind->type, kind->body);

	return body && rna_attributes_parse(message.data + heads, message.len - heads, kind->policy,
					    kind->max, ret) == 0
		       ? body
		       : NULL;
}

int rna_attributes_parse(const void *first, size_t len, const struct nla_policy *policy, int max,
			 struct nlattr *ret[])
{
	struct nlattr *list = (struct nlattr *)(uintptr_t)first, *attribute;
	int left;

	nla_for_each_attr (attribute, list, (int)len, left)
		continue;
	return left > 0 || nla_parse(ret, max, list, (int)len, policy) < 0 ? -EBADMSG : 0;
}

int rna_nest_parse(const struct nlattr *nest, const struct nla_policy *policy, int max,
		   struct nlattr *ret[])
{
	return rna_attributes_parse(nla_data(nest), (size_t)nla_len(nest), policy, max, ret);
}
