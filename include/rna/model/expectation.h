/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expectation: is this port meant to be up? Nothing is guessed from the present state: what was
 * never up and what nobody asked for is information, not an alarm. Reasons in the order in which
 * they win: configured, accepted or remembered (the newer of the two), siblings, none.
 */
#pragma once

#include <stddef.h>

#include "rna/base/clock.h"

enum rna_expected {
	RNA_EXPECTED_UNKNOWN,
	RNA_EXPECTED_UP,
	RNA_EXPECTED_DOWN,
};

enum rna_expectation_reason {
	RNA_EXPECTATION_NONE,       /* "unknown" */
	RNA_EXPECTATION_CONFIGURED, /* the settings name it */
	RNA_EXPECTATION_ACCEPTED,   /* "rdma-node-agent expect accept" took it as it was then */
	RNA_EXPECTATION_REMEMBERED, /* it was ACTIVE once since installation */
	/* those in its place on the other cards of its model, two at least, are all meant to be */
	RNA_EXPECTATION_SIBLINGS,
	RNA_EXPECTATION_COUNT,
};

const char *rna_expectation_reason_name(enum rna_expectation_reason reason); /* a metric label */

struct rna_expectation {
	enum rna_expected expected;
	enum rna_expectation_reason reason;
};

/* The best that a port has shown while ACTIVE, over restarts too. */
struct rna_port_best {
	uint64_t rate;  /* bytes per second; 0: nothing yet */
	rna_usec since; /* realtime, when somebody accepted the port as it was last; 0: never */
};

/* Where a device is that was expected and is not there. */
enum rna_whereabouts {
	RNA_WHEREABOUTS_LOST,    /* its PCI function is gone too */
	RNA_WHEREABOUTS_UNBOUND, /* the function is there, without a driver for RDMA */
	RNA_WHEREABOUTS_MOVED, /* driver and function are there: another network namespace has it */
	RNA_WHEREABOUTS_UNKNOWN, /* it has no PCI function to look at */
};

const char *rna_whereabouts_name(enum rna_whereabouts whereabouts);

struct rna_missing_device {
	const char *key;         /* as in struct rna_device */
	const char *name;        /* its last one */
	const char *pci_address; /* NULL: it had none */
	enum rna_whereabouts whereabouts;
	rna_usec last_seen;      /* realtime */
	struct rna_time since;   /* when the agent noticed that it is missing */
	unsigned ports_expected; /* of its ports: were up once, and were not let go */
};
