// SPDX-License-Identifier: Apache-2.0
/*
 * Rules about modules, by the thresholds that the modules themselves report. Optical power is
 * checked only on active ports: a port that is down receives none, and has a finding port-down.
 */
#include "rna/model/module.h"

#include "rules.h"

/* The first module of the port from index *from on, which moves behind it; NULL: no more. */
static const struct rna_port_module *next_module(const struct rna_subject *port, size_t *from)
{
	const struct rna_modules *modules = rna_device_modules(port->device);

	while (modules && *from < modules->count) {
		const struct rna_port_module *module = &modules->modules[(*from)++];

		if (module->port == port->port)
			return module;
	}
	return NULL;
}

static bool is_alarm(enum rna_module_limit limit)
{
	return limit == RNA_MODULE_HIGH_ALARM || limit == RNA_MODULE_LOW_ALARM;
}

static void check_module_temperature(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_port_module *module;
	size_t from = 0;

	while ((module = next_module(in->subject, &from))) {
		enum rna_module_limit limit =
			rna_module_exceeded(module, RNA_MODULE_TEMPERATURE, module->temperature);
		struct rna_finding *found;

		if (limit != RNA_MODULE_HIGH_ALARM && limit != RNA_MODULE_HIGH_WARNING)
			continue;
		found = rna_finds_add(out,
				      "the module of %s is at %.1f °C; its %s threshold is %.1f °C",
				      module->netdev, (double)module->temperature.number / 1000,
				      is_alarm(limit) ? "alarm" : "warning",
				      (double)module->limits[RNA_MODULE_TEMPERATURE][limit].number /
					      1000);
		if (!is_alarm(limit))
			found->severity = RNA_SEVERITY_WARNING;
		return;
	}
}

const struct rna_rule rna_rule_module_temperature = {
	RNA_RULE_ROW("module-temperature", PORT, CRITICAL, ERRORS, CABLE, LINK_DEGRADED),
	.help = "The temperature of a transceiver is above the module's alarm threshold "
		"(warning: above its warning threshold).",
	.check = check_module_temperature,
	.remedy = "{provider}Check the fans and the airflow of the node. Replace a module that is "
		  "hot next to cool ones.",
	.message_id = "55ff0b33c9b64a98a6120e7a953c4e58",
};

static double volts(struct rna_value microvolts)
{
	return (double)microvolts.number / 1e6;
}

/* A module is supplied whether or not its port is up. */
static void check_module_voltage(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_port_module *module;
	size_t from = 0;

	while ((module = next_module(in->subject, &from))) {
		enum rna_module_limit limit =
			rna_module_exceeded(module, RNA_MODULE_VOLTAGE, module->voltage);
		struct rna_finding *found;

		if (limit == RNA_MODULE_LIMIT_COUNT)
			continue;
		found = rna_finds_add(
			out,
			"the supply voltage of the module of %s is %.3f V, beyond the %s threshold "
			"of %.3f V",
			module->netdev, volts(module->voltage), rna_module_limit_name(limit),
			volts(module->limits[RNA_MODULE_VOLTAGE][limit]));
		if (!is_alarm(limit))
			found->severity = RNA_SEVERITY_INFO;
		return;
	}
}

const struct rna_rule rna_rule_module_voltage = {
	RNA_RULE_ROW("module-voltage", PORT, WARNING, ERRORS, CABLE, LINK_DEGRADED),
	.settles = true,
	.help = "The supply voltage of a transceiver is beyond the module's alarm "
		"threshold (info: beyond its warning threshold).",
	.check = check_module_voltage,
	.remedy = "{provider}Reseat the module. If other modules of {device} or of the node have "
		  "the same voltage, the card or its slot supplies it; otherwise replace "
		  "the module.",
	.message_id = "8869502a3d654b83bc1815e2ee3aa4d6",
};

/* A lane of the port that is beyond a threshold, alarms before warnings. */
struct beyond {
	const struct rna_port_module *module;
	enum rna_module_measure measure;
	enum rna_module_limit limit;
	unsigned lane;
	size_t count; /* of lanes that are */
};

