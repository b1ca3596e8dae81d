// SPDX-License-Identifier: Apache-2.0
/*
 * The environment and the open devices of a running job against what the node would give. Each
 * variable that the library knows becomes a line; so does each port that the job uses otherwise
 * than it should.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "rna/base/parse.h"
#include "rna/model/fabric.h"
#include "rna/model/inside.h"

#include "dialect.h"

struct checking {
	const struct rna_env_check_input *in;
	const struct rna_env_dialect *dialect;
	struct rna_arena *arena;
	struct rna_env_line *lines;
	size_t count, room;
	bool failed;
};

enum { OTHER_LINES_MAX = 40, SHOWN = 256 };

static void add(struct checking *checking, enum rna_env_verdict verdict, const char *name,
		const char *text)
{
	checking->failed |= !text;
	if (text && checking->count < checking->room)
		checking->lines[checking->count++] = (struct rna_env_line){verdict, name, text};
}

#define ADD(checking, verdict, name, ...)                                                          \
	add(checking, verdict, name, rna_arena_printf((checking)->arena, __VA_ARGS__))

static const char *get(const struct checking *checking, const char *name)
{
	return rna_env_ask(checking->in->request, name);
}

static const char *name_of(struct checking *checking, const struct rna_subject *port)
{
	const char *name = rna_env_port_name(port, checking->arena);

	checking->failed |= !name;
	return name ? name : "";
}

/* -- The list of ports ------------------------------------------------------------------------- */

/* Does the library use the port by this list? Only NCCL has beginnings of names, and "^" with "=".
 */
static bool selects(const struct rna_env_dialect *dialect, const char *list,
		    const struct rna_subject *port)
{
	const char *name = port->device->device->name;
	struct rna_nccl_list entry = rna_nccl_list_begin(list);
	bool any = false;

	if (dialect->list_start)
		return rna_nccl_list_selects(list, name, port->port);
	entry.exact = true;
	while (rna_nccl_list_next(&entry)) {
		any |= !(entry.len == 3 && strncmp(entry.name, "all", 3) == 0);
		if (rna_nccl_list_fits(&entry, name, port->port))
			return !entry.others;
	}
	return entry.others || !any;
}

/* Why the node would not give that port to the job. NULL: it would. */
static const char *why_not(const struct checking *checking, const char *name)
{
	const struct rna_env_advice *advice = checking->in->advice;

	for (size_t i = 0; i < advice->left_out_count; i++)
		for (size_t j = 0; j < advice->left_out[i].count; j++)
			if (strcmp(advice->left_out[i].ports[j], name) == 0)
				return advice->left_out[i].reason;
	return NULL;
}

static void check_list(struct checking *checking, const char *given)
{
	const struct rna_subject_list *ports = rna_view_ports(checking->in->view);
	const char *name = checking->dialect->words.list;
	size_t before = checking->count;

	RNA_EACH (port, ports->items, ports->count) {
		const char *port_name = name_of(checking, port);
		const char *reason = why_not(checking, port_name);
		bool used = selects(checking->dialect, given, port);

		if (used && reason)
			ADD(checking, RNA_ENV_WRONG, name, "%s is in it: %s", port_name, reason);
		else if (!used && !reason)
			ADD(checking, RNA_ENV_WRONG, name, "%s is not in it, and can be used",
			    port_name);
	}
	if (checking->count == before)
		ADD(checking, RNA_ENV_RIGHT, name, "%.*s", SHOWN, given);
}

/* -- One variable ------------------------------------------------------------------------------ */

/* As texts, or as numbers: 0x0a01 is 0xa01. */
static bool is_same_value(const char *a, const char *b)
{
	char *end_a, *end_b;
	unsigned long long x = strtoull(a, &end_a, 0), y = strtoull(b, &end_b, 0);

	return strcmp(a, b) == 0 || (x == y && *a && *b && *end_a == '\0' && *end_b == '\0');
}

static void check_wanted(struct checking *checking, const struct rna_env_variable *wanted)
{
	const char *given = get(checking, wanted->name);

	if (!given)
		ADD(checking, RNA_ENV_MISSING, wanted->name, "should be %s: %s", wanted->value,
		    wanted->reason);
	else if (strcmp(wanted->name, checking->dialect->words.list) == 0)
		check_list(checking, given);
	else if (is_same_value(given, wanted->value))
		add(checking, RNA_ENV_RIGHT, wanted->name, wanted->value);
	else
		ADD(checking, RNA_ENV_WRONG, wanted->name, "is %.*s, should be %s: %s", SHOWN,
		    given, wanted->value, wanted->reason);
}

static bool is_wanted(const struct checking *checking, const char *name)
{
	const struct rna_env_advice *advice = checking->in->advice;

	return RNA_ANY(i, advice->variable_count, strcmp(advice->variables[i].name, name) == 0);
}

