// SPDX-License-Identifier: Apache-2.0
/*
 * Each counter becomes a sum of its rises since the first reading: what falls was reset, and its
 * rise since then is not known, so it counts as none. A rise over a span is the difference of two
 * sums. The time of a reading is that of the part with the counters of the port.
 */
#include "port_traffic.h"

#include <stdlib.h>
#include <string.h>

#include "rna/base/cleanup.h"
#include "rna/base/parse.h"
#include "rna/model/snapshot.h"

enum {
	MINUTE_SLOTS = 9,
	HOUR_SLOTS = 13,
	SLOTS_MAX = HOUR_SLOTS,
};

/* Readings are a little irregular: the steps are such that a ring covers its span all the same. */
static const struct {
	rna_usec span;
	rna_usec step; /* between two slots at least */
	size_t slots;
} rings[RNA_RATE_SPAN_COUNT] = {
	[RNA_RATE_MINUTE] = {60 * RNA_USEC_PER_SEC, 8 * RNA_USEC_PER_SEC, MINUTE_SLOTS},
	[RNA_RATE_HOUR] = {3600 * RNA_USEC_PER_SEC, 301 * RNA_USEC_PER_SEC, HOUR_SLOTS},
};

struct slot {
	rna_usec time; /* monotonic, of the reading */
	uint64_t sums[RNA_RATE_COUNT];
};

struct ring {
	size_t count;
	size_t next; /* where the next one is put */
	struct slot *slots;
};

struct rna_rates {
	struct slot newest;
	struct rna_value last[RNA_RATE_COUNT]; /* readings that newest is the sum of */
	bool of_device[RNA_RATE_COUNT];
	struct ring rings[RNA_RATE_SPAN_COUNT];
	struct slot slots[MINUTE_SLOTS + HOUR_SLOTS];
};

_Static_assert(sizeof(struct rna_rates) <= RNA_RATES_SIZE_MAX, "say what a port costs");

struct rna_rates *rna_rates_new(void)
{
	struct rna_rates *rates = calloc(1, sizeof(*rates));

	if (!rates)
		return NULL;
	rates->rings[RNA_RATE_MINUTE].slots = rates->slots;
	rates->rings[RNA_RATE_HOUR].slots = rates->slots + MINUTE_SLOTS;
	return rates;
}

struct rna_rates *rna_rates_free(struct rna_rates *rates)
{
	free(rates);
	return NULL;
}

/* -- Reading ----------------------------------------------------------------------------------- */

static const struct rna_counters_part *part_of(const struct rna_snapshot_device *device,
					       enum rna_counter_place place)
{
	return rna_device_counters(device, rna_counter_collector(place));
}

/* The part whose readings set the pace: that of the port's data, or the only one. */
static const struct rna_part *clock_of(const struct rna_snapshot_device *device)
{
	const struct rna_part *part = device->parts[RNA_COLLECTOR_COUNTERS];

	return part ? part : device->parts[RNA_COLLECTOR_HW_COUNTERS];
}

static struct rna_value read_file(const struct rna_snapshot_device *device, unsigned port,
				  enum rna_counter_place place, const char *file)
{
	const struct rna_counters_part *part = part_of(device, place);

	for (size_t g = 0; part && g < part->group_count; g++) {
		const struct rna_counter_group *group = &part->groups[g];

		if (group->place != place || group->port != port)
			continue;
		for (size_t i = 0; i < group->count; i++)
			if (strcmp(group->values[i].file, file) == 0)
				return group->values[i].value;
	}
	return (struct rna_value){0};
}

/*
 * mlx5 in switchdev mode counts for the device what it otherwise counts for its port. The first
 * port shows it, which is the uplink.
 */
static struct rna_value read_counter(const struct rna_snapshot_device *device, unsigned port,
				     enum rna_rate_id id, bool *ret_of_device)
{
	const struct rna_rate_row *row = &rna_rate_rows[id];
	struct rna_value value = read_file(device, port, row->place, row->file);

	*ret_of_device = false;
	if (value.state != RNA_VALUE_ABSENT || row->place != RNA_PLACE_PORT_HW_COUNTERS ||
	    device->device->port_count == 0 || port != device->device->ports[0])
		return value;
	value = read_file(device, 0, RNA_PLACE_DEVICE_HW_COUNTERS, row->file);
	*ret_of_device = value.state != RNA_VALUE_ABSENT;
	return value;
}

static void take(struct rna_rates *rates, const struct rna_snapshot_device *device, unsigned port,
		 enum rna_rate_id id)
{
	bool of_device;
	struct rna_value value = read_counter(device, port, id, &of_device);
	struct rna_value *last = &rates->last[id];

	if (rna_value_is_known(value) && rna_value_is_known(*last) &&
	    of_device == rates->of_device[id] && value.number > last->number)
		rates->newest.sums[id] += value.number - last->number;
	if (!rna_value_is_known(value) && rna_value_is_known(*last) &&
	    value.state != RNA_VALUE_ABSENT)
		return; /* one failed reading costs no rise: the next one has it */
	*last = value;
	rates->of_device[id] = of_device;
}

