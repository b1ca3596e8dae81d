// SPDX-License-Identifier: Apache-2.0
/*
 * The ethtool backend: ethtool netlink, and the old ioctl for the statistics of drivers, which
 * netlink does not provide.
 *
 * The ioctl needs a buffer for a number of statistics that was read before, and kernels up to 6.18
 * write the current number: more if queues were added in between. So the buffer ends at a read-only
 * page, and a larger set causes EFAULT instead of an overflow.
 */
#include "ethtool.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/sockios.h>

#include "parse/message.h"

#include "backends.h"
#include "netlink.h"

enum { STATISTICS_MAX = 65536 }; /* mlx5 has 30 per queue */

/* -- Netlink ----------------------------------------------------------------------------------- */

static int take_family(struct rna_bytes message, void *userdata)
{
	static const struct nla_policy policy[CTRL_ATTR_FAMILY_ID + 1] = {
		[CTRL_ATTR_FAMILY_ID] = {.type = NLA_U16}};
	static const struct rna_message_kind kind = {GENL_ID_CTRL, GENL_HDRLEN, CTRL_ATTR_FAMILY_ID,
						     policy};
	struct nlattr *attributes[CTRL_ATTR_FAMILY_ID + 1];

	if (!rna_message_parse(message, &kind, attributes) || !attributes[CTRL_ATTR_FAMILY_ID])
		return -EBADMSG;
	*(int *)userdata = nla_get_u16(attributes[CTRL_ATTR_FAMILY_ID]);
	return 0;
}

/*
 * The family number differs between kernels; before 5.6 the family did not exist. Where it does, it
 * is built in, so that its number stays until the next boot. Number or negative errno.
 */
static int find_family(void)
{
	static const struct genlmsghdr head = {.cmd = CTRL_CMD_GETFAMILY, .version = 1};
	static const struct rna_netlink_attribute name = {CTRL_ATTR_FAMILY_NAME,
							  sizeof(ETHTOOL_GENL_NAME),
							  ETHTOOL_GENL_NAME};
	static const struct rna_netlink_question question = {
		.protocol = NETLINK_GENERIC,
		.type = GENL_ID_CTRL,
		.body = &head,
		.body_size = sizeof(head),
		.attributes = &name,
		.count = 1,
	};
	static _Atomic int known;
	int family = known, error = 0;

	if (family == 0)
		error = rna_netlink_ask(&question, take_family, &family);
	if (error < 0)
		return error == -ENOENT ? -EOPNOTSUPP : error;
	known = family;
	return family;
}

static int ask_once(struct rna_ethtool_talk *talk, const struct rna_ethtool_question *question,
		    const char *netdev, struct rna_arena *arena, struct rna_bytes *ret)
{
	const struct genlmsghdr head = {.cmd = question->command, .version = ETHTOOL_GENL_VERSION};
	const struct rna_netlink_attribute header[] = {
		{ETHTOOL_A_HEADER_DEV_NAME, (int)strlen(netdev) + 1, netdev},
		{ETHTOOL_A_HEADER_FLAGS, sizeof(question->flags), &question->flags},
	};
	struct rna_netlink_attribute attributes[1 + RNA_ETHTOOL_ATTRIBUTES_MAX] = {
		{question->header, RNA_ARRAY_SIZE(header), .nested = header}};
	int count = 1;

	talk->family = find_family();
	if (talk->family < 0)
		return talk->family;
	for (const struct rna_netlink_attribute *more = question->attributes; more->type; more++)
		attributes[count++] = *more;
	return rna_netlink_keep(&(struct rna_netlink_question){.protocol = NETLINK_GENERIC,
							       .type = talk->family,
							       .body = &head,
							       .body_size = sizeof(head),
							       .attributes = attributes,
							       .count = count},
				arena, ret);
}

/*
 * A kernel refuses unknown flags: statistics of the link state came with Linux 6.4, others with
 * 5.10. Older kernels return EOPNOTSUPP, like a driver without an answer; the two differ once
 * another request with the flag has succeeded.
 */
static bool is_refused(const struct rna_ethtool_talk *talk, int error)
{
	return error == -EINVAL || (error == -EOPNOTSUPP && !talk->knows_flags);
}

