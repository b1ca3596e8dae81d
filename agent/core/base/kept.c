// SPDX-License-Identifier: Apache-2.0
#include "rna/base/kept.h"

#include <errno.h>
#include <stdio.h>

#include "rna/base/characters.h"
#include "rna/base/parse.h"

/* -- Members ----------------------------------------------------------------------------------- */

void rna_kept_want(struct rna_kept *kept, bool condition)
{
	if (!condition && kept->status == 0)
		kept->status = -EBADMSG;
}

static void fail_memory(struct rna_kept *kept, const char *name)
{
	kept->status = rna_error_set(kept->error, -ENOMEM, "cannot read %s", name);
}

static const json_t *get_member(const struct rna_kept *kept, const char *name)
{
	return json_object_get(kept->object, name);
}

static void set_member(struct rna_kept *kept, const char *name, json_t *member)
{
	rna_json_set(kept->writer, kept->object, name, member);
}

static void set_text(struct rna_kept *kept, const char *name, const char *text)
{
	RNA_STRBUF struct rna_strbuf clean = RNA_STRBUF_INIT;

	rna_strbuf_add_utf8(&clean, text, strlen(text));
	set_member(kept, name, rna_strbuf_ok(&clean) ? json_stringn(clean.data, clean.len) : NULL);
}

void rna_keep_text(struct rna_kept *kept, const char *name, char **member)
{
	if (kept->writes && *member)
		set_text(kept, name, *member);
	if (!kept->writes &&
	    !rna_text_set(member, kept->reads ? rna_kept_text(kept->object, name) : NULL))
		fail_memory(kept, name);
}

void rna_keep_const_text(struct rna_kept *kept, const char *name, const char **member)
{
	char *text = (char *)(uintptr_t)*member; /* the record's own; const only for readers */

	rna_keep_text(kept, name, &text);
	if (!kept->writes)
		*member = text;
}

void rna_keep_chars(struct rna_kept *kept, const char *name, char *member, size_t size)
{
	const char *text = kept->reads ? rna_kept_text(kept->object, name) : NULL;

	if (kept->writes)
		set_text(kept, name, member);
	if (kept->reads)
		(void)snprintf(member, size, "%s", text ? text : "");
}

const char *rna_keep_word(struct rna_kept *kept, const char *name, const char *word)
{
	if (kept->writes)
		set_text(kept, name, word);
	return kept->reads ? rna_kept_text(kept->object, name) : NULL;
}

void rna_keep_bool(struct rna_kept *kept, const char *name, bool *member)
{
	if (kept->writes)
		set_member(kept, name, json_boolean(*member));
	if (kept->reads)
		*member = json_is_true(get_member(kept, name));
}

void rna_keep_i64(struct rna_kept *kept, const char *name, int64_t *member)
{
	const json_t *json = kept->reads ? get_member(kept, name) : NULL;

	if (kept->writes)
		set_member(kept, name, json_integer(*member));
	if (json_is_integer(json))
		*member = json_integer_value(json);
}

/* A number beyond the type is damage. */
void rna_keep_i32(struct rna_kept *kept, const char *name, int32_t *member)
{
	int64_t number = *member;

	rna_keep_i64(kept, name, &number);
	rna_kept_want(kept, number >= INT32_MIN && number <= INT32_MAX);
	if (kept->reads)
		*member = (int32_t)number;
}

/* A negative number counts as missing. */
void rna_keep_u64(struct rna_kept *kept, const char *name, uint64_t *member)
{
	const json_t *json = kept->reads ? get_member(kept, name) : NULL;

	if (kept->writes && *member > 0)
		set_member(kept, name, json_integer((json_int_t)*member));
	if (json_is_integer(json) && json_integer_value(json) >= 0)
		*member = (uint64_t)json_integer_value(json);
}

void rna_keep_u32(struct rna_kept *kept, const char *name, uint32_t *member)
{
	uint64_t number = *member;

	rna_keep_u64(kept, name, &number);
	rna_kept_want(kept, number <= UINT32_MAX);
	if (kept->reads)
		*member = (uint32_t)number;
}

/* -- Records ----------------------------------------------------------------------------------- */

json_t *rna_kept_write(struct rna_json_writer *writer, rna_kept_members *members,
		       const void *record)
{
	struct rna_kept kept = {json_object(), .writes = true, .writer = writer};

	members(&kept, (void *)(uintptr_t)record); /* which is only read */
	return kept.status < 0 ? rna_json_free(kept.object) : kept.object;
}

int rna_kept_read(const json_t *object, rna_kept_members *members, void *record,
		  struct rna_error *error)
{
	struct rna_kept kept = {(json_t *)(uintptr_t)object, .reads = true, .error = error};

	rna_kept_want(&kept, json_is_object(object));
	members(&kept, record);
	return kept.status;
}

