// SPDX-License-Identifier: Apache-2.0
/*
 * Recording a machine: the tables say which files, the rest copies them.
 *
 * Everything lies below the path that it really has, and links are copied as they are written, so
 * whatever finds a file on the node finds it in the recording. Files are copied byte for byte,
 * for their oddities are what recordings are made for; those that identify something go through a
 * disguise. What is not there stays away, and what cannot be read is a directory: as unreadable as
 * it was, and no other kind of file is safe to leave behind.
 *
 * What a driver answers is read by a child process, directory by directory: one that does not
 * answer costs the rest of its directory, and not the recording.
 */
#include "rna/record.h"

#include "backends.h"
#include "child.h"
#include "collectors.h"
#include "disguise.h"
#include "pci.h"
#include "rate.h"

#include "rna/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define CLASS_INFINIBAND "sys/class/infiniband"
#define CLASS_NET        "sys/class/net"
#define NOTES            "recorded/unreadable"

/* Silence that is worth a word. */
#define SOON RNA_USEC_PER_SEC

enum {
	/* Beyond what any collector takes, so that what is too large for them stays too large. */
	CONTENT_MAX = 2 * RNA_ATTRIBUTE_MAX,
	GIDS_MAX = 1024, /* used ones, of each port */
	PKEYS_MAX = 16,
};

struct attribute {
	const char *name;
	enum rna_disguise_kind kind;
	bool may_be_invalid; /* EINVAL says that there is no value now: it counts as not there */
};

static const struct attribute plain_file = {.kind = RNA_DISGUISE_NOTHING};
static const struct attribute odd_file = {.kind = RNA_DISGUISE_TEXT};

static const struct attribute device_attributes[] = {
	{"node_type"},
	{"node_guid", RNA_DISGUISE_GUID},
	{"sys_image_guid", RNA_DISGUISE_GUID},
	{"fw_ver"},
	{"board_id"},
	{"hca_type"},
	{"hw_rev"},
	{"node_desc", RNA_DISGUISE_TEXT},
	{"parent", RNA_DISGUISE_NAME},
};

static const struct attribute port_attributes[] = {
	{"link_layer"}, {"state"}, {"phys_state"}, {"rate"},           {"lid"},
	{"sm_lid"},     {"sm_sl"}, {"cap_mask"},   {"lid_mask_count"},
};

static const struct attribute pci_attributes[] = {
	{"class"},
	{"vendor"},
	{"device"},
	{"subsystem_vendor"},
	{"subsystem_device"},
	{"revision"},
	{"numa_node"},
	{"current_link_speed"},
	{"current_link_width"},
	{"max_link_speed"},
	{"max_link_width"},
	{"sriov_numvfs"},
	{"sriov_totalvfs"},
};

/* Of the auxiliary device that a subfunction's RDMA device hangs on. */
static const struct attribute parent_attributes[] = {{"sfnum"}};

static const struct attribute netdev_attributes[] = {
	{"type"},
	{"dev_port"},
	{"dev_id"},
	{"ifindex"},
	{"flags"},
	{"operstate"},
	{"carrier", .may_be_invalid = true},
	{"carrier_up_count"},
	{"carrier_down_count"},
	{"mtu"},
	{"speed", .may_be_invalid = true},
	{"address", RNA_DISGUISE_ADDRESS},
	{"bonding/slaves", RNA_DISGUISE_NAME},
};

struct recording {
	const struct rna_root *root;
	const struct rna_backends *backends;
	const struct rna_record_options *options;
	int fd;                        /* the directory that it is written to */
	struct rna_disguise *disguise; /* NULL: identity is kept */
	struct rna_arena *scratch;
	struct rna_strbuf notes; /* to be recorded/unreadable */
	struct rna_record_result result;
	int status; /* the first failure that ends it; nothing is read or written after it */
	struct rna_error *error;
};

/* -- Failures ---------------------------------------------------------------------------------- */

/* Keeps the first. what: a path of the recording, or NULL for all of it. */
static void fail(struct recording *recording, int error, const char *what)
{
	if (recording->status == 0)
		recording->status = rna_error_set(recording->error, error, "%s%s%s: cannot write",
						  recording->options->directory, what ? "/" : "",
						  what ? what : "");
}

