// SPDX-License-Identifier: Apache-2.0
#include "past.h"

#include <errno.h>
#include <string.h>

#include "rna/base/hash.h"

#define KEPT             (10 * 60 * RNA_USEC_PER_SEC)      /* after a device was last seen */
#define SAMPLED_AT_LEAST (10 * RNA_USEC_PER_SEC)           /* each, so that windows move on */
#define NCCL_IS_OLD      (24 * 60 * 60 * RNA_USEC_PER_SEC) /* then a new index is the usual one */

/* -- One of them ------------------------------------------------------------------------------- */

static struct rna_past *past_free(struct rna_past *past)
{
	if (past) {
		free((char *)(uintptr_t)past->key);
		free(past->windows);
		rna_discards_deinit(&past->discards);
	}
	free(past);
	return NULL;
}
RNA_DEFINE_CLEANUP(struct rna_past, past_free)

static struct rna_past *past_new(const char *key, unsigned port)
{
	RNA_CLEANUP(past_free_p) struct rna_past *past = calloc(1, sizeof(*past));

	if (!past)
		return NULL;
	past->port = port;
	past->key = strdup(key);
	return past->key ? RNA_TAKE(past) : NULL;
}

static bool fits(const struct rna_threshold *threshold, enum rna_link_layer layer)
{
	switch (layer) {
	case RNA_LINK_LAYER_INFINIBAND:
		return !threshold->link_layers || threshold->link_layers & RNA_ON_INFINIBAND;
	case RNA_LINK_LAYER_ETHERNET:
		return !threshold->link_layers || threshold->link_layers & RNA_ON_ETHERNET;
	default:
		return !threshold->link_layers;
	}
}

/* Of the device as a whole. */
static struct rna_value read_pcie(const struct rna_subject *subject, enum rna_aer severity)
{
	const struct rna_pcie *pcie = subject->port == 0 ? subject->pcie : NULL;

	return pcie ? rna_pcie_errors(pcie, severity) : (struct rna_value){0};
}

/* The sum of the counters by which the driver of subject counts it. */
static struct rna_ethernet_sum add_up(const struct rna_subject *subject,
				      const struct rna_threshold *threshold)
{
	const struct rna_counter *const *counters =
		rna_threshold_counters(threshold, subject->groups);
	struct rna_ethernet_sum sum = {0};

	for (size_t i = 0; counters && i < RNA_WAY_FILES_MAX && counters[i]; i++) {
		struct rna_value value =
			rna_counter_group_find(subject->groups[counters[i]->place], counters[i])
				->value;

		if (!rna_value_is_known(value))
			return (struct rna_ethernet_sum){.value = value};
		sum.value = rna_value_ok(sum.value.number + value.number);
		sum.summands =
			rna_hash_text(i > 0 ? sum.summands : RNA_HASH_INIT, counters[i]->file);
	}
	return sum;
}

/* Link-level pause is off: the interface sends no such frames, and does not obey them. */
static bool is_off(const struct rna_ethernet_netdev *netdev, enum rna_ethernet_statistic_id id)
{
	struct rna_value pause =
		id == RNA_ETHERNET_PAUSE_RECEIVED ? netdev->pause.receive : netdev->pause.transmit;

	return rna_value_is_known(pause) && pause.number == 0;
}

/* Frames of the link on interfaces without link-level pause: they stop nothing. */
static bool stops_nothing(const struct rna_ethernet *ethernet, unsigned port,
			  enum rna_ethernet_statistic_id id)
{
	if (id != RNA_ETHERNET_PAUSE_RECEIVED && id != RNA_ETHERNET_PAUSE_TRANSMITTED)
		return false;
	return !RNA_ANY(i, ethernet ? ethernet->count : 0,
			ethernet->netdevs[i].port == port && !is_off(&ethernet->netdevs[i], id));
}

/* Absent where there is none, or where it means nothing. */
static struct rna_value read_value(const struct rna_subject *subject,
				   const struct rna_threshold *threshold, struct rna_window *window)
{
	const struct rna_ethernet *ethernet = rna_device_ethernet(subject->device);

	if (threshold->source == RNA_THRESHOLD_OF_DOWNS)
		return subject->account ? rna_value_ok(subject->account->history.downs)
					: (struct rna_value){0};
	if (threshold->source == RNA_THRESHOLD_OF_PCIE)
		return read_pcie(subject, threshold->aer);
	if (!fits(threshold, subject->link_layer))
		return (struct rna_value){0};
	if (threshold->source == RNA_THRESHOLD_OF_LOSSLESS)
		return rna_window_follow(window, rna_discards_sum(subject));
	if (threshold->source == RNA_THRESHOLD_OF_ETHERNET &&
	    stops_nothing(ethernet, subject->port, threshold->statistic))
		return (struct rna_value){0};
	if (threshold->source == RNA_THRESHOLD_OF_ETHERNET)
		return rna_window_follow(window, rna_ethernet_sum(ethernet, subject->port,
								  threshold->statistic));
	return rna_window_follow(window, add_up(subject, threshold));
}

