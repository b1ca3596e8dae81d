// SPDX-License-Identifier: Apache-2.0
#include "member_source.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "rna/kubernetes.h"

#include "dns.h"

#define FILE_PERIOD RNA_USEC_PER_SEC
#define DNS_MIN     (30 * RNA_USEC_PER_SEC)
#define DNS_MAX     (300 * RNA_USEC_PER_SEC)

#define KUBERNETES_MIN  (60 * RNA_USEC_PER_SEC)
#define KUBERNETES_EACH (300 * RNA_USEC_PER_MSEC)
#define FAILED_MAX      (600 * RNA_USEC_PER_SEC)

#define ONCE_MAX (60 * RNA_USEC_PER_SEC)

enum {
	STACK = 1024 << 10, /* OpenSSL and a resolver */
	ARENA = 16 << 10,
	SLICE = 100,      /* endpoints of a slice, as kube-controller-manager makes them */
	AT_ONCE = 1000,   /* a fleet that needs no spreading of its first list */
	FAILURES_MAX = 4, /* that double the wait */
	SERVICE_MAX = 63, /* RFC 1035 label */
};

/* The thread's own. */
struct source {
	const atomic_bool *stopped;
	enum rna_member_source_kind kind;
	char *place;
	struct stat read; /* of the file as it was read */
	bool known;       /* the file was read or could not be */
	struct rna_kubernetes_options kubernetes;
	char *kubeconfig, *server;
	bool begun;        /* the first delay is over */
	size_t expected;   /* members, about; 0: not known */
	unsigned failures; /* in a row */
	/* Of the answer before: */
	rna_usec ttl;         /* of DNS; 0: it failed */
	rna_usec retry_after; /* of Kubernetes */
};

/* What a look found. */
struct look {
	struct rna_member_list *list; /* NULL: nothing new */
	rna_usec wait;                /* until the next look */
};

static void free_source(void *userdata)
{
	struct source *source = userdata;

	free(source->place);
	free(source->kubeconfig);
	free(source->server);
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

typedef int reader(struct source *source, struct rna_arena *arena, struct rna_members *ret,
		   struct rna_error *error);

/* NULL: there is no memory. */
static struct rna_member_list *make_list(struct source *source, reader *read)
{
	struct rna_member_list *list = new_list();
	struct rna_error error = {0};

	if (list)
		finish(list, read(source, list->arena, &list->members, &error), &error);
	return list;
}

/* -- Files ------------------------------------------------------------------------------------- */

static bool has_changed(struct source *source)
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

static int read_file(struct source *source, struct rna_arena *arena, struct rna_members *ret,
		     struct rna_error *error)
{
	return rna_members_read(source->place, arena, ret, error);
}

static void look_at_file(struct source *source, struct look *look)
{
	look->wait = FILE_PERIOD;
	if (has_changed(source))
		look->list = make_list(source, read_file);
}

/* -- Waits ------------------------------------------------------------------------------------- */

/* A fifth more or less. */
static rna_usec scatter(rna_usec wait, uint64_t random)
{
	return wait - wait / 5 + random % (2 * (wait / 5) + 1);
}

static uint64_t draw(void)
{
	uint64_t random = 0;

	(void)!getrandom(&random, sizeof(random), 0); /* without it the wait is a shorter one */
	return random;
}

/* -- DNS --------------------------------------------------------------------------------------- */

rna_usec rna_member_source_dns_wait(rna_usec ttl, uint64_t random)
{
	rna_usec bounded = ttl < DNS_MIN ? DNS_MIN : ttl > DNS_MAX ? DNS_MAX : ttl;
	rna_usec wait = scatter(bounded, random);

	return wait < DNS_MIN ? DNS_MIN : wait > DNS_MAX ? DNS_MAX : wait;
}

static int read_dns(struct source *source, struct rna_arena *arena, struct rna_members *ret,
		    struct rna_error *error)
{
	struct rna_dns_place place;
	int status;

	source->ttl = 0;
	if (!rna_dns_place_parse(source->place, &place))
		return rna_error_say(error, -EINVAL, "%s is not a name in DNS", source->place);
	status = rna_dns_look(&place, arena, ret, &source->ttl, error);
	if (status < 0)
		source->ttl = 0;
	return status;
}

static void look_at_dns(struct source *source, struct look *look)
{
	look->list = make_list(source, read_dns);
	look->wait = rna_member_source_dns_wait(source->ttl, draw());
}

/* -- Kubernetes -------------------------------------------------------------------------------- */

bool rna_member_service_or_none_is_valid(const char *text)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
	size_t space = strspn(text, allowed), name;

	if (*text == '\0')
		return true;
	if (space == 0 || space > SERVICE_MAX || text[space] != '/')
		return false;
	name = strspn(text + space + 1, allowed);
	return name > 0 && name <= SERVICE_MAX && text[space + 1 + name] == '\0';
}

