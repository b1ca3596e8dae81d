// SPDX-License-Identifier: Apache-2.0
#include "hwloc_xml.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "rna/base/cleanup.h"

enum {
	LEVELS_MAX = 64, /* the caller has explained it if there are more */
	INDEX_MAX = 5,   /* digits of the number of a CPU or a NUMA node */
};

enum element {
	DROPPED, /* with all that is in it */
	TOPOLOGY,
	PLACE,  /* an object with sets of CPUs and nodes: Machine, Package, NUMANode, PU */
	DEVICE, /* an object below one: a bridge, a PCI function, a device of a driver */
	REMARK, /* an object without meaning: Misc */
	INFO,
};

/* From "<" to the next ">", which is where libhwloc takes it to end. */
struct tag {
	const char *start, *end; /* end: behind ">" */
	const char *name;
	size_t name_len;
	bool closes;  /* </name> */
	bool is_both; /* <name/> */
};

/* An element that is open. */
struct level {
	enum element element;
	const char *name;
	size_t name_len;
	unsigned objects; /* in it */
};

struct reading {
	struct level levels[LEVELS_MAX];
	size_t depth;
	bool seen;      /* the topology */
	bool has_nodes; /* there are sets of nodes; hwloc 1 wrote none without NUMA */
	struct rna_strbuf *out;
};

static bool is_text(const char *text, size_t len, const char *wanted)
{
	return len == strlen(wanted) && memcmp(text, wanted, len) == 0;
}

/* -- Tags -------------------------------------------------------------------------------------- */

static const char name_bytes[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

/* False: it has no end. */
static bool read_tag(const char *start, const char *text_end, struct tag *ret)
{
	const char *close = memchr(start, '>', (size_t)(text_end - start));

	if (!close)
		return false;
	*ret = (struct tag){.start = start, .end = close + 1, .name = start + 1};
	ret->closes = start[1] == '/';
	ret->name += ret->closes;
	ret->name_len = strspn(ret->name, name_bytes);
	ret->is_both = !ret->closes && close[-1] == '/';
	return true;
}

/* Those that libhwloc knows; at another one it stops, and takes what follows for missing. */
static bool has_known_entities(const char *text, size_t len)
{
	static const char *const entities[] = {
		"&quot;", "&lt;", "&gt;", "&amp;", "&#9;", "&#10;", "&#13;",
	};
	const char *end = text + len;

	while ((text = memchr(text, '&', (size_t)(end - text)))) {
		size_t i = 0;

		while (i < RNA_ARRAY_SIZE(entities) &&
		       strncmp(text, entities[i], strlen(entities[i])) != 0)
			i++;
		if (i == RNA_ARRAY_SIZE(entities))
			return false;
		text++;
	}
	return true;
}

/*
 * A set as libhwloc writes it, words of 32 bits, highest first: "0xf...f" for endless ones in
 * front, nothing for an empty word. Another text may fail an assertion in libhwloc.
 */
static bool is_set(const char *text, size_t len)
{
	static const char endless[] = "0xf...f";
	enum { PREFIX = 2, DIGITS_MAX = 8 };
	const char *end = text + len, *at = text, *first = text;

	if (strncmp(at, endless, strlen(endless)) == 0) {
		at += strlen(endless);
		if (at == end)
			return true;
		if (*at++ != ',')
			return false;
	}
	for (;; at++) {
		size_t digits = strncmp(at, "0x", PREFIX) == 0
					? strspn(at + PREFIX, "0123456789abcdefABCDEF")
					: 0;

		if (digits > DIGITS_MAX || (digits == 0 && at == first))
			return false;
		at += digits > 0 ? PREFIX + digits : 0;
		if (at == end || *at != ',')
			return at == end;
	}
}

struct attribute {
	const char *name, *value;
	size_t name_len, value_len;
};

/* cpuset, complete_nodeset, ... */
static bool ends_with_set(const struct attribute *attribute)
{
	return attribute->name_len >= 3 &&
	       memcmp(attribute->name + attribute->name_len - 3, "set", 3) == 0;
}

/*
 * The next of a tag, name="value", from *at to end. 1, 0: there is none, or -EBADMSG: what is there
 * is something else.
 */
static int next_attribute(const char **at, const char *end, struct attribute *ret)
{
	size_t blanks = strspn(*at, " \t\r\n");
	const char *quote;

	*ret = (struct attribute){.name = *at + blanks};
	if (ret->name >= end)
		return 0;
	ret->name_len = strspn(ret->name, name_bytes);
	ret->value = ret->name + ret->name_len + 2;
	if (blanks == 0 || ret->name_len == 0 || ret->value >= end ||
	    strncmp(ret->value - 2, "=\"", 2) != 0)
		return -EBADMSG;
	quote = memchr(ret->value, '"', (size_t)(end - ret->value));
	if (!quote)
		return -EBADMSG;
	ret->value_len = (size_t)(quote - ret->value);
	*at = quote + 1;
	if (ends_with_set(ret) && !is_set(ret->value, ret->value_len))
		return -EBADMSG;
	return has_known_entities(ret->value, ret->value_len) ? 1 : -EBADMSG;
}

/* -- Objects ----------------------------------------------------------------------------------- */

/* What tells whether libhwloc can work with an object. */
struct object {
	const char *type;
	size_t type_len;
	bool has_number; /* os_index, as a CPU or a NUMA node may have it */
	unsigned cpus, all_cpus, nodes, all_nodes; /* how often it has each of the sets */
};

static void look_at(struct object *object, const struct attribute *attribute)
{
	const struct {
		const char *name;
		unsigned *count;
	} sets[] = {
		{"cpuset", &object->cpus},
		{"complete_cpuset", &object->all_cpus},
		{"nodeset", &object->nodes},
		{"complete_nodeset", &object->all_nodes},
	};

	if (is_text(attribute->name, attribute->name_len, "type")) {
		object->type = attribute->value;
		object->type_len = attribute->value_len;
	}
	if (is_text(attribute->name, attribute->name_len, "os_index"))
		object->has_number = attribute->value_len > 0 &&
				     attribute->value_len <= INDEX_MAX &&
				     strspn(attribute->value, "0123456789") == attribute->value_len;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(sets); i++)
		*sets[i].count += is_text(attribute->name, attribute->name_len, sets[i].name);
}