/* Passes an allocation through. */
static const char *need(struct recording *recording, const char *text)
{
	if (!text)
		fail(recording, -ENOMEM, NULL);
	return text;
}

static const char *join(struct recording *recording, const char *directory, const char *name)
{
	if (recording->status < 0)
		return NULL;
	return need(recording, rna_arena_printf(recording->scratch, "%s/%s", directory, name));
}

static const char *disguise(struct recording *recording, enum rna_disguise_kind kind,
			    const char *text)
{
	if (recording->status < 0)
		return NULL;
	return need(recording, rna_disguise(recording->disguise, kind, text, recording->scratch));
}

/* What is not there is normal and needs no note. */
static void note_unreadable(struct recording *recording, const char *path, int error)
{
	const char *name = strerrorname_np(-error);

	path = disguise(recording, RNA_DISGUISE_NAME, path);
	if (error == -ENOENT || !path)
		return;
	rna_strbuf_printf(&recording->notes, "%s %s\n", path, name ? name : "?");
	recording->result.unreadable++;
}

/* What it is that nothing is heard of, and what becomes of it. */
static void tell(struct recording *recording, const char *what, const char *text)
{
	const char *line = rna_arena_printf(recording->scratch, "%s: %s", what, text);

	if (line && recording->options->tell)
		recording->options->tell(line);
}

/* -- Writing: path as it is on the node, disguised on the way ---------------------------------- */