rna_usec rna_member_source_kubernetes_wait(size_t members, uint64_t random)
{
	rna_usec wait = members * KUBERNETES_EACH;

	return scatter(wait < KUBERNETES_MIN ? KUBERNETES_MIN : wait, random);
}

/* Two addresses of a node, or a pod that ends beside its successor: all nodes choose the same. */
static int add_endpoints(const struct rna_kubernetes_endpoints *endpoints, struct rna_arena *arena,
			 struct rna_members *members)
{
	int status = 0;

	for (size_t i = 0; status == 0 && i < endpoints->count; i++) {
		const struct rna_kubernetes_endpoint *endpoint = &endpoints->endpoints[i];
		bool is_v6 = strchr(endpoint->address, ':') != NULL;
		struct rna_member member = {
			.name = endpoint->node,
			.address = rna_arena_printf(arena, is_v6 ? "[%s]:%u" : "%s:%u",
						    endpoint->address, endpoint->port),
			.leaf = "",
			.https = endpoint->https,
			.spare = (endpoint->ready ? 0u : 2u) + (is_v6 ? 1u : 0u),
		};

		status = member.address ? rna_members_add(members, arena, &member) : -ENOMEM;
	}
	rna_members_sort(members);
	return status;
}

static int read_endpoints(struct source *source, struct rna_arena *arena, struct rna_members *ret,
			  struct rna_error *error)
{
	struct rna_kubernetes_endpoints endpoints;
	int status;

	*ret = (struct rna_members){0};
	status = rna_kubernetes_read_endpoints(&source->kubernetes, source->place, false,
					       source->stopped, arena, &endpoints, error);
	source->retry_after = endpoints.retry_after;
	if (status < 0)
		return status;
	status = add_endpoints(&endpoints, arena, ret);
	if (status < 0)
		return rna_error_set(error, status, "%s", source->place);
	if (ret->count == 0)
		return rna_error_say(error, -ENOENT, "Service %s has no endpoints with a TCP port",
				     source->place);
	source->expected = ret->count;
	return 0;
}

/* Slices without endpoints are small: a fleet that starts at once asks for these alone. */
static int count_slices(struct source *source, struct rna_arena *arena, struct rna_error *error)
{
	struct rna_kubernetes_endpoints endpoints;
	int status;

	status = rna_kubernetes_read_endpoints(&source->kubernetes, source->place, true,
					       source->stopped, arena, &endpoints, error);
	source->retry_after = endpoints.retry_after;
	if (status == 0)
		source->expected = (endpoints.slice_count + 1) * SLICE;
	return status;
}

static rna_usec wait_for_more(struct source *source, int status)
{
	rna_usec wait = rna_member_source_kubernetes_wait(source->expected, draw());
	rna_usec failed;

	source->failures = status == 0 ? 0 : source->failures + 1;
	if (status == 0)
		return wait;
	failed = KUBERNETES_MIN << (source->failures < FAILURES_MAX ? source->failures
								    : FAILURES_MAX);
	failed = failed > source->retry_after ? failed : source->retry_after;
	failed = scatter(failed > FAILED_MAX ? FAILED_MAX : failed, draw());
	return failed > wait ? failed : wait;
}

