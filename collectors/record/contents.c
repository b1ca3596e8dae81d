// SPDX-License-Identifier: Apache-2.0
/*
 * The rows below do not say what is read. A file without a row is kept whole, and MAC addresses,
 * GUIDs and GIDs in it are replaced.
 */
#include "contents.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>

#include "rna/base/json_document.h"
#include "rna/model/driver.h"
#include "rna/model/log_site.h"

#include "backend/recorded.h"
#include "parse/pci.h"
#include "parse/pci_config.h"

#include "readiness_sources.h"

/* Beyond what any collector takes, so that what is too large for them stays too large. */
enum { CONTENT_MAX = 4 * 1024 * 1024 };

enum {
	LINES_MAX = 4,
	VPD_HEAD = 6, /* in front of a serial number that is the only value */
	VPD_VALUES = 0x90,
	VPD_END = 0x78,
};

struct row {
	const char *pattern; /* of the path; a star is for any characters, slashes too */
	enum rna_disguise_kind kind;
	const char *lines[LINES_MAX]; /* kept are those that begin so, behind blanks; none: all */
	/* Other ways to read an excerpt, and to disguise it. */
	int (*read)(const struct rna_root *root, const char *path, struct rna_strbuf *ret);
	void (*rewrite)(struct rna_disguise *disguise, const struct rna_note *note,
			struct rna_arena *scratch, struct rna_strbuf *ret);
	bool may_have_none; /* EINVAL and EOPNOTSUPP say that there is no value */
	bool may_be_zero;   /* an entry that is not used, of which there are hundreds */
	bool left_out;      /* all of it: about other programs, not about hardware */
};

/* -- Reading ----------------------------------------------------------------------------------- */

/* O_NONBLOCK, for a file that is none may wait for ever; sysfs does not care about it. */
static int open_file(const struct rna_root *root, const char *path)
{
	int fd = rna_root_openat(root, path, O_RDONLY | O_NONBLOCK);
	struct stat stat;
	int status = fd;

	if (fd >= 0 && fstat(fd, &stat) < 0)
		status = -errno;
	else if (fd >= 0 && !S_ISREG(stat.st_mode) && !S_ISCHR(stat.st_mode))
		status = S_ISDIR(stat.st_mode) ? -EISDIR : -EAGAIN;
	if (fd >= 0 && status < 0)
		(void)close(fd); /* it was only looked at */
	return status;
}

static int read_all(const struct rna_root *root, const char *path, struct rna_strbuf *ret)
{
	RNA_CLOSE int fd = open_file(root, path);
	ssize_t len = 1;

	while (fd >= 0 && len > 0 && ret->len < CONTENT_MAX) {
		char *end = rna_strbuf_reserve(ret, RNA_ATTRIBUTE_MAX);

		len = end ? TEMP_FAILURE_RETRY(read(fd, end, RNA_ATTRIBUTE_MAX)) : -1;
		if (len < 0)
			return end ? -errno : -ENOMEM;
		ret->len += (size_t)len;
		end[len] = '\0';
	}
	return fd < 0 ? fd : 0;
}

static char *directory_of(const char *path)
{
	return strndup(path, (size_t)(strrchr(path, '/') - path));
}

/* Config space has serial numbers, and each read of it is a transaction with the device. */
static int read_config(const struct rna_root *root, const char *path, struct rna_strbuf *ret)
{
	RNA_FREE char *directory = directory_of(path);
	uint8_t bytes[RNA_PCI_CONFIG_EXCERPT];
	ssize_t len = directory ? rna_pci_config_excerpt(root, directory, bytes) : -ENOMEM;

	if (len > 0)
		rna_strbuf_add(ret, bytes, (size_t)len);
	return len > 0 ? 0 : len < 0 ? (int)len : -ENOENT;
}