/* The directories above path, and path itself when it ends in a slash. */
static int make_directories(struct recording *recording, const char *path)
{
	RNA_FREE char *part = strdup(path);

	if (!part)
		return -ENOMEM;
	for (char *slash = strchr(part, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdirat(recording->fd, part, 0755) < 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return 0;
}

static int write_all(int fd, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t written = write(fd, data, len);

		if (written < 0 && errno != EINTR)
			return -errno;
		if (written > 0) {
			data += written;
			len -= (size_t)written;
		}
	}
	return 0;
}

/* 1 when it was written, 0 when it is there already, or negative errno. */
static int create_file(struct recording *recording, const char *path, const char *data, size_t len)
{
	int error = make_directories(recording, path), fd;

	if (error < 0)
		return error;
	fd = openat(recording->fd, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0644);
	if (fd < 0)
		return errno == EEXIST ? 0 : -errno;
	error = write_all(fd, data, len);
	if (close(fd) < 0 && error == 0)
		error = -errno;
	return error < 0 ? error : 1;
}

static void write_file(struct recording *recording, const char *path, const char *data, size_t len)
{
	int ret;

	path = disguise(recording, RNA_DISGUISE_NAME, path);
	if (!path)
		return;
	ret = create_file(recording, path, data, len);
	if (ret < 0)
		fail(recording, ret, path);
	else
		recording->result.files += (size_t)ret;
}

static void write_link(struct recording *recording, const char *path, const char *target)
{
	int error;

	path = disguise(recording, RNA_DISGUISE_NAME, path);
	target = disguise(recording, RNA_DISGUISE_NAME, target);
	if (!path || !target)
		return;
	error = make_directories(recording, path);
	if (error == 0 && symlinkat(target, recording->fd, path) < 0 && errno != EEXIST)
		error = -errno;
	if (error < 0)
		fail(recording, error, path);
}

static void write_directory(struct recording *recording, const char *path)
{
	int error;

	path = disguise(recording, RNA_DISGUISE_NAME, path);
	path = path ? join(recording, path, "") : NULL;
	if (!path)
		return;
	error = make_directories(recording, path);
	if (error < 0)
		fail(recording, error, path);
}

static void write_number(struct recording *recording, const char *directory, const char *name,
			 struct rna_value value)
{
	const char *path = join(recording, directory, name);
	char text[32];
	int len;

	if (!path || value.state != RNA_VALUE_OK)
		return;
	len = snprintf(text, sizeof(text), "%ju\n", (uintmax_t)value.number);
	write_file(recording, path, text, (size_t)len);
}

/* -- Reading, in a child ----------------------------------------------------------------------- */

/* Its next message: the length, or negative errno. what: it is about. */
static ssize_t receive(struct recording *recording, const struct rna_child *child, const char *what,
		       void *buffer, size_t size)
{
	ssize_t len = rna_child_receive(child, buffer, size, SOON);

	if (len == -ETIMEDOUT) {
		tell(recording, what, "waiting for an answer");
		len = rna_child_receive(child, buffer, size, recording->options->deadline);
	}
	if (len == -ETIMEDOUT)
		tell(recording, what, "no answer, going on without it");
	return len;
}

struct content {
	ssize_t len; /* or negative errno */
	char data[CONTENT_MAX + 1];
};

struct file {
	const char *path;
	const struct attribute *attribute;
};

/* What one child reads. */
struct files {
	const struct rna_root *root;
	size_t count;
	struct file *items;
};

/* O_NONBLOCK, for a file that is none may wait for ever; sysfs does not care about it. */
static ssize_t read_content(const struct rna_root *root, const char *path, char *content)
{
	RNA_CLOSE int fd = rna_root_openat(root, path, O_RDONLY | O_NONBLOCK);
	struct stat stat;
	ssize_t len;

	if (fd < 0)
		return fd;
	if (fstat(fd, &stat) < 0)
		return -errno;
	if (!S_ISREG(stat.st_mode))
		return S_ISDIR(stat.st_mode) ? -EISDIR : -EAGAIN;
	len = read(fd, content, CONTENT_MAX);
	return len < 0 ? -errno : len;
}

static void send_contents(int fd, const void *userdata)
{
	const struct files *files = userdata;
	struct content content;

	for (size_t i = 0; i < files->count; i++) {
		size_t size = offsetof(struct content, data);

		content.len = read_content(files->root, files->items[i].path, content.data);
		if (content.len > 0)
			size += (size_t)content.len;
		(void)send(fd, &content, size, 0); /* the end of us if nobody waits any more */
	}
}

/* -- Copying; path is one of the node ---------------------------------------------------------- */

/* Binary content is no text that could be disguised: one NUL, which is as unreadable as it was. */
static const char *disguise_content(struct recording *recording, enum rna_disguise_kind kind,
				    char *content, size_t *len)
{
	size_t text_len = *len;
	const char *text, *ret;

	if (!recording->disguise || kind == RNA_DISGUISE_NOTHING)
		return content;
	if (memchr(content, '\0', *len)) {
		*len = 1;
		return "";
	}
	while (text_len > 0 && strchr(" \t\r\n", content[text_len - 1]))
		text_len--;
	text = need(recording,
		    rna_arena_printf(recording->scratch, "%.*s", (int)text_len, content));
	text = text ? disguise(recording, kind, text) : NULL;
	if (!text)
		return NULL;
	ret = need(recording,
		   rna_arena_printf(recording->scratch, "%s%s", text, content + text_len));
	*len = ret ? strlen(ret) : 0;
	return ret;
}

/* A directory stands for a file that cannot be read: absent would be something else. */
static void write_content(struct recording *recording, const struct file *file,
			  struct content *content)
{
	const struct attribute *attribute = file->attribute;
	const char *data;
	size_t size;

	if (content->len == -ENOENT || (content->len == -EINVAL && attribute->may_be_invalid))
		return;
	if (content->len < 0) {
		note_unreadable(recording, file->path, (int)content->len);
		write_directory(recording, file->path);
		return;
	}
	size = (size_t)content->len;
	content->data[size] = '\0';
	data = disguise_content(recording, attribute->kind, content->data, &size);
	if (data)
		write_file(recording, file->path, data, size);
}

/* Behind a file that is not answered the others are not asked for. */
static void copy_all(struct recording *recording, const struct files *files)
{
	RNA_CLEANUP(rna_child_stop) struct rna_child child = {0};
	struct content content;
	ssize_t status;

	if (files->count == 0 || recording->status < 0)
		return;
	status = rna_child_start(&child, send_contents, files);
	for (size_t i = 0; i < files->count && recording->status == 0; i++) {
		const struct file *file = &files->items[i];

		if (status >= 0)
			status = receive(recording, &child, file->path, &content, sizeof(content));
		if (status < 0)
			content.len = status;
		write_content(recording, file, &content);
	}
}

/* Room for count files; none without memory. */
static struct files new_files(struct recording *recording, size_t count)
{
	struct files files = {
		.root = recording->root,
		.items = rna_arena_array(recording->scratch, count, sizeof(*files.items)),
	};

	if (!files.items)
		fail(recording, -ENOMEM, NULL);
	return files;
}

static void add_file(struct recording *recording, struct files *files, const char *path,
		     const struct attribute *attribute)
{
	if (recording->status == 0 && path)
		files->items[files->count++] = (struct file){path, attribute};
}

static void copy_file(struct recording *recording, const char *path,
		      const struct attribute *attribute)
{
	struct file file = {path, attribute};

	copy_all(recording, &(struct files){recording->root, 1, &file});
}

static void copy_attributes(struct recording *recording, const char *directory,
			    const struct attribute *attributes, size_t count)
{
	struct files files = new_files(recording, count);

	for (size_t i = 0; i < count; i++)
		add_file(recording, &files, join(recording, directory, attributes[i].name),
			 &attributes[i]);
	copy_all(recording, &files);
}

#define COPY_ATTRIBUTES(recording, directory, attributes)                                          \
	copy_attributes(recording, directory, attributes, RNA_ARRAY_SIZE(attributes))

static void copy_link(struct recording *recording, const char *directory, const char *name)
{
	const char *path = join(recording, directory, name);
	char target[RNA_ATTRIBUTE_MAX];

	if (!path || rna_root_readlink(recording->root, path, target, sizeof(target)) < 0)
		return; /* not there, or a directory: then what is in it is copied */
	write_link(recording, path, target);
}

/* Its entries, none when it cannot be listed. */
static size_t list(struct recording *recording, const char *directory, char ***ret)
{
	ssize_t count;

	if (!directory)
		return 0;
	count = rna_root_list(recording->root, directory, recording->scratch, ret);
	if (count == -ENOMEM)
		fail(recording, -ENOMEM, NULL);
	else if (count == -ENOTDIR)
		copy_file(recording, directory, &odd_file); /* then it is odd there, too */
	else if (count < 0)
		note_unreadable(recording, directory, (int)count);
	return count < 0 ? 0 : (size_t)count;
}

/* All files of a directory, no more than max of them. */
static void copy_files(struct recording *recording, const char *directory, size_t max)
{
	char **names;
	size_t count = list(recording, directory, &names);
	struct files files = new_files(recording, count);

	if (count > 0)
		write_directory(recording, directory);
	for (size_t i = 0; i < count && i < max; i++)
		add_file(recording, &files, join(recording, directory, names[i]), &plain_file);
	copy_all(recording, &files);
}

/* Has somebody copied from this directory already? Devices share functions and interfaces. */
static bool is_recorded(struct recording *recording, const char *directory, const char *name)
{
	const char *path = join(recording, directory, name);
	const char *to = path ? disguise(recording, RNA_DISGUISE_NAME, path) : NULL;

	return to && faccessat(recording->fd, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* -- Devices ----------------------------------------------------------------------------------- */

static bool is_used_gid(struct recording *recording, const char *path)
{
	char text[RNA_ATTRIBUTE_MAX + 1];
	ssize_t len = rna_root_read(recording->root, path, text, sizeof(text));

	return len > 0 && text[strspn(text, "0:")] != '\0';
}

static const struct {
	const char *directory;
	struct attribute attribute;
} gid_files[] = {
	{"gids", {.kind = RNA_DISGUISE_GID}},
	{"gid_attrs/types", {.may_be_invalid = true}},
	{"gid_attrs/ndevs", {.kind = RNA_DISGUISE_NAME, .may_be_invalid = true}},
};

static void add_gid(struct recording *recording, struct files *files, const char *port,
		    const char *index)
{
	for (size_t i = 0; i < RNA_ARRAY_SIZE(gid_files); i++) {
		const char *directory = join(recording, port, gid_files[i].directory);

		if (directory)
			add_file(recording, files, join(recording, directory, index),
				 &gid_files[i].attribute);
	}
}

/*
 * Those in use, and entry 0: tables have 256 entries and more, nearly all of them zero. Which are
 * in use comes from the kernel's cache; no driver is asked.
 */
static void copy_gids(struct recording *recording, const char *port)
{
	const char *directory = join(recording, port, "gids");
	char **names;
	size_t count = list(recording, directory, &names), copied = 0;
	struct files files = new_files(recording, count * RNA_ARRAY_SIZE(gid_files));

	for (size_t i = 0; i < count && copied < GIDS_MAX; i++) {
		const char *path = join(recording, directory, names[i]);

		if (!path || (strcmp(names[i], "0") != 0 && !is_used_gid(recording, path)))
			continue;
		add_gid(recording, &files, port, names[i]);
		copied++;
	}
	copy_all(recording, &files);
}

/* Nothing reads the counters of what manages NVSwitches, see rna/device.h; nor does a recorder. */
static void copy_counters(struct recording *recording, const struct rna_device *device,
			  const char *path)
{
	if (device->function != RNA_FUNCTION_SWITCH_MANAGEMENT)
		copy_files(recording, path, SIZE_MAX);
}

static void copy_port(struct recording *recording, const struct rna_device *device, unsigned number)
{
	static const char *const counters[] = {"counters", "hw_counters"};
	const char *port = need(recording, rna_arena_printf(recording->scratch, "%s/ports/%u",
							    device->sysfs_path, number));

	if (!port)
		return;
	write_directory(recording, port);
	COPY_ATTRIBUTES(recording, port, port_attributes);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(counters); i++)
		copy_counters(recording, device, join(recording, port, counters[i]));
	copy_files(recording, join(recording, port, "pkeys"), PKEYS_MAX);
	copy_gids(recording, port);
}

/* The inverse of rna_lanes_from_code(); absent for what has no code. */
static struct rna_value width_code(struct rna_value lanes)
{
	for (uint64_t code = 1; lanes.state == RNA_VALUE_OK && code <= 16; code *= 2)
		if (rna_lanes_from_code(code) == lanes.number)
			return rna_value_ok(code);
	return (struct rna_value){0};
}

static void record_verbs_port(struct recording *recording, const char *path,
			      const struct rna_verbs_port *port)
{
	if (port->error)
		note_unreadable(recording, path, port->error);
	write_directory(recording, path);
	write_number(recording, path, "active_speed", port->speed_code);
	write_number(recording, path, "active_width", width_code(port->lanes));
	write_number(recording, path, "active_mtu", port->active_mtu);
	write_number(recording, path, "max_mtu", port->max_mtu);
}

struct question {
	const struct recording *recording;
	const struct rna_device *device;
};

/* Sends a status, then what is known of each port. */
static void ask_verbs(int fd, const void *userdata)
{
	const struct question *question = userdata;
	const struct recording *recording = question->recording;
	size_t count = question->device->port_count;
	struct rna_verbs_port *ports = calloc(count + 1, sizeof(*ports));
	int status = -ENOMEM;

	if (ports)
		status = recording->backends->verbs->query_ports(recording->root, question->device,
								 ports);
	(void)send(fd, &status, sizeof(status), 0);
	for (size_t i = 0; status >= 0 && i < count; i++)
		(void)send(fd, &ports[i], sizeof(ports[i]), 0);
	free(ports);
}

static void receive_verbs(struct recording *recording, const struct rna_child *child,
			  const char *path, const struct rna_device *device)
{
	write_directory(recording, path);
	for (size_t i = 0; i < device->port_count; i++) {
		const char *name =
			need(recording, rna_arena_printf(recording->scratch, "%s/ports/%u", path,
							 device->ports[i]));
		struct rna_verbs_port port;

		if (name && receive(recording, child, name, &port, sizeof(port)) > 0)
			record_verbs_port(recording, name, &port);
	}
}

static void record_verbs(struct recording *recording, const struct rna_device *device)
{
	RNA_CLEANUP(rna_child_stop) struct rna_child child = {0};
	const char *path = join(recording, "recorded/verbs", device->name);
	int error;
	ssize_t len;

	if (!path)
		return;
	len = rna_child_start(&child, ask_verbs, &(struct question){recording, device});
	if (len == 0)
		len = receive(recording, &child, path, &error, sizeof(error));
	if (len < 0)
		error = (int)len;
	if (error < 0)
		note_unreadable(recording, path, error);
	else
		receive_verbs(recording, &child, path, device);
}

struct mad_question {
	const struct recording *recording;
	const struct rna_device *device;
	unsigned port;
};

struct mad_port_answer {
	int error;
	struct rna_mad_port port;
};

struct mad_counters_answer {
	int error;
	struct rna_mad_counters counters;
};

static void ask_mad_port(int fd, const void *userdata)
{
	const struct mad_question *question = userdata;
	const struct recording *recording = question->recording;
	struct mad_port_answer answer = {0};

	answer.error = recording->backends->mad->query_port(recording->root, question->device,
							    question->port, &answer.port);
	(void)send(fd, &answer, sizeof(answer), 0);
}

static void ask_mad_counters(int fd, const void *userdata)
{
	const struct mad_question *question = userdata;
	const struct recording *recording = question->recording;
	struct mad_counters_answer answer = {0};

	answer.error = recording->backends->mad->query_counters(recording->root, question->device,
								question->port, &answer.counters);
	(void)send(fd, &answer, sizeof(answer), 0);
}

/* The one message of a child that begins with its error. path: what it is about. 0 or that error.
 */
static int ask_child(const struct mad_question *question, struct recording *recording,
		     void (*work)(int fd, const void *userdata), const char *path, void *answer,
		     size_t size)
{
	RNA_CLEANUP(rna_child_stop) struct rna_child child = {0};
	ssize_t len = rna_child_start(&child, work, question);

	if (len == 0)
		len = receive(recording, &child, path, answer, size);
	return len < 0 ? (int)len : *(const int *)answer;
}

static void record_mad_counters(struct recording *recording, const struct mad_question *question,
				const char *path)
{
	struct mad_counters_answer answer;
	int error = path ? ask_child(question, recording, ask_mad_counters, path, &answer,
				     sizeof(answer))
			 : 0;

	if (!path || error == -ENETDOWN)
		return;
	if (error < 0) {
		note_unreadable(recording, path, error);
		return;
	}
	write_directory(recording, path);
	for (size_t i = 0; i < RNA_MAD_COUNTERS; i++)
		write_number(recording, path, answer.counters.items[i].file,
			     answer.counters.items[i].value);
}

static void record_mad_port(struct recording *recording, const struct mad_question *question,
			    const char *path)
{
	struct mad_port_answer answer;
	int error = ask_child(question, recording, ask_mad_port, path, &answer, sizeof(answer));

	if (error < 0) {
		note_unreadable(recording, path, error);
		return;
	}
	write_directory(recording, path);
	for (size_t i = 0; i < rna_mad_field_count; i++) {
		const char *value = (const char *)&answer.port + rna_mad_fields[i].offset;

		write_number(recording, path, rna_mad_fields[i].name,
			     *(const struct rna_value *)(const void *)value);
	}
}

/* Counters are asked for only where collectors would: that no file has them. */
static void record_mads(struct recording *recording, const struct rna_device *device)
{
	if (device->function == RNA_FUNCTION_SWITCH_MANAGEMENT)
		return;
	for (size_t i = 0; i < device->port_count; i++) {
		unsigned number = device->ports[i];
		const struct mad_question question = {recording, device, number};
		const char *path =
			need(recording, rna_arena_printf(recording->scratch, RNA_RECORDED_MAD,
							 device->name, number));
		const char *counters =
			need(recording, rna_arena_printf(recording->scratch, "%s/ports/%u/counters",
							 device->sysfs_path, number));

		if (!path || !counters ||
		    !recording->backends->mad->serves(recording->root, device, number))
			continue;
		record_mad_port(recording, &question, path);
		if (!rna_root_exists(recording->root, counters))
			record_mad_counters(recording, &question,
					    join(recording, path, "counters"));
	}
}

static void copy_pci_function(struct recording *recording, const char *directory)
{
	char **names;
	size_t count;

	if (is_recorded(recording, directory, "vendor"))
		return;
	COPY_ATTRIBUTES(recording, directory, pci_attributes);
	count = list(recording, directory, &names);
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], "driver") == 0 || strcmp(names[i], "physfn") == 0 ||
		    strncmp(names[i], "virtfn", strlen("virtfn")) == 0)
			copy_link(recording, directory, names[i]);
}