void rna_kept_free(rna_kept_members *members, void *record, size_t size)
{
	struct rna_kept kept = {0};

	members(&kept, record);
	memset(record, 0, size);
}

int rna_kept_fail(const char *list, size_t index, int status, struct rna_error *error)
{
	return rna_error_say(error, status, "entry %zu of %s %s", index + 1, list,
			     status == -ENOMEM ? "does not fit in memory" : "is damaged");
}

const char *rna_kept_text(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

uint64_t rna_kept_number(const json_t *object, const char *name)
{
	json_int_t number = json_integer_value(json_object_get(object, name));

	return number > 0 ? (uint64_t)number : 0;
}

/* -- Records within records -------------------------------------------------------------------- */

void rna_keep_record(struct rna_kept *kept, const char *name, rna_kept_members *members,
		     void *record, size_t size)
{
	const json_t *object = kept->reads ? get_member(kept, name) : NULL;
	json_t *written = kept->writes ? rna_kept_write(kept->writer, members, record) : NULL;
	int status = object ? rna_kept_read(object, members, record, NULL) : 0;

	if (written)
		set_member(kept, name, written);
	if (status == -ENOMEM)
		fail_memory(kept, name);
	else if (status < 0 || !(kept->writes || kept->reads))
		rna_kept_free(members, record, size);
}

static void write_array(struct rna_kept *kept, const struct rna_kept_array *what,
			const char *elements, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++) {
		json_t *element =
			rna_kept_write(kept->writer, what->members, elements + i * what->size);

		if (element)
			rna_json_append(kept->writer, list, element);
	}
	set_member(kept, what->name, list);
}

/* Into elements, which have room for as many as are read. Returns how many. */
static size_t read_array(struct rna_kept *kept, const struct rna_kept_array *what, char *elements,
			 const json_t *list)
{
	size_t count = 0;

	for (size_t i = 0; i < json_array_size(list) && count < what->max; i++) {
		char *element = elements + count * what->size;
		int status = rna_kept_read(json_array_get(list, i), what->members, element, NULL);

		if (status == 0) {
			count++;
			continue;
		}
		rna_kept_free(what->members, element, what->size);
		if (status != -ENOMEM && !what->strict)
			continue;
		kept->status = rna_kept_fail(what->name, i, status, kept->error);
		break;
	}
	return count;
}

static void *allocate_array(struct rna_kept *kept, const struct rna_kept_array *what, size_t count)
{
	void *elements = NULL;

	if (count > what->max && what->strict) {
		(void)rna_error_say(kept->error, -EBADMSG,
				    "%s has %zu entries; at most %zu are read", what->name, count,
				    what->max);
		kept->status = -E2BIG;
	} else if (count > 0) {
		elements = calloc(count < what->max ? count : what->max, what->size);
		if (!elements)
			fail_memory(kept, what->name);
	}
	return elements;
}

/* array: the address of a pointer, of any type, which is copied for that. */
void rna_keep_array(struct rna_kept *kept, const struct rna_kept_array *what, void *array,
		    size_t *count)
{
	const json_t *list = kept->reads ? get_member(kept, what->name) : NULL;
	char *elements;

	memcpy(&elements, array, sizeof(elements));
	if (kept->writes) {
		write_array(kept, what, elements, *count);
		return;
	}
	for (size_t i = 0; i < *count; i++)
		rna_kept_free(what->members, elements + i * what->size, what->size);
	free(elements);
	elements = allocate_array(kept, what, json_array_size(list));
	memcpy(array, &elements, sizeof(elements));
	*count = elements ? read_array(kept, what, elements, list) : 0;
}

/* -- Files with the number of their format ----------------------------------------------------- */

void rna_kept_write_file(rna_kept_members *members, const void *record, unsigned version,
			 struct rna_strbuf *out)
{
	struct rna_json_writer writer = {0};
	struct rna_kept kept = {json_object(), .writes = true, .writer = &writer};

	set_member(&kept, "version", json_integer(version));
	members(&kept, (void *)(uintptr_t)record); /* which is only read */
	rna_json_write(&writer, kept.object, 1, out);
}

int rna_kept_read_file(const char *text, size_t len, const struct rna_json_limits *limits,
		       unsigned version, json_t **ret, struct rna_error *error)
{
	RNA_CLEANUP(rna_json_free_p) json_t *file = NULL;
	uint64_t written;
	int status = rna_json_parse(text, len, limits, &file, error);

	if (status < 0)
		return status;
	written = rna_kept_number(file, "version");
	if (written > version)
		return rna_error_say(error, -EOPNOTSUPP,
				     "written by a newer version of the agent (format %ju, this "
				     "one reads %u)",
				     (uintmax_t)written, version);
	if (written == 0)
		return rna_error_say(error, -EBADMSG, "not a state file of the agent");
	*ret = RNA_TAKE(file);
	return 0;
}
