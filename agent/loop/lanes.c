// SPDX-License-Identifier: Apache-2.0
#include "lanes.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>

#include "rna/base/thread.h"

/* Enough for libnl and libibverbs with a page-sized buffer or two on the stack. */
enum { LANE_STACK = 512 * 1024, TIMER_ACCURACY_USEC = 10 * 1000 };

/* An urgent chain waits so long for a lane that is in another job. */
#define URGENT_PATIENCE (10 * RNA_USEC_PER_MSEC)

struct queue {
	struct rna_job *head;
	struct rna_job **tail;
};

struct lane {
	struct rna_lanes *pool;
	pthread_t thread;
	struct rna_job *current; /* NULL: idle */
	rna_usec begun;          /* when it took the chain of current */
	enum rna_lateness said;  /* what was reported about current */
	bool replaced;           /* another lane took over; ends after current */
	bool ended;              /* to be joined by the loop */
	struct lane *next;
};

struct rna_lanes {
	struct rna_lanes_limits limits;
	struct rna_lanes_callbacks callbacks;
	sd_event_source *wakeup_source;
	sd_event_source *timer;
	int wakeup; /* eventfd: the queue ran empty, or a lane ended */

	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t work;
	struct queue todo; /* chains */
	struct queue done; /* single jobs */
	struct lane *lanes;
	unsigned count;
	unsigned wanted; /* that serve the queue */
	bool quit;
};

static void queue_init(struct queue *queue)
{
	queue->head = NULL;
	queue->tail = &queue->head;
}

static void queue_push(struct queue *queue, struct rna_job *job)
{
	job->next = NULL;
	*queue->tail = job;
	queue->tail = &job->next;
}

static void queue_push_front(struct queue *queue, struct rna_job *job)
{
	job->next = queue->head;
	queue->head = job;
	if (!job->next)
		queue->tail = &job->next;
}

static struct rna_job *queue_pop(struct queue *queue)
{
	struct rna_job *job = queue->head;

	if (!job)
		return NULL;
	queue->head = job->next;
	if (!queue->head)
		queue->tail = &queue->head;
	return job;
}

struct rna_lanes_limits rna_lanes_limits_of(const struct rna_settings *settings)
{
	return (struct rna_lanes_limits){
		.max = settings->lanes_max,
		.handover = settings->poll_handover,
		.deadline = settings->poll_deadline,
	};
}

/* -- In a lane --------------------------------------------------------------------------------- */

static void wake_loop(const struct rna_lanes *pool)
{
	const uint64_t one = 1;

	(void)!write(pool->wakeup, &one, sizeof(one)); /* full means: it is awake already */
}

static void run_job(struct rna_job *job)
{
	struct rna_error error = {0};

	job->part = NULL;
	job->error = NULL;
	job->status = job->collector->collect(&job->input, &job->part, &error);
	if (job->status < 0)
		job->error = strdup(error.text);
}

/* With the lock held, which it lets go of meanwhile: the loop will want it at once. */
static void wake_loop_unlocked(struct rna_lanes *pool)
{
	(void)pthread_mutex_unlock(&pool->lock);
	wake_loop(pool);
	(void)pthread_mutex_lock(&pool->lock);
}

/* Runs a chain to its end. Called and left with the lock held, which the jobs do not see. */
static void run_chain(struct lane *lane, struct rna_job *chain)
{
	struct rna_lanes *pool = lane->pool;

	lane->begun = rna_clock_monotonic();
	for (struct rna_job *job = chain, *then; job && !pool->quit; job = then) {
		then = job->then; /* the loop may reuse the job as soon as it is done */
		job->started = rna_clock_monotonic();
		lane->current = job;
		(void)pthread_mutex_unlock(&pool->lock);
		run_job(job);
		(void)pthread_mutex_lock(&pool->lock);
		lane->current = NULL;
		lane->said = RNA_IN_TIME;
		job->finished = rna_clock_monotonic();
		queue_push(&pool->done, job);
		if (job->urgent)
			wake_loop(pool);
	}
}

