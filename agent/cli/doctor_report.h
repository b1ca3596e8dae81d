/* SPDX-License-Identifier: Apache-2.0 */
/* The output of the command doctor. Pure. */
#pragma once

#include "doctor/doctor_facts.h"
#include "doctor/needs.h"

/* How an attempt went. */
struct rna_need_result {
	const struct rna_need *need;
	enum rna_need_state state;
	const char *text; /* what was found, or why it does not work */
};

struct rna_doctor {
	const struct rna_settings *settings;
	const char *recording; /* whose files were looked at; NULL: of this node */
	struct rna_doctor_facts facts;
	size_t count;
	const struct rna_need_result *results; /* in the order of rna_needs */
};

size_t rna_doctor_count(const struct rna_doctor *doctor, enum rna_need_state state);

void rna_doctor_write_text(const struct rna_doctor *doctor, struct rna_strbuf *out);
void rna_doctor_write_json(const struct rna_doctor *doctor, struct rna_strbuf *out);
