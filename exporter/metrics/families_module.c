// SPDX-License-Identifier: Apache-2.0
/*
 * Modules. They carry the label netdev besides, for a port on a bond has a module for each member;
 * lanes are counted from 1, as module makers do.
 */
#include "rna/model/module.h"

#include "family_rows.h"

static const void *next_module(const struct rna_subject *port, size_t *from)
{
	const struct rna_modules *modules = rna_device_modules(port->device);

	while (modules && *from < modules->count) {
		const struct rna_port_module *module = &modules->modules[(*from)++];

		if (module->port == port->port)
			return module;
	}
	return NULL;
}

static const char *medium(const void *item)
{
	const struct rna_port_module *module = item;

	return module->copper ? "copper" : "optical";
}

static void write_sample(struct rna_writer *writer, const struct rna_subject *port,
			 const struct rna_port_module *module, const char *name, const char *text,
			 struct rna_value value)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

	if (!rna_value_is_known(value))
		return;
	rna_labels_begin(&labels, port->labels);
	rna_label_add(&labels, "netdev", module->netdev);
	rna_label_add(&labels, name, text);
	rna_writer_sample_labels(writer, &labels, value.number);
}

static void module_temperature_limit(const struct rna_subject *port, struct rna_writer *writer)
{
	const struct rna_port_module *module;
	size_t from = 0;

	while ((module = next_module(port, &from)))
		for (enum rna_module_limit limit = 0; limit < RNA_MODULE_LIMIT_COUNT; limit++)
			write_sample(writer, port, module, "limit", rna_module_limit_name(limit),
				     module->limits[RNA_MODULE_TEMPERATURE][limit]);
}

static void write_lanes(const struct rna_subject *port, enum rna_module_measure measure,
			struct rna_writer *writer)
{
	const struct rna_port_module *module;
	size_t from = 0;

	while ((module = next_module(port, &from)))
		for (unsigned lane = 0; lane < module->lane_count; lane++) {
			char text[16];

			(void)snprintf(text, sizeof(text), "%u", lane + 1);
			write_sample(writer, port, module, "lane", text,
				     module->lanes[lane][measure]);
		}
}

static void module_receive_power(const struct rna_subject *port, struct rna_writer *writer)
{
	write_lanes(port, RNA_MODULE_RECEIVE_POWER, writer);
}

static void module_transmit_power(const struct rna_subject *port, struct rna_writer *writer)
{
	write_lanes(port, RNA_MODULE_TRANSMIT_POWER, writer);
}

static void module_bias(const struct rna_subject *port, struct rna_writer *writer)
{
	write_lanes(port, RNA_MODULE_BIAS, writer);
}

/* -- The table --------------------------------------------------------------------------------- */

#define MODULE(member) ABOUT(struct rna_port_module, member)

/* clang-format off */
static const struct rna_family rows[] = {
	{BOTH("netdev", MODULE(netdev), .tells = true)},
	{BOTH("form", MODULE(form))},
	{BOTH("medium", .text = medium)},
	{BOTH("vendor", MODULE(vendor))},
	{BOTH("part_number", MODULE(part_number))},
	{BOTH("revision", MODULE(revision))},
	{BOTH("serial", MODULE(serial))},
	METRIC(PORT, "rdma_port_module_info", INFO, PLAIN, LABELS,
	       "Transceiver or cable in the port. Its serial number requires module.serial."),
	METRIC(PORT, "rdma_port_module_temperature_celsius", GAUGE, CELSIUS,
	       IN(struct rna_port_module, temperature, .json = "temperature_millicelsius"),
	       "Module temperature in degrees Celsius. Absent for cables that do not measure it."),
	METRIC(PORT, "rdma_port_module_temperature_limit_celsius", GAUGE, CELSIUS,
	       EACH(module_temperature_limit, "netdev, limit"),
	       "Module temperature limits of the manufacturer in degrees Celsius: high-alarm, low-"
	       "alarm, high-warning, low-warning."),
	METRIC(PORT, "rdma_port_module_voltage_volts", GAUGE, VOLTS,
	       IN(struct rna_port_module, voltage, .json = "voltage_microvolts"),
	       "Supply voltage of the module in volts."),
	METRIC(PORT, "rdma_port_module_receive_power_watts", GAUGE, WATTS,
	       EACH(module_receive_power, "netdev, lane"),
	       "Received optical power per lane in watts; lanes count from 1."),
	METRIC(PORT, "rdma_port_module_transmit_power_watts", GAUGE, WATTS,
	       EACH(module_transmit_power, "netdev, lane"),
	       "Transmitted optical power per lane in watts; lanes count from 1."),
	METRIC(PORT, "rdma_port_module_bias_amperes", GAUGE, AMPERES,
	       EACH(module_bias, "netdev, lane"),
	       "Laser bias current per lane in amperes; lanes count from 1. An ageing laser needs "
	       "more current for the same power."),
};
/* clang-format on */

const struct rna_family_table rna_module_table = {ROWS(rows), .next = next_module};
