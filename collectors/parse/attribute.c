// SPDX-License-Identifier: Apache-2.0
#include "attribute.h"

#include <errno.h>
#include <string.h>
#include <linux/netlink.h>

int rna_attribute_next(struct rna_bytes *rest, uint16_t *ret_type, struct rna_bytes *ret)
{
	struct nlattr head;
	size_t whole;

	if (rest->len == 0)
		return 0;
	if (rest->len < sizeof(head))
		return -EBADMSG;
	memcpy(&head, rest->data, sizeof(head));
	if (head.nla_len < sizeof(head) || head.nla_len > rest->len)
		return -EBADMSG;
	*ret_type = head.nla_type & (uint16_t)NLA_TYPE_MASK;
	*ret = (struct rna_bytes){rest->data + sizeof(head), head.nla_len - sizeof(head)};
	whole = ((size_t)head.nla_len + NLA_ALIGNTO - 1) / NLA_ALIGNTO * NLA_ALIGNTO;
	whole = whole < rest->len ? whole : rest->len;
	rest->data += whole;
	rest->len -= whole;
	return 1;
}
