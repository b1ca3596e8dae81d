// SPDX-License-Identifier: Apache-2.0
/*
 * The client's lane: a thread that sleeps until there is something to write, writes it, and returns
 * the result. Data from the loop is copied under a lock that is held only for the copy; the result
 * is a status that is handed over. The lane waits in poll(2), on a descriptor of its own, for the
 * next round or for a wake-up.
 */
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <time.h>

#include "rna/base/parse.h"
#include "rna/base/thread.h"
#include "rna/kubernetes.h"

#include "requests.h"
#include "round.h"

enum {
	LANE_STACK = 1024 * 1024, /* OpenSSL and a resolver want more than our own lanes */
	ARENA = 4096,
	NODE_NAME_MAX = 253,
};

/* What the loop has left for the lane. */
struct inbox {
	struct rna_node_wish *wish; /* a copy; NULL: no news */
	size_t event_count;
	struct rna_kube_event events[RNA_KUBE_EVENTS_MAX];
	uint64_t dropped;
};

struct rna_kubernetes {
	struct rna_arena *arena; /* owns this struct and options */
	struct rna_kubernetes_options options;
	pthread_t thread;
	int wake;  /* eventfd: there is something in the inbox, or it is the end */
	int ready; /* eventfd: there is a new status, or the lane has ended */
	atomic_bool quit;
	atomic_bool ended;

	pthread_mutex_t lock; /* guards the two below */
	struct inbox inbox;
	struct rna_kubernetes_status *status; /* NULL: it was taken */

	/* the lane's own */
	struct rna_kube_round round;
	struct rna_pace pace;
	struct rna_node_wish *wish;
};

static void signal_fd(int fd)
{
	const uint64_t one = 1;

	(void)!write(fd, &one, sizeof(one)); /* full means: it is signalled already */
}

static void quiet_fd(int fd)
{
	uint64_t count;

	(void)!read(fd, &count, sizeof(count));
}

/* Sleeps until fd is signalled, but no longer than until end. */
static void wait_for(int fd, rna_usec end)
{
	struct pollfd poll = {.fd = fd, .events = POLLIN};
	rna_usec left = rna_usec_since(rna_clock_monotonic(), end);
	struct timespec patience = {
		.tv_sec = (time_t)(left / RNA_USEC_PER_SEC),
		.tv_nsec = (long)(left % RNA_USEC_PER_SEC * 1000),
	};

	(void)ppoll(&poll, 1, end == RNA_USEC_NEVER ? NULL : &patience, NULL);
	quiet_fd(fd);
}

/* -- Copies ------------------------------------------------------------------------------------ */

struct copy {
	struct rna_arena *arena;
	bool failed;
};

static const char *copy_text(struct copy *copy, const char *text)
{
	return rna_arena_keep(copy->arena, text, &copy->failed);
}

static const char *const *copy_list(struct copy *copy, const char *const *list)
{
	size_t count = 0;
	const char **its;

	while (list && list[count])
		count++;
	its = count > 0 ? rna_arena_array(copy->arena, count + 1, sizeof(*its)) : NULL;
	copy->failed |= count > 0 && !its;
	for (size_t i = 0; its && i < count; i++)
		its[i] = copy_text(copy, list[i]);
	return its;
}

static void copy_options(struct copy *copy, const struct rna_kubernetes_options *options,
			 struct rna_kubernetes_options *ret)
{
	*ret = *options;
	ret->node = copy_text(copy, rna_kubernetes_node_name(options->node));
	ret->kubeconfig = copy_text(copy, options->kubeconfig);
	ret->service_account = copy_text(copy, options->service_account);
	ret->server = copy_text(copy, options->server);
	ret->taint_key = copy_text(copy, options->taint_key);
	ret->device_taint_key = copy_text(copy, options->device_taint_key);
	ret->device_taint_effect = copy_text(copy, options->device_taint_effect);
	ret->taint_effect = copy_text(copy, options->taint_effect);
	ret->resources = copy_list(copy, options->resources);
	ret->label_keys = copy_list(copy, options->label_keys);
	ret->former_taints = copy_list(copy, options->former_taints);
	ret->condition_types = copy_list(copy, options->condition_types);
}