/* A VPD that has the UUID of the chip and nothing else, but for the mark behind its end. */
static void add_vpd(struct rna_strbuf *ret, const char *uuid, bool mark)
{
	size_t len = uuid ? strlen(uuid) : 0;

	if (len > 0 && len < UINT8_MAX - 3) {
		rna_strbuf_add(ret,
			       (const uint8_t[]){VPD_VALUES, (uint8_t)(len + 3), 0, 'V', '3',
						 (uint8_t)len},
			       VPD_HEAD);
		rna_strbuf_add(ret, uuid, len);
		rna_strbuf_add_char(ret, VPD_END);
	}
	if (mark)
		rna_strbuf_puts(ret, RNA_PCI_SWITCH_MANAGEMENT_MARK);
}

static int read_vpd(const struct rna_root *root, const char *path, struct rna_strbuf *ret)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *scratch = rna_arena_new(1024);
	RNA_FREE char *directory = directory_of(path);
	RNA_CLOSE int fd = open_file(root, path);

	if (fd < 0 || !scratch || !directory)
		return fd < 0 ? fd : -ENOMEM;
	add_vpd(ret, rna_pci_read_uuid(root, directory, scratch),
		rna_pci_is_switch_management(root, directory));
	return 0;
}

/* Of the configuration of Docker, which may have passwords of proxies. */
static int read_docker(const struct rna_root *root, const char *path, struct rna_strbuf *ret)
{
	static const struct rna_json_limits limits = {
		.memory = 4 << 20,
		.levels = 32,
		.flags = JSON_DECODE_INT_AS_REAL,
	};
	RNA_CLEANUP(rna_json_free_p) json_t *document = NULL;
	RNA_STRBUF struct rna_strbuf all = RNA_STRBUF_INIT;
	struct rna_json_writer writer = {0};
	json_t *ulimits = json_object(), *kept = json_object();
	int status = read_all(root, path, &all);

	if (status == 0 && all.data)
		status = rna_json_parse(all.data, all.len, &limits, &document, NULL);
	rna_json_set(&writer, ulimits, "memlock",
		     json_deep_copy(json_object_get(json_object_get(document, "default-ulimits"),
						    "memlock"))
			     ?: json_null());
	rna_json_set(&writer, kept, "default-ulimits", ulimits);
	rna_json_write(&writer, kept, 0, ret);
	return status == -EBADMSG ? 0 : status;
}

enum { MESSAGES_MAX = 1024 * 1024 }; /* bytes that are kept */

/* A message that begins a report over several lines is of no pattern itself. */
static bool begins_report(const struct rna_log_pending *before, const struct rna_log_pending *now)
{
	return now->pattern &&
	       (now->pattern != before->pattern || now->lines_left > before->lines_left);
}

bool rna_keep_message(void *userdata, struct rna_kmsg_record *record)
{
	struct rna_kept_messages *kept = userdata;
	const struct rna_log_matcher *matcher = rna_log_matcher();
	const struct rna_log_pending before = kept->pending;
	struct rna_log_match match;
	bool follows = record->fragment && kept->kept;

	if (!matcher || record->facility != RNA_KMSG_KERNEL || kept->text->len > MESSAGES_MAX)
		return true;
	kept->kept = rna_log_match(matcher, &kept->pending, record->message, record->len,
				   record->device, &match) ||
		     begins_report(&before, &kept->pending) || follows ||
		     rna_log_site_match(record->message, record->len, &match);
	if (kept->kept)
		rna_kmsg_write(record, kept->text);
	return true;
}

static int read_kernel_log(const struct rna_root *root, const char *path, struct rna_strbuf *ret)
{
	RNA_CLOSE int fd = rna_kmsg_open(root);
	struct rna_kept_messages kept = {.text = ret};
	struct rna_kmsg_drained drained;

	(void)path;
	return fd < 0 ? fd : rna_kmsg_drain(fd, UINT64_MAX, rna_keep_message, &kept, &drained);
}

static int read_cpus(const struct rna_root *root, const char *path, struct rna_strbuf *ret)
{
	struct rna_value is_virtual = rna_read_cpu_is_virtual(root);

	(void)path;
	if (!rna_value_is_known(is_virtual))
		return -ENOENT;
	rna_strbuf_printf(ret, "flags\t\t:%s\n", is_virtual.number ? " hypervisor" : "");
	return 0;
}