static void copy_netdev(struct recording *recording, const char *path, const char *name)
{
	const char *directory =
		path ? rna_root_realpath(recording->root, path, recording->scratch, NULL) : NULL;

	copy_link(recording, CLASS_NET, name);
	if (!directory || is_recorded(recording, directory, "type"))
		return;
	write_directory(recording, directory);
	COPY_ATTRIBUTES(recording, directory, netdev_attributes);
	copy_link(recording, directory, "master");
}

/* The interfaces of the function, also those that serve no port: what tells them apart is read. */
static void copy_netdevs_below(struct recording *recording, const char *parent)
{
	const char *directory = join(recording, parent, "net");
	char **names;
	size_t count = list(recording, directory, &names);

	for (size_t i = 0; i < count; i++)
		copy_netdev(recording, join(recording, directory, names[i]), names[i]);
}

/* As presence finds it: in the device's own path, else behind its link. */
static const char *find_pci_directory(struct recording *recording, const struct rna_device *device,
				      const char *parent)
{
	const char *path = device->sysfs_path, *address;
	size_t len;

	address = rna_pci_find_last(path, &len);
	if (!address && parent) {
		path = parent;
		address = rna_pci_find_last(path, &len);
	}
	if (!address)
		return NULL;
	return need(recording, rna_arena_printf(recording->scratch, "%.*s",
						(int)(address + len - path), path));
}

