/* SPDX-License-Identifier: Apache-2.0 */
/* Short words for the rows of the tables in families_*.c, and what their functions share. */
#pragma once

#include "families.h"

#define COUNTER       RNA_METRIC_COUNTER
#define GAUGE         RNA_METRIC_GAUGE
#define INFO          RNA_METRIC_INFO
#define HISTOGRAM     RNA_METRIC_HISTOGRAM
#define PLAIN         RNA_METRIC_PLAIN
#define YES_NO        RNA_METRIC_BOOLEAN
#define BYTES         RNA_METRIC_BYTES
#define BYTES_PER_SEC RNA_METRIC_BYTES_PER_SECOND
#define SECONDS       RNA_METRIC_SECONDS
#define NANOSECONDS   RNA_METRIC_NANOSECONDS
#define CELSIUS       RNA_METRIC_CELSIUS
#define VOLTS         RNA_METRIC_VOLTS
#define AMPERES       RNA_METRIC_AMPERES
#define WATTS         RNA_METRIC_WATTS
#define RATIO         RNA_METRIC_RATIO
#define NODE          RNA_SCOPE_NODE
#define DEVICE        RNA_SCOPE_DEVICE
#define PORT          RNA_SCOPE_PORT
#define GID           RNA_SCOPE_GID
#define JOB           RNA_SCOPE_JOB

/* A row that is a metric; of an info metric about items, LABELS stand in for a source. */
#define METRIC(scope_, name, type, unit, source, help)                                             \
	{                                                                                          \
		.metric = {name, type, unit, help}, .scope = (scope_), source                      \
	}
/* The same, exported only with metrics.details. */
#define DETAIL(scope_, name, type, unit, source, help)                                             \
	{                                                                                          \
		.metric = {name, type, unit, help}, .scope = (scope_), .detail = true, source      \
	}
#define GET(function) .get = (function)
/* With what metrics.collectors: summary leaves of it. */
#define SUMMARY(function, source) .summary = (function), source
/* The same as GET(); the field has what JSON and tables for people show instead of the number. */
#define GET_SHOWN(function, ...)   .get = (function), .field = {__VA_ARGS__}
#define EACH(function, label_list) .each = (function), .label = (label_list)
#define LABELS                     .label = NULL

/* The sample is a member of what a pointer in the subject leads to; further words may follow. */
#define AT(to, member, ...)                                                                        \
	.field = {RNA_FIELD_BEHIND(struct rna_subject, to, member), ##__VA_ARGS__}
/* It is a member of the item, or a function of it. */
#define IN(type, member, ...) .field = {RNA_FIELD_IN(type, member), ##__VA_ARGS__}
#define OF(function)          .field = {.number = (function)}
/* A row for JSON alone, and one that is a label of the same name as well. */
#define JSON(name, ...)      .field = {.json = (name), __VA_ARGS__}
#define JSON_FLAG(name, ...) .field = {.json = (name), .yes_no = true, __VA_ARGS__}
#define TELLS(name, ...)     .field = {.label = (name), .tells = true, __VA_ARGS__}
#define BOTH(name, ...)      .field = {.json = (name), .label = (name), __VA_ARGS__}
#define ABOUT(type, member)  RNA_FIELD_IN(type, member)
#define BEHIND(to, member)   RNA_FIELD_BEHIND(struct rna_subject, to, member)

#define ROWS(table) .count = RNA_ARRAY_SIZE(table), .rows = (table)

static const struct rna_value rna_no_value;

static inline struct rna_value rna_family_yes_or_no(bool yes)
{
	return rna_value_ok(yes ? 1 : 0);
}

/* The value of an info metric; what it says stands in its labels. */
static inline struct rna_value rna_family_one(const struct rna_subject *subject)
{
	(void)subject;
	return rna_value_ok(1);
}
