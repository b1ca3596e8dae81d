/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of a profile: one table for each section. Reader, writer and documents follow from it.
 */
#pragma once

#include "profile.h"

extern const struct rna_schema rna_profile_file_rows;   /* struct rna_profile */
extern const struct rna_schema rna_profile_match_rows;  /* struct rna_profile_match */
extern const struct rna_schema rna_profile_node_rows;   /* struct rna_profile_node */
extern const struct rna_schema rna_profile_device_rows; /* struct rna_profile_device */

/* All keys as Markdown tables, for the command describe. */
void rna_profiles_describe(struct rna_strbuf *out);
/* The shipped profiles, likewise: which nodes each is for, and its document. */
void rna_profiles_describe_shipped(struct rna_strbuf *out);