static void look_at_kubernetes(struct source *source, struct look *look)
{
	struct rna_error error = {0};
	bool count = source->expected == 0;
	int status = 0;

	if (!source->begun) {
		source->begun = true;
		look->wait = draw() % (source->kubernetes.first_delay + 1);
		return;
	}
	look->list = new_list();
	if (!look->list) {
		look->wait = KUBERNETES_MIN;
		return;
	}
	if (count)
		status = count_slices(source, look->list->arena, &error);
	if (status == 0 && count && source->expected > AT_ONCE) {
		look->list = rna_member_list_free(look->list);
		look->wait = draw() % rna_member_source_kubernetes_wait(source->expected, draw());
		return;
	}
	if (status == 0)
		status = read_endpoints(source, look->list->arena, &look->list->members, &error);
	finish(look->list, status, &error);
	look->wait = wait_for_more(source, status);
}

/* -- The thread -------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*look)(struct source *source, struct look *look);
	reader *read;
} kinds[RNA_MEMBERS_KIND_COUNT] = {
	[RNA_MEMBERS_FILE] = {"file", look_at_file, read_file},
	[RNA_MEMBERS_DNS] = {"dns", look_at_dns, read_dns},
	[RNA_MEMBERS_KUBERNETES] = {"kubernetes", look_at_kubernetes, read_endpoints},
};

const char *rna_member_source_kind_name(enum rna_member_source_kind kind)
{
	return kinds[kind].name;
}

static void look_again(struct rna_worker *worker, void *userdata)
{
	struct source *source = userdata;

	source->stopped = rna_worker_stopped(worker);
	while (!*source->stopped) {
		struct look look = {0};

		kinds[source->kind].look(source, &look);
		if (look.list)
			rna_worker_return(worker, &look.list->work);
		(void)rna_worker_next(worker, look.wait);
	}
}

static void look_once(struct rna_worker *worker, void *userdata)
{
	struct source *source = userdata;
	struct rna_member_list *list;

	source->stopped = rna_worker_stopped(worker);
	list = make_list(source, kinds[source->kind].read);
	if (list)
		rna_worker_return(worker, &list->work);
}

static void drop_list(struct rna_work *work)
{
	(void)rna_member_list_free((struct rna_member_list *)work);
}

/* -- The reader's side ------------------------------------------------------------------------- */

static struct source *new_source(const struct rna_member_source_options *options)
{
	struct source *source = calloc(1, sizeof(*source));

	if (!source)
		return NULL;
	source->kind = options->kind;
	source->place = strdup(options->place);
	source->kubeconfig = strdup(options->kubeconfig ? options->kubeconfig : "");
	source->server = strdup(options->server ? options->server : "");
	source->kubernetes = (struct rna_kubernetes_options){
		.kubeconfig = source->kubeconfig,
		.server = source->server,
		.first_delay = options->first_delay,
	};
	if (source->place && source->kubeconfig && source->server)
		return source;
	free_source(source);
	return NULL;
}

static int start(const struct rna_member_source_options *options,
		 void (*run)(struct rna_worker *worker, void *userdata), struct rna_worker **ret)
{
	struct source *source = new_source(options);
	const struct rna_worker_options thread = {
		.name = "rna-probe-list",
		.stack = STACK,
		.userdata = source,
		.run = run,
		.drop = drop_list,
		.release = free_source,
	};

	return source ? rna_worker_start_new(&thread, ret) : -ENOMEM;
}

int rna_member_source_start(const struct rna_member_source_options *options,
			    struct rna_worker **ret, struct rna_error *error)
{
	int status = start(options, look_again, ret);

	return status < 0 ? rna_error_set(error, status, "cannot look for members") : 0;
}

struct rna_member_list *rna_member_source_take(struct rna_worker *worker)
{
	struct rna_member_list *newest = NULL, *list;

	while ((list = (struct rna_member_list *)rna_worker_take(worker))) {
		(void)rna_member_list_free(newest);
		newest = list;
	}
	return newest;
}

struct rna_member_list *rna_member_source_look(const struct rna_member_source_options *options,
					       rna_usec until)
{
	RNA_CLEANUP(rna_worker_stop_p) struct rna_worker *worker = NULL;
	rna_usec now = rna_clock_monotonic(), wait = ONCE_MAX;
	struct pollfd ready = {.events = POLLIN};

	if (until > 0)
		wait = rna_usec_since(now, until);
	if (start(options, look_once, &worker) < 0)
		return NULL;
	ready.fd = rna_worker_fd(worker);
	(void)poll(&ready, 1, (int)(wait / RNA_USEC_PER_MSEC)); /* without it there is no list */
	return rna_member_source_take(worker);
}
