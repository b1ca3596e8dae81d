// SPDX-License-Identifier: Apache-2.0
/*
 * Metrics of the Ethernet side. They have the label netdev besides: of a bond, each member has a
 * wire of its own.
 */
#include "family_rows.h"

static const void *next_netdev(const struct rna_subject *port, size_t *from)
{
	const struct rna_ethernet *ethernet = rna_device_ethernet(port->device);

	while (ethernet && *from < ethernet->count) {
		const struct rna_ethernet_netdev *netdev = &ethernet->netdevs[(*from)++];

		if (netdev->port == port->port)
			return netdev;
	}
	return NULL;
}

static struct rna_value bytes_per_second(const void *item)
{
	const struct rna_ethernet_netdev *netdev = item;
	struct rna_value speed = netdev->mode.speed;

	speed.number /= 8; /* bits to bytes */
	return speed;
}

static void begin_labels(const struct rna_subject *port, const char *netdev,
			 struct rna_strbuf *labels)
{
	rna_labels_begin(labels, port->labels);
	rna_label_add(labels, "netdev", netdev);
}

/* Raw driver statistics that a setting selects by name. */
static void ethernet_unknown(const struct rna_subject *port, struct rna_writer *writer)
{
	const struct rna_ethernet_netdev *netdev;
	size_t from = 0;

	while ((netdev = next_netdev(port, &from))) {
		RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

		begin_labels(port, netdev->name, &labels);
		writer->out->failed |= !rna_strbuf_ok(&labels);
		for (size_t i = 0; i < netdev->extra_count; i++)
			if (rna_value_is_known(netdev->extras[i].value))
				rna_writer_sample_with(writer,
						       (struct rna_span){labels.data, labels.len},
						       "counter", netdev->extras[i].name,
						       netdev->extras[i].value.number);
	}
}

/* -- Blocks by errors -------------------------------------------------------------------------- */

/* "4", or "4-7" */
static void add_errors(struct rna_strbuf *labels, const struct rna_ethernet_fec_bin *bin)
{
	char text[32];

	if (bin->low == bin->high)
		(void)snprintf(text, sizeof(text), "%u", bin->low);
	else
		(void)snprintf(text, sizeof(text), "%u-%u", bin->low, bin->high);
	rna_label_add(labels, "errors", text);
}

static void write_bin(const struct rna_subject *port, const char *netdev,
		      const struct rna_ethernet_fec_bin *bin, struct rna_writer *writer)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

	begin_labels(port, netdev, &labels);
	add_errors(&labels, bin);
	rna_writer_sample_labels(writer, &labels, bin->blocks);
}

static void write_bin_lanes(const struct rna_subject *port, const char *netdev,
			    const struct rna_ethernet_fec_bin *bin, struct rna_writer *writer)
{
	for (size_t lane = 0; lane < bin->lane_count; lane++) {
		RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

		begin_labels(port, netdev, &labels);
		add_errors(&labels, bin);
		rna_label_add_number(&labels, "lane", (unsigned)lane);
		rna_writer_sample_labels(writer, &labels, bin->lanes[lane]);
	}
}

typedef void write_one_bin(const struct rna_subject *port, const char *netdev,
			   const struct rna_ethernet_fec_bin *bin, struct rna_writer *writer);

static void write_bins(const struct rna_subject *port, struct rna_writer *writer,
		       write_one_bin *write)
{
	const struct rna_ethernet_netdev *netdev;
	size_t from = 0;

	while ((netdev = next_netdev(port, &from)))
		for (size_t i = 0; i < netdev->bin_count; i++)
			write(port, netdev->name, &netdev->bins[i], writer);
}

/*
 * A counter for each bin, no Prometheus histogram. Its buckets would add up all bins from 0 on: a
 * port of 400 Gb/s receives 425e9 / 5440 = 8e7 blocks of RS(544,514) a second, so that the few in
 * the last bins, which matter, are differences of numbers that a double no longer holds exactly
 * after 2^53 / 8e7 s = 3.6 years. It also wants a sum of errors, which ranges do not give, and
 * equal bounds wherever it is added up. The bins are disjoint: a sum over the label is the number
 * of blocks, as Prometheus asks of labels (docs/practices/naming).
 */
static void fec_blocks(const struct rna_subject *port, struct rna_writer *writer)
{
	write_bins(port, writer, write_bin);
}

static void fec_lane_blocks(const struct rna_subject *port, struct rna_writer *writer)
{
	if (port->view->metrics.fec_lanes)
		write_bins(port, writer, write_bin_lanes);
}

/* -- In words ---------------------------------------------------------------------------------- */

