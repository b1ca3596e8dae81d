// SPDX-License-Identifier: Apache-2.0
/*
 * gids: the used entries of each port's GID table.
 *
 * Tables are long (255 on mlx5, 1024 on rxe) and nearly empty. verbs returns the used entries in
 * one call. sysfs has three files for each entry; for unused ones only the first is read. The
 * kernel answers from its cache without firmware commands. But 1024 files take some milliseconds,
 * and so does opening a device, so this runs after the first view.
 *
 * Interface names always come from sysfs: the index from verbs is valid in the network namespace of
 * the interface, which may be another one.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/card.h"

#include "backend/backends.h"
#include "parse/pci.h"

#include "collectors.h"
#include "identity.h"

struct directory {
	const char *path;
	int fd; /* negative: none */
};

/* One port's table during the read. */
struct table {
	const struct rna_collect_input *in;
	struct rna_part *part;
	struct rna_arena *scratch;
	unsigned port;
	struct directory gids;
	struct directory types;
	struct directory netdevs;
	enum rna_gid_type first_type; /* the meaning of "IB/RoCE v1" on this port */
	size_t count;
	struct rna_gid_entry *entries; /* in scratch */
	int lack; /* lack of memory or descriptors, so the table is incomplete */
};

/*
 * Records a lack of memory or descriptors: an incomplete table would give a wrong NCCL index.
 * Returns status.
 */
static ssize_t note_shortage(struct table *table, ssize_t status)
{
	if (rna_error_is_lack((int)status))
		table->lack = (int)status;
	return status;
}

static struct directory open_directory(struct table *table, const char *name)
{
	const char *path = rna_arena_printf(table->scratch, "%s/ports/%u/%s",
					    table->in->device->sysfs_path, table->port, name);
	int fd = path ? rna_root_openat(table->in->root, path, O_PATH | O_DIRECTORY) : -ENOMEM;

	(void)note_shortage(table, fd);
	return (struct directory){path, fd};
}

static enum rna_gid_type read_first_type(struct table *table)
{
	const char *path = rna_arena_printf(table->scratch, "%s/ports/%u/link_layer",
					    table->in->device->sysfs_path, table->port);
	char layer[32];
	ssize_t len = note_shortage(table, path ? rna_root_read(table->in->root, path, layer,
								sizeof(layer))
						: -ENOMEM);

	if (len < 0 && len != -ENOENT)
		return RNA_GID_TYPE_UNKNOWN;
	return len > 0 && rna_link_layer_parse(table->in->device, layer) == RNA_LINK_LAYER_ETHERNET
		       ? RNA_GID_TYPE_ROCE_V1
		       : RNA_GID_TYPE_IB;
}

static void close_table(const struct table *table)
{
	rna_close_p(&table->gids.fd);
	rna_close_p(&table->types.fd);
	rna_close_p(&table->netdevs.fd);
}

/* 0; -ENOENT if the port has no table, which is normal (scif); or another negative errno. */
static int open_table(struct table *table)
{
	table->gids = open_directory(table, "gids");
	if (table->gids.fd < 0)
		return table->gids.fd;
	table->types = open_directory(table, "gid_attrs/types"); /* absent before Linux 4.5 */
	table->netdevs = open_directory(table, "gid_attrs/ndevs");
	table->first_type = read_first_type(table);
	return 0;
}

static int open_below(const struct table *table, const struct directory *directory,
		      const char *name, int flags)
{
	const struct rna_root_place place = {directory->fd, directory->path, name, false};

	return directory->fd < 0 ? -ENOENT : rna_root_open_below(table->in->root, &place, flags);
}

static ssize_t read_below(const struct table *table, const struct directory *directory,
			  const char *name, char *buffer, size_t size)
{
	RNA_CLOSE int fd = open_below(table, directory, name, O_RDONLY);

	return fd < 0 ? fd : rna_root_pread_text(fd, buffer, size);
}

/*
 * An attribute of an entry, or NULL. The kernel returns EINVAL for an entry that is unused or has
 * no interface, ENODEV if the interface has just been removed.
 */