/*
 * Registered anew, its counters begin anew. The count of downs does not, nor do those of PCIe
 * functions, which are the kernel's; and it would not do to forget what has risen.
 */
static void forget_counter_windows(struct rna_past *past, const struct rna_thresholds *thresholds)
{
	for (size_t i = 0; past->windows && i < thresholds->count; i++)
		past->windows[i].known &= thresholds->items[i].source == RNA_THRESHOLD_OF_DOWNS ||
					  thresholds->items[i].source == RNA_THRESHOLD_OF_PCIE;
	rna_discards_begin_anew(&past->discards);
}

static void take_registration(const struct rna_pasts *pasts, struct rna_past *past,
			      const struct rna_thresholds *thresholds,
			      const struct rna_subject *subject, rna_usec now)
{
	uint64_t generation = subject->device->device->generation;

	if (past->generation != generation) {
		past->generation = generation;
		past->registered = pasts->begun ? now : 0;
		forget_counter_windows(past, thresholds);
	}
}

static rna_usec time_of_reading(const struct rna_subject *subject, enum rna_collector_id id)
{
	const struct rna_part *part = subject->device->parts[id];

	return part ? part->taken.monotonic : 0;
}

/* A view comes each second, new counters seldom so. What is old has to move on all the same. */
static bool is_due(struct rna_past *past, const struct rna_subject *subject, rna_usec now)
{
	rna_usec counters = time_of_reading(subject, RNA_COLLECTOR_COUNTERS);
	rna_usec hw_counters = time_of_reading(subject, RNA_COLLECTOR_HW_COUNTERS);
	rna_usec pcie = time_of_reading(subject, RNA_COLLECTOR_PCIE);
	rna_usec ethernet = time_of_reading(subject, RNA_COLLECTOR_ETHERNET);
	rna_usec fabric = time_of_reading(subject, RNA_COLLECTOR_FABRIC);
	uint64_t downs = subject->account ? subject->account->history.downs : 0;

	if (past->sampled && counters == past->counters_taken &&
	    hw_counters == past->hw_counters_taken && pcie == past->pcie_taken &&
	    ethernet == past->ethernet_taken && fabric == past->fabric_taken &&
	    downs == past->downs && rna_usec_since(past->sampled, now) < SAMPLED_AT_LEAST)
		return false;
	past->sampled = now;
	past->counters_taken = counters;
	past->hw_counters_taken = hw_counters;
	past->pcie_taken = pcie;
	past->ethernet_taken = ethernet;
	past->fabric_taken = fabric;
	past->downs = downs;
	return true;
}

/*
 * Does any rule use its windows? Rules skip virtual functions, of which there may be hundreds, but
 * check the PCIe path of every device.
 */
static bool is_followed(const struct rna_subject *subject)
{
	return subject->judged || (subject->port == 0 && subject->pcie);
}

/* 0 or -ENOMEM. */
static int take_counters(struct rna_pasts *pasts, struct rna_past *past,
			 const struct rna_thresholds *thresholds, const struct rna_subject *subject,
			 rna_usec now)
{
	int status = 0;

	if (!past->windows)
		past->windows = calloc(thresholds->count + 1, sizeof(*past->windows));
	if (!past->windows)
		return -ENOMEM;
	for (size_t i = 0; i < thresholds->count; i++) { /* what others depend on comes first */
		struct rna_window *window = &past->windows[i];
		struct rna_threshold threshold = thresholds->items[i];
		struct rna_value value = read_value(subject, &threshold, window);
		bool known, rose;

		threshold.limit = rna_threshold_limit(thresholds, i, past->windows, &known);
		rose = rna_window_add(window, &threshold, value, now);
		pasts->rose |= rose && !threshold.is_base; /* traffic always does */
		if (threshold.source == RNA_THRESHOLD_OF_LOSSLESS)
			status = rna_discards_follow(&past->discards, subject, &threshold, now);
	}
	return status;
}

static void take_nccl_index(struct rna_past *past, const struct rna_subject *subject, rna_usec now)
{
	unsigned index = (unsigned)subject->nccl_routable.number;

	if (!rna_value_is_known(subject->nccl_routable))
		return;
	if (!past->nccl_known || index == past->nccl_index)
		past->nccl_moved = 0;
	else if (past->nccl_moved == 0)
		past->nccl_moved = now;
	if (!past->nccl_known ||
	    (past->nccl_moved && rna_usec_since(past->nccl_moved, now) > NCCL_IS_OLD)) {
		past->nccl_known = true;
		past->nccl_index = index;
		past->nccl_moved = 0;
	}
}

/* -- All of them ------------------------------------------------------------------------------- */

void rna_pasts_deinit(struct rna_pasts *pasts)
{
	for (size_t i = 0; i < pasts->count; i++)
		(void)past_free(pasts->items[i]);
	free(pasts->items);
	*pasts = (struct rna_pasts){0};
}

