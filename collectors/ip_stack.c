// SPDX-License-Identifier: Apache-2.0
/*
 * Part of collector gateways: addresses of RoCE interfaces, how the kernel answers ARP for them,
 * and how full its tables of neighbours are.
 *
 * /proc/sys/net has the settings of the network namespace of the reader, like rtnetlink. The tables
 * of neighbours are those of the kernel: their counters and limits exist in the first namespace
 * only (neigh_table_init() and neigh_sysctl_register() in net/core/neighbour.c, Linux 6.12).
 */
#include "ip_stack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rna/base/cleanup.h"
#include "rna/base/parse.h"

#include "backend/backends.h"

/* A line of some 140 bytes for each possible CPU; what is more is left out. */
enum { STATISTICS_MAX = 512 * 1024 };

/* -- Addresses --------------------------------------------------------------------------------- */

static struct rna_value read_number(const struct rna_host_network_request *request,
				    const char *path)
{
	uint64_t number;

	if (!path || rna_root_read_u64(request->in->root, path, &number) < 0)
		return (struct rna_value){0};
	return rna_value_ok(number);
}

/* The larger one of "all" and the interface's own applies (linux/inetdevice.h, IN_DEV_MAXCONF). */
static struct rna_value read_setting(const struct rna_host_network_request *request,
				     const char *netdev, const char *name)
{
	static const char path[] = "proc/sys/net/ipv4/conf/%s/%s";
	struct rna_value all, own;

	all = read_number(request, rna_arena_printf(request->scratch, path, "all", name));
	own = read_number(request, rna_arena_printf(request->scratch, path, netdev, name));
	if (!rna_value_is_known(all) || !rna_value_is_known(own))
		return (struct rna_value){0};
	return all.number > own.number ? all : own;
}

static void read_settings(const struct rna_host_network_request *request,
			  struct rna_rail_address *address)
{
	address->arp_ignore = read_setting(request, address->netdev, "arp_ignore");
	address->arp_announce = read_setting(request, address->netdev, "arp_announce");
	address->arp_filter = read_setting(request, address->netdev, "arp_filter");
	address->rp_filter = read_setting(request, address->netdev, "rp_filter");
}

static int compare(const void *a, const void *b)
{
	const struct rna_rail_address *x = a, *y = b;
	int order = rna_compare_names(x->netdev, y->netdev);

	return order ? order : memcmp(x->address.bytes, y->address.bytes, sizeof(x->address.bytes));
}

/*
 * The bridge or the VRF above an interface has its own ways: a bridge has the addresses itself, and
 * in a VRF each rail has a table of its own (Documentation/networking/vrf.rst).
 */
static bool has_master(const struct rna_host_network_request *request, const char *netdev)
{
	const char *path = rna_arena_printf(request->scratch, "sys/class/net/%s/master", netdev);
	char target[256];

	return path && rna_root_readlink(request->in->root, path, target, sizeof(target)) > 0;
}

static int read_addresses(const struct rna_host_network_request *request,
			  struct rna_host_network *ret)
{
	const char **names = rna_arena_array(request->scratch, request->count + 1, sizeof(*names));
	struct rna_rail_address_list list = {0};
	size_t count = 0;
	int status;

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < request->count; i++)
		if (!has_master(request, request->netdevs[i]))
			names[count++] = request->netdevs[i];
	if (count == 0)
		return 0;
	status = request->in->backends->gateways->list_addresses(request->in->root, names, count,
								 request->keep, &list);
	if (status < 0 || list.count == 0)
		return status;
	for (size_t i = 0; i < list.count; i++)
		read_settings(request, &list.items[i]);
	qsort(list.items, list.count, sizeof(*list.items), compare);
	ret->addresses = list.items;
	ret->address_count = list.count;
	return 0;
}

/* -- Tables of neighbours ---------------------------------------------------------------------- */

/* The file as a text, which the kernel gives out a page at a time. NULL: there is none. */
static char *read_statistics(const struct rna_host_network_request *request, const char *name)
{
	const char *path = rna_arena_printf(request->scratch, "proc/net/stat/%s", name);
	char *text = rna_arena_alloc(request->scratch, STATISTICS_MAX + 1);
	RNA_CLOSE int fd =
		path && text ? rna_root_openat(request->in->root, path, O_RDONLY) : -ENOMEM;
	size_t len = 0;
	ssize_t more = 1;

	while (fd >= 0 && more > 0 && len < STATISTICS_MAX) {
		more = TEMP_FAILURE_RETRY(read(fd, text + len, STATISTICS_MAX - len));
		len += more > 0 ? (size_t)more : 0;
	}
	if (len == 0)
		return NULL;
	text[len] = '\0';
	return text;
}

/* The number of the column of that name, counted from 0; -1: there is none. */
static int find_column(const char *heading, const char *name)
{
	RNA_FREE char *copy = strdup(heading);
	char *rest = copy, *word;
	int column = 0;

	while ((word = strsep(&rest, " "))) {
		if (strcmp(word, name) == 0)
			return column;
		column += *word != '\0';
	}
	return -1;
}

/* The hexadecimal number in a column of a line. */
static struct rna_value column_of(const char *line, int column)
{
	RNA_FREE char *copy = strdup(line);
	char *rest = copy, *word, *end;
	unsigned long long number;

	if (column < 0)
		return (struct rna_value){0};
	while ((word = strsep(&rest, " ")))
		if (*word != '\0' && column-- == 0)
			break;
	if (!word)
		return (struct rna_value){0};
	errno = 0;
	number = strtoull(word, &end, 16);
	return errno || *end ? (struct rna_value){0} : rna_value_ok(number);
}

/*
 * A heading, and a line for each CPU: the first column is the same in all of them, the others are
 * counts of the CPU (neigh_stat_seq_show() in net/core/neighbour.c). table_fulls: Linux 4.3.
 */
static void parse_statistics(char *text, struct rna_neighbour_table *ret)
{
	const char *heading = strsep(&text, "\n"), *line;
	const int entries = find_column(heading, "entries");
	const int fulls = find_column(heading, "table_fulls");

	while ((line = strsep(&text, "\n"))) {
		struct rna_value count = column_of(line, fulls);

		if (*line != '\0')
			ret->entries = column_of(line, entries);
		if (rna_value_is_known(count))
			ret->overflows = rna_value_ok(ret->overflows.number + count.number);
	}
}

static void read_table(const struct rna_host_network_request *request, enum rna_gid_family family,
		       struct rna_neighbour_table *ret)
{
	static const char *const files[] = {
		[RNA_GID_IPV4] = "arp_cache",
		[RNA_GID_IPV6] = "ndisc_cache",
	};
	const struct rna_neighbour_table *before =
		request->before ? &request->before->tables[family] : NULL;
	char *text = read_statistics(request, files[family]);

	ret->limit =
		read_number(request, rna_arena_printf(request->scratch,
						      "proc/sys/net/%s/neigh/default/gc_thresh3",
						      rna_gid_family_name(family)));
	if (text)
		parse_statistics(text, ret);
	if (!before)
		return;
	ret->overflowed = before->overflowed;
	if (rna_value_is_known(ret->overflows) && rna_value_is_known(before->overflows) &&
	    ret->overflows.number > before->overflows.number)
		ret->overflowed = request->now;
}

int rna_read_host_network(const struct rna_host_network_request *request,
			  struct rna_host_network *ret)
{
	*ret = (struct rna_host_network){0};
	for (enum rna_gid_family family = 0; family < RNA_GID_FAMILY_COUNT; family++)
		read_table(request, family, &ret->tables[family]);
	return read_addresses(request, ret);
}
