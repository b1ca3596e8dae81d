// SPDX-License-Identifier: Apache-2.0
/*
 * The statistics of Ethernet ports that have names of ours. Where each of them comes from says
 * collectors/ethernet_sources.c: the kernel's standard ones, and what drivers call them.
 */
#include "rna/base/parse.h"
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
	    "Times the physical link was lost, as the driver counts them."),
	ROW(LOCAL_FAULTS, "ethernet_local_faults",
	    "Times this end saw no usable signal (IEEE 802.3 local fault)."),
	ROW(REMOTE_FAULTS, "ethernet_remote_faults",
	    "Times the other end said that it saw none (IEEE 802.3 remote fault)."),
	ROW(WIRE_RECEIVED, "ethernet_wire_received",
	    "What came over the wire, errors included: bit errors are a share of it.", BITS),
	ROW(SYMBOL_ERRORS, "ethernet_symbol_errors",
	    "Symbols received that are none; with FEC, of what is behind it."),
	ROW(PCS_SYMBOL_ERRORS, "ethernet_pcs_symbol_errors",
	    "Symbols received that FEC could not correct."),
	ROW(LANE_ERRORS, "ethernet_lane_errors",
	    "Symbols received wrong, before FEC, by lane.", .label = "lane"),
	ROW(FEC_CORRECTED_BITS, "ethernet_fec_corrected_bit_errors",
	    "Bits received that FEC corrected; normal from 50 Gb/s per lane on."),
	ROW(FEC_CORRECTED_BLOCKS, "ethernet_fec_corrected_blocks",
	    "FEC blocks received with errors and corrected; normal from 50 Gb/s per lane on."),
	ROW(FEC_UNCORRECTABLE_BLOCKS, "ethernet_fec_uncorrectable_blocks",
	    "FEC blocks received with more errors than it corrects: their packets are lost."),
	ROW(FEC_LANE_CORRECTED_BITS, "ethernet_fec_lane_corrected_bit_errors",
	    "Bits received on a lane that FEC corrected, with metrics.fec_lanes.", BY_FEC_LANE),
	ROW(FEC_LANE_CORRECTED_BLOCKS, "ethernet_fec_lane_corrected_blocks",
	    "FEC blocks of a lane received with errors and corrected, with metrics.fec_lanes.", BY_FEC_LANE),
	ROW(FEC_LANE_UNCORRECTABLE_BLOCKS, "ethernet_fec_lane_uncorrectable_blocks",
	    "FEC blocks of a lane with more errors than it corrects, with metrics.fec_lanes.", BY_FEC_LANE),
	ROW(FCS_ERRORS, "ethernet_fcs_errors",
	    "Frames received with a wrong check sequence."),
	ROW(ALIGNMENT_ERRORS, "ethernet_alignment_errors",
	    "Frames received that are no whole number of octets."),
	ROW(LENGTH_ERRORS, "ethernet_length_errors",
	    "Frames received with a length field that does not fit."),
	ROW(UNDERSIZE_FRAMES, "ethernet_undersize_frames",
	    "Frames received that are too short, with a good check sequence."),
	ROW(OVERSIZE_FRAMES, "ethernet_oversize_frames",
	    "Frames received that are longer than the port takes: compare the MTUs of both ends."),
	ROW(FRAGMENTS, "ethernet_fragments",
	    "Frames received that are too short, with a wrong check sequence."),
	ROW(JABBERS, "ethernet_jabbers",
	    "Frames received that are too long, with a wrong check sequence."),
	ROW(UNSUPPORTED_FRAMES, "ethernet_unsupported_control_frames",
	    "MAC control frames received that the port does not know."),
	ROW(MAC_RECEIVE_ERRORS, "ethernet_mac_receive_errors",
	    "Frames lost at reception by a fault of the MAC itself."),
	ROW(MAC_TRANSMIT_ERRORS, "ethernet_mac_transmit_errors",
	    "Frames lost at transmission by a fault of the MAC itself."),
	ROW(RECEIVE_DISCARDS, "ethernet_receive_discards",
	    "Frames received in order and dropped by the port for lack of room."),
	ROW(TRANSMIT_DISCARDS, "ethernet_transmit_discards",
	    "Frames that were to be sent and were dropped by the port."),
	ROW(OUT_OF_BUFFER, "ethernet_out_of_buffer_drops",
	    "Frames for the network stack dropped because no receive buffer was posted."),
	ROW(BANDWIDTH_IN_EXCEEDED, "ethernet_bandwidth_in_exceeded",
	    "Packets queued or dropped because the instance received more than it may."),
	ROW(BANDWIDTH_OUT_EXCEEDED, "ethernet_bandwidth_out_exceeded",
	    "Packets queued or dropped because the instance sent more than it may."),
	ROW(PACKET_RATE_EXCEEDED, "ethernet_packet_rate_exceeded",
	    "Packets queued or dropped because there were more per second than the instance may have."),
	ROW(PAUSE_RECEIVED, "ethernet_pause_frames_received",
	    "Pause frames received: the network asks this port to stop sending."),
	ROW(PAUSE_TRANSMITTED, "ethernet_pause_frames_transmitted",
	    "Pause frames sent: this host takes packets more slowly than they come."),
	ROW(PAUSE_RECEIVED_TIME, "ethernet_pause_received",
	    "Time in which the port did not send because of pause frames.", TIME),
	ROW(PAUSE_TRANSMITTED_TIME, "ethernet_pause_transmitted",
	    "Time in which the port kept the other end from sending.", TIME),
	ROW(PRIORITY_PAUSE_RECEIVED, "ethernet_priority_pause_frames_received",
	    "Priority flow control frames received that stop this priority.", BY_PRIORITY),
	ROW(PRIORITY_PAUSE_TRANSMITTED, "ethernet_priority_pause_frames_transmitted",
	    "Priority flow control frames sent that stop this priority.", BY_PRIORITY),
	ROW(PRIORITY_PAUSE_RECEIVED_TIME, "ethernet_priority_pause_received",
	    "Time in which the port did not send of this priority because of the other end.", BY_PRIORITY, TIME),
	ROW(PRIORITY_PAUSE_TRANSMITTED_TIME, "ethernet_priority_pause_transmitted",
	    "Time in which the port kept the other end from sending of this priority.", BY_PRIORITY, TIME),
	ROW(PRIORITY_DISCARDS, "ethernet_priority_receive_discards",
	    "Frames of this priority received and dropped for lack of room.", BY_PRIORITY),
	ROW(PRIORITY_BUFFER_DISCARDS, "ethernet_priority_buffer_discards",
	    "Frames of this priority received and dropped because the port's buffer for it was full.", BY_PRIORITY),
	ROW(PRIORITY_CONGESTION_DISCARDS, "ethernet_priority_congestion_discards",
	    "Frames of this priority received and dropped because the host was too slow for the port.", BY_PRIORITY),
	ROW(PRIORITY_MARKED, "ethernet_priority_marked_frames",
	    "Frames of this priority that the port marked (ECN) because the host was too slow for it.", BY_PRIORITY),
	ROW(PAUSE_STORM_WARNINGS, "ethernet_pause_storm_warnings",
	    "Times the port sent pause frames for so long that the device warned of it."),
	ROW(PAUSE_STORM_ERRORS, "ethernet_pause_storm_errors",
	    "Times the port sent pause frames for so long that the device stopped sending them, and drops."),
	ROW(PCIE_READ_STALLED, "pcie_read_stalled",
	    "Share of the last second in which the device waited for credits to read from memory.", SHARE),
	ROW(PCIE_WRITE_STALLED, "pcie_write_stalled",
	    "Share of the last second in which the device waited for credits to write to memory.", SHARE),
	ROW(PCIE_READ_STALLED_TIME, "pcie_read_stalled",
	    "Seconds of which the device could not read from memory for more than 30 percent.", TIME),
	ROW(PCIE_WRITE_STALLED_TIME, "pcie_write_stalled",
	    "Seconds of which the device could not write to memory for more than 30 percent.", TIME),
	ROW(PCIE_BUFFER_OVERFLOWS, "pcie_buffer_overflows",
	    "Packets dropped because the device could not write them to memory in time."),
	ROW(PCIE_RECEIVE_SIGNAL_ERRORS, "pcie_receive_signal_errors",
	    "Times the device found the signal of its PCIe link bad: errors of the frames or symbols it received."),
	ROW(PCIE_TRANSMIT_SIGNAL_ERRORS, "pcie_transmit_signal_errors",
	    "Times the other end of the device's PCIe link went to recovery because of the signal."),
	ROW(MODULE_UNPLUGGED, "module_unplugs",
	    "Times the module or cable was pulled out."),
	ROW(MODULE_BUS_STUCK, "module_bus_stuck",
	    "Times the bus to the module's memory was stuck."),
	ROW(MODULE_HIGH_TEMPERATURE, "module_high_temperature",
	    "Times the module was too hot."),
	ROW(MODULE_BAD_SHORTED, "module_bad_or_shorted",
	    "Times the module or cable was found bad or shorted."),
};
/* clang-format on */