/* Of the VPD only what makes the function known: the rest is serial numbers. */
static void record_vpd(struct recording *recording, const struct rna_device *device,
		       const char *pci)
{
	static const char mark[] = RNA_PCI_SWITCH_MANAGEMENT_MARK;
	const char *path = join(recording, pci, "vpd");

	if (path && device->function == RNA_FUNCTION_SWITCH_MANAGEMENT)
		write_file(recording, path, mark, sizeof(mark) - 1);
}

/* What "device" leads to: a PCI function, or an auxiliary device below one. */
static void copy_parent(struct recording *recording, const struct rna_device *device)
{
	const char *link = join(recording, device->sysfs_path, "device");
	const char *parent =
		link ? rna_root_realpath(recording->root, link, recording->scratch, NULL) : NULL;
	const char *pci = link ? find_pci_directory(recording, device, parent) : NULL;

	if (pci) {
		copy_pci_function(recording, pci);
		record_vpd(recording, device, pci);
	}
	if (!parent)
		return;
	copy_link(recording, device->sysfs_path, "device");
	write_directory(recording, parent);
	COPY_ATTRIBUTES(recording, parent, parent_attributes);
	copy_netdevs_below(recording, parent);
}

static void copy_device(struct recording *recording, const struct rna_device *device)
{
	copy_link(recording, CLASS_INFINIBAND, device->name);
	write_directory(recording, device->sysfs_path);
	COPY_ATTRIBUTES(recording, device->sysfs_path, device_attributes);
	copy_counters(recording, device, join(recording, device->sysfs_path, "hw_counters"));
	for (size_t i = 0; i < device->port_count; i++)
		copy_port(recording, device, device->ports[i]);
	copy_parent(recording, device);
	record_verbs(recording, device);
	record_mads(recording, device);
	recording->result.devices++;
}