static const struct rna_node_label *copy_labels(struct copy *copy,
						const struct rna_node_label *from, size_t count)
{
	struct rna_node_label *labels = rna_arena_array(copy->arena, count, sizeof(*labels));

	copy->failed |= !labels;
	for (size_t i = 0; labels && i < count; i++)
		labels[i] = (struct rna_node_label){copy_text(copy, from[i].key),
						    copy_text(copy, from[i].value), from[i].urgent};
	return labels;
}

static void copy_conditions(struct copy *copy, const struct rna_node_wish *from,
			    struct rna_node_wish *wish)
{
	struct rna_node_condition *conditions =
		rna_arena_array(copy->arena, from->condition_count, sizeof(*conditions));

	copy->failed |= !conditions;
	for (size_t i = 0; conditions && i < from->condition_count; i++) {
		conditions[i] = from->conditions[i];
		conditions[i].type = copy_text(copy, from->conditions[i].type);
		conditions[i].reason = copy_text(copy, from->conditions[i].reason);
		conditions[i].message = copy_text(copy, from->conditions[i].message);
	}
	wish->conditions = conditions;
	wish->condition_count = from->condition_count;
}

static void copy_device_taints(struct copy *copy, const struct rna_node_wish *from,
			       struct rna_node_wish *wish)
{
	struct rna_node_device_taint *list =
		rna_arena_array(copy->arena, from->device_taint_count, sizeof(*list));

	copy->failed |= !list;
	for (size_t i = 0; list && i < from->device_taint_count; i++) {
		const struct rna_node_device_taint *its = &from->device_taints[i];

		list[i] = *its;
		list[i].device = copy_text(copy, its->device);
		list[i].pci_address = copy_text(copy, its->pci_address);
		list[i].reason = copy_text(copy, its->reason);
		list[i].functions = rna_arena_array(copy->arena, its->function_count,
						    sizeof(*list[i].functions));
		copy->failed |= !list[i].functions;
		for (size_t j = 0; list[i].functions && j < its->function_count; j++)
			list[i].functions[j] = copy_text(copy, its->functions[j]);
	}
	wish->device_taints = list;
	wish->device_taint_count = from->device_taint_count;
	wish->device_taints_complete = from->device_taints_complete;
}

static struct rna_node_wish *free_wish(struct rna_node_wish *wish)
{
	if (wish)
		(void)rna_arena_free(wish->arena);
	return NULL;
}

/* Without its events, which go another way. NULL: no memory. */
static struct rna_node_wish *copy_wish(const struct rna_node_wish *from)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(ARENA);
	struct rna_node_wish *wish = arena ? rna_arena_alloc(arena, sizeof(*wish)) : NULL;
	struct copy copy = {arena, false};

	if (!wish)
		return NULL;
	wish->labels = copy_labels(&copy, from->labels, from->label_count);
	wish->label_count = from->label_count;
	copy_conditions(&copy, from, wish);
	copy_device_taints(&copy, from, wish);
	wish->labels_decided = from->labels_decided;
	wish->conditions_decided = from->conditions_decided;
	wish->taint_decided = from->taint_decided;
	wish->taint = from->taint;
	if (copy.failed)
		return NULL;
	wish->arena = RNA_TAKE(arena);
	return wish;
}

/* -- Status ------------------------------------------------------------------------------------ */

struct rna_kubernetes_status *rna_kubernetes_status_free(struct rna_kubernetes_status *status)
{
	if (status)
		(void)rna_arena_free(status->arena);
	return NULL;
}

bool rna_kubernetes_has_label(const struct rna_kubernetes_status *status, const char *label)
{
	size_t len = strcspn(label, "="), count = status ? status->label_count : 0;

	for (size_t i = 0; i < count; i++) {
		const struct rna_node_label *own = &status->labels[i];

		if (strncmp(own->key, label, len) == 0 && own->key[len] == '\0' &&
		    (label[len] == '\0' || rna_same_text(own->value, label + len + 1)))
			return true;
	}
	return false;
}

static void copy_resources(struct copy *copy, const struct rna_kube_node *node,
			   struct rna_kubernetes_status *status)
{
	struct rna_kubernetes_resource *resources =
		rna_arena_array(copy->arena, node->resource_count, sizeof(*resources));

	copy->failed |= !resources;
	for (size_t i = 0; resources && i < node->resource_count; i++) {
		resources[i] = node->resources[i];
		resources[i].name = copy_text(copy, node->resources[i].name);
	}
	status->resources = resources;
	status->resource_count = node->resource_count;
}

