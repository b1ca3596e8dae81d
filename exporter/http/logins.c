// SPDX-License-Identifier: Apache-2.0
#include "logins.h"

#include <crypt.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>

#include "rna/base/strbuf.h"
#include "rna/base/thread.h"

#include "basic.h"

enum {
	REMEMBERED = 64, /* logins that were right */
	WAITING = 64,    /* passwords that wait for their turn */
	STACK = 512 * 1024,
	COST_AT = 4, /* of its two digits in a hash: "$2b$10$" */
};

/* One hash to compute. The thread has it while it works. */
struct work {
	atomic_uint owners; /* the logins and the thread; who comes last frees it */
	int done;           /* eventfd */
	atomic_bool finished;
	atomic_bool right;
	int most; /* the highest cost of all users */
	char hash[RNA_BASIC_MAX];
	char password[RNA_BASIC_MAX];
	struct crypt_data data;
};

/* A login that waits. */
struct job {
	struct job *next;
	struct rna_login_proof digest;
	struct rna_login_proof *proof;
	struct rna_client client;
	void *who;
	uint64_t turn; /* lower ones first */
	bool known;    /* there is such a user */
	int most;      /* as in struct work */
	char hash[RNA_BASIC_MAX];
	char password[RNA_BASIC_MAX];
};

struct rna_logins {
	unsigned char key[RNA_SECRET_DIGEST]; /* of digests: they are worth nothing elsewhere */
	struct rna_tries tries;
	struct rna_login_proof remembered[REMEMBERED];
	size_t newest;
	struct job *current; /* it is worked on; NULL: none */
	struct work *work;   /* of current */
	struct job *waiting; /* as they came */
	size_t waiting_count;
	struct job *dropped; /* that gave way to others, and are to be answered */
	uint64_t turn;       /* of the job that was started last */
	int done;            /* eventfd, a duplicate of which each thread gets */
	uint64_t counts[RNA_LOGIN_COUNT];
};

/* -- The thread -------------------------------------------------------------------------------- */

static void drop_work(struct work *work)
{
	if (atomic_fetch_sub(&work->owners, 1) > 1)
		return;
	(void)close(work->done);
	explicit_bzero(work, sizeof(*work));
	free(work);
}

static bool same_text(const char *a, const char *b)
{
	size_t len = strlen(a);

	return len == strlen(b) && rna_secret_same(a, b, len);
}

static bool is_right(struct work *work)
{
	/* not crypt_r(), which sanitizers put a function of theirs in front of that calls nothing
	 */
	const char *hash = crypt_rn(work->password, work->hash, &work->data, sizeof(work->data));

	return hash && same_text(hash, work->hash);
}

/*
 * A wrong password takes as long as one for the highest cost, whosever it is: cost is a power of
 * two, so that hashes of cost c, c + 1, ... and most - 1 after one of cost c make it 2^most.
 */
static void pad(struct work *work)
{
	for (int cost = rna_web_hash_cost(work->hash); cost > 0 && cost < work->most; cost++) {
		work->hash[COST_AT] = (char)('0' + cost / 10);
		work->hash[COST_AT + 1] = (char)('0' + cost % 10);
		(void)is_right(work);
	}
}

static void *compute(void *argument)
{
	struct work *work = argument;
	bool right = is_right(work);

	if (!right)
		pad(work);
	atomic_store(&work->right, right);
	atomic_store(&work->finished, true);
	(void)eventfd_write(work->done, 1); /* the counter is nowhere near its end */
	drop_work(work);
	return NULL;
}

static int start_work(struct rna_logins *logins, struct job *job)
{
	struct work *work = calloc(1, sizeof(*work));

	if (!work)
		return -ENOMEM;
	atomic_init(&work->owners, 2);
	memcpy(work->hash, job->hash, sizeof(work->hash));
	memcpy(work->password, job->password, sizeof(work->password));
	work->most = job->most;
	work->done = fcntl(logins->done, F_DUPFD_CLOEXEC, 0);
	if (work->done < 0 || rna_thread_start_aside(STACK, "rna-login", compute, work) < 0) {
		rna_close_p(&work->done);
		explicit_bzero(work, sizeof(*work));
		free(work);
		return -EAGAIN;
	}
	logins->work = work;
	logins->current = job;
	logins->turn = job->turn;
	return 0;
}