/* -- The machine ------------------------------------------------------------------------------- */

/* What no file of the node says. */
static void record_netlink(struct recording *recording, const struct rna_port_netdev *port)
{
	const char *netdev = disguise(recording, RNA_DISGUISE_NAME, port->netdev);
	const char *path =
		netdev ? need(recording, rna_arena_printf(recording->scratch, RNA_RECORDED_NETLINK,
							  port->device, port->port))
		       : NULL;

	if (path)
		write_file(recording, path, netdev, strlen(netdev));
}

static void try_netdevs(int fd, const void *userdata)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	int status = rna_collect_netdev(userdata, &part, NULL);

	(void)send(fd, &status, sizeof(status), 0);
}

/* A driver that keeps the lock of all interfaces makes whoever asks for one wait. */
static bool do_netdevs_answer(struct recording *recording, const struct rna_collect_input *input)
{
	RNA_CLEANUP(rna_child_stop) struct rna_child child = {0};
	int status;
	ssize_t len = rna_child_start(&child, try_netdevs, input);

	if (len == 0)
		len = receive(recording, &child, CLASS_NET, &status, sizeof(status));
	if (len < 0)
		note_unreadable(recording, CLASS_NET, (int)len);
	return len >= 0;
}

static void record_addresses(struct recording *recording, const struct rna_netdev *netdev)
{
	const char *name = disguise(recording, RNA_DISGUISE_NAME, netdev->name);
	const char *path = name ? join(recording, RNA_RECORDED_NETDEV, name) : NULL;

	if (!path)
		return;
	write_number(recording, path, "ipv4_addresses", netdev->ipv4_addresses);
	write_number(recording, path, "ipv6_addresses", netdev->ipv6_addresses);
}

