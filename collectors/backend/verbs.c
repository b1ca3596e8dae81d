// SPDX-License-Identifier: Apache-2.0
/*
 * The verbs backend: opens a libibverbs context, queries it and closes it within one call; keeps
 * one open for events only if the administrator enables that.
 *
 * Only verbs has MTUs, and the speed codes that sysfs cannot print. Its cost: loading the
 * providers' shared objects on the first call, one context per call (on mlx5 a few firmware
 * commands), and one port query per port.
 *
 * libibverbs writes a warning to stderr if a provider's shared object does not load, and this
 * cannot be disabled. It happens only if the device node exists, see can_open().
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <string.h>

#include "rna/model/driver.h"
#include "rna/verbs_events.h"

#include "parse/rate.h"

#include "backends.h"
#include "collectors_config.h"

#define DEVICE_NODES "/dev/infiniband"

/* Room for GIDs of all ports together: a few each in practice, 1024 at most in rxe's table. */
enum { GIDS_FIRST = 256, GIDS_GROWTH = 4, GIDS_MAX = 1 << 20 };

static void free_list(struct ibv_device ***list)
{
	if (*list)
		ibv_free_device_list(*list);
}

static void close_context(struct ibv_context **context)
{
	if (*context)
		(void)ibv_close_device(*context); /* it has no objects left */
}

static struct ibv_device *find_device(struct ibv_device **list, int count, const char *name)
{
	for (int i = 0; i < count; i++)
		if (strcmp(ibv_get_device_name(list[i]), name) == 0)
			return list[i];
	return NULL;
}

/* Checked first, because ibv_open_device() writes to stderr on failure. dev_name is "uverbs0". */
static bool can_open(const struct ibv_device *device)
{
	char path[sizeof(DEVICE_NODES "/") + sizeof(device->dev_name)];

	(void)snprintf(path, sizeof(path), DEVICE_NODES "/%s", device->dev_name);
	return access(path, R_OK | W_OK) == 0;
}

/* enum ibv_mtu: 1 is 256, 5 is 4096; other codes are unknown. */
static struct rna_value mtu_value(enum ibv_mtu mtu)
{
	if (mtu < IBV_MTU_256 || mtu > IBV_MTU_4096)
		return (struct rna_value){0};
	return rna_value_ok((uint64_t)128 << mtu);
}

/* The old field has eight bits and ends at NDR; ibv_query_port(3) says which field to use. */
static struct rna_value speed_value(const struct ibv_port_attr *attr)
{
#if HAVE_ACTIVE_SPEED_EX
	if (attr->active_speed_ex)
		return rna_value_ok(attr->active_speed_ex);
#endif
	return attr->active_speed ? rna_value_ok(attr->active_speed) : (struct rna_value){0};
}

static struct rna_value lanes_value(uint8_t width_code)
{
	unsigned lanes = rna_lanes_from_code(width_code);

	return lanes ? rna_value_ok(lanes) : (struct rna_value){0};
}

static void query_port(struct ibv_context *context, unsigned number, struct rna_verbs_port *port)
{
	struct ibv_port_attr attr = {0};
	int error;

	error = number > UINT8_MAX ? EINVAL : ibv_query_port(context, (uint8_t)number, &attr);
	if (error) {
		port->error = -error;
		return;
	}
	port->speed_code = speed_value(&attr);
	port->lanes = lanes_value(attr.active_width);
	port->active_mtu = mtu_value(attr.active_mtu);
	port->max_mtu = mtu_value(attr.max_mtu);
	port->sm_sl = rna_value_ok(attr.sm_sl);
	port->lmc = rna_value_ok(attr.lmc);
	port->capability_mask = rna_value_ok(attr.port_cap_flags);
}

/* Returns like query_ports. The context stays valid after its device list is freed. */
static int open_context(const struct rna_root *root, const struct rna_device *device,
			struct ibv_context **ret)
{
	RNA_CLEANUP(free_list) struct ibv_device **list = NULL;
	struct ibv_device *found;
	int count = 0;

	if (!rna_backends_stack_exists(root) || access(DEVICE_NODES, X_OK) < 0)
		return -ENOENT;
	list = ibv_get_device_list(&count);
	if (!list)
		return errno == ENOSYS ? -ENOENT : -errno;
	found = find_device(list, count, device->name);
	if (!found || !can_open(found))
		return -ENOENT;
	*ret = ibv_open_device(found);
	if (!*ret)
		return errno == EPERM || errno == EACCES ? -ENOENT : -errno;
	return 0;
}

static int query_ports(const struct rna_root *root, const struct rna_device *device,
		       struct rna_verbs_port *ports)
{
	RNA_CLEANUP(close_context) struct ibv_context *context = NULL;
	int ret = open_context(root, device, &context);

	if (ret < 0)
		return ret;
	for (size_t i = 0; i < device->port_count; i++)
		query_port(context, device->ports[i], &ports[i]);
	return 0;
}

static enum rna_gid_type gid_type(uint32_t type)
{
	switch (type) {
	case IBV_GID_TYPE_IB:
		return RNA_GID_TYPE_IB;
	case IBV_GID_TYPE_ROCE_V1:
		return RNA_GID_TYPE_ROCE_V1;
	case IBV_GID_TYPE_ROCE_V2:
		return RNA_GID_TYPE_ROCE_V2;
	default:
		return RNA_GID_TYPE_UNKNOWN;
	}
}

/*
 * The kernel returns EINVAL if there are more valid entries than room. Querying the table size of
 * each port would cost firmware commands and give far more room than is needed, so the room grows
 * on demand. Number of entries, or negative errno.
 */