static const char *read_attribute(struct table *table, const struct directory *directory,
				  unsigned index, char *buffer, size_t size)
{
	const char *name = rna_arena_printf(table->scratch, "%u", index);
	ssize_t len = note_shortage(table, name ? read_below(table, directory, name, buffer, size)
						: -ENOMEM);

	if (len < 0 && len != -ENOENT && len != -EINVAL && len != -ENODEV)
		rna_part_count_error(table->part, (int)len);
	return len > 0 ? buffer : NULL;
}

static enum rna_gid_type read_type(struct table *table, unsigned index)
{
	char buffer[32];
	const char *text = read_attribute(table, &table->types, index, buffer, sizeof(buffer));

	if (text && strcmp(text, "IB/RoCE v1") == 0)
		return table->first_type;
	if (text && strcmp(text, "RoCE v2") == 0)
		return RNA_GID_TYPE_ROCE_V2;
	return RNA_GID_TYPE_UNKNOWN;
}

/* Is the interface that of another card, which only has the same name as that of a pod? */
static bool is_of_another_card(const struct table *table, const char *path)
{
	const char *own = table->in->device->pci_address, *address, *first;
	int status = 0;
	size_t len;

	path = own ? rna_root_realpath(table->in->root, path, table->scratch, &status) : NULL;
	address = path ? rna_pci_find_last(path, &len) : NULL;
	first = address ? rna_arena_printf(table->scratch, "%.*s", (int)len, address) : NULL;
	return first && !rna_pci_is_one_device(first, own);
}

/*
 * The table of a shared device has the addresses of all network namespaces, each with the name of
 * its interface there (show_port_gid_attr_ndev() in drivers/infiniband/core/sysfs.c, Linux 6.12).
 */
static int look_for_netdev(struct table *table, struct rna_gid_entry *entry)
{
	uint32_t process = table->in->device->process;
	const char *path =
		process ? rna_arena_printf(table->scratch, RNA_ROOT_OF_PROCESS "sys/class/net/%s",
					   process, entry->netdev)
			: rna_arena_printf(table->scratch, "sys/class/net/%s", entry->netdev);
	RNA_CLOSE int fd = path ? rna_root_openat(table->in->root, path, O_PATH) : -ENOMEM;

	if (fd < 0 && rna_error_is_lack(fd))
		return fd;
	entry->elsewhere = fd < 0 || (!process && is_of_another_card(table, path));
	return 0;
}

static int read_netdev(struct table *table, struct rna_gid_entry *entry)
{
	char buffer[64];
	const char *name =
		read_attribute(table, &table->netdevs, entry->index, buffer, sizeof(buffer));

	if (!name)
		return 0;
	entry->netdev = rna_arena_strdup(table->part->arena, name);
	if (!entry->netdev)
		return -ENOMEM;
	return look_for_netdev(table, entry);
}

/* Reads an entry from sysfs. 0 also if it is unused, or unreadable, which is counted. */
static int read_entry(struct table *table, const char *name)
{
	struct rna_gid_entry *entry = &table->entries[table->count];
	char text[64];
	uint64_t index;
	ssize_t len;
	int status;

	if (rna_parse_u64(name, &index) < 0 || index > UINT32_MAX)
		return 0; /* not an entry */
	len = note_shortage(table, read_below(table, &table->gids, name, text, sizeof(text)));
	if (len == -ENODEV)
		return -ENODEV;
	status = len < 0 ? (int)len : rna_gid_parse(text, &entry->gid);
	if (status < 0 && status != -EINVAL)
		rna_part_count_error(table->part, status);
	if (status < 0 || rna_gid_is_zero(&entry->gid))
		return 0;
	entry->index = (unsigned)index;
	entry->type = read_type(table, entry->index);
	entry->netdev = NULL;
	entry->elsewhere = false;
	table->count++;
	return read_netdev(table, entry);
}