static void *lane_main(void *userdata)
{
	struct lane *lane = userdata;
	struct rna_lanes *pool = lane->pool;

	(void)pthread_mutex_lock(&pool->lock);
	while (!pool->quit && !lane->replaced) {
		struct rna_job *chain = queue_pop(&pool->todo);

		if (!chain) {
			(void)pthread_cond_wait(&pool->work, &pool->lock);
			continue;
		}
		run_chain(lane, chain);
		if (!pool->todo.head)
			wake_loop_unlocked(pool);
	}
	lane->ended = true;
	wake_loop(pool);
	(void)pthread_mutex_unlock(&pool->lock);
	return NULL;
}

/* -- In the loop ------------------------------------------------------------------------------- */

static int add_lane(struct rna_lanes *pool)
{
	struct lane *lane = calloc(1, sizeof(*lane));
	int ret;

	if (!lane)
		return -ENOMEM;
	lane->pool = pool;
	ret = rna_thread_start(&lane->thread, LANE_STACK, "rna-lane", lane_main, lane);
	if (ret < 0) {
		free(lane);
		return ret;
	}
	lane->next = pool->lanes;
	pool->lanes = lane;
	pool->count++;
	return 0;
}

/* Joins lanes that have ended. With the lock held; they let go of it as their last deed. */
static void reap(struct rna_lanes *pool)
{
	for (struct lane **link = &pool->lanes; *link;) {
		struct lane *lane = *link;

		if (!lane->ended) {
			link = &lane->next;
			continue;
		}
		*link = lane->next;
		pool->count--;
		(void)pthread_mutex_unlock(&pool->lock);
		(void)pthread_join(lane->thread, NULL);
		(void)pthread_mutex_lock(&pool->lock);
		free(lane);
		link = &pool->lanes; /* the lock was released meanwhile */
	}
}

static enum rna_lateness lateness(const struct rna_lanes *pool, const struct lane *lane,
				  rna_usec now)
{
	rna_usec runs = lane->current ? rna_usec_since(lane->current->started, now) : 0;

	if (runs >= pool->limits.deadline)
		return RNA_OVERDUE;
	return runs >= pool->limits.handover ? RNA_SLOW : RNA_IN_TIME;
}

/* How long the first chain of the queue waits for a lane that is busy. */
static rna_usec patience(const struct rna_lanes *pool)
{
	bool urgent = pool->todo.head->urgent && URGENT_PATIENCE < pool->limits.handover;

	return urgent ? URGENT_PATIENCE : pool->limits.handover;
}

/*
 * How long the first chain of the queue has a lane in its way. An urgent one must not wait for all
 * jobs of an ordinary chain, short as each may be.
 */
static rna_usec busy_for(const struct rna_lanes *pool, const struct lane *lane, rna_usec now)
{
	bool by_chain;

	if (!lane->current)
		return 0;
	by_chain = pool->todo.head->urgent && !lane->current->urgent;
	return rna_usec_since(by_chain ? lane->begun : lane->current->started, now);
}

/* Is it idle, or not busy for long, so that it will soon take the next chain? */
static bool serves_queue(const struct rna_lanes *pool, const struct lane *lane, rna_usec now)
{
	return !lane->replaced && !lane->ended && busy_for(pool, lane, now) < patience(pool);
}

/* Those that have been busy for too long go on with what they are in, and then end. */
static void replace_busy(struct rna_lanes *pool, rna_usec now)
{
	for (struct lane *lane = pool->lanes; lane; lane = lane->next)
		lane->replaced |= !serves_queue(pool, lane, now);
}

/*
 * Makes sure that lanes serve the queue. With the lock held. 0, or negative errno if none does:
 * then the jobs wait until a lane comes back.
 */
static int provide_lane(struct rna_lanes *pool, rna_usec now)
{
	unsigned serving = 0;
	int ret = 0;

	if (!pool->todo.head)
		return 0;
	for (struct lane *lane = pool->lanes; lane; lane = lane->next)
		serving += serves_queue(pool, lane, now);
	if (serving == 0 && pool->count < pool->limits.max)
		replace_busy(pool, now);
	while (ret == 0 && serving < pool->wanted)
		if (pool->count >= pool->limits.max)
			ret = -EAGAIN;
		else if ((ret = add_lane(pool)) == 0)
			serving++;
	return serving > 0 ? 0 : ret;
}

