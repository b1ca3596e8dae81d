// SPDX-License-Identifier: Apache-2.0
#include "rna/model/activity.h"

#include <string.h>

#include "rna/model/resources.h"
#include "rna/model/snapshot.h"

enum {
	WORD = 4,            /* IBTA 16.1.3.5: data is counted in units of four octets */
	PACKET_BYTES = 1024, /* approximate payload of a packet */
};

const struct rna_activity rna_activities[RNA_ACTIVITY_COUNT] = {
	{RNA_PLACE_PORT_COUNTERS, "port_xmit_data", WORD},
	{RNA_PLACE_PORT_COUNTERS, "port_rcv_data", WORD},
	{RNA_PLACE_PORT_HW_COUNTERS, "tx_bytes", 1}, /* bnxt_re, efa, mana */
	{RNA_PLACE_PORT_HW_COUNTERS, "rx_bytes", 1},
	/* ionic: its firmware names them; counter_table.c has the sources */
	{RNA_PLACE_PORT_HW_COUNTERS, "tx_rdma_ucast_bytes", 1},
	{RNA_PLACE_PORT_HW_COUNTERS, "rx_rdma_ucast_bytes", 1},
	/* erdma: of Linux (erdma_verbs.c), and of Alibaba Cloud's own driver (erdma_stats.c) */
	{RNA_PLACE_PORT_HW_COUNTERS, "tx_bytes_cnt", 1},
	{RNA_PLACE_PORT_HW_COUNTERS, "rx_bytes_cnt", 1},
	{RNA_PLACE_PORT_HW_COUNTERS, "hw_tx_bytes_cnt", 1},
	{RNA_PLACE_PORT_HW_COUNTERS, "hw_rx_bytes_cnt", 1},
	{RNA_PLACE_PORT_HW_COUNTERS, "tx_pkt", PACKET_BYTES}, /* hns_roce_main.c of Linux */
	{RNA_PLACE_PORT_HW_COUNTERS, "rx_pkt", PACKET_BYTES},
	{RNA_PLACE_PORT_HW_COUNTERS, "ip4OutOctets", 1}, /* irdma */
	{RNA_PLACE_PORT_HW_COUNTERS, "ip4InOctets", 1},
	{RNA_PLACE_PORT_HW_COUNTERS, "ip6OutOctets", 1},
	{RNA_PLACE_PORT_HW_COUNTERS, "ip6InOctets", 1},
	{RNA_PLACE_PORT_HW_COUNTERS, "sent_pkts", PACKET_BYTES}, /* rxe */
	{RNA_PLACE_PORT_HW_COUNTERS, "rcvd_pkts", PACKET_BYTES},
};

static const struct rna_activity *find_activity(const struct rna_counter_group *group,
						const struct rna_counter_value *value)
{
	return RNA_FIND(i, rna_activities, RNA_ACTIVITY_COUNT,
			rna_activities[i].place == group->place &&
				strcmp(rna_activities[i].file, value->file) == 0);
}

/* Returns the number of counters added. */
static size_t sum_group(const struct rna_counter_group *group, uint64_t *sum)
{
	size_t found = 0;

	for (size_t i = 0; i < group->count; i++) {
		const struct rna_activity *activity = find_activity(group, &group->values[i]);

		if (!activity || !rna_value_is_known(group->values[i].value))
			continue;
		*sum += group->values[i].value.number * activity->bytes;
		found++;
	}
	return found;
}

bool rna_activity_sum(const struct rna_snapshot_device *device, unsigned port, uint64_t *ret_bytes,
		      rna_usec *ret_taken)
{
	static const enum rna_collector_id collectors[] = {RNA_COLLECTOR_COUNTERS,
							   RNA_COLLECTOR_HW_COUNTERS};

	*ret_bytes = 0;
	*ret_taken = 0;
	for (size_t c = 0; c < 2; c++) {
		const struct rna_counters_part *part = rna_device_counters(device, collectors[c]);
		size_t found = 0;

		for (size_t i = 0; part && i < part->group_count; i++)
			if (part->groups[i].port == port)
				found += sum_group(&part->groups[i], ret_bytes);
		if (found > 0 && (*ret_taken == 0 || part->part.taken.monotonic < *ret_taken))
			*ret_taken = part->part.taken.monotonic;
	}
	return *ret_taken > 0;
}

/* A context may have been closed between the two counts. */
struct rna_value rna_resources_users(const struct rna_resource_counts *counts)
{
	struct rna_value users = counts->of[RNA_RESOURCE_CTX];
	struct rna_value own = counts->own_contexts;

	if (own.state == RNA_VALUE_UNREADABLE)
		return own;
	if (rna_value_is_known(users) && rna_value_is_known(own))
		users.number -= own.number < users.number ? own.number : users.number;
	return users;
}
