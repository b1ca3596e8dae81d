// SPDX-License-Identifier: Apache-2.0
/*
 * ethernet: ethtool data of the interfaces of a device's ports.
 *
 * For a bond its members are read, because the bond itself has no cable. Virtual and scalable
 * functions and representors are skipped: hundreds of them would repeat the numbers of the physical
 * port, and a sum over them would be wrong.
 *
 * Of an IPoIB interface only the driver's statistics about the port are read. The questions would
 * have no answer, or a misleading one: mlx5 has neither FEC, pause frames, standard statistics nor
 * reasons for a missing link there (mlx5i_ethtool_ops in mlx5/core/ipoib/ethtool.c, Linux 6.12),
 * has no number of lanes, and fails for a speed that is newer than the kernel; ib_ipoib itself has
 * nothing of the port at all. State, speed and width of an InfiniBand port have other sources.
 * Interfaces of further P_Keys have no statistics (mlx5i_pkey_ethtool_ops), and are not the
 * interface of a port (netdev.c).
 *
 * The positions of the wanted statistics in the driver's list are cached from run to run. If a
 * driver adds queues, its list gets longer and is searched again. All lists are searched again from
 * time to time, in case two changes leave the length equal, and at once if the setting names other
 * statistics.
 */
#include <errno.h>
#include <net/if_arp.h>
#include <string.h>

#include "rna/base/hash.h"
#include "rna/base/parse.h"

#include "backend/backends.h"
#include "backend/ethtool.h"

#include "collectors.h"
#include "ethernet_sources.h"

#define NAMES_STALE (10 * 60 * RNA_USEC_PER_SEC)

enum {
	NETDEVS_MAX = 64,  /* of one device: its ports and members of their bonds */
	READ_ATTEMPTS = 3, /* tries to read a list that changes during the read */
};

struct run {
	const struct rna_collect_input *in;
	struct rna_part *part;
	struct rna_arena *scratch;
	struct rna_ethtool_talk talk;
	uint64_t extras; /* see rna/model/ethernet.h */
	size_t count;
	struct rna_ethernet_netdev *netdevs; /* NETDEVS_MAX of them, in scratch */
	bool failed;                         /* did a read of the current interface fail? */
	bool ipoib;                          /* is the current interface of InfiniBand? */
	bool no_memory;
};

/* The counts of one interface while they are read. */
struct counts {
	struct run *run;
	size_t count;
	size_t size;
	struct rna_ethernet_count *items;
	struct rna_value *extras; /* by index in the setting's list */
};

/* The same interface in the previous part; NULL: none. */
static const struct rna_ethernet_netdev *find_previous(const struct run *run,
						       const struct rna_ethernet_netdev *netdev)
{
	const struct rna_ethernet *before = (const void *)run->in->previous;

	return RNA_FIND(i, before->netdevs, before ? before->count : 0,
			before->netdevs[i].ifindex == netdev->ifindex &&
				strcmp(before->netdevs[i].name, netdev->name) == 0);
}

/* Adds a count unless an earlier source of the statistic has added it. */
static void add_count(struct counts *counts, enum rna_ethernet_statistic_id id, int number,
		      struct rna_value value)
{
	if (value.state == RNA_VALUE_ABSENT)
		return;
	for (size_t i = 0; i < counts->count; i++)
		if (counts->items[i].id == id && counts->items[i].number == number)
			return;
	if (counts->count < counts->size)
		counts->items[counts->count++] = (struct rna_ethernet_count){id, number, value};
}

/* -- Messages ---------------------------------------------------------------------------------- */

static void note_failure(struct run *run, int error)
{
	run->failed = true;
	rna_part_count_error(run->part, error);
}

/* False if there is no answer: not supported by the driver, which is normal, or a failure. */
static bool ask(struct run *run, const struct rna_ethtool_question *question, const char *netdev,
		struct rna_bytes *ret)
{
	int error =
		run->in->backends->ethtool->ask(&run->talk, question, netdev, run->scratch, ret);

	run->no_memory |= error == -ENOMEM;
	if (error < 0 && error != -EOPNOTSUPP && error != -ENODEV)
		note_failure(run, error);
	return error == 0;
}

/* Checks the status of parsing an answer; counts a failure. */
static bool is_parsed(struct run *run, int status)
{
	if (status < 0)
		note_failure(run, status);
	return status == 0;
}

