// SPDX-License-Identifier: Apache-2.0
#include "recording.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "rna/base/beneath.h"
#include "rna/base/characters.h"
#include "rna/base/file.h"

#include "contents.h"

#define UNREADABLE "recorded/unreadable"

struct writing {
	int fd;                        /* the directory */
	struct rna_disguise *disguise; /* NULL: identity is kept */
	struct rna_arena *scratch;
	struct rna_strbuf unreadable; /* lines */
	struct rna_record_result *result;
};

static void deinit(struct writing *writing)
{
	writing->disguise = rna_disguise_free(writing->disguise);
	writing->scratch = rna_arena_free(writing->scratch);
	rna_strbuf_deinit(&writing->unreadable);
}

/* -- Files; paths are those of the recording, 0 or negative errno ------------------------------ */

/* A new file: the rights are those of the descriptor, so no other file can get them. */
static int write_file(const struct writing *writing, const char *path, int mode, const char *data,
		      size_t len)
{
	const char *name;
	RNA_CLOSE int directory = rna_make_beneath(writing->fd, path, &name);
	int error, fd;

	if (directory < 0)
		return directory;
	fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	error = rna_file_write_all(fd, data, len);
	if (error == 0 && mode != 0644 && fchmod(fd, (mode_t)mode) < 0)
		error = -errno;
	if (close(fd) < 0 && error == 0)
		error = -errno;
	return error;
}

static int write_directory(const struct writing *writing, const char *path)
{
	const char *name;
	RNA_CLOSE int directory = rna_make_beneath(writing->fd, path, &name);
	RNA_CLOSE int made = -1;

	if (directory < 0)
		return directory;
	if (mkdirat(directory, name, 0755) == 0)
		return 0;
	if (errno != EEXIST)
		return -errno;
	made = rna_open_beneath(directory, name, O_PATH | O_DIRECTORY); /* as above another note */
	return made < 0 ? made : 0;
}

static int write_link(const struct writing *writing, const char *path, const char *target)
{
	const char *name;
	RNA_CLOSE int directory = rna_make_beneath(writing->fd, path, &name);

	if (directory < 0)
		return directory;
	target = rna_disguise(writing->disguise, RNA_DISGUISE_NAME, target, writing->scratch);
	if (!target)
		return -ENOMEM;
	return symlinkat(target, directory, name) < 0 ? -errno : 0;
}

/* -- Notes ------------------------------------------------------------------------------------- */

static int write_content(const struct writing *writing, const char *path,
			 const struct rna_note *note)
{
	RNA_STRBUF struct rna_strbuf content = RNA_STRBUF_INIT;
	int status = 0;

	if (rna_contents_are_missing(note))
		return 0;
	writing->result->files++;
	if (!writing->disguise)
		return write_file(writing, path, 0644, note->data, note->len);
	status = rna_contents_disguise(writing->disguise, note, &content);
	return status < 0 ? status : write_file(writing, path, 0644, content.data, content.len);
}

static void list_unreadable(struct writing *writing, const char *path, int error)
{
	const char *name = strerrorname_np(-error);

	rna_strbuf_add_plain(&writing->unreadable, path, strlen(path), NULL); /* a line for each */
	rna_strbuf_printf(&writing->unreadable, " %s\n", name ? name : "?");
	writing->result->unreadable++;
}

static int write_note(struct writing *writing, const char *path, const struct rna_note *note)
{
	if (!rna_path_is_plain(path)) {
		list_unreadable(writing, path, -EINVAL);
		return 0;
	}
	switch (note->kind) {
	case RNA_NOTE_DIRECTORY:
		return write_directory(writing, path);
	case RNA_NOTE_NODE:
		return write_file(writing, path, note->value, "", 0);
	case RNA_NOTE_LINK:
		return write_link(writing, path, note->data);
	case RNA_NOTE_CONTENT:
		return write_content(writing, path, note);
	case RNA_NOTE_ERROR:
		if (rna_contents_are_missing(note))
			return 0;
		list_unreadable(writing, path, note->value);
		return write_directory(writing, path);
	default: /* a failure */
		list_unreadable(writing, path, note->value);
		return 0;
	}
}

static int write_notes(struct writing *writing, const struct rna_notes *notes, const char **ret)
{
	int status = 0;

	for (size_t i = 0; status == 0 && i < notes->count; i++) {
		const struct rna_note *note = notes->items[i];

		if (rna_contents_are_left_out(note->path))
			continue;
		*ret = rna_disguise(writing->disguise, RNA_DISGUISE_NAME, note->path,
				    writing->scratch);
		status = *ret ? write_note(writing, *ret, note) : -ENOMEM;
	}
	if (status == 0 && writing->unreadable.len > 0) {
		*ret = UNREADABLE;
		status = write_file(writing, *ret, 0644, writing->unreadable.data,
				    writing->unreadable.len);
		writing->result->files++;
	}
	return rna_strbuf_ok(&writing->unreadable) ? status : -ENOMEM;
}

/*
 * Opens the directory, and no link to one: in a directory like /tmp another user may have placed
 * it. Behind a slash a link would be followed.
 */
static int open_directory(const char *path, struct rna_error *error)
{
	RNA_FREE char *name = strdup(path);
	size_t len = strlen(path);
	int fd;

	if (!name)
		return rna_error_set(error, -ENOMEM, "%s: cannot open", path);
	while (len > 1 && name[len - 1] == '/')
		name[--len] = '\0';
	if (mkdir(name, 0755) < 0 && errno != EEXIST)
		return rna_error_set(error, -errno, "%s: cannot make the directory", path);
	fd = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	return rna_error_set(error, -errno, "%s: cannot open as a directory that is no link", path);
}

int rna_recording_open(const char *path, struct rna_error *error)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *scratch = rna_arena_new(256);
	int fd = open_directory(path, error);
	char **names;
	ssize_t count;

	if (fd < 0)
		return fd;
	count = scratch ? rna_root_list_fd(dup(fd), scratch, &names) : -ENOMEM;
	if (count > 0)
		count = -ENOTEMPTY;
	if (count == 0)
		return fd;
	(void)close(fd); /* nothing was written */
	return rna_error_set(error, (int)count, "%s: a recording wants a directory of its own",
			     path);
}

int rna_recording_write(const struct rna_notes *notes, const struct rna_record_options *options,
			int fd, struct rna_record_result *ret, struct rna_error *error)
{
	RNA_CLEANUP(deinit)
	struct writing writing = {
		.fd = fd,
		.disguise = options->keep_identity ? NULL : rna_disguise_new(),
		.scratch = rna_arena_new(64 * 1024),
		.result = ret,
	};
	const char *path = NULL;
	int status = -ENOMEM;

	if (writing.scratch && (writing.disguise || options->keep_identity))
		status = write_notes(&writing, notes, &path);
	if (status < 0)
		return rna_error_set(error, status, "%s%s%s: cannot write", options->directory,
				     path ? "/" : "", path ? path : "");
	return 0;
}
