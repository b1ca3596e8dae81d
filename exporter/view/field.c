// SPDX-License-Identifier: Apache-2.0
/* Fields: how a fact is read. */
#include "field.h"

#include <stdio.h>
#include <string.h>

/* The struct that has the member; NULL: there is none. */
static const char *struct_of(const struct rna_field *field, const void *object)
{
	const char *at = object;

	if (field->behind)
		memcpy(&at, at + field->pointer, sizeof(at));
	return at;
}

static struct rna_value value_of_int(int number)
{
	return number < 0 ? (struct rna_value){0} : rna_value_ok((unsigned)number);
}

static struct rna_value read_member(const struct rna_field *field, const char *at)
{
	const void *member = at + field->offset;

	switch (field->kind) {
	case RNA_FIELD_VALUE:
		return *(const struct rna_value *)member;
	case RNA_FIELD_UINT64:
		return rna_value_ok(*(const uint64_t *)member);
	case RNA_FIELD_UNSIGNED:
		return rna_value_ok(*(const unsigned *)member);
	case RNA_FIELD_INT:
		return value_of_int(*(const int *)member);
	case RNA_FIELD_BOOL:
		return rna_value_ok(*(const bool *)member);
	default:
		return (struct rna_value){0};
	}
}

struct rna_value rna_field_value(const struct rna_field *field, const void *object)
{
	struct rna_value ret = {0};
	const char *at;

	if (field->number)
		return field->number(object);
	at = struct_of(field, object);
	if (at)
		ret = read_member(field, at);
	if (field->zero_is_none && ret.number == 0)
		ret.state = RNA_VALUE_ABSENT;
	return ret;
}

bool rna_field_is_text(const struct rna_field *field)
{
	return field->text || field->print || field->word || field->kind == RNA_FIELD_TEXT;
}

const char *rna_field_text(const struct rna_field *field, const void *object,
			   char scratch[RNA_FIELD_TEXT_MAX])
{
	struct rna_value value;
	const char *at;

	if (field->text)
		return field->text(object);
	if (field->print)
		return field->print(object, scratch);
	if (field->kind == RNA_FIELD_TEXT) {
		at = struct_of(field, object);
		return at ? *(const char *const *)(const void *)(at + field->offset) : NULL;
	}
	value = rna_field_value(field, object);
	return rna_value_is_known(value) ? field->word(value.number) : NULL;
}

const char *rna_field_show(const struct rna_field *field, const void *object,
			   char scratch[RNA_FIELD_TEXT_MAX])
{
	struct rna_value value;

	if (rna_field_is_text(field))
		return rna_field_text(field, object, scratch);
	value = rna_field_value(field, object);
	if (!rna_value_is_known(value))
		return NULL;
	if (field->yes_no)
		return value.number ? "yes" : NULL;
	(void)snprintf(scratch, RNA_FIELD_TEXT_MAX, "%ju", (uintmax_t)value.number);
	return scratch;
}
