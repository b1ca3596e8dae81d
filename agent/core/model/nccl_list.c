// SPDX-License-Identifier: Apache-2.0
/*
 * Lists of devices and interfaces in variables of NCCL, read as NCCL does: parseStringList() and
 * matchIfList() in src/misc/utils.cc (2.30.7). "^" in front means all others, "=" behind it whole
 * names instead of beginnings; ":1" is a port. A rail and a plane may follow, for which an empty
 * port is any port.
 */
#include <stdlib.h>
#include <string.h>

#include "rna/model/nccl.h"

const char *const rna_nccl_file_names[RNA_NCCL_FILE_COUNT] = {
	[RNA_NCCL_FILE_IB_DISABLE] = "NCCL_IB_DISABLE",
	[RNA_NCCL_FILE_IB_HCA] = "NCCL_IB_HCA",
	[RNA_NCCL_FILE_IB_GID_INDEX] = "NCCL_IB_GID_INDEX",
	[RNA_NCCL_FILE_SOCKET_IFNAME] = "NCCL_SOCKET_IFNAME",
	[RNA_NCCL_FILE_IB_TC] = "NCCL_IB_TC",
	[RNA_NCCL_FILE_IB_SL] = "NCCL_IB_SL",
};

struct rna_nccl_list rna_nccl_list_begin(const char *text)
{
	struct rna_nccl_list list = {.rest = text};

	list.others = *list.rest == '^';
	list.rest += list.others;
	list.exact = *list.rest == '=';
	list.rest += list.exact;
	return list;
}

bool rna_nccl_list_next(struct rna_nccl_list *list)
{
	list->rest += strspn(list->rest, ",");
	if (*list->rest == '\0')
		return false;
	list->name = list->rest;
	list->len = strcspn(list->rest, ",:");
	list->rest += list->len;
	list->port = -1;
	if (*list->rest == ':' && strcspn(list->rest + 1, ",:") > 0)
		list->port = (int)strtol(list->rest + 1, NULL, 10);
	list->rest += strcspn(list->rest, ",");
	return list->len > 0 || rna_nccl_list_next(list);
}

bool rna_nccl_list_fits(const struct rna_nccl_list *list, const char *name, unsigned port)
{
	return strncmp(name, list->name, list->len) == 0 &&
	       (!list->exact || name[list->len] == '\0') &&
	       (port == 0 || list->port == -1 || list->port == (int)port);
}

bool rna_nccl_list_selects(const char *text, const char *name, unsigned port)
{
	struct rna_nccl_list list = rna_nccl_list_begin(text);
	bool any = false;

	while (rna_nccl_list_next(&list)) {
		any = true;
		if (rna_nccl_list_fits(&list, name, port))
			return !list.others;
	}
	return list.others || !any;
}

bool rna_nccl_is_set(const char *number)
{
	return number && strtoll(number, NULL, 0) != 0;
}
