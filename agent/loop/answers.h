/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the agent does when it is asked over the control socket: one table (answers.c). To add an
 * answer: a row there, and a command that asks for it.
 * Thread: the loop's.
 */
#pragma once

#include "rna/exporter.h"

#include "bandwidth/measuring.h"
#include "selftest/selftest_schedule.h"
#include "settings/settings.h"

#include "control.h"
#include "quiesce.h"

/* What the answers work with. */
struct rna_answers {
	const struct rna_settings *settings;
	struct rna_selftest *selftest;
	struct rna_measuring *measuring;
	struct rna_quiesce *quiesce;
	struct rna_http_source source; /* of views */
};

extern const struct rna_control_command rna_answers[]; /* userdata: struct rna_answers */
