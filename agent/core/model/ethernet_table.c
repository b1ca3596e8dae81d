// SPDX-License-Identifier: Apache-2.0
/*
 * The Ethernet statistics with names of the agent. collectors/ethernet_sources.c maps the kernel's
 * standard statistics and the drivers' names to them.
 */
#include "rna/base/hash.h"
#include "rna/model/ethernet.h"

/* clang-format off */
#define ROW(ID, NAME, HELP, ...) [RNA_ETHERNET_##ID] = {.name = NAME, .help = HELP, __VA_ARGS__}
#define BY_PRIORITY .label = "priority"
#define BY_FEC_LANE .label = "lane", .fec_lane = true
#define BITS        .unit = RNA_ETHERNET_BITS
#define TIME        .unit = RNA_ETHERNET_MICROSECONDS
#define SHARE       .unit = RNA_ETHERNET_MILLIONTHS

const struct rna_ethernet_statistic rna_ethernet_statistics[RNA_ETHERNET_STATISTIC_COUNT] = {
	ROW(LINK_DOWNS, "ethernet_link_downs",
	    "Losses of the physical link, as counted by the driver."),
	ROW(LOCAL_FAULTS, "ethernet_local_faults",
	    "Times this end received no usable signal (IEEE 802.3 local fault)."),
	ROW(REMOTE_FAULTS, "ethernet_remote_faults",
	    "Times the other end reported that it received no usable signal (IEEE 802.3 remote fault)."),
	ROW(WIRE_RECEIVED, "ethernet_wire_received",
	    "Data received on the wire, including errors. Divide bit errors by it for the error rate.", BITS),
	ROW(SYMBOL_ERRORS, "ethernet_symbol_errors",
	    "Invalid symbols received; with FEC, invalid after correction."),
	ROW(PCS_SYMBOL_ERRORS, "ethernet_pcs_symbol_errors",
	    "Symbols received that FEC could not correct."),
	ROW(LANE_ERRORS, "ethernet_lane_errors",
	    "Symbol errors received before FEC, by lane.", .label = "lane"),
	ROW(FEC_CORRECTED_BITS, "ethernet_fec_corrected_bit_errors",
	    "Bits corrected by FEC on reception. Normal at 50 Gb/s per lane and above."),
	ROW(FEC_CORRECTED_BLOCKS, "ethernet_fec_corrected_blocks",
	    "FEC blocks received with errors and corrected. Normal at 50 Gb/s per lane and above."),
	ROW(FEC_UNCORRECTABLE_BLOCKS, "ethernet_fec_uncorrectable_blocks",
	    "FEC blocks received with more errors than FEC can correct. Their packets are lost."),
	ROW(FEC_HEAVILY_CORRECTED_BLOCKS, "ethernet_fec_heavily_corrected_blocks",
	    "FEC blocks received with 7 errors or more, as far as the driver counts blocks by errors. RS(544,514) corrects up to 15; on a stable link this hardly rises."),
	ROW(FEC_LANE_CORRECTED_BITS, "ethernet_fec_lane_corrected_bit_errors",
	    "Bits corrected by FEC on reception, by lane. Requires metrics.fec_lanes.", BY_FEC_LANE),
	ROW(FEC_LANE_CORRECTED_BLOCKS, "ethernet_fec_lane_corrected_blocks",
	    "FEC blocks received with errors and corrected, by lane. Requires metrics.fec_lanes.", BY_FEC_LANE),
	ROW(FEC_LANE_UNCORRECTABLE_BLOCKS, "ethernet_fec_lane_uncorrectable_blocks",
	    "FEC blocks received with more errors than FEC can correct, by lane. Requires metrics.fec_lanes.", BY_FEC_LANE),
	ROW(FCS_ERRORS, "ethernet_fcs_errors",
	    "Frames received with a wrong frame check sequence (FCS)."),
	ROW(ALIGNMENT_ERRORS, "ethernet_alignment_errors",
	    "Frames received whose length is not a whole number of octets."),
	ROW(LENGTH_ERRORS, "ethernet_length_errors",
	    "Frames received whose length field does not match their length."),
	ROW(UNDERSIZE_FRAMES, "ethernet_undersize_frames",
	    "Undersized frames received with a correct frame check sequence (FCS)."),
	ROW(OVERSIZE_FRAMES, "ethernet_oversize_frames",
	    "Frames received that are longer than the port accepts. Compare the MTUs of both ends."),
	ROW(FRAGMENTS, "ethernet_fragments",
	    "Undersized frames received with a wrong frame check sequence (FCS)."),
	ROW(JABBERS, "ethernet_jabbers",
	    "Oversized frames received with a wrong frame check sequence (FCS)."),
	ROW(UNSUPPORTED_FRAMES, "ethernet_unsupported_control_frames",
	    "MAC control frames received that the port does not support."),
	ROW(MAC_RECEIVE_ERRORS, "ethernet_mac_receive_errors",
	    "Frames lost on reception by an internal MAC error."),
	ROW(MAC_TRANSMIT_ERRORS, "ethernet_mac_transmit_errors",
	    "Frames lost on transmission by an internal MAC error."),
	ROW(RECEIVE_DISCARDS, "ethernet_receive_discards",
	    "Valid frames received and dropped by the port for lack of buffer space."),
	ROW(TRANSMIT_DISCARDS, "ethernet_transmit_discards",
	    "Outbound frames dropped by the port."),
	ROW(OUT_OF_BUFFER, "ethernet_out_of_buffer_drops",
	    "Frames for the network stack dropped because no receive buffer was posted."),
	ROW(BANDWIDTH_IN_EXCEEDED, "ethernet_bandwidth_in_exceeded",
	    "Packets queued or dropped because inbound traffic exceeded the instance's bandwidth limit."),
	ROW(BANDWIDTH_OUT_EXCEEDED, "ethernet_bandwidth_out_exceeded",
	    "Packets queued or dropped because outbound traffic exceeded the instance's bandwidth limit."),
	ROW(PACKET_RATE_EXCEEDED, "ethernet_packet_rate_exceeded",
	    "Packets queued or dropped because traffic exceeded the instance's limit of packets per second."),
	ROW(PAUSE_RECEIVED, "ethernet_pause_frames_received",
	    "Pause frames received; the network asks this port to stop sending."),
	ROW(PAUSE_TRANSMITTED, "ethernet_pause_frames_transmitted",
	    "Pause frames sent: this host accepts packets more slowly than they arrive."),
	ROW(PAUSE_RECEIVED_TIME, "ethernet_pause_received",
	    "Time in seconds that received pause frames kept the port from sending.", TIME),
	ROW(PAUSE_TRANSMITTED_TIME, "ethernet_pause_transmitted",
	    "Time in seconds that the port's pause frames kept the other end from sending.", TIME),
	ROW(PRIORITY_PAUSE_RECEIVED, "ethernet_priority_pause_frames_received",
	    "Priority flow control frames received that pause this priority.", BY_PRIORITY),
	ROW(PRIORITY_PAUSE_TRANSMITTED, "ethernet_priority_pause_frames_transmitted",
	    "Priority flow control frames sent that pause this priority.", BY_PRIORITY),
	ROW(PRIORITY_PAUSE_RECEIVED_TIME, "ethernet_priority_pause_received",
	    "Time in seconds that received pause frames kept the port from sending this priority.", BY_PRIORITY, TIME),
	ROW(PRIORITY_PAUSE_TRANSMITTED_TIME, "ethernet_priority_pause_transmitted",
	    "Time in seconds that the port's pause frames kept the other end from sending this priority.", BY_PRIORITY, TIME),
	ROW(PRIORITY_DISCARDS, "ethernet_priority_receive_discards",
	    "Frames of this priority received and dropped for lack of buffer space.", BY_PRIORITY),
	ROW(PRIORITY_BUFFER_DISCARDS, "ethernet_priority_buffer_discards",
	    "Received frames of this priority dropped because the port's buffer for it was full.", BY_PRIORITY),
	ROW(PRIORITY_CONGESTION_DISCARDS, "ethernet_priority_congestion_discards",
	    "Received frames of this priority dropped because the host was too slow for the port.", BY_PRIORITY),
	ROW(PRIORITY_MARKED, "ethernet_priority_marked_frames",
	    "Received frames of this priority that the port marked (ECN) because the host was too slow.", BY_PRIORITY),
	ROW(PAUSE_STORM_WARNINGS, "ethernet_pause_storm_warnings",
	    "Pause storm warnings: times the port sent pause frames for so long that the device warned."),
	ROW(PAUSE_STORM_ERRORS, "ethernet_pause_storm_errors",
	    "Pause storm errors: times the port sent pause frames for so long that the device stopped sending them and drops packets instead."),
	ROW(PCIE_READ_STALLED, "pcie_read_stalled",
	    "Fraction of the last second that the device waited for PCIe credits to read from memory.", SHARE),
	ROW(PCIE_WRITE_STALLED, "pcie_write_stalled",
	    "Fraction of the last second that the device waited for PCIe credits to write to memory.", SHARE),
	ROW(PCIE_READ_STALLED_TIME, "pcie_read_stalled",
	    "Seconds in which reads from memory were stalled for more than 30 percent of the time.", TIME),
	ROW(PCIE_WRITE_STALLED_TIME, "pcie_write_stalled",
	    "Seconds in which writes to memory were stalled for more than 30 percent of the time.", TIME),
	ROW(PCIE_BUFFER_OVERFLOWS, "pcie_buffer_overflows",
	    "Packets dropped because the device could not write them to memory in time."),
	ROW(PCIE_RECEIVE_SIGNAL_ERRORS, "pcie_receive_signal_errors",
	    "PCIe signal errors at the device: errors in frames or symbols that it received."),
	ROW(PCIE_TRANSMIT_SIGNAL_ERRORS, "pcie_transmit_signal_errors",
	    "Link recoveries started by the other end of the device's PCIe link because of signal errors."),
	ROW(MODULE_UNPLUGGED, "module_unplugs",
	    "Times the module or cable was unplugged."),
	ROW(MODULE_BUS_STUCK, "module_bus_stuck",
	    "Times the bus to the module's memory hung."),
	ROW(MODULE_HIGH_TEMPERATURE, "module_high_temperature",
	    "Times the module was too hot."),
	ROW(MODULE_BAD_SHORTED, "module_bad_or_shorted",
	    "Times the module or cable was found bad or shorted."),
};
/* clang-format on */