static void look_at_lane(const struct rna_port_module *module, unsigned lane, struct beyond *beyond)
{
	for (enum rna_module_measure measure = RNA_MODULE_RECEIVE_POWER;
	     measure < RNA_MODULE_MEASURE_COUNT; measure++) {
		enum rna_module_limit limit =
			rna_module_exceeded(module, measure, module->lanes[lane][measure]);

		if (limit == RNA_MODULE_LIMIT_COUNT)
			continue;
		beyond->count++;
		if (beyond->module && (is_alarm(beyond->limit) || !is_alarm(limit)))
			continue;
		beyond->module = module;
		beyond->measure = measure;
		beyond->limit = limit;
		beyond->lane = lane;
	}
}

/* In mA or mW, the units in common use. */
static double shown(enum rna_module_measure measure, uint64_t number)
{
	return measure == RNA_MODULE_BIAS ? (double)number / 1e3 : (double)number / 1e6;
}

static void check_module_light(const struct rna_rule_input *in, struct rna_finds *out)
{
	static const char *const names[] = {
		[RNA_MODULE_RECEIVE_POWER] = "Rx power",
		[RNA_MODULE_TRANSMIT_POWER] = "Tx power",
		[RNA_MODULE_BIAS] = "laser bias",
	};
	struct beyond beyond = {0};
	const struct rna_port_module *module;
	struct rna_finding *found;
	size_t from = 0;

	if (!rna_subject_is_active(in->subject))
		return;
	while ((module = next_module(in->subject, &from)))
		for (unsigned lane = 0; lane < module->lane_count; lane++)
			if (rna_module_lane_is_used(module, lane))
				look_at_lane(module, lane, &beyond);
	module = beyond.module;
	if (!module)
		return;
	found = rna_finds_add(
		out,
		"lane %u of the module of %s: %s %.4g m%c is beyond the %s threshold of %.4g m%c%s",
		beyond.lane + 1, module->netdev, names[beyond.measure],
		shown(beyond.measure, module->lanes[beyond.lane][beyond.measure].number),
		beyond.measure == RNA_MODULE_BIAS ? 'A' : 'W', rna_module_limit_name(beyond.limit),
		shown(beyond.measure, module->limits[beyond.measure][beyond.limit].number),
		beyond.measure == RNA_MODULE_BIAS ? 'A' : 'W',
		beyond.count > 1 ? "; other values are too" : "");
	if (!is_alarm(beyond.limit))
		found->severity = RNA_SEVERITY_INFO;
}

const struct rna_rule rna_rule_module_light = {
	RNA_RULE_ROW("module-light", PORT, WARNING, ERRORS, CABLE, LINK_DEGRADED),
	.settles = true,
	.help = "Rx power, Tx power or laser bias of a lane of an active port is beyond "
		"the module's alarm threshold (info: beyond its warning threshold).",
	.check = check_module_light,
	.remedy = "{provider}Clean the connectors and check the fibre for bends. Compare with the "
		  "module at the other end, and replace the one with low Tx power.",
	.message_id = "b1cd258c1d974519be8d86b01381b630",
};

static void check_module_lane(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_port_module *module;
	size_t from = 0;

	if (!rna_subject_is_active(in->subject))
		return;
	while ((module = next_module(in->subject, &from))) {
		int lane = rna_module_weak_lane(module);

		if (lane < 0)
			continue;
		(void)rna_finds_add(
			out,
			"lane %d of the module of %s: Rx power %.4g mW, less than half of "
			"that of the other lanes",
			lane + 1, module->netdev,
			shown(RNA_MODULE_RECEIVE_POWER,
			      module->lanes[lane][RNA_MODULE_RECEIVE_POWER].number));
		return;
	}
}

const struct rna_rule rna_rule_module_lane = {
	RNA_RULE_ROW("module-lane", PORT, INFO, ERRORS, CABLE, LINK_DEGRADED),
	.settles = true,
	.help = "The Rx power of one lane of an active port is less than half of that of "
		"the other lanes.",
	.check = check_module_lane,
	.remedy = "No action required yet. {provider}When the node is serviced, clean the "
		  "connectors of this fibre: a weak lane causes errors as soon as it gets "
		  "warmer.",
	.message_id = "a31a83161f9b462a9a4844db6f89580a",
};