/* Does a count belong to a sum? */
typedef bool belongs(const struct rna_ethernet_count *count, uint64_t of);

/* Which counts they are, in one number: those of a bond's member that lost its link may be gone. */
static uint64_t fingerprint(uint64_t before, const struct rna_ethernet_netdev *netdev,
			    const struct rna_ethernet_count *count)
{
	uint64_t ret = rna_fingerprint(before, netdev->ifindex);

	return rna_fingerprint(rna_fingerprint(ret, count->id), (uint64_t)count->number);
}

static void add_up(const struct rna_ethernet_netdev *netdev, belongs *does_belong, uint64_t of,
		   struct rna_ethernet_sum *sum)
{
	for (size_t i = 0; i < netdev->count; i++) {
		const struct rna_ethernet_count *count = &netdev->counts[i];

		if (!does_belong(count, of) || count->value.state == RNA_VALUE_ABSENT)
			continue;
		sum->summands = fingerprint(sum->summands, netdev, count);
		if (rna_value_is_known(count->value) && sum->value.state != RNA_VALUE_UNREADABLE)
			sum->value = rna_value_ok(sum->value.number + count->value.number);
		else
			sum->value = rna_value_unreadable();
	}
}

static bool is_of(const struct rna_ethernet_count *count, uint64_t id)
{
	return count->id == id;
}

struct rna_ethernet_sum rna_ethernet_sum(const struct rna_ethernet *ethernet, unsigned port,
					 enum rna_ethernet_statistic_id id)
{
	struct rna_ethernet_sum sum = {0};

	for (size_t i = 0; ethernet && i < ethernet->count; i++)
		if (ethernet->netdevs[i].port == port)
			add_up(&ethernet->netdevs[i], is_of, id, &sum);
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
