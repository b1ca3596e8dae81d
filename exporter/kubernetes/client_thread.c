// SPDX-License-Identifier: Apache-2.0
/*
 * The client's thread, which sleeps until there is something to write, writes it, and returns the
 * result. Both sides share desired states, which are immutable, and hand over pointers to them and
 * to the status, under a lock that is held only for that. The thread waits in poll(2), on a
 * descriptor of its own, for the next round or for a wake-up.
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

#include "round.h"

enum {
	STACK = 1024 * 1024, /* for OpenSSL and a resolver */
	ARENA = 4096,
	NODE_NAME_MAX = 253,
	STATES_MAX = 32, /* with Events there is one in three seconds, and a round may take long */
};

struct rna_kubernetes {
	struct rna_kubernetes_options options; /* with the name of the Node */
	pthread_t thread;
	int wake;  /* eventfd: there is a new desired state, or it is the end */
	int ready; /* eventfd: there is a new status, or the thread has ended */
	atomic_bool quit;
	atomic_bool ended;
	struct rna_kubernetes_status *_Atomic status; /* the newest; NULL: it was taken */

	pthread_mutex_t lock;                        /* guards the next three */
	struct rna_desired_node *states[STATES_MAX]; /* new ones, by age: the Events of all count */
	size_t state_count;
	uint64_t dropped; /* Events of states that had no room */

	/* the thread's own */
	struct rna_kube_round round;
	struct rna_desired_node *desired; /* of the round */
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

	RNA_EACH (own, status->labels, count)
		if (strncmp(own->key, label, len) == 0 && own->key[len] == '\0' &&
		    (label[len] == '\0' || rna_same_text(own->value, label + len + 1)))
			return true;
	return false;
}

bool rna_kubernetes_keep_resources(const struct rna_kubernetes_resource *from, size_t count,
				   struct rna_arena *arena, struct rna_node_status *ret)
{
	struct rna_kubernetes_resource *resources = rna_arena_array(arena, count, sizeof(*from));
	bool failed = !resources;

	for (size_t i = 0; !failed && i < count; i++) {
		resources[i] = from[i];
		resources[i].name = rna_arena_keep(arena, from[i].name, &failed);
	}
	ret->resources_known = !failed;
	ret->resource_count = failed ? 0 : count;
	ret->resources = resources;
	return !failed;
}

/* All labels of the Node: quiesce and profiles look for those of others. False: no memory. */
static bool keep_labels(const struct rna_kube_node *node, struct rna_arena *arena,
			struct rna_kubernetes_status *ret)
{
	struct rna_node_label *labels = rna_arena_array(arena, node->label_count, sizeof(*labels));
	bool failed = !labels;

	for (size_t i = 0; !failed && i < node->label_count; i++) {
		labels[i].key = rna_arena_keep(arena, node->labels[i].key, &failed);
		labels[i].value = rna_arena_keep(arena, node->labels[i].value, &failed);
	}
	ret->labels = labels;
	ret->label_count = node->label_count;
	return !failed;
}

/* NULL: none, or no memory, as failed says. */
static const char *describe_held(const struct rna_kube_round *round, struct rna_arena *arena,
				 bool *failed)
{
	const struct rna_kube_node *node = &round->node;
	const struct rna_node_label *desired = NULL;
	const char *value, *text;

	if (!node->left_label || round->status.ignored || !round->given)
		return NULL;
	desired = rna_kube_desired_label(round->given, node->left_label);
	value = rna_kube_label_of(node, node->left_label);
	if (desired && (!desired->value || rna_same_text(desired->value, value)))
		return NULL;
	text = rna_arena_printf(arena, "%s is \"%.100s\" instead of \"%.100s\" (written by %.100s)",
				node->left_label, value ? value : "", desired ? desired->value : "",
				node->left_to);
	*failed |= !text;
	return text;
}

static const char budget_spent[] =
	"the Node changes too often: the next change waits (kubernetes.changes); find out what "
	"changes with rdma-node-agent events";