/* The P_Key of the port that the job chose; NULL: none is there. */
static const struct rna_pkey *find_pkey(const struct rna_subject *port, uint64_t number,
					bool by_value)
{
	const struct rna_port_fabric *fabric = port->fabric;

	for (size_t i = 0; i < fabric->pkey_count; i++)
		if (by_value ? fabric->pkeys[i].key == (number & RNA_DEFAULT_PKEY)
			     : fabric->pkeys[i].index == number)
			return &fabric->pkeys[i];
	return NULL;
}

static void check_pkey(struct checking *checking, const char *given)
{
	const struct rna_env_pkey_names *names = &checking->dialect->pkey;
	const struct rna_subject_list *ports = rna_view_ports(checking->in->view);
	uint64_t number;

	if (names->by_value ? rna_parse_hex_u64(given, &number) < 0
			    : rna_parse_u64(given, &number) < 0)
		return;
	RNA_EACH (port, ports->items, ports->count) {
		const char *name = name_of(checking, port);
		const struct rna_pkey *pkey;

		if (port->link_layer != RNA_LINK_LAYER_INFINIBAND || !port->fabric ||
		    !port->fabric->pkeys_known || why_not(checking, name))
			continue;
		pkey = find_pkey(port, number, names->by_value);
		if (!pkey || !pkey->full)
			ADD(checking, RNA_ENV_WRONG, names->name, "is %.*s, and %s is %s there",
			    SHOWN, given, name,
			    pkey ? "a limited member of the partition" : "in no partition");
	}
}

/* The first port on which the job's variables choose a GID that others cannot reach. */
static const char *find_wrong_gid(struct checking *checking)
{
	const struct rna_env_gid_names *names = &checking->dialect->gids;
	const struct rna_subject_list *ports = rna_view_ports(checking->in->view);
	struct rna_nccl_settings settings;

	if (!rna_env_given_gids(names, checking->in->request, &settings))
		return NULL;
	RNA_EACH (port, ports->items, ports->count) {
		const char *name = name_of(checking, port), *defect = NULL;
		unsigned index = 0;

		if (port->link_layer == RNA_LINK_LAYER_ETHERNET && port->gids &&
		    !why_not(checking, name))
			defect = rna_env_gid_defect(port,
						    names->select(port->gids, &settings, &index));
		if (defect)
			return rna_arena_printf(checking->arena, "on %s it is GID index %u, %s",
						name, index, defect);
	}
	return NULL;
}

/* What the job has and the node would not give. */
static void check_further(struct checking *checking)
{
	const struct rna_env_dialect *dialect = checking->dialect;
	const char *const names[] = {dialect->gids.index, dialect->gids.family, dialect->gids.range,
				     dialect->qos.traffic_class, dialect->qos.level};
	const char *pkey = get(checking, dialect->pkey.name);
	const char *list = get(checking, dialect->words.list);
	const char *wrong = find_wrong_gid(checking);

	if (list && !is_wanted(checking, dialect->words.list))
		check_list(checking, list); /* no port can be used */
	if (pkey && !is_wanted(checking, dialect->pkey.name))
		check_pkey(checking, pkey);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(names); i++) {
		const char *given = get(checking, names[i]);
		bool of_gids =
			names[i] != dialect->qos.traffic_class && names[i] != dialect->qos.level;

		if (given && !is_wanted(checking, names[i]))
			ADD(checking, of_gids && wrong ? RNA_ENV_WRONG : RNA_ENV_EXTRA, names[i],
			    "is %.*s; %s", SHOWN, given,
			    of_gids && wrong ? wrong : "this node needs no value");
	}
}

/* -- Sockets instead of RDMA ------------------------------------------------------------------- */

/* Variables by which a library leaves RDMA alone; value: NULL: any but 0. */
static const struct {
	unsigned libraries;
	const char *name, *value;
} switches[] = {
#define OF(library) (1U << RNA_ENV_##library)
	{OF(NCCL) | OF(RCCL), "NCCL_IB_DISABLE", NULL},
	{OF(NCCL) | OF(RCCL), "NCCL_NET", "Socket"},
	{OF(UCX) | OF(NIXL) | OF(OPENMPI), "UCX_TLS", "tcp"},
	{OF(MOONCAKE), "MC_FORCE_TCP", NULL},
#undef OF
};

static void check_switches(struct checking *checking)
{
	for (size_t i = 0; i < RNA_ARRAY_SIZE(switches); i++) {
		const char *given = switches[i].libraries & 1U << checking->in->request->library
					    ? get(checking, switches[i].name)
					    : NULL;

		if (given && (switches[i].value ? strcasecmp(given, switches[i].value) == 0
						: strcmp(given, "0") != 0))
			ADD(checking, RNA_ENV_WRONG, switches[i].name,
			    "is %.*s: sockets instead of RDMA", SHOWN, given);
	}
}

