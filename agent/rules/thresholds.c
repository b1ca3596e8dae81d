// SPDX-License-Identifier: Apache-2.0
/*
 * Thresholds. To follow one more counter: a way to count its meaning, in meanings.c, or a row. Rows
 * name files of the specification (IBTA), and files of one driver that count what no other counts.
 * Why a meaning has no threshold stands in its row of meanings.c.
 *
 * The numbers come from field experience of others, if they agree with the definition of the
 * counter: NVIDIA's NVSentinel (docs/configuration/nic-health-monitor.md), the error_thresholds of
 * rdma-core's infiniband-diags, and AWS's node monitoring agent for EFA. PCIe allows one wrong bit
 * in 10^12, which is 1,800 an hour on 16 lanes of 32 GT/s; good links have hardly any. Intended
 * differences:
 *	- link_downed has no threshold: it is part of the count of downs, which covers every link
 *	  layer. Five in a day are also Azure's limit (azurehpc-health-checks
 *	  customTests/azure_ib_link_flapping.nhc);
 *	- times of Ethernet ports are in microseconds: 6000000/m is a tenth of the time;
 *	- a single event stays a finding for an hour, not until the counter is reset;
 *	- lost packets count in proportion to the traffic. NVSentinel offers packet_seq_err and
 *	  implied_nak_seq_err with a rate and leaves them off, because a lossy network always has
 *	  some. A lost packet costs its connection about what is in flight: 10 us at 400 Gb/s are
 *	  120 packets of 4 KiB. One loss in 10,000 packets costs 1 % of the throughput, one in 1,000
 *	  a tenth of it. Losses that PFC and ECN leave over are far below.
 */
#include "thresholds.h"

#include <string.h>

#include "rna/base/cleanup.h"
#include "rna/base/parse.h"
#include "rna/base/words.h"

#define WINDOW_MIN (60 * RNA_USEC_PER_SEC)
/* A window no longer than the polling period would have one reading at most. */
enum { WINDOW_PERIODS_MIN = 3 };

#define IB     RNA_ON_INFINIBAND
#define ROCE   RNA_ON_ETHERNET
#define PMA    RNA_PLACE_PORT_COUNTERS
#define HW     RNA_PLACE_PORT_HW_COUNTERS
#define DEVICE RNA_PLACE_DEVICE_HW_COUNTERS
#define FABRIC RNA_PLACE_PORT_FABRIC
/* Of a meaning, whose ways have places of their own. */
#define MEANING RNA_PLACE_COUNT
#define INFO    RNA_SEVERITY_INFO
#define WARN    RNA_SEVERITY_WARNING
#define RISING  &rna_rule_errors_rising
#define UNACK   &rna_rule_acknowledgements_missing
#define PCIE    &rna_rule_pcie_errors
#define STORM   &rna_rule_pause_storm
#define SLOW    &rna_rule_pause_transmitted
#define JAM     &rna_rule_pause_received
#define LINK    &rna_rule_link_pause
#define STALL   &rna_rule_pcie_stalled
#define LOST    &rna_rule_packets_lost

#define SENT                         "packets_sent"
#define RECEIVED                     "packets_received"
#define PER_MILLION(packets, number) .base = packets, .share = number