static void read_link(struct run *run, struct rna_ethernet_netdev *netdev, struct counts *counts)
{
	struct rna_bytes answer;

	if (ask(run, &rna_ethtool_link_question, netdev->name, &answer) &&
	    is_parsed(run, rna_ethtool_read_link(answer, &netdev->link)))
		add_count(counts, RNA_ETHERNET_LINK_DOWNS, -1, netdev->link.downs);
	if (ask(run, &rna_ethtool_mode_question, netdev->name, &answer))
		(void)is_parsed(run, rna_ethtool_read_mode(answer, &netdev->mode));
}

static void add_fec(struct counts *counts, enum rna_ethernet_statistic_id id,
		    enum rna_ethernet_statistic_id lane, const struct rna_ethtool_fec_count *count)
{
	add_count(counts, id, -1, count->total);
	for (size_t i = 0; i < count->lane_count; i++)
		add_count(counts, lane, (int)i, rna_value_ok(count->lanes[i]));
}

/*
 * The errors in a block from which on a link has lost its margin: sonic-mgmt fails a stable link
 * with a block in the bins 7 to 15 (sonic-net/sonic-mgmt, tests/platform_tests/test_intf_fec.py,
 * validate_fec_histogram()). The most common codes correct 15 and 7 errors: RS(544,514),
 * RS(528,514).
 */
enum { MANY_ERRORS = 7 };

/* Absent if the driver does not count blocks by errors, or in a bin that has fewer errors as well.
 */
static struct rna_value count_heavy(const struct rna_ethtool_fec_counts *fec)
{
	bool known = fec->bin_count > 0;
	uint64_t sum = 0;

	for (size_t i = 0; i < fec->bin_count; i++)
		if (fec->bins[i].low >= MANY_ERRORS)
			sum += fec->bins[i].blocks;
		else
			known &= fec->bins[i].high < MANY_ERRORS;
	return known ? rna_value_ok(sum) : (struct rna_value){0};
}

static void keep_bins(struct run *run, const struct rna_ethtool_fec_counts *fec,
		      struct rna_ethernet_netdev *netdev)
{
	struct rna_ethernet_fec_bin *kept =
		rna_arena_array(run->part->arena, fec->bin_count, sizeof(*kept));

	run->no_memory |= !kept;
	if (!kept || fec->bin_count == 0)
		return;
	memcpy(kept, fec->bins, fec->bin_count * sizeof(*kept));
	netdev->bins = kept;
	netdev->bin_count = fec->bin_count;
}

static void read_fec(struct run *run, struct rna_ethernet_netdev *netdev, struct counts *counts)
{
	struct rna_ethtool_fec_counts fec;
	struct rna_bytes answer;

	if (!ask(run, &rna_ethtool_fec_question, netdev->name, &answer) ||
	    !is_parsed(run, rna_ethtool_read_fec(answer, &netdev->fec, &fec)))
		return;
	add_fec(counts, RNA_ETHERNET_FEC_CORRECTED_BITS, RNA_ETHERNET_FEC_LANE_CORRECTED_BITS,
		&fec.corrected_bits);
	add_fec(counts, RNA_ETHERNET_FEC_CORRECTED_BLOCKS, RNA_ETHERNET_FEC_LANE_CORRECTED_BLOCKS,
		&fec.corrected_blocks);
	add_fec(counts, RNA_ETHERNET_FEC_UNCORRECTABLE_BLOCKS,
		RNA_ETHERNET_FEC_LANE_UNCORRECTABLE_BLOCKS, &fec.uncorrectable_blocks);
	add_count(counts, RNA_ETHERNET_FEC_HEAVILY_CORRECTED_BLOCKS, -1, count_heavy(&fec));
	keep_bins(run, &fec, netdev);
}

static void read_pause(struct run *run, struct rna_ethernet_netdev *netdev, struct counts *counts)
{
	struct rna_ethtool_pause_counts pause;
	struct rna_bytes answer;

	if (!ask(run, &rna_ethtool_pause_question, netdev->name, &answer) ||
	    !is_parsed(run, rna_ethtool_read_pause(answer, &netdev->pause, &pause)))
		return;
	add_count(counts, RNA_ETHERNET_PAUSE_RECEIVED, -1, pause.received);
	add_count(counts, RNA_ETHERNET_PAUSE_TRANSMITTED, -1, pause.transmitted);
}