/* NULL: no memory. */
static struct rna_kubernetes_status *make_status(const struct rna_kube_round *round, rna_usec now)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(ARENA);
	struct rna_kubernetes_status *status =
		arena ? rna_arena_alloc(arena, sizeof(*status)) : NULL;
	const struct rna_kube_node *node = &round->node;
	const char *problem = round->problem;
	struct rna_node_backend *backend;
	bool failed = false;

	if (!status)
		return NULL;
	if (!problem && rna_pace_is_spent(&round->pace, now))
		problem = budget_spent;
	status->node = round->status;
	backend = &status->node.backends[RNA_NODE_BACKEND_API];
	backend->in_step = round->desired && !rna_kube_is_behind(round);
	backend->problem = problem;
	memcpy(backend->requests, round->api.requests, sizeof(backend->requests));
	status->problem = rna_arena_keep(arena, problem, &failed);
	status->reverted = rna_arena_keep(arena, round->reverted, &failed);
	status->node.label_held = describe_held(round, arena, &failed);
	status->former_gone = rna_kube_former_is_gone(round);
	status->looked = round->looked;
	if (failed || !keep_labels(node, arena, status) ||
	    (round->looked.monotonic > 0 &&
	     !rna_kubernetes_keep_resources(node->resources, node->resource_count, arena,
					    &status->node)))
		return NULL;
	status->arena = RNA_TAKE(arena);
	return status;
}

/* No memory: the loop knows the older one, and the next will come. */
static void publish_status(struct rna_kubernetes *client)
{
	struct rna_kubernetes_status *status = make_status(&client->round, rna_clock_monotonic());

	if (!status)
		return;
	(void)rna_kubernetes_status_free(atomic_exchange(&client->status, status));
	signal_fd(client->ready);
}

/* -- The thread -------------------------------------------------------------------------------- */

/*
 * Returns whether there is a new desired state: the status is another then, also before it is
 * carried out.
 */
static bool take_states(struct rna_kubernetes *client)
{
	struct rna_desired_node *states[STATES_MAX];
	size_t count;

	(void)pthread_mutex_lock(&client->lock);
	count = client->state_count;
	memcpy(states, client->states, sizeof(states));
	client->state_count = 0;
	client->round.status.events_dropped += client->dropped;
	client->dropped = 0;
	(void)pthread_mutex_unlock(&client->lock);
	for (size_t i = 0; i < count; i++) {
		rna_kube_take_desired(&client->round, states[i]);
		for (size_t j = 0; j < states[i]->event_count; j++)
			rna_kube_add_event(&client->round, &states[i]->events[j]);
		(void)rna_desired_node_unref(client->desired);
		client->desired = states[i];
	}
	return count > 0;
}

/* Credentials are files: while it is for want of them that the API fails, these are looked at. */
static rna_usec wake_time(const struct rna_kubernetes *client)
{
	rna_usec next = rna_kube_wake_time(&client->round);
	rna_usec look = client->round.failing_access
				? rna_clock_monotonic() + RNA_KUBE_ACCESS_PERIOD
				: RNA_USEC_NEVER;

	return next < look ? next : look;
}

