/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The module in the cage of an Ethernet port: an optical transceiver, or a cable with one at its
 * end. What it measures of itself, and the limits that its maker gave it.
 *
 * A module latches alarms until somebody reads them. Whoever polls them takes them away from all
 * others, so they are left alone; the limits say the same of the moment.
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
	RNA_MODULE_RECEIVE_POWER, /* nanowatts; of a lane, as all below */
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
	unsigned port;      /* that it serves */
	const char *form;   /* "QSFP28", "OSFP", ...; "?" for a number that is newer */
	const char *vendor; /* NULL: blank */
	const char *part_number;
	const char *revision;
	const char *serial;  /* NULL also where nobody wants to know it */
	bool copper;         /* a cable without optics: it measures nothing of light */
	unsigned lane_count; /* 0: nothing is measured */
	struct rna_value temperature;
	struct rna_value voltage;
	/* By lane, and then by measure from RNA_MODULE_RECEIVE_POWER on. */
	struct rna_value lanes[RNA_MODULE_LANES_MAX][RNA_MODULE_MEASURE_COUNT];
	struct rna_value limits[RNA_MODULE_MEASURE_COUNT][RNA_MODULE_LIMIT_COUNT];
};

struct rna_modules {
	struct rna_part part;
	bool denied; /* the kernel wants CAP_NET_ADMIN for them, and we do not have it */
	size_t count;
	const struct rna_port_module *modules; /* by port */
};

/* Which of its limits a value is beyond; the worst. RNA_MODULE_LIMIT_COUNT: none, or not known. */
enum rna_module_limit rna_module_exceeded(const struct rna_port_module *module,
					  enum rna_module_measure measure, struct rna_value value);

/*
 * Does a lane carry anything? Its laser is off and nothing comes in where the port runs on fewer
 * lanes than the module has, or the module makes one wavelength of several. Not known: it does.
 */
bool rna_module_lane_is_used(const struct rna_port_module *module, unsigned lane);

/*
 * The lane in use, from 0, that receives less than half of what the median of all lanes does: a
 * dirty end or a broken fibre. -1: none, or there are fewer than three that are known.
 */
int rna_module_weak_lane(const struct rna_port_module *module);