static void read_standard(struct run *run, const char *netdev, struct counts *counts)
{
	static const struct {
		enum rna_ethernet_statistic_id id;
		size_t offset;
	} rows[] = {
#define STANDARD(id, name) {RNA_ETHERNET_##id, offsetof(struct rna_ethtool_standard_counts, name)}
		STANDARD(SYMBOL_ERRORS, symbol_errors),
		STANDARD(FCS_ERRORS, fcs_errors),
		STANDARD(ALIGNMENT_ERRORS, alignment_errors),
		STANDARD(LENGTH_ERRORS, length_errors),
		STANDARD(UNDERSIZE_FRAMES, undersize_frames),
		STANDARD(OVERSIZE_FRAMES, too_long_errors),
		STANDARD(FRAGMENTS, fragments),
		STANDARD(JABBERS, jabbers),
		STANDARD(UNSUPPORTED_FRAMES, unsupported_frames),
		STANDARD(MAC_RECEIVE_ERRORS, receive_errors),
		STANDARD(MAC_TRANSMIT_ERRORS, transmit_errors),
	};
	struct rna_ethtool_standard_counts standard;
	struct rna_bytes answer;

	if (!ask(run, &rna_ethtool_standard_question, netdev, &answer) ||
	    !is_parsed(run, rna_ethtool_read_standard(answer, &standard)))
		return;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(rows); i++) {
		const char *value = (const char *)&standard + rows[i].offset;

		add_count(counts, rows[i].id, -1, *(const struct rna_value *)(const void *)value);
	}
}

/* -- Statistics of the driver ------------------------------------------------------------------ */

static size_t extras_wanted(const struct run *run)
{
	return run->in->statistics ? run->in->statistics->count : 0;
}

/* The index of name in the setting's list; -1: not in it. */
static int find_extra(const struct run *run, const char *name)
{
	for (size_t i = 0; i < extras_wanted(run); i++)
		if (strcmp(run->in->statistics->items[i], name) == 0)
			return (int)i;
	return -1;
}

/* A hash of the setting's list, to detect changes without keeping it. */
static uint64_t hash_extras(const struct run *run)
{
	uint64_t hash = RNA_HASH_INIT;

	for (size_t i = 0; i < extras_wanted(run); i++)
		hash = rna_hash_number(rna_hash_text(hash, run->in->statistics->items[i]), 0);
	return hash;
}

/* A driver may list a name twice; the first one is used. */
static void add_extra(struct counts *counts, int place, struct rna_value value)
{
	if (place >= 0 && counts->extras[place].state == RNA_VALUE_ABSENT)
		counts->extras[place] = value;
}

/* Reuses the positions of the previous run if they are recent enough. An empty list may fill up. */
static bool inherit_picks(struct run *run, const struct rna_ethernet_netdev *netdev,
			  struct rna_ethernet_picks *ret)
{
	const struct rna_ethernet_netdev *old = find_previous(run, netdev);
	struct rna_ethernet_pick *items;

	if (!old || old->picks.listed == 0 || old->picks.extras != run->extras ||
	    rna_usec_since(old->picks.read, run->part->started.monotonic) > NAMES_STALE)
		return false;
	*ret = old->picks;
	items = rna_arena_array(run->part->arena, ret->count, sizeof(*items));
	ret->items = items;
	run->no_memory |= !items;
	if (items && ret->count > 0)
		memcpy(items, old->picks.items, ret->count * sizeof(*items));
	return items != NULL;
}

/* False: the statistic is not wanted. */
static bool pick(const struct run *run, const char *name, struct rna_ethernet_pick *ret)
{
	int number;
	const struct rna_ethernet_source *source = rna_ethernet_find_source(name, &number);

	if (source && (source->ipoib || !run->ipoib)) {
		*ret = (struct rna_ethernet_pick){
			.id = source->id,
			.number = number,
			.scale = source->scale ? source->scale : 1,
		};
		return true;
	}
	*ret = (struct rna_ethernet_pick){
		.id = RNA_ETHERNET_STATISTIC_COUNT,
		.number = find_extra(run, name),
		.scale = 1,
	};
	return ret->number >= 0;
}

/* Searches the driver's list. 0 or negative errno. */
static int find_picks(struct run *run, const char *netdev, struct rna_ethernet_picks *ret)
{
	struct rna_ethernet_pick *items;
	struct rna_ethtool_names names;
	int error = run->in->backends->ethtool->list_statistics(run->in->root, netdev, run->scratch,
								&names);

	if (error < 0)
		return error;
	items = rna_arena_array(run->part->arena, names.count, sizeof(*items));
	if (!items)
		return -ENOMEM;
	*ret = (struct rna_ethernet_picks){.listed = names.count,
					   .read = run->part->started.monotonic,
					   .extras = run->extras,
					   .items = items};
	for (size_t i = 0; i < names.count; i++)
		if (pick(run, names.names[i].text, &items[ret->count]))
			items[ret->count++].index = i;
	return 0;
}

