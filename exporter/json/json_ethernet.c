// SPDX-License-Identifier: Apache-2.0
#include "json_parts.h"

static void set_configured_fec(struct rna_json_writer *writer, json_t *object,
			       struct rna_value configured)
{
	json_t *array;

	if (!rna_value_is_known(configured))
		return;
	array = json_array();
	for (enum rna_fec mode = 0; mode < RNA_FEC_COUNT; mode++)
		if (configured.number & 1u << mode)
			rna_json_append(writer, array, json_string(rna_fec_name(mode)));
	rna_json_set(writer, object, "fec_configured", array);
}

/* In base units, as in metrics. */
static json_t *number_of(enum rna_ethernet_unit unit, uint64_t number)
{
	switch (unit) {
	case RNA_ETHERNET_BITS:
		return rna_json_number(number / 8);
	case RNA_ETHERNET_MICROSECONDS:
	case RNA_ETHERNET_MILLIONTHS:
		return json_real((double)number / 1e6);
	default:
		return rna_json_number(number);
	}
}

/* One of them at *from, which moves behind it and, where there are several numbers, all of them. */
static void set_statistic(struct rna_json_writer *writer, json_t *object,
			  const struct rna_ethernet_netdev *netdev, size_t *from)
{
	static const char *const suffixes[] = {
		[RNA_ETHERNET_PLAIN] = "",
		[RNA_ETHERNET_BITS] = "_bytes",
		[RNA_ETHERNET_MICROSECONDS] = "_seconds",
		[RNA_ETHERNET_MILLIONTHS] = "_ratio",
	};
	const struct rna_ethernet_count *count = &netdev->counts[*from];
	const struct rna_ethernet_statistic *row = &rna_ethernet_statistics[count->id];
	json_t *several = row->label ? json_object() : NULL;
	char name[96], number[16];

	(void)snprintf(name, sizeof(name), "%s%s", row->name, suffixes[row->unit]);
	for (; *from < netdev->count && netdev->counts[*from].id == count->id; ++*from) {
		const struct rna_ethernet_count *item = &netdev->counts[*from];
		json_t *value = rna_value_is_known(item->value)
					? number_of(row->unit, item->value.number)
					: json_null();

		(void)snprintf(number, sizeof(number), "%d", item->number);
		rna_json_set(writer, several ? several : object, several ? number : name, value);
	}
	if (several)
		rna_json_set(writer, object, name, several);
}

static json_t *bin_object(struct rna_json_writer *writer, const struct rna_ethernet_fec_bin *bin)
{
	json_t *object = json_object(), *lanes = bin->lane_count > 0 ? json_array() : NULL;

	rna_json_set_number(writer, object, "errors_min", bin->low);
	rna_json_set_number(writer, object, "errors_max", bin->high);
	rna_json_set_number(writer, object, "blocks", bin->blocks);
	for (size_t i = 0; i < bin->lane_count; i++)
		rna_json_append(writer, lanes, rna_json_number(bin->lanes[i]));
	if (bin->lane_count > 0)
		rna_json_set(writer, object, "lanes", lanes);
	return object;
}

/* Blocks by the number of errors in them. */
static void set_bins(struct rna_json_writer *writer, json_t *object,
		     const struct rna_ethernet_netdev *netdev)
{
	json_t *array;

	if (netdev->bin_count == 0)
		return;
	array = json_array();
	for (size_t i = 0; i < netdev->bin_count; i++)
		rna_json_append(writer, array, bin_object(writer, &netdev->bins[i]));
	rna_json_set(writer, object, "fec_blocks", array);
}

/* Of the driver under its own names. */
static void set_extras(struct rna_json_writer *writer, json_t *object,
		       const struct rna_ethernet_netdev *netdev)
{
	json_t *extras = json_object();

	for (size_t i = 0; i < netdev->extra_count; i++)
		rna_json_set(writer, extras, netdev->extras[i].name,
			     rna_value_is_known(netdev->extras[i].value)
				     ? rna_json_number(netdev->extras[i].value.number)
				     : json_null());
	if (netdev->extra_count > 0)
		rna_json_set(writer, object, "unknown_statistics", extras);
	else
		json_decref(extras);
}

#define PAUSE(member) RNA_FIELD_IN(struct rna_ethernet_netdev, pause.member), .yes_no = true

static json_t *netdev_object(struct rna_json_writer *writer,
			     const struct rna_ethernet_netdev *netdev)
{
	static const struct rna_field pause[] = {
		{.json = "pause_autoneg", PAUSE(autoneg)},
		{.json = "pause_receive", PAUSE(receive)},
		{.json = "pause_transmit", PAUSE(transmit)},
	};
	json_t *object = rna_json_item(writer, &rna_ethernet_table, netdev);
	json_t *statistics = json_object();

	set_configured_fec(writer, object, netdev->fec.configured);
	rna_json_set_fields(writer, object, pause, RNA_ARRAY_SIZE(pause), netdev);
	set_bins(writer, object, netdev);
	for (size_t i = 0; i < netdev->count;)
		set_statistic(writer, statistics, netdev, &i);
	rna_json_set(writer, object, "statistics", statistics);
	set_extras(writer, object, netdev);
	return object;
}

void rna_json_set_ethernet(struct rna_json_writer *writer, json_t *object,
			   const struct rna_ethernet *ethernet, unsigned port)
{
	json_t *array = json_array();

	for (size_t i = 0; ethernet && i < ethernet->count; i++)
		if (ethernet->netdevs[i].port == port)
			rna_json_append(writer, array,
					netdev_object(writer, &ethernet->netdevs[i]));
	rna_json_set_some(writer, object, "ethernet", array);
}
