/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Platforms: machines on which something is normal that is a fault elsewhere, or impossible that
 * works elsewhere. The table is agent/core/model/platforms.c. Who needs to know something of a
 * board, a processor with a GPU or a cloud reads it here, or adds a column.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct rna_dmi; /* rna/model/readiness.h */

enum rna_platform_kind {
	RNA_PLATFORM_UNSAID, /* nothing is known that says it */
	RNA_PLATFORM_METAL,
	RNA_PLATFORM_GUEST, /* a virtual machine */
};

/* What is known of a machine, of all rows that it fits. All of it is unset: no platform. */
struct rna_platform {
	/* Where CPUs do not say themselves whether they are virtual. */
	enum rna_platform_kind kind;
	/* Why NICs cannot access the memory of its GPU, whatever is loaded. NULL: they may. */
	const char *no_gpudirect;
	/* The GPU has an NVLink-C2C to its processor. */
	bool c2c;
	/* mlx5's message about the power of the slot comes at each boot of healthy boards. */
	bool slot_power_is_normal;
	/*
	 * Functions of the NIC with the same number share a cage although they are of different PCI
	 * domains: each reports the rate of the whole cable.
	 */
	bool shared_cages;
};

/* dmi may be NULL; the ids are those of a GPU, 0: there is none, or it is not known. */
struct rna_platform rna_platform_of(const struct rna_dmi *dmi, uint32_t vendor_id,
				    uint32_t device_id);
