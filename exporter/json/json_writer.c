// SPDX-License-Identifier: Apache-2.0
/* What documents in JSON are made of. */
#include "json_writer.h"

#include "view/text.h"

json_t *rna_json_text(struct rna_json_writer *writer, const char *text)
{
	RNA_STRBUF struct rna_strbuf clean = RNA_STRBUF_INIT;

	rna_strbuf_add_utf8(&clean, text, strlen(text));
	if (!rna_strbuf_ok(&clean))
		writer->failed = true;
	return json_stringn(clean.data ? clean.data : "", clean.len);
}

void rna_json_set_text(struct rna_json_writer *writer, json_t *object, const char *name,
		       const char *text)
{
	if (text)
		rna_json_set(writer, object, name, rna_json_text(writer, text));
}

void rna_json_set_number(struct rna_json_writer *writer, json_t *object, const char *name,
			 uint64_t number)
{
	rna_json_set(writer, object, name, rna_json_number(number));
}

/*
 * jansson has signed integers and no way to write a number of one's own; a counter beyond loses its
 * last digits, but not its sign. Most readers take numbers for doubles anyway, jq among them.
 */
json_t *rna_json_number(uint64_t number)
{
	return number <= INT64_MAX ? json_integer((json_int_t)number) : json_real((double)number);
}

void rna_json_set_time(struct rna_json_writer *writer, json_t *object, const char *name,
		       rna_usec realtime)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	rna_text_add_time(&text, realtime);
	rna_json_set_text(writer, object, name, text.data);
}

void rna_json_set_value(struct rna_json_writer *writer, json_t *object, const char *name,
			struct rna_value value)
{
	if (rna_value_is_known(value))
		rna_json_set(writer, object, name, rna_json_number(value.number));
}

void rna_json_set_boolean(struct rna_json_writer *writer, json_t *object, const char *name,
			  struct rna_value value)
{
	if (rna_value_is_known(value))
		rna_json_set(writer, object, name, json_boolean(value.number));
}

void rna_json_set_some(struct rna_json_writer *writer, json_t *object, const char *name,
		       json_t *some)
{
	if (json_array_size(some) + json_object_size(some) > 0)
		rna_json_set(writer, object, name, some);
	else
		json_decref(some);
}

static void set_field(struct rna_json_writer *writer, json_t *object, const struct rna_field *field,
		      const void *item)
{
	char scratch[RNA_FIELD_TEXT_MAX];
	struct rna_value value;

	if (rna_field_is_text(field)) {
		rna_json_set_text(writer, object, field->json,
				  rna_field_text(field, item, scratch));
		return;
	}
	value = rna_field_value(field, item);
	if (!rna_value_is_known(value))
		return;
	if (field->time)
		rna_json_set_time(writer, object, field->json, value.number);
	else
		rna_json_set(writer, object, field->json,
			     field->yes_no ? json_boolean(value.number)
					   : rna_json_number(value.number));
}

void rna_json_set_fields(struct rna_json_writer *writer, json_t *object,
			 const struct rna_field *fields, size_t count, const void *item)
{
	for (size_t i = 0; i < count; i++)
		set_field(writer, object, &fields[i], item);
}

json_t *rna_json_item(struct rna_json_writer *writer, const struct rna_family_table *table,
		      const void *item)
{
	json_t *object = json_object();

	for (size_t i = 0; i < table->count; i++)
		if (table->rows[i].field.json)
			set_field(writer, object, &table->rows[i].field, item);
	return object;
}

json_t *rna_json_items(struct rna_json_writer *writer, const struct rna_family_table *table,
		       const void *items, size_t count, size_t size)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		rna_json_append(writer, array,
				rna_json_item(writer, table, (const char *)items + i * size));
	return array;
}