static ssize_t query_entries(struct ibv_context *context, struct ibv_gid_entry **ret)
{
	ssize_t count = -EINVAL;

	for (size_t room = GIDS_FIRST; count == -EINVAL && room <= GIDS_MAX; room *= GIDS_GROWTH) {
		struct ibv_gid_entry *more = reallocarray(*ret, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		*ret = more;
		count = ibv_query_gid_table(context, more, room, 0);
	}
	return count;
}

static int query_gids(const struct rna_root *root, const struct rna_device *device,
		      struct rna_arena *arena, struct rna_verbs_gids *ret)
{
	RNA_CLEANUP(close_context) struct ibv_context *context = NULL;
	RNA_FREE struct ibv_gid_entry *entries = NULL;
	int status = open_context(root, device, &context);
	ssize_t count;

	if (status < 0)
		return status;
	count = query_entries(context, &entries);
	if (count < 0)
		return (int)count;
	ret->items = rna_arena_array(arena, (size_t)count, sizeof(*ret->items));
	if (!ret->items)
		return -ENOMEM;
	ret->count = (size_t)count;
	for (size_t i = 0; i < ret->count; i++) {
		ret->items[i] = (struct rna_verbs_gid){
			.port = entries[i].port_num,
			.index = entries[i].gid_index,
			.type = gid_type(entries[i].gid_type),
			.has_netdev = entries[i].ndev_ifindex != 0,
		};
		memcpy(ret->items[i].gid.bytes, entries[i].gid.raw,
		       sizeof(ret->items[i].gid.bytes));
	}
	return 0;
}

const struct rna_verbs_backend rna_verbs = {
	.query_ports = query_ports,
	.query_gids = query_gids,
};

/* -- Events ------------------------------------------------------------------------------------ */

bool rna_verbs_lets_go(const char *name)
{
	const struct rna_driver *driver = rna_driver_named(name);

	return driver && driver->lets_go;
}

static int make_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	return 0;
}

static int open_for_events(const struct rna_collect_input *in, struct rna_part **ret,
			   struct rna_error *error)
{
	struct rna_verbs_context *made = rna_part_new(RNA_COLLECTOR_COUNT, sizeof(*made), 256);
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = (struct rna_part *)made;
	RNA_CLEANUP(close_context) struct ibv_context *context = NULL;
	int status = made ? open_context(in->root, in->device, &context) : -ENOMEM;

	if (status >= 0)
		status = make_nonblocking(context->async_fd);
	if (status >= 0) {
		made->node = rna_arena_strdup(part->arena, context->device->dev_name);
		made->fd = context->async_fd;
		status = made->node ? 0 : -ENOMEM;
	}
	if (status < 0)
		return rna_error_set(error, status, "%s: cannot watch for events of verbs",
				     in->device->name);
	made->context = RNA_TAKE(context);
	*ret = RNA_TAKE(part);
	return 0;
}

/* Its modules need mlx_compat; its script does nothing without this file. */
static bool has_openibd(const struct rna_root *root)
{
	return rna_root_exists(root, "sys/module/mlx_compat") ||
	       rna_root_exists(root, "etc/infiniband/openib.conf");
}

static int open_without_openibd(const struct rna_collect_input *in, struct rna_part **ret,
				struct rna_error *error)
{
	if (has_openibd(in->root))
		return rna_error_set(error, -EBUSY,
				     "%s: not kept open for its events, because openibd would "
				     "refuse to unload drivers (watch.verbs_events)",
				     in->device->name);
	return open_for_events(in, ret, error);
}

static int close_events(const struct rna_collect_input *in, struct rna_part **ret,
			struct rna_error *error)
{
	const struct rna_verbs_context *held = (const void *)in->previous;

	(void)error;
	(void)ibv_close_device(held->context); /* it has no objects left */
	*ret = rna_part_new(RNA_COLLECTOR_COUNT, sizeof(struct rna_part), 0);
	return *ret ? 0 : -ENOMEM;
}

const struct rna_collector rna_verbs_open = {
	.id = RNA_COLLECTOR_COUNT,
	.name = "verbs_open",
	.help = "A context, held for its events.",
	.collect = open_for_events,
};

const struct rna_collector rna_verbs_open_without_openibd = {
	.id = RNA_COLLECTOR_COUNT,
	.name = "verbs_open",
	.help = "The same, unless openibd would mind.",
	.collect = open_without_openibd,
};

const struct rna_collector rna_verbs_close = {
	.id = RNA_COLLECTOR_COUNT,
	.name = "verbs_close",
	.help = "Closes such a context.",
	.collect = close_events,
};

static enum rna_verbs_event event_of_type(enum ibv_event_type type)
{
	switch (type) {
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
		return RNA_VERBS_PORT;
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
		return RNA_VERBS_LINK;
	case IBV_EVENT_GID_CHANGE:
		return RNA_VERBS_GIDS;
	case IBV_EVENT_DEVICE_FATAL:
		return RNA_VERBS_GONE;
	default:
		return RNA_VERBS_OTHER;
	}
}

/* After a removal the kernel returns the remaining events and then EIO. */
int rna_verbs_read(const struct rna_verbs_context *context, enum rna_verbs_event *ret)
{
	struct ibv_async_event event;

	if (ibv_get_async_event(context->context, &event) == 0) {
		*ret = event_of_type(event.event_type);
		ibv_ack_async_event(&event);
		return 1;
	}
	if (errno == EAGAIN || errno == EINTR)
		return 0;
	*ret = RNA_VERBS_GONE;
	return 1;
}