/* Of the command line of the kernel, which names the site: what keeps modules from being loaded. */
static int read_command_line(const struct rna_root *root, const char *path, struct rna_strbuf *ret)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *scratch = rna_arena_new(1024);
	RNA_STRBUF struct rna_strbuf all = RNA_STRBUF_INIT;
	struct rna_blacklist list = {0};
	int status = scratch ? read_all(root, path, &all) : -ENOMEM;

	if (status < 0 || !all.data)
		return status;
	rna_parse_command_line(all.data, RNA_COMMAND_LINE, scratch, &list);
	for (size_t i = 0; i < list.count; i++)
		rna_strbuf_printf(ret, "%smodule_blacklist=%s", i > 0 ? " " : "",
				  list.items[i].module);
	rna_strbuf_puts(ret, "\n");
	return list.failed ? -ENOMEM : 0;
}

/* Of thousands of modules of a kernel: those that make RDMA devices. */
static int read_module_files(const struct rna_root *root, const char *path, struct rna_strbuf *ret)
{
	RNA_STRBUF struct rna_strbuf all = RNA_STRBUF_INIT;
	int status = read_all(root, path, &all);
	const struct rna_driver *driver;

	for (const char *line = all.data; line && *line; line += strcspn(line, "\n") + 1) {
		for (size_t at = 0; (driver = rna_driver_next(&at));)
			if (rna_is_module_file(line, driver->rdma)) {
				rna_strbuf_printf(ret, "%.*s:\n", (int)strcspn(line, ":\n"), line);
				break;
			}
		if (line[strcspn(line, "\n")] == '\0')
			break;
	}
	return status;
}

/* Megabytes, of which one line is used. An empty file is one that the agent may not see. */
static int read_symbols(const struct rna_root *root, const char *path, struct rna_strbuf *ret)
{
	struct rna_value symbol = rna_read_kernel_symbol(root, RNA_PEER_MEMORY_SYMBOL);

	(void)path;
	if (rna_value_is_known(symbol))
		rna_strbuf_printf(ret, "0 T %s\n",
				  symbol.number ? RNA_PEER_MEMORY_SYMBOL : "_text");
	return 0;
}

/* -- Disguising -------------------------------------------------------------------------------- */

static void rewrite_vpd(struct rna_disguise *disguise, const struct rna_note *note,
			struct rna_arena *scratch, struct rna_strbuf *ret)
{
	static const char mark[] = RNA_PCI_SWITCH_MANAGEMENT_MARK;
	const uint8_t *bytes = (const uint8_t *)note->data;
	const char *serial = NULL;

	if (note->len > VPD_HEAD && bytes[0] == VPD_VALUES)
		serial = rna_arena_printf(scratch, "%.*s", bytes[VPD_HEAD - 1],
					  note->data + VPD_HEAD);
	if (serial)
		serial = rna_disguise(disguise, RNA_DISGUISE_TEXT, serial, scratch);
	add_vpd(ret, serial, memmem(note->data, note->len, mark, sizeof(mark) - 1));
}

#define UUID "GPU UUID:"

static void rewrite_uuid(struct rna_disguise *disguise, const struct rna_note *note,
			 struct rna_arena *scratch, struct rna_strbuf *ret)
{
	char *rest = rna_arena_strdup(scratch, note->data), *line;

	ret->failed |= !rest;
	while ((line = strsep(&rest, "\n")) && *line) {
		size_t head = strncmp(line, UUID, strlen(UUID)) == 0 ? strlen(UUID) : 0;
		const char *value = line + head;

		if (head > 0) {
			head += strspn(value, " \t");
			value = rna_disguise(disguise, RNA_DISGUISE_TEXT, line + head, scratch);
		}
		rna_strbuf_printf(ret, "%.*s%s\n", (int)head, line, value ? value : "");
	}
}

/* hwloc has the name of the host, serial numbers of the board and the like as infos. */
static void drop_infos(struct rna_disguise *disguise, const struct rna_note *note,
		       struct rna_arena *scratch, struct rna_strbuf *ret)
{
	static const char mark[] = "<info ";
	const char *rest = note->data, *info;

