// SPDX-License-Identifier: Apache-2.0
/* The root of the tee; its backends are in tee_backends.c. */
#include "tee.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "contents.h"

enum { LINKS_MAX = 40 };

/* -- Places: what stands where, by real paths -------------------------------------------------- */

static void note_place(struct rna_tee *tee, int fd, const struct stat *stat, const char *path)
{
	struct rna_note note = {.path = path};
	char target[PATH_MAX];
	ssize_t len;

	if (S_ISLNK(stat->st_mode)) {
		len = readlinkat(fd, "", target, sizeof(target));
		if (len < 0)
			return;
		note.kind = RNA_NOTE_LINK;
		note.data = target;
		note.len = (size_t)len;
	} else if (!S_ISDIR(stat->st_mode)) {
		note.kind = RNA_NOTE_NODE;
		note.value = stat->st_mode & 0777;
	}
	rna_notes_add(tee->notes, &note);
}

/* Notes what stands at path, unless it is a file and files are not wanted. Its note, or NULL. */
static const struct rna_note *note_path(struct rna_tee *tee, const char *path, bool files)
{
	const struct rna_note *known = rna_notes_find(tee->notes, path);
	RNA_CLOSE int fd = -1;
	struct stat stat;

	if (known)
		return known;
	fd = rna_root_openat(tee->base, path, O_PATH | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &stat) < 0)
		return NULL;
	if (files || S_ISDIR(stat.st_mode) || S_ISLNK(stat.st_mode))
		note_place(tee, fd, &stat, path);
	return rna_notes_find(tee->notes, path);
}

static void cut(char *path)
{
	char *slash = strrchr(path, '/');

	*(slash ? slash : path) = '\0';
}

/* Goes on from path by one component. False: it does not fit. */
static bool append_component(char path[PATH_MAX], const char *name)
{
	size_t len = strlen(path);

	if (strcmp(name, "..") == 0)
		cut(path);
	else if (*name && strcmp(name, ".") != 0)
		return snprintf(path + len, PATH_MAX - len, "%s%s", len > 0 ? "/" : "", name) <
		       (int)(PATH_MAX - len);
	return true;
}

static bool is_file(const struct rna_note *note)
{
	return note->kind == RNA_NOTE_NODE || note->kind == RNA_NOTE_CONTENT;
}

/*
 * The way to path, link by link, with notes about all that stands on it; the last link is followed
 * on demand. ret: the real path. 0 or negative errno.
 */
static int resolve(struct rna_tee *tee, const char *path, bool follow, char ret[PATH_MAX])
{
	char rest[PATH_MAX], more[PATH_MAX], *at = rest, *name;
	unsigned links = 0;

	if (snprintf(rest, sizeof(rest), "%s", path) >= (int)sizeof(rest))
		return -ENAMETOOLONG;
	*ret = '\0';
	while ((name = strsep(&at, "/"))) {
		const struct rna_note *note;

		if (!append_component(ret, name))
			return -ENAMETOOLONG;
		note = *ret ? note_path(tee, ret, true) : NULL;
		if (note && at && *at && is_file(note))
			return -ENOTDIR; /* even if it has become a directory meanwhile */
		if (!note || note->kind != RNA_NOTE_LINK || (!at && !follow))
			continue;
		if (++links > LINKS_MAX)
			return -ELOOP;
		if (snprintf(more, sizeof(more), "%s/%s", note->data, at ? at : "") >=
		    (int)sizeof(more))
			return -ENAMETOOLONG;
		if (*note->data == '/')
			*ret = '\0';
		else
			cut(ret);
		at = strcpy(rest, more);
	}
	return 0;
}

/* -- Files ------------------------------------------------------------------------------------- */

/* asked: the path that a collector has for it; path: the real one. */
static void read_file(struct rna_tee *tee, const char *asked, const char *path)
{
	RNA_STRBUF struct rna_strbuf content = RNA_STRBUF_INIT;
	struct rna_note note = {.kind = RNA_NOTE_CONTENT, .path = path};
	char directory[PATH_MAX];

	cut(strcpy(directory, path));
	if (rna_notes_ask(tee->notes, path, directory, RNA_NOTE_ERROR) < 0)
		return;
	note.value = rna_contents_read(tee->base, asked, path, &content);
	tee->notes->no_memory |= !rna_strbuf_ok(&content);
	if (note.value < 0) {
		note.kind = RNA_NOTE_ERROR;
	} else {
		note.data = content.data;
		note.len = content.len;
	}
	rna_notes_add(tee->notes, &note);
}

static int make_file(const struct rna_note *note)
{
	int fd = memfd_create("content", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (pwrite(fd, note->data, note->len, 0) == (ssize_t)note->len)
		return fd;
	(void)close(fd); /* not published yet */
	return -ENOMEM;
}

static int open_file(struct rna_tee *tee, const char *asked, const char *path)
{
	const struct rna_note *note = rna_notes_find(tee->notes, path);

	if (!note || note->kind < RNA_NOTE_CONTENT) {
		read_file(tee, asked, path);
		note = rna_notes_find(tee->notes, path);
	}
	if (note && note->kind == RNA_NOTE_DIRECTORY)
		return -EISDIR; /* when it was noted */
	if (!note || note->kind < RNA_NOTE_CONTENT)
		return -ENOMEM;
	return note->kind == RNA_NOTE_CONTENT ? make_file(note) : note->value;
}

/* -- Directories ------------------------------------------------------------------------------- */

/* Directories and links in a directory that is listed: their names may be all that is wanted. */
static void note_entries(struct rna_tee *tee, const char *directory)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *scratch = rna_arena_new(8192);
	char **names, path[PATH_MAX];
	ssize_t count = scratch ? rna_root_list(tee->base, directory, scratch, &names) : -ENOMEM;

	for (ssize_t i = 0; i < count; i++)
		if (append_component(strcpy(path, directory), names[i]))
			(void)note_path(tee, path, false);
}

static int open_place(struct rna_tee *tee, const char *path, int flags)
{
	int fd = rna_root_openat(tee->base, path, flags);

	if (fd >= 0 && !(flags & O_PATH))
		note_entries(tee, path);
	if (fd < 0 && fd != -ENOENT && fd != -ENOTDIR)
		rna_notes_add(tee->notes, &(struct rna_note){RNA_NOTE_FAILURE, fd, path});
	return fd;
}

/* In a recording of a recording: the backends note what they read there. */
static bool is_an_answer(const char *path)
{
	return strncmp(path, "recorded/", strlen("recorded/")) == 0;
}

static int open_noted(void *userdata, const char *path, int flags)
{
	struct rna_tee *tee = userdata;
	char real[PATH_MAX];
	int status;

	if (is_an_answer(path))
		return rna_root_openat(tee->base, path, flags);
	status = resolve(tee, path, !(flags & O_NOFOLLOW), real);
	if (status < 0)
		return status;
	if (flags & (O_PATH | O_DIRECTORY))
		return open_place(tee, real, flags);
	return open_file(tee, path, real);
}

int rna_tee_init(struct rna_tee *tee, const struct rna_root *base,
		 const struct rna_backends *libraries, struct rna_notes *notes,
		 struct rna_error *error)
{
	int status;

	*tee = (struct rna_tee){.base = base, .libraries = libraries, .notes = notes};
	status = rna_root_open_through(base, open_noted, tee, &tee->root, error);
	rna_tee_init_backends(tee);
	return status;
}

void rna_tee_deinit(struct rna_tee *tee)
{
	tee->root = rna_root_close(tee->root);
}