/* clang-format off */
static const struct rna_threshold table[] = {
	{SENT, MEANING, 0, LOST, INFO, 1, 's', "packets are sent", .is_base = true},
	{RECEIVED, MEANING, 0, LOST, INFO, 1, 's', "packets are received", .is_base = true},
	{RNA_THRESHOLD_DOWNS, HW, 0, &rna_rule_port_flapping, WARN, 3, 'h',
	 "the cable, a transceiver or the peer port"},
	{RNA_THRESHOLD_DOWNS_DAILY, HW, 0, &rna_rule_port_flapping, WARN, 5, 'd',
	 "the cable, a transceiver or the peer port fails every few hours"},
	{"symbol_error", PMA, IB, RISING, WARN, 120, 'h',
	 "the cable or a transceiver (IBTA allows one bit in 10^12)"},
	{"link_error_recovery", PMA, IB, RISING, WARN, 5, 'm',
	 "the link is about to fail: cable, transceiver or port"},
	{"local_link_integrity_errors", PMA, IB, RISING, WARN, 1, 'h',
	 "more physical errors than the subnet manager allows"},
	{"excessive_buffer_overrun_errors", PMA, IB, RISING, WARN, 1, 'h',
	 "flow control fails: buffers overran"},
	{"port_rcv_errors", PMA, IB, RISING, WARN, 10, 's',
	 "corrupted packets are received"},
	{"port_rcv_remote_physical_errors", PMA, IB, RISING, INFO, 100, 'h',
	 "packets were corrupted at an earlier hop, not on this link"},
	{"port_xmit_discards", PMA, IB, RISING, WARN, 100, 's',
	 "packets wait too long for transmission: congestion, or a peer that accepts nothing"},
	{"fec_uncorrectable_blocks", FABRIC, IB, RISING, WARN, 10, 'h',
	 "more errors than forward error correction can repair: cable, connector or transceiver"},
	{"port_rcv_local_physical_errors", FABRIC, IB, RISING, WARN, 120, 'h',
	 "packets are corrupted on this link: cable, connector or transceiver"},
	{"port_rcv_malformed_packet_errors", FABRIC, IB, RISING, WARN, 10, 'h',
	 "malformed packets are received: a fault of a switch or an HCA, not of a cable"},
	{"port_rcv_buffer_overrun_errors", FABRIC, IB, RISING, WARN, 10, 'h',
	 "flow control fails: buffers overran"},
	{"port_neighbor_mtu_discards", FABRIC, IB, RISING, WARN, 10, 'h',
	 "packets exceed the MTU of the peer port: the MTUs differ"},
	{"port_inactive_discards", FABRIC, IB, RISING, INFO, 100, 'h',
	 "packets were discarded because the port was not active: it went down under load"},
	{"port_sw_hoq_lifetime_limit_discards", FABRIC, IB, RISING, WARN, 100, 'm',
	 "packets waited too long at the head of a queue: congestion, or a peer that accepts nothing"},
	{"port_sw_lifetime_limit_discards", FABRIC, IB, RISING, WARN, 100, 'm',
	 "packets exceeded their lifetime in the fabric: congestion"},
	{"checksum_errors", MEANING, ROCE, RISING, WARN, 1, 'h',
	 "RDMA packets with a wrong checksum (ICRC) are received: something on the path corrupts them"},
	{"receive_errors", MEANING, 0, LOST, WARN, 100, 's',
	 "RDMA packets are received with errors", PER_MILLION(RECEIVED, 100)},
	{"transmit_errors", MEANING, 0, LOST, WARN, 100, 's',
	 "RDMA packets are not sent because of errors", PER_MILLION(SENT, 100)},
	{"retransmission_timeouts", MEANING, 0, UNACK, INFO, 1, 's',
	 "peers do not acknowledge packets in time"},
	{"roce_adp_retrans_to", HW, ROCE, UNACK, INFO, 10, 's',
	 "peers do not acknowledge packets in time, with adaptive retransmission",
	 PER_MILLION(SENT, 10)},
	{"sequence_naks_received", MEANING, 0, LOST, WARN, 1, 's',
	 "peers miss packets of this port: the path loses them", PER_MILLION(SENT, 100),
	 .evidence = true},
	{"missing_responses", MEANING, 0, LOST, WARN, 1, 's',
	 "answers of peers are missing: the path loses them", PER_MILLION(SENT, 100)},
	{"receive_discards", MEANING, 0, LOST, WARN, 100, 's',
	 "this device drops RDMA packets that it receives: the host or the application is too slow",
	 PER_MILLION(RECEIVED, 100)},
	{"transmit_discards", MEANING, 0, LOST, WARN, 100, 's',
	 "this device drops RDMA packets instead of sending them", PER_MILLION(SENT, 100)},
	{"ethernet_receive_discards", HW, ROCE, LOST, WARN, 100, 's',
	 "this port drops what it receives: the host or its buffers are too slow",
	 PER_MILLION(RECEIVED, 100)},
	{"ethernet_transmit_discards", HW, ROCE, LOST, WARN, 100, 's',
	 "this port drops what it should send: the network makes it wait too long, or the link is down",
	 PER_MILLION(SENT, 100)},
	{"roce_slow_restart", HW, ROCE, RISING, INFO, 10, 's',
	 "senders begin slowly again, after congestion or after idle times"},
	{"retries_exceeded", MEANING, 0, RISING, INFO, 10, 'h',
	 "connections were terminated: a peer is gone, or packets are lost"},
	{"rnr_retries_exceeded", MEANING, 0, RISING, INFO, 10, 'h',
	 "connections were terminated: a peer posts no receive buffers"},
	{"cnps_ignored", MEANING, ROCE, &rna_rule_congestion_ignored, WARN, 10, 'm',
	 "congestion notifications are received and ignored"},
	{"unrecoverable_errors", MEANING, 0, RISING, WARN, 1, 'h',
	 "the device had errors that it could not recover from"},
	{"retrans_timeout_events", HW, 0, RISING, WARN, 1, 's',
	 "packets are lost, or a peer does not answer"},
	{"unresponsive_remote_events", HW, 0, UNACK, INFO, 1, 's',
	 "peers do not answer"},
	{"impaired_remote_conn_events", HW, 0, RISING, WARN, 1, 's',
	 "connections to peers are impaired"},
	{"rdma_read_wr_err", HW, 0, RISING, WARN, 100, 's',
	 "RDMA READ requests fail: a peer is gone, or its memory is not registered"},
	{"rdma_write_wr_err", HW, 0, RISING, WARN, 100, 's',
	 "RDMA WRITE requests fail: a peer is gone, or its memory is not registered"},
	{"ethernet_pcs_symbol_errors", HW, ROCE, RISING, WARN, 120, 'h',
	 "the cable or a transceiver: more errors than FEC corrects"},
	{"ethernet_fec_uncorrectable_blocks", HW, ROCE, RISING, WARN, 10, 'h',
	 "the cable or a transceiver: FEC cannot correct all errors, and packets are lost"},
	/* See count_heavy() in collectors/ethernet.c. The rate is that of symbol_error. */
	{"ethernet_fec_heavily_corrected_blocks", HW, ROCE, RISING, INFO, 120, 'h',
	 "blocks with 7 errors and more: FEC still corrects them, but the link has little margin left"},
	{"ethernet_fcs_errors", HW, ROCE, RISING, WARN, 120, 'h',
	 "corrupted frames are received: the cable, a transceiver, or a switch that forwards them"},
	{"ethernet_priority_pause_received", HW, ROCE, JAM, INFO, 6000000, 'm',
	 "the network asks this port to pause a priority: it is congested"},
	{"ethernet_priority_pause_frames_received", HW, ROCE, JAM, INFO, 10000, 's',
	 "the network asks this port to pause a priority: it is congested"},
	{"ethernet_priority_pause_transmitted", HW, ROCE, SLOW, WARN, 6000000, 'm',
	 "this host accepts packets more slowly than they arrive"},
	{"ethernet_priority_pause_frames_transmitted", HW, ROCE, SLOW, WARN, 10000, 's',
	 "this host accepts packets more slowly than they arrive"},
	{"ethernet_pause_received", HW, ROCE, LINK, INFO, 6000000, 'm',
	 "the network stops every priority of this port: it is congested"},
	{"ethernet_pause_frames_received", HW, ROCE, LINK, INFO, 10000, 's',
	 "the network stops every priority of this port: it is congested"},
	{"ethernet_pause_transmitted", HW, ROCE, LINK, WARN, 6000000, 'm',
	 "this host stops every priority of its switch port: it accepts packets more slowly than they arrive"},
	{"ethernet_pause_frames_transmitted", HW, ROCE, LINK, WARN, 10000, 's',
	 "this host stops every priority of its switch port: it accepts packets more slowly than they arrive"},
	{"ethernet_pause_storm_warnings", HW, ROCE, STORM, WARN, 1, 'h',
	 "the port made its switch pause for a long time"},
	{"ethernet_pause_storm_errors", HW, ROCE, STORM, RNA_SEVERITY_CRITICAL, 1, 'h',
	 "the port made its switch pause until the device turned flow control off"},
	{RNA_THRESHOLD_LOSSLESS, HW, ROCE, &rna_rule_qos_lossless_discards, WARN, 10, 'h',
	 "frames of a priority with PFC are dropped: it is not lossless"},
	{"pcie_read_stalled", HW, 0, STALL, WARN, 10000000, 'm',
	 "the device waits for host memory when it sends"},
	{"pcie_write_stalled", HW, 0, STALL, WARN, 10000000, 'm',
	 "the device waits for host memory when it receives"},
	{"pcie_buffer_overflows", HW, 0, STALL, WARN, 100, 'm',
	 "packets were dropped because host memory did not accept them in time"},
	{"module_bus_stuck", HW, 0, RISING, WARN, 1, 'h',
	 "the module's memory cannot be read: reseat it"},
	{"module_high_temperature", HW, 0, RISING, WARN, 1, 'h',
	 "the module is too hot: check its cooling"},
	{"module_bad_or_shorted", HW, 0, RISING, WARN, 1, 'h',
	 "the module or cable is broken"},
	{"aer_correctable", DEVICE, 0, PCIE, WARN, 1000, 'h',
	 "a PCIe link retransmits packets: a bad contact, a riser, or a slot at its limit"},
	{"aer_nonfatal", DEVICE, 0, PCIE, WARN, 1, 'h',
	 "PCIe transactions failed; the kernel log has each of them"},
	{"aer_fatal", DEVICE, 0, PCIE, RNA_SEVERITY_CRITICAL, 1, 'h',
	 "a PCIe link failed and was reset"},
	{"no_completion_cmds", DEVICE, 0, RISING, WARN, 1, 'h',
	 "the device does not complete commands"},
	{"cmds_err", DEVICE, 0, RISING, WARN, 10, 'm',
	 "the device rejects commands: an application asks for what it cannot do, or it is faulty"},
};
/* clang-format on */

