// SPDX-License-Identifier: Apache-2.0
/*
 * The backend of RDMA netlink: the interface and the hw_counters of a port, and the objects on a
 * device. A run keeps only the numbers of devices, because the kernel does not accept names.
 */
#include <errno.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rna/base/proc_stat.h"

#include "parse/message.h"

#include "backends.h"
#include "netlink.h"

/* Linux 5.16 and 6.11; the headers of Ubuntu 22.04 and Debian 12 are older. */
enum {
	NLDEV_CMD_STAT_GET_STATUS = 24,
	NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC = 95,
	NLDEV_ATTR_DEV_TYPE = 99,
	NLDEV_ATTR_PARENT_NAME = 100, /* later attributes are not used */
	DEVICE_TYPE_SMI = 1,
};

#define LAST NLDEV_ATTR_PARENT_NAME

/* -- Messages ---------------------------------------------------------------------------------- */

/* All attributes belong to one enum at every nesting level. */
static const struct nla_policy policy[LAST + 1] = {
	[RDMA_NLDEV_ATTR_DEV_INDEX] = {.type = NLA_U32},
	[RDMA_NLDEV_ATTR_DEV_NAME] = {.type = NLA_STRING},
	[RDMA_NLDEV_ATTR_NDEV_NAME] = {.type = NLA_STRING},
	[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME] = {.type = NLA_STRING},
	[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR] = {.type = NLA_U64},
	[RDMA_NLDEV_ATTR_RES_PID] = {.type = NLA_U32},
	[RDMA_NLDEV_ATTR_RES_CTXN] = {.type = NLA_U32},
	[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME] = {.type = NLA_STRING},
	[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE] = {.type = NLA_U64},
	[NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC] = {.type = NLA_U8},
	[NLDEV_ATTR_DEV_TYPE] = {.type = NLA_U8},
	[NLDEV_ATTR_PARENT_NAME] = {.type = NLA_STRING},
};

/* 0 or -EBADMSG */
static int parse_message(struct rna_bytes message, struct nlattr *ret[LAST + 1])
{
	static const struct rna_message_kind kind = {.max = LAST, .policy = policy};

	return rna_message_parse(message, &kind, ret) ? 0 : -EBADMSG;
}

/*
 * Calls take for each entry of a mandatory list. 0 or negative errno; -EBADMSG for a list that is
 * missing or truncated.
 */
static int each_entry(struct rna_bytes message, int type,
		      int (*take)(struct nlattr *attributes[], void *userdata), void *userdata)
{
	struct nlattr *attributes[LAST + 1], *list, *entry;
	int left, error = parse_message(message, attributes);

	list = error == 0 ? attributes[type] : NULL;
	if (!list)
		return -EBADMSG;
	nla_for_each_nested (entry, list, left) {
		error = rna_nest_parse(entry, policy, LAST, attributes);
		if (error == 0)
			error = take(attributes, userdata);
		if (error < 0)
			return error;
	}
	return left > 0 ? -EBADMSG : 0;
}

/* -- Devices ----------------------------------------------------------------------------------- */

static int take_device(struct rna_bytes message, void *userdata)
{
	struct rna_rdma_numbers *numbers = userdata;
	struct nlattr *attributes[LAST + 1], *name;
	struct rna_rdma_number *more;
	int error = parse_message(message, attributes);

	if (error < 0)
		return error;
	name = attributes[RDMA_NLDEV_ATTR_DEV_NAME];
	if (!name || !attributes[RDMA_NLDEV_ATTR_DEV_INDEX])
		return 0;
	more = reallocarray(numbers->items, numbers->count + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	numbers->items = more;
	more[numbers->count].index = nla_get_u32(attributes[RDMA_NLDEV_ATTR_DEV_INDEX]);
	(void)nla_strlcpy(more[numbers->count].name, name, sizeof(more->name));
	numbers->count++;
	return 0;
}

static void forget_devices(void *userdata)
{
	struct rna_rdma_numbers *numbers = userdata;

	numbers->count = 0;
}

/* The kernel interrupts the dump if a device is added or removed. */
static int find_index(struct rna_rdma_numbers *numbers, const char *device, uint32_t *ret)
{
	static const struct rna_netlink_question question = {
		.protocol = NETLINK_RDMA,
		.type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET),
		.flags = NLM_F_DUMP,
		.begin = forget_devices,
	};
	int error = 0;

	if (!rna_backends_stack_exists(numbers->root))
		return -ENOENT;
	if (!numbers->listed)
		error = rna_netlink_ask(&question, take_device, numbers);
	numbers->listed = error == 0;
	for (size_t i = 0; error == 0 && i < numbers->count; i++)
		if (strcmp(numbers->items[i].name, device) == 0) {
			*ret = numbers->items[i].index;
			return 0;
		}
	return error < 0 ? error : -ENOENT;
}