/* -- The rings --------------------------------------------------------------------------------- */

static const struct slot *newest_of(const struct ring *ring, size_t slots)
{
	return ring->count > 0 ? &ring->slots[(ring->next + slots - 1) % slots] : NULL;
}

static void keep(struct rna_rates *rates, enum rna_rate_span span)
{
	struct ring *ring = &rates->rings[span];
	size_t slots = rings[span].slots;
	const struct slot *newest = newest_of(ring, slots);

	if (newest && rna_usec_since(newest->time, rates->newest.time) < rings[span].step)
		return;
	ring->slots[ring->next] = rates->newest;
	ring->next = (ring->next + 1) % slots;
	if (ring->count < slots)
		ring->count++;
}

/* The youngest slot that is as old as the span; else the oldest. NULL: there is none. */
static const struct slot *find_start(const struct rna_rates *rates, enum rna_rate_span span)
{
	const struct ring *ring = &rates->rings[span];
	size_t slots = rings[span].slots;
	const struct slot *start = NULL;

	for (size_t i = 1; i <= ring->count; i++) {
		start = &ring->slots[(ring->next + slots - i) % slots];
		if (rna_usec_since(start->time, rates->newest.time) >= rings[span].span)
			break;
	}
	return start;
}

/* -- From outside ------------------------------------------------------------------------------ */

bool rna_rates_suit(const struct rna_snapshot_device *device, size_t count)
{
	enum rna_function function = device->device->function;
	bool lasting = function != RNA_FUNCTION_VF && function != RNA_FUNCTION_SF;

	return clock_of(device) && count < RNA_RATES_PORTS_MAX / (lasting ? 1 : 2);
}

void rna_rates_follow(struct rna_rates *rates, const struct rna_snapshot_device *device,
		      unsigned port)
{
	const struct rna_part *clock = clock_of(device);

	if (!clock || clock->taken.monotonic <= rates->newest.time)
		return;
	rates->newest.time = clock->taken.monotonic;
	for (enum rna_rate_id id = 0; id < RNA_RATE_COUNT; id++)
		take(rates, device, port, id);
	for (enum rna_rate_span span = 0; span < RNA_RATE_SPAN_COUNT; span++)
		keep(rates, span);
}

static struct rna_rate tell(const struct rna_rates *rates, enum rna_rate_id id,
			    const struct slot *const starts[RNA_RATE_SPAN_COUNT])
{
	struct rna_rate rate = {
		.known = rna_value_is_known(rates->last[id]),
		.of_device = rates->of_device[id],
		.saturated = rates->last[id].state == RNA_VALUE_SATURATED,
		.total = rates->last[id].number,
	};

	for (enum rna_rate_span span = 0; span < RNA_RATE_SPAN_COUNT; span++)
		if (starts[span])
			rate.risen[span] = rates->newest.sums[id] - starts[span]->sums[id];
	return rate;
}

void rna_rates_tell(const struct rna_rates *rates, struct rna_port_rates *ret)
{
	const struct slot *starts[RNA_RATE_SPAN_COUNT];

	*ret = (struct rna_port_rates){0};
	for (enum rna_rate_span span = 0; span < RNA_RATE_SPAN_COUNT; span++) {
		starts[span] = find_start(rates, span);
		if (starts[span])
			ret->spans[span] = rna_usec_since(starts[span]->time, rates->newest.time);
	}
	for (enum rna_rate_id id = 0; id < RNA_RATE_COUNT; id++)
		ret->of[id] = tell(rates, id, starts);
}

/* -- Of the only user -------------------------------------------------------------------------- */

/* As above: what falls was reset, and its rise since then is not known. */
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
} user_rows[] = {
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
static struct rna_user_memory *begin_user(char *user, uint64_t generation)
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

static void add_reading(struct rna_user_memory *memory, enum rna_user_traffic_id id, uint64_t now)
{
	struct rna_value *last = &memory->last[id], *sum = &memory->traffic.of[id];

	if (!rna_value_is_known(*sum))
		*sum = rna_value_ok(0);
	if (rna_value_is_known(*last) && now > last->number)
		sum->number += now - last->number;
	*last = rna_value_ok(now);
}

static void read_user_counters(struct rna_user_memory *memory,
			       const struct rna_snapshot_device *device, unsigned port)
{
	bool found[RNA_USER_TRAFFIC_COUNT] = {false};

	for (size_t i = 0; i < RNA_ARRAY_SIZE(user_rows); i++) {
		struct rna_value value;

		if (found[user_rows[i].id])
			continue;
		value = read_file(device, port, user_rows[i].place, user_rows[i].file);
		if (!rna_value_is_known(value))
			continue;
		found[user_rows[i].id] = true;
		add_reading(memory, user_rows[i].id, value.number * user_rows[i].unit);
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
		*memory = begin_user(rna_strbuf_take(&text), generation);
	if (*memory)
		read_user_counters(*memory, device, port);
}

const struct rna_user_traffic *rna_user_memory_tell(const struct rna_user_memory *memory)
{
	return memory ? &memory->traffic : NULL;
}