/* Where it is, or where it belongs. */
static size_t find_place(const struct rna_pasts *pasts, const char *key, unsigned port,
			 bool *ret_found)
{
	size_t low = 0, high = pasts->count;

	*ret_found = false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct rna_past *past = pasts->items[middle];
		int order = strcmp(past->key, key);

		if (order == 0 && past->port == port) {
			*ret_found = true;
			return middle;
		}
		if (order < 0 || (order == 0 && past->port < port))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int insert(struct rna_pasts *pasts, size_t place, struct rna_past *past)
{
	struct rna_past **items = pasts->items;
	size_t size = pasts->size ? pasts->size * 2 : 16;

	if (pasts->count == pasts->size) {
		items = reallocarray(pasts->items, size, sizeof(struct rna_past *));
		if (!items)
			return -ENOMEM;
		pasts->items = items;
		pasts->size = size;
	}
	memmove(&items[place + 1], &items[place], (pasts->count - place) * sizeof(items[0]));
	items[place] = past;
	pasts->count++;
	return 0;
}

/* The past of subject, made when there is none yet. NULL: no memory. */
static struct rna_past *get(struct rna_pasts *pasts, const struct rna_subject *subject,
			    rna_usec now)
{
	const struct rna_device *device = subject->device->device;
	RNA_CLEANUP(past_free_p) struct rna_past *past = NULL;
	bool found;
	size_t place = find_place(pasts, device->key, subject->port, &found);

	if (found)
		return pasts->items[place];
	past = past_new(device->key, subject->port);
	if (past)
		past->generation = device->generation;
	if (past && pasts->begun)
		past->registered = now;
	if (!past || insert(pasts, place, past) < 0)
		return NULL;
	return RNA_TAKE(past);
}

static void drop_old(struct rna_pasts *pasts, rna_usec now)
{
	size_t kept = 0;

	for (size_t i = 0; i < pasts->count; i++)
		if (rna_usec_since(pasts->items[i]->seen, now) <= KEPT)
			pasts->items[kept++] = pasts->items[i];
		else
			(void)past_free(pasts->items[i]);
	pasts->count = kept;
}

/* 0 or -ENOMEM. */
static int update(struct rna_pasts *pasts, const struct rna_thresholds *thresholds,
		  const struct rna_subject *subject, rna_usec now, struct rna_past **ret)
{
	struct rna_past *past = get(pasts, subject, now);

	*ret = past;
	if (!past)
		return -ENOMEM;
	past->seen = now;
	take_registration(pasts, past, thresholds, subject, now);
	take_nccl_index(past, subject, now);
	if (!is_followed(subject) || !is_due(past, subject, now))
		return 0;
	return take_counters(pasts, past, thresholds, subject, now);
}

int rna_pasts_update(struct rna_pasts *pasts, const struct rna_thresholds *thresholds,
		     const struct rna_view *view, struct rna_past **ret)
{
	const struct rna_subject_list *devices = rna_view_devices(view);
	const struct rna_subject_list *ports = rna_view_ports(view);
	rna_usec now = view->snapshot->time.monotonic;
	int status = 0;

	for (size_t i = 0; i < devices->count; i++)
		if (update(pasts, thresholds, &devices->items[i], now, &ret[i]) < 0)
			status = -ENOMEM;
	for (size_t i = 0; i < ports->count; i++)
		if (update(pasts, thresholds, &ports->items[i], now, &ret[devices->count + i]) < 0)
			status = -ENOMEM;
	drop_old(pasts, now);
	pasts->begun = true;
	return status;
}

/* -- From an earlier process ------------------------------------------------------------------- */

struct rna_past *rna_pasts_recall(struct rna_pasts *pasts, const struct rna_thresholds *thresholds,
				  const char *key, unsigned port)
{
	RNA_CLEANUP(past_free_p) struct rna_past *past = NULL;
	bool found;
	size_t place = find_place(pasts, key, port, &found);

	if (found)
		return pasts->items[place];
	past = past_new(key, port);
	if (!past)
		return NULL;
	past->windows = calloc(thresholds->count + 1, sizeof(*past->windows));
	if (!past->windows || insert(pasts, place, past) < 0)
		return NULL;
	return RNA_TAKE(past);
}

/* The moment of this boot; at least 1, because 0 means none. */
static rna_usec carry_over(rna_usec then, rna_usec written, rna_usec between, rna_usec now)
{
	rna_usec ago = rna_usec_since(then, written) + between;

	return now > ago ? now - ago : 1;
}

static void carry_past_over(struct rna_past *past, const struct rna_thresholds *thresholds,
			    const struct rna_time *written, struct rna_time now)
{
	rna_usec between = rna_usec_since(written->realtime, now.realtime);

	past->generation = 0;
	if (past->nccl_moved)
		past->nccl_moved =
			carry_over(past->nccl_moved, written->monotonic, between, now.monotonic);
	for (size_t i = 0; i < thresholds->count; i++)
		rna_window_carry_over(&past->windows[i], &thresholds->items[i], written->monotonic,
				      between, now.monotonic);
}

void rna_pasts_carry_over(struct rna_pasts *pasts, const struct rna_thresholds *thresholds,
			  const struct rna_time *written, struct rna_time now)
{
	for (size_t i = 0; i < pasts->count; i++) {
		pasts->items[i]->seen = now.monotonic;
		if (written)
			carry_past_over(pasts->items[i], thresholds, written, now);
	}
}