/* -- What is remembered ------------------------------------------------------------------------ */

/* user, hash and password are one text each: a hash that changes makes all of it another one. */
static int make_digest(const struct rna_logins *logins, const struct rna_basic *basic,
		       const char *hash, struct rna_login_proof *ret)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	int status;

	rna_strbuf_add(&text, basic->user, strlen(basic->user) + 1);
	rna_strbuf_add(&text, hash, strlen(hash) + 1);
	rna_strbuf_add(&text, basic->password, strlen(basic->password) + 1);
	if (!rna_strbuf_ok(&text))
		return -ENOMEM;
	status = rna_secret_digest(logins->key, sizeof(logins->key), text.data, text.len,
				   ret->digest);
	explicit_bzero(text.data, text.len);
	return status;
}

static bool same_proof(const struct rna_login_proof *a, const struct rna_login_proof *b)
{
	return memcmp(a, b, sizeof(*a)) == 0; /* who does not have the key learns nothing by it */
}

static bool is_remembered(const struct rna_logins *logins, const struct rna_login_proof *digest)
{
	for (size_t i = 0; i < REMEMBERED; i++)
		if (same_proof(&logins->remembered[i], digest))
			return true;
	return false;
}

static void keep(struct rna_logins *logins, const struct rna_login_proof *digest)
{
	if (is_remembered(logins, digest))
		return;
	logins->newest = (logins->newest + 1) % REMEMBERED;
	logins->remembered[logins->newest] = *digest;
}

/* -- The queue --------------------------------------------------------------------------------- */

static struct job *free_job(struct job *job)
{
	if (job)
		explicit_bzero(job, sizeof(*job));
	free(job);
	return NULL;
}

static struct job *take_first(struct job **list)
{
	struct job *job = *list;

	if (job)
		*list = job->next;
	return job;
}

/*
 * Each address has one job in each turn: however many jobs one has, the first of another comes
 * after one of each.
 */
static uint64_t find_turn(const struct rna_logins *logins, const struct job *job)
{
	uint64_t last = logins->turn;

	for (const struct job *other = logins->waiting; other; other = other->next)
		if (rna_address_is_same(&other->client.address, &job->client.address) &&
		    other->turn > last)
			last = other->turn;
	return last + 1;
}

/* Where the next job is; NULL: none waits. */
static struct job **find_next(struct rna_logins *logins)
{
	struct job **next = logins->waiting ? &logins->waiting : NULL;

	for (struct job **at = next; at && *at; at = &(*at)->next)
		if ((*at)->turn < (*next)->turn)
			next = at;
	return next;
}

/* Where the job of the latest turn is. */
static struct job **find_last(struct rna_logins *logins)
{
	struct job **last = &logins->waiting;

	for (struct job **at = last; *at; at = &(*at)->next)
		if ((*at)->turn >= (*last)->turn)
			last = at;
	return last;
}

/* The address with most jobs loses its last one to another. False: it is the one that asks. */
static bool make_room(struct rna_logins *logins, uint64_t turn)
{
	struct job **last, *job;

	if (logins->waiting_count < WAITING)
		return true;
	last = find_last(logins);
	if ((*last)->turn <= turn)
		return false;
	job = take_first(last);
	logins->waiting_count--;
	job->next = logins->dropped;
	logins->dropped = job;
	(void)eventfd_write(logins->done, 1); /* the counter is nowhere near its end */
	return true;
}

static bool enqueue(struct rna_logins *logins, struct job *job)
{
	struct job **end = &logins->waiting;

	job->turn = find_turn(logins, job);
	if (!logins->work)
		return start_work(logins, job) >= 0;
	if (!make_room(logins, job->turn))
		return false;
	while (*end)
		end = &(*end)->next;
	*end = job;
	logins->waiting_count++;
	return true;
}