static const struct {
	char name;
	const char *word;
	rna_usec length;
} units[] = {
	{'s', "second", RNA_USEC_PER_SEC},
	{'m', "minute", 60 * RNA_USEC_PER_SEC},
	{'h', "hour", 60 * 60 * RNA_USEC_PER_SEC},
	{'d', "day", 24 * 60 * 60 * RNA_USEC_PER_SEC},
};

static rna_usec unit_length(char name)
{
	for (size_t i = 0; i < RNA_ARRAY_SIZE(units); i++)
		if (units[i].name == name)
			return units[i].length;
	return 0;
}

/* -- Entries of the setting -------------------------------------------------------------------- */

enum { NAME_MAX_LEN = 64, COUNT_MAX_LEN = 12, PER_MILLION_MAX = 1000000 };

/* The number that is text up to len. */
static bool parse_count(const char *text, size_t len, uint64_t *ret)
{
	char count[COUNT_MAX_LEN + 1];

	if (len == 0 || len > COUNT_MAX_LEN)
		return false;
	memcpy(count, text, len);
	count[len] = '\0';
	return rna_parse_u64(count, ret) == 0 && *ret > 0;
}

/* "+100ppm"; "" is none: then count alone is the limit. */
static bool parse_share(const char *text, struct rna_threshold *threshold)
{
	static const char end[] = "ppm";
	size_t len = strlen(text);
	uint64_t share;

	if (*text == '\0') {
		threshold->base = NULL;
		threshold->share = 0;
		return true;
	}
	if (!threshold->base || *text != '+' || len < sizeof(end) ||
	    strcmp(text + len + 1 - sizeof(end), end) != 0 ||
	    !parse_count(text + 1, len - sizeof(end), &share) || share > PER_MILLION_MAX)
		return false;
	threshold->share = (unsigned)share;
	return true;
}

