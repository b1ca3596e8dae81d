/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pluggable module of an Ethernet port: an optical transceiver, or a cable with built-in
 * modules. Its measurements, and the limits set by its manufacturer.
 *
 * A module latches alarms until they are read. Reading them would clear them for all other
 * programs, so the agent does not; comparing measurements with the limits gives the current alarms.
 * Sources: SFF-8636 (QSFP+, QSFP28, QSFP56), SFF-8472 (SFP+, SFP28), OIF-CMIS 4 and 5 (QSFP-DD,
 * OSFP).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/model/part.h"
#include "rna/model/value.h"

enum rna_module_measure {
	RNA_MODULE_TEMPERATURE,   /* thousandths of a degree Celsius */
	RNA_MODULE_VOLTAGE,       /* microvolts */
	RNA_MODULE_RECEIVE_POWER, /* nanowatts; per lane, like all below */
	RNA_MODULE_TRANSMIT_POWER,
	RNA_MODULE_BIAS, /* microamperes */
	RNA_MODULE_MEASURE_COUNT,
};

const char *rna_module_measure_name(enum rna_module_measure measure); /* "receive_power" */

enum rna_module_limit {
	RNA_MODULE_HIGH_ALARM,
	RNA_MODULE_LOW_ALARM,
	RNA_MODULE_HIGH_WARNING,
	RNA_MODULE_LOW_WARNING,
	RNA_MODULE_LIMIT_COUNT,
};

const char *rna_module_limit_name(enum rna_module_limit limit); /* "high-alarm", ... */

enum { RNA_MODULE_LANES_MAX = 8 };

struct rna_port_module {
	const char *netdev;
	unsigned port;      /* port that it serves */
	const char *form;   /* "QSFP28", "OSFP", ...; "?" for an unknown code */
	const char *vendor; /* NULL: blank */
	const char *part_number;
	const char *revision;
	const char *serial;  /* NULL also if the setting does not ask for it */
	bool copper;         /* a cable without optics: no optical measurements */
	unsigned lane_count; /* 0: no measurements */
	struct rna_value temperature;
	struct rna_value voltage;
	/* Index: lane, then enum rna_module_measure, from RNA_MODULE_RECEIVE_POWER. */
	struct rna_value lanes[RNA_MODULE_LANES_MAX][RNA_MODULE_MEASURE_COUNT];
	struct rna_value limits[RNA_MODULE_MEASURE_COUNT][RNA_MODULE_LIMIT_COUNT];
};

struct rna_modules {
	struct rna_part part;
	bool denied; /* reading needs CAP_NET_ADMIN, which the agent lacks */
	size_t count;
	const struct rna_port_module *modules; /* by port */
};

/* The worst limit that value exceeds. RNA_MODULE_LIMIT_COUNT: none, or unknown. */
enum rna_module_limit rna_module_exceeded(const struct rna_port_module *module,
					  enum rna_module_measure measure, struct rna_value value);

/*
 * Is the lane in use? It is unused if its laser is off and it receives no light: the port runs on
 * fewer lanes than the module has, or the module combines lanes into one wavelength. True if
 * unknown.
 */
bool rna_module_lane_is_used(const struct rna_port_module *module, unsigned lane);

/*
 * The used lane, from 0, whose received power is below half of the median of all lanes: a dirty
 * connector or a broken fibre. -1: none, or fewer than three lanes are known.
 */
int rna_module_weak_lane(const struct rna_port_module *module);