static const char budget_spent[] =
	"the Node changes too often: the next change waits (kubernetes.changes, "
	"kubernetes.change_period); find out what changes with rdma-node-agent events";

/* spent: a change waits for the budget. */
static struct rna_kubernetes_status *make_status(const struct rna_kube_round *round, bool spent,
						 struct rna_time now)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(ARENA);
	struct rna_kubernetes_status *status =
		arena ? rna_arena_alloc(arena, sizeof(*status)) : NULL;
	struct copy copy = {arena, false};

	if (!status)
		return NULL;
	status->time = now;
	status->ignored = round->ignored;
	status->reverted = copy_text(&copy, round->reverted);
	status->reverts = round->reverts;
	status->in_step = round->wish && !rna_kube_is_behind(round);
	status->former_gone = rna_kube_former_is_gone(round);
	status->written = round->written;
	status->looked = round->looked;
	status->problem =
		copy_text(&copy, spent && !round->problem ? budget_spent : round->problem);
	status->problem_since = round->problem ? round->problem_since : now;
	memcpy(status->requests, round->api.requests, sizeof(status->requests));
	status->events_sent = round->events_sent;
	status->events_dropped = round->events_dropped;
	status->device_taints = round->device_rules;
	copy_resources(&copy, &round->node, status);
	status->labels = copy_labels(&copy, round->node.labels, round->node.label_count);
	status->label_count = round->node.label_count;
	if (copy.failed)
		return NULL;
	status->arena = RNA_TAKE(arena);
	return status;
}

/* No memory: the loop knows the older one, and the next will come. */
static void publish_status(struct rna_kubernetes *client)
{
	const struct rna_time now = rna_clock_now();
	bool spent = rna_pace_is_spent(&client->pace, now.monotonic);
	struct rna_kubernetes_status *status = make_status(&client->round, spent, now);
	struct rna_kubernetes_status *older;

	if (!status)
		return;
	(void)pthread_mutex_lock(&client->lock);
	older = client->status;
	client->status = status;
	(void)pthread_mutex_unlock(&client->lock);
	(void)rna_kubernetes_status_free(older);
	signal_fd(client->ready);
}

/* -- In the lane ------------------------------------------------------------------------------- */

static void take_wish(struct rna_kubernetes *client, struct rna_node_wish *wish)
{
	if (!wish)
		return;
	(void)free_wish(client->wish);
	client->wish = wish;
	rna_kube_take_wish(&client->round, wish);
}

/* Returns whether there is a new wish: the status is another then, also before it is carried out.
 */
static bool take_new_wish(struct rna_kubernetes *client)
{
	struct inbox inbox;

	(void)pthread_mutex_lock(&client->lock);
	inbox = client->inbox;
	client->inbox = (struct inbox){0};
	(void)pthread_mutex_unlock(&client->lock);
	take_wish(client, inbox.wish);
	for (size_t i = 0; i < inbox.event_count; i++)
		rna_kube_add_event(&client->round, &inbox.events[i]);
	client->round.events_dropped += inbox.dropped;
	if (client->wish)
		rna_kube_want(&client->round, &client->pace, rna_clock_monotonic());
	return inbox.wish;
}

/* Credentials are files: while it is for want of them that the API fails, these are looked at. */
static rna_usec wake_time(const struct rna_kubernetes *client)
{
	rna_usec next = rna_kube_wake_time(&client->round, &client->pace);
	rna_usec look = client->round.failing_access
				? rna_clock_monotonic() + RNA_KUBE_ACCESS_PERIOD
				: RNA_USEC_NEVER;

	return next < look ? next : look;
}

static void *lane_main(void *userdata)
{
	struct rna_kubernetes *client = userdata;

	while (!atomic_load(&client->quit)) {
		bool news = take_new_wish(client);

		rna_kube_notice_access(&client->round);
		if (rna_kube_step(&client->round, &client->pace, rna_clock_now()) || news)
			publish_status(client);
		wait_for(client->wake, wake_time(client));
	}
	atomic_store(&client->ended, true);
	signal_fd(client->ready);
	return NULL;
}

/* -- In the loop ------------------------------------------------------------------------------- */

int rna_kubernetes_fd(const struct rna_kubernetes *client)
{
	return client->ready;
}

struct rna_kubernetes_status *rna_kubernetes_take_status(struct rna_kubernetes *client)
{
	struct rna_kubernetes_status *status;