/* "120/h" or "1/s+100ppm"; 0 events for "off". */
static bool parse_limit(const char *text, struct rna_threshold *threshold)
{
	const char *slash = strchr(text, '/');

	if (strcmp(text, "off") == 0) {
		threshold->count = 0;
		return true;
	}
	if (!slash || unit_length(slash[1]) == 0)
		return false;
	threshold->unit = slash[1];
	return parse_count(text, (size_t)(slash - text), &threshold->count) &&
	       parse_share(slash + 2, threshold);
}

/* Does the row count by this file, for drivers of which a rise is not normal? */
static bool counts_by(const struct rna_threshold *row, const char *file)
{
	const struct rna_meaning *meaning =
		row->place == MEANING ? rna_meaning_find(row->name) : NULL;

	for (const struct rna_way *way = meaning ? meaning->ways : NULL; way && way->drivers; way++)
		if (!way->normal && rna_way_has(way, file))
			return true;
	return false;
}

static const struct rna_counter *find_counter(const char *name)
{
	return RNA_FIND(i, rna_counters, rna_counter_count,
			strcmp(rna_counters[i].file, name) == 0 &&
				rna_counters[i].kind == RNA_COUNTER);
}

/* Ratios are not counters. False: no statistic of that name. */
static bool find_statistic(const char *name, enum rna_ethernet_statistic_id *ret)
{
	for (*ret = 0; *ret < RNA_ETHERNET_STATISTIC_COUNT; ++*ret)
		if (rna_ethernet_statistics[*ret].unit != RNA_ETHERNET_MILLIONTHS &&
		    strcmp(rna_ethernet_statistics[*ret].name, name) == 0)
			return true;
	return false;
}

