// SPDX-License-Identifier: Apache-2.0
#include "json_parts.h"

static void set_yes_or_no(struct rna_json_writer *writer, json_t *object, const char *name,
			  struct rna_value value)
{
	if (rna_value_is_known(value))
		rna_json_set(writer, object, name, json_boolean(value.number));
}

static void set_link(struct rna_json_writer *writer, json_t *object,
		     const struct rna_ethernet_link *link)
{
	set_yes_or_no(writer, object, "link", link->up);
	if (!rna_value_is_known(link->state))
		return;
	rna_json_set_text(writer, object, "down_reason",
			  rna_ethernet_link_state_name(link->state.number));
	if (rna_value_is_known(link->substate))
		rna_json_set_text(writer, object, "down_detail",
				  rna_ethernet_link_substate_name(link->state.number,
								  link->substate.number));
}

static void set_fec(struct rna_json_writer *writer, json_t *object,
		    const struct rna_ethernet_fec *fec)
{
	json_t *configured;

	if (rna_value_is_known(fec->active))
		rna_json_set_text(writer, object, "fec",
				  rna_fec_name((enum rna_fec)fec->active.number));
	set_yes_or_no(writer, object, "fec_automatic", fec->automatic);
	if (!rna_value_is_known(fec->configured))
		return;
	configured = json_array();
	for (enum rna_fec mode = 0; mode < RNA_FEC_COUNT; mode++)
		if (fec->configured.number & 1u << mode)
			rna_json_append(writer, configured, json_string(rna_fec_name(mode)));
	rna_json_set(writer, object, "fec_configured", configured);
}

static void set_modes(struct rna_json_writer *writer, json_t *object,
		      const struct rna_ethernet_netdev *netdev)
{
	struct rna_value speed = netdev->mode.speed;

	speed.number /= 8; /* bits to bytes */
	rna_json_set_value(writer, object, "speed_bytes_per_second", speed);
	rna_json_set_value(writer, object, "lanes", netdev->mode.lanes);
	set_yes_or_no(writer, object, "full_duplex", netdev->mode.full_duplex);
	set_yes_or_no(writer, object, "autoneg", netdev->mode.autoneg);
	set_fec(writer, object, &netdev->fec);
	set_yes_or_no(writer, object, "pause_autoneg", netdev->pause.autoneg);
	set_yes_or_no(writer, object, "pause_receive", netdev->pause.receive);
	set_yes_or_no(writer, object, "pause_transmit", netdev->pause.transmit);
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

static json_t *netdev_object(struct rna_json_writer *writer,
			     const struct rna_ethernet_netdev *netdev)
{
	json_t *object = json_object(), *statistics = json_object();

	rna_json_set_text(writer, object, "netdev", netdev->name);
	set_link(writer, object, &netdev->link);
	set_modes(writer, object, netdev);
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
	if (json_array_size(array) > 0)
		rna_json_set(writer, object, "ethernet", array);
	else
		json_decref(array);
}