/*
 * 0, also if there are none; or negative errno. *ret: the driver's numbers, picks.listed of them.
 */
static int read_numbers(struct run *run, struct rna_ethernet_netdev *netdev, uint64_t **ret)
{
	bool known = inherit_picks(run, netdev, &netdev->picks);
	int status = -ESTALE;

	for (int i = 0; i < READ_ATTEMPTS && status == -ESTALE; i++, known = false) {
		status = known ? 0 : find_picks(run, netdev->name, &netdev->picks);
		if (status < 0)
			continue;
		*ret = rna_arena_array(run->scratch, netdev->picks.listed, sizeof(**ret));
		if (!*ret)
			return -ENOMEM;
		if (netdev->picks.count > 0)
			status = run->in->backends->ethtool->read_statistics(run->in->root,
									     netdev->name,
									     netdev->picks.listed,
									     *ret);
	}
	return status;
}

static struct rna_value scaled(uint64_t number, unsigned scale)
{
	uint64_t product;

	return rna_value_ok(__builtin_mul_overflow(number, scale, &product) ? UINT64_MAX : product);
}

static void read_driver(struct run *run, struct rna_ethernet_netdev *netdev, struct counts *counts)
{
	uint64_t *numbers = NULL;
	int status = read_numbers(run, netdev, &numbers);

	run->no_memory |= status == -ENOMEM;
	if (status < 0) {
		netdev->picks = (struct rna_ethernet_picks){0};
		if (status == -EOPNOTSUPP || status == -ENODEV)
			return;
		note_failure(run, status == -ESTALE ? -EAGAIN : status);
		return;
	}
	RNA_EACH (from, netdev->picks.items, netdev->picks.count) {
		struct rna_value value = scaled(numbers[from->index], from->scale);

		if (from->id == RNA_ETHERNET_STATISTIC_COUNT)
			add_extra(counts, from->number, value);
		else
			add_count(counts, from->id, from->number, value);
	}
}

/* -- Interfaces -------------------------------------------------------------------------------- */

/*
 * After a failed read, a count of the previous part that is missing now may still exist: it is
 * unreadable until a complete read shows that it is gone, because sums without it would fall.
 */
static void add_unreadable(struct run *run, const struct rna_ethernet_netdev *netdev,
			   struct counts *counts)
{
	const struct rna_ethernet_netdev *old = run->failed ? find_previous(run, netdev) : NULL;

	for (size_t i = 0; old && i < old->count; i++)
		add_count(counts, old->counts[i].id, old->counts[i].number, rna_value_unreadable());
	for (size_t i = 0; old && i < old->extra_count; i++)
		add_extra(counts, find_extra(run, old->extras[i].name), rna_value_unreadable());
}

static int compare_counts(const void *a, const void *b)
{
	const struct rna_ethernet_count *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->number - y->number;
}

static void keep_counts(struct run *run, struct counts *counts, struct rna_ethernet_netdev *netdev)
{
	struct rna_ethernet_count *kept =
		rna_arena_array(run->part->arena, counts->count, sizeof(*kept));

	run->no_memory |= !kept;
	if (!kept || counts->count == 0)
		return;
	qsort(counts->items, counts->count, sizeof(*kept), compare_counts);
	memcpy(kept, counts->items, counts->count * sizeof(*kept));
	netdev->counts = kept;
	netdev->count = counts->count;
}

static void keep_extras(struct run *run, const struct counts *counts,
			struct rna_ethernet_netdev *netdev)
{
	struct rna_ethernet_extra *kept =
		rna_arena_array(run->part->arena, extras_wanted(run), sizeof(*kept));
	size_t count = 0;

	run->no_memory |= !kept;
	for (size_t i = 0; kept && i < extras_wanted(run); i++) {
		if (counts->extras[i].state == RNA_VALUE_ABSENT)
			continue;
		kept[count] = (struct rna_ethernet_extra){
			.name = rna_arena_strdup(run->part->arena, run->in->statistics->items[i]),
			.value = counts->extras[i],
		};
		if (!kept[count++].name) {
			run->no_memory = true;
			return;
		}
	}
	if (count > 1)
		qsort(kept, count, sizeof(*kept), rna_compare_text_items);
	netdev->extras = kept;
	netdev->extra_count = count;
}