static bool take_name(const char *entry, char name[NAME_MAX_LEN + 1])
{
	size_t len = strcspn(entry, "=");

	if (len == 0 || len > NAME_MAX_LEN || entry[len] == '\0')
		return false;
	memcpy(name, entry, len);
	name[len] = '\0';
	return true;
}

/* The row of that name, or else of the meaning that it is a counter of. NULL: none. */
static const struct rna_threshold *find_row(const char *name)
{
	for (size_t i = 0; i < RNA_ARRAY_SIZE(table); i++)
		if (strcmp(table[i].name, name) == 0)
			return &table[i];
	return RNA_FIND(i, table, RNA_ARRAY_SIZE(table), counts_by(&table[i], name));
}

/* Finds the meaning, counter or statistic of that name, with its row of the table, if any. */
static bool find_threshold(const char *name, struct rna_threshold *ret)
{
	const struct rna_threshold *row = find_row(name);
	const struct rna_meaning *meaning = rna_meaning_find(name);
	const struct rna_counter *counter = find_counter(name);
	enum rna_ethernet_statistic_id statistic;

	*ret = (struct rna_threshold){.rule = RISING,
				      .severity = WARN,
				      .why = "see the HELP text of its metric"};
	if (row) {
		*ret = *row;
	} else if (find_statistic(name, &statistic)) {
		ret->name = rna_ethernet_statistics[statistic].name;
	} else if (meaning) {
		ret->name = meaning->name;
		ret->place = MEANING;
	} else if (counter) {
		ret->name = counter->file;
		ret->place = counter->place;
	}
	return ret->name;
}

/* Parses one entry of health.thresholds. */
static bool parse_entry(const char *entry, struct rna_threshold *ret)
{
	char name[NAME_MAX_LEN + 1];

	if (!take_name(entry, name) || !find_threshold(name, ret))
		return false;
	if (ret->is_base) { /* a threshold of its own makes a finding of its own */
		ret->is_base = false;
		ret->rule = RISING;
	}
	return parse_limit(strchr(entry, '=') + 1, ret);
}

bool rna_threshold_is_valid(const char *entry)
{
	struct rna_threshold ignored;

	return parse_entry(entry, &ignored);
}

