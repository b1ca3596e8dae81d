// SPDX-License-Identifier: Apache-2.0
#include "members.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/yaml.h"

struct load {
	const char *path;
	struct rna_arena *arena;
	struct rna_members *members;
	struct rna_error *error;
};

static int wrong(const struct load *load, const struct rna_yaml *node, const char *what)
{
	return rna_error_say(load->error, -EINVAL, "%s:%zu: %s", load->path, node->line, what);
}

/* -- Lists ------------------------------------------------------------------------------------- */

int rna_members_add(struct rna_members *members, struct rna_arena *arena,
		    const struct rna_member *member)
{
	struct rna_member *added;

	if (members->count >= RNA_MEMBERS_MAX)
		return -E2BIG;
	added = RNA_GROW(members->members, members->count, arena);
	if (!added)
		return -ENOMEM;
	*added = *member;
	members->count++;
	return 0;
}

static int compare_members(const void *a, const void *b)
{
	const struct rna_member *first = a, *second = b;
	int order = strcmp(first->name, second->name);

	if (order == 0 && first->spare != second->spare)
		return first->spare < second->spare ? -1 : 1;
	return order != 0 ? order : strcmp(first->address, second->address);
}

void rna_members_keep_claims(struct rna_members *members, const struct rna_members *before)
{
	for (size_t i = 0, k = 0; i < members->count && k < before->count;) {
		struct rna_member *now = &members->members[i];
		const struct rna_member *was = &before->members[k];
		int order = strcmp(now->name, was->name);

		if (order == 0 && strcmp(now->address, was->address) == 0) {
			now->claims = was->claims;
			now->ask_at = was->ask_at;
		}
		i += order <= 0;
		k += order >= 0;
	}
}

void rna_members_sort(struct rna_members *members)
{
	size_t kept = 0;

	if (members->count > 0)
		qsort(members->members, members->count, sizeof(members->members[0]),
		      compare_members);
	for (size_t i = 0; i < members->count; i++)
		if (kept == 0 ||
		    strcmp(members->members[kept - 1].name, members->members[i].name) != 0)
			members->members[kept++] = members->members[i];
	members->count = kept;
}

/* It becomes part of a URL: nothing that would mean something else there. */
bool rna_member_host_is_valid(const char *text, size_t len)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789.-_:[]%";

	return len > 0 && strspn(text, allowed) >= len;
}

/* -- This node in a list ----------------------------------------------------------------------- */

void rna_member_host(const struct rna_member *member, char *ret, size_t size)
{
	const char *host = member->address + (member->address[0] == '[');
	size_t len = member->address[0] == '[' ? strcspn(host, "]") : strcspn(host, ":");

	(void)snprintf(ret, size, "%.*s", (int)len, host);
}

/* The host of an address as bytes: 4 or 16 of them; 0: it is a name. */
static size_t read_host(const char *address, uint8_t ret[16])
{
	const char *host = address + (address[0] == '[');
	size_t len = address[0] == '[' ? strcspn(host, "%]") : strcspn(host, ":");
	char text[INET6_ADDRSTRLEN];

	if (len >= sizeof(text))
		return 0;
	memcpy(text, host, len);
	text[len] = '\0';
	if (inet_pton(AF_INET, text, ret) == 1)
		return 4;
	return inet_pton(AF_INET6, text, ret) == 1 ? 16 : 0;
}

/* Loopback addresses and link-local ones are those of every node. */
static bool is_everywhere(const uint8_t *bytes, size_t len)
{
	static const uint8_t loopback[16] = {[15] = 1};

	if (len == 4)
		return bytes[0] == 127 || (bytes[0] == 169 && bytes[1] == 254);
	return memcmp(bytes, loopback, 16) == 0 || (bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80);
}

static bool has_address(const struct ifaddrs *addresses, const uint8_t *bytes, size_t len)
{
	for (; addresses; addresses = addresses->ifa_next) {
		const struct sockaddr *address = addresses->ifa_addr;
		const void *its = NULL;

		if (address && address->sa_family == AF_INET && len == 4)
			its = &((const struct sockaddr_in *)(const void *)address)->sin_addr;
		else if (address && address->sa_family == AF_INET6 && len == 16)
			its = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
		if (its && memcmp(its, bytes, len) == 0)
			return true;
	}
	return false;
}

static bool is_at(const struct rna_member *member, const struct ifaddrs *addresses)
{
	uint8_t bytes[16];
	size_t len = read_host(member->address, bytes);

	return len > 0 && !is_everywhere(bytes, len) && has_address(addresses, bytes, len);
}

/* "n1" and "n1.example.com" */
static bool is_short_for(const char *node, const char *name)
{
	size_t len = strcspn(node, "."), name_len = strcspn(name, ".");

	return len == name_len && strncasecmp(node, name, len) == 0 &&
	       (node[len] == '\0' || name[name_len] == '\0');
}

const char *rna_members_own_name(const struct rna_members *members, const char *node,
				 const struct ifaddrs *addresses)
{
	const char *similar = NULL, *at = NULL;
	size_t similar_count = 0;

	for (size_t i = 0; i < members->count; i++) {
		const struct rna_member *member = &members->members[i];

		if (strcmp(member->name, node) == 0)
			return member->name;
		if (!at && is_at(member, addresses))
			at = member->name;
		if (is_short_for(node, member->name)) {
			similar = member->name;
			similar_count++;
		}
	}
	if (at)
		return at;
	return similar_count == 1 ? similar : node;
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

/* -- Groups ------------------------------------------------------------------------------------ */

static const char *label(const struct rna_yaml *labels, const char *key)
{
	const struct rna_yaml *value = rna_yaml_get(labels, key);

	return value && value->kind == RNA_YAML_TEXT && value->text ? value->text : "";
}

static int add_target(struct load *load, const struct rna_yaml *target,
		      const struct rna_yaml *labels)
{
	const char *end = target->text ? find_port(target->text) : NULL;
	struct rna_member member = {.address = target->text, .leaf = label(labels, "leaf")};
	const char *scheme = label(labels, "__scheme__"), *name = label(labels, "node");
	int status;

	if (target->kind != RNA_YAML_TEXT || !end ||
	    !rna_member_host_is_valid(target->text, (size_t)(end - target->text)))
		return wrong(load, target,
			     "a target must be HOST:PORT, as in node1:9400 or "
			     "[fd00::1]:9400");
	if (scheme[0] != '\0' && strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0)
		return wrong(load, target, "label __scheme__ must be http or https");
	member.https = strcmp(scheme, "https") == 0;
	member.name = name[0] != '\0' ? name
				      : rna_arena_printf(load->arena, "%.*s",
							 (int)(end - target->text), target->text);
	status = member.name ? rna_members_add(load->members, load->arena, &member) : -ENOMEM;
	if (status == -E2BIG)
		return wrong(load, target, "more than 20000 targets");
	return status < 0 ? rna_error_set(load->error, status, "%s", load->path) : 0;
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
	rna_members_sort(ret);
	return 0;
}