void rna_rdma_numbers_free(struct rna_rdma_numbers *numbers)
{
	free(numbers->items);
	*numbers = (struct rna_rdma_numbers){.root = numbers->root};
}

/* What a question is about. */
struct object {
	struct rna_rdma_numbers *numbers;
	const char *device;
	unsigned port; /* 0: the device */
};

/* A list, if begin is not NULL (netlink.h). */
static int ask_list(const struct object *object, int command, rna_netlink_take *take,
		    void (*begin)(void *userdata), void *userdata)
{
	uint32_t index;
	const struct rna_netlink_attribute attributes[] = {
		{RDMA_NLDEV_ATTR_DEV_INDEX, sizeof(index), &index},
		{RDMA_NLDEV_ATTR_PORT_INDEX, sizeof(object->port), &object->port},
	};
	const struct rna_netlink_question question = {
		.protocol = NETLINK_RDMA,
		.type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command),
		.flags = begin ? NLM_F_DUMP : 0,
		.attributes = attributes,
		.count = object->port > 0 ? 2 : 1,
		.begin = begin,
	};
	int error = find_index(object->numbers, object->device, &index);

	return error < 0 ? error : rna_netlink_ask(&question, take, userdata);
}

static int ask_object(const struct object *object, int command, rna_netlink_take *take,
		      void *userdata)
{
	return ask_list(object, command, take, NULL, userdata);
}

/* Devices by themselves have no type: fill_dev_info() in drivers/infiniband/core/nldev.c. */
static int take_parent(struct rna_bytes message, void *userdata)
{
	struct nlattr *attributes[LAST + 1], *type, *name;
	int error = parse_message(message, attributes);

	if (error < 0)
		return error;
	type = attributes[NLDEV_ATTR_DEV_TYPE];
	name = attributes[NLDEV_ATTR_PARENT_NAME];
	if (type && name && nla_get_u8(type) == DEVICE_TYPE_SMI)
		(void)nla_strlcpy(userdata, name, RNA_RDMA_NAME_MAX);
	return 0;
}

static int find_parent(struct rna_rdma_numbers *numbers, const char *device,
		       char ret[RNA_RDMA_NAME_MAX])
{
	ret[0] = '\0';
	return ask_object(&(struct object){numbers, device}, RDMA_NLDEV_CMD_GET, take_parent, ret);
}

/* The kernel omits the name if the interface is in another network namespace. */
static int take_netdev(struct rna_bytes message, void *userdata)
{
	struct nlattr *attributes[LAST + 1], *name;
	int error = parse_message(message, attributes);

	if (error < 0)
		return error;
	name = attributes[RDMA_NLDEV_ATTR_NDEV_NAME];
	if (name)
		(void)nla_strlcpy(userdata, name, IF_NAMESIZE);
	return name ? 0 : -ENOENT;
}

static int find_netdev(struct rna_rdma_numbers *numbers, const char *device, unsigned port,
		       char ret[IF_NAMESIZE])
{
	return ask_object(&(struct object){numbers, device, port}, RDMA_NLDEV_CMD_PORT_GET,
			  take_netdev, ret);
}

/* -- Counters ---------------------------------------------------------------------------------- */