	(void)disguise, (void)scratch;
	while ((info = strstr(rest, mark)) && strchr(info, '>')) {
		rna_strbuf_add(ret, rest, (size_t)(info - rest));
		rest = strchr(info, '>') + 1;
		rest += strspn(rest, " \n");
	}
	rna_strbuf_puts(ret, rest);
}

/* The first row that fits a path counts. */
static const struct row rows[] = {
	{"*/node_guid", RNA_DISGUISE_GUID},
	{"*/sys_image_guid", RNA_DISGUISE_GUID},
	{"*/node_desc", RNA_DISGUISE_TEXT},
	{"*/infiniband/*/parent", RNA_DISGUISE_NAME},
	{"*/infiniband_verbs/*/ibdev", RNA_DISGUISE_NAME},
	{"*/infiniband_mad/*/ibdev", RNA_DISGUISE_NAME},
	{"*/gids/0", RNA_DISGUISE_GID},
	{"*/gids/*", RNA_DISGUISE_GID, .may_be_zero = true},
	{"*/gid_attrs/ndevs/*", RNA_DISGUISE_NAME, .may_have_none = true},
	{"*/gid_attrs/types/*", .may_have_none = true},
	{"*/tc/*/traffic_class", .lines = {"Global tclass="}}, /* rules with addresses follow */
	{"*/net/*/carrier", .may_have_none = true},
	{"*/net/*/speed", .may_have_none = true},
	{"*/net/*/phys_port_name", .may_have_none = true},
	{"*/bonding/slaves", RNA_DISGUISE_NAME},
	{"*/bonding/ad_partner_mac", RNA_DISGUISE_ADDRESS},
	{"recorded/gateways/*/address", RNA_DISGUISE_GID},
	{"recorded/rails/*/address", RNA_DISGUISE_GID},
	{"recorded/rails/*/subnet", RNA_DISGUISE_GID},
	{"recorded/rails/*/leaves_by", RNA_DISGUISE_NAME},
	{"recorded/netdev/*/lacp_partner", RNA_DISGUISE_ADDRESS},
	{"*/sriov/*/node", RNA_DISGUISE_ADDRESS},
	{"*/sriov/*/port", RNA_DISGUISE_ADDRESS},
	{"sys/*/config", .read = read_config},
	{"sys/*/vpd", .read = read_vpd, .rewrite = rewrite_vpd},
	{"*/unique_id", RNA_DISGUISE_TEXT},
	{"*/kfd/*/properties", .lines = {"simd_count ", "location_id ", "domain "}},
	{"proc/driver/nvidia/gpus/*/information",
	 .lines = {"Model:", UUID, "Bus Location:", "Device Minor:"}, .rewrite = rewrite_uuid},
	/* Those that clouds give all machines; what an owner writes there names the machine. */
	{RNA_KMSG_PATH, RNA_DISGUISE_ADDRESSES, .read = read_kernel_log},
	{"*/dmi/id/chassis_asset_tag", .lines = {"OracleCloud.com", "7783-7084-3265-"}},
	{"proc/cpuinfo", .read = read_cpus}, /* long, and only one word is used */
	{&RNA_COMMAND_LINE[1], .read = read_command_line},
	{"*/modprobe.d/*", .lines = {"blacklist", "install"}},
	{"lib/modules/*/modules.*", .read = read_module_files},
	{"proc/kallsyms", .read = read_symbols},
	{"boot/config-*", .lines = {"CONFIG_DMABUF_MOVE_NOTIFY=", "CONFIG_PCI_P2PDMA="}},
	{"*/systemd/system/*", .lines = {"[Service]", "LimitMEMLOCK="}}, /* others are secrets */
	/* Of container runtimes, whose files may have passwords: what limits locked memory. */
	{"*/containerd/*.toml", .lines = {"base_runtime_spec", "imports"}},
	{"etc/crio/*", .lines = {"default_ulimits", "\"memlock=", "'memlock=", "]"}},
	{"etc/docker/daemon.json", .read = read_docker},
	{"proc/[0-9]*/net/stat/*"}, /* proc/net is a link to there */
	/* Further variables may name users and paths. */
	{"etc/nccl.conf", .lines = {"NCCL_IB_DISABLE=", "NCCL_IB_HCA=", "NCCL_IB_GID_INDEX=",
				    "NCCL_SOCKET_IFNAME="}},
	{"proc/[0-9]*", .left_out = true},
	{"var/log/*", .left_out = true}, /* names of pods */
	{"recorded/*/peer/name", RNA_DISGUISE_TEXT},
	{"recorded/lldp/*/name", RNA_DISGUISE_TEXT},
	{"recorded/lldp/*/port_description", RNA_DISGUISE_TEXT},
	{"recorded/lldp/*", RNA_DISGUISE_NAME},
	{"recorded/netdev/*/mac", RNA_DISGUISE_ADDRESS},
	{"recorded/*guid", RNA_DISGUISE_GUID},
	{"recorded/netlink/*/netdev", RNA_DISGUISE_NAME},
	{RNA_RECORDED_UPLINK, RNA_DISGUISE_NAME},
	{RNA_RECORDED_HWLOC, .rewrite = drop_infos},
	{"*", RNA_DISGUISE_ADDRESSES},
};