static int read_from_sysfs(struct table *table)
{
	int fd = open_below(table, &table->gids, ".", O_RDONLY | O_DIRECTORY), status = 0;
	char **names;
	ssize_t count = rna_root_list_fd(fd, table->scratch, &names);

	if (count < 0)
		return (int)count;
	table->entries =
		rna_arena_array(table->scratch, (size_t)count + 1, sizeof(*table->entries));
	if (!table->entries)
		return -ENOMEM;
	for (ssize_t i = 0; status == 0 && i < count; i++)
		status = read_entry(table, names[i]);
	return status;
}

static int take_from_verbs(struct table *table, const struct rna_verbs_gids *verbs)
{
	int status = 0;

	table->entries = rna_arena_array(table->scratch, verbs->count, sizeof(*table->entries));
	if (!table->entries)
		return -ENOMEM;
	for (size_t i = 0; status == 0 && i < verbs->count; i++) {
		const struct rna_verbs_gid *from = &verbs->items[i];
		struct rna_gid_entry *entry = &table->entries[table->count];

		if (from->port != table->port || rna_gid_is_zero(&from->gid))
			continue;
		*entry = (struct rna_gid_entry){
			.index = from->index,
			.gid = from->gid,
			.type = from->type,
		};
		table->count++;
		if (from->has_netdev)
			status = read_netdev(table, entry);
	}
	return status;
}

static const struct rna_port_gids *find_previous(const struct rna_collect_input *in, unsigned port)
{
	const struct rna_gids *previous = (const void *)in->previous;

	return RNA_FIND(i, previous->ports, previous ? previous->port_count : 0,
			previous->ports[i].number == port);
}

static int keep_table(const struct table *table, struct rna_port_gids *ret)
{
	const struct rna_port_gids *previous = find_previous(table->in, table->port);
	struct rna_gid_entry *entries =
		rna_arena_array(table->part->arena, table->count, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	if (table->count > 0)
		memcpy(entries, table->entries, table->count * sizeof(*entries));
	*ret = (struct rna_port_gids){
		.number = table->port,
		.count = table->count,
		.entries = entries,
	};
	return previous ? rna_port_gids_follow(ret, previous, table->part->arena) : 0;
}

/* verbs: NULL: no answer of verbs. */
static int read_port(struct table *table, const struct rna_verbs_gids *verbs,
		     struct rna_port_gids *ret)
{
	int status = open_table(table);

	if (status == 0)
		status = verbs ? take_from_verbs(table, verbs) : read_from_sysfs(table);
	if (status == 0)
		status = table->lack;
	return status < 0 ? status : keep_table(table, ret);
}

/* False if verbs is not available, which is normal in a container. */
static bool ask_verbs(const struct rna_collect_input *in, struct rna_part *part,
		      struct rna_arena *scratch, struct rna_verbs_gids *ret)
{
	int status = in->backends->verbs->query_gids(in->root, in->device, scratch, ret);

	if (status < 0 && status != -ENOENT)
		rna_part_count_error(part, status);
	return status == 0;
}

static int read_all(const struct rna_collect_input *in, struct rna_gids *gids,
		    struct rna_arena *scratch)
{
	const struct rna_device *device = in->device;
	struct rna_port_gids *ports =
		rna_arena_array(gids->part.arena, device->port_count, sizeof(*ports));
	struct rna_verbs_gids verbs = {0};

	if (!ports)
		return -ENOMEM;
	gids->ports = ports;
	gids->verbs = ask_verbs(in, &gids->part, scratch, &verbs);
	for (size_t i = 0; i < device->port_count; i++) {
		RNA_CLEANUP(close_table)
		struct table table = {
			.in = in,
			.part = &gids->part,
			.scratch = scratch,
			.port = device->ports[i],
			.gids.fd = -1,
			.types.fd = -1,
			.netdevs.fd = -1,
		};
		int status =
			read_port(&table, gids->verbs ? &verbs : NULL, &ports[gids->port_count]);

		if (status < 0 && status != -ENOENT)
			return status;
		gids->port_count += status == 0;
	}
	return 0;
}

RNA_DEFINE_COLLECT(gids, GIDS, struct rna_gids, 192, 8192, "cannot read GID tables",
		   read_all(in, part, scratch))