/* The interfaces that serve a port, wherever they are, their masters and members of bonds. */
static int copy_serving_netdevs(struct recording *recording, const struct rna_collect_input *input)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	const struct rna_netdevs *netdevs;
	int status;

	if (!do_netdevs_answer(recording, input))
		return 0;
	status = rna_collect_netdev(input, &part, recording->error);
	if (status < 0)
		return status;
	netdevs = (const struct rna_netdevs *)part;
	for (size_t i = 0; i < netdevs->count; i++) {
		const char *name = netdevs->netdevs[i].name;

		copy_netdev(recording, join(recording, CLASS_NET, name), name);
		record_addresses(recording, &netdevs->netdevs[i]);
	}
	for (size_t i = 0; i < netdevs->port_count; i++)
		if (netdevs->ports[i].source == RNA_NETDEV_BY_NETLINK)
			record_netlink(recording, &netdevs->ports[i]);
	return recording->status;
}

static int copy_machine(struct recording *recording)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	struct rna_collect_input input = {.root = recording->root, .backends = recording->backends};
	int status = rna_collect_presence(&input, &part, recording->error);

	if (status < 0)
		return status;
	input.presence = (const struct rna_presence *)part;
	write_directory(recording, "sys");
	if (input.presence->stack)
		write_directory(recording, CLASS_INFINIBAND);
	for (size_t i = 0; i < input.presence->device_count; i++)
		copy_device(recording, &input.presence->devices[i]);
	status = copy_serving_netdevs(recording, &input);
	if (status == 0 && !rna_strbuf_ok(&recording->notes))
		fail(recording, -ENOMEM, NULL);
	if (recording->status == 0 && recording->notes.len > 0)
		write_file(recording, NOTES, recording->notes.data, recording->notes.len);
	return status < 0 ? status : recording->status;
}