/* Would the node give a port of the device to the job? */
static bool is_given(struct checking *checking, const char *device)
{
	const struct rna_subject_list *ports = rna_view_ports(checking->in->view);

	return RNA_ANY(i, ports->count,
		       strcmp(ports->items[i].device->device->name, device) == 0 &&
			       !why_not(checking, name_of(checking, &ports->items[i])));
}

/*
 * NCCL and RCCL open every port of their list (ncclIbInitDevices()), so one that is not open is not
 * used; of other libraries a process for one GPU may need one port. A container has the files that
 * it was given.
 */
static void check_closed_file(struct checking *checking, const struct rna_inside_file *file)
{
	static const char *const reasons[] = {
		[RNA_INSIDE_MISSING] = "was not given to the process: it has no",
		[RNA_INSIDE_CLOSED] = "is not open, and the process may not open",
		[RNA_INSIDE_OPEN] = "is not open:",
	};
	bool wrong = file->access == RNA_INSIDE_CLOSED ||
		     (file->access == RNA_INSIDE_OPEN && checking->dialect->list_start);

	ADD(checking, wrong ? RNA_ENV_WRONG : RNA_ENV_UNKNOWN, file->device, "%s %s",
	    reasons[file->access], file->name);
}

/* Descriptors say what a job could use, not what it uses; one that has begun has opened them. */
static void check_files(struct checking *checking)
{
	const struct rna_inside *inside = checking->in->inside;
	size_t open = 0, known = 0;

	RNA_EACH (file, inside->files, inside->file_count) {
		if (!file->device || !rna_value_is_known(file->opened))
			continue;
		known++;
		open += file->opened.number > 0;
	}
	if (known == 0)
		ADD(checking, RNA_ENV_UNKNOWN, "/proc/PID/fd", "its open files cannot be read");
	else if (open == 0)
		ADD(checking, RNA_ENV_WRONG, "/dev/infiniband",
		    "no RDMA device is open: it uses sockets, or has not begun");
	for (size_t i = 0; open > 0 && i < inside->file_count; i++) {
		const struct rna_inside_file *file = &inside->files[i];
		bool given = file->device && is_given(checking, file->device);

		if (file->device && file->opened.number > 0)
			ADD(checking, given ? RNA_ENV_RIGHT : RNA_ENV_EXTRA, file->device,
			    "is open (%s)%s", file->name,
			    given ? "" : ", and this node would not give it");
		else if (given)
			check_closed_file(checking, file);
	}
}

/* -- Claims ------------------------------------------------------------------------------------ */

/* What the kubelet gave to the pod, of the devices that the process sees. */
static void check_claims(struct checking *checking)
{
	const struct rna_users *users = &checking->in->inside->users;
	const char *pod = users->count > 0 ? users->items[0].pod_uid : NULL;
	const struct rna_subject_list *devices = rna_view_devices(checking->in->view);

	for (size_t i = 0; pod && i < devices->count; i++) {
		const struct rna_device *device = devices->items[i].rdma_device;
		const struct rna_pod_resource *resource =
			device->pci_address ? rna_pod_resource_find(checking->in->resources, pod,
								    device->pci_address)
					    : NULL;

		if (resource)
			ADD(checking, RNA_ENV_RIGHT, device->name, "was given to the pod for %s",
			    resource->resource);
	}
}

/* -- All of it --------------------------------------------------------------------------------- */

int rna_env_check(const struct rna_env_check_input *in, struct rna_arena *arena,
		  struct rna_env_check *ret)
{
	size_t ports = rna_view_ports(in->view)->count;
	struct checking checking = {
		.in = in,
		.dialect = &rna_env_dialects[in->request->library],
		.arena = arena,
		.room = 4 * ports + in->inside->file_count + in->advice->variable_count +
			OTHER_LINES_MAX,
	};

	checking.lines = rna_arena_array(arena, checking.room, sizeof(*checking.lines));
	if (!checking.lines)
		return -ENOMEM;
	check_switches(&checking);
	for (size_t i = 0; i < in->advice->variable_count; i++)
		check_wanted(&checking, &in->advice->variables[i]);
	check_further(&checking);
	check_claims(&checking);
	check_files(&checking);
	*ret = (struct rna_env_check){.count = checking.count, .lines = checking.lines};
	for (size_t i = 0; i < checking.count; i++)
		ret->bad += checking.lines[i].verdict == RNA_ENV_WRONG ||
			    checking.lines[i].verdict == RNA_ENV_MISSING;
	return checking.failed ? -ENOMEM : 0;
}