/* -- Asking ------------------------------------------------------------------------------------ */

/* What a password is compared with. */
struct subject {
	const char *hash; /* of an unknown user: the most expensive one */
	bool known;
	int most; /* the highest cost */
	struct rna_login_proof digest;
	struct rna_client client;
};

static void find_user(const struct rna_web_pairs *users, const char *name, struct subject *ret)
{
	const char *dearest = "", *own = NULL;

	for (size_t i = 0; i < users->count; i++) {
		int cost = rna_web_hash_cost(users->items[i].value);

		if (strcmp(users->items[i].name, name) == 0)
			own = users->items[i].value;
		if (cost > ret->most) {
			ret->most = cost;
			dearest = users->items[i].value;
		}
	}
	ret->known = own;
	ret->hash = own ? own : dearest;
}

/* The name as a digest: a table of clients must not need memory for names that others choose. */
static int find_client(const struct rna_logins *logins, const struct rna_login_request *request,
		       const char *name, struct rna_client *ret)
{
	unsigned char digest[RNA_SECRET_DIGEST];
	int status =
		rna_secret_digest(logins->key, sizeof(logins->key), name, strlen(name) + 1, digest);

	ret->address = request->address;
	memcpy(ret->user, digest, sizeof(ret->user));
	return status;
}

static int find_subject(const struct rna_logins *logins, const struct rna_login_request *request,
			const struct rna_basic *basic, struct subject *ret)
{
	int status;

	*ret = (struct subject){0};
	find_user(request->users, basic->user, ret);
	status = find_client(logins, request, basic->user, &ret->client);
	return status < 0 ? status : make_digest(logins, basic, ret->hash, &ret->digest);
}

/* A password that is not remembered. */
static bool ask_thread(struct rna_logins *logins, const struct rna_login_request *request,
		       const struct rna_basic *basic, const struct subject *subject)
{
	struct job *job = calloc(1, sizeof(*job));

	if (!job)
		return false;
	job->digest = subject->digest;
	job->proof = request->proof;
	job->client = subject->client;
	job->who = request->who;
	job->known = subject->known;
	job->most = subject->most;
	memcpy(job->password, basic->password, sizeof(job->password));
	(void)stpncpy(job->hash, subject->hash, sizeof(job->hash) - 1);
	if (enqueue(logins, job))
		return true;
	(void)free_job(job);
	return false;
}

/*
 * What is remembered is asked before tries are counted, so that no number of wrong passwords from a
 * shared address locks out who was let in before. It answers at once, also to who guesses, and so
 * it has a pace of its own.
 */
static enum rna_login ask(struct rna_logins *logins, const struct rna_login_request *request,
			  const struct rna_basic *basic, rna_usec now, rna_usec *ret_wait)
{
	struct subject subject;
	const struct rna_client *client = &subject.client;

	if (find_subject(logins, request, basic, &subject) < 0)
		return RNA_LOGIN_LIMITED;
	if (subject.known && same_proof(request->proof, &subject.digest))
		return RNA_LOGIN_OK;
	if (!rna_tries_take(&logins->tries, client, RNA_TRY_LOOK, now, ret_wait))
		return RNA_LOGIN_LIMITED;
	if (subject.known && is_remembered(logins, &subject.digest)) {
		rna_tries_give(&logins->tries, client, RNA_TRY_LOOK);
		*request->proof = subject.digest;
		return RNA_LOGIN_OK;
	}
	if (!rna_tries_take(&logins->tries, client, RNA_TRY_HASH, now, ret_wait))
		return RNA_LOGIN_LIMITED;
	if (ask_thread(logins, request, basic, &subject))
		return RNA_LOGIN_PENDING;
	rna_tries_give(&logins->tries, client, RNA_TRY_HASH);
	*ret_wait = RNA_USEC_PER_SEC;
	return RNA_LOGIN_LIMITED;
}