static int ask(struct rna_ethtool_talk *talk, const struct rna_ethtool_question *question,
	       const char *netdev, struct rna_arena *arena, struct rna_bytes *ret)
{
	struct rna_ethtool_question plain = *question;
	int error = ask_once(talk, question, netdev, arena, ret);

	if (!(question->flags & ETHTOOL_FLAG_STATS) || talk->family < 0)
		return error;
	if (!is_refused(talk, error)) {
		talk->knows_flags |= error == 0;
		return error;
	}
	talk->knows_flags |= error == -EINVAL; /* EINVAL: this kernel checks flags per request */
	plain.flags &= ~(uint32_t)ETHTOOL_FLAG_STATS;
	return ask_once(talk, &plain, netdev, arena, ret);
}

/* -- Statistics of drivers --------------------------------------------------------------------- */

/* A buffer that ends at a read-only page. */
struct guarded {
	void *map;
	size_t map_len;
	void *data;
};

static void unmap(struct guarded *guarded)
{
	if (guarded->map)
		(void)munmap(guarded->map, guarded->map_len);
}

static int map_guarded(size_t len, struct guarded *ret)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (len + page - 1) / page * page;
	void *map =
		mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		return -errno;
	*ret = (struct guarded){map, room + page, (char *)map + room - len};
	return mprotect((char *)map + room, page, PROT_NONE) < 0 ? -errno : 0;
}

static int call(const char *netdev, void *command)
{
	RNA_CLOSE int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = {.ifr_data = command};

	if (fd < 0)
		return -errno;
	(void)snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", netdev);
	return ioctl(fd, SIOCETHTOOL, &request) < 0 ? -errno : 0;
}

/* A driver without statistics returns an empty mask. */
static int count_statistics(const char *netdev, size_t *ret)
{
	enum { COUNT = sizeof(struct ethtool_sset_info) / sizeof(uint32_t) }; /* after the header */
	union {
		struct ethtool_sset_info head;
		uint32_t words[COUNT + 1];
	} info = {.head = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ull << ETH_SS_STATS}};
	int error = call(netdev, &info);

	if (error < 0)
		return error;
	*ret = info.head.sset_mask ? info.words[COUNT] : 0;
	return 0;
}

/* -ESTALE: the number is no longer count. */
static int read_names(const char *netdev, size_t count, struct rna_arena *arena,
		      struct rna_ethtool_names *ret)
{
	RNA_CLEANUP(unmap) struct guarded memory = {0};
	struct ethtool_gstrings *strings;
	int error = map_guarded(sizeof(*strings) + count * ETH_GSTRING_LEN, &memory);

	if (error < 0)
		return error;
	strings = memory.data;
	*strings = (struct ethtool_gstrings){.cmd = ETHTOOL_GSTRINGS,
					     .string_set = ETH_SS_STATS,
					     .len = (uint32_t)count};
	error = call(netdev, strings);
	if (error == -EFAULT || (error == 0 && strings->len != count))
		return -ESTALE;
	if (error < 0)
		return error;
	ret->names = rna_arena_array(arena, count, sizeof(*ret->names));
	if (!ret->names)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		memcpy(ret->names[i].text, strings->data + i * ETH_GSTRING_LEN, ETH_GSTRING_LEN);
	ret->count = count;
	return 0;
}

static int list_statistics(const struct rna_root *root, const char *netdev, struct rna_arena *arena,
			   struct rna_ethtool_names *ret)
{
	size_t count;
	int error;

	(void)root; /* always the interfaces of the kernel */
	*ret = (struct rna_ethtool_names){0};
	error = count_statistics(netdev, &count);
	if (error < 0 || count == 0)
		return error;
	return count > STATISTICS_MAX ? -EMSGSIZE : read_names(netdev, count, arena, ret);
}

static int read_statistics(const struct rna_root *root, const char *netdev, size_t count,
			   uint64_t *numbers)
{
	RNA_CLEANUP(unmap) struct guarded memory = {0};
	const size_t len = count * sizeof(*numbers);
	struct ethtool_stats *stats;
	int error = map_guarded(sizeof(*stats) + len, &memory);

	(void)root; /* always the interfaces of the kernel */
	if (error < 0)
		return error;
	stats = memory.data;
	*stats = (struct ethtool_stats){.cmd = ETHTOOL_GSTATS, .n_stats = (uint32_t)count};
	error = call(netdev, stats);
	if (error == -EFAULT || (error == 0 && stats->n_stats != count))
		return -ESTALE;
	if (error == 0)
		memcpy(numbers, stats->data, len);
	return error;
}

const struct rna_ethtool_backend rna_ethtool = {
	.ask = ask,
	.list_statistics = list_statistics,
	.read_statistics = read_statistics,
};
