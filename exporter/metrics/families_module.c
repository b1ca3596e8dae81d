// SPDX-License-Identifier: Apache-2.0
/*
 * Metrics of modules. They carry the label netdev besides, for a port on a bond has a module for
 * each member; lanes are counted from 1, as module makers do.
 */
#include "families_module.h"

#include "rna/model/module.h"

/* Is it in the cage of the port? */
static bool is_of(const struct rna_port_module *module, const struct rna_subject *port)
{
	return module->port == port->port;
}

static void write_sample(struct rna_writer *writer, const struct rna_subject *port,
			 const struct rna_port_module *module, const char *name, const char *text,
			 uint64_t number)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

	rna_labels_begin(&labels, port->labels);
	rna_label_add(&labels, "netdev", module->netdev);
	if (name)
		rna_label_add(&labels, name, text);
	rna_writer_sample_labels(writer, &labels, number);
}

static void write_info(const struct rna_subject *port, const struct rna_port_module *module,
		       struct rna_writer *writer)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

	rna_labels_begin(&labels, port->labels);
	rna_label_add(&labels, "netdev", module->netdev);
	rna_label_add(&labels, "form", module->form);
	rna_label_add(&labels, "medium", module->copper ? "copper" : "optical");
	rna_label_add(&labels, "vendor", module->vendor);
	rna_label_add(&labels, "part_number", module->part_number);
	rna_label_add(&labels, "revision", module->revision);
	rna_label_add(&labels, "serial", module->serial);
	rna_writer_sample_labels(writer, &labels, 1);
}

void rna_family_module_info(const struct rna_subject *port, struct rna_writer *writer)
{
	const struct rna_modules *modules = rna_device_modules(port->device);

	for (size_t i = 0; modules && i < modules->count; i++)
		if (is_of(&modules->modules[i], port))
			write_info(port, &modules->modules[i], writer);
}

static void write_values(const struct rna_subject *port, enum rna_module_measure measure,
			 struct rna_writer *writer)
{
	const struct rna_modules *modules = rna_device_modules(port->device);

	for (size_t i = 0; modules && i < modules->count; i++) {
		const struct rna_port_module *module = &modules->modules[i];
		struct rna_value value =
			measure == RNA_MODULE_TEMPERATURE ? module->temperature : module->voltage;

		if (is_of(module, port) && rna_value_is_known(value))
			write_sample(writer, port, module, NULL, NULL, value.number);
	}
}

void rna_family_module_temperature(const struct rna_subject *port, struct rna_writer *writer)
{
	write_values(port, RNA_MODULE_TEMPERATURE, writer);
}

void rna_family_module_voltage(const struct rna_subject *port, struct rna_writer *writer)
{
	write_values(port, RNA_MODULE_VOLTAGE, writer);
}

void rna_family_module_temperature_limit(const struct rna_subject *port, struct rna_writer *writer)
{
	const struct rna_modules *modules = rna_device_modules(port->device);

	for (size_t i = 0; modules && i < modules->count; i++)
		for (enum rna_module_limit limit = 0; limit < RNA_MODULE_LIMIT_COUNT; limit++) {
			const struct rna_port_module *module = &modules->modules[i];
			struct rna_value value = module->limits[RNA_MODULE_TEMPERATURE][limit];

			if (is_of(module, port) && rna_value_is_known(value))
				write_sample(writer, port, module, "limit",
					     rna_module_limit_name(limit), value.number);
		}
}

static void write_lanes(const struct rna_subject *port, enum rna_module_measure measure,
			struct rna_writer *writer)
{
	const struct rna_modules *modules = rna_device_modules(port->device);

	for (size_t i = 0; modules && i < modules->count; i++)
		for (unsigned lane = 0; lane < modules->modules[i].lane_count; lane++) {
			const struct rna_port_module *module = &modules->modules[i];
			struct rna_value value = module->lanes[lane][measure];
			char text[16];

			(void)snprintf(text, sizeof(text), "%u", lane + 1);
			if (is_of(module, port) && rna_value_is_known(value))
				write_sample(writer, port, module, "lane", text, value.number);
		}
}

void rna_family_module_receive_power(const struct rna_subject *port, struct rna_writer *writer)
{
	write_lanes(port, RNA_MODULE_RECEIVE_POWER, writer);
}

void rna_family_module_transmit_power(const struct rna_subject *port, struct rna_writer *writer)
{
	write_lanes(port, RNA_MODULE_TRANSMIT_POWER, writer);
}

void rna_family_module_bias(const struct rna_subject *port, struct rna_writer *writer)
{
	write_lanes(port, RNA_MODULE_BIAS, writer);
}