	quiet_fd(client->ready);
	(void)pthread_mutex_lock(&client->lock);
	status = RNA_TAKE(client->status);
	(void)pthread_mutex_unlock(&client->lock);
	return status;
}

/* With the lock held. One that finds no room or no memory is counted, and that is all. */
static void leave_event(struct inbox *inbox, const struct rna_node_event *event)
{
	struct rna_kube_event *copy = &inbox->events[inbox->event_count];

	if (inbox->event_count == RNA_KUBE_EVENTS_MAX) {
		inbox->dropped++;
		return;
	}
	*copy = (struct rna_kube_event){
		.warning = event->warning,
		.reason = strdup(event->reason),
		.message = strdup(event->message),
		.count = 1,
		.first = event->time.realtime,
		.last = event->time.realtime,
		.waiting = true,
	};
	if (copy->reason && copy->message) {
		inbox->event_count++;
		return;
	}
	free(copy->reason);
	free(copy->message);
	inbox->dropped++;
}

int rna_kubernetes_want(struct rna_kubernetes *client, const struct rna_node_wish *wish)
{
	struct rna_node_wish *copy = copy_wish(wish), *older;

	if (!copy)
		return -ENOMEM;
	(void)pthread_mutex_lock(&client->lock);
	older = client->inbox.wish;
	client->inbox.wish = copy;
	for (size_t i = 0; i < wish->event_count; i++)
		leave_event(&client->inbox, &wish->events[i]);
	(void)pthread_mutex_unlock(&client->lock);
	(void)free_wish(older);
	signal_fd(client->wake);
	return 0;
}

/* -- Beginning and end ------------------------------------------------------------------------- */

/* It becomes part of paths, and must not become more of them. */
static int check_node(const struct rna_kubernetes_options *options, struct rna_error *error)
{
	const char *name = rna_kubernetes_node_name(options->node);

	if (!name)
		return rna_error_say(error, -EINVAL,
				     "the name of this Node is unknown; set $NODE_NAME (in a pod: "
				     "valueFrom fieldRef spec.nodeName) or kubernetes.node_name");
	if (name[0] == '.')
		return rna_error_say(error, -EINVAL,
				     "\"%.80s\" is not a valid Node name: it begins with a dot",
				     name);
	for (const char *c = name; *c; c++)
		if (!islower((unsigned char)*c) && !isdigit((unsigned char)*c) && *c != '-' &&
		    *c != '.')
			return rna_error_say(error, -EINVAL,
					     "\"%.80s\" is not a valid Node name: only lowercase "
					     "letters, digits, dots and dashes are allowed",
					     name);
	if (strlen(name) > NODE_NAME_MAX)
		return rna_error_say(error, -EINVAL, "\"%.80s...\" is too long for a Node name",
				     name);
	return 0;
}

static uint64_t make_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) == sizeof(seed))
		return seed;
	return rna_clock_now().realtime; /* early at boot: starts differ by more than this */
}

static void init_round(struct rna_kube_round *round, const struct rna_kubernetes_options *options)
{
	*round = (struct rna_kube_round){
		.api.options = options,
		.api.node = options->node,
		.random = make_seed(),
	};
}

static void free_client(struct rna_kubernetes *client)
{
	rna_kube_round_deinit(&client->round);
	(void)free_wish(client->wish);
	(void)free_wish(client->inbox.wish);
	for (size_t i = 0; i < client->inbox.event_count; i++) {
		free(client->inbox.events[i].reason);
		free(client->inbox.events[i].message);
	}
	(void)rna_kubernetes_status_free(client->status);
	rna_close_p(&client->wake);
	rna_close_p(&client->ready);
	(void)pthread_mutex_destroy(&client->lock);
	(void)rna_arena_free(client->arena);
}

static struct rna_kubernetes *new_client(const struct rna_kubernetes_options *options)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(ARENA);
	struct rna_kubernetes *client = arena ? rna_arena_alloc(arena, sizeof(*client)) : NULL;
	struct copy copy = {arena, false};

	if (!client)
		return NULL;
	copy_options(&copy, options, &client->options);
	if (copy.failed)
		return NULL;
	(void)pthread_mutex_init(&client->lock, NULL); /* cannot fail with default attributes */
	client->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	client->ready = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	client->arena = RNA_TAKE(arena);
	return client;
}

