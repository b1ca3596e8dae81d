// SPDX-License-Identifier: Apache-2.0
/* As in port_rates.c: what falls was reset, and its rise since then is not known. */
#include "user_traffic.h"

#include <stdlib.h>
#include <string.h>

#include "rna/base/cleanup.h"
#include "rna/base/parse.h"
#include "rna/model/snapshot.h"

struct rna_user_memory {
	char *user; /* as rna_user_describe() has it */
	uint64_t generation;
	struct rna_value last[RNA_USER_TRAFFIC_COUNT];
	struct rna_user_traffic traffic;
};

/* The first one that a port has counts. */
static const struct {
	enum rna_user_traffic_id id;
	enum rna_counter_place place;
	const char *file;
	unsigned unit;
} rows[] = {
	{RNA_USER_BYTES_TRANSMITTED, RNA_PLACE_PORT_COUNTERS, "port_xmit_data", 4},
	{RNA_USER_BYTES_TRANSMITTED, RNA_PLACE_PORT_HW_COUNTERS, "tx_bytes", 1},
	{RNA_USER_BYTES_RECEIVED, RNA_PLACE_PORT_COUNTERS, "port_rcv_data", 4},
	{RNA_USER_BYTES_RECEIVED, RNA_PLACE_PORT_HW_COUNTERS, "rx_bytes", 1},
	{RNA_USER_PACKETS_TRANSMITTED, RNA_PLACE_PORT_COUNTERS, "port_xmit_packets", 1},
	{RNA_USER_PACKETS_TRANSMITTED, RNA_PLACE_PORT_HW_COUNTERS, "tx_pkts", 1},
	{RNA_USER_PACKETS_TRANSMITTED, RNA_PLACE_PORT_HW_COUNTERS, "sent_pkts", 1},
	{RNA_USER_PACKETS_RECEIVED, RNA_PLACE_PORT_COUNTERS, "port_rcv_packets", 1},
	{RNA_USER_PACKETS_RECEIVED, RNA_PLACE_PORT_HW_COUNTERS, "rx_pkts", 1},
	{RNA_USER_PACKETS_RECEIVED, RNA_PLACE_PORT_HW_COUNTERS, "rcvd_pkts", 1},
};

struct rna_user_memory *rna_user_memory_free(struct rna_user_memory *memory)
{
	if (!memory)
		return NULL;
	free(memory->user);
	free(memory);
	return NULL;
}

/* The only user; NULL: there is none, or others as well. */
static const struct rna_user *find_only_user(const struct rna_snapshot_device *device)
{
	const struct rna_users *users = rna_device_users(device);
	uint64_t unnamed = 0;

	for (enum rna_unnamed reason = 0; users && reason < RNA_UNNAMED_COUNT; reason++)
		unnamed += users->unnamed[reason];
	return users && users->count == 1 && unnamed == 0 ? users->items : NULL;
}

/* NULL: no memory. */
static struct rna_user_memory *begin(char *user, uint64_t generation)
{
	struct rna_user_memory *memory = calloc(1, sizeof(*memory));

	if (!memory) {
		free(user);
		return NULL;
	}
	memory->user = user;
	memory->generation = generation;
	return memory;
}

static struct rna_value find(const struct rna_counters_part *part, enum rna_counter_place place,
			     unsigned port, const char *file)
{
	for (size_t g = 0; part && g < part->group_count; g++) {
		const struct rna_counter_group *group = &part->groups[g];

		for (size_t i = 0; group->place == place && group->port == port && i < group->count;
		     i++)
			if (strcmp(group->values[i].file, file) == 0)
				return group->values[i].value;
	}
	return (struct rna_value){0};
}

static void take(struct rna_user_memory *memory, enum rna_user_traffic_id id, uint64_t now)
{
	struct rna_value *last = &memory->last[id], *sum = &memory->traffic.of[id];

	if (!rna_value_is_known(*sum))
		*sum = rna_value_ok(0);
	if (rna_value_is_known(*last) && now > last->number)
		sum->number += now - last->number;
	*last = rna_value_ok(now);
}

static void read_counters(struct rna_user_memory *memory, const struct rna_snapshot_device *device,
			  unsigned port)
{
	bool found[RNA_USER_TRAFFIC_COUNT] = {false};

	for (size_t i = 0; i < RNA_ARRAY_SIZE(rows); i++) {
		const struct rna_counters_part *part =
			rna_device_counters(device, rna_counter_collector(rows[i].place));
		struct rna_value value;

		if (found[rows[i].id])
			continue;
		value = find(part, rows[i].place, port, rows[i].file);
		if (!rna_value_is_known(value))
			continue;
		found[rows[i].id] = true;
		take(memory, rows[i].id, value.number * rows[i].unit);
	}
}

void rna_user_memory_follow(struct rna_user_memory **memory,
			    const struct rna_snapshot_device *device, unsigned port)
{
	const struct rna_user *user = find_only_user(device);
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const uint64_t generation = device->device->generation;

	if (user)
		rna_user_describe(user, &text);
	if (*memory && (!user || text.failed || !rna_same_text((*memory)->user, text.data) ||
			(*memory)->generation != generation))
		*memory = rna_user_memory_free(*memory);
	if (!*memory && user && text.len > 0 && !text.failed)
		*memory = begin(rna_strbuf_take(&text), generation);
	if (*memory)
		read_counters(*memory, device, port);
}

const struct rna_user_traffic *rna_user_memory_tell(const struct rna_user_memory *memory)
{
	return memory ? &memory->traffic : NULL;
}