/*
 * When to look whether a lane has taken the first chain of the queue. With all lanes that there may
 * be, looking early is of no use: one that ends wakes the loop.
 */
static rna_usec look_again(const struct rna_lanes *pool, rna_usec now)
{
	if (!pool->todo.head)
		return RNA_USEC_NEVER;
	return now + (pool->count < pool->limits.max ? patience(pool) : pool->limits.handover);
}

/* When a lane becomes slow or overdue next. With the lock held. */
static rna_usec next_check(const struct rna_lanes *pool, rna_usec now)
{
	rna_usec next = look_again(pool, now);

	for (const struct lane *lane = pool->lanes; lane; lane = lane->next) {
		rna_usec limit =
			lane->said == RNA_IN_TIME ? pool->limits.handover : pool->limits.deadline;

		if (!lane->current || lane->said == RNA_OVERDUE)
			continue;
		if (lane->current->started + limit < next)
			next = lane->current->started + limit;
	}
	return next;
}

static void arm_timer(struct rna_lanes *pool, rna_usec now)
{
	rna_usec next = next_check(pool, now);

	if (next == RNA_USEC_NEVER) {
		(void)sd_event_source_set_enabled(pool->timer, SD_EVENT_OFF);
		return;
	}
	(void)sd_event_source_set_time(pool->timer, next);
	(void)sd_event_source_set_enabled(pool->timer, SD_EVENT_ONESHOT);
}

/* Hands back the jobs that are done. Lets go of the lock meanwhile. Returns whether any was. */
static bool report_done(struct rna_lanes *pool)
{
	struct rna_job *job;
	bool any = false;

	while ((job = queue_pop(&pool->done))) {
		(void)pthread_mutex_unlock(&pool->lock);
		pool->callbacks.finished(job, pool->callbacks.userdata);
		(void)pthread_mutex_lock(&pool->lock);
		any = true;
	}
	return any;
}

/* Tells of jobs that have become late. With the lock held. Returns whether any was. */
static bool report_late(struct rna_lanes *pool, rna_usec now)
{
	bool any = false;

	for (struct lane *lane = pool->lanes; lane; lane = lane->next) {
		enum rna_lateness is = lateness(pool, lane, now);

		if (is <= lane->said)
			continue;
		lane->said = is;
		pool->callbacks.late(lane->current, is, pool->callbacks.userdata);
		any = true;
	}
	return any;
}

static void check_lanes(struct rna_lanes *pool)
{
	rna_usec now = rna_clock_monotonic();
	bool any;

	(void)pthread_mutex_lock(&pool->lock);
	reap(pool);
	any = report_done(pool);
	any |= report_late(pool, now);
	(void)provide_lane(pool, now); /* tried again at the next check */
	arm_timer(pool, now);
	(void)pthread_mutex_unlock(&pool->lock);
	if (any)
		pool->callbacks.settled(pool->callbacks.userdata);
}

static int on_wakeup(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	uint64_t count;

	(void)source, (void)events;
	(void)!read(fd, &count, sizeof(count)); /* only to quiet it */
	check_lanes(userdata);
	return 0;
}

static int on_timer(sd_event_source *source, uint64_t at, void *userdata)
{
	(void)source, (void)at;
	check_lanes(userdata);
	return 0;
}

void rna_lanes_submit(struct rna_lanes *pool, struct rna_job *chain)
{
	for (struct rna_job *job = chain; job; job = job->then)
		job->started = 0;
	(void)pthread_mutex_lock(&pool->lock);
	if (chain->urgent)
		queue_push_front(&pool->todo, chain);
	else
		queue_push(&pool->todo, chain);
	(void)pthread_mutex_unlock(&pool->lock);
}

int rna_lanes_flush(struct rna_lanes *pool)
{
	rna_usec now = rna_clock_monotonic();
	bool work;
	int ret;

	(void)pthread_mutex_lock(&pool->lock);
	work = pool->todo.head;
	ret = provide_lane(pool, now);
	arm_timer(pool, now);
	(void)pthread_mutex_unlock(&pool->lock);
	if (work)
		(void)pthread_cond_broadcast(&pool->work);
	return ret == -EAGAIN ? 0 : ret;
}