void rna_threshold_explain(const char *entry, struct rna_strbuf *out)
{
	char name[NAME_MAX_LEN + 1];
	const struct rna_meaning *meaning;
	struct rna_threshold ignored;
	struct rna_hint hint;

	if (!take_name(entry, name) || find_threshold(name, &ignored))
		return;
	hint = RNA_HINT(name);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(table); i++)
		rna_hint_offer(&hint, table[i].name, strlen(table[i].name));
	for (size_t i = 0; i < rna_counter_count; i++)
		if (rna_counters[i].kind == RNA_COUNTER)
			rna_hint_offer(&hint, rna_counters[i].file, strlen(rna_counters[i].file));
	for (size_t at = 0; (meaning = rna_meaning_next(&at));)
		rna_hint_offer(&hint, meaning->name, strlen(meaning->name));
	rna_hint_write(&hint, "counter", "thresholds", out);
}

/* -- The list ---------------------------------------------------------------------------------- */

static void put(struct rna_thresholds *list, const struct rna_threshold *threshold)
{
	size_t i = 0;

	while (i < list->count && strcmp(list->items[i].name, threshold->name) != 0)
		i++;
	list->items[i] = *threshold;
	if (i == list->count)
		list->count++;
}

static bool is_of_pcie(const char *name, enum rna_aer *ret)
{
	static const char front[] = "aer_";

	if (strncmp(name, front, sizeof(front) - 1) != 0)
		return false;
	for (*ret = 0; *ret < RNA_AER_COUNT; ++*ret)
		if (strcmp(name + sizeof(front) - 1, rna_aer_name(*ret)) == 0)
			return true;
	return false;
}

/* Of a meaning, the longest of its ways. */
static rna_usec period_of(const struct rna_threshold *threshold,
			  const rna_usec poll[RNA_COLLECTOR_COUNT])
{
	rna_usec longest = 0;

	switch (threshold->source) {
	case RNA_THRESHOLD_OF_DOWNS:
		return poll[RNA_COLLECTOR_STATE];
	case RNA_THRESHOLD_OF_PCIE:
		return poll[RNA_COLLECTOR_PCIE];
	case RNA_THRESHOLD_OF_ETHERNET:
	case RNA_THRESHOLD_OF_LOSSLESS:
		return poll[RNA_COLLECTOR_ETHERNET];
	default:
		break;
	}
	for (size_t i = 0; i < RNA_THRESHOLD_WAYS_MAX && threshold->ways[i][0]; i++) {
		rna_usec period = poll[rna_counter_collector(threshold->ways[i][0]->place)];

		longest = period > longest ? period : longest;
	}
	return longest;
}

/* Rounded up to whole units, like the limit. */
static void set_window(struct rna_threshold *threshold, rna_usec period)
{
	rna_usec unit = unit_length(threshold->unit), least = WINDOW_PERIODS_MIN * period;

	least = least < WINDOW_MIN ? WINDOW_MIN : least;
	threshold->limit = threshold->count * ((least + unit - 1) / unit);
	threshold->window = (least + unit - 1) / unit * unit;
}

/* False: no counter has that name. */
static bool add_way(struct rna_threshold *threshold, size_t *count, enum rna_counter_place place,
		    const char *const files[RNA_WAY_FILES_MAX])
{
	const struct rna_counter **way = threshold->ways[*count];

	for (size_t i = 0; i < RNA_WAY_FILES_MAX && files[i]; i++)
		way[i] = rna_counter_find(place, files[i]);
	*count += way[0] != NULL;
	return way[0];
}

/*
 * A file of one driver may be the device's instead of the port's: mlx5 in switchdev mode
 * (Linux 6.12 hw/mlx5/counters.c mlx5_ib_counters_init()).
 */
static void find_ways(struct rna_threshold *threshold)
{
	const char *const file[RNA_WAY_FILES_MAX] = {threshold->name};
	const struct rna_meaning *meaning = rna_meaning_find(threshold->name);
	const struct rna_way *way = meaning && threshold->place == MEANING ? meaning->ways : NULL;
	size_t count = 0;

	for (; way && way->drivers && count < RNA_THRESHOLD_WAYS_MAX; way++)
		if (way->files[0] && !way->normal)
			(void)add_way(threshold, &count, way->place, way->files);
	if (threshold->place == MEANING)
		return;
	if (add_way(threshold, &count, threshold->place, file) && threshold->place == HW)
		(void)add_way(threshold, &count, DEVICE, file);
}