static const char *down_detail(const void *item)
{
	const struct rna_ethernet_link *link = &((const struct rna_ethernet_netdev *)item)->link;

	if (!rna_value_is_known(link->state) || !rna_value_is_known(link->substate))
		return NULL;
	return rna_ethernet_link_substate_name(link->state.number, link->substate.number);
}

static const char *fec_name(uint64_t fec)
{
	return rna_fec_name((enum rna_fec)fec);
}

static bool is_down_for_a_reason(const struct rna_ethernet_link *link)
{
	return rna_value_is_known(link->up) && link->up.number == 0 &&
	       rna_value_is_known(link->state);
}

static void ethernet_down_info(const struct rna_subject *port, struct rna_writer *writer)
{
	const struct rna_ethernet_netdev *netdev;
	size_t from = 0;

	while ((netdev = next_netdev(port, &from))) {
		RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;
		const struct rna_ethernet_link *link = &netdev->link;

		if (!is_down_for_a_reason(link))
			continue;
		begin_labels(port, netdev->name, &labels);
		rna_label_add(&labels, "reason", rna_ethernet_link_state_name(link->state.number));
		if (rna_value_is_known(link->substate))
			rna_label_add(&labels, "detail",
				      rna_ethernet_link_substate_name(link->state.number,
								      link->substate.number));
		rna_writer_sample_labels(writer, &labels, 1);
	}
}

/* No label where it is not known. */
static void add_choice(struct rna_strbuf *labels, const char *name, struct rna_value value,
		       const char *const words[2])
{
	rna_label_add(labels, name, rna_value_is_known(value) ? words[value.number != 0] : NULL);
}

static void ethernet_mode_info(const struct rna_subject *port, struct rna_writer *writer)
{
	static const char *const switches[] = {"off", "on"}, *const duplexes[] = {"half", "full"};
	const struct rna_ethernet_netdev *netdev;
	size_t from = 0;

	while ((netdev = next_netdev(port, &from))) {
		RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

		begin_labels(port, netdev->name, &labels);
		rna_label_add(&labels, "fec",
			      rna_value_is_known(netdev->fec.active)
				      ? rna_fec_name((enum rna_fec)netdev->fec.active.number)
				      : NULL);
		add_choice(&labels, "autoneg", netdev->mode.autoneg, switches);
		add_choice(&labels, "duplex", netdev->mode.full_duplex, duplexes);
		add_choice(&labels, "pause_receive", netdev->pause.receive, switches);
		add_choice(&labels, "pause_transmit", netdev->pause.transmit, switches);
		if (rna_value_is_known(netdev->mode.autoneg))
			rna_writer_sample_labels(writer, &labels, 1);
	}
}

/* -- Statistics -------------------------------------------------------------------------------- */

struct rna_family rna_family_of_statistic(enum rna_ethernet_statistic_id id,
					  struct rna_arena *arena)
{
	static const struct {
		const char *suffix;
		enum rna_metric_unit unit;
	} units[] = {
		[RNA_ETHERNET_PLAIN] = {"_total", RNA_METRIC_PLAIN},
		[RNA_ETHERNET_BITS] = {"_bytes_total", RNA_METRIC_BYTES},
		[RNA_ETHERNET_MICROSECONDS] = {"_seconds_total", RNA_METRIC_SECONDS},
		[RNA_ETHERNET_MILLIONTHS] = {"_ratio", RNA_METRIC_RATIO},
	};
	const struct rna_ethernet_statistic *row = &rna_ethernet_statistics[id];

	return (struct rna_family){
		.metric =
			{
				.name = rna_arena_printf(arena, "rdma_port_%s%s", row->name,
							 units[row->unit].suffix),
				.type = row->unit == RNA_ETHERNET_MILLIONTHS ? RNA_METRIC_GAUGE
									     : RNA_METRIC_COUNTER,
				.unit = units[row->unit].unit,
				.help = row->help,
			},
		.scope = RNA_SCOPE_PORT,
		.statistic = row,
	};
}

const char *rna_family_statistic_labels(const struct rna_family *family)
{
	const char *label = family->statistic->label;

	if (!label)
		return "netdev";
	return label[0] == 'l' ? "netdev, lane" : "netdev, priority";
}

static uint64_t in_base_unit(const struct rna_ethernet_count *count)
{
	enum { BITS_PER_BYTE = 8 };
	bool bits = rna_ethernet_statistics[count->id].unit == RNA_ETHERNET_BITS;

	return bits ? count->value.number / BITS_PER_BYTE : count->value.number;
}