static void *run_client(void *userdata)
{
	struct rna_kubernetes *client = userdata;

	while (!atomic_load(&client->quit)) {
		bool news = take_states(client);

		rna_kube_notice_access(&client->round);
		if (rna_kube_step(&client->round, rna_clock_now()) || news)
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
	quiet_fd(client->ready);
	return atomic_exchange(&client->status, NULL);
}

/*
 * With the lock held: makes room for a newer desired state. The one that goes says nothing more
 * than that one, or is the oldest where there is no room; NULL: none.
 */
static struct rna_desired_node *drop_state(struct rna_kubernetes *client)
{
	struct rna_desired_node **states = client->states, *dropped;
	size_t count = client->state_count;

	if (count > 0 && states[count - 1]->event_count == 0)
		return states[--client->state_count];
	if (count < STATES_MAX)
		return NULL;
	dropped = states[0];
	memmove(states, states + 1, --client->state_count * sizeof(*states));
	client->dropped += dropped->event_count;
	return dropped;
}

void rna_kubernetes_want(struct rna_kubernetes *client, struct rna_desired_node *desired)
{
	struct rna_desired_node *dropped;

	(void)pthread_mutex_lock(&client->lock);
	dropped = drop_state(client);
	client->states[client->state_count++] = rna_desired_node_ref(desired);
	(void)pthread_mutex_unlock(&client->lock);
	(void)rna_desired_node_unref(dropped);
	signal_fd(client->wake);
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

static void free_client(struct rna_kubernetes *client)
{
	rna_kube_round_deinit(&client->round);
	(void)rna_desired_node_unref(client->desired);
	for (size_t i = 0; i < client->state_count; i++)
		(void)rna_desired_node_unref(client->states[i]);
	(void)rna_kubernetes_status_free(client->status);
	rna_close_p(&client->wake);
	rna_close_p(&client->ready);
	(void)pthread_mutex_destroy(&client->lock);
	free(client);
}

static struct rna_kubernetes *new_client(const struct rna_kubernetes_options *options)
{
	struct rna_kubernetes *client = calloc(1, sizeof(*client));

	if (!client)
		return NULL;
	client->options = *options;
	client->options.node = rna_kubernetes_node_name(options->node);
	(void)pthread_mutex_init(&client->lock, NULL); /* cannot fail with default attributes */
	client->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	client->ready = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rna_kube_round_init(&client->round, &client->options, make_seed());
	client->round.api.cancel = &client->quit;
	rna_pace_start(&client->round.pace, rna_clock_monotonic());
	return client;
}

int rna_kubernetes_start(const struct rna_kubernetes_options *options, struct rna_kubernetes **ret,
			 struct rna_error *error)
{
	struct rna_kubernetes *client;
	int status;

	status = check_node(options, error);
	if (status < 0)
		return status;
	client = new_client(options);
	if (!client)
		return rna_error_set(error, -ENOMEM, "cannot call the Kubernetes API");
	status = client->wake < 0 || client->ready < 0
			 ? -EMFILE
			 : rna_thread_start(&client->thread, STACK, "rna-kube", run_client, client);
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

/* The first task that fails is the error. */
static int run_command(const struct rna_kubernetes_options *options,
		       const struct rna_desired_node *desired, bool cleanup,
		       struct rna_error *error)
{
	RNA_CLEANUP(rna_kube_round_deinit) struct rna_kube_round round = {0};
	struct rna_kubernetes_options named = *options;
	int status;

	status = check_node(options, error);
	if (status < 0)
		return status;
	named.node = rna_kubernetes_node_name(options->node);
	rna_kube_round_init(&round, &named, make_seed());
	round.cleanup = cleanup;
	rna_kube_take_desired(&round, desired);
	if (!rna_kube_do_all(&round, rna_clock_now()))
		return rna_error_say(error, -EIO, "%s",
				     round.problem ? round.problem : "out of memory");
	if (round.status.taint_withheld > RNA_WITHHELD_DRY_RUN)
		return rna_error_say(error, -EBUSY,
				     "the Node %s does not get the taint %s: %s; all else is done",
				     named.node, named.taint_key,
				     rna_withheld_reason(round.status.taint_withheld));
	if (!round.status.ignored)
		return 0;
	return rna_error_say(error, -EPERM,
			     "the Node %s has the annotation %s: \"true\", so nothing is published "
			     "there; remove it with kubectl annotate node %s %s-",
			     named.node, RNA_KUBERNETES_IGNORE, named.node, RNA_KUBERNETES_IGNORE);
}

int rna_kubernetes_apply(const struct rna_kubernetes_options *options,
			 const struct rna_desired_node *desired, struct rna_error *error)
{
	return run_command(options, desired, false, error);
}

int rna_kubernetes_cleanup(const struct rna_kubernetes_options *options, struct rna_error *error)
{
	return run_command(options, &rna_kube_nothing, true, error);
}
