// SPDX-License-Identifier: Apache-2.0
#include "web_use.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "rna/base/log.h"

#include "web_config.h"

enum { TREE = 8 * 1024 }; /* bytes that a common file takes, certificates included */

/* Times of files come by the tick: within it one can change twice and look the same. */
#define TICK RNA_USEC_PER_SEC

/* What tells one content of a file from another; zeroed while there is none. */
struct stamp {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec modified, changed;
};

struct rna_web_use {
	char *path;
	char *paths[RNA_WEB_FILES]; /* that the last attempt read, or wanted to */
	struct stamp stamps[RNA_WEB_FILES];
	rna_usec looked; /* when that was */
	bool unsure;     /* a file was as young as a tick then */
	struct rna_web *web;
	struct rna_error error; /* of the last attempt; its code is 0 where that made web */
	rna_usec loaded;
};

static struct stamp stamp_of(const char *path)
{
	struct stat info;

	if (!path || stat(path, &info) < 0)
		return (struct stamp){0};
	return (struct stamp){info.st_dev, info.st_ino, info.st_size, info.st_mtim, info.st_ctim};
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool same_stamp(const struct stamp *a, const struct stamp *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       same_time(&a->modified, &b->modified) && same_time(&a->changed, &b->changed);
}

static bool has_changed(const struct rna_web_use *use)
{
	for (size_t i = 0; i < RNA_WEB_FILES; i++) {
		struct stamp stamp = stamp_of(use->paths[i]);

		if (!same_stamp(&stamp, &use->stamps[i]))
			return true;
	}
	return false;
}

static bool is_young(const struct stamp *stamp, rna_usec now)
{
	return (rna_usec)(stamp->changed.tv_sec + 1) * RNA_USEC_PER_SEC + TICK > now;
}

/* Without memory a file is not looked at again before the next reload. */
static void note_files(struct rna_web_use *use, const struct rna_web_options *options, rna_usec now)
{
	use->looked = now;
	use->unsure = false;
	for (size_t i = 0; i < RNA_WEB_FILES; i++) {
		free(use->paths[i]);
		use->paths[i] = options->files[i] ? strdup(options->files[i]) : NULL;
		use->stamps[i] = stamp_of(use->paths[i]);
		use->unsure |= use->paths[i] && is_young(&use->stamps[i], now);
	}
}

static int load(struct rna_web_use *use, rna_usec now, struct rna_web **ret,
		struct rna_error *error)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(TREE);
	struct rna_web_options options;
	int status;

	if (!arena)
		return rna_error_set(error, -ENOMEM, "%s", use->path);
	status = rna_web_config_read(use->path, arena, &options, error);
	note_files(use, &options, now);
	return status < 0 ? status : rna_web_new(&options, RNA_TAKE(arena), ret, error);
}

/* Whether a listener speaks TLS is decided when it is opened. */
static int check_kind(const struct rna_web_use *use, const struct rna_web *web,
		      struct rna_error *error)
{
	bool tls = rna_web_options(web)->tls;

	if (tls == rna_web_options(use->web)->tls)
		return 0;
	return rna_error_say(error, -EBUSY,
			     "%s: tls_server_config has %s, which takes a reload of the agent "
			     "(SIGHUP)",
			     use->path, tls ? "come" : "gone");
}

static int refresh(struct rna_web_use *use, rna_usec now, struct rna_error *error)
{
	RNA_CLEANUP(rna_web_unref_p) struct rna_web *web = NULL;
	int status;

	status = load(use, now, &web, error);
	if (status >= 0)
		status = check_kind(use, web, error);
	if (status < 0)
		return status;
	(void)rna_web_unref(use->web);
	use->web = RNA_TAKE(web);
	use->loaded = now;
	return 0;
}

struct rna_web *rna_web_use_newest(struct rna_web_use *use, rna_usec now)
{
	struct rna_error error = {0};
	bool changed;

	if (!use)
		return NULL;
	changed = has_changed(use);
	if (!changed && (!use->unsure || rna_usec_since(use->looked, now) < TICK))
		return use->web;
	(void)refresh(use, now, &error); /* error has its code, too */
	if (error.code < 0 && strcmp(error.text, use->error.text) != 0)
		rna_log_error("web configuration not reloaded, the old one stays: %s", error.text);
	else if (error.code == 0 && (changed || use->error.code < 0))
		rna_log_notice("web configuration reloaded: %s", use->path);
	use->error = error;
	return use->web;
}

int rna_web_use_open(const char *path, rna_usec now, struct rna_web_use **ret,
		     struct rna_error *error)
{
	RNA_CLEANUP(rna_web_use_close_p) struct rna_web_use *use = calloc(1, sizeof(*use));
	int status;

	if (!use)
		return rna_error_set(error, -ENOMEM, "%s", path);
	use->path = strdup(path);
	if (!use->path)
		return rna_error_set(error, -ENOMEM, "%s", path);
	status = load(use, now, &use->web, error);
	if (status < 0)
		return status;
	use->loaded = now;
	*ret = RNA_TAKE(use);
	return 0;
}

struct rna_web_use *rna_web_use_close(struct rna_web_use *use)
{
	if (!use)
		return NULL;
	for (size_t i = 0; i < RNA_WEB_FILES; i++)
		free(use->paths[i]);
	(void)rna_web_unref(use->web);
	free(use->path);
	free(use);
	return NULL;
}

bool rna_web_use_same_kind(const struct rna_web_use *a, const struct rna_web_use *b)
{
	if (!a || !b)
		return a == b;
	return rna_web_options(a->web)->tls == rna_web_options(b->web)->tls;
}

struct rna_web_status rna_web_use_status(const struct rna_web_use *use)
{
	if (!use)
		return (struct rna_web_status){0};
	return (struct rna_web_status){
		.used = true,
		.ok = use->error.code == 0,
		.loaded = use->loaded,
		.certificate_end = rna_web_certificate_end(use->web),
	};
}