int rna_kubernetes_start(const struct rna_kubernetes_options *options, struct rna_kubernetes **ret,
			 struct rna_error *error)
{
	const struct rna_pace_limits limits = {
		.first_delay = options->first_delay,
		.spread = options->spread,
		.resync = options->resync,
		.look = options->look,
		.heartbeat = options->heartbeat,
		.burst = options->burst,
		.reserve = options->reserve,
		.refill = options->refill,
	};
	struct rna_kubernetes *client;
	int status;

	status = check_node(options, error);
	if (status < 0)
		return status;
	client = new_client(options);
	if (!client)
		return rna_error_set(error, -ENOMEM, "cannot call the Kubernetes API");
	init_round(&client->round, &client->options);
	client->round.api.cancel = &client->quit;
	rna_pace_init(&client->pace, &limits, make_seed());
	rna_pace_start(&client->pace, rna_clock_monotonic());
	status = client->wake < 0 || client->ready < 0
			 ? -EMFILE
			 : rna_thread_start(&client->thread, LANE_STACK, "rna-kube", lane_main,
					    client);
	if (status < 0) {
		free_client(client);
		return rna_error_set(error, status, "cannot call the Kubernetes API");
	}
	*ret = client;
	return 0;
}

bool rna_kubernetes_stop(struct rna_kubernetes *client, rna_usec patience)
{
	rna_usec end = rna_clock_monotonic() + patience;

	if (!client)
		return true;
	atomic_store(&client->quit, true);
	signal_fd(client->wake);
	while (!atomic_load(&client->ended) && rna_clock_monotonic() < end)
		wait_for(client->ready, end);
	if (!atomic_load(&client->ended))
		return false;
	(void)pthread_join(client->thread, NULL); /* which is at its last line */
	free_client(client);
	return true;
}

/* -- Commands ---------------------------------------------------------------------------------- */

/* All jobs, once; the first that fails is the error. */
static int run_all_tasks(struct rna_kube_round *round, struct rna_error *error)
{
	const struct rna_pace_due all = {.change = true, .look = !round->cleanup, .resync = true};
	struct rna_time now = rna_clock_now();

	rna_kube_open(round, &all);
	round->jobs[RNA_KUBE_TASK_TAINT].open = rna_kube_has_taint(round);
	round->jobs[RNA_KUBE_TASK_DEVICES].open = rna_kube_has_devices(round);
	for (size_t i = 0; i < RNA_KUBE_TASK_COUNT; i++)
		round->jobs[i].wait.failures = 1; /* a problem is reported at once */
	round->wait.failures = 1;
	rna_kube_run(round, now);
	if (rna_kube_next(round) == RNA_USEC_NEVER)
		return 0;
	return rna_error_say(error, -EIO, "%s", round->problem ? round->problem : "out of memory");
}

static int run_command(const struct rna_kubernetes_options *options,
		       const struct rna_node_wish *wish, bool cleanup, struct rna_error *error)
{
	RNA_CLEANUP(rna_kube_round_deinit) struct rna_kube_round round = {0};
	struct rna_kubernetes_options named = *options;
	int status;

	status = check_node(options, error);
	if (status < 0)
		return status;
	named.node = rna_kubernetes_node_name(options->node);
	init_round(&round, &named);
	round.cleanup = cleanup;
	rna_kube_take_wish(&round, wish);
	status = run_all_tasks(&round, error);
	if (status < 0 || !round.ignored)
		return status;
	return rna_error_say(error, -EPERM,
			     "the Node %s has the annotation %s: \"true\", so nothing is published "
			     "there; remove it with kubectl annotate node %s %s-",
			     named.node, RNA_KUBERNETES_IGNORE, named.node, RNA_KUBERNETES_IGNORE);
}

int rna_kubernetes_apply(const struct rna_kubernetes_options *options,
			 const struct rna_node_wish *wish, struct rna_error *error)
{
	return run_command(options, wish, false, error);
}

int rna_kubernetes_cleanup(const struct rna_kubernetes_options *options, struct rna_error *error)
{
	return run_command(options, &rna_kube_nothing, true, error);
}

void rna_kubernetes_write_requests(const struct rna_kubernetes_options *options,
				   const struct rna_node_wish *wish, struct rna_strbuf *out)
{
	const char *node = rna_kubernetes_node_name(options->node);

	rna_kube_write_requests(node ? node : "NODE", wish, out);
}