/* Selects the counts of a sum. */
typedef bool belongs(const struct rna_ethernet_count *count, uint64_t of);

/*
 * Identifies the summed counts by one number: a bond member that lost its link may report fewer
 * counts.
 */
static uint64_t add_summand(uint64_t summands, const struct rna_ethernet_netdev *netdev,
			    const struct rna_ethernet_count *count)
{
	uint64_t hash = summands ? summands : RNA_HASH_INIT;

	hash = rna_hash_number(hash, netdev->ifindex);
	hash = rna_hash_number(hash, count->id);
	return rna_hash_number(hash, (uint64_t)count->number);
}

static void add_up(const struct rna_ethernet_netdev *netdev, belongs *does_belong, uint64_t of,
		   struct rna_ethernet_sum *sum)
{
	for (size_t i = 0; i < netdev->count; i++) {
		const struct rna_ethernet_count *count = &netdev->counts[i];

		if (!does_belong(count, of) || count->value.state == RNA_VALUE_ABSENT)
			continue;
		sum->summands = add_summand(sum->summands, netdev, count);
		if (rna_value_is_known(count->value) && sum->value.state != RNA_VALUE_UNREADABLE)
			sum->value = rna_value_ok(sum->value.number + count->value.number);
		else
			sum->value = rna_value_unreadable();
	}
}

static bool has_id(const struct rna_ethernet_count *count, uint64_t id)
{
	return count->id == id;
}

struct rna_ethernet_sum rna_ethernet_sum(const struct rna_ethernet *ethernet, unsigned port,
					 enum rna_ethernet_statistic_id id)
{
	struct rna_ethernet_sum sum = {0};

	for (size_t i = 0; ethernet && i < ethernet->count; i++)
		if (ethernet->netdevs[i].port == port)
			add_up(&ethernet->netdevs[i], has_id, id, &sum);
	return sum;
}

static bool is_discard(const struct rna_ethernet_count *count, uint64_t priorities)
{
	switch (count->id) {
	case RNA_ETHERNET_PRIORITY_DISCARDS:
	case RNA_ETHERNET_PRIORITY_BUFFER_DISCARDS:
	case RNA_ETHERNET_PRIORITY_CONGESTION_DISCARDS:
		return count->number >= 0 && count->number < 64 && priorities >> count->number & 1;
	default:
		return false;
	}
}

void rna_ethernet_add_discards(const struct rna_ethernet_netdev *netdev, uint64_t priorities,
			       struct rna_ethernet_sum *sum)
{
	add_up(netdev, is_discard, priorities, sum);
}
