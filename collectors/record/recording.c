// SPDX-License-Identifier: Apache-2.0
/*
 * How a recording is made: reading in a child, writing below the directory, disguises on the way.
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
#include "recording.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* Silence that is worth a word. */
#define SOON RNA_USEC_PER_SEC

/* Beyond what any collector takes, so that what is too large for them stays too large. */
enum { CONTENT_MAX = 2 * RNA_ATTRIBUTE_MAX };

static const struct rna_recorded_attribute plain_file = {.kind = RNA_DISGUISE_NOTHING};
static const struct rna_recorded_attribute odd_file = {.kind = RNA_DISGUISE_TEXT};

/* -- Failures ---------------------------------------------------------------------------------- */

/* Keeps the first. what: a path of the recording, or NULL for all of it. */
void rna_recording_fail(struct rna_recording *recording, int error, const char *what)
{
	if (recording->status == 0)
		recording->status = rna_error_set(recording->error, error, "%s%s%s: cannot write",
						  recording->options->directory, what ? "/" : "",
						  what ? what : "");
}

/* Passes an allocation through. */
const char *rna_recording_need(struct rna_recording *recording, const char *text)
{
	if (!text)
		rna_recording_fail(recording, -ENOMEM, NULL);
	return text;
}

const char *rna_recording_join(struct rna_recording *recording, const char *directory,
			       const char *name)
{
	if (recording->status < 0)
		return NULL;
	return rna_recording_need(recording,
				  rna_arena_printf(recording->scratch, "%s/%s", directory, name));
}

const char *rna_recording_disguise(struct rna_recording *recording, enum rna_disguise_kind kind,
				   const char *text)
{
	if (recording->status < 0)
		return NULL;
	return rna_recording_need(recording, rna_disguise(recording->disguise, kind, text,
							  recording->scratch));
}

/* What is not there is normal and needs no note. */
void rna_recording_note(struct rna_recording *recording, const char *path, int error)
{
	const char *name = strerrorname_np(-error);

	path = rna_recording_disguise(recording, RNA_DISGUISE_NAME, path);
	if (error == -ENOENT || !path)
		return;
	rna_strbuf_printf(&recording->notes, "%s %s\n", path, name ? name : "?");
	recording->result.unreadable++;
}

/* What it is that nothing is heard of, and what becomes of it. */
static void tell(struct rna_recording *recording, const char *what, const char *text)
{
	const char *line = rna_arena_printf(recording->scratch, "%s: %s", what, text);

	if (line && recording->options->tell)
		recording->options->tell(line);
}

/* -- Writing: path as it is on the node, disguised on the way ---------------------------------- */

/* The directories above path, and path itself when it ends in a slash. */
static int make_directories(struct rna_recording *recording, const char *path)
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
static int create_file(struct rna_recording *recording, const char *path, const char *data,
		       size_t len)
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

void rna_recording_write_file(struct rna_recording *recording, const char *path, const char *data,
			      size_t len)
{
	int ret;

	path = rna_recording_disguise(recording, RNA_DISGUISE_NAME, path);
	if (!path)
		return;
	ret = create_file(recording, path, data, len);
	if (ret < 0)
		rna_recording_fail(recording, ret, path);
	else
		recording->result.files += (size_t)ret;
}

void rna_recording_write_link(struct rna_recording *recording, const char *path, const char *target)
{
	int error;

	path = rna_recording_disguise(recording, RNA_DISGUISE_NAME, path);
	target = rna_recording_disguise(recording, RNA_DISGUISE_NAME, target);
	if (!path || !target)
		return;
	error = make_directories(recording, path);
	if (error == 0 && symlinkat(target, recording->fd, path) < 0 && errno != EEXIST)
		error = -errno;
	if (error < 0)
		rna_recording_fail(recording, error, path);
}

void rna_recording_write_directory(struct rna_recording *recording, const char *path)
{
	int error;

	path = rna_recording_disguise(recording, RNA_DISGUISE_NAME, path);
	path = path ? rna_recording_join(recording, path, "") : NULL;
	if (!path)
		return;
	error = make_directories(recording, path);
	if (error < 0)
		rna_recording_fail(recording, error, path);
}

void rna_recording_write_number(struct rna_recording *recording, const char *directory,
				const char *name, struct rna_value value)
{
	const char *path = rna_recording_join(recording, directory, name);
	char text[32];
	int len;

	if (!path || value.state != RNA_VALUE_OK)
		return;
	len = snprintf(text, sizeof(text), "%ju\n", (uintmax_t)value.number);
	rna_recording_write_file(recording, path, text, (size_t)len);
}

/* -- Reading, in a child ----------------------------------------------------------------------- */

/* Its next message: the length, or negative errno. what: it is about. */
ssize_t rna_recording_receive(struct rna_recording *recording, const struct rna_child *child,
			      const char *what, void *buffer, size_t size)
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
	const struct rna_recorded_files *files = userdata;
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
static const char *disguise_content(struct rna_recording *recording, enum rna_disguise_kind kind,
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
	text = rna_recording_need(recording, rna_arena_printf(recording->scratch, "%.*s",
							      (int)text_len, content));
	text = text ? rna_recording_disguise(recording, kind, text) : NULL;
	if (!text)
		return NULL;
	ret = rna_recording_need(recording, rna_arena_printf(recording->scratch, "%s%s", text,
							     content + text_len));
	*len = ret ? strlen(ret) : 0;
	return ret;
}