/* Descriptor of a directory that is empty, made when it does not exist; or negative errno. */
static int open_directory(const char *path, struct rna_error *error)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *scratch = rna_arena_new(256);
	char **names;
	ssize_t count;
	int fd;

	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return rna_error_set(error, -errno, "%s: cannot make the directory", path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return rna_error_set(error, -errno, "%s: cannot open", path);
	count = scratch ? rna_root_list_fd(dup(fd), scratch, &names) : -ENOMEM;
	if (count > 0)
		count = -ENOTEMPTY;
	if (count == 0)
		return fd;
	(void)close(fd); /* nothing was written */
	return rna_error_set(error, (int)count, "%s: a recording wants a directory of its own",
			     path);
}

static void deinit(struct recording *recording)
{
	rna_close_p(&recording->fd);
	recording->disguise = rna_disguise_free(recording->disguise);
	recording->scratch = rna_arena_free(recording->scratch);
	rna_strbuf_deinit(&recording->notes);
}

int rna_record(const struct rna_root *root, const struct rna_record_options *options,
	       struct rna_record_result *ret, struct rna_error *error)
{
	bool keep_identity = options->keep_identity;
	RNA_CLEANUP(rna_backends_free_p) struct rna_backends *backends = rna_backends_new(root);
	RNA_CLEANUP(deinit)
	struct recording recording = {
		.root = root,
		.backends = backends,
		.options = options,
		.fd = -1,
		.disguise = keep_identity ? NULL : rna_disguise_new(),
		.scratch = rna_arena_new(64 * 1024),
		.error = error,
	};
	int status;

	if (!backends || !recording.scratch || (!keep_identity && !recording.disguise))
		return rna_error_set(error, -ENOMEM, "%s: cannot write", options->directory);
	recording.fd = open_directory(options->directory, error);
	if (recording.fd < 0)
		return recording.fd;
	status = copy_machine(&recording);
	if (status < 0)
		return status;
	*ret = recording.result;
	return 0;
}
