/* SPDX-License-Identifier: Apache-2.0 */
/* Expectation: is a port meant to be up? A pure function of settings, memory and snapshot. */
#pragma once

#include "rna/model/snapshot.h"

#include "settings/settings.h"

#include "memory.h"

/* One port, with what its expectation follows from. */
struct rna_judged_port {
	const struct rna_snapshot_device *device;
	unsigned number;
	const char *netdev; /* NULL: none */
	bool represents; /* a function of the embedded switch: it is up while a guest uses that */
	const struct rna_port_memory *memory;
	struct rna_expectation expectation; /* the result */
};

/* May text be an entry of expect.up and expect.down: a glob, and "/port" behind it or not? */
bool rna_expect_glob_is_valid(const char *text);

/* Is the port one of those that such an entry means? netdev: NULL: none. */
bool rna_expect_fits(const char *text, const struct rna_snapshot_device *device, unsigned port,
		     const char *netdev);

/* The same of a device that is absent, of which little is known; NULL: not known. */
bool rna_expect_fits_device(const char *text, const char *name, const char *pci_address);

/*
 * Fills in the expectation of each. Ports of one device stand together. 0, or -ENOMEM: then what
 * follows from other ports is missing.
 */
int rna_expect(const struct rna_settings *settings, struct rna_judged_port *ports, size_t count);