/* A directory stands for a file that cannot be read: absent would be something else. */
static void write_content(struct rna_recording *recording, const struct rna_recorded_file *file,
			  struct content *content)
{
	const struct rna_recorded_attribute *attribute = file->attribute;
	const char *data;
	size_t size;

	if (content->len == -ENOENT || (content->len == -EINVAL && attribute->may_be_invalid))
		return;
	if (content->len < 0) {
		rna_recording_note(recording, file->path, (int)content->len);
		rna_recording_write_directory(recording, file->path);
		return;
	}
	size = (size_t)content->len;
	content->data[size] = '\0';
	data = disguise_content(recording, attribute->kind, content->data, &size);
	if (data)
		rna_recording_write_file(recording, file->path, data, size);
}

/* Behind a file that is not answered the others are not asked for. */
void rna_recording_copy(struct rna_recording *recording, const struct rna_recorded_files *files)
{
	RNA_CLEANUP(rna_child_stop) struct rna_child child = {0};
	struct content content;
	ssize_t status;

	if (files->count == 0 || recording->status < 0)
		return;
	status = rna_child_start(&child, send_contents, files);
	for (size_t i = 0; i < files->count && recording->status == 0; i++) {
		const struct rna_recorded_file *file = &files->items[i];

		if (status >= 0)
			status = rna_recording_receive(recording, &child, file->path, &content,
						       sizeof(content));
		if (status < 0)
			content.len = status;
		write_content(recording, file, &content);
	}
}

/* Room for count files; none without memory. */
struct rna_recorded_files rna_recording_new_files(struct rna_recording *recording, size_t count)
{
	struct rna_recorded_files files = {
		.root = recording->root,
		.items = rna_arena_array(recording->scratch, count, sizeof(*files.items)),
	};

	if (!files.items)
		rna_recording_fail(recording, -ENOMEM, NULL);
	return files;
}

void rna_recording_add_file(struct rna_recording *recording, struct rna_recorded_files *files,
			    const char *path, const struct rna_recorded_attribute *attribute)
{
	if (recording->status == 0 && path)
		files->items[files->count++] = (struct rna_recorded_file){path, attribute};
}

static void copy_file(struct rna_recording *recording, const char *path,
		      const struct rna_recorded_attribute *attribute)
{
	struct rna_recorded_file file = {path, attribute};

	rna_recording_copy(recording, &(struct rna_recorded_files){recording->root, 1, &file});
}

void rna_recording_copy_file(struct rna_recording *recording, const char *path)
{
	copy_file(recording, path, &plain_file);
}

void rna_recording_copy_attributes(struct rna_recording *recording, const char *directory,
				   const struct rna_recorded_attribute *attributes, size_t count)
{
	struct rna_recorded_files files = rna_recording_new_files(recording, count);

	for (size_t i = 0; i < count; i++)
		rna_recording_add_file(recording, &files,
				       rna_recording_join(recording, directory, attributes[i].name),
				       &attributes[i]);
	rna_recording_copy(recording, &files);
}

void rna_recording_copy_link(struct rna_recording *recording, const char *directory,
			     const char *name)
{
	const char *path = rna_recording_join(recording, directory, name);
	char target[RNA_ATTRIBUTE_MAX];

	if (!path || rna_root_readlink(recording->root, path, target, sizeof(target)) < 0)
		return; /* not there, or a directory: then what is in it is copied */
	rna_recording_write_link(recording, path, target);
}

/* Its entries, none when it cannot be listed. */
size_t rna_recording_list(struct rna_recording *recording, const char *directory, char ***ret)
{
	ssize_t count;

	if (!directory)
		return 0;
	count = rna_root_list(recording->root, directory, recording->scratch, ret);
	if (count == -ENOMEM)
		rna_recording_fail(recording, -ENOMEM, NULL);
	else if (count == -ENOTDIR)
		copy_file(recording, directory, &odd_file); /* then it is odd there, too */
	else if (count < 0)
		rna_recording_note(recording, directory, (int)count);
	return count < 0 ? 0 : (size_t)count;
}

/* All files of a directory, no more than max of them. */
void rna_recording_copy_files(struct rna_recording *recording, const char *directory, size_t max)
{
	char **names;
	size_t count = rna_recording_list(recording, directory, &names);
	struct rna_recorded_files files = rna_recording_new_files(recording, count);

	if (count > 0)
		rna_recording_write_directory(recording, directory);
	for (size_t i = 0; i < count && i < max; i++)
		rna_recording_add_file(recording, &files,
				       rna_recording_join(recording, directory, names[i]),
				       &plain_file);
	rna_recording_copy(recording, &files);
}

/* Has somebody copied from this directory already? Devices share functions and interfaces. */
bool rna_recording_has(struct rna_recording *recording, const char *directory, const char *name)
{
	const char *path = rna_recording_join(recording, directory, name);
	const char *to = path ? rna_recording_disguise(recording, RNA_DISGUISE_NAME, path) : NULL;

	return to && faccessat(recording->fd, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}