/* The attributes of a tag; those of an object in ret. 0 or -EBADMSG. */
static int read_attributes(const struct tag *tag, struct object *ret)
{
	const char *at = tag->name + tag->name_len, *end = tag->end - 1 - tag->is_both;
	struct attribute attribute;
	int status;

	*ret = (struct object){0};
	while ((status = next_attribute(&at, end, &attribute)) > 0)
		look_at(ret, &attribute);
	return status;
}

static bool is_of_type(const struct object *object, const char *type)
{
	return object->type && is_text(object->type, object->type_len, type);
}

static bool has_sets(const struct object *object)
{
	return object->cpus || object->all_cpus || object->nodes || object->all_nodes;
}

/*
 * Of a CPU or a NUMA node without a number libhwloc makes a set up to number 4294967295, which
 * takes minutes. Others may have any.
 */
static bool is_numbered(const struct object *object)
{
	static const char *const others[] = {
		"Machine", "Package", "Socket", "Die", "Core", "Group", "Cache", "MemCache",
	};

	if (object->has_number)
		return true;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(others); i++)
		if (is_of_type(object, others[i]))
			return true;
	return object->type_len > 1 && object->type[0] == 'L' && strchr("12345", object->type[1]);
}

/* Has it all sets that it should have, each once? */
static bool is_place(const struct reading *reading, const struct object *object)
{
	return object->type && object->cpus == 1 && object->all_cpus == 1 &&
	       object->nodes == reading->has_nodes && object->all_nodes == reading->has_nodes &&
	       is_numbered(object);
}

