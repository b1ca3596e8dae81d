/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expectation: should this port be up? The agent does not derive it from the current state: a port
 * that was never up and is not configured is information, not an alarm. Reasons by precedence:
 * configured, accepted or remembered (the newer of the two), siblings, unwired, none.
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
	RNA_EXPECTATION_CONFIGURED, /* by expect.up or expect.down */
	RNA_EXPECTATION_ACCEPTED,   /* by "rdma-node-agent expect accept" */
	RNA_EXPECTATION_REMEMBERED, /* it was ACTIVE at least once since installation */
	/* the same port of at least two other cards of the model is expected up on all of them */
	RNA_EXPECTATION_SIBLINGS,
	/*
	 * Expected down: the card has ports that its model does not wire. A ConnectX-8 with four
	 * planes of Ethernet shows twelve ports, of which 3, 6, 9 and 12 lead to a cage
	 * (scitix/sichek#98).
	 */
	RNA_EXPECTATION_UNWIRED,
	RNA_EXPECTATION_COUNT,
};

const char *rna_expectation_reason_name(enum rna_expectation_reason reason); /* a metric label */

struct rna_expectation {
	enum rna_expected expected;
	enum rna_expectation_reason reason;
};

/* The highest rate of a port while ACTIVE; kept over restarts. */
struct rna_port_best {
	uint64_t rate;  /* bytes per second; 0: nothing yet */
	rna_usec since; /* realtime of the last "expect accept"; 0: never */
};

/* Where a missing device is. */
enum rna_whereabouts {
	RNA_WHEREABOUTS_LOST,    /* its PCI function is gone too */
	RNA_WHEREABOUTS_UNBOUND, /* the function exists, without an RDMA driver */
	RNA_WHEREABOUTS_MOVED,   /* function and driver exist: it is in another network namespace */
	/*
	 * A card with its node GUID has appeared at another PCI address: it was put into another
	 * slot, or the bus numbers changed.
	 */
	RNA_WHEREABOUTS_RELOCATED,
	RNA_WHEREABOUTS_UNKNOWN, /* it has no PCI function to check */
};

const char *rna_whereabouts_name(enum rna_whereabouts whereabouts);

struct rna_missing_device {
	const char *key;         /* as in struct rna_device */
	const char *name;        /* its last one */
	const char *pci_address; /* NULL: it had none */
	enum rna_whereabouts whereabouts;
	rna_usec last_seen;      /* realtime */
	struct rna_time since;   /* when the agent found it missing */
	unsigned ports_expected; /* number of its ports that are expected up */
	const char *new_name;    /* of a device that is relocated, else NULL */
	const char *new_address; /* likewise; PCI */
};
