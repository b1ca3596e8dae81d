// SPDX-License-Identifier: Apache-2.0
#include "members.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/yaml.h"

struct load {
	const char *path;
	struct rna_arena *arena;
	struct rna_members *members;
	size_t room;
	struct rna_error *error;
};

static int wrong(const struct load *load, const struct rna_yaml *node, const char *what)
{
	return rna_error_say(load->error, -EINVAL, "%s:%zu: %s", load->path, node->line, what);
}

/* -- Addresses --------------------------------------------------------------------------------- */

/* The end of the host in "host:port" or "[v6]:port". NULL: there is no port. */
static const char *find_port(const char *address)
{
	const char *colon = strrchr(address, ':');
	const char *bracket = strrchr(address, ']');
	size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;

	if (!colon || colon == address || digits == 0 || digits > 5 || colon[1 + digits] != '\0' ||
	    atoi(colon + 1) > 65535 || atoi(colon + 1) == 0)
		return NULL;
	if (bracket ? bracket + 1 != colon || address[0] != '[' : strchr(address, ':') != colon)
		return NULL;
	return colon;
}

/* It becomes part of a URL: nothing that would mean something else there. */
static bool is_host(const char *address, const char *end)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789.-_:[]%";

	return strspn(address, allowed) >= (size_t)(end - address);
}

/* -- Groups ------------------------------------------------------------------------------------ */

static const char *label(const struct rna_yaml *labels, const char *key)
{
	const struct rna_yaml *value = rna_yaml_get(labels, key);

	return value && value->kind == RNA_YAML_TEXT && value->text ? value->text : "";
}

static bool grow(struct load *load)
{
	size_t room = load->room > 0 ? 2 * load->room : 64;
	struct rna_member *members = rna_arena_array(load->arena, room, sizeof(*members));

	if (!members)
		return false;
	if (load->members->count > 0)
		memcpy(members, load->members->members, load->members->count * sizeof(*members));
	load->members->members = members;
	load->room = room;
	return true;
}

static int add_target(struct load *load, const struct rna_yaml *target,
		      const struct rna_yaml *labels)
{
	const char *end = target->text ? find_port(target->text) : NULL;
	struct rna_member member = {.address = target->text, .leaf = label(labels, "leaf")};
	const char *scheme = label(labels, "__scheme__"), *name = label(labels, "node");

	if (target->kind != RNA_YAML_TEXT || !end || !is_host(target->text, end))
		return wrong(load, target,
			     "a target must be HOST:PORT, as in node1:9400 or "
			     "[fd00::1]:9400");
	if (scheme[0] != '\0' && strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0)
		return wrong(load, target, "label __scheme__ must be http or https");
	if (load->members->count >= RNA_MEMBERS_MAX)
		return wrong(load, target, "more than 20000 targets");
	member.https = strcmp(scheme, "https") == 0;
	member.name = name[0] != '\0' ? name
				      : rna_arena_printf(load->arena, "%.*s",
							 (int)(end - target->text), target->text);
	if (!member.name || (load->members->count >= load->room && !grow(load)))
		return rna_error_set(load->error, -ENOMEM, "%s", load->path);
	load->members->members[load->members->count++] = member;
	return 0;
}

static int read_group(struct load *load, const struct rna_yaml *group)
{
	const struct rna_yaml *targets = rna_yaml_get(group, "targets");
	const struct rna_yaml *labels = rna_yaml_get(group, "labels");
	int status = 0;

	if (group->kind != RNA_YAML_MAPPING || !targets || targets->kind != RNA_YAML_LIST)
		return wrong(load, group, "a group must have a list of targets");
	if (labels && labels->kind != RNA_YAML_MAPPING)
		return wrong(load, labels, "labels must be names with values");
	for (size_t i = 0; status == 0 && i < targets->count; i++)
		status = add_target(load, targets->pairs[i].value, labels);
	return status;
}

static int compare_members(const void *a, const void *b)
{
	const struct rna_member *first = a, *second = b;
	int order = strcmp(first->name, second->name);

	return order != 0 ? order : strcmp(first->address, second->address);
}

/* A node that is listed twice is one member. */
static void remove_doubles(struct rna_members *members)
{
	size_t kept = 0;

	for (size_t i = 0; i < members->count; i++)
		if (kept == 0 ||
		    strcmp(members->members[kept - 1].name, members->members[i].name) != 0)
			members->members[kept++] = members->members[i];
	members->count = kept;
}

int rna_members_read(const char *path, struct rna_arena *arena, struct rna_members *ret,
		     struct rna_error *error)
{
	struct load load = {.path = path, .arena = arena, .members = ret, .error = error};
	const struct rna_yaml *root = NULL;
	int status = rna_yaml_read(path, arena, &root, error);

	*ret = (struct rna_members){0};
	if (status < 0)
		return status;
	if (root && root->kind != RNA_YAML_LIST)
		return wrong(&load, root, "the file must be a list of groups of targets");
	for (size_t i = 0; status == 0 && root && i < root->count; i++)
		status = read_group(&load, root->pairs[i].value);
	if (status < 0) {
		*ret = (struct rna_members){0};
		return status;
	}
	if (ret->count > 0)
		qsort(ret->members, ret->count, sizeof(ret->members[0]), compare_members);
	remove_doubles(ret);
	return 0;
}
