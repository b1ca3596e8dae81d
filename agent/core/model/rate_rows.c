// SPDX-License-Identifier: Apache-2.0
/* The counters whose rise is kept. Errors: what should be zero on a good link, or not grow. */
#include "rna/model/rates.h"

const struct rna_rate_row rna_rate_rows[RNA_RATE_COUNT] = {
	{RNA_PLACE_PORT_COUNTERS, "port_rcv_data", "received"},
	{RNA_PLACE_PORT_COUNTERS, "port_xmit_data", "transmitted"},
	{RNA_PLACE_PORT_COUNTERS, "link_downed", "link downs"},
	{RNA_PLACE_PORT_COUNTERS, "link_error_recovery", "link recoveries"},
	{RNA_PLACE_PORT_COUNTERS, "symbol_error", "symbol errors"},
	{RNA_PLACE_PORT_COUNTERS, "port_rcv_errors", "receive errors"},
	{RNA_PLACE_PORT_COUNTERS, "port_xmit_discards", "transmit discards"},
	{RNA_PLACE_PORT_FABRIC, "fec_uncorrectable_blocks", "uncorrected blocks"},
	{RNA_PLACE_PORT_COUNTERS, "local_link_integrity_errors", "link integrity errors"},
	{RNA_PLACE_PORT_COUNTERS, "excessive_buffer_overrun_errors", "buffer overruns"},
	{RNA_PLACE_PORT_HW_COUNTERS, "out_of_sequence", "out of sequence"},
	{RNA_PLACE_PORT_HW_COUNTERS, "packet_seq_err", "sequence errors"},
	{RNA_PLACE_PORT_HW_COUNTERS, "local_ack_timeout_err", "ACK timeouts"},
	{RNA_PLACE_PORT_HW_COUNTERS, "out_of_buffer", "out of buffer"},
};