/* DROPPED: libhwloc cannot work with it. */
static enum element object_element(struct reading *reading, const struct object *object,
				   const struct level *parent)
{
	bool is_first = parent->element == TOPOLOGY;
	bool is_device = is_of_type(object, "Bridge") || is_of_type(object, "PCIDev") ||
			 is_of_type(object, "OSDev");

	if (is_first && (parent->objects > 1 || !is_of_type(object, "Machine")))
		return DROPPED;
	if (is_first)
		reading->has_nodes = object->nodes > 0;
	if (is_device && !has_sets(object))
		return parent->element == PLACE || parent->element == DEVICE ? DEVICE : DROPPED;
	if (is_of_type(object, "Misc") && !has_sets(object))
		return REMARK;
	if (is_device || !is_place(reading, object))
		return DROPPED;
	return is_first || parent->element == PLACE ? PLACE : DROPPED;
}

/* -- Elements ---------------------------------------------------------------------------------- */

static void write_tag(struct reading *reading, const struct tag *tag)
{
	rna_strbuf_add(reading->out, tag->start, (size_t)(tag->end - tag->start));
	rna_strbuf_add_char(reading->out, '\n');
}

/* 0: it is one of those that are kept, or of those that are not; -EBADMSG. */
static int classify(struct reading *reading, const struct tag *tag, enum element *ret)
{
	struct level *parent = reading->depth > 0 ? &reading->levels[reading->depth - 1] : NULL;
	struct object object;
	int status;

	*ret = DROPPED;
	if (!parent) {
		if (reading->seen || !is_text(tag->name, tag->name_len, "topology"))
			return -EBADMSG;
		reading->seen = true;
		*ret = TOPOLOGY;
		return 0;
	}
	if (parent->element == DROPPED || parent->element == INFO)
		return 0;
	status = read_attributes(tag, &object);
	if (is_text(tag->name, tag->name_len, "info")) {
		*ret = parent->element == TOPOLOGY ? DROPPED : INFO;
	} else if (is_text(tag->name, tag->name_len, "object")) {
		parent->objects++;
		*ret = object_element(reading, &object, parent);
		return status < 0 || *ret == DROPPED ? -EBADMSG : 0;
	}
	return *ret == DROPPED ? 0 : status;
}

static int open_element(struct reading *reading, const struct tag *tag)
{
	enum element element;
	int status = classify(reading, tag, &element);

	if (status < 0)
		return status;
	if (element != DROPPED)
		write_tag(reading, tag);
	if (tag->is_both)
		return 0;
	if (reading->depth == LEVELS_MAX)
		return -EBADMSG;
	reading->levels[reading->depth++] =
		(struct level){.element = element, .name = tag->name, .name_len = tag->name_len};
	return 0;
}

static int close_element(struct reading *reading, const struct tag *tag)
{
	const struct level *level;

	if (reading->depth == 0)
		return -EBADMSG;
	level = &reading->levels[--reading->depth];
	if (level->name_len != tag->name_len ||
	    memcmp(level->name, tag->name, tag->name_len) != 0 ||
	    tag->name + tag->name_len != tag->end - 1)
		return -EBADMSG;
	if (level->element != DROPPED)
		write_tag(reading, tag);
	return 0;
}

int rna_hwloc_xml_read(const char *text, size_t len, struct rna_strbuf *out)
{
	struct reading reading = {.out = out};
	const char *end = text + len, *at = text;
	struct tag tag;
	int status = 0;

	while (status == 0 && (at = memchr(at, '<', (size_t)(end - at)))) {
		if (!read_tag(at, end, &tag))
			return -EBADMSG;
		at = tag.end;
		if (tag.start[1] == '?' || tag.start[1] == '!')
			continue; /* libhwloc does without them */
		status = tag.closes ? close_element(&reading, &tag) : open_element(&reading, &tag);
	}
	if (status == 0 && (!reading.seen || reading.depth > 0))
		return -EBADMSG;
	return status;
}
