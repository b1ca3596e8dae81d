// SPDX-License-Identifier: Apache-2.0
/*
 * Both sides share one struct, which the last of them frees. In it is place for one list: the
 * thread exchanges it for a newer one, the reader for none.
 */
#include "member_source.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "rna/base/thread.h"

#include "dns.h"

#define FILE_PERIOD RNA_USEC_PER_SEC
#define DNS_MIN     (30 * RNA_USEC_PER_SEC)
#define DNS_MAX     (300 * RNA_USEC_PER_SEC)

enum {
	STACK = 512 << 10, /* a resolver */
	ARENA = 16 << 10,
};

struct rna_member_source {
	atomic_uint users;
	atomic_bool quit;
	_Atomic(struct rna_member_list *) newest;
	int wake;  /* eventfd: the thread is to end */
	int ready; /* eventfd: there is a list */
	/* the thread's own: */
	enum rna_member_source_kind kind;
	char *place;
	struct stat read; /* of the file as it was read */
	bool known;       /* the file was read or could not be */
};

/* What a look found. */
struct look {
	struct rna_member_list *list; /* NULL: nothing new */
	rna_usec wait;                /* until the next look */
};

static void let_go(struct rna_member_source *source)
{
	if (atomic_fetch_sub(&source->users, 1) != 1)
		return;
	(void)rna_member_list_free(atomic_load(&source->newest));
	if (source->wake >= 0)
		(void)close(source->wake);
	if (source->ready >= 0)
		(void)close(source->ready);
	free(source->place);
	free(source);
}

struct rna_member_list *rna_member_list_free(struct rna_member_list *list)
{
	if (list)
		(void)rna_arena_free(list->arena);
	return NULL;
}

static struct rna_member_list *new_list(void)
{
	struct rna_arena *arena = rna_arena_new(ARENA);
	struct rna_member_list *list = arena ? rna_arena_alloc(arena, sizeof(*list)) : NULL;

	if (!list) {
		(void)rna_arena_free(arena);
		return NULL;
	}
	list->arena = arena;
	return list;
}

static void finish(struct rna_member_list *list, int status, const struct rna_error *error)
{
	list->looked = rna_clock_now().realtime;
	if (status == 0)
		return;
	list->members = (struct rna_members){0};
	(void)snprintf(list->error, sizeof(list->error), "%s", error->text);
}

/* -- Files ------------------------------------------------------------------------------------- */

static bool has_changed(struct rna_member_source *source)
{
	struct stat now = {0};

	(void)stat(source->place, &now); /* what is missing is all zero */
	if (source->known && now.st_ino == source->read.st_ino &&
	    now.st_dev == source->read.st_dev && now.st_size == source->read.st_size &&
	    now.st_mtim.tv_sec == source->read.st_mtim.tv_sec &&
	    now.st_mtim.tv_nsec == source->read.st_mtim.tv_nsec)
		return false;
	source->read = now;
	source->known = true;
	return true;
}

static void look_at_file(struct rna_member_source *source, struct look *look)
{
	struct rna_error error = {0};

	look->wait = FILE_PERIOD;
	if (!has_changed(source))
		return;
	look->list = new_list();
	if (look->list)
		finish(look->list,
		       rna_members_read(source->place, look->list->arena, &look->list->members,
					&error),
		       &error);
}

/* -- DNS --------------------------------------------------------------------------------------- */

rna_usec rna_member_source_dns_wait(rna_usec ttl, uint64_t random)
{
	rna_usec bounded = ttl < DNS_MIN ? DNS_MIN : ttl > DNS_MAX ? DNS_MAX : ttl;
	rna_usec wait = bounded - bounded / 5 + random % (2 * bounded / 5 + 1);

	return wait < DNS_MIN ? DNS_MIN : wait > DNS_MAX ? DNS_MAX : wait;
}

static uint64_t draw(void)
{
	uint64_t random = 0;

	(void)!getrandom(&random, sizeof(random), 0); /* without it the wait is a shorter one */
	return random;
}

static void look_at_dns(struct rna_member_source *source, struct look *look)
{
	struct rna_dns_place place;
	struct rna_error error = {0};
	rna_usec ttl = 0;
	int status = -EINVAL;

	look->list = new_list();
	if (look->list && rna_dns_place_parse(source->place, &place))
		status =
			rna_dns_look(&place, look->list->arena, &look->list->members, &ttl, &error);
	if (look->list)
		finish(look->list, status, &error);
	look->wait = rna_member_source_dns_wait(status == 0 ? ttl : 0, draw());
}

/* -- The thread -------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*look)(struct rna_member_source *source, struct look *look);
} kinds[RNA_MEMBERS_KIND_COUNT] = {
	[RNA_MEMBERS_FILE] = {"file", look_at_file},
	[RNA_MEMBERS_DNS] = {"dns", look_at_dns},
};

const char *rna_member_source_kind_name(enum rna_member_source_kind kind)
{
	return kinds[kind].name;
}

static void signal_fd(int fd)
{
	const uint64_t one = 1;

	(void)!write(fd, &one, sizeof(one)); /* full means: it is signalled already */
}

static void hand_over(struct rna_member_source *source, struct rna_member_list *list)
{
	(void)rna_member_list_free(atomic_exchange(&source->newest, list));
	signal_fd(source->ready);
}

static void rest(const struct rna_member_source *source, rna_usec wait)
{
	struct pollfd waiting = {.fd = source->wake, .events = POLLIN};

	(void)poll(&waiting, 1, (int)(wait / RNA_USEC_PER_MSEC));
}

static void *look_again(void *userdata)
{
	struct rna_member_source *source = userdata;

	while (!atomic_load(&source->quit)) {
		struct look look = {0};

		kinds[source->kind].look(source, &look);
		if (look.list)
			hand_over(source, look.list);
		rest(source, look.wait);
	}
	let_go(source);
	return NULL;
}

/* -- The reader's side ------------------------------------------------------------------------- */

static struct rna_member_source *new_source(const struct rna_member_source_options *options)
{
	struct rna_member_source *source = calloc(1, sizeof(*source));

	if (!source)
		return NULL;
	atomic_store(&source->users, 1);
	source->kind = options->kind;
	source->place = strdup(options->place);
	source->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	source->ready = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (source->place && source->wake >= 0 && source->ready >= 0)
		return source;
	let_go(source);
	return NULL;
}

int rna_member_source_start(const struct rna_member_source_options *options,
			    struct rna_member_source **ret, struct rna_error *error)
{
	struct rna_member_source *source = new_source(options);
	pthread_t thread;
	int status = -ENOMEM;

	if (source) {
		atomic_store(&source->users, 2);
		status = rna_thread_start(&thread, STACK, "rna-probe-list", look_again, source);
		if (status < 0) {
			atomic_store(&source->users, 1);
			let_go(source);
		}
	}
	if (status < 0)
		return rna_error_set(error, status, "cannot look for members");
	(void)pthread_detach(thread);
	*ret = source;
	return 0;
}

struct rna_member_source *rna_member_source_stop(struct rna_member_source *source)
{
	if (!source)
		return NULL;
	atomic_store(&source->quit, true);
	signal_fd(source->wake);
	let_go(source);
	return NULL;
}

int rna_member_source_fd(const struct rna_member_source *source)
{
	return source->ready;
}

struct rna_member_list *rna_member_source_take(struct rna_member_source *source)
{
	uint64_t count;

	(void)!read(source->ready, &count, sizeof(count));
	return atomic_exchange(&source->newest, NULL);
}
