// SPDX-License-Identifier: Apache-2.0
#include "notes.h"

#include <errno.h>
#include <search.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

struct silent {
	struct silent *next;
	const char *unit;
};

/* In front of each note of the log; its path and its data follow. */
struct head {
	enum rna_note_kind kind;
	int value;
	size_t path_len;
	size_t len;
};

int rna_notes_init(struct rna_notes *notes)
{
	*notes = (struct rna_notes){.arena = rna_arena_new(256 * 1024), .log = -1};
	if (!notes->arena)
		return -ENOMEM;
	notes->log = memfd_create("notes", MFD_CLOEXEC);
	return notes->log < 0 ? -errno : 0;
}

static void keep_it(void *note)
{
	(void)note; /* the arena has it */
}

void rna_notes_deinit(struct rna_notes *notes)
{
	tdestroy(notes->by_path, keep_it);
	free(notes->items);
	rna_close_p(&notes->log);
	notes->arena = rna_arena_free(notes->arena);
}

static int compare_paths(const void *a, const void *b)
{
	const struct rna_note *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static struct rna_note *find(const struct rna_notes *notes, const char *path)
{
	struct rna_note wanted = {.path = path};
	struct rna_note **found = tfind(&wanted, &notes->by_path, compare_paths);

	return found ? *found : NULL;
}

const struct rna_note *rna_notes_find(const struct rna_notes *notes, const char *path)
{
	return find(notes, path);
}

/* -- The log ----------------------------------------------------------------------------------- */

static void log_note(struct rna_notes *notes, const struct rna_note *note)
{
	struct head head = {note->kind, note->value, strlen(note->path), note->len};
	const struct iovec parts[] = {
		{&head, sizeof(head)},
		{(char *)(uintptr_t)note->path, head.path_len},
		{(char *)(uintptr_t)note->data, head.len},
	};
	size_t size = sizeof(head) + head.path_len + head.len;

	notes->no_memory |= TEMP_FAILURE_RETRY(writev(notes->log, parts, RNA_ARRAY_SIZE(parts))) !=
			    (ssize_t)size;
}

static ssize_t read_log(struct rna_notes *notes, void *buffer, size_t size, off_t at)
{
	ssize_t len = TEMP_FAILURE_RETRY(pread(notes->log, buffer, size, at));

	notes->error = len < 0 ? -errno : 0;
	return len;
}

/* Text of the log, in the arena. False: it is not all there, or no memory. */
static bool take_text(struct rna_notes *notes, off_t *at, size_t len, const char **ret)
{
	char *text = rna_arena_alloc(notes->arena, len + 1);

	notes->no_memory |= !text;
	if (!text || read_log(notes, text, len, *at) != (ssize_t)len)
		return false;
	text[len] = '\0';
	*at += (off_t)len;
	*ret = text;
	return true;
}

/* The next one; NULL: there is no more, or it is not whole. */
static struct rna_note *take_note(struct rna_notes *notes)
{
	struct rna_note *note;
	struct head head;
	off_t at = notes->taken + (off_t)sizeof(head);

	if (read_log(notes, &head, sizeof(head), notes->taken) != (ssize_t)sizeof(head))
		return NULL;
	note = rna_arena_alloc(notes->arena, sizeof(*note));
	notes->no_memory |= !note;
	if (!note || !take_text(notes, &at, head.path_len, &note->path) ||
	    !take_text(notes, &at, head.len, &note->data))
		return NULL;
	note->kind = head.kind;
	note->value = head.value;
	note->len = head.len;
	notes->taken = at;
	return note;
}

/* -- The notes --------------------------------------------------------------------------------- */

static void insert(struct rna_notes *notes, struct rna_note *note)
{
	if (notes->count == notes->size) {
		size_t size = notes->size ? 2 * notes->size : 1024;
		struct rna_note **more =
			reallocarray(notes->items, size, sizeof(struct rna_note *));

		notes->no_memory |= !more;
		if (!more)
			return;
		notes->items = more;
		notes->size = size;
	}
	if (tsearch(note, &notes->by_path, compare_paths))
		notes->items[notes->count++] = note;
	else
		notes->no_memory = true;
}

/*
 * What was read replaces that it exists. A directory that has become a file meanwhile stays one,
 * because there may be notes of what is in it.
 */
static bool replaces(const struct rna_note *note, const struct rna_note *known)
{
	return known->kind < RNA_NOTE_LINK && note->kind > RNA_NOTE_LINK &&
	       !(known->kind == RNA_NOTE_DIRECTORY && note->kind == RNA_NOTE_CONTENT);
}

/* note: in the arena. */
static void add(struct rna_notes *notes, struct rna_note *note)
{
	struct rna_note *known = find(notes, note->path);

	if (!known)
		insert(notes, note);
	else if (replaces(note, known))
		*known = *note;
}

void rna_notes_add(struct rna_notes *notes, const struct rna_note *note)
{
	struct rna_note *copy = rna_arena_alloc(notes->arena, sizeof(*copy));
	char *path = rna_arena_strdup(notes->arena, note->path);
	char *data = rna_arena_alloc(notes->arena, note->len + 1);

	if (!copy || !path || !data) {
		notes->no_memory = true;
		return;
	}
	if (note->len > 0)
		memcpy(data, note->data, note->len);
	data[note->len] = '\0';
	*copy = (struct rna_note){note->kind, note->value, path, data, note->len};
	if (notes->writes)
		log_note(notes, copy);
	if (note->kind < RNA_NOTE_QUESTION)
		add(notes, copy);
}

int rna_notes_ask(struct rna_notes *notes, const char *path, const char *unit,
		  enum rna_note_kind kind)
{
	for (const struct silent *s = notes->silent; s; s = s->next)
		if (strcmp(s->unit, unit) == 0) {
			rna_notes_add(notes, &(struct rna_note){kind, -ETIMEDOUT, path});
			return -ETIMEDOUT;
		}
	log_note(notes, &(struct rna_note){RNA_NOTE_QUESTION, (int)kind, path, unit, strlen(unit)});
	return 0;
}

void rna_notes_take(struct rna_notes *notes)
{
	struct rna_note *note;

	while ((note = take_note(notes))) {
		notes->question = note->kind == RNA_NOTE_QUESTION ? note : NULL;
		if (note->kind == RNA_NOTE_END)
			notes->end = note;
		else if (note->kind < RNA_NOTE_QUESTION)
			add(notes, note);
	}
}

void rna_notes_give_up(struct rna_notes *notes, int error)
{
	const struct rna_note *question = notes->question;
	struct silent *silent = rna_arena_alloc(notes->arena, sizeof(*silent));

	/* Half a note may be behind those that were taken. */
	notes->no_memory |= !silent || ftruncate(notes->log, notes->taken) < 0 ||
			    lseek(notes->log, notes->taken, SEEK_SET) < 0;
	if (!silent)
		return;
	*silent = (struct silent){notes->silent, question->data};
	notes->silent = silent;
	rna_notes_add(notes, &(struct rna_note){(enum rna_note_kind)question->value, error,
						question->path});
	notes->question = NULL;
}