static size_t count_entries(struct rna_bytes message, int type)
{
	struct nlattr *attributes[LAST + 1], *entry;
	size_t count = 0;
	int left;

	if (parse_message(message, attributes) == 0 && attributes[type])
		nla_for_each_nested (entry, attributes[type], left)
			count++;
	return count;
}

struct counters_answer {
	struct rna_arena *arena;
	struct rna_netlink_counters *counters;
};

static int take_counter(struct nlattr *attributes[], void *userdata)
{
	const struct nlattr *name = attributes[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME];
	const struct nlattr *number = attributes[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE];
	struct counters_answer *answer = userdata;
	struct rna_counter_value *value = &answer->counters->values[answer->counters->count];

	if (!name || !number)
		return -EBADMSG;
	value->file = rna_arena_strdup(answer->arena, nla_get_string(name));
	value->value = rna_value_ok(nla_get_u64(number));
	answer->counters->count++;
	return value->file ? 0 : -ENOMEM;
}

static int take_counters(struct rna_bytes message, void *userdata)
{
	struct counters_answer *answer = userdata;

	answer->counters->values =
		rna_arena_array(answer->arena,
				count_entries(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS),
				sizeof(*answer->counters->values));
	if (!answer->counters->values)
		return -ENOMEM;
	return each_entry(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS, take_counter, answer);
}

/* The answer must fit in a page, which the 92 counters of bnxt_re nearly fill. */
static int get_counters(struct rna_rdma_numbers *numbers, const char *device, unsigned port,
			struct rna_arena *arena, struct rna_netlink_counters *ret)
{
	struct counters_answer answer = {arena, ret};

	*ret = (struct rna_netlink_counters){0};
	return ask_object(&(struct object){numbers, device, port}, RDMA_NLDEV_CMD_STAT_GET,
			  take_counters, &answer);
}

struct optional_answer {
	struct rna_arena *arena;
	struct rna_port_optional_counters *port;
	struct rna_optional_counter *items; /* of port */
};

/* Counters that are always enabled lack the attribute DYNAMIC. */
static int take_optional_counter(struct nlattr *attributes[], void *userdata)
{
	const struct nlattr *name = attributes[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME];
	const struct nlattr *dynamic = attributes[NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC];
	struct optional_answer *answer = userdata;
	struct rna_optional_counter *item = &answer->items[answer->port->count];

	if (!name || !dynamic)
		return 0;
	item->name = rna_arena_strdup(answer->arena, nla_get_string(name));
	item->enabled = nla_get_u8(dynamic);
	answer->port->count++;
	return item->name ? 0 : -ENOMEM;
}

static int take_optional(struct rna_bytes message, void *userdata)
{
	struct optional_answer *answer = userdata;

	answer->items = rna_arena_array(answer->arena,
					count_entries(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS),
					sizeof(*answer->items));
	answer->port->items = answer->items;
	if (!answer->items)
		return -ENOMEM;
	return each_entry(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS, take_optional_counter, answer);
}

static int get_optional(struct rna_rdma_numbers *numbers, const char *device,
			struct rna_arena *arena, struct rna_port_optional_counters *ret)
{
	struct optional_answer answer = {.arena = arena, .port = ret};
	int error = ask_object(&(struct object){numbers, device, ret->number},
			       NLDEV_CMD_STAT_GET_STATUS, take_optional, &answer);

	if (error < 0)
		ret->count = 0;
	return error;
}

/* -- Objects ----------------------------------------------------------------------------------- */

/* Ignores unknown (newer) names. */
static int take_resource(struct nlattr *attributes[], void *userdata)
{
	const struct nlattr *name = attributes[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME];
	const struct nlattr *number = attributes[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR];
	struct rna_resource_counts *counts = userdata;

	if (!name || !number)
		return -EBADMSG;
	for (enum rna_resource i = 0; i < RNA_RESOURCE_COUNT; i++)
		if (strcmp(nla_get_string(name), rna_resource_name(i)) == 0)
			counts->of[i] = rna_value_ok(nla_get_u64(number));
	return 0;
}