static const struct row *row_of(const char *path)
{
	const struct row *row = rows;

	while (fnmatch(row->pattern, path, 0) != 0)
		row++;
	return row;
}

static bool is_wanted(const struct row *row, const char *line)
{
	line += strspn(line, " \t");
	for (size_t i = 0; i < LINES_MAX && row->lines[i]; i++)
		if (strncmp(line, row->lines[i], strlen(row->lines[i])) == 0)
			return true;
	return false;
}

int rna_contents_read(const struct rna_root *root, const char *asked, const char *path,
		      struct rna_strbuf *ret)
{
	RNA_STRBUF struct rna_strbuf all = RNA_STRBUF_INIT;
	const struct row *row = row_of(asked);
	char *rest, *line;
	int status;

	if (!row->lines[0])
		return row->read ? row->read(root, path, ret) : read_all(root, path, ret);
	status = read_all(root, path, &all);
	for (rest = all.data; status == 0 && (line = strsep(&rest, "\n"));)
		if (is_wanted(row, line))
			rna_strbuf_printf(ret, "%s\n", line);
	return status;
}

bool rna_contents_are_left_out(const char *path)
{
	return row_of(path)->left_out;
}

bool rna_contents_are_missing(const struct rna_note *note)
{
	const struct row *row = row_of(note->path);

	if (note->kind == RNA_NOTE_CONTENT)
		return row->may_be_zero && strspn(note->data, "0:\n") == note->len;
	return note->value == -ENOENT || note->value == -ENOTDIR ||
	       (row->may_have_none && (note->value == -EINVAL || note->value == -EOPNOTSUPP));
}

/* Text without the line end, which stays. Binary content is none: one NUL is as unreadable. */
static void rewrite_text(struct rna_disguise *disguise, enum rna_disguise_kind kind,
			 const struct rna_note *note, struct rna_arena *scratch,
			 struct rna_strbuf *ret)
{
	size_t len = note->len;
	const char *text;

	if (memchr(note->data, '\0', len)) {
		rna_strbuf_add(ret, "", 1);
		return;
	}
	while (len > 0 && strchr(" \t\r\n", note->data[len - 1]))
		len--;
	text = rna_arena_printf(scratch, "%.*s", (int)len, note->data);
	text = text ? rna_disguise(disguise, kind, text, scratch) : NULL;
	ret->failed |= !text;
	if (text)
		rna_strbuf_printf(ret, "%s%s", text, note->data + len);
}

int rna_contents_disguise(struct rna_disguise *disguise, const struct rna_note *note,
			  struct rna_strbuf *ret)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *scratch = rna_arena_new(1024);
	const struct row *row = row_of(note->path);

	if (!scratch)
		return -ENOMEM;
	if (row->rewrite)
		row->rewrite(disguise, note, scratch, ret);
	else if (row->kind == RNA_DISGUISE_NOTHING)
		rna_strbuf_add(ret, note->data, note->len);
	else
		rewrite_text(disguise, row->kind, note, scratch, ret);
	return rna_strbuf_ok(ret) ? 0 : -ENOMEM;
}