static void prepare(struct rna_threshold *threshold, const rna_usec poll[RNA_COLLECTOR_COUNT])
{
	if (strcmp(threshold->name, RNA_THRESHOLD_DOWNS) == 0 ||
	    strcmp(threshold->name, RNA_THRESHOLD_DOWNS_DAILY) == 0)
		threshold->source = RNA_THRESHOLD_OF_DOWNS;
	else if (strcmp(threshold->name, RNA_THRESHOLD_LOSSLESS) == 0)
		threshold->source = RNA_THRESHOLD_OF_LOSSLESS;
	else if (is_of_pcie(threshold->name, &threshold->aer))
		threshold->source = RNA_THRESHOLD_OF_PCIE;
	else if (find_statistic(threshold->name, &threshold->statistic))
		threshold->source = RNA_THRESHOLD_OF_ETHERNET;
	else
		find_ways(threshold);
	set_window(threshold, period_of(threshold, poll));
}

static int find_item(const struct rna_thresholds *list, const char *name)
{
	for (size_t i = 0; name && i < list->count; i++)
		if (strcmp(list->items[i].name, name) == 0)
			return (int)i;
	return -1;
}

struct rna_thresholds *rna_thresholds_new(char *const *entries,
					  const rna_usec poll[RNA_COLLECTOR_COUNT])
{
	size_t most = RNA_ARRAY_SIZE(table), kept = 0;
	struct rna_thresholds *list;

	for (char *const *entry = entries; entry && *entry; entry++)
		most++;
	list = calloc(1, sizeof(*list) + most * sizeof(*list->items));
	if (!list)
		return NULL;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(table); i++)
		put(list, &table[i]);
	for (char *const *entry = entries; entry && *entry; entry++) {
		struct rna_threshold threshold;

		if (parse_entry(*entry, &threshold)) /* always: the settings were validated */
			put(list, &threshold);
	}
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].count > 0) {
			list->items[kept] = list->items[i];
			prepare(&list->items[kept++], poll);
		}
	list->count = kept;
	for (size_t i = 0; i < list->count; i++)
		list->items[i].base_item = find_item(list, list->items[i].base);
	return list;
}

uint64_t rna_threshold_limit(const struct rna_thresholds *thresholds, size_t i,
			     const struct rna_window *windows, bool *ret_known)
{
	const struct rna_threshold *threshold = &thresholds->items[i], *base;
	double packets;

	*ret_known = !threshold->base;
	if (threshold->base_item < 0 || !windows[threshold->base_item].known)
		return threshold->limit;
	*ret_known = true;
	base = &thresholds->items[threshold->base_item];
	/* Collectors have periods of their own, and windows follow from them. */
	packets = (double)rna_window_rise(&windows[threshold->base_item]) *
		  (double)threshold->window / (double)base->window;
	return threshold->limit + (uint64_t)(packets * threshold->share / 1e6);
}

static bool has_all(const struct rna_counter *const way[RNA_WAY_FILES_MAX],
		    const struct rna_counter_group *const groups[RNA_PLACE_COUNT])
{
	for (size_t i = 0; i < RNA_WAY_FILES_MAX && way[i]; i++)
		if (!rna_counter_group_find(groups[way[i]->place], way[i]))
			return false;
	return way[0];
}

const struct rna_counter *const *rna_threshold_counters(
	const struct rna_threshold *threshold,
	const struct rna_counter_group *const groups[RNA_PLACE_COUNT])
{
	for (size_t i = 0; i < RNA_THRESHOLD_WAYS_MAX && threshold->ways[i][0]; i++)
		if (has_all(threshold->ways[i], groups))
			return threshold->ways[i];
	return NULL;
}