static void write_count(const struct rna_subject *port, const char *netdev,
			const struct rna_ethernet_count *count, struct rna_writer *writer)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

	begin_labels(port, netdev, &labels);
	if (count->number >= 0)
		rna_label_add_number(&labels, rna_ethernet_statistics[count->id].label,
				     (unsigned)count->number);
	rna_writer_sample_labels(writer, &labels, in_base_unit(count));
}

static bool is_wanted(const struct rna_ethernet_statistic *statistic,
		      const struct rna_metrics_options *metrics)
{
	if (statistic->fec_lane)
		return metrics->fec_lanes;
	return !statistic->label || metrics->priorities;
}

void rna_family_write_statistic(const struct rna_family *family,
				const struct rna_subject_list *ports, struct rna_writer *writer)
{
	RNA_EACH (port, ports->items, ports->count) {
		const struct rna_ethernet_netdev *netdev;
		size_t from = 0;

		if (!is_wanted(family->statistic, &port->view->metrics))
			continue;
		while ((netdev = next_netdev(port, &from)))
			for (size_t i = 0; i < netdev->count; i++)
				if (&rna_ethernet_statistics[netdev->counts[i].id] ==
					    family->statistic &&
				    rna_value_is_known(netdev->counts[i].value))
					write_count(port, netdev->name, &netdev->counts[i], writer);
	}
}

/* -- The tables -------------------------------------------------------------------------------- */

#define NETDEV(member) ABOUT(struct rna_ethernet_netdev, member)

/* clang-format off */
static const struct rna_family rows[] = {
	{BOTH("netdev", NETDEV(name), .tells = true)},
	METRIC(PORT, "rdma_port_ethernet_link_up", GAUGE, YES_NO,
	       IN(struct rna_ethernet_netdev, link.up, .json = "link", .yes_no = true),
	       "1 if the network interface has a link, 0 otherwise. Bonds have one series per "
	       "member."),
	METRIC(PORT, "rdma_port_ethernet_link_down_info", INFO, PLAIN,
	       EACH(ethernet_down_info, "netdev, reason, detail"),
	       "Reason that the driver reports for a network interface without a link. Absent "
	       "while the link is up."),
	{JSON("down_reason", NETDEV(link.state), .word = rna_ethernet_link_state_name)},
	{JSON("down_detail", .text = down_detail)},
	METRIC(PORT, "rdma_port_ethernet_speed_bytes_per_second", GAUGE, BYTES_PER_SEC,
	       JSON("speed_bytes_per_second", .number = bytes_per_second),
	       "Link speed of the network interface in bytes per second and direction."),
	METRIC(PORT, "rdma_port_ethernet_lanes", GAUGE, PLAIN,
	       IN(struct rna_ethernet_netdev, mode.lanes, .json = "lanes"),
	       "Lanes of the network interface's link."),
	METRIC(PORT, "rdma_port_ethernet_mode_info", INFO, PLAIN,
	       EACH(ethernet_mode_info, "netdev, fec, autoneg, duplex, pause_receive, pause_transmit"),
	       "Link mode of the network interface: active FEC, autonegotiation, duplex, and link-"
	       "level pause frames accepted and sent."),
	{JSON_FLAG("full_duplex", NETDEV(mode.full_duplex))},
	{JSON_FLAG("autoneg", NETDEV(mode.autoneg))},
	{JSON("fec", NETDEV(fec.active), .word = fec_name)},
	{JSON_FLAG("fec_automatic", NETDEV(fec.automatic))},
	METRIC(PORT, "rdma_port_ethernet_fec_blocks_total", COUNTER, PLAIN,
	       EACH(fec_blocks, "netdev, errors"),
	       "FEC blocks (codewords) received, by the number of errors in them, a number or a range. "
	       "A block is counted once. Requires Linux 6.18 and a driver that counts them."),
	METRIC(PORT, "rdma_port_ethernet_fec_lane_blocks_total", COUNTER, PLAIN,
	       EACH(fec_lane_blocks, "netdev, errors, lane"),
	       "FEC blocks (codewords) received, by the number of errors in them and by lane. Requires "
	       "metrics.fec_lanes."),
	{.statistics = true},
};

static const struct rna_family unknown_rows[] = {
	METRIC(PORT, "rdma_port_ethernet_unknown_total", COUNTER, PLAIN,
	       EACH(ethernet_unknown, "netdev, counter"),
	       "Raw value of a driver statistic named in ethernet.statistics that this version "
	       "does not recognise."),
};
/* clang-format on */

const struct rna_family_table rna_ethernet_table = {ROWS(rows), .next = next_netdev};
const struct rna_family_table rna_ethernet_unknown_table = {ROWS(unknown_rows)};