/* Too many of those that serve the queue: they end when they are idle. */
static void end_superfluous(struct rna_lanes *pool)
{
	unsigned serving = 0;

	for (struct lane *lane = pool->lanes; lane; lane = lane->next) {
		serving += !lane->replaced && !lane->ended;
		lane->replaced |= serving > pool->wanted;
	}
}

void rna_lanes_hasten(struct rna_lanes *pool, bool hasty)
{
	enum { HASTY = 2 };

	(void)pthread_mutex_lock(&pool->lock);
	pool->wanted = hasty ? HASTY : 1;
	end_superfluous(pool);
	(void)pthread_mutex_unlock(&pool->lock);
	(void)pthread_cond_broadcast(&pool->work);
}

unsigned rna_lanes_count(const struct rna_lanes *pool)
{
	return pool->count; /* changed by the loop only */
}

void rna_lanes_set_limits(struct rna_lanes *pool, const struct rna_lanes_limits *limits)
{
	(void)pthread_mutex_lock(&pool->lock);
	pool->limits = *limits;
	(void)pthread_mutex_unlock(&pool->lock);
}

static void lanes_free(struct rna_lanes *pool)
{
	(void)sd_event_source_disable_unref(pool->wakeup_source);
	(void)sd_event_source_disable_unref(pool->timer);
	rna_close_p(&pool->wakeup);
	(void)pthread_cond_destroy(&pool->work);
	(void)pthread_mutex_destroy(&pool->lock);
	free(pool);
}

int rna_lanes_new(sd_event *event, const struct rna_lanes_limits *limits,
		  const struct rna_lanes_callbacks *callbacks, struct rna_lanes **ret,
		  struct rna_error *error)
{
	struct rna_lanes *pool = calloc(1, sizeof(*pool));
	int status;

	if (!pool)
		return rna_error_set(error, -ENOMEM, "cannot start the lanes");
	pool->limits = *limits;
	pool->callbacks = *callbacks;
	pool->wanted = 1;
	queue_init(&pool->todo);
	queue_init(&pool->done);
	(void)pthread_mutex_init(&pool->lock, NULL); /* cannot fail with default attributes */
	(void)pthread_cond_init(&pool->work, NULL);
	pool->wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	status = pool->wakeup < 0 ? -errno : 0;
	if (status >= 0)
		status = sd_event_add_io(event, &pool->wakeup_source, pool->wakeup, EPOLLIN,
					 on_wakeup, pool);
	if (status >= 0)
		status = sd_event_add_time(event, &pool->timer, CLOCK_MONOTONIC, 0,
					   TIMER_ACCURACY_USEC, on_timer, pool);
	if (status >= 0)
		status = sd_event_source_set_enabled(pool->timer, SD_EVENT_OFF);
	if (status < 0) {
		lanes_free(pool);
		return rna_error_set(error, status, "cannot start the lanes");
	}
	*ret = pool;
	return 0;
}

/* Waits for lanes to end, in small steps: this is the way out, and it is bounded. */
static void wait_for_lanes(struct rna_lanes *pool, rna_usec patience)
{
	const struct timespec step = {.tv_nsec = 5 * 1000 * 1000};
	rna_usec until = rna_clock_monotonic() + patience;

	for (;;) {
		(void)pthread_mutex_lock(&pool->lock);
		reap(pool);
		bool all = !pool->lanes;
		(void)pthread_mutex_unlock(&pool->lock);
		if (all || rna_clock_monotonic() >= until)
			return;
		(void)nanosleep(&step, NULL);
	}
}

bool rna_lanes_stop(struct rna_lanes *pool, rna_usec patience)
{
	struct rna_job *job;

	if (!pool)
		return true;
	(void)pthread_mutex_lock(&pool->lock);
	pool->quit = true;
	(void)pthread_cond_broadcast(&pool->work);
	(void)pthread_mutex_unlock(&pool->lock);
	wait_for_lanes(pool, patience);
	if (pool->lanes)
		return false;
	while ((job = queue_pop(&pool->done))) {
		(void)rna_part_unref(job->part);
		free(job->error);
	}
	lanes_free(pool);
	return true;
}