bool rna_threshold_has(const struct rna_threshold *threshold, const struct rna_counter *counter)
{
	for (size_t i = 0; i < RNA_THRESHOLD_WAYS_MAX; i++)
		for (size_t j = 0; j < RNA_WAY_FILES_MAX && threshold->ways[i][j]; j++)
			if (threshold->ways[i][j] == counter)
				return true;
	return false;
}

bool rna_thresholds_same(const struct rna_thresholds *a, const struct rna_thresholds *b)
{
	if (a->count != b->count)
		return false;
	return !RNA_ANY(i, a->count,
			strcmp(a->items[i].name, b->items[i].name) != 0 ||
				a->items[i].window != b->items[i].window);
}

void rna_thresholds_describe(struct rna_strbuf *out)
{
	static const char *const layers[] = {[IB] = "InfiniBand", [ROCE] = "Ethernet"};

	rna_strbuf_puts(out, "Counter\tThreshold\tLink layer\tSeverity\tWhat a rise means\n");
	RNA_EACH (row, table, RNA_ARRAY_SIZE(table)) {
		if (row->is_base)
			continue;
		rna_strbuf_printf(out, "`%s`\t`%ju/%c", row->name, (uintmax_t)row->count,
				  row->unit);
		if (row->base)
			rna_strbuf_printf(out, "+%uppm", row->share);
		rna_strbuf_printf(out, "`\t%s\t%s\t%s\n",
				  row->link_layers ? layers[row->link_layers] : "any",
				  rna_severity_name(row->severity), row->why);
	}
}

/* -- Windows ----------------------------------------------------------------------------------- */

uint64_t rna_window_rise(const struct rna_window *window)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < RNA_WINDOW_SLOTS; i++)
		sum += window->rises[i];
	return sum;
}

struct rna_value rna_window_follow(struct rna_window *window, struct rna_ethernet_sum sum)
{
	if (sum.summands) {
		window->known &= sum.summands == window->summands;
		window->summands = sum.summands;
	}
	return sum.value;
}

static void advance_window(struct rna_window *window, rna_usec now, rna_usec slot_length)
{
	rna_usec slots = rna_usec_since(window->slot_start, now) / slot_length;

	window->slot_start += slots * slot_length;
	for (rna_usec i = 0; i < slots && i < RNA_WINDOW_SLOTS; i++) {
		window->slot = (window->slot + 1) % RNA_WINDOW_SLOTS;
		window->rises[window->slot] = 0;
	}
}

/*
 * The rise since the last reading. After a gap longer than the window, only the part that falls
 * into the window, but at least 1.
 */
static uint64_t rise_to(const struct rna_window *window, const struct rna_threshold *threshold,
			uint64_t number, rna_usec now)
{
	uint64_t rise = window->known && number > window->last ? number - window->last : 0;
	rna_usec gap = rna_usec_since(window->when, now);

	if (rise == 0 || gap <= threshold->window)
		return rise;
	return 1 + (uint64_t)((double)(rise - 1) * (double)threshold->window / (double)gap);
}

bool rna_window_add(struct rna_window *window, const struct rna_threshold *threshold,
		    struct rna_value value, rna_usec now)
{
	uint64_t rise, new = 0;

	advance_window(window, now, threshold->window / RNA_WINDOW_SLOTS);
	if (rna_value_is_known(value)) {
		new = rise_to(window, threshold, value.number, now);
		window->rises[window->slot] += new;
		window->last = value.number;
		window->when = now;
		window->known = true;
	}
	rise = rna_window_rise(window);
	if (rise >= threshold->limit)
		window->over = true;
	else if (rise < (threshold->limit + 1) / 2)
		window->over = false;
	return new > 0;
}

void rna_window_carry_over(struct rna_window *window, const struct rna_threshold *threshold,
			   rna_usec written, rna_usec between, rna_usec now)
{
	rna_usec slot_length = threshold->window / RNA_WINDOW_SLOTS;
	rna_usec ago = rna_usec_since(window->slot_start, written) + between;

	window->slot_start = 0;
	advance_window(window, ago + slot_length, slot_length);
	window->slot_start = window->when = now;
	window->known = false;
}