static int take_resources(struct rna_bytes message, void *userdata)
{
	return each_entry(message, RDMA_NLDEV_ATTR_RES_SUMMARY, take_resource, userdata);
}

struct contexts_answer {
	uint32_t process; /* the agent's PID, as RDMA netlink has it */
	uint64_t own;
	struct rna_context_list *list; /* NULL: they are only counted */
};

/* The agent's children are those that test and probe. False as well for one that has ended. */
static bool is_child_of(uint32_t process, uint32_t parent)
{
	char text[RNA_PROC_STAT_MAX], *fields;
	unsigned found = 0;

	return rna_proc_stat_read((pid_t)process, text, &fields) == 0 &&
	       sscanf(fields, "%*c %u", &found) == 1 && found == parent;
}

/* *list has room for twice as many whenever its number is a power of two. */
static int add_context(struct rna_context_list *list, struct rna_context context)
{
	if (list->count == RNA_CONTEXTS_MAX) {
		list->others++;
		return 0;
	}
	if ((list->count & (list->count - 1)) == 0) {
		struct rna_context *items =
			rna_arena_array(list->arena, list->count > 0 ? 2 * list->count : 1,
					sizeof(*items));

		if (!items)
			return -ENOMEM;
		if (list->count > 0)
			memcpy(items, list->items, list->count * sizeof(*items));
		list->items = items;
	}
	list->items[list->count++] = context;
	return 0;
}

/* The kernel reports the pid in this process's PID namespace, or none if the owner is not in it. */
static int take_context(struct nlattr *attributes[], void *userdata)
{
	const struct nlattr *pid = attributes[RDMA_NLDEV_ATTR_RES_PID];
	const struct nlattr *number = attributes[RDMA_NLDEV_ATTR_RES_CTXN];
	struct contexts_answer *answer = userdata;
	struct rna_context context = {
		.number = number ? nla_get_u32(number) : 0,
		.pid = pid ? nla_get_u32(pid) : 0,
	};

	context.own = pid &&
		      (context.pid == answer->process || is_child_of(context.pid, answer->process));
	answer->own += context.own;
	return answer->list ? add_context(answer->list, context) : 0;
}

static int take_contexts(struct rna_bytes message, void *userdata)
{
	return each_entry(message, RDMA_NLDEV_ATTR_RES_CTX, take_context, userdata);
}

static void forget_contexts(void *userdata)
{
	struct contexts_answer *answer = userdata;

	answer->own = 0;
	if (answer->list)
		answer->list->count = answer->list->others = 0;
}

/* Kernels before 5.13 do not support this and return EINVAL. */
static int ask_contexts(struct rna_rdma_numbers *numbers, const char *device,
			struct rna_context_list *list, struct rna_value *ret_own)
{
	struct contexts_answer answer = {
		.process = (uint32_t)(numbers->process ? numbers->process : getpid()),
		.list = list,
	};
	int error = ask_list(&(struct object){numbers, device}, RDMA_NLDEV_CMD_RES_CTX_GET,
			     take_contexts, forget_contexts, &answer);

	if (error == -EINVAL || error == -EOPNOTSUPP)
		return 0;
	*ret_own = error == 0 ? rna_value_ok(answer.own) : rna_value_unreadable();
	return error;
}

static int get_resources(struct rna_rdma_numbers *numbers, const char *device,
			 struct rna_resource_counts *ret, struct rna_context_list *ret_contexts)
{
	int error;

	*ret = (struct rna_resource_counts){0};
	error = ask_object(&(struct object){numbers, device}, RDMA_NLDEV_CMD_RES_GET,
			   take_resources, ret);
	if (error < 0)
		*ret = (struct rna_resource_counts){0};
	else if (ret->of[RNA_RESOURCE_CTX].number > 0)
		error = ask_contexts(numbers, device, ret_contexts, &ret->own_contexts);
	return error;
}

const struct rna_rdma_netlink_backend rna_rdma_netlink = {
	.find_parent = find_parent,
	.find_netdev = find_netdev,
	.get_counters = get_counters,
	.get_resources = get_resources,
	.get_optional = get_optional,
};