enum rna_login rna_logins_ask(struct rna_logins *logins, const struct rna_login_request *request,
			      rna_usec now, rna_usec *ret_wait)
{
	struct rna_basic basic;
	enum rna_login ret = RNA_LOGIN_REFUSED;

	*ret_wait = RNA_USEC_PER_SEC; /* where there is another reason than too many tries */
	if (rna_basic_read(request->authorization, &basic) < 0)
		return RNA_LOGIN_REFUSED;
	ret = ask(logins, request, &basic, now, ret_wait);
	explicit_bzero(&basic, sizeof(basic));
	if (ret < RNA_LOGIN_COUNT)
		logins->counts[ret]++;
	return ret;
}

/* -- Answers ----------------------------------------------------------------------------------- */

/* Takes over job. */
static void finish(struct rna_logins *logins, struct job *job, enum rna_login answer,
		   void **ret_who, enum rna_login *ret)
{
	if (answer == RNA_LOGIN_OK && !job->known)
		answer = RNA_LOGIN_REFUSED;
	if (answer == RNA_LOGIN_OK) {
		keep(logins, &job->digest);
		rna_tries_give(&logins->tries, &job->client, RNA_TRY_LOOK);
		*job->proof = job->digest;
	}
	if (answer != RNA_LOGIN_REFUSED)
		rna_tries_give(&logins->tries, &job->client, RNA_TRY_HASH);
	*ret_who = job->who;
	*ret = answer;
	logins->counts[answer]++;
	(void)free_job(job);
}

/* Another request may have verified the same password in the meantime. */
static bool is_known(const struct rna_logins *logins, const struct job *job)
{
	return job->known && is_remembered(logins, &job->digest);
}

/* False: the thread computes. */
static bool finish_work(struct rna_logins *logins, void **ret_who, enum rna_login *ret)
{
	struct work *work = logins->work;
	struct job *job = logins->current;

	if (!atomic_load(&work->finished))
		return false;
	logins->work = NULL;
	logins->current = NULL;
	finish(logins, job, atomic_load(&work->right) ? RNA_LOGIN_OK : RNA_LOGIN_REFUSED, ret_who,
	       ret);
	drop_work(work);
	return true;
}

bool rna_logins_next(struct rna_logins *logins, void **ret_who, enum rna_login *ret)
{
	struct job *job = take_first(&logins->dropped), **next;
	eventfd_t count;

	if (job) {
		finish(logins, job, RNA_LOGIN_LIMITED, ret_who, ret);
		return true;
	}
	(void)eventfd_read(logins->done, &count); /* before what it says is looked at */
	if (logins->work)
		return finish_work(logins, ret_who, ret);
	next = find_next(logins);
	if (!next)
		return false;
	job = take_first(next);
	logins->waiting_count--;
	if (is_known(logins, job))
		finish(logins, job, RNA_LOGIN_OK, ret_who, ret);
	else if (start_work(logins, job) >= 0)
		return false;
	else /* no thread available: unknown */
		finish(logins, job, RNA_LOGIN_LIMITED, ret_who, ret);
	return true;
}

int rna_logins_fd(const struct rna_logins *logins)
{
	return logins->done;
}

const uint64_t *rna_logins_counts(const struct rna_logins *logins)
{
	return logins->counts;
}

struct rna_logins *rna_logins_new(void)
{
	RNA_CLEANUP(rna_logins_free_p) struct rna_logins *logins = calloc(1, sizeof(*logins));

	if (!logins)
		return NULL;
	logins->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (logins->done < 0 ||
	    getrandom(logins->key, sizeof(logins->key), 0) != (ssize_t)sizeof(logins->key))
		return NULL;
	return RNA_TAKE(logins);
}

static void free_jobs(struct job **list)
{
	while (*list)
		(void)free_job(take_first(list));
}

struct rna_logins *rna_logins_free(struct rna_logins *logins)
{
	if (!logins)
		return NULL;
	free_jobs(&logins->waiting);
	free_jobs(&logins->dropped);
	(void)free_job(logins->current);
	if (logins->work)
		drop_work(logins->work);
	rna_close_p(&logins->done);
	explicit_bzero(logins, sizeof(*logins));
	free(logins);
	return NULL;
}