/* An interface without any data is omitted. */
static bool is_known(const struct rna_ethernet_netdev *netdev)
{
	return netdev->count > 0 || netdev->extra_count > 0 ||
	       netdev->link.up.state != RNA_VALUE_ABSENT ||
	       netdev->mode.autoneg.state != RNA_VALUE_ABSENT;
}

static void ask_all(struct run *run, struct rna_ethernet_netdev *netdev, struct counts *counts)
{
	read_link(run, netdev, counts);
	read_fec(run, netdev, counts);
	read_pause(run, netdev, counts);
	read_standard(run, netdev->name, counts);
}

static void read_netdev(struct run *run, const struct rna_netdev *found, unsigned port)
{
	struct rna_ethernet_netdev *netdev = &run->netdevs[run->count];
	struct counts counts = {.run = run, .size = 4 * RNA_ETHERNET_STATISTIC_COUNT};

	run->ipoib = found->type == ARPHRD_INFINIBAND;
	if (run->count == NETDEVS_MAX || (found->type != ARPHRD_ETHER && !run->ipoib))
		return;
	counts.items = rna_arena_array(run->scratch, counts.size, sizeof(*counts.items));
	counts.extras = rna_arena_array(run->scratch, extras_wanted(run), sizeof(*counts.extras));
	*netdev = (struct rna_ethernet_netdev){
		.name = rna_arena_strdup(run->part->arena, found->name),
		.ifindex = found->ifindex,
		.port = port,
	};
	if (!counts.items || !counts.extras || !netdev->name) {
		run->no_memory = true;
		return;
	}
	run->failed = false;
	if (!run->ipoib)
		ask_all(run, netdev, &counts);
	read_driver(run, netdev, &counts);
	add_unreadable(run, netdev, &counts);
	keep_counts(run, &counts, netdev);
	keep_extras(run, &counts, netdev);
	run->count += is_known(netdev);
}

static void read_port(struct run *run, struct rna_netdev_search *search, unsigned port)
{
	const struct rna_device *device = run->in->device;
	const struct rna_port_netdev *found = rna_netdev_search_port(search, device->name, port);
	const struct rna_netdev *netdev =
		found ? rna_netdev_search_name(search, found->netdev) : NULL;
	const struct rna_netdev *member;
	size_t from = 0;

	if (!netdev || netdev->representor)
		return;
	if (!netdev->bond)
		read_netdev(run, netdev, port);
	while (netdev->bond &&
	       (member = rna_netdevs_next_member(search->netdevs, netdev->name, device, &from)))
		read_netdev(run, member, port);
}

static int read_all(struct run *run, struct rna_ethernet *ethernet)
{
	const struct rna_device *device = run->in->device;
	struct rna_netdev_search search = {.netdevs = run->in->netdevs};
	struct rna_ethernet_netdev *netdevs;

	run->extras = hash_extras(run);
	run->netdevs = rna_arena_array(run->scratch, NETDEVS_MAX, sizeof(*run->netdevs));
	if (!run->netdevs)
		return -ENOMEM;
	for (size_t i = 0; i < device->port_count; i++)
		read_port(run, &search, device->ports[i]);
	netdevs = rna_arena_array(run->part->arena, run->count, sizeof(*netdevs));
	if (!netdevs || run->no_memory)
		return -ENOMEM;
	if (run->count > 0)
		memcpy(netdevs, run->netdevs, run->count * sizeof(*netdevs));
	ethernet->netdevs = netdevs;
	ethernet->count = run->count;
	return 0;
}

static int fill(const struct rna_collect_input *in, struct rna_part *part,
		struct rna_arena *scratch)
{
	struct run run = {.in = in, .part = part, .scratch = scratch, .talk = {.root = in->root}};

	return read_all(&run, (struct rna_ethernet *)part);
}

RNA_COLLECT(ethernet)
{
	const struct rna_part_plan plan = {RNA_COLLECTOR_ETHERNET,
					   sizeof(struct rna_ethernet),
					   64,
					   16384,
					   "cannot read Ethernet data",
					   fill};

	if (!in->netdevs)
		return rna_error_say(error, -EAGAIN, "%s: its network interfaces are unknown",
				     in->device->name);
	return rna_collect(&plan, in, ret, error);
}
