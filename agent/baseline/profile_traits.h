/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What devices and ports have of that which a profile can demand as a number: one table. Rules
 * compare it with a profile, and a profile is made of it.
 */
#pragma once

#include "rna/model/subject.h"

#include "profile.h"

enum rna_profile_trait_scope {
	RNA_PROFILE_TRAIT_OF_DEVICE,
	RNA_PROFILE_TRAIT_OF_PORT,
	RNA_PROFILE_TRAIT_OF_LINK, /* of a port that is up: otherwise it is that of the last link */
};

struct rna_profile_trait {
	const char *what;
	enum rna_profile_trait_scope scope;
	size_t offset; /* of what is demanded, in struct rna_profile_device: a struct rna_value */
	struct rna_value (*get)(const struct rna_subject *subject); /* a device, or a port */
	void (*write)(uint64_t value, struct rna_strbuf *out);      /* with its unit */
};

enum { RNA_PROFILE_TRAITS = 9 };
extern const struct rna_profile_trait rna_profile_traits[RNA_PROFILE_TRAITS];

/*
 * 1 if a port of a switch above a NIC redirects peer-to-peer traffic, 0 if none does, absent if it
 * is not known of any. A root port does not count: nothing beside its path could be reached
 * directly. ret_hop, ret_device: the first one; NULL is fine.
 */
struct rna_value rna_profile_acs(const struct rna_snapshot *snapshot,
				 const struct rna_pcie_hop **ret_hop,
				 const struct rna_snapshot_device **ret_device);

/*
 * 1 if the IOMMU translates addresses of a NIC or a GPU, 0 if of none, absent if it is not known of
 * any.
 */
struct rna_value rna_profile_iommu(const struct rna_snapshot *snapshot);

/* What the entry demands. */
struct rna_value rna_profile_trait_wanted(const struct rna_profile_trait *trait,
					  const struct rna_profile_device *entry);
